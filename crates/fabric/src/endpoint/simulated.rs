//! Tests of the protocol with links in one process and a virtual clock, with delays, small buffers
//! and peers that die.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use super::carrier::{Body, Carrier, Placer, Sent};
use super::engine::{Engine, SendOptions};
use super::head::{Head, Kind, ACTIVE};
use super::memory::{Memory, Payload};
use super::wanted::Wanted;
use super::written::Written;
use super::{LinkId, Request};
use crate::block::Block;
use crate::shm::SHORT;
use crate::testing::{times, Random};
use crate::{Error, Message};

/// One direction of a simulated link.
#[derive(Default)]
struct Pipe {
    frames: VecDeque<(u64, Head, Vec<u8>)>,
    answers: VecDeque<(u64, Head)>,
    /// The eager bytes and envelopes that the receiver holds.
    bytes: usize,
    envelopes: u32,
    is_cut: bool,
}

pub(super) struct World {
    pub(super) now: u64,
    random: Random,
    delay: u64,
    /// Whether all frames use one channel. Answers then wait behind data, and a receiver without
    /// space leaves data in the channel.
    in_band: bool,
}

pub(super) struct Simulated {
    world: Rc<RefCell<World>>,
    out: Rc<RefCell<Pipe>>,
    back: Rc<RefCell<Pipe>>,
    frames_max: usize,
    bytes_max: usize,
}

const EAGER: usize = 1000;
const ENVELOPES: u32 = 256;
const PART: usize = 700;

impl Simulated {
    fn due(&self) -> u64 {
        let mut world = self.world.borrow_mut();
        let delay = world.delay;
        world.now + world.random.below(delay + 1)
    }
}

impl Carrier for Simulated {
    fn send(&mut self, head: &Head, payload: Payload<'_>) -> Result<Sent, Error> {
        let due = self.due();
        let mut out = self.out.borrow_mut();
        if out.is_cut {
            return Err(Error::Closed("the peer".into()));
        }
        if out.frames.len() >= self.frames_max {
            return Ok(Sent::Busy);
        }
        let eager = match head.kind {
            Kind::Eager if payload.len > SHORT => payload.len,
            _ => 0,
        };
        let in_band = self.world.borrow().in_band;
        if matches!(head.kind, Kind::Eager | Kind::Offer) && !in_band {
            let is_handed = head.kind == Kind::Eager && self.hands_over(payload.memory);
            if out.envelopes >= ENVELOPES || (!is_handed && out.bytes + eager > self.bytes_max) {
                return Ok(Sent::NoCredit);
            }
            out.envelopes += 1;
            out.bytes += eager;
        }
        let mut bytes = vec![0; payload.len];
        // SAFETY: the vector has that many bytes.
        unsafe {
            payload
                .memory
                .gather(payload.offset, bytes.as_mut_ptr(), payload.len)
        };
        let due = out.frames.back().map_or(due, |(last, ..)| due.max(*last));
        out.frames.push_back((due, *head, bytes));
        Ok(Sent::Done)
    }

    fn answer(&mut self, head: &Head) -> Result<Sent, Error> {
        if self.world.borrow().in_band {
            let nothing = Memory::one(std::ptr::NonNull::dangling().as_ptr(), 0);
            let payload = Payload {
                memory: &nothing,
                offset: 0,
                len: 0,
            };
            return self.send(head, payload);
        }
        let due = self.due();
        let mut out = self.out.borrow_mut();
        if out.is_cut {
            return Err(Error::Closed("the peer".into()));
        }
        let due = out.answers.back().map_or(due, |(last, ..)| due.max(*last));
        out.answers.push_back((due, *head));
        Ok(Sent::Done)
    }

    fn recv(&mut self, placer: Placer<'_>) -> Result<Option<(Head, Body)>, Error> {
        let now = self.world.borrow().now;
        let mut back = self.back.borrow_mut();
        if back.answers.front().is_some_and(|(due, _)| *due <= now) {
            let (_, head) = back.answers.pop_front().unwrap();
            return Ok(Some((head, Body::short(&[]))));
        }
        if back.frames.front().is_none_or(|(due, ..)| *due > now) {
            return match back.is_cut && back.frames.is_empty() && back.answers.is_empty() {
                true => Err(Error::Closed("the peer".into())),
                false => Ok(None),
            };
        }
        if self.world.borrow().in_band {
            let (_, head, bytes) = back.frames.front().unwrap();
            let starts = matches!(head.kind, Kind::Eager | Kind::Offer);
            let eager = if starts && bytes.len() > SHORT {
                bytes.len()
            } else {
                0
            };
            // Longer messages have been handed over.
            if eager <= EAGER && back.bytes + eager > self.bytes_max {
                return Ok(None);
            }
            back.envelopes += u32::from(starts);
            back.bytes += eager;
        }
        let (_, head, bytes) = back.frames.pop_front().unwrap();
        drop(back);
        if bytes.len() <= SHORT {
            return Ok(Some((head, Body::short(&bytes))));
        }
        if self.world.borrow_mut().random.below(2) == 0 {
            if let Some(place) = placer(&head, bytes.len()) {
                // SAFETY: the placer returns memory for `bytes.len()` bytes.
                unsafe {
                    place
                        .as_ptr()
                        .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len())
                };
                return Ok(Some((head, Body::Placed(bytes.len()))));
            }
        }
        let mut block = Block::new(bytes.len())?;
        block.bytes_mut(0, bytes.len()).copy_from_slice(&bytes);
        Ok(Some((
            head,
            Body::Held(Message::of_block(block, bytes.len())),
        )))
    }

    fn matched(&mut self, eager_bytes: usize) {
        let mut back = self.back.borrow_mut();
        back.envelopes -= 1;
        back.bytes -= if eager_bytes > SHORT { eager_bytes } else { 0 };
    }

    fn envelopes(&self) -> u32 {
        ENVELOPES
    }

    fn eager_max(&self) -> usize {
        EAGER
    }

    fn part_max(&self) -> usize {
        PART
    }

    fn early_max(&self) -> usize {
        2 * PART
    }

    /// Some reserved messages lie in memory that both ends share, and others do not.
    fn hands_over(&self, memory: &Memory) -> bool {
        memory.written().is_some() && memory.len() % 3 > 0
    }

    fn flush(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// Engines. Each engine has a link to every other engine.
pub(super) struct Cluster {
    pub(super) world: Rc<RefCell<World>>,
    pub(super) nodes: Vec<Engine<Simulated>>,
    /// `links[i][j]` is the link from i to j.
    pub(super) links: Vec<Vec<Option<LinkId>>>,
    pipes: Vec<(usize, usize, Rc<RefCell<Pipe>>)>,
}

impl Cluster {
    pub(super) fn new(size: usize, seed: u64, delay: u64, in_band: bool) -> Cluster {
        let world = Rc::new(RefCell::new(World {
            now: 0,
            random: Random::new(seed),
            delay,
            in_band,
        }));
        let mut nodes: Vec<_> = (0..size).map(|_| Engine::new()).collect();
        let mut links = vec![vec![None; size]; size];
        let mut pipes = Vec::new();
        for i in 0..size {
            for j in 0..i {
                let (one, other) = (Rc::default(), Rc::default());
                let end = |out: &Rc<_>, back: &Rc<_>| Simulated {
                    world: world.clone(),
                    out: Rc::clone(out),
                    back: Rc::clone(back),
                    frames_max: 8,
                    bytes_max: 4 * EAGER,
                };
                links[i][j] = Some(nodes[i].add_link(end(&one, &other)));
                links[j][i] = Some(nodes[j].add_link(end(&other, &one)));
                pipes.push((i, j, one));
                pipes.push((j, i, other));
            }
        }
        Cluster {
            world,
            nodes,
            links,
            pipes,
        }
    }

    /// Makes all progress that is possible now, and then advances the clock. Returns false if
    /// nothing was left to happen.
    pub(super) fn step(&mut self) -> bool {
        let mut happened = false;
        for node in 0..self.nodes.len() {
            for link in self.links[node].iter().flatten() {
                happened |= self.nodes[node].progress(*link);
            }
        }
        if happened {
            return true;
        }
        // Frames that no engine reads any more stay in their pipes.
        let mut world = self.world.borrow_mut();
        let now = world.now;
        let due = |pipe: &Rc<RefCell<Pipe>>| {
            let pipe = pipe.borrow();
            let frames = pipe.frames.iter().map(|(due, ..)| *due);
            let all = frames.chain(pipe.answers.iter().map(|(due, _)| *due));
            all.filter(|due| *due > now).min()
        };
        let next = self.pipes.iter().filter_map(|(.., pipe)| due(pipe)).min();
        world.now = next.unwrap_or(now);
        next.is_some()
    }

    fn cut(&mut self, node: usize) {
        for (from, to, pipe) in &self.pipes {
            if *from == node || *to == node {
                pipe.borrow_mut().is_cut = true;
            }
        }
    }

    fn link(&self, from: usize, to: usize) -> LinkId {
        self.links[from][to].unwrap()
    }
}

pub(super) fn tagged(tag: u64) -> Head {
    Head::new(Kind::Eager, 0, tag)
}

pub(super) fn memory(bytes: &mut [u8]) -> Memory {
    Memory::one(bytes.as_mut_ptr(), bytes.len())
}

/// A reserved message with these bytes.
fn written(bytes: &[u8]) -> Memory {
    let written = Written::private(bytes.len() + 9).unwrap();
    // SAFETY: the memory has 9 bytes more.
    unsafe {
        written
            .start()
            .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len())
    };
    Memory::Written(Arc::new(written), bytes.len())
}

fn ended(cluster: &mut Cluster, node: usize, request: Option<Request>) -> Result<usize, Error> {
    let Some(request) = request else {
        return Ok(0);
    };
    for _ in 0..1_000_000 {
        if let Some(result) = cluster.nodes[node].ops.take(request)? {
            return result.map(|status| status.len);
        }
        if !cluster.step() {
            break;
        }
    }
    Err(Error::TimedOut("waiting".into()))
}

#[test]
fn messages_of_all_lengths_arrive_in_order() {
    for seed in 1..200 {
        let mut cluster = Cluster::new(2, seed, seed % 5, false);
        let mut random = Random::new(seed * 77);
        let (there, here) = (cluster.link(0, 1), cluster.link(1, 0));
        let lengths: Vec<usize> = (0..60)
            .map(|_| match random.below(4) {
                0 => random.below(SHORT as u64 + 1) as usize,
                1 => random.below(EAGER as u64 + 1) as usize,
                2 => random.below(3 * EAGER as u64) as usize,
                _ => random.below(20 * EAGER as u64) as usize,
            })
            .collect();
        let mut sent: Vec<Vec<u8>> = lengths
            .iter()
            .enumerate()
            .map(|(i, len)| (0..*len).map(|at| (at * 7 + i) as u8).collect())
            .collect();
        let mut sends = VecDeque::new();
        let mut receives = VecDeque::new();
        let mut got: Vec<Vec<u8>> = lengths.iter().map(|len| vec![0; *len]).collect();
        let (mut next_send, mut next_receive) = (0, 0);
        while next_send < 60 || next_receive < 60 || !sends.is_empty() || !receives.is_empty() {
            match random.below(3) {
                0 if next_send < 60 => {
                    let how = SendOptions {
                        sync: random.below(3) == 0,
                        unordered: false,
                    };
                    let bytes = &mut sent[next_send];
                    let bytes = match random.below(3) {
                        0 => written(bytes),
                        _ => memory(bytes),
                    };
                    let request = cluster.nodes[0].send(there, tagged(5), bytes, how);
                    sends.extend(request.unwrap());
                    next_send += 1;
                }
                1 if next_receive < 60 => {
                    let request = cluster.nodes[1]
                        .receive(Wanted::new(here, 5), memory(&mut got[next_receive]));
                    receives.push_back(request);
                    next_receive += 1;
                }
                _ => {
                    let moved = cluster.step();
                    sends.retain(|send| {
                        cluster.nodes[0]
                            .ops
                            .take(*send)
                            .unwrap()
                            .map(Result::unwrap)
                            .is_none()
                    });
                    let before = receives.len();
                    receives.retain(|receive| {
                        cluster.nodes[1]
                            .ops
                            .take(*receive)
                            .unwrap()
                            .map(Result::unwrap)
                            .is_none()
                    });
                    let all_begun = next_send == 60 && next_receive == 60;
                    assert!(
                        moved || !all_begun || before > receives.len() || receives.is_empty(),
                        "stuck, seed {seed}"
                    );
                }
            }
        }
        assert!(got == sent, "seed {seed}");
        assert_eq!(
            cluster.nodes[0].ops.pending + cluster.nodes[1].ops.pending,
            0
        );
    }
}

#[test]
fn tags_wildcards_and_unexpected_messages() {
    let mut cluster = Cluster::new(3, 9, 3, false);
    let mut bytes: Vec<Vec<u8>> = (0..6).map(|i| vec![i as u8; 500 * i]).collect();
    for (i, bytes) in bytes.iter_mut().enumerate() {
        let from = i % 2;
        let link = cluster.link(from, 2);
        cluster.nodes[from]
            .send(
                link,
                tagged(100 + i as u64),
                memory(bytes),
                SendOptions::default(),
            )
            .unwrap();
    }
    while cluster.step() {}
    let mut got = vec![0; 5000];
    let tag = |tag| Wanted {
        from: None,
        tag,
        ignore: 0,
    };
    assert_eq!(cluster.nodes[2].peek(&tag(104)).unwrap().len, 2000);
    assert!(cluster.nodes[2].peek(&tag(99)).is_none());
    for i in [4, 1, 5, 0] {
        let request = cluster.nodes[2].receive(tag(100 + i), memory(&mut got));
        assert_eq!(
            ended(&mut cluster, 2, Some(request)).unwrap(),
            500 * i as usize
        );
        assert!(got[..500 * i as usize].iter().all(|byte| *byte == i as u8));
    }
    // Message 2 came from node 0, and message 3 from node 1.
    let from = cluster.link(2, 1);
    let any = Wanted {
        from: Some(from),
        ..Wanted::any()
    };
    let request = cluster.nodes[2].receive(any, memory(&mut got));
    assert_eq!(ended(&mut cluster, 2, Some(request)).unwrap(), 1500);
    let (status, body) = cluster.nodes[2].take_in_place(&Wanted::any()).unwrap();
    assert_eq!((status.tag, body.len()), (102, 1000));
}

#[test]
fn a_message_longer_than_its_place_is_an_error_and_the_next_one_is_not() {
    for len in [20, 900, 5000] {
        let mut cluster = Cluster::new(2, 4, 2, false);
        let (there, here) = (cluster.link(0, 1), cluster.link(1, 0));
        let mut long = vec![7; len];
        let mut got = vec![0; len - 1];
        let send = cluster.nodes[0]
            .send(there, tagged(1), memory(&mut long), SendOptions::default())
            .unwrap();
        let next = cluster.nodes[0]
            .send(
                there,
                tagged(1),
                memory(&mut long[..5]),
                SendOptions::default(),
            )
            .unwrap();
        let receive = cluster.nodes[1].receive(Wanted::new(here, 1), memory(&mut got));
        match ended(&mut cluster, 1, Some(receive)) {
            Err(Error::Truncated { len: l, room }) => assert_eq!((l, room), (len, len - 1)),
            other => panic!("{other:?}"),
        }
        assert!(got.iter().all(|byte| *byte == 7));
        ended(&mut cluster, 0, send).unwrap();
        ended(&mut cluster, 0, next).unwrap();
        let receive = cluster.nodes[1].receive(Wanted::new(here, 1), memory(&mut got));
        assert_eq!(ended(&mut cluster, 1, Some(receive)).unwrap(), 5);
    }
}

#[test]
fn a_receiver_that_takes_nothing_holds_a_bounded_amount() {
    let mut cluster = Cluster::new(2, 4, 2, false);
    let (there, here) = (cluster.link(0, 1), cluster.link(1, 0));
    let mut bytes = vec![1; 300];
    let mut sends = Vec::new();
    for tag in 0..2 * u64::from(ENVELOPES) {
        let send = cluster.nodes[0].send(
            there,
            tagged(tag),
            memory(&mut bytes),
            SendOptions::default(),
        );
        sends.push(send.unwrap());
    }
    while cluster.step() {}
    let last = 2 * u64::from(ENVELOPES) - 1;
    // Other messages hold all envelopes, so this one cannot arrive.
    let mut got = vec![0; 300];
    let request = cluster.nodes[1].receive(Wanted::new(here, last), memory(&mut got));
    assert!(matches!(
        ended(&mut cluster, 1, Some(request)),
        Err(Error::Starved(_))
    ));
    for tag in 0..=last {
        let request = cluster.nodes[1].receive(Wanted::new(here, tag), memory(&mut got));
        assert_eq!(ended(&mut cluster, 1, Some(request)).unwrap(), 300, "{tag}");
    }
    for send in sends {
        ended(&mut cluster, 0, send).unwrap();
    }
}

#[test]
fn unordered_messages_overtake_those_that_wait_for_room() {
    for seed in 1..20 {
        let mut cluster = Cluster::new(2, seed, 0, false);
        let (there, here) = (cluster.link(0, 1), cluster.link(1, 0));
        let mut bytes = [1; 8];
        let mut send = |cluster: &mut Cluster, tag, unordered| {
            let how = SendOptions {
                sync: false,
                unordered,
            };
            let sent = cluster.nodes[0].send(there, tagged(tag), memory(&mut bytes), how);
            sent.unwrap()
        };
        // Send more than the channel holds. Then the other end reads. This end does not know that
        // yet.
        let waits: Vec<_> = (0..10).map(|tag| send(&mut cluster, tag, false)).collect();
        assert!(waits[7].is_none() && waits[8].is_some());
        while cluster.nodes[1].progress(here) {}
        assert!(send(&mut cluster, 20, true).is_none());
        let last = send(&mut cluster, 21, false);
        assert!(last.is_some());
        while cluster.step() {}
        let arrived: Vec<u64> = (0..12)
            .map(|_| {
                cluster.nodes[1]
                    .take_in_place(&Wanted::any())
                    .unwrap()
                    .0
                    .tag
            })
            .collect();
        assert_eq!(
            arrived,
            [0, 1, 2, 3, 4, 5, 6, 7, 20, 8, 9, 21],
            "seed {seed}"
        );
        for request in waits.into_iter().flatten().chain(last) {
            ended(&mut cluster, 0, Some(request)).unwrap();
        }
    }
}

#[test]
fn two_ends_that_send_first_need_a_channel_for_answers() {
    // Each end first sends a synchronous message for which the other end waits, and then more
    // messages than the other end can hold. Each end receives these only after its first send has
    // ended. If answers waited behind data, neither send would ever end.
    for in_band in [false, true] {
        let mut cluster = Cluster::new(2, 4, 0, in_band);
        let links = [cluster.link(0, 1), cluster.link(1, 0)];
        let mut bytes = vec![1; EAGER];
        let mut places = vec![vec![0; EAGER]; 2];
        let mut firsts = Vec::new();
        let mut receives = Vec::new();
        for node in 0..2 {
            let wanted = Wanted::new(links[node], 1);
            receives.push(cluster.nodes[node].receive(wanted, memory(&mut places[node])));
            let sync = SendOptions {
                sync: true,
                unordered: false,
            };
            let mut send = |tag, how| {
                let piece = memory(&mut bytes);
                cluster.nodes[node]
                    .send(links[node], tagged(tag), piece, how)
                    .unwrap()
            };
            firsts.push(send(1, sync));
            for _ in 0..20 {
                send(2, SendOptions::default());
            }
        }
        while cluster.step() {}
        for node in 0..2 {
            let received = ended(&mut cluster, node, Some(receives[node]));
            assert_eq!(
                received.unwrap(),
                EAGER,
                "the awaited message arrives in either case"
            );
            let first = ended(&mut cluster, node, firsts[node]);
            match in_band {
                false => assert_eq!(first.unwrap(), EAGER),
                true => assert!(matches!(first, Err(Error::TimedOut(_))), "{first:?}"),
            }
        }
        if in_band {
            continue;
        }
        for node in 0..2 {
            for _ in 0..20 {
                let wanted = Wanted::new(links[node], 2);
                let request = cluster.nodes[node].receive(wanted, memory(&mut places[node]));
                assert_eq!(ended(&mut cluster, node, Some(request)).unwrap(), EAGER);
            }
        }
    }
}

#[test]
fn a_death_ends_everything_that_waits_for_it() {
    for seed in 1..times(100, 4) {
        let mut cluster = Cluster::new(3, seed, 4, false);
        let mut random = Random::new(seed * 31);
        let links = [cluster.link(0, 1), cluster.link(1, 0), cluster.link(1, 2)];
        let mut bytes = vec![vec![3; 10_000]; 8];
        let mut waits = Vec::new();
        for (i, bytes) in bytes.iter_mut().enumerate() {
            let len = random.below(10_000) as usize;
            let piece = match i {
                0 => written(&bytes[..len]),
                _ => memory(&mut bytes[..len]),
            };
            match i % 4 {
                0 => waits.push((
                    0,
                    cluster.nodes[0]
                        .send(
                            links[0],
                            tagged(1),
                            piece,
                            SendOptions {
                                sync: true,
                                unordered: false,
                            },
                        )
                        .unwrap(),
                )),
                1 => waits.push((
                    1,
                    Some(cluster.nodes[1].receive(Wanted::new(links[1], 1), piece)),
                )),
                2 => waits.push((
                    1,
                    Some(cluster.nodes[1].receive(Wanted::new(links[2], 8), piece)),
                )),
                _ => waits.push((
                    0,
                    Some(cluster.nodes[0].receive(Wanted::new(links[0], 9), piece)),
                )),
            }
        }
        for _ in 0..random.below(30) {
            cluster.step();
        }
        cluster.cut(1);
        for (node, request) in waits {
            let result = ended(&mut cluster, node, request);
            assert!(!matches!(result, Err(Error::TimedOut(_))), "seed {seed}");
        }
        assert!(
            cluster.nodes.iter().all(|node| node.ops.pending == 0),
            "seed {seed}"
        );
    }
}

#[test]
fn what_is_not_taken_can_be_cancelled() {
    for seed in 1..50 {
        let mut cluster = Cluster::new(2, seed, 4, false);
        let (there, here) = (cluster.link(0, 1), cluster.link(1, 0));
        let mut bytes = vec![3; 9999];
        let mut got = vec![0; 9999];
        // A message in reserved memory is offered, too, if it cannot be handed over.
        let offered = |bytes: &mut [u8]| match seed % 3 {
            0 => written(bytes),
            _ => memory(bytes),
        };
        let send = cluster.nodes[0]
            .send(
                there,
                tagged(1),
                offered(&mut bytes),
                SendOptions::default(),
            )
            .unwrap()
            .unwrap();
        for _ in 0..seed % 7 {
            cluster.step();
        }
        let early = seed % 2 == 0;
        let receive =
            early.then(|| cluster.nodes[1].receive(Wanted::new(here, 1), memory(&mut got)));
        cluster.nodes[0].cancel(send).unwrap();
        let sent = ended(&mut cluster, 0, Some(send));
        match (sent, receive) {
            (Err(Error::Cancelled), None) => {
                assert!(cluster.nodes[1].peek(&Wanted::any()).is_none())
            }
            (Err(Error::Cancelled), Some(receive)) => {
                assert!(cluster.nodes[1].cancel(receive).unwrap());
                assert!(matches!(
                    ended(&mut cluster, 1, Some(receive)),
                    Err(Error::Cancelled)
                ));
            }
            (Ok(_), Some(receive)) => {
                assert_eq!(ended(&mut cluster, 1, Some(receive)).unwrap(), 9999);
            }
            (sent, _) => panic!("{sent:?}, seed {seed}"),
        }
        assert_eq!(
            cluster.nodes[0].ops.pending + cluster.nodes[1].ops.pending,
            0
        );
    }
}

#[test]
fn messages_for_handlers_come_beside_the_others() {
    let mut cluster = Cluster::new(2, 3, 2, false);
    let (there, here) = (cluster.link(0, 1), cluster.link(1, 0));
    let mut bytes: Vec<u8> = (0..9000).map(|at| at as u8).collect();
    for (handler, len) in [(7, 0), (8, 10), (9, 800), (10, 9000)] {
        let head = Head {
            flags: ACTIVE,
            handler,
            ..tagged(42)
        };
        cluster.nodes[0]
            .send(
                there,
                head,
                memory(&mut bytes[..len]),
                SendOptions::default(),
            )
            .unwrap();
    }
    while cluster.step() {}
    let mut seen = Vec::new();
    while let Some(active) = cluster.nodes[1].active.pop_front() {
        assert_eq!((active.from, active.tag), (here, 42));
        let (bytes, eager) = match active.bytes {
            super::engine::Bytes::Whole(bytes) => (bytes, 0),
            super::engine::Bytes::Body(body) => {
                // SAFETY: the body has `body.len()` bytes.
                let bytes =
                    unsafe { std::slice::from_raw_parts(body.as_ptr().unwrap(), body.len()) };
                (bytes.to_vec(), body.len())
            }
        };
        assert!(bytes.iter().enumerate().all(|(at, byte)| *byte == at as u8));
        seen.push((active.handler, bytes.len()));
        cluster.nodes[1].handled(here, eager);
    }
    assert_eq!(seen, [(7, 0), (8, 10), (9, 800), (10, 9000)]);
}

#[test]
fn what_was_handed_over_comes_whole_and_waits_for_envelopes_only() {
    let mut cluster = Cluster::new(2, 6, 3, false);
    let (there, here) = (cluster.link(0, 1), cluster.link(1, 0));
    // The message is longer than a slice, so that it is copied in several steps.
    let long: Vec<u8> = (0..2_500_000).map(|at| (at / 1000) as u8).collect();
    assert_eq!(long.len() % 3, 1);
    let count = u64::from(ENVELOPES) + 5;
    let sends: Vec<_> = (0..count)
        .map(|tag| {
            let bytes = &long[..if tag % 100 == 0 { long.len() } else { 5500 }];
            cluster.nodes[0]
                .send(there, tagged(tag), written(bytes), SendOptions::default())
                .unwrap()
        })
        .collect();
    while cluster.step() {}
    for tag in 0..count {
        let len = if tag % 100 == 0 { long.len() } else { 5500 };
        let wanted = Wanted::new(here, tag);
        if tag % 2 == 1 {
            let (status, body) = cluster.nodes[1].take_in_place(&wanted).unwrap();
            assert_eq!((status.tag, body.len()), (tag, len));
        } else {
            let mut into = vec![0; len];
            let receive = cluster.nodes[1].receive(wanted, memory(&mut into));
            while cluster.nodes[1].fetch_some() {}
            assert_eq!(ended(&mut cluster, 1, Some(receive)).unwrap(), len);
            assert!(into == long[..len]);
        }
        while cluster.step() {}
    }
    for send in sends {
        ended(&mut cluster, 0, send).unwrap();
    }
    assert_eq!(cluster.nodes[0].ops.pending, 0);
}

/// Exchanges `count` messages in each direction. Every thousandth message is long, and each message
/// is filled with its number. No message is lost, duplicated, changed or overtaken.
fn exchange(count: u64) {
    const WINDOW: usize = 64;
    const LONG: usize = 150;
    struct End {
        out: Vec<[u64; LONG]>,
        sends: VecDeque<Option<Request>>,
        sent: u64,
        into: Vec<[u64; LONG]>,
        receives: VecDeque<Request>,
        received: u64,
    }
    let mut cluster = Cluster::new(2, 5, 3, false);
    let links = [cluster.link(0, 1), cluster.link(1, 0)];
    let end = || End {
        out: vec![[0; LONG]; WINDOW],
        sends: VecDeque::new(),
        sent: 0,
        into: vec![[0; LONG]; WINDOW],
        receives: VecDeque::new(),
        received: 0,
    };
    let words = |number: u64| if number % 1000 == 999 { LONG } else { 1 };
    let place = |number: u64| number as usize % WINDOW;
    let mut ends = [end(), end()];
    while ends
        .iter()
        .any(|end| end.received < count || !end.sends.is_empty())
    {
        let before = (
            cluster.world.borrow().now,
            ends[0].received,
            ends[1].received,
        );
        for ((end, engine), link) in ends.iter_mut().zip(&mut cluster.nodes).zip(links) {
            while end.receives.len() < WINDOW {
                let posted = end.received + end.receives.len() as u64;
                let into = end.into[place(posted)].as_mut_ptr().cast();
                let into = Memory::one(into, 8 * LONG);
                end.receives
                    .push_back(engine.receive(Wanted::new(link, 1), into));
            }
            while end.sent < count && end.sends.len() < WINDOW {
                let out = &mut end.out[place(end.sent)];
                out.fill(end.sent);
                let out = Memory::one(out.as_mut_ptr().cast(), 8 * words(end.sent));
                let send = engine.send(link, tagged(1), out, SendOptions::default());
                end.sends.push_back(send.unwrap());
                end.sent += 1;
            }
            while let Some(send) = end.sends.front() {
                match send.map(|send| engine.ops.take(send).unwrap()) {
                    Some(None) => break,
                    Some(Some(result)) => drop(result.unwrap()),
                    None => {}
                }
                end.sends.pop_front();
            }
        }
        let moved = cluster.step();
        for (end, engine) in ends.iter_mut().zip(&mut cluster.nodes) {
            while let Some(status) = engine.ops.take(end.receives[0]).unwrap() {
                let (number, len) = (end.received, status.unwrap().len);
                end.receives.pop_front();
                assert_eq!(len, 8 * words(number));
                let into = &end.into[place(number)][..len / 8];
                assert!(
                    into.iter().all(|word| *word == number),
                    "{number}: {into:?}"
                );
                end.received += 1;
                if end.receives.is_empty() {
                    break;
                }
            }
        }
        let after = (
            cluster.world.borrow().now,
            ends[0].received,
            ends[1].received,
        );
        assert!(
            moved || after != before || ends[0].received == count,
            "stuck at {after:?}"
        );
    }
    assert!(ends.iter().all(|end| end.received == count));
}

#[test]
fn a_million_messages_arrive_once_and_in_order() {
    exchange(times(500_000, 200));
}

/// Runs in `make stress`.
#[test]
#[ignore = "takes half a minute"]
fn a_hundred_million_messages_arrive_once_and_in_order() {
    exchange(50_000_000);
}
