//! Sockets that are polled: the lower limit for the cost of a transport over sockets.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use anyhow::{bail, Result};
use rustix::io::Errno;
use rustix::net::{recv, send, RecvFlags, SendFlags};

use crate::net::measure::Test;
use crate::net::pair::{print_address, End, Pair};

pub struct SocketPair {
    test: Test,
    rank: usize,
    socket: OwnedFd,
    out: Vec<Vec<u8>>,
    into: Vec<Vec<u8>>,
}

/// The number of failed polls after which the thread yields.
const POLLS_PER_YIELD: u32 = 10_000;

impl SocketPair {
    /// `family`: `tcp` or `unix`.
    pub fn new(end: &End, family: &str, address: &str) -> Result<SocketPair> {
        let socket: OwnedFd = match (family, end.rank) {
            ("tcp", rank) => {
                let stream = if rank == 0 {
                    TcpStream::connect(address)?
                } else {
                    let listener = TcpListener::bind((end.listen, 0))?;
                    print_address(&listener.local_addr()?.to_string())?;
                    listener.accept()?.0
                };
                stream.set_nodelay(true)?;
                stream.into()
            }
            (_, 0) => {
                let address = SocketAddr::from_abstract_name(address)?;
                UnixStream::connect_addr(&address)?.into()
            }
            _ => {
                let name = format!("mgn-bench-raw-{}", std::process::id());
                let address = SocketAddr::from_abstract_name(&name)?;
                let listener = UnixListener::bind_addr(&address)?;
                print_address(&name)?;
                listener.accept()?.0.into()
            }
        };
        Ok(SocketPair {
            test: end.test,
            rank: end.rank,
            socket,
            out: Vec::new(),
            into: Vec::new(),
        })
    }

    fn send(&self, bytes: &[u8]) -> Result<()> {
        let mut transferred = 0;
        poll(|| {
            transferred += send(&self.socket, &bytes[transferred..], SendFlags::DONTWAIT)?;
            Ok(transferred == bytes.len())
        })
    }

    fn recv(&self, into: &mut [u8]) -> Result<()> {
        let mut transferred = 0;
        poll(
            || match recv(&self.socket, &mut into[transferred..], RecvFlags::DONTWAIT)? {
                (0, _) => Err(Errno::PIPE),
                (got, _) => {
                    transferred += got;
                    Ok(transferred == into.len())
                }
            },
        )
    }
}

/// Repeats an attempt until it returns true. `AGAIN` is no error.
fn poll(mut attempt: impl FnMut() -> Result<bool, Errno>) -> Result<()> {
    let mut polls = 0;
    loop {
        match attempt() {
            Ok(true) => return Ok(()),
            Ok(false) | Err(Errno::INTR) => polls = 0,
            Err(Errno::AGAIN) => {
                polls += 1;
                std::hint::spin_loop();
                if polls % POLLS_PER_YIELD == 0 {
                    std::thread::yield_now();
                }
            }
            Err(error) => return Err(io::Error::from(error).into()),
        }
    }
}

impl Pair for SocketPair {
    fn agree(&mut self, words: [u64; 2]) -> Result<[u64; 2]> {
        let mut bytes = [words[0].to_le_bytes(), words[1].to_le_bytes()].concat();
        match self.rank {
            0 => self.send(&bytes)?,
            _ => self.recv(&mut bytes)?,
        }
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        Ok([word(0), word(8)])
    }

    fn prepare(&mut self, size: usize, window: usize) -> Result<()> {
        self.out = vec![vec![1; size]; window];
        self.into = self.out.clone();
        Ok(())
    }

    fn turn(&mut self, _turn: u64, _compute: f64) -> Result<f64> {
        let mut into = std::mem::take(&mut self.into);
        match (self.test, self.rank) {
            (Test::Latency, 0) => {
                self.send(&self.out[0])?;
                self.recv(&mut into[0])?;
            }
            (Test::Latency, _) => {
                self.recv(&mut into[0])?;
                self.send(&self.out[0])?;
            }
            (Test::Stream, 0) => {
                self.out.iter().try_for_each(|bytes| self.send(bytes))?;
                self.recv(&mut [0])?;
            }
            (Test::Stream, _) => {
                into.iter_mut().try_for_each(|bytes| self.recv(bytes))?;
                self.send(&[0])?;
            }
            _ => bail!("{} is not measured with plain sockets", self.test.name()),
        }
        self.into = into;
        Ok(0.0)
    }
}
