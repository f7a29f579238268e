//! The members of each host tell one of them, the host's leader, that they have arrived. The
//! leaders tell each other by dissemination, and then each leader tells the members of its host. So
//! few signals go between hosts.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Destination, Dissemination, Pattern, Signal, Unexpected, ARRIVAL, RELEASE};
use crate::{Combine, Id, View};

/// The first round of the leaders' signals. All later rounds belong to the leaders, too.
const LEADERS: u16 = 2;

/// Stars on the hosts, and dissemination between their first members.
#[derive(Clone, Debug)]
pub struct Hierarchical {
    /// The hosts of the members. Members on one host have the same number. A member that is not in
    /// the map is alone on its host.
    hosts: Arc<BTreeMap<Id, u32>>,
    division: Division,
    combine: Combine,
    /// At a leader: for each follower on its host, whether the follower has arrived.
    seen: Vec<bool>,
    value: Option<u64>,
    has_arrived: bool,
    /// The barrier among the leaders.
    between: Dissemination,
    result: Option<u64>,
}

/// The division of a view into hosts, for one member.
#[derive(Clone, Debug)]
struct Division {
    view: View,
    place: usize,
    /// The places of the leaders, in order. `among_leaders` has these places as a view, for the
    /// leaders' barrier.
    leaders: Vec<usize>,
    among_leaders: View,
    /// The index of this member's leader.
    leader: usize,
    /// The places of the members on this host, except the leader.
    followers: Vec<usize>,
}

impl Hierarchical {
    /// Makes the pattern. All members must pass the same division into hosts.
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

    /// Calls `call` with the leaders' barrier, and passes on the barrier's signals and its result.
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

    /// At a leader: arrives at the leaders' barrier when all members of its host have arrived.
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
