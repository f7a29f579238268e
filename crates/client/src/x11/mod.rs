//! Talking to X: the program's own Xlib connection, and a private connection that watches windows.

pub mod error;
pub mod watch;
pub mod xlib;
