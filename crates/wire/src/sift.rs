//! Reduces a message to the part that the renderer of one tile needs. A run that lists its tiles is
//! reduced to the blocks that touch this tile. A draw that is only for some tiles (`mgnOnly`) is
//! left out for the others.
//!
//! If several renderers share one copy of a message, each skips the parts for others. If each
//! renderer gets its own copy, the copy is sifted before it is sent.

use crate::draws::{are_of_blocks, stretches, stride, RUN_TRAILING};
use crate::encoder::NULL;
use crate::{ops, stream, MESSAGE_HEADER};

/// The second word of a message in which there may be draws that know their tiles.
pub const SORTED: u32 = 1;

/// Whether a message has to be sifted.
pub fn is_sorted(message: &[u8]) -> bool {
    word(message, 4) == Some(SORTED)
}

/// Passes the parts of `message` that the renderer of `tile` needs to `write`, in order, each with
/// its offset in the output. Returns the total length. Returns none if that exceeds `room`, or if
/// the encoder did not write the message: then the renderer needs all of it.
pub fn sift(
    message: &[u8],
    tile: u32,
    room: usize,
    write: impl FnMut(usize, &[u8]),
) -> Option<usize> {
    let mut out = Out { write, room, at: 0 };
    let mut at = MESSAGE_HEADER;
    // Everything before this offset has been written.
    let mut from = 0;
    while at < message.len() {
        let (op, record) = record(message, at)?;
        let end = at + record.len();
        if op == ops::MGN_ONLY {
            out.put(&message[from..at])?;
            let draw = match is_for(mask(record.get(4..)?), tile) {
                true => None,
                false => record_of_draw(message, end),
            };
            at = end + draw.map_or(0, <[u8]>::len);
            from = at;
            continue;
        }
        if op == ops::MGN_RUN {
            let run = Parts::of(record)?;
            let wanted = stretches(run.mode, &run.tiles, run.count() as u32, tile);
            let whole = [(0, run.count() as i32)];
            if !run.tiles.is_empty() && wanted != whole {
                out.put(&message[from..at])?;
                from = end;
                for (first, count) in &wanted {
                    out.run(&run, *first as usize, *count as usize)?;
                }
                let last = wanted.last().map_or(0, |(first, count)| first + count) as usize;
                if last < run.all() {
                    out.current(&run)?;
                }
            }
        }
        at = end;
    }
    out.put(&message[from..])?;
    Some(out.at)
}

/// The record at an offset, header included, and its op.
pub fn record(message: &[u8], at: usize) -> Option<(u16, &[u8])> {
    let header = word(message, at)?;
    let end = at + (header >> 16) as usize * 4;
    let record = message.get(at..end).filter(|record| !record.is_empty())?;
    Some((header as u16, record))
}

/// The record at an offset, if it is the draw that follows a mark.
fn record_of_draw(message: &[u8], at: usize) -> Option<&[u8]> {
    let (op, record) = record(message, at)?;
    is_marked(op).then_some(record)
}

/// Whether `tile` is set in the bit mask of a mark.
pub(crate) fn is_for(tiles: u64, tile: u32) -> bool {
    tiles & 1u64.checked_shl(tile).unwrap_or(0) != 0
}

/// Whether the record after a mark, of command `op`, is the draw that the mark is for. The draw
/// lies in the same message, unless the message is full or the draw is too long for a record.
pub(crate) fn is_marked(op: u16) -> bool {
    op != stream::LONG && op != stream::LONG_DATA
}

/// A bit mask of tiles.
fn mask(bytes: &[u8]) -> u64 {
    let half = |at| word(bytes, at).map_or(0, u64::from);
    half(0) | half(4) << 32
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

/// The parts of a run's record.
struct Parts<'a> {
    mode: u32,
    flags: u32,
    layout: &'a [u8],
    stride: usize,
    vertices: &'a [u8],
    tiles: Vec<u64>,
}

impl<'a> Parts<'a> {
    fn of(record: &'a [u8]) -> Option<Parts<'a>> {
        let mut at = 12;
        let mut array = || {
            let bytes = match word(record, at)? {
                NULL => 0,
                bytes => bytes as usize,
            };
            let array = record.get(at + 4..(at + 4).checked_add(bytes)?)?;
            at += 4 + bytes.next_multiple_of(4);
            Some(array)
        };
        let (layout, vertices, indices, tiles) = (array()?, array()?, array()?, array()?);
        // Blocks count vertices in memory order, so a run with indices has none.
        let tiles = match indices {
            [] => tiles.chunks_exact(8).map(mask).collect(),
            _ => Vec::new(),
        };
        let parts = Parts {
            mode: word(record, 4)?,
            flags: word(record, 8)?,
            layout,
            stride: stride(layout)? as usize,
            vertices,
            tiles,
        };
        are_of_blocks(&parts.tiles, parts.mode, parts.count()).then_some(parts)
    }

    /// The number of vertices, the trailing one included.
    fn all(&self) -> usize {
        self.vertices.len() / self.stride
    }

    /// The number of vertices that are drawn.
    fn count(&self) -> usize {
        let trails = usize::from(self.flags & RUN_TRAILING != 0);
        self.all().saturating_sub(trails)
    }
}

struct Out<W> {
    write: W,
    room: usize,
    at: usize,
}

/// The padded size of an array, its length word included.
fn padded(bytes: &[u8]) -> usize {
    4 + bytes.len().next_multiple_of(4)
}

impl<W: FnMut(usize, &[u8])> Out<W> {
    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        if bytes.len() > self.room - self.at {
            return None;
        }
        (self.write)(self.at, bytes);
        self.at += bytes.len();
        Some(())
    }

    fn words(&mut self, words: &[u32]) -> Option<()> {
        words
            .iter()
            .try_for_each(|word| self.put(&word.to_le_bytes()))
    }

    /// Writes an array with its length, padded.
    fn array(&mut self, bytes: &[u8]) -> Option<()> {
        self.words(&[bytes.len() as u32])?;
        self.put(bytes)?;
        self.put(&[0; 3][..bytes.len().next_multiple_of(4) - bytes.len()])
    }

    /// Writes the header of a record of `bytes` bytes in all.
    fn header(&mut self, op: u16, bytes: usize) -> Option<()> {
        self.words(&[u32::from(op) | (bytes as u32 / 4) << 16])
    }

    /// Writes a run with some of another run's vertices.
    fn run(&mut self, run: &Parts<'_>, first: usize, count: usize) -> Option<()> {
        let vertices = first * run.stride..(first + count) * run.stride;
        let vertices = run.vertices.get(vertices)?;
        self.header(ops::MGN_RUN, 20 + padded(run.layout) + padded(vertices))?;
        self.words(&[run.mode, 0])?;
        self.array(run.layout)?;
        self.array(vertices)?;
        self.words(&[0, 0])
    }

    /// Sets the attributes that are current after a run.
    fn current(&mut self, run: &Parts<'_>) -> Option<()> {
        let attributes = run.layout.len().checked_sub(2)?;
        if attributes == 0 {
            return Some(());
        }
        let mut vertex = run.vertices.get(run.vertices.len() - run.stride..)?;
        let values = attributes / 2 * 16;
        self.header(
            ops::MGN_CURRENT,
            8 + padded(&run.layout[..attributes]) + values,
        )?;
        self.array(&run.layout[..attributes])?;
        self.words(&[values as u32])?;
        for pair in run.layout[..attributes].chunks_exact(2) {
            let (values, rest) = vertex.split_at_checked(4 * usize::from(pair[1]))?;
            let mut all = [0f32, 0., 0., 1.].map(f32::to_le_bytes).concat();
            all[..values.len()].copy_from_slice(values);
            self.put(&all)?;
            vertex = rest;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::{attr, Run, RUN_BLOCK};
    use crate::encoder::Data as Given;
    use crate::{gl::*, Commands, Data, Decoder, Encoder, Fault, Reply, Slice};

    /// Remembers runs as (mode, first floats of the vertices) and current attributes.
    #[derive(Default)]
    struct Seen {
        drawn: Vec<(u32, Vec<f32>)>,
        current: Vec<f32>,
        others: usize,
    }

    fn floats(from: *const u8, stride: usize, count: usize) -> Vec<f32> {
        let one = |n: usize| from.wrapping_add(n * stride + 4).cast::<f32>();
        // SAFETY: the test's own message.
        (0..count)
            .map(|n| unsafe { one(n).read_unaligned() })
            .collect()
    }

    impl Commands for Seen {
        fn next(&mut self) -> &mut dyn Commands {
            unreachable!()
        }

        fn message(&mut self, _: u32) -> Result<(), Fault> {
            Ok(())
        }

        fn mgn_run(
            &mut self,
            mode: u32,
            flags: u32,
            layout: Slice<'_, u8>,
            vertices: Data<'_>,
            indices: Slice<'_, u16>,
            tiles: Slice<'_, u32>,
        ) -> Result<(), Fault> {
            let run = Run::parse(mode, flags, layout, vertices, indices, tiles)?;
            let all = (0, run.count as i32);
            let drawn = match run.tiles.is_empty() {
                true => vec![all],
                false => run.stretches(mode, 1),
            };
            for (first, count) in drawn {
                let at = run
                    .vertices
                    .wrapping_add(first as usize * run.stride as usize);
                let xs = floats(at, run.stride as usize, count as usize);
                self.drawn.push((mode, xs));
            }
            if let Some(last) = run.last {
                self.current = floats(last.wrapping_sub(4), 0, 1);
            }
            Ok(())
        }

        fn mgn_current(&mut self, _: Slice<'_, u8>, values: Slice<'_, f32>) -> Result<(), Fault> {
            self.current = values.to_vec()[..1].to_vec();
            Ok(())
        }

        fn gl_clear(&mut self, _: u32) -> Result<(), Fault> {
            self.others += 1;
            Ok(())
        }
    }

    fn seen(message: &[u8]) -> Seen {
        seen_by(Decoder::default(), message)
    }

    fn seen_by(mut decoder: Decoder, message: &[u8]) -> Seen {
        let words: Vec<u32> = message
            .chunks_exact(4)
            .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
            .collect();
        let (mut seen, mut reply) = (Seen::default(), Reply::default());
        // SAFETY: the vector is aligned and as long.
        unsafe {
            decoder
                .message(
                    words.as_ptr().cast(),
                    message.len(),
                    &mut seen,
                    &mut reply,
                    |_, _, _, _| Ok(()),
                )
                .unwrap();
        }
        seen
    }

    fn message(mode: u32, flags: u32, count: usize, tiles: &[u64]) -> Vec<u8> {
        unsafe fn no_more(_: *mut Encoder, _: usize) -> *mut u8 {
            unreachable!()
        }
        let mut bytes = vec![0u8; 1 << 16];
        let range = bytes.as_mut_ptr_range();
        // SAFETY: the vector is not used before all is written.
        let mut encoder = unsafe {
            let mut encoder = Encoder::new(no_more);
            encoder.set_room(range.start.add(MESSAGE_HEADER), range.end);
            encoder
        };
        let trails = usize::from(flags & RUN_TRAILING != 0);
        let vertices: Vec<[f32; 3]> = (0..count + trails)
            .map(|n| [n as f32 + 0.5, n as f32, 0.])
            .collect();
        let tiles: Vec<u32> = tiles
            .iter()
            .flat_map(|mask| [*mask as u32, (mask >> 32) as u32])
            .collect();
        // SAFETY: the arrays live, and there is room.
        unsafe {
            encoder.gl_clear(1);
            encoder.mgn_run(
                mode,
                flags,
                ([attr::FOG, 1, attr::POSITION, 2].as_ptr(), 4),
                Given::Bytes(vertices.as_ptr().cast(), vertices.len() * 12),
                (std::ptr::null(), 0),
                (tiles.as_ptr(), tiles.len()),
            );
            encoder.gl_clear(2);
        }
        bytes.truncate(encoder.cursor() as usize - range.start as usize);
        bytes[4] = SORTED as u8;
        bytes
    }

    /// The message that tile 1 gets.
    fn sifted(message: &[u8], room: usize) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let length = sift(message, 1, room, |at, more| {
            assert_eq!(at, bytes.len());
            bytes.extend_from_slice(more);
        })?;
        assert!(length == bytes.len() && length <= room);
        Some(bytes)
    }

    #[test]
    fn a_tile_gets_what_it_would_have_drawn() {
        let block = RUN_BLOCK;
        let cases: &[(u32, u32, usize, &[u64])] = &[
            (GL_TRIANGLES, 0, 3 * block, &[2, 1, 2]),
            (GL_TRIANGLES, 0, 3 * block, &[2, 2, 1]),
            (GL_TRIANGLES, RUN_TRAILING, 3 * block, &[3, 2, 2]),
            (GL_TRIANGLES, RUN_TRAILING, 3 * block + 5, &[1, 1, 1, 1]),
            (GL_TRIANGLE_STRIP, 0, 2 * block + 40, &[1, 2, 1]),
            (GL_LINE_STRIP, 0, 2 * block + 40, &[2, 1, 2]),
            (GL_POLYGON, 0, 7, &[2]),
            (GL_POLYGON, 0, 7, &[1]),
            (GL_POINTS, 0, 5, &[]),
        ];
        for (mode, flags, count, tiles) in cases {
            let message = message(*mode, *flags, *count, tiles);
            let sifted = sifted(&message, message.len() + 100).unwrap();
            let (all, own) = (seen(&message), seen(&sifted));
            let case = format!("{mode} {flags} {count} {tiles:?}");
            assert_eq!(all.drawn, own.drawn, "{case}");
            assert_eq!(all.current, own.current, "{case}");
            assert_eq!(own.others, 2, "{case}");
            let needed = tiles.is_empty() || tiles.iter().all(|mask| mask & 2 != 0);
            let is_same = message == sifted;
            assert_eq!(
                needed || (tiles.len() == 1 && tiles[0] & 2 != 0),
                is_same,
                "{case}"
            );
        }
    }

    /// A message of clears, some of them for some tiles only. The last one has another length.
    fn marked(marks: &[Option<u64>]) -> Vec<u8> {
        unsafe fn no_more(_: *mut Encoder, _: usize) -> *mut u8 {
            unreachable!()
        }
        let mut bytes = vec![0u8; 1 << 12];
        let range = bytes.as_mut_ptr_range();
        // SAFETY: the vector is not used before all is written.
        let mut encoder = unsafe {
            let mut encoder = Encoder::new(no_more);
            encoder.set_room(range.start.add(MESSAGE_HEADER), range.end);
            encoder
        };
        for (n, mark) in marks.iter().enumerate() {
            if let Some(tiles) = mark {
                encoder.mgn_only(*tiles as u32, (*tiles >> 32) as u32);
            }
            encoder.gl_clear(n as u32);
        }
        bytes.truncate(encoder.cursor() as usize - range.start as usize);
        bytes[4] = SORTED as u8;
        bytes
    }

    #[test]
    fn draws_are_left_out_where_they_are_not_needed() {
        let all = [
            Some(1 << 40),
            None,
            Some(2),
            Some(1),
            Some(3),
            None,
            Some(5),
        ];
        let needed = sifted(&marked(&all), 1 << 12).unwrap();
        assert_eq!(seen(&needed).others, 4);
        assert!(!needed
            .chunks_exact(4)
            .any(|w| w[..2] == ops::MGN_ONLY.to_le_bytes()));
        // A decoder that skips the draws for other tiles executes the same commands.
        assert_eq!(seen_by(Decoder::of_tile(Some(1)), &marked(&all)).others, 4);
        assert_eq!(seen_by(Decoder::of_tile(Some(40)), &marked(&all)).others, 3);
        // A mark at the end of a message, without its draw, is ignored.
        let mut cut = marked(&all[..1]);
        cut.truncate(cut.len() - 8);
        assert_eq!(sifted(&cut, 1 << 12).unwrap().len(), MESSAGE_HEADER);
        assert_eq!(seen_by(Decoder::of_tile(Some(1)), &cut).others, 0);
    }

    /// A draw that is too long for a record goes to all, no matter which mark precedes it.
    #[test]
    fn long_commands_are_for_all() {
        let mut bytes = marked(&[Some(1 << 40)]);
        let clear = bytes.split_off(bytes.len() - 8);
        let long = [
            u32::from(stream::LONG) | 4 << 16,
            ops::GL_CLEAR.into(),
            4,
            0,
        ];
        let data = [u32::from(stream::LONG_DATA) | 3 << 16, 4];
        let words = long.into_iter().chain(data);
        bytes.extend(words.flat_map(u32::to_le_bytes));
        bytes.extend(&clear[4..]);
        bytes.extend(&clear);
        for tile in [1, 40] {
            let others = seen_by(Decoder::of_tile(Some(tile)), &bytes).others;
            assert_eq!(others, 2, "tile {tile}");
        }
        let needed = sifted(&bytes, 1 << 12).unwrap();
        assert_eq!(seen(&needed).others, 2);
    }

    #[test]
    fn what_does_not_fit_or_makes_no_sense_is_left_alone() {
        let message = message(GL_TRIANGLES, 0, 3 * RUN_BLOCK, &[2, 1, 2]);
        assert!(is_sorted(&message));
        assert_eq!(sifted(&message, 100), None);
        for cut in 0..message.len() {
            let _ = sifted(&message[..cut], message.len());
        }
        for at in (8..200).step_by(4) {
            let mut broken = message.clone();
            broken[at..at + 4].copy_from_slice(&[0xff; 4]);
            let _ = sifted(&broken, message.len());
        }
    }
}
