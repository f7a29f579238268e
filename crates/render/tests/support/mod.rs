//! A client in miniature: it encodes commands and keeps what comes back.

#[allow(dead_code)]
pub mod fuzz;

use mgn_render::{Pictures, Renderer, Room};
use mgn_wire::frames::Header;
use mgn_wire::hello::{api, Color, Config, Created};
use mgn_wire::{Answer, Decoder, Encoder, Fault, Plain, Reply, CHUNK, MESSAGE_HEADER};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard};

/// The configuration of the first context and surface, and one that differs.
pub const CONFIG: u32 = Config::new(Color::Rgb8, 8, 24, 8, 0).id;
#[allow(dead_code)]
pub const OTHER_CONFIG: u32 = Config::new(Color::Rgb8, 8, 24, 0, 0).id;

#[allow(dead_code)]
pub struct Picture {
    pub header: Header,
    pub pixels: Vec<u8>,
}

#[derive(Clone, Default)]
struct Kept(Rc<RefCell<VecDeque<Picture>>>);

impl Pictures for Kept {
    fn room(&mut self, _: u32, bytes: usize) -> Result<Option<Room>, Fault> {
        Ok(Some(Room::new(vec![0; bytes], 0)))
    }

    fn send(&mut self, _: u32, header: &Header, _: (u32, u32), room: Room) -> Result<(), Fault> {
        let pixels = room.into_memory().downcast().unwrap();
        self.0.borrow_mut().push_back(Picture {
            header: *header,
            pixels: *pixels,
        });
        Ok(())
    }

    fn send_header(&mut self, header: &Header) -> Result<(), Fault> {
        self.0.borrow_mut().push_back(Picture {
            header: *header,
            pixels: Vec::new(),
        });
        Ok(())
    }
}

/// EGL's display is one a process; so is a renderer, which ends it with itself.
static ONE: Mutex<()> = Mutex::new(());

pub struct Session {
    pub renderer: Renderer,
    pub context: u32,
    decoder: Decoder,
    #[allow(dead_code)]
    pictures: Kept,
    answers: VecDeque<Vec<u8>>,
    _one: MutexGuard<'static, ()>,
}

/// The APIs of these that the driver has: some distributions build it without OpenGL ES 1.
#[allow(dead_code)]
pub fn offered(apis: &[u32]) -> Vec<u32> {
    let es1 = Session::new(api::COMPAT, 0).renderer.info().es1;
    let wanted = apis.iter().copied();
    wanted.filter(|a| *a != api::ES1 || es1 != (0, 0)).collect()
}

impl Session {
    /// A session with context 1 of an API, current with surface 1: a window of 64 x 48,
    /// single-buffered if `kind` is 2.
    pub fn new(api: u32, kind: u32) -> Session {
        let mut session = Session::empty();
        session.encode(|e| {
            e.mgn_create_context(
                1,
                api,
                if api == api::ES { 3 } else { 0 },
                0,
                0,
                CONFIG,
                0,
                1 << 20,
            );
            e.mgn_create_surface(1, kind, CONFIG, 64, 48);
        });
        let created: Created =
            postcard::from_bytes(&session.answer_array::<u8>()).expect("an answer");
        assert!(matches!(created, Created::Context(_)), "{created:?}");
        session.encode(|e| e.mgn_make_current(1, 1));
        session
    }

    /// A session in which nothing has been done.
    pub fn empty() -> Session {
        let one = ONE.lock().unwrap_or_else(|e| e.into_inner());
        let pictures = Kept::default();
        let renderer = Renderer::new(Box::new(pictures.clone())).expect("a driver");
        Session {
            renderer,
            context: 1,
            decoder: Decoder::default(),
            pictures,
            answers: VecDeque::new(),
            _one: one,
        }
    }

    pub fn encode(&mut self, commands: impl FnOnce(&mut Encoder)) {
        self.try_encode(commands)
            .expect("commands that are in order");
    }

    pub fn try_encode(&mut self, commands: impl FnOnce(&mut Encoder)) -> Result<(), Fault> {
        let message = message(self.context, commands);
        self.perform(&message)
    }

    pub fn perform(&mut self, message: &[u32]) -> Result<(), Fault> {
        let mut reply = Reply::default();
        let answers = &mut self.answers;
        // SAFETY: the message is there, aligned.
        unsafe {
            self.decoder.message(
                message.as_ptr().cast(),
                message.len() * 4,
                &mut self.renderer,
                &mut reply,
                |_, _, _, reply| {
                    answers.push_back(reply.bytes().to_vec());
                    Ok(())
                },
            )
        }
    }

    #[allow(dead_code)]
    pub fn picture(&mut self) -> Picture {
        self.pictures.0.borrow_mut().pop_front().expect("a picture")
    }

    #[allow(dead_code)]
    pub fn forget_answers(&mut self) {
        self.answers.clear();
        self.pictures.0.borrow_mut().clear();
    }

    pub fn answer(&mut self) -> Answer {
        Answer::new(self.answers.pop_front().expect("an answer"))
    }

    /// The first array of the next answer.
    pub fn answer_array<T: Plain>(&mut self) -> Vec<T> {
        array(&mut self.answer())
    }
}

pub fn array<T: Plain>(answer: &mut Answer) -> Vec<T> {
    let bytes = answer.next_array(size_of::<T>()).to_vec();
    let mut values = vec![T::default(); bytes.len() / size_of::<T>()];
    // SAFETY: plain values from as many bytes.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), values.as_mut_ptr().cast(), bytes.len())
    };
    values
}

/// A message of a context, as words.
pub fn message(context: u32, commands: impl FnOnce(&mut Encoder)) -> Vec<u32> {
    unsafe fn full(_: *mut Encoder, _: usize) -> *mut u8 {
        panic!("the test's commands do not fit a message")
    }
    let mut words = vec![0u32; CHUNK / 4];
    words[0] = context;
    let range = words.as_mut_ptr_range();
    // SAFETY: the vector is not used before all is written.
    let mut encoder = unsafe {
        let mut encoder = Encoder::new(full);
        let start = range.start.add(MESSAGE_HEADER / 4).cast();
        encoder.set_room(start, range.end.cast());
        encoder
    };
    commands(&mut encoder);
    let used = (encoder.cursor() as usize - range.start as usize) / 4;
    words.truncate(used);
    words
}

#[allow(dead_code)]
pub fn floats<const N: usize>(rows: &[[f32; N]]) -> Vec<u8> {
    rows.iter()
        .flatten()
        .flat_map(|f| f.to_le_bytes())
        .collect()
}
