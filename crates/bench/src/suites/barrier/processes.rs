//! Barriers of processes on one host, by the number of processes and by kind. They are compared
//! with MPI's barriers and with the raw barriers, which are the limits.

use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result};

use super::lines::{figure, verdict, POLLED_LINE, UDP};
use crate::argv::Argv;
use crate::barrier::{batches, Group, COUNTER, DATAGRAMS, FLAGS, POLLED_DATAGRAMS};
use crate::goals::Goal;
use crate::machine::processors;
use crate::net::crowd::raise_limits;
use crate::net::peers::{
    task, MpiLibrary, MpiSettings, PeerPrograms, BARRIERS, DEFAULT_SETTINGS, OPEN_MPI_MEMORY,
    OPEN_MPI_YIELDING,
};
use crate::plan::{BenchOptions, ByDistance, Experiment, Figure, Method, ROUNDS};
use crate::record::{Axis, Better, Kind, Outcome, Plot};
use crate::statistics::median;
use crate::suite::Suite;

const PROCESSES: [usize; 6] = [2, 4, 9, 16, 32, 64];
const QUICK: [usize; 2] = [2, 9];

/// The largest number of processes for MPI. On a few processors, libraries that do not yield take
/// seconds for a barrier of more processes.
const MPI_MOST: usize = 16;

/// The kinds that are measured. The last one is also compared with raw datagrams.
const KINDS: [&str; 5] = ["shm", "star", "tree-8", "dissemination", UDP];

const DATAGRAMS_LINE: &str = "plain udp, sleeping";
const FLAGS_LINE: &str = "two flags";
const COUNTER_LINE: &str = "a counter, yielding";

const PLOT: &str = "barrier-processes";
const SHM_PLOT: &str = "barrier-shm";
const IN_TURN_LINE: &str = "shm, in turn with its limit";

/// The time limit of a run of MPI, in addition to its measuring time.
const MPI_TIMEOUT: Duration = Duration::from_secs(60);

pub fn plan(options: &BenchOptions) -> Result<Experiment> {
    raise_limits()?;
    let counts = options.full_or_quick(&PROCESSES[..], &QUICK[..]);
    let seconds = options.full_or_quick(0.2, 0.02);
    let here = |name, kind, of: &'static str, counts: Vec<usize>| {
        Box::new(OnOneHost {
            name,
            kind,
            barrier: of,
            counts,
            seconds,
            is_in_turn: false,
        }) as Box<dyn Method>
    };
    let mut methods: Vec<Box<dyn Method>> = KINDS
        .iter()
        .map(|kind| here(kind, Kind::Ours, kind, counts.to_vec()))
        .collect();
    for (name, library, settings) in [
        ("Open MPI", MpiLibrary::OpenMpi, OPEN_MPI_MEMORY),
        ("Open MPI, yielding", MpiLibrary::OpenMpi, OPEN_MPI_YIELDING),
        ("MPICH", MpiLibrary::Mpich, DEFAULT_SETTINGS),
    ] {
        let most = counts.iter().filter(|count| **count <= MPI_MOST);
        methods.push(Box::new(Mpi {
            name,
            peers: options.peers.clone(),
            library,
            settings,
            counts: most.copied().collect(),
            seconds,
        }));
    }
    let more = counts[1..].to_vec();
    methods.extend([
        here(FLAGS_LINE, Kind::Limit, FLAGS, vec![2]),
        here(COUNTER_LINE, Kind::Limit, COUNTER, more),
        here(POLLED_LINE, Kind::Limit, POLLED_DATAGRAMS, counts.to_vec()),
        here(DATAGRAMS_LINE, Kind::Limit, DATAGRAMS, counts.to_vec()),
    ]);
    methods.push(Box::new(OnOneHost {
        name: IN_TURN_LINE,
        kind: Kind::Ours,
        barrier: KINDS[0],
        counts: counts.to_vec(),
        seconds,
        is_in_turn: true,
    }));
    let mut goals = vec![Goal::of(PLOT, UDP, 2.0).times(POLLED_LINE).at_most(1.5)];
    goals.extend(
        [(2.0, 1.3), (9.0, 1.4)]
            .map(|(processes, most)| Goal::of(SHM_PLOT, IN_TURN_LINE, processes).at_most(most)),
    );
    let processors = processors();
    Ok(Experiment {
        suite: Suite::Barrier,
        key: "barrier processes".to_string(),
        plots: vec![
            Plot::new(
                PLOT,
                "One barrier of processes on one host",
                Axis::log("processes", ""),
                Axis::log("time", "us"),
                Better::Less,
            ),
            Plot::new(
                SHM_PLOT,
                "One barrier of shm, as a multiple of its limit in the same processes",
                Axis::log("processes", ""),
                Axis::linear("time, as a multiple", ""),
                Better::Less,
            ),
        ],
        methods,
        by_distance: ByDistance::No,
        budget: Duration::from_secs(options.full_or_quick(240, 10)),
        rounds: ROUNDS,
        notes: vec![format!(
            "{processors} processors; each value is the median of a round's batches, and the percentiles are those of batches"
        )],
        goals,
        conclude: verdicts,
    })
}

/// Processes of this program on this host.
struct OnOneHost {
    name: &'static str,
    kind: Kind,
    /// As [`Group::kind`].
    barrier: &'static str,
    counts: Vec<usize>,
    seconds: f64,
    /// Whether the barrier is measured in turn with its limit in the same processes. Other lines
    /// come from different processes, which have their pages at different addresses.
    is_in_turn: bool,
}

impl Method for OnOneHost {
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn command(&self) -> String {
        "mgn bench barrier --only processes".to_string()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let figure_of = |count: &usize| {
            let group = Group {
                kind: self.barrier,
                hosts: vec![IpAddr::V4(Ipv4Addr::LOCALHOST); *count],
                prefixes: Vec::new(),
                environment: Vec::new(),
                seconds: self.seconds,
                each: false,
                beside: self
                    .is_in_turn
                    .then_some(if *count == 2 { FLAGS } else { COUNTER }),
            };
            let batches = group.run();
            let batches = batches.with_context(|| format!("{count} processes"))?;
            Ok(match self.is_in_turn {
                true => Figure::new(SHM_PLOT, *count as f64, median(&batches).0),
                false => figure(PLOT, *count as f64, &batches),
            })
        };
        self.counts.iter().map(figure_of).collect()
    }
}

/// `MPI_Barrier`.
struct Mpi {
    name: &'static str,
    peers: Rc<PeerPrograms>,
    library: MpiLibrary,
    settings: MpiSettings,
    counts: Vec<usize>,
    seconds: f64,
}

impl Mpi {
    fn argv(&self, processes: usize) -> Argv {
        let words = [self.seconds.to_string()];
        self.peers
            .argv(self.library, &self.settings, BARRIERS, processes, &words)
    }
}

impl Method for Mpi {
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn kind(&self) -> Kind {
        Kind::Peer
    }

    fn command(&self) -> String {
        let runs: Vec<Argv> = self.counts.iter().map(|count| self.argv(*count)).collect();
        self.peers.shell_command(self.library, BARRIERS, &runs)
    }

    fn missing(&self) -> Option<String> {
        self.peers.missing(self.library, &self.settings, BARRIERS)
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let figure_of = |count: &usize| {
            let (argv, task) = (self.argv(*count), task(BARRIERS, &self.settings));
            let limit = MPI_TIMEOUT + Duration::from_secs_f64(self.seconds);
            let finished = self.peers.run(&argv, &task, limit);
            let finished = finished.with_context(|| format!("{count} processes"))?;
            Ok(figure(PLOT, *count as f64, &batches(&finished.stdout)?))
        };
        self.counts.iter().map(figure_of).collect()
    }
}

/// Compares our best kind with the limits and MPI, and the kind over datagrams as well.
fn verdicts(outcome: &Outcome) -> Vec<String> {
    let limits = [
        (KINDS[0], FLAGS_LINE),
        (KINDS[0], COUNTER_LINE),
        (UDP, POLLED_LINE),
        (UDP, DATAGRAMS_LINE),
    ];
    let peers = ["Open MPI", "Open MPI, yielding", "MPICH"].map(|peer| (KINDS[0], peer));
    let all = limits.iter().chain(&peers);
    all.filter_map(|(ours, other)| verdict(outcome, PLOT, ours, other, "processes"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Distance, Point, Series, State};

    #[test]
    fn every_kind_is_planned_beside_its_limit() {
        for is_quick in [false, true] {
            let planned = plan(&BenchOptions::of_nowhere(is_quick)).unwrap();
            assert_eq!(planned.key, "barrier processes");
            let of = |kind: Kind| -> Vec<String> {
                let methods = planned.methods.iter();
                let methods = methods.filter(|method| method.kind() == kind);
                methods.map(|method| method.name()).collect()
            };
            assert_eq!(of(Kind::Ours)[..KINDS.len()], KINDS);
            assert_eq!(of(Kind::Ours)[KINDS.len()..], [IN_TURN_LINE]);
            assert_eq!(of(Kind::Peer), ["Open MPI", "Open MPI, yielding", "MPICH"]);
            let limits = [FLAGS_LINE, COUNTER_LINE, POLLED_LINE, DATAGRAMS_LINE];
            assert_eq!(of(Kind::Limit), limits);
            let udp = Goal::of(PLOT, UDP, 2.0).times(POLLED_LINE).at_most(1.5);
            assert!(planned.goals.contains(&udp), "{:?}", planned.goals);
        }
        for kind in KINDS {
            let parsed: mgn_barrier::Kind = kind.parse().unwrap();
            assert_ne!(parsed, mgn_barrier::Kind::Auto);
        }
    }

    #[test]
    fn command_lines_are_as_shown() {
        let mpi = Mpi {
            name: "Open MPI, yielding",
            peers: Rc::new(PeerPrograms::new("run/programs".into())),
            library: MpiLibrary::OpenMpi,
            settings: OPEN_MPI_YIELDING,
            counts: vec![2, 9],
            seconds: 0.2,
        };
        let shell_command = mpi.command();
        let runs: Vec<&str> = shell_command.split(" && ").collect();
        assert!(runs[0].starts_with("mpicc.openmpi "), "{shell_command}");
        assert_eq!(runs[1..], [2, 9].map(|count| mpi.argv(count).to_string()));
        let end = "--oversubscribe --mca btl self,vader --mca mpi_yield_when_idle 1 \
                   run/programs/barriers-mpicc.openmpi 0.2";
        assert!(
            runs[2].contains("-np 9 ") && runs[2].ends_with(end),
            "{shell_command}"
        );
    }

    #[test]
    fn ours_is_compared_with_limits_and_mpi() {
        let line = |name: &str, kind: Kind, values: &[(f64, f64)]| Series {
            plot: PLOT.into(),
            name: name.into(),
            kind,
            command: String::new(),
            points: values
                .iter()
                .map(|(x, value)| Point::single(*x, Distance::Any, *value))
                .collect(),
            note: None,
        };
        let mut outcome = Outcome {
            suite: Suite::Barrier,
            key: "barrier processes".into(),
            plots: Vec::new(),
            series: vec![
                line("shm", Kind::Ours, &[(2., 0.24), (9., 9.)]),
                line(UDP, Kind::Ours, &[(2., 30.)]),
                line(FLAGS_LINE, Kind::Limit, &[(2., 0.2)]),
                line(COUNTER_LINE, Kind::Limit, &[(9., 7.5)]),
                line(DATAGRAMS_LINE, Kind::Limit, &[(2., 20.)]),
                line("Open MPI", Kind::Peer, &[(2., 0.48), (9., 18.)]),
            ],
            notes: Vec::new(),
            goals: Vec::new(),
            rounds: 1,
            seconds: 1.,
        };
        let expected = [
            "shm, times the time of two flags: 1.20 at 2 processes",
            "shm, times the time of a counter, yielding: 1.20 at 9 processes",
            "udp, times the time of plain udp, sleeping: 1.50 at 2 processes",
            "shm, times the time of Open MPI: 0.50 at 2 processes, 0.50 at 9 processes",
        ];
        assert_eq!(verdicts(&outcome), expected);
        outcome.series[0].points[1].state = State::Unresolved;
        let small = "shm, times the time of Open MPI: 0.50 at 2 processes";
        assert_eq!(verdicts(&outcome)[2], small);
        outcome.series.truncate(2);
        assert_eq!(verdicts(&outcome), [""; 0]);
    }
}
