//! Failures of calls, and how a call returns them to a C program.

use std::ffi::c_int;
use std::panic::{catch_unwind, AssertUnwindSafe};

use mgn_barrier::{Ended, Misuse, OpenError, SharedError, WaitError};
use mgn_composite::CompositeError;
use mgn_fabric::Error;
use mgn_outlet::OutletError;

pub(crate) use crate::errors::mgn_err as Code;
use crate::last_error;

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Fault {
    code: Code,
    text: String,
}

impl Fault {
    pub(crate) fn new(code: Code, text: impl Into<String>) -> Fault {
        Fault {
            code,
            text: text.into(),
        }
    }

    /// An argument that is invalid.
    pub(crate) fn argument(text: impl Into<String>) -> Fault {
        Fault::new(Code::Argument, text)
    }

    /// A number that belongs to no object of this kind.
    pub(crate) fn no_such(kind: &str, number: u64) -> Fault {
        Fault::new(Code::Handle, format!("there is no {kind} {number:#x}"))
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

impl From<OpenError> for Fault {
    fn from(error: OpenError) -> Fault {
        let code = match &error {
            OpenError::View(_)
            | OpenError::Rank { .. }
            | OpenError::InUse { .. }
            | OpenError::Used { .. }
            | OpenError::Interface { .. } => Code::Argument,
            OpenError::Hosts { .. }
            | OpenError::Families { .. }
            | OpenError::Lines(_)
            | OpenError::NoLines
            | OpenError::Nobody
            | OpenError::Own { .. }
            | OpenError::Closed { .. }
            | OpenError::NoInterface { .. }
            | OpenError::Shared(SharedError::Count(_)) => Code::Argument,
            OpenError::Late { .. }
            | OpenError::TooLate { .. }
            | OpenError::Silent { .. }
            | OpenError::NotAdmitted { .. } => Code::Timeout,
            OpenError::Unreachable { source, .. } => match source {
                Error::TimedOut(_) => Code::Timeout,
                _ => Code::Closed,
            },
            OpenError::Lost { .. } | OpenError::Gone { .. } => Code::Closed,
            OpenError::Different { .. } => Code::Composite,
            OpenError::Job(_) => Code::Job,
            OpenError::Shared(_) | OpenError::System { .. } => Code::System,
        };
        Fault::new(code, error.to_string())
    }
}

impl From<WaitError> for Fault {
    fn from(error: WaitError) -> Fault {
        let code = match &error {
            WaitError::TimedOut { .. } | WaitError::NotLeft => Code::Timeout,
            WaitError::NotArrived | WaitError::Arrived | WaitError::Ended(Ended::Left) => {
                Code::State
            }
            WaitError::Lost(_) | WaitError::Ended(_) => Code::Closed,
            WaitError::Lines(_) => Code::System,
        };
        Fault::new(code, error.to_string())
    }
}

impl From<Misuse> for Fault {
    fn from(error: Misuse) -> Fault {
        let code = match error {
            Misuse::Ended(Ended::Excluded | Ended::Alone) => Code::Closed,
            _ => Code::State,
        };
        Fault::new(code, error.to_string())
    }
}

/// A composited picture could not be shown. The arguments of the call that composited it were
/// right, so the cause is always the outlet.
pub(crate) fn not_shown(error: &OutletError) -> Fault {
    Fault::new(Code::Outlet, error.to_string())
}

impl From<OutletError> for Fault {
    fn from(error: OutletError) -> Fault {
        let code = match error.is_of_call() {
            true => Code::Argument,
            false => Code::Outlet,
        };
        Fault::new(code, error.to_string())
    }
}

/// Runs the body of a C function. Returns the code of a failure, and keeps its text as the last
/// error of this thread. A panic is a failure, too.
pub(crate) fn call(body: impl FnOnce() -> Result<c_int, Fault>) -> c_int {
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Err(Fault::new(
            Code::Internal,
            format!("a bug in the library: {}", message.unwrap_or("a panic")),
        ))
    });
    result.unwrap_or_else(|fault| {
        last_error::set(&fault.text);
        fault.code as c_int
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    #[test]
    fn panics_and_errors_become_numbers() {
        let last_error = || {
            // SAFETY: the text is valid until this thread's next failure.
            unsafe { CStr::from_ptr(last_error::get()) }
                .to_str()
                .unwrap()
                .to_string()
        };
        assert_eq!(call(|| Ok(3)), 3);
        assert_eq!(
            call(|| Err(Error::Cancelled.into())),
            Code::Cancelled as c_int
        );
        assert_eq!(last_error(), "cancelled");
        assert_eq!(call(|| panic!("on {}", "purpose")), Code::Internal as c_int);
        assert!(last_error().contains("on purpose"));
        assert_eq!(call(|| Err(Fault::argument("a\0b"))), -1);
        assert_eq!(last_error(), "a b");
    }
}
