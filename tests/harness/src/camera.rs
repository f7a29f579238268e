//! The camera that makes programs repeatable, for tests.

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
