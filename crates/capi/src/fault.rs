//! Errors as C programs see them: a number, and a text that the thread keeps.

use std::cell::RefCell;
use std::ffi::{c_char, c_int, CStr, CString};
use std::panic::{catch_unwind, AssertUnwindSafe};

use mgn_composite::CompositeError;
use mgn_fabric::Error;

pub(crate) use crate::errors::mgn_err as Code;
use crate::errors::MGN_OK;

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Fault {
    code: Code,
    text: String,
}

/// What each error means, in a few words.
const MEANINGS: [(Code, &CStr); 15] = [
    (Code::Argument, c"an argument is invalid"),
    (
        Code::Handle,
        c"no such connection, request, message, reservation, memory, broadcast, compositor or outlet",
    ),
    (
        Code::State,
        c"mgn_init has not been called, or has been called twice; or mgn_finalize has been called; or a draw or show function uses the compositor that is calling it",
    ),
    (Code::Timeout, c"the timeout has expired"),
    (
        Code::Closed,
        c"the other process has closed the connection or ended",
    ),
    (
        Code::Truncated,
        c"the message was longer than the memory for it",
    ),
    (Code::Cancelled, c"the operation was cancelled"),
    (
        Code::Starved,
        c"the receive is blocked by messages that the program has not received",
    ),
    (
        Code::Job,
        c"the description of the job is invalid, or its name is in use",
    ),
    (Code::Refused, c"the other process refused the connection"),
    (Code::System, c"a system call failed"),
    (Code::Internal, c"a bug in the library"),
    (
        Code::Offer,
        c"the other process does not offer this memory, or offers less than requested",
    ),
    (
        Code::Composite,
        c"the processes disagree about what they composite",
    ),
    (Code::Outlet, c"pictures cannot be shown or saved there"),
];

/// What a number means.
pub(crate) fn meaning(code: c_int) -> &'static CStr {
    let found = MEANINGS.iter().find(|(known, _)| *known as c_int == code);
    match found {
        Some((_, text)) => text,
        None if code >= MGN_OK => c"no error",
        None => c"no error of this library",
    }
}

impl Fault {
    pub(crate) fn new(code: Code, text: impl Into<String>) -> Fault {
        Fault {
            code,
            text: text.into(),
        }
    }

    /// An argument that makes no sense.
    pub(crate) fn argument(text: impl Into<String>) -> Fault {
        Fault::new(Code::Argument, text)
    }

    pub(crate) fn timeout(what: &str) -> Fault {
        Fault::new(Code::Timeout, format!("timed out while {what}"))
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        let code = match error {
            Error::Closed(_) => Code::Closed,
            Error::TimedOut(_) => Code::Timeout,
            Error::Truncated { .. } => Code::Truncated,
            Error::Cancelled => Code::Cancelled,
            Error::Starved(_) => Code::Starved,
            Error::Misuse(_) | Error::NoPeer => Code::Handle,
            Error::NotOffered | Error::OutOfRange { .. } => Code::Offer,
            Error::TooLong { .. } => Code::Argument,
            Error::Job(_)
            | Error::Hostfile { .. }
            | Error::Token(_)
            | Error::OldToken(_)
            | Error::InUse(_)
            | Error::Settings(_)
            | Error::Address { .. } => Code::Job,
            Error::Refused(_)
            | Error::NotNow(_)
            | Error::Auth(_)
            | Error::Forbidden(_)
            | Error::OtherKey { .. }
            | Error::Version { .. }
            | Error::NotManganese(_)
            | Error::PeerMisbehaved(_) => Code::Refused,
            _ => Code::System,
        };
        Fault::new(code, error.to_string())
    }
}

impl From<CompositeError> for Fault {
    fn from(error: CompositeError) -> Fault {
        let code = match &error {
            CompositeError::Lost { .. } => Code::Closed,
            CompositeError::Late { .. } | CompositeError::Stuck { .. } => Code::Timeout,
            CompositeError::Different { .. }
            | CompositeError::Release { .. }
            | CompositeError::Misuse(_)
            | CompositeError::Failed => Code::Composite,
            CompositeError::Memory(_) => Code::System,
            CompositeError::Order { .. }
            | CompositeError::To { .. }
            | CompositeError::Size { .. }
            | CompositeError::Outside { .. }
            | CompositeError::NotDrawn
            | CompositeError::Merge(_) => Code::Argument,
            CompositeError::Unreachable { source, .. } => match source {
                mgn_fabric::Error::TimedOut(_) => Code::Timeout,
                _ => Code::Closed,
            },
        };
        Fault::new(code, error.to_string())
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// What the thread's last failure said.
pub(crate) fn last() -> *const c_char {
    // A thread that is ending has forgotten it.
    LAST.try_with(|last| last.borrow().as_ptr())
        .unwrap_or(c"".as_ptr())
}

/// Runs a call's body: a failure becomes its number, and its text the thread's last one. A panic is
/// a failure, too.
pub(crate) fn call(body: impl FnOnce() -> Result<c_int, Fault>) -> c_int {
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let said = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Err(Fault::new(
            Code::Internal,
            format!("a bug in the library: {}", said.unwrap_or("a panic")),
        ))
    });
    result.unwrap_or_else(|fault| {
        let text = CString::new(fault.text.replace('\0', " ")).unwrap_or_default();
        let _ = LAST.try_with(|last| last.replace(text));
        fault.code as c_int
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_and_errors_become_numbers() {
        let said = || {
            // SAFETY: the text stays until this thread's next failure.
            unsafe { CStr::from_ptr(last()) }
                .to_str()
                .unwrap()
                .to_string()
        };
        assert_eq!(call(|| Ok(3)), 3);
        assert_eq!(
            call(|| Err(Error::Cancelled.into())),
            Code::Cancelled as c_int
        );
        assert_eq!(said(), "cancelled");
        assert_eq!(call(|| panic!("on {}", "purpose")), Code::Internal as c_int);
        assert!(said().contains("on purpose"));
        assert_eq!(call(|| Err(Fault::argument("a\0b"))), -1);
        assert_eq!(said(), "a b");
        for (code, text) in MEANINGS {
            assert_eq!(meaning(code as c_int), text);
        }
        assert_eq!(meaning(0), c"no error");
        assert_eq!(meaning(-99), c"no error of this library");
    }
}
