//! The records of an encrypted connection, after its keys have been agreed on.
//!
//! ```text
//! record := 23: u8  3: u8  3: u8  length: u16 big-endian  ciphertext      (RFC 8446, 5.2)
//! ```
//!
//! rustls negotiates the keys, and encrypts and decrypts each record. But rustls cannot continue a
//! connection in another process. A server that hands a client to a worker needs that (see
//! [`crate::Incoming::into_handoff`]). So this module counts the records.

use std::io::{IoSlice, IoSliceMut};
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, Iv, MessageDecrypter, MessageEncrypter, OutboundChunks,
    OutboundPlainMessage, Tls13AeadAlgorithm,
};
use rustls::crypto::ring::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256;
use rustls::{
    ConnectionTrafficSecrets, ContentType, ExtractedSecrets, ProtocolVersion, SupportedCipherSuite,
};
use zeroize::Zeroizing;

/// The length of a record's header.
pub(crate) const HEADER: usize = 5;

/// The maximum number of plaintext bytes in a record.
const PLAIN_MAX: usize = 1 << 14;

/// The longest record, including its header.
pub(crate) const RECORD_MAX: usize = HEADER + PLAIN_MAX + 256;

/// The maximum number of plaintext bytes that are encrypted before they are sent.
const ENCRYPTED_AT_ONCE: usize = 4 * PLAIN_MAX;

/// The size of the read buffer.
const BUFFER: usize = 4 * RECORD_MAX;

/// The meaning of [`Errno::BADMSG`].
pub(crate) const BROKEN: &str =
    "data on the encrypted connection was changed, or comes from another sender";

/// Both directions of an encrypted connection.
pub(crate) struct Seal {
    out: Mutex<Out>,
    into: Mutex<In>,
    /// The process that may send. A forked child has the same keys, and must not encrypt other data
    /// with them.
    owner: u32,
}

/// The secrets of one direction, and the number of its next record.
struct Secrets {
    key: AeadKey,
    iv: Iv,
    number: u64,
}

const KEY: usize = 32;
const IV: usize = 12;

struct Out {
    secrets: Secrets,
    encrypter: Box<dyn MessageEncrypter>,
    /// Encrypted records. Their first `sent` bytes have been sent.
    records: Vec<u8>,
    sent: usize,
    /// The number of plaintext bytes in `records`.
    plain: usize,
}

struct In {
    secrets: Secrets,
    decrypter: Box<dyn MessageDecrypter>,
    /// Received bytes: `start..end` are records, and `plain` is the decrypted content of the record
    /// before them.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    plain: Range<usize>,
    is_broken: bool,
}

impl Seal {
    /// The number of bytes of a seal that is encoded for another process.
    pub(crate) const BYTES: usize = 2 * Secrets::BYTES;

    pub(crate) fn new(secrets: ExtractedSecrets) -> Result<Seal, rustls::Error> {
        Ok(Seal::of(
            Secrets::new(secrets.tx)?,
            Secrets::new(secrets.rx)?,
        ))
    }

    fn of(out: Secrets, into: Secrets) -> Seal {
        Seal {
            out: Mutex::new(Out {
                encrypter: aead().encrypter(out.key(), out.iv()),
                secrets: out,
                records: Vec::new(),
                sent: 0,
                plain: 0,
            }),
            into: Mutex::new(In {
                decrypter: aead().decrypter(into.key(), into.iv()),
                secrets: into,
                buffer: Vec::new(),
                start: 0,
                end: 0,
                plain: 0..0,
                is_broken: false,
            }),
            owner: std::process::id(),
        }
    }

    /// Encodes the seal for another process. This process must not use it any more. All records
    /// must have been sent and received completely, except the data in [`Seal::unread`].
    pub(crate) fn hand_over(&self) -> Zeroizing<Vec<u8>> {
        let (out, into) = (lock(&self.out), lock(&self.into));
        let [out, into] = [out.secrets.encode(), into.secrets.encode()].map(Zeroizing::new);
        Zeroizing::new([&out[..], &into[..]].concat())
    }

    /// Decodes the result of [`Seal::hand_over`].
    pub(crate) fn handed_over(bytes: &[u8; Seal::BYTES]) -> Seal {
        let secrets = |at| Secrets::decode(std::array::from_fn(|i| bytes[at + i]));
        Seal::of(secrets(0), secrets(Secrets::BYTES))
    }

    /// The data that was read from the socket and not received yet: a little-endian u32, that
    /// number of decrypted bytes, and bytes that are still encrypted.
    pub(crate) fn unread(&self) -> Vec<u8> {
        let into = lock(&self.into);
        let plain = &into.buffer[into.plain.clone()];
        let records = &into.buffer[into.start..into.end];
        let length = (plain.len() as u32).to_le_bytes();
        [&length[..], plain, records].concat()
    }

    /// Restores the data of [`Seal::unread`]. Returns `None` if the bytes cannot be its result.
    pub(crate) fn with_unread(self, bytes: &[u8]) -> Option<Seal> {
        let (length, rest) = bytes.split_first_chunk()?;
        let length = u32::from_le_bytes(*length) as usize;
        if length > rest.len() || rest.len() > BUFFER {
            return None;
        }
        let mut into = lock(&self.into);
        into.buffer = rest.to_vec();
        (into.plain, into.start, into.end) = (0..length, length, rest.len());
        drop(into);
        Some(self)
    }

    /// Sends without waiting. Returns the number of plaintext bytes sent. After [`Errno::AGAIN`],
    /// the next call must begin with the same bytes, because a part of their records may have been
    /// sent.
    pub(crate) fn send(
        &self,
        socket: BorrowedFd<'_>,
        slices: &[IoSlice<'_>],
    ) -> Result<usize, Errno> {
        if self.owner != std::process::id() {
            return Err(Errno::PERM);
        }
        let mut out = lock(&self.out);
        if out.plain == 0 {
            out.encrypt(slices)?;
        }
        while out.sent < out.records.len() {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            match rustix::net::send(socket, &out.records[out.sent..], flags) {
                Ok(sent) => out.sent += sent,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        out.records.clear();
        out.sent = 0;
        Ok(std::mem::take(&mut out.plain))
    }

    /// Receives without waiting. Returns the number of bytes, or 0 if the other end has closed the
    /// connection. [`Errno::BADMSG`] means that the other end did not encrypt the data, or that the
    /// data was changed.
    pub(crate) fn recv(
        &self,
        socket: BorrowedFd<'_>,
        slices: &mut [IoSliceMut<'_>],
    ) -> Result<usize, Errno> {
        let mut into = lock(&self.into);
        let wanted = slices.iter().map(|slice| slice.len()).sum();
        let mut got = 0;
        while got < wanted {
            if !into.plain.is_empty() {
                got += into.give(slices, got);
                continue;
            }
            match into.open() {
                Ok(true) => {}
                _ if got > 0 => break,
                Err(error) => return Err(error),
                Ok(false) => match into.read(socket)? {
                    0 => break,
                    _ => continue,
                },
            }
        }
        Ok(got)
    }

    /// Whether this end holds data that was read from the socket and can be received.
    pub(crate) fn has_unread(&self) -> bool {
        let into = lock(&self.into);
        !into.plain.is_empty() || into.record().is_some()
    }

    /// Whether all data that was read from the socket has been received. A part of a record counts
    /// as data that was not received.
    pub(crate) fn is_empty(&self) -> bool {
        let into = lock(&self.into);
        into.plain.is_empty() && into.start == into.end
    }
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Seal(hidden)")
    }
}

impl Secrets {
    const BYTES: usize = KEY + IV + 8;

    fn new((number, secrets): (u64, ConnectionTrafficSecrets)) -> Result<Secrets, rustls::Error> {
        match secrets {
            ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => {
                Ok(Secrets { key, iv, number })
            }
            _ => Err(rustls::Error::General("another cipher was chosen".into())),
        }
    }

    fn key(&self) -> AeadKey {
        AeadKey::from(std::array::from_fn::<u8, KEY, _>(|i| self.key.as_ref()[i]))
    }

    fn iv(&self) -> Iv {
        Iv::from(std::array::from_fn::<u8, IV, _>(|i| self.iv.as_ref()[i]))
    }

    fn encode(&self) -> Vec<u8> {
        [
            self.key.as_ref(),
            self.iv.as_ref(),
            &self.number.to_le_bytes(),
        ]
        .concat()
    }

    fn decode(bytes: [u8; Secrets::BYTES]) -> Secrets {
        Secrets {
            key: AeadKey::from(std::array::from_fn::<u8, KEY, _>(|i| bytes[i])),
            iv: Iv::from(std::array::from_fn::<u8, IV, _>(|i| bytes[KEY + i])),
            number: u64::from_le_bytes(std::array::from_fn(|i| bytes[KEY + IV + i])),
        }
    }

    /// Takes the number of the next record. Fails after 2^64 records, which no connection reaches.
    fn count(&mut self) -> Result<u64, Errno> {
        let number = self.number;
        self.number = number.checked_add(1).ok_or(Errno::OVERFLOW)?;
        Ok(number)
    }
}

impl Out {
    /// Encrypts the first bytes of the slices.
    fn encrypt(&mut self, slices: &[IoSlice<'_>]) -> Result<(), Errno> {
        let slices: Vec<&[u8]> = slices.iter().map(|slice| &slice[..]).collect();
        let mut rest = OutboundChunks::new(&slices);
        while !rest.is_empty() && self.plain < ENCRYPTED_AT_ONCE {
            let (payload, after) = rest.split_at(rest.len().min(PLAIN_MAX));
            rest = after;
            let len = payload.len();
            let message = OutboundPlainMessage {
                typ: ContentType::ApplicationData,
                version: ProtocolVersion::TLSv1_3,
                payload,
            };
            let record = self.encrypter.encrypt(message, self.secrets.count()?);
            let record = record.map_err(|_| Errno::IO)?;
            self.records.extend(record.encode());
            self.plain += len;
        }
        Ok(())
    }
}

impl In {
    /// The range of the next record, if it is complete.
    fn record(&self) -> Option<Range<usize>> {
        let header = self.buffer.get(self.start..self.end)?;
        let [.., high, low] = header.first_chunk::<HEADER>()?;
        let end = self.start + HEADER + usize::from(u16::from_be_bytes([*high, *low]));
        (end <= self.end).then_some(self.start..end)
    }

    /// Decrypts the next record. Returns false if it is not complete.
    fn open(&mut self) -> Result<bool, Errno> {
        let refused = match self.try_open() {
            Ok(opened) if !self.is_broken => return Ok(opened),
            Ok(_) => Errno::BADMSG,
            Err(error) => error,
        };
        self.is_broken = true;
        Err(refused)
    }

    fn try_open(&mut self) -> Result<bool, Errno> {
        let here = &self.buffer[self.start..self.end];
        if let Some([kind, major, minor, high, low]) = here.first_chunk::<HEADER>() {
            let len = usize::from(u16::from_be_bytes([*high, *low]));
            if (*kind, *major, *minor) != (23, 3, 3) || len > RECORD_MAX - HEADER {
                return Err(Errno::BADMSG);
            }
        }
        let Some(record) = self.record() else {
            return Ok(false);
        };
        self.start = record.end;
        let body = record.start + HEADER..record.end;
        let message = InboundOpaqueMessage::new(
            ContentType::ApplicationData,
            ProtocolVersion::TLSv1_2,
            &mut self.buffer[body.clone()],
        );
        let number = self.secrets.count()?;
        let opened = self.decrypter.decrypt(message, number);
        let opened = opened.map_err(|_| Errno::BADMSG)?;
        if opened.typ != ContentType::ApplicationData {
            return Err(Errno::BADMSG);
        }
        self.plain = body.start..body.start + opened.payload.len();
        Ok(true)
    }

    /// Reads as many available bytes as fit in the buffer. Returns 0 if the other end has closed
    /// the connection.
    fn read(&mut self, socket: BorrowedFd<'_>) -> Result<usize, Errno> {
        self.buffer.resize(BUFFER, 0);
        if BUFFER - self.start < RECORD_MAX || self.start == self.end {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let (got, _) =
            rustix::net::recv(socket, &mut self.buffer[self.end..], RecvFlags::DONTWAIT)?;
        self.end += got;
        Ok(got)
    }

    /// Copies decrypted bytes to the slices, behind their first `skip` bytes.
    fn give(&mut self, slices: &mut [IoSliceMut<'_>], mut skip: usize) -> usize {
        let mut given = 0;
        for slice in slices {
            let skipped = skip.min(slice.len());
            skip -= skipped;
            let room = &mut slice[skipped..];
            let len = room.len().min(self.plain.len());
            let from = self.plain.start..self.plain.start + len;
            room[..len].copy_from_slice(&self.buffer[from]);
            self.plain.start += len;
            given += len;
        }
        given
    }
}

fn aead() -> &'static dyn Tls13AeadAlgorithm {
    match TLS13_CHACHA20_POLY1305_SHA256 {
        SupportedCipherSuite::Tls13(suite) => suite.aead_alg,
        #[allow(unreachable_patterns)]
        _ => unreachable!("the suite is one of TLS 1.3"),
    }
}

/// Locks a mutex, also after a panic. A panic leaves a state in which no later record can be
/// decrypted.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
