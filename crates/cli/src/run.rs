//! `mgn run`.

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{bail, Context};
use mgn_launch::ssh::Remote;
use mgn_launch::watch::Verdict;
use mgn_launch::{
    icet_library, ClientSettings, Counters, Icet, Report, RunDir, Save, Session, SharedWindow,
    ICET_NAMES,
};
use mgn_mothership::{Failover, Match};
use mgn_spu::{Chain, Stage};

use crate::args::{ImageFormat, OnLoss, Present, Run, WallName};
use crate::launch_plan::{self, elsewhere_advice, exit_status_of, FAILED};
use crate::output::{print_error, tell};
use crate::ranks::{self, Rank};
use crate::report::{live_line, Figures};
use crate::server::server_stages;
use crate::{defaults, mothership_match, ssh, viewer};

/// The interval between updates of the live line.
const LIVE_INTERVAL: Duration = Duration::from_millis(500);

/// How long the program of a rank may take to end after a signal.
const RANK_GRACE_PERIOD: Duration = Duration::from_secs(3);

/// The exit status if the program succeeded, but drew with another driver.
const OTHER_DRIVER: u8 = 1;

pub fn run(mut args: Run) -> ExitCode {
    let result = match args.ranks.np {
        Some(copies) => ranks::launch(&args, copies),
        None => start(&mut args).and_then(|started| watch(&args, started)),
    };
    match result {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            let interrupted = matches!(
                error.downcast_ref(),
                Some(mgn_launch::Error::Interrupted(_))
            );
            // The process that started this rank has printed why it ends the rank.
            if !(interrupted && args.ranks.ranked.is_some()) {
                print_error(&error);
            }
            ExitCode::from(error.downcast_ref().map_or(FAILED, exit_status_of))
        }
    }
}

/// A run, and all objects that must exist as long as the run.
struct Started {
    prints_common_messages: bool,
    session: Session,
    found: Option<Match>,
    _failover: Option<Failover>,
    _viewers: Vec<mgn_viewer::Viewer>,
    remote: Option<Remote>,
}

fn start(args: &mut Run) -> anyhow::Result<Started> {
    let rank = Rank::find(args)?;
    if let Some(rank) = &rank {
        rank.apply(args)?;
    }
    ranks::check(args)?;
    let secret = std::env::var_os("MGN_TOKEN_FILE").map(PathBuf::from);
    let mut plan = launch_plan::local(&args.render, &args.program)?;
    let flag = match (args.discard, args.spu.is_empty()) {
        (true, _) => Some("--discard"),
        (false, false) => Some("--spu"),
        _ => None,
    };
    defaults::apply_to_program(&mut args.render, flag)?;
    ssh::check_display(args.lease.as_deref(), &args.render)?;
    launch_plan::check(&args.render, flag)?;
    let stages = server_stages(args.spu.clone(), args.discard);
    // The server checks its chain too, but reports mistakes only through the client.
    Chain::on_server(stages.clone())?;
    let chain = args.client_spu.iter().cloned().map(Stage::absolute);
    let chain: Vec<Stage> = chain.collect::<Result<_, _>>()?;
    Chain::on_client(chain.clone())?;
    let save = args
        .save
        .as_deref()
        .map(|dir| save(args, dir))
        .transpose()?;
    if let Some(path) = &args.stats_json {
        // If the file cannot be written, this fails now and not at the end of the run.
        fs::File::create(path).with_context(|| format!("writing {}", path.display()))?;
    }
    let settings = ClientSettings {
        present: match args.present {
            Present::Window => mgn_launch::Present::Window,
            Present::None => mgn_launch::Present::None,
        },
        save,
        frames: args.frames,
        chain: chain.iter().map(Stage::to_string).collect(),
        count_commands: args.stats || args.stats_json.is_some(),
        on_loss: match args.on_loss {
            OnLoss::Exit => mgn_launch::OnLoss::Exit,
            OnLoss::Continue => mgn_launch::OnLoss::Continue,
        },
        icet: args.icet.as_deref().map(icet).transpose()?,
        window: shared_window(args)?,
        composite: ranks::composite_settings(args),
        swap_barrier: ranks::swap_barrier_settings(args),
        ..ClientSettings::default()
    };
    let mut found = mothership_match::request(&args.render, flag, &args.program[0])?;
    let run = RunDir::create()?;
    let failover = match &mut found {
        Some(found) => found.failover(run.path())?,
        None => None,
    };
    if let Some(rank) = &rank {
        plan.environment
            .extend(rank.environment(&run, secret.as_deref())?);
    }
    let remote = ssh::start_server(&mut args.render)?;
    plan.beside.extend(remote.as_ref().and_then(Remote::pid));
    plan.driver =
        launch_plan::manganese_driver(&args.render, &run, &stages, found.as_ref(), settings)?;
    if let Some(rank) = rank.as_ref().filter(|_| args.ranks.composite.is_some()) {
        rank.apply_to_wall(&mut plan.driver)?;
    }
    let viewers = viewer::start_for_run(&args.viewer, &run, &mut plan.driver)?;
    let prints_common_messages = rank.as_ref().is_none_or(Rank::prints_common_messages);
    if prints_common_messages && !may_be_without_gl(args) {
        launch_plan::print_display_problems(&args.render);
    }
    Ok(Started {
        prints_common_messages,
        session: Session::start(run, plan)?,
        found,
        _failover: failover,
        _viewers: viewers,
        remote,
    })
}

/// The library that programs get instead of IceT, and the file names that it replaces.
fn icet(name: &str) -> anyhow::Result<Icet> {
    let names = match name {
        "" => ICET_NAMES.map(String::from).to_vec(),
        name if name.contains('/') || !name.contains(".so") => anyhow::bail!(
            "--icet={name}: give the file name of the program's IceT library without a folder, for \
             example --icet=libIceTCore.so"
        ),
        name => vec![name.to_owned()],
    };
    Ok(Icet {
        library: icet_library()?,
        names,
    })
}

/// The window that the program shares with others, which use the same servers.
fn shared_window(args: &Run) -> anyhow::Result<Option<SharedWindow>> {
    let Some(name) = args
        .window
        .shared_window
        .clone()
        .filter(|name| !name.is_empty())
    else {
        return Ok(None);
    };
    let window = mgn_wire::hello::SharedWindow {
        name,
        clients: args.window.window_clients,
        patience: args.window.window_wait,
    };
    if !window.is_sound() {
        let longest = mgn_wire::hello::SharedWindow::NAME_MAX;
        bail!("--shared-window: the name is longer than {longest} bytes");
    }
    // The mothership may choose other servers each time, unless its file names the server of each
    // tile.
    let has_name = |wall: &WallName| matches!(wall, WallName::Named(_));
    let walls = &args.render.wall;
    let is_fixed = !walls.is_empty() && walls.iter().all(has_name);
    if args.render.server.is_empty() && !is_fixed {
        bail!(
            "--shared-window needs --server, or the --wall of a mothership's file: programs draw \
             into a window together only if they have the same servers"
        );
    }
    if !walls.is_empty() && window.clients.is_none() {
        bail!(
            "--shared-window on a --wall needs --window-clients N, so that all servers of the wall \
             agree on the programs of the window"
        );
    }
    Ok(Some(SharedWindow {
        name: window.name,
        clients: window.clients,
        patience: window.patience,
    }))
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

fn watch(args: &Run, started: Started) -> anyhow::Result<u8> {
    // Variables are dropped in reverse order: the viewers first, the remote server last.
    let Started {
        prints_common_messages,
        remote,
        mut session,
        found,
        _failover,
        _viewers,
    } = started;
    let live = args.stats && std::io::stderr().is_terminal();
    let mut last = (Counters::default(), Instant::now());
    let mut killed_at = None;
    let report = loop {
        if let Some(report) = session.wait(LIVE_INTERVAL)? {
            break report;
        }
        if ssh::is_lease_over(args.lease.as_deref()) {
            drop(session);
            anyhow::bail!("the ssh connection has ended, so the program was ended");
        }
        if args.ranks.ranked.is_some() && session.signal().is_some() {
            // The program may be waiting for the pictures of ranks that have ended.
            let until = *killed_at.get_or_insert(Instant::now() + RANK_GRACE_PERIOD);
            if Instant::now() >= until {
                session.kill();
            }
        }
        if ssh::is_lease_over(args.ranks.ranked.as_deref()) {
            drop(session);
            anyhow::bail!("the process that started this rank has ended, so the program was ended");
        }
        if let Some(found) = &found {
            let now = Counters::read(session.run_dir());
            found.report(now.frames, now.bytes);
        }
        if live {
            let now = Counters::read(session.run_dir());
            let line = live_line(&now, &last.0, last.1.elapsed().as_secs_f64());
            let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
            last = (now, Instant::now());
        }
    };
    if live {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
    let counters = Counters::read(session.run_dir());
    let has_icet = session.run_dir().join("icet").exists();
    drop(session);
    drop(remote);
    let figures = Figures::new(&counters, &report);
    if args.stats {
        tell(figures.summary());
    }
    if let Some(path) = &args.stats_json {
        write_json(path, &figures).with_context(|| format!("writing {}", path.display()))?;
    }
    let status = status(&report, &counters, args);
    let has_failed_without_gl = status != 0 && matches!(report.verdict, Verdict::NoGl);
    if prints_common_messages && may_be_without_gl(args) && has_failed_without_gl {
        // A problem of the X server may be the reason.
        launch_plan::print_display_problems(&args.render);
    }
    if args.icet.is_none() || has_icet {
        return Ok(status);
    }
    tell(format!(
        "mgn: {} did not composite through Manganese: no process loaded IceT under any of the names that --icet replaces ({}); see \"Other programs\" in icet.md",
        args.program[0].to_string_lossy(),
        match args.icet.as_deref() {
            Some("") | None => ICET_NAMES.join(", "),
            Some(name) => name.to_owned(),
        }
    ));
    Ok(status.max(u8::from(status == 0) * OTHER_DRIVER))
}

fn write_json(path: &Path, figures: &Figures) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(figures)?;
    text.push('\n');
    fs::File::create(path)?.write_all(text.as_bytes())?;
    Ok(())
}

/// Whether the program may correctly use no OpenGL. A copy may composite its own pictures, or only
/// send messages.
fn may_be_without_gl(args: &Run) -> bool {
    args.ranks.ranked.is_some() && args.ranks.composite.is_none()
}

/// Prints whether the program drew with another driver or not at all. Returns the exit status.
fn status(report: &Report, counters: &Counters, args: &Run) -> u8 {
    let program = args.program[0].to_string_lossy();
    let own = u8::try_from(report.status).unwrap_or(u8::MAX);
    match &report.verdict {
        Verdict::Elsewhere { process, driver } => {
            tell(format!(
                "mgn: {process} drew with {} and not through Manganese; {}",
                driver.display(),
                elsewhere_advice(driver)
            ));
            own.max(u8::from(own == 0) * OTHER_DRIVER)
        }
        Verdict::NoGl if own == 0 && counters.processes == 0 && !may_be_without_gl(args) => {
            tell(format!("mgn: {program} used no OpenGL"));
            own
        }
        _ => own,
    }
}
