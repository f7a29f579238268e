//! UCX, measured by its own benchmark program.

use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{bail, Result};
use mgn_launch::inspect::in_path;

use crate::argv::Argv;
use crate::child;
use crate::net::measure::{Sample, Test};
use crate::net::peers::{PeerPrograms, PAIR_TIMEOUT};
use crate::probe::processor;

const PROGRAM: &str = "ucx_perftest";

pub const UCX_MEMORY: &str = "posix,cma,self";
pub const UCX_TCP: &str = "tcp,self";

/// A configuration of UCX.
#[derive(Clone, Copy, Debug)]
pub struct Ucx {
    /// The value of `UCX_TLS`.
    pub tls: &'static str,
    /// `tag` or `am`, the two interfaces of UCX for messages.
    pub kind: &'static str,
}

impl Ucx {
    /// The reason why UCX cannot be measured on this machine, or `None` if it can.
    pub fn missing(&self, peers: &PeerPrograms) -> Option<String> {
        let is_there = in_path(PROGRAM.as_ref()).is_some();
        let why = || format!("UCX is not installed: there is no {PROGRAM}");
        (!is_there)
            .then(why)
            .or_else(|| peers.hung(PROGRAM, &self.task()))
    }

    fn task(&self) -> String {
        format!("{self:?}")
    }

    /// The name of the batch file with the tests.
    fn list(&self, test: Test) -> String {
        let means = if self.is_remote() { "tcp" } else { "memory" };
        format!("ucx-{}-{}-{means}", self.kind, test.name())
    }

    /// The commands of the two processes, pinned like our own processes. The first one is the
    /// server.
    fn ends(&self, peers: &PeerPrograms, test: Test) -> Result<[Argv; 2]> {
        let port = (20_000 + std::process::id() % 10_000).to_string();
        let end = |rank: usize, host: &[&str]| -> Result<Argv> {
            let argv = Argv::new([PROGRAM, "-f", "-w", "1000", "-p", &port])
                .env("UCX_TLS", self.tls)
                .args(["-c", &processor(rank)?.to_string()])
                .args(host);
            Ok(argv.args(["-b", &peers.file(&self.list(test)).display().to_string()]))
        };
        Ok([end(1, &[])?, end(0, &["127.0.0.1"])?])
    }

    /// A shell command that runs both processes.
    pub fn shell_command(&self, peers: &PeerPrograms, test: Test) -> String {
        let Ok([server, client]) = self.ends(peers, test) else {
            return String::new();
        };
        format!("{server} & sleep 1; {client}")
    }

    /// Runs a test. Returns a sample for each size.
    pub fn run(
        &self,
        peers: &PeerPrograms,
        test: Test,
        sizes: &[usize],
        seconds: f64,
    ) -> Result<Vec<Sample>> {
        let lines = sizes.iter().map(|size| {
            let (name, count) = self.test(test, *size, seconds);
            format!("size{size} -t {name} -s {size} -n {count}\n")
        });
        peers.write(&self.list(test), &lines.collect::<String>())?;
        let [server, client] = self.ends(peers, test)?;
        let mut server = server.command();
        let mut server = child::start(server.stdout(Stdio::null()).stderr(Stdio::null()))?;
        let limit = PAIR_TIMEOUT + Duration::from_secs_f64(4.0 * seconds * sizes.len() as f64);
        let begun = Instant::now();
        let finished = loop {
            std::thread::sleep(Duration::from_millis(100));
            let finished = peers.run(&client, &self.task(), limit);
            if finished.is_ok()
                || child::is_interrupted()
                || begun.elapsed() > Duration::from_secs(5)
            {
                break finished;
            }
        };
        if finished.is_err() {
            server.kill()?;
            server.wait()?;
        }
        let finished = finished?;
        let theirs = child::wait(server, PROGRAM, PAIR_TIMEOUT)?.cpu;
        samples(&finished.stdout, test, sizes.len(), [finished.cpu, theirs])
    }

    fn is_remote(&self) -> bool {
        self.tls.contains("tcp")
    }

    /// The program's name for a test, and the number of repetitions. The program does not measure
    /// for a given time, so the number assumes 8 GB/s; for sockets it assumes 1.5 GB/s and 8 us per
    /// message.
    fn test(&self, test: Test, size: usize, seconds: f64) -> (String, u64) {
        let is_remote = self.is_remote();
        let bytes = if is_remote { 1.5e9 } else { 8e9 } * seconds;
        let each = if is_remote { 16e3 } else { 300.0 };
        let (name, count) = match test {
            Test::Latency => {
                let each = if is_remote { 8e-6 } else { 0.3e-6 };
                let by_size = size as f64 / if is_remote { 0.8e9 } else { 4e9 };
                ("lat", seconds / (each + by_size))
            }
            _ => ("bw", bytes / (size as f64 + each)),
        };
        let kind = if self.kind == "tag" { "tag" } else { "ucp_am" };
        (format!("{kind}_{name}"), count.max(50.0).round() as u64)
    }
}

/// Parses the output. The CPU seconds of both processes cover all sizes, and are divided evenly
/// among them.
fn samples(text: &str, test: Test, count: usize, cpu: [f64; 2]) -> Result<Vec<Sample>> {
    let found: Vec<Sample> = text
        .lines()
        .filter_map(|line| {
            // The columns: name, count, median, average and overall time (us), and average and
            // overall rates in MB/s and messages/s.
            let (_, numbers) = line.trim().strip_prefix("size")?.split_once(' ')?;
            let numbers: Vec<f64> = numbers
                .split_whitespace()
                .map_while(|word| word.parse().ok())
                .collect();
            let [_, _, _, overall, ..] = numbers[..] else {
                return None;
            };
            let there_and_back = if test == Test::Latency { 2.0 } else { 1.0 };
            Some(Sample {
                seconds: vec![there_and_back * overall * 1e-6],
                window: 1.0,
                cpu: cpu.map(|cpu| cpu / count as f64),
                percentiles: None,
            })
        })
        .collect();
    match found.len() == count {
        true => Ok(found),
        false => bail!("{PROGRAM} printed {text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of UCX 1.13.1.
    const OUTPUT: &str = "\
+--------------+--------------+------------------------------+---------------------+-----------------------+
|              |              |       overhead (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
|     Test     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
     size8               500      0.366     0.474     0.475       16.10      16.10     2109811     2109811
  size4096               500      1.388     1.464     1.465     2667.97    2667.97      683000      683000
";

    #[test]
    fn output_is_parsed() {
        let cpu = [0.4, 0.2];
        let found = samples(OUTPUT, Test::Latency, 2, cpu).unwrap();
        let seconds: Vec<f64> = found.iter().map(|sample| sample.seconds[0]).collect();
        assert!((seconds[0] - 0.95e-6).abs() < 1e-12 && (seconds[1] - 2.93e-6).abs() < 1e-12);
        assert_eq!((found[1].cpu, found[1].window), ([0.2, 0.1], 1.0));
        let found = samples(OUTPUT, Test::Stream, 2, cpu).unwrap();
        assert!((found[1].seconds[0] - 1.465e-6).abs() < 1e-12);
        for (text, count) in [(OUTPUT, 3), ("size8 500 0.3 0.4\n", 1), ("", 1)] {
            assert!(samples(text, Test::Latency, count, cpu).is_err(), "{text}");
        }
    }

    #[test]
    fn command_lines_are_as_shown() {
        let ucx = Ucx {
            tls: UCX_TCP,
            kind: "am",
        };
        let shell_command =
            ucx.shell_command(&PeerPrograms::new("run/programs".into()), Test::Stream);
        let ends = shell_command
            .matches("UCX_TLS=tcp,self ucx_perftest -f -w 1000 -p 2")
            .count();
        let files = shell_command
            .matches("-b run/programs/ucx-am-stream-tcp")
            .count();
        assert_eq!((ends, files), (2, 2), "{shell_command}");
    }
}
