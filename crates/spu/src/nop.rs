//! `nop`: the end of a chain that does nothing.

use crate::chain::{Does, Spu};

pub const SPU: Spu = Spu {
    name: "nop",
    about: "the end of a replay's chain: decodes and discards everything, and needs no driver",
    does: Does::End,
    parameters: &[],
    build: |_, _, _| Ok(Box::new(Nop::default())),
};

/// Takes every command, counts it and forgets it. Queries get an empty answer.
#[derive(Debug, Default)]
pub struct Nop {
    pub messages: u64,
    pub commands: u64,
}
