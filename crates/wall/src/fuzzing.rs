//! The fuzz target of this crate: walls that another process describes.

use mgn_fuzzing::Target;

use crate::Wall;

pub const TARGETS: &[Target] = &[Target {
    name: "wall-json",
    feed,
    seeds: || {
        let grids = [Wall::grid(1, 1), Wall::grid(3, 2)];
        let text = |wall: Wall| wall.to_json().into_bytes();
        grids.into_iter().flatten().map(text).collect()
    },
    runs: 3000,
}];

/// A wall that is accepted can be divided for a window of any size.
fn feed(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = text.parse::<Wall>();
    let Ok(wall) = Wall::from_json(&text) else {
        return;
    };
    assert_eq!(Wall::from_json(&wall.to_json()).as_ref(), Ok(&wall));
    for (width, height) in [(1, 1), (640, 480), (16384, 16384), (u32::MAX, u32::MAX)] {
        assert_eq!(wall.areas(width, height).len(), wall.tiles.len());
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn targets_keep_their_promises() {
        super::TARGETS.iter().for_each(mgn_fuzzing::replay);
    }
}
