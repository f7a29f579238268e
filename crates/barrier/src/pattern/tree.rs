//! Each member tells its parent when it and all members below it have arrived. The root's release
//! then goes down the tree.

use std::ops::Range;

use super::{Destination, Pattern, Signal, Unexpected, ARRIVAL, RELEASE};
use crate::{Combine, View};

/// A tree in which each member has up to `fan_out` children. Place 0 is the root, and levels are
/// filled in the order of places.
#[derive(Clone, Debug)]
pub struct Tree {
    fan_out: usize,
    place: usize,
    size: usize,
    combine: Combine,
    /// For each child, whether it has reported that it and all members below it have arrived.
    seen: Vec<bool>,
    value: Option<u64>,
    has_arrived: bool,
    result: Option<u64>,
}

impl Tree {
    /// Makes a tree. A fan-out of 0 counts as 1.
    pub fn new(fan_out: usize) -> Tree {
        Tree {
            fan_out: fan_out.clamp(1, u16::MAX.into()),
            place: 0,
            size: 0,
            combine: Combine::Any,
            seen: Vec::new(),
            value: None,
            has_arrived: false,
            result: None,
        }
    }

    fn children(&self) -> Range<usize> {
        let first = self.place.saturating_mul(self.fan_out).saturating_add(1);
        first.min(self.size)..first.saturating_add(self.fan_out).min(self.size)
    }

    fn parent(&self) -> Option<usize> {
        self.place.checked_sub(1).map(|at| at / self.fan_out)
    }

    fn add(&mut self, value: u64) {
        self.value = Some(self.combine.add(self.value, value));
    }

    fn go_up(&mut self, out: &mut Vec<Signal>) {
        let Some(value) = self.value.filter(|_| self.has_arrived) else {
            return;
        };
        if self.seen.contains(&false) {
            return;
        }
        match self.parent() {
            Some(parent) => out.push(Signal {
                to: Destination::One(parent),
                round: ARRIVAL,
                value,
            }),
            None => self.release(value, out),
        }
    }

    fn release(&mut self, value: u64, out: &mut Vec<Signal>) {
        self.result = Some(value);
        out.extend(self.children().map(|child| Signal {
            to: Destination::One(child),
            round: RELEASE,
            value,
        }));
    }
}

impl Pattern for Tree {
    fn code(&self) -> u32 {
        1 << 16 | self.fan_out as u32
    }

    fn begin(&mut self, place: usize, view: &View, combine: Combine) {
        let size = view.len();
        (self.place, self.size, self.combine) = (place, size, combine);
        (self.value, self.has_arrived, self.result) = (None, false, None);
        self.seen.clear();
        self.seen.resize(self.children().len(), false);
    }

    fn arrive(&mut self, value: u64, out: &mut Vec<Signal>) {
        self.has_arrived = true;
        self.add(value);
        self.go_up(out);
    }

    fn receive(
        &mut self,
        from: usize,
        round: u16,
        value: u64,
        out: &mut Vec<Signal>,
    ) -> Result<(), Unexpected> {
        match round {
            ARRIVAL => {
                let children = self.children();
                let child = from.checked_sub(children.start).ok_or(Unexpected)?;
                match self.seen.get_mut(child) {
                    Some(seen @ false) => *seen = true,
                    _ => return Err(Unexpected),
                }
                self.add(value);
                self.go_up(out);
                Ok(())
            }
            RELEASE => {
                let is_ready = self.has_arrived && !self.seen.contains(&false);
                if self.parent() != Some(from) || !is_ready || self.result.is_some() {
                    return Err(Unexpected);
                }
                self.release(value, out);
                Ok(())
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
        let children = self.children().zip(&self.seen);
        let missing: Vec<usize> = children.filter(|(_, seen)| !**seen).map(|c| c.0).collect();
        match missing.is_empty() {
            true => self.parent().into_iter().collect(),
            false => missing,
        }
    }
}
