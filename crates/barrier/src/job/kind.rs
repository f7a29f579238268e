//! The kinds of barriers.

use std::fmt;
use std::str::FromStr;

/// The default number of children of each member of a tree.
const FAN_OUT: u16 = 8;

/// The kinds of barriers that a job can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Shared memory if all members are on one host, dissemination if each member is on a different
    /// host, and otherwise hierarchical.
    #[default]
    Auto,
    Shared,
    Star,
    /// A tree with this fan-out.
    Tree(u16),
    Dissemination,
    /// A star on each host, and dissemination between hosts.
    Hierarchical,
    /// A star over datagrams.
    Udp,
    /// A barrier over three wires that all members share.
    Wired,
}

impl Kind {
    /// Whether the user may name a network interface or wires for this kind.
    pub fn takes_interface(self) -> bool {
        matches!(self, Kind::Udp | Kind::Wired)
    }
}

/// A name that is not a kind of barrier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is not a kind of barrier{hint}: use auto, shm, star, tree, tree-N, dissemination, hierarchical, udp or wired")]
pub struct UnknownKind {
    name: String,
    hint: String,
}

const NAMES: [(&str, Kind); 8] = [
    ("auto", Kind::Auto),
    ("shm", Kind::Shared),
    ("star", Kind::Star),
    ("tree", Kind::Tree(FAN_OUT)),
    ("dissemination", Kind::Dissemination),
    ("hierarchical", Kind::Hierarchical),
    ("udp", Kind::Udp),
    ("wired", Kind::Wired),
];

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Kind, UnknownKind> {
        if let Some((_, kind)) = NAMES.iter().find(|(known, _)| *known == name) {
            return Ok(*kind);
        }
        let fan_out = name.strip_prefix("tree-").map(str::parse);
        if let Some(Ok(fan_out @ 1..)) = fan_out {
            return Ok(Kind::Tree(fan_out));
        }
        let near = NAMES.iter().map(|(known, _)| *known);
        let near = near
            .max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
        let near = near.filter(|near| strsim::jaro_winkler(near, name) > 0.7);
        Err(UnknownKind {
            name: name.to_owned(),
            hint: near.map_or(String::new(), |near| format!(" (did you mean {near}?)")),
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Tree(fan_out) if *fan_out != FAN_OUT => write!(f, "tree-{fan_out}"),
            kind => {
                let known = NAMES.iter().find(|(_, known)| known == kind);
                f.write_str(known.map_or("tree", |(name, _)| name))
            }
        }
    }
}

impl Kind {
    /// The names of all kinds, without fan-outs.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }

    /// Whether a process can join an open group of this kind. This is possible only if the members
    /// can learn of a new member from its packets alone.
    pub(super) fn admits(self) -> bool {
        matches!(self, Kind::Star | Kind::Tree(_) | Kind::Dissemination)
    }

    pub(super) fn of_code(code: u32) -> Option<Kind> {
        match (code >> 16, code as u16) {
            (0, _) => NAMES
                .iter()
                .map(|(_, kind)| *kind)
                .find(|kind| kind.code() == code),
            (1, fan_out @ 1..) => Some(Kind::Tree(fan_out)),
            _ => None,
        }
    }

    /// A number for each kind. Members compare these numbers to check that they have the same kind.
    pub(super) fn code(self) -> u32 {
        match self {
            Kind::Auto => 0,
            Kind::Shared => 1,
            Kind::Star => 2,
            Kind::Dissemination => 3,
            Kind::Udp => 4,
            Kind::Hierarchical => 5,
            Kind::Wired => 6,
            Kind::Tree(fan_out) => 1 << 16 | u32::from(fan_out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_names() {
        for (name, kind) in NAMES {
            assert_eq!((name.parse(), kind.to_string().as_str()), (Ok(kind), name));
            assert_eq!(Kind::of_code(kind.code()), Some(kind));
        }
        assert_eq!("tree-3".parse(), Ok(Kind::Tree(3)));
        assert_eq!(Kind::of_code(Kind::Tree(3).code()), Some(Kind::Tree(3)));
        assert_eq!([7, 1 << 16, 2 << 16 | 1].map(Kind::of_code), [None; 3]);
        assert_eq!(Kind::Tree(3).to_string(), "tree-3");
        for wrong in ["tree-0", "tree-", "", "tree-70000", "Shm"] {
            wrong.parse::<Kind>().unwrap_err();
        }
        let error = "disemination".parse::<Kind>().unwrap_err().to_string();
        assert!(error.contains("did you mean dissemination?"), "{error}");
    }
}
