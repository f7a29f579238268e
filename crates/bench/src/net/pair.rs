//! A run of two processes of this program. The first leads it, by telling the second how often to
//! do what, and prints what was measured.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::argv::Argv;
use crate::child;
use crate::net::measure::{Sample, Test, COMPUTE, OVERLAP_PARTS, PERCENTILES, SWEEP, TIMES};
use crate::net::{memory, ours, peers, sockets};
use crate::probe::{pin, processor};
use crate::statistics::{histogram, percentile};
use crate::PART;

/// One of the two processes of a run.
#[derive(Debug, clap::Args)]
pub struct End {
    pub rank: usize,
    way: String,
    address: String,
    pub test: Test,
    /// Bytes of a message; one after the other is measured.
    #[arg(value_delimiter = ',')]
    pub sizes: Vec<usize>,
    /// For each of the sizes.
    #[arg(long)]
    seconds: f64,
    /// Where the second end listens
    #[arg(long, default_value = "127.0.0.1")]
    pub listen: std::net::IpAddr,
    /// Messages under way at once
    #[arg(long)]
    window: Option<usize>,
    /// All repetitions count, not only the best ones
    #[arg(long)]
    all: bool,
}

/// Where and how two processes run that measure a network between them.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// What either is started behind.
    pub before: [Vec<String>; 2],
    /// More arguments of both.
    pub arguments: Vec<String>,
}

/// One of two ends that exchange messages, however they do it.
pub trait Pair {
    /// The first end's words, at both.
    fn agree(&mut self, words: [u64; 2]) -> Result<[u64; 2]>;

    /// Makes what messages of this size are sent from and received into, so many at once.
    fn prepare(&mut self, size: usize, window: usize) -> Result<()>;

    /// One repetition of a test. Gives the seconds that were waited after computing for `compute`.
    fn turn(&mut self, turn: u64, compute: f64) -> Result<f64>;
}

/// What the process is told that others find.
const NO_ADDRESS: &str = "nowhere";

/// No run takes longer than this besides the time it measures for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Repetitions that take less than this all together say nothing.
const LEAST: f64 = 0.02;

/// So many count at least, however long they take.
const REPETITIONS: u32 = 3;

/// Repetitions that are timed one by one.
const TIMED: u64 = 2000;

/// Runs both processes: a sample for each size.
pub fn run(way: &str, test: Test, sizes: &[usize], seconds: f64) -> Result<Vec<Sample>> {
    run_in(&Places::default(), way, test, sizes, seconds)
}

/// As [`run`], where it is said.
pub fn run_in(
    places: &Places,
    way: &str,
    test: Test,
    sizes: &[usize],
    seconds: f64,
) -> Result<Vec<Sample>> {
    let command = |rank: usize, address: &str| -> Result<Command> {
        let program = std::env::current_exe()?.into_os_string();
        let before = places.before[rank].iter().map(OsString::from);
        let mut words = before.chain([program]);
        let mut command = Command::new(words.next().context("a program")?);
        command.args(words);
        command.args(arguments(rank, way, address, test, sizes, seconds));
        command.args(&places.arguments);
        Ok(command)
    };
    let mut second = child::start(command(1, NO_ADDRESS)?.stdout(Stdio::piped()))?;
    let mut lines = BufReader::new(second.stdout.take().context("its output")?);
    let mut address = String::new();
    lines.read_line(&mut address)?;
    let limit = PATIENCE * 2 + Duration::from_secs_f64(seconds * sizes.len() as f64);
    let first = child::output(&mut command(0, address.trim())?, limit)
        .and_then(|first| first.success("a process of the run"));
    if first.is_err() {
        second.kill()?;
        second.wait()?;
    }
    let first = first?;
    let mut theirs = String::new();
    lines.read_to_string(&mut theirs)?;
    second.wait()?;
    let mut samples = peers::samples(&first.stdout, sizes.len())?;
    for (sample, cpu) in samples.iter_mut().zip(theirs.lines()) {
        sample.cpu[1] = cpu.trim().parse().unwrap_or(f64::NAN);
    }
    Ok(samples)
}

/// What either process of this program is given.
fn arguments(
    rank: usize,
    way: &str,
    address: &str,
    test: Test,
    sizes: &[usize],
    seconds: f64,
) -> [String; 9] {
    let names: Vec<String> = sizes.iter().map(usize::to_string).collect();
    let (rank, names, seconds) = (rank.to_string(), names.join(","), seconds.to_string());
    [
        PART,
        "end",
        &rank,
        way,
        address,
        test.name(),
        &names,
        "--seconds",
        &seconds,
    ]
    .map(str::to_string)
}

/// What one would type for [`run`], in two terminals: the second process says the address that the
/// first one wants.
pub fn typed(way: &str, test: Test, sizes: &[usize], seconds: f64) -> String {
    let end = |rank, address| {
        let arguments = arguments(rank, way, address, test, sizes, seconds);
        Argv::new(["mgn"]).args(arguments)
    };
    let (second, first) = (end(1, NO_ADDRESS), end(0, "ADDRESS"));
    format!("{second} & {first}")
}

/// Says where the second process can be found.
pub fn tell_address(address: &str) -> Result<()> {
    println!("{address}");
    Ok(std::io::stdout().flush()?)
}

impl End {
    /// Messages under way at once.
    fn window(&self, size: usize) -> usize {
        self.window.unwrap_or_else(|| self.test.window(size))
    }

    pub fn run(&self) -> Result<()> {
        let patience = PATIENCE + Duration::from_secs_f64(self.seconds * self.sizes.len() as f64);
        std::thread::spawn(move || {
            std::thread::sleep(patience);
            eprintln!("a run took too long and was stopped");
            std::process::exit(3);
        });
        let mut pair: Box<dyn Pair> = match self.way.strip_prefix("raw-") {
            Some("memory") => Box::new(memory::Raw::new(self, &self.address)?),
            Some(family) => Box::new(sockets::Raw::new(self, family, &self.address)?),
            None => Box::new(ours::Ours::new(self, &self.way, &self.address)?),
        };
        pin(processor(self.rank)?)?;
        let mut cpu = own_cpu();
        for size in &self.sizes {
            let window = self.window(*size);
            pair.prepare(*size, window)?;
            let before = std::mem::replace(&mut cpu, 0.0);
            if self.rank == 1 {
                follow(&mut *pair)?;
                cpu = own_cpu();
                println!("{:.4}", cpu - before);
                continue;
            }
            let (seconds, percentiles) = self.lead(&mut *pair)?;
            cpu = own_cpu();
            let words = |times: &[f64]| -> String {
                let words: Vec<String> = times.iter().map(|time| format!("{time:.9}")).collect();
                words.join(" ")
            };
            let (used, seconds) = (cpu - before, words(&seconds));
            let percentiles = words(percentiles.as_ref().map_or(&[], |times| &times[..]));
            println!(
                "window {window} cpu {used:.4} nan seconds {seconds} percentiles {percentiles}"
            );
        }
        Ok(())
    }

    /// What the first process does for one size.
    fn lead(&self, pair: &mut dyn Pair) -> Result<(Vec<f64>, Option<[f64; 5]>)> {
        let mut seconds = Vec::new();
        let mut percentiles = None;
        if self.test == Test::Overlap {
            let part = self.seconds / OVERLAP_PARTS;
            let (transfer, _) = best(pair, part, 0.0)?;
            seconds.push(transfer);
            for times in TIMES {
                seconds.push(best(pair, part, times * transfer)?.1);
            }
            seconds.push(best(pair, part, COMPUTE)?.0);
        } else if self.test == Test::Sweep {
            let part = self.seconds / (1 + SWEEP.len()) as f64;
            seconds.push(best(pair, part, 0.0)?.0);
            for compute in SWEEP {
                let (whole, waited) = best(pair, part, compute)?;
                seconds.extend([whole, waited]);
            }
        } else if self.all {
            seconds.push(mean(pair, self.seconds)?);
        } else {
            seconds.push(best(pair, self.seconds, 0.0)?.0);
        }
        if self.test.is_timed() {
            percentiles = Some(timed(pair, self.seconds, seconds[0])?);
        }
        pair.agree([0, 0])?;
        Ok((seconds, percentiles))
    }
}

/// Percentiles of single repetitions, which take so many seconds each and not much longer than a
/// time all together.
fn timed(pair: &mut dyn Pair, seconds: f64, each: f64) -> Result<[f64; 5]> {
    let count = TIMED.min((seconds / each) as u64 + 1);
    let mut times = histogram();
    pair.agree([count, 0.0f64.to_bits()])?;
    for turn in 0..count {
        let begun = Instant::now();
        pair.turn(turn, 0.0)?;
        times += begun.elapsed().as_nanos() as u64;
    }
    let seconds = |percent| percentile(&times, percent).map_or(f64::NAN, |time| time * 1e-9);
    Ok(PERCENTILES.map(seconds))
}

/// Seconds of the best repetitions, and of them those spent waiting. What is too short to say
/// something only warms up, and one that is long because something came in between is not alone.
fn best(pair: &mut dyn Pair, seconds: f64, compute: f64) -> Result<(f64, f64)> {
    let (mut spent, mut best) = (0.0, (f64::MAX, 0.0));
    let (mut count, mut counted) = (1u64, 0);
    let least = LEAST.min(seconds / 8.0);
    while spent < seconds || counted < REPETITIONS {
        pair.agree([count, compute.to_bits()])?;
        let begun = Instant::now();
        let mut waited = 0.0;
        for turn in 0..count {
            waited += pair.turn(turn, compute)?;
        }
        let took = begun.elapsed().as_secs_f64();
        if took < least {
            count *= 2;
            continue;
        }
        (spent, counted) = (spent + took, counted + 1);
        if took / (count as f64) < best.0 {
            best = (took / count as f64, waited / count as f64);
        }
    }
    Ok(best)
}

/// Seconds of a repetition, on average.
fn mean(pair: &mut dyn Pair, seconds: f64) -> Result<f64> {
    let (start, mut all, mut count) = (Instant::now(), 0, 1);
    while all == 0 || start.elapsed().as_secs_f64() < seconds {
        pair.agree([count, 0])?;
        let begun = Instant::now();
        for turn in 0..count {
            pair.turn(turn, 0.0)?;
        }
        all += count;
        // To agree costs a message too.
        if begun.elapsed().as_secs_f64() < LEAST.min(seconds / 4.0) {
            count *= 2;
        }
    }
    Ok(start.elapsed().as_secs_f64() / all as f64)
}

/// What the second process does.
fn follow(pair: &mut dyn Pair) -> Result<()> {
    loop {
        let [count, compute] = pair.agree([0, 0])?;
        if count == 0 {
            return Ok(());
        }
        for turn in 0..count {
            pair.turn(turn, f64::from_bits(compute))?;
        }
    }
}

/// CPU seconds of this process so far.
pub fn own_cpu() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Computes.
pub fn spin(seconds: f64) {
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < seconds {}
}

/// Reads every byte.
pub fn read_all(bytes: &[u8]) {
    let words = bytes
        .chunks_exact(8)
        .map(|word| u64::from_ne_bytes(std::array::from_fn(|at| word[at])));
    std::hint::black_box(words.fold(0, u64::wrapping_add));
}
