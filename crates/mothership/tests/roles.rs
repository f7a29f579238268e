//! Tokens of each role at a mothership: a request that the role does not permit is refused, with
//! the typed error.

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use mgn_fabric::{Access, Address, Role, ServerKey, Store, Token};
use mgn_mothership::config::Mothership;
use mgn_mothership::protocol::{
    self, Api, Hello, Offer, Profile, Request, ToMothership, Wanted, Whereabouts,
};
use mgn_mothership::{ask, find, run, status, stop, Config, Error, Options, Registration};
use rustix::event::{poll, PollFd, PollFlags};

const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

fn hello(key: Option<String>) -> Hello {
    Hello {
        name: "gpu".into(),
        instance: 7,
        whereabouts: Whereabouts::here(),
        addresses: vec!["tls:127.0.0.1:7500".into()],
        offer: Offer {
            renderer: "a renderer".into(),
            version: "4.5".into(),
            profiles: vec![Profile {
                api: Api::Compat,
                version: (4, 5),
                extensions: Vec::new(),
            }],
            ..Offer::default()
        },
        sessions: 1,
        is_ours: false,
        token: None,
        key,
    }
}

/// Waits until the registration fails, and returns the reason.
fn refused(address: &Address, token: &Token, hello: Hello) -> String {
    let registration = Registration::begin(address.clone(), Some(token.clone()), hello).unwrap();
    let mut fds = [PollFd::new(&registration, PollFlags::IN)];
    let limit = WAIT_TIMEOUT.try_into().unwrap();
    assert_eq!(poll(&mut fds, Some(&limit)).unwrap(), 1, "it ends");
    registration.failure().unwrap()
}

#[test]
fn each_role_may_do_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("tokens");
    let key = ServerKey::read_or_create(&folder.path().join("key")).unwrap();
    let roles = ["client", "server", "admin"].map(|name| {
        let token = Token::new(name, name.parse::<Role>().unwrap()).unwrap();
        let token = token.with_servers(vec![key.public()]);
        Store::add(&store, &token).unwrap();
        let file = folder.path().join(name);
        token.write(&file).unwrap();
        (Token::read(&file).unwrap(), file)
    });
    let [(client, client_file), (server, server_file), (admin, _)] = roles;
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = free.local_addr().unwrap();
    drop(free);
    let address: Address = format!("tls:{place}").parse().unwrap();
    let options = Options {
        inherited: Vec::new(),
        config: Config {
            mothership: Mothership {
                listen: vec![address.clone()],
                ..Mothership::default()
            },
            ..Config::default()
        },
        command: "mgn".into(),
        access: Access::from(Arc::new(Store::open(&store).unwrap())).with_key(Some(key)),
    };
    let running = thread::spawn(|| run(options));
    let start = Instant::now();
    while let Err(Error::NotThere(error)) = status(&address, Some(&admin)) {
        assert!(start.elapsed() < WAIT_TIMEOUT, "{error}");
        thread::sleep(Duration::from_millis(10));
    }

    for token in [&client, &server] {
        let name = &token.identity().name;
        for error in [
            status(&address, Some(token)).map(drop).unwrap_err(),
            stop(&address, Some(token)).unwrap_err(),
        ] {
            assert!(
                matches!(&error, Error::Forbidden(why) if why.contains(name) && why.contains("role admin")),
                "{error}"
            );
        }
    }
    let error = find(&address, Some(&client), "gpu", true).unwrap_err();
    assert!(matches!(error, Error::Forbidden(_)), "{error}");
    let why = refused(&address, &client, hello(None));
    assert!(why.contains("role server"), "{why}");
    let on_line = status(&address, Some(&admin)).unwrap();
    assert!(on_line.servers.is_empty(), "a client is no server");
    let why = refused(&address, &admin, hello(Some("ed25519:nonsense".into())));
    assert!(why.contains("public key"), "{why}");
    let wanted = || Request::new(Wanted::Single(Some("gpu".into())), "a test");
    let soon = Duration::from_secs(2);
    let error = ask(&address, Some(&server_file), wanted(), soon, |_| {}).unwrap_err();
    assert!(
        matches!(&error, Error::Forbidden(why) if why.contains("role client")),
        "{error}"
    );

    // A second message, which is sent before the first is refused, has no effect either.
    for token in [&client, &server] {
        let opening = protocol::encode(&protocol::Opening {
            version: protocol::VERSION,
        });
        let transport = address.socket_transport();
        let connected =
            mgn_fabric::connect(&address, transport, Some(token), &opening, WAIT_TIMEOUT);
        let (sender, _receiver) = connected.unwrap().0.split();
        for _ in 0..20 {
            // The mothership may have hung up already.
            let _ = sender.send(&protocol::encode(&ToMothership::Stop));
        }
        thread::sleep(Duration::from_millis(300));
        status(&address, Some(&admin)).unwrap();
    }

    // Each token permits the requests of its role. The client learns the server's key.
    let its_key = ServerKey::read_or_create(&folder.path().join("gpu.key")).unwrap();
    let shown = its_key.public().to_string();
    let hello = hello(Some(shown));
    let _registration = Registration::begin(address.clone(), Some(server), hello).unwrap();
    // The started program may change its working directory.
    let up = std::env::current_dir().unwrap().components().count() - 1;
    let from_here: PathBuf = std::iter::repeat_n("..", up).collect();
    let file = from_here.join(client_file.strip_prefix("/").unwrap());
    let found = ask(&address, Some(&file), wanted(), WAIT_TIMEOUT, |_| {}).unwrap();
    assert_eq!(found.tiles[0].key, Some(its_key.public()));
    let told = found.tiles[0].token_file.as_ref().unwrap();
    assert!(told.is_absolute(), "{}", told.display());
    drop(found);

    // A server whose token is revoked is disconnected.
    let on_line = || status(&address, Some(&admin)).unwrap().servers.len();
    assert_eq!(on_line(), 1);
    Store::revoke(&store, "server").unwrap();
    let start = Instant::now();
    while on_line() > 0 {
        assert!(start.elapsed() < WAIT_TIMEOUT, "it stays");
        thread::sleep(Duration::from_millis(50));
    }
    stop(&address, Some(&admin)).unwrap();
    running.join().unwrap().unwrap();
}
