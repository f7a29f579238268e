//! The program that the suites `gl` and `link` draw by default, and the names of its plots.

use std::ffi::OsString;
use std::path::Path;

use crate::gl::drawing::demo;

/// The name of the demo.
pub const DEMO: &str = "iso_demo";

/// Why the demo is not drawn.
pub fn no_demo() -> String {
    format!(
        "{}, or name another program, as in `mgn bench gl -- glxgears`",
        missing(DEMO)
    )
}

/// The message that a demo is in none of the places of [`demo`].
pub fn missing(name: &str) -> String {
    format!("{name} is not in the same folder as mgn: run `make build` or `make install`")
}

/// The program and its arguments. The demo is shown by its name only, and other programs by their
/// path.
pub fn title(mgn: &Path, words: &[OsString]) -> String {
    let is_demo = demo(mgn, DEMO).is_some_and(|path| path == words[0]);
    let mut words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    if is_demo {
        words[0] = DEMO.into();
    }
    words.join(" ")
}

/// The prefix of the ids of a program's plots.
pub fn id(suite: &str, title: &str) -> String {
    let words = title
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    [suite]
        .into_iter()
        .chain(words)
        .collect::<Vec<_>>()
        .join("-")
        .to_lowercase()
}
