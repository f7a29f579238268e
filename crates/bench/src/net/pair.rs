//! The two processes of a run: their arguments, and the interface of all mechanisms that carry
//! their messages.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::net::measure::Test;

/// One of the two processes of a run.
#[derive(Debug, clap::Args)]
pub struct End {
    pub rank: usize,
    pub channel: String,
    pub address: String,
    pub test: Test,
    /// Bytes of a message; one after the other is measured.
    #[arg(value_delimiter = ',')]
    pub sizes: Vec<usize>,
    /// For each of the sizes.
    #[arg(long)]
    pub seconds: f64,
    /// Where the second end listens
    #[arg(long, default_value = "127.0.0.1")]
    pub listen: std::net::IpAddr,
    /// Messages under way at once
    #[arg(long)]
    pub window: Option<usize>,
    /// All repetitions count, not only the best ones
    #[arg(long)]
    pub all: bool,
}

/// One end of a link between two processes.
pub trait Pair {
    /// Sends two words from the first end to the second end. Returns these words at both ends.
    fn agree(&mut self, words: [u64; 2]) -> Result<[u64; 2]>;

    /// Makes the buffers for messages of this size, with `window` messages in flight.
    fn prepare(&mut self, size: usize, window: usize) -> Result<()>;

    /// Runs one repetition of a test. In overlap tests, this end computes for `compute` seconds.
    /// Returns the seconds that it waited afterwards.
    fn turn(&mut self, turn: u64, compute: f64) -> Result<f64>;
}

/// The time limit of a run, in addition to its measuring time.
pub const RUN_LIMIT: Duration = Duration::from_secs(30);

/// Prints the address of the second process, which the first one connects to.
pub fn print_address(address: &str) -> Result<()> {
    println!("{address}");
    Ok(std::io::stdout().flush()?)
}

/// Keeps the processor busy for this time, like a program that computes.
pub fn spin(seconds: f64) {
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < seconds {}
}

/// Reads every byte, like a program that uses the message.
pub fn read_all(bytes: &[u8]) {
    let words = bytes
        .chunks_exact(8)
        .map(|word| u64::from_ne_bytes(std::array::from_fn(|at| word[at])));
    std::hint::black_box(words.fold(0, u64::wrapping_add));
}
