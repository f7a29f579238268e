//! Members of a group can write to each other's pages, in which they say how far they are. Whatever
//! one of them writes there, the others get a picture or an error: nobody panics, and nobody hangs.

mod frames;
mod jobs;
mod pages;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use mgn_composite::{CompositeError, Group};
use mgn_fuzzing::Random;

use frames::{composite, terms};
use jobs::members;
use pages::{pages, CLAIMS, PAGE_LEN};

const RANKS: usize = 3;
const FRAMES: usize = 60;
const PATIENCE: Duration = Duration::from_millis(100);

/// Writes words to the pages until `done`. Where a page has just been unmapped, that fails.
fn overwrite(random: &mut Random, only_claims: bool, done: &AtomicBool) {
    let memory = File::options().write(true).open("/proc/self/mem").unwrap();
    while !done.load(Ordering::Acquire) {
        for page in pages() {
            for _ in 0..4 {
                let (offset, words) = match only_claims {
                    true => (CLAIMS, 16),
                    false => (64, (PAGE_LEN - 64) / 8),
                };
                let at = page + offset + 8 * random.below(words);
                let frame = random.below(FRAMES as u64);
                let word = match random.below(4) {
                    0 => frame << 32 | random.below(8),
                    1 => frame << 32 | 1 << random.below(32),
                    2 => random.below(2 * FRAMES as u64),
                    _ => random.next() << random.below(64),
                };
                let _ = memory.write_at(&word.to_ne_bytes(), at as u64);
            }
        }
        thread::sleep(Duration::from_micros(200));
    }
}

/// Sets its flag when it is dropped.
struct Ends<'d>(&'d AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn words_from_anybody_cause_no_panic() {
    let terms = terms(None, 0);
    let frames = |member: &mgn_fabric::job::Member| -> Result<(), CompositeError> {
        let mut group = Group::new(member, 1, PATIENCE)?;
        for _ in 0..FRAMES {
            composite(&mut group, &terms)?;
        }
        Ok(())
    };
    let mut failed = 0;
    for seed in 0..40 {
        let done = AtomicBool::new(false);
        let results = thread::scope(|scope| {
            scope.spawn(|| overwrite(&mut Random::new(seed), seed % 2 == 0, &done));
            // Also if a rank panics.
            let _end = Ends(&done);
            members(RANKS, frames)
        });
        failed += results.iter().filter(|result| result.is_err()).count();
    }
    assert!(failed > 0, "nothing was overwritten in time");
}
