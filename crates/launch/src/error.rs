use std::io;
use std::path::PathBuf;

/// The reasons why a run can fail. Each message says what happened, to which object, and what to
/// do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{program}: not found in PATH; check the spelling or give a path to it")]
    NotInPath { program: String },
    #[error("{path}: there is no such program; check the path")]
    NoSuchProgram { path: PathBuf },
    #[error("{path}: not executable; if it is the right file, run chmod +x on it")]
    NotExecutable { path: PathBuf },
    #[error("{path}: cannot be read: {source}")]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{path}: neither an ELF program nor a script with a #! line; name the interpreter before it")]
    UnknownFormat { path: PathBuf },
    #[error("{path}: a damaged ELF file; install the program again")]
    DamagedElf { path: PathBuf },
    #[error("{path}: a 32-bit program, and Manganese's client library is 64-bit; run a 64-bit build of it")]
    Is32Bit { path: PathBuf },
    #[error("{path}: built for another processor than this machine's; run a build for this one")]
    OtherMachine { path: PathBuf },
    #[error("{path}: statically linked, so no OpenGL library can be given to it; run a dynamically linked build")]
    Static { path: PathBuf },
    #[error(
        "{path}: set-user-ID or set-group-ID, so the system ignores the library path it is given; run a copy without that bit"
    )]
    SetId { path: PathBuf },
    #[error(
        "{script}: its interpreter {interpreter} does not exist; install it or correct the #! line"
    )]
    NoInterpreter {
        script: PathBuf,
        interpreter: PathBuf,
    },
    #[error("{script}: its interpreter is a script that has a script as its interpreter, and so on, more than {depth} times")]
    InterpreterLoop { script: PathBuf, depth: usize },

    #[error("the library {file} is not in {}; run `make build`, or install again with `make install`", list(.tried))]
    NoLibrary {
        file: &'static str,
        tried: Vec<PathBuf>,
    },
    #[error("{path} belongs to another user or is open to others; remove it or set XDG_RUNTIME_DIR to a directory of your own")]
    UnsafeRunDir { path: PathBuf },
    #[error("{path}: {doing}: {source}")]
    File {
        path: PathBuf,
        doing: &'static str,
        source: io::Error,
    },

    #[error("--headless needs Xvfb, which is not installed; run `apt-get install xvfb`, or give a DISPLAY")]
    NoXvfb,
    #[error("Xvfb did not start: {why}")]
    XvfbFailed { why: String },
    #[error("the render server did not start: {why}")]
    ServerFailed { why: String },
    #[error("{0}")]
    Ssh(String),
    #[error("{program} did not start: {source}")]
    Spawn { program: PathBuf, source: io::Error },
    #[error("{doing}: {source}")]
    System {
        doing: &'static str,
        source: io::Error,
    },
    #[error("stopped by signal {0} before the program was started")]
    Interrupted(i32),
}

impl Error {
    /// Makes the error of an operation on a file, for `map_err`.
    pub(crate) fn file(
        path: impl Into<PathBuf>,
        doing: &'static str,
    ) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::File {
            path,
            doing,
            source,
        }
    }

    /// Makes the error of a system call that concerns no file, for `map_err`.
    pub(crate) fn system<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Error {
        move |source| Error::System {
            doing,
            source: source.into(),
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    let all: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    all.join(" or ")
}
