//! Messages and drawing over slow links. The slowest links have the rates of the wireless networks
//! in the papers on tiled walls and remote visualization.

use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use mgn_fabric::Token;
use mgn_launch::{EmbeddedServer, RunDir};

use super::demo::{id, no_demo, title, DEMO};
use super::unavailable::unavailable;
use crate::child;
use crate::gl::drawing::{self, demo, with_path, PrivateDisplay, Rendering, Scene};
use crate::net::emulated::{congestion_control, missing_requirement, Conditions, Link};
use crate::net::launch::{self, LaunchOptions};
use crate::net::measure::Test;
use crate::plan::{no_conclusions, BenchOptions, ByDistance, Experiment, Figure, Method, ROUNDS};
use crate::record::{Axis, Better, Kind, Plot};
use crate::suite::Suite;

/// All rates differ, because the rate identifies the link in a plot.
const LINKS: [Conditions; 4] = [
    Conditions {
        mbit: 1000,
        loss: 0,
    },
    Conditions { mbit: 100, loss: 0 },
    Conditions { mbit: 10, loss: 0 },
    Conditions { mbit: 11, loss: 10 },
];

const QUICK: [Conditions; 2] = [LINKS[1], LINKS[3]];

/// The triangles of the demo. They take 87 kB per frame, so that even a slow link carries some
/// frames per second.
const TRIANGLES: &str = "1200";

/// The port of the render server at the far end, where no other process listens.
const PORT: u16 = 7000;

/// The plot of the demo's frames.
const FRAMES: &str = "link-frames";

/// The time within which a session usually ends after its program.
const GRACE_PERIOD: Duration = Duration::from_millis(500);

pub fn plan(options: &BenchOptions) -> Result<Vec<Experiment>> {
    let program = match &options.program[..] {
        [] => None,
        program => Some(with_path(program)?),
    };
    if let Some(why) = missing_requirement() {
        return Ok(vec![unavailable(Suite::Link, why)]);
    }
    let control = congestion_control()?;
    let links: Vec<Rc<TestLink>> = options
        .full_or_quick(&LINKS[..], &QUICK[..])
        .iter()
        .map(|conditions| Rc::new(TestLink::new(*conditions, options.mgn.clone())))
        .collect();
    let notes = vec![
        "links are emulated, with a queue of 50 ms at each end and packets of the size of Ethernet's; the link of 11 Mbit/s loses 10 % of all packets".to_string(),
        format!("TCP's congestion control at both ends: {control}"),
    ];
    let mut experiments = vec![messages(options, &links, notes.clone())];
    experiments.push(drawing(options, program, &links, notes));
    Ok(experiments)
}

/// A link, which is made on first use, and a render server at its far end.
struct TestLink {
    conditions: Conditions,
    mgn: PathBuf,
    link: RefCell<Option<Rc<Link>>>,
    server: RefCell<Option<Rc<Server>>>,
}

struct Server {
    server: EmbeddedServer,
    run: RunDir,
}

impl TestLink {
    fn new(conditions: Conditions, mgn: PathBuf) -> TestLink {
        TestLink {
            conditions,
            mgn,
            link: RefCell::default(),
            server: RefCell::default(),
        }
    }

    fn x(&self) -> f64 {
        f64::from(self.conditions.mbit)
    }

    fn link(&self) -> Result<Rc<Link>> {
        let mut link = self.link.borrow_mut();
        if link.is_none() {
            *link = Some(Rc::new(Link::new(self.conditions)?));
        }
        Ok(link.clone().expect("it is there now"))
    }

    fn server(&self) -> Result<Rc<Server>> {
        let mut server = self.server.borrow_mut();
        if server.is_none() {
            *server = Some(Rc::new(self.start_server()?));
        }
        Ok(server.clone().expect("it is there now"))
    }

    fn start_server(&self) -> Result<Server> {
        let run = RunDir::create()?;
        let token = run.join("token");
        Token::generate().write(&token)?;
        let before = self.link()?.enter_command(1);
        let log = run.join("log");
        let words = [
            // The log of the server must not appear on the terminal.
            "sh",
            "-c",
            "LIBGL_ALWAYS_SOFTWARE=1 exec \"$@\" 2>\"$0\"",
            &log.to_string_lossy(),
            &self.mgn.to_string_lossy(),
            "server",
            "--embedded",
            "--listen",
            &address(),
            "--token-file",
            &token.to_string_lossy(),
        ];
        let words = before[1..].iter().map(String::as_str).chain(words);
        let words: Vec<_> = words.map(Into::into).collect();
        let server = EmbeddedServer::start(before[0].as_ref(), &words)?;
        Ok(Server { server, run })
    }
}

fn address() -> String {
    format!("tcp:{}:{PORT}", Link::address(1))
}

fn plot(id: &str, title: &str, y: Axis, better: Better) -> Plot {
    Plot::new(
        id,
        title,
        Axis::log("rate of the link", "Mbit/s"),
        y,
        better,
    )
}

/// The measurements of messages: plot, test and size.
const MESSAGES: [(&str, Test, usize); 3] = [
    ("link-latency", Test::Latency, 8),
    ("link-stream-64k", Test::Stream, 64 << 10),
    ("link-stream-1m", Test::Stream, 1 << 20),
];

fn messages(options: &BenchOptions, links: &[Rc<TestLink>], notes: Vec<String>) -> Experiment {
    let mut methods: Vec<Box<dyn Method>> = Vec::new();
    for test_link in links {
        for (plot, test, size) in MESSAGES {
            if options.is_quick && size > 64 << 10 {
                continue;
            }
            for (line, method, kind) in [
                ("Manganese, tcp", "tcp", Kind::Ours),
                ("sockets", "raw-tcp", Kind::Limit),
            ] {
                methods.push(Box::new(Messages {
                    test_link: test_link.clone(),
                    line,
                    method,
                    kind,
                    plot,
                    test,
                    size,
                    // A lost packet is retransmitted after 200 ms or more.
                    seconds: if test_link.conditions.loss > 0 {
                        0.6
                    } else {
                        0.2
                    },
                }));
            }
        }
    }
    let stream = || Axis::log("payload", "Mbit/s");
    Experiment {
        suite: Suite::Link,
        key: "link messages".to_string(),
        plots: vec![
            plot(
                "link-latency",
                "Messages of 8 B over a slow link, there and back, half of it on average",
                Axis::log("time", "us"),
                Better::Less,
            ),
            plot(
                "link-stream-64k",
                "Messages of 64 KiB over a slow link",
                stream(),
                Better::More,
            ),
            plot(
                "link-stream-1m",
                "Messages of 1 MiB over a slow link",
                stream(),
                Better::More,
            ),
        ],
        methods,
        by_distance: ByDistance::No,
        budget: Duration::from_secs(options.full_or_quick(70, 3)),
        rounds: ROUNDS,
        notes,
        goals: Vec::new(),
        conclude: no_conclusions,
    }
}

struct Messages {
    test_link: Rc<TestLink>,
    line: &'static str,
    method: &'static str,
    kind: Kind,
    plot: &'static str,
    test: Test,
    size: usize,
    seconds: f64,
}

impl Messages {
    /// The number of messages in flight: as many as the link carries in a quarter of a second, but
    /// at most the usual number.
    fn window(&self) -> usize {
        let bytes = self.test_link.conditions.mbit as usize * 125_000 / 4;
        (bytes / self.size).clamp(1, self.test.window(self.size))
    }
}

impl Method for Messages {
    fn name(&self) -> String {
        let size = match self.size {
            8 => "8 B",
            0x10000 => "64 KiB",
            _ => "1 MiB",
        };
        format!("{}, {size}, {}", self.line, self.test_link.conditions)
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn command(&self) -> String {
        "mgn bench link --only messages".to_string()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let link = self.test_link.link()?;
        let launch_options = LaunchOptions {
            prefixes: [link.enter_command(0), link.enter_command(1)],
            arguments: vec![
                format!("--listen={}", Link::address(1)),
                format!("--window={}", self.window()),
                "--all".to_string(),
            ],
        };
        let samples = launch::run_in(
            &launch_options,
            self.method,
            self.test,
            &[self.size],
            self.seconds,
        )?;
        let sample = &samples[0];
        let value = match self.test {
            Test::Latency => sample.seconds[0] / 2.0 * 1e6,
            _ => sample.window * self.size as f64 * 8.0 / sample.seconds[0] / 1e6,
        };
        let figure = Figure::new(self.plot, self.test_link.x(), value).of(self.line.to_string());
        Ok(vec![figure.cpu(sample.cpu)])
    }
}

fn drawing(
    options: &BenchOptions,
    program: Option<Vec<OsString>>,
    links: &[Rc<TestLink>],
    mut notes: Vec<String>,
) -> Experiment {
    // The plot of the demo has a fixed id, which the figures of papers refer to.
    let (words, plot_id) = match (program, demo(&options.mgn, DEMO)) {
        (None, None) => return unavailable(Suite::Link, no_demo()),
        (None, Some(demo)) => {
            let words = vec![demo.into(), "--triangles".into(), TRIANGLES.into()];
            (words, FRAMES.to_string())
        }
        (Some(words), _) => {
            let id = id(FRAMES, &title(&options.mgn, &words));
            (words, id)
        }
    };
    let title = title(&options.mgn, &words);
    let display = PrivateDisplay::new(&options.mgn);
    let scene = Scene {
        words,
        seconds: options.full_or_quick(0.8, 0.4),
        limit: Duration::from_secs(30),
    };
    let mut methods: Vec<Box<dyn Method>> = Vec::new();
    for test_link in links {
        let bytes = Rc::new(Cell::new(None));
        for (line, flags) in [("unseen", "--present none"), ("seen", "")] {
            if options.is_quick && line == "seen" {
                continue;
            }
            methods.push(Box::new(Drawing {
                test_link: test_link.clone(),
                line,
                flags,
                scene: scene.clone(),
                display: display.clone(),
                bytes: bytes.clone(),
                plot: plot_id.clone(),
            }));
        }
        methods.push(Box::new(LinkRate {
            test_link: test_link.clone(),
            bytes,
            plot: plot_id.clone(),
        }));
    }
    notes.extend([
        format!("{title}; seen: its pictures come back over the link, into its window; unseen: they do not"),
        "the link's rate: the frames that it could carry if all of its bytes were payload".to_string(),
    ]);
    Experiment {
        suite: Suite::Link,
        key: format!("link {title}"),
        plots: vec![plot(
            &plot_id,
            &format!("Drawing over a slow link, {title}"),
            Axis::log("frames", "1/s"),
            Better::More,
        )],
        methods,
        by_distance: ByDistance::No,
        budget: Duration::from_secs(options.full_or_quick(60, 6)),
        rounds: ROUNDS,
        notes,
        goals: Vec::new(),
        conclude: no_conclusions,
    }
}

struct Drawing {
    test_link: Rc<TestLink>,
    line: &'static str,
    flags: &'static str,
    scene: Scene,
    display: Rc<PrivateDisplay>,
    /// The bytes of a frame, for [`LinkRate`].
    bytes: Rc<Cell<Option<f64>>>,
    plot: String,
}

impl Method for Drawing {
    fn name(&self) -> String {
        format!("{}, {}", self.line, self.test_link.conditions)
    }

    fn kind(&self) -> Kind {
        Kind::Ours
    }

    fn command(&self) -> String {
        self.rendering("TOKEN").command(&self.scene)
    }

    fn missing(&self) -> Option<String> {
        drawing::missing_requirement()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let server = self.test_link.server()?;
        let token = server.run.join("token");
        let rendering = self.rendering(token.to_str().context("a folder's name is not UTF-8")?);
        let before = self.test_link.link()?.enter_command(0);
        let cpu = || child::cpu(server.server.pid());
        let cpu_before = cpu();
        let drawn = self.display.draw(&before, &rendering, &self.scene)?;
        // The CPU time of a worker counts only after the server has waited for the worker's end.
        let deadline = Instant::now() + GRACE_PERIOD;
        while cpu() == cpu_before && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
        let cpu = cpu() - cpu_before;
        self.bytes
            .set(drawn.sent.as_ref().map(|sent| sent.bytes_per_frame));
        let rate = &drawn.rate;
        let figure = Figure::new(&self.plot, self.test_link.x(), rate.frames_per_second);
        let figure = figure.of(self.line.to_string());
        Ok(vec![figure.cpu([rate.cpu_seconds, cpu])])
    }
}

impl Drawing {
    fn rendering(&self, token: &str) -> Rendering {
        let (address, flags) = (address(), self.flags);
        Rendering::ours(&format!(
            "--server {address} --token-file {token} --weld never {flags}"
        ))
    }
}

/// The highest frame rate that the link has capacity for.
struct LinkRate {
    test_link: Rc<TestLink>,
    bytes: Rc<Cell<Option<f64>>>,
    plot: String,
}

impl Method for LinkRate {
    fn name(&self) -> String {
        format!("the link's rate, {}", self.test_link.conditions)
    }

    fn kind(&self) -> Kind {
        Kind::Limit
    }

    fn command(&self) -> String {
        "mgn run --stats".to_string()
    }

    fn missing(&self) -> Option<String> {
        drawing::missing_requirement()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let bytes = self.bytes.get().context("nothing was drawn")?;
        let value = self.test_link.x() * 125_000.0 / bytes;
        let figure = Figure::new(&self.plot, self.test_link.x(), value);
        Ok(vec![figure.of("the link's rate".to_string())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(is_quick: bool) -> BenchOptions {
        BenchOptions {
            program: vec!["sh".into()],
            ..BenchOptions::of_nowhere(is_quick)
        }
    }

    #[test]
    fn every_link_is_planned() {
        let planned = plan(&options(false)).unwrap();
        if let Some(why) = missing_requirement() {
            assert_eq!(planned.len(), 1);
            assert_eq!(planned[0].methods[0].missing(), Some(why));
            return;
        }
        assert_eq!(planned.len(), 2);
        for experiment in &planned {
            let names: Vec<String> = experiment
                .methods
                .iter()
                .map(|method| method.name())
                .collect();
            for link in LINKS {
                let of_link = |name: &&String| name.ends_with(&link.to_string());
                assert!(
                    names.iter().filter(of_link).count() > 1,
                    "{link}: {names:?}"
                );
            }
            assert!(experiment
                .notes
                .iter()
                .any(|note| note.contains("congestion control")));
        }
        let quick = plan(&options(true)).unwrap();
        assert!(quick[0].methods.len() < planned[0].methods.len());
    }

    #[test]
    fn slow_links_are_not_filled_for_minutes() {
        let window = |mbit: u32, test, size| {
            let method = Messages {
                test_link: Rc::new(TestLink::new(Conditions { mbit, loss: 0 }, PathBuf::new())),
                line: "",
                method: "",
                kind: Kind::Ours,
                plot: "",
                test,
                size,
                seconds: 0.0,
            };
            method.window()
        };
        assert_eq!(window(1000, Test::Stream, 1 << 20), 8);
        assert_eq!(window(10, Test::Stream, 1 << 20), 1);
        assert_eq!(window(100, Test::Stream, 1 << 20), 2);
        assert_eq!(window(10, Test::Stream, 64 << 10), 4);
        assert_eq!(window(10, Test::Latency, 8), 1);
    }
}
