//! The swap barrier: frames are shown one after the other, each when all servers have shown the
//! frame before.

use mgn_wire::frames::Release;
use std::collections::VecDeque;

/// Complete frames, in order, with their parts. The caller fetches and performs the next step.
pub struct Barrier<P> {
    frames: VecDeque<Waiting<P>>,
}

struct Waiting<P> {
    frame: Release,
    /// By tile, whether its server still has to show the frame.
    by: Vec<bool>,
    /// None once the frame has been shown.
    parts: Option<P>,
}

/// What the caller must do.
#[derive(Debug, PartialEq)]
pub enum Step<P> {
    /// The frame must be shown, and the servers of these tiles must show it, too.
    Show(Release, Vec<bool>, P),
    /// It has been shown everywhere.
    Finish(Release),
}

impl<P> Barrier<P> {
    pub fn new() -> Barrier<P> {
        Barrier {
            frames: VecDeque::new(),
        }
    }

    /// A frame is complete. `by` says for each tile whether its server is to show it.
    pub fn add(&mut self, frame: Release, by: Vec<bool>, parts: P) {
        let parts = Some(parts);
        self.frames.push_back(Waiting { frame, by, parts });
    }

    pub fn holds(&self, frame: Release) -> bool {
        self.frames.iter().any(|waiting| waiting.frame == frame)
    }

    /// None while a tile must be waited for.
    pub fn next(&mut self) -> Option<Step<P>> {
        let first = self.frames.front_mut()?;
        let frame = first.frame;
        if let Some(parts) = first.parts.take() {
            return Some(Step::Show(frame, first.by.clone(), parts));
        }
        if first.by.contains(&true) {
            return None;
        }
        self.frames.pop_front();
        Some(Step::Finish(frame))
    }

    /// Whether the next step is to show a frame that servers show, too.
    pub fn is_to_release(&self) -> bool {
        let first = self.frames.front();
        first.is_some_and(|first| first.parts.is_some() && first.by.contains(&true))
    }

    /// The server of `tile` reports that it has shown a frame. Returns whether it was told to.
    pub fn shown(&mut self, tile: usize, frame: Release) -> bool {
        let first = self.frames.front_mut();
        let first = first.filter(|first| first.parts.is_none() && first.frame == frame);
        first.is_some_and(|first| std::mem::take(&mut first.by[tile]))
    }

    /// The server of `tile` is lost: no frame waits for it any more.
    pub fn lose(&mut self, tile: usize) {
        self.frames.iter_mut().for_each(|f| f.by[tile] = false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(frame: u32) -> Release {
        Release { surface: 1, frame }
    }

    /// A barrier with frames 1 to 3, which tiles 0 and 1 of three are to show.
    fn three() -> Barrier<()> {
        let mut barrier = Barrier::new();
        (1..=3).for_each(|n| barrier.add(frame(n), vec![true, true, false], ()));
        barrier
    }

    fn show(n: u32, by: [bool; 3]) -> Option<Step<()>> {
        Some(Step::Show(frame(n), by.to_vec(), ()))
    }

    #[test]
    fn a_frame_waits_until_all_have_shown_the_one_before() {
        let mut barrier = three();
        for n in 1..=3 {
            assert!(barrier.is_to_release());
            assert_eq!(barrier.next(), show(n, [true, true, false]));
            assert!(!barrier.is_to_release());
            assert_eq!(barrier.next(), None);
            assert!(barrier.shown(1, frame(n)));
            assert_eq!(barrier.next(), None);
            assert!(barrier.holds(frame(n)));
            assert!(barrier.shown(0, frame(n)));
            assert_eq!(barrier.next(), Some(Step::Finish(frame(n))));
            assert!(!barrier.holds(frame(n)));
        }
        assert_eq!(barrier.next(), None);
    }

    #[test]
    fn what_no_server_shows_waits_for_nobody() {
        let mut barrier = Barrier::new();
        barrier.add(frame(1), vec![false; 3], ());
        assert!(!barrier.is_to_release());
        assert_eq!(barrier.next(), show(1, [false; 3]));
        assert_eq!(barrier.next(), Some(Step::Finish(frame(1))));
    }

    #[test]
    fn nobody_waits_for_a_lost_server() {
        let mut barrier = three();
        assert_eq!(barrier.next(), show(1, [true, true, false]));
        assert!(barrier.shown(0, frame(1)));
        barrier.lose(1);
        assert_eq!(barrier.next(), Some(Step::Finish(frame(1))));
        assert_eq!(barrier.next(), show(2, [true, false, false]));
        assert_eq!(barrier.next(), None);
        // The tile's next server shows the next frame that is complete.
        barrier.add(frame(4), vec![true, true, false], ());
        assert!(barrier.shown(0, frame(2)));
        assert_eq!(barrier.next(), Some(Step::Finish(frame(2))));
        barrier.lose(0);
        assert_eq!(barrier.next(), show(3, [false; 3]));
        assert_eq!(barrier.next(), Some(Step::Finish(frame(3))));
        assert_eq!(barrier.next(), show(4, [false, true, false]));
    }

    #[test]
    fn nothing_counts_that_was_not_to_be_shown() {
        let mut barrier = three();
        assert!(!barrier.shown(0, frame(1)), "before it is released");
        assert_eq!(barrier.next(), show(1, [true, true, false]));
        assert!(!barrier.shown(0, frame(2)), "another frame");
        assert!(
            !barrier.shown(2, frame(1)),
            "shown by a tile out of the frame"
        );
        assert!(barrier.shown(0, frame(1)));
        assert!(!barrier.shown(0, frame(1)), "twice");
        assert_eq!(barrier.next(), None);
    }
}
