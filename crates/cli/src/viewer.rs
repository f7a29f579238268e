//! `mgn viewer`.

use mgn_fabric::Token;
use mgn_viewer::ViewerOptions;
use mgn_wall::{Wall, WallError};

use crate::args::Viewer;
use crate::say;

pub fn serve(args: Viewer) -> anyhow::Result<()> {
    let token = args.token_file.as_deref().map(Token::read).transpose()?;
    let viewer = mgn_viewer::Viewer::start(ViewerOptions {
        listen: args.listen,
        token,
        names: args.name,
        ..ViewerOptions::new(args.wall, args.feeds)
    })?;
    say(&format!("{}\n", viewer.url()))?;
    tracing::info!("pictures come in at {}", viewer.feeds());
    viewer.wait();
    anyhow::bail!("the viewer has ended")
}

/// A grid, a wall in JSON, or what a file describes.
pub fn wall(text: &str) -> Result<Wall, String> {
    let grid = match text.parse() {
        Err(error @ WallError::Grid(_)) => error,
        known => return known.map_err(|error| error.to_string()),
    };
    match std::fs::read_to_string(text) {
        Ok(json) => Wall::from_json(&json).map_err(|why| format!("{text}: {why}")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(format!("{grid}, or the name of a file"))
        }
        Err(error) => Err(format!("{text}: {error}")),
    }
}
