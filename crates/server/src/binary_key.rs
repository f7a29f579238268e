//! The key that seals program binaries. Programs keep binaries on disk, so the key outlives a
//! server, and all servers of one user share it.

use crate::error::ServerError;
use mgn_fabric::secret_file;
use mgn_render::BinaryKey;
use mgn_sys::user::state_folder;
use std::path::Path;
use zeroize::Zeroizing;

/// The key of this user's servers. The first server that asks for it creates it. If it cannot be
/// stored, the key is random and is not kept.
///
/// # Errors
/// If the file exists, but is not a key that only its owner can read.
pub(crate) fn lasting() -> Result<BinaryKey, ServerError> {
    match state_folder() {
        Some(folder) => in_file(&folder.join("binaries.key")),
        None => {
            tracing::info!("there is no home folder for the key of program binaries, so programs cannot load them in later sessions");
            Ok(BinaryKey::random())
        }
    }
}

fn in_file(path: &Path) -> Result<BinaryKey, ServerError> {
    let make = || {
        let mut key = Zeroizing::new(vec![0; 32]);
        getrandom::fill(&mut key).expect("the kernel gives random bytes");
        key
    };
    let bytes = match secret_file::read_or_create(path, "the key of program binaries", make) {
        Err(error) if !path.exists() => {
            tracing::info!("{error}; programs cannot load their binaries in later sessions");
            return Ok(BinaryKey::random());
        }
        read => read?,
    };
    let key: Result<[u8; 32], _> = bytes.as_slice().try_into();
    let key = key.map_err(|_| ServerError::BinaryKey {
        file: path.to_owned(),
        bytes: bytes.len(),
    })?;
    Ok(BinaryKey::new(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_key_lasts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("manganese/binaries.key");
        let id = in_file(&path).unwrap().id();
        assert_eq!(in_file(&path).unwrap().id(), id);
        fs::remove_file(&path).unwrap();
        assert_ne!(in_file(&path).unwrap().id(), id);
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("binaries.key");
        in_file(&path).unwrap();
        fs::write(&path, [0; 31]).unwrap();
        let why = in_file(&path).unwrap_err().to_string();
        assert!(why.contains("31 bytes"), "{why}");
    }

    #[test]
    fn a_folder_that_cannot_be_written_gives_a_key_for_now() {
        let path = Path::new("/proc/binaries.key");
        assert_ne!(in_file(path).unwrap().id(), in_file(path).unwrap().id());
    }
}
