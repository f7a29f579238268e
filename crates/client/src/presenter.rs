//! The thread that reads the frames connection and hands pictures to where they go.

use crate::log::line;
use crate::pixmap::PixmapTarget;
use crate::session::Session;
use crate::stats::Word;
use crate::surface::{Kind, Surface};
use mgn_fabric::{Message, Receiver, Segment};
use mgn_present::{encoding, FileFormat, Picture, Rows, Saver, Target, Window, XDisplay};
use mgn_wire::frames::{Encoding, Header, Kind as FrameKind, HEADER};
use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

/// Starts the thread. All signals are blocked in it, so that the program's handlers run on its own threads.
///
/// # Errors
/// One sentence, if pictures cannot be saved where they should be.
pub fn start(session: &'static Session, receiver: Receiver) -> Result<(), String> {
    let saver = match &session.options.save {
        None => None,
        Some(save) => {
            let format = FileFormat::from_str(&save.format).map_err(|e| e.to_string())?;
            Some(Saver::new(&save.dir, format, save.every).map_err(|e| e.to_string())?)
        }
    };
    let presenter = Presenter {
        session,
        saver,
        displays: HashMap::new(),
        targets: HashMap::new(),
        unpacked: Vec::new(),
    };
    let signals = Signals::block_all();
    let started = std::thread::Builder::new()
        .name("mgn-presenter".into())
        .spawn(move || presenter.run(receiver));
    drop(signals);
    started
        .map(drop)
        .map_err(|e| format!("cannot start the thread that shows pictures: {e}"))
}

struct Presenter {
    session: &'static Session,
    saver: Option<Saver>,
    displays: HashMap<String, Arc<XDisplay>>,
    /// By surface.
    targets: HashMap<u32, Box<dyn Target>>,
    unpacked: Vec<u8>,
}

impl Presenter {
    fn run(mut self, mut receiver: Receiver) {
        loop {
            let message = match receiver.recv(None) {
                Ok(Some(message)) => message,
                Ok(None) => continue,
                Err(error) => return self.session.lose(error),
            };
            let Some(header) = header(&message) else {
                return self.session.lose("it sent a frame that makes no sense");
            };
            if header.kind == FrameKind::Ended {
                let mut text = Vec::new();
                message.copy_range(HEADER, header.payload as usize, &mut text);
                return self.session.lose(String::from_utf8_lossy(&text));
            }
            if header.kind == FrameKind::Picture {
                self.show(&header, message);
            }
            self.session.frames.finish(header.surface, header.frame);
        }
    }

    fn show(&mut self, header: &Header, message: Message) {
        let Some(surface) = self.session.frames.surface(header.surface) else {
            self.targets.remove(&header.surface);
            return;
        };
        let packed = match header.encoding {
            Encoding::Raw => None,
            Encoding::Lz4 => match self.unpack(header, &message) {
                Ok(pixels) => Some(pixels),
                Err(error) => return line(error),
            },
        };
        let pixels = Pixels { message };
        let picture = Picture {
            x: header.x,
            y: header.y,
            width: header.width,
            height: header.height,
            stride: header.stride,
            pixels: match &packed {
                Some(pixels) => pixels,
                None => &pixels,
            },
            segment: match &packed {
                Some(_) => None,
                None => pixels.segment(),
            },
            surface: header.surface,
            frame: header.frame.into(),
        };
        let is_whole = (header.width, header.height) == surface.size();
        if let Some(saver) = self
            .saver
            .as_mut()
            .filter(|s| is_whole && s.wants(picture.frame))
        {
            if let Err(error) = saver.show(&picture) {
                line(error);
            }
        }
        if self.session.options.present && surface.is_visible() {
            if let Some(target) = self.target(&surface) {
                if let Err(error) = target.show(&picture) {
                    line(error);
                }
            }
        }
        self.session.stats.add(Word::Shown, 1);
        if let Some(pixels) = packed {
            self.unpacked = pixels;
        }
    }

    fn unpack(&mut self, header: &Header, message: &Message) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        message.copy_range(HEADER, header.payload as usize, &mut bytes);
        let mut pixels = std::mem::take(&mut self.unpacked);
        let length = header.stride as usize * header.height as usize;
        encoding::unpack(Encoding::Lz4, &bytes, length, &mut pixels).map_err(|e| e.to_string())?;
        Ok(pixels)
    }

    /// Where the pictures of `surface` go. `None` once it is clear that they cannot.
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

/// The header, if the message is as long as it says.
fn header(message: &Message) -> Option<Header> {
    if message.len() < HEADER {
        return None;
    }
    let mut bytes = [0; HEADER];
    // SAFETY: the message has HEADER bytes at least; they are copied before they are looked at.
    unsafe { std::ptr::copy_nonoverlapping(message.as_ptr(), bytes.as_mut_ptr(), HEADER) };
    Header::decode(&bytes).filter(|h| h.payload as usize <= message.len() - HEADER)
}

/// A picture that lies in a message, behind the header.
struct Pixels {
    message: Message,
}

impl Pixels {
    fn segment(&self) -> Option<Segment<'_>> {
        let segment = self.message.segment()?;
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
        self.message.len() - HEADER
    }

    fn read(&self, offset: usize, into: &mut [u8]) {
        assert!(offset <= self.len() && into.len() <= self.len() - offset);
        // SAFETY: checked to be inside the message, whose memory stays while `self` lives; a server that writes meanwhile changes only what is copied.
        unsafe {
            let from = self.message.as_ptr().add(HEADER + offset);
            std::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len());
        }
    }
}

/// All signals blocked in the calling thread until dropped.
struct Signals {
    before: libc::sigset_t,
}

impl Signals {
    fn block_all() -> Signals {
        // SAFETY: both sets are plain memory that the calls fill in.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
            Signals { before }
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: the set was filled in by block_all.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut()) };
    }
}
