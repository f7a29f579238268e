//! The names at which processes of one host and user find each other: abstract sockets, of which a
//! killed process leaves nothing.
//!
//! Every user can take every name, so who sits at one is looked at before anything is said. A rank
//! whose name somebody else has taken goes by that name and a random ending, which nobody can have
//! taken before, and is found in the system's list of sockets.

use std::thread;
use std::time::Duration;

use mgn_sys::peer;

use crate::connect::{is_trusted, sits_at};
use crate::token::random;
use crate::{Address, Error, Listener};

/// A name without an owner may be one that is being taken just now.
const LOOKS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(5);

/// Where a rank of a job is, unless somebody else is there.
pub(super) fn address(job: &str, rank: u32) -> Address {
    Address::Abstract(format!("mgn-{}-{job}-{rank}", peer::own_uid()))
}

/// Listens at the first name, or at another one where that is somebody else's.
///
/// # Errors
/// [`Error::InUse`] where a process of this user has the name; [`Error::Io`].
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
    tracing::warn!("somebody else sits at {first}; this process goes by {other}");
    Listener::bind(&other, None)
}

/// The other names of whoever should be at the first one; none for addresses of other kinds.
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
