//! Commands that are known to succeed. Each is recorded with all state on which its success
//! depends, as numbers. When an answer shows that every command up to it succeeded, the commands
//! sent so far are known to succeed.

use super::framebuffers::Change;
use std::collections::HashMap;

/// A command, its arguments, and the state on which its success depends.
pub type SuccessKey = Vec<u32>;

/// The key of a command that certainly succeeds. All other keys begin with their opcode.
pub const INFALLIBLE: SuccessKey = Vec::new();

/// The largest number of keys that are remembered.
const KEYS_MAX: usize = 1 << 13;

#[derive(Default)]
pub struct KnownSuccess {
    /// The known keys. A question's key has its answer.
    known: HashMap<SuccessKey, u32>,
    /// The keys of commands that were sent since the last answer.
    pending: Vec<SuccessKey>,
    /// Whether the program asks for errors.
    wanted: bool,
    /// Changes of images since the last message, if other contexts share the images.
    pub unpublished_images: Vec<Change>,
    /// Programs whose uniforms have changed since the last message, because draws may fail for
    /// these.
    pub unpublished_programs: Vec<u32>,
    /// `Encoder::changes` at the last message.
    pub published_changes: u32,
}

impl KnownSuccess {
    pub fn want(&mut self) {
        self.wanted = true;
    }

    pub fn is_wanted(&self) -> bool {
        self.wanted
    }

    /// All commands so far have succeeded.
    pub fn confirm_pending(&mut self) {
        if self.known.len() + self.pending.len() > KEYS_MAX {
            self.known.clear();
        }
        self.known.extend(self.pending.drain(..).map(|c| (c, 0)));
    }

    /// Forgets which commands succeed.
    pub fn forget(&mut self) {
        self.pending.clear();
        self.known.clear();
    }

    /// Whether a command certainly succeeds, or has succeeded before.
    #[inline]
    pub fn contains(&self, key: &SuccessKey) -> bool {
        *key == INFALLIBLE || self.known.contains_key(key)
    }

    /// Notes the key of a command that has been sent.
    #[inline]
    pub fn add_pending(&mut self, key: SuccessKey) {
        if self.pending.len() < KEYS_MAX {
            self.pending.push(key);
        }
    }

    /// Records the unknown keys of a command that succeeds if all of its keys are known. Returns
    /// whether they all were known.
    pub fn add_all_pending(&mut self, keys: Vec<SuccessKey>) -> bool {
        let KnownSuccess { known, pending, .. } = self;
        let unproven = keys.into_iter().filter(|c| !known.contains_key(c));
        let len = pending.len();
        pending.extend(unproven);
        let all_known = pending.len() == len;
        pending.truncate(KEYS_MAX);
        all_known
    }

    /// The answer of a question, if it is known from before.
    pub fn answer(&self, question: &SuccessKey) -> Option<u32> {
        self.known.get(question).copied()
    }

    pub fn learn_answer(&mut self, question: SuccessKey, answer: u32) {
        self.known.insert(question, answer);
    }
}
