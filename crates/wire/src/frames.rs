//! Messages of the frames connection. From the server to the client: a header of `HEADER` bytes,
//! then pixels or text, or several headers of frames without pictures. From the client: a
//! [`Release`], when all tiles of a wall have a frame that servers show, and have shown those
//! before it. If the client has composited the frame, the pixels of the tile come first, in
//! [`Release::merged`] messages.

/// Bytes of a header.
pub const HEADER: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The frame has been executed; no picture follows.
    Done,
    /// The frame has been executed and this is its picture: rows from the top down, 4 bytes a
    /// pixel: blue, green, red, and alpha where the surface has it. If it `has_depth`, as many rows
    /// of depths follow: whole numbers of 32 bits, of which the smaller one is nearer.
    Picture,
    /// The session ends; why follows, an [`End`](crate::End).
    Ended,
    /// The frame was released, and is now to be seen where the server shows its tile. Each release
    /// is answered so.
    Shown,
}

/// `want` of `mgnSwapBuffers` and its like: what a picture is for, as bits.
pub mod want {
    /// The program's own window.
    pub const WINDOW: u32 = 1;
    /// The client's files.
    pub const FILES: u32 = 2;
    /// The tile that the server shows.
    pub const WALL: u32 = 4;
    /// The picture that the client makes of those of several programs.
    pub const COMPOSITE: u32 = 8;
    /// The same, if it needs the depths as well. Surfaces without depths, and multisampled ones,
    /// come without.
    pub const DEPTH: u32 = 16;
}

/// A frame to show now, with all before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    pub surface: u32,
    pub frame: u32,
}

/// Bytes of a release.
pub const RELEASE: usize = 8;

impl Release {
    pub fn encode(&self) -> [u8; RELEASE] {
        let both = u64::from(self.frame) << 32 | u64::from(self.surface);
        both.to_le_bytes()
    }

    /// None for other messages.
    pub fn decode(message: &[u8]) -> Option<Release> {
        let both = u64::from_le_bytes(message.try_into().ok()?);
        Some(Release {
            surface: both as u32,
            frame: (both >> 32) as u32,
        })
    }

    /// Splits a message into the frame that it is about and the pixels that follow. None for a
    /// message that is too short.
    ///
    /// Without pixels, the frame is to be shown. Pixels replace those that the server keeps of the
    /// frame, in their order: rows of the same rectangle without gaps, 4 bytes a pixel. A message
    /// may end anywhere in them, and the next one continues there.
    pub fn merged(message: &[u8]) -> Option<(Release, &[u8])> {
        let (release, pixels) = message.split_at_checked(RELEASE)?;
        Some((Release::decode(release)?, pixels))
    }
}

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
    /// The context that swapped.
    pub context: u32,
    /// Whether the server keeps the picture, to show it when it is released.
    pub kept: bool,
    /// Whether depths follow the colours.
    pub has_depth: bool,
}

impl Header {
    /// Bytes of the rows, those of depths included; `u64::MAX` if there are more.
    pub fn rows(&self) -> u64 {
        let planes = 1 + u64::from(self.has_depth);
        let plane = u64::from(self.stride) * u64::from(self.height);
        plane.saturating_mul(planes)
    }

    /// One of a message without a picture.
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

    /// Reads a header; none if it is not one, if a raw picture's rows would not fit its payload, or
    /// if the picture would end beyond the largest coordinates.
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
        for kind in [Kind::Done, Kind::Ended, Kind::Shown] {
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
    fn a_release_has_its_length() {
        let release = Release {
            surface: 3,
            frame: u32::MAX,
        };
        assert_eq!(Release::decode(&release.encode()), Some(release));
        for length in [0, 7, 9, 64] {
            assert_eq!(Release::decode(&vec![1; length]), None);
        }
        let bytes = [&release.encode()[..], b"pixels"].concat();
        assert_eq!(Release::merged(&bytes), Some((release, &b"pixels"[..])));
        assert_eq!(Release::merged(&bytes[..8]), Some((release, &b""[..])));
        assert_eq!(Release::merged(&bytes[..7]), None);
    }
}
