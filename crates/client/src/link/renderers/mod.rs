//! The render servers of a session: one, or one for each tile of a wall, which all get the same
//! commands.

mod stall;
mod wall;

use crate::link::assignments::Assignments;
use crate::link::failover::Failure;
use crate::link::replies::{Answered, NoAnswer, Replies};
use crate::options::{Options, Server};
use crate::signals::Signals;
use mgn_fabric::{Connection, Error, Member, Receiver, Reservation, Sender, Token, Transport};
use mgn_wire::hello::{self, Hello, Role, ServerInfo, SharedWindow, Shown, Welcome};
use mgn_wire::{Encoder, MESSAGE_HEADER, MESSAGE_MAX};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
pub use wall::NoSuccessor;
use wall::WallRenderers;

/// How long a server may take to accept a connection when the program begins.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// The same for a server that is to take over a tile. Meanwhile no other server is tried.
const SUCCESSOR_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub enum Renderers {
    One(Renderer),
    Wall(WallRenderers),
}

pub struct Renderer {
    sender: Sender,
    /// Set if the renderer reads messages that are written once for several renderers.
    member: Option<Member>,
    /// None if there are no answers, because commands are thrown away or recorded.
    replies: Option<Replies>,
    /// Identifies the key with which the server seals program binaries.
    binary_key: [u8; 16],
    /// The renderer's message numbers minus those used here, modulo 2^32: a renderer that joined
    /// later has received other messages before.
    ahead: u32,
    /// The number of the last message before the renderer joined, if it joined later.
    since: Option<u32>,
    /// Threads no longer wait for this renderer.
    is_lost: AtomicBool,
}

/// The outcome of sending a message.
pub struct Sent {
    /// The number of bytes sent, to all renderers together.
    pub bytes: usize,
    /// The message's number, if several renderers get the same messages.
    pub number: u32,
}

/// Renderers that have been reached, the abilities of the first one, and the frames connections, by
/// tile.
pub struct Reached {
    pub renderers: Renderers,
    pub welcome: Welcome,
    pub accepted: Accepted,
    pub frames: Vec<(Sender, Receiver)>,
}

/// Which binaries all renderers of a session accept. They give the same answers only for these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted {
    /// The key with which program binaries are sealed, if it is the same everywhere.
    pub binary_key: Option<[u8; 16]>,
    /// Whether shaders may be made of SPIR-V.
    pub spirv: bool,
}

impl Accepted {
    fn by_all(welcomes: &[Welcome]) -> Accepted {
        let first = welcomes.first().map(|welcome| welcome.binary_key);
        let is_same = welcomes.iter().all(|w| Some(w.binary_key) == first);
        Accepted {
            binary_key: first.filter(|_| is_same),
            spirv: welcomes.iter().all(|welcome| welcome.spirv),
        }
    }

    /// Why a server cannot take another's place.
    fn why_unfit(&self, welcome: &Welcome) -> Option<&'static str> {
        if self.binary_key.is_some_and(|key| key != welcome.binary_key) {
            return Some("has another key for program binaries; give it the file binaries.key of the other servers");
        }
        (self.spirv && !welcome.spirv)
            .then_some("does not let this program use SPIR-V; start it with --spirv")
    }
}

impl Renderers {
    /// Opens a session with each server that `options` name, or begins a recording.
    ///
    /// # Errors
    /// One sentence that says which server could not be reached and what to do, or why the
    /// renderers cannot form a wall.
    pub fn reach(options: &Options, assignments: &Assignments) -> Result<Reached, String> {
        match &options.servers[..] {
            [nobody] if matches!(nobody.transport, Transport::Null | Transport::File(_)) => {
                unanswered(nobody)
            }
            _ => answered(options, assignments),
        }
    }

    /// Whether questions are answered and frames completed.
    pub fn are_answered(&self) -> bool {
        match self {
            Renderers::One(renderer) => renderer.replies.is_some(),
            Renderers::Wall(_) => true,
        }
    }

    /// Reserves memory for a message of `bytes` bytes.
    pub fn reserve(&self, bytes: usize) -> Result<Reservation, Error> {
        let writer = self.writer();
        writer.reserve(bytes.min(writer.message_max()))
    }

    /// Sends the first `used` bytes of the reservation to all renderers. `follows` says whether
    /// another message follows soon.
    pub fn commit(
        &self,
        reservation: &mut Reservation,
        used: usize,
        follows: bool,
    ) -> Result<Sent, Error> {
        match self {
            Renderers::One(renderer) => {
                renderer.sender.commit(reservation, used)?;
                let (bytes, number) = (used, 0);
                Ok(Sent { bytes, number })
            }
            Renderers::Wall(wall) => wall.commit(reservation, used, follows),
        }
    }

    /// The longest message, header included.
    pub fn message_max(&self) -> usize {
        self.writer().message_max().min(MESSAGE_MAX) & !3
    }

    fn writer(&self) -> &Sender {
        match self {
            Renderers::One(renderer) => &renderer.sender,
            Renderers::Wall(wall) => wall.writer(),
        }
    }

    /// Nanoseconds spent waiting to send.
    pub fn send_wait(&self) -> u64 {
        match self {
            Renderers::One(renderer) => renderer.sender.wait_time(),
            Renderers::Wall(wall) => wall.send_wait(),
        }
    }

    /// Waits for the answer to the question of `context` in message `number`. One of the renderers
    /// answers for all.
    pub fn answer(
        &self,
        context: u32,
        number: u32,
        given_up: &dyn Fn() -> bool,
    ) -> Result<Answered, NoAnswer> {
        match self {
            Renderers::One(renderer) => renderer.answer(context, None, given_up),
            Renderers::Wall(wall) => wall.answer(context, number, given_up),
        }
    }

    /// The same for commands to which each renderer has its own answer, in the order of their
    /// tiles. None for lost renderers, but at least one answer.
    pub fn answers(
        &self,
        context: u32,
        number: u32,
        given_up: &dyn Fn() -> bool,
    ) -> Result<Vec<Option<Answered>>, NoAnswer> {
        match self {
            Renderers::One(renderer) => {
                let answered = renderer.answer(context, None, given_up)?;
                Ok(vec![Some(answered)])
            }
            Renderers::Wall(wall) => wall.answers(context, number, given_up),
        }
    }

    /// The renderer of `tile` is lost. Returns how many are left.
    pub fn leave(&self, tile: usize) -> usize {
        match self {
            Renderers::One(_) => 0,
            Renderers::Wall(wall) => wall.leave(tile),
        }
    }

    /// Fills `new` from one of the remaining renderers, and lets it draw `tile`, whose renderer is
    /// lost. Returns the connection for its frames.
    pub fn fill(
        &self,
        tile: usize,
        new: Box<Successor>,
        given_up: &dyn Fn() -> bool,
    ) -> Result<(Sender, Receiver), NoSuccessor> {
        match self {
            Renderers::One(_) => {
                let why = "there is no other renderer";
                Err(NoSuccessor::new(Failure::Never, why))
            }
            Renderers::Wall(wall) => wall.fill(tile, new, given_up),
        }
    }
}

/// A renderer that is to replace a lost one.
pub struct Successor {
    renderer: Renderer,
    frames: (Sender, Receiver),
}

impl Successor {
    /// Opens another session for `tile` of a wall at `server`. `info` are the abilities of the
    /// session's other renderers, and `accepted` are the binaries that they accept.
    pub fn open(
        options: &Options,
        server: &Server,
        tile: usize,
        info: &ServerInfo,
        accepted: &Accepted,
    ) -> Result<Box<Successor>, NoSuccessor> {
        // A file that this host cannot read is not the fault of the server.
        let token = token(options, server).map_err(|why| NoSuccessor::new(Failure::NotNow, why))?;
        let role = role_of(options, Some(tile as u32));
        let opened = open(server, token.as_ref(), role, SUCCESSOR_CONNECT_TIMEOUT);
        let (welcome, commands, frames) =
            opened.map_err(|why| NoSuccessor::new(Failure::Unavailable, why))?;
        let unfit = |why| NoSuccessor::new(Failure::Unfit, format!("the server at {server} {why}"));
        if !is_same_driver(info, &welcome.info) {
            let other = &welcome.info.renderer;
            return Err(unfit(format!("has another driver now, {other}")));
        }
        if let Some(why) = accepted.why_unfit(&welcome) {
            return Err(unfit(why.into()));
        }
        let (sender, receiver) = commands.split();
        let replies = Some(Replies::new(receiver));
        let renderer = Renderer::new(sender, replies, welcome.binary_key);
        Ok(Box::new(Successor { renderer, frames }))
    }
}

impl Renderer {
    fn new(sender: Sender, replies: Option<Replies>, binary_key: [u8; 16]) -> Renderer {
        Renderer {
            sender,
            member: None,
            replies,
            binary_key,
            ahead: 0,
            since: None,
            is_lost: AtomicBool::new(false),
        }
    }

    fn answer(
        &self,
        context: u32,
        number: Option<u32>,
        given_up: &dyn Fn() -> bool,
    ) -> Result<Answered, NoAnswer> {
        let Some(replies) = &self.replies else {
            return Err(NoAnswer::GivenUp);
        };
        let number = number.map(|number| number.wrapping_add(self.ahead));
        replies.wait(context, number, || {
            self.is_lost.load(Ordering::Acquire) || given_up()
        })
    }
}

/// Writes commands of at most `bytes` bytes to `context` as a message, and returns its length.
pub fn message(
    reservation: &mut Reservation,
    context: u32,
    bytes: usize,
    write: impl FnOnce(&mut Encoder),
) -> usize {
    unsafe fn no_more(_: *mut Encoder, n: usize) -> *mut u8 {
        unreachable!("a command of {n} bytes does not fit its message")
    }
    assert!(reservation.capacity() >= MESSAGE_HEADER + bytes);
    let start = reservation.ptr();
    // SAFETY: the reservation holds the header and `bytes` bytes at least.
    let mut encoder = unsafe {
        start.cast::<u64>().write_unaligned(u64::from(context));
        let room = start.add(MESSAGE_HEADER);
        let mut encoder = Encoder::new(no_more);
        encoder.set_room(room, room.add(bytes));
        encoder
    };
    write(&mut encoder);
    encoder.cursor() as usize - start as usize
}

/// The first bytes of a connection or a recording.
fn opening(role: Role) -> Result<Vec<u8>, String> {
    let hello = Hello {
        version: hello::VERSION,
        table_hash: mgn_wire::ops::TABLE_HASH,
        role,
    };
    postcard::to_allocvec(&hello).map_err(|e| e.to_string())
}

fn session_role(tile: Option<u32>, shown: Option<Shown>, window: Option<SharedWindow>) -> Role {
    Role::Session {
        program: program_name(),
        pid: std::process::id(),
        tile,
        shown,
        window,
    }
}

fn program_name() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.chars().take(200).collect()
}

/// Commands go into a file or nowhere, and every question is answered with a default.
fn unanswered(nobody: &Server) -> Result<Reached, String> {
    let (connection, _) = mgn_fabric::connect(
        &nobody.address,
        nobody.transport.clone(),
        None,
        &opening(session_role(None, None, None))?,
        CONNECT_TIMEOUT,
    )
    .map_err(|e| format!("cannot use {}: {e}", nobody.transport))?;
    let welcome = Welcome {
        session: 0,
        key: [0; 16],
        binary_key: [0; 16],
        spirv: true,
        info: crate::blank::server_info(),
    };
    let (sender, _) = connection.split();
    Ok(Reached {
        renderers: Renderers::One(Renderer::new(sender, None, welcome.binary_key)),
        accepted: Accepted::by_all(std::slice::from_ref(&welcome)),
        welcome,
        frames: Vec::new(),
    })
}

fn answered(options: &Options, assignments: &Assignments) -> Result<Reached, String> {
    let places = places(options, assignments)?;
    let open = |(server, tile): &(Server, Option<u32>)| {
        let token = token(options, server)?;
        open(
            server,
            token.as_ref(),
            role_of(options, *tile),
            CONNECT_TIMEOUT,
        )
    };
    let opened: Vec<_> = match &places[..] {
        [place] => vec![open(place)?],
        // In parallel, because each server starts a process.
        places => std::thread::scope(|scope| {
            let signals = Signals::block_all();
            let begin = |place| scope.spawn(move || open(place));
            let begun: Vec<_> = places.iter().map(begin).collect();
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
        all.push(Renderer::new(sender, replies, welcome.binary_key));
        frames.push(pictures);
        welcomes.push(welcome);
    }
    one_picture(&welcomes, &places)?;
    let renderers = if all.len() > 1 {
        let wall = WallRenderers::new(all, options.window.is_some());
        Renderers::Wall(wall.map_err(|e| format!("no session with the render servers: {e}"))?)
    } else {
        let one = all.pop().ok_or("no render server is named")?;
        Renderers::One(one)
    };
    let accepted = Accepted::by_all(&welcomes);
    let welcome = welcomes.into_iter().next();
    Ok(Reached {
        renderers,
        accepted,
        welcome: welcome.ok_or("no render server is named")?,
        frames,
    })
}

/// The server that is to draw a tile now. None if the session has no servers.
pub fn server_of(options: &Options, assignments: &Assignments, tile: usize) -> Option<Server> {
    let first = || options.servers.get(tile).or(options.servers.first());
    assignments.server(tile).or_else(|| first().cloned())
}

/// The servers to reach, each with its tile, if there are tiles.
fn places(
    options: &Options,
    assignments: &Assignments,
) -> Result<Vec<(Server, Option<u32>)>, String> {
    let servers = &options.servers;
    if servers.is_empty() {
        return Err("no render server is named; start the program by `mgn run`, or set MGN_SERVER to a server's address".into());
    }
    let tiles = options.wall.as_ref().map_or(1, |wall| wall.tiles.len());
    if servers.len() != 1 && servers.len() != tiles {
        return Err(format!(
            "there are {} render servers for {tiles} tiles; name one for all of them, or one for each",
            servers.len()
        ));
    }
    // A wall of one tile needs no tile numbers: the picture is not divided.
    let place = |n: usize| {
        let server = server_of(options, assignments, n)?;
        Some((server, (tiles > 1).then_some(n as u32)))
    };
    Ok((0..tiles).filter_map(place).collect())
}

fn token(options: &Options, server: &Server) -> Result<Option<Token>, String> {
    let file = server
        .token_file
        .as_deref()
        .or(options.token_file.as_deref());
    let token = file.map(Token::read).transpose();
    let token = token.map_err(|e| e.to_string())?;
    Ok(token.map(|token| token.vouched(server.key)))
}

/// The result of opening a session: the server's welcome, the connection for commands, and the
/// connection for frames.
type Opened = (Welcome, Connection, (Sender, Receiver));

/// The role of a session that draws a tile, or a picture that is not divided.
fn role_of(options: &Options, tile: Option<u32>) -> Role {
    let number = tile.unwrap_or(0) as usize;
    let wall = options.wall.as_ref();
    let shown = wall.filter(|wall| wall.tiles[number].is_shown_there());
    let shown = shown.map(|wall| {
        let (wall, tile) = wall.alone(number);
        Shown { wall, tile }
    });
    session_role(tile, shown, options.window.clone())
}

/// Opens both connections of a session. The server may take `timeout` to accept each.
fn open(
    server: &Server,
    token: Option<&Token>,
    role: Role,
    timeout: Duration,
) -> Result<Opened, String> {
    let mut transport = server.transport.clone();
    let open = |role: Role, transport: &mut Transport| {
        let opening = opening(role)?;
        let connect = |transport: &Transport| {
            let transport = transport.clone();
            mgn_fabric::connect(&server.address, transport, token, &opening, timeout)
        };
        let mut connected = connect(transport);
        if server.is_any_transport && matches!(connected, Err(Error::Forwarded(_))) {
            *transport = Transport::Unix;
            connected = connect(transport);
        }
        connected.map_err(|e| {
            let hint = match e {
                Error::Unreachable { .. } => "; start one there by `mgn server`",
                _ => "",
            };
            format!("no session with the render server at {server}: {e}{hint}")
        })
    };
    let (commands, welcome) = open(role, &mut transport)?;
    let welcome: Welcome = postcard::from_bytes(&welcome).map_err(|_| {
        let address = &server.address;
        format!("the render server at {address} did not answer with a welcome")
    })?;
    let role = Role::Frames {
        session: welcome.session,
        key: welcome.key,
    };
    let (frames, _) = open(role, &mut transport)?;
    Ok((welcome, commands, frames.split()))
}

fn is_same_driver(one: &ServerInfo, other: &ServerInfo) -> bool {
    let known = |of: &ServerInfo| (of.renderer.clone(), of.release, of.compat, of.core, of.es);
    known(one) == known(other) && one.configs == other.configs
}

/// Checks that the same driver draws all tiles: otherwise they do not match to the bit.
fn one_picture(welcomes: &[Welcome], places: &[(Server, Option<u32>)]) -> Result<(), String> {
    let Some(first) = welcomes.first() else {
        return Ok(());
    };
    for (n, other) in welcomes.iter().enumerate() {
        let (ours, theirs) = (&first.info, &other.info);
        if !is_same_driver(ours, theirs) {
            let address = |n: usize| &places[n].0.address;
            return Err(format!(
                "the tiles of a wall must be drawn by the same driver, but the server at {} has {} and the server at {} has {}",
                address(0), ours.renderer, address(n), theirs.renderer
            ));
        }
    }
    Ok(())
}
