//! Tests of barriers of a job's processes, for each kind of barrier. The ranks are threads, and
//! each thread has an endpoint. Processes that end are tested through the C interface.

use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Barrier as Start};
use std::thread;
use std::time::{Duration, Instant};

use mgn_barrier::{Combine, Id, JobBarrier, Kind, Misuse, OpenError, Options, WaitError};
use mgn_fabric::job::{Job, Member};

const KINDS: [Kind; 7] = [
    Kind::Auto,
    Kind::Shared,
    Kind::Star,
    Kind::Tree(2),
    Kind::Dissemination,
    Kind::Hierarchical,
    Kind::Udp,
];

/// The time limit of waits. It is so long that only an event that never comes takes longer.
const WAIT_TIMEOUT: Option<Duration> = Some(Duration::from_secs(60));

/// A closed barrier is noticed at once or with a check every 50 ms. The limit allows for a busy
/// machine, and is shorter than the ten seconds after which a silent host counts as lost.
const SOON: Duration = Duration::from_secs(5);

/// Runs `each` as every rank of a new job. Returns the results in the order of the ranks.
fn ranks<T: Send>(size: usize, each: impl Fn(Arc<Member>) -> T + Sync) -> Vec<T> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("barrier-{}-{number}", std::process::id());
    let end = Start::new(size);
    thread::scope(|scope| {
        let ranks: Vec<_> = (0..size)
            .map(|rank| {
                let (name, each, end) = (&name, &each, &end);
                scope.spawn(move || {
                    let hosts = vec!["localhost".to_owned(); size];
                    let job = Job::new(name, rank as u32, hosts).unwrap();
                    let member = Arc::new(job.join().unwrap());
                    let job = member.clone();
                    let result = catch_unwind(AssertUnwindSafe(|| each(job)));
                    end.wait();
                    member.leave();
                    result.unwrap_or_else(|panic| resume_unwind(panic))
                })
            })
            .collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

fn options(kind: Kind) -> Options {
    Options {
        kind,
        ..Options::default()
    }
}

#[test]
fn nobody_passes_before_all_have_arrived() {
    for kind in KINDS {
        let arrived = AtomicU64::new(0);
        ranks(5, |job| {
            let rank = job.rank();
            let mut barrier = JobBarrier::open(job, &options(kind)).unwrap();
            assert_eq!(barrier.members(), [0, 1, 2, 3, 4]);
            for epoch in 0..300 {
                arrived.fetch_add(1, Ordering::Relaxed);
                assert_eq!(barrier.pass(1 << rank, WAIT_TIMEOUT), Ok(31), "{kind}");
                assert!(arrived.load(Ordering::Relaxed) >= 5 * (epoch + 1), "{kind}");
            }
        });
    }
}

/// A member may work between its arrival and its wait. A call with a timeout of 0 does not wait.
#[test]
fn members_may_work_before_they_wait() {
    for kind in KINDS {
        ranks(3, |job| {
            let rank = u64::from(job.rank());
            let max = Options {
                combine: Combine::Max,
                ..options(kind)
            };
            let mut barrier = JobBarrier::open(job, &max).unwrap();
            assert_eq!(
                barrier.wait(WAIT_TIMEOUT),
                Err(WaitError::NotArrived),
                "{kind}"
            );
            for epoch in 0..20 {
                assert_eq!(barrier.arrive(rank + epoch), Ok(epoch), "{kind}");
                assert_eq!(barrier.arrive(0), Err(Misuse::Twice { epoch }), "{kind}");
                let mut passed = barrier.wait(Some(Duration::ZERO));
                while let Err(WaitError::TimedOut { .. }) = passed {
                    thread::yield_now();
                    passed = barrier.wait(Some(Duration::ZERO));
                }
                assert_eq!(passed, Ok(2 + epoch), "{kind}");
            }
        });
    }
}

/// A member's arrival reaches all other members without help from another member's program. This is
/// also true if a barrier takes several packets one after the other, and the programs of the
/// members that pass them on do other work.
#[test]
fn arrivals_go_on_while_members_work() {
    for kind in KINDS {
        let working = Start::new(4);
        ranks(4, |job| {
            let rank = job.rank();
            let mut barrier = JobBarrier::open(job, &options(kind)).unwrap();
            barrier.arrive(0).unwrap();
            if rank == 3 {
                // The others go on only when this member has passed.
                barrier.wait(WAIT_TIMEOUT).unwrap();
            }
            working.wait();
            if rank != 3 {
                barrier.wait(WAIT_TIMEOUT).unwrap();
            }
        });
    }
}

#[test]
fn groups_are_any_ranks_and_many_at_once() {
    for kind in KINDS {
        ranks(4, |job| {
            let rank = job.rank();
            let group = |number: u16, ranks: &[u32]| {
                let options = Options {
                    number,
                    ranks: Some(ranks.to_vec()),
                    ..options(kind)
                };
                JobBarrier::open(job.clone(), &options)
            };
            let mut all = group(0, &[0, 1, 2, 3]).unwrap();
            // The members list the ranks in different orders.
            let pair = [rank, (rank + 2) % 4];
            let mut pair = group(1 + rank as u16 % 2, &pair).unwrap();
            for _ in 0..50 {
                let bits = if rank % 2 == 0 { 0b101 } else { 0b1010 };
                assert_eq!(pair.pass(1 << rank, WAIT_TIMEOUT), Ok(bits), "{kind}");
                assert_eq!(all.pass(1 << rank, WAIT_TIMEOUT), Ok(0b1111), "{kind}");
            }
            let outside = group(9, &[0, 1, 2, 3].map(|r| (r + rank + 1) % 4)[..3]);
            assert!(matches!(outside, Err(OpenError::View(_))), "{kind}");
        });
    }
}

#[test]
fn one_member_is_enough() {
    for kind in KINDS {
        ranks(1, |job| {
            let mut barrier = JobBarrier::open(job, &options(kind)).unwrap();
            assert_eq!(barrier.pass(7, WAIT_TIMEOUT), Ok(7), "{kind}");
            barrier.leave(WAIT_TIMEOUT).unwrap();
            barrier.pass(7, WAIT_TIMEOUT).unwrap_err();
        });
    }
}

/// The epoch in which a member closes its barrier fails for all other members, and the next epoch
/// passes.
#[test]
fn the_others_go_on_without_a_member_that_is_lost() {
    for kind in KINDS {
        for lost in [0, 2] {
            ranks(4, |job| {
                let rank = job.rank();
                let mut barrier = JobBarrier::open(job, &options(kind)).unwrap();
                assert_eq!(barrier.pass(1 << rank, WAIT_TIMEOUT), Ok(15));
                if rank == lost {
                    drop(barrier);
                    return;
                }
                let began = Instant::now();
                let failed = barrier.pass(1 << rank, WAIT_TIMEOUT);
                let Err(WaitError::Lost(told)) = failed else {
                    panic!("{kind}: {failed:?}");
                };
                assert!(began.elapsed() < SOON, "{kind}: {:?}", began.elapsed());
                assert_eq!((told.epoch, told.members), (1, vec![Id(lost)]), "{kind}");
                for _ in 0..10 {
                    assert_eq!(
                        barrier.pass(1 << rank, WAIT_TIMEOUT),
                        Ok(15 & !(1 << lost)),
                        "{kind}"
                    );
                }
                assert!(!barrier.members().contains(&lost));
            });
        }
    }
}

#[test]
fn the_others_go_on_without_a_member_that_leaves() {
    for kind in KINDS {
        for leaver in [0, 2] {
            ranks(4, |job| {
                let rank = job.rank();
                let mut barrier = JobBarrier::open(job, &options(kind)).unwrap();
                assert_eq!(barrier.pass(1 << rank, WAIT_TIMEOUT), Ok(15));
                if rank == leaver {
                    barrier.leave(WAIT_TIMEOUT).unwrap();
                    return;
                }
                for _ in 0..10 {
                    assert_eq!(
                        barrier.pass(1 << rank, WAIT_TIMEOUT),
                        Ok(15 & !(1 << leaver)),
                        "{kind}"
                    );
                }
            });
        }
    }
}

/// The first three ranks pass barriers. The last two ranks join them, one of them through the
/// other, pass some barriers with them, and leave.
#[test]
fn ranks_join_an_open_barrier() {
    let met = Start::new(5);
    for kind in [Kind::Star, Kind::Tree(2), Kind::Dissemination] {
        ranks(5, |job| {
            let rank = job.rank();
            let (bit, guests) = (1 << rank, 0b11000);
            let mut barrier = if rank < 3 {
                let options = Options {
                    ranks: Some(vec![0, 1, 2]),
                    ..options(kind)
                };
                JobBarrier::open(job, &options).unwrap()
            } else {
                let options = Options {
                    ranks: Some(vec![rank - 2, rank - 1]),
                    kind: [kind, Kind::Auto][rank as usize - 3],
                    ..Options::default()
                };
                JobBarrier::join(job, &options).unwrap()
            };
            assert_eq!(barrier.kind(), kind);
            let mut both = Vec::new();
            loop {
                let epoch = barrier.arrive(bit).unwrap();
                let present = barrier.wait(WAIT_TIMEOUT).unwrap();
                assert_eq!(present & 0b111, 0b111, "{kind}: epoch {epoch}");
                if present & guests == guests {
                    both.push(epoch);
                }
                let has_ended = present & guests == 0 && !both.is_empty();
                if has_ended || rank >= 3 && both.len() == 3 {
                    break;
                }
            }
            // Members that join later count in the same way as the others.
            if rank >= 3 {
                barrier.leave(WAIT_TIMEOUT).unwrap();
            } else {
                assert_eq!(barrier.members(), [0, 1, 2]);
            }
            assert!(
                both.windows(2).all(|pair| pair[1] == pair[0] + 1),
                "{both:?}"
            );
            met.wait();
        });
    }
}

#[test]
fn a_rank_that_cannot_join_is_told_why() {
    ranks(3, |job| {
        let rank = job.rank();
        let with = |kind, number, ranks: &[u32]| Options {
            number,
            ranks: Some(ranks.to_vec()),
            patience: Duration::from_secs(1),
            ..options(kind)
        };
        let patient = |options| Options {
            patience: Duration::from_secs(60),
            ..options
        };
        if rank < 2 {
            let open = |kind, number| {
                JobBarrier::open(job.clone(), &patient(with(kind, number, &[0, 1]))).unwrap()
            };
            let mut tree = open(Kind::Tree(3), 1);
            let others = [open(Kind::Udp, 2), open(Kind::Shared, 3)];
            let mut end = JobBarrier::open(job.clone(), &options(Kind::Star)).unwrap();
            end.pass(0, WAIT_TIMEOUT).unwrap();
            // Processes that could not join have changed nothing.
            assert_eq!(tree.pass(1, WAIT_TIMEOUT), Ok(1));
            assert_eq!(tree.members(), [0, 1]);
            drop(others);
            end.pass(0, WAIT_TIMEOUT).unwrap();
            return;
        }
        let mut end = JobBarrier::open(job.clone(), &options(Kind::Star)).unwrap();
        let fails = |options: Options, words: &str| {
            let error = JobBarrier::join(job.clone(), &options).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        };
        fails(with(Kind::Auto, 1, &[]), "name at least one");
        fails(with(Kind::Auto, 1, &[0, 2]), "rank 2 is this process");
        fails(with(Kind::Auto, 1, &[3]), "rank 3");
        fails(with(Kind::Shared, 1, &[0]), "kind shm");
        let differs = "rank 1 opens barrier 1 with other members, of another kind";
        fails(patient(with(Kind::Star, 1, &[1])), differs);
        let max = Options {
            combine: Combine::Max,
            ..patient(with(Kind::Auto, 1, &[1]))
        };
        fails(max, differs);
        fails(
            patient(with(Kind::Auto, 2, &[0])),
            "open barrier of kind udp",
        );
        fails(with(Kind::Auto, 3, &[0, 1]), "rank 0 has not answered for");
        fails(with(Kind::Auto, 9, &[1]), "rank 1 has not answered for 1s");
        let number = Options {
            number: 0,
            ..with(Kind::Auto, 0, &[1])
        };
        fails(number, "barrier 0 is open in this process");
        end.pass(0, WAIT_TIMEOUT).unwrap();
        end.pass(0, WAIT_TIMEOUT).unwrap();
    });
}

#[test]
fn members_that_disagree_are_told() {
    for kind in [Kind::Shared, Kind::Star, Kind::Udp] {
        ranks(2, |job| {
            let options = Options {
                combine: [Combine::Any, Combine::All][job.rank() as usize],
                ..options(kind)
            };
            let error = JobBarrier::open(job, &options).unwrap_err();
            assert!(
                matches!(error, OpenError::Different { .. }),
                "{kind}: {error}"
            );
        });
    }
}

#[test]
fn a_member_that_does_not_come_is_named() {
    ranks(2, |job| {
        if job.rank() == 0 {
            let options = Options {
                patience: Duration::from_millis(100),
                number: 7,
                ..options(Kind::Star)
            };
            let error = JobBarrier::open(job, &options).unwrap_err().to_string();
            assert!(error.contains("rank 1 has not opened barrier 7"), "{error}");
        }
    });
}

/// Messages of an attempt that a member has given up are not mistaken for other options.
#[test]
fn members_may_try_until_their_attempts_overlap() {
    // The members meet twice before a barrier in shared memory is open.
    let kind = Kind::Shared;
    for delay in (630..1200).step_by(80).map(Duration::from_millis) {
        ranks(2, |job| {
            let options = Options {
                patience: Duration::from_millis(300),
                ..options(kind)
            };
            if job.rank() == 1 {
                thread::sleep(delay);
            }
            let start = Instant::now();
            let mut barrier = loop {
                match JobBarrier::open(job.clone(), &options) {
                    Ok(barrier) => break barrier,
                    Err(
                        OpenError::Late { .. } | OpenError::TooLate { .. } | OpenError::Gone { .. },
                    ) if start.elapsed() < Duration::from_secs(60) => {}
                    Err(error) => panic!("{kind}: rank {}: {error}", job.rank()),
                }
            };
            barrier.pass(0, WAIT_TIMEOUT).unwrap();
        });
    }
}

/// Two barriers with the same number would take each other's packets.
#[test]
fn a_number_in_use_is_refused() {
    for kind in KINDS {
        ranks(2, |job| {
            let one = JobBarrier::open(job.clone(), &options(kind)).unwrap();
            let again = JobBarrier::open(job.clone(), &options(kind));
            assert!(
                matches!(again, Err(OpenError::InUse { number: 0 })),
                "{kind}"
            );
            drop(one);
            // The messages of the closed barrier could still arrive.
            let again = JobBarrier::open(job.clone(), &options(kind));
            assert!(
                matches!(again, Err(OpenError::Used { number: 0 })),
                "{kind}"
            );
        });
    }
}

/// The messages that are sent when barriers are closed do not stay in the links. The test closes so
/// many barriers that these messages would fill a link.
#[test]
fn many_barriers_one_after_the_other() {
    ranks(2, |job| {
        for number in 0..400 {
            let kind = [Kind::Star, Kind::Udp][usize::from(number % 10 == 0)];
            let options = Options {
                number,
                ..options(kind)
            };
            let mut barrier = JobBarrier::open(job.clone(), &options).unwrap();
            assert_eq!(barrier.pass(1 << job.rank(), WAIT_TIMEOUT), Ok(3));
        }
    });
}

/// Many links are made at the same time, some of them from both ends.
#[test]
fn many_members() {
    for kind in [Kind::Dissemination, Kind::Tree(2)] {
        ranks(48, |job| {
            let bit = 1 << job.rank();
            let mut barrier = JobBarrier::open(job, &options(kind)).unwrap();
            for epoch in 0..5 {
                let passed = barrier.pass(bit, WAIT_TIMEOUT);
                assert_eq!(passed, Ok((1 << 48) - 1), "{kind}, epoch {epoch}");
            }
        });
    }
}

#[test]
fn impossible_groups_are_refused() {
    ranks(1, |job| {
        let open = |options: &Options| JobBarrier::open(job.clone(), options).unwrap_err();
        let ranks = Some(vec![0, 4]);
        let error = open(&Options {
            ranks,
            ..Options::default()
        });
        assert!(matches!(error, OpenError::Rank { rank: 4, size: 1 }));
        for (interface, words) in [
            (None, "needs to know its lines"),
            (Some("eth0"), "names no lines"),
            (Some("gpiochip987:1,2,3"), "no lines"),
        ] {
            let interface = interface.map(str::to_owned);
            let error = open(&Options {
                interface,
                ..options(Kind::Wired)
            });
            assert!(error.to_string().contains(words), "{error}");
        }
        let interface = Some("lo".to_owned());
        let error = open(&Options {
            interface,
            ..options(Kind::Star)
        });
        assert!(matches!(error, OpenError::NoInterface { kind: Kind::Star }));
        let interface = Some("nothing0".to_owned());
        let error = open(&Options {
            interface,
            ..options(Kind::Udp)
        });
        let text = error.to_string();
        assert!(text.contains("nothing0") && text.contains("lo"), "{text}");
    });
}
