//! Groups of processes, as threads with an endpoint each, over the links that jobs make.

mod group_kinds;
mod jobs;
mod pictures;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mgn_composite::{
    merge, Channel, Color, CompositeError, Depth, Format, Group, Operation, Picture, Rectangle,
    Schedule, Terms,
};
use mgn_fabric::endpoint::SendOptions;

use group_kinds::GroupKind;
use jobs::members;
use pictures::{
    at_once, is_alike, job, merged, picture, terms, GROUP_KINDS, GROUP_TIMEOUT, PIXELS, WIDTH,
};

/// Waits until `wanted` ranks have counted themselves as done.
fn wait_for(done: &AtomicUsize, wanted: usize) {
    while done.load(Ordering::Acquire) < wanted {
        thread::sleep(Duration::from_millis(5));
    }
}

const SCHEDULES: [Option<Schedule>; 6] = [
    None,
    Some(Schedule::DirectSend),
    Some(Schedule::BinarySwap),
    Some(Schedule::TwoThreeSwap),
    Some(Schedule::RadixK(4)),
    Some(Schedule::Tree(8)),
];

#[test]
fn one_rank_gets_the_picture_that_one_pass_makes() {
    for by in GROUP_KINDS {
        for size in [1, 2, 3, 5, 8] {
            let results = job(by, size, |mut group| {
                let mut pictures = Vec::new();
                for operation in [Operation::Nearest, Operation::Over] {
                    for schedule in SCHEDULES {
                        let terms = Terms {
                            to: Some(size / 2),
                            ..terms(operation, schedule)
                        };
                        let mine = picture(group.rank(), terms.format);
                        let (range, merged) = group.composite(mine.borrowed(), &terms).unwrap();
                        pictures.push((operation, schedule, (range, merged.to_picture())));
                    }
                }
                pictures
            });
            let order: Vec<usize> = (0..size).collect();
            for (rank, pictures) in results.into_iter().enumerate() {
                for (operation, schedule, (range, got)) in pictures {
                    let what =
                        format!("{operation:?} by {schedule:?}, rank {rank} of {size} by {by:?}");
                    if rank == size / 2 {
                        let want = at_once(&terms(operation, schedule), &order);
                        assert!(is_alike(&got, &want) && range == (0..PIXELS), "{what}");
                    } else {
                        assert!(got == Picture::default() && range.is_empty(), "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn pieces_may_stay_where_they_are_merged() {
    for by in GROUP_KINDS {
        for schedule in SCHEDULES {
            let terms = Terms {
                to: None,
                ..terms(Operation::Nearest, schedule)
            };
            let mut parts = job(by, 6, |mut group| {
                let mine = picture(group.rank(), terms.format);
                let (range, merged) = group.composite(mine.borrowed(), &terms).unwrap();
                (range, merged.to_picture())
            });
            parts.sort_by_key(|(range, _)| range.start);
            let color: Vec<u8> = parts
                .iter()
                .flat_map(|(_, part)| part.color.clone())
                .collect();
            assert!(
                color == at_once(&terms, &[0, 1, 2, 3, 4, 5]).color,
                "{schedule:?}"
            );
        }
    }
}

#[test]
fn ranks_may_be_in_another_order_or_have_nothing_to_show() {
    for by in GROUP_KINDS {
        let order = [4, 0, 3, 1];
        for to in [0, 2, 5] {
            let terms = Terms {
                order: Some(order.to_vec()),
                to: Some(to),
                ..terms(Operation::Over, Some(Schedule::BinarySwap))
            };
            let results = job(by, 6, |mut group| {
                let mine = match order.contains(&group.rank()) {
                    true => picture(group.rank(), terms.format),
                    false => Picture::default(),
                };
                group
                    .composite(mine.borrowed(), &terms)
                    .unwrap()
                    .1
                    .to_picture()
            });
            assert!(is_alike(&results[to], &at_once(&terms, &order)), "to {to}");
        }
    }
}

#[test]
fn pictures_of_different_size_are_an_error_for_those_that_see_it() {
    for by in GROUP_KINDS {
        let mut results = job(by, 3, |mut group| {
            let mut terms = terms(Operation::Over, Some(Schedule::Tree(8)));
            let mut mine = picture(group.rank(), terms.format);
            if group.rank() == 2 {
                terms.height -= 1;
                mine.color.truncate(4 * terms.pixels());
            }
            group.composite(mine.borrowed(), &terms).map(drop)
        });
        let error = results.swap_remove(0).unwrap_err();
        assert!(
            matches!(error, CompositeError::Different { rank: 2, .. }),
            "{error}"
        );
    }
}

#[test]
fn a_rank_that_leaves_is_an_error_for_those_that_wait_for_it() {
    for by in GROUP_KINDS {
        for schedule in SCHEDULES {
            let results = job(by, 5, |mut group| {
                let terms = Terms {
                    to: None,
                    ..terms(Operation::Nearest, schedule)
                };
                let mine = picture(group.rank(), terms.format);
                let first = group.composite(mine.borrowed(), &terms).map(drop);
                assert!(first.is_ok(), "{first:?}");
                match group.rank() {
                    3 => Ok(()),
                    _ => group.composite(mine.borrowed(), &terms).map(drop),
                }
            });
            let errors: Vec<&CompositeError> =
                results.iter().filter_map(|r| r.as_ref().err()).collect();
            assert!(!errors.is_empty(), "{schedule:?}");
            for error in errors {
                assert!(
                    matches!(error, CompositeError::Lost { .. }),
                    "{schedule:?}: {error}"
                );
            }
        }
    }
}

#[test]
fn a_wrong_order_is_refused() {
    for by in GROUP_KINDS {
        let results = job(by, 2, |mut group| {
            let with = |order: Vec<usize>| Terms {
                order: Some(order),
                ..terms(Operation::Over, None)
            };
            let twice = group
                .composite(Picture::default().borrowed(), &with(vec![1, 1]))
                .unwrap_err();
            let beyond = group
                .composite(Picture::default().borrowed(), &with(vec![0, 2]))
                .unwrap_err();
            (twice, beyond)
        });
        for (twice, beyond) in results {
            assert!(matches!(twice, CompositeError::Order { .. }), "{twice}");
            assert!(matches!(beyond, CompositeError::Order { .. }), "{beyond}");
        }
    }
}

#[test]
fn nobody_has_anything_to_show() {
    for by in GROUP_KINDS {
        let terms = Terms {
            order: Some(Vec::new()),
            to: Some(1),
            ..terms(Operation::Nearest, None)
        };
        let results = job(by, 3, |mut group| {
            let nothing = Picture::default();
            group
                .composite(nothing.borrowed(), &terms)
                .unwrap()
                .1
                .to_picture()
        });
        let far = f32::INFINITY.to_ne_bytes();
        assert_eq!(results[1].color, [0; 4 * PIXELS]);
        assert!(results[1].depth.chunks(4).all(|depth| depth == far));
        assert_eq!(results[0], Picture::default());
    }
}

/// The memory of a frame serves the next one, whatever its size.
#[test]
fn frames_may_be_of_any_size() {
    for by in GROUP_KINDS {
        for schedule in SCHEDULES {
            job(by, 5, |mut group| {
                for pixels in [3, PIXELS, 0, 100, PIXELS, 1] {
                    let mut terms = terms(Operation::Over, schedule);
                    (terms.width, terms.height) = (pixels, 1);
                    let mut mine = picture(group.rank(), terms.format);
                    mine.color.truncate(4 * pixels);
                    let (range, merged) = group.composite(mine.borrowed(), &terms).unwrap();
                    assert_eq!(4 * range.len(), merged.color.len());
                    let wanted = if range.is_empty() { 0 } else { pixels };
                    assert_eq!(range.len(), wanted, "{schedule:?}");
                }
            });
        }
    }
}

/// A piece that comes after its frame has failed is not one of a later group's, which counts its
/// frames from the beginning again.
#[test]
fn what_a_failed_group_has_left_behind_does_no_harm() {
    for by in GROUP_KINDS {
        let terms = terms(Operation::Nearest, Some(Schedule::DirectSend));
        let done = AtomicUsize::new(0);
        let results = members(2, |member| {
            let rank = member.rank() as usize;
            if rank == 1 {
                // Its piece for rank 0 comes after that has given the frame up.
                let mut group = by.group(member, 1, GROUP_TIMEOUT);
                wait_for(&done, 1);
                let mut other = picture(5, terms.format);
                other.depth.fill(0);
                let _ = group.composite(other.borrowed(), &terms);
                done.fetch_add(1, Ordering::AcqRel);
            } else {
                let mut group = by.group(member, 1, Duration::from_secs(2));
                let error = group.composite(picture(0, terms.format).borrowed(), &terms);
                let error = error.map(drop).unwrap_err();
                assert!(
                    matches!(error, CompositeError::Late { rank: 1, .. }),
                    "{error}"
                );
                done.fetch_add(1, Ordering::AcqRel);
                wait_for(&done, 2);
            }
            let mut group = by.group(member, 2, GROUP_TIMEOUT);
            let mine = picture(rank, terms.format);
            group
                .composite(mine.borrowed(), &terms)
                .unwrap()
                .1
                .to_picture()
        });
        assert!(results[0] == at_once(&terms, &[0, 1]));
    }
}

/// A picture that covers a part of the rows and columns, which differs from rank to rank, on a
/// background that is the same everywhere. Every third of these rows is background, too.
fn partly(rank: usize, terms: &Terms, background: u8) -> Picture {
    let mut picture = picture(rank, terms.format);
    let rows = 5 * rank..5 * rank + 30;
    let columns = 3 * rank + 1..3 * rank + 20;
    for at in 0..PIXELS {
        let (row, column) = (at / WIDTH, at % WIDTH);
        if !rows.contains(&row) || !columns.contains(&column) || row % 3 == 0 {
            picture.color[4 * at..4 * at + 4].fill(background);
            if terms.format.depth.is_some() {
                picture.depth[4 * at..4 * at + 4].copy_from_slice(&1f32.to_ne_bytes());
            }
        }
    }
    picture
}

#[test]
fn what_is_left_out_as_background_is_no_difference() {
    let operations = [
        Operation::Over,
        Operation::Nearest,
        Operation::Max,
        Operation::Min,
        Operation::Add,
    ];
    // The same for all, or of each rank its own.
    let backgrounds: [fn(usize) -> u8; 3] = [|_| 0, |_| 7, |rank| rank as u8];
    // In shared memory, either one member merges everything, or each merges its own stripe.
    let shared = [Some(Schedule::Tree(8)), Some(Schedule::DirectSend)];
    let shared = shared.map(|schedule| (GroupKind::Memory, schedule));
    let messages = SCHEDULES.map(|schedule| (GroupKind::Messages, schedule));
    let hosts = [2, 3, 4].map(|ranks| (GroupKind::Hosts(ranks), None));
    for (by, schedule) in shared.into_iter().chain(messages).chain(hosts) {
        for to in [Some(4), Some(1), None] {
            let results = job(by, 5, |mut group| {
                let mut results = Vec::new();
                for operation in operations {
                    for depth in [None, Some(Depth::Float)] {
                        for background in backgrounds {
                            let mut terms = terms(operation, schedule);
                            terms.to = to;
                            terms.format.depth = depth;
                            if operation == Operation::Nearest && depth.is_none() {
                                continue;
                            }
                            // The last rank shows nothing, but gets the picture.
                            terms.order = Some(vec![2, 0, 1, 3]);
                            let picture = |rank| partly(rank, &terms, background(rank));
                            let mine = picture(group.rank());
                            let (range, got) = group.composite(mine.borrowed(), &terms).unwrap();
                            let want = merged(&terms, &[2, 0, 1, 3].map(picture));
                            let part = |bytes: &[u8]| match bytes {
                                [] => Vec::new(),
                                all => all[4 * range.start..4 * range.end].to_vec(),
                            };
                            let want = Picture {
                                color: part(&want.color),
                                depth: part(&want.depth),
                            };
                            let got = got.to_picture();
                            let is_same = match (by, operation) {
                                (GroupKind::Messages | GroupKind::Hosts(_), Operation::Over) => {
                                    is_alike(&got, &want)
                                }
                                _ => got == want,
                            };
                            results.push((is_same, range.len(), terms));
                        }
                    }
                }
                results
            });
            for at in 0..results[0].len() {
                let pixels: usize = results.iter().map(|rank| rank[at].1).sum();
                assert_eq!(pixels, PIXELS);
                for rank in &results {
                    assert!(rank[at].0, "{by:?} {:?}", rank[at].2);
                }
            }
        }
    }
}

/// Pictures are drawn in memory of the group, while others still read earlier ones.
#[test]
fn pictures_may_be_drawn_in_place() {
    for by in GROUP_KINDS {
        for schedule in SCHEDULES {
            let results = job(by, 4, |mut group| {
                // The last rank shows nothing, but gets the picture.
                let terms = Terms {
                    order: Some(vec![0, 1, 2]),
                    to: Some(3),
                    ..terms(Operation::Nearest, schedule)
                };
                let draws = group.rank() < 3;
                if draws {
                    let nothing = group.composite_drawn(&terms, None).map(drop);
                    assert!(matches!(nothing, Err(CompositeError::NotDrawn)));
                }
                let mut frames = Vec::new();
                for frame in 0..20 {
                    let mine = picture(group.rank() + 10 * frame, terms.format);
                    if draws {
                        let place = group.draw(&terms).unwrap();
                        place.color.copy_from_slice(&mine.color);
                        place.depth.copy_from_slice(&mine.depth);
                    }
                    frames.push(group.composite_drawn(&terms, None).unwrap().1.to_picture());
                }
                frames
            });
            for (frame, got) in results[3].iter().enumerate() {
                let pictures = [0, 1, 2].map(|rank| {
                    picture(
                        rank + 10 * frame,
                        terms(Operation::Nearest, schedule).format,
                    )
                });
                let want = merged(&terms(Operation::Nearest, schedule), &pictures);
                assert!(*got == want, "frame {frame} by {by:?}, {schedule:?}");
            }
        }
    }
}

/// Ranks are a frame ahead of a receiver that merges nothing. When the pictures grow, they give up
/// the memory that it has never looked at.
#[test]
fn pictures_may_grow_while_the_receiver_is_slow() {
    for by in GROUP_KINDS {
        let results = job(by, 5, |mut group| {
            let mut last = Picture::default();
            for frame in 0..6 {
                let mut terms = terms(Operation::Over, Some(Schedule::DirectSend));
                (terms.width, terms.height) = (256, 16 << frame);
                terms.order = Some(vec![1, 2, 3, 4]);
                if group.rank() == 0 {
                    thread::sleep(Duration::from_millis(20));
                } else {
                    group.draw(&terms).unwrap().color.fill(frame as u8);
                }
                last = group.composite_drawn(&terms, None).unwrap().1.to_picture();
            }
            last
        });
        // Each hides 5/255 of what is behind it.
        let shown = &results[0].color;
        assert_eq!(shown.len(), 4 * 256 * (16 << 5));
        assert!(
            shown.iter().all(|byte| (19..=20).contains(byte)),
            "{}",
            shown[0]
        );
    }
}

/// A rank that draws only some frames gets many frames ahead of a slow display. Its announcement of
/// a frame stays until the display has read it.
#[test]
fn ranks_may_take_turns() {
    const TURNS: usize = 8;
    for by in GROUP_KINDS {
        let results = job(by, TURNS + 1, |mut group| {
            let rank = group.rank();
            let mut frames = Vec::new();
            for frame in 0..5 * TURNS {
                let terms = Terms {
                    order: Some(vec![frame % TURNS]),
                    to: Some(TURNS),
                    ..terms(Operation::Over, Some(Schedule::Tree(8)))
                };
                if rank == TURNS {
                    thread::sleep(Duration::from_millis(5));
                }
                let mine = match rank == frame % TURNS {
                    true => picture(frame, terms.format),
                    false => Picture::default(),
                };
                let (_, merged) = group.composite(mine.borrowed(), &terms).unwrap();
                frames.push(merged.to_picture());
            }
            frames
        });
        for (frame, got) in results[TURNS].iter().enumerate() {
            let want = picture(frame, terms(Operation::Over, None).format);
            assert!(*got == want, "frame {frame} by {by:?}");
        }
    }
}

/// In shared memory, the next frame begins before the receiver has begun this one.
#[test]
fn renderers_are_a_frame_ahead_of_a_slow_receiver() {
    let ahead = AtomicUsize::new(0);
    job(GroupKind::Memory, 4, |mut group| {
        let terms = terms(Operation::Nearest, None);
        let is_receiver = terms.to == Some(group.rank());
        let since = Instant::now();
        while is_receiver && ahead.load(Ordering::Acquire) < 3 {
            assert!(since.elapsed() < GROUP_TIMEOUT / 2, "nobody is ahead");
            thread::sleep(Duration::from_millis(5));
        }
        for frame in 0..2 {
            let place = group.draw(&terms).unwrap();
            place.color.fill(1);
            place.depth.fill(1);
            ahead.fetch_add(usize::from(frame == 1 && !is_receiver), Ordering::AcqRel);
            group.composite_drawn(&terms, None).unwrap();
        }
    });
}

/// A drawn picture is composited once, on the terms for which it was drawn.
#[test]
fn pictures_are_composited_as_they_were_drawn() {
    for by in GROUP_KINDS {
        for schedule in [Schedule::DirectSend, Schedule::BinarySwap] {
            let results = job(by, 2, |mut group| {
                let terms = terms(Operation::Nearest, Some(schedule));
                let others: [fn(&mut Terms); 5] = [
                    |terms| (terms.width, terms.height) = (10, 10),
                    |terms| (terms.width, terms.height) = (terms.height, terms.width),
                    |terms| terms.format.color = Color::Rgba16f,
                    |terms| terms.format.depth = Some(Depth::Unorm),
                    |terms| (terms.operation, terms.format.depth) = (Operation::Over, None),
                ];
                let is_refused = |group: &mut Group<'_>, terms: &Terms| {
                    let composited = group.composite_drawn(terms, None).map(drop);
                    matches!(composited, Err(CompositeError::NotDrawn))
                };
                let mine = picture(group.rank(), terms.format);
                let place = group.draw(&terms).unwrap();
                place.color.copy_from_slice(&mine.color);
                place.depth.copy_from_slice(&mine.depth);
                for (at, change) in others.into_iter().enumerate() {
                    let mut other = terms.clone();
                    change(&mut other);
                    assert!(is_refused(&mut group, &other), "{at} by {by:?}");
                }
                let merged = group.composite_drawn(&terms, None).unwrap().1.to_picture();
                assert!(is_refused(&mut group, &terms), "twice by {by:?}");
                merged
            });
            let want = at_once(&terms(Operation::Nearest, None), &[0, 1]);
            assert!(results[0] == want, "{schedule} by {by:?}");
        }
    }
}

/// The area outside of a drawn rectangle shows nothing, whatever the memory holds there.
#[test]
fn rectangles_may_be_drawn() {
    let rectangle = |rank: usize| Rectangle {
        columns: 7 * rank..7 * rank + 30,
        rows: 5 * rank..60,
    };
    for by in GROUP_KINDS {
        for operation in [Operation::Nearest, Operation::Over, Operation::Min] {
            for depth in [Depth::Float, Depth::Unorm] {
                let mut terms = terms(operation, None);
                terms.format.depth = Some(depth);
                let results = job(by, 4, |mut group| {
                    let mine = picture(group.rank(), terms.format);
                    let place = group.draw(&terms).unwrap();
                    place.color.copy_from_slice(&mine.color);
                    place.depth.copy_from_slice(&mine.depth);
                    let outside = Rectangle {
                        columns: 0..WIDTH + 1,
                        rows: 0..1,
                    };
                    let error = group.composite_drawn(&terms, Some(outside)).map(drop);
                    assert!(matches!(error, Err(CompositeError::Outside { .. })));
                    let covered = Some(rectangle(group.rank()));
                    group
                        .composite_drawn(&terms, covered)
                        .unwrap()
                        .1
                        .to_picture()
                });
                let far = match depth {
                    Depth::Float => f32::INFINITY.to_ne_bytes(),
                    Depth::Unorm => [255; 4],
                };
                let pictures = [0, 1, 2, 3].map(|rank| {
                    let mut picture = picture(rank, terms.format);
                    let Rectangle { columns, rows } = rectangle(rank);
                    for at in 0..PIXELS {
                        let (row, column) = (at / WIDTH, at % WIDTH);
                        if !rows.contains(&row) || !columns.contains(&column) {
                            picture.color[4 * at..4 * at + 4].fill(0);
                            picture.depth[4 * at..4 * at + 4].copy_from_slice(&far);
                        }
                    }
                    picture
                });
                let want = merged(&terms, &pictures);
                assert!(is_alike(&results[0], &want), "{operation} by {by:?}");
            }
        }
    }
}

/// A rank that shows nothing need not draw.
#[test]
fn ranks_may_show_nothing_without_drawing() {
    for by in GROUP_KINDS {
        for (operation, schedule) in [
            (Operation::Nearest, None),
            (Operation::Nearest, Some(Schedule::RadixK(2))),
            (Operation::Over, None),
            (Operation::Over, Some(Schedule::BinarySwap)),
        ] {
            // The ranks that show something, which may be all of a host, or none of it.
            for shown in [&[0, 1, 2, 3, 4][..], &[0, 1], &[3], &[]] {
                let mut terms = terms(operation, schedule);
                terms.to = Some(1);
                let results = job(by, 5, |mut group| {
                    let mine = picture(group.rank(), terms.format);
                    let nothing = Rectangle {
                        columns: 3..3,
                        rows: 0..9,
                    };
                    let merged = match shown.contains(&group.rank()) {
                        true => group.composite(mine.borrowed(), &terms),
                        false => group.composite_drawn(&terms, Some(nothing)),
                    };
                    merged.unwrap().1.to_picture()
                });
                let pictures = (0..5).map(|rank| match shown.contains(&rank) {
                    true => picture(rank, terms.format),
                    false => {
                        let mut clear = picture(rank, terms.format);
                        clear.color.fill(0);
                        for depth in clear.depth.chunks_exact_mut(4) {
                            depth.copy_from_slice(&f32::INFINITY.to_ne_bytes());
                        }
                        clear
                    }
                });
                let want = merged(&terms, &pictures.collect::<Vec<Picture>>());
                let what = format!("{operation} of {shown:?} by {by:?}, {schedule:?}");
                assert!(is_alike(&results[1], &want), "{what}");
            }
        }
    }
}

/// Whatever a rank says differently, all get an error, and soon.
#[test]
fn ranks_that_disagree_are_an_error_for_all_that_wait() {
    let same = |by| {
        // Hosts with several ranks merge first where the group chooses the schedule.
        let schedule = match by {
            GroupKind::Hosts(_) => None,
            GroupKind::Memory | GroupKind::Messages => Some(Schedule::DirectSend),
        };
        terms(Operation::Nearest, schedule)
    };
    let changes: [fn(&mut Terms); 8] = [
        |terms| terms.format.color = Color::Rgba16f,
        |terms| terms.operation = Operation::Max,
        |terms| (terms.width, terms.height) = (terms.height, terms.width),
        |terms| terms.format.depth = Some(Depth::Unorm),
        |terms| terms.schedule = Some(Schedule::Tree(8)),
        |terms| terms.to = Some(1),
        |terms| terms.order = Some(vec![2, 1, 0]),
        |terms| terms.origin = [0, 1],
    ];
    for by in [GroupKind::Memory, GroupKind::Messages, GroupKind::Hosts(2)] {
        for (at, change) in changes.into_iter().enumerate() {
            let results = job(by, 3, |mut group| {
                let mut terms = same(by);
                if group.rank() == 2 {
                    change(&mut terms);
                }
                let mut mine = picture(group.rank(), terms.format);
                mine.color.resize(terms.bytes().unwrap()[0], 0);
                // A rank that merges nothing may be some frames ahead, until the others take no
                // more of its messages.
                (0..100_000).try_for_each(|_| group.composite(mine.borrowed(), &terms).map(drop))
            });
            for (rank, result) in results.into_iter().enumerate() {
                assert!(
                    matches!(result, Err(CompositeError::Different { .. })),
                    "change {at} by {by:?}: rank {rank}: {result:?}"
                );
            }
        }
    }
}

fn assert_all_differ(results: Vec<Result<(), CompositeError>>) {
    for (rank, result) in results.into_iter().enumerate() {
        let error = result.unwrap_err();
        assert!(
            matches!(error, CompositeError::Different { .. }),
            "rank {rank}: {error}"
        );
    }
}

/// Members on one host that nevertheless send messages learn of this from those that do not.
#[test]
fn a_schedule_that_only_one_rank_has_is_an_error_for_all() {
    let results = job(GroupKind::Memory, 3, |mut group| {
        let schedule = match group.rank() {
            2 => Schedule::BinarySwap,
            _ => Schedule::DirectSend,
        };
        let terms = terms(Operation::Nearest, Some(schedule));
        let mine = picture(group.rank(), terms.format);
        (0..100_000).try_for_each(|_| group.composite(mine.borrowed(), &terms).map(drop))
    });
    assert_all_differ(results);
}

/// Ranks that only help the receiver need nothing of it, and learn of this nevertheless.
#[test]
fn a_receiver_that_turns_to_another_schedule_is_an_error_for_all() {
    let results = job(GroupKind::Memory, 3, |mut group| {
        (0..100_000).try_for_each(|frame| {
            let schedule = match (group.rank(), frame) {
                (0, 1..) => Schedule::BinarySwap,
                _ => Schedule::DirectSend,
            };
            let terms = terms(Operation::Nearest, Some(schedule));
            let mine = picture(group.rank(), terms.format);
            group.composite(mine.borrowed(), &terms).map(drop)
        })
    });
    assert_all_differ(results);
}

/// Others have merged everything when it comes, and do without its picture.
#[test]
fn a_slow_rank_whose_picture_is_left_out_is_told() {
    let is_told = AtomicUsize::new(0);
    job(GroupKind::Memory, 4, |mut group| {
        let rank = group.rank();
        let mut terms = terms(Operation::Over, Some(Schedule::DirectSend));
        let mine = picture(rank, terms.format);
        if rank < 3 {
            terms.order = Some(vec![0, 1, 2]);
            // The others may end with an error when rank 3 does.
            while is_told.load(Ordering::Acquire) == 0 {
                if group.composite(mine.borrowed(), &terms).is_err() {
                    return;
                }
            }
            return;
        }
        let composited = (0..20).try_for_each(|_| {
            thread::sleep(Duration::from_millis(20));
            group.composite(mine.borrowed(), &terms).map(drop)
        });
        is_told.store(1, Ordering::Release);
        let error = composited.unwrap_err();
        assert!(
            matches!(error, CompositeError::Different { rank: 0, .. }),
            "{error}"
        );
    });
}

#[test]
fn a_rank_that_does_not_come_is_an_error_for_all_that_wait() {
    let patience = Duration::from_secs(2);
    let done = AtomicUsize::new(0);
    let results = members(3, |member| {
        let mut group = GroupKind::Memory.group(member, 1, patience);
        let terms = terms(Operation::Nearest, Some(Schedule::DirectSend));
        let mine = picture(group.rank(), terms.format);
        if group.rank() == 1 {
            wait_for(&done, 2);
        }
        let error = group.composite(mine.borrowed(), &terms).map(drop);
        done.fetch_add(1, Ordering::AcqRel);
        let again = group.composite(mine.borrowed(), &terms).map(drop);
        assert!(matches!(again, Err(CompositeError::Failed)));
        error.unwrap_err()
    });
    for (rank, error) in results.iter().enumerate() {
        let is_right = match rank {
            1 => matches!(error, CompositeError::Lost { rank: 0 | 2, .. }),
            _ => matches!(error, CompositeError::Late { rank: 1, .. }),
        };
        assert!(is_right, "rank {rank}: {error}");
    }
}

/// An error of a rank's own call is nothing to the others: it may try again.
#[test]
fn a_wrong_call_may_be_made_right() {
    for by in GROUP_KINDS {
        let terms = terms(Operation::Over, None);
        let results = job(by, 2, |mut group| {
            let mine = picture(group.rank(), terms.format);
            if group.rank() == 1 {
                let nothing = Picture::default();
                let error = group.composite(nothing.borrowed(), &terms).map(drop);
                assert!(matches!(error, Err(CompositeError::Merge(_))));
                let too_large = Terms {
                    width: usize::MAX,
                    ..terms.clone()
                };
                let error = group.composite(mine.borrowed(), &too_large).map(drop);
                assert!(matches!(error, Err(CompositeError::Size { .. })));
            }
            group
                .composite(mine.borrowed(), &terms)
                .unwrap()
                .1
                .to_picture()
        });
        assert!(is_alike(&results[0], &at_once(&terms, &[0, 1])));
    }
}

/// Members of other releases would not understand what this one says.
#[test]
fn ranks_of_another_release_are_an_error() {
    let hellos: [(&[u8], &str); 3] = [
        (b"Manganese 0.0.7\0and more", "Manganese 0.0.7"),
        (&[7; 24], "another release"),
        (b"", "another release"),
    ];
    for (hello, named) in hellos {
        let done = AtomicUsize::new(0);
        let results = members(3, |member| {
            if member.rank() == 2 {
                for other in [0, 1] {
                    let link = member.open(other, GROUP_TIMEOUT).unwrap();
                    let tag = 0x47 << 56 | 1 << 40 | 0xFFFF;
                    let endpoint = member.endpoint();
                    endpoint
                        .send(link, tag, hello, SendOptions::default())
                        .unwrap();
                }
                while done.load(Ordering::Acquire) < 2 {
                    thread::sleep(Duration::from_millis(5));
                }
                return None;
            }
            let error = Group::new(member, 1, GROUP_TIMEOUT).err();
            done.fetch_add(1, Ordering::AcqRel);
            error
        });
        for error in results.into_iter().take(2) {
            let error = error.unwrap();
            let CompositeError::Release { rank: 2, theirs } = &error else {
                panic!("{error}");
            };
            assert_eq!(theirs, named);
            assert!(error.to_string().contains("same release"), "{error}");
        }
    }
}

/// A depth that is no number is farther than all others, and a colour that is none stays so
/// wherever it is merged.
#[test]
fn values_that_are_no_numbers_are_the_same_in_any_schedule() {
    let picture = |rank: usize| {
        let value = |at: usize| match (at + rank) % 5 {
            0 => f32::NAN,
            _ => (at * 7 + rank * 13) as f32 % 11.0,
        };
        let bytes = |count: usize, step: usize| -> Vec<u8> {
            let values = (0..count).map(|at| value(at / step));
            values.flat_map(f32::to_ne_bytes).collect()
        };
        Picture {
            color: bytes(4 * PIXELS, 4),
            depth: bytes(PIXELS, 1),
        }
    };
    for operation in [Operation::Nearest, Operation::Over, Operation::Add] {
        let mut terms = terms(operation, None);
        terms.format = Format {
            color: Color::Rgba32f,
            depth: (operation == Operation::Nearest).then_some(Depth::Float),
        };
        let pictures = [0, 1, 2, 3, 4].map(|rank| {
            let mut picture = picture(rank);
            if terms.format.depth.is_none() {
                picture.depth.clear();
            }
            picture
        });
        let layers = [0, 1, 2, 3, 4].map(|rank: usize| pictures[rank].layer(Channel::F32));
        let mut want = pictures[0].clone();
        let out = want.layer_mut(Channel::F32);
        merge(operation, terms.format, &layers, out).unwrap();
        let floats = |bytes: &[u8]| -> Vec<f32> {
            let floats = bytes.chunks_exact(4);
            floats
                .map(|float| f32::from_ne_bytes(float.try_into().unwrap()))
                .collect()
        };
        for by in GROUP_KINDS {
            for schedule in SCHEDULES {
                terms.schedule = schedule;
                let results = job(by, 5, |mut group| {
                    let mine = pictures[group.rank()].borrowed();
                    group.composite(mine, &terms).unwrap().1.to_picture()
                });
                let what = format!("{operation} by {by:?}, {schedule:?}");
                if operation == Operation::Nearest {
                    assert!(results[0] == want, "{what}");
                }
                let pairs = floats(&results[0].color).into_iter();
                for (got, want) in pairs.zip(floats(&want.color)) {
                    let is_near = (got - want).abs() <= 1e-4 * want.abs();
                    assert!(
                        is_near || got.is_nan() && want.is_nan(),
                        "{what}: {got} {want}"
                    );
                }
            }
        }
    }
}

/// No rank has drawn anything.
#[test]
fn all_rectangles_may_be_empty() {
    for by in GROUP_KINDS {
        for schedule in SCHEDULES {
            let results = job(by, 4, |mut group| {
                let terms = terms(Operation::Nearest, schedule);
                let place = group.draw(&terms).unwrap();
                place.color.fill(9);
                place.depth.fill(0);
                let nothing = Rectangle::empty();
                let merged = group.composite_drawn(&terms, Some(nothing));
                merged.unwrap().1.to_picture()
            });
            let far = f32::INFINITY.to_ne_bytes();
            assert_eq!(results[0].color, [0; 4 * PIXELS], "{schedule:?} by {by:?}");
            assert!(results[0].depth.chunks(4).all(|depth| depth == far));
        }
    }
}
