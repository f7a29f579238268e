//! Tiles of the display, and the ranks that show them.

use crate::abi::{param, Size, DIAG_WARNINGS, INVALID_VALUE};
use crate::context::Context;
use crate::diagnostics::{call, raise, Problem};
use crate::pixels::Area;

/// The most pixels of a tile: an int must be able to count their bytes.
const PIXELS_MAX: i64 = i32::MAX as i64 / 16;

/// A tile: where it is in the whole display, and which rank shows it, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tile {
    pub(crate) area: Area,
    pub(crate) display: Option<usize>,
}

pub(crate) fn all(context: &Context) -> Vec<Tile> {
    let areas = context.state.ints(param::TILE_VIEWPORTS).chunks_exact(4);
    let displays = context.state.ints(param::DISPLAY_NODES);
    let tile = |(area, display): (&[i32], &i32)| Tile {
        area: Area::new(area[0], area[1], area[2], area[3]),
        display: usize::try_from(*display).ok(),
    };
    areas.zip(displays).map(tile).collect()
}

/// The area of all tiles together.
pub(crate) fn whole(context: &Context) -> Area {
    match *context.state.ints(param::GLOBAL_VIEWPORT) {
        [x, y, width, height] => Area::new(x, y, width, height),
        _ => Area::default(),
    }
}

pub(crate) fn reset(context: &mut Context) {
    set(context, &[]);
    context.state.set_int(param::PHYSICAL_RENDER_WIDTH, 0);
    context.state.set_int(param::PHYSICAL_RENDER_HEIGHT, 0);
}

fn set(context: &mut Context, tiles: &[Tile]) {
    let rank = context.processes.rank();
    let state = &mut context.state;
    let ends = |tile: &Tile| {
        let Area {
            x,
            y,
            width,
            height,
        } = tile.area;
        (
            i64::from(x) + i64::from(width),
            i64::from(y) + i64::from(height),
        )
    };
    let x = tiles.iter().map(|tile| tile.area.x).min().unwrap_or(0);
    let y = tiles.iter().map(|tile| tile.area.y).min().unwrap_or(0);
    let right = tiles.iter().map(|tile| ends(tile).0).max().unwrap_or(0);
    let top = tiles.iter().map(|tile| ends(tile).1).max().unwrap_or(0);
    let length = |end: i64, start: i32| i32::try_from(end - i64::from(start)).unwrap_or(i32::MAX);
    let whole = [x, y, length(right, x), length(top, y)];
    let viewports = tiles.iter().map(|tile| tile.area);
    let viewports = viewports.flat_map(|area| [area.x, area.y, area.width, area.height]);
    let viewports: Vec<i32> = viewports.collect();
    let displays = tiles
        .iter()
        .map(|tile| tile.display.map_or(-1, |rank| rank as i32));
    let displays: Vec<i32> = displays.collect();
    let shown = tiles.iter().position(|tile| tile.display == Some(rank));
    let width = tiles.iter().map(|tile| tile.area.width).max().unwrap_or(0);
    let height = tiles.iter().map(|tile| tile.area.height).max().unwrap_or(0);
    state.set_int(param::NUM_TILES, tiles.len() as i32);
    state.set_ints(param::TILE_VIEWPORTS, &viewports);
    state.set_ints(param::GLOBAL_VIEWPORT, &whole);
    state.set_ints(param::DISPLAY_NODES, &displays);
    state.set_int(param::TILE_MAX_WIDTH, width);
    state.set_int(param::TILE_MAX_HEIGHT, height);
    state.set_int(param::TILE_DISPLAYED, shown.map_or(-1, |tile| tile as i32));
    let grown = |old: i32, new: i32| old.max(new);
    let physical = [
        (param::PHYSICAL_RENDER_WIDTH, width),
        (param::PHYSICAL_RENDER_HEIGHT, height),
    ];
    for (name, length) in physical {
        state.set_int(name, grown(state.int(name), length));
    }
}

#[no_mangle]
pub extern "C" fn icetResetTiles() {
    call((), |registry| {
        reset(registry.current()?);
        Ok(())
    });
}

/// Adds a tile, and returns its number, or -1. With a negative rank, the tile is not shown.
#[no_mangle]
pub extern "C" fn icetAddTile(x: i32, y: i32, width: Size, height: Size, display: i32) -> i32 {
    call(-1, |registry| {
        let context = registry.current()?;
        let mut tiles = all(context);
        let wrong = |text: String| Err(Problem::Value(text));
        if width <= 0 || height <= 0 {
            return wrong("Attempted to create a tile with no pixels.".into());
        }
        if i64::from(width) * i64::from(height) > PIXELS_MAX {
            return wrong(format!(
                "A tile of {width} by {height} pixels is too large."
            ));
        }
        let far = i64::from(i32::MAX) / 4;
        if i64::from(x).abs() > far || i64::from(y).abs() > far {
            return wrong(format!("A tile at ({x}, {y}) is too far away."));
        }
        let number = tiles.len();
        let display = usize::try_from(display).ok();
        if display.is_some_and(|rank| rank >= context.processes.size()) {
            return wrong(format!("icetDisplayNodes: Invalid rank for tile {number}."));
        }
        let other = tiles
            .iter()
            .position(|tile| tile.display.is_some() && tile.display == display);
        if let (Some(other), Some(rank)) = (other, display) {
            return wrong(format!(
                "icetDisplayNodes: Rank {rank} used for tiles {other} and {number}."
            ));
        }
        tiles.push(Tile {
            area: Area::new(x, y, width, height),
            display,
        });
        set(context, &tiles);
        Ok(number as i32)
    })
}

#[no_mangle]
pub extern "C" fn icetPhysicalRenderSize(width: i32, height: i32) {
    call((), |registry| {
        let listening = registry.listening();
        let context = registry.current()?;
        if width < 0 || height < 0 || i64::from(width) * i64::from(height) > PIXELS_MAX {
            return Err(Problem::Value(format!(
                "Nothing can be drawn in a window of {width} by {height} pixels."
            )));
        }
        let most = [param::TILE_MAX_WIDTH, param::TILE_MAX_HEIGHT];
        let [most_wide, most_high] = most.map(|name| context.state.int(name));
        context.state.set_int(param::PHYSICAL_RENDER_WIDTH, width);
        context.state.set_int(param::PHYSICAL_RENDER_HEIGHT, height);
        if width < most_wide || height < most_high {
            let text = "Physical render dimensions not large enough to render all tiles.";
            raise(listening, INVALID_VALUE, DIAG_WARNINGS, text);
        }
        Ok(())
    });
}
