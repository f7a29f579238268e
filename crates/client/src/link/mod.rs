//! The connection of the process to its render servers: the session, answers, frames, and the
//! threads that show frames. It knows no OpenGL.

pub mod assignments;
pub mod barrier;
pub mod begin;
pub mod compositing;
pub mod ending;
pub mod failover;
pub mod frames;
pub mod genlock;
pub mod heads;
pub mod holes;
pub mod job;
pub mod pixmap;
pub mod presenter;
pub mod renderers;
pub mod replies;
pub mod session;
pub mod stages;
pub mod stats;
pub mod surface;
pub mod surfaces;
pub mod swap_barrier;
pub mod tiles;
