//! The measurements and the goals.

use anyhow::Result;
use mgn_bench::gl::program::{Play, Program, ResultKind, FRAMES};
use mgn_bench::gl::run::{RunMode, Sample, Servers};
use std::process::{Command, Stdio};

/// A program, and the modes in which it is run. The others are compared with the first one.
pub struct Row {
    pub name: &'static str,
    /// A shell command that fails if the program cannot be run.
    needs: &'static str,
    program: Program,
    pub unit: &'static str,
    /// The factor by which values are multiplied for printing.
    pub scale: f64,
    /// Whether smaller values are better, so that ratios are inverted.
    less: bool,
    modes: &'static [RunMode],
    /// Goals: a mode, and its smallest ratio.
    pub wanted: &'static [(RunMode, f64)],
    /// The goal for the first mode: its largest value.
    pub most: Option<f64>,
    /// The goal for the other modes: the largest difference from the first one.
    pub most_more: Option<f64>,
    /// Whether each run starts with empty caches.
    is_cold: bool,
}

pub struct RowResult {
    pub row: Row,
    /// For each mode, the samples of all rounds.
    pub samples: Vec<(RunMode, Vec<Sample>)>,
}

impl Row {
    /// The shell command that fails on this machine, if so.
    pub fn missing(&self) -> Option<&'static str> {
        let check = Command::new("sh")
            .args(["-c", self.needs])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        (!check.is_ok_and(|status| status.success())).then_some(self.needs)
    }

    pub fn measure(self, servers: &Servers, rounds: usize) -> Result<RowResult> {
        let mut samples: Vec<(RunMode, Vec<Sample>)> =
            self.modes.iter().map(|w| (*w, Vec::new())).collect();
        for _ in 0..rounds {
            for (mode, samples) in &mut samples {
                samples.push(match self.is_cold {
                    true => servers.run_cold(*mode, &self.program)?,
                    false => servers.run(*mode, &self.program)?,
                });
            }
        }
        Ok(RowResult { row: self, samples })
    }
}

impl RowResult {
    /// The ratios of a mode to the first one, for each round. Larger is better.
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

    /// The differences of a mode's values from those of the first one, for each round.
    pub fn differences(&self, index: usize) -> Vec<f64> {
        let (base, of) = (&self.samples[0].1, &self.samples[index].1);
        let difference = |(b, o): (&Sample, &Sample)| (o.value - b.value) * self.row.scale;
        base.iter().zip(of).map(difference).collect()
    }
}

const NOTHING: &str = "true";
const ALL: &[RunMode] = &[
    RunMode::Direct,
    RunMode::Null,
    RunMode::Discard,
    RunMode::Shm,
    RunMode::Tcp,
];
const RENDERED: &[RunMode] = &[RunMode::Direct, RunMode::Shm, RunMode::Tcp];
const CONFINED_OR_NOT: &[RunMode] = &[RunMode::Unconfined, RunMode::Own];
const SHOWN_OR_NOT: &[RunMode] = &[RunMode::Direct, RunMode::Unseen, RunMode::Shm];

/// A row for a program that prints its frames per second.
const fn frames(
    name: &'static str,
    needs: &'static str,
    program: Program,
    modes: &'static [RunMode],
    wanted: &'static [(RunMode, f64)],
) -> Row {
    Row {
        name,
        needs,
        program,
        unit: "frames/s",
        scale: 1.0,
        less: false,
        modes,
        wanted,
        most: None,
        most_more: None,
        is_cold: false,
    }
}

const fn iso(
    name: &'static str,
    arguments: &'static [&'static str],
    modes: &'static [RunMode],
    wanted: &'static [(RunMode, f64)],
) -> Row {
    Row {
        name,
        needs: NOTHING,
        program: Program::new(
            "demos/iso_demo",
            arguments,
            ResultKind::Json("triangles_per_second"),
        ),
        unit: "M triangles/s",
        scale: 1e-6,
        less: false,
        modes,
        wanted,
        most: None,
        most_more: None,
        is_cold: false,
    }
}

const GLMARK2: &str = "command -v glmark2";

/// A scene of glmark2.
const fn glmark(name: &'static str, arguments: &'static [&'static str]) -> Row {
    frames(
        name,
        GLMARK2,
        Program::new("glmark2", arguments, ResultKind::Glmark),
        SHOWN_OR_NOT,
        &[(RunMode::Unseen, 0.9), (RunMode::Shm, 0.7)],
    )
}

/// A scene of VTK.
const fn vtk(name: &'static str, arguments: &'static [&'static str]) -> Row {
    frames(
        name,
        "/usr/bin/python3 -c 'import vtk'",
        Program::new("/usr/bin/python3", arguments, ResultKind::Json(FRAMES)),
        SHOWN_OR_NOT,
        &[(RunMode::Shm, 0.9)],
    )
}

/// A program that reads nothing back, with and without a delay on the network. With the delay, its
/// frames may take 1.3 times as long.
const fn far(name: &'static str, needs: &'static str, program: Program) -> Row {
    let modes = &[RunMode::Relayed, RunMode::Far];
    frames(name, needs, program, modes, &[(RunMode::Far, 1.0 / 1.3)])
}

const BROADCAST: RunMode = RunMode::Broadcast("2x2");
const SORTED: RunMode = RunMode::Wall("2x2");

/// The CPU time of the program, with four renderers that get all commands, and with four that get
/// the commands for their tiles.
const fn sorting(name: &'static str, arguments: &'static [&'static str]) -> Row {
    Row {
        name,
        needs: NOTHING,
        program: Program::new("demos/iso_demo", arguments, ResultKind::Json("cpu_seconds")),
        unit: "ms CPU/frame",
        // 41 frames, of which the first does not count.
        scale: 1e3 / 40.0,
        less: true,
        modes: &[BROADCAST, SORTED],
        wanted: &[(SORTED, 1.0 / 1.5)],
        most: None,
        most_more: None,
        is_cold: false,
    }
}

const fn call(name: &'static str, value: &'static str, wanted: &'static [(RunMode, f64)]) -> Row {
    Row {
        name,
        needs: NOTHING,
        program: Program::new("bench/calls", &[], ResultKind::Json(value)),
        unit: "ns",
        scale: 1.0,
        less: true,
        modes: RENDERED,
        wanted,
        most: None,
        most_more: None,
        is_cold: false,
    }
}

/// Starts the game and shoots.
const PLAY: Play = Play {
    frames: 600,
    input: &[
        "20:xdotool mousemove 320 200 key Return",
        "40:xdotool mousemove 300 350 mousedown 1",
    ],
};

/// The duration of a whole run.
const fn start(name: &'static str, program: Program, modes: &'static [RunMode]) -> Row {
    Row {
        name,
        needs: NOTHING,
        program,
        unit: "ms",
        scale: 1e3,
        less: true,
        modes,
        wanted: &[],
        most: None,
        most_more: None,
        is_cold: false,
    }
}

/// A whole run of a program that draws one frame. The other modes may take `more` milliseconds
/// longer than the first one.
const fn first_frame(name: &'static str, modes: &'static [RunMode], more: f64) -> Row {
    let arguments = &["--frames", "1", "--warmup", "0"];
    Row {
        most_more: Some(more),
        ..start(
            name,
            Program::new("demos/rings", arguments, ResultKind::Nothing),
            modes,
        )
    }
}

const fn gears(
    name: &'static str,
    modes: &'static [RunMode],
    wanted: &'static [(RunMode, f64)],
) -> Row {
    let program = Program::new("glxgears", &[], ResultKind::Gears);
    frames(name, "command -v glxgears", program, modes, wanted)
}

/// Thousands of reads per second.
const fn reads(name: &'static str, value: &'static str) -> Row {
    Row {
        unit: "k/s",
        scale: 1e-3,
        less: false,
        ..call(name, value, &[])
    }
}

/// Goals for the delay of the first frame in milliseconds: relative to direct rendering, and
/// relative to a server without a sandbox.
const START: f64 = 200.0;
const CONFINING: f64 = 20.0;

pub fn all() -> Vec<Row> {
    vec![
        Row {
            most: Some(10.0),
            ..start(
                "mgn --version",
                Program::new("release/mgn", &["--version"], ResultKind::Nothing),
                &[RunMode::Direct],
            )
        },
        first_frame(
            "start, one frame",
            &[RunMode::Direct, RunMode::Shm, RunMode::Own],
            START,
        ),
        Row {
            is_cold: true,
            ..first_frame(
                "start, empty caches",
                &[RunMode::Direct, RunMode::Own],
                START,
            )
        },
        first_frame("sandbox: one frame", CONFINED_OR_NOT, CONFINING),
        gears(
            "sandbox: glxgears",
            CONFINED_OR_NOT,
            &[(RunMode::Own, 0.95)],
        ),
        iso(
            "iso_demo --cull, immediate",
            &["--cull", "--mode", "immediate", "--frames", "80", "--json"],
            ALL,
            &[
                (RunMode::Null, 4.0),
                (RunMode::Shm, 3.0),
                (RunMode::Tcp, 1.5),
            ],
        ),
        iso(
            "iso_demo --cull, arrays",
            &["--cull", "--mode", "arrays", "--frames", "100", "--json"],
            ALL,
            &[(RunMode::Shm, 0.8)],
        ),
        iso(
            "iso_demo --cull, vbo",
            &["--cull", "--mode", "vbo", "--frames", "100", "--json"],
            ALL,
            &[(RunMode::Shm, 0.8)],
        ),
        iso(
            "iso_demo --cull, static",
            &["--cull", "--mode", "static", "--frames", "100", "--json"],
            RENDERED,
            &[(RunMode::Shm, 0.95)],
        ),
        iso(
            "iso_demo, immediate",
            &["--mode", "immediate", "--frames", "15", "--json"],
            RENDERED,
            &[],
        ),
        gears("glxgears 300x300", RENDERED, &[(RunMode::Shm, 0.8)]),
        reads("glReadPixels 1x1", "read_pixels_per_second"),
        reads("clear, glReadPixels 16x16", "small_reads_per_second"),
        reads("the same, row length, skips", "skipped_reads_per_second"),
        reads("the same, swapped shorts", "swapped_reads_per_second"),
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
        frames(
            "chromium-bsu, a game",
            "command -v xdotool && test -x /usr/games/chromium-bsu",
            Program::played(
                "/usr/games/chromium-bsu",
                &["--window", "--noaudio", "--vidmode", "1"],
                PLAY,
            ),
            SHOWN_OR_NOT,
            &[(RunMode::Shm, 0.9)],
        ),
        vtk(
            "VTK, a mesh",
            &["crates/bench/programs/vtk_frames.py", "mesh", "100"],
        ),
        vtk(
            "VTK, a volume",
            &["crates/bench/programs/vtk_frames.py", "volume", "100"],
        ),
        far(
            "rings, farther away",
            NOTHING,
            Program::new(
                "demos/rings",
                &["--frames", "600", "--json"],
                ResultKind::Json(FRAMES),
            ),
        ),
        far(
            "iso_demo static, farther",
            NOTHING,
            Program::new(
                "demos/iso_demo",
                &["--mode", "static", "--cull", "--frames", "60", "--json"],
                ResultKind::Json(FRAMES),
            ),
        ),
        far(
            "glmark2 build, farther",
            GLMARK2,
            Program::new(
                "glmark2",
                &["-s", "800x600", "-b", "build:duration=4"],
                ResultKind::Glmark,
            ),
        ),
        frames(
            "iso_demo --cull, to all",
            NOTHING,
            Program::new(
                "demos/iso_demo",
                &["--cull", "--frames", "40", "--json"],
                ResultKind::Json(FRAMES),
            ),
            &[
                RunMode::Broadcast("1x1"),
                RunMode::Broadcast("2x1"),
                RunMode::Broadcast("3x1"),
                BROADCAST,
            ],
            &[(BROADCAST, 0.9)],
        ),
        Row {
            name: "a triangle a frame",
            needs: NOTHING,
            program: Program::new("bench/calls", &[], ResultKind::Json("frame_ns")),
            unit: "us",
            scale: 1e-3,
            less: true,
            modes: &[RunMode::Wall("1x1"), RunMode::Wall("2x1")],
            wanted: &[(RunMode::Wall("2x1"), 1.0 / 1.6)],
            most: None,
            most_more: None,
            is_cold: false,
        },
        sorting(
            "sorting, immediate",
            &["--cull", "--mode", "immediate", "--frames", "41", "--json"],
        ),
        sorting(
            "sorting, arrays",
            &["--cull", "--mode", "arrays", "--frames", "41", "--json"],
        ),
        sorting(
            "sorting, vbo",
            &["--cull", "--mode", "vbo", "--frames", "41", "--json"],
        ),
        sorting(
            "sorting, static",
            &["--cull", "--mode", "static", "--frames", "41", "--json"],
        ),
        Row {
            name: "a crowd, 100 frames",
            needs: NOTHING,
            program: Program::new("demos/rings", &[], ResultKind::Nothing),
            unit: "s",
            scale: 1.0,
            less: true,
            modes: &[RunMode::Crowd(8, 8)],
            wanted: &[],
            most: Some(20.0),
            most_more: None,
            is_cold: false,
        },
        call("glLoadIdentity", "load_identity_ns", &[]),
        call("glTranslatef", "translate_ns", &[]),
        call("glColor4f", "color_ns", &[]),
        call("glNormal3f + glVertex3f", "normal_vertex_ns", &[]),
        call("glGetIntegerv", "get_integer_ns", &[(RunMode::Shm, 1.0)]),
        call("glGetError", "get_error_ns", &[]),
    ]
}
