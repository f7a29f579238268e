//! The names of users, and the folders for this user's files.

use std::ffi::{CStr, OsString};
use std::path::PathBuf;

/// The longest entry of the user database that is read.
const ENTRY_MAX: usize = 1 << 20;

/// The name of a user, if the user database of this system has one. The query may take a network
/// round trip.
pub fn name(uid: u32) -> Option<String> {
    let mut buffer = vec![0 as libc::c_char; 1024];
    loop {
        // SAFETY: all-zero bytes are a valid `passwd`, whose pointers may be null.
        let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
        let mut found = std::ptr::null_mut();
        // SAFETY: all pointers are to memory that lives through the call, and the length is that
        // of the buffer.
        let failed = unsafe {
            libc::getpwuid_r(
                uid,
                &mut entry,
                buffer.as_mut_ptr(),
                buffer.len(),
                &mut found,
            )
        };
        match failed {
            0 if found.is_null() || entry.pw_name.is_null() => return None,
            0 => {
                // SAFETY: the name is a string in the buffer, which has not changed since.
                let name = unsafe { CStr::from_ptr(entry.pw_name) };
                return name.to_str().ok().map(str::to_owned);
            }
            libc::ERANGE if buffer.len() < ENTRY_MAX => buffer.resize(buffer.len() * 2, 0),
            _ => return None,
        }
    }
}

/// `manganese` in the folder for this user's settings. `None` if the user has no home folder.
pub fn settings_folder() -> Option<PathBuf> {
    folder("XDG_CONFIG_HOME", ".config", |name| std::env::var_os(name))
}

/// `manganese` in the folder for the state of this user's programs. `None` if the user has no home
/// folder.
pub fn state_folder() -> Option<PathBuf> {
    folder("XDG_STATE_HOME", ".local/state", |name| {
        std::env::var_os(name)
    })
}

/// Relative paths are ignored, as the XDG specification requires.
fn folder(
    variable: &str,
    at_home: &str,
    value: impl Fn(&str) -> Option<OsString>,
) -> Option<PathBuf> {
    let set = |name| {
        let path = value(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let folder = set(variable).or_else(|| Some(set("HOME")?.join(at_home)))?;
    Some(folder.join("manganese"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_found_and_relative_ones_do_not_count() {
        let of = |state: &str, home: &str| {
            let value = |name: &str| Some(if name == "HOME" { home } else { state }.into());
            folder("XDG_STATE_HOME", ".local/state", value)
        };
        let found = |path: &str| Some(PathBuf::from(path));
        assert_eq!(of("/s", "/h"), found("/s/manganese"));
        for none in ["", "s", "./s"] {
            assert_eq!(of(none, "/h"), found("/h/.local/state/manganese"));
            assert_eq!(of(none, none), None);
        }
    }

    #[test]
    fn users_have_names_or_none() {
        assert_eq!(name(0).as_deref(), Some("root"));
        assert_eq!(name(3_999_999_999), None);
    }
}
