//! Compositing: many pictures become one

use std::ffi::{c_char, c_int, c_void};
use std::ops::Range;

use mgn_composite::{
    Color, Depth, Format, Group, LayerMut, Operation, PictureRef, Rectangle, Schedule, Terms, Tile,
};
use mgn_outlet::Canvas;

use crate::arguments::{duration, optional_text, out, piece, FOREVER};
use crate::compositor::{Calling, Compositor};
use crate::fault::{call, not_shown, Code, Fault};
use crate::library::Library;

/// A compositor: a group of all processes of the job that composite pictures together.
#[allow(non_camel_case_types)]
pub type mgn_compositor = u64;

/// Colours of 4 bytes: red, green, blue and alpha.
pub const MGN_RGBA8: c_int = 0;

/// Colours of 4 half-precision floats.
pub const MGN_RGBA16F: c_int = 1;

/// Colours of 4 floats.
pub const MGN_RGBA32F: c_int = 2;

/// Pictures without depth.
pub const MGN_DEPTH_NONE: c_int = 0;

/// Depths of 32 bits, as glReadPixels returns them for GL_UNSIGNED_INT.
pub const MGN_DEPTH_UINT: c_int = 1;

/// Depths of one float. A NaN is farther than everything else.
pub const MGN_DEPTH_FLOAT: c_int = 2;

/// Blends colours that are premultiplied with their alpha. The first picture of the order is in
/// front.
pub const MGN_OVER: c_int = 0;

/// Takes the pixel with the smallest depth. If depths are equal, takes the pixel of the picture
/// that is earlier in the order.
pub const MGN_NEAREST: c_int = 1;

/// Takes the largest value of each channel.
pub const MGN_MAX: c_int = 2;

/// Takes the smallest value of each channel.
pub const MGN_MIN: c_int = 3;

/// Adds the values of each channel. Sums of bytes stop at 255.
pub const MGN_ADD: c_int = 4;

/// Describes what is composited. All processes must pass the same values.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct mgn_composition {
    /// The size of the picture in pixels.
    pub width: u32,
    pub height: u32,
    /// MGN_RGBA8, MGN_RGBA16F or MGN_RGBA32F.
    pub color: c_int,
    /// MGN_DEPTH_NONE, MGN_DEPTH_UINT or MGN_DEPTH_FLOAT.
    pub depth: c_int,
    /// MGN_OVER, MGN_NEAREST, MGN_MAX, MGN_MIN or MGN_ADD.
    pub operation: c_int,
    /// The rank that gets the merged picture. If it is negative, each process keeps the pixels that
    /// it has merged.
    pub to: c_int,
    /// The schedule, which determines which processes exchange which pixels: direct, binary-swap,
    /// 2-3-swap, or radix-K or tree-K with a number K, such as radix-8. If it is null, the library
    /// chooses. Processes on one host then read each other's pictures in place; in a job on several
    /// hosts, only neighbours in the order do so, and only if to is a rank.
    pub schedule: *const c_char,
    /// The ranks whose pictures are merged, front to back. Ranks that are left out contribute
    /// nothing and cost nothing. If it is null, all ranks are merged in the order of their numbers.
    pub order: *const u32,
    pub order_length: u32,
}

/// A rectangle of pixels in a picture. column and row are those of its first pixel; row 0 is the
/// first row of the picture in memory.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct mgn_rectangle {
    pub column: u32,
    pub row: u32,
    pub width: u32,
    pub height: u32,
}

/// Merged pixels. pixels is their number, and first is the index of the first one, counted row by
/// row from 0.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct mgn_merged {
    pub color: *const c_void,
    /// Null without depth.
    pub depth: *const c_void,
    pub first: u64,
    pub pixels: u64,
}

/// A part of a large picture, such as one screen of a wall.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct mgn_tile {
    /// The tile's place in the large picture. Tiles may overlap.
    pub place: mgn_rectangle,
    /// The rank that gets the merged tile.
    pub to: u32,
}

/// A function of the program that draws this process's share of a tile. tile is the index in the
/// array of tiles, and place is the tile's place in the large picture. color and depth (null
/// without depth) are memory for the pixels of the tile: rows without gaps, with undefined
/// contents. On entry, covered is the whole tile; a function that draws less sets it to the
/// rectangle that it has drawn, counted from the tile's first pixel. The function is also called
/// for tiles of width or height 0. It returns 0, or another number if it cannot draw.
#[allow(non_camel_case_types)]
pub type mgn_draw = Option<
    unsafe extern "C-unwind" fn(
        context: *mut c_void,
        tile: u32,
        place: *const mgn_rectangle,
        color: *mut c_void,
        depth: *mut c_void,
        covered: *mut mgn_rectangle,
    ) -> c_int,
>;

/// A function of the program that gets a merged tile. The pixels are valid during the call. It
/// returns 0, or another number if it fails.
#[allow(non_camel_case_types)]
pub type mgn_show = Option<
    unsafe extern "C-unwind" fn(
        context: *mut c_void,
        tile: u32,
        place: *const mgn_rectangle,
        merged: *const mgn_merged,
    ) -> c_int,
>;

/// Creates a compositor of all processes of the job. All of them must call this. It waits for the
/// others for up to timeout milliseconds. The same timeout applies to each later call with this
/// compositor. A process that opens several compositors must open them in the same order as the
/// others do. While a compositor is open, do not receive messages with any tag (ignore UINT64_MAX):
/// such a receive could take a message of the compositor.
///
/// MGN_ERR_COMPOSITE: another process runs another release. Other errors are those of
/// mgn_composite.
#[no_mangle]
pub unsafe extern "C" fn mgn_compositor_open(
    timeout: c_int,
    compositor: *mut mgn_compositor,
) -> c_int {
    call(|| {
        let library = Library::current()?;
        // SAFETY: as the caller promises.
        let compositor = unsafe { out(compositor, "compositor") }?;
        let group = Group::new(
            &library.member,
            library.group_number(),
            duration(timeout).unwrap_or(FOREVER),
        )?;
        *compositor = library.add_compositor(Compositor::new(group));
        Ok(0)
    })
}

/// Returns the number of hosts on which the processes of a compositor run. Processes that share
/// memory are on one host. A process that cannot share memory counts as a host of its own.
#[no_mangle]
pub extern "C" fn mgn_compositor_hosts(compositor: mgn_compositor) -> c_int {
    call(|| {
        let compositor = Library::current()?.compositor(compositor)?;
        let hosts = compositor.group()?.hosts();
        Ok(c_int::try_from(hosts).unwrap_or(c_int::MAX))
    })
}

/// Merges one picture of each process. All processes must call this. color and depth are the
/// picture of this process: rows of pixels without gaps. They may be null if the order leaves this
/// process out. merged is set to the pixels that this process gets: all, a part, or none. Their
/// memory is valid until the next call with this compositor.
///
/// MGN_ERR_COMPOSITE: another process composites something else. MGN_ERR_CLOSED: a process has
/// ended. MGN_ERR_TIMEOUT: a process has not called this in time. After any of these three errors,
/// close the compositor. By then, the connections to processes that did not answer are closed.
#[no_mangle]
pub unsafe extern "C" fn mgn_composite(
    compositor: mgn_compositor,
    composition: *const mgn_composition,
    color: *const c_void,
    depth: *const c_void,
    merged: *mut mgn_merged,
) -> c_int {
    call(|| {
        let library = Library::current()?;
        let compositor = library.compositor(compositor)?;
        // SAFETY: as the caller promises.
        let (composition, merged) = unsafe {
            (
                *out(composition.cast_mut(), "composition")?,
                out(merged, "merged")?,
            )
        };
        // SAFETY: as above.
        let terms = unsafe { terms(&composition) }?;
        let [color_bytes, depth_bytes] = terms.bytes()?;
        let part = |start: *const c_void, len: usize| -> Result<&[u8], Fault> {
            let (start, len) = piece(start, if start.is_null() { 0 } else { len })?;
            // SAFETY: the caller promises `len` bytes, which stay unchanged until this returns.
            Ok(unsafe { std::slice::from_raw_parts(start, len) })
        };
        let picture = PictureRef {
            color: part(color, color_bytes)?,
            depth: part(
                if depth_bytes == 0 {
                    std::ptr::null()
                } else {
                    depth
                },
                depth_bytes,
            )?,
        };
        let mut group = compositor.group()?;
        let here = group.composite(picture, &terms)?;
        *merged = from_pixels(&here);
        compositor
            .show(library.member.rank() as usize, &terms, &here)
            .map(|()| 0)
    })
}

/// Gives the program memory for the next picture of this process: rows of pixels without gaps, with
/// undefined contents. The program draws all pixels there, and then calls mgn_composite_drawn with
/// the same composition. Other processes on the same host read the picture in this memory, so the
/// library makes no copy for them. depth is set to null without depth. After mgn_composite_drawn,
/// the program must not use the memory. mgn_composite_draw waits until others have read an earlier
/// picture in the same memory. Errors are those of mgn_composite.
#[no_mangle]
pub unsafe extern "C" fn mgn_composite_draw(
    compositor: mgn_compositor,
    composition: *const mgn_composition,
    color: *mut *mut c_void,
    depth: *mut *mut c_void,
) -> c_int {
    call(|| {
        let compositor = Library::current()?.compositor(compositor)?;
        // SAFETY: as the caller promises.
        let (composition, color, depth) = unsafe {
            (
                *out(composition.cast_mut(), "composition")?,
                out(color, "color")?,
                out(depth, "depth")?,
            )
        };
        // SAFETY: as above.
        let terms = unsafe { terms(&composition) }?;
        let mut group = compositor.group()?;
        let place = group.draw(&terms)?;
        *color = place.color.as_mut_ptr().cast();
        *depth = match place.depth {
            [] => std::ptr::null_mut(),
            depth => depth.as_mut_ptr().cast(),
        };
        Ok(0)
    })
}

/// Merges one picture of each process, as mgn_composite does. The picture of this process is the
/// one that was drawn in the memory from mgn_composite_draw. If covered is not null, the program
/// has drawn only this rectangle: outside of it, the picture is empty, whatever the memory
/// contains, and costs nothing. Some processes may call this while others call mgn_composite.
///
/// MGN_ERR_ARGUMENT: nothing was drawn for this composition, or covered is not within the picture.
/// Other errors are those of mgn_composite.
#[no_mangle]
pub unsafe extern "C" fn mgn_composite_drawn(
    compositor: mgn_compositor,
    composition: *const mgn_composition,
    covered: *const mgn_rectangle,
    merged: *mut mgn_merged,
) -> c_int {
    call(|| {
        let library = Library::current()?;
        let compositor = library.compositor(compositor)?;
        // SAFETY: as the caller promises.
        let (composition, covered, merged) = unsafe {
            (
                *out(composition.cast_mut(), "composition")?,
                covered.as_ref().copied(),
                out(merged, "merged")?,
            )
        };
        // SAFETY: as above.
        let terms = unsafe { terms(&composition) }?;
        let mut group = compositor.group()?;
        let covered = covered.map(Rectangle::from);
        let here = group.composite_drawn(&terms, covered)?;
        *merged = from_pixels(&here);
        compositor
            .show(library.member.rank() as usize, &terms, &here)
            .map(|()| 0)
    })
}

/// Draws and composites a large picture tile by tile. All processes must call this with the same
/// composition and the same tiles. composition describes the large picture. For each tile, the
/// library calls draw in every process that the order names, and then show in the rank that gets
/// the tile. It passes context to both. show may be null. If tiles is null, the whole picture is
/// one tile for the rank composition->to; otherwise that field has no effect. draw and show must
/// not use this compositor, not even through another thread that they wait for, and must not throw
/// C++ exceptions: an exception that leaves them ends the process.
///
/// MGN_ERR_CANCELLED: draw or show returned a value other than 0. MGN_ERR_ARGUMENT: a tile is not
/// within the picture or is for a rank that does not exist (nothing was drawn), or draw set covered
/// to a rectangle that is not within the tile. If draw or show failed, or covered was wrong, the
/// other processes get MGN_ERR_CLOSED, in this call or the next one, and every process must close
/// the compositor. Other errors are those of mgn_composite.
#[no_mangle]
pub unsafe extern "C" fn mgn_composite_tiles(
    compositor: mgn_compositor,
    composition: *const mgn_composition,
    tiles: *const mgn_tile,
    count: u32,
    draw: mgn_draw,
    show: mgn_show,
    context: *mut c_void,
) -> c_int {
    call(|| {
        let library = Library::current()?;
        let compositor = library.compositor(compositor)?;
        // SAFETY: as the caller promises.
        let composition = unsafe { *out(composition.cast_mut(), "composition")? };
        // SAFETY: as above.
        let terms = unsafe { terms(&composition) }?;
        let draw = draw.ok_or_else(|| Fault::argument("draw is null"))?;
        let places: Vec<mgn_tile> = match tiles.is_null() {
            true => vec![single_tile(&composition)?],
            false => {
                let all = (0..count as usize).map(|at| {
                    // SAFETY: the caller promises that `count` tiles are there.
                    unsafe { tiles.add(at).read_unaligned() }
                });
                all.collect()
            }
        };
        let tiles: Vec<Tile> = places.iter().map(Tile::from).collect();
        let refused = |what: &str, tile: usize, status: c_int| {
            let text = format!("{what} has returned {status} for tile {tile}");
            Fault::new(Code::Cancelled, text)
        };
        let draw = |number: usize, out: LayerMut<'_>| {
            let place = places[number].place;
            let mut covered = mgn_rectangle {
                column: 0,
                row: 0,
                ..place
            };
            let depth = match out.depth {
                [] => std::ptr::null_mut(),
                depth => depth.as_mut_ptr().cast(),
            };
            let color = out.color.as_mut_ptr().cast();
            // SAFETY: the program promises that its function keeps to the contract of `mgn_draw`.
            let status =
                unsafe { draw(context, number as u32, &place, color, depth, &mut covered) };
            match status {
                0 if is_all_of(&covered, &place) => Ok(None),
                0 => Ok(Some(Rectangle::from(covered))),
                status => Err(refused("draw", number, status)),
            }
        };
        let attached = compositor.attached();
        let rank = library.member.rank() as usize;
        let mut canvas = attached
            .as_ref()
            .and_then(|attached| Canvas::of(attached, rank, &tiles, terms.format));
        let show = |number: usize, picture: PictureRef<'_>| {
            if let Some(canvas) = &mut canvas {
                canvas.put(&tiles[number].place, picture);
            }
            let place = places[number].place;
            let pixels = place.width as usize * place.height as usize;
            let merged = from_pixels(&(0..pixels, picture));
            // SAFETY: as above.
            let status = show.map_or(0, |show| unsafe {
                show(context, number as u32, &place, &merged)
            });
            match status {
                0 => Ok(()),
                status => Err(refused("show", number, status)),
            }
        };
        let mut group = compositor.group()?;
        let _calling = Calling::new(&compositor);
        group.composite_tiles(&terms, &tiles, draw, show)?;
        let shown = canvas.map_or(Ok(()), Canvas::show);
        shown.map(|()| 0).map_err(|error| not_shown(&error))
    })
}

/// The whole picture as one tile.
fn single_tile(composition: &mgn_composition) -> Result<mgn_tile, Fault> {
    let to = u32::try_from(composition.to);
    Ok(mgn_tile {
        place: mgn_rectangle {
            column: 0,
            row: 0,
            width: composition.width,
            height: composition.height,
        },
        to: to.map_err(|_| Fault::argument("there are no tiles, and to is negative"))?,
    })
}

fn is_all_of(covered: &mgn_rectangle, tile: &mgn_rectangle) -> bool {
    (covered.column, covered.row) == (0, 0)
        && (covered.width, covered.height) == (tile.width, tile.height)
}

impl From<mgn_rectangle> for Rectangle {
    fn from(it: mgn_rectangle) -> Rectangle {
        let range = |start: u32, count: u32| start as usize..start as usize + count as usize;
        Rectangle {
            columns: range(it.column, it.width),
            rows: range(it.row, it.height),
        }
    }
}

impl From<&mgn_tile> for Tile {
    fn from(tile: &mgn_tile) -> Tile {
        Tile {
            place: Rectangle::from(tile.place),
            to: tile.to as usize,
        }
    }
}

fn from_pixels((range, picture): &(Range<usize>, PictureRef<'_>)) -> mgn_merged {
    let start = |bytes: &[u8]| match bytes {
        [] => std::ptr::null(),
        bytes => bytes.as_ptr().cast(),
    };
    mgn_merged {
        color: start(picture.color),
        depth: start(picture.depth),
        first: range.start as u64,
        pixels: range.len() as u64,
    }
}

/// Closes a compositor. The pixels that it has merged become invalid.
#[no_mangle]
pub extern "C" fn mgn_compositor_close(compositor: mgn_compositor) -> c_int {
    call(|| {
        Library::current()?
            .remove_compositor(compositor)
            .map(|()| 0)
    })
}

fn argument(what: &str, value: c_int) -> Fault {
    Fault::argument(format!("{what} is {value}"))
}

pub(crate) fn color(color: c_int) -> Result<Color, Fault> {
    match color {
        MGN_RGBA8 => Ok(Color::Rgba8),
        MGN_RGBA16F => Ok(Color::Rgba16f),
        MGN_RGBA32F => Ok(Color::Rgba32f),
        other => Err(argument("color", other)),
    }
}

/// # Safety
/// The schedule is null or a string. The order is null, or points to `order_length` ranks.
unsafe fn terms(composition: &mgn_composition) -> Result<Terms, Fault> {
    let color = color(composition.color)?;
    let depth = match composition.depth {
        MGN_DEPTH_NONE => None,
        MGN_DEPTH_UINT => Some(Depth::Unorm),
        MGN_DEPTH_FLOAT => Some(Depth::Float),
        other => return Err(argument("depth", other)),
    };
    let operation = match composition.operation {
        MGN_OVER => Operation::Over,
        MGN_NEAREST => Operation::Nearest,
        MGN_MAX => Operation::Max,
        MGN_MIN => Operation::Min,
        MGN_ADD => Operation::Add,
        other => return Err(argument("operation", other)),
    };
    let mgn_composition {
        width,
        height,
        order_length,
        ..
    } = *composition;
    let order = match composition.order.is_null() {
        true => None,
        false => {
            let ranks = (0..order_length as usize).map(|at| {
                // SAFETY: the caller promises `order_length` ranks.
                unsafe { composition.order.add(at).read_unaligned() as usize }
            });
            Some(ranks.collect::<Vec<usize>>())
        }
    };
    // SAFETY: as the caller promises.
    let schedule = match unsafe { optional_text(composition.schedule, "schedule") }? {
        None => None,
        Some(name) => {
            let schedule = name.parse::<Schedule>();
            Some(schedule.map_err(|error| Fault::argument(error.to_string()))?)
        }
    };
    Ok(Terms {
        width: width as usize,
        height: height as usize,
        origin: [0, 0],
        format: Format { color, depth },
        operation,
        schedule,
        order,
        to: usize::try_from(composition.to).ok(),
    })
}
