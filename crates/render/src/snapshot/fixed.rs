//! Fixed-function state: matrices, lights, materials, texture units, evaluators, current
//! attributes.

use super::driver::{call, query, Driver};
use super::script::{list, say, Script};
use super::Own;
use crate::context::Api;
use mgn_wire::encoder::Data;
use mgn_wire::gl::*;

const IDENTITY: [f32; 16] = [
    1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0,
];

const LIGHT: [(u32, usize); 10] = [
    (GL_AMBIENT, 4),
    (GL_DIFFUSE, 4),
    (GL_SPECULAR, 4),
    (GL_POSITION, 4),
    (GL_SPOT_DIRECTION, 3),
    (GL_SPOT_EXPONENT, 1),
    (GL_SPOT_CUTOFF, 1),
    (GL_CONSTANT_ATTENUATION, 1),
    (GL_LINEAR_ATTENUATION, 1),
    (GL_QUADRATIC_ATTENUATION, 1),
];

const MATERIAL: [(u32, usize); 6] = [
    (GL_AMBIENT, 4),
    (GL_DIFFUSE, 4),
    (GL_SPECULAR, 4),
    (GL_EMISSION, 4),
    (GL_SHININESS, 1),
    (GL_COLOR_INDEXES, 3),
];

const ENVIRONMENT: [u32; 18] = [
    GL_TEXTURE_ENV_MODE,
    GL_COMBINE_RGB,
    GL_COMBINE_ALPHA,
    GL_SRC0_RGB,
    GL_SRC1_RGB,
    GL_SRC2_RGB,
    GL_SRC0_ALPHA,
    GL_SRC1_ALPHA,
    GL_SRC2_ALPHA,
    GL_OPERAND0_RGB,
    GL_OPERAND1_RGB,
    GL_OPERAND2_RGB,
    GL_OPERAND0_ALPHA,
    GL_OPERAND1_ALPHA,
    GL_OPERAND2_ALPHA,
    GL_RGB_SCALE,
    GL_ALPHA_SCALE,
    // Of NV_texture_env_combine4.
    GL_SOURCE3_RGB_NV,
];

const UNIT_CAPS: [u32; 9] = [
    GL_TEXTURE_1D,
    GL_TEXTURE_2D,
    GL_TEXTURE_3D,
    GL_TEXTURE_CUBE_MAP,
    GL_TEXTURE_RECTANGLE,
    GL_TEXTURE_GEN_S,
    GL_TEXTURE_GEN_T,
    GL_TEXTURE_GEN_R,
    GL_TEXTURE_GEN_Q,
];

/// One-dimensional evaluators and their numbers of components. The two-dimensional ones have the
/// same order.
const MAPS: [(u32, usize); 9] = [
    (GL_MAP1_COLOR_4, 4),
    (GL_MAP1_INDEX, 1),
    (GL_MAP1_NORMAL, 3),
    (GL_MAP1_TEXTURE_COORD_1, 1),
    (GL_MAP1_TEXTURE_COORD_2, 2),
    (GL_MAP1_TEXTURE_COORD_3, 3),
    (GL_MAP1_TEXTURE_COORD_4, 4),
    (GL_MAP1_VERTEX_3, 3),
    (GL_MAP1_VERTEX_4, 4),
];
const TWO_DIMENSIONS: u32 = GL_MAP2_COLOR_4 - GL_MAP1_COLOR_4;

pub(super) fn write(driver: &Driver<'_>, own: &Own<'_>, script: &mut Script<'_>) {
    let compat = own.cx.api == Api::Compat;
    if !compat && own.cx.api != Api::Es1 {
        if own.cx.api == Api::Core || own.cx.api == Api::Es {
            generic_attributes(driver, script, 0);
        }
        return;
    }
    // Light positions and clip planes are queried in eye coordinates. They are sent now because the
    // matrices of a new context leave them unchanged.
    lights(driver, script);
    planes(driver, script, compat);
    units(driver, script, compat);
    if compat {
        evaluators(driver, script);
        raster(driver, script);
        generic_attributes(driver, script, 1);
    }
    current(driver, script, compat);
    materials(driver, script, compat);
    matrices(driver, script, compat);
}

fn lights(driver: &Driver<'_>, script: &mut Script<'_>) {
    for light in GL_LIGHT0..GL_LIGHT0 + 8 {
        for (pname, n) in LIGHT {
            let values: Option<[f32; 64]> = query!(driver, glGetLightfv(light, pname));
            if let Some(values) = values {
                say!(script, gl_lightfv(light, pname, list(&values[..n])));
            }
        }
    }
}

fn planes(driver: &Driver<'_>, script: &mut Script<'_>, compat: bool) {
    for plane in
        GL_CLIP_PLANE0..GL_CLIP_PLANE0 + driver.integer(GL_MAX_CLIP_PLANES).clamp(0, 8) as u32
    {
        if compat {
            let equation: Option<[f64; 64]> = query!(driver, glGetClipPlane(plane));
            if let Some(equation) = equation {
                say!(script, gl_clip_plane(plane, list(&equation[..4])));
            }
        } else {
            let equation: Option<[f32; 64]> = query!(driver, glGetClipPlanef(plane));
            if let Some(equation) = equation {
                say!(script, gl_clip_planef(plane, list(&equation[..4])));
            }
        }
    }
}

/// Texture environments, generated coordinates, and capabilities of each unit. Afterwards the first
/// unit is active again, as evaluators require.
fn units(driver: &Driver<'_>, script: &mut Script<'_>, compat: bool) {
    let active = driver.number(GL_ACTIVE_TEXTURE).max(GL_TEXTURE0);
    for unit in GL_TEXTURE0..GL_TEXTURE0 + driver.integer(GL_MAX_TEXTURE_UNITS).clamp(0, 8) as u32 {
        call!(driver, glActiveTexture(unit));
        say!(script, gl_active_texture(unit));
        let environment = GL_TEXTURE_ENV;
        for pname in ENVIRONMENT {
            let value: Option<[f32; 64]> = query!(driver, glGetTexEnvfv(environment, pname));
            if let Some(value) = value {
                say!(script, gl_tex_envf(environment, pname, value[0]));
            }
        }
        let color: Option<[f32; 64]> =
            query!(driver, glGetTexEnvfv(environment, GL_TEXTURE_ENV_COLOR));
        if let Some(color) = color {
            let pname = GL_TEXTURE_ENV_COLOR;
            say!(script, gl_tex_envfv(environment, pname, list(&color[..4])));
        }
        for (target, pname) in [
            (GL_TEXTURE_FILTER_CONTROL, GL_TEXTURE_LOD_BIAS),
            (GL_POINT_SPRITE, GL_COORD_REPLACE),
        ] {
            let value: Option<[f32; 64]> = query!(driver, glGetTexEnvfv(target, pname));
            if let Some(value) = value {
                say!(script, gl_tex_envf(target, pname, value[0]));
            }
        }
        for coordinate in (GL_S..=GL_Q).filter(|_| compat) {
            let mode: Option<[i32; 64]> =
                query!(driver, glGetTexGeniv(coordinate, GL_TEXTURE_GEN_MODE));
            if let Some(mode) = mode {
                say!(
                    script,
                    gl_tex_geni(coordinate, GL_TEXTURE_GEN_MODE, mode[0])
                );
            }
            for plane in [GL_OBJECT_PLANE, GL_EYE_PLANE] {
                let value: Option<[f32; 64]> = query!(driver, glGetTexGenfv(coordinate, plane));
                if let Some(value) = value {
                    say!(script, gl_tex_genfv(coordinate, plane, list(&value[..4])));
                }
            }
        }
        for cap in UNIT_CAPS {
            match driver.is_on(cap) {
                Some(true) => say!(script, gl_enable(cap)),
                Some(false) => say!(script, gl_disable(cap)),
                None => {}
            }
        }
    }
    call!(driver, glActiveTexture(active));
    say!(script, gl_active_texture(GL_TEXTURE0));
}

fn evaluators(driver: &Driver<'_>, script: &mut Script<'_>) {
    for (target, components) in MAPS {
        let map = |target| {
            let order: [i32; 64] = query!(driver, glGetMapiv(target, GL_ORDER))?;
            let domain: [f32; 64] = query!(driver, glGetMapfv(target, GL_DOMAIN))?;
            // Room for orders up to 64 in both dimensions, and for 4 components.
            let mut points = vec![0f32; 64 * 64 * 4];
            call!(driver, glGetMapfv(target, GL_COEFF, points.as_mut_ptr()));
            Some((order, domain, points))
        };
        let width = components as i32;
        if let Some((order, domain, points)) = map(target) {
            let n = order[0].clamp(1, 64);
            let points = list(&points[..n as usize * components]);
            let (u1, u2) = (domain[0], domain[1]);
            say!(script, gl_map1f(target, u1, u2, width, n, points));
        }
        let target = target + TWO_DIMENSIONS;
        if let Some((order, domain, points)) = map(target) {
            let (n, m) = (order[0].clamp(1, 64), order[1].clamp(1, 64));
            let points = list(&points[..(n * m) as usize * components]);
            let [u1, u2, v1, v2] = [domain[0], domain[1], domain[2], domain[3]];
            let row = width * m;
            say!(
                script,
                gl_map2f(target, u1, u2, row, n, v1, v2, width, m, points)
            );
        }
    }
    if let Some(domain) = driver.floats(GL_MAP1_GRID_DOMAIN) {
        let n = driver.integer(GL_MAP1_GRID_SEGMENTS);
        say!(script, gl_map_grid1f(n, domain[0], domain[1]));
    }
    let segments = driver.integers(GL_MAP2_GRID_SEGMENTS);
    if let (Some(n), Some(d)) = (segments, driver.floats(GL_MAP2_GRID_DOMAIN)) {
        say!(script, gl_map_grid2f(n[0], d[0], d[1], n[1], d[2], d[3]));
    }
}

/// The raster position, set in window coordinates, with the attributes that it had taken over.
fn raster(driver: &Driver<'_>, script: &mut Script<'_>) {
    let of = |pname| driver.floats(pname).unwrap_or([0.0; 64]);
    let color = of(GL_CURRENT_RASTER_COLOR);
    let second = of(GL_CURRENT_RASTER_SECONDARY_COLOR);
    let coordinates = of(GL_CURRENT_RASTER_TEXTURE_COORDS);
    say!(script, gl_color4f(color[0], color[1], color[2], color[3]));
    say!(
        script,
        gl_secondary_color3f(second[0], second[1], second[2])
    );
    say!(script, gl_tex_coord4fv(list(&coordinates[..4])));
    // The raster distance can only be set through the fog coordinate. The program's own source is
    // sent with the rest of the state.
    say!(script, gl_fogf(GL_FOG_COORD_SRC, GL_FOG_COORD as f32));
    say!(script, gl_fog_coordf(of(GL_CURRENT_RASTER_DISTANCE)[0]));
    let [x, y, z, ..] = of(GL_CURRENT_RASTER_POSITION);
    let range = driver.floats(GL_DEPTH_RANGE).unwrap_or([0.0; 64]);
    let (near, far) = (range[0], range[1]);
    let z = if far == near {
        0.0
    } else {
        (z - near) / (far - near)
    };
    say!(script, gl_window_pos3f(x, y, z));
    if of(GL_CURRENT_RASTER_POSITION_VALID)[0] == 0.0 {
        // A position outside of the clip volume makes the raster position invalid and changes
        // nothing else.
        say!(script, gl_raster_pos4f(2.0, 2.0, 2.0, 1.0));
    }
}

/// Generic attributes from `first` on. With the fixed function, attribute 0 is the position. The
/// bits of a value are kept, whatever its type was.
fn generic_attributes(driver: &Driver<'_>, script: &mut Script<'_>, first: u32) {
    for index in first..driver.integer(GL_MAX_VERTEX_ATTRIBS).clamp(0, 32) as u32 {
        let value: Option<[f32; 64]> =
            query!(driver, glGetVertexAttribfv(index, GL_CURRENT_VERTEX_ATTRIB));
        if let Some([x, y, z, w, ..]) = value.filter(|v| v[..4] != [0.0, 0.0, 0.0, 1.0]) {
            say!(script, gl_vertex_attrib4f(index, x, y, z, w));
        }
    }
}

fn current(driver: &Driver<'_>, script: &mut Script<'_>, compat: bool) {
    let of = |pname| driver.floats(pname).unwrap_or([0.0; 64]);
    let [r, g, b, a, ..] = of(GL_CURRENT_COLOR);
    say!(script, gl_color4f(r, g, b, a));
    let [x, y, z, ..] = of(GL_CURRENT_NORMAL);
    say!(script, gl_normal3f(x, y, z));
    let active = driver.number(GL_ACTIVE_TEXTURE).max(GL_TEXTURE0);
    for unit in GL_TEXTURE0..GL_TEXTURE0 + driver.integer(GL_MAX_TEXTURE_UNITS).clamp(0, 8) as u32 {
        call!(driver, glActiveTexture(unit));
        let [s, t, r, q, ..] = of(GL_CURRENT_TEXTURE_COORDS);
        say!(script, gl_multi_tex_coord4f(unit, s, t, r, q));
    }
    call!(driver, glActiveTexture(active));
    if compat {
        let [r, g, b, ..] = of(GL_CURRENT_SECONDARY_COLOR);
        say!(script, gl_secondary_color3f(r, g, b));
        say!(script, gl_fog_coordf(of(GL_CURRENT_FOG_COORD)[0]));
        say!(script, gl_indexf(of(GL_CURRENT_INDEX)[0]));
        say!(script, gl_edge_flag(driver.integer(GL_EDGE_FLAG) as u8));
    }
}

fn materials(driver: &Driver<'_>, script: &mut Script<'_>, compat: bool) {
    let faces: &[u32] = if compat {
        &[GL_FRONT, GL_BACK]
    } else {
        &[GL_FRONT]
    };
    for &face in faces {
        for (pname, n) in MATERIAL {
            let values: Option<[f32; 64]> = query!(driver, glGetMaterialfv(face, pname));
            if let Some(values) = values {
                let set = if compat { face } else { GL_FRONT_AND_BACK };
                say!(script, gl_materialfv(set, pname, list(&values[..n])));
            }
        }
    }
    if compat {
        let face = driver.number(GL_COLOR_MATERIAL_FACE);
        let which = driver.number(GL_COLOR_MATERIAL_PARAMETER);
        say!(script, gl_color_material(face, which));
    }
    if driver.is_on(GL_COLOR_MATERIAL) == Some(true) {
        say!(script, gl_enable(GL_COLOR_MATERIAL));
    }
}

fn matrices(driver: &Driver<'_>, script: &mut Script<'_>, compat: bool) {
    let mode = driver.number(GL_MATRIX_MODE);
    for names in [
        [GL_MODELVIEW, GL_MODELVIEW_STACK_DEPTH, GL_MODELVIEW_MATRIX],
        [
            GL_PROJECTION,
            GL_PROJECTION_STACK_DEPTH,
            GL_PROJECTION_MATRIX,
        ],
    ] {
        stack(driver, script, compat, names);
    }
    let active = driver.number(GL_ACTIVE_TEXTURE).max(GL_TEXTURE0);
    for unit in GL_TEXTURE0..GL_TEXTURE0 + driver.integer(GL_MAX_TEXTURE_UNITS).clamp(0, 8) as u32 {
        call!(driver, glActiveTexture(unit));
        say!(script, gl_active_texture(unit));
        let names = [GL_TEXTURE, GL_TEXTURE_STACK_DEPTH, GL_TEXTURE_MATRIX];
        stack(driver, script, compat, names);
    }
    call!(driver, glActiveTexture(active));
    say!(script, gl_active_texture(GL_TEXTURE0));
    if compat {
        let count = driver.integer(GL_MAX_PROGRAM_MATRICES_ARB).clamp(0, 32) as u32;
        for matrix in GL_MATRIX0_ARB..GL_MATRIX0_ARB + count {
            let (depth, top) = (GL_CURRENT_MATRIX_STACK_DEPTH_ARB, GL_CURRENT_MATRIX_ARB);
            stack(driver, script, compat, [matrix, depth, top]);
        }
    }
    call!(driver, glMatrixMode(mode));
    say!(script, gl_matrix_mode(mode));
}

/// The matrices of a stack, from the lowest to the top. The lower ones can only be read by popping
/// those above them, which are then pushed again.
///
/// Mesa inverts a matrix by the fastest method for its kind, and the methods round differently.
/// Mesa finds out the kind of a loaded matrix only when something is drawn, even an empty bitmap.
/// Before that, it treats the matrix, and products with it, as general matrices.
fn stack(driver: &Driver<'_>, script: &mut Script<'_>, compat: bool, [mode, depth, top]: [u32; 3]) {
    if !driver.accepts(|| call!(driver, glMatrixMode(mode))) {
        return;
    }
    let matrix = || -> [f32; 16] {
        let values = driver.floats(top).unwrap_or([0.0; 64]);
        std::array::from_fn(|i| values[i])
    };
    let mut all = vec![matrix()];
    for _ in 1..driver.integer(depth).clamp(1, 256) {
        call!(driver, glPopMatrix());
        all.push(matrix());
    }
    all.reverse();
    if all != [IDENTITY] {
        say!(script, gl_matrix_mode(mode));
    }
    for (level, matrix) in all.iter().enumerate() {
        if level > 0 {
            call!(driver, glPushMatrix());
            call!(driver, glLoadMatrixf(matrix.as_ptr()));
            if compat {
                driver.accepts(|| {
                    call!(driver, glBitmap(0, 0, 0.0, 0.0, 0.0, 0.0, std::ptr::null()))
                });
            }
            say!(script, gl_push_matrix());
        }
        if all != [IDENTITY] {
            say!(script, gl_load_matrixf(list(matrix)));
            if compat {
                say!(script, gl_bitmap(0, 0, 0.0, 0.0, 0.0, 0.0, Data::Null));
            }
        }
    }
}
