//! One of the two processes of a run.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::child;
use crate::net::measure::{Test, COMPUTE_FACTORS, OVERLAP_PARTS, PERCENTILES, SWEEP_SECONDS};
use crate::net::pair::{End, Pair, RUN_LIMIT};
use crate::net::{endpoint, shared_buffer, sockets};
use crate::probe::{pin, processor};
use crate::statistics::{histogram, percentile};

/// A group of repetitions counts only if it takes at least this time in total.
const MIN_SECONDS: f64 = 0.02;

/// The minimum number of groups of repetitions that count.
const MIN_REPETITIONS: u32 = 3;

/// The maximum number of repetitions that are timed individually.
const MAX_TIMED_REPETITIONS: u64 = 2000;

/// Runs one of the two processes to its end.
pub fn run(end: &End) -> Result<()> {
    let timeout = RUN_LIMIT + Duration::from_secs_f64(end.seconds * end.sizes.len() as f64);
    std::thread::spawn(move || {
        std::thread::sleep(timeout);
        // The process has to end even if no process reads standard error any more.
        let _ = writeln!(std::io::stderr(), "a run took too long and was stopped");
        std::process::exit(3);
    });
    let mut pair: Box<dyn Pair> = match end.channel.strip_prefix("raw-") {
        Some("memory") => Box::new(shared_buffer::BufferPair::new(end, &end.address)?),
        Some("copies") => Box::new(shared_buffer::CopyPair::new(end, &end.address)?),
        Some(family) => Box::new(sockets::SocketPair::new(end, family, &end.address)?),
        None => Box::new(endpoint::EndpointPair::new(
            end,
            &end.channel,
            &end.address,
        )?),
    };
    pin(processor(end.rank)?)?;
    let mut cpu = child::own_cpu();
    for size in &end.sizes {
        let window = window(end, *size);
        pair.prepare(*size, window)?;
        let before = std::mem::replace(&mut cpu, 0.0);
        if end.rank == 1 {
            follow(&mut *pair)?;
            cpu = child::own_cpu();
            println!("{:.4}", cpu - before);
            continue;
        }
        let (seconds, percentiles) = lead(end, &mut *pair)?;
        cpu = child::own_cpu();
        let words = |times: &[f64]| -> String {
            let words: Vec<String> = times.iter().map(|time| format!("{time:.9}")).collect();
            words.join(" ")
        };
        let (used, seconds) = (cpu - before, words(&seconds));
        let percentiles = words(percentiles.as_ref().map_or(&[], |times| &times[..]));
        println!("window {window} cpu {used:.4} nan seconds {seconds} percentiles {percentiles}");
    }
    Ok(())
}

/// Leads the measurement of one size. The first process calls this.
fn lead(end: &End, pair: &mut dyn Pair) -> Result<(Vec<f64>, Option<[f64; 5]>)> {
    let mut seconds = Vec::new();
    let mut percentiles = None;
    if end.test == Test::Overlap {
        let part = end.seconds / OVERLAP_PARTS;
        let (transfer, _) = best(pair, part, 0.0)?;
        seconds.push(transfer);
        for times in COMPUTE_FACTORS {
            seconds.push(best(pair, part, times * transfer)?.1);
        }
    } else if end.test == Test::Sweep {
        let part = end.seconds / (1 + SWEEP_SECONDS.len()) as f64;
        seconds.push(best(pair, part, 0.0)?.0);
        for compute in SWEEP_SECONDS {
            let (whole, waited) = best(pair, part, compute)?;
            seconds.extend([whole, waited]);
        }
    } else if end.all {
        seconds.push(mean(pair, end.seconds)?);
    } else {
        seconds.push(best(pair, end.seconds, 0.0)?.0);
    }
    if end.test.is_timed() {
        percentiles = Some(timed(pair, end.seconds, seconds[0])?);
    }
    pair.agree([0, 0])?;
    Ok((seconds, percentiles))
}

/// The number of messages in flight.
fn window(end: &End, size: usize) -> usize {
    end.window.unwrap_or_else(|| end.test.window(size))
}

/// Percentiles of individual repetitions. `each` is the expected time of a repetition, and
/// `seconds` is the limit for all repetitions together.
fn timed(pair: &mut dyn Pair, seconds: f64, each: f64) -> Result<[f64; 5]> {
    let count = MAX_TIMED_REPETITIONS.min((seconds / each) as u64 + 1);
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

/// The seconds of a repetition in the fastest group, and the waiting time in it. Groups that are
/// too short are warm-up. The minimum excludes groups that were interrupted.
fn best(pair: &mut dyn Pair, seconds: f64, compute: f64) -> Result<(f64, f64)> {
    let (mut spent, mut best) = (0.0, (f64::MAX, 0.0));
    let (mut count, mut counted) = (1u64, 0);
    let least = MIN_SECONDS.min(seconds / 8.0);
    while spent < seconds || counted < MIN_REPETITIONS {
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

/// The average time of a repetition in seconds.
fn mean(pair: &mut dyn Pair, seconds: f64) -> Result<f64> {
    let (start, mut all, mut count) = (Instant::now(), 0, 1);
    while all == 0 || start.elapsed().as_secs_f64() < seconds {
        pair.agree([count, 0])?;
        let begun = Instant::now();
        for turn in 0..count {
            pair.turn(turn, 0.0)?;
        }
        all += count;
        // Each group costs one more message for the agreement, so short groups are doubled.
        if begun.elapsed().as_secs_f64() < MIN_SECONDS.min(seconds / 4.0) {
            count *= 2;
        }
    }
    Ok(start.elapsed().as_secs_f64() / all as f64)
}

/// Repeats tests as the first process demands. The second process calls this.
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
