//! `mgn run`.

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use mgn_fabric::{Address, Token, Transport};
use mgn_launch::watch::Verdict;
use mgn_launch::{
    client_library, inspect, ClientSettings, Counters, Display, Error, Plan, Report, RunDir, Save,
    Server, Session,
};
use mgn_present::XDisplay;

use crate::args::{ImageFormat, OnLoss, Present, Run, Weld};
use crate::report::{live_line, Figures};

/// How often the live line changes.
const LIVE: Duration = Duration::from_millis(500);

/// Exit statuses of our own, the ones that shells and `env` use for the same.
const FAILED: u8 = 125;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;
/// The program ended well, but not through us.
const ELSEWHERE: u8 = 1;

pub fn run(args: Run) -> ExitCode {
    match start(&args).and_then(|session| watch(&args, session)) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            crate::complain(&error);
            ExitCode::from(error.downcast_ref().map_or(FAILED, own_status))
        }
    }
}

fn own_status(error: &Error) -> u8 {
    match error {
        Error::NotInPath { .. } | Error::NoSuchProgram { .. } => NOT_FOUND,
        Error::NotExecutable { .. }
        | Error::UnknownFormat { .. }
        | Error::DamagedElf { .. }
        | Error::Is32Bit { .. }
        | Error::OtherMachine { .. }
        | Error::Static { .. }
        | Error::SetId { .. }
        | Error::NoInterpreter { .. }
        | Error::InterpreterLoop { .. } => NOT_EXECUTABLE,
        Error::Interrupted(signal) => 128 + *signal as u8,
        _ => FAILED,
    }
}

fn start(args: &Run) -> anyhow::Result<Session> {
    let name = args.program[0].clone();
    let program = inspect::inspect(&name)?;
    check_transport(args)?;
    let library = client_library()?;
    let save = args
        .save
        .as_deref()
        .map(|dir| save(args, dir))
        .transpose()?;
    if let Some(path) = &args.stats_json {
        // Found out now rather than after an hour.
        fs::File::create(path).with_context(|| format!("writing {}", path.display()))?;
    }
    if !args.headless {
        say_what_the_display_lacks(args);
    }
    let run = RunDir::create()?;
    let mut settings = ClientSettings {
        server: args.server.as_ref().map(Address::to_string),
        transport: args.transport.as_ref().map(|t| absolute(t).to_string()),
        // A server of our own has a secret of its own, or none.
        token_file: args
            .token_file
            .as_deref()
            .filter(|_| args.server.is_some())
            .map(std::path::absolute)
            .transpose()?,
        present: match args.present {
            Present::Window => mgn_launch::Present::Window,
            Present::None => mgn_launch::Present::None,
        },
        save,
        frames: args.frames,
        count_commands: args.stats || args.stats_json.is_some(),
        on_loss: match args.on_loss {
            OnLoss::Exit => mgn_launch::OnLoss::Exit,
            OnLoss::Continue => mgn_launch::OnLoss::Continue,
        },
        weld: match args.weld {
            Weld::Auto => mgn_launch::Weld::Auto,
            Weld::Always => mgn_launch::Weld::Always,
            Weld::Never => mgn_launch::Weld::Never,
        },
    };
    let server = match (&args.server, &args.transport) {
        (None, None | Some(Transport::Shm | Transport::Unix | Transport::Tcp)) => {
            embedded(args, &run, &mut settings)?
        }
        _ => Server::Elsewhere,
    };
    let display = match &args.display {
        _ if args.headless => Display::Headless,
        Some(name) => Display::Named(name.into()),
        None => Display::Inherited,
    };
    let arguments = args.program[1..].to_vec();
    let plan = Plan {
        program,
        name,
        arguments,
        library,
        display,
        server,
        settings,
    };
    Ok(Session::start(run, plan)?)
}

/// A transport and a server's address that cannot go together are refused here, where the flags can
/// be named.
fn check_transport(args: &Run) -> anyhow::Result<()> {
    match (&args.transport, &args.server) {
        (Some(transport @ (Transport::Null | Transport::File(_))), Some(_)) => {
            anyhow::bail!("--transport {transport} needs no server; leave out --server")
        }
        (Some(transport @ (Transport::Null | Transport::File(_))), None) if args.discard => {
            anyhow::bail!("--transport {transport} needs no server; leave out --discard")
        }
        (Some(transport @ (Transport::Shm | Transport::Unix)), Some(Address::Tcp { .. })) => {
            anyhow::bail!("--transport {transport} needs a server with a unix: address")
        }
        (Some(Transport::Tcp), Some(Address::Unix(_) | Address::Abstract(_))) => {
            anyhow::bail!("--transport tcp needs a server with a tcp: address")
        }
        (_, Some(Address::Tcp { .. })) if args.token_file.is_none() => {
            anyhow::bail!(
                "a server over TCP wants a token; give the file that it was started with by --token-file"
            )
        }
        _ => Ok(()),
    }
}

/// The program may change its directory before it opens the file.
fn absolute(transport: &Transport) -> Transport {
    match transport {
        Transport::File(path) => {
            Transport::File(std::path::absolute(path).unwrap_or_else(|_| path.clone()))
        }
        other => other.clone(),
    }
}

fn save(args: &Run, dir: &Path) -> anyhow::Result<Save> {
    fs::create_dir_all(dir).with_context(|| format!("making {} for pictures", dir.display()))?;
    Ok(Save {
        dir: dir
            .canonicalize()
            .with_context(|| format!("finding {}", dir.display()))?,
        every: args.every,
        format: match args.image_format {
            ImageFormat::Png => "png".into(),
            ImageFormat::Jpeg => "jpeg".into(),
        },
    })
}

/// How to start a server for this run alone. It listens where nobody else can reach it.
fn embedded(args: &Run, run: &RunDir, settings: &mut ClientSettings) -> anyhow::Result<Server> {
    let executable = std::env::current_exe().context("finding the mgn executable")?;
    let address = match args.transport {
        Some(Transport::Tcp) => "tcp:127.0.0.1:0".to_owned(),
        _ => Address::Unix(run.join("server")).to_string(),
    };
    let mut arguments = vec!["server".into(), "--embedded".into(), "--listen".into()];
    arguments.push(address.into());
    if matches!(args.transport, Some(Transport::Tcp)) {
        let token: PathBuf = run.join("token");
        Token::generate().write(&token)?;
        arguments.extend(["--token-file".into(), token.clone().into()]);
        settings.token_file = Some(token);
    }
    if args.discard {
        arguments.push("--discard".into());
    }
    Ok(Server::Embedded {
        executable,
        arguments,
    })
}

/// A program may do without an X server, through EGL; most cannot. So this is said and not an
/// error.
fn say_what_the_display_lacks(args: &Run) {
    let unset = std::env::var_os("DISPLAY").is_none_or(|d| d.is_empty());
    if args.display.is_none() && unset {
        eprintln!("mgn: there is no X server, DISPLAY is not set; --headless gives a program one without a screen");
        return;
    }
    match XDisplay::connect(args.display.as_deref()).and_then(|display| display.info()) {
        Err(error) => {
            eprintln!("mgn: {error}; --headless gives a program an X server without a screen")
        }
        Ok(info) if info.glx.is_none() => {
            eprintln!("mgn: the X server has no GLX, so most programs find no OpenGL for their windows; start it with `+extension GLX`, or use --headless");
        }
        Ok(_) => {}
    }
}

fn watch(args: &Run, mut session: Session) -> anyhow::Result<u8> {
    let live = args.stats && std::io::stderr().is_terminal();
    let mut last = (Counters::default(), Instant::now());
    let report = loop {
        if let Some(report) = session.wait(LIVE)? {
            break report;
        }
        if live {
            let now = Counters::read(session.run_dir());
            let line = live_line(&now, &last.0, last.1.elapsed().as_secs_f64());
            eprint!("\r\x1b[K{line}");
            last = (now, Instant::now());
        }
    };
    if live {
        eprint!("\r\x1b[K");
    }
    let counters = Counters::read(session.run_dir());
    drop(session);
    let figures = Figures::new(&counters, &report);
    if args.stats {
        eprintln!("{}", figures.summary());
    }
    if let Some(path) = &args.stats_json {
        write_json(path, &figures).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(status(&report, &counters, args))
}

fn write_json(path: &Path, figures: &Figures) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(figures)?;
    text.push('\n');
    fs::File::create(path)?.write_all(text.as_bytes())?;
    Ok(())
}

/// The exit status, having said what was amiss.
fn status(report: &Report, counters: &Counters, args: &Run) -> u8 {
    let program = args.program[0].to_string_lossy();
    let own = u8::try_from(report.status).unwrap_or(u8::MAX);
    match &report.verdict {
        Verdict::Elsewhere { process, driver } => {
            eprintln!(
                "mgn: {process} drew with {} and not through Manganese; {}",
                driver.display(),
                elsewhere_advice(driver)
            );
            own.max(u8::from(own == 0) * ELSEWHERE)
        }
        Verdict::NoGl if own == 0 && counters.processes == 0 => {
            eprintln!("mgn: {program} used no OpenGL");
            own
        }
        _ => own,
    }
}

fn elsewhere_advice(driver: &Path) -> &'static str {
    let name = driver.file_name().unwrap_or_default().to_string_lossy();
    if name.starts_with("libGL.so") || name.starts_with("libEGL.so") || name.starts_with("libGLES")
    {
        "it brings an OpenGL library of its own: remove that, so that the system's is used"
    } else if name.starts_with("libOSMesa") {
        "it draws off screen through OSMesa, which cannot be redirected: use its EGL or GLX mode"
    } else {
        "it chose a driver by itself: unset its settings for one, and LD_LIBRARY_PATH within its start script"
    }
}
