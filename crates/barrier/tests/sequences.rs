//! Sequences of messages that random runs hardly ever find.

use std::time::Duration;

use mgn_barrier::{Barrier, Combine, Ended, Event, Group, Id, Member, Recipient, Star, View};

const NOW: Duration = Duration::ZERO;
const GROUP: Group = Group(3);

/// The packets that a member wants to send, with their receivers.
fn packets(member: &mut impl Barrier) -> Vec<(Id, Vec<u8>)> {
    let mut all = Vec::new();
    while let Some(transmit) = member.poll_transmit() {
        match transmit.to {
            Recipient::Member(to) => all.push((to, transmit.packet)),
            Recipient::Each(view) | Recipient::All(view) => {
                let others = view.members().iter().filter(|to| **to != member.id());
                all.extend(others.map(|to| (*to, transmit.packet.clone())));
            }
        }
    }
    all
}

fn end(member: &mut impl Barrier) -> Option<Ended> {
    let events = std::iter::from_fn(|| member.poll_event());
    let ends = events.filter_map(|event| match event {
        Event::Ended(why) => Some(why),
        _ => None,
    });
    ends.last()
}

/// The first of two members dies when it releases the second one, which is leaving. So the second
/// one, which does not know that it is released, has no member left to which it could admit a
/// process. That process must go on to wait for its other contact.
#[test]
fn a_leaving_member_admits_nobody_to_an_empty_group() {
    let [one, two, other, joining] = [0, 1, 2, 3].map(Id);
    let view = View::new([one, two]).unwrap();
    let member = |me| Member::new(GROUP, me, &view, Star::default(), Combine::Any).unwrap();
    let (mut first, mut second) = (member(one), member(two));
    second.leave(NOW).unwrap();
    // The first member decides two views. The second view releases the second member.
    let mut installs = 0;
    'alive: loop {
        for (_, packet) in packets(&mut second) {
            first.receive(NOW, two, &packet).unwrap();
        }
        let sent = packets(&mut first);
        assert!(!sent.is_empty(), "the second member was not released");
        for (_, packet) in sent {
            let before = format!("{:?}", second.view());
            if first.view().members() == [one] && installs == 1 {
                break 'alive;
            }
            second.receive(NOW, one, &packet).unwrap();
            installs += usize::from(format!("{:?}", second.view()) != before);
        }
    }
    let mut third =
        Member::join(GROUP, joining, &[two, other], Star::default(), Combine::Any).unwrap();
    for (to, packet) in packets(&mut third) {
        if to == two {
            second.receive(NOW, joining, &packet).unwrap();
        }
    }
    second.lost(NOW, one);
    let sent = packets(&mut second);
    assert_eq!(end(&mut second), Some(Ended::Left));
    assert!(sent.iter().any(|(to, _)| *to == joining), "it is told");
    for (_, packet) in sent.iter().filter(|(to, _)| *to == joining) {
        third.receive(NOW, two, packet).unwrap();
    }
    third.lost(NOW, two);
    assert_eq!(end(&mut third), None, "its other contact is alive");
}
