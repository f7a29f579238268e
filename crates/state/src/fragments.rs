//! State for fragments: tests, blending, masks, and the values to which buffers are cleared.

use mgn_wire::gl::*;

use crate::limits::Api;
use crate::raster::check;
use crate::slots::{at, DRAW_BUFFERS, UNKNOWN};
use crate::{GlError, State};

impl State {
    pub fn gl_alpha_func(&mut self, func: u32, value: f32) -> Result<(), GlError> {
        listed!(self, gl_alpha_func(func, value));
        needs!(self, GL_ALPHA_TEST_FUNC);
        check(is_comparison(func))?;
        self.set(at!(GL_ALPHA_TEST_FUNC), func);
        self.set(at!(GL_ALPHA_TEST_REF), value);
        Ok(())
    }

    pub fn gl_blend_func(&mut self, src: u32, dst: u32) -> Result<(), GlError> {
        self.gl_blend_func_separate(src, dst, src, dst)
    }

    pub fn gl_blend_func_separate(
        &mut self,
        src: u32,
        dst: u32,
        src_alpha: u32,
        dst_alpha: u32,
    ) -> Result<(), GlError> {
        listed!(self, gl_blend_func_separate(src, dst, src_alpha, dst_alpha));
        let buffers = 0..self.limits.draw_buffers;
        self.set_blend_func(buffers, [src, dst, src_alpha, dst_alpha])
    }

    pub fn gl_blend_func_separate_oes(
        &mut self,
        src: u32,
        dst: u32,
        src_alpha: u32,
        dst_alpha: u32,
    ) -> Result<(), GlError> {
        self.gl_blend_func_separate(src, dst, src_alpha, dst_alpha)
    }

    pub fn gl_blend_funci(&mut self, buffer: u32, src: u32, dst: u32) -> Result<(), GlError> {
        self.gl_blend_func_separatei(buffer, src, dst, src, dst)
    }

    pub fn gl_blend_func_separatei(
        &mut self,
        buffer: u32,
        src: u32,
        dst: u32,
        src_alpha: u32,
        dst_alpha: u32,
    ) -> Result<(), GlError> {
        listed!(
            self,
            gl_blend_func_separatei(buffer, src, dst, src_alpha, dst_alpha)
        );
        needs!(self, GL_MAX_DRAW_BUFFERS);
        let i = self.draw_buffer_index(buffer)?;
        self.set_blend_func(i..i + 1, [src, dst, src_alpha, dst_alpha])
    }

    fn set_blend_func(
        &mut self,
        buffers: std::ops::Range<usize>,
        factors: [u32; 4],
    ) -> Result<(), GlError> {
        let [src, dst, src_alpha, dst_alpha] = factors;
        check(factors.into_iter().all(is_factor))?;
        let special = |f| matches!(f, GL_SRC1_COLOR..=GL_ONE_MINUS_SRC1_ALPHA | GL_SRC1_ALPHA);
        let es1 = self.limits.api == Api::Es1;
        let saturated = |f| f == GL_SRC_ALPHA_SATURATE;
        let doubtful = es1
            || factors.into_iter().any(special) && !self.limits.dual_source
            || [dst, dst_alpha].into_iter().any(saturated) && !self.limits.dual_source;
        for i in buffers {
            let [src, dst, src_alpha, dst_alpha] = match doubtful {
                true => [UNKNOWN; 4],
                false => [src, dst, src_alpha, dst_alpha].map(f64::from),
            };
            self.set(at!(GL_BLEND_SRC_RGB) + i, src);
            self.set(at!(GL_BLEND_DST_RGB) + i, dst);
            self.set(at!(GL_BLEND_SRC_ALPHA) + i, src_alpha);
            self.set(at!(GL_BLEND_DST_ALPHA) + i, dst_alpha);
        }
        match doubtful {
            true => self.unsure(),
            false => Ok(()),
        }
    }

    /// Whether it is certain that no draw buffer is blended by a second source or an advanced
    /// equation, which draws may be refused for.
    pub fn blends_plainly(&self) -> bool {
        (0..self.limits.draw_buffers).all(|i| {
            let factor = |at: usize| {
                self.known(at + i).is_some_and(|f| {
                    !matches!(
                        f as u32,
                        GL_SRC1_COLOR..=GL_ONE_MINUS_SRC1_ALPHA | GL_SRC1_ALPHA
                    )
                })
            };
            let equation = |at: usize| self.known(at + i).is_some_and(|e| !is_advanced(e as u32));
            factor(at!(GL_BLEND_SRC_RGB))
                && factor(at!(GL_BLEND_DST_RGB))
                && factor(at!(GL_BLEND_SRC_ALPHA))
                && factor(at!(GL_BLEND_DST_ALPHA))
                && equation(at!(GL_BLEND_EQUATION_RGB))
                && equation(at!(GL_BLEND_EQUATION_ALPHA))
        })
    }

    fn draw_buffer_index(&self, buffer: u32) -> Result<usize, GlError> {
        match (buffer as usize) < self.limits.draw_buffers {
            true => Ok(buffer as usize),
            false => Err(GlError::InvalidValue),
        }
    }

    pub fn gl_blend_equation(&mut self, mode: u32) -> Result<(), GlError> {
        listed!(self, gl_blend_equation(mode));
        self.set_blend_equation(0..self.limits.draw_buffers, mode, mode)
    }

    pub fn gl_blend_equation_oes(&mut self, mode: u32) -> Result<(), GlError> {
        self.gl_blend_equation(mode)
    }

    pub fn gl_blend_equation_separate(&mut self, rgb: u32, alpha: u32) -> Result<(), GlError> {
        listed!(self, gl_blend_equation_separate(rgb, alpha));
        if is_advanced(rgb) && rgb == alpha {
            // Refused, unless it changes nothing.
            return self.unsure();
        }
        check(!is_advanced(rgb) && !is_advanced(alpha))?;
        self.set_blend_equation(0..self.limits.draw_buffers, rgb, alpha)
    }

    pub fn gl_blend_equation_separate_oes(&mut self, rgb: u32, alpha: u32) -> Result<(), GlError> {
        self.gl_blend_equation_separate(rgb, alpha)
    }

    pub fn gl_blend_equationi(&mut self, buffer: u32, mode: u32) -> Result<(), GlError> {
        listed!(self, gl_blend_equationi(buffer, mode));
        needs!(self, GL_MAX_DRAW_BUFFERS);
        let i = self.draw_buffer_index(buffer)?;
        self.set_blend_equation(i..i + 1, mode, mode)
    }

    pub fn gl_blend_equation_separatei(
        &mut self,
        buffer: u32,
        rgb: u32,
        alpha: u32,
    ) -> Result<(), GlError> {
        listed!(self, gl_blend_equation_separatei(buffer, rgb, alpha));
        needs!(self, GL_MAX_DRAW_BUFFERS);
        let i = self.draw_buffer_index(buffer)?;
        if is_advanced(rgb) && rgb == alpha {
            return self.unsure();
        }
        check(!is_advanced(rgb) && !is_advanced(alpha))?;
        self.set_blend_equation(i..i + 1, rgb, alpha)
    }

    fn set_blend_equation(
        &mut self,
        buffers: std::ops::Range<usize>,
        rgb: u32,
        alpha: u32,
    ) -> Result<(), GlError> {
        let simple = |mode| {
            matches!(
                mode,
                GL_FUNC_ADD | GL_FUNC_SUBTRACT | GL_FUNC_REVERSE_SUBTRACT | GL_MIN | GL_MAX
            )
        };
        let advanced = is_advanced(rgb) && self.limits.advanced_blend;
        check(advanced || simple(rgb) && simple(alpha))?;
        let doubtful = self.limits.api == Api::Es1;
        for i in buffers {
            let value = |mode| if doubtful { UNKNOWN } else { f64::from(mode) };
            self.set(at!(GL_BLEND_EQUATION_RGB) + i, value(rgb));
            self.set(at!(GL_BLEND_EQUATION_ALPHA) + i, value(alpha));
        }
        match doubtful {
            true => self.unsure(),
            false => Ok(()),
        }
    }

    pub fn gl_blend_color(
        &mut self,
        red: f32,
        green: f32,
        blue: f32,
        alpha: f32,
    ) -> Result<(), GlError> {
        listed!(self, gl_blend_color(red, green, blue, alpha));
        if self.limits.api == Api::Es1 {
            return self.unsure();
        }
        self.set_all(at!(GL_BLEND_COLOR), &[red, green, blue, alpha]);
        Ok(())
    }

    pub fn gl_logic_op(&mut self, opcode: u32) -> Result<(), GlError> {
        listed!(self, gl_logic_op(opcode));
        needs!(self, GL_LOGIC_OP_MODE);
        check((GL_CLEAR..=GL_SET).contains(&opcode))?;
        self.set(at!(GL_LOGIC_OP_MODE), opcode);
        Ok(())
    }

    pub fn gl_color_mask(
        &mut self,
        red: u8,
        green: u8,
        blue: u8,
        alpha: u8,
    ) -> Result<(), GlError> {
        listed!(self, gl_color_mask(red, green, blue, alpha));
        let mask = [red, green, blue, alpha].map(|v| u8::from(v != 0));
        for i in 0..self.limits.draw_buffers {
            self.set_all(at!(GL_COLOR_WRITEMASK) + 4 * i, &mask);
        }
        Ok(())
    }

    pub fn gl_color_maski(
        &mut self,
        index: u32,
        red: u8,
        green: u8,
        blue: u8,
        alpha: u8,
    ) -> Result<(), GlError> {
        let executed = self.compiling.is_some();
        listed!(self, gl_color_maski(index, red, green, blue, alpha));
        needs!(self, GL_MAX_DRAW_BUFFERS);
        if executed {
            // Compiled and not carried out, in spite of the list's mode, by some drivers.
            return self.unsure_of_range(at!(GL_COLOR_WRITEMASK), 4 * DRAW_BUFFERS);
        }
        let i = self.draw_buffer_index(index)?;
        let mask = [red, green, blue, alpha].map(|v| u8::from(v != 0));
        self.set_all(at!(GL_COLOR_WRITEMASK) + 4 * i, &mask);
        Ok(())
    }

    pub fn gl_index_mask(&mut self, mask: u32) -> Result<(), GlError> {
        listed!(self, gl_index_mask(mask));
        needs!(self, GL_INDEX_WRITEMASK);
        self.set(at!(GL_INDEX_WRITEMASK), mask as i32);
        Ok(())
    }

    pub fn gl_depth_func(&mut self, func: u32) -> Result<(), GlError> {
        listed!(self, gl_depth_func(func));
        check(is_comparison(func))?;
        self.set(at!(GL_DEPTH_FUNC), func);
        Ok(())
    }

    pub fn gl_depth_mask(&mut self, flag: u8) -> Result<(), GlError> {
        listed!(self, gl_depth_mask(flag));
        // Drivers show any boolean as it was given.
        self.set(at!(GL_DEPTH_WRITEMASK), flag);
        Ok(())
    }

    pub fn gl_clear_color(
        &mut self,
        red: f32,
        green: f32,
        blue: f32,
        alpha: f32,
    ) -> Result<(), GlError> {
        listed!(self, gl_clear_color(red, green, blue, alpha));
        self.set_all(at!(GL_COLOR_CLEAR_VALUE), &[red, green, blue, alpha]);
        Ok(())
    }

    pub fn gl_clear_color_ii_ext(
        &mut self,
        _red: i32,
        _green: i32,
        _blue: i32,
        _alpha: i32,
    ) -> Result<(), GlError> {
        self.integer_clear_color()
    }

    pub fn gl_clear_color_iui_ext(
        &mut self,
        _red: u32,
        _green: u32,
        _blue: u32,
        _alpha: u32,
    ) -> Result<(), GlError> {
        self.integer_clear_color()
    }

    /// The results of gets for integers depend on the driver.
    fn integer_clear_color(&mut self) -> Result<(), GlError> {
        listed!(self, integer_clear_color());
        self.unsure_of_range(at!(GL_COLOR_CLEAR_VALUE), 4)
    }

    pub fn gl_clear_depth(&mut self, depth: f64) -> Result<(), GlError> {
        // Lists hold it as a float.
        let float = f64::from(depth as f32);
        listed!(self, gl_clear_depth(float));
        if !self.limits.desktop() {
            return self.unsure();
        }
        self.set(at!(GL_DEPTH_CLEAR_VALUE), depth.clamp(0., 1.));
        Ok(())
    }

    pub fn gl_clear_depthf(&mut self, depth: f32) -> Result<(), GlError> {
        loosely_listed!(self, at!(GL_DEPTH_CLEAR_VALUE), 1);
        self.set(at!(GL_DEPTH_CLEAR_VALUE), depth.clamp(0., 1.));
        Ok(())
    }

    pub fn gl_clear_stencil(&mut self, value: i32) -> Result<(), GlError> {
        listed!(self, gl_clear_stencil(value));
        self.set(at!(GL_STENCIL_CLEAR_VALUE), value);
        Ok(())
    }

    pub fn gl_clear_index(&mut self, value: f32) -> Result<(), GlError> {
        listed!(self, gl_clear_index(value));
        needs!(self, GL_INDEX_CLEAR_VALUE);
        if self.depth > 0 || value < 0. {
            // Lists of some drivers hold something else, and buffers have no such index.
            return self.unsure_of(at!(GL_INDEX_CLEAR_VALUE));
        }
        self.set(at!(GL_INDEX_CLEAR_VALUE), value as i32);
        Ok(())
    }

    pub fn gl_clear_accum(
        &mut self,
        red: f32,
        green: f32,
        blue: f32,
        alpha: f32,
    ) -> Result<(), GlError> {
        listed!(self, gl_clear_accum(red, green, blue, alpha));
        needs!(self, GL_ACCUM_CLEAR_VALUE);
        let color = [red, green, blue, alpha].map(|v| v.clamp(-1., 1.));
        self.set_all(at!(GL_ACCUM_CLEAR_VALUE), &color);
        Ok(())
    }
}

pub(crate) fn is_comparison(func: u32) -> bool {
    (GL_NEVER..=GL_ALWAYS).contains(&func)
}

fn is_factor(factor: u32) -> bool {
    matches!(
        factor,
        GL_ZERO
            | GL_ONE
            | GL_SRC_COLOR..=GL_SRC_ALPHA_SATURATE
            | GL_CONSTANT_COLOR..=GL_ONE_MINUS_CONSTANT_ALPHA
            | GL_SRC1_COLOR..=GL_ONE_MINUS_SRC1_ALPHA
            | GL_SRC1_ALPHA
    )
}

/// The modes of `GL_KHR_blend_equation_advanced`.
pub(crate) fn is_advanced(mode: u32) -> bool {
    matches!(
        mode,
        GL_MULTIPLY_KHR..=GL_SOFTLIGHT_KHR
            | GL_DIFFERENCE_KHR
            | GL_EXCLUSION_KHR
            | GL_HSL_HUE_KHR..=GL_HSL_LUMINOSITY_KHR
    )
}
