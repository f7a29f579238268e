//! A frame that is drawn and composited.

use mgn_composite::{Color, CompositeError, Depth, Format, Group, Operation, Schedule, Terms};

pub fn terms(schedule: Option<Schedule>, to: usize) -> Terms {
    Terms {
        width: 64,
        height: 512,
        origin: [0, 0],
        format: Format {
            color: Color::Rgba8,
            depth: Some(Depth::Float),
        },
        operation: Operation::Nearest,
        schedule,
        order: None,
        to: Some(to),
    }
}

/// Draws and composites a frame.
pub fn composite(group: &mut Group<'_>, terms: &Terms) -> Result<(), CompositeError> {
    let place = group.draw(terms)?;
    place.color.fill(1);
    place.depth.fill(2);
    group.composite_drawn(terms, None).map(drop)
}
