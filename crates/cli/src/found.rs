//! Servers that the mothership finds for a program.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use mgn_fabric::Transport;
use mgn_mothership::protocol::{Request, Wanted, Way};
use mgn_mothership::{ask, default_address, Match};
use mgn_wall::Wall;

use crate::args::{Through, WallName};

/// How long servers may take to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Asks the mothership, if the flags say that it shall be asked. `flag` is one that is for a server of our own.
pub fn find(
    through: &Through,
    flag: Option<&str>,
    program: &OsStr,
) -> anyhow::Result<Option<Match>> {
    let address = match (&through.mothership, &through.wall) {
        (Some(address), _) => address.clone(),
        (None, Some(WallName::Named(_))) => match std::env::var("MGN_MOTHERSHIP") {
            Ok(address) => address.parse()?,
            Err(_) => default_address(),
        },
        _ => return Ok(None),
    };
    if let Some(flag) = flag {
        anyhow::bail!(
            "{flag} is for a server of this run; leave it out, or start a server with it"
        );
    }
    let program = Path::new(program).file_name().unwrap_or(program);
    let mut request = Request::new(wanted(through.wall.as_ref())?, &program.to_string_lossy());
    request.way = match &through.transport {
        None => None,
        Some(Transport::Shm) => Some(Way::Shm),
        Some(Transport::Unix) => Some(Way::Unix),
        Some(Transport::Tcp) => Some(Way::Tcp),
        Some(other) => anyhow::bail!("--transport {other} needs no server; leave out --mothership"),
    };
    let token = through.token_file.as_deref();
    let tell = |why: &str| eprintln!("mgn: waiting: {why}");
    let found = ask(&address, token, request, PATIENCE, tell)?;
    say_what_is_not_done(&found);
    Ok(Some(found))
}

fn wanted(wall: Option<&WallName>) -> anyhow::Result<Wanted> {
    Ok(match wall {
        None => Wanted::Single(None),
        Some(WallName::Named(name)) => Wanted::Wall(name.clone()),
        Some(WallName::Tiles(wall)) => {
            let (columns, rows) = wall.size;
            if Wall::grid(columns, rows).as_ref() != Ok(wall) {
                anyhow::bail!("the mothership knows walls by their names; give a name, or COLUMNSxROWS, with --wall");
            }
            Wanted::Grid(columns, rows)
        }
    })
}

/// All windows are divided, and what goes to the wall is told by nothing but their order.
fn say_what_is_not_done(found: &Match) {
    let mut ignored = Vec::new();
    if found.windows != Default::default() {
        ignored.push("windows");
    }
    if !found.chain.is_empty() {
        ignored.push("chain");
    }
    if !ignored.is_empty() {
        let (name, keys) = (&found.wall.name, ignored.join(", "));
        eprintln!("mgn: the wall {name} says more than a program is told yet: {keys}; all of its windows are divided, and the first is shown on it");
    }
}
