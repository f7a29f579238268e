//! The list of tests, and the order in which they run.

use std::collections::BTreeMap;
use std::process::Command;

use clap::ValueEnum;

/// A part of piglit that is run and reported separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Profile {
    /// Windows, pixmaps and contexts: what `quick_gl` has of GLX.
    #[value(name = "glx")]
    Glx,
    /// Everything else of `quick_gl`.
    #[value(name = "quick_gl")]
    QuickGl,
    #[value(name = "quick_shader")]
    QuickShader,
}

impl Profile {
    pub const ALL: [Profile; 3] = [Profile::Glx, Profile::QuickGl, Profile::QuickShader];

    pub fn name(self) -> &'static str {
        match self {
            Profile::Glx => "glx",
            Profile::QuickGl => "quick_gl",
            Profile::QuickShader => "quick_shader",
        }
    }

    /// piglit's name for the profile that contains the tests.
    pub fn in_piglit(self) -> &'static str {
        match self {
            Profile::Glx | Profile::QuickGl => "quick_gl",
            Profile::QuickShader => "quick_shader",
        }
    }

    /// Whether a test of [`Profile::in_piglit`] belongs to this part.
    pub fn has(self, test: &str) -> bool {
        match self {
            Profile::Glx => test.starts_with("glx@"),
            Profile::QuickGl => !test.starts_with("glx@"),
            Profile::QuickShader => true,
        }
    }
}

/// The tests of `profile`, in the order in which they run.
///
/// # Errors
/// The reason why piglit could not list them.
pub fn tests(profile: Profile) -> Result<Vec<String>, String> {
    let listed = Command::new("piglit")
        .args(["print-cmd", "--format", "{name}", profile.in_piglit()])
        .output()
        .map_err(|error| {
            format!("piglit cannot be started: {error}; scripts/deps.sh conformance installs it")
        })?;
    if !listed.status.success() {
        return Err(format!(
            "piglit does not list its profile {}: {}",
            profile.in_piglit(),
            String::from_utf8_lossy(&listed.stderr).trim()
        ));
    }
    let names = String::from_utf8_lossy(&listed.stdout);
    let tests = in_order(names.lines().filter(|name| profile.has(name)));
    if tests.is_empty() {
        return Err(format!("piglit lists no tests of {}", profile.name()));
    }
    Ok(tests)
}

/// The first test of each group, then the second of each, and so on. So the beginning of the list
/// is a sample of the whole, whatever its length. The order within a group depends only on the
/// names.
pub fn in_order<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in names {
        groups.entry(group(name)).or_default().push(name);
    }
    for tests in groups.values_mut() {
        tests.sort_by_key(|name| (hash(name), *name));
        tests.dedup();
    }
    let longest = groups.values().map(Vec::len).max().unwrap_or(0);
    (0..longest)
        .flat_map(|round| groups.values().filter_map(move |tests| tests.get(round)))
        .map(|name| (*name).to_owned())
        .collect()
}

/// `spec@arb_sync` for `spec@arb_sync@repeat-wait`.
fn group(name: &str) -> &str {
    let second = name.match_indices('@').nth(1).map(|(at, _)| at);
    &name[..second.unwrap_or(name.len())]
}

/// FNV-1a. The standard library's hash may change from one version to the next.
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_beginning_is_a_sample_of_all_groups() {
        let names = [
            "spec@a@1",
            "spec@a@2",
            "spec@a@3",
            "spec@b@1",
            "spec@c@1@x",
            "spec@c@1@y",
            "security",
        ];
        let order = in_order(names.into_iter());
        assert_eq!(order.len(), names.len());
        let first: Vec<_> = order[..4].iter().map(|name| group(name)).collect();
        assert_eq!(first, ["security", "spec@a", "spec@b", "spec@c"]);
        let second: Vec<_> = order[4..6].iter().map(|name| group(name)).collect();
        assert_eq!(second, ["spec@a", "spec@c"]);

        let mut reversed = names;
        reversed.reverse();
        assert_eq!(in_order(reversed.into_iter()), order);
    }

    #[test]
    fn glx_is_apart_from_the_rest() {
        assert!(Profile::Glx.has("glx@glx-tfp") && !Profile::QuickGl.has("glx@glx-tfp"));
        assert!(!Profile::Glx.has("spec@glx@x") && Profile::QuickGl.has("spec@glx@x"));
    }
}
