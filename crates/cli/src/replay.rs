//! `mgn replay`: executes a recorded stream on the driver of this process.

use std::time::Instant;

use mgn_present::{FileFormat, Picture, Saver, Target};
use mgn_server::{Middle, Viewer};
use mgn_spu::Chain;
use mgn_wire::frames::Header;

use crate::args::{self, ImageFormat, Replay};
use crate::output::print;

pub fn replay(args: Replay) -> anyhow::Result<()> {
    let format = match args.image_format {
        ImageFormat::Png => FileFormat::Png,
        ImageFormat::Jpeg => FileFormat::Jpeg,
    };
    let saver = args
        .save
        .map(|dir| Saver::new(&dir, format, args.every))
        .transpose()?;
    let chain = Chain::on_replay(args.spu)?;
    if let (Some(from), Some(middle)) = (args.from, args.middle) {
        let middle = match middle {
            args::Middle::Skip => Middle::Skip,
            args::Middle::Take => Middle::Take,
            args::Middle::Succeed => Middle::Succeed,
        };
        let viewer = Box::new(Files(saver));
        let replayed = mgn_server::play_across(&args.file, from, middle, viewer)?;
        return print(&format!(
            "{}\n",
            serde_json::json!({
                "messages": replayed.played.messages,
                "at": replayed.at,
                "why": replayed.why,
                "answers": replayed.answers,
            })
        ));
    }
    let start = Instant::now();
    let played = mgn_server::play(&args.file, &chain, Box::new(Files(saver)))?;
    let seconds = start.elapsed().as_secs_f64();
    print(&format!(
        "{} frames, {} messages in {seconds:.2} s, {:.1} frames a second\n",
        played.frames,
        played.messages,
        played.frames as f64 / seconds.max(1e-9)
    ))
}

/// Saves frames to image files, if `--save` is given.
struct Files(Option<Saver>);

impl Viewer for Files {
    fn wants(&self, frame: u64) -> bool {
        self.0.as_ref().is_some_and(|saver| saver.wants(frame))
    }

    fn show(&mut self, header: &Header, pixels: Vec<u8>) -> Result<(), String> {
        let Some(saver) = &mut self.0 else {
            return Ok(());
        };
        let picture = Picture {
            x: 0,
            y: 0,
            width: header.width,
            height: header.height,
            stride: header.stride,
            pixels: &pixels,
            segment: None,
            surface: header.surface,
            frame: header.frame.into(),
        };
        saver.show(&picture).map_err(|error| error.to_string())
    }
}
