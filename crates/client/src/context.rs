//! A context: writes commands and sends them.

use crate::config::Format;
use crate::debug_thread::DebugChannel;
use crate::link::frames::IN_FLIGHT;
use crate::link::replies::Answered;
use crate::link::session::{Session, ROOM_BYTES};
use crate::link::surface::{Kind, Surface};
use crate::link::tiles;
use crate::nowhere::nowhere;
use crate::shadow::buffers::persistent::is_wait;
use crate::shadow::GlState;
use crate::x11::xlib::{xlib, Display};
use mgn_fabric::Reservation;
use mgn_wire::{encoder::put, ops, sift, Answer, Encoder, MESSAGE_HEADER, RECORD_MAX};
use std::ptr::null_mut;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// An OpenGL context. The encoder comes first: entry points cast the thread's word to a pointer to
/// it.
#[repr(C)]
pub struct Context {
    pub enc: Encoder,
    /// The real end of the room. The encoder's own end is null while immediate mode writes a run
    /// into the room.
    room_end: *mut u8,
    /// The start of the message that is being written; null without room.
    room_start: *mut u8,
    pub gl: GlState,
    pub id: u32,
    /// None for a context whose commands go nowhere.
    pub session: Option<&'static Session>,
    room: Option<Reservation>,
    /// The room of a context without a session, and of a context that gets no memory from the
    /// transport.
    scratch: Vec<u8>,
    /// The draw surface, as the server was told.
    pub draw: Option<Arc<Surface>>,
    pub read: Option<Arc<Surface>>,
    pub request: Request,
    /// The address of the Xlib display with which the program made the context current; 0 if there
    /// is none.
    display: usize,
    /// The frame in which the X server was last asked for the window's size.
    asked_in_frame: Option<u32>,
    /// Whether the next command is the first of a frame: see `begin_frame`.
    begins_frame: bool,
    /// The number of the last message sent.
    sent: u32,
    /// Whether the context has queries that count whole surfaces.
    pub counts_whole: bool,
    /// The channel to the debug thread, once that may tell messages of this context.
    requests: u64,
    /// The channel to the debug thread, if that may tell messages of this context.
    pub debug_channel: Option<Arc<DebugChannel>>,
}

/// The number of contexts that may hold memory of the transport, even if only because their thread
/// has stopped in the middle of something. Other contexts write to memory of their own, which is
/// copied. If each context held a chunk, none would be left soon.
const ROOMS_MAX: usize = 8;

/// The properties of a context that a program requests.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// `hello::api`.
    pub api: u32,
    pub major: u32,
    pub minor: u32,
    /// Bits of the ARB_create_context flags: 1 debug, 2 forward compatible, 4 robust. Also bits of
    /// [`flag`].
    pub flags: u32,
    /// `None` for contexts without a config.
    pub format: Option<Format>,
    /// `GLX_FBCONFIG_ID` or `EGL_CONFIG_ID`.
    pub config_id: u32,
    pub screen: i32,
    /// GLX's visual, 0 for none.
    pub visual: u32,
    /// The id of the context to share with, 0 for none.
    pub shared_with: u32,
}

/// Bits of `Request::flags` and of `mgnCreateContext` that have no counterpart in GLX and EGL.
pub mod flag {
    /// The context is not flushed when it stops being current.
    pub const NO_FLUSH: u32 = 0x100;
    /// The context raises no errors except GL_OUT_OF_MEMORY.
    pub const NO_ERROR: u32 = 0x200;
    /// The context survives the loss of its server, and reports it.
    pub const LOSES: u32 = 0x400;
}

impl Request {
    pub fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }
}

/// Why a window-system call about contexts fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There is no session; the user has been told why.
    NoSession,
    /// The server cannot create contexts of the API.
    NoApi,
    /// The server could not create the context.
    Server(String),
    /// No such context, or it is being destroyed.
    BadContext,
    /// The context is current in another thread.
    Access,
}

impl Context {
    /// Sends the written commands. The server executes none of them before. Nothing can be sent
    /// between glBegin and glEnd.
    pub fn flush(&mut self) {
        if !self.gl.immediate.hides_room() {
            self.send();
        }
    }

    /// Ends a primitive that is still open when the program calls the window system. OpenGL would
    /// leave everything undefined then.
    pub fn leave_begin(&mut self) {
        if self.gl.in_begin() {
            self.end();
        }
    }

    /// Sends the written commands, and waits for the answer of the last one, `op`. The answer reads
    /// as zeros if no server answers.
    pub fn answer(&mut self, op: u16) -> Answer {
        let debug_channel = self.debug_channel();
        let turn = debug_channel
            .as_ref()
            .map(|debug_channel| debug_channel.asking());
        let Some(session) = self.ask() else {
            return Answer::default();
        };
        let answered = session.answer(self.id, op, self.sent);
        drop(turn);
        self.handle_answer(session, op, &answered);
        Answer::new(answered.bytes)
    }

    /// The same for each renderer of a wall that has its own answer, in the order of their tiles.
    /// None for lost renderers.
    pub fn answers(&mut self, op: u16) -> Vec<Option<Answer>> {
        let debug_channel = self.debug_channel();
        let turn = debug_channel
            .as_ref()
            .map(|debug_channel| debug_channel.asking());
        let Some(session) = self.ask() else {
            return Vec::new();
        };
        let answers = session.answers(self.id, op, self.sent);
        drop(turn);
        // Errors are the same at all renderers.
        if let Some(any) = answers.iter().flatten().next() {
            self.handle_answer(session, op, any);
        }
        let answer = |answered: Option<Answered>| Some(Answer::new(answered?.bytes));
        answers.into_iter().map(answer).collect()
    }

    /// Sends the written commands. None if no server will answer.
    fn ask(&mut self) -> Option<&'static Session> {
        if self.gl.immediate.hides_room() {
            // The command is not allowed between glBegin and glEnd, so it was not sent.
            return None;
        }
        self.flush();
        if self.session.is_none() {
            self.enc.doubt = 0;
        }
        self.session
    }

    /// Handles the effects of an answer besides its values.
    fn handle_answer(&mut self, session: &Session, op: u16, answered: &Answered) {
        if op == ops::MGN_GET_ERROR {
            // This answer includes the error, and the server has reset it.
            self.enc.doubt = 0;
        } else {
            self.error_reported(answered.error);
        }
        if answered.told && op != ops::MGN_DEBUG_MESSAGES {
            self.deliver_messages();
        }
        if let (ops::MGN_FINISH, Some(surface)) = (op, &self.draw) {
            // A swapped frame is finished when it is visible in the window.
            session.frames.wait(surface, 0);
        }
        if self.gl.shared.has_persistent() && is_wait(op, &answered.bytes) {
            self.fetch_persistent();
        }
    }

    /// Waits until all of the context's commands are finished, and shown if they draw to something
    /// visible.
    pub fn finish(&mut self) {
        // A primitive in an open list continues after glFinish.
        if !self.gl.lists.is_open() {
            self.leave_begin();
        }
        self.present_front();
        self.enc.mgn_finish();
        self.answer(ops::MGN_FINISH);
    }

    pub fn draws_to(&self, surface: &Arc<Surface>) -> bool {
        self.draw.as_ref().is_some_and(|s| Arc::ptr_eq(s, surface))
    }

    /// Shows the drawing without a swap: in a single-buffered window, a pixmap, or a front buffer.
    /// Called at glFlush and glFinish.
    pub fn present_front(&mut self) {
        let Some(surface) = self.draw.clone() else {
            return;
        };
        if matches!(surface.kind, Kind::Pbuffer)
            || (surface.format.double && !self.gl.state.draws_front())
        {
            return;
        }
        let Some(session) = self.session else { return };
        let (frame, want) = session.next_frame(&surface);
        self.enc.mgn_present_front(surface.id, frame, want);
        self.flush();
        // X may read a pixmap next.
        let allowed = match surface.kind {
            Kind::Pixmap { .. } => 0,
            _ => IN_FLIGHT,
        };
        session.frames.wait(&surface, allowed);
        self.follow_window();
    }

    /// Sets the draw and read surfaces.
    pub fn bind(&mut self, draw: Option<Arc<Surface>>, read: Option<Arc<Surface>>) {
        let same = |a: &Option<Arc<Surface>>, b: &Option<Arc<Surface>>| match (a, b) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        if !same(&self.draw, &draw) || !same(&self.read, &read) {
            let id = |s: &Option<Arc<Surface>>| s.as_ref().map_or(0, |s| s.id);
            self.enc.mgn_make_current(id(&draw), id(&read));
            // The old surfaces are dropped after the command that releases them has been written.
            let old = (
                std::mem::replace(&mut self.draw, draw),
                std::mem::replace(&mut self.read, read),
            );
            self.send();
            drop(old);
            if let Some(surface) = &self.draw {
                let of = self.request.format;
                self.gl.drawn_to(surface.format, surface.size(), of);
            }
            self.follow_wall();
        }
        self.follow_window();
    }

    /// Resizes the framebuffer to the size of its window. Called after each swap and at glViewport;
    /// costs no round trip.
    pub fn follow_window(&mut self) {
        let Some(surface) = self.draw.as_ref().filter(|_| !self.gl.in_begin()) else {
            return;
        };
        resize(&mut self.enc, surface);
    }

    /// Marks that the next command is the first of a frame. That command finds no room, so it goes
    /// to `refill`, which calls `begin_frame`.
    pub fn end_frame(&mut self) {
        self.follow_counts();
        if !self.gl.immediate.hides_room() {
            self.begins_frame = true;
            let cursor = self.enc.cursor();
            // SAFETY: a room without a byte.
            unsafe { self.enc.release(cursor) };
        }
    }

    /// Resizes the framebuffer to the size of its window before anything is drawn to it. If the
    /// program has sent X requests since the last check, one of them may have resized the window,
    /// so the X server is asked.
    fn begin_frame(&mut self) {
        self.begins_frame = false;
        // SAFETY: the end of the room that it had before, or null without room.
        unsafe { self.enc.release(self.room_end) };
        let Some(surface) = self.draw.clone() else {
            return;
        };
        if let Some(xlib) = xlib().filter(|_| self.display != 0 && surface.is_window()) {
            let display = self.display();
            // SAFETY: the context is current, so the display with which it was made that is open.
            unsafe {
                if (xlib.next_request)(display) != self.requests {
                    (xlib.sync)(display, 0);
                    surface.ask_window();
                    self.requests = (xlib.next_request)(display);
                }
            }
        }
        resize(&mut self.enc, &surface);
    }

    /// The program sets a viewport of this size. If the framebuffer has another size, the program
    /// may know of a new size that has not been reported to us yet. Then the X server is asked, at
    /// most once a frame, because that takes a round trip.
    pub fn follow_viewport(&mut self, size: (u32, u32)) {
        self.follow_window();
        let Some(surface) = &self.draw else { return };
        let frame = surface.handed_over.load(Ordering::Relaxed);
        if surface.size() != size && self.asked_in_frame != Some(frame) {
            self.asked_in_frame = Some(frame);
            surface.ask_window();
            self.follow_window();
        }
    }

    /// The Xlib display with which the program made the context current; null if there is none.
    pub fn display(&self) -> *mut Display {
        self.display as *mut Display
    }

    pub fn set_display(&mut self, display: *mut Display) {
        self.display = display as usize;
    }

    /// Flushes a context that stops being current, as GLX and EGL require.
    pub fn leave(&mut self) {
        self.leave_begin();
        self.send();
        self.give_room_back();
    }

    /// Releases the server's context.
    pub fn destroy(mut self: Box<Self>) {
        self.hang_up();
        self.send();
        self.give_room_back();
        if let Some(session) = self.session {
            self.count_whole(session, false);
            session.control(|e| e.mgn_destroy_context(self.id));
        }
    }

    pub fn new(
        session: Option<&'static Session>,
        id: u32,
        request: Request,
        gl: GlState,
    ) -> Box<Context> {
        let mut context = Box::new(Context {
            // SAFETY: it stays in its context, for which `refill` finds room.
            enc: unsafe { Encoder::new(refill) },
            room_end: null_mut(),
            room_start: null_mut(),
            gl,
            id,
            session,
            room: None,
            scratch: Vec::new(),
            draw: None,
            read: None,
            request,
            display: 0,
            asked_in_frame: None,
            begins_frame: false,
            sent: 0,
            counts_whole: false,
            requests: 0,
            debug_channel: None,
        });
        context.follow_debug();
        context
    }

    /// Commits the records written so far as one message.
    fn send(&mut self) {
        self.commit(false);
        self.publish_changes();
    }

    fn commit(&mut self, follows: bool) {
        self.gl.immediate.sent();
        let used = self.enc.cursor() as usize - self.room_start as usize;
        if self.room_start.is_null() || used <= MESSAGE_HEADER {
            return;
        }
        self.follow_compiled();
        let group = self
            .gl
            .shared
            .has_persistent()
            .then(|| self.gl.shared.clone());
        let _turn = (group.as_ref().zip(self.session))
            .map(|(group, session)| group.send_persistent(session, self.id));
        match (self.session, &mut self.room) {
            (Some(session), Some(room)) => {
                self.sent = session.commit(room, used, follows);
                if !session.is_lost() && room.capacity() >= ROOM_BYTES {
                    let (start, capacity) =
                        (room.ptr(), room.capacity().min(session.message_max()));
                    return self.write_at(start, capacity);
                }
            }
            (Some(session), None) => self.sent = session.commit_copy(&self.scratch[..used]),
            (None, _) => {}
        }
        self.give_room_back();
    }

    /// Marks the current message as one with runs that know their tiles.
    pub fn message_is_sorted(&mut self) {
        // SAFETY: a message's header lies there.
        unsafe { put(self.room_start, 4, sift::SORTED) };
    }

    /// Begins a message at `start`.
    fn write_at(&mut self, start: *mut u8, capacity: usize) {
        self.room_start = start;
        self.room_end = start.wrapping_add(capacity & !3);
        // SAFETY: a reservation, or our scratch, of `capacity` bytes, which is more than a header.
        unsafe {
            start.cast::<u64>().write_unaligned(u64::from(self.id));
            let first = start.add(MESSAGE_HEADER);
            self.enc.set_room(first, self.room_end);
        }
        self.gl.lists.begin_message(self.enc.cursor());
    }

    /// Returns the memory to the transport. The next command finds new room.
    fn give_room_back(&mut self) {
        self.drop_room();
        self.room_start = null_mut();
        self.room_end = null_mut();
        // SAFETY: no room.
        unsafe { self.enc.set_room(null_mut(), null_mut()) };
        self.gl.lists.begin_message(null_mut());
    }

    fn drop_room(&mut self) {
        if let (Some(_), Some(session)) = (self.room.take(), self.session) {
            session.rooms.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Finds room for a record of `n` bytes, in a new message.
    fn find_room(&mut self, n: usize) {
        self.commit(true);
        self.publish_changes();
        if (self.room_end as usize).saturating_sub(self.enc.cursor() as usize) >= n {
            return;
        }
        // The rest of the old chunk goes back before a new one is requested.
        self.drop_room();
        if let Some(session) = self.session {
            if session.rooms.fetch_add(1, Ordering::Relaxed) < ROOMS_MAX {
                if let Some(room) = session.reserve(n) {
                    let capacity = room.capacity().min(session.message_max());
                    self.write_at(room.ptr(), capacity);
                    self.room = Some(room);
                    return;
                }
            }
            session.rooms.fetch_sub(1, Ordering::Relaxed);
        }
        self.scratch.resize(MESSAGE_HEADER + RECORD_MAX, 0);
        let (start, capacity) = (self.scratch.as_mut_ptr(), self.scratch.len());
        self.write_at(start, capacity);
    }
}

/// Tells the server the new size of a window.
fn resize(enc: &mut Encoder, surface: &Surface) {
    if let Some((width, height)) = surface.resized() {
        // SAFETY: a context's own encoder.
        unsafe {
            enc.mgn_resize_surface(surface.id, width, height);
            if let Some(areas) = surface.areas() {
                tiles::encode_areas(enc, surface.id, &areas, height);
            }
        }
    }
}

/// The encoder's hook: see `Encoder::refill`.
pub unsafe fn refill(encoder: *mut Encoder, n: usize) -> *mut u8 {
    // SAFETY: every encoder with this hook is the first field of a Context, which its thread
    // has for itself.
    let cx = unsafe { &mut *encoder.cast::<Context>() };
    if cx.gl.immediate.hides_room() {
        // A command that is not allowed between glBegin and glEnd. It is written to memory that is
        // never read.
        cx.set_error(mgn_wire::gl::GL_INVALID_OPERATION);
        return nowhere();
    }
    if cx.begins_frame {
        cx.begin_frame();
    }
    if (cx.room_end as usize).saturating_sub(cx.enc.cursor() as usize) < n {
        cx.find_room(n);
    }
    let at = cx.enc.cursor();
    // SAFETY: there is room for `n` bytes, also if it is hidden until the end of a hold.
    unsafe { cx.enc.set_cursor(at.wrapping_add(n)) };
    at
}

// Entry points cast the thread's word to a pointer to the encoder.
const _: () = assert!(std::mem::offset_of!(Context, enc) == 0);
