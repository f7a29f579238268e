//! Runs of our own endpoints. The memory that is sent from and received into stays where it is for the whole run.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use mgn_fabric::endpoint::{Endpoint, How, Joined, LinkId, Request, Wanted};
use mgn_fabric::{Listener, Token, Transport};

use crate::measure::{Sample, Test};
use crate::peers;
use crate::probe::pin;

/// One of the two processes of a run: the first prints what was measured.
#[derive(clap::Args)]
pub struct End {
    rank: usize,
    transport: String,
    address: String,
    test: Test,
    size: usize,
    seconds: f64,
    compute: f64,
    /// Messages are written where they are sent from, and read where they lie.
    #[arg(long)]
    in_place: bool,
}

const DATA: u64 = 1;
const ACK: u64 = 2;
const CONTROL: u64 = 3;

/// Runs both processes.
pub fn run(
    transport: &str,
    in_place: bool,
    test: Test,
    size: usize,
    seconds: f64,
    compute: f64,
) -> Result<Sample> {
    let address = match transport {
        "tcp" => "tcp:127.0.0.1:0".to_string(),
        _ => format!("unix:@mgn-bench-{}", std::process::id()),
    };
    let start = |rank: usize, address: &str| -> Result<Child> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([
            "end",
            &rank.to_string(),
            transport,
            address,
            test.name(),
            &size.to_string(),
        ]);
        command.args([&seconds.to_string(), &compute.to_string()]);
        command.args(in_place.then_some("--in-place"));
        Ok(command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?)
    };
    let mut second = start(1, &address)?;
    let mut lines = BufReader::new(second.stdout.take().context("its output")?);
    let mut address = String::new();
    lines.read_line(&mut address)?;
    let first = start(0, address.trim())?.wait_with_output()?;
    if !first.status.success() {
        second.kill()?;
        second.wait()?;
        bail!("a process of the run failed");
    }
    let mut theirs = String::new();
    lines.read_line(&mut theirs)?;
    second.wait()?;
    let mut sample = peers::sample(&String::from_utf8_lossy(&first.stdout))?;
    sample.cpu += theirs.trim().parse::<f64>().unwrap_or(f64::NAN);
    Ok(sample)
}

impl End {
    pub fn run(&self) -> Result<()> {
        // Anybody on this machine may take part in a measurement.
        let token: Token = "5".repeat(64).parse()?;
        let token = (self.transport == "tcp").then_some(token);
        let transport = match self.transport.as_str() {
            "shm" => Transport::Shm,
            "unix" => Transport::Unix,
            _ => Transport::Tcp,
        };
        let endpoint = Endpoint::new()?;
        let link = if self.rank == 0 {
            let patience = Duration::from_secs(10);
            endpoint.connect(
                &self.address.parse()?,
                &transport,
                token.as_ref(),
                b"",
                patience,
            )?
        } else {
            let listener = Listener::bind(&self.address.parse()?, token)?;
            println!("{}", listener.address());
            std::io::stdout().flush()?;
            loop {
                if let Joined::Link(link, _) = endpoint.accept(listener.accept()?)? {
                    break link;
                }
            }
        };
        pin(self.rank);
        let window = self.test.window(self.size);
        let buffers = || vec![vec![1; self.size]; window];
        let (out, into) = (buffers(), buffers());
        let mut run = Run {
            end: self,
            endpoint,
            link,
            out,
            into,
            waited: 0.0,
        };
        let sample = run.measure()?;
        let cpu = own_cpu();
        match self.rank {
            0 => println!(
                "seconds {:.9} window {window} waited {:.9} cpu {cpu:.3}",
                sample.0, sample.1
            ),
            _ => println!("{cpu:.3}"),
        }
        Ok(())
    }
}

/// CPU seconds of this process so far.
fn own_cpu() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

struct Run<'a> {
    end: &'a End,
    endpoint: Endpoint,
    link: LinkId,
    out: Vec<Vec<u8>>,
    into: Vec<Vec<u8>>,
    waited: f64,
}

impl Run<'_> {
    /// Seconds of the best repetitions, and of them those spent waiting.
    fn measure(&mut self) -> Result<(f64, f64)> {
        let (start, mut best) = (Instant::now(), (f64::MAX, 0.0));
        let mut count = 1u64;
        loop {
            let mut bytes = count.to_le_bytes();
            match self.end.rank {
                0 => self
                    .endpoint
                    .send(self.link, CONTROL, &bytes, How::default())?,
                _ => drop(
                    self.endpoint
                        .recv(Wanted::new(self.link, CONTROL), &mut bytes)?,
                ),
            }
            count = u64::from_le_bytes(bytes);
            if count == 0 {
                return Ok(best);
            }
            self.waited = 0.0;
            let begun = Instant::now();
            for turn in 0..count {
                match self.end.test {
                    Test::Overlap if self.end.in_place => self.overlap_in_place()?,
                    Test::Fresh if self.end.in_place => self.stream_in_place(turn)?,
                    Test::Latency => self.latency()?,
                    Test::Overlap => self.overlap()?,
                    _ => self.stream(turn)?,
                }
            }
            let took = begun.elapsed().as_secs_f64();
            if took < 0.02 {
                count *= 2;
            } else if took / (count as f64) < best.0 {
                best = (took / count as f64, self.waited / count as f64);
            }
            if start.elapsed().as_secs_f64() > self.end.seconds {
                count = 0;
            }
        }
    }

    fn isend(&mut self, at: usize) -> Result<Option<Request>> {
        let piece = (self.out[at].as_mut_ptr(), self.end.size);
        // SAFETY: the buffers live as long as the endpoint, and nobody writes to one before its request has ended.
        Ok(unsafe {
            self.endpoint
                .isend(self.link, DATA, &[piece], How::default())
        }?)
    }

    fn irecv(&mut self, at: usize) -> Request {
        let piece = (self.into[at].as_mut_ptr(), self.end.size);
        // SAFETY: likewise; nobody reads it before.
        unsafe { self.endpoint.irecv(Wanted::new(self.link, DATA), &[piece]) }
    }

    fn latency(&mut self) -> Result<()> {
        let wanted = Wanted::new(self.link, DATA);
        if self.end.rank == 0 {
            self.endpoint
                .send(self.link, DATA, &self.out[0], How::default())?;
            self.endpoint.recv(wanted, &mut self.into[0])?;
        } else {
            self.endpoint.recv(wanted, &mut self.into[0])?;
            self.endpoint
                .send(self.link, DATA, &self.out[0], How::default())?;
        }
        Ok(())
    }

    fn stream(&mut self, turn: u64) -> Result<()> {
        let both = self.end.test == Test::Both;
        let fresh = self.end.test == Test::Fresh;
        let window = self.out.len();
        let mut receives = Vec::with_capacity(window);
        let mut sends = Vec::with_capacity(window);
        if both || self.end.rank == 1 {
            receives.extend((0..window).map(|at| self.irecv(at)));
        }
        if both || self.end.rank == 0 {
            for at in 0..window {
                if fresh {
                    self.out[at].fill(turn as u8);
                }
                sends.extend(self.isend(at)?);
            }
        }
        for (at, receive) in receives.into_iter().enumerate() {
            self.endpoint.wait(receive, None)?;
            if fresh {
                std::hint::black_box(read_all(&self.into[at]));
            }
        }
        for send in sends {
            self.endpoint.wait(send, None)?;
        }
        match self.end.rank {
            0 => drop(self.endpoint.recv(Wanted::new(self.link, ACK), &mut [0])?),
            _ => self.endpoint.send(self.link, ACK, &[0], How::default())?,
        }
        Ok(())
    }

    /// Writes a message where it is sent from.
    fn write(&self, byte: u8) -> Result<()> {
        let mut room = self.endpoint.reserve(self.link, self.end.size)?;
        // SAFETY: it has so many bytes.
        unsafe { room.as_mut_ptr().write_bytes(byte, self.end.size) };
        if let Some(request) = room.commit(self.end.size, DATA, How::default())? {
            self.endpoint.detach(request)?;
        }
        Ok(())
    }

    /// Takes a message where it lies, and reads it.
    fn read(&self) -> Result<()> {
        let wanted = Wanted::new(self.link, DATA);
        let message = self.endpoint.take(&wanted, None)?.context("no end")?;
        // SAFETY: it has so many bytes, and its sender is this program.
        let bytes = unsafe { std::slice::from_raw_parts(message.as_ptr(), message.len()) };
        std::hint::black_box(read_all(bytes));
        Ok(())
    }

    fn stream_in_place(&mut self, turn: u64) -> Result<()> {
        let window = self.end.test.window(self.end.size);
        for _ in 0..window {
            match self.end.rank {
                0 => self.write(turn as u8)?,
                _ => self.read()?,
            }
        }
        match self.end.rank {
            0 => drop(self.endpoint.recv(Wanted::new(self.link, ACK), &mut [0])?),
            _ => self.endpoint.send(self.link, ACK, &[0], How::default())?,
        }
        Ok(())
    }

    /// What writes and reads the bytes is the program's own work, and part of what it computes.
    fn overlap_in_place(&mut self) -> Result<()> {
        let room = self.endpoint.reserve(self.link, self.end.size)?;
        let send = room.commit(self.end.size, DATA, How::default())?;
        let start = Instant::now();
        while start.elapsed().as_secs_f64() < self.end.compute {}
        let start = Instant::now();
        let wanted = Wanted::new(self.link, DATA);
        drop(self.endpoint.take(&wanted, None)?);
        if let Some(send) = send {
            self.endpoint.wait(send, None)?;
        }
        self.waited += start.elapsed().as_secs_f64();
        Ok(())
    }

    fn overlap(&mut self) -> Result<()> {
        let receive = self.irecv(0);
        let send = self.isend(0)?;
        let start = Instant::now();
        while start.elapsed().as_secs_f64() < self.end.compute {}
        let start = Instant::now();
        self.endpoint.wait(receive, None)?;
        if let Some(send) = send {
            self.endpoint.wait(send, None)?;
        }
        self.waited += start.elapsed().as_secs_f64();
        Ok(())
    }
}

fn read_all(bytes: &[u8]) -> u64 {
    let words = bytes
        .chunks_exact(8)
        .map(|word| u64::from_ne_bytes(std::array::from_fn(|at| word[at])));
    words.fold(0, u64::wrapping_add)
}
