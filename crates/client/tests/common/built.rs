//! The libraries that tests of several crates load. Cargo does not build them for tests
//! automatically.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds a package's library, and returns the folder in which it is. With `MGN_BUILT` in the
/// environment it has been built before, together with other packages. That counts: alone, a
/// package asks for other features of its dependencies, so that Cargo would build all of them
/// again, and replace what other tests use.
pub fn built(package: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let (profile, folder) = match cfg!(debug_assertions) {
        true => ("dev", "debug"),
        false => ("release", "release"),
    };
    if std::env::var_os("MGN_BUILT").is_none() {
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(["build", "--quiet", "--profile", profile])
            .args(["--package", package])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("CARGO_TARGET_DIR", target);
        let status = cargo.status().expect("cargo runs");
        assert!(status.success(), "{cargo:?}: {status}");
    }
    target.join(folder)
}
