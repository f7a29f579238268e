//! One server for several clients: its log names the clients that used it, and no client takes
//! resources of others.
// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

#[allow(dead_code)]
#[macro_use]
mod support;

use mgn_fabric::{connect, Address, Connection, Error, Store, Token, Transport};
use mgn_wire::encoder::Data;
use mgn_wire::gl::*;
use mgn_wire::hello::Role;
use mgn_wire::Blame;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;
use support::{opening, wait_until, Client, Server};

const WAIT_TIMEOUT: Duration = Duration::from_secs(20);
const MIB: u64 = 1 << 20;

processes!();

/// The lines of the log that contain all these words.
fn lines(server: &Server, words: &[&str]) -> Vec<String> {
    let log = server.log();
    let has_all = |line: &&str| words.iter().all(|word| line.contains(word));
    log.lines().filter(has_all).map(str::to_owned).collect()
}

fn expect_line(server: &Server, words: &[&str]) -> String {
    wait_until(&words.join(" "), || !lines(server, words).is_empty());
    lines(server, words).remove(0)
}

#[test]
fn each_session_is_in_the_log_with_its_client_and_its_end() {
    let server = Server::start(false, &[]);
    let uid = format!("uid={}", mgn_sys::peer::own_uid());
    let mut client = server.client(Transport::Shm);
    client.set_up();
    client.draw_triangle();
    client.swap(1);
    let begin = expect_line(&server, &["session-begin", "session=1", &uid]);
    assert!(begin.contains("claimed_program=\"test?[31m\""), "{begin}");
    let pid = format!("claimed_pid={}", std::process::id());
    assert!(begin.contains(&pid), "{begin}");
    drop(client);
    let words = ["session-end", "session=1", &uid, "reason=\"client-left\""];
    let end = expect_line(&server, &words);
    assert!(end.contains("frames=1 "), "{end}");
    assert!(!end.contains("bytes=0 "), "{end}");

    wait_until("one worker", || server.workers().len() == 1);
    let worker = server.workers()[0];
    let mut victim = server.client(Transport::Shm);
    victim.set_up();
    // SAFETY: a worker of the server's, which is known to run.
    unsafe { libc::kill(worker, libc::SIGABRT) };
    let words = ["session-end", "session=2", "\"worker-crashed\"", "signal=6"];
    expect_line(&server, &words);

    let mut hostile = server.client(Transport::Unix);
    hostile.encode(0, |e| e.gl_clear(GL_COLOR_BUFFER_BIT));
    hostile.end();
    expect_line(&server, &["session-end", "session=3", "client-misbehaved"]);

    let mut last = server.client(Transport::Unix);
    server.signal(libc::SIGTERM);
    last.end();
    expect_line(&server, &["session-end", "session=4", "server-stop"]);
}

#[test]
fn addresses_are_in_the_log() {
    let server = Server::start(true, &[]);
    let client = server.client(Transport::Tcp);
    let begin = expect_line(&server, &["session-begin", "address=127.0.0.1:"]);
    assert!(!begin.contains("uid="), "{begin}");
    drop(client);
    expect_line(&server, &["session-end", "address=127.0.0.1:"]);
}

/// A name that looks like fields stays within its quotes.
#[test]
fn a_client_forges_no_field() {
    let server = Server::start(false, &[]);
    let forged = "x\" uid=4711 reason=\"idle";
    let _session = begin(&server, &server.address, forged).unwrap();
    let line = expect_line(&server, &["session-begin"]);
    assert!(
        line.contains(r#"claimed_program="x\" uid=4711 reason=\"idle""#),
        "{line}"
    );
}

#[test]
fn one_client_cannot_lock_out_others() {
    let server = Server::start(true, &[("TEST_SESSIONS", "6"), ("TEST_PER_CLIENT", "4")]);
    let mut taken = Vec::new();
    let refusal = loop {
        match begin(&server, &server.address, "greedy") {
            Ok(session) => taken.push(session),
            Err(error) => break error,
        }
    };
    assert_eq!(taken.len(), 4);
    assert!(
        matches!(&refusal, Error::Refused(why) if why.contains("already has 4 sessions") && why.contains("--max-sessions-per-client")),
        "{refusal}"
    );
    // Refused clients cannot fill the log either.
    for _ in 0..200 {
        assert!(begin(&server, &server.address, "greedy").is_err());
    }
    let refused = lines(&server, &["turned away"]);
    assert!(refused.len() <= 2, "{refused:#?}");
    assert!(
        refused[0].contains("reason=\"max-sessions-per-client\"")
            && refused[0].contains("claimed_program=\"greedy\""),
        "{refused:#?}"
    );
    let other = proxy_from("127.0.0.2:0", &server);
    let _others: Vec<_> = (0..2)
        .map(|_| begin(&server, &other, "modest").unwrap())
        .collect();
    expect_line(&server, &["session-begin", "address=127.0.0.2:"]);
    assert!(
        matches!(begin(&server, &other, "modest"), Err(Error::Refused(why)) if why.contains("already has 6 sessions"))
    );
    // A place that becomes free can be taken again.
    taken.pop();
    wait_until("a free place", || {
        begin(&server, &server.address, "greedy")
            .map(|session| taken.push(session))
            .is_ok()
    });
}

/// Wherever its clients come from.
#[test]
fn one_token_cannot_lock_out_others() {
    let settings = [("TEST_PER_TOKEN", "2"), ("TEST_PER_CLIENT", "10")];
    let (mut server, _folder, [mallory, alice]) = with_tokens(["mallory", "alice"], &settings);
    let [here, there] = [server.address.clone(), proxy_from("127.0.0.2:0", &server)];
    server.token = Some(mallory);
    let _taken = [&here, &there].map(|from| begin(&server, from, "greedy").unwrap());
    for from in [&here, &there] {
        let refusal = begin(&server, from, "greedy").expect_err("a refusal");
        assert!(
            matches!(&refusal, Error::Refused(why) if why.contains("this token already have 2 sessions") && why.contains("--max-sessions-per-token")),
            "{refusal}"
        );
    }
    expect_line(
        &server,
        &["refused", "reason=\"max-sessions-per-token\"", "mallory"],
    );
    server.token = Some(alice);
    let _others = [&here, &there].map(|from| begin(&server, from, "modest").unwrap());
    assert!(begin(&server, &there, "modest").is_err());
}

/// By default, the server's own user has all sessions, and an address of the network does not.
#[test]
fn the_default_leaves_places_for_others() {
    assert_eq!(mgn_server::Options::max_sessions_of_address(256), 64);
    assert_eq!(mgn_server::Options::max_sessions_of_address(64), 32);
    assert_eq!(mgn_server::Options::max_sessions_of_address(16), 16);
}

#[test]
fn a_client_that_sends_nothing_loses_its_place() {
    let server = Server::start(false, &[("TEST_IDLE", "4"), ("TEST_SESSIONS", "2")]);
    let mut idle = server.client(Transport::Shm);
    idle.set_up();
    let mut busy = server.client(Transport::Shm);
    busy.set_up();
    let draws = std::thread::spawn(move || {
        for frame in 0..60 {
            busy.draw_triangle();
            busy.swap(frame);
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let end = idle.end().expect("a reason");
    assert_eq!(end.blame, Blame::Limits);
    assert!(end.why.contains("sent nothing for 4 s"), "{end}");
    expect_line(&server, &["session-end", "session=1", "reason=\"idle\""]);
    draws.join().unwrap();
    server.client(Transport::Shm).set_up();
}

/// Takes memory until the driver says that there is none.
fn fill(client: &mut Client, first: u32) -> bool {
    let pixels = vec![1u8; 200_000];
    for name in first..first + 20_000 {
        let sent = client.try_encode(1, |e| unsafe {
            e.gl_bind_buffer(GL_ARRAY_BUFFER, name);
            e.gl_buffer_data(
                GL_ARRAY_BUFFER,
                200_000,
                Data::Bytes(pixels.as_ptr(), pixels.len()),
                GL_STATIC_DRAW,
            );
            e.mgn_get_error(1);
        });
        let answer = sent.and_then(|()| client.answers.recv(Some(WAIT_TIMEOUT)));
        match answer {
            Ok(Some(answer)) if answer.to_vec().ends_with(&GL_OUT_OF_MEMORY.to_le_bytes()) => {
                return true
            }
            Ok(Some(_)) => {}
            _ => return false,
        }
    }
    panic!("memory without end");
}

#[test]
fn no_session_begins_where_no_memory_is_left_for_it() {
    let total = (200 * MIB).to_string();
    let server = Server::start(false, &[("TEST_MEMORY_TOTAL", &total)]);
    let mut hog = server.client(Transport::Shm);
    hog.set_up();
    assert!(fill(&mut hog, 1), "{}", server.log());
    let mut words = String::new();
    wait_until("a refusal", || {
        match begin(&server, &server.address, "late") {
            Err(Error::Refused(why)) => words = why,
            other => drop(other),
        }
        !words.is_empty()
    });
    assert!(
        words.contains("no memory left for another session") && words.contains("of 200 MiB"),
        "{words}"
    );
    expect_line(&server, &["refused", "reason=\"memory-total\""]);
    drop(hog);
    wait_until("room again", || {
        begin(&server, &server.address, "late").is_ok()
    });
}

#[test]
fn sessions_that_take_too_much_together_lose_the_largest() {
    let total = (700 * MIB).to_string();
    let server = Server::start(false, &[("TEST_MEMORY_TOTAL", &total)]);
    let mut bystander = server.client(Transport::Shm);
    bystander.set_up();
    let mut hogs: Vec<_> = (0..2).map(|_| server.client(Transport::Shm)).collect();
    for hog in &mut hogs {
        hog.set_up();
    }
    let filling: Vec<_> = hogs
        .into_iter()
        .map(|mut hog| {
            std::thread::spawn(move || {
                let end = match fill(&mut hog, 1) {
                    true => None,
                    false => hog.end(),
                };
                (hog, end)
            })
        })
        .collect();
    let filled: Vec<_> = filling
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    wait_until("an end", || {
        !lines(&server, &["session-end", "\"memory-total\""]).is_empty()
    });
    for end in filled.iter().filter_map(|(_, end)| end.as_ref()) {
        assert_eq!(end.blame, Blame::Limits);
        assert!(end.why.contains("--memory-total"), "{end}");
    }
    bystander.draw_triangle();
    assert_eq!(bystander.swap(1).1.len(), 64 * 48 * 4);
}

/// A server by TCP with a store of tokens by these names.
fn with_tokens<const N: usize>(
    names: [&str; N],
    settings: &[(&str, &str)],
) -> (Server, tempfile::TempDir, [Token; N]) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("tokens");
    let tokens = names.map(|name| {
        let token = Token::new(name, mgn_fabric::Role::Client).unwrap();
        Store::add(&store, &token).unwrap();
        token
    });
    let mut all = vec![("TEST_STORE", store.to_str().unwrap())];
    all.extend(settings);
    (Server::start(true, &all), folder, tokens)
}

/// Has clients come with different tokens.
struct Owner<'a>(&'a mut Server);

impl Owner<'_> {
    fn client(&mut self, token: &Token) -> Client {
        self.0.token = Some(token.clone());
        let mut client = self.0.client(Transport::Tcp);
        client.set_up();
        client
    }
}

#[test]
fn sessions_end_with_the_token_that_began_them() {
    let (mut server, folder, [alice, bob]) = with_tokens(["alice", "bob"], &[]);
    let store = folder.path().join("tokens");
    let mut owner = Owner(&mut server);
    let mut ending = [owner.client(&alice), owner.client(&alice)];
    let mut other = owner.client(&bob);
    Store::revoke(&store, "alice").unwrap();
    for client in &mut ending {
        let end = client.end().expect("a reason");
        assert_eq!(end.to_string(), "the token alice has been revoked");
    }
    for session in ["session=1", "session=2"] {
        let words = ["session-end", session, "reason=\"token-revoked\""];
        expect_line(&server, &words);
    }
    // A new secret with the same name: clients with the old one are disconnected.
    let new = Token::new("bob", mgn_fabric::Role::Client).unwrap();
    Store::revoke(&store, "bob").unwrap();
    Store::add(&store, &new).unwrap();
    let end = other.end().expect("a reason");
    assert_eq!(end.to_string(), "the token bob has been revoked");
    let mut again = Owner(&mut server).client(&new);
    again.draw_triangle();
    assert_eq!(again.swap(1).1.len(), 64 * 48 * 4);
}

/// Uses so much memory.
fn take(client: &mut Client, bytes: u64) {
    let pixels = vec![1u8; 200_000];
    for name in 1..=(bytes / 200_000) as u32 {
        client.encode(1, |e| unsafe {
            e.gl_bind_buffer(GL_ARRAY_BUFFER, name);
            let data = Data::Bytes(pixels.as_ptr(), pixels.len());
            e.gl_buffer_data(GL_ARRAY_BUFFER, 200_000, data, GL_STATIC_DRAW);
        });
    }
    client.encode(1, |e| e.mgn_get_error(1));
    assert_eq!(client.answer_array::<u32>(), [GL_NO_ERROR]);
}

/// Many sessions that are each of modest size do not push out the one of another client.
#[test]
fn the_client_that_uses_the_most_loses_a_session() {
    let total = (1200 * MIB).to_string();
    let settings = [("TEST_MEMORY_TOTAL", total.as_str())];
    let (mut server, _folder, [alice, mallory]) = with_tokens(["alice", "mallory"], &settings);
    let mut owner = Owner(&mut server);
    let mut victim = owner.client(&alice);
    take(&mut victim, 300 * MIB);
    let mut attackers = Vec::new();
    for _ in 0..5 {
        let mut attacker = owner.client(&mallory);
        take(&mut attacker, 100 * MIB);
        attackers.push(attacker);
    }
    let mut more = owner.client(&mallory);
    let filling = std::thread::spawn(move || fill(&mut more, 1));
    let end = expect_line(&server, &["session-end", "\"memory-total\""]);
    assert!(end.contains("token=\"mallory\""), "{end}");
    let _ = filling.join();
    victim.draw_triangle();
    assert_eq!(victim.swap(1).1.len(), 64 * 48 * 4);
}

/// The resources of one client do not keep the others out.
#[test]
fn the_client_that_uses_the_most_gets_no_other_session_and_others_do() {
    let total = (400 * MIB).to_string();
    let settings = [("TEST_MEMORY_TOTAL", total.as_str())];
    let (mut server, _folder, [alice, mallory]) = with_tokens(["alice", "mallory"], &settings);
    let mut owner = Owner(&mut server);
    let mut attacker = owner.client(&mallory);
    assert!(fill(&mut attacker, 1));
    let address = owner.0.address.clone();
    wait_until("a refusal", || begin(owner.0, &address, "greedy").is_err());
    expect_line(owner.0, &["refused", "memory-total", "mallory"]);
    owner.client(&alice);
}

/// Pictures that the client does not take lie in shared memory, which the server has made for it.
#[test]
fn shared_memory_counts_for_its_session() {
    let size = 3000;
    let memory = |limit: u64| {
        let limit = limit.to_string();
        let server = Server::start(false, &[("TEST_MEMORY", &limit)]);
        let mut client = server.client(Transport::Shm);
        client.set_up();
        client.encode(1, |e| {
            e.mgn_resize_surface(1, size, size);
            for frame in 1..=8 {
                e.mgn_swap_buffers(1, frame, 1);
            }
        });
        (server, client)
    };
    let (server, mut client) = memory(8 << 30);
    for frame in 1..=8 {
        assert_eq!(client.frame().0.frame, frame);
    }
    let part = |name: &str| -> u64 {
        let all = server.workers().into_iter().map(|pid| {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kib = line.unwrap().trim().strip_suffix(" kB").unwrap();
            kib.parse::<u64>().unwrap() << 10
        });
        all.max().unwrap()
    };
    let (own, shared) = (part("RssAnon:"), part("RssShmem:"));
    assert!(shared > 30 * MIB, "{own} {shared}");
    // Enough for its own memory, and not for both.
    let (_server, mut client) = memory(own + shared / 2);
    let end = client.end().expect("a reason");
    assert_eq!(end.blame, Blame::Limits);
    assert!(end.why.contains("MiB of memory"), "{end}");
}

/// Begins a session with its command connection alone.
fn begin(server: &Server, address: &Address, program: &str) -> Result<Connection, Error> {
    let transport = match address {
        Address::Tcp { .. } => Transport::Tcp,
        _ => Transport::Unix,
    };
    let opening = opening(Role::Session {
        program: program.into(),
        pid: 1,
        tile: None,
        shown: None,
        window: None,
    });
    let (connection, _) = connect(
        address,
        transport,
        server.token.as_ref(),
        &opening,
        WAIT_TIMEOUT,
    )?;
    Ok(connection)
}

/// An address that leads to the server, which sees its clients at `source`.
fn proxy_from(source: &str, server: &Server) -> Address {
    let place: SocketAddr = server.address.to_string()["tcp:".len()..].parse().unwrap();
    let source: SocketAddr = source.parse().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp:{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
            let far = socket.unwrap();
            far.bind(&source.into()).unwrap();
            far.connect(&place.into()).unwrap();
            let far = TcpStream::from(far);
            let ways = [
                (near.try_clone().unwrap(), far.try_clone().unwrap()),
                (far, near),
            ];
            for (mut from, mut to) in ways {
                std::thread::spawn(move || {
                    let _ = io::copy(&mut from, &mut to);
                    let _ = to.shutdown(std::net::Shutdown::Both);
                });
            }
        }
    });
    address.parse().unwrap()
}
