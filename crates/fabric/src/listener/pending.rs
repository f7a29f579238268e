//! A client that has not authenticated yet.

use std::io::{self, IoSlice};
use std::sync::Arc;

use rustls::ServerConfig;

use crate::admission::Source;
use crate::byte_stream::ByteStream;
use crate::handshake::{self, Known, Progress, ServerSide};
use crate::tls::{Disagreed, Negotiation};
use crate::{Access, Token, Transport};

/// For each further part of this size that a client sends, it takes one more place. Few clients
/// send that much before they have authenticated.
const PLACE: usize = 16 << 10;

/// A listener's requirements for its clients.
#[derive(Clone, Debug)]
pub(super) struct Demands {
    /// The configuration of the key negotiation, if connections are encrypted.
    pub(super) encrypted: Option<Arc<ServerConfig>>,
    /// The tokens that the client may prove. With `None`, no token is required.
    pub(super) access: Option<Access>,
    pub(super) allowed: &'static [Transport],
}

pub(super) struct Pending {
    pub(super) line: ByteStream,
    pub(super) source: Source,
    pub(super) who: String,
    demands: Demands,
    /// `None` until the client sends something, so that silent clients need little memory.
    stage: Option<Stage>,
    /// The tokens that were admitted when the handshake began.
    tokens: Option<Arc<Vec<Token>>>,
    /// The number of received bytes.
    heard: usize,
    /// The number of completed steps of the handshake.
    pub(super) steps: u32,
}

/// The request of a client that has authenticated.
pub(super) struct Wish {
    pub(super) transport: Transport,
    pub(super) opening: Vec<u8>,
    /// The token that the client has proved, if a token was required.
    pub(super) token: Option<Token>,
}

/// The stage of a client's handshake.
enum Stage {
    /// The client has not agreed on keys yet.
    Encrypting(Box<Negotiation>),
    Showing(Box<ServerSide>),
}

impl Pending {
    pub(super) fn new(line: ByteStream, source: Source, who: String, demands: Demands) -> Pending {
        Pending {
            line,
            source,
            who,
            demands,
            stage: None,
            tokens: None,
            heard: 0,
            steps: 0,
        }
    }

    /// The number of places that the client takes, according to the memory that it uses.
    pub(super) fn places(&self) -> usize {
        1 + self.heard / PLACE
    }

    /// The reason for dropping the client when its time limit has passed.
    pub(super) fn delay(&self) -> &'static str {
        match self.heard {
            0 => "it sent nothing",
            _ => "it took too long to authenticate",
        }
    }

    /// Continues until the client has to send more. Returns its request when it has authenticated.
    pub(super) fn advance(&mut self) -> Result<Option<Wish>, String> {
        let mut buffer = [0; 4096];
        loop {
            let wants = match &self.stage {
                Some(Stage::Encrypting(negotiation)) => negotiation.wants(),
                Some(Stage::Showing(side)) => side.wants(),
                None => {
                    self.tokens = self.demands.access.as_ref().and_then(Access::tokens);
                    self.stage = Some(self.begin()?);
                    continue;
                }
            };
            let want = wants.min(buffer.len());
            let mut fds = Vec::new();
            let got = match self.line.recv_with(&mut buffer[..want], &mut fds) {
                Ok(0) => return Err("it closed the connection".into()),
                Ok(got) => got,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(error.to_string()),
            };
            if !fds.is_empty() {
                return Err("it sent descriptors during the handshake".into());
            }
            self.heard += got;
            if let Some(done) = self.take(&buffer[..got])? {
                // Data that the client sent too early could not be handed over to another process.
                return match self.line.seal.as_ref().is_none_or(|seal| seal.is_empty()) {
                    true => Ok(Some(done)),
                    false => Err("it sent data before it was accepted".into()),
                };
            }
        }
    }

    /// Handles received bytes.
    fn take(&mut self, bytes: &[u8]) -> Result<Option<Wish>, String> {
        match &mut self.stage {
            Some(Stage::Encrypting(negotiation)) => {
                let taken = negotiation.receive(bytes);
                let answer = negotiation.take_output();
                if let Err(why) = taken {
                    return Err(match why {
                        Disagreed::Clear => {
                            let why = "only encrypted connections are served at this address: \
                                       write tls: in place of tcp:";
                            self.refuse(&handshake::forbidden(why));
                            "it does not encrypt".into()
                        }
                        other => {
                            self.refuse(&answer);
                            other.to_string()
                        }
                    });
                }
                self.send(&answer)?;
                self.encrypt()?;
                Ok(None)
            }
            Some(Stage::Showing(side)) => match side.receive(bytes) {
                Progress::More => Ok(None),
                Progress::Send(bytes) => {
                    self.steps += 1;
                    self.send(&bytes).map(|()| None)
                }
                Progress::Done {
                    transport,
                    opening,
                    token,
                } => {
                    let mut tokens = self.tokens.iter().flat_map(|tokens| tokens.iter());
                    let token = tokens.find(|known| Some(known.id()) == token).cloned();
                    Ok(Some(Wish {
                        transport,
                        opening,
                        token,
                    }))
                }
                Progress::Fail(bytes, why) => {
                    self.refuse(&bytes);
                    Err(why)
                }
            },
            None => Ok(None),
        }
    }

    /// Switches to the encrypted line when the negotiation is over.
    fn encrypt(&mut self) -> Result<(), String> {
        match self.stage.take() {
            Some(Stage::Encrypting(negotiation)) if negotiation.is_over() => {
                let agreed = negotiation.finish().map_err(|error| error.to_string())?;
                let side = self.side(Some(agreed.binding));
                self.stage = Some(Stage::Showing(side));
                self.line.seal = Some(Box::new(agreed.seal));
                self.steps += 1;
            }
            earlier => self.stage = earlier,
        }
        Ok(())
    }

    /// Sends bytes. Handshake messages are short and always fit in the socket's buffer, so a peer
    /// that does not read them delays no other client.
    fn send(&self, bytes: &[u8]) -> Result<(), String> {
        if bytes.is_empty() {
            return Ok(());
        }
        match self.line.send(&[IoSlice::new(bytes)]) {
            Ok(sent) if sent == bytes.len() => Ok(()),
            Ok(_) => Err("it does not read the handshake".into()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Sends the reason for a refusal. Then reads what the client has sent, because closing a
    /// socket with unread data would discard the reason.
    fn refuse(&self, bytes: &[u8]) {
        let _ = self.send(bytes);
        let _ = self.line.recv_with(&mut [0; 4096], &mut Vec::new());
    }
}

impl Pending {
    fn begin(&self) -> Result<Stage, String> {
        let Some(config) = &self.demands.encrypted else {
            return Ok(Stage::Showing(self.side(None)));
        };
        let negotiation = Negotiation::server(config.clone());
        let negotiation =
            negotiation.map_err(|error| format!("encryption cannot be set up: {error}"))?;
        Ok(Stage::Encrypting(Box::new(negotiation)))
    }

    /// The handshake, on an encrypted channel or in clear.
    fn side(&self, channel: Option<[u8; 32]>) -> Box<ServerSide> {
        let known = self.tokens.clone().map(|tokens| Known { tokens, channel });
        Box::new(ServerSide::new(known, self.demands.allowed))
    }
}
