//! Contexts: where commands are written, and which thread they belong to.

use crate::config::Format;
use crate::gl::GlState;
use crate::session::{Session, ROOM_BYTES};
use crate::stats::Word;
use crate::surface::{Kind, Surface};
use crate::x11::xlib::Display;
use crate::{blank, ending, gl, tls};
use mgn_fabric::Reservation;
use mgn_wire::hello::{ContextInfo, Created};
use mgn_wire::{ops, Answer, Encoder, MESSAGE_HEADER, RECORD_MAX};
use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::frames::IN_FLIGHT;

/// An OpenGL context. The encoder comes first: entry points reach it by the thread's word alone.
#[repr(C)]
pub struct Context {
    pub enc: Encoder,
    /// The end of the room that there really is; the encoder's own end is null while immediate mode writes a run into the room.
    room_end: *mut u8,
    /// Where the message begins whose records are being written; null without room.
    room_start: *mut u8,
    pub gl: GlState,
    pub id: u32,
    /// None for a context whose commands go nowhere.
    session: Option<&'static Session>,
    room: Option<Reservation>,
    /// Room of contexts without a session.
    scratch: Vec<u8>,
    /// The server was told to draw to these.
    pub draw: Option<Arc<Surface>>,
    pub read: Option<Arc<Surface>>,
    /// Whether the program draws to the front buffer of a double-buffered window, so that it is shown at each flush.
    pub draws_front: bool,
    pub request: Request,
    /// The program's Xlib display that it was made current with, as an address; 0 for EGL.
    display: usize,
}

/// What a program asks of a context.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// `hello::api`.
    pub api: u32,
    pub major: u32,
    pub minor: u32,
    /// Bits of the ARB_create_context flags: 1 debug, 2 forward compatible, 4 robust.
    pub flags: u32,
    /// `None` for contexts without a config.
    pub format: Option<Format>,
    /// `GLX_FBCONFIG_ID` or `EGL_CONFIG_ID`.
    pub config_id: u32,
    pub screen: i32,
}

/// Why a window-system call about contexts fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There is no session; the person knows why.
    NoSession,
    /// The server does not make such a context.
    Server(String),
    /// No such context, or it is being destroyed.
    BadContext,
    /// It is current in another thread.
    Access,
}

impl Context {
    /// Sends what was written. Nothing of it is executed before. Between glBegin and glEnd nothing can be sent.
    pub fn flush(&mut self) {
        if !self.gl.immediate.hides_room() {
            self.send();
        }
    }

    /// Ends a primitive that the program has left open when it calls the window system, where GL would leave everything undefined.
    fn leave_begin(&mut self) {
        if self.gl.in_begin() {
            // SAFETY: the entry point works on the calling thread's context, which this is.
            unsafe { gl::hand::glEnd() };
        }
    }

    /// Sends what was written, and waits for the answer of the last command, `op`. All zeros where nobody answers.
    pub fn answer(&mut self, op: u16) -> Answer {
        self.flush();
        let Some(session) = self.session else {
            self.enc.fallible = false;
            return Answer::default();
        };
        let answered = session.answer(self.id, op);
        self.error_reported(answered.error);
        if let (ops::MGN_FINISH, Some(surface)) = (op, &self.draw) {
            // What was swapped is finished when it is in the window.
            session.frames.wait(surface, 0);
        }
        Answer::new(answered.bytes)
    }

    /// Waits until everything the context was told is done, and shown where it is drawn to something visible.
    pub fn finish(&mut self) {
        self.leave_begin();
        self.present_front();
        // SAFETY: the context's own encoder.
        unsafe { self.enc.mgn_finish() };
        self.answer(ops::MGN_FINISH);
    }

    /// Shows what is drawn without swapping: to a single-buffered window, a pixmap, or a front buffer. Called at glFlush and glFinish.
    pub fn present_front(&mut self) {
        let Some(surface) = self.draw.clone() else {
            return;
        };
        if matches!(surface.kind, Kind::Pbuffer) || (surface.format.double && !self.draws_front) {
            return;
        }
        let Some(session) = self.session else { return };
        let (frame, want) = hand_over(session, &surface);
        // SAFETY: the context's own encoder.
        unsafe { self.enc.mgn_present_front(surface.id, frame, want) };
        self.flush();
        session.frames.wait(&surface, IN_FLIGHT);
        self.follow_window();
    }

    /// Makes the framebuffer as large as its window. Called after each swap and at glViewport, with which programs answer a new size; costs no round
    /// trip.
    pub fn follow_window(&mut self) {
        let Some(surface) = &self.draw else { return };
        if let Some((width, height)) = surface.resized() {
            let id = surface.id;
            // SAFETY: the context's own encoder.
            unsafe { self.enc.mgn_resize_surface(id, width, height) };
        }
    }

    /// The Xlib display that the program made the context current with; null for EGL.
    pub fn display(&self) -> *mut Display {
        self.display as *mut Display
    }

    pub fn set_display(&mut self, display: *mut Display) {
        self.display = display as usize;
    }

    /// Width and height of the framebuffer that is drawn to.
    pub fn draw_size(&self) -> Option<(u32, u32)> {
        self.draw.as_ref().map(|s| s.size())
    }

    /// Whether the default framebuffer that is drawn to has a front and a back.
    pub fn is_double_buffered(&self) -> bool {
        let of_config = self.request.format.is_none_or(|f| f.double);
        self.draw.as_ref().map_or(of_config, |s| s.format.double)
    }

    fn new(session: Option<&'static Session>, id: u32, request: Request, gl: GlState) -> Box<Context> {
        Box::new(Context {
            enc: Encoder::new(refill),
            room_end: null_mut(),
            room_start: null_mut(),
            gl,
            id,
            session,
            room: None,
            scratch: Vec::new(),
            draw: None,
            read: None,
            draws_front: false,
            request,
            display: 0,
        })
    }

    /// Commits the records written so far as one message.
    fn send(&mut self) {
        let used = self.enc.cur as usize - self.room_start as usize;
        if self.room_start.is_null() || used <= MESSAGE_HEADER {
            return;
        }
        if let (Some(session), Some(room)) = (self.session, &mut self.room) {
            session.commit(room, used);
            if !session.is_lost() && room.capacity() >= ROOM_BYTES {
                let (start, capacity) = (room.ptr(), room.capacity().min(session.message_max()));
                self.write_at(start, capacity);
                return;
            }
        }
        self.give_room_back();
    }

    /// Begins a message at `start`.
    fn write_at(&mut self, start: *mut u8, capacity: usize) {
        // SAFETY: a reservation, or our scratch, of `capacity` bytes, which is more than a header.
        unsafe { start.cast::<u64>().write_unaligned(u64::from(self.id)) };
        self.room_start = start;
        self.room_end = start.wrapping_add(capacity & !3);
        self.enc.cur = start.wrapping_add(MESSAGE_HEADER);
        self.enc.end = self.room_end;
    }

    /// Holds no memory of the transport any more, until the next command.
    fn give_room_back(&mut self) {
        self.room = None;
        self.room_start = null_mut();
        self.room_end = null_mut();
        self.enc.cur = null_mut();
        self.enc.end = null_mut();
    }

    /// Finds room for a record of `n` bytes, in a new message.
    fn find_room(&mut self, n: usize) {
        self.send();
        if (self.room_end as usize).saturating_sub(self.enc.cur as usize) >= n {
            return;
        }
        // What is left of the old chunk goes back before a new one is asked for.
        self.room = None;
        if let Some(room) = self.session.and_then(|s| s.reserve(n)) {
            let most = self.session.map_or(usize::MAX, Session::message_max);
            let (start, capacity) = (room.ptr(), room.capacity().min(most));
            self.room = Some(room);
            self.write_at(start, capacity);
            return;
        }
        // Nobody listens: the same memory again and again.
        self.scratch.resize(MESSAGE_HEADER + RECORD_MAX, 0);
        let (start, capacity) = (self.scratch.as_mut_ptr(), self.scratch.len());
        self.write_at(start, capacity);
    }
}

/// The encoder's hook: see `Encoder::refill`.
unsafe fn refill(encoder: *mut Encoder, n: usize) -> *mut u8 {
    if std::ptr::eq(encoder.cast::<Context>(), idle_context()) {
        return SCRATCH.0.get().cast();
    }
    // SAFETY: every other encoder with this hook is the first field of a Context, which its thread has for itself.
    let cx = unsafe { &mut *encoder.cast::<Context>() };
    if cx.gl.immediate.hides_room() {
        // A command that is not allowed between glBegin and glEnd. It is written where nobody reads it.
        cx.set_error(mgn_wire::gl::GL_INVALID_OPERATION);
        return SCRATCH.0.get().cast();
    }
    if (cx.room_end as usize).saturating_sub(cx.enc.cur as usize) < n {
        cx.find_room(n);
    }
    let at = cx.enc.cur;
    cx.enc.cur = at.wrapping_add(n);
    at
}

/// Takes the next frame number of `surface`, and says whether a picture of it is wanted.
fn hand_over(session: &Session, surface: &Surface) -> (u32, u32) {
    let frame = surface.handed_over.fetch_add(1, Ordering::AcqRel) + 1;
    if !session.is_answered() {
        surface.finished.store(frame, Ordering::Release);
    }
    let shown = session.options.present && surface.is_visible();
    let saved = session
        .options
        .save
        .as_ref()
        .is_some_and(|save| u64::from(frame) % save.every == 0);
    (frame, u32::from(shown || saved))
}

/// glXSwapBuffers and eglSwapBuffers, from the calling thread. Returns when no more than [`IN_FLIGHT`] frames of the surface are under way.
///
/// Frames of pbuffers count too, so that programs that render off screen can be measured and saved.
pub fn swap_buffers(session: &'static Session, surface: &Arc<Surface>) {
    let (frame, want) = hand_over(session, surface);
    let mine = |cx: &Context| cx.draw.as_ref().is_some_and(|s| Arc::ptr_eq(s, surface));
    match current() {
        Some(cx) if mine(cx) => {
            cx.leave_begin();
            // SAFETY: the context's own encoder.
            unsafe { cx.enc.mgn_swap_buffers(surface.id, frame, want) };
            cx.send();
        }
        other => {
            if let Some(cx) = other {
                cx.flush();
            }
            // SAFETY: written to the control message's own encoder.
            session.control(|e| unsafe { e.mgn_swap_buffers(surface.id, frame, want) });
        }
    }
    session.stats.frame(session.send_wait());
    session.frames.wait(surface, IN_FLIGHT);
    if session.is_enough(session.stats.value(Word::Frames)) {
        ending::enough_frames();
    }
    if let Some(cx) = current().filter(|cx| mine(cx)) {
        cx.follow_window();
    }
}

/// All contexts of the process.
#[derive(Default)]
pub struct Contexts {
    known: Mutex<HashMap<usize, Entry>>,
    /// One request outside all contexts is outstanding at a time.
    creating: Mutex<()>,
}

struct Entry {
    context: ContextPtr,
    /// The thread in which it is current.
    owner: Option<libc::pid_t>,
    /// Destroyed as soon as it is current nowhere.
    doomed: bool,
}

/// The program's name for a context: its address.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ContextPtr(*mut Context);

// SAFETY: only a name here; the context itself is used by the thread in which it is current, and under the table's lock when it is current nowhere.
unsafe impl Send for ContextPtr {}

impl Contexts {
    /// Makes a context on the server.
    pub fn create(
        &self,
        session: &'static Session,
        request: Request,
        share: Option<*mut Context>,
    ) -> Result<*mut Context, Refused> {
        let most = gl::hand::highest(&session.info, request.api);
        if most == (0, 0) || (request.major, request.minor) > (most.0.into(), most.1.into()) {
            let why = format!("version {}.{} of this API is not offered", request.major, request.minor);
            return Err(Refused::Server(why));
        }
        let shared = {
            let known = self.known();
            match share {
                None => None,
                Some(other) => {
                    let entry = known.get(&(other as usize)).ok_or(Refused::BadContext)?;
                    // SAFETY: in the table, so alive; the name space and the id never change.
                    Some(unsafe { ((*entry.context.0).gl.shared.clone(), (*entry.context.0).id) })
                }
            }
        };
        let id = session.new_id();
        let share_id = shared.as_ref().map_or(0, |(_, id)| *id);
        let info = {
            let _one = self.creating.lock().unwrap_or_else(|e| e.into_inner());
            create_on_server(session, id, &request, share_id)?
        };
        let shared = shared.map(|(s, _)| s).unwrap_or_default();
        let gl = GlState::new(&info, request.api, shared);
        let context = Box::into_raw(Context::new(Some(session), id, request, gl));
        let entry = Entry {
            context: ContextPtr(context),
            owner: None,
            doomed: false,
        };
        self.known().insert(context as usize, entry);
        Ok(context)
    }

    /// Whether the program may use this handle.
    pub fn is_known(&self, handle: *const Context) -> bool {
        self.request(handle).is_some()
    }

    /// How the context was asked for; `None` if there is no such context.
    pub fn request(&self, handle: *const Context) -> Option<Request> {
        let known = self.known();
        let entry = known.get(&(handle as usize)).filter(|e| !e.doomed)?;
        // SAFETY: in the table, so alive; the request never changes.
        Some(unsafe { (*entry.context.0).request })
    }

    /// glXDestroyContext and eglDestroyContext.
    pub fn destroy(&self, handle: *mut Context) -> Result<(), Refused> {
        let mut known = self.known();
        let entry = known
            .get_mut(&(handle as usize))
            .filter(|e| !e.doomed)
            .ok_or(Refused::BadContext)?;
        if entry.owner.is_some_and(is_alive) {
            entry.doomed = true;
            return Ok(());
        }
        known.remove(&(handle as usize));
        drop(known);
        // SAFETY: out of the table and current nowhere: ours alone.
        unsafe { bury(handle) };
        Ok(())
    }

    /// Makes `handle` current in the calling thread, or none if it is null.
    pub fn make_current(
        &self,
        handle: *mut Context,
        draw: Option<Arc<Surface>>,
        read: Option<Arc<Surface>>,
    ) -> Result<(), Refused> {
        let me = thread_id();
        let mut known = self.known();
        if !handle.is_null() {
            let entry = known
                .get_mut(&(handle as usize))
                .ok_or(Refused::BadContext)?;
            if entry.doomed && entry.owner != Some(me) {
                return Err(Refused::BadContext);
            }
            if entry.owner.is_some_and(|t| t != me && is_alive(t)) {
                return Err(Refused::Access);
            }
            entry.owner = Some(me);
        }
        let old = tls::current();
        let leaving = old != handle && !std::ptr::eq(old, idle_context());
        let doomed = leaving && known.get(&(old as usize)).is_some_and(|e| e.doomed);
        if doomed {
            known.remove(&(old as usize));
        }
        drop(known);
        if leaving {
            // SAFETY: the calling thread's own context until the table says otherwise, below.
            unsafe { leave(old) };
        }
        tls::set_current(handle);
        if doomed {
            // SAFETY: out of the table, and no longer any thread's.
            unsafe { bury(old) };
        } else if leaving {
            if let Some(entry) = self.known().get_mut(&(old as usize)) {
                entry.owner = None;
            }
        }
        if !handle.is_null() {
            // SAFETY: the table gives it to this thread.
            unsafe { (*handle).bind(draw, read) };
        }
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, HashMap<usize, Entry>> {
        self.known.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Context {
    fn bind(&mut self, draw: Option<Arc<Surface>>, read: Option<Arc<Surface>>) {
        let same = |a: &Option<Arc<Surface>>, b: &Option<Arc<Surface>>| match (a, b) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        if !same(&self.draw, &draw) || !same(&self.read, &read) {
            let id = |s: &Option<Arc<Surface>>| s.as_ref().map_or(0, |s| s.id);
            // SAFETY: the context's own encoder.
            unsafe { self.enc.mgn_make_current(id(&draw), id(&read)) };
            // The old ones go after the command that lets go of them is on its way.
            let old = (std::mem::replace(&mut self.draw, draw), std::mem::replace(&mut self.read, read));
            self.send();
            drop(old);
        }
        self.follow_window();
    }
}

/// Flushes a context that stops being current, as GLX and EGL want it.
unsafe fn leave(context: *mut Context) {
    // SAFETY: the caller's own context.
    let cx = unsafe { &mut *context };
    cx.leave_begin();
    cx.send();
    cx.give_room_back();
}

/// Frees a context here and on the server.
unsafe fn bury(context: *mut Context) {
    // SAFETY: the caller has the only reference.
    let mut cx = unsafe { Box::from_raw(context) };
    cx.send();
    cx.give_room_back();
    if let Some(session) = cx.session {
        // SAFETY: written to the control message's own encoder.
        session.control(|e| unsafe { e.mgn_destroy_context(cx.id) });
    }
}

/// The most bytes that the constants of a context may come to.
const INFO_BYTES: u32 = 1 << 20;

fn create_on_server(
    session: &'static Session,
    id: u32,
    request: &Request,
    share: u32,
) -> Result<ContextInfo, Refused> {
    let config = request.format.map_or(0, |f| f.id);
    let Request {
        api,
        major,
        minor,
        flags,
        ..
    } = *request;
    // SAFETY: written to the control message's own encoder.
    session.control(|e| unsafe {
        e.mgn_create_context(id, api, major, minor, flags, config, share, INFO_BYTES);
    });
    if !session.is_answered() || session.is_lost() {
        return Ok(blank::context_info(api, major, minor));
    }
    // The request went outside any context, and so does its answer.
    let answered = session.answer(0, ops::MGN_CREATE_CONTEXT);
    if session.is_lost() {
        return Ok(blank::context_info(api, major, minor));
    }
    let mut answer = Answer::new(answered.bytes);
    match postcard::from_bytes(answer.next_array(1)) {
        Ok(Created::Context(info)) => Ok(*info),
        Ok(Created::Failed(why)) => {
            tracing::info!(?request, why, "the server makes no such context");
            Err(Refused::Server(why))
        }
        Err(_) => {
            session.lose("it answered a context with something else");
            Err(Refused::NoSession)
        }
    }
}

fn thread_id() -> libc::pid_t {
    // SAFETY: takes and changes nothing.
    unsafe { libc::gettid() }
}

/// Threads may end with a context current, and nobody tells us.
fn is_alive(thread: libc::pid_t) -> bool {
    // SAFETY: signal 0 only asks.
    let asked = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, 0) };
    asked == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}

/// What the thread's word points at without a context: an encoder without room, and memory for nobody's state.
///
/// GLVND gives programs functions that do nothing while no context is current, so entry points do not run on this. It is there so that one that does
/// finds mapped memory and not a null pointer.
#[repr(C)]
pub struct Idle {
    context: UnsafeCell<IdleContext>,
}

#[repr(C, align(16))]
struct IdleContext {
    enc: Encoder,
    rest: [u8; size_of::<Context>() - size_of::<Encoder>()],
}

// SAFETY: the encoder is never changed (its room stays empty), and the rest belongs to nobody.
unsafe impl Sync for Idle {}

pub static IDLE: Idle = Idle {
    context: UnsafeCell::new(IdleContext {
        enc: Encoder::new(refill),
        rest: [0; size_of::<Context>() - size_of::<Encoder>()],
    }),
};

pub fn idle_context() -> *mut Context {
    IDLE.context.get().cast()
}

/// The calling thread's context, if it has one.
///
/// Window-system calls use it; each uses only one such reference at a time.
pub fn current<'a>() -> Option<&'a mut Context> {
    let context = tls::current();
    // SAFETY: not the idle one, so it is a context that this thread has for itself.
    (!std::ptr::eq(context, idle_context())).then(|| unsafe { &mut *context })
}

/// Where commands that go nowhere are written. Nobody reads it.
#[repr(align(64))]
struct Scratch(UnsafeCell<[u8; RECORD_MAX]>);

// SAFETY: only ever written to, by raw pointer, and never read.
unsafe impl Sync for Scratch {}

static SCRATCH: Scratch = Scratch(UnsafeCell::new([0; RECORD_MAX]));

/// A context whose commands go nowhere, for the one thread of a forked child that had a context.
static ORPHAN: AtomicPtr<Context> = AtomicPtr::new(null_mut());

/// Makes the orphan, while memory may be allocated. Done when a session begins.
pub fn prepare_orphan() {
    let request = Request {
        api: 0,
        major: 1,
        minor: 0,
        flags: 0,
        format: None,
        config_id: 0,
        screen: 0,
    };
    let gl = GlState::new(&blank::context_info(0, 1, 0), 0, Arc::default());
    let orphan = Box::into_raw(Context::new(None, 0, request, gl));
    if ORPHAN
        .compare_exchange(null_mut(), orphan, Ordering::AcqRel, Ordering::Acquire)
        .is_err()
    {
        // SAFETY: not stored, so nobody else knows it.
        drop(unsafe { Box::from_raw(orphan) });
    }
}

/// In a forked child: what the calling thread goes on drawing is drawn nowhere. Takes no lock and allocates nothing.
pub fn orphan_current() {
    let orphan = ORPHAN.load(Ordering::Acquire);
    if current().is_some() && !orphan.is_null() {
        tls::set_current(orphan);
    }
}

/// For asserting that hot parts stay where they are.
const _: () = assert!(std::mem::offset_of!(Context, enc) == 0);
