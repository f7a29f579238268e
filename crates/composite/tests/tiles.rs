//! Large pictures, tile by tile.

mod group_kinds;
mod jobs;
mod pictures;

use std::cell::RefCell;

use mgn_composite::{CompositeError, LayerMut, Operation, Picture, PictureRef, Rectangle, Tile};

use group_kinds::GroupKind;
use pictures::{at_once, is_alike, job, picture, terms, GROUP_KINDS, PIXELS, WIDTH};

/// The tiles of a picture: four that divide it, one that overlaps all four, and an empty one.
fn tiles() -> Vec<Tile> {
    let (half, end) = (WIDTH / 2, PIXELS / WIDTH);
    let places = [
        (0..half, 0..40),
        (half..WIDTH, 0..40),
        (0..half, 40..end),
        (half..WIDTH, 40..end),
        (5..50, 10..70),
        (3..3, 0..end),
    ];
    let tile = |(to, (columns, rows))| Tile {
        place: Rectangle { columns, rows },
        to: to % 4,
    };
    places.into_iter().enumerate().map(tile).collect()
}

fn part(of: &Picture, place: &Rectangle) -> Picture {
    let pixels: Vec<usize> = place
        .rows
        .clone()
        .flat_map(|row| {
            place
                .columns
                .clone()
                .map(move |column| row * WIDTH + column)
        })
        .collect();
    let part = |bytes: &[u8]| -> Vec<u8> {
        let pixels = pixels.iter().filter(|_| !bytes.is_empty());
        pixels
            .flat_map(|at| bytes[4 * at..4 * at + 4].to_vec())
            .collect()
    };
    Picture {
        color: part(&of.color),
        depth: part(&of.depth),
    }
}

/// The tiles are parts of the picture, whatever rank gets them.
#[test]
fn large_pictures_are_composited_tile_by_tile() {
    for by in GROUP_KINDS {
        for operation in [Operation::Nearest, Operation::Over] {
            let mut terms = terms(operation, None);
            // Rank 3 gets a tile, and draws none.
            terms.order = Some(vec![1, 0, 2, 4]);
            let shown = job(by, 5, |mut group| {
                let rank = group.rank();
                let mine = picture(rank, terms.format);
                let mut shown = Vec::new();
                for _ in 0..3 {
                    shown.clear();
                    let draw = |tile: usize, out: LayerMut<'_>| {
                        assert_ne!(rank, 3);
                        let drawn = part(&mine, &tiles()[tile].place);
                        out.color.copy_from_slice(&drawn.color);
                        out.depth.copy_from_slice(&drawn.depth);
                        Ok::<_, CompositeError>(None)
                    };
                    let done = group.composite_tiles(&terms, &tiles(), draw, |tile, picture| {
                        shown.push((tile, picture.to_picture()));
                        Ok(())
                    });
                    done.unwrap();
                }
                shown
            });
            let whole = at_once(&terms, &[1, 0, 2, 4]);
            let mut count = 0;
            for (rank, shown) in shown.into_iter().enumerate() {
                for (tile, got) in shown {
                    let Tile { place, to } = &tiles()[tile];
                    assert_eq!(*to, rank);
                    let want = part(&whole, place);
                    assert!(is_alike(&got, &want), "tile {tile} by {by:?}, {operation}");
                    count += 1;
                }
            }
            assert_eq!(count, tiles().len());
        }
    }
}

/// A tile is shown as soon as it is merged, before its rank draws the next one.
#[test]
fn each_tile_is_shown_before_the_next_one_is_drawn() {
    for by in GROUP_KINDS {
        let terms = terms(Operation::Nearest, None);
        let done = job(by, 4, |mut group| {
            let rank = group.rank();
            let done = RefCell::new(Vec::new());
            let draw = |tile: usize, out: LayerMut<'_>| {
                out.color.fill(1);
                out.depth.fill(1);
                done.borrow_mut().push((tile, "drawn"));
                Ok::<_, CompositeError>(None)
            };
            let show = |tile: usize, _: PictureRef<'_>| {
                done.borrow_mut().push((tile, "shown"));
                Ok(())
            };
            group.composite_tiles(&terms, &tiles(), draw, show).unwrap();
            (rank, done.into_inner())
        });
        for (rank, done) in done {
            let mut expected = Vec::new();
            for (tile, Tile { to, .. }) in tiles().iter().enumerate() {
                expected.push((tile, "drawn"));
                expected.extend((*to == rank).then_some((tile, "shown")));
            }
            assert_eq!(done, expected, "rank {rank} by {by:?}");
        }
    }
}

/// A rank that cannot draw or show a tile says so to all others.
#[test]
fn a_tile_that_cannot_be_drawn_is_an_error_for_all() {
    for by in GROUP_KINDS {
        for draws in [true, false] {
            let terms = terms(Operation::Nearest, None);
            let results = job(by, 4, |mut group| {
                let fails = group.rank() == 1;
                let draw = |tile: usize, out: LayerMut<'_>| match fails && draws && tile == 2 {
                    true => Err(CompositeError::NotDrawn),
                    false => {
                        out.color.fill(1);
                        out.depth.fill(1);
                        Ok(None)
                    }
                };
                let show = |_: usize, _: PictureRef<'_>| match fails && !draws {
                    true => Err(CompositeError::NotDrawn),
                    false => Ok(()),
                };
                // Ranks that get nothing are some frames ahead.
                let mut frame = || group.composite_tiles(&terms, &tiles(), draw, show);
                (0..100_000).try_for_each(|_| frame())
            });
            for (rank, result) in results.into_iter().enumerate() {
                let is_right = match rank {
                    1 => matches!(result, Err(CompositeError::NotDrawn)),
                    _ => matches!(result, Err(CompositeError::Lost { rank: 1, .. })),
                };
                assert!(is_right, "rank {rank} by {by:?}: {result:?}");
            }
        }
    }
}

#[test]
fn tiles_beyond_the_picture_are_refused_before_anything_is_drawn() {
    let results = job(GroupKind::Memory, 2, |mut group| {
        let terms = terms(Operation::Nearest, None);
        let tile = |columns, to| Tile {
            place: Rectangle {
                columns,
                rows: 0..1,
            },
            to,
        };
        let never = |_: usize, _: LayerMut<'_>| panic!("it draws");
        let mut errors = Vec::new();
        for wrong in [tile(0..WIDTH + 1, 0), tile(0..1, 2)] {
            let all = [tile(0..1, 0), wrong];
            let done = group.composite_tiles(&terms, &all, never, |_, _| Ok(()));
            errors.push(done.unwrap_err());
        }
        let fill = |_: usize, out: LayerMut<'_>| {
            out.color.fill(1);
            out.depth.fill(1);
            Ok(None)
        };
        let done = group.composite_tiles(&terms, &[tile(0..9, 0)], fill, |_, _| Ok(()));
        (
            errors,
            done.map_err(|error: CompositeError| error.to_string()),
        )
    });
    for (errors, done) in results {
        assert!(matches!(errors[0], CompositeError::Outside { .. }));
        assert!(matches!(errors[1], CompositeError::To { to: 2, size: 2 }));
        assert_eq!(done, Ok(()));
    }
}
