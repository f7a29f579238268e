//! The one session of this process with a render server.

use crate::config::glx::Dialect;
use crate::config::Format;
use crate::exit;
use crate::link::assignments::{Assignments, Wait};
use crate::link::compositing::Composite;
use crate::link::failover::Failover;
use crate::link::frames::Frames;
use crate::link::renderers::{self, Accepted, NoSuccessor, Renderers, Successor};
use crate::link::replies::{Answered, NoAnswer};
use crate::link::stages::{Asked, Outlet, Stages};
use crate::link::stats::{Stats, Word};
use crate::link::surface::{Owner, Surface};
use crate::link::swap_barrier::SwapBarrier;
use crate::link::tiles::Needs;
use crate::log::line;
use crate::options::{Options, Server};
use crate::signals::Signals;
use mgn_fabric::{Error, Receiver, Reservation, Sender};
use mgn_sys::fork::PerProcess;
use mgn_wall::{Tile, Wall};
use mgn_wire::frames::want;
use mgn_wire::hello::{self, ServerInfo};
use mgn_wire::{Encoder, MESSAGE_HEADER};
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Room for any single command that is sent outside a context.
const CONTROL_BYTES: usize = 64;

pub struct Session {
    /// When the session began.
    start: Instant,
    pub info: ServerInfo,
    /// Formats without an accumulation buffer come first, and of each kind the double-buffered
    /// ones. Otherwise in the server's order.
    pub formats: Vec<Format>,
    pub options: Options,
    pub assignments: Assignments,
    pub stats: Stats,
    pub frames: Frames,
    renderers: Renderers,
    pub accepted: Accepted,
    /// Set if the pictures of several programs are composited.
    pub composite: Option<&'static Composite>,
    /// Set if the swaps of several programs wait for each other.
    pub swap_barrier: Option<SwapBarrier>,
    /// The stages in this process, if there are any: all commands pass through them.
    stages: OnceLock<Stages>,
    next_id: AtomicU32,
    lost: AtomicBool,
    /// The program handles the loss of the server itself.
    outlived: AtomicBool,
    pub needs: Needs,
    /// Whether each renderer of a wall stores the pixels of its tile only.
    pub is_offset: bool,
    /// Whether the chain of stages allows sorting draws by tiles.
    sorts: bool,
    /// The id of the shared window, or 0.
    shared_window: AtomicU32,
    /// Held by a thread from a semaphore's P until all renderers know its turn, and during a
    /// barrier. So the threads of a program wait one after the other, in the same order at every
    /// renderer.
    pub waiting: Mutex<()>,
    /// The number of contexts that hold memory of the transport.
    pub rooms: AtomicUsize,
}

static SESSION: PerProcess<OnceLock<Option<&'static Session>>> = PerProcess::new();

/// The session, once it has begun or failed to begin.
pub fn slot() -> &'static OnceLock<Option<&'static Session>> {
    SESSION.get()
}

/// The session, if it has begun; does not begin it. For the exit of the process.
pub fn existing_session() -> Option<&'static Session> {
    SESSION.existing()?.get().copied().flatten()
}

/// Whether the program draws into a window together with others.
pub fn shares_window() -> bool {
    let session = existing_session();
    session.is_some_and(|session| session.options.window.is_some())
}

impl Session {
    /// Creates a session with renderers that have been reached.
    pub fn new(
        options: Options,
        assignments: Assignments,
        renderers: Renderers,
        info: ServerInfo,
        accepted: Accepted,
        composite: Option<&'static Composite>,
    ) -> Session {
        let is_divided = options.wall.as_ref().filter(|wall| wall.tiles.len() > 1);
        Session {
            start: Instant::now(),
            is_offset: is_divided.is_some_and(|wall| wall.is_offset(info.largest)),
            sorts: options.chain.sorts(),
            formats: formats(&info),
            info,
            stats: Stats::create(options.run_dir.as_deref()),
            frames: Frames::default(),
            assignments,
            renderers,
            accepted,
            composite,
            swap_barrier: options.swap_barrier.as_ref().map(SwapBarrier::new),
            stages: OnceLock::new(),
            next_id: AtomicU32::new(1),
            lost: AtomicBool::new(false),
            outlived: AtomicBool::new(false),
            needs: Needs::default(),
            shared_window: AtomicU32::new(0),
            waiting: Mutex::new(()),
            rooms: AtomicUsize::new(0),
            options,
        }
    }

    /// Sends all commands through the stages that the options name, if any. `number` is the
    /// session's number at its server.
    ///
    /// # Errors
    /// One sentence about the stage that cannot be built.
    pub fn begin_stages(&'static self, number: u64) -> Result<(), String> {
        if self.options.chain.has_stages() {
            let stages = Stages::begin(&self.options.chain, self, number)?;
            let _ = self.stages.set(stages);
        }
        Ok(())
    }

    /// How GLX describes configs with the server's driver.
    pub fn dialect(&self) -> Dialect {
        Dialect::of(self.info.release)
    }

    /// A new id for a context or surface.
    pub fn new_id(&self) -> u32 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether the server is lost or there never was one: then no answer will come.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// The program has a context that reports the loss, so the program continues after it.
    pub fn outlive(&self) {
        self.outlived.store(true, Ordering::Relaxed);
    }

    /// Whether questions are answered and frames completed.
    pub fn is_answered(&self) -> bool {
        self.renderers.are_answered()
    }

    /// Whether the program has handed over as many frames as it may.
    pub fn is_enough(&self, frames: u64) -> bool {
        self.options.frames.is_some_and(|limit| frames >= limit)
    }

    /// Takes the next frame number of `surface`. Returns it with the purposes of the frame's
    /// picture, as bits of [`want`].
    pub fn next_frame(&self, surface: &Arc<Surface>) -> (u32, u32) {
        let frame = surface.handed_over.fetch_add(1, Ordering::AcqRel) + 1;
        if !self.is_answered() {
            surface.finished.store(frame, Ordering::Release);
        }
        let wall = self.options.wall.as_ref();
        let on_wall = wall.is_some_and(|wall| self.frames.is_on_wall(surface, wall));
        let on_wall = (on_wall && self.options.shows_wall(), want::WALL);
        if let Some(composite) = self.composite {
            let (is_on_wall, wall) = on_wall;
            return match composite.wants(surface) {
                0 => (frame, 0),
                wanted if is_on_wall => (frame, wanted | wall),
                wanted => (frame, wanted),
            };
        }
        let shown = self.options.shows_windows() && surface.is_visible();
        let saved = self
            .options
            .save
            .as_ref()
            .is_some_and(|save| u64::from(frame) % save.every == 0);
        let wants = [(shown, want::WINDOW), (saved, want::FILES), on_wall];
        let wants = wants.iter().filter(|(is_wanted, _)| *is_wanted);
        (frame, wants.map(|(_, want)| want).sum())
    }

    /// Reserves memory for a message header and records of `bytes` bytes or more. `None` if the
    /// session is lost.
    pub fn reserve(&self, bytes: usize) -> Option<Reservation> {
        if self.is_lost() {
            return None;
        }
        let wanted = bytes.max(ROOM_BYTES) + MESSAGE_HEADER;
        match self.renderers.reserve(wanted) {
            Ok(reservation) => Some(reservation),
            Err(error) => {
                self.break_off(error);
                None
            }
        }
    }

    /// Sends the first `used` bytes of `reservation`, header and records. Returns the message's
    /// number, unless the message has to pass stages first. `follows` says whether another message
    /// follows soon.
    pub fn commit(&self, reservation: &mut Reservation, used: usize, follows: bool) -> u32 {
        if self.options.count_commands {
            // SAFETY: `used` bytes were written there.
            self.stats
                .add(Word::Commands, unsafe { records(reservation.ptr(), used) });
        }
        if let Some(stages) = self.stages.get() {
            // SAFETY: `used` bytes were written there, in memory that no other thread writes to.
            stages.pass(unsafe { std::slice::from_raw_parts(reservation.ptr(), used) });
            return 0;
        }
        self.send(reservation, used, follows)
            .unwrap_or_else(|error| {
                self.break_off(error);
                0
            })
    }

    fn send(
        &self,
        reservation: &mut Reservation,
        used: usize,
        follows: bool,
    ) -> Result<u32, Error> {
        let sent = self.renderers.commit(reservation, used, follows)?;
        self.stats.add(Word::Bytes, sent.bytes as u64);
        self.stats.add(Word::Messages, 1);
        Ok(sent.number)
    }

    /// Sends a message that was written elsewhere, and returns its number.
    pub fn commit_copy(&self, message: &[u8]) -> u32 {
        let Some(mut reservation) = self.reserve(message.len() - MESSAGE_HEADER) else {
            return 0;
        };
        reservation.write(0, message);
        self.commit(&mut reservation, message.len(), false)
    }

    /// The longest message, header included.
    pub fn message_max(&self) -> usize {
        self.renderers.message_max()
    }

    /// Nanoseconds spent waiting to send.
    pub fn send_wait(&self) -> u64 {
        self.renderers.send_wait()
    }

    /// Sends single commands outside any context, and returns the message's number. They are
    /// executed after all messages that were flushed before.
    pub fn control(&self, write: impl FnOnce(&mut Encoder)) -> u32 {
        self.message(0, CONTROL_BYTES, write)
    }

    /// Sends commands of at most `bytes` bytes to `context` in a message of their own, and returns
    /// its number.
    pub fn message(&self, context: u32, bytes: usize, write: impl FnOnce(&mut Encoder)) -> u32 {
        let Some(mut reservation) = self.reserve(bytes) else {
            return 0;
        };
        let used = renderers::message(&mut reservation, context, bytes, write);
        self.commit(&mut reservation, used, false)
    }

    /// Waits for the answer to command `op`, which `context` has sent in message `number`. The
    /// answer is empty if no server answers.
    pub fn answer(&self, context: u32, op: u16, number: u32) -> Answered {
        if mgn_wire::everyone_answers(op) {
            let mut answers = self.answers(context, op, number).into_iter().flatten();
            return answers.next().unwrap_or_default();
        }
        let Asked { number, answer } = self.asked(context, number);
        let given_up = || self.is_lost();
        let answered = self.receive_answers(|| self.renderers.answer(context, number, &given_up));
        if let Some(answered) = &answered {
            self.stats.round_trip(op, answered.bytes.len());
        }
        let mut answered = answered.unwrap_or_default();
        answered.bytes = answer.unwrap_or(answered.bytes);
        answered
    }

    /// The same for each renderer of a wall that has its own answer, in the order of their tiles.
    /// None for lost renderers.
    pub fn answers(&self, context: u32, op: u16, number: u32) -> Vec<Option<Answered>> {
        let Asked { number, .. } = self.asked(context, number);
        let given_up = || self.is_lost();
        let answers = self.receive_answers(|| self.renderers.answers(context, number, &given_up));
        if let Some(answers) = &answers {
            let bytes = answers.iter().flatten().map(|answer| answer.bytes.len());
            self.stats.round_trip(op, bytes.sum());
        }
        answers.unwrap_or_default()
    }

    /// The question of message `number`, after it has passed the stages.
    fn asked(&self, context: u32, number: u32) -> Asked {
        match self.stages.get() {
            Some(stages) => stages.asked(context),
            None => Asked {
                number,
                answer: None,
            },
        }
    }

    fn receive_answers<T>(&self, answers: impl FnOnce() -> Result<T, NoAnswer>) -> Option<T> {
        if self.is_answered() && !self.is_lost() {
            match answers() {
                Ok(answers) => return Some(answers),
                // The thread that finds that the last renderer is lost may not have reported it
                // yet.
                Err(NoAnswer::GivenUp) if !self.is_lost() => {
                    self.break_off("every renderer that was asked a question is gone");
                }
                Err(NoAnswer::GivenUp) => {}
                Err(NoAnswer::Broken(error)) => self.break_off(error),
                Err(NoAnswer::Nonsense(what)) => self.lose(what),
            }
        }
        self.await_end();
        None
    }

    /// Waits while another thread ends the process, if the program does not continue without its
    /// server. Otherwise the program might exit first, with a status of success.
    pub fn await_end(&self) {
        const EXIT_TIMEOUT: Duration = Duration::from_secs(3);
        if self.is_lost() && !self.goes_on() {
            std::thread::sleep(EXIT_TIMEOUT);
        }
    }

    /// Whether the program continues when the session is lost.
    fn goes_on(&self) -> bool {
        self.options.continue_on_loss || self.outlived.load(Ordering::Relaxed)
    }

    /// The renderer of `tile` is lost. The others continue; if there is none, the session ends.
    pub fn lose_renderer(&self, tile: usize, why: impl Display) {
        if self.is_lost() {
            return;
        }
        if self.renderers.leave(tile) == 0 {
            return self.lose(why);
        }
        self.assignments.say_lost(tile);
        let name = self.tile_name(tile);
        line(format_args!(
            "the render server of tile {name} is lost: {why}; the others continue"
        ));
    }

    /// The failover state for the renderer that draws `tile` now.
    pub fn failover(&self, tile: usize) -> Failover {
        let server = renderers::server_of(&self.options, &self.assignments, tile);
        Failover::new(server, self.start.elapsed())
    }

    /// Waits until a server is available for `tile`, whose renderer is lost: the same server or
    /// another one assigned to the tile. Lets it take over the tile. Returns the connection for its
    /// frames; none if no server ever can.
    pub fn succeed(&self, tile: usize, failover: &mut Failover) -> Option<(Sender, Receiver)> {
        let name = self.tile_name(tile);
        if let Some(server) = failover.lost(self.start.elapsed()).unfit {
            self.assignments.say_unfit(tile, &server);
        }
        let mut opened = None;
        loop {
            let due = self.start + failover.due();
            match self.assignments.wait(tile, failover.server(), due) {
                Wait::End => {
                    // The program may continue without renderers, so the tile needs none.
                    self.assignments.say_settled(tile);
                    return None;
                }
                Wait::Assigned(server) => {
                    failover.assign(server, self.start.elapsed());
                    opened = None;
                }
                Wait::TimeOver => {}
            }
            let NoSuccessor {
                failure,
                why,
                opened: still_opened,
            } = match self.try_successor(tile, failover.server()?, opened.take()) {
                Ok(frames) => {
                    failover.succeeded(self.start.elapsed());
                    self.assignments.say_settled(tile);
                    line(format_args!("tile {name} has a render server again"));
                    return Some(frames);
                }
                Err(failed) => failed,
            };
            opened = still_opened;
            let outcome = failover.failed(failure, &why, self.start.elapsed());
            if outcome.is_printed {
                let yet = if outcome.is_over { "" } else { " yet" };
                line(format_args!("no server takes over tile {name}{yet}: {why}"));
            } else if outcome.is_logged {
                tracing::info!(tile = name, why, "no successor yet");
            }
            if let Some(server) = outcome.unfit {
                self.assignments.say_unfit(tile, &server);
            }
            if outcome.is_over {
                self.assignments.say_settled(tile);
                return None;
            }
        }
    }

    /// Lets `server` take over `tile`. Uses the session that an earlier attempt `opened` there, if
    /// any.
    fn try_successor(
        &self,
        tile: usize,
        server: &Server,
        opened: Option<Box<Successor>>,
    ) -> Result<(Sender, Receiver), NoSuccessor> {
        let new = match opened {
            Some(opened) => opened,
            None => Successor::open(&self.options, server, tile, &self.info, &self.accepted)?,
        };
        self.renderers.fill(tile, new, &|| self.is_lost())
    }

    /// Whether a new window becomes the window that the program shares with others: the first
    /// window does, and after its end the next one.
    pub fn takes_shared_window(&self, id: u32) -> bool {
        let window = &self.shared_window;
        let (set, seen) = (Ordering::AcqRel, Ordering::Acquire);
        self.options.window.is_some() && window.compare_exchange(0, id, set, seen).is_ok()
    }

    /// The window that the program shares with others, as long as it exists.
    pub fn shared_window(&self) -> Option<Arc<Surface>> {
        self.frames
            .surface(self.shared_window.load(Ordering::Acquire))
    }

    /// Announces that the program ends normally, so that the other programs that share its window
    /// do not fail.
    pub fn take_leave(&self) {
        if self.options.window.is_some() && !self.is_lost() {
            self.control(|e| e.mgn_leave());
        }
    }

    /// Ends the process, after the stages have sent their last output.
    pub fn end_process(&self, status: i32) -> ! {
        self.end_stages();
        exit::end_process(status)
    }

    /// The process ends: lets the stages send their last output.
    pub fn end_stages(&self) {
        if let Some(stages) = self.stages.get() {
            stages.end();
        }
    }

    /// Whether a draw may be sent only to those tiles of a wall that it touches.
    pub fn sorts(&self) -> bool {
        self.sorts && self.wall().is_some()
    }

    pub fn tile_name(&self, tile: usize) -> String {
        let wall = self.options.wall.as_ref();
        let tile = wall.and_then(|wall| wall.tiles.get(tile));
        tile.map_or_else(String::new, Tile::to_string)
    }

    /// The command connection failed. The server gives its reason on the frames connection, where
    /// it may still be in flight. So wait a moment before the session ends with `error` as the
    /// reason.
    pub fn break_off(&self, error: impl Display) {
        const REASON_TIMEOUT: Duration = Duration::from_secs(2);
        const POLL_INTERVAL: Duration = Duration::from_millis(5);
        let deadline = Instant::now() + REASON_TIMEOUT;
        while self.is_answered() && !self.is_lost() && Instant::now() < deadline {
            std::thread::sleep(POLL_INTERVAL);
        }
        self.lose(error);
    }

    /// The session has ended. Reports this once. Then the program ends, or continues without
    /// pictures if that was asked for.
    pub fn lose(&self, why: impl Display) {
        let why = format!("the render server is lost: {why}");
        if let Some(composite) = self.composite.filter(|_| !self.is_lost()) {
            composite.fail(&why, true);
        }
        self.end(Some(&why), 1);
    }

    /// This program no longer swaps or composites with others. Prints the reason, unless another
    /// program tells the user.
    pub fn part(&self, why: Option<String>, status: u8) {
        self.end(why.as_deref(), status.into());
    }

    fn end(&self, why: Option<&str>, status: i32) {
        if self.lost.swap(true, Ordering::AcqRel) {
            return;
        }
        self.assignments.end();
        let goes_on = self.goes_on();
        let then = match goes_on {
            true => "the program continues without pictures",
            false => "the program ends",
        };
        if let Some(why) = why {
            line(format_args!("{why}; {then}"));
        }
        if !goes_on {
            self.end_process(status);
        }
        self.frames.open_gates();
        if let Some(composite) = self.composite {
            leave_the_others(composite);
        }
    }
}

/// Lets the programs continue that composite with this one. This program lives on without pictures.
/// The others may still read its last picture, and must not delay it.
fn leave_the_others(composite: &'static Composite) {
    let leave = || {
        composite.leave();
        if let Some(barrier) = existing_session().and_then(|it| it.swap_barrier.as_ref()) {
            barrier.leave();
        }
    };
    let _signals = Signals::block_all();
    let thread = std::thread::Builder::new().name("mgn-leave".into());
    if let Err(error) = thread.spawn(leave) {
        tracing::warn!(%error, "other programs wait for this one until their time is over");
    }
}

fn formats(info: &ServerInfo) -> Vec<Format> {
    let of = |accum: bool, double: bool| {
        let fits =
            move |c: &&hello::Config| !accum || c.samples == 0 && c.color == hello::Color::Rgb8;
        info.configs.iter().filter(fits).map(move |c| Format {
            id: c.id,
            color: c.color,
            alpha: c.alpha,
            depth: c.depth,
            stencil: c.stencil,
            samples: c.samples,
            double,
            accum,
            has_srgb: c.has_srgb,
        })
    };
    // In order of preference, because programs often take the first that fits.
    [(false, true), (false, false), (true, true), (true, false)]
        .into_iter()
        .flat_map(|(accum, double)| of(accum, double))
        .collect()
}

/// The largest pbuffer that servers create.
const SIZE_MAX: u32 = 16384;
/// The largest surface of a wall whose renderers store the pixels of their tiles only.
const OFFSET_SIZE_MAX: u32 = 1 << 20;

impl Owner for Session {
    fn wall(&self) -> Option<&Wall> {
        self.wall()
    }

    fn size_max(&self) -> u32 {
        match self.is_offset {
            true => OFFSET_SIZE_MAX,
            false => SIZE_MAX,
        }
    }

    fn destroy(&self, id: u32, is_shared: bool) {
        if is_shared {
            self.shared_window.store(0, Ordering::Release);
        }
        self.control(|e| e.mgn_destroy_surface(id));
    }
}

impl Outlet for Session {
    fn send(&self, message: &[u8]) -> Result<u32, Error> {
        if self.is_lost() {
            return Ok(0);
        }
        let mut reservation = self.renderers.reserve(message.len())?;
        reservation.write(0, message);
        self.send(&mut reservation, message.len(), false)
    }

    fn break_off(&self, error: Error) {
        self.break_off(error);
    }

    fn lose(&self, why: &str) {
        self.lose(why);
    }
}

/// If less room than this is left in a chunk, it is not worth writing to.
pub const ROOM_BYTES: usize = 4096;

/// The number of records of a message.
///
/// # Safety
/// `bytes` bytes of a message that the encoder wrote lie at `message`.
unsafe fn records(message: *const u8, bytes: usize) -> u64 {
    let mut at = MESSAGE_HEADER;
    let mut count = 0;
    while at < bytes {
        // SAFETY: a record's header lies there.
        let words = unsafe { message.add(at).cast::<u32>().read_unaligned() } >> 16;
        at += words.max(1) as usize * 4;
        count += 1;
    }
    count
}

impl Session {
    /// The wall whose tiles pictures are divided into. None for a wall of one tile.
    pub fn wall(&self) -> Option<&Wall> {
        let is_divided = |wall: &&Wall| wall.tiles.len() > 1 && self.is_answered();
        self.options.wall.as_ref().filter(is_divided)
    }
}
