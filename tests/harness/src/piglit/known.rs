//! Two lists of tests: those that are known to fail, each with its reason
//! (`tests/piglit/expected-failures.toml`), and those that have ever failed
//! (`tests/piglit/once-failed.txt`).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::expected::applies;
use crate::stage::root;

/// The list. It may only get shorter: an entry whose test no longer fails is an error.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    #[serde(default)]
    failure: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The name of the test in piglit.
    test: String,
    /// The transports that the entry applies to. `None` for all.
    transports: Option<Vec<String>>,
    /// The versions of Mesa that the entry applies to, as prefixes such as `22.`. `None` for all.
    mesa: Option<Vec<String>>,
    reason: String,
}

impl Known {
    /// The entries for this version of Mesa.
    ///
    /// # Errors
    /// If the file cannot be read or parsed, or has an entry without a reason.
    pub fn read(mesa: &str) -> Result<Known, String> {
        let path = root().join("tests/piglit/expected-failures.toml");
        Known::parse(&text(&path)?, mesa).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// As [`Known::read`], from the file's text.
    pub(super) fn parse(text: &str, mesa: &str) -> Result<Known, String> {
        let mut known: Known = toml::from_str(text).map_err(|error| error.to_string())?;
        if let Some(bare) = known.failure.iter().find(|e| e.reason.trim().is_empty()) {
            return Err(format!("{} has no reason", bare.test));
        }
        known
            .failure
            .retain(|entry| applies(entry.mesa.as_deref(), mesa));
        Ok(known)
    }

    /// The reason why this test is known to fail on `transport`, or `None` if it is not.
    pub fn reason(&self, test: &str, transport: &str) -> Option<&str> {
        let is_it = |entry: &&Entry| {
            let transports = entry.transports.as_ref();
            entry.test == test && transports.is_none_or(|all| all.iter().any(|t| t == transport))
        };
        self.failure
            .iter()
            .find(is_it)
            .map(|entry| entry.reason.as_str())
    }

    /// The names of all tests in the list.
    pub fn tests(&self) -> BTreeSet<&str> {
        self.failure
            .iter()
            .map(|entry| entry.test.as_str())
            .collect()
    }
}

/// Tests that have ever failed. Every sample contains them.
///
/// # Errors
/// If the file cannot be read.
pub fn once_failed() -> Result<BTreeSet<String>, String> {
    let text = text(&root().join("tests/piglit/once-failed.txt"))?;
    Ok(names(&text))
}

fn names(text: &str) -> BTreeSet<String> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

fn text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_count_for_their_transports_and_versions() {
        let text = r#"
            [[failure]]
            test = "spec@a"
            reason = "everywhere"
            [[failure]]
            test = "spec@b"
            transports = ["wall"]
            mesa = ["22."]
            reason = "on walls"
        "#;
        let known = Known::parse(text, "22.3.6").unwrap();
        assert_eq!(known.reason("spec@a", "shm"), Some("everywhere"));
        assert_eq!(known.reason("spec@b", "shm"), None);
        assert_eq!(known.reason("spec@b", "wall"), Some("on walls"));
        let known = Known::parse(text, "25.0.7").unwrap();
        assert_eq!(known.reason("spec@b", "wall"), None);
        assert_eq!(known.tests().len(), 1);
    }

    #[test]
    fn every_entry_has_a_reason() {
        let bare = "[[failure]]\ntest = \"spec@a\"\nreason = \" \"";
        assert_eq!(
            Known::parse(bare, "22.3.6").unwrap_err(),
            "spec@a has no reason"
        );
    }

    #[test]
    fn the_lists_in_the_tree_can_be_read() {
        Known::read("22.3.6").unwrap();
        assert!(!once_failed().unwrap().is_empty());
    }
}
