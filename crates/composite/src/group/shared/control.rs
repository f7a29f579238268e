//! How the members of a group on one host tell each other how far they are: each has a page of
//! memory, which all others map.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mgn_sys::{futex, memory, Mapping, Protection};

/// A page has places for the heads of this many frames, which take turns.
pub(super) const FRAMES: usize = 8;

/// 64-bit words of a head.
pub(super) const HEAD_WORDS: usize = 17;

/// The maximum number of stripes of a picture that members merge separately.
pub(super) const STRIPES_MAX: usize = 512;

/// Bytes between words that different members wait for.
const LINE: usize = 64;

const COUNTERS: usize = LINE;
const HEADS: usize = COUNTERS + Counter::ALL.len() * LINE;
const HEAD_BYTES: usize = HEAD_WORDS * 8;
const CLAIMS: usize = HEADS + 3 * FRAMES * HEAD_BYTES;
const SIZE: usize = CLAIMS + 8 * STRIPES_MAX;

/// A member's counters. Each holds the number after that of the last frame in which the member has
/// reached a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counter {
    /// The memory for the merged picture is ready.
    Ready,
    /// The member's picture can be read.
    Drawn,
    /// The member reads no picture of others any more, and has written its part of the merged one.
    Merged,
    /// The member has finished the frame, including its exchange with other hosts.
    Finished,
    /// As the receiver, the member has used the merged picture.
    Used,
    /// The member has merged some pictures early, and others can read the result.
    MergedEarly,
}

impl Counter {
    pub const ALL: [Counter; 6] = [
        Counter::Ready,
        Counter::Drawn,
        Counter::Merged,
        Counter::Finished,
        Counter::Used,
        Counter::MergedEarly,
    ];
}

/// Which of a frame's heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// Where the merged picture goes.
    Result,
    /// Where the member's picture is.
    Picture,
    /// Where the result of the member's early merge is.
    Early,
}

/// One member's page.
#[derive(Debug)]
pub(super) struct Control {
    mapping: Mapping,
}

/// A member's message to the others, so that they can map its page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Invitation {
    pub pid: u32,
    fd: u32,
    /// The page begins with it. Memory that begins with something else is another page.
    pub nonce: u128,
}

impl Control {
    /// This member's own page, the descriptor by which others find it, and the invitation.
    pub fn create() -> io::Result<(Control, OwnedFd, Invitation)> {
        let mut nonce = [0; 16];
        getrandom::fill(&mut nonce).map_err(|error| io::Error::other(error.to_string()))?;
        let nonce = u128::from_ne_bytes(nonce);
        let fd = memory::create("mgn-composite", SIZE)?;
        let mapping = Mapping::new(&fd, SIZE, Protection::ReadWrite)?;
        write_nonce(&mapping, nonce);
        let invitation = Invitation {
            pid: std::process::id(),
            fd: fd.as_raw_fd() as u32,
            nonce,
        };
        Ok((Control { mapping }, fd, invitation))
    }

    pub fn map(invitation: &Invitation) -> io::Result<Control> {
        let mapping = map(invitation.pid, invitation.fd, SIZE, invitation.nonce)?;
        Ok(Control { mapping })
    }

    /// Whether the member has reached this point in all frames before `target`.
    pub fn has(&self, counter: Counter, target: u32) -> bool {
        self.value(counter).wrapping_sub(target) as i32 >= 0
    }

    /// Whether this frame is the last one in which the member has reached this point.
    pub fn is_at(&self, counter: Counter, target: u32) -> bool {
        self.value(counter) == target
    }

    pub fn value(&self, counter: Counter) -> u32 {
        let word = self.mapping.word(counter.offset());
        word.load(Ordering::Acquire)
    }

    /// Sets a counter, and wakes the members that wait for it.
    pub fn set(&self, counter: Counter, value: u32) {
        let word = self.mapping.word(counter.offset());
        // A member that falls asleep counts itself first and then checks the word.
        word.store(value, Ordering::SeqCst);
        if self.mapping.word(counter.sleepers()).load(Ordering::SeqCst) > 0 {
            futex::wake_all(word);
        }
    }

    /// Sleeps until the counter changes, the page's owner has ended, or `most` has passed. May
    /// return earlier.
    pub fn sleep(&self, counter: Counter, target: u32, most: Duration) {
        let sleepers = self.mapping.word(counter.sleepers());
        sleepers.fetch_add(1, Ordering::SeqCst);
        let value = self.mapping.word(counter.offset()).load(Ordering::SeqCst);
        let has_come = value.wrapping_sub(target) as i32 >= 0;
        if !has_come && self.ended() == 0 {
            futex::wait(self.mapping.word(counter.offset()), value, most);
        }
        sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    /// Why the page's owner has stopped compositing, as an `Ended::code`; 0 while it composites.
    pub fn ended(&self) -> u32 {
        self.mapping.word(ENDED).load(Ordering::SeqCst)
    }

    /// Tells why this member stops compositing, and wakes all that wait for it.
    pub fn end(&self, why: u32) {
        self.mapping.word(ENDED).store(why, Ordering::SeqCst);
        for counter in Counter::ALL {
            futex::wake_all(self.mapping.word(counter.offset()));
        }
    }

    /// Lets members claim this many stripes of a frame, whose merged pixels go to the owner of this
    /// page.
    pub fn open(&self, frame: u32, stripes: usize) {
        for at in 0..stripes {
            self.claimed(at)
                .store(claim_word(frame, None), Ordering::Release);
        }
    }

    /// Claims a stripe for a rank. `false` if another rank merges it, or the frame has ended.
    pub fn claim(&self, frame: u32, stripe: usize, rank: usize) -> bool {
        let (free, taken) = (claim_word(frame, None), claim_word(frame, Some(rank)));
        let order = (Ordering::AcqRel, Ordering::Relaxed);
        let claimed = self.claimed(stripe);
        claimed
            .compare_exchange(free, taken, order.0, order.1)
            .is_ok()
    }

    /// Whether a stripe of a frame can be claimed.
    pub fn is_free(&self, frame: u32, stripe: usize) -> bool {
        self.claimed(stripe).load(Ordering::Acquire) == claim_word(frame, None)
    }

    /// The rank that has claimed a stripe of a frame.
    pub fn claimer(&self, frame: u32, stripe: usize) -> Option<usize> {
        let word = self.claimed(stripe).load(Ordering::Acquire);
        let rank = (word as u32).checked_sub(1)?;
        (word == claim_word(frame, Some(rank as usize))).then_some(rank as usize)
    }

    fn claimed(&self, stripe: usize) -> &AtomicU64 {
        self.mapping.long(CLAIMS + 8 * stripe)
    }

    pub fn write(&self, which: Which, frame: u32, head: &[u64; HEAD_WORDS]) {
        for (at, word) in head.iter().enumerate() {
            let place = head_at(which, frame) + at * 8;
            self.mapping.long(place).store(*word, Ordering::Relaxed);
        }
    }

    pub fn read(&self, which: Which, frame: u32) -> [u64; HEAD_WORDS] {
        std::array::from_fn(|at| {
            let place = head_at(which, frame) + at * 8;
            self.mapping.long(place).load(Ordering::Relaxed)
        })
    }
}

/// Where the page has the code of `Control::ended`: behind the nonce.
const ENDED: usize = 16;

impl Counter {
    fn offset(self) -> usize {
        COUNTERS + LINE * self as usize
    }

    fn sleepers(self) -> usize {
        self.offset() + 4
    }
}

/// The frame, and the rank that has claimed one of its stripes, plus 1; 0 if none has. Because of
/// the frame, a late member cannot claim a stripe of a later frame.
fn claim_word(frame: u32, rank: Option<usize>) -> u64 {
    let rank = rank.map_or(0, |rank| rank as u32 + 1);
    u64::from(frame) << 32 | u64::from(rank)
}

fn head_at(which: Which, frame: u32) -> usize {
    HEADS + (which as usize * FRAMES + frame as usize % FRAMES) * HEAD_BYTES
}

/// Maps memory of another process, which must begin with the nonce.
pub(super) fn map(pid: u32, fd: u32, size: usize, nonce: u128) -> io::Result<Mapping> {
    if size < size_of_val(&nonce) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let fd = memory::of_process(pid, fd, Protection::ReadWrite)?;
    let mapping = Mapping::new(&fd, size, Protection::ReadWrite)?;
    let words = [0, 8].map(|at| mapping.long(at).load(Ordering::Relaxed).to_ne_bytes());
    match words.concat() == nonce.to_ne_bytes() {
        true => Ok(mapping),
        false => Err(io::Error::other("this is another process's memory")),
    }
}

pub(super) fn write_nonce(mapping: &Mapping, nonce: u128) {
    let bytes = nonce.to_ne_bytes();
    for (at, word) in bytes.chunks_exact(8).enumerate() {
        let word = u64::from_ne_bytes(word.try_into().expect("eight bytes"));
        mapping.long(8 * at).store(word, Ordering::Relaxed);
    }
}

impl Invitation {
    pub const BYTES: usize = 24;

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.pid.to_le_bytes().to_vec();
        bytes.extend(self.fd.to_le_bytes());
        bytes.extend(self.nonce.to_le_bytes());
        bytes
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Invitation> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let nonce = bytes.get(8..24)?.try_into().ok()?;
        (bytes.len() == Invitation::BYTES).then_some(Invitation {
            pid: word(0)?,
            fd: word(4)?,
            nonce: u128::from_le_bytes(nonce),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_page_is_found_by_its_invitation() {
        let (mine, _fd, invitation) = Control::create().unwrap();
        let told = Invitation::from_bytes(&invitation.to_bytes()).unwrap();
        assert_eq!(told, invitation);
        let theirs = Control::map(&told).unwrap();
        mine.set(Counter::Drawn, 3);
        assert!(theirs.has(Counter::Drawn, 3) && !theirs.has(Counter::Drawn, 4));
        assert!(!theirs.has(Counter::Ready, 3));
        let head = std::array::from_fn(|at| at as u64);
        mine.write(Which::Picture, 9, &head);
        assert_eq!(theirs.read(Which::Picture, 9), head);
        assert_eq!(theirs.read(Which::Result, 9), [0; HEAD_WORDS]);
        let other = Invitation {
            nonce: 0,
            ..invitation
        };
        assert!(Control::map(&other).is_err());
        assert_eq!(Invitation::from_bytes(&[0; 23]), None);
        assert_eq!(Invitation::from_bytes(&[0; 25]), None);
    }

    #[test]
    fn a_stripe_is_claimed_once() {
        let (mine, _fd, invitation) = Control::create().unwrap();
        let theirs = Control::map(&invitation).unwrap();
        mine.open(u32::MAX, STRIPES_MAX);
        let last = STRIPES_MAX - 1;
        assert!(theirs.claim(u32::MAX, last, 0) && !mine.claim(u32::MAX, last, 1));
        assert_eq!(mine.claimer(u32::MAX, last), Some(0));
        assert_eq!(mine.claimer(u32::MAX, 0), None);
        assert!(mine.is_free(u32::MAX, 0) && !mine.is_free(u32::MAX, last));
        // The next frame. A member that is still in the last one gets nothing.
        mine.open(0, 2);
        assert!(!theirs.claim(u32::MAX, 0, 1) && !theirs.is_free(u32::MAX, 0));
        assert!(theirs.claim(0, 0, 1));
        assert_eq!(mine.claimer(u32::MAX, 0), None);
        assert_eq!([0, 1].map(|at| mine.claimer(0, at)), [Some(1), None]);
    }

    #[test]
    fn counters_go_round() {
        let (page, _fd, _) = Control::create().unwrap();
        page.set(Counter::Ready, u32::MAX);
        assert!(!page.has(Counter::Ready, 0));
        page.set(Counter::Ready, 0);
        assert!(page.has(Counter::Ready, u32::MAX) && page.has(Counter::Ready, 0));
    }

    #[test]
    fn sleepers_are_woken() {
        let (page, _fd, _) = Control::create().unwrap();
        let long = Duration::from_secs(60);
        thread::scope(|scope| {
            let sleep = |counter, is_there: fn(&Control) -> bool| {
                let page = &page;
                scope.spawn(move || {
                    while !is_there(page) {
                        page.sleep(counter, 1, long);
                    }
                })
            };
            let drawn = sleep(Counter::Drawn, |page| page.has(Counter::Drawn, 1));
            let ended = sleep(Counter::Merged, |page| page.ended() == 5);
            thread::sleep(Duration::from_millis(10));
            page.set(Counter::Drawn, 1);
            drawn.join().unwrap();
            page.end(5);
            ended.join().unwrap();
        });
    }
}
