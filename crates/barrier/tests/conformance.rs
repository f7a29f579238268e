//! Tests that every implementation of barriers must pass.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use mgn_barrier::{
    Barrier, Combine, Dissemination, Ended, Event, Group, Hierarchical, Id, Lost, Member, Misuse,
    Pattern, Recipient, Refused, Resending, Star, Tree, Udp, View, ViewError,
};

const NOW: Duration = Duration::ZERO;
const GROUP: Group = Group(9);
const SECRET: &[u8] = b"the job's";

/// Functions that make a member of a new group, and a member that joins.
type New = fn(Group, Id, &View, Combine) -> Box<dyn Barrier>;
type Join = fn(Group, Id, &[Id], Combine) -> Box<dyn Barrier>;

fn two_hosts() -> BTreeMap<Id, u32> {
    (0..64).map(|id| (Id(id), id % 2)).collect()
}

/// Each implementation, with its name.
fn each() -> Vec<(&'static str, New, Join)> {
    fn new<P: Pattern + 'static>(g: Group, me: Id, v: &View, p: P, c: Combine) -> Box<dyn Barrier> {
        Box::new(Member::new(g, me, v, p, c).unwrap())
    }
    fn join<P: Pattern + 'static>(
        g: Group,
        me: Id,
        to: &[Id],
        p: P,
        c: Combine,
    ) -> Box<dyn Barrier> {
        Box::new(Member::join(g, me, to, p, c).unwrap())
    }
    vec![
        (
            "star",
            |g, me, v, c| new(g, me, v, Star::default(), c),
            |g, me, to, c| join(g, me, to, Star::default(), c),
        ),
        (
            "tree",
            |g, me, v, c| new(g, me, v, Tree::new(2), c),
            |g, me, to, c| join(g, me, to, Tree::new(2), c),
        ),
        (
            "dissemination",
            |g, me, v, c| new(g, me, v, Dissemination::default(), c),
            |g, me, to, c| join(g, me, to, Dissemination::default(), c),
        ),
        (
            "hierarchical",
            |g, me, v, c| new(g, me, v, Hierarchical::new(two_hosts()), c),
            |g, me, to, c| join(g, me, to, Hierarchical::new(two_hosts()), c),
        ),
        (
            "udp",
            |g, me, v, c| Box::new(Udp::new(g, me, v, c, SECRET, Resending::default()).unwrap()),
            |g, me, to, c| Box::new(Udp::join(g, me, to, c, SECRET, Resending::default()).unwrap()),
        ),
    ]
}

/// Members whose packets arrive at once and in order.
struct Net {
    members: Vec<(Box<dyn Barrier>, bool)>,
    flying: VecDeque<(Id, Id, Vec<u8>)>,
}

impl Net {
    fn new(new: New, count: u32, combine: Combine) -> Net {
        let view = View::new((0..count).map(Id)).unwrap();
        let members = view.members().iter();
        Net {
            members: members
                .map(|me| (new(GROUP, *me, &view, combine), true))
                .collect(),
            flying: VecDeque::new(),
        }
    }

    fn at(&mut self, at: usize) -> &mut dyn Barrier {
        &mut *self.members[at].0
    }

    fn collect(&mut self) {
        (0..self.members.len()).for_each(|at| self.collect_from(at));
    }

    fn collect_from(&mut self, at: usize) {
        let (member, is_alive) = &mut self.members[at];
        while let Some(transmit) = member.poll_transmit() {
            let to = match transmit.to {
                Recipient::Member(to) => vec![to],
                Recipient::All(view) | Recipient::Each(view) => view.members().to_vec(),
            };
            for to in to.into_iter().filter(|to| *is_alive && *to != member.id()) {
                let packet = transmit.packet.clone();
                self.flying.push_back((member.id(), to, packet));
            }
        }
    }

    fn settle(&mut self) {
        self.collect();
        while let Some((from, to, packet)) = self.flying.pop_front() {
            let at = to.0 as usize;
            let (member, is_alive) = &mut self.members[at];
            if *is_alive {
                // Some packets may be late, and are then refused.
                let _ = member.receive(NOW, from, &packet);
            }
            self.collect_from(at);
        }
    }

    /// Delivers the packets on their way from one member to another, or drops them.
    fn hand_over(&mut self, from: u32, to: u32, is_delivered: bool) {
        self.collect();
        let (theirs, others) = std::mem::take(&mut self.flying)
            .into_iter()
            .partition(|(f, t, _)| (*f, *t) == (Id(from), Id(to)));
        self.flying = others;
        let theirs: VecDeque<(Id, Id, Vec<u8>)> = theirs;
        for (from, to, packet) in theirs {
            if is_delivered {
                let _ = self.at(to.0 as usize).receive(NOW, from, &packet);
            }
        }
        self.collect();
    }

    fn kill(&mut self, dead: usize) {
        self.members[dead].1 = false;
        let id = Id(dead as u32);
        for (member, is_alive) in &mut self.members {
            if *is_alive {
                member.lost(NOW, id);
            }
        }
        self.settle();
    }

    fn events(&mut self, at: usize) -> Vec<Event> {
        let member = &mut self.members[at].0;
        std::iter::from_fn(|| member.poll_event()).collect()
    }
}

fn passed(epoch: u64, value: u64) -> Vec<Event> {
    vec![Event::Passed { epoch, value }]
}

#[test]
fn all_pass_after_the_last_has_arrived_with_what_became_of_their_numbers() {
    for (name, new, _) in each() {
        for combine in Combine::EACH {
            let mut net = Net::new(new, 5, combine);
            for epoch in 0..4 {
                let values = [12, 6, 7, 14, 5];
                for (at, value) in values.into_iter().enumerate() {
                    assert_eq!(net.at(at).arrive(NOW, value), Ok(epoch));
                    if at < 4 {
                        net.settle();
                        (0..5).for_each(|at| assert_eq!(net.events(at), [], "{name}"));
                    }
                }
                net.settle();
                let value = values.into_iter().reduce(|a, b| combine.of(a, b)).unwrap();
                (0..5).for_each(|at| assert_eq!(net.events(at), passed(epoch, value), "{name}"));
            }
        }
    }
}

#[test]
fn a_group_of_one_passes_at_once() {
    for (name, new, _) in each() {
        let mut net = Net::new(new, 1, Combine::Max);
        for epoch in 0..3 {
            assert_eq!(net.at(0).arrive(NOW, 4), Ok(epoch));
            assert_eq!(net.events(0), passed(epoch, 4), "{name}");
        }
    }
}

#[test]
fn who_is_missing_is_named() {
    for (name, new, _) in each() {
        let mut net = Net::new(new, 4, Combine::Any);
        for at in [0, 1, 3] {
            net.at(at).arrive(NOW, 0).unwrap();
        }
        net.settle();
        let waits = |net: &mut Net, at: usize| net.at(at).waits_for();
        assert!((0..4).any(|at| waits(&mut net, at) == [Id(2)]), "{name}");
        assert!(waits(&mut net, 2).is_empty());
    }
}

#[test]
fn programs_mistakes_change_nothing() {
    for (name, new, _) in each() {
        let mut net = Net::new(new, 2, Combine::Any);
        net.at(0).arrive(NOW, 1).unwrap();
        assert_eq!(net.at(0).arrive(NOW, 8), Err(Misuse::Twice { epoch: 0 }));
        assert_eq!(net.at(0).leave(NOW), Err(Misuse::Arrived { epoch: 0 }));
        net.at(1).arrive(NOW, 2).unwrap();
        net.settle();
        (0..2).for_each(|at| assert_eq!(net.events(at), passed(0, 3), "{name}"));
    }
    assert_eq!(View::new([]), Err(ViewError::Empty));
    let view = View::new([Id(1)]).unwrap();
    let outside = Member::new(GROUP, Id(0), &view, Star::default(), Combine::Any);
    assert_eq!(outside.unwrap_err(), ViewError::Outside { member: Id(0) });
}

#[test]
fn the_epoch_in_which_one_dies_fails_for_all_and_the_next_passes() {
    for (name, new, _) in each() {
        for dead in 0..4 {
            let mut net = Net::new(new, 4, Combine::Any);
            let alive: Vec<usize> = (0..4).filter(|at| *at != dead).collect();
            // One survivor arrives only after it has heard of the loss.
            for at in &alive[..2] {
                net.at(*at).arrive(NOW, 0).unwrap();
            }
            net.settle();
            net.kill(dead);
            let members = vec![Id(dead as u32)];
            let failed = Event::Failed(Lost { epoch: 0, members });
            let view = View::new(alive.iter().map(|at| Id(*at as u32))).unwrap();
            let changed = Event::Changed { view };
            for at in &alive[..2] {
                assert_eq!(net.events(*at), [failed.clone(), changed.clone()], "{name}");
            }
            assert_eq!(net.events(alive[2]), [changed], "{name}");
            assert_eq!(net.at(alive[2]).arrive(NOW, 0), Ok(0));
            assert_eq!(net.events(alive[2]), [failed], "{name}");
            for at in &alive {
                assert_eq!(net.at(*at).arrive(NOW, 1 << at), Ok(1));
            }
            net.settle();
            for at in &alive {
                assert_eq!(net.events(*at), passed(1, 15 & !(1 << dead)), "{name}");
            }
        }
    }
}

#[test]
fn two_die_at_once_and_the_rest_goes_on() {
    for (name, new, _) in each() {
        let mut net = Net::new(new, 4, Combine::Any);
        for at in 0..4 {
            net.at(at).arrive(NOW, 0).unwrap();
        }
        net.members[0].1 = false;
        net.kill(1);
        net.kill(0);
        for at in [2, 3] {
            let events = net.events(at);
            let failed = |event: &Event| matches!(event, Event::Failed(lost) if lost.epoch == 0);
            assert_eq!(events.iter().filter(|e| failed(e)).count(), 1, "{name}");
            assert_eq!(net.at(at).view().members(), [Id(2), Id(3)]);
            net.at(at).arrive(NOW, 1).unwrap();
        }
        net.settle();
        (2..4).for_each(|at| assert_eq!(net.events(at), passed(1, 1), "{name}"));
    }
}

#[test]
fn members_leave_and_join_without_a_failure() {
    for (name, new, join) in each() {
        for leaver in [0, 1, 2] {
            let mut net = Net::new(new, 3, Combine::Any);
            let stay: Vec<usize> = (0..3).filter(|at| *at != leaver).collect();
            net.at(stay[0]).arrive(NOW, 1).unwrap();
            net.at(leaver).leave(NOW).unwrap();
            assert_eq!(net.at(leaver).arrive(NOW, 0), Err(Misuse::Leaving));
            net.settle();
            assert_eq!(net.events(leaver), [Event::Ended(Ended::Left)], "{name}");
            assert_eq!(net.at(leaver).arrive(NOW, 0), Err(Ended::Left.into()));
            let contacts: Vec<Id> = stay.iter().map(|at| Id(*at as u32)).collect();
            let joiner = join(GROUP, Id(3), &contacts[1..], Combine::Any);
            net.members.push((joiner, true));
            assert_eq!(net.at(3).arrive(NOW, 0), Err(Misuse::Joining));
            net.settle();
            let joined = net.events(3);
            assert!(
                matches!(joined[..], [Event::Joined { epoch: 0, .. }]),
                "{name}"
            );
            net.at(stay[1]).arrive(NOW, 2).unwrap();
            net.settle();
            let early = |event: &Event| matches!(event, Event::Passed { .. });
            (0..4).for_each(|at| assert!(!net.events(at).iter().any(early), "{name}"));
            net.at(3).arrive(NOW, 4).unwrap();
            net.settle();
            for at in stay.into_iter().chain([3]) {
                assert_eq!(net.events(at), passed(0, 7), "{name}");
            }
        }
    }
}

#[test]
fn a_member_that_others_believe_lost_is_told() {
    for (name, new, _) in each() {
        for has_arrived in [true, false] {
            let mut net = Net::new(new, 3, Combine::Any);
            if has_arrived {
                net.at(2).arrive(NOW, 0).unwrap();
                net.settle();
            }
            net.at(0).lost(NOW, Id(2));
            net.settle();
            let events = net.events(2);
            assert_eq!(events, [Event::Ended(Ended::Excluded)], "{name}");
        }
    }
}

#[test]
fn a_joiner_whose_contacts_are_lost_is_alone() {
    for (name, _, join) in each() {
        let mut joiner = join(GROUP, Id(3), &[Id(0), Id(1)], Combine::Any);
        joiner.lost(NOW, Id(0));
        assert_eq!(joiner.poll_event(), None, "{name}");
        joiner.lost(NOW, Id(1));
        assert_eq!(joiner.poll_event(), Some(Event::Ended(Ended::Alone)));
    }
}

/// A member that goes tells one other member that an epoch has passed. The coordinator has not
/// heard that, and lets the epoch fail. Then the coordinator dies, and the other member has to
/// decide.
#[test]
fn a_decision_counts_more_than_the_word_of_one_that_has_gone() {
    let (_, new, _) = each()[0];
    let mut net = Net::new(new, 4, Combine::Any);
    for at in 0..4 {
        net.at(at).arrive(NOW, 1).unwrap();
    }
    for from in 1..4 {
        net.hand_over(from, 0, true);
    }
    assert_eq!(net.events(0), passed(0, 1));
    for to in 1..4 {
        net.hand_over(0, to, false);
    }
    net.at(0).abandon(NOW);
    net.hand_over(0, 1, false);
    net.hand_over(0, 3, false);
    net.members[0].1 = false;
    net.at(1).lost(NOW, Id(0));
    net.hand_over(1, 2, true);
    net.hand_over(1, 3, true);
    net.hand_over(2, 1, true);
    // The last word of member 0 comes after the report.
    net.hand_over(0, 2, true);
    net.hand_over(3, 1, true);
    net.hand_over(1, 3, true);
    net.hand_over(1, 2, false);
    net.kill(1);
    let members = vec![Id(0)];
    let failed = Event::Failed(Lost { epoch: 0, members });
    for at in [2, 3] {
        assert_eq!(net.events(at).first(), Some(&failed), "{at}");
    }
}

/// A member that has left, and whose process goes on, does not keep others waiting.
#[test]
fn one_that_has_left_and_closed_keeps_nobody_waiting() {
    for (name, new, _) in each() {
        let mut net = Net::new(new, 3, Combine::Any);
        net.at(0).leave(NOW).unwrap();
        net.settle();
        assert_eq!(net.events(0), [Event::Ended(Ended::Left)], "{name}");
        net.at(0).abandon(NOW);
        net.settle();
        // The state machine of that member no longer runs.
        net.members[0].1 = false;
        for at in [1, 2] {
            net.at(at).arrive(NOW, 1 << at).unwrap();
        }
        net.settle();
        (1..3).for_each(|at| assert!(net.events(at).ends_with(&passed(0, 6)), "{name}"));
    }
}

/// Tests packets of other groups, packets of an earlier epoch or of an epoch far ahead, copies, and
/// cut packets.
#[test]
fn strange_packets_do_no_harm() {
    /// A member can be one epoch ahead of another, but not two.
    const FAR: u64 = 2;
    for (name, new, _) in each() {
        let mut net = Net::new(new, 3, Combine::Any);
        let view = View::new((0..3).map(Id)).unwrap();
        let mut strange = Vec::new();
        let mut other = new(Group(10), Id(1), &view, Combine::Any);
        let mut differs = new(GROUP, Id(1), &view, Combine::Min);
        for member in [&mut other, &mut differs] {
            member.arrive(NOW, 255).unwrap();
            strange.extend(std::iter::from_fn(|| member.poll_transmit()));
        }
        assert_eq!(strange.len(), 2);
        let first = strange[0].packet.clone();
        let is_refused = |e: &Refused| matches!(e, Refused::Group { .. } | Refused::Forged);
        for at in [0, 2] {
            let refused = net.at(at).receive(NOW, Id(1), &first).unwrap_err();
            assert!(is_refused(&refused), "{name}: {refused}");
            let refused = net.at(at).receive(NOW, Id(1), &strange[1].packet);
            let (member, told, me) = (Id(1), Id(2 - at as u32), Id(at as u32));
            assert_eq!(
                refused,
                Err(match strange[1].to == Recipient::Member(me) {
                    true => Refused::Different { member },
                    false => Refused::Receiver { told, me },
                })
            );
            for len in 0..first.len() {
                assert!(net.at(at).receive(NOW, Id(1), &first[..len]).is_err());
            }
            assert!(net.at(at).poll_transmit().is_none(), "{name} answers");
        }
        let mut ahead = Net::new(new, 3, Combine::Any);
        for epoch in 0..=FAR {
            for at in 0..3 {
                assert_eq!(ahead.at(at).arrive(NOW, 1), Ok(epoch));
            }
            if epoch < FAR {
                ahead.settle();
            }
        }
        ahead.collect();
        assert!(!ahead.flying.is_empty());
        for (member, to, packet) in ahead.flying {
            let refused = net.at(to.0 as usize).receive(NOW, member, &packet);
            let (theirs, ours) = (FAR, 0);
            let epoch = Refused::Epoch {
                member,
                theirs,
                ours,
            };
            assert_eq!(refused, Err(epoch), "{name}");
            assert!(net.at(to.0 as usize).poll_transmit().is_none(), "{name}");
        }
        let mut old = Vec::new();
        for epoch in 0..3 {
            for at in 0..3 {
                assert_eq!(net.at(at).arrive(NOW, 1 << at), Ok(epoch));
                net.collect();
                old.extend(net.flying.iter().cloned());
            }
            // All packets that were sent before arrive once more.
            for (from, to, packet) in old.clone() {
                if epoch > 0 {
                    let _ = net.at(to.0 as usize).receive(NOW, from, &packet);
                }
            }
            net.settle();
            (0..3).for_each(|at| assert_eq!(net.events(at), passed(epoch, 7), "{name}"));
        }
    }
}

/// The sizes of groups for which the durations of barriers are calculated.
#[test]
fn thousands_of_members_pass() {
    for (name, new, _) in each() {
        // Its members here are on two hosts, which have fewer.
        if name == "hierarchical" {
            continue;
        }
        for count in [512, 4096] {
            let mut net = Net::new(new, count as u32, Combine::Max);
            for epoch in 0..2 {
                let last = (epoch as usize * 1000 + 77) % count;
                for at in (0..count).filter(|at| *at != last) {
                    net.at(at).arrive(NOW, at as u64).unwrap();
                }
                net.settle();
                for at in 0..count {
                    let event = net.at(at).poll_event();
                    assert!(event.is_none(), "{name}: {at} is early: {event:?}");
                }
                net.at(last).arrive(NOW, 10_000 + epoch).unwrap();
                net.settle();
                let value = 10_000 + epoch;
                for at in 0..count {
                    let event = net.at(at).poll_event();
                    assert_eq!(event, Some(Event::Passed { epoch, value }), "{name}: {at}");
                }
            }
        }
    }
}
