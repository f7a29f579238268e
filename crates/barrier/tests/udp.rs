//! Tests of barriers over datagrams: packets from outside the job, and the times at which packets
//! are sent again.

use std::time::Duration;

use mgn_barrier::{
    Barrier, Combine, Ended, Event, Group, Id, Recipient, Refused, Resending, Transmit, Udp, View,
};
use mgn_fuzzing::Random;

const GROUP: Group = Group(3);
const RESENDING: Resending = Resending {
    first: Duration::from_millis(1),
    least: Duration::from_micros(100),
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
    // The same packet comes on the connection of another member.
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

/// A repeated packet from any sender is answered by at most one packet, which is not longer.
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

/// Delivers the members' packets until none is left. Returns those for one member.
fn settle(members: &mut [Udp], now: Duration, heard_by: Id) -> Vec<(Id, Vec<u8>)> {
    let mut heard = Vec::new();
    loop {
        let mut sent = Vec::new();
        for member in &mut *members {
            let me = member.id();
            for Transmit { to, packet } in said(member) {
                let to = match to {
                    Recipient::Member(to) => vec![to],
                    Recipient::All(view) | Recipient::Each(view) => view.members().to_vec(),
                };
                let to = to.into_iter().filter(|to| *to != me);
                sent.extend(to.map(|to| (me, to, packet.clone())));
            }
        }
        if sent.is_empty() {
            return heard;
        }
        for (from, to, packet) in sent {
            let _ = members[to.0 as usize].receive(now, from, &packet);
            if to == heard_by {
                heard.push((from, packet));
            }
        }
    }
}

/// A member has left and tells another one so, which believes it lost meanwhile and excludes it.
/// Then it has nothing more to say, and does not repeat its message for ever.
#[test]
fn a_member_that_has_left_and_is_excluded_is_done() {
    let mut now = Duration::ZERO;
    let view = View::new([0, 1, 2].map(Id)).unwrap();
    let make = |me| Udp::new(GROUP, Id(me), &view, Combine::Any, b"one", RESENDING).unwrap();
    let mut members = [0, 1, 2].map(make);
    members[0].leave(now).unwrap();
    settle(&mut members, now, Id(0));
    // The other one has heard of the leave, but its own packet comes late.
    let mut late = make(1);
    late.arrive(now, 1).unwrap();
    let [root, ..] = &mut members;
    for Transmit { packet, .. } in said(&mut late) {
        let _ = root.receive(now, Id(1), &packet);
    }
    late.lost(now, Id(0));
    said(&mut late);
    for _ in 0..20 {
        for answer in said(root) {
            let _ = late.receive(now, Id(0), &answer.packet);
        }
        for answer in said(&mut late) {
            let _ = root.receive(now, Id(1), &answer.packet);
        }
        let Some(next) = root.poll_timeout() else {
            break;
        };
        now = now.max(next);
        root.timeout(now);
    }
    assert_eq!(root.poll_timeout(), None);
    assert!(root.is_settled());
}

/// After its end, a member answers each other member once in a way that makes sure that the answer
/// arrives. After that, no more bytes go out than come in, and nothing is sent again.
#[test]
fn a_member_that_has_ended_amplifies_nothing() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum End {
        Leaves,
        LeavesAndLosesThem,
        LosesThemAndCloses,
    }
    for (ended, end) in [0, 1].into_iter().flat_map(|ended| {
        let ends = [
            End::Leaves,
            End::LeavesAndLosesThem,
            End::LosesThemAndCloses,
        ];
        ends.map(|end| (ended, end))
    }) {
        let view = View::new([0, 1, 2].map(Id)).unwrap();
        let make = |me| Udp::new(GROUP, Id(me), &view, Combine::Any, b"one", RESENDING).unwrap();
        let mut members = [0, 1, 2].map(make);
        let mut now = Duration::ZERO;
        let me = Id(ended as u32);
        let others = [0, 1, 2].map(Id).into_iter().filter(|id| *id != me);
        let mut heard = Vec::new();
        for first in [0, 1, 2] {
            members[first].arrive(now, 1).unwrap();
            while now < RESENDING.most * (first as u32 + 1) {
                now = members[first].poll_timeout().unwrap();
                members[first].timeout(now);
                heard.extend(settle(&mut members, now, me));
            }
            for other in [(first + 1) % 3, (first + 2) % 3] {
                members[other].arrive(now, 1).unwrap();
            }
            heard.extend(settle(&mut members, now, me));
        }
        match end {
            End::Leaves | End::LeavesAndLosesThem => {
                members[ended].leave(now).unwrap();
                heard.extend(settle(&mut members, now, me));
            }
            End::LosesThemAndCloses => {
                for other in others.clone() {
                    members[ended].lost(now, other);
                }
                members[ended].abandon(now);
                said(&mut members[ended]);
            }
        }
        let member = &mut members[ended];
        let events: Vec<Event> = std::iter::from_fn(|| member.poll_event()).collect();
        assert!(matches!(events.last(), Some(Event::Ended(_))), "{events:?}");
        if end == End::LeavesAndLosesThem {
            others.clone().for_each(|other| member.lost(now, other));
        }
        // An attacker repeats all packets that have ever come, again and again.
        let (mut bytes_in, mut bytes_out) = (0, 0);
        for round in 0..20 {
            for (from, packet) in &heard {
                let _ = member.receive(now, *from, packet);
                let answers = said(member);
                let out = answers.iter().map(|answer| answer.packet.len());
                let out: usize = out.sum();
                if round > 0 || end != End::Leaves {
                    bytes_in += packet.len();
                    bytes_out += out;
                    assert!(
                        bytes_out <= bytes_in,
                        "{ended} {end:?}: {bytes_out} {bytes_in}"
                    );
                }
            }
        }
        assert!(bytes_out > 0, "{ended} {end:?}: nobody is told");
        if end != End::Leaves {
            assert_eq!(member.poll_timeout(), None, "{ended} {end:?}");
        }
    }
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

/// The others believe that a member is lost, and their notice to it was lost, too. The member
/// learns this when it asks.
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

/// Multicast does not reach a member. After a few releases, each member gets a separate release,
/// and after some time, the root tries multicast again.
#[test]
fn a_root_that_multicast_fails_addresses_each_member() {
    let view = View::new([0, 1, 2].map(Id)).unwrap();
    let make = |me| Udp::new(GROUP, Id(me), &view, Combine::Any, b"one", RESENDING).unwrap();
    let [mut root, mut near, mut far] = [0, 1, 2].map(make);
    let mut now = Duration::ZERO;
    let mut multicasts = Vec::new();
    for epoch in 0..20 {
        root.arrive(now, 0).unwrap();
        for member in [&mut near, &mut far] {
            let me = member.id();
            member.arrive(now, 0).unwrap();
            for arrival in said(member) {
                root.receive(now, me, &arrival.packet).unwrap();
            }
        }
        while far.poll_event().is_none() {
            for Transmit { to, packet } in said(&mut root) {
                let (is_for_near, is_for_far) = match to {
                    Recipient::All(_) => (true, false),
                    Recipient::Each(_) => (true, true),
                    Recipient::Member(to) => (to == Id(1), to == Id(2)),
                };
                if is_for_near && !is_for_far {
                    multicasts.push(epoch);
                }
                if is_for_near {
                    near.receive(now, Id(0), &packet).unwrap();
                }
                if is_for_far {
                    far.receive(now, Id(0), &packet).unwrap();
                }
            }
            if let Some(at) = far.poll_timeout() {
                now = at;
                far.timeout(now);
                for arrival in said(&mut far) {
                    root.receive(now, Id(2), &arrival.packet).unwrap();
                }
            }
        }
        for member in [&mut root, &mut near] {
            let passed = Event::Passed { epoch, value: 0 };
            assert_eq!(member.poll_event(), Some(passed));
        }
        if epoch == 9 {
            now += Duration::from_secs(60);
        }
    }
    let expected: Vec<u64> = (0..8).chain(10..18).collect();
    assert_eq!(multicasts, expected);
}

/// The loss of single releases does not mean that multicast does not reach a member. The same is
/// true of arrivals that are sent again before the release.
#[test]
fn multicast_goes_on_if_releases_are_lost_now_and_then() {
    let now = Duration::ZERO;
    let [mut root, mut other] = members(b"one");
    for epoch in 0..100 {
        other.arrive(now, 1).unwrap();
        root.arrive(now, 2).unwrap();
        let arrival = said(&mut other).remove(0).packet;
        root.receive(now, Id(1), &arrival).unwrap();
        let release = said(&mut root).remove(0);
        assert!(matches!(release.to, Recipient::All(_)), "epoch {epoch}");
        root.receive(now, Id(1), &arrival).unwrap();
        let again = said(&mut root).remove(0);
        assert_eq!(again.to, Recipient::Member(Id(1)));
        // The release of seven of every eight epochs is lost.
        if epoch % 8 == 0 {
            other.receive(now, Id(0), &release.packet).unwrap();
        }
        other.receive(now, Id(0), &again.packet).unwrap();
        while root.poll_event().is_some() || other.poll_event().is_some() {}
    }
}

/// An attacker repeats packets that report that multicast does not reach a member, or that it does.
#[test]
fn old_arrivals_say_nothing_about_multicast() {
    let now = Duration::ZERO;
    let [mut root, mut other] = members(b"one");
    let (mut alone, mut others) = (Vec::new(), Vec::new());
    let mut multicasts = 0;
    for epoch in 0..40 {
        other.arrive(now, 1).unwrap();
        root.arrive(now, 2).unwrap();
        let arrival = said(&mut other).remove(0).packet;
        root.receive(now, Id(1), &arrival).unwrap();
        let release = said(&mut root).remove(0);
        multicasts += u32::from(matches!(release.to, Recipient::All(_)));
        root.receive(now, Id(1), &arrival).unwrap();
        let again = said(&mut root).remove(0);
        let is_far = epoch % 8 < 4 || epoch >= 20;
        let heard = if is_far { &again } else { &release };
        other.receive(now, Id(0), &heard.packet).unwrap();
        while root.poll_event().is_some() || other.poll_event().is_some() {}
        // Before epoch 20, the attacker repeats arrivals that report separate releases. After that,
        // it repeats the other arrivals.
        match is_far {
            true => alone.push(arrival),
            false => others.push(arrival),
        }
        let repeated = if epoch < 20 { &alone } else { &others };
        for packet in repeated.iter().chain(repeated) {
            root.receive(now, Id(1), packet).unwrap();
        }
        said(&mut root);
    }
    // The releases of epochs 16 to 23 did not arrive by multicast.
    assert_eq!(multicasts, 24);
}

/// Many members receive a packet for all members. Members that it does not concern do not answer.
#[test]
fn nobody_answers_a_release_of_a_member_that_has_gone() {
    let now = Duration::ZERO;
    let view = View::new([0, 1, 2].map(Id)).unwrap();
    let make = |me| Udp::new(GROUP, Id(me), &view, Combine::Any, b"one", RESENDING).unwrap();
    let [mut root, mut other, mut third] = [0, 1, 2].map(make);
    root.arrive(now, 0).unwrap();
    for member in [&mut other, &mut third] {
        let me = member.id();
        member.arrive(now, 0).unwrap();
        let arrival = said(member).remove(0);
        root.receive(now, me, &arrival.packet).unwrap();
    }
    let release = said(&mut root).remove(0);
    assert!(matches!(release.to, Recipient::All(_)));
    for member in [&mut other, &mut third] {
        member.receive(now, Id(0), &release.packet).unwrap();
        said(member);
    }
    other.lost(now, Id(0));
    third.abandon(now);
    for member in [&mut other, &mut third] {
        said(member);
        for _ in 0..3 {
            let refused = member.receive(now, Id(0), &release.packet);
            assert_eq!(refused, Err(Refused::Stranger { member: Id(0) }));
            assert_eq!(said(member), []);
        }
    }
}

/// The first pause depends on the time that releases take. If an arrival was sent again, it is
/// unknown which packet was answered. So such an arrival only makes the next pause longer.
#[test]
fn arrivals_are_sent_again_sooner_if_releases_come_sooner() {
    let [mut root, mut other] = members(b"one");
    let mut now = Duration::ZERO;
    let mut pauses = Vec::new();
    for (took, epochs) in [(10, 40), (100, 60), (500, 60), (5000, 60)] {
        for _ in 0..epochs {
            other.arrive(now, 1).unwrap();
            let pause = other.poll_timeout().unwrap() - now;
            pauses.push(pause.as_micros());
            let arrival = said(&mut other).remove(0).packet;
            let end = now + Duration::from_micros(took);
            while let Some(at) = other.poll_timeout().filter(|at| *at < end) {
                other.timeout(at);
                assert_eq!(said(&mut other).len(), 1);
            }
            now = end;
            root.arrive(now, 2).unwrap();
            root.receive(now, Id(1), &arrival).unwrap();
            let release = said(&mut root).remove(0).packet;
            other.receive(now, Id(0), &release).unwrap();
            while root.poll_event().is_some() || other.poll_event().is_some() {}
        }
    }
    // No time is known before the first release, and a pause is never longer than configured.
    assert_eq!((pauses[0], pauses[1], pauses[39]), (1000, 100, 100));
    assert!((390..=400).contains(&pauses[99]), "{}", pauses[99]);
    // The first of these arrivals were sent again, until the pause was long enough for an arrival
    // to count for the mean.
    assert_eq!((pauses[101], pauses[159]), (799, 1000), "{pauses:?}");
    assert_eq!(pauses[219], 1000);
}
