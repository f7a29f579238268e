//! The speed at which a renderer reads its pictures back, by the size of the picture.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::child::{self, PART};
use crate::composite::per_call;
use crate::composite::SIZES;
use crate::plan::{no_conclusions, BenchOptions, ByDistance, Experiment, Figure, Method, ROUNDS};
use crate::record::{Axis, Better, Kind, Plot};
use crate::suite::Suite;

const PLOT: &str = "composite-readback";

/// The time limit of a run, which reads back pictures of one size.
const RUN_TIMEOUT: Duration = Duration::from_secs(20);

pub fn plan(options: &BenchOptions) -> Experiment {
    let sizes = options.full_or_quick(&SIZES[..], &SIZES[..2]);
    let seconds = options.full_or_quick(0.2, 0.05);
    let method = |(reader, with_depth)| -> Box<dyn Method> {
        Box::new(Reading {
            reader,
            with_depth,
            sizes,
            seconds,
        })
    };
    let readers = [
        (Reader::Renderer, false),
        (Reader::Renderer, true),
        (Reader::Memcpy, false),
        (Reader::Memcpy, true),
    ];
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
        methods: readers.map(method).into_iter().collect(),
        by_distance: ByDistance::No,
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

#[derive(Clone, Copy)]
enum Reader {
    /// The renderer of Manganese, in a process of its own.
    Renderer,
    /// The limit: a copy of the same number of bytes in memory.
    Memcpy,
}

struct Reading {
    reader: Reader,
    with_depth: bool,
    sizes: &'static [(usize, usize)],
    seconds: f64,
}

impl Method for Reading {
    fn name(&self) -> String {
        let what = match self.with_depth {
            true => "colours and depths",
            false => "colours",
        };
        match self.reader {
            Reader::Renderer => what.to_string(),
            Reader::Memcpy => format!("memcpy of {what}"),
        }
    }

    fn kind(&self) -> Kind {
        match self.reader {
            Reader::Renderer => Kind::Ours,
            Reader::Memcpy => Kind::Limit,
        }
    }

    fn command(&self) -> String {
        "mgn bench composite".to_string()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let figure = |size: &(usize, usize)| {
            let rate = match self.reader {
                Reader::Renderer => self.read(*size)?,
                Reader::Memcpy => self.copy(*size)?,
            };
            Ok(Figure::new(PLOT, (size.0 * size.1) as f64, rate))
        };
        self.sizes.iter().map(figure).collect()
    }
}

impl Reading {
    /// The pictures per second that a renderer reads back.
    fn read(&self, (width, height): (usize, usize)) -> Result<f64> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([PART, "readback"]);
        command.args([width, height].map(|side| side.to_string()));
        command.arg(self.seconds.to_string());
        command.args(self.with_depth.then_some("--depth"));
        let finished = child::output(&mut command, RUN_TIMEOUT)?.success("a renderer")?;
        finished.stdout.trim().parse().context("a rate")
    }

    fn copy(&self, (width, height): (usize, usize)) -> Result<f64> {
        let pixel = if self.with_depth { 8 } else { 4 };
        let from = vec![1_u8; width * height * pixel];
        let mut into = vec![2_u8; from.len()];
        let each = per_call(self.seconds, || {
            into.copy_from_slice(std::hint::black_box(&from));
            std::hint::black_box(&mut into);
            Ok(())
        })?;
        Ok(1.0 / each)
    }
}
