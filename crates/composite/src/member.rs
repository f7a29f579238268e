//! One member's part of a composition, as a state machine: it takes pieces, and says what to do
//! next.

use std::collections::VecDeque;
use std::ops::Range;

use crate::plan::{Inbound, Plan, Share};

/// An action for the code that owns the connections and the memory. That code performs all actions
/// in the order in which they come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Send these pixels of what this member holds now.
    Send(Piece),
    /// Merge what this member holds with the pieces of `round`, into separate memory. From then on,
    /// the member holds the result. In the last round, the result is part of the merged picture, in
    /// the picture's own format.
    Merge {
        round: usize,
        is_last: bool,
        merges: Vec<Share>,
    },
    /// Send these pixels of the merged picture.
    Deliver(Piece),
    /// Nothing is left to do. This member holds these pixels of the merged picture, and those that
    /// it has collected.
    Done(Range<usize>),
}

/// Pixels on their way from one member to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// The round that needs the pixels. Pieces of the merged picture have the number after that of
    /// the last round.
    pub round: usize,
    /// The member that they go to, or that they come from.
    pub other: usize,
    pub pixels: Range<usize>,
}

/// A piece that the plan does not expect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "member {from} sent pixels {pixels:?} in round {round}, which are not expected: \
     do all members composite pictures of the same size, with the same schedule?"
)]
pub struct Misuse {
    pub from: usize,
    pub round: usize,
    pub pixels: Range<usize>,
}

/// A member of one composition.
#[derive(Debug)]
pub struct Member {
    plan: Plan,
    round: usize,
    /// The pieces that each round must still receive. The last list has the pieces of the merged
    /// picture to collect.
    awaited: Vec<Vec<Piece>>,
    events: VecDeque<Event>,
}

impl Member {
    pub fn new(plan: Plan) -> Member {
        let piece = |round, receive: &Inbound| Piece {
            round,
            other: receive.from,
            pixels: receive.pixels.clone(),
        };
        let lists = plan.rounds.iter().map(|round| &round.receives);
        let awaited = lists
            .chain([&plan.collect])
            .enumerate()
            .map(|(round, list)| list.iter().map(|receive| piece(round, receive)).collect())
            .collect();
        let mut member = Member {
            plan,
            round: 0,
            awaited,
            events: VecDeque::new(),
        };
        member.begin_round();
        member.go_on();
        member
    }

    /// The next action; none until another piece has come.
    pub fn poll(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// A piece has come, maybe for a later round than the present one.
    ///
    /// # Errors
    /// [`Misuse`] if the plan does not expect the piece, or the piece has come before. Then the
    /// member does not change.
    pub fn received(&mut self, piece: &Piece) -> Result<(), Misuse> {
        let list = self.awaited.get_mut(piece.round);
        let place = list.and_then(|list| Some((list.iter().position(|p| p == piece)?, list)));
        let Some((at, list)) = place else {
            return Err(Misuse {
                from: piece.other,
                round: piece.round,
                pixels: piece.pixels.clone(),
            });
        };
        list.swap_remove(at);
        self.go_on();
        Ok(())
    }

    fn begin_round(&mut self) {
        let Some(round) = self.plan.rounds.get(self.round) else {
            if let Some(send) = self.plan.deliver.take() {
                self.events.push_back(Event::Deliver(Piece {
                    round: self.round,
                    other: send.to,
                    pixels: send.pixels,
                }));
            }
            return;
        };
        for send in &round.sends {
            self.events.push_back(Event::Send(Piece {
                round: self.round,
                other: send.to,
                pixels: send.pixels.clone(),
            }));
        }
    }

    fn go_on(&mut self) {
        while self.awaited.get(self.round).is_some_and(Vec::is_empty) {
            let rounds = self.plan.rounds.len();
            if self.round == rounds {
                self.events.push_back(Event::Done(self.plan.merged.clone()));
                self.round += 1;
                return;
            }
            let merges = std::mem::take(&mut self.plan.rounds[self.round].merges);
            if !merges.is_empty() {
                self.events.push_back(Event::Merge {
                    round: self.round,
                    is_last: self.round + 1 == rounds,
                    merges,
                });
            }
            self.round += 1;
            self.begin_round();
        }
    }
}
