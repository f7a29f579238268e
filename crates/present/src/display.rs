//! Our own connection to the X server, and the shared memory that the server has attached.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mgn_fabric::Segment;
use x11rb::connection::{Connection, RequestConnection};
use x11rb::errors::{ConnectionError, ReplyError};
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, ImageOrder, PropMode, Screen, Setup, VisualClass,
};
use x11rb::protocol::{glx, shm, shm::ConnectionExt as _};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use crate::Error;

/// The most segments that stay attached. A connection's chunk pool is one segment, and each large
/// picture may have its own. Beyond this limit, the least recently used segment is detached.
const ATTACHED_MAX: usize = 8;

/// A connection to an X server, separate from the program's own, so that neither sees the other's
/// errors and events. All windows share one.
pub struct XDisplay {
    pub(crate) connection: RustConnection,
    name: String,
    screen: usize,
    shared: Mutex<Shared>,
}

/// The result of attaching shared memory.
pub(crate) enum Attached {
    /// The X server's name for the segment.
    Yes(shm::Seg),
    No,
}

#[derive(Default)]
struct Shared {
    /// Whether the X server accepts file descriptors; unset until it has shown that.
    works: Option<bool>,
    attached: HashMap<u64, Attachment>,
    clock: u64,
}

struct Attachment {
    segment: shm::Seg,
    size: usize,
    used: u64,
}

/// Properties of an X server, for people.
#[derive(Clone, Debug)]
pub struct DisplayInfo {
    /// The vendor's name and the release number.
    pub vendor: String,
    pub release: u32,
    /// Width and height of the screen in pixels.
    pub size: (u16, u16),
    pub depth: u8,
    /// The version of the GLX extension; without it programs find no OpenGL for their windows.
    pub glx: Option<(u32, u32)>,
    /// Whether the X server attaches shared memory by file descriptor.
    pub shared_memory: bool,
}

impl XDisplay {
    /// Connects to `name`, or to the display that `DISPLAY` names.
    ///
    /// # Errors
    /// [`Error::NoDisplay`].
    pub fn connect(name: Option<&str>) -> Result<XDisplay, Error> {
        let said = || {
            name.map(str::to_owned)
                .or_else(|| std::env::var("DISPLAY").ok())
        };
        let (connection, screen) = x11rb::connect(name).map_err(|error| Error::NoDisplay {
            display: said().unwrap_or_else(|| "(DISPLAY is not set)".into()),
            why: error.to_string(),
        })?;
        Ok(XDisplay {
            connection,
            name: said().unwrap_or_default(),
            screen,
            shared: Mutex::default(),
        })
    }

    /// Asks the X server for its properties.
    ///
    /// # Errors
    /// [`Error::DisplayLost`].
    pub fn info(&self) -> Result<DisplayInfo, Error> {
        let setup = self.connection.setup();
        let screen = self.root();
        Ok(DisplayInfo {
            vendor: String::from_utf8_lossy(&setup.vendor).into_owned(),
            release: setup.release_number,
            size: (screen.width_in_pixels, screen.height_in_pixels),
            depth: screen.root_depth,
            glx: self.glx_version()?,
            shared_memory: self.takes_descriptors(&mut self.shared())?,
        })
    }

    fn glx_version(&self) -> Result<Option<(u32, u32)>, Error> {
        use glx::ConnectionExt as _;
        if self
            .connection
            .extension_information(glx::X11_EXTENSION_NAME)
            .map_err(lost)?
            .is_none()
        {
            return Ok(None);
        }
        match self
            .connection
            .glx_query_version(1, 4)
            .map_err(lost)?
            .reply()
        {
            Ok(reply) => Ok(Some((reply.major_version, reply.minor_version))),
            Err(ReplyError::X11Error(_)) => Ok(None),
            Err(ReplyError::ConnectionError(error)) => Err(lost(error)),
        }
    }

    pub(crate) fn new_id(&self) -> Result<u32, Error> {
        let id = self.connection.generate_id();
        id.map_err(|error| Error::DisplayLost(error.to_string()))
    }

    pub(crate) fn atom(&self, name: &[u8]) -> Result<u32, Error> {
        let asked = self.connection.intern_atom(false, name).map_err(lost)?;
        let answer = asked.reply();
        let answer = answer.map_err(|error| Error::DisplayLost(error.to_string()))?;
        Ok(answer.atom)
    }

    /// Sets the title and class of a window of ours, for window managers and people.
    pub(crate) fn set_title(&self, window: u32, title: &str) -> Result<(), Error> {
        let (text, utf8) = (AtomEnum::STRING.into(), self.atom(b"UTF8_STRING")?);
        let properties: [(u32, u32, &[u8]); 3] = [
            (AtomEnum::WM_NAME.into(), text, title.as_bytes()),
            (self.atom(b"_NET_WM_NAME")?, utf8, title.as_bytes()),
            (AtomEnum::WM_CLASS.into(), text, b"manganese\0Manganese\0"),
        ];
        for (name, kind, value) in properties {
            let replace = PropMode::REPLACE;
            let set = self
                .connection
                .change_property8(replace, window, name, kind, value);
            set.map_err(lost)?.ignore_error();
        }
        Ok(())
    }

    /// The screen that the display's name selects.
    pub(crate) fn root(&self) -> &Screen {
        &self.connection.setup().roots[self.screen]
    }

    /// The visual's red mask, and whether pixels have their most significant byte first.
    pub(crate) fn pixel_order(&self, visual: u32) -> (Option<u32>, bool) {
        const COLORED: [VisualClass; 2] = [VisualClass::TRUE_COLOR, VisualClass::DIRECT_COLOR];
        let setup: &Setup = self.connection.setup();
        let red = setup
            .roots
            .iter()
            .flat_map(|screen| &screen.allowed_depths)
            .flat_map(|depth| &depth.visuals)
            .find(|v| v.visual_id == visual && COLORED.contains(&v.class))
            .map(|v| v.red_mask);
        (red, setup.image_byte_order == ImageOrder::MSB_FIRST)
    }

    /// Attaches this memory to the X server, if it is not attached yet. The memory must hold
    /// `length` bytes from the segment's offset on.
    pub(crate) fn attach(&self, segment: &Segment<'_>, length: usize) -> Result<Attached, Error> {
        let fits = segment
            .offset
            .checked_add(length)
            .is_some_and(|end| end <= segment.size);
        if !fits || u32::try_from(segment.offset).is_err() {
            return Ok(Attached::No);
        }
        let mut shared = self.shared();
        shared.clock += 1;
        let now = shared.clock;
        if let Some(known) = shared.attached.get_mut(&segment.id) {
            if known.size == segment.size {
                known.used = now;
                return Ok(Attached::Yes(known.segment));
            }
        }
        if !self.takes_descriptors(&mut shared)? {
            return Ok(Attached::No);
        }
        self.detach(&mut shared, segment.id)?;
        if shared.attached.len() >= ATTACHED_MAX {
            let oldest = shared
                .attached
                .iter()
                .min_by_key(|(_, a)| a.used)
                .map(|(id, _)| *id);
            oldest.map_or(Ok(()), |id| self.detach(&mut shared, id))?;
        }
        let Ok(fd) = segment.fd.try_clone_to_owned() else {
            return Ok(Attached::No);
        };
        let name = self.new_id()?;
        let sent = self.connection.shm_attach_fd(name, fd, true);
        match sent.map(|cookie| cookie.check()) {
            Ok(Ok(())) => {
                let attachment = Attachment {
                    segment: name,
                    size: segment.size,
                    used: now,
                };
                shared.attached.insert(segment.id, attachment);
                Ok(Attached::Yes(name))
            }
            Ok(Err(ReplyError::X11Error(error))) => {
                tracing::debug!(
                    ?error,
                    "the X server does not take our memory; copying instead"
                );
                shared.works = Some(false);
                Ok(Attached::No)
            }
            // A connection that cannot carry file descriptors fails here, and is not broken by
            // that.
            Err(ConnectionError::FdPassingFailed) => {
                shared.works = Some(false);
                Ok(Attached::No)
            }
            Ok(Err(ReplyError::ConnectionError(error))) | Err(error) => Err(lost(error)),
        }
    }

    fn detach(&self, shared: &mut Shared, id: u64) -> Result<(), Error> {
        if let Some(old) = shared.attached.remove(&id) {
            self.connection
                .shm_detach(old.segment)
                .map_err(lost)?
                .ignore_error();
        }
        Ok(())
    }

    /// Whether the X server has MIT-SHM 1.2, which attaches by file descriptor. It may still refuse
    /// descriptors, for example over a forwarded connection.
    fn takes_descriptors(&self, shared: &mut Shared) -> Result<bool, Error> {
        if let Some(works) = shared.works {
            return Ok(works);
        }
        let present = self
            .connection
            .extension_information(shm::X11_EXTENSION_NAME);
        let works = match present.map_err(lost)? {
            None => false,
            Some(_) => match self.connection.shm_query_version().map_err(lost)?.reply() {
                Ok(version) => (version.major_version, version.minor_version) >= (1, 2),
                Err(ReplyError::X11Error(_)) => false,
                Err(ReplyError::ConnectionError(error)) => return Err(lost(error)),
            },
        };
        shared.works = Some(works);
        Ok(works)
    }

    /// Stops using shared memory, after the X server has failed to draw from it.
    pub(crate) fn give_up_shared_memory(&self) {
        self.shared().works = Some(false);
    }

    /// The error of a request for a window or a picture of our own.
    pub(crate) fn no_window(&self, error: ReplyError) -> Error {
        match error {
            ReplyError::ConnectionError(error) => lost(error),
            error => Error::NoWindow {
                display: self.name.clone(),
                why: error.to_string(),
            },
        }
    }

    /// Sends the requests that are still buffered.
    pub(crate) fn flush(&self) -> Result<(), Error> {
        self.connection.flush().map_err(lost)
    }

    /// Waits until the X server has executed all requests.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        let cookie = self.connection.get_input_focus().map_err(lost)?;
        cookie
            .reply()
            .map(drop)
            .map_err(|error| Error::DisplayLost(error.to_string()))
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for XDisplay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("XDisplay")
            .field("screen", &self.screen)
            .finish_non_exhaustive()
    }
}

pub(crate) fn lost(error: ConnectionError) -> Error {
    Error::DisplayLost(error.to_string())
}
