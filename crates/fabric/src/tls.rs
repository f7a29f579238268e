//! TLS 1.3 for TCP, with rustls and without certificates.
//!
//! The server shows only its public key (RFC 7250). The negotiation checks that the server has the
//! matching private key, and the caller compares the public key with the keys that the client's
//! token names. Then both ends prove the token *bound* to this channel, with a value that only its
//! two ends can compute (RFC 9266). An attacker between the two ends that decrypts the traffic has
//! two channels with different values, so a proof that the attacker passes on is wrong at the other
//! end. This protection also works for tokens that name no key, but then every process that has the
//! token can pose as the server.
//!
//! There is one cipher suite. Its keys can protect more data than any connection carries, so they
//! are never changed during a connection.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::Resumption;
use rustls::crypto::ring::{cipher_suite, default_provider, kx_group};
use rustls::crypto::{verify_tls13_signature_with_raw_key, CryptoProvider};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::{AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage};
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{
    ClientConfig, ClientConnection, Connection, DigitallySignedStruct, InvalidMessage,
    PeerIncompatible, ServerConfig, ServerConnection, SignatureScheme,
};

use crate::handshake::MAGIC;
use crate::seal::{Seal, HEADER, RECORD_MAX};
use crate::token::Token;
use crate::{PublicKey, ServerKey};

/// The label of the channel's value (RFC 9266).
const BINDING: &[u8] = b"EXPORTER-Channel-Binding";

/// One end of the key negotiation. It does no I/O: the caller sends [`Negotiation::take_output`],
/// and passes received bytes to [`Negotiation::receive`].
pub(crate) struct Negotiation {
    connection: Connection,
    /// The record that is being received.
    record: Vec<u8>,
}

/// The agreed encryption.
pub(crate) struct Agreed {
    pub(crate) seal: Seal,
    pub(crate) binding: [u8; 32],
    /// The key that the server has shown, if this is the client.
    pub(crate) shown: Option<PublicKey>,
}

impl Agreed {
    /// The token, bound to this channel for its proof.
    pub(crate) fn bind(&self, token: &Token) -> Token {
        token.bound_to(&self.binding)
    }
}

impl Negotiation {
    pub(crate) fn client() -> Result<Negotiation, rustls::Error> {
        static CONFIG: OnceLock<Result<Arc<ClientConfig>, rustls::Error>> = OnceLock::new();
        let config = CONFIG.get_or_init(client_config).clone()?;
        // rustls requires a name, which is not sent.
        let name =
            ServerName::try_from("manganese").map_err(|_| rustls::Error::UnsupportedNameType)?;
        Ok(Negotiation::new(
            ClientConnection::new(config, name)?.into(),
        ))
    }

    pub(crate) fn server(config: Arc<ServerConfig>) -> Result<Negotiation, rustls::Error> {
        Ok(Negotiation::new(ServerConnection::new(config)?.into()))
    }

    fn new(connection: Connection) -> Negotiation {
        Negotiation {
            connection,
            record: Vec::new(),
        }
    }

    /// The number of bytes that the caller may read. Reading this number never passes the end of
    /// the negotiation.
    pub(crate) fn wants(&self) -> usize {
        let whole = match self.record.first_chunk::<HEADER>() {
            Some([.., high, low]) => HEADER + usize::from(u16::from_be_bytes([*high, *low])),
            None => HEADER,
        };
        whole - self.record.len()
    }

    /// Handles received bytes, at most [`Negotiation::wants`].
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Result<(), Disagreed> {
        self.record.extend_from_slice(bytes);
        if !is_tls(&self.record) {
            let start = self.record.len().min(MAGIC.len());
            return Err(match self.record[..start] == MAGIC[..start] {
                true => Disagreed::Clear,
                false => Disagreed::Stranger,
            });
        }
        if self.record.len() == HEADER && self.wants() > RECORD_MAX - HEADER {
            let error = rustls::Error::InvalidMessage(InvalidMessage::MessageTooLarge);
            return Err(error.into());
        }
        if self.record.len() >= HEADER && self.wants() == 0 {
            let mut rest = &self.record[..];
            while !rest.is_empty() {
                let read = self.connection.read_tls(&mut rest);
                read.map_err(|error| rustls::Error::General(error.to_string()))?;
                self.connection.process_new_packets()?;
            }
            self.record.clear();
        }
        Ok(())
    }

    /// The bytes to send now, possibly none. After an error, they tell the other end the reason.
    pub(crate) fn take_output(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        while self.connection.wants_write() {
            // Writing to a vector cannot fail.
            if self.connection.write_tls(&mut bytes).is_err() {
                break;
            }
        }
        bytes
    }

    pub(crate) fn is_over(&self) -> bool {
        !self.connection.is_handshaking()
    }

    /// The result, when the negotiation is over and its output has been sent.
    pub(crate) fn finish(self) -> Result<Agreed, rustls::Error> {
        let binding = self
            .connection
            .export_keying_material([0; 32], BINDING, Some(b""))?;
        let shown = self.connection.peer_certificates();
        let shown = shown.and_then(|keys| PublicKey::from_der(keys.first()?));
        let secrets = self.connection.dangerous_extract_secrets()?;
        Ok(Agreed {
            seal: Seal::new(secrets)?,
            binding,
            shown,
        })
    }
}

/// The reason for a failed negotiation.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Disagreed {
    /// The other end speaks our protocol without encryption.
    #[error("it does not encrypt")]
    Clear,
    #[error("it does not speak our protocol")]
    Stranger,
    #[error("cannot agree on an encryption: {0}")]
    Tls(#[from] rustls::Error),
}

/// Whether received bytes can be the beginning of a record.
pub(crate) fn is_tls(beginning: &[u8]) -> bool {
    // The record types: change of cipher, alert, handshake, data.
    matches!(beginning, [] | [20..=23] | [20..=23, 3, ..])
}

/// The only cipher is ChaCha20-Poly1305, because the keys of a connection never change. Those of
/// AES-GCM would have to, after 2^24.5 records (RFC 8446, 5.5), which is 388 GB.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        cipher_suites: vec![cipher_suite::TLS13_CHACHA20_POLY1305_SHA256],
        kx_groups: vec![kx_group::X25519],
        ..default_provider()
    })
}

fn client_config() -> Result<Arc<ClientConfig>, rustls::Error> {
    let provider = provider();
    let any = AnyKey(provider.clone());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(any))
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    config.enable_sni = false;
    config.enable_secret_extraction = true;
    Ok(Arc::new(config))
}

/// The configuration of a listener with this key.
pub(crate) fn server_config(key: &ServerKey) -> Result<Arc<ServerConfig>, rustls::Error> {
    let provider = provider();
    let shown = CertificateDer::from(key.public().to_der());
    let certified = Arc::new(CertifiedKey::new(vec![shown], key.signing()));
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(certified)));
    config.session_storage = Arc::new(NoServerSessionStorage {});
    // After the negotiation, rustls must not send anything.
    config.send_tls13_tickets = 0;
    config.enable_secret_extraction = true;
    Ok(Arc::new(config))
}

/// Accepts any key whose possession the server proves. The caller checks whether it is the right
/// one.
#[derive(Debug)]
struct AnyKey(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyKey {
    fn verify_server_cert(
        &self,
        _key: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _key: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(PeerIncompatible::Tls12NotOffered.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let key = SubjectPublicKeyInfoDer::from(key.as_ref());
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature_with_raw_key(message, &key, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

#[cfg(any(test, feature = "fuzzing"))]
/// Two ends that have agreed (the client first), and the bytes that each end received (the server
/// first).
pub(crate) fn agree() -> ([Agreed; 2], [Vec<u8>; 2]) {
    let mut ends = [
        Negotiation::server(server_config(&ServerKey::generate().unwrap()).unwrap()).unwrap(),
        Negotiation::client().unwrap(),
    ];
    let mut said = [Vec::new(), Vec::new()];
    while !ends.iter().all(Negotiation::is_over) {
        for (from, to) in [(1, 0), (0, 1)] {
            let bytes = ends[from].take_output();
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let (now, after) = rest.split_at(ends[to].wants().min(rest.len()));
                ends[to].receive(now).unwrap();
                rest = after;
            }
            said[to].extend(bytes);
        }
    }
    let [server, client] = ends.map(|end| end.finish().unwrap());
    ([client, server], said)
}

#[cfg(test)]
mod tests {
    use std::io::{IoSlice, IoSliceMut};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use rustix::io::Errno;

    use super::*;
    use crate::testing::Random;

    fn pair() -> (Seal, Seal) {
        let ([client, server], _) = agree();
        (client.seal, server.seal)
    }

    #[test]
    fn both_ends_know_the_channel_and_nobody_else() {
        let ([client, server], _) = agree();
        assert_eq!(client.binding, server.binding);
        assert_ne!(client.binding, agree().0[0].binding);
        let token = Token::generate();
        assert_eq!(client.bind(&token).key(), server.bind(&token).key());
        assert_ne!(client.bind(&token).key(), token.key());
    }

    /// In this test, sockets are often full, reads have random lengths, and one end is handed over
    /// in the middle.
    #[test]
    fn bytes_arrive_whatever_the_pieces() {
        let (near, mut far) = pair();
        let (out, into) = UnixStream::pair().unwrap();
        let mut random = Random::new(3);
        let bytes: Vec<u8> = (0..3_000_000)
            .map(|at: usize| (at ^ at >> 9) as u8)
            .collect();
        let (mut sent, mut got) = (0, Vec::new());
        while got.len() < bytes.len() {
            if random.below(2) == 0 && sent < bytes.len() {
                let rest = &bytes[sent..];
                // After EAGAIN, the next call must begin with the same bytes. Here it passes all
                // remaining bytes.
                let (one, other) = rest.split_at(rest.len().min(30));
                match near.send(out.as_fd(), &[IoSlice::new(one), IoSlice::new(other)]) {
                    Ok(now) => sent += now,
                    Err(error) => assert_eq!(error, Errno::AGAIN),
                }
            } else {
                let mut room = vec![0; 1 + random.below(100_000)];
                let (one, other) = room.split_at_mut(random.below(20));
                let mut slices = [IoSliceMut::new(one), IoSliceMut::new(other)];
                match far.recv(into.as_fd(), &mut slices) {
                    Ok(now) => got.extend_from_slice(&room[..now]),
                    Err(error) => assert_eq!(error, Errno::AGAIN),
                }
                if far.is_empty() && random.below(4) == 0 {
                    far = Seal::handed_over(far.hand_over().as_slice().try_into().unwrap());
                }
            }
        }
        assert!(got == bytes && !far.has_unread());
    }
}
