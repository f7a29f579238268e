//! From the flags that say how a program reaches a server, to the plan of its run.

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

use crate::args::{Through, Tiling, WallName, Weld};
use crate::settings;

/// Exit statuses of our own, the ones that shells and `env` use for the same.
pub const FAILED: u8 = 125;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;

/// The exit status for a program that could not be started.
pub fn own_status(error: &Error) -> u8 {
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

/// A plan of `program` with its arguments on the system's own driver.
pub fn plan(through: &Through, program: &[OsString]) -> anyhow::Result<Plan> {
    Ok(Plan {
        program: inspect::inspect(&program[0])?,
        name: program[0].clone(),
        arguments: program[1..].to_vec(),
        display: match &through.display {
            _ if through.headless => Display::Headless,
            Some(name) => Display::Named(name.into()),
            None => Display::Inherited,
        },
        driver: Driver::Local,
        environment: Vec::new(),
        output: Output::Inherited,
        beside: Vec::new(),
    })
}

/// Us as the driver, in `run`, and the servers that were found. What the flags say is added to
/// `settings`.
pub fn ours(
    through: &Through,
    run: &RunDir,
    stages: &[Stage],
    found: Option<&Match>,
    mut settings: ClientSettings,
) -> anyhow::Result<Driver> {
    let library = client_library()?;
    settings.servers = through.server.iter().map(Address::to_string).collect();
    let mut wall = WallName::tiles(&through.wall)?;
    let transport = through.transport.as_ref();
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
        settings.chain.extend(wanted_by_wall(&found.client_chain)?);
        let token = |t: &TileServer| t.token_file.as_ref().map(|file| file.display().to_string());
        settings.token_files = found
            .tiles
            .iter()
            .map(|t| token(t).unwrap_or_default())
            .collect();
        let key = |t: &TileServer| t.key.map_or_else(String::new, |key| key.to_string());
        settings.server_keys = found.tiles.iter().map(key).collect();
    }
    for plan in WallName::plans(&through.wall) {
        let stages: Vec<String> = plan.client_chain.iter().map(ToString::to_string).collect();
        settings.chain.extend(wanted_by_wall(&stages)?);
    }
    let stages = &[of_files(through)?, stages.to_vec()].concat()[..];
    let chain = settings.chain.iter().map(|stage| stage.parse());
    let chain = Chain::on_client(chain.collect::<Result<_, _>>()?)?;
    chain.fits(wall.as_ref().map_or(1, |wall| wall.tiles.len()))?;
    settings.wall = wall.map(|wall| tiled(wall, through.tiling).to_json());
    // A server of our own has a secret of its own, or none.
    settings.token_file = through
        .token_file
        .as_deref()
        .filter(|_| !settings.servers.is_empty())
        .map(std::path::absolute)
        .transpose()?;
    settings.weld = match through.weld {
        Weld::Auto => mgn_launch::Weld::Auto,
        Weld::Always => mgn_launch::Weld::Always,
        Weld::Never => mgn_launch::Weld::Never,
    };
    let server = match (settings.servers.first(), &through.transport) {
        (None, None | Some(Transport::Shm | Transport::Unix | Transport::Tcp)) => {
            embedded(through, run, stages, &mut settings)?
        }
        _ => Server::Elsewhere,
    };
    Ok(Driver::Ours {
        library,
        server,
        settings: settings.into(),
    })
}

/// The stages that a wall wants in the program's process, behind those of the flags.
fn wanted_by_wall(chain: &[String]) -> anyhow::Result<Vec<String>> {
    let stages = chain.iter().map(|stage| stage.parse());
    let stages: Vec<Stage> = stages.collect::<Result<_, _>>()?;
    stages.iter().try_for_each(Stage::for_client_of_others)?;
    Ok(stages.iter().map(Stage::to_string).collect())
}

/// The stages that walls of files want in the server of this run.
fn of_files(through: &Through) -> anyhow::Result<Vec<Stage>> {
    let mut chains = WallName::plans(&through.wall).map(|plan| &plan.chain);
    let Some(first) = chains.next() else {
        return Ok(Vec::new());
    };
    if chains.any(|other| other != first) {
        anyhow::bail!("the walls have different chains, and are drawn by the same server; give them the same chain");
    }
    let stages = first.iter().map(|stage| stage.to_string().parse());
    Ok(stages.collect::<Result<_, _>>()?)
}

/// The wall as the flag says it is tiled.
fn tiled(wall: Wall, tiling: Tiling) -> Wall {
    let tiling = match tiling {
        Tiling::Auto => wall.tiling,
        Tiling::Scissor => mgn_wall::Tiling::Scissor,
        Tiling::Offset => mgn_wall::Tiling::Offset,
    };
    Wall { tiling, ..wall }
}

/// A transport and a server's address that cannot go together are refused here, where the flags can
/// be named, as is the `flag` that is for a server of our own, if there is one.
pub fn check(through: &Through, flag: Option<&str>) -> anyhow::Result<()> {
    let name = WallName::first_name(&through.wall);
    if let (false, Some(name)) = (through.server.is_empty(), name) {
        anyhow::bail!("the wall {name} has servers of its own; leave out --server, or give COLUMNSxROWS with --wall");
    }
    if let (Some(_), Some(name)) = (&through.ssh, name) {
        anyhow::bail!("the wall {name} has servers of its own; leave out --ssh, or give COLUMNSxROWS with --wall");
    }
    let wall = WallName::tiles(&through.wall)?;
    if through.server.is_empty() {
        let covered = wall.as_ref().and_then(|wall| wall.covered(|_| Some(())));
        if let Some(covered) = covered {
            anyhow::bail!(
                "{covered} of this host; give each a place of its own in the walls' files"
            );
        }
    } else if !of_files(through)?.is_empty() {
        anyhow::bail!("the wall has a chain, and servers of --server have chains of their own; leave out --server, or the wall's chain, and start the servers with --spu");
    }
    let tiles = wall.map_or(1, |wall| wall.tiles.len());
    let servers = through.server.len();
    if servers > 1 && servers != tiles {
        anyhow::bail!(
            "--server is given {servers} times for {tiles} tiles; give it once for all of them, or once for each"
        );
    }
    let far = |server: &Address| matches!(server, Address::Tcp { .. });
    match &through.transport {
        Some(Transport::Null | Transport::File(_)) if !through.wall.is_empty() => {
            anyhow::bail!("--wall needs renderers; leave out --transport or name another")
        }
        Some(transport @ (Transport::Null | Transport::File(_))) => {
            if let Some(flag) = flag.or((servers > 0).then_some("--server")) {
                anyhow::bail!("--transport {transport} needs no server; leave out {flag}")
            }
        }
        Some(transport @ (Transport::Shm | Transport::Unix)) if through.server.iter().any(far) => {
            anyhow::bail!("--transport {transport} needs a server with a unix: address")
        }
        Some(Transport::Tcp) if !through.server.iter().all(far) => {
            anyhow::bail!("--transport tcp needs a server with a tcp: or tls: address")
        }
        _ => {}
    }
    if let (Some(server), None) = (
        through.server.iter().find(|server| far(server)),
        &through.token_file,
    ) {
        let whom = format!("the server at {server}");
        anyhow::bail!("{}", settings::lacks_token(&whom));
    }
    Ok(())
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

/// How to start a server for this run alone. It listens where nobody else can reach it.
fn embedded(
    through: &Through,
    run: &RunDir,
    stages: &[Stage],
    settings: &mut ClientSettings,
) -> anyhow::Result<Server> {
    let executable = std::env::current_exe().context("finding the mgn executable")?;
    let address = match through.transport {
        Some(Transport::Tcp) => "tcp:127.0.0.1:0".to_owned(),
        _ => Address::Unix(run.join("server")).to_string(),
    };
    let mut arguments = vec!["server".into(), "--embedded".into(), "--listen".into()];
    arguments.push(address.into());
    if matches!(through.transport, Some(Transport::Tcp)) {
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

/// A program may do without an X server, through EGL; most cannot. So this is said and not an
/// error.
pub fn say_what_the_display_lacks(through: &Through) {
    if let Some(overruled) = mgn_launch::overruled_toolkits() {
        eprintln!("mgn: {overruled}");
    }
    if through.headless {
        return;
    }
    let unset = std::env::var_os("DISPLAY").is_none_or(|d| d.is_empty());
    if through.display.is_none() && unset {
        eprintln!("mgn: there is no X server, DISPLAY is not set; --headless gives a program one without a screen");
        return;
    }
    match XDisplay::connect(through.display.as_deref()).and_then(|display| display.info()) {
        Err(error) => {
            eprintln!("mgn: {error}; --headless gives a program an X server without a screen")
        }
        Ok(info) if info.glx.is_none() => {
            eprintln!("mgn: the X server has no GLX, so most programs find no OpenGL for their windows; start it with `+extension GLX`, or use --headless");
        }
        Ok(_) => {}
    }
}

/// What to do about a program that drew with `driver`.
pub fn elsewhere_advice(driver: &Path) -> &'static str {
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
