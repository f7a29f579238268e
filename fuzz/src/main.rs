//! Runs the project's fuzz targets under libFuzzer. `make fuzz` builds and starts this.
//!
//! - `mgn-fuzz` prints the names of all targets.
//! - `mgn-fuzz NAME FOLDER` writes the target's generated seeds into the folder.
//! - With `MGN_FUZZ_TARGET=NAME` in the environment, all arguments are libFuzzer's. It is no
//!   argument because libFuzzer starts itself again with its own arguments, to merge corpora.

use std::ffi::{c_char, c_int, CString, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;

// For its library, which is linked.
use libfuzzer_sys as _;
use mgn_fuzzing::Target;

extern "C" {
    fn LLVMFuzzerRunDriver(
        argc: *mut c_int,
        argv: *mut *mut *mut c_char,
        feed: extern "C" fn(*const u8, usize) -> c_int,
    ) -> c_int;
}

static TARGET: OnceLock<&'static Target> = OnceLock::new();

fn targets() -> impl Iterator<Item = &'static Target> {
    [
        mgn_wire::fuzzing::TARGETS,
        mgn_fabric::fuzzing::TARGETS,
        mgn_barrier::fuzzing::TARGETS,
        mgn_mothership::fuzzing::TARGETS,
        mgn_wall::fuzzing::TARGETS,
        mgn_viewer::fuzzing::TARGETS,
        mgn_server::fuzzing::TARGETS,
    ]
    .into_iter()
    .flatten()
}

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(name) = std::env::var_os("MGN_FUZZ_TARGET") {
        let Some(target) = targets().find(|target| name == target.name) else {
            eprintln!("there is no fuzz target {name:?}");
            return ExitCode::from(2);
        };
        TARGET.get_or_init(|| target);
        return run(arguments);
    }
    match &arguments[1..] {
        [] => targets().for_each(|target| println!("{}", target.name)),
        [name, folder] => {
            let target = targets().find(|target| name == target.name);
            let seeds = target.map(|target| (target.seeds)()).unwrap_or_default();
            for (number, seed) in seeds.iter().enumerate() {
                let path = Path::new(folder).join(format!("seed-{number}"));
                if let Err(error) = std::fs::write(&path, seed) {
                    eprintln!("cannot write {}: {error}", path.display());
                    return ExitCode::FAILURE;
                }
            }
        }
        _ => {
            eprintln!("usage: mgn-fuzz [NAME FOLDER]");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn run(arguments: Vec<OsString>) -> ExitCode {
    let arguments = arguments.into_iter().map(OsStringExt::into_vec);
    let arguments: Vec<CString> = arguments.flat_map(CString::new).collect();
    let pointer = |argument: &CString| argument.as_ptr().cast_mut();
    let mut pointers: Vec<*mut c_char> = arguments.iter().map(pointer).collect();
    let mut argc = pointers.len() as c_int;
    pointers.push(std::ptr::null_mut());
    let mut argv = pointers.as_mut_ptr();
    // SAFETY: the arguments are terminated strings with a null pointer behind them, as a C program
    // has them. They live until the process ends.
    let status = unsafe { LLVMFuzzerRunDriver(&mut argc, &mut argv, feed) };
    ExitCode::from(status as u8)
}

extern "C" fn feed(start: *const u8, len: usize) -> c_int {
    let bytes = match start.is_null() {
        true => &[],
        // SAFETY: libFuzzer gives that number of bytes, which do not change during the call.
        false => unsafe { std::slice::from_raw_parts(start, len) },
    };
    if let Some(target) = TARGET.get() {
        (target.feed)(bytes);
    }
    0
}
