//! Values that the `glGet*` family writes for a name.
//!
//! The server sends exactly this many back and the client writes exactly this many into the
//! program's memory, so a number too small leaves the program with garbage and one too large
//! writes past its buffer. Unknown names count 1: the driver refuses them and nothing is written.

use crate::gl::*;

use super::pname::params;

/// The most values [`values`] ever promises.
pub const VALUES_MAX: usize = 16;

/// Number of values `glGetBooleanv`, `glGetIntegerv`, `glGetInteger64v`, `glGetFloatv`,
/// `glGetDoublev` and `glGetFixedv` write for `pname`; `None` for the lists whose length is
/// itself a value, named by [`counted_by`].
pub fn values(pname: u32) -> Option<usize> {
    Some(match pname {
        GL_COMPRESSED_TEXTURE_FORMATS | GL_SHADER_BINARY_FORMATS | GL_PROGRAM_BINARY_FORMATS => {
            return None
        }
        GL_MODELVIEW_MATRIX
        | GL_MODELVIEW1_ARB
        | GL_PROJECTION_MATRIX
        | GL_TEXTURE_MATRIX
        | GL_COLOR_MATRIX
        | GL_CURRENT_MATRIX_ARB
        | GL_TRANSPOSE_MODELVIEW_MATRIX
        | GL_TRANSPOSE_PROJECTION_MATRIX
        | GL_TRANSPOSE_TEXTURE_MATRIX
        | GL_TRANSPOSE_COLOR_MATRIX
        | GL_TRANSPOSE_CURRENT_MATRIX_ARB => 16,
        matrix if (GL_MATRIX0_ARB..=GL_MATRIX31_ARB).contains(&matrix) => 16,
        GL_PRIMITIVE_BOUNDING_BOX => 8,
        GL_CURRENT_COLOR
        | GL_CURRENT_SECONDARY_COLOR
        | GL_CURRENT_TEXTURE_COORDS
        | GL_CURRENT_RASTER_COLOR
        | GL_CURRENT_RASTER_SECONDARY_COLOR
        | GL_CURRENT_RASTER_POSITION
        | GL_CURRENT_RASTER_TEXTURE_COORDS
        | GL_LIGHT_MODEL_AMBIENT
        | GL_FOG_COLOR
        | GL_VIEWPORT
        | GL_SCISSOR_BOX
        | GL_COLOR_CLEAR_VALUE
        | GL_ACCUM_CLEAR_VALUE
        | GL_COLOR_WRITEMASK
        | GL_BLEND_COLOR
        | GL_MAP2_GRID_DOMAIN
        | GL_PATCH_DEFAULT_OUTER_LEVEL
        | GL_RGBA_SIGNED_COMPONENTS_EXT
        | GL_VBO_FREE_MEMORY_ATI
        | GL_TEXTURE_FREE_MEMORY_ATI
        | GL_RENDERBUFFER_FREE_MEMORY_ATI
        | GL_DEVICE_UUID_EXT
        | GL_DRIVER_UUID_EXT => 4,
        GL_CURRENT_NORMAL | GL_POINT_DISTANCE_ATTENUATION => 3,
        GL_DEPTH_RANGE
        | GL_DEPTH_BOUNDS_EXT
        | GL_POINT_SIZE_RANGE
        | GL_LINE_WIDTH_RANGE
        | GL_ALIASED_POINT_SIZE_RANGE
        | GL_ALIASED_LINE_WIDTH_RANGE
        | GL_MULTISAMPLE_LINE_WIDTH_RANGE_ARB
        | GL_MAX_VIEWPORT_DIMS
        | GL_VIEWPORT_BOUNDS_RANGE
        | GL_POLYGON_MODE
        | GL_MAP1_GRID_DOMAIN
        | GL_MAP2_GRID_SEGMENTS
        | GL_PATCH_DEFAULT_INNER_LEVEL
        | GL_DEVICE_LUID_EXT => 2,
        _ => 1,
    })
}

/// The name whose value is the length of the list that `pname` returns.
pub fn counted_by(pname: u32) -> Option<u32> {
    match pname {
        GL_COMPRESSED_TEXTURE_FORMATS => Some(GL_NUM_COMPRESSED_TEXTURE_FORMATS),
        GL_SHADER_BINARY_FORMATS => Some(GL_NUM_SHADER_BINARY_FORMATS),
        GL_PROGRAM_BINARY_FORMATS => Some(GL_NUM_PROGRAM_BINARY_FORMATS),
        _ => None,
    }
}

/// Number of values the indexed gets (`glGetIntegeri_v`, `glGetFloati_v`, …) write.
pub fn indexed(pname: u32) -> usize {
    match pname {
        GL_VIEWPORT
        | GL_SCISSOR_BOX
        | GL_COLOR_WRITEMASK
        | GL_CURRENT_TEXTURE_COORDS
        | GL_BLEND_COLOR => 4,
        GL_DEPTH_RANGE => 2,
        // EXT_direct_state_access reads matrices of a texture unit this way.
        GL_TEXTURE_MATRIX | GL_TRANSPOSE_TEXTURE_MATRIX => 16,
        _ => 1,
    }
}

/// Number of bytes `glGetUnsignedBytev` writes.
pub fn unsigned_bytes(pname: u32) -> usize {
    match pname {
        GL_DEVICE_UUID_EXT | GL_DRIVER_UUID_EXT => 16,
        GL_DEVICE_LUID_EXT => 8,
        _ => 1,
    }
}

/// Number of values `glGetLight*v`, `glGetMaterial*v`, `glGetTexEnv*v`, `glGetTexGen*v`,
/// `glGetTexParameter*v`, `glGetSamplerParameter*v`, `glGetColorTableParameter*v` and
/// `glGetConvolutionParameter*v` write: as many as the setter reads.
pub fn parameter(pname: u32) -> usize {
    params(pname)
}

/// Number of values `glGetVertexAttrib*v` writes.
pub fn vertex_attrib(pname: u32) -> usize {
    match pname {
        GL_CURRENT_VERTEX_ATTRIB => 4,
        _ => 1,
    }
}

/// Number of values `glGetProgramiv` writes.
pub fn program(pname: u32) -> usize {
    match pname {
        GL_COMPUTE_WORK_GROUP_SIZE => 3,
        _ => 1,
    }
}

/// Number of values `glGetMap*v` writes for a query of an evaluator; `None` for its
/// coefficients, whose number follows from its orders, and for anything else.
pub fn map(target: u32, query: u32) -> Option<usize> {
    let dimensions = match target {
        GL_MAP1_COLOR_4..=GL_MAP1_VERTEX_4 => 1,
        GL_MAP2_COLOR_4..=GL_MAP2_VERTEX_4 => 2,
        _ => return None,
    };
    match query {
        GL_ORDER => Some(dimensions),
        GL_DOMAIN => Some(2 * dimensions),
        _ => None,
    }
}

/// The name for which `glGetIntegerv` returns the length of a pixel map that `glGetPixelMap*v`
/// writes.
pub fn pixel_map_counted_by(map: u32) -> Option<u32> {
    match map {
        GL_PIXEL_MAP_I_TO_I..=GL_PIXEL_MAP_A_TO_A => {
            Some(map - GL_PIXEL_MAP_I_TO_I + GL_PIXEL_MAP_I_TO_I_SIZE)
        }
        _ => None,
    }
}

/// Values of `glGetMultisamplefv`: a sample's position.
pub const MULTISAMPLE: usize = 2;

/// Values of `glGetClipPlane`: the plane's equation in eye coordinates.
pub const CLIP_PLANE: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_lengths() {
        assert_eq!(values(GL_MODELVIEW_MATRIX), Some(16));
        assert_eq!(values(GL_MATRIX0_ARB + 31), Some(16));
        assert_eq!(values(GL_MATRIX0_ARB + 32), Some(1));
        assert_eq!(values(GL_VIEWPORT), Some(4));
        assert_eq!(values(GL_CURRENT_NORMAL), Some(3));
        assert_eq!(values(GL_POLYGON_MODE), Some(2));
        assert_eq!(values(GL_DEPTH_TEST), Some(1));
        assert_eq!(values(0), Some(1));
        assert_eq!(indexed(GL_VIEWPORT), 4);
        assert_eq!(indexed(GL_DEPTH_RANGE), 2);
        assert_eq!(indexed(GL_UNIFORM_BUFFER_BINDING), 1);
        assert_eq!(vertex_attrib(GL_CURRENT_VERTEX_ATTRIB), 4);
        assert_eq!(program(GL_COMPUTE_WORK_GROUP_SIZE), 3);
        assert_eq!(program(GL_LINK_STATUS), 1);
    }

    #[test]
    fn lists_say_who_counts_them() {
        for pname in 0..0x1_0000 {
            assert_eq!(values(pname).is_none(), counted_by(pname).is_some());
            assert!(values(pname).unwrap_or(0) <= VALUES_MAX);
        }
        assert_eq!(
            pixel_map_counted_by(GL_PIXEL_MAP_A_TO_A),
            Some(GL_PIXEL_MAP_A_TO_A_SIZE)
        );
        assert_eq!(
            pixel_map_counted_by(GL_PIXEL_MAP_S_TO_S),
            Some(GL_PIXEL_MAP_S_TO_S_SIZE)
        );
        assert_eq!(pixel_map_counted_by(GL_RED), None);
    }

    #[test]
    fn evaluators() {
        assert_eq!(map(GL_MAP1_VERTEX_3, GL_DOMAIN), Some(2));
        assert_eq!(map(GL_MAP2_VERTEX_3, GL_DOMAIN), Some(4));
        assert_eq!(map(GL_MAP2_NORMAL, GL_ORDER), Some(2));
        assert_eq!(map(GL_MAP2_NORMAL, GL_COEFF), None);
        assert_eq!(map(GL_TEXTURE_2D, GL_ORDER), None);
    }
}
