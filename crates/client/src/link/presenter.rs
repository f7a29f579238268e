//! The threads that read frames connections, one for each renderer, and pass pictures on to their
//! targets.
//!
//! On a wall each renderer sends its part of a frame. The parts are shown together, when the last
//! part has arrived and all servers have shown the frame before. So no frame is seen in pieces
//! (swap barrier). The client shows some parts itself, and tells servers to show the others. The
//! part of a lost renderer is a hole.

use crate::link::barrier::{Barrier, Step};
use crate::link::compositing::{Layer, Outcome};
use crate::link::genlock::{self, Genlock, OfDisplay, Turn};
use crate::link::heads::ShownTile;
use crate::link::holes::{bring_forward, holes, stripe};
use crate::link::pixmap::PixmapTarget;
use crate::link::session::Session;
use crate::link::stats::Word;
use crate::link::surface::{Kind, Surface};
use crate::link::swap_barrier::Failed;
use crate::log::line;
use crate::signals::Signals;
use mgn_fabric::{Message, Receiver, Segment, Sender};
use mgn_genlock::Phase;
use mgn_present::{encoding, FileFormat, Picture, Rows, Saver, Target, Window, XDisplay};
use mgn_sys::clock::monotonic;
use mgn_sys::copy::copy;
use mgn_wall::Rect;
use mgn_wire::frames::{Encoding, Header, Instruction, Kind as FrameKind, Release, HEADER};
use mgn_wire::End;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::str::FromStr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Starts the threads. All signals are blocked in them, so that the program's handlers run on its
/// own threads.
///
/// # Errors
/// One sentence, if pictures cannot be saved where they should be.
pub fn start(session: &'static Session, frames: Vec<(Sender, Receiver)>) -> Result<(), String> {
    let (senders, receivers): (Vec<_>, Vec<_>) = frames.into_iter().unzip();
    let saver = match &session.options.save {
        None => None,
        Some(save) => {
            let format = FileFormat::from_str(&save.format).map_err(|e| e.to_string())?;
            Some(Saver::new(&save.dir, format, save.every).map_err(|e| e.to_string())?)
        }
    };
    let wall = session.options.wall.as_ref();
    let genlocked = wall.filter(|wall| wall.genlock && receivers.len() == wall.tiles.len());
    let presenter = Arc::new(Mutex::new(Presenter {
        session,
        genlock: genlocked.map(Genlock::new),
        seats: receivers
            .iter()
            .map(|_| Seat::There(HashMap::new()))
            .collect(),
        senders,
        saver,
        displays: HashMap::new(),
        targets: HashMap::new(),
        parts: BTreeMap::new(),
        barrier: Barrier::new(),
        late: BTreeSet::new(),
        spare: Vec::new(),
    }));
    let _signals = Signals::block_all();
    if genlocked.is_some() {
        let presenter = Arc::downgrade(&presenter);
        genlock::start(session, move |wants_displays| {
            lock(&*presenter.upgrade()?).keep_time(wants_displays)
        })?;
    }
    for (tile, receiver) in receivers.into_iter().enumerate() {
        let presenter = presenter.clone();
        std::thread::Builder::new()
            .name("mgn-presenter".into())
            .spawn(move || {
                let mut receiver = receiver;
                let mut failover = session.failover(tile);
                loop {
                    let why = run(tile, receiver, &presenter);
                    session.lose_renderer(tile, why);
                    lock(&presenter).leave(tile);
                    let Some((sender, frames)) = session.succeed(tile, &mut failover) else {
                        return;
                    };
                    lock(&presenter).join(tile, sender);
                    receiver = frames;
                }
            })
            .map_err(|e| format!("cannot start the thread that shows pictures: {e}"))?;
    }
    Ok(())
}

/// Reads what the renderer of `tile` sends until the connection ends, and returns the reason for
/// the end.
fn run(tile: usize, mut receiver: Receiver, presenter: &Mutex<Presenter>) -> String {
    receiver.never_spin();
    loop {
        let message = match receiver.recv(None) {
            Ok(Some(message)) => message,
            Ok(None) => continue,
            Err(error) => return error.to_string(),
        };
        let Some(header) = header(&message, 0) else {
            return NONSENSE.into();
        };
        if header.kind == FrameKind::Ended {
            let mut why = Vec::new();
            message.copy_range(HEADER, header.payload as usize, &mut why);
            return End::decode(&why).map_or_else(|| NONSENSE.into(), |end| end.to_string());
        }
        // Taken before the wait for the lock.
        let received = (header.kind == FrameKind::Clocks).then(monotonic);
        let mut presenter = lock(presenter);
        if header.kind == FrameKind::Shown {
            if !presenter.shown(tile, release(&header)) {
                return "it reported a frame as shown that it was not to show now".into();
            }
            continue;
        }
        if let Some(received) = received {
            let mut clocks = Vec::new();
            message.copy_range(HEADER, header.payload as usize, &mut clocks);
            let genlock = presenter.genlock.as_mut();
            if !genlock.is_some_and(|genlock| genlock.answer(tile, &clocks, received)) {
                return NONSENSE.into();
            }
            continue;
        }
        if header.kind == FrameKind::Picture {
            let picture = Some(message);
            presenter.take(tile, Part { header, picture });
            continue;
        }
        // One message may report several frames without pictures.
        for at in (0..message.len()).step_by(HEADER) {
            let header = self::header(&message, at);
            let Some(header) = header.filter(|header| header.kind == FrameKind::Done) else {
                return NONSENSE.into();
            };
            // Where pictures are composited, a server keeps only pictures that it also sends.
            if header.kept && presenter.session.composite.is_some() {
                return NONSENSE.into();
            }
            let picture = None;
            presenter.take(tile, Part { header, picture });
        }
    }
}

const NONSENSE: &str = "it sent a frame that is invalid";

fn release(header: &Header) -> Release {
    Release {
        surface: header.surface,
        frame: header.frame,
    }
}

fn lock(presenter: &Mutex<Presenter>) -> MutexGuard<'_, Presenter> {
    presenter.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The largest number of pixels of a frame.
const PIXELS_MAX: u64 = 1 << 28;

/// The part of a frame that a renderer has sent.
struct Part {
    header: Header,
    picture: Option<Message>,
}

/// A part with its picture.
struct Pictured {
    header: Header,
    message: Message,
}

/// The state of a tile's renderer.
enum Seat {
    Lost,
    /// The renderer sends all frames after those in the map: by surface, the last frame that it may
    /// not know about.
    There(HashMap<u32, u32>),
}

impl Seat {
    /// Whether this renderer will send a part of the frame.
    fn gives(&self, Release { surface, frame }: Release) -> bool {
        match self {
            Seat::Lost => false,
            Seat::There(before) => before
                .get(&surface)
                .is_none_or(|last| is_later(frame, *last)),
        }
    }
}

/// Whether a frame comes after another one. Frame numbers wrap around.
fn is_later(frame: u32, other: u32) -> bool {
    frame.wrapping_sub(other) as i32 > 0
}

struct Presenter {
    session: &'static Session,
    /// Set if the wall is genlocked.
    genlock: Option<Genlock>,
    /// By tile.
    seats: Vec<Seat>,
    /// The connections to the renderers, by tile. Closing one would end its frames connection.
    senders: Vec<Sender>,
    saver: Option<Saver>,
    displays: HashMap<String, Arc<XDisplay>>,
    /// By surface.
    targets: HashMap<u32, Box<dyn Target>>,
    /// The parts of incomplete frames that have arrived so far, by tile.
    parts: BTreeMap<Release, Vec<Option<Part>>>,
    /// The complete frames.
    barrier: Barrier<Vec<Option<Part>>>,
    /// Frames that were complete without the part of this tile. Their servers were told to show the
    /// part nevertheless.
    late: BTreeSet<(usize, Release)>,
    /// Memory for pictures that are unpacked or assembled.
    spare: Vec<Vec<u8>>,
}

impl Presenter {
    /// Stores the part of a frame that the renderer of `tile` has sent. The frame is shown when it
    /// is complete and its turn has come.
    fn take(&mut self, tile: usize, part: Part) {
        let frame = release(&part.header);
        let surface = self.session.frames.surface(frame.surface);
        let finished = surface.map(|surface| surface.finished.load(Ordering::Acquire));
        let is_finished = finished.is_some_and(|finished| !is_later(frame.frame, finished));
        if is_finished || self.barrier.holds(frame) {
            // The frame was complete without this part. The server keeps only a few pictures, then
            // it waits until they are shown. A new renderer has drawn many such frames while it
            // caught up, and would wait forever. A composited frame was shown without this server,
            // which must not show the share of this program alone.
            if part.header.kept && self.session.composite.is_none() {
                self.late.insert((tile, frame));
                let vblank = None;
                let show = Instruction::Show { frame, vblank };
                let _ = self.senders[tile].send(&show.encode());
            }
            return;
        }
        let tiles = self.seats.len();
        let parts = self.parts.entry(frame);
        let parts = parts.or_insert_with(|| (0..tiles).map(|_| None).collect());
        parts[tile] = Some(part);
        self.complete(frame);
    }

    /// The renderer of `tile` is lost: frames no longer wait for its parts.
    fn leave(&mut self, tile: usize) {
        self.seats[tile] = Seat::Lost;
        self.late.retain(|(late, _)| *late != tile);
        self.barrier.lose(tile);
        if let Some(genlock) = &mut self.genlock {
            genlock.coordinator.forget(tile);
        }
        for parts in self.parts.values_mut() {
            // The parts that its server should have shown are lost with the server.
            parts[tile].take_if(|part| part.header.kept);
        }
        let begun: Vec<_> = self.parts.keys().copied().collect();
        for frame in begun {
            self.complete(frame);
        }
        self.go_on();
    }

    /// The server of `tile` reports that it shows a frame. Returns whether it was told to.
    fn shown(&mut self, tile: usize, frame: Release) -> bool {
        let is_late = self.late.remove(&(tile, frame));
        let is_right = is_late || self.barrier.shown(tile, frame);
        if let (Some(genlock), false) = (&mut self.genlock, is_late) {
            genlock.coordinator.shown(tile, monotonic());
        }
        self.go_on();
        is_right
    }

    /// The tile has a renderer again.
    fn join(&mut self, tile: usize, sender: Sender) {
        self.senders[tile] = sender;
        if let Some(genlock) = &mut self.genlock {
            genlock.coordinator.forget(tile);
        }
        self.seats[tile] = Seat::There(self.session.frames.handed_over());
    }

    /// Gives a frame to the barrier if no part is missing.
    fn complete(&mut self, frame: Release) {
        let Some(parts) = self.parts.get(&frame) else {
            return;
        };
        let is_missing = |(part, seat): (&Option<Part>, &Seat)| part.is_none() && seat.gives(frame);
        if parts.iter().zip(&self.seats).any(is_missing) {
            return;
        }
        let parts = self.parts.remove(&frame).unwrap_or_default();
        let is_kept = |part: &Option<Part>| part.as_ref().is_some_and(|part| part.header.kept);
        let by = parts.iter().map(is_kept).collect();
        self.barrier.add(frame, by, parts);
        self.go_on();
    }

    /// Shows all frames that may be shown now.
    fn go_on(&mut self) {
        loop {
            if let (Some(genlock), true) = (&self.genlock, self.barrier.is_to_release()) {
                if !genlock.is_ready() {
                    return;
                }
            }
            let Some(step) = self.barrier.next() else {
                return;
            };
            match step {
                Step::Show(frame, by, parts) => {
                    let heads = heads(&by, &parts);
                    if self.session.composite.is_none() {
                        self.release(frame, &heads);
                        self.show_here(frame, parts, &heads);
                    } else if self.show_here(frame, parts, &heads) {
                        self.release(frame, &heads);
                    } else {
                        // Servers have only this program's share of the picture, and must not show
                        // it.
                        for head in heads {
                            self.barrier.shown(head.tile, frame);
                        }
                    }
                }
                Step::Finish(Release { surface, frame }) => {
                    self.session.frames.finish(surface, frame);
                }
            }
        }
    }

    /// Asks servers for their clocks, and shows frames, if either is due. None if the wall is not
    /// genlocked.
    fn keep_time(&mut self, wants_displays: bool) -> Option<Turn> {
        let genlock = self.genlock.as_mut()?;
        genlock.wake_this_thread();
        for tile in genlock.coordinator.ask(monotonic()) {
            let asked = monotonic();
            // If the renderer is lost, its own thread finds out.
            let _ = self.senders[tile].send(&Instruction::Clocks { asked }.encode());
        }
        self.go_on();
        let coordinator = &self.genlock.as_ref()?.coordinator;
        let asks = coordinator.ask_at();
        let displays = || {
            let phases = coordinator.phases(monotonic()).into_iter();
            let phases = phases.zip(&self.seats).enumerate();
            let displays = phases.filter(|(tile, _)| coordinator.has_display(*tile));
            let of_display = |(tile, (phase, seat)): (usize, (Phase, &Seat))| OfDisplay {
                tile,
                phase,
                is_drawn: matches!(seat, Seat::There(_)),
            };
            displays.map(of_display).collect()
        };
        Some(Turn {
            wake: match self.barrier.is_to_release() {
                true => asks.min(coordinator.ready_at()),
                false => asks,
            },
            displays: wants_displays.then(displays),
        })
    }

    /// Tells servers to show a frame.
    fn release(&mut self, frame: Release, heads: &[ShownTile]) {
        let tiles: Vec<usize> = heads.iter().map(|head| head.tile).collect();
        let vblanks = match &mut self.genlock {
            Some(genlock) if !tiles.is_empty() => genlock.coordinator.plan(&tiles, monotonic()),
            _ => vec![None; tiles.len()],
        };
        for (tile, vblank) in tiles.into_iter().zip(vblanks) {
            let show = Instruction::Show { frame, vblank };
            // If the renderer is lost, its own thread finds out.
            let _ = self.senders[tile].send(&show.encode());
        }
    }

    /// Shows and saves a frame, as far as its pictures were sent. If the frame is composited with
    /// those of other programs, the servers of `heads` get the result. Returns whether it was
    /// shown.
    fn show_here(&mut self, frame: Release, parts: Vec<Option<Part>>, heads: &[ShownTile]) -> bool {
        let holes = parts.iter().map(Option::is_none).collect();
        let pictured = |Part { header, picture }| {
            let message = picture?;
            Some(Pictured { header, message })
        };
        let pictures: Vec<_> = parts.into_iter().flatten().filter_map(pictured).collect();
        !pictures.is_empty() && self.show(frame, pictures, holes, heads)
    }

    fn show(
        &mut self,
        frame: Release,
        parts: Vec<Pictured>,
        missing: Vec<bool>,
        heads: &[ShownTile],
    ) -> bool {
        let Some(surface) = self.session.frames.surface(frame.surface) else {
            self.targets.remove(&frame.surface);
            return false;
        };
        let drawn: Vec<Rect> = parts.iter().map(|part| rect(&part.header)).collect();
        let holes = holes(&surface, &drawn, &missing);
        let (header, pixels) = match self.whole(parts, &holes) {
            Ok(whole) => whole,
            Err(error) => {
                match self.session.composite {
                    None => line(error),
                    // The other programs wait for this picture.
                    Some(_) => self.session.lose(error),
                }
                return false;
            }
        };
        let mut is_shown = true;
        match self.session.composite {
            None => {
                // A segment's number is valid for one connection only.
                let segment = pixels.segment().filter(|_| self.seats.len() == 1);
                self.show_whole(&surface, &header, &pixels, segment);
            }
            Some(composite) => {
                let layer = Layer {
                    header: &header,
                    rows: &pixels,
                    surface: &surface,
                };
                if let Some(barrier) = &self.session.swap_barrier {
                    if let Err(Failed(why, status)) = barrier.pass_all() {
                        let told = why.clone().unwrap_or_default();
                        composite.fail(&told, why.is_some());
                        self.session.part(why, status);
                        return false;
                    }
                }
                let mut compositing = composite.compositing();
                match compositing.composite(composite, &layer) {
                    Outcome::Here(merged) => {
                        let header = Header {
                            stride: header.width * 4,
                            ..header
                        };
                        for head in heads {
                            // If the server is lost, its own thread finds out.
                            let _ = head.give(
                                &self.senders[head.tile],
                                frame,
                                rect(&header),
                                merged.color,
                            );
                        }
                        self.show_whole(&surface, &header, &merged.color, None);
                    }
                    Outcome::Elsewhere => is_shown = false,
                    Outcome::Over => self.session.end_process(0),
                    Outcome::Failed(why, status) => {
                        self.session.part(why, status);
                        is_shown = false;
                    }
                }
            }
        }
        if let Pixels::Private(pixels) = pixels {
            self.spare.push(pixels);
        }
        is_shown
    }

    fn show_whole(
        &mut self,
        surface: &Surface,
        header: &Header,
        pixels: &dyn Rows,
        segment: Option<Segment<'_>>,
    ) {
        let frame = header.frame;
        let picture = Picture {
            x: header.x,
            y: header.y,
            width: header.width,
            height: header.height,
            stride: header.stride,
            pixels,
            segment,
            surface: header.surface,
            frame: frame.into(),
        };
        let is_whole = (header.width, header.height) == surface.size();
        if let Some(saver) = self
            .saver
            .as_mut()
            .filter(|s| is_whole && s.wants(frame.into()))
        {
            if let Err(error) = saver.show(&picture) {
                line(error);
            }
        }
        if self.session.options.shows_windows() && surface.is_visible() {
            if let Some(target) = self.target(surface) {
                if let Err(error) = target.show(&picture) {
                    line(error);
                }
            }
        }
        self.session.stats.add(Word::Shown, 1);
    }

    /// Assembles a frame from its parts.
    fn whole(
        &mut self,
        mut parts: Vec<Pictured>,
        holes: &[Rect],
    ) -> Result<(Header, Pixels), String> {
        if parts.len() == 1 && holes.is_empty() {
            let Pictured { header, message } = parts.remove(0);
            return Ok((header, self.unpack(&header, message)?));
        }
        let rects = parts.iter().map(|part| rect(&part.header));
        let all = rects
            .chain(holes.iter().copied())
            .fold(Rect::default(), |all, part| all.hull(&part));
        if all.area() > PIXELS_MAX {
            return Err("the parts of a frame do not fit together".into());
        }
        let stride = all.width as usize * 4;
        let plane = stride * all.height as usize;
        let has_depth = parts.iter().all(|part| part.header.has_depth);
        let planes = 1 + usize::from(has_depth);
        let mut canvas = self.spare.pop().unwrap_or_default();
        canvas.resize(planes * plane, 0);
        let known: u64 = parts.iter().map(|part| rect(&part.header).area()).sum();
        if known + holes.iter().map(Rect::area).sum::<u64>() < all.area() {
            // The memory holds pixels of another frame. Areas without a part get zeros and the
            // greatest depth.
            canvas[..plane].fill(0);
            canvas[plane..].fill(0xff);
        }
        for hole in holes {
            let (colors, depths) = canvas.split_at_mut(plane);
            stripe(colors, stride, &all, hole);
            if has_depth {
                bring_forward(depths, stride, &all, hole);
            }
        }
        let whole = Header {
            has_depth,
            x: all.x,
            y: all.y,
            width: all.width,
            height: all.height,
            stride: stride as u32,
            ..parts[0].header
        };
        // An empty part may lie outside of `all`, so it must not be copied.
        parts.retain(|part| !rect(&part.header).is_empty());
        for Pictured { header, message } in parts {
            let pixels = self.unpack(&header, message)?;
            let bytes = header.width as usize * 4;
            let at = (header.y - all.y) as usize * stride + (header.x - all.x) as usize * 4;
            let rows = header.height as usize;
            for (n, row) in (0..planes).flat_map(|n| (0..rows).map(move |row| (n, row))) {
                let to = n * plane + at + row * stride;
                let from = (n * rows + row) * header.stride as usize;
                pixels.read(from, &mut canvas[to..to + bytes]);
            }
            if let Pixels::Private(pixels) = pixels {
                self.spare.push(pixels);
            }
        }
        Ok((whole, Pixels::Private(canvas)))
    }

    fn unpack(&mut self, header: &Header, message: Message) -> Result<Pixels, String> {
        if header.encoding == Encoding::Raw {
            return Ok(Pixels::Message(message));
        }
        let mut bytes = Vec::new();
        message.copy_range(HEADER, header.payload as usize, &mut bytes);
        let mut pixels = self.spare.pop().unwrap_or_default();
        let length = header.rows() as usize;
        encoding::unpack(header.encoding, &bytes, length, &mut pixels)
            .map_err(|e| e.to_string())?;
        Ok(Pixels::Private(pixels))
    }

    /// The target for the pictures of `surface`. `None` once it is known that there can be none.
    fn target(&mut self, surface: &Surface) -> Option<&mut Box<dyn Target>> {
        if !self.targets.contains_key(&surface.id) {
            let frames = &self.session.frames;
            self.targets.retain(|id, _| frames.surface(*id).is_some());
            let target: Box<dyn Target> = match &surface.kind {
                Kind::Window { watch, window } => {
                    Box::new(Window::new(&self.display(watch.display())?, window.xid))
                }
                Kind::Pixmap { watch, pixmap, .. } => Box::new(PixmapTarget::new(watch, *pixmap)),
                Kind::Pbuffer => return None,
            };
            self.targets.insert(surface.id, target);
        }
        self.targets.get_mut(&surface.id)
    }

    fn display(&mut self, name: &str) -> Option<Arc<XDisplay>> {
        if let Some(display) = self.displays.get(name) {
            return Some(display.clone());
        }
        match XDisplay::connect(Some(name)) {
            Ok(display) => {
                let display = Arc::new(display);
                self.displays.insert(name.to_owned(), display.clone());
                Some(display)
            }
            Err(error) => {
                line(error);
                None
            }
        }
    }
}

/// The tiles that servers show, with the part of the frame that each server keeps.
fn heads(by: &[bool], parts: &[Option<Part>]) -> Vec<ShownTile> {
    let tiles = by.iter().zip(parts).enumerate();
    let head = |(tile, (shows, part)): (usize, (&bool, &Option<Part>))| {
        let part = part.as_ref().filter(|_| *shows)?;
        let part = rect(&part.header);
        Some(ShownTile { tile, part })
    };
    tiles.filter_map(head).collect()
}

/// The rectangle of a picture in the window.
fn rect(header: &Header) -> Rect {
    Rect::new(header.x, header.y, header.width, header.height)
}

/// The header at `at` in a message. None unless the message has the length that the header says.
fn header(message: &Message, at: usize) -> Option<Header> {
    let rest = message.len().checked_sub(at + HEADER)?;
    let mut bytes = [0; HEADER];
    // SAFETY: the message has at least that number of bytes; they are copied before they are read.
    unsafe { std::ptr::copy_nonoverlapping(message.as_ptr().add(at), bytes.as_mut_ptr(), HEADER) };
    Header::decode(&bytes).filter(|h| h.payload as usize <= rest)
}

/// Pixels in the message that brought them, or in memory of our own.
enum Pixels {
    Message(Message),
    Private(Vec<u8>),
}

impl Pixels {
    fn segment(&self) -> Option<Segment<'_>> {
        let Pixels::Message(message) = self else {
            return None;
        };
        let segment = message.segment()?;
        Some(Segment {
            fd: segment.fd,
            id: segment.id,
            size: segment.size,
            offset: segment.offset + HEADER,
        })
    }
}

impl Rows for Pixels {
    fn len(&self) -> usize {
        match self {
            Pixels::Message(message) => message.len() - HEADER,
            Pixels::Private(pixels) => pixels.len(),
        }
    }

    fn private(&self) -> Option<&[u8]> {
        match self {
            Pixels::Message(_) => None,
            Pixels::Private(pixels) => Some(pixels),
        }
    }

    fn read(&self, offset: usize, into: &mut [u8]) {
        assert!(offset <= self.len() && into.len() <= self.len() - offset);
        match self {
            // SAFETY: checked to be inside the message, whose memory stays while `self` lives; a
            // server that writes meanwhile changes only what is copied.
            Pixels::Message(message) => unsafe {
                let from = message.as_ptr().add(HEADER + offset);
                copy(from, into.as_mut_ptr(), into.len());
            },
            Pixels::Private(pixels) => into.copy_from_slice(&pixels[offset..][..into.len()]),
        }
    }
}
