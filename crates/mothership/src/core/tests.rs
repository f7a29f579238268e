//! Tests of the core on a virtual clock.

use super::*;
use crate::config::{Config, Units};
use crate::protocol::{
    Api, Needs, Offer, Profile, ServerLookup, TransportKind, Wanted, Whereabouts,
};
use mgn_fuzzing::Random;

const START: Duration = Duration::ZERO;

fn config(text: &str) -> Config {
    let path = std::env::temp_dir().join(format!(
        "mgn-core-{}-{:?}.toml",
        std::process::id(),
        std::thread::current().id()
    ));
    std::fs::write(&path, text).unwrap();
    let config = Config::read(&path, Units::default());
    std::fs::remove_file(&path).unwrap();
    config.unwrap_or_else(|error| panic!("{error}"))
}

const DESK: &str = r#"
    [[server]]
    name = "a"
    [[server]]
    name = "b"
    [[wall]]
    name = "desk"
    grid = [2, 1]
    tile_size = [100, 100]
    servers = ["a", "b"]
"#;

fn whereabouts(host: &str) -> Whereabouts {
    Whereabouts {
        host: host.into(),
        uid: 1000,
        host_name: format!("{host}.example.org"),
    }
}

fn hello(name: &str) -> Hello {
    let profile = |api, version| Profile {
        api,
        version,
        extensions: vec!["GL_A".into(), "GL_B".into()],
    };
    Hello {
        name: name.into(),
        instance: 1,
        whereabouts: whereabouts("one"),
        addresses: vec![format!("unix:@{name}"), "tls:0.0.0.0:7500".into()],
        offer: Offer {
            renderer: "pipe".into(),
            version: "4.5 Mesa 22".into(),
            profiles: vec![profile(Api::Compat, (4, 5)), profile(Api::Es, (3, 2))],
            limits: [("max_texture_size".to_owned(), 16384)].into(),
            memory: 1000,
        },
        sessions: 4,
        is_ours: false,
        token: None,
        key: None,
    }
}

fn request(wanted: Wanted) -> Request {
    Request {
        wanted,
        needs: Needs::default(),
        whereabouts: whereabouts("one"),
        transport: None,
        program: "gears".into(),
        pid: 1,
        held: None,
    }
}

fn desk() -> Wanted {
    Wanted::Walls(vec!["desk".into()])
}

fn server_comes(core: &mut Core, conn: u64, hello: Hello) {
    core.comes(Conn(conn), START);
    core.handle_message(Conn(conn), ToMothership::Server(Box::new(hello)), START);
}

fn client_comes(core: &mut Core, conn: u64, request: Request) {
    core.comes(Conn(conn), START);
    core.handle_message(Conn(conn), ToMothership::Client(Box::new(request)), START);
}

/// The messages to one connection since the last call. Messages to other connections are dropped.
fn said(core: &mut Core, conn: u64) -> Vec<FromMothership> {
    let outputs = std::iter::from_fn(|| core.poll_output());
    outputs
        .filter_map(|output| match output {
            Output::Send(to, message) if to == Conn(conn) => Some(message),
            _ => None,
        })
        .collect()
}

#[track_caller]
fn waits(core: &mut Core, conn: u64, word: &str) {
    match said(core, conn).as_slice() {
        [FromMothership::Waiting(why)] => assert!(why.contains(word), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn refuses(core: &mut Core, conn: u64, word: &str) {
    match said(core, conn).as_slice() {
        [FromMothership::Refused(why)] => assert!(why.contains(word), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn matches(core: &mut Core, conn: u64) -> Box<Matched> {
    match said(core, conn).pop() {
        Some(FromMothership::Matched(matched)) => matched,
        other => panic!("{other:?}"),
    }
}

/// A mothership with the wall "desk". The servers a and b (connections 1 and 2) draw for a client
/// (connection 3).
fn matched_desk() -> (Core, Box<Matched>) {
    let mut core = Core::new(&config(DESK));
    server_comes(&mut core, 1, hello("a"));
    server_comes(&mut core, 2, hello("b"));
    client_comes(&mut core, 3, request(desk()));
    let matched = matches(&mut core, 3);
    (core, matched)
}

#[test]
fn a_wall_is_there_when_its_servers_are() {
    let mut core = Core::new(&config(DESK));
    client_comes(&mut core, 1, request(desk()));
    waits(
        &mut core,
        1,
        "the server a of the tile 0,0 has not registered yet",
    );
    server_comes(&mut core, 2, hello("a"));
    waits(&mut core, 1, "the server b of the tile 1,0");
    let status = core.status(START);
    assert!(status.clients[0]
        .waits_for
        .as_ref()
        .unwrap()
        .contains("server b"));
    assert!(status.servers[0].on_line && !status.servers[1].on_line);
    server_comes(&mut core, 3, hello("b"));
    let matched = matches(&mut core, 1);
    let ends: Vec<_> = matched
        .ends
        .iter()
        .map(|end| (end.server.as_str(), end.transport))
        .collect();
    assert_eq!(ends, [("a", TransportKind::Shm), ("b", TransportKind::Shm)]);
    assert_eq!(matched.ends[1].address, "unix:@b");
    assert_eq!(matched.renderer, "pipe");
    let status = core.status(START);
    assert_eq!(status.clients[0].tiles[1].server, "b");
    assert!(status.clients[0].waits_for.is_none());
}

#[test]
fn what_can_never_be_is_said_at_once() {
    let mut core = Core::new(&config(DESK));
    client_comes(&mut core, 1, request(Wanted::Walls(vec!["dusk".into()])));
    refuses(&mut core, 1, "the configuration has desk");
    server_comes(&mut core, 2, hello("a"));
    let mut ask = |conn, wanted, change: &dyn Fn(&mut Request), word| {
        let mut request = request(wanted);
        change(&mut request);
        client_comes(&mut core, conn, request);
        refuses(&mut core, conn, word);
    };
    ask(
        3,
        desk(),
        &|r| r.needs.version = (4, 6),
        "the server a of the tile 0,0 has OpenGL 4.5, and 4.6 is needed",
    );
    ask(
        4,
        desk(),
        &|r| r.needs.extensions = ["GL_B".into(), "GL_C".into()].into(),
        "has no GL_C",
    );
    ask(
        11,
        desk(),
        &|r| r.needs.extensions = (100..200).map(|n| format!("GL_{n}")).collect(),
        "no GL_100, GL_101, GL_102, GL_103, GL_104, GL_105, GL_106, GL_107 and 92 other extensions",
    );
    ask(
        5,
        desk(),
        &|r| r.needs.api = Some(Api::Es1),
        "has no OpenGL ES 1",
    );
    ask(
        6,
        desk(),
        &|r| _ = r.needs.limits.insert("max_texture_size".into(), 32768),
        "16384, and 32768",
    );
    ask(
        10,
        desk(),
        &|r| r.needs = "gl=4.6,GL_C".parse().unwrap(),
        "4.6 is needed",
    );
    ask(7, Wanted::Grids(vec![(9, 9)]), &|_| {}, "9x9");
    server_comes(&mut core, 8, hello("b"));
    client_comes(&mut core, 9, request(Wanted::Grids(vec![(3, 3)])));
    refuses(&mut core, 9, "9 sessions are needed");
    let mut core = Core::new(&Config::default());
    client_comes(&mut core, 1, request(desk()));
    refuses(&mut core, 1, "ask for a grid");
}

/// Extensions are found even if a server lists them out of order.
#[test]
fn extensions_are_found() {
    let mut core = Core::new(&Config::default());
    let mut hello = hello("a");
    hello.offer.profiles[0].extensions = ["GL_D", "GL_B", "GL_C", "GL_A"].map(String::from).into();
    server_comes(&mut core, 1, hello);
    for (conn, wanted) in (2..).zip(["GL_A,GL_D", "GL_B", "GL_A,GL_B,GL_C,GL_D"]) {
        let mut request = request(Wanted::Single(None));
        request.needs = wanted.parse().unwrap();
        client_comes(&mut core, conn, request);
        matches(&mut core, conn);
    }
    let mut request = request(Wanted::Single(None));
    request.needs = "gl=4.5,GL_A,GL_AA,GL_E".parse().unwrap();
    client_comes(&mut core, 9, request);
    refuses(&mut core, 9, "has no GL_AA, GL_E");
}

#[test]
fn needs_are_read() {
    let needs: Needs = "es=3.2,GL_A,max_texture_size=8192,GL_B".parse().unwrap();
    assert_eq!((needs.api, needs.version), (Some(Api::Es), (3, 2)));
    assert!(needs.extensions.iter().eq(["GL_A", "GL_B"]));
    assert_eq!(needs.limits["max_texture_size"], 8192);
    for wrong in [
        "",
        "gl",
        "gl=4",
        "vulkan=1.3",
        "max_texture_size=big",
        "max_fun=1",
        "gl=4.5,",
    ] {
        let error = wrong.parse::<Needs>().unwrap_err().to_string();
        assert!(error.contains("gl=4.5"), "{error}");
    }
}

#[test]
fn a_server_without_desktop_gl_serves_who_needs_none() {
    let mut core = Core::new(&Config::default());
    let mut small = hello("small");
    small
        .offer
        .profiles
        .retain(|profile| profile.api == Api::Es);
    assert!(!small.offer.profiles.is_empty());
    server_comes(&mut core, 1, small);
    client_comes(&mut core, 2, request(Wanted::Single(None)));
    matches(&mut core, 2);
    let mut picky = request(Wanted::Single(None));
    picky.needs.api = Some(Api::Compat);
    client_comes(&mut core, 3, picky);
    refuses(&mut core, 3, "no OpenGL");
}

#[test]
fn a_grid_takes_whom_it_finds() {
    let mut core = Core::new(&Config::default());
    client_comes(&mut core, 1, request(Wanted::Grids(vec![(2, 2)])));
    waits(&mut core, 1, "no server is registered");
    server_comes(&mut core, 2, hello("a"));
    let matched = matches(&mut core, 1);
    assert!(matched.ends.iter().all(|end| end.server == "a"));
    client_comes(&mut core, 3, request(Wanted::Single(None)));
    waits(&mut core, 3, "limit of sessions");
    client_comes(&mut core, 4, request(Wanted::Grids(vec![(3, 2)])));
    waits(&mut core, 4, "6 sessions are needed");
    core.leaves(Conn(4), "it was closed");
    core.leaves(Conn(1), "it was closed");
    matches(&mut core, 3);
    // Sessions of other clients at the server count too.
    let sessions = (0..4).map(|id| Session {
        id,
        ..Session::default()
    });
    core.handle_message(Conn(2), ToMothership::Sessions(sessions.collect()), START);
    client_comes(&mut core, 5, request(Wanted::Single(Some("a".into()))));
    waits(&mut core, 5, "limit of sessions");
    client_comes(&mut core, 6, request(Wanted::Single(Some("z".into()))));
    waits(&mut core, 6, "no server called z");
    server_comes(&mut core, 7, hello("b"));
    let mut other = hello("c");
    other.offer.version = "4.6".into();
    server_comes(&mut core, 8, other);
    client_comes(&mut core, 9, request(Wanted::Grids(vec![(2, 1)])));
    let matched = matches(&mut core, 9);
    assert_eq!(matched.ends[0].server, matched.ends[1].server);
}

#[test]
fn tiles_are_shared_out_evenly() {
    let mut core = Core::new(&Config::default());
    for (conn, name) in [(1, "a"), (2, "b"), (3, "c")] {
        server_comes(&mut core, conn, hello(name));
    }
    client_comes(&mut core, 4, request(Wanted::Grids(vec![(3, 3)])));
    let matched = matches(&mut core, 4);
    for name in ["a", "b", "c"] {
        let tiles = matched.ends.iter().filter(|end| end.server == name);
        assert_eq!(tiles.count(), 3);
    }
}

#[test]
fn a_wall_has_one_renderer() {
    let mut core = Core::new(&config(DESK));
    server_comes(&mut core, 1, hello("a"));
    let mut other = hello("b");
    other.offer.version = "4.6 Mesa 25".into();
    server_comes(&mut core, 2, other);
    client_comes(&mut core, 3, request(desk()));
    refuses(
        &mut core,
        3,
        "pipe (4.6 Mesa 25), and a with pipe (4.5 Mesa 22)",
    );
}

#[test]
fn the_way_depends_on_where_both_are() {
    let config = config(
        r#"
        [mothership]
        token_file = "t"
        listen = "tls:m:7400"
        [[host]]
        name = "one"
        address = "10.0.0.1"
        start = "here"
        [[server]]
        name = "a"
        host = "one"
        [[server]]
        name = "t"
        transports = ["tcp"]
        [[host]]
        name = "cluster"
        address = "[fd00::1]"
        relay = "tls:head:7600"
        [[server]]
        name = "r"
        host = "cluster"
        "#,
    );
    let transport = |name: &str, place: Whereabouts, change: &dyn Fn(&mut Hello)| {
        let mut core = Core::new(&config);
        let mut hello = hello(name);
        change(&mut hello);
        server_comes(&mut core, 1, hello);
        let mut request = request(Wanted::Single(Some(name.into())));
        request.whereabouts = place;
        client_comes(&mut core, 2, request);
        match said(&mut core, 2).pop() {
            Some(FromMothership::Matched(matched)) => {
                Ok((matched.ends[0].transport, matched.ends[0].address.clone()))
            }
            Some(FromMothership::Refused(why)) => Err(why),
            other => panic!("{other:?}"),
        }
    };
    let stays = |_: &mut Hello| {};
    let here = || whereabouts("one");
    let there = || whereabouts("two");
    let found = |way, address: &str| Ok((way, address.to_owned()));
    assert_eq!(
        transport("a", here(), &stays),
        found(TransportKind::Shm, "unix:@a")
    );
    assert_eq!(
        transport("a", there(), &stays),
        found(TransportKind::Tcp, "tls:10.0.0.1:7500")
    );
    assert_eq!(
        transport("x", there(), &stays),
        found(TransportKind::Tcp, "tls:one.example.org:7500")
    );
    assert_eq!(
        transport("t", here(), &stays),
        found(TransportKind::Tcp, "tls:localhost:7500")
    );
    let stranger = || Whereabouts { uid: 7, ..here() };
    assert_eq!(
        transport("a", stranger(), &stays),
        found(TransportKind::Tcp, "tls:localhost:7500")
    );
    let no_tcp = |hello: &mut Hello| _ = hello.addresses.pop();
    assert!(transport("a", there(), &no_tcp)
        .unwrap_err()
        .contains("--listen"));
    assert!(transport("a", stranger(), &no_tcp)
        .unwrap_err()
        .contains("another user"));
    assert!(transport("t", here(), &no_tcp)
        .unwrap_err()
        .contains("both ends allow"));
    let loopback = |hello: &mut Hello| hello.addresses = vec!["tcp:127.0.0.1:1".into()];
    assert_eq!(
        transport("a", here(), &loopback),
        found(TransportKind::Tcp, "tcp:127.0.0.1:1")
    );
    assert!(transport("a", there(), &loopback).is_err());

    assert_eq!(
        transport("r", here(), &stays),
        found(TransportKind::Shm, "unix:@r")
    );
    assert_eq!(
        transport("r", there(), &stays),
        found(TransportKind::Tcp, "tls:head:7600/r")
    );
    assert_eq!(
        transport("r", there(), &no_tcp),
        found(TransportKind::Tcp, "tls:head:7600/r")
    );
}

#[test]
fn who_is_behind_a_relay_does_without_it() {
    let config = config(
        r#"
        [[host]]
        name = "cluster"
        address = "[fd00::1]"
        relay = "tls:head:7600"
        [[server]]
        name = "a"
        host = "cluster"
        [[server]]
        name = "b"
        host = "cluster"
        [[wall]]
        name = "desk"
        grid = [2, 1]
        tile_size = [100, 100]
        servers = ["a", "b"]
        "#,
    );
    let mut core = Core::new(&config);
    let other = Hello {
        whereabouts: whereabouts("two"),
        ..hello("b")
    };
    server_comes(&mut core, 1, hello("a"));
    server_comes(&mut core, 2, other);
    client_comes(&mut core, 3, request(desk()));
    for server in core.status(START).servers {
        assert_eq!(server.relay.as_deref(), Some("tls:head:7600"));
    }
    let ends = matches(&mut core, 3).ends;
    assert_eq!(
        (ends[0].transport, ends[0].address.as_str()),
        (TransportKind::Shm, "unix:@a")
    );
    let direct = (TransportKind::Tcp, "tls:[fd00::1]:7500");
    assert_eq!((ends[1].transport, ends[1].address.as_str()), direct);
}

#[test]
fn relays_are_told_where_servers_are() {
    let mut core = Core::new(&config(DESK));
    server_comes(&mut core, 1, hello("a"));
    let mut near = hello("b");
    near.addresses = vec!["tcp:127.0.0.1:7500".into()];
    server_comes(&mut core, 2, near);
    core.comes(Conn(3), START);
    let mut ask = |server: &str, encrypted, host| {
        let asked = ServerLookup {
            server: server.into(),
            encrypted,
            whereabouts: whereabouts(host),
        };
        core.handle_message(Conn(3), ToMothership::Where(Box::new(asked)), START);
        match said(&mut core, 3).pop() {
            Some(FromMothership::At(address)) => address,
            Some(FromMothership::Refused(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(ask("a", true, "two"), "tls:one.example.org:7500");
    assert_eq!(ask("a", true, "one"), "tls:localhost:7500");
    assert_eq!(ask("b", false, "one"), "tcp:127.0.0.1:7500");
    for (server, encrypted) in [("a", false), ("b", false), ("b", true)] {
        let why = ask(server, encrypted, "two");
        assert!(why.contains("that the relay reaches"), "{why}");
    }
    assert!(ask("c", true, "two").contains("is not registered"));
}

#[test]
fn a_name_belongs_to_one_server() {
    let mut core = Core::new(&Config::default());
    server_comes(&mut core, 1, hello("a"));
    let second = Hello {
        instance: 2,
        ..hello("a")
    };
    server_comes(&mut core, 2, second.clone());
    refuses(
        &mut core,
        2,
        "another server called a is already registered, on one.example.org",
    );
    // The same server connects again before the loss of its old connection is noticed.
    server_comes(&mut core, 3, hello("a"));
    assert!(core.output.contains(&Output::Close(Conn(1))));
    core.leaves(Conn(1), "it was closed");
    assert!(core.is_on_line("a"));
    core.leaves(Conn(3), "it was closed");
    server_comes(&mut core, 4, second);
    assert!(core.is_on_line("a"));
    server_comes(&mut core, 5, hello("a\u{1b}[2J"));
    refuses(&mut core, 5, "letters");
}

#[test]
fn a_server_that_goes_is_told_of() {
    let (mut core, _) = matched_desk();
    core.leaves(Conn(2), "it was closed");
    let gone = FromMothership::Gone {
        server: "b".into(),
        why: "it was closed".into(),
    };
    assert_eq!(said(&mut core, 3), [gone]);
    let tiles = &core.status(START).clients[0].tiles;
    assert!(tiles[0].server_on_line && !tiles[1].server_on_line);
    server_comes(&mut core, 4, hello("b"));
    assert_eq!(
        said(&mut core, 3),
        [FromMothership::Back { server: "b".into() }]
    );
    core.expect("b", Some("ssh says no".into()));
    core.leaves(Conn(4), "it was closed");
    client_comes(&mut core, 5, request(desk()));
    refuses(&mut core, 5, "ssh says no");
}

#[test]
fn what_was_matched_before_a_restart_stays() {
    let (_, matched) = matched_desk();
    let mut core = Core::new(&config(DESK));
    let mut back = request(desk());
    back.held = Some(matched);
    client_comes(&mut core, 1, back.clone());
    assert!(core.status(START).clients[0].waits_for.is_none());
    server_comes(
        &mut core,
        2,
        Hello {
            sessions: 1,
            ..hello("a")
        },
    );
    server_comes(&mut core, 3, hello("b"));
    // Server a accepts one session, which still belongs to the first client.
    client_comes(&mut core, 4, request(desk()));
    waits(&mut core, 4, "limit of sessions");
    back.held.as_mut().unwrap().ends.pop();
    client_comes(&mut core, 5, back);
    waits(&mut core, 5, "limit of sessions");
}

#[test]
fn a_tile_without_a_renderer_gets_another() {
    let (mut core, mut matched) = matched_desk();
    let holes = |core: &mut Core, conn, bits| {
        core.handle_message(Conn(conn), ToMothership::Holes(bits), START);
    };
    // The server is connected at the same address, so the client gets no other one.
    holes(&mut core, 3, 0b10);
    assert_eq!(said(&mut core, 3), []);
    core.leaves(Conn(2), "it was closed");
    let other = |name: &str, version: &str| {
        let mut hello = hello(name);
        hello.offer.version = version.into();
        hello
    };
    server_comes(&mut core, 4, other("c", "4.6"));
    let gone = matches!(said(&mut core, 3)[..], [FromMothership::Gone { .. }]);
    assert!(gone);
    server_comes(&mut core, 5, hello("d"));
    let instead = |said: Vec<FromMothership>| match &said[..] {
        [FromMothership::Instead { tile: 1, end }] => end.clone(),
        other => panic!("{other:?}"),
    };
    let end = instead(said(&mut core, 3));
    assert_eq!(
        (end.server.as_str(), end.address.as_str()),
        ("d", "unix:@d")
    );
    assert_eq!(core.status(START).clients[0].tiles[1].server, "d");
    holes(&mut core, 3, 0);

    // Another mothership learns of the new server from the client. When the tile is lost again, the
    // server of the same name gets the tile, at its new address.
    matched.ends[1] = end;
    let mut core = Core::new(&config(DESK));
    let mut back = request(desk());
    back.held = Some(matched);
    client_comes(&mut core, 1, back);
    holes(&mut core, 1, 0b10);
    let mut elsewhere = hello("d");
    elsewhere.addresses = vec!["unix:@elsewhere".into()];
    server_comes(&mut core, 2, elsewhere);
    let said = said(&mut core, 1).into_iter();
    let said = said.filter(|said| !matches!(said, FromMothership::Back { .. }));
    assert_eq!(instead(said.collect()).address, "unix:@elsewhere");
    // Servers of configured walls do not replace other servers.
    server_comes(&mut core, 3, hello("a"));
    core.leaves(Conn(2), "it was closed");
    assert_eq!(core.status(START).clients[0].tiles[1].server, "d");
}

/// Programs are told the name of the file with a server's own token, but no path.
#[test]
fn servers_have_tokens_of_their_own() {
    let mut core = Core::new(&config(DESK));
    let with = |name: &str, token: &str| {
        let mut hello = hello(name);
        hello.token = Some(token.into());
        hello
    };
    server_comes(&mut core, 1, with("a", "../a"));
    assert!(!core.is_on_line("a"));
    server_comes(&mut core, 2, with("a", "a.token"));
    server_comes(&mut core, 3, hello("b"));
    client_comes(&mut core, 4, request(desk()));
    let tokens = matches(&mut core, 4).ends.into_iter().map(|end| end.token);
    let mut tokens: Vec<_> = tokens.collect();
    tokens.sort_unstable();
    assert_eq!(tokens, [None, Some("a.token".into())]);
}

/// A server that cannot draw a tile does not get it again until it registers again.
#[test]
fn a_server_that_will_not_do_is_replaced() {
    let (mut core, _) = matched_desk();
    core.leaves(Conn(2), "it was closed");
    for (conn, name) in [(4, "d"), (5, "e")] {
        server_comes(&mut core, conn, hello(name));
    }
    said(&mut core, 3);
    let instead = |core: &mut Core| -> Vec<String> {
        let said = said(core, 3).into_iter();
        let server = |said| match said {
            FromMothership::Instead { tile: 1, end } => Some(end.server),
            _ => None,
        };
        said.filter_map(server).collect()
    };
    let unfit = |core: &mut Core, tile, address: &str| {
        let address = address.into();
        core.handle_message(Conn(3), ToMothership::Unfit { tile, address }, START);
        instead(core)
    };
    core.handle_message(Conn(3), ToMothership::Holes(0b10), START);
    let first = instead(&mut core).remove(0);
    let (first, second) = match first.as_str() {
        "d" => ("d", "e"),
        _ => ("e", "d"),
    };
    let at = |name: &str| format!("unix:@{name}");
    // Messages about other tiles, and about servers that the client does not have, have no effect.
    let none: [&str; 0] = [];
    assert_eq!(unfit(&mut core, 0, &at(first)), none);
    assert_eq!(unfit(&mut core, 9, &at(first)), none);
    assert_eq!(unfit(&mut core, 1, &at("b")), none);
    assert_eq!(unfit(&mut core, 1, &at(first)), [second]);
    // The message about the first server is late. After the one about the second, no server is
    // left.
    assert_eq!(unfit(&mut core, 1, &at(first)), none);
    assert_eq!(unfit(&mut core, 1, &at(second)), none);
    // The first server registers again, and is unfit again. Then the server of the configuration
    // registers, and gets the tile.
    let conn = if first == "d" { 4 } else { 5 };
    core.leaves(Conn(conn), "it was closed");
    server_comes(&mut core, 6, hello(first));
    assert_eq!(instead(&mut core), [first]);
    assert_eq!(unfit(&mut core, 1, &at(first)), none);
    server_comes(&mut core, 7, hello("b"));
    assert_eq!(instead(&mut core), ["b"]);
    core.handle_message(Conn(3), ToMothership::Holes(0), START);
    assert_eq!(core.status(START).clients[0].tiles[1].server, "b");
    // The client also reports the phases of its displays. A tile 99 does not exist.
    let phase = DisplayPhase {
        error: Some(3),
        late: 1,
    };
    let phases = ToMothership::Phases(vec![(1, phase), (99, phase)]);
    core.handle_message(Conn(3), phases, START);
    let genlock = core.status(START).clients[0]
        .tiles
        .iter()
        .map(|tile| tile.genlock)
        .collect::<Vec<_>>();
    assert_eq!(genlock, [None, Some(phase)]);
}

/// A server that draws a tile again, after its client could not use it, may keep the tile.
#[test]
fn a_server_that_draws_again_will_do() {
    let (mut core, _) = matched_desk();
    let say = |core: &mut Core, message| {
        core.handle_message(Conn(3), message, START);
        let said = said(core, 3).into_iter();
        said.filter(|said| matches!(said, FromMothership::Instead { .. }))
            .count()
    };
    let (tile, address) = (1, "unix:@b".into());
    assert_eq!(say(&mut core, ToMothership::Holes(0b10)), 0);
    assert_eq!(say(&mut core, ToMothership::Unfit { tile, address }), 0);
    assert_eq!(say(&mut core, ToMothership::Holes(0)), 0);
    server_comes(&mut core, 4, hello("d"));
    // The same server is tried again before another one gets the tile.
    assert_eq!(say(&mut core, ToMothership::Holes(0b10)), 0);
    let (tile, address) = (1, "unix:@b".into());
    assert_eq!(say(&mut core, ToMothership::Unfit { tile, address }), 1);
}

/// Many messages of a client that arrive together cause one search for servers.
#[test]
fn messages_that_come_together_are_answered_together() {
    let (mut core, _) = matched_desk();
    core.leaves(Conn(2), "it was closed");
    server_comes(&mut core, 4, hello("d"));
    said(&mut core, 3);
    let holes = |core: &mut Core, bits| {
        core.handle_message(Conn(3), ToMothership::Holes(bits), START);
    };
    holes(&mut core, 0b10);
    holes(&mut core, 0);
    assert_eq!(said(&mut core, 3), []);
    holes(&mut core, 0b10);
    let said = said(&mut core, 3);
    let is_replaced = matches!(said[..], [FromMothership::Instead { tile: 1, .. }]);
    assert!(is_replaced, "{said:?}");
}

#[test]
fn silence_is_death_and_a_beat_is_life() {
    let mut core = Core::new(&Config::default());
    server_comes(&mut core, 1, hello("a"));
    server_comes(&mut core, 2, hello("b"));
    said(&mut core, 2);
    let (mut now, mut beats) = (START, 0);
    while now < SILENCE_TIMEOUT * 2 {
        now = core.poll_timeout();
        core.handle_timeout(now);
        core.handle_message(Conn(2), ToMothership::Alive, now);
        beats += said(&mut core, 2).len();
    }
    assert!(!core.is_on_line("a") && core.is_on_line("b"));
    assert_eq!(beats, 10);
    // A connection that never identifies itself is closed too.
    core.comes(Conn(7), now);
    core.handle_timeout(now + SILENCE_TIMEOUT);
    assert!(core.output.contains(&Output::Close(Conn(7))));
}

#[test]
fn totals_become_rates() {
    let mut core = Core::new(&Config::default());
    server_comes(&mut core, 1, hello("a"));
    let report = |frames, bytes| {
        let drawn = Some(Drawn { frames, bytes });
        ToMothership::Sessions(vec![Session {
            id: 3,
            program: "gears".into(),
            drawn,
        }])
    };
    core.handle_message(Conn(1), report(100, 1000), START);
    assert!(core.status(START).servers[0].sessions[0].rate.is_none());
    core.handle_message(Conn(1), report(160, 5000), START + Duration::from_secs(2));
    let rate = core.status(START).servers[0].sessions[0].rate.unwrap();
    assert_eq!(
        (rate.frames_per_second, rate.bytes_per_second),
        (30.0, 2000.0)
    );
    core.handle_message(Conn(1), ToMothership::Sessions(vec![]), START);
    assert!(core.status(START).servers[0].sessions.is_empty());
}

#[test]
fn stopping_ends_what_was_started() {
    let mut core = Core::new(&Config::default());
    server_comes(
        &mut core,
        1,
        Hello {
            is_ours: true,
            ..hello("a")
        },
    );
    server_comes(&mut core, 2, hello("b"));
    said(&mut core, 0);
    core.stop();
    let ends = core
        .output
        .iter()
        .filter(|o| matches!(o, Output::Send(_, FromMothership::End)));
    assert!(ends.eq([&Output::Send(Conn(1), FromMothership::End)]));
}

/// Servers and clients connect, disconnect, fall silent and return in any order. At any time, no
/// client waits that could be served, and no server has more sessions than it accepts. All servers
/// of a wall have the same renderer, and each client gets one answer.
#[test]
fn whoever_comes_and_goes() {
    let config = config(DESK);
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let mut core = Core::new([&config, &Config::default()][seed as usize % 2]);
        let mut now = START;
        let mut open: BTreeMap<Conn, Vec<FromMothership>> = BTreeMap::new();
        for step in (0..400).map(Conn) {
            now += Duration::from_millis(random.below(1500));
            match random.below(6) {
                0 | 1 => {
                    let mut hello = hello(["a", "b", "c", "d"][random.below(4) as usize]);
                    hello.instance = random.below(2);
                    hello.sessions = random.below(5) as u32;
                    hello.offer.version = ["4.5", "4.6"][random.below(5) as usize / 4].into();
                    core.comes(step, now);
                    core.handle_message(step, ToMothership::Server(Box::new(hello)), now);
                    open.insert(step, Vec::new());
                }
                2 | 3 => {
                    let mut request = request(match random.below(4) {
                        0 => desk(),
                        1 => Wanted::Single(None),
                        2 => Wanted::Single(Some("c".into())),
                        _ => Wanted::Grids(vec![(
                            1 + random.below(3) as u32,
                            1 + random.below(2) as u32,
                        )]),
                    });
                    request.needs.version = (4, 2 + random.below(5) as u8);
                    core.comes(step, now);
                    core.handle_message(step, ToMothership::Client(Box::new(request)), now);
                    open.insert(step, Vec::new());
                }
                4 => {
                    let at = random.below(open.len().max(1) as u64) as usize;
                    if let Some(conn) = open.keys().nth(at).copied() {
                        open.remove(&conn);
                        core.leaves(conn, "it was closed");
                    }
                }
                _ => {
                    for conn in open.keys() {
                        let holes = random.below(4);
                        core.handle_message(*conn, ToMothership::Holes(holes), now);
                        let (tile, address) = (random.below(3) as u32, "unix:@a".into());
                        core.handle_message(*conn, ToMothership::Unfit { tile, address }, now);
                        if random.below(8) > 0 {
                            core.handle_message(*conn, ToMothership::Alive, now);
                        }
                    }
                }
            }
            if now >= core.poll_timeout() {
                core.handle_timeout(now);
            }
            while let Some(output) = core.poll_output() {
                match output {
                    Output::Send(conn, message) => {
                        open.get_mut(&conn).expect("it is open").push(message)
                    }
                    Output::Close(conn) => _ = open.remove(&conn),
                }
            }
            check(&core, &open);
        }
        for conn in open.keys() {
            core.leaves(*conn, "it was closed");
        }
        assert!(core.servers.is_empty() && core.clients.is_empty() && core.heard.is_empty());
    }
}

fn check(core: &Core, open: &BTreeMap<Conn, Vec<FromMothership>>) {
    assert!(core.heard.keys().eq(open.keys()));
    for (conn, messages) in open {
        let answers = messages.iter().filter(|message| {
            matches!(
                message,
                FromMothership::Matched(_) | FromMothership::Registered
            )
        });
        let is_waiting = core
            .client(*conn)
            .is_some_and(|client| matches!(client.standing, Standing::Waiting(_)));
        assert_eq!(
            answers.count(),
            usize::from(!is_waiting),
            "{conn:?}: {messages:?}"
        );
    }
    let mut given: BTreeMap<(&str, Conn), u32> = BTreeMap::new();
    for client in core.clients.values() {
        match &client.standing {
            Standing::Waiting(told) => match core.judge(&client.request) {
                Verdict::Wait(why) => assert_eq!(&why, told),
                other => panic!("{:?} waits for {told}, and {other:?}", client.request),
            },
            Standing::Matched(matched) => {
                assert_eq!(matched.ends.len(), matched.wall.tiles.len());
                for end in &matched.ends {
                    // Servers that have disconnected or registered since the match are not checked.
                    let Some(server) = core.servers.get(&end.server) else {
                        continue;
                    };
                    if server.since < client.since {
                        assert_eq!(server.hello.offer.version, matched.version);
                        *given.entry((&end.server, server.conn)).or_default() += 1;
                    }
                }
            }
        }
    }
    for ((name, _), count) in given {
        assert!(
            count <= core.servers[name].hello.sessions,
            "{name}: {count}"
        );
    }
}
