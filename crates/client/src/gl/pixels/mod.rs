//! Images between the program's memory and the wire.
//!
//! In the program's memory an image lies as `glPixelStore` describes; on the wire it is tight
//! (see `mgn_wire::sizes::image`). A [`Layout`] holds where the rows of one image lie;
//! `gather_rows` copies them into a tight image and `scatter` copies a tight image out to them.

mod bits;
mod copy;
// Not under Miri, because the test calls the driver.
#[cfg(all(test, not(miri)))]
mod driver_test;
mod layout;

pub use layout::{Extent, Layout};
