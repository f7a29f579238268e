//! Gets of state: answered from the shadow, or by those that keep the value, or by the server where
//! nobody here knows it.

mod answer;
mod parameters;
mod state;
mod switches;

pub use parameters::*;
pub use state::*;
pub use switches::*;
