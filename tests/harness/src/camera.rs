//! The camera that makes programs repeatable, for tests.

use std::time::Duration;

use mgn_verify::{Camera, Picture};

use crate::outcome::Outcome;
use crate::stage::{make, root, target, Stage};

const RUN_TIMEOUT: Duration = Duration::from_secs(60);

/// A camera with the fixed-clock library of this build.
///
/// # Panics
/// If the library does not build.
pub fn camera() -> Camera {
    let folder = target();
    make(&root().join("crates/verify/fixed_clock"), &folder);
    Camera::new(folder.join(mgn_launch::FIXED_CLOCK_FILE))
}

/// A camera with a stopped clock, so that all frames are the same.
///
/// # Panics
/// As [`camera`].
pub fn still() -> Camera {
    Camera {
        step: 0,
        every: 5,
        ..camera()
    }
}

/// The fifth frame of glxgears with these arguments, drawn directly and with a stopped clock.
///
/// # Panics
/// If it draws nothing.
pub fn still_gears(stage: &Stage, arguments: &[&str]) -> Picture {
    let folder = stage.folder();
    let five = Camera {
        frames: Some(5),
        ..still()
    };
    let mut direct = stage.direct("glxgears");
    direct.args(arguments);
    direct.envs(five.environment(Some(&folder)));
    let outcome = Outcome::of(&mut direct, RUN_TIMEOUT);
    Picture::read(&folder.join("frame-000005.ppm"))
        .unwrap_or_else(|e| panic!("{e}: {}", outcome.describe()))
}
