//! Gets of state. They are answered from the shadow, or by other code that stores the value, or by
//! the server if the client does not know it.

mod answer;
mod parameters;
mod state;
mod switches;

pub use parameters::*;
pub use state::*;
pub use switches::*;
