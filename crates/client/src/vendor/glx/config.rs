//! Configs and visuals: choosing and querying.

use super::abi::ConfigHandle;
use crate::config::glx::{attrib, choose, choose_visual as best, Properties};
use crate::config::listed::{FbConfig, Screen};
use crate::link::begin::session;
use crate::x11::watch::watch;
use crate::x11::xlib::{xlib, Display, XVisualInfo};
use mgn_sys::fork::PerProcess;
use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::Mutex;

/// Configs by display and screen. Their addresses are the programs' handles, so they live as long
/// as the process.
#[derive(Default)]
pub struct Screens {
    known: Mutex<Vec<(String, &'static Screen)>>,
}

/// The screens of this process.
pub fn screens() -> &'static Screens {
    static SCREENS: PerProcess<Screens> = PerProcess::new();
    SCREENS.get()
}

impl Screens {
    /// A screen of the display with this name. Connects to the render server and to the X server.
    /// `None` if one of them is missing; the user has been told then.
    fn screen(&self, display: &str, number: c_int) -> Option<&'static Screen> {
        let session = session()?;
        let mut known = self.known.lock().unwrap_or_else(|e| e.into_inner());
        let same = |(name, screen): &&(String, &'static Screen)| {
            name == display && screen.number == number
        };
        if let Some((_, screen)) = known.iter().find(same) {
            return Some(screen);
        }
        let watch = watch(display)?;
        let (mut configs, mut visuals) = watch.glx_lists(number as u32);
        let dialect = session.dialect();
        configs.iter_mut().for_each(|c| c.adapt(dialect, false));
        visuals.iter_mut().for_each(|v| v.adapt(dialect, true));
        let told = Screen::told(number, &session.formats, &configs, &visuals);
        let screen = told.unwrap_or_else(|| {
            let root = watch.root_visual(number as usize);
            let mut visuals = watch.visuals(Some(number as usize));
            visuals.sort_by_key(|v| (v.id != root, v.id));
            Screen::made(number, &session.formats, &visuals)
        });
        let screen: &'static Screen = Box::leak(Box::new(screen));
        known.push((display.to_owned(), screen));
        Some(screen)
    }

    /// The config with this address.
    pub fn find(&self, handle: ConfigHandle) -> Option<&'static FbConfig> {
        let known = self.known.lock().unwrap_or_else(|e| e.into_inner());
        known.iter().find_map(|(_, screen)| {
            let start = screen.configs.as_ptr() as usize;
            let index = (handle as usize).checked_sub(start)? / size_of::<FbConfig>();
            let config = screen.configs.get(index)?;
            std::ptr::eq(config, handle as *const FbConfig).then_some(config)
        })
    }
}

fn handle(config: &'static FbConfig) -> ConfigHandle {
    std::ptr::from_ref(config).cast_mut().cast()
}

/// # Safety
/// `display` is an open Xlib display.
pub unsafe fn view(display: *mut Display, screen: c_int) -> Option<&'static Screen> {
    let xlib = xlib()?;
    // SAFETY: the caller vouches for `display`.
    unsafe {
        if screen < 0 || screen >= (xlib.screen_count)(display) {
            return None;
        }
        screens().screen(&xlib.name(display), screen)
    }
}

/// GLX_SGIX_fbconfig: the config of windows with a visual.
///
/// # Safety
/// `display` is an open Xlib display.
pub unsafe fn config_of_visual(display: *mut Display, screen: c_int, visual: u32) -> ConfigHandle {
    // SAFETY: the caller vouches for `display`.
    let view = unsafe { view(display, screen) };
    let config = view.and_then(|v| v.configs.iter().find(|c| c.visual == visual));
    config.map_or(null_mut(), handle)
}

fn properties(list: &[FbConfig]) -> Vec<Properties> {
    list.iter().map(|c| c.properties).collect()
}

/// The words of a zero-terminated list of pairs; a null list is an empty one.
///
/// # Safety
/// `list` is null or such a list.
pub unsafe fn pairs(list: *const c_int, end: c_int) -> Vec<(c_int, c_int)> {
    let mut pairs = Vec::new();
    if list.is_null() {
        return pairs;
    }
    let mut at = list;
    loop {
        // SAFETY: inside the list, which the terminator ends.
        let name = unsafe { at.read() };
        if name == end {
            return pairs;
        }
        // SAFETY: a name that is no terminator has a value behind it.
        unsafe {
            pairs.push((name, at.add(1).read()));
            at = at.add(2);
        }
    }
}

pub unsafe extern "C" fn choose_fb_config(
    display: *mut Display,
    screen: c_int,
    attributes: *const c_int,
    count: *mut c_int,
) -> *mut ConfigHandle {
    // SAFETY: libGLX passes the program's display, list and counter on.
    unsafe {
        if attributes.is_null() {
            return get_fb_configs(display, screen, count);
        }
        let Some(view) = view(display, screen) else {
            return list_of(&[], count);
        };
        let found = choose(&properties(&view.configs), &pairs(attributes, 0));
        let handles: Vec<_> = found.iter().map(|i| handle(&view.configs[*i])).collect();
        list_of(&handles, count)
    }
}

pub unsafe extern "C" fn get_fb_configs(
    display: *mut Display,
    screen: c_int,
    count: *mut c_int,
) -> *mut ConfigHandle {
    // SAFETY: libGLX passes the program's display and counter on.
    unsafe {
        let configs = view(display, screen).map_or(&[][..], |v| &v.configs);
        let handles: Vec<_> = configs.iter().map(handle).collect();
        list_of(&handles, count)
    }
}

/// An array that the program frees with XFree, which calls `free`.
unsafe fn list_of(handles: &[ConfigHandle], count: *mut c_int) -> *mut ConfigHandle {
    if !count.is_null() {
        // SAFETY: the program's counter.
        unsafe { count.write(handles.len() as c_int) };
    }
    if handles.is_empty() {
        return null_mut();
    }
    // SAFETY: plain allocation; its size cannot be zero here.
    let list = unsafe { libc::malloc(std::mem::size_of_val(handles)) }.cast::<ConfigHandle>();
    if !list.is_null() {
        // SAFETY: `list` has room for all handles.
        unsafe { list.copy_from_nonoverlapping(handles.as_ptr(), handles.len()) };
    }
    list
}

pub unsafe extern "C" fn get_fb_config_attrib(
    _display: *mut Display,
    config: ConfigHandle,
    attribute: c_int,
    out: *mut c_int,
) -> c_int {
    const BAD_ATTRIBUTE: c_int = 2;
    const BAD_FB_CONFIG: c_int = 9;
    let Some(config) = screens().find(config) else {
        return BAD_FB_CONFIG;
    };
    match config.properties.value(attribute) {
        Some(value) if !out.is_null() => {
            // SAFETY: the program's integer.
            unsafe { out.write(value) };
            0
        }
        _ => BAD_ATTRIBUTE,
    }
}

pub unsafe extern "C" fn get_visual_from_fb_config(
    display: *mut Display,
    config: ConfigHandle,
) -> *mut XVisualInfo {
    let (Some(config), Some(xlib)) = (screens().find(config), xlib()) else {
        return null_mut();
    };
    // SAFETY: libGLX passes the program's display on.
    unsafe { xlib.visual_info(display, config.screen, config.visual) }
}

pub unsafe extern "C" fn choose_visual(
    display: *mut Display,
    screen: c_int,
    attributes: *mut c_int,
) -> *mut XVisualInfo {
    // SAFETY: libGLX passes the program's display and list on.
    unsafe {
        let (Some(xlib), Some(view)) = (xlib(), view(display, screen)) else {
            return null_mut();
        };
        let mut at = attributes.cast_const();
        let chosen = best(&properties(&view.visuals), || {
            if at.is_null() {
                return 0;
            }
            // The list goes on until its terminating 0, where reading stops.
            let word = at.read();
            at = at.add(1);
            word
        });
        match chosen {
            Some(i) => xlib.visual_info(display, screen, view.visuals[i].visual),
            None => null_mut(),
        }
    }
}

pub unsafe extern "C" fn get_config(
    display: *mut Display,
    visual: *mut XVisualInfo,
    attribute: c_int,
    out: *mut c_int,
) -> c_int {
    const BAD_SCREEN: c_int = 1;
    const BAD_ATTRIBUTE: c_int = 2;
    const BAD_VISUAL: c_int = 4;
    if visual.is_null() || out.is_null() {
        return BAD_VISUAL;
    }
    // SAFETY: the program's visual info and display, passed on by libGLX.
    let (id, view) = unsafe {
        let info = visual.read();
        (info.visualid as u32, view(display, info.screen))
    };
    let Some(view) = view else {
        return BAD_SCREEN;
    };
    let found = match view.of_visual(id) {
        Some(config) => config.properties.value(attribute),
        None if attribute == attrib::USE_GL => Some(0),
        None => return BAD_VISUAL,
    };
    match found {
        Some(value) => {
            // SAFETY: the program's integer.
            unsafe { out.write(value) };
            0
        }
        None => BAD_ATTRIBUTE,
    }
}
