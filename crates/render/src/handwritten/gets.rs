//! Queries of state for which the driver's answer is replaced: names, the default framebuffer,
//! pixel store.

use crate::context::{Api, Context};
use crate::names::Class;
use crate::renderer::{out, Renderer};
use mgn_wire::{gl::*, lens, Fault, Reply};

/// State that is the name of an object.
const NAMES: &[(u32, Class)] = &[
    (GL_ARRAY_BUFFER_BINDING, Class::Buffer),
    (GL_ATOMIC_COUNTER_BUFFER_BINDING, Class::Buffer),
    (GL_COPY_READ_BUFFER_BINDING, Class::Buffer),
    (GL_COPY_WRITE_BUFFER_BINDING, Class::Buffer),
    (GL_DISPATCH_INDIRECT_BUFFER_BINDING, Class::Buffer),
    (GL_DRAW_INDIRECT_BUFFER_BINDING, Class::Buffer),
    (GL_ELEMENT_ARRAY_BUFFER_BINDING, Class::Buffer),
    (GL_PARAMETER_BUFFER_BINDING, Class::Buffer),
    (GL_PIXEL_PACK_BUFFER_BINDING, Class::Buffer),
    (GL_PIXEL_UNPACK_BUFFER_BINDING, Class::Buffer),
    (GL_QUERY_BUFFER_BINDING, Class::Buffer),
    (GL_SHADER_STORAGE_BUFFER_BINDING, Class::Buffer),
    (GL_TEXTURE_BUFFER_BINDING, Class::Buffer),
    (GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, Class::Buffer),
    (GL_UNIFORM_BUFFER_BINDING, Class::Buffer),
    (GL_VERTEX_ARRAY_BUFFER_BINDING, Class::Buffer),
    (GL_NORMAL_ARRAY_BUFFER_BINDING, Class::Buffer),
    (GL_COLOR_ARRAY_BUFFER_BINDING, Class::Buffer),
    (GL_INDEX_ARRAY_BUFFER_BINDING, Class::Buffer),
    (GL_TEXTURE_COORD_ARRAY_BUFFER_BINDING, Class::Buffer),
    (GL_EDGE_FLAG_ARRAY_BUFFER_BINDING, Class::Buffer),
    (GL_SECONDARY_COLOR_ARRAY_BUFFER_BINDING, Class::Buffer),
    (GL_FOG_COORD_ARRAY_BUFFER_BINDING, Class::Buffer),
    (GL_CURRENT_PROGRAM, Class::Program),
    (GL_DRAW_FRAMEBUFFER_BINDING, Class::Framebuffer),
    (GL_READ_FRAMEBUFFER_BINDING, Class::Framebuffer),
    (GL_RENDERBUFFER_BINDING, Class::Renderbuffer),
    (GL_PROGRAM_PIPELINE_BINDING, Class::Pipeline),
    (GL_SAMPLER_BINDING, Class::Sampler),
    (GL_TRANSFORM_FEEDBACK_BINDING, Class::TransformFeedback),
    (GL_TEXTURE_BINDING_1D, Class::Texture),
    (GL_TEXTURE_BINDING_1D_ARRAY, Class::Texture),
    (GL_TEXTURE_BINDING_2D, Class::Texture),
    (GL_TEXTURE_BINDING_2D_ARRAY, Class::Texture),
    (GL_TEXTURE_BINDING_2D_MULTISAMPLE, Class::Texture),
    (GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY, Class::Texture),
    (GL_TEXTURE_BINDING_3D, Class::Texture),
    (GL_TEXTURE_BINDING_BUFFER, Class::Texture),
    (GL_TEXTURE_BINDING_CUBE_MAP, Class::Texture),
    (GL_TEXTURE_BINDING_CUBE_MAP_ARRAY, Class::Texture),
    (GL_TEXTURE_BINDING_RECTANGLE, Class::Texture),
    (GL_TEXTURE_BINDING_EXTERNAL_OES, Class::Texture),
];

/// Lists are at most this long; the longest is that of compressed formats.
const LIST_MAX: usize = 1 << 14;

macro_rules! format_queries {
    ($($name:ident = $gl:ident: $type:ty, $fillings:expr;)*) => {$(
        /// Answers with the values that the driver has written, which may be fewer than the program
        /// has room for. The query runs on two differently filled arrays, and elements that keep
        /// both fillings were not written.
        pub(crate) fn $name(
            &mut self,
            target: u32,
            format: u32,
            pname: u32,
            count: i32,
            params_count: u32,
            reply: &mut Reply,
        ) -> Result<(), Fault> {
            self.needs_context()?;
            if count < 0 {
                // In the 64-bit query, Mesa uses the count as the length of a memset on its stack.
                // SAFETY: the driver refuses the count, and writes nothing.
                unsafe { (self.gl.glGetInternalformativ)(target, format, pname, count, [0; 1].as_mut_ptr()) };
                reply.array::<$type>(&[], 0);
                return Ok(());
            }
            let room = lens::times(count.into(), 1);
            let [mut values, mut again] = [out::<$type>(params_count, room)?, out(params_count, room)?];
            for (values, filling) in [&mut values, &mut again].into_iter().zip($fillings) {
                values.fill(filling);
                // SAFETY: there is room for `count` values, and for any number that drivers write.
                unsafe { (self.gl.$gl)(target, format, pname, count, values.as_mut_ptr()) };
            }
            let written = values.iter().zip(&again).take(params_count as usize).take_while(|(a, b)| a == b).count();
            reply.array(&values, written as u32);
            Ok(())
        }
    )*};
}

impl Renderer {
    format_queries! {
        handwritten_gl_get_internalformativ = glGetInternalformativ: i32, [0x5a17_c3e9, 0x2345_6789];
        handwritten_gl_get_internalformati64v = glGetInternalformati64v: i64, [0x5a17_c3e9_0b2d_4f68, 0x2345_6789_abcd_ef01];
    }

    /// State that the renderer knows better than the driver.
    fn known(&mut self, pname: u32) -> Option<i64> {
        // The boxes are not restored before every query: that would make the driver finish what it
        // has begun, which some queries reveal.
        let is_moved =
            self.is_offset && matches!(pname, GL_CURRENT_RASTER_POSITION | GL_PROJECTION_MATRIX);
        if is_moved || matches!(pname, GL_SCISSOR_BOX | GL_SCISSOR_TEST) {
            self.restore_boxes();
        }
        if let Some(value) = self.cx.as_deref().and_then(|cx| remembered(cx, pname)) {
            return Some(value);
        }
        let &(_, class) = NAMES.iter().find(|(p, _)| *p == pname)?;
        self.error();
        let driver = self.driver_integer(pname);
        if self.failed() {
            return None;
        }
        let name = match driver {
            0 => 0,
            driver => self.names.table(class).shown(driver as u32).unwrap_or(0),
        };
        Some(name.into())
    }

    pub(crate) fn handwritten_gl_get_integerv(
        &mut self,
        pname: u32,
        data_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if let Some(value) = self.known(pname) {
            reply.array(&[value as i32], data_count);
            return Ok(());
        }
        let mut data = out::<i32>(data_count, LIST_MAX)?;
        self.error();
        // SAFETY: there is room for the longest state.
        unsafe { (self.gl.glGetIntegerv)(pname, data.as_mut_ptr()) };
        reply.array(&data, if self.failed() { 0 } else { data_count });
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_integer64v(
        &mut self,
        pname: u32,
        data_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if let Some(value) = self.known(pname) {
            reply.array(&[value], data_count);
            return Ok(());
        }
        let mut data = out::<i64>(data_count, LIST_MAX)?;
        self.error();
        // SAFETY: there is room for the longest state.
        unsafe { (self.gl.glGetInteger64v)(pname, data.as_mut_ptr()) };
        reply.array(&data, if self.failed() { 0 } else { data_count });
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_floatv(
        &mut self,
        pname: u32,
        data_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if let Some(value) = self.known(pname) {
            reply.array(&[value as f32], data_count);
            return Ok(());
        }
        let mut data = out::<f32>(data_count, LIST_MAX)?;
        self.error();
        // SAFETY: there is room for the longest state.
        unsafe { (self.gl.glGetFloatv)(pname, data.as_mut_ptr()) };
        reply.array(&data, if self.failed() { 0 } else { data_count });
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_doublev(
        &mut self,
        pname: u32,
        data_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if let Some(value) = self.known(pname) {
            reply.array(&[value as f64], data_count);
            return Ok(());
        }
        let mut data = out::<f64>(data_count, LIST_MAX)?;
        self.error();
        // SAFETY: there is room for the longest state.
        unsafe { (self.gl.glGetDoublev)(pname, data.as_mut_ptr()) };
        reply.array(&data, if self.failed() { 0 } else { data_count });
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_fixedv(
        &mut self,
        pname: u32,
        data_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if let Some(value) = self.known(pname) {
            // Names are never negative.
            let fixed = i16::try_from(value).map_or(i32::MAX, |v| i32::from(v) << 16);
            reply.array(&[fixed], data_count);
            return Ok(());
        }
        let mut data = out::<i32>(data_count, LIST_MAX)?;
        self.error();
        // SAFETY: there is room for the longest state.
        unsafe { (self.gl.glGetFixedv)(pname, data.as_mut_ptr()) };
        reply.array(&data, if self.failed() { 0 } else { data_count });
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_booleanv(
        &mut self,
        pname: u32,
        data_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if let Some(value) = self.known(pname) {
            reply.array(&[u8::from(value != 0)], data_count);
            return Ok(());
        }
        let mut data = out::<u8>(data_count, LIST_MAX)?;
        self.error();
        // SAFETY: there is room for the longest state.
        unsafe { (self.gl.glGetBooleanv)(pname, data.as_mut_ptr()) };
        reply.array(&data, if self.failed() { 0 } else { data_count });
        Ok(())
    }
}

/// State that the renderer keeps: the program's pixel store state, and state that a pbuffer would
/// answer differently from a window.
fn remembered(cx: &Context, pname: u32) -> Option<i64> {
    // The pname for the reversed order of rows depends on the API.
    let other = if cx.api.is_desktop() {
        GL_PACK_REVERSE_ROW_ORDER_ANGLE
    } else {
        GL_PACK_INVERT_MESA
    };
    if let Some(value) = cx.pixel_store.value(pname).filter(|_| pname != other) {
        return Some(value.into());
    }
    let default_draw = cx.draw_framebuffer == 0 && cx.api.is_desktop();
    let default_read = cx.read_framebuffer == 0 && cx.api.is_desktop();
    Some(match pname {
        GL_VERTEX_ARRAY_BINDING => cx.vertex_array.into(),
        GL_DEBUG_LOGGED_MESSAGES if cx.has_debug => cx.debug.logged().0 as i64,
        GL_DEBUG_NEXT_LOGGED_MESSAGE_LENGTH if cx.has_debug => cx.debug.logged().1 as i64,
        GL_DOUBLEBUFFER if default_draw => cx.is_double().into(),
        GL_ACCUM_RED_BITS | GL_ACCUM_GREEN_BITS | GL_ACCUM_BLUE_BITS | GL_ACCUM_ALPHA_BITS
            if default_draw && cx.api == Api::Compat =>
        {
            let surface = cx.draw.as_ref();
            surface.map_or(0, |s| match s.borrow().accumulation {
                Some(_) => 16,
                None => 0,
            })
        }
        GL_DRAW_BUFFER | GL_DRAW_BUFFER0 if default_draw && cx.was_current => cx.draw_buffer.into(),
        GL_READ_BUFFER if default_read && cx.was_current => cx.read_buffer.into(),
        _ => return None,
    })
}
