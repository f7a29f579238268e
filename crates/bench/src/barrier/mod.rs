//! The processes of a barrier that is measured, and what they measure.

mod bulk;
mod page;
mod raw;

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use mgn_barrier::{Choice, JobBarrier, Options};
use mgn_fabric::job::Job;

use crate::child::{self, PART};
use crate::probe::{pin, processor, processors};
use crate::statistics::{histogram, median, percentile};
pub use bulk::{Bulk, Load};
use page::Page;
use raw::{counter, flags, Datagrams};

/// The raw barrier of two processes: each sets a flag and waits for the flag of the other process.
pub const FLAGS: &str = "flags";
/// The raw barrier of several processes: each increments a counter, and yields until the last
/// process has done so.
pub const COUNTER: &str = "counter";
/// The raw barriers by datagrams: each process sends one to the first process, which then sends one
/// to each of the others. With `DATAGRAMS`, a process sleeps until its datagram comes; with
/// `POLLED_DATAGRAMS`, it polls its socket.
pub const DATAGRAMS: &str = "datagrams";
pub const POLLED_DATAGRAMS: &str = "polled-datagrams";

/// The intended duration of a batch is the measuring time divided by this number. A batch takes at
/// most about twice that, so at least half of this number of batches is measured, unless a single
/// barrier takes longer. Batches are short, so that other processes interrupt few of them.
const BATCHES: f64 = 2000.0;

/// The number of consecutive batches that must reach the intended duration before the length of
/// batches is final. A single batch may be long because it was interrupted.
const TRIES: u32 = 3;

/// How long a process waits for the others in one barrier. This limit does not apply to raw
/// barriers by memory: processes that wait there are ended together with the run.
const PASS_TIMEOUT: Duration = Duration::from_secs(30);

/// The limit of a run in addition to the time for which it measures: many processes on few
/// processors take a while to start and to meet.
const RUN_TIMEOUT: Duration = Duration::from_secs(90);

/// A process of a barrier.
#[derive(Debug, clap::Args)]
pub struct Member {
    /// A kind of [`JobBarrier`] as in a [`Choice`], or one of the raw barriers.
    kind: String,
    job: String,
    rank: usize,
    /// The address of each rank. Ranks with the same address are on one host.
    #[arg(long, value_delimiter = ',', required = true)]
    hosts: Vec<IpAddr>,
    /// The process that owns the [`Page`], and the page's descriptor in that process.
    owner: u32,
    page: u32,
    seconds: f64,
    /// Measure single barriers, not batches of them.
    #[arg(long)]
    each: bool,
    /// Measure this raw barrier in turn with the other one, in batches of the same length, and
    /// print the ratios of their times.
    #[arg(long, conflicts_with = "each")]
    beside: Option<String>,
}

/// A group of processes and their barrier.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    pub kind: &'a str,
    /// The address of each rank. Ranks with the same address are on one host.
    pub hosts: Vec<IpAddr>,
    /// For each rank, the command that is put in front of its own command. Ranks beyond the end of
    /// this list have none.
    pub prefixes: Vec<Vec<String>>,
    pub environment: Vec<(&'static str, String)>,
    /// The seconds for which barriers are measured.
    pub seconds: f64,
    /// Whether single barriers are measured instead of batches.
    pub each: bool,
    /// [`FLAGS`] or [`COUNTER`], to be measured in turn with a kind of [`JobBarrier`].
    pub beside: Option<&'static str>,
}

impl Group<'_> {
    /// Starts the processes. Returns the seconds of a barrier in each batch, as the first process
    /// has measured them. If `beside` names another barrier, the values are ratios to the time of
    /// that barrier.
    pub fn run(&self) -> Result<Vec<f64>> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let job = format!("bench-barrier-{}-{number}", std::process::id());
        let page = Page::create()?;
        let hosts: Vec<String> = self.hosts.iter().map(IpAddr::to_string).collect();
        let hosts = hosts.join(",");
        let command = |rank: usize| -> Result<Command> {
            let program = std::env::current_exe()?.to_string_lossy().into_owned();
            let mut words = self.prefixes.get(rank).cloned().unwrap_or_default();
            words.push(program);
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]).args([PART, "barrier", self.kind]);
            command.args([&job, &rank.to_string(), "--hosts", &hosts]);
            command.args([std::process::id(), page.descriptor()].map(|n| n.to_string()));
            command.arg(self.seconds.to_string());
            command.args(self.each.then_some("--each"));
            command.args(self.beside.iter().flat_map(|beside| ["--beside", beside]));
            command.envs(self.environment.iter().map(|(name, value)| (name, value)));
            Ok(command)
        };
        let start = |rank| Ok(Running(child::start(command(rank)?.stdout(Stdio::null()))?));
        // The other processes are ended when the first one has its values.
        let _others: Vec<Running> = (1..self.hosts.len()).map(start).collect::<Result<_>>()?;
        let limit = RUN_TIMEOUT + Duration::from_secs_f64(self.seconds);
        let first = child::output(&mut command(0)?, limit)?.success("a process of a barrier")?;
        batches(&first.stdout)
    }
}

/// A process that is ended when this is dropped.
#[derive(Debug)]
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Parses the output of a run: the seconds of a barrier in each batch, or the ratios of two
/// barriers.
pub fn batches(text: &str) -> Result<Vec<f64>> {
    let numbers = text.split_whitespace().map(str::parse);
    let numbers: Vec<f64> = numbers
        .collect::<Result<_, _>>()
        .with_context(|| format!("a run printed {:?}", text.trim()))?;
    if numbers.is_empty() {
        bail!("a run has measured nothing");
    }
    Ok(numbers)
}

/// The median of the batches in microseconds, and the percentiles of [`Percentiles`].
///
/// [`Percentiles`]: crate::record::Percentiles
pub fn microseconds(batches: &[f64]) -> (f64, [Option<f64>; 5]) {
    let mut all = histogram();
    // In picoseconds, because a batch's average has a finer resolution than a clock.
    batches.iter().for_each(|one| all += (one * 1e12) as u64);
    let of = |percent| percentile(&all, percent).map(|value| value / 1e6);
    let (middle, ..) = median(batches);
    (middle * 1e6, [50.0, 90.0, 99.0, 99.9, 100.0].map(of))
}

impl Member {
    pub fn run(&self) -> Result<()> {
        let count = self.hosts.len();
        if count <= processors()?.len() {
            pin(processor(self.rank)?)?;
        }
        let page = Page::of(self.owner, self.page)?;
        let found = match &self.kind[..] {
            FLAGS if count != 2 => bail!("two flags are a barrier of two processes"),
            FLAGS => self.measure(&page, |epochs| timed(epochs, self.flags(&page)))?,
            COUNTER => self.measure(&page, |epochs| timed(epochs, self.counter(&page)))?,
            kind @ (DATAGRAMS | POLLED_DATAGRAMS) => {
                let mut datagrams = Datagrams::meet(&page, self.rank, &self.hosts)?;
                if kind == POLLED_DATAGRAMS {
                    datagrams.poll()?;
                }
                self.measure(&page, |epochs| timed(epochs, |epoch| datagrams.pass(epoch)))?
            }
            kind => self.measure_ours(kind, &page)?,
        };
        if self.rank == 0 {
            let words: Vec<String> = found.iter().map(f64::to_string).collect();
            println!("{}", words.join(" "));
        }
        Ok(())
    }

    fn measure_ours(&self, kind: &str, page: &Page) -> Result<Vec<f64>> {
        let hosts = self.hosts.iter().map(IpAddr::to_string).collect();
        let job = Job::new(&self.job, self.rank as u32, hosts)?.configured()?;
        let job = Arc::new(job.join()?);
        let Choice { kind, interface } = kind.parse()?;
        let options = Options {
            kind,
            interface,
            ..Options::default()
        };
        let mut barrier = JobBarrier::open(job.clone(), &options)?;
        let mut pass = |_| {
            barrier.pass(0, Some(PASS_TIMEOUT))?;
            Ok(())
        };
        let found = match self.beside.as_deref() {
            None => self.measure(page, |epochs| timed(epochs, &mut pass))?,
            Some(FLAGS) => self.measure(page, in_turn(pass, self.flags(page)))?,
            Some(COUNTER) => self.measure(page, in_turn(pass, self.counter(page)))?,
            Some(other) => bail!("{other} is not measured beside another barrier"),
        };
        // Dropping the barrier tells members that are still waiting in the last epoch that it has
        // passed.
        drop(barrier);
        job.leave();
        Ok(found)
    }

    fn flags<'p>(&self, page: &'p Page) -> impl Fn(u64) -> Result<()> + 'p {
        let (mine, other) = (page.flag(self.rank), page.flag(1 - self.rank));
        move |epoch| {
            flags(mine, other, epoch);
            Ok(())
        }
    }

    fn counter<'p>(&self, page: &'p Page) -> impl Fn(u64) -> Result<()> + 'p {
        let count = self.hosts.len() as u64;
        move |epoch| {
            counter(page.arrived(), page.passed(), count, epoch);
            Ok(())
        }
    }

    /// Passes barriers in batches until the first process has measured for long enough. Before each
    /// batch, the first process writes the length of the batch into the page, and all processes
    /// pass one barrier. `batch` passes the barriers with the given numbers, and returns the
    /// measured value.
    fn measure(
        &self,
        page: &Page,
        mut batch: impl FnMut(RangeInclusive<u64>) -> Result<f64>,
    ) -> Result<Vec<f64>> {
        let long_enough = match self.each {
            true => 0.0,
            false => self.seconds / BATCHES,
        };
        let (mut found, mut next, mut begun) = (Vec::new(), 1, None);
        let mut tries = 0;
        let mut epoch = 0;
        loop {
            if self.rank == 0 {
                page.next().store(next, Ordering::Release);
            }
            epoch += 1;
            batch(epoch..=epoch)?;
            let length = page.next().load(Ordering::Acquire);
            if length == 0 {
                return Ok(found);
            }
            let start = Instant::now();
            let value = batch(epoch + 1..=epoch + length)?;
            epoch += length;
            if begun.is_none() {
                let is_short = start.elapsed().as_secs_f64() < long_enough;
                tries = if is_short { 0 } else { tries + 1 };
                if tries == 0 {
                    next = 2 * length;
                }
                if tries < TRIES {
                    continue;
                }
            }
            let begun = begun.get_or_insert(start);
            found.push(value);
            if begun.elapsed().as_secs_f64() >= self.seconds {
                next = 0;
            }
        }
    }
}

/// Passes barriers with the given numbers, and returns the seconds per barrier.
fn timed(epochs: RangeInclusive<u64>, mut pass: impl FnMut(u64) -> Result<()>) -> Result<f64> {
    let length = epochs.end() - epochs.start() + 1;
    let start = Instant::now();
    for epoch in epochs {
        pass(epoch)?;
    }
    Ok(start.elapsed().as_secs_f64() / length as f64)
}

/// Passes each batch with both barriers; which of them is first alternates. Returns the time of
/// `pass` divided by the time of `other`.
fn in_turn(
    mut pass: impl FnMut(u64) -> Result<()>,
    mut other: impl FnMut(u64) -> Result<()>,
) -> impl FnMut(RangeInclusive<u64>) -> Result<f64> {
    let mut is_first = false;
    move |epochs| {
        is_first = !is_first;
        if is_first {
            let took = timed(epochs.clone(), &mut pass)?;
            return Ok(took / timed(epochs, &mut other)?);
        }
        let beside = timed(epochs.clone(), &mut other)?;
        Ok(timed(epochs, &mut pass)? / beside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_parsed() {
        assert_eq!(batches("0.5 0.000001\n").unwrap(), [0.5, 1e-6]);
        assert!(batches("").is_err() && batches("0.5 x").is_err());
    }

    #[test]
    fn batches_have_a_median_and_percentiles() {
        let all: Vec<f64> = (1..=100).map(|n| f64::from(n) * 1e-7).collect();
        let (middle, percentiles) = microseconds(&all);
        assert!((middle - 5.05).abs() < 1e-9, "{middle}");
        let [p50, _, p99, p999, most] = percentiles;
        let is_near = |one: Option<f64>, other: f64| (one.unwrap() - other).abs() < 0.01;
        assert!(is_near(p50, 5.0) && is_near(p99, 9.9) && is_near(most, 10.0));
        assert_eq!(p999, None);
    }

    #[test]
    fn barriers_in_turn_are_compared() {
        let (short, long) = (Duration::from_millis(1), Duration::from_millis(20));
        let of = |time| {
            move |_| {
                std::thread::sleep(time);
                Ok(())
            }
        };
        let mut passed = Vec::new();
        let pass = |epoch| {
            passed.push(epoch);
            of(long)(epoch)
        };
        let mut batch = in_turn(pass, of(short));
        for epochs in [1..=1, 2..=4, 5..=5] {
            assert!(batch(epochs).unwrap() > 1.5);
        }
        drop(batch);
        assert_eq!(passed, [1, 2, 3, 4, 5]);
    }

    /// The batches of all members have the same lengths, so all members end together.
    #[test]
    fn members_pass_the_same_barriers() {
        let page = Page::create().unwrap();
        let member = |rank| Member {
            kind: COUNTER.into(),
            job: String::new(),
            rank,
            hosts: vec![[127, 0, 0, 1].into(); 3],
            owner: 0,
            page: 0,
            seconds: 0.001,
            each: false,
            beside: None,
        };
        let passed: Vec<u64> = std::thread::scope(|scope| {
            let run = |rank: usize| {
                let (page, member) = (&page, member(rank));
                scope.spawn(move || {
                    let mut last = 0;
                    let pass = member.counter(page);
                    let found = member.measure(page, |epochs| {
                        assert_eq!(*epochs.start(), last + 1);
                        last = *epochs.end();
                        timed(epochs, &pass)
                    });
                    assert!(!found.unwrap().is_empty() || rank > 0);
                    last
                })
            };
            let all: Vec<_> = (0..3).map(run).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(passed[0] > 2 && passed.iter().all(|last| *last == passed[0]));
    }
}
