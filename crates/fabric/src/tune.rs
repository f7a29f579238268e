//! Measurement of the best settings on this machine.
//!
//! Two processes exchange messages as programs do: a process that measures, and a partner that it
//! starts. Alternatives are measured in turns, a little of each at a time, so that other load on
//! the machine affects all of them equally.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::endpoint::{Endpoint, Joined, LinkId, SendOptions, Settings, Wanted, AUTO, NEVER};
use crate::{Address, Error, Listener, Token, Transport};

/// The variable with the address of the process that has started the partner.
const ADDRESS: &str = "MGN_TUNE_ADDRESS";

const PARTNER_TIMEOUT: Duration = Duration::from_secs(10);

/// The approximate duration of a burst of messages of one kind.
const BURST: Duration = Duration::from_millis(1);

/// New links are made this many times for each kind of message, because some links are slower than
/// others for their whole life. `BURSTS` is the minimum number of bursts on each link.
const SETS: u32 = 3;
const BURSTS: usize = 2;

/// The maximum number of kinds of messages that are measured.
const COUNT: u32 = 64;

/// An alternative must take less than this part of the default's time. Smaller differences are
/// noise.
const CLEARLY: f64 = 0.9;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// The best settings found.
#[derive(Debug)]
pub struct Tuned {
    pub settings: Settings,
    /// For each setting's name, the measurements that are the reason for its value.
    reasons: BTreeMap<&'static str, String>,
}

impl Tuned {
    /// A settings file, with the reasons as comments.
    pub fn to_toml(&self) -> String {
        let reason = |name: &str| self.reasons.get(name).cloned();
        let head =
            "# The best settings for messages on this machine, measured by mgn tune. Lengths are in bytes.";
        format!("{head}\n\n{}", self.settings.to_toml_with(&reason))
    }
}

/// Measures for about `time`, and passes its results to `say`, as lines of tables. Settings that
/// are not measured keep their defaults. `partner` is a program that calls [`tune_partner`].
///
/// # Errors
/// Errors of the communication between the two processes.
pub fn tune(time: Duration, partner: &mut Command, say: impl FnMut(&str)) -> Result<Tuned, Error> {
    let mut bench = Bench::start(partner, time / COUNT, say)?;
    let mut found = Tuned {
        settings: Settings::default(),
        reasons: BTreeMap::new(),
    };
    bench.eager(&mut found)?;
    bench.chunks(&mut found)?;
    bench.parts(&mut found)?;
    bench.single_copies(&mut found)?;
    bench.choices(&mut found)?;
    bench.spinning(&mut found)?;
    bench.finish()?;
    Ok(found)
}

/// The other process of [`tune`].
///
/// # Errors
/// Errors in connecting to the process that measures.
pub fn tune_partner() -> Result<(), Error> {
    let address = std::env::var(ADDRESS)
        .map_err(|_| Error::Misuse("only a process that mgn tune has started can do this"))?;
    let endpoint = Endpoint::with(Settings::default())?;
    let link = endpoint.connect(
        &address.parse()?,
        &Transport::Unix,
        None,
        b"",
        PARTNER_TIMEOUT,
    )?;
    // The link ends when the other process has finished.
    while let Ok(Some(wish)) = endpoint.take(&Wanted::new(link, 0), None) {
        let wish = Wish::parse(&String::from_utf8_lossy(&wish.to_vec()))?;
        thread::spawn(move || {
            if let Err(error) = wish.serve() {
                tracing::warn!("a measurement has failed: {error}");
            }
        });
    }
    Ok(())
}

/// A request to the partner: to connect in this way, and to answer each message with the number of
/// messages so far that the partner has read directly from our memory.
struct Wish {
    address: Address,
    transport: Transport,
    token: Option<Token>,
    len: usize,
    settings: Settings,
}

impl Wish {
    fn to_text(&self) -> String {
        let token = self.token.as_ref().map(Token::to_hex);
        let token = token.as_deref().map_or("-", String::as_str);
        format!(
            "{} {} {token} {}\n{}",
            self.address,
            self.transport,
            self.len,
            self.settings.to_toml()
        )
    }

    fn parse(text: &str) -> Result<Wish, Error> {
        const VAGUE: Error = Error::PeerMisbehaved("its request is invalid");
        let (first, settings) = text.split_once('\n').ok_or(VAGUE)?;
        let [address, transport, token, len] = first.split(' ').collect::<Vec<_>>()[..] else {
            return Err(VAGUE);
        };
        Ok(Wish {
            address: address.parse()?,
            transport: transport.parse()?,
            token: (token != "-").then(|| token.parse()).transpose()?,
            len: len.parse().map_err(|_| VAGUE)?,
            settings: Settings::parse(settings, "a wish".as_ref())?,
        })
    }

    fn serve(self) -> Result<(), Error> {
        let endpoint = Endpoint::with(self.settings)?;
        let (address, token) = (&self.address, self.token.as_ref());
        let link = endpoint.connect(address, &self.transport, token, b"", PARTNER_TIMEOUT)?;
        let mut into = vec![0; self.len];
        // The other side closes the link when it has finished.
        while endpoint.recv(Wanted::new(link, 1), &mut into).is_ok() {
            let answer = endpoint.single_copies(link).to_ne_bytes();
            if endpoint
                .send(link, 2, &answer, SendOptions::default())
                .is_err()
            {
                break;
            }
        }
        Ok(())
    }
}

/// The second process. Dropping this value ends it.
struct Partner(Child);

/// The process that measures, and its partner.
struct Bench<Say> {
    partner: Partner,
    endpoint: Endpoint,
    link: LinkId,
    /// The listener for shared memory and unix sockets, and the listener for TCP.
    listeners: [Listener; 2],
    token: Token,
    /// The time for each kind of message.
    span: Duration,
    say: Say,
}

type Field = fn(&mut Settings) -> &mut usize;

impl<Say: FnMut(&str)> Bench<Say> {
    fn start(command: &mut Command, span: Duration, say: Say) -> Result<Bench<Say>, Error> {
        let token = Token::generate();
        let here = format!("unix:@mgn-tune-{}", std::process::id()).parse()?;
        let listeners = [
            Listener::bind(&here, None)?,
            Listener::bind(&"tcp:127.0.0.1:0".parse()?, Some(token.clone()))?,
        ];
        let endpoint = Endpoint::with(Settings::default())?;
        let child = command
            .env(ADDRESS, here.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(Error::io("cannot start a second process to talk to"))?;
        let partner = Partner(child);
        let link = accept(&endpoint, &listeners[0])?;
        Ok(Bench {
            partner,
            endpoint,
            link,
            listeners,
            token,
            span,
            say,
        })
    }

    /// Finds the longest message that is better sent at once than offered first.
    fn eager(&mut self, found: &mut Tuned) -> Result<(), Error> {
        self.head(
            "sent at once, or offered first",
            &["length", "at once", "offered"],
        );
        let few = [16 * KIB, 64 * KIB, 256 * KIB];
        let of_shm = [4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB];
        let cases: [(Transport, &'static str, Field, &[usize]); 3] = [
            (Transport::Shm, "eager_shm", |s| &mut s.eager_shm, &of_shm),
            (Transport::Unix, "eager_unix", |s| &mut s.eager_unix, &few),
            (Transport::Tcp, "eager_tcp", |s| &mut s.eager_tcp, &few),
        ];
        for (transport, name, field, lengths) in cases {
            let mut longest = lengths[0];
            for len in lengths {
                let variants = [with(field, *len), with(field, 64)];
                let times = self.compare(&transport, &variants, *len)?;
                self.row(&transport, &[size(*len), us(times[0]), us(times[1])]);
                let why = format!(
                    "{} took {} at once, {} offered first",
                    size(*len),
                    us(times[0]),
                    us(times[1])
                );
                if times[1] < times[0].mul_f64(CLEARLY) {
                    // If this is the shortest length, no other measurement has given a reason.
                    found.reasons.entry(name).or_insert(why);
                    break;
                }
                longest = *len;
                found.reasons.insert(name, why);
            }
            *field(&mut found.settings) = longest;
        }
        Ok(())
    }

    /// Finds the best size of chunks for long messages through shared memory. The total size of the
    /// chunks stays the default.
    fn chunks(&mut self, found: &mut Tuned) -> Result<(), Error> {
        let all = Settings::default().chunk * Settings::default().chunks;
        let sizes = [16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB];
        let variants = sizes.map(|chunk| Settings {
            chunk,
            chunks: all / chunk,
            ..Settings::default()
        });
        let best = self.fastest(&Transport::Shm, "chunk", &variants, &sizes, found)?;
        found.settings.chunk = best;
        found.settings.chunks = all / best;
        // A chunk cannot hold a longer message.
        found.settings.eager_shm = found.settings.eager_shm.min(best);
        Ok(())
    }

    /// Finds the best size of parts for long messages over sockets.
    fn parts(&mut self, found: &mut Tuned) -> Result<(), Error> {
        let sizes = [64 * KIB, 256 * KIB, MIB];
        let cases: [(Transport, &'static str, Field); 2] = [
            (Transport::Unix, "part_unix", |s| &mut s.part_unix),
            (Transport::Tcp, "part_tcp", |s| &mut s.part_tcp),
        ];
        for (transport, name, field) in cases {
            let variants = sizes.map(|part| with(field, part));
            *field(&mut found.settings) =
                self.fastest(&transport, name, &variants, &sizes, found)?;
        }
        Ok(())
    }

    /// Returns the size with which a long message takes the shortest time.
    fn fastest(
        &mut self,
        transport: &Transport,
        name: &'static str,
        variants: &[Settings],
        sizes: &[usize],
        found: &mut Tuned,
    ) -> Result<usize, Error> {
        const LONG: usize = 4 * MIB;
        let what = format!("4 MiB, by {name}");
        let columns: Vec<String> = sizes.iter().map(|at| size(*at)).collect();
        self.head(&what, &columns);
        let times = self.compare(transport, variants, LONG)?;
        let shown: Vec<String> = times.iter().map(|time| us(*time)).collect();
        self.row(transport, &shown);
        let best = clearly_best(&times, variants);
        let each = columns.iter().zip(&shown);
        let each: Vec<String> = each.map(|(at, time)| format!("{time} by {at}")).collect();
        let why = format!("4 MiB took {}", each.join(", "));
        found.reasons.insert(name, why);
        Ok(sizes[best])
    }

    /// Finds the shortest length at which it is faster to read messages directly from the sender's
    /// memory than to send them through unix sockets. The decision considers all longer lengths
    /// together, because some of them may take longer and others half the time. Links over shared
    /// memory do not need this setting (see [`Bench::choices`]).
    fn single_copies(&mut self, found: &mut Tuned) -> Result<(), Error> {
        self.head(
            "read from the sender's memory, or sent through sockets",
            &["length", "one copy", "two copies"],
        );
        let (transport, name) = (Transport::Unix, "single_copy_unix");
        let field: Field = |s| &mut s.single_copy_unix;
        let mut threshold = NEVER;
        // The sum of log(time of one copy / time of two copies) over all lengths so far, and its
        // minimum.
        let (mut sum, mut least) = (0.0, CLEARLY.ln());
        for len in [16 * MIB, 4 * MIB, MIB, 256 * KIB, 64 * KIB] {
            let variants = [with(field, 4 * KIB), with(field, NEVER)];
            let times = self.compare(&transport, &variants, len)?;
            let (one, two) = (times[0], times[1]);
            self.row(&transport, &[size(len), us(one), us(two)]);
            let why = format!(
                "{} took {} in one copy, {} in two",
                size(len),
                us(one),
                us(two)
            );
            sum += (one.as_secs_f64() / two.as_secs_f64()).ln();
            if sum < least {
                (least, threshold) = (sum, len);
                found.reasons.insert(name, why);
            } else {
                found.reasons.entry(name).or_insert(why);
            }
        }
        *field(&mut found.settings) = threshold;
        // A message that is sent at once cannot be read from the sender's memory.
        let settings = &mut found.settings;
        settings.eager_unix = settings.eager_unix.min(settings.single_copy_unix / 2);
        Ok(())
    }

    /// Writes down what links over shared memory choose on this machine. They measure both ways
    /// while they are in use, so the setting remains [`AUTO`].
    fn choices(&mut self, found: &mut Tuned) -> Result<(), Error> {
        self.head(
            "the choice of links between one copy and two copies",
            &["length", "copies"],
        );
        let mut chosen = Vec::new();
        for len in [64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB] {
            let copies = match self.chooses_one_copy(len)? {
                true => "one copy",
                false => "two copies",
            };
            self.row(&Transport::Shm, &[size(len), copies.into()]);
            chosen.push(format!("{} in {copies}", size(len)));
        }
        let why = format!("a link chose {}", chosen.join(", "));
        found.reasons.insert("single_copy_shm", why);
        Ok(())
    }

    /// Whether a link over shared memory that has carried messages of this length for a while
    /// carries most of them in one copy.
    fn chooses_one_copy(&mut self, len: usize) -> Result<bool, Error> {
        let (end, link) = self.connect(&Transport::Shm, &Settings::default(), len)?;
        let bytes = vec![1; len];
        let (begin, mut counts) = (Instant::now(), Vec::new());
        while counts.len() < 2 || begin.elapsed() < self.span {
            counts.push(round(&end, link, &bytes)?);
        }
        end.close(link);
        // The first half contains the first trial.
        let later = &counts[counts.len() / 2..];
        let fetched = counts[counts.len() - 1] - later[0];
        Ok(2 * fetched as usize > later.len())
    }

    /// Finds the time for which a waiting thread should poll before it sleeps. Keeps the default,
    /// which is good for long messages, unless a shorter time is clearly better.
    fn spinning(&mut self, found: &mut Tuned) -> Result<(), Error> {
        let times_us = [0, 5, 20];
        let columns = times_us.map(|time| format!("{time} us"));
        self.head("8 bytes, by time of polling before sleep", &columns);
        let variants = times_us.map(|time| with(|s| &mut s.spin_us, time));
        let times = self.compare(&Transport::Shm, &variants, 8)?;
        let shown: Vec<String> = times.iter().map(|time| us(*time)).collect();
        self.row(&Transport::Shm, &shown);
        found.settings.spin_us = times_us[clearly_best(&times, &variants)];
        let each = columns.iter().zip(&shown);
        let each: Vec<String> = each.map(|(at, time)| format!("{time} by {at}")).collect();
        let why = format!("8 bytes and an answer took {}", each.join(", "));
        found.reasons.insert("spin_us", why);
        Ok(())
    }

    /// Measures a message of `len` bytes and its short answer, with each of these settings at both
    /// ends. Returns the median of the bursts for each.
    fn compare(
        &mut self,
        transport: &Transport,
        variants: &[Settings],
        len: usize,
    ) -> Result<Vec<Duration>, Error> {
        let mut times = vec![Vec::new(); variants.len()];
        for _ in 0..SETS {
            self.compare_once(transport, variants, &vec![1; len], &mut times)?;
        }
        let median = |mut times: Vec<Duration>| {
            times.sort_unstable();
            times[times.len() / 2]
        };
        Ok(times.into_iter().map(median).collect())
    }

    /// Measures once with a new link for each of the settings, in turns.
    fn compare_once(
        &mut self,
        transport: &Transport,
        variants: &[Settings],
        bytes: &[u8],
        times: &mut [Vec<Duration>],
    ) -> Result<(), Error> {
        // Links over shared memory must not try other ways of copying during a measurement.
        let fixed = |settings: &Settings| match settings.single_copy_shm {
            AUTO => Settings {
                single_copy_shm: NEVER,
                ..settings.clone()
            },
            _ => settings.clone(),
        };
        let ends = variants
            .iter()
            .map(|settings| self.connect(transport, &fixed(settings), bytes.len()))
            .collect::<Result<Vec<_>, Error>>()?;
        let before = times[0].len();
        let begin = Instant::now();
        let span = self.span * ends.len() as u32 / SETS;
        while times[0].len() < before + BURSTS || begin.elapsed() < span {
            for ((end, link), times) in ends.iter().zip(times.iter_mut()) {
                // The first round wakes the partner, and its memory is not in the caches.
                round(end, *link, bytes)?;
                let (start, mut rounds) = (Instant::now(), 0);
                while rounds == 0 || start.elapsed() < BURST {
                    round(end, *link, bytes)?;
                    rounds += 1;
                }
                times.push(start.elapsed() / rounds);
            }
        }
        for (end, link) in ends {
            end.close(link);
        }
        Ok(())
    }

    /// Makes a link to the partner, with these settings at both ends.
    fn connect(
        &mut self,
        transport: &Transport,
        settings: &Settings,
        len: usize,
    ) -> Result<(Endpoint, LinkId), Error> {
        let is_tcp = *transport == Transport::Tcp;
        let listener = &self.listeners[usize::from(is_tcp)];
        let wish = Wish {
            address: listener.address().clone(),
            transport: transport.clone(),
            token: transport.needs_token().then(|| self.token.clone()),
            len,
            settings: settings.clone(),
        };
        let text = wish.to_text();
        self.endpoint
            .send(self.link, 0, text.as_bytes(), SendOptions::default())?;
        let endpoint = Endpoint::with(settings.clone())?;
        let link = accept(&endpoint, listener)?;
        Ok((endpoint, link))
    }

    /// Ends the partner.
    fn finish(mut self) -> Result<(), Error> {
        self.endpoint.close(self.link);
        let ended = self.partner.0.wait();
        ended
            .map(drop)
            .map_err(Error::io("cannot wait for the second process"))
    }

    fn head(&mut self, what: &str, columns: &[impl AsRef<str>]) {
        (self.say)("");
        (self.say)(what);
        self.line("", columns);
    }

    fn row(&mut self, transport: &Transport, columns: &[String]) {
        self.line(&transport.to_string(), columns);
    }

    fn line(&mut self, first: &str, columns: &[impl AsRef<str>]) {
        let columns: String = columns
            .iter()
            .map(|column| format!("{:>14}", column.as_ref()))
            .collect();
        (self.say)(&format!("  {first:<6}{columns}"));
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        // This has no effect if it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends a message and waits for its answer, which it returns: the number of messages on this link
/// that the partner has read directly from our memory.
fn round(end: &Endpoint, link: LinkId, bytes: &[u8]) -> Result<u64, Error> {
    end.send(link, 1, bytes, SendOptions::default())?;
    let mut count = [0; 8];
    end.recv(Wanted::new(link, 2), &mut count)?;
    Ok(u64::from_ne_bytes(count))
}

/// The index of the shortest time, if it is clearly shorter than that of the default settings;
/// otherwise the index of the defaults, which are among the variants.
fn clearly_best(times: &[Duration], variants: &[Settings]) -> usize {
    let usual = variants.iter().position(|one| *one == Settings::default());
    let usual = usual.expect("the default settings are among them");
    let enough = times[usual].mul_f64(CLEARLY);
    let best = (0..times.len()).filter(|at| times[*at] < enough);
    best.min_by_key(|at| times[*at]).unwrap_or(usual)
}

fn with(field: Field, value: usize) -> Settings {
    let mut settings = Settings::default();
    *field(&mut settings) = value;
    settings
}

fn us(time: Duration) -> String {
    format!("{:.1} us", time.as_secs_f64() * 1e6)
}

fn size(bytes: usize) -> String {
    match bytes {
        _ if bytes % MIB == 0 => format!("{} MiB", bytes / MIB),
        _ if bytes % KIB == 0 => format!("{} KiB", bytes / KIB),
        _ => format!("{bytes}"),
    }
}

fn accept(endpoint: &Endpoint, listener: &Listener) -> Result<LinkId, Error> {
    loop {
        let incoming = listener.accept_timeout(PARTNER_TIMEOUT)?;
        let incoming = incoming
            .ok_or_else(|| Error::TimedOut("waiting for the second process to connect".into()))?;
        if let Joined::Link(link, _) = endpoint.accept(incoming)? {
            return Ok(link);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not a test, but the second process of the test below.
    #[test]
    fn partner() {
        if std::env::var_os(ADDRESS).is_some() {
            tune_partner().unwrap();
        }
    }

    #[test]
    fn what_is_found_makes_sense_and_says_why() {
        let why = |text: &str, name: &str| {
            let at = text.find(&format!("\n{name} = ")).unwrap();
            text[..at].rsplit("\n\n").next().unwrap().to_string()
        };
        let names = [
            "eager_shm",
            "chunk",
            "part_tcp",
            "single_copy_unix",
            "spin_us",
        ];
        let mut partner = Command::new(std::env::current_exe().unwrap());
        partner.args(["tune::tests::partner", "--exact"]);
        let mut lines = Vec::new();
        let say = |line: &str| lines.push(line.to_string());
        let found = tune(Duration::from_millis(100), &mut partner, say).unwrap();
        // Each table has all its columns.
        for wanted in [
            ("shm", "KiB", 1),
            ("unix", "KiB", 1),
            ("tcp", "KiB", 1),
            ("unix", "MiB", 1),
        ] {
            let (transport, unit, count) = wanted;
            let rows = lines
                .iter()
                .filter(|line| line.trim().starts_with(transport) && line.contains(unit));
            assert!(rows.count() >= count, "{wanted:?} {lines:#?}");
        }
        assert!(lines.iter().all(|line| line.len() < 100), "{lines:#?}");
        let text = found.to_toml();
        assert_eq!(found.settings.single_copy_shm, AUTO);
        let chosen = why(&text, "single_copy_shm");
        for len in ["64 KiB", "256 KiB", "1 MiB", "4 MiB", "16 MiB"] {
            let said = ["one copy", "two copies"].map(|copies| format!("{len} in {copies}"));
            assert!(said.iter().any(|said| chosen.contains(said)), "{chosen}");
        }
        for name in names {
            assert!(why(&text, name).contains(" took "), "{name}: {text}");
        }
        let path = std::path::Path::new("tune.toml");
        assert_eq!(Settings::parse(&text, path).unwrap(), found.settings);
        found.settings.check().unwrap();
    }

    #[test]
    fn wishes_travel() {
        let wish = Wish {
            address: "tcp:127.0.0.1:7".parse().unwrap(),
            transport: Transport::Tcp,
            token: Some(Token::generate()),
            len: 77,
            settings: with(|s| &mut s.single_copy_shm, 4 * MIB),
        };
        let read = Wish::parse(&wish.to_text()).unwrap();
        assert_eq!(read.to_text(), wish.to_text());
        assert_eq!((read.len, read.settings), (77, wish.settings));
        for wrong in [
            "",
            "a b c\n",
            "unix:@a shm - x\n",
            "unix:@a shm - 5\nchunk = 3",
        ] {
            assert!(Wish::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
