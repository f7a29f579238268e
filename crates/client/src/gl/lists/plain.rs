//! Plain display lists: those that draw by glBegin and glEnd, and else set only attributes, materials and the shade model, as lists of old programs mostly
//! do. On a wall the client keeps bounds of what they draw, so that calling one is for those whose tiles it touches. What it sets, all are told.
//!
//! What a list holds is read from the stream, as it was written there.

use super::Lists;
use crate::context::Context;
use crate::gl::arrays::EVERYONE;
use mgn_wall::Bounds;
use mgn_wire::{ops, sift};
use std::sync::Arc;

/// A plain list, as far as it has been compiled.
#[derive(Debug, PartialEq)]
pub struct Plain {
    bounds: Bounds,
    /// As what it draws, each once.
    modes: Vec<u32>,
    /// Commands that leave something behind, only the last of each kind, with when they came.
    leaves: Vec<(usize, Box<[u8]>)>,
    /// How many of these there were.
    left: usize,
    /// Between glBegin and glEnd.
    is_inside: bool,
}

/// The list under compilation, as long as it is plain.
pub(super) struct Watched {
    plain: Plain,
    /// Where in the message those of its records begin that have not been looked at.
    from: usize,
}

impl Plain {
    fn new() -> Plain {
        Plain {
            bounds: Bounds::NONE,
            modes: Vec::new(),
            leaves: Vec::new(),
            left: 0,
            is_inside: false,
        }
    }

    /// Follows records that the list goes on with. None if it is not plain.
    fn follow(&mut self, records: &[u8]) -> Option<()> {
        let mut at = 0;
        while at < records.len() {
            let (op, record) = sift::record(records, at)?;
            at += record.len();
            let number = |n: usize| Some(f32::from_le_bytes(*record.get(4 * n..)?.first_chunk()?));
            // Commands of the same kind begin with the same bytes.
            let kind = match op {
                ops::GL_BEGIN if !self.is_inside => {
                    let mode = number(1)?.to_bits();
                    self.is_inside = true;
                    if !self.modes.contains(&mode) {
                        self.modes.push(mode);
                    }
                    continue;
                }
                ops::GL_END if self.is_inside => {
                    self.is_inside = false;
                    continue;
                }
                ops::GL_VERTEX2F if self.is_inside => {
                    self.bounds.add([number(1)?, number(2)?, 0., 0.]);
                    continue;
                }
                ops::GL_VERTEX3F if self.is_inside => {
                    self.bounds.add([number(1)?, number(2)?, number(3)?, 0.]);
                    continue;
                }
                ops::GL_NORMAL3F
                | ops::GL_COLOR3F
                | ops::GL_COLOR4F
                | ops::GL_SECONDARY_COLOR3F
                | ops::GL_FOG_COORDF
                | ops::GL_EDGE_FLAG
                | ops::GL_TEX_COORD1F
                | ops::GL_TEX_COORD2F
                | ops::GL_TEX_COORD3F
                | ops::GL_TEX_COORD4F => 4,
                ops::GL_SHADE_MODEL if !self.is_inside => 4,
                // The face and the parameter.
                ops::GL_MATERIALF | ops::GL_MATERIALFV => 12,
                _ => return None,
            };
            self.left += 1;
            let kind = record.get(..kind)?;
            // The kind has the length in it.
            match self
                .leaves
                .iter_mut()
                .find(|(_, last)| last.starts_with(kind))
            {
                Some((when, last)) => {
                    *when = self.left;
                    last.copy_from_slice(record);
                }
                None => self.leaves.push((self.left, record.into())),
            }
        }
        Some(())
    }
}

impl Context {
    /// The list that was begun just now is watched, if that is of use.
    pub(super) fn watch_list(&mut self) {
        let from = self.enc.cur as usize;
        self.gl.lists.watched = self.may_sort().then(|| Watched {
            plain: Plain::new(),
            from,
        });
    }

    /// Looks at what was written of the list, before that is sent.
    pub fn follow_compiled(&mut self) {
        let Some(Watched { plain, from }) = &mut self.gl.lists.watched else {
            return;
        };
        let to = self.enc.cur as usize;
        if to <= *from {
            return;
        }
        // SAFETY: those records lie there, in the message that is being written.
        let records = unsafe { std::slice::from_raw_parts(*from as *const u8, to - *from) };
        *from = to;
        if plain.follow(records).is_none() {
            self.gl.lists.watched = None;
        }
    }

    /// What is known of a list that is called now and not compiled into another.
    pub(super) fn plain_list(&self, list: u32) -> Option<Arc<Plain>> {
        match self.may_sort() && !self.gl.in_begin() && !self.gl.lists.is_open() {
            true => self.gl.shared.lists().plain.get(&list).cloned(),
            false => None,
        }
    }

    /// Who draws something when a list is called.
    pub(super) fn tiles_of_list(&mut self, plain: &Plain) -> u64 {
        if self.gl.debug.is_heard() {
            return EVERYONE;
        }
        let modes = plain.modes.iter();
        modes.fold(0, |tiles, mode| {
            tiles | self.tiles_within(*mode, plain.bounds)
        })
    }

    /// Tells everybody what a list leaves behind that some have not called.
    pub(super) fn leave_behind(&mut self, plain: &Plain) {
        for (_, record) in &plain.leaves {
            // SAFETY: the context's own encoder gives the room, and a record fits.
            unsafe {
                let to = self.enc.room(record.len());
                to.copy_from_nonoverlapping(record.as_ptr(), record.len());
            }
        }
    }
}

impl Lists {
    /// Another message begins, with records from there on.
    pub fn begin_message(&mut self, at: *const u8) {
        if let Some(watched) = &mut self.watched {
            watched.from = at as usize;
        }
    }

    /// The list that ends, if it is plain and draws something.
    pub(super) fn take_plain(&mut self) -> Option<Plain> {
        let mut plain = self.watched.take()?.plain;
        plain.leaves.sort_unstable_by_key(|(when, _)| *when);
        (!plain.is_inside && !plain.modes.is_empty()).then_some(plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut lists = Lists::default();
        let mut plain = Plain::new();
        for message in messages {
            plain.follow(&message.concat())?;
        }
        lists.watched = Some(Watched { plain, from: 0 });
        lists.take_plain()
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
        let others: [&[Vec<u8>]; 6] = [
            &[normal(1)],
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
}
