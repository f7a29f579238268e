//! A private X connection that tracks the sizes of the program's windows.
//!
//! A swap must not cost a round trip to the X server, and errors about windows must not reach the
//! program's handlers. So the library has its own connection to each X server. It selects
//! StructureNotify events of the windows that are drawn to, and reads the events that have arrived
//! without waiting.

use crate::config::glx::attrib::*;
use crate::config::glx::Properties;
use crate::config::VisualOf;
use mgn_sys::fork::{self, PerProcess};
use mgn_wall::Names;
use std::collections::HashMap;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once};
use x11rb::connection::Connection;
use x11rb::protocol::glx::ConnectionExt as _;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ConfigureWindowAux, ConnectionExt, EventMask, VisualClass,
};
use x11rb::protocol::Event;
use x11rb::rust_connection::RustConnection;

/// One X server.
pub struct Watch {
    connection: RustConnection,
    screen: usize,
    display: String,
    windows: Mutex<HashMap<u32, Arc<Followed>>>,
}

/// This process's connections, by display.
static WATCHES: PerProcess<Mutex<HashMap<String, Arc<Watch>>>> = PerProcess::new();

/// The sockets of the connections, which a forked child closes: the X server sees the end of a
/// connection only when all copies are closed.
static SOCKETS: [AtomicI32; 8] = [const { AtomicI32::new(-1) }; 8];

/// The private connection to the X server `display`, which the first call opens.
pub fn watch(display: &str) -> Option<Arc<Watch>> {
    let mut watches = WATCHES.get().lock().unwrap_or_else(|e| e.into_inner());
    if let Some(watch) = watches.get(display) {
        return Some(watch.clone());
    }
    match Watch::open(display) {
        Ok(watch) => {
            close_in_children(watch.fd());
            let watch = Arc::new(watch);
            watches.insert(display.to_owned(), watch.clone());
            Some(watch)
        }
        Err(why) => {
            crate::log::line(why);
            None
        }
    }
}

fn close_in_children(fd: RawFd) {
    static ONCE: Once = Once::new();
    // SAFETY: the handler is a function of this library, which is never unloaded (`-z nodelete`).
    // It takes no lock and allocates nothing.
    ONCE.call_once(|| unsafe { fork::call_in_children(close_sockets) });
    for slot in &SOCKETS {
        if slot
            .compare_exchange(-1, fd, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
        {
            return;
        }
    }
}

/// Runs in a forked child.
unsafe extern "C" fn close_sockets() {
    for slot in &SOCKETS {
        let fd = slot.swap(-1, Ordering::AcqRel);
        if fd >= 0 {
            // SAFETY: the child's copy of a descriptor whose owner was left behind with the
            // parent's connections.
            unsafe { libc::close(fd) };
        }
    }
}

/// The known properties of a window.
pub struct Followed {
    pub xid: u32,
    size: AtomicU64,
    gone: AtomicBool,
    /// The window's number among those that match a wall's choice, from 1; 0 until it matches.
    pub fitting: AtomicU32,
}

impl Followed {
    /// Width and height in pixels, at least 1 each.
    pub fn size(&self) -> (u32, u32) {
        let both = self.size.load(Ordering::Acquire);
        ((both >> 32) as u32, both as u32)
    }

    /// The window was destroyed.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    fn resize(&self, width: u16, height: u16) {
        let both = u64::from(width.max(1)) << 32 | u64::from(height.max(1));
        self.size.store(both, Ordering::Release);
    }
}

/// The geometry of a drawable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    pub width: u32,
    pub height: u32,
    pub depth: u8,
}

impl Watch {
    /// Connects to `display`, a name as in `DISPLAY`.
    ///
    /// # Errors
    /// The reason, as a sentence.
    pub fn open(display: &str) -> Result<Watch, String> {
        let (connection, screen) = RustConnection::connect(Some(display))
            .map_err(|e| format!("cannot connect to the X server {display}: {e}"))?;
        Ok(Watch {
            connection,
            screen,
            display: display.to_owned(),
            windows: Mutex::new(HashMap::new()),
        })
    }

    /// TrueColor and DirectColor visuals of a screen (or the default one), in the order in which
    /// the X server lists them.
    pub fn visuals(&self, screen: Option<usize>) -> Vec<VisualOf> {
        let setup = self.connection.setup();
        let Some(screen) = setup.roots.get(screen.unwrap_or(self.screen)) else {
            return Vec::new();
        };
        screen
            .allowed_depths
            .iter()
            .flat_map(|d| d.visuals.iter().map(move |v| (d.depth, v)))
            .filter(|(_, v)| matches!(v.class, VisualClass::TRUE_COLOR | VisualClass::DIRECT_COLOR))
            .map(|(depth, v)| VisualOf {
                id: v.visual_id,
                depth,
                class: v.class.into(),
                bits: [v.red_mask, v.green_mask, v.blue_mask].map(|mask| mask.count_ones() as u8),
            })
            .collect()
    }

    /// The properties of a screen's configs and visuals, as the X server's GLX reports them; empty
    /// without GLX.
    pub fn glx_lists(&self, screen: u32) -> (Vec<Properties>, Vec<Properties>) {
        /// The first values of a visual come without names. The second of them, the class, is X11's
        /// number.
        const UNNAMED: [i32; 18] = [
            VISUAL_ID,
            0,
            RGBA,
            RED_SIZE,
            GREEN_SIZE,
            BLUE_SIZE,
            ALPHA_SIZE,
            ACCUM_RED_SIZE,
            ACCUM_GREEN_SIZE,
            ACCUM_BLUE_SIZE,
            ACCUM_ALPHA_SIZE,
            DOUBLEBUFFER,
            STEREO,
            BUFFER_SIZE,
            DEPTH_SIZE,
            STENCIL_SIZE,
            AUX_BUFFERS,
            LEVEL,
        ];
        let told = |words: &[u32], unnamed: &[i32]| {
            let mut properties = Properties::untold();
            let (first, pairs) = words.split_at(unnamed.len());
            for (name, value) in unnamed.iter().zip(first) {
                properties.set(*name, *value as i32);
            }
            if let Some(class) = first.get(1) {
                properties.set(X_VISUAL_TYPE, glx_class(*class));
            }
            for pair in pairs.chunks_exact(2).take_while(|p| p[0] != 0) {
                properties.set(pair[0] as i32, pair[1] as i32);
            }
            properties
        };
        let (c, mut lists) = (&self.connection, (Vec::new(), Vec::new()));
        if let Some(reply) = c
            .glx_get_fb_configs(screen)
            .ok()
            .and_then(|r| r.reply().ok())
        {
            let words = (reply.num_properties as usize).max(1) * 2;
            let configs = reply.property_list.chunks_exact(words);
            lists.0 = configs.map(|w| told(w, &[])).collect();
        }
        let asked = c.glx_get_visual_configs(screen).ok();
        if let Some(reply) = asked.and_then(|r| r.reply().ok()) {
            let words = (reply.num_properties as usize).max(UNNAMED.len());
            let visuals = reply.property_list.chunks_exact(words);
            lists.1 = visuals.map(|w| told(w, &UNNAMED)).collect();
        }
        lists
    }

    /// The visual of a screen's root window.
    pub fn root_visual(&self, screen: usize) -> u32 {
        let root = self.connection.setup().roots.get(screen);
        root.map_or(0, |s| s.root_visual)
    }

    pub fn display(&self) -> &str {
        &self.display
    }

    pub fn connection(&self) -> &RustConnection {
        &self.connection
    }

    pub fn fd(&self) -> RawFd {
        self.connection.stream().as_raw_fd()
    }

    /// The visual of a window; `None` if there is no such window.
    pub fn visual_of(&self, window: u32) -> Option<u32> {
        let asked = self.connection.get_window_attributes(window).ok()?;
        asked.reply().ok().map(|r| r.visual)
    }

    /// Geometry of a window or pixmap; `None` if there is no such drawable.
    pub fn geometry(&self, drawable: u32) -> Option<Geometry> {
        let reply = self.connection.get_geometry(drawable).ok()?.reply().ok()?;
        Some(Geometry {
            width: reply.width.max(1).into(),
            height: reply.height.max(1).into(),
            depth: reply.depth,
        })
    }

    /// Follows a window from now on; `None` if there is no such window. The first call costs two
    /// round trips.
    pub fn follow(&self, window: u32) -> Option<Arc<Followed>> {
        // Held throughout, so that no other thread processes an event of this window before the
        // window is known.
        let mut windows = self.windows();
        self.take_events(&mut windows);
        if let Some(known) = windows.get(&window) {
            return Some(known.clone());
        }
        let select = ChangeWindowAttributesAux::new().event_mask(EventMask::STRUCTURE_NOTIFY);
        // Select events first, then ask: a change between the two arrives as an event.
        self.connection
            .change_window_attributes(window, &select)
            .ok()?
            .check()
            .ok()?;
        let geometry = self.connection.get_geometry(window).ok()?.reply().ok()?;
        let followed = Arc::new(Followed {
            xid: window,
            size: AtomicU64::new(0),
            gone: AtomicBool::new(false),
            fitting: AtomicU32::new(0),
        });
        followed.resize(geometry.width, geometry.height);
        windows.insert(window, followed.clone());
        Some(followed)
    }

    /// The names of a window, or of its nearest ancestor that has names. Each window costs some
    /// round trips.
    pub fn names(&self, window: u32) -> Names {
        let mut names = Names::default();
        let utf8 = self.atom("_NET_WM_NAME");
        let mut next = Some(window);
        while let Some(window) = next {
            let property = |atom: u32| self.property(window, atom).filter(|v| !v.is_empty());
            if names.title.is_empty() {
                // WM_NAME is Latin-1, whose letters have Unicode's numbers.
                let latin = |title: Vec<u8>| title.into_iter().map(char::from).collect();
                let title = match utf8.and_then(property) {
                    Some(title) => Some(String::from_utf8_lossy(&title).into_owned()),
                    None => property(AtomEnum::WM_NAME.into()).map(latin),
                };
                names.title = title.unwrap_or_default();
            }
            if names.class.is_empty() {
                let class = property(AtomEnum::WM_CLASS.into()).unwrap_or_default();
                let words = class
                    .split(|byte| *byte == 0)
                    .filter(|word| !word.is_empty());
                let word = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
                names.class = words.map(word).collect();
            }
            let is_known = !names.title.is_empty() && !names.class.is_empty();
            let asked = self
                .connection
                .query_tree(window)
                .ok()
                .filter(|_| !is_known);
            let tree = asked.and_then(|asked| asked.reply().ok());
            // The root's name is not the title of a window.
            let outer = tree.filter(|tree| tree.parent != tree.root);
            next = outer.map(|tree| tree.parent).filter(|parent| *parent != 0);
        }
        names
    }

    fn atom(&self, name: &str) -> Option<u32> {
        let asked = self.connection.intern_atom(true, name.as_bytes()).ok()?;
        asked.reply().ok().map(|r| r.atom).filter(|atom| *atom != 0)
    }

    /// The first bytes of a window's property, which may be of any type.
    fn property(&self, window: u32, atom: u32) -> Option<Vec<u8>> {
        const WORDS: u32 = 1024;
        let any = AtomEnum::ANY;
        let asked = self
            .connection
            .get_property(false, window, atom, any, 0, WORDS)
            .ok()?;
        Some(asked.reply().ok()?.value)
    }

    /// Requests another size for a window, if X knows the window. The size changes here when the X
    /// server reports it.
    pub fn resize(&self, window: u32, (width, height): (u32, u32)) {
        const SIDE_MAX: u32 = i16::MAX as u32;
        let size = ConfigureWindowAux::new()
            .width(width.min(SIDE_MAX))
            .height(height.min(SIDE_MAX));
        // A lost window needs no new size, and a lost connection is found elsewhere.
        let _ = self.connection.configure_window(window, &size);
        let _ = self.connection.flush();
    }

    /// Waits until the X server has sent all events so far, and processes them.
    pub fn catch_up(&self) {
        // Events arrive before the answer to a request that was sent after them.
        if let Ok(asked) = self.connection.get_input_focus() {
            let _ = asked.reply();
        }
        self.poll();
    }

    /// Processes the events that have arrived. Never waits for the X server.
    pub fn poll(&self) {
        self.take_events(&mut self.windows());
    }

    fn take_events(&self, windows: &mut HashMap<u32, Arc<Followed>>) {
        while let Ok(Some(event)) = self.connection.poll_for_event() {
            match event {
                Event::ConfigureNotify(e) => {
                    if let Some(window) = windows.get(&e.window) {
                        window.resize(e.width, e.height);
                    }
                }
                Event::DestroyNotify(e) => {
                    if let Some(window) = windows.remove(&e.window) {
                        window.gone.store(true, Ordering::Release);
                    }
                }
                _ => {}
            }
        }
    }

    fn windows(&self) -> std::sync::MutexGuard<'_, HashMap<u32, Arc<Followed>>> {
        self.windows.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// GLX's number of an X11 visual class.
fn glx_class(class: u32) -> i32 {
    match class {
        // StaticGray, GrayScale, StaticColor, PseudoColor, TrueColor, DirectColor.
        0..=5 => [0x8007, 0x8006, 0x8005, 0x8004, 0x8002, 0x8003][class as usize],
        _ => 0x8000,
    }
}
