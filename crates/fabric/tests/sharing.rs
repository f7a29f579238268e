//! What many links have of one receiver, and of the processor.

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mgn_fabric::endpoint::{Endpoint, How, LinkId, Request, Wanted};
use mgn_fabric::Transport;
use support::links::*;
use support::Folder;

/// One test's threads are not to be counted as the other's.
static ALONE: Mutex<()> = Mutex::new(());

/// An endpoint, and others with a link each to it.
fn star(kind: &Kind, count: usize) -> (Endpoint, Vec<(Endpoint, LinkId)>, Folder) {
    let (listener, folder) = kind.listen();
    let center = Endpoint::new().unwrap();
    let others = thread::scope(|scope| {
        scope.spawn(|| (0..count).for_each(|_| _ = accept(&center, &listener)));
        let one = |_| {
            let endpoint = Endpoint::new().unwrap();
            let link = connect(&endpoint, &listener, kind, b"");
            (endpoint, link)
        };
        (0..count).map(one).collect()
    });
    (center, others, folder)
}

/// Processor time of this process, in seconds.
fn used() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

#[test]
fn who_waits_for_nothing_takes_no_time() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for kind in ALL {
        let (center, others, _folder) = star(&kind, 16);
        let waiting = |endpoint: &Endpoint| {
            let found = endpoint.take(&Wanted::any(), Some(Duration::from_secs(2)));
            assert!(found.unwrap().is_none());
        };
        thread::scope(|scope| {
            scope.spawn(|| waiting(&center));
            for (endpoint, _) in &others {
                scope.spawn(move || waiting(endpoint));
            }
            thread::sleep(Duration::from_millis(700));
            let before = used();
            thread::sleep(Duration::from_secs(1));
            let share = used() - before;
            assert!(share < 0.05, "{kind}: {share} of a processor");
        });
    }
}

/// All have something all the time, and each goes on.
#[test]
fn no_link_starves_for_others() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    const LINKS: usize = 6;
    for kind in ALL {
        for len in [8, 65_536] {
            let (center, others, _folder) = star(&kind, LINKS);
            let is_over = AtomicBool::new(false);
            let mut counts = [0; LINKS];
            thread::scope(|scope| {
                for (number, (endpoint, link)) in others.iter().enumerate() {
                    let is_over = &is_over;
                    scope.spawn(move || {
                        let bytes = vec![0; len];
                        while !is_over.load(Ordering::Relaxed) {
                            let sent = endpoint.send(*link, number as u64, &bytes, How::default());
                            if sent.is_err() {
                                return;
                            }
                        }
                    });
                }
                // From when on all senders run.
                let mut end = None;
                while end.is_none_or(|end| Instant::now() < end) {
                    let taken = center.take(&Wanted::any(), LONG).unwrap().unwrap();
                    counts[taken.status.tag as usize] += 1;
                    if end.is_none() && counts.iter().all(|count| *count > 0) {
                        counts.fill(0);
                        end = Some(Instant::now() + Duration::from_secs(1));
                    }
                }
                is_over.store(true, Ordering::Relaxed);
                drop(center);
            });
            assert!(
                counts.iter().all(|count| *count > 0),
                "{kind}, {len} bytes: {counts:?}"
            );
        }
    }
}

/// More links than are looked at all the time, of senders that fill them all.
#[test]
fn links_have_the_same_whether_or_not_they_are_looked_at_first() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    const SENDERS: usize = 5;
    const EACH: usize = 20;
    const MESSAGES: usize = 1000 * SENDERS * EACH;
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
        let mut counts = [0; SENDERS * EACH];
        thread::scope(|scope| {
            for (number, (endpoint, links)) in senders.iter().enumerate() {
                scope.spawn(move || fill(endpoint, links, number * EACH));
            }
            for _ in 0..MESSAGES {
                let taken = center.take(&Wanted::any(), LONG).unwrap().unwrap();
                counts[taken.status.tag as usize] += 1;
            }
            drop(center);
        });
        // Who sends how much by a socket is decided by the kernel, too.
        let times = match kind.transport {
            Transport::Shm => 2,
            _ => 4,
        };
        let (least, most) = (counts.iter().min(), counts.iter().max());
        assert!(
            least.unwrap() * times > *most.unwrap(),
            "{kind}: {counts:?}"
        );
    }
}

/// Sends on all links as much as goes, until the other end has gone. Messages have their link's number, from `first` on.
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
            // SAFETY: the bytes are there for ever, and nobody writes to them.
            let sent = unsafe { endpoint.isend(*link, tag, &[piece], How::default()) };
            match sent {
                Ok(request) => begun[at] = request,
                Err(_) => return,
            }
        }
    }
}
