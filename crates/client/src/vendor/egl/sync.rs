//! Fence and reusable syncs.
//!
//! The client waits for a fence when it is created, so that later queries by any thread need no
//! further work.

use super::abi::{Attrib, EglBoolean, Handle};
use super::dispatch::{pairs, wide_pairs};
use super::display::with_display;
use super::error::{call, EglError};
use crate::current::{has_current, with_current};
use std::ffi::{c_int, c_uint};
use std::ptr::null_mut;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

const SYNC_FENCE: c_uint = 0x30F9;
const SYNC_REUSABLE: c_uint = 0x30FA;
const SYNC_CL_EVENT: c_uint = 0x30FE;
const SYNC_NATIVE_FENCE: c_uint = 0x3144;
const SYNC_STATUS: c_int = 0x30F1;
const SIGNALED: c_int = 0x30F2;
const UNSIGNALED: c_int = 0x30F3;
const TIMEOUT_EXPIRED: c_int = 0x30F5;
const CONDITION_SATISFIED: c_int = 0x30F6;
const SYNC_TYPE: c_int = 0x30F7;
const SYNC_CONDITION: c_int = 0x30F8;
const PRIOR_COMMANDS_COMPLETE: c_int = 0x30F0;

/// A sync of a display.
#[derive(Clone)]
pub struct Sync {
    kind: c_uint,
    /// For a reusable sync: its last signal, and the threads that wait for it.
    signal: Arc<(Mutex<bool>, Condvar)>,
}

impl Sync {
    fn is_signaled(&self) -> bool {
        *self.signal.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Waits until it is signaled, at most for `timeout` nanoseconds. Returns whether it is.
    fn wait(&self, timeout: u64) -> bool {
        let (signaled, changed) = &*self.signal;
        let signaled = signaled.lock().unwrap_or_else(|e| e.into_inner());
        match timeout {
            u64::MAX => {
                let waited = changed.wait_while(signaled, |s| !*s);
                *waited.unwrap_or_else(|e| e.into_inner())
            }
            _ => {
                let timeout = Duration::from_nanos(timeout);
                let waited = changed.wait_timeout_while(signaled, timeout, |s| !*s);
                *waited.unwrap_or_else(|e| e.into_inner()).0
            }
        }
    }

    fn signal(&self, on: bool) {
        *self.signal.0.lock().unwrap_or_else(|e| e.into_inner()) = on;
        self.signal.1.notify_all();
    }
}

pub unsafe extern "C" fn create_sync(
    display: Handle,
    kind: c_uint,
    attributes: *const Attrib,
) -> Handle {
    // SAFETY: the program's list, passed on by libEGL.
    let no_attributes = unsafe { wide_pairs(attributes) }.is_empty();
    create(display, kind, no_attributes, EglError::BadParameter)
}

pub unsafe extern "C" fn create_sync_khr(
    display: Handle,
    kind: c_uint,
    attributes: *const c_int,
) -> Handle {
    // SAFETY: the program's list, passed on by libEGL.
    let no_attributes = unsafe { pairs(attributes) }.is_empty();
    create(display, kind, no_attributes, EglError::BadAttribute)
}

/// `unknown` is the error of the calling function for a kind that does not exist.
fn create(display: Handle, kind: c_uint, no_attributes: bool, unknown: EglError) -> Handle {
    call(null_mut(), || {
        with_display(display, |_| Ok(()))?;
        if matches!(kind, SYNC_FENCE | SYNC_NATIVE_FENCE) && !has_current() {
            return Err(EglError::BadMatch);
        }
        if !no_attributes || kind == SYNC_CL_EVENT {
            return Err(EglError::BadAttribute);
        }
        match kind {
            SYNC_FENCE => {
                with_current(|cx| cx.finish());
            }
            SYNC_REUSABLE => {}
            _ => return Err(unknown),
        }
        with_display(display, |open| {
            let name = open.next_sync;
            open.next_sync += 1;
            let sync = Sync {
                kind,
                signal: Arc::new((Mutex::new(kind == SYNC_FENCE), Condvar::new())),
            };
            open.syncs.insert(name, sync);
            Ok(name as Handle)
        })
    })
}

fn known(display: Handle, sync: Handle) -> Result<Sync, EglError> {
    with_display(display, |open| {
        let found = open.syncs.get(&(sync as usize));
        found.cloned().ok_or(EglError::BadParameter)
    })
}

pub unsafe extern "C" fn destroy_sync(display: Handle, sync: Handle) -> EglBoolean {
    call(0, || {
        let found = known(display, sync)?;
        // Threads stop waiting for a destroyed sync.
        found.signal(true);
        with_display(display, |open| {
            open.syncs.remove(&(sync as usize));
            Ok(1)
        })
    })
}

pub unsafe extern "C" fn signal_sync(display: Handle, sync: Handle, mode: c_uint) -> EglBoolean {
    call(0, || {
        let found = known(display, sync)?;
        if found.kind != SYNC_REUSABLE {
            return Err(EglError::BadMatch);
        }
        match mode as c_int {
            SIGNALED => found.signal(true),
            UNSIGNALED => found.signal(false),
            _ => return Err(EglError::BadAttribute),
        }
        Ok(1)
    })
}

pub unsafe extern "C" fn client_wait_sync(
    display: Handle,
    sync: Handle,
    _flags: c_int,
    timeout: u64,
) -> c_int {
    call(0, || {
        Ok(match known(display, sync)?.wait(timeout) {
            true => CONDITION_SATISFIED,
            false => TIMEOUT_EXPIRED,
        })
    })
}

pub unsafe extern "C" fn wait_sync(display: Handle, sync: Handle, flags: c_int) -> EglBoolean {
    call(0, || {
        known(display, sync)?;
        if !has_current() {
            return Err(EglError::BadMatch);
        }
        match flags {
            0 => Ok(1),
            _ => Err(EglError::BadParameter),
        }
    })
}

pub unsafe extern "C" fn wait_sync_khr(display: Handle, sync: Handle, flags: c_int) -> c_int {
    // SAFETY: the same function, except for its return type.
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
    let found = known(display, sync)?;
    Ok(match attribute {
        SYNC_TYPE => found.kind as c_int,
        SYNC_STATUS if found.is_signaled() => SIGNALED,
        SYNC_STATUS => UNSIGNALED,
        SYNC_CONDITION if found.kind == SYNC_FENCE => PRIOR_COMMANDS_COMPLETE,
        _ => return Err(EglError::BadAttribute),
    })
}
