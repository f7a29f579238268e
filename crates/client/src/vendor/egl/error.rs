//! `eglGetError`: the result of the thread's last call.

use std::cell::Cell;
use std::ffi::c_int;

/// EGL's error codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum EglError {
    NotInitialized = 0x3001,
    BadAccess = 0x3002,
    BadAlloc = 0x3003,
    BadAttribute = 0x3004,
    BadConfig = 0x3005,
    BadContext = 0x3006,
    BadDisplay = 0x3008,
    BadMatch = 0x3009,
    BadNativePixmap = 0x300A,
    BadNativeWindow = 0x300B,
    BadParameter = 0x300C,
    BadSurface = 0x300D,
    BadDevice = 0x322B,
}

const SUCCESS: c_int = 0x3000;

thread_local! {
    static LAST: Cell<c_int> = const { Cell::new(SUCCESS) };
}

pub unsafe extern "C" fn get_error() -> c_int {
    LAST.replace(SUCCESS)
}

/// Runs one EGL call: keeps its error for `eglGetError`, and returns the default (false, no handle)
/// on failure.
pub fn call<T>(failed: T, body: impl FnOnce() -> Result<T, EglError>) -> T {
    match body() {
        Ok(value) => {
            LAST.set(SUCCESS);
            value
        }
        Err(error) => {
            tracing::debug!(?error, "EGL error");
            LAST.set(error as c_int);
            failed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_once_and_success_clears_it() {
        assert_eq!(call(0, || Err(EglError::BadMatch)), 0);
        // SAFETY: takes no arguments.
        let (first, second) = unsafe { (get_error(), get_error()) };
        assert_eq!((first, second), (0x3009, SUCCESS));
        assert_eq!(call(0, || Err(EglError::BadMatch)), 0);
        assert_eq!(call(0, || Ok(1)), 1);
        // SAFETY: as above.
        assert_eq!(unsafe { get_error() }, SUCCESS);
    }
}
