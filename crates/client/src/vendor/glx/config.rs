//! Configs and visuals: choosing and asking.

use super::abi::ConfigHandle;
use crate::config::glx::{attrib, choose, choose_visual as best, value, VisualRequest};
use crate::config::{assign_visuals, config_of_visual, fb_configs, FbConfig};
use crate::process::process;
use crate::session::session;
use crate::x11::xlib::{xlib, Display, XVisualInfo};
use std::collections::HashMap;
use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::Mutex;

/// Configs by screen number. Handed out as addresses, so they live as long as the process.
#[derive(Default)]
pub struct Screens {
    tables: Mutex<HashMap<c_int, &'static [FbConfig]>>,
}

impl Screens {
    /// The configs of `screen`; connects to the server. `None` without one, which the session has told the person by then.
    fn table(&self, screen: c_int) -> Option<&'static [FbConfig]> {
        let session = session()?;
        let mut tables = self.tables.lock().unwrap_or_else(|e| e.into_inner());
        Some(
            tables
                .entry(screen)
                .or_insert_with(|| Vec::leak(fb_configs(&session.formats, screen))),
        )
    }

    /// The config with this address.
    pub fn find(&self, handle: ConfigHandle) -> Option<&'static FbConfig> {
        let tables = self.tables.lock().unwrap_or_else(|e| e.into_inner());
        tables
            .values()
            .flat_map(|table| table.iter())
            .find(|config| std::ptr::eq(*config, handle as *const FbConfig))
    }
}

fn handle(config: &'static FbConfig) -> ConfigHandle {
    std::ptr::from_ref(config).cast_mut().cast()
}

/// A screen of one display: configs with the visuals they have there.
pub struct View {
    pub configs: &'static [FbConfig],
    pub visuals: Vec<Option<u32>>,
}

/// # Safety
/// `display` is an open Xlib display.
pub unsafe fn view(display: *mut Display, screen: c_int) -> Option<View> {
    let xlib = xlib()?;
    // SAFETY: the caller vouches for `display`.
    if screen < 0 || screen >= unsafe { (xlib.screen_count)(display) } {
        return None;
    }
    let configs = process().screens.table(screen)?;
    // SAFETY: as above.
    let visuals = assign_visuals(configs, &unsafe { xlib.visuals(display, screen) });
    Some(View { configs, visuals })
}

impl View {
    /// The config that windows of `visual` have.
    pub fn of_visual(&self, visual: u32) -> Option<&'static FbConfig> {
        config_of_visual(self.configs, &self.visuals, visual).map(|i| &self.configs[i])
    }

    fn visual_of(&self, config: &FbConfig) -> Option<u32> {
        let index = self.configs.iter().position(|c| c.id == config.id)?;
        self.visuals[index]
    }
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
        let Some(view) = view(display, screen) else {
            return list_of(&[], count);
        };
        let request = pairs(attributes, 0);
        let found = choose(view.configs, &view.visuals, &request).unwrap_or_default();
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
        let configs = view(display, screen).map_or(&[][..], |v| v.configs);
        let handles: Vec<_> = configs.iter().map(handle).collect();
        list_of(&handles, count)
    }
}

/// An array that the program frees with XFree, which is free.
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
    display: *mut Display,
    config: ConfigHandle,
    attribute: c_int,
    out: *mut c_int,
) -> c_int {
    const BAD_ATTRIBUTE: c_int = 2;
    const NO_EXTENSION: c_int = 3;
    let Some(config) = process().screens.find(config) else {
        return NO_EXTENSION;
    };
    // SAFETY: libGLX passes the program's display on.
    let visual = unsafe { view(display, config.screen) }.and_then(|v| v.visual_of(config));
    match value(config, visual.unwrap_or(0), attribute) {
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
    let (Some(config), Some(xlib)) = (process().screens.find(config), xlib()) else {
        return null_mut();
    };
    // SAFETY: libGLX passes the program's display on.
    unsafe {
        match view(display, config.screen).and_then(|v| v.visual_of(config)) {
            Some(visual) => xlib.visual_info(display, config.screen, visual),
            None => null_mut(),
        }
    }
}

pub unsafe extern "C" fn choose_visual(
    display: *mut Display,
    screen: c_int,
    attributes: *mut c_int,
) -> *mut XVisualInfo {
    let Some(xlib) = xlib() else {
        return null_mut();
    };
    let mut at = attributes.cast_const();
    let request = VisualRequest::parse(|| {
        if at.is_null() {
            return 0;
        }
        // SAFETY: the program's list goes on until its terminating 0, where parsing stops.
        unsafe {
            let word = at.read();
            at = at.add(1);
            word
        }
    });
    let Ok(request) = request else {
        return null_mut();
    };
    // SAFETY: libGLX passes the program's display on.
    unsafe {
        let Some(view) = view(display, screen) else {
            return null_mut();
        };
        match best(view.configs, &view.visuals, &request).and_then(|i| view.visuals[i]) {
            Some(visual) => xlib.visual_info(display, screen, visual),
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
    let config = view.of_visual(id);
    let found = match (attribute, config) {
        (attrib::USE_GL, config) => Some(config.is_some().into()),
        (attrib::RGBA, Some(_)) => Some(1),
        (_, None) => return BAD_VISUAL,
        (_, Some(config)) => value(config, id, attribute),
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
