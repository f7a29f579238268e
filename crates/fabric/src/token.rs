//! Tokens: the secret that both ends of a TCP connection share, and the permissions of the token's
//! holder.

use std::fmt::{self, Write as _};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Once;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::secret_file;
use crate::{is_name, Error, PublicKey};

const WHAT: &str = "the token file";

/// A name, a role, 256 random bits (the secret), and the keys of the servers to which the holder
/// may connect. Each end proves that it knows the secret. The secret is never sent, and `Debug`
/// never shows it.
#[derive(Clone)]
pub struct Token {
    secret: Zeroizing<[u8; 32]>,
    /// The identifier of the original secret, even if `secret` is bound to a channel.
    id: TokenId,
    identity: Identity,
    /// The keys that servers may show. If it is empty, any key is accepted.
    servers: Vec<PublicKey>,
    /// The key of the only server to which this copy may be proved. The key comes from a trusted
    /// source.
    vouched: Option<PublicKey>,
    /// The file from which it was read.
    file: Option<PathBuf>,
    is_old: bool,
}

/// The permissions of a token's holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// May have sessions with servers.
    Client,
    /// May be a server: register with a mothership, and send pictures to viewers.
    Server,
    /// May do everything, such as stop a mothership and list the sessions of others.
    Admin,
}

/// The identity of a token's holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub name: String,
    pub role: Role,
}

/// The public identifier of a token. It reveals nothing about the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId(pub(crate) [u8; TokenId::BYTES]);

impl TokenId {
    pub(crate) const BYTES: usize = 8;

    fn of(secret: &[u8; 32]) -> TokenId {
        let hash = blake3::Hasher::new_keyed(secret)
            .update(b"mgn fabric token id")
            .finalize();
        TokenId(std::array::from_fn(|i| hash.as_bytes()[i]))
    }

    pub(crate) fn number(self) -> u64 {
        u64::from_le_bytes(self.0)
    }
}

impl Role {
    pub const ALL: [Role; 3] = [Role::Client, Role::Server, Role::Admin];

    /// Whether this role includes the permissions of `needed`.
    pub fn permits(self, needed: Role) -> bool {
        self == needed || self == Role::Admin
    }

    fn name(self) -> &'static str {
        match self {
            Role::Client => "client",
            Role::Server => "server",
            Role::Admin => "admin",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Role {
    type Err = Error;

    fn from_str(text: &str) -> Result<Role, Error> {
        let found = Role::ALL.into_iter().find(|role| role.name() == text);
        found.ok_or_else(|| Error::Token("a role is client, server or admin".into()))
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({})", self.name, self.role)
    }
}

/// A token as it is written, in its own file or in a store.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Written {
    name: String,
    role: Role,
    secret: Zeroizing<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    servers: Vec<String>,
}

impl Token {
    /// Makes a new token with a new secret.
    ///
    /// # Errors
    /// [`Error::Token`] for an invalid name.
    pub fn new(name: &str, role: Role) -> Result<Token, Error> {
        if !is_name(name) {
            return Err(Error::Token(format!("{name:?} is not a valid name for a token: use 1 to 64 letters, digits and . _ - , and do not begin with - or .")));
        }
        let mut secret = [0; 32];
        random(&mut secret);
        let identity = Identity {
            name: name.into(),
            role,
        };
        Ok(Token::of(secret, identity))
    }

    /// Makes a token for processes that trust each other in everything, such as the processes of
    /// one job.
    pub fn generate() -> Token {
        let mut secret = [0; 32];
        random(&mut secret);
        Token::of(secret, Identity::shared())
    }

    fn of(secret: [u8; 32], identity: Identity) -> Token {
        Token {
            id: TokenId::of(&secret),
            secret: secret.into(),
            identity,
            servers: Vec::new(),
            vouched: None,
            file: None,
            is_old: false,
        }
    }

    /// Reads the token from a file that only its owner may read (mode 0600 or stricter), or from a
    /// credential that systemd has passed to this service.
    ///
    /// # Errors
    /// [`Error::Token`] for a file that others can read or that holds no token, [`Error::Io`].
    pub fn read(path: &Path) -> Result<Token, Error> {
        let (text, _) = secret_file::read(path, WHAT)?;
        let shown = path.display();
        let file = Some(path.to_owned());
        if let Some(secret) = digits(text.trim()) {
            static WARN: Once = Once::new();
            WARN.call_once(|| {
                tracing::warn!("the token file {shown} has the format of earlier releases, without a role and a server key; it works on this host only; {NEW}");
            });
            return Ok(Token {
                file,
                is_old: true,
                ..Token::of(secret, Identity::shared())
            });
        }
        let wrong = |why: &str| Error::Token(format!("the token file {shown} is damaged: {why}"));
        let written: Written = toml::from_str(&text).map_err(|error| {
            // The parser's message may show the line, which may contain the secret.
            match text.contains("[[token]]") {
                true => Error::Token(format!(
                    "{shown} is a store of tokens, not a token; name it by --token-store"
                )),
                false => wrong(&format!(
                    "it does not hold a token as `mgn token new` writes it ({})",
                    line(&text, &error)
                )),
            }
        })?;
        let token = written.read().map_err(|why| wrong(&why))?;
        Ok(Token { file, ..token })
    }

    /// Writes the token to a new file that only its owner may read.
    ///
    /// # Errors
    /// [`Error::Io`], also if the file exists already.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let text = Zeroizing::new(format!(
            "# A token of Manganese. Anyone who can read this file can use it.\n{}",
            self.to_text().as_str()
        ));
        secret_file::create(path, WHAT, text.as_bytes())
    }

    /// The token for servers that show one of these keys.
    pub fn with_servers(mut self, servers: Vec<PublicKey>) -> Token {
        self.servers = servers;
        self
    }

    /// The token for only the server with this key. The keys in the token's file do not matter for
    /// that server, but relays on the way must still show one of them.
    pub fn vouched(mut self, key: Option<PublicKey>) -> Token {
        self.vouched = key;
        self
    }

    /// The token for servers with any key. The processes of a job make new keys each time.
    pub(crate) fn for_any_server(self) -> Token {
        self.with_servers(Vec::new())
    }

    /// The keys that the file names. If it is empty, any key is accepted.
    pub fn servers(&self) -> &[PublicKey] {
        &self.servers
    }

    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    pub fn id(&self) -> TokenId {
        self.id
    }

    /// Whether it was read from a file in the format of earlier releases, with 64 digits and
    /// nothing else.
    pub fn is_old(&self) -> bool {
        self.is_old
    }

    /// The secret as hexadecimal digits, without the name and role, for another process of the same
    /// user.
    pub fn to_hex(&self) -> Zeroizing<String> {
        to_digits(&self.secret)
    }

    /// The whole token as text, for another process of the same user.
    pub fn to_text(&self) -> Zeroizing<String> {
        toml::to_string(&Written::new(self))
            .unwrap_or_default()
            .into()
    }

    /// Reads a token from the text of [`Token::to_text`].
    ///
    /// # Errors
    /// [`Error::Token`] for other text.
    pub fn from_text(text: &str) -> Result<Token, Error> {
        let written: Option<Written> = toml::from_str(text).ok();
        let token = written.and_then(|written| written.read().ok());
        token.ok_or_else(|| {
            Error::Token("the token that another process passed on is damaged".into())
        })
    }

    /// A token with role server, which only holders of this token can derive. A server that has
    /// accepted a client with this token proves the derived token when it connects back to the
    /// client.
    pub fn for_callback(&self) -> Token {
        let mut mac = blake3::Hasher::new_keyed(&self.secret);
        let secret = mac.update(b"mgn fabric callback").finalize().into();
        let identity = Identity {
            name: self.identity.name.clone(),
            role: Role::Server,
        };
        Token {
            is_old: self.is_old,
            ..Token::of(secret, identity)
        }
    }

    /// A key for another purpose, which only holders of this token can derive.
    pub(crate) fn derive(&self, purpose: &str) -> Zeroizing<[u8; 32]> {
        let mut mac = blake3::Hasher::new_keyed(&self.secret);
        mac.update(b"mgn fabric key for ")
            .update(purpose.as_bytes());
        Zeroizing::new(mac.finalize().into())
    }

    /// The token bound to an encrypted channel. Proofs of it are invalid on any other channel.
    pub(crate) fn bound_to(&self, channel: &[u8; 32]) -> Token {
        let mut mac = blake3::Hasher::new_keyed(&self.secret);
        mac.update(b"mgn fabric tls").update(channel);
        let mut bound = self.clone();
        *bound.secret = mac.finalize().into();
        bound
    }

    pub(crate) fn key(&self) -> &[u8; 32] {
        &self.secret
    }

    /// Checks the key that `server` has shown. `is_last` is false for a relay on the way.
    pub(crate) fn check_key(
        &self,
        server: &str,
        shown: Option<PublicKey>,
        is_last: bool,
    ) -> Result<(), Error> {
        let vouched = self.vouched.as_ref().filter(|_| is_last);
        let known = vouched.map_or(&self.servers[..], std::slice::from_ref);
        if known.is_empty() || shown.is_some_and(|shown| known.contains(&shown)) {
            return Ok(());
        }
        let key = shown.map_or("(of another kind)".into(), |shown| shown.to_string());
        let known = match (vouched, &self.file) {
            (Some(_), _) => "the mothership's list".into(),
            (None, Some(file)) => file.display().to_string(),
            (None, None) => "the token".into(),
        };
        Err(Error::OtherKey {
            server: server.into(),
            known,
            key,
        })
    }

    /// Refuses a token in the format of earlier releases for connections to other hosts.
    pub(crate) fn check_place(&self, place: IpAddr) -> Result<(), Error> {
        match self.is_old && !place.to_canonical().is_loopback() {
            false => Ok(()),
            true => Err(Error::OldToken(match &self.file {
                Some(file) => file.display().to_string(),
                None => "in use".into(),
            })),
        }
    }
}

/// The advice about a token in the format of earlier releases.
pub(crate) const NEW: &str =
    "make another with `mgn token new` on the server's host, and copy it to the programs' hosts";

impl Identity {
    /// The identity of processes that trust each other in everything.
    fn shared() -> Identity {
        Identity {
            name: "shared".into(),
            role: Role::Admin,
        }
    }
}

impl Written {
    pub(crate) fn new(token: &Token) -> Written {
        Written {
            name: token.identity.name.clone(),
            role: token.identity.role,
            secret: token.to_hex(),
            servers: token.servers.iter().map(ToString::to_string).collect(),
        }
    }

    pub(crate) fn read(&self) -> Result<Token, String> {
        let name = &self.name;
        if !is_name(name) {
            return Err(format!("{name:?} is not a valid name for a token"));
        }
        let secret = digits(&self.secret);
        let secret =
            secret.ok_or_else(|| format!("the secret of {name} is not 64 hexadecimal digits"))?;
        let servers = self.servers.iter().map(|key| key.parse());
        let servers: Result<Vec<PublicKey>, Error> = servers.collect();
        let identity = Identity {
            name: name.clone(),
            role: self.role,
        };
        let token = Token::of(secret, identity);
        Ok(token.with_servers(servers.map_err(|error| error.to_string())?))
    }
}

/// The number of the line with the mistake, without the contents of the line.
pub(crate) fn line(text: &str, error: &toml::de::Error) -> String {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    format!("line {}", 1 + text[..at].matches('\n').count())
}

impl FromStr for Token {
    type Err = Error;

    /// Reads a token from the digits of [`Token::to_hex`].
    fn from_str(text: &str) -> Result<Token, Error> {
        let secret = digits(text);
        let secret =
            secret.ok_or_else(|| Error::Token("a secret is 64 hexadecimal digits".into()))?;
        Ok(Token::of(secret, Identity::shared()))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Token({})", self.identity)
    }
}

/// 32 bytes from 64 hexadecimal digits.
pub(crate) fn digits(text: &str) -> Option<[u8; 32]> {
    let mut digits = text.chars().map(|digit| digit.to_digit(16));
    let mut bytes = [0; 32];
    for byte in &mut bytes {
        *byte = (digits.next()?? * 16 + digits.next()??) as u8;
    }
    digits.next().is_none().then_some(bytes)
}

pub(crate) fn to_digits(bytes: &[u8; 32]) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(65));
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Fills `bytes` from the system's random source. Linux always has this source. Nothing can be
/// secret without it, so a failure ends the process.
pub(crate) fn random(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the system's random source works");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    #[test]
    fn written_tokens_come_back_and_stay_private() {
        let folder = crate::testing::Folder::new();
        let path = folder.path().join("token");
        let key = crate::ServerKey::generate().unwrap().public();
        let token = Token::new("alice", Role::Client)
            .unwrap()
            .with_servers(vec![key]);
        token.write(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let again = Token::read(&path).unwrap();
        assert_eq!((again.key(), again.id()), (token.key(), token.id()));
        assert_eq!(again.identity(), token.identity());
        assert_eq!(again.servers(), [key]);
        assert!(!again.is_old());
        assert!(token.write(&path).is_err(), "never overwrites");
        assert_eq!(format!("{token:?}"), "Token(alice (client))");

        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(Token::read(&path)
            .unwrap_err()
            .to_string()
            .contains("chmod 600"));
    }

    #[test]
    fn damaged_files_are_refused_and_not_shown() {
        let folder = crate::testing::Folder::new();
        let path = folder.path().join("token");
        let secret = "a".repeat(64);
        for text in [
            "".to_owned(),
            "hidden".into(),
            "a".repeat(63),
            "a".repeat(65),
            "g".repeat(64),
            format!("name = \"a\"\nrole = \"king\"\nsecret = \"{secret}\""),
            format!("name = \"-a\"\nrole = \"client\"\nsecret = \"{secret}\""),
            format!("name = \"a\"\nrole = \"client\"\nsecret = \"{secret}b\""),
            format!("name = \"a\"\nrole = \"client\"\nsecret = {secret}"),
            format!(
                "name = \"a\"\nrole = \"client\"\nsecret = \"{secret}\"\nservers = [\"ed25519:00\"]"
            ),
        ] {
            fs::write(&path, &text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            let message = Token::read(&path).unwrap_err().to_string();
            assert!(message.contains("is damaged"), "{message}");
            assert!(
                !message.contains("aaaa") && !message.contains("hidden"),
                "{message}"
            );
        }
        assert!("a".repeat(64).parse::<Token>().is_ok());
        assert!("a".repeat(63).parse::<Token>().is_err());
    }

    #[test]
    fn old_files_are_for_this_host() {
        let folder = crate::testing::Folder::new();
        let path = folder.path().join("token");
        secret_file::create(&path, WHAT, "a".repeat(64)).unwrap();
        let token = Token::read(&path).unwrap();
        assert!(token.is_old());
        for here in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            token.check_place(here.parse().unwrap()).unwrap();
        }
        for token in [token.for_callback(), token] {
            for there in ["10.0.0.1", "0.0.0.0", "::", "fe80::1"] {
                let error = token.check_place(there.parse().unwrap()).unwrap_err();
                assert!(matches!(error, Error::OldToken(_)), "{error}");
            }
        }
    }

    #[test]
    fn the_token_for_callbacks_is_another_one() {
        let token = Token::new("alice", Role::Client).unwrap();
        let back = token.for_callback();
        assert_ne!((back.key(), back.id()), (token.key(), token.id()));
        assert_eq!(back.identity().role, Role::Server);
        assert_eq!(back.key(), token.for_callback().key());
    }
}
