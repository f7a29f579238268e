//! The renderers of a wall. All get the same commands in the same order. If one is lost, the
//! remaining ones continue.
//!
//! One renderer, the speaker, answers questions to which all have the same answer. Each renderer
//! keeps its last answer to every context, so that it can become the speaker: an answer carries the
//! number of the message that asked, which is the same for all.

use super::stall::StallWatch;
use super::{message, Renderer, Sent, Successor};
use crate::link::failover::Failure;
use crate::link::replies::{Answered, NoAnswer};
use mgn_fabric::{Error, Multicast, Receiver, Reservation, Sender};
use mgn_wire::{sift, Answer, Encoder, NoSnapshot, MESSAGE_HEADER, SNAPSHOT_PART};
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a thread that waits for the speaker gives other threads to find out that the speaker is
/// lost.
const LOSS_TIMEOUT: Duration = Duration::from_secs(1);
const LOSS_CHECK_INTERVAL: Duration = Duration::from_millis(2);
/// Room for commands of our own.
const COMMAND_BYTES: usize = 64;
/// The longest reason why there is no snapshot.
const WHY_BYTES: u32 = 4096;
/// If this number of renderers were lost while they gave a snapshot, no further one is asked for
/// it.
const GIVERS_MAX: u32 = 2;
const BAD_SNAPSHOT: &str = "another renderer gave a snapshot that cannot be read";

pub struct WallRenderers {
    /// Whether the session ends when the first renderer is lost. In a window that programs share,
    /// the programs do not lose a renderer at the same point of their streams, so no other renderer
    /// could give a snapshot that fits all of them.
    needs_all: bool,
    /// The memory of messages, which renderers on this host read directly.
    multicast: Multicast,
    /// The number of the last message. Locked while a message is sent, which may wait for a
    /// renderer. A thread that reads answers must not wait for this lock.
    order: Mutex<u32>,
    seats: Mutex<Seats>,
}

struct Seats {
    /// By tile; none for a lost renderer.
    all: Vec<Option<Arc<Renderer>>>,
    speaker: usize,
    /// The number of renderers that were lost one after the other while they gave a snapshot.
    givers_lost: u32,
    /// Nanoseconds spent waiting to send to renderers that are lost now.
    waited: u64,
}

/// Why a lost renderer has no successor.
pub struct NoSuccessor {
    pub failure: Failure,
    pub why: String,
    /// The successor that is to be filled at the next attempt. No commands were sent to it yet.
    pub opened: Option<Box<Successor>>,
}

impl NoSuccessor {
    pub fn new(failure: Failure, why: impl Into<String>) -> NoSuccessor {
        NoSuccessor {
            failure,
            why: why.into(),
            opened: None,
        }
    }

    fn never(why: impl Into<String>) -> NoSuccessor {
        NoSuccessor::new(Failure::Never, why)
    }

    fn broken(error: Error) -> NoSuccessor {
        NoSuccessor::new(Failure::Unavailable, error.to_string())
    }
}

impl WallRenderers {
    /// The renderers of a shared window get a copy each, one after the other. Each program then
    /// waits for room at the first renderer before it sends to the second, so no programs wait in a
    /// circle.
    pub fn new(mut all: Vec<Renderer>, is_window_shared: bool) -> Result<WallRenderers, Error> {
        let longest = all.iter().map(|r| r.sender.message_max()).min();
        let multicast = Multicast::new(longest.unwrap_or(0))?;
        for renderer in all.iter_mut().filter(|_| !is_window_shared) {
            renderer.member = multicast.join(&renderer.sender)?;
        }
        Ok(WallRenderers {
            needs_all: is_window_shared,
            multicast,
            order: Mutex::new(0),
            seats: Mutex::new(Seats {
                all: all.into_iter().map(|r| Some(Arc::new(r))).collect(),
                speaker: 0,
                givers_lost: 0,
                waited: 0,
            }),
        })
    }

    /// The sender whose messages are written once and sent to all.
    pub fn writer(&self) -> &Sender {
        self.multicast.writer()
    }

    /// Sends the first `used` bytes of the reservation to all remaining renderers. If another
    /// message `follows` soon, sleeping servers are not woken for this one.
    pub fn commit(
        &self,
        reservation: &mut Reservation,
        used: usize,
        follows: bool,
    ) -> Result<Sent, Error> {
        let mut order = self.order();
        *order = order.wrapping_add(1);
        let number = *order;
        // SAFETY: `used` bytes were written there, in memory that no other thread writes to.
        let message = unsafe { std::slice::from_raw_parts(reservation.ptr(), used) };
        let is_sorted = sift::is_sorted(message);
        let all = self.seats().all.clone();
        let (mut readers, mut tiles) = (Vec::new(), Vec::new());
        let (mut bytes, mut broken) = (0, None);
        let mut lose = |tile, error| {
            self.seats().vacate(tile);
            broken = Some(error);
        };
        for (tile, renderer) in all.iter().enumerate() {
            let Some(renderer) = renderer else { continue };
            if let Some(member) = &renderer.member {
                readers.push(member);
                tiles.push(tile);
                continue;
            }
            match renderer.copy(message, is_sorted, tile as u32) {
                Ok(length) => bytes += length,
                Err(error) => lose(tile, error),
            }
        }
        if !readers.is_empty() {
            bytes += used;
        }
        self.multicast
            .commit(reservation, used, &readers, follows, |at, error| {
                lose(tiles[at], error);
            })?;
        self.go_on(&mut order, broken)?;
        Ok(Sent { bytes, number })
    }

    /// Called after a message that some renderers did not get: names another speaker if the speaker
    /// is among these. `broken` is why one of them is lost.
    fn go_on(&self, order: &mut u32, broken: Option<Error>) -> Result<(), Error> {
        match broken {
            Some(error) if self.left() == 0 => Err(error),
            Some(_) => self.keep_a_speaker(order),
            None => Ok(()),
        }
    }

    /// Names another speaker if there is none.
    fn keep_a_speaker(&self, order: &mut u32) -> Result<(), Error> {
        let next = self.seats().next_speaker(*order);
        let Some(speaker) = next else { return Ok(()) };
        *order = order.wrapping_add(1);
        let all = self.seats().all.clone();
        let mut broken = None;
        for (tile, renderer) in all.iter().enumerate() {
            let Some(renderer) = renderer else { continue };
            let told = renderer.send_command(|e| e.mgn_speaker(speaker as u32));
            if let Err(error) = told {
                self.seats().vacate(tile);
                broken = Some(error);
            }
        }
        self.go_on(order, broken)
    }

    /// The renderer of `tile` is lost. Returns how many are left.
    pub fn leave(&self, tile: usize) -> usize {
        self.seats().vacate(tile);
        if self.left() > 0 {
            // The next thread that sends gets its error.
            let _ = self.keep_a_speaker(&mut self.order());
        }
        self.left()
    }

    /// The number of remaining renderers.
    fn left(&self) -> usize {
        let seats = self.seats();
        match self.needs_all && seats.all.iter().any(Option::is_none) {
            true => 0,
            false => seats.left(),
        }
    }

    /// The speaker's answer to the question of `context` in message `number`.
    pub fn answer(
        &self,
        context: u32,
        number: u32,
        given_up: &dyn Fn() -> bool,
    ) -> Result<Answered, NoAnswer> {
        loop {
            let (tile, speaker) = {
                let seats = self.seats();
                (seats.speaker, seats.all[seats.speaker].clone())
            };
            let answered = match &speaker {
                // All renderers that got the question are lost.
                Some(speaker) if !speaker.was_told(number) => return Err(NoAnswer::GivenUp),
                Some(speaker) => speaker.answer(context, Some(number), given_up),
                None => Err(NoAnswer::GivenUp),
            };
            let why = match answered {
                Ok(answered) => return Ok(answered),
                Err(NoAnswer::GivenUp) if given_up() => return Err(NoAnswer::GivenUp),
                Err(why) => why,
            };
            let limit = Instant::now() + LOSS_TIMEOUT;
            while self.seats().is_speaker(tile) && !given_up() && Instant::now() < limit {
                std::thread::sleep(LOSS_CHECK_INTERVAL);
            }
            if self.seats().is_speaker(tile) && self.leave(tile) == 0 {
                return Err(why);
            }
        }
    }

    /// Each renderer's own answer, by tile. None for a renderer that is lost, or that joined after
    /// the question.
    pub fn answers(
        &self,
        context: u32,
        number: u32,
        given_up: &dyn Fn() -> bool,
    ) -> Result<Vec<Option<Answered>>, NoAnswer> {
        let all = self.seats().all.clone();
        let mut nobody = NoAnswer::GivenUp;
        let mut answer = |renderer: &Arc<Renderer>| {
            let answered = renderer.answer(context, Some(number), given_up);
            answered.map_err(|why| nobody = why).ok()
        };
        let answers: Vec<_> = all
            .iter()
            .map(|r| {
                r.as_ref()
                    .filter(|r| r.was_told(number))
                    .and_then(&mut answer)
            })
            .collect();
        match answers.iter().any(Option::is_some) {
            true => Ok(answers),
            false => Err(nobody),
        }
    }

    /// Lets `new`, a renderer that has received no commands yet, replace the lost one of `tile`.
    /// One of the remaining renderers gives a snapshot of its whole state, which `new` executes.
    /// Meanwhile all other threads that send wait. Returns the connection for the frames of `new`.
    pub fn fill(
        &self,
        tile: usize,
        new: Box<Successor>,
        given_up: &dyn Fn() -> bool,
    ) -> Result<(Sender, Receiver), NoSuccessor> {
        let broken = NoSuccessor::broken;
        let mut order = self.order();
        let (speaker, left) = {
            let seats = self.seats();
            if seats.givers_lost == GIVERS_MAX {
                return Err(NoSuccessor::never(format!(
                    "{GIVERS_MAX} renderers were lost, one after the other, while they gave snapshots"
                )));
            }
            (seats.speaker, seats.all[seats.speaker].clone())
        };
        let left =
            left.ok_or_else(|| NoSuccessor::new(Failure::Unavailable, "no renderer is left"))?;
        let given = StallWatch::over(&new.renderer.sender, |watch| {
            let giver = (speaker, &*left);
            self.give(tile, &new.renderer, giver, &mut order, given_up, watch)
        });
        let no_thread = |e: io::Error| NoSuccessor::new(Failure::NotNow, e.to_string());
        let mut told = match given.map_err(no_thread).and_then(|given| given) {
            Ok(told) => told,
            Err(why) if why.failure == Failure::NotNow => {
                return Err(NoSuccessor {
                    opened: Some(new),
                    ..why
                })
            }
            Err(why) => return Err(why),
        };
        let Successor {
            mut renderer,
            frames,
        } = *new;
        let named = renderer.send_command(|e| e.mgn_speaker(speaker as u32));
        named.map_err(broken)?;
        told = told.wrapping_add(1);
        renderer.ahead = told.wrapping_sub(*order);
        renderer.since = Some(*order);
        renderer.member = self.multicast.join(&renderer.sender).map_err(broken)?;
        let mut seats = self.seats();
        seats.all[tile] = Some(Arc::new(renderer));
        seats.givers_lost = 0;
        Ok(frames)
    }

    /// Lets the speaker give its snapshot to `new`, and returns the number of messages.
    fn give(
        &self,
        tile: usize,
        new: &Renderer,
        (speaker, giver): (usize, &Renderer),
        order: &mut u32,
        given_up: &dyn Fn() -> bool,
        watch: &StallWatch,
    ) -> Result<u32, NoSuccessor> {
        let broken = NoSuccessor::broken;
        let binaries = u32::from(giver.binary_key == new.binary_key);
        let mut told = 0u32;
        for part in 0.. {
            // This message is not counted: the other renderers do not get it.
            let asked = giver.send_command(|e| {
                e.mgn_snapshot(part, binaries, WHY_BYTES, SNAPSHOT_PART as u32);
            });
            asked.map_err(broken)?;
            let answered = giver.answer(0, Some(order.wrapping_add(1)), given_up);
            let Ok(answered) = answered else {
                return Err(self.lose_giver(speaker, order));
            };
            let mut answer = Answer::new(answered.bytes);
            let why = answer.next_array(1);
            if !why.is_empty() {
                return Err(match NoSnapshot::decode(why) {
                    Some(NoSnapshot::NotNow(why)) => NoSuccessor::new(Failure::NotNow, why),
                    Some(NoSnapshot::Never(why)) => NoSuccessor::never(why),
                    None => NoSuccessor::never(BAD_SNAPSHOT),
                });
            }
            let mut messages = answer.next_array(1);
            if messages.is_empty() {
                break;
            }
            while let Some((length, rest)) = messages.split_first_chunk() {
                let length = u32::from_le_bytes(*length) as usize;
                let (message, rest) = rest
                    .split_at_checked(length)
                    .ok_or_else(|| NoSuccessor::never(BAD_SNAPSHOT))?;
                watch
                    .during(|| new.copy(message, false, tile as u32))
                    .map_err(broken)?;
                told = told.wrapping_add(1);
                messages = rest;
            }
        }
        Ok(told)
    }

    /// The renderer of `tile` was lost while it gave a snapshot. Another renderer may give a
    /// snapshot, but to a new successor, because this one has received a part.
    fn lose_giver(&self, tile: usize, order: &mut u32) -> NoSuccessor {
        {
            let mut seats = self.seats();
            seats.vacate(tile);
            seats.givers_lost += 1;
        }
        // The next thread that sends gets its error.
        let _ = self.keep_a_speaker(order);
        let why = "the renderer that was giving a snapshot is lost";
        NoSuccessor::new(Failure::Unavailable, why)
    }

    pub fn send_wait(&self) -> u64 {
        let seats = self.seats();
        let now: u64 = seats
            .all
            .iter()
            .flatten()
            .map(|r| r.sender.wait_time())
            .sum();
        seats.waited + now + self.writer().wait_time()
    }

    fn order(&self) -> MutexGuard<'_, u32> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Never locked during a wait.
    fn seats(&self) -> MutexGuard<'_, Seats> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seats {
    fn left(&self) -> usize {
        self.all.iter().flatten().count()
    }

    fn vacate(&mut self, tile: usize) {
        if let Some(renderer) = self.all[tile].take() {
            renderer.is_lost.store(true, Ordering::Release);
            self.waited += renderer.sender.wait_time();
        }
    }

    fn is_speaker(&self, tile: usize) -> bool {
        self.speaker == tile
    }

    /// Chooses a new speaker if the speaker is lost, and returns it. The last message has number
    /// `order`.
    fn next_speaker(&mut self, order: u32) -> Option<usize> {
        if self.all[self.speaker].is_some() {
            return None;
        }
        let since = self.all.iter().map(|r| r.as_ref().map(|r| r.since));
        self.speaker = longest_there(since, order)?;
        Some(self.speaker)
    }
}

/// The renderer that has been connected for the longest time: it got every question that any other
/// got. `since` is none for a renderer that was there from the beginning, otherwise the number of
/// the last message before it joined.
fn longest_there(since: impl Iterator<Item = Option<Option<u32>>>, order: u32) -> Option<usize> {
    let there = since
        .enumerate()
        .filter_map(|(tile, since)| Some((tile, since?)));
    let age = |since: Option<u32>| since.map_or(u32::MAX, |since| order.wrapping_sub(since));
    let longest = there.min_by_key(|(_, since)| std::cmp::Reverse(age(*since)));
    longest.map(|(tile, _)| tile)
}

impl Renderer {
    /// Whether the renderer was connected when message `number` was sent.
    fn was_told(&self, number: u32) -> bool {
        self.since
            .is_none_or(|since| number.wrapping_sub(since) as i32 > 0)
    }

    /// Sends a command to this renderer only.
    fn send_command(&self, write: impl FnOnce(&mut Encoder)) -> Result<(), Error> {
        let mut room = self.sender.reserve(MESSAGE_HEADER + COMMAND_BYTES)?;
        let used = message(&mut room, 0, COMMAND_BYTES, write);
        self.sender.commit(&mut room, used)
    }

    /// Sends a copy of the parts of a message that the renderer of `tile` needs, and returns the
    /// length.
    fn copy(&self, message: &[u8], is_sorted: bool, tile: u32) -> Result<usize, Error> {
        let mut copy = self.sender.reserve(message.len())?;
        let room = copy.capacity();
        let mut write = |at, bytes: &[u8]| copy.write(at, bytes);
        let sifted = match is_sorted {
            true => sift::sift(message, tile, room, &mut write),
            false => None,
        };
        let length = sifted.unwrap_or_else(|| {
            write(0, message);
            message.len()
        });
        self.sender.commit(&mut copy, length)?;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::{longest_there, NoSuccessor, Renderer, Successor, WallRenderers};
    use crate::link::failover::Failure;
    use crate::link::replies::Replies;
    use mgn_fabric::{Address, Config, Connection, Listener, Transport};
    use mgn_wire::{ops::MGN_SNAPSHOT, MESSAGE_HEADER};
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;
    use std::time::Duration;

    /// The length of a snapshot that does not end. Each part holds a long message.
    const ENDLESS: usize = usize::MAX;

    /// An answer to message `number`: it gives no reason against a snapshot, and one message.
    fn part(number: u32) -> Vec<u8> {
        const LENGTH: u32 = 100 << 10;
        let words = [0, 12 + LENGTH, 0, 0, number, 0, 4 + LENGTH, LENGTH];
        let mut answer = words.map(u32::to_le_bytes).concat();
        answer.resize(answer.len() + LENGTH as usize, 0);
        answer
    }

    /// A connection to a renderer that gives this number of empty snapshots. When it is asked for
    /// one more, it closes the connection.
    fn giver(times: usize) -> Connection {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let address = format!("unix:@mgn-{}-giver-{n}", std::process::id());
        let address: Address = address.parse().unwrap();
        let listener = Listener::bind(&address, None).unwrap();
        thread::spawn(move || {
            let incoming = listener.accept().unwrap();
            let connection = incoming.accept(b"", &Config::default()).unwrap();
            let (sender, mut receiver) = connection.split();
            let (mut told, mut given) = (0u32, 0);
            while let Ok(Some(message)) = receiver.recv(None) {
                let commands = &message.to_vec()[MESSAGE_HEADER..];
                if !commands.starts_with(&MGN_SNAPSHOT.to_le_bytes()) {
                    told += 1;
                } else if given == times {
                    return;
                } else {
                    given += 1;
                    // For context 0, without an error. It answers the message that is not counted.
                    let mut answer = [0, 0, 0, 0, told + 1].map(u32::to_le_bytes).concat();
                    if times == ENDLESS {
                        answer = part(told + 1);
                    }
                    sender.send(&answer).unwrap();
                }
            }
        });
        let patience = Duration::from_secs(60);
        let connected = mgn_fabric::connect(&address, Transport::Unix, None, b"", patience);
        connected.unwrap().0
    }

    /// The connection of a renderer that reads nothing.
    fn stopped() -> (Connection, Connection) {
        let address = format!("unix:@mgn-{}-stopped", std::process::id());
        let address: Address = address.parse().unwrap();
        let listener = Listener::bind(&address, None).unwrap();
        let accepting = thread::spawn(move || {
            let incoming = listener.accept().unwrap();
            incoming.accept(b"", &Config::default()).unwrap()
        });
        let patience = Duration::from_secs(60);
        let connected = mgn_fabric::connect(&address, Transport::Unix, None, b"", patience);
        (connected.unwrap().0, accepting.join().unwrap())
    }

    #[test]
    #[cfg_attr(miri, ignore = "connects sockets")]
    fn a_successor_that_reads_nothing_does_not_hold_up_the_program() {
        let several = WallRenderers::new([ENDLESS, 0].map(renderer).into(), false).unwrap();
        several.leave(1);
        let (connection, _its_end) = stopped();
        let (sender, receiver) = connection.split();
        let new = Successor {
            renderer: Renderer::new(sender, Some(Replies::new(receiver)), [0; 16]),
            frames: giver(0).split(),
        };
        let filled = several.fill(1, Box::new(new), &|| false);
        assert!(matches!(filled, Err(why) if why.failure == Failure::Unavailable));
    }

    fn renderer(times: usize) -> Renderer {
        let (sender, receiver) = giver(times).split();
        Renderer::new(sender, Some(Replies::new(receiver)), [0; 16])
    }

    fn fill(several: &WallRenderers, tile: usize) -> Result<(), NoSuccessor> {
        let new = Successor {
            renderer: renderer(0),
            frames: giver(0).split(),
        };
        several.fill(tile, Box::new(new), &|| false).map(drop)
    }

    #[test]
    #[cfg_attr(miri, ignore = "connects sockets")]
    fn another_gives_what_a_lost_one_was_to_give() {
        let several = WallRenderers::new([0, 1, 0, 9, 0].map(renderer).into(), false).unwrap();
        several.leave(4);
        let not_now =
            |tile| matches!(fill(&several, tile), Err(why) if why.failure == Failure::Unavailable);
        assert!(not_now(4));
        assert!(fill(&several, 4).is_ok());
        // If two renderers were lost while they gave a snapshot, no third one is asked.
        several.leave(4);
        assert!(not_now(4) && not_now(4));
        for tile in [4, 0] {
            let never = fill(&several, tile);
            assert!(
                matches!(never, Err(never) if never.failure == Failure::Never && never.why.starts_with("2 renderers"))
            );
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "connects sockets")]
    fn a_shared_window_needs_all_its_renderers() {
        let several =
            |is_shared| WallRenderers::new([0, 0].map(renderer).into(), is_shared).unwrap();
        assert_eq!(several(false).leave(1), 1);
        assert_eq!(several(true).leave(1), 0);
    }

    #[test]
    fn who_has_been_there_for_longest_speaks() {
        let speaker =
            |since: &[Option<Option<u32>>], order| longest_there(since.iter().copied(), order);
        let first = Some(None);
        assert_eq!(speaker(&[None, None], 9), None);
        assert_eq!(speaker(&[None, Some(Some(7)), first, first], 9), Some(2));
        // Numbers wrap around.
        let late = [Some(Some(3)), Some(Some(u32::MAX - 3)), Some(Some(1))];
        assert_eq!(speaker(&late, 9), Some(1));
    }
}
