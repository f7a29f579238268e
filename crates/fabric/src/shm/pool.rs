//! The writer's private bookkeeping of its chunks.

use std::collections::VecDeque;

use crate::block::ALIGN;

/// Part of a chunk, from `offset` to the chunk's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) chunk: u32,
    pub(crate) offset: u32,
}

/// The rule by which the pool chooses the chunk to use next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reuse {
    /// Reuse the chunk that was released first, among the chunks that have rested enough. After
    /// many chunks have been flying at the same time, a stream goes on using all these chunks in
    /// turn. This is faster as long as the last-level cache can hold these chunks and the memory of
    /// the sending and receiving programs. The probable reason is that the chunks' lines have left
    /// the caches of the reader's processor before they are written again.
    Oldest,
    /// Reuse the chunk that was released last, among the chunks that have rested enough. A stream
    /// then uses few chunks, so that they do not displace other memory from the last-level cache.
    Latest,
    /// Reuse the chunk that was released last, without a rest. This is for ends that take turns on
    /// the same processors: with many processes, the memory of all links together is then as small
    /// as possible, and stays in the caches.
    AtOnce,
}

/// The states of the chunks. A chunk is in exactly one of five states. It is *free*; *held* by a
/// reservation; *open*, which means partly filled and not held; *flying*, while the reader has not
/// released all its messages; or *resting*, after the reader has released all its messages.
///
/// A stream of messages uses few chunks, so that they stay in the caches of both ends. Except with
/// [`Reuse::AtOnce`], a stream does not reuse the chunks that were released last, because their
/// cache lines are still moving between the caches. With 256 KiB of resting chunks, messages of 16
/// to 64 KiB are 1.5 times as fast (15 GB/s instead of 9.6) on a Xeon whose processors share only
/// the last-level cache.
#[derive(Debug)]
pub(crate) struct Pool {
    chunk: u32,
    /// For each chunk, the number of messages sent in it so far, modulo 2^32.
    sent: Vec<u32>,
    free: Vec<u32>,
    /// Resting chunks, in the order in which they were released.
    resting: VecDeque<u32>,
    /// The number of chunks that rest while other chunks are available.
    rest: usize,
    open: Vec<Span>,
    flying: VecDeque<u32>,
}

/// The maximum number of open chunks. If there are more, the fullest one is closed.
const OPEN: usize = 2;

/// The number of bytes of resting chunks.
const REST: u32 = 256 << 10;

impl Pool {
    pub(crate) fn new(chunk: u32, chunks: u32) -> Pool {
        Pool {
            chunk,
            sent: vec![0; chunks as usize],
            free: (0..chunks).rev().collect(),
            resting: VecDeque::new(),
            rest: (REST / chunk) as usize,
            open: Vec::new(),
            flying: VecDeque::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.sent.len()
    }

    /// The chunk that has been flying longest.
    pub(crate) fn oldest(&self) -> Option<u32> {
        self.flying.front().copied()
    }

    /// For each chunk, the number of messages sent in it so far, modulo 2^32.
    pub(crate) fn sent(&self) -> &[u32] {
        &self.sent
    }

    /// The number of flying chunks, after released ones have been reclaimed.
    pub(crate) fn flying(&mut self, is_released: impl Fn(u32, u32) -> bool) -> usize {
        self.reclaim(is_released);
        self.flying.len()
    }

    /// Takes space for `len` bytes, which are at most a chunk. `is_released` gets a chunk and the
    /// number of messages sent in it, modulo 2^32, and returns whether all of them are released.
    pub(crate) fn take(
        &mut self,
        len: u32,
        is_released: impl Fn(u32, u32) -> bool,
    ) -> Option<Span> {
        self.take_by(Reuse::Oldest, len, is_released)
    }

    /// Does the same as [`Pool::take`], but chooses chunks by `reuse`.
    pub(crate) fn take_by(
        &mut self,
        reuse: Reuse,
        len: u32,
        is_released: impl Fn(u32, u32) -> bool,
    ) -> Option<Span> {
        let room = |span: &Span| self.chunk - span.offset >= len;
        if let Some(at) = self.open.iter().rposition(room) {
            return Some(self.open.remove(at));
        }
        self.reclaim(&is_released);
        let chunk = self.next_free(reuse).or_else(|| {
            self.close_open(&is_released);
            self.any(&is_released)
        })?;
        Some(Span { chunk, offset: 0 })
    }

    /// Counts a message that is committed in a held chunk.
    pub(crate) fn commit(&mut self, chunk: u32) {
        let sent = &mut self.sent[chunk as usize];
        *sent = sent.wrapping_add(1);
    }

    /// Ends a reservation. Another reservation may use the rest of its chunk.
    pub(crate) fn give(&mut self, rest: Span, is_released: impl Fn(u32, u32) -> bool) {
        if rest.offset == 0 {
            self.free.push(rest.chunk);
            return;
        }
        // Read the reader's counter only for chunks that are used up. The counter's cache line is
        // in the reader's cache, and to fetch it takes as long as to send a short message.
        let mut done = Some(rest).filter(|rest| self.chunk - rest.offset < ALIGN as u32);
        if done.is_none() {
            self.open.push(rest);
            if self.open.len() > OPEN {
                let fullest = (0..self.open.len()).max_by_key(|at| self.open[*at].offset);
                done = fullest.map(|at| self.open.remove(at));
            }
        }
        if let Some(Span { chunk, .. }) = done {
            match self.all_released(chunk, is_released) {
                true => self.resting.push_back(chunk),
                false => self.flying.push_back(chunk),
            }
        }
    }

    /// Whether reservations hold every chunk, so that no reader can release one.
    pub(crate) fn all_held(&self) -> bool {
        self.free.is_empty()
            && self.resting.is_empty()
            && self.open.is_empty()
            && self.flying.is_empty()
    }

    /// The next chunk to use. If no chunk has rested enough, this is a free chunk, or else the
    /// chunk that has rested longest. With [`Reuse::AtOnce`], this is the chunk that was released
    /// last, or else a free chunk.
    fn next_free(&mut self, reuse: Reuse) -> Option<u32> {
        let rested = self.resting.len().checked_sub(self.rest + 1);
        match (rested, reuse) {
            (_, Reuse::AtOnce) => self.resting.pop_back().or_else(|| self.free.pop()),
            (Some(latest), Reuse::Latest) => self.resting.remove(latest),
            (Some(_), Reuse::Oldest) => self.resting.pop_front(),
            (None, _) => self.free.pop().or_else(|| self.resting.pop_front()),
        }
    }

    fn all_released(&self, chunk: u32, is_released: impl Fn(u32, u32) -> bool) -> bool {
        is_released(chunk, self.sent[chunk as usize])
    }

    /// Reclaims released chunks from the front of the flying queue.
    fn reclaim(&mut self, is_released: impl Fn(u32, u32) -> bool) {
        while let Some(chunk) = self.flying.front().copied() {
            if !self.all_released(chunk, &is_released) {
                return;
            }
            self.flying.pop_front();
            self.resting.push_back(chunk);
        }
    }

    fn any(&mut self, is_released: impl Fn(u32, u32) -> bool) -> Option<u32> {
        let at = self
            .flying
            .iter()
            .position(|chunk| self.all_released(*chunk, &is_released))?;
        self.flying.remove(at)
    }

    fn close_open(&mut self, is_released: impl Fn(u32, u32) -> bool) {
        // Put released chunks at the front, so that `any` finds them early.
        while let Some(span) = self.open.pop() {
            match self.all_released(span.chunk, &is_released) {
                true => self.flying.push_front(span.chunk),
                false => self.flying.push_back(span.chunk),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNK: u32 = 4096;

    const LARGE_CHUNK: u32 = 64 << 10;
    const REST_CHUNKS: usize = (REST / LARGE_CHUNK) as usize;

    /// Sends a message that fills a chunk. Returns the chunk.
    fn send(pool: &mut Pool, reuse: Reuse, released: &[u32]) -> u32 {
        let is_released = |chunk: u32, sent| released[chunk as usize] == sent;
        let span = pool.take_by(reuse, LARGE_CHUNK, is_released).unwrap();
        assert_eq!(span.offset, 0);
        pool.commit(span.chunk);
        let offset = LARGE_CHUNK;
        pool.give(Span { offset, ..span }, is_released);
        span.chunk
    }

    /// Sends messages, releases each before it sends the next, and returns their chunks. Checks
    /// that each chunk rests before it is used again.
    fn stream(pool: &mut Pool, reuse: Reuse, released: &mut [u32]) -> Vec<u32> {
        let mut used = Vec::new();
        for _ in 0..1000 {
            let chunk = send(pool, reuse, released);
            released[chunk as usize] += 1;
            used.push(chunk);
        }
        let rest = match reuse {
            Reuse::AtOnce => 0,
            Reuse::Oldest | Reuse::Latest => REST_CHUNKS,
        };
        let mut windows = used.windows(rest + 1);
        assert!(windows.all(|chunks| different(chunks) == rest + 1));
        used
    }

    fn different(chunks: &[u32]) -> usize {
        chunks
            .iter()
            .collect::<std::collections::BTreeSet<_>>()
            .len()
    }

    #[test]
    fn a_stream_cycles_through_few_chunks_that_rest_in_between() {
        for reuse in [Reuse::Oldest, Reuse::Latest] {
            let mut pool = Pool::new(LARGE_CHUNK, 32);
            let used = stream(&mut pool, reuse, &mut [0; 32]);
            assert!(different(&used) <= REST_CHUNKS + 2, "{used:?}");
        }
    }

    #[test]
    fn after_all_chunks_were_in_use_a_stream_uses_all_or_few_of_them() {
        let few = [(Reuse::Latest, REST_CHUNKS + 1), (Reuse::AtOnce, 1)];
        for (reuse, wanted) in [(Reuse::Oldest, 32)].into_iter().chain(few) {
            let mut pool = Pool::new(LARGE_CHUNK, 32);
            let mut released = [0; 32];
            let burst: Vec<u32> = (0..32).map(|_| send(&mut pool, reuse, &released)).collect();
            assert_eq!(different(&burst), 32);
            released.fill(1);
            let used = stream(&mut pool, reuse, &mut released);
            assert_eq!(different(&used), wanted, "{used:?}");
        }
    }

    #[test]
    fn small_messages_share_a_chunk() {
        let mut pool = Pool::new(CHUNK, 2);
        let mut offset = 0;
        for _ in 0..CHUNK / 64 {
            let span = pool.take(8, |_, sent| sent == 0).unwrap();
            assert_eq!((span.chunk, span.offset), (0, offset));
            pool.commit(span.chunk);
            offset += 64;
            pool.give(Span { offset, ..span }, |_, sent| sent == 0);
        }
        assert_eq!(
            pool.take(8, |_, sent| sent == 0),
            Some(Span {
                chunk: 1,
                offset: 0
            })
        );
    }

    #[test]
    fn everything_comes_back_in_any_order() {
        let mut pool = Pool::new(CHUNK, 4);
        let mut released = [0; 4];
        for round in 0..100 {
            let mut spans = Vec::new();
            while let Some(span) = pool.take(2000, |chunk, sent| released[chunk as usize] == sent) {
                pool.commit(span.chunk);
                let rest = Span {
                    offset: span.offset + 1024,
                    ..span
                };
                spans.push(span.chunk);
                if round % 2 == 0 {
                    pool.give(rest, |chunk, sent| released[chunk as usize] == sent);
                } else {
                    pool.give(
                        Span {
                            offset: CHUNK,
                            ..rest
                        },
                        |chunk, sent| released[chunk as usize] == sent,
                    );
                }
            }
            assert!(spans.len() >= 4);
            assert!(!pool.all_held());
            let middle = spans.len() / (1 + round % 3);
            spans.rotate_left(middle % 4);
            for chunk in spans {
                released[chunk as usize] += 1;
            }
        }
    }

    #[test]
    fn held_chunks_are_nobody_elses() {
        let mut pool = Pool::new(CHUNK, 2);
        let first = pool.take(1, |_, sent| sent == 0).unwrap();
        let second = pool.take(1, |_, sent| sent == 0).unwrap();
        assert_ne!(first.chunk, second.chunk);
        assert!(pool.all_held());
        assert_eq!(pool.take(1, |_, sent| sent == 0), None);
        pool.give(first, |_, sent| sent == 0);
        assert_eq!(
            pool.take(1, |_, sent| sent == 0),
            Some(first),
            "unused, so it starts at offset 0 again"
        );
    }
}
