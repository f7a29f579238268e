//! Programs of extensions older than GLSL: in assembly language (ARB_vertex_program,
//! ARB_fragment_program), and ATI_fragment_shader.

use crate::names::{Class, OBJECTS_MAX};
use crate::renderer::Renderer;
use mgn_wire::{gl::*, Fault, Reply, Slice};
use std::ffi::CStr;

/// More parameters than any program has. Drivers refuse this index, and adding to it does not
/// overflow.
const BEYOND: u32 = 1 << 20;

/// Commands that set or return a program's string, of the bound program or of a named one.
macro_rules! strings {
    ($($set:ident = $set_gl:ident, $get:ident = $get_gl:ident, $length_gl:ident ($($program:ident)?);)*) => {
        impl Renderer {
            $(pub(crate) fn $set(&mut self, $($program: u32,)? target: u32, format: u32, string: Slice<'_, u8>) -> Result<(), Fault> {
                self.needs_context()?;
                $(let $program = self.name(Class::Assembly, $program);)?
                let mut string = string.to_vec();
                let Ok(length) = i32::try_from(string.len()) else {
                    return Err(Fault::refused("a program of more than 2 GiB"));
                };
                // Drivers look for a NUL although they get the length.
                string.push(0);
                // SAFETY: the string has the length, and a NUL behind it.
                unsafe { (self.gl.$set_gl)($($program,)? target, format, length, string.as_ptr().cast()) };
                Ok(())
            }

            pub(crate) fn $get(&mut self, $($program: u32,)? target: u32, pname: u32, count: u32, reply: &mut Reply) -> Result<(), Fault> {
                self.needs_context()?;
                $(let $program = self.name(Class::Assembly, $program);)?
                let mut length = 0;
                if matches!(target, GL_VERTEX_PROGRAM_ARB | GL_FRAGMENT_PROGRAM_ARB) {
                    // SAFETY: one value is written.
                    unsafe { (self.gl.$length_gl)($($program,)? target, GL_PROGRAM_LENGTH_ARB, &mut length) };
                }
                // One byte more, for a driver that appends a NUL.
                let mut string = vec![0u8; usize::try_from(length).unwrap_or(0) + 1];
                self.error();
                // SAFETY: there is room for the string.
                unsafe { (self.gl.$get_gl)($($program,)? target, pname, string.as_mut_ptr().cast()) };
                string.pop();
                let count = count.min(string.len() as u32);
                reply.array(&string, if self.failed() { 0 } else { count });
                Ok(())
            })*
        }
    };
}

strings! {
    handwritten_gl_program_string_arb = glProgramStringARB, handwritten_gl_get_program_string_arb = glGetProgramStringARB, glGetProgramivARB();
    handwritten_gl_named_program_string_ext = glNamedProgramStringEXT,
        handwritten_gl_get_named_program_string_ext = glGetNamedProgramStringEXT, glGetNamedProgramivEXT(program);
}

impl Renderer {
    pub(crate) fn handwritten_mgn_get_program_error_string(
        &mut self,
        count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        // SAFETY: no pointer goes in.
        let text = unsafe { (self.gl.glGetString)(GL_PROGRAM_ERROR_STRING_ARB) };
        reply_text(text, count, reply);
        Ok(())
    }

    pub(crate) fn handwritten_mgn_get_stringi(
        &mut self,
        name: u32,
        index: u32,
        count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        // SAFETY: no pointer goes in.
        let text = unsafe { (self.gl.glGetStringi)(name, index) };
        // The NUL is sent, too, because an empty string may be a version of the shading language.
        let text = match text.is_null() {
            true => &[][..],
            // SAFETY: the driver's string ends with NUL and stays where it is.
            false => unsafe { CStr::from_ptr(text.cast()) }.to_bytes_with_nul(),
        };
        reply.array(text, count);
        Ok(())
    }

    pub(super) fn generate_fragment_shaders(&self, names: &mut [u32]) {
        // SAFETY: the command takes no pointer.
        let first = unsafe { (self.gl.glGenFragmentShadersATI)(names.len() as u32) };
        if first != 0 {
            (first..)
                .zip(names)
                .for_each(|(driver, name)| *name = driver);
        }
    }

    pub(crate) fn handwritten_gl_gen_fragment_shaders_ati(
        &mut self,
        first: u32,
        range: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if first == 0 || range as usize > OBJECTS_MAX || first.checked_add(range).is_none() {
            return Err(Fault::refused("unknown names of fragment shaders"));
        }
        let names: Vec<u32> = (first..first + range).collect();
        self.generate_each(Class::FragmentShader, &names)
    }

    pub(crate) fn handwritten_gl_delete_fragment_shader_ati(
        &mut self,
        id: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let table = self.names.table(Class::FragmentShader);
        // An unused name is no error, except between glBeginFragmentShaderATI and
        // glEndFragmentShaderATI.
        let driver = table.get(id).unwrap_or(0);
        self.error();
        // SAFETY: the command takes no pointer.
        unsafe { (self.gl.glDeleteFragmentShaderATI)(driver) };
        if driver != 0 && !self.failed() {
            self.names.table_mut(Class::FragmentShader).remove(id);
        }
        Ok(())
    }
}

/// Answers with a string of the driver's. It is null, or ends with NUL and is valid until the next
/// call.
fn reply_text(text: *const u8, count: u32, reply: &mut Reply) {
    let text = match text.is_null() {
        true => &[][..],
        // SAFETY: as said above.
        false => unsafe { CStr::from_ptr(text.cast()).to_bytes() },
    };
    reply.array(text, count);
}

/// Commands for parameters. Some drivers add to the index before they compare it, so the index must
/// not be one that overflows.
macro_rules! parameters {
    ($($hand:ident = $gl:ident($($program:ident)?);)*) => {
        impl Renderer {
            $(pub(crate) fn $hand(&mut self, $($program: u32,)? target: u32, index: u32, count: i32, params: Slice<'_, f32>) -> Result<(), Fault> {
                self.needs_context()?;
                $(let $program = self.name(Class::Assembly, $program);)?
                let params = params.to_vec();
                // Drivers refuse a negative count, but some continue with it.
                let count = count.max(0);
                if params.len() < count as usize * 4 {
                    return Err(Fault::refused("fewer parameters than the program sets"));
                }
                // SAFETY: there are as many values, and the index with the count does not wrap
                // around.
                unsafe { (self.gl.$gl)($($program,)? target, index.min(BEYOND), count, params.as_ptr()) };
                Ok(())
            })*
        }
    };
}

parameters! {
    handwritten_gl_program_env_parameters4fv_ext = glProgramEnvParameters4fvEXT();
    handwritten_gl_program_local_parameters4fv_ext = glProgramLocalParameters4fvEXT();
    handwritten_gl_named_program_local_parameters4fv_ext = glNamedProgramLocalParameters4fvEXT(program);
}

macro_rules! local_parameter_values {
    ($($hand:ident = $gl:ident($($program:ident)?) $type:ty;)*) => {
        impl Renderer {
            $(#[allow(clippy::too_many_arguments)]
            pub(crate) fn $hand(&mut self, $($program: u32,)? target: u32, index: u32, x: $type, y: $type, z: $type, w: $type) -> Result<(), Fault> {
                self.needs_context()?;
                $(let $program = self.name(Class::Assembly, $program);)?
                // SAFETY: the command takes no pointer.
                unsafe { (self.gl.$gl)($($program,)? target, index.min(BEYOND), x, y, z, w) };
                Ok(())
            })*
        }
    };
}

local_parameter_values! {
    handwritten_gl_program_local_parameter4d_arb = glProgramLocalParameter4dARB() f64;
    handwritten_gl_program_local_parameter4f_arb = glProgramLocalParameter4fARB() f32;
    handwritten_gl_named_program_local_parameter4d_ext = glNamedProgramLocalParameter4dEXT(program) f64;
    handwritten_gl_named_program_local_parameter4f_ext = glNamedProgramLocalParameter4fEXT(program) f32;
}

macro_rules! local_parameter_vectors {
    ($($type:ty: $set:ident = $set_gl:ident, $get:ident = $get_gl:ident($($program:ident)?);)*) => {
        impl Renderer {
            $(pub(crate) fn $set(&mut self, $($program: u32,)? target: u32, index: u32, params: Slice<'_, $type>) -> Result<(), Fault> {
                self.needs_context()?;
                $(let $program = self.name(Class::Assembly, $program);)?
                let params: [$type; 4] = params.to_vec().try_into().map_err(|_| Fault::refused("a parameter of other than four values"))?;
                // SAFETY: the array has the four values that the command reads.
                unsafe { (self.gl.$set_gl)($($program,)? target, index.min(BEYOND), params.as_ptr()) };
                Ok(())
            }

            pub(crate) fn $get(&mut self, $($program: u32,)? target: u32, index: u32, count: u32, reply: &mut Reply) -> Result<(), Fault> {
                self.needs_context()?;
                $(let $program = self.name(Class::Assembly, $program);)?
                let mut params = [0.0; 4];
                self.error();
                // SAFETY: the array has room for the four values that the command writes.
                unsafe { (self.gl.$get_gl)($($program,)? target, index.min(BEYOND), params.as_mut_ptr()) };
                reply.array(&params, if self.failed() { 0 } else { count.min(4) });
                Ok(())
            })*
        }
    };
}

local_parameter_vectors! {
    f64: handwritten_gl_program_local_parameter4dv_arb = glProgramLocalParameter4dvARB, handwritten_gl_get_program_local_parameterdv_arb = glGetProgramLocalParameterdvARB();
    f32: handwritten_gl_program_local_parameter4fv_arb = glProgramLocalParameter4fvARB, handwritten_gl_get_program_local_parameterfv_arb = glGetProgramLocalParameterfvARB();
    f64: handwritten_gl_named_program_local_parameter4dv_ext = glNamedProgramLocalParameter4dvEXT,
        handwritten_gl_get_named_program_local_parameterdv_ext = glGetNamedProgramLocalParameterdvEXT(program);
    f32: handwritten_gl_named_program_local_parameter4fv_ext = glNamedProgramLocalParameter4fvEXT,
        handwritten_gl_get_named_program_local_parameterfv_ext = glGetNamedProgramLocalParameterfvEXT(program);
}
