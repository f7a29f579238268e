//! A window of our own whose pictures appear at given vertical blanks of its display.

use std::collections::VecDeque;

use mgn_sys::clock::monotonic;
use mgn_wall::DisplayPosition;
use mgn_wire::frames::Vblank;
use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::protocol::present::{
    self, CompleteKind, CompleteMode, CompleteNotifyEvent, ConnectionExt as _, EventMask,
};
use x11rb::protocol::Event;

use crate::canvas::Canvas;
use crate::display::lost;
use crate::error::HEAD_MAX;
use crate::{Error, Head, Picture, Target};

/// Pictures that the X server stores: two that are visible while one replaces the other, and those
/// that wait for their vertical blank.
const CANVASES: usize = 5;
/// The most pictures that wait.
const AWAITED_MAX: usize = 3;
/// If the vertical blank for a picture is more than this number after the last known one, the
/// picture is shown at once, because the X server keeps every picture that waits.
const AHEAD_MAX: u64 = 250;
/// The lowest age of a reported vertical blank, in ns. It is negative because some drivers report
/// the time of the end of the blank at its beginning.
const AGE_MIN: i64 = -10_000_000;
/// The greatest age of a useful report, in ns. A much older report comes from another host's clock.
const AGE_MAX: i64 = 2_000_000_000;
const FOREIGN_AGE: i64 = 10_000_000_000;

/// A [`Head`] that shows pictures through the extension Present.
#[derive(Debug)]
pub struct GenlockedHead {
    head: Head,
    canvases: Vec<Held>,
    /// The serial of the last request that an event answers.
    serial: u32,
    awaited: Awaited,
    /// The request to report a vertical blank: its serial, the number of the blank, and when it was
    /// sent.
    asked: Option<(u32, u64, i64)>,
    vblank: Option<Vblank>,
    is_exposed: bool,
    /// Whether there was a warning that the X server's clock is a different one.
    has_warned: bool,
}

/// The pictures that wait for their vertical blanks.
#[derive(Debug, Default)]
struct Awaited {
    /// The vertical blank at which each picture is to appear, by serial.
    pictures: VecDeque<(u32, u64)>,
    /// The pictures that have appeared after their vertical blank, or never.
    late: u32,
}

impl Awaited {
    /// Adds a picture. The X server drops a picture that waited for the same vertical blank.
    fn push(&mut self, serial: u32, vblank: u64) {
        self.pictures.retain(|(_, awaited)| *awaited != vblank);
        self.pictures.push_back((serial, vblank));
    }

    /// Forgets pictures whose vertical blank is far from the last known one: some may never have
    /// been reported, or the numbers may have restarted.
    fn forget_old(&mut self, known: Option<u64>) {
        let is_recent = |number: u64| known.is_some_and(|k| k.abs_diff(number) <= AHEAD_MAX);
        self.pictures.retain(|(_, awaited)| is_recent(*awaited));
    }

    /// The X server is done with a picture: it has shown it at the vertical blank `msc`, or another
    /// one in its place. Returns whether the picture has appeared at its own vertical blank.
    fn complete(&mut self, serial: u32, mode: CompleteMode, msc: u64) -> bool {
        let at = self.pictures.iter().position(|(n, _)| *n == serial);
        let Some((_, wanted)) = at.and_then(|at| self.pictures.remove(at)) else {
            return false;
        };
        let is_skipped = mode == CompleteMode::SKIP;
        self.late += u32::from(is_skipped || msc > wanted);
        !is_skipped && msc == wanted
    }
}

#[derive(Debug)]
struct Held {
    canvas: Canvas,
    /// The serial of the picture, while the X server reads the canvas.
    busy: Option<u32>,
}

impl GenlockedHead {
    /// Opens a window like [`Head::open`].
    ///
    /// # Errors
    /// The errors of [`Head::open`], and [`Error::NoVblanks`].
    pub fn open(
        display: &str,
        place: DisplayPosition,
        size: (u32, u32),
        title: &str,
    ) -> Result<GenlockedHead, Error> {
        let head = Head::open(display, place, size, title)?;
        let no_vblanks = || Error::NoVblanks {
            display: display.into(),
        };
        let x11 = &head.display.connection;
        let extension = x11
            .extension_information(present::X11_EXTENSION_NAME)
            .map_err(lost)?;
        extension.ok_or_else(no_vblanks)?;
        let version = x11.present_query_version(1, 0).map_err(lost)?.reply();
        version.map_err(|_| no_vblanks())?;
        let wanted = EventMask::COMPLETE_NOTIFY | EventMask::IDLE_NOTIFY;
        let events = head.display.new_id()?;
        let selected = x11.present_select_input(events, head.id, wanted);
        let selected = selected.map_err(lost)?.check();
        selected.map_err(|_| no_vblanks())?;
        Ok(GenlockedHead {
            head,
            canvases: Vec::new(),
            serial: 0,
            awaited: Awaited::default(),
            asked: None,
            vblank: None,
            is_exposed: false,
            has_warned: false,
        })
    }

    /// The vertical blank at which the next picture is shown. It is not before those of waiting
    /// pictures, because the next picture would not replace these. If two pictures are for the same
    /// vertical blank, the X server drops the first.
    fn in_order(&mut self, wanted: Option<u64>) -> Option<u64> {
        let known = self.vblank.map(|known| known.number);
        let is_near =
            |number: &u64| known.is_some_and(|known| number.saturating_sub(known) <= AHEAD_MAX);
        self.awaited.forget_old(known);
        let awaited = &self.awaited.pictures;
        let last = awaited.iter().map(|(_, awaited)| *awaited).max();
        match awaited.len() < AWAITED_MAX {
            true => wanted.filter(is_near).max(last),
            false => last,
        }
    }

    fn notify(&mut self, vblank: u64) -> Result<u32, Error> {
        self.serial = self.serial.wrapping_add(1);
        let connection = &self.head.display.connection;
        let asked = connection.present_notify_msc(self.head.id, self.serial, vblank, 0, 0);
        asked.map_err(lost)?.ignore_error();
        Ok(self.serial)
    }

    /// The number in the answer to a request. Handles other events until it arrives.
    fn find(&mut self, serial: u32) -> Result<Option<u64>, Error> {
        let mut found = None;
        while let Some(event) = self.next_event()? {
            match event {
                Event::PresentCompleteNotify(event)
                    if event.kind == CompleteKind::NOTIFY_MSC && event.serial == serial =>
                {
                    found = Some(event.msc);
                }
                event => self.handle(event),
            }
        }
        Ok(found)
    }

    fn poll(&mut self) -> Result<(), Error> {
        while let Some(event) = self.next_event()? {
            self.handle(event);
        }
        Ok(())
    }

    fn next_event(&self) -> Result<Option<Event>, Error> {
        self.head.display.connection.poll_for_event().map_err(lost)
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Expose(_) => self.is_exposed = true,
            Event::PresentCompleteNotify(event) => self.completed(&event),
            Event::PresentIdleNotify(event) => {
                let is_it = |held: &&mut Held| held.busy == Some(event.serial);
                if let Some(held) = self.canvases.iter_mut().find(is_it) {
                    held.busy = None;
                }
            }
            _ => {}
        }
    }

    fn completed(&mut self, event: &CompleteNotifyEvent) {
        let (serial, number) = (event.serial, event.msc);
        let is_as_planned = match event.kind {
            CompleteKind::NOTIFY_MSC => {
                let asked = self.asked.take_if(|asked| asked.0 == serial);
                asked.is_some_and(|asked| asked.1 == number)
            }
            _ => self.awaited.complete(serial, event.mode, number),
        };
        // If the number is another one, the reported time may be that of the report.
        if is_as_planned {
            self.observe(number, event.ust);
        }
    }

    fn observe(&mut self, number: u64, microseconds: u64) {
        let time = i64::try_from(microseconds).unwrap_or(i64::MAX);
        let time = time.saturating_mul(1000);
        match monotonic().saturating_sub(time) {
            AGE_MIN..AGE_MAX => self.vblank = Some(Vblank { number, time }),
            AGE_MAX..FOREIGN_AGE => {}
            _ if self.has_warned => {}
            _ => {
                self.has_warned = true;
                tracing::warn!("an X server reports vertical blanks by the clock of another host, so its tile is not genlocked; run the tile's server on the X server's host");
            }
        }
    }

    /// The index of a canvas of this size that the X server does not read. If there is none, that
    /// of the oldest canvas.
    fn free_canvas(&mut self, size: (u16, u16)) -> Result<usize, Error> {
        if self.canvases.len() < CANVASES && self.canvases.iter().all(|held| held.busy.is_some()) {
            let canvas = Canvas::new(&self.head.display, size)?;
            self.canvases.push(Held { canvas, busy: None });
        }
        let age = |held: &Held| held.busy.map_or(u32::MAX, |n| self.serial.wrapping_sub(n));
        let oldest = (0..self.canvases.len()).max_by_key(|n| age(&self.canvases[*n]));
        let n = oldest.unwrap_or(0);
        if self.canvases[n].canvas.size != size {
            self.canvases[n].canvas = Canvas::new(&self.head.display, size)?;
        }
        Ok(n)
    }
}

impl Target for GenlockedHead {
    fn show(&mut self, picture: &Picture<'_>) -> Result<(), Error> {
        self.show_at(picture, None)
    }

    /// Passes a picture to the X server, which shows it at the vertical blank with this number.
    /// Without a number, the X server shows it at the next blank, but never before a picture that
    /// still waits. Returns without waiting for the blank.
    fn show_at(&mut self, picture: &Picture<'_>, vblank: Option<u64>) -> Result<(), Error> {
        self.poll()?;
        let vblank = self.in_order(vblank);
        let side = |side: u32| u16::try_from(side).ok().filter(|_| side <= HEAD_MAX);
        let (width, height) = (picture.width, picture.height);
        let (Some(wide), Some(high)) = (side(width), side(height)) else {
            return Err(Error::TooLarge { width, height });
        };
        if wide == 0 || high == 0 {
            return Ok(());
        }
        let n = self.free_canvas((wide, high))?;
        self.serial = self.serial.wrapping_add(1);
        let held = &mut self.canvases[n];
        held.canvas.draw(picture)?;
        held.busy = Some(self.serial);
        let presented = self.head.display.connection.present_pixmap(
            self.head.id,
            held.canvas.pixmap,
            self.serial,
            x11rb::NONE,
            x11rb::NONE,
            0,
            0,
            x11rb::NONE,
            x11rb::NONE,
            x11rb::NONE,
            0,
            vblank.unwrap_or(0),
            0,
            0,
            &[],
        );
        presented.map_err(lost)?.check().map_err(|error| {
            let window = self.head.id;
            let why = error.to_string();
            Error::Refused { window, why }
        })?;
        if let Some(vblank) = vblank {
            self.awaited.push(self.serial, vblank);
        }
        Ok(())
    }

    /// The last known vertical blank, and how many pictures have appeared after their own, or
    /// never. Makes the X server report the next one.
    fn clock(&mut self) -> Result<(Option<Vblank>, u32), Error> {
        self.poll()?;
        let now = monotonic();
        let is_waiting = |asked: &(u32, u64, i64)| now.saturating_sub(asked.2) < AGE_MAX;
        if self.asked.as_ref().is_none_or(|asked| !is_waiting(asked)) {
            // If an X server without real vertical blanks is asked for a past one, it answers with
            // the present moment. So it is asked for the current number first, and then for a later
            // one.
            let number = self.notify(0)?;
            self.head.display.sync()?;
            if let Some(number) = self.find(number)? {
                let wanted = number.saturating_add(2);
                self.asked = Some((self.notify(wanted)?, wanted, now));
                self.head.display.flush()?;
            }
        }
        Ok((self.vblank, self.awaited.late))
    }

    fn is_exposed(&mut self) -> bool {
        // If the connection is lost, showing the picture again reports that.
        self.poll().is_err() || std::mem::take(&mut self.is_exposed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_that_appear_later_or_never_are_late() {
        let mut awaited = Awaited::default();
        for (serial, vblank) in [(1, 100), (2, 101), (3, 102)] {
            awaited.push(serial, vblank);
        }
        assert!(awaited.complete(1, CompleteMode::COPY, 100));
        assert_eq!(awaited.late, 0);
        // The X server was late for both, and has shown only the newer one.
        assert!(!awaited.complete(2, CompleteMode::SKIP, 103));
        assert!(!awaited.complete(3, CompleteMode::COPY, 103));
        assert_eq!(awaited.late, 2);
        // It reports no picture twice, and pictures without a vertical blank are not late.
        assert!(!awaited.complete(3, CompleteMode::COPY, 104));
        assert!(!awaited.complete(9, CompleteMode::COPY, 104));
        assert_eq!(awaited.late, 2);
    }

    #[test]
    fn a_picture_that_is_replaced_before_its_vertical_blank_is_not_late() {
        let mut awaited = Awaited::default();
        awaited.push(1, 100);
        awaited.push(2, 100);
        assert!(!awaited.complete(1, CompleteMode::SKIP, 99));
        assert!(awaited.complete(2, CompleteMode::FLIP, 100));
        assert_eq!(awaited.late, 0);
    }

    #[test]
    fn pictures_that_are_never_reported_are_forgotten() {
        let mut awaited = Awaited::default();
        awaited.push(1, 100);
        awaited.push(2, 101 + AHEAD_MAX);
        awaited.forget_old(Some(101 + AHEAD_MAX));
        assert_eq!(awaited.pictures, [(2, 101 + AHEAD_MAX)]);
    }
}
