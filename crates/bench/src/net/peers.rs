//! Runs of other people's libraries.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use rustix::process::{waitid, Pid, WaitId, WaitIdOptions};

use crate::net::measure::{Sample, Test};

pub fn open_mpi(
    target: &Path,
    with: &[&str],
    test: Test,
    size: usize,
    seconds: f64,
) -> Result<Sample> {
    let output = Command::new("mpirun.openmpi")
        .args(["--allow-run-as-root", "--bind-to", "core", "-np", "2"])
        .args(with)
        .arg(target.join("bench/messages"))
        .args([test.name(), &size.to_string(), &seconds.to_string()])
        .stdin(Stdio::null())
        .output()
        .context("cannot run mpirun.openmpi")?;
    if !output.status.success() {
        bail!("mpirun failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    sample(&String::from_utf8_lossy(&output.stdout))
}

/// Reads what a run of ours or of the program for MPI says: `window W cpu C1 C2 seconds S...`.
pub fn sample(text: &str) -> Result<Sample> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let ["window", window, "cpu", first, second, "seconds", seconds @ ..] = &words[..] else {
        bail!("a run says {text:?}");
    };
    let seconds: Result<Vec<f64>, _> = seconds.iter().map(|word| word.parse()).collect();
    let seconds = seconds?;
    if seconds.is_empty() {
        bail!("a run has measured nothing");
    }
    Ok(Sample {
        seconds,
        window: window.parse()?,
        cpu: [first.parse()?, second.parse()?],
    })
}

/// UCX's own program, pinned as ours. `kind`: `tag` or `am`, its two ways of sending messages.
pub fn ucx(with: &str, kind: &str, test: Test, size: usize, seconds: f64) -> Result<Sample> {
    // It counts repetitions, not time: so many as at 8 GB/s, or 3 us a message by sockets.
    let is_remote = with.contains("tcp");
    let bytes = if is_remote { 1.5e9 } else { 8e9 } * seconds;
    let each = if is_remote { 16e3 } else { 300.0 };
    let (name, count) = match test {
        Test::Latency => ("lat", seconds / if is_remote { 8e-6 } else { 0.3e-6 }),
        _ => ("bw", (bytes / (size as f64 + each)).max(50.0)),
    };
    let (name, count) = (format!("ucp_{kind}_{name}"), count.round().to_string());
    let (port, size) = (20_000 + std::process::id() % 10_000, size.to_string());
    let run = |processor: &str, host: Option<&str>| {
        let mut command = Command::new("ucx_perftest");
        command.args(["-t", ucx_name(&name), "-f", "-w", "1000", "-p"]);
        command.args([&port.to_string(), "-s", &size, "-n", &count]);
        command.args(["-c", processor]);
        command
            .args(host)
            .env("UCX_TLS", with)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .stdout(Stdio::piped());
        command.spawn().context("cannot run ucx_perftest")
    };
    let mut server = run("1", None)?;
    let start = Instant::now();
    loop {
        std::thread::sleep(Duration::from_millis(100));
        let client = run("0", Some("127.0.0.1"))?;
        let (text, cpu) = output(client)?;
        // The last line: count, typical, average and overall time (us), rates in MB/s and messages/s, average and overall.
        let numbers: Vec<f64> = text
            .lines()
            .last()
            .unwrap_or("")
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        if let [.., overall, _, _, _, _] = numbers[..] {
            let (_, theirs) = output(server)?;
            let seconds = match test {
                Test::Latency => 2.0 * overall * 1e-6,
                _ => overall * 1e-6,
            };
            return Ok(Sample {
                seconds: vec![seconds],
                window: 1.0,
                cpu: [cpu, theirs],
            });
        }
        if start.elapsed() > Duration::from_secs(10) {
            server.kill()?;
            server.wait()?;
            bail!("ucx_perftest says nothing: {text}");
        }
    }
}

/// What its program calls a test.
fn ucx_name(name: &str) -> &str {
    match name {
        "ucp_tag_lat" => "tag_lat",
        "ucp_tag_bw" => "tag_bw",
        other => other,
    }
}

/// What a program says until it ends, and the seconds of CPU it took.
fn output(mut child: Child) -> Result<(String, f64)> {
    let mut text = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        std::io::Read::read_to_string(&mut stdout, &mut text)?;
    }
    let pid = Pid::from_child(&child);
    waitid(
        WaitId::Pid(pid),
        WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
    )?;
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id()))?;
    child.wait()?;
    // After the name in parentheses come the state and 10 more, then user and system time in ticks.
    let fields = stat.rsplit(')').next().unwrap_or("").split_whitespace();
    let ticks: Vec<f64> = fields
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse().ok())
        .collect();
    let per_second = rustix::param::clock_ticks_per_second() as f64;
    Ok((text, ticks.iter().sum::<f64>() / per_second))
}
