//! The kind of a context, and its limits.

use mgn_wire::gl::*;
use mgn_wire::hello::{api, ContextInfo};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    Compat,
    Core,
    Es1,
    /// ES 2 and later.
    Es,
}

#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub api: Api,
    /// Major times ten plus minor.
    pub version: u32,
    pub forward_compatible: bool,
    pub lights: usize,
    pub clip_planes: usize,
    /// Texture units of all shaders together.
    pub texture_units: usize,
    /// Texture units with fixed functions.
    pub coord_units: usize,
    pub draw_buffers: usize,
    pub color_attachments: u32,
    pub viewports: usize,
    pub viewport_dims: [f64; 2],
    pub viewport_bounds: Option<[f64; 2]>,
    pub attrib_stack: usize,
    pub client_attrib_stack: usize,
    pub modelview_stack: usize,
    pub projection_stack: usize,
    pub texture_stack: usize,
    pub list_nesting: usize,
    pub patch_vertices: i32,
    pub sample_mask_words: u32,
    pub uniform_buffers: u32,
    pub storage_buffers: u32,
    pub atomic_buffers: u32,
    pub dual_source: bool,
    pub advanced_blend: bool,
    /// Commands with fixed-point numbers exist.
    pub fixed_point: bool,
}

impl Limits {
    pub fn new(info: &ContextInfo, api_number: u32) -> Limits {
        let find = |pname: u32| {
            let entry = info.integers.iter().find(|(p, _)| *p == pname)?;
            entry.1.first().copied()
        };
        let limit = |pname: u32, least: i64| find(pname).unwrap_or(least).clamp(0, 1 << 20);
        let size = |pname: u32, least: i64| limit(pname, least) as usize;
        let pair = |pname: u32| {
            let of = |v: &[f32]| Some([f64::from(*v.first()?), f64::from(*v.get(1)?)]);
            let floats = info.floats.iter().find(|(p, _)| *p == pname);
            let integers = || {
                let values = &info.integers.iter().find(|(p, _)| *p == pname)?.1;
                Some([*values.first()? as f64, *values.get(1)? as f64])
            };
            floats.and_then(|(_, v)| of(v)).or_else(integers)
        };
        let has = |names: &[&str]| info.extensions.iter().any(|e| names.contains(&e.as_str()));
        let api = match api_number {
            api::COMPAT => Api::Compat,
            api::CORE => Api::Core,
            api::ES1 => Api::Es1,
            _ => Api::Es,
        };
        let version = version(&info.version);
        let desktop = matches!(api, Api::Compat | Api::Core);
        Limits {
            api,
            version,
            forward_compatible: find(GL_CONTEXT_FLAGS).unwrap_or(0) & 1 != 0,
            lights: size(GL_MAX_LIGHTS, 8).min(crate::slots::LIGHTS),
            clip_planes: size(GL_MAX_CLIP_DISTANCES, 6).min(crate::slots::CLIP_PLANES),
            texture_units: size(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, 1)
                .max(size(GL_MAX_TEXTURE_UNITS, 1)),
            coord_units: size(GL_MAX_TEXTURE_COORDS, 0)
                .max(size(GL_MAX_TEXTURE_UNITS, 0))
                .min(crate::slots::COORD_UNITS),
            draw_buffers: size(GL_MAX_DRAW_BUFFERS, 1).min(crate::slots::DRAW_BUFFERS),
            color_attachments: limit(GL_MAX_COLOR_ATTACHMENTS, 1) as u32,
            viewports: size(GL_MAX_VIEWPORTS, 1).clamp(1, crate::slots::VIEWPORTS),
            viewport_dims: pair(GL_MAX_VIEWPORT_DIMS).unwrap_or([16384.; 2]),
            viewport_bounds: pair(GL_VIEWPORT_BOUNDS_RANGE),
            attrib_stack: size(GL_MAX_ATTRIB_STACK_DEPTH, 16),
            client_attrib_stack: size(GL_MAX_CLIENT_ATTRIB_STACK_DEPTH, 16),
            modelview_stack: size(GL_MAX_MODELVIEW_STACK_DEPTH, 32),
            projection_stack: size(GL_MAX_PROJECTION_STACK_DEPTH, 2),
            texture_stack: size(GL_MAX_TEXTURE_STACK_DEPTH, 2),
            list_nesting: size(GL_MAX_LIST_NESTING, 64),
            patch_vertices: limit(GL_MAX_PATCH_VERTICES, 32) as i32,
            sample_mask_words: limit(GL_MAX_SAMPLE_MASK_WORDS, 1) as u32,
            uniform_buffers: limit(GL_MAX_UNIFORM_BUFFER_BINDINGS, 0) as u32,
            storage_buffers: limit(GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS, 0) as u32,
            atomic_buffers: limit(GL_MAX_ATOMIC_COUNTER_BUFFER_BINDINGS, 0) as u32,
            dual_source: has(&["GL_ARB_blend_func_extended", "GL_EXT_blend_func_extended"])
                || desktop && version >= 33,
            advanced_blend: has(&["GL_KHR_blend_equation_advanced"]),
            fixed_point: api == Api::Es1
                || api == Api::Compat && has(&["GL_NV_ES1_1_compatibility"]),
        }
    }

    pub fn compat(&self) -> bool {
        self.api == Api::Compat
    }

    pub fn desktop(&self) -> bool {
        matches!(self.api, Api::Compat | Api::Core)
    }

    /// Compatibility profile or ES 1.
    pub fn fixed_function(&self) -> bool {
        matches!(self.api, Api::Compat | Api::Es1)
    }

    pub fn es3(&self) -> bool {
        self.api == Api::Es && self.version >= 30
    }
}

/// 45 from `4.5 (Core Profile) …`, 32 from `OpenGL ES 3.2 …`.
fn version(text: &str) -> u32 {
    let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    let mut numbers = digits.split(|c: char| !c.is_ascii_digit());
    let mut number = || {
        numbers
            .next()
            .and_then(|n| n.parse::<u32>().ok())
            .unwrap_or(0)
    };
    number().min(99) * 10 + number().min(9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        assert_eq!(version("4.5 (Core Profile) Mesa 22.3.6"), 45);
        assert_eq!(version("OpenGL ES 3.2 Mesa 22.3.6"), 32);
        assert_eq!(version("OpenGL ES-CM 1.1 Mesa"), 11);
        assert_eq!(version(""), 0);
    }

    #[test]
    fn nothing_known_is_the_least() {
        let limits = Limits::new(&ContextInfo::default(), api::COMPAT);
        assert_eq!((limits.viewports, limits.draw_buffers), (1, 1));
        assert!(limits.compat() && limits.desktop() && !limits.es3());
    }
}
