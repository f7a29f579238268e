//! Pictures that are composited, the terms for that, and what one pass makes of them.

use std::time::Duration;

use mgn_composite::{
    merge, Channel, Color, Depth, Format, Group, Layer, Operation, Picture, Schedule, Terms,
};

use crate::group_kinds::GroupKind;
use crate::jobs::members;

pub const GROUP_TIMEOUT: Duration = Duration::from_secs(20);

pub const GROUP_KINDS: [GroupKind; 4] = [
    GroupKind::Memory,
    GroupKind::Messages,
    GroupKind::Hosts(2),
    GroupKind::Hosts(3),
];

/// Runs `each` as every rank of a job of its own. Returns the results of the ranks, in their order.
pub fn job<T: Send>(by: GroupKind, size: usize, each: impl Fn(Group<'_>) -> T + Sync) -> Vec<T> {
    members(size, |member| each(by.group(member, 1, GROUP_TIMEOUT)))
}

pub const WIDTH: usize = 61;
pub const PIXELS: usize = WIDTH * 83;

pub fn picture(rank: usize, format: Format) -> Picture {
    let value = |at: usize| (at.wrapping_mul(2_654_435_761) >> 8).wrapping_add(rank * 977);
    let color = |at: usize| {
        let alpha = value(at) % 256;
        let mut pixel = [0, 1, 2, 3].map(|c| (value(4 * at + c) % (alpha + 1)) as u8);
        pixel[3] = alpha as u8;
        pixel
    };
    let depth = |at: usize| ((value(at) % 61) as f32 / 64.0).to_ne_bytes();
    Picture {
        color: (0..PIXELS).flat_map(color).collect(),
        depth: match format.depth {
            Some(_) => (0..PIXELS).flat_map(depth).collect(),
            None => Vec::new(),
        },
    }
}

pub fn terms(operation: Operation, schedule: Option<Schedule>) -> Terms {
    let depth = (operation == Operation::Nearest).then_some(Depth::Float);
    Terms {
        width: WIDTH,
        height: PIXELS / WIDTH,
        origin: [0, 0],
        format: Format {
            color: Color::Rgba8,
            depth,
        },
        operation,
        schedule,
        order: None,
        to: Some(0),
    }
}

/// One pass over the pictures of these ranks.
pub fn at_once(terms: &Terms, order: &[usize]) -> Picture {
    let pictures = order.iter().map(|rank| picture(*rank, terms.format));
    merged(terms, &pictures.collect::<Vec<Picture>>())
}

/// One pass over pictures.
pub fn merged(terms: &Terms, pictures: &[Picture]) -> Picture {
    let layers: Vec<Layer<'_>> = pictures
        .iter()
        .map(|picture| picture.layer(Channel::U8))
        .collect();
    let mut merged = pictures[0].clone();
    let out = merged.layer_mut(Channel::U8);
    merge(terms.operation, terms.format, &layers, out).unwrap();
    merged
}

pub fn is_alike(one: &Picture, other: &Picture) -> bool {
    let mut pairs = one.color.iter().zip(&other.color);
    one.depth == other.depth
        && one.color.len() == other.color.len()
        && pairs.all(|(one, other)| one.abs_diff(*other) <= 1)
}
