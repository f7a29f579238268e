//! The limit on memory for a program's objects. When a session has reached its limit, the driver
//! gets no more memory, and raises GL_OUT_OF_MEMORY.

use rustix::process::{getrlimit, prlimit, Resource, Rlimit};

/// Buffers below this size are not worth two system calls.
const SMALL: i64 = 64 << 10;

/// How much private memory the process may have while it makes storage.
#[derive(Debug, Clone)]
pub(crate) struct Storage {
    most: Option<u64>,
    /// The limit that the process started with.
    own: Rlimit,
}

/// While this lives, the process gets no memory beyond the limit. It is used only during commands
/// that make storage: other parts of the driver may not be able to handle a lack of memory.
pub(crate) struct Refusing(Rlimit);

impl Default for Storage {
    fn default() -> Storage {
        Storage {
            most: None,
            own: getrlimit(Resource::Data),
        }
    }
}

impl Storage {
    /// Limits memory to `more` bytes beyond what the process has now.
    pub fn limit(&mut self, more: u64) {
        self.most = mapped().map(|bytes| bytes.saturating_add(more));
    }

    pub fn make(&self) -> Option<Refusing> {
        let most = self.most?;
        let limit = Rlimit {
            current: Some(self.own.current.map_or(most, |own| own.min(most))),
            ..self.own
        };
        prlimit(None, Resource::Data, limit).ok().map(Refusing)
    }

    /// Applies the limit while a buffer of `size` bytes is made.
    pub fn make_buffer(&self, size: i64) -> Option<Refusing> {
        (size >= SMALL).then(|| self.make()).flatten()
    }
}

impl Drop for Refusing {
    fn drop(&mut self) {
        // This cannot fail: the limit was the same before, and the hard limit has not changed.
        let _ = prlimit(None, Resource::Data, self.0);
    }
}

/// Bytes of private memory that the process has mapped, used or not, as the system counts them for
/// the limit.
fn mapped() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(5)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_refused_while_storage_is_made() {
        let mut storage = Storage::default();
        assert!(storage.make().is_none());
        storage.limit(64 << 20);
        let reserve = || Vec::<u8>::new().try_reserve_exact(256 << 20);
        assert!(reserve().is_ok());
        {
            let _refusing = storage.make().expect("a limit");
            assert!(reserve().is_err());
        }
        assert!(reserve().is_ok());
        assert!(storage.make_buffer(100).is_none());
        assert!(storage.make_buffer(SMALL).is_some());
    }
}
