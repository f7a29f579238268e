//! Queries to the driver. State that it refuses to return does not exist in the context.

use crate::generated::driver::Gl;
use mgn_wire::{gl::*, Plain};

/// More than the number of values of any parameter.
pub(super) const VALUES: usize = 64;

/// A driver whose current context has no unread error.
pub(super) struct Driver<'a> {
    pub gl: &'a Gl,
}

impl Driver<'_> {
    /// The values that `ask` writes; none if it raises an error.
    pub fn answer<T: Plain>(&self, ask: impl FnOnce(*mut T)) -> Option<[T; VALUES]> {
        let mut values = [T::default(); VALUES];
        let to = values.as_mut_ptr();
        self.accepts(|| ask(to)).then_some(values)
    }

    /// Whether `work` raises no error.
    pub fn accepts(&self, work: impl FnOnce()) -> bool {
        self.forget_errors();
        work();
        // SAFETY: a context is current.
        unsafe { (self.gl.glGetError)() == GL_NO_ERROR }
    }

    /// Takes a bounded number of errors, because a lost context reports errors forever.
    pub fn forget_errors(&self) {
        // SAFETY: a context is current.
        let error = || unsafe { (self.gl.glGetError)() };
        (0..8).any(|_| error() == GL_NO_ERROR);
    }

    pub fn integers(&self, pname: u32) -> Option<[i32; VALUES]> {
        query!(self, glGetIntegerv(pname))
    }

    pub fn floats(&self, pname: u32) -> Option<[f32; VALUES]> {
        query!(self, glGetFloatv(pname))
    }

    /// An integer; 0 if the driver refuses the parameter.
    pub fn integer(&self, pname: u32) -> i32 {
        self.integers(pname).map_or(0, |values| values[0])
    }

    pub fn number(&self, pname: u32) -> u32 {
        self.integer(pname) as u32
    }

    /// Whether a capability is enabled; none if the driver refuses it.
    pub fn is_on(&self, cap: u32) -> Option<bool> {
        let mut on = false;
        // SAFETY: a context is current.
        self.accepts(|| on = unsafe { (self.gl.glIsEnabled)(cap) } != 0)
            .then_some(on)
    }

    pub fn is_on_at(&self, cap: u32, index: u32) -> Option<bool> {
        let mut on = false;
        // SAFETY: a context is current.
        self.accepts(|| on = unsafe { (self.gl.glIsEnabledi)(cap, index) } != 0)
            .then_some(on)
    }

    pub fn integers_at(&self, pname: u32, index: u32) -> Option<[i32; VALUES]> {
        query!(self, glGetIntegeri_v(pname, index))
    }

    pub fn number_at(&self, pname: u32, index: u32) -> u32 {
        self.integers_at(pname, index)
            .map_or(0, |values| values[0] as u32)
    }
}

/// Makes the driver execute a command that reads or writes no more than the memory it is given.
macro_rules! call {
    ($driver:expr, $command:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: a context is current, and pointers among the arguments lead to as much memory as
        // the command reads or writes.
        unsafe { ($driver.gl.$command)($($argument),*) }
    }};
}
pub(super) use call;

/// Asks for the values of a parameter; none if the driver refuses.
macro_rules! query {
    ($driver:expr, $command:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: a context is current, and there is room for more values than any queried
        // parameter has.
        $driver.answer(|to| unsafe { ($driver.gl.$command)($($argument,)* to) })
    };
}
pub(super) use query;
