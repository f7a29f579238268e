//! `mgn relay`.

use std::collections::BTreeMap;
use std::sync::{mpsc, Arc, Mutex, PoisonError};
use std::thread;

use mgn_fabric::{Address, Directory, Relay, Token};

use crate::args::{self, RelayTarget};
use crate::credentials::{self, ListenerAccess};
use crate::output::print;

/// The servers that the mothership knows. While the mothership cannot be reached, the servers that
/// it knew last.
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
            // Servers keep their addresses while there is no mothership.
            Err(error) => known().get(&key).cloned().ok_or_else(|| error.to_string()),
        }
    }
}

/// Whether the address is behind another relay. This relay must authenticate to that relay with a
/// token.
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
    let ListenerAccess { access, token } =
        credentials::for_listener(&args.keys, &args.listen, others)?;
    if !access.has_tokens() {
        anyhow::bail!(
            "a relay listens at tls: or tcp: addresses, for example tls:0.0.0.0; correct --listen"
        );
    }
    let token = token.map(|(_, token)| token);
    let mut targets = mgn_fabric::Targets::new();
    for RelayTarget { name, address } in args.to {
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
        print(&format!("listening on {}\n", relay.address()))?;
    }
    let (sender, first) = mpsc::channel();
    for relay in relays {
        let sender = sender.clone();
        thread::spawn(move || sender.send(relay.run()));
    }
    Ok(first.recv()??)
}
