//! The file with the key of program binaries. Programs keep binaries on disk, so the key outlives a server; and all servers of one user have the same.

use crate::error::ServerError;
use mgn_render::BinaryKey;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The key of this user's servers, made by the first that asks for it. Without a folder to keep it in, a key that nobody else has.
///
/// # Errors
/// If there is a file, and it is not a key that only its owner can read.
pub(crate) fn lasting() -> Result<BinaryKey, ServerError> {
    let Some(path) = path(|name| std::env::var_os(name)) else {
        tracing::info!("there is no home to keep the key of program binaries in, so programs cannot load them in later sessions");
        return Ok(BinaryKey::random());
    };
    match read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        read => return read.map_err(|why| unusable(&path, why)),
    }
    match create(&path) {
        Ok(()) => read(&path).map_err(|why| unusable(&path, why)),
        Err(error) => {
            let shown = path.display();
            tracing::info!("cannot write {shown} ({error}), so programs cannot load their binaries in later sessions");
            Ok(BinaryKey::random())
        }
    }
}

fn unusable(path: &Path, why: io::Error) -> ServerError {
    ServerError::BinaryKey {
        file: path.to_owned(),
        why,
    }
}

fn path(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    let home = set("HOME").map(|home| Path::new(&home).join(".local/state"));
    let state = set("XDG_STATE_HOME").map(PathBuf::from).or(home)?;
    Some(state.join("manganese/binaries.key"))
}

fn read(path: &Path) -> io::Result<BinaryKey> {
    // A pipe with nobody at its other end must not hold us up.
    let flags = libc::O_NONBLOCK;
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::other("it is not an ordinary file"));
    }
    let owner = about.uid();
    if owner != 0 && owner != mgn_sys::peer::own_uid() {
        return Err(io::Error::other(format!("it belongs to uid {owner}")));
    }
    if about.mode() & 0o077 != 0 {
        return Err(io::Error::other(format!(
            "others can read it (mode {:03o}); run chmod 600 on it",
            about.mode() & 0o777
        )));
    }
    if about.len() != 32 {
        return Err(io::Error::other(format!(
            "it has {} bytes, and a key has 32; remove the file, and the server makes a new one",
            about.len()
        )));
    }
    let mut bytes = Zeroizing::new([0; 32]);
    file.read_exact(&mut *bytes)?;
    Ok(BinaryKey::new(*bytes))
}

/// Makes the file, whole from the first moment on. If another server is faster, its file stays.
fn create(path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *bytes).map_err(io::Error::other)?;
    let new = folder.join(format!("binaries.key.{}", std::process::id()));
    // What a process of the same number has left behind.
    let _ = fs::remove_file(&new);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)?;
    let written = write(&mut file, &*bytes).and_then(|()| fs::hard_link(&new, path));
    let _ = fs::remove_file(&new);
    match written {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        written => written,
    }
}

fn write(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn a_key_lasts_and_only_its_owner_reads_it() {
        let folder = folder();
        let path = folder.path().join("manganese/binaries.key");
        create(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let id = read(&path).unwrap().id();
        // As if another server had been faster.
        create(&path).unwrap();
        assert_eq!(read(&path).unwrap().id(), id);
        let files = fs::read_dir(path.parent().unwrap()).unwrap();
        assert_eq!(files.count(), 1);
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let folder = folder();
        let path = folder.path().join("binaries.key");
        let why = || read(&path).unwrap_err().to_string();
        fs::write(&path, [0; 31]).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(why().contains("31 bytes"), "{}", why());
        fs::write(&path, [0; 32]).unwrap();
        assert!(read(&path).is_ok());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(why().contains("chmod 600"), "{}", why());
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(why().contains("not an ordinary file"), "{}", why());
    }

    #[test]
    fn the_state_folder_is_found() {
        let of = |state: &str, home: &str| {
            let (state, home) = (OsString::from(state), OsString::from(home));
            path(move |name| Some(if name == "HOME" { &home } else { &state }.clone()))
        };
        let found = |path: &str| Some(PathBuf::from(path));
        assert_eq!(of("/s", "/h"), found("/s/manganese/binaries.key"));
        assert_eq!(
            of("", "/h"),
            found("/h/.local/state/manganese/binaries.key")
        );
        assert_eq!(of("", ""), None);
    }
}
