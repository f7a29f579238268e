//! Code that the tests of the built library share.
#![allow(dead_code)]

mod built;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;

/// Builds the library if it is not there yet, and returns its path.
pub fn library() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let build = || built::built("mgn-client").join("libmgn_client.so");
    BUILT.get_or_init(build).clone()
}

/// Compiles `tests/window_system.c`. `None` where there is no compiler or a header is missing.
pub fn program() -> Option<PathBuf> {
    static COMPILED: OnceLock<Option<PathBuf>> = OnceLock::new();
    let compile = || {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/window_system.c");
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("window_system");
        let compiled = Command::new("cc")
            .args(["-g", "-Wall", "-Wextra", "-o"])
            .args([&program, &source])
            .args(["-lX11", "-lGL", "-lEGL", "-lpthread"])
            .status();
        compiled.is_ok_and(|s| s.success()).then_some(program)
    };
    COMPILED.get_or_init(compile).clone()
}

/// A directory with the names that GLVND looks for, removed when dropped.
pub struct VendorDir(PathBuf);

impl VendorDir {
    pub fn new(library: &Path) -> VendorDir {
        static UNIQUE: AtomicU32 = AtomicU32::new(0);
        let unique = UNIQUE.fetch_add(1, Ordering::Relaxed);
        let name = format!("vendor-{}-{unique}", std::process::id());
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&dir).unwrap();
        for name in ["libGLX_mgn.so.0", "libEGL_mgn.so.0"] {
            symlink(library, dir.join(name)).unwrap();
        }
        let library = dir.join("libEGL_mgn.so.0");
        let json = format!(
            "{{\"file_format_version\":\"1.0.0\",\"ICD\":{{\"library_path\":\"{}\"}}}}",
            library.display()
        );
        std::fs::write(dir.join("mgn.json"), json).unwrap();
        VendorDir(dir)
    }

    /// `program`, with its GL coming to us and no setting of ours in its environment.
    pub fn run(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("MGN_") {
                command.env_remove(name);
            }
        }
        command
            .env("__GLX_VENDOR_LIBRARY_NAME", "mgn")
            .env("__EGL_VENDOR_LIBRARY_FILENAMES", self.0.join("mgn.json"))
            .env("LD_LIBRARY_PATH", &self.0);
        command
    }
}

impl Drop for VendorDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An X server of the test's own.
pub struct Xvfb {
    pub display: String,
    child: Child,
}

impl Xvfb {
    /// `None` where there is none to be had.
    pub fn start() -> Option<Xvfb> {
        // The X server picks a free number and writes it to its standard output.
        let mut child = Command::new("Xvfb")
            .args([
                "-displayfd",
                "1",
                "-noreset",
                "-nolisten",
                "tcp",
                "-screen",
                "0",
                "800x600x24",
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut number = String::new();
        let told = BufReader::new(child.stdout.take()?).read_line(&mut number);
        if told.is_err() || number.trim().is_empty() {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        Some(Xvfb {
            display: format!(":{}", number.trim()),
            child,
        })
    }
}

impl Drop for Xvfb {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
