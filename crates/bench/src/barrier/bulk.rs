//! Bulk transfers that fill a link in both directions.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Result};
use socket2::SockRef;

use super::Running;
use crate::child::{self, PART};

/// The sending time after which the queues of the link are assumed to be full.
const FILLING: Duration = Duration::from_millis(500);

/// A congestion control that fills queues, and that every kernel has.
const CONTROL: &str = "reno";

/// One of two processes that send each other as much data as the link between them can carry.
#[derive(Debug, clap::Args)]
pub struct Bulk {
    /// The address to listen at, with port 0; or the address of the other process.
    address: SocketAddr,
}

impl Bulk {
    /// Runs until the other end closes the connection. A process that listens prints its address.
    /// The other process prints a line after it has sent for `FILLING`.
    pub fn run(&self) -> Result<()> {
        let is_listening = self.address.port() == 0;
        let stream = if is_listening {
            let listener = TcpListener::bind(self.address)?;
            println!("{}", listener.local_addr()?);
            std::io::stdout().flush()?;
            listener.accept()?.0
        } else {
            TcpStream::connect(self.address)?
        };
        SockRef::from(&stream)
            .set_tcp_congestion(CONTROL.as_bytes())
            .with_context(|| format!("TCP has no congestion control {CONTROL}"))?;
        let mut incoming = stream.try_clone()?;
        thread::spawn(move || {
            let mut bytes = vec![0; 1 << 18];
            while incoming.read(&mut bytes).is_ok_and(|got| got > 0) {}
        });
        let (mut outgoing, bytes, begun) = (stream, vec![0; 1 << 18], Instant::now());
        let mut is_told = is_listening;
        // Writes fail after the other process has been ended.
        while outgoing.write_all(&bytes).is_ok() {
            if !is_told && begun.elapsed() > FILLING {
                is_told = true;
                println!("full");
                std::io::stdout().flush()?;
            }
        }
        Ok(())
    }
}

/// Bulk transfers in both directions. They end when this is dropped.
#[derive(Debug)]
pub struct Load {
    _ends: [Running; 2],
}

impl Load {
    /// Starts the transfers between two places. `second` is the address of the second place. Each
    /// prefix is a command that starts a process at one of the places. Returns when the link is
    /// full.
    pub fn start(prefixes: [Vec<String>; 2], second: std::net::IpAddr) -> Result<Load> {
        let [at_first, at_second] = prefixes;
        let (second, mut lines) = end(at_second, SocketAddr::new(second, 0))?;
        let address = line(&mut lines)?.parse().context("an address")?;
        let (first, mut lines) = end(at_first, address)?;
        line(&mut lines)?;
        Ok(Load {
            _ends: [first, second],
        })
    }
}

fn line(lines: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    lines.read_line(&mut line)?;
    ensure!(!line.is_empty(), "a bulk transfer has ended early");
    Ok(line.trim().to_string())
}

/// Starts one of the processes. Returns the process and its standard output.
fn end(prefix: Vec<String>, address: SocketAddr) -> Result<(Running, impl BufRead)> {
    let mut words = prefix;
    words.push(std::env::current_exe()?.to_string_lossy().into_owned());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args([PART, "bulk"]);
    command.arg(address.to_string()).stdout(Stdio::piped());
    let mut child = child::start(&mut command)?;
    let output = child.stdout.take().context("its output")?;
    Ok((Running(child), BufReader::new(output)))
}
