//! A choice of a barrier, as a user writes it on the command line.

use std::fmt;
use std::str::FromStr;

use super::kind::{Kind, UnknownKind};

/// A kind, and the interface that it takes: `KIND` or `KIND:INTERFACE`, for example `udp:eth1` or
/// `wired:gpiochip0:17,27,22`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    pub kind: Kind,
    /// The interface or device; see [`super::Options::interface`].
    pub interface: Option<String>,
}

/// The error for a text that is not a choice of a barrier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownChoice {
    #[error(transparent)]
    Kind(#[from] UnknownKind),
    #[error(
        "a barrier of kind {0} takes no interface: write {0} alone, or use udp:INTERFACE or \
         wired:LINES"
    )]
    Interface(Kind),
    #[error(
        "a barrier over wires needs to know its lines: wired:gpiochip0:17,27,22 (a chip and three \
         of its lines) or wired:parport0"
    )]
    NoLines,
}

impl FromStr for Choice {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Choice, UnknownChoice> {
        let (kind, interface) = match text.split_once(':') {
            Some((kind, interface)) => (kind, Some(interface)),
            None => (text, None),
        };
        let kind: Kind = kind.parse()?;
        let interface = interface.filter(|name| !name.is_empty());
        match (kind, interface) {
            (Kind::Wired, None) => Err(UnknownChoice::NoLines),
            (kind, Some(_)) if !kind.takes_interface() => Err(UnknownChoice::Interface(kind)),
            (kind, interface) => Ok(Choice {
                kind,
                interface: interface.map(str::to_owned),
            }),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.interface {
            Some(interface) => write!(f, "{}:{interface}", self.kind),
            None => self.kind.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_survive_text() {
        for text in ["auto", "shm", "tree-3", "udp", "udp:eth1", "wired:parport0"] {
            let choice: Choice = text.parse().unwrap();
            assert_eq!(choice.to_string(), text);
        }
        let lines: Choice = "wired:gpiochip0:17,27,22".parse().unwrap();
        assert_eq!(lines.interface.as_deref(), Some("gpiochip0:17,27,22"));
    }

    #[test]
    fn mistakes_say_what_is_possible() {
        for (text, said) in [
            ("disemination", "did you mean dissemination?"),
            ("shm:eth0", "takes no interface"),
            ("wired", "wired:parport0"),
            ("wired:", "wired:parport0"),
        ] {
            let error = text.parse::<Choice>().unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
