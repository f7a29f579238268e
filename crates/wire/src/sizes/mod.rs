//! How many bytes or values a command's arguments occupy where the registry only says
//! `COMPSIZE`.
//!
//! Everything here is a pure function of enum values and extents. Both ends use the same
//! functions, the client to know how much of the program's memory to copy and the server to
//! check that the stream brought as much as the driver will read, so a disagreement between
//! them is impossible by construction. Sizes are computed in checked arithmetic; `None` means
//! that no size exists (an enum no command accepts, or an overflow).

pub mod fresh;
pub mod gets;
pub mod image;
pub mod pname;
