//! Links without a peer: a link that drops everything, a recording to a file, and the playback of a
//! recording.
//!
//! ```text
//! recording := opening and messages as in any recording; opening := "MgnE" version: u8  3: u8  name
//! message   := head: 16 bytes (an eager one)  payload
//! ```

use std::collections::{HashMap, VecDeque};
use std::io::IoSlice;
use std::path::Path;

use super::carrier::{Body, Carrier, FarEnd, Placer, Sent};
use super::head::{Head, Kind, ACTIVE, HEAD, OFFER, SYNC};
use super::joining;
use super::memory::Payload;
use super::settings::Settings;
use crate::file::{Player, Recording, LONGEST};
use crate::shm::SHORT;
use crate::Error;

/// Messages longer than this are read from the recording only when they are received.
const EAGER: usize = 16 << 10;
const PART: usize = 256 << 10;

/// Accepts every message at once, and records or drops it.
pub(crate) struct SilentLink {
    recording: Option<Recording>,
    /// The confirmations of synchronous messages that the engine has not read yet.
    answers: VecDeque<Head>,
}

impl SilentLink {
    pub(crate) fn null() -> SilentLink {
        SilentLink {
            recording: None,
            answers: VecDeque::new(),
        }
    }

    pub(crate) fn recording(path: &Path, name: &[u8]) -> Result<SilentLink, Error> {
        let recording = Recording::create(path, &joining::recorded(name))?;
        Ok(SilentLink {
            recording: Some(recording),
            ..SilentLink::null()
        })
    }

    pub(crate) fn is_ready(&self) -> bool {
        !self.answers.is_empty()
    }

    fn write(&mut self, head: &Head, payload: Payload<'_>) -> Result<(), Error> {
        let Some(recording) = &mut self.recording else {
            return Ok(());
        };
        if head.kind != Kind::Eager {
            let mut len = [0; 8];
            // SAFETY: an offer begins with an 8-byte length.
            unsafe { payload.memory.gather(payload.offset, len.as_mut_ptr(), 8) };
            return Err(Error::TooLong {
                len: u64::from_le_bytes(len) as usize,
                max: LONGEST - HEAD,
            });
        }
        let kept = Head {
            flags: head.flags & ACTIVE,
            id: 0,
            ..*head
        };
        let words = kept.encode().map(u64::to_le_bytes);
        let mut pieces = vec![IoSlice::new(words.as_flattened())];
        payload
            .memory
            .pieces(payload.offset, payload.len, |piece, len| {
                // SAFETY: the sender has promised not to change the memory meanwhile.
                pieces.push(IoSlice::new(unsafe {
                    std::slice::from_raw_parts(piece, len)
                }));
            });
        recording.write(&pieces)
    }
}

impl Carrier for SilentLink {
    fn send(&mut self, head: &Head, payload: Payload<'_>) -> Result<Sent, Error> {
        self.write(head, payload)?;
        self.answers.extend(taken(head));
        Ok(Sent::Done)
    }

    fn answer(&mut self, _head: &Head) -> Result<Sent, Error> {
        Ok(Sent::Done)
    }

    fn recv(&mut self, _placer: Placer<'_>) -> Result<Option<(Head, Body)>, Error> {
        let answer = self.answers.pop_front();
        Ok(answer.map(|head| (head, Body::short(&[]))))
    }

    fn matched(&mut self, _eager_bytes: usize) {}

    fn envelopes(&self) -> u32 {
        0
    }

    fn eager_max(&self) -> usize {
        match self.recording {
            Some(_) => LONGEST - HEAD,
            None => usize::MAX,
        }
    }

    fn part_max(&self) -> usize {
        PART
    }

    fn early_max(&self) -> usize {
        0
    }

    fn far(&self) -> FarEnd {
        FarEnd::Nobody
    }

    fn has_memory(&self) -> bool {
        false
    }

    fn flush(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// The confirmation of a synchronous message, which is accepted at once.
fn taken(head: &Head) -> Option<Head> {
    head.has(SYNC).then(|| Head::new(Kind::Taken, head.id, 0))
}

/// Delivers the messages of a recording as fast as the program receives them. Drops messages that
/// are sent to this link.
pub(crate) struct PlayedLink {
    player: Player,
    path: String,
    envelopes: u32,
    held: usize,
    answers: VecDeque<Head>,
    /// The number of messages that wait to be received (`waiting`), and the bytes of the messages
    /// among them that have been read from the file (`bytes`).
    waiting: u32,
    bytes: usize,
    is_over: bool,
    broken: Option<Error>,
    number: u32,
    /// Long messages that were offered: their positions in the file and their lengths.
    offers: HashMap<u32, (u64, usize)>,
    /// Accepted offers, and the number of bytes read of each.
    wanted: VecDeque<(u32, usize)>,
}

impl PlayedLink {
    /// Opens a recording, and returns the name that was recorded.
    pub(crate) fn open(path: &Path, settings: &Settings) -> Result<(PlayedLink, Vec<u8>), Error> {
        let player = Player::open(path)?;
        let name = joining::name_recorded(player.opening());
        let name = name.ok_or_else(|| player.bad("it is not the recording of an endpoint"))?;
        let name = name.to_vec();
        let link = PlayedLink {
            player,
            path: format!("the recording {}", path.display()),
            envelopes: settings.envelopes as u32,
            held: settings.held,
            answers: VecDeque::new(),
            waiting: 0,
            bytes: 0,
            is_over: false,
            broken: None,
            number: 0,
            offers: HashMap::new(),
            wanted: VecDeque::new(),
        };
        Ok((link, name))
    }

    /// Whether there is a message to deliver, or the end of the recording to report.
    pub(crate) fn is_ready(&self) -> bool {
        let may_read = self.waiting < self.envelopes && !self.is_over;
        let may_end = self.is_over && self.offers.is_empty();
        !self.answers.is_empty() || !self.wanted.is_empty() || may_read || may_end
    }

    fn next(&mut self) -> Result<Option<(Head, Body)>, Error> {
        if let Some(head) = self.answers.pop_front() {
            return Ok(Some((head, Body::short(&[]))));
        }
        if let Some(part) = self.part()? {
            return Ok(Some(part));
        }
        if !self.is_over && self.waiting < self.envelopes {
            if let Some(message) = self.message()? {
                return Ok(Some(message));
            }
        }
        match self.is_over && self.offers.is_empty() {
            true => Err(Error::Closed(self.path.clone())),
            false => Ok(None),
        }
    }

    /// The next part of an accepted message.
    fn part(&mut self) -> Result<Option<(Head, Body)>, Error> {
        let Some((id, done)) = self.wanted.pop_front() else {
            return Ok(None);
        };
        let Some((place, len)) = self.offers.get(&id).copied() else {
            return Err(Error::Misuse(
                "an acceptance names a message that was not offered",
            ));
        };
        let part = self
            .player
            .read_at(place + done as u64, PART.min(len - done))?;
        match done + part.len() {
            now if now < len => self.wanted.push_front((id, now)),
            _ => drop(self.offers.remove(&id)),
        }
        let head = Head::new(Kind::Part, id, done as u64);
        Ok(Some((head, Body::Held(part))))
    }

    /// The next message, or an offer of it.
    fn message(&mut self) -> Result<Option<(Head, Body)>, Error> {
        let Some((bytes, len)) = self.player.next_head::<HEAD>()? else {
            self.is_over = true;
            return Ok(None);
        };
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let head = Head::decode([word(0), word(8)]).ok();
        let head = head.filter(|head| head.kind == Kind::Eager && head.flags & !ACTIVE == 0);
        let head = head.ok_or_else(|| self.player.bad("a message in it has no head"))?;
        self.waiting += 1;
        if len > EAGER || self.bytes + len > self.held {
            let place = self.player.skip(len)?;
            let id = self.number;
            self.number = id.wrapping_add(1);
            self.offers.insert(id, (place, len));
            let mut offer = [0; OFFER];
            offer[..8].copy_from_slice(&(len as u64).to_le_bytes());
            let head = Head {
                kind: Kind::Offer,
                id,
                ..head
            };
            return Ok(Some((head, Body::short(&offer))));
        }
        let message = self.player.rest(len)?;
        if len > SHORT {
            self.bytes += len;
            return Ok(Some((head, Body::Held(message))));
        }
        Ok(Some((head, Body::short(&message.to_vec()))))
    }
}

impl Carrier for PlayedLink {
    fn send(&mut self, head: &Head, _payload: Payload<'_>) -> Result<Sent, Error> {
        self.answers.extend(taken(head));
        Ok(Sent::Done)
    }

    fn answer(&mut self, head: &Head) -> Result<Sent, Error> {
        if head.kind == Kind::Accept {
            match self.offers.get(&head.id) {
                Some((_, 0)) | None => drop(self.offers.remove(&head.id)),
                Some(_) => self.wanted.push_back((head.id, 0)),
            }
        }
        Ok(Sent::Done)
    }

    fn recv(&mut self, _placer: Placer<'_>) -> Result<Option<(Head, Body)>, Error> {
        if let Some(error) = &self.broken {
            return Err(error.again());
        }
        self.next()
            .inspect_err(|error| self.broken = Some(error.again()))
    }

    fn matched(&mut self, eager_bytes: usize) {
        self.waiting -= 1;
        self.bytes -= if eager_bytes > SHORT { eager_bytes } else { 0 };
    }

    fn envelopes(&self) -> u32 {
        self.envelopes
    }

    fn eager_max(&self) -> usize {
        usize::MAX
    }

    fn part_max(&self) -> usize {
        PART
    }

    fn early_max(&self) -> usize {
        0
    }

    fn has_memory(&self) -> bool {
        false
    }

    fn flush(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
