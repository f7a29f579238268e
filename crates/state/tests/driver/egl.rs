//! A context of the local driver without any window system, to compare with.

use std::ffi::{c_char, c_void, CString};
use std::mem::transmute;
use std::sync::OnceLock;

type Handle = *mut c_void;

/// Which kind of context to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    Compat,
    Core,
    Es1,
    Es3,
}

/// A context that is current in the thread that made it, drawing to a small pbuffer.
pub struct Context {
    proc_address: unsafe extern "C" fn(*const c_char) -> *const c_void,
}

/// EGL, which is never unloaded: drivers leave threads behind.
fn library() -> Option<&'static libloading::Library> {
    static LIBRARY: OnceLock<Option<libloading::Library>> = OnceLock::new();
    LIBRARY
        // SAFETY: EGL is a library meant to be loaded.
        .get_or_init(|| unsafe { libloading::Library::new("libEGL.so.1") }.ok())
        .as_ref()
}

macro_rules! egl {
    ($library:expr, $name:literal, fn($($arg:ty),*) -> $ret:ty) => {{
        // SAFETY: the type is that of the function in EGL's own header.
        unsafe {
            *$library
                .get::<unsafe extern "C" fn($($arg),*) -> $ret>(concat!($name, "\0").as_bytes())
                .ok()?
        }
    }};
}

impl Context {
    /// Makes a context current, or says loudly why not and returns `None`.
    pub fn new(api: Api, width: i32, height: i32) -> Option<Context> {
        let context = Context::open(api, width, height);
        if context.is_none() {
            eprintln!("SKIPPED: no surfaceless EGL context of kind {api:?} on this machine");
        }
        context
    }

    fn open(api: Api, width: i32, height: i32) -> Option<Context> {
        const PLATFORM_SURFACELESS: u32 = 0x31dd;
        const NONE: i32 = 0x3038;
        let library = library()?;
        let proc_address = egl!(
            library,
            "eglGetProcAddress",
            fn(*const c_char) -> *const c_void
        );
        let display = egl!(
            library,
            "eglGetPlatformDisplay",
            fn(u32, Handle, *const isize) -> Handle
        );
        let initialize = egl!(
            library,
            "eglInitialize",
            fn(Handle, *mut i32, *mut i32) -> u32
        );
        let bind_api = egl!(library, "eglBindAPI", fn(u32) -> u32);
        let choose = egl!(
            library,
            "eglChooseConfig",
            fn(Handle, *const i32, *mut Handle, i32, *mut i32) -> u32
        );
        let pbuffer = egl!(
            library,
            "eglCreatePbufferSurface",
            fn(Handle, Handle, *const i32) -> Handle
        );
        let create = egl!(
            library,
            "eglCreateContext",
            fn(Handle, Handle, Handle, *const i32) -> Handle
        );
        let make_current = egl!(
            library,
            "eglMakeCurrent",
            fn(Handle, Handle, Handle, Handle) -> u32
        );
        let (egl_api, renderable, major, minor, profile) = match api {
            Api::Compat => (0x30a2, 0x8, 4, 5, 2),
            Api::Core => (0x30a2, 0x8, 4, 5, 1),
            Api::Es1 => (0x30a0, 0x1, 1, 1, 0),
            Api::Es3 => (0x30a0, 0x40, 3, 2, 0),
        };
        let config_attributes = [
            0x3033, 0x1, // SURFACE_TYPE: PBUFFER_BIT
            0x3040, renderable, // RENDERABLE_TYPE
            0x3024, 8, 0x3021, 8, 0x3025, 24, 0x3026, 8, // red, alpha, depth, stencil
            NONE,
        ];
        let surface_attributes = [0x3057, width, 0x3056, height, NONE];
        let mut context_attributes = vec![0x3098, major, 0x30fb, minor];
        if profile != 0 {
            context_attributes.extend([0x30fd, profile]);
        }
        context_attributes.push(NONE);
        // SAFETY: the calls are in the order EGL wants them, with lists that end in NONE.
        unsafe {
            let display = display(PLATFORM_SURFACELESS, std::ptr::null_mut(), std::ptr::null());
            let (mut major, mut minor) = (0, 0);
            if display.is_null() || initialize(display, &mut major, &mut minor) == 0 {
                return None;
            }
            bind_api(egl_api);
            let (mut config, mut count) = (std::ptr::null_mut(), 0);
            choose(
                display,
                config_attributes.as_ptr(),
                &mut config,
                1,
                &mut count,
            );
            if count < 1 {
                return None;
            }
            let surface = pbuffer(display, config, surface_attributes.as_ptr());
            let none = std::ptr::null_mut();
            let context = create(display, config, none, context_attributes.as_ptr());
            if surface.is_null() || context.is_null() {
                return None;
            }
            if make_current(display, surface, surface, context) == 0 {
                return None;
            }
        }
        Some(Context { proc_address })
    }

    /// The address of a GL command.
    pub fn proc(&self, name: &str) -> *const c_void {
        let name = CString::new(name).expect("a command's name holds no zero");
        // SAFETY: the function takes a string and looks it up.
        let address = unsafe { (self.proc_address)(name.as_ptr()) };
        assert!(!address.is_null(), "the driver has no {name:?}");
        address
    }

    /// The error that the last commands left.
    #[allow(dead_code)]
    pub fn error(&self) -> u32 {
        // SAFETY: glGetError takes nothing and returns an enum.
        unsafe {
            let get: unsafe extern "C" fn() -> u32 = transmute(self.proc("glGetError"));
            get()
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let release = || -> Option<()> {
            let library = library()?;
            let current = egl!(library, "eglGetCurrentDisplay", fn() -> Handle);
            let make_current = egl!(
                library,
                "eglMakeCurrent",
                fn(Handle, Handle, Handle, Handle) -> u32
            );
            let none = std::ptr::null_mut();
            // SAFETY: giving the context up is always allowed.
            unsafe { make_current(current(), none, none, none) };
            Some(())
        };
        release();
    }
}
