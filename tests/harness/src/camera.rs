//! The camera that makes programs repeatable, for tests.

use std::ffi::OsString;
use std::path::Path;

use mgn_verify::Camera;

use crate::stage::{make, root, target};

/// A camera whose library was built beside this build's `mgn`.
///
/// # Panics
/// If its library does not build.
pub fn camera() -> Camera {
    let folder = target();
    make(&root().join("crates/verify/fixed_clock"), &folder);
    Camera::new(folder.join(mgn_launch::FIXED_CLOCK_FILE))
}

/// `NAME=VALUE` for each variable of `camera`, for `env` to start a program with. `mgn` itself, before
/// it, keeps the true clock.
pub fn assignments(camera: &Camera, folder: Option<&Path>) -> Vec<OsString> {
    let variables = camera.environment(folder).into_iter();
    variables
        .map(|(mut name, value)| {
            name.push("=");
            name.push(value);
            name
        })
        .collect()
}
