//! The members of each host tell one of them, their leader. The leaders tell each other by
//! dissemination, and then each tells the members of its host. So few signals go between hosts.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Destination, Dissemination, Pattern, Signal, Unexpected, ARRIVAL, RELEASE};
use crate::{Combine, Id, View};

/// Rounds from this one on are those of the leaders.
const LEADERS: u16 = 2;

/// Stars on the hosts, and dissemination between their first members.
#[derive(Clone, Debug)]
pub struct Hierarchical {
    /// The same number for members of one host. A member that is not in it is on a host of its own.
    hosts: Arc<BTreeMap<Id, u32>>,
    division: Division,
    combine: Combine,
    /// At a leader: for each member of its host that follows, whether it has arrived.
    seen: Vec<bool>,
    value: Option<u64>,
    has_arrived: bool,
    /// Among the leaders.
    between: Dissemination,
    result: Option<u64>,
}

/// The hosts of a view, as one member sees them.
#[derive(Clone, Debug)]
struct Division {
    view: View,
    place: usize,
    /// The places of the leaders, in their order; they are a view for the leaders' barrier.
    leaders: Vec<usize>,
    among_leaders: View,
    /// The index of this member's leader.
    leader: usize,
    /// The places on this host behind the leader.
    followers: Vec<usize>,
}

impl Hierarchical {
    /// All members pass the same division into hosts.
    pub fn new(hosts: BTreeMap<Id, u32>) -> Hierarchical {
        Hierarchical {
            hosts: Arc::new(hosts),
            division: Division {
                view: View::none(),
                place: 0,
                leaders: Vec::new(),
                among_leaders: View::none(),
                leader: 0,
                followers: Vec::new(),
            },
            combine: Combine::Any,
            seen: Vec::new(),
            value: None,
            has_arrived: false,
            between: Dissemination::default(),
            result: None,
        }
    }

    fn divide(&self, place: usize, view: &View) -> Division {
        let members = view.members();
        let host = |place: usize| self.hosts.get(&members[place]).copied();
        let mut leaders = Vec::new();
        let mut of_hosts = BTreeMap::new();
        for place in 0..members.len() {
            let is_first = match host(place) {
                Some(host) => *of_hosts.entry(host).or_insert(place) == place,
                None => true,
            };
            if is_first {
                leaders.push(place);
            }
        }
        let own = host(place).map_or(place, |host| of_hosts[&host]);
        let behind = (0..members.len())
            .filter(|other| *other != own && host(*other).is_some() && host(*other) == host(own));
        let indices = (0..leaders.len() as u32).map(Id);
        Division {
            view: view.clone(),
            place,
            leader: leaders.iter().position(|at| *at == own).unwrap_or(0),
            followers: behind.collect(),
            among_leaders: View::new(indices).unwrap_or_else(|_| View::none()),
            leaders,
        }
    }

    fn leader(&self) -> usize {
        self.division.leaders[self.division.leader]
    }

    fn is_leader(&self) -> bool {
        self.leader() == self.division.place
    }

    fn add(&mut self, value: u64) {
        self.value = Some(self.combine.add(self.value, value));
    }

    /// Does something with the leaders' barrier, and passes on what comes of it.
    fn between<T>(
        &mut self,
        out: &mut Vec<Signal>,
        call: impl FnOnce(&mut Dissemination, &mut Vec<Signal>) -> T,
    ) -> T {
        let mut said = Vec::new();
        let done = call(&mut self.between, &mut said);
        for signal in said {
            let Destination::One(index) = signal.to else {
                continue;
            };
            out.push(Signal {
                to: Destination::One(self.division.leaders[index]),
                round: signal.round + LEADERS,
                value: signal.value,
            });
        }
        if let (None, Some(value)) = (self.result, self.between.result()) {
            self.result = Some(value);
            out.extend(self.division.followers.iter().map(|place| Signal {
                to: Destination::One(*place),
                round: RELEASE,
                value,
            }));
        }
        done
    }

    /// At a leader: goes on once all of its host have arrived.
    fn gather(&mut self, out: &mut Vec<Signal>) {
        let value = self.value.filter(|_| self.has_arrived);
        if let (Some(value), false) = (value, self.seen.contains(&false)) {
            self.between(out, |between, out| between.arrive(value, out));
        }
    }
}

impl Pattern for Hierarchical {
    fn code(&self) -> u32 {
        3 << 16
    }

    fn begin(&mut self, place: usize, view: &View, combine: Combine) {
        if self.division.place != place || !self.division.view.is_same(view) {
            self.division = self.divide(place, view);
        }
        let division = &self.division;
        self.between
            .begin(division.leader, &division.among_leaders, combine);
        self.combine = combine;
        (self.value, self.has_arrived, self.result) = (None, false, None);
        self.seen.clear();
        self.seen.resize(self.division.followers.len(), false);
    }

    fn arrive(&mut self, value: u64, out: &mut Vec<Signal>) {
        self.has_arrived = true;
        match self.is_leader() {
            true => {
                self.add(value);
                self.gather(out);
            }
            false => out.push(Signal {
                to: Destination::One(self.leader()),
                round: ARRIVAL,
                value,
            }),
        }
    }

    fn receive(
        &mut self,
        from: usize,
        round: u16,
        value: u64,
        out: &mut Vec<Signal>,
    ) -> Result<(), Unexpected> {
        match round {
            ARRIVAL if self.is_leader() => {
                let followers = &self.division.followers;
                let at = followers.binary_search(&from).map_err(|_| Unexpected)?;
                if std::mem::replace(&mut self.seen[at], true) {
                    return Err(Unexpected);
                }
                self.add(value);
                self.gather(out);
                Ok(())
            }
            RELEASE if !self.is_leader() => {
                if from != self.leader() || !self.has_arrived || self.result.is_some() {
                    return Err(Unexpected);
                }
                self.result = Some(value);
                Ok(())
            }
            round if round >= LEADERS && self.is_leader() => {
                let leaders = &self.division.leaders;
                let index = leaders.binary_search(&from).map_err(|_| Unexpected)?;
                self.between(out, |between, out| {
                    between.receive(index, round - LEADERS, value, out)
                })
            }
            _ => Err(Unexpected),
        }
    }

    fn result(&self) -> Option<u64> {
        self.result
    }

    fn waits_for(&self) -> Vec<usize> {
        if self.result.is_some() {
            return Vec::new();
        }
        if !self.is_leader() {
            return vec![self.leader()];
        }
        let followers = self.division.followers.iter().zip(&self.seen);
        let missing = followers.filter(|(_, seen)| !**seen);
        let missing: Vec<usize> = missing.map(|(place, _)| *place).collect();
        match missing.is_empty() {
            false => missing,
            true => {
                let leaders = self.between.waits_for();
                let place = |index: usize| self.division.leaders[index];
                leaders.into_iter().map(place).collect()
            }
        }
    }
}
