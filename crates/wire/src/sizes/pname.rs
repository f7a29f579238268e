//! Values that parameter commands (`glLightfv`, `glTexParameteriv`, …) read for a name.
//!
//! One table serves them all: no name means different lengths to different commands. The
//! same lengths hold for the commands that read parameters back (`glGetLightfv`, …), except
//! where [`super::gets`] says otherwise.

use crate::gl::*;

/// The most values [`params`] ever returns.
pub const PARAMS_MAX: usize = 4;

/// Number of values, of whatever type the command's suffix says, that a parameter command
/// reads from its array for `pname`. Names that take one value, and unknown names (the driver
/// refuses those without reading), are 1.
pub fn params(pname: u32) -> usize {
    match pname {
        // glLight, glMaterial, glLightModel
        GL_AMBIENT
        | GL_DIFFUSE
        | GL_SPECULAR
        | GL_EMISSION
        | GL_AMBIENT_AND_DIFFUSE
        | GL_POSITION
        | GL_LIGHT_MODEL_AMBIENT => 4,
        GL_SPOT_DIRECTION | GL_COLOR_INDEXES => 3,
        // glFog
        GL_FOG_COLOR => 4,
        // glTexEnv, glTexGen
        GL_TEXTURE_ENV_COLOR | GL_OBJECT_PLANE | GL_EYE_PLANE => 4,
        // glTexParameter, glSamplerParameter
        GL_TEXTURE_BORDER_COLOR | GL_TEXTURE_SWIZZLE_RGBA | GL_TEXTURE_CROP_RECT_OES => 4,
        // glPointParameter, glPatchParameter
        GL_POINT_DISTANCE_ATTENUATION => 3,
        GL_PATCH_DEFAULT_OUTER_LEVEL => 4,
        GL_PATCH_DEFAULT_INNER_LEVEL => 2,
        // glConvolutionParameter, glColorTableParameter
        GL_CONVOLUTION_BORDER_COLOR
        | GL_CONVOLUTION_FILTER_SCALE
        | GL_CONVOLUTION_FILTER_BIAS
        | GL_COLOR_TABLE_SCALE
        | GL_COLOR_TABLE_BIAS => 4,
        _ => 1,
    }
}

/// Number of values `glClearBuffer*v` reads for `buffer`, or 1 for a buffer that the driver
/// will refuse.
pub fn clear_values(buffer: u32) -> usize {
    match buffer {
        GL_COLOR => 4,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_planes_and_positions_are_four() {
        for pname in [
            GL_AMBIENT,
            GL_EMISSION,
            GL_POSITION,
            GL_FOG_COLOR,
            GL_TEXTURE_ENV_COLOR,
            GL_EYE_PLANE,
            GL_TEXTURE_BORDER_COLOR,
            GL_TEXTURE_SWIZZLE_RGBA,
            GL_LIGHT_MODEL_AMBIENT,
        ] {
            assert_eq!(params(pname), 4, "{pname:#x}");
        }
    }

    #[test]
    fn the_rest() {
        assert_eq!(params(GL_SPOT_DIRECTION), 3);
        assert_eq!(params(GL_COLOR_INDEXES), 3);
        assert_eq!(params(GL_POINT_DISTANCE_ATTENUATION), 3);
        assert_eq!(params(GL_PATCH_DEFAULT_INNER_LEVEL), 2);
        assert_eq!(params(GL_SPOT_CUTOFF), 1);
        assert_eq!(params(GL_SHININESS), 1);
        assert_eq!(params(GL_TEXTURE_MIN_FILTER), 1);
        assert_eq!(params(0), 1);
        assert_eq!(params(u32::MAX), 1);
        assert_eq!(clear_values(GL_COLOR), 4);
        assert_eq!(clear_values(GL_DEPTH), 1);
        assert_eq!(clear_values(GL_STENCIL), 1);
        assert!((0..0x1_0000).all(|pname| (1..=PARAMS_MAX).contains(&params(pname))));
    }
}
