//! Pixel store and transfer parameters, and evaluator grids.

use mgn_wire::gl::*;

use crate::limits::Api;
use crate::slots::{at, CLIP_AT};
use crate::{Answer, Class, GlError, PixelStore, State};

impl State {
    /// How images in the program's memory are read.
    pub fn unpack(&self) -> PixelStore {
        let value = |at: usize| self.values[at] as i32;
        PixelStore {
            swap_bytes: value(at!(GL_UNPACK_SWAP_BYTES)) != 0,
            lsb_first: value(at!(GL_UNPACK_LSB_FIRST)) != 0,
            invert: false,
            row_length: value(at!(GL_UNPACK_ROW_LENGTH)),
            image_height: value(at!(GL_UNPACK_IMAGE_HEIGHT)),
            skip_pixels: value(at!(GL_UNPACK_SKIP_PIXELS)),
            skip_rows: value(at!(GL_UNPACK_SKIP_ROWS)),
            skip_images: value(at!(GL_UNPACK_SKIP_IMAGES)),
            alignment: value(at!(GL_UNPACK_ALIGNMENT)),
            block_width: value(at!(GL_UNPACK_COMPRESSED_BLOCK_WIDTH)),
            block_height: value(at!(GL_UNPACK_COMPRESSED_BLOCK_HEIGHT)),
            block_depth: value(at!(GL_UNPACK_COMPRESSED_BLOCK_DEPTH)),
            block_size: value(at!(GL_UNPACK_COMPRESSED_BLOCK_SIZE)),
        }
    }

    /// How images are written to the program's memory.
    pub fn pack(&self) -> PixelStore {
        let value = |at: usize| self.values[at] as i32;
        let reversed = value(at!(GL_PACK_REVERSE_ROW_ORDER_ANGLE));
        PixelStore {
            swap_bytes: value(at!(GL_PACK_SWAP_BYTES)) != 0,
            lsb_first: value(at!(GL_PACK_LSB_FIRST)) != 0,
            invert: value(at!(GL_PACK_INVERT_MESA)) != 0 || reversed != 0,
            row_length: value(at!(GL_PACK_ROW_LENGTH)),
            image_height: value(at!(GL_PACK_IMAGE_HEIGHT)),
            skip_pixels: value(at!(GL_PACK_SKIP_PIXELS)),
            skip_rows: value(at!(GL_PACK_SKIP_ROWS)),
            skip_images: value(at!(GL_PACK_SKIP_IMAGES)),
            alignment: value(at!(GL_PACK_ALIGNMENT)),
            block_width: value(at!(GL_PACK_COMPRESSED_BLOCK_WIDTH)),
            block_height: value(at!(GL_PACK_COMPRESSED_BLOCK_HEIGHT)),
            block_depth: value(at!(GL_PACK_COMPRESSED_BLOCK_DEPTH)),
            block_size: value(at!(GL_PACK_COMPRESSED_BLOCK_SIZE)),
        }
    }

    pub fn gl_pixel_storei(&mut self, pname: u32, param: i32) -> Result<(), GlError> {
        let (at, boolean) = match pname {
            GL_UNPACK_SWAP_BYTES => (at!(GL_UNPACK_SWAP_BYTES), true),
            GL_UNPACK_LSB_FIRST => (at!(GL_UNPACK_LSB_FIRST), true),
            GL_UNPACK_ROW_LENGTH => (at!(GL_UNPACK_ROW_LENGTH), false),
            GL_UNPACK_IMAGE_HEIGHT => (at!(GL_UNPACK_IMAGE_HEIGHT), false),
            GL_UNPACK_SKIP_PIXELS => (at!(GL_UNPACK_SKIP_PIXELS), false),
            GL_UNPACK_SKIP_ROWS => (at!(GL_UNPACK_SKIP_ROWS), false),
            GL_UNPACK_SKIP_IMAGES => (at!(GL_UNPACK_SKIP_IMAGES), false),
            GL_UNPACK_ALIGNMENT => (at!(GL_UNPACK_ALIGNMENT), false),
            GL_UNPACK_COMPRESSED_BLOCK_WIDTH => (at!(GL_UNPACK_COMPRESSED_BLOCK_WIDTH), false),
            GL_UNPACK_COMPRESSED_BLOCK_HEIGHT => (at!(GL_UNPACK_COMPRESSED_BLOCK_HEIGHT), false),
            GL_UNPACK_COMPRESSED_BLOCK_DEPTH => (at!(GL_UNPACK_COMPRESSED_BLOCK_DEPTH), false),
            GL_UNPACK_COMPRESSED_BLOCK_SIZE => (at!(GL_UNPACK_COMPRESSED_BLOCK_SIZE), false),
            GL_PACK_SWAP_BYTES => (at!(GL_PACK_SWAP_BYTES), true),
            GL_PACK_LSB_FIRST => (at!(GL_PACK_LSB_FIRST), true),
            GL_PACK_ROW_LENGTH => (at!(GL_PACK_ROW_LENGTH), false),
            GL_PACK_IMAGE_HEIGHT => (at!(GL_PACK_IMAGE_HEIGHT), false),
            GL_PACK_SKIP_PIXELS => (at!(GL_PACK_SKIP_PIXELS), false),
            GL_PACK_SKIP_ROWS => (at!(GL_PACK_SKIP_ROWS), false),
            GL_PACK_SKIP_IMAGES => (at!(GL_PACK_SKIP_IMAGES), false),
            GL_PACK_ALIGNMENT => (at!(GL_PACK_ALIGNMENT), false),
            GL_PACK_COMPRESSED_BLOCK_WIDTH => (at!(GL_PACK_COMPRESSED_BLOCK_WIDTH), false),
            GL_PACK_COMPRESSED_BLOCK_HEIGHT => (at!(GL_PACK_COMPRESSED_BLOCK_HEIGHT), false),
            GL_PACK_COMPRESSED_BLOCK_DEPTH => (at!(GL_PACK_COMPRESSED_BLOCK_DEPTH), false),
            GL_PACK_COMPRESSED_BLOCK_SIZE => (at!(GL_PACK_COMPRESSED_BLOCK_SIZE), false),
            GL_PACK_INVERT_MESA => (at!(GL_PACK_INVERT_MESA), true),
            GL_PACK_REVERSE_ROW_ORDER_ANGLE => (at!(GL_PACK_REVERSE_ROW_ORDER_ANGLE), true),
            _ => return Err(GlError::InvalidEnum),
        };
        needs!(self, pname);
        let alignment = matches!(pname, GL_UNPACK_ALIGNMENT | GL_PACK_ALIGNMENT);
        if self.limits.api == Api::Es1 && !alignment {
            return self.unsure();
        }
        if matches!(pname, GL_PACK_INVERT_MESA | GL_PACK_REVERSE_ROW_ORDER_ANGLE) {
            // Shown as it was given.
            self.set(at, param as u8);
        } else if boolean {
            self.set(at, u8::from(param != 0));
        } else if param < 0 || alignment && !matches!(param, 1 | 2 | 4 | 8) {
            return Err(GlError::InvalidValue);
        } else {
            self.set(at, param);
        }
        Ok(())
    }

    pub fn gl_pixel_storef(&mut self, pname: u32, param: f32) -> Result<(), GlError> {
        if !self.limits.desktop() {
            return self.unsure();
        }
        let rounded = if param >= 0. {
            param + 0.5
        } else {
            param - 0.5
        };
        self.gl_pixel_storei(pname, rounded as i32)
    }

    pub fn gl_pixel_transferf(&mut self, pname: u32, param: f32) -> Result<(), GlError> {
        listed!(self, gl_pixel_transferf(pname, param));
        needs!(self, pname);
        let at = match pname {
            GL_MAP_COLOR => at!(GL_MAP_COLOR),
            GL_MAP_STENCIL => at!(GL_MAP_STENCIL),
            GL_INDEX_SHIFT => at!(GL_INDEX_SHIFT),
            GL_INDEX_OFFSET => at!(GL_INDEX_OFFSET),
            GL_RED_SCALE => at!(GL_RED_SCALE),
            GL_RED_BIAS => at!(GL_RED_BIAS),
            GL_GREEN_SCALE => at!(GL_GREEN_SCALE),
            GL_GREEN_BIAS => at!(GL_GREEN_BIAS),
            GL_BLUE_SCALE => at!(GL_BLUE_SCALE),
            GL_BLUE_BIAS => at!(GL_BLUE_BIAS),
            GL_ALPHA_SCALE => at!(GL_ALPHA_SCALE),
            GL_ALPHA_BIAS => at!(GL_ALPHA_BIAS),
            GL_DEPTH_SCALE => at!(GL_DEPTH_SCALE),
            GL_DEPTH_BIAS => at!(GL_DEPTH_BIAS),
            _ => return self.unsure(),
        };
        match pname {
            GL_MAP_COLOR | GL_MAP_STENCIL => self.set(at, u8::from(param != 0.)),
            GL_INDEX_SHIFT | GL_INDEX_OFFSET => self.set(at, param as i32),
            _ => self.set(at, param),
        }
        Ok(())
    }

    pub fn gl_pixel_transferi(&mut self, pname: u32, param: i32) -> Result<(), GlError> {
        self.gl_pixel_transferf(pname, param as f32)
    }

    pub fn gl_pixel_zoom(&mut self, x: f32, y: f32) -> Result<(), GlError> {
        listed!(self, gl_pixel_zoom(x, y));
        needs!(self, GL_ZOOM_X);
        self.set(at!(GL_ZOOM_X), x);
        self.set(at!(GL_ZOOM_Y), y);
        Ok(())
    }

    pub fn gl_map_grid1f(&mut self, un: i32, u1: f32, u2: f32) -> Result<(), GlError> {
        listed!(self, gl_map_grid1f(un, u1, u2));
        needs!(self, GL_MAP1_GRID_DOMAIN);
        if un < 1 {
            return Err(GlError::InvalidValue);
        }
        self.set(at!(GL_MAP1_GRID_SEGMENTS), un);
        self.set_all(at!(GL_MAP1_GRID_DOMAIN), &[u1, u2]);
        Ok(())
    }

    pub fn gl_map_grid1d(&mut self, un: i32, u1: f64, u2: f64) -> Result<(), GlError> {
        self.gl_map_grid1f(un, u1 as f32, u2 as f32)
    }

    pub fn gl_map_grid2f(
        &mut self,
        un: i32,
        u1: f32,
        u2: f32,
        vn: i32,
        v1: f32,
        v2: f32,
    ) -> Result<(), GlError> {
        listed!(self, gl_map_grid2f(un, u1, u2, vn, v1, v2));
        needs!(self, GL_MAP2_GRID_DOMAIN);
        if un < 1 || vn < 1 {
            return Err(GlError::InvalidValue);
        }
        self.set_all(at!(GL_MAP2_GRID_SEGMENTS), &[un, vn]);
        self.set_all(at!(GL_MAP2_GRID_DOMAIN), &[u1, u2, v1, v2]);
        Ok(())
    }

    pub fn gl_map_grid2d(
        &mut self,
        un: i32,
        u1: f64,
        u2: f64,
        vn: i32,
        v1: f64,
        v2: f64,
    ) -> Result<(), GlError> {
        self.gl_map_grid2f(un, u1 as f32, u2 as f32, vn, v1 as f32, v2 as f32)
    }

    pub fn gl_clip_plane(&mut self, plane: u32, equation: &[f64]) -> Result<(), GlError> {
        let v: [f64; 4] = std::array::from_fn(|i| equation.get(i).copied().unwrap_or(0.));
        listed!(self, gl_clip_plane(plane, &v));
        needs!(self, GL_LIGHTING);
        let i = plane.wrapping_sub(GL_CLIP_PLANE0) as usize;
        if i >= self.limits.clip_planes {
            return Err(GlError::InvalidEnum);
        }
        let at = CLIP_AT + 4 * i;
        match self.modelview_is_identity() {
            true => self.set_all(at, &v.map(|v| v as f32)),
            false => self.forget_at(at, 4),
        }
        Ok(())
    }

    pub fn gl_clip_planef(&mut self, plane: u32, equation: &[f32]) -> Result<(), GlError> {
        let v: [f64; 4] = std::array::from_fn(|i| equation.get(i).map_or(0., |&v| v.into()));
        self.gl_clip_plane(plane, &v)
    }

    pub fn gl_clip_planef_oes(&mut self, plane: u32, equation: &[f32]) -> Result<(), GlError> {
        self.gl_clip_planef(plane, equation)
    }

    /// `glGetClipPlane`.
    pub fn clip_plane(&self, plane: u32) -> Answer<'_> {
        let i = plane.wrapping_sub(GL_CLIP_PLANE0) as usize;
        match i < self.limits.clip_planes && self.has(GL_LIGHTING) {
            true => self.answer_at(CLIP_AT + 4 * i, 4, Class::Float),
            false => Answer::Unknown,
        }
    }
}
