//! The outlet of a compositor.

use std::ops::Range;
use std::sync::{Mutex, PoisonError, Weak};

use mgn_composite::{PictureRef, Terms};

use crate::{Direction, Outlet, OutletError, Shot};

/// Shows the composited pictures that come to this process. Once no other code has the outlet,
/// nothing is shown.
#[derive(Clone, Debug)]
pub struct Attached {
    pub outlet: Weak<Mutex<Outlet>>,
    pub direction: Direction,
}

impl Attached {
    /// Shows what [`mgn_composite::Group::composite`] has given to the process of this rank, if it
    /// is a whole picture.
    ///
    /// # Errors
    /// As for [`Outlet::show`].
    pub fn show(
        &self,
        rank: usize,
        terms: &Terms,
        (range, picture): &(Range<usize>, PictureRef<'_>),
    ) -> Result<(), OutletError> {
        if terms.to != Some(rank) || range.is_empty() {
            return Ok(());
        }
        self.show_shot(&Shot {
            width: terms.width,
            height: terms.height,
            color: terms.format.color,
            direction: self.direction,
            pixels: picture.color,
        })
    }

    pub(crate) fn show_shot(&self, shot: &Shot<'_>) -> Result<(), OutletError> {
        let Some(outlet) = self.outlet.upgrade() else {
            return Ok(());
        };
        let mut outlet = outlet.lock().unwrap_or_else(PoisonError::into_inner);
        outlet.show(shot)
    }
}
