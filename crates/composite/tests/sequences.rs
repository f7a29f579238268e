//! Random sequences of frames: size, format, operation, order, receiver, schedule and what each
//! rank draws all change from frame to frame. Some ranks are slow. Each result must equal what one
//! pass over the pictures of its frame gives.

mod jobs;

use std::thread;
use std::time::Duration;

use half::f16;
use mgn_composite::{
    merge, Channel, Color, Depth, Format, Group, Layer, Operation, Picture, PictureRef, Rectangle,
    Schedule, Terms,
};
use mgn_fuzzing::Random;

use jobs::members;

const GROUP_TIMEOUT: Duration = Duration::from_secs(60);

const FRAMES: usize = 40;

const OPERATIONS: [Operation; 5] = [
    Operation::Over,
    Operation::Nearest,
    Operation::Max,
    Operation::Min,
    Operation::Add,
];

/// None stands for the group's choice, which is by memory, by messages, or by both.
const SCHEDULES: [Option<Schedule>; 8] = [
    None,
    None,
    None,
    None,
    Some(Schedule::DirectSend),
    Some(Schedule::BinarySwap),
    Some(Schedule::RadixK(3)),
    Some(Schedule::Tree(8)),
];

/// How a rank gives its picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delivery {
    Passed,
    /// All pixels outside of a rectangle have one value.
    PassedOnBackground,
    Drawn,
    /// Only a rectangle is drawn.
    DrawnInPart,
}

/// A rank's part in a frame.
#[derive(Clone, Debug)]
struct Part {
    how: Delivery,
    rectangle: Rectangle,
    nap: Duration,
    seed: u64,
}

#[derive(Clone, Debug)]
struct Frame {
    terms: Terms,
    order: Vec<usize>,
    parts: Vec<Part>,
}

impl Frame {
    fn any(random: &mut Random, ranks: usize) -> Frame {
        let operation = random.of(&OPERATIONS);
        let depth = match operation {
            Operation::Nearest => Some(random.of(&[Depth::Unorm, Depth::Float])),
            _ => random.of(&[None, Some(Depth::Unorm), Some(Depth::Float)]),
        };
        let (width, height) = match random.below(6) {
            0 => (random.below(4), random.below(6)),
            1 => (257, 600),
            _ => (1 + random.below(70), 1 + random.below(50)),
        };
        let mut order: Vec<usize> = (0..ranks).collect();
        for at in (1..ranks).rev() {
            if random.below(2) == 0 {
                order.swap(at, random.below(at + 1));
            }
        }
        if random.below(3) == 0 {
            order.truncate(random.below(ranks + 1));
        }
        let mut range = |end: usize| {
            let ends = [random.below(end + 1), random.below(end + 1)];
            ends[0].min(ends[1])..ends[0].max(ends[1])
        };
        let rectangles: Vec<Rectangle> = (0..ranks)
            .map(|_| Rectangle {
                columns: range(width),
                rows: range(height),
            })
            .collect();
        let part = |rectangle| Part {
            how: random.of(&[
                Delivery::Passed,
                Delivery::PassedOnBackground,
                Delivery::Drawn,
                Delivery::DrawnInPart,
            ]),
            rectangle,
            nap: Duration::from_millis(random.of(&[0, 0, 0, 0, 3, 10])),
            seed: random.below(1 << 30) as u64,
        };
        let parts = rectangles.into_iter().map(part).collect();
        Frame {
            terms: Terms {
                width,
                height,
                origin: [0, 0],
                format: Format {
                    color: random.of(&[Color::Rgba8, Color::Rgba16f, Color::Rgba32f]),
                    depth,
                },
                operation,
                schedule: random.of(&SCHEDULES),
                order: Some(order.clone()),
                to: (random.below(8) > 0).then(|| random.below(ranks)),
            },
            order,
            parts,
        }
    }

    fn is_within(&self, rank: usize, at: usize) -> bool {
        let Rectangle { columns, rows } = &self.parts[rank].rectangle;
        let (row, column) = (at / self.terms.width, at % self.terms.width);
        rows.contains(&row) && columns.contains(&column)
    }

    /// A rank's picture, whatever the memory holds outside of a rectangle.
    fn picture(&self, rank: usize) -> Picture {
        let Part { how, seed, .. } = self.parts[rank];
        let format = self.terms.format;
        let mut random = Random::new(seed);
        let ground = random.of(&[0, 0, 90]);
        let mut picture = Picture::default();
        for at in 0..self.terms.pixels() {
            let alpha = random.below(256);
            let mut color = [0; 4].map(|_: usize| random.below(alpha + 1));
            color[3] = alpha;
            let mut depth = Some(random.below(8));
            match how {
                Delivery::PassedOnBackground if !self.is_within(rank, at) => {
                    (color, depth) = ([ground; 4], Some(7));
                }
                Delivery::DrawnInPart if !self.is_within(rank, at) => {
                    (color, depth) = ([0; 4], None)
                }
                _ => {}
            }
            for channel in color {
                let value = channel as f32 / 256.0;
                match format.color {
                    Color::Rgba8 => picture.color.push(channel as u8),
                    Color::Rgba16f => picture.color.extend(f16::from_f32(value).to_ne_bytes()),
                    Color::Rgba32f => picture.color.extend(value.to_ne_bytes()),
                }
            }
            let whole = depth.map_or(u32::MAX, |depth| depth as u32 * 1000);
            let float = depth.map_or(f32::INFINITY, |depth| depth as f32 / 8.0);
            match format.depth {
                None => {}
                Some(Depth::Unorm) => picture.depth.extend(whole.to_ne_bytes()),
                Some(Depth::Float) => picture.depth.extend(float.to_ne_bytes()),
            }
        }
        picture
    }

    /// Composites as `rank`. Gives the pixels that have come here.
    fn composite(&self, rank: usize, group: &mut Group<'_>) -> (std::ops::Range<usize>, Picture) {
        let (
            terms,
            Part {
                how,
                rectangle,
                nap,
                ..
            },
        ) = (&self.terms, &self.parts[rank]);
        thread::sleep(*nap);
        let merged = if !self.order.contains(&rank) {
            group.composite(PictureRef::default(), terms)
        } else if matches!(how, Delivery::Passed | Delivery::PassedOnBackground) {
            let picture = self.picture(rank);
            let merged = group.composite(picture.borrowed(), terms);
            let (range, merged) = merged.unwrap_or_else(|error| panic!("rank {rank}: {error}"));
            return (range, merged.to_picture());
        } else {
            let picture = self.picture(rank);
            let place = group.draw(terms).unwrap();
            place.color.copy_from_slice(&picture.color);
            place.depth.copy_from_slice(&picture.depth);
            let is_part = *how == Delivery::DrawnInPart;
            if is_part {
                let [color, depth] = terms.format.pixel_bytes();
                for at in (0..terms.pixels()).filter(|at| !self.is_within(rank, *at)) {
                    place.color[color * at..color * (at + 1)].fill(77);
                    place.depth[depth * at..depth * (at + 1)].fill(0);
                }
            }
            group.composite_drawn(terms, is_part.then(|| rectangle.clone()))
        };
        let (range, merged) = merged.unwrap_or_else(|error| panic!("rank {rank}: {error}"));
        (range, merged.to_picture())
    }

    /// One pass over all pictures.
    fn at_once(&self) -> Picture {
        let Terms {
            format, operation, ..
        } = self.terms;
        let channel = format.color.channel();
        let pictures: Vec<Picture> = self.order.iter().map(|rank| self.picture(*rank)).collect();
        let layers: Vec<Layer<'_>> = pictures.iter().map(|one| one.layer(channel)).collect();
        let [color, depth] = format.pixel_bytes();
        let mut merged = Picture {
            color: vec![9; color * self.terms.pixels()],
            depth: vec![9; depth * self.terms.pixels()],
        };
        merge(operation, format, &layers, merged.layer_mut(channel)).unwrap();
        merged
    }

    /// How much a channel may differ: by the rounding of intermediates.
    fn tolerance(&self) -> f32 {
        match (self.terms.operation, self.terms.format.color) {
            (Operation::Over, Color::Rgba8) => 1.0,
            (Operation::Over | Operation::Add, Color::Rgba16f) => 0.005,
            (Operation::Over | Operation::Add, Color::Rgba32f) => 1e-5,
            _ => 0.0,
        }
    }
}

fn channels(channel: Channel, bytes: &[u8]) -> Vec<f32> {
    let parts = bytes.chunks_exact(channel.bytes());
    match channel {
        Channel::U8 => bytes.iter().map(|byte| f32::from(*byte)).collect(),
        Channel::F16 => parts
            .map(|part| f16::from_ne_bytes(part.try_into().unwrap()).to_f32())
            .collect(),
        _ => parts
            .map(|part| f32::from_ne_bytes(part.try_into().unwrap()))
            .collect(),
    }
}

#[test]
fn frames_of_any_kind_follow_each_other() {
    for seed in 0..8 {
        let mut random = Random::new(seed);
        let ranks = 2 + random.below(7);
        let hosts: Vec<u32> = (0..ranks).map(|_| random.below(3) as u32).collect();
        let frames: Vec<Frame> = (0..FRAMES)
            .map(|_| Frame::any(&mut random, ranks))
            .collect();
        let results = members(ranks, |member| {
            let rank = member.rank() as usize;
            let mut group =
                Group::on_simulated_host(member, 1, GROUP_TIMEOUT, hosts[rank]).unwrap();
            let frames = frames.iter();
            frames
                .map(|frame| frame.composite(rank, &mut group))
                .collect::<Vec<_>>()
        });
        for (number, frame) in frames.iter().enumerate() {
            let what = || format!("seed {seed}, hosts {hosts:?}, frame {number}: {frame:?}");
            let (whole, format) = (frame.at_once(), frame.terms.format);
            let [color, depth] = format.pixel_bytes();
            let mut pixels = 0;
            for (range, got) in results.iter().map(|rank| &rank[number]) {
                pixels += range.len();
                assert!(
                    got.depth == whole.depth[depth * range.start..depth * range.end],
                    "{}",
                    what()
                );
                let wanted = &whole.color[color * range.start..color * range.end];
                let [got, wanted] =
                    [&got.color, wanted].map(|bytes| channels(format.color.channel(), bytes));
                assert_eq!(got.len(), wanted.len());
                let mut pairs = got.iter().zip(&wanted);
                let tolerance = frame.tolerance();
                assert!(
                    pairs.all(|(got, wanted)| (got - wanted).abs() <= tolerance),
                    "{}",
                    what()
                );
            }
            let shows_nothing = frame.order.is_empty() && frame.terms.to.is_none();
            assert!(
                shows_nothing || pixels == frame.terms.pixels(),
                "{}",
                what()
            );
        }
    }
}
