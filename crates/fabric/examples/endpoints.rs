//! Measures messages between two endpoints: one-way latency, rate and bandwidth.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mgn_fabric::endpoint::{Endpoint, Joined, LinkId, SendOptions, Wanted};
use mgn_fabric::{Listener, Token, Transport};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let token: Token = "5".repeat(64).parse()?;
    if arguments.first().is_some_and(|a| a == "--serve") {
        let address = arguments[1].parse()?;
        let listener = Listener::bind(
            &address,
            arguments[1].starts_with("tcp").then(|| token.clone()),
        )?;
        println!("{}", listener.address());
        let endpoint = Endpoint::new()?;
        let link = loop {
            if let Joined::Link(link, _) = endpoint.accept(listener.accept()?)? {
                break link;
            }
        };
        pin(1);
        return measure(&endpoint, link, false);
    }
    let kind = arguments.first().map_or("shm", String::as_str);
    let (transport, address) = match kind {
        "shm" => (Transport::Shm, "unix:@mgn-endpoints"),
        "unix" => (Transport::Unix, "unix:@mgn-endpoints"),
        _ => (Transport::Tcp, "tcp:127.0.0.1:0"),
    };
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--serve", address])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line)?;
    let endpoint = Endpoint::new()?;
    let token = (kind == "tcp").then_some(&token);
    let link = endpoint.connect(
        &line.trim().parse()?,
        &transport,
        token,
        b"",
        Duration::from_secs(5),
    )?;
    pin(0);
    measure(&endpoint, link, true)?;
    child.wait()?;
    Ok(())
}

fn pin(cpu: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu);
    let _ = rustix::thread::sched_setaffinity(None, &set);
}

fn measure(endpoint: &Endpoint, link: LinkId, first: bool) -> Result<(), Failure> {
    for size in [
        0usize,
        8,
        24,
        64,
        512,
        4 << 10,
        32 << 10,
        64 << 10,
        1 << 20,
        16 << 20,
    ] {
        let mut bytes = vec![1u8; size];
        let trips = (200_000_000 / (size + 20_000)).clamp(20, 20000);
        let any = Wanted::new(link, 1);
        let mut best = f64::MAX;
        for _ in 0..5 {
            let start = Instant::now();
            for _ in 0..trips {
                if first {
                    endpoint.send(link, 1, &bytes, SendOptions::default())?;
                    endpoint.recv(any, &mut bytes)?;
                } else {
                    endpoint.recv(any, &mut bytes)?;
                    endpoint.send(link, 1, &bytes, SendOptions::default())?;
                }
            }
            best = best.min(start.elapsed().as_secs_f64() / trips as f64 / 2.0);
        }
        // Send in one direction, 64 messages at a time.
        let rounds = (2_000_000_000 / (size + 20_000) / 64).clamp(3, 300);
        let mut rate = 0f64;
        let mut places = vec![vec![0u8; size]; if size > 1 << 20 { 2 } else { 64 }];
        let window = places.len();
        for _ in 0..3 {
            let start = Instant::now();
            for _ in 0..rounds {
                let mut requests = Vec::with_capacity(64);
                for place in &mut places {
                    let piece = (place.as_mut_ptr(), size);
                    // SAFETY: all requests are waited for below.
                    unsafe {
                        if first {
                            requests.extend(endpoint.isend(
                                link,
                                2,
                                &[piece],
                                SendOptions::default(),
                            )?);
                        } else {
                            requests.push(endpoint.irecv(Wanted::new(link, 2), &[piece]));
                        }
                    }
                }
                for request in requests {
                    endpoint.wait(request, None)?;
                }
                if first {
                    endpoint.recv(any, &mut bytes)?;
                } else {
                    endpoint.send(link, 1, &bytes[..size.min(1)], SendOptions::default())?;
                }
            }
            rate = rate.max((rounds * window) as f64 / start.elapsed().as_secs_f64());
        }
        if first {
            println!(
                "{size:>9} B  {:8.3} us  {:8.2} GB/s | {:8.3} M/s {:8.2} GB/s",
                best * 1e6,
                size as f64 / best / 1e9,
                rate / 1e6,
                rate * size as f64 / 1e9
            );
        }
    }
    Ok(())
}
