//! The strings of a context: those of the driver, limited to what the client supports.

use crate::generated::advertised::EXTENSIONS;
use mgn_wire::gl;
use mgn_wire::hello::{api, ContextInfo, ServerInfo};
use std::collections::HashMap;
use std::ffi::{CStr, CString};

/// The highest version of an API that the client supports.
const fn carried(api: u32) -> (u8, u8) {
    match api {
        api::COMPAT | api::CORE => (4, 6),
        api::ES1 => (1, 1),
        _ => (3, 2),
    }
}

/// The highest version that a context of `api` can have with this server; (0, 0) if there is none.
pub fn highest(server: &ServerInfo, api: u32) -> (u8, u8) {
    let driver = match api {
        api::COMPAT => server.compat,
        api::CORE => server.core,
        api::ES1 => server.es1,
        _ => server.es,
    };
    driver.min(carried(api))
}

/// The extension with barriers and semaphores for programs that draw into one window.
const ORDER: &str = "GL_CR_synchronization";

/// The answers of glGetString and glGetStringi.
pub struct Strings {
    vendor: CString,
    renderer: CString,
    version: CString,
    /// None in OpenGL ES 1.
    glsl: Option<CString>,
    extensions: Vec<CString>,
    /// All extensions with spaces in between; none in the core profile.
    joined: Option<CString>,
    /// The version that `version` begins with, as major and minor.
    number: (u8, u8),
    /// The answers of glGetStringi so far for names other than the extensions.
    indexed: HashMap<(u32, u32), CString>,
    /// The last error in a program in assembly language, if it was queried; none if the context has
    /// no such programs.
    program_error: Option<CString>,
}

impl Strings {
    /// `is_ordered` says whether other programs may draw into the same window, in a defined order.
    pub fn new(info: &ContextInfo, api: u32, is_ordered: bool) -> Strings {
        let most = carried(api);
        let number = number(&info.version).min(most);
        // This string is not the driver's.
        let ours = (is_ordered && matches!(api, api::COMPAT | api::CORE)).then_some(ORDER);
        let extensions: Vec<&str> = info
            .extensions
            .iter()
            .map(String::as_str)
            .filter(|name| EXTENSIONS.binary_search(name).is_ok())
            .chain(ours)
            .collect();
        // The driver's list ends with a space, too.
        let joined: String = extensions.iter().map(|name| format!("{name} ")).collect();
        Strings {
            vendor: c_string(&info.vendor),
            renderer: c_string(&info.renderer),
            version: c_string(&capped(&info.version, number, false)),
            glsl: (api != api::ES1).then(|| c_string(&capped(&info.glsl, glsl(api, number), true))),
            joined: (api != api::CORE).then(|| c_string(&joined)),
            program_error: (api == api::COMPAT && has_assembly(&extensions)).then(CString::default),
            extensions: extensions.into_iter().map(c_string).collect(),
            number,
            indexed: HashMap::new(),
        }
    }

    /// `info`, with the constants that depend on these strings changed.
    pub fn constants(&self, info: &ContextInfo) -> ContextInfo {
        let mut info = info.clone();
        // These constants can only be queried by index.
        info.integers.retain(|(p, _)| {
            !matches!(
                *p,
                gl::GL_MAX_COMPUTE_WORK_GROUP_COUNT | gl::GL_MAX_COMPUTE_WORK_GROUP_SIZE
            )
        });
        for (pname, values) in &mut info.integers {
            let value = match *pname {
                gl::GL_MAJOR_VERSION => i64::from(self.number.0),
                gl::GL_MINOR_VERSION => i64::from(self.number.1),
                gl::GL_NUM_EXTENSIONS => self.extensions.len() as i64,
                _ => continue,
            };
            *values = vec![value];
        }
        info
    }

    /// Whether these strings belong to no context.
    pub fn are_empty(&self) -> bool {
        self.version.is_empty()
    }

    /// The answer of glGetString.
    pub fn string(&self, name: u32) -> Option<&CStr> {
        match name {
            gl::GL_VENDOR => Some(&self.vendor),
            gl::GL_RENDERER => Some(&self.renderer),
            gl::GL_VERSION => Some(&self.version),
            gl::GL_SHADING_LANGUAGE_VERSION => self.glsl.as_deref(),
            gl::GL_EXTENSIONS => self.joined.as_deref(),
            gl::GL_PROGRAM_ERROR_STRING_ARB => self.program_error.as_deref(),
            _ => None,
        }
    }

    /// The extension with this number.
    pub fn extension(&self, index: u32) -> Option<&CStr> {
        Some(self.extensions.get(index as usize)?.as_c_str())
    }

    /// Another answer of glGetStringi, if it was queried before.
    pub fn indexed(&self, name: u32, index: u32) -> Option<&CStr> {
        Some(self.indexed.get(&(name, index))?.as_c_str())
    }

    /// Stores an answer of glGetStringi, and returns it.
    pub fn learn_indexed(&mut self, name: u32, index: u32, text: CString) -> &CStr {
        self.indexed.entry((name, index)).or_insert(text)
    }

    /// Whether there are programs in assembly language.
    pub fn has_program_error(&self) -> bool {
        self.program_error.is_some()
    }

    /// Stores the last error in a program in assembly language.
    pub fn learn_program_error(&mut self, said: CString) {
        self.program_error = Some(said);
    }
}

fn has_assembly(extensions: &[&str]) -> bool {
    extensions
        .iter()
        .any(|name| matches!(*name, "GL_ARB_vertex_program" | "GL_ARB_fragment_program"))
}

/// The version of the shading language that goes with a version of OpenGL or OpenGL ES.
fn glsl(api: u32, (major, minor): (u8, u8)) -> (u8, u8) {
    let desktop = matches!(api, api::COMPAT | api::CORE);
    match (major, minor) {
        (2, _) if !desktop => (1, 0),
        (2, minor) => (1, 10 + 10 * minor),
        (3, minor @ 0..=2) if desktop => (1, 30 + 10 * minor),
        _ => (major, minor * 10),
    }
}

/// The first version number in `text`.
fn number(text: &str) -> (u8, u8) {
    let Some((from, to)) = number_at(text) else {
        return (0, 0);
    };
    let (major, minor) = text[from..to]
        .split_once('.')
        .unwrap_or((&text[from..to], "0"));
    (major.parse().unwrap_or(0), minor.parse().unwrap_or(0))
}

/// `text` with `most` in place of its version number, if that number is higher. Versions of shading
/// languages have two digits after the point.
fn capped(text: &str, most: (u8, u8), two_digits: bool) -> String {
    let Some((from, to)) = number_at(text) else {
        return text.into();
    };
    let most_text = match two_digits {
        true => format!("{}.{:02}", most.0, most.1),
        false => format!("{}.{}", most.0, most.1),
    };
    match number(text) > most {
        true => format!("{}{most_text}{}", &text[..from], &text[to..]),
        false => text.into(),
    }
}

/// The position of `3.2` in `OpenGL ES 3.2 Mesa 22.3.6`, or of `4.5` in `4.5.0 NVIDIA`.
fn number_at(text: &str) -> Option<(usize, usize)> {
    let digits = |from: usize| {
        text[from..]
            .find(|c: char| !c.is_ascii_digit())
            .map_or(text.len(), |n| from + n)
    };
    let from = text.find(|c: char| c.is_ascii_digit())?;
    let point = digits(from);
    match text[point..].starts_with('.') {
        true => Some((from, digits(point + 1))),
        false => Some((from, point)),
    }
}

/// The driver's strings contain no NUL; one that does becomes empty.
fn c_string(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(version: &str, glsl: &str) -> ContextInfo {
        ContextInfo {
            version: version.into(),
            glsl: glsl.into(),
            vendor: "Mesa".into(),
            renderer: "llvmpipe".into(),
            extensions: [
                "GL_ARB_multisample",
                "GL_AMD_pinned_memory",
                "GL_EXT_abgr",
                "GL_X",
            ]
            .map(String::from)
            .into(),
            integers: vec![
                (gl::GL_MAJOR_VERSION, vec![4]),
                (gl::GL_MINOR_VERSION, vec![5]),
                (gl::GL_NUM_EXTENSIONS, vec![4]),
                (gl::GL_MAX_LIGHTS, vec![8]),
            ],
            floats: Vec::new(),
        }
    }

    fn said(strings: &Strings, name: u32) -> Option<&str> {
        strings.string(name).map(|s| s.to_str().unwrap())
    }

    #[test]
    fn versions_are_cut_down_and_keep_their_words() {
        let s = Strings::new(
            &info("5.0 (Compatibility Profile) Mesa 22.3.6", "5.00"),
            api::COMPAT,
            false,
        );
        assert_eq!(
            said(&s, gl::GL_VERSION),
            Some("4.6 (Compatibility Profile) Mesa 22.3.6")
        );
        assert_eq!(said(&s, gl::GL_SHADING_LANGUAGE_VERSION), Some("4.60"));
        let s = Strings::new(
            &info("OpenGL ES 4.0 Mesa 22.3.6", "OpenGL ES GLSL ES 4.00"),
            api::ES,
            false,
        );
        assert_eq!(said(&s, gl::GL_VERSION), Some("OpenGL ES 3.2 Mesa 22.3.6"));
        assert_eq!(
            said(&s, gl::GL_SHADING_LANGUAGE_VERSION),
            Some("OpenGL ES GLSL ES 3.20")
        );
        let s = Strings::new(
            &info("OpenGL ES 2.0 Mesa", "OpenGL ES GLSL ES 1.0.16"),
            api::ES,
            false,
        );
        assert_eq!(
            said(&s, gl::GL_SHADING_LANGUAGE_VERSION),
            Some("OpenGL ES GLSL ES 1.0.16")
        );
        let s = Strings::new(&info("OpenGL ES-CM 1.1 Mesa 22.3.6", ""), api::ES1, false);
        assert_eq!(
            said(&s, gl::GL_VERSION),
            Some("OpenGL ES-CM 1.1 Mesa 22.3.6")
        );
        assert_eq!(said(&s, gl::GL_SHADING_LANGUAGE_VERSION), None);
        let s = Strings::new(&info("3.1 Mesa 10", "1.40"), api::COMPAT, false);
        assert_eq!(said(&s, gl::GL_VERSION), Some("3.1 Mesa 10"));
        assert_eq!(said(&s, gl::GL_SHADING_LANGUAGE_VERSION), Some("1.40"));
        assert_eq!(
            capped("4.6.0 NVIDIA 535.54", (3, 3), false),
            "3.3.0 NVIDIA 535.54"
        );
        assert_eq!(number("7"), (7, 0));
        assert_eq!(number("none"), (0, 0));
    }

    #[test]
    fn extensions_are_those_that_both_ends_have() {
        let compat = Strings::new(&info("4.5", "4.50"), api::COMPAT, false);
        assert_eq!(
            said(&compat, gl::GL_EXTENSIONS),
            Some("GL_ARB_multisample GL_EXT_abgr ")
        );
        assert_eq!(compat.extensions.len(), 2);
        let ordered = Strings::new(&info("4.5", "4.50"), api::CORE, true);
        assert_eq!(ordered.extensions.last(), Some(&c_string(ORDER)));
        let core = Strings::new(&info("4.5", "4.50"), api::CORE, false);
        assert_eq!(said(&core, gl::GL_EXTENSIONS), None);
        assert_eq!(core.extensions.len(), 2);
    }

    #[test]
    fn constants_say_the_same() {
        let info = info("5.0 (Core Profile)", "5.00");
        let constants = Strings::new(&info, api::CORE, false)
            .constants(&info)
            .integers;
        assert_eq!(
            constants,
            [
                (gl::GL_MAJOR_VERSION, vec![4]),
                (gl::GL_MINOR_VERSION, vec![6]),
                (gl::GL_NUM_EXTENSIONS, vec![2]),
                (gl::GL_MAX_LIGHTS, vec![8]),
            ]
        );
    }

    #[test]
    fn the_lower_of_both_ends() {
        let server = ServerInfo {
            compat: (5, 0),
            core: (3, 2),
            es1: (1, 1),
            es: (2, 0),
            ..ServerInfo::default()
        };
        assert_eq!(highest(&server, api::COMPAT), (4, 6));
        assert_eq!(highest(&server, api::CORE), (3, 2));
        assert_eq!(highest(&server, api::ES), (2, 0));
        assert_eq!(highest(&server, api::ES1), (1, 1));
    }
}
