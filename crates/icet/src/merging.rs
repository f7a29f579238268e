//! Composites the pictures of one tile.

use std::borrow::Cow;

use mgn_composite::{
    self as composite, Depth, Format, LayerMut, Operation, PictureRef, Pixel, Rectangle, Terms,
};

use crate::abi::param;
use crate::communicator::{Members, Processes};
use crate::context::Context;
use crate::diagnostics::Problem;
use crate::frame::Frame;
use crate::image::Image;
use crate::pixels::{self, Area, Color};
use crate::timing::icetWallTime;

/// This process's picture.
pub(crate) enum Own<'p> {
    /// It lies in the context's image, with the tile at its lower left.
    Drawn,
    /// It lies in the program's memory, with the lower left of the tile at `corner`.
    Given {
        color: &'p [u32],
        depth: &'p [u32],
        stride: usize,
        corner: (usize, usize),
    },
}

/// Pixels of a tile, as they are composited.
struct Prepared<'p> {
    color: Cow<'p, [u32]>,
    depth: Cow<'p, [u32]>,
}

/// Prepares the image into which the program draws its picture of a tile: in memory that the others
/// read, if the picture's size and format allow it.
pub(crate) fn make_room(context: &mut Context, frame: &Frame, tile: usize) -> Result<(), Problem> {
    let size = frame.size_of(tile);
    let image = &mut context.drawn.image;
    let Some(to) = frame.receiver(tile) else {
        image.prepare(frame.color, frame.has_depth, frame.drawn());
        return Ok(());
    };
    if context.processes.size() == 1 || frame.drawn() != size || !frame.color.has_alpha() {
        image.prepare(frame.color, frame.has_depth, frame.drawn());
        return Ok(());
    }
    image.prepare(Color::None, false, (0, 0));
    let terms = terms(frame, size, to);
    let members = members(&mut context.members, &context.processes)?;
    let failed = match members.group.draw(&terms) {
        Ok(room) => {
            match words_mut(room) {
                Some((color, depth)) => {
                    // SAFETY: the memory belongs to this process until the picture is composited,
                    // and `tile` releases it then.
                    unsafe { image.lend(frame.color, size, color, depth) };
                    context.is_lent = true;
                }
                None => image.prepare(frame.color, frame.has_depth, size),
            }
            return Ok(());
        }
        Err(error) => error,
    };
    Err(fail(context, failed))
}

/// Leaves the group after an error, with all images that lie in its memory.
fn fail(context: &mut Context, error: composite::CompositeError) -> Problem {
    context.result.image.end_loan();
    context.members = Some(Err(error.to_string()));
    error.into()
}

/// The processes, which are joined first if they have not been.
fn members<'m>(
    members: &'m mut Option<Result<Members, String>>,
    processes: &Processes,
) -> Result<&'m mut Members, Problem> {
    if members.is_none() {
        let joined = processes.join();
        *members = Some(joined.map_err(|error| error.to_string()));
        if let Some(Err(error)) = members {
            return Err(Problem::Operation(error.clone()));
        }
    }
    match members {
        Some(Ok(members)) => Ok(members),
        Some(Err(failure)) => Err(Problem::Operation(format!(
            "This context has failed before: {failure}"
        ))),
        None => unreachable!("they were joined above"),
    }
}

/// Composites a tile. Returns whether the context's result is then the picture, or this process's
/// part of it.
pub(crate) fn tile(
    context: &mut Context,
    frame: &Frame,
    tile: usize,
    own: Own<'_>,
) -> Result<bool, Problem> {
    let size = frame.size_of(tile);
    let Some(to) = frame.receiver(tile) else {
        return Ok(false);
    };
    let rank = context.processes.rank();
    let start = icetWallTime();
    let is_last = frame.order.last() == Some(&rank);
    let is_alone = context.processes.size() == 1;
    if !is_alone {
        // This may fail, so it comes before the picture is taken out.
        members(&mut context.members, &context.processes)?;
    }
    // The image is taken out, so that the result can be written at the same time.
    let mut drawn = std::mem::take(&mut context.drawn.image);
    let is_lent = std::mem::take(&mut context.is_lent);
    let shows_nothing = frame.shown[tile].is_empty()
        && !is_alone
        && !(frame.is_blend && is_on_background(frame, is_last));
    let (prepared, covered) = match is_lent {
        // This process needs no picture, and may not even have drawn one.
        _ if shows_nothing => (None, Some(Rectangle::empty())),
        true => (None, prepare_lent(frame, tile, &mut drawn, is_last)),
        false => (Some(prepare(frame, tile, &drawn, own, is_last)), None),
    };
    let compressed = icetWallTime();
    let result = &mut context.result.image;
    let has_depth = frame.has_depth && (frame.color == Color::None || !frame.is_one_buffer);
    let merged = match &prepared {
        Some(prepared) if is_alone => {
            result.prepare(frame.color, has_depth, size);
            write(frame, result, 0, &prepared.color, &prepared.depth);
            Ok(Some(0..size.0 * size.1))
        }
        _ => {
            let terms = terms(frame, size, to);
            let group = &mut members(&mut context.members, &context.processes)?.group;
            // Other tiles of this frame would be merged in the same memory.
            let is_in_place = frame.tiles.len() == 1
                && frame.color != Color::RgbFloats
                && group.merges_in_place(&terms);
            group.set_background(background(frame).filter(|_| is_in_place));
            let merged = match &prepared {
                None => group.composite_drawn(&terms, covered),
                Some(prepared) => {
                    let picture = PictureRef {
                        color: pixels::bytes_of(&prepared.color),
                        depth: pixels::bytes_of(&prepared.depth),
                    };
                    group.composite(picture, &terms)
                }
            };
            let merged = merged.map(|(range, picture)| {
                let is_here = !range.is_empty() && to.is_none_or(|to| to == rank);
                if is_here && !is_in_place {
                    result.prepare(frame.color, has_depth, size);
                    let (color, depth) = (words(picture.color), words(picture.depth));
                    write(frame, result, range.start, &color, &depth);
                }
                is_here.then_some(range)
            });
            if let (true, Ok(Some(_)), Some(picture)) =
                (is_in_place, &merged, group.merged_mut(&terms))
            {
                lend(frame, result, has_depth, size, picture);
            }
            merged
        }
    };
    drop(prepared);
    if is_lent {
        drawn.prepare(Color::None, false, (0, 0));
    }
    context.drawn.image = drawn;
    let merged = match merged {
        Ok(merged) => merged,
        Err(error) => return Err(fail(context, error)),
    };
    if let (Some(Ok(members)), Some(to), [_]) = (&mut context.members, to, &frame.tiles[..]) {
        match to == rank {
            true => members.group.used(),
            false => members.group.wait_until_used(to),
        }
    }
    let state = &mut context.state;
    if let Some(range) = &merged {
        state.set_int(param::VALID_PIXELS_TILE, tile as i32);
        state.set_int(param::VALID_PIXELS_OFFSET, range.start as i32);
        state.set_int(param::VALID_PIXELS_NUM, range.len() as i32);
    }
    let add = [
        (param::COMPRESS_TIME, compressed - start),
        (param::BLEND_TIME, icetWallTime() - compressed),
    ];
    for (name, time) in add {
        state.set_double(name, state.double(name) + time);
    }
    Ok(merged.is_some())
}

fn terms(frame: &Frame, size: (usize, usize), to: Option<usize>) -> Terms {
    let color = match frame.color {
        Color::None | Color::RgbaBytes => composite::Color::Rgba8,
        Color::RgbaFloats | Color::RgbFloats => composite::Color::Rgba32f,
    };
    Terms {
        width: size.0,
        height: size.1,
        origin: [0, 0],
        format: Format {
            color,
            depth: frame.has_depth.then_some(Depth::Float),
        },
        operation: match frame.is_blend {
            true => Operation::Over,
            false => Operation::Nearest,
        },
        schedule: None,
        order: Some(frame.order.clone()),
        to,
    }
}

/// Prepares a picture in the group's memory, so that all can merge it there. The picture shows
/// something, or the background. Returns the rectangle that it shows, unless that is all: the rest
/// then costs nothing.
fn prepare_lent(frame: &Frame, tile: usize, drawn: &mut Image, is_last: bool) -> Option<Rectangle> {
    let (size, shown) = (frame.size_of(tile), frame.shown[tile]);
    let color = drawn.color.words_mut();
    if frame.is_blend && is_on_background(frame, is_last) {
        // The background covers the whole tile.
        let nothing = [0; 4];
        pixels::surround(color, size, shown, &nothing[..frame.color.words()]);
        if frame.has_depth {
            let far = [1.0_f32.to_bits()];
            pixels::surround(drawn.depth.words_mut(), size, shown, &far);
        }
        finish_blend(frame, color, is_last);
        return None;
    }
    if frame.is_blend {
        // No process reads the rows above and below.
        let row = size.0 * frame.color.words();
        let rows = shown.y as usize * row..(shown.y + shown.height) as usize * row;
        finish_blend(frame, &mut color[rows], is_last);
    }
    let range = |start: i32, count: i32| start as usize..(start + count) as usize;
    let all = Area::new(0, 0, size.0 as i32, size.1 as i32);
    (shown != all).then(|| Rectangle {
        columns: range(shown.x, shown.width),
        rows: range(shown.y, shown.height),
    })
}

/// Whether this process blends its picture on the background.
fn is_on_background(frame: &Frame, is_last: bool) -> bool {
    frame.is_on_background && is_last && frame.background != [0.0; 4]
}

/// Clears the colours of pixels without alpha, and blends the background behind the picture if this
/// process does that.
fn finish_blend(frame: &Frame, color: &mut [u32], is_last: bool) {
    if pixels::has_color_without_alpha(frame.color, color) {
        pixels::clear_color_without_alpha(frame.color, color);
    }
    if is_on_background(frame, is_last) {
        pixels::blend_under(frame.color, color, frame.background);
    }
}

/// Converts this process's picture to one that all can merge: as large as the tile, empty around
/// the part that is shown, and with four channels.
fn prepare<'p>(
    frame: &Frame,
    tile: usize,
    drawn: &'p Image,
    own: Own<'p>,
    is_last: bool,
) -> Prepared<'p> {
    let size = frame.size_of(tile);
    let (color, depth, stride, corner) = match own {
        Own::Drawn if drawn.pixels() > 0 => (
            drawn.color.words(),
            drawn.depth.words(),
            frame.drawn().0,
            (0, 0),
        ),
        Own::Drawn => (&[][..], &[][..], 0, (0, 0)),
        Own::Given {
            color,
            depth,
            stride,
            corner,
        } => (color, depth, stride, corner),
    };
    let shown = frame.shown[tile];
    let all = Area::new(0, 0, size.0 as i32, size.1 as i32);
    let is_whole = |words: usize, part: &[u32]| {
        shown == all
            && stride == size.0
            && corner == (0, 0)
            && part.len() == size.0 * size.1 * words
    };
    let cut = |part: &'p [u32], filling: &[u32]| match is_whole(filling.len(), part) {
        true => Cow::Borrowed(part),
        false => {
            let mut cut = vec![0; size.0 * size.1 * filling.len()];
            pixels::place(part, stride, corner, &mut cut, size, shown, filling);
            Cow::Owned(cut)
        }
    };
    let depth = match frame.has_depth {
        true => cut(depth, &[1.0_f32.to_bits()]),
        false => Cow::Borrowed(&[][..]),
    };
    let nothing = vec![0; frame.color.words()];
    let mut color = match frame.color {
        Color::None => Cow::Owned(vec![0; size.0 * size.1]),
        Color::RgbFloats => {
            let rgb = cut(color, &nothing);
            let mut rgba = vec![0; size.0 * size.1 * 4];
            pixels::with_alpha(&rgb, &mut rgba);
            Cow::Owned(rgba)
        }
        Color::RgbaBytes | Color::RgbaFloats => cut(color, &nothing),
    };
    if frame.is_blend
        && (is_on_background(frame, is_last)
            || pixels::has_color_without_alpha(frame.color, &color))
    {
        finish_blend(frame, color.to_mut(), is_last);
    }
    Prepared { color, depth }
}

/// The pixel that the merged picture gets where no process shows anything.
fn background(frame: &Frame) -> Option<Pixel> {
    let mut pixel = Pixel {
        color: [0; 16],
        depth: 1.0_f32.to_ne_bytes(),
    };
    let words = frame.color.pixel(frame.background);
    for (to, word) in pixel.color.chunks_exact_mut(4).zip(&words) {
        to.copy_from_slice(&word.to_ne_bytes());
    }
    let is_blended =
        frame.is_blend && (frame.is_on_background || words.iter().all(|word| *word == 0));
    (!is_blended).then_some(pixel)
}

/// Lets the result use the memory in which the picture was merged.
fn lend(
    frame: &Frame,
    result: &mut Image,
    has_depth: bool,
    size: (usize, usize),
    picture: LayerMut<'_>,
) {
    let (color, depth) = words_mut(picture).expect("pictures begin at multiples of four bytes");
    let color = if frame.color == Color::None {
        &mut []
    } else {
        color
    };
    let depth = if has_depth { depth } else { &mut [] };
    // SAFETY: the group does not use the memory before the next frame. `begin` ends the loan then,
    // and `fail` does if the group ends.
    unsafe { result.lend(frame.color, size, color, depth) };
}

/// Writes merged pixels into the result, from pixel `first` on, and the background where they show
/// nothing.
fn write(frame: &Frame, result: &mut Image, first: usize, color: &[u32], depth: &[u32]) {
    let count = match frame.color.words() {
        0 => depth.len(),
        // Colours without alpha were given one to be merged.
        3 => color.len() / 4,
        words => color.len() / words,
    };
    let words = frame.color.words();
    let background = frame.color.pixel(frame.background);
    let Image {
        color: color_to,
        depth: depth_to,
        ..
    } = result;
    let color_to = &mut color_to.words_mut()[first * words..(first + count) * words];
    let color = match frame.color {
        Color::None => Cow::Borrowed(&[][..]),
        Color::RgbFloats => {
            let mut rgb = vec![0; count * words];
            pixels::without_alpha(color, &mut rgb);
            Cow::Owned(rgb)
        }
        Color::RgbaBytes | Color::RgbaFloats => Cow::Borrowed(color),
    };
    if frame.is_blend {
        color_to.copy_from_slice(&color);
        if !frame.is_on_background && background.iter().any(|word| *word != 0) {
            pixels::fill_unseen(frame.color, color_to, &background);
        }
        return;
    }
    let depth_to = depth_to.words_mut();
    let depth_to = match depth_to.is_empty() {
        true => &mut [],
        false => &mut depth_to[first..first + count],
    };
    pixels::copy_near(&color, depth, &background, color_to, depth_to);
}

/// The colours and the depths as words, if they are aligned for that.
fn words_mut(picture: LayerMut<'_>) -> Option<(&mut [u32], &mut [u32])> {
    // SAFETY: any bytes are words.
    match unsafe { (picture.color.align_to_mut(), picture.depth.align_to_mut()) } {
        (([], color, []), ([], depth, [])) => Some((color, depth)),
        _ => None,
    }
}

fn words(bytes: &[u8]) -> Cow<'_, [u32]> {
    let of = |word: &[u8]| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]);
    // SAFETY: any bytes are words.
    match unsafe { bytes.align_to::<u32>() } {
        ([], words, []) => Cow::Borrowed(words),
        _ => Cow::Owned(bytes.chunks_exact(4).map(of).collect()),
    }
}
