//! Which of a driver's displays has multisampled pbuffers that work, kept in the user's cache.
//!
//! Finding out requires drawing, for which llvmpipe compiles shaders: this takes more than half of
//! a renderer's start time. The answer depends on the driver's release only.

use std::fs;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkingDisplay {
    /// On the display that was opened first.
    Here,
    /// On the display of the software device.
    OnDevice,
    Nowhere,
}

const WORDS: [(WorkingDisplay, &str); 3] = [
    (WorkingDisplay::Here, "here"),
    (WorkingDisplay::OnDevice, "device"),
    (WorkingDisplay::Nowhere, "nowhere"),
];

/// Longer names cannot be file names.
const FILE_NAME_MAX: usize = 200;

/// Where the answers are kept: `~/.cache/manganese/multisampling`. None without a home.
pub(crate) fn folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let cache = cache.or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(cache.join("manganese/multisampling")).filter(|path| path.is_absolute())
}

/// The answer for the driver with this description.
pub(crate) fn recall(folder: &Path, driver: &str) -> Option<WorkingDisplay> {
    let text = fs::read_to_string(folder.join(name(driver))).ok()?;
    let found = WORDS.iter().find(|(_, word)| *word == text.trim())?;
    Some(found.0)
}

/// Keeps the answer. If that fails, the next renderer finds out again.
pub(crate) fn remember(folder: &Path, driver: &str, works: WorkingDisplay) {
    let Some((_, word)) = WORDS.iter().find(|(known, _)| *known == works) else {
        return;
    };
    let file = folder.join(name(driver));
    // Other processes may be reading the file, or writing the same one.
    let draft = folder.join(format!(".{}", std::process::id()));
    let written = fs::create_dir_all(folder)
        .and_then(|()| fs::write(&draft, word))
        .and_then(|()| fs::rename(&draft, &file));
    if let Err(error) = written {
        tracing::debug!("{} cannot be written: {error}", file.display());
        let _ = fs::remove_file(draft);
    }
}

fn name(driver: &str) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() || c == '.' {
        true => c,
        false => '-',
    };
    driver.chars().map(plain).take(FILE_NAME_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_kept_for_each_driver() {
        let folder = std::env::temp_dir().join(format!("mgn-samples-{}", std::process::id()));
        let (old, new) = ("llvmpipe Mesa 22.3.6", "llvmpipe Mesa 25.0.7");
        assert_eq!(recall(&folder, old), None);
        for (works, _) in WORDS {
            remember(&folder, old, works);
            assert_eq!(recall(&folder, old), Some(works));
        }
        assert_eq!(recall(&folder, new), None);
        let files: Vec<_> = fs::read_dir(&folder).unwrap().flatten().collect();
        assert_eq!(files.len(), 1, "{files:?}");
        for damaged in ["", "her", "here and there"] {
            fs::write(files[0].path(), damaged).unwrap();
            assert_eq!(recall(&folder, old), None, "{damaged}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_no_error() {
        let folder = Path::new("/proc/self/manganese");
        remember(folder, "a driver", WorkingDisplay::Here);
        assert_eq!(recall(folder, "a driver"), None);
        let long = "x/../".repeat(1000);
        assert!(!name(&long).contains('/') && name(&long).len() <= FILE_NAME_MAX);
    }
}
