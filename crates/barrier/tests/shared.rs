//! Tests of barriers in shared memory. Threads take the place of processes, and each thread maps
//! the memory itself.

use std::sync::Barrier;
use std::time::Duration;

use mgn_barrier::{Combine, Ended, Id, Lost, Misuse, Shared, SharedError, WaitError};

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
