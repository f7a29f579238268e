//! What is run, and what it says of its speed.

use mgn_verify::Camera;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub struct Program {
    /// With a slash, a file below the target folder, or an absolute path.
    name: &'static str,
    arguments: &'static [&'static str],
    pub result_kind: ResultKind,
    play: Option<Play>,
}

/// Which number on its standard output is the result.
pub enum ResultKind {
    /// The one of this name, of a JSON object that comes last.
    Json(&'static str),
    Glmark,
    /// And it must be interrupted.
    Gears,
    /// None: the result is how many seconds the run takes.
    Nothing,
}

/// For a game that follows the clock: one that goes on by a sixtieth of a second with each frame,
/// so that it draws as many as it can, and the same each time.
pub struct Play {
    pub frames: u64,
    /// FRAME:COMMAND, as for `mgn verify --input`; what is drawn until the last of them does not
    /// count.
    pub input: &'static [&'static str],
}

pub const FRAMES: &str = "frames_per_second";

impl Program {
    pub const fn new(
        name: &'static str,
        arguments: &'static [&'static str],
        result_kind: ResultKind,
    ) -> Program {
        Program {
            name,
            arguments,
            result_kind,
            play: None,
        }
    }

    pub const fn played(
        name: &'static str,
        arguments: &'static [&'static str],
        play: Play,
    ) -> Program {
        Program {
            name,
            arguments,
            result_kind: ResultKind::Json(FRAMES),
            play: Some(play),
        }
    }

    /// What to start: the program and its arguments, behind what it needs. The library that fixes
    /// the clock is beside `mgn`.
    pub fn words(&self, target: &Path, mgn: &Path) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        if let ResultKind::Gears = self.result_kind {
            words.extend(["timeout", "-s", "INT", "6"].map(OsString::from));
        }
        if let Some(play) = &self.play {
            let camera = Camera {
                frames: Some(play.frames),
                rate: true,
                input: play
                    .input
                    .iter()
                    .map(|line| line.parse().expect("a frame and a command"))
                    .collect(),
                ..Camera::new(mgn.with_file_name(mgn_launch::FIXED_CLOCK_FILE))
            };
            words.push("env".into());
            words.extend(camera.assignments(None));
        }
        words.push(if self.name.contains('/') {
            target.join(self.name).into()
        } else {
            PathBuf::from(self.name).into()
        });
        words.extend(self.arguments.iter().map(OsString::from));
        words
    }
}

impl ResultKind {
    /// Whether a program that says its result so ends with success.
    pub fn ends_well(&self) -> bool {
        !matches!(self, ResultKind::Gears)
    }

    /// The result in what a program has printed, and in how long its run took.
    pub fn read(&self, text: &str, took: Duration) -> Option<f64> {
        match self {
            ResultKind::Json(name) => json_number(text, name),
            ResultKind::Glmark => glmark_rate(text),
            ResultKind::Gears => gears_rate(text),
            ResultKind::Nothing => Some(took.as_secs_f64()),
        }
    }
}

pub fn json_number(text: &str, name: &str) -> Option<f64> {
    let start = text.find('{')?;
    let value: serde_json::Value = serde_json::from_str(text[start..].trim()).ok()?;
    value.get(name)?.as_f64()
}

/// Of glmark2's line of its scene, as `[build] use-vbo=false: FPS: 641 FrameTime: 1.560 ms`, the
/// inverse of the frame time, which has more digits.
fn glmark_rate(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with('['))?;
    let time = line.split("FrameTime:").nth(1)?.split_whitespace().next()?;
    Some(1000.0 / time.parse::<f64>().ok()?)
}

/// The last of glxgears' lines, as `8662 frames in 5.0 seconds = 1732.400 FPS`.
fn gears_rate(text: &str) -> Option<f64> {
    let line = text.lines().rev().find(|l| l.contains("FPS"))?;
    line.split('=')
        .nth(1)?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}
