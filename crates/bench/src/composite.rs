//! The processes that composite, and their work.

use std::fmt::{self, Display, Formatter};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use mgn_barrier::{JobBarrier, Kind};
use mgn_composite::{
    Color, Depth, Format, Group, Operation, Picture, Rectangle, Schedule, Terms, UnknownSchedule,
};
use mgn_fabric::job::Job;

use crate::child::PART;

/// How long the processes wait for each other.
const GROUP_TIMEOUT: Duration = Duration::from_secs(30);

/// The pixels of a picture repeat after this number. It is a prime, so that rows differ.
const BLOCK: usize = 65521;

/// Frames before the measurement begins.
const WARM_UP: usize = 3;

/// The six sizes in the tables of the VG Cluster, and two larger ones.
pub const SIZES: [(usize, usize); 8] = [
    (256, 256),
    (512, 512),
    (1024, 768),
    (1024, 1024),
    (1280, 1024),
    (1600, 1200),
    (2048, 2048),
    (3840, 2160),
];

/// A point of a plot, and the work that is measured for it.
#[derive(Clone)]
pub struct Case {
    pub plot: String,
    pub x: f64,
    pub work: Work,
}

/// The work of a group of renderers and a display in each frame.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    pub renderers: usize,
    pub width: usize,
    pub height: usize,
    pub operation: Operation,
    pub route: Route,
    /// Each renderer draws a quarter of its picture, and each draws at a different position.
    pub is_sparse: bool,
    /// All processes pass a barrier of this kind before each composition. A system needs one if its
    /// compositor cannot tell when a picture is complete.
    pub barrier: Option<Kind>,
}

/// How the pictures are composited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The group chooses.
    Chosen,
    /// By this schedule, in shared memory if the schedule supports it, otherwise by messages.
    By(Schedule),
    /// By this schedule, by messages, as between hosts.
    ByMessages(Schedule),
    /// As on this number of hosts: in shared memory within a host, and by messages between hosts.
    OnHosts(usize),
}

const CHOSEN: &str = "the library's choice";
const MESSAGES: &str = " by messages";
const HOSTS: &str = " hosts";

impl Display for Route {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Route::Chosen => f.write_str(CHOSEN),
            Route::By(schedule) => schedule.fmt(f),
            Route::ByMessages(schedule) => write!(f, "{schedule}{MESSAGES}"),
            Route::OnHosts(hosts) => write!(f, "{hosts}{HOSTS}"),
        }
    }
}

impl FromStr for Route {
    type Err = UnknownSchedule;

    fn from_str(name: &str) -> Result<Route, UnknownSchedule> {
        let hosts = name
            .strip_suffix(HOSTS)
            .and_then(|number| number.parse().ok());
        if let Some(hosts) = hosts {
            return Ok(Route::OnHosts(hosts));
        }
        match name.strip_suffix(MESSAGES) {
            Some(name) => Ok(Route::ByMessages(name.parse()?)),
            None if name == CHOSEN => Ok(Route::Chosen),
            None => Ok(Route::By(name.parse()?)),
        }
    }
}

/// One of the processes: a renderer, or the display, which has the last rank and no picture.
#[derive(Debug, clap::Args)]
pub struct Compositor {
    job: String,
    rank: usize,
    renderers: usize,
    width: usize,
    height: usize,
    operation: Operation,
    route: Route,
    frames: usize,
    #[arg(long)]
    sparse: bool,
    #[arg(long)]
    barrier: Option<Kind>,
}

impl Work {
    pub fn pixels(&self) -> usize {
        self.width * self.height
    }

    /// The total bytes of all renderers' pictures in a frame.
    pub fn bytes(&self) -> usize {
        let format = self.format();
        let pixel = format.color.channel().pixel_bytes() + format.depth_bytes();
        self.renderers * self.pixels() * pixel
    }

    pub fn format(&self) -> Format {
        Format {
            color: Color::Rgba8,
            depth: (self.operation == Operation::Nearest).then_some(Depth::Float),
        }
    }

    /// The picture of one renderer. All renderers have different pictures.
    pub fn picture(&self, rank: usize) -> Picture {
        let value = |at: usize| (at.wrapping_mul(2_654_435_761) >> 8).wrapping_add(rank * 977);
        let color = |at: usize| {
            let alpha = value(at) % 256;
            [alpha / 2, alpha / 3, alpha / 5, alpha].map(|channel| channel as u8)
        };
        let depth = |at: usize| ((value(at) % 4093) as f32 / 4096.0).to_ne_bytes();
        // Computing every pixel would take longer than compositing them.
        let pixels = self.pixels();
        let repeated = |block: Vec<u8>| {
            let mut bytes = block.repeat(pixels.div_ceil(BLOCK));
            bytes.truncate(4 * pixels);
            bytes
        };
        Picture {
            color: repeated((0..BLOCK).flat_map(color).collect()),
            depth: match self.format().depth {
                Some(_) => repeated((0..BLOCK).flat_map(depth).collect()),
                None => Vec::new(),
            },
        }
    }

    /// The part of the picture that this renderer draws.
    fn covered(&self, rank: usize) -> Rectangle {
        let (width, height) = (self.width, self.height);
        let part = |start: usize, whole: usize| match self.is_sparse {
            true => start * whole / 4..start * whole / 4 + whole / 2,
            false => 0..whole,
        };
        Rectangle {
            columns: part(rank % 3, width),
            rows: part(rank / 3, height),
        }
    }

    /// Starts the processes, and composites `frames` frames. Returns the frames per second.
    pub fn run(&self, frames: usize) -> Result<f64> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let job = format!("bench-composite-{}-{number}", std::process::id());
        let start = |rank: usize| -> Result<Running> {
            let mut command = Command::new(std::env::current_exe()?);
            command.args([PART, "compositor", &job]);
            command.args([rank, self.renderers, self.width, self.height].map(|n| n.to_string()));
            command.args([self.operation.to_string(), self.route.to_string()]);
            command.arg(frames.to_string());
            command.args(self.is_sparse.then_some("--sparse"));
            if let Some(barrier) = self.barrier {
                command.args(["--barrier", &barrier.to_string()]);
            }
            command.stdin(Stdio::null()).stdout(Stdio::piped());
            mgn_sys::process::end_with_us(&mut command);
            Ok(Running(command.spawn().context("cannot run this program")?))
        };
        let mut all: Vec<Running> = (0..=self.renderers).map(start).collect::<Result<_>>()?;
        let display = all.last_mut().context("there is a display")?;
        let says = display.0.stdout.take().context("its output")?;
        let mut line = String::new();
        BufReader::new(says).read_line(&mut line)?;
        let seconds: f64 = line.trim().parse().context("the display has failed")?;
        for running in &mut all {
            let status = running.0.wait()?;
            if !status.success() {
                bail!("a process that composites has failed: {status}");
            }
        }
        Ok(frames as f64 / seconds)
    }
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Compositor {
    pub fn run(&self) -> Result<()> {
        let work = Work {
            renderers: self.renderers,
            width: self.width,
            height: self.height,
            operation: self.operation,
            route: self.route,
            is_sparse: self.sparse,
            barrier: self.barrier,
        };
        let display = self.renderers;
        let hosts = vec!["localhost".to_string(); self.renderers + 1];
        let member = Arc::new(Job::new(&self.job, self.rank as u32, hosts)?.join()?);
        let open = |kind| {
            let options = mgn_barrier::Options {
                kind,
                patience: GROUP_TIMEOUT,
                ..mgn_barrier::Options::default()
            };
            JobBarrier::open(member.clone(), &options)
        };
        let mut barrier = self.barrier.map(open).transpose()?;
        let (schedule, host) = match self.route {
            Route::Chosen => (None, None),
            Route::By(schedule) => (Some(schedule), None),
            Route::ByMessages(schedule) => (Some(schedule), Some(self.rank)),
            Route::OnHosts(hosts) => (None, Some(self.rank * hosts / (self.renderers + 1))),
        };
        let mut group = match host {
            None => Group::new(&member, 0, GROUP_TIMEOUT)?,
            Some(host) => Group::on_simulated_host(&member, 0, GROUP_TIMEOUT, host as u32)?,
        };
        let terms = Terms {
            width: work.width,
            height: work.height,
            origin: [0, 0],
            format: work.format(),
            operation: work.operation,
            schedule,
            order: Some((0..self.renderers).collect()),
            to: Some(display),
        };
        let from = match self.rank == display {
            true => Picture::default(),
            false => work.picture(self.rank),
        };
        let covered = work.covered(self.rank);
        let mut start = Instant::now();
        for frame in 0..WARM_UP + self.frames {
            if frame == WARM_UP {
                start = Instant::now();
            }
            if self.rank != display {
                // Each renderer draws its part again in each frame.
                let picture = group.draw(&terms)?;
                let width = work.width;
                for row in covered.rows.clone() {
                    let [start, end] = [covered.columns.start, covered.columns.end]
                        .map(|column| 4 * (row * width + column));
                    picture.color[start..end].copy_from_slice(&from.color[start..end]);
                    if !picture.depth.is_empty() {
                        picture.depth[start..end].copy_from_slice(&from.depth[start..end]);
                    }
                }
            }
            if let Some(barrier) = &mut barrier {
                barrier.pass(0, Some(GROUP_TIMEOUT))?;
            }
            group.composite_drawn(&terms, work.is_sparse.then(|| covered.clone()))?;
        }
        if self.rank == display {
            println!("{}", start.elapsed().as_secs_f64());
        }
        drop((group, barrier));
        member.leave();
        Ok(())
    }
}

/// The seconds that a call takes.
pub fn per_call(seconds: f64, mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    call()?;
    let (start, mut calls) = (Instant::now(), 0);
    while start.elapsed().as_secs_f64() < seconds {
        call()?;
        calls += 1;
    }
    Ok(start.elapsed().as_secs_f64() / f64::from(calls.max(1)))
}
