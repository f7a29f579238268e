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
    /// Sends two words from the first end to the second one. Returns them at both ends.
    fn agree(&mut self, words: [u64; 2]) -> Result<[u64; 2]>;

    /// Makes the buffers for messages of this size, `window` of them at once.
    fn prepare(&mut self, size: usize, window: usize) -> Result<()>;

    /// Runs one repetition of a test. Returns the seconds that this end waited after it had
    /// computed for `compute` seconds.
    fn turn(&mut self, turn: u64, compute: f64) -> Result<f64>;
}

/// The limit of a run, in addition to the time for which it measures.
pub const RUN_LIMIT: Duration = Duration::from_secs(30);

/// Prints the address of the second process, which the first one connects to.
pub fn print_address(address: &str) -> Result<()> {
    println!("{address}");
    Ok(std::io::stdout().flush()?)
}

/// Uses the processor for this time, as a program that computes does.
pub fn spin(seconds: f64) {
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < seconds {}
}

/// Reads every byte, as a program that uses the message does.
pub fn read_all(bytes: &[u8]) {
    let words = bytes
        .chunks_exact(8)
        .map(|word| u64::from_ne_bytes(std::array::from_fn(|at| word[at])));
    std::hint::black_box(words.fold(0, u64::wrapping_add));
}
