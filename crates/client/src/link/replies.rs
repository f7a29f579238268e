//! Receives the answers of the server and hands them to the threads that wait for them.
//!
//! There is no thread for this: a thread that waits reads the connection, stores answers for other
//! threads, and wakes these. So a round trip needs no thread switch.

use mgn_fabric::{Error, Receiver};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// `context:u32 total:u32 error:u32 told:u32 message:u32` before each part of an answer.
const HEADER: usize = 20;
/// The longest answer: GL returns nothing that is longer than the longest command.
const ANSWER_MAX: usize = mgn_wire::LONG_MAX;
/// How often a waiting thread checks whether the session was given up for another reason.
const END_CHECK_INTERVAL: Duration = Duration::from_millis(200);

pub struct Replies {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// None while a thread reads.
    receiver: Option<Receiver>,
    /// Complete and partial answers.
    answers: Vec<Partial>,
    /// The number of threads that wait for the reading thread. Without this count, each answer
    /// would cost a system call to wake threads.
    waiting: usize,
}

#[derive(Default)]
struct Partial {
    context: u32,
    message: u32,
    total: usize,
    error: u32,
    told: bool,
    bytes: Vec<u8>,
}

/// An answer, and what the server knows about the context's errors.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answered {
    pub bytes: Vec<u8>,
    /// The context's first error that was not reported yet, 0 for none. All commands up to the
    /// request are included.
    pub error: u32,
    /// Whether debug messages for the context are pending.
    pub told: bool,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum NoAnswer {
    Broken(Error),
    Nonsense(&'static str),
    /// The caller's `given_up` said so.
    GivenUp,
}

impl Replies {
    pub fn new(receiver: Receiver) -> Replies {
        Replies {
            state: Mutex::new(State {
                receiver: Some(receiver),
                answers: Vec::new(),
                waiting: 0,
            }),
            changed: Condvar::new(),
        }
    }

    /// Waits for the answer to the outstanding request of `context`. The request was sent in
    /// message `number`, if there may be answers to earlier requests.
    pub fn wait(
        &self,
        context: u32,
        number: Option<u32>,
        given_up: impl Fn() -> bool,
    ) -> Result<Answered, NoAnswer> {
        let is_asked = |message: u32| number.is_none_or(|number| number == message);
        let mut state = self.state();
        loop {
            let is_mine = |answer: &Partial| {
                answer.context == context && answer.is_whole() && is_asked(answer.message)
            };
            if let Some(at) = state.answers.iter().position(is_mine) {
                let answer = state.answers.swap_remove(at);
                return Ok(Answered {
                    bytes: answer.bytes,
                    error: answer.error,
                    told: answer.told,
                });
            }
            if given_up() {
                return Err(NoAnswer::GivenUp);
            }
            let Some(mut receiver) = state.receiver.take() else {
                state.waiting += 1;
                let waited = self.changed.wait_timeout(state, END_CHECK_INTERVAL);
                state = waited.unwrap_or_else(|e| e.into_inner()).0;
                state.waiting -= 1;
                continue;
            };
            drop(state);
            let received = receiver.recv(Some(END_CHECK_INTERVAL));
            let mine = match &received {
                // The common case needs neither the table nor a second copy.
                Ok(Some(message)) => whole(message, context, is_asked),
                _ => None,
            };
            state = self.state();
            state.receiver = Some(receiver);
            if state.waiting > 0 {
                self.changed.notify_all();
            }
            if let Some(answer) = mine {
                return Ok(answer);
            }
            let taken = match received {
                Ok(Some(message)) => state.take(&message.to_vec()),
                Ok(None) => Ok(()),
                Err(error) => Err(NoAnswer::Broken(error)),
            };
            taken?;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// The answer, if `message` is all of it, is for `context`, and answers the last question.
fn whole(
    message: &mgn_fabric::Message,
    context: u32,
    is_asked: impl Fn(u32) -> bool,
) -> Option<Answered> {
    let header = header(message)?;
    let len = message.len() - HEADER;
    if header.context != context || header.total as usize != len || !is_asked(header.message) {
        return None;
    }
    let mut bytes = Vec::new();
    message.copy_range(HEADER, len, &mut bytes);
    Some(Answered {
        bytes,
        error: header.error,
        told: header.told,
    })
}

struct Header {
    context: u32,
    total: u32,
    error: u32,
    told: bool,
    message: u32,
}

fn header(message: &mgn_fabric::Message) -> Option<Header> {
    if message.len() < HEADER {
        return None;
    }
    let mut bytes = [0u8; HEADER];
    // SAFETY: the message has HEADER bytes at least; they are copied before they are looked at.
    unsafe { std::ptr::copy_nonoverlapping(message.as_ptr(), bytes.as_mut_ptr(), HEADER) };
    Some(parse(&bytes))
}

fn parse(bytes: &[u8; HEADER]) -> Header {
    let word = |n: usize| u32::from_le_bytes([bytes[n], bytes[n + 1], bytes[n + 2], bytes[n + 3]]);
    Header {
        context: word(0),
        total: word(4),
        error: word(8),
        told: word(12) != 0,
        message: word(16),
    }
}

impl Partial {
    fn is_whole(&self) -> bool {
        self.bytes.len() == self.total
    }
}

impl State {
    /// Stores a message of the server.
    fn take(&mut self, message: &[u8]) -> Result<(), NoAnswer> {
        let Some((head, part)) = message.split_first_chunk::<HEADER>() else {
            return Err(NoAnswer::Nonsense("an answer without a header"));
        };
        let head = parse(head);
        let total = head.total as usize;
        if total > ANSWER_MAX {
            return Err(NoAnswer::Nonsense("an answer longer than any can be"));
        }
        let is_same =
            |answer: &Partial| (answer.context, answer.message) == (head.context, head.message);
        let at = self.answers.iter().position(is_same);
        let at = at.unwrap_or_else(|| {
            self.answers.push(Partial {
                context: head.context,
                message: head.message,
                total,
                ..Partial::default()
            });
            self.answers.len() - 1
        });
        let answer = &mut self.answers[at];
        if answer.total != total || part.len() > total - answer.bytes.len() {
            return Err(NoAnswer::Nonsense(
                "parts of an answer that do not fit together",
            ));
        }
        answer.error = head.error;
        answer.told = head.told;
        answer.bytes.extend_from_slice(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> State {
        State {
            receiver: None,
            answers: Vec::new(),
            waiting: 0,
        }
    }

    fn of(state: &State, context: u32) -> &Partial {
        let mut all = state.answers.iter();
        all.find(|answer| answer.context == context).unwrap()
    }

    fn message(context: u32, total: u32, error: u32, part: &[u8]) -> Vec<u8> {
        let mut m = Vec::new();
        for word in [context, total, error, 0, 0] {
            m.extend(word.to_le_bytes());
        }
        m.extend(part);
        m
    }

    #[test]
    fn parts_are_joined_by_context() {
        let mut state = state();
        state.take(&message(1, 6, 0, b"abc")).unwrap();
        state.take(&message(2, 2, 5, b"xy")).unwrap();
        assert!(!of(&state, 1).is_whole());
        assert!(of(&state, 2).is_whole());
        state.take(&message(1, 6, 7, b"def")).unwrap();
        assert!(of(&state, 1).is_whole());
        assert_eq!(
            (&of(&state, 1).bytes[..], of(&state, 1).error),
            (&b"abcdef"[..], 7)
        );
        state.take(&message(3, 0, 0, b"")).unwrap();
        assert!(of(&state, 3).is_whole());
    }

    #[test]
    fn answers_to_several_questions_are_told_apart() {
        let mut state = state();
        state.take(&message(1, 6, 0, b"abc")).unwrap();
        let mut later = message(1, 2, 0, b"xy");
        later[16] = 9;
        state.take(&later).unwrap();
        state.take(&message(1, 6, 0, b"def")).unwrap();
        let whole = state
            .answers
            .iter()
            .map(|answer| (answer.message, &answer.bytes[..]));
        assert_eq!(whole.collect::<Vec<_>>(), [(0, &b"abcdef"[..]), (9, b"xy")]);
    }

    #[test]
    fn nonsense_is_refused() {
        let mut state = state();
        assert!(state.take(b"short").is_err());
        assert!(state.take(&message(1, u32::MAX, 0, b"")).is_err());
        assert!(state.take(&message(1, 2, 0, b"abc")).is_err());
        let mut state = super::tests::state();
        state.take(&message(1, 4, 0, b"ab")).unwrap();
        assert!(state.take(&message(1, 5, 0, b"c")).is_err());
        assert!(state.take(&message(1, 4, 0, b"cde")).is_err());
    }
}
