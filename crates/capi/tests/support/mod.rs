//! The installed library, programs that are compiled with it, and jobs that run them.
#![allow(dead_code)] // No test uses all of it.

#[path = "../../../client/tests/common/built.rs"]
mod built;

use std::ffi::OsStr;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

pub fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub fn run(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&stdout).into_owned();
    assert!(
        status.success(),
        "{command:?}: {status}\n{text}\n{}",
        String::from_utf8_lossy(&stderr)
    );
    text
}

/// The files that `make install` installs, in a folder of the target folder.
pub fn installed() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(concat!("installed-", env!("CARGO_CRATE_NAME")));
        let _ = fs::remove_dir_all(&folder);
        install(&[&format!("PREFIX={}", folder.display())]);
        folder
    })
}

pub fn install(variables: &[&str]) {
    let mut make = Command::new("make");
    make.arg("-s").arg("-C").arg(here()).arg("install");
    run(make
        .arg(format!("BUILT={}", built().display()))
        .args(variables)
        .env_remove("DESTDIR"));
}

/// The folder of the built library.
fn built() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| built::built("mgn-capi"))
}

fn pkg_config(arguments: &[&str]) -> Vec<String> {
    let path = installed().join("lib/pkgconfig");
    let mut command = Command::new("pkg-config");
    command.args(arguments).arg("manganese");
    let words = run(command.env("PKG_CONFIG_PATH", path));
    words.split_whitespace().map(String::from).collect()
}

/// Compiles a program with the installed library, as users do.
pub fn compile(source: &str, flags: &[&str], name: &str) -> PathBuf {
    let program = installed().join(name);
    let (compiler, standard) = match source.ends_with(".cc") {
        true => ("c++", "-std=c++11"),
        false => ("cc", "-std=gnu11"),
    };
    let mut compiler = Command::new(compiler);
    compiler
        .args([standard, "-O1", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(here().join(source));
    let mut words = pkg_config(&[&["--cflags", "--libs"], flags].concat());
    if flags.contains(&"--static") {
        // The C library itself stays shared.
        for word in words.iter_mut().filter(|word| *word == "-lmanganese") {
            *word = "-l:libmanganese.a".into();
        }
    }
    run(compiler.args(words).args(["-lpthread", "-lm"]));
    program
}

/// Compiles a file with this compiler, as users of MPI do.
pub fn compile_with(compiler: &str, source: &Path, name: &str) -> PathBuf {
    let program = installed().join(format!("program-{name}"));
    let mut compiler = Command::new(compiler);
    compiler.arg("-o").arg(&program).arg(source);
    run(compiler.args(pkg_config(&["--cflags", "--libs"])));
    program
}

/// A launcher of an MPI library, and the flags that it needs here.
pub struct Launcher {
    pub program: &'static str,
    package: &'static str,
    flags: &'static [&'static str],
}

pub const MPICH: Launcher = Launcher {
    program: "mpiexec.hydra",
    package: "mpich",
    flags: &[],
};

pub const OPEN_MPI: Launcher = Launcher {
    program: "mpiexec.openmpi",
    package: "openmpi-bin",
    flags: &["--allow-run-as-root", "--oversubscribe"],
};

impl Launcher {
    /// Says why tests are skipped if it is not.
    pub fn is_installed(&self) -> bool {
        let is_there = Command::new(self.program).arg("--version").output().is_ok();
        if !is_there {
            let Launcher {
                program, package, ..
            } = self;
            eprintln!("SKIPPED: there is no {program} (package {package})");
        }
        is_there
    }

    /// Runs `size` processes of a program. Returns their output.
    pub fn launch(&self, program: &Path, size: usize) -> String {
        let mut command = Command::new(self.program);
        command.args(self.flags).args(["-n", &size.to_string()]);
        command.arg(program);
        run(command.env("LD_LIBRARY_PATH", installed().join("lib")))
    }
}

/// Runs `size` processes of a program. Returns the output of each.
pub fn job(program: &Path, arguments: &[&str], size: usize) -> Vec<String> {
    let hosts = format!("here slots={size}  # all on one host\n");
    job_on(&hosts, program, arguments, size, &[])
}

/// Runs `size` processes of a program on these hosts. Returns the output of each.
pub fn job_on(
    hostfile: &str,
    program: &Path,
    arguments: &[&str],
    size: usize,
    settings: &[(&str, &str)],
) -> Vec<String> {
    let start = |_| {
        let mut command = Command::new(program);
        command.args(arguments);
        command
    };
    let name = program.file_name().and_then(OsStr::to_str).unwrap();
    job_of(hostfile, name, start, size, settings)
}

/// Runs `size` processes on these hosts. `start` returns the command of each rank.
pub fn job_of(
    hostfile: &str,
    name: &str,
    start: impl Fn(usize) -> Command,
    size: usize,
    settings: &[(&str, &str)],
) -> Vec<String> {
    let name = format!("{name}-{}", std::process::id());
    let hosts = installed().join(format!("{name}.hosts"));
    fs::write(&hosts, hostfile).unwrap();
    let start = |rank: usize| {
        let mut command = start(rank);
        command
            .env("LD_LIBRARY_PATH", installed().join("lib"))
            .env("MGN_HOSTFILE", &hosts)
            .env("MGN_RANK", rank.to_string())
            .env("MGN_JOB", &name)
            .envs(settings.iter().copied());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..size).map(start).collect();
    let outputs: Vec<Output> = children
        .into_iter()
        .map(|child| child.wait_with_output().unwrap())
        .collect();
    // A process that fails makes others fail, so the message contains the errors of all.
    let said: String = outputs
        .iter()
        .map(|output| String::from_utf8_lossy(&output.stderr))
        .collect();
    assert!(
        outputs.iter().all(|output| output.status.success()),
        "{name}: {said}"
    );
    outputs
        .into_iter()
        .map(|output| String::from_utf8(output.stdout).unwrap())
        .collect()
}

/// Compiles an installed example.
pub fn example(name: &str) -> PathBuf {
    example_with(name, &[])
}

/// Compiles an installed example that needs more packages of pkg-config.
pub fn example_with(name: &str, packages: &[&str]) -> PathBuf {
    let folder = installed().join("share/doc/manganese/examples");
    let source = folder.join(format!("{name}.c"));
    compile(source.to_str().unwrap(), packages, name)
}

/// The width of a PNG file, and its rows as red, green and blue values.
pub fn png(path: &Path) -> (usize, Vec<u8>) {
    let file = fs::File::open(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgb);
    (info.width as usize, pixels)
}
