//! Servers that the mothership finds for a program.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use mgn_fabric::Transport;
use mgn_mothership::protocol::{Request, TransportKind, Wanted};
use mgn_mothership::{ask, Match};

use crate::args::{RenderFlags, WallName};
use crate::defaults;
use crate::output::tell;

/// How long a program waits until the mothership has servers for it.
const MATCH_TIMEOUT: Duration = Duration::from_secs(60);

/// Requests servers from the mothership, if the flags say so. `own_server_flag` is a flag that was
/// given and requires a server of this run.
pub fn request(
    flags: &RenderFlags,
    own_server_flag: Option<&str>,
    program: &OsStr,
) -> anyhow::Result<Option<Match>> {
    let address = match (&flags.mothership, WallName::first_name(&flags.wall)) {
        (Some(address), _) => address.clone(),
        (None, Some(_)) => defaults::mothership(None)?,
        _ if flags.needs.is_some() => anyhow::bail!(
            "--needs is for servers that the mothership finds; give --mothership, or the name of a wall with --wall"
        ),
        _ => return Ok(None),
    };
    if let Some(flag) = own_server_flag {
        anyhow::bail!(
            "{flag} is for a server of this run; leave it out, or start a server with it"
        );
    }
    let program = Path::new(program).file_name().unwrap_or(program);
    let mut request = Request::new(wanted_tiles(&flags.wall)?, &program.to_string_lossy());
    request.needs = flags.needs.clone().unwrap_or_default();
    request.transport = match &flags.transport {
        None => None,
        Some(Transport::Shm) => Some(TransportKind::Shm),
        Some(Transport::Unix) => Some(TransportKind::Unix),
        Some(Transport::Tcp) => Some(TransportKind::Tcp),
        Some(other) => anyhow::bail!("--transport {other} needs no server; leave out --mothership"),
    };
    let token = flags.token_file.as_deref();
    let report = |why: &str| tell(format!("mgn: waiting: {why}"));
    Ok(Some(ask(&address, token, request, MATCH_TIMEOUT, report)?))
}

fn wanted_tiles(walls: &[WallName]) -> anyhow::Result<Wanted> {
    let (mut names, mut grids) = (Vec::new(), Vec::new());
    for wall in walls {
        match wall {
            WallName::Named(name) => names.push(name.clone()),
            WallName::File(_) => anyhow::bail!("the mothership knows walls by their names; give a name, or COLUMNSxROWS, with --wall"),
            WallName::Tiles(wall) => {
                grids.push(wall.size);
            }
        }
    }
    Ok(match (names.is_empty(), grids.is_empty()) {
        (true, true) => Wanted::Single(None),
        (true, false) => Wanted::Grids(grids),
        (false, true) => Wanted::Walls(names),
        (false, false) => anyhow::bail!(
            "give either all walls by name, or all as COLUMNSxROWS; change one --wall"
        ),
    })
}
