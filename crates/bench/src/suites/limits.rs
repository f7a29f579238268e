//! Limits of the machine that several suites measure.

use std::time::Instant;

use anyhow::Result;

use crate::plan::{Figure, Method};
use crate::record::Kind;

const PAGE: usize = 4096;

/// Copies in memory by one processor. The offsets of source and destination within their pages
/// differ by half a page, so that no processor is slow (see [`mgn_sys::copy`]).
pub struct Copy {
    plot: String,
    sizes: Vec<usize>,
    seconds: f64,
}

impl Copy {
    pub fn new(plot: String, sizes: &[usize], seconds: f64) -> Copy {
        Copy {
            plot,
            sizes: sizes.to_vec(),
            seconds,
        }
    }
}

impl Method for Copy {
    fn name(&self) -> String {
        "memcpy".to_string()
    }

    fn kind(&self) -> Kind {
        Kind::Limit
    }

    fn command(&self) -> String {
        "mgn bench memory".to_string()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let figures = self.sizes.iter().map(|size| {
            let mut memory = vec![1u8; size.next_multiple_of(PAGE) + PAGE / 2 + size];
            let (from, into) = memory.split_at_mut(size.next_multiple_of(PAGE) + PAGE / 2);
            let each = best(self.seconds, || {
                into.copy_from_slice(std::hint::black_box(&from[..*size]));
                std::hint::black_box(&mut *into);
            });
            Figure::new(&self.plot, *size as f64, *size as f64 / each / 1e9)
        });
        Ok(figures.collect())
    }
}

/// The seconds of one repetition, in the fastest of several groups of repetitions.
fn best(seconds: f64, mut work: impl FnMut()) -> f64 {
    let (mut spent, mut least, mut count) = (0.0, f64::MAX, 1u32);
    while spent < seconds {
        let begun = Instant::now();
        (0..count).for_each(|_| work());
        let took = begun.elapsed().as_secs_f64();
        if took < seconds / 8.0 {
            count *= 2;
            continue;
        }
        spent += took;
        least = least.min(took / f64::from(count));
    }
    least
}
