//! The plan of a run, from the flags for the servers and the X server of a program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use mgn_fabric::{Address, Token, Transport};
use mgn_launch::{
    client_library, inspect, ClientSettings, Display, Driver, Error, Output, Plan, RunDir, Server,
};
use mgn_mothership::{Match, TileServer};
use mgn_present::XDisplay;
use mgn_spu::{Chain, Stage};
use mgn_wall::Wall;

use crate::args::{RenderFlags, Tiling, WallName, Weld};
use crate::credentials;
use crate::output::tell;

/// Exit statuses for programs that could not be started, as shells and `env` use them.
pub const FAILED: u8 = 125;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;

/// The exit status for a program that could not be started.
pub fn exit_status_of(error: &Error) -> u8 {
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

/// A plan that runs `program` with its arguments on the local driver.
pub fn local(flags: &RenderFlags, program: &[OsString]) -> anyhow::Result<Plan> {
    Ok(Plan {
        program: inspect::inspect(&program[0])?,
        name: program[0].clone(),
        arguments: program[1..].to_vec(),
        display: match &flags.display {
            _ if flags.headless => Display::Headless,
            Some(name) => Display::Named(name.into()),
            None => Display::Inherited,
        },
        driver: Driver::Local,
        environment: Vec::new(),
        output: Output::Inherited,
        beside: Vec::new(),
    })
}

/// Manganese as the driver, with the run directory `run` and the servers that the mothership has
/// found. Adds the values of the flags to `settings`.
pub fn manganese_driver(
    flags: &RenderFlags,
    run: &RunDir,
    stages: &[Stage],
    found: Option<&Match>,
    mut settings: ClientSettings,
) -> anyhow::Result<Driver> {
    let library = client_library()?;
    settings.servers = flags.server.iter().map(Address::to_string).collect();
    let mut wall = WallName::tiles(&flags.wall)?;
    let transport = flags.transport.as_ref();
    settings.transports = transport
        .map(|t| absolute(t).to_string())
        .into_iter()
        .collect();
    if let Some(found) = found {
        settings.servers = found.tiles.iter().map(|t| t.address.to_string()).collect();
        wall = Some(found.wall.clone());
        settings.transports = found
            .tiles
            .iter()
            .map(|t| t.transport.to_string())
            .collect();
        settings
            .chain
            .extend(client_stages_of_wall(&found.client_chain)?);
        let token = |t: &TileServer| t.token_file.as_ref().map(|file| file.display().to_string());
        settings.token_files = found
            .tiles
            .iter()
            .map(|t| token(t).unwrap_or_default())
            .collect();
        let key = |t: &TileServer| t.key.map_or_else(String::new, |key| key.to_string());
        settings.server_keys = found.tiles.iter().map(key).collect();
    }
    for plan in WallName::plans(&flags.wall) {
        let stages: Vec<String> = plan.client_chain.iter().map(ToString::to_string).collect();
        settings.chain.extend(client_stages_of_wall(&stages)?);
    }
    let stages = &[server_stages_of_walls(flags)?, stages.to_vec()].concat()[..];
    let chain = settings.chain.iter().map(|stage| stage.parse());
    let chain = Chain::on_client(chain.collect::<Result<_, _>>()?)?;
    chain.fits(wall.as_ref().map_or(1, |wall| wall.tiles.len()))?;
    settings.wall = wall.map(|wall| with_tiling(wall, flags.tiling).to_json());
    // The token is not for a server that this run starts.
    settings.token_file = flags
        .token_file
        .as_deref()
        .filter(|_| !settings.servers.is_empty())
        .map(std::path::absolute)
        .transpose()?;
    settings.weld = match flags.weld {
        Weld::Auto => mgn_launch::Weld::Auto,
        Weld::Always => mgn_launch::Weld::Always,
        Weld::Never => mgn_launch::Weld::Never,
    };
    let server = match (settings.servers.first(), &flags.transport) {
        (None, None | Some(Transport::Shm | Transport::Unix | Transport::Tcp)) => {
            embedded(flags, run, stages, &mut settings)?
        }
        _ => Server::Elsewhere,
    };
    Ok(Driver::Ours {
        library,
        server,
        settings: settings.into(),
    })
}

/// Checks and parses the stages that a wall adds in the program's process, after those of the
/// flags.
fn client_stages_of_wall(chain: &[String]) -> anyhow::Result<Vec<String>> {
    let stages = chain.iter().map(|stage| stage.parse());
    let stages: Vec<Stage> = stages.collect::<Result<_, _>>()?;
    stages.iter().try_for_each(Stage::for_client_of_others)?;
    Ok(stages.iter().map(Stage::to_string).collect())
}

/// The stages that walls in files add in the server of this run.
fn server_stages_of_walls(flags: &RenderFlags) -> anyhow::Result<Vec<Stage>> {
    let mut chains = WallName::plans(&flags.wall).map(|plan| &plan.chain);
    let Some(first) = chains.next() else {
        return Ok(Vec::new());
    };
    if chains.any(|other| other != first) {
        anyhow::bail!("the walls have different chains, and are drawn by the same server; give them the same chain");
    }
    let stages = first.iter().map(|stage| stage.to_string().parse());
    Ok(stages.collect::<Result<_, _>>()?)
}

/// The wall with the tiling of the flag.
fn with_tiling(wall: Wall, tiling: Tiling) -> Wall {
    let tiling = match tiling {
        Tiling::Auto => wall.tiling,
        Tiling::Scissor => mgn_wall::Tiling::Scissor,
        Tiling::Offset => mgn_wall::Tiling::Offset,
    };
    Wall { tiling, ..wall }
}

/// Refuses combinations of flags that contradict each other, so that the error can name the flags.
/// `flag` is a flag that was given and requires a server of this run.
pub fn check(flags: &RenderFlags, flag: Option<&str>) -> anyhow::Result<()> {
    let name = WallName::first_name(&flags.wall);
    if let (false, Some(name)) = (flags.server.is_empty(), name) {
        anyhow::bail!("the wall {name} has servers of its own; leave out --server, or give COLUMNSxROWS with --wall");
    }
    if let (Some(_), Some(name)) = (&flags.ssh, name) {
        anyhow::bail!("the wall {name} has servers of its own; leave out --ssh, or give COLUMNSxROWS with --wall");
    }
    let wall = WallName::tiles(&flags.wall)?;
    if flags.server.is_empty() {
        let covered = wall.as_ref().and_then(|wall| wall.covered(|_| Some(())));
        if let Some(covered) = covered {
            anyhow::bail!(
                "{covered} of this host; give each a place of its own in the walls' files"
            );
        }
    } else if !server_stages_of_walls(flags)?.is_empty() {
        anyhow::bail!("the wall has a chain, and servers of --server have chains of their own; leave out --server, or the wall's chain, and start the servers with --spu");
    }
    let tiles = wall.map_or(1, |wall| wall.tiles.len());
    let servers = flags.server.len();
    if servers > 1 && servers != tiles {
        anyhow::bail!(
            "--server is given {servers} times for {tiles} tiles; give it once for all of them, or once for each"
        );
    }
    match &flags.transport {
        Some(Transport::Null | Transport::File(_)) if !flags.wall.is_empty() => {
            anyhow::bail!("--wall needs renderers; leave out --transport or name another")
        }
        Some(transport @ (Transport::Null | Transport::File(_))) => {
            if let Some(flag) = flag.or((servers > 0).then_some("--server")) {
                anyhow::bail!("--transport {transport} needs no server; leave out {flag}")
            }
        }
        Some(transport @ (Transport::Shm | Transport::Unix))
            if flags.server.iter().any(Address::is_tcp) =>
        {
            anyhow::bail!("--transport {transport} needs a server with a unix: address")
        }
        Some(Transport::Tcp) if !flags.server.iter().all(Address::is_tcp) => {
            anyhow::bail!("--transport tcp needs a server with a tcp: or tls: address")
        }
        _ => {}
    }
    if let (Some(server), None) = (
        flags.server.iter().find(|server| server.needs_token()),
        &flags.token_file,
    ) {
        let peer = format!("the server at {server}");
        anyhow::bail!("{}", credentials::missing_token(&peer));
    }
    Ok(())
}

/// Makes the path of a file absolute, because the program may change its directory before it opens
/// the file.
fn absolute(transport: &Transport) -> Transport {
    match transport {
        Transport::File(path) => {
            Transport::File(std::path::absolute(path).unwrap_or_else(|_| path.clone()))
        }
        other => other.clone(),
    }
}

/// How to start a server for this run alone. It listens at an address that only this user can
/// reach.
fn embedded(
    flags: &RenderFlags,
    run: &RunDir,
    stages: &[Stage],
    settings: &mut ClientSettings,
) -> anyhow::Result<Server> {
    let executable = std::env::current_exe().context("finding the mgn executable")?;
    let address = match flags.transport {
        Some(Transport::Tcp) => "tcp:127.0.0.1:0".to_owned(),
        _ => Address::Unix(run.join("server")).to_string(),
    };
    let mut arguments = vec!["server".into(), "--embedded".into(), "--listen".into()];
    arguments.push(address.into());
    if matches!(flags.transport, Some(Transport::Tcp)) {
        let token: PathBuf = run.join("token");
        Token::generate().write(&token)?;
        arguments.extend(["--token-file".into(), token.clone().into()]);
        settings.token_file = Some(token);
    }
    for stage in stages {
        arguments.extend(["--spu".into(), stage.to_string().into()]);
    }
    Ok(Server::Embedded {
        executable,
        arguments,
    })
}

/// Prints what the X server lacks. It is not an error, because programs that use EGL may need no X
/// server.
pub fn print_display_problems(flags: &RenderFlags) {
    if let Some(overruled) = mgn_launch::overruled_toolkits() {
        tell(format!("mgn: {overruled}"));
    }
    if flags.headless {
        return;
    }
    let unset = std::env::var_os("DISPLAY").is_none_or(|d| d.is_empty());
    if flags.display.is_none() && unset {
        tell("mgn: there is no X server, DISPLAY is not set; --headless gives a program one without a screen");
        return;
    }
    match XDisplay::connect(flags.display.as_deref()).and_then(|display| display.info()) {
        Err(error) => {
            tell(format!(
                "mgn: {error}; --headless gives a program an X server without a screen"
            ));
        }
        Ok(info) if info.glx.is_none() => {
            tell("mgn: the X server has no GLX, so most programs find no OpenGL for their windows; start it with `+extension GLX`, or use --headless");
        }
        Ok(_) => {}
    }
}

/// Advice for a program that drew with `driver`.
pub fn elsewhere_advice(driver: &Path) -> &'static str {
    let name = driver.file_name().unwrap_or_default().to_string_lossy();
    if name.starts_with("libGL.so") || name.starts_with("libEGL.so") || name.starts_with("libGLES")
    {
        "it brings an OpenGL library of its own: remove that, so that the system's is used"
    } else if name.starts_with("libOSMesa") {
        "it draws off screen through OSMesa, which cannot be redirected: use its EGL or GLX mode"
    } else {
        "it selected another driver itself: remove the settings that select a driver, and any change of LD_LIBRARY_PATH, from its start script"
    }
}
