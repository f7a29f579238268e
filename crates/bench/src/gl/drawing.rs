//! Draws any program in one of several ways. A preloaded library fixes the program's clock and
//! counts its frames, in the same way for all of them.

use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use mgn_launch::{find_xvfb, fixed_clock_library, inspect, RunDir, Xvfb};
use mgn_verify::Camera;
use serde::Deserialize;

use crate::child;
use crate::gl::virgl::{self, Vtest};

/// The number of frames before the measurement. During the first frames, shaders are compiled and
/// memory is allocated, and the renderer may lag behind by this number of frames.
pub const WARM_UP_FRAMES: u64 = 3;

/// A program, and the time for which it draws.
#[derive(Clone, Debug)]
pub struct Scene {
    pub words: Vec<OsString>,
    /// The measuring time, which begins at frame [`WARM_UP_FRAMES`]. The program draws at least one
    /// more frame.
    pub seconds: f64,
    /// The time limit, including the time to start all processes.
    pub limit: Duration,
}

/// How a program's OpenGL is executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rendering {
    /// By the local driver, in the program.
    Direct,
    /// Through Manganese, with these flags of `mgn run`.
    Ours(Vec<String>),
    Virgl,
    /// Indirect rendering by the X server.
    Indirect,
}

/// The result of a run of a program.
#[derive(Debug)]
pub struct DrawResult {
    pub rate: Rate,
    /// CPU seconds of the process that executes the OpenGL, if it was started for this run.
    pub server_cpu: f64,
    /// The traffic through Manganese.
    pub sent: Option<Sent>,
}

/// The output of the clock library at the end.
#[derive(Debug, Deserialize)]
pub struct Rate {
    pub frames_per_second: f64,
    /// The number of frames after the frame at which the measuring time begins.
    pub frames: u64,
    pub cpu_seconds: f64,
    pub renderer: String,
}

#[derive(Debug)]
pub struct Sent {
    pub bytes_per_frame: f64,
    /// The share of the time from the first frame to the last that was spent waiting.
    pub waited: f64,
}

/// The statistics of `mgn run` that are used here.
#[derive(Deserialize)]
struct Figures {
    frames_per_second: f64,
    bytes_per_frame: f64,
    send_wait_share: f64,
    frames: u64,
    seconds: f64,
    server_cpu_seconds: f64,
    reached_server: bool,
}

/// A private X server on which programs draw. It is started on first use.
pub struct PrivateDisplay {
    mgn: PathBuf,
    started: RefCell<Option<Rc<RunningDisplay>>>,
    /// Whether any program has drawn so far. If the very first attempt fails, no other method is
    /// tried, because each of them might take the whole time limit.
    works: Cell<bool>,
    failed: RefCell<Option<Attempt>>,
}

struct Attempt {
    before: Vec<String>,
    rendering: Rendering,
    why: String,
}

struct RunningDisplay {
    xvfb: Xvfb,
    run: RunDir,
    clock: PathBuf,
}

/// The reason why nothing can be drawn on this machine, or `None` if programs can be drawn.
pub fn missing_requirement() -> Option<String> {
    let wanted = [
        find_xvfb()
            .is_none()
            .then(|| "Xvfb is not installed".to_string()),
        fixed_clock_library().err().map(|error| error.to_string()),
        mgn_launch::client_library()
            .err()
            .map(|error| error.to_string()),
    ];
    wanted.into_iter().flatten().next()
}

/// The path of one of our demos, in a checkout or in an installation.
pub fn demo(mgn: &Path, name: &str) -> Option<PathBuf> {
    let folder = mgn.parent()?;
    let above = folder.parent().unwrap_or(folder);
    let places = [above.join("demos"), above.join("lib/manganese")];
    let found = places.into_iter().map(|place| place.join(name));
    found.into_iter().find(|path| path.is_file())
}

/// A program and its arguments, with the absolute path of the program.
///
/// # Errors
/// If there is no such program, or if its OpenGL calls cannot be redirected.
pub fn with_path(words: &[OsString]) -> Result<Vec<OsString>> {
    let (name, arguments) = words.split_first().context("no program was given")?;
    let program = std::path::absolute(inspect::inspect(name)?)?;
    let words = [program.into()].into_iter();
    Ok(words.chain(arguments.iter().cloned()).collect())
}

impl Rendering {
    pub fn ours(flags: &str) -> Rendering {
        Rendering::Ours(flags.split_whitespace().map(String::from).collect())
    }

    /// The command by which a user gets the same rendering.
    pub fn command(&self, scene: &Scene) -> String {
        let program: Vec<_> = scene.words.iter().map(|w| w.to_string_lossy()).collect();
        let program = program.join(" ");
        match self {
            Rendering::Direct => program,
            Rendering::Ours(flags) => ["mgn run", &flags.join(" "), "--", &program]
                .join(" ")
                .replace("  ", " "),
            Rendering::Virgl => format!("GALLIUM_DRIVER=virpipe {program}"),
            Rendering::Indirect => format!("LIBGL_ALWAYS_INDIRECT=1 {program}"),
        }
    }

    pub fn missing(&self) -> Option<String> {
        if let Some(lacking) = missing_requirement() {
            return Some(lacking);
        }
        let is_there =
            *self != Rendering::Virgl || inspect::in_path(virgl::PROGRAM.as_ref()).is_some();
        (!is_there).then(|| format!("{} is not installed", virgl::PROGRAM))
    }
}

impl PrivateDisplay {
    pub fn new(mgn: &Path) -> Rc<PrivateDisplay> {
        Rc::new(PrivateDisplay {
            mgn: mgn.to_path_buf(),
            started: RefCell::default(),
            works: Cell::new(false),
            failed: RefCell::default(),
        })
    }

    fn started(&self) -> Result<Rc<RunningDisplay>> {
        let mut started = self.started.borrow_mut();
        if let Some(started) = &*started {
            return Ok(started.clone());
        }
        let run = RunDir::create()?;
        let new = Rc::new(RunningDisplay {
            // Old X servers do not know this option, and allow indirect GLX by default.
            xvfb: Xvfb::start_with(&run, &["+iglx"]).or_else(|_| Xvfb::start(&run))?,
            run,
            clock: fixed_clock_library()?,
        });
        *started = Some(new.clone());
        Ok(new)
    }

    /// Draws a scene. The words of `before` are a command that starts the program elsewhere.
    pub fn draw(
        &self,
        before: &[String],
        rendering: &Rendering,
        scene: &Scene,
    ) -> Result<DrawResult> {
        let is_it = |failed: &Attempt| failed.before == before && failed.rendering == *rendering;
        if let Some(failed) = self.failed.borrow().as_ref().filter(|it| !is_it(it)) {
            bail!("other methods were not tried: {}", failed.why);
        }
        let drawn = self.try_to_draw(before, rendering, scene);
        match &drawn {
            Ok(_) => {
                self.works.set(true);
                *self.failed.borrow_mut() = None;
            }
            Err(error) if !self.works.get() => {
                *self.failed.borrow_mut() = Some(Attempt {
                    before: before.to_vec(),
                    rendering: rendering.clone(),
                    why: format!("{error:#}"),
                });
            }
            Err(_) => {}
        }
        drawn
    }

    fn try_to_draw(
        &self,
        before: &[String],
        rendering: &Rendering,
        scene: &Scene,
    ) -> Result<DrawResult> {
        let display = self.started()?;
        let stats = display.run.join("stats.json");
        let _ = fs::remove_file(&stats);
        let camera = Camera {
            seconds: Some(scene.seconds),
            warm: WARM_UP_FRAMES,
            rate: true,
            ..Camera::new(display.clock.clone())
        };
        let mut words: Vec<OsString> = before.iter().map(OsString::from).collect();
        if let Rendering::Ours(flags) = rendering {
            words.extend([self.mgn.clone().into(), "run".into()]);
            words.extend(["--stats-json".into(), stats.clone().into()]);
            words.extend(flags.iter().map(OsString::from));
            words.push("--".into());
        }
        words.push("env".into());
        words.extend(camera.assignments(None));
        words.extend(scene.words.iter().cloned());
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .env("DISPLAY", display.xvfb.display())
            .env("XAUTHORITY", display.xvfb.authority())
            .env_remove("WAYLAND_DISPLAY")
            // A private X server cannot use a graphics card, so the driver must not either.
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env("vblank_mode", "0");
        let name = scene.words[0].to_string_lossy();
        let mut server: Box<dyn Fn() -> f64> = Box::new(|| 0.0);
        match rendering {
            Rendering::Virgl => {
                command.envs(virgl::CLIENT);
                let vtest = Vtest::start()?;
                server = Box::new(move || vtest.cpu());
            }
            Rendering::Indirect => {
                command.env("LIBGL_ALWAYS_INDIRECT", "1");
                command.env_remove("LIBGL_ALWAYS_SOFTWARE");
                let pid = display.xvfb.pid();
                server = Box::new(move || child::cpu(pid));
            }
            _ => {}
        }
        let cpu_before = server();
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let finished =
            child::wait(child::start(&mut command)?, &name, scene.limit)?.success(&name)?;
        let rate = rate(&finished.stdout);
        let rate = rate.with_context(|| format!("{name} drew no {} frames", WARM_UP_FRAMES + 1))?;
        match rendering {
            Rendering::Virgl if !rate.renderer.to_lowercase().contains("virgl") => {
                bail!("it does not work here: {} drew", rate.renderer);
            }
            Rendering::Indirect if rate.renderer.is_empty() => {
                bail!(
                    "it does not work here: this X server accepts the commands and draws nothing"
                );
            }
            _ => {}
        }
        let mut server_cpu = server() - cpu_before;
        let mut sent = None;
        if let Rendering::Ours(_) = rendering {
            let text = fs::read_to_string(&stats).context("mgn run wrote no figures")?;
            let figures: Figures = serde_json::from_str(&text)?;
            if !figures.reached_server {
                bail!("{name} did not draw through Manganese");
            }
            server_cpu = figures.server_cpu_seconds;
            sent = Some(figures.sent());
        }
        Ok(DrawResult {
            rate,
            server_cpu,
            sent,
        })
    }
}

impl Figures {
    fn sent(&self) -> Sent {
        // Assumes that waiting takes the same share of time before the first frame as after it.
        let waited = self.send_wait_share * self.seconds / self.frames.max(1) as f64;
        Sent {
            bytes_per_frame: self.bytes_per_frame,
            waited: (waited * self.frames_per_second).min(1.0),
        }
    }
}

/// If the program has several processes, the result is that of the process with the most frames.
fn rate(text: &str) -> Option<Rate> {
    let start = "{\"frames_per_second\"";
    let lines = text.match_indices(start).filter_map(|(at, _)| {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter();
        values.next()?.ok()
    });
    lines.max_by_key(|rate: &Rate| rate.frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_found_among_what_a_program_prints() {
        let line = |frames: u64| {
            format!(
                "{{\"frames_per_second\": 2.5, \"frames\": {frames}, \"seconds\": 4, \"cpu_seconds\": 1.5, \"renderer\": \"llvmpipe\"}}\n"
            )
        };
        let text = format!("300 frames{}{{}} and more\n{}FPS", line(10), line(4));
        let found = rate(&text).unwrap();
        assert_eq!((found.frames, found.frames_per_second), (10, 2.5));
        assert_eq!((found.cpu_seconds, &*found.renderer), (1.5, "llvmpipe"));
        assert!(rate("{\"frames_per_second\": 3").is_none());
        assert!(rate("60 FPS").is_none());
    }

    #[test]
    fn the_demo_is_found_in_a_checkout_and_where_it_is_installed() {
        let run = RunDir::create().unwrap();
        for (mgn, demo_path) in [
            (
                "checkout/target/debug/mgn",
                "checkout/target/demos/iso_demo",
            ),
            ("usr/bin/mgn", "usr/lib/manganese/iso_demo"),
        ] {
            let (mgn, path) = (run.join(mgn), run.join(demo_path));
            assert_eq!(demo(&mgn, "iso_demo"), None);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            assert_eq!(demo(&mgn, "iso_demo"), Some(path));
        }
    }

    #[test]
    fn waits_are_those_between_frames() {
        let figures = Figures {
            frames_per_second: 10.0,
            bytes_per_frame: 100.0,
            send_wait_share: 0.25,
            frames: 20,
            // Half of this time is before the first frame.
            seconds: 4.0,
            server_cpu_seconds: 0.0,
            reached_server: true,
        };
        assert!((figures.sent().waited - 0.5).abs() < 1e-9);
    }
}
