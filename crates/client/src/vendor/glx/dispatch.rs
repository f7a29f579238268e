//! Dispatch functions of GLX extensions.
//!
//! libGLX knows neither the arguments of an extension function nor its vendor. So a vendor that
//! implements the function provides a stub. The stub finds the right vendor by the arguments, and
//! calls that vendor's implementation at the function's index. This vendor need not be us.
#![allow(
    clippy::unused_unit,
    reason = "the macro writes the type of every function"
)]

use super::abi::{ConfigHandle, ContextHandle, Exports, Vendor};
use crate::x11::error::{raise, GlxError};
use crate::x11::xlib::{Display, XVisualInfo, Xid};
use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void};
use std::ptr::null_mut;
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
    ($($index:ident $name:literal $stub:ident($($arg:ident: $kind:ty),*) -> $ret:ty, by $vendor:expr, else $failed:expr $(, then $announce:ident($on:expr))?;)*) => {
        $(static $index: AtomicI32 = AtomicI32::new(-1);)*

        /// The stub that libGLX gives to programs for the extension function `name`.
        pub fn stub(name: &[u8]) -> Option<*const c_void> {
            match name {
                $($name => Some($stub as *const c_void),)*
                _ => None,
            }
        }

        /// libGLX says at which index it looks up each vendor's implementation of `name`.
        pub fn set_index(name: &[u8], index: c_int) {
            match name {
                $($name => $index.store(index, Ordering::Release),)*
                _ => {}
            }
        }

        $(unsafe extern "C" fn $stub($($arg: $kind),*) -> $ret {
            type Function = unsafe extern "C" fn($($kind),*) -> $ret;
            // SAFETY: libGLX looks its own tables up; what is found at the index has the type that
            // the extension fixes.
            unsafe {
                let vendor = $vendor;
                let address = implementation(vendor, &$index);
                if address.is_null() {
                    return $failed;
                }
                let result = std::mem::transmute::<*const c_void, Function>(address)($($arg),*);
                $($announce($on, result, vendor);)?
                result
            }
        })*
    };
}

type Config = ConfigHandle;
type Context = ContextHandle;
type Ints = *const c_int;

stubs! {
    SWAP_INTERVAL_EXT b"glXSwapIntervalEXT" swap_interval_ext(display: *mut Display, drawable: Xid, interval: c_int) -> (),
        by of_drawable(display, drawable), else no_window(display, drawable);
    SWAP_INTERVAL_MESA b"glXSwapIntervalMESA" swap_interval_mesa(interval: c_uint) -> c_int, by of_current(), else BAD_CONTEXT;
    SWAP_INTERVAL_SGI b"glXSwapIntervalSGI" swap_interval_sgi(interval: c_int) -> c_int, by of_current(), else BAD_CONTEXT;
    GET_SWAP_INTERVAL_MESA b"glXGetSwapIntervalMESA" get_swap_interval_mesa() -> c_int, by of_current(), else BAD_CONTEXT;
    GET_VIDEO_SYNC b"glXGetVideoSyncSGI" get_video_sync(count: *mut c_uint) -> c_int, by of_current(), else BAD_CONTEXT;
    WAIT_VIDEO_SYNC b"glXWaitVideoSyncSGI" wait_video_sync(divisor: c_int, remainder: c_int, count: *mut c_uint) -> c_int,
        by of_current(), else BAD_CONTEXT;
    GET_SYNC_VALUES b"glXGetSyncValuesOML" get_sync_values(display: *mut Display, drawable: Xid, ust: *mut i64, msc: *mut i64, sbc: *mut i64) -> c_int,
        by of_drawable(display, drawable), else 0;
    GET_MSC_RATE b"glXGetMscRateOML" get_msc_rate(display: *mut Display, drawable: Xid, numerator: *mut i32, denominator: *mut i32) -> c_int,
        by of_drawable(display, drawable), else 0;
    WAIT_FOR_MSC b"glXWaitForMscOML" wait_for_msc(display: *mut Display, drawable: Xid, target: i64, divisor: i64, remainder: i64, ust: *mut i64,
        msc: *mut i64, sbc: *mut i64) -> c_int, by of_drawable(display, drawable), else 0;
    WAIT_FOR_SBC b"glXWaitForSbcOML" wait_for_sbc(display: *mut Display, drawable: Xid, target: i64, ust: *mut i64, msc: *mut i64, sbc: *mut i64) -> c_int,
        by of_drawable(display, drawable), else 0;
    SWAP_BUFFERS_MSC b"glXSwapBuffersMscOML" swap_buffers_msc(display: *mut Display, drawable: Xid, target: i64, divisor: i64, remainder: i64) -> i64,
        by of_drawable(display, drawable), else -1;
    COPY_SUB_BUFFER b"glXCopySubBufferMESA" copy_sub_buffer(display: *mut Display, drawable: Xid, x: c_int, y: c_int, width: c_int, height: c_int) -> (),
        by of_drawable(display, drawable), else ();
    BIND_TEX_IMAGE b"glXBindTexImageEXT" bind_tex_image(display: *mut Display, drawable: Xid, buffer: c_int, list: Ints) -> (),
        by of_drawable(display, drawable), else ();
    RELEASE_TEX_IMAGE b"glXReleaseTexImageEXT" release_tex_image(display: *mut Display, drawable: Xid, buffer: c_int) -> (),
        by of_drawable(display, drawable), else ();
    QUERY_RENDERER b"glXQueryRendererIntegerMESA" query_renderer(display: *mut Display, screen: c_int, renderer: c_int, name: c_int, out: *mut c_uint) -> c_int,
        by of_screen(display, screen), else 0;
    RENDERER_STRING b"glXQueryRendererStringMESA" renderer_string(display: *mut Display, screen: c_int, renderer: c_int, name: c_int) -> *const c_char,
        by of_screen(display, screen), else std::ptr::null();
    QUERY_CURRENT b"glXQueryCurrentRendererIntegerMESA" query_current(name: c_int, out: *mut c_uint) -> c_int, by of_current(), else 0;
    CURRENT_STRING b"glXQueryCurrentRendererStringMESA" current_string(name: c_int) -> *const c_char, by of_current(), else std::ptr::null();
    QUERY_INFO b"glXQueryContextInfoEXT" query_info(display: *mut Display, context: Context, name: c_int, out: *mut c_int) -> c_int,
        by of_context(context), else BAD_CONTEXT;
    CONTEXT_ID b"glXGetContextIDEXT" context_id(context: Context) -> Xid, by of_context(context), else 0;
    CONFIG_ATTRIB b"glXGetFBConfigAttribSGIX" config_attrib(display: *mut Display, config: Config, name: c_int, out: *mut c_int) -> c_int,
        by of_config(display, config), else BAD_FB_CONFIG;
    CHOOSE_CONFIG b"glXChooseFBConfigSGIX" choose_config(display: *mut Display, screen: c_int, list: Ints, count: *mut c_int) -> *mut Config,
        by of_screen(display, screen), else null_mut();
    CONFIG_VISUAL b"glXGetVisualFromFBConfigSGIX" config_visual(display: *mut Display, config: Config) -> *mut XVisualInfo,
        by of_config(display, config), else null_mut();
    DESTROY_PBUFFER b"glXDestroyGLXPbufferSGIX" destroy_pbuffer(display: *mut Display, pbuffer: Xid) -> (), by of_drawable(display, pbuffer), else ();
    QUERY_PBUFFER b"glXQueryGLXPbufferSGIX" query_pbuffer(display: *mut Display, pbuffer: Xid, name: c_int, out: *mut c_uint) -> (),
        by of_drawable(display, pbuffer), else ();
    SELECT_EVENT b"glXSelectEventSGIX" select_event(display: *mut Display, drawable: Xid, mask: c_ulong) -> (), by of_drawable(display, drawable), else ();
    SELECTED_EVENT b"glXGetSelectedEventSGIX" selected_event(display: *mut Display, drawable: Xid, out: *mut c_ulong) -> (),
        by of_drawable(display, drawable), else ();
    VISUAL_CONFIG b"glXGetFBConfigFromVisualSGIX" visual_config(display: *mut Display, visual: *mut XVisualInfo) -> Config,
        by of_visual(display, visual), else null_mut();
    CREATE_PIXMAP b"glXCreateGLXPixmapWithConfigSGIX" create_pixmap(display: *mut Display, config: Config, pixmap: Xid) -> Xid,
        by of_config(display, config), else 0, then add_drawable(display);
    CREATE_PBUFFER b"glXCreateGLXPbufferSGIX" create_pbuffer(display: *mut Display, config: Config, width: c_uint, height: c_uint, list: Ints) -> Xid,
        by of_config(display, config), else 0, then add_drawable(display);
    CREATE_CONTEXT b"glXCreateContextWithConfigSGIX" create_context(display: *mut Display, config: Config, kind: c_int, share: Context, direct: c_int) -> Context,
        by of_config(display, config), else null_mut(), then add_context(display);
    CREATE_CONTEXT_ATTRIBS b"glXCreateContextAttribsARB" create_context_attribs(display: *mut Display, config: Config, share: Context, direct: c_int,
        list: Ints) -> Context, by of_config_or_screen(display, config, list), else null_mut(), then add_context(display);
}

/// The implementation of `vendor` at `index`; null if there is none.
unsafe fn implementation(vendor: *mut Vendor, index: &AtomicI32) -> *const c_void {
    let index = index.load(Ordering::Acquire);
    if vendor.is_null() || index < 0 {
        return std::ptr::null();
    }
    // SAFETY: a vendor that libGLX named, at an index that it assigned.
    unsafe { (exports().fetch_dispatch_entry)(vendor, index) }
}

/// `GLX_BAD_CONTEXT`: the error of functions that need a current context.
const BAD_CONTEXT: c_int = 5;
/// `GLXBadFBConfig`.
const BAD_FB_CONFIG: c_int = 9;

unsafe fn of_current() -> *mut Vendor {
    // SAFETY: libGLX's own function.
    unsafe { (exports().dispatch_of_current)() }
}

unsafe fn of_drawable(display: *mut Display, drawable: Xid) -> *mut Vendor {
    // SAFETY: libGLX's own function, with the program's display.
    unsafe { (exports().vendor_of_drawable)(display, drawable) }
}

unsafe fn of_screen(display: *mut Display, screen: c_int) -> *mut Vendor {
    // SAFETY: as above.
    unsafe { (exports().dispatch_of_screen)(display, screen) }
}

unsafe fn of_context(context: ContextHandle) -> *mut Vendor {
    // SAFETY: as above.
    unsafe { (exports().vendor_of_context)(context) }
}

unsafe fn of_config(display: *mut Display, config: ConfigHandle) -> *mut Vendor {
    // SAFETY: as above.
    unsafe { (exports().vendor_of_config)(display, config) }
}

unsafe fn of_visual(display: *mut Display, visual: *mut XVisualInfo) -> *mut Vendor {
    if visual.is_null() {
        return null_mut();
    }
    // SAFETY: the program's visual info.
    unsafe { of_screen(display, (*visual).screen) }
}

/// GLX_EXT_no_config_context: without a config, the list names the screen.
unsafe fn of_config_or_screen(
    display: *mut Display,
    config: ConfigHandle,
    list: Ints,
) -> *mut Vendor {
    // SAFETY: the program's display and list.
    unsafe {
        if !config.is_null() {
            return of_config(display, config);
        }
        let list = super::config::pairs(list, 0);
        let screen = list
            .iter()
            .find(|(name, _)| *name == super::context::SCREEN);
        screen.map_or(null_mut(), |(_, screen)| of_screen(display, *screen))
    }
}

/// Tells libGLX about an object that a stub's function has created. It knows the objects that its
/// own functions create.
unsafe fn add_context(display: *mut Display, context: ContextHandle, vendor: *mut Vendor) {
    if !context.is_null() {
        // SAFETY: libGLX's own function; it fails only without memory.
        unsafe { (exports().add_context)(display, context, vendor) };
    }
}

unsafe fn add_drawable(display: *mut Display, drawable: Xid, vendor: *mut Vendor) {
    if drawable != 0 {
        // SAFETY: as above.
        unsafe { (exports().add_drawable)(display, drawable, vendor) };
    }
}

/// A drawable that no vendor knows.
unsafe fn no_window(display: *mut Display, drawable: Xid) {
    // SAFETY: the program's display.
    unsafe { raise(display, GlxError::CoreWindow, drawable as u32, 0) };
}
