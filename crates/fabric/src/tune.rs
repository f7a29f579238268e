//! Measuring which settings are best on this machine.

use std::thread;
use std::time::{Duration, Instant};

use crate::endpoint::{Endpoint, How, Joined, LinkId, Settings, Wanted};
use crate::{Error, Listener, Token, Transport};

const PATIENCE: Duration = Duration::from_secs(10);

/// Measurements that are made, at most.
const COUNT: u32 = 48;

const KIB: usize = 1 << 10;

/// Measures for about `time`, and tells `say` what it found, line by line. What is not measured is as by default.
///
/// # Errors
/// What keeps two endpoints of this process from talking to each other.
pub fn tune(time: Duration, mut say: impl FnMut(&str)) -> Result<Settings, Error> {
    let span = time / COUNT;
    let base = Settings::default();
    let mut best = base.clone();
    let us = |time: Duration| format!("{:.1} us", time.as_secs_f64() * 1e6);

    for (transport, lengths) in [
        (Transport::Shm, &[4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB][..]),
        (Transport::Unix, &[16 * KIB, 64 * KIB, 256 * KIB]),
        (Transport::Tcp, &[16 * KIB, 64 * KIB, 256 * KIB]),
    ] {
        let with = |eager: usize| {
            let mut settings = base.clone();
            *eager_of(&mut settings, &transport) = eager;
            settings
        };
        let mut longest = lengths[0];
        for len in lengths {
            let at_once = measure(&transport, &with(*len), *len, span)?;
            let offered = measure(&transport, &with(64), *len, span)?;
            let (here, there) = (us(at_once), us(offered));
            say(&format!(
                "{transport} {len} bytes: {here} at once, {there} offered first"
            ));
            if at_once > offered {
                break;
            }
            longest = *len;
        }
        *eager_of(&mut best, &transport) = longest;
    }
    for (transport, field) in [
        (
            Transport::Unix,
            part_unix as fn(&mut Settings) -> &mut usize,
        ),
        (Transport::Tcp, part_tcp),
    ] {
        let mut found = Vec::new();
        for part in [64 * KIB, 256 * KIB, 1024 * KIB] {
            let mut settings = base.clone();
            *field(&mut settings) = part;
            let time = measure(&transport, &settings, 4 << 20, span)?;
            say(&format!(
                "{transport} 4 MiB in parts of {part} bytes: {}",
                us(time)
            ));
            found.push((time, part));
        }
        let fastest = found.into_iter().min();
        *field(&mut best) = fastest.map_or(256 * KIB, |(_, part)| part);
    }
    for (transport, field) in [
        (
            Transport::Shm,
            single_shm as fn(&mut Settings) -> &mut usize,
        ),
        (Transport::Unix, single_unix),
    ] {
        // From the longest down: it has to win at every length from the threshold on.
        for len in [16 << 20, 4 << 20, 1 << 20, 256 * KIB, 64 * KIB] {
            let mut settings = base.clone();
            let two = measure(&transport, &settings, len, span)?;
            *field(&mut settings) = 4 * KIB;
            let one = measure(&transport, &settings, len, span)?;
            say(&format!(
                "{transport} {len} bytes: {} in one copy, {} in two",
                us(one),
                us(two)
            ));
            if one > two.mul_f64(0.95) {
                break;
            }
            *field(&mut best) = len;
        }
    }
    let mut found = Vec::new();
    for spin_us in [0, 5, 20] {
        let settings = Settings {
            spin_us,
            ..base.clone()
        };
        let time = measure(&Transport::Shm, &settings, 8, span)?;
        say(&format!(
            "shm 8 bytes, looking for {spin_us} us before sleeping: {}",
            us(time)
        ));
        found.push((time, spin_us));
    }
    // The shortest that is about as good as any.
    let fastest = found
        .iter()
        .map(|(time, _)| *time)
        .min()
        .unwrap_or_default();
    let enough = found.iter().find(|(time, _)| *time <= fastest.mul_f64(1.1));
    best.spin_us = enough.map_or(base.spin_us, |(_, spin)| *spin);
    Ok(best)
}

fn eager_of<'a>(settings: &'a mut Settings, transport: &Transport) -> &'a mut usize {
    match transport {
        Transport::Shm => &mut settings.eager_shm,
        Transport::Unix => &mut settings.eager_unix,
        _ => &mut settings.eager_tcp,
    }
}

fn part_unix(settings: &mut Settings) -> &mut usize {
    &mut settings.part_unix
}

fn part_tcp(settings: &mut Settings) -> &mut usize {
    &mut settings.part_tcp
}

fn single_shm(settings: &mut Settings) -> &mut usize {
    &mut settings.single_copy_shm
}

fn single_unix(settings: &mut Settings) -> &mut usize {
    &mut settings.single_copy_unix
}

/// The median time of a message of `len` bytes there and an empty one back.
fn measure(
    transport: &Transport,
    settings: &Settings,
    len: usize,
    span: Duration,
) -> Result<Duration, Error> {
    let token = (*transport == Transport::Tcp).then(Token::generate);
    let address = match transport {
        Transport::Tcp => "tcp:127.0.0.1:0".to_string(),
        _ => format!("unix:@mgn-tune-{}", std::process::id()),
    };
    let listener = Listener::bind(&address.parse()?, token.clone())?;
    let (one, other) = (
        Endpoint::with(settings.clone())?,
        Endpoint::with(settings.clone())?,
    );
    let echo = || -> Result<(), Error> {
        let link = accept(&other, &listener)?;
        let mut into = vec![0; len];
        // The other side closes when it has measured.
        while other.recv(Wanted::new(link, 1), &mut into).is_ok() {
            if other.send(link, 2, b"", How::default()).is_err() {
                break;
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            if let Err(error) = echo() {
                tracing::debug!("the other end of a measurement: {error}");
            }
        });
        let address = listener.address();
        let link = one.connect(address, transport, token.as_ref(), b"", PATIENCE)?;
        let bytes = vec![1; len];
        let mut times = Vec::new();
        let begin = Instant::now();
        while times.len() < 5 || begin.elapsed() < span {
            let start = Instant::now();
            let sent = one.send(link, 1, &bytes, How::default());
            sent.and_then(|()| one.recv(Wanted::new(link, 2), &mut []))?;
            times.push(start.elapsed());
        }
        one.close(link);
        // The first ones meet cold memory.
        times.drain(..times.len() / 4);
        times.sort_unstable();
        Ok(times[times.len() / 2])
    })
}

fn accept(endpoint: &Endpoint, listener: &Listener) -> Result<LinkId, Error> {
    loop {
        let incoming = listener.accept_timeout(PATIENCE)?;
        let incoming = incoming.ok_or_else(|| Error::TimedOut("waiting for oneself".into()))?;
        if let Joined::Link(link, _) = endpoint.accept(incoming)? {
            return Ok(link);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_makes_sense_and_in_time() {
        let start = Instant::now();
        let mut lines = Vec::new();
        let found = tune(Duration::from_millis(200), |line| {
            lines.push(line.to_string())
        })
        .unwrap();
        assert!(start.elapsed() < Duration::from_secs(20));
        assert!(lines.len() >= 3 + 6 + 2 + 3 && lines.iter().any(|line| line.contains("copy")));
        let path = std::path::Path::new("tune.toml");
        assert_eq!(Settings::parse(&found.to_toml(), path).unwrap(), found);
    }
}
