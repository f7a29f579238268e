//! Barriers of two hosts with several processes each, over a slow link: while the link is otherwise
//! idle, and while bulk transfers fill it in both directions.

use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;

use super::lines::{figure, verdict, UDP};
use super::link::{ours, LazyLink, LINKS};
use crate::barrier::Load;
use crate::net::emulated::{congestion_control, Link};
use crate::plan::{BenchOptions, ByDistance, Experiment, Figure, Method, ROUNDS};
use crate::record::{Axis, Better, Kind, Outcome, Plot};
use crate::suite::Suite;

/// The number of processes at each end of a link, as in the plot's title.
const PER_END: usize = 4;

/// With several processes on each host, `auto` is the first of these kinds.
const KINDS: [&str; 3] = ["hierarchical", "dissemination", UDP];

const IDLE: &str = "barrier-hosts-idle";
const CONGESTED: &str = "barrier-hosts-congested";

/// For machines on which links can be emulated.
pub fn plan(options: &BenchOptions) -> Result<Experiment> {
    let mut methods: Vec<Box<dyn Method>> = Vec::new();
    for conditions in options.full_or_quick(&LINKS[..], &LINKS[..1]) {
        let link = LazyLink::new(*conditions, false);
        for is_congested in [false, true] {
            for kind in KINDS {
                methods.push(Box::new(OverLink {
                    link: link.clone(),
                    kind,
                    is_congested,
                    seconds: options.full_or_quick(0.5, 0.1),
                }));
            }
        }
    }
    let plot = |id, title: &str| {
        let (x, y) = (
            Axis::log("rate of the link", "Mbit/s"),
            Axis::log("time", "us"),
        );
        Plot::new(id, title, x, y, Better::Less)
    };
    Ok(Experiment {
        suite: Suite::Barrier,
        key: "barrier hosts".to_string(),
        plots: vec![
            plot(IDLE, "One barrier of two hosts with four processes each, over a link"),
            plot(CONGESTED, "The same, while bulk transfers fill the link"),
        ],
        methods,
        by_distance: ByDistance::No,
        budget: Duration::from_secs(options.full_or_quick(90, 10)),
        rounds: ROUNDS,
        notes: vec![
            "links and bulk transfers as in the experiment with two processes; single barriers are measured".to_string(),
            format!(
                "hierarchical and dissemination use shared memory on a host and TCP between hosts, and udp uses multicast; congestion control of TCP: {}",
                congestion_control()?
            ),
        ],
        goals: Vec::new(),
        conclude: verdicts,
    })
}

struct OverLink {
    link: Rc<LazyLink>,
    kind: &'static str,
    is_congested: bool,
    seconds: f64,
}

impl Method for OverLink {
    fn name(&self) -> String {
        let load = if self.is_congested {
            "congested"
        } else {
            "idle"
        };
        format!("{}, {}, {load}", self.kind, self.link.conditions)
    }

    fn kind(&self) -> Kind {
        Kind::Ours
    }

    fn command(&self) -> String {
        "mgn bench barrier --only hosts".to_string()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let link = self.link.get()?;
        let enter = [0, 1].map(|end| link.enter_command(end));
        let (plot, _load) = match self.is_congested {
            false => (IDLE, None),
            true => (
                CONGESTED,
                Some(Load::start(enter.clone(), Link::address(1))?),
            ),
        };
        let found = ours(self.kind, enter, PER_END, self.seconds, true)?;
        let figure = figure(plot, f64::from(self.link.conditions.mbit), &found);
        Ok(vec![figure.of(self.kind.to_string())])
    }
}

fn verdicts(outcome: &Outcome) -> Vec<String> {
    let mut verdicts = Vec::new();
    for (plot, load) in [(IDLE, "idle"), (CONGESTED, "congested")] {
        for other in &KINDS[1..] {
            let verdict = verdict(outcome, plot, KINDS[0], other, "Mbit/s");
            verdicts.extend(verdict.map(|words| format!("{load}: {words}")));
        }
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::emulated::missing_requirement;

    #[test]
    fn every_kind_is_planned_on_idle_and_congested_links() {
        if let Some(why) = missing_requirement() {
            eprintln!("SKIPPED: {why}");
            return;
        }
        let names = |is_quick| -> Vec<String> {
            let planned = plan(&BenchOptions::of_nowhere(is_quick)).unwrap();
            planned.methods.iter().map(|method| method.name()).collect()
        };
        let all = names(false);
        assert_eq!(all.len(), LINKS.len() * 2 * KINDS.len());
        assert_eq!(all[0], "hierarchical, 100 Mbit/s, idle");
        assert!(all.contains(&"udp, 1 Gbit/s, congested".to_string()));
        assert_eq!(names(true), all[..2 * KINDS.len()]);
        for kind in KINDS {
            assert!(kind.parse::<mgn_barrier::Kind>().is_ok());
        }
    }
}
