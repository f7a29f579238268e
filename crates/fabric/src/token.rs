//! The secret that both ends of a TCP connection share.

use std::fmt::{self, Write as _};
use std::fs::{Metadata, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::Error;

/// 256 random bits, written as 64 hexadecimal digits. Each end proves that it knows them; they are
/// never sent, and never shown by `Debug`.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl Token {
    pub fn generate() -> Token {
        let mut bytes = [0; 32];
        random(&mut bytes);
        Token(bytes)
    }

    /// Reads the token from a file that only its owner may read (mode 0600 or stricter), or from a
    /// credential that systemd has passed to this service.
    pub fn read(path: &Path) -> Result<Token, Error> {
        let shown = path.display();
        // A pipe with nobody at its other end must not hold us up.
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(path)
            .map_err(Error::io(format!("cannot read the token file {shown}")))?;
        let about = file
            .metadata()
            .map_err(Error::io(format!("cannot read the token file {shown}")))?;
        if !about.is_file() {
            return Err(Error::Token(format!(
                "the token file {shown} is no ordinary file"
            )));
        }
        if about.mode() & 0o077 != 0 && !is_credential(path, &about, credentials()) {
            return Err(Error::Token(format!(
                "the token file {shown} can be read by others (mode {:03o}); run chmod 600 on it",
                about.mode() & 0o777
            )));
        }
        if about.uid() != mgn_sys::peer::own_uid() && about.uid() != 0 {
            let uid = about.uid();
            return Err(Error::Token(format!(
                "the token file {shown} belongs to uid {uid}"
            )));
        }
        let mut text = String::new();
        file.take(256)
            .read_to_string(&mut text)
            .map_err(Error::io(format!("cannot read the token file {shown}")))?;
        text.trim().parse().map_err(|_| {
            Error::Token(format!(
                "the token file {shown} does not hold 64 hexadecimal digits"
            ))
        })
    }

    /// Writes the token to a new file that only its owner may read.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let doing = format!("cannot write the token file {}", path.display());
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .map_err(Error::io(doing.clone()))?;
        let text = self.to_hex() + "\n";
        file.write_all(text.as_bytes()).map_err(Error::io(doing))
    }

    /// The digits, for a process of one's own that shall know it too.
    pub fn to_hex(&self) -> String {
        let mut text = String::with_capacity(65);
        for byte in self.0 {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    /// The token in `path`, or a new one written there where no such file is.
    pub fn read_or_create(path: &Path) -> Result<Token, Error> {
        match Token::read(path) {
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                let token = Token::generate();
                token.write(path)?;
                Ok(token)
            }
            other => other,
        }
    }

    /// The token in the form to be proved on one encrypted channel: proofs of it are worth nothing on another one.
    pub(crate) fn bound_to(&self, channel: &[u8; 32]) -> Token {
        let mut mac = blake3::Hasher::new_keyed(&self.0);
        mac.update(b"mgn fabric tls").update(channel);
        Token(mac.finalize().into())
    }

    pub(crate) fn key(&self) -> &[u8; 32] {
        &self.0
    }
}

impl FromStr for Token {
    type Err = Error;

    fn from_str(text: &str) -> Result<Token, Error> {
        let wrong = || Error::Token("a token is 64 hexadecimal digits".into());
        let mut digits = text.chars().map(|digit| digit.to_digit(16));
        let mut bytes = [0; 32];
        for byte in &mut bytes {
            let (high, low) = (digits.next().flatten(), digits.next().flatten());
            *byte = (high.ok_or_else(wrong)? * 16 + low.ok_or_else(wrong)?) as u8;
        }
        match digits.next() {
            None => Ok(Token(bytes)),
            Some(_) => Err(wrong()),
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Token(hidden)")
    }
}

/// Where systemd puts the credentials of this service.
fn credentials() -> Option<PathBuf> {
    std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from)
}

/// Whether a file is a credential of this service. systemd lets the service's user read a file of
/// root by an access control list, and the rights in this list show as those of the group.
fn is_credential(path: &Path, about: &Metadata, credentials: Option<PathBuf>) -> bool {
    let is_there = credentials.is_some_and(|folder| path.parent() == Some(&folder));
    is_there && about.uid() == 0 && about.gid() == 0 && about.mode() & 0o037 == 0
}

/// Fills `bytes` from the system's random source. Without that nothing here can be secret, and
/// Linux always has it, so its failure ends the process.
pub(crate) fn random(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the system's random source works");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn written_tokens_come_back_and_stay_private() {
        let folder = crate::testing::Folder::new();
        let path = folder.path().join("token");
        let token = Token::read_or_create(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(Token::read_or_create(&path).unwrap().key(), token.key());
        assert!(token.write(&path).is_err(), "never overwrites");
        assert_eq!(format!("{token:?}"), "Token(hidden)");

        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(Token::read(&path)
            .unwrap_err()
            .to_string()
            .contains("chmod 600"));
    }

    /// systemd's credentials: root's, readable by the service's user through an access control list.
    #[test]
    fn credentials_of_a_service_are_read() {
        if mgn_sys::peer::own_uid() != 0 {
            return eprintln!("SKIPPED: only root has files of root");
        }
        let folder = crate::testing::Folder::new();
        let path = folder.path().join("token");
        Token::generate().write(&path).unwrap();
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

    #[test]
    fn anything_but_64_digits_is_refused() {
        let folder = crate::testing::Folder::new();
        let path = folder.path().join("token");
        for text in [
            "",
            "secret",
            &"a".repeat(63),
            &"a".repeat(65),
            &"g".repeat(64),
        ] {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            let message = Token::read(&path).unwrap_err().to_string();
            assert!(message.contains("64 hexadecimal"), "{message}");
            assert!(text.is_empty() || !message.contains(text));
        }
        assert!("a".repeat(64).parse::<Token>().is_ok());
    }
}
