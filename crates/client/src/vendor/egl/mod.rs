//! EGL 1.5 as a GLVND vendor.

mod abi;
mod config;
mod context;
mod device;
mod dispatch;
mod display;
mod error;
mod image;
mod native;
mod surface;
mod surface_attributes;
mod sync;

use abi::{EglBoolean, Exports, Imports, Vendor};
use std::ffi::{c_char, c_int, c_uint, c_void, CStr};

const OPENGL_ES_API: c_uint = 0x30A0;
const OPENGL_API: c_uint = 0x30A2;

/// libEGL calls this to exchange function tables.
///
/// # Safety
/// Called by libEGL as its vendor ABI says: `exports` stays valid for as long as this library is
/// loaded, `imports` may be written.
#[no_mangle]
pub unsafe extern "C" fn __egl_Main(
    version: u32,
    exports: *const Exports,
    _vendor: *mut Vendor,
    imports: *mut Imports,
) -> EglBoolean {
    crate::log::init();
    if version >> 16 != abi::MAJOR_VERSION || exports.is_null() || imports.is_null() {
        return 0;
    }
    dispatch::set_exports(exports);
    let table = Imports {
        platform_display: Some(display::get_platform_display),
        supports_api: Some(supports_api),
        vendor_string: Some(vendor_string),
        proc_address: Some(proc_address),
        dispatch_address: Some(dispatch_address),
        set_dispatch_index: Some(set_dispatch_index),
        is_patch_supported: std::ptr::null(),
        initiate_patch: std::ptr::null(),
        release_patch: std::ptr::null(),
        patch_thread_attach: std::ptr::null(),
        find_native_display_platform: std::ptr::null(),
    };
    // SAFETY: libEGL hands us the table to fill in.
    unsafe { imports.write(table) };
    1
}

unsafe extern "C" fn supports_api(api: c_uint) -> EglBoolean {
    matches!(api, OPENGL_API | OPENGL_ES_API).into()
}

unsafe extern "C" fn vendor_string(name: c_int) -> *const c_char {
    const PLATFORM_EXTENSIONS: c_int = 0;
    match name {
        PLATFORM_EXTENSIONS => {
            c"EGL_EXT_platform_device EGL_EXT_platform_x11 EGL_EXT_platform_xcb EGL_KHR_platform_x11 EGL_MESA_platform_surfaceless".as_ptr()
        }
        _ => std::ptr::null(),
    }
}

unsafe extern "C" fn proc_address(name: *const c_char) -> *const c_void {
    // SAFETY: libEGL passes NUL-terminated names.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    if name.starts_with(b"egl") {
        return implementation(name).unwrap_or(std::ptr::null());
    }
    crate::viewport::lookup(name).unwrap_or(std::ptr::null())
}

unsafe extern "C" fn dispatch_address(name: *const c_char) -> *const c_void {
    // SAFETY: libEGL passes NUL-terminated names.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    dispatch::stub(name).unwrap_or(std::ptr::null())
}

unsafe extern "C" fn set_dispatch_index(name: *const c_char, index: c_int) {
    // SAFETY: libEGL passes NUL-terminated names.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    dispatch::set_index(name, index);
}

macro_rules! implementations {
    ($($name:literal => $function:path,)*) => {
        /// The implementation of the EGL function `name`.
        fn implementation(name: &[u8]) -> Option<*const c_void> {
            match name {
                $($name => Some($function as *const c_void),)*
                _ => None,
            }
        }
    };
}

implementations! {
    b"eglBindTexImage" => surface::bind_tex_image,
    b"eglChooseConfig" => config::choose_config,
    b"eglClientWaitSync" => sync::client_wait_sync,
    b"eglClientWaitSyncKHR" => sync::client_wait_sync,
    b"eglCopyBuffers" => surface::copy_buffers,
    b"eglCreateContext" => context::create_context,
    b"eglCreateImage" => image::create_image,
    b"eglCreateImageKHR" => image::create_image_khr,
    b"eglCreatePbufferFromClientBuffer" => surface::create_pbuffer_from_client_buffer,
    b"eglCreatePbufferSurface" => surface::create_pbuffer_surface,
    b"eglCreatePixmapSurface" => surface::create_pixmap_surface,
    b"eglCreatePlatformPixmapSurface" => surface::create_platform_pixmap_surface,
    b"eglCreatePlatformPixmapSurfaceEXT" => surface::create_platform_pixmap_surface_ext,
    b"eglCreatePlatformWindowSurface" => surface::create_platform_window_surface,
    b"eglCreatePlatformWindowSurfaceEXT" => surface::create_platform_window_surface_ext,
    b"eglCreateSync" => sync::create_sync,
    b"eglCreateSyncKHR" => sync::create_sync_khr,
    b"eglCreateWindowSurface" => surface::create_window_surface,
    b"eglDestroyContext" => context::destroy_context,
    b"eglDestroyImage" => image::destroy_image,
    b"eglDestroyImageKHR" => image::destroy_image,
    b"eglDestroySurface" => surface::destroy_surface,
    b"eglDestroySync" => sync::destroy_sync,
    b"eglDestroySyncKHR" => sync::destroy_sync,
    b"eglGetConfigAttrib" => config::get_config_attrib,
    b"eglGetConfigs" => config::get_configs,
    b"eglGetError" => error::get_error,
    b"eglGetSyncAttrib" => sync::get_sync_attrib,
    b"eglGetSyncAttribKHR" => sync::get_sync_attrib_khr,
    b"eglInitialize" => display::initialize,
    b"eglMakeCurrent" => context::make_current,
    b"eglQueryContext" => context::query_context,
    b"eglQueryDeviceAttribEXT" => device::query_device_attrib,
    b"eglQueryDeviceStringEXT" => device::query_device_string,
    b"eglQueryDevicesEXT" => device::query_devices,
    b"eglQueryDisplayAttribEXT" => device::query_display_attrib,
    b"eglQueryDisplayAttribKHR" => device::query_display_attrib,
    b"eglQueryString" => display::query_string,
    b"eglQuerySurface" => surface::query_surface,
    b"eglReleaseTexImage" => surface::release_tex_image,
    b"eglReleaseThread" => context::release_thread,
    b"eglSignalSyncKHR" => sync::signal_sync,
    b"eglSurfaceAttrib" => surface::surface_attrib,
    b"eglSwapBuffers" => surface::swap_buffers,
    b"eglSwapInterval" => surface::swap_interval,
    b"eglTerminate" => display::terminate,
    b"eglWaitClient" => context::wait_client,
    b"eglWaitGL" => context::wait_client,
    b"eglWaitNative" => context::wait_native,
    b"eglWaitSync" => sync::wait_sync,
    b"eglWaitSyncKHR" => sync::wait_sync_khr,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entry points without which libEGL refuses a vendor (its static dispatch table).
    #[test]
    fn nothing_mandatory_is_missing() {
        for name in [
            "Initialize",
            "ChooseConfig",
            "CopyBuffers",
            "CreateContext",
            "CreatePbufferSurface",
            "CreatePixmapSurface",
            "CreateWindowSurface",
            "DestroyContext",
            "DestroySurface",
            "GetConfigAttrib",
            "GetConfigs",
            "MakeCurrent",
            "QueryContext",
            "QueryString",
            "QuerySurface",
            "SwapBuffers",
            "Terminate",
            "WaitGL",
            "WaitNative",
            "BindTexImage",
            "ReleaseTexImage",
            "SurfaceAttrib",
            "SwapInterval",
            "CreatePbufferFromClientBuffer",
            "ReleaseThread",
            "WaitClient",
            "GetError",
        ] {
            let name = format!("egl{name}");
            assert!(implementation(name.as_bytes()).is_some(), "{name}");
        }
    }

    #[test]
    fn extension_functions_have_stubs() {
        for name in [
            "eglCreateSyncKHR",
            "eglDestroySyncKHR",
            "eglClientWaitSyncKHR",
            "eglGetSyncAttribKHR",
            "eglWaitSyncKHR",
        ] {
            assert!(dispatch::stub(name.as_bytes()).is_some(), "{name}");
            assert!(implementation(name.as_bytes()).is_some(), "{name}");
        }
        assert!(dispatch::stub(b"eglMakeCurrent").is_none());
    }
}
