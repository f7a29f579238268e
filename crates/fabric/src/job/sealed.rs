//! Distribution of the job's secret. Rank 0 gives the secret to the other processes through the
//! launcher's store, which other users may be able to read.
//!
//! Each process puts a public key into the store. For each process, rank 0 makes a key pair,
//! derives a key that only the two processes can derive (X25519), and encrypts the secret with it.
//! Rank 0 then puts its public key and the encrypted secret into the store. An attacker that only
//! reads the store learns nothing about the secret. An attacker that can also change the store can
//! take the place of a process. The launcher must protect its store against that.

use rustls::crypto::ring::kx_group::X25519;
use rustls::crypto::{ActiveKeyExchange, SharedSecret};
use zeroize::Zeroizing;

use crate::token::{digits, to_digits};
use crate::{Error, Token};

/// The purpose of the derived key. Keys for other purposes that are derived from the same secret
/// are different.
const PURPOSE: &str = "manganese 2026-11-26 job secret in a launcher's store";

/// One process's half of an exchange. It can decrypt one secret.
pub(super) struct Opener(Box<dyn ActiveKeyExchange>);

impl Opener {
    pub(super) fn new() -> Result<Opener, Error> {
        let exchange = X25519.start();
        exchange
            .map(Opener)
            .map_err(|error| Error::Job(format!("cannot make a key for the job's secret: {error}")))
    }

    /// The public key for the other side, in hexadecimal digits.
    pub(super) fn public(&self) -> Result<String, Error> {
        let key = <&[u8; 32]>::try_from(self.0.pub_key()).map_err(|_| damaged())?;
        Ok(to_digits(key).to_string())
    }

    /// Decrypts the secret that [`seal`] has encrypted for this key.
    pub(super) fn open(self, sealed: &str) -> Result<Token, Error> {
        let (public, encrypted) = sealed.split_once('.').ok_or_else(damaged)?;
        let encrypted = digits(encrypted).ok_or_else(damaged)?;
        let own = self.public()?;
        let pad = pad(&self.agree(public)?, public, &own);
        to_digits(&combined(&encrypted, &pad)).parse()
    }

    /// The shared secret, which only this process and the owner of the other public key know.
    fn agree(self, other: &str) -> Result<SharedSecret, Error> {
        let key = digits(other).ok_or_else(damaged)?;
        self.0.complete(&key).map_err(|_| damaged())
    }
}

/// A one-time pad, derived from the shared secret of rank 0 and another process, and from both
/// public keys.
fn pad(shared: &SharedSecret, first: &str, other: &str) -> Zeroizing<[u8; 32]> {
    let mut hasher = blake3::Hasher::new_derive_key(PURPOSE);
    hasher.update(shared.secret_bytes());
    hasher.update(first.as_bytes());
    hasher.update(other.as_bytes());
    Zeroizing::new(hasher.finalize().into())
}

/// Encrypts the secret of a token for the process that has made this public key.
pub(super) fn seal(token: &Token, public: &str) -> Result<String, Error> {
    let own = Opener::new()?;
    let key = own.public()?;
    let pad = pad(&own.agree(public)?, &key, public);
    let secret = Zeroizing::new(digits(&token.to_hex()).ok_or_else(damaged)?);
    let encrypted = combined(&secret, &pad);
    Ok(format!("{key}.{}", to_digits(&encrypted).as_str()))
}

/// Encrypts or decrypts.
fn combined(bytes: &[u8; 32], pad: &[u8; 32]) -> Zeroizing<[u8; 32]> {
    Zeroizing::new(std::array::from_fn(|i| bytes[i] ^ pad[i]))
}

fn damaged() -> Error {
    Error::Job("the launcher's store has a damaged key or secret; use the same release of Manganese for all processes".into())
}

/// Decrypts and encrypts with arbitrary bytes in place of the entries of other processes in the
/// store. Fuzz tests call this.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn feed(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let opener = Opener::new().expect("a key can be made");
    // A secret that was encrypted for another process gives a wrong token, or an error.
    let _ = opener.open(text);
    if let Ok(sealed) = seal(&Token::generate(), text) {
        let opener = Opener::new().expect("a key can be made");
        opener
            .open(&sealed)
            .expect("what we encrypt is well-formed");
    }
}

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let public = Opener::new().and_then(|opener| opener.public());
    let public = public.expect("a key can be made");
    let sealed = seal(&Token::generate(), &public).expect("it is a key");
    vec![public.into_bytes(), sealed.into_bytes()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_that_made_the_key_opens_the_secret() {
        let token = Token::generate();
        let opener = Opener::new().unwrap();
        let sealed = seal(&token, &opener.public().unwrap()).unwrap();
        let opened = opener.open(&sealed).unwrap();
        assert_eq!(*opened.to_hex(), *token.to_hex());
    }

    #[test]
    fn others_do_not() {
        let token = Token::generate();
        let (one, other) = (Opener::new().unwrap(), Opener::new().unwrap());
        let sealed = seal(&token, &one.public().unwrap()).unwrap();
        assert!(!sealed.contains(token.to_hex().as_str()));
        let opened = other.open(&sealed).unwrap();
        assert_ne!(*opened.to_hex(), *token.to_hex());
    }

    #[test]
    fn the_same_secret_never_looks_the_same() {
        let token = Token::generate();
        let public = Opener::new().unwrap().public().unwrap();
        let [one, other] = [(); 2].map(|()| seal(&token, &public).unwrap());
        assert_ne!(one, other);
    }

    #[test]
    fn nonsense_is_an_error() {
        let zero = "0".repeat(64);
        for public in ["", "x", &zero, &"g".repeat(64), &"0".repeat(66)] {
            assert!(seal(&Token::generate(), public).is_err(), "{public}");
        }
        let key = Opener::new().unwrap().public().unwrap();
        for sealed in ["", ".", &key, &format!("{key}."), &format!("{zero}.{zero}")] {
            assert!(Opener::new().unwrap().open(sealed).is_err(), "{sealed}");
        }
    }
}
