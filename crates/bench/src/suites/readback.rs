//! How fast a renderer reads its pictures back, by the size of the picture.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::composite::{per_call, SIZES};
use crate::child::{self, PART};
use crate::plan::{no_conclusions, BenchOptions, Experiment, Figure, Method, ROUNDS};
use crate::record::{Axis, Better, Kind, Plot};
use crate::suite::Suite;

const PLOT: &str = "composite-readback";

/// The time limit for reading back pictures of one size.
const RUN_TIMEOUT: Duration = Duration::from_secs(20);

pub fn plan(options: &BenchOptions) -> Experiment {
    let sizes = options.full_or_quick(&SIZES[..], &SIZES[..2]);
    let seconds = options.full_or_quick(0.2, 0.05);
    let method = |with_depth, is_ours| -> Box<dyn Method> {
        match is_ours {
            true => Box::new(ReadBack {
                with_depth,
                sizes,
                seconds,
            }),
            false => Box::new(Copy {
                with_depth,
                sizes,
                seconds,
            }),
        }
    };
    Experiment {
        suite: Suite::Composite,
        key: PLOT.replace('-', " "),
        plots: vec![Plot::new(
            PLOT,
            "A renderer reads its pictures back",
            Axis::log("pixels", ""),
            Axis::log("rate", "frames/s"),
            Better::More,
        )],
        methods: vec![
            method(false, true),
            method(true, true),
            method(false, false),
            method(true, false),
        ],
        depends_on_distance: false,
        budget: Duration::from_secs(options.full_or_quick(60, 3)),
        rounds: ROUNDS,
        notes: vec![
            "one renderer; nothing is drawn between the pictures; colours take 4 bytes per pixel, depths another 4"
                .to_string(),
        ],
        goals: Vec::new(),
        conclude: no_conclusions,
    }
}

/// The renderer of Manganese, in a process of its own.
struct ReadBack {
    with_depth: bool,
    sizes: &'static [(usize, usize)],
    seconds: f64,
}

impl Method for ReadBack {
    fn name(&self) -> String {
        match self.with_depth {
            true => "colours and depths".to_string(),
            false => "colours".to_string(),
        }
    }

    fn kind(&self) -> Kind {
        Kind::Ours
    }

    fn command(&self) -> String {
        "mgn bench composite".to_string()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let figure = |(width, height): &(usize, usize)| {
            let mut command = Command::new(std::env::current_exe()?);
            command.args([PART, "readback"]);
            command.args([width, height].map(usize::to_string));
            command.arg(self.seconds.to_string());
            command.args(self.with_depth.then_some("--depth"));
            let finished = child::output(&mut command, RUN_TIMEOUT)?.success("a renderer")?;
            let rate: f64 = finished.stdout.trim().parse().context("a rate")?;
            Ok(Figure::new(PLOT, (width * height) as f64, rate))
        };
        self.sizes.iter().map(figure).collect()
    }
}

/// The limit: the same bytes are copied in memory.
struct Copy {
    with_depth: bool,
    sizes: &'static [(usize, usize)],
    seconds: f64,
}

impl Method for Copy {
    fn name(&self) -> String {
        match self.with_depth {
            true => "memcpy of colours and depths".to_string(),
            false => "memcpy of colours".to_string(),
        }
    }

    fn kind(&self) -> Kind {
        Kind::Limit
    }

    fn command(&self) -> String {
        "mgn bench composite".to_string()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let pixel = if self.with_depth { 8 } else { 4 };
        let figure = |(width, height): &(usize, usize)| {
            let from = vec![1_u8; width * height * pixel];
            let mut into = vec![2_u8; from.len()];
            let each = per_call(self.seconds, || {
                into.copy_from_slice(std::hint::black_box(&from));
                std::hint::black_box(&mut into);
                Ok(())
            })?;
            Ok(Figure::new(PLOT, (width * height) as f64, 1.0 / each))
        };
        self.sizes.iter().map(figure).collect()
    }
}
