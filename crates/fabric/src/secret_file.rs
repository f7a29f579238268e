//! Files that only their owner may read: tokens, stores of tokens, and the keys of servers.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{flock, FlockOperation};

use crate::{Error, Token};

/// The longest file.
const LENGTH_MAX: u64 = 1 << 20;

/// Which version of a file was read. Another one differs in at least one of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: (u64, u64),
    changed: (i64, i64),
    len: u64,
}

impl Stamp {
    /// Of the file that is at `path` now. None if there is none.
    pub(crate) fn of(path: &Path) -> Option<Stamp> {
        Some(Stamp::new(&fs::metadata(path).ok()?))
    }

    fn new(about: &fs::Metadata) -> Stamp {
        Stamp {
            inode: (about.dev(), about.ino()),
            // The time of a change of the mode too, and nobody can set it.
            changed: (about.ctime(), about.ctime_nsec()),
            len: about.len(),
        }
    }
}

/// Reads a file that only its owner may read (mode 0600 or stricter), or a credential that systemd
/// has passed to this service. `what` names it in messages: "the token file", for one.
pub(crate) fn read(path: &Path, what: &str) -> Result<(String, Stamp), Error> {
    let shown = path.display();
    let failed = || Error::io(format!("cannot read {what} {shown}"));
    // Opening a pipe without a writer must not block.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .map_err(failed())?;
    let about = file.metadata().map_err(failed())?;
    if !about.is_file() {
        return Err(Error::Token(format!("{what} {shown} is no ordinary file")));
    }
    if about.mode() & 0o077 != 0 && !is_credential(path, &about, credentials()) {
        return Err(Error::Token(format!(
            "{what} {shown} can be read by others (mode {:03o}); run chmod 600 on it",
            about.mode() & 0o777
        )));
    }
    if about.uid() != mgn_sys::peer::own_uid() && about.uid() != 0 {
        let uid = about.uid();
        return Err(Error::Token(format!(
            "{what} {shown} belongs to uid {uid}; run this command as that user"
        )));
    }
    let mut text = String::new();
    let read = file.take(LENGTH_MAX).read_to_string(&mut text);
    read.map_err(failed())?;
    Ok((text, Stamp::new(&about)))
}

/// Where systemd puts the credentials of this service.
fn credentials() -> Option<PathBuf> {
    std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from)
}

/// Whether a file is a credential of this service. systemd lets the service's user read a file of
/// root by an access control list, and the rights in this list show as those of the group.
fn is_credential(path: &Path, about: &fs::Metadata, credentials: Option<PathBuf>) -> bool {
    let is_there = credentials.is_some_and(|folder| path.parent() == Some(&folder));
    is_there && about.uid() == 0 && about.gid() == 0 && about.mode() & 0o037 == 0
}

/// Writes a new file that only its owner may read. Never overwrites one.
pub(crate) fn create(path: &Path, what: &str, text: &str) -> Result<(), Error> {
    let doing = format!("cannot write {what} {}", path.display());
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(Error::io(doing.clone()))?;
    let written = file.write_all(text.as_bytes());
    written.and_then(|()| file.sync_all()).map_err(|error| {
        // A file that is not whole would be taken for a damaged one.
        let _ = fs::remove_file(path);
        Error::io(doing)(error)
    })
}

/// Writes a file in place of what is there, if anything is: others see the old text or the new one.
pub(crate) fn replace(path: &Path, what: &str, text: &str) -> Result<(), Error> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{:016x}", Token::generate().id().number()));
    let new = path.with_file_name(name);
    create(&new, what, text)?;
    fs::rename(&new, path).map_err(|error| {
        let _ = fs::remove_file(&new);
        Error::io(format!("cannot write {what} {}", path.display()))(error)
    })
}

/// Keeps other processes from changing files in the same folder for as long as it lives.
#[derive(Debug)]
pub(crate) struct Lock(#[allow(dead_code, reason = "closing it ends the lock")] File);

/// Waits until nobody else changes files in the folder of `path`, which is made if it is missing.
pub(crate) fn lock(path: &Path) -> Result<Lock, Error> {
    let folder = folder(path);
    let failed = || Error::io(format!("cannot write in {}", folder.display()));
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .map_err(failed())?;
    let open = File::open(&folder).map_err(failed())?;
    let locked = flock(&open, FlockOperation::LockExclusive);
    locked.map_err(|error| failed()(error.into()))?;
    Ok(Lock(open))
}

fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().as_bytes().is_empty() => folder.into(),
        _ => ".".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// systemd's credentials: root's, readable by the service's user through an access control list.
    #[test]
    fn credentials_of_a_service_are_read() {
        if mgn_sys::peer::own_uid() != 0 {
            return eprintln!("SKIPPED: only root has files of root");
        }
        let folder = crate::testing::Folder::new();
        let path = folder.path().join("token");
        create(&path, "the token file", "secret").unwrap();
        let with_mode = |mode| {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            is_credential(
                &path,
                &fs::metadata(&path).unwrap(),
                Some(folder.path().into()),
            )
        };
        assert!(with_mode(0o440));
        assert!(with_mode(0o400));
        for mode in [0o444, 0o460, 0o450] {
            assert!(!with_mode(mode));
        }
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let inner = inner.join("token");
        fs::copy(&path, &inner).unwrap();
        let about = fs::metadata(&inner).unwrap();
        assert!(!is_credential(&inner, &about, Some(folder.path().into())));
        assert!(!is_credential(&inner, &about, None));
    }
}
