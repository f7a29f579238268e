//! One target for pictures.

use std::path::Path;

use mgn_present::{FileFormat, Pane, Picture, Saver, Target, PIXEL};

use crate::viewing::Viewing;
use crate::{OutletError, Shot};

/// A target where pictures go, one after the other.
#[derive(Debug)]
pub struct Outlet {
    target: OutletTarget,
    /// The number of the next picture, and the difference between one number and the next.
    next: u64,
    step: u64,
    /// The failure, if there was one.
    failed: Option<String>,
    /// The picture in the format of `mgn-present`.
    converted: Vec<u8>,
}

/// The largest number, and the largest step.
const NUMBER_MAX: u64 = 1 << 62;

#[derive(Debug)]
enum OutletTarget {
    Files(Saver),
    Window(Pane),
    Viewer(Viewing),
}

impl Outlet {
    /// Writes pictures whose numbers are multiples of `every` to files in `folder`, which is made
    /// where it is missing: `frame-000001.png`, or `.jpg`. The numbers count all pictures, unless
    /// [`Outlet::number`] changes them. `format` is png or jpeg.
    ///
    /// # Errors
    /// [`OutletError::Every`], and [`OutletError::Present`] for another format, or a folder that
    /// cannot be made.
    pub fn files(folder: &Path, format: &str, every: u64) -> Result<Outlet, OutletError> {
        let format: FileFormat = format.parse()?;
        match every {
            0 => Err(OutletError::Every),
            every => Ok(Outlet::at(OutletTarget::Files(Saver::new(
                folder, format, every,
            )?))),
        }
    }

    /// Shows pictures in a window of the X server `display`, or that of `DISPLAY`. It opens with
    /// the first picture and has the size of the last one.
    ///
    /// # Errors
    /// [`OutletError::Present`] if there is no such X server.
    pub fn window(display: Option<&str>, title: &str) -> Result<Outlet, OutletError> {
        Ok(Outlet::at(OutletTarget::Window(Pane::open(
            display, title,
        )?)))
    }

    /// Sends pictures to a viewer, which shows them in browsers as a tile of its wall: 0 is the
    /// first one. `address` is the one of `mgn viewer --feeds`; none: its default. For a `tcp:` or
    /// `tls:` address, `token` is the file of a token with the role server; none: the one that
    /// `MGN_TOKEN_FILE` names.
    ///
    /// The viewer need not run yet, and may be started again. It gets the newest picture while a
    /// page shows the tile, so it may miss some. Several processes can show the tiles of one wall
    /// if they show the same number of pictures.
    ///
    /// # Errors
    /// [`OutletError::Address`], [`OutletError::Viewer`] for a token that cannot be used.
    pub fn viewer(
        address: Option<&str>,
        token: Option<&Path>,
        tile: u16,
    ) -> Result<Outlet, OutletError> {
        let viewing = Viewing::open(address, token, tile)?;
        Ok(Outlet::at(OutletTarget::Viewer(viewing)))
    }

    fn at(target: OutletTarget) -> Outlet {
        Outlet {
            target,
            next: 1,
            step: 1,
            failed: None,
            converted: Vec::new(),
        }
    }

    /// Numbers the next pictures `first`, `first + step` and so on. So the processes of a job can
    /// write its pictures in turn: each gets every n-th picture, and encodes it while the others
    /// draw.
    ///
    /// # Errors
    /// [`OutletError::Number`].
    pub fn number(&mut self, first: u64, step: u64) -> Result<(), OutletError> {
        let (least, most) = (self.next, NUMBER_MAX);
        if step == 0 || !(least..=most).contains(&first) || step > most {
            return Err(OutletError::Number {
                first,
                step,
                least,
                most,
            });
        }
        (self.next, self.step) = (first, step);
        Ok(())
    }

    /// Whether there is no window any more: the user has closed it, and pictures are dropped; or
    /// its X server has ended, and pictures are errors.
    pub fn is_closed(&mut self) -> bool {
        match &mut self.target {
            OutletTarget::Files(_) | OutletTarget::Viewer(_) => false,
            OutletTarget::Window(pane) => {
                pane.is_closed() || pane.is_lost() || self.failed.is_some()
            }
        }
    }

    /// Shows a picture, or keeps it. Its memory may be used again as soon as this returns.
    ///
    /// # Errors
    /// Those of pictures that cannot be shown ([`OutletError::is_of_call`]): others still can.
    /// [`OutletError::Present`] or [`OutletError::Viewer`] if the target is out of order: later
    /// pictures are [`OutletError::Failed`] then.
    pub fn show(&mut self, shot: &Shot<'_>) -> Result<(), OutletError> {
        if let Some(why) = &self.failed {
            return Err(OutletError::Failed(why.clone()));
        }
        let [width, height] = shot.check()?;
        let frame = self.next;
        let is_wanted = match &mut self.target {
            OutletTarget::Files(saver) => saver.wants(frame),
            OutletTarget::Window(pane) => !pane.is_closed(),
            OutletTarget::Viewer(_) => true,
        };
        let shown = match is_wanted {
            true => {
                shot.convert(&mut self.converted);
                let picture = Picture {
                    x: 0,
                    y: 0,
                    width,
                    height,
                    stride: width * PIXEL as u32,
                    pixels: &self.converted,
                    segment: None,
                    surface: 1,
                    frame,
                };
                match &mut self.target {
                    OutletTarget::Files(saver) => saver.show(&picture).map_err(OutletError::from),
                    OutletTarget::Window(pane) => pane.show(&picture).map_err(OutletError::from),
                    OutletTarget::Viewer(viewing) => viewing.show(&picture),
                }
            }
            false => Ok(()),
        };
        match shown {
            Ok(()) => {
                self.next = frame.saturating_add(self.step);
                Ok(())
            }
            Err(error) => {
                if !error.is_of_call() {
                    self.failed = Some(error.to_string());
                }
                Err(error)
            }
        }
    }
}
