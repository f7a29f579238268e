//! The throughput of many processes and many links, and the fairness among them: all to all, and
//! many links to one receiver.

use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::{json, Value};

use mgn_bench::net::crowd::{command_all, memory, mesh, spent, star, MemberProcess};
use mgn_bench::net::member::COUNTED;

pub struct Crowd {
    pub name: &'static str,
    transport: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// This number of processes, each with a link to every other one.
    AllToAll(usize),
    /// This number of senders, each with this number of links to one receiver.
    ManyToOne(usize, usize),
}

/// The results of a crowd, one per line.
pub struct Figures {
    name: &'static str,
    figures: Vec<Figure>,
}

struct Figure {
    what: String,
    value: f64,
    unit: &'static str,
    /// CPU seconds of the first process and of all others.
    cpu: Option<[f64; 2]>,
    wanted: Option<Wanted>,
}

enum Wanted {
    AtLeast(f64),
    AtMost(f64),
}

const SIZES: [usize; 3] = [8, 4 << 10, 64 << 10];

/// The goal for the memory of all processes together, in MiB.
const MEMORY: f64 = 256.0;

/// The goal for the slowest link, as a share of the fastest link.
const FAIR: f64 = 0.9;

/// The goal for the CPU time while all processes wait, as a share of one processor.
const IDLE: f64 = 0.01;

pub fn all(quick: bool) -> Vec<Crowd> {
    let everybody = Kind::AllToAll(if quick { 4 } else { 16 });
    let many = match quick {
        true => Kind::ManyToOne(2, 10),
        false => Kind::ManyToOne(10, 100),
    };
    let crowd = |name, transport, kind| Crowd {
        name,
        transport,
        kind,
    };
    vec![
        crowd("all to all, shm", "shm", everybody),
        crowd("all to all, tcp", "tcp", everybody),
        crowd("many to one, shm", "shm", many),
        crowd("many to one, unix", "unix", many),
        crowd("many to one, tcp", "tcp", many),
    ]
}

impl Crowd {
    pub fn measure(&self, quick: bool) -> Result<Figures> {
        let (seconds, idle) = if quick { (0.02, 0.05) } else { (5.0, 3.0) };
        let begun = Instant::now();
        let mut all = self.start()?;
        let joined = begun.elapsed().as_secs_f64();
        let mut figures = vec![Figure {
            what: format!("{} processes, {} links: made in", all.len(), self.links()),
            value: joined,
            unit: "s",
            cpu: None,
            wanted: None,
        }];
        let links = memory(&all)?;
        figures.push(figure("memory before anything is sent", links, "MiB"));
        for size in SIZES {
            figures.extend(self.flow(&mut all, size, seconds)?);
        }
        if let Kind::AllToAll(_) = self.kind {
            for size in SIZES {
                figures.push(turns(&mut all, size, seconds)?);
            }
        }
        figures.push(Figure {
            wanted: Some(Wanted::AtMost(MEMORY)),
            ..figure("memory of all, at last", memory(&all)?, "MiB")
        });
        let before = command_all(&mut all, |_| "wait 0".into())?;
        let after = command_all(&mut all, |_| format!("wait {idle}"))?;
        let cpu = spent(&before, &after);
        figures.push(Figure {
            cpu: Some(cpu),
            wanted: Some(Wanted::AtMost(IDLE)),
            ..figure(
                "processor while all wait",
                (cpu[0] + cpu[1]) / idle,
                "of one",
            )
        });
        Ok(Figures {
            name: self.name,
            figures,
        })
    }

    fn links(&self) -> usize {
        match self.kind {
            Kind::AllToAll(count) => count * (count - 1) / 2,
            Kind::ManyToOne(senders, each) => senders * each,
        }
    }

    /// Starts all processes with their links.
    fn start(&self) -> Result<Vec<MemberProcess>> {
        match self.kind {
            Kind::AllToAll(count) => mesh(self.transport, count),
            Kind::ManyToOne(senders, each) => star(self.transport, senders, each),
        }
    }

    /// All senders send as fast as possible.
    fn flow(&self, all: &mut [MemberProcess], size: usize, seconds: f64) -> Result<[Figure; 2]> {
        let is_all = matches!(self.kind, Kind::AllToAll(_));
        let before = command_all(all, |_| "wait 0".into())?;
        let answers = command_all(all, |index| {
            let (sends, receives) = (is_all || index > 0, is_all || index == 0);
            format!("flow {size} {seconds} {sends} {receives}")
        })?;
        let mut counts = Vec::new();
        for (_, answer) in &answers {
            for word in answer.split_whitespace() {
                counts.push(word.parse::<f64>()?);
            }
        }
        let most = counts.iter().copied().fold(0.0, f64::max);
        let least = counts.iter().copied().fold(f64::MAX, f64::min);
        let rate = counts.iter().sum::<f64>() / ((COUNTED.1 - COUNTED.0) * seconds);
        let (rate, unit) = match size < 1024 {
            true => (rate / 1e6, "M/s"),
            false => (rate * size as f64 / 1e9, "GB/s"),
        };
        let size = size_name(size);
        Ok([
            Figure {
                cpu: Some(spent(&before, &answers)),
                ..figure(&format!("{size}: all links together"), rate, unit)
            },
            Figure {
                wanted: Some(Wanted::AtLeast(FAIR)),
                ..figure(
                    &format!("{size}: least of {most:.0} messages of a link"),
                    least / most,
                    "of most",
                )
            },
        ])
    }
}

/// All processes send a message to each other and wait for the others', repeatedly.
fn turns(all: &mut [MemberProcess], size: usize, seconds: f64) -> Result<Figure> {
    let before = command_all(all, |_| "wait 0".into())?;
    let answers = command_all(all, |_| format!("turns {size} {seconds}"))?;
    let (_, first) = answers.first().context("there are processes")?;
    let (count, took) = first.split_once(' ').context("a count and a time")?;
    let each = took.trim().parse::<f64>()? / count.parse::<f64>()?;
    let what = format!("{}: each to each, once", size_name(size));
    Ok(Figure {
        cpu: Some(spent(&before, &answers)),
        ..figure(&what, each * 1e6, "us")
    })
}

fn figure(what: &str, value: f64, unit: &'static str) -> Figure {
    Figure {
        what: what.to_string(),
        value,
        unit,
        cpu: None,
        wanted: None,
    }
}

fn size_name(size: usize) -> String {
    match size < 1024 {
        true => format!("{size} B"),
        false => format!("{} KiB", size / 1024),
    }
}

impl Figures {
    pub fn lines(&self) -> String {
        let mut text = String::new();
        for (at, figure) in self.figures.iter().enumerate() {
            let title = if at == 0 { self.name } else { "" };
            let cpu = figure.cpu.map_or(String::new(), |[first, others]| {
                format!("{first:>8.2} + {others:<5.2}")
            });
            let line = format!(
                "{title:<18} {:<41} {:>8.3} {:<8} {cpu:<16} {}",
                figure.what,
                figure.value,
                figure.unit,
                figure.verdict(),
            );
            text += &format!("{}\n", line.trim_end());
        }
        text
    }

    pub fn json(&self) -> Value {
        let figures = self.figures.iter().map(|figure| {
            json!({
                "what": figure.what,
                "value": figure.value,
                "unit": figure.unit,
                "cpu_seconds": figure.cpu,
                "wanted": figure.verdict(),
            })
        });
        json!({ "row": self.name, "figures": figures.collect::<Vec<_>>() })
    }
}

impl Figure {
    fn verdict(&self) -> String {
        let (sign, limit, is_met) = match self.wanted {
            None => return String::new(),
            Some(Wanted::AtLeast(limit)) => (">=", limit, self.value >= limit),
            Some(Wanted::AtMost(limit)) => ("<=", limit, self.value <= limit),
        };
        format!("{sign} {limit}: {}", if is_met { "yes" } else { "NO" })
    }
}
