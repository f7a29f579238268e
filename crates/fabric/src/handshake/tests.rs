use super::client::Step;
use std::sync::Arc;

use super::*;
use crate::config::{Config, Sizes};
use crate::Role;

const ANY: &[Transport] = &[Transport::Shm, Transport::Unix, Transport::Tcp];

fn token(digit: &str) -> Token {
    digit.repeat(64).parse().unwrap()
}

fn known(token: Option<Token>) -> Option<Known> {
    token.map(|token| Known {
        tokens: vec![token].into(),
        channel: None,
    })
}

/// Connects the two sides, and passes `piece` bytes at a time. Returns the result of each side.
fn run(
    mut client: ClientSide<'_>,
    mut server: ServerSide,
    verdict: &[u8],
    piece: usize,
) -> (Result<Agreed, Error>, Result<Vec<u8>, String>) {
    let mut to_server = client.start();
    let mut to_client: Vec<u8> = Vec::new();
    let mut at_server = Err("hung up".to_string());
    loop {
        let take = to_server.len().min(server.wants()).min(piece);
        if take > 0 {
            let bytes: Vec<u8> = to_server.drain(..take).collect();
            match server.receive(&bytes) {
                Progress::More => {}
                Progress::Send(bytes) => to_client.extend(bytes),
                Progress::Done { opening, .. } => {
                    at_server = Ok(opening);
                    to_client.extend(verdict);
                }
                Progress::Fail(bytes, why) => {
                    at_server = Err(why);
                    to_client.extend(bytes);
                }
            }
            continue;
        }
        let take = to_client.len().min(client.wants()).min(piece);
        if take == 0 {
            return (Err(Error::Closed("nobody".into())), at_server);
        }
        let bytes: Vec<u8> = to_client.drain(..take).collect();
        match client.receive(&bytes) {
            Ok(Step::More) => {}
            Ok(Step::Send(bytes)) => to_server.extend(bytes),
            Ok(Step::Done(agreed)) => return (Ok(agreed), at_server),
            Err(error) => return (Err(error), at_server),
        }
    }
}

fn welcome() -> (Sizes, Vec<u8>) {
    let sizes = Sizes::new(&Config::default()).unwrap();
    (sizes, accepted(&sizes, b"come in").unwrap())
}

#[test]
fn both_agree_whatever_the_pieces() {
    let token = token("a");
    let (sizes, verdict) = welcome();
    for piece in [1, 7, 48, 4096] {
        for given in [None, Some(&token)] {
            let client = ClientSide::new(&Transport::Unix, given, b"hello", "it").unwrap();
            let server = ServerSide::new(known(given.cloned()), ANY);
            let (agreed, opening) = run(client, server, &verdict, piece);
            let agreed = agreed.unwrap();
            assert_eq!(
                (agreed.sizes, &agreed.welcome[..]),
                (sizes, &b"come in"[..])
            );
            assert_eq!(opening.unwrap(), b"hello");
        }
    }
}

#[test]
fn a_token_that_the_server_does_not_have_is_refused() {
    let (right, wrong) = (token("a"), token("b"));
    let (_, verdict) = welcome();
    let client = ClientSide::new(&Transport::Tcp, Some(&wrong), b"", "it").unwrap();
    let server = ServerSide::new(known(Some(right)), ANY);
    let (agreed, at_server) = run(client, server, &verdict, 99);
    let error = agreed.unwrap_err();
    assert!(
        matches!(&error, Error::Auth(why) if why.contains("revoked")),
        "{error}"
    );
    assert!(at_server.unwrap_err().contains("does not know this token"));
}

/// The identifier is public. A client that knows only the identifier gets as far as the proof.
#[test]
fn an_identifier_proves_nothing() {
    let (right, wrong) = (token("a"), token("b"));

    // A server that has only seen the identifier learns nothing: the client notices first.
    let mut client = ClientSide::new(&Transport::Tcp, Some(&right), b"secret", "it").unwrap();
    let mut hello = client.start();
    hello[ID..].copy_from_slice(&wrong.id().0);
    let mut impostor = ServerSide::new(known(Some(wrong.clone())), ANY);
    let Progress::Send(challenge) = impostor.receive(&hello) else {
        panic!("the server continues");
    };
    let error = client.receive(&challenge).unwrap_err();
    assert!(
        matches!(&error, Error::Auth(why) if why.contains("the same token")),
        "{error}"
    );

    // A client that knows only the identifier is refused.
    let mut server = ServerSide::new(known(Some(right.clone())), ANY);
    let client = ClientSide::new(&Transport::Tcp, Some(&wrong), b"op", "it").unwrap();
    let mut hello = client.start();
    hello[ID..].copy_from_slice(&right.id().0);
    assert!(matches!(server.receive(&hello), Progress::Send(_)));
    match server.receive(&[[7; PROOF].as_slice(), b"op"].concat()) {
        Progress::Fail(bytes, why) => {
            assert_eq!(bytes[0], Refusal::Auth as u8);
            assert!(why.contains("token"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_server_learns_whose_token_it_is() {
    let names = ["alice", "bob", "gpu"];
    let tokens = names.map(|name| Token::new(name, Role::Client).unwrap());
    let all: Arc<Vec<Token>> = Arc::new(tokens.to_vec());
    for channel in [None, Some([9; 32])] {
        for token in &tokens {
            let bound = channel.map_or(token.clone(), |channel| token.bound_to(&channel));
            let mut client = ClientSide::new(&Transport::Tcp, Some(&bound), b"op", "it").unwrap();
            let tokens = all.clone();
            let mut server = ServerSide::new(Some(Known { tokens, channel }), ANY);
            let Progress::Send(challenge) = server.receive(&client.start()) else {
                panic!("it knows the token");
            };
            let Ok(Step::Send(answer)) = client.receive(&challenge) else {
                panic!("the client continues");
            };
            match server.receive(&answer) {
                Progress::Done { token: found, .. } => assert_eq!(found, Some(token.id())),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn tokens_are_wanted_where_they_must_be() {
    let right = token("a");
    let (_, verdict) = welcome();
    let go = |transport, given, wanted| {
        let client = ClientSide::new(&transport, given, b"", "it").unwrap();
        run(client, ServerSide::new(known(wanted), ANY), &verdict, 99).0
    };
    let error = go(Transport::Unix, None, Some(right.clone())).unwrap_err();
    assert!(
        matches!(&error, Error::Auth(why) if why.contains("requires a token")),
        "{error}"
    );
    // A server that requires no token has proved nothing.
    let error = go(Transport::Tcp, Some(&right), None).unwrap_err();
    assert!(
        matches!(&error, Error::Auth(why) if why.contains("prove")),
        "{error}"
    );
    go(Transport::Unix, Some(&right), None).unwrap();
}

#[test]
fn a_proof_cannot_be_used_again_or_reflected() {
    let token = token("a");
    let hello = [1; HELLO];
    let first = Transcript {
        hello: &hello,
        server_nonce: &[2; NONCE],
        opening: b"x",
    };
    let other = Transcript {
        server_nonce: &[3; NONCE],
        ..first
    };
    assert_ne!(first.client_proof(&token), other.client_proof(&token));
    assert_ne!(first.client_proof(&token), first.server_proof(&token));
    let other = Transcript {
        opening: b"y",
        ..first
    };
    assert_ne!(first.client_proof(&token), other.client_proof(&token));
}

#[test]
fn refusals_carry_their_reason() {
    let client = || ClientSide::new(&Transport::Shm, None, b"", "it").unwrap();
    for (why, piece) in [
        ("the house is full", 1),
        ("", 99),
        (&"x".repeat(9999)[..], 99),
    ] {
        let (agreed, _) = run(client(), ServerSide::new(None, ANY), &refused(why), piece);
        match agreed.unwrap_err() {
            Error::Refused(reason) => assert_eq!(reason, why[..why.len().min(REASON_MAX)]),
            other => panic!("{other}"),
        }
    }
    // Control characters do not reach the terminal.
    let bytes = refused("a\x1b[2Jb");
    let (agreed, _) = run(client(), ServerSide::new(None, ANY), &bytes, 99);
    assert!(matches!(agreed.unwrap_err(), Error::Refused(why) if why == "a [2Jb"));

    let (agreed, _) = run(client(), ServerSide::new(None, &[Transport::Unix]), b"", 99);
    assert!(matches!(agreed.unwrap_err(), Error::Refused(why) if why.contains("only unix")));

    // The code of a refusal, and not its text, tells whether to try again.
    let (agreed, _) = run(client(), ServerSide::new(None, ANY), &put_off("full"), 99);
    assert!(matches!(agreed.unwrap_err(), Error::NotNow(why) if why == "full"));
    let bytes = refused("not now: full");
    let (agreed, _) = run(client(), ServerSide::new(None, ANY), &bytes, 99);
    assert!(matches!(agreed.unwrap_err(), Error::Refused(why) if why == "not now: full"));
}

#[test]
fn versions_and_strangers_are_told_apart() {
    let client = ClientSide::new(&Transport::Shm, None, b"", "it").unwrap();
    let mut hello = client.start();
    hello[8] = 99;
    match ServerSide::new(None, ANY).receive(&hello) {
        Progress::Fail(bytes, why) => {
            assert!(why.contains("version"), "{why}");
            let mut client = ClientSide::new(&Transport::Shm, None, b"", "it").unwrap();
            let mut newer = bytes.clone();
            newer[8] = 99;
            let error = client.receive(&newer[..CHALLENGE]).unwrap_err();
            assert!(
                matches!(
                    error,
                    Error::Version {
                        ours: VERSION,
                        theirs: 99
                    }
                ),
                "{error}"
            );
            let mut client = ClientSide::new(&Transport::Shm, None, b"", "it").unwrap();
            assert!(client.receive(&bytes[..CHALLENGE]).is_ok());
            let error = client.receive(&bytes[CHALLENGE..]).unwrap_err();
            assert!(matches!(error, Error::Refused(_)), "{error}");
        }
        other => panic!("{other:?}"),
    }
    let stranger = b"HTTP/1.1 400 Bad Request\r\n";
    let mut client = ClientSide::new(&Transport::Shm, None, b"", "it").unwrap();
    assert!(matches!(
        client.receive(stranger),
        Err(Error::NotManganese(_))
    ));
    match ServerSide::new(None, ANY).receive(b"GET / HTTP/1.1\r\n") {
        Progress::Fail(bytes, _) => assert!(bytes.is_empty()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn lengths_are_limited() {
    let long = vec![0; OPENING_MAX + 1];
    assert!(ClientSide::new(&Transport::Shm, None, &long, "it").is_err());
    let client = ClientSide::new(&Transport::Shm, None, b"", "it").unwrap();
    let mut hello = client.start();
    hello[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    let mut server = ServerSide::new(None, ANY);
    assert!(matches!(server.receive(&hello), Progress::Fail(..)));
    assert!(accepted(
        &Sizes::new(&Config::default()).unwrap(),
        &vec![0; WELCOME_MAX + 1]
    )
    .is_err());

    let mut verdict = refused("x");
    verdict[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    let client = || ClientSide::new(&Transport::Shm, None, b"", "it").unwrap();
    let (agreed, _) = run(client(), ServerSide::new(None, ANY), &verdict, 99);
    assert!(matches!(agreed.unwrap_err(), Error::PeerMisbehaved(_)));
    verdict[0] = 0;
    let (agreed, _) = run(client(), ServerSide::new(None, ANY), &verdict, 99);
    assert!(matches!(agreed.unwrap_err(), Error::PeerMisbehaved(_)));
}

/// Seeds of another version would test nothing, because no end accepts them.
#[test]
fn the_seeds_of_the_fuzz_target_are_of_this_version() {
    let seed = |name: &str| {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        std::fs::read(folder.join("../../fuzz/corpus/handshake").join(name)).unwrap()
    };
    let bytes = seed("client");
    let mut server = ServerSide::new(None, ANY);
    assert!(matches!(server.receive(&bytes[..HELLO]), Progress::Send(_)));
    let done = server.receive(&bytes[HELLO..]);
    assert!(matches!(done, Progress::Done { .. }), "{done:?}");

    let bytes = seed("client-token");
    let mut server = ServerSide::new(known(Some(token("a"))), ANY);
    assert!(matches!(server.receive(&bytes[..HELLO]), Progress::Send(_)));
    let done = server.receive(&bytes[HELLO..]);
    assert!(matches!(done, Progress::Fail(..)), "{done:?}");

    for name in ["server-accepts", "server-refuses"] {
        let bytes = seed(name);
        let mut client = ClientSide::new(&Transport::Unix, None, b"", "it").unwrap();
        let mut rest = &bytes[..];
        let end = loop {
            let (now, later) = rest.split_at(client.wants());
            rest = later;
            match client.receive(now) {
                Ok(Step::Done(_)) => break "accepts",
                Ok(_) => {}
                Err(Error::Refused(_)) => break "refuses",
                Err(error) => panic!("{name}: {error}"),
            }
        };
        assert!(rest.is_empty() && name.contains(end), "{name}: {end}");
    }
}
