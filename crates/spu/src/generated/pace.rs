//! Written by `cargo xtask generate` from docs/spu.md.
//!
//! `pace`: waits before each frame is shown, to see what a slow server does to a program.

use crate::chain::{Does, Kind, Parameter, Spu};
use mgn_wire::{Commands, Fault};
use std::thread;
use std::time::Duration;

pub const SPU: Spu = Spu {
    name: "pace",
    about: "waits before each frame is shown",
    does: Does::Look,
    parameters: &[Parameter { name: "ms", kind: Kind::Count, default: Some("100"), about: "milliseconds to wait" }],
    build: |given, _, next| {
        let pause = Duration::from_millis(given.count("ms"));
        Ok(Box::new(Pace { next, pause }))
    },
};

struct Pace {
    next: Box<dyn Commands>,
    pause: Duration,
}

impl Commands for Pace {
    fn next(&mut self) -> &mut dyn Commands {
        &mut *self.next
    }

    fn mgn_swap_buffers(&mut self, surface: u32, frame: u32, want: u32) -> Result<(), Fault> {
        thread::sleep(self.pause);
        self.next.mgn_swap_buffers(surface, frame, want)
    }
}
