//! Memory for pictures that all members of a group on one host can read and write.

use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};

use mgn_sys::{memory, Mapping, Protection};

use super::control;
use crate::{Channel, Format, Layer, LayerMut, Operation};

/// Pictures begin at multiples of this, and so do their colours and depths.
const ALIGN: usize = 4096;

/// Where a picture is in its owner's memory: offsets in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PictureLocation {
    /// A number that is different for each piece of memory that the owner has ever had.
    pub memory: u32,
    pub fd: u32,
    pub size: u64,
    pub color: u64,
    pub depth: u64,
}

/// Memory of this member, with room for some pictures of one size.
#[derive(Debug)]
pub(super) struct OwnMemory {
    mapping: Mapping,
    /// Open as long as others may have to map it.
    fd: OwnedFd,
    number: u32,
    color: usize,
    picture: usize,
}

/// How the pixels of a picture are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub channel: Channel,
    depth_bytes: usize,
}

impl Stored {
    /// The storage of pictures that members draw, and of the final result.
    pub fn drawn(format: Format) -> Stored {
        Stored {
            channel: format.color.channel(),
            depth_bytes: format.depth_bytes(),
        }
    }

    /// The storage of a picture that is merged, but not from the pictures of all members yet.
    pub fn partial(format: Format, operation: Operation) -> Stored {
        Stored {
            channel: format.color.partial(operation),
            ..Stored::drawn(format)
        }
    }

    /// Bytes of a pixel's colour, and of its depth.
    fn pixel_bytes(self) -> [usize; 2] {
        [self.channel.pixel_bytes(), self.depth_bytes]
    }
}

/// Bytes of a picture's colours and of its depths.
pub(super) fn sizes(pixels: usize, stored: Stored) -> [usize; 2] {
    stored.pixel_bytes().map(|pixel| pixels * pixel)
}

impl OwnMemory {
    /// Room for `count` pictures.
    pub fn create(
        count: usize,
        [color, depth]: [usize; 2],
        number: u32,
        nonce: u128,
    ) -> io::Result<OwnMemory> {
        let round = |bytes: usize| bytes.next_multiple_of(ALIGN);
        let (color, picture) = (round(color), round(color) + round(depth));
        let too_large = || io::Error::from(io::ErrorKind::OutOfMemory);
        let size = picture.checked_mul(count).ok_or_else(too_large)?;
        // The nonce has a page of its own.
        let size = size.checked_add(ALIGN).ok_or_else(too_large)?;
        let fd = memory::create("mgn-composite", size)?;
        let mapping = Mapping::new(&fd, size, Protection::ReadWrite)?;
        mapping.populate()?;
        control::write_nonce(&mapping, nonce);
        Ok(OwnMemory {
            mapping,
            fd,
            number,
            color,
            picture,
        })
    }

    pub fn has_room_for(&self, [color, depth]: [usize; 2]) -> bool {
        color <= self.color && depth <= self.picture - self.color
    }

    pub fn place(&self, at: usize) -> PictureLocation {
        let color = ALIGN + at * self.picture;
        PictureLocation {
            memory: self.number,
            fd: self.fd.as_raw_fd() as u32,
            size: self.mapping.len() as u64,
            color: color as u64,
            depth: (color + self.color) as u64,
        }
    }

    pub fn mapping(&self) -> &Mapping {
        &self.mapping
    }
}

/// The memory of another member that this one has mapped.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The last two pieces, the newest first: the owner may draw into one while the other is read.
    mapped: Vec<(u32, Mapping)>,
}

impl Seen {
    /// Maps the memory of a place, unless that has been done.
    ///
    /// # Errors
    /// The process has ended, or its announcement is wrong.
    pub fn map(&mut self, place: PictureLocation, pid: u32, nonce: u128) -> io::Result<()> {
        if self.find(place).is_none() {
            let size = usize::try_from(place.size).map_err(|_| io::ErrorKind::InvalidData)?;
            let mapping = control::map(pid, place.fd, size, nonce)?;
            mapping.populate()?;
            self.mapped.truncate(1);
            self.mapped.insert(0, (place.memory, mapping));
        }
        Ok(())
    }

    pub fn find(&self, place: PictureLocation) -> Option<&Mapping> {
        let mut mapped = self.mapped.iter();
        let is_it = |(number, mapping): &&(u32, Mapping)| {
            *number == place.memory && mapping.len() as u64 == place.size
        };
        mapped.find(is_it).map(|(_, mapping)| mapping)
    }
}

/// Where pixels of a picture are; none if that is outside of the memory.
pub(super) fn parts(
    mapping: &Mapping,
    place: PictureLocation,
    stored: Stored,
    pixels: &Range<usize>,
) -> Option<[(*mut u8, usize); 2]> {
    let part = |start: u64, pixel: usize| {
        let len = pixels.len().checked_mul(pixel)?;
        let start = usize::try_from(start).ok()?;
        let start = start.checked_add(pixels.start.checked_mul(pixel)?)?;
        let end = start.checked_add(len)?;
        let is_aligned = start % 4 == 0;
        (is_aligned && start >= ALIGN && end <= mapping.len())
            .then(|| (mapping.range(start, len), len))
    };
    let [color, depth] = stored.pixel_bytes();
    let color = part(place.color, color)?;
    match depth {
        0 => Some([color, (color.0, 0)]),
        depth => Some([color, part(place.depth, depth)?]),
    }
}

/// Pixels to be read.
///
/// # Safety
/// No member writes to them until the layer is dropped. Members that keep to the protocol do not
/// write from when they have counted the picture as drawn until the reader has counted it as
/// merged.
pub(super) unsafe fn layer<'m>(
    mapping: &'m Mapping,
    place: PictureLocation,
    stored: Stored,
    pixels: &Range<usize>,
) -> Option<Layer<'m>> {
    let [color, depth] = parts(mapping, place, stored, pixels)?;
    // SAFETY: `parts` has found the bytes to be in the mapping, which outlives the layer; the
    // caller promises the rest.
    let slice = |(start, len): (*mut u8, usize)| unsafe { std::slice::from_raw_parts(start, len) };
    Some(Layer {
        channel: stored.channel,
        color: slice(color),
        depth: slice(depth),
    })
}

/// Pixels to be written; none also if the place has colours and depths in the same bytes.
///
/// # Safety
/// No other code reads or writes them until the layer is dropped.
pub(super) unsafe fn layer_mut<'m>(
    mapping: &'m Mapping,
    place: PictureLocation,
    stored: Stored,
    pixels: &Range<usize>,
) -> Option<LayerMut<'m>> {
    let [color, depth] = parts(mapping, place, stored, pixels)?;
    let end = |(start, len): (*mut u8, usize)| start as usize + len;
    if end(color) > depth.0 as usize && end(depth) > color.0 as usize {
        return None;
    }
    // SAFETY: as above; and colours and depths do not overlap.
    let slice =
        |(start, len): (*mut u8, usize)| unsafe { std::slice::from_raw_parts_mut(start, len) };
    Some(LayerMut {
        channel: stored.channel,
        color: slice(color),
        depth: slice(depth),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    const STORED: Stored = Stored {
        channel: Channel::U8,
        depth_bytes: 4,
    };

    #[test]
    fn pictures_are_seen_by_others() {
        let own = OwnMemory::create(2, sizes(1000, STORED), 7, 99).unwrap();
        assert!(own.has_room_for(sizes(1024, STORED)));
        assert!(!own.has_room_for(sizes(1025, STORED)));
        let (all, some) = (0..1000, 10..20);
        for (at, value) in [(0, 1), (1, 2)] {
            // SAFETY: no other code uses the memory.
            let picture = unsafe { layer_mut(own.mapping(), own.place(at), STORED, &all) };
            let picture = picture.unwrap();
            picture.color.fill(value);
            picture.depth.fill(value + 10);
        }
        let mut seen = Seen::default();
        let pid = std::process::id();
        for (at, value) in [(0, 1), (1, 2)] {
            seen.map(own.place(at), pid, 99).unwrap();
            let mapping = seen.find(own.place(at)).unwrap();
            // SAFETY: no code writes any more.
            let picture = unsafe { layer(mapping, own.place(at), STORED, &some) }.unwrap();
            assert_eq!(picture.color, [value; 40]);
            assert_eq!(picture.depth, [value + 10; 40]);
        }
        assert_eq!(seen.mapped.len(), 1);
        assert!(Seen::default().map(own.place(0), pid, 98).is_err());
    }

    #[test]
    fn places_outside_of_the_memory_are_refused() {
        let own = OwnMemory::create(1, sizes(1024, STORED), 0, 0).unwrap();
        let place = own.place(0);
        let wrong = [
            PictureLocation { color: 0, ..place },
            PictureLocation {
                color: place.color + 2,
                ..place
            },
            PictureLocation {
                depth: place.depth + 4,
                ..place
            },
            PictureLocation {
                color: u64::MAX - 3,
                ..place
            },
        ];
        for place in wrong {
            assert!(parts(own.mapping(), place, STORED, &(0..1024)).is_none());
        }
        assert!(parts(own.mapping(), place, STORED, &(0..1025)).is_none());
        let overlapping = PictureLocation {
            depth: place.color + 4 * 1023,
            ..place
        };
        // SAFETY: no other code uses the memory.
        let to_write = |place| unsafe { layer_mut(own.mapping(), place, STORED, &(0..1024)) };
        assert!(to_write(overlapping).is_none() && to_write(place).is_some());
        assert!(parts(own.mapping(), place, STORED, &(0..1024)).is_some());
        assert!(parts(own.mapping(), place, STORED, &(usize::MAX - 1..usize::MAX)).is_none());
    }
}
