//! Runs of two processes of this program that exchange messages. The first one leads: it tells the
//! second one how often to repeat a test, and prints the results.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::argv::Argv;
use crate::child::{self, PART};
use crate::net::measure::{Sample, Test};
use crate::net::pair::RUN_LIMIT;
use crate::net::peers;

/// Where and how two processes run that measure a network between them.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// What either is started behind.
    pub before: [Vec<String>; 2],
    /// More arguments of both.
    pub arguments: Vec<String>,
}

/// What the process is told that others find.
const NO_ADDRESS: &str = "nowhere";

/// Runs both processes: a sample for each size.
pub fn run(channel: &str, test: Test, sizes: &[usize], seconds: f64) -> Result<Vec<Sample>> {
    run_in(&Places::default(), channel, test, sizes, seconds)
}

/// As [`run`], where it is said.
pub fn run_in(
    places: &Places,
    channel: &str,
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
        command.args(arguments(rank, channel, address, test, sizes, seconds));
        command.args(&places.arguments);
        Ok(command)
    };
    let mut second = child::start(command(1, NO_ADDRESS)?.stdout(Stdio::piped()))?;
    let mut lines = BufReader::new(second.stdout.take().context("its output")?);
    let mut address = String::new();
    lines.read_line(&mut address)?;
    let limit = RUN_LIMIT * 2 + Duration::from_secs_f64(seconds * sizes.len() as f64);
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
    channel: &str,
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
        channel,
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
pub fn shell_command(channel: &str, test: Test, sizes: &[usize], seconds: f64) -> String {
    let end = |rank, address| {
        let arguments = arguments(rank, channel, address, test, sizes, seconds);
        Argv::new(["mgn"]).args(arguments)
    };
    let (second, first) = (end(1, NO_ADDRESS), end(0, "ADDRESS"));
    format!("{second} & {first}")
}
