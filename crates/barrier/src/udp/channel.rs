//! Messages to and from one member over links that lose packets. Messages arrive in order and
//! without loss, because they are sent in numbered parts, which are sent again until they are
//! acknowledged.

use std::collections::VecDeque;
use std::time::Duration;

use super::Resending;
use crate::packet::Body;

/// The number of bytes in a part. With all headers, a part fits into the smallest maximum packet
/// size of IPv6.
const PART: usize = 1024;

/// The maximum number of parts that have been sent and are not acknowledged.
const WINDOW: usize = 32;

/// The maximum length of a message.
const MESSAGE_MAX: usize = 4 << 20;

#[derive(Debug, Default)]
pub(super) struct Channel {
    /// Parts that are not acknowledged, from number `first` on, and whether each ends a message.
    parts: VecDeque<(Vec<u8>, bool)>,
    first: u32,
    /// The number of parts in `parts` that have been sent.
    sent: usize,
    pause: Duration,
    /// The time at which the parts are sent again.
    pub timer: Option<Duration>,
    /// The number of parts that have come (`received`), and the bytes of the message that is being
    /// received (`message`).
    received: u32,
    message: Vec<u8>,
}

impl Channel {
    pub fn push(&mut self, message: &[u8]) {
        let count = message.len().div_ceil(PART);
        let parts = message.chunks(PART).zip(1..);
        let parts = parts.map(|(part, number)| (part.to_vec(), number == count));
        self.parts.extend(parts);
    }

    /// Sends the parts that have not been sent, as far as the window permits.
    pub fn flush(&mut self, now: Duration, resending: Resending, mut send: impl FnMut(Body)) {
        let parts = self.parts.iter().enumerate().take(WINDOW).skip(self.sent);
        for (at, (bytes, is_last)) in parts {
            send(Body::Part {
                number: self.first.wrapping_add(at as u32),
                received: self.received,
                is_last: *is_last,
                bytes: bytes.clone(),
            });
            self.sent = at + 1;
        }
        match (self.sent, self.timer) {
            (0, _) => self.timer = None,
            (_, None) => {
                self.pause = self.pause.max(resending.first);
                self.timer = Some(now + self.pause);
            }
            _ => {}
        }
    }

    /// Handles the timer: all parts that are not acknowledged are sent again.
    pub fn expired(&mut self, resending: Resending) {
        self.sent = 0;
        self.timer = None;
        self.pause = (2 * self.pause).min(resending.most);
    }

    /// Records that the other end has received this number of parts.
    pub fn acknowledged(&mut self, received: u32) {
        let count = received.wrapping_sub(self.first) as usize;
        if count == 0 || count > self.sent {
            return;
        }
        self.parts.drain(..count);
        self.first = received;
        self.sent -= count;
        self.pause = Duration::ZERO;
        self.timer = None;
    }

    pub fn received(&self) -> u32 {
        self.received
    }

    /// Handles a part. Returns the message if the part is its last part.
    pub fn receive(&mut self, number: u32, is_last: bool, bytes: &[u8]) -> Option<Vec<u8>> {
        if number != self.received || self.message.len() + bytes.len() > MESSAGE_MAX {
            return None;
        }
        self.received = self.received.wrapping_add(1);
        self.message.extend(bytes);
        is_last.then(|| std::mem::take(&mut self.message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_fuzzing::Random;

    /// Messages in both directions over a link that loses a third of all packets, and delivers the
    /// others in any order, some twice.
    #[test]
    fn messages_come_in_order_whatever_is_lost() {
        let mut random = Random::new(5);
        let resending = Resending::default();
        let mut ends = [Channel::default(), Channel::default()];
        let lengths = [1, 1023, 1024, 1025, 100_000, 7, 2048];
        let messages: Vec<Vec<u8>> = lengths
            .iter()
            .map(|len| (0..*len).map(|_| random.next() as u8).collect())
            .collect();
        let mut come = [Vec::new(), Vec::new()];
        let mut flying: Vec<(usize, Body)> = Vec::new();
        for end in &mut ends {
            messages.iter().for_each(|message| end.push(message));
        }
        for tick in 0..1_000_000 {
            let now = Duration::from_micros(tick);
            for (at, end) in ends.iter_mut().enumerate() {
                if end.timer.is_some_and(|timer| timer <= now) {
                    end.expired(resending);
                }
                end.flush(now, resending, |body| flying.push((1 - at, body)));
            }
            if flying.is_empty() {
                continue;
            }
            let place = random.below(flying.len());
            let (to, body) = match random.below(6) {
                0 | 1 => {
                    flying.swap_remove(place);
                    continue;
                }
                2 => flying[place].clone(),
                _ => flying.swap_remove(place),
            };
            match body {
                Body::Part {
                    number,
                    received,
                    is_last,
                    bytes,
                } => {
                    ends[to].acknowledged(received);
                    come[to].extend(ends[to].receive(number, is_last, &bytes));
                    let received = ends[to].received();
                    flying.push((1 - to, Body::Received { received }));
                }
                Body::Received { received } => ends[to].acknowledged(received),
                other => panic!("{other:?}"),
            }
            if ends.iter().all(|end| end.parts.is_empty()) {
                break;
            }
        }
        assert_eq!(come, [messages.clone(), messages]);
        assert!(ends.iter().all(|end| end.parts.is_empty()));
    }

    #[test]
    fn what_nobody_can_have_sent_changes_nothing() {
        let mut channel = Channel::default();
        channel.push(&[0; 3000]);
        channel.flush(Duration::ZERO, Resending::default(), |_| ());
        let before = format!("{channel:?}");
        channel.acknowledged(4);
        channel.acknowledged(u32::MAX);
        assert_eq!(channel.receive(1, true, b"x"), None);
        assert_eq!(format!("{channel:?}"), before);
    }
}
