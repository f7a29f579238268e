//! The identity of a client, and its permissions.

use crate::admission::Source;
use crate::{Identity, Role, Token};

/// A client's identity. It outlives the connection's [`crate::Incoming`], so that later requests on
/// the connection can be checked in the same way.
#[derive(Clone, Debug)]
pub struct Caller {
    source: Source,
    /// The token that the client has proved. `None` if no token was required.
    token: Option<Token>,
}

impl Caller {
    pub fn new(source: Source, token: Option<Token>) -> Caller {
        Caller { source, token }
    }

    /// The source of the client's connection.
    pub fn source(&self) -> Source {
        self.source
    }

    /// The identity of the token that the client has proved. `None` if no token was required: at
    /// unix sockets, and after a handoff.
    pub fn identity(&self) -> Option<&Identity> {
        self.token.as_ref().map(Token::identity)
    }

    pub(crate) fn token(&self) -> Option<&Token> {
        self.token.as_ref()
    }

    /// Checks that the client may have another connection to `listener`, such as "the relay". The
    /// listener has room for `most` connections. `others` are the clients with connections now.
    /// Clients with one token at one address get at most a quarter of the room, so that they cannot
    /// keep other clients out. Clients in other roles, and users of this machine that need no
    /// token, have no separate limit.
    ///
    /// # Errors
    /// One sentence for the client.
    pub fn may_enter<'a>(
        &self,
        listener: &str,
        most: usize,
        others: impl ExactSizeIterator<Item = &'a Caller>,
    ) -> Result<(), String> {
        if others.len() >= most {
            return Err(format!(
                "{listener} has reached its limit of {most} connections"
            ));
        }
        let quarter = most / 4;
        match others.filter(|other| other.is_same_client(self)).count() {
            its if its >= quarter => Err(format!(
                "clients at this address have reached the limit of {quarter} connections to \
                 {listener} for one token"
            )),
            _ => Ok(()),
        }
    }

    /// Whether both callers are clients with the same token at the same address.
    fn is_same_client(&self, other: &Caller) -> bool {
        let is_client = |who: &Identity| who.role == Role::Client;
        self.source == other.source
            && self.identity().is_some_and(is_client)
            && self.identity() == other.identity()
    }

    /// Checks that the client may do something that requires the role `needed`. `doing` describes
    /// the activity, such as "have sessions". Clients at unix sockets belong to the server's own
    /// user or root, and may do everything.
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
