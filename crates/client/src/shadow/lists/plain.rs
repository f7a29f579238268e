//! Plain display lists: they draw by glBegin and glEnd or from the program's arrays. Otherwise they
//! set only attributes, materials and the shade model, as most lists of old programs do.
//!
//! The contents of a list are decoded from the stream, as the commands were written.

use super::current::sets_current;
use super::drawn::Drawn;
use mgn_wall::Bounds;
use mgn_wire::{ops, sift};

/// A plain list, or the first part of one.
#[derive(Debug, PartialEq)]
pub struct Plain {
    pub bounds: Bounds,
    /// The primitive modes of its draws, each once.
    pub modes: Vec<u32>,
    /// Whether its draws read arrays; none if it does not draw.
    from_arrays: Option<bool>,
    /// The commands that set state, only the last of each kind, with their position.
    pub leaves: Vec<(usize, Box<[u8]>)>,
    /// The number of all such commands.
    left: usize,
    /// Between glBegin and glEnd.
    is_inside: bool,
}

impl Plain {
    pub fn new() -> Plain {
        Plain {
            bounds: Bounds::NONE,
            modes: Vec::new(),
            from_arrays: None,
            leaves: Vec::new(),
            left: 0,
            is_inside: false,
        }
    }

    /// Follows further records of the list. None if it is not plain.
    pub fn follow(&mut self, records: &[u8]) -> Option<()> {
        let mut at = 0;
        while at < records.len() {
            let (op, record) = sift::record(records, at)?;
            at += record.len();
            let number = |n: usize| Some(f32::from_le_bytes(*record.get(4 * n..)?.first_chunk()?));
            match op {
                ops::GL_BEGIN if !self.is_inside => {
                    self.is_inside = true;
                    self.draws(number(1)?.to_bits(), false)?;
                }
                ops::GL_END if self.is_inside => self.is_inside = false,
                ops::GL_VERTEX2F if self.is_inside => {
                    self.bounds.add([number(1)?, number(2)?, 0., 0.]);
                }
                ops::GL_VERTEX3F if self.is_inside => {
                    self.bounds.add([number(1)?, number(2)?, number(3)?, 0.]);
                }
                ops::MGN_DRAW_ARRAYS | ops::MGN_DRAW_ELEMENTS if !self.is_inside => {
                    let drawn = Drawn::read(op, record)?;
                    self.draws(drawn.mode, true)?;
                    drawn
                        .positions
                        .into_iter()
                        .for_each(|at| self.bounds.add(at));
                }
                ops::GL_SHADE_MODEL if self.is_inside => return None,
                _ => self.leaves(record)?,
            }
        }
        Some(())
    }

    /// The finished list; none if it is not plain.
    pub fn end(mut self) -> Option<Plain> {
        self.leaves.sort_unstable_by_key(|(when, _)| *when);
        (!self.is_inside).then_some(self)
    }

    /// Adds a draw, from arrays or not. If a list contains both, the state after it is not known.
    fn draws(&mut self, mode: u32, from_arrays: bool) -> Option<()> {
        if *self.from_arrays.get_or_insert(from_arrays) != from_arrays {
            return None;
        }
        if !self.modes.contains(&mode) {
            self.modes.push(mode);
        }
        Some(())
    }

    /// Follows a command that sets state.
    fn leaves(&mut self, record: &[u8]) -> Option<()> {
        let kind = kind(record)?;
        self.left += 1;
        // Records of one kind have the same length.
        let mut leaves = self.leaves.iter_mut();
        match leaves.find(|(_, last)| last.starts_with(kind)) {
            Some((when, last)) => {
                *when = self.left;
                last.copy_from_slice(record);
            }
            None => self.leaves.push((self.left, record.into())),
        }
        Some(())
    }
}

/// The first bytes, which are equal for all commands that set the same state; none if a plain list
/// may not contain the command.
pub fn kind(record: &[u8]) -> Option<&[u8]> {
    let op = u16::from_le_bytes(*record.first_chunk()?);
    let bytes = match op {
        _ if sets_current(op) => 4,
        ops::GL_SHADE_MODEL => 4,
        // The face and the parameter.
        ops::GL_MATERIALF | ops::GL_MATERIALFV => 12,
        _ => return None,
    };
    record.get(..bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_wire::draws::{Array, Kind};
    use mgn_wire::gl::{GL_FLOAT, GL_UNSIGNED_BYTE};

    /// A record of numbers.
    fn record(op: u16, numbers: &[u32]) -> Vec<u8> {
        let header = u32::from(op) | (1 + numbers.len() as u32) << 16;
        let words = [header].into_iter().chain(numbers.iter().copied());
        words.flat_map(u32::to_le_bytes).collect()
    }

    fn vertex(x: f32, y: f32) -> Vec<u8> {
        record(ops::GL_VERTEX2F, &[x.to_bits(), y.to_bits()])
    }

    fn normal(z: u32) -> Vec<u8> {
        record(ops::GL_NORMAL3F, &[0, 0, z])
    }

    fn material(pname: u32, value: u32) -> Vec<u8> {
        record(ops::GL_MATERIALFV, &[7, pname, 4, value])
    }

    fn followed(messages: &[&[Vec<u8>]]) -> Option<Plain> {
        let mut plain = Plain::new();
        for message in messages {
            // Messages are aligned to their words.
            let bytes = message.concat();
            let mut room = vec![0; bytes.len() + 4];
            let start = room.as_ptr().align_offset(4);
            let aligned = &mut room[start..][..bytes.len()];
            aligned.copy_from_slice(&bytes);
            plain.follow(aligned)?;
        }
        plain.end()
    }

    #[test]
    fn lists_that_draw_have_bounds_and_leave_something_behind() {
        let begin = |mode| record(ops::GL_BEGIN, &[mode]);
        let end = || record(ops::GL_END, &[]);
        let shade = |model| record(ops::GL_SHADE_MODEL, &[model]);
        let plain = followed(&[
            &[
                shade(1),
                material(1, 5),
                normal(1),
                begin(7),
                vertex(1., 2.),
            ],
            &[normal(2), material(2, 6), vertex(-1., 3.), end()],
            &[
                material(1, 8),
                begin(7),
                end(),
                begin(3),
                vertex(0., 9.),
                end(),
            ],
        ])
        .unwrap();
        let mut bounds = Bounds::NONE;
        bounds.add([-1., 2., 0., 0.]);
        bounds.add([1., 9., 0., 0.]);
        assert_eq!((plain.bounds, plain.modes), (bounds, vec![7, 3]));
        let left: Vec<_> = plain.leaves.into_iter().map(|(_, r)| r.to_vec()).collect();
        assert_eq!(left, [shade(1), normal(2), material(2, 6), material(1, 8)]);
        let only_sets = followed(&[&[normal(1)]]).unwrap();
        assert_eq!((only_sets.modes.len(), only_sets.leaves.len()), (0, 1));
        let others: [&[Vec<u8>]; 5] = [
            &[begin(7), vertex(0., 0.)],
            &[begin(7), end(), end()],
            &[begin(7), shade(1), end()],
            &[vertex(0., 0.), begin(7), end()],
            &[begin(7), end(), record(ops::GL_ENABLE, &[1])],
        ];
        for list in others {
            assert_eq!(followed(&[list]), None, "{list:?}");
        }
    }

    #[test]
    fn draws_from_arrays_have_bounds_and_leave_nothing_behind() {
        let position = |buffer| Array {
            attribute: 0,
            kind: Kind::Float,
            size: 2,
            type_: GL_FLOAT,
            normalized: false,
            divisor: 0,
            stride: 12,
            buffer,
            offset: 4,
        };
        // Before each position there is another value.
        let vertices = [9f32, 1., 2., 9., -3., 4.].map(f32::to_bits);
        let after = |numbers: &[u32], buffer| {
            let array = position(buffer).encode();
            [numbers, &[4 * array.len() as u32], &array].concat()
        };
        let draw = |buffer| {
            let head = after(&[4, 7, 2, 1, 0], buffer);
            record(
                ops::MGN_DRAW_ARRAYS,
                &[&head[..], &[24], &vertices].concat(),
            )
        };
        let head = after(&[3, 3, GL_UNSIGNED_BYTE, 5, 6, 1, 0, 0], 0);
        let indexed = [&head[..], &[3, 0x050605, 24], &vertices].concat();
        let indexed = record(ops::MGN_DRAW_ELEMENTS, &indexed);
        let begin = || record(ops::GL_BEGIN, &[7]);
        let end = || record(ops::GL_END, &[]);
        let plain = followed(&[&[normal(1), draw(0), indexed]]).unwrap();
        let mut bounds = Bounds::NONE;
        bounds.add([1., 2., 0., 0.]);
        bounds.add([-3., 4., 0., 0.]);
        assert_eq!((plain.bounds, plain.modes), (bounds, vec![4, 3]));
        assert_eq!(plain.leaves.len(), 1);
        let others: [&[Vec<u8>]; 3] = [&[draw(1)], &[draw(0), begin(), end()], &[begin(), draw(0)]];
        for list in others {
            assert_eq!(followed(&[list]), None, "{list:?}");
        }
    }
}
