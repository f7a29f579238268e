//! Errors, reported as IceT does: a line on stderr, and a number that the program may ask for.

use std::ffi::{c_char, c_int, CStr};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

use mgn_composite::CompositeError;

use crate::abi::{
    Enum, BAD_CAST, DIAG_ALL_NODES, DIAG_DEBUG, DIAG_ERRORS, DIAG_WARNINGS, INVALID_ENUM,
    INVALID_OPERATION, INVALID_VALUE, NO_ERROR, SANITY_CHECK_FAIL,
};
use crate::context::Registry;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error("{0}")]
    Enum(String),
    #[error("{0}")]
    Value(String),
    #[error("{0}")]
    Operation(String),
    #[error("{0}")]
    Cast(String),
    #[error("the pictures could not be composited: {0}")]
    Composite(#[from] CompositeError),
    #[error("the processes could not find each other: {0}")]
    Meeting(#[from] mgn_fabric::Error),
    #[error("this is a bug in Manganese: {0}")]
    Internal(String),
}

impl Problem {
    fn number(&self) -> Enum {
        match self {
            Problem::Enum(_) => INVALID_ENUM,
            Problem::Value(_) => INVALID_VALUE,
            Problem::Operation(_) | Problem::Meeting(_) => INVALID_OPERATION,
            Problem::Cast(_) => BAD_CAST,
            Problem::Composite(_) | Problem::Internal(_) => SANITY_CHECK_FAIL,
        }
    }
}

/// The next error for `icetGetError`, and its severity.
static FIRST: Mutex<(Enum, u32)> = Mutex::new((NO_ERROR, 0));

/// Which messages are printed, and by which processes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listening {
    pub(crate) mask: u32,
    /// None: there is no context.
    pub(crate) rank: Option<usize>,
}

/// Keeps an error for `icetGetError`, and prints it if the diagnostic level includes it.
pub(crate) fn raise(listening: Listening, number: Enum, level: u32, text: &str) {
    let mut first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
    // A more severe level has fewer bits, so it is smaller.
    if first.0 == NO_ERROR || level < first.1 {
        *first = (number, level);
    }
    drop(first);
    let Listening { mask, rank } = listening;
    let is_wanted = mask & level == level;
    let speaks = mask & DIAG_ALL_NODES != 0 || rank.unwrap_or(0) == 0;
    if !is_wanted || !speaks {
        return;
    }
    let kind = match level {
        DIAG_ERRORS => "ERROR",
        DIAG_WARNINGS => "WARNING",
        _ => "DEBUG",
    };
    // One write, so that lines of several processes do not mix.
    let line = match rank.filter(|_| mask & DIAG_ALL_NODES != 0) {
        Some(rank) => format!("ICET,{rank}:{kind}: {text}\n"),
        None => format!("ICET:{kind}: {text}\n"),
    };
    use std::io::Write;
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Runs the body of an interface function on the registry. If it fails or panics, raises the error
/// and returns `otherwise`.
pub(crate) fn call<R>(otherwise: R, body: impl FnOnce(&mut Registry) -> Result<R, Problem>) -> R {
    let mut registry = Registry::lock();
    let ended = catch_unwind(AssertUnwindSafe(|| body(&mut registry)));
    let result = ended.unwrap_or_else(|panic| {
        let said = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Err(Problem::Internal(said.unwrap_or("a panic").to_owned()))
    });
    result.unwrap_or_else(|problem| {
        let text = problem.to_string();
        raise(registry.listening(), problem.number(), DIAG_ERRORS, &text);
        otherwise
    })
}

#[no_mangle]
pub extern "C" fn icetDiagnostics(mask: u32) {
    call((), |registry| {
        registry
            .current()?
            .state
            .set_int(crate::abi::param::DIAGNOSTIC_LEVEL, mask as i32);
        Ok(())
    });
}

#[no_mangle]
pub extern "C" fn icetGetError() -> Enum {
    let mut first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut *first, (NO_ERROR, 0)).0
}

/// A report of IceT's own libraries. `format` may have conversions for values that follow it. The
/// values are not read, and `format` is printed as it is.
///
/// # Safety
/// `format` is null or a string.
#[no_mangle]
pub unsafe extern "C" fn icetRaiseDiagnostic(
    number: Enum,
    level: u32,
    _file: *const c_char,
    _line: c_int,
    format: *const c_char,
) {
    let text = match format.is_null() {
        true => "no message".into(),
        // SAFETY: as the caller promises.
        false => unsafe { CStr::from_ptr(format) }.to_string_lossy(),
    };
    let listening = Registry::lock().listening();
    raise(listening, number, level & DIAG_DEBUG, &text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_most_severe_errors_is_kept() {
        let silent = Listening {
            mask: 0,
            rank: None,
        };
        raise(silent, INVALID_ENUM, DIAG_WARNINGS, "a");
        raise(silent, BAD_CAST, DIAG_ERRORS, "b");
        raise(silent, INVALID_VALUE, DIAG_ERRORS, "c");
        raise(silent, INVALID_ENUM, DIAG_WARNINGS, "d");
        assert_eq!(icetGetError(), BAD_CAST);
        assert_eq!(icetGetError(), NO_ERROR);
    }
}
