//! piglit, an independent test suite, through a server: tests that pass with the local driver must
//! pass.
//!
//! piglit's own runner runs the tests. This module selects the tests and the driver, and judges the
//! results.

mod known;
mod report;
mod runs;
mod store;
mod suite;
mod verdict;

pub use known::{once_failed, Known};
pub use report::{Judged, Report};
pub use runs::{Route, Runner};
pub use store::{Outcome, Status, Store};
pub use suite::{in_order, tests, Profile};
pub use verdict::{judge, Verdict};
