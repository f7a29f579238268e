//! The only EGL device: the one of the render server.

use super::abi::{Attrib, EglBoolean, Handle};
use super::display::with_display;
use super::error::{call, EglError};
use crate::link::begin::session;
use std::ffi::{c_char, c_int};

static DEVICE: u8 = 0;

/// The programs' handle of the device.
pub fn handle() -> Handle {
    (&raw const DEVICE).cast_mut().cast()
}

fn known(device: Handle) -> Result<(), EglError> {
    match device == handle() {
        true => Ok(()),
        false => Err(EglError::BadDevice),
    }
}

pub unsafe extern "C" fn query_devices(
    most: c_int,
    devices: *mut Handle,
    count: *mut c_int,
) -> EglBoolean {
    call(0, || {
        if count.is_null() || (!devices.is_null() && most <= 0) {
            return Err(EglError::BadParameter);
        }
        // SAFETY: the program's array of `most` devices, and its counter.
        unsafe {
            if !devices.is_null() {
                devices.write(handle());
            }
            count.write(1);
        }
        Ok(1)
    })
}

pub unsafe extern "C" fn query_device_string(device: Handle, name: c_int) -> *const c_char {
    const EXTENSIONS: c_int = 0x3055;
    call(std::ptr::null(), || {
        known(device)?;
        match name {
            EXTENSIONS => Ok(match session().is_none_or(|s| s.info.is_software) {
                true => c"EGL_MESA_device_software".as_ptr(),
                false => c"".as_ptr(),
            }),
            _ => Err(EglError::BadParameter),
        }
    })
}

/// The device has no attributes.
pub unsafe extern "C" fn query_device_attrib(
    device: Handle,
    _name: c_int,
    _out: *mut Attrib,
) -> EglBoolean {
    call(0, || {
        known(device)?;
        Err(EglError::BadAttribute)
    })
}

pub unsafe extern "C" fn query_display_attrib(
    display: Handle,
    name: c_int,
    out: *mut Attrib,
) -> EglBoolean {
    const DEVICE_EXT: c_int = 0x322C;
    call(0, || {
        with_display(display, |_| Ok(()))?;
        if name != DEVICE_EXT {
            return Err(EglError::BadAttribute);
        }
        if out.is_null() {
            return Err(EglError::BadParameter);
        }
        // SAFETY: the program's integer.
        unsafe { out.write(handle() as Attrib) };
        Ok(1)
    })
}
