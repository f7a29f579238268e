//! What the version and the limits of a context mean for objects.

use mgn_wire::gl::*;
use mgn_wire::hello::{api, ContextInfo};

/// The limits of one context, from the server's driver.
#[derive(Debug)]
pub struct Limits {
    pub api: u32,
    /// Major and minor.
    pub version: (u32, u32),
    geometry: bool,
    tessellation: bool,
    compute: bool,
    uniform_buffers: u32,
    storage_buffers: u32,
    atomic_buffers: u32,
    feedback_buffers: u32,
    uniform_alignment: i64,
    storage_alignment: i64,
}

impl Limits {
    pub fn new(info: &ContextInfo, api: u32) -> Limits {
        let find = |pname: u32| {
            let entry = info.integers.iter().find(|(p, _)| *p == pname)?;
            entry.1.first().copied()
        };
        let count = |pname: u32| find(pname).and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
        let alignment = |pname: u32| find(pname).unwrap_or(1).max(1);
        let has = |names: &[&str]| info.extensions.iter().any(|e| names.contains(&e.as_str()));
        let version = version(&info.version);
        let desktop = matches!(api, api::COMPAT | api::CORE);
        let since = |gl: (u32, u32), es: (u32, u32)| match desktop {
            true => version >= gl,
            false => api == api::ES && version >= es,
        };
        Limits {
            api,
            version,
            geometry: since((3, 2), (3, 2))
                || has(&["GL_OES_geometry_shader", "GL_EXT_geometry_shader"]),
            tessellation: since((4, 0), (3, 2))
                || has(&[
                    "GL_ARB_tessellation_shader",
                    "GL_OES_tessellation_shader",
                    "GL_EXT_tessellation_shader",
                ]),
            compute: since((4, 3), (3, 1)) || has(&["GL_ARB_compute_shader"]),
            uniform_buffers: count(GL_MAX_UNIFORM_BUFFER_BINDINGS),
            storage_buffers: count(GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS),
            atomic_buffers: count(GL_MAX_ATOMIC_COUNTER_BUFFER_BINDINGS),
            feedback_buffers: count(GL_MAX_TRANSFORM_FEEDBACK_BUFFERS)
                .max(count(GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS)),
            uniform_alignment: alignment(GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT),
            storage_alignment: alignment(GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT),
        }
    }

    pub fn is_core(&self) -> bool {
        self.api == api::CORE
    }

    pub fn is_compat(&self) -> bool {
        self.api == api::COMPAT
    }

    pub fn is_es(&self) -> bool {
        matches!(self.api, api::ES1 | api::ES)
    }

    pub fn has_shaders_of(&self, kind: u32) -> bool {
        match kind {
            GL_VERTEX_SHADER | GL_FRAGMENT_SHADER => true,
            GL_GEOMETRY_SHADER => self.geometry,
            GL_TESS_CONTROL_SHADER | GL_TESS_EVALUATION_SHADER => self.tessellation,
            GL_COMPUTE_SHADER => self.compute,
            _ => false,
        }
    }

    /// Whether glBufferData takes `usage`.
    pub fn has_usage(&self, usage: u32) -> bool {
        match usage {
            GL_STATIC_DRAW | GL_DYNAMIC_DRAW => true,
            GL_STREAM_DRAW => self.api != api::ES1,
            GL_STREAM_READ | GL_STREAM_COPY | GL_STATIC_READ | GL_STATIC_COPY | GL_DYNAMIC_READ
            | GL_DYNAMIC_COPY => !self.is_es() || self.version >= (3, 0),
            _ => false,
        }
    }

    /// Whether buffers can be bound to `index` of `target`.
    pub fn has_index(&self, target: u32, index: u32) -> bool {
        index
            < match target {
                GL_UNIFORM_BUFFER => self.uniform_buffers,
                GL_TRANSFORM_FEEDBACK_BUFFER => self.feedback_buffers,
                GL_SHADER_STORAGE_BUFFER => self.storage_buffers,
                GL_ATOMIC_COUNTER_BUFFER => self.atomic_buffers,
                _ => 0,
            }
    }

    /// How many buffers transform feedback writes to.
    pub fn feedback_buffers(&self) -> u32 {
        self.feedback_buffers
    }

    /// The alignment of the offset of a range bound to `target`.
    pub fn alignment(&self, target: u32) -> i64 {
        match target {
            GL_UNIFORM_BUFFER => self.uniform_alignment,
            GL_SHADER_STORAGE_BUFFER => self.storage_alignment,
            _ => 4,
        }
    }
}

/// (4, 5) from `4.5 (Core Profile) …`, (3, 2) from `OpenGL ES 3.2 …`.
fn version(text: &str) -> (u32, u32) {
    let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    let mut numbers = digits
        .split(|c: char| !c.is_ascii_digit())
        .map(|n| n.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(version: &str, api: u32, extensions: &[&str]) -> Limits {
        let info = ContextInfo {
            version: version.into(),
            extensions: extensions.iter().map(|e| (*e).into()).collect(),
            integers: vec![
                (GL_MAX_UNIFORM_BUFFER_BINDINGS, vec![72]),
                (GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT, vec![16]),
            ],
            ..ContextInfo::default()
        };
        Limits::new(&info, api)
    }

    #[test]
    fn versions_and_extensions_decide() {
        let gl = limits("3.1 Mesa 22", api::COMPAT, &["GL_ARB_tessellation_shader"]);
        assert!(
            !gl.has_shaders_of(GL_GEOMETRY_SHADER) && gl.has_shaders_of(GL_TESS_CONTROL_SHADER)
        );
        assert!(gl.has_usage(GL_STATIC_COPY) && !gl.has_usage(0));
        assert!(gl.has_index(GL_UNIFORM_BUFFER, 71) && !gl.has_index(GL_UNIFORM_BUFFER, 72));
        assert!(!gl.has_index(GL_ARRAY_BUFFER, 0));
        assert_eq!(
            (
                gl.alignment(GL_UNIFORM_BUFFER),
                gl.alignment(GL_TRANSFORM_FEEDBACK_BUFFER)
            ),
            (16, 4)
        );
        let es = limits("OpenGL ES 2.0 Mesa", api::ES, &[]);
        assert!(
            !es.has_usage(GL_STATIC_COPY)
                && es.has_usage(GL_STREAM_DRAW)
                && !es.has_shaders_of(GL_COMPUTE_SHADER)
        );
        let es = limits("OpenGL ES 3.2 Mesa", api::ES, &[]);
        assert!(es.has_shaders_of(GL_COMPUTE_SHADER) && es.has_shaders_of(GL_GEOMETRY_SHADER));
        assert!(!limits("OpenGL ES-CM 1.1", api::ES1, &[]).has_usage(GL_STREAM_DRAW));
    }
}
