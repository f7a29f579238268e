//! The schedule of compositions by messages, if the program names none: the one with the least
//! expected time, by costs that are measured while the group opens.
//!
//! Rank 0 measures, and tells all others: members have to choose the same schedule.

use std::time::{Duration, Instant};

use mgn_fabric::endpoint::{Endpoint, How, LinkId, Wanted};
use mgn_fabric::Error;

use super::links::{Links, MEASURING};
use super::{CompositeError, Terms};
use crate::{
    merge, Channel, Color, Costs, Format, Layer, LayerMut, Load, Operation, Outlet, Schedule,
};

/// How often each cost is measured. The least counts: everything else that the machine does makes
/// measurements longer.
const ROUNDS: usize = 4;

/// Short messages that follow each other.
const BURST: usize = 16;

/// Bytes of a short message and of a long one.
const SHORT: usize = 8;
const LONG: usize = 256 << 10;

/// What is merged in memory: two layers that fit into the processor's cache.
const PIXELS: usize = 16 << 10;

/// Choices that are remembered. Programs use few sizes.
const REMEMBERED: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Choice {
    costs: Costs,
    chosen: Vec<(Load, Schedule)>,
}

impl Choice {
    /// Measures what messages to another host and merging cost. All members have to do this.
    /// `hosts` has the same number for ranks that share memory.
    ///
    /// # Errors
    /// [`CompositeError::Late`], [`CompositeError::Lost`].
    pub fn measure(links: &Links<'_>, hosts: &[usize]) -> Result<Choice, CompositeError> {
        // Without another host, nothing is sent unless the program names a schedule.
        let Some(partner) = hosts.iter().position(|host| *host != hosts[0]) else {
            return Ok(Choice::default());
        };
        let tag = links.tag(0, MEASURING.into());
        let costs = match links.rank {
            0 => {
                let link = links.to(partner);
                // A partner that is lost is an error of the first frame, for all members.
                let [message, latency, byte] =
                    measure_messages(links.endpoint, link, tag, links.patience).unwrap_or_default();
                let [merge, copy] = measure_merging()?;
                let costs = Costs {
                    merge,
                    copy,
                    message,
                    latency,
                    byte,
                };
                tell(links, tag, costs)?;
                costs
            }
            rank => {
                if rank == partner {
                    let _ = echo(links.endpoint, links.to(0), tag, links.patience);
                }
                hear(links, tag)?
            }
        };
        tracing::debug!(?costs, "costs of compositing by messages");
        Ok(Choice {
            costs,
            chosen: Vec::new(),
        })
    }

    /// The schedule of a frame. `order` lists the ranks that have pictures.
    pub fn schedule(&mut self, terms: &Terms, order: &[usize]) -> Schedule {
        if let Some(schedule) = terms.schedule {
            return schedule;
        }
        let load = Load {
            members: order.len(),
            // A window that is resized in small steps keeps its schedule.
            pixels: terms.pixels().next_power_of_two(),
            format: terms.format,
            operation: terms.operation,
            // All members are alike to the simulation but for their numbers.
            outlet: match terms.outlet(order) {
                Outlet::Member(_) => Outlet::Member(0),
                other => other,
            },
        };
        let known = self.chosen.iter().find(|(other, _)| *other == load);
        if let Some((_, schedule)) = known {
            return *schedule;
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

/// The costs of a message on the processor, of its way, and of a byte. The partner calls [`echo`].
fn measure_messages(
    endpoint: &Endpoint,
    link: LinkId,
    tag: u64,
    patience: Duration,
) -> Result<[f64; 3], Error> {
    let long = vec![0; LONG];
    let answered = |messages: usize, bytes: &[u8]| {
        let start = Instant::now();
        for _ in 0..messages {
            endpoint.send(link, tag, bytes, How::default())?;
        }
        let answer = endpoint.take(&Wanted::new(link, tag), Some(patience))?;
        answer.ok_or(Error::PeerMisbehaved("it does not answer in time"))?;
        Ok::<_, Error>(start.elapsed().as_secs_f64())
    };
    let mut least = [f64::INFINITY; 3];
    for _ in 0..ROUNDS {
        let times = [
            answered(1, &long[..SHORT])?,
            answered(BURST, &long[..SHORT])?,
            answered(1, &long)?,
        ];
        for (least, time) in least.iter_mut().zip(times) {
            *least = least.min(time);
        }
    }
    let [short, burst, long] = least;
    let message = (burst - short).max(0.0) / (BURST - 1) as f64;
    // There and back: each way is a message sent, its time under way, and a message received.
    let latency = (short / 2.0 - 2.0 * message).max(0.0);
    Ok([message, latency, (long - short).max(0.0) / LONG as f64])
}

/// Answers [`measure_messages`].
fn echo(endpoint: &Endpoint, link: LinkId, tag: u64, patience: Duration) -> Result<(), Error> {
    for _ in 0..ROUNDS {
        for messages in [1, BURST, 1] {
            for _ in 0..messages {
                let got = endpoint.take(&Wanted::new(link, tag), Some(patience))?;
                got.ok_or(Error::PeerMisbehaved("it does not measure in time"))?;
            }
            endpoint.send(link, tag, &[0; SHORT], How::default())?;
        }
    }
    Ok(())
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
fn tell(links: &Links<'_>, tag: u64, costs: Costs) -> Result<(), CompositeError> {
    let bytes: Vec<u8> = costs.to_array().map(f64::to_le_bytes).concat();
    for (rank, link) in links.others() {
        let sent = links.endpoint.send(link, tag, &bytes, How::default());
        sent.map_err(|source| CompositeError::Lost { rank, source })?;
    }
    Ok(())
}

/// What rank 0 has measured.
fn hear(links: &Links<'_>, tag: u64) -> Result<Costs, CompositeError> {
    let waited = links.patience;
    let told = links
        .endpoint
        .take(&Wanted::new(links.to(0), tag), Some(waited));
    let lost = |source| CompositeError::Lost { rank: 0, source };
    let message = told
        .map_err(lost)?
        .ok_or(CompositeError::Late { rank: 0, waited })?;
    let costs = costs(&message.to_vec());
    costs.ok_or(lost(Error::PeerMisbehaved(
        "its measurements make no sense",
    )))
}

fn costs(bytes: &[u8]) -> Option<Costs> {
    let words = bytes.chunks_exact(8).map(|word| word.try_into().ok());
    let numbers: Option<Vec<f64>> = words.map(|word| word.map(f64::from_le_bytes)).collect();
    Costs::from_array(numbers?.try_into().ok()?)
}
