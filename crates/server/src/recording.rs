//! Recorded streams, executed by the driver of this process.

use mgn_fabric::file::Player;
use mgn_render::{perform, BinaryKey, Pictures, Renderer, Room};
use mgn_spu::{Chain, Locations, Nop, StageContext};
use mgn_wire::frames::Header;
use mgn_wire::hello::{Created, Hello, VERSION};
use mgn_wire::{ops, Answer, Commands, Decoder, Fault, Reply};
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::rc::Rc;

use crate::pictures::pixels;
use crate::ServerError;

/// Where the pictures of a recording go.
pub trait Viewer {
    /// Whether this frame's picture is wanted.
    fn wants(&self, frame: u64) -> bool;

    /// A picture: rows of 4-byte pixels as the header says.
    ///
    /// # Errors
    /// Why the recording is not to be played any further.
    fn show(&mut self, header: &Header, pixels: Vec<u8>) -> Result<(), String>;
}

/// The result of playing a recording.
#[derive(Debug, Clone, Copy)]
pub struct Played {
    pub frames: u64,
    pub messages: u64,
}

/// Plays the recording in `file` from beginning to end, through `chain`. If the chain ends in
/// `nop`, no driver is opened.
///
/// # Errors
/// The file is no recording, or one of another release; its commands are refused; there is no
/// driver; or the viewer stops the playback.
pub fn play(file: &Path, chain: &Chain, viewer: Box<dyn Viewer>) -> Result<Played, ServerError> {
    let recording = Recording::open(file, viewer)?;
    let last: Box<dyn Commands> = if chain.is_cut() {
        Box::<Nop>::default()
    } else {
        let frames = Frames(Rc::clone(&recording.view));
        let mut renderer = Renderer::new(Box::new(frames))?;
        renderer.accept_spirv();
        Box::new(renderer)
    };
    let mut stages = chain.build(&StageContext { session: 1 }, last)?;
    let played = recording.play(&mut *stages, |_, _, _, _| {})?;
    stages.end();
    Ok(played)
}

/// What to do with the session in the middle of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Middle {
    /// Continue.
    Skip,
    /// Take a snapshot, and continue with the same renderer.
    Take,
    /// Take a snapshot, and continue from it with another renderer.
    Succeed,
}

/// The result of [`play_across`].
#[derive(Debug, Clone)]
pub struct Crossed {
    pub played: Played,
    /// The message before which the snapshot was taken; none if no snapshot was taken.
    pub at: Option<u64>,
    /// Why the last attempt that failed to take a snapshot did so.
    pub why: Option<String>,
    /// The commands that were answered after the first `from` messages, with checksums of their
    /// answers.
    pub answers: Vec<(&'static str, u64)>,
}

/// Plays a recording with a snapshot in the middle. The snapshot is taken after the first `from`
/// messages, or as soon as possible after them.
///
/// # Errors
/// As `play`.
pub fn play_across(
    file: &Path,
    from: u64,
    middle: Middle,
    viewer: Box<dyn Viewer>,
) -> Result<Crossed, ServerError> {
    let recording = Recording::open(file, viewer)?;
    let key = BinaryKey::random();
    let mut relay = Relay {
        renderer: Some(a_tile(&recording.view, &key)?),
        view: Rc::clone(&recording.view),
        from,
        middle,
        messages: 0,
        at: None,
        why: None,
        key,
    };
    let mut answers = Vec::new();
    let played = recording.play(&mut relay, |message, context, op, reply| {
        if message > from {
            let mut hasher = DefaultHasher::new();
            (context, reply.bytes()).hash(&mut hasher);
            answers.push((mgn_wire::name(op), hasher.finish()));
        }
    })?;
    Ok(Crossed {
        played,
        at: relay.at,
        why: relay.why,
        answers,
    })
}

/// A recording to play, and the receiver of its pictures.
struct Recording<'a> {
    file: &'a Path,
    player: Player,
    view: Rc<RefCell<View>>,
}

impl<'a> Recording<'a> {
    fn open(file: &'a Path, viewer: Box<dyn Viewer>) -> Result<Recording<'a>, ServerError> {
        let player = Player::open(file)?;
        let hello: Option<Hello> = postcard::from_bytes(player.opening()).ok();
        if !hello.is_some_and(|h| h.version == VERSION && h.table_hash == ops::TABLE_HASH) {
            let why = "was recorded by another release; replay it with that one";
            return Err(refused(file, why.into()));
        }
        let view = View {
            viewer,
            frames: 0,
            failed: None,
        };
        Ok(Recording {
            file,
            player,
            view: Rc::new(RefCell::new(view)),
        })
    }

    /// Executes the whole recording with `to`. `on_answer` gets each answer, with the number of its
    /// message (from 1), its context, and the command that asked.
    fn play(
        mut self,
        to: &mut dyn Commands,
        mut on_answer: impl FnMut(u64, u32, u16, &Reply),
    ) -> Result<Played, ServerError> {
        let mut watcher = Watcher {
            next: to,
            view: Rc::clone(&self.view),
        };
        let mut chain = Locations::new(&mut watcher);
        let (mut decoder, mut reply) = (Decoder::default(), Reply::default());
        let mut messages = 0;
        let mut lacking = None;
        while let Some(message) = self.player.next_message()? {
            messages += 1;
            let answer = |_: &mut _, context, op, reply: &Reply| {
                if op == ops::MGN_CREATE_CONTEXT && lacking.is_none() {
                    lacking = why_not_created(reply);
                }
                on_answer(messages, context, op, reply);
                Ok(())
            };
            let done = perform(&mut decoder, &message, &mut chain, &mut reply, answer);
            if let Some(why) = self.view.borrow_mut().failed.take() {
                return Err(ServerError::Viewer(why));
            }
            done.map_err(|fault| match &lacking {
                // Another driver made the context when the program was recorded, so the recording
                // goes on to use it.
                Some(why) => refused(self.file, format!("needs what this driver lacks: {why}")),
                None => refused(
                    self.file,
                    format!("holds a command that is refused: {fault}"),
                ),
            })?;
        }
        let frames = self.view.borrow().frames;
        Ok(Played { frames, messages })
    }
}

/// Why the driver did not make a context, if `reply` says so.
fn why_not_created(reply: &Reply) -> Option<String> {
    let mut answer = Answer::new(reply.bytes().to_vec());
    match postcard::from_bytes(answer.next_array(1)) {
        Ok(Created::Failed(why)) => Some(why),
        _ => None,
    }
}

fn refused(file: &Path, why: String) -> ServerError {
    ServerError::Recording {
        file: file.to_owned(),
        why,
    }
}

/// A renderer that keeps the same state as the renderer of a tile.
fn a_tile(view: &Rc<RefCell<View>>, key: &BinaryKey) -> Result<Renderer, ServerError> {
    let mut renderer = Renderer::new(Box::new(Frames(Rc::clone(view))))?;
    renderer.be_tile(0);
    renderer.accept_spirv();
    renderer.seal_binaries(key.clone());
    Ok(renderer)
}

/// A renderer, which another one may replace in the middle.
struct Relay {
    renderer: Option<Renderer>,
    view: Rc<RefCell<View>>,
    from: u64,
    middle: Middle,
    messages: u64,
    at: Option<u64>,
    why: Option<String>,
    key: BinaryKey,
}

impl Relay {
    fn cross(&mut self) -> Result<(), Fault> {
        let mut messages = Vec::new();
        let taken = self.renderer.as_mut().map(|renderer| {
            renderer.snapshot(true, &mut |message| {
                messages.push(message.to_vec());
                Ok(())
            })
        });
        if let Some(Err(fault)) = taken {
            self.why = Some(fault.to_string());
            return Ok(());
        }
        self.at = Some(self.messages);
        if self.middle == Middle::Succeed {
            // A process has only one EGL display, which ends with its renderer.
            self.renderer = None;
            let mut next =
                a_tile(&self.view, &self.key).map_err(|e| Fault::driver(e.to_string()))?;
            next.restore(&messages)?;
            self.renderer = Some(next);
        }
        Ok(())
    }
}

impl Commands for Relay {
    fn next(&mut self) -> &mut dyn Commands {
        match &mut self.renderer {
            Some(renderer) => renderer,
            None => unreachable!("there is one but while it is replaced"),
        }
    }

    fn message(&mut self, context: u32) -> Result<(), Fault> {
        self.messages += 1;
        if self.middle != Middle::Skip && self.at.is_none() && self.messages > self.from {
            self.cross()?;
        }
        self.next().message(context)
    }
}

struct View {
    viewer: Box<dyn Viewer>,
    frames: u64,
    failed: Option<String>,
}

/// Requests the pictures that the viewer wants, and no others, whatever the recorded program
/// requested.
struct Watcher<'a> {
    next: &'a mut dyn Commands,
    view: Rc<RefCell<View>>,
}

impl Watcher<'_> {
    fn wanted(&self, frame: u32) -> u32 {
        self.view.borrow().viewer.wants(frame.into()).into()
    }
}

impl Commands for Watcher<'_> {
    fn next(&mut self) -> &mut dyn Commands {
        self.next
    }

    fn mgn_swap_buffers(&mut self, surface: u32, frame: u32, _: u32) -> Result<(), Fault> {
        self.view.borrow_mut().frames += 1;
        let want = self.wanted(frame);
        self.next.mgn_swap_buffers(surface, frame, want)
    }

    fn mgn_present_front(&mut self, surface: u32, frame: u32, _: u32) -> Result<(), Fault> {
        let want = self.wanted(frame);
        self.next.mgn_present_front(surface, frame, want)
    }
}

/// The renderer's way to the viewer.
struct Frames(Rc<RefCell<View>>);

impl Pictures for Frames {
    fn room(&mut self, _: u32, bytes: usize) -> Result<Option<Room>, Fault> {
        Ok(Some(Room::new(vec![0; bytes], 0)))
    }

    fn send(&mut self, _: u32, header: &Header, _: (u32, u32), room: Room) -> Result<(), Fault> {
        let pixels = pixels(room.into_memory())?;
        let mut view = self.0.borrow_mut();
        view.viewer.show(header, pixels).map_err(|why| {
            let fault = Fault::server(why.as_str());
            view.failed = Some(why);
            fault
        })
    }

    fn send_header(&mut self, _: &Header) -> Result<(), Fault> {
        Ok(())
    }
}
