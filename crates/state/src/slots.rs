//! The table of simple state: which names there are, of what kind, in which attribute groups,
//! and where in the shadow their values lie.
//!
//! Every value of the shadow is an `f64`, which holds any 32-bit integer and any float
//! exactly. The shadow is one array; a name's place in it follows from the table at compile
//! time ([`slot`]), so that a setter is a store to a constant offset. Behind the table's own
//! values lie the lights, materials, clip planes and texture units (see the constants below),
//! and saving an attribute group is copying ranges.

use mgn_wire::gl::*;

/// How a value is converted for each of the get commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Bool,
    Int,
    /// Not negative: the integer get shows no more than the greatest integer.
    Uint,
    /// Rounded to an integer.
    Float,
    /// A float of which the integer get of its object shows the integer part.
    Part,
    /// A float whose range -1 to 1 the integer get stretches over all integers: colours,
    /// depths and normals.
    Unit,
    /// As `Unit`, and shown clamped to 0..1 while fragment colours are clamped.
    Clamped,
    /// As `Clamped`, and always clamped as an integer.
    EnvColor,
}

/// An unknown value: a NaN that no conversion from a float makes.
pub(crate) const UNKNOWN: f64 = f64::from_bits(0x7ff8_6d61_6e67_0001);

#[inline]
pub(crate) fn is_unknown(value: f64) -> bool {
    value.to_bits() == UNKNOWN.to_bits()
}

/// One name: `elements` times `values` values, of which the unindexed get shows the first
/// element.
pub(crate) struct Row {
    pub pname: u32,
    pub values: u8,
    pub elements: u8,
    pub class: Class,
    /// The `glPushAttrib` bits that save it.
    pub groups: u32,
    /// Each element has a name of its own, `pname + i`, instead of an index.
    pub named: bool,
}

/// Draw buffers that have blending and masks of their own.
pub(crate) const DRAW_BUFFERS: usize = 8;
/// Viewports and scissors.
pub(crate) const VIEWPORTS: usize = 16;

const fn row(pname: u32, values: u8, class: Class, groups: u32) -> Row {
    Row {
        pname,
        values,
        elements: 1,
        class,
        groups,
        named: false,
    }
}

const fn rows(pname: u32, values: u8, elements: usize, class: Class, groups: u32) -> Row {
    Row {
        pname,
        values,
        elements: elements as u8,
        class,
        groups,
        named: false,
    }
}

const fn cap(pname: u32, groups: u32) -> Row {
    row(pname, 1, Class::Bool, groups)
}

/// Capabilities with consecutive names.
const fn caps(pname: u32, elements: usize, groups: u32) -> Row {
    Row {
        elements: elements as u8,
        named: true,
        ..row(pname, 1, Class::Bool, groups)
    }
}

use Class::{Bool, Clamped, Float, Int, Uint, Unit};

const ENABLE: u32 = GL_ENABLE_BIT;
const POINT: u32 = GL_POINT_BIT;
const LINE: u32 = GL_LINE_BIT;
const POLYGON: u32 = GL_POLYGON_BIT;
const PIXEL: u32 = GL_PIXEL_MODE_BIT;
const LIGHTING: u32 = GL_LIGHTING_BIT;
const FOG: u32 = GL_FOG_BIT;
const DEPTH: u32 = GL_DEPTH_BUFFER_BIT;
const STENCIL: u32 = GL_STENCIL_BUFFER_BIT;
const TRANSFORM: u32 = GL_TRANSFORM_BIT;
const COLOR: u32 = GL_COLOR_BUFFER_BIT;
const HINT: u32 = GL_HINT_BIT;
const EVAL: u32 = GL_EVAL_BIT;
const TEXTURE: u32 = GL_TEXTURE_BIT;
const MULTISAMPLE: u32 = GL_MULTISAMPLE_BIT;

/// Names whose values never depend on anything but the last command that set them.
pub(crate) const TABLE: &[Row] = &[
    row(GL_POINT_SIZE, 1, Float, POINT),
    row(GL_POINT_SIZE_MIN, 1, Float, POINT),
    row(GL_POINT_SIZE_MAX, 1, Float, POINT),
    row(GL_POINT_FADE_THRESHOLD_SIZE, 1, Float, POINT),
    row(GL_POINT_DISTANCE_ATTENUATION, 3, Float, POINT),
    row(GL_POINT_SPRITE_COORD_ORIGIN, 1, Int, POINT),
    cap(GL_POINT_SMOOTH, POINT | ENABLE),
    cap(GL_POINT_SPRITE, POINT | ENABLE),
    row(GL_LINE_WIDTH, 1, Float, LINE),
    row(GL_LINE_STIPPLE_PATTERN, 1, Int, LINE),
    row(GL_LINE_STIPPLE_REPEAT, 1, Int, LINE),
    cap(GL_LINE_SMOOTH, LINE | ENABLE),
    cap(GL_LINE_STIPPLE, LINE | ENABLE),
    row(GL_POLYGON_MODE, 2, Int, POLYGON),
    row(GL_CULL_FACE_MODE, 1, Int, POLYGON),
    row(GL_FRONT_FACE, 1, Int, POLYGON),
    row(GL_POLYGON_OFFSET_FACTOR, 1, Float, POLYGON),
    row(GL_POLYGON_OFFSET_UNITS, 1, Float, POLYGON),
    row(GL_POLYGON_OFFSET_CLAMP, 1, Float, POLYGON),
    cap(GL_CULL_FACE, POLYGON | ENABLE),
    cap(GL_POLYGON_SMOOTH, POLYGON | ENABLE),
    cap(GL_POLYGON_STIPPLE, POLYGON | ENABLE),
    cap(GL_POLYGON_OFFSET_POINT, POLYGON | ENABLE),
    cap(GL_POLYGON_OFFSET_LINE, POLYGON | ENABLE),
    cap(GL_POLYGON_OFFSET_FILL, POLYGON | ENABLE),
    row(GL_MAP_COLOR, 1, Bool, PIXEL),
    row(GL_MAP_STENCIL, 1, Bool, PIXEL),
    row(GL_INDEX_SHIFT, 1, Int, PIXEL),
    row(GL_INDEX_OFFSET, 1, Int, PIXEL),
    row(GL_RED_SCALE, 1, Float, PIXEL),
    row(GL_RED_BIAS, 1, Float, PIXEL),
    row(GL_GREEN_SCALE, 1, Float, PIXEL),
    row(GL_GREEN_BIAS, 1, Float, PIXEL),
    row(GL_BLUE_SCALE, 1, Float, PIXEL),
    row(GL_BLUE_BIAS, 1, Float, PIXEL),
    row(GL_ALPHA_SCALE, 1, Float, PIXEL),
    row(GL_ALPHA_BIAS, 1, Float, PIXEL),
    row(GL_DEPTH_SCALE, 1, Float, PIXEL),
    row(GL_DEPTH_BIAS, 1, Float, PIXEL),
    row(GL_ZOOM_X, 1, Float, PIXEL),
    row(GL_ZOOM_Y, 1, Float, PIXEL),
    row(GL_SHADE_MODEL, 1, Int, LIGHTING),
    row(GL_PROVOKING_VERTEX, 1, Int, LIGHTING),
    row(GL_LIGHT_MODEL_AMBIENT, 4, Unit, LIGHTING),
    row(GL_LIGHT_MODEL_LOCAL_VIEWER, 1, Bool, LIGHTING),
    row(GL_LIGHT_MODEL_TWO_SIDE, 1, Bool, LIGHTING),
    row(GL_LIGHT_MODEL_COLOR_CONTROL, 1, Int, LIGHTING),
    row(GL_COLOR_MATERIAL_FACE, 1, Int, LIGHTING),
    row(GL_COLOR_MATERIAL_PARAMETER, 1, Int, LIGHTING),
    row(GL_CLAMP_VERTEX_COLOR, 1, Int, LIGHTING),
    cap(GL_LIGHTING, LIGHTING | ENABLE),
    cap(GL_COLOR_MATERIAL, LIGHTING | ENABLE),
    caps(GL_LIGHT0, LIGHTS, LIGHTING | ENABLE),
    row(GL_FOG_MODE, 1, Int, FOG),
    row(GL_FOG_DENSITY, 1, Float, FOG),
    row(GL_FOG_START, 1, Float, FOG),
    row(GL_FOG_END, 1, Float, FOG),
    row(GL_FOG_INDEX, 1, Float, FOG),
    row(GL_FOG_COLOR, 4, Clamped, FOG),
    row(GL_FOG_COORD_SRC, 1, Int, FOG),
    row(GL_FOG_DISTANCE_MODE_NV, 1, Int, FOG),
    cap(GL_FOG, FOG | ENABLE),
    cap(GL_COLOR_SUM, FOG | ENABLE),
    row(GL_DEPTH_FUNC, 1, Int, DEPTH),
    row(GL_DEPTH_WRITEMASK, 1, Bool, DEPTH),
    row(GL_DEPTH_CLEAR_VALUE, 1, Unit, DEPTH),
    cap(GL_DEPTH_TEST, DEPTH | ENABLE),
    row(GL_ACCUM_CLEAR_VALUE, 4, Unit, GL_ACCUM_BUFFER_BIT),
    row(GL_STENCIL_FUNC, 1, Int, STENCIL),
    row(GL_STENCIL_REF, 1, Int, STENCIL),
    row(GL_STENCIL_VALUE_MASK, 1, Uint, STENCIL),
    row(GL_STENCIL_FAIL, 1, Int, STENCIL),
    row(GL_STENCIL_PASS_DEPTH_FAIL, 1, Int, STENCIL),
    row(GL_STENCIL_PASS_DEPTH_PASS, 1, Int, STENCIL),
    row(GL_STENCIL_WRITEMASK, 1, Uint, STENCIL),
    row(GL_STENCIL_BACK_FUNC, 1, Int, STENCIL),
    row(GL_STENCIL_BACK_REF, 1, Int, STENCIL),
    row(GL_STENCIL_BACK_VALUE_MASK, 1, Uint, STENCIL),
    row(GL_STENCIL_BACK_FAIL, 1, Int, STENCIL),
    row(GL_STENCIL_BACK_PASS_DEPTH_FAIL, 1, Int, STENCIL),
    row(GL_STENCIL_BACK_PASS_DEPTH_PASS, 1, Int, STENCIL),
    row(GL_STENCIL_BACK_WRITEMASK, 1, Uint, STENCIL),
    row(GL_STENCIL_CLEAR_VALUE, 1, Int, STENCIL),
    row(GL_ACTIVE_STENCIL_FACE_EXT, 1, Int, STENCIL),
    cap(GL_STENCIL_TEST, STENCIL | ENABLE),
    cap(GL_STENCIL_TEST_TWO_SIDE_EXT, STENCIL | ENABLE),
    rows(GL_VIEWPORT, 4, VIEWPORTS, Float, GL_VIEWPORT_BIT),
    rows(GL_DEPTH_RANGE, 2, VIEWPORTS, Unit, GL_VIEWPORT_BIT),
    row(GL_MATRIX_MODE, 1, Int, TRANSFORM),
    cap(GL_NORMALIZE, TRANSFORM | ENABLE),
    cap(GL_RESCALE_NORMAL, TRANSFORM | ENABLE),
    cap(GL_DEPTH_CLAMP, TRANSFORM | ENABLE),
    cap(GL_RASTER_POSITION_UNCLIPPED_IBM, TRANSFORM | ENABLE),
    caps(GL_CLIP_DISTANCE0, CLIP_PLANES, TRANSFORM | ENABLE),
    row(GL_CLIP_ORIGIN, 1, Int, TRANSFORM),
    row(GL_CLIP_DEPTH_MODE, 1, Int, TRANSFORM),
    row(GL_ALPHA_TEST_FUNC, 1, Int, COLOR),
    row(GL_ALPHA_TEST_REF, 1, Clamped, COLOR),
    rows(GL_BLEND_SRC_RGB, 1, DRAW_BUFFERS, Int, COLOR),
    rows(GL_BLEND_DST_RGB, 1, DRAW_BUFFERS, Int, COLOR),
    rows(GL_BLEND_SRC_ALPHA, 1, DRAW_BUFFERS, Int, COLOR),
    rows(GL_BLEND_DST_ALPHA, 1, DRAW_BUFFERS, Int, COLOR),
    rows(GL_BLEND_EQUATION_RGB, 1, DRAW_BUFFERS, Int, COLOR),
    rows(GL_BLEND_EQUATION_ALPHA, 1, DRAW_BUFFERS, Int, COLOR),
    row(GL_BLEND_COLOR, 4, Clamped, COLOR),
    row(GL_LOGIC_OP_MODE, 1, Int, COLOR),
    row(GL_COLOR_CLEAR_VALUE, 4, Clamped, COLOR),
    row(GL_INDEX_CLEAR_VALUE, 1, Int, COLOR),
    row(GL_INDEX_WRITEMASK, 1, Int, COLOR),
    rows(GL_COLOR_WRITEMASK, 4, DRAW_BUFFERS, Bool, COLOR),
    row(GL_CLAMP_FRAGMENT_COLOR, 1, Int, COLOR),
    row(GL_CLAMP_READ_COLOR, 1, Int, COLOR),
    cap(GL_ALPHA_TEST, COLOR | ENABLE),
    rows(GL_BLEND, 1, DRAW_BUFFERS, Bool, COLOR | ENABLE),
    cap(GL_DITHER, COLOR | ENABLE),
    cap(GL_COLOR_LOGIC_OP, COLOR | ENABLE),
    cap(GL_INDEX_LOGIC_OP, COLOR | ENABLE),
    cap(GL_FRAMEBUFFER_SRGB, COLOR | ENABLE),
    row(GL_PERSPECTIVE_CORRECTION_HINT, 1, Int, HINT),
    row(GL_POINT_SMOOTH_HINT, 1, Int, HINT),
    row(GL_LINE_SMOOTH_HINT, 1, Int, HINT),
    row(GL_POLYGON_SMOOTH_HINT, 1, Int, HINT),
    row(GL_FOG_HINT, 1, Int, HINT),
    row(GL_TEXTURE_COMPRESSION_HINT, 1, Int, HINT),
    row(GL_GENERATE_MIPMAP_HINT, 1, Int, HINT),
    row(GL_FRAGMENT_SHADER_DERIVATIVE_HINT, 1, Int, HINT),
    row(GL_MAP1_GRID_DOMAIN, 2, Float, EVAL),
    row(GL_MAP1_GRID_SEGMENTS, 1, Int, EVAL),
    row(GL_MAP2_GRID_DOMAIN, 4, Float, EVAL),
    row(GL_MAP2_GRID_SEGMENTS, 2, Int, EVAL),
    cap(GL_AUTO_NORMAL, EVAL | ENABLE),
    caps(GL_MAP1_COLOR_4, MAPS, EVAL | ENABLE),
    caps(GL_MAP2_COLOR_4, MAPS, EVAL | ENABLE),
    row(GL_LIST_BASE, 1, Int, GL_LIST_BIT),
    rows(GL_SCISSOR_BOX, 4, VIEWPORTS, Int, GL_SCISSOR_BIT),
    rows(GL_SCISSOR_TEST, 1, VIEWPORTS, Bool, GL_SCISSOR_BIT | ENABLE),
    cap(GL_MULTISAMPLE, MULTISAMPLE | ENABLE),
    cap(GL_SAMPLE_ALPHA_TO_COVERAGE, MULTISAMPLE | ENABLE),
    cap(GL_SAMPLE_ALPHA_TO_ONE, MULTISAMPLE | ENABLE),
    cap(GL_SAMPLE_COVERAGE, MULTISAMPLE | ENABLE),
    cap(GL_SAMPLE_SHADING, MULTISAMPLE),
    cap(GL_SAMPLE_MASK, MULTISAMPLE),
    row(GL_SAMPLE_COVERAGE_VALUE, 1, Float, MULTISAMPLE),
    row(GL_SAMPLE_COVERAGE_INVERT, 1, Bool, MULTISAMPLE),
    row(GL_MIN_SAMPLE_SHADING_VALUE, 1, Float, MULTISAMPLE),
    row(GL_SAMPLE_MASK_VALUE, 1, Int, MULTISAMPLE),
    row(GL_ACTIVE_TEXTURE, 1, Int, TEXTURE),
    cap(GL_VERTEX_PROGRAM_POINT_SIZE, ENABLE),
    cap(GL_VERTEX_PROGRAM_TWO_SIDE, ENABLE),
    cap(GL_VERTEX_PROGRAM_ARB, ENABLE),
    cap(GL_FRAGMENT_PROGRAM_ARB, ENABLE),
    cap(GL_TEXTURE_CUBE_MAP_SEAMLESS, 0),
    cap(GL_PRIMITIVE_RESTART, 0),
    cap(GL_PRIMITIVE_RESTART_FIXED_INDEX, 0),
    cap(GL_RASTERIZER_DISCARD, 0),
    cap(GL_DEBUG_OUTPUT, 0),
    cap(GL_DEBUG_OUTPUT_SYNCHRONOUS, 0),
    cap(GL_BLEND_ADVANCED_COHERENT_KHR, 0),
    row(GL_PRIMITIVE_RESTART_INDEX, 1, Int, 0),
    row(GL_PATCH_VERTICES, 1, Int, 0),
    row(GL_PATCH_DEFAULT_INNER_LEVEL, 2, Float, 0),
    row(GL_PATCH_DEFAULT_OUTER_LEVEL, 4, Float, 0),
    row(GL_PRIMITIVE_BOUNDING_BOX, 8, Float, 0),
    row(GL_RENDER_MODE, 1, Int, 0),
    row(GL_CLIENT_ACTIVE_TEXTURE, 1, Int, 0),
    row(GL_CURRENT_PROGRAM, 1, Uint, 0),
    row(GL_PROGRAM_PIPELINE_BINDING, 1, Uint, 0),
    row(GL_DRAW_FRAMEBUFFER_BINDING, 1, Uint, 0),
    row(GL_READ_FRAMEBUFFER_BINDING, 1, Uint, 0),
    row(GL_RENDERBUFFER_BINDING, 1, Uint, 0),
    row(GL_VERTEX_ARRAY_BINDING, 1, Uint, 0),
    row(GL_TRANSFORM_FEEDBACK_BINDING, 1, Uint, 0),
    row(GL_ARRAY_BUFFER_BINDING, 1, Uint, 0),
    row(GL_ELEMENT_ARRAY_BUFFER_BINDING, 1, Uint, 0),
    row(GL_PIXEL_PACK_BUFFER_BINDING, 1, Uint, 0),
    row(GL_PIXEL_UNPACK_BUFFER_BINDING, 1, Uint, 0),
    row(GL_COPY_READ_BUFFER_BINDING, 1, Uint, 0),
    row(GL_COPY_WRITE_BUFFER_BINDING, 1, Uint, 0),
    row(GL_DRAW_INDIRECT_BUFFER_BINDING, 1, Uint, 0),
    row(GL_DISPATCH_INDIRECT_BUFFER_BINDING, 1, Uint, 0),
    row(GL_PARAMETER_BUFFER_BINDING, 1, Uint, 0),
    row(GL_QUERY_BUFFER_BINDING, 1, Uint, 0),
    row(GL_UNIFORM_BUFFER_BINDING, 1, Uint, 0),
    row(GL_SHADER_STORAGE_BUFFER_BINDING, 1, Uint, 0),
    row(GL_ATOMIC_COUNTER_BUFFER_BINDING, 1, Uint, 0),
    row(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, 1, Uint, 0),
    row(GL_TEXTURE_BUFFER_BINDING, 1, Uint, 0),
    row(GL_UNPACK_SWAP_BYTES, 1, Bool, 0),
    row(GL_UNPACK_LSB_FIRST, 1, Bool, 0),
    row(GL_UNPACK_ROW_LENGTH, 1, Int, 0),
    row(GL_UNPACK_IMAGE_HEIGHT, 1, Int, 0),
    row(GL_UNPACK_SKIP_PIXELS, 1, Int, 0),
    row(GL_UNPACK_SKIP_ROWS, 1, Int, 0),
    row(GL_UNPACK_SKIP_IMAGES, 1, Int, 0),
    row(GL_UNPACK_ALIGNMENT, 1, Int, 0),
    row(GL_UNPACK_COMPRESSED_BLOCK_WIDTH, 1, Int, 0),
    row(GL_UNPACK_COMPRESSED_BLOCK_HEIGHT, 1, Int, 0),
    row(GL_UNPACK_COMPRESSED_BLOCK_DEPTH, 1, Int, 0),
    row(GL_UNPACK_COMPRESSED_BLOCK_SIZE, 1, Int, 0),
    row(GL_PACK_SWAP_BYTES, 1, Bool, 0),
    row(GL_PACK_LSB_FIRST, 1, Bool, 0),
    row(GL_PACK_ROW_LENGTH, 1, Int, 0),
    row(GL_PACK_IMAGE_HEIGHT, 1, Int, 0),
    row(GL_PACK_SKIP_PIXELS, 1, Int, 0),
    row(GL_PACK_SKIP_ROWS, 1, Int, 0),
    row(GL_PACK_SKIP_IMAGES, 1, Int, 0),
    row(GL_PACK_ALIGNMENT, 1, Int, 0),
    row(GL_PACK_COMPRESSED_BLOCK_WIDTH, 1, Int, 0),
    row(GL_PACK_COMPRESSED_BLOCK_HEIGHT, 1, Int, 0),
    row(GL_PACK_COMPRESSED_BLOCK_DEPTH, 1, Int, 0),
    row(GL_PACK_COMPRESSED_BLOCK_SIZE, 1, Int, 0),
    row(GL_PACK_INVERT_MESA, 1, Bool, 0),
    row(GL_PACK_REVERSE_ROW_ORDER_ANGLE, 1, Bool, 0),
];

/// Names under which gets find another name's values.
pub(crate) const ALIASES: &[(u32, u32)] = &[
    (GL_BLEND_SRC, GL_BLEND_SRC_RGB),
    (GL_BLEND_DST, GL_BLEND_DST_RGB),
    (GL_PRIMITIVE_RESTART_NV, GL_PRIMITIVE_RESTART),
    (GL_PRIMITIVE_RESTART_INDEX_NV, GL_PRIMITIVE_RESTART_INDEX),
];

pub(crate) const LIGHTS: usize = 8;
pub(crate) const CLIP_PLANES: usize = 8;
/// Evaluators of each dimension, from `COLOR_4` to `VERTEX_4`.
pub(crate) const MAPS: usize = 9;
/// Texture units that have fixed functions.
pub(crate) const COORD_UNITS: usize = 8;

/// Where a name of the table has its values.
pub(crate) const fn slot(pname: u32) -> usize {
    let (mut at, mut i) = (0, 0);
    while i < TABLE.len() {
        if TABLE[i].pname == pname {
            return at;
        }
        at += TABLE[i].values as usize * TABLE[i].elements as usize;
        i += 1;
    }
    panic!("no such name in the table")
}

/// [`slot`], looked up by the compiler.
macro_rules! at {
    ($pname:expr) => {
        const { $crate::slots::slot($pname) }
    };
}
pub(crate) use at;

/// Values of the table.
pub(crate) const TABLE_VALUES: usize = {
    let (mut at, mut i) = (0, 0);
    while i < TABLE.len() {
        at += TABLE[i].values as usize * TABLE[i].elements as usize;
        i += 1;
    }
    at
};

/// Behind the table: `LIGHTS` times `light::SIZE`, two materials, the clip planes, the fixed
/// functions of texture units, and finally the state of every texture unit.
pub(crate) const LIGHT_AT: usize = TABLE_VALUES;
pub(crate) const MATERIAL_AT: usize = LIGHT_AT + LIGHTS * crate::lighting::LIGHT_VALUES;
pub(crate) const CLIP_AT: usize = MATERIAL_AT + 2 * crate::lighting::MATERIAL_VALUES;
pub(crate) const COORD_AT: usize = CLIP_AT + CLIP_PLANES * 4;
pub(crate) const UNIT_AT: usize = COORD_AT + COORD_UNITS * crate::units::COORD_VALUES;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_twice() {
        let mut names: Vec<u32> = TABLE.iter().map(|r| r.pname).collect();
        names.extend(ALIASES.iter().map(|a| a.0));
        names.sort();
        for pair in names.windows(2) {
            assert_ne!(pair[0], pair[1], "{:#x}", pair[0]);
        }
    }

    #[test]
    fn slots_are_disjoint_and_complete() {
        let mut at = 0;
        for row in TABLE {
            assert_eq!(slot(row.pname), at);
            at += row.values as usize * row.elements as usize;
        }
        assert_eq!(at, TABLE_VALUES);
    }

    #[test]
    fn no_float_is_unknown() {
        assert!(!is_unknown(f64::NAN) && !is_unknown(f64::from(f32::NAN)));
        assert!(!is_unknown(0.0) && is_unknown(UNKNOWN));
    }
}
