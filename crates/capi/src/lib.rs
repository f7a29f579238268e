//! `libmanganese`: the messages of `mgn-fabric` for C programs.
//!
//! `include/manganese.h` is made of these modules by `cargo xtask generate`: a module's first line
//! is a heading there, and its public items and their comments, written for C programmers, follow
//! in their order. They also say what pointers have to be: that is what "as the caller promises"
//! means.
//!
//! Handles are numbers, looked up where they are used, so that a wrong one is an error. No panic
//! leaves a function.

mod active;
mod arguments;
mod broadcast;
mod composite;
mod connections;
mod errors;
mod fault;
mod job;
mod library;
mod memory;
mod outlets;
mod place;
mod requests;
mod visibility;
mod whole;
