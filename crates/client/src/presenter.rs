//! The threads that read frames connections, one a renderer, and hand pictures to where they go.
//!
//! On a wall each renderer sends its part of a frame. The parts are shown together when the last has come, so that a frame is never seen in pieces
//! (swap barrier).

use crate::log::line;
use crate::pixmap::PixmapTarget;
use crate::session::Session;
use crate::signals::Signals;
use crate::stats::Word;
use crate::surface::{Kind, Surface};
use mgn_fabric::{Message, Receiver, Segment};
use mgn_present::{encoding, FileFormat, Picture, Rows, Saver, Target, Window, XDisplay};
use mgn_wall::Rect;
use mgn_wire::frames::{Encoding, Header, Kind as FrameKind, HEADER};
use std::collections::HashMap;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

/// Starts the threads. All signals are blocked in them, so that the program's handlers run on its own threads.
///
/// # Errors
/// One sentence, if pictures cannot be saved where they should be.
pub fn start(session: &'static Session, receivers: Vec<Receiver>) -> Result<(), String> {
    let saver = match &session.options.save {
        None => None,
        Some(save) => {
            let format = FileFormat::from_str(&save.format).map_err(|e| e.to_string())?;
            Some(Saver::new(&save.dir, format, save.every).map_err(|e| e.to_string())?)
        }
    };
    let presenter = Arc::new(Mutex::new(Presenter {
        session,
        renderers: receivers.len(),
        saver,
        displays: HashMap::new(),
        targets: HashMap::new(),
        parts: HashMap::new(),
        spare: Vec::new(),
    }));
    let _signals = Signals::block_all();
    for receiver in receivers {
        let presenter = presenter.clone();
        std::thread::Builder::new()
            .name("mgn-presenter".into())
            .spawn(move || run(session, receiver, &presenter))
            .map_err(|e| format!("cannot start the thread that shows pictures: {e}"))?;
    }
    Ok(())
}

/// Reads what one renderer sends.
fn run(session: &Session, mut receiver: Receiver, presenter: &Mutex<Presenter>) {
    loop {
        let message = match receiver.recv(None) {
            Ok(Some(message)) => message,
            Ok(None) => continue,
            Err(error) => return session.lose(error),
        };
        let Some(header) = header(&message) else {
            return session.lose("it sent a frame that makes no sense");
        };
        if header.kind == FrameKind::Ended {
            let mut text = Vec::new();
            message.copy_range(HEADER, header.payload as usize, &mut text);
            return session.lose(String::from_utf8_lossy(&text));
        }
        let mut presenter = presenter.lock().unwrap_or_else(PoisonError::into_inner);
        presenter.take(header, message);
    }
}

/// No frame has more.
const PIXELS_MAX: u64 = 1 << 28;

struct Presenter {
    session: &'static Session,
    renderers: usize,
    saver: Option<Saver>,
    displays: HashMap<String, Arc<XDisplay>>,
    /// By surface.
    targets: HashMap<u32, Box<dyn Target>>,
    /// What has come of frames that are not complete, by surface and frame.
    parts: HashMap<(u32, u32), Vec<(Header, Message)>>,
    /// Memory for pictures that are unpacked or put together.
    spare: Vec<Vec<u8>>,
}

impl Presenter {
    /// Files what a renderer has sent of a frame, and shows the frame when it is complete.
    fn take(&mut self, header: Header, message: Message) {
        let mut parts = vec![(header, message)];
        if self.renderers > 1 {
            let frame = (header.surface, header.frame);
            let so_far = self.parts.entry(frame).or_default();
            so_far.append(&mut parts);
            if so_far.len() < self.renderers {
                return;
            }
            parts = self.parts.remove(&frame).unwrap_or_default();
        }
        parts.retain(|(header, _)| header.kind == FrameKind::Picture);
        if !parts.is_empty() {
            self.show(parts);
        }
        self.session.frames.finish(header.surface, header.frame);
    }

    fn show(&mut self, parts: Vec<(Header, Message)>) {
        let (id, frame) = (parts[0].0.surface, parts[0].0.frame);
        let Some(surface) = self.session.frames.surface(id) else {
            self.targets.remove(&id);
            return;
        };
        let (header, pixels) = match self.whole(parts) {
            Ok(whole) => whole,
            Err(error) => return line(error),
        };
        let picture = Picture {
            x: header.x,
            y: header.y,
            width: header.width,
            height: header.height,
            stride: header.stride,
            pixels: &pixels,
            // Their numbers are those of one connection.
            segment: pixels.segment().filter(|_| self.renderers == 1),
            surface: header.surface,
            frame: header.frame.into(),
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
        if self.session.options.present && surface.is_visible() {
            if let Some(target) = self.target(&surface) {
                if let Err(error) = target.show(&picture) {
                    line(error);
                }
            }
        }
        self.session.stats.add(Word::Shown, 1);
        if let Pixels::Private(pixels) = pixels {
            self.spare.push(pixels);
        }
    }

    /// A frame in one piece.
    fn whole(&mut self, mut parts: Vec<(Header, Message)>) -> Result<(Header, Pixels), String> {
        if parts.len() == 1 {
            let (header, message) = parts.remove(0);
            return Ok((header, self.unpack(&header, message)?));
        }
        let rect = |h: &Header| Rect::new(h.x, h.y, h.width, h.height);
        let all = parts
            .iter()
            .fold(Rect::default(), |all, (header, _)| all.hull(&rect(header)));
        if all.area() > PIXELS_MAX {
            return Err("the parts of a frame do not fit together".into());
        }
        let stride = all.width as usize * 4;
        let mut canvas = self.spare.pop().unwrap_or_default();
        canvas.resize(stride * all.height as usize, 0);
        let whole = Header {
            x: all.x,
            y: all.y,
            width: all.width,
            height: all.height,
            stride: stride as u32,
            ..parts[0].0
        };
        for (header, message) in parts {
            let pixels = self.unpack(&header, message)?;
            let bytes = header.width as usize * 4;
            let at = (header.y - all.y) as usize * stride + (header.x - all.x) as usize * 4;
            for row in 0..header.height as usize {
                let to = at + row * stride;
                pixels.read(row * header.stride as usize, &mut canvas[to..to + bytes]);
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
        let length = header.stride as usize * header.height as usize;
        encoding::unpack(header.encoding, &bytes, length, &mut pixels)
            .map_err(|e| e.to_string())?;
        Ok(Pixels::Private(pixels))
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

/// Pixels where they came, or in memory of our own.
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
            // SAFETY: checked to be inside the message, whose memory stays while `self` lives; a server that writes meanwhile changes only what is
            // copied.
            Pixels::Message(message) => unsafe {
                let from = message.as_ptr().add(HEADER + offset);
                std::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len());
            },
            Pixels::Private(pixels) => into.copy_from_slice(&pixels[offset..][..into.len()]),
        }
    }
}
