//! Who a client has shown itself to be, and what it may do as that.

use crate::admission::Source;
use crate::{Identity, Role, Token};

/// A client as a listener knows it. It outlives the connection's [`crate::Incoming`], so that later
/// requests on the connection can be judged in the same way.
#[derive(Clone, Debug)]
pub struct Caller {
    source: Source,
    /// What it has proved. None where no token is asked for.
    token: Option<Token>,
}

impl Caller {
    pub fn new(source: Source, token: Option<Token>) -> Caller {
        Caller { source, token }
    }

    /// Where it comes from.
    pub fn source(&self) -> Source {
        self.source
    }

    /// Whose token the client has proved. None where none was asked for: at unix sockets, and after
    /// a handoff.
    pub fn identity(&self) -> Option<&Identity> {
        self.token.as_ref().map(Token::identity)
    }

    pub(crate) fn token(&self) -> Option<&Token> {
        self.token.as_ref()
    }

    /// Why the client may not do what takes the role `needed`, if it may not; `doing` is that, in
    /// words, such as "have sessions". Clients at unix sockets are of the server's own user, or
    /// root, and may do everything.
    ///
    /// # Errors
    /// One sentence for the client.
    pub fn require(&self, needed: Role, doing: &str) -> Result<(), String> {
        let why = match (self.identity(), self.source) {
            (Some(who), _) if who.role.permits(needed) => return Ok(()),
            (None, Source::User(_)) => return Ok(()),
            (Some(Identity { name, role }), _) => format!("the token {name} has the role {role}"),
            (None, _) => "this connection has proved no token".into(),
        };
        Err(format!(
            "{why}; a token with the role {needed} is required to {doing}"
        ))
    }
}
