//! Measures round trips and one-way bandwidth by message size between two processes.
//!
//! `pingpong [shm|unix|tcp|tcp6]... [--seconds S]`: this process is the client, and a child process
//! is the server. Round trips: messages of the given size in one direction, and answers of 16 bytes
//! in the other direction. Bandwidth: the client writes every byte, and the server reads every
//! byte. In the "handed" column, both leave the bytes untouched. The last column is the share of
//! the client's time that it waits for credit.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mgn_fabric::{connect, Address, Config, Error, Listener, Message, Token, Transport};

const KINDS: [(&str, Transport, &str); 5] = [
    ("shm", Transport::Shm, "unix:@"),
    ("unix", Transport::Unix, "unix:@"),
    ("tcp", Transport::Tcp, "tcp:127.0.0.1:0"),
    ("tls", Transport::Tcp, "tls:127.0.0.1:0"),
    ("tcp6", Transport::Tcp, "tcp:[::1]:0"),
];

const SIZES: [usize; 6] = [16, 600, 4 << 10, 32 << 10, 64 << 10, 256 << 10];

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "--serve") {
        return serve(&arguments[1].parse()?);
    }
    let mut span = Duration::from_millis(400);
    if let Some(at) = arguments
        .iter()
        .position(|argument| argument == "--seconds")
    {
        let seconds = arguments.get(at + 1).ok_or("--seconds needs a number")?;
        span = Duration::from_secs_f64(seconds.parse()?);
        arguments.drain(at..at + 2);
    }
    if let Some(wrong) = arguments
        .iter()
        .find(|a| !KINDS.iter().any(|(name, ..)| a == name))
    {
        return Err(format!("{wrong} is none of shm, unix, tcp, tcp6").into());
    }
    println!("transport   bytes   trips/s  p50 us  p99 us |   GB/s   msg/s   wait | handed msg/s");
    for (name, transport, address) in &KINDS {
        if arguments.is_empty() || arguments.iter().any(|argument| argument == name) {
            for size in SIZES {
                measure(name, transport, address, size, span)?;
            }
        }
    }
    Ok(())
}

/// A fixed secret suffices, because the server runs only during the measurement.
fn token() -> Result<Token, Error> {
    "5".repeat(64).parse()
}

fn measure(
    name: &str,
    transport: &Transport,
    address: &str,
    size: usize,
    span: Duration,
) -> Result<(), Failure> {
    let (mut child, address) = start(address)?;
    let token = Some(token()?).filter(|_| *transport == Transport::Tcp);
    let connect = |mode: &[u8]| {
        connect(
            &address,
            transport.clone(),
            token.as_ref(),
            mode,
            Duration::from_secs(5),
        )
    };

    let (connection, _) = connect(b"echo")?;
    let (sender, mut receiver) = connection.split();
    let mut times = Vec::new();
    let start = Instant::now();
    while start.elapsed() < span {
        let begin = Instant::now();
        let mut room = sender.reserve(size)?;
        room.write(0, &begin.elapsed().as_nanos().to_le_bytes());
        sender.commit(&mut room, size)?;
        drop(room);
        receiver.recv(None)?.ok_or("no answer")?;
        times.push(begin.elapsed());
    }
    let trips = times.len() as f64 / start.elapsed().as_secs_f64();
    times.sort();
    let at = |share: f64| times[(times.len() as f64 * share) as usize].as_nanos() as f64 / 1e3;
    print!(
        "{name:9} {size:7} {trips:9.0} {:7.2} {:7.2} | ",
        at(0.5),
        at(0.99)
    );
    drop((sender, receiver));

    let (gigabytes, messages, wait) = stream(connect(b"read")?.0, size, span, true)?;
    print!("{gigabytes:6.2} {messages:7.0}  {:4.1}% | ", wait * 100.0);
    let (_, messages, _) = stream(connect(b"drop")?.0, size, span, false)?;
    println!("{messages:12.0}");
    drop(connect(b"quit")?);
    child.wait()?;
    Ok(())
}

/// Sends for a while. Returns GB/s, messages/s and the share of time spent waiting.
fn stream(
    connection: mgn_fabric::Connection,
    size: usize,
    span: Duration,
    write: bool,
) -> Result<(f64, f64, f64), Failure> {
    let (sender, mut receiver) = connection.split();
    let source = vec![1; size];
    let (start, mut messages) = (Instant::now(), 0u64);
    let mut room = sender.reserve(256 << 10)?;
    while start.elapsed() < span {
        if room.capacity() < size {
            drop(room);
            room = sender.reserve(256 << 10)?;
        }
        if write {
            room.write(0, &source);
        }
        sender.commit(&mut room, size)?;
        messages += 1;
    }
    drop(room);
    sender.send(b"")?;
    receiver.recv(None)?.ok_or("no answer")?;
    let seconds = start.elapsed().as_secs_f64();
    let wait = sender.wait_time() as f64 / 1e9 / seconds;
    Ok((
        messages as f64 * size as f64 / seconds / 1e9,
        messages as f64 / seconds,
        wait,
    ))
}

/// Starts the server as a child, which prints its address.
fn start(address: &str) -> Result<(Child, Address), Failure> {
    let address = match address {
        "unix:@" => format!("unix:@mgn-pingpong-{}", std::process::id()),
        other => other.into(),
    };
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--serve", &address])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    Ok((child, line.trim().parse()?))
}

fn serve(address: &Address) -> Result<(), Failure> {
    let token = Some(token()?).filter(|_| address.needs_token());
    let listener = Listener::bind(address, token)?;
    println!("{}", listener.address());
    std::io::stdout().flush()?;
    loop {
        let incoming = listener.accept()?;
        let mode = incoming.opening().to_vec();
        let (sender, mut receiver) = incoming.accept(b"", &Config::default())?.split();
        if mode == b"quit" {
            return Ok(());
        }
        loop {
            let message = match receiver.recv(None) {
                Ok(Some(message)) => message,
                Ok(None) => continue,
                Err(Error::Closed(_)) => break,
                Err(error) => return Err(error.into()),
            };
            if mode == b"read" {
                read(&message);
            }
            if mode == b"echo" || message.is_empty() {
                sender.send(&[0; 16])?;
            }
        }
    }
}

/// Reads every byte, as a renderer would.
fn read(message: &Message) {
    let words = message.len() / 8;
    let mut sum = 0u64;
    for at in 0..words {
        // SAFETY: inside the message, which is 8-byte aligned.
        sum = sum.wrapping_add(unsafe { message.as_ptr().cast::<u64>().add(at).read() });
    }
    std::hint::black_box(sum);
}
