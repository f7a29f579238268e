//! The client's knowledge of a context's error.

/// The client's knowledge of a context's error.
#[derive(Default)]
pub struct ErrorState {
    /// An error that a round trip reported and the program has not asked for.
    reported: u32,
}

impl ErrorState {
    /// Whether an error is known that the program has not asked for. After a round trip without
    /// one, the command had no error.
    #[inline]
    pub fn is_reported(&self) -> bool {
        self.reported != 0
    }

    /// A round trip brought the context's error, 0 for none. The first one counts.
    pub fn report(&mut self, code: u32) {
        if self.reported == 0 {
            self.reported = code;
        }
    }

    /// The program has asked for the error.
    pub fn clear(&mut self) {
        self.reported = 0;
    }
}
