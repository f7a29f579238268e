//! `mgn viewer`, and the viewer of a run.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};

use anyhow::Context;
use mgn_fabric::{Access, Address, Token};
use mgn_launch::{ClientSettings, Driver, RunDir, Server};
use mgn_viewer::ViewerOptions;
use mgn_wall::{Target, Wall};

use crate::args::{Viewer, WallName};
use crate::credentials;
use crate::output::{print, tell};

pub fn serve(args: Viewer) -> anyhow::Result<()> {
    let listener = credentials::for_listener(&args.keys, [&args.feeds], [])?;
    if let WallName::Named(name) = &args.wall {
        anyhow::bail!("{name} is not a wall that a viewer can show; give COLUMNSxROWS, or a file whose name ends with .toml or has a / in it, with --wall");
    }
    let wall = WallName::tiles(&[args.wall])?.context("there is no wall")?;
    let viewer = mgn_viewer::Viewer::start(ViewerOptions {
        listen: args.listen,
        access: listener.access,
        names: args.name,
        ..ViewerOptions::new(wall, args.feeds)
    })?;
    print(&format!("{}\n", viewer.url()))?;
    tracing::info!("receiving pictures at {}", viewer.feeds());
    viewer.wait();
    anyhow::bail!("the viewer has ended")
}

/// Starts one viewer for each address of `listen`, adds them to the wall in the settings of
/// `driver`, and prints the addresses of their pages. The viewers show the walls in order; surplus
/// viewers show the last wall.
pub fn start_for_run(
    listen: &[Address],
    run: &RunDir,
    driver: &mut Driver,
) -> anyhow::Result<Vec<mgn_viewer::Viewer>> {
    if listen.is_empty() {
        return Ok(Vec::new());
    }
    let Driver::Ours {
        server, settings, ..
    } = driver
    else {
        anyhow::bail!("no renderer sends pictures to the viewer; leave out --viewer");
    };
    let mut wall = match &settings.wall {
        Some(wall) => Wall::from_json(wall)?,
        None => Wall::grid(1, 1)?,
    };
    for tile in &mut wall.tiles {
        tile.present
            .retain(|target| !matches!(target, Target::Viewer(_)));
    }
    let mut viewers = Vec::new();
    for (n, listen) in (0..).zip(listen) {
        let feeds = feeds(server, settings, run, n)?;
        let token_file = settings
            .token_file
            .as_deref()
            .filter(|_| feeds.needs_token());
        let (shown, is_of_wall) = wall.one_of(wall.walls().min(n + 1) - 1);
        let viewer = mgn_viewer::Viewer::start(ViewerOptions {
            listen: listen.clone(),
            // The program's servers authenticate with a secret that is derived from its token.
            access: Access::from(token_file.map(Token::read).transpose()?).with_callbacks(),
            ..ViewerOptions::new(shown, feeds)
        })?;
        for tile in wall.tiles.iter_mut().filter(|tile| is_of_wall(tile)) {
            let feeds = viewer.feeds().to_string();
            tile.present.push(Target::Viewer(feeds));
        }
        tell(format!("mgn: the program is shown at {}", viewer.url()));
        viewers.push(viewer);
    }
    settings.wall = Some(wall.to_json());
    Ok(viewers)
}

/// The address at which the `n`-th viewer of a run receives pictures. All servers use the same one,
/// including those on other hosts.
fn feeds(
    server: &Server,
    settings: &ClientSettings,
    run: &RunDir,
    n: u32,
) -> anyhow::Result<Address> {
    let servers: Vec<Address> = settings
        .servers
        .iter()
        .map(|server| server.parse())
        .collect::<Result<_, _>>()?;
    let far = servers.iter().find(|server| server.is_tcp());
    let transport = settings.transports.first().map(String::as_str);
    Ok(match (far, server, transport) {
        (
            Some(Address::Tcp {
                host, port, tls, ..
            }),
            ..,
        ) => Address::Tcp {
            host: own_address(host, *port)?.to_string(),
            port: 0,
            tls: *tls,
            server: None,
        },
        (None, Server::Embedded { .. }, Some("tcp")) => "tcp:127.0.0.1:0".parse()?,
        (None, Server::Elsewhere, _) if servers.is_empty() => {
            anyhow::bail!("--viewer needs renderers; leave out --transport or name another")
        }
        _ => Address::Unix(run.join(format!("viewer-{n}"))),
    })
}

/// The local address of this host in connections to a server.
fn own_address(host: &str, port: u16) -> anyhow::Result<IpAddr> {
    let doing = || format!("finding a route to {host}");
    let mut addresses = (host, port).to_socket_addrs().with_context(doing)?;
    let address = addresses.next().with_context(doing)?;
    let any: IpAddr = match address {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    // Connecting a datagram socket only selects its local address; no packet is sent.
    let socket = UdpSocket::bind((any, 0)).with_context(doing)?;
    socket.connect(address).with_context(doing)?;
    Ok(socket.local_addr().with_context(doing)?.ip())
}
