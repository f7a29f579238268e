//! The members of a composition on a simulated clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Costs, Load};
use crate::{Channel, Delivery, Event, Member, Piece, Plan, Schedule};

/// Picoseconds since the beginning of the frame.
type Time = u64;

fn time(seconds: f64) -> Time {
    (seconds * 1e12).round() as Time
}

/// A member, or the watcher, which is the last process.
struct Process {
    member: Member,
    /// How many merged pixels the process gets from others.
    collected: usize,
    /// Whether the process holds pixels that were merged and will be merged again.
    is_partial: bool,
    /// The times when the processor, and the link in each direction, are free.
    processor: Time,
    out: Time,
    into: Time,
}

/// A message to a process.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Message {
    to: usize,
    piece: Piece,
    on_link: Time,
    /// Whether the whole message has arrived. Otherwise, its transfer has only begun.
    is_there: bool,
}

struct Simulation<'l> {
    load: &'l Load,
    costs: Costs,
    processes: Vec<Process>,
    /// Messages by time, and by the order in which they were sent.
    queue: BinaryHeap<Reverse<(Time, usize)>>,
    messages: Vec<Message>,
    end: Time,
}

pub(super) fn seconds(load: &Load, schedule: Schedule, costs: Costs) -> f64 {
    let Load {
        members,
        pixels,
        delivery,
        ..
    } = *load;
    let watcher = (delivery == Delivery::Watcher).then(|| Plan::watcher(schedule, members, pixels));
    let plans = (0..members)
        .map(|member| Plan::new(schedule, members, member, pixels, delivery))
        .chain(watcher);
    let process = |plan: Plan| Process {
        collected: plan.collect.iter().map(|piece| piece.pixels.len()).sum(),
        member: Member::new(plan),
        is_partial: load.are_partial,
        processor: 0,
        out: 0,
        into: 0,
    };
    let mut simulation = Simulation {
        load,
        costs,
        processes: plans.map(process).collect(),
        queue: BinaryHeap::new(),
        messages: Vec::new(),
        end: 0,
    };
    for number in 0..simulation.processes.len() {
        simulation.process_events(number);
    }
    while let Some(Reverse((now, number))) = simulation.queue.pop() {
        simulation.deliver(now, number);
    }
    simulation.end as f64 / 1e12
}

impl Simulation<'_> {
    /// Performs the next events of a process.
    fn process_events(&mut self, number: usize) {
        while let Some(event) = self.processes[number].member.poll() {
            match event {
                Event::Send(piece) | Event::Deliver(piece) => self.send(number, piece),
                Event::Merge {
                    round,
                    is_last,
                    merges,
                } => {
                    let is_partial = round > 0 || self.load.are_partial;
                    let pixel = pixel_bytes(self.load, is_partial);
                    let layers = merges
                        .iter()
                        .map(|share| share.layers.len() * share.pixels.len() * pixel);
                    let process = &mut self.processes[number];
                    let merging = time(layers.sum::<usize>() as f64 * self.costs.merge);
                    process.processor = process.processor.saturating_add(merging);
                    process.is_partial = !is_last;
                }
                Event::Done(_) => {
                    let process = &self.processes[number];
                    let bytes = process.collected * pixel_bytes(self.load, false);
                    let copied = time(bytes as f64 * self.costs.copy);
                    self.end = self.end.max(process.processor.saturating_add(copied));
                }
            }
        }
    }

    fn send(&mut self, from: usize, piece: Piece) {
        let process = &mut self.processes[from];
        process.processor = process.processor.saturating_add(time(self.costs.message));
        let start = process.processor.max(process.out);
        let bytes = piece.pixels.len() * pixel_bytes(self.load, process.is_partial);
        let on_link = time(bytes as f64 * self.costs.byte);
        process.out = start.saturating_add(on_link);
        let message = Message {
            to: piece.other,
            piece: Piece {
                other: from,
                ..piece
            },
            on_link,
            is_there: false,
        };
        self.queue.push(Reverse((start, self.messages.len())));
        self.messages.push(message);
    }

    fn deliver(&mut self, now: Time, number: usize) {
        let message = &mut self.messages[number];
        let process = &mut self.processes[message.to];
        if !message.is_there {
            message.is_there = true;
            process.into = process.into.max(now).saturating_add(message.on_link);
            let arrived = process.into.saturating_add(time(self.costs.latency));
            self.queue.push(Reverse((arrived, number)));
            return;
        }
        let free = process.processor.max(now);
        process.processor = free.saturating_add(time(self.costs.message));
        let received = process.member.received(&message.piece);
        received.expect("each member sends what the plans of others expect");
        let to = message.to;
        self.process_events(to);
    }
}

fn pixel_bytes(load: &Load, is_partial: bool) -> usize {
    let color = load.format.color;
    let channel: Channel = match is_partial {
        true => color.partial(load.operation),
        false => color.channel(),
    };
    channel.pixel_bytes() + load.format.depth_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Color, Format, Operation};

    fn load(members: usize) -> Load {
        Load {
            members,
            pixels: PIXELS as usize,
            format: Format {
                color: Color::Rgba8,
                depth: None,
            },
            operation: Operation::Over,
            are_partial: false,
            delivery: Delivery::Watcher,
        }
    }

    const PIXELS: f64 = 1024.0 * 16.0;

    fn is_about(seconds: f64, wanted: f64) {
        let ratio = seconds / wanted;
        assert!((0.999..1.001).contains(&ratio), "{seconds} of {wanted}");
    }

    #[test]
    fn merging_is_divided_among_all() {
        let costs = Costs {
            merge: 1e-9,
            ..Costs::default()
        };
        // Each of n members merges an n-th of n pictures, with 4 bytes a pixel.
        for members in [2, 8, 64] {
            let seconds = load(members).seconds(Schedule::DirectSend, costs);
            is_about(seconds, 4.0 * PIXELS * 1e-9);
        }
        // Half of two pictures, and then a quarter of two whose pixels are twice as wide.
        let seconds = load(4).seconds(Schedule::BinarySwap, costs);
        is_about(seconds, (4.0 + 4.0) * PIXELS * 1e-9);
        // Eight whole pictures in each of three rounds.
        let seconds = load(512).seconds(Schedule::Tree(8), costs);
        is_about(seconds, 8.0 * (4.0 + 8.0 + 8.0) * PIXELS * 1e-9);
    }

    #[test]
    fn a_link_carries_one_message_at_a_time() {
        let costs = Costs {
            byte: 1e-9,
            ..Costs::default()
        };
        // The first member receives seven pictures, and sends one to the watcher.
        let seconds = load(8).seconds(Schedule::Tree(8), costs);
        is_about(seconds, 8.0 * 4.0 * PIXELS * 1e-9);
        // The first member receives seven pictures twice. Merged pixels are wider until the last
        // round.
        let seconds = load(64).seconds(Schedule::Tree(8), costs);
        is_about(seconds, (7.0 * 4.0 + 7.0 * 8.0 + 4.0) * PIXELS * 1e-9);
    }

    #[test]
    fn messages_cost_their_sender_their_receiver_and_their_way() {
        let costs = Costs {
            message: 1e-6,
            ..Costs::default()
        };
        // One exchange between two, and two pieces for the watcher.
        let seconds = load(2).seconds(Schedule::DirectSend, costs);
        assert!((4e-6..=6e-6).contains(&seconds), "{seconds}");
        let costs = Costs {
            latency: 1e-3,
            ..Costs::default()
        };
        is_about(load(8).seconds(Schedule::DirectSend, costs), 2e-3);
    }

    #[test]
    fn all_schedules_end_with_any_number_of_members_and_any_receiver() {
        let costs = Costs {
            merge: 1e-10,
            copy: 1e-10,
            message: 1e-6,
            latency: 1e-5,
            byte: 1e-10,
        };
        for schedule in super::super::CANDIDATES {
            for members in [1, 2, 3, 7, 100] {
                for delivery in [
                    Delivery::Watcher,
                    Delivery::Spread,
                    Delivery::Member(members / 2),
                ] {
                    let load = Load {
                        delivery,
                        ..load(members)
                    };
                    let seconds = load.seconds(schedule, costs);
                    // One member that keeps its own picture has nothing to do.
                    let is_idle = members == 1 && delivery != Delivery::Watcher;
                    assert!((seconds > 0.0) != is_idle, "{schedule}, {load:?}");
                }
            }
        }
    }
}
