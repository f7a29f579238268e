//! Many processes with links to each other, which execute commands.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{ensure, Context, Result};
use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};

use super::plain_member::memory_len;
use crate::child::PART;

/// A process that runs a [member](super::member::Member), or a
/// [plain one](super::plain_member::PlainMember).
pub struct MemberProcess {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    address: String,
}

/// Starts `count` processes, each with a link to every other one. The links of a process are in the
/// order of the other processes' ranks.
pub fn mesh(transport: &str, count: usize) -> Result<Vec<MemberProcess>> {
    let mut all = start(transport, count)?;
    let addresses: Vec<String> = all.iter().map(|one| one.address.clone()).collect();
    for (index, one) in all.iter_mut().enumerate() {
        for address in &addresses[..index] {
            one.send(&format!("connect {address} 1"))?;
            one.read_answer()?;
        }
    }
    command_all(&mut all, |_| format!("links {}", count - 1))?;
    Ok(all)
}

/// Starts `count` processes that exchange messages through memory, without links.
pub fn plain_mesh(count: usize) -> Result<Vec<MemberProcess>> {
    let memory = mgn_sys::memory::create("mgn-bench", memory_len(count))?;
    let path = format!("/proc/{}/fd/{}", std::process::id(), memory.as_raw_fd());
    let process = |index: usize| {
        let words = [
            "plain-member",
            &path,
            &index.to_string(),
            &count.to_string(),
        ];
        MemberProcess::start(&words)
    };
    // Each process has opened the memory when it has started.
    (0..count).map(process).collect()
}

/// Starts one receiver and `senders` other processes. Each sender has `each` links to the receiver.
/// The receiver comes first.
pub fn star(transport: &str, senders: usize, each: usize) -> Result<Vec<MemberProcess>> {
    let mut all = start(transport, senders + 1)?;
    let address = all[0].address.clone();
    for one in &mut all[1..] {
        one.send(&format!("connect {address} {each}"))?;
        one.read_answer()?;
    }
    command_all(&mut all, |index| match index {
        0 => format!("links {}", senders * each),
        _ => format!("links {each}"),
    })?;
    Ok(all)
}

fn start(transport: &str, count: usize) -> Result<Vec<MemberProcess>> {
    (0..count)
        .map(|index| MemberProcess::start(&["member", transport, &index.to_string()]))
        .collect()
}

/// Raises the limit of open files to the maximum, because each link needs several.
pub fn raise_limits() -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    let all = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Nofile, all).context("cannot raise the limit of open files")
}

impl MemberProcess {
    /// Starts this program as a part of a measurement, with these words.
    fn start(words: &[&str]) -> Result<MemberProcess> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(PART)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run this program")?;
        let commands = child.stdin.take().context("its input")?;
        let answers = BufReader::new(child.stdout.take().context("its output")?);
        let mut running = MemberProcess {
            child,
            commands,
            answers,
            address: String::new(),
        };
        running.address = running.line()?;
        Ok(running)
    }

    fn send(&mut self, line: &str) -> Result<()> {
        writeln!(self.commands, "{line}").context("cannot send a command to a process")
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        ensure!(!line.is_empty(), "a process has ended early");
        Ok(line.trim().to_string())
    }

    /// Reads an answer: the CPU seconds that the process has used so far, and a text.
    fn read_answer(&mut self) -> Result<(f64, String)> {
        let line = self.line()?;
        let (cpu, rest) = line.split_once(' ').unwrap_or((&line, ""));
        Ok((cpu.parse()?, rest.to_string()))
    }
}

impl Drop for MemberProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a command to each process. Returns their answers.
pub fn command_all(
    all: &mut [MemberProcess],
    what: impl Fn(usize) -> String,
) -> Result<Vec<(f64, String)>> {
    for (index, one) in all.iter_mut().enumerate() {
        one.send(&what(index))?;
    }
    all.iter_mut().map(MemberProcess::read_answer).collect()
}

/// CPU seconds of the first process, and of all others together, between two answers.
pub fn spent(before: &[(f64, String)], after: &[(f64, String)]) -> [f64; 2] {
    let spent = |at: usize| after[at].0 - before[at].0;
    [spent(0), (1..before.len()).map(spent).sum()]
}

/// The memory of all processes in MiB. Shared pages are counted once.
pub fn memory(all: &[MemberProcess]) -> Result<f64> {
    let mut total = 0.0;
    for one in all {
        let path = format!("/proc/{}/smaps_rollup", one.child.id());
        let text = std::fs::read_to_string(&path).with_context(|| format!("no {path}"))?;
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
        let kib = line.and_then(|line| line.trim().strip_suffix("kB"));
        total += kib.context("Pss is there")?.trim().parse::<f64>()? / 1024.0;
    }
    Ok(total)
}
