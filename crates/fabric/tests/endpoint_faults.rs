//! Tests of endpoints in several real processes. One process is killed, is stopped, loses its
//! network, forks, runs out of descriptors or memory, or belongs to another user. The other process
//! is this test program again, which runs [`child`] in a role.

mod support;

use std::os::fd::AsRawFd;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mgn_fabric::endpoint::{Endpoint, Joined, LinkId, SendOptions, Settings, Wanted};
use mgn_fabric::{Address, Error};
use support::links::{accept, ALL};
use support::networks;
use support::other::{ready, told, Apart, Other, Part};
use support::*;

const SYNC: SendOptions = SendOptions {
    sync: true,
    unordered: false,
};

/// The time for which a TCP peer's machine may be silent.
const SILENCE: Duration = Duration::from_secs(2);

fn impatient() -> Settings {
    Settings {
        silence_ms: SILENCE.as_millis() as usize,
        ..Settings::default()
    }
}

/// The length of a reserved message.
const LONG: usize = 1 << 20;

/// A message that takes at least ten seconds to send: `TIMES` pieces of `PIECE` bytes. On a slow
/// machine, the sends that the test begins after it take several seconds.
const TIMES: usize = 4096;
const PIECE: usize = 64 << 20;

/// These tests count descriptors and mappings, so only one may run at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn join(endpoint: &Endpoint, kind: &Kind, address: &Address) -> Result<LinkId, Error> {
    let token = kind.token();
    endpoint.connect(address, &kind.transport, token.as_ref(), b"", TIMEOUT)
}

/// An address for a role that needs only the kind.
fn nowhere(kind: &Kind) -> Address {
    let address = match kind.address {
        "unix:" => "unix:@none",
        address => address,
    };
    address.parse().unwrap()
}

/// Not a test, but the code of the other process.
#[test]
fn child() {
    let Some(part) = Part::mine() else { return };
    match part.role.as_str() {
        "in the middle" => {
            let endpoint = Endpoint::new().unwrap();
            let link = join(&endpoint, &part.kind, &part.address).unwrap();
            let mut memory = vec![0; PIECE];
            let pieces = vec![(memory.as_mut_ptr(), PIECE); TIMES];
            // SAFETY: the operations continue until this process is killed.
            unsafe {
                endpoint.irecv(Wanted::new(link, 1), &pieces);
                endpoint
                    .isend(link, 2, &pieces, SendOptions::default())
                    .unwrap()
                    .unwrap();
            }
            ready("");
            thread::sleep(Duration::from_secs(60));
        }
        "holds" => {
            let endpoint = Endpoint::new().unwrap();
            let link = join(&endpoint, &part.kind, &part.address).unwrap();
            let mut held = Vec::new();
            for _ in 0..10 {
                let mut room = endpoint.reserve(link, LONG).unwrap();
                room.write(0, &[7; LONG]);
                room.commit(LONG, 1, SendOptions::default()).unwrap();
                held.push(endpoint.take(&Wanted::new(link, 1), None).unwrap().unwrap());
                held.last().unwrap().to_vec();
            }
            ready("");
            thread::sleep(Duration::from_secs(60));
        }
        "echo" => {
            let endpoint = Endpoint::new().unwrap();
            let link = join(&endpoint, &part.kind, &part.address).unwrap();
            ready("");
            let any = Wanted {
                from: Some(link),
                ..Wanted::any()
            };
            while let Ok(Some(message)) = endpoint.take(&any, None) {
                let tag = message.status.tag;
                if endpoint
                    .send(link, tag, &message.to_vec(), SendOptions::default())
                    .is_err()
                {
                    break;
                }
            }
        }
        "server" => {
            let listener = part.listen();
            let endpoint = Endpoint::new().unwrap();
            ready(&listener.address().to_string());
            loop {
                let _ = endpoint.accept(listener.accept().unwrap());
            }
        }
        "plugged server" => {
            told();
            let endpoint = Endpoint::with(impatient()).unwrap();
            let listener = part.listen();
            ready("");
            let link = accept(&endpoint, &listener);
            unplugged(&endpoint, link);
        }
        "plugged client" => {
            told();
            let endpoint = Endpoint::new().unwrap();
            let link = join(&endpoint, &part.kind, &part.address).unwrap();
            unplugged(&endpoint, link);
        }
        "few descriptors" => few_descriptors(&part.kind),
        "little memory" => little_memory(&part.kind, &part.address),
        "forks" => forks(&part.kind),
        other => panic!("no role {other}"),
    }
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Mappings of shared memory.
fn mappings() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().filter(|line| line.contains("/memfd:")).count()
}

fn left_over() -> (usize, usize) {
    (descriptors(), mappings())
}

#[test]
fn a_peer_killed_in_the_middle_ends_everything_and_leaves_nothing() {
    let _alone = alone();
    for kind in ALL {
        let endpoint = Endpoint::new().unwrap();
        let before = left_over();
        let (listener, folder) = kind.listen();
        let (mut other, link) = thread::scope(|scope| {
            let start =
                || Other::start("in the middle", &kind, listener.address(), Apart::default());
            let other = scope.spawn(start);
            let link = accept(&endpoint, &listener);
            (other.join().unwrap().0, link)
        });
        let (mut out, mut into) = (vec![1; PIECE], vec![0; PIECE]);
        let mut short = vec![0; 100];
        let long_out = vec![(out.as_mut_ptr(), PIECE); TIMES];
        let long_into = vec![(into.as_mut_ptr(), PIECE); TIMES];
        // SAFETY: all requests end below, before the memory is freed.
        let mut pending = unsafe {
            let mut pending = vec![
                endpoint
                    .isend(link, 1, &long_out, SendOptions::default())
                    .unwrap()
                    .unwrap(),
                endpoint.irecv(Wanted::new(link, 2), &long_into),
                endpoint.irecv(Wanted::new(link, 3), &[(short.as_mut_ptr(), 100)]),
                endpoint
                    .isend(link, 4, &[(out.as_mut_ptr(), 100)], SYNC)
                    .unwrap()
                    .unwrap(),
            ];
            // Send more than the peer can hold.
            for _ in 0..1000 {
                let piece = (out.as_mut_ptr(), 9000);
                pending.extend(
                    endpoint
                        .isend(link, 5, &[piece], SendOptions::default())
                        .unwrap(),
                );
            }
            pending
        };
        thread::sleep(Duration::from_millis(150));
        thread::scope(|scope| {
            // The calls of `test` below take seconds, because each of them sends and receives, too.
            let peek = || endpoint.peek(&Wanted::new(link, 6), Some(6 * TIMEOUT));
            let waits = scope.spawn(peek);
            thread::sleep(Duration::from_millis(50));
            let first: Vec<_> = pending[..4].to_vec();
            pending.retain(|request| endpoint.test(*request).unwrap().is_none());
            assert!(
                pending.starts_with(&first) && pending.len() > 500,
                "{kind:?}"
            );
            other.signal(libc::SIGKILL);
            let mut closed = 0;
            for (at, request) in pending.into_iter().enumerate() {
                match endpoint.wait(request, Some(TIMEOUT)) {
                    Err(Error::Closed(_)) => closed += 1,
                    // There was still buffer space for this message.
                    Ok(Some(_)) if at >= first.len() => {}
                    end => panic!("{kind:?}: {end:?}"),
                }
            }
            assert!(closed > 500, "{kind:?}: {closed}");
            let end = waits.join().unwrap();
            assert!(matches!(end, Err(Error::Closed(_))), "{kind:?}: {end:?}");
        });
        other.child.wait().unwrap();
        drop((other, listener, folder));
        // The thread that reads the other process's output notices its end with some delay.
        let start = Instant::now();
        while left_over() != before && start.elapsed() < TIMEOUT {
            thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(left_over(), before, "{kind:?}");
    }
}

/// Sends a reserved message, without waiting for its end.
fn send_written(endpoint: &Endpoint, link: LinkId, len: usize) {
    let mut room = endpoint.reserve(link, len).unwrap();
    room.write(0, &vec![len as u8; len]);
    if let Some(request) = room.commit(len, 1, SendOptions::default()).unwrap() {
        endpoint.detach(request).unwrap();
    }
}

#[test]
fn a_peer_killed_with_reserved_messages_leaves_those_that_it_sent_and_nothing_else() {
    let _alone = alone();
    for kind in ALL {
        let endpoint = Endpoint::new().unwrap();
        let before = left_over();
        let (listener, folder) = kind.listen();
        let (mut other, link, held) = thread::scope(|scope| {
            let start = || Other::start("holds", &kind, listener.address(), Apart::default());
            let other = scope.spawn(start);
            let link = accept(&endpoint, &listener);
            let mut held = Vec::new();
            for _ in 0..10 {
                send_written(&endpoint, link, LONG);
                let wanted = Wanted::new(link, 1);
                held.push(endpoint.take(&wanted, Some(TIMEOUT)).unwrap().unwrap());
            }
            (other.join().unwrap().0, link, held)
        });
        let open = endpoint.reserve(link, LONG).unwrap();
        send_written(&endpoint, link, LONG);
        other.signal(libc::SIGKILL);
        let end = endpoint.recv(Wanted::new(link, 2), &mut []);
        assert!(matches!(end, Err(Error::Closed(_))), "{kind:?}: {end:?}");
        other.child.wait().unwrap();
        for message in &held {
            assert!(message.to_vec() == [7; LONG], "{kind:?}");
        }
        let end = open.commit(LONG, 1, SendOptions::default());
        assert!(matches!(end, Err(Error::Closed(_))), "{kind:?}: {end:?}");
        drop((held, other, listener, folder));
        let start = Instant::now();
        while left_over() != before && start.elapsed() < TIMEOUT {
            thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(left_over(), before, "{kind:?}");
    }
}

/// The shared memory and the total memory that this process uses, in bytes.
fn resident() -> (usize, usize) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let bytes = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        let kib = line.split_whitespace().nth(1).unwrap();
        kib.parse::<usize>().unwrap() << 10
    };
    (bytes("RssShmem:"), bytes("VmRSS:"))
}

#[test]
fn reserved_memory_does_not_grow_and_is_given_back() {
    let _alone = alone();
    for kind in ALL {
        let (listener, _folder) = kind.listen();
        let (one, other) = (Endpoint::new().unwrap(), Endpoint::new().unwrap());
        let (there, here) = thread::scope(|scope| {
            let here = scope.spawn(|| join(&one, &kind, listener.address()).unwrap());
            (accept(&other, &listener), here.join().unwrap())
        });
        let turn = |i: usize| {
            let len = [1, 3000, 40_000, 400_000][i % 4];
            send_written(&one, here, len);
            drop(one.reserve(here, 5 * len).unwrap());
            let wanted = Wanted::new(there, 1);
            let taken = other.take(&wanted, Some(TIMEOUT)).unwrap().unwrap();
            assert_eq!(taken.len(), len);
            // Both ends have now mapped the message's memory.
            assert!(taken.to_vec().iter().all(|byte| *byte == len as u8));
        };
        (0..500).for_each(turn);
        let (before, start) = (resident(), Instant::now());
        (0..10_000).for_each(turn);
        let after = resident();
        assert!(
            after.1 < before.1 + (8 << 20),
            "{kind:?}: {before:?} {after:?}"
        );
        while resident().0 + (400 << 10) > after.0 && start.elapsed() < Duration::from_secs(60) {
            if kind.transport != SHM.transport {
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{kind:?}: {after:?}"
        );
        turn(3);
    }
}

#[test]
fn a_stopped_peer_is_not_a_dead_one() {
    let _alone = alone();
    thread::scope(|scope| {
        for kind in ALL {
            scope.spawn(move || {
                let endpoint = Endpoint::with(impatient()).unwrap();
                let (listener, _folder) = kind.listen();
                let (other, link) = thread::scope(|scope| {
                    let start =
                        || Other::start("echo", &kind, listener.address(), Apart::default());
                    let other = scope.spawn(start);
                    let link = accept(&endpoint, &listener);
                    (other.join().unwrap().0, link)
                });
                other.signal(libc::SIGSTOP);
                thread::sleep(Duration::from_millis(50));
                let lengths = |number: usize| [30, 9000, 300_000][number % 3] + number;
                let mut sent: Vec<_> = (0..600)
                    .map(|number| pattern(number, lengths(number)))
                    .collect();
                let sends: Vec<_> = sent
                    .iter_mut()
                    .enumerate()
                    .filter_map(|(tag, bytes)| {
                        let piece = (bytes.as_mut_ptr(), bytes.len());
                        // SAFETY: the test waits for all requests.
                        unsafe {
                            endpoint.isend(link, tag as u64, &[piece], SendOptions::default())
                        }
                        .unwrap()
                    })
                    .collect();
                assert!(!sends.is_empty());
                thread::sleep(Duration::from_secs(3));
                for send in &sends[sends.len() - 10..] {
                    assert!(endpoint.test(*send).unwrap().is_none(), "{kind:?}");
                }
                other.signal(libc::SIGCONT);
                for (tag, bytes) in sent.iter().enumerate() {
                    let wanted = Wanted::new(link, tag as u64);
                    // All transports send 60 MB at the same time, and other tests run, too.
                    let back = endpoint.take(&wanted, Some(6 * TIMEOUT)).unwrap();
                    let back = back.unwrap_or_else(|| panic!("{kind:?}: {tag} does not come"));
                    assert!(back.to_vec() == *bytes, "{kind:?} {tag}");
                }
                for send in &sends[..sends.len() - 10] {
                    let sent = endpoint.wait(*send, Some(6 * TIMEOUT)).unwrap();
                    assert!(sent.is_some(), "{kind:?}: a message is not taken");
                }
            });
        }
    });
}

/// Runs in both processes: pending operations end although the program makes no calls, whether
/// messages are in flight or not.
fn unplugged(endpoint: &Endpoint, link: LinkId) {
    let open = descriptors();
    let mut byte = 0;
    // SAFETY: the request ends below, or the process ends.
    let receive = unsafe { endpoint.irecv(Wanted::new(link, 1), &[(&mut byte, 1)]) };
    ready("");
    if told() == "send" {
        endpoint
            .send(link, 2, b"into nothing", SendOptions::default())
            .unwrap();
    }
    let start = Instant::now();
    while descriptors() == open && start.elapsed() < 4 * SILENCE {
        thread::sleep(Duration::from_millis(50));
    }
    let (took, end) = (start.elapsed(), endpoint.test(receive));
    ready(&format!("{} {end:?}", took.as_millis()));
}

#[test]
fn an_unplugged_peer_is_noticed_while_nobody_calls() {
    let _alone = alone();
    if !networks::are_there() {
        return;
    }
    // Peers over shared memory and unix sockets are on this machine, so only TCP is tested.
    thread::scope(|scope| {
        for (kind, place) in [(TCP4, "tcp:10.77.9.1:4242"), (TLS, "tls:10.77.9.1:4242")] {
            for sending in ["idle", "send"] {
                let kind = kind.clone();
                scope.spawn(move || unplug(&kind, &place.parse().unwrap(), sending));
            }
        }
    });
}

fn unplug(kind: &Kind, address: &Address, sending: &str) {
    let apart = Apart {
        network: true,
        ..Apart::default()
    };
    let mut both =
        ["plugged server", "plugged client"].map(|role| Other::spawn(role, kind, address, apart));
    let [one, other] = both.each_ref().map(|end| end.child.id());
    networks::plug("plug", [(one, "10.77.9.1/24"), (other, "10.77.9.2/24")]);
    both[0].tell("go");
    both[0].news().expect("the server does not listen");
    both[1].tell("go");
    for end in &both {
        end.news().expect("there is no link");
    }
    // An idle machine is not silent, because it answers probes. So the links stay open.
    thread::sleep(SILENCE * 2);
    networks::ip(one, "link set plug down");
    for end in &mut both {
        end.tell(sending);
    }
    for end in &both {
        let said = end.news().expect("it did not end properly");
        let (took, end) = said.split_once(' ').unwrap();
        assert!(end.contains("Closed"), "{kind} {sending}: {said}");
        let took = Duration::from_millis(took.parse().unwrap());
        // Without the endpoint's check, TCP would take a quarter of an hour.
        let most = Duration::from_secs(60);
        assert!(took < most, "{kind} {sending}: {said}");
    }
}

#[test]
fn running_out_of_descriptors_is_an_error_and_passes() {
    let _alone = alone();
    for kind in ALL {
        let (mut other, said) =
            Other::start("few descriptors", &kind, &nowhere(&kind), Apart::default());
        assert!(said.starts_with("worked again"), "{kind:?}: {said}");
        assert!(other.child.wait().unwrap().success());
    }
}

fn limit_descriptors(count: usize) -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure is this function's, and lives for both calls.
    unsafe {
        assert_eq!(libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit), 0);
        let was = limit.rlim_cur;
        limit.rlim_cur = count as u64;
        assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &limit), 0);
        was
    }
}

fn few_descriptors(kind: &Kind) {
    let (one, other) = (Endpoint::new().unwrap(), Endpoint::new().unwrap());
    let (listener, _folder) = kind.listen();
    // Reading /proc would itself use a descriptor. All descriptors below this one are in use.
    let used = std::fs::File::open("/dev/null").unwrap().as_raw_fd() as usize;
    let token = kind.token();
    let attempt = |patience: Duration| {
        thread::scope(|scope| {
            let joins = scope.spawn(|| {
                let transport = &kind.transport;
                one.connect(listener.address(), transport, token.as_ref(), b"", patience)
            });
            let mut link = None;
            while !joins.is_finished() && link.is_none() {
                let incoming = listener.accept_timeout(Duration::from_millis(20)).unwrap();
                if let Some(Ok(Joined::Link(found, _))) =
                    incoming.map(|incoming| other.accept(incoming))
                {
                    link = Some(found);
                }
            }
            (joins.join().unwrap(), link)
        })
    };
    let mut failed = 0;
    for spare in 0..24 {
        let was = limit_descriptors(used + spare);
        let (joined, accepted) = attempt(Duration::from_millis(300));
        limit_descriptors(was as usize);
        failed += usize::from(joined.is_err());
        if let Ok(link) = joined {
            one.close(link);
        }
        if let Some(link) = accepted {
            other.close(link);
        }
        // Accept clients that are still in the queue.
        while let Some(incoming) = listener.accept_timeout(Duration::from_millis(5)).unwrap() {
            let _ = other.accept(incoming);
        }
    }
    let (joined, accepted) = attempt(TIMEOUT);
    let (here, there) = (joined.unwrap(), accepted.unwrap());
    one.send(here, 1, b"at last", SendOptions::default())
        .unwrap();
    let mut into = [0; 7];
    other.recv(Wanted::new(there, 1), &mut into).unwrap();
    assert!(&into == b"at last" && failed > 2, "{failed}");
    ready(&format!("worked again after {failed}"));
}

/// Tests a message whose announced length exceeds all memory, and links for which there is no
/// memory.
#[test]
fn running_out_of_memory_is_an_error_and_passes() {
    let _alone = alone();
    for kind in ALL {
        let endpoint = Endpoint::new().unwrap();
        let (listener, _folder) = kind.listen();
        let mut other = Other::spawn("little memory", &kind, listener.address(), Apart::default());
        let link = accept(&endpoint, &listener);
        let mut early = vec![0; PIECE];
        let nowhere = std::ptr::NonNull::<u8>::dangling().as_ptr();
        let pieces = [(early.as_mut_ptr(), PIECE), (nowhere, 1 << 50)];
        // SAFETY: the early bytes exist, and the rest is never read, because the message is offered
        // and never accepted.
        let huge = unsafe { endpoint.isend(link, 1, &pieces, SendOptions::default()) };
        let huge = huge.unwrap().expect("it is too long to be sent at once");
        endpoint
            .send(link, 2, b"short", SendOptions::default())
            .unwrap();
        let said = thread::scope(|scope| {
            let more = scope.spawn(|| {
                // Accept clients that have no memory, as far as this works.
                while let Ok(Some(incoming)) = listener.accept_timeout(SILENCE) {
                    let _ = endpoint.accept(incoming);
                }
            });
            let said = other.news();
            more.join().unwrap();
            said
        });
        assert_eq!(said.as_deref(), Some("all were errors"), "{kind}");
        assert!(other.child.wait().unwrap().success(), "{kind}");
        let end = endpoint.wait(huge, Some(TIMEOUT));
        assert!(matches!(end, Err(Error::Closed(_))), "{kind}: {end:?}");
    }
}

/// Limits the address space of this process to its present size and `spare` bytes more. `None`
/// removes the limit.
fn limit_memory(spare: Option<u64>) {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let used = pages.split(' ').next().unwrap().parse::<u64>().unwrap() * 4096;
    let limit = libc::rlimit {
        rlim_cur: spare.map_or(libc::RLIM_INFINITY, |spare| used + spare),
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the structure lives for the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
}

fn little_memory(kind: &Kind, address: &Address) {
    let endpoint = Endpoint::new().unwrap();
    let link = join(&endpoint, kind, address).unwrap();
    let claimed = Wanted::new(link, 1);
    let taken = endpoint.take(&claimed, Some(TIMEOUT));
    assert!(matches!(taken, Err(Error::NoMemory(_))), "{taken:?}");
    // The message is still there, and does not disturb others.
    assert!(endpoint.peek(&claimed, Some(TIMEOUT)).unwrap().is_some());
    endpoint.recv(Wanted::new(link, 2), &mut [0; 5]).unwrap();
    // Shared memory for a link needs more than this, and buffers for sockets need less.
    limit_memory(Some(2 << 20));
    let joined = join(&endpoint, kind, address);
    limit_memory(None);
    assert_eq!(joined.is_err(), kind.is_shm(), "{joined:?}");
    join(&endpoint, kind, address).unwrap();
    ready("all were errors");
}

#[test]
fn what_dead_processes_leave_never_stops_a_start() {
    let _alone = alone();
    for kind in ALL {
        let folder = Folder::new();
        let mut address = match kind.address == "unix:" {
            true => Address::Unix(folder.path().join("socket")),
            false => kind.address.parse().unwrap(),
        };
        for _ in 0..3 {
            let (mut server, said) = Other::start("server", &kind, &address, Apart::default());
            // Use the same port again.
            address = said.parse().unwrap();
            let endpoint = Endpoint::new().unwrap();
            let link = join(&endpoint, &kind, &address).unwrap();
            endpoint
                .send(link, 1, &[0; 9000], SendOptions::default())
                .unwrap();
            server.signal(libc::SIGKILL);
            server.child.wait().unwrap();
            let mut byte = [0];
            let end = endpoint.recv(Wanted::new(link, 1), &mut byte);
            assert!(matches!(end, Err(Error::Closed(_))), "{kind:?}: {end:?}");
        }
    }
}

#[test]
fn forked_children_disturb_nothing() {
    let _alone = alone();
    for kind in ALL {
        let (mut other, said) = Other::start("forks", &kind, &nowhere(&kind), Apart::default());
        assert_eq!(said, "undisturbed", "{kind:?}");
        assert!(other.child.wait().unwrap().success());
    }
}

fn forks(kind: &Kind) {
    let (one, other) = (Endpoint::new().unwrap(), Endpoint::new().unwrap());
    let (listener, _folder) = kind.listen();
    let (here, there) = thread::scope(|scope| {
        let here = scope.spawn(|| join(&one, kind, listener.address()).unwrap());
        let there = accept(&other, &listener);
        (here.join().unwrap(), there)
    });
    // Messages are held while the process forks. If the child drops them, their memory is not
    // released.
    let wanted = Wanted::new(there, 1);
    for number in 0..12 {
        one.send(here, 1, &pattern(number, 9000), SendOptions::default())
            .unwrap();
    }
    let held: Vec<_> = (0..12)
        .map(|_| other.take(&wanted, Some(TIMEOUT)).unwrap().unwrap())
        .collect();
    // SAFETY: the child runs destructors and exits. It takes no lock that another thread may have
    // held.
    let child = unsafe { libc::fork() };
    if child == 0 {
        one.close(here);
        other.close(there);
        drop((one, other, held, listener));
        // SAFETY: it never returns.
        unsafe { libc::_exit(0) };
    }
    let mut status = -1;
    // SAFETY: the child is this process's, and the status this function's.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    let exchange = |number: usize| {
        one.send(here, 2, &pattern(number, 9000), SendOptions::default())
            .unwrap();
        let message = other
            .take(&Wanted::new(there, 2), Some(TIMEOUT))
            .unwrap()
            .unwrap();
        assert!(message.to_vec() == pattern(number, 9000));
    };
    (0..200).for_each(exchange);
    for (number, message) in held.iter().enumerate() {
        assert!(
            message.to_vec() == pattern(number, 9000),
            "{number} was overwritten"
        );
    }
    drop(held);
    (0..2000).for_each(exchange);
    // The listener still works, too.
    thread::scope(|scope| {
        scope.spawn(|| accept(&other, &listener));
        join(&one, kind, listener.address()).unwrap();
    });
    ready("undisturbed");
}
