//! Messages of debug output on their way to the program, as postcard of lists of these.

use serde::{Deserialize, Serialize};

/// A message as glDebugMessageCallback gives it to the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub source: u32,
    pub kind: u32,
    pub id: u32,
    pub severity: u32,
    /// Without the NUL that ends it in C.
    pub text: Vec<u8>,
}

/// The messages of an answer; none if it is not one.
pub fn messages(bytes: &[u8]) -> Vec<Message> {
    postcard::from_bytes(bytes).unwrap_or_default()
}
