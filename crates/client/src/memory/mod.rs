//! Memory that is accessed by address: the contents of buffers, which programs write to through
//! mappings, and the vertices of programs. Nothing here knows a context, its state or a connection.

pub mod bytes;
pub mod contents;
pub mod positions;
