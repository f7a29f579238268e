//! Text of the page: units, and the widths of text.

use crate::record::Distance;

/// A unit as the page shows it.
pub fn unit(unit: &str) -> String {
    match unit.strip_prefix('u') {
        Some(rest @ ("s" | "m")) => format!("µ{rest}"),
        _ => unit.to_string(),
    }
}

/// "one-way latency (µs)".
pub fn with_unit(name: &str, of: &str) -> String {
    match of {
        "" => name.to_string(),
        of => format!("{name} ({})", unit(of)),
    }
}

/// "1 line", "3 lines".
pub fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// The font size of a plot, in px.
pub const SIZE: f64 = 12.0;

/// An upper bound for the width of a text in px, in the fonts of common systems.
pub fn width(text: &str) -> f64 {
    let of = |c: char| match c {
        'i' | 'l' | 'j' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.31,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | ' ' | '-' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.98,
        c if c.is_ascii_uppercase() => 0.74,
        c if c.is_ascii() || "⁰¹²³⁴⁵⁶⁷⁸⁹⁻·µ".contains(c) => 0.63,
        _ => 1.05,
    };
    text.chars().map(of).sum::<f64>() * SIZE
}

/// Breaks text into lines of at most this width. Cuts the text off after `most` lines.
pub fn wrap(text: &str, limit: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut is_cut = false;
    for word in text.split_whitespace() {
        let joined = lines.last().map(|line| format!("{line} {word}"));
        match joined.filter(|joined| width(joined) <= limit) {
            Some(joined) => *lines.last_mut().expect("what was joined") = joined,
            None if lines.len() < most => lines.push(word.to_string()),
            None => {
                is_cut = true;
                break;
            }
        }
    }
    let end = lines.len().saturating_sub(1);
    for (at, line) in lines.iter_mut().enumerate() {
        let wants_dots = is_cut && at == end;
        if wants_dots || width(line) > limit {
            *line = cut(line, limit, wants_dots);
        }
    }
    lines
}

fn cut(text: &str, limit: f64, wants_dots: bool) -> String {
    if width(text) <= limit && !wants_dots {
        return text.to_string();
    }
    let mut kept: Vec<char> = text.chars().collect();
    let joined = |kept: &[char]| kept.iter().collect::<String>() + "…";
    while !kept.is_empty() && width(&joined(&kept)) > limit {
        kept.pop();
    }
    joined(&kept)
}

/// The date and time in UTC, from seconds since 1970.
pub fn date(seconds: u64) -> String {
    let (days, rest) = ((seconds / 86_400) as i64, seconds % 86_400);
    // In years that begin in March, the leap day is last. 400 years have 146097 days. See H.
    // Hinnant, "chrono-compatible low-level date algorithms".
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = match month {
        10.. => (month - 9, 1),
        month => (month + 3, 0),
    };
    let year = era * 400 + year + next;
    let (hour, minute) = (rest / 3_600, rest / 60 % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

/// The heading of a panel, if the distance of the processors matters.
pub fn distance_name(distance: Distance) -> Option<&'static str> {
    match distance {
        Distance::Near => Some("Processors near"),
        Distance::Far => Some("Processors far"),
        Distance::Any => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (951_868_800, "2000-03-01 00:00 UTC"),
            (1_735_689_599, "2024-12-31 23:59 UTC"),
        ] {
            assert_eq!(date(seconds), text);
        }
    }

    #[test]
    fn long_names_are_wrapped_and_cut() {
        assert_eq!(wrap("one two", 1000.0, 2), ["one two"]);
        assert_eq!(wrap("one two", 30.0, 2), ["one", "two"]);
        assert_eq!(wrap("one two three", 40.0, 2), ["one", "two…"]);
        let lines = wrap(&"x".repeat(400), 100.0, 2);
        assert_eq!(lines.len(), 1);
        assert!(width(&lines[0]) <= 100.0 && lines[0].ends_with('…'));
        assert!(wrap("", 10.0, 2).is_empty());
    }

    #[test]
    fn microseconds_have_their_letter() {
        assert_eq!(with_unit("latency", "us"), "latency (µs)");
        assert_eq!(with_unit("processors", ""), "processors");
        assert_eq!(unit("units"), "units");
    }
}
