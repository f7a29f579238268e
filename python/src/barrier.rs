//! Barriers among processes of a job.

use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use mgn_barrier::{Combine, Ended, JobBarrier, Kind, Misuse, OpenError, Options, WaitError};
use mgn_fabric::job::Member;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::waiting::{interruptible, INTERRUPT};
use crate::{seconds, DifferentError, Error, LateError, LostError};

/// One member's barrier; none once it is closed.
#[pyclass(frozen, module = "manganese._native")]
pub struct Barrier(Mutex<Option<JobBarrier>>);

/// Opens a barrier, or joins one that its members have open.
pub fn open(
    py: Python<'_>,
    member: &'static Member,
    is_open: bool,
    (kind, combine, number, ranks, interface): Described,
    patience: Duration,
) -> PyResult<Barrier> {
    let kind = kind.parse::<Kind>();
    let number = u16::try_from(number).map_err(|_| {
        PyValueError::new_err(format!("number is {number}, and must be from 0 to 65535"))
    })?;
    let options = Options {
        number,
        ranks,
        kind: kind.map_err(|error| PyValueError::new_err(error.to_string()))?,
        combine: match &combine[..] {
            "any" => Combine::Any,
            "all" => Combine::All,
            "min" => Combine::Min,
            "max" => Combine::Max,
            other => {
                return Err(PyValueError::new_err(format!(
                    "combine is {other:?}, and must be any, all, min or max"
                )))
            }
        },
        patience,
        interface,
    };
    let opened = interruptible(py, move || match is_open {
        true => JobBarrier::join(member, &options),
        false => JobBarrier::open(member, &options),
    })?;
    let opened = opened.map_err(|error| match error {
        OpenError::View(_)
        | OpenError::NoInterface { .. }
        | OpenError::Lines(_)
        | OpenError::NoLines
        | OpenError::Nobody
        | OpenError::Own { .. }
        | OpenError::Closed { .. }
        | OpenError::Rank { .. }
        | OpenError::InUse { .. }
        | OpenError::Used { .. }
        | OpenError::Families { .. }
        | OpenError::Interface { .. } => PyValueError::new_err(error.to_string()),
        OpenError::Late { .. }
        | OpenError::TooLate { .. }
        | OpenError::Silent { .. }
        | OpenError::NotAdmitted { .. } => LateError::new_err(error.to_string()),
        OpenError::Unreachable { .. } | OpenError::Lost { .. } | OpenError::Gone { .. } => {
            LostError::new_err(error.to_string())
        }
        OpenError::Different { .. } => DifferentError::new_err(error.to_string()),
        error => Error::new_err(error.to_string()),
    })?;
    Ok(Barrier(Mutex::new(Some(opened))))
}

/// The kind, how numbers are combined, the barrier's number, its ranks, and the interface.
pub type Described = (String, String, i64, Option<Vec<u32>>, Option<String>);

#[pymethods]
impl Barrier {
    fn kind(&self) -> PyResult<String> {
        let mut guard = self.lock()?;
        Ok(open_one(&mut guard)?.kind().to_string())
    }

    fn members(&self) -> PyResult<Vec<u32>> {
        let mut guard = self.lock()?;
        Ok(open_one(&mut guard)?.members())
    }

    fn arrive(&self, py: Python<'_>, number: u64) -> PyResult<u64> {
        let mut guard = self.lock()?;
        let barrier = open_one(&mut guard)?;
        py.detach(|| barrier.arrive(number)).map_err(misused)
    }

    /// Waits, and before that arrives if there is a number. Gives the combined numbers, or the
    /// members that were lost, and a text about them.
    fn wait(&self, py: Python<'_>, number: Option<u64>, timeout: Option<f64>) -> PyResult<Passed> {
        let timeout = timeout.map(seconds).transpose()?;
        let mut guard = self.lock()?;
        let barrier = open_one(&mut guard)?;
        let since = Instant::now();
        let mut number = number;
        loop {
            let left = timeout.map(|timeout| timeout.saturating_sub(since.elapsed()));
            let most = Some(left.map_or(INTERRUPT, |left| left.min(INTERRUPT)));
            let passed = py.detach(|| match number.take() {
                Some(number) => barrier.pass(number, most),
                None => barrier.wait(most),
            });
            match passed {
                Ok(combined) => return Ok((combined, Vec::new(), String::new())),
                Err(WaitError::Lost(lost)) => {
                    let ranks = lost.members.iter().map(|id| id.0).collect();
                    return Ok((0, ranks, lost.to_string()));
                }
                Err(WaitError::TimedOut { .. }) if left != Some(Duration::ZERO) => {
                    py.check_signals()?;
                }
                Err(error) => return Err(failed(error)),
            }
        }
    }

    fn leave(&self, py: Python<'_>, timeout: f64) -> PyResult<()> {
        let timeout = seconds(timeout)?;
        let mut guard = self.lock()?;
        let barrier = open_one(&mut guard)?;
        let since = Instant::now();
        loop {
            let left = timeout.saturating_sub(since.elapsed());
            match py.detach(|| barrier.leave(Some(left.min(INTERRUPT)))) {
                Err(WaitError::NotLeft) if !left.is_zero() => py.check_signals()?,
                left => return left.map_err(failed),
            }
        }
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let barrier = self.lock()?.take();
        py.detach(|| drop(barrier));
        Ok(())
    }
}

/// The combined numbers, the lost ranks, and a text about these.
type Passed = (u64, Vec<u32>, String);

impl Barrier {
    fn lock(&self) -> PyResult<MutexGuard<'_, Option<JobBarrier>>> {
        match self.0.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(
                "another thread is using this barrier",
            )),
        }
    }
}

fn open_one(barrier: &mut Option<JobBarrier>) -> PyResult<&mut JobBarrier> {
    let closed = || PyRuntimeError::new_err("the barrier is closed");
    barrier.as_mut().ok_or_else(closed)
}

fn misused(error: Misuse) -> PyErr {
    match error {
        Misuse::Ended(Ended::Excluded | Ended::Alone) => LostError::new_err(error.to_string()),
        error => PyRuntimeError::new_err(error.to_string()),
    }
}

fn failed(error: WaitError) -> PyErr {
    let text = error.to_string();
    match error {
        WaitError::TimedOut { .. } | WaitError::NotLeft => LateError::new_err(text),
        WaitError::NotArrived | WaitError::Arrived | WaitError::Ended(Ended::Left) => {
            PyRuntimeError::new_err(text)
        }
        WaitError::Lines(_) => Error::new_err(text),
        WaitError::Lost(_) | WaitError::Ended(_) => LostError::new_err(text),
    }
}
