//! The abilities of the driver and its contexts, queried once.

use crate::configs::usual;
use crate::constants::{FLOATS, INDEXED, INTEGERS, LISTS};
use crate::context::Api;
use crate::egl::{self, attr, ApiKind, EglError};
use crate::present::{extensions, string};
use crate::renderer::{RenderError, Renderer};
use mgn_wire::gl::*;
use mgn_wire::hello::{self, ContextInfo, ServerInfo};
use mgn_wire::sizes::fresh;

/// The requested properties of a context, as in `mgnCreateContext`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Request {
    pub api: Api,
    pub major: u32,
    pub minor: u32,
    pub flags: u32,
}

/// The most values that any pname of the tables has.
const LONGEST_LIST: usize = 1024;

impl Renderer {
    /// Makes a context of the driver's.
    pub(crate) fn open_context(
        &self,
        request: Request,
        config: egl::Config,
        share: egl::Context,
    ) -> Result<egl::Context, EglError> {
        const PROFILE_CORE: i32 = 1;
        const PROFILE_COMPATIBILITY: i32 = 2;
        // OpenGL ES has an attribute for robust access in place of the flag.
        const ROBUST: u32 = 4;
        let Request {
            api,
            mut major,
            mut minor,
            flags,
        } = request;
        match api {
            // Without a version, EGL takes the lowest, and the driver may make a context of any
            // version that is compatible with it.
            Api::Core if major == 0 => (major, minor) = (3, 2),
            // Profiles exist only from 3.2 on, and EGL's 3.1 lacks features of GLX's.
            Api::Compat if (major, minor) == (3, 1) => minor = 0,
            Api::Es1 if major == 0 => major = 1,
            Api::Es if major == 0 => major = 2,
            _ => {}
        }
        let mut attributes = Vec::new();
        if major > 0 {
            attributes.extend([
                attr::CONTEXT_MAJOR_VERSION,
                major as i32,
                attr::CONTEXT_MINOR_VERSION,
                minor as i32,
            ]);
        }
        if api.is_desktop() && (major, minor) >= (3, 2) {
            let profile = if api == Api::Core {
                PROFILE_CORE
            } else {
                PROFILE_COMPATIBILITY
            };
            attributes.extend([attr::CONTEXT_PROFILE_MASK, profile]);
        }
        let known = if api.is_desktop() { 7 } else { 3 };
        if flags & known != 0 {
            attributes.extend([attr::CONTEXT_FLAGS, (flags & known) as i32]);
        }
        if flags & ROBUST & !known != 0 {
            attributes.extend([attr::CONTEXT_ROBUST_ACCESS_EXT, 1]);
        }
        let kind = if api.is_desktop() {
            ApiKind::OpenGl
        } else {
            ApiKind::OpenGlEs
        };
        let configless = self.egl.has("EGL_KHR_no_config_context")
            || self.egl.has("EGL_MESA_configless_context");
        let config = if configless { egl::NO_CONFIG } else { config };
        self.egl.create_context(kind, config, share, &attributes)
    }

    /// The highest version of each API, the driver's description of itself, and for each API that
    /// it has, the constants of a context, by the API's number.
    pub(crate) fn abilities(
        &mut self,
    ) -> Result<(ServerInfo, Vec<(u32, ContextInfo)>), RenderError> {
        let mut info = ServerInfo {
            configs: self.config_list(),
            is_software: self.egl.is_software,
            has_images: self.egl.has_images(),
            renderable: self.renderable(),
            egl_extensions: self.egl.extensions().map(str::to_owned).collect(),
            memory: memory(),
            ..ServerInfo::default()
        };
        let mut constants = Vec::new();
        for (number, api) in APIS {
            let Ok(context) = self.throwaway(api) else {
                continue;
            };
            let one = self.context_info();
            let version = version(&one.version);
            match api {
                Api::Compat => info.compat = version,
                Api::Core => info.core = version,
                Api::Es1 => info.es1 = version,
                Api::Es => info.es = version,
            }
            if info.renderer.is_empty() {
                info.release = release(&one.version);
                info.renderer.clone_from(&one.renderer);
                info.vendor.clone_from(&one.vendor);
            }
            let mut largest = one.integers.iter();
            if let Some((_, sides)) = largest.find(|(name, _)| *name == GL_MAX_VIEWPORT_DIMS) {
                info.largest = (sides[0] as u32, sides[1] as u32);
            }
            constants.push((number, one));
            self.discard_context(context);
        }
        if info.renderer.is_empty() {
            return Err(RenderError::NoContext(self.egl.description.clone()));
        }
        Ok((info, constants))
    }

    fn config_list(&self) -> Vec<hello::Config> {
        self.configs.iter().map(|c| c.described).collect()
    }

    fn renderable(&self) -> u32 {
        let config = usual(&self.configs).egl;
        let types = self.egl.config_attribute(config, attr::RENDERABLE_TYPE);
        types.map_or(0, |types| types as u32)
    }

    /// Makes a context that is current until `discard_context`.
    fn throwaway(&mut self, api: Api) -> Result<egl::Context, EglError> {
        let request = Request {
            api,
            major: 0,
            minor: 0,
            flags: 0,
        };
        let context = self.open_context(request, usual(&self.configs).egl, egl::NO_CONTEXT)?;
        let none = self.utility.stand_in;
        self.make_current(context, none, none)
            .inspect_err(|_| self.egl.destroy_context(context))?;
        Ok(context)
    }

    fn discard_context(&mut self, context: egl::Context) {
        // A failure to release the context cannot be handled, and nothing depends on it.
        let _ = self.make_current(egl::NO_CONTEXT, egl::NO_SURFACE, egl::NO_SURFACE);
        self.egl.destroy_context(context);
    }

    /// The constants of the context that is current in EGL, and the initial state that it has while
    /// it is new. Leaves no error behind.
    pub(crate) fn context_info(&self) -> ContextInfo {
        // SAFETY: strings are null or C strings of the driver's.
        let text = |name| unsafe { string((self.gl.glGetString)(name)) };
        let mut info = ContextInfo {
            version: text(GL_VERSION),
            glsl: text(GL_SHADING_LANGUAGE_VERSION),
            vendor: text(GL_VENDOR),
            renderer: text(GL_RENDERER),
            extensions: extensions(&self.gl),
            ..ContextInfo::default()
        };
        self.drain();
        let wide = match version(&info.version) {
            v if info.version.starts_with("OpenGL ES") => v >= (3, 0),
            v => v >= (3, 2),
        };
        for &(pname, count) in INTEGERS.iter().chain(fresh::INTEGERS) {
            info.integers
                .extend(self.integers(pname, count, wide).map(|v| (pname, v)));
        }
        for &(pname, length) in LISTS {
            let length = self
                .integers(length, 1, false)
                .map_or(0, |v| v[0])
                .clamp(0, LONGEST_LIST as i64);
            info.integers.extend(
                self.integers(pname, length as usize, false)
                    .map(|v| (pname, v)),
            );
        }
        for &(pname, count) in INDEXED {
            info.integers
                .extend(self.indexed(pname, count).map(|v| (pname, v)));
        }
        for &(pname, count) in FLOATS.iter().chain(fresh::FLOATS) {
            info.integers
                .extend(self.integers(pname, count, false).map(|v| (pname, v)));
            info.floats
                .extend(self.floats(pname, count).map(|v| (pname, v)));
        }
        info
    }

    /// The values of a pname; `None` if this context does not know it.
    fn integers(&self, pname: u32, count: usize, wide: bool) -> Option<Vec<i64>> {
        let mut long = vec![0i64; LONGEST_LIST.max(count)];
        if wide {
            // SAFETY: there is room for more values than any pname has.
            unsafe { (self.gl.glGetInteger64v)(pname, long.as_mut_ptr()) };
        } else {
            let mut short = vec![0i32; long.len()];
            // SAFETY: as above.
            unsafe { (self.gl.glGetIntegerv)(pname, short.as_mut_ptr()) };
            long = short.into_iter().map(i64::from).collect();
        }
        long.truncate(count);
        (!self.drain()).then_some(long)
    }

    fn indexed(&self, pname: u32, count: usize) -> Option<Vec<i64>> {
        let mut values = Vec::new();
        for index in 0..count {
            let mut value = [0; 16];
            // SAFETY: there is room for more values than an indexed pname has.
            unsafe { (self.gl.glGetIntegeri_v)(pname, index as u32, value.as_mut_ptr()) };
            values.push(i64::from(value[0]));
        }
        (!self.drain()).then_some(values)
    }

    fn floats(&self, pname: u32, count: usize) -> Option<Vec<f32>> {
        let mut values = vec![0.0; 16.max(count)];
        // SAFETY: there is room for more values than any pname of the table has.
        unsafe { (self.gl.glGetFloatv)(pname, values.as_mut_ptr()) };
        values.truncate(count);
        (!self.drain()).then_some(values)
    }

    /// Takes all errors. Returns whether there were any.
    fn drain(&self) -> bool {
        let mut any = false;
        // A lost context reports errors forever.
        for _ in 0..16 {
            // SAFETY: no arguments.
            if unsafe { (self.gl.glGetError)() } == GL_NO_ERROR {
                break;
            }
            any = true;
        }
        any
    }
}

const APIS: [(u32, Api); 4] = [
    (hello::api::COMPAT, Api::Compat),
    (hello::api::CORE, Api::Core),
    (hello::api::ES1, Api::Es1),
    (hello::api::ES, Api::Es),
];

/// Major and minor from `4.5 (Core Profile) …`, `OpenGL ES 3.2 …` or `OpenGL ES-CM 1.1 …`.
pub(crate) fn version(text: &str) -> (u8, u8) {
    let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    let mut numbers = digits
        .split(|c: char| !c.is_ascii_digit())
        .map(|n| n.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Mesa's release from `4.5 (Core Profile) Mesa 22.3.6`.
fn release(text: &str) -> [u32; 3] {
    let numbers = text.split_once("Mesa ").map_or("", |(_, release)| release);
    let mut numbers = numbers
        .split(|c: char| !c.is_ascii_digit())
        .map(|n| n.parse().unwrap_or(0));
    std::array::from_fn(|_| numbers.next().unwrap_or(0))
}

/// The machine's memory in MiB: it is the video memory of a software renderer.
fn memory() -> u32 {
    // SAFETY: both calls are only queries.
    let (pages, size) = unsafe {
        (
            libc::sysconf(libc::_SC_PHYS_PAGES),
            libc::sysconf(libc::_SC_PAGESIZE),
        )
    };
    u32::try_from((pages.max(0) as u64 * size.max(0) as u64) >> 20).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{release, version};

    #[test]
    fn releases() {
        assert_eq!(release("4.5 (Core Profile) Mesa 22.3.6"), [22, 3, 6]);
        assert_eq!(release("OpenGL ES 3.2 Mesa 25.0.0-devel"), [25, 0, 0]);
        assert_eq!(release("4.6.0 NVIDIA 535.54"), [0; 3]);
    }

    #[test]
    fn versions() {
        assert_eq!(version("4.5 (Core Profile) Mesa 22.3.6"), (4, 5));
        assert_eq!(version("OpenGL ES 3.2 Mesa 22.3.6"), (3, 2));
        assert_eq!(version("OpenGL ES-CM 1.1 Mesa 22.3.6"), (1, 1));
        assert_eq!(version("4.6.0 NVIDIA 535.54"), (4, 6));
        assert_eq!(version(""), (0, 0));
    }
}
