//! Commands that most contexts have.

use mgn_wire::gl::*;

use crate::gl::{both, names, Pair};

const FUNCS: &[u32] = &[
    GL_NEVER,
    GL_LESS,
    GL_EQUAL,
    GL_LEQUAL,
    GL_GREATER,
    GL_NOTEQUAL,
    GL_GEQUAL,
    GL_ALWAYS,
];
const FACES: &[u32] = &[GL_FRONT, GL_BACK, GL_FRONT_AND_BACK];
const FACTORS: &[u32] = &[
    GL_ZERO,
    GL_ONE,
    GL_SRC_COLOR,
    GL_ONE_MINUS_SRC_COLOR,
    GL_DST_COLOR,
    GL_ONE_MINUS_DST_COLOR,
    GL_SRC_ALPHA,
    GL_ONE_MINUS_SRC_ALPHA,
    GL_DST_ALPHA,
    GL_ONE_MINUS_DST_ALPHA,
    GL_SRC_ALPHA_SATURATE,
    GL_CONSTANT_COLOR,
    GL_ONE_MINUS_CONSTANT_ALPHA,
    GL_SRC1_COLOR,
    GL_ONE_MINUS_SRC1_COLOR,
    GL_SRC1_ALPHA,
    GL_ONE_MINUS_SRC1_ALPHA,
];
const EQUATIONS: &[u32] = &[
    GL_FUNC_ADD,
    GL_FUNC_SUBTRACT,
    GL_FUNC_REVERSE_SUBTRACT,
    GL_MIN,
    GL_MAX,
    GL_MULTIPLY_KHR,
    GL_HSL_HUE_KHR,
];
const STENCIL_OPS: &[u32] = &[
    GL_KEEP,
    GL_ZERO,
    GL_REPLACE,
    GL_INCR,
    GL_DECR,
    GL_INVERT,
    GL_INCR_WRAP,
    GL_DECR_WRAP,
];
const HINTS: &[u32] = &[
    GL_PERSPECTIVE_CORRECTION_HINT,
    GL_POINT_SMOOTH_HINT,
    GL_LINE_SMOOTH_HINT,
    GL_POLYGON_SMOOTH_HINT,
    GL_FOG_HINT,
    GL_TEXTURE_COMPRESSION_HINT,
    GL_GENERATE_MIPMAP_HINT,
    GL_FRAGMENT_SHADER_DERIVATIVE_HINT,
];
const STORE: &[u32] = &[
    GL_UNPACK_SWAP_BYTES,
    GL_UNPACK_LSB_FIRST,
    GL_UNPACK_ROW_LENGTH,
    GL_UNPACK_IMAGE_HEIGHT,
    GL_UNPACK_SKIP_PIXELS,
    GL_UNPACK_SKIP_ROWS,
    GL_UNPACK_SKIP_IMAGES,
    GL_UNPACK_ALIGNMENT,
    GL_PACK_SWAP_BYTES,
    GL_PACK_LSB_FIRST,
    GL_PACK_ROW_LENGTH,
    GL_PACK_IMAGE_HEIGHT,
    GL_PACK_SKIP_PIXELS,
    GL_PACK_SKIP_ROWS,
    GL_PACK_SKIP_IMAGES,
    GL_PACK_ALIGNMENT,
    GL_PACK_INVERT_MESA,
    GL_PACK_REVERSE_ROW_ORDER_ANGLE,
];

pub fn step(pair: &mut Pair) {
    match pair.random.below(10) {
        0 | 1 => capabilities(pair),
        2 => raster(pair),
        3 => viewports(pair),
        4 | 5 => blending(pair),
        6 => stencil(pair),
        7 => clears(pair),
        8 => more(pair),
        _ => pixel_store(pair),
    }
}

fn capabilities(p: &mut Pair) {
    let all: Vec<u32> = names().map(|(n, _)| n).collect();
    let cap = p.random.of(&all);
    // Debug output would print, and client arrays are the client's.
    let client = [
        0x8074, 0x8075, 0x8076, 0x8077, 0x8078, 0x8079, 0x8457, 0x845e, 0x8b9c,
    ];
    if matches!(cap, GL_DEBUG_OUTPUT | GL_DEBUG_OUTPUT_SYNCHRONOUS) || client.contains(&cap) {
        return;
    }
    let index = p.random.below(18);
    match p.random.below(8) {
        0 => both!(p, "glEnablei", gl_enablei, (cap: u32, index: u32)),
        1 => {
            let cap = if index & 1 == 0 {
                GL_BLEND
            } else {
                GL_SCISSOR_TEST
            };
            both!(p, "glEnablei", gl_enablei, (cap: u32, index: u32))
        }
        2 => {
            let cap = if index & 1 == 0 {
                GL_BLEND
            } else {
                GL_SCISSOR_TEST
            };
            both!(p, "glDisablei", gl_disablei, (cap: u32, index: u32))
        }
        3..=5 => both!(p, "glEnable", gl_enable, (cap: u32)),
        _ => both!(p, "glDisable", gl_disable, (cap: u32)),
    }
}

fn raster(p: &mut Pair) {
    let value = p.random.float();
    match p.random.below(16) {
        0 => both!(p, "glLineWidth", gl_line_width, (value: f32)),
        1 => {
            let mode = p.random.of(FACES);
            both!(p, "glCullFace", gl_cull_face, (mode: u32))
        }
        2 => {
            let mode = p.random.of(&[GL_CW, GL_CCW]);
            both!(p, "glFrontFace", gl_front_face, (mode: u32))
        }
        3 => {
            let units = p.random.float();
            both!(p, "glPolygonOffset", gl_polygon_offset, (value: f32, units: f32))
        }
        4 | 5 => {
            let target = p.random.of(HINTS);
            let mode = p.random.of(&[GL_FASTEST, GL_NICEST, GL_DONT_CARE]);
            both!(p, "glHint", gl_hint, (target: u32, mode: u32))
        }
        6 => {
            let invert = p.random.below(3) as u8;
            both!(p, "glSampleCoverage", gl_sample_coverage, (value: f32, invert: u8))
        }
        7 => both!(p, "glPointSize", gl_point_size, (value: f32)),
        8 => {
            let (face, mode) = (
                p.random.of(FACES),
                p.random.of(&[GL_POINT, GL_LINE, GL_FILL]),
            );
            both!(p, "glPolygonMode", gl_polygon_mode, (face: u32, mode: u32))
        }
        9 => {
            let pname = p.random.of(&[
                GL_POINT_SIZE_MIN,
                GL_POINT_SIZE_MAX,
                GL_POINT_FADE_THRESHOLD_SIZE,
            ]);
            both!(p, "glPointParameterf", gl_point_parameterf, (pname: u32, value: f32))
        }
        10 => {
            let pname = GL_POINT_SPRITE_COORD_ORIGIN;
            let value = p.random.of(&[GL_LOWER_LEFT, GL_UPPER_LEFT]) as i32;
            both!(p, "glPointParameteri", gl_point_parameteri, (pname: u32, value: i32))
        }
        11 => both!(p, "glMinSampleShading", gl_min_sample_shading, (value: f32)),
        12 => {
            let (index, mask) = (p.random.below(2), p.random.next());
            both!(p, "glSampleMaski", gl_sample_maski, (index: u32, mask: u32))
        }
        13 => {
            let (units, clamp) = (p.random.float(), p.random.float());
            both!(
                p,
                "glPolygonOffsetClamp",
                gl_polygon_offset_clamp,
                (value: f32, units: f32, clamp: f32)
            )
        }
        14 => {
            let mode = p
                .random
                .of(&[GL_FIRST_VERTEX_CONVENTION, GL_LAST_VERTEX_CONVENTION]);
            both!(p, "glProvokingVertex", gl_provoking_vertex, (mode: u32))
        }
        _ => {
            let origin = p.random.of(&[GL_LOWER_LEFT, GL_UPPER_LEFT]);
            let depth = p.random.of(&[GL_NEGATIVE_ONE_TO_ONE, GL_ZERO_TO_ONE]);
            both!(p, "glClipControl", gl_clip_control, (origin: u32, depth: u32))
        }
    }
}

fn viewports(p: &mut Pair) {
    let [x, y] = [p.random.int(-40000, 40000), p.random.int(-30, 300)];
    let [w, h] = [p.random.int(-3, 300), p.random.int(0, 30000)];
    let (first, count) = (p.random.below(17), p.random.int(-1, 3));
    match p.random.below(8) {
        0 => both!(p, "glViewport", gl_viewport, (x: i32, y: i32, w: i32, h: i32)),
        1 => both!(p, "glScissor", gl_scissor, (x: i32, y: i32, w: i32, h: i32)),
        2 => {
            let (n, f) = (p.random.float(), p.random.float());
            both!(p, "glDepthRangef", gl_depth_rangef, (n: f32, f: f32))
        }
        3 => {
            let v: Vec<f32> = (0..count.max(0) * 4).map(|_| p.random.float()).collect();
            both!(p, "glViewportArrayv", gl_viewport_arrayv, (first: u32, count: i32), [v: f32])
        }
        4 => {
            let v: Vec<i32> = (0..count.max(0) * 4)
                .map(|_| p.random.int(-2, 99))
                .collect();
            both!(p, "glScissorArrayv", gl_scissor_arrayv, (first: u32, count: i32), [v: i32])
        }
        5 => {
            let v: Vec<f64> = (0..count.max(0) * 2)
                .map(|_| p.random.float().into())
                .collect();
            both!(
                p,
                "glDepthRangeArrayv",
                gl_depth_range_arrayv,
                (first: u32, count: i32),
                [v: f64]
            )
        }
        6 => both!(
            p,
            "glScissorIndexed",
            gl_scissor_indexed,
            (first: u32, x: i32, y: i32, w: i32, h: i32)
        ),
        _ => {
            let (n, f) = (
                f64::from(p.random.float()),
                f64::from(p.random.next()) / 4e9,
            );
            both!(p, "glDepthRange", gl_depth_range, (n: f64, f: f64))
        }
    }
}

fn blending(p: &mut Pair) {
    let [a, b, c, d]: [u32; 4] = std::array::from_fn(|_| p.random.of(FACTORS));
    let (rgb, alpha) = (p.random.of(EQUATIONS), p.random.of(EQUATIONS));
    let i = p.random.below(9);
    let [r, g, bl, al]: [u8; 4] = std::array::from_fn(|_| p.random.below(3) as u8);
    match p.random.below(11) {
        0 => both!(p, "glBlendFunc", gl_blend_func, (a: u32, b: u32)),
        1 => both!(
            p,
            "glBlendFuncSeparate",
            gl_blend_func_separate,
            (a: u32, b: u32, c: u32, d: u32)
        ),
        2 => both!(p, "glBlendFunci", gl_blend_funci, (i: u32, a: u32, b: u32)),
        3 => both!(
            p,
            "glBlendFuncSeparatei",
            gl_blend_func_separatei,
            (i: u32, a: u32, b: u32, c: u32, d: u32)
        ),
        4 => both!(p, "glBlendEquation", gl_blend_equation, (rgb: u32)),
        5 => both!(
            p,
            "glBlendEquationSeparate",
            gl_blend_equation_separate,
            (rgb: u32, alpha: u32)
        ),
        6 => both!(p, "glBlendEquationi", gl_blend_equationi, (i: u32, rgb: u32)),
        7 => both!(
            p,
            "glBlendEquationSeparatei",
            gl_blend_equation_separatei,
            (i: u32, rgb: u32, alpha: u32)
        ),
        8 => {
            let [r, g, b, a] = p.random.floats();
            both!(p, "glBlendColor", gl_blend_color, (r: f32, g: f32, b: f32, a: f32))
        }
        9 => both!(p, "glColorMask", gl_color_mask, (r: u8, g: u8, bl: u8, al: u8)),
        _ => both!(p, "glColorMaski", gl_color_maski, (i: u32, r: u8, g: u8, bl: u8, al: u8)),
    }
}

fn stencil(p: &mut Pair) {
    let (face, func) = (p.random.of(FACES), p.random.of(FUNCS));
    let (value, mask) = (p.random.int(-2, 300), p.random.next());
    let [a, b, c]: [u32; 3] = std::array::from_fn(|_| p.random.of(STENCIL_OPS));
    match p.random.below(7) {
        0 => both!(p, "glStencilFunc", gl_stencil_func, (func: u32, value: i32, mask: u32)),
        1 => both!(
            p,
            "glStencilFuncSeparate",
            gl_stencil_func_separate,
            (face: u32, func: u32, value: i32, mask: u32)
        ),
        2 => both!(p, "glStencilOp", gl_stencil_op, (a: u32, b: u32, c: u32)),
        3 => both!(
            p,
            "glStencilOpSeparate",
            gl_stencil_op_separate,
            (face: u32, a: u32, b: u32, c: u32)
        ),
        4 => both!(p, "glStencilMask", gl_stencil_mask, (mask: u32)),
        5 => both!(p, "glStencilMaskSeparate", gl_stencil_mask_separate, (face: u32, mask: u32)),
        _ => {
            let face = p.random.of(&[GL_FRONT, GL_BACK]);
            both!(p, "glActiveStencilFaceEXT", gl_active_stencil_face_ext, (face: u32))
        }
    }
}

fn clears(p: &mut Pair) {
    let [r, g, b, a] = p.random.floats();
    match p.random.below(6) {
        0 => both!(p, "glClearColor", gl_clear_color, (r: f32, g: f32, b: f32, a: f32)),
        1 => both!(p, "glClearDepthf", gl_clear_depthf, (r: f32)),
        2 => {
            let depth = f64::from(p.random.next()) / 4e9;
            both!(p, "glClearDepth", gl_clear_depth, (depth: f64))
        }
        3 => {
            let value = p.random.int(-2, 300);
            both!(p, "glClearStencil", gl_clear_stencil, (value: i32))
        }
        4 => {
            let func = p.random.of(FUNCS);
            both!(p, "glDepthFunc", gl_depth_func, (func: u32))
        }
        _ => {
            let flag = p.random.below(3) as u8;
            both!(p, "glDepthMask", gl_depth_mask, (flag: u8))
        }
    }
}

fn more(p: &mut Pair) {
    match p.random.below(6) {
        0 => {
            let op = p.random.of(&[GL_COPY, GL_CLEAR, GL_XOR, GL_SET, GL_NAND]);
            both!(p, "glLogicOp", gl_logic_op, (op: u32))
        }
        1 => {
            let target = p.random.of(&[
                GL_CLAMP_VERTEX_COLOR,
                GL_CLAMP_FRAGMENT_COLOR,
                GL_CLAMP_READ_COLOR,
            ]);
            let clamp = p.random.of(&[GL_TRUE, GL_FALSE, GL_FIXED_ONLY]);
            both!(p, "glClampColor", gl_clamp_color, (target: u32, clamp: u32))
        }
        2 => {
            let index = p.random.next();
            both!(p, "glPrimitiveRestartIndex", gl_primitive_restart_index, (index: u32))
        }
        3 => {
            let (pname, value) = (p.random.of(&[GL_PATCH_VERTICES]), p.random.int(-1, 33));
            both!(p, "glPatchParameteri", gl_patch_parameteri, (pname: u32, value: i32))
        }
        4 => {
            let pname = p
                .random
                .of(&[GL_PATCH_DEFAULT_OUTER_LEVEL, GL_PATCH_DEFAULT_INNER_LEVEL]);
            let v: [f32; 4] = p.random.floats();
            both!(p, "glPatchParameterfv", gl_patch_parameterfv, (pname: u32), [v: f32])
        }
        _ => {
            let [a, b, c, d, e, f, g, h] = p.random.floats();
            both!(
                p,
                "glPrimitiveBoundingBox",
                gl_primitive_bounding_box,
                (a: f32, b: f32, c: f32, d: f32, e: f32, f: f32, g: f32, h: f32)
            )
        }
    }
}

fn pixel_store(p: &mut Pair) {
    let (pname, value) = (p.random.of(STORE), p.random.int(-1, 9));
    match p.random.below(3) {
        0 => {
            let value = value as f32 / 2.;
            both!(p, "glPixelStoref", gl_pixel_storef, (pname: u32, value: f32))
        }
        _ => both!(p, "glPixelStorei", gl_pixel_storei, (pname: u32, value: i32)),
    }
}
