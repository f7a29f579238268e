//! Buffers for received messages, and their reuse.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::block::Block;
use crate::Error;

/// The receiver's memory. Buffers are made when they are first needed, up to the agreed number, and
/// are returned when their last message is dropped.
#[derive(Debug)]
pub(crate) struct ReceivePool {
    buffer: usize,
    most: usize,
    large_most: usize,
    state: Mutex<State>,
    came_back: Condvar,
}

#[derive(Debug, Default)]
struct State {
    spare: Vec<Block>,
    made: usize,
    /// Blocks of long messages, which are kept for the next long messages.
    large_spare: Vec<Block>,
    /// The bytes of long messages that have not been returned.
    large_out: usize,
}

/// The maximum number of blocks of long messages that are kept.
const LARGE_KEPT: usize = 2;

impl ReceivePool {
    /// Lends up to `pool` bytes in buffers of `buffer` bytes, but at least two buffers. For longer
    /// messages, lends up to `large_most` bytes more.
    pub(crate) fn new(buffer: usize, pool: usize, large_most: usize) -> ReceivePool {
        ReceivePool {
            buffer,
            most: (pool / buffer).max(2),
            large_most,
            state: Mutex::default(),
            came_back: Condvar::new(),
        }
    }

    pub(crate) fn buffer(&self) -> usize {
        self.buffer
    }

    /// Takes a buffer. Waits for up to `timeout` while all buffers are lent, and then returns
    /// `None`.
    pub(crate) fn take(&self, timeout: Duration) -> Option<Result<Block, Error>> {
        self.wait(timeout, |state| {
            if let Some(block) = state.spare.pop() {
                return Some(Ok(block));
            }
            (state.made < self.most).then(|| {
                let block = Block::new(self.buffer);
                state.made += usize::from(block.is_ok());
                block
            })
        })
    }

    /// Takes memory for a message of `len` bytes, which is longer than a buffer. This is a used
    /// block that is large enough, or a small block that can grow. Waits for up to `timeout` while
    /// too much memory is lent, and then returns `None`.
    pub(crate) fn take_large(&self, len: usize, timeout: Duration) -> Option<Result<Block, Error>> {
        self.wait(timeout, |state| {
            if state.large_out > 0 && state.large_out + len > self.large_most {
                return None;
            }
            let fit = state
                .large_spare
                .iter()
                .position(|block| block.size() >= len);
            let block = match fit {
                Some(at) => Ok(state.large_spare.swap_remove(at)),
                None => Block::new(self.buffer),
            };
            state.large_out += block.as_ref().map_or(0, Block::size);
            Some(block)
        })
    }

    /// Doubles the size of a block, up to `len`. Keeps its first `used` bytes.
    pub(crate) fn grow(&self, block: &mut Block, used: usize, len: usize) -> Result<(), Error> {
        let larger = Block::new((block.size() * 2).min(len))?;
        block.copy_to(0, &larger, 0, used);
        let mut state = self.state();
        state.large_out += larger.size() - block.size();
        drop(state);
        *block = larger;
        Ok(())
    }

    pub(crate) fn give(&self, block: Block, large: bool) {
        let mut state = self.state();
        if large {
            state.large_out -= block.size();
            state.large_spare.push(block);
            if state.large_spare.len() > LARGE_KEPT {
                state.large_spare.remove(0);
            }
        } else {
            state.spare.push(block);
        }
        drop(state);
        self.came_back.notify_one();
    }

    fn wait<T>(
        &self,
        timeout: Duration,
        mut attempt: impl FnMut(&mut State) -> Option<T>,
    ) -> Option<T> {
        let mut found = None;
        let waiting = self
            .came_back
            .wait_timeout_while(self.state(), timeout, |state| {
                found = attempt(state);
                found.is_none()
            });
        drop(waiting);
        found
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A block with received bytes, which returns to its `receive_pool` when its last message is
/// dropped.
pub(crate) struct Filled {
    block: Option<Block>,
    /// The pool to which the block returns, and whether it is the block of a long message.
    receive_pool: Option<(Arc<ReceivePool>, bool)>,
}

impl Filled {
    pub(crate) fn new(block: Block, receive_pool: Option<(Arc<ReceivePool>, bool)>) -> Filled {
        Filled {
            block: Some(block),
            receive_pool,
        }
    }

    pub(crate) fn block(&self) -> &Block {
        self.block.as_ref().expect("taken only on drop")
    }
}

impl Drop for Filled {
    fn drop(&mut self) {
        if let (Some(block), Some((receive_pool, large))) = (self.block.take(), &self.receive_pool)
        {
            receive_pool.give(block, *large);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lends_no_more_than_agreed() {
        let receive_pool = ReceivePool::new(1000, 2500, 5000);
        let first = receive_pool.take(Duration::ZERO).unwrap().unwrap();
        let _second = receive_pool.take(Duration::ZERO).unwrap().unwrap();
        assert!(receive_pool.take(Duration::from_millis(1)).is_none());
        receive_pool.give(first, false);
        assert!(receive_pool.take(Duration::ZERO).is_some());
    }

    #[test]
    fn long_messages_grow_and_are_bounded() {
        let receive_pool = ReceivePool::new(1000, 2000, 5000);
        let mut block = receive_pool
            .take_large(3500, Duration::ZERO)
            .unwrap()
            .unwrap();
        while block.size() < 3500 {
            let size = block.size();
            receive_pool.grow(&mut block, size, 3500).unwrap();
        }
        assert_eq!(block.size(), 3500);
        assert!(
            receive_pool.take_large(3500, Duration::ZERO).is_none(),
            "7000 would be too many"
        );
        let place = block.range(0, 1);
        receive_pool.give(block, true);
        assert_eq!(
            receive_pool
                .take_large(3000, Duration::ZERO)
                .unwrap()
                .unwrap()
                .range(0, 1),
            place
        );
    }
}
