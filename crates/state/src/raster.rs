//! Points, lines, polygons, hints and samples.

use mgn_wire::gl::*;

use crate::limits::Api;
use crate::slots::at;
use crate::{GlError, State};

impl State {
    pub fn gl_point_size(&mut self, size: f32) -> Result<(), GlError> {
        listed!(self, gl_point_size(size));
        if self.limits.api == Api::Es {
            return self.unsure();
        }
        if size <= 0. {
            return Err(GlError::InvalidValue);
        }
        self.set(at!(GL_POINT_SIZE), size);
        Ok(())
    }

    pub fn gl_point_parameterfv(&mut self, pname: u32, params: &[f32]) -> Result<(), GlError> {
        let v = floats::<3>(params);
        listed!(self, gl_point_parameterfv(pname, &v));
        if !self.has(pname) {
            return self.unsure();
        }
        let at = match pname {
            GL_POINT_DISTANCE_ATTENUATION => {
                self.set_all(at!(GL_POINT_DISTANCE_ATTENUATION), &v);
                return Ok(());
            }
            GL_POINT_SIZE_MIN => at!(GL_POINT_SIZE_MIN),
            GL_POINT_SIZE_MAX => at!(GL_POINT_SIZE_MAX),
            GL_POINT_FADE_THRESHOLD_SIZE => at!(GL_POINT_FADE_THRESHOLD_SIZE),
            GL_POINT_SPRITE_COORD_ORIGIN => {
                let origin = enum_of(v[0]);
                if !matches!(origin, GL_LOWER_LEFT | GL_UPPER_LEFT) {
                    return Err(GlError::InvalidValue);
                }
                self.set(at!(GL_POINT_SPRITE_COORD_ORIGIN), origin);
                return Ok(());
            }
            _ => return self.unsure(),
        };
        if v[0] < 0. {
            return Err(GlError::InvalidValue);
        }
        self.set(at, v[0]);
        Ok(())
    }

    pub fn gl_point_parameterf(&mut self, pname: u32, param: f32) -> Result<(), GlError> {
        if pname == GL_POINT_DISTANCE_ATTENUATION {
            listed!(self, gl_point_parameterf(pname, param));
            return self.unsure_of_range(at!(GL_POINT_DISTANCE_ATTENUATION), 3);
        }
        self.gl_point_parameterfv(pname, &[param])
    }

    pub fn gl_point_parameteri(&mut self, pname: u32, param: i32) -> Result<(), GlError> {
        self.gl_point_parameterf(pname, param as f32)
    }

    pub fn gl_point_parameteriv(&mut self, pname: u32, params: &[i32]) -> Result<(), GlError> {
        let v = ints::<3>(params).map(|v| v as f32);
        self.gl_point_parameterfv(pname, &v)
    }

    pub fn gl_line_width(&mut self, width: f32) -> Result<(), GlError> {
        listed!(self, gl_line_width(width));
        if width <= 0. || self.limits.forward_compatible && width > 1. {
            return Err(GlError::InvalidValue);
        }
        self.set(at!(GL_LINE_WIDTH), width);
        Ok(())
    }

    pub fn gl_line_stipple(&mut self, factor: i32, pattern: u16) -> Result<(), GlError> {
        listed!(self, gl_line_stipple(factor, pattern));
        needs!(self, GL_LINE_STIPPLE_REPEAT);
        self.set(at!(GL_LINE_STIPPLE_REPEAT), factor.clamp(1, 256));
        self.set(at!(GL_LINE_STIPPLE_PATTERN), pattern);
        Ok(())
    }

    pub fn gl_cull_face(&mut self, mode: u32) -> Result<(), GlError> {
        listed!(self, gl_cull_face(mode));
        check(is_face(mode))?;
        self.set(at!(GL_CULL_FACE_MODE), mode);
        Ok(())
    }

    pub fn gl_front_face(&mut self, mode: u32) -> Result<(), GlError> {
        listed!(self, gl_front_face(mode));
        check(matches!(mode, GL_CW | GL_CCW))?;
        self.set(at!(GL_FRONT_FACE), mode);
        Ok(())
    }

    pub fn gl_polygon_mode(&mut self, face: u32, mode: u32) -> Result<(), GlError> {
        listed!(self, gl_polygon_mode(face, mode));
        needs!(self, GL_POLYGON_MODE);
        if !matches!(mode, GL_POINT | GL_LINE | GL_FILL) || !is_face(face) {
            return self.unsure_of_range(at!(GL_POLYGON_MODE), 2);
        }
        if face != GL_FRONT_AND_BACK && !self.limits.compat() {
            return self.unsure_of_range(at!(GL_POLYGON_MODE), 2);
        }
        if face != GL_BACK {
            self.set(at!(GL_POLYGON_MODE), mode);
        }
        if face != GL_FRONT {
            self.set(at!(GL_POLYGON_MODE) + 1, mode);
        }
        Ok(())
    }

    pub fn gl_polygon_offset(&mut self, factor: f32, units: f32) -> Result<(), GlError> {
        self.gl_polygon_offset_clamp(factor, units, 0.)
    }

    pub fn gl_polygon_offset_clamp(
        &mut self,
        factor: f32,
        units: f32,
        clamp: f32,
    ) -> Result<(), GlError> {
        listed!(self, gl_polygon_offset_clamp(factor, units, clamp));
        self.set(at!(GL_POLYGON_OFFSET_FACTOR), factor);
        self.set(at!(GL_POLYGON_OFFSET_UNITS), units);
        self.set(at!(GL_POLYGON_OFFSET_CLAMP), clamp);
        Ok(())
    }

    pub fn gl_shade_model(&mut self, mode: u32) -> Result<(), GlError> {
        listed!(self, gl_shade_model(mode));
        needs!(self, GL_SHADE_MODEL);
        check(matches!(mode, GL_FLAT | GL_SMOOTH))?;
        self.set(at!(GL_SHADE_MODEL), mode);
        Ok(())
    }

    pub fn gl_provoking_vertex(&mut self, mode: u32) -> Result<(), GlError> {
        listed!(self, gl_provoking_vertex(mode));
        needs!(self, GL_PROVOKING_VERTEX);
        check(matches!(
            mode,
            GL_FIRST_VERTEX_CONVENTION | GL_LAST_VERTEX_CONVENTION
        ))?;
        self.set(at!(GL_PROVOKING_VERTEX), mode);
        Ok(())
    }

    pub fn gl_hint(&mut self, target: u32, mode: u32) -> Result<(), GlError> {
        listed!(self, gl_hint(target, mode));
        let compatible = matches!(
            target,
            GL_PERSPECTIVE_CORRECTION_HINT
                | GL_POINT_SMOOTH_HINT
                | GL_FOG_HINT
                | GL_GENERATE_MIPMAP_HINT
        );
        if compatible && self.limits.api == Api::Core {
            return self.unsure();
        }
        needs!(self, target);
        check(matches!(mode, GL_DONT_CARE | GL_FASTEST | GL_NICEST))?;
        let at = match target {
            GL_PERSPECTIVE_CORRECTION_HINT => at!(GL_PERSPECTIVE_CORRECTION_HINT),
            GL_POINT_SMOOTH_HINT => at!(GL_POINT_SMOOTH_HINT),
            GL_LINE_SMOOTH_HINT => at!(GL_LINE_SMOOTH_HINT),
            GL_POLYGON_SMOOTH_HINT => at!(GL_POLYGON_SMOOTH_HINT),
            GL_FOG_HINT => at!(GL_FOG_HINT),
            GL_TEXTURE_COMPRESSION_HINT => at!(GL_TEXTURE_COMPRESSION_HINT),
            GL_GENERATE_MIPMAP_HINT => at!(GL_GENERATE_MIPMAP_HINT),
            GL_FRAGMENT_SHADER_DERIVATIVE_HINT => at!(GL_FRAGMENT_SHADER_DERIVATIVE_HINT),
            _ => return self.unsure(),
        };
        self.set(at, mode);
        Ok(())
    }

    pub fn gl_sample_coverage(&mut self, value: f32, invert: u8) -> Result<(), GlError> {
        listed!(self, gl_sample_coverage(value, invert));
        self.set(at!(GL_SAMPLE_COVERAGE_VALUE), value.clamp(0., 1.));
        self.set(at!(GL_SAMPLE_COVERAGE_INVERT), invert);
        Ok(())
    }

    pub fn gl_min_sample_shading(&mut self, value: f32) -> Result<(), GlError> {
        loosely_listed!(self, at!(GL_MIN_SAMPLE_SHADING_VALUE), 1);
        if self.limits.api == Api::Es1 {
            return self.unsure();
        }
        needs!(self, GL_MIN_SAMPLE_SHADING_VALUE);
        self.set(at!(GL_MIN_SAMPLE_SHADING_VALUE), value.clamp(0., 1.));
        Ok(())
    }

    pub fn gl_sample_maski(&mut self, index: u32, mask: u32) -> Result<(), GlError> {
        loosely_listed!(self, at!(GL_SAMPLE_MASK_VALUE), 1);
        needs!(self, GL_SAMPLE_MASK);
        if index >= self.limits.sample_mask_words {
            return Err(GlError::InvalidValue);
        }
        if index == 0 {
            self.set(at!(GL_SAMPLE_MASK_VALUE), mask as i32);
        }
        Ok(())
    }

    pub fn gl_clip_control(&mut self, origin: u32, depth: u32) -> Result<(), GlError> {
        listed!(self, gl_clip_control(origin, depth));
        needs!(self, GL_CLIP_ORIGIN);
        check(matches!(origin, GL_LOWER_LEFT | GL_UPPER_LEFT))?;
        check(matches!(depth, GL_NEGATIVE_ONE_TO_ONE | GL_ZERO_TO_ONE))?;
        self.set(at!(GL_CLIP_ORIGIN), origin);
        self.set(at!(GL_CLIP_DEPTH_MODE), depth);
        Ok(())
    }

    pub fn gl_patch_parameteri(&mut self, pname: u32, value: i32) -> Result<(), GlError> {
        listed!(self, gl_patch_parameteri(pname, value));
        needs!(self, GL_PATCH_VERTICES);
        check(pname == GL_PATCH_VERTICES)?;
        if value <= 0 || value > self.limits.patch_vertices {
            return Err(GlError::InvalidValue);
        }
        self.set(at!(GL_PATCH_VERTICES), value);
        Ok(())
    }

    pub fn gl_patch_parameterfv(&mut self, pname: u32, values: &[f32]) -> Result<(), GlError> {
        let v = floats::<4>(values);
        listed!(self, gl_patch_parameterfv(pname, &v));
        if !self.limits.desktop() {
            return self.unsure();
        }
        needs!(self, pname);
        match pname {
            GL_PATCH_DEFAULT_OUTER_LEVEL => {
                self.set_all(at!(GL_PATCH_DEFAULT_OUTER_LEVEL), &v);
            }
            GL_PATCH_DEFAULT_INNER_LEVEL => {
                self.set_all(at!(GL_PATCH_DEFAULT_INNER_LEVEL), &v[..2]);
            }
            _ => return Err(GlError::InvalidEnum),
        }
        Ok(())
    }

    pub fn gl_primitive_restart_index(&mut self, index: u32) -> Result<(), GlError> {
        needs!(self, GL_PRIMITIVE_RESTART_INDEX);
        self.set(at!(GL_PRIMITIVE_RESTART_INDEX), index as i32);
        Ok(())
    }

    pub fn gl_primitive_restart_index_nv(&mut self, index: u32) -> Result<(), GlError> {
        self.gl_primitive_restart_index(index)
    }

    #[allow(clippy::too_many_arguments)]
    pub fn gl_primitive_bounding_box(
        &mut self,
        min_x: f32,
        min_y: f32,
        min_z: f32,
        min_w: f32,
        max_x: f32,
        max_y: f32,
        max_z: f32,
        max_w: f32,
    ) -> Result<(), GlError> {
        let bounds = [min_x, min_y, min_z, min_w, max_x, max_y, max_z, max_w];
        listed!(self, set_primitive_bounds(bounds));
        self.set_primitive_bounds(bounds)
    }

    fn set_primitive_bounds(&mut self, bounds: [f32; 8]) -> Result<(), GlError> {
        needs!(self, GL_PRIMITIVE_BOUNDING_BOX);
        self.set_all(at!(GL_PRIMITIVE_BOUNDING_BOX), &bounds);
        Ok(())
    }

    pub fn gl_render_mode(&mut self, mode: u32) -> Result<(), GlError> {
        needs!(self, GL_RENDER_MODE);
        match mode {
            GL_RENDER => self.set(at!(GL_RENDER_MODE), mode),
            // Refused unless there is a buffer for what they produce.
            _ => return self.unsure_of(at!(GL_RENDER_MODE)),
        }
        Ok(())
    }

    pub fn gl_clamp_color(&mut self, target: u32, clamp: u32) -> Result<(), GlError> {
        listed!(self, gl_clamp_color(target, clamp));
        if !self.limits.desktop() {
            return self.unsure();
        }
        check(matches!(clamp, GL_FALSE | GL_TRUE | GL_FIXED_ONLY))?;
        let at = match target {
            GL_CLAMP_VERTEX_COLOR if self.limits.compat() => at!(GL_CLAMP_VERTEX_COLOR),
            GL_CLAMP_FRAGMENT_COLOR if self.limits.compat() => at!(GL_CLAMP_FRAGMENT_COLOR),
            GL_CLAMP_READ_COLOR => at!(GL_CLAMP_READ_COLOR),
            _ => return Err(GlError::InvalidEnum),
        };
        self.set(at, clamp);
        Ok(())
    }
}

pub(crate) fn check(valid: bool) -> Result<(), GlError> {
    match valid {
        true => Ok(()),
        false => Err(GlError::InvalidEnum),
    }
}

pub(crate) fn is_face(face: u32) -> bool {
    matches!(face, GL_FRONT | GL_BACK | GL_FRONT_AND_BACK)
}

/// The first `N` values of an argument array, zeros where it is shorter.
pub(crate) fn floats<const N: usize>(values: &[f32]) -> [f32; N] {
    std::array::from_fn(|i| values.get(i).copied().unwrap_or(0.))
}

pub(crate) fn ints<const N: usize>(values: &[i32]) -> [i32; N] {
    std::array::from_fn(|i| values.get(i).copied().unwrap_or(0))
}

/// An enum passed as a float; what is none becomes an enum that no command knows.
pub(crate) fn enum_of(value: f32) -> u32 {
    if (0. ..1e9).contains(&value) {
        value as u32
    } else {
        u32::MAX
    }
}
