//! Many processes and many links. The suite measures the total throughput, the fairness among the
//! links, the memory of all processes, and the processor time while all of them wait. Either all
//! processes send to each other, or many links lead to one receiver. The suite `pattern` measures
//! the time of a step from all to all. This suite runs only if it is named.

use std::time::{Duration, Instant};

use anyhow::{ensure, Result};

use crate::goals::Goal;
use crate::net::crowd::{command_all, memory, mesh, raise_limits, spent, star, MemberProcess};
use crate::net::member::COUNTED;
use crate::plan::{no_conclusions, BenchOptions, ByDistance, Experiment, Figure, Method, ROUNDS};
use crate::record::{Axis, Better, Kind, Plot};
use crate::suite::Suite;

const SIZES: [usize; 3] = [8, 4 << 10, 64 << 10];

/// The goal for the memory of all processes together, in MiB.
const MEMORY: f64 = 256.0;

/// The goal for the slowest link, in percent of the fastest link.
const FAIR: f64 = 90.0;

/// The goal for the CPU time while all processes wait, in percent of one processor.
const IDLE: f64 = 1.0;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// This number of processes, each with a link to every other one.
    AllToAll(usize),
    /// This number of senders, each with this number of links to one receiver.
    ManyToOne(usize, usize),
}

pub fn plan(options: &BenchOptions) -> Result<Vec<Experiment>> {
    raise_limits()?;
    let all = options.full_or_quick(Shape::AllToAll(16), Shape::AllToAll(4));
    let many = options.full_or_quick(Shape::ManyToOne(10, 100), Shape::ManyToOne(2, 10));
    Ok(vec![
        experiment(all, &["shm", "tcp"], options),
        experiment(many, &["shm", "unix", "tcp"], options),
    ])
}

fn experiment(shape: Shape, transports: &[&'static str], options: &BenchOptions) -> Experiment {
    let (seconds, idle) = options.full_or_quick((5.0, 3.0), (0.2, 0.1));
    let methods = transports.iter().map(|transport| {
        Box::new(Crowd {
            transport,
            shape,
            seconds,
            idle,
        }) as Box<dyn Method>
    });
    Experiment {
        suite: Suite::Crowd,
        key: format!("crowd {}", shape.name().replace('-', " ")),
        plots: shape.plots(),
        methods: methods.collect(),
        by_distance: ByDistance::No,
        budget: Duration::from_secs(options.full_or_quick(300, 5)),
        rounds: ROUNDS,
        notes: vec![format!(
            "{}; with each size, all send for {seconds} s; memory that processes share is counted once",
            shape.words()
        )],
        goals: transports.iter().flat_map(|name| shape.goals(name)).collect(),
        conclude: no_conclusions,
    }
}

impl Shape {
    fn name(self) -> &'static str {
        match self {
            Shape::AllToAll(_) => "all-to-all",
            Shape::ManyToOne(..) => "many-to-one",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Shape::AllToAll(_) => "all to all",
            Shape::ManyToOne(..) => "many to one",
        }
    }

    fn words(self) -> String {
        match self {
            Shape::AllToAll(count) => {
                let links = count * (count - 1) / 2;
                format!("{count} processes, each with a link to every other one: {links} links")
            }
            Shape::ManyToOne(senders, each) => {
                let links = senders * each;
                format!("{senders} senders, each with {each} links to one receiver: {links} links")
            }
        }
    }

    fn id(self, plot: &str) -> String {
        format!("crowd-{}-{plot}", self.name())
    }

    fn plots(self) -> Vec<Plot> {
        let plot = |id: &str, title: &str, x: Axis, y: Axis, better| {
            Plot::new(
                self.id(id),
                format!("{title}, {}", self.title()),
                x,
                y,
                better,
            )
        };
        let sizes = || Axis::log("message size", "B");
        let (mib, none) = (|| Axis::linear("memory", "MiB"), Axis::none);
        let rate = Axis::log("rate", "GB/s");
        let share = Axis::linear("of the fastest link", "%");
        let idle = Axis::linear("of one processor", "%");
        let made = Axis::linear("time", "s");
        vec![
            plot("rate", "All links together", sizes(), rate, Better::More),
            plot("fair", "The slowest link", sizes(), share, Better::More),
            plot("made", "Making the links", none(), made, Better::Less),
            plot(
                "first",
                "Memory before anything is sent",
                none(),
                mib(),
                Better::Less,
            ),
            plot("memory", "Memory at last", none(), mib(), Better::Less),
            plot(
                "idle",
                "Processor time while all wait",
                none(),
                idle,
                Better::Less,
            ),
        ]
    }

    fn goals(self, transport: &str) -> Vec<Goal> {
        let of = |plot: &str, x| Goal::of(self.id(plot), transport, x);
        let fair = SIZES.map(|size| of("fair", size as f64).at_least(FAIR));
        let rest = [
            of("memory", 0.0).at_most(MEMORY),
            of("idle", 0.0).at_most(IDLE),
        ];
        fair.into_iter().chain(rest).collect()
    }
}

struct Crowd {
    transport: &'static str,
    shape: Shape,
    /// The seconds for which all send with each size, and the seconds for which all wait.
    seconds: f64,
    idle: f64,
}

impl Method for Crowd {
    fn name(&self) -> String {
        self.transport.to_string()
    }

    fn kind(&self) -> Kind {
        Kind::Ours
    }

    fn command(&self) -> String {
        format!("mgn bench crowd --only '{}'", self.shape.title())
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let figure = |plot: &str, value| Figure::new(&self.shape.id(plot), 0.0, value);
        let begun = Instant::now();
        let mut all = match self.shape {
            Shape::AllToAll(count) => mesh(self.transport, count)?,
            Shape::ManyToOne(senders, each) => star(self.transport, senders, each)?,
        };
        let mut figures = vec![figure("made", begun.elapsed().as_secs_f64())];
        figures.push(figure("first", memory(&all)?));
        for size in SIZES {
            figures.extend(self.flow(&mut all, size)?);
        }
        figures.push(figure("memory", memory(&all)?));
        let before = command_all(&mut all, |_| "wait 0".into())?;
        let after = command_all(&mut all, |_| format!("wait {}", self.idle))?;
        let cpu = spent(&before, &after);
        let share = (cpu[0] + cpu[1]) / self.idle * 100.0;
        figures.push(figure("idle", share).cpu(cpu));
        Ok(figures)
    }
}

impl Crowd {
    /// Measures while all senders send as fast as possible.
    fn flow(&self, all: &mut [MemberProcess], size: usize) -> Result<[Figure; 2]> {
        let seconds = self.seconds;
        let is_all = matches!(self.shape, Shape::AllToAll(_));
        let before = command_all(all, |_| "wait 0".into())?;
        let answers = command_all(all, |index| {
            let (sends, receives) = (is_all || index > 0, is_all || index == 0);
            format!("flow {size} {seconds} {sends} {receives}")
        })?;
        let mut counts = Vec::new();
        for word in answers
            .iter()
            .flat_map(|(_, answer)| answer.split_whitespace())
        {
            counts.push(word.parse::<f64>()?);
        }
        let counted = (COUNTED.1 - COUNTED.0) * seconds;
        let [rate, fair] = rate_and_fairness(&counts, size, counted)?;
        let figure = |plot: &str, value| Figure::new(&self.shape.id(plot), size as f64, value);
        let rate = figure("rate", rate).cpu(spent(&before, &answers));
        Ok([rate, figure("fair", fair)])
    }
}

/// The rate of all links together in GB/s, and the messages of the slowest link in percent of the
/// messages of the fastest link. `counts` are the messages of each link.
fn rate_and_fairness(counts: &[f64], size: usize, seconds: f64) -> Result<[f64; 2]> {
    let most = counts.iter().copied().fold(0.0, f64::max);
    let least = counts.iter().copied().fold(f64::MAX, f64::min);
    ensure!(
        most > 0.0,
        "no message of {size} B arrived within {seconds:.2} s"
    );
    let bytes = counts.iter().sum::<f64>() * size as f64;
    Ok([bytes / seconds / 1e9, least / most * 100.0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_link_and_the_rate_are_those_of_the_counts() {
        let [rate, fair] = rate_and_fairness(&[2e6, 1e6, 1e6], 1000, 2.0).unwrap();
        assert_eq!((rate, fair), (2.0, 50.0));
        let error = rate_and_fairness(&[0.0, 0.0], 8, 0.11)
            .unwrap_err()
            .to_string();
        assert_eq!(error, "no message of 8 B arrived within 0.11 s");
    }

    #[test]
    fn each_transport_has_five_goals() {
        for is_quick in [false, true] {
            let options = BenchOptions::of_nowhere(is_quick);
            let planned = plan(&options).unwrap();
            let keys: Vec<&str> = planned.iter().map(|one| &one.key[..]).collect();
            assert_eq!(keys, ["crowd all to all", "crowd many to one"]);
            for (experiment, methods) in planned.iter().zip([2, 3]) {
                assert_eq!(experiment.methods.len(), methods);
                assert_eq!(experiment.goals.len(), 5 * methods);
            }
        }
    }
}
