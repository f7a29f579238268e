//! Tests of endpoints whose peers break the protocol, send noise, or overwrite the shared memory.

mod reading;

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mgn_sys::peer::credentials;
use mgn_sys::{Mapping, Protection};

use super::settings::{Settings, NEVER};
use super::terms::{Limits, Terms};
use crate::Transport;

const ENVELOPES: u32 = 256;
use super::head::{Head, Kind, ACTIVE, ANSWER, FETCHED, FOLLOWS, GET, PUT, SYNC};
use super::link::AnyLink;
use super::remote_key::Key;
use super::shm::ShmLink;
use super::stream::StreamLink;
use super::{Endpoint, LinkId, Piece, Request, SendOptions, Status, Wanted};
use crate::config::{Config, Sizes};
use crate::peer::Peer;
use crate::shm::{
    client_lanes, create, server_lanes, Descriptor, Lane, INLINE, IN_SLOT, LINK_SLOTS,
};
use crate::testing::Random;
use crate::Error;

const SOON: Option<Duration> = Some(Duration::from_secs(10));

fn peer(socket: UnixStream) -> Arc<Peer> {
    Arc::new(Peer::unix(socket.into(), "it".into(), false))
}

/// The far end of a stream link, which writes arbitrary bytes.
struct Liar {
    data: UnixStream,
    control: UnixStream,
}

fn liar(endpoint: &Endpoint) -> (LinkId, Liar) {
    liar_that_is_read(endpoint, NEVER)
}

/// A link and its far end, as from `liar`. Messages of at least this length are read from the far
/// end's memory, which is in this process.
fn liar_that_is_read(endpoint: &Endpoint, single_copy_unix: usize) -> (LinkId, Liar) {
    let (near, data) = UnixStream::pair().unwrap();
    let (near_control, control) = UnixStream::pair().unwrap();
    let settings = Settings {
        single_copy_unix,
        ..Settings::default()
    };
    let terms = Terms::new(&settings, &Transport::Unix);
    let its_credentials = credentials(&near).ok();
    let link = StreamLink::new(
        Arc::new(Peer::unix(near.into(), "it".into(), true)),
        peer(near_control),
        Limits::new(&settings, &Transport::Unix, terms, terms),
        its_credentials,
    );
    let link = link.unwrap();
    let link = endpoint.shared.add(AnyLink::Stream(Box::new(link)));
    (link.unwrap(), Liar { data, control })
}

fn head(kind: Kind, flags: u8, id: u32, value: u64) -> Vec<u8> {
    let head = Head {
        flags,
        handler: 1,
        ..Head::new(kind, id, value)
    };
    head.encode().map(u64::to_le_bytes).as_flattened().to_vec()
}

fn frame(kind: Kind, flags: u8, id: u32, value: u64, payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() as u64).to_le_bytes();
    [&head(kind, flags, id, value), &len[..], payload].concat()
}

fn offer(flags: u8, id: u32, tag: u64, len: u64) -> Vec<u8> {
    offer_at(flags, id, tag, len, 0)
}

fn offer_at(flags: u8, id: u32, tag: u64, len: u64, address: u64) -> Vec<u8> {
    let payload = [len, address].map(u64::to_le_bytes).concat();
    frame(Kind::Offer, flags, id, tag, &payload)
}

/// A request for the memory that was offered under this key.
fn ask(flags: u8, id: u32, key: &Key, offset: u64, len: u64, address: u64) -> Vec<u8> {
    let words = [offset, len, address].map(u64::to_le_bytes);
    let payload = [&key.0[..], words.as_flattened()].concat();
    frame(Kind::Remote, flags, id, 0, &payload)
}

/// A message about a request. `why` is the code of a refusal.
fn remark(flags: u8, why: u16, id: u32, value: u64) -> Vec<u8> {
    let head = Head {
        flags,
        handler: why,
        ..Head::new(Kind::Remote, id, value)
    };
    let words = head.encode().map(u64::to_le_bytes);
    [words.as_flattened(), &[0; 8]].concat()
}

/// Whether the endpoint's helper thread is still running. It would have ended after a panic.
fn is_well(endpoint: &Endpoint) -> bool {
    let helper = endpoint
        .shared
        .helper
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    helper.as_ref().is_some_and(|helper| !helper.is_finished())
}

/// Whether the error means that the peer broke the protocol, or that the peer is gone.
fn is_fair(error: &Error) -> bool {
    matches!(
        error,
        Error::PeerMisbehaved(_)
            | Error::Closed(_)
            | Error::Truncated { .. }
            | Error::Starved(_)
            | Error::NotOffered
            | Error::OutOfRange { .. }
    )
}

#[test]
fn each_lie_ends_the_link_with_its_own_words() {
    let eager = |len: usize| frame(Kind::Eager, 0, 0, 9, &vec![0; len]);
    let mut known = frame(Kind::Eager, 0, 0, 9, b"");
    known[0] = 77;
    let mut long = frame(Kind::Eager, 0, 0, 9, b"");
    long[16..24].copy_from_slice(&(1u64 << 40).to_le_bytes());
    let part = |at: u64, len: usize| frame(Kind::Part, 0, 5, at, &vec![0; len]);
    let accepted = |bytes: Vec<u8>| [offer(0, 5, 1, 1000), bytes].concat();
    let held = |bytes: Vec<u8>| [offer(0, 5, 9, 1000), bytes].concat();
    let none = Vec::new;
    let room = super::Settings::default().held;
    // For each case: bytes on the data socket, bytes on the control socket, and a part of the error
    // text.
    let lies: Vec<(Vec<u8>, Vec<u8>, &str)> = vec![
        (known, none(), "of no known kind"),
        (long, none(), "longer than was agreed"),
        (eager(room / 4 + 1), none(), "longer than was agreed"),
        (
            eager(20).repeat(ENVELOPES as usize + 1),
            none(),
            "without credit",
        ),
        (
            eager(60_000).repeat(room / 60_000 + 1),
            none(),
            "without credit",
        ),
        (part(0, 10), none(), "belongs to no message"),
        (accepted(part(10, 10)), none(), "does not fit"),
        (accepted(part(0, 1001)), none(), "does not fit"),
        (accepted(part(0, 0)), none(), "does not fit"),
        (
            accepted([part(0, 500), part(0, 500)].concat()),
            none(),
            "does not fit",
        ),
        (
            accepted(part(0, 1000).repeat(2)),
            none(),
            "belongs to no message",
        ),
        (held(part(0, 1000)), none(), "more early bytes"),
        (held(offer(0, 5, 9, 7)), none(), "offer is invalid"),
        (offer(0, 5, 9, u64::MAX), none(), "offer is invalid"),
        (
            frame(Kind::Offer, 0, 5, 9, b"short"),
            none(),
            "offer is invalid",
        ),
        (frame(Kind::Withdraw, 0, 5, 0, b""), none(), "did not offer"),
        (
            frame(Kind::Accept, 0, 0, 0, b""),
            none(),
            "on the data socket",
        ),
        (
            frame(Kind::Credit, 0, 1, 0, b""),
            none(),
            "on the data socket",
        ),
        (
            none(),
            head(Kind::Taken, 0, 7, 0),
            "answers a message that was not",
        ),
        (
            none(),
            head(Kind::Accept, 0, 7, 0),
            "answers a message that was not",
        ),
        (
            none(),
            head(Kind::Taken, 0, 0, 0),
            "confirms a message that was not sent",
        ),
        (none(), head(Kind::Accept, 0, 0, 0).repeat(2), "not"),
        (none(), head(Kind::Withdrawn, 0, 0, 0), "not withdrawn"),
        (none(), head(Kind::Credit, 0, 1000, 0), "more credit than"),
        (
            none(),
            head(Kind::Credit, 0, 0, 1 << 60),
            "more credit than",
        ),
        (
            none(),
            head(Kind::Window, 0, 0, 1 << 60),
            "more buffer space",
        ),
        (
            frame(Kind::Window, 0, 1, 9, b""),
            none(),
            "on the data socket",
        ),
        (none(), head(Kind::Eager, 0, 0, 0), "was not sent"),
        // Two messages with the same number.
        (
            [offer(0, 5, 9, 10), offer(ANSWER, 5, 9, 10)].concat(),
            none(),
            "offer is invalid",
        ),
    ];
    for (data, control, hint) in lies {
        let endpoint = Endpoint::new().unwrap();
        let (link, mut liar) = liar(&endpoint);
        let (good, mut honest) = self::liar(&endpoint);
        let mut bytes = vec![0; 1 << 20];
        let start = bytes.as_mut_ptr();
        // SAFETY: all requests end below, before the memory is freed.
        let pending = unsafe {
            [
                endpoint.irecv(Wanted::new(link, 1), &[(start, 1000)]),
                // An offered message, to which the wrong answers refer.
                endpoint
                    .isend(link, 1, &[(start, 1 << 20)], SendOptions::default())
                    .unwrap()
                    .unwrap(),
                endpoint.irecv(Wanted::new(link, 2), &[(start, 1000)]),
            ]
        };
        // The endpoint may close the link before all bytes are written.
        let _ = liar.data.write_all(&data);
        let _ = liar.control.write_all(&control);
        let mut end = endpoint.wait(pending[2], SOON).map(drop);
        let start = Instant::now();
        // The many unexpected messages first end the receive with `Starved`.
        while matches!(end, Err(Error::Starved(_))) && start.elapsed() < Duration::from_secs(10) {
            end = endpoint.recv(Wanted::new(link, 2), &mut []).map(drop);
        }
        let Err(Error::PeerMisbehaved(why)) = end else {
            panic!("{hint}: {end:?}");
        };
        assert!(why.contains(hint), "{why}, and not {hint}");
        for request in &pending[..2] {
            // The first request may have completed before the wrong bytes arrived.
            let end = endpoint.wait(*request, SOON).map(Option::unwrap);
            assert!(
                matches!(
                    end,
                    Ok(_) | Err(Error::PeerMisbehaved(_) | Error::Starved(_))
                ),
                "{hint}: {end:?}"
            );
        }
        // The liar's link is closed, and other links still work.
        liar.data.set_read_timeout(SOON).unwrap();
        while !matches!(liar.data.read(&mut [0; 1000]), Ok(0) | Err(_)) {}
        honest
            .data
            .write_all(&frame(Kind::Eager, 0, 0, 1, b"hello"))
            .unwrap();
        let mut hello = [0; 5];
        endpoint.recv(Wanted::new(good, 1), &mut hello).unwrap();
        assert!(&hello == b"hello" && is_well(&endpoint));
    }
}

/// Begins one write to and one read from the peer's memory.
///
/// # Safety
/// The memory has `len` bytes, and lives until both have ended.
unsafe fn begin_remote(
    endpoint: &Endpoint,
    link: LinkId,
    start: *mut u8,
    len: usize,
) -> Vec<Request> {
    let key = Key([9; 16]);
    // SAFETY: the caller has promised this.
    let both = unsafe {
        [
            endpoint.iget(link, &key, 0, &[(start, len)]),
            endpoint.iput(link, &key, 0, &[(start, len)]),
        ]
    };
    both.into_iter().flatten().collect()
}

#[test]
fn each_lie_about_offered_memory_ends_the_link() {
    let endpoint = Endpoint::new().unwrap();
    let mut memory = vec![7; 1000];
    // SAFETY: the offer is dropped before the memory, which is not accessed before.
    let offered = unsafe { endpoint.offer((memory.as_mut_ptr(), 1000)) };
    let key = &offered.key();
    let get = |id: u32| ask(GET, id, key, 0, 1000, 0);
    let put = |id: u32, len: u64| ask(PUT | SYNC | FOLLOWS, id, key, 0, len, 0);
    let part =
        |flags: u8, id: u32, at: u64, len: usize| frame(Kind::Part, flags, id, at, &vec![3; len]);
    let say = |flags: u8, id: u32, value: u64| remark(flags, 0, id, value);
    let none = Vec::new;
    // The endpoint's own requests have the numbers 0 (read) and 1 (write).
    let lies: Vec<(Vec<u8>, Vec<u8>, &str)> = vec![
        (ask(PUT | GET, 3, key, 0, 10, 0), none(), "is invalid"),
        (ask(PUT | ANSWER, 3, key, 0, 10, 0), none(), "is invalid"),
        (ask(GET, 3, key, 0, 1 << 63, 0), none(), "is invalid"),
        (say(PUT, 3, 0), none(), "is invalid"),
        (say(GET, 3, 0), none(), "is invalid"),
        (
            [put(3, 10), put(3, 10)].concat(),
            none(),
            "too much at once",
        ),
        (
            (0..300).flat_map(|id| put(id, 10)).collect(),
            none(),
            "too much at once",
        ),
        (part(0, 3, 0, 10), none(), "belongs to no message"),
        (
            [put(3, 10), part(0, 3, 0, 11)].concat(),
            none(),
            "does not fit",
        ),
        (
            [put(3, 10), part(0, 3, 1, 9)].concat(),
            none(),
            "does not fit",
        ),
        (
            [put(3, 10), part(ANSWER, 3, 0, 10)].concat(),
            none(),
            "belongs to no message",
        ),
        (
            [put(3, 10), offer(0, 3, 1, 10)].concat(),
            none(),
            "offer is invalid",
        ),
        (
            [put(3, 0), part(0, 3, 0, 1)].concat(),
            none(),
            "belongs to no message",
        ),
        (part(ANSWER, 0, 0, 1001), none(), "does not fit"),
        (part(ANSWER, 1, 0, 10), none(), "belongs to no message"),
        (
            [part(ANSWER, 0, 0, 500), say(ANSWER, 0, 1)].concat(),
            none(),
            "an address that was not asked for",
        ),
        (
            say(ANSWER, 0, 1),
            none(),
            "an address that was not asked for",
        ),
        (say(ANSWER, 0, 0), none(), "has no address"),
        (
            say(ANSWER, 1, 0),
            none(),
            "answers a request that was not sent",
        ),
        (
            say(ANSWER, 7, 0),
            none(),
            "answers a message that was not sent",
        ),
        (say(0, 0, 0), none(), "without having its address"),
        (
            [get(3), say(FETCHED, 3, 0)].concat(),
            none(),
            "without having its address",
        ),
        (frame(Kind::Withdraw, 0, 3, 0, b""), none(), "did not offer"),
        (
            none(),
            head(Kind::Accept, 0, 0, 0),
            "accepts a message that was not offered",
        ),
        (
            none(),
            head(Kind::Taken, 0, 0, 0),
            "confirms a message that was not sent",
        ),
        (
            none(),
            head(Kind::Taken, 0, 1, 0).repeat(2),
            "answers a message that was not",
        ),
        (none(), head(Kind::Withdrawn, 0, 1, 0), "was not withdrawn"),
        (none(), head(Kind::Remote, GET, 3, 0), "was not sent"),
    ];
    for (data, control, hint) in lies {
        let (link, mut liar) = liar(&endpoint);
        let mut bytes = vec![0; 1000];
        // SAFETY: all requests end below, before the memory is freed.
        let mut pending = unsafe { begin_remote(&endpoint, link, bytes.as_mut_ptr(), 1000) };
        // SAFETY: as above.
        pending.push(unsafe { endpoint.irecv(Wanted::new(link, 2), &[(bytes.as_mut_ptr(), 9)]) });
        let _ = liar.data.write_all(&data);
        let _ = liar.control.write_all(&control);
        let end = endpoint.wait(pending.pop().unwrap(), SOON);
        let Err(Error::PeerMisbehaved(why)) = end else {
            panic!("{hint}: {end:?}");
        };
        assert!(why.contains(hint), "{why}, and not {hint}");
        for request in pending {
            // One request may have ended before the wrong bytes arrived.
            let end = endpoint.wait(request, SOON).map(Option::unwrap);
            assert!(
                matches!(end, Ok(_) | Err(Error::PeerMisbehaved(_))),
                "{hint}: {end:?}"
            );
        }
    }
    // Only the requested bytes were written, no access is in progress any more, and the memory
    // still serves other links.
    let (_link, mut honest) = liar(&endpoint);
    honest.data.write_all(&get(3)).unwrap();
    let mut answer = vec![0; 1024];
    honest.data.set_read_timeout(SOON).unwrap();
    honest.data.read_exact(&mut answer).unwrap();
    assert!(answer[24..].iter().all(|byte| [3, 7].contains(byte)) && is_well(&endpoint));
    drop(offered);
}

/// Runs the calling test again in a separate process, in which no other test allocates memory.
/// Returns true in the process that has started the separate process. The caller then has nothing
/// left to do.
fn ran_alone(test: &str) -> bool {
    const ALONE: &str = "MGN_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return false;
    }
    let own = std::env::current_exe().unwrap();
    let ended = Command::new(own)
        .args(["--exact", &format!("endpoint::hostile::{test}")])
        .args(["--test-threads", "1"])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(
        ended.status.success() && said.contains("1 passed"),
        "{said}\n{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    true
}

/// Whether a test must continue. On a busy machine it may need more time to reach enough cases.
fn goes_on(start: Instant, enough: bool) -> bool {
    match enough {
        true => start.elapsed() < Duration::from_millis(2500),
        false => start.elapsed() < Duration::from_secs(60),
    }
}

fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
fn an_offer_takes_no_memory_before_it_comes() {
    if ran_alone("an_offer_takes_no_memory_before_it_comes") {
        return;
    }
    let endpoint = Endpoint::new().unwrap();
    let handled = Arc::new(AtomicUsize::new(0));
    let count = handled.clone();
    endpoint.set_handler(1, move |_| _ = count.fetch_add(1, Ordering::Relaxed));
    let (link, mut liar) = liar(&endpoint);
    let before = resident();
    for (id, len) in [(1, 1 << 60), (2, 1 << 45), (3, 1 << 36), (4, 1 << 34)] {
        liar.data.write_all(&offer(ACTIVE, id, 1, len)).unwrap();
        // Each offer is accepted before any of its bytes have arrived.
        let mut answer = [0; 16];
        liar.control.set_read_timeout(SOON).unwrap();
        liar.control.read_exact(&mut answer).unwrap();
        assert_eq!((answer[0], answer[4]), (Kind::Accept as u8, id as u8));
        liar.data
            .write_all(&frame(Kind::Part, 0, id, 0, &[0; 1000]))
            .unwrap();
    }
    assert!(resident() < before + (64 << 20));
    drop(liar);
    let end = endpoint.recv(Wanted::new(link, 1), &mut []);
    assert!(matches!(end, Err(Error::Closed(_))), "{end:?}");
    assert!(is_well(&endpoint) && handled.load(Ordering::Relaxed) == 0);
}

#[test]
fn a_peer_that_asks_and_takes_no_answers_is_cut_off() {
    if ran_alone("a_peer_that_asks_and_takes_no_answers_is_cut_off") {
        return;
    }
    let endpoint = Endpoint::new().unwrap();
    endpoint.set_handler(1, |_| {});
    let (link, mut liar) = liar(&endpoint);
    let before = resident();
    // This peer only estimates its credit, and reads no answers.
    let many = frame(Kind::Eager, SYNC | ACTIVE, 3, 1, b"").repeat(50);
    let start = Instant::now();
    while liar.data.write_all(&many).is_ok() && start.elapsed() < Duration::from_secs(60) {}
    let end = endpoint.recv(Wanted::new(link, 1), &mut []);
    assert!(matches!(end, Err(Error::PeerMisbehaved(_))), "{end:?}");
    assert!(resident() < before + (128 << 20) && is_well(&endpoint));
}

/// Plausible but wrong bytes.
fn noise(random: &mut Random, frames: bool, key: &Key) -> Vec<u8> {
    let kinds = [
        Kind::Eager,
        Kind::Offer,
        Kind::Part,
        Kind::Accept,
        Kind::Taken,
        Kind::Withdraw,
        Kind::Withdrawn,
        Kind::Credit,
        Kind::Remote,
    ];
    let mut bytes = Vec::new();
    for _ in 0..random.below(30) {
        // Use mostly kinds that are permitted on this socket, so that the link survives several
        // frames.
        let kind = match (frames, random.below(8)) {
            (true, 0..=5) => kinds[[0, 1, 2, 8][random.below(4)]],
            (false, 0..=6) => kinds[[3, 4, 7][random.below(3)]],
            _ => kinds[random.below(9)],
        };
        let flags = match kind {
            Kind::Remote => [
                PUT | SYNC,
                PUT | SYNC | FOLLOWS,
                GET,
                GET | FETCHED,
                ANSWER,
                0,
            ],
            _ => [0, 0, ACTIVE, SYNC, ANSWER, random.next() as u8],
        };
        let flags = flags[random.below(6)];
        let (id, value) = (random.below(4) as u32, random.below(3) as u64 * 500);
        let len = [0, 5, 24, 25, 500, 3000][random.below(6)];
        let mut made = match (frames, kind) {
            (false, _) => head(kind, flags, id, value),
            (true, Kind::Offer) => offer(
                flags,
                id,
                value,
                [0, 24, 500, 1000, 1 << 50][random.below(5)],
            ),
            (true, Kind::Remote) if random.below(4) > 0 => {
                let len = [0, 5, 500, 1000, 1 << 62][random.below(5)];
                ask(flags, id, key, value, len, random.below(2) as u64)
            }
            (true, Kind::Remote) => remark(flags, random.below(4) as u16, id, value),
            (true, _) => frame(kind, flags, id, value, &vec![7; len]),
        };
        if random.below(20) == 0 {
            let at = random.below(made.len());
            made[at] ^= 1 << random.below(8);
        }
        if random.below(60) == 0 {
            made.truncate(random.below(made.len()));
        }
        bytes.extend(made);
    }
    bytes
}

/// Begins operations of every kind.
///
/// # Safety
/// The memory has 100 000 bytes, and lives until all operations have ended.
unsafe fn begin_all(endpoint: &Endpoint, link: LinkId, memory: *mut u8) -> Vec<Request> {
    let mut all = Vec::new();
    let any = |from| Wanted {
        from: Some(from),
        ..Wanted::any()
    };
    for len in [0, 20, 200, 600, 100_000] {
        let pieces: [Piece; 2] = [(memory, len / 2), (memory, len - len / 2)];
        // SAFETY: the caller has promised this.
        unsafe {
            all.push(endpoint.irecv(any(link), &[(memory, len)]));
            all.push(endpoint.irecv(Wanted::new(link, 500), &pieces));
            let sync = SendOptions {
                sync: ![200, 600].contains(&len),
                unordered: false,
            };
            all.extend(endpoint.isend(link, 1, &pieces, sync).unwrap_or(None));
            all.extend(
                endpoint
                    .isend_active(link, 2, 1, &pieces, sync)
                    .unwrap_or(None),
            );
        }
    }
    for len in [0, 20, 600, 100_000] {
        // SAFETY: the caller has promised this.
        all.extend(unsafe { begin_remote(endpoint, link, memory, len) });
    }
    for len in [20, 600, 100_000] {
        let Ok(mut room) = endpoint.reserve(link, len) else {
            continue;
        };
        room.write(0, &vec![1; len]);
        let how = SendOptions {
            sync: len == 600,
            unordered: false,
        };
        let end = match len {
            20 => room.commit_active(len, 2, 1, how),
            _ => room.commit(len - 1, 1, how),
        };
        all.extend(end.unwrap_or(None));
    }
    all
}

#[test]
fn noise_ends_nothing_but_its_link() {
    if ran_alone("noise_ends_nothing_but_its_link") {
        return;
    }
    let endpoint = Endpoint::new().unwrap();
    let handled = Arc::new(AtomicUsize::new(0));
    let count = handled.clone();
    endpoint.set_handler(1, move |message| {
        count.fetch_add(message.to_vec().len().min(1), Ordering::Relaxed);
    });
    let mut memory = vec![0; 100_000];
    let mut open = vec![0; 2000];
    // SAFETY: the offer is dropped before the memory, which is not accessed.
    let offered = unsafe { endpoint.offer((open.as_mut_ptr(), open.len())) };
    let key = &offered.key();
    let (before, start) = (resident(), Instant::now());
    let (mut received, mut caught, mut rounds) = (0, 0, 0);
    let enough = |rounds, received, caught| {
        let handled = handled.load(Ordering::Relaxed);
        rounds > 100 && received > 100 && caught > 100 && handled > 10
    };
    while goes_on(start, enough(rounds, received, caught)) {
        rounds += 1;
        let mut random = Random::new(rounds);
        let (link, mut liar) = liar(&endpoint);
        // SAFETY: all requests end below.
        let pending = unsafe { begin_all(&endpoint, link, memory.as_mut_ptr()) };
        for _ in 0..random.below(6) {
            let _ = liar.data.write_all(&noise(&mut random, true, key));
            let _ = liar.control.write_all(&noise(&mut random, false, key));
            if random.below(2) == 0 {
                let _ = endpoint.test(pending[0]);
            }
        }
        let _ = endpoint.take(&Wanted::new(link, 0), Some(Duration::ZERO));
        drop(liar);
        for request in pending {
            match endpoint.wait(request, SOON) {
                Ok(Some(_)) => received += 1,
                Ok(None) => panic!("it hangs, round {rounds}"),
                // The result was fetched above.
                Err(Error::Misuse(_)) => {}
                Err(error) => {
                    caught += usize::from(matches!(error, Error::PeerMisbehaved(_)));
                    assert!(is_fair(&error), "{error}");
                }
            }
        }
        // Whole messages are kept until they are taken.
        while let Ok(Some(_)) = endpoint.take(&Wanted::any(), Some(Duration::ZERO)) {}
    }
    assert!(
        enough(rounds, received, caught),
        "{rounds} {received} {caught}"
    );
    assert!(resident() < before + (100 << 20));
    assert!(is_well(&endpoint));
    drop(offered);
    endpoint
        .send(endpoint.own(), 1, b"well", SendOptions::default())
        .unwrap();
    endpoint.recv(Wanted::any(), &mut [0; 4]).unwrap();
}

/// The sizes of links with 16 chunks in each direction, and an arena of 30 chunks.
fn sizes() -> Sizes {
    let config = Config {
        message_max: 4096,
        send_pool_bytes: 46 * 4096,
        recv_pool_bytes: 46 * 4096,
        large_max: 31 * 4096,
        ..Config::default()
    };
    let sizes = Sizes::new(&config).unwrap();
    assert_eq!(sizes.arena(sizes.to_server), 30);
    sizes
}

/// Two links over the same shared memory, the memory itself, and a socket that ends both.
fn shared_pair(one: &Endpoint, other: &Endpoint) -> (LinkId, LinkId, Vec<Mapping>, UnixStream) {
    let sizes = sizes();
    let fds = create(&sizes, LINK_SLOTS).unwrap();
    let copies = fds.each_ref().map(|fd| fd.try_clone().unwrap());
    let control = 2 * Lane::bytes(sizes.to_server, LINK_SLOTS);
    let pool = sizes.pool(sizes.to_server);
    let map = |at: usize, len: usize| Mapping::new(fds[at].as_fd(), len, Protection::ReadWrite);
    let maps = vec![
        map(0, control).unwrap(),
        map(1, pool).unwrap(),
        map(2, pool).unwrap(),
    ];
    let (near, far) = UnixStream::pair().unwrap();
    let socket = near.try_clone().unwrap();
    let (near, far) = (peer(near), peer(far));
    let server = server_lanes(&sizes, fds, LINK_SLOTS, Some(near.clone())).unwrap();
    let client = client_lanes(&sizes, copies.into(), LINK_SLOTS, Some(far.clone())).unwrap();
    let add = |endpoint: &Endpoint, link| endpoint.shared.add(AnyLink::Shm(link)).unwrap();
    (
        add(
            one,
            Box::new(ShmLink::new(
                near,
                &sizes,
                &Limits::usual(&Transport::Shm),
                None,
                server,
            )),
        ),
        add(
            other,
            Box::new(ShmLink::new(
                far,
                &sizes,
                &Limits::usual(&Transport::Shm),
                None,
                client,
            )),
        ),
        maps,
        socket,
    )
}

/// Begins all operations repeatedly, and returns their results.
fn talk(
    endpoint: &Endpoint,
    link: LinkId,
    stop: &AtomicBool,
) -> Vec<Result<Option<Status>, Error>> {
    let mut ends = Vec::new();
    let mut memory = vec![0; 100_000];
    while !stop.load(Ordering::Relaxed) && ends.len() < 10_000 {
        // SAFETY: all operations end below.
        for request in unsafe { begin_all(endpoint, link, memory.as_mut_ptr()) } {
            ends.push(endpoint.wait(request, SOON));
        }
        let _ = endpoint.take(&Wanted::new(link, 1), Some(Duration::ZERO));
    }
    ends
}

#[test]
fn each_lie_about_a_place_ends_the_link() {
    let endpoint = Endpoint::new().unwrap();
    let place = |place: u32, offset: u32, len: u32| Descriptor { place, offset, len };
    let chunk = 4096;
    let lies = [
        place(46, 0, 100),
        place(u32::MAX, 0, 100),
        place(1 << 31, 0, 100),
        place(16, 0, 30 * chunk + 1),
        place(45, 0, chunk + 1),
        place(20, 0, u32::MAX),
        place(20, 64, 100),
        place(15, 0, chunk + 1),
        place(15, chunk, 1),
        place(IN_SLOT, 0, INLINE as u32 + 1),
        place(IN_SLOT, 0, u32::MAX),
    ];
    for (at, found) in lies.into_iter().enumerate() {
        let sizes = sizes();
        let fds = create(&sizes, LINK_SLOTS).unwrap();
        let copies = fds.each_ref().map(|fd| fd.try_clone().unwrap());
        let (near, _far) = UnixStream::pair().unwrap();
        let near = peer(near);
        let server = server_lanes(&sizes, fds, LINK_SLOTS, Some(near.clone())).unwrap();
        let (out, _back) = client_lanes(&sizes, copies.into(), LINK_SLOTS, None).unwrap();
        let limits = Limits::usual(&Transport::Shm);
        let link = ShmLink::new(near, &sizes, &limits, None, server);
        let link = endpoint.shared.add(AnyLink::Shm(Box::new(link))).unwrap();
        // A message may take the whole arena, any number of times.
        let head = Head::new(Kind::Eager, 0, 1).encode();
        let whole = place(16, 0, 30 * chunk);
        out.put_frame(0, whole, head, [0; 3], false);
        out.put_frame(1, whole, head, [0; 3], false);
        out.put_frame(2, found, head, [0; 3], false);
        let mut into = vec![1; 30 * chunk as usize];
        endpoint.recv(Wanted::new(link, 1), &mut into).unwrap();
        assert!(into.iter().all(|byte| *byte == 0));
        let taken = endpoint.take(&Wanted::new(link, 1), SOON).unwrap().unwrap();
        let end = endpoint.recv(Wanted::new(link, 1), &mut into);
        assert!(
            matches!(end, Err(Error::PeerMisbehaved(_))),
            "{at}: {end:?}"
        );
        assert_eq!(taken.to_vec().len(), 30 * chunk as usize);
    }
    assert!(is_well(&endpoint));
}

#[test]
fn shared_memory_may_be_scribbled_over() {
    let (one, other) = (Endpoint::new().unwrap(), Endpoint::new().unwrap());
    one.set_handler(2, |message| drop(message.to_vec()));
    let (start, mut rounds) = (Instant::now(), 0);
    let (mut received, mut caught) = (0, 0);
    let enough = |rounds, received, caught| rounds > 10 && received > 100 && caught > 10;
    while goes_on(start, enough(rounds, received, caught)) {
        rounds += 1;
        let (here, there, maps, socket) = shared_pair(&one, &other);
        let stop = AtomicBool::new(false);
        let ends = thread::scope(|scope| {
            let talks = [
                scope.spawn(|| talk(&one, here, &stop)),
                scope.spawn(|| talk(&other, there, &stop)),
            ];
            scope.spawn(|| {
                let mut random = Random::new(rounds);
                // Let the links work for a while.
                thread::sleep(Duration::from_micros(random.below(3000) as u64));
                while !stop.load(Ordering::Relaxed) {
                    let map = &maps[[0, 0, 0, 1, 2][random.below(5)]];
                    let word = map.long(random.below(map.len() / 8) * 8);
                    let value = [0, 1, 2, 255, 256, 4096, 4097, u64::MAX, random.next()];
                    match random.below(3) {
                        0 => drop(word.fetch_add(1, Ordering::Relaxed)),
                        1 => drop(word.fetch_xor(1 << random.below(64), Ordering::Relaxed)),
                        _ => word.store(value[random.below(9)], Ordering::Relaxed),
                    }
                }
            });
            thread::sleep(Duration::from_millis(15));
            stop.store(true, Ordering::Relaxed);
            // A message may never arrive, because its slot has been overwritten. So close the
            // socket.
            socket.shutdown(Shutdown::Both).unwrap();
            talks.map(|talk| talk.join().unwrap())
        });
        for end in ends.into_iter().flatten() {
            match end {
                Ok(Some(_)) => received += 1,
                Ok(None) => panic!("it hangs, round {rounds}"),
                Err(error) => {
                    caught += usize::from(matches!(error, Error::PeerMisbehaved(_)));
                    assert!(is_fair(&error), "{error}");
                }
            }
        }
        while let Ok(Some(_)) = one.take(&Wanted::any(), Some(Duration::ZERO)) {}
        while let Ok(Some(_)) = other.take(&Wanted::any(), Some(Duration::ZERO)) {}
    }
    assert!(
        enough(rounds, received, caught),
        "{rounds} {received} {caught}"
    );
    assert!(is_well(&one) && is_well(&other));
}
