//! `libmanganese`: the messages of `mgn-fabric` for C programs.
//!
//! `cargo xtask generate` makes `include/manganese.h` from these modules. The first line of a
//! module is a heading there. Its public items follow in their order, with their comments, which
//! are written for C programmers. The comments also state the requirements on pointers; "as the
//! caller promises" refers to these.
//!
//! Handles are numbers. Each call looks them up, so a wrong number is an error. No panic leaves a
//! function.
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "comments are a C header's: hosts[r] is an element"
)]

mod active;
mod arguments;
mod barriers;
mod blocking;
mod broadcast;
mod broadcast_end;
mod composite;
mod compositor;
mod connections;
mod errors;
mod fault;
mod in_place;
mod job;
mod last_error;
mod library;
mod memory;
mod open_barrier;
mod outlets;
mod requests;
mod sync;
mod visibility;
