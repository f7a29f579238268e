//! What is measured.

use crate::run::{Machine, Sample, Way};
use anyhow::Result;

/// A program, the value that it prints, and the ways in which it is run. The first way is what the others are compared with.
pub struct Row {
    pub name: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
    value: &'static str,
    pub unit: &'static str,
    /// Values are multiplied by this for printing.
    pub scale: f64,
    /// Whether less is better, so that the ratio is turned round.
    less: bool,
    ways: &'static [Way],
    /// (way, least ratio) that is wanted.
    pub wanted: &'static [(Way, f64)],
}

pub struct RowResult {
    pub row: Row,
    /// For each way, the samples of all rounds.
    pub samples: Vec<(Way, Vec<Sample>)>,
}

impl Row {
    pub fn measure(self, machine: &Machine, rounds: usize) -> Result<RowResult> {
        let mut samples: Vec<(Way, Vec<Sample>)> =
            self.ways.iter().map(|w| (*w, Vec::new())).collect();
        for _ in 0..rounds {
            for (way, samples) in &mut samples {
                samples.push(machine.run(*way, self.program, self.arguments, self.value)?);
            }
        }
        Ok(RowResult { row: self, samples })
    }
}

impl RowResult {
    /// Ratios of a way to the first, round by round; more is better.
    pub fn ratios(&self, index: usize) -> Vec<f64> {
        let (base, of) = (&self.samples[0].1, &self.samples[index].1);
        let ratio = |(b, o): (&Sample, &Sample)| {
            if self.row.less {
                b.value / o.value
            } else {
                o.value / b.value
            }
        };
        base.iter().zip(of).map(ratio).collect()
    }
}

const FRAMES: &str = "frames_per_second";
const TRIANGLES: &str = "triangles_per_second";
const ALL: &[Way] = &[Way::Direct, Way::Null, Way::Discard, Way::Shm, Way::Tcp];
const RENDERED: &[Way] = &[Way::Direct, Way::Shm, Way::Tcp];

const fn iso(
    name: &'static str,
    arguments: &'static [&'static str],
    ways: &'static [Way],
    wanted: &'static [(Way, f64)],
) -> Row {
    Row {
        name,
        program: "demos/iso_demo",
        arguments,
        value: TRIANGLES,
        unit: "M triangles/s",
        scale: 1e-6,
        less: false,
        ways,
        wanted,
    }
}

/// A scene of glmark2.
const fn glmark(name: &'static str, arguments: &'static [&'static str]) -> Row {
    Row {
        name,
        program: "glmark2",
        arguments,
        value: "",
        unit: "frames/s",
        scale: 1.0,
        less: false,
        ways: &[Way::Direct, Way::Unseen, Way::Shm],
        wanted: &[(Way::Unseen, 0.9), (Way::Shm, 0.7)],
    }
}

/// A program that reads nothing back, as far away as loopback and farther: its frames may take 1.3 times as long.
const fn far(
    name: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
    value: &'static str,
) -> Row {
    Row {
        name,
        program,
        arguments,
        value,
        unit: "frames/s",
        scale: 1.0,
        less: false,
        ways: &[Way::Relayed, Way::Far],
        wanted: &[(Way::Far, 1.0 / 1.3)],
    }
}

const fn call(name: &'static str, value: &'static str, wanted: &'static [(Way, f64)]) -> Row {
    Row {
        name,
        program: "bench/calls",
        arguments: &[],
        value,
        unit: "ns",
        scale: 1.0,
        less: true,
        ways: RENDERED,
        wanted,
    }
}

pub fn all() -> Vec<Row> {
    vec![
        iso(
            "iso_demo --cull, immediate",
            &["--cull", "--mode", "immediate", "--frames", "80", "--json"],
            ALL,
            &[(Way::Null, 4.0), (Way::Shm, 3.0), (Way::Tcp, 1.5)],
        ),
        iso(
            "iso_demo --cull, arrays",
            &["--cull", "--mode", "arrays", "--frames", "100", "--json"],
            ALL,
            &[(Way::Shm, 0.8)],
        ),
        iso(
            "iso_demo --cull, vbo",
            &["--cull", "--mode", "vbo", "--frames", "100", "--json"],
            ALL,
            &[(Way::Shm, 0.8)],
        ),
        iso(
            "iso_demo --cull, static",
            &["--cull", "--mode", "static", "--frames", "100", "--json"],
            RENDERED,
            &[(Way::Shm, 0.95)],
        ),
        iso(
            "iso_demo, immediate",
            &["--mode", "immediate", "--frames", "15", "--json"],
            RENDERED,
            &[],
        ),
        Row {
            name: "glxgears 300x300",
            program: "glxgears",
            arguments: &[],
            value: "",
            unit: "frames/s",
            scale: 1.0,
            less: false,
            ways: RENDERED,
            wanted: &[(Way::Shm, 0.8)],
        },
        Row {
            name: "glReadPixels 1x1",
            program: "bench/calls",
            arguments: &[],
            value: "read_pixels_per_second",
            unit: "k/s",
            scale: 1e-3,
            less: false,
            ways: RENDERED,
            wanted: &[],
        },
        glmark(
            "glmark2 build",
            &["-s", "800x600", "-b", "build:duration=4"],
        ),
        glmark(
            "glmark2 texture",
            &["-s", "800x600", "-b", "texture:duration=4"],
        ),
        glmark(
            "glmark2 buffer",
            &[
                "-s",
                "800x600",
                "-b",
                "buffer:update-method=subdata:duration=4",
            ],
        ),
        glmark(
            "glmark2 shading",
            &["-s", "800x600", "-b", "shading:duration=4"],
        ),
        far(
            "rings, farther away",
            "demos/rings",
            &["--frames", "600", "--json"],
            FRAMES,
        ),
        far(
            "iso_demo static, farther",
            "demos/iso_demo",
            &["--mode", "static", "--cull", "--frames", "60", "--json"],
            FRAMES,
        ),
        far(
            "glmark2 build, farther",
            "glmark2",
            &["-s", "800x600", "-b", "build:duration=4"],
            "",
        ),
        call("glLoadIdentity", "load_identity_ns", &[]),
        call("glTranslatef", "translate_ns", &[]),
        call("glColor4f", "color_ns", &[]),
        call("glNormal3f + glVertex3f", "normal_vertex_ns", &[]),
        call("glGetIntegerv", "get_integer_ns", &[(Way::Shm, 1.0)]),
        call("glGetError", "get_error_ns", &[]),
    ]
}
