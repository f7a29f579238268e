//! The state of a context that is read parameter by parameter: tables of the parameters, and of the
//! commands that set them.

use super::driver::{call, query, Driver};
use super::programs::parameters;
use super::script::{bytes, list, say, Script};
use super::{refusal, textures, why_not_now, Objects, Own};
use crate::context::Api;
use crate::handwritten::buffer_parts::Part;
use crate::names::Class;
use mgn_wire::{gl::*, Fault};

/// Parameters, and the function that sets them. A single parameter may be a vector; several have
/// one value each. A row is skipped if the driver refuses one of its parameters.
type Row<T> = (&'static [u32], fn(&mut Script<'_>, &[T]));

const FLOATS: &[Row<f32>] = &[
    (&[GL_COLOR_CLEAR_VALUE], |s, v| {
        say!(s, gl_clear_color(v[0], v[1], v[2], v[3]));
    }),
    (&[GL_BLEND_COLOR], |s, v| {
        say!(s, gl_blend_color(v[0], v[1], v[2], v[3]));
    }),
    (&[GL_ACCUM_CLEAR_VALUE], |s, v| {
        say!(s, gl_clear_accum(v[0], v[1], v[2], v[3]));
    }),
    (&[GL_INDEX_CLEAR_VALUE], |s, v| {
        say!(s, gl_clear_index(v[0]))
    }),
    (&[GL_LINE_WIDTH], |s, v| say!(s, gl_line_width(v[0]))),
    (&[GL_POINT_SIZE], |s, v| say!(s, gl_point_size(v[0]))),
    (
        &[GL_POLYGON_OFFSET_FACTOR, GL_POLYGON_OFFSET_UNITS],
        |s, v| {
            say!(s, gl_polygon_offset(v[0], v[1]));
        },
    ),
    (
        &[
            GL_POLYGON_OFFSET_FACTOR,
            GL_POLYGON_OFFSET_UNITS,
            GL_POLYGON_OFFSET_CLAMP,
        ],
        |s, v| {
            if v[2] != 0.0 {
                say!(s, gl_polygon_offset_clamp(v[0], v[1], v[2]));
            }
        },
    ),
    (
        &[GL_SAMPLE_COVERAGE_VALUE, GL_SAMPLE_COVERAGE_INVERT],
        |s, v| {
            say!(s, gl_sample_coverage(v[0], u8::from(v[1] != 0.0)));
        },
    ),
    (&[GL_MIN_SAMPLE_SHADING_VALUE], |s, v| {
        say!(s, gl_min_sample_shading(v[0]));
    }),
    // Mesa reports the mode in contexts of every API, but not all of these have the command.
    (&[GL_ALPHA_TO_COVERAGE_DITHER_MODE_NV], |s, v| {
        let mode = v[0] as u32;
        if mode != GL_ALPHA_TO_COVERAGE_DITHER_DEFAULT_NV {
            say!(s, gl_alpha_to_coverage_dither_control_nv(mode));
        }
    }),
    (&[GL_ALPHA_TEST_FUNC, GL_ALPHA_TEST_REF], |s, v| {
        say!(s, gl_alpha_func(v[0] as u32, v[1]));
    }),
    (&[GL_POINT_SIZE_MIN], |s, v| {
        say!(s, gl_point_parameterf(GL_POINT_SIZE_MIN, v[0]));
    }),
    (&[GL_POINT_SIZE_MAX], |s, v| {
        say!(s, gl_point_parameterf(GL_POINT_SIZE_MAX, v[0]));
    }),
    (&[GL_POINT_FADE_THRESHOLD_SIZE], |s, v| {
        say!(s, gl_point_parameterf(GL_POINT_FADE_THRESHOLD_SIZE, v[0]));
    }),
    (&[GL_POINT_DISTANCE_ATTENUATION], |s, v| {
        let pname = GL_POINT_DISTANCE_ATTENUATION;
        say!(s, gl_point_parameterfv(pname, list(&v[..3])));
    }),
    (&[GL_FOG_MODE], |s, v| say!(s, gl_fogf(GL_FOG_MODE, v[0]))),
    (&[GL_FOG_DENSITY], |s, v| {
        say!(s, gl_fogf(GL_FOG_DENSITY, v[0]));
    }),
    (&[GL_FOG_START], |s, v| say!(s, gl_fogf(GL_FOG_START, v[0]))),
    (&[GL_FOG_END], |s, v| say!(s, gl_fogf(GL_FOG_END, v[0]))),
    (&[GL_FOG_INDEX], |s, v| say!(s, gl_fogf(GL_FOG_INDEX, v[0]))),
    (&[GL_FOG_COORD_SRC], |s, v| {
        say!(s, gl_fogf(GL_FOG_COORD_SRC, v[0]));
    }),
    (&[GL_FOG_DISTANCE_MODE_NV], |s, v| {
        say!(s, gl_fogf(GL_FOG_DISTANCE_MODE_NV, v[0]));
    }),
    (&[GL_FOG_COLOR], |s, v| {
        say!(s, gl_fogfv(GL_FOG_COLOR, list(&v[..4])));
    }),
    (&[GL_LIGHT_MODEL_AMBIENT], |s, v| {
        say!(s, gl_light_modelfv(GL_LIGHT_MODEL_AMBIENT, list(&v[..4])));
    }),
    (&[GL_LIGHT_MODEL_TWO_SIDE], |s, v| {
        say!(s, gl_light_modelf(GL_LIGHT_MODEL_TWO_SIDE, v[0]));
    }),
    (&[GL_ZOOM_X, GL_ZOOM_Y], |s, v| {
        say!(s, gl_pixel_zoom(v[0], v[1]));
    }),
    (&[GL_PATCH_DEFAULT_INNER_LEVEL], |s, v| {
        let pname = GL_PATCH_DEFAULT_INNER_LEVEL;
        say!(s, gl_patch_parameterfv(pname, list(&v[..2])));
    }),
    (&[GL_PATCH_DEFAULT_OUTER_LEVEL], |s, v| {
        let pname = GL_PATCH_DEFAULT_OUTER_LEVEL;
        say!(s, gl_patch_parameterfv(pname, list(&v[..4])));
    }),
    (&[GL_PRIMITIVE_BOUNDING_BOX_ARB], |s, v| {
        let v: [f32; 8] = std::array::from_fn(|i| v[i]);
        let [a, b, c, d, e, f, g, h] = v;
        if v != [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0] {
            say!(s, gl_primitive_bounding_box(a, b, c, d, e, f, g, h));
        }
    }),
];

const INTEGERS: &[Row<i32>] = &[
    (&[GL_SHADE_MODEL], |s, v| {
        say!(s, gl_shade_model(v[0] as u32))
    }),
    (&[GL_CULL_FACE_MODE], |s, v| {
        say!(s, gl_cull_face(v[0] as u32))
    }),
    (&[GL_FRONT_FACE], |s, v| say!(s, gl_front_face(v[0] as u32))),
    (&[GL_DEPTH_FUNC], |s, v| say!(s, gl_depth_func(v[0] as u32))),
    (&[GL_DEPTH_WRITEMASK], |s, v| {
        say!(s, gl_depth_mask(v[0] as u8))
    }),
    (&[GL_COLOR_WRITEMASK], |s, v| {
        let [r, g, b, a] = [v[0], v[1], v[2], v[3]].map(|on| on as u8);
        say!(s, gl_color_mask(r, g, b, a));
    }),
    (&[GL_INDEX_WRITEMASK], |s, v| {
        say!(s, gl_index_mask(v[0] as u32));
    }),
    (&[GL_STENCIL_CLEAR_VALUE], |s, v| {
        say!(s, gl_clear_stencil(v[0]));
    }),
    (
        &[
            GL_BLEND_SRC_RGB,
            GL_BLEND_DST_RGB,
            GL_BLEND_SRC_ALPHA,
            GL_BLEND_DST_ALPHA,
        ],
        |s, v| {
            let [a, b, c, d] = [v[0], v[1], v[2], v[3]].map(|f| f as u32);
            say!(s, gl_blend_func_separate(a, b, c, d));
        },
    ),
    (&[GL_BLEND_EQUATION_RGB, GL_BLEND_EQUATION_ALPHA], |s, v| {
        let (rgb, alpha) = (v[0] as u32, v[1] as u32);
        if rgb == alpha {
            say!(s, gl_blend_equation(rgb));
        } else {
            say!(s, gl_blend_equation_separate(rgb, alpha));
        }
    }),
    (&[GL_LOGIC_OP_MODE], |s, v| {
        say!(s, gl_logic_op(v[0] as u32))
    }),
    (
        &[GL_LINE_STIPPLE_REPEAT, GL_LINE_STIPPLE_PATTERN],
        |s, v| {
            say!(s, gl_line_stipple(v[0], v[1] as u16));
        },
    ),
    (&[GL_POLYGON_MODE], |s, v| {
        let (front, back) = (v[0] as u32, v[1] as u32);
        if front == back {
            say!(s, gl_polygon_mode(GL_FRONT_AND_BACK, front));
        } else {
            say!(s, gl_polygon_mode(GL_FRONT, front));
            say!(s, gl_polygon_mode(GL_BACK, back));
        }
    }),
    (&[GL_PROVOKING_VERTEX], |s, v| {
        say!(s, gl_provoking_vertex(v[0] as u32));
    }),
    (&[GL_PRIMITIVE_RESTART_INDEX], |s, v| {
        say!(s, gl_primitive_restart_index(v[0] as u32));
    }),
    (&[GL_PATCH_VERTICES], |s, v| {
        say!(s, gl_patch_parameteri(GL_PATCH_VERTICES, v[0]));
    }),
    (&[GL_POINT_SPRITE_COORD_ORIGIN], |s, v| {
        say!(s, gl_point_parameteri(GL_POINT_SPRITE_COORD_ORIGIN, v[0]));
    }),
    (&[GL_CLIP_ORIGIN, GL_CLIP_DEPTH_MODE], |s, v| {
        say!(s, gl_clip_control(v[0] as u32, v[1] as u32));
    }),
    (&[GL_CLAMP_VERTEX_COLOR], |s, v| {
        say!(s, gl_clamp_color(GL_CLAMP_VERTEX_COLOR, v[0] as u32));
    }),
    (&[GL_CLAMP_FRAGMENT_COLOR], |s, v| {
        say!(s, gl_clamp_color(GL_CLAMP_FRAGMENT_COLOR, v[0] as u32));
    }),
    (&[GL_CLAMP_READ_COLOR], |s, v| {
        say!(s, gl_clamp_color(GL_CLAMP_READ_COLOR, v[0] as u32));
    }),
    (&[GL_LIGHT_MODEL_LOCAL_VIEWER], |s, v| {
        say!(s, gl_light_modelf(GL_LIGHT_MODEL_LOCAL_VIEWER, v[0] as f32));
    }),
    (&[GL_LIGHT_MODEL_COLOR_CONTROL], |s, v| {
        say!(
            s,
            gl_light_modelf(GL_LIGHT_MODEL_COLOR_CONTROL, v[0] as f32)
        );
    }),
    (&[GL_LIST_BASE], |s, v| say!(s, gl_list_base(v[0] as u32))),
    (
        &[GL_STENCIL_FUNC, GL_STENCIL_REF, GL_STENCIL_VALUE_MASK],
        |s, v| {
            let (func, mask) = (v[0] as u32, v[2] as u32);
            say!(s, gl_stencil_func_separate(GL_FRONT, func, v[1], mask));
        },
    ),
    (
        &[
            GL_STENCIL_BACK_FUNC,
            GL_STENCIL_BACK_REF,
            GL_STENCIL_BACK_VALUE_MASK,
        ],
        |s, v| {
            let (func, mask) = (v[0] as u32, v[2] as u32);
            say!(s, gl_stencil_func_separate(GL_BACK, func, v[1], mask));
        },
    ),
    (
        &[
            GL_STENCIL_FAIL,
            GL_STENCIL_PASS_DEPTH_FAIL,
            GL_STENCIL_PASS_DEPTH_PASS,
        ],
        |s, v| {
            let [a, b, c] = [v[0], v[1], v[2]].map(|op| op as u32);
            say!(s, gl_stencil_op_separate(GL_FRONT, a, b, c));
        },
    ),
    (
        &[
            GL_STENCIL_BACK_FAIL,
            GL_STENCIL_BACK_PASS_DEPTH_FAIL,
            GL_STENCIL_BACK_PASS_DEPTH_PASS,
        ],
        |s, v| {
            let [a, b, c] = [v[0], v[1], v[2]].map(|op| op as u32);
            say!(s, gl_stencil_op_separate(GL_BACK, a, b, c));
        },
    ),
    (&[GL_STENCIL_WRITEMASK], |s, v| {
        say!(s, gl_stencil_mask_separate(GL_FRONT, v[0] as u32));
    }),
    (&[GL_STENCIL_BACK_WRITEMASK], |s, v| {
        say!(s, gl_stencil_mask_separate(GL_BACK, v[0] as u32));
    }),
    (&[GL_ACTIVE_STENCIL_FACE_EXT], |s, v| {
        say!(s, gl_active_stencil_face_ext(v[0] as u32));
    }),
];

/// Parameters of OpenGL ES 1, which does not distinguish faces.
const ES1: &[Row<i32>] = &[
    (
        &[GL_STENCIL_FUNC, GL_STENCIL_REF, GL_STENCIL_VALUE_MASK],
        |s, v| say!(s, gl_stencil_func(v[0] as u32, v[1], v[2] as u32)),
    ),
    (
        &[
            GL_STENCIL_FAIL,
            GL_STENCIL_PASS_DEPTH_FAIL,
            GL_STENCIL_PASS_DEPTH_PASS,
        ],
        |s, v| say!(s, gl_stencil_op(v[0] as u32, v[1] as u32, v[2] as u32)),
    ),
    (&[GL_STENCIL_WRITEMASK], |s, v| {
        say!(s, gl_stencil_mask(v[0] as u32));
    }),
    (&[GL_BLEND_SRC, GL_BLEND_DST], |s, v| {
        say!(s, gl_blend_func(v[0] as u32, v[1] as u32));
    }),
];

const HINTS: [u32; 8] = [
    GL_FOG_HINT,
    GL_LINE_SMOOTH_HINT,
    GL_PERSPECTIVE_CORRECTION_HINT,
    GL_POINT_SMOOTH_HINT,
    GL_POLYGON_SMOOTH_HINT,
    GL_TEXTURE_COMPRESSION_HINT,
    GL_GENERATE_MIPMAP_HINT,
    GL_FRAGMENT_SHADER_DERIVATIVE_HINT,
];

const TRANSFERS: [u32; 12] = [
    GL_MAP_COLOR,
    GL_MAP_STENCIL,
    GL_INDEX_SHIFT,
    GL_INDEX_OFFSET,
    GL_RED_SCALE,
    GL_RED_BIAS,
    GL_GREEN_SCALE,
    GL_GREEN_BIAS,
    GL_BLUE_SCALE,
    GL_BLUE_BIAS,
    GL_ALPHA_SCALE,
    GL_ALPHA_BIAS,
];
const DEPTH_TRANSFERS: [u32; 2] = [GL_DEPTH_SCALE, GL_DEPTH_BIAS];

/// Capabilities of a whole context, without GL_COLOR_MATERIAL, which would change materials
/// immediately.
const CAPS: &[u32] = &[
    GL_ALPHA_TEST,
    GL_AUTO_NORMAL,
    GL_BLEND,
    GL_COLOR_LOGIC_OP,
    GL_INDEX_LOGIC_OP,
    GL_COLOR_SUM,
    GL_CULL_FACE,
    GL_DEPTH_CLAMP,
    GL_DEPTH_TEST,
    GL_DITHER,
    GL_FOG,
    GL_FRAGMENT_PROGRAM_ARB,
    GL_FRAGMENT_SHADER_ATI,
    GL_FRAMEBUFFER_SRGB,
    GL_LIGHTING,
    GL_LIGHT0,
    GL_LIGHT1,
    GL_LIGHT2,
    GL_LIGHT3,
    GL_LIGHT4,
    GL_LIGHT5,
    GL_LIGHT6,
    GL_LIGHT7,
    GL_LINE_SMOOTH,
    GL_LINE_STIPPLE,
    GL_MULTISAMPLE,
    GL_NORMALIZE,
    GL_POINT_SMOOTH,
    GL_POINT_SPRITE,
    GL_POLYGON_OFFSET_FILL,
    GL_POLYGON_OFFSET_LINE,
    GL_POLYGON_OFFSET_POINT,
    GL_POLYGON_SMOOTH,
    GL_POLYGON_STIPPLE,
    GL_PRIMITIVE_RESTART,
    GL_PRIMITIVE_RESTART_FIXED_INDEX,
    GL_PROGRAM_POINT_SIZE,
    GL_RASTERIZER_DISCARD,
    GL_RESCALE_NORMAL,
    GL_SAMPLE_ALPHA_TO_COVERAGE,
    GL_SAMPLE_ALPHA_TO_ONE,
    GL_SAMPLE_COVERAGE,
    GL_SAMPLE_MASK,
    GL_SAMPLE_SHADING,
    GL_SCISSOR_TEST,
    GL_STENCIL_TEST,
    GL_STENCIL_TEST_TWO_SIDE_EXT,
    GL_TEXTURE_CUBE_MAP_SEAMLESS,
    GL_VERTEX_PROGRAM_ARB,
    GL_VERTEX_PROGRAM_TWO_SIDE,
    GL_BLEND_ADVANCED_COHERENT_KHR,
    GL_CLIP_PLANE0,
    GL_CLIP_PLANE1,
    GL_CLIP_PLANE2,
    GL_CLIP_PLANE3,
    GL_CLIP_PLANE4,
    GL_CLIP_PLANE5,
    GL_CLIP_PLANE5 + 1,
    GL_CLIP_PLANE5 + 2,
    GL_MAP1_COLOR_4,
    GL_MAP1_INDEX,
    GL_MAP1_NORMAL,
    GL_MAP1_TEXTURE_COORD_1,
    GL_MAP1_TEXTURE_COORD_2,
    GL_MAP1_TEXTURE_COORD_3,
    GL_MAP1_TEXTURE_COORD_4,
    GL_MAP1_VERTEX_3,
    GL_MAP1_VERTEX_4,
    GL_MAP2_COLOR_4,
    GL_MAP2_INDEX,
    GL_MAP2_NORMAL,
    GL_MAP2_TEXTURE_COORD_1,
    GL_MAP2_TEXTURE_COORD_2,
    GL_MAP2_TEXTURE_COORD_3,
    GL_MAP2_TEXTURE_COORD_4,
    GL_MAP2_VERTEX_3,
    GL_MAP2_VERTEX_4,
];

/// Indexed binding points of buffers: the target, the pnames for the buffer, its start and its
/// size, and the pname for the number of points.
const INDEXED: [[u32; 5]; 3] = [
    [
        GL_UNIFORM_BUFFER,
        GL_UNIFORM_BUFFER_BINDING,
        GL_UNIFORM_BUFFER_START,
        GL_UNIFORM_BUFFER_SIZE,
        GL_MAX_UNIFORM_BUFFER_BINDINGS,
    ],
    [
        GL_SHADER_STORAGE_BUFFER,
        GL_SHADER_STORAGE_BUFFER_BINDING,
        GL_SHADER_STORAGE_BUFFER_START,
        GL_SHADER_STORAGE_BUFFER_SIZE,
        GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS,
    ],
    [
        GL_ATOMIC_COUNTER_BUFFER,
        GL_ATOMIC_COUNTER_BUFFER_BINDING,
        GL_ATOMIC_COUNTER_BUFFER_START,
        GL_ATOMIC_COUNTER_BUFFER_SIZE,
        GL_MAX_ATOMIC_COUNTER_BUFFER_BINDINGS,
    ],
];
pub(super) const FEEDBACK: [u32; 5] = [
    GL_TRANSFORM_FEEDBACK_BUFFER,
    GL_TRANSFORM_FEEDBACK_BUFFER_BINDING,
    GL_TRANSFORM_FEEDBACK_BUFFER_START,
    GL_TRANSFORM_FEEDBACK_BUFFER_SIZE,
    GL_MAX_TRANSFORM_FEEDBACK_BUFFERS,
];

/// Other binding points of buffers, with the pnames that query them. The pixel buffers are handled
/// separately, because they change the meaning of other commands.
const BUFFERS: [(u32, u32); 11] = [
    (GL_COPY_READ_BUFFER, GL_COPY_READ_BUFFER_BINDING),
    (GL_COPY_WRITE_BUFFER, GL_COPY_WRITE_BUFFER_BINDING),
    (GL_DRAW_INDIRECT_BUFFER, GL_DRAW_INDIRECT_BUFFER_BINDING),
    (
        GL_DISPATCH_INDIRECT_BUFFER,
        GL_DISPATCH_INDIRECT_BUFFER_BINDING,
    ),
    (GL_QUERY_BUFFER, GL_QUERY_BUFFER_BINDING),
    (GL_TEXTURE_BUFFER, GL_TEXTURE_BUFFER_BINDING),
    (GL_PARAMETER_BUFFER, GL_PARAMETER_BUFFER_BINDING),
    (GL_UNIFORM_BUFFER, GL_UNIFORM_BUFFER_BINDING),
    (GL_SHADER_STORAGE_BUFFER, GL_SHADER_STORAGE_BUFFER_BINDING),
    (GL_ATOMIC_COUNTER_BUFFER, GL_ATOMIC_COUNTER_BUFFER_BINDING),
    (
        GL_TRANSFORM_FEEDBACK_BUFFER,
        GL_TRANSFORM_FEEDBACK_BUFFER_BINDING,
    ),
];
const PIXEL_BUFFERS: [(u32, u32); 2] = [
    (GL_PIXEL_PACK_BUFFER, GL_PIXEL_PACK_BUFFER_BINDING),
    (GL_PIXEL_UNPACK_BUFFER, GL_PIXEL_UNPACK_BUFFER_BINDING),
];

/// Whether contexts of an API have the command that sets a parameter. Drivers also return
/// parameters that cannot be set.
fn can_set(api: Api, pname: u32) -> bool {
    match pname {
        GL_ACCUM_CLEAR_VALUE
        | GL_INDEX_CLEAR_VALUE
        | GL_INDEX_WRITEMASK
        | GL_LINE_STIPPLE_REPEAT
        | GL_LIST_BASE
        | GL_ZOOM_X
        | GL_FOG_INDEX
        | GL_FOG_COORD_SRC
        | GL_FOG_DISTANCE_MODE_NV
        | GL_LIGHT_MODEL_LOCAL_VIEWER
        | GL_LIGHT_MODEL_COLOR_CONTROL
        | GL_CLAMP_VERTEX_COLOR
        | GL_CLAMP_FRAGMENT_COLOR
        | GL_ACTIVE_STENCIL_FACE_EXT => api == Api::Compat,
        GL_ALPHA_TEST_FUNC
        | GL_SHADE_MODEL
        | GL_POINT_SIZE_MIN
        | GL_POINT_SIZE_MAX
        | GL_POINT_DISTANCE_ATTENUATION
        | GL_FOG_MODE
        | GL_FOG_DENSITY
        | GL_FOG_START
        | GL_FOG_END
        | GL_FOG_COLOR
        | GL_LIGHT_MODEL_AMBIENT
        | GL_LIGHT_MODEL_TWO_SIDE => matches!(api, Api::Compat | Api::Es1),
        GL_POLYGON_MODE
        | GL_PROVOKING_VERTEX
        | GL_PRIMITIVE_RESTART_INDEX
        | GL_POINT_SPRITE_COORD_ORIGIN
        | GL_CLAMP_READ_COLOR
        | GL_PATCH_DEFAULT_INNER_LEVEL
        | GL_PATCH_DEFAULT_OUTER_LEVEL => api.is_desktop(),
        GL_POINT_SIZE | GL_LOGIC_OP_MODE | GL_POINT_FADE_THRESHOLD_SIZE => api != Api::Es,
        GL_BLEND_COLOR
        | GL_BLEND_SRC_RGB
        | GL_BLEND_EQUATION_RGB
        | GL_STENCIL_FUNC
        | GL_STENCIL_FAIL
        | GL_STENCIL_WRITEMASK
        | GL_STENCIL_BACK_FUNC
        | GL_STENCIL_BACK_FAIL
        | GL_STENCIL_BACK_WRITEMASK
        | GL_CLIP_ORIGIN
        | GL_MIN_SAMPLE_SHADING_VALUE
        | GL_PATCH_VERTICES
        | GL_PRIMITIVE_BOUNDING_BOX_ARB => api != Api::Es1,
        _ => true,
    }
}

fn rows<T: Copy>(rows: &[Row<T>], script: &mut Script<'_>, ask: impl Fn(u32) -> Option<[T; 64]>) {
    for (pnames, set) in rows {
        let values: Option<Vec<[T; 64]>> = pnames.iter().map(|pname| ask(*pname)).collect();
        match values.as_deref() {
            Some([one]) => set(script, one),
            Some(several) => set(script, &several.iter().map(|v| v[0]).collect::<Vec<T>>()),
            None => {}
        }
    }
}

/// Fails while some state cannot be read, for example because glPushAttrib has saved it.
pub(super) fn settled(conditional: bool, driver: &Driver<'_>) -> Result<(), Fault> {
    if conditional {
        return Err(why_not_now("rendering is conditional"));
    }
    // Inside a primitive, the driver answers no queries.
    if driver.integer(GL_MAX_TEXTURE_SIZE) == 0 {
        return Err(why_not_now("glBegin has been called"));
    }
    for (pname, why) in [
        (GL_ATTRIB_STACK_DEPTH, "glPushAttrib has been called"),
        (
            GL_TRANSFORM_FEEDBACK_BUFFER_ACTIVE,
            "transform feedback is on",
        ),
        (GL_LIST_INDEX, "a display list is being compiled"),
    ] {
        if driver.integer(pname) > 0 {
            return Err(why_not_now(why));
        }
    }
    if driver
        .integers(GL_RENDER_MODE)
        .is_some_and(|v| v[0] != GL_RENDER as i32)
    {
        return Err(why_not_now("selection or feedback is on"));
    }
    if driver.integer(GL_DEBUG_GROUP_STACK_DEPTH) > 1 {
        return Err(why_not_now("glPushDebugGroup has been called"));
    }
    for target in [
        GL_SAMPLES_PASSED,
        GL_ANY_SAMPLES_PASSED,
        GL_ANY_SAMPLES_PASSED_CONSERVATIVE,
        GL_PRIMITIVES_GENERATED,
        GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN,
        GL_TIME_ELAPSED,
    ] {
        let active = query!(driver, glGetQueryiv(target, GL_CURRENT_QUERY));
        if active.is_some_and(|v: [i32; 64]| v[0] != 0) {
            return Err(why_not_now("a query is under way"));
        }
    }
    Ok(())
}

/// All state except the fixed function's, objects and bindings, which have their own functions.
pub(super) fn write(driver: &Driver<'_>, own: &Own<'_>, script: &mut Script<'_>) {
    let api = own.cx.api;
    let settable = |pname| can_set(api, pname).then_some(pname);
    rows(INTEGERS, script, |pname| driver.integers(settable(pname)?));
    if api == Api::Es1 {
        rows(ES1, script, |pname| driver.integers(pname));
    }
    rows(FLOATS, script, |pname| driver.floats(settable(pname)?));
    let clear = driver.floats(GL_DEPTH_CLEAR_VALUE).map_or(1.0, |v| v[0]);
    let range = driver
        .floats(GL_DEPTH_RANGE)
        .map_or([0.0, 1.0], |v| [v[0], v[1]]);
    if api.is_desktop() {
        let clear: Option<[f64; 64]> = query!(driver, glGetDoublev(GL_DEPTH_CLEAR_VALUE));
        let range: Option<[f64; 64]> = query!(driver, glGetDoublev(GL_DEPTH_RANGE));
        say!(script, gl_clear_depth(clear.map_or(1.0, |v| v[0])));
        if let Some(range) = range {
            say!(script, gl_depth_range(range[0], range[1]));
        }
    } else {
        say!(script, gl_clear_depthf(clear));
        say!(script, gl_depth_rangef(range[0], range[1]));
    }
    for target in HINTS {
        let mode = driver.number(target);
        if !matches!(mode, 0 | GL_DONT_CARE) {
            say!(script, gl_hint(target, mode));
        }
    }
    if api == Api::Compat {
        for pname in TRANSFERS.into_iter().chain(DEPTH_TRANSFERS) {
            if let Some(value) = driver.floats(pname) {
                say!(script, gl_pixel_transferf(pname, value[0]));
            }
        }
    }
    viewports(driver, own, script);
    for &cap in CAPS {
        match driver.is_on(cap) {
            Some(true) => say!(script, gl_enable(cap)),
            Some(false) => say!(script, gl_disable(cap)),
            None => {}
        }
    }
    buffers_of_their_own(driver, script);
    for word in 0..driver.integer(GL_MAX_SAMPLE_MASK_WORDS).clamp(0, 4) as u32 {
        if let Some(mask) = driver.integers_at(GL_SAMPLE_MASK_VALUE, word) {
            say!(script, gl_sample_maski(word, mask[0] as u32));
        }
    }
}

fn viewports(driver: &Driver<'_>, own: &Own<'_>, script: &mut Script<'_>) {
    if let Some([x, y, w, h, ..]) = driver.integers(GL_VIEWPORT) {
        let asked = own.large.asked([x, y, w, h].map(|n| n as f32));
        let [x, y, w, h] = asked.map(|n| n as i32);
        say!(script, gl_viewport(x, y, w, h));
    }
    if let Some([x, y, w, h, ..]) = driver.integers(GL_SCISSOR_BOX) {
        say!(script, gl_scissor(x, y, w, h));
    }
    if !own.cx.has_viewports {
        return;
    }
    let count = driver.integer(GL_MAX_VIEWPORTS).clamp(0, 64) as u32;
    let viewport = |i| query!(driver, glGetFloati_v(GL_VIEWPORT, i));
    let range = |i| query!(driver, glGetDoublei_v(GL_DEPTH_RANGE, i));
    let scissor = |i| driver.integers_at(GL_SCISSOR_BOX, i);
    for i in 0..count {
        let ask_range = own.cx.api.is_desktop();
        let at: Option<[f32; 64]> = viewport(i);
        if let Some([x, y, w, h, ..]) = at {
            let [x, y, w, h] = own.large.asked([x, y, w, h]);
            let whole = [x, y, w, h].iter().all(|v| v.fract() == 0.0);
            if i > 0 && at != viewport(0) || !whole {
                say!(script, gl_viewport_indexedf(i, x, y, w, h));
            }
        }
        let box_ = scissor(i);
        if let Some([x, y, w, h, ..]) = box_.filter(|_| i > 0 && box_ != scissor(0)) {
            say!(script, gl_scissor_indexed(i, x, y, w, h));
        }
        if ask_range && i > 0 {
            let at: Option<[f64; 64]> = range(i);
            if let Some([near, far, ..]) = at.filter(|_| at != range(0)) {
                say!(script, gl_depth_range_indexed(i, near, far));
            }
        }
        match (i, driver.is_on_at(GL_SCISSOR_TEST, i)) {
            (0, _) | (_, None) => {}
            (_, Some(true)) => say!(script, gl_enablei(GL_SCISSOR_TEST, i)),
            (_, Some(false)) => say!(script, gl_disablei(GL_SCISSOR_TEST, i)),
        }
    }
}

/// Blending and colour masks of draw buffers that differ from those of the first.
fn buffers_of_their_own(driver: &Driver<'_>, script: &mut Script<'_>) {
    let functions = [
        GL_BLEND_SRC_RGB,
        GL_BLEND_DST_RGB,
        GL_BLEND_SRC_ALPHA,
        GL_BLEND_DST_ALPHA,
    ];
    let equations = [GL_BLEND_EQUATION_RGB, GL_BLEND_EQUATION_ALPHA];
    let of = |pname, i| driver.integers_at(pname, i).map(|v| v[0] as u32);
    let mask = |i| {
        driver
            .integers_at(GL_COLOR_WRITEMASK, i)
            .map(|v| [v[0], v[1], v[2], v[3]])
    };
    for i in 1..driver.integer(GL_MAX_DRAW_BUFFERS).clamp(0, 32) as u32 {
        let (now, first) = (functions.map(|p| of(p, i)), functions.map(|p| of(p, 0)));
        if let ([Some(a), Some(b), Some(c), Some(d)], true) = (now, now != first) {
            say!(script, gl_blend_func_separatei(i, a, b, c, d));
        }
        let (now, first) = (equations.map(|p| of(p, i)), equations.map(|p| of(p, 0)));
        if let ([Some(rgb), Some(alpha)], true) = (now, now != first) {
            say!(script, gl_blend_equation_separatei(i, rgb, alpha));
        }
        if let Some(now) = mask(i).filter(|now| Some(*now) != mask(0)) {
            let [r, g, b, a] = now.map(|on| on as u8);
            say!(script, gl_color_maski(i, r, g, b, a));
        }
        let on = driver.is_on_at(GL_BLEND, i);
        match on.filter(|_| on != driver.is_on_at(GL_BLEND, 0)) {
            Some(true) => say!(script, gl_enablei(GL_BLEND, i)),
            Some(false) => say!(script, gl_disablei(GL_BLEND, i)),
            None => {}
        }
    }
}

/// The bindings, except vertex arrays and framebuffers.
pub(super) fn bindings(
    driver: &Driver<'_>,
    own: &Own<'_>,
    script: &mut Script<'_>,
) -> Result<(), Fault> {
    let named = |class, object: u32| {
        let name = match object {
            0 => Some(0),
            object => own.names.table(class).client(object),
        };
        name.ok_or_else(|| refusal("something is bound whose name has been deleted"))
    };
    for points in INDEXED {
        indexed(driver, own, script, points)?;
    }
    for (target, pname) in BUFFERS {
        let name = named(Class::Buffer, driver.number(pname))?;
        // Binding to an indexed point has also bound the buffer to the target, so such a target is
        // set even to 0.
        let mut numbered = INDEXED.iter().chain([&FEEDBACK]);
        let is_numbered = numbered.any(|points| points[0] == target);
        if name != 0 || is_numbered && driver.integers(pname).is_some() && own.cx.api != Api::Es1 {
            say!(script, gl_bind_buffer(target, name));
        }
    }
    let name = named(Class::Buffer, driver.number(GL_ARRAY_BUFFER_BINDING))?;
    say!(script, gl_bind_buffer(GL_ARRAY_BUFFER, name));
    if let Some(bound) = driver.integers(GL_RENDERBUFFER_BINDING) {
        let name = named(Class::Renderbuffer, bound[0] as u32)?;
        say!(script, gl_bind_renderbuffer(GL_RENDERBUFFER, name));
    }
    let active = driver.number(GL_ACTIVE_TEXTURE).max(GL_TEXTURE0);
    let units = driver
        .integer(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS)
        .max(driver.integer(GL_MAX_TEXTURE_UNITS))
        .clamp(1, 256) as u32;
    for unit in 0..units {
        call!(driver, glActiveTexture(GL_TEXTURE0 + unit));
        let mut bound = Vec::new();
        for target in textures::targets() {
            let object = driver.number(textures::binding(target));
            if object != 0 {
                bound.push((target, named(Class::Texture, object)?));
            }
        }
        let sampler = named(Class::Sampler, driver.number(GL_SAMPLER_BINDING))?;
        if !bound.is_empty() {
            say!(script, gl_active_texture(GL_TEXTURE0 + unit));
        }
        for (target, name) in bound {
            say!(script, gl_bind_texture(target, name));
        }
        if sampler != 0 {
            say!(script, gl_bind_sampler(unit, sampler));
        }
    }
    call!(driver, glActiveTexture(active));
    say!(script, gl_active_texture(active));
    for unit in 0..driver.integer(GL_MAX_IMAGE_UNITS).clamp(0, 64) as u32 {
        let object = driver.number_at(GL_IMAGE_BINDING_NAME, unit);
        if object != 0 {
            let name = named(Class::Texture, object)?;
            let of = |pname| driver.number_at(pname, unit);
            let (level, layer) = (of(GL_IMAGE_BINDING_LEVEL), of(GL_IMAGE_BINDING_LAYER));
            let layered = of(GL_IMAGE_BINDING_LAYERED) as u8;
            let (access, format) = (of(GL_IMAGE_BINDING_ACCESS), of(GL_IMAGE_BINDING_FORMAT));
            let (level, layer) = (level as i32, layer as i32);
            say!(
                script,
                gl_bind_image_texture(unit, name, level, layered, layer, access, format)
            );
        }
    }
    programs(driver, own, script)?;
    for (target, pname) in PIXEL_BUFFERS {
        let name = named(Class::Buffer, driver.number(pname))?;
        if name != 0 {
            say!(script, gl_bind_buffer(target, name));
        }
    }
    Ok(())
}

/// Indexed binding points.
pub(super) fn indexed(
    driver: &Driver<'_>,
    own: &Own<'_>,
    script: &mut Script<'_>,
    [target, binding, start, size, most]: [u32; 5],
) -> Result<(), Fault> {
    for index in 0..driver.integer(most).clamp(0, 256) as u32 {
        let object = driver.number_at(binding, index);
        let stray = own.cx.parts.at.get(&(target, index));
        if let Some(part) = stray.filter(|part| part.is_stray()) {
            if let Some(name) = own.names.table(Class::Buffer).client(part.buffer) {
                let Part { offset, size, .. } = *part;
                say!(
                    script,
                    gl_bind_buffer_range(target, index, name, offset, size)
                );
            }
            continue;
        }
        if object == 0 {
            continue;
        }
        let name = own.names.table(Class::Buffer).client(object);
        let name = name.ok_or_else(|| refusal("a buffer is bound whose name has been deleted"))?;
        let of =
            |pname| query!(driver, glGetInteger64i_v(pname, index)).map_or(0, |v: [i64; 64]| v[0]);
        match (of(start), of(size)) {
            (0, 0) => say!(script, gl_bind_buffer_base(target, index, name)),
            (from, bytes) => {
                say!(
                    script,
                    gl_bind_buffer_range(target, index, name, from, bytes)
                );
            }
        }
    }
    Ok(())
}

fn programs(driver: &Driver<'_>, own: &Own<'_>, script: &mut Script<'_>) -> Result<(), Fault> {
    let table = own.names.table(Class::Program);
    let current = driver.number(GL_CURRENT_PROGRAM);
    if current != 0 {
        let name = table
            .client(current)
            .ok_or_else(|| refusal("a program is in use whose name has been given to another"))?;
        say!(script, gl_use_program(name));
        subroutines(driver, script, current);
    }
    let pipeline = driver.number(GL_PROGRAM_PIPELINE_BINDING);
    if let Some(name) = own.names.table(Class::Pipeline).client(pipeline) {
        if pipeline != 0 {
            say!(script, gl_bind_program_pipeline(name));
        }
    }
    if own.cx.api != Api::Compat {
        return Ok(());
    }
    for target in [GL_VERTEX_PROGRAM_ARB, GL_FRAGMENT_PROGRAM_ARB] {
        let of = |pname| query!(driver, glGetProgramivARB(target, pname)).map_or(0, |v| v[0]);
        let bound = of(GL_PROGRAM_BINDING_ARB) as u32;
        if let Some(name) = own.names.table(Class::Assembly).client(bound) {
            if bound != 0 {
                say!(script, gl_bind_program_arb(target, name));
            }
        }
        let shared = |index| query!(driver, glGetProgramEnvParameterfvARB(target, index));
        for (index, [x, y, z, w]) in parameters(of(GL_MAX_PROGRAM_ENV_PARAMETERS_ARB), shared) {
            say!(
                script,
                gl_program_env_parameter4f_arb(target, index, x, y, z, w)
            );
        }
    }
    Ok(())
}

fn subroutines(driver: &Driver<'_>, script: &mut Script<'_>, program: u32) {
    for stage in [
        GL_VERTEX_SHADER,
        GL_FRAGMENT_SHADER,
        GL_GEOMETRY_SHADER,
        GL_TESS_CONTROL_SHADER,
        GL_TESS_EVALUATION_SHADER,
        GL_COMPUTE_SHADER,
    ] {
        let pname = GL_ACTIVE_SUBROUTINE_UNIFORM_LOCATIONS;
        let count = query!(driver, glGetProgramStageiv(program, stage, pname));
        let count = count.map_or(0, |v: [i32; 64]| v[0]);
        let of = |at| query!(driver, glGetUniformSubroutineuiv(stage, at)).map(|v: [u32; 64]| v[0]);
        let chosen: Option<Vec<u32>> = (0..count).map(of).collect();
        if let Some(chosen) = chosen.filter(|chosen| !chosen.is_empty()) {
            say!(
                script,
                gl_uniform_subroutinesuiv(stage, count, list(&chosen))
            );
        }
    }
}

/// Stipples and pixel maps, which are read while no pixel buffer is bound.
pub(super) fn patterns(driver: &Driver<'_>, own: &Own<'_>, script: &mut Script<'_>) {
    if own.cx.api != Api::Compat {
        return;
    }
    let mut stipple = [0u8; 128];
    call!(driver, glGetPolygonStipple(stipple.as_mut_ptr()));
    say!(script, gl_polygon_stipple(bytes(&stipple)));
    for map in GL_PIXEL_MAP_I_TO_I..=GL_PIXEL_MAP_A_TO_A {
        let counted = mgn_wire::sizes::gets::pixel_map_counted_by(map);
        let count = counted
            .map_or(0, |pname| driver.integer(pname))
            .clamp(0, 1 << 16);
        let mut values = vec![0f32; count as usize];
        call!(driver, glGetPixelMapfv(map, values.as_mut_ptr()));
        if values.iter().any(|v| *v != 0.0) || count > 1 {
            let values: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            say!(script, gl_pixel_mapfv(map, count, bytes(&values)));
        }
    }
}

/// Pixel store state, as the program has set it.
pub(super) fn pixel_store(own: &Own<'_>, script: &mut Script<'_>) {
    for (pname, value) in own.cx.pixel_store.changed() {
        say!(script, gl_pixel_storei(pname, value));
    }
}

/// Fails if the share group has objects of a class that no query reads back.
pub(super) fn can_be_told(objects: &Objects<'_>) -> Result<(), Fault> {
    match objects.shared.table(Class::FragmentShader).all().is_empty() {
        true => Ok(()),
        false => Err(refusal(
            "shaders of ATI_fragment_shader cannot be read back",
        )),
    }
}
