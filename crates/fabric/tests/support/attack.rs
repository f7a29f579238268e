//! An attack from one source that opens many connections without authenticating, and a client that
//! is far away.

// Each test program uses a part of this module.
#![allow(dead_code)]

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType};
use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};

/// The source address of the attack. Honest clients come from 127.0.0.1.
const ATTACKER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
/// The maximum number of connections that are kept open: the connections of the last 8 seconds.
/// Servers close a connection that has not authenticated after 5 seconds.
const HELD: usize = 8000;
/// An attack ends by itself after this time.
const LONGEST: Duration = Duration::from_secs(120);
/// The variable with the duration of an attack in seconds. The default is 1.
const SECONDS: &str = "MGN_ATTACK_SECONDS";

/// The permitted costs of an attack: lines in the log, and bytes of memory.
pub const LINES: usize = 100;
pub const MEMORY: usize = 16 << 20;

/// An attack with a thousand new connections per second. Dropping this value ends the attack.
pub struct Attack {
    stop: Arc<AtomicBool>,
    opened: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Attack {
    /// Starts an attack. Each connection sends one byte of `text` per second, from its beginning
    /// on.
    pub fn start(target: SocketAddr, text: &'static [u8]) -> Attack {
        take_all_descriptors();
        let stop = Arc::new(AtomicBool::new(false));
        let opened = Arc::new(AtomicUsize::new(0));
        let (ended, count) = (stop.clone(), opened.clone());
        let thread = thread::spawn(move || {
            let start = Instant::now();
            let mut held: VecDeque<OwnedFd> = VecDeque::new();
            while !ended.load(Ordering::Relaxed) && start.elapsed() < LONGEST {
                // If this thread was delayed, it opens the missing connections without a pause.
                let due = Duration::from_millis(count.load(Ordering::Relaxed) as u64);
                thread::sleep(due.saturating_sub(start.elapsed()));
                let Some(socket) = open(target) else {
                    // The system's limits permit no further connections.
                    held.pop_front();
                    continue;
                };
                held.push_back(socket);
                count.fetch_add(1, Ordering::Relaxed);
                if held.len() > HELD {
                    held.pop_front();
                }
                // These connections were opened one second ago, two seconds ago, and so on.
                let older = held.iter().rev().skip(1000).step_by(1000);
                for (socket, byte) in older.zip(text.chunks(1)) {
                    // The connection may be closed already.
                    let _ = rustix::net::send(socket, byte, SendFlags::NOSIGNAL);
                }
            }
        });
        let attack = Attack {
            stop,
            opened,
            thread: Some(thread),
        };
        attack.await_connections(1000);
        attack
    }

    /// Waits until `more` further connections have been opened.
    pub fn await_connections(&self, more: usize) {
        let all = self.opened.load(Ordering::Relaxed) + more;
        while self.opened.load(Ordering::Relaxed) < all {
            let thread = self.thread.as_ref();
            assert!(thread.is_some_and(|thread| !thread.is_finished()));
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Attack {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

/// Raises this process's limit of descriptors to its maximum.
pub fn take_all_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    let all = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Nofile, all).unwrap();
}

/// A connection from the attacker's address. `None` if the system's limits do not permit another
/// connection.
pub fn open(target: SocketAddr) -> Option<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket =
        rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).ok()?;
    // With this option, the port is free again as soon as the socket is closed. There are only
    // 28,000 ports.
    rustix::net::sockopt::set_socket_linger(&socket, Some(Duration::ZERO)).ok()?;
    rustix::net::bind(&socket, &SocketAddrV4::new(ATTACKER, 0)).ok()?;
    match rustix::net::connect(&socket, &target) {
        Ok(()) | Err(rustix::io::Errno::INPROGRESS) => Some(socket),
        Err(_) => None,
    }
}

/// A forwarder to `target`, for clients that are 50 ms away from it. Returns its address.
pub fn far_way_to(target: SocketAddr) -> SocketAddr {
    const WAY: Duration = Duration::from_millis(50);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let Ok(far) = TcpStream::connect(target) else {
                continue;
            };
            for (from, to) in [(&near, &far), (&far, &near)] {
                let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                thread::spawn(move || {
                    let mut bytes = [0; 4096];
                    while let Ok(got @ 1..) = from.read(&mut bytes) {
                        thread::sleep(WAY);
                        if to.write_all(&bytes[..got]).is_err() {
                            break;
                        }
                    }
                    let _ = to.shutdown(std::net::Shutdown::Write);
                });
            }
        }
    });
    place
}

/// The memory that a process uses, in bytes.
pub fn memory_of(process: u32) -> usize {
    let statm = std::fs::read_to_string(format!("/proc/{process}/statm")).unwrap();
    let pages = statm.split_whitespace().nth(1).unwrap();
    pages.parse::<usize>().unwrap() * rustix::param::page_size()
}

/// Counts the lines that this process logs, from the first call on.
pub fn lines_logged() -> usize {
    struct Counter;
    static LINES: AtomicUsize = AtomicUsize::new(0);
    impl tracing::Subscriber for Counter {
        fn enabled(&self, about: &tracing::Metadata<'_>) -> bool {
            about.level() <= &tracing::Level::INFO
        }
        fn event(&self, _: &tracing::Event<'_>) {
            LINES.fetch_add(1, Ordering::Relaxed);
        }
        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
            tracing::span::Id::from_u64(1)
        }
        fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
        fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
        fn enter(&self, _: &tracing::span::Id) {}
        fn exit(&self, _: &tracing::span::Id) {}
    }
    // Later calls fail, because the subscriber is set already.
    let _ = tracing::subscriber::set_global_default(Counter);
    LINES.load(Ordering::Relaxed)
}

/// Attacks `target`, which is in this process. During the attack, runs `come_in` in every third
/// second. Requires that the attack costs little.
pub fn survive(target: SocketAddr, text: &'static [u8], come_in: impl Fn()) {
    survive_in(std::process::id(), lines_logged, target, text, come_in);
}

/// Attacks a target in another process. `lines_logged` counts the lines of its log.
pub fn survive_in(
    process: u32,
    lines_logged: impl Fn() -> usize,
    target: SocketAddr,
    text: &'static [u8],
    come_in: impl Fn(),
) {
    let seconds: u32 = std::env::var(SECONDS).map_or(1, |text| text.parse().expect(SECONDS));
    assert!((1..=100).contains(&seconds), "{SECONDS} is 1 to 100");
    let (lines, memory) = (lines_logged(), memory_of(process));
    let attack = Attack::start(target, text);
    let mut slowest = Duration::ZERO;
    for second in 0..seconds {
        if second % 3 == 0 {
            let start = Instant::now();
            come_in();
            slowest = slowest.max(start.elapsed());
        }
        attack.await_connections(1000);
    }
    let lines = lines_logged() - lines;
    let memory = memory_of(process).saturating_sub(memory);
    println!(
        "{seconds} s of {:?} at {target}: in after {slowest:.0?} at most, {lines} lines, {} KiB",
        String::from_utf8_lossy(text),
        memory >> 10
    );
    // A test of one second runs at the same time as other tests, and on any machine. So it only
    // detects that clients cannot connect at all.
    let limit = Duration::from_secs(if seconds < 30 { 10 } else { 1 });
    assert!(slowest < limit, "somebody had to wait for {slowest:?}");
    assert!(lines < LINES, "{lines} lines were logged");
    assert!(memory < MEMORY, "{memory} bytes of memory were used");
}
