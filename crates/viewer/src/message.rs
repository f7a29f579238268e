//! The messages between feeds and the viewer. All integers are little-endian.
//!
//! ```text
//! opening  := "mgn feed"  version:u16  tile:u16  name (UTF-8, up to 64 bytes)            feed to viewer, when it connects
//! ask      := frame:u64  have:u64  reduce:u32  quality:u32                               viewer to feed
//! picture  := 1:u32  reduce:u32  quality:u32  x:u32  y:u32  width:u32  height:u32  frame:u64  newest:u64  jpeg    feed to viewer
//! figures  := 2:u32  0:u32  newest  frames  bytes  rendering  waiting  elapsed, each u64   feed to viewer, once a second
//! ```

use std::time::Duration;

/// Wide and high enough for any framebuffer.
pub const SIDE_MAX: u32 = 16384;
/// The most pixels of a picture that is sent, so that browsers can hold it.
pub const PIXELS_MAX: u64 = 1 << 26;
/// The longest message of a feed.
pub const MESSAGE_MAX: usize = 8 << 20;
/// The maximum factor by which pictures are reduced along each side.
pub const REDUCE_MAX: u32 = 64;
pub const NAME_MAX: usize = 64;

const MAGIC: &[u8; 8] = b"mgn feed";
const VERSION: u16 = 1;
const PICTURE: u32 = 1;
const FIGURES: u32 = 2;
const PICTURE_HEAD: usize = 44;
const FIGURES_BYTES: usize = 56;
const ASK_BYTES: usize = 24;

/// A feed's first message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    pub tile: u16,
    /// The server's name, for people.
    pub name: String,
}

/// Which picture a feed should send next: frame `frame`, or the first later one. When no more
/// frames come, it sends the newest one, unless that is `have`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    pub frame: u64,
    /// The frame of this tile that the viewer has in the form it wants; 0 for none.
    pub have: u64,
    pub form: Form,
}

/// The form of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// The number of pixels along each side that become one, from 1 to [`REDUCE_MAX`].
    pub reduce: u32,
    /// The JPEG quality, from 1 to 100.
    pub quality: u32,
}

impl Default for Form {
    fn default() -> Form {
        Form {
            reduce: 1,
            quality: 80,
        }
    }
}

impl Form {
    fn is_sound(&self) -> bool {
        (1..=REDUCE_MAX).contains(&self.reduce) && (1..=100).contains(&self.quality)
    }
}

/// Where a picture belongs and what it shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Head {
    /// The upper left corner in the program's window.
    pub x: u32,
    pub y: u32,
    /// In pixels of the window. The picture that is sent is `form.reduce` times smaller, rounded
    /// up.
    pub width: u32,
    pub height: u32,
    /// The form that was requested.
    pub form: Form,
    pub frame: u64,
    /// The newest frame that the feed has seen.
    pub newest: u64,
}

/// A server's work so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    pub frames: u64,
    /// Bytes of commands.
    pub bytes: u64,
    pub rendering: Duration,
    /// The time spent waiting for commands.
    pub waiting: Duration,
}

/// A feed's counters at one time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    pub newest: u64,
    pub counters: Counters,
    /// Since the feed began.
    pub elapsed: Duration,
}

#[derive(Debug, PartialEq, Eq)]
pub enum FromFeed<'a> {
    Picture(Head, &'a [u8]),
    Figures(Figures),
}

/// An error in the other end's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MalformedMessage(pub &'static str);

impl Opening {
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(self.tile.to_le_bytes());
        bytes.extend(self.name.as_bytes());
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Result<Opening, MalformedMessage> {
        let rest = bytes.strip_prefix(MAGIC);
        let rest = rest.ok_or(MalformedMessage("only feeds are served at this address"))?;
        let (head, name) = rest
            .split_first_chunk::<4>()
            .ok_or(MalformedMessage("the feed's opening is too short"))?;
        if u16::from_le_bytes([head[0], head[1]]) != VERSION {
            let why = "feed and viewer are of different versions; use the same release on both";
            return Err(MalformedMessage(why));
        }
        let name = std::str::from_utf8(name)
            .ok()
            .filter(|name| name.len() <= NAME_MAX && !name.chars().any(char::is_control))
            .ok_or(MalformedMessage(
                "the server's name is not a text of at most 64 bytes",
            ))?;
        Ok(Opening {
            tile: u16::from_le_bytes([head[2], head[3]]),
            name: name.into(),
        })
    }
}

impl Ask {
    pub fn encode(&self) -> [u8; ASK_BYTES] {
        let mut bytes = [0; ASK_BYTES];
        bytes[..8].copy_from_slice(&self.frame.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.have.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.form.reduce.to_le_bytes());
        bytes[20..].copy_from_slice(&self.form.quality.to_le_bytes());
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Result<Ask, MalformedMessage> {
        let mut fields = Fields(bytes);
        let ask = Ask {
            frame: fields.u64(),
            have: fields.u64(),
            form: Form {
                reduce: fields.u32(),
                quality: fields.u32(),
            },
        };
        match bytes.len() == ASK_BYTES && ask.form.is_sound() {
            true => Ok(ask),
            false => Err(MalformedMessage(
                "the viewer requested a picture that cannot exist",
            )),
        }
    }
}

impl Head {
    /// The least factor by which it must be reduced to be sent.
    pub fn least_reduce(&self) -> u32 {
        let pixels = |by: &u32| {
            let (width, height) = (self.width.div_ceil(*by), self.height.div_ceil(*by));
            u64::from(width) * u64::from(height)
        };
        let mut all = 1..=REDUCE_MAX;
        all.find(|by| pixels(by) <= PIXELS_MAX)
            .unwrap_or(REDUCE_MAX)
    }

    /// The size of the picture that is sent, in pixels.
    pub fn size(&self) -> (u32, u32) {
        (
            self.width.div_ceil(self.form.reduce),
            self.height.div_ceil(self.form.reduce),
        )
    }
}

impl FromFeed<'_> {
    pub fn encode(&self) -> Vec<u8> {
        match self {
            FromFeed::Picture(head, jpeg) => {
                let mut bytes = Vec::with_capacity(PICTURE_HEAD + jpeg.len());
                let Form { reduce, quality } = head.form;
                for word in [
                    PICTURE,
                    reduce,
                    quality,
                    head.x,
                    head.y,
                    head.width,
                    head.height,
                ] {
                    bytes.extend(word.to_le_bytes());
                }
                bytes.extend(head.frame.to_le_bytes());
                bytes.extend(head.newest.to_le_bytes());
                bytes.extend(*jpeg);
                bytes
            }
            FromFeed::Figures(figures) => {
                let mut bytes = Vec::with_capacity(FIGURES_BYTES);
                bytes.extend(u64::from(FIGURES).to_le_bytes());
                let counters = &figures.counters;
                for word in [
                    figures.newest,
                    counters.frames,
                    counters.bytes,
                    counters.rendering.as_nanos() as u64,
                    counters.waiting.as_nanos() as u64,
                    figures.elapsed.as_nanos() as u64,
                ] {
                    bytes.extend(word.to_le_bytes());
                }
                bytes
            }
        }
    }

    /// Reads a message. Checks that a picture's JPEG data states the right size. A JPEG decoder has
    /// to check the rest of the data.
    pub fn decode(bytes: &[u8]) -> Result<FromFeed<'_>, MalformedMessage> {
        let mut fields = Fields(bytes);
        match fields.u32() {
            PICTURE if bytes.len() > PICTURE_HEAD => {
                let head = Head {
                    form: Form {
                        reduce: fields.u32(),
                        quality: fields.u32(),
                    },
                    x: fields.u32(),
                    y: fields.u32(),
                    width: fields.u32(),
                    height: fields.u32(),
                    frame: fields.u64(),
                    newest: fields.u64(),
                };
                let sides = 1..=SIDE_MAX;
                let sound = head.form.is_sound()
                    && sides.contains(&head.width)
                    && sides.contains(&head.height)
                    && head.x <= 1 << 20
                    && head.y <= 1 << 20
                    && head.form.reduce >= head.least_reduce()
                    && (1..=head.newest).contains(&head.frame);
                if !sound {
                    return Err(MalformedMessage("a picture's sizes or numbers are invalid"));
                }
                let jpeg = &bytes[PICTURE_HEAD..];
                match jpeg_size(jpeg) == Some(head.size()) {
                    true => Ok(FromFeed::Picture(head, jpeg)),
                    false => Err(MalformedMessage(
                        "a picture is not a JPEG of the size that it claims",
                    )),
                }
            }
            FIGURES if bytes.len() == FIGURES_BYTES => {
                fields.u32();
                let newest = fields.u64();
                let counters = Counters {
                    frames: fields.u64(),
                    bytes: fields.u64(),
                    rendering: Duration::from_nanos(fields.u64()),
                    waiting: Duration::from_nanos(fields.u64()),
                };
                let elapsed = Duration::from_nanos(fields.u64());
                Ok(FromFeed::Figures(Figures {
                    newest,
                    counters,
                    elapsed,
                }))
            }
            _ => Err(MalformedMessage("a feed sent an unknown message")),
        }
    }
}

/// Reads integers from the front; 0 where nothing is left.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        match self.0.split_first_chunk() {
            Some((head, rest)) => {
                self.0 = rest;
                *head
            }
            None => [0; N],
        }
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}

/// The width and height that a JPEG file states, for which its decoder allocates memory.
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut rest = bytes.strip_prefix(&[0xff, 0xd8])?;
    loop {
        let ([0xff, marker, high, low], after) = rest.split_first_chunk::<4>()? else {
            return None;
        };
        let length = usize::from(u16::from_be_bytes([*high, *low])).checked_sub(2)?;
        let (segment, next) = after.split_at_checked(length)?;
        match marker {
            // Baseline, extended and progressive frames with Huffman coding.
            0xc0..=0xc2 => {
                let [8, h1, h0, w1, w0, ..] = segment else {
                    return None;
                };
                let side = |high, low| u32::from(u16::from_be_bytes([high, low]));
                return Some((side(*w1, *w0), side(*h1, *h0)));
            }
            // Tables, the restart interval, application data and comments.
            0xc4 | 0xdb | 0xdd | 0xe0..=0xef | 0xfe => rest = next,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jpeg(width: usize, height: usize) -> Vec<u8> {
        let pixels = vec![90; width * height * 4];
        mgn_present::jpeg(&pixels, width, height, 80).unwrap()
    }

    fn head() -> Head {
        Head {
            x: 3,
            y: 4,
            width: 33,
            height: 20,
            form: Form {
                reduce: 2,
                quality: 70,
            },
            frame: 7,
            newest: 9,
        }
    }

    #[test]
    fn everything_comes_back() {
        let opening = Opening {
            tile: 5,
            name: "north wall, grün".into(),
        };
        assert_eq!(Opening::decode(&opening.encode()), Ok(opening));
        let form = Form {
            reduce: 4,
            quality: 80,
        };
        let ask = Ask {
            frame: 1 << 40,
            have: 12,
            form,
        };
        assert_eq!(Ask::decode(&ask.encode()), Ok(ask));
        let jpeg = jpeg(17, 10);
        let picture = FromFeed::Picture(head(), &jpeg);
        assert_eq!(FromFeed::decode(&picture.encode()), Ok(picture));
        let figures = FromFeed::Figures(Figures {
            newest: 4,
            counters: Counters {
                frames: 1,
                bytes: 2,
                rendering: Duration::from_nanos(3),
                waiting: Duration::from_nanos(4),
            },
            elapsed: Duration::from_nanos(5),
        });
        assert_eq!(FromFeed::decode(&figures.encode()), Ok(figures));
    }

    #[test]
    fn sizes_are_held_to() {
        let jpeg = jpeg(17, 10);
        let refused = |head: Head, jpeg: &[u8]| {
            assert!(FromFeed::decode(&FromFeed::Picture(head, jpeg).encode()).is_err());
        };
        let good = head();
        refused(Head { width: 35, ..good }, &jpeg);
        for (reduce, quality) in [(0, 80), (65, 80), (2, 0), (2, 101)] {
            let form = Form { reduce, quality };
            refused(Head { form, ..good }, &jpeg);
        }
        refused(Head { height: 0, ..good }, &jpeg);
        refused(
            Head {
                x: u32::MAX,
                ..good
            },
            &jpeg,
        );
        refused(Head { frame: 0, ..good }, &jpeg);
        refused(Head { frame: 10, ..good }, &jpeg);
        refused(good, b"<svg/>");
        refused(good, &[]);
        let wide = Head {
            width: SIDE_MAX + 1,
            ..good
        };
        refused(wide, &jpeg);
        let large = Head {
            width: SIDE_MAX,
            height: SIDE_MAX,
            form: Form::default(),
            ..good
        };
        assert_eq!(large.least_reduce(), 2);
        for (reduce, quality) in [(0, 80), (65, 80), (1, 0), (1, 101)] {
            let form = Form { reduce, quality };
            let ask = Ask {
                frame: 1,
                have: 0,
                form,
            };
            assert!(Ask::decode(&ask.encode()).is_err());
        }
        for name in ["x".repeat(65), "a\nb".into()] {
            let opening = Opening { tile: 0, name };
            assert!(Opening::decode(&opening.encode()).is_err());
        }
    }
}
