//! The client's side of the handshake.

use super::*;
use crate::config::Sizes;
use crate::token::random;

/// A connection attempt. Send [`ClientSide::start`], then pass received bytes to
/// [`ClientSide::receive`].
pub(crate) struct ClientSide<'a> {
    token: Option<&'a Token>,
    /// Whether the client stops if the server gives no proof (TCP).
    insist: bool,
    opening: &'a [u8],
    /// The server's name, for error messages.
    server: &'a str,
    hello: [u8; HELLO],
    state: State,
    buffer: Vec<u8>,
}

enum State {
    Challenge,
    /// The reason of a refusal, which came in place of a challenge or a verdict.
    Reason {
        code: u8,
        len: usize,
    },
    Verdict,
    Welcome {
        len: usize,
    },
}

/// The result of the handshake.
#[derive(Debug)]
pub(crate) struct Agreed {
    pub(crate) sizes: Sizes,
    pub(crate) welcome: Vec<u8>,
}

#[derive(Debug)]
pub(crate) enum Step {
    More,
    Send(Vec<u8>),
    Done(Agreed),
}

impl<'a> ClientSide<'a> {
    pub(crate) fn new(
        transport: &Transport,
        token: Option<&'a Token>,
        opening: &'a [u8],
        server: &'a str,
    ) -> Result<ClientSide<'a>, Error> {
        if opening.len() > OPENING_MAX {
            return Err(Error::TooLong {
                len: opening.len(),
                max: OPENING_MAX,
            });
        }
        let mut hello = [0; HELLO];
        hello[..8].copy_from_slice(&MAGIC);
        hello[8..10].copy_from_slice(&VERSION.to_le_bytes());
        hello[10] = code(transport);
        hello[11] = token.is_some().into();
        hello[12..16].copy_from_slice(&(opening.len() as u32).to_le_bytes());
        random(&mut hello[16..ID]);
        if let Some(token) = token {
            hello[ID..].copy_from_slice(&token.id().0);
        }
        let insist = transport.needs_token();
        let (state, buffer) = (State::Challenge, Vec::new());
        Ok(ClientSide {
            token,
            insist,
            opening,
            server,
            hello,
            state,
            buffer,
        })
    }

    /// The first bytes to send.
    pub(crate) fn start(&self) -> Vec<u8> {
        self.hello.to_vec()
    }

    /// The number of bytes that may be read next.
    pub(crate) fn wants(&self) -> usize {
        let whole = match self.state {
            State::Challenge => CHALLENGE,
            State::Reason { len, .. } => len,
            State::Verdict => VERDICT,
            State::Welcome { len } => Sizes::BYTES + len,
        };
        whole.saturating_sub(self.buffer.len())
    }

    /// Handles received bytes, at most [`ClientSide::wants`].
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Result<Step, Error> {
        self.buffer.extend_from_slice(bytes);
        if matches!(self.state, State::Challenge) {
            let start = self.buffer.len().min(MAGIC.len());
            if self.buffer[..start] != MAGIC[..start] {
                return Err(Error::NotManganese(self.server.into()));
            }
        }
        // An empty reason is complete at once.
        while self.wants() == 0 {
            let buffer = std::mem::take(&mut self.buffer);
            match self.state {
                State::Challenge => match self.challenge(&buffer)? {
                    Some(answer) => return Ok(Step::Send(answer)),
                    None => continue,
                },
                State::Verdict => self.verdict(&buffer)?,
                State::Reason { code, .. } => return Err(Refusal::error(code, reason(&buffer))),
                State::Welcome { .. } => {
                    let (sizes, welcome) = buffer.split_at(Sizes::BYTES);
                    let sizes = Sizes::decode(&std::array::from_fn(|i| sizes[i]))?;
                    return Ok(Step::Done(Agreed {
                        sizes,
                        welcome: welcome.to_vec(),
                    }));
                }
            }
        }
        Ok(Step::More)
    }

    /// Checks the server's proof, and makes the client's proof.
    fn challenge(&mut self, bytes: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let version = half(bytes, 8);
        if version != VERSION {
            return Err(Error::Version {
                ours: VERSION,
                theirs: version,
            });
        }
        if bytes[10] != 0 {
            self.refused(bytes[10], word(bytes, 12) as usize)?;
            return Ok(None);
        }
        let server_nonce: [u8; NONCE] = std::array::from_fn(|i| bytes[16 + i]);
        let wants_token = bytes[11] != 0;
        let mut proof = [0; PROOF];
        match self.token {
            Some(token) if wants_token => {
                let hello = &self.hello;
                let before = Transcript {
                    hello,
                    server_nonce: &server_nonce,
                    opening: b"",
                };
                let shown = blake3::Hash::from_slice(&bytes[16 + NONCE..]).ok();
                if shown != Some(before.server_proof(token)) {
                    let why = format!("{} does not have the same token", self.server);
                    return Err(Error::Auth(why));
                }
                let all = Transcript {
                    opening: self.opening,
                    ..before
                };
                proof = *all.client_proof(token).as_bytes();
            }
            None if wants_token => {
                return Err(Error::Auth(format!("{} requires a token", self.server)))
            }
            _ if self.insist => {
                return Err(Error::Auth(format!(
                    "{} does not prove that it has the token",
                    self.server
                )))
            }
            _ => {}
        }
        self.state = State::Verdict;
        let mut answer = proof.to_vec();
        answer.extend(self.opening);
        Ok(Some(answer))
    }

    fn verdict(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let len = word(bytes, 4) as usize;
        if bytes[0] != 0 {
            return self.refused(bytes[0], len);
        }
        if len > WELCOME_MAX {
            return Err(Error::PeerMisbehaved("its welcome is too long"));
        }
        self.state = State::Welcome { len };
        Ok(())
    }

    fn refused(&mut self, code: u8, len: usize) -> Result<(), Error> {
        if len > REASON_MAX {
            return Err(Error::PeerMisbehaved(
                "the reason of its refusal is too long",
            ));
        }
        self.state = State::Reason { code, len };
        Ok(())
    }
}
