//! The order of ranks from front to back.

use mgn_composite::{Brick, Eye};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A rank, and two corners of its box.
type Corners = (usize, [f64; 3], [f64; 3]);

#[pyfunction]
pub fn front_to_back(
    eye: [f64; 3],
    is_direction: bool,
    bricks: Vec<Corners>,
) -> PyResult<Vec<usize>> {
    let eye = match is_direction {
        true => Eye::Along(eye),
        false => Eye::At(eye),
    };
    let brick = |(rank, min, max)| Brick { rank, min, max };
    let bricks: Vec<Brick> = bricks.into_iter().map(brick).collect();
    mgn_composite::front_to_back(eye, &bricks)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}
