//! Runs of other people's libraries.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};

use crate::measure::{Sample, Test};

pub fn open_mpi(
    target: &Path,
    with: &[&str],
    test: Test,
    size: usize,
    seconds: f64,
    compute: f64,
) -> Result<Sample> {
    let output = Command::new("mpirun.openmpi")
        .args(["--allow-run-as-root", "--bind-to", "core", "-np", "2"])
        .args(with)
        .arg(target.join("bench/messages"))
        .args([
            test.name(),
            &size.to_string(),
            &seconds.to_string(),
            &compute.to_string(),
        ])
        .stdin(Stdio::null())
        .output()
        .context("cannot run mpirun.openmpi")?;
    if !output.status.success() {
        bail!("mpirun failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    sample(&String::from_utf8_lossy(&output.stdout))
}

/// Reads `NAME VALUE` pairs.
pub fn sample(text: &str) -> Result<Sample> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let value = |name: &str| -> Result<f64> {
        let at = words.iter().position(|word| *word == name);
        let at = at.with_context(|| format!("no {name} in {text:?}"))?;
        Ok(words.get(at + 1).context("it ends too early")?.parse()?)
    };
    Ok(Sample {
        seconds: value("seconds")?,
        window: value("window")?,
        cpu: value("cpu")?,
    })
}

/// UCX's own program: tag matching, pinned as ours.
pub fn ucx(with: &str, test: Test, size: usize) -> Result<Sample> {
    let (name, count) = match test {
        Test::Latency => ("tag_lat", 1_000_000),
        _ => (
            "tag_bw",
            (6_000_000_000 / (size + 3000)).clamp(200, 3_000_000),
        ),
    };
    let port = 20_000 + std::process::id() % 10_000;
    let run = |processor: usize, host: Option<&str>| {
        let mut command = Command::new("ucx_perftest");
        command.args(["-t", name, "-f", "-w", "1000", "-p", &port.to_string()]);
        command.args([
            "-s",
            &size.to_string(),
            "-n",
            &count.to_string(),
            "-c",
            &processor.to_string(),
        ]);
        command
            .args(host)
            .env("UCX_TLS", with)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .stdout(Stdio::piped());
        command.spawn().context("cannot run ucx_perftest")
    };
    let server = run(1, None)?;
    let start = Instant::now();
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let client = run(0, Some("127.0.0.1"))?.wait_with_output()?;
        let text = String::from_utf8_lossy(&client.stdout).into_owned();
        // The last line: count, typical, average and overall time (us), rates in MB/s and messages/s, average and overall.
        let numbers: Vec<f64> = text
            .lines()
            .last()
            .unwrap_or("")
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        if let [.., overall, _, _, _, _] = numbers[..] {
            server.wait_with_output()?;
            let seconds = match test {
                Test::Latency => 2.0 * overall * 1e-6,
                _ => overall * 1e-6,
            };
            return Ok(Sample {
                seconds,
                window: 1.0,
                cpu: f64::NAN,
            });
        }
        if start.elapsed() > Duration::from_secs(20) {
            let mut server = server;
            server.kill()?;
            server.wait()?;
            bail!("ucx_perftest says nothing: {text}");
        }
    }
}
