//! The choice of a machine's network interfaces for a job.

use mgn_sys::interfaces::Interface;

use crate::Error;

/// Interfaces that lead to no other machine, or only to containers on this machine.
const LEFT_OUT: &str = "^lo,docker*,br-*,virbr*,veth*,cni*,flannel*,vmnet*";

/// A choice of interfaces by their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    text: String,
}

impl Choice {
    /// Parses a choice. `eth0,ib0` chooses these interfaces, in this order. `^docker0,lo` chooses
    /// all interfaces except these. A `*` at the end of a name stands for any text.
    ///
    /// # Errors
    /// [`Error::Job`] for a list without names.
    pub(super) fn new(text: &str) -> Result<Choice, Error> {
        let names = text.strip_prefix('^').unwrap_or(text);
        if names.split(',').any(|name| name.trim().is_empty()) {
            return Err(Error::Job(format!(
                "{text:?} names no interfaces; write eth0,ib0 or ^docker0,lo"
            )));
        }
        Ok(Choice { text: text.into() })
    }

    /// The default choice: all interfaces except those that usually lead to no other machine.
    pub(super) fn usual() -> Choice {
        Choice {
            text: LEFT_OUT.into(),
        }
    }

    /// The chosen interfaces among `all`. Link-local addresses are never chosen.
    ///
    /// # Errors
    /// [`Error::Job`] if there is no interface for a chosen name.
    pub(super) fn among(&self, all: &[Interface]) -> Result<Vec<Interface>, Error> {
        let useful = all.iter().filter(|one| !is_link_local(one));
        if let Some(names) = self.text.strip_prefix('^') {
            let out = |one: &&Interface| !names.split(',').any(|name| fits(name, &one.name));
            return Ok(useful.filter(out).cloned().collect());
        }
        let mut chosen: Vec<Interface> = Vec::new();
        for name in self.text.split(',') {
            let before = chosen.len();
            chosen.extend(useful.clone().filter(|one| fits(name, &one.name)).cloned());
            if chosen.len() == before {
                let mut there: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
                there.dedup();
                return Err(Error::Job(format!(
                    "no interface {} is up with an address; the interfaces are {}",
                    name.trim(),
                    there.join(", ")
                )));
            }
        }
        Ok(chosen)
    }
}

fn fits(pattern: &str, name: &str) -> bool {
    let pattern = pattern.trim();
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

fn is_link_local(one: &Interface) -> bool {
    matches!(one.address, std::net::IpAddr::V6(address) if address.is_unicast_link_local())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(choice: &str) -> Result<Vec<String>, Error> {
        let all = [
            ("lo", "127.0.0.1"),
            ("eth0", "10.0.0.1"),
            ("docker0", "172.17.0.1"),
            ("ib0", "10.1.0.1"),
            ("ib0", "fe80::1"),
            ("veth12", "10.2.0.1"),
        ];
        let all: Vec<Interface> = all
            .iter()
            .map(|(name, address)| Interface {
                name: (*name).into(),
                address: address.parse().unwrap(),
            })
            .collect();
        let choice = match choice {
            "" => Choice::usual(),
            text => Choice::new(text)?,
        };
        Ok(choice
            .among(&all)?
            .into_iter()
            .map(|one| one.name)
            .collect())
    }

    #[test]
    fn choices() {
        assert_eq!(names("").unwrap(), ["eth0", "ib0"]);
        assert_eq!(names("ib0,eth0").unwrap(), ["ib0", "eth0"]);
        assert_eq!(names("^docker0, lo").unwrap(), ["eth0", "ib0", "veth12"]);
        assert_eq!(names("e*").unwrap(), ["eth0"]);
        let message = names("eth0,eth1").unwrap_err().to_string();
        assert!(
            message.contains("eth1") && message.contains("docker0"),
            "{message}"
        );
        assert!(names("^").is_err() && names("a,,b").is_err());
    }
}
