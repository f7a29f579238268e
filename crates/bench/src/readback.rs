//! A renderer that reads its pictures back, as the servers of Manganese do for compositing.

use anyhow::{bail, Context, Result};
use mgn_render::{Pictures, Renderer, Room};
use mgn_wire::frames::{want, Header};
use mgn_wire::gl::{GL_COLOR_BUFFER_BIT, GL_DEPTH_BUFFER_BIT};
use mgn_wire::hello::{api, surface, Color, Config, Created};
use mgn_wire::{Answer, Commands, Fault, Reply};

use crate::composite::per_call;

/// The visual of the surface: 8 bits for each of red, green, blue and alpha, and 24 bits of depth.
const CONFIG: u32 = Config::new(Color::Rgb8, 8, 24, 8, 0).id;

/// The numbers of the only context and the only surface.
const CONTEXT: u32 = 1;
const SURFACE: u32 = 1;

/// The largest description of a context in bytes.
const DESCRIPTION_MAX: u32 = 1 << 20;

/// The process that reads pictures back.
#[derive(Debug, clap::Args)]
pub struct Readback {
    width: u32,
    height: u32,
    seconds: f64,
    /// Reads the depths as well.
    #[arg(long)]
    depth: bool,
}

/// Memory for one picture, which is reused for the next picture.
struct Reused(Option<Vec<u8>>);

impl Pictures for Reused {
    fn room(&mut self, _: u32, bytes: usize) -> Result<Option<Room>, Fault> {
        let mut memory = self.0.take().unwrap_or_default();
        memory.resize(bytes, 0);
        Ok(Some(Room::new(memory, 0)))
    }

    fn send(&mut self, _: u32, _: &Header, _: (u32, u32), room: Room) -> Result<(), Fault> {
        self.0 = room.into_memory().downcast().ok().map(|memory| *memory);
        Ok(())
    }

    fn send_header(&mut self, _: &Header) -> Result<(), Fault> {
        Ok(())
    }
}

impl Readback {
    /// Prints the pictures per second. Nothing is drawn between them.
    pub fn run(&self) -> Result<()> {
        let mut renderer = Renderer::new(Box::new(Reused(None)))?;
        let mut reply = Reply::default();
        renderer.mgn_create_context(
            CONTEXT,
            api::COMPAT,
            0,
            0,
            0,
            CONFIG,
            0,
            DESCRIPTION_MAX,
            &mut reply,
        )?;
        let mut answer = Answer::new(reply.bytes().to_vec());
        let created = postcard::from_bytes(answer.next_array(1)).context("the answer")?;
        if !matches!(created, Created::Context(_)) {
            bail!("the driver creates no context: {created:?}");
        }
        renderer.mgn_create_surface(SURFACE, surface::WINDOW, CONFIG, self.width, self.height)?;
        renderer.message(CONTEXT)?;
        renderer.mgn_make_current(SURFACE, SURFACE)?;
        renderer.gl_clear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT)?;
        let depth = if self.depth { want::DEPTH } else { 0 };
        let mut frames = 0;
        let each = per_call(self.seconds, || {
            frames += 1;
            Ok(renderer.mgn_swap_buffers(SURFACE, frames, want::COMPOSITE | depth)?)
        })?;
        println!("{}", 1.0 / each);
        Ok(())
    }
}
