//! ParaView, unchanged, over IceT and over Manganese's library with IceT's interface. The result is
//! the time from when the last process has drawn its picture until the first process has the merged
//! picture.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use mgn_launch::inspect::in_path;
use mgn_launch::{icet_library, RunDir, Xvfb};

use super::icet::{installed, starting, COMPILER, COMPILE_TIMEOUT};
use crate::argv::Argv;
use crate::child;
use crate::net::peers::PeerPrograms;
use crate::plan::{no_conclusions, BenchOptions, ByDistance, Experiment, Figure, Method, ROUNDS};
use crate::record::{Axis, Better, Kind, Plot};
use crate::suite::Suite;

const TIMES: &str = include_str!("../../programs/icet_frames.c");
const SCRIPT: &str = include_str!("../../programs/paraview_frames.py");

const PROCESSES: usize = 8;
const SIZE: (usize, usize) = (1024, 768);

/// The number of frames before the measurement. In these frames, shaders are compiled, and
/// processes map each other's memory.
const WARM_UP: usize = 2;
const FRAMES: usize = 5;

const RUN_TIMEOUT: Duration = Duration::from_secs(180);

/// The scenes of the script, in its order: the plot, and what the scene shows.
const SCENES: [(&str, &str); 2] = [
    ("composite-paraview-surface", "a surface, the nearest depth"),
    (
        "composite-paraview-volume",
        "a translucent volume, blended in order",
    ),
];

pub fn plan(options: &BenchOptions) -> Experiment {
    let method = |is_ours| -> Box<dyn Method> {
        Box::new(ParaView {
            peers: options.peers.clone(),
            is_ours,
        })
    };
    let plot = |(id, what): (&str, &str)| {
        Plot::new(
            id.to_string(),
            format!("ParaView, from the last process's picture to the merged one: {what}"),
            Axis::log("pixels", ""),
            Axis::log("time", "ms"),
            Better::Less,
        )
    };
    Experiment {
        suite: Suite::Composite,
        key: "composite paraview".to_string(),
        plots: SCENES.map(plot).to_vec(),
        methods: vec![method(true), method(false)],
        by_distance: ByDistance::No,
        budget: Duration::from_secs(400),
        rounds: ROUNDS,
        notes: vec![format!(
            "{PROCESSES} processes of pvbatch draw with the local driver, which takes most of the time of a frame"
        )],
        goals: Vec::new(),
        conclude: no_conclusions,
    }
}

struct ParaView {
    peers: Rc<PeerPrograms>,
    /// Whether ParaView uses Manganese's library.
    is_ours: bool,
}

impl ParaView {
    /// The path of the library that measures the times.
    fn times(&self) -> PathBuf {
        self.peers.file("icet_frames.so")
    }

    fn compiling(&self, include: &Path) -> Argv {
        let files = [self.times(), self.peers.file("icet_frames.c")];
        Argv::new([COMPILER, "-shared", "-fPIC", "-O2", "-o"])
            .args(files.iter().map(|file| file.display()))
            .args([format!("-I{}", include.display())])
    }

    /// `icet` is the name of IceT's library.
    fn argv(&self, icet: &str) -> Argv {
        let (width, height) = SIZE;
        let display = |path: PathBuf| path.display().to_string();
        let argv = starting(PROCESSES)
            .args(["env"])
            .args([format!("LD_PRELOAD={}", display(self.times()))])
            .args(["pvbatch", "--sym"])
            .args([display(self.peers.file("paraview_frames.py"))])
            .args([width, height, WARM_UP + FRAMES])
            .env("ICET_LIBRARY", icet)
            .env("ICET_FRAMES", &display(self.peers.file("icet_frames")));
        match self.is_ours {
            true => argv.env("LD_LIBRARY_PATH", &display(self.peers.file("icet-library"))),
            false => argv,
        }
    }

    /// For each process, the times of all frames: when its picture was drawn, and when it was
    /// composited.
    fn frames(&self) -> Result<Vec<Vec<[f64; 2]>>> {
        let frames = |rank: usize| {
            let text = fs::read_to_string(self.peers.file(&format!("icet_frames.{rank}")))
                .context("ParaView did not composite")?;
            let frame = |line: &str| {
                let (drawn, merged) = line.split_once(' ')?;
                Some([drawn.parse().ok()?, merged.parse().ok()?])
            };
            let frames: Option<Vec<[f64; 2]>> = text.lines().map(frame).collect();
            let frames = frames.context("the times of ParaView's frames")?;
            let wanted = SCENES.len() * (WARM_UP + FRAMES);
            ensure!(
                frames.len() == wanted,
                "ParaView composited {} frames, not {wanted}",
                frames.len()
            );
            Ok(frames)
        };
        (0..PROCESSES).map(frames).collect()
    }
}

/// The mean time in seconds from when the last process has drawn until the first process has the
/// picture.
fn mean_time(frames: &[Vec<[f64; 2]>], scene: usize) -> f64 {
    let first = scene * (WARM_UP + FRAMES) + WARM_UP;
    let time = |at: usize| {
        let drawn = frames.iter().map(|process| process[at][0]);
        frames[0][at][1] - drawn.fold(f64::MIN, f64::max)
    };
    (first..first + FRAMES).map(time).sum::<f64>() / FRAMES as f64
}

impl Method for ParaView {
    fn name(&self) -> String {
        match self.is_ours {
            true => "Manganese",
            false => "IceT",
        }
        .to_string()
    }

    fn kind(&self) -> Kind {
        match self.is_ours {
            true => Kind::Ours,
            false => Kind::Peer,
        }
    }

    fn command(&self) -> String {
        match installed() {
            Ok(installed) => {
                let compiling = self.compiling(&installed.include);
                format!("{compiling} && {}", self.argv(&installed.name()))
            }
            Err(_) => self.argv("libIceTCore.so").to_string(),
        }
    }

    fn missing(&self) -> Option<String> {
        if let Err(missing) = installed() {
            return Some(missing);
        }
        let programs = ["pvbatch", "Xvfb"];
        let missing = programs
            .into_iter()
            .find(|name| in_path(name.as_ref()).is_none());
        missing.map(|name| format!("{name} is not installed"))
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let installed = installed().map_err(anyhow::Error::msg)?;
        self.peers.write("icet_frames.c", TIMES)?;
        self.peers.write("paraview_frames.py", SCRIPT)?;
        child::output(
            &mut self.compiling(&installed.include).command(),
            COMPILE_TIMEOUT,
        )?
        .success(COMPILER)?;
        let run = RunDir::create()?;
        if self.is_ours {
            let folder = self.peers.file("icet-library");
            fs::create_dir_all(&folder)?;
            let link = folder.join(installed.name());
            let _ = fs::remove_file(&link);
            symlink(icet_library()?, &link).context("cannot link the library")?;
        }
        for rank in 0..PROCESSES {
            let _ = fs::remove_file(self.peers.file(&format!("icet_frames.{rank}")));
        }
        let xvfb = Xvfb::start(&run)?;
        let mut command = self.argv(&installed.name()).command();
        command
            .env("DISPLAY", xvfb.display())
            .env("XAUTHORITY", xvfb.authority())
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            // The library leaves a file in this folder.
            .env("MGN_RUN_DIR", run.path());
        child::output(&mut command, RUN_TIMEOUT)?.success("pvbatch")?;
        let frames = self.frames()?;
        let pixels = (SIZE.0 * SIZE.1) as f64;
        let figure = |(scene, (plot, _)): (usize, (&str, &str))| {
            Figure::new(plot, pixels, mean_time(&frames, scene) * 1e3)
        };
        Ok(SCENES.into_iter().enumerate().map(figure).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_process_begins_the_time() {
        let scenes = SCENES.len() * (WARM_UP + FRAMES);
        let process = |drawn: f64, merged: f64| {
            let frame = |at: usize| {
                // The frames that do not count take long.
                let is_warm = at % (WARM_UP + FRAMES) >= WARM_UP;
                let merged = if is_warm { merged } else { 90.0 };
                [at as f64 * 100.0 + drawn, at as f64 * 100.0 + merged]
            };
            (0..scenes).map(frame).collect()
        };
        let frames: Vec<Vec<[f64; 2]>> = vec![process(1.0, 7.5), process(7.0, 9.0)];
        for scene in 0..SCENES.len() {
            assert!((mean_time(&frames, scene) - 0.5).abs() < 1e-9);
        }
    }
}
