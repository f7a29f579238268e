//! Barriers of two hosts over a slow link: while the link is otherwise idle, while bulk transfers
//! fill it in both directions, and while it loses packets.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use mgn_fabric::Token;

use super::lines::{figure, verdict, POLLED_LINE, UDP};
use crate::argv::Argv;
use crate::barrier::{batches, microseconds, Group, Load, POLLED_DATAGRAMS};
use crate::goals::Goal;
use crate::net::emulated::{congestion_control, missing_requirement, Conditions, Link, INTERFACE};
use crate::net::peers::{MpiLibrary, PeerPrograms, BARRIERS, DEFAULT_SETTINGS};
use crate::plan::{BenchOptions, ByDistance, Experiment, Figure, Method, ROUNDS};
use crate::record::{Axis, Better, Kind, Outcome, Plot};
use crate::suite::Suite;
use crate::suites::unavailable::unavailable;

pub const LINKS: [Conditions; 2] = [
    Conditions { mbit: 100, loss: 0 },
    Conditions {
        mbit: 1000,
        loss: 0,
    },
];

/// The shares of packets that are lost, in percent, on links of [`LOSSY_MBIT`].
const LOSSES: [u32; 3] = [0, 1, 10];
const LOSSY_MBIT: u32 = 100;

const IDLE: &str = "barrier-link-idle";
const CONGESTED: &str = "barrier-link-congested";
const LOSSY: &str = "barrier-link-lossy";

/// The time of a barrier on a congested link, as a multiple of its time on the same link while this
/// is idle: the medians, and the 99th percentiles, of single barriers.
const SLOWDOWN: &str = "barrier-link-slowdown";
const TAIL_SLOWDOWN: &str = "barrier-link-slowdown-99";

/// The lines of these two plots, and the goals: at most these multiples. The bulk transfers never
/// use the second link.
const SLOWED: [(&str, Line, Option<f64>); 3] = [
    ("udp, shared link", LINES[0], Some(3.0)),
    (
        "udp, own interface",
        Line::Here(UDP, Kind::Ours, UDP_ON_SECOND),
        Some(1.5),
    ),
    ("plain datagrams, shared link", LINES[4], None),
];
const UDP_ON_SECOND: &str = "udp:second";

/// The median time of a barrier on the link with the most losses, as a multiple of that on the same
/// link without losses, and the goal: at most this multiple.
const LOSS_SLOWDOWN: &str = "barrier-link-loss-slowdown";
const LOSS_SLOWDOWN_MOST: f64 = 2.0;

const MPI_TIMEOUT: Duration = Duration::from_secs(30);

/// Programs that look for network interfaces in /sys find the interfaces of the namespace in which
/// /sys was mounted. So each process gets a mount of its own.
const WITH_OWN_SYS: [&str; 6] = [
    "unshare",
    "-m",
    "sh",
    "-c",
    "mount -t sysfs none /sys && exec \"$@\"",
    "sh",
];

/// A line of the plots.
#[derive(Clone, Copy, Debug)]
enum Line {
    /// Processes of this program, with this kind of barrier.
    Here(&'static str, Kind, &'static str),
    Mpi(&'static str, MpiLibrary),
}

const LINES: [Line; 5] = [
    Line::Here(UDP, Kind::Ours, UDP),
    Line::Here(DISSEMINATION, Kind::Ours, "dissemination"),
    Line::Mpi(OPEN_MPI, MpiLibrary::OpenMpi),
    Line::Mpi(MPICH, MpiLibrary::Mpich),
    Line::Here(POLLED_LINE, Kind::Limit, POLLED_DATAGRAMS),
];

/// The lines of our own processes. MPI reports averages, which single losses would dominate.
const LOSSY_LINES: [Line; 2] = [LINES[0], LINES[1]];

const DISSEMINATION: &str = "dissemination, tcp";
const OPEN_MPI: &str = "Open MPI, tcp";
const MPICH: &str = "MPICH, tcp";

pub fn plan(options: &BenchOptions) -> Result<Experiment> {
    if let Some(why) = missing_requirement() {
        return Ok(unavailable(Suite::Barrier, why));
    }
    let mut methods: Vec<Box<dyn Method>> = Vec::new();
    let mut links = Vec::new();
    for conditions in options.full_or_quick(&LINKS[..], &LINKS[..1]) {
        let link = LazyLink::new(*conditions, true);
        links.push(link.clone());
        for plot in [IDLE, CONGESTED] {
            for line in LINES {
                methods.push(Box::new(OverLink {
                    link: link.clone(),
                    line,
                    plot,
                    peers: options.peers.clone(),
                    seconds: options.full_or_quick(0.5, 0.1),
                }));
            }
        }
    }
    for (name, line, _) in SLOWED {
        methods.push(Box::new(Slowdown {
            name,
            line,
            links: links.clone(),
            seconds: options.full_or_quick(0.5, 0.1),
        }));
    }
    let lossy_links = LOSSES.map(|loss| {
        let mbit = LOSSY_MBIT;
        LazyLink::new(Conditions { mbit, loss }, false)
    });
    for link in options.full_or_quick(&lossy_links[..], &lossy_links[2..]) {
        for line in LOSSY_LINES {
            methods.push(Box::new(OverLink {
                link: link.clone(),
                line,
                plot: LOSSY,
                peers: options.peers.clone(),
                seconds: options.full_or_quick(0.5, 0.1),
            }));
        }
    }
    let [lossless, .., lossiest] = lossy_links;
    let most_lost = f64::from(lossiest.conditions.loss);
    let loss_slowdown = LossSlowdown {
        lossless,
        lossy: lossiest,
        seconds: options.full_or_quick(0.5, 0.1),
    };
    let loss_goal =
        Goal::of(LOSS_SLOWDOWN, loss_slowdown.name(), most_lost).at_most(LOSS_SLOWDOWN_MOST);
    methods.push(Box::new(loss_slowdown));
    let by_rate = |id, title: &str, y| {
        let x = Axis::log("rate of the link", "Mbit/s");
        Plot::new(id, title, x, y, Better::Less)
    };
    let plot = |id, title| by_rate(id, title, Axis::log("time", "us"));
    let slowdown = |id, title| by_rate(id, title, Axis::log("time, as a multiple", ""));
    let by_loss = |id, title: &str, y| {
        let x = Axis::linear("lost packets", "%");
        Plot::new(id, title, x, y, Better::Less)
    };
    let goals = SLOWED.iter().flat_map(|(name, _, most)| {
        let goal = |(plot, link): (&str, &Rc<LazyLink>)| {
            let goal = Goal::of(plot, *name, f64::from(link.conditions.mbit));
            most.map(|most| goal.at_most(most))
        };
        let plots = [SLOWDOWN, TAIL_SLOWDOWN];
        let all = plots
            .iter()
            .flat_map(|plot| links.iter().map(|link| (*plot, link)));
        all.filter_map(goal).collect::<Vec<_>>()
    });
    Ok(Experiment {
        suite: Suite::Barrier,
        key: "barrier link".to_string(),
        goals: goals.chain([loss_goal]).collect(),
        plots: vec![
            plot(IDLE, "One barrier of two processes over a link"),
            plot(CONGESTED, "The same, while bulk transfers fill the link"),
            slowdown(SLOWDOWN, "One barrier on a congested link, as a multiple of its time on the idle link"),
            slowdown(TAIL_SLOWDOWN, "The 99th percentile of a barrier on a congested link, as a multiple of that on the idle link"),
            by_loss(
                LOSSY,
                "One barrier of two processes over a link that loses packets",
                Axis::log("time", "us"),
            ),
            by_loss(
                LOSS_SLOWDOWN,
                "One barrier over a link that loses packets, as a multiple of its time without losses",
                Axis::linear("time, as a multiple", ""),
            ),
        ],
        methods,
        by_distance: ByDistance::No,
        budget: Duration::from_secs(options.full_or_quick(240, 10)),
        rounds: ROUNDS,
        notes: vec![
            "links are emulated, with a queue of 50 ms at each end that sends packets of high priority first; on a congested link, a TCP stream in each direction uses the whole rate (congestion control: reno)".to_string(),
            "over the link that loses packets, single barriers are measured, and not averages of batches".to_string(),
            format!("both kinds of udp have the service class EF and priority 6; congestion control of the barriers' TCP: {}", congestion_control()?),
        ],
        conclude: verdicts,
    })
}

/// A link that is made on first use.
pub struct LazyLink {
    pub conditions: Conditions,
    /// Whether there is a second cable, for barriers with an interface of their own.
    has_second: bool,
    link: RefCell<Option<Rc<Link>>>,
}

impl LazyLink {
    pub fn new(conditions: Conditions, has_second: bool) -> Rc<LazyLink> {
        Rc::new(LazyLink {
            conditions,
            has_second,
            link: RefCell::default(),
        })
    }

    pub fn get(&self) -> Result<Rc<Link>> {
        let mut link = self.link.borrow_mut();
        if link.is_none() {
            let made = Link::with_priorities(self.conditions)?;
            if self.has_second {
                made.add_second(self.conditions)?;
            }
            *link = Some(Rc::new(made));
        }
        Ok(link.clone().expect("it is there now"))
    }
}

struct OverLink {
    link: Rc<LazyLink>,
    line: Line,
    plot: &'static str,
    peers: Rc<PeerPrograms>,
    seconds: f64,
}

impl Line {
    fn name(self) -> &'static str {
        match self {
            Line::Here(name, ..) | Line::Mpi(name, _) => name,
        }
    }

    fn kind(self) -> Kind {
        match self {
            Line::Here(_, kind, _) => kind,
            Line::Mpi(..) => Kind::Peer,
        }
    }
}

impl Method for OverLink {
    fn name(&self) -> String {
        let load = match self.plot {
            IDLE => "idle",
            CONGESTED => "congested",
            _ => "single barriers",
        };
        format!("{}, {}, {load}", self.line.name(), self.link.conditions)
    }

    fn kind(&self) -> Kind {
        self.line.kind()
    }

    fn command(&self) -> String {
        "mgn bench barrier --only link".to_string()
    }

    fn missing(&self) -> Option<String> {
        match self.line {
            Line::Here(..) => None,
            // The settings only identify runs that hung. Runs over the link are recorded under
            // other names.
            Line::Mpi(_, library) => self.peers.missing(library, &DEFAULT_SETTINGS, BARRIERS),
        }
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let link = self.link.get()?;
        let enter = [0, 1].map(|end| link.enter_command(end));
        let _load = match self.plot {
            CONGESTED => Some(Load::start(enter.clone(), Link::address(1))?),
            _ => None,
        };
        let is_lossy = self.plot == LOSSY;
        let found = match self.line {
            Line::Here(_, _, kind) => ours(kind, enter, 1, self.seconds, is_lossy)?,
            Line::Mpi(_, library) => {
                let program = self.peers.path_of(library, BARRIERS);
                let program = program.display().to_string();
                let argv = over_link(library, enter, &[program, self.seconds.to_string()]);
                let task = format!("{BARRIERS}, {}", self.name());
                let limit = MPI_TIMEOUT + Duration::from_secs_f64(self.seconds);
                batches(&self.peers.run(&argv, &task, limit)?.stdout)?
            }
        };
        let Conditions { mbit, loss } = self.link.conditions;
        let x = if is_lossy { loss } else { mbit };
        let figure = figure(self.plot, f64::from(x), &found);
        Ok(vec![figure.of(self.line.name().to_string())])
    }
}

/// A barrier on links that are first idle and then congested.
struct Slowdown {
    name: &'static str,
    line: Line,
    links: Vec<Rc<LazyLink>>,
    seconds: f64,
}

impl Method for Slowdown {
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn kind(&self) -> Kind {
        self.line.kind()
    }

    fn command(&self) -> String {
        "mgn bench barrier --only link".to_string()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let Line::Here(_, _, kind) = self.line else {
            bail!("only barriers of this program are measured on idle and congested links");
        };
        let mut figures = Vec::new();
        for lazy in &self.links {
            let link = lazy.get()?;
            let enter = [0, 1].map(|end| link.enter_command(end));
            let idle = microseconds(&ours(kind, enter.clone(), 1, self.seconds, true)?);
            let _load = Load::start(enter.clone(), Link::address(1))?;
            let congested = microseconds(&ours(kind, enter, 1, self.seconds, true)?);
            let x = f64::from(lazy.conditions.mbit);
            figures.push(Figure::new(SLOWDOWN, x, congested.0 / idle.0));
            // The third percentile is the 99th.
            if let (Some(idle), Some(congested)) = (idle.1[2], congested.1[2]) {
                figures.push(Figure::new(TAIL_SLOWDOWN, x, congested / idle));
            }
        }
        Ok(figures)
    }
}

/// A barrier of kind `udp` on a link without losses, and then on one that loses packets.
struct LossSlowdown {
    lossless: Rc<LazyLink>,
    lossy: Rc<LazyLink>,
    seconds: f64,
}

impl Method for LossSlowdown {
    fn name(&self) -> String {
        "udp, lossy link".to_string()
    }

    fn kind(&self) -> Kind {
        Kind::Ours
    }

    fn command(&self) -> String {
        "mgn bench barrier --only link".to_string()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let median = |lazy: &LazyLink| -> Result<f64> {
            let link = lazy.get()?;
            let enter = [0, 1].map(|end| link.enter_command(end));
            let (median, _) = microseconds(&ours(UDP, enter, 1, self.seconds, true)?);
            Ok(median)
        };
        let (without, with) = (median(&self.lossless)?, median(&self.lossy)?);
        let x = f64::from(self.lossy.conditions.loss);
        Ok(vec![Figure::new(LOSS_SLOWDOWN, x, with / without)])
    }
}

/// Processes of this program, `per_end` at each end. The first ranks are at the first end.
pub fn ours(
    kind: &str,
    enter: [Vec<String>; 2],
    per_end: usize,
    seconds: f64,
    each: bool,
) -> Result<Vec<f64>> {
    let folder = tempfile::tempdir().context("cannot create a folder for a secret")?;
    let token = folder.path().join("token");
    Token::generate().write(&token)?;
    let ends = [0, 1].iter().flat_map(|end| vec![*end; per_end]);
    let group = Group {
        kind,
        hosts: ends.clone().map(Link::address).collect(),
        prefixes: ends.map(|end| enter[end].clone()).collect(),
        environment: vec![
            ("MGN_INTERFACES", INTERFACE.to_string()),
            ("MGN_TOKEN_FILE", token.to_string_lossy().into_owned()),
        ],
        seconds,
        each,
        beside: None,
    };
    group.run()
}

/// The command that starts two processes of a library, one at each end. The library's starter runs
/// at the first end, and starts the command that enters the second end as if it were the program.
fn over_link(library: MpiLibrary, enter: [Vec<String>; 2], words: &[String]) -> Argv {
    let [first, second] = enter;
    let starter = [library.starter()];
    let one = ["-np", "1"];
    match library {
        MpiLibrary::OpenMpi => Argv::new(first)
            .env("HWLOC_COMPONENTS", "-gl")
            // The second process reaches the starter over the link.
            .env("PMIX_MCA_ptl_tcp_if_include", INTERFACE)
            .env("PMIX_MCA_ptl_tcp_remote_connections", "1")
            .args(starter)
            .args(["--allow-run-as-root", "--oversubscribe"])
            .args(["--bind-to", "none", "--mca", "btl", "self,tcp"])
            .args(["--mca", "btl_tcp_if_include", INTERFACE])
            .args(one)
            .args(words)
            .args([":"])
            .args(one)
            .args(second)
            .args(words),
        MpiLibrary::Mpich => Argv::new(first)
            .env("HWLOC_COMPONENTS", "-gl")
            .env("MPIR_CVAR_NOLOCAL", "1")
            .env("UCX_TLS", "tcp,self")
            .env("UCX_NET_DEVICES", INTERFACE)
            .env("FI_PROVIDER", "tcp")
            .env("FI_TCP_IFACE", INTERFACE)
            .args(WITH_OWN_SYS)
            .args(starter)
            .args(one)
            .args(words)
            .args([":"])
            .args(one)
            .args(second)
            .args(WITH_OWN_SYS)
            .args(words),
    }
}

fn verdicts(outcome: &Outcome) -> Vec<String> {
    let mut verdicts = Vec::new();
    for (plot, load) in [(IDLE, "idle"), (CONGESTED, "congested")] {
        for other in [POLLED_LINE, DISSEMINATION, OPEN_MPI, MPICH] {
            let verdict = verdict(outcome, plot, UDP, other, "Mbit/s");
            verdicts.extend(verdict.map(|words| format!("{load}: {words}")));
        }
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::emulated::SECOND_INTERFACE;

    #[test]
    fn every_link_is_planned() {
        let planned = plan(&BenchOptions::of_nowhere(false)).unwrap();
        if let Some(why) = missing_requirement() {
            assert_eq!(planned.methods[0].missing(), Some(why));
            return;
        }
        let methods = &planned.methods;
        let (links, lossy) = (
            LINKS.len() * 2 * LINES.len(),
            LOSSES.len() * LOSSY_LINES.len(),
        );
        assert_eq!(methods.len(), links + SLOWED.len() + lossy + 1);
        let names: Vec<String> = methods.iter().map(|method| method.name()).collect();
        assert_eq!(names[0], "udp, 100 Mbit/s, idle");
        assert_eq!(UDP_ON_SECOND, format!("udp:{SECOND_INTERFACE}"));
        assert!(names.contains(&"MPICH, tcp, 1 Gbit/s, congested".to_string()));
        let lossy = "dissemination, tcp, 100 Mbit/s with 10 % loss, single barriers";
        assert!(names.contains(&lossy.to_string()));
        let quick = plan(&BenchOptions::of_nowhere(true)).unwrap();
        let quick_lines = 2 * LINES.len() + SLOWED.len() + LOSSY_LINES.len() + 1;
        assert_eq!(quick.methods.len(), quick_lines);
        for planned in [planned, quick] {
            let goal = Goal::of(LOSS_SLOWDOWN, "udp, lossy link", 10.0).at_most(2.0);
            assert!(planned.goals.contains(&goal), "{:?}", planned.goals);
        }
    }

    #[test]
    fn each_process_of_mpi_runs_at_its_end() {
        let enter = ["1", "2"].map(|pid| ["nsenter", "-t", pid, "-n"].map(String::from).to_vec());
        let words = ["program".to_string(), "0.5".to_string()];
        let of = |library| over_link(library, enter.clone(), &words).to_string();
        let open = of(MpiLibrary::OpenMpi);
        assert!(
            open.contains("PMIX_MCA_ptl_tcp_remote_connections=1 nsenter -t 1 -n mpirun.openmpi ")
                && open.ends_with("-np 1 program 0.5 : -np 1 nsenter -t 2 -n program 0.5"),
            "{open}"
        );
        let mpich = of(MpiLibrary::Mpich);
        assert!(
            mpich.contains(" nsenter -t 1 -n unshare -m sh -c ")
                && mpich.contains(" : -np 1 nsenter -t 2 -n unshare -m sh -c ")
                && mpich.ends_with(" sh program 0.5"),
            "{mpich}"
        );
    }
}
