//! The tokens that a listener admits: one token, or the tokens in a file, which may change at any
//! time.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::secret_file::{self, Stamp};
use crate::token::{line, Written};
use crate::{Caller, Error, ServerKey, Token};

const WHAT: &str = "the token store";

/// An error lists the names of a store's tokens if the store has at most this many tokens.
const NAMES_SHOWN: usize = 8;

/// A listener's requirements for TCP clients, and the key that it shows to clients that encrypt.
#[derive(Clone, Debug, Default)]
pub struct Access {
    tokens: Option<Admitted>,
    key: Option<ServerKey>,
    callbacks: bool,
}

#[derive(Clone, Debug)]
enum Admitted {
    One(Arc<Vec<Token>>),
    Store(Arc<Store>),
}

/// Admits only this token. Without a token, the listener does not serve TCP. The listener makes a
/// new key.
impl From<Option<Token>> for Access {
    fn from(token: Option<Token>) -> Access {
        Access {
            tokens: token.map(|token| Admitted::One(Arc::new(vec![token]))),
            ..Access::default()
        }
    }
}

/// Admits the tokens that are in the store when a client connects.
impl From<Arc<Store>> for Access {
    fn from(store: Arc<Store>) -> Access {
        Access {
            tokens: Some(Admitted::Store(store)),
            ..Access::default()
        }
    }
}

impl Access {
    /// Sets the server key, which clients know.
    pub fn with_key(mut self, key: Option<ServerKey>) -> Access {
        self.key = key;
        self
    }

    /// Also admits servers that connect back, in the role server. Such a server has accepted a
    /// client with one of the tokens; see [`Token::for_callback`].
    pub fn with_callbacks(mut self) -> Access {
        self.callbacks = true;
        self
    }

    /// Whether clients can be admitted by TCP.
    pub fn has_tokens(&self) -> bool {
        self.tokens.is_some()
    }

    pub fn key(&self) -> Option<&ServerKey> {
        self.key.as_ref()
    }

    /// The tokens that are admitted now. `None` if no token is required.
    pub(crate) fn tokens(&self) -> Option<Arc<Vec<Token>>> {
        let tokens = match self.tokens.as_ref()? {
            Admitted::One(tokens) => tokens.clone(),
            Admitted::Store(store) => store.tokens(),
        };
        Some(match self.callbacks {
            true => Arc::new(with_callbacks(&tokens).collect()),
            false => tokens,
        })
    }

    /// Returns the reason why an admitted client must be disconnected, if its token has been
    /// revoked, or now has another secret or role. While the store cannot be read, all clients may
    /// stay.
    pub fn revoked(&self, caller: &Caller) -> Option<String> {
        let (Some(Admitted::Store(store)), Some(token)) = (&self.tokens, caller.token()) else {
            return None;
        };
        let tokens = store.current()?;
        let is_it =
            |known: &Token| known.id() == token.id() && known.identity() == token.identity();
        let stays = match self.callbacks {
            true => with_callbacks(&tokens).any(|known| is_it(&known)),
            false => tokens.iter().any(is_it),
        };
        let name = &token.identity().name;
        (!stays).then(|| format!("the token {name} has been revoked"))
    }
}

fn with_callbacks(tokens: &[Token]) -> impl Iterator<Item = Token> + '_ {
    let callbacks = tokens.iter().map(Token::for_callback);
    tokens.iter().cloned().chain(callbacks)
}

/// A file with several tokens. It is read again when it has changed.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    seen: Option<Stamp>,
    /// `None` while the file cannot be read.
    tokens: Option<Arc<Vec<Token>>>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    #[serde(default)]
    token: Vec<Written>,
}

impl Store {
    /// Opens a store, which must be a file that only its owner may read.
    ///
    /// # Errors
    /// [`Error::Token`] for a file that others can read or that is not a store, [`Error::Io`].
    pub fn open(path: &Path) -> Result<Store, Error> {
        let (tokens, seen) = read(path)?;
        Ok(Store {
            path: path.into(),
            state: Mutex::new(State {
                seen: Some(seen),
                tokens: Some(Arc::new(tokens)),
            }),
        })
    }

    /// The current tokens. There are none while the file cannot be read.
    pub fn tokens(&self) -> Arc<Vec<Token>> {
        self.current().unwrap_or_default()
    }

    /// The current tokens. `None` while the file cannot be read.
    fn current(&self) -> Option<Arc<Vec<Token>>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Stamp::of(&self.path);
        if now != state.seen {
            state.seen = now;
            match read(&self.path) {
                Ok((tokens, seen)) => {
                    let shown = self.path.display();
                    tracing::info!("read {WHAT} {shown} again: {} tokens", tokens.len());
                    state.seen = Some(seen);
                    state.tokens = Some(Arc::new(tokens));
                }
                Err(error) => {
                    // A file that could not be opened may be readable a moment later.
                    if matches!(error, Error::Io { .. }) {
                        state.seen = None;
                    }
                    if state.tokens.take().is_some() {
                        tracing::error!(
                            "no client is admitted by token until this is repaired: {error}"
                        );
                    }
                }
            }
        }
        state.tokens.clone()
    }

    /// Adds a token to the store at `path`. Makes the store if it is missing.
    ///
    /// # Errors
    /// [`Error::Token`] if a token has the same name or the same secret, and as [`Store::open`].
    pub fn add(path: &Path, token: &Token) -> Result<(), Error> {
        let _lock = secret_file::lock(path)?;
        let mut tokens = read_or_none(path)?;
        let name = &token.identity().name;
        let shown = path.display();
        if tokens.iter().any(|other| other.identity().name == *name) {
            return Err(Error::Token(format!("{WHAT} {shown} has a token called {name} already; choose another name (`mgn token new --name`), or remove that one with `mgn token revoke {name} --store {shown}`")));
        }
        if let Some(other) = tokens.iter().find(|other| other.id() == token.id()) {
            let other = &other.identity().name;
            return Err(Error::Token(format!(
                "{WHAT} {shown} has this token already, as {other}"
            )));
        }
        // Only the client needs the list of its servers.
        tokens.push(token.clone().with_servers(Vec::new()));
        write(path, &tokens)
    }

    /// Removes a token from the store at `path`. Listeners then no longer admit it.
    ///
    /// # Errors
    /// [`Error::Token`] if there is no such token, and as [`Store::open`].
    pub fn revoke(path: &Path, name: &str) -> Result<(), Error> {
        let _lock = secret_file::lock(path)?;
        let (mut tokens, _) = read(path)?;
        let before = tokens.len();
        tokens.retain(|token| token.identity().name != name);
        if tokens.len() == before {
            let shown = path.display();
            let names = tokens.iter().map(|token| &token.identity().name[..]);
            let has = match tokens.len() {
                0 => "it is empty".to_owned(),
                1..=NAMES_SHOWN => format!("it has {}", names.collect::<Vec<_>>().join(", ")),
                _ => format!("`mgn token list --store {shown}` shows those that it has"),
            };
            return Err(Error::Token(format!(
                "{WHAT} {shown} has no token called {name:?}; {has}"
            )));
        }
        write(path, &tokens)
    }
}

fn read_or_none(path: &Path) -> Result<Vec<Token>, Error> {
    match read(path) {
        Ok((tokens, _)) => Ok(tokens),
        Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn read(path: &Path) -> Result<(Vec<Token>, Stamp), Error> {
    let (text, stamp) = secret_file::read(path, WHAT)?;
    let wrong = |why: &str| Error::Token(format!("{WHAT} {} is damaged: {why}", path.display()));
    // The parser's message may show the line, which may contain a secret.
    let contents: Contents = toml::from_str(&text).map_err(|error| {
        let line = line(&text, &error);
        wrong(&format!(
            "it does not hold tokens as `mgn token new --store` writes them ({line})"
        ))
    })?;
    let tokens = contents.token.iter().map(Written::read);
    let tokens: Vec<Token> = tokens
        .collect::<Result<_, _>>()
        .map_err(|why| wrong(&why))?;
    for (n, token) in tokens.iter().enumerate() {
        let is_same = |other: &Token| {
            other.id() == token.id() || other.identity().name == token.identity().name
        };
        if tokens[..n].iter().any(is_same) {
            let name = &token.identity().name;
            return Err(wrong(&format!(
                "the name or the secret of {name} occurs twice"
            )));
        }
    }
    Ok((tokens, stamp))
}

fn write(path: &Path, tokens: &[Token]) -> Result<(), Error> {
    let contents = Contents {
        token: tokens.iter().map(Written::new).collect(),
    };
    let tokens = Zeroizing::new(toml::to_string(&contents).unwrap_or_default());
    let text = Zeroizing::new(format!(
        "# Tokens that servers of Manganese admit. Anyone who can read this file can use them all.\n{}",
        tokens.as_str()
    ));
    secret_file::replace(path, WHAT, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;
    use crate::admission::Source;
    use crate::testing::Folder;
    use crate::Role;

    fn names(store: &Store) -> Vec<String> {
        let tokens = store.tokens();
        tokens.iter().map(|t| t.identity().to_string()).collect()
    }

    #[test]
    fn changes_are_seen() {
        let folder = Folder::new();
        let path = folder.path().join("new/tokens");
        let alice = Token::new("alice", Role::Client).unwrap();
        Store::add(&path, &alice).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let store = Store::open(&path).unwrap();
        assert_eq!(names(&store), ["alice (client)"]);
        Store::add(&path, &Token::new("gpu", Role::Server).unwrap()).unwrap();
        assert_eq!(names(&store), ["alice (client)", "gpu (server)"]);
        Store::revoke(&path, "alice").unwrap();
        assert_eq!(names(&store), ["gpu (server)"]);
        assert!(Store::revoke(&path, "alice").is_err());
        let names_there: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(names_there.len(), 1, "no temporary file remains");
        // A store that cannot be read admits no clients until it can be read again.
        let text = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(names(&store).is_empty());
        secret_file::create(&path, WHAT, &text).unwrap();
        assert_eq!(names(&store), ["gpu (server)"]);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(names(&store).is_empty());
    }

    #[test]
    fn a_client_may_stay_until_its_token_is_revoked() {
        let folder = Folder::new();
        let path = folder.path().join("tokens");
        let token = |name| {
            let token = Token::new(name, Role::Client).unwrap();
            Store::add(&path, &token).unwrap();
            token
        };
        let (alice, bob) = (token("alice"), token("bob"));
        let access = Access::from(Arc::new(Store::open(&path).unwrap()));
        let caller = |token: &Token| Caller::new(Source::Unknown, Some(token.clone()));
        let revoked = |token: &Token| access.revoked(&caller(token));
        assert_eq!((revoked(&alice), revoked(&bob)), (None, None));
        assert_eq!(access.revoked(&Caller::new(Source::User(0), None)), None);
        Store::revoke(&path, "alice").unwrap();
        let why = Some("the token alice has been revoked".into());
        assert_eq!((revoked(&alice), revoked(&bob)), (why.clone(), None));
        // A token with the same name and another secret or role is another token.
        let other = token("alice");
        assert_eq!((revoked(&alice), revoked(&other)), (why.clone(), None));
        let text = fs::read_to_string(&path).unwrap();
        let promoted = text.replace("\"client\"", "\"admin\"");
        secret_file::replace(&path, WHAT, &promoted).unwrap();
        assert_eq!(revoked(&other), why);
        // While a store cannot be read, no client is admitted, but no connection ends.
        secret_file::replace(&path, WHAT, &text).unwrap();
        assert_eq!(revoked(&other), None);
        for damage in ["", "nonsense"] {
            match damage {
                "" => fs::remove_file(&path).unwrap(),
                _ => secret_file::create(&path, WHAT, damage).unwrap(),
            }
            assert!(access.tokens().is_some_and(|tokens| tokens.is_empty()));
            assert_eq!(revoked(&other), None);
        }
        // When the client's token is revoked, servers that connect back with it are no longer
        // admitted.
        secret_file::replace(&path, WHAT, &text).unwrap();
        let viewer = access.clone().with_callbacks();
        let back = caller(&bob.for_callback());
        assert_eq!(viewer.revoked(&back), None);
        Store::revoke(&path, "bob").unwrap();
        assert!(viewer.revoked(&back).is_some());
        // A single token without a store is never revoked.
        let alone = Access::from(Some(alice.clone()));
        assert_eq!(alone.revoked(&caller(&bob)), None);
    }

    #[test]
    fn stores_that_others_can_read_are_refused() {
        let folder = Folder::new();
        let path = folder.path().join("tokens");
        Store::add(&path, &Token::new("a", Role::Client).unwrap()).unwrap();
        for mode in [0o640, 0o604, 0o620] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let error = Store::open(&path).unwrap_err();
            assert!(
                matches!(&error, Error::Token(why) if why.contains("chmod 600")),
                "{error}"
            );
            let more = Token::new("b", Role::Client).unwrap();
            assert!(Store::add(&path, &more).is_err());
        }
    }

    #[test]
    fn a_name_and_a_secret_are_there_once() {
        let folder = Folder::new();
        let path = folder.path().join("tokens");
        let token = Token::new("a", Role::Client).unwrap();
        Store::add(&path, &token).unwrap();
        let other = Token::new("a", Role::Admin).unwrap();
        assert!(Store::add(&path, &other).is_err());
        let text = fs::read_to_string(&path).unwrap();
        let entry = text.split_once("[[token]]").unwrap().1;
        let twice = format!("{text}[[token]]{}", entry.replace("\"a\"", "\"b\""));
        fs::remove_file(&path).unwrap();
        secret_file::create(&path, WHAT, &twice).unwrap();
        let error = Store::open(&path).unwrap_err().to_string();
        assert!(error.contains("twice"), "{error}");
        assert!(!error.contains(token.to_hex().as_str()));
    }
}
