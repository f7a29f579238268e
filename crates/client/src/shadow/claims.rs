//! Claims: commands with all that their success depends on, as numbers. Once an answer has shown
//! that every command up to it succeeded, the claims made until then hold.

use super::framebuffers::Change;
use std::collections::HashMap;

pub type Claim = Vec<u32>;

/// The claim of a command that certainly succeeds. All others begin with what they are about.
pub const SURE: Claim = Vec::new();

/// More are not remembered at a time.
const CLAIMS_MAX: usize = 1 << 13;

#[derive(Default)]
pub struct Claims {
    /// With the answers of those that are questions.
    holding: HashMap<Claim, u32>,
    /// Those made since the last answer.
    made: Vec<Claim>,
    /// The program asks for errors.
    wanted: bool,
    /// Changes of images since something was sent, where other contexts use the same.
    pub to_tell: Vec<Change>,
    /// The same of uniforms of these programs, which draws may fail for.
    pub programs_to_tell: Vec<u32>,
    /// `Encoder::changes` when something was sent last.
    pub changes_told: u32,
}

impl Claims {
    pub fn want(&mut self) {
        self.wanted = true;
    }

    pub fn are_wanted(&self) -> bool {
        self.wanted
    }

    /// All commands so far succeeded.
    pub fn prove(&mut self) {
        if self.holding.len() + self.made.len() > CLAIMS_MAX {
            self.holding.clear();
        }
        self.holding.extend(self.made.drain(..).map(|c| (c, 0)));
    }

    /// It is no longer known which commands succeed.
    pub fn forget(&mut self) {
        self.made.clear();
        self.holding.clear();
    }

    /// Whether a command certainly succeeds, or has succeeded before.
    #[inline]
    pub fn hold(&self, claim: &Claim) -> bool {
        *claim == SURE || self.holding.contains_key(claim)
    }

    /// Notes the claim of a command that has been sent.
    #[inline]
    pub fn make(&mut self, claim: Claim) {
        if self.made.len() < CLAIMS_MAX {
            self.made.push(claim);
        }
    }

    /// Notes those claims that do not hold yet, of a command that succeeds if all of them hold.
    /// Says whether they do.
    pub fn make_all(&mut self, claims: Vec<Claim>) -> bool {
        let Claims { holding, made, .. } = self;
        let unproven = claims.into_iter().filter(|c| !holding.contains_key(c));
        let known = made.len();
        made.extend(unproven);
        let all_hold = made.len() == known;
        made.truncate(CLAIMS_MAX);
        all_hold
    }

    /// The answer of a question, if it was asked before.
    pub fn answer(&self, question: &Claim) -> Option<u32> {
        self.holding.get(question).copied()
    }

    pub fn learn_answer(&mut self, question: Claim, answer: u32) {
        self.holding.insert(question, answer);
    }
}
