//! Pictures and completions on their way to the client, over the frames connection.

use crate::answers::gone;
use crate::tile::{Kept, Part, Screens, SharedScreens};
use crate::watchdog::Activity;
use mgn_fabric::{Reservation, Sender};
use mgn_render::{Pictures, Room};
use mgn_wire::frames::{want, Encoding, Header, Kind, HEADER};
use mgn_wire::{End, Fault};
use std::any::Any;
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// How long a client may take to open its frames connection after its commands have asked for a
/// picture.
const FRAMES_CONNECTION_TIMEOUT: Duration = Duration::from_secs(20);

/// How long a farewell waits for the frames connection, which carries it.
const FAREWELL_TIMEOUT: Duration = Duration::from_millis(300);

/// How many pictures may wait for the compressor.
const IN_FLIGHT: usize = 1;

/// How often the client is notified of frames without pictures while there is more to do, and the
/// maximum number of frames in one notification.
const REPORT_INTERVAL: Duration = Duration::from_micros(100);
const REPORTED_FRAMES_MAX: usize = 32;

/// The place for the frames connection, which is opened after the command connection.
#[derive(Default)]
pub(crate) struct FramesSlot {
    state: Mutex<State>,
    changed: Condvar,
    /// Headers of frames of which the client has not been notified yet.
    untold: Mutex<Vec<u8>>,
    /// Set before the session begins, if its pictures are shown here.
    shown: OnceLock<Shown>,
}

/// Pictures of a tile that is shown here.
struct Shown {
    kept: Arc<Kept>,
    /// Whether the program's window shows the pictures too.
    in_program: bool,
    screens: Arc<SharedScreens>,
    session: u64,
    activity: Arc<Activity>,
}

#[derive(Default)]
struct State {
    connection: Option<Arc<PictureConnection>>,
    /// Whether the client has been told why its session ends.
    ended: bool,
}

/// The frames connection, and the compressor that pictures pass on their way.
pub(crate) struct PictureConnection {
    sender: Sender,
    /// Set if pictures are compressed. A separate thread compresses them.
    compressor: Option<SyncSender<CompressorInput>>,
    /// The compressor's failure, once it has one.
    failed: Arc<Mutex<Option<Fault>>>,
}

enum CompressorInput {
    Picture(Header, Vec<u8>),
    Header(Header),
}

impl FramesSlot {
    /// Takes the frames connection that the client has opened. A session has only one.
    pub fn open(&self, sender: Sender, compressed: bool) -> Result<(), &'static str> {
        let mut state = self.lock();
        if state.connection.is_some() {
            return Err("the session has a frames connection already");
        }
        let failed = Arc::new(Mutex::new(None));
        let connection = Arc::new_cyclic(|connection: &std::sync::Weak<PictureConnection>| {
            let compressor = compressed.then(|| {
                let (jobs, inbox) = sync_channel(IN_FLIGHT);
                let (connection, failed) = (connection.clone(), failed.clone());
                // Without the thread, sending fails and the session ends.
                let _ = thread::Builder::new()
                    .name("pictures".into())
                    .spawn(move || compress(&inbox, &connection, &failed));
                jobs
            });
            PictureConnection {
                sender,
                compressor,
                failed: failed.clone(),
            }
        });
        state.connection = Some(connection);
        self.changed.notify_all();
        Ok(())
    }

    /// Makes this server show the session's pictures, from the first one on.
    pub fn show_on(&self, session: u64, screens: Arc<SharedScreens>, activity: &Arc<Activity>) {
        let (is_counted, in_program) = {
            let screens = screens.lock();
            (screens.are_counted(), screens.are_beside_the_program())
        };
        if is_counted {
            activity.time();
        }
        // Called once per session, before it begins.
        let _ = self.shown.set(Shown {
            kept: Arc::default(),
            in_program,
            screens,
            session,
            activity: activity.clone(),
        });
    }

    /// Whether pictures are shown here.
    pub fn is_shown(&self) -> bool {
        self.shown.get().is_some()
    }

    /// Shows pictures when the client requests it on the frames connection, if this server shows
    /// pictures.
    pub fn follow(&self, releases: mgn_fabric::Receiver) {
        let Some(shown) = self.shown.get() else {
            // The client sends nothing, but may treat a closed receiver as the end.
            return std::mem::forget(releases);
        };
        let screens = shown.screens.clone();
        let (kept, activity) = (shown.kept.clone(), shown.activity.clone());
        let session = shown.session;
        let connection = self.lock().connection.clone();
        let notify = move |header: Header, payload: &[u8]| {
            let message = [&header.encode()[..], payload].concat();
            // A client that has gone needs no notification.
            let _ = connection
                .as_ref()
                .map(|connection| connection.sender.send(&message));
        };
        let started = thread::Builder::new()
            .name("tile".into())
            .spawn(move || Screens::run(&screens, session, &kept, releases, notify, &activity));
        if let Err(error) = started {
            let why = format!("the tile cannot be shown: no thread: {error}");
            shown.kept.end(Fault::Server(why));
        }
    }

    /// Waits until the last frame of a client that has gone is shown.
    pub fn settle(&self) {
        if let Some(shown) = self.shown.get() {
            shown.kept.settle();
        }
    }

    /// Removes an ended session from its screens. The other sessions of its window, if any, keep
    /// them.
    pub fn leave_screens(&self) {
        if let Some(shown) = self.shown.get() {
            shown.screens.leave(shown.session);
        }
    }

    /// Notifies the client of all finished frames. Call this before you wait for something else.
    pub fn report_finished(&self) -> Result<(), Fault> {
        let mut untold = self.untold.lock().unwrap_or_else(|e| e.into_inner());
        if untold.is_empty() {
            return Ok(());
        }
        let connection = self.lock().connection.clone();
        let told = connection.map_or(Ok(()), |connection| connection.sender.send(&untold));
        untold.clear();
        told.map_err(|e| gone(&e))
    }

    /// Delays the notification of a frame, and returns how many notifications are pending.
    fn put_off(&self, header: &Header) -> usize {
        let mut untold = self.untold.lock().unwrap_or_else(|e| e.into_inner());
        untold.extend(header.encode());
        untold.len() / HEADER
    }

    /// Ends the connection, even if a thread waits for the client to read something.
    pub fn hang_up(&self) {
        if let Some(connection) = self.lock().connection.clone() {
            connection.sender.hang_up();
        }
        if let Some(shown) = self.shown.get() {
            shown.kept.end(Fault::Gone);
        }
    }

    /// Tells the client why its session ends.
    pub fn farewell(&self, end: &End) {
        // If this fails, the client can receive nothing more.
        let _ = self.report_finished();
        let mut state = self.lock();
        if std::mem::replace(&mut state.ended, true) {
            return;
        }
        // The client may be opening the connection just now.
        let opened = self
            .changed
            .wait_timeout_while(state, FAREWELL_TIMEOUT, |s| s.connection.is_none());
        let Some(connection) = opened
            .unwrap_or_else(|e| e.into_inner())
            .0
            .connection
            .clone()
        else {
            return;
        };
        let why = end.encode();
        let header = Header {
            payload: why.len() as u32,
            ..Header::plain(Kind::Ended, 0, 0)
        };
        let mut message = header.encode().to_vec();
        message.extend(why);
        // A client that is gone needs no farewell.
        let _ = connection.sender.send(&message);
    }

    fn wait(&self) -> Result<Arc<PictureConnection>, Fault> {
        let deadline = Instant::now() + FRAMES_CONNECTION_TIMEOUT;
        let mut state = self.lock();
        loop {
            if let Some(connection) = &state.connection {
                return Ok(connection.clone());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Fault::refused(
                    "it requested pictures but opened no connection for them",
                ));
            }
            state = self
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(|e| e.into_inner())
                .0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// The renderer's side of the frames connection.
pub(crate) struct FramesEnd {
    slot: Arc<FramesSlot>,
    connection: Option<Arc<PictureConnection>>,
    activity: Arc<Activity>,
    /// When the client was last told of a frame without a picture.
    told: Instant,
}

impl FramesEnd {
    pub fn new(slot: Arc<FramesSlot>, activity: Arc<Activity>) -> FramesEnd {
        FramesEnd {
            slot,
            connection: None,
            activity,
            told: Instant::now(),
        }
    }

    fn connection(&mut self) -> Result<Arc<PictureConnection>, Fault> {
        if let Some(connection) = &self.connection {
            return Ok(connection.clone());
        }
        let connection = self.activity.wait(|| self.slot.wait())?;
        self.connection = Some(connection.clone());
        Ok(connection)
    }
}

/// Memory that a picture was written to.
enum Written {
    /// A message that is not sent yet: the header's bytes, then the picture's.
    Message(Reservation),
    /// Only the picture's bytes, to be compressed or to be shown here.
    Private(Vec<u8>),
}

impl Written {
    fn of(room: Room) -> Result<Written, Fault> {
        let memory = match room.into_memory().downcast() {
            Ok(reservation) => return Ok(Written::Message(*reservation)),
            Err(memory) => memory,
        };
        pixels(memory).map(Written::Private)
    }
}

/// The pixels of a picture that was written to a vector.
pub(crate) fn pixels(memory: Box<dyn Any>) -> Result<Vec<u8>, Fault> {
    let wrong = |_| Fault::server("a picture arrived in memory that was not provided for it");
    memory.downcast().map(|pixels| *pixels).map_err(wrong)
}

impl FramesEnd {
    /// Whether pictures that are wanted for these purposes are sent to the client.
    fn is_sent(&self, want: u32) -> bool {
        let in_program = self.slot.shown.get().is_none_or(|shown| shown.in_program);
        want & (want::FILES | want::COMPOSITE) != 0 || want & want::WINDOW != 0 && in_program
    }

    /// Copies pixels to memory from which they can be sent.
    fn copy(&self, connection: &PictureConnection, pixels: &[u8]) -> Result<Written, Fault> {
        if connection.compressor.is_some() {
            return Ok(Written::Private(pixels.to_vec()));
        }
        let used = HEADER + pixels.len();
        let mut room = self
            .activity
            .wait(|| connection.sender.reserve(used))
            .map_err(|e| gone(&e))?;
        room.write(HEADER, pixels);
        Ok(Written::Message(room))
    }
}

impl Pictures for FramesEnd {
    fn room(&mut self, want: u32, bytes: usize) -> Result<Option<Room>, Fault> {
        if let Some(shown) = self.slot.shown.get().filter(|_| want & want::WALL != 0) {
            return Ok(Some(Room::new(shown.kept.room(bytes), 0)));
        }
        if !self.is_sent(want) {
            return Ok(None);
        }
        let connection = self.connection()?;
        if connection.compressor.is_some() {
            return Ok(Some(Room::new(vec![0; bytes], 0)));
        }
        let reserved = self
            .activity
            .wait(|| connection.sender.reserve(HEADER + bytes));
        reserved
            .map(|room| Some(Room::new(room, HEADER)))
            .map_err(|e| gone(&e))
    }

    fn send(
        &mut self,
        want: u32,
        header: &Header,
        window: (u32, u32),
        room: Room,
    ) -> Result<(), Fault> {
        let connection = self.connection()?;
        let shown = self.slot.shown.get().filter(|_| want & want::WALL != 0);
        let (room, part) = match (shown, Written::of(room)?) {
            (Some(shown), Written::Private(pixels)) => {
                let room = match self.is_sent(want) {
                    true => Some(self.copy(&connection, &pixels)?),
                    false => None,
                };
                let mut pixels = pixels;
                // The depths behind the pixels are only for the client.
                pixels.truncate(header.stride as usize * header.height as usize);
                let part = Part {
                    number: shown.screens.number(),
                    header: *header,
                    window,
                    pixels,
                    merged: 0,
                };
                (room, Some(part))
            }
            (_, room) => (Some(room), None),
        };
        let header = Header {
            kept: part.is_some(),
            ..*header
        };
        // This comes before the client is notified, because the client then requests to show the
        // picture.
        if let (Some(shown), Some(part)) = (shown, part) {
            self.activity.wait(|| shown.kept.keep(part))?;
        }
        match room {
            None => self.send_header(&Header {
                kind: Kind::Done,
                stride: 0,
                payload: 0,
                ..header
            }),
            Some(Written::Message(mut reservation)) => {
                self.activity.count_frame();
                self.activity.wait(|| self.slot.report_finished())?;
                reservation.write(0, &header.encode());
                let used = HEADER + header.payload as usize;
                self.activity
                    .wait(|| connection.sender.commit(&mut reservation, used))
                    .map_err(|e| gone(&e))
            }
            Some(Written::Private(pixels)) => {
                self.activity.count_frame();
                self.activity
                    .wait(|| connection.post(CompressorInput::Picture(header, pixels)))
            }
        }
    }

    fn send_header(&mut self, header: &Header) -> Result<(), Fault> {
        self.activity.count_frame();
        let connection = self.connection()?;
        if connection.compressor.is_some() {
            return self
                .activity
                .wait(|| connection.post(CompressorInput::Header(*header)));
        }
        let now = Instant::now();
        let untold = self.slot.put_off(header);
        if now - self.told < REPORT_INTERVAL && untold < REPORTED_FRAMES_MAX && !header.kept {
            return Ok(());
        }
        self.told = now;
        self.activity.wait(|| self.slot.report_finished())
    }
}

impl PictureConnection {
    /// Hands a picture or a header to the compressor. Waits while its queue is full.
    fn post(&self, job: CompressorInput) -> Result<(), Fault> {
        let posted = self
            .compressor
            .as_ref()
            .is_some_and(|c| c.send(job).is_ok());
        if posted {
            return Ok(());
        }
        let failed = self
            .failed
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .clone();
        Err(failed
            .unwrap_or_else(|| Fault::server("the thread that compresses pictures has ended")))
    }

    fn send_compressed(&self, header: &Header, pixels: &[u8]) -> Result<(), Fault> {
        let mut block = vec![0; lz4_flex::block::get_maximum_output_size(pixels.len())];
        let packed = lz4_flex::block::compress_into(pixels, &mut block).unwrap_or(usize::MAX);
        let (encoding, payload) = if packed < pixels.len() {
            (Encoding::Lz4, &block[..packed])
        } else {
            (Encoding::Raw, pixels)
        };
        let header = Header {
            encoding,
            payload: payload.len() as u32,
            ..*header
        };
        let used = HEADER + payload.len();
        let mut reservation = self.sender.reserve(used).map_err(|e| gone(&e))?;
        reservation.write(0, &header.encode());
        reservation.write(HEADER, payload);
        self.sender
            .commit(&mut reservation, used)
            .map_err(|e| gone(&e))
    }
}

/// Compresses and sends pictures and headers in their order.
fn compress(
    inbox: &Receiver<CompressorInput>,
    connection: &std::sync::Weak<PictureConnection>,
    failed: &Mutex<Option<Fault>>,
) {
    while let Ok(job) = inbox.recv() {
        let Some(connection) = connection.upgrade() else {
            return;
        };
        let sent = match job {
            CompressorInput::Picture(header, pixels) => {
                connection.send_compressed(&header, &pixels)
            }
            CompressorInput::Header(header) => connection
                .sender
                .send(&header.encode())
                .map_err(|e| gone(&e)),
        };
        if let Err(fault) = sent {
            *failed.lock().unwrap_or_else(|e| e.into_inner()) = Some(fault);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_fabric::{connect, Address, Config, Listener, Token, Transport};

    /// Both ends of a connection over TCP.
    fn pair() -> (Sender, mgn_fabric::Receiver, impl Sized) {
        let token = Token::generate();
        let address: Address = "tcp:127.0.0.1:0".parse().unwrap();
        let listener = Listener::bind(&address, Some(token.clone())).unwrap();
        let address = listener.address().clone();
        let client = thread::spawn(move || {
            connect(
                &address,
                Transport::Tcp,
                Some(&token),
                b"",
                Duration::from_secs(10),
            )
            .unwrap()
            .0
        });
        let server = listener
            .accept()
            .unwrap()
            .accept(b"", &Config::default())
            .unwrap();
        let (sender, unheard) = server.split();
        let (unsaid, receiver) = client.join().unwrap().split();
        (sender, receiver, (unheard, unsaid))
    }

    #[test]
    fn pictures_for_far_clients_are_compressed_and_stay_in_order() {
        let (sender, mut receiver, _kept) = pair();
        let slot = Arc::new(FramesSlot::default());
        let mut end = FramesEnd::new(slot.clone(), Arc::default());
        slot.open(sender, true).unwrap();
        let header = |kind, frame, payload| Header {
            width: 100,
            height: 100,
            stride: 400,
            payload,
            ..Header::plain(kind, 1, frame)
        };
        for frame in 0..6 {
            if frame % 2 == 0 {
                let room = end.room(want::WINDOW, 40_000).unwrap().unwrap();
                let Ok(Written::Private(mut pixels)) = Written::of(room) else {
                    panic!("a message of raw pixels")
                };
                pixels.fill(frame as u8);
                let header = header(Kind::Picture, frame, 40_000);
                let room = Room::new(pixels, 0);
                end.send(want::WINDOW, &header, (100, 100), room).unwrap();
            } else {
                end.send_header(&header(Kind::Done, frame, 0)).unwrap();
            }
        }
        for frame in 0..6 {
            let message = receiver
                .recv(Some(Duration::from_secs(10)))
                .unwrap()
                .unwrap()
                .to_vec();
            let (head, payload) = message.split_first_chunk::<HEADER>().unwrap();
            let head = Header::decode(head).unwrap();
            assert_eq!((head.frame, head.payload as usize), (frame, payload.len()));
            if frame % 2 == 0 {
                assert_eq!((head.kind, head.encoding), (Kind::Picture, Encoding::Lz4));
                assert!(payload.len() < 1000);
                let pixels = lz4_flex::block::decompress(payload, 40_000).unwrap();
                assert_eq!(pixels, vec![frame as u8; 40_000]);
            } else {
                assert_eq!(head.kind, Kind::Done);
            }
        }
    }

    #[test]
    fn a_client_that_has_gone_is_noticed() {
        let (sender, receiver, kept) = pair();
        let slot = Arc::new(FramesSlot::default());
        let mut end = FramesEnd::new(slot.clone(), Arc::default());
        slot.open(sender, true).unwrap();
        drop((receiver, kept));
        let header = Header::plain(Kind::Done, 1, 1);
        let fault = (0..10_000).find_map(|_| {
            thread::sleep(Duration::from_millis(2));
            end.send_header(&header).err()
        });
        assert_eq!(fault, Some(Fault::Gone));
    }
}
