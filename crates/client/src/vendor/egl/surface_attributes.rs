//! A program's attributes of a surface, which it can query.

use super::error::EglError;
use std::ffi::c_int;

pub const HEIGHT: c_int = 0x3056;
pub const WIDTH: c_int = 0x3057;
const LARGEST_PBUFFER: c_int = 0x3058;
pub const NO_TEXTURE: c_int = 0x305C;
pub const TEXTURE_RGB: c_int = 0x305D;
const TEXTURE_RGBA: c_int = 0x305E;
const TEXTURE_2D: c_int = 0x305F;
const TEXTURE_FORMAT: c_int = 0x3080;
const TEXTURE_TARGET: c_int = 0x3081;
const MIPMAP_TEXTURE: c_int = 0x3082;
const MIPMAP_LEVEL: c_int = 0x3083;
const BACK_BUFFER: c_int = 0x3084;
pub const SINGLE_BUFFER: c_int = 0x3085;
const RENDER_BUFFER: c_int = 0x3086;
const VG_COLORSPACE: c_int = 0x3087;
const VG_ALPHA_FORMAT: c_int = 0x3088;
pub const SRGB: c_int = 0x3089;
const LINEAR: c_int = 0x308A;
const ALPHA_NONPRE: c_int = 0x308B;
const ALPHA_PRE: c_int = 0x308C;
const HORIZONTAL_RESOLUTION: c_int = 0x3090;
const PIXEL_ASPECT_RATIO: c_int = 0x3092;
const SWAP_BEHAVIOR: c_int = 0x3093;
const BUFFER_PRESERVED: c_int = 0x3094;
const BUFFER_DESTROYED: c_int = 0x3095;
const MULTISAMPLE_RESOLVE: c_int = 0x3099;
const RESOLVE_DEFAULT: c_int = 0x309A;
const RESOLVE_BOX: c_int = 0x309B;
const GL_COLORSPACE: c_int = 0x309D;
const UNKNOWN: c_int = -1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Window,
    Pixmap,
    Pbuffer,
}

/// The attributes of a surface.
#[derive(Clone, Copy, Debug)]
pub struct SurfaceAttributes {
    pub kind: Kind,
    /// The requested size of a pbuffer.
    pub size: [c_int; 2],
    pub largest: bool,
    pub texture_format: c_int,
    texture_target: c_int,
    mipmap_texture: bool,
    mipmap_level: c_int,
    pub render_buffer: c_int,
    swap_behavior: c_int,
    vg_colorspace: c_int,
    vg_alpha_format: c_int,
    pub gl_colorspace: c_int,
}

impl SurfaceAttributes {
    /// Reads the attributes that a surface is created with.
    pub fn read(kind: Kind, attributes: &[(c_int, i64)]) -> Result<SurfaceAttributes, EglError> {
        let mut told = SurfaceAttributes {
            kind,
            size: [0, 0],
            largest: false,
            texture_format: NO_TEXTURE,
            texture_target: NO_TEXTURE,
            mipmap_texture: false,
            mipmap_level: 0,
            render_buffer: match kind {
                Kind::Pixmap => SINGLE_BUFFER,
                _ => BACK_BUFFER,
            },
            swap_behavior: match kind {
                Kind::Pixmap => BUFFER_PRESERVED,
                _ => BUFFER_DESTROYED,
            },
            vg_colorspace: SRGB,
            vg_alpha_format: ALPHA_NONPRE,
            gl_colorspace: LINEAR,
        };
        for (name, value) in attributes {
            let value = *value as c_int;
            match (*name, kind, value) {
                (VG_COLORSPACE, _, SRGB | LINEAR) => told.vg_colorspace = value,
                (VG_ALPHA_FORMAT, _, ALPHA_NONPRE | ALPHA_PRE) => told.vg_alpha_format = value,
                (GL_COLORSPACE, _, SRGB | LINEAR) => told.gl_colorspace = value,
                (RENDER_BUFFER, Kind::Window, BACK_BUFFER | SINGLE_BUFFER) => {
                    told.render_buffer = value;
                }
                (WIDTH | HEIGHT, Kind::Pbuffer, ..=-1) => return Err(EglError::BadParameter),
                (WIDTH, Kind::Pbuffer, _) => told.size[0] = value,
                (HEIGHT, Kind::Pbuffer, _) => told.size[1] = value,
                (LARGEST_PBUFFER, Kind::Pbuffer, _) => told.largest = value != 0,
                (TEXTURE_FORMAT, Kind::Pbuffer, NO_TEXTURE..=TEXTURE_RGBA) => {
                    told.texture_format = value;
                }
                (TEXTURE_TARGET, Kind::Pbuffer, NO_TEXTURE | TEXTURE_2D) => {
                    told.texture_target = value;
                }
                (MIPMAP_TEXTURE, Kind::Pbuffer, _) => told.mipmap_texture = value != 0,
                _ => return Err(EglError::BadAttribute),
            }
        }
        match (told.texture_format == NO_TEXTURE) == (told.texture_target == NO_TEXTURE) {
            true => Ok(told),
            false => Err(EglError::BadMatch),
        }
    }

    /// The answer to `eglQuerySurface`; `None` leaves the program's integer unchanged. The caller
    /// answers for the size and the config.
    pub fn value(&self, name: c_int) -> Result<Option<c_int>, EglError> {
        let of_pbuffer = |value: c_int| (self.kind == Kind::Pbuffer).then_some(value);
        Ok(match name {
            LARGEST_PBUFFER => of_pbuffer(self.largest.into()),
            TEXTURE_FORMAT => of_pbuffer(self.texture_format),
            TEXTURE_TARGET => of_pbuffer(self.texture_target),
            MIPMAP_TEXTURE => of_pbuffer(self.mipmap_texture.into()),
            MIPMAP_LEVEL => of_pbuffer(self.mipmap_level),
            RENDER_BUFFER => Some(self.render_buffer),
            SWAP_BEHAVIOR => Some(self.swap_behavior),
            MULTISAMPLE_RESOLVE => Some(RESOLVE_DEFAULT),
            HORIZONTAL_RESOLUTION..=PIXEL_ASPECT_RATIO => Some(UNKNOWN),
            VG_COLORSPACE => Some(self.vg_colorspace),
            VG_ALPHA_FORMAT => Some(self.vg_alpha_format),
            GL_COLORSPACE => Some(self.gl_colorspace),
            _ => return Err(EglError::BadAttribute),
        })
    }

    /// `eglSurfaceAttrib`. `preserves` says whether the config allows buffers to be preserved; they
    /// always are.
    pub fn set(&mut self, name: c_int, value: c_int, preserves: bool) -> Result<(), EglError> {
        match (name, value) {
            (MIPMAP_LEVEL, level) => self.mipmap_level = level,
            (MULTISAMPLE_RESOLVE, RESOLVE_DEFAULT) => {}
            (MULTISAMPLE_RESOLVE, RESOLVE_BOX) => return Err(EglError::BadMatch),
            (SWAP_BEHAVIOR, BUFFER_PRESERVED) if !preserves => return Err(EglError::BadMatch),
            (SWAP_BEHAVIOR, BUFFER_PRESERVED | BUFFER_DESTROYED) => self.swap_behavior = value,
            _ => return Err(EglError::BadAttribute),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_belong_to_kinds() {
        let read =
            |kind, list: &[(c_int, i64)]| SurfaceAttributes::read(kind, list).map(|t| t.size);
        assert_eq!(read(Kind::Pbuffer, &[(WIDTH, 5)]), Ok([5, 0]));
        assert_eq!(
            read(Kind::Pbuffer, &[(WIDTH, -5)]),
            Err(EglError::BadParameter)
        );
        assert_eq!(
            read(Kind::Window, &[(WIDTH, 5)]),
            Err(EglError::BadAttribute)
        );
        let format = (TEXTURE_FORMAT, i64::from(TEXTURE_RGBA));
        assert_eq!(read(Kind::Pbuffer, &[format]), Err(EglError::BadMatch));
        let target = (TEXTURE_TARGET, i64::from(TEXTURE_2D));
        assert!(read(Kind::Pbuffer, &[format, target]).is_ok());
        assert_eq!(
            read(Kind::Pixmap, &[(RENDER_BUFFER, 0x3085)]),
            Err(EglError::BadAttribute)
        );
    }

    #[test]
    fn preserving_is_a_matter_of_the_config() {
        let mut told = SurfaceAttributes::read(Kind::Window, &[]).unwrap();
        assert_eq!(
            told.set(SWAP_BEHAVIOR, BUFFER_PRESERVED, false),
            Err(EglError::BadMatch)
        );
        assert_eq!(told.set(SWAP_BEHAVIOR, BUFFER_PRESERVED, true), Ok(()));
        assert_eq!(told.value(SWAP_BEHAVIOR), Ok(Some(BUFFER_PRESERVED)));
        assert_eq!(told.value(MIPMAP_LEVEL), Ok(None));
    }
}
