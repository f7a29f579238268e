//! The render servers of a session: one, or one for each tile of a wall, which are told the same.

use crate::options::Options;
use crate::replies::{Answered, NoAnswer, Replies};
use crate::signals::Signals;
use mgn_fabric::{Address, Connection, Error, Receiver, Reservation, Sender, Token, Transport};
use mgn_wall::Wall;
use mgn_wire::hello::{self, Hello, Role, Welcome};
use mgn_wire::{sift, MESSAGE_MAX};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long a server may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

pub struct Renderers {
    /// By tile.
    all: Vec<Renderer>,
    /// Where messages are written that go to several.
    draft: Option<Sender>,
    /// All get the messages of all threads in the same order.
    order: Mutex<()>,
}

struct Renderer {
    sender: Sender,
    /// None where nobody answers: commands that are thrown away or recorded.
    replies: Option<Replies>,
}

/// Renderers that have been reached, what the first of them can do, and their pictures, by tile.
pub struct Reached {
    pub renderers: Renderers,
    pub welcome: Welcome,
    pub frames: Vec<Receiver>,
}

impl Renderers {
    /// Opens a session with each server that `options` name, or begins a recording.
    ///
    /// # Errors
    /// One sentence on who could not be reached and what to do, or on what makes renderers no wall.
    pub fn reach(options: &Options) -> Result<Reached, String> {
        match options.transport {
            Transport::Null | Transport::File(_) => unanswered(options),
            _ => answered(options),
        }
    }

    /// Whether questions are answered and frames completed.
    pub fn are_answered(&self) -> bool {
        self.all[0].replies.is_some()
    }

    /// Memory for a message of `bytes` bytes.
    pub fn reserve(&self, bytes: usize) -> Result<Reservation, Error> {
        let writer = self.draft.as_ref().unwrap_or(&self.all[0].sender);
        writer.reserve(bytes.min(writer.message_max()))
    }

    /// Sends the first `used` bytes of what was reserved, to all, and says how many bytes that was together.
    pub fn commit(&self, reservation: &mut Reservation, used: usize) -> Result<usize, Error> {
        let Some(draft) = &self.draft else {
            self.all[0].sender.commit(reservation, used)?;
            return Ok(used);
        };
        let mut sent = 0;
        let order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: so many bytes were written there, in memory that nobody else has.
        let message = unsafe { std::slice::from_raw_parts(reservation.ptr(), used) };
        let sorted = sift::is_sorted(message);
        for (tile, renderer) in self.all.iter().enumerate() {
            let mut copy = renderer.sender.reserve(used)?;
            let room = copy.capacity();
            let mut write = |at, bytes: &[u8]| copy.write(at, bytes);
            let sifted = match sorted {
                true => sift::sift(message, tile as u32, room, &mut write),
                false => None,
            };
            let length = sifted.unwrap_or_else(|| {
                write(0, message);
                used
            });
            renderer.sender.commit(&mut copy, length)?;
            sent += length;
        }
        drop(order);
        draft.commit(reservation, used)?;
        Ok(sent)
    }

    /// The longest message, header included.
    pub fn message_max(&self) -> usize {
        let longest = self.all.iter().map(|r| r.sender.message_max()).min();
        longest.unwrap_or(0).min(MESSAGE_MAX) & !3
    }

    /// Nanoseconds spent waiting to send.
    pub fn send_wait(&self) -> u64 {
        self.all.iter().map(|r| r.sender.wait_time()).sum()
    }

    /// Waits for the first renderer's answer to what `context` has asked by command `op`, and has `others` take those of the others, in the order of their
    /// tiles, if each has one. Nobody waits where nobody answers.
    pub fn answer(
        &self,
        context: u32,
        op: u16,
        given_up: impl Fn() -> bool,
        mut others: impl FnMut(Answered),
    ) -> Result<Answered, NoAnswer> {
        let wait = |renderer: &Renderer| match &renderer.replies {
            Some(replies) => replies.wait(context, &given_up),
            None => Err(NoAnswer::GivenUp),
        };
        let first = wait(&self.all[0])?;
        if mgn_wire::everyone_answers(op) {
            for renderer in &self.all[1..] {
                others(wait(renderer)?);
            }
        }
        Ok(first)
    }
}

/// What a connection begins with, and a recording.
fn opening(role: Role) -> Result<Vec<u8>, String> {
    let hello = Hello {
        version: hello::VERSION,
        table_hash: mgn_wire::ops::TABLE_HASH,
        role,
    };
    postcard::to_allocvec(&hello).map_err(|e| e.to_string())
}

fn session_role(tile: Option<u32>) -> Role {
    Role::Session {
        program: program_name(),
        pid: std::process::id(),
        tile,
    }
}

fn program_name() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.chars().take(200).collect()
}

/// Commands go into a file or nowhere, and every question is answered with a default.
fn unanswered(options: &Options) -> Result<Reached, String> {
    let nowhere = Address::Abstract("nobody".into());
    let (connection, _) = mgn_fabric::connect(
        options.servers.first().unwrap_or(&nowhere),
        options.transport.clone(),
        None,
        &opening(session_role(None))?,
        CONNECT_TIMEOUT,
    )
    .map_err(|e| format!("cannot use {}: {e}", options.transport))?;
    let welcome = Welcome {
        session: 0,
        key: [0; 16],
        info: crate::blank::server_info(),
    };
    let (sender, _) = connection.split();
    let renderer = Renderer {
        sender,
        replies: None,
    };
    Ok(Reached {
        renderers: Renderers {
            all: vec![renderer],
            draft: None,
            order: Mutex::default(),
        },
        welcome,
        frames: Vec::new(),
    })
}

fn answered(options: &Options) -> Result<Reached, String> {
    let token = options
        .token_file
        .as_deref()
        .map(Token::read)
        .transpose()
        .map_err(|e| e.to_string())?;
    let places = places(&options.servers, options.wall.as_ref())?;
    let open = |(server, tile)| open(server, &options.transport, token.as_ref(), tile);
    let opened: Vec<_> = match &places[..] {
        [place] => vec![open(*place)?],
        // At once, because each server starts a process.
        places => std::thread::scope(|scope| {
            let signals = Signals::block_all();
            let begin = |place| scope.spawn(move || open(place));
            let begun: Vec<_> = places.iter().copied().map(begin).collect();
            drop(signals);
            let opened = begun.into_iter().map(|thread| {
                let died = |_| Err("a connection could not be made".into());
                thread.join().unwrap_or_else(died)
            });
            opened.collect::<Result<_, String>>()
        })?,
    };
    let mut welcomes = Vec::new();
    let mut all = Vec::new();
    let mut frames = Vec::new();
    for (welcome, commands, pictures) in opened {
        let (sender, receiver) = commands.split();
        let replies = Some(Replies::new(receiver));
        all.push(Renderer { sender, replies });
        frames.push(pictures);
        welcomes.push(welcome);
    }
    one_picture(&welcomes, &options.servers)?;
    let draft = if all.len() > 1 {
        Some(draft(all[0].sender.message_max())?)
    } else {
        None
    };
    let welcome = welcomes.into_iter().next();
    Ok(Reached {
        renderers: Renderers {
            all,
            draft,
            order: Mutex::default(),
        },
        welcome: welcome.ok_or("no render server is named")?,
        frames,
    })
}

/// The servers to reach, with the tile that each is to draw, if there are tiles.
fn places<'a>(
    servers: &'a [Address],
    wall: Option<&Wall>,
) -> Result<Vec<(&'a Address, Option<u32>)>, String> {
    let Some(first) = servers.first() else {
        return Err("no render server is named; start the program by `mgn run`, or set MGN_SERVER to a server's address".into());
    };
    let tiles = wall.map_or(1, |wall| wall.tiles.len());
    if servers.len() != 1 && servers.len() != tiles {
        return Err(format!(
            "there are {} render servers for {tiles} tiles; name one for all of them, or one for each",
            servers.len()
        ));
    }
    let place = |n: usize| {
        let server = servers.get(n).unwrap_or(first);
        (server, wall.map(|_| n as u32))
    };
    Ok((0..tiles).map(place).collect())
}

/// Opens both connections of a session.
fn open(
    server: &Address,
    by: &Transport,
    token: Option<&Token>,
    tile: Option<u32>,
) -> Result<(Welcome, Connection, Receiver), String> {
    let open = |role: Role| {
        let opening = opening(role)?;
        mgn_fabric::connect(server, by.clone(), token, &opening, CONNECT_TIMEOUT).map_err(|e| {
            let hint = match e {
                Error::Unreachable { .. } => "; start one there by `mgn server`",
                _ => "",
            };
            format!("no session with the render server at {server} by {by}: {e}{hint}")
        })
    };
    let (commands, welcome) = open(session_role(tile))?;
    let welcome: Welcome = postcard::from_bytes(&welcome).map_err(|_| {
        format!("the render server at {server} answered with something else than a welcome")
    })?;
    let (frames, _) = open(Role::Frames {
        session: welcome.session,
        key: welcome.key,
    })?;
    // Nothing is said on the frames connection in this direction, but closing its sender would end it.
    let (silent, receiver) = frames.split();
    std::mem::forget(silent);
    Ok((welcome, commands, receiver))
}

/// Tiles fit together to the bit only if the same driver draws them.
fn one_picture(welcomes: &[Welcome], servers: &[Address]) -> Result<(), String> {
    let Some(first) = welcomes.first() else {
        return Ok(());
    };
    let place = |n: usize| servers.get(n).or(servers.first());
    for (n, other) in welcomes.iter().enumerate() {
        let (ours, theirs) = (&first.info, &other.info);
        let same =
            |of: &hello::ServerInfo| (of.renderer.clone(), of.release, of.compat, of.core, of.es);
        if same(ours) != same(theirs) || ours.configs != theirs.configs {
            let name = |n| place(n).map_or_else(String::new, |server| format!(" at {server}"));
            return Err(format!(
                "the tiles of a wall must be drawn by the same driver, but the server{} has {} and the server{} has {}",
                name(0), ours.renderer, name(n), theirs.renderer
            ));
        }
    }
    Ok(())
}

/// Memory of our own for messages that are then sent to several.
fn draft(message_max: usize) -> Result<Sender, String> {
    let nowhere = Address::Abstract("nobody".into());
    let (connection, _) =
        mgn_fabric::connect(&nowhere, Transport::Null, None, &[], CONNECT_TIMEOUT)
            .map_err(|e| format!("cannot write messages for several servers: {e}"))?;
    let (sender, _) = connection.split();
    debug_assert!(sender.message_max() >= message_max.min(MESSAGE_MAX));
    Ok(sender)
}
