//! Programs that are run, and the results that they print.

use mgn_verify::Camera;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub struct Program {
    /// A path below the target folder if it contains a slash; may be absolute.
    name: &'static str,
    arguments: &'static [&'static str],
    pub result_kind: ResultKind,
    play: Option<Play>,
}

/// How the result is found in the program's output.
pub enum ResultKind {
    /// The number of this name in the JSON object at the end.
    Json(&'static str),
    Glmark,
    /// The rate of glxgears, which must be interrupted.
    Gears,
    /// No output: the result is the duration of the run in seconds.
    Nothing,
}

/// For a game that follows the clock. The clock advances by a sixtieth of a second with each frame,
/// so the game draws at full speed, and the same frames each time.
pub struct Play {
    pub frames: u64,
    /// FRAME:COMMAND, as for `mgn verify --input`. Frames up to the last of these do not count.
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

    /// The command: the program and its arguments, after the commands that it needs. The library
    /// that fixes the clock is beside `mgn`.
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
    /// Whether a program with this kind of result exits with status 0.
    pub fn ends_well(&self) -> bool {
        !matches!(self, ResultKind::Gears)
    }

    /// The result, from the output and the duration of a run.
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

/// The inverse of the frame time, which has more digits than the rate, from glmark2's line for a
/// scene: `[build] use-vbo=false: FPS: 641 FrameTime: 1.560 ms`.
fn glmark_rate(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with('['))?;
    let time = line.split("FrameTime:").nth(1)?.split_whitespace().next()?;
    Some(1000.0 / time.parse::<f64>().ok()?)
}

/// The rate in the last of glxgears' lines, such as `8662 frames in 5.0 seconds = 1732.400 FPS`.
fn gears_rate(text: &str) -> Option<f64> {
    let line = text.lines().rev().find(|l| l.contains("FPS"))?;
    line.split('=')
        .nth(1)?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}
