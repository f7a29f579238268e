//! Contexts: creating, destroying, making current.

use super::abi::{ConfigHandle, ContextHandle};
use super::config::screens;
use super::config::{pairs, view};
use super::drawable;
use crate::config::glx::{Dialect, DONT_CARE};
use crate::config::listed::FbConfig;
use crate::context::{flag, Context, Refused, Request};
use crate::contexts::contexts;
use crate::link::begin::session;
use crate::x11::error::{raise, request, GlxError};
use crate::x11::xlib::{Display, XVisualInfo, Xid};
use mgn_wire::hello::api;
use std::ffi::{c_int, c_ulong};
use std::ptr::null_mut;

const RGBA_TYPE: c_int = 0x8014;
const COLOR_INDEX_TYPE: c_int = 0x8015;
const RGBA_FLOAT_TYPE: c_int = 0x20B9;
const RGBA_UNSIGNED_FLOAT_TYPE: c_int = 0x20B1;
/// GLX_SCREEN.
pub const SCREEN: c_int = 0x800C;

pub unsafe extern "C" fn create_context(
    display: *mut Display,
    visual: *mut XVisualInfo,
    share: ContextHandle,
    _direct: c_int,
) -> ContextHandle {
    let minor = request::CREATE_CONTEXT;
    if visual.is_null() || session().is_none() {
        return null_mut();
    }
    // SAFETY: the program's display and visual info, passed on by libGLX.
    unsafe {
        let info = visual.read();
        let config = view(display, info.screen).and_then(|v| v.of_visual(info.visualid as u32));
        let Some(config) = config else {
            raise(display, GlxError::Value, info.visualid as u32, minor);
            return null_mut();
        };
        create(display, of_version(Some(config), 1, 0), share, minor)
    }
}

pub unsafe extern "C" fn create_new_context(
    display: *mut Display,
    config: ConfigHandle,
    render_type: c_int,
    share: ContextHandle,
    _direct: c_int,
) -> ContextHandle {
    let minor = request::CREATE_NEW_CONTEXT;
    // SAFETY: the program's display, passed on by libGLX.
    unsafe {
        let Some(config) = screens().find(config) else {
            raise(display, GlxError::BadFbConfig, 0, minor);
            return null_mut();
        };
        if render_type != type_of(config) {
            raise(display, GlxError::Value, 0, minor);
            return null_mut();
        }
        create(display, of_version(Some(config), 1, 0), share, minor)
    }
}

pub unsafe extern "C" fn create_context_attribs(
    display: *mut Display,
    config: ConfigHandle,
    share: ContextHandle,
    _direct: c_int,
    attributes: *const c_int,
) -> ContextHandle {
    let minor = request::CREATE_CONTEXT_ATTRIBS;
    let Some(session) = session() else {
        return null_mut();
    };
    // SAFETY: the program's display and list, passed on by libGLX.
    unsafe {
        let found = screens().find(config);
        if found.is_none() && !config.is_null() {
            raise(display, GlxError::BadFbConfig, 0, minor);
            return null_mut();
        }
        match requested(found, session.dialect(), &pairs(attributes, 0)) {
            Ok(request) => create(display, request, share, minor),
            Err(error) => {
                raise(display, error, 0, minor);
                null_mut()
            }
        }
    }
}

/// The only GLX_RENDER_TYPE of contexts for `config`.
fn type_of(config: &FbConfig) -> c_int {
    match config.format.color.is_float() {
        true => RGBA_FLOAT_TYPE,
        false => RGBA_TYPE,
    }
}

fn of_version(config: Option<&FbConfig>, major: u32, minor: u32) -> Request {
    Request {
        api: api::COMPAT,
        major,
        minor,
        flags: 0,
        format: config.map(|c| c.format),
        config_id: config.map_or(0, |c| c.id),
        screen: config.map_or(-1, |c| c.screen),
        visual: config.map_or(0, |c| c.visual),
        shared_with: 0,
    }
}

/// Reads the attributes of GLX_ARB_create_context and related extensions. A `config` of `None` asks
/// for a context without a config, for the screen in the list.
fn requested(
    config: Option<&FbConfig>,
    dialect: Dialect,
    attributes: &[(c_int, c_int)],
) -> Result<Request, GlxError> {
    const MAJOR_VERSION: c_int = 0x2091;
    const MINOR_VERSION: c_int = 0x2092;
    const FLAGS: c_int = 0x2094;
    const RELEASE_BEHAVIOR: c_int = 0x2097;
    const RELEASE_FLUSH: c_int = 0x2098;
    const NO_ERROR: c_int = 0x31B3;
    const RESET_STRATEGY: c_int = 0x8256;
    const NO_RESET_NOTIFICATION: c_int = 0x8261;
    const LOSE_CONTEXT_ON_RESET: c_int = 0x8252;
    const RENDER_TYPE: c_int = 0x8011;
    const PROFILE_MASK: c_int = 0x9126;
    const DEBUG: u32 = 1;
    const FORWARD_COMPATIBLE: u32 = 2;
    let mut request = of_version(config, 1, 0);
    let mut profile = 1;
    let mut render_type = None;
    for (name, value) in attributes {
        match *name {
            MAJOR_VERSION => request.major = *value as u32,
            MINOR_VERSION => request.minor = *value as u32,
            FLAGS if *value & !7 == 0 => {
                request.flags = request.flags & !7 | *value as u32;
            }
            RENDER_TYPE => render_type = Some(*value),
            PROFILE_MASK => profile = *value,
            SCREEN if config.is_none() => request.screen = *value,
            RELEASE_BEHAVIOR if *value == 0 => request.flags |= flag::NO_FLUSH,
            RELEASE_BEHAVIOR if *value == RELEASE_FLUSH => request.flags &= !flag::NO_FLUSH,
            RESET_STRATEGY if *value == NO_RESET_NOTIFICATION => request.flags &= !flag::LOSES,
            RESET_STRATEGY if *value == LOSE_CONTEXT_ON_RESET => request.flags |= flag::LOSES,
            NO_ERROR if *value == 0 => request.flags &= !flag::NO_ERROR,
            NO_ERROR => request.flags |= flag::NO_ERROR,
            _ => return Err(GlxError::Value),
        }
    }
    if config.is_none() && request.screen < 0 {
        return Err(GlxError::Value);
    }
    if request.flags & flag::NO_ERROR != 0 && request.flags & DEBUG != 0 {
        return Err(impossible(dialect));
    }
    let version = (request.major, request.minor);
    let forward = request.flags & FORWARD_COMPATIBLE != 0;
    let is_es = profile == 4;
    let unknown =
        matches!(version, (1, 6..) | (2, 2..) | (3, 4..)) || !(1..100).contains(&version.0);
    if (unknown && !is_es) || (forward && version < (3, 0)) {
        return Err(GlxError::Match);
    }
    match render_type {
        None | Some(RGBA_TYPE | RGBA_FLOAT_TYPE | RGBA_UNSIGNED_FLOAT_TYPE) => {}
        Some(COLOR_INDEX_TYPE) if version < (3, 0) => {}
        Some(COLOR_INDEX_TYPE) => return Err(GlxError::Match),
        Some(_) => return Err(GlxError::Value),
    }
    request.api = match profile {
        1 | 2 => {
            // Profiles begin with 3.2. Every forward-compatible context has what became the core
            // profile.
            match forward || (version >= (3, 2) && profile == 1) {
                true => api::CORE,
                false => api::COMPAT,
            }
        }
        4 => {
            if forward {
                return Err(GlxError::BadFbConfig);
            }
            match version {
                (1, 0..=1) => api::ES1,
                (2, 0) | (3, 0..=2) => api::ES,
                _ if dialect.refuses_as_specified() => return Err(GlxError::BadProfile),
                _ => return Err(impossible(dialect)),
            }
        }
        _ => return Err(GlxError::BadProfile),
    };
    let fits = render_type.is_none_or(|asked| config.map(type_of) == Some(asked));
    if !fits {
        // In this case drivers try an indirect context, which the X server refuses because of the
        // render type. There are no indirect contexts above version 1.4.
        let indirect = matches!(request.api, api::COMPAT | api::CORE) && version <= (1, 4);
        return Err(match indirect {
            true => GlxError::Value,
            false => GlxError::BadFbConfig,
        });
    }
    Ok(request)
}

/// The error if the driver cannot create a context.
fn impossible(dialect: Dialect) -> GlxError {
    match dialect.refuses_as_specified() {
        true => GlxError::Match,
        false => GlxError::BadFbConfig,
    }
}

unsafe fn create(
    display: *mut Display,
    request: Request,
    share: ContextHandle,
    minor: u8,
) -> ContextHandle {
    let Some(session) = session() else {
        return null_mut();
    };
    let share = (!share.is_null()).then_some(share.cast());
    let shared_with = share.and_then(|s| contexts().id(s)).unwrap_or(0);
    let request = Request {
        shared_with,
        ..request
    };
    // All contexts of a share group are lost together or none, and all have errors or none.
    let with = share.and_then(|s| contexts().request(s));
    let differs = |flag| with.is_some_and(|with| with.has(flag) != request.has(flag));
    if differs(flag::LOSES) {
        // SAFETY: the program's display.
        unsafe { raise(display, GlxError::Match, 0, minor) };
        return null_mut();
    }
    let made = match differs(flag::NO_ERROR) {
        true => Err(Refused::Server("contexts with and without errors".into())),
        false => contexts().create(session, request, share),
    };
    match made {
        Ok(context) => context.cast(),
        Err(refused) => {
            let error = match refused {
                Refused::BadContext => GlxError::BadContext,
                Refused::Server(_) | Refused::NoApi if minor == request::CREATE_CONTEXT_ATTRIBS => {
                    impossible(session.dialect())
                }
                Refused::Server(_) | Refused::NoApi => GlxError::Alloc,
                Refused::NoSession | Refused::Access => return null_mut(),
            };
            // SAFETY: the program's display.
            unsafe { raise(display, error, 0, minor) };
            null_mut()
        }
    }
}

pub unsafe extern "C" fn destroy_context(display: *mut Display, context: ContextHandle) {
    let (contexts, handle) = (contexts(), context.cast());
    // A context that is destroyed but still current may be destroyed again. It is freed when it is
    // released.
    if contexts.destroy(handle).is_err() && contexts.current_request(handle).is_none() {
        // SAFETY: the program's display, passed on by libGLX.
        unsafe { raise(display, GlxError::BadContext, 0, request::DESTROY_CONTEXT) };
    }
}

pub unsafe extern "C" fn make_current(
    display: *mut Display,
    drawable: Xid,
    context: ContextHandle,
) -> c_int {
    // SAFETY: as libGLX passes them on.
    unsafe {
        bind(
            display,
            drawable as u32,
            drawable as u32,
            context,
            request::MAKE_CURRENT,
        )
    }
}

pub unsafe extern "C" fn make_context_current(
    display: *mut Display,
    draw: Xid,
    read: Xid,
    context: ContextHandle,
) -> c_int {
    let minor = request::MAKE_CONTEXT_CURRENT;
    // SAFETY: as libGLX passes them on.
    unsafe { bind(display, draw as u32, read as u32, context, minor) }
}

unsafe fn bind(
    display: *mut Display,
    draw: u32,
    read: u32,
    context: ContextHandle,
    minor: u8,
) -> c_int {
    let handle: *mut Context = context.cast();
    let contexts = contexts();
    // SAFETY: the program's display, which may be null only when the context is.
    unsafe {
        if handle.is_null() {
            let released = contexts.make_current(null_mut(), null_mut(), None, None);
            return released.is_ok().into();
        }
        let Some(request) = contexts.current_request(handle) else {
            raise(display, GlxError::BadContext, 0, minor);
            return 0;
        };
        if (draw == 0) != (read == 0) {
            raise(display, GlxError::Match, 0, minor);
            return 0;
        }
        let (mut to, mut from) = (None, None);
        if draw != 0 {
            to = drawable::for_context(display, draw, &request);
            if to.is_none() {
                raise(display, GlxError::BadDrawable, draw, minor);
                return 0;
            }
            from = if read == draw {
                to.clone()
            } else {
                drawable::for_context(display, read, &request)
            };
            if from.is_none() {
                raise(display, GlxError::BadDrawable, read, minor);
                return 0;
            }
        }
        match contexts.make_current(handle, display, to, from) {
            Ok(()) => 1,
            Err(refused) => {
                let error = match refused {
                    Refused::Access => GlxError::Access,
                    _ => GlxError::BadContext,
                };
                raise(display, error, 0, minor);
                0
            }
        }
    }
}

/// As far as a program can tell, rendering is direct.
pub unsafe extern "C" fn is_direct(_display: *mut Display, context: ContextHandle) -> c_int {
    contexts().current_request(context.cast()).is_some().into()
}

/// Attribute groups cannot be copied between contexts. No direct context supports that.
pub unsafe extern "C" fn copy_context(
    display: *mut Display,
    _source: ContextHandle,
    _destination: ContextHandle,
    _mask: c_ulong,
) {
    // SAFETY: the program's display, passed on by libGLX.
    unsafe { raise(display, GlxError::Match, 0, request::COPY_CONTEXT) };
}

pub unsafe extern "C" fn query_context(
    display: *mut Display,
    context: ContextHandle,
    attribute: c_int,
    out: *mut c_int,
) -> c_int {
    const BAD_ATTRIBUTE: c_int = 2;
    const BAD_CONTEXT: c_int = 5;
    const SHARE_CONTEXT: c_int = 0x800A;
    const VISUAL_ID: c_int = 0x800B;
    const RENDER_TYPE: c_int = 0x8011;
    const FBCONFIG_ID: c_int = 0x8013;
    let Some(request) = contexts().current_request(context.cast()) else {
        // SAFETY: the program's display, passed on by libGLX.
        unsafe { raise(display, GlxError::BadContext, 0, request::VENDOR_PRIVATE) };
        return BAD_CONTEXT;
    };
    let value = match attribute {
        FBCONFIG_ID => request.config_id as c_int,
        RENDER_TYPE if request.format.is_none() => DONT_CARE,
        RENDER_TYPE => RGBA_TYPE,
        SCREEN => request.screen,
        SHARE_CONTEXT => request.shared_with as c_int,
        VISUAL_ID => request.visual as c_int,
        _ => return BAD_ATTRIBUTE,
    };
    if !out.is_null() {
        // SAFETY: the program's integer.
        unsafe { out.write(value) };
    }
    0
}

/// Contexts of other processes cannot be imported, because all are direct.
pub unsafe extern "C" fn import_context(_display: *mut Display, _id: Xid) -> ContextHandle {
    null_mut()
}

pub unsafe extern "C" fn free_context(_display: *mut Display, _context: ContextHandle) {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{listed::Screen, tests::formats};

    type Asked = Result<(u32, u32, u32, u32), GlxError>;

    fn ask_of(release: [u32; 3], attributes: &[(c_int, c_int)]) -> Asked {
        let screen = Screen::made(0, &formats(), &[]);
        let (config, dialect) = (&screen.configs[0], Dialect::of(release));
        let request = requested(Some(config), dialect, attributes)?;
        Ok((request.api, request.major, request.minor, request.flags))
    }

    fn ask(attributes: &[(c_int, c_int)]) -> Asked {
        ask_of([22, 3, 6], attributes)
    }

    #[test]
    fn profiles_follow_version_and_mask() {
        assert_eq!(ask(&[]), Ok((api::COMPAT, 1, 0, 0)));
        assert_eq!(ask(&[(0x2091, 3), (0x2092, 3)]), Ok((api::CORE, 3, 3, 0)));
        assert_eq!(ask(&[(0x2091, 3)]), Ok((api::COMPAT, 3, 0, 0)));
        assert_eq!(
            ask(&[(0x2091, 4), (0x2092, 5), (0x9126, 2)]),
            Ok((api::COMPAT, 4, 5, 0))
        );
        assert_eq!(ask(&[(0x2091, 2), (0x9126, 4)]), Ok((api::ES, 2, 0, 0)));
        assert_eq!(
            ask(&[(0x2091, 1), (0x2092, 1), (0x9126, 4)]),
            Ok((api::ES1, 1, 1, 0))
        );
        assert_eq!(
            ask(&[(0x2091, 3), (0x2092, 1), (0x2094, 3)]),
            Ok((api::CORE, 3, 1, 3))
        );
        assert_eq!(
            ask(&[(0x2091, 3), (0x2092, 0), (0x2094, 2)]),
            Ok((api::CORE, 3, 0, 2))
        );
    }

    #[test]
    fn what_is_not_there_is_refused_as_the_extension_says() {
        assert_eq!(ask(&[(0x2091, 3), (0x2092, 9)]), Err(GlxError::Match));
        assert_eq!(ask(&[(0x2091, 2), (0x2094, 2)]), Err(GlxError::Match));
        assert_eq!(
            ask(&[(0x2091, 3), (0x2092, 2), (0x9126, 3)]),
            Err(GlxError::BadProfile)
        );
        assert_eq!(ask(&[(0x2091, 5), (0x9126, 4)]), Err(GlxError::BadFbConfig));
        assert_eq!(
            ask(&[(0x2091, 3), (0x2094, 2), (0x9126, 4)]),
            Err(GlxError::BadFbConfig)
        );
        assert_eq!(ask(&[(0x1234, 1)]), Err(GlxError::Value));
        assert_eq!(ask(&[(0x8256, 0x8261)]), Ok((api::COMPAT, 1, 0, 0)));
        assert_eq!(
            ask(&[(0x8256, 0x8252)]),
            Ok((api::COMPAT, 1, 0, flag::LOSES))
        );
        assert_eq!(ask(&[(0x8256, 1)]), Err(GlxError::Value));
        assert_eq!(ask(&[(0x2094, 0x80)]), Err(GlxError::Value));
    }

    #[test]
    fn render_types_have_to_be_that_of_the_config() {
        let of = |major, minor, kind| ask(&[(0x2091, major), (0x2092, minor), (0x8011, kind)]);
        assert!(of(3, 0, RGBA_TYPE).is_ok());
        assert_eq!(of(3, 0, COLOR_INDEX_TYPE), Err(GlxError::Match));
        assert_eq!(of(2, 1, COLOR_INDEX_TYPE), Err(GlxError::BadFbConfig));
        assert_eq!(of(1, 4, COLOR_INDEX_TYPE), Err(GlxError::Value));
        assert_eq!(of(3, 2, RGBA_FLOAT_TYPE), Err(GlxError::BadFbConfig));
        assert_eq!(of(3, 2, 0x8016), Err(GlxError::Value));
        assert_eq!(of(2, 2, 0x8016), Err(GlxError::Match));
    }

    #[test]
    fn newer_releases_have_other_errors() {
        const NEWER: [u32; 3] = [25, 0, 7];
        let embedded = [(0x2091, 5), (0x9126, 4)];
        assert_eq!(ask_of(NEWER, &embedded), Err(GlxError::BadProfile));
        let silent_debug = [(0x31B3, 1), (0x2094, 1)];
        assert_eq!(ask(&silent_debug), Err(GlxError::BadFbConfig));
        assert_eq!(ask_of(NEWER, &silent_debug), Err(GlxError::Match));
    }
}
