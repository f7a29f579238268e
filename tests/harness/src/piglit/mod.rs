//! piglit, a test suite that others wrote, through a server: what passes with the local driver has
//! to pass.
//!
//! piglit's own runner runs the tests. Here is decided which, on what, and what the results mean.

mod known;
mod report;
mod runs;
mod store;
mod suite;
mod verdict;

pub use known::{once_failed, Known};
pub use report::{Judged, Report};
pub use runs::{Runner, Way};
pub use store::{Outcome, Status, Store};
pub use suite::{in_order, tests, Profile};
pub use verdict::{judge, Verdict};
