//! `print`: a readable trace, one line for every command.
//!
//! A line is written before its command is performed, so that the last one names the command that a
//! driver did not survive.

use crate::chain::{Built, Does, Given, Kind, Parameter, Spu, StageContext};
use crate::observe::{Call, Observe, Observer};
use mgn_wire::Commands;
use std::io::Write;

pub const SPU: Spu = Spu {
    name: "print",
    about: "a readable trace, one line for every command",
    does: Does::Look,
    parameters: &[Parameter {
        name: "file",
        kind: Kind::File,
        default: Some(""),
        about: "the file to write to; by default standard error",
    }],
    build,
};

fn build(given: &Given<'_>, context: &StageContext, next: Box<dyn Commands>) -> Built {
    let print = Print::new(given.output("file", context)?);
    Ok(Box::new(Observe::new(print, next)))
}

/// Writes `context name(argument=value, …)` for every command. Write errors are ignored: a trace
/// must not end a session.
pub struct Print<W: Write> {
    context: u32,
    out: W,
}

impl<W: Write> Print<W> {
    pub fn new(out: W) -> Print<W> {
        Print { context: 0, out }
    }
}

impl<W: Write> Observer for Print<W> {
    fn message(&mut self, context: u32) {
        self.context = context;
    }

    fn before(&mut self, call: &Call<'_>) {
        // In one piece, because several sessions may share standard error.
        let line = format!("{} {call}\n", self.context);
        let _ = self.out.write_all(line.as_bytes());
    }
}
