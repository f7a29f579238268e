//! Several renderers of one process that draw into one window, each for its own client.
//!
//! They work on one thread and take turns message by message. They share EGL's current context and
//! surfaces, the window, and the [`Peers`] that order their clients' streams.

use crate::egl;
use crate::peers::{Peers, Refusal};
use crate::renderer::Renderer;
use crate::surface::{SharedSurface, Surface};
use mgn_wire::{Fault, Reply};
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

/// The number of a renderer that is alone.
pub(crate) const SOLE: u32 = 0;

pub(crate) struct Seats {
    /// What is current in EGL: context, draw surface and read surface.
    pub bound: Cell<(egl::Context, egl::Surface, egl::Surface)>,
    /// How many surfaces were destroyed. EGL may reuse their handles.
    pub forgotten: Cell<u64>,
    /// The renderer that worked last.
    pub turn: Cell<u32>,
    pub peers: Rc<RefCell<Peers>>,
    /// Whether other renderers may join.
    is_shared: Cell<bool>,
    /// The window, while there is one.
    window: RefCell<Weak<RefCell<Surface>>>,
}

/// A surface of EGL, with the value of [`Seats::forgotten`] at some time. Notes about the surface
/// are valid while both are unchanged.
pub(crate) type Stamp = (egl::Surface, u64);

impl Seats {
    pub fn stamp(&self, surface: egl::Surface) -> Stamp {
        (surface, self.forgotten.get())
    }

    /// The seats of a renderer that is alone so far.
    pub fn sole() -> Seats {
        let mut peers = Peers::new(Some(1));
        peers.join(SOLE, "this program");
        Seats {
            bound: Cell::new((egl::NO_CONTEXT, egl::NO_SURFACE, egl::NO_SURFACE)),
            forgotten: Cell::new(0),
            turn: Cell::new(SOLE),
            peers: Rc::new(RefCell::new(peers)),
            is_shared: Cell::new(false),
            window: RefCell::default(),
        }
    }

    pub fn window(&self) -> Option<SharedSurface> {
        self.window.borrow().upgrade()
    }

    pub fn share(&self, window: &SharedSurface) {
        self.window.replace(Rc::downgrade(window));
    }
}

impl Renderer {
    /// From now on this is renderer 0 of several. The code that executes their messages checks the
    /// peers after each message: while a renderer waits, its messages must not be executed. The
    /// peers are empty at first; the caller must let them join.
    pub fn share_window(&mut self, clients: Option<u32>) -> Rc<RefCell<Peers>> {
        self.seats.is_shared.set(true);
        self.seats.peers.replace(Peers::new(clients));
        self.seats.peers.clone()
    }

    /// Whether other programs may draw into this renderer's window.
    pub(crate) fn is_shared(&self) -> bool {
        self.seats.is_shared.get()
    }

    pub(crate) fn handwritten_mgn_leave(&mut self) -> Result<(), Fault> {
        self.beat();
        self.seats.peers.borrow_mut().take_leave(self.seat);
        Ok(())
    }

    /// Makes the other programs of the window wait while this one compiles a display list. To be
    /// called whenever a list begins or ends.
    pub(crate) fn note_compiling(&self) {
        if !self.is_shared() {
            return;
        }
        let mut all = self.cx.iter().chain(self.contexts.values());
        let compiles = all.any(|cx| cx.compiling.is_some());
        let mut peers = self.seats.peers.borrow_mut();
        peers.set_compiling(self.seat, compiles);
    }

    pub(crate) fn handwritten_gl_barrier_create_cr(
        &mut self,
        name: u32,
        count: u32,
    ) -> Result<(), Fault> {
        self.order(|peers, _| peers.create_barrier(name, count))
    }

    pub(crate) fn handwritten_gl_barrier_destroy_cr(&mut self, name: u32) -> Result<(), Fault> {
        self.order(|peers, _| peers.destroy_barrier(name))
    }

    pub(crate) fn handwritten_gl_barrier_exec_cr(&mut self, name: u32) -> Result<(), Fault> {
        self.order(|peers, seat| peers.exec_barrier(seat, name))
    }

    pub(crate) fn handwritten_gl_semaphore_create_cr(
        &mut self,
        name: u32,
        initial: u32,
    ) -> Result<(), Fault> {
        self.order(|peers, _| peers.create_semaphore(name, initial))
    }

    pub(crate) fn handwritten_gl_semaphore_destroy_cr(&mut self, name: u32) -> Result<(), Fault> {
        self.order(|peers, _| peers.destroy_semaphore(name))
    }

    /// On a wall, the renderer of tile 0 decides on the order of the programs, so that it is the
    /// same on all renderers.
    pub(crate) fn handwritten_gl_semaphore_pcr(&mut self, name: u32) -> Result<(), Fault> {
        if !self.gives_tickets() {
            return self.needs_context();
        }
        let mut ticket = 0;
        let taken = self.order(|peers, seat| {
            ticket = peers.take(seat, name)?;
            Ok(())
        });
        self.cx()?.ticket = ticket;
        taken
    }

    pub(crate) fn handwritten_mgn_ticket(
        &mut self,
        ticket_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let ticket = self.cx()?.ticket;
        reply.array(&[ticket], ticket_count);
        Ok(())
    }

    pub(crate) fn handwritten_mgn_pass(&mut self, name: u32, ticket: u64) -> Result<(), Fault> {
        if self.gives_tickets() {
            return self.needs_context();
        }
        self.order(|peers, seat| peers.pass(seat, name, ticket))
    }

    fn gives_tickets(&self) -> bool {
        self.tile_number() == 0
    }

    pub(crate) fn handwritten_gl_semaphore_vcr(&mut self, name: u32) -> Result<(), Fault> {
        self.order(|peers, _| peers.give(name))
    }

    fn order(
        &mut self,
        command: impl FnOnce(&mut Peers, u32) -> Result<(), Refusal>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        // Between glBegin and glEnd, OpenGL refuses all commands that do not specify vertices.
        if self.is_in_primitive() {
            return Ok(());
        }
        let mut peers = self.seats.peers.borrow_mut();
        let done = command(&mut peers, self.seat);
        let waits = peers.waits(self.seat).filter(|_| !self.is_shared());
        drop(peers);
        match done {
            Err(Refusal::Error(code)) => self.set_error(code),
            Err(Refusal::Fails(why)) => return Err(Fault::Peers(why)),
            Err(Refusal::Waits) => {
                return Err(Fault::refused("a program that waits has gone on"));
            }
            Ok(()) => {}
        }
        match waits {
            // A program that is alone would wait forever.
            Some(wait) => Err(Fault::peers(format!(
                "it waits at {wait} for others, but shares no window with any"
            ))),
            None => Ok(()),
        }
    }
}
