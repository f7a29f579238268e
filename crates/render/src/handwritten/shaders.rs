//! Shaders and programs.

use crate::glsl;
use crate::names::Class;
use crate::renderer::{out, Renderer};
use mgn_wire::{gl::*, Fault, Reply, Slice};
use std::ffi::CString;

/// The most components that a uniform has.
const COMPONENTS: usize = 16;

impl Renderer {
    pub(crate) fn handwritten_gl_shader_source(
        &mut self,
        shader: u32,
        source: Slice<'_, u8>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let shader = self.name(Class::Program, shader);
        let kind = || {
            let mut kind = 0;
            // SAFETY: one integer is written.
            unsafe { (self.gl.glGetShaderiv)(shader, GL_SHADER_TYPE, &mut kind) };
            kind as u32
        };
        let source = self.offset_source(kind, source.to_vec());
        let length =
            i32::try_from(source.len()).map_err(|_| Fault::HugeCount(source.len() as u64))?;
        // SAFETY: one string of `length` bytes.
        unsafe { (self.gl.glShaderSource)(shader, 1, &source.as_ptr(), &length) };
        Ok(())
    }

    /// A shader's source for the driver.
    fn offset_source(&self, kind: impl FnOnce() -> u32, source: Vec<u8>) -> Vec<u8> {
        if !self.is_offset {
            return source;
        }
        let is_es = self.cx.as_deref().is_some_and(|cx| !cx.api.is_desktop());
        glsl::offset(kind(), &source, is_es).unwrap_or(source)
    }

    pub(crate) fn handwritten_gl_use_program(&mut self, program: u32) -> Result<(), Fault> {
        self.needs_context()?;
        let program = self.name(Class::Program, program);
        // SAFETY: the context is current.
        unsafe { (self.gl.glUseProgram)(program) };
        Ok(())
    }

    pub(crate) fn handwritten_gl_create_shader_programv(
        &mut self,
        kind: u32,
        count: i32,
        name: u32,
        source: Slice<'_, u8>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let source = CString::new(self.offset_source(|| kind, source.to_vec()))
            .map_err(|_| Fault::refused("a source with a NUL in it"))?;
        // SAFETY: one string at most, which ends with NUL.
        let driver = unsafe {
            (self.gl.glCreateShaderProgramv)(
                kind,
                count.clamp(0, 1),
                [source.as_ptr()].as_ptr().cast(),
            )
        };
        self.created(name, driver)
    }

    pub(crate) fn handwritten_gl_create_shader_program_ext(
        &mut self,
        type_: u32,
        string: Slice<'_, u8>,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let source = string.to_c_string()?;
        // SAFETY: the source ends with NUL.
        let driver = unsafe { (self.gl.glCreateShaderProgramEXT)(type_, source.as_ptr().cast()) };
        reply.value(self.told(Class::Program, driver)?);
        Ok(())
    }

    pub(crate) fn handwritten_gl_transform_feedback_varyings(
        &mut self,
        program: u32,
        count: i32,
        varyings: Slice<'_, u8>,
        buffer_mode: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let program = self.name(Class::Program, program);
        let names = strings(&varyings.to_vec(), count)?;
        let pointers: Vec<*const u8> = names.iter().map(|n| n.as_ptr().cast()).collect();
        // SAFETY: there are `count` strings, each ending with NUL.
        unsafe {
            (self.gl.glTransformFeedbackVaryings)(
                program,
                count,
                pointers.as_ptr().cast(),
                buffer_mode,
            )
        };
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_uniform_indices(
        &mut self,
        program: u32,
        count: i32,
        names: Slice<'_, u8>,
        indices_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let program = self.name(Class::Program, program);
        let names = strings(&names.to_vec(), count)?;
        let pointers: Vec<*const u8> = names.iter().map(|n| n.as_ptr().cast()).collect();
        let mut indices = out::<u32>(indices_count, names.len())?;
        self.error();
        // SAFETY: there are `count` strings, each ending with NUL, and room for as many indices.
        unsafe {
            (self.gl.glGetUniformIndices)(
                program,
                count,
                pointers.as_ptr().cast(),
                indices.as_mut_ptr(),
            )
        };
        // After an error, nothing was written.
        let failed = self.failed();
        reply.array(&indices, if failed { 0 } else { indices_count });
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_attached_shaders(
        &mut self,
        program: u32,
        max_count: i32,
        shaders_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        /// More shaders than a program's stages, and more than any program attaches.
        const ATTACHED_SHADERS_MAX: i32 = 4096;
        let program = self.name(Class::Program, program);
        let most = max_count.min(ATTACHED_SHADERS_MAX);
        let mut count = 0;
        let mut shaders = vec![0; ATTACHED_SHADERS_MAX as usize];
        // SAFETY: there is room for `most` names; a negative number is refused.
        unsafe { (self.gl.glGetAttachedShaders)(program, most, &mut count, shaders.as_mut_ptr()) };
        shaders.truncate(count.max(0) as usize);
        let table = self.names.table(Class::Program);
        let names: Vec<u32> = shaders
            .iter()
            .map(|s| table.client(*s).unwrap_or(0))
            .collect();
        reply.array(&names, shaders_count);
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_uniform_location(
        &mut self,
        program: u32,
        name: Slice<'_, u8>,
        answer_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let program = self.name(Class::Program, program);
        let name = name.to_c_string()?;
        // SAFETY: the name ends with NUL.
        let location = unsafe { (self.gl.glGetUniformLocation)(program, name.as_ptr().cast()) };
        reply.array(&[location], answer_count);
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_attrib_location(
        &mut self,
        program: u32,
        name: Slice<'_, u8>,
        answer_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let program = self.name(Class::Program, program);
        let name = name.to_c_string()?;
        // SAFETY: the name ends with NUL.
        let location = unsafe { (self.gl.glGetAttribLocation)(program, name.as_ptr().cast()) };
        reply.array(&[location], answer_count);
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_uniform_subroutineuiv(
        &mut self,
        shadertype: u32,
        location: i32,
        params_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let mut values = out::<u32>(params_count, 1)?;
        self.error();
        // SAFETY: one value is written.
        unsafe { (self.gl.glGetUniformSubroutineuiv)(shadertype, location, values.as_mut_ptr()) };
        reply.array(
            &values,
            if self.failed() {
                0
            } else {
                params_count.min(1)
            },
        );
        Ok(())
    }
}

/// The value of a uniform: exactly its components, so that the client writes no more than these to
/// the program's memory. The driver does not report how many there are. So the query runs on two
/// differently filled arrays, and elements that keep both fillings were not written.
fn written<T: Copy + PartialEq + Default>(fillings: [T; 2], get: impl Fn(*mut T)) -> Vec<T> {
    let mut both = fillings.map(|f| [f; COMPONENTS]);
    for values in &mut both {
        get(values.as_mut_ptr());
    }
    let untouched = |i: usize| both[0][i] == fillings[0] && both[1][i] == fillings[1];
    let count = (0..COMPONENTS)
        .rev()
        .find(|i| !untouched(*i))
        .map_or(0, |i| i + 1);
    both[0][..count].to_vec()
}

macro_rules! uniform_values {
    ($($ty:ty, $fillings:expr => $plain:ident = $gl:ident, $sized:ident;)*) => {
        impl Renderer {
            $(pub(crate) fn $plain(&mut self, program: u32, location: i32, params_count: u32, reply: &mut Reply) -> Result<(), Fault> {
                self.needs_context()?;
                let program = self.name(Class::Program, program);
                // SAFETY: there is room for the largest uniform.
                let values = written::<$ty>($fillings, |to| unsafe { (self.gl.$gl)(program, location, to) });
                reply.array(&values, params_count);
                Ok(())
            }

            pub(crate) fn $sized(&mut self, program: u32, location: i32, size: i32, params_count: u32, reply: &mut Reply) -> Result<(), Fault> {
                self.needs_context()?;
                let driver = self.name(Class::Program, program);
                // SAFETY: as above.
                let values = written::<$ty>($fillings, |to| unsafe { (self.gl.$gl)(driver, location, to) });
                if !values.is_empty() && usize::try_from(size).unwrap_or(0) < size_of_val(&values[..]) {
                    self.set_error(GL_INVALID_OPERATION);
                    reply.array::<$ty>(&[], 0);
                } else {
                    reply.array(&values, params_count);
                }
                Ok(())
            })*
        }
    };
}

uniform_values! {
    f32, [1.0e-37, -3.25e37] => handwritten_gl_get_uniformfv = glGetUniformfv, handwritten_gl_getn_uniformfv;
    f64, [1.0e-307, -3.25e307] => handwritten_gl_get_uniformdv = glGetUniformdv, handwritten_gl_getn_uniformdv;
    i32, [0x5a17_c3e9, -0x1234_5677] => handwritten_gl_get_uniformiv = glGetUniformiv, handwritten_gl_getn_uniformiv;
    u32, [0x5a17_c3e9, 0xedcb_a989] => handwritten_gl_get_uniformuiv = glGetUniformuiv, handwritten_gl_getn_uniformuiv;
    i64, [0x5a17_c3e9_0b2d_4f68, -0x1234_5677_89ab_cdef] => handwritten_gl_get_uniformi64v_arb = glGetUniformi64vARB, handwritten_gl_getn_uniformi64v_arb;
    u64, [0x5a17_c3e9_0b2d_4f68, 0x1234_5677_89ab_cdef] => handwritten_gl_get_uniformui64v_arb = glGetUniformui64vARB, handwritten_gl_getn_uniformui64v_arb;
}

/// `count` strings, each ended by NUL (the last one may lack it).
pub(super) fn strings(bytes: &[u8], count: i32) -> Result<Vec<CString>, Fault> {
    let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
    let count = usize::try_from(count).unwrap_or(0);
    if count == 0 {
        return Ok(Vec::new());
    }
    let strings: Result<Vec<CString>, _> = bytes.split(|b| *b == 0).map(CString::new).collect();
    let strings = strings.map_err(|_| Fault::BadString)?;
    if strings.len() == count {
        Ok(strings)
    } else {
        Err(Fault::BadString)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_counted() {
        assert_eq!(strings(b"a\0bc\0", 2).unwrap().len(), 2);
        assert_eq!(strings(b"a\0bc", 2).unwrap().len(), 2);
        assert_eq!(strings(b"", 0).unwrap().len(), 0);
        assert!(strings(b"a\0", 2).is_err());
        assert!(strings(b"a\0b\0c", 2).is_err());
    }

    #[test]
    fn what_was_written_is_seen() {
        // SAFETY: there is room for three values.
        let get = |to: *mut f32| unsafe { to.copy_from([1.0, 0.0, 2.0].as_ptr(), 3) };
        assert_eq!(written([1.0e-37, -3.0e37], get), [1.0, 0.0, 2.0]);
        assert_eq!(written([5i32, 6], |_| {}), [0i32; 0]);
    }
}
