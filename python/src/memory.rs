//! Memory of a group that a program's function draws in.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;

use mgn_composite::{LayerMut, Rectangle};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::Inner;

/// Bytes for one picture, which arrays are made of.
#[pyclass(frozen, module = "manganese._native")]
pub struct Memory {
    start: *mut u8,
    len: usize,
    /// Arrays, and other users of the buffer.
    users: AtomicUsize,
    /// There will be no more.
    is_over: AtomicBool,
    /// The memory stays as long as the group does, and where it is until the group's next picture.
    _group: Arc<Inner>,
}

// SAFETY: the pointer is only passed on to arrays, and their users synchronise threads as with any
// other array.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

#[pymethods]
impl Memory {
    /// # Safety
    /// Python calls it, with room for a view.
    unsafe fn __getbuffer__(
        memory: Bound<'_, Memory>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if memory.get().is_over.load(Ordering::Relaxed) {
            return Err(PyBufferError::new_err("the picture was drawn before"));
        }
        let (start, len) = (memory.get().start, memory.get().len as isize);
        let is_read_only = 0;
        // SAFETY: the memory is there and writable as long as `memory` is, to which the view keeps
        // a reference.
        let filled = unsafe {
            ffi::PyBuffer_FillInfo(
                view,
                memory.as_ptr(),
                start.cast(),
                len,
                is_read_only,
                flags,
            )
        };
        match filled {
            0 => {
                memory.get().users.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            _ => Err(PyErr::fetch(memory.py())),
        }
    }

    /// # Safety
    /// Python calls it, for each view once.
    unsafe fn __releasebuffer__(&self, _view: *mut ffi::Py_buffer) {
        self.users.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The memory of a picture that is drawn next.
pub struct PictureBuffer {
    color: (*mut u8, usize),
    depth: (*mut u8, usize),
}

// SAFETY: it only notes where memory is. Code that accesses the memory argues why that is sound.
unsafe impl Send for PictureBuffer {}

impl PictureBuffer {
    /// Makes the picture one that shows nothing: colours of zero, and the largest depths.
    pub fn clear(layer: LayerMut<'_>, farthest: [u8; 4]) -> PictureBuffer {
        layer.color.fill(0);
        for depth in layer.depth.chunks_exact_mut(4) {
            depth.copy_from_slice(&farthest);
        }
        PictureBuffer {
            color: (layer.color.as_mut_ptr(), layer.color.len()),
            depth: (layer.depth.as_mut_ptr(), layer.depth.len()),
        }
    }

    /// Lets a function draw here: it gets `first`, and the memory of colours and depths. Afterwards
    /// it must not have kept any of that, because the group uses the memory again. Returns the
    /// rectangle that it has drawn, or None for all.
    ///
    /// # Errors
    /// What the function raises, and BufferError if it has kept memory. The caller must then make
    /// the group give up, so that the memory is never moved while arrays of it exist.
    pub fn have_drawn(
        self,
        py: Python<'_>,
        group: &Arc<Inner>,
        function: &Bound<'_, PyAny>,
        first: Option<usize>,
    ) -> PyResult<Option<Rectangle>> {
        let memory = |(start, len)| {
            let memory = Memory {
                start,
                len,
                users: AtomicUsize::new(0),
                is_over: AtomicBool::new(false),
                _group: group.clone(),
            };
            Bound::new(py, memory)
        };
        let memories = [memory(self.color)?, memory(self.depth)?];
        let [color, depth] = &memories;
        let called = match first {
            Some(first) => function.call1((first, color, depth)),
            None => function.call1((color, depth)),
        };
        for memory in &memories {
            memory.get().is_over.store(true, Ordering::Relaxed);
        }
        let called = called?;
        let covered = called.extract::<Option<(usize, usize, usize, usize)>>();
        drop(called);
        let are_used = || {
            let users = |memory: &Bound<'_, Memory>| memory.get().users.load(Ordering::Relaxed);
            memories.iter().map(users).sum::<usize>() > 0
        };
        if are_used() {
            // Cycles of unreachable objects may hold arrays.
            py.import("gc")?.call_method0("collect")?;
        }
        match are_used() {
            false => Ok(covered?.map(|(x, y, width, height)| Rectangle {
                columns: x..x.saturating_add(width),
                rows: y..y.saturating_add(height),
            })),
            true => Err(PyBufferError::new_err(
                "the function that draws has kept an array, or a view of one, whose memory the compositor uses again: keep a copy",
            )),
        }
    }
}
