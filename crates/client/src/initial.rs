//! The state of a new context by the specification, for contexts whose driver cannot be queried.

use mgn_wire::gl::*;
use mgn_wire::hello::ContextInfo;
use mgn_wire::sizes::fresh;

/// Adds the values that gets of a new context return.
pub fn add_state(info: &mut ContextInfo) {
    for &(pname, count) in fresh::INTEGERS {
        let value = INTEGERS
            .iter()
            .find(|(p, _)| *p == pname)
            .map_or(0, |(_, v)| *v);
        info.integers.push((pname, vec![value; count]));
    }
    for &(pname, count) in fresh::FLOATS {
        info.floats.push((pname, floats(pname, count)));
    }
}

fn floats(pname: u32, count: usize) -> Vec<f32> {
    if count == 16 {
        // All matrices are identity matrices.
        return (0..16)
            .map(|i| if i % 5 == 0 { 1.0 } else { 0.0 })
            .collect();
    }
    let first = FLOATS
        .iter()
        .find(|(p, _)| *p == pname)
        .map_or(&[][..], |(_, v)| *v);
    let rest = first.last().copied().unwrap_or(0.0);
    first
        .iter()
        .copied()
        .chain(std::iter::repeat(rest))
        .take(count)
        .collect()
}

/// Integers that are not 0, and booleans that are not false.
const INTEGERS: &[(u32, i64)] = &[
    (GL_POINT_SPRITE_COORD_ORIGIN, GL_UPPER_LEFT as i64),
    (GL_LINE_STIPPLE_PATTERN, 0xffff),
    (GL_LINE_STIPPLE_REPEAT, 1),
    (GL_POLYGON_MODE, GL_FILL as i64),
    (GL_CULL_FACE_MODE, GL_BACK as i64),
    (GL_FRONT_FACE, GL_CCW as i64),
    (GL_SHADE_MODEL, GL_SMOOTH as i64),
    (GL_PROVOKING_VERTEX, GL_LAST_VERTEX_CONVENTION as i64),
    (GL_LIGHT_MODEL_COLOR_CONTROL, GL_SINGLE_COLOR as i64),
    (GL_COLOR_MATERIAL_FACE, GL_FRONT_AND_BACK as i64),
    (GL_COLOR_MATERIAL_PARAMETER, GL_AMBIENT_AND_DIFFUSE as i64),
    (GL_CLAMP_VERTEX_COLOR, 1),
    (GL_FOG_MODE, GL_EXP as i64),
    (GL_FOG_COORD_SRC, GL_FRAGMENT_DEPTH as i64),
    (GL_FOG_DISTANCE_MODE_NV, GL_EYE_PLANE_ABSOLUTE_NV as i64),
    (GL_DEPTH_FUNC, GL_LESS as i64),
    (GL_DEPTH_WRITEMASK, 1),
    (GL_STENCIL_FUNC, GL_ALWAYS as i64),
    (GL_STENCIL_VALUE_MASK, -1),
    (GL_STENCIL_FAIL, GL_KEEP as i64),
    (GL_STENCIL_PASS_DEPTH_FAIL, GL_KEEP as i64),
    (GL_STENCIL_PASS_DEPTH_PASS, GL_KEEP as i64),
    (GL_STENCIL_WRITEMASK, -1),
    (GL_STENCIL_BACK_FUNC, GL_ALWAYS as i64),
    (GL_STENCIL_BACK_VALUE_MASK, -1),
    (GL_STENCIL_BACK_FAIL, GL_KEEP as i64),
    (GL_STENCIL_BACK_PASS_DEPTH_FAIL, GL_KEEP as i64),
    (GL_STENCIL_BACK_PASS_DEPTH_PASS, GL_KEEP as i64),
    (GL_STENCIL_BACK_WRITEMASK, -1),
    (GL_ACTIVE_STENCIL_FACE_EXT, GL_FRONT as i64),
    (GL_MATRIX_MODE, GL_MODELVIEW as i64),
    (GL_CLIP_ORIGIN, GL_LOWER_LEFT as i64),
    (GL_CLIP_DEPTH_MODE, GL_NEGATIVE_ONE_TO_ONE as i64),
    (GL_ALPHA_TEST_FUNC, GL_ALWAYS as i64),
    (GL_BLEND_SRC_RGB, GL_ONE as i64),
    (GL_BLEND_SRC_ALPHA, GL_ONE as i64),
    (GL_BLEND_SRC, GL_ONE as i64),
    (GL_BLEND_EQUATION_RGB, GL_FUNC_ADD as i64),
    (GL_BLEND_EQUATION_ALPHA, GL_FUNC_ADD as i64),
    (GL_LOGIC_OP_MODE, GL_COPY as i64),
    (GL_INDEX_WRITEMASK, -1),
    (GL_COLOR_WRITEMASK, 1),
    (GL_CLAMP_FRAGMENT_COLOR, GL_FIXED_ONLY as i64),
    (GL_CLAMP_READ_COLOR, GL_FIXED_ONLY as i64),
    (GL_DITHER, 1),
    (GL_PERSPECTIVE_CORRECTION_HINT, GL_DONT_CARE as i64),
    (GL_POINT_SMOOTH_HINT, GL_DONT_CARE as i64),
    (GL_LINE_SMOOTH_HINT, GL_DONT_CARE as i64),
    (GL_POLYGON_SMOOTH_HINT, GL_DONT_CARE as i64),
    (GL_FOG_HINT, GL_DONT_CARE as i64),
    (GL_TEXTURE_COMPRESSION_HINT, GL_DONT_CARE as i64),
    (GL_GENERATE_MIPMAP_HINT, GL_DONT_CARE as i64),
    (GL_FRAGMENT_SHADER_DERIVATIVE_HINT, GL_DONT_CARE as i64),
    (GL_MAP1_GRID_SEGMENTS, 1),
    (GL_MAP2_GRID_SEGMENTS, 1),
    (GL_MULTISAMPLE, 1),
    (GL_SAMPLE_MASK_VALUE, -1),
    (GL_ACTIVE_TEXTURE, GL_TEXTURE0 as i64),
    (GL_CLIENT_ACTIVE_TEXTURE, GL_TEXTURE0 as i64),
    (GL_PATCH_VERTICES, 3),
    (GL_RENDER_MODE, GL_RENDER as i64),
    (GL_UNPACK_ALIGNMENT, 4),
    (GL_PACK_ALIGNMENT, 4),
    (GL_BLEND_ADVANCED_COHERENT_KHR, 1),
    (GL_MODELVIEW_STACK_DEPTH, 1),
    (GL_PROJECTION_STACK_DEPTH, 1),
    (GL_TEXTURE_STACK_DEPTH, 1),
    (GL_CURRENT_MATRIX_STACK_DEPTH_ARB, 1),
    (GL_EDGE_FLAG, 1),
    (GL_DRAW_BUFFER, GL_BACK as i64),
    (GL_READ_BUFFER, GL_BACK as i64),
    (GL_DRAW_BUFFER0, GL_BACK as i64),
];

/// Floats that are not 0. The last value is repeated.
const FLOATS: &[(u32, &[f32])] = &[
    (GL_POINT_SIZE, &[1.0]),
    (GL_POINT_SIZE_MAX, &[255.0]),
    (GL_POINT_FADE_THRESHOLD_SIZE, &[1.0]),
    (GL_POINT_DISTANCE_ATTENUATION, &[1.0, 0.0]),
    (GL_LINE_WIDTH, &[1.0]),
    (GL_RED_SCALE, &[1.0]),
    (GL_GREEN_SCALE, &[1.0]),
    (GL_BLUE_SCALE, &[1.0]),
    (GL_ALPHA_SCALE, &[1.0]),
    (GL_DEPTH_SCALE, &[1.0]),
    (GL_ZOOM_X, &[1.0]),
    (GL_ZOOM_Y, &[1.0]),
    (GL_LIGHT_MODEL_AMBIENT, &[0.2, 0.2, 0.2, 1.0]),
    (GL_FOG_DENSITY, &[1.0]),
    (GL_FOG_END, &[1.0]),
    (GL_DEPTH_CLEAR_VALUE, &[1.0]),
    (GL_DEPTH_RANGE, &[0.0, 1.0]),
    (GL_MAP1_GRID_DOMAIN, &[0.0, 1.0]),
    (GL_MAP2_GRID_DOMAIN, &[0.0, 1.0, 0.0, 1.0]),
    (GL_SAMPLE_COVERAGE_VALUE, &[1.0]),
    (GL_PATCH_DEFAULT_INNER_LEVEL, &[1.0]),
    (GL_PATCH_DEFAULT_OUTER_LEVEL, &[1.0]),
    (GL_CURRENT_COLOR, &[1.0]),
    (GL_CURRENT_SECONDARY_COLOR, &[0.0, 0.0, 0.0, 1.0]),
    (GL_CURRENT_NORMAL, &[0.0, 0.0, 1.0]),
    (GL_CURRENT_INDEX, &[1.0]),
    (GL_CURRENT_TEXTURE_COORDS, &[0.0, 0.0, 0.0, 1.0]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_a_new_context() {
        for (pname, _) in INTEGERS {
            assert!(
                fresh::INTEGERS.iter().any(|(p, _)| p == pname),
                "{pname:#x}"
            );
        }
        for (pname, values) in FLOATS {
            let found = fresh::FLOATS.iter().find(|(p, _)| p == pname);
            assert!(
                found.is_some_and(|(_, count)| *count >= values.len()),
                "{pname:#x}"
            );
        }
    }

    #[test]
    fn values_are_as_many_as_gets_write() {
        let mut info = ContextInfo::default();
        add_state(&mut info);
        let floats = |pname: u32| &info.floats.iter().find(|(p, _)| *p == pname).unwrap().1;
        assert_eq!(floats(GL_DEPTH_RANGE), &[0.0, 1.0]);
        assert_eq!(floats(GL_POINT_DISTANCE_ATTENUATION), &[1.0, 0.0, 0.0]);
        assert_eq!(
            floats(GL_PROJECTION_MATRIX)[..6],
            [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]
        );
        assert_eq!(floats(GL_BLEND_COLOR), &[0.0; 4]);
        let found = info
            .integers
            .iter()
            .find(|(p, _)| *p == GL_POLYGON_MODE)
            .unwrap();
        assert_eq!(found.1, vec![i64::from(GL_FILL); 2]);
    }
}
