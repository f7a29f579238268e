//! Objects that a program generates, deletes and waits for.

use crate::generated::driver::Gl;
use crate::names::{Class, Sync, OBJECTS_MAX};
use crate::renderer::Renderer;
use mgn_wire::{gl::*, Fault, Reply, Slice};

/// The first name that the renderer chooses if the client could not. Clients choose only lower
/// names.
const FIRST_OF_OURS: u32 = 0x7000_0000;

impl Renderer {
    /// Makes the driver generate names; zeros if it does not.
    pub(crate) fn generate(&self, class: Class, names: &mut [u32]) {
        let gl = &self.gl;
        let generate = match class {
            Class::Buffer => gl.glGenBuffers,
            Class::Texture => gl.glGenTextures,
            Class::Renderbuffer => gl.glGenRenderbuffers,
            Class::Sampler => gl.glGenSamplers,
            Class::Framebuffer => gl.glGenFramebuffers,
            Class::VertexArray => gl.glGenVertexArrays,
            Class::Query => gl.glGenQueries,
            Class::Pipeline => gl.glGenProgramPipelines,
            Class::TransformFeedback => gl.glGenTransformFeedbacks,
            Class::Assembly => gl.glGenProgramsARB,
            Class::FragmentShader => return self.generate_fragment_shaders(names),
            Class::Program => return,
        };
        // SAFETY: the slice has room for the names.
        unsafe { generate(names.len() as i32, names.as_mut_ptr()) };
    }

    fn generate_as(&mut self, class: Class, names: Slice<'_, u32>) -> Result<(), Fault> {
        self.make_as(class, names, |r, drivers| r.generate(class, drivers))
    }

    /// Makes the driver create as many objects as the client has chosen names for, and maps the
    /// names.
    fn make_as(
        &mut self,
        class: Class,
        names: Slice<'_, u32>,
        make: impl FnOnce(&Renderer, &mut [u32]),
    ) -> Result<(), Fault> {
        self.needs_context()?;
        self.make_each(class, &names.to_vec(), make)
    }

    /// Makes the driver generate a name for each of the client's.
    pub(super) fn generate_each(&mut self, class: Class, names: &[u32]) -> Result<(), Fault> {
        self.make_each(class, names, |r, drivers| r.generate(class, drivers))
    }

    fn make_each(
        &mut self,
        class: Class,
        names: &[u32],
        make: impl FnOnce(&Renderer, &mut [u32]),
    ) -> Result<(), Fault> {
        let mut drivers = vec![0; names.len()];
        make(self, &mut drivers);
        for (&name, driver) in names.iter().zip(drivers) {
            // If a program has used a name before it generated it, the name keeps its object.
            if name == 0 || driver == 0 || self.names.table(class).get(name).is_some() {
                continue;
            }
            if !self.names.table_mut(class).set(name, driver) {
                return Err(Fault::refused("more objects than a program may have"));
            }
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_create_textures(
        &mut self,
        target: u32,
        names: Slice<'_, u32>,
    ) -> Result<(), Fault> {
        self.make_as(Class::Texture, names, |r, to| {
            // SAFETY: the slice has room for the names.
            unsafe { (r.gl.glCreateTextures)(target, to.len() as i32, to.as_mut_ptr()) };
        })
    }

    pub(crate) fn handwritten_gl_create_queries(
        &mut self,
        target: u32,
        names: Slice<'_, u32>,
    ) -> Result<(), Fault> {
        self.make_as(Class::Query, names, |r, to| {
            // SAFETY: the slice has room for the names.
            unsafe { (r.gl.glCreateQueries)(target, to.len() as i32, to.as_mut_ptr()) };
        })
    }

    fn delete(&mut self, class: Class, names: Slice<'_, u32>) -> Result<(), Fault> {
        self.needs_context()?;
        if self.is_in_primitive() {
            return Ok(());
        }
        let names = names.to_vec();
        let table = self.names.table_mut(class);
        let mut drivers: Vec<u32> = names.iter().filter_map(|&n| table.remove(n)).collect();
        if class == Class::Query {
            drivers.extend(self.cx()?.counts.delete(&names));
        }
        if class == Class::Texture {
            self.before_textures_deleted(&drivers)?;
        }
        if class == Class::Buffer {
            self.before_buffers_deleted(&drivers);
        }
        let gl = &self.gl;
        let delete = match class {
            Class::Buffer => gl.glDeleteBuffers,
            Class::Texture => gl.glDeleteTextures,
            Class::Renderbuffer => gl.glDeleteRenderbuffers,
            Class::Sampler => gl.glDeleteSamplers,
            Class::Framebuffer => gl.glDeleteFramebuffers,
            Class::VertexArray => gl.glDeleteVertexArrays,
            Class::Query => gl.glDeleteQueries,
            Class::Pipeline => gl.glDeleteProgramPipelines,
            Class::TransformFeedback => gl.glDeleteTransformFeedbacks,
            Class::Assembly => gl.glDeleteProgramsARB,
            Class::Program | Class::FragmentShader => return Ok(()),
        };
        // SAFETY: the vector holds the names.
        unsafe { delete(drivers.len() as i32, drivers.as_ptr()) };
        if class == Class::TransformFeedback {
            self.keep_active(&names, &drivers);
        }
        match class {
            Class::Buffer => self.buffers_deleted(&drivers),
            Class::VertexArray => self.vertex_arrays_deleted(&names)?,
            Class::Framebuffer => self.framebuffers_deleted(&names),
            Class::Texture => self
                .names
                .shared
                .views
                .retain(|view, _| !names.contains(view)),
            _ => {}
        }
        Ok(())
    }

    /// Active transform feedback objects cannot be deleted, and keep their names.
    fn keep_active(&mut self, names: &[u32], drivers: &[u32]) {
        // SAFETY: the context is current.
        let is_there = |gl: &Gl, driver| unsafe { (gl.glIsTransformFeedback)(driver) } != 0;
        for &driver in drivers {
            if is_there(&self.gl, driver) {
                let table = self.names.table_mut(Class::TransformFeedback);
                if let Some(name) = table.shown(driver).filter(|name| names.contains(name)) {
                    table.set(name, driver);
                }
            }
        }
    }

    /// The client's name of a driver's object whose name the client did not choose.
    pub(crate) fn told(&mut self, class: Class, driver: u32) -> Result<u32, Fault> {
        if driver == 0 {
            return Ok(0);
        }
        let name = FIRST_OF_OURS | driver;
        if !self.names.table_mut(class).set(name, driver) {
            return Err(Fault::refused("more objects than a program may have"));
        }
        Ok(name)
    }

    /// Generates names for a client that asks for them instead of choosing them.
    fn generate_and_tell(
        &mut self,
        class: Class,
        n: i32,
        count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if n < 0 {
            self.set_error(GL_INVALID_VALUE);
        }
        let n = usize::try_from(n)
            .unwrap_or(0)
            .min(count as usize)
            .min(OBJECTS_MAX);
        let mut drivers = vec![0; n];
        self.generate(class, &mut drivers);
        let mut names = Vec::with_capacity(n);
        for driver in drivers {
            names.push(self.told(class, driver)?);
        }
        reply.array(&names, count);
        Ok(())
    }

    pub(crate) fn handwritten_gl_create_shader(
        &mut self,
        kind: u32,
        name: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        // SAFETY: the context is current.
        let driver = unsafe { (self.gl.glCreateShader)(kind) };
        self.created(name, driver)
    }

    pub(crate) fn handwritten_gl_create_program(&mut self, name: u32) -> Result<(), Fault> {
        self.needs_context()?;
        // SAFETY: the context is current.
        let driver = unsafe { (self.gl.glCreateProgram)() };
        self.created(name, driver)
    }

    pub(super) fn created(&mut self, name: u32, driver: u32) -> Result<(), Fault> {
        if name == 0 {
            return Err(Fault::refused("a shader or program without a name"));
        }
        if driver != 0 && !self.names.table_mut(Class::Program).set(name, driver) {
            return Err(Fault::refused("more objects than a program may have"));
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_fence_sync(
        &mut self,
        condition: u32,
        flags: u32,
        name: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if name == 0 || self.names.shared.syncs.len() >= OBJECTS_MAX {
            return Err(Fault::refused("a fence without a name, or one too many"));
        }
        // SAFETY: the context is current.
        let fence = unsafe { (self.gl.glFenceSync)(condition, flags) };
        if !fence.is_null() {
            if let Some(old) = self.names.shared.syncs.insert(name, Sync(fence)) {
                // SAFETY: the fence is the driver's, and nothing names it any more.
                unsafe { (self.gl.glDeleteSync)(old.0.cast_mut()) };
            }
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_delete_sync(&mut self, name: u32) -> Result<(), Fault> {
        self.needs_context()?;
        match self.names.shared.syncs.remove(&name) {
            // SAFETY: the fence is the driver's, and nothing names it any more.
            Some(fence) => unsafe { (self.gl.glDeleteSync)(fence.0.cast_mut()) },
            None if name != 0 => self.set_error(GL_INVALID_VALUE),
            None => {}
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_client_wait_sync(
        &mut self,
        sync: u32,
        flags: u32,
        timeout: u64,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        const STEP: u64 = 1_000_000_000;
        let fence = self.sync(sync);
        let mut left = timeout;
        // In steps, so that a long wait does not count as a command that hangs.
        let result = loop {
            let step = left.min(STEP);
            // SAFETY: the fence is the driver's, or null, which it refuses.
            let result = unsafe { (self.gl.glClientWaitSync)(fence, flags, step) };
            left -= step;
            if result != GL_TIMEOUT_EXPIRED || left == 0 {
                break result;
            }
            self.beat();
        };
        reply.value(result);
        Ok(())
    }

    pub(crate) fn handwritten_gl_wait_sync(
        &mut self,
        sync: u32,
        flags: u32,
        timeout: u64,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let fence = self.sync(sync);
        // SAFETY: the fence is the driver's, or null, which it refuses.
        unsafe { (self.gl.glWaitSync)(fence, flags, timeout) };
        Ok(())
    }
}

macro_rules! names {
    ($($class:ident: $generate:ident, $delete:ident;)*) => {
        impl Renderer {
            $(pub(crate) fn $generate(&mut self, names: Slice<'_, u32>) -> Result<(), Fault> {
                self.generate_as(Class::$class, names)
            }

            pub(crate) fn $delete(&mut self, names: Slice<'_, u32>) -> Result<(), Fault> {
                self.delete(Class::$class, names)
            })*
        }
    };
}

names! {
    Buffer: handwritten_gl_gen_buffers, handwritten_gl_delete_buffers;
    Texture: handwritten_gl_gen_textures, handwritten_gl_delete_textures;
    Renderbuffer: handwritten_gl_gen_renderbuffers, handwritten_gl_delete_renderbuffers;
    Sampler: handwritten_gl_gen_samplers, handwritten_gl_delete_samplers;
    Framebuffer: handwritten_gl_gen_framebuffers, handwritten_gl_delete_framebuffers;
    VertexArray: handwritten_gl_gen_vertex_arrays, handwritten_gl_delete_vertex_arrays;
    Query: handwritten_gl_gen_queries, handwritten_gl_delete_queries;
    Pipeline: handwritten_gl_gen_program_pipelines, handwritten_gl_delete_program_pipelines;
    TransformFeedback: handwritten_gl_gen_transform_feedbacks, handwritten_gl_delete_transform_feedbacks;
    Assembly: handwritten_gl_gen_programs_arb, handwritten_gl_delete_programs_arb;
}

macro_rules! created {
    ($($class:ident: $hand:ident = $gl:ident;)*) => {
        impl Renderer {
            $(pub(crate) fn $hand(&mut self, names: Slice<'_, u32>) -> Result<(), Fault> {
                self.make_as(Class::$class, names, |r, to| {
                    // SAFETY: the slice has room for the names.
                    unsafe { (r.gl.$gl)(to.len() as i32, to.as_mut_ptr()) };
                })
            })*
        }
    };
}

created! {
    Buffer: handwritten_gl_create_buffers = glCreateBuffers;
    Renderbuffer: handwritten_gl_create_renderbuffers = glCreateRenderbuffers;
    Sampler: handwritten_gl_create_samplers = glCreateSamplers;
    Framebuffer: handwritten_gl_create_framebuffers = glCreateFramebuffers;
    VertexArray: handwritten_gl_create_vertex_arrays = glCreateVertexArrays;
    Pipeline: handwritten_gl_create_program_pipelines = glCreateProgramPipelines;
    TransformFeedback: handwritten_gl_create_transform_feedbacks = glCreateTransformFeedbacks;
}

/// Older commands, which the registry does not list as aliases.
macro_rules! older_names {
    ($($class:ident: $generate:ident, $delete:ident;)*) => {
        impl Renderer {
            $(pub(crate) fn $generate(&mut self, n: i32, count: u32, reply: &mut Reply) -> Result<(), Fault> {
                self.generate_and_tell(Class::$class, n, count, reply)
            }

            pub(crate) fn $delete(&mut self, _n: i32, names: Slice<'_, u32>) -> Result<(), Fault> {
                self.delete(Class::$class, names)
            })*
        }
    };
}

older_names! {
    Texture: handwritten_gl_gen_textures_ext, handwritten_gl_delete_textures_ext;
    Renderbuffer: handwritten_gl_gen_renderbuffers_oes, handwritten_gl_delete_renderbuffers_oes;
    Framebuffer: handwritten_gl_gen_framebuffers_oes, handwritten_gl_delete_framebuffers_oes;
    Query: handwritten_gl_gen_queries_ext, handwritten_gl_delete_queries_ext;
    Pipeline: handwritten_gl_gen_program_pipelines_ext, handwritten_gl_delete_program_pipelines_ext;
}
