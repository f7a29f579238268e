//! `nop`: the end of a chain that does nothing.

/// Takes every command, counts it and forgets it. What asks for an answer gets an empty one.
#[derive(Debug, Default)]
pub struct Nop {
    pub messages: u64,
    pub commands: u64,
}
