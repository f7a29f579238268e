//! Compositing with more renderers than this machine has processors: the schedules' own state
//! machines on a simulated clock, with measured costs. Each renderer has a processor and a link of
//! its own; a link carries one message at a time in each direction.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use mgn_composite::{Channel, Event, Member, Outlet, Piece, Plan, Schedule};

use crate::composite::Work;

/// Costs in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// To merge a pixel of one layer as it was drawn.
    pub drawn: f64,
    /// To merge a pixel of one layer that was merged before.
    pub partial: f64,
    /// To send or to receive a message, on the processor.
    pub message: f64,
    /// To send a byte over a link.
    pub byte: f64,
    /// To copy a merged pixel to its position in the whole picture.
    pub copy: f64,
}

/// Picoseconds since the beginning of the frame.
type Time = u64;

fn time(seconds: f64) -> Time {
    (seconds * 1e12).round() as Time
}

/// A renderer, or the display, which is the last one.
struct Process {
    member: Member,
    /// Whether it holds pixels that were merged and will be merged again.
    is_partial: bool,
    /// The times when its processor and its link in each direction are free.
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

struct Simulation<'w> {
    work: &'w Work,
    costs: Costs,
    processes: Vec<Process>,
    /// Messages by time, and by the order in which they were sent.
    queue: BinaryHeap<Reverse<(Time, usize)>>,
    messages: Vec<Message>,
    end: Time,
}

/// Seconds from the time when all renderers have drawn to the time when the display has the
/// picture.
pub fn frame_seconds(work: &Work, schedule: Schedule, costs: Costs) -> f64 {
    let (count, pixels) = (work.renderers, work.pixels());
    let plans = (0..count)
        .map(|renderer| Plan::new(schedule, count, renderer, pixels, Outlet::Watcher))
        .chain([Plan::watcher(schedule, count, pixels)]);
    let process = |plan| Process {
        member: Member::new(plan),
        is_partial: false,
        processor: 0,
        out: 0,
        into: 0,
    };
    let mut simulation = Simulation {
        work,
        costs,
        processes: plans.map(process).collect(),
        queue: BinaryHeap::new(),
        messages: Vec::new(),
        end: 0,
    };
    for number in 0..=count {
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
                    let layer = match round {
                        0 => self.costs.drawn,
                        _ => self.costs.partial,
                    };
                    let layers = merges
                        .iter()
                        .map(|share| share.layers.len() * share.pixels.len());
                    let process = &mut self.processes[number];
                    process.processor += time(layers.sum::<usize>() as f64 * layer);
                    process.is_partial = !is_last;
                }
                Event::Done(_) if number == self.work.renderers => {
                    let copied = self.work.pixels() as f64 * self.costs.copy;
                    self.end = self.processes[number].processor + time(copied);
                }
                Event::Done(_) => {}
            }
        }
    }

    fn send(&mut self, from: usize, piece: Piece) {
        let process = &mut self.processes[from];
        process.processor += time(self.costs.message);
        let start = process.processor.max(process.out);
        let bytes = piece.pixels.len() * pixel_bytes(self.work, process.is_partial);
        let on_link = time(bytes as f64 * self.costs.byte);
        process.out = start + on_link;
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
            process.into = process.into.max(now) + message.on_link;
            self.queue.push(Reverse((process.into, number)));
            return;
        }
        process.processor = process.processor.max(now) + time(self.costs.message);
        let received = process.member.received(&message.piece);
        received.expect("each member sends what the plans of others expect");
        let to = message.to;
        self.process_events(to);
    }
}

fn pixel_bytes(work: &Work, is_partial: bool) -> usize {
    let format = work.format();
    let channel: Channel = match is_partial {
        true => format.color.partial(work.operation),
        false => format.color.channel(),
    };
    channel.pixel_bytes() + format.depth_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::composite::Route;
    use mgn_composite::Operation;

    fn work(renderers: usize) -> Work {
        Work {
            renderers,
            width: 1024,
            height: 16,
            operation: Operation::Over,
            route: Route::Chosen,
            is_sparse: false,
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
            drawn: 1e-9,
            partial: 1e-9,
            ..Costs::default()
        };
        // Each of n merges an n-th of n pictures.
        for renderers in [2, 8, 64] {
            let seconds = frame_seconds(&work(renderers), Schedule::DirectSend, costs);
            is_about(seconds, PIXELS * 1e-9);
        }
        // A half of two pictures, and then a quarter of two.
        let seconds = frame_seconds(&work(4), Schedule::BinarySwap, costs);
        is_about(seconds, 1.5 * PIXELS * 1e-9);
        // Eight whole pictures in each of three rounds.
        let seconds = frame_seconds(&work(512), Schedule::Tree(8), costs);
        is_about(seconds, 24.0 * PIXELS * 1e-9);
    }

    #[test]
    fn a_link_carries_one_message_at_a_time() {
        let costs = Costs {
            byte: 1e-9,
            ..Costs::default()
        };
        // Seven pictures come to the first, and one goes from there to the display.
        let seconds = frame_seconds(&work(8), Schedule::Tree(8), costs);
        is_about(seconds, 8.0 * 4.0 * PIXELS * 1e-9);
        // What was merged is wider until the last round: seven pictures twice.
        let seconds = frame_seconds(&work(64), Schedule::Tree(8), costs);
        is_about(seconds, (7.0 * 4.0 + 7.0 * 8.0 + 4.0) * PIXELS * 1e-9);
    }

    #[test]
    fn messages_cost_their_sender_and_their_receiver() {
        let costs = Costs {
            message: 1e-6,
            ..Costs::default()
        };
        // One exchange between two, and two pieces for the display.
        let seconds = frame_seconds(&work(2), Schedule::DirectSend, costs);
        assert!((4e-6..=6e-6).contains(&seconds), "{seconds}");
    }

    #[test]
    fn all_schedules_end_with_any_number_of_renderers() {
        let costs = Costs {
            drawn: 1e-10,
            partial: 2e-10,
            message: 1e-6,
            byte: 1e-10,
            copy: 1e-10,
        };
        for schedule in [
            Schedule::DirectSend,
            Schedule::BinarySwap,
            Schedule::TwoThreeSwap,
            Schedule::RadixK(8),
            Schedule::Tree(8),
        ] {
            for renderers in [1, 2, 3, 7, 100, 512] {
                let seconds = frame_seconds(&work(renderers), schedule, costs);
                assert!(seconds > 0.0, "{schedule}, {renderers}");
            }
        }
    }
}
