//! How barriers over datagrams handle packets from outside of the job, and when they send packets
//! again.

use std::time::Duration;

use mgn_barrier::{
    Barrier, Combine, Ended, Event, Group, Id, Recipient, Refused, Resending, Transmit, Udp, View,
};
use mgn_fuzzing::Random;

const GROUP: Group = Group(3);
const RESENDING: Resending = Resending {
    first: Duration::from_millis(1),
    most: Duration::from_millis(8),
};

fn members(secret: &[u8]) -> [Udp; 2] {
    let view = View::new([0, 1].map(Id)).unwrap();
    [0, 1].map(|me| Udp::new(GROUP, Id(me), &view, Combine::Any, secret, RESENDING).unwrap())
}

fn said(member: &mut Udp) -> Vec<Transmit> {
    std::iter::from_fn(|| member.poll_transmit()).collect()
}

#[test]
fn packets_without_the_secret_change_nothing_and_are_not_answered() {
    let now = Duration::ZERO;
    let [mut root, mut other] = members(b"one");
    let [_, mut stranger] = members(b"another");
    for member in [&mut other, &mut stranger] {
        member.arrive(now, 1).unwrap();
    }
    root.arrive(now, 2).unwrap();
    let (true_one, forged) = (said(&mut other).remove(0).packet, said(&mut stranger));
    let before = format!("{root:?}");
    let mut random = Random::new(1);
    let mut bad = vec![forged[0].packet.clone(), Vec::new(), b"mgnB".to_vec()];
    bad.extend((0..true_one.len()).map(|len| true_one[..len].to_vec()));
    for bit in 0..8 * true_one.len() {
        let mut packet = true_one.clone();
        packet[bit / 8] ^= 1 << (bit % 8);
        bad.push(packet);
    }
    for len in 0..200 {
        bad.push((0..len).map(|_| random.next() as u8).collect());
    }
    for packet in bad {
        assert_eq!(root.receive(now, Id(1), &packet), Err(Refused::Forged));
        assert_eq!((said(&mut root), root.poll_event()), (Vec::new(), None));
    }
    assert_eq!(format!("{root:?}"), before);
    // The same packet from another member's connection.
    let refused = root.receive(now, Id(7), &true_one);
    assert!(matches!(refused, Err(Refused::Sender { .. })));
    root.receive(now, Id(1), &true_one).unwrap();
    let passed = Event::Passed { epoch: 0, value: 3 };
    assert_eq!(root.poll_event(), Some(passed));
}

#[test]
fn the_secret_is_not_printed() {
    let [root, _] = members(b"one");
    let text = format!("{root:?}");
    assert!(
        text.contains("Key(..)") && !text.contains("Key(["),
        "{text}"
    );
}

/// Packets that come again, from whomever, are answered by at most one that is no longer.
#[test]
fn nothing_is_amplified() {
    let now = Duration::ZERO;
    let [mut root, mut other] = members(b"one");
    other.arrive(now, 1).unwrap();
    root.arrive(now, 2).unwrap();
    let arrival = said(&mut other).remove(0).packet;
    root.receive(now, Id(1), &arrival).unwrap();
    assert!(matches!(
        said(&mut root)[..],
        [Transmit {
            to: Recipient::All(_),
            ..
        }]
    ));
    for _ in 0..10 {
        root.receive(now, Id(1), &arrival).unwrap();
        let answers = said(&mut root);
        assert_eq!(answers.len(), 1);
        assert!(answers[0].packet.len() <= arrival.len());
        assert_eq!(answers[0].to, Recipient::Member(Id(1)));
    }
    root.arrive(now, 0).unwrap();
    root.arrive(now, 0).unwrap_err();
    assert!(said(&mut root).is_empty());
}

#[test]
fn arrivals_are_sent_again_at_growing_intervals_until_they_are_answered() {
    let [mut root, mut other] = members(b"one");
    other.arrive(Duration::ZERO, 1).unwrap();
    let first = said(&mut other);
    let mut times = Vec::new();
    while times.len() < 6 {
        let now = other.poll_timeout().unwrap();
        times.push(now.as_millis());
        other.timeout(now);
        assert_eq!(said(&mut other), first);
    }
    assert_eq!(times, [1, 3, 7, 15, 23, 31]);
    let now = Duration::from_millis(40);
    root.arrive(now, 0).unwrap();
    root.receive(now, Id(1), &first[0].packet).unwrap();
    assert_eq!(root.poll_timeout(), None);
    let release = said(&mut root).remove(0);
    other.receive(now, Id(0), &release.packet).unwrap();
    assert_eq!(other.poll_timeout(), None);
    let passed = Event::Passed { epoch: 0, value: 1 };
    assert_eq!(other.poll_event(), Some(passed));
}

/// A member that the others believe lost, and whose notice was lost as well, learns that by asking.
#[test]
fn a_root_that_waits_asks_whether_that_is_in_vain() {
    let now = Duration::ZERO;
    let [mut root, mut other] = members(b"one");
    root.arrive(now, 1).unwrap();
    other.lost(now, Id(0));
    said(&mut other);
    let now = root.poll_timeout().unwrap();
    assert_eq!(now, RESENDING.most);
    root.timeout(now);
    let probe = said(&mut root).remove(0);
    assert!(other.receive(now, Id(0), &probe.packet).is_err());
    let answer = said(&mut other).remove(0);
    assert!(answer.packet.len() <= probe.packet.len());
    root.receive(now, Id(1), &answer.packet).unwrap();
    assert_eq!(root.poll_event(), Some(Event::Ended(Ended::Excluded)));
    assert_eq!(root.poll_timeout(), None);
}
