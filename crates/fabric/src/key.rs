//! The permanent key of a server. Clients recognise the server by this key in TLS.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::sign::SigningKey;
use zeroize::Zeroizing;

use crate::secret_file;
use crate::token::{digits, random, to_digits};
use crate::Error;

const WHAT: &str = "the server's key";

/// The DER prefix of the 32 bytes of an Ed25519 private key (RFC 8410).
const PRIVATE: [u8; 16] = *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";

/// The DER prefix of the 32 bytes of an Ed25519 public key.
const PUBLIC: [u8; 12] = *b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";

/// The prefix of a public key's text.
const KIND: &str = "ed25519:";

/// An Ed25519 public key. Its text is `ed25519:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey([u8; 32]);

/// The private key of a server.
#[derive(Clone)]
pub struct ServerKey {
    signing: Arc<dyn SigningKey>,
    public: PublicKey,
}

impl ServerKey {
    /// A new key, which is not stored.
    pub(crate) fn generate() -> Result<ServerKey, Error> {
        let mut seed = [0; 32];
        random(&mut seed);
        ServerKey::new(&seed)
    }

    /// Reads the key in `path`, a file that only its owner may read. If there is no file, writes a
    /// new key there.
    ///
    /// # Errors
    /// [`Error::Token`] for a file that others can read or that holds no key, [`Error::Io`].
    pub fn read_or_create(path: &Path) -> Result<ServerKey, Error> {
        let make = || {
            let mut seed = Zeroizing::new([0; 32]);
            random(&mut *seed);
            let digits = to_digits(&seed);
            Zeroizing::new([digits.as_bytes(), b"\n"].concat())
        };
        let text = secret_file::read_or_create(path, WHAT, make)?;
        ServerKey::parse(path, &String::from_utf8_lossy(&text))
    }

    /// Reads the key in `path`.
    ///
    /// # Errors
    /// As for [`ServerKey::read_or_create`], and [`Error::Io`] if there is no such file.
    pub fn read(path: &Path) -> Result<ServerKey, Error> {
        let (text, _) = secret_file::read(path, WHAT)?;
        ServerKey::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<ServerKey, Error> {
        let seed = digits(text.trim()).ok_or_else(|| {
            let shown = path.display();
            Error::Token(format!("{WHAT} {shown} does not hold 64 hexadecimal digits, so it is another file, or damaged. If it is damaged, move it away: a new key is made, and clients need new tokens"))
        })?;
        ServerKey::new(&seed)
    }

    fn new(seed: &[u8; 32]) -> Result<ServerKey, Error> {
        let key = PrivatePkcs8KeyDer::from([&PRIVATE[..], seed].concat());
        let failed = |_| Error::Token(format!("{WHAT} is rejected by the cryptography library"));
        let loaded = default_provider().key_provider.load_private_key(key.into());
        let signing = loaded.map_err(failed)?;
        let public = signing.public_key();
        let public = public.and_then(|key| PublicKey::from_der(key.as_ref()));
        let public = public.ok_or_else(|| failed(rustls::Error::General(String::new())))?;
        Ok(ServerKey { signing, public })
    }

    pub fn public(&self) -> PublicKey {
        self.public
    }

    pub(crate) fn signing(&self) -> Arc<dyn SigningKey> {
        self.signing.clone()
    }
}

impl PublicKey {
    /// Reads a key from its SubjectPublicKeyInfo. Returns `None` for keys of another kind.
    pub(crate) fn from_der(der: &[u8]) -> Option<PublicKey> {
        Some(PublicKey(der.strip_prefix(&PUBLIC)?.try_into().ok()?))
    }

    pub(crate) fn to_der(self) -> Vec<u8> {
        [&PUBLIC[..], &self.0].concat()
    }
}

impl FromStr for PublicKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<PublicKey, Error> {
        let key = text.strip_prefix(KIND).and_then(digits);
        key.map(PublicKey).ok_or_else(|| {
            Error::Token("a server's public key is ed25519: and 64 hexadecimal digits; `mgn token key` shows that of a server on its host".into())
        })
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{KIND}{}", to_digits(&self.0).as_str())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl fmt::Debug for ServerKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ServerKey({})", self.public)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;
    use crate::testing::Folder;

    #[test]
    fn a_key_lasts_and_stays_private() {
        let folder = Folder::new();
        let path = folder.path().join("state/server.key");
        let key = ServerKey::read_or_create(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let again = ServerKey::read_or_create(&path).unwrap();
        assert_eq!(key.public(), again.public());
        assert_ne!(key.public(), ServerKey::generate().unwrap().public());
        let text = key.public().to_string();
        assert_eq!(text.parse::<PublicKey>().unwrap(), key.public());
        let secret = fs::read_to_string(&path).unwrap();
        assert!(!format!("{key:?}").contains(secret.trim()));

        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let error = ServerKey::read_or_create(&path).unwrap_err().to_string();
        assert!(error.contains("chmod 600"), "{error}");
    }

    #[test]
    fn a_damaged_key_is_not_replaced() {
        let folder = Folder::new();
        let path = folder.path().join("server.key");
        secret_file::create(&path, WHAT, "abc\n").unwrap();
        let error = ServerKey::read_or_create(&path).unwrap_err().to_string();
        assert!(error.contains("64 hexadecimal"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "abc\n");
        for text in ["", "ed25519:", "ed25519:ab", "rsa:00"] {
            assert!(text.parse::<PublicKey>().is_err(), "{text}");
        }
    }
}
