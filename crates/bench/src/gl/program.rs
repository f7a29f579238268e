//! Programs that are run, and the results that they print.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use mgn_launch::{fixed_clock_library, inspect};
use mgn_verify::Camera;

use crate::child;
use crate::gl::drawing::demo;
use crate::net::peers::PeerPrograms;

pub struct Program {
    executable: Executable,
    arguments: &'static [&'static str],
    pub result_kind: ResultKind,
    play: Option<Play>,
}

/// Where a program comes from.
pub enum Executable {
    Mgn,
    /// One of our demos.
    Demo(&'static str),
    /// The program `calls.c`, which is compiled here.
    Calls,
    /// Scenes of VTK, in Python.
    Vtk,
    /// A program on the path, or an absolute path.
    Installed(&'static str),
}

/// How the results are read from the program's output.
pub enum ResultKind {
    /// The numbers with these names in the JSON object at the end.
    Json(&'static [&'static str]),
    Glmark,
    /// The rate of glxgears, which must be interrupted.
    Gears,
    /// No output: the result is the duration of the run in seconds.
    Nothing,
}

/// For a game that follows the clock. The clock advances by a sixtieth of a second with each frame.
/// So the game draws at full speed, and draws the same frames in each run.
pub struct Play {
    pub frames: u64,
    /// FRAME:COMMAND, as for `mgn verify --input`. The measurement begins after the last of these
    /// frames.
    pub input: &'static [&'static str],
}

pub const FRAMES: ResultKind = ResultKind::Json(&["frames_per_second"]);

const CALLS: (&str, &str) = ("calls", include_str!("../../programs/calls.c"));
const VTK: (&str, &str) = (
    "vtk_frames.py",
    include_str!("../../programs/vtk_frames.py"),
);

/// The system's Python. Another Python does not find the packages of the system.
const PYTHON: &str = "/usr/bin/python3";

const CHECK_TIMEOUT: Duration = Duration::from_secs(60);

impl Program {
    pub const fn new(
        executable: Executable,
        arguments: &'static [&'static str],
        result_kind: ResultKind,
    ) -> Program {
        Program {
            executable,
            arguments,
            result_kind,
            play: None,
        }
    }

    pub const fn played(
        executable: Executable,
        arguments: &'static [&'static str],
        play: Play,
    ) -> Program {
        Program {
            play: Some(play),
            ..Program::new(executable, arguments, FRAMES)
        }
    }

    /// The whole command: the program and its arguments, preceded by the commands that it needs.
    ///
    /// # Errors
    /// If the program, or a program that it needs, is missing on this machine.
    pub fn words(&self, mgn: &Path, files: &PeerPrograms) -> Result<Vec<OsString>> {
        let mut words: Vec<OsString> = Vec::new();
        if let ResultKind::Gears = self.result_kind {
            words.extend(["timeout", "-s", "INT", "6"].map(OsString::from));
        }
        if let Some(play) = &self.play {
            require("xdotool")?;
            let camera = Camera {
                frames: Some(play.frames),
                rate: true,
                input: play
                    .input
                    .iter()
                    .map(|line| line.parse().expect("a frame and a command"))
                    .collect(),
                ..Camera::new(fixed_clock_library()?)
            };
            words.push("env".into());
            words.extend(camera.assignments(None));
        }
        words.extend(self.executable.words(mgn, files)?);
        words.extend(self.arguments.iter().map(OsString::from));
        Ok(words)
    }
}

impl Executable {
    fn words(&self, mgn: &Path, files: &PeerPrograms) -> Result<Vec<OsString>> {
        Ok(match self {
            Executable::Mgn => vec![mgn.into()],
            Executable::Demo(name) => {
                let path = demo(mgn, name);
                let path = path.with_context(|| {
                    format!("{name} is not in the same folder as mgn: `make build` puts it there")
                })?;
                vec![path.into()]
            }
            Executable::Calls => vec![calls(files)?],
            Executable::Vtk => {
                let mut check = Command::new(PYTHON);
                let found = child::output(check.args(["-c", "import vtk"]), CHECK_TIMEOUT)?;
                if !found.status.success() {
                    bail!("VTK for Python is not installed");
                }
                files.write(VTK.0, VTK.1)?;
                vec![
                    PYTHON.into(),
                    std::path::absolute(files.file(VTK.0))?.into(),
                ]
            }
            Executable::Installed(name) => {
                require(name)?;
                vec![name.into()]
            }
        })
    }
}

fn require(name: &str) -> Result<()> {
    let is_there = match name.contains('/') {
        true => Path::new(name).is_file(),
        false => inspect::in_path(name.as_ref()).is_some(),
    };
    if !is_there {
        let name = name.rsplit('/').next().unwrap_or(name);
        bail!("{name} is not installed");
    }
    Ok(())
}

/// Compiles `calls.c`, unless the compiled program is up to date. Returns the program's path.
fn calls(files: &PeerPrograms) -> Result<OsString> {
    let (name, text) = CALLS;
    let source = format!("{name}.c");
    let program = std::path::absolute(files.file(name))?;
    let is_current = std::fs::read_to_string(files.file(&source)).is_ok_and(|old| old == text);
    if !is_current || !program.is_file() {
        require("cc")?;
        files.write(&source, text)?;
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-o"]).arg(&program);
        compiler.arg(files.file(&source)).args(["-lGL", "-lX11"]);
        child::output(&mut compiler, CHECK_TIMEOUT)?
            .success("cc")
            .context("a C program for OpenGL cannot be made here")?;
    }
    Ok(program.into())
}

impl ResultKind {
    /// Whether a program with this kind of result exits with status 0.
    pub fn ends_well(&self) -> bool {
        !matches!(self, ResultKind::Gears)
    }

    /// The number of results.
    pub fn count(&self) -> usize {
        match self {
            ResultKind::Json(names) => names.len(),
            _ => 1,
        }
    }

    /// Reads the results from the output and the duration of a run.
    pub fn read(&self, text: &str, took: Duration) -> Option<Vec<f64>> {
        match self {
            ResultKind::Json(names) => names.iter().map(|name| json_number(text, name)).collect(),
            ResultKind::Glmark => Some(vec![glmark_rate(text)?]),
            ResultKind::Gears => Some(vec![gears_rate(text)?]),
            ResultKind::Nothing => Some(vec![took.as_secs_f64()]),
        }
    }
}

pub fn json_number(text: &str, name: &str) -> Option<f64> {
    let start = text.find('{')?;
    let value: serde_json::Value = serde_json::from_str(text[start..].trim()).ok()?;
    value.get(name)?.as_f64()
}

/// The inverse of the frame time in glmark2's line for a scene: `[build] use-vbo=false: FPS: 641
/// FrameTime: 1.560 ms`. The frame time has more digits than the rate.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read() {
        let read = |kind: ResultKind, text: &str| kind.read(text, Duration::from_millis(1500));
        let json = "drawn\n{\"a\": 1.5, \"b\": 2}\n";
        assert_eq!(
            read(ResultKind::Json(&["b", "a"]), json),
            Some(vec![2.0, 1.5])
        );
        assert_eq!(read(ResultKind::Json(&["a", "c"]), json), None);
        let line = "=====\n[build] use-vbo=false: FPS: 641 FrameTime: 2.000 ms\n";
        assert_eq!(read(ResultKind::Glmark, line), Some(vec![500.0]));
        let lines =
            "1 frames in 5.0 seconds = 0.2 FPS\n8662 frames in 5.0 seconds = 1732.400 FPS\n";
        assert_eq!(read(ResultKind::Gears, lines), Some(vec![1732.4]));
        assert_eq!(read(ResultKind::Nothing, ""), Some(vec![1.5]));
    }

    #[test]
    fn missing_programs_are_named() {
        let files = PeerPrograms::new("nowhere".into());
        let why = |executable| {
            let program = Program::new(executable, &[], ResultKind::Nothing);
            let words = program.words("/nowhere/bin/mgn".as_ref(), &files);
            format!("{:#}", words.unwrap_err())
        };
        let demo = why(Executable::Demo("rings"));
        assert!(
            demo.contains("rings is not in the same folder as mgn"),
            "{demo}"
        );
        for name in ["no-such-program", "/usr/games/no-such-program"] {
            let said = why(Executable::Installed(name));
            assert_eq!(said, "no-such-program is not installed");
        }
    }
}
