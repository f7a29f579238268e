//! EGL, loaded at run time, and the one display that a process renders on.

use libloading::Library;
use std::ffi::{c_char, c_void, CStr, CString};
use std::ptr::{null, null_mut};

pub(crate) type Display = *mut c_void;
pub(crate) type Config = *mut c_void;
pub(crate) type Context = *mut c_void;
pub(crate) type Surface = *mut c_void;
pub(crate) type Image = *mut c_void;
type Device = *mut c_void;

pub(crate) const NO_CONTEXT: Context = null_mut();
pub(crate) const NO_SURFACE: Surface = null_mut();
pub(crate) const NO_CONFIG: Config = null_mut();

pub(crate) mod attr {
    pub const ALPHA_SIZE: i32 = 0x3021;
    pub const BLUE_SIZE: i32 = 0x3022;
    pub const GREEN_SIZE: i32 = 0x3023;
    pub const RED_SIZE: i32 = 0x3024;
    pub const DEPTH_SIZE: i32 = 0x3025;
    pub const STENCIL_SIZE: i32 = 0x3026;
    pub const CONFIG_CAVEAT: i32 = 0x3027;
    pub const SAMPLES: i32 = 0x3031;
    pub const SURFACE_TYPE: i32 = 0x3033;
    pub const NONE: i32 = 0x3038;
    pub const RENDERABLE_TYPE: i32 = 0x3040;
    pub const COLOR_COMPONENT_TYPE: i32 = 0x3339;
    pub const COLOR_COMPONENT_TYPE_FIXED: i32 = 0x333A;
    pub const HEIGHT: i32 = 0x3056;
    pub const GL_COLORSPACE: i32 = 0x309D;
    pub const GL_COLORSPACE_SRGB: i32 = 0x3089;
    pub const WIDTH: i32 = 0x3057;
    pub const CONTEXT_MAJOR_VERSION: i32 = 0x3098;
    pub const CONTEXT_MINOR_VERSION: i32 = 0x30FB;
    pub const CONTEXT_FLAGS: i32 = 0x30FC;
    pub const CONTEXT_ROBUST_ACCESS_EXT: i32 = 0x30BF;
    pub const CONTEXT_PROFILE_MASK: i32 = 0x30FD;
    pub const PBUFFER_BIT: i32 = 1;
    pub const OPENGL_BIT: i32 = 8;
}

/// The extension that gives surfaces a colour space.
pub(crate) const SRGB_EXTENSION: &str = "EGL_KHR_gl_colorspace";

/// Names of platforms, for messages.
const SURFACELESS: &str = "surfaceless";
const DEVICE: &str = "device";

const EXTENSIONS: i32 = 0x3055;
const VENDOR: i32 = 0x3053;
const VERSION: i32 = 0x3054;
const PLATFORM_SURFACELESS_MESA: u32 = 0x31DD;
const PLATFORM_DEVICE_EXT: u32 = 0x313F;
const DEVICE_EXT: i32 = 0x322C;
const OPENGL_ES_API: u32 = 0x30A0;
const OPENGL_API: u32 = 0x30A2;

/// Why there is no rendering on this machine.
#[derive(Debug, thiserror::Error)]
pub enum EglError {
    #[error("libEGL.so.1 cannot be loaded ({0}); install the EGL library (libegl1 and libegl-mesa0 on Debian)")]
    Load(String),
    #[error("libEGL.so.1 has no {0}; EGL 1.4 or newer is needed")]
    Symbol(&'static str),
    #[error("EGL finds no display to render on: {0}")]
    NoDisplay(String),
    #[error("EGL ({library}) has no framebuffer configuration that can be rendered off-screen")]
    NoConfig { library: String },
    #[error("EGL could not {doing}: {code}")]
    Call {
        doing: &'static str,
        code: &'static str,
    },
}

macro_rules! functions {
    ($($name:ident = $symbol:literal : fn($($arg:ty),*) -> $ret:ty;)*) => {
        #[derive(Clone)]
        struct Functions { $($name: unsafe extern "C" fn($($arg),*) -> $ret,)* }

        impl Functions {
            fn load(library: &Library) -> Result<Functions, EglError> {
                Ok(Functions { $($name: {
                    // SAFETY: the symbol is EGL's and has the type that the EGL headers give it.
                    let symbol = unsafe {
                        library.get::<unsafe extern "C" fn($($arg),*) -> $ret>(concat!($symbol, "\0").as_bytes())
                    };
                    *symbol.map_err(|_| EglError::Symbol($symbol))?
                },)* })
            }
        }
    };
}

functions! {
    get_proc_address = "eglGetProcAddress": fn(*const c_char) -> *const c_void;
    query_string = "eglQueryString": fn(Display, i32) -> *const c_char;
    get_display = "eglGetDisplay": fn(*mut c_void) -> Display;
    initialize = "eglInitialize": fn(Display, *mut i32, *mut i32) -> u32;
    terminate = "eglTerminate": fn(Display) -> u32;
    bind_api = "eglBindAPI": fn(u32) -> u32;
    get_configs = "eglGetConfigs": fn(Display, *mut Config, i32, *mut i32) -> u32;
    get_config_attrib = "eglGetConfigAttrib": fn(Display, Config, i32, *mut i32) -> u32;
    create_context = "eglCreateContext": fn(Display, Config, Context, *const i32) -> Context;
    destroy_context = "eglDestroyContext": fn(Display, Context) -> u32;
    create_pbuffer = "eglCreatePbufferSurface": fn(Display, Config, *const i32) -> Surface;
    destroy_surface = "eglDestroySurface": fn(Display, Surface) -> u32;
    make_current = "eglMakeCurrent": fn(Display, Surface, Surface, Context) -> u32;
    get_error = "eglGetError": fn() -> i32;
}

type GetPlatformDisplay = unsafe extern "C" fn(u32, *mut c_void, *const i32) -> Display;
type CreateImage = unsafe extern "C" fn(Display, Context, u32, *mut c_void, *const i32) -> Image;
type DestroyImage = unsafe extern "C" fn(Display, Image) -> u32;
type QueryDevices = unsafe extern "C" fn(i32, *mut Device, *mut i32) -> u32;
type QueryDeviceString = unsafe extern "C" fn(Device, i32) -> *const c_char;
type QueryDisplayAttrib = unsafe extern "C" fn(Display, i32, *mut isize) -> u32;

/// The client API that a context belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApiKind {
    OpenGl,
    OpenGlEs,
}

/// An initialised display. Terminated when dropped; the library stays loaded, because drivers do
/// not survive being unloaded.
pub(crate) struct Egl {
    functions: Functions,
    display: Display,
    /// Display extensions, with a space before the first and behind the last.
    extensions: String,
    /// Vendor and version, for messages.
    pub description: String,
    /// The platform that the display is of, for messages.
    pub platform: &'static str,
    pub is_software: bool,
    /// The two functions of EGL_KHR_image_base, which create and destroy images.
    images: Option<(CreateImage, DestroyImage)>,
}

impl Egl {
    /// Loads the system's EGL and opens a display that needs no window system.
    ///
    /// Takes every variable that would lead GLVND to Manganese's own vendor library out of the
    /// environment first. So this must run before the process starts threads that read the
    /// environment.
    pub fn open() -> Result<Egl, EglError> {
        clear_environment();
        Egl::of_environment()
    }

    /// Loads the EGL that the environment selects, which may be Manganese's own.
    pub fn of_environment() -> Result<Egl, EglError> {
        // SAFETY: loading EGL runs its initialisers, which is what the system's EGL library is for.
        let library =
            unsafe { Library::new("libEGL.so.1") }.map_err(|e| EglError::Load(e.to_string()))?;
        let functions = Functions::load(&library)?;
        std::mem::forget(library);
        let opened = open_display(&functions)?;
        Ok(Egl::with(functions, opened))
    }

    /// The device display of the same driver, in place of the surfaceless platform's, if the driver
    /// renders in software. The two displays make pbuffers in different ways.
    pub fn of_software_device(&self) -> Option<Egl> {
        if !self.is_software || self.platform != SURFACELESS {
            return None;
        }
        let functions = self.functions.clone();
        let client = format!(" {} ", query(&functions, null_mut(), EXTENSIONS));
        if !client.contains(" EGL_EXT_platform_device ") {
            return None;
        }
        let get = platform_display(&functions)?;
        let device = devices(&functions)
            .into_iter()
            .find(|(_, is_software)| *is_software)?
            .0;
        // SAFETY: the device was returned by eglQueryDevicesEXT.
        let display = unsafe { get(PLATFORM_DEVICE_EXT, device, null()) };
        initialise(&functions, display).ok()?;
        Some(Egl::with(functions, (display, DEVICE)))
    }

    fn with(functions: Functions, (display, platform): (Display, &'static str)) -> Egl {
        let string = |name| query(&functions, display, name);
        let extensions = format!(" {} ", string(EXTENSIONS));
        let description = format!("{}, EGL {}", string(VENDOR), string(VERSION));
        let is_software = is_software(&functions, display);
        // SAFETY: EGL_KHR_image_base gives these two functions their types.
        let images = unsafe {
            address::<CreateImage>(&functions, "eglCreateImageKHR")
                .zip(address::<DestroyImage>(&functions, "eglDestroyImageKHR"))
        };
        Egl {
            images,
            is_software,
            functions,
            display,
            extensions,
            description,
            platform,
        }
    }

    /// The names of the display's extensions.
    pub fn extensions(&self) -> impl Iterator<Item = &str> {
        self.extensions.split_whitespace()
    }

    pub fn has(&self, extension: &str) -> bool {
        self.extensions.contains(&format!(" {extension} "))
    }

    /// The address of a GL function, null if the library does not know it.
    pub fn address(&self, name: &CStr) -> *const c_void {
        // SAFETY: the name is a C string; EGL only reads it.
        unsafe { (self.functions.get_proc_address)(name.as_ptr()) }
    }

    pub fn configs(&self) -> Vec<Config> {
        let mut count = 0;
        // SAFETY: a null array with a valid count asks for the number only.
        unsafe { (self.functions.get_configs)(self.display, null_mut(), 0, &mut count) };
        let mut configs = vec![null_mut(); count.max(0) as usize];
        // SAFETY: the array has room for the `count` entries that EGL is told of.
        unsafe {
            (self.functions.get_configs)(self.display, configs.as_mut_ptr(), count, &mut count)
        };
        configs.truncate(count.max(0) as usize);
        configs
    }

    /// An attribute of a config; `None` if this EGL does not know it.
    pub fn config_attribute(&self, config: Config, name: i32) -> Option<i32> {
        let mut value = 0;
        // SAFETY: the config is the display's; EGL writes one integer.
        let ok =
            unsafe { (self.functions.get_config_attrib)(self.display, config, name, &mut value) };
        (ok != 0).then_some(value)
    }

    /// Creates a context. `attributes` are pairs, without the end mark.
    pub fn create_context(
        &self,
        api: ApiKind,
        config: Config,
        share: Context,
        attributes: &[i32],
    ) -> Result<Context, EglError> {
        let mut list = attributes.to_vec();
        list.push(attr::NONE);
        let api = if api == ApiKind::OpenGl {
            OPENGL_API
        } else {
            OPENGL_ES_API
        };
        // SAFETY: plain EGL calls; the attribute list is terminated; `share` is null or a live
        // context of this display.
        let context = unsafe {
            if (self.functions.bind_api)(api) == 0 {
                return Err(self.error("select the API"));
            }
            (self.functions.create_context)(self.display, config, share, list.as_ptr())
        };
        if context.is_null() {
            Err(self.error("create a context"))
        } else {
            Ok(context)
        }
    }

    /// Whether EGL images can be made of two-dimensional textures, faces of cubes, and
    /// renderbuffers.
    pub fn has_images(&self) -> bool {
        let needed = [
            "EGL_KHR_image_base",
            "EGL_KHR_gl_texture_2D_image",
            "EGL_KHR_gl_texture_cubemap_image",
            "EGL_KHR_gl_renderbuffer_image",
        ];
        needed.iter().all(|name| self.has(name)) && self.images.is_some()
    }

    /// Makes an image of the object `name` of `context`.
    ///
    /// # Errors
    /// EGL's own code.
    pub fn create_image(
        &self,
        context: Context,
        target: u32,
        name: u32,
        attributes: &[i32],
    ) -> Result<Image, i32> {
        const BAD_PARAMETER: i32 = 0x300C;
        let Some((create, _)) = self.images else {
            return Err(BAD_PARAMETER);
        };
        let mut list = attributes.to_vec();
        list.push(attr::NONE);
        let buffer = name as usize as *mut c_void;
        // SAFETY: the context is one of this display's; the list is terminated; names of objects
        // are only looked up.
        let image = unsafe { create(self.display, context, target, buffer, list.as_ptr()) };
        match image.is_null() {
            // SAFETY: takes no arguments.
            true => Err(unsafe { (self.functions.get_error)() }),
            false => Ok(image),
        }
    }

    pub fn destroy_image(&self, image: Image) {
        if let Some((_, destroy)) = self.images {
            // SAFETY: the image is one of this display's and is not used again.
            unsafe { destroy(self.display, image) };
        }
    }

    pub fn destroy_context(&self, context: Context) {
        // SAFETY: the context is one of this display's; EGL defers if it is current.
        unsafe { (self.functions.destroy_context)(self.display, context) };
    }

    pub fn create_pbuffer(
        &self,
        config: Config,
        srgb: bool,
        width: u32,
        height: u32,
    ) -> Result<Surface, EglError> {
        let mut list = vec![attr::WIDTH, width as i32, attr::HEIGHT, height as i32];
        if srgb && self.has(SRGB_EXTENSION) {
            list.extend([attr::GL_COLORSPACE, attr::GL_COLORSPACE_SRGB]);
        }
        list.push(attr::NONE);
        // SAFETY: the config is the display's and the attribute list is terminated.
        let surface =
            unsafe { (self.functions.create_pbuffer)(self.display, config, list.as_ptr()) };
        if surface.is_null() {
            Err(self.error("create an off-screen surface"))
        } else {
            Ok(surface)
        }
    }

    pub fn destroy_surface(&self, surface: Surface) {
        // SAFETY: the surface is one of this display's; EGL defers if it is current.
        unsafe { (self.functions.destroy_surface)(self.display, surface) };
    }

    pub fn make_current(
        &self,
        draw: Surface,
        read: Surface,
        context: Context,
    ) -> Result<(), EglError> {
        // SAFETY: the handles are null or live ones of this display, which is used by one thread
        // only.
        let ok = unsafe { (self.functions.make_current)(self.display, draw, read, context) };
        if ok == 0 {
            Err(self.error("make a context current"))
        } else {
            Ok(())
        }
    }

    fn error(&self, doing: &'static str) -> EglError {
        // SAFETY: takes no arguments.
        let code = unsafe { (self.functions.get_error)() };
        EglError::Call {
            doing,
            code: error_name(code),
        }
    }
}

impl Drop for Egl {
    fn drop(&mut self) {
        // SAFETY: the display is initialised; EGL releases contexts and surfaces that still exist.
        unsafe {
            (self.functions.make_current)(self.display, NO_SURFACE, NO_SURFACE, NO_CONTEXT);
            (self.functions.terminate)(self.display);
        }
    }
}

/// Removes variables that would make GLVND pick Manganese's own vendor library, or make that
/// library connect to a server.
fn clear_environment() {
    let ours = |name: &str| name.starts_with("__EGL_VENDOR_LIBRARY_") || name.starts_with("MGN_");
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(ours) {
            std::env::remove_var(&name);
        }
    }
}

/// Tries Mesa's surfaceless platform first. If that would render in software although there is a
/// working GPU, takes the GPU's device instead. Tries the default display last.
fn open_display(functions: &Functions) -> Result<(Display, &'static str), EglError> {
    let client = format!(" {} ", query(functions, null_mut(), EXTENSIONS));
    let has = |name: &str| client.contains(&format!(" {name} "));
    let mut tried = Vec::new();
    if let Some(get) = platform_display(functions) {
        let mut software = None;
        if has("EGL_MESA_platform_surfaceless") {
            // SAFETY: the surfaceless platform's only native display is the default one, null.
            let display = unsafe { get(PLATFORM_SURFACELESS_MESA, null_mut(), null()) };
            match initialise(functions, display) {
                Ok(()) if is_software(functions, display) => software = Some(display),
                Ok(()) => return Ok((display, SURFACELESS)),
                Err(code) => tried.push(format!("surfaceless: {code}")),
            }
        }
        if has("EGL_EXT_platform_device") && std::env::var_os("LIBGL_ALWAYS_SOFTWARE").is_none() {
            let all = devices(functions).into_iter();
            for (device, _) in all.filter(|(_, is_software)| !is_software) {
                // SAFETY: the device was returned by eglQueryDevicesEXT.
                let display = unsafe { get(PLATFORM_DEVICE_EXT, device, null()) };
                match initialise(functions, display) {
                    Ok(()) => return Ok((display, DEVICE)),
                    Err(code) => tried.push(format!("device: {code}")),
                }
            }
        }
        if let Some(display) = software {
            return Ok((display, SURFACELESS));
        }
    }
    // SAFETY: null is EGL_DEFAULT_DISPLAY.
    let display = unsafe { (functions.get_display)(null_mut()) };
    match initialise(functions, display) {
        Ok(()) => Ok((display, "default")),
        Err(code) => {
            tried.push(format!("default display: {code}"));
            Err(EglError::NoDisplay(tried.join("; ")))
        }
    }
}

fn platform_display(functions: &Functions) -> Option<GetPlatformDisplay> {
    let mut names = ["eglGetPlatformDisplay", "eglGetPlatformDisplayEXT"].into_iter();
    names.find_map(|name| {
        // SAFETY: both entry points take a platform, a native display and a list, whose null means
        // empty in both.
        unsafe { address::<GetPlatformDisplay>(functions, name) }
    })
}

fn initialise(functions: &Functions, display: Display) -> Result<(), &'static str> {
    if display.is_null() {
        return Err("no such display");
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the display handle came from EGL; two integers are written.
    unsafe {
        if (functions.initialize)(display, &mut major, &mut minor) == 0 {
            return Err(error_name((functions.get_error)()));
        }
    }
    if (major, minor) < (1, 4) {
        Err("older than EGL 1.4")
    } else {
        Ok(())
    }
}

fn is_software(functions: &Functions, display: Display) -> bool {
    let mut device = 0isize;
    // SAFETY: EGL_EXT_device_query gives these two functions their types; one attribute is written,
    // a device of the display's.
    unsafe {
        let (Some(attribute), Some(string)) = (
            address::<QueryDisplayAttrib>(functions, "eglQueryDisplayAttribEXT"),
            address::<QueryDeviceString>(functions, "eglQueryDeviceStringEXT"),
        ) else {
            return false;
        };
        if attribute(display, DEVICE_EXT, &mut device) == 0 || device == 0 {
            return false;
        }
        text(string(device as Device, EXTENSIONS)).contains("EGL_MESA_device_software")
    }
}

/// All devices, and whether each renders in software.
fn devices(functions: &Functions) -> Vec<(Device, bool)> {
    const DEVICES_MAX: usize = 32;
    let mut devices = [null_mut(); DEVICES_MAX];
    let mut count = 0;
    // SAFETY: the array has room for as many devices as EGL is told of; the strings are asked of
    // devices just returned.
    unsafe {
        let (Some(query), Some(string)) = (
            address::<QueryDevices>(functions, "eglQueryDevicesEXT"),
            address::<QueryDeviceString>(functions, "eglQueryDeviceStringEXT"),
        ) else {
            return Vec::new();
        };
        if query(DEVICES_MAX as i32, devices.as_mut_ptr(), &mut count) == 0 {
            return Vec::new();
        }
        let devices = &devices[..(count.max(0) as usize).min(DEVICES_MAX)];
        let software = |d: Device| text(string(d, EXTENSIONS)).contains("EGL_MESA_device_software");
        devices.iter().map(|d| (*d, software(*d))).collect()
    }
}

/// # Safety
/// `F` must be the type of the function with that name.
unsafe fn address<F: Copy>(functions: &Functions, name: &str) -> Option<F> {
    let name = CString::new(name).ok()?;
    // SAFETY: the name is a C string.
    let pointer = unsafe { (functions.get_proc_address)(name.as_ptr()) };
    assert_eq!(size_of::<F>(), size_of::<*const c_void>());
    // SAFETY: the caller says that F is this function's type, which has a pointer's size.
    (!pointer.is_null()).then(|| unsafe { std::mem::transmute_copy(&pointer) })
}

fn query(functions: &Functions, display: Display, name: i32) -> String {
    // SAFETY: EGL returns null or a C string that lives as long as the display.
    unsafe { text((functions.query_string)(display, name)) }
}

/// # Safety
/// `pointer` must be null or a C string.
pub(crate) unsafe fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: not null, so a C string.
    unsafe { CStr::from_ptr(pointer) }
        .to_string_lossy()
        .into_owned()
}

fn error_name(code: i32) -> &'static str {
    match code {
        0x3000 => "no error was reported",
        0x3001 => "not initialised (EGL_NOT_INITIALIZED)",
        0x3002 => "access refused (EGL_BAD_ACCESS)",
        0x3003 => "out of memory (EGL_BAD_ALLOC)",
        0x3004 => "an attribute is not supported (EGL_BAD_ATTRIBUTE)",
        0x3005 => "EGL_BAD_CONFIG",
        0x3006 => "EGL_BAD_CONTEXT",
        0x3007 => "EGL_BAD_CURRENT_SURFACE",
        0x3008 => "EGL_BAD_DISPLAY",
        0x3009 => "not supported in this combination (EGL_BAD_MATCH)",
        0x300C => "EGL_BAD_PARAMETER",
        0x300D => "EGL_BAD_SURFACE",
        0x300E => "the context is lost (EGL_CONTEXT_LOST)",
        _ => "an unknown error",
    }
}
