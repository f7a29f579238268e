//! Bounds of blocks as a tree, and the cutting of a draw into pieces by the tiles of a wall.

use crate::memory::positions::Blocks;
use mgn_wall::{Bounds, Boxes, Sorter, TouchedTiles, GROUP};

/// The longest gap, in blocks, that a tile draws although it does not need it: another draw would
/// cost its renderer more.
const GAP_MAX: usize = 8;

/// The tiles of a piece that all renderers draw.
pub const EVERYONE: u64 = u64::MAX;

/// A part of a draw.
#[derive(Debug, PartialEq)]
pub struct Piece {
    /// The first vertex or index of the piece, counted from the draw's first.
    pub first: usize,
    pub count: usize,
    /// The tiles that the piece touches.
    pub tiles: u64,
}

/// The tiles that any of the pieces touches.
pub fn touched(pieces: &[Piece]) -> u64 {
    pieces.iter().fold(0, |tiles, piece| tiles | piece.tiles)
}

/// Boxes around blocks, boxes around those boxes, and so on, up to one box around all.
#[derive(Debug)]
pub struct Tree {
    /// The levels from the blocks up. The boxes of a group have a common box in the next level.
    levels: Vec<Vec<Boxes>>,
    blocks: usize,
}

impl Tree {
    pub fn new(mut bounds: Vec<Bounds>) -> Tree {
        let blocks = bounds.len();
        let mut levels = Vec::new();
        loop {
            levels.push(bounds.chunks(GROUP).map(Boxes::new).collect());
            if bounds.len() <= GROUP {
                return Tree { levels, blocks };
            }
            let around = |some: &[Bounds]| {
                let mut around = Bounds::NONE;
                some.iter().for_each(|bounds| around.join(bounds));
                around
            };
            bounds = bounds.chunks(GROUP).map(around).collect();
        }
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.blocks
    }

    /// Cuts a draw into pieces, from block `from` on. Blocks that touch no tile are left out.
    pub fn cut(&self, sorter: &Sorter, blocks: Blocks, from: usize) -> Vec<Piece> {
        let mut runs = Runs::default();
        if self.blocks > 0 {
            self.sort(sorter, self.levels.len() - 1, 0, sorter.begin(), &mut runs);
        }
        let mut pieces: Vec<Piece> = Vec::with_capacity(runs.all.len());
        for run in &runs.all {
            let tiles = match run.tiles == sorter.all() {
                true => EVERYONE,
                false => run.tiles,
            };
            let range = blocks.range(from + run.first..from + run.end);
            match pieces.last_mut() {
                Some(last) if last.tiles == tiles => last.count = range.end - last.first,
                _ => pieces.push(Piece {
                    first: range.start,
                    count: range.len(),
                    tiles,
                }),
            }
        }
        pieces.retain(|piece| piece.tiles != 0);
        pieces
    }

    /// Finds the tiles of the blocks in group `n` of a level. `known` is what is known for the box
    /// around the group.
    fn sort(&self, sorter: &Sorter, level: usize, n: usize, known: TouchedTiles, runs: &mut Runs) {
        let all = sorter.judge(&self.levels[level][n], known);
        let blocks = GROUP.pow(level as u32);
        for (n, judged) in (n * GROUP..).zip(all) {
            let (first, end) = (n * blocks, ((n + 1) * blocks).min(self.blocks));
            if first >= end {
                break;
            }
            if level == 0 || judged.is_all() {
                runs.add(first, end, judged.tiles());
            } else {
                self.sort(sorter, level - 1, n, judged, runs);
            }
        }
    }
}

/// Consecutive blocks that touch the same tiles.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: usize,
    end: usize,
    tiles: u64,
}

#[derive(Debug)]
struct Runs {
    all: Vec<Run>,
    /// The end of each tile's last run, not counting the last run of all.
    ends: [usize; 64],
}

impl Default for Runs {
    fn default() -> Runs {
        Runs {
            all: Vec::new(),
            ends: [usize::MAX; 64],
        }
    }
}

impl Runs {
    fn add(&mut self, first: usize, end: usize, tiles: u64) {
        match self.all.last_mut() {
            Some(last) if last.tiles == tiles => return last.end = end,
            Some(last) => {
                let mut left = last.tiles;
                while left != 0 {
                    self.ends[left.trailing_zeros() as usize] = last.end;
                    left &= left - 1;
                }
            }
            None => {}
        }
        self.bridge(first, tiles);
        self.all.push(Run { first, end, tiles });
    }

    /// Adds the blocks in between to the tiles whose last run ended a short while before.
    fn bridge(&mut self, first: usize, tiles: u64) {
        let mut left = tiles;
        while left != 0 {
            let tile = left.trailing_zeros() as usize;
            let last = self.ends[tile];
            if last < first && first - last <= GAP_MAX {
                let between = self.all.iter_mut().rev();
                let between = between.take_while(|run| run.first >= last);
                between.for_each(|run| run.tiles |= 1 << tile);
            }
            left &= left - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_fuzzing::Random;
    use mgn_wire::draws::RUN_BLOCK as BLOCK;

    const IDENTITY: [f32; 16] = [
        1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.,
    ];

    /// Four columns of 25 pixels.
    fn columns() -> Sorter {
        let tiles: Vec<_> = (0..4).map(|n| [25 * n, 0, 25, 100]).collect();
        Sorter::new(&IDENTITY, [0., 0., 100., 100.], &tiles, 0.)
    }

    /// One block in each of these columns. A block without a column is far away.
    fn tree(columns: impl Iterator<Item = Option<usize>>) -> Tree {
        let block = |column: Option<usize>| {
            let mut bounds = Bounds::NONE;
            let x = column.map_or(9., |column| column as f32 * 0.5 - 0.75);
            bounds.add([x, 0., 0., 0.]);
            bounds
        };
        Tree::new(columns.map(block).collect())
    }

    fn pieces(columns_of: &[Option<usize>]) -> Vec<(usize, usize, u64)> {
        let blocks = Blocks::new(columns_of.len() * BLOCK, Some(0));
        let pieces = tree(columns_of.iter().copied()).cut(&columns(), blocks, 0);
        let whole = pieces
            .iter()
            .map(|piece| (piece.first / BLOCK, piece.count / BLOCK, piece.tiles));
        whole.collect()
    }

    #[test]
    fn draws_are_cut_where_that_is_worth_it() {
        let of = |runs: &[(Option<usize>, usize)]| {
            let runs = runs.iter().flat_map(|(of, n)| vec![*of; *n]);
            pieces(&runs.collect::<Vec<_>>())
        };
        assert_eq!(of(&[(Some(1), 300)]), [(0, 300, 0b10)]);
        assert_eq!(of(&[(None, 300)]), []);
        assert_eq!(
            of(&[(Some(1), 30), (None, 30), (Some(2), 3)]),
            [(0, 30, 0b10), (60, 3, 0b100)]
        );
        // A short gap is drawn, but only by the tiles on both sides of it.
        assert_eq!(
            of(&[(Some(1), 30), (None, 8), (Some(1), 3), (Some(2), 20)]),
            [(0, 41, 0b10), (41, 20, 0b100)]
        );
        assert_eq!(
            of(&[(Some(1), 30), (Some(3), 8), (Some(1), 30)]),
            [(0, 30, 0b10), (30, 8, 0b1010), (38, 30, 0b10)]
        );
        let all = [0, 1, 2, 3].map(|n| (Some(n), 1));
        assert_eq!(of(&all.repeat(40))[3], (3, 154, EVERYONE));
    }

    #[test]
    fn pieces_hold_each_primitive_once_for_all_that_it_touches() {
        let sorter = columns();
        let mut random = Random::new(3);
        // Under Miri this takes a thousand times as long.
        for case in 0..if cfg!(miri) { 3 } else { 200 } {
            let overlap = [Some(0), Some(1), Some(2), None][case % 4];
            let count = [3000, 1000, BLOCK + 2, 40_000, 3][case / 4 % 5];
            let blocks = Blocks::new(count, overlap);
            let mut column = None;
            let columns: Vec<_> = (0..blocks.number)
                .map(|_| {
                    let number = random.below(1usize << 24);
                    if number % [2, 5, 60][case % 3] == 0 {
                        column = [None, Some(0), Some(1), Some(2), Some(3)][number / 64 % 5];
                    }
                    column
                })
                .collect();
            let tree = tree(columns.iter().copied());
            let pieces = tree.cut(&sorter, blocks, 0);
            let shared = overlap.unwrap_or(0);
            let apart = pieces.windows(2).all(|two| {
                let end = two[0].first + two[0].count;
                two[1].first + shared == end || two[1].first >= end
            });
            assert!(apart, "{pieces:?}");
            for (block, column) in blocks.each().zip(&columns) {
                let mut holding = pieces.iter().filter(|piece| {
                    piece.first <= block.start && block.end <= piece.first + piece.count
                });
                let found = holding.next().map_or(0, |piece| piece.tiles);
                let needed = column.map_or(0, |column| 1 << column);
                assert_eq!(found & needed, needed, "{block:?} of {pieces:?}");
                assert!(holding.next().is_none());
            }
        }
    }
}
