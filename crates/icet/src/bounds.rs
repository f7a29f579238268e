//! Where the data of a process can be: its bounds in space, and in the display.

use std::ffi::c_void;

use crate::abi::{param, Enum, Size, DOUBLE, FLOAT, INT, SHORT};
use crate::diagnostics::{call, Problem};
use crate::pixels::Area;
use crate::state::Value;

/// A matrix of 4 by 4 numbers, column by column.
pub(crate) type Matrix = [f64; 16];

/// With more pairs of corners on different sides of the near plane than this, the data may be
/// anywhere.
const PAIRS_MAX: usize = 1 << 14;

/// More vertices than this are an error.
const VERTICES_MAX: usize = 1 << 24;

#[no_mangle]
pub extern "C" fn icetBoundingBoxd(
    x_min: f64,
    x_max: f64,
    y_min: f64,
    y_max: f64,
    z_min: f64,
    z_max: f64,
) {
    let mut corners = Vec::with_capacity(24);
    for x in [x_min, x_max] {
        for y in [y_min, y_max] {
            for z in [z_min, z_max] {
                corners.extend([x, y, z]);
            }
        }
    }
    set(corners);
}

#[no_mangle]
pub extern "C" fn icetBoundingBoxf(
    x_min: f32,
    x_max: f32,
    y_min: f32,
    y_max: f32,
    z_min: f32,
    z_max: f32,
) {
    let [x_min, x_max, y_min, y_max, z_min, z_max] =
        [x_min, x_max, y_min, y_max, z_min, z_max].map(f64::from);
    icetBoundingBoxd(x_min, x_max, y_min, y_max, z_min, z_max);
}

fn set(coordinates: Vec<f64>) {
    call((), |registry| {
        let state = &mut registry.current()?.state;
        state.set_int(param::NUM_BOUNDING_VERTS, (coordinates.len() / 3) as i32);
        state.set(param::GEOMETRY_BOUNDS, Value::Doubles(coordinates));
        Ok(())
    });
}

/// `count` vertices of `size` coordinates each, `stride` bytes apart; 0: without gaps. Without
/// vertices, the data can be anywhere.
///
/// # Safety
/// `pointer` is null, or these vertices can be read there.
#[no_mangle]
pub unsafe extern "C" fn icetBoundingVertices(
    size: i32,
    kind: Enum,
    stride: Size,
    count: Size,
    pointer: *const c_void,
) {
    let read = || {
        let wrong = |text: &str| Err(Problem::Value(text.into()));
        if count == 0 {
            return Ok(Vec::new());
        }
        let width = match kind {
            SHORT => 2,
            INT | FLOAT => 4,
            DOUBLE => 8,
            _ => return Err(Problem::Enum("Bad type to icetBoundingVertices.".into())),
        };
        let coordinates = match usize::try_from(size) {
            Ok(size @ 2..=4) => size,
            _ => return wrong("Vertices have 2, 3 or 4 coordinates."),
        };
        let count = usize::try_from(count)
            .ok()
            .filter(|count| *count <= VERTICES_MAX);
        let Some(count) = count else {
            return wrong("The number of vertices is invalid.");
        };
        let stride = match usize::try_from(stride) {
            Ok(0) => coordinates * width,
            Ok(stride) => stride,
            Err(_) => return wrong("The vertices' stride is negative."),
        };
        if pointer.is_null() {
            return wrong("The vertices are null.");
        }
        let mut all = Vec::with_capacity(count * 3);
        for vertex in 0..count {
            let mut xyzw = [0.0, 0.0, 0.0, 1.0];
            for (at, value) in xyzw[..coordinates].iter_mut().enumerate() {
                // SAFETY: as the caller promises.
                unsafe {
                    let start = pointer.cast::<u8>().add(vertex * stride + at * width);
                    *value = match kind {
                        SHORT => f64::from(start.cast::<i16>().read_unaligned()),
                        INT => f64::from(start.cast::<i32>().read_unaligned()),
                        FLOAT => f64::from(start.cast::<f32>().read_unaligned()),
                        _ => start.cast::<f64>().read_unaligned(),
                    };
                }
            }
            let [x, y, z, w] = xyzw;
            all.extend([x / w, y / w, z / w]);
        }
        Ok(all)
    };
    if let Some(all) = call(None, |_| read().map(Some)) {
        set(all);
    }
}

/// The part of the display that the data can cover, and its depths in normalized device
/// coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Covered {
    pub(crate) area: Area,
    pub(crate) near: f64,
    pub(crate) far: f64,
}

/// Where the bounds appear in a display. Data without bounds, or with bounds that are not finite,
/// may be anywhere.
pub(crate) fn covered(
    bounds: &[f64],
    projection: &Matrix,
    modelview: &Matrix,
    display: Area,
) -> Covered {
    let everywhere = Covered {
        area: display,
        near: -1.0,
        far: 1.0,
    };
    let nowhere = Covered {
        area: Area::default(),
        near: 1.0,
        far: -1.0,
    };
    let matrix = multiply(projection, modelview);
    let points = bounds.chunks_exact(3).map(|at| transform(&matrix, at));
    let points: Vec<[f64; 4]> = points.collect();
    if points.is_empty() || points.iter().flatten().any(|value| !value.is_finite()) {
        return everywhere;
    }
    let is_before = |point: &[f64; 4]| point[2] >= -point[3] && point[3] > 0.0;
    let (seen, behind): (Vec<[f64; 4]>, Vec<[f64; 4]>) = points.iter().partition(|p| is_before(p));
    if seen.is_empty() && points.iter().all(|point| point[2] < -point[3]) {
        return nowhere;
    }
    if points.iter().all(|point| point[2] > point[3]) {
        return nowhere;
    }
    if seen.len().saturating_mul(behind.len()) > PAIRS_MAX || seen.is_empty() {
        return everywhere;
    }
    // The visible part of a convex hull is the hull of its visible corners, and of the points where
    // lines from these to the other corners meet the near plane.
    let mut all = seen.clone();
    for from in &seen {
        for to in &behind {
            let [start, end] = [from, to].map(|point| point[2] + point[3]);
            let share = if start == end {
                0.0
            } else {
                start / (start - end)
            };
            let at = |i: usize| from[i] + share * (to[i] - from[i]);
            let point = [at(0), at(1), at(2), at(3)];
            if point[3] <= 0.0 {
                return everywhere;
            }
            all.push(point);
        }
    }
    let along = |axis: usize| {
        let values = all.iter().map(|point| point[axis] / point[3]);
        values.fold(
            (f64::INFINITY, f64::NEG_INFINITY),
            |(least, most), value| (least.min(value), most.max(value)),
        )
    };
    let pixels = |axis: usize, start: i32, length: i32| {
        let (least, most) = along(axis);
        let at = |ndc: f64| (ndc + 1.0) / 2.0 * f64::from(length) + f64::from(start);
        // Conversions to integers saturate.
        let (from, to) = (at(least).floor() as i32, at(most).ceil() as i32);
        (from, to.saturating_sub(from))
    };
    let (x, width) = pixels(0, display.x, display.width);
    let (y, height) = pixels(1, display.y, display.height);
    let (near, far) = along(2);
    Covered {
        area: Area::new(x, y, width, height).common(display),
        near: near.max(-1.0),
        far: far.min(1.0),
    }
}

/// The projection for only a part of the display.
pub(crate) fn project_part(projection: &Matrix, display: Area, part: Area) -> Matrix {
    let along = |start: i32, length: i32, part_start: i32, part_length: i32| {
        let [start, length, part_start, part_length] =
            [start, length, part_start, part_length].map(f64::from);
        let scale = length / part_length;
        let center = (part_start - start + part_length / 2.0) / length * 2.0 - 1.0;
        (scale, -center * scale)
    };
    let (scale_x, move_x) = along(display.x, display.width, part.x, part.width);
    let (scale_y, move_y) = along(display.y, display.height, part.y, part.height);
    let mut view = [0.0; 16];
    (view[0], view[12]) = (scale_x, move_x);
    (view[5], view[13]) = (scale_y, move_y);
    (view[10], view[15]) = (1.0, 1.0);
    multiply(&view, projection)
}

fn multiply(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|at| {
        let (column, row) = (at / 4, at % 4);
        (0..4).map(|k| a[k * 4 + row] * b[column * 4 + k]).sum()
    })
}

fn transform(matrix: &Matrix, at: &[f64]) -> [f64; 4] {
    std::array::from_fn(|row| {
        matrix[row] * at[0] + matrix[4 + row] * at[1] + matrix[8 + row] * at[2] + matrix[12 + row]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAME: Matrix = [
        1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0,
    ];

    fn cube(x: [f64; 2], y: [f64; 2], z: [f64; 2]) -> Vec<f64> {
        let mut all = Vec::new();
        for x in x {
            for y in y {
                for z in z {
                    all.extend([x, y, z]);
                }
            }
        }
        all
    }

    #[test]
    fn bounds_are_whole_pixels_of_the_display() {
        let display = Area::new(0, 0, 64, 48);
        let third = 0.5 / 3.0;
        let bounds = cube([-third, third], [-0.5, 0.5], [-1.0, 1.0]);
        let found = covered(&bounds, &SAME, &SAME, display);
        assert_eq!(found.area, Area::new(26, 12, 12, 24));
        assert_eq!((found.near, found.far), (-1.0, 1.0));
        let outside = cube([1.5, 2.0], [0.0, 1.0], [0.0, 0.0]);
        assert!(covered(&outside, &SAME, &SAME, display).area.is_empty());
        let behind = cube([0.0, 1.0], [0.0, 1.0], [-3.0, -2.0]);
        assert!(covered(&behind, &SAME, &SAME, display).area.is_empty());
        assert_eq!(covered(&[], &SAME, &SAME, display).area, display);
        assert_eq!(covered(&[f64::NAN; 3], &SAME, &SAME, display).area, display);
    }

    #[test]
    fn what_the_near_plane_cuts_is_seen_as_far_as_it_is_before() {
        // glFrustum(-1, 1, -1, 1, 1, 10).
        let mut frustum = [0.0; 16];
        (frustum[0], frustum[5]) = (1.0, 1.0);
        (frustum[10], frustum[11], frustum[14]) = (-11.0 / 9.0, -1.0, -20.0 / 9.0);
        let display = Area::new(0, 0, 100, 100);
        // A beam to the right of the eye, from behind it: at z = -1 it is at x = 0.5 to 1.
        let beam = cube([0.5, 1.0], [0.0, 0.5], [-10.0, 5.0]);
        let found = covered(&beam, &frustum, &SAME, display);
        assert_eq!(found.area, Area::new(52, 50, 48, 25));
        // A cube around the eye.
        let around = cube([-1.0, 1.0], [-1.0, 1.0], [-2.0, 2.0]);
        assert_eq!(covered(&around, &frustum, &SAME, display).area, display);
    }

    #[test]
    fn parts_of_the_display_have_projections_of_their_own() {
        let display = Area::new(0, 0, 128, 48);
        let part = project_part(&SAME, display, Area::new(64, 0, 64, 48));
        assert_eq!(
            (part[0], part[12], part[5], part[13]),
            (2.0, -1.0, 1.0, 0.0)
        );
    }
}
