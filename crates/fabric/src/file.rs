//! Recording messages to a file, and reading them back.
//!
//! ```text
//! recording := "MGNREC\0" version:u8  opening  message*     integers little-endian
//! opening   := length:u32  bytes
//! message   := length:u32  bytes
//! ```
//!
//! Each message is written to the file when it is sent. If a program is killed, the recording has
//! all messages that the program sent before.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, IoSlice, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::block::{Block, BlockPool, MemorySource, Room, HEAD};
use crate::config::{Config, Sizes};
use crate::connection::{Connection, SendEnd};
use crate::handshake::OPENING_MAX;
use crate::null::Silence;
use crate::{Error, Message};

const MAGIC: [u8; 8] = *b"MGNREC\0\x01";

/// The longest message that a recording may hold.
pub(crate) const LONGEST: usize = 1 << 30;

/// The size of the length in front of each message.
const PREFIX: usize = 4;

pub(crate) fn connection(path: &Path, opening: &[u8]) -> Result<Connection, Error> {
    let sizes = Sizes::new(&Config::default())?;
    let recorder = Recorder {
        stock: BlockPool::new(sizes.chunk as usize, sizes.message_max as usize),
        out: Mutex::new(Recording::create(path, opening)?),
    };
    Ok(Connection::new(recorder, Silence, None))
}

struct Recorder {
    stock: BlockPool,
    out: Mutex<Recording>,
}

/// A recording that is being made.
pub(crate) struct Recording {
    path: PathBuf,
    file: File,
    /// The length of the file up to the end of the last whole message.
    len: u64,
    failed: Option<Error>,
    /// A forked child must not write into its parent's recording.
    owner: u32,
}

impl Recording {
    pub(crate) fn create(path: &Path, opening: &[u8]) -> Result<Recording, Error> {
        let doing = || format!("cannot record to {}", path.display());
        let mut file = File::create(path).map_err(Error::io(doing()))?;
        let mut head = MAGIC.to_vec();
        head.extend((opening.len() as u32).to_le_bytes());
        head.extend(opening);
        file.write_all(&head).map_err(Error::io(doing()))?;
        Ok(Recording {
            path: path.into(),
            file,
            len: head.len() as u64,
            failed: None,
            owner: std::process::id(),
        })
    }

    /// Writes a message of at most [`LONGEST`] bytes, made of the pieces in `message`.
    pub(crate) fn write(&mut self, message: &[IoSlice<'_>]) -> Result<(), Error> {
        if self.owner != std::process::id() {
            return Err(Error::Misuse(
                "only the process that began a recording may write to it",
            ));
        }
        if let Some(error) = &self.failed {
            return Err(error.again());
        }
        let len: usize = message.iter().map(|piece| piece.len()).sum();
        let prefix = (len as u32).to_le_bytes();
        let mut pieces = vec![IoSlice::new(&prefix)];
        pieces.extend(message);
        match write_all(&mut self.file, &mut pieces) {
            Ok(()) => {
                self.len += (PREFIX + len) as u64;
                Ok(())
            }
            Err(source) => {
                // Remove the partly written message, so that the recording can be played.
                let _ = self.file.set_len(self.len);
                let doing = format!("cannot record to {}", self.path.display());
                let error = Error::Io { doing, source };
                self.failed = Some(error.again());
                Err(error)
            }
        }
    }
}

fn write_all(file: &mut File, mut pieces: &mut [IoSlice<'_>]) -> io::Result<()> {
    while !pieces.is_empty() {
        match file.write_vectored(pieces) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut pieces, written),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

impl SendEnd for Recorder {
    fn reserve(&self, len: usize) -> Result<Room, Error> {
        self.stock.reserve(len)
    }

    fn commit(&self, room: &mut Room, used: usize) -> Result<(), Error> {
        let MemorySource::Heap(block) = &mut room.place else {
            return Err(Error::Misuse("nothing is left of this reservation"));
        };
        let bytes = block.bytes_mut(HEAD, used);
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.write(&[IoSlice::new(bytes)])
    }

    fn cancel(&self, place: MemorySource) {
        self.stock.cancel(place);
    }

    fn close(&self) {}

    fn max(&self) -> usize {
        self.stock.max()
    }

    fn waited(&self) -> u64 {
        0
    }
}

/// Reads a recording. The contents are not trusted: a length alone causes no large allocation,
/// because memory grows only with the bytes that are read.
pub struct Player<R = BufReader<File>> {
    path: PathBuf,
    input: R,
    opening: Vec<u8>,
    messages: u64,
    /// The number of bytes that have been read or skipped.
    position: u64,
}

impl Player {
    pub fn open(path: &Path) -> Result<Player, Error> {
        let doing = || format!("cannot read the recording {}", path.display());
        let file = File::open(path).map_err(Error::io(doing()))?;
        if file.metadata().map_err(Error::io(doing()))?.is_dir() {
            return Err(Error::BadRecording {
                path: path.into(),
                why: "it is a directory".into(),
            });
        }
        Player::new(BufReader::with_capacity(64 << 10, file), path)
    }

    /// The first `N` bytes of the next message, and the number of bytes that follow.
    pub(crate) fn next_head<const N: usize>(&mut self) -> Result<Option<([u8; N], usize)>, Error> {
        let Some(len) = self.next_length()? else {
            return Ok(None);
        };
        let mut head = [0; N];
        let Some(rest) = len.checked_sub(N) else {
            return Err(self.bad(format!("message {} has no head", self.messages)));
        };
        match self.fill(&mut head)? {
            got if got < N => Err(self.cut()),
            _ => Ok(Some((head, rest))),
        }
    }

    /// Skips `len` bytes, and returns their position for [`Player::read_at`].
    pub(crate) fn skip(&mut self, len: usize) -> Result<u64, Error> {
        let size = self.input.get_ref().metadata();
        let size = size.map_err(|source| self.unreadable(source))?.len();
        let start = self.position;
        if len as u64 > size.saturating_sub(start) {
            return Err(self.cut());
        }
        let moved = self.input.seek_relative(len as i64);
        moved.map_err(|source| self.unreadable(source))?;
        self.position += len as u64;
        Ok(start)
    }

    pub(crate) fn read_at(&self, place: u64, len: usize) -> Result<Message, Error> {
        let mut block = Block::new(len)?;
        let read = self
            .input
            .get_ref()
            .read_exact_at(block.bytes_mut(0, len), place);
        read.map_err(|source| self.unreadable(source))?;
        Ok(Message::of_block(block, len))
    }
}

impl<R: Read> Player<R> {
    /// Plays from any source. `path` is for error messages.
    pub fn new(input: R, path: &Path) -> Result<Player<R>, Error> {
        let mut player = Player {
            path: path.into(),
            input,
            opening: Vec::new(),
            messages: 0,
            position: 0,
        };
        let mut magic = [0; 8];
        if player.fill(&mut magic)? < magic.len() || magic[..7] != MAGIC[..7] {
            return Err(player.bad("it is not a recording made by Manganese"));
        }
        if magic[7] != MAGIC[7] {
            let (theirs, ours) = (magic[7], MAGIC[7]);
            return Err(player.bad(format!(
                "it is a recording of version {theirs}; this program reads version {ours}"
            )));
        }
        let len = player
            .length()?
            .ok_or_else(|| player.bad("it ends in its opening"))?;
        if len > OPENING_MAX {
            return Err(player.bad("its opening is too long"));
        }
        let mut opening = vec![0; len];
        if player.fill(&mut opening)? < len {
            return Err(player.bad("it ends in its opening"));
        }
        player.opening = opening;
        Ok(player)
    }

    /// The opening of the recorded client.
    pub fn opening(&self) -> &[u8] {
        &self.opening
    }

    /// The next message, or `None` at the end of the recording.
    ///
    /// # Errors
    /// [`Error::BadRecording`] if the recording ends in the middle of a message, or if a length is
    /// impossible.
    pub fn next_message(&mut self) -> Result<Option<Message>, Error> {
        let Some(len) = self.next_length()? else {
            return Ok(None);
        };
        Ok(Some(self.rest(len)?))
    }

    /// The length of the next message, which the caller must then read or skip.
    fn next_length(&mut self) -> Result<Option<usize>, Error> {
        let Some(len) = self.length()? else {
            return Ok(None);
        };
        self.messages += 1;
        match len <= LONGEST {
            true => Ok(Some(len)),
            false => Err(self.bad(format!(
                "message {} has an impossible length",
                self.messages
            ))),
        }
    }

    fn cut(&self) -> Error {
        self.bad(format!(
            "it ends in the middle of message {}",
            self.messages
        ))
    }

    /// The next `len` bytes of a message.
    pub(crate) fn rest(&mut self, len: usize) -> Result<Message, Error> {
        let mut block = Block::new(len.min(1 << 20))?;
        let mut got = 0;
        while got < len {
            if got == block.size() {
                let larger = Block::new((2 * got).min(len))?;
                block.copy_to(0, &larger, 0, got);
                block = larger;
            }
            let room = block.size() - got;
            let read = self.fill(block.bytes_mut(got, room))?;
            got += read;
            if read < room {
                return Err(self.cut());
            }
        }
        Ok(Message::of_block(block, len))
    }

    /// Reads a length. Returns `None` at the end of the file.
    fn length(&mut self) -> Result<Option<usize>, Error> {
        let mut bytes = [0; PREFIX];
        match self.fill(&mut bytes)? {
            0 => Ok(None),
            PREFIX => Ok(Some(u32::from_le_bytes(bytes) as usize)),
            _ => Err(self.bad(format!(
                "it ends in the middle of message {}",
                self.messages + 1
            ))),
        }
    }

    /// Reads until `into` is full or the file ends. Returns the number of bytes read.
    fn fill(&mut self, into: &mut [u8]) -> Result<usize, Error> {
        let mut got = 0;
        while got < into.len() {
            match self.input.read(&mut into[got..]) {
                Ok(0) => break,
                Ok(read) => got += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(self.unreadable(source)),
            }
        }
        self.position += got as u64;
        Ok(got)
    }

    fn unreadable(&self, source: io::Error) -> Error {
        let doing = format!("cannot read the recording {}", self.path.display());
        Error::Io { doing, source }
    }

    pub(crate) fn bad(&self, why: impl Into<String>) -> Error {
        Error::BadRecording {
            path: self.path.clone(),
            why: why.into(),
        }
    }
}

impl<R> std::fmt::Debug for Player<R> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Player")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn record(path: &Path, messages: &[&[u8]]) {
        let (sender, mut receiver) = connection(path, b"hello").unwrap().split();
        for message in messages {
            sender.send(message).unwrap();
        }
        assert!(receiver.recv(Some(Duration::ZERO)).unwrap().is_none());
        assert!(matches!(receiver.recv(None), Err(Error::NoPeer)));
    }

    #[test]
    fn plays_what_was_recorded() {
        let folder = crate::testing::Folder::new();
        let path = folder.path().join("recording");
        let long = vec![7; 256 << 10];
        record(&path, &[b"one", b"", &long]);
        let mut player = Player::open(&path).unwrap();
        assert_eq!(player.opening(), b"hello");
        for expected in [&b"one"[..], b"", &long] {
            assert_eq!(player.next_message().unwrap().unwrap().to_vec(), expected);
        }
        assert!(player.next_message().unwrap().is_none());
    }

    #[test]
    fn every_truncation_is_an_end_or_an_error() {
        let folder = crate::testing::Folder::new();
        let path = folder.path().join("recording");
        record(&path, &[b"one", b"three"]);
        let whole = std::fs::read(&path).unwrap();
        for len in 0..whole.len() {
            let play = || -> Result<usize, Error> {
                let mut player = Player::new(&whole[..len], &path)?;
                let mut messages = 0;
                while player.next_message()?.is_some() {
                    messages += 1;
                }
                Ok(messages)
            };
            match len {
                17 => assert_eq!(play().unwrap(), 0),
                24 => assert_eq!(play().unwrap(), 1),
                _ => {
                    let message = play().unwrap_err().to_string();
                    assert!(message.contains("recording"), "{len}: {message}");
                }
            }
        }
    }

    #[test]
    fn a_huge_length_allocates_nothing_huge() {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(0u32.to_le_bytes());
        bytes.extend((LONGEST as u32).to_le_bytes());
        bytes.extend([0; 100]);
        let mut player = Player::new(&bytes[..], Path::new("x")).unwrap();
        assert!(player
            .next_message()
            .unwrap_err()
            .to_string()
            .contains("message 1"));
        let error = Player::new(&b"#!/bin/sh\nexit"[..], Path::new("x")).unwrap_err();
        assert!(error.to_string().contains("not a recording"));
        let error = Player::new(&b"MGNREC\0\x09rest"[..], Path::new("x")).unwrap_err();
        assert!(error.to_string().contains("version 9"));
    }

    #[test]
    fn a_full_disk_is_one_clear_error() {
        let error = connection(Path::new("/dev/full"), b"")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("/dev/full") && error.contains("No space"),
            "{error}"
        );
        assert!(connection(Path::new("/no/such/folder/x"), b"").is_err());
    }
}
