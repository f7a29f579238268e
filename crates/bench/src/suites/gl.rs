//! The cost of drawing through other processes. A program is drawn directly, without rendering,
//! without servers, by several servers, and by other software with the same purpose. The evaluation
//! of libtcomm has the same modes (local, null, discard and render), with ten instances of an
//! isosurface.

use std::ffi::OsString;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;

use super::demo::{id, no_demo, title, DEMO};
use super::unavailable::unavailable;
use crate::gl::drawing::{
    demo, with_path, DrawResult, PrivateDisplay, Rendering, Scene, WARM_UP_FRAMES,
};
use crate::machine::by_distance_if_unpinned;
use crate::plan::{no_conclusions, BenchOptions, Experiment, Figure, Method, ROUNDS};
use crate::record::{Axis, Better, Kind, Plot};
use crate::suite::Suite;

/// The triangles of the demo in a quick run, in which the demo must start fast.
const QUICK_TRIANGLES: &str = "120000";

pub fn plan(options: &BenchOptions) -> Result<Vec<Experiment>> {
    let display = PrivateDisplay::new(&options.mgn);
    let whole = |words| {
        let seconds = options.full_or_quick(0.7, 0.25);
        let budget = Duration::from_secs(options.full_or_quick(125, 13));
        drawing(options, &display, words, seconds, budget, all(options))
    };
    if !options.program.is_empty() {
        return Ok(vec![whole(with_path(&options.program)?)]);
    }
    let Some(demo) = demo(&options.mgn, DEMO) else {
        return Ok(vec![unavailable(Suite::Gl, no_demo())]);
    };
    let words = |more: &[&str]| {
        let more = more.iter().map(OsString::from);
        [demo.clone().into()].into_iter().chain(more).collect()
    };
    if options.is_quick {
        return Ok(vec![whole(words(&["--triangles", QUICK_TRIANGLES]))]);
    }
    let mut experiments = vec![whole(words(&[]))];
    for mode in ["arrays", "static"] {
        let budget = Duration::from_secs(25);
        let words = words(&["--mode", mode]);
        experiments.push(drawing(options, &display, words, 0.4, budget, few()));
    }
    Ok(experiments)
}

/// The name of a series, the number of servers, and the rendering.
type Line = (&'static str, u32, Rendering);

fn all(options: &BenchOptions) -> Vec<Line> {
    let discards = [
        ("discard", 1, ours("--transport shm --discard")),
        ("discard", 2, ours("--wall 2x1 --discard --present none")),
        ("discard", 3, ours("--wall 3x1 --discard --present none")),
        ("discard", 4, ours("--wall 2x2 --discard --present none")),
    ];
    let renders = [
        ("render", 1, ours("--transport shm")),
        ("render", 2, ours("--wall 2x1")),
        ("render", 4, ours("--wall 2x2")),
    ];
    let transports = [
        ("discard, unix", 1, ours("--transport unix --discard")),
        ("discard, tcp", 1, ours("--transport tcp --discard")),
        ("render, unix", 1, ours("--transport unix")),
        ("render, tcp", 1, ours("--transport tcp")),
    ];
    let is_wanted = |line: &Line| {
        let is_quick =
            line.1 == 1 && !line.0.ends_with("unix") || line.0 == "discard" && line.1 == 2;
        !options.is_quick || is_quick
    };
    let local = [("direct", 0, Rendering::Direct), ("null", 0, null())];
    let others = [
        ("virgl", 1, Rendering::Virgl),
        ("indirect GLX", 1, Rendering::Indirect),
    ];
    let ours = discards.into_iter().chain(renders).chain(transports);
    let ours = ours.filter(is_wanted);
    local.into_iter().chain(ours).chain(others).collect()
}

/// The renderings for which it matters how vertices reach OpenGL.
fn few() -> Vec<Line> {
    vec![
        ("direct", 0, Rendering::Direct),
        ("null", 0, null()),
        ("discard", 1, ours("--transport shm --discard")),
        ("render", 1, ours("--transport shm")),
    ]
}

fn null() -> Rendering {
    ours("--transport null")
}

/// Our rendering with these flags. Without rendering, welding is off, so that the stream does not
/// depend on the speed of the machine.
fn ours(flags: &str) -> Rendering {
    let is_stream = flags.contains("null") || flags.contains("--discard");
    Rendering::ours(&format!(
        "{flags}{}",
        if is_stream { " --weld never" } else { "" }
    ))
}

fn drawing(
    options: &BenchOptions,
    display: &Rc<PrivateDisplay>,
    words: Vec<OsString>,
    seconds: f64,
    budget: Duration,
    lines: Vec<Line>,
) -> Experiment {
    let title = title(&options.mgn, &words);
    let id = id("gl", &title);
    let limit = Duration::from_secs(options.full_or_quick(60, 30));
    let scene = Scene {
        words,
        seconds,
        limit,
    };
    let methods = lines.into_iter().map(|(line, servers, rendering)| {
        Box::new(Drawing {
            line,
            servers,
            rendering,
            scene: scene.clone(),
            display: display.clone(),
            id: id.clone(),
        }) as Box<dyn Method>
    });
    Experiment {
        suite: Suite::Gl,
        key: format!("gl {title}"),
        plots: plots(&id, &title),
        methods: methods.collect(),
        by_distance: by_distance_if_unpinned(),
        budget,
        rounds: ROUNDS,
        notes: vec![
            format!("{title}, from its frame {WARM_UP_FRAMES} on for {seconds} s, or for one frame if that takes longer; its clock advances with its frames"),
            "Mesa's software renderer renders everything, and a private X server shows it".to_string(),
            "the CPU time of servers is counted from their start, and that of the program from that frame on".to_string(),
        ],
        goals: Vec::new(),
        conclude: no_conclusions,
    }
}

fn plots(id: &str, title: &str) -> Vec<Plot> {
    let plot = |name: &str, what: &str, y: Axis, better| {
        let x = Axis::linear("servers", "");
        Plot::new(
            format!("{id}-{name}"),
            format!("{what}, {title}"),
            x,
            y,
            better,
        )
    };
    let cpu = || Axis::log("CPU time a frame", "ms");
    vec![
        plot("rate", "Drawing", Axis::log("frames", "1/s"), Better::More),
        plot(
            "stream",
            "The stream",
            Axis::log("generated", "MB/s"),
            Better::More,
        ),
        plot(
            "wait",
            "Waiting to send",
            Axis::linear("share of the time", "%"),
            Better::Less,
        ),
        plot("cpu-program", "Cost at the program", cpu(), Better::Less),
        plot("cpu-servers", "Cost at all servers", cpu(), Better::Less),
    ]
}

struct Drawing {
    line: &'static str,
    servers: u32,
    rendering: Rendering,
    scene: Scene,
    display: Rc<PrivateDisplay>,
    id: String,
}

impl Method for Drawing {
    fn name(&self) -> String {
        match self.servers {
            0 | 1 => self.line.to_string(),
            count => format!("{}, {count} servers", self.line),
        }
    }

    fn kind(&self) -> Kind {
        match self.rendering {
            Rendering::Direct => Kind::Limit,
            Rendering::Ours(_) => Kind::Ours,
            Rendering::Virgl | Rendering::Indirect => Kind::Peer,
        }
    }

    fn command(&self) -> String {
        self.rendering.command(&self.scene)
    }

    fn missing(&self) -> Option<String> {
        self.rendering.missing()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let drawn = self.display.draw(&[], &self.rendering, &self.scene)?;
        Ok(self.figures(&drawn))
    }
}

impl Drawing {
    fn figures(&self, drawn: &DrawResult) -> Vec<Figure> {
        let figure = |plot: &str, value: f64| {
            let id = format!("{}-{plot}", self.id);
            Figure::new(&id, f64::from(self.servers), value).of(self.line.to_string())
        };
        let rate = &drawn.rate;
        let frames = rate.frames as f64;
        let per_frame = |cpu: f64, frames: f64| cpu / frames * 1e3;
        let mut figures = vec![
            figure("rate", rate.frames_per_second).cpu([rate.cpu_seconds, drawn.server_cpu]),
            figure("cpu-program", per_frame(rate.cpu_seconds, frames)),
        ];
        if let Some(sent) = &drawn.sent {
            let stream = sent.bytes_per_frame * rate.frames_per_second / 1e6;
            figures.push(figure("stream", stream));
            figures.push(figure("wait", sent.waited * 100.0));
        }
        if drawn.server_cpu > 0.0 {
            figures.push(figure(
                "cpu-servers",
                per_frame(drawn.server_cpu, frames + WARM_UP_FRAMES as f64),
            ));
        }
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gl::drawing::{Rate, Sent};

    fn options(is_quick: bool, program: &[&str]) -> BenchOptions {
        BenchOptions {
            is_quick,
            iterations: 10,
            program: program.iter().map(OsString::from).collect(),
            mgn: "/nowhere/bin/mgn".into(),
            peers: std::rc::Rc::new(crate::net::peers::PeerPrograms::new("nowhere".into())),
        }
    }

    #[test]
    fn every_way_is_planned() {
        let planned = plan(&options(false, &["sh", "-c", "true"])).unwrap();
        assert_eq!(planned.len(), 1);
        let names: Vec<String> = planned[0]
            .methods
            .iter()
            .map(|method| method.name())
            .collect();
        for name in [
            "direct",
            "null",
            "discard",
            "discard, 2 servers",
            "discard, 3 servers",
            "discard, 4 servers",
            "render",
            "render, 2 servers",
            "render, 4 servers",
            "render, unix",
            "render, tcp",
            "virgl",
            "indirect GLX",
        ] {
            assert!(
                names.iter().any(|found| found == name),
                "{name} in {names:?}"
            );
        }
        let key = &planned[0].key;
        assert!(
            key.starts_with("gl /") && key.ends_with("/sh -c true"),
            "{key}"
        );
        assert!(planned[0].plots[0].id.ends_with("-sh-c-true-rate"));
        let quick = plan(&options(true, &["sh"])).unwrap();
        assert!(quick[0].methods.len() < planned[0].methods.len());
    }

    #[test]
    fn programs_of_one_name_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let planned = ["a", "b"].map(|name| {
            let path = folder.path().join(name).join("sh");
            std::fs::create_dir(path.parent().unwrap()).unwrap();
            std::fs::copy("/bin/sh", &path).unwrap();
            let planned = plan(&options(true, &[path.to_str().unwrap()])).unwrap();
            (planned[0].key.clone(), planned[0].plots[0].id.clone())
        });
        assert!(
            planned[0].0 != planned[1].0 && planned[0].1 != planned[1].1,
            "{planned:?}"
        );
    }

    #[test]
    fn missing_programs_are_reported() {
        let error = plan(&options(false, &["/no/such/program"])).err().unwrap();
        assert!(error.to_string().contains("/no/such/program"), "{error}");
        let planned = plan(&options(false, &[])).unwrap();
        let why = planned[0].methods[0].missing().unwrap();
        assert!(
            why.contains("iso_demo is not in the same folder as mgn"),
            "{why}"
        );
    }

    #[test]
    fn figures_have_the_units_of_their_plots() {
        let method = Drawing {
            line: "discard",
            servers: 2,
            rendering: null(),
            scene: Scene {
                words: vec!["x".into()],
                seconds: 1.0,
                limit: Duration::ZERO,
            },
            display: PrivateDisplay::new("mgn".as_ref()),
            id: "gl".to_string(),
        };
        let drawn = DrawResult {
            rate: Rate {
                frames_per_second: 50.0,
                frames: 100,
                cpu_seconds: 0.5,
                renderer: String::new(),
            },
            server_cpu: 2.06,
            sent: Some(Sent {
                bytes_per_frame: 2e6,
                waited: 0.25,
            }),
        };
        let figures = method.figures(&drawn);
        let plots = plots("gl", "");
        for (id, value) in [
            ("gl-rate", 50.0),
            ("gl-stream", 100.0),
            ("gl-wait", 25.0),
            ("gl-cpu-program", 5.0),
            ("gl-cpu-servers", 20.0),
        ] {
            let figure = figures.iter().find(|figure| figure.plot == id).unwrap();
            assert!(
                (figure.value - value).abs() < 1e-9,
                "{id}: {}",
                figure.value
            );
            assert_eq!((figure.x, figure.series.as_deref()), (2.0, Some("discard")));
            assert!(plots.iter().any(|plot| plot.id == id));
        }
    }
}
