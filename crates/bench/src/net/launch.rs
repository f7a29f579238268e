//! Runs two processes of this program that exchange messages. The first process leads: it tells the
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

/// How the two processes are started. By default, they are started directly on this host.
#[derive(Clone, Debug, Default)]
pub struct LaunchOptions {
    /// For each process, the command that is put in front of its own command.
    pub prefixes: [Vec<String>; 2],
    /// Further arguments of both processes.
    pub arguments: Vec<String>,
}

/// The address argument of the second process, which listens and needs no address.
const NO_ADDRESS: &str = "nowhere";

/// Runs both processes. Returns a sample for each size.
pub fn run(channel: &str, test: Test, sizes: &[usize], seconds: f64) -> Result<Vec<Sample>> {
    run_in(&LaunchOptions::default(), channel, test, sizes, seconds)
}

/// As [`run`], with options for starting the processes.
pub fn run_in(
    options: &LaunchOptions,
    channel: &str,
    test: Test,
    sizes: &[usize],
    seconds: f64,
) -> Result<Vec<Sample>> {
    let command = |rank: usize, address: &str| -> Result<Command> {
        let program = std::env::current_exe()?.into_os_string();
        let prefix = options.prefixes[rank].iter().map(OsString::from);
        let mut words = prefix.chain([program]);
        let mut command = Command::new(words.next().context("a program")?);
        command.args(words);
        command.args(arguments(rank, channel, address, test, sizes, seconds));
        command.args(&options.arguments);
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

/// The arguments of a process.
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

/// The commands for [`run`], as a user would enter them in a shell. The second process prints the
/// address that the first one needs.
pub fn shell_command(channel: &str, test: Test, sizes: &[usize], seconds: f64) -> String {
    let end = |rank, address| {
        let arguments = arguments(rank, channel, address, test, sizes, seconds);
        Argv::new(["mgn"]).args(arguments)
    };
    let (second, first) = (end(1, NO_ADDRESS), end(0, "ADDRESS"));
    format!("{second} & {first}")
}
