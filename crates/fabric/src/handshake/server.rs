//! The server's side of the handshake.

use super::*;
use std::sync::Arc;

use crate::config::Sizes;
use crate::token::random;

/// A client that has connected and not yet authenticated.
pub(crate) struct ServerSide {
    /// `None` if no token is required.
    known: Option<Known>,
    /// Transports that may be used on this socket.
    allowed: &'static [Transport],
    state: State,
    buffer: Vec<u8>,
}

/// The tokens that a server admits, and the channel to which proofs are bound. There is a channel
/// only if the connection is encrypted.
pub(crate) struct Known {
    pub(crate) tokens: Arc<Vec<Token>>,
    pub(crate) channel: Option<[u8; 32]>,
}

impl Known {
    /// The token that a hello names. It is bound to the channel if the connection is encrypted.
    fn find(&self, hello: &[u8; HELLO]) -> Option<Box<Token>> {
        let found = self
            .tokens
            .iter()
            .find(|token| token.id().0 == hello[ID..])?;
        Some(Box::new(match &self.channel {
            Some(channel) => found.bound_to(channel),
            None => found.clone(),
        }))
    }
}

enum State {
    Hello,
    Answer {
        hello: [u8; HELLO],
        transport: Transport,
        nonce: [u8; NONCE],
        token: Option<Box<Token>>,
    },
    Over,
}

#[derive(Debug)]
pub(crate) enum Progress {
    /// More bytes are needed.
    More,
    /// Send these bytes, then continue.
    Send(Vec<u8>),
    /// The client has authenticated, and waits for the application's verdict.
    Done {
        transport: Transport,
        opening: Vec<u8>,
        /// The token that was proved, if one was required.
        token: Option<TokenId>,
    },
    /// Send these bytes, if there are any, and close. The text is for the log.
    Fail(Vec<u8>, String),
}

impl ServerSide {
    pub(crate) fn new(known: Option<Known>, allowed: &'static [Transport]) -> ServerSide {
        ServerSide {
            known,
            allowed,
            state: State::Hello,
            buffer: Vec::new(),
        }
    }

    /// The number of bytes that may be read next, or 0 when the handshake is over.
    pub(crate) fn wants(&self) -> usize {
        let whole = match &self.state {
            State::Hello => HELLO,
            State::Answer { hello, .. } => PROOF + word(hello, 12) as usize,
            State::Over => 0,
        };
        whole.saturating_sub(self.buffer.len())
    }

    /// Handles received bytes, at most [`ServerSide::wants`].
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Progress {
        debug_assert!(bytes.len() <= self.wants());
        self.buffer.extend_from_slice(bytes);
        // Refuse a client that speaks another protocol as soon as its first bytes show this.
        let start = self.buffer.len().min(MAGIC.len());
        if matches!(self.state, State::Hello) && self.buffer[..start] != MAGIC[..start] {
            self.state = State::Over;
            return match crate::tls::is_tls(&self.buffer) {
                // The client recognises our protocol by the first bytes of the refusal.
                true => fail(Refusal::Protocol, "this address is not encrypted".into()),
                false => Progress::Fail(Vec::new(), "it does not speak our protocol".into()),
            };
        }
        if self.wants() > 0 {
            return Progress::More;
        }
        let buffer = std::mem::take(&mut self.buffer);
        match std::mem::replace(&mut self.state, State::Over) {
            State::Hello => match <[u8; HELLO]>::try_from(buffer) {
                Ok(hello) => self.hello(hello),
                Err(_) => Progress::Fail(Vec::new(), "its hello is too long".into()),
            },
            State::Answer {
                hello,
                transport,
                nonce,
                token,
            } => answer(&hello, transport, &nonce, token.as_deref(), buffer),
            State::Over => Progress::Fail(Vec::new(), "it sent data after the handshake".into()),
        }
    }

    fn hello(&mut self, hello: [u8; HELLO]) -> Progress {
        let version = half(&hello, 8);
        if version != VERSION {
            let why = format!("the server speaks version {VERSION}, the client {version}");
            return fail(Refusal::Protocol, why);
        }
        let transport = transport(hello[10]).filter(|wanted| self.allowed.contains(wanted));
        let Some(transport) = transport else {
            let allowed: Vec<_> = self.allowed.iter().map(Transport::to_string).collect();
            let why = format!("only {} is served at this address", allowed.join(" or "));
            return fail(Refusal::Protocol, why);
        };
        if word(&hello, 12) as usize > OPENING_MAX {
            return fail(Refusal::Protocol, "the opening is too long".into());
        }
        let token = match &self.known {
            Some(_) if hello[11] == 0 => {
                let why = "the server requires a token, and none was given";
                return fail(Refusal::Auth, why.into());
            }
            Some(known) => match known.find(&hello) {
                Some(token) => Some(token),
                None if known.tokens.is_empty() => return fail(Refusal::Auth, NONE.into()),
                None => return fail(Refusal::Auth, UNKNOWN.into()),
            },
            None => None,
        };
        let mut nonce = [0; NONCE];
        random(&mut nonce);
        let proof = token.as_ref().map(|token| {
            let transcript = Transcript {
                hello: &hello,
                server_nonce: &nonce,
                opening: b"",
            };
            *transcript.server_proof(token).as_bytes()
        });
        let challenge = challenge(None, token.is_some(), 0, &nonce, &proof.unwrap_or_default());
        self.state = State::Answer {
            hello,
            transport,
            nonce,
            token,
        };
        Progress::Send(challenge)
    }
}

/// The answer to a token that the server does not have.
const UNKNOWN: &str =
    "the server does not know this token: it belongs to another server, was revoked, or its file is damaged; ask the server's owner for a new one";

/// The answer to any token if the server has no tokens.
const NONE: &str =
    "the server admits no token: its token store is empty or cannot be read; its log says more";

fn answer(
    hello: &[u8; HELLO],
    transport: Transport,
    nonce: &[u8; NONCE],
    token: Option<&Token>,
    mut answer: Vec<u8>,
) -> Progress {
    let opening = answer.split_off(PROOF);
    if let Some(token) = token {
        let transcript = Transcript {
            hello,
            server_nonce: nonce,
            opening: &opening,
        };
        let shown = blake3::Hash::from_slice(&answer).ok();
        // Hashes compare in constant time.
        if shown != Some(transcript.client_proof(token)) {
            let why = "the proof does not match the server's token";
            return Progress::Fail(verdict(Some(Refusal::Auth), why), why.into());
        }
    }
    Progress::Done {
        transport,
        opening,
        token: token.map(Token::id),
    }
}

/// The verdict that accepts a client.
pub(crate) fn accepted(sizes: &Sizes, welcome: &[u8]) -> Result<Vec<u8>, Error> {
    if welcome.len() > WELCOME_MAX {
        return Err(Error::TooLong {
            len: welcome.len(),
            max: WELCOME_MAX,
        });
    }
    let mut bytes = vec![0; 4];
    bytes.extend((welcome.len() as u32).to_le_bytes());
    bytes.extend(sizes.encode());
    bytes.extend(welcome);
    Ok(bytes)
}

/// The verdict that refuses a client for the application's reason.
pub(crate) fn refused(why: &str) -> Vec<u8> {
    verdict(Some(Refusal::Application), why)
}

/// The verdict that refuses a client for now. It may try again.
pub(crate) fn put_off(why: &str) -> Vec<u8> {
    verdict(Some(Refusal::Later), why)
}

/// The verdict on a client whose role does not permit its request.
pub(crate) fn not_permitted(why: &str) -> Vec<u8> {
    verdict(Some(Refusal::Role), why)
}

/// The refusal of a client before the handshake.
pub(crate) fn forbidden(why: &str) -> Vec<u8> {
    match fail(Refusal::Auth, why.into()) {
        Progress::Fail(bytes, _) => bytes,
        _ => Vec::new(),
    }
}

fn verdict(refusal: Option<Refusal>, why: &str) -> Vec<u8> {
    let mut bytes = vec![refusal.map_or(0, |refusal| refusal as u8), 0, 0, 0];
    bytes.extend((truncated(why).len() as u32).to_le_bytes());
    bytes.extend(truncated(why));
    bytes
}

fn fail(refusal: Refusal, why: String) -> Progress {
    let reason = truncated(&why);
    let mut bytes = challenge(Some(refusal), false, reason.len(), &[0; NONCE], &[0; PROOF]);
    bytes.extend(reason);
    Progress::Fail(bytes, why)
}

fn challenge(
    refusal: Option<Refusal>,
    wants_token: bool,
    reason: usize,
    nonce: &[u8; NONCE],
    proof: &[u8; PROOF],
) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.push(refusal.map_or(0, |refusal| refusal as u8));
    bytes.push(wants_token.into());
    bytes.extend((reason as u32).to_le_bytes());
    bytes.extend(nonce);
    bytes.extend(proof);
    bytes
}
