//! Tests that many links share one receiver fairly, and use no processor time while they are idle.
//! The exact shares depend on the machine and its other load. `mgn bench crowd` measures them.

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mgn_fabric::endpoint::{Endpoint, LinkId, Request, SendOptions, Settings, Wanted};
use support::links::*;
use support::Folder;

/// The tests measure processor time, so only one may run at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// An endpoint (the center), and other endpoints that each have a link to it.
fn star(kind: &Kind, count: usize) -> (Endpoint, Vec<(Endpoint, LinkId)>, Folder) {
    let (center, others, _, folder) = star_with(kind, count, Settings::default());
    (center, others, folder)
}

/// Does the same as `star`, with these settings in the center. Also returns the center's links.
fn star_with(
    kind: &Kind,
    count: usize,
    settings: Settings,
) -> (Endpoint, Vec<(Endpoint, LinkId)>, Vec<LinkId>, Folder) {
    let (listener, folder) = kind.listen();
    let center = Endpoint::with(settings).unwrap();
    let (others, links) = thread::scope(|scope| {
        let accepted = scope.spawn(|| {
            (0..count)
                .map(|_| accept(&center, &listener))
                .collect::<Vec<_>>()
        });
        let one = |_| {
            let endpoint = Endpoint::new().unwrap();
            let link = connect(&endpoint, &listener, kind, b"");
            (endpoint, link)
        };
        let others = (0..count).map(one).collect();
        (others, accepted.join().unwrap())
    });
    (center, others, links, folder)
}

/// The processor time that this process has used, in seconds.
fn used() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Far longer than any of the tests takes, so that only a test that hangs fails.
const FOR_EVER: Duration = Duration::from_secs(120);

/// A program never waits: it takes messages that have arrived, and polls for others. Each sender is
/// still told that there is space again. There are more links than hot links, which are polled all
/// the time.
#[test]
fn senders_get_room_from_a_program_that_only_polls() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    const MESSAGES: u64 = 30;
    let few = Settings {
        envelopes: 8,
        ..Settings::default()
    };
    for kind in ALL {
        let (center, others, links, _folder) = star_with(&kind, 40, few.clone());
        thread::scope(|scope| {
            for (endpoint, link) in &others {
                scope.spawn(move || {
                    for tag in 0..MESSAGES {
                        let how = SendOptions::default();
                        endpoint.send(*link, tag, &tag.to_ne_bytes(), how).unwrap();
                    }
                    assert!(endpoint.flush(LONG));
                });
            }
            for link in &links {
                let first = center.peek(&Wanted::new(*link, 0), LONG);
                first.unwrap().expect("each peer sends");
            }
            let start = Instant::now();
            for tag in 0..MESSAGES {
                for link in &links {
                    let mut into = [0; 8];
                    let place = [(into.as_mut_ptr(), into.len())];
                    // SAFETY: the memory stays until the operation has ended.
                    let request = unsafe { center.irecv(Wanted::new(*link, tag), &place) };
                    while center.test(request).unwrap().is_none() {
                        assert!(start.elapsed() < FOR_EVER, "{kind}: no message {tag}");
                    }
                    assert_eq!(u64::from_ne_bytes(into), tag);
                }
            }
        });
    }
}

/// After some time, all threads sleep.
#[test]
fn who_waits_for_nothing_takes_no_time() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for kind in ALL {
        let (center, others, _folder) = star(&kind, 16);
        let is_over = AtomicBool::new(false);
        let waiting = |endpoint: &Endpoint| {
            while !is_over.load(Ordering::Relaxed) {
                let found = endpoint.take(&Wanted::any(), Some(Duration::from_secs(2)));
                assert!(found.unwrap().is_none());
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| waiting(&center));
            for (endpoint, _) in &others {
                scope.spawn(move || waiting(endpoint));
            }
            let start = Instant::now();
            let mut spent = f64::INFINITY;
            // Measure this process's processor time, which does not depend on other load.
            while spent > 0.05 && start.elapsed() < FOR_EVER {
                let before = used();
                thread::sleep(Duration::from_secs(1));
                spent = used() - before;
            }
            is_over.store(true, Ordering::Relaxed);
            assert!(spent <= 0.05, "{kind}: {spent} s while nothing happens");
        });
    }
}

/// All links have messages all the time, and each makes progress.
#[test]
fn no_link_starves_for_others() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    const LINKS: usize = 6;
    for kind in ALL {
        for len in [8, 65_536] {
            let (center, others, _folder) = star(&kind, LINKS);
            thread::scope(|scope| {
                for (number, (endpoint, link)) in others.iter().enumerate() {
                    scope.spawn(move || {
                        let bytes = vec![0; len];
                        // Send until the other end is gone.
                        while endpoint
                            .send(*link, number as u64, &bytes, SendOptions::default())
                            .is_ok()
                        {}
                    });
                }
                hear_all(center, LINKS, &format!("{kind}, {len} bytes"));
            });
        }
    }
}

/// There are more links than can be hot, and their senders fill all of them.
#[test]
fn links_that_are_not_looked_at_first_go_on_too() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    const SENDERS: usize = 5;
    const EACH: usize = 20;
    for kind in ALL {
        let (listener, _folder) = kind.listen();
        let center = Endpoint::new().unwrap();
        let senders: Vec<(Endpoint, Vec<LinkId>)> = thread::scope(|scope| {
            scope.spawn(|| (0..SENDERS * EACH).for_each(|_| _ = accept(&center, &listener)));
            let sender = |_| {
                let endpoint = Endpoint::new().unwrap();
                let connect = |_| connect(&endpoint, &listener, &kind, b"");
                let links = (0..EACH).map(connect).collect();
                (endpoint, links)
            };
            (0..SENDERS).map(sender).collect()
        });
        thread::scope(|scope| {
            for (number, (endpoint, links)) in senders.iter().enumerate() {
                scope.spawn(move || fill(endpoint, links, number * EACH));
            }
            hear_all(center, SENDERS * EACH, &kind.to_string());
        });
    }
}

/// Receives until every link has delivered several messages while all links had messages, and then
/// closes all links. A message's tag is the number of its link.
fn hear_all(center: Endpoint, links: usize, what: &str) {
    const TIMES: usize = 50;
    let start = Instant::now();
    let mut counts = vec![0; links];
    while counts.iter().any(|count| *count < TIMES) {
        let taken = center.take(&Wanted::any(), LONG).unwrap().unwrap();
        counts[taken.status.tag as usize] += 1;
        if start.elapsed() > FOR_EVER {
            drop(center);
            panic!("{what}: {counts:?}");
        }
    }
}

/// Sends as much as possible on all links, until the other end is gone. A message's tag is the
/// number of its link, counted from `first`.
fn fill(endpoint: &Endpoint, links: &[LinkId], first: usize) {
    static BYTES: [u8; 100] = [0; 100];
    let piece = (BYTES.as_ptr().cast_mut(), BYTES.len());
    let mut begun: Vec<Option<Request>> = vec![None; links.len()];
    loop {
        for (at, link) in links.iter().enumerate() {
            if let Some(request) = begun[at] {
                match endpoint.wait(request, Some(Duration::ZERO)) {
                    Ok(Some(_)) => {}
                    Ok(None) => continue,
                    Err(_) => return,
                }
            }
            let tag = (first + at) as u64;
            // SAFETY: the bytes are static, and are never written to.
            let sent = unsafe { endpoint.isend(*link, tag, &[piece], SendOptions::default()) };
            match sent {
                Ok(request) => begun[at] = request,
                Err(_) => return,
            }
        }
    }
}
