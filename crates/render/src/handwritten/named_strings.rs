//! GL_ARB_shading_language_include: strings that shaders include by name.

use super::shaders::strings;
use crate::names::Class;
use crate::renderer::Renderer;
use mgn_wire::gl::GL_NAMED_STRING_LENGTH_ARB;
use mgn_wire::{Fault, Reply, Slice};

/// A string's bytes and their number, as the driver takes them. A NUL follows, in case the driver
/// looks for one.
struct Text(Vec<u8>, i32);

impl Text {
    fn new(bytes: Slice<'_, u8>) -> Result<Text, Fault> {
        let mut bytes = bytes.to_vec();
        let length =
            i32::try_from(bytes.len()).map_err(|_| Fault::HugeCount(bytes.len() as u64))?;
        bytes.push(0);
        Ok(Text(bytes, length))
    }

    fn as_ptr<T>(&self) -> *const T {
        self.0.as_ptr().cast()
    }
}

impl Renderer {
    pub(crate) fn handwritten_gl_named_string_arb(
        &mut self,
        type_: u32,
        name: Slice<'_, u8>,
        string: Slice<'_, u8>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let (name, string) = (Text::new(name)?, Text::new(string)?);
        // SAFETY: the strings have these lengths.
        unsafe {
            (self.gl.glNamedStringARB)(type_, name.1, name.as_ptr(), string.1, string.as_ptr())
        };
        Ok(())
    }

    pub(crate) fn handwritten_gl_delete_named_string_arb(
        &mut self,
        name: Slice<'_, u8>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let name = Text::new(name)?;
        // SAFETY: as above.
        unsafe { (self.gl.glDeleteNamedStringARB)(name.1, name.as_ptr()) };
        Ok(())
    }

    pub(crate) fn handwritten_gl_compile_shader_include_arb(
        &mut self,
        shader: u32,
        count: i32,
        paths: Slice<'_, u8>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let shader = self.object(Class::Program, shader);
        let paths = strings(&paths.to_vec(), count)?;
        let pointers: Vec<*const u8> = paths.iter().map(|p| p.as_ptr().cast()).collect();
        // SAFETY: there is that number of strings, each ending with NUL. Drivers take a negative
        // number of strings for a large one.
        unsafe {
            (self.gl.glCompileShaderIncludeARB)(
                shader,
                paths.len() as i32,
                pointers.as_ptr().cast(),
                std::ptr::null(),
            )
        };
        Ok(())
    }

    pub(crate) fn handwritten_gl_is_named_string_arb(
        &mut self,
        name: Slice<'_, u8>,
        answer_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let name = Text::new(name)?;
        // SAFETY: as above.
        let is = unsafe { (self.gl.glIsNamedStringARB)(name.1, name.as_ptr()) };
        reply.array(&[is], answer_count);
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_named_string_arb(
        &mut self,
        name: Slice<'_, u8>,
        size: i32,
        stringlen_count: u32,
        string_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let name = Text::new(name)?;
        self.error();
        // Drivers do not respect sizes below 1, so they get room for the whole string.
        let mut room = 0;
        // SAFETY: as above; one value is written.
        unsafe {
            (self.gl.glGetNamedStringivARB)(
                name.1,
                name.as_ptr(),
                GL_NAMED_STRING_LENGTH_ARB,
                &mut room,
            )
        };
        let mut string = vec![0u8; usize::try_from(room).unwrap_or(0) + 1];
        let mut length = 0;
        let failed = self.failed();
        if !failed {
            // SAFETY: there is room for the string and its NUL.
            unsafe {
                (self.gl.glGetNamedStringARB)(
                    name.1,
                    name.as_ptr(),
                    string.len() as i32,
                    &mut length,
                    string.as_mut_ptr().cast(),
                )
            };
        }
        let length = length.clamp(0, room).min(size.saturating_sub(1).max(0));
        string.truncate(length as usize);
        string.push(0);
        let given = string_count.min(string.len() as u32);
        reply.array(&[length], if failed { 0 } else { stringlen_count });
        reply.array(&string, if failed { 0 } else { given });
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_named_stringiv_arb(
        &mut self,
        name: Slice<'_, u8>,
        pname: u32,
        params_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let name = Text::new(name)?;
        let mut value = 0;
        self.error();
        // SAFETY: as above; one value is written.
        unsafe { (self.gl.glGetNamedStringivARB)(name.1, name.as_ptr(), pname, &mut value) };
        let count = if self.failed() { 0 } else { params_count };
        reply.array(&[value], count);
        Ok(())
    }
}
