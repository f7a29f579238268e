//! Tests of encryption against an attacker between the two ends that reads data, changes data, or
//! poses as the ends.

mod support;

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mgn_fabric::endpoint::{Endpoint, SendOptions, Settings, Wanted};
use mgn_fabric::{connect, Address, Error, Listener, Token, Transport};
use support::links::{accept, try_connect};
use support::*;

/// Text that an attacker between the two ends must not see.
const SECRET: &[u8] = b"the treasure lies under the old oak";

/// The host and port of a listener, for a client that does not speak our protocol.
fn place(listener: &Listener) -> (String, u16) {
    match listener.address() {
        Address::Tcp { host, port, .. } => (host.clone(), *port),
        other => panic!("{other}"),
    }
}

/// An attacker between the two ends, and all data that went through it. `change` may alter the data
/// to the client. It also gets the number of bytes that came before the data.
struct Between {
    address: Address,
    heard: Arc<Mutex<Vec<u8>>>,
}

impl Between {
    fn new(
        listener: &Listener,
        change: impl Fn(usize, &mut Vec<u8>) + Send + Clone + 'static,
    ) -> Between {
        let (to, listens) = (place(listener), TcpListener::bind("127.0.0.1:0").unwrap());
        let address = Address::Tcp {
            host: "127.0.0.1".into(),
            port: listens.local_addr().unwrap().port(),
            tls: matches!(listener.address(), Address::Tcp { tls: true, .. }),
            server: None,
        };
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hears = heard.clone();
        thread::spawn(move || {
            for client in listens.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(to.clone()).unwrap();
                let (from, into) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let (one, other, change) = (hears.clone(), hears.clone(), change.clone());
                thread::spawn(move || carry(from, into, &one, |_, _| {}));
                thread::spawn(move || carry(server, client, &other, change));
            }
        });
        Between { address, heard }
    }

    fn has_heard(&self, what: &[u8]) -> bool {
        let heard = self.heard.lock().unwrap();
        assert!(heard.len() > 250, "everything went through here");
        heard.windows(what.len()).any(|bytes| bytes == what)
    }
}

fn carry(
    mut from: TcpStream,
    mut into: TcpStream,
    heard: &Mutex<Vec<u8>>,
    change: impl Fn(usize, &mut Vec<u8>),
) {
    let (mut buffer, mut before) = (vec![0; 64 << 10], 0);
    while let Ok(got @ 1..) = from.read(&mut buffer) {
        let mut bytes = buffer[..got].to_vec();
        heard.lock().unwrap().extend(&bytes);
        change(before, &mut bytes);
        before += got;
        if into.write_all(&bytes).is_err() {
            break;
        }
    }
    let _ = into.shutdown(Shutdown::Write);
}

/// The error of a client that the server does not accept.
fn refused(listener: &Listener, address: &Address, token: &Token) -> Error {
    thread::scope(|scope| {
        let client = scope.spawn(|| connect(address, Transport::Tcp, Some(token), SECRET, TIMEOUT));
        lets_nobody_in(listener, &client);
        client.join().unwrap().unwrap_err()
    })
}

/// Sends the secret in both directions, also in the opening and the welcome. Returns whether the
/// attacker has seen it.
fn talk(kind: &Kind) -> bool {
    let (listener, _folder) = kind.listen();
    let between = Between::new(&listener, |_, _| {});
    let address = between.address.clone();
    thread::scope(|scope| {
        scope.spawn(|| {
            let incoming = listener.accept().unwrap();
            assert_eq!(incoming.opening(), SECRET);
            let server = incoming.accept(SECRET, &small()).unwrap();
            let (sender, mut receiver) = server.split();
            let message = receiver.recv(Some(TIMEOUT)).unwrap().unwrap();
            sender.send(&message.to_vec()).unwrap();
        });
        let token = kind.token();
        let (client, welcome) =
            connect(&address, Transport::Tcp, token.as_ref(), SECRET, TIMEOUT).unwrap();
        assert_eq!(welcome, SECRET);
        let (sender, mut receiver) = client.split();
        sender.send(SECRET).unwrap();
        let back = receiver.recv(Some(TIMEOUT)).unwrap().unwrap();
        assert_eq!(back.to_vec(), SECRET);
    });
    between.has_heard(SECRET)
}

#[test]
fn who_listens_in_between_learns_nothing() {
    // Without encryption, the attacker sees the secret. This shows that the test works.
    assert!(talk(&TCP4));
    assert!(!talk(&TLS));
}

#[test]
fn who_listens_between_endpoints_learns_nothing() {
    for kind in [TCP4, TLS] {
        let (listener, _folder) = kind.listen();
        let between = Between::new(&listener, |_, _| {});
        let settings = Settings::default();
        let one = Endpoint::with(settings.clone()).unwrap();
        let other = Endpoint::with(settings).unwrap();
        thread::scope(|scope| {
            let there = scope.spawn(|| accept(&other, &listener));
            let token = kind.token();
            let (address, transport) = (&between.address, &Transport::Tcp);
            let here = one
                .connect(address, transport, token.as_ref(), SECRET, TIMEOUT)
                .unwrap();
            let there = there.join().unwrap();
            for len in [SECRET.len(), 3_000_000] {
                let bytes: Vec<u8> = SECRET.iter().copied().cycle().take(len).collect();
                let mut into = vec![0; len];
                let other = &other;
                let receive = scope.spawn(move || {
                    other.recv(Wanted::new(there, 1), &mut into).unwrap();
                    into
                });
                one.send(here, 1, &bytes, SendOptions::default()).unwrap();
                assert!(receive.join().unwrap() == bytes);
            }
        });
        assert_eq!(between.has_heard(SECRET), kind.address != TLS.address);
    }
}

/// The attacker decrypts with its own keys on both sides, and passes on the decrypted data.
#[test]
fn who_speaks_for_both_ends_is_noticed() {
    let (listener, _folder) = TLS.listen();
    let token = TLS.token().unwrap();
    let between = interceptor::start(place(&listener));
    let error = refused(&listener, &between.address, &token);
    assert!(matches!(error, Error::Auth(_)), "{error}");
    let seen = between.seen.lock().unwrap();
    // The attacker read the beginning of the handshake inside the encryption.
    assert!(seen.windows(6).any(|bytes| bytes == b"MGNFAB"));
    assert!(!seen.windows(SECRET.len()).any(|bytes| bytes == SECRET));
}

#[test]
fn both_ends_have_to_want_it() {
    let token = TLS.token().unwrap();
    for (served, asked, hint) in [
        ("tcp", true, "tcp: in place of tls:"),
        ("tls", false, "tls: in place of tcp:"),
    ] {
        let address: Address = format!("{served}:127.0.0.1:0").parse().unwrap();
        let listener = Listener::bind(&address, Some(token.clone())).unwrap();
        let (host, port) = place(&listener);
        let address = Address::Tcp {
            host,
            port,
            tls: asked,
            server: None,
        };
        let error = refused(&listener, &address, &token);
        assert!(
            matches!(error, Error::Refused(_) | Error::Auth(_)),
            "{error}"
        );
        assert!(error.to_string().contains(hint), "{error}");
    }
}

/// A bit that is changed anywhere in the negotiation, the handshake or a message ends the
/// connection.
#[test]
fn what_was_changed_on_its_way_is_refused() {
    let (listener, _folder) = TLS.listen();
    let token = TLS.token().unwrap();
    for (number, at) in [
        0_usize, 3, 5, 40, 90, 140, 200, 400, 500, 700, 900, 5000, 20_000,
    ]
    .into_iter()
    .enumerate()
    {
        let between = Between::new(&listener, move |before, bytes| {
            if let Some(byte) = at.checked_sub(before).and_then(|at| bytes.get_mut(at)) {
                *byte ^= 1 << (number % 8);
            }
        });
        thread::scope(|scope| {
            let listener = &listener;
            scope.spawn(move || {
                let Ok(Some(incoming)) = listener.accept_timeout(Duration::from_millis(300)) else {
                    return;
                };
                if let Ok(server) = incoming.accept(b"welcome", &small()) {
                    let (sender, _receiver) = server.split();
                    let _ = sender.send(&[7; 8000]);
                    let _ = sender.send(&[8; 8000]);
                    let _ = sender.send(&[9; 8000]);
                }
            });
            let patience = Duration::from_secs(3);
            let joined = connect(
                &between.address,
                Transport::Tcp,
                Some(&token),
                b"",
                patience,
            );
            let Ok((client, welcome)) = joined else {
                return;
            };
            assert_eq!(welcome, b"welcome", "byte {at}");
            let (_sender, mut receiver) = client.split();
            let error = loop {
                match receiver.recv(Some(TIMEOUT)) {
                    Ok(Some(message)) => {
                        let bytes = message.to_vec();
                        assert!(bytes.iter().all(|byte| *byte == bytes[0]), "byte {at}");
                    }
                    Ok(None) => panic!("byte {at}: neither a message nor an error"),
                    Err(error) => break error,
                }
            };
            assert!(
                matches!(error, Error::PeerMisbehaved(_)),
                "byte {at}: {error}"
            );
        });
    }
}

#[test]
fn garbage_is_one_clear_error() {
    let token = TLS.token().unwrap();
    let zeros = [0x16, 3, 3, 0x10, 0].into_iter().chain([0; 4096]).collect();
    let long = [0x16, 3, 3, 0xff, 0xff]
        .into_iter()
        .chain([0; 70_000])
        .collect();
    for answer in [
        b"HTTP/1.0 400 Bad Request\r\n\r\n".to_vec(),
        b"\x15\x03\x03\0\x02\x02\x28".to_vec(),
        zeros,
        long,
        Vec::new(),
    ] {
        let listens = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::Tcp {
            host: "127.0.0.1".into(),
            port: listens.local_addr().unwrap().port(),
            tls: true,
            server: None,
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                let (mut client, _) = listens.accept().unwrap();
                let _ = client.write_all(&answer);
                let _ = client.shutdown(Shutdown::Write);
                let _ = client.read_to_end(&mut Vec::new());
            });
            let error = connect(&address, Transport::Tcp, Some(&token), b"", TIMEOUT).unwrap_err();
            let is_clear = matches!(
                error,
                Error::NotManganese(_) | Error::Auth(_) | Error::Closed(_)
            );
            assert!(is_clear, "{error}");
        });
    }
    // Send the same to a server, which must continue to serve others.
    let (listener, _folder) = TLS.listen();
    let (host, port) = place(&listener);
    for hello in [
        &b"GET / HTTP/1.0\r\n\r\n"[..],
        &[0x16, 3, 1, 0, 4, 1, 0, 0, 0],
        &[0x16, 3, 3, 0xff, 0xff],
    ] {
        let mut stranger = TcpStream::connect((host.as_str(), port)).unwrap();
        stranger.write_all(hello).unwrap();
        stranger.set_nonblocking(true).unwrap();
        let end = told_until_closed(&listener, stranger);
        let is_over = |error: std::io::Error| error.kind() == ErrorKind::ConnectionReset;
        assert!(end.map_or_else(is_over, |_| true));
    }
    let (one, other) = (Endpoint::new().unwrap(), Endpoint::new().unwrap());
    thread::scope(|scope| {
        scope.spawn(|| accept(&one, &listener));
        try_connect(&other, &listener, &TLS, b"").unwrap();
    });
}

#[test]
fn another_token_opens_nothing() {
    let (listener, _folder) = TLS.listen();
    let error = refused(&listener, listener.address(), &Token::generate());
    assert!(
        error.to_string().contains("does not know this token"),
        "{error}"
    );
}

/// An attacker between the two ends that has its own TLS keys, and no token.
mod interceptor {
    use std::io::{ErrorKind, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::{Arc, Mutex};
    use std::thread;
    use std::time::Duration;

    use mgn_fabric::Address;
    use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
    use rustls::crypto::ring::default_provider;
    use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
    use rustls::server::AlwaysResolvesServerRawPublicKeys;
    use rustls::sign::CertifiedKey;
    use rustls::{
        ClientConfig, ClientConnection, Connection, DigitallySignedStruct, ServerConfig,
        ServerConnection, SignatureScheme,
    };

    pub struct Interceptor {
        pub address: Address,
        /// The decrypted data that the attacker has read.
        pub seen: Arc<Mutex<Vec<u8>>>,
    }

    pub fn start(to: (String, u16)) -> Interceptor {
        let listens = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::Tcp {
            host: "127.0.0.1".into(),
            port: listens.local_addr().unwrap().port(),
            tls: true,
            server: None,
        };
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sees = seen.clone();
        thread::spawn(move || {
            let (client, _) = listens.accept().unwrap();
            let server = TcpStream::connect(to).unwrap();
            for socket in [&client, &server] {
                let soon = Some(Duration::from_millis(5));
                socket.set_read_timeout(soon).unwrap();
            }
            let (mut one, mut other) = (towards_client(), towards_server());
            let mut ends = [(client, &mut one), (server, &mut other)];
            loop {
                let mut said = [Vec::new(), Vec::new()];
                for ((socket, tls), said) in ends.iter_mut().zip(&mut said) {
                    while tls.wants_write() {
                        if tls.write_tls(socket).is_err() {
                            return;
                        }
                    }
                    match tls.read_tls(socket) {
                        Ok(0) => return,
                        Err(error) if error.kind() != ErrorKind::WouldBlock => return,
                        _ => {}
                    }
                    if tls.process_new_packets().is_err() {
                        return;
                    }
                    let _ = tls.reader().read_to_end(said);
                }
                for ((_, tls), said) in ends.iter_mut().rev().zip(&said) {
                    sees.lock().unwrap().extend(said);
                    tls.writer().write_all(said).unwrap();
                }
            }
        });
        Interceptor { address, seen }
    }

    fn towards_client() -> Connection {
        let provider = Arc::new(default_provider());
        let mut secret =
            b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20".to_vec();
        secret.extend([7; 32]);
        let key = PrivatePkcs8KeyDer::from(secret).into();
        let key = provider.key_provider.load_private_key(key).unwrap();
        let shown = CertificateDer::from(key.public_key().unwrap().as_ref().to_vec());
        let certified = Arc::new(CertifiedKey::new(vec![shown], key));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(certified)));
        // Our servers send no tickets, so a ticket would reveal the attacker at once.
        config.send_tls13_tickets = 0;
        ServerConnection::new(Arc::new(config)).unwrap().into()
    }

    fn towards_server() -> Connection {
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Careless))
            .with_no_client_auth();
        let name = ServerName::try_from("server").unwrap();
        ClientConnection::new(Arc::new(config), name)
            .unwrap()
            .into()
    }

    #[derive(Debug)]
    struct Careless;

    impl ServerCertVerifier for Careless {
        fn verify_server_cert(
            &self,
            _: &CertificateDer<'_>,
            _: &[CertificateDer<'_>],
            _: &ServerName<'_>,
            _: &[u8],
            _: UnixTime,
        ) -> Result<ServerCertVerified, rustls::Error> {
            Ok(ServerCertVerified::assertion())
        }

        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            Ok(HandshakeSignatureValid::assertion())
        }

        fn verify_tls13_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            Ok(HandshakeSignatureValid::assertion())
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            vec![SignatureScheme::ED25519]
        }

        fn requires_raw_public_keys(&self) -> bool {
            true
        }
    }
}
