//! The process's contexts: their names, and the threads in which they are current.

use crate::context::{flag, Context, Refused, Request};
use crate::gl::kinds;
use crate::link::session::{shares_window, Session};
use crate::link::surface::{Owner, Surface};
use crate::orphan::prepare_orphan;
use crate::shadow::strings::highest;
use crate::shadow::GlState;
use crate::x11::xlib::Display;
use crate::{blank, tls};
use mgn_sys::fork::PerProcess;
use mgn_wire::hello::{self, ContextInfo, Created};
use mgn_wire::{ops, Answer};
use std::collections::HashMap;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, MutexGuard};

/// All contexts of the process.
#[derive(Default)]
pub struct Contexts {
    known: Mutex<HashMap<usize, Entry>>,
    /// Only one request outside of all contexts is outstanding at a time.
    creating: Mutex<()>,
}

struct Entry {
    context: ContextPtr,
    /// The thread in which it is current.
    owner: Option<libc::pid_t>,
    /// Destroyed as soon as it is current in no thread.
    doomed: bool,
}

/// The program's name for a context: its address.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ContextPtr(*mut Context);

// SAFETY: used only as a name. The context itself is used by the thread in which it is current, or
// under the table's lock when it is current in no thread.
unsafe impl Send for ContextPtr {}

/// The contexts of this process.
pub fn contexts() -> &'static Contexts {
    static CONTEXTS: PerProcess<Contexts> = PerProcess::new();
    CONTEXTS.get()
}

impl Contexts {
    /// Creates a context on the server.
    pub fn create(
        &self,
        session: &'static Session,
        request: Request,
        share: Option<*mut Context>,
    ) -> Result<*mut Context, Refused> {
        let most = highest(&session.info, request.api);
        if most == (0, 0) {
            return Err(Refused::NoApi);
        }
        if (request.major, request.minor) > (most.0.into(), most.1.into()) {
            let why = format!(
                "version {}.{} of this API is not offered",
                request.major, request.minor
            );
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
        prepare_orphan();
        let id = session.new_id();
        let share_id = shared.as_ref().map_or(0, |(_, id)| *id);
        let info = {
            let _one = self.creating.lock().unwrap_or_else(|e| e.into_inner());
            create_on_server(session, id, &request, share_id)?
        };
        let offset_max = session.is_offset.then(|| session.size_max());
        let info = kinds::constants(info, &request, &session.accepted, offset_max);
        if request.has(flag::LOSES) {
            session.outlive();
        }
        let shared = shared.map(|(s, _)| s).unwrap_or_default();
        let mut gl = GlState::new(&info, request.api, shared, shares_window());
        if session.wall().is_some() {
            gl.state.follow_transform();
        }
        let context = Box::into_raw(Context::new(Some(session), id, request, gl));
        let entry = Entry {
            context: ContextPtr(context),
            owner: None,
            doomed: false,
        };
        self.known().insert(context as usize, entry);
        Ok(context)
    }

    /// The properties that the program requested of the context; `None` if there is no such
    /// context.
    pub fn request(&self, handle: *const Context) -> Option<Request> {
        let known = self.known();
        let entry = known.get(&(handle as usize)).filter(|e| !e.doomed)?;
        // SAFETY: in the table, so alive; the request never changes.
        Some(unsafe { (*entry.context.0).request })
    }

    /// As [`Contexts::request`], but also for a context that was destroyed and is still current.
    /// Its EGL name is invalid then, but its GLX name is not.
    pub fn current_request(&self, handle: *const Context) -> Option<Request> {
        let known = self.known();
        let entry = known.get(&(handle as usize))?;
        // SAFETY: in the table, so alive; the request never changes.
        Some(unsafe { (*entry.context.0).request })
    }

    /// The render server's number of a context.
    pub fn id(&self, handle: *const Context) -> Option<u32> {
        let known = self.known();
        let entry = known.get(&(handle as usize)).filter(|e| !e.doomed)?;
        // SAFETY: in the table, so alive; the id never changes.
        Some(unsafe { (*entry.context.0).id })
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
        unsafe { Box::from_raw(handle) }.destroy();
        Ok(())
    }

    /// Makes `handle` current in the calling thread; null releases the current context.
    pub fn make_current(
        &self,
        handle: *mut Context,
        display: *mut Display,
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
        let leaving = old != handle && !std::ptr::eq(old, tls::idle_context());
        let doomed = leaving && known.get(&(old as usize)).is_some_and(|e| e.doomed);
        if doomed {
            known.remove(&(old as usize));
        }
        drop(known);
        if leaving {
            // SAFETY: the calling thread's own context until the table says otherwise, below.
            unsafe {
                (*old).leave();
                // The program may close the display now.
                (*old).set_display(null_mut());
            }
        }
        tls::set_current(handle);
        if doomed {
            // SAFETY: out of the table, and no longer any thread's.
            unsafe { Box::from_raw(old) }.destroy();
        } else if leaving {
            if let Some(entry) = self.known().get_mut(&(old as usize)) {
                entry.owner = None;
            }
        }
        if !handle.is_null() {
            // SAFETY: the table gives it to this thread.
            let context = unsafe { &mut *handle };
            // Set first, because the display of the context before may be closed.
            context.set_display(display);
            context.bind(draw, read);
        }
        Ok(())
    }

    /// Creates an EGL image of a texture or renderbuffer. Returns the error code for `eglGetError`.
    pub fn create_image(
        &self,
        session: &'static Session,
        image: u32,
        context: u32,
        target: u32,
        name: u32,
        level: i32,
    ) -> u32 {
        const SUCCESS: u32 = 0x3000;
        let _one = self.creating.lock().unwrap_or_else(|e| e.into_inner());
        let number = session.control(|e| {
            e.mgn_create_image(image, context, target, name, level, 1);
        });
        if !session.is_answered() || session.is_lost() {
            return SUCCESS;
        }
        let mut answer = Answer::new(session.answer(0, ops::MGN_CREATE_IMAGE, number).bytes);
        let code = answer.next_array(4);
        code.try_into().map_or(0, u32::from_le_bytes)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<usize, Entry>> {
        self.known.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// The most bytes that the constants of a context may take.
const INFO_BYTES: u32 = 1 << 20;

fn create_on_server(
    session: &'static Session,
    id: u32,
    request: &Request,
    share: u32,
) -> Result<ContextInfo, Refused> {
    let config = request.format.map_or(0, |f| match f.double {
        true => f.id,
        false => f.id | hello::Config::SINGLE,
    });
    let Request {
        api,
        major,
        minor,
        flags,
        ..
    } = *request;
    let number = session.control(|e| {
        e.mgn_create_context(id, api, major, minor, flags, config, share, INFO_BYTES);
    });
    if !session.is_answered() || session.is_lost() {
        return Ok(blank::context_info(api, major, minor));
    }
    // The request was sent outside of any context, so the answer is, too.
    let answers = session.answers(0, ops::MGN_CREATE_CONTEXT, number);
    if session.is_lost() {
        return Ok(blank::context_info(api, major, minor));
    }
    let mut first = None;
    for answered in answers.into_iter().flatten() {
        let mut answer = Answer::new(answered.bytes);
        match postcard::from_bytes(answer.next_array(1)) {
            Ok(Created::Context(info)) => first = first.or(Some(info)),
            Ok(Created::Failed(why)) => {
                tracing::info!(?request, why, "the server makes no such context");
                return Err(Refused::Server(why));
            }
            Err(_) => {
                session.lose("it did not answer the creation of a context with a context");
                return Err(Refused::NoSession);
            }
        }
    }
    first.map(|info| *info).ok_or(Refused::NoSession)
}

fn thread_id() -> libc::pid_t {
    // SAFETY: takes no arguments and changes nothing.
    unsafe { libc::gettid() }
}

/// A thread may end while a context is current in it, and we are not notified.
fn is_alive(thread: libc::pid_t) -> bool {
    // SAFETY: signal 0 only asks.
    let asked = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, 0) };
    asked == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}
