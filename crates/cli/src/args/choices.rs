//! Values of flags that are one of several words.

use clap::ValueEnum;

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Present {
    /// In the program's own window
    Window,
    /// Nowhere
    None,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ImageFormat {
    /// Lossless
    Png,
    /// Smaller files, lossy
    Jpeg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum OnLoss {
    /// End the program
    Exit,
    /// Let the program continue without drawing
    Continue,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Tiling {
    /// As the wall is configured; otherwise `offset` only if the mural is larger than a
    /// framebuffer can be
    Auto,
    /// Each renderer holds the whole window
    Scissor,
    /// Each renderer holds only its tile
    Offset,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Weld {
    /// When the server is behind the program
    Auto,
    /// Always, for a slow network
    Always,
    /// Never
    Never,
}
