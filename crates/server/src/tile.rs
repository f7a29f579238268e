//! Shows a wall's tile at the tile's server. Pictures are kept until the client says that all tiles
//! have theirs. Then all tiles show them at the same time.

use crate::answers::gone;
use crate::broker::{Broker, Connector};
use crate::watchdog::Activity;
use mgn_fabric::{printable, Address, Error, Receiver};
use mgn_present::{scale, FileFormat, GenlockedHead, Head, Picture, Saver};
use mgn_sys::clock::monotonic;
use mgn_viewer::{Counters, Feed};
use mgn_wall::{Rect, Target, Tile, Wall};
use mgn_wire::frames::{Clocks, Header, Instruction, Kind, Release};
use mgn_wire::hello::Shown;
use mgn_wire::Fault;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// The maximum number of pictures that wait to be shown. A client has no more frames in flight; a
/// session with more has to wait.
const KEPT_MAX: usize = 4;
/// The maximum number of places where a tile is shown.
pub(crate) const TARGETS_MAX: usize = 16;
/// The maximum length of a tile's name in bytes. The name may become the name of a folder.
const NAME_MAX: usize = 255;
/// The maximum number of pixels of a tile that is shown larger or smaller.
const PIXELS_MAX: u64 = 1 << 28;
/// How often a viewer is told what the session has done.
const FIGURES_EVERY: Duration = Duration::from_secs(1);
/// How often windows are checked for lost parts of their picture, if nothing new is shown
/// meanwhile.
const EXPOSED_EVERY: Duration = Duration::from_millis(100);

/// The client that asks to show pictures here, and where it may show them.
pub(crate) struct Permission<'a> {
    /// The client's address. None for the server's own user on this host, who may use every place
    /// that the server may use.
    pub from: Option<IpAddr>,
    /// The places that other clients may use.
    pub allowed: &'a [Target],
}

impl Permission<'_> {
    /// Whether the client may show pictures at `target`. It may always use a viewer at its own
    /// address, because it gets the pictures anyway.
    pub fn covers(&self, target: &Target) -> bool {
        let Some(from) = self.from else { return true };
        let is_theirs = |address: &String| match address.parse() {
            Ok(Address::Tcp { host, .. }) => host
                .parse::<IpAddr>()
                .is_ok_and(|ip| ip.to_canonical() == from.to_canonical() && !ip.is_unspecified()),
            _ => false,
        };
        match target {
            Target::Viewer(address) if is_theirs(address) => true,
            target => is_allowed(target, self.allowed),
        }
    }

    /// Checks that all tiles of a wall may be shown at the places that it names.
    ///
    /// # Errors
    /// One sentence for the program's user.
    fn check(&self, wall: &Wall) -> Result<(), String> {
        for tile in &wall.tiles {
            let name = &tile.name;
            let refused = tile.present.iter().find(|target| !self.covers(target));
            if let Some(target) = refused {
                return Err(format!("programs on other hosts may not show the tile {name} at {target}; start the server with --present {target} to allow this"));
            }
        }
        Ok(())
    }
}

/// Whether programs from anywhere may have a tile shown at `target`.
fn is_allowed(target: &Target, allowed: &[Target]) -> bool {
    matches!(target, Target::Program) || allowed.iter().any(|allowed| allowed.is_at(target))
}

/// The tile that a server shows.
///
/// # Errors
/// One sentence for the program's user if it cannot be shown anywhere.
pub(crate) fn own_tile(wall: &Wall) -> Result<&Tile, String> {
    wall.check().map_err(|error| error.to_string())?;
    let [own] = &wall.tiles[..] else {
        return Err("a server shows one tile of a wall".into());
    };
    let name = &own.name;
    if name.len() > NAME_MAX {
        return Err(format!(
            "the tile {}... has a name of more than {NAME_MAX} bytes",
            printable(name, 20)
        ));
    }
    if own.present.len() > TARGETS_MAX {
        return Err(format!(
            "the tile {name} is to be shown at more than {TARGETS_MAX} places"
        ));
    }
    Ok(own)
}

/// The folder below `folder` in which pictures of the tile with this name are saved. None if the
/// path or the name is not suitable.
pub(crate) fn folder_of(folder: &Path, name: &str) -> Option<PathBuf> {
    let is_plain = !name.contains(['/', '\0']) && !name.starts_with('.') && !name.is_empty();
    (is_plain && folder.is_absolute()).then(|| folder.join(name))
}

/// Pictures on their way from the session's thread to the thread of the screens.
#[derive(Default)]
pub(crate) struct Kept {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// In the order in which they were drawn.
    parts: VecDeque<Part>,
    /// Memory to use again.
    spare: Vec<Vec<u8>>,
    /// Why nothing is shown any more.
    over: Option<Fault>,
}

/// A picture of a part of a window.
pub(crate) struct Part {
    pub header: Header,
    pub window: (u32, u32),
    /// Rows without gaps.
    pub pixels: Vec<u8>,
    /// Its number among the pictures of all sessions of the window.
    pub number: u64,
    /// How many bytes of `pixels` the client has replaced by those of a composited picture.
    pub merged: usize,
}

impl Part {
    fn is_of(&self, release: Release) -> bool {
        (self.header.surface, self.header.frame) == (release.surface, release.frame)
    }
}

impl Kept {
    /// Memory for a picture.
    pub fn room(&self, bytes: usize) -> Vec<u8> {
        let mut room = self.lock().spare.pop().unwrap_or_default();
        room.resize(bytes, 0);
        room
    }

    /// Keeps a picture until its frame is shown. While the maximum number of pictures is kept,
    /// waits until the client has some of them shown.
    pub fn keep(&self, part: Part) -> Result<(), Fault> {
        let state = self.lock();
        let full = |state: &mut State| state.parts.len() >= KEPT_MAX && state.over.is_none();
        let waited = self.changed.wait_while(state, full);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = &state.over {
            return Err(why.clone());
        }
        state.parts.push_back(part);
        Ok(())
    }

    /// Takes the picture that is to be shown. Earlier pictures are dropped.
    fn take(&self, release: Release) -> Option<Part> {
        let mut state = self.lock();
        let at = state.parts.iter().position(|part| part.is_of(release))?;
        let part = state.parts.drain(..=at).next_back();
        self.changed.notify_all();
        part
    }

    /// Replaces the next pixels of a kept picture by composited ones. Returns false if the picture
    /// has fewer pixels left. Pixels for a frame that is not kept are dropped.
    fn merge(&self, release: Release, pixels: &[u8]) -> bool {
        let mut state = self.lock();
        let mut parts = state.parts.iter_mut();
        let Some(part) = parts.find(|part| part.is_of(release)) else {
            return true;
        };
        let rest = part.pixels.get_mut(part.merged..).unwrap_or_default();
        let Some(place) = rest.get_mut(..pixels.len()) else {
            return false;
        };
        place.copy_from_slice(pixels);
        part.merged += pixels.len();
        true
    }

    fn give_back(&self, memory: Vec<u8>) {
        let mut state = self.lock();
        if state.spare.len() < KEPT_MAX {
            state.spare.push(memory);
        }
    }

    /// Waits, for at most a second, until all pictures are shown that the client released before it
    /// left.
    pub fn settle(&self) {
        const SHOW_TIMEOUT: Duration = Duration::from_secs(1);
        let goes_on = |state: &mut State| state.over.is_none();
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), SHOW_TIMEOUT, goes_on);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Ends the keeping of pictures, for this reason.
    pub fn end(&self, why: Fault) {
        self.lock().over.get_or_insert(why);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The screens of a worker's sessions. The sessions of a shared window have the same screens.
pub(crate) struct OpenScreens {
    broker: Arc<Broker>,
    /// Whether the sessions share a window.
    of_window: bool,
    open: Mutex<Option<(Shown, Weak<SharedScreens>)>>,
}

/// Screens, and the state that is common to all sessions that share them.
pub(crate) struct SharedScreens {
    screens: Mutex<Screens>,
    /// How many pictures all sessions have drawn together.
    drawn: AtomicU64,
    /// The sessions that share the screens and their viewers.
    sessions: Arc<Mutex<Vec<u64>>>,
}

impl SharedScreens {
    pub fn lock(&self) -> MutexGuard<'_, Screens> {
        self.screens.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the next picture, in the order in which all sessions draw them.
    pub fn number(&self) -> u64 {
        self.drawn.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Removes a session that has ended.
    pub fn leave(&self, session: u64) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|other| *other != session);
    }
}

impl OpenScreens {
    pub fn new(broker: Arc<Broker>, of_window: bool) -> OpenScreens {
        OpenScreens {
            broker,
            of_window,
            open: Mutex::default(),
        }
    }

    /// Returns the screens of a session's tile, and opens them if no other session has.
    ///
    /// # Errors
    /// Those of [`Screens::open`], or that the other sessions of the window are shown elsewhere.
    pub fn of(
        &self,
        shown: Shown,
        permission: &Permission<'_>,
        session: u64,
    ) -> Result<Arc<SharedScreens>, String> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let there = open
            .as_ref()
            .and_then(|(shown, screens)| Some((shown, screens.upgrade()?)));
        match there {
            None => {
                let sessions = Arc::new(Mutex::new(vec![session]));
                let connector = Connector {
                    broker: self.broker.clone(),
                    sessions: sessions.clone(),
                };
                let mut screens = Screens::open(shown.clone(), permission, &connector)?;
                screens.of_window = self.of_window;
                let screens = Arc::new(SharedScreens {
                    screens: Mutex::new(screens),
                    drawn: AtomicU64::new(0),
                    sessions,
                });
                *open = Some((shown, Arc::downgrade(&screens)));
                Ok(screens)
            }
            Some((there, screens)) if *there == shown => {
                permission.check(&shown.wall)?;
                let sessions = screens.sessions.lock();
                sessions
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(session);
                Ok(screens)
            }
            Some(_) => Err(
                "its wall is not shown at the same places as that of the other programs of the \
                 window; all of them must name the same wall"
                    .into(),
            ),
        }
    }
}

/// The windows and viewers that show a tile.
pub(crate) struct Screens {
    /// The wall, with this tile alone.
    wall: Wall,
    /// Windows and files.
    targets: Vec<Box<dyn mgn_present::Target>>,
    feeds: Vec<Feed>,
    /// The pixels that the tile shows now, and the part of the window that they cover.
    canvas: Vec<u8>,
    shown: Rect,
    /// Whether several sessions show one window, whose frames are numbered together.
    of_window: bool,
    /// The session and the surface that were last shown.
    source: (u64, u32),
    /// The number of the picture that is shown.
    newest: u64,
    /// `last` is the number of the last frame, and `before` the number before the first frame of
    /// this surface. For viewers, frames are numbered on from one surface to the next. The frames
    /// of the first surface keep the session's numbers, so that a server that takes over a tile
    /// gives a frame the same number as the others.
    last: u64,
    before: u64,
    scaled: Vec<u8>,
}

impl Screens {
    /// Opens the screens of a tile.
    ///
    /// # Errors
    /// One sentence for the program's user, on what cannot be opened or is not allowed.
    pub fn open(
        Shown { wall, .. }: Shown,
        permission: &Permission<'_>,
        connector: &Connector,
    ) -> Result<Screens, String> {
        let own = own_tile(&wall)?;
        let mut targets: Vec<Box<dyn mgn_present::Target>> = Vec::new();
        let mut feeds = Vec::new();
        permission.check(&wall)?;
        let name = &own.name;
        let rect = own.rect;
        if wall.scaled(own).is_some() && rect.area() > PIXELS_MAX {
            return Err(format!("the tile {name} is too large to be shown"));
        }
        for (target, number) in own.present.iter().zip(0..) {
            let failed = |error| format!("the tile {name} cannot be shown: {error}");
            match target {
                Target::Program => {}
                Target::Window { display, place } => {
                    let size = (rect.width, rect.height);
                    let title = format!("{}: {name}", wall.name);
                    if wall.genlock {
                        let head = GenlockedHead::open(display, *place, size, &title);
                        // Windows with genlock come before files, which take longer.
                        targets.insert(0, Box::new(head.map_err(failed)?));
                    } else {
                        let head = Head::open(display, *place, size, &title).map_err(failed)?;
                        targets.push(Box::new(head));
                    }
                }
                Target::Files(folder) => {
                    let Some(place) = folder_of(folder, name) else {
                        return Err(format!("the tile {name} cannot be saved: {} with the tile's name is not a valid folder; give an absolute path, and a name without slashes", folder.display()));
                    };
                    let saver = Saver::new(&place, FileFormat::Png, 1);
                    targets.push(Box::new(saver.map_err(failed)?));
                }
                Target::Viewer(address) => {
                    let address: Address =
                        address.parse().map_err(|error: Error| error.to_string())?;
                    let connect = connector.to(number, address.clone());
                    feeds.push(Feed::start_with(address, connect));
                }
            }
        }
        Ok(Screens {
            wall,
            targets,
            feeds,
            canvas: Vec::new(),
            shown: Rect::default(),
            of_window: false,
            source: (0, 0),
            newest: 0,
            last: 0,
            before: 0,
            scaled: Vec::new(),
        })
    }

    /// Whether the program's own window shows the tile too.
    pub fn are_beside_the_program(&self) -> bool {
        self.wall.tiles[0].is_in_program()
    }

    /// Whether a viewer wants to know how long the session works and waits.
    pub fn are_counted(&self) -> bool {
        !self.feeds.is_empty()
    }

    /// Shows pictures as the client of `session` instructs, and notifies it of each, until the
    /// client leaves or sends an invalid message.
    pub fn run(
        screens: &SharedScreens,
        session: u64,
        kept: &Kept,
        mut releases: Receiver,
        notify: impl Fn(Header, &[u8]),
        activity: &Activity,
    ) {
        let look = match screens.lock().targets.is_empty() {
            true => FIGURES_EVERY,
            false => EXPOSED_EVERY,
        };
        let mut counted = Instant::now();
        let mut said = Vec::new();
        let invalid = || Fault::refused("it sent an invalid message on its frames connection");
        let why = loop {
            let instruction = match releases.recv(Some(look)) {
                Ok(Some(message)) => {
                    said.clear();
                    message.copy_range(0, message.len(), &mut said);
                    match Instruction::decode(&said) {
                        None => break invalid(),
                        instruction => instruction,
                    }
                }
                Ok(None) => None,
                Err(error) => break gone(&error),
            };
            let mut has_shown = false;
            match instruction {
                Some(Instruction::Show { frame, vblank }) => {
                    if let Some(part) = kept.take(frame) {
                        let memory = screens.lock().show(session, part, vblank);
                        kept.give_back(memory);
                    }
                    let shown = Header::plain(Kind::Shown, frame.surface, frame.frame);
                    notify(shown, &[]);
                    has_shown = true;
                }
                Some(Instruction::Merge { frame, pixels }) => match kept.merge(frame, pixels) {
                    true => continue,
                    false => break invalid(),
                },
                Some(Instruction::Clocks { asked }) => {
                    let received = monotonic();
                    let clocks = screens.lock().clocks(asked, received).encode();
                    let header = Header {
                        payload: clocks.len() as u32,
                        ..Header::plain(Kind::Clocks, 0, 0)
                    };
                    notify(header, &clocks);
                }
                None => {}
            }
            let mut screens = screens.lock();
            screens.show_again();
            if has_shown || counted.elapsed() >= FIGURES_EVERY {
                counted = Instant::now();
                if [0, session].contains(&screens.source.0) {
                    screens.count(activity);
                }
            }
        };
        kept.end(why);
    }

    /// Shows a picture. Returns memory to use again: the picture's, or another's.
    fn show(&mut self, session: u64, part: Part, vblank: Option<u64>) -> Vec<u8> {
        // The clients of a window have their pictures shown independently, so an older picture may
        // come later.
        if part.number < self.newest {
            return part.pixels;
        }
        self.newest = part.number;
        let header = part.header;
        let (surface, frame) = (header.surface, u64::from(header.frame));
        let areas = self.wall.areas(part.window.0, part.window.1);
        let shown = areas[0].shown;
        let memory = self.draw(shown, part);
        if (session, surface) != self.source {
            self.source = (session, surface);
            self.before = match self.last {
                0 => 0,
                last => (last + 1).wrapping_sub(frame),
            };
        }
        self.last = self.before.wrapping_add(frame);
        if shown.is_empty() {
            return memory;
        }
        let size = (shown.width, shown.height);
        let whole = Picture {
            x: shown.x,
            y: shown.y,
            width: shown.width,
            height: shown.height,
            stride: shown.width * 4,
            pixels: &self.canvas,
            segment: None,
            surface,
            frame: self.last,
        };
        for feed in &mut self.feeds {
            complain(feed.show_part(&whole, shown));
        }
        let there = self.size_there();
        if there != size && !self.targets.is_empty() {
            scale(&self.canvas, size, there, &mut self.scaled);
        }
        self.put(frame, vblank, |_| true);
        memory
    }

    /// Shows the last picture again on targets that have lost part of it.
    fn show_again(&mut self) {
        if !self.shown.is_empty() {
            let frame = self.last.wrapping_sub(self.before);
            self.put(frame, None, |target| target.is_exposed());
        }
    }

    /// Answers the client's question what the time is here. `asked` is from the client; `received`
    /// is when the question arrived.
    fn clocks(&mut self, asked: i64, received: i64) -> Clocks {
        let (mut vblank, mut late) = (None, 0);
        self.targets.retain_mut(|target| {
            let clock = target.clock().map(|(known, count)| {
                vblank = vblank.or(known);
                late += count;
            });
            complain(clock)
        });
        Clocks {
            asked,
            received,
            answered: monotonic(),
            vblank,
            late,
        }
    }

    /// The size in which the tile is shown.
    fn size_there(&self) -> (u32, u32) {
        let size = (self.shown.width, self.shown.height);
        self.wall.scaled(&self.wall.tiles[0]).unwrap_or(size)
    }

    /// Shows the tile's picture on those windows and files for which `is_meant` is true.
    fn put(
        &mut self,
        frame: u64,
        vblank: Option<u64>,
        is_meant: impl Fn(&mut dyn mgn_present::Target) -> bool,
    ) {
        let mut targets = std::mem::take(&mut self.targets);
        let picture = self.picture(frame);
        // A target that fails is not used any more.
        targets.retain_mut(|target| {
            !is_meant(target.as_mut()) || complain(target.show_at(&picture, vblank))
        });
        self.targets = targets;
    }

    /// The picture that the tile shows.
    fn picture(&self, frame: u64) -> Picture<'_> {
        let (width, height) = self.size_there();
        let is_scaled = (width, height) != (self.shown.width, self.shown.height);
        Picture {
            x: 0,
            y: 0,
            width,
            height,
            stride: width * 4,
            pixels: if is_scaled {
                &self.scaled
            } else {
                &self.canvas
            },
            segment: None,
            surface: if self.of_window { 0 } else { self.source.1 },
            frame: if self.of_window { self.last } else { frame },
        }
    }

    /// Draws a part into the tile's picture. Returns memory to use again.
    fn draw(&mut self, shown: Rect, mut part: Part) -> Vec<u8> {
        let Header {
            x,
            y,
            width,
            height,
            ..
        } = part.header;
        let from = Rect::new(x, y, width, height);
        let bytes = shown.area() as usize * 4;
        if from == shown && part.pixels.len() == bytes {
            std::mem::swap(&mut self.canvas, &mut part.pixels);
            self.shown = shown;
            return part.pixels;
        }
        if self.shown != shown {
            self.canvas.clear();
            self.canvas.resize(bytes, 0);
            self.shown = shown;
        }
        let common = from.and(&shown);
        let at =
            |rect: Rect, y: u32| (((y - rect.y) * rect.width + (common.x - rect.x)) as usize) * 4;
        let length = common.width as usize * 4;
        for y in common.y..common.bottom() {
            let row = &part.pixels[at(from, y)..][..length];
            self.canvas[at(shown, y)..][..length].copy_from_slice(row);
        }
        part.pixels
    }

    fn count(&self, activity: &Activity) {
        let (frames, bytes) = activity.drawn();
        let (rendering, waiting) = activity.spent();
        for feed in &self.feeds {
            feed.count(&Counters {
                frames,
                bytes,
                rendering,
                waiting,
            });
        }
    }
}

/// Logs an error, if there is one. Returns whether there is none.
fn complain(shown: Result<(), mgn_present::Error>) -> bool {
    if let Err(error) = &shown {
        tracing::warn!("{error}");
    }
    shown.is_ok()
}

pub(crate) fn host_name() -> String {
    let names = rustix::system::uname();
    names.nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_wall::{Fit, Tile};
    use std::os::unix::net::UnixStream;

    fn part(frame: u32, [x, y, width, height]: [u32; 4]) -> Part {
        Part {
            header: Header {
                x,
                y,
                width,
                height,
                stride: width * 4,
                payload: width * height * 4,
                ..Header::plain(Kind::Picture, 1, frame)
            },
            window: (8, 4),
            pixels: vec![frame as u8; (width * height * 4) as usize],
            number: 0,
            merged: 0,
        }
    }

    fn shown(present: Vec<Target>) -> Shown {
        let tile = Tile {
            present,
            ..Tile::new("0,0", Rect::new(4, 0, 4, 4))
        };
        let wall = Wall {
            name: "test".into(),
            size: (8, 4),
            fit: Fit::OneToOne,
            windows: Default::default(),
            tiling: Default::default(),
            genlock: false,
            tiles: vec![tile],
        };
        Shown { wall, tile: 0 }
    }

    const ALL: Permission<'static> = Permission {
        from: None,
        allowed: &[],
    };

    fn connector() -> Connector {
        let (control, _) = UnixStream::pair().unwrap();
        let broker = Broker::new(Arc::new(control));
        Connector {
            broker,
            sessions: Arc::default(),
        }
    }

    #[test]
    fn pictures_are_kept_until_their_frame_is_shown() {
        let kept = Kept::default();
        for frame in 1..=KEPT_MAX as u32 {
            kept.keep(part(frame, [4, 0, 4, 4])).unwrap();
        }
        let release = |frame| Release { surface: 1, frame };
        assert!(kept.take(release(9)).is_none());
        assert_eq!(kept.take(release(2)).unwrap().header.frame, 2);
        assert!(kept.take(release(1)).is_none());
        // There is room again.
        kept.keep(part(5, [4, 0, 4, 4])).unwrap();
        kept.end(Fault::Gone);
        assert_eq!(kept.keep(part(6, [4, 0, 4, 4])).unwrap_err(), Fault::Gone);
    }

    #[test]
    fn composited_pixels_take_the_place_of_those_kept() {
        let kept = Kept::default();
        kept.keep(part(1, [4, 0, 4, 4])).unwrap();
        let release = |frame| Release { surface: 1, frame };
        assert!(kept.merge(release(1), &[8; 40]));
        assert!(kept.merge(release(1), &[9; 24]));
        assert!(!kept.merge(release(1), &[9; 1]));
        assert!(kept.merge(release(2), &[7; 999]), "nothing is kept of it");
        let pixels = kept.take(release(1)).unwrap().pixels;
        assert_eq!(pixels, [[8; 40].as_slice(), &[9; 24]].concat());
    }

    #[test]
    fn parts_of_a_tile_stay_where_they_are() {
        let mut screens = Screens::open(shown(Vec::new()), &ALL, &connector()).unwrap();
        screens.show(1, part(1, [4, 0, 4, 4]), None);
        screens.show(1, part(2, [0, 1, 5, 2]), None);
        let first = |n: usize| screens.canvas[n * 4];
        let all: Vec<u8> = (0..16).map(first).collect();
        let expected = [1, 1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1];
        assert_eq!(all, expected);
    }

    #[test]
    fn a_server_that_takes_over_a_tile_counts_frames_like_the_others() {
        let mut screens = Screens::open(shown(Vec::new()), &ALL, &connector()).unwrap();
        screens.show(1, part(143, [4, 0, 4, 4]), None);
        assert_eq!(screens.last, 143);
    }

    #[test]
    fn sessions_of_a_window_have_their_screens_in_common() {
        let all = OpenScreens::new(connector().broker, true);
        let open = |session, present| all.of(shown(present), &ALL, session);
        let elsewhere = || vec![Target::Viewer("unix:@viewer".into())];
        let first = open(1, Vec::new()).unwrap();
        let second = open(2, Vec::new()).unwrap();
        assert!(Arc::ptr_eq(&first, &second));
        let said = open(3, elsewhere()).err().unwrap();
        assert!(said.contains("the same wall"), "{said}");
        let mut screens = first.lock();
        for (session, frame) in [(1, 1), (1, 2), (2, 7), (1, 3), (1, 4)] {
            screens.show(session, part(frame, [4, 0, 4, 4]), None);
        }
        assert_eq!(screens.last, 5);
        // A picture that was drawn before the newest one shown is not shown any more.
        for (number, shows) in [(9, true), (8, false), (10, true)] {
            let part = Part {
                number,
                ..part(number as u32, [4, 0, 4, 4])
            };
            screens.show(2, part, None);
            assert_eq!(screens.canvas[0] == number as u8, shows);
        }
        drop(screens);
        first.leave(1);
        assert_eq!(*first.sessions.lock().unwrap(), [2]);
        drop((first, second));
        // Once those sessions have gone, others may be shown elsewhere.
        assert!(open(3, elsewhere()).is_ok());
    }

    #[test]
    fn who_comes_by_network_may_what_the_server_allows() {
        let far = Some("192.0.2.7".parse().unwrap());
        let folder = Target::Files("/tmp/pictures".into());
        let allowed = [folder.clone()];
        let permission = Permission {
            from: far,
            allowed: &allowed,
        };
        let viewer = |address: &str| Target::Viewer(address.into());
        assert!(permission.covers(&folder));
        assert!(permission.covers(&viewer("tls:192.0.2.7:80")));
        for refused in [
            Target::Files("/tmp".into()),
            viewer("tls:192.0.2.8:80"),
            viewer("unix:@viewer"),
            viewer("nonsense"),
            "window=:0".parse().unwrap(),
        ] {
            assert!(!permission.covers(&refused), "{refused}");
            assert!(ALL.covers(&refused));
            let opened = Screens::open(shown(vec![refused]), &permission, &connector());
            assert!(opened.err().unwrap().contains("--present"));
        }
    }

    #[test]
    fn files_stay_in_their_folder() {
        for name in ["../x", ".", "..", "", "a/b"] {
            let mut shown = shown(vec![Target::Files("/tmp/pictures".into())]);
            shown.wall.tiles[0].name = name.into();
            assert!(Screens::open(shown, &ALL, &connector()).is_err(), "{name}");
        }
    }
}
