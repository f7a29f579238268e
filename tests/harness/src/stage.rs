//! The environment of a test: a private X server, the programs, and the ways to start them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;

use mgn_launch::{RunDir, Xvfb};

/// The root folder of the checkout.
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors()
        .nth(2)
        .expect("this crate lies two folders deep")
        .to_owned()
}

/// The folder in which cargo puts `mgn` and the client library for the profile of this program.
pub fn target() -> PathBuf {
    let program = std::env::current_exe().expect("a program knows its own file");
    let folder = program.parent().expect("it lies in a folder");
    if folder.ends_with("deps") {
        // Test programs are one folder deeper.
        folder.parent().expect("the profile's").to_owned()
    } else {
        folder.to_owned()
    }
}

/// Builds the C programs in `folder` of the checkout with its Makefile. Returns the folder with the
/// results.
///
/// # Panics
/// If they do not build.
pub fn programs(folder: &str) -> PathBuf {
    let source = root().join(folder);
    let name = source.file_name().expect("the folder has a name");
    let out = root().join("target").join(name);
    make(&source, &out);
    out
}

pub(crate) fn make(source: &Path, out: &Path) {
    static LOCK: OnceLock<std::sync::Mutex<()>> = OnceLock::new();
    let _one_at_a_time = LOCK.get_or_init(Default::default).lock();
    let made = Command::new("make")
        .arg("--silent")
        .arg("-C")
        .arg(source)
        .arg(format!("OUT={}", out.display()))
        // Without the flags of a make that runs these tests.
        .env_remove("MAKEFLAGS")
        .env_remove("MFLAGS")
        .output()
        .expect("make is installed");
    assert!(
        made.status.success(),
        "{} does not build:\n{}",
        source.display(),
        String::from_utf8_lossy(&made.stderr)
    );
}

/// A private X server, and a folder for the files that programs write.
#[derive(Debug)]
pub struct Stage {
    xvfb: Xvfb,
    run: RunDir,
    next: AtomicU32,
}

impl Stage {
    /// # Panics
    /// If no X server starts.
    pub fn new() -> Stage {
        let run = RunDir::create().expect("a private folder");
        let xvfb = Xvfb::start(&run).expect("an X server");
        Stage {
            xvfb,
            run,
            next: AtomicU32::new(0),
        }
    }

    /// A new folder that is removed with the stage.
    pub fn folder(&self) -> PathBuf {
        let n = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.run.join(format!("out-{n}"));
        fs::create_dir(&path).expect("a new folder");
        path
    }

    pub fn display(&self) -> &str {
        self.xvfb.display()
    }

    pub fn authority(&self) -> &Path {
        self.xvfb.authority()
    }

    /// A command that runs `program` without Manganese, on this stage's X server.
    pub fn direct(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env("DISPLAY", self.xvfb.display())
            .env("XAUTHORITY", self.xvfb.authority())
            // So machines with a graphics card render with llvmpipe as well.
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env_remove("WAYLAND_DISPLAY")
            // Without the user's configuration.
            .env("XDG_CONFIG_HOME", self.run.join("config"))
            .env("XDG_STATE_HOME", self.run.join("state"))
            // Makes programs find the same features over TCP as over other transports.
            .env("MGN_SPIRV", "1")
            .env_remove("MGN_SERVER")
            .env_remove("MGN_TOKEN_FILE")
            .env_remove("MGN_TOKEN_STORE")
            .env_remove("MGN_SERVER_KEY")
            .stdin(Stdio::null());
        command
    }

    /// The version of Mesa that renders directly, such as 22.3.6. Empty if it is not known.
    pub fn mesa(&self) -> String {
        let said = self
            .direct("glxinfo")
            .arg("-B")
            .output()
            .map(|o| o.stdout)
            .unwrap_or_default();
        release(&String::from_utf8_lossy(&said)).to_owned()
    }

    /// A command that runs this build's `mgn` on this stage's X server.
    pub fn mgn(&self) -> Command {
        self.direct(mgn())
    }
}

impl Default for Stage {
    fn default() -> Stage {
        Stage::new()
    }
}

/// # Panics
/// If this build's `mgn` or client library is missing.
fn mgn() -> PathBuf {
    let mgn = target().join("mgn");
    for file in [mgn.clone(), target().join(mgn_launch::LIBRARY_FILE)] {
        assert!(
            file.exists(),
            "{} is missing; `make test` builds it, or `cargo build --workspace`",
            file.display()
        );
    }
    mgn
}

/// The release of Mesa in glxinfo's output. Some lines of the output name Mesa only as the vendor.
fn release(said: &str) -> &str {
    let versions = said.lines().filter(|line| line.contains("version string:"));
    let mut named = versions.filter_map(|line| line.split_once(" Mesa "));
    let release = named.next().map(|(_, release)| release);
    let word = release.and_then(|r| r.split_whitespace().next());
    word.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_stand_in_versions() {
        let newer = "Extended renderer info (GLX_MESA_query_renderer):\n    Vendor: Mesa (0xffffffff)\n    Version: 25.0.7\n\
            OpenGL vendor string: Mesa\nOpenGL core profile version string: 4.5 (Core Profile) Mesa 25.0.7-2+deb13u1\n";
        assert_eq!(release(newer), "25.0.7-2+deb13u1");
        let older = "    Vendor: Mesa/X.org (0xffffffff)\nOpenGL vendor string: Mesa/X.org\n\
            OpenGL core profile version string: 4.5 (Core Profile) Mesa 22.3.6\n";
        assert_eq!(release(older), "22.3.6");
        assert_eq!(release("OpenGL version string: 4.6.0 NVIDIA 535.54"), "");
    }
}
