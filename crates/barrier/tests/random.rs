//! Tests of many barriers with random delays, deaths, leaves and joins, on a virtual clock. No
//! member passes early, no member is stuck, and all survivors agree.
//!
//! `MGN_BARRIERS` is the minimum number of barriers that each test passes. If a seed fails, the
//! test prints it with its terms. `MGN_SEED` runs only one seed.

mod simulated;

use std::time::Duration;

use mgn_barrier::{
    Barrier, Combine, Dissemination, Group, Hierarchical, Id, Member, Pattern, Resending, Star,
    Tree, Udp,
};
use simulated::{Make, Start, Terms, World};

const GROUP: Group = Group(12);

pub fn member<P: Pattern + 'static>(me: Id, start: Start<'_>, pattern: P) -> Box<dyn Barrier> {
    let member = match start {
        Start::New(view) => Member::new(GROUP, me, view, pattern, Combine::Any),
        Start::Join(contacts) => Member::join(GROUP, me, contacts, pattern, Combine::Any),
    };
    Box::new(member.unwrap())
}

fn barriers() -> u64 {
    let set = std::env::var("MGN_BARRIERS").ok();
    set.map_or(20_000, |set| set.parse().expect("MGN_BARRIERS is a number"))
}

/// Makes terms of all kinds from a seed.
fn terms(seed: u64) -> Terms {
    let mut random = mgn_fuzzing::Random::new(seed);
    let delay = 1000;
    let members = match random.below(20) {
        0 => 13 + random.below(40),
        1 => 1,
        _ => 2 + random.below(9),
    };
    let is_calm = random.below(4) == 0;
    let mut up_to = |most: usize| match is_calm {
        true => 0,
        false => random.below(most + 1) as u32,
    };
    let (deaths, leaves, joins) = (up_to(members), up_to(3), up_to(4));
    let terms = Terms {
        seed,
        members: members as u32,
        epochs: 4 + random.below(40) as u64,
        delay,
        work: [1, 300, 3000, 30_000][random.below(4)],
        deaths,
        leaves,
        joins,
        is_suspicious: random.below(8) == 0,
        tells_early: random.below(2) == 0,
        cuts: false,
        stays_connected: false,
        closes_silently: false,
        slow: [0, 0, 10, 100][random.below(4)],
        loss: 0,
        twice: 0,
        keeps_order: true,
        deaf: 0,
        bound: 2000 * delay,
    };
    // A member that is wrongly believed lost waits for ever if the message that it is excluded is
    // cut off, or if the member that would tell it has closed its barrier.
    let cuts = random.below(2) == 0 && !terms.is_suspicious;
    let stays_connected = random.below(2) == 0;
    Terms {
        cuts,
        stays_connected,
        closes_silently: stays_connected && !terms.is_suspicious && seed % 8 == 7,
        ..terms
    }
}

/// Makes terms with links that lose and duplicate packets, and do not keep the order.
fn lossy(seed: u64) -> Terms {
    let mut random = mgn_fuzzing::Random::new(seed ^ 1 << 60);
    let terms = terms(seed);
    Terms {
        loss: [0, 10, 100, 300][random.below(4)],
        twice: [0, 10, 200][random.below(3)],
        keeps_order: false,
        deaf: [0, 0, 1, 3, 4][random.below(5)],
        // Some packets are lost a dozen times in a row.
        bound: 2_000_000,
        // As above: the message that a member is excluded is sent only once.
        stays_connected: terms.stays_connected && !terms.is_suspicious,
        // The last messages of a member that closes its barrier go through links.
        closes_silently: false,
        ..terms
    }
}

fn run(make: Make<'_>, terms: fn(u64) -> Terms, first: u64) {
    if let Ok(seed) = std::env::var("MGN_SEED") {
        let seed: u64 = seed.parse().expect("MGN_SEED is a number");
        if seed >> 32 == first >> 32 {
            World::new(terms(seed), make).run();
        }
        return;
    }
    let (mut passed, mut failed, mut seed) = (0, 0, first);
    while passed < barriers() {
        let _named = NamedIfItFails(seed);
        let mut world = World::new(terms(seed), make);
        world.run();
        passed += world.passed.div_ceil(u64::from(terms(seed).members));
        failed += world.failed;
        seed += 1;
    }
    assert!(failed > 0, "nothing has ever failed");
}

/// Prints the seed of a run that panics. `MGN_SEED` repeats the run.
struct NamedIfItFails(u64);

impl Drop for NamedIfItFails {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed with MGN_SEED={}", self.0);
        }
    }
}

#[test]
fn a_star() {
    let make = |me, start: Start<'_>| member(me, start, Star::default());
    // Here, processes waited for the proposal, or for a later view, of a member that had been
    // excluded, or had left, and kept its links.
    for seed in [4_294_974_684, 4_294_981_037, 4_295_182_121] {
        World::new(terms(seed), &make).run();
    }
    run(&make, terms, 1 << 32);
}

#[test]
fn trees() {
    let make = |me, start: Start<'_>| member(me, start, Tree::new(2));
    run(&make, terms, 2 << 32);
    let make = |me, start: Start<'_>| member(me, start, Tree::new(1));
    // Here, a member ignored that a leaving member had excluded it, because the leaving member had
    // closed its links before this message came.
    World::new(terms(12_885_225_030), &make).run();
    // Here, a member that had been excluded waited for a proposer that did not know it.
    World::new(terms(12_885_195_005), &make).run();
    run(&make, terms, 3 << 32);
}

#[test]
fn dissemination() {
    let make = |me, start: Start<'_>| member(me, start, Dissemination::default());
    // Here, a member that was leaving did not know that another process had joined, and took this
    // process out of the group.
    World::new(terms(17_180_059_998), &make).run();
    // Here, a process waited for a member that had left because it was excluded.
    World::new(terms(17_179_905_944), &make).run();
    run(&make, terms, 4 << 32);
}

#[test]
fn hierarchical() {
    let hosts = (0..64).map(|id| (Id(id), id % 3)).collect();
    let pattern = Hierarchical::new(hosts);
    let make = |me, start: Start<'_>| member(me, start, pattern.clone());
    run(&make, terms, 6 << 32);
}

#[test]
fn datagrams() {
    let resending = Resending {
        first: Duration::from_micros(10),
        least: Duration::from_micros(1),
        most: Duration::from_nanos(40_000),
    };
    let make = |me, start: Start<'_>| -> Box<dyn Barrier> {
        let (combine, secret) = (Combine::Any, b"a secret");
        let udp = match start {
            Start::New(view) => Udp::new(GROUP, me, view, combine, secret, resending),
            Start::Join(contacts) => Udp::join(GROUP, me, contacts, combine, secret, resending),
        };
        Box::new(udp.unwrap())
    };
    // Here, a member waited for one that was lost, and did not learn that it was excluded itself.
    World::new(lossy(21_475_004_558), &make).run();
    run(&make, lossy, 5 << 32);
}
