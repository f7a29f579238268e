//! Viewports, scissors and depth ranges, of which there are several.

use mgn_wire::gl::*;

use crate::limits::Api;
use crate::raster::{floats, ints};
use crate::slots::{at, VIEWPORTS};
use crate::{GlError, State};

impl State {
    pub fn gl_viewport(&mut self, x: i32, y: i32, width: i32, height: i32) -> Result<(), GlError> {
        listed!(self, gl_viewport(x, y, width, height));
        if width < 0 || height < 0 {
            return Err(GlError::InvalidValue);
        }
        let v = self.clamped_viewport([x, y, width, height].map(|v| v as f32));
        for i in 0..self.limits.viewports {
            self.set_all(at!(GL_VIEWPORT) + 4 * i, &v);
        }
        Ok(())
    }

    pub fn gl_viewport_arrayv(&mut self, first: u32, count: i32, v: &[f32]) -> Result<(), GlError> {
        let owned: Vec<f32> = v.to_vec();
        listed!(self, gl_viewport_arrayv(first, count, &owned));
        needs!(self, GL_MAX_VIEWPORTS);
        let range = self.viewport_range(first, count)?;
        if v.chunks_exact(4).any(|v| v[2] < 0. || v[3] < 0.) {
            return Err(GlError::InvalidValue);
        }
        for (i, v) in range.zip(v.chunks_exact(4)) {
            let v = self.clamped_viewport(floats(v));
            self.set_all(at!(GL_VIEWPORT) + 4 * i, &v);
        }
        Ok(())
    }

    pub fn gl_viewport_indexedf(
        &mut self,
        index: u32,
        x: f32,
        y: f32,
        width: f32,
        height: f32,
    ) -> Result<(), GlError> {
        self.gl_viewport_indexedfv(index, &[x, y, width, height])
    }

    pub fn gl_viewport_indexedfv(&mut self, index: u32, v: &[f32]) -> Result<(), GlError> {
        self.gl_viewport_arrayv(index, 1, &floats::<4>(v))
    }

    /// The first viewport: x, y, width, height; none if only the driver knows it.
    pub fn viewport(&self) -> Option<[f32; 4]> {
        let mut viewport = [0.; 4];
        for (i, v) in viewport.iter_mut().enumerate() {
            *v = self.known(at!(GL_VIEWPORT) + i)? as f32;
        }
        Some(viewport)
    }

    /// Viewports are limited without an error.
    fn clamped_viewport(&self, [x, y, width, height]: [f32; 4]) -> [f32; 4] {
        let [max_width, max_height] = self.limits.viewport_dims.map(|v| v as f32);
        let within = |v: f32| match self.limits.viewport_bounds {
            Some([low, high]) => v.max(low as f32).min(high as f32),
            None => v,
        };
        [
            within(x),
            within(y),
            width.min(max_width),
            height.min(max_height),
        ]
    }

    /// The viewports that a command sets. Fewer than none is an error that drivers don't see.
    fn viewport_range(
        &mut self,
        first: u32,
        count: i32,
    ) -> Result<std::ops::Range<usize>, GlError> {
        let first = first as usize;
        let Ok(count) = usize::try_from(count) else {
            self.doubt = true;
            return Ok(0..0);
        };
        match first + count <= self.limits.viewports {
            true => Ok(first..first + count),
            false => Err(GlError::InvalidValue),
        }
    }

    pub fn gl_depth_range(&mut self, near: f64, far: f64) -> Result<(), GlError> {
        listed!(self, gl_depth_range(near, far));
        if !self.limits.desktop() {
            return self.unsure();
        }
        for i in 0..VIEWPORTS {
            self.set_depth_range(i, near, far);
        }
        Ok(())
    }

    pub fn gl_depth_rangef(&mut self, near: f32, far: f32) -> Result<(), GlError> {
        loosely_listed!(self, at!(GL_DEPTH_RANGE), 2 * VIEWPORTS);
        for i in 0..VIEWPORTS {
            self.set_depth_range(i, near.into(), far.into());
        }
        Ok(())
    }

    pub fn gl_depth_range_arrayv(
        &mut self,
        first: u32,
        count: i32,
        v: &[f64],
    ) -> Result<(), GlError> {
        let owned: Vec<f64> = v.to_vec();
        listed!(self, gl_depth_range_arrayv(first, count, &owned));
        if !self.limits.desktop() {
            return self.unsure();
        }
        self.set_depth_ranges(first, count, v)
    }

    pub fn gl_depth_range_indexed(
        &mut self,
        index: u32,
        near: f64,
        far: f64,
    ) -> Result<(), GlError> {
        self.gl_depth_range_arrayv(index, 1, &[near, far])
    }

    pub fn gl_depth_range_arrayfv_oes(
        &mut self,
        first: u32,
        count: i32,
        v: &[f32],
    ) -> Result<(), GlError> {
        if self.limits.api != Api::Es {
            return self.unsure();
        }
        let v: Vec<f64> = v.iter().map(|&v| v.into()).collect();
        self.set_depth_ranges(first, count, &v)
    }

    pub fn gl_depth_range_indexedf_oes(
        &mut self,
        index: u32,
        near: f32,
        far: f32,
    ) -> Result<(), GlError> {
        self.gl_depth_range_arrayfv_oes(index, 1, &[near, far])
    }

    fn set_depth_ranges(&mut self, first: u32, count: i32, v: &[f64]) -> Result<(), GlError> {
        needs!(self, GL_MAX_VIEWPORTS);
        for (i, v) in self.viewport_range(first, count)?.zip(v.chunks_exact(2)) {
            self.set_depth_range(i, v[0], v[1]);
        }
        Ok(())
    }

    fn set_depth_range(&mut self, i: usize, near: f64, far: f64) {
        let at = at!(GL_DEPTH_RANGE) + 2 * i;
        self.set(at, near.clamp(0., 1.) as f32);
        self.set(at + 1, far.clamp(0., 1.) as f32);
    }

    pub fn gl_scissor(&mut self, x: i32, y: i32, width: i32, height: i32) -> Result<(), GlError> {
        listed!(self, gl_scissor(x, y, width, height));
        if width < 0 || height < 0 {
            return Err(GlError::InvalidValue);
        }
        for i in 0..self.limits.viewports {
            self.set_all(at!(GL_SCISSOR_BOX) + 4 * i, &[x, y, width, height]);
        }
        Ok(())
    }

    pub fn gl_scissor_arrayv(&mut self, first: u32, count: i32, v: &[i32]) -> Result<(), GlError> {
        let owned: Vec<i32> = v.to_vec();
        listed!(self, gl_scissor_arrayv(first, count, &owned));
        needs!(self, GL_MAX_VIEWPORTS);
        let range = self.viewport_range(first, count)?;
        if v.chunks_exact(4).any(|v| v[2] < 0 || v[3] < 0) {
            return Err(GlError::InvalidValue);
        }
        for (i, v) in range.zip(v.chunks_exact(4)) {
            self.set_all(at!(GL_SCISSOR_BOX) + 4 * i, v);
        }
        Ok(())
    }

    pub fn gl_scissor_indexed(
        &mut self,
        index: u32,
        left: i32,
        bottom: i32,
        width: i32,
        height: i32,
    ) -> Result<(), GlError> {
        self.gl_scissor_indexedv(index, &[left, bottom, width, height])
    }

    pub fn gl_scissor_indexedv(&mut self, index: u32, v: &[i32]) -> Result<(), GlError> {
        self.gl_scissor_arrayv(index, 1, &ints::<4>(v))
    }
}
