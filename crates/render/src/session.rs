//! Commands that are not part of OpenGL: contexts, surfaces, errors.

use crate::configs::{usual, Choice};
use crate::context::{Api, Context};
use crate::egl;
use crate::handwritten::accumulation::Accumulation;
use crate::info::{version, Request};
use crate::renderer::Renderer;
use crate::surface::{is_both, is_front, SharedSurface, Surface};
use mgn_wire::hello::{surface as kinds, Config, Created};
use mgn_wire::{gl::*, Fault, Reply};
use std::cell::RefCell;
use std::rc::Rc;

/// The most contexts of a session, and the most surfaces. No program has more, and each costs
/// megabytes.
const MOST_CONTEXTS: usize = 1024;
const MOST_SURFACES: usize = 4096;

/// `flags` of `mgnCreateContext`: the bit of a debug context.
const DEBUG_CONTEXT: u32 = 1;

impl Renderer {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn handwritten_mgn_create_context(
        &mut self,
        id: u32,
        api: u32,
        major: u32,
        minor: u32,
        flags: u32,
        config: u32,
        share: u32,
        _info_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.beat();
        let api = Api::from_wire(api)
            .ok_or_else(|| Fault::refused("a context of an API that does not exist"))?;
        if id == 0 || self.context(id).is_some() {
            return Err(Fault::refused("a context was given a name that is in use"));
        }
        if self.contexts.len() >= MOST_CONTEXTS {
            return Err(Fault::refused("more contexts than a program may have"));
        }
        let created = self.create_context(
            id,
            Request {
                api,
                major,
                minor,
                flags,
            },
            config,
            share,
        );
        let bytes = postcard::to_allocvec(&created)
            .map_err(|_| Fault::server("a context's constants cannot be sent"))?;
        reply.array(&bytes, bytes.len() as u32);
        self.bind()
    }

    fn choice(&self, config: u32) -> Option<Choice> {
        let (srgb, id) = (
            config & Config::SRGB != 0,
            config & !(Config::SRGB | Config::SINGLE),
        );
        let mut choices = self.configs.iter().copied();
        let choice = choices.find(|c| c.described.id == id)?;
        (choice.described.has_srgb || !srgb).then_some(Choice { srgb, ..choice })
    }

    fn create_context(&mut self, id: u32, request: Request, config: u32, share: u32) -> Created {
        let failed = |why: String| Created::Failed(why);
        let (share, group) = match self.context(share) {
            Some(other) => (other.egl, other.group),
            None if share == 0 => (egl::NO_CONTEXT, id),
            None => return failed("the context to share with does not exist".into()),
        };
        // A context without a configuration may be used with any configuration.
        let choice = self.choice(config).unwrap_or(usual(&self.configs));
        let context = match self.open_context(request, choice.egl, share) {
            Ok(context) => context,
            Err(error) => return failed(error.to_string()),
        };
        let mut cx = Context::new(id, context, request, config, group);
        cx.is_single = (config != 0).then_some(config & Config::SINGLE != 0);
        let none = self.utility.stand_in;
        if let Err(error) = self.make_current(context, none, none) {
            self.egl.destroy_context(context);
            return failed(error.to_string());
        }
        let info = self.context_info();
        cx.note(version(&info.version), &info.extensions);
        if request.api.has_client_arrays() {
            cx.default_vertex_array = self.stand_in_for_array_zero();
            // OpenGL ES 1 has one vertex array object, and the client keeps all of its state.
            if cx.default_vertex_array == 0 && request.api != Api::Es1 {
                let _ = self.make_current(egl::NO_CONTEXT, egl::NO_SURFACE, egl::NO_SURFACE);
                self.egl.destroy_context(context);
                return failed("the driver has no vertex array objects".into());
            }
        }
        self.listen(&cx, request.flags & DEBUG_CONTEXT != 0);
        // Two groups have the same name only if the first has ended, so that its name is free
        // again.
        self.groups.entry(group).or_default().contexts += 1;
        self.contexts.insert(id, Box::new(cx));
        Created::Context(Box::new(info))
    }

    /// Makes the object that stands for the program's vertex array object 0, and binds it.
    fn stand_in_for_array_zero(&self) -> u32 {
        let mut name = 0;
        // SAFETY: the new context is current; one name is written.
        unsafe {
            (self.gl.glGenVertexArrays)(1, &mut name);
            if name != 0 {
                (self.gl.glBindVertexArray)(name);
            }
            if (self.gl.glGetError)() == GL_NO_ERROR {
                name
            } else {
                0
            }
        }
    }

    pub(crate) fn handwritten_mgn_destroy_context(&mut self, id: u32) -> Result<(), Fault> {
        self.beat();
        if self.cx.as_ref().is_some_and(|cx| cx.id == id) {
            self.close_list();
            self.leave();
        }
        let Some(mut cx) = self.contexts.remove(&id) else {
            return Err(Fault::refused("a context that does not exist was ended"));
        };
        self.note_compiling();
        let _ = self.make_current(egl::NO_CONTEXT, egl::NO_SURFACE, egl::NO_SURFACE);
        self.egl.destroy_context(cx.egl);
        for surface in [cx.draw.take(), cx.read.take()].into_iter().flatten() {
            self.release(surface);
        }
        if let Some(group) = self.groups.get_mut(&cx.group) {
            group.contexts -= 1;
            if group.contexts == 0 {
                self.groups.remove(&cx.group);
            }
        }
        self.bind()
    }

    pub(crate) fn handwritten_mgn_create_surface(
        &mut self,
        id: u32,
        kind: u32,
        config: u32,
        width: u32,
        height: u32,
    ) -> Result<(), Fault> {
        self.beat();
        if id == 0 || self.surfaces.contains_key(&id) {
            return Err(Fault::refused("a surface was given a name that is in use"));
        }
        if self.surfaces.len() >= MOST_SURFACES {
            return Err(Fault::refused("more surfaces than a program may have"));
        }
        let choice = self.choice(config).ok_or_else(|| {
            Fault::refused(format!(
                "a surface of configuration {config:#x}, which this driver lacks"
            ))
        })?;
        let single = kind & kinds::SINGLE_BUFFERED != 0;
        let accumulates = kind & kinds::ACCUMULATES != 0;
        self.has_accumulation |= accumulates;
        let is_shared = kind & kinds::SHARED != 0;
        if let Some(window) = self.seats.window().filter(|_| is_shared) {
            self.agrees(
                &window.borrow(),
                choice,
                single,
                accumulates,
                [width, height],
            )?;
            self.surfaces.insert(id, window);
            return Ok(());
        }
        let mut surface = self.new_surface(id, choice, single, width, height)?;
        surface.accumulation = accumulates.then(Accumulation::default);
        let surface = Rc::new(RefCell::new(surface));
        if is_shared {
            self.seats.share(&surface);
        }
        self.surfaces.insert(id, surface);
        self.bind()
    }

    pub(crate) fn handwritten_mgn_resize_surface(
        &mut self,
        id: u32,
        width: u32,
        height: u32,
    ) -> Result<(), Fault> {
        self.beat();
        let surface = self.known_surface(id)?;
        self.resize(&surface, width, height)?;
        self.bind()
    }

    pub(crate) fn handwritten_mgn_destroy_surface(&mut self, id: u32) -> Result<(), Fault> {
        self.beat();
        let Some(surface) = self.surfaces.remove(&id) else {
            return Err(Fault::refused("a surface that does not exist was ended"));
        };
        self.disown(surface);
        Ok(())
    }

    pub(crate) fn known_surface(&self, id: u32) -> Result<SharedSurface, Fault> {
        self.surfaces
            .get(&id)
            .cloned()
            .ok_or_else(|| Fault::refused("a surface that does not exist was named"))
    }

    pub(crate) fn handwritten_mgn_make_current(
        &mut self,
        draw: u32,
        read: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let find = |id| {
            if id == 0 {
                Ok(None)
            } else {
                self.known_surface(id).map(Some)
            }
        };
        let (draw, read) = (find(draw)?, find(read)?);
        let first = draw.as_ref().map(|s| {
            let s = s.borrow();
            (s.single, s.width as i32, s.height as i32)
        });
        let cx = self.cx()?;
        let old = [
            std::mem::replace(&mut cx.draw, draw),
            std::mem::replace(&mut cx.read, read),
        ];
        let first = first.filter(|_| !std::mem::replace(&mut cx.was_current, true));
        if let (Some((single, ..)), true) = (first, cx.api.is_desktop()) {
            let single = cx.is_single.unwrap_or(single);
            let buffer = if single { GL_FRONT } else { GL_BACK };
            (cx.draw_buffer, cx.read_buffer) = (buffer, buffer);
        }
        self.need_fronts()?;
        self.bind()?;
        for surface in old.into_iter().flatten() {
            self.release(surface);
        }
        if let Some((_, width, height)) = first {
            self.first_state(width, height);
        }
        Ok(())
    }

    /// Sets the state that a context gets from the first default framebuffer it is made current
    /// with.
    fn first_state(&mut self, width: i32, height: i32) {
        self.view([0, 0, width, height]);
        let Some(cx) = self.cx.as_deref() else { return };
        let (draw, read, desktop) = (cx.draw_buffer, cx.read_buffer, cx.api.is_desktop());
        let objects = (cx.draw_framebuffer, cx.read_framebuffer);
        // SAFETY: the context is current; the commands take no pointers.
        unsafe {
            (self.gl.glScissor)(0, 0, width, height);
            if desktop && objects == (0, 0) {
                (self.gl.glDrawBuffer)(draw);
                (self.gl.glReadBuffer)(read);
            }
        }
    }

    /// Gives the current surfaces a separate front if the context draws to it or reads it.
    pub(crate) fn need_fronts(&mut self) -> Result<(), Fault> {
        let Some(cx) = self.cx.as_deref() else {
            return Ok(());
        };
        let draws = is_front(cx.draw_buffer) || is_both(cx.draw_buffer);
        let reads = is_front(cx.read_buffer);
        let draw = cx.draw.clone().filter(|_| draws);
        let read = cx.read.clone().filter(|_| reads);
        for surface in [draw, read].into_iter().flatten() {
            self.need_front(&surface)?;
        }
        Ok(())
    }

    pub(crate) fn handwritten_mgn_set_error(&mut self, code: u32) -> Result<(), Fault> {
        self.needs_context()?;
        self.set_error(code);
        Ok(())
    }

    pub(crate) fn handwritten_mgn_get_error(
        &mut self,
        code_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let code = self.errors().take();
        reply.array(&[code], code_count);
        Ok(())
    }

    pub(crate) fn handwritten_mgn_finish(&mut self, reply: &mut Reply) -> Result<(), Fault> {
        self.beat();
        if self.cx.is_some() {
            // SAFETY: a context is current.
            self.with_default_framebuffer_aside(|r| unsafe { (r.gl.glFinish)() });
        }
        reply.empty();
        Ok(())
    }

    pub(crate) fn handwritten_mgn_flush(&mut self) -> Result<(), Fault> {
        self.needs_context()?;
        // SAFETY: a context is current.
        self.with_default_framebuffer_aside(|r| unsafe { (r.gl.glFlush)() });
        Ok(())
    }

    /// Ends all contexts and surfaces, if other renderers of this process go on.
    pub(crate) fn clear_away(&mut self) {
        self.close_list();
        self.leave();
        // No context is current after this, not even one of the renderer that worked last.
        self.seats.turn.set(self.seat);
        // If this fails, it also fails for the other renderers when they try it.
        let _ = self.make_current(egl::NO_CONTEXT, egl::NO_SURFACE, egl::NO_SURFACE);
        for (_, mut cx) in std::mem::take(&mut self.contexts) {
            self.egl.destroy_context(cx.egl);
            for surface in [cx.draw.take(), cx.read.take()].into_iter().flatten() {
                self.release(surface);
            }
        }
        for (_, surface) in std::mem::take(&mut self.surfaces) {
            self.disown(surface);
        }
        for (_, image) in std::mem::take(&mut self.images) {
            self.egl.destroy_image(image);
        }
    }

    /// Whether the surface that a program describes can be the window that other programs already
    /// use.
    fn agrees(
        &self,
        window: &Surface,
        choice: Choice,
        single: bool,
        accumulates: bool,
        size: [u32; 2],
    ) -> Result<(), Fault> {
        let its = (
            window.choice.described.id,
            window.choice.srgb,
            window.single,
        );
        if its != (choice.described.id, choice.srgb, single)
            || window.accumulation.is_some() != accumulates
        {
            return Err(Fault::peers(
                "its window has a different format from those of the other programs; all of them must choose the same format",
            ));
        }
        if window.is_offset != self.is_offset {
            return Err(Fault::peers(
                "it draws its wall with a different tiling from the other programs; all of them must name the same wall",
            ));
        }
        let there = [window.width, window.height];
        if there != size.map(|side| side.max(1)) {
            let ([w, h], [x, y]) = (size, there);
            return Err(Fault::peers(format!(
                "its window is {w} x {h}, and those of the other programs are {x} x {y}; all of them must have the same size"
            )));
        }
        Ok(())
    }

    fn context(&self, id: u32) -> Option<&Context> {
        match self.cx.as_deref() {
            Some(cx) if cx.id == id => Some(cx),
            _ => self.contexts.get(&id).map(|cx| &**cx),
        }
    }
}
