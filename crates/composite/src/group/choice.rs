//! The schedule of compositions by messages, if the program names none: the one with the least
//! expected time, by costs that are measured while the group opens.
//!
//! Rank 0 measures, and tells all others: members have to choose the same schedule.

use std::time::{Duration, Instant};

use mgn_fabric::endpoint::{SendOptions, Wanted};
use mgn_fabric::Error;

use super::links::{Links, MEASURED, MEASURING, PULSE};
use super::{CompositeError, Terms};
use crate::{
    merge, Channel, Color, Costs, Delivery, Format, Layer, LayerMut, Load, Operation, Schedule,
};

/// How often each cost is measured. The smallest result counts, because everything else that the
/// machine does makes measurements longer.
const ROUNDS: usize = 4;

/// Messages in a burst.
const BURST: usize = 16;

/// Bytes of short messages and of long ones. Both are sent without asking the receiver first.
const SHORT_BYTES: usize = 8;
const LONG_BYTES: usize = 8 << 10;

/// The measurements in each round: how many messages of how many bytes are sent before one answer.
const STEPS: [(usize, usize); 3] = [(1, SHORT_BYTES), (BURST, SHORT_BYTES), (BURST, LONG_BYTES)];

/// The measurement may take the group's patience divided by this, because the others wait for its
/// end.
const SHARE: u32 = 4;

/// The pixels that are merged to measure the costs of merging. Two layers of them fit into the
/// processor's cache.
const PIXELS: usize = 16 << 10;

/// Choices that are remembered. Programs use few sizes.
const REMEMBERED: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Choice {
    costs: Costs,
    chosen: Vec<(Load, Schedule)>,
}

impl Choice {
    /// Measures the costs of messages to another host, and of merging. All members must call this.
    /// `hosts` has the same number for ranks that share memory.
    ///
    /// # Errors
    /// [`CompositeError::Late`], [`CompositeError::Lost`].
    pub fn measure(links: &Links<'_>, hosts: &[usize]) -> Result<Choice, CompositeError> {
        // Without another host, nothing is sent unless the program names a schedule.
        let Some(partner) = hosts.iter().position(|host| *host != hosts[0]) else {
            return Ok(Choice::default());
        };
        let end = Instant::now() + links.patience / SHARE;
        let costs = match links.rank {
            0 => {
                let messages = Exchange {
                    links,
                    partner,
                    end,
                }
                .measure()
                .unwrap_or_default();
                let [message, latency, byte] = messages;
                let [merge, copy] = measure_merging()?;
                let costs = Costs::clamped([merge, copy, message, latency, byte]);
                send_costs(links, costs)?;
                costs
            }
            rank => {
                if rank == partner {
                    // If this fails, rank 0 goes on without these costs.
                    let _ = Exchange {
                        links,
                        partner: 0,
                        end,
                    }
                    .answer();
                }
                receive_costs(links)?
            }
        };
        tracing::debug!(?costs, "costs of compositing by messages");
        Ok(Choice {
            costs,
            chosen: Vec::new(),
        })
    }

    /// The schedule of a frame. `order` lists the ranks that have pictures, and these are in the
    /// format of intermediate results if they `are_partial`.
    pub fn schedule(&mut self, terms: &Terms, order: &[usize], are_partial: bool) -> Schedule {
        if let Some(schedule) = terms.schedule {
            return schedule;
        }
        let load = Load {
            members: order.len(),
            // A window that is resized in small steps keeps its schedule.
            pixels: terms.pixels().next_power_of_two(),
            format: terms.format,
            operation: terms.operation,
            are_partial,
            // A tree ends at the first member. All other receivers take the same time.
            delivery: match terms.delivery(order) {
                Delivery::Member(at) => Delivery::Member(at.min(1)),
                other => other,
            },
        };
        if let Some(at) = self.chosen.iter().position(|(other, _)| *other == load) {
            // The choice that was used least recently is at the front.
            self.chosen[at..].rotate_left(1);
            return self.chosen[self.chosen.len() - 1].1;
        }
        let schedule = load.fastest(self.costs);
        tracing::debug!(%schedule, ?load, "a schedule was chosen");
        if self.chosen.len() == REMEMBERED {
            self.chosen.remove(0);
        }
        self.chosen.push((load, schedule));
        schedule
    }
}

/// The measurement of messages between rank 0 and its partner, until `end`.
struct Exchange<'l, 'a> {
    links: &'l Links<'a>,
    partner: usize,
    end: Instant,
}

impl Exchange<'_, '_> {
    /// The cost of a message on the processor, its latency, and the cost of a byte. The partner
    /// calls [`Exchange::answer`]. None if it does not answer in time.
    fn measure(&self) -> Option<[f64; 3]> {
        let bytes = [0; LONG_BYTES];
        let mut least = [f64::INFINITY; STEPS.len()];
        for _ in 0..ROUNDS {
            for ((messages, len), least) in STEPS.into_iter().zip(&mut least) {
                let start = Instant::now();
                for _ in 0..messages {
                    self.send(&bytes[..len])?;
                }
                self.take(SHORT_BYTES)?;
                *least = least.min(start.elapsed().as_secs_f64());
            }
        }
        let [single, short, long] = least;
        let message = (short - single).max(0.0) / (BURST - 1) as f64;
        // There and back: each way is a message sent, its time under way, and a message received.
        let latency = (single / 2.0 - 2.0 * message).max(0.0);
        let byte = (long - short).max(0.0) / (BURST * (LONG_BYTES - SHORT_BYTES)) as f64;
        Some([message, latency, byte])
    }

    fn answer(&self) -> Option<()> {
        for _ in 0..ROUNDS {
            for (messages, len) in STEPS {
                for _ in 0..messages {
                    self.take(len)?;
                }
                self.send(&[0; SHORT_BYTES])?;
            }
        }
        Some(())
    }

    fn send(&self, bytes: &[u8]) -> Option<()> {
        let links = self.links;
        let memory = [(bytes.as_ptr().cast_mut(), bytes.len())];
        let (link, tag) = (links.to(self.partner), links.tag(0, MEASURING.into()));
        // SAFETY: the bytes are borrowed until the request has ended: it does below, at the latest
        // when it is given up.
        let request = unsafe {
            links
                .endpoint
                .isend(link, tag, &memory, SendOptions::default())
        };
        let Some(request) = request.ok()? else {
            return Some(());
        };
        match links.endpoint.wait(request, Some(self.left())) {
            Ok(Some(_)) => Some(()),
            Err(_) => None,
            Ok(None) => {
                links.give_up(vec![(self.partner, request)]);
                None
            }
        }
    }

    fn take(&self, len: usize) -> Option<()> {
        let links = self.links;
        let wanted = Wanted::new(links.to(self.partner), links.tag(0, MEASURING.into()));
        let taken = links.endpoint.take(&wanted, Some(self.left())).ok()?;
        taken.filter(|message| message.status.len == len).map(drop)
    }

    fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }
}

/// The costs of merging a byte and of copying one.
fn measure_merging() -> Result<[f64; 2], CompositeError> {
    let format = Format {
        color: Color::Rgba8,
        depth: None,
    };
    let color = vec![0x55; PIXELS * Channel::U8.pixel_bytes()];
    let layer = Layer {
        channel: Channel::U8,
        color: &color,
        depth: &[],
    };
    let mut merged = vec![0; color.len()];
    let mut least = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let out = LayerMut {
            channel: Channel::U8,
            color: &mut merged,
            depth: &mut [],
        };
        merge(Operation::Over, format, &[layer, layer], out)?;
        let merging = start.elapsed().as_secs_f64();
        let start = Instant::now();
        merged.copy_from_slice(std::hint::black_box(&color));
        let copying = start.elapsed().as_secs_f64();
        std::hint::black_box(&merged);
        least = [least[0].min(merging), least[1].min(copying)];
    }
    let bytes = color.len() as f64;
    Ok([least[0] / (2.0 * bytes), least[1] / bytes])
}

/// Tells all other ranks what was measured.
fn send_costs(links: &Links<'_>, costs: Costs) -> Result<(), CompositeError> {
    let bytes: Vec<u8> = costs.to_array().map(f64::to_le_bytes).concat();
    let tag = links.tag(0, MEASURED.into());
    let mut told = Ok(());
    for (rank, link) in links.others() {
        let sent = links
            .endpoint
            .send(link, tag, &bytes, SendOptions::default());
        // If one rank is lost, the others still get the message.
        told = told.and(sent.map_err(|source| CompositeError::Lost { rank, source }));
    }
    told
}

/// Receives rank 0's measurements.
fn receive_costs(links: &Links<'_>) -> Result<Costs, CompositeError> {
    let waited = links.patience;
    let end = Instant::now().checked_add(waited);
    let wanted = Wanted::new(links.to(0), links.tag(0, MEASURED.into()));
    let lost = |source| CompositeError::Lost { rank: 0, source };
    loop {
        let told = links.endpoint.take(&wanted, Some(PULSE.min(waited)));
        if let Some(message) = told.map_err(lost)? {
            let costs = costs(&message.to_vec());
            return costs.ok_or(lost(Error::PeerMisbehaved("its measurements are invalid")));
        }
        links.check(0)?;
        if end.is_some_and(|end| Instant::now() >= end) {
            return Err(CompositeError::Late { rank: 0, waited });
        }
    }
}

fn costs(bytes: &[u8]) -> Option<Costs> {
    let words = bytes.chunks_exact(8).map(|word| word.try_into().ok());
    let numbers: Option<Vec<f64>> = words.map(|word| word.map(f64::from_le_bytes)).collect();
    Costs::from_array(numbers?.try_into().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::tests::NETWORK;
    use crate::group::agreed::tests::terms;

    fn square(side: usize) -> Terms {
        Terms {
            width: side,
            height: side,
            ..terms()
        }
    }

    fn choose(costs: Costs, terms: &Terms, members: usize) -> Schedule {
        let mut choice = Choice {
            costs,
            chosen: Vec::new(),
        };
        choice.schedule(terms, &(0..members).collect::<Vec<_>>(), false)
    }

    /// Few bytes take no time, so the fewest messages win. Many bytes are shared out.
    #[test]
    fn small_pictures_go_to_the_receiver_and_large_ones_are_divided() {
        for members in [2, 4, 8, 16, 64] {
            let [small, large] = [16, 1024].map(|side| choose(NETWORK, &square(side), members));
            assert_eq!(small, Schedule::Tree(8), "{members}");
            assert_eq!(large, Schedule::DirectSend, "{members}");
        }
    }

    #[test]
    fn many_members_send_fewer_messages_than_one_to_each() {
        for members in [32, 64, 128] {
            let chosen = choose(NETWORK, &square(64), members);
            assert_eq!(chosen, Schedule::RadixK(8), "{members}");
        }
    }

    /// Where a byte costs more, smaller pictures are divided. Where a message costs more, only
    /// larger ones are.
    #[test]
    fn the_choice_follows_from_what_was_measured() {
        let slow_link = Costs {
            byte: 1e-7,
            ..NETWORK
        };
        let busy_processor = Costs {
            message: 50e-6,
            ..NETWORK
        };
        let chosen = |costs, side| choose(costs, &square(side), 8);
        assert_eq!(chosen(slow_link, 16), Schedule::DirectSend);
        assert_eq!(chosen(busy_processor, 64), Schedule::Tree(8));
        assert_eq!(chosen(busy_processor, 256), Schedule::RadixK(4));
        assert_eq!(chosen(busy_processor, 1024), Schedule::DirectSend);
    }

    #[test]
    fn a_schedule_that_the_program_names_is_taken() {
        let mut terms = square(16);
        terms.schedule = Some(Schedule::BinarySwap);
        assert_eq!(choose(NETWORK, &terms, 4), Schedule::BinarySwap);
    }

    /// Earlier choices are kept, and choices for other sizes do not displace them.
    #[test]
    fn choices_are_remembered_by_size() {
        let mut choice = Choice {
            costs: NETWORK,
            chosen: Vec::new(),
        };
        let order = [0, 1, 2, 3];
        for _ in 0..3 {
            for (side, schedule) in [(16, Schedule::Tree(8)), (1024, Schedule::DirectSend)] {
                assert_eq!(choice.schedule(&square(side), &order, false), schedule);
            }
        }
        assert_eq!(choice.chosen.len(), 2);
        for members in 0..2 * REMEMBERED {
            let order: Vec<usize> = (0..members).collect();
            choice.schedule(&square(16), &order, false);
        }
        assert_eq!(choice.chosen.len(), REMEMBERED);
    }
}
