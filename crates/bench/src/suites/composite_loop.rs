//! The whole loop of sort-last rendering. Unmodified programs draw their shares, each on its own
//! renderer. The pictures are read back and merged, and the result is shown. The results are by the
//! size of the picture.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;

use super::demo::missing;
use super::unavailable::unavailable;
use crate::composite::SIZES;
use crate::gl::drawing::{demo, PrivateDisplay, Rendering, Scene, WARM_UP_FRAMES};
use crate::plan::{no_conclusions, BenchOptions, ByDistance, Experiment, Figure, Method, ROUNDS};
use crate::record::{Axis, Better, Kind, Plot};
use crate::suite::Suite;

/// A program, its arguments, how the pictures of its copies are merged, and what the pictures show.
type Composited = (
    &'static str,
    &'static [&'static str],
    &'static str,
    &'static str,
);

const LOOPS: [Composited; 2] = [
    (
        "iso_demo",
        &["--mode", "static", "--triangles", "120000"],
        "depth",
        "an isosurface, the nearest depth",
    ),
    ("volume", &[], "over", "a volume, blended in order"),
];

/// The name of a method, the number of copies of the program, and the flags of `mgn run`. The flags
/// are `None` for the local driver.
type Line = (&'static str, usize, Option<String>);

/// The number of frames that are measured in each run.
const FRAMES: u64 = 8;

/// The time limit of the clock library. The programs end earlier, after their frames.
const SECONDS: f64 = 120.0;

const RUN_TIMEOUT: Duration = Duration::from_secs(120);

pub fn plan(options: &BenchOptions) -> Vec<Experiment> {
    let mut paths = Vec::new();
    for (name, ..) in LOOPS {
        match demo(&options.mgn, name) {
            Some(path) => paths.push(path),
            None => return vec![unavailable(Suite::Composite, missing(name))],
        }
    }
    let display = PrivateDisplay::new(&options.mgn);
    let experiment = |(path, (_, arguments, operation, what)): (PathBuf, Composited)| {
        let plot = format!("composite-loop-{operation}");
        let method = |(line, copies, flags): &Line| -> Box<dyn Method> {
            Box::new(Loop {
                line,
                flags: flags.clone(),
                plot: plot.clone(),
                words: words(&path, arguments, *copies),
                sizes: options.full_or_quick(&SIZES[..], &SIZES[..1]),
                display: display.clone(),
            })
        };
        let composite = format!("-np 8 --composite {operation}");
        let lines = [
            ("8 renderers", 8, Some(composite.clone())),
            (
                "8 renderers, swap barrier",
                8,
                Some(format!("{composite} --swap-barrier shm")),
            ),
            ("1 renderer", 1, Some(String::new())),
            ("direct", 1, None),
        ];
        let count = options.full_or_quick(lines.len(), 1);
        Experiment {
            suite: Suite::Composite,
            key: plot.replace('-', " "),
            plots: vec![Plot::new(
                plot.clone(),
                format!("Drawn, read back, merged and shown: {what}"),
                Axis::log("pixels", ""),
                Axis::log("rate", "frames/s"),
                Better::More,
            )],
            methods: lines.iter().take(count).map(method).collect(),
            by_distance: ByDistance::No,
            budget: Duration::from_secs(options.full_or_quick(600, 5)),
            rounds: ROUNDS,
            notes: vec![
                "each renderer is Mesa's software renderer; a private X server shows the result"
                    .to_string(),
                "with 8 renderers, 8 copies of the program draw an eighth of the data each; with 1 renderer and directly, one copy draws all of it"
                    .to_string(),
            ],
            goals: Vec::new(),
            conclude: no_conclusions,
        }
    };
    paths.into_iter().zip(LOOPS).map(experiment).collect()
}

/// The program and its arguments, except for the size.
fn words(path: &Path, arguments: &[&str], copies: usize) -> Vec<OsString> {
    let frames = (WARM_UP_FRAMES + FRAMES).to_string();
    // `mgn run -np` replaces these by the number of the copy and the number of copies.
    let part: &[&str] = match copies {
        1 => &[],
        _ => &["--part", "%r/%n"],
    };
    let arguments = arguments.iter().chain(part);
    let arguments = arguments.chain(&["--frames"]).map(OsString::from);
    let words = [path.into()].into_iter().chain(arguments);
    words.chain([frames.into()]).collect()
}

struct Loop {
    line: &'static str,
    /// The flags of `mgn run`, or `None` for the local driver.
    flags: Option<String>,
    plot: String,
    words: Vec<OsString>,
    sizes: &'static [(usize, usize)],
    display: Rc<PrivateDisplay>,
}

impl Loop {
    fn rendering(&self) -> Rendering {
        let flags = self.flags.as_deref();
        flags.map_or(Rendering::Direct, Rendering::ours)
    }

    fn scene(&self, (width, height): (usize, usize)) -> Scene {
        let size = ["--size".into(), format!("{width}x{height}").into()];
        Scene {
            words: self.words.iter().cloned().chain(size).collect(),
            seconds: SECONDS,
            limit: RUN_TIMEOUT,
        }
    }
}

impl Method for Loop {
    fn name(&self) -> String {
        self.line.to_string()
    }

    fn kind(&self) -> Kind {
        match self.flags {
            Some(_) => Kind::Ours,
            None => Kind::Limit,
        }
    }

    fn command(&self) -> String {
        self.rendering().command(&self.scene(SIZES[2]))
    }

    fn missing(&self) -> Option<String> {
        self.rendering().missing()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let figure = |size: &(usize, usize)| {
            let drawn = self
                .display
                .draw(&[], &self.rendering(), &self.scene(*size))?;
            let pixels = (size.0 * size.1) as f64;
            let rate = drawn.rate.frames_per_second;
            Ok(Figure::new(&self.plot, pixels, rate))
        };
        self.sizes.iter().map(figure).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both programs are needed, and the reason names the one that is missing.
    #[test]
    fn a_missing_program_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let demos = folder.path().join("lib/manganese");
        std::fs::create_dir_all(&demos).unwrap();
        let options = BenchOptions {
            mgn: folder.path().join("bin/mgn"),
            ..BenchOptions::of_nowhere(true)
        };
        for (name, _, _, _) in LOOPS {
            let planned = plan(&options);
            let why = planned[0].methods[0].missing().unwrap();
            assert_eq!(planned.len(), 1);
            assert!(why.starts_with(&format!("{name} is not")), "{why}");
            std::fs::write(demos.join(name), "").unwrap();
        }
        assert_eq!(plan(&options).len(), LOOPS.len());
    }
}
