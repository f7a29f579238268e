//! `perf`: what the frames of a program cost: time, vertices, primitives, bytes, changes of state.
//!
//! It counts what the stream shows. It cannot see numbers in buffers (indirect draws), and a patch
//! of any size counts as 3 vertices.

use crate::chain::{Built, Does, Given, Kind, Parameter, Spu, StageContext};
use crate::observe::{Call, Observe, Observer, Value, Values};
use mgn_wire::draws::{Draws, Run};
use mgn_wire::{gl, ops, Commands, Slice};
use std::collections::HashMap;
use std::io::Write;
use std::ops::AddAssign;
use std::time::{Duration, Instant};

pub const SPU: Spu = Spu {
    name: "perf",
    about: "frames, time, draws, vertices, primitives, bytes and changes of state",
    does: Does::Look,
    parameters: &[
        Parameter {
            name: "file",
            kind: Kind::File,
            default: Some(""),
            about: "the file to write to; by default standard error",
        },
        Parameter {
            name: "seconds",
            kind: Kind::Count,
            default: Some("1"),
            about: "a line each time this number of seconds has passed, and one for all at the end",
        },
    ],
    build,
};

fn build(given: &Given<'_>, context: &StageContext, next: Box<dyn Commands>) -> Built {
    let step = Duration::from_secs(given.count("seconds"));
    let perf = Perf::new(step, given.output("file", context)?);
    Ok(Box::new(Observe::new(perf, next)))
}

/// Writes a line when a frame ends and `step` has passed since the last line. Writes a line about
/// everything at the end.
pub struct Perf<W: Write> {
    step: Duration,
    begin: Instant,
    line_begin: Instant,
    /// Counts since the last line.
    recent: Sums,
    all: Sums,
    /// When the current command began.
    since: Instant,
    /// The primitive that glBegin began, and its vertices so far.
    open: Option<(u32, u64)>,
    /// The list that is being compiled, whether it is drawn too, and what it draws.
    compiling: Option<(i64, bool, Drawn)>,
    lists: HashMap<i64, Drawn>,
    out: W,
}

/// What has been drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Drawn {
    draws: u64,
    vertices: u64,
    primitives: u64,
}

impl AddAssign for Drawn {
    fn add_assign(&mut self, more: Drawn) {
        self.draws += more.draws;
        self.vertices += more.vertices;
        self.primitives += more.primitives;
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    frames: u64,
    drawn: Drawn,
    /// Commands that neither draw, nor need an answer, nor end a frame.
    changes: u64,
    bytes: u64,
    /// The time for which the rest of the chain worked.
    busy: Duration,
}

impl AddAssign for Sums {
    fn add_assign(&mut self, more: Sums) {
        self.frames += more.frames;
        self.drawn += more.drawn;
        self.changes += more.changes;
        self.bytes += more.bytes;
        self.busy += more.busy;
    }
}

impl<W: Write> Perf<W> {
    pub fn new(step: Duration, out: W) -> Perf<W> {
        let now = Instant::now();
        Perf {
            step,
            begin: now,
            line_begin: now,
            recent: Sums::default(),
            all: Sums::default(),
            since: now,
            open: None,
            compiling: None,
            lists: HashMap::new(),
            out,
        }
    }

    fn count(&mut self, call: &Call<'_>) {
        self.recent.bytes += call.bytes() as u64;
        match (self.drawn(call), &mut self.compiling) {
            (Some(drawn), Some((_, is_drawn, list))) => {
                *list += drawn;
                if *is_drawn {
                    self.recent.drawn += drawn;
                }
            }
            (Some(drawn), None) => self.recent.drawn += drawn,
            (None, _) if call.shows() => self.recent.frames += 1,
            (None, _) if !call.asks => self.recent.changes += 1,
            (None, _) => {}
        }
    }

    /// What a command draws; none if it does not draw.
    fn drawn(&mut self, call: &Call<'_>) -> Option<Drawn> {
        match call.op {
            ops::GL_NEW_LIST => {
                let is_drawn = call.integer("mode") == Some(gl::GL_COMPILE_AND_EXECUTE.into());
                self.compiling = Some((call.integer("list")?, is_drawn, Drawn::default()));
                None
            }
            ops::GL_END_LIST => {
                let (list, _, drawn) = self.compiling.take()?;
                self.lists.insert(list, drawn);
                None
            }
            ops::GL_CALL_LIST => Some(
                self.lists
                    .get(&call.integer("list")?)
                    .copied()
                    .unwrap_or_default(),
            ),
            ops::GL_BEGIN => {
                self.open = Some((call.integer("mode")? as u32, 0));
                Some(Drawn::default())
            }
            ops::GL_END => {
                let (mode, vertices) = self.open.take()?;
                Some(draw(mode, vertices, 1))
            }
            ops::MGN_RUN => self.run(call),
            _ if is_vertex(call) => {
                self.open.as_mut()?.1 += 1;
                Some(Drawn::default())
            }
            _ => drawn(call),
        }
    }

    fn run(&mut self, call: &Call<'_>) -> Option<Drawn> {
        let (
            Some(&Value::Array(Values::U8(layout))),
            Some(&Value::Data(vertices)),
            Some(&Value::Array(Values::U16(indices))),
        ) = (
            call.value("layout"),
            call.value("vertices"),
            call.value("indices"),
        )
        else {
            return None;
        };
        let (mode, flags) = (call.integer("mode")? as u32, call.integer("flags")? as u32);
        let run = Run::parse(mode, flags, layout, vertices, indices, Slice::null()).ok()?;
        let count = match run.indices.len() {
            0 => run.count.into(),
            n => n as u64,
        };
        if run.open {
            // glEnd counts these vertices, together with those that follow one by one.
            self.open = Some((mode, count));
            return Some(Drawn::default());
        }
        Some(draw(mode, count, 1))
    }

    fn write(&mut self, sums: &Sums, title: &str, took: Duration) {
        let took = took.as_secs_f64().max(1e-9);
        let frames = sums.frames.max(1) as f64;
        let drawn = sums.drawn;
        let line = format!(
            "{title}: {} frames, {:.1} a second, {:.3} ms each at work; a frame: {}; a second: {}\n",
            sums.frames,
            sums.frames as f64 / took,
            sums.busy.as_secs_f64() * 1e3 / frames,
            rates(&drawn, sums, frames),
            rates(&drawn, sums, took),
        );
        let _ = self.out.write_all(line.as_bytes());
    }
}

fn rates(drawn: &Drawn, sums: &Sums, by: f64) -> String {
    let rate = |n: u64| n as f64 / by;
    format!(
        "{:.0} draws, {:.0} vertices, {:.0} primitives, {:.0} bytes, {:.0} changes of state",
        rate(drawn.draws),
        rate(drawn.vertices),
        rate(drawn.primitives),
        rate(sums.bytes),
        rate(sums.changes),
    )
}

impl<W: Write> Observer for Perf<W> {
    fn before(&mut self, call: &Call<'_>) {
        self.count(call);
        self.since = Instant::now();
    }

    fn after(&mut self, call: &Call<'_>) {
        let now = Instant::now();
        self.recent.busy += now - self.since;
        let took = now - self.line_begin;
        if call.shows() && took >= self.step {
            let recent = std::mem::take(&mut self.recent);
            let title = format!("at {:.1} s", (now - self.begin).as_secs_f64());
            self.write(&recent, &title, took);
            self.all += recent;
            self.line_begin = now;
        }
    }

    fn end(&mut self) {
        let mut all = self.all;
        all += self.recent;
        let took = self.begin.elapsed();
        self.write(&all, &format!("all {:.1} s", took.as_secs_f64()), took);
    }
}

/// Whether it is glVertex in one of its forms.
fn is_vertex(call: &Call<'_>) -> bool {
    let rest = call.name().strip_prefix("glVertex").unwrap_or_default();
    rest.starts_with(|c: char| c.is_ascii_digit())
        || rest.starts_with('P') && !rest.starts_with("Po")
}

/// What a command draws itself; none if it does not draw. Clearing counts as a change of state.
fn drawn(call: &Call<'_>) -> Option<Drawn> {
    let mode = match ops::draws(call.op)? {
        Draws::Arrays => call.integer("mode")? as u32,
        Draws::Shapes if call.value("mode").is_none() => return Some(draw(gl::GL_QUADS, 4, 1)),
        Draws::Shapes | Draws::Pixels => {
            return Some(Drawn {
                draws: 1,
                ..Drawn::default()
            })
        }
        Draws::Run | Draws::Clears | Draws::Lists | Draws::Computes => return None,
    };
    let instances = call
        .integer("instancecount")
        .or(call.integer("instances"))
        .unwrap_or(1);
    let instances = instances.max(0) as u64;
    let counts = match call.value("count") {
        Some(Value::Array(Values::I32(counts))) => counts.to_vec(),
        _ => vec![call.integer("count").unwrap_or(0) as i32],
    };
    let mut all = Drawn::default();
    for count in counts {
        all += draw(mode, count.max(0) as u64, instances);
    }
    Some(all)
}

fn draw(mode: u32, vertices: u64, instances: u64) -> Drawn {
    let strip = |needed: u64| vertices.saturating_sub(needed - 1);
    let primitives = match mode {
        gl::GL_POINTS => vertices,
        gl::GL_LINES => vertices / 2,
        gl::GL_LINE_LOOP => vertices,
        gl::GL_LINE_STRIP => strip(2),
        gl::GL_TRIANGLE_STRIP | gl::GL_TRIANGLE_FAN => strip(3),
        gl::GL_QUADS | gl::GL_LINES_ADJACENCY => vertices / 4,
        gl::GL_QUAD_STRIP => strip(3) / 2,
        gl::GL_POLYGON => 1,
        gl::GL_LINE_STRIP_ADJACENCY => strip(4),
        gl::GL_TRIANGLES_ADJACENCY => vertices / 6,
        gl::GL_TRIANGLE_STRIP_ADJACENCY => strip(5) / 2,
        _ => vertices / 3,
    };
    Drawn {
        draws: 1,
        vertices: vertices * instances,
        primitives: primitives * instances,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primitives_follow_from_vertices() {
        let primitives = |mode, vertices| draw(mode, vertices, 1).primitives;
        assert_eq!(primitives(gl::GL_TRIANGLES, 7), 2);
        assert_eq!(primitives(gl::GL_TRIANGLE_STRIP, 7), 5);
        assert_eq!(primitives(gl::GL_TRIANGLE_FAN, 2), 0);
        assert_eq!(primitives(gl::GL_QUAD_STRIP, 6), 2);
        assert_eq!(primitives(gl::GL_QUADS, 8), 2);
        assert_eq!(primitives(gl::GL_LINE_STRIP, 1), 0);
        assert_eq!(primitives(gl::GL_TRIANGLE_STRIP_ADJACENCY, 8), 2);
        assert_eq!(
            draw(gl::GL_POINTS, 5, 3),
            Drawn {
                draws: 1,
                vertices: 15,
                primitives: 15
            }
        );
    }
}
