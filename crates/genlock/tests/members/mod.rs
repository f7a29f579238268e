//! The barrier of a wall's tiles: members whose packets take time. A tile can die while it sends
//! its packets.

use std::collections::BTreeMap;
use std::time::Duration;

use mgn_barrier::{Barrier, Combine, Event, Group, Id, Member, Recipient, Star, View};

/// A lost connection is noticed within this time, in ns.
const NOTICED: f64 = 50e6;

/// When a tile learns the result of an epoch, in ns, and the largest of the numbers. There is none
/// if the epoch has failed.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    pub time: f64,
    pub number: Option<u64>,
}

pub struct Members {
    members: Vec<Member<Star>>,
    is_alive: Vec<bool>,
    /// A tile, and how many more packets it sends. It dies instead of sending the next one, at the
    /// latest at the end of the epoch.
    pub dies: Option<(usize, usize)>,
    now: f64,
    happens: Vec<(f64, Happening)>,
    /// When the last packet of each link arrives. Packets stay in order.
    last: BTreeMap<(usize, usize), f64>,
    outcomes: BTreeMap<usize, Outcome>,
}

enum Happening {
    Arrives(usize, u64),
    Packet {
        from: usize,
        to: usize,
        packet: Vec<u8>,
    },
    NoticesLoss {
        tile: usize,
        of: usize,
    },
}

impl Members {
    pub fn new(count: usize) -> Members {
        let view = View::new((0..count as u32).map(Id)).unwrap();
        let members = view
            .members()
            .iter()
            .map(|me| Member::new(Group(1), *me, &view, Star::default(), Combine::Max).unwrap());
        Members {
            members: members.collect(),
            is_alive: vec![true; count],
            dies: None,
            now: 0.0,
            happens: Vec::new(),
            last: BTreeMap::new(),
            outcomes: BTreeMap::new(),
        }
    }

    pub fn living(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.members.len()).filter(|tile| self.is_alive[*tile])
    }

    /// All living tiles arrive, each at a time with a number. Returns what each survivor learns.
    /// `delay` returns how long a packet takes.
    pub fn agree(
        &mut self,
        arrivals: &[(usize, f64, u64)],
        delay: &mut impl FnMut() -> f64,
    ) -> BTreeMap<usize, Outcome> {
        let arrivals = arrivals.iter();
        let arrivals = arrivals.map(|(tile, at, number)| (*at, Happening::Arrives(*tile, *number)));
        self.happens.extend(arrivals);
        self.settle(delay);
        if let Some((tile, _)) = self.dies.take() {
            if self.is_alive[tile] {
                self.kill(tile, delay);
            }
        }
        self.settle(delay);
        let mut outcomes = std::mem::take(&mut self.outcomes);
        outcomes.retain(|tile, _| self.is_alive[*tile]);
        assert_eq!(outcomes.len(), self.living().count(), "a tile is stuck");
        outcomes
    }

    pub fn kill(&mut self, dead: usize, delay: &mut impl FnMut() -> f64) {
        self.is_alive[dead] = false;
        for tile in 0..self.members.len() {
            let last = self.last.get(&(dead, tile)).copied().unwrap_or(0.0);
            let notices = self.now + (delay() * 1e3) % NOTICED;
            let loss = Happening::NoticesLoss { tile, of: dead };
            self.happens.push((notices.max(last), loss));
        }
    }

    fn settle(&mut self, delay: &mut impl FnMut() -> f64) {
        while let Some(next) = self.next() {
            let (time, happens) = self.happens.remove(next);
            self.now = time;
            let now = Duration::from_nanos(time as u64);
            let tile = match happens {
                Happening::Arrives(tile, _) | Happening::NoticesLoss { tile, .. } => tile,
                Happening::Packet { to, .. } => to,
            };
            if !self.is_alive[tile] {
                continue;
            }
            let member = &mut self.members[tile];
            match happens {
                Happening::Arrives(_, number) => drop(member.arrive(now, number).unwrap()),
                // A packet of an earlier view is refused.
                Happening::Packet { from, packet, .. } => {
                    let _ = member.receive(now, Id(from as u32), &packet);
                }
                Happening::NoticesLoss { of, .. } => member.lost(now, Id(of as u32)),
            }
            self.collect(tile, delay);
        }
    }

    /// The place of what happens next. If several things happen at one time, it is the oldest.
    fn next(&self) -> Option<usize> {
        let times = self.happens.iter().map(|(time, _)| *time).enumerate();
        Some(times.min_by(|a, b| a.1.total_cmp(&b.1))?.0)
    }

    /// Sends a member's packets, and takes its result.
    fn collect(&mut self, tile: usize, delay: &mut impl FnMut() -> f64) {
        while let Some(transmit) = self.members[tile].poll_transmit() {
            let to = match transmit.to {
                Recipient::Member(to) => vec![to],
                Recipient::All(view) | Recipient::Each(view) => view.members().to_vec(),
            };
            for Id(to) in to.into_iter().filter(|to| to.0 as usize != tile) {
                if let Some((dies, left)) = &mut self.dies {
                    if *dies == tile && *left == 0 {
                        self.kill(tile, delay);
                        return;
                    }
                    *left -= usize::from(*dies == tile);
                }
                let to = to as usize;
                let last = self.last.entry((tile, to)).or_default();
                *last = f64::max(*last, self.now + delay());
                let packet = Happening::Packet {
                    from: tile,
                    to,
                    packet: transmit.packet.clone(),
                };
                self.happens.push((*last, packet));
            }
        }
        while let Some(event) = self.members[tile].poll_event() {
            let number = match event {
                Event::Passed { value, .. } => Some(value),
                Event::Failed(_) => None,
                _ => continue,
            };
            let time = self.now;
            let before = self.outcomes.insert(tile, Outcome { time, number });
            assert!(before.is_none(), "tile {tile} has two results");
        }
    }
}
