//! `libmgn_icet.so`: IceT's interface over the compositing of `mgn-composite`.
//!
//! Programs that composite with IceT, such as ParaView, load this library in place of IceT, and
//! need no change. The functions are those of the header `IceT.h`, and those that IceT's own
//! libraries for MPI and OpenGL call. These two libraries are not replaced. The program's
//! communicator serves only for the processes to find each other; pictures travel over the links of
//! a job.
//!
//! Contexts and images are looked up by their handles at each use, so a wrong handle is an error.
//! No panic leaves a function. The library reports errors in IceT's way: a line on stderr, and an
//! error that `icetGetError` returns.

mod abi;
mod bounds;
mod communicator;
mod context;
mod diagnostics;
mod frame;
mod gets;
mod image;
mod merging;
mod pixels;
mod settings;
mod state;
mod tiles;
mod timing;
