//! Outlets over plain bytes.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mgn_outlet::{Direction, Shot};
use pyo3::buffer::PyBuffer;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::{bytes, color_format, Error};

create_exception!(
    manganese,
    OutletError,
    Error,
    "An outlet cannot be opened, or is out of order: for example, the disk is full."
);

type Shared = Arc<Mutex<mgn_outlet::Outlet>>;

/// A place where pictures go. None: it was closed.
#[pyclass(frozen, module = "manganese._native")]
pub struct Outlet(Mutex<Option<Shared>>);

#[pymethods]
impl Outlet {
    #[staticmethod]
    fn files(folder: PathBuf, format: &str, every: u64) -> PyResult<Outlet> {
        Outlet::of(mgn_outlet::Outlet::files(&folder, format, every))
    }

    #[staticmethod]
    fn window(py: Python<'_>, title: &str, display: Option<&str>) -> PyResult<Outlet> {
        Outlet::of(py.detach(|| mgn_outlet::Outlet::window(display, title)))
    }

    #[staticmethod]
    fn viewer(address: Option<&str>, token_file: Option<PathBuf>, tile: u16) -> PyResult<Outlet> {
        let opened = mgn_outlet::Outlet::viewer(address, token_file.as_deref(), tile);
        Outlet::of(opened)
    }

    fn number(&self, py: Python<'_>, first: u64, step: u64) -> PyResult<()> {
        let outlet = self.shared()?;
        let numbered = py.detach(|| lock(&outlet).number(first, step));
        numbered.map_err(exception)
    }

    fn show(
        &self,
        py: Python<'_>,
        width: usize,
        height: usize,
        color_type: &str,
        color: PyBuffer<u8>,
        bottom_up: bool,
    ) -> PyResult<()> {
        let outlet = self.shared()?;
        let shot = Shot {
            width,
            height,
            color: color_format(color_type)?,
            direction: direction(bottom_up),
            pixels: bytes(&color),
        };
        let shown = py.detach(|| lock(&outlet).show(&shot));
        shown.map_err(exception)
    }

    fn is_closed(&self, py: Python<'_>) -> PyResult<bool> {
        let outlet = self.shared()?;
        Ok(py.detach(|| lock(&outlet).is_closed()))
    }

    fn close(&self, py: Python<'_>) {
        let outlet = lock(&self.0).take();
        py.detach(|| drop(outlet));
    }
}

impl Outlet {
    fn of(outlet: Result<mgn_outlet::Outlet, mgn_outlet::OutletError>) -> PyResult<Outlet> {
        let outlet = Arc::new(Mutex::new(outlet.map_err(exception)?));
        Ok(Outlet(Mutex::new(Some(outlet))))
    }

    fn shared(&self) -> PyResult<Shared> {
        let outlet = lock(&self.0).clone();
        outlet.ok_or_else(|| PyValueError::new_err("the outlet is closed"))
    }

    /// The reference to it that compositors keep.
    pub fn weak(&self) -> PyResult<Weak<Mutex<mgn_outlet::Outlet>>> {
        Ok(Arc::downgrade(&self.shared()?))
    }
}

pub fn direction(bottom_up: bool) -> Direction {
    match bottom_up {
        true => Direction::BottomUp,
        false => Direction::TopDown,
    }
}

pub fn exception(error: mgn_outlet::OutletError) -> PyErr {
    match error {
        error if error.is_of_call() => PyValueError::new_err(error.to_string()),
        error => OutletError::new_err(error.to_string()),
    }
}

/// Why a composited picture was not shown.
pub fn of_attached(error: &mgn_outlet::OutletError) -> PyErr {
    OutletError::new_err(error.to_string())
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
