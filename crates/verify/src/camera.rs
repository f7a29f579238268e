//! Runs that are the same each time: clock and random numbers fixed, frames photographed and
//! counted. The library that does it, in `fixed_clock`, is preloaded into the program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// How to take pictures of a run.
#[derive(Clone, Debug)]
pub struct Camera {
    /// The library; see [`mgn_launch::fixed_clock_library`].
    pub library: PathBuf,
    /// End the program after this number of frames.
    pub frames: Option<u64>,
    /// End it this number of true seconds after the frame from which the rate counts.
    pub seconds: Option<f64>,
    /// The first frame that the rate counts from.
    pub warm: u64,
    /// Take a picture each time this number of frames has passed.
    pub every: u64,
    /// The seed of random numbers.
    pub seed: u32,
    /// Nanoseconds from frame to frame, as the program sees them.
    pub step: u64,
    pub input: Vec<Input>,
    /// Have a line of JSON printed in the end with `frames_per_second` and more, in true time,
    /// since the last input; see `fixed_clock.h`.
    pub rate: bool,
}

/// A command that is run when a frame has been shown, and that the program waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub frame: u64,
    /// For the shell.
    pub command: String,
}

impl Camera {
    pub fn new(library: PathBuf) -> Camera {
        Camera {
            library,
            frames: None,
            seconds: None,
            warm: 1,
            every: 1,
            seed: 1,
            step: 1_000_000_000 / 60,
            input: Vec::new(),
            rate: false,
        }
    }

    /// The variables to add to a program's environment so that its pictures are in `folder`, which
    /// must be empty, as `frame-000001.ppm` and so on; without a folder none are taken.
    pub fn environment(&self, folder: Option<&Path>) -> Vec<(OsString, OsString)> {
        let mut all: Vec<(OsString, OsString)> = vec![
            ("LD_PRELOAD".into(), self.before_preloaded()),
            ("MGN_SHOTS_EVERY".into(), self.every.to_string().into()),
            ("MGN_CLOCK_SEED".into(), self.seed.to_string().into()),
            ("MGN_CLOCK_STEP_NS".into(), self.step.to_string().into()),
        ];
        if let Some(folder) = folder {
            all.push(("MGN_SHOTS_DIR".into(), folder.into()));
        }
        if let Some(frames) = self.frames {
            all.push(("MGN_SHOTS_FRAMES".into(), frames.to_string().into()));
        }
        if self.warm > 1 {
            all.push(("MGN_SHOTS_WARM".into(), self.warm.to_string().into()));
        }
        if let Some(seconds) = self.seconds {
            all.push(("MGN_SHOTS_SECONDS".into(), seconds.to_string().into()));
        }
        if !self.input.is_empty() {
            let lines: Vec<String> = self.input.iter().map(Input::to_string).collect();
            all.push(("MGN_SHOTS_INPUT".into(), lines.join("\n").into()));
        }
        if self.rate {
            all.push(("MGN_SHOTS_RATE".into(), "1".into()));
        }
        all
    }

    /// The same as `NAME=VALUE`, for `env` to start a program with. `mgn` itself, before it, keeps
    /// the true clock.
    pub fn assignments(&self, folder: Option<&Path>) -> Vec<OsString> {
        let variables = self.environment(folder).into_iter();
        variables
            .map(|(mut name, value)| {
                name.push("=");
                name.push(value);
                name
            })
            .collect()
    }

    fn before_preloaded(&self) -> OsString {
        let mut all = self.library.clone().into_os_string();
        if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|o| !o.is_empty()) {
            all.push(":");
            all.push(others);
        }
        all
    }
}

impl std::fmt::Display for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.frame, self.command)
    }
}

impl FromStr for Input {
    type Err = String;

    fn from_str(text: &str) -> Result<Input, String> {
        let wanted = "write FRAME:COMMAND, for example 10:'xdotool key Return'";
        let (frame, command) = text.split_once(':').ok_or(wanted)?;
        let frame = frame.parse().ok().filter(|&f| f > 0).ok_or(wanted)?;
        if command.trim().is_empty() || command.contains('\n') {
            return Err("the command must be one line".into());
        }
        Ok(Input {
            frame,
            command: command.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_is_a_frame_and_a_line() {
        let input: Input = "10:xdotool key a:b".parse().unwrap();
        assert_eq!((input.frame, &*input.command), (10, "xdotool key a:b"));
        assert_eq!(input.to_string(), "10:xdotool key a:b");
        for wrong in ["", "10", "x:ls", "0:ls", "-1:ls", "5:", "5: ", "5:a\nb"] {
            assert!(wrong.parse::<Input>().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn pictures_are_taken_only_into_a_folder() {
        let mut camera = Camera::new("/lib/clock.so".into());
        camera.frames = Some(7);
        let names = |folder: Option<&Path>| -> Vec<String> {
            let all = camera.environment(folder).into_iter();
            all.map(|(name, _)| name.into_string().unwrap()).collect()
        };
        assert!(names(Some(Path::new("/x"))).contains(&"MGN_SHOTS_DIR".into()));
        assert!(!names(None).contains(&"MGN_SHOTS_DIR".into()));
        assert!(names(None).contains(&"MGN_SHOTS_FRAMES".into()));
    }
}
