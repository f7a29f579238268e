//! The addresses at which processes of one host and user find each other. They are abstract socket
//! names, which disappear when a process is killed.
//!
//! Every user can take every name, so a process checks the owner of a name before it sends
//! anything. If another user has taken a rank's name, the rank uses that name with a random ending,
//! which no other process can have taken before. Its peers find it in the system's list of sockets.

use std::thread;
use std::time::Duration;

use mgn_sys::peer;

use crate::connect::{is_trusted, sits_at};
use crate::token::random;
use crate::{Address, Error, Listener};

/// The number of checks of a name's owner, and the pause between two checks. Another process may be
/// taking a name that has no owner yet.
const LOOKS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(5);

/// The address of a rank, unless another user has taken it.
pub(super) fn address(job: &str, rank: u32) -> Address {
    Address::Abstract(format!("mgn-{}-{job}-{rank}", peer::own_uid()))
}

/// Listens at the first name, or at a name with a random ending if another user has taken the first
/// name.
///
/// # Errors
/// [`Error::InUse`] if a process of this user has the name; [`Error::Io`].
pub(super) fn listen(first: &Address) -> Result<Listener, Error> {
    let in_use = || Err(Error::InUse(first.to_string()));
    if !elsewhere(first).is_empty() {
        return in_use();
    }
    match Listener::bind(first, None) {
        Err(Error::InUse(_)) if !is_ours(first) => {}
        result => return result,
    }
    let mut ending = [0; 8];
    random(&mut ending);
    let other = Address::Abstract(format!(
        "{}.{:016x}",
        name(first),
        u64::from_ne_bytes(ending)
    ));
    tracing::warn!("another user has taken {first}; this process listens at {other}");
    Listener::bind(&other, None)
}

/// The names with random endings of the rank that should be at the first name. Empty for other
/// kinds of addresses.
pub(super) fn elsewhere(first: &Address) -> Vec<Address> {
    let begin = match name(first) {
        "" => return Vec::new(),
        name => format!("@{name}."),
    };
    let list = std::fs::read("/proc/net/unix").unwrap_or_default();
    let names = list.split(|byte| *byte == b'\n').filter_map(|line| {
        let name = line.rsplit(|byte| *byte == b' ').next()?;
        let name = std::str::from_utf8(name).ok()?;
        name.starts_with(&begin)
            .then(|| Address::Abstract(name[1..].into()))
    });
    // Connections to a socket have its name, too.
    let mut names: Vec<Address> = names.collect();
    names.sort_by(|one, other| name(one).cmp(name(other)));
    names.dedup();
    names.retain(|other| sits_at(other).is_some_and(is_trusted));
    names
}

fn name(address: &Address) -> &str {
    match address {
        Address::Abstract(name) => name,
        _ => "",
    }
}

fn is_ours(address: &Address) -> bool {
    let looks = (0..LOOKS).find_map(|_| {
        let owner = sits_at(address);
        if owner.is_none() {
            thread::sleep(PAUSE);
        }
        owner
    });
    looks.is_some_and(is_trusted)
}
