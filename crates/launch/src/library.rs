//! Where the client library is: beside the `mgn` executable in a build tree, in `../lib/manganese`
//! when installed.

use std::path::PathBuf;

use crate::Error;

/// The client library's file name.
pub const LIBRARY_FILE: &str = "libmgn_client.so";

/// Overrides the search with the path of a library.
const OVERRIDE: &str = "MGN_CLIENT_LIBRARY";

/// The client library to give to programs, as an absolute path.
///
/// # Errors
/// [`Error::NoClientLibrary`] with every place that was looked at.
pub fn client_library() -> Result<PathBuf, Error> {
    let candidates = match std::env::var_os(OVERRIDE) {
        Some(path) => vec![PathBuf::from(path)],
        None => candidates()?,
    };
    candidates
        .iter()
        .find_map(|path| path.canonicalize().ok().filter(|path| path.is_file()))
        .ok_or(Error::NoClientLibrary {
            file: LIBRARY_FILE,
            tried: candidates,
        })
}

fn candidates() -> Result<Vec<PathBuf>, Error> {
    let executable =
        std::env::current_exe().map_err(Error::system("finding the running executable"))?;
    let folder = executable.parent().unwrap_or(&executable);
    let installed = folder.parent().unwrap_or(folder).join("lib/manganese");
    Ok(vec![
        folder.join(LIBRARY_FILE),
        installed.join(LIBRARY_FILE),
    ])
}
