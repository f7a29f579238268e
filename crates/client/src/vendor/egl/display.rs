//! Displays: finding, initializing and ending them.

use super::abi::{Attrib, EglBoolean, Handle};
use super::device;
use super::dispatch::wide_pairs;
use super::error::{call, EglError};
use super::native::Platform;
use super::surface_attributes::SurfaceAttributes;
use super::sync::Sync;
use crate::config::egl::{Config, Extensions, ES2_BIT, ES3_BIT, ES_BIT, GL_BIT};
use crate::config::{Format, VisualOf};
use crate::context::Context;
use crate::contexts::contexts;
use crate::link::begin::session;
use crate::link::session::Session;
use crate::link::surface::Surface;
use crate::x11::watch::watch;
use crate::x11::watch::Watch;
use mgn_sys::fork::PerProcess;
use std::collections::{HashMap, HashSet};
use std::ffi::{c_char, c_int, c_uint, c_void, CString};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// All EGL displays of the process. Their addresses are the programs' handles, so they live as long
/// as the process.
#[derive(Default)]
pub struct Displays {
    known: Mutex<Vec<&'static EglDisplay>>,
}

/// The displays of this process.
pub fn displays() -> &'static Displays {
    static DISPLAYS: PerProcess<Displays> = PerProcess::new();
    DISPLAYS.get()
}

pub struct EglDisplay {
    platform: Platform,
    screen: Option<usize>,
    open: Mutex<Option<Open>>,
}

/// The state of an initialized display.
pub struct Open {
    pub session: &'static Session,
    pub platform: Platform,
    pub watch: Option<Arc<Watch>>,
    pub configs: &'static [Config],
    pub surfaces: HashMap<usize, EglSurface>,
    pub contexts: HashSet<usize>,
    pub syncs: HashMap<usize, Sync>,
    pub images: HashSet<usize>,
    pub next_sync: usize,
}

pub struct EglSurface {
    pub surface: Arc<Surface>,
    /// The X window or pixmap, 0 for a pbuffer.
    pub drawable: u32,
    pub told: SurfaceAttributes,
}

impl EglDisplay {
    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// Runs `body` on an initialized display.
pub fn with_display<T>(
    display: Handle,
    body: impl FnOnce(&mut Open) -> Result<T, EglError>,
) -> Result<T, EglError> {
    let display = find(display)?;
    let mut open = display.lock();
    body(open.as_mut().ok_or(EglError::NotInitialized)?)
}

fn find(handle: Handle) -> Result<&'static EglDisplay, EglError> {
    let known = displays().known.lock().unwrap_or_else(|e| e.into_inner());
    known
        .iter()
        .copied()
        .find(|d| std::ptr::eq(*d, handle as *const EglDisplay))
        .ok_or(EglError::BadDisplay)
}

impl Open {
    pub fn config(&self, handle: Handle) -> Result<&'static Config, EglError> {
        self.configs
            .iter()
            .find(|c| std::ptr::eq(*c, handle as *const Config))
            .ok_or(EglError::BadConfig)
    }

    pub fn surface(&mut self, handle: Handle) -> Result<&mut EglSurface, EglError> {
        self.surfaces
            .get_mut(&(handle as usize))
            .ok_or(EglError::BadSurface)
    }

    pub fn context(&self, handle: Handle) -> Result<*mut Context, EglError> {
        match self.contexts.contains(&(handle as usize)) {
            true => Ok(handle.cast()),
            false => Err(EglError::BadContext),
        }
    }
}

const PLATFORM_X11: c_uint = 0x31D5;
const PLATFORM_XCB: c_uint = 0x31DC;
const PLATFORM_SURFACELESS: c_uint = 0x31DD;
const PLATFORM_DEVICE: c_uint = 0x313F;
const NONE: c_uint = 0x3038;

pub unsafe extern "C" fn get_platform_display(
    platform: c_uint,
    native: *mut c_void,
    attributes: *const Attrib,
) -> Handle {
    const X11_SCREEN: c_int = 0x31D6;
    const XCB_SCREEN: c_int = 0x31DE;
    call(std::ptr::null_mut(), || {
        let platform = match (platform, native as usize) {
            (PLATFORM_X11 | PLATFORM_XCB, 0) => Platform::DefaultX,
            (PLATFORM_X11, display) => Platform::Xlib(display),
            (PLATFORM_XCB, connection) => Platform::Xcb(connection),
            (PLATFORM_DEVICE, device) if device == device::handle() as usize => Platform::Device,
            (PLATFORM_SURFACELESS, 0) => Platform::Surfaceless,
            (NONE, 0) if std::env::var_os("DISPLAY").is_some() => Platform::DefaultX,
            (NONE, 0) => Platform::Surfaceless,
            _ => return Err(EglError::BadParameter),
        };
        let mut screen = None;
        // SAFETY: the program's list, passed on by libEGL.
        for (name, value) in unsafe { wide_pairs(attributes) } {
            match name {
                X11_SCREEN | XCB_SCREEN => screen = usize::try_from(value).ok(),
                _ => return Err(EglError::BadAttribute),
            }
        }
        let mut known = displays().known.lock().unwrap_or_else(|e| e.into_inner());
        let same = |d: &&&'static EglDisplay| d.platform == platform && d.screen == screen;
        let display = match known.iter().find(same) {
            Some(display) => *display,
            None => {
                let fresh: &'static EglDisplay = Box::leak(Box::new(EglDisplay {
                    platform,
                    screen,
                    open: Mutex::new(None),
                }));
                known.push(fresh);
                fresh
            }
        };
        Ok(std::ptr::from_ref(display).cast_mut().cast())
    })
}

pub unsafe extern "C" fn initialize(
    display: Handle,
    major: *mut c_int,
    minor: *mut c_int,
) -> EglBoolean {
    call(0, || {
        let display = find(display)?;
        let mut open = display.lock();
        if open.is_none() {
            let session = session().ok_or(EglError::NotInitialized)?;
            // SAFETY: the program's native display, open while its EGL display is being
            // initialized.
            let server = unsafe { display.platform.x_server() };
            let watch = match server {
                Some(name) => Some(watch(&name).ok_or(EglError::NotInitialized)?),
                None if matches!(display.platform, Platform::Surfaceless | Platform::Device) => {
                    None
                }
                None => return Err(EglError::NotInitialized),
            };
            *open = Some(Open {
                session,
                platform: display.platform,
                configs: Vec::leak(configs(
                    session,
                    display.platform,
                    watch.as_deref(),
                    display.screen,
                )),
                watch,
                surfaces: HashMap::new(),
                contexts: HashSet::new(),
                syncs: HashMap::new(),
                images: HashSet::new(),
                next_sync: 1,
            });
        }
        for (out, value) in [(major, 1), (minor, 5)] {
            if !out.is_null() {
                // SAFETY: the program's integer.
                unsafe { out.write(value) };
            }
        }
        Ok(1)
    })
}

/// The formats with the visuals of the display's screen.
fn configs(
    session: &Session,
    platform: Platform,
    watch: Option<&Watch>,
    screen: Option<usize>,
) -> Vec<Config> {
    // The driver's value, because programs choose by it. Some builds of Mesa name OpenGL ES 1 here,
    // but cannot create contexts of it.
    let carried = GL_BIT | ES_BIT | ES2_BIT | ES3_BIT;
    let renderable = session.info.renderable as c_int & carried;
    let extensions = Extensions::of(&session.info.egl_extensions);
    // Devices have no floating-point surfaces, as on Mesa's device platform.
    let floats = platform != Platform::Device;
    let fits = |f: &&Format| f.double && !f.accum && (floats || !f.color.is_float());
    let formats = session.formats.iter().filter(fits);
    let mut all: Vec<Config> = Vec::new();
    let mut add = |format: &Format, visual: Option<&VisualOf>| {
        let class = |v: Option<&VisualOf>| v.map(|v| v.class);
        let group = extensions.select_group.then(|| Config::group_of(visual));
        // If several visuals have the same class and group, only the first one is listed.
        let is_same = |c: &Config| {
            c.format == *format && class(c.visual.as_ref()) == class(visual) && c.group == group
        };
        if all.iter().any(is_same) {
            return;
        }
        all.push(Config {
            id: all.len() as c_int + 1,
            format: *format,
            visual: visual.copied(),
            renderable,
            group,
        });
    };
    let Some(watch) = watch else {
        formats.for_each(|f| add(f, None));
        return all;
    };
    for visual in watch.visuals(screen) {
        for format in formats.clone() {
            let color = !format.color.is_float() && format.color.bits() == visual.bits;
            // A visual without alpha is also used for windows of formats with alpha. A compositor
            // does not see the alpha then.
            let whole = format.color_bits() == i32::from(visual.depth);
            if color && (whole || matches!(visual.depth, 24 | 30)) {
                add(format, Some(&visual));
            }
        }
    }
    all
}

pub unsafe extern "C" fn terminate(display: Handle) -> EglBoolean {
    call(0, || {
        let Some(open) = find(display)?.lock().take() else {
            return Ok(1);
        };
        for context in &open.contexts {
            // Contexts that are current are destroyed when they are released.
            let _ = contexts().destroy(*context as *mut Context);
        }
        for image in &open.images {
            let image = *image as u32;
            open.session.control(|e| e.mgn_destroy_image(image));
        }
        Ok(1)
    })
}

pub unsafe extern "C" fn query_string(display: Handle, name: c_int) -> *const c_char {
    call(std::ptr::null(), || {
        if display.is_null() && name == NAME_EXTENSIONS {
            return Ok(CLIENT_EXTENSIONS.as_ptr());
        }
        with_display(display, |open| {
            Ok(match name {
                0x3053 => c"Manganese".as_ptr(),
                0x3054 => c"1.5 Manganese".as_ptr(),
                NAME_EXTENSIONS => extensions_of(open.session),
                0x308D => c"OpenGL OpenGL_ES ".as_ptr(),
                _ => return Err(EglError::BadParameter),
            })
        })
    })
}

const NAME_EXTENSIONS: c_int = 0x3055;
const CLIENT_EXTENSIONS: &std::ffi::CStr =
    c"EGL_EXT_client_extensions EGL_EXT_device_base EGL_EXT_device_enumeration \
EGL_EXT_device_query EGL_EXT_platform_base EGL_KHR_client_get_all_proc_addresses";

/// The extensions of the displays. The string lives as long as the process.
fn extensions_of(session: &Session) -> *const c_char {
    static LIST: OnceLock<CString> = OnceLock::new();
    let list = LIST.get_or_init(|| {
        let mut list = vec![EXTENSIONS];
        if session.info.has_images {
            list.push(IMAGES);
        }
        let there = Extensions::of(&session.info.egl_extensions);
        if there.select_group {
            list.push(Extensions::SELECT_GROUP);
        }
        CString::new(list.join(" ")).unwrap_or_default()
    });
    list.as_ptr()
}

const EXTENSIONS: &str = concat!(
    "EGL_EXT_create_context_robustness EGL_EXT_pixel_format_float EGL_KHR_config_attribs EGL_KHR_context_flush_control ",
    "EGL_KHR_create_context EGL_KHR_create_context_no_error EGL_KHR_fence_sync EGL_KHR_get_all_proc_addresses EGL_KHR_gl_colorspace EGL_KHR_no_config_context EGL_KHR_reusable_sync ",
    "EGL_KHR_surfaceless_context EGL_KHR_wait_sync EGL_MESA_configless_context"
);
const IMAGES: &str =
    "EGL_KHR_gl_renderbuffer_image EGL_KHR_gl_texture_2D_image EGL_KHR_gl_texture_cubemap_image EGL_KHR_image_base";
