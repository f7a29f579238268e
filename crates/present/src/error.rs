use std::io;
use std::path::PathBuf;

/// The largest width and height of a window.
pub(crate) const HEAD_MAX: u32 = 32767;

/// Why a picture could not be shown or kept.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("a picture of {width}x{height} with rows {stride} bytes apart does not fit its {bytes} bytes")]
    BadPicture {
        width: u32,
        height: u32,
        stride: u32,
        bytes: usize,
    },
    #[error("a compressed picture is damaged: {0}")]
    BadEncoding(&'static str),

    #[error("no connection to the X server {display}: {why}; check its name and XAUTHORITY")]
    NoDisplay { display: String, why: String },
    #[error("a window of {width}x{height} pixels is too large for an X server; the limit is {HEAD_MAX} pixels each way")]
    TooLarge { width: u32, height: u32 },
    #[error("the X server {display} cannot create a window: {why}")]
    NoWindow { display: String, why: String },
    #[error("the X server {display} has no extension Present, which genlock needs; remove genlock from the wall, or use another X server")]
    NoVblanks { display: String },
    #[error("the connection to the X server is lost: {0}")]
    DisplayLost(String),
    #[error("the X server refuses to draw into window {window:#x}: {why}")]
    Refused { window: u32, why: String },
    #[error("window {window:#x} has a depth of {depth}; only windows of depth 24 and 32 can be drawn into")]
    Depth { window: u32, depth: u8 },
    #[error("a picture {width} pixels wide is too wide for the X server's requests")]
    TooWide { width: u32 },

    #[error("{path}: the picture was not saved, and no further ones will be: {source}")]
    Save { path: PathBuf, source: io::Error },
    #[error("{path}: no pictures can be saved there: {source}")]
    SaveDir { path: PathBuf, source: io::Error },
    #[error("{0:?} is not an image format; use png or jpeg")]
    FileFormat(String),
}
