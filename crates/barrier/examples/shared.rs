//! Barriers in shared memory beside raw ones that can do nothing else, in one run: 2 processes
//! beside two flags, and 9 processes beside a counter whose waiters yield.
//!
//! The kinds take turns, so that what else runs on the machine meets both. Prints the median of
//! the rounds in nanoseconds a barrier, and the ratio.

use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use mgn_barrier::{Combine, Id, Shared};
use mgn_sys::{memory, Mapping, Protection};

const ROUNDS: usize = 51;

/// Of the raw barriers: flags or a counter and a generation in lines of their own, and what was
/// measured.
const RAW: usize = 4096;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [] => {
            compare("2 processes, two flags", 2, 5_000);
            compare("9 processes, yielding", 9, 20);
        }
        [pid, shared, raw, me, count, times] => {
            let number = |text: &String| text.parse().expect("a number");
            let map = |fd: &String| {
                memory::of_process(number(pid), number(fd), Protection::ReadWrite)
                    .expect("the parent's memory")
            };
            let count = number(count) as usize;
            let mapping = Mapping::new(map(raw), RAW, Protection::ReadWrite).expect("memory");
            member(
                Shared::new(map(shared), Id(number(me)), count, Combine::Any).expect("a place"),
                &mapping,
                number(me) as usize,
                count,
                number(times).into(),
            );
        }
        _ => panic!("no arguments are expected"),
    }
}

/// Runs the members, this process among them.
fn compare(name: &str, count: usize, times: u64) {
    use std::os::fd::AsRawFd;
    let shared = Shared::create(count).expect("memory for the barrier");
    let raw = memory::create("raw-barriers", RAW).expect("memory");
    let mapping = Mapping::new(&raw, RAW, Protection::ReadWrite).expect("memory");
    let program = std::env::current_exe().expect("this program");
    let start = |me: usize| -> Child {
        let numbers = [
            std::process::id() as u64,
            shared.as_raw_fd() as u64,
            raw.as_raw_fd() as u64,
            me as u64,
            count as u64,
            times,
        ];
        let mut command = Command::new(&program);
        command.args(numbers.map(|number| number.to_string()));
        command.spawn().expect("another process")
    };
    let children: Vec<Child> = (1..count).map(start).collect();
    let own = Shared::new(&shared, Id(0), count, Combine::Any).expect("a place");
    let [ours, theirs] = member(own, &mapping, 0, count, times);
    for mut child in children {
        assert!(child.wait().expect("its end").success());
    }
    let ratio = ours / theirs;
    println!("{name}: shared {ours:.0} ns, raw {theirs:.0} ns, ratio {ratio:.2}");
}

/// One member of both barriers. Gives the medians.
fn member(mut shared: Shared, raw: &Mapping, me: usize, count: usize, times: u64) -> [f64; 2] {
    let mut samples = [Vec::new(), Vec::new()];
    let mut generation = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..times {
            shared.pass(0, None).expect("nobody dies");
        }
        samples[0].push(start.elapsed());
        let start = Instant::now();
        for _ in 0..times {
            generation += 1;
            match count {
                2 => flags(raw.long(64 * me), raw.long(64 * (1 - me)), generation),
                _ => counter(raw.long(0), raw.long(64), count as u64, generation),
            }
        }
        samples[1].push(start.elapsed());
    }
    samples.map(|mut samples| {
        samples.sort();
        samples[ROUNDS / 2].as_nanos() as f64 / times as f64
    })
}

fn flags(mine: &AtomicU64, other: &AtomicU64, generation: u64) {
    mine.store(generation, Ordering::Release);
    while other.load(Ordering::Acquire) < generation {
        std::hint::spin_loop();
    }
}

fn counter(arrived: &AtomicU64, passed: &AtomicU64, count: u64, generation: u64) {
    if arrived.fetch_add(1, Ordering::AcqRel) + 1 == count * generation {
        passed.store(generation, Ordering::Release);
    }
    while passed.load(Ordering::Acquire) < generation {
        std::thread::yield_now();
    }
}
