//! Which of a program's windows go to a wall.

use serde::{Deserialize, Serialize};

/// The windows that meet all of these conditions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Windows {
    /// The window's title, in which `*` stands for any text.
    pub title: Option<String>,
    /// The window's class or instance, in the same form.
    pub class: Option<String>,
    /// The window's minimum width and height in pixels.
    pub min_size: (u32, u32),
    /// The window's number among those that meet the other conditions, from 1.
    pub nth: Option<u32>,
}

/// The names of a window.
#[derive(Debug, Clone, Default)]
pub struct Names {
    pub title: String,
    /// Instance and class.
    pub class: Vec<String>,
}

impl Windows {
    /// Whether the wall takes a window that is the `nth` (from 1) of those for which
    /// [`Windows::fits`] holds.
    pub fn takes(&self, nth: u32) -> bool {
        self.nth.is_none_or(|wanted| wanted == nth)
    }

    /// Whether size, title, and class or instance meet the conditions. `names` is called only if
    /// they matter.
    pub fn fits(&self, size: (u32, u32), names: impl FnOnce() -> Names) -> bool {
        if size.0 < self.min_size.0 || size.1 < self.min_size.1 {
            return false;
        }
        if self.title.is_none() && self.class.is_none() {
            return true;
        }
        let names = names();
        let is = |pattern: &Option<String>, texts: &[String]| {
            let one = |pattern: &String| texts.iter().any(|text| like(pattern, text));
            pattern.as_ref().is_none_or(one)
        };
        is(&self.title, &[names.title]) && is(&self.class, &names.class)
    }
}

/// Whether a text matches a pattern, in which `*` stands for any text.
fn like(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_chosen() {
        let windows = Windows {
            title: Some("*cule - * of *".into()),
            class: Some("VMD".into()),
            min_size: (100, 50),
            nth: Some(2),
        };
        let fits = |title: &str, class: &[&str], size| {
            windows.fits(size, || Names {
                title: title.into(),
                class: class.iter().map(|text| text.to_string()).collect(),
            })
        };
        assert!(fits("Molecule - 1 of 2", &["vmd", "VMD"], (100, 50)));
        assert!(!fits("Molecule - 1 of 2", &["vmd"], (100, 50)));
        assert!(!fits("Molecule", &["VMD"], (100, 50)));
        assert!(!fits("Molecule - 1 of 2", &["VMD"], (99, 50)));
        assert!(windows.takes(2) && !windows.takes(1));
        let all = Windows::default();
        assert!(all.fits((1, 1), || unreachable!("nobody asks")) && all.takes(7));
        for (pattern, text, is) in [
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("*", "", true),
            ("a*b*c", "abbcc", true),
            ("a*b*c", "acb", false),
        ] {
            assert_eq!(like(pattern, text), is, "{pattern} {text}");
        }
    }
}
