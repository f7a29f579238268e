//! Ranks that end, or stop, in each phase: all others get an error that names the rank, and free
//! all memory.

mod frames;
mod group_kinds;
mod jobs;
mod pages;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mgn_composite::{CompositeError, Group, Rectangle, Schedule, Terms};
use mgn_fabric::endpoint::SendOptions;
use mgn_fabric::job::{Job, Member};
use rustix::process::{kill_process, Pid, Signal};

use frames::{composite, terms};
use group_kinds::GroupKind;
use jobs::{members, new_name, some_members};
use pages::{pages, CLAIMS};

const RANKS: usize = 4;
const VICTIM: usize = 2;

/// How long a rank waits for one that has stopped.
const STOPPED_TIMEOUT: Duration = Duration::from_millis(1500);
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);
/// Ranks learn within this time that one has ended. That takes milliseconds on an idle machine;
/// what counts is that they do not wait for [`WAIT_TIMEOUT`].
const SOON: Duration = Duration::from_secs(20);
/// How long ranks wait for one that has never been there.
const WHILE: Duration = Duration::from_secs(5);

/// The end of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Its links close.
    Ends,
    /// Nothing is heard of it any more.
    Stops,
}

const FATES: [Fate; 2] = [Fate::Ends, Fate::Stops];

impl Fate {
    fn patience(self) -> Duration {
        match self {
            Fate::Ends => WAIT_TIMEOUT,
            Fate::Stops => STOPPED_TIMEOUT,
        }
    }

    /// Does nothing more until all others have ended. Notes when it has ended itself.
    fn befall(self, member: &Member, done: &AtomicUsize, ended: &OnceLock<Instant>) {
        if self == Fate::Ends {
            member.endpoint().stop();
            ended.get_or_init(Instant::now);
        }
        while done.load(Ordering::Acquire) < RANKS - 1 {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Descriptors of this process for memory of groups, and mappings of it.
fn held() -> [usize; 2] {
    let links = std::fs::read_dir("/proc/self/fd").unwrap();
    let links = links.filter_map(|link| std::fs::read_link(link.ok()?.path()).ok());
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let is_ours = |name: &str| name.contains("mgn-composite");
    [
        links.filter(|to| is_ours(&to.to_string_lossy())).count(),
        maps.lines().filter(|line| is_ours(line)).count(),
    ]
}

/// One job at a time, so that memory can be counted.
fn one_job_at_a_time() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a job in which one rank has a fate, which it calls for. All others get an error.
fn without_victim(
    fate: Fate,
    victim: impl Fn(&Member, &dyn Fn()) + Sync,
    other: impl Fn(&Member) -> Result<(), CompositeError> + Sync,
    may_blame_others: bool,
    what: &str,
) {
    let _one = one_job_at_a_time();
    let before = held();
    let (done, ended) = (AtomicUsize::new(0), OnceLock::new());
    let results = members(RANKS, |member| match member.rank() as usize {
        VICTIM => {
            victim(member, &|| fate.befall(member, &done, &ended));
            Ok(())
        }
        _ => {
            let result = other(member);
            done.fetch_add(1, Ordering::AcqRel);
            if let Some(ended) = ended.get() {
                let took = ended.elapsed();
                assert!(took < SOON, "{what}: an error after {took:?}");
            }
            result
        }
    });
    for (rank, result) in results.into_iter().enumerate() {
        match (rank, result) {
            (VICTIM, _) => {}
            (_, Ok(())) => panic!("{what}: rank {rank} has no error"),
            (_, Err(error)) => {
                let is_right = blames(&error, VICTIM) || may_blame_others && blames_any(&error);
                assert!(is_right, "{what}: rank {rank}: {error}");
            }
        }
    }
    assert_eq!(held(), before, "{what}");
}

fn blames(error: &CompositeError, who: usize) -> bool {
    match error {
        CompositeError::Late { rank, .. }
        | CompositeError::Lost { rank, .. }
        | CompositeError::Stuck { rank, .. }
        | CompositeError::Unreachable { rank, .. } => *rank == who,
        _ => false,
    }
}

fn blames_any(error: &CompositeError) -> bool {
    (0..RANKS).any(|rank| blames(error, rank))
}

/// The message by which a rank of this release, on another host, begins to meet the others.
fn begin_to_meet(member: &Member, number: u64) {
    let words = concat!("Manganese ", env!("CARGO_PKG_VERSION"), "\0");
    let tag = 0x47 << 56 | number << 40 | 0xFFFF;
    for other in (0..RANKS as u32).filter(|other| *other != member.rank()) {
        let link = member.open(other, WAIT_TIMEOUT).unwrap();
        let endpoint = member.endpoint();
        endpoint
            .send(link, tag, words.as_bytes(), SendOptions::default())
            .unwrap();
    }
    member.endpoint().flush(Some(WAIT_TIMEOUT));
}

#[test]
fn while_the_others_make_their_group() {
    for fate in FATES {
        for has_begun in [false, true] {
            let victim = |member: &Member, befall: &dyn Fn()| {
                if has_begun {
                    begin_to_meet(member, 1);
                }
                befall();
            };
            let patience = fate.patience().min(WHILE);
            let other = |member: &Member| Group::new(member, 1, patience).map(drop);
            let what = format!("{fate:?}, has begun: {has_begun}");
            // A rank that has no links yet cannot tell others why it gives up.
            without_victim(fate, victim, other, !has_begun, &what);
        }
    }
}

/// The kind of group, and in how many rounds.
const GROUP_KINDS: [(GroupKind, Option<Schedule>); 6] = [
    (GroupKind::Memory, Some(Schedule::DirectSend)),
    (GroupKind::Memory, Some(Schedule::Tree(8))),
    (GroupKind::Messages, Some(Schedule::DirectSend)),
    (GroupKind::Messages, Some(Schedule::BinarySwap)),
    // With 2, the victim leads the block of its host. With 3, it is a member that does not lead.
    (GroupKind::Hosts(2), None),
    (GroupKind::Hosts(3), None),
];

#[test]
fn between_drawing_and_compositing() {
    for fate in FATES {
        for (by, schedule) in GROUP_KINDS {
            // As a renderer, and as the receiver.
            for to in [0, VICTIM] {
                let terms = terms(schedule, to);
                let victim = |member: &Member, befall: &dyn Fn()| {
                    let mut group = by.group(member, 1, WAIT_TIMEOUT);
                    composite(&mut group, &terms).unwrap();
                    let place = group.draw(&terms).unwrap();
                    place.color.fill(3);
                    // The group is closed only when the others have come to their end.
                    befall();
                };
                let other = |member: &Member| {
                    let mut group = by.group(member, 1, fate.patience());
                    // A rank that only draws may be some frames ahead.
                    (0..100_000).try_for_each(|_| composite(&mut group, &terms))
                };
                let what = format!("{fate:?}, {schedule:?} by {by:?}, to {to}");
                without_victim(fate, victim, other, false, &what);
            }
        }
    }
}

/// The victim opens its group, and composites nothing. All others composite frames until they have
/// an error, which must name the victim.
fn late_rank_is_blamed(
    what: &str,
    ranks: usize,
    victim: usize,
    by: GroupKind,
    frame: impl Fn(&Member, &mut Group<'_>, usize) -> Result<(), CompositeError> + Sync,
) {
    let _one = one_job_at_a_time();
    let done = AtomicUsize::new(0);
    let results = members(ranks, |member| {
        if member.rank() as usize == victim {
            let _group = by.group(member, 1, WAIT_TIMEOUT);
            while done.load(Ordering::Acquire) < ranks - 1 {
                thread::sleep(Duration::from_millis(5));
            }
            return Ok(());
        }
        let mut group = by.group(member, 1, STOPPED_TIMEOUT);
        let result = (0..100_000).try_for_each(|number| frame(member, &mut group, number));
        done.fetch_add(1, Ordering::AcqRel);
        result
    });
    for (rank, result) in results.iter().enumerate() {
        let is_right = rank == victim || matches!(result, Err(error) if blames(error, victim));
        assert!(is_right, "{what}: rank {rank}: {result:?}");
    }
}

/// Rank 1 is a frame ahead of rank 0, which waits for rank 2. Rank 1 does not blame rank 0.
#[test]
fn one_that_is_a_frame_ahead_blames_the_late_rank() {
    late_rank_is_blamed(
        "",
        RANKS,
        VICTIM,
        GroupKind::Messages,
        |member, group, _| {
            // Rank 0 gets the pixels of rank 1 in the first round, and those of ranks 2 and 3
            // together in the second one, for which it waits twice as long. Rank 3 waits for
            // nobody.
            let mut terms = terms(Some(Schedule::Tree(2)), 0);
            terms.width = 1024;
            match member.rank() {
                3 => {
                    let composited = group.composite_drawn(&terms, Some(Rectangle::empty()));
                    thread::sleep(Duration::from_millis(20));
                    composited.map(drop)
                }
                _ => composite(group, &terms),
            }
        },
    );
}

/// Rank 1 is a frame ahead, and gets the picture of its frame. It waits for rank 0, which still
/// waits for rank 2 in the frame before, and rank 2 waits for the late rank. Rank 1 does not blame
/// rank 0.
#[test]
fn one_that_is_a_frame_ahead_and_receives_blames_the_late_rank() {
    let by = GroupKind::Messages;
    late_rank_is_blamed("", RANKS, 3, by, |member, group, number| {
        let to = number % 2;
        let order = [[0, 1, 2, 3], [1, 0, 2, 3]][to];
        let terms = Terms {
            order: Some(order.to_vec()),
            ..terms(Some(Schedule::Tree(2)), to)
        };
        if member.rank() == 2 {
            // It begins to wait later than rank 1.
            thread::sleep(STOPPED_TIMEOUT / 2);
        }
        composite(group, &terms)
    });
}

/// A rank that waits for another host is not late itself: those on its host do not blame it, even
/// if they wait for it in a frame that has nothing to do with the other host.
#[test]
fn on_another_host_while_frames_differ() {
    type Each = fn(usize) -> Terms;
    const CASES: [(&str, usize, usize, Each); 4] = [
        ("the next frame is of one host", 3, 4, |number| {
            let order: &[usize] = [&[0, 1, 2, 3][..], &[0, 1, 2]][number % 2];
            Terms {
                order: Some(order.to_vec()),
                ..terms(None, 0)
            }
        }),
        ("receivers take turns", 3, 4, |number| Terms {
            order: Some(vec![2, 1, 0, 3]),
            ..terms(None, 1 + number % 2)
        }),
        ("a host has two blocks", 4, 5, |number| {
            let orders = [[0, 1, 4, 2, 3], [3, 2, 1, 0, 4]];
            Terms {
                order: Some(orders[number % 2].to_vec()),
                ..terms(None, 0)
            }
        }),
        ("frames by messages alternate", 3, 4, |number| {
            let schedule = (number % 2 == 0).then_some(Schedule::BinarySwap);
            terms(schedule, 0)
        }),
    ];
    for (what, here, ranks, each) in CASES {
        let by = GroupKind::Hosts(here);
        late_rank_is_blamed(what, ranks, ranks - 1, by, |_, group, number| {
            let mut terms = each(number);
            // Large enough for all to merge.
            terms.width = 2048;
            composite(group, &terms)
        });
    }
}

/// The name of the job, in the environment of the victim's process.
const JOB: &str = "MGN_TEST_JOB";

/// If the victim has merged its part, the next frame begins within this time.
const NEXT_FRAME: Duration = Duration::from_millis(300);

/// Frames that take some milliseconds to merge, and that all ranks merge.
fn large() -> Terms {
    Terms {
        width: 2048,
        height: 2048,
        ..terms(Some(Schedule::DirectSend), 0)
    }
}

/// Composites frames until there is an error.
fn error_of_frames(member: &Member, patience: Duration) -> CompositeError {
    let mut group = match Group::new(member, 1, patience) {
        Ok(group) => group,
        Err(error) => return error,
    };
    loop {
        if let Err(error) = composite(&mut group, &large()) {
            return error;
        }
    }
}

/// The process of the victim, which the test starts with the name of a job.
#[test]
fn child() {
    let Ok(name) = std::env::var(JOB) else {
        return;
    };
    let hosts = vec!["localhost".to_owned(); RANKS];
    let job = Job::new(&name, VICTIM as u32, hosts).unwrap();
    error_of_frames(&job.join().unwrap(), WAIT_TIMEOUT);
}

/// The victim's process, which is killed when this is dropped.
struct Victim(Child);

impl Victim {
    fn start(job: &str) -> Victim {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "child", "--nocapture", "--test-threads=1"])
            .env(JOB, job)
            .stdin(Stdio::null());
        Victim(command.spawn().unwrap())
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The newest frame in which the victim has claimed a part of the picture that is merged now.
fn claimed_frame(memory: &File) -> Option<u64> {
    let claims = pages().into_iter().filter_map(|page| {
        let mut words = [0; 8 * RANKS];
        // A page may just have been unmapped.
        memory
            .read_exact_at(&mut words, (page + CLAIMS) as u64)
            .ok()?;
        let words = words
            .chunks_exact(8)
            .map(|word| u64::from_ne_bytes(word.try_into().unwrap()));
        let is_of_victim = |word: &u64| *word as u32 == VICTIM as u32 + 1;
        let newest = words.clone().map(|word| word >> 32).max()?;
        let mut claimed = words.filter(is_of_victim).map(|word| word >> 32);
        claimed.find(|frame| *frame == newest)
    });
    claims.max()
}

/// Stops the victim soon after it has claimed a part. Returns whether it had not merged this part
/// yet.
fn stop_after_claim(victim: &Victim) -> bool {
    let memory = File::open("/proc/self/mem").unwrap();
    let began = Instant::now();
    let frame = loop {
        match claimed_frame(&memory) {
            Some(frame) if frame > 2 => break frame,
            _ => assert!(began.elapsed() < WAIT_TIMEOUT, "it claims nothing"),
        }
    };
    victim.send(Signal::STOP);
    thread::sleep(NEXT_FRAME);
    claimed_frame(&memory) >= Some(frame)
}

/// Runs a job in which the victim stops after a claim. Returns whether it had not merged the part
/// that it had claimed. All others get an error in any case.
fn without_merging_victim(fate: Fate) -> bool {
    let _one = one_job_at_a_time();
    let before = held();
    let name = new_name();
    let victim = Victim::start(&name);
    let others = (0..RANKS).filter(|rank| *rank != VICTIM);
    let (errors, was_merging, took) = thread::scope(|scope| {
        let stopping = scope.spawn(|| {
            let was_merging = stop_after_claim(&victim);
            if fate == Fate::Ends {
                victim.send(Signal::KILL);
            }
            (was_merging, Instant::now())
        });
        let error = |member: &Member| error_of_frames(member, fate.patience());
        let errors = some_members(&name, RANKS, others, error);
        let (was_merging, stopped) = stopping.join().unwrap();
        (errors, was_merging, stopped.elapsed())
    });
    drop(victim);
    for error in errors {
        assert!(blames(&error, VICTIM), "{fate:?}: {error}");
    }
    assert!(took < SOON, "{fate:?}: errors after {took:?}");
    assert_eq!(held(), before, "{fate:?}");
    was_merging
}

#[test]
fn while_it_merges_what_it_has_claimed() {
    for fate in FATES {
        // The victim may merge its part before it stops. Then there is another attempt.
        let was_merging = (0..20).any(|_| without_merging_victim(fate));
        assert!(was_merging, "{fate:?}: never stopped while it merged");
    }
}
