//! One suite for all schedules: members on a network that delivers in any order.

use std::collections::HashMap;
use std::ops::Range;

use half::f16;
use mgn_composite::{
    merge, Channel, Color, Delivery, Depth, Event, Format, Layer, LayerMut, Member, Operation,
    Piece, Plan, Schedule,
};
use mgn_fuzzing::Random;

const SCHEDULES: [Schedule; 8] = [
    Schedule::DirectSend,
    Schedule::BinarySwap,
    Schedule::TwoThreeSwap,
    Schedule::RadixK(4),
    Schedule::RadixK(8),
    Schedule::Tree(2),
    Schedule::Tree(3),
    Schedule::Tree(8),
];

/// A member's pixels: their range, how their colours are stored, and the bytes.
#[derive(Clone)]
struct Pixels {
    range: Range<usize>,
    channel: Channel,
    color: Vec<u8>,
    depth: Vec<u8>,
}

impl Pixels {
    fn part(&self, range: &Range<usize>) -> Pixels {
        let cut = |bytes: &[u8], pixel: usize| {
            let from = range.start - self.range.start;
            bytes[from * pixel..][..range.len() * pixel].to_vec()
        };
        Pixels {
            range: range.clone(),
            channel: self.channel,
            color: cut(&self.color, self.channel.pixel_bytes()),
            depth: match self.depth.is_empty() {
                true => Vec::new(),
                false => cut(&self.depth, 4),
            },
        }
    }
}

struct Case {
    operation: Operation,
    format: Format,
}

impl Case {
    fn merge(&self, layers: &[Pixels], channel: Channel) -> Pixels {
        let range = layers[0].range.clone();
        let mut color = vec![0; range.len() * channel.pixel_bytes()];
        let mut depth = vec![0; range.len() * self.format.depth_bytes()];
        let layers: Vec<Layer<'_>> = layers
            .iter()
            .map(|pixels| Layer {
                channel: pixels.channel,
                color: &pixels.color,
                depth: &pixels.depth,
            })
            .collect();
        let out = LayerMut {
            channel,
            color: &mut color,
            depth: &mut depth,
        };
        merge(self.operation, self.format, &layers, out).unwrap();
        Pixels {
            range,
            channel,
            color,
            depth,
        }
    }

    fn pictures(&self, random: &mut Random, members: usize, pixels: usize) -> Vec<Pixels> {
        let picture = |_| {
            let mut color = Vec::new();
            for _ in 0..pixels {
                let alpha = [0, 255, random.below(256)][random.below(3)] as f32 / 255.0;
                for channel in [0, 1, 2, 3] {
                    let value = match channel {
                        3 => alpha,
                        _ => (random.below(256) as f32 / 255.0 * alpha * 255.0).floor() / 255.0,
                    };
                    match self.format.color {
                        Color::Rgba8 => color.push((value * 255.0).round() as u8),
                        Color::Rgba16f => color.extend(f16::from_f32(value).to_ne_bytes()),
                        Color::Rgba32f => color.extend(value.to_ne_bytes()),
                    }
                }
            }
            let depth = |_| match self.format.depth {
                None => Vec::new(),
                Some(Depth::Float) => (random.below(40) as f32 / 32.0).to_ne_bytes().to_vec(),
                Some(Depth::Unorm) => (random.below(40) as u32).to_ne_bytes().to_vec(),
            };
            Pixels {
                range: 0..pixels,
                channel: self.format.color.channel(),
                depth: (0..pixels).flat_map(depth).collect(),
                color,
            }
        };
        (0..members).map(picture).collect()
    }
}

/// The pixels that each member has at the end, in the picture's own format.
fn composite(
    case: &Case,
    pictures: &[Pixels],
    schedule: Schedule,
    delivery: Delivery,
    random: &mut Random,
) -> Vec<Vec<Pixels>> {
    let (members, pixels) = (pictures.len(), pictures[0].range.len());
    let plan = |member| Plan::new(schedule, members, member, pixels, delivery);
    let rounds = plan(0).rounds.len();
    let mut machines: Vec<Member> = (0..members)
        .map(|member| Member::new(plan(member)))
        .collect();
    let mut held: Vec<Pixels> = pictures.to_vec();
    if delivery == Delivery::Watcher {
        machines.push(Member::new(Plan::watcher(schedule, members, pixels)));
        held.push(pictures[0].part(&(0..0)));
    }
    let all = machines.len();
    let mut came: HashMap<(usize, usize, usize), Pixels> = HashMap::new();
    let mut results: Vec<Vec<Pixels>> = vec![Vec::new(); all];
    let mut done = vec![false; all];
    let mut network: Vec<(usize, Piece, Pixels)> = Vec::new();
    let (own, partial) = (
        case.format.color.channel(),
        case.format.color.partial(case.operation),
    );
    loop {
        for (at, machine) in machines.iter_mut().enumerate() {
            while let Some(event) = machine.poll() {
                assert!(!done[at], "{event:?} after the end");
                match event {
                    Event::Send(piece) | Event::Deliver(piece) => {
                        let pixels = held[at].part(&piece.pixels);
                        network.push((at, piece, pixels));
                    }
                    Event::Merge {
                        round,
                        is_last,
                        merges,
                    } => {
                        let channel = if is_last { own } else { partial };
                        let parts: Vec<Pixels> = merges
                            .iter()
                            .map(|one| {
                                let layers: Vec<Pixels> = one
                                    .layers
                                    .iter()
                                    .map(|from| match *from == at {
                                        true => held[at].part(&one.pixels),
                                        false => came[&(at, round, *from)].part(&one.pixels),
                                    })
                                    .collect();
                                case.merge(&layers, channel)
                            })
                            .collect();
                        held[at] = Pixels {
                            range: parts[0].range.start..parts[parts.len() - 1].range.end,
                            channel,
                            color: parts.iter().flat_map(|part| part.color.clone()).collect(),
                            depth: parts.iter().flat_map(|part| part.depth.clone()).collect(),
                        };
                    }
                    Event::Done(range) => {
                        done[at] = true;
                        if !range.is_empty() {
                            results[at].push(held[at].part(&range));
                        }
                    }
                }
            }
        }
        if network.is_empty() {
            break;
        }
        let (from, piece, pixels) = network.swap_remove(random.below(network.len()));
        let to = piece.other;
        let here = Piece {
            other: from,
            ..piece
        };
        machines[to].received(&here).unwrap();
        assert!(machines[to].received(&here).is_err(), "twice");
        match here.round == rounds {
            true => results[to].push(pixels),
            false => assert!(came.insert((to, here.round, from), pixels).is_none()),
        }
    }
    assert!(done.iter().all(|done| *done), "{schedule}: {done:?}");
    results
}

fn joined(mut parts: Vec<Pixels>, pixels: usize) -> Pixels {
    parts.sort_by_key(|part| part.range.start);
    let mut end = 0;
    for part in &parts {
        assert_eq!(part.range.start, end, "no pixel is missing or there twice");
        end = part.range.end;
    }
    assert_eq!(end, pixels);
    Pixels {
        range: 0..pixels,
        channel: parts[0].channel,
        color: parts.iter().flat_map(|part| part.color.clone()).collect(),
        depth: parts.iter().flat_map(|part| part.depth.clone()).collect(),
    }
}

/// All members, sizes and outlets, against one pass over all pictures.
fn check(case: &Case, is_alike: impl Fn(&Pixels, &Pixels) -> bool) {
    let at_once = |pictures: &[Pixels]| case.merge(pictures, case.format.color.channel());
    check_against(case, at_once, is_alike);
}

/// The same against what `wanted` makes of the pictures.
fn check_against<W>(
    case: &Case,
    wanted: impl Fn(&[Pixels]) -> W,
    is_alike: impl Fn(&Pixels, &W) -> bool,
) {
    let mut random = Random::new(7);
    for members in (1..=17).chain([32, 64]) {
        let pixels = [1, 16, 250, 1027][random.below(4)];
        let pictures = case.pictures(&mut random, members, pixels);
        let want = wanted(&pictures);
        for schedule in SCHEDULES {
            let one = random.below(members);
            for delivery in [Delivery::Spread, Delivery::Member(one), Delivery::Watcher] {
                let results = composite(case, &pictures, schedule, delivery, &mut random);
                let parts = match delivery {
                    Delivery::Spread => results.into_iter().flatten().collect(),
                    Delivery::Member(one) => results[one].clone(),
                    Delivery::Watcher => results[members].clone(),
                };
                let got = joined(parts, pixels);
                let what = format!("{schedule}, {members} members, {pixels} pixels, {delivery:?}");
                assert!(is_alike(&got, &want), "{what}");
            }
        }
    }
}

#[test]
fn nearest_depth_is_exact_in_any_schedule() {
    for depth in [Depth::Unorm, Depth::Float] {
        let case = Case {
            operation: Operation::Nearest,
            format: Format {
                color: Color::Rgba8,
                depth: Some(depth),
            },
        };
        check(&case, |got, want| {
            (&got.color, &got.depth) == (&want.color, &want.depth)
        });
    }
}

/// The values of all channels, from 0 to 1.
fn values(color: Color, pixels: &Pixels) -> Vec<f64> {
    let value = |bytes: &[u8]| match *bytes {
        [a] => f64::from(a) / 255.0,
        [a, b] => f16::from_ne_bytes([a, b]).to_f64(),
        [a, b, c, d] => f64::from(f32::from_ne_bytes([a, b, c, d])),
        _ => unreachable!("a channel has one, two or four bytes"),
    };
    let channels = pixels.color.chunks_exact(color.channel().bytes());
    channels.map(value).collect()
}

/// Pixels are blended in doubles, without any rounding.
fn blended(color: Color, pictures: &[Pixels]) -> Vec<f64> {
    let pictures: Vec<Vec<f64>> = pictures.iter().map(|p| values(color, p)).collect();
    let mut all = Vec::new();
    for at in (0..pictures[0].len()).step_by(4) {
        let (mut sum, mut through) = ([0.0; 4], 1.0);
        for picture in &pictures {
            let pixel = &picture[at..at + 4];
            for (sum, value) in sum.iter_mut().zip(pixel) {
                *sum += through * value;
            }
            through *= 1.0 - pixel[3];
        }
        all.extend(sum);
    }
    all
}

#[test]
fn blended_pixels_are_off_by_less_than_one_unit_in_any_schedule() {
    type Unit = fn(f64) -> f64;
    let units: [(Color, Unit); 2] = [
        (Color::Rgba8, |_| 1.0 / 255.0),
        // The distance of two neighbouring values of 16 bits.
        (Color::Rgba16f, |value| {
            2.0_f64.powf(value.max(2.0_f64.powi(-14)).log2().floor() - 10.0)
        }),
    ];
    for (color, unit) in units {
        let case = Case {
            operation: Operation::Over,
            format: Format { color, depth: None },
        };
        check_against(
            &case,
            |pictures| blended(color, pictures),
            |got, want| {
                let got = values(color, got);
                let mut pairs = got.iter().zip(want);
                got.len() == want.len() && pairs.all(|(got, want)| (got - want).abs() < unit(*want))
            },
        );
    }
}

#[test]
fn blended_floats_differ_by_little_in_any_schedule() {
    for (color, most) in [(Color::Rgba32f, 1e-5), (Color::Rgba16f, 1e-3)] {
        let case = Case {
            operation: Operation::Over,
            format: Format {
                color,
                depth: Some(Depth::Float),
            },
        };
        check(&case, |got, want| {
            let (a, b) = (values(color, got), values(color, want));
            got.depth == want.depth && a.iter().zip(&b).all(|(a, b)| (a - b).abs() < most)
        });
    }
}

#[test]
fn the_largest_the_smallest_and_the_sum_are_exact_in_any_schedule() {
    for operation in [Operation::Max, Operation::Min, Operation::Add] {
        let case = Case {
            operation,
            format: Format {
                color: Color::Rgba8,
                depth: None,
            },
        };
        check(&case, |got, want| got.color == want.color);
    }
}

#[test]
fn plans_of_512_members_fit_together() {
    for schedule in SCHEDULES {
        let plan = |member| Plan::new(schedule, 512, member, 640 * 480, Delivery::Member(0));
        let plans: Vec<Plan> = (0..512).map(plan).collect();
        let rounds = plans[0].rounds.len();
        for round in 0..rounds {
            let mut sent: Vec<(usize, usize, Range<usize>)> = Vec::new();
            let mut received = Vec::new();
            for (member, plan) in plans.iter().enumerate() {
                let round = &plan.rounds[round];
                sent.extend(round.sends.iter().map(|s| (member, s.to, s.pixels.clone())));
                let receives = round.receives.iter();
                received.extend(receives.map(|r| (r.from, member, r.pixels.clone())));
            }
            let key =
                |(from, to, pixels): &(usize, usize, Range<usize>)| (*from, *to, pixels.start);
            sent.sort_by_key(key);
            received.sort_by_key(key);
            assert!(sent == received, "{schedule}, round {round}");
        }
    }
}
