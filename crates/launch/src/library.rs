//! Where the libraries are that programs load: beside the `mgn` executable in a build tree, in
//! `../lib/manganese` when installed.

use std::path::PathBuf;

use crate::Error;

/// The client library's file name.
pub const LIBRARY_FILE: &str = "libmgn_client.so";

/// The file name of the library that makes programs repeatable.
pub const FIXED_CLOCK_FILE: &str = "libmgn_fixed_clock.so";

/// The file name of the library with IceT's interface.
pub const ICET_FILE: &str = "libmgn_icet.so";

/// The names by which programs ask for IceT's core: IceT's own, and those of releases of ParaView
/// that have the same interface.
pub const ICET_NAMES: [&str; 6] = [
    "libIceTCore.so",
    "libvtkIceTCore-pv5.9.so.1",
    "libvtkIceTCore-pv5.10.so.1",
    "libvtkIceTCore-pv5.11.so.1",
    "libvtkIceTCore-pv5.12.so.1",
    "libvtkIceTCore-pv5.13.so.1",
];

/// The client library for programs, as an absolute path. `MGN_CLIENT_LIBRARY` gives the path
/// directly, without a search.
///
/// # Errors
/// [`Error::NoLibrary`] with every place that was searched.
pub fn client_library() -> Result<PathBuf, Error> {
    find(LIBRARY_FILE, "MGN_CLIENT_LIBRARY")
}

/// The library that makes programs repeatable, as an absolute path. `MGN_FIXED_CLOCK_LIBRARY` gives
/// the path directly, without a search.
///
/// # Errors
/// [`Error::NoLibrary`] with every place that was searched.
pub fn fixed_clock_library() -> Result<PathBuf, Error> {
    find(FIXED_CLOCK_FILE, "MGN_FIXED_CLOCK_LIBRARY")
}

/// The library with IceT's interface, as an absolute path. `MGN_ICET_LIBRARY` gives the path
/// directly, without a search.
///
/// # Errors
/// [`Error::NoLibrary`] with every place that was searched.
pub fn icet_library() -> Result<PathBuf, Error> {
    find(ICET_FILE, "MGN_ICET_LIBRARY")
}

fn find(file: &'static str, replacement: &str) -> Result<PathBuf, Error> {
    let candidates = match std::env::var_os(replacement) {
        Some(path) => vec![PathBuf::from(path)],
        None => candidates(file)?,
    };
    candidates
        .iter()
        .find_map(|path| path.canonicalize().ok().filter(|path| path.is_file()))
        .ok_or(Error::NoLibrary {
            file,
            tried: candidates,
        })
}

fn candidates(file: &str) -> Result<Vec<PathBuf>, Error> {
    let executable =
        std::env::current_exe().map_err(Error::system("finding the running executable"))?;
    let folder = executable.parent().unwrap_or(&executable);
    let installed = folder.parent().unwrap_or(folder).join("lib/manganese");
    Ok(vec![folder.join(file), installed.join(file)])
}
