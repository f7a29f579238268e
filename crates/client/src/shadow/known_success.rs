//! Commands that are known to succeed, each with all that its success depends on, as numbers. Once
//! an answer has shown that every command up to it succeeded, those sent until then are known.

use super::framebuffers::Change;
use std::collections::HashMap;

/// A command, its arguments, and the state on which its success depends.
pub type SuccessKey = Vec<u32>;

/// The key of a command that certainly succeeds. All others begin with their opcode.
pub const INFALLIBLE: SuccessKey = Vec::new();

/// More are not remembered at a time.
const KEYS_MAX: usize = 1 << 13;

#[derive(Default)]
pub struct KnownSuccess {
    /// With the answers of those that are questions.
    known: HashMap<SuccessKey, u32>,
    /// Of commands sent since the last answer.
    pending: Vec<SuccessKey>,
    /// The program asks for errors.
    wanted: bool,
    /// Changes of images since something was sent, where other contexts use the same.
    pub unpublished_images: Vec<Change>,
    /// The same of uniforms of these programs, which draws may fail for.
    pub unpublished_programs: Vec<u32>,
    /// `Encoder::changes` when something was sent last.
    pub published_changes: u32,
}

impl KnownSuccess {
    pub fn want(&mut self) {
        self.wanted = true;
    }

    pub fn is_wanted(&self) -> bool {
        self.wanted
    }

    /// All commands so far succeeded.
    pub fn confirm_pending(&mut self) {
        if self.known.len() + self.pending.len() > KEYS_MAX {
            self.known.clear();
        }
        self.known.extend(self.pending.drain(..).map(|c| (c, 0)));
    }

    /// It is no longer known which commands succeed.
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

    /// Notes those keys that are not known yet, of a command that succeeds if all of them are
    /// known. Says whether they are.
    pub fn add_all_pending(&mut self, keys: Vec<SuccessKey>) -> bool {
        let KnownSuccess { known, pending, .. } = self;
        let unproven = keys.into_iter().filter(|c| !known.contains_key(c));
        let len = pending.len();
        pending.extend(unproven);
        let all_known = pending.len() == len;
        pending.truncate(KEYS_MAX);
        all_known
    }

    /// The answer of a question, if it was asked before.
    pub fn answer(&self, question: &SuccessKey) -> Option<u32> {
        self.known.get(question).copied()
    }

    pub fn learn_answer(&mut self, question: SuccessKey, answer: u32) {
        self.known.insert(question, answer);
    }
}
