//! Messages that their senders write straight to where receives wait for them, among others that come another way.

mod support;

use std::collections::VecDeque;
use std::thread;
use std::time::{Duration, Instant};

use mgn_fabric::endpoint::{Endpoint, How, LinkId, Request, Settings, Wanted, NEVER};
use mgn_fabric::Error;
use support::links::*;
use support::other::{ready, told, Apart, Other, Part};

const FROM: usize = 4096;
const ROOM: usize = 300_000;

fn settings() -> Settings {
    Settings {
        berth_shm: FROM,
        ..Settings::default()
    }
}

fn berths() -> ((Endpoint, LinkId), (Endpoint, LinkId)) {
    pair(&SHM, settings(), settings())
}

/// Begins to receive.
fn irecv(endpoint: &Endpoint, wanted: Wanted, into: &mut [u8]) -> Request {
    // SAFETY: the tests wait for it, or end the endpoint, before they drop the memory.
    unsafe { endpoint.irecv(wanted, &[(into.as_mut_ptr(), into.len())]) }
}

#[test]
fn what_is_waited_for_is_there_when_the_send_returns() {
    let ((one, here), (other, there)) = berths();
    for (at, len) in [FROM, 50_000, 1 << 20].into_iter().enumerate() {
        let mut into = vec![0; len + 1];
        let receive = irecv(&other, Wanted::new(there, 1), &mut into);
        let mut bytes = pattern(len, at);
        let how = How {
            sync: at == 1,
            ..How::default()
        };
        // SAFETY: it has ended when this returns.
        let send = unsafe { one.isend(here, 1, &[(bytes.as_mut_ptr(), len)], how) };
        assert_eq!(send.unwrap(), None, "{len}");
        let status = other.test(receive).unwrap().expect("it is there");
        assert_eq!((status.link, status.tag, status.len), (there, 1, len));
        assert!(into[..len] == bytes && into[len] == 0);
        assert_eq!(other.single_copies(there), at as u64 + 1);
    }
}

#[test]
fn what_does_not_fit_goes_another_way() {
    let ((one, here), (other, there)) = berths();
    let mut into = vec![0; 10_000];
    let send = |tag, len| one.send(here, tag, &pattern(len, 1), How::default());
    let mut receive = |wanted| irecv(&other, wanted, &mut into);
    let waits = receive(Wanted::new(there, 7));
    send(8, 9000).unwrap();
    send(7, 100).unwrap();
    assert_eq!(other.wait(waits, LONG).unwrap().unwrap().len, 100);
    // The other one lies there, and is in nobody's way.
    let waits = receive(Wanted::new(there, 7));
    thread::scope(|scope| {
        scope.spawn(|| send(7, 10_001).unwrap());
        let error = other.wait(waits, LONG).unwrap_err();
        assert!(matches!(
            error,
            Error::Truncated {
                len: 10_001,
                room: 10_000
            }
        ));
    });
    // Whoever takes from anybody was first.
    let anybody = receive(Wanted::any());
    assert_eq!(other.wait(anybody, LONG).unwrap().unwrap().tag, 8);
    let anybody = receive(Wanted {
        tag: 7,
        ignore: 0,
        ..Wanted::any()
    });
    let second = receive(Wanted::new(there, 7));
    send(7, 5000).unwrap();
    assert_eq!(other.wait(anybody, LONG).unwrap().unwrap().len, 5000);
    assert_eq!(other.single_copies(there), 0);
    assert!(other.cancel(second).unwrap());
    assert!(matches!(other.wait(second, LONG), Err(Error::Cancelled)));
    send(7, 6000).unwrap();
    let third = receive(Wanted::new(there, 7));
    assert_eq!(other.wait(third, LONG).unwrap().unwrap().len, 6000);
}

#[test]
fn who_sleeps_is_woken() {
    let ((one, here), (other, there)) = berths();
    for threads in [1, 2] {
        thread::scope(|scope| {
            for _ in 1..threads {
                // Sleeps at the sockets, for something else.
                scope.spawn(|| {
                    other
                        .recv(Wanted::new(there, 9), &mut [0; 100_000])
                        .unwrap()
                });
                thread::sleep(Duration::from_millis(100));
            }
            let waits = scope.spawn(|| {
                let mut into = vec![0; 20_000];
                let tag = Wanted::new(there, 1);
                other.recv(tag, &mut into).unwrap();
                (into, Instant::now())
            });
            thread::sleep(Duration::from_millis(200));
            let begin = Instant::now();
            one.send(here, 1, &pattern(20_000, 5), How::default())
                .unwrap();
            let (into, end) = waits.join().unwrap();
            assert!(into == pattern(20_000, 5));
            // Naps are longer: it was told, and did not find it by chance.
            assert!(
                end - begin < Duration::from_millis(400),
                "{:?}",
                end - begin
            );
            for _ in 1..threads {
                one.send(here, 9, &[1], How::default()).unwrap();
            }
        });
    }
}

/// A number that follows from another one, as if by chance.
fn next(chance: &mut u64) -> usize {
    *chance = chance
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*chance >> 33) as usize
}

const TAGS: usize = 3;
const MESSAGES: usize = 3000;

fn send_many(endpoint: &Endpoint, link: LinkId, mut chance: u64) {
    let mut sent = [0u32; TAGS];
    for _ in 0..MESSAGES {
        let tag = next(&mut chance) % TAGS;
        let len = match next(&mut chance) % 4 {
            0 => 8,
            1 => FROM - 1 + next(&mut chance) % 3,
            2 => next(&mut chance) % 40_000 + 8,
            _ => next(&mut chance) % (ROOM - 8) + 8,
        };
        let mut bytes = pattern(len, tag);
        bytes[..4].copy_from_slice(&sent[tag].to_le_bytes());
        bytes[4..8].copy_from_slice(&(len as u32).to_le_bytes());
        sent[tag] += 1;
        let how = How {
            sync: next(&mut chance) % 5 == 0,
            ..How::default()
        };
        endpoint.send(link, tag as u64, &bytes, how).unwrap();
        if next(&mut chance) % 16 == 0 {
            thread::sleep(Duration::from_micros(next(&mut chance) as u64 % 200));
        }
    }
}

/// A message as it was received.
struct Got {
    /// Its place among the receives that were begun.
    begun: usize,
    tag: usize,
    number: u32,
    is_whole: bool,
}

/// Receives them, by receives for one tag, some, or from anybody, of which several wait at once and some are given up. Gives how many came in one copy.
fn receive_many(endpoint: &Endpoint, link: LinkId, mut chance: u64) -> (Vec<Got>, u64) {
    let mut waiting: VecDeque<(usize, Request, Vec<u8>)> = VecDeque::new();
    let mut all = Vec::new();
    let mut begun = 0;
    while all.len() < MESSAGES {
        let left = MESSAGES - all.len();
        if waiting.len() < left.min(1 + next(&mut chance) % 6) {
            // At the end those that wait for one tag would wait for ever.
            let is_picky = left > 100 && next(&mut chance) % 2 == 0;
            let wanted = Wanted {
                from: (next(&mut chance) % 8 > 0).then_some(link),
                tag: (next(&mut chance) % TAGS) as u64,
                ignore: if is_picky { 0 } else { u64::MAX },
            };
            let mut into = vec![0; ROOM];
            let receive = irecv(endpoint, wanted, &mut into);
            waiting.push_back((begun, receive, into));
            begun += 1;
        }
        let at = next(&mut chance) % waiting.len();
        let is_given_up = next(&mut chance) % 8 == 0 || left < 100;
        if is_given_up && endpoint.cancel(waiting[at].1).unwrap() {
            let (_, given_up, _) = waiting.remove(at).unwrap();
            assert!(matches!(
                endpoint.wait(given_up, LONG),
                Err(Error::Cancelled)
            ));
        }
        waiting.retain(|(begun, receive, bytes)| {
            let Some(status) = endpoint.test(*receive).unwrap() else {
                return true;
            };
            let (tag, len) = (status.tag as usize, status.len);
            let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            let is_right = bytes[8..len] == pattern(len, tag)[8..];
            all.push(Got {
                begun: *begun,
                tag,
                number: word(0),
                is_whole: is_right
                    && word(4) == len as u32
                    && bytes[len..].iter().all(|byte| *byte == 0),
            });
            false
        });
        if next(&mut chance) % 8 == 0 {
            thread::sleep(Duration::from_micros(next(&mut chance) as u64 % 100));
        }
    }
    for (_, receive, _) in &waiting {
        assert!(endpoint.cancel(*receive).unwrap());
    }
    all.sort_by_key(|got| got.begun);
    (all, endpoint.single_copies(link))
}

#[test]
fn messages_of_one_tag_keep_their_order_whichever_way_they_come() {
    for single_copy_shm in [50_000, NEVER] {
        let settings = Settings {
            single_copy_shm,
            ..settings()
        };
        let ((one, here), (other, there)) = pair(&SHM, settings.clone(), settings);
        let both = thread::scope(|scope| {
            scope.spawn(|| send_many(&one, here, 1));
            scope.spawn(|| send_many(&other, there, 2));
            let here = scope.spawn(|| receive_many(&one, here, 3));
            [receive_many(&other, there, 4), here.join().unwrap()]
        });
        for (all, in_one_copy) in both {
            assert!(in_one_copy > 100, "{in_one_copy}");
            let mut numbers = [0; TAGS];
            for got in all {
                assert!(got.is_whole, "{} of tag {}", got.number, got.tag);
                assert_eq!(got.number, numbers[got.tag], "tag {}", got.tag);
                numbers[got.tag] += 1;
            }
        }
    }
}

/// Not a test: a process that receives, and lets nobody look at its memory, or does.
#[test]
fn child() {
    let Some(part) = Part::mine() else { return };
    // SAFETY: plain system calls. Who changes its user is not dumpable until it says so.
    unsafe {
        if libc::geteuid() == 0 {
            assert_eq!(libc::setuid(65534), 0);
        }
        let dumpable = i32::from(part.role != "secretive");
        assert_eq!(libc::prctl(libc::PR_SET_DUMPABLE, dumpable, 0, 0, 0), 0);
    }
    let endpoint = Endpoint::with(settings()).unwrap();
    if part.role == "sender" {
        let listener = part.listen();
        ready("");
        let link = accept(&endpoint, &listener);
        for seed in 0..3 {
            told();
            endpoint
                .send(link, 1, &pattern(30_000, seed), How::default())
                .unwrap();
        }
        told();
        return;
    }
    let (address, transport) = (&part.address, &part.kind.transport);
    let link = endpoint
        .connect(address, transport, None, b"", PATIENCE)
        .unwrap();
    for seed in 0..3 {
        let mut into = vec![0; 30_000];
        let receive = irecv(&endpoint, Wanted::new(link, 1), &mut into);
        ready("");
        endpoint.wait(receive, LONG).unwrap().unwrap();
        assert!(into == pattern(30_000, seed));
    }
    ready(&endpoint.single_copies(link).to_string());
}

#[test]
fn where_it_is_forbidden_messages_go_another_way() {
    for (receiver, written) in [("open", "3"), ("secretive", "0")] {
        let name = format!("unix:@mgn-berths-{}-{receiver}", std::process::id());
        let address = name.parse().unwrap();
        let start = |role| Other::spawn(role, &SHM, &address, Apart::default());
        let mut sender = start("sender");
        sender.news().expect("it listens");
        let mut receiver = start(receiver);
        for _ in 0..3 {
            receiver.news().expect("it waits for a message");
            sender.tell("");
        }
        assert_eq!(receiver.news().unwrap(), written);
        sender.tell("");
        for other in [&mut receiver, &mut sender] {
            assert!(other.child.wait().unwrap().success());
        }
    }
}
