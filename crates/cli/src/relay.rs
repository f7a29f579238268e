//! `mgn relay`.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{mpsc, Arc, Mutex, PoisonError};
use std::thread;

use mgn_fabric::{is_name, Address, Directory, Relay, Token};

use crate::args;
use crate::settings::{self, Serving};

/// A server, and what clients call it.
#[derive(Clone, Debug)]
pub struct Target {
    name: String,
    address: Address,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        match text.split_once('=') {
            Some((name, address)) if is_name(name) => Ok(Target {
                name: name.into(),
                address: Address::of_server(address).map_err(|error| error.to_string())?,
            }),
            _ => Err("it should be NAME=ADDR, gpu1=tls:10.0.0.11:7500 for one".into()),
        }
    }
}

/// Servers as the mothership knows them, or has known them last.
#[derive(Debug)]
struct Mothership {
    address: Address,
    token: Option<Token>,
    known: Mutex<BTreeMap<(String, bool), Address>>,
}

impl Directory for Mothership {
    fn find(&self, name: &str, encrypted: bool) -> Result<Address, String> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (name.to_owned(), encrypted);
        match mgn_mothership::find(&self.address, self.token.as_ref(), name, encrypted) {
            Ok(address) => {
                known().insert(key, address.clone());
                Ok(address)
            }
            Err(mgn_mothership::Error::Refused(why)) => {
                known().remove(&key);
                Err(why)
            }
            // While the mothership is away, servers stay where they are.
            Err(error) => known().get(&key).cloned().ok_or_else(|| error.to_string()),
        }
    }
}

/// Whether there is another relay on the way, to which this one has to prove a token.
fn is_behind(address: &Address) -> bool {
    matches!(
        address,
        Address::Tcp {
            server: Some(_),
            ..
        }
    )
}

pub fn relay(args: args::Relay) -> anyhow::Result<()> {
    let to = args.to.iter().map(|target| &target.address);
    let others = to
        .filter(|address| is_behind(address))
        .chain(&args.mothership);
    let Serving { access, token } = settings::to_serve(&args.keys, &args.listen, others)?;
    if !access.has_tokens() {
        anyhow::bail!(
            "a relay listens at tls: or tcp: addresses, tls:0.0.0.0 for one; correct --listen"
        );
    }
    let token = token.map(|(_, token)| token);
    let mut targets = mgn_fabric::Targets::new();
    for Target { name, address } in args.to {
        if targets.insert(name.clone(), address).is_some() {
            anyhow::bail!("--to names {name} twice");
        }
    }
    let others = args.mothership.map(|address| -> Arc<dyn Directory> {
        let token = token.clone();
        Arc::new(Mothership {
            address,
            token,
            known: Mutex::default(),
        })
    });
    let bind = |address| {
        let (access, token) = (access.clone(), token.clone());
        Relay::bind(address, access, token, targets.clone(), others.clone())
    };
    let relays: Vec<Relay> = args.listen.iter().map(bind).collect::<Result<_, _>>()?;
    for relay in &relays {
        crate::say(&format!("listening on {}\n", relay.address()))?;
    }
    let (ended, first) = mpsc::channel();
    for relay in relays {
        let ended = ended.clone();
        thread::spawn(move || ended.send(relay.run()));
    }
    Ok(first.recv()??)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_names_and_addresses() {
        let target: Target = "gpu1=tls:[fd00::1]:7500".parse().unwrap();
        assert_eq!(target.name, "gpu1");
        assert_eq!(target.address.to_string(), "tls:[fd00::1]:7500");
        for (text, word) in [
            ("gpu1", "NAME=ADDR"),
            ("a b=tls:h:1", "NAME=ADDR"),
            ("gpu1=tls:fd00::1:7500", "brackets"),
        ] {
            let error = text.parse::<Target>().unwrap_err();
            assert!(error.contains(word), "{error}");
        }
    }
}
