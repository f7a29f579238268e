//! The renderer itself: which context is current, and the look-ups that every command needs.

use crate::binaries::BinaryKey;
use crate::configs::{self, Choice};
use crate::context::{Api, Context, Group};
use crate::egl::{self, Egl, EglError};
use crate::errors::Errors;
use crate::generated::driver::Gl;
use crate::handwritten::split_lists::Taking;
use crate::multisampling::{self, WorkingDisplay};
use crate::names::{Class, Names, UNKNOWN};
use crate::offset::Large;
use crate::present::{Pictures, Room, UtilityContext};
use crate::seats::{Seats, SOLE};
use crate::storage::Storage;
use crate::surface::{is_both, SharedSurface};
use mgn_sys::Readable;
use mgn_wire::frames::Header;
use mgn_wire::gl::{
    GL_BACK, GL_DRAW_FRAMEBUFFER, GL_DRAW_FRAMEBUFFER_BINDING, GL_INVALID_OPERATION,
    GL_MAX_TEXTURE_SIZE,
};
use mgn_wire::hello::{ContextInfo, ServerInfo};
use mgn_wire::{Commands, Decoder, Fault, Plain, Reply, Slice};
use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::ffi::{c_void, CString};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// Why a renderer could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    #[error(transparent)]
    Egl(#[from] EglError),
    #[error(
        "the OpenGL driver ({0}) cannot create a context of any version of OpenGL or OpenGL ES"
    )]
    NoContext(String),
}

/// Executes commands on the local driver. All its work is done on the thread that made it.
pub struct Renderer {
    pub(crate) gl: Rc<Gl>,
    pub(crate) configs: Vec<Choice>,
    pub(crate) info: ServerInfo,
    constants: Vec<(u32, ContextInfo)>,
    /// The context of the message that is being executed. None while messages without a context are
    /// executed.
    pub(crate) cx: Option<Box<Context>>,
    /// The names that `cx` sees.
    pub(crate) names: Names,
    pub(crate) contexts: HashMap<u32, Box<Context>>,
    pub(crate) groups: HashMap<u32, Group>,
    pub(crate) surfaces: HashMap<u32, SharedSurface>,
    /// Whether there has been a surface with an accumulation buffer.
    pub(crate) has_accumulation: bool,
    /// EGL images by the client's names for them.
    pub(crate) images: HashMap<u32, egl::Image>,
    /// A context of the renderer's own, for work that must not touch a program's state.
    pub(crate) utility: UtilityContext,
    pub(crate) pictures: Box<dyn Pictures>,
    errors: Rc<Errors>,
    /// The number of this renderer among several that draw one picture; none if it is alone.
    pub(crate) tile: Option<u32>,
    /// Whether this renderer answers the queries that all renderers of a wall would answer alike.
    pub(crate) speaks: Rc<Cell<bool>>,
    /// Whether a surface's buffers hold only the pixels of this renderer's tile.
    pub(crate) is_offset: bool,
    /// The driver's largest viewport.
    pub(crate) largest: [i32; 2],
    pub(crate) large: Large,
    pub(crate) taking: Taking,
    pub(crate) storage: Storage,
    pub(crate) binary_key: BinaryKey,
    /// Whether shaders may be made of SPIR-V.
    pub(crate) accepts_spirv: bool,
    /// Parts of a snapshot that the client has not asked for yet.
    pub(crate) taken: VecDeque<Vec<u8>>,
    /// Counts commands, so that another thread can see whether there is progress.
    pulse: Arc<AtomicU64>,
    /// What the renderers of this process that draw into one window share, and this one's number.
    pub(crate) seats: Rc<Seats>,
    pub(crate) seat: u32,
    pub(crate) egl: Rc<Egl>,
}

impl Renderer {
    /// Opens the local driver. Clears variables that steer GLVND from the environment, so it
    /// belongs at the start of a process.
    ///
    /// # Errors
    /// One sentence on what is missing: EGL, a display, a configuration, a context.
    pub fn new(pictures: Box<dyn Pictures>) -> Result<Renderer, RenderError> {
        Renderer::complete(Renderer::on(Egl::open()?, pictures)?)
    }

    /// A renderer on the EGL that the environment selects, which may be Manganese itself.
    ///
    /// # Errors
    /// As for [`Renderer::new`].
    pub fn of_environment(pictures: Box<dyn Pictures>) -> Result<Renderer, RenderError> {
        Renderer::complete(Renderer::on(Egl::of_environment()?, pictures)?)
    }

    /// Completes a new renderer with the driver's abilities.
    fn complete(renderer: Renderer) -> Result<Renderer, RenderError> {
        let mut renderer = renderer.with_samples_that_work()?;
        (renderer.info, renderer.constants) = renderer.abilities()?;
        let (width, height) = renderer.info.largest;
        renderer.largest = [width as i32, height as i32];
        Ok(renderer)
    }

    /// Chooses a display whose multisampled pbuffers work: some releases of Mesa make ones that
    /// work on only one of two platforms. If none works, multisampled configurations are left out.
    fn with_samples_that_work(self) -> Result<Renderer, RenderError> {
        let folder = multisampling::folder();
        let driver = self.driver();
        let known = folder
            .as_deref()
            .and_then(|folder| multisampling::recall(folder, &driver));
        if let Some(works) = known {
            let mut renderer = match works {
                WorkingDisplay::Here => return Ok(self),
                WorkingDisplay::OnDevice | WorkingDisplay::Nowhere => self.on_software_device()?,
            };
            if works == WorkingDisplay::Nowhere {
                renderer.drop_samples();
            }
            return Ok(renderer);
        }
        let (mut renderer, mut works) = (self, WorkingDisplay::Here);
        if !renderer.keeps_samples() {
            renderer = renderer.on_software_device()?;
            works = WorkingDisplay::OnDevice;
            if !renderer.keeps_samples() {
                renderer.drop_samples();
                works = WorkingDisplay::Nowhere;
            }
        }
        if let Some(folder) = folder {
            multisampling::remember(&folder, &driver, works);
        }
        Ok(renderer)
    }

    /// The same renderer on the display of the driver's software device, if the driver has one.
    fn on_software_device(mut self) -> Result<Renderer, RenderError> {
        let Some(other) = self.egl.of_software_device() else {
            return Ok(self);
        };
        let pictures = std::mem::replace(&mut self.pictures, Box::new(DiscardPictures));
        Renderer::on(other, pictures)
    }

    /// The driver, its release, and the display.
    fn driver(&self) -> String {
        let Egl {
            description,
            platform,
            ..
        } = &*self.egl;
        format!("{platform} {description} {}", self.utility.driver)
    }

    fn on(egl: Egl, pictures: Box<dyn Pictures>) -> Result<Renderer, RenderError> {
        let configs = configs::choose(&egl)?;
        // SAFETY: EGL gives functions their GL types by name. A function that EGL does not know is
        // replaced by one that does nothing; it is never called with arguments that it would have
        // to clean up.
        let gl = Rc::from(unsafe { Gl::load(|name| address(&egl, name)) });
        let utility = UtilityContext::new(&egl, &gl, &configs)?;
        let errors = Rc::new(Errors::new(gl.glGetError));
        Ok(Renderer {
            gl,
            configs,
            info: ServerInfo::default(),
            constants: Vec::new(),
            cx: None,
            names: Names::default(),
            contexts: HashMap::new(),
            groups: HashMap::new(),
            surfaces: HashMap::new(),
            has_accumulation: false,
            images: HashMap::new(),
            utility,
            pictures,
            errors,
            tile: None,
            speaks: Rc::new(Cell::new(true)),
            is_offset: false,
            largest: [0; 2],
            large: Large::default(),
            taking: Taking::default(),
            storage: Storage::default(),
            binary_key: BinaryKey::random(),
            accepts_spirv: false,
            taken: VecDeque::new(),
            pulse: Arc::default(),
            seats: Rc::new(Seats::sole()),
            seat: SOLE,
            egl: Rc::new(egl),
        })
    }

    /// Another renderer in this process, with the number `seat`, that draws into the same window.
    /// It has its own contexts, objects and surfaces, except for that window. All these renderers
    /// work on one thread and take turns message by message.
    pub fn beside(&self, seat: u32, pictures: Box<dyn Pictures>) -> Renderer {
        Renderer {
            gl: self.gl.clone(),
            configs: self.configs.clone(),
            info: self.info.clone(),
            constants: self.constants.clone(),
            cx: None,
            names: Names::default(),
            contexts: HashMap::new(),
            groups: HashMap::new(),
            surfaces: HashMap::new(),
            has_accumulation: false,
            images: HashMap::new(),
            utility: self.utility.clone(),
            pictures,
            errors: Rc::new(Errors::new(self.gl.glGetError)),
            tile: self.tile,
            speaks: Rc::new(Cell::new(self.tile.is_none_or(|tile| tile == 0))),
            is_offset: false,
            largest: self.largest,
            large: Large::default(),
            taking: Taking::default(),
            storage: self.storage.clone(),
            binary_key: self.binary_key.clone(),
            accepts_spirv: self.accepts_spirv,
            taken: VecDeque::new(),
            pulse: self.pulse.clone(),
            seats: self.seats.clone(),
            seat,
            egl: self.egl.clone(),
        }
    }

    /// From now on program binaries are sealed with this key, and not with a random one.
    pub fn seal_binaries(&mut self, key: BinaryKey) {
        self.binary_key = key;
    }

    /// From now on shaders can be made of SPIR-V. No driver validates a module, and an invalid one
    /// may have any effect.
    pub fn accept_spirv(&mut self) {
        self.accepts_spirv = true;
    }

    /// The driver's abilities.
    pub fn info(&self) -> &ServerInfo {
        &self.info
    }

    /// The constants of a context of each API that the driver has, by the number of the API.
    pub fn context_infos(&self) -> &[(u32, ContextInfo)] {
        &self.constants
    }

    /// How EGL was reached, for people: vendor, version and platform.
    pub fn describe_egl(&self) -> String {
        format!("{}, {} platform", self.egl.description, self.egl.platform)
    }

    /// A number that grows with every command. If it stays the same while a message is executed, a
    /// command hangs.
    pub fn pulse(&self) -> Arc<AtomicU64> {
        self.pulse.clone()
    }

    /// Limits the bytes that are stored from now on. A command that needs more raises
    /// GL_OUT_OF_MEMORY.
    pub fn limit_storage(&mut self, bytes: u64) {
        self.storage.limit(bytes);
    }

    /// Makes `id` the context of the commands that follow. If the id is unknown, no context is
    /// current, and only session commands may follow.
    pub(crate) fn enter(&mut self, id: u32) -> Result<(), Fault> {
        // Another renderer may have changed EGL's current context meanwhile.
        let is_turn = self.seats.turn.replace(self.seat) == self.seat;
        if self.cx.as_ref().map_or(0, |cx| cx.id) == id {
            return match is_turn {
                true => Ok(()),
                false => self.bind(),
            };
        }
        self.leave();
        let Some(mut cx) = self.contexts.remove(&id) else {
            return Ok(());
        };
        std::mem::swap(&mut self.names.own, &mut cx.own);
        if let Some(group) = self.groups.get_mut(&cx.group) {
            std::mem::swap(&mut self.names.shared, &mut group.shared);
        }
        self.errors.enter(cx.error, cx.debug.clone());
        self.cx = Some(cx);
        self.bind()?;
        self.settle_parts()
    }

    /// Puts the current context away; none is current afterwards.
    pub(crate) fn leave(&mut self) {
        let Some(mut cx) = self.cx.take() else { return };
        std::mem::swap(&mut self.names.own, &mut cx.own);
        if let Some(group) = self.groups.get_mut(&cx.group) {
            std::mem::swap(&mut self.names.shared, &mut group.shared);
        }
        cx.error = self.errors.leave();
        self.contexts.insert(cx.id, cx);
    }

    /// Makes the entered context current in EGL with the surfaces it draws to and reads from now.
    pub(crate) fn bind(&mut self) -> Result<(), Fault> {
        let Some(cx) = &self.cx else { return Ok(()) };
        let same = |a: &Option<SharedSurface>, b: &Option<SharedSurface>| match (a, b) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            _ => false,
        };
        let draw = cx.draw.as_ref().map(|s| s.borrow().target(cx.draw_buffer));
        // A context that draws to both buffers draws only to the back, and the front is copied from
        // it later. So such a context reads the back, too.
        let follows = is_both(cx.draw_buffer) && same(&cx.draw, &cx.read);
        let read_buffer = if follows { GL_BACK } else { cx.read_buffer };
        let read = cx.read.as_ref().map(|s| s.borrow().target(read_buffer));
        let none = self.utility.stand_in;
        let (draw, read) = (draw.unwrap_or(none), read.unwrap_or(none));
        self.make_current(cx.egl, draw, read)
            .map_err(|e| Fault::driver(e.to_string()))?;
        let reads = Some(self.seats.stamp(read));
        let is_new = self.cx.as_deref().is_some_and(|cx| cx.reads != reads);
        if is_new {
            let is_chosen = self.choose_read_buffer();
            self.cx()?.reads = reads.filter(|_| is_chosen);
        }
        Ok(())
    }

    pub(crate) fn make_current(
        &mut self,
        context: egl::Context,
        draw: egl::Surface,
        read: egl::Surface,
    ) -> Result<(), EglError> {
        if self.seats.bound.get() != (context, draw, read) {
            self.with_default_framebuffer_aside(|r| {
                match r.is_new_behind_another(context, draw) {
                    true => r.make_new_current(context, draw, read),
                    false => r.make_current_in_egl(context, draw, read),
                }
            })?;
        }
        let draws = Some(self.seats.stamp(draw));
        if let Some(cx) = self.cx.as_deref_mut().filter(|cx| cx.egl == context) {
            cx.draws = draws;
        }
        Ok(())
    }

    fn make_current_in_egl(
        &mut self,
        context: egl::Context,
        draw: egl::Surface,
        read: egl::Surface,
    ) -> Result<(), EglError> {
        self.egl.make_current(draw, read, context)?;
        self.seats.bound.set((context, draw, read));
        Ok(())
    }

    /// Whether the context is about to draw to another surface than before, with a framebuffer
    /// object bound in place of the default framebuffer.
    fn is_new_behind_another(&self, context: egl::Context, draw: egl::Surface) -> bool {
        let draws = Some(self.seats.stamp(draw));
        let cx = self.cx.as_deref().filter(|cx| cx.egl == context);
        let is_behind = |cx: &Context| {
            let is_possible = cx.has_draw_framebuffers && !cx.may_be_inside;
            is_possible && (cx.is_aside || cx.draw_framebuffer != 0)
        };
        cx.is_some_and(|cx| is_behind(cx) && cx.draws != draws)
    }

    /// Makes a surface current that is new to the context. This is when Mesa decides which of the
    /// surface's buffers the context draws to, but only if the default framebuffer is bound.
    fn make_new_current(
        &mut self,
        context: egl::Context,
        draw: egl::Surface,
        read: egl::Surface,
    ) -> Result<(), EglError> {
        let none = self.utility.stand_in;
        self.make_current_in_egl(context, none, none)?;
        self.take_default_framebuffer_back();
        let bound = self.driver_integer(GL_DRAW_FRAMEBUFFER_BINDING) as u32;
        // SAFETY: the context is current, and the name is the driver's own.
        unsafe { (self.gl.glBindFramebuffer)(GL_DRAW_FRAMEBUFFER, 0) };
        let done = self.make_current_in_egl(context, draw, read);
        // SAFETY: as above; if the call has failed, the context is still current.
        unsafe { (self.gl.glBindFramebuffer)(GL_DRAW_FRAMEBUFFER, bound) };
        done
    }

    /// Keeps the current context from drawing to a pbuffer while `work` makes another pbuffer
    /// current or flushes commands. At this moment Mesa's software renderers copy a pbuffer that
    /// the context has drawn to into memory that stands for a screen. The copy takes as long as
    /// reading the picture, and nothing reads it. If the context is not current after `work`, it
    /// gets its pbuffer back when it is current again.
    pub(crate) fn with_default_framebuffer_aside<T>(
        &mut self,
        work: impl FnOnce(&mut Renderer) -> T,
    ) -> T {
        self.set_default_framebuffer_aside();
        let done = work(self);
        self.take_default_framebuffer_back();
        done
    }

    fn set_default_framebuffer_aside(&mut self) {
        let (bound, ..) = self.seats.bound.get();
        let Some(cx) = self.cx.as_deref_mut().filter(|cx| cx.egl == bound) else {
            return;
        };
        let may_fail = cx.may_be_inside || !cx.has_draw_framebuffers;
        let keeps_bitmaps = std::mem::take(&mut cx.may_keep_bitmaps);
        let is_bound = cx.draw_framebuffer == 0 && !cx.is_aside;
        if !self.utility.copies_pbuffers || may_fail || keeps_bitmaps || !is_bound {
            return;
        }
        let gl = &self.gl;
        // SAFETY: the context is current; one name is written.
        unsafe {
            let empty = *cx.empty_framebuffer.get_or_insert_with(|| {
                let mut name = 0;
                (gl.glGenFramebuffers)(1, &mut name);
                name
            });
            (gl.glBindFramebuffer)(GL_DRAW_FRAMEBUFFER, empty);
        }
        cx.is_aside = true;
    }

    fn take_default_framebuffer_back(&mut self) {
        let (bound, ..) = self.seats.bound.get();
        let cx = self.cx.as_deref_mut().filter(|cx| cx.egl == bound);
        if cx.is_some_and(|cx| std::mem::take(&mut cx.is_aside)) {
            // SAFETY: the context is current.
            unsafe { (self.gl.glBindFramebuffer)(GL_DRAW_FRAMEBUFFER, 0) };
        }
    }

    /// Counts a command.
    #[inline]
    pub(crate) fn beat(&mut self) {
        // Only this thread writes, so no read-modify-write is needed.
        self.pulse.store(
            self.pulse.load(Ordering::Relaxed).wrapping_add(1),
            Ordering::Relaxed,
        );
    }

    /// Forgets a destroyed surface. It may still be current, and EGL may give its handle to another
    /// surface.
    pub(crate) fn forget(&mut self, surface: egl::Surface) {
        self.seats.forgotten.set(self.seats.forgotten.get() + 1);
        let (_, draw, read) = self.seats.bound.get();
        if draw == surface || read == surface {
            self.seats.bound.set((egl::NO_CONTEXT, surface, surface));
        }
    }

    /// Fails unless a context is current; counts the command.
    #[inline]
    pub(crate) fn needs_context(&mut self) -> Result<(), Fault> {
        self.beat();
        match self.cx {
            Some(_) => Ok(()),
            None => Err(Fault::NoContext),
        }
    }

    /// Whether a command is refused because it came between glBegin and glEnd; then the error is
    /// raised. Needed only before commands whose effect the renderer notes: the driver refuses them
    /// there, and the note would be wrong.
    #[inline]
    pub(crate) fn is_in_primitive(&mut self) -> bool {
        // While a list is executed command by command, any command may come between its glBegin and
        // glEnd.
        let refuses = !self.taking.takes && self.has_primitive();
        if refuses {
            self.set_error(GL_INVALID_OPERATION);
        }
        refuses
    }

    /// Whether a primitive is begun.
    #[inline]
    pub(crate) fn has_primitive(&mut self) -> bool {
        self.cx.as_deref().is_some_and(|cx| cx.may_be_inside)
            && !self.compiles()
            && !self.has_no_primitive()
    }

    /// Whether no primitive is begun, so that the driver answers queries.
    pub(crate) fn has_no_primitive(&mut self) -> bool {
        let answers = self.asked(GL_MAX_TEXTURE_SIZE).is_some();
        if let Some(cx) = self.cx.as_deref_mut().filter(|_| answers) {
            cx.may_be_inside = false;
        }
        answers
    }

    /// Whether a display list is being compiled.
    pub(crate) fn compiles(&self) -> bool {
        self.cx.as_deref().is_some_and(|cx| cx.compiling.is_some())
    }

    /// The current context; counts the command.
    #[inline]
    pub(crate) fn cx(&mut self) -> Result<&mut Context, Fault> {
        self.needs_context()?;
        self.cx.as_deref_mut().ok_or(Fault::NoContext)
    }

    /// The driver's name for the client's name of an object.
    #[inline]
    pub(crate) fn name(&mut self, class: Class, name: u32) -> u32 {
        match self.names.find(class, name) {
            Some(driver) => driver,
            None => self.unnamed(class, name),
        }
    }

    pub(crate) fn name_array(&self, class: Class, names: Slice<'_, u32>) -> Option<Vec<u32>> {
        let mut names = names.copied()?;
        for name in &mut names {
            *name = self.object(class, *name);
        }
        Some(names)
    }

    /// The driver's name of an object. If there is none, a name that the driver refuses.
    pub(crate) fn object(&self, class: Class, name: u32) -> u32 {
        self.names.find(class, name).unwrap_or(UNKNOWN)
    }

    /// Handles a name that was never generated. Outside the core profile, using such a name creates
    /// an object of some classes. Otherwise the driver must refuse it.
    #[cold]
    fn unnamed(&mut self, class: Class, name: u32) -> u32 {
        let api = self.cx.as_ref().map_or(Api::Core, |cx| cx.api);
        let made_by_use = match class {
            Class::Buffer | Class::Texture | Class::Framebuffer | Class::Renderbuffer => {
                api != Api::Core
            }
            Class::Query | Class::Assembly | Class::FragmentShader => api == Api::Compat,
            _ => false,
        };
        if !made_by_use {
            return UNKNOWN;
        }
        let mut driver = [0];
        self.generate(class, &mut driver);
        if driver[0] == 0 || !self.names.table_mut(class).set(name, driver[0]) {
            return UNKNOWN;
        }
        driver[0]
    }

    /// The driver's fence of this name, or null, which the driver refuses.
    pub(crate) fn sync(&self, name: u32) -> *mut c_void {
        self.names
            .shared
            .syncs
            .get(&name)
            .map_or(std::ptr::null_mut(), |s| s.0.cast_mut())
    }

    /// The current context's error, without taking it: the first one that has not been reported
    /// yet.
    pub(crate) fn error(&self) -> u32 {
        self.errors.peek()
    }

    /// Whether the driver has raised an error since `error` was last called.
    pub(crate) fn failed(&self) -> bool {
        self.errors.is_new()
    }

    /// Raises an error that the renderer has found in place of the driver.
    pub(crate) fn set_error(&self, code: u32) {
        self.errors.add(code);
    }

    /// Keeps an error that was taken from the driver.
    pub(crate) fn keep_error(&self, code: u32) {
        self.errors.keep(code);
    }

    /// The errors, for the code that answers the client: it reports errors and messages with each
    /// answer.
    pub fn errors(&self) -> Rc<Errors> {
        self.errors.clone()
    }

    /// One integer of the driver's state, for state that the renderer does not keep; 0 if the
    /// driver does not answer.
    pub(crate) fn driver_integer(&self, pname: u32) -> i32 {
        self.asked(pname).unwrap_or(0)
    }

    /// One integer of the driver's state; none if the driver does not answer, for example between
    /// glBegin and glEnd.
    pub(crate) fn asked(&self, pname: u32) -> Option<i32> {
        /// No queried state has this value.
        const UNTOUCHED: i32 = i32::MIN + 0x5a17;
        // Room for the longest vector of any pname that is queried here.
        let mut values = [UNTOUCHED; 16];
        // SAFETY: the array has room for the values.
        unsafe { (self.gl.glGetIntegerv)(pname, values.as_mut_ptr()) };
        (values[0] != UNTOUCHED).then_some(values[0])
    }
}

/// The pictures of a renderer that another one has replaced.
struct DiscardPictures;

impl Pictures for DiscardPictures {
    fn room(&mut self, _: u32, _: usize) -> Result<Option<Room>, Fault> {
        Ok(None)
    }

    fn send(&mut self, _: u32, _: &Header, _: (u32, u32), _: Room) -> Result<(), Fault> {
        Ok(())
    }

    fn send_header(&mut self, _: &Header) -> Result<(), Fault> {
        Ok(())
    }
}

impl Drop for Renderer {
    fn drop(&mut self) {
        // Other renderers still use the display; the last one terminates it with everything on it.
        if Rc::strong_count(&self.egl) > 1 {
            self.clear_away();
        }
    }
}

/// Executes a message. `answer` is called for each command that has an answer.
///
/// # Errors
/// The message contains something that a client must not send; the session ends.
pub fn perform<C: Commands + ?Sized>(
    decoder: &mut Decoder,
    message: &impl Readable,
    to: &mut C,
    reply: &mut Reply,
    answer: impl FnMut(&mut C, u32, u16, &Reply) -> Result<(), Fault>,
) -> Result<(), Fault> {
    // SAFETY: this is what the trait guarantees.
    unsafe { decoder.message(message.as_ptr(), message.len(), to, reply, answer) }
}

/// Room for a query's result: as much as the client asked for, and at least as much as the driver
/// may write for any query.
pub(crate) fn out<T: Plain>(count: u32, least: usize) -> Result<Vec<T>, Fault> {
    /// The longest answer that a program can want of a query (a program's binary, a shader's
    /// source), in elements.
    const ELEMENTS_MAX: usize = 1 << 26;
    /// The most values that a query of parameters returns: the coefficients of evaluators. Queries
    /// that answer with lists of a program ask for the lists' lengths first (see
    /// `handwritten::resources`), and queries that take a number of elements write no more than
    /// that.
    const ANY: usize = 1 << 14;
    let count = count as usize;
    if count > ELEMENTS_MAX || least > ELEMENTS_MAX {
        return Err(Fault::HugeCount(count.max(least) as u64));
    }
    Ok(vec![T::default(); count.max(least).max(ANY)])
}

/// How many elements of its answer the driver has written: the `length` that it reported and
/// `more`, but not more than the client has room for.
pub(crate) fn written(length: i32, more: u32, room: u32) -> u32 {
    u32::try_from(length).map_or(room, |length| length.saturating_add(more).min(room))
}

fn address(egl: &Egl, name: &str) -> *const () {
    let found = CString::new(name).map_or(std::ptr::null(), |name| egl.address(&name));
    if found.is_null() {
        missing as *const ()
    } else {
        found.cast()
    }
}

/// Stands for functions that the driver lacks. The features that need them are not advertised, so
/// only a client that uses unadvertised features gets here.
extern "C" fn missing() -> usize {
    0
}
