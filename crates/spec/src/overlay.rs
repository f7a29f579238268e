//! `overlay.toml` and `commands.toml`: what the registry cannot say.

use crate::model::Draws;
use crate::Error;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// A command that is not OpenGL's: it creates contexts and surfaces, carries runs of immediate
/// mode, and so on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionCommand {
    /// Parameters as `name:type`, the types being those of `WireType::parse`.
    pub params: String,
    /// The purpose of the command, in one sentence.
    pub about: String,
    /// Whether the client waits for an answer.
    #[serde(default)]
    pub sync: bool,
    /// Whether it may raise an OpenGL error.
    #[serde(default)]
    pub fallible: bool,
    /// How it draws, if it does.
    pub draws: Option<Draws>,
    /// Whether it changes what scissor boxes are about.
    #[serde(default)]
    pub scissoring: bool,
}

/// What `commands.toml` says of a command; the beginning of that file explains each field.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Row {
    pub client: Option<InClient>,
    pub renderer: Option<InRenderer>,
    pub refused: Option<String>,
    pub absent: Option<String>,
    pub draws: Option<Draws>,
    pub whole: Option<String>,
    pub offset: Option<String>,
    pub depends: Option<String>,
    pub is: BTreeSet<Property>,
    pub wire: Option<String>,
    /// By parameter.
    pub classes: BTreeMap<String, String>,
    /// By parameter.
    pub lengths: BTreeMap<String, String>,
}

impl Row {
    pub fn is(&self, property: Property) -> bool {
        self.is.contains(&property)
    }
}

/// What the client does with a command that is not generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum InClient {
    Handwritten,
    Local,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum InRenderer {
    Handwritten,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Property {
    Infallible,
    Neutral,
    Defining,
    Attaching,
    Tracked,
    Unlisted,
    Unwatched,
    NamedByUse,
    Storing,
    Scissoring,
}

/// The file `overlay.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    extensions: Vec<String>,
    withheld: BTreeMap<String, String>,
    oes: Vec<String>,
    apart: BTreeSet<String>,
    same: BTreeMap<String, String>,
    session: BTreeMap<String, SessionCommand>,
}

/// Both files.
#[derive(Debug)]
pub struct Overlay {
    /// Extensions whose commands are in the model.
    pub extensions: Vec<String>,
    /// Extensions that are not advertised although all their commands are carried, with the
    /// reason.
    pub withheld: BTreeMap<String, String>,
    /// Endings of names that differ from another command's name only by the suffix OES, which the
    /// registry does not say.
    pub oes: Vec<String>,
    /// Commands that the registry takes for another's second name although drivers tell them
    /// apart.
    pub apart: BTreeSet<String>,
    /// Commands that are the same as another although the registry does not say so.
    pub same: BTreeMap<String, String>,
    pub session: BTreeMap<String, SessionCommand>,
    /// By name.
    pub commands: BTreeMap<String, Row>,
}

impl Overlay {
    /// Reads the texts of `overlay.toml` and `commands.toml`.
    ///
    /// # Errors
    /// [`Error::Toml`] with the line that cannot be read.
    pub fn parse(overlay: &str, commands: &str) -> Result<Overlay, Error> {
        let File {
            extensions,
            withheld,
            oes,
            apart,
            same,
            session,
        } = toml::from_str(overlay)?;
        Ok(Overlay {
            extensions,
            withheld,
            oes,
            apart,
            same,
            session,
            commands: toml::from_str(commands)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVERLAY: &str = "extensions = []\noes = []\napart = []\n[withheld]\n[same]\n[session]\n";

    #[test]
    fn mistakes_in_rows_are_named() {
        let error = |row: &str| Overlay::parse(OVERLAY, row).unwrap_err().to_string();
        for (row, named) in [
            ("glEnd = { is = [\"infalible\"] }", "infalible"),
            ("glEnd = { neutral = true }", "neutral"),
            ("glEnd = { draws = \"Lines\" }", "Lines"),
            ("glEnd = {}\nglEnd = {}", "duplicate key"),
        ] {
            assert!(error(row).contains(named), "{}", error(row));
        }
        let good = "glEnd = { is = [\"neutral\"], draws = \"Arrays\" }";
        let overlay = Overlay::parse(OVERLAY, good).unwrap();
        let row = &overlay.commands["glEnd"];
        assert!(row.is(Property::Neutral) && !row.is(Property::Tracked));
        assert_eq!(row.draws, Some(Draws::Arrays));
    }
}
