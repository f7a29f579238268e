//! `overlay.toml`: what the registry cannot say.

use crate::Error;
use serde::Deserialize;
use std::collections::BTreeMap;

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
}

/// Lists are of command names, in which `*` stands for any characters and `?` for one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overlay {
    /// Extensions whose commands are in the model.
    pub extensions: Vec<String>,
    /// Extensions that are not advertised although all their commands are carried, with the
    /// reason.
    pub withheld: BTreeMap<String, String>,
    /// Entry points written by hand in the client.
    pub client_hand: Vec<String>,
    /// Entry points that never send anything of their own name.
    pub client_only: Vec<String>,
    /// Commands that the renderer executes by hand-written code.
    pub render_hand: Vec<String>,
    /// Commands that the registry takes for another's second name although drivers tell them
    /// apart.
    pub apart: Vec<String>,
    /// Commands that are the same as another although the registry does not say so.
    pub same: BTreeMap<String, String>,
    /// Commands that make an object of a name that has none yet.
    pub named_by_use: Vec<String>,
    /// Commands that take memory for as much as the program likes.
    pub storing: Vec<String>,
    /// Commands that draw, and how: words of `model::Draws`.
    pub draws: BTreeMap<String, String>,
    /// Commands that set or read scissor boxes, or change what they are about.
    pub scissoring: Vec<String>,
    /// Commands that have to do with where a surface's pixels begin, and how.
    pub offset: BTreeMap<String, String>,
    /// Commands before which a surface in tiles is made whole, and why.
    pub whole: BTreeMap<String, String>,
    /// Commands that cannot raise an error outside Begin/End.
    pub infallible: Vec<String>,
    /// Commands that display lists do not hold.
    pub unlisted: Vec<String>,
    /// Commands after which others succeed and fail as before, except for their effects that the
    /// client follows.
    pub neutral: Vec<String>,
    /// Commands that define the image of the texture or renderbuffer that is bound to their
    /// target.
    pub defining: Vec<String>,
    /// Commands that attach an image to a framebuffer.
    pub attaching: Vec<String>,
    /// The state on which a command's success depends beside its arguments, where the client
    /// follows that.
    pub depends: BTreeMap<String, String>,
    /// Entry points written by hand that do not check for messages of debug output at once.
    pub unwatched: Vec<String>,
    /// Commands that aren't carried, and why.
    pub refused: BTreeMap<String, String>,
    /// Commands that the registry lists with an extension although no driver that has the
    /// extension has them, and why. They are refused, and the extension is advertised all the
    /// same.
    pub absent: BTreeMap<String, String>,
    /// Names that differ from another command only by the suffix OES, which the registry does not
    /// say.
    pub oes: Vec<String>,
    /// How a command travels, where that isn't its declaration.
    pub wire: BTreeMap<String, String>,
    /// Classes of names that the registry lacks or has wrong: `command.parameter` to class.
    pub classes: BTreeMap<String, String>,
    /// Array lengths that the registry lacks or has wrong: `command.parameter` to a length.
    pub lengths: BTreeMap<String, String>,
    pub session: BTreeMap<String, SessionCommand>,
}

impl Overlay {
    pub fn parse(text: &str) -> Result<Overlay, Error> {
        Ok(toml::from_str(text)?)
    }
}

/// Whether `name` matches `pattern`, in which `*` stands for any characters and `?` for one.
pub fn matches(pattern: &str, name: &str) -> bool {
    let Some(first) = pattern.chars().next() else {
        return name.is_empty();
    };
    let rest = &pattern[first.len_utf8()..];
    match first {
        '*' => (0..=name.len()).any(|i| name.is_char_boundary(i) && matches(rest, &name[i..])),
        '?' => name
            .chars()
            .next()
            .is_some_and(|c| matches(rest, &name[c.len_utf8()..])),
        c => name.strip_prefix(c).is_some_and(|tail| matches(rest, tail)),
    }
}

pub fn any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|p| matches(p, name))
}

/// The value whose key, a pattern, matches `name`; an exact key wins.
pub fn lookup<'a>(map: &'a BTreeMap<String, String>, name: &str) -> Option<&'a String> {
    map.get(name)
        .or_else(|| map.iter().find(|(p, _)| matches(p, name)).map(|(_, v)| v))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_stand_for_any_characters() {
        assert!(matches("glVertex*", "glVertex3f"));
        assert!(matches("glVertex3?", "glVertex3f"));
        assert!(!matches("glVertex3?", "glVertex3fv"));
        assert!(matches("gl*Pointer", "glVertexPointer"));
        assert!(!matches("glFoo", "glFoo3"));
        assert!(!matches("gl*Pointer", "glVertexPointerv"));
    }
}
