//! `mgn replay`: a recorded stream, executed by the driver of this process.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use anyhow::Context;
use mgn_fabric::file::Player;
use mgn_present::{FileFormat, Picture, Saver, Target};
use mgn_render::{perform, Pictures, Renderer, Room};
use mgn_wire::frames::Header;
use mgn_wire::hello::{Hello, VERSION};
use mgn_wire::{ops, Commands, Decoder, Fault, Reply};

use crate::args::{ImageFormat, Replay};

pub fn replay(args: Replay) -> anyhow::Result<()> {
    let mut player = Player::open(&args.file)?;
    let hello: Hello = postcard::from_bytes(player.opening())
        .ok()
        .filter(|hello: &Hello| hello.version == VERSION && hello.table_hash == ops::TABLE_HASH)
        .with_context(|| {
            format!(
                "{} was recorded by another release; replay it with that one",
                args.file.display()
            )
        })?;
    tracing::debug!(?hello, "a recording");
    let format = match args.image_format {
        ImageFormat::Png => FileFormat::Png,
        ImageFormat::Jpeg => FileFormat::Jpeg,
    };
    let saver = args
        .save
        .map(|dir| Saver::new(&dir, format, args.every))
        .transpose()?;
    let sink = Rc::new(RefCell::new(Sink {
        saver,
        failed: None,
    }));
    let renderer = Renderer::new(Box::new(Frames(Rc::clone(&sink))))?;
    let mut stage = Watcher {
        renderer,
        sink: Rc::clone(&sink),
        frames: 0,
    };
    let (mut decoder, mut reply) = (Decoder::default(), Reply::default());
    let start = Instant::now();
    let mut messages = 0u64;
    while let Some(message) = player.next_message()? {
        messages += 1;
        let done = perform(
            &mut decoder,
            &message,
            &mut stage,
            &mut reply,
            |_, _, _, _| Ok(()),
        );
        if let Some(error) = sink.borrow_mut().failed.take() {
            return Err(error.into());
        }
        done.map_err(|fault| anyhow::anyhow!("message {messages} cannot be executed: {fault}"))
            .with_context(|| args.file.display().to_string())?;
    }
    let seconds = start.elapsed().as_secs_f64();
    crate::say(&format!(
        "{} frames, {messages} messages in {seconds:.2} s, {:.1} frames a second\n",
        stage.frames,
        stage.frames as f64 / seconds.max(1e-9)
    ))
}

struct Sink {
    saver: Option<Saver>,
    failed: Option<mgn_present::Error>,
}

/// Asks for the pictures that are to be saved, whatever the recorded program's own presenting asked
/// for, and for no others.
struct Watcher {
    renderer: Renderer,
    sink: Rc<RefCell<Sink>>,
    frames: u64,
}

impl Watcher {
    fn wanted(&self, frame: u32) -> u32 {
        self.sink
            .borrow()
            .saver
            .as_ref()
            .is_some_and(|s| s.wants(frame.into()))
            .into()
    }
}

impl Commands for Watcher {
    fn next(&mut self) -> &mut dyn Commands {
        &mut self.renderer
    }

    fn mgn_swap_buffers(&mut self, surface: u32, frame: u32, _: u32) -> Result<(), Fault> {
        self.frames += 1;
        let want = self.wanted(frame);
        self.renderer.mgn_swap_buffers(surface, frame, want)
    }

    fn mgn_present_front(&mut self, surface: u32, frame: u32, _: u32) -> Result<(), Fault> {
        let want = self.wanted(frame);
        self.renderer.mgn_present_front(surface, frame, want)
    }
}

/// The renderer's way to the files.
struct Frames(Rc<RefCell<Sink>>);

impl Pictures for Frames {
    fn room(&mut self, bytes: usize) -> Result<Room, Fault> {
        Ok(Room::Private(vec![0; bytes]))
    }

    fn send(&mut self, header: &Header, room: Room) -> Result<(), Fault> {
        let Room::Private(pixels) = room else {
            return Err(Fault::refused(
                "a picture came in memory that it was not given",
            ));
        };
        let mut sink = self.0.borrow_mut();
        let picture = Picture {
            width: header.width,
            height: header.height,
            stride: header.stride,
            pixels: &pixels,
            segment: None,
            surface: header.surface,
            frame: header.frame.into(),
        };
        if let Some(Err(error)) = sink.saver.as_mut().map(|saver| saver.show(&picture)) {
            let fault = Fault::refused(error.to_string());
            sink.failed = Some(error);
            return Err(fault);
        }
        Ok(())
    }

    fn done(&mut self, _: &Header) -> Result<(), Fault> {
        Ok(())
    }
}
