//! Known differences, each with its reason: `tests/conformance/expected-differences.toml`.

use std::collections::BTreeSet;
use std::fs;

use serde::Deserialize;

use crate::stage::root;

/// The list. It may only get shorter: an entry is also an error if its file no longer differs.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    #[serde(default)]
    difference: Vec<Entry>,
    #[serde(skip)]
    met: BTreeSet<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// A file that the program writes, or a file and a scene: `lists.txt#nested`. Or a program that
    /// fails with the local driver: then the transport is `directly`.
    what: String,
    /// The transports that the entry applies to. `None` for all.
    transports: Option<Vec<String>>,
    /// The versions of Mesa that the entry applies to, as prefixes such as `22.`. `None` for all.
    mesa: Option<Vec<String>>,
    reason: String,
}

impl Expected {
    /// The entries for this version of Mesa.
    ///
    /// # Panics
    /// If the file cannot be parsed, or has an entry without a reason.
    pub fn read(mesa: &str) -> Expected {
        let path = root().join("tests/conformance/expected-differences.toml");
        let text = fs::read_to_string(&path).unwrap_or_default();
        let mut expected: Expected =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for entry in &expected.difference {
            assert!(
                !entry.reason.trim().is_empty(),
                "{} has no reason",
                entry.what
            );
        }
        expected.keep(mesa);
        expected
    }

    fn keep(&mut self, mesa: &str) {
        self.difference
            .retain(|entry| applies(entry.mesa.as_deref(), mesa));
    }

    /// Whether this difference is listed. Records that it occurred.
    pub fn has(&mut self, what: &str, transport: &str) -> bool {
        let listed = self.difference.iter().position(|e| {
            let there = e
                .transports
                .as_ref()
                .is_none_or(|t| t.iter().any(|t| t == transport));
            e.what == what && there
        });
        self.met.extend(listed);
        listed.is_some()
    }

    /// The entries whose differences did not occur.
    pub fn outlived(&self) -> Vec<String> {
        let left = self
            .difference
            .iter()
            .enumerate()
            .filter(|(n, _)| !self.met.contains(n));
        left.map(|(_, entry)| entry.what.clone()).collect()
    }
}

/// Whether an entry for these versions applies to this version of Mesa.
pub(crate) fn applies(versions: Option<&[String]>, mesa: &str) -> bool {
    versions.is_none_or(|versions| versions.iter().any(|v| mesa.starts_with(v)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_must_be_met() {
        let text = r#"
            [[difference]]
            what = "a.ppm"
            reason = "why"
            [[difference]]
            what = "b.txt#scene"
            transports = ["tcp"]
            reason = "why"
            [[difference]]
            what = "c.ppm"
            mesa = ["22.", "25.1"]
            reason = "why"
        "#;
        let mut expected: Expected = toml::from_str(text).unwrap();
        expected.keep("22.3.6");
        assert!(expected.has("c.ppm", "shm"));
        let mut expected: Expected = toml::from_str(text).unwrap();
        expected.keep("25.1.3");
        assert!(expected.has("c.ppm", "shm"));
        let mut expected: Expected = toml::from_str(text).unwrap();
        expected.keep("25.0.7");
        assert!(!expected.has("c.ppm", "shm"));
        assert!(expected.has("a.ppm", "shm"));
        assert!(!expected.has("b.txt#scene", "shm"));
        assert_eq!(expected.outlived(), ["b.txt#scene"]);
        assert!(expected.has("b.txt#scene", "tcp"));
        assert!(expected.outlived().is_empty());
    }
}
