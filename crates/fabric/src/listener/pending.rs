//! A client that has not shown who it is.

use std::io::{self, IoSlice};
use std::sync::Arc;

use rustls::ServerConfig;

use crate::admission::Source;
use crate::handshake::{self, Known, Progress, ServerSide};
use crate::line::Line;
use crate::tls::{Disagreed, Negotiation};
use crate::{Access, Token, Transport};

/// Of what a client has said, so much counts as one place: few say as much before they have shown
/// who they are.
const PLACE: usize = 16 << 10;

/// What a listener asks of its clients.
#[derive(Clone, Debug)]
pub(super) struct Demands {
    /// What to negotiate with, where everything is encrypted.
    pub(super) encrypted: Option<Arc<ServerConfig>>,
    /// The tokens that the client may prove. None: no token is required.
    pub(super) access: Option<Access>,
    pub(super) allowed: &'static [Transport],
}

pub(super) struct Pending {
    pub(super) line: Line,
    pub(super) source: Source,
    pub(super) who: String,
    demands: Demands,
    /// None until it says something: those that say nothing take hardly any memory.
    stage: Option<Stage>,
    /// The tokens that were admitted when it began.
    tokens: Option<Arc<Vec<Token>>>,
    /// Bytes that have come.
    heard: usize,
    /// Steps of the handshake that are done.
    pub(super) steps: u32,
}

/// What a client wants that has shown who it is.
pub(super) struct Wish {
    pub(super) transport: Transport,
    pub(super) opening: Vec<u8>,
    /// The token that it has proved, where one was asked for.
    pub(super) token: Option<Token>,
}

/// How far a client has come.
enum Stage {
    /// It has not agreed on encryption yet.
    Encrypting(Box<Negotiation>),
    Showing(Box<ServerSide>),
}

impl Pending {
    pub(super) fn new(line: Line, source: Source, who: String, demands: Demands) -> Pending {
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

    /// How many places it takes, for the memory that it needs.
    pub(super) fn places(&self) -> usize {
        1 + self.heard / PLACE
    }

    /// Why it is turned away when its time is over.
    pub(super) fn delay(&self) -> &'static str {
        match self.heard {
            0 => "it said nothing",
            _ => "it took too long to show who it is",
        }
    }

    /// Goes on until the client has to send more; gives its wish when it has shown who it is.
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
                Ok(0) => return Err("it hung up".into()),
                Ok(got) => got,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(error.to_string()),
            };
            if !fds.is_empty() {
                return Err("it sent descriptors that nobody wants".into());
            }
            self.heard += got;
            if let Some(done) = self.take(&buffer[..got])? {
                // What it says too early could not go to another process with it.
                return match self.line.seal.as_ref().is_none_or(|seal| seal.is_empty()) {
                    true => Ok(Some(done)),
                    false => Err("it spoke before it was let in".into()),
                };
            }
        }
    }

    /// Takes what came.
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

    /// Goes on in secret when that has been agreed on.
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

    /// What is sent in a handshake is short and always fits the socket's buffer, so a peer that
    /// does not read it holds up nobody.
    fn send(&self, bytes: &[u8]) -> Result<(), String> {
        if bytes.is_empty() {
            return Ok(());
        }
        match self.line.send(&[IoSlice::new(bytes)]) {
            Ok(sent) if sent == bytes.len() => Ok(()),
            Ok(_) => Err("it does not read".into()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Says why it may not come in. A socket that is closed with something unread in it would take
    /// that back.
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
            negotiation.map_err(|error| format!("there is no encryption: {error}"))?;
        Ok(Stage::Encrypting(Box::new(negotiation)))
    }

    /// The handshake, on an encrypted channel or in clear.
    fn side(&self, channel: Option<[u8; 32]>) -> Box<ServerSide> {
        let known = self.tokens.clone().map(|tokens| Known { tokens, channel });
        Box::new(ServerSide::new(known, self.demands.allowed))
    }
}
