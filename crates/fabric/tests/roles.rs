//! Tests of tokens, roles and server keys: processes that pose as others are refused with typed
//! errors.

mod support;

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mgn_fabric::{
    connect, Access, Address, Error, Incoming, Listener, Role, ServerKey, Store, Token, Transport,
};
use support::*;

/// A server's host: its store of tokens, and its key.
struct Host {
    folder: tempfile::TempDir,
    key: ServerKey,
}

impl Host {
    fn new() -> Host {
        let folder = tempfile::tempdir().unwrap();
        let key = ServerKey::read_or_create(&folder.path().join("server.key")).unwrap();
        Host { folder, key }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("tokens")
    }

    /// A token like those that `mgn token new` makes.
    fn token(&self, name: &str, role: Role) -> Token {
        let token = Token::new(name, role).unwrap();
        let token = token.with_servers(vec![self.key.public()]);
        Store::add(&self.store(), &token).unwrap();
        let file = self.folder.path().join(name);
        token.write(&file).unwrap();
        Token::read(&file).unwrap()
    }

    fn listen(&self, address: &str) -> Listener {
        let store = Arc::new(Store::open(&self.store()).unwrap());
        let access = Access::from(store).with_key(Some(self.key.clone()));
        Listener::bind(&address.parse().unwrap(), access).unwrap()
    }
}

const ADDRESSES: [&str; 2] = ["tls:127.0.0.1:0", "tcp:127.0.0.1:0"];

/// The result of a client, and the result of `serve` on the server. The second result is `None` if
/// no client is accepted.
fn meet<T: Send>(
    listener: &Listener,
    token: &Token,
    serve: impl FnOnce(Incoming) -> T + Send,
) -> (Result<(), Error>, Option<T>) {
    meet_at(listener, listener.address(), token, serve)
}

fn meet_at<T: Send>(
    listener: &Listener,
    address: &Address,
    token: &Token,
    serve: impl FnOnce(Incoming) -> T + Send,
) -> (Result<(), Error>, Option<T>) {
    thread::scope(|scope| {
        let client = scope.spawn(|| connect(address, Transport::Tcp, Some(token), b"", TIMEOUT));
        let incoming = loop {
            let incoming = listener.accept_timeout(Duration::from_millis(50)).unwrap();
            if incoming.is_some() || client.is_finished() {
                break incoming;
            }
        };
        let served = incoming.map(serve);
        (client.join().unwrap().map(drop), served)
    })
}

fn let_in(incoming: Incoming) {
    incoming.accept(b"", &small()).unwrap();
}

#[test]
fn the_server_learns_who_comes() {
    let host = Host::new();
    let alice = host.token("alice", Role::Client);
    let gpu = host.token("gpu", Role::Server);
    for address in ADDRESSES {
        let listener = host.listen(address);
        for (token, role) in [(&alice, Role::Client), (&gpu, Role::Server)] {
            let (client, identity) = meet(&listener, token, |incoming| {
                let caller = incoming.caller();
                for needed in Role::ALL {
                    assert_eq!(caller.require(needed, "do it").is_ok(), role == needed);
                }
                let_in(incoming);
                caller.identity().cloned().unwrap()
            });
            client.unwrap();
            assert_eq!(identity.as_ref(), Some(token.identity()));
        }
    }
}

#[test]
fn a_role_that_does_not_permit_it_is_told_so() {
    let host = Host::new();
    let alice = host.token("alice", Role::Client);
    for address in ADDRESSES {
        let listener = host.listen(address);
        let (client, served) = meet(&listener, &alice, |incoming| {
            incoming.require(Role::Server, "be a server").unwrap_err()
        });
        let error = client.unwrap_err();
        assert!(
            matches!(&error, Error::Forbidden(why) if why.contains("alice") && why.contains("role server")),
            "{error}"
        );
        assert!(served.unwrap().contains("alice"));
    }
}

/// A client has everything that is needed to pose as its server, except the server's key.
#[test]
fn a_client_cannot_pose_as_the_server() {
    let host = Host::new();
    let alice = host.token("alice", Role::Client);
    let copied = Arc::new(Store::open(&host.store()).unwrap());
    let own = ServerKey::read_or_create(&host.folder.path().join("another.key")).unwrap();
    let tls = "tls:127.0.0.1:0".parse().unwrap();
    for access in [Access::from(copied), Access::from(Some(alice.clone()))] {
        let impostor = Listener::bind(&tls, access.with_key(Some(own.clone()))).unwrap();
        let (client, served) = meet(&impostor, &alice, |_| ());
        let error = client.unwrap_err();
        assert!(matches!(error, Error::OtherKey { .. }), "{error}");
        let text = error.to_string();
        let file = host.folder.path().join("alice");
        assert!(
            text.contains("which is not in") && text.contains("mgn token key"),
            "{text}"
        );
        assert!(text.contains(file.to_str().unwrap()), "{text}");
        assert!(served.is_none(), "the client sends nothing to it");
    }
    // The same token file works with the real server, also after a restart.
    for _ in 0..2 {
        let (client, _) = meet(&host.listen("tls:127.0.0.1:0"), &alice, let_in);
        client.unwrap();
    }
}

/// A trusted source has named the server's key. No other key is accepted, not even those in the
/// token file.
#[test]
fn what_was_vouched_for_counts() {
    let (host, other) = (Host::new(), Host::new());
    let alice = host.token("alice", Role::Client);
    let listener = host.listen("tls:127.0.0.1:0");
    let wrong = alice.clone().vouched(Some(other.key.public()));
    let error = meet(&listener, &wrong, |_| ()).0.unwrap_err();
    assert!(matches!(error, Error::OtherKey { .. }), "{error}");
    let elsewhere = alice.with_servers(vec![other.key.public()]);
    let error = meet(&listener, &elsewhere, |_| ()).0.unwrap_err();
    assert!(matches!(error, Error::OtherKey { .. }), "{error}");
    let right = elsewhere.vouched(Some(host.key.public()));
    meet(&listener, &right, let_in).0.unwrap();
}

#[test]
fn a_revoked_token_is_refused_at_once() {
    let host = Host::new();
    let (alice, bob) = (
        host.token("alice", Role::Client),
        host.token("bob", Role::Client),
    );
    for address in ADDRESSES {
        let listener = host.listen(address);
        meet(&listener, &bob, let_in).0.unwrap();
    }
    let listeners = ADDRESSES.map(|address| host.listen(address));
    Store::revoke(&host.store(), "bob").unwrap();
    for listener in &listeners {
        let (client, served) = meet(listener, &bob, |_| ());
        let error = client.unwrap_err();
        assert!(
            matches!(&error, Error::Auth(why) if why.contains("revoked")),
            "{error}"
        );
        assert!(served.is_none());
        meet(listener, &alice, let_in).0.unwrap();
    }
    // A token that is added is accepted at once, too.
    let carol = host.token("carol", Role::Client);
    for listener in &listeners {
        meet(listener, &carol, let_in).0.unwrap();
    }
}

#[test]
fn a_token_of_another_store_opens_nothing() {
    let (host, other) = (Host::new(), Host::new());
    host.token("alice", Role::Client);
    // A token with the same name is not accepted.
    let alice = other.token("alice", Role::Admin);
    let alice = alice.with_servers(Vec::new());
    for address in ADDRESSES {
        let (client, served) = meet(&host.listen(address), &alice, |_| ());
        let error = client.unwrap_err();
        assert!(
            matches!(&error, Error::Auth(why) if why.contains("does not know this token")),
            "{error}"
        );
        assert!(served.is_none());
    }
}

#[test]
fn only_the_server_that_a_client_has_met_may_call_back() {
    let host = Host::new();
    let alice = host.token("alice", Role::Client);
    let listener = host.listen("tls:127.0.0.1:0");
    let (_, back) = meet(&listener, &alice, |incoming| {
        let back = incoming.callback();
        let_in(incoming);
        back
    });
    let back = back.flatten().unwrap();
    let own = Listener::bind(
        &"tls:127.0.0.1:0".parse().unwrap(),
        Some(alice.for_callback()),
    )
    .unwrap();
    let (server, role) = meet(&own, &back, |incoming| {
        let role = incoming.caller().identity().unwrap().role;
        let_in(incoming);
        role
    });
    server.unwrap();
    assert_eq!(role, Some(Role::Server));
    let anybody = alice.with_servers(Vec::new());
    assert!(matches!(
        meet(&own, &anybody, |_| ()).0.unwrap_err(),
        Error::Auth(_)
    ));
}

/// A network client has proved its token only to the process that listens.
#[test]
fn a_client_that_was_handed_over_is_permitted_nothing() {
    let host = Host::new();
    let admin = host.token("me", Role::Admin);
    let secret: Vec<u8> = admin
        .to_hex()
        .as_bytes()
        .chunks(2)
        .map(|digits| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap())
        .collect();
    let listener = host.listen("tls:127.0.0.1:0");
    let (_, served) = meet(&listener, &admin, |incoming| {
        incoming.caller().require(Role::Admin, "do it").unwrap();
        let (socket, meta) = incoming.into_handoff();
        assert!(!meta.windows(32).any(|bytes| bytes == secret));
        let incoming = Incoming::from_handoff(socket, &meta).unwrap();
        let caller = incoming.caller();
        assert!(caller.identity().is_none() && caller.require(Role::Client, "do it").is_err());
        let_in(incoming);
    });
    served.unwrap();
}

/// An old token file has neither a role nor a server key, so it is valid only on one host.
#[test]
fn an_old_token_stays_on_its_host() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "ab".repeat(32) + "\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let token = Token::read(&file).unwrap();
    for address in ADDRESSES {
        let listener = Listener::bind(&address.parse().unwrap(), Some(token.clone())).unwrap();
        meet(&listener, &token, let_in).0.unwrap();
    }
    for address in ["tls:0.0.0.0:0", "tcp:[::]:0"] {
        let bound = Listener::bind(&address.parse().unwrap(), Some(token.clone()));
        match bound {
            Err(Error::OldToken(shown)) => assert!(shown.contains(file.to_str().unwrap())),
            // This happens on a machine without IPv6.
            Err(Error::Io { .. }) if address.contains('[') => {}
            other => panic!("{other:?}"),
        }
    }
}
