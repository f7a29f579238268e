//! Buffer objects: their bindings, their contents, and how the program's bytes reach the server.
//!
//! The client knows the size and the mapping of every buffer, so it finds all errors of these
//! commands itself. Therefore a large upload can be sent in pieces, and no piece can fail. A
//! mapping is memory of the client, which is sent when the program says that it is done.

pub mod bind;
pub mod bindings;
pub mod data;
mod images;
pub mod mapping;
mod named;
mod parameters;
mod persistent;

pub use bind::*;
pub use bindings::bound;
pub use data::{
    element_bytes, glBufferData, glBufferStorage, glBufferSubData, glCopyBufferSubData,
    glGetBufferSubData, glInvalidateBufferData, glInvalidateBufferSubData,
};
pub use images::*;
pub use mapping::{
    glFlushMappedBufferRange, glGetBufferPointerv, glMapBuffer, glMapBufferRange, glUnmapBuffer,
    is_locked,
};
pub use named::*;
pub use parameters::*;
