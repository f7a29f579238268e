//! A run of two processes of this program. The first leads it, by telling the second how often to do what, and prints what was measured.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};

use crate::net::measure::{Sample, Test, COMPUTE, OVERLAP_PARTS, TIMES};
use crate::net::{memory, ours, peers, sockets};
use crate::probe::pin;

/// One of the two processes of a run.
#[derive(Debug, clap::Args)]
pub struct End {
    pub rank: usize,
    way: String,
    address: String,
    pub test: Test,
    pub size: usize,
    seconds: f64,
}

/// One of two ends that exchange messages, however they do it.
pub trait Pair {
    /// The first end's words, at both.
    fn agree(&mut self, words: [u64; 2]) -> Result<[u64; 2]>;

    /// One repetition of a test. Gives the seconds that were waited after computing for `compute`.
    fn turn(&mut self, turn: u64, compute: f64) -> Result<f64>;
}

/// No run takes longer than this besides the time it measures for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Repetitions that take less than this all together say nothing.
const LEAST: f64 = 0.02;

/// Runs both processes.
pub fn run(way: &str, test: Test, size: usize, seconds: f64) -> Result<Sample> {
    let start = |rank: usize, address: &str| -> Result<Child> {
        let mut command = Command::new(std::env::current_exe()?);
        let (rank, size, seconds) = (rank.to_string(), size.to_string(), seconds.to_string());
        command.args([
            crate::PART,
            "end",
            &rank,
            way,
            address,
            test.name(),
            &size,
            &seconds,
        ]);
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.spawn().context("cannot run this program")
    };
    let mut second = start(1, "nowhere")?;
    let mut lines = BufReader::new(second.stdout.take().context("its output")?);
    let mut address = String::new();
    lines.read_line(&mut address)?;
    let first = start(0, address.trim())?.wait_with_output()?;
    if !first.status.success() {
        second.kill()?;
        second.wait()?;
        bail!("a process of the run failed");
    }
    let mut theirs = String::new();
    lines.read_line(&mut theirs)?;
    second.wait()?;
    let mut sample = peers::sample(&String::from_utf8_lossy(&first.stdout))?;
    sample.cpu[1] = theirs.trim().parse().unwrap_or(f64::NAN);
    Ok(sample)
}

/// Says where the second process can be found.
pub fn tell_address(address: &str) -> Result<()> {
    println!("{address}");
    Ok(std::io::stdout().flush()?)
}

impl End {
    pub fn run(&self) -> Result<()> {
        let patience = PATIENCE + Duration::from_secs_f64(self.seconds);
        std::thread::spawn(move || {
            std::thread::sleep(patience);
            eprintln!("a run takes too long, it is given up");
            std::process::exit(3);
        });
        let mut pair: Box<dyn Pair> = match self.way.strip_prefix("raw-") {
            Some("memory") => Box::new(memory::Raw::new(self, &self.address)?),
            Some(family) => Box::new(sockets::Raw::new(self, family, &self.address)?),
            None => Box::new(ours::Ours::new(self, &self.way, &self.address)?),
        };
        pin(self.rank);
        if self.rank == 1 {
            follow(&mut *pair)?;
            println!("{:.3}", own_cpu());
            return Ok(());
        }
        let seconds = self.lead(&mut *pair)?;
        let seconds: Vec<String> = seconds.iter().map(|time| format!("{time:.9}")).collect();
        println!(
            "window {} cpu {:.3} nan seconds {}",
            self.test.window(self.size),
            own_cpu(),
            seconds.join(" ")
        );
        Ok(())
    }

    /// What the first process does.
    fn lead(&self, pair: &mut dyn Pair) -> Result<Vec<f64>> {
        let mut seconds = Vec::new();
        if self.test == Test::Overlap {
            let part = self.seconds / OVERLAP_PARTS;
            let (transfer, _) = best(pair, part, 0.0)?;
            seconds.push(transfer);
            for times in TIMES {
                seconds.push(best(pair, part, times * transfer)?.1);
            }
            seconds.push(best(pair, part, COMPUTE)?.0);
        } else {
            seconds.push(best(pair, self.seconds, 0.0)?.0);
        }
        pair.agree([0, 0])?;
        Ok(seconds)
    }
}

/// Seconds of the best repetitions, and of them those spent waiting.
fn best(pair: &mut dyn Pair, seconds: f64, compute: f64) -> Result<(f64, f64)> {
    let (start, mut best) = (Instant::now(), (f64::MAX, 0.0));
    let mut count = 1u64;
    // A first one, however long it takes.
    while best.0 == f64::MAX || start.elapsed().as_secs_f64() < seconds {
        pair.agree([count, compute.to_bits()])?;
        let begun = Instant::now();
        let mut waited = 0.0;
        for turn in 0..count {
            waited += pair.turn(turn, compute)?;
        }
        let took = begun.elapsed().as_secs_f64();
        if took < LEAST.min(seconds / 4.0) {
            count *= 2;
        } else if took / (count as f64) < best.0 {
            best = (took / count as f64, waited / count as f64);
        }
    }
    Ok(best)
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
