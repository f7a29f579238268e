//! `mgn info`: what this machine can do, and reasons for what it cannot do.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;

use mgn_launch::{client_library, find_xvfb, RunDir};
use mgn_present::XDisplay;
use mgn_server::WorkerCommand;
use serde::Serialize;

use crate::args::{Cli, Info};
use crate::output::print;
use crate::settings_summary::{summarize, SettingsSummary};

/// Whether an ability works, and details or the reason why it does not.
#[derive(Debug, Serialize)]
struct Ability {
    works: bool,
    detail: String,
}

#[derive(Debug, Serialize)]
struct Machine {
    version: &'static str,
    processors: usize,
    rendering: Ability,
    /// The confinement of sessions of a server here.
    sandbox: Ability,
    transports: BTreeMap<&'static str, Ability>,
    x_server: Ability,
    xvfb: Ability,
    client_library: Ability,
    settings: SettingsSummary,
}

pub fn info(args: Info) -> anyhow::Result<()> {
    let settings = summarize();
    let (rendering, sandbox) = rendering();
    let machine = Machine {
        version: env!("CARGO_PKG_VERSION"),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        rendering,
        sandbox,
        transports: transports(),
        x_server: x_server(),
        xvfb: find_xvfb()
            .map(|path| path.display().to_string())
            .ok_or("not installed, so --headless does not work; apt-get install xvfb".to_owned())
            .into(),
        client_library: able(client_library().map(|path| path.display().to_string())),
        settings,
    };
    let text = match args.json {
        true => serde_json::to_string_pretty(&machine)? + "\n",
        false => text(&machine),
    };
    print(&text)
}

/// The driver of a server here, and the confinement of its sessions.
fn rendering() -> (Ability, Ability) {
    let (abilities, confined) = match mgn_server::try_worker(&WorkerCommand::default()) {
        Ok(found) => found,
        Err(error) => return (no(error.to_string()), no("nothing can be rendered here")),
    };
    let missing = confined.missing.iter().map(|part| format!("not {part}"));
    let parts: Vec<String> = confined.parts.iter().cloned().chain(missing).collect();
    let sandbox = if Cli::sandbox_is_off() {
        no("MGN_NO_SANDBOX is set, so servers do not confine sessions")
    } else if parts.is_empty() {
        no("the driver opens only without a sandbox")
    } else {
        Ability {
            works: confined.holds(),
            detail: parts.join("\n"),
        }
    };
    let info = abilities.info;
    let version = |name: &str, (major, minor): (u8, u8)| match major {
        0 => format!("no {name}"),
        _ => format!("{name} {major}.{minor}"),
    };
    let rendering = yes(format!(
        "{} ({})\n{}, {}, {}, {}\nEGL {}",
        info.renderer,
        info.vendor,
        version("OpenGL", info.compat),
        version("core", info.core),
        version("OpenGL ES", info.es),
        version("ES", info.es1),
        abilities.egl
    ));
    (rendering, sandbox)
}

fn transports() -> BTreeMap<&'static str, Ability> {
    let shared = mgn_sys::memory::create("mgn-info", 4096)
        .and_then(|fd| mgn_sys::Mapping::new(&fd, 4096, mgn_sys::Protection::ReadWrite))
        .map(|_| "sealed anonymous memory".to_owned());
    let unix = RunDir::create().map_err(|e| e.to_string()).and_then(|run| {
        let path = run.join("socket");
        UnixListener::bind(&path).map_err(|e| e.to_string())?;
        Ok(format!(
            "sockets, run directories like {}",
            run.path().display()
        ))
    });
    BTreeMap::from([
        ("shm", able(shared)),
        ("unix", unix.into()),
        ("tcp", tcp()),
        ("null", yes("always")),
        ("file", yes("always")),
    ])
}

fn tcp() -> Ability {
    let on = |address| TcpListener::bind((address, 0)).map_err(|e| e.to_string());
    match (on("127.0.0.1"), on("::1")) {
        (Ok(_), Ok(_)) => yes("IPv4 and IPv6"),
        (Ok(_), Err(why)) => yes(format!("IPv4; not IPv6: {why}")),
        (Err(why), Ok(_)) => yes(format!("IPv6; not IPv4: {why}")),
        (Err(why), Err(_)) => no(why),
    }
}

fn x_server() -> Ability {
    if std::env::var_os("DISPLAY").is_none_or(|display| display.is_empty()) {
        return no("DISPLAY is not set; programs with windows need --headless");
    }
    let info = match XDisplay::connect(None).and_then(|display| display.info()) {
        Ok(info) => info,
        Err(error) => return no(error.to_string()),
    };
    let (width, height) = info.size;
    let mut text = format!(
        "{} {}, {width}x{height}, depth {}",
        info.vendor, info.release, info.depth
    );
    let memory = if info.shared_memory {
        "takes"
    } else {
        "takes no"
    };
    text += &format!(", {memory} shared memory");
    match info.glx {
        Some((major, minor)) => yes(format!("{text}, GLX {major}.{minor}")),
        None => no(format!(
            "{text}, but no GLX, which programs look for; start it with +extension GLX"
        )),
    }
}

fn text(machine: &Machine) -> String {
    let mut text = format!(
        "Manganese {}, {} processors\n",
        machine.version, machine.processors
    );
    let rows = [
        ("rendering", &machine.rendering),
        ("sandbox", &machine.sandbox),
    ];
    let rows = rows
        .into_iter()
        .chain(machine.transports.iter().map(|(name, able)| (*name, able)));
    let rest = [
        ("X server", &machine.x_server),
        ("Xvfb", &machine.xvfb),
        ("client library", &machine.client_library),
    ];
    for (name, able) in rows.chain(rest) {
        let mark = if able.works { "yes" } else { "no" };
        for (n, line) in able.detail.lines().enumerate() {
            let (name, mark) = if n == 0 { (name, mark) } else { ("", "") };
            let _ = writeln!(text, "{name:<15} {mark:<4} {line}");
        }
    }
    let _ = write!(text, "\n{}", settings_text(&machine.settings));
    text
}

/// The settings that apply where no flag is given, and their sources.
fn settings_text(settings: &SettingsSummary) -> String {
    let mut text = String::new();
    let file = match &settings.file {
        Some(file) if settings.is_there => file.display().to_string(),
        Some(file) => format!("none; it would be {}", file.display()),
        None => "none, because HOME is not set".into(),
    };
    let _ = writeln!(text, "{:<20} {file}", "settings");
    if let Some(mistake) = &settings.mistake {
        let _ = writeln!(text, "{:<20} {mistake}", "  mistake");
    }
    for (name, shown, nothing) in [
        ("  server", &settings.server, "one of its own for each run"),
        ("  mothership", &settings.mothership, "unknown"),
        (
            "  token",
            &settings.token_file,
            "none; `mgn token new` makes one",
        ),
        ("  ssh", &settings.ssh, "unknown"),
        ("  mgn on ssh hosts", &settings.ssh_mgn, "unknown"),
        (
            "  client's sessions",
            &settings.max_sessions_per_client,
            "a quarter of --max-sessions, but at least 32, for each address",
        ),
        (
            "  token's sessions",
            &settings.max_sessions_per_token,
            "no limit",
        ),
        (
            "  memory for all",
            &settings.memory_total,
            "three quarters of the machine's memory",
        ),
        ("  idle timeout", &settings.idle_timeout, "none"),
        ("  audit file", &settings.audit, "none"),
        (
            "  token store",
            &settings.token_store,
            "none; `mgn token new` makes one",
        ),
        (
            "  server key",
            &settings.server_key,
            "none yet; created at first use",
        ),
    ] {
        let _ = match (&shown.value, &shown.source) {
            (Some(value), Some(source)) => writeln!(text, "{name:<20} {value} ({source})"),
            _ => writeln!(text, "{name:<20} {nothing}"),
        };
        let more = match name {
            "  token" => &settings.token,
            "  server key" => &settings.public_key,
            _ => &None,
        };
        if let Some(more) = more {
            let _ = writeln!(text, "{:<20} {more}", "");
        }
    }
    text
}

fn yes(detail: impl Into<String>) -> Ability {
    Ability {
        works: true,
        detail: detail.into(),
    }
}

fn no(why: impl Into<String>) -> Ability {
    Ability {
        works: false,
        detail: why.into(),
    }
}

fn able<E: ToString>(result: Result<String, E>) -> Ability {
    result.map_err(|error| error.to_string()).into()
}

impl From<Result<String, String>> for Ability {
    fn from(result: Result<String, String>) -> Ability {
        match result {
            Ok(text) => yes(text),
            Err(why) => no(why),
        }
    }
}
