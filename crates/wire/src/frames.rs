//! Messages of the frames connection. The server sends a header of `HEADER` bytes, followed by
//! pixels or text, or several headers of frames without pictures. The client sends
//! [`Instruction`]s. It lets a frame be shown when each tile that a server shows has this frame and
//! has shown all frames before it. If the client has composited the frame, it first sends the
//! pixels of the tile.

/// Bytes of a header.
pub const HEADER: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The frame has been executed; no picture follows.
    Done,
    /// The frame has been executed and this is its picture: rows from the top down, 4 bytes a pixel
    /// (blue, green, red, and alpha if the surface has it). If `has_depth` is set, the same number
    /// of rows of depths follows: 32-bit integers. A smaller depth is nearer.
    Picture,
    /// The session ends. The payload is an [`End`](crate::End) that says why.
    Ended,
    /// The answer to each [`Instruction::Show`]: the frame is visible where the server shows its
    /// tile, or will be at the planned vertical blank.
    Shown,
    /// The answer to [`Instruction::Clocks`], a [`Clocks`].
    Clocks,
}

/// The `want` argument of `mgnSwapBuffers` and similar commands: the purposes of a picture, as
/// bits.
pub mod want {
    /// The program's own window.
    pub const WINDOW: u32 = 1;
    /// The client's files.
    pub const FILES: u32 = 2;
    /// The tile that the server shows.
    pub const WALL: u32 = 4;
    /// The picture that the client composites from those of several programs.
    pub const COMPOSITE: u32 = 8;
    /// The same, if compositing also needs depths. Surfaces without depths and multisampled
    /// surfaces are sent without them.
    pub const DEPTH: u32 = 16;
}

/// A frame of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    pub surface: u32,
    pub frame: u32,
}

/// A message from the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instruction<'m> {
    /// Show this frame and all before it: at once, or at the vertical blank with this number of the
    /// tile's display.
    Show { frame: Release, vblank: Option<u64> },
    /// These pixels replace the next pixels of the frame that the server keeps: rows of the same
    /// rectangle without gaps, 4 bytes a pixel. A message may end anywhere in the rows, and the
    /// next one continues there.
    Merge { frame: Release, pixels: &'m [u8] },
    /// Asks the server for a [`Clocks`]. `asked` is the time by the client's clock, in ns.
    Clocks { asked: i64 },
}

/// Bytes of an [`Instruction::Merge`] before its pixels.
pub const MERGE_HEADER: usize = 12;

const SHOW: u32 = 1;
const SHOW_AT: u32 = 2;
const MERGE: u32 = 3;
const CLOCKS: u32 = 4;

impl<'m> Instruction<'m> {
    pub fn encode(&self) -> Vec<u8> {
        let head = |kind: u32, Release { surface, frame }: Release| {
            [kind, surface, frame].map(u32::to_le_bytes).concat()
        };
        match *self {
            Instruction::Show {
                frame,
                vblank: None,
            } => head(SHOW, frame),
            Instruction::Show {
                frame,
                vblank: Some(vblank),
            } => [head(SHOW_AT, frame), vblank.to_le_bytes().into()].concat(),
            Instruction::Merge { frame, pixels } => [&head(MERGE, frame), pixels].concat(),
            Instruction::Clocks { asked } => {
                [&CLOCKS.to_le_bytes()[..], &asked.to_le_bytes()].concat()
            }
        }
    }

    /// None for other messages.
    pub fn decode(message: &'m [u8]) -> Option<Instruction<'m>> {
        let (kind, rest) = message.split_first_chunk()?;
        let kind = u32::from_le_bytes(*kind);
        if kind == CLOCKS {
            let asked = i64::from_le_bytes(rest.try_into().ok()?);
            return Some(Instruction::Clocks { asked });
        }
        let (surface, rest) = rest.split_first_chunk()?;
        let (number, rest) = rest.split_first_chunk()?;
        let frame = Release {
            surface: u32::from_le_bytes(*surface),
            frame: u32::from_le_bytes(*number),
        };
        let vblank = match kind {
            MERGE => {
                return Some(Instruction::Merge {
                    frame,
                    pixels: rest,
                })
            }
            SHOW if rest.is_empty() => None,
            SHOW_AT => Some(u64::from_le_bytes(rest.try_into().ok()?)),
            _ => return None,
        };
        Some(Instruction::Show { frame, vblank })
    }
}

/// A vertical blank of a display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vblank {
    /// The display's count of vertical blanks.
    pub number: u64,
    /// The time of the vertical blank by the server's clock, in ns.
    pub time: i64,
}

/// The payload of a message of [`Kind::Clocks`]. Times are in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clocks {
    /// Copied from the question.
    pub asked: i64,
    /// The server's clock when the question came, and when this answer was sent.
    pub received: i64,
    pub answered: i64,
    /// The last known vertical blank of the tile's display. None if the tile has no such display,
    /// or if none is known yet.
    pub vblank: Option<Vblank>,
    /// The number of frames that were shown after the vertical blank planned for them.
    pub late: u32,
}

/// Bytes of the payload.
pub const CLOCKS_PAYLOAD: usize = 44;

impl Clocks {
    pub fn encode(&self) -> Vec<u8> {
        let vblank = self.vblank.unwrap_or(NO_VBLANK);
        let times = [self.asked, self.received, self.answered, vblank.time];
        let mut bytes = times.map(i64::to_le_bytes).concat();
        bytes.extend(vblank.number.to_le_bytes());
        bytes.extend(self.late.to_le_bytes());
        bytes
    }

    /// None for other messages.
    pub fn decode(payload: &[u8]) -> Option<Clocks> {
        let (times, late) = payload.split_last_chunk()?;
        let mut words = times.chunks_exact(8);
        let mut next = || Some(i64::from_le_bytes(words.next()?.try_into().ok()?));
        let [asked, received, answered, time, number] =
            [next()?, next()?, next()?, next()?, next()?];
        if payload.len() != CLOCKS_PAYLOAD {
            return None;
        }
        let vblank = Vblank {
            number: number as u64,
            time,
        };
        Some(Clocks {
            asked,
            received,
            answered,
            vblank: (vblank != NO_VBLANK).then_some(vblank),
            late: u32::from_le_bytes(*late),
        })
    }
}

/// Encodes that there is no vertical blank.
const NO_VBLANK: Vblank = Vblank {
    number: u64::MAX,
    time: i64::MIN,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// `height` rows of `stride` bytes.
    Raw,
    /// The same, as an LZ4 block.
    Lz4,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub kind: Kind,
    pub encoding: Encoding,
    pub surface: u32,
    /// The number that `mgnSwapBuffers` gave.
    pub frame: u32,
    /// Where in the window the picture's upper left corner goes; 0, 0 for a picture of all of it.
    pub x: u32,
    pub y: u32,
    pub width: u32,
    pub height: u32,
    /// Bytes from row to row.
    pub stride: u32,
    /// Bytes behind the header.
    pub payload: u32,
    /// The context that swapped buffers.
    pub context: u32,
    /// Whether the server keeps the picture, to show it when it is released.
    pub kept: bool,
    /// Whether depths follow the colours.
    pub has_depth: bool,
}

impl Header {
    /// Bytes of the rows, including those of depths; `u64::MAX` if the number overflows.
    pub fn rows(&self) -> u64 {
        let planes = 1 + u64::from(self.has_depth);
        let plane = u64::from(self.stride) * u64::from(self.height);
        plane.saturating_mul(planes)
    }

    /// The header of a message without a picture.
    pub fn plain(kind: Kind, surface: u32, frame: u32) -> Header {
        Header {
            kind,
            encoding: Encoding::Raw,
            surface,
            frame,
            x: 0,
            y: 0,
            width: 0,
            height: 0,
            stride: 0,
            payload: 0,
            context: 0,
            kept: false,
            has_depth: false,
        }
    }

    pub fn encode(&self) -> [u8; HEADER] {
        let kind = match self.kind {
            Kind::Done => 1,
            Kind::Picture => 2,
            Kind::Ended => 3,
            Kind::Shown => 4,
            Kind::Clocks => 5,
        };
        let encoding = match self.encoding {
            Encoding::Raw => 0,
            Encoding::Lz4 => 1,
        };
        let words = [
            kind,
            encoding,
            self.surface,
            self.frame,
            self.x,
            self.y,
            self.width,
            self.height,
            self.stride,
            self.payload,
            self.context,
            self.kept.into(),
            self.has_depth.into(),
        ];
        let mut bytes = [0; HEADER];
        for (to, word) in bytes.chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&u32::to_le_bytes(word));
        }
        bytes
    }

    /// Decodes a header. Returns none if the bytes are no header, if the rows of a raw picture
    /// would exceed its payload, or if the picture would extend beyond the largest coordinates.
    pub fn decode(bytes: &[u8; HEADER]) -> Option<Header> {
        let mut words = bytes
            .chunks_exact(4)
            .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
        let mut next = || words.next().unwrap_or(0);
        let header = Header {
            kind: match next() {
                1 => Kind::Done,
                2 => Kind::Picture,
                3 => Kind::Ended,
                4 => Kind::Shown,
                5 => Kind::Clocks,
                _ => return None,
            },
            encoding: match next() {
                0 => Encoding::Raw,
                1 => Encoding::Lz4,
                _ => return None,
            },
            surface: next(),
            frame: next(),
            x: next(),
            y: next(),
            width: next(),
            height: next(),
            stride: next(),
            payload: next(),
            context: next(),
            kept: next() != 0,
            has_depth: next() != 0,
        };
        let rows = header.rows();
        let ends = |start: u32, length| start.checked_add(length).is_some();
        let fits = header.kind != Kind::Picture
            || (u64::from(header.width) * 4 <= u64::from(header.stride)
                && ends(header.x, header.width)
                && ends(header.y, header.height)
                && rows <= 1 << 30
                && (header.encoding == Encoding::Lz4 || rows <= u64::from(header.payload)));
        fits.then_some(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives() {
        let header = Header {
            width: 3,
            height: 4,
            stride: 16,
            payload: 64,
            context: 5,
            kept: true,
            ..Header::plain(Kind::Picture, 1, 2)
        };
        assert_eq!(Header::decode(&header.encode()), Some(header));
        for kind in [Kind::Done, Kind::Ended, Kind::Shown, Kind::Clocks] {
            let plain = Header::plain(kind, 3, 4);
            assert_eq!(Header::decode(&plain.encode()), Some(plain));
        }
        let lying = Header {
            payload: 63,
            ..header
        };
        assert_eq!(Header::decode(&lying.encode()), None);
        let deep = Header {
            payload: 128,
            has_depth: true,
            ..header
        };
        assert_eq!(Header::decode(&deep.encode()), Some(deep));
        let lying = Header {
            payload: 127,
            ..deep
        };
        assert_eq!(Header::decode(&lying.encode()), None);
        assert_eq!(Header::decode(&[0xff; HEADER]), None);
        let endless = Header {
            width: u32::MAX,
            height: u32::MAX,
            stride: u32::MAX,
            ..deep
        };
        assert_eq!(Header::decode(&endless.encode()), None);
        for (x, y) in [(u32::MAX - 2, 0), (0, u32::MAX - 3)] {
            assert_eq!(Header::decode(&Header { x, y, ..header }.encode()), None);
        }
        let last = Header {
            x: u32::MAX - 3,
            y: u32::MAX - 4,
            ..header
        };
        assert_eq!(Header::decode(&last.encode()), Some(last));
    }

    #[test]
    fn instructions_have_their_lengths() {
        let frame = Release {
            surface: 3,
            frame: u32::MAX,
        };
        let show = |vblank| Instruction::Show { frame, vblank };
        let merge = |pixels| Instruction::Merge { frame, pixels };
        let asked = -5;
        for instruction in [
            show(None),
            show(Some(1 << 40)),
            Instruction::Clocks { asked },
        ] {
            let bytes = instruction.encode();
            assert_eq!(Instruction::decode(&bytes), Some(instruction));
            for end in 0..bytes.len() {
                assert_eq!(Instruction::decode(&bytes[..end]), None);
            }
            assert_eq!(Instruction::decode(&[&bytes[..], &[0]].concat()), None);
        }
        let bytes = merge(b"pixels").encode();
        assert_eq!(Instruction::decode(&bytes), Some(merge(b"pixels")));
        let bytes = &bytes[..MERGE_HEADER];
        assert_eq!(Instruction::decode(bytes), Some(merge(b"")));
        assert_eq!(Instruction::decode(&bytes[1..]), None);
    }

    #[test]
    fn clocks_survive() {
        let vblank = Vblank {
            number: 1 << 50,
            time: 123,
        };
        for vblank in [None, Some(vblank)] {
            let clocks = Clocks {
                asked: -1,
                received: i64::MAX,
                answered: 3,
                vblank,
                late: 4,
            };
            let bytes = clocks.encode();
            assert_eq!(bytes.len(), CLOCKS_PAYLOAD);
            assert_eq!(Clocks::decode(&bytes), Some(clocks));
            assert_eq!(Clocks::decode(&bytes[1..]), None);
            assert_eq!(Clocks::decode(&[&bytes[..], &[0]].concat()), None);
        }
    }
}
