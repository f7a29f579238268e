//! A frame: pictures are drawn or given, and composited tile by tile.

use std::ffi::c_void;

use crate::abi::{
    param, DrawCallback, ImageHandle, DIAG_WARNINGS, INVALID_OPERATION, INVALID_VALUE, MODE_BLEND,
    STRATEGY_REDUCE, STRATEGY_SEQUENTIAL, STRATEGY_UNDEFINED,
};
use crate::bounds::{covered, project_part, Matrix};
use crate::context::{Context, Registry};
use crate::diagnostics::{call, raise, Listening, Problem};
use crate::image::icetImageNull;
use crate::merging::{self, Own};
use crate::pixels::{bytes, depth_from_abi, Area, Color};
use crate::state::Value;
use crate::tiles::{self, Tile};
use crate::timing::{icetTimingRenderBegin, icetTimingRenderEnd, icetWallTime};

/// The work of all processes in a frame, and this one's part of it.
pub(crate) struct Frame {
    context: usize,
    start: f64,
    pub(crate) tiles: Vec<Tile>,
    whole: Area,
    /// The size of the picture that the program draws. A tile may be a part of it.
    drawn: (usize, usize),
    pub(crate) color: Color,
    pub(crate) has_depth: bool,
    pub(crate) is_blend: bool,
    pub(crate) background: [f32; 4],
    /// Whether the program draws on transparent black instead of the background.
    is_corrected: bool,
    /// Whether the background is blended behind all pictures.
    pub(crate) is_on_background: bool,
    /// The ranks, front to back. Of pixels with the same depth, the first one is seen.
    pub(crate) order: Vec<usize>,
    pub(crate) is_collected: bool,
    /// Whether the result gets only colours, if there are any.
    pub(crate) is_one_buffer: bool,
    projection: Matrix,
    /// The part of each tile that this process shows, relative to the tile's corner.
    pub(crate) shown: Vec<Area>,
}

/// The matrices with which the program sees the data, and the background.
struct View<'p> {
    projection: Option<&'p Matrix>,
    modelview: Option<&'p Matrix>,
    background: Option<&'p [f32; 4]>,
    /// Pixels outside of this area do not count.
    valid: Option<Area>,
}

/// A picture in the program's memory, of the whole display.
#[derive(Clone, Copy)]
struct Given<'p> {
    color: &'p [u32],
    depth: &'p [u32],
}

/// When this is dropped, the context is no longer marked as drawing, also if the program's draw
/// callback throws an exception.
struct Drawing(usize);

impl Drop for Drawing {
    fn drop(&mut self) {
        if let Ok(context) = Registry::lock().context(self.0) {
            context.state.set_bool(param::IS_DRAWING_FRAME, false);
        }
    }
}

/// Draws, and composites what all processes have drawn. Returns the picture of the tile that this
/// process shows, valid until the next frame, or null.
///
/// # Safety
/// The matrices are null or have 16 values, the background is null or has 4.
#[no_mangle]
pub unsafe extern "C-unwind" fn icetDrawFrame(
    projection: *const f64,
    modelview: *const f64,
    background: *const f32,
) -> ImageHandle {
    // SAFETY: as the caller promises.
    let view = unsafe {
        View {
            projection: projection.cast::<Matrix>().as_ref(),
            modelview: modelview.cast::<Matrix>().as_ref(),
            background: background.cast::<[f32; 4]>().as_ref(),
            valid: None,
        }
    };
    let begun = call(None, |registry| {
        let callback = registry.current()?.state.pointer(param::DRAW_FUNCTION);
        if callback == 0 {
            let text = "Drawing function not set.  Call icetDrawCallback.";
            return Err(Problem::Operation(text.into()));
        }
        if view.projection.is_none() || view.modelview.is_none() {
            return Err(Problem::Value("A matrix is null.".into()));
        }
        let frame = begin(registry, &view)?;
        let drawn = (frame.drawn.0 as i32, frame.drawn.1 as i32);
        let is_small = |tile: &Tile| drawn.0 < tile.area.width || drawn.1 < tile.area.height;
        if frame.tiles.iter().any(is_small) {
            registry
                .current()?
                .state
                .set_bool(param::IS_DRAWING_FRAME, false);
            let text = "Physical render dimensions not large enough to render all tiles.";
            return Err(Problem::Value(text.into()));
        }
        // SAFETY: icetDrawCallback takes nothing else.
        let callback = unsafe { std::mem::transmute::<usize, DrawCallback>(callback) };
        Ok(Some((frame, callback)))
    });
    let Some((frame, callback)) = begun else {
        return icetImageNull();
    };
    let drawing = Drawing(frame.context);
    let mut result = icetImageNull();
    for tile in 0..frame.tiles.len() {
        draw(&frame, tile, callback);
        let merged = call(Err(()), |registry| {
            let context = registry.context(frame.context)?;
            merging::tile(context, &frame, tile, Own::Drawn).map(Ok)
        });
        match merged {
            Ok(true) => result = result_of(&frame),
            Ok(false) => {}
            Err(()) => return icetImageNull(),
        }
    }
    end(&frame);
    drop(drawing);
    result
}

/// Composites pictures that all processes have drawn already, each of the whole display.
///
/// # Safety
/// The colours and depths are null or have values for all pixels of the display, in the formats
/// that are set. The viewport is null or has 4 values, the matrices 16, and the background 4.
#[no_mangle]
pub unsafe extern "C" fn icetCompositeImage(
    color: *const c_void,
    depth: *const c_void,
    valid: *const i32,
    projection: *const f64,
    modelview: *const f64,
    background: *const f32,
) -> ImageHandle {
    // SAFETY: as the caller promises.
    let view = unsafe {
        View {
            projection: projection.cast::<Matrix>().as_ref(),
            modelview: modelview.cast::<Matrix>().as_ref(),
            background: background.cast::<[f32; 4]>().as_ref(),
            valid: valid.cast::<[i32; 4]>().as_ref().map(|area| {
                let [x, y, width, height] = *area;
                Area::new(x, y, width, height)
            }),
        }
    };
    let merged = call(None, |registry| {
        let missing = |what: &str| {
            Problem::Value(format!(
                "Not given a {what} buffer when {what} format requires one."
            ))
        };
        let state = &registry.current()?.state;
        let color_format = Color::from_abi(state.int(param::COLOR_FORMAT) as u32)?;
        let has_depth = depth_from_abi(state.int(param::DEPTH_FORMAT) as u32)?;
        if color.is_null() && color_format != Color::None {
            return Err(missing("color"));
        }
        if depth.is_null() && has_depth {
            return Err(missing("depth"));
        }
        let (color, depth) = (color.cast::<u32>(), depth.cast::<u32>());
        if !color.is_aligned() || !depth.is_aligned() {
            let text = "The pictures' memory does not begin at a multiple of 4 bytes.";
            return Err(Problem::Value(text.into()));
        }
        let result = &registry.current()?.result.image;
        let is_result = result.is_lent_from(color as usize) || result.is_lent_from(depth as usize);
        let frame = begin(registry, &view)?;
        let context = registry.context(frame.context)?;
        let pixels = frame.whole.pixels();
        let words = |start: *const u32, words: usize| match words {
            0 => &[],
            // SAFETY: as the caller promises, until this returns.
            words => unsafe { std::slice::from_raw_parts(start, pixels * words) },
        };
        let given = Given {
            color: words(color, frame.color.words()),
            depth: words(depth, usize::from(frame.has_depth)),
        };
        // The last result lies where the new one will be.
        let copies = is_result.then(|| [given.color.to_vec(), given.depth.to_vec()]);
        let given = copies
            .as_ref()
            .map_or(given, |[color, depth]| Given { color, depth });
        let mut is_here = false;
        for (at, tile) in frame.tiles.iter().enumerate() {
            let corner = tile.area.seen_from(frame.whole.x, frame.whole.y);
            let own = Own::Given {
                color: given.color,
                depth: given.depth,
                stride: frame.whole.width as usize,
                corner: (corner.x as usize, corner.y as usize),
            };
            let merged = merging::tile(context, &frame, at, own);
            if merged.is_err() {
                context.state.set_bool(param::IS_DRAWING_FRAME, false);
            }
            is_here |= merged?;
        }
        context.state.set_bool(param::IS_DRAWING_FRAME, false);
        Ok(Some((frame, is_here)))
    });
    match merged {
        Some((frame, is_here)) => {
            end(&frame);
            match is_here {
                true => result_of(&frame),
                false => icetImageNull(),
            }
        }
        None => icetImageNull(),
    }
}

fn result_of(frame: &Frame) -> ImageHandle {
    call(icetImageNull(), |registry| {
        Ok(ImageHandle {
            number: registry.context(frame.context)?.result.number as *mut c_void,
        })
    })
}

fn begin(registry: &mut Registry, view: &View<'_>) -> Result<Frame, Problem> {
    let listening = registry.listening();
    let number = registry.current_number();
    let context = registry.current()?;
    let frame = plan(context, number, view, listening)?;
    let state = &mut context.state;
    state.set_int(
        param::FRAME_COUNT,
        state.int(param::FRAME_COUNT).wrapping_add(1),
    );
    state.set_bool(param::IS_DRAWING_FRAME, true);
    state.reset_times();
    context.timers.clear();
    // The pictures of the last frame may lie in memory that the group uses again. The drawn one
    // does if a draw callback threw an exception.
    context.result.image.end_loan();
    context.drawn.image.end_loan();
    context.is_lent = false;
    Ok(frame)
}

/// Plans a frame from the settings of the context.
fn plan(
    context: &mut Context,
    number: usize,
    view: &View<'_>,
    listening: Listening,
) -> Result<Frame, Problem> {
    let operation = |text: &str| Problem::Operation(text.into());
    let state = &context.state;
    if state.is_on(param::IS_DRAWING_FRAME) {
        return Err(operation("Recursive frame draw detected."));
    }
    if state.int(param::STRATEGY) as u32 == STRATEGY_UNDEFINED {
        return Err(Problem::Enum(
            "Strategy not defined. Use icetStrategy to set the strategy.".into(),
        ));
    }
    let tiles = tiles::all(context);
    if tiles.is_empty() {
        return Err(operation("There are no tiles: call icetAddTile first."));
    }
    let color = Color::from_abi(state.int(param::COLOR_FORMAT) as u32)?;
    let has_depth = depth_from_abi(state.int(param::DEPTH_FORMAT) as u32)?;
    let is_blend = state.int(param::COMPOSITE_MODE) as u32 == MODE_BLEND;
    match (is_blend, has_depth) {
        (true, true) => {
            return Err(operation("Cannot use blend composite with a depth buffer."));
        }
        (true, false) if !color.has_alpha() => {
            return Err(operation(
                "Cannot use blend composite without alpha channel.",
            ));
        }
        (false, false) => {
            return Err(operation(
                "Cannot use Z buffer compositing operation with no Z buffer.",
            ));
        }
        _ => {}
    }
    let mut is_collected = state.is_on(param::COLLECT_IMAGES);
    if !is_collected && tiles.len() > 1 {
        let text = "Images of more than one tile are collected in any case.";
        raise(listening, INVALID_OPERATION, DIAG_WARNINGS, text);
        is_collected = true;
    }
    let mut order: Vec<usize> = match state.is_on(param::ORDERED_COMPOSITE) {
        true => {
            let order = state.ints(param::COMPOSITE_ORDER).iter();
            order.map(|rank| *rank as usize).collect()
        }
        false => (0..context.processes.size()).collect(),
    };
    if !is_blend {
        // Of pixels with the same depth, IceT shows the last one.
        order.reverse();
    }
    let whole = tiles::whole(context);
    let background = view.background.copied().unwrap_or_default();
    let is_corrected = is_blend
        && state.is_on(param::CORRECT_COLORED_BACKGROUND)
        && background.iter().any(|value| *value != 0.0);
    // These strategies of IceT blend the background in any case.
    let strategy = state.int(param::STRATEGY) as u32;
    let is_on_background =
        is_corrected || (is_blend && [STRATEGY_SEQUENTIAL, STRATEGY_REDUCE].contains(&strategy));
    let physical = [param::PHYSICAL_RENDER_WIDTH, param::PHYSICAL_RENDER_HEIGHT];
    let [width, height] = physical.map(|name| usize::try_from(state.int(name)).unwrap_or(0));
    let seen = match (view.projection, view.modelview) {
        (Some(projection), Some(modelview)) => covered(
            state.doubles(param::GEOMETRY_BOUNDS),
            projection,
            modelview,
            whole,
        ),
        // The view is not known.
        _ => {
            if !state.doubles(param::GEOMETRY_BOUNDS).is_empty() {
                let text = "Bounds have no meaning without matrices. They are removed.";
                raise(listening, INVALID_VALUE, DIAG_WARNINGS, text);
                context
                    .state
                    .set(param::GEOMETRY_BOUNDS, Value::Doubles(Vec::new()));
                context.state.set_int(param::NUM_BOUNDING_VERTS, 0);
            }
            covered(&[], &IDENTITY, &IDENTITY, whole)
        }
    };
    let state = &context.state;
    let mut area = seen.area;
    if let Some(valid) = view.valid {
        area = area.common(
            Area::new(0, 0, whole.width, whole.height)
                .common(valid)
                .seen_from(whole.x.wrapping_neg(), whole.y.wrapping_neg()),
        );
    }
    let rank = context.processes.rank() as i32;
    let group = state.ints(param::DATA_REPLICATION_GROUP);
    let member = group.iter().position(|other| *other == rank).unwrap_or(0);
    let share = |tile: &Tile| share(area.common(tile.area), member, group.len());
    let shown: Vec<Area> = tiles
        .iter()
        .map(
            |tile| match view.valid.is_some() || view.projection.is_none() {
                // The picture has been drawn already, so dividing it would save nothing.
                true => area.common(tile.area),
                false => share(tile),
            },
        )
        .collect();
    let frame = Frame {
        context: number,
        start: icetWallTime(),
        whole,
        drawn: (width, height),
        color,
        has_depth,
        is_blend,
        background,
        is_corrected,
        is_on_background,
        order,
        is_collected,
        is_one_buffer: state.is_on(param::COMPOSITE_ONE_BUFFER),
        projection: view.projection.copied().unwrap_or(IDENTITY),
        shown: shown
            .iter()
            .zip(&tiles)
            .map(|(area, tile)| match area.is_empty() {
                true => Area::default(),
                false => area.seen_from(tile.area.x, tile.area.y),
            })
            .collect(),
        tiles,
    };
    note(context, &frame, view, area, (seen.near, seen.far));
    Ok(frame)
}

/// The part of an area that one of several processes with the same data draws.
fn share(area: Area, member: usize, members: usize) -> Area {
    let at = |member: usize| (area.width as usize * member / members.max(1)) as i32;
    let (from, to) = (at(member), at(member + 1));
    let part = Area::new(area.x + from, area.y, to - from, area.height);
    match part.is_empty() {
        true => Area::default(),
        false => part,
    }
}

/// Sets the values that the program may read while it draws, and later.
fn note(
    context: &mut Context,
    frame: &Frame,
    view: &View<'_>,
    area: Area,
    (near, far): (f64, f64),
) {
    let state = &mut context.state;
    for name in param::FRAME {
        if name != param::IS_DRAWING_FRAME {
            state.set(name, Value::Unset);
        }
    }
    let modelview = view.modelview.copied().unwrap_or(IDENTITY);
    state.set(
        param::PROJECTION_MATRIX,
        Value::Doubles(frame.projection.to_vec()),
    );
    state.set(param::MODELVIEW_MATRIX, Value::Doubles(modelview.to_vec()));
    let Area {
        x,
        y,
        width,
        height,
    } = area;
    state.set_ints(param::CONTAINED_VIEWPORT, &[x, y, width, height]);
    state.set_double(param::NEAR_DEPTH, near);
    state.set_double(param::FAR_DEPTH, far);
    let mask: Vec<u8> = frame
        .shown
        .iter()
        .map(|area| u8::from(!area.is_empty()))
        .collect();
    let list = (0..).zip(&mask).filter(|(_, shown)| **shown != 0);
    let list: Vec<i32> = list.map(|(tile, _)| tile).collect();
    state.set_int(param::NUM_CONTAINED_TILES, list.len() as i32);
    state.set_ints(param::CONTAINED_TILES_LIST, &list);
    state.set(param::CONTAINED_TILES_MASK, Value::Bools(mask));
    state.set_bool(param::NEED_BACKGROUND_CORRECTION, frame.is_corrected);
    let word = |rgba: [f32; 4]| i32::from_ne_bytes(bytes(rgba));
    let asked = frame.asked_background();
    state.set(
        param::TRUE_BACKGROUND_COLOR,
        Value::Floats(frame.background.to_vec()),
    );
    state.set_int(param::TRUE_BACKGROUND_COLOR_WORD, word(frame.background));
    state.set(param::BACKGROUND_COLOR, Value::Floats(asked.to_vec()));
    state.set_int(param::BACKGROUND_COLOR_WORD, word(asked));
    state.set_int(param::VALID_PIXELS_TILE, -1);
    state.set_int(param::VALID_PIXELS_OFFSET, 0);
    state.set_int(param::VALID_PIXELS_NUM, 0);
}

const IDENTITY: Matrix = [
    1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0,
];

impl Frame {
    /// The background on which the program draws: transparent black if the background is blended
    /// later.
    fn asked_background(&self) -> [f32; 4] {
        match self.is_corrected {
            true => [0.0; 4],
            false => self.background,
        }
    }

    /// The width and height of a tile.
    pub(crate) fn size_of(&self, tile: usize) -> (usize, usize) {
        let area = self.tiles[tile].area;
        (area.width as usize, area.height as usize)
    }

    /// Where the picture of a tile goes: to a rank, or every process keeps a piece. None: the tile
    /// is not shown.
    pub(crate) fn receiver(&self, tile: usize) -> Option<Option<usize>> {
        match (self.is_collected, self.tiles[tile].display) {
            (true, None) => None,
            (true, to) => Some(to),
            (false, _) => Some(None),
        }
    }

    pub(crate) fn drawn(&self) -> (usize, usize) {
        self.drawn
    }
}

/// Lets the program draw its part of a tile. The registry is not locked meanwhile, because the
/// program calls functions of this library.
fn draw(frame: &Frame, tile: usize, callback: DrawCallback) {
    let shown = frame.shown[tile];
    let image = call(None, |registry| {
        let context = registry.context(frame.context)?;
        // The callback may have thrown an exception for the last tile.
        context.is_lent = false;
        context.drawn.image.prepare(Color::None, false, (0, 0));
        let is_asked = !shown.is_empty() || context.state.is_on(param::RENDER_EMPTY_IMAGES);
        if !is_asked {
            return Ok(None);
        }
        merging::make_room(context, frame, tile)?;
        Ok(Some(ImageHandle {
            number: context.drawn.number as *mut c_void,
        }))
    });
    let Some(image) = image else {
        return;
    };
    let area = frame.tiles[tile].area;
    let part = Area {
        width: frame.drawn.0 as i32,
        height: frame.drawn.1 as i32,
        ..area
    };
    let projection = project_part(&frame.projection, frame.whole, part);
    let modelview = call(IDENTITY, |registry| {
        let state = &registry.context(frame.context)?.state;
        let values = state.doubles(param::MODELVIEW_MATRIX);
        Ok(values.try_into().unwrap_or(IDENTITY))
    });
    let background = frame.asked_background();
    let viewport = [shown.x, shown.y, shown.width, shown.height];
    icetTimingRenderBegin();
    // SAFETY: this is the program's own function. All arguments are valid until it returns, and the
    // image until the next frame.
    unsafe {
        callback(
            projection.as_ptr(),
            modelview.as_ptr(),
            background.as_ptr(),
            viewport.as_ptr(),
            image,
        );
    }
    icetTimingRenderEnd();
}

/// Computes the total times of a frame.
fn end(frame: &Frame) {
    call((), |registry| {
        let state = &mut registry.context(frame.context)?.state;
        let total = icetWallTime() - frame.start;
        let others = [
            param::RENDER_TIME,
            param::BUFFER_READ_TIME,
            param::BUFFER_WRITE_TIME,
        ];
        let others: f64 = others.iter().map(|name| state.double(*name)).sum();
        state.set_double(param::TOTAL_DRAW_TIME, total);
        state.set_double(param::COMPOSITE_TIME, (total - others).max(0.0));
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_with_the_same_data_share_the_area() {
        let area = Area::new(5, 2, 10, 3);
        let parts: Vec<Area> = (0..3).map(|member| share(area, member, 3)).collect();
        assert_eq!(parts.iter().map(|part| part.width).sum::<i32>(), 10);
        assert_eq!(parts[0], Area::new(5, 2, 3, 3));
        assert_eq!(parts[2].x + parts[2].width, 15);
        assert_eq!(share(area, 0, 1), area);
        assert!(share(Area::default(), 1, 2).is_empty());
    }
}
