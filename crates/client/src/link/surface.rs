//! The surfaces of contexts: windows, pixmaps and pbuffers, and the program's names for them.

use crate::config::Format;
use crate::link::tiles::{Areas, Wholeness};
use crate::x11::watch::{Followed, Watch};
use mgn_sys::fork::PerProcess;
use mgn_wall::{Area, Wall};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// The most invisible frames of one surface that may be in flight if the first of them was handed
/// over only a moment ago. With this limit, threads that take turns with short frames are woken
/// once for several frames.
pub const UNSEEN: u32 = 64;

/// The client's side of a surface.
pub enum Kind {
    Window {
        watch: Arc<Watch>,
        window: Arc<Followed>,
    },
    Pixmap {
        watch: Arc<Watch>,
        pixmap: u32,
        texture: Texture,
    },
    Pbuffer,
}

/// GLX_TEXTURE_FORMAT_EXT and GLX_TEXTURE_TARGET_EXT: the format and target of an X pixmap as a
/// texture.
#[derive(Clone, Copy, Debug, Default)]
pub struct Texture {
    pub format: i32,
    pub target: i32,
}

/// The properties of a surface that the program knows; see the fields of [`Surface`].
#[derive(Clone, Copy)]
pub struct Description {
    pub xid: u32,
    pub format: Format,
    pub config_id: u32,
}

/// A default framebuffer. The server has a framebuffer of the same id until the last user here
/// releases this one.
pub struct Surface {
    pub id: u32,
    /// The program's name for it: a GLX drawable, or 0 for EGL surfaces.
    pub xid: u32,
    pub kind: Kind,
    pub format: Format,
    /// `GLX_FBCONFIG_ID` or `EGL_CONFIG_ID`.
    pub config_id: u32,
    owner: Option<&'static dyn Owner>,
    is_shared: bool,
    size: AtomicU64,
    pub handed_over: AtomicU32,
    pub finished: AtomicU32,
    /// When the last invisible frames were handed over, by their numbers.
    pub unseen: [AtomicU64; UNSEEN as usize],
    pub event_mask: AtomicU64,
    areas: Areas,
    pub wholeness: Wholeness,
}

/// The owner of surfaces.
pub trait Owner: Sync {
    /// The wall whose tiles the surfaces are divided into, if there is one.
    fn wall(&self) -> Option<&Wall>;

    /// The largest width and height of a surface.
    fn size_max(&self) -> u32;

    /// Destroys the renderers' surface of this id. `is_shared` says whether other programs draw
    /// into it.
    fn destroy(&self, id: u32, is_shared: bool);
}

impl Surface {
    /// Creates a surface of `owner`. The owner creates the renderers' surfaces with the same id.
    pub fn new(
        owner: Option<&'static dyn Owner>,
        id: u32,
        is_shared: bool,
        kind: Kind,
        description: Description,
        size: (u32, u32),
    ) -> Surface {
        let (width, height) = owner.map_or(size, |owner| clamped(owner, size));
        Surface {
            id,
            xid: description.xid,
            kind,
            format: description.format,
            config_id: description.config_id,
            owner,
            is_shared,
            size: AtomicU64::new(pack(width, height)),
            handed_over: AtomicU32::new(0),
            finished: AtomicU32::new(0),
            unseen: [const { AtomicU64::new(0) }; UNSEEN as usize],
            event_mask: AtomicU64::new(0),
            areas: Areas::default(),
            wholeness: Wholeness::default(),
        }
    }

    /// Whether other programs draw into it.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Width and height of the server's framebuffer.
    pub fn size(&self) -> (u32, u32) {
        let both = self.size.load(Ordering::Acquire);
        ((both >> 32) as u32, both as u32)
    }

    /// The window's size, if it differs from the framebuffer's. From then on the framebuffer counts
    /// as having this size. Never waits for the X server.
    pub fn resized(&self) -> Option<(u32, u32)> {
        let Kind::Window { watch, window } = &self.kind else {
            return None;
        };
        watch.poll();
        let (width, height) = clamped(self.owner?, window.size());
        let new = pack(width, height);
        let changed = !window.is_gone() && self.size.swap(new, Ordering::AcqRel) != new;
        changed.then(|| self.size())
    }

    /// The area of each renderer of the session's wall; none if there is no wall.
    pub fn areas(&self) -> Option<Arc<[Area]>> {
        let wall = self.owner?.wall()?;
        Some(self.areas.at(wall, self.size()))
    }

    pub fn is_pixmap(&self) -> bool {
        matches!(self.kind, Kind::Pixmap { .. })
    }

    pub fn is_window(&self) -> bool {
        matches!(self.kind, Kind::Window { .. })
    }

    /// Waits until all events about the window have come from the X server.
    pub fn ask_window(&self) {
        if let Kind::Window { watch, .. } = &self.kind {
            watch.catch_up();
        }
    }

    /// Whether the surface is a window that was drawn to by its own name and is destroyed now. The
    /// X server may reuse the number.
    fn went_with_its_window(&self) -> bool {
        match &self.kind {
            Kind::Window { window, .. } => window.is_gone() && window.xid == self.xid,
            _ => false,
        }
    }

    /// Whether pictures can be put into it.
    pub fn is_visible(&self) -> bool {
        match &self.kind {
            Kind::Window { window, .. } => !window.is_gone(),
            Kind::Pixmap { .. } => true,
            Kind::Pbuffer => false,
        }
    }

    #[cfg(test)]
    pub fn for_test(id: u32) -> Arc<Surface> {
        let format = crate::config::tests::formats()[0];
        let description = Description {
            xid: 0,
            format,
            config_id: 0,
        };
        let (kind, size) = (Kind::Pbuffer, (1, 1));
        Arc::new(Surface::new(None, id, false, kind, description, size))
    }
}

impl Drop for Surface {
    fn drop(&mut self) {
        if let Some(owner) = self.owner {
            owner.destroy(self.id, self.is_shared);
        }
    }
}

fn clamped(owner: &dyn Owner, (width, height): (u32, u32)) -> (u32, u32) {
    let most = owner.size_max();
    (width.clamp(1, most), height.clamp(1, most))
}

fn pack(width: u32, height: u32) -> u64 {
    u64::from(width) << 32 | u64::from(height)
}

/// Surfaces by the names that GLX programs use: by X server and XID.
#[derive(Default)]
pub struct Drawables {
    known: Mutex<HashMap<(String, u32), Arc<Surface>>>,
}

/// The surfaces of this process.
pub fn drawables() -> &'static Drawables {
    static DRAWABLES: PerProcess<Drawables> = PerProcess::new();
    DRAWABLES.get()
}

impl Drawables {
    pub fn find(&self, display: &str, xid: u32) -> Option<Arc<Surface>> {
        let mut known = self.known();
        let key = (display.to_owned(), xid);
        let surface = known.get(&key)?;
        if let Kind::Window { watch, .. } = &surface.kind {
            watch.poll();
            if surface.went_with_its_window() {
                let gone = known.remove(&key);
                drop(known);
                drop(gone);
                return None;
            }
        }
        Some(surface.clone())
    }

    /// A surface of the X window `window`, whatever name the program uses for it.
    pub fn of_window(&self, display: &str, window: u32) -> Option<Arc<Surface>> {
        let known = self.known();
        let is_of_it = |surface: &Surface| match &surface.kind {
            Kind::Window { window: there, .. } => there.xid == window,
            _ => false,
        };
        let mut here = known.iter().filter(|((name, _), _)| name == display);
        here.find(|(_, surface)| is_of_it(surface))
            .map(|(_, surface)| surface.clone())
    }

    pub fn add(&self, display: &str, surface: &Arc<Surface>) {
        if let Kind::Window { watch, .. } = &surface.kind {
            watch.poll();
        }
        let mut known = self.known();
        let old = known.insert((display.to_owned(), surface.xid), surface.clone());
        let gone = known
            .iter()
            .filter(|(_, surface)| surface.went_with_its_window());
        let gone: Vec<_> = gone.map(|(key, _)| key.clone()).collect();
        let gone: Vec<_> = gone.iter().map(|key| known.remove(key)).collect();
        drop(known);
        drop((old, gone));
    }

    pub fn remove(&self, display: &str, xid: u32) -> Option<Arc<Surface>> {
        self.known().remove(&(display.to_owned(), xid))
    }

    fn known(&self) -> MutexGuard<'_, HashMap<(String, u32), Arc<Surface>>> {
        self.known.lock().unwrap_or_else(|e| e.into_inner())
    }
}
impl Surface {
    /// Whether every renderer draws the whole surface.
    pub fn is_whole(&self) -> bool {
        self.wholeness.is_whole.load(Ordering::Relaxed)
    }
}
