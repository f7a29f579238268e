//! Calculates the duration of a barrier among many members, on a virtual clock.
//!
//! A member needs the time `send` for each packet that it sends (a multicast is one packet), and
//! the time `receive` for each packet that it takes. A packet is on the network for the time
//! `wire`. All members arrive at the same moment. The arguments are `send`, `receive` and `wire` in
//! nanoseconds. The defaults are 500, 500 and 2000.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use mgn_barrier::{
    Barrier, Combine, Dissemination, Event, Group, Id, Member, Pattern, Recipient, Resending, Star,
    Tree, Udp, View,
};

#[derive(Clone, Copy)]
struct Costs {
    send: u64,
    receive: u64,
    wire: u64,
    multicast: bool,
}

fn main() {
    let mut costs = [500, 500, 2000];
    let arguments = std::env::args().skip(1);
    for (cost, argument) in costs.iter_mut().zip(arguments) {
        *cost = argument.parse().expect("a number of nanoseconds");
    }
    let [send, receive, wire] = costs;
    println!("send {send} ns, receive {receive} ns, wire {wire} ns: microseconds a barrier");
    println!("{:<22}{:>10}{:>10}{:>10}{:>10}", "members", 2, 9, 512, 4096);
    let costs = |multicast| Costs {
        send,
        receive,
        wire,
        multicast,
    };
    row("dissemination", costs(false), &|me, view| {
        member(me, view, Dissemination::default())
    });
    row("tree, fan-out 2", costs(false), &|me, view| {
        member(me, view, Tree::new(2))
    });
    row("tree, fan-out 8", costs(false), &|me, view| {
        member(me, view, Tree::new(8))
    });
    row("star", costs(false), &|me, view| {
        member(me, view, Star::default())
    });
    let udp = |me, view: &View| -> Box<dyn Barrier> {
        let (group, combine) = (Group(1), Combine::Any);
        // No packets are lost here, so no packets need to be sent again.
        let resending = Resending {
            first: Duration::from_secs(1),
            least: Duration::from_secs(1),
            most: Duration::from_secs(1),
        };
        Box::new(Udp::new(group, me, view, combine, b"secret", resending).expect("a view with me"))
    };
    row("udp", costs(false), &udp);
    row("udp, multicast", costs(true), &udp);
}

fn member<P: Pattern + 'static>(me: Id, view: &View, pattern: P) -> Box<dyn Barrier> {
    Box::new(Member::new(Group(1), me, view, pattern, Combine::Any).expect("a view with me"))
}

fn row(name: &str, costs: Costs, make: &dyn Fn(Id, &View) -> Box<dyn Barrier>) {
    print!("{name:<22}");
    for count in [2, 9, 512, 4096] {
        let view = View::new((0..count).map(Id)).expect("different members");
        let mut members: Vec<_> = view.members().iter().map(|me| make(*me, &view)).collect();
        // The second barrier begins when all members have passed the first.
        let first = barrier(&mut members, 0, costs);
        let second = barrier(&mut members, first, costs);
        print!("{:>10.1}", (second - first) as f64 / 1000.0);
    }
    println!();
}

/// Runs one barrier, at which all members arrive at the time `start`. Returns the time at which the
/// last member has passed.
fn barrier(members: &mut [Box<dyn Barrier>], start: u64, costs: Costs) -> u64 {
    let mut queue = BinaryHeap::new();
    let mut count = 0u64;
    // The time at which each member has finished its current work.
    let mut busy: BTreeMap<u32, u64> = BTreeMap::new();
    let mut end = start;
    let mut passed = 0;
    let mut drain = |member: &mut Box<dyn Barrier>, now: u64, queue: &mut BinaryHeap<_>| {
        let mut now = now;
        while let Some(transmit) = member.poll_transmit() {
            let me = member.id();
            let (to, at_once) = match transmit.to {
                Recipient::Member(to) => (vec![to], false),
                Recipient::All(view) => (view.members().to_vec(), costs.multicast),
                Recipient::Each(view) => (view.members().to_vec(), false),
            };
            let to: Vec<Id> = to.into_iter().filter(|to| *to != me).collect();
            now += if at_once { costs.send } else { 0 };
            for to in to {
                now += if at_once { 0 } else { costs.send };
                count += 1;
                let packet = transmit.packet.clone();
                queue.push(Reverse((now + costs.wire, count, me, to, packet)));
            }
        }
        now
    };
    for (at, member) in members.iter_mut().enumerate() {
        let clock = Duration::from_nanos(start);
        member.arrive(clock, 1).expect("it has passed the last");
        let done = drain(member, start, &mut queue);
        busy.insert(at as u32, done);
    }
    while let Some(Reverse((due, _, from, to, packet))) = queue.pop() {
        let member = &mut members[to.0 as usize];
        let now = due.max(busy[&to.0]) + costs.receive;
        let clock = Duration::from_nanos(now);
        member
            .receive(clock, from, &packet)
            .expect("an expected packet");
        let done = drain(member, now, &mut queue);
        busy.insert(to.0, done);
    }
    for (at, member) in members.iter_mut().enumerate() {
        while let Some(event) = member.poll_event() {
            passed += u64::from(matches!(event, Event::Passed { .. }));
            end = end.max(busy[&(at as u32)]);
        }
    }
    assert_eq!(passed, members.len() as u64, "all have passed");
    end
}
