//! The command line of `mgn relay`.

use std::str::FromStr;

use clap::Args;
use mgn_fabric::{is_name, Address};

use super::keys::Keys;

/// Connect programs to servers that only this machine can reach.
///
/// Clients that know the token reach the server NAME at tls:HOST:PORT/NAME, where HOST:PORT is the
/// relay's address. Such an address works wherever a server's address does. The connection is
/// encrypted end to end: the relay cannot read it.
#[derive(Debug, Args)]
pub struct Relay {
    /// Listen on ADDR; may be repeated
    ///
    /// ADDR is tls:HOST[:PORT], or tcp:HOST[:PORT] for servers at tcp: addresses. The default port
    /// is 7600.
    #[arg(long, value_name = "ADDR", required = true, value_parser = Address::of_relay)]
    pub listen: Vec<Address>,

    /// Offer the server or mothership at ADDR under NAME; may be repeated
    #[arg(long, value_name = "NAME=ADDR", required_unless_present = "mothership")]
    pub to: Vec<RelayTarget>,

    /// Offer all servers that the mothership at ADDR knows, under their names there
    #[arg(long, value_name = "ADDR", value_parser = Address::of_mothership)]
    pub mothership: Option<Address>,

    #[command(flatten)]
    pub keys: Keys,
}

/// A server, and the name by which clients address it.
#[derive(Clone, Debug)]
pub struct RelayTarget {
    pub name: String,
    pub address: Address,
}

impl FromStr for RelayTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<RelayTarget, String> {
        match text.split_once('=') {
            Some((name, address)) if is_name(name) => Ok(RelayTarget {
                name: name.into(),
                address: Address::of_server(address).map_err(|error| error.to_string())?,
            }),
            _ => Err("it should be NAME=ADDR, for example gpu1=tls:10.0.0.11:7500".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_names_and_addresses() {
        let target: RelayTarget = "gpu1=tls:[fd00::1]:7500".parse().unwrap();
        assert_eq!(target.name, "gpu1");
        assert_eq!(target.address.to_string(), "tls:[fd00::1]:7500");
        for (text, word) in [
            ("gpu1", "NAME=ADDR"),
            ("a b=tls:h:1", "NAME=ADDR"),
            ("gpu1=tls:fd00::1:7500", "brackets"),
        ] {
            let error = text.parse::<RelayTarget>().unwrap_err();
            assert!(error.contains(word), "{error}");
        }
    }
}
