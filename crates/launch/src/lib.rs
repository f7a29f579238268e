//! Starts programs: the user's program, its render server, and its X server.
//!
//! A [`Session`] is one run of a program. It owns a private directory ([`RunDir`]) with the files
//! that make GLVND pick our client library, and, when asked to, a render server and an X server of
//! its own. Everything that it starts ends with it, even if the process that holds it is killed:
//! the server's standard input closes, and the X server loses its last client.
//!
//! GLVND falls back to another driver silently. So a program is inspected before it starts
//! ([`inspect`]) and watched while it runs ([`watch`]); the [`Report`] says whether our library
//! executed its GL.
#![forbid(unsafe_code)]

mod counters;
mod embedded;
mod environment;
mod error;
mod helper;
pub mod inspect;
mod library;
mod ranks;
mod run_dir;
mod session;
mod signals;
pub mod ssh;
pub mod watch;
mod xvfb;

pub use counters::Counters;
pub use embedded::{EmbeddedServer, READY};
pub use environment::{
    overruled_toolkits, ClientSettings, Composite, Icet, OnLoss, Present, Save, SharedWindow,
    SwapBarrier, Weld,
};
pub use error::Error;
pub use library::{
    client_library, fixed_clock_library, icet_library, FIXED_CLOCK_FILE, ICET_FILE, ICET_NAMES,
    LIBRARY_FILE,
};
pub use ranks::{JobEnd, Ranks, Rules};
pub use run_dir::RunDir;
pub use session::{exit_code, Display, Driver, Output, Plan, Report, Server, Session};
pub use xvfb::{find_xvfb, Xvfb};
