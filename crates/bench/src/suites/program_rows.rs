//! The rows of the suite `programs`. Each row has a program, the modes in which it runs, and the
//! goals.

use crate::gl::program::{Executable, Play, Program, ResultKind, FRAMES};
use crate::gl::run::RunMode;
use crate::record::Better;

/// A program, and the modes in which it runs. The other modes are compared with the first one.
pub struct Row {
    pub name: &'static str,
    pub program: Program,
    /// The meaning of each result of the program.
    pub values: Vec<Value>,
    pub modes: &'static [RunMode],
    /// Whether each run starts with empty caches.
    pub is_cold: bool,
    /// The further arguments of the program in a quick run, or `None` if the row is not part of a
    /// quick run.
    pub quick: Option<&'static [&'static str]>,
}

pub struct Value {
    /// The title of the value's plot. Empty if the row has only one value.
    pub title: &'static str,
    pub name: &'static str,
    pub unit: &'static str,
    /// The factor that converts the program's result to this unit.
    pub scale: f64,
    pub better: Better,
    pub wanted: &'static [(RunMode, Wanted)],
}

/// A goal for a mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wanted {
    /// At least this many times as good as the first mode.
    Ratio(f64),
    /// At least this many times as good as this other mode.
    Beside(RunMode, f64),
    /// At most this much more than in the first mode, in the unit of the value.
    More(f64),
    /// At most this value.
    AtMost(f64),
}

use Wanted::{AtMost, Beside, More, Ratio};

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

const BROADCAST: RunMode = RunMode::Broadcast("2x2");
const SORTED: RunMode = RunMode::Wall("2x2");

/// Arguments with which the demo is drawn quickly.
const FEW_TRIANGLES: &[&str] = &["--triangles", "120000"];

/// Limits for the delay of the first frame in milliseconds: compared with direct rendering, and
/// compared with a server without a sandbox.
const START: f64 = 200.0;
const CONFINING: f64 = 20.0;

/// Starts the game, and shoots.
const PLAY: Play = Play {
    frames: 600,
    input: &[
        "20:xdotool mousemove 320 200 key Return",
        "40:xdotool mousemove 300 350 mousedown 1",
    ],
};

const RINGS: Executable = Executable::Demo("rings");
const ISO: Executable = Executable::Demo("iso_demo");

fn row(name: &'static str, program: Program, value: Value, modes: &'static [RunMode]) -> Row {
    Row {
        name,
        program,
        values: vec![value],
        modes,
        is_cold: false,
        quick: None,
    }
}

fn value(
    name: &'static str,
    unit: &'static str,
    scale: f64,
    better: Better,
    wanted: &'static [(RunMode, Wanted)],
) -> Value {
    Value {
        title: "",
        name,
        unit,
        scale,
        better,
        wanted,
    }
}

fn frames(wanted: &'static [(RunMode, Wanted)]) -> Value {
    value("frames", "1/s", 1.0, Better::More, wanted)
}

/// The duration of a whole run.
fn duration(wanted: &'static [(RunMode, Wanted)]) -> Value {
    value("time", "ms", 1e3, Better::Less, wanted)
}

fn iso(
    name: &'static str,
    arguments: &'static [&'static str],
    modes: &'static [RunMode],
    wanted: &'static [(RunMode, Wanted)],
) -> Row {
    let results = ResultKind::Json(&["triangles_per_second"]);
    let triangles = value("triangles", "M/s", 1e-6, Better::More, wanted);
    Row {
        quick: Some(FEW_TRIANGLES),
        ..row(
            name,
            Program::new(ISO, arguments, results),
            triangles,
            modes,
        )
    }
}

/// A scene of glmark2.
fn glmark(name: &'static str, scene: &'static [&'static str]) -> Row {
    let wanted = &[(RunMode::Unseen, Ratio(0.9)), (RunMode::Shm, Ratio(0.7))];
    row(name, glmark2(scene), frames(wanted), SHOWN_OR_NOT)
}

fn glmark2(arguments: &'static [&'static str]) -> Program {
    let executable = Executable::Installed("glmark2");
    Program::new(executable, arguments, ResultKind::Glmark)
}

const BUILD: &[&str] = &["-s", "800x600", "-b", "build:duration=4"];

/// A scene of VTK.
fn vtk(name: &'static str, arguments: &'static [&'static str]) -> Row {
    let program = Program::new(Executable::Vtk, arguments, FRAMES);
    row(
        name,
        program,
        frames(&[(RunMode::Shm, Ratio(0.9))]),
        SHOWN_OR_NOT,
    )
}

/// A program that reads no data back, with and without a delay on the network. With the delay, its
/// frames may take up to 1.3 times as long.
fn far(name: &'static str, program: Program) -> Row {
    let wanted = &[(RunMode::Far, Ratio(1.0 / 1.3))];
    row(
        name,
        program,
        frames(wanted),
        &[RunMode::Relayed, RunMode::Far],
    )
}

/// The CPU time of the program with four renderers. In the first mode, all renderers get all
/// commands. In the second mode, each gets the commands for its tile.
fn sorting(name: &'static str, arguments: &'static [&'static str]) -> Row {
    let program = Program::new(ISO, arguments, ResultKind::Json(&["cpu_seconds"]));
    // The first of the 41 frames does not count.
    let scale = 1e3 / 40.0;
    let wanted = &[(SORTED, Ratio(1.0 / 1.5))];
    let value = value("CPU time a frame", "ms", scale, Better::Less, wanted);
    Row {
        quick: Some(FEW_TRIANGLES),
        ..row(name, program, value, &[BROADCAST, SORTED])
    }
}

/// A whole run of a program that draws one frame. `wanted` says how much longer the other modes may
/// take than the first one.
fn first_frame(
    name: &'static str,
    modes: &'static [RunMode],
    wanted: &'static [(RunMode, Wanted)],
) -> Row {
    let arguments = &["--frames", "1", "--warmup", "0"];
    let program = Program::new(RINGS, arguments, ResultKind::Nothing);
    Row {
        quick: Some(&[]),
        ..row(name, program, duration(wanted), modes)
    }
}

fn gears(
    name: &'static str,
    modes: &'static [RunMode],
    wanted: &'static [(RunMode, Wanted)],
) -> Row {
    let executable = Executable::Installed("glxgears");
    let program = Program::new(executable, &[], ResultKind::Gears);
    row(name, program, frames(wanted), modes)
}

/// Single calls. One run of the program measures all of them.
fn calls() -> Row {
    let call = |title, wanted| Value {
        title,
        ..value("time", "ns", 1.0, Better::Less, wanted)
    };
    let reads = |title| Value {
        title,
        ..value("rate", "k/s", 1e-3, Better::More, &[])
    };
    let results = ResultKind::Json(&[
        "load_identity_ns",
        "translate_ns",
        "color_ns",
        "normal_vertex_ns",
        "get_integer_ns",
        "get_error_ns",
        "read_pixels_per_second",
        "small_reads_per_second",
        "skipped_reads_per_second",
        "swapped_reads_per_second",
    ]);
    let values = vec![
        call("glLoadIdentity", &[]),
        call("glTranslatef", &[]),
        call("glColor4f", &[]),
        call("glNormal3f + glVertex3f", &[]),
        call("glGetIntegerv", &[(RunMode::Shm, Ratio(1.0))]),
        call("glGetError", &[]),
        reads("glReadPixels 1x1"),
        reads("clear, glReadPixels 16x16"),
        reads("the same, row length, skips"),
        reads("the same, swapped shorts"),
    ];
    Row {
        name: "calls",
        program: Program::new(Executable::Calls, &[], results),
        values,
        modes: RENDERED,
        is_cold: false,
        quick: None,
    }
}

pub fn all() -> Vec<Row> {
    vec![
        Row {
            quick: Some(&[]),
            ..row(
                "mgn --version",
                Program::new(Executable::Mgn, &["--version"], ResultKind::Nothing),
                duration(&[(RunMode::Direct, AtMost(10.0))]),
                &[RunMode::Direct],
            )
        },
        first_frame(
            "start, one frame",
            &[RunMode::Direct, RunMode::Shm, RunMode::Own],
            &[(RunMode::Shm, More(START)), (RunMode::Own, More(START))],
        ),
        Row {
            is_cold: true,
            ..first_frame(
                "start, empty caches",
                &[RunMode::Direct, RunMode::Own],
                &[(RunMode::Own, More(START))],
            )
        },
        first_frame(
            "sandbox: one frame",
            CONFINED_OR_NOT,
            &[(RunMode::Own, More(CONFINING))],
        ),
        gears(
            "sandbox: glxgears",
            CONFINED_OR_NOT,
            &[(RunMode::Own, Ratio(0.95))],
        ),
        iso(
            "iso_demo --cull, immediate",
            &["--cull", "--mode", "immediate", "--frames", "80", "--json"],
            ALL,
            &[
                (RunMode::Null, Ratio(4.0)),
                // Discard reaches 0.9 of null between far processors, and more between near ones.
                (RunMode::Discard, Beside(RunMode::Null, 0.9)),
                (RunMode::Shm, Ratio(3.0)),
                (RunMode::Shm, Beside(RunMode::Tcp, 1.0)),
                (RunMode::Tcp, Ratio(1.5)),
            ],
        ),
        iso(
            "iso_demo --cull, arrays",
            &["--cull", "--mode", "arrays", "--frames", "100", "--json"],
            ALL,
            &[
                (RunMode::Shm, Ratio(0.8)),
                (RunMode::Shm, Beside(RunMode::Tcp, 1.0)),
            ],
        ),
        iso(
            "iso_demo --cull, vbo",
            &["--cull", "--mode", "vbo", "--frames", "100", "--json"],
            ALL,
            &[
                (RunMode::Shm, Ratio(0.8)),
                (RunMode::Shm, Beside(RunMode::Tcp, 1.0)),
            ],
        ),
        iso(
            "iso_demo --cull, static",
            &["--cull", "--mode", "static", "--frames", "100", "--json"],
            RENDERED,
            &[(RunMode::Shm, Ratio(0.95))],
        ),
        gears("glxgears 300x300", RENDERED, &[(RunMode::Shm, Ratio(0.8))]),
        calls(),
        glmark("glmark2 build", BUILD),
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
        row(
            "chromium-bsu, a game",
            Program::played(
                Executable::Installed("/usr/games/chromium-bsu"),
                &["--window", "--noaudio", "--vidmode", "1"],
                PLAY,
            ),
            frames(&[(RunMode::Shm, Ratio(0.9))]),
            SHOWN_OR_NOT,
        ),
        vtk("VTK, a mesh", &["mesh", "100"]),
        vtk("VTK, a volume", &["volume", "100"]),
        far(
            "rings, farther away",
            Program::new(RINGS, &["--frames", "600", "--json"], FRAMES),
        ),
        far(
            "iso_demo static, farther",
            Program::new(
                ISO,
                &["--mode", "static", "--cull", "--frames", "60", "--json"],
                FRAMES,
            ),
        ),
        far("glmark2 build, farther", glmark2(BUILD)),
        Row {
            quick: Some(FEW_TRIANGLES),
            ..row(
                "iso_demo --cull, to all",
                Program::new(ISO, &["--cull", "--frames", "40", "--json"], FRAMES),
                frames(&[(BROADCAST, Ratio(0.9))]),
                &[
                    RunMode::Broadcast("1x1"),
                    RunMode::Broadcast("2x1"),
                    RunMode::Broadcast("3x1"),
                    BROADCAST,
                ],
            )
        },
        row(
            "a triangle a frame",
            Program::new(Executable::Calls, &[], ResultKind::Json(&["frame_ns"])),
            value(
                "time a frame",
                "us",
                1e-3,
                Better::Less,
                &[(RunMode::Wall("2x1"), Ratio(1.0 / 1.6))],
            ),
            &[RunMode::Wall("1x1"), RunMode::Wall("2x1")],
        ),
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
        row(
            "a crowd, 100 frames",
            Program::new(RINGS, &[], ResultKind::Nothing),
            value(
                "time",
                "s",
                1.0,
                Better::Less,
                &[(RunMode::Crowd(8, 8), AtMost(20.0))],
            ),
            &[RunMode::Crowd(8, 8)],
        ),
    ]
}
