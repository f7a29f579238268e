//! Configs: choosing and asking.

use super::abi::{EglBoolean, Handle};
use super::dispatch::pairs;
use super::display::with_display;
use super::error::{call, EglError};
use crate::config::egl::{choose, value, Config, Extensions};
use std::ffi::c_int;

pub unsafe extern "C" fn choose_config(
    display: Handle,
    attributes: *const c_int,
    out: *mut Handle,
    size: c_int,
    count: *mut c_int,
) -> EglBoolean {
    call(0, || {
        with_display(display, |open| {
            // SAFETY: the program's list, passed on by libEGL.
            let request: Vec<_> = unsafe { pairs(attributes) }
                .into_iter()
                .map(|(name, value)| (name, value as c_int))
                .collect();
            let extensions = Extensions::of(&open.session.info.egl_extensions);
            let found =
                choose(open.configs, extensions, &request).map_err(|_| EglError::BadAttribute)?;
            let handles = found.into_iter().map(|i| &open.configs[i]);
            // SAFETY: the program's array and counter.
            unsafe { give(handles.collect(), out, size, count) }
        })
    })
}

pub unsafe extern "C" fn get_configs(
    display: Handle,
    out: *mut Handle,
    size: c_int,
    count: *mut c_int,
) -> EglBoolean {
    call(0, || {
        with_display(display, |open| {
            // SAFETY: the program's array and counter.
            unsafe { give(open.configs.iter().collect(), out, size, count) }
        })
    })
}

unsafe fn give(
    configs: Vec<&'static Config>,
    out: *mut Handle,
    size: c_int,
    count: *mut c_int,
) -> Result<EglBoolean, EglError> {
    if count.is_null() {
        return Err(EglError::BadParameter);
    }
    let mut given = configs.len();
    if !out.is_null() {
        given = given.min(size.max(0) as usize);
        for (n, config) in configs[..given].iter().enumerate() {
            // SAFETY: the program's array holds `size` handles.
            unsafe {
                out.add(n)
                    .write(std::ptr::from_ref(*config).cast_mut().cast())
            };
        }
    }
    // SAFETY: the program's counter.
    unsafe { count.write(given as c_int) };
    Ok(1)
}

pub unsafe extern "C" fn get_config_attrib(
    display: Handle,
    config: Handle,
    attribute: c_int,
    out: *mut c_int,
) -> EglBoolean {
    call(0, || {
        with_display(display, |open| {
            let value = value(open.config(config)?, attribute).ok_or(EglError::BadAttribute)?;
            if out.is_null() {
                return Err(EglError::BadParameter);
            }
            // SAFETY: the program's integer.
            unsafe { out.write(value) };
            Ok(1)
        })
    })
}
