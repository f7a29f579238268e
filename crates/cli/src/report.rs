//! The statistics of a run: the live line, the summary and the JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use mgn_launch::watch::Verdict;
use mgn_launch::{Counters, Report};
use serde::Serialize;

/// The keys and units of `--stats-json`.
#[derive(Debug, Serialize)]
pub struct Figures {
    /// Between the first and the last frame.
    pub frames_per_second: f64,
    pub bytes_per_frame: f64,
    pub commands_per_frame: f64,
    /// As a share of the time since the program first used OpenGL, from 0 to 1.
    pub send_wait_share: f64,
    /// The number of times that commands waited for an answer, by name of the command.
    pub round_trips: BTreeMap<String, u64>,
    /// Of these, the calls of glGetError, by the last command that could have failed.
    pub doubts: BTreeMap<String, u64>,
    pub frames: u64,
    pub frames_shown: u64,
    pub seconds: f64,
    pub bytes: u64,
    pub commands: u64,
    pub messages: u64,
    pub answer_bytes: u64,
    /// Processes that drew through the server.
    pub processes: usize,
    pub program_cpu_seconds: f64,
    /// Zero if the run uses a server that it has not started.
    pub server_cpu_seconds: f64,
    /// Whether every process that used OpenGL did so through the server.
    pub reached_server: bool,
    /// Other OpenGL drivers that were loaded.
    pub other_drivers: Vec<PathBuf>,
    pub exit_status: i32,
}

impl Figures {
    pub fn new(counters: &Counters, report: &Report) -> Figures {
        let mut other_drivers: Vec<PathBuf> = report
            .processes
            .iter()
            .flat_map(|p| p.mapped.drivers())
            .cloned()
            .collect();
        other_drivers.sort();
        other_drivers.dedup();
        Figures {
            frames_per_second: counters.frames_per_second(),
            bytes_per_frame: counters.per_frame(counters.bytes),
            commands_per_frame: counters.per_frame(counters.commands),
            send_wait_share: counters.send_wait_share(),
            round_trips: by_name(&counters.round_trips_by_op),
            doubts: by_name(&counters.doubts_by_op),
            frames: counters.frames,
            frames_shown: counters.shown,
            seconds: counters.elapsed.as_secs_f64(),
            bytes: counters.bytes,
            commands: counters.commands,
            messages: counters.messages,
            answer_bytes: counters.answer_bytes,
            processes: counters.processes,
            program_cpu_seconds: report.program_time.as_secs_f64(),
            server_cpu_seconds: report.server_time.as_secs_f64(),
            reached_server: counters.processes > 0
                && !matches!(report.verdict, Verdict::Elsewhere { .. }),
            other_drivers,
            exit_status: report.status,
        }
    }

    /// The summary, which has several lines.
    pub fn summary(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "frames          {} in {:.2} s, {:.1} a second",
            self.frames, self.seconds, self.frames_per_second
        );
        let _ = writeln!(
            text,
            "sent            {} a frame, {} in all",
            bytes(self.bytes_per_frame),
            bytes(self.bytes as f64)
        );
        let _ = writeln!(
            text,
            "commands        {:.0} a frame",
            self.commands_per_frame
        );
        let _ = writeln!(
            text,
            "waited to send  {:.1} % of the time",
            self.send_wait_share * 100.0
        );
        let _ = writeln!(
            text,
            "processor       {:.2} s program, {:.2} s server",
            self.program_cpu_seconds, self.server_cpu_seconds
        );
        let all: u64 = self.round_trips.values().sum();
        let _ = write!(text, "round trips     {all}");
        for (name, count) in most_first(&self.round_trips) {
            let _ = write!(text, "\n                {count:>7} {name}");
        }
        for (name, count) in most_first(&self.doubts) {
            let _ = write!(text, "\n                {count:>7} glGetError after {name}");
        }
        text
    }
}

/// One line while the program runs. `last` are the counters `seconds` ago.
pub fn live_line(now: &Counters, last: &Counters, seconds: f64) -> String {
    let frames = now.frames.saturating_sub(last.frames);
    let rate = |a: u64, b: u64| a.saturating_sub(b) as f64 / frames.max(1) as f64;
    let waited = now.send_wait.saturating_sub(last.send_wait).as_secs_f64();
    format!(
        "frame {} · {:.1}/s · {}/frame · {:.0} commands/frame · {:.0} % waiting · {} round trips",
        now.frames,
        frames as f64 / seconds,
        bytes(rate(now.bytes, last.bytes)),
        rate(now.commands, last.commands),
        (waited / seconds).min(1.0) * 100.0,
        now.round_trips,
    )
}

fn most_first(counts: &BTreeMap<String, u64>) -> Vec<(&String, &u64)> {
    let mut names: Vec<_> = counts.iter().collect();
    names.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
    names
}

fn by_name(by_op: &BTreeMap<u16, u64>) -> BTreeMap<String, u64> {
    let mut names = BTreeMap::new();
    for (&op, &count) in by_op {
        let name = match mgn_wire::name(op) {
            "?" => format!("op {op}"),
            name => name.to_owned(),
        };
        *names.entry(name).or_default() += count;
    }
    names
}

fn bytes(n: f64) -> String {
    match n {
        n if n >= 1e9 => format!("{:.2} GB", n / 1e9),
        n if n >= 1e6 => format!("{:.2} MB", n / 1e6),
        n if n >= 1e3 => format!("{:.2} kB", n / 1e3),
        n => format!("{n:.0} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn report() -> Report {
        Report {
            status: 3,
            signal: None,
            verdict: Verdict::Ours,
            program_time: Duration::from_millis(1500),
            server_time: Duration::ZERO,
            processes: Vec::new(),
        }
    }

    fn counters(frames: u64) -> Counters {
        let mut counters = Counters::default();
        counters.processes = 1;
        counters.frames = frames;
        counters.bytes = frames * 2_500_000;
        counters.commands = frames * 40;
        counters.round_trips = 3;
        counters.round_trips_by_op = BTreeMap::from([(mgn_wire::ops::FIRST, 2), (65000, 1)]);
        counters.elapsed = Duration::from_secs(10);
        counters
    }

    #[test]
    fn json_has_the_promised_keys() {
        let figures = Figures::new(&counters(50), &report());
        let json = serde_json::to_value(&figures).unwrap();
        assert_eq!(json["frames_per_second"], 5.0);
        assert_eq!(json["bytes_per_frame"], 2_500_000.0);
        assert_eq!(json["commands_per_frame"], 40.0);
        assert_eq!(json["send_wait_share"], 0.0);
        assert_eq!(json["round_trips"][mgn_wire::name(mgn_wire::ops::FIRST)], 2);
        assert_eq!(json["round_trips"]["op 65000"], 1);
        assert_eq!(json["exit_status"], 3);
    }

    #[test]
    fn people_can_read_it() {
        let summary = Figures::new(&counters(50), &report()).summary();
        assert!(summary.contains("50 in 10.00 s, 5.0 a second"), "{summary}");
        assert!(summary.contains("2.50 MB a frame"), "{summary}");
        let line = live_line(&counters(50), &counters(40), 2.0);
        assert!(
            line.starts_with("frame 50 · 5.0/s · 2.50 MB/frame · 40 commands"),
            "{line}"
        );
        let idle = live_line(&counters(50), &counters(50), 2.0);
        assert!(idle.contains("0.0/s"), "{idle}");
    }
}
