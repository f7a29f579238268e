//! The few Xlib calls made on the program's own `Display`.
//!
//! libX11 is looked up at run time: a program that gives us a `Display` has it loaded, and a
//! surfaceless EGL program need not have it.

use std::ffi::{c_char, c_int, c_long, c_uchar, c_ulong, c_void, CStr};
use std::sync::OnceLock;

#[repr(C)]
pub struct Display {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct Visual {
    _opaque: [u8; 0],
}

/// An X resource id in Xlib's type. The upper half is always zero.
pub type Xid = c_ulong;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct XVisualInfo {
    pub visual: *mut Visual,
    pub visualid: c_ulong,
    pub screen: c_int,
    pub depth: c_int,
    pub class: c_int,
    pub red_mask: c_ulong,
    pub green_mask: c_ulong,
    pub blue_mask: c_ulong,
    pub colormap_size: c_int,
    pub bits_per_rgb: c_int,
}

#[repr(C)]
pub struct XErrorEvent {
    pub kind: c_int,
    pub display: *mut Display,
    pub resourceid: Xid,
    pub serial: c_ulong,
    pub error_code: c_uchar,
    pub request_code: c_uchar,
    pub minor_code: c_uchar,
}

pub type ErrorHandler = unsafe extern "C" fn(*mut Display, *mut XErrorEvent) -> c_int;

pub const VISUAL_ID_MASK: c_long = 0x1;
pub const VISUAL_SCREEN_MASK: c_long = 0x2;

macro_rules! functions {
    ($($field:ident = $symbol:literal: fn($($arg:ty),*) -> $ret:ty;)*) => {
        /// Functions of libX11, with their own signatures.
        pub struct Xlib {
            $(pub $field: unsafe extern "C" fn($($arg),*) -> $ret,)*
            error_function: *const Option<ErrorHandler>,
        }

        impl Xlib {
            fn load() -> Option<Xlib> {
                // SAFETY: a constant, NUL-terminated name; the handle is kept for the life of the
                // process.
                let lib = unsafe { libc::dlopen(c"libX11.so.6".as_ptr(), libc::RTLD_NOW) };
                if lib.is_null() {
                    return None;
                }
                Some(Xlib {
                    $($field: {
                        let address = symbol(lib, $symbol)?;
                        // SAFETY: libX11's ABI gives this symbol exactly this signature.
                        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($arg),*) -> $ret>(address) }
                    },)*
                    error_function: symbol(lib, c"_XErrorFunction")?.cast(),
                })
            }
        }
    };
}

functions! {
    get_visual_info = c"XGetVisualInfo": fn(*mut Display, c_long, *const XVisualInfo, *mut c_int) -> *mut XVisualInfo;
    sync = c"XSync": fn(*mut Display, c_int) -> c_int;
    display_string = c"XDisplayString": fn(*mut Display) -> *const c_char;
    query_extension = c"XQueryExtension": fn(*mut Display, *const c_char, *mut c_int, *mut c_int, *mut c_int) -> c_int;
    next_request = c"XNextRequest": fn(*mut Display) -> c_ulong;
    alloc_id = c"_XAllocID": fn(*mut Display) -> Xid;
    lock_display = c"XLockDisplay": fn(*mut Display) -> ();
    unlock_display = c"XUnlockDisplay": fn(*mut Display) -> ();
    screen_count = c"XScreenCount": fn(*mut Display) -> c_int;
}

// SAFETY: addresses of libX11's code and of one of its variables, both there until the process
// ends.
unsafe impl Send for Xlib {}
// SAFETY: as above; the variable is only read.
unsafe impl Sync for Xlib {}

fn symbol(lib: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: `lib` came from dlopen and was not closed.
    let address = unsafe { libc::dlsym(lib, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// libX11, or `None` where it is not installed.
pub fn xlib() -> Option<&'static Xlib> {
    static XLIB: OnceLock<Option<Xlib>> = OnceLock::new();
    XLIB.get_or_init(Xlib::load).as_ref()
}

impl Xlib {
    /// The name with which `display` was opened.
    ///
    /// # Safety
    /// `display` is an open Xlib display.
    pub unsafe fn name(&self, display: *mut Display) -> String {
        // SAFETY: XDisplayString returns the display's own string.
        let name = unsafe { (self.display_string)(display) };
        if name.is_null() {
            return String::new();
        }
        // SAFETY: a NUL-terminated string that lives as long as the display.
        unsafe { CStr::from_ptr(name) }
            .to_string_lossy()
            .into_owned()
    }

    /// The `XVisualInfo` of one visual, allocated by Xlib so that the program can XFree it; null if
    /// there is none.
    ///
    /// # Safety
    /// `display` is an open Xlib display.
    pub unsafe fn visual_info(
        &self,
        display: *mut Display,
        screen: c_int,
        id: u32,
    ) -> *mut XVisualInfo {
        // SAFETY: an all-zero XVisualInfo is a valid template.
        let mut template: XVisualInfo = unsafe { std::mem::zeroed() };
        template.screen = screen;
        template.visualid = c_ulong::from(id);
        let mut count = 0;
        let mask = VISUAL_SCREEN_MASK | VISUAL_ID_MASK;
        // SAFETY: template and count outlive the call.
        unsafe { (self.get_visual_info)(display, mask, &template, &mut count) }
    }

    /// A fresh resource id of the program's connection. It creates nothing on the X server.
    ///
    /// # Safety
    /// `display` is an open Xlib display.
    pub unsafe fn allocate_id(&self, display: *mut Display) -> u32 {
        // SAFETY: XLockDisplay keeps other threads of the program out of the id allocator.
        unsafe {
            (self.lock_display)(display);
            let id = (self.alloc_id)(display);
            (self.unlock_display)(display);
            id as u32
        }
    }

    /// The program's current X error handler.
    pub fn error_handler(&self) -> Option<ErrorHandler> {
        // SAFETY: the address of a variable of libX11 that holds a function pointer or null.
        unsafe { self.error_function.read_volatile() }
    }
}
