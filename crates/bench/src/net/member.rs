//! One of many processes, each with an endpoint and links to the others. It prints its address.
//! Then it executes commands from its input, one per line.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::net::Ipv4Addr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use mgn_fabric::endpoint::{Endpoint, LinkId, Request, Wanted};

use crate::child::own_cpu;
use crate::net::endpoint::{accept, connect, listen, transport, Buffers};

#[derive(Debug, clap::Args)]
pub struct Member {
    transport: String,
    /// The process with index 0 leads.
    index: usize,
}

const DATA: u64 = 1;

/// How long a member waits for the others before it gives up.
pub const STEP_TIMEOUT: Duration = Duration::from_secs(30);

/// The number of posted receives while messages flow.
const POSTED: usize = 8;

/// The part of the measuring time in which messages are counted, as fractions of it. Before it,
/// some members have not begun, and others are fast because of their initial credit. After it, some
/// members have ended.
pub const COUNTED: (f64, f64) = (0.4, 0.95);

/// The first byte of a link's last message.
const LAST: u8 = 1;

/// Links in the order in which they were made, by either side.
#[derive(Default)]
struct Links {
    links: Mutex<Vec<LinkId>>,
    more: Condvar,
}

impl Member {
    pub fn run(&self) -> Result<()> {
        let transport = transport(&self.transport)?;
        let endpoint = Arc::new(Endpoint::new()?);
        let listener = listen(&transport, "member", Ipv4Addr::LOCALHOST.into())?;
        println!("{}", listener.address());
        std::io::stdout().flush()?;
        let links = Arc::new(Links::default());
        let (accepting, accepted) = (endpoint.clone(), links.clone());
        std::thread::spawn(move || {
            while let Ok((link, _)) = accept(&accepting, &listener) {
                accepted.add(link);
            }
        });
        for line in std::io::stdin().lock().lines() {
            let line = line?;
            let words: Vec<&str> = line.split_whitespace().collect();
            let answer = match words[..] {
                ["connect", address, count] => {
                    for _ in 0..count.parse()? {
                        links.add(connect(&endpoint, &transport, address, "")?);
                    }
                    String::new()
                }
                ["links", count] => {
                    links.wait(count.parse()?)?;
                    String::new()
                }
                ["flow", size, seconds, sends, receives] => {
                    let links = links.all();
                    let sends = if sends == "true" { &links[..] } else { &[] };
                    let receives = if receives == "true" { &links[..] } else { &[] };
                    flow(&endpoint, sends, receives, size.parse()?, seconds.parse()?)?
                }
                ["steps", count, size, to, from] => {
                    let all = links.all();
                    let (to, from) = (chosen(&all, to)?, chosen(&all, from)?);
                    steps(&endpoint, &all, &to, &from, count.parse()?, size.parse()?)?
                }
                ["wait", seconds] => {
                    let time = Duration::from_secs_f64(seconds.parse()?);
                    endpoint.peek(&Wanted::any(), Some(time))?;
                    String::new()
                }
                _ => bail!("told {line:?}"),
            };
            println!("{:.4} {answer}", own_cpu());
            std::io::stdout().flush()?;
        }
        Ok(())
    }
}

impl Links {
    fn add(&self, link: LinkId) {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.push(link);
        self.more.notify_all();
    }

    /// Waits until there are `count` links.
    fn wait(&self, count: usize) -> Result<()> {
        let links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .more
            .wait_timeout_while(links, STEP_TIMEOUT, |links| links.len() < count);
        let (links, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match links.len() == count {
            true => Ok(()),
            false => bail!("only {} of {count} links were made", links.len()),
        }
    }

    fn all(&self) -> Vec<LinkId> {
        self.links
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// The links with these numbers, such as `0,2`, or `-` for none.
pub fn chosen<L: Copy>(links: &[L], numbers: &str) -> Result<Vec<L>> {
    let numbers = numbers.split(',').filter(|number| *number != "-");
    let link = |number: &str| {
        let link = links.get(number.parse::<usize>()?);
        link.copied().context("there is no such link")
    };
    numbers.map(link).collect()
}

/// Sends a message on each link of `to` and receives a message from each link of `from`, `count`
/// times. Returns the seconds for this. One such step with new memory, and one exchange on all
/// links of the process (`all`), come first and are not measured.
fn steps(
    endpoint: &Arc<Endpoint>,
    all: &[LinkId],
    to: &[LinkId],
    from: &[LinkId],
    count: u64,
    size: usize,
) -> Result<String> {
    let mut buffers = Buffers::new(endpoint, to.len().max(from.len()), size);
    step(endpoint, &mut buffers, to, from)?;
    let mut empty = Buffers::new(endpoint, all.len(), 0);
    step(endpoint, &mut empty, all, all)?;
    let start = Instant::now();
    for _ in 0..count {
        step(endpoint, &mut buffers, to, from)?;
    }
    Ok(start.elapsed().as_secs_f64().to_string())
}

fn step(endpoint: &Endpoint, buffers: &mut Buffers, to: &[LinkId], from: &[LinkId]) -> Result<()> {
    let mut begun = Vec::with_capacity(to.len() + from.len());
    for (at, link) in from.iter().enumerate() {
        begun.push(buffers.irecv(at, Wanted::new(*link, DATA)));
    }
    for (at, link) in to.iter().enumerate() {
        begun.extend(buffers.isend(at, *link, DATA)?);
    }
    for request in begun {
        let ended = endpoint.wait(request, Some(STEP_TIMEOUT))?;
        ended.context("the other processes do not continue")?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Begun {
    Send(usize),
    Receive(usize),
}

/// Sends messages on some links as fast as possible, and receives all messages from others. Returns
/// the number of messages that arrived on each of these links in the part of the time that counts.
fn flow(
    endpoint: &Arc<Endpoint>,
    sends: &[LinkId],
    receives: &[LinkId],
    size: usize,
    seconds: f64,
) -> Result<String> {
    let mut buffers = Buffers::new(endpoint, sends.len().max(POSTED), size);
    let places: HashMap<LinkId, usize> = receives
        .iter()
        .enumerate()
        .map(|(at, link)| (*link, at))
        .collect();
    let mut counts = vec![0u64; receives.len()];
    let mut open = receives.len();
    // Links that are ready for their next message.
    let mut free: Vec<usize> = (0..sends.len()).collect();
    let (mut requests, mut begun): (Vec<Request>, Vec<Begun>) = (Vec::new(), Vec::new());
    if !receives.is_empty() {
        for at in 0..POSTED {
            requests.push(buffers.irecv(at, any_data()));
            begun.push(Begun::Receive(at));
        }
    }
    let mut is_over = vec![false; sends.len()];
    let start = Instant::now();
    loop {
        let now = start.elapsed().as_secs_f64();
        let counts_now = now > COUNTED.0 * seconds && now < COUNTED.1 * seconds;
        let last = u8::from(now > seconds) * LAST;
        let mut still_free = Vec::new();
        for at in free.drain(..) {
            if is_over[at] {
                continue;
            }
            buffers.out[at][0] = last;
            is_over[at] = last == LAST;
            match buffers.isend(at, sends[at], DATA)? {
                Some(request) => {
                    requests.push(request);
                    begun.push(Begun::Send(at));
                }
                None => still_free.push(at),
            }
        }
        free = still_free;
        let is_sent = is_over.iter().all(|over| *over);
        if is_sent && open == 0 && !begun.iter().any(|begun| matches!(begun, Begun::Send(_))) {
            break;
        }
        // In each turn of the outer loop, each request is completed at most once.
        let mut timeout = match is_sent || free.is_empty() {
            true => Duration::from_millis(20),
            false => Duration::ZERO,
        };
        for _ in 0..requests.len() {
            let Some(ended) = endpoint.wait_any(&requests, Some(timeout))? else {
                break;
            };
            timeout = Duration::ZERO;
            let status = ended.result?;
            match begun[ended.at] {
                Begun::Send(at) => {
                    free.push(at);
                    requests.remove(ended.at);
                    begun.remove(ended.at);
                }
                Begun::Receive(at) => {
                    let place = places
                        .get(&status.link)
                        .context("a message from an unknown process")?;
                    counts[*place] += u64::from(counts_now);
                    open -= usize::from(buffers.into[at][0] == LAST);
                    requests[ended.at] = buffers.irecv(at, any_data());
                }
            }
            // The next search starts behind this request, so that no request is preferred.
            let next = ended.at % requests.len().max(1);
            requests.rotate_left(next);
            begun.rotate_left(next);
        }
        if now > seconds + STEP_TIMEOUT.as_secs_f64() {
            bail!("{open} links have not finished in time");
        }
    }
    for request in requests {
        endpoint.cancel(request)?;
    }
    let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
    Ok(counts.join(" "))
}

fn any_data() -> Wanted {
    Wanted {
        from: None,
        tag: DATA,
        ignore: 0,
    }
}
