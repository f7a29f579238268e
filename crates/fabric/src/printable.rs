//! Text from untrusted sources.

/// The first `limit` characters, with control characters replaced, so that a terminal can show
/// them.
pub fn printable(text: &str, limit: usize) -> String {
    let clean = |c: char| if c.is_control() { '?' } else { c };
    text.chars().map(clean).take(limit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_not_told_what_to_do() {
        assert_eq!(printable("a\x1b[2Jb\n", 400), "a?[2Jb?");
        assert_eq!(printable(&"\u{fc}".repeat(3000), 400).chars().count(), 400);
        assert_eq!(printable("", 1), "");
    }
}
