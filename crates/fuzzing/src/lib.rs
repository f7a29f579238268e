//! Fuzz targets, and their replay in ordinary tests.
//!
//! A crate that decodes bytes from outside lists its targets in its module `fuzzing`, which is
//! compiled for the crate's tests and with its feature `fuzzing`. Its unit tests [`replay`] them.
//! The package in the folder `fuzz` runs the same targets under libFuzzer, guided by coverage.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

/// A decoder, or several that read the same bytes.
#[derive(Debug)]
pub struct Target {
    /// The name of its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Decodes the bytes. It panics if the decoder breaks a promise.
    pub feed: fn(&[u8]),
    /// Valid inputs that are made from the types, for formats that change with them. The other
    /// seeds are files of the corpus.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// The number of random inputs in an ordinary test.
    pub runs: usize,
}

/// Feeds a target with its corpus and its seeds, with prefixes of each, and with random mutations
/// of them. Every run feeds the same inputs.
///
/// # Panics
/// If the target panics, after the input was printed; or if it has no seeds.
pub fn replay(target: &Target) {
    let seeds: Vec<Vec<u8>> = corpus(target.name)
        .into_iter()
        .chain((target.seeds)())
        .collect();
    assert!(!seeds.is_empty(), "{} has no seeds", target.name);
    let feed = |bytes: &[u8]| {
        let input = Input(target.name, bytes);
        (target.feed)(bytes);
        drop(input);
    };
    seeds.iter().for_each(|seed| feed(seed));
    let mut random = Random::new(7);
    let cuts = target.runs / seeds.len() / 2;
    for seed in &seeds {
        let step = seed.len().div_ceil(cuts.max(1)).max(1);
        (0..seed.len())
            .step_by(step)
            .for_each(|len| feed(&seed[..len]));
    }
    for _ in 0..target.runs {
        let mut bytes = match random.below(10) {
            0 => {
                let count = random.below(300);
                random.bytes(count)
            }
            _ => seeds[random.below(seeds.len())].clone(),
        };
        for _ in 0..=random.below(4) {
            mutate(&mut bytes, &mut random);
        }
        feed(&bytes);
    }
}

/// The files of a target's corpus, in the order of their names.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let Ok(entries) = fs::read_dir(folder.join(name)) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let read = |path: &PathBuf| match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => panic!("cannot read the seed {}: {error}", path.display()),
    };
    paths.iter().map(read).collect()
}

/// The input that is being fed. Prints itself if the target panics.
struct Input<'a>(&'a str, &'a [u8]);

impl Drop for Input<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Input(name, bytes) = self;
            eprintln!(
                "the fuzz target {name} panicked at \"{}\"",
                bytes.escape_ascii()
            );
        }
    }
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    match random.below(6) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, random.next() as u8),
        2 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        3 if at < bytes.len() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
        4 if at + 4 <= bytes.len() => {
            let odd = [
                0,
                1,
                7,
                8,
                i32::MAX as u32,
                1 << 31,
                u32::MAX,
                random.next() as u32,
            ];
            bytes[at..at + 4].copy_from_slice(&odd[random.below(8)].to_le_bytes());
        }
        _ => bytes.extend_from_within(..at.min(64)),
    }
}

/// Pseudo-random numbers, the same in every run.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    #[allow(clippy::should_implement_trait, reason = "the numbers do not end")]
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// A number from 0 to `end - 1`.
    ///
    /// # Panics
    /// If `end` is not positive.
    pub fn below<N: TryFrom<u64> + TryInto<u64>>(&mut self, end: N) -> N {
        let number = end.try_into().ok().map(|end| self.next() % end);
        let number = number.and_then(|number| N::try_from(number).ok());
        number.expect("a number below a positive one has the same type")
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// One of the choices.
    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    const SURE: Target = Target {
        name: "none",
        feed: |_| (),
        seeds: || vec![b"a good input".to_vec()],
        runs: 2000,
    };

    #[test]
    fn a_target_that_panics_at_one_byte_is_found() {
        let feed = |bytes: &[u8]| assert!(bytes.first() != Some(&0xff));
        assert!(catch_unwind(|| replay(&Target { feed, ..SURE })).is_err());
        let feed = |bytes: &[u8]| assert!(bytes.len() != 5);
        assert!(catch_unwind(|| replay(&Target { feed, ..SURE })).is_err());
        replay(&SURE);
    }

    #[test]
    fn a_target_without_seeds_is_a_mistake() {
        let seeds = Vec::new;
        assert!(catch_unwind(|| replay(&Target { seeds, ..SURE })).is_err());
    }
}
