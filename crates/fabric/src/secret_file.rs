//! Files that only their owner may read: tokens, stores of tokens, and keys of servers.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{flock, FlockOperation};
use zeroize::Zeroizing;

use crate::{Error, Token};

/// The longest file.
const LENGTH_MAX: u64 = 1 << 20;

/// Identifies the version of a file that was read. Another version differs in at least one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: (u64, u64),
    changed: (i64, i64),
    len: u64,
}

impl Stamp {
    /// The stamp of the file at `path`. `None` if there is no file.
    pub(crate) fn of(path: &Path) -> Option<Stamp> {
        Some(Stamp::new(&fs::metadata(path).ok()?))
    }

    fn new(about: &fs::Metadata) -> Stamp {
        Stamp {
            inode: (about.dev(), about.ino()),
            // A change of the mode also changes this time, and no process can set it.
            changed: (about.ctime(), about.ctime_nsec()),
            len: about.len(),
        }
    }
}

/// Reads a file that only its owner may read. If there is no file, writes the result of `make`
/// there. `what` names the file in messages, for example "the server's key".
///
/// # Errors
/// [`Error::Token`] for a file that others can read or that belongs to another user, [`Error::Io`].
pub fn read_or_create(
    path: &Path,
    what: &str,
    make: impl FnOnce() -> Zeroizing<Vec<u8>>,
) -> Result<Zeroizing<Vec<u8>>, Error> {
    if let Some(there) = read_if_there(path, what)? {
        return Ok(there);
    }
    // Another process may be creating it at the same time.
    let _lock = lock(path)?;
    if let Some(there) = read_if_there(path, what)? {
        return Ok(there);
    }
    let bytes = make();
    replace(path, what, &bytes)?;
    Ok(bytes)
}

fn read_if_there(path: &Path, what: &str) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
    match read_bytes(path, what) {
        Ok((bytes, _)) => Ok(Some(bytes)),
        Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads a text file that only its owner may read (mode 0600 or stricter), or a credential that
/// systemd has passed to this service.
pub(crate) fn read(path: &Path, what: &str) -> Result<(Zeroizing<String>, Stamp), Error> {
    let (mut bytes, stamp) = read_bytes(path, what)?;
    let text = String::from_utf8(std::mem::take(&mut *bytes));
    let text = text.map_err(|_| {
        let shown = path.display();
        Error::Token(format!("{what} {shown} is damaged: it is not a text file"))
    })?;
    Ok((Zeroizing::new(text), stamp))
}

fn read_bytes(path: &Path, what: &str) -> Result<(Zeroizing<Vec<u8>>, Stamp), Error> {
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
        return Err(Error::Token(format!(
            "{what} {shown} is not a regular file"
        )));
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
    let mut bytes = Zeroizing::new(Vec::new());
    let read = file.take(LENGTH_MAX).read_to_end(&mut bytes);
    read.map_err(failed())?;
    Ok((bytes, Stamp::new(&about)))
}

/// The folder in which systemd puts the credentials of this service.
fn credentials() -> Option<PathBuf> {
    std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from)
}

/// Whether a file is a credential of this service. systemd lets the service's user read a file of
/// root through an access control list. In the file's mode, the rights of this list appear as the
/// rights of the group.
fn is_credential(path: &Path, about: &fs::Metadata, credentials: Option<PathBuf>) -> bool {
    let is_there = credentials.is_some_and(|folder| path.parent() == Some(&folder));
    is_there && about.uid() == 0 && about.gid() == 0 && about.mode() & 0o037 == 0
}

/// Writes a new file that only its owner may read. Never overwrites a file.
pub(crate) fn create(path: &Path, what: &str, contents: impl AsRef<[u8]>) -> Result<(), Error> {
    let doing = format!("cannot write {what} {}", path.display());
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(Error::io(doing.clone()))?;
    let written = file.write_all(contents.as_ref());
    written.and_then(|()| file.sync_all()).map_err(|error| {
        // An incomplete file would later count as damaged.
        let _ = fs::remove_file(path);
        Error::io(doing)(error)
    })
}

/// Writes a file, and replaces an existing one. Other processes see either the old contents or the
/// new ones.
pub(crate) fn replace(path: &Path, what: &str, contents: impl AsRef<[u8]>) -> Result<(), Error> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{:016x}", Token::generate().id().number()));
    let new = path.with_file_name(name);
    create(&new, what, contents)?;
    fs::rename(&new, path).map_err(|error| {
        let _ = fs::remove_file(&new);
        Error::io(format!("cannot write {what} {}", path.display()))(error)
    })
}

/// A lock that keeps other processes from changing files in the same folder.
#[derive(Debug)]
pub(crate) struct Lock(#[allow(dead_code, reason = "closing it ends the lock")] File);

/// Locks the folder of `path`, which is created if it is missing. Waits while another process has
/// the lock.
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

    #[test]
    fn a_file_is_made_once_and_only_its_owner_reads_it() {
        let folder = crate::testing::Folder::new();
        let path = folder.path().join("new/key");
        let make = |byte| move || Zeroizing::new(vec![byte; 32]);
        let first = read_or_create(&path, "the key", make(1)).unwrap();
        assert_eq!(*first, [1; 32]);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let again = read_or_create(&path, "the key", make(2)).unwrap();
        assert_eq!(*again, [1; 32]);
        let files = fs::read_dir(path.parent().unwrap()).unwrap();
        assert_eq!(files.count(), 1, "no temporary file remains");
    }

    #[test]
    fn what_is_no_private_file_is_refused() {
        let folder = crate::testing::Folder::new();
        let path = folder.path().join("key");
        let why = || {
            let read = read_or_create(&path, "the key", || unreachable!());
            read.unwrap_err().to_string()
        };
        create(&path, "the key", [0; 32]).unwrap();
        for mode in [0o640, 0o604, 0o620] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert!(why().contains("run chmod 600 on it"), "{}", why());
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(why().contains("not a regular file"), "{}", why());
    }

    /// systemd's credentials: root's, readable by the service's user through an access control
    /// list.
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
