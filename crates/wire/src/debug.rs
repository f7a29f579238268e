//! Messages of debug output to the program, encoded as postcard of lists of these.

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

/// Decodes the messages of an answer; empty if the bytes are invalid.
pub fn messages(bytes: &[u8]) -> Vec<Message> {
    postcard::from_bytes(bytes).unwrap_or_default()
}
