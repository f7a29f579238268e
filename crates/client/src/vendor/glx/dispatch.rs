//! Dispatch functions of GLX extensions.
//!
//! For an extension function libGLX knows neither its arguments nor which vendor it is meant for, so the vendor that implements it provides a stub
//! that finds the vendor in the arguments and calls what that vendor has at the function's index. The vendor need not be us.

use super::abi::{ConfigHandle, ContextHandle, Exports, Vendor};
use crate::x11::xlib::{Display, Xid};
use std::ffi::{c_int, c_uint, c_void};
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

static EXPORTS: AtomicPtr<Exports> = AtomicPtr::new(std::ptr::null_mut());

pub fn set_exports(exports: *const Exports) {
    EXPORTS.store(exports.cast_mut(), Ordering::Release);
}

fn exports() -> &'static Exports {
    // SAFETY: stubs are given out only after the handshake, whose table outlives us.
    unsafe { &*EXPORTS.load(Ordering::Acquire) }
}

macro_rules! stubs {
    ($($index:ident $name:literal $stub:ident;)*) => {
        $(static $index: AtomicI32 = AtomicI32::new(-1);)*

        /// The stub that libGLX gives to programs for the extension function `name`.
        pub fn stub(name: &[u8]) -> Option<*const c_void> {
            match name {
                $($name => Some($stub as *const c_void),)*
                _ => None,
            }
        }

        /// libGLX tells at which index each vendor's implementation of `name` is found.
        pub fn set_index(name: &[u8], index: c_int) {
            match name {
                $($name => $index.store(index, Ordering::Release),)*
                _ => {}
            }
        }
    };
}

stubs! {
    SWAP_INTERVAL_EXT b"glXSwapIntervalEXT" swap_interval_ext;
    SWAP_INTERVAL_MESA b"glXSwapIntervalMESA" swap_interval_mesa;
    SWAP_INTERVAL_SGI b"glXSwapIntervalSGI" swap_interval_sgi;
    GET_SWAP_INTERVAL_MESA b"glXGetSwapIntervalMESA" get_swap_interval_mesa;
    CREATE_CONTEXT_ATTRIBS b"glXCreateContextAttribsARB" create_context_attribs;
}

/// The vendor's implementation as a function of type `F`.
///
/// # Safety
/// `F` is the function pointer type of the extension function that `index` belongs to.
unsafe fn implementation<F: Copy>(vendor: *mut Vendor, index: &AtomicI32) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*const c_void>()) };
    let index = index.load(Ordering::Acquire);
    if vendor.is_null() || index < 0 {
        return None;
    }
    // SAFETY: a vendor that libGLX named, at an index that it assigned.
    let address = unsafe { (exports().fetch_dispatch_entry)(vendor, index) };
    if address.is_null() {
        return None;
    }
    // SAFETY: both are one pointer wide, and the caller vouches for the type.
    Some(unsafe { std::mem::transmute_copy::<*const c_void, F>(&address) })
}

unsafe extern "C" fn swap_interval_ext(display: *mut Display, drawable: Xid, interval: c_int) {
    type Function = unsafe extern "C" fn(*mut Display, Xid, c_int);
    // SAFETY: libGLX looks the drawable up on the program's display; the type is the extension's.
    unsafe {
        let vendor = (exports().vendor_of_drawable)(display, drawable);
        if let Some(f) = implementation::<Function>(vendor, &SWAP_INTERVAL_EXT) {
            f(display, drawable, interval);
        }
    }
}

/// `GLX_BAD_CONTEXT`: what the MESA and SGI functions say without a current context.
const BAD_CONTEXT: c_int = 5;

unsafe extern "C" fn swap_interval_mesa(interval: c_uint) -> c_int {
    type Function = unsafe extern "C" fn(c_uint) -> c_int;
    // SAFETY: the type is the extension's.
    unsafe {
        let vendor = (exports().dispatch_of_current)();
        implementation::<Function>(vendor, &SWAP_INTERVAL_MESA).map_or(BAD_CONTEXT, |f| f(interval))
    }
}

unsafe extern "C" fn swap_interval_sgi(interval: c_int) -> c_int {
    type Function = unsafe extern "C" fn(c_int) -> c_int;
    // SAFETY: the type is the extension's.
    unsafe {
        let vendor = (exports().dispatch_of_current)();
        implementation::<Function>(vendor, &SWAP_INTERVAL_SGI).map_or(BAD_CONTEXT, |f| f(interval))
    }
}

unsafe extern "C" fn get_swap_interval_mesa() -> c_int {
    type Function = unsafe extern "C" fn() -> c_int;
    // SAFETY: the type is the extension's.
    unsafe {
        let vendor = (exports().dispatch_of_current)();
        implementation::<Function>(vendor, &GET_SWAP_INTERVAL_MESA).map_or(0, |f| f())
    }
}

unsafe extern "C" fn create_context_attribs(
    display: *mut Display,
    config: ConfigHandle,
    share: ContextHandle,
    direct: c_int,
    attributes: *const c_int,
) -> ContextHandle {
    type Function = unsafe extern "C" fn(
        *mut Display,
        ConfigHandle,
        ContextHandle,
        c_int,
        *const c_int,
    ) -> ContextHandle;
    // SAFETY: libGLX looks the config up on the program's display; the type is the extension's; a context it made is announced to libGLX.
    unsafe {
        let exports = exports();
        let vendor = (exports.vendor_of_config)(display, config);
        let Some(create) = implementation::<Function>(vendor, &CREATE_CONTEXT_ATTRIBS) else {
            return std::ptr::null_mut();
        };
        let context = create(display, config, share, direct, attributes);
        if !context.is_null() && (exports.add_context)(display, context, vendor) != 0 {
            super::context::destroy_context(display, context);
            return std::ptr::null_mut();
        }
        context
    }
}
