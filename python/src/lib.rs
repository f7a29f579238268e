//! The part of the Python package `manganese` that is not written in Python: jobs, and compositors
//! over plain bytes. `manganese/__init__.py` turns arrays into bytes and back.

mod visibility;

use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use mgn_composite::{
    Color, CompositeError, Depth, Format, Group, Operation, PictureRef, Schedule, Terms,
};
use mgn_fabric::job::{self, Member};
use mgn_fabric::Token;
use pyo3::buffer::PyBuffer;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

create_exception!(manganese, Error, PyException, "What the library reports.");
create_exception!(
    manganese,
    LostError,
    Error,
    "Another process has ended, or cannot be reached."
);
create_exception!(
    manganese,
    LateError,
    Error,
    "Another process has not come in time."
);
create_exception!(
    manganese,
    DifferentError,
    Error,
    "Another process composites something else: its pictures, operation, order or schedule differ."
);

/// A process of a job.
#[pyclass(frozen, module = "manganese._native")]
struct Job {
    /// Never freed: compositors borrow it, and a process has few jobs.
    member: &'static Member,
    /// The number of the next compositor, which all processes count alike.
    compositors: AtomicU16,
}

#[pymethods]
impl Job {
    /// The job that the environment names.
    #[staticmethod]
    fn find(py: Python<'_>) -> PyResult<Job> {
        join(py, || job::Job::find()?.join())
    }

    /// The job of processes that have found each other in another way: rank `rank` is on
    /// `hosts[rank]`. All of them give the same name and the same secret.
    #[staticmethod]
    fn among(
        py: Python<'_>,
        name: &str,
        rank: u32,
        hosts: Vec<String>,
        secret: &str,
    ) -> PyResult<Job> {
        join(py, || {
            let token = Token::from_text(secret)?;
            let job = job::Job::new(name, rank, hosts)?.configured()?;
            job.token(token).join()
        })
    }

    #[getter]
    fn rank(&self) -> u32 {
        self.member.rank()
    }

    #[getter]
    fn size(&self) -> u32 {
        self.member.size()
    }

    #[getter]
    fn name(&self) -> &str {
        self.member.name()
    }

    fn compositor(&self, py: Python<'_>, timeout: f64) -> PyResult<Compositor> {
        let patience = Duration::try_from_secs_f64(timeout).map_err(|error| {
            PyValueError::new_err(format!("timeout is {timeout} seconds: {error}"))
        })?;
        let number = self.compositors.fetch_add(1, Ordering::Relaxed);
        let group = py.detach(|| Group::new(self.member, number, patience));
        Ok(Compositor {
            group: Mutex::new(group.map_err(exception)?),
        })
    }

    /// Sends what is still to be sent, and leaves. The others see the end of their connections.
    fn leave(&self, py: Python<'_>) {
        py.detach(|| self.member.leave());
    }
}

fn join(
    py: Python<'_>,
    find: impl FnOnce() -> Result<Member, mgn_fabric::Error> + Send,
) -> PyResult<Job> {
    let member = py
        .detach(find)
        .map_err(|error| Error::new_err(error.to_string()))?;
    Ok(Job {
        member: Box::leak(Box::new(member)),
        compositors: AtomicU16::new(0),
    })
}

/// A secret for the processes of a job, as text.
#[pyfunction]
fn new_secret() -> String {
    Token::generate().to_text().to_string()
}

/// The group of all processes of a job.
#[pyclass(frozen, module = "manganese._native")]
struct Compositor {
    group: Mutex<Group<'static>>,
}

/// Merged pixels: the first one, the colours, and the depths.
type Merged<'py> = (usize, Bound<'py, PyByteArray>, Bound<'py, PyByteArray>);

#[pymethods]
impl Compositor {
    #[allow(clippy::too_many_arguments)] // Python gives them by name.
    #[pyo3(signature = (*, width, height, color_type, depth_type, color, depth, operation, schedule, order, to, at))]
    fn composite<'py>(
        &self,
        py: Python<'py>,
        width: usize,
        height: usize,
        color_type: &str,
        depth_type: Option<&str>,
        color: Option<PyBuffer<u8>>,
        depth: Option<PyBuffer<u8>>,
        operation: &str,
        schedule: Option<&str>,
        order: Option<Vec<usize>>,
        to: Option<usize>,
        at: [usize; 2],
    ) -> PyResult<Option<Merged<'py>>> {
        let invalid = |error: &dyn std::error::Error| PyValueError::new_err(error.to_string());
        let operation: Operation = operation.parse().map_err(|error| invalid(&error))?;
        let schedule = schedule.map(str::parse::<Schedule>).transpose();
        let schedule = schedule.map_err(|error| invalid(&error))?;
        let terms = Terms {
            width,
            height,
            origin: at,
            format: format(color_type, depth_type)?,
            operation,
            schedule,
            order,
            to,
        };
        let picture = PictureRef {
            color: color.as_ref().map_or(&[], bytes),
            depth: depth.as_ref().map_or(&[], bytes),
        };
        let mut guard = self.group()?;
        let group = &mut *guard;
        let merged = py.detach(|| group.composite(picture, &terms));
        let (range, picture) = merged.map_err(exception)?;
        Ok((!range.is_empty()).then(|| {
            let copy = |bytes: &[u8]| PyByteArray::new(py, bytes);
            (range.start, copy(picture.color), copy(picture.depth))
        }))
    }

    /// Tells the other processes that this one composites no more.
    fn give_up(&self, py: Python<'_>) -> PyResult<()> {
        let mut guard = self.group()?;
        let group = &mut *guard;
        py.detach(|| group.give_up());
        Ok(())
    }
}

impl Compositor {
    fn group(&self) -> PyResult<MutexGuard<'_, Group<'static>>> {
        match self.group.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(
                "another thread is using this compositor",
            )),
        }
    }
}

fn format(color: &str, depth: Option<&str>) -> PyResult<Format> {
    Ok(Format {
        color: match color {
            "uint8" => Color::Rgba8,
            "float16" => Color::Rgba16f,
            "float32" => Color::Rgba32f,
            other => {
                return Err(PyValueError::new_err(format!(
                    "colours are {other}, and may be uint8, float16 or float32"
                )))
            }
        },
        depth: match depth {
            None => None,
            Some("uint32") => Some(Depth::Unorm),
            Some("float32") => Some(Depth::Float),
            Some(other) => {
                return Err(PyValueError::new_err(format!(
                    "depths are {other}, and may be uint32 or float32"
                )))
            }
        },
    })
}

/// The bytes of an array, which the caller keeps as they are during the call.
fn bytes(buffer: &PyBuffer<u8>) -> &[u8] {
    if buffer.item_count() == 0 {
        return &[];
    }
    assert!(
        buffer.is_c_contiguous(),
        "the package gives contiguous arrays"
    );
    // SAFETY: `buffer` keeps that many bytes there. Another thread that writes to the array at the
    // same time breaks the promise that the documentation of `composite` asks for.
    unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast(), buffer.item_count()) }
}

fn exception(error: CompositeError) -> PyErr {
    let text = error.to_string();
    match error {
        CompositeError::Unreachable {
            source: mgn_fabric::Error::TimedOut(_),
            ..
        }
        | CompositeError::Late { .. }
        | CompositeError::Stuck { .. } => LateError::new_err(text),
        CompositeError::Unreachable { .. } | CompositeError::Lost { .. } => {
            LostError::new_err(text)
        }
        CompositeError::Different { .. }
        | CompositeError::Release { .. }
        | CompositeError::Misuse(_) => DifferentError::new_err(text),
        CompositeError::Failed => Error::new_err(text),
        CompositeError::Memory(_) => PyMemoryError::new_err(text),
        CompositeError::Order { .. }
        | CompositeError::To { .. }
        | CompositeError::Size { .. }
        | CompositeError::Outside { .. }
        | CompositeError::NotDrawn
        | CompositeError::Merge(_) => PyValueError::new_err(text),
    }
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<Job>()?;
    module.add_class::<Compositor>()?;
    module.add_function(wrap_pyfunction!(new_secret, module)?)?;
    module.add_function(wrap_pyfunction!(visibility::front_to_back, module)?)?;
    module.add("Error", py.get_type::<Error>())?;
    module.add("LostError", py.get_type::<LostError>())?;
    module.add("LateError", py.get_type::<LateError>())?;
    module.add("DifferentError", py.get_type::<DifferentError>())?;
    Ok(())
}
