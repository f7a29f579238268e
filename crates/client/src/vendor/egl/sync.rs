//! Fence syncs, and images, of which there are none.
//!
//! A fence is waited for when it is created: then it needs nothing further, whichever thread asks.

use super::abi::{Attrib, EglBoolean, Handle};
use super::dispatch::{pairs, wide_pairs};
use super::display::with_display;
use super::error::{call, EglError};
use crate::idle::current;
use std::ffi::{c_int, c_uint};
use std::ptr::null_mut;

const SYNC_FENCE: c_uint = 0x30F9;
const SYNC_STATUS: c_int = 0x30F1;
const SIGNALED: c_int = 0x30F2;
const SYNC_TYPE: c_int = 0x30F7;
const SYNC_CONDITION: c_int = 0x30F8;
const PRIOR_COMMANDS_COMPLETE: c_int = 0x30F0;
const CONDITION_SATISFIED: c_int = 0x30F6;

pub unsafe extern "C" fn create_sync(
    display: Handle,
    kind: c_uint,
    attributes: *const Attrib,
) -> Handle {
    // SAFETY: the program's list, passed on by libEGL.
    create(display, kind, unsafe { wide_pairs(attributes) }.is_empty())
}

pub unsafe extern "C" fn create_sync_khr(
    display: Handle,
    kind: c_uint,
    attributes: *const c_int,
) -> Handle {
    // SAFETY: the program's list, passed on by libEGL.
    create(display, kind, unsafe { pairs(attributes) }.is_empty())
}

fn create(display: Handle, kind: c_uint, no_attributes: bool) -> Handle {
    call(null_mut(), || {
        with_display(display, |_| Ok(()))?;
        if kind != SYNC_FENCE || !no_attributes {
            return Err(EglError::BadAttribute);
        }
        current().ok_or(EglError::BadMatch)?.finish();
        with_display(display, |open| {
            let sync = open.next_sync;
            open.next_sync += 1;
            open.syncs.insert(sync);
            Ok(sync as Handle)
        })
    })
}

fn known(display: Handle, sync: Handle) -> Result<(), EglError> {
    with_display(display, |open| {
        match open.syncs.contains(&(sync as usize)) {
            true => Ok(()),
            false => Err(EglError::BadParameter),
        }
    })
}

pub unsafe extern "C" fn destroy_sync(display: Handle, sync: Handle) -> EglBoolean {
    call(0, || {
        known(display, sync)?;
        with_display(display, |open| {
            open.syncs.remove(&(sync as usize));
            Ok(1)
        })
    })
}

pub unsafe extern "C" fn client_wait_sync(
    display: Handle,
    sync: Handle,
    _flags: c_int,
    _timeout: u64,
) -> c_int {
    call(0, || known(display, sync).map(|()| CONDITION_SATISFIED))
}

pub unsafe extern "C" fn wait_sync(display: Handle, sync: Handle, flags: c_int) -> EglBoolean {
    call(0, || {
        known(display, sync)?;
        match flags {
            0 => Ok(1),
            _ => Err(EglError::BadParameter),
        }
    })
}

pub unsafe extern "C" fn wait_sync_khr(display: Handle, sync: Handle, flags: c_int) -> c_int {
    // SAFETY: the same function, but for the type of what it returns.
    unsafe { wait_sync(display, sync, flags) as c_int }
}

pub unsafe extern "C" fn get_sync_attrib(
    display: Handle,
    sync: Handle,
    attribute: c_int,
    out: *mut Attrib,
) -> EglBoolean {
    call(0, || {
        let value = attribute_of(display, sync, attribute)?;
        if out.is_null() {
            return Err(EglError::BadParameter);
        }
        // SAFETY: the program's integer.
        unsafe { out.write(value as Attrib) };
        Ok(1)
    })
}

pub unsafe extern "C" fn get_sync_attrib_khr(
    display: Handle,
    sync: Handle,
    attribute: c_int,
    out: *mut c_int,
) -> EglBoolean {
    call(0, || {
        let value = attribute_of(display, sync, attribute)?;
        if out.is_null() {
            return Err(EglError::BadParameter);
        }
        // SAFETY: the program's integer.
        unsafe { out.write(value) };
        Ok(1)
    })
}

fn attribute_of(display: Handle, sync: Handle, attribute: c_int) -> Result<c_int, EglError> {
    known(display, sync)?;
    Ok(match attribute {
        SYNC_TYPE => SYNC_FENCE as c_int,
        SYNC_STATUS => SIGNALED,
        SYNC_CONDITION => PRIOR_COMMANDS_COMPLETE,
        _ => return Err(EglError::BadAttribute),
    })
}

pub unsafe extern "C" fn create_image(
    display: Handle,
    _context: Handle,
    _target: c_uint,
    _buffer: Handle,
    _attributes: *const Attrib,
) -> Handle {
    call(null_mut(), || {
        with_display(display, |_| Err(EglError::BadParameter))
    })
}

pub unsafe extern "C" fn destroy_image(display: Handle, _image: Handle) -> EglBoolean {
    call(0, || with_display(display, |_| Err(EglError::BadParameter)))
}
