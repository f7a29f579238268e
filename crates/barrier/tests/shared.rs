//! Tests of barriers in shared memory. Threads take the place of processes, and each thread maps
//! the memory itself.

use std::collections::BTreeMap;
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

use mgn_barrier::{Combine, Ended, Id, Lost, Misuse, Shared, SharedError, WaitError};
use mgn_fuzzing::Random;

const WAIT_TIMEOUT: Option<Duration> = Some(Duration::from_secs(60));

fn group(count: usize, combine: Combine) -> Vec<Shared> {
    let fd = Shared::create(count).unwrap();
    let ids = (0..count as u32).map(Id);
    ids.map(|me| Shared::new(&fd, me, count, combine).unwrap())
        .collect()
}

#[test]
fn nobody_is_early_and_all_get_what_became_of_the_numbers() {
    for count in [1, 2, 3, 9, 64] {
        let counts: Vec<_> = (0..count)
            .map(|_| std::sync::atomic::AtomicU64::new(0))
            .collect();
        std::thread::scope(|scope| {
            for (me, mut member) in group(count, Combine::Max).into_iter().enumerate() {
                let counts = &counts;
                scope.spawn(move || {
                    for epoch in 0..200 {
                        counts[me].store(epoch + 1, std::sync::atomic::Ordering::Relaxed);
                        let value = epoch * 100 + me as u64;
                        // A member may arrive and wait in one call or in two.
                        let passed = if (epoch + me as u64) % 3 == 0 {
                            assert_eq!(member.arrive(value), Ok(epoch));
                            member.wait(WAIT_TIMEOUT)
                        } else {
                            member.pass(value, WAIT_TIMEOUT)
                        };
                        assert_eq!(passed, Ok(epoch * 100 + count as u64 - 1));
                        let order = std::sync::atomic::Ordering::Relaxed;
                        assert!(counts.iter().all(|count| count.load(order) > epoch));
                    }
                });
            }
        });
    }
}

#[test]
fn sleepers_hear_of_a_lost_member_and_go_on_without_it() {
    let mut members = group(4, Combine::Any);
    let mut dead = members.remove(2);
    dead.arrive(4).unwrap();
    let reporter = dead.reporter();
    let met = Barrier::new(4);
    std::thread::scope(|scope| {
        for (me, mut member) in [0, 1, 3].into_iter().zip(members) {
            let met = &met;
            scope.spawn(move || {
                member.arrive(1 << me).unwrap();
                assert_eq!(member.wait(WAIT_TIMEOUT), Ok(15));
                member.arrive(0).unwrap();
                met.wait();
                let (epoch, members) = (1, vec![Id(2)]);
                let lost = WaitError::Lost(Lost { epoch, members });
                assert_eq!(member.wait(WAIT_TIMEOUT), Err(lost));
                for epoch in 2..100 {
                    let value = match epoch % 2 {
                        0 => member.pass(1 << me, WAIT_TIMEOUT),
                        _ => member
                            .arrive(1 << me)
                            .map(|_| member.wait(WAIT_TIMEOUT))
                            .unwrap(),
                    };
                    assert_eq!(value, Ok(11));
                }
            });
        }
        met.wait();
        // After this time, the other members probably sleep.
        std::thread::sleep(Duration::from_millis(20));
        reporter.lost(Id(2));
        reporter.lost(Id(70));
    });
    assert_eq!(dead.wait(WAIT_TIMEOUT), Err(Ended::Excluded.into()));
    assert_eq!(dead.arrive(0), Err(Ended::Excluded.into()));
}

/// An epoch at which a dead member has arrived passes, and only the next one fails.
#[test]
fn survivors_agree_whenever_they_look() {
    let mut members = group(3, Combine::Any);
    let values = [1, 2, 4];
    for (member, value) in members.iter_mut().zip(values) {
        member.arrive(value).unwrap();
    }
    members[0].reporter().lost(Id(2));
    assert_eq!(members[0].wait(None), Ok(7));
    members[0].arrive(8).unwrap();
    let (epoch, lost) = (1, vec![Id(2)]);
    let failed = WaitError::Lost(Lost {
        epoch,
        members: lost,
    });
    assert_eq!(members[0].wait(None), Err(failed.clone()));
    // This member is two epochs ahead, and overwrites its first number.
    members[0].arrive(64).unwrap();
    assert_eq!(members[1].wait(None), Ok(7));
    members[1].arrive(0).unwrap();
    assert_eq!(members[1].wait(None), Err(failed));
    assert_eq!(members[1].pass(32, None), Ok(96));
    assert_eq!(members[0].wait(None), Ok(96));
}

#[test]
fn one_that_leaves_is_waited_for_no_more_and_its_last_number_counts() {
    let mut members = group(2, Combine::Any);
    members[0].arrive(1).unwrap();
    members[1].arrive(2).unwrap();
    assert_eq!(members[1].leave(), Err(Misuse::Arrived { epoch: 0 }));
    assert_eq!(members[1].wait(None), Ok(3));
    members[1].leave().unwrap();
    assert_eq!(members[1].arrive(0), Err(Ended::Left.into()));
    assert_eq!(members[0].wait(None), Ok(3));
    for _ in 0..3 {
        members[0].arrive(1).unwrap();
        assert_eq!(members[0].wait(None), Ok(1));
        assert_eq!(members[0].pass(2, None), Ok(2));
    }
}

/// A timeout names only missing members, even if members with higher numbers have arrived or left.
#[test]
fn only_members_that_are_missing_are_named() {
    let mut members = group(4, Combine::Any);
    members[3].leave().unwrap();
    members[0].arrive(0).unwrap();
    members[2].arrive(0).unwrap();
    let missing = vec![Id(1)];
    let late = members[0].wait(Some(Duration::from_millis(5)));
    assert_eq!(late, Err(WaitError::TimedOut { missing }));
}

#[test]
fn mistakes_are_told() {
    let mut members = group(2, Combine::Any);
    assert_eq!(members[0].wait(None), Err(WaitError::NotArrived));
    members[0].arrive(0).unwrap();
    assert_eq!(members[0].arrive(0), Err(Misuse::Twice { epoch: 0 }));
    let missing = vec![Id(1)];
    let late = members[0].wait(Some(Duration::from_millis(5)));
    assert_eq!(late, Err(WaitError::TimedOut { missing }));
    assert!(matches!(Shared::create(0), Err(SharedError::Count(0))));
    assert!(matches!(Shared::create(65), Err(SharedError::Count(65))));
    let fd = Shared::create(3).unwrap();
    let wrong = |me, count| Shared::new(&fd, Id(me), count, Combine::Any).unwrap_err();
    assert!(matches!(wrong(3, 3), SharedError::Member { .. }));
    assert!(matches!(wrong(0, 2), SharedError::Other));
    assert!(matches!(wrong(0, 9), SharedError::System(_)));
    let _first = Shared::new(&fd, Id(1), 3, Combine::Max).unwrap();
    let again = Shared::new(&fd, Id(1), 3, Combine::Max).unwrap_err();
    assert!(matches!(again, SharedError::Taken(Id(1))));
    assert!(matches!(wrong(0, 3), SharedError::Combine));
}

/// How a member's barriers end.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Survives,
    /// Leaves in place of its arrival at this epoch.
    Leaves(u64),
    /// Dies at this epoch: before its arrival, or after it.
    Dies(u64, bool),
}

fn work(random: &mut Random) {
    match random.below(64) {
        0 => thread::sleep(Duration::from_micros(random.below(300) as u64)),
        1..16 => thread::yield_now(),
        16..24 => (0..random.below(2000)).for_each(|_| std::hint::spin_loop()),
        _ => {}
    }
}

/// Members work for random times, die and leave. Nobody passes early, all agree on each epoch, and
/// each loss lets one epoch fail. `MGN_BARRIERS` is the minimum number of barriers that are passed.
#[test]
fn members_that_die_and_leave_at_random() {
    const EPOCHS: u64 = 40;
    let set = std::env::var("MGN_BARRIERS").ok();
    let wanted = set.map_or(2_000, |set| set.parse().expect("a number"));
    let (mut passed, mut failed) = (0, 0);
    let mut seeds = 0..;
    while passed < wanted {
        let seed = seeds.next().unwrap();
        let mut random = Random::new(seed);
        let count = 2 + random.below(7);
        let fates: Vec<Fate> = (0..count)
            .map(|me| match random.below(3) {
                1 if me > 0 => Fate::Leaves(random.below(20) as u64),
                2 if me > 0 => Fate::Dies(random.below(20) as u64, random.below(2) == 0),
                _ => Fate::Survives,
            })
            .collect();
        let outcomes = Mutex::new(BTreeMap::new());
        let members = group(count, Combine::Any);
        // Member 0 survives.
        let reporter = members[0].reporter();
        thread::scope(|scope| {
            for (me, mut member) in members.into_iter().enumerate() {
                let (fate, reporter, outcomes) = (fates[me], &reporter, &outcomes);
                let mut random = Random::new(seed << 8 | me as u64);
                scope.spawn(move || {
                    for epoch in 0..EPOCHS {
                        work(&mut random);
                        match fate {
                            Fate::Leaves(at) if at == epoch => return member.leave().unwrap(),
                            Fate::Dies(at, has_arrived) if at == epoch => {
                                if has_arrived {
                                    member.arrive(1 << me).unwrap();
                                }
                                drop(member);
                                work(&mut random);
                                return reporter.lost(Id(me as u32));
                            }
                            _ => {}
                        }
                        assert_eq!(member.arrive(1 << me), Ok(epoch), "seed {seed}");
                        work(&mut random);
                        let outcome = match member.wait(WAIT_TIMEOUT) {
                            Ok(value) => Ok(value),
                            Err(WaitError::Lost(lost)) if lost.epoch == epoch => Err(lost.members),
                            other => panic!("seed {seed}: member {me} got {other:?}"),
                        };
                        let mut outcomes = outcomes.lock().unwrap();
                        let known = outcomes.entry(epoch).or_insert_with(|| outcome.clone());
                        assert_eq!(*known, outcome, "seed {seed}: epoch {epoch}");
                    }
                });
            }
        });
        let outcomes = outcomes.into_inner().unwrap();
        assert_eq!(outcomes.len() as u64, EPOCHS);
        let mut lost = Vec::new();
        for (epoch, outcome) in outcomes {
            match outcome {
                Ok(value) => {
                    passed += 1;
                    for (me, fate) in fates.iter().enumerate() {
                        let has_arrived = value >> me & 1 == 1;
                        let must = match *fate {
                            Fate::Survives => true,
                            Fate::Leaves(at) => epoch < at,
                            // The epoch may also have failed because of another member.
                            Fate::Dies(at, true) => epoch <= at,
                            Fate::Dies(at, false) => epoch < at,
                        };
                        assert_eq!(has_arrived, must, "seed {seed}: {epoch}, {me}: {fate:?}");
                    }
                }
                Err(members) => {
                    failed += 1;
                    lost.extend(members);
                }
            }
        }
        lost.sort_unstable();
        let dead = fates.iter().zip(0..);
        let dead = dead.filter(|(fate, _)| matches!(fate, Fate::Dies(..)));
        assert_eq!(lost, dead.map(|(_, me)| Id(me)).collect::<Vec<_>>());
    }
    assert!(failed > passed / 40, "{passed} {failed}");
}
