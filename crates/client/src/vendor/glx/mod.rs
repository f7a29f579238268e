//! GLX 1.4 as a GLVND vendor.

mod abi;
mod config;
mod context;
mod dispatch;
mod drawable;
mod extensions;
mod font;
mod query;
mod texture;

use crate::x11::xlib::Display;
use abi::{Exports, Imports, Vendor};
use std::ffi::{c_char, c_int, c_void, CStr};

/// libGLX calls this to exchange function tables.
///
/// # Safety
/// Called by libGLX as its vendor ABI says: `exports` stays valid for as long as this library is
/// loaded, `imports` may be written.
#[no_mangle]
pub unsafe extern "C" fn __glx_Main(
    version: u32,
    exports: *const Exports,
    _vendor: *mut Vendor,
    imports: *mut Imports,
) -> c_int {
    crate::log::init();
    if version >> 16 != abi::MAJOR_VERSION || exports.is_null() || imports.is_null() {
        return 0;
    }
    dispatch::set_exports(exports);
    let table = Imports {
        is_screen_supported: Some(is_screen_supported),
        proc_address: Some(proc_address),
        dispatch_address: Some(dispatch_address),
        set_dispatch_index: Some(set_dispatch_index),
        notify_error: None,
        is_patch_supported: std::ptr::null(),
        initiate_patch: std::ptr::null(),
        release_patch: std::ptr::null(),
        patch_thread_attach: std::ptr::null(),
    };
    // SAFETY: libGLX hands us the table to fill in.
    unsafe { imports.write(table) };
    1
}

/// Supports every screen: after a refusal, libGLX would silently load another driver.
unsafe extern "C" fn is_screen_supported(_display: *mut Display, _screen: c_int) -> c_int {
    1
}

unsafe extern "C" fn proc_address(name: *const c_char) -> *const c_void {
    // SAFETY: libGLX passes NUL-terminated names.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    if name.starts_with(b"glX") {
        return implementation(name).unwrap_or(std::ptr::null());
    }
    crate::viewport::lookup(name).unwrap_or(std::ptr::null())
}

unsafe extern "C" fn dispatch_address(name: *const c_char) -> *const c_void {
    // SAFETY: libGLX passes NUL-terminated names.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    dispatch::stub(name).unwrap_or(std::ptr::null())
}

unsafe extern "C" fn set_dispatch_index(name: *const c_char, index: c_int) {
    // SAFETY: libGLX passes NUL-terminated names.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    dispatch::set_index(name, index);
}

macro_rules! implementations {
    ($($name:literal => $function:path,)*) => {
        /// The implementation of the GLX function `name`.
        fn implementation(name: &[u8]) -> Option<*const c_void> {
            match name {
                $($name => Some($function as *const c_void),)*
                _ => None,
            }
        }
    };
}

implementations! {
    b"glXBindTexImageEXT" => texture::bind_tex_image,
    b"glXChooseFBConfig" => config::choose_fb_config,
    b"glXChooseFBConfigSGIX" => config::choose_fb_config,
    b"glXChooseVisual" => config::choose_visual,
    b"glXCopyContext" => context::copy_context,
    b"glXCopySubBufferMESA" => extensions::copy_sub_buffer,
    b"glXCreateContext" => context::create_context,
    b"glXCreateContextAttribsARB" => context::create_context_attribs,
    b"glXCreateContextWithConfigSGIX" => extensions::create_context,
    b"glXCreateGLXPbufferSGIX" => extensions::create_pbuffer,
    b"glXCreateGLXPixmapWithConfigSGIX" => extensions::create_pixmap,
    b"glXCreateGLXPixmap" => drawable::create_glx_pixmap,
    b"glXCreateNewContext" => context::create_new_context,
    b"glXCreatePbuffer" => drawable::create_pbuffer,
    b"glXCreatePixmap" => drawable::create_pixmap,
    b"glXCreateWindow" => drawable::create_window,
    b"glXDestroyContext" => context::destroy_context,
    b"glXDestroyGLXPixmap" => drawable::destroy_pixmap,
    b"glXDestroyGLXPbufferSGIX" => drawable::destroy_pbuffer,
    b"glXDestroyPbuffer" => drawable::destroy_pbuffer,
    b"glXDestroyPixmap" => drawable::destroy_pixmap,
    b"glXDestroyWindow" => drawable::destroy_window,
    b"glXFreeContextEXT" => context::free_context,
    b"glXGetClientString" => query::get_client_string,
    b"glXGetConfig" => config::get_config,
    b"glXGetFBConfigAttrib" => config::get_fb_config_attrib,
    b"glXGetContextIDEXT" => extensions::context_id,
    b"glXGetFBConfigAttribSGIX" => config::get_fb_config_attrib,
    b"glXGetFBConfigFromVisualSGIX" => extensions::visual_config,
    b"glXGetFBConfigs" => config::get_fb_configs,
    b"glXGetSelectedEvent" => drawable::get_selected_event,
    b"glXGetMscRateOML" => extensions::get_msc_rate,
    b"glXGetSelectedEventSGIX" => drawable::get_selected_event,
    b"glXGetSwapIntervalMESA" => extensions::get_swap_interval_mesa,
    b"glXGetSyncValuesOML" => extensions::get_sync_values,
    b"glXGetVideoSyncSGI" => extensions::get_video_sync,
    b"glXGetVisualFromFBConfigSGIX" => config::get_visual_from_fb_config,
    b"glXGetVisualFromFBConfig" => config::get_visual_from_fb_config,
    b"glXImportContextEXT" => context::import_context,
    b"glXIsDirect" => context::is_direct,
    b"glXMakeContextCurrent" => context::make_context_current,
    b"glXMakeCurrent" => context::make_current,
    b"glXQueryContext" => context::query_context,
    b"glXQueryContextInfoEXT" => context::query_context,
    b"glXQueryCurrentRendererIntegerMESA" => extensions::query_current,
    b"glXQueryCurrentRendererStringMESA" => extensions::current_string,
    b"glXQueryDrawable" => drawable::query_drawable,
    b"glXQueryExtensionsString" => query::query_extensions_string,
    b"glXQueryGLXPbufferSGIX" => drawable::query_drawable,
    b"glXQueryRendererIntegerMESA" => extensions::query_renderer,
    b"glXQueryRendererStringMESA" => extensions::renderer_string,
    b"glXQueryServerString" => query::query_server_string,
    b"glXReleaseTexImageEXT" => texture::release_tex_image,
    b"glXSelectEventSGIX" => drawable::select_event,
    b"glXSelectEvent" => drawable::select_event,
    b"glXSwapBuffers" => drawable::swap_buffers,
    b"glXSwapBuffersMscOML" => extensions::swap_buffers_msc,
    b"glXSwapIntervalEXT" => extensions::swap_interval_ext,
    b"glXSwapIntervalMESA" => extensions::swap_interval_mesa,
    b"glXSwapIntervalSGI" => extensions::swap_interval_sgi,
    b"glXUseXFont" => font::use_x_font,
    b"glXWaitGL" => drawable::wait_gl,
    b"glXWaitForMscOML" => extensions::wait_for_msc,
    b"glXWaitForSbcOML" => extensions::wait_for_sbc,
    b"glXWaitVideoSyncSGI" => extensions::wait_video_sync,
    b"glXWaitX" => drawable::wait_x,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entry points without which libGLX refuses a vendor (its static dispatch table).
    #[test]
    fn nothing_mandatory_is_missing() {
        for name in [
            "ChooseVisual",
            "CopyContext",
            "CreateContext",
            "CreateGLXPixmap",
            "DestroyContext",
            "DestroyGLXPixmap",
            "GetConfig",
            "IsDirect",
            "MakeCurrent",
            "SwapBuffers",
            "UseXFont",
            "WaitGL",
            "WaitX",
            "QueryServerString",
            "GetClientString",
            "QueryExtensionsString",
            "ChooseFBConfig",
            "CreateNewContext",
            "CreatePbuffer",
            "CreatePixmap",
            "CreateWindow",
            "DestroyPbuffer",
            "DestroyPixmap",
            "DestroyWindow",
            "GetFBConfigAttrib",
            "GetFBConfigs",
            "GetSelectedEvent",
            "GetVisualFromFBConfig",
            "MakeContextCurrent",
            "QueryContext",
            "QueryDrawable",
            "SelectEvent",
        ] {
            let name = format!("glX{name}");
            assert!(implementation(name.as_bytes()).is_some(), "{name}");
        }
    }

    #[test]
    fn extension_functions_have_stubs_and_core_functions_do_not() {
        for name in [
            "glXSwapIntervalEXT",
            "glXSwapIntervalSGI",
            "glXSwapIntervalMESA",
            "glXGetSwapIntervalMESA",
            "glXCreateContextAttribsARB",
        ] {
            assert!(dispatch::stub(name.as_bytes()).is_some(), "{name}");
            assert!(implementation(name.as_bytes()).is_some(), "{name}");
        }
        assert!(dispatch::stub(b"glXMakeCurrent").is_none());
        assert!(dispatch::stub(b"glBegin").is_none());
    }
}
