//! `histogram`: which commands a program uses, how often, and how many bytes of the stream they
//! take.

use crate::chain::{Built, Does, Given, Kind, Parameter, Spu, StageContext};
use crate::observe::{Call, Observe, Observer};
use mgn_wire::{ops, Commands};
use std::fmt::Write as _;
use std::io::Write;

pub const SPU: Spu = Spu {
    name: "histogram",
    about: "the number and the bytes of the commands of each name",
    does: Does::Look,
    parameters: &[
        Parameter {
            name: "file",
            kind: Kind::File,
            default: Some(""),
            about: "the file to write to at the end of the session; by default standard error",
        },
        Parameter {
            name: "every",
            kind: Kind::Count,
            default: Some(""),
            about: "also each time this number of frames has been shown, for these frames only",
        },
    ],
    build,
};

fn build(given: &Given<'_>, context: &StageContext, next: Box<dyn Commands>) -> Built {
    let histogram = Histogram::new(given.count("every"), given.output("file", context)?);
    Ok(Box::new(Observe::new(histogram, next)))
}

/// Writes a table of the session at its end. Unless `every` is 0, also writes one of every `every`
/// frames.
pub struct Histogram<W: Write> {
    every: u64,
    frames: u64,
    /// Counts since the last table, by command.
    recent: Table,
    all: Table,
    out: W,
}

/// How often each command came, and its bytes.
type Table = Vec<(u64, u64)>;

impl<W: Write> Histogram<W> {
    pub fn new(every: u64, out: W) -> Histogram<W> {
        let none = vec![(0, 0); ops::NAMES.len()];
        Histogram {
            every,
            frames: 0,
            recent: none.clone(),
            all: none,
            out,
        }
    }

    /// Adds the recent counts to the others.
    fn settle(&mut self) {
        for (all, recent) in self.all.iter_mut().zip(&mut self.recent) {
            all.0 += recent.0;
            all.1 += recent.1;
            *recent = (0, 0);
        }
    }
}

impl<W: Write> Observer for Histogram<W> {
    fn before(&mut self, call: &Call<'_>) {
        let (count, bytes) = &mut self.recent[usize::from(call.op - ops::FIRST)];
        *count += 1;
        *bytes += call.bytes() as u64;
        self.frames += u64::from(call.shows());
    }

    fn after(&mut self, call: &Call<'_>) {
        if self.every > 0 && call.shows() && self.frames % self.every == 0 {
            let first = self.frames - self.every + 1;
            let text = table(&self.recent, &format!("frames {first} to {}", self.frames));
            let _ = self.out.write_all(text.as_bytes());
            self.settle();
        }
    }

    fn end(&mut self) {
        self.settle();
        let text = table(&self.all, &format!("all {} frames", self.frames));
        let _ = self.out.write_all(text.as_bytes());
    }
}

/// A table of the commands, the most frequent first.
fn table(counts: &Table, title: &str) -> String {
    let named = ops::NAMES.iter().zip(counts);
    let mut rows: Vec<_> = named.filter(|(_, (count, _))| *count > 0).collect();
    rows.sort_by_key(|(name, (count, _))| (std::cmp::Reverse(*count), **name));
    let mut text = format!("{title}\n{:>12} {:>14}  command\n", "calls", "bytes");
    for (name, (count, bytes)) in &rows {
        let _ = writeln!(text, "{count:>12} {bytes:>14}  {name}");
    }
    let sum = |of: fn(&(u64, u64)) -> u64| rows.iter().map(|(_, row)| of(row)).sum::<u64>();
    let _ = writeln!(
        text,
        "{:>12} {:>14}  in all\n",
        sum(|row| row.0),
        sum(|row| row.1)
    );
    text
}
