//! The renderer's side: pictures of one tile on their way to a viewer.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mgn_fabric::{
    connect, connect_for_another, Address, Connection, Error, Handover, Receiver, Sender, Token,
};
use mgn_present::{jpeg, Picture, Target};
use mgn_wall::Rect;
use serde::{Deserialize, Serialize};

use crate::encode::shrink;
use crate::message::{Ask, Counters, Figures, Form, FromFeed, Head, Opening, NAME_MAX, SIDE_MAX};

/// If no frame has come for this long, the newest one is sent.
const QUIET: Duration = Duration::from_millis(100);
const FIGURES_EVERY: Duration = Duration::from_secs(1);
const CONNECT_TIME: Duration = Duration::from_secs(5);
const CONNECT_AGAIN: Duration = Duration::from_secs(1);

/// The source of the pictures, and their destination.
#[derive(Debug, Clone)]
pub struct FeedOptions {
    /// The viewer's address for feeds.
    pub viewer: Address,
    /// Needed for TCP.
    pub token: Option<Token>,
    /// Which tile of the wall, counted from 0.
    pub tile: u16,
    /// The render server's name, for people; its first 64 bytes are shown.
    pub name: String,
}

/// Sends pictures of one tile to a viewer, as it asks for them.
///
/// [`Feed::show_part`] and [`Target::show`] copy pixels and return; a thread does the rest. If
/// pictures come faster than the viewer requests them, it sends the newest. The feed looks for its
/// viewer for as long as it lives, and takes pictures even without a viewer.
///
/// All pictures count as those of one window. Feeds of one wall number its frames alike, so that
/// the viewer can match the tiles of a frame.
#[derive(Debug)]
pub struct Feed {
    shared: Arc<Shared>,
}

impl Feed {
    /// Starts the thread, which inherits the caller's signal mask.
    pub fn start(options: FeedOptions) -> Feed {
        Feed::start_with(options.viewer.clone(), move || Ok(options.connect()?))
    }

    /// The same, in a process that may not connect to the viewer itself. `connect` is called for
    /// each connection. It returns one that another process has made with
    /// [`FeedOptions::connect_for_another`].
    pub fn start_with(
        viewer: Address,
        connect: impl Fn() -> Result<Connection, NoViewer> + Send + 'static,
    ) -> Feed {
        let shared = Arc::new(Shared::default());
        let feed = Feed {
            shared: shared.clone(),
        };
        let spawned = thread::Builder::new()
            .name("viewer feed".into())
            .spawn(move || run(&shared, &viewer, &connect));
        if let Err(error) = spawned {
            tracing::warn!("the viewer gets no pictures: {error}");
        }
        feed
    }

    /// Takes the part of a picture that its tile shows: the rectangle `part` of the window. For a
    /// window on a wall, this is [`mgn_wall::Area::shown`]. A picture that does not contain all of
    /// it is ignored.
    ///
    /// # Errors
    /// If the picture's sizes do not fit its memory.
    pub fn show_part(
        &mut self,
        picture: &Picture<'_>,
        part: Rect,
    ) -> Result<(), mgn_present::Error> {
        let sides = 1..=SIDE_MAX;
        if !sides.contains(&part.width) || !sides.contains(&part.height) {
            return Ok(());
        }
        let mut kept = self.shared.lock().spare.pop().unwrap_or_default();
        let wanted = [part.x, part.y, part.width, part.height];
        let whole = picture.copy_part(wanted, &mut kept.pixels)?;
        kept.head = Head {
            x: part.x,
            y: part.y,
            width: part.width,
            height: part.height,
            form: Form::default(),
            frame: picture.frame,
            newest: picture.frame,
        };
        let mut state = self.shared.lock();
        match whole {
            true => state.put(kept, Instant::now()),
            false => state.spare.push(kept),
        }
        drop(state);
        self.shared.changed.notify_one();
        Ok(())
    }

    /// Why the viewer has refused the feed permanently, if it has.
    pub fn refused(&self) -> Option<String> {
        self.shared.lock().refused.clone()
    }

    /// Notes what the server has done so far. The viewer is told once a second.
    pub fn count(&self, counters: &Counters) {
        self.shared.lock().counters = *counters;
    }
}

impl Target for Feed {
    /// Takes a picture of exactly the tile.
    fn show(&mut self, picture: &Picture<'_>) -> Result<(), mgn_present::Error> {
        let part = Rect::new(picture.x, picture.y, picture.width, picture.height);
        self.show_part(picture, part)
    }
}

impl Drop for Feed {
    /// Pending work is given up.
    fn drop(&mut self) {
        self.shared.lock().stopped = true;
        self.shared.changed.notify_one();
    }
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
struct State {
    /// The newest picture, unless it is being sent.
    newest: Option<Kept>,
    /// The newest picture's number, and when it came.
    seen: u64,
    came: Option<Instant>,
    ask: Option<Ask>,
    /// The answer to a request, until the thread takes it.
    answer: Option<(Kept, Ask)>,
    /// Memory to use again.
    spare: Vec<Kept>,
    counters: Counters,
    /// Set when the viewer has gone.
    lost: Option<Error>,
    /// Why the feed does not look for the viewer any more.
    refused: Option<String>,
    stopped: bool,
}

#[derive(Debug, Default)]
struct Kept {
    head: Head,
    /// BGRX without gaps.
    pixels: Vec<u8>,
}

impl State {
    /// Keeps the newest picture, or makes it the answer to the request if it is one.
    fn put(&mut self, kept: Kept, now: Instant) {
        self.came = Some(now);
        let frame = kept.head.frame;
        self.seen = frame;
        match self.ask.take_if(|ask| frame >= ask.frame) {
            Some(ask) if self.answer.is_none() => {
                self.spare.extend(self.newest.take());
                self.answer = Some((kept, ask));
            }
            ask => {
                self.ask = ask.or(self.ask);
                self.spare.extend(self.newest.replace(kept));
            }
        }
    }

    /// The answer to send now, or how long to wait for the next one.
    fn next(&mut self, now: Instant) -> Result<(Kept, Ask), Duration> {
        if let Some(answer) = self.answer.take() {
            return Ok(answer);
        }
        let quiet = self.came.map(|came| came + QUIET);
        let (Some(ask), Some(newest), Some(quiet)) = (self.ask, &self.newest, quiet) else {
            return Err(FIGURES_EVERY);
        };
        let frame = newest.head.frame;
        // A picture before the requested frame is sent only after a pause, in which the requested
        // frame may still come.
        let left = match frame {
            _ if frame >= ask.frame => Duration::ZERO,
            _ if frame == ask.have => return Err(FIGURES_EVERY),
            _ => quiet.saturating_duration_since(now),
        };
        if !left.is_zero() {
            return Err(left);
        }
        self.ask = None;
        self.newest.take().map(|kept| (kept, ask)).ok_or(left)
    }

    /// Takes back a picture that has been sent, because it may still be the newest.
    fn give_back(&mut self, kept: Kept) {
        match self.newest {
            None => self.newest = Some(kept),
            Some(_) => self.spare.push(kept),
        }
    }
}

impl FeedOptions {
    fn opening(&self) -> Vec<u8> {
        let mut name = self.name.replace(char::is_control, " ");
        while name.len() > NAME_MAX {
            name.pop();
        }
        let opening = Opening {
            tile: self.tile,
            name,
        };
        opening.encode()
    }

    fn connect(&self) -> Result<Connection, Error> {
        let transport = self.viewer.socket_transport();
        let token = self.token.as_ref();
        let connected = connect(
            &self.viewer,
            transport,
            token,
            &self.opening(),
            CONNECT_TIME,
        );
        Ok(connected?.0)
    }

    /// Connects to the viewer for the feed of another process. That process passes the result to
    /// [`mgn_fabric::take_over`].
    ///
    /// # Errors
    /// Those of [`mgn_fabric::connect`], in a form that can be sent.
    pub fn connect_for_another(&self) -> Result<(OwnedFd, Handover), NoViewer> {
        let token = self.token.as_ref();
        let connected = connect_for_another(&self.viewer, token, &self.opening(), CONNECT_TIME);
        Ok(connected?)
    }
}

/// Why there is no connection to a viewer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NoViewer {
    pub why: String,
    /// Whether further attempts would fail, too.
    pub is_final: bool,
}

impl From<Error> for NoViewer {
    fn from(error: Error) -> NoViewer {
        NoViewer {
            is_final: matches!(error, Error::Auth(_) | Error::Refused(_) | Error::Misuse(_)),
            why: error.to_string(),
        }
    }
}

/// Connects to the viewer again and again, and feeds it.
fn run(shared: &Arc<Shared>, viewer: &Address, connect: &dyn Fn() -> Result<Connection, NoViewer>) {
    let began = Instant::now();
    let mut said = false;
    loop {
        let fed = connect().and_then(|connection| Ok(feed(shared, connection, began)?));
        let Err(NoViewer { why, is_final }) = fed else {
            return;
        };
        if is_final || !said {
            tracing::warn!("no pictures for the viewer at {viewer}: {why}");
            said = true;
        }
        let mut state = shared.lock();
        (state.ask, state.lost) = (None, None);
        if let Some((kept, _)) = state.answer.take() {
            state.give_back(kept);
        }
        let until = Instant::now() + CONNECT_AGAIN;
        while !state.stopped && !is_final {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if is_final {
            state.refused = Some(why);
            return;
        }
        if state.stopped {
            return;
        }
    }
}

/// Feeds one viewer, until it has gone or the feed is stopped.
fn feed(shared: &Arc<Shared>, connection: Connection, began: Instant) -> Result<(), Error> {
    let (sender, receiver) = connection.split();
    let over = Arc::new(AtomicBool::new(false));
    let (theirs, asks) = (over.clone(), shared.clone());
    let listener = thread::Builder::new()
        .name("viewer asks".into())
        .spawn(move || listen(&asks, receiver, &theirs))
        .map_err(|source| Error::Io {
            doing: "starting a thread".into(),
            source,
        })?;
    let outcome = answer(shared, &sender, began);
    over.store(true, Ordering::Relaxed);
    drop(sender);
    if outcome.is_err() {
        // Otherwise the thread's last event would be mistaken for one of the next connection.
        let _ = listener.join();
    }
    outcome
}

/// Answers requests, and sends figures.
fn answer(shared: &Shared, sender: &Sender, began: Instant) -> Result<(), Error> {
    let mut scratch = Vec::new();
    let mut due = Instant::now();
    loop {
        let mut state = shared.lock();
        let now = Instant::now();
        if state.stopped {
            return Ok(());
        }
        if let Some(error) = state.lost.take() {
            return Err(error);
        }
        if now >= due {
            let figures = Figures {
                newest: state.seen,
                counters: state.counters,
                elapsed: began.elapsed(),
            };
            drop(state);
            sender.send(&FromFeed::Figures(figures).encode())?;
            due = now + FIGURES_EVERY;
            continue;
        }
        match state.next(now) {
            Err(wait) => {
                let left = wait.min(due - now);
                let waited = shared.changed.wait_timeout(state, left);
                drop(waited.unwrap_or_else(PoisonError::into_inner));
            }
            Ok((kept, ask)) => {
                drop(state);
                let sent = send(shared, sender, &kept, ask, &mut scratch);
                shared.lock().give_back(kept);
                sent?;
            }
        }
    }
}

/// Receives the viewer's requests.
fn listen(shared: &Shared, mut receiver: Receiver, over: &AtomicBool) {
    let error = loop {
        match receiver.recv(Some(FIGURES_EVERY)) {
            Ok(Some(message)) => match Ask::decode(&message.to_vec()) {
                Ok(ask) => shared.lock().ask = Some(ask),
                Err(why) => break Error::PeerMisbehaved(why.0),
            },
            Ok(None) => {}
            Err(error) => break error,
        }
        shared.changed.notify_one();
        if over.load(Ordering::Relaxed) {
            return;
        }
    };
    shared.lock().lost = Some(error);
    shared.changed.notify_one();
}

/// Sends a picture in the requested form, or with a lower quality if it would be too long.
fn send(
    shared: &Shared,
    sender: &Sender,
    kept: &Kept,
    ask: Ask,
    scratch: &mut Vec<u8>,
) -> Result<(), Error> {
    let mut head = Head {
        form: ask.form,
        ..kept.head
    };
    let mut quality = ask.form.quality;
    loop {
        let (width, height) = head.size();
        let pixels = match head.form.reduce {
            1 => &kept.pixels,
            by => {
                shrink(&kept.pixels, head.width as usize, by as usize, scratch);
                &*scratch
            }
        };
        let jpeg = jpeg(pixels, width as usize, height as usize, quality);
        let jpeg = jpeg.map_err(|source| Error::Io {
            doing: "compressing a picture".into(),
            source,
        })?;
        head.newest = shared.lock().seen.max(head.frame);
        let message = FromFeed::Picture(head, &jpeg).encode();
        if message.len() <= sender.message_max() || quality == 1 {
            return sender.send(&message);
        }
        quality = (quality / 2).max(1);
    }
}
