//! The part of the Python package `manganese` that is not written in Python: jobs, barriers, and
//! compositors and outlets over bytes. `manganese/__init__.py` turns arrays into bytes and back.

mod barrier;
mod memory;
mod outlet;
mod visibility;
mod waiting;

use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use mgn_composite::{
    Color, CompositeError, Depth, Format, Group, LayerMut, Operation, PictureRef, Rectangle,
    Schedule, Terms, Tile,
};
use mgn_fabric::job::{self, Member};
use mgn_fabric::Token;
use mgn_outlet::{Attached, Canvas};
use pyo3::buffer::PyBuffer;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

use barrier::Barrier;
use memory::{Memory, PictureBuffer};
use outlet::{lock, Outlet, OutletError};
use waiting::interruptible;

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
    "Another process composites something else (its pictures, operation, order or schedule differ), or opens another barrier."
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
        let (name, secret) = (name.to_owned(), secret.to_owned());
        join(py, move || {
            let token = Token::from_text(&secret)?;
            let job = job::Job::new(&name, rank, hosts)?.configured()?;
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
        let patience = seconds(timeout)?;
        let number = self.compositors.load(Ordering::Relaxed);
        let member = self.member;
        let group = interruptible(py, move || Group::new(member, number, patience))?;
        let group = group.map_err(exception)?;
        // Only now: all processes that fail try the same number again.
        let next = number.wrapping_add(1);
        self.compositors.store(next, Ordering::Relaxed);
        Ok(Compositor(Arc::new(Inner {
            group: Mutex::new(group),
            rank: self.member.rank() as usize,
            attached: Mutex::default(),
        })))
    }

    fn barrier(
        &self,
        py: Python<'_>,
        described: barrier::Described,
        timeout: f64,
    ) -> PyResult<Barrier> {
        barrier::open(py, self.member, false, described, seconds(timeout)?)
    }

    fn join_barrier(
        &self,
        py: Python<'_>,
        described: barrier::Described,
        timeout: f64,
    ) -> PyResult<Barrier> {
        barrier::open(py, self.member, true, described, seconds(timeout)?)
    }

    /// Sends what is still to be sent, and leaves. The others see the end of their connections.
    fn leave(&self, py: Python<'_>) {
        py.detach(|| self.member.leave());
    }
}

fn seconds(timeout: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(timeout)
        .map_err(|error| PyValueError::new_err(format!("timeout is {timeout} seconds: {error}")))
}

fn join(
    py: Python<'_>,
    find: impl FnOnce() -> Result<Member, mgn_fabric::Error> + Send + 'static,
) -> PyResult<Job> {
    let member = interruptible(py, find)?.map_err(|error| Error::new_err(error.to_string()))?;
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
struct Compositor(Arc<Inner>);

struct Inner {
    group: Mutex<Group<'static>>,
    rank: usize,
    /// Where the pictures go that come here.
    attached: Mutex<Option<Attached>>,
}

/// Merged pixels: the first one, the colours, and the depths.
type Merged = (usize, Py<PyByteArray>, Py<PyByteArray>);

/// The terms that all processes must agree on, as Python passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Agreed {
    width: usize,
    height: usize,
    color_type: String,
    depth_type: Option<String>,
    operation: String,
    schedule: Option<String>,
    order: Option<Vec<usize>>,
    to: Option<usize>,
}

#[pymethods]
impl Compositor {
    /// How many hosts the processes are on.
    fn hosts(&self) -> PyResult<usize> {
        Ok(self.0.group()?.hosts())
    }

    fn attach(&self, outlet: Option<&Outlet>, bottom_up: bool) -> PyResult<()> {
        let attach = |outlet: &Outlet| -> PyResult<Attached> {
            Ok(Attached {
                outlet: outlet.weak()?,
                direction: outlet::direction(bottom_up),
            })
        };
        let attached = outlet.map(attach).transpose()?;
        *lock(&self.0.attached) = attached;
        Ok(())
    }

    /// Merges a picture in the program's memory.
    fn composite(
        &self,
        py: Python<'_>,
        agreed: Agreed,
        color: Option<PyBuffer<u8>>,
        depth: Option<PyBuffer<u8>>,
    ) -> PyResult<Option<Merged>> {
        let terms = agreed.terms()?;
        let picture = PictureRef {
            color: color.as_ref().map_or(&[], bytes),
            depth: depth.as_ref().map_or(&[], bytes),
        };
        let mut guard = self.0.group()?;
        let group = &mut *guard;
        let merged = py.detach(|| group.composite(picture, &terms));
        self.0.show(py, &terms, merged.map_err(exception)?)
    }

    /// Merges a picture that `function` draws in the group's memory.
    fn draw(
        &self,
        py: Python<'_>,
        agreed: Agreed,
        function: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Merged>> {
        let terms = agreed.terms()?;
        let mut guard = self.0.group()?;
        let group = &mut *guard;
        let farthest = farthest(&terms);
        let place = py.detach(|| {
            group
                .draw(&terms)
                .map(|layer| PictureBuffer::clear(layer, farthest))
        });
        let drawn = place
            .map_err(exception)?
            .have_drawn(py, &self.0, function, None);
        let covered = drawn.inspect_err(|_| py.detach(|| group.give_up()))?;
        let merged = py.detach(|| group.composite_drawn(&terms, covered));
        self.0.show(py, &terms, merged.map_err(exception)?)
    }

    /// The same tile by tile: `function` also gets the number of the tile. Gives the number of each
    /// tile that has come here, and its pixels.
    fn draw_tiles(
        &self,
        py: Python<'_>,
        agreed: Agreed,
        tiles: Vec<[usize; 5]>,
        function: Py<PyAny>,
    ) -> PyResult<Vec<Merged>> {
        let terms = agreed.terms()?;
        let tiles: Vec<Tile> = tiles.into_iter().map(tile).collect();
        let attached = lock(&self.0.attached).clone();
        let mut canvas = attached
            .as_ref()
            .and_then(|attached| Canvas::of(attached, self.0.rank, &tiles, terms.format));
        let mut here = Vec::new();
        let farthest = farthest(&terms);
        let draw = |number: usize, layer: LayerMut<'_>| -> Result<_, Failure> {
            let place = PictureBuffer::clear(layer, farthest);
            let drawn =
                Python::attach(|py| place.have_drawn(py, &self.0, function.bind(py), Some(number)));
            drawn.map_err(Failure::Python)
        };
        let show = |number: usize, picture: PictureRef<'_>| -> Result<(), Failure> {
            if let Some(canvas) = &mut canvas {
                canvas.put(&tiles[number].place, picture);
            }
            here.push(Python::attach(|py| copies(py, number, picture)));
            Ok(())
        };
        let mut guard = self.0.group()?;
        let group = &mut *guard;
        let done = py.detach(|| group.composite_tiles(&terms, &tiles, draw, show));
        done.map_err(|failure| match failure {
            Failure::Composite(error) => exception(error),
            Failure::Python(error) => error,
        })?;
        let shown = canvas.map_or(Ok(()), |canvas| py.detach(|| canvas.show()));
        shown.map_err(|error| outlet::of_attached(&error))?;
        Ok(here)
    }
}

/// Why tiles were not composited.
enum Failure {
    Composite(CompositeError),
    Python(PyErr),
}

impl From<CompositeError> for Failure {
    fn from(error: CompositeError) -> Failure {
        Failure::Composite(error)
    }
}

impl Inner {
    fn group(&self) -> PyResult<MutexGuard<'_, Group<'static>>> {
        match self.group.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(
                "another thread is using this compositor",
            )),
        }
    }

    /// Shows the received picture in the outlet, and copies it for the program.
    fn show(
        &self,
        py: Python<'_>,
        terms: &Terms,
        merged: (Range<usize>, PictureRef<'_>),
    ) -> PyResult<Option<Merged>> {
        // Not in the condition, which would keep the lock while the program runs: a thread that
        // attaches another outlet waits for it with Python's lock.
        let attached = lock(&self.attached).clone();
        if let Some(attached) = attached {
            let shown = py.detach(|| attached.show(self.rank, terms, &merged));
            shown.map_err(|error| outlet::of_attached(&error))?;
        }
        let (range, picture) = merged;
        Ok((!range.is_empty()).then(|| copies(py, range.start, picture)))
    }
}

fn copies(py: Python<'_>, first: usize, picture: PictureRef<'_>) -> Merged {
    let copy = |bytes: &[u8]| PyByteArray::new(py, bytes).unbind();
    (first, copy(picture.color), copy(picture.depth))
}

fn tile([x, y, width, height, to]: [usize; 5]) -> Tile {
    Tile {
        place: Rectangle {
            columns: x..x + width,
            rows: y..y + height,
        },
        to,
    }
}

/// The largest depth of pictures on these terms.
fn farthest(terms: &Terms) -> [u8; 4] {
    match terms.format.depth {
        Some(Depth::Float) => f32::INFINITY.to_ne_bytes(),
        _ => u32::MAX.to_ne_bytes(),
    }
}

impl Agreed {
    fn terms(self) -> PyResult<Terms> {
        let invalid = |error: &dyn std::error::Error| PyValueError::new_err(error.to_string());
        let operation: Operation = self.operation.parse().map_err(|error| invalid(&error))?;
        let schedule = self.schedule.as_deref().map(str::parse::<Schedule>);
        let schedule = schedule.transpose().map_err(|error| invalid(&error))?;
        Ok(Terms {
            width: self.width,
            height: self.height,
            origin: [0, 0],
            format: Format {
                color: color_format(&self.color_type)?,
                depth: depth_format(self.depth_type.as_deref())?,
            },
            operation,
            schedule,
            order: self.order,
            to: self.to,
        })
    }
}

fn color_format(name: &str) -> PyResult<Color> {
    match name {
        "uint8" => Ok(Color::Rgba8),
        "float16" => Ok(Color::Rgba16f),
        "float32" => Ok(Color::Rgba32f),
        other => Err(PyValueError::new_err(format!(
            "colours are {other}, and may be uint8, float16 or float32"
        ))),
    }
}

fn depth_format(name: Option<&str>) -> PyResult<Option<Depth>> {
    match name {
        None => Ok(None),
        Some("uint32") => Ok(Some(Depth::Unorm)),
        Some("float32") => Ok(Some(Depth::Float)),
        Some(other) => Err(PyValueError::new_err(format!(
            "depths are {other}, and may be uint32 or float32"
        ))),
    }
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
    module.add_class::<Memory>()?;
    module.add_class::<Outlet>()?;
    module.add_class::<Barrier>()?;
    module.add_function(wrap_pyfunction!(new_secret, module)?)?;
    module.add_function(wrap_pyfunction!(visibility::front_to_back, module)?)?;
    module.add("Error", py.get_type::<Error>())?;
    module.add("LostError", py.get_type::<LostError>())?;
    module.add("LateError", py.get_type::<LateError>())?;
    module.add("DifferentError", py.get_type::<DifferentError>())?;
    module.add("OutletError", py.get_type::<OutletError>())?;
    Ok(())
}
