//! The client's knowledge of a context's error.

/// The client's knowledge of a context's error.
#[derive(Default)]
pub struct ErrorState {
    /// An error that a round trip has reported and the program has not queried yet.
    reported: u32,
}

impl ErrorState {
    /// Whether an error is known that the program has not queried. If a round trip reports none,
    /// the command had no error.
    #[inline]
    pub fn is_reported(&self) -> bool {
        self.reported != 0
    }

    /// Records the context's error from a round trip, 0 for none. The first error is kept.
    pub fn report(&mut self, code: u32) {
        if self.reported == 0 {
            self.reported = code;
        }
    }

    /// The program has queried the error.
    pub fn clear(&mut self) {
        self.reported = 0;
    }
}
