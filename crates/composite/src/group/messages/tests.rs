use super::*;
use crate::group::agreed::{tests::terms, Mode};
use crate::Group;
use mgn_fabric::job::Job;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Barrier;
use std::thread;

#[test]
fn what_is_covered_is_read_as_it_is_written() {
    let covered = Covered {
        rectangle: Rectangle {
            columns: 3..700,
            rows: 9..u32::MAX as usize,
        },
        background: Pixel {
            color: std::array::from_fn(|at| at as u8),
            depth: [1, 2, 3, 4],
        },
    };
    for has_bitmap in [false, true] {
        let bytes = covered_bytes(&covered, has_bitmap);
        assert_eq!(covered_of(&bytes), (covered.clone(), has_bitmap));
    }
}

/// A rank sends its pieces of the first round, and then ends or stops. The ranks that need it
/// in the second round name it. The others also name it, in this frame or the next one.
#[test]
fn a_rank_may_be_lost_between_rounds() {
    const RANKS: usize = 4;
    const VICTIM: usize = 2;
    const SCHEDULE: Schedule = Schedule::BinarySwap;
    let terms = Terms {
        schedule: Some(SCHEDULE),
        ..terms()
    };
    let order: Vec<usize> = (0..RANKS).collect();
    for ends in [true, false] {
        let name = format!("composite-rounds-{}-{ends}", std::process::id());
        let (done, first) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let wait = |count: &AtomicUsize, wanted| {
            while count.load(Ordering::Acquire) < wanted {
                thread::sleep(Duration::from_millis(5));
            }
        };
        let rank = |rank: usize| {
            let hosts = vec!["localhost".to_owned(); RANKS];
            let job = Job::new(&name, rank as u32, hosts).unwrap();
            let member = job.join().unwrap();
            let patience = Duration::from_millis(if ends { 60_000 } else { 4000 });
            let mut group = Group::on_simulated_host(&member, 1, patience, rank as u32).unwrap();
            let covered = Covered::by(Rectangle::empty(), terms.format);
            if rank == VICTIM {
                let links = &group.links;
                let agreed = Agreed::new(&terms, Mode::Messages(SCHEDULE), &order);
                let message = [&header(0, &agreed)[..], &covered_bytes(&covered, false)].concat();
                let pixels = terms.pixels();
                let plan = Plan::new(SCHEDULE, RANKS, rank, pixels, Delivery::Member(0));
                assert_eq!(plan.rounds.len(), 2);
                for send in &plan.rounds[0].sends {
                    let (link, tag) = (links.to(send.to), links.tag(0, 0));
                    let options = SendOptions::default();
                    links.endpoint.send(link, tag, &message, options).unwrap();
                }
                links.endpoint.flush(Some(patience));
                if ends {
                    member.endpoint().stop();
                }
                wait(&done, RANKS - 1);
                return Ok(());
            }
            let nothing = || Some(Rectangle::empty());
            let mut result = group.composite_drawn(&terms, nothing()).map(drop);
            first.fetch_add(1, Ordering::AcqRel);
            // The receiver needs the victim, so it has an error.
            if result.is_ok() && rank > 0 {
                // Its pieces have left. It learns why the receiver has failed.
                wait(&first, RANKS - 1);
                result = group.composite_drawn(&terms, nothing()).map(drop);
            }
            done.fetch_add(1, Ordering::AcqRel);
            wait(&done, RANKS - 1);
            result
        };
        let rank = &rank;
        let results = thread::scope(|scope| {
            let ranks = [0, 1, 2, 3].map(|number| scope.spawn(move || rank(number)));
            ranks.map(|rank| rank.join().unwrap())
        });
        for (rank, result) in results.iter().enumerate() {
            let is_right = match result {
                Err(CompositeError::Lost { rank, .. }) => ends && *rank == VICTIM,
                Err(CompositeError::Late { rank, .. }) => !ends && *rank == VICTIM,
                _ => rank == VICTIM,
            };
            assert!(is_right, "ends: {ends}: rank {rank}: {result:?}");
        }
    }
}

/// A rectangle that a faulty member sends is either refused or lies within the picture.
#[test]
fn a_rectangle_within_the_picture_is_never_more_than_it() {
    let terms = terms();
    let edges = [
        0,
        1,
        5,
        terms.height,
        terms.width,
        terms.width + 1,
        usize::MAX,
    ];
    let ranges = edges.map(|start| edges.map(|end| start..end));
    let mut accepted = 0;
    for columns in ranges.iter().flatten() {
        for rows in ranges.iter().flatten() {
            let rectangle = Rectangle {
                columns: columns.clone(),
                rows: rows.clone(),
            };
            if !rectangle.is_within(terms.width, terms.height) {
                continue;
            }
            let pixels = Pixels {
                range: 7..terms.pixels() - 1,
                kept: rectangle,
                ..Pixels::default()
            };
            assert!(pixels.count(terms.width) <= pixels.range.len());
            accepted += 1;
        }
    }
    assert!(accepted > 20, "{accepted}");
}

/// A group of two, in which rank 1 does what the test says instead of compositing.
fn with_raw_peer<T: Send>(
    name: &str,
    rank_0: impl FnOnce(&mut Group<'_>) -> T + Send,
    rank_1: impl FnOnce(&Links<'_>) + Send,
) -> T {
    let name = format!("composite-{name}-{}", std::process::id());
    let done = Barrier::new(2);
    let open = |rank: u32| {
        let hosts = vec!["localhost".to_owned(); 2];
        Job::new(&name, rank, hosts).unwrap().join().unwrap()
    };
    let patience = Duration::from_secs(20);
    thread::scope(|scope| {
        scope.spawn(|| {
            let member = open(1);
            let group = Group::on_simulated_host(&member, 1, patience, 1).unwrap();
            rank_1(&group.links);
            group.links.endpoint.flush(Some(patience));
            done.wait();
        });
        let member = open(0);
        let mut group = Group::on_simulated_host(&member, 1, patience, 0).unwrap();
        let result = rank_0(&mut group);
        done.wait();
        result
    })
}

#[test]
fn only_active_pixels_are_sent() {
    let terms = Terms {
        width: 320,
        height: 200,
        schedule: Some(Schedule::DirectSend),
        order: Some(vec![0]),
        to: Some(1),
        ..terms()
    };
    let pixel = terms.format.pixel_bytes().iter().sum::<usize>();
    // Two pixels so far apart that the rectangle is nearly the whole picture, or all of them.
    for drawn in [
        vec![321, terms.pixels() - 322],
        (0..terms.pixels()).collect(),
    ] {
        let [color, depth] = terms.format.pixel_bytes();
        let mut picture = Picture {
            color: vec![0; terms.pixels() * color],
            depth: vec![0; terms.pixels() * depth],
        };
        let value = |at: &usize| (at % 200) as u8 + 1;
        drawn
            .iter()
            .for_each(|at| picture.color[color * at] = value(at));
        let got = AtomicUsize::new(0);
        let composite =
            |group: &mut Group<'_>| group.composite(picture.borrowed(), &terms).map(drop);
        let receive = |links: &Links<'_>| {
            let mut into = vec![0; HEADER + terms.pixels() * pixel];
            let wanted = Wanted::new(links.to(0), links.tag(0, 0));
            let status = links.endpoint.recv(wanted, &mut into).unwrap();
            got.store(status.len, Ordering::Release);
        };
        with_raw_peer("active", composite, receive).unwrap();
        let len = got.into_inner();
        match drawn.len() {
            2 => {
                let bitmap = 320 / 16 * 200 / 8;
                assert_eq!(len, HEADER + bitmap + 2 * 16 * pixel);
            }
            all => assert_eq!(len, HEADER + all * pixel),
        }
    }
}

/// A bitmap that is shorter than the rectangle needs, and one with more active pixels than come.
#[test]
fn a_faulty_bitmap_is_an_error() {
    let order = vec![1];
    let terms = Terms {
        schedule: Some(Schedule::DirectSend),
        order: Some(order.clone()),
        to: Some(0),
        ..terms()
    };
    let covered = Covered::whole(terms.width, terms.height);
    let all = 0..terms.pixels();
    let len = active::bitmap_len(&covered.rectangle, &all, terms.width);
    for bitmap in [vec![0; len - 1], vec![1; len], vec![255; len]] {
        let agreed = Agreed::new(&terms, Mode::Messages(Schedule::DirectSend), &order);
        let covered = covered_bytes(&covered, true);
        let message = [&header(0, &agreed)[..], &covered, &bitmap].concat();
        let send = |links: &Links<'_>| {
            let (link, tag) = (links.to(0), links.tag(0, 0));
            let options = SendOptions::default();
            links.endpoint.send(link, tag, &message, options).unwrap();
        };
        let composite = |group: &mut Group<'_>| {
            let nothing = Some(Rectangle::empty());
            group.composite_drawn(&terms, nothing).map(drop)
        };
        let result = with_raw_peer("bitmap", composite, send);
        match result {
            Err(CompositeError::Different { rank: 1, what }) => {
                assert!(what.contains("bytes, where"), "{what}");
            }
            other => panic!("{other:?}"),
        }
    }
}
