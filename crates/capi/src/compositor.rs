//! A compositor of this process, and the outlet that shows its pictures.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};
use std::thread::{self, ThreadId};

use mgn_composite::{Group, PictureRef, Terms};
use mgn_outlet::Attached;

use crate::fault::{not_shown, Code, Fault};
use crate::sync::lock;

pub(crate) struct Compositor {
    group: Mutex<Group<'static>>,
    /// The thread that is running a draw or show function for this compositor, if any.
    caller: Mutex<Option<ThreadId>>,
    attached: Mutex<Option<Attached>>,
}

impl Compositor {
    pub(crate) fn new(group: Group<'static>) -> Compositor {
        Compositor {
            group: Mutex::new(group),
            caller: Mutex::new(None),
            attached: Mutex::new(None),
        }
    }

    /// Sets the outlet that shows the pictures of this process.
    pub(crate) fn attach(&self, attached: Option<Attached>) -> Result<(), Fault> {
        self.check_caller()?;
        *lock(&self.attached) = attached;
        Ok(())
    }

    pub(crate) fn attached(&self) -> Option<Attached> {
        lock(&self.attached).clone()
    }

    /// Shows a composited picture of rank `rank` in the attached outlet, if there is one.
    pub(crate) fn show(
        &self,
        rank: usize,
        terms: &Terms,
        merged: &(Range<usize>, PictureRef<'_>),
    ) -> Result<(), Fault> {
        let shown = self
            .attached()
            .map_or(Ok(()), |attached| attached.show(rank, terms, merged));
        shown.map_err(|error| not_shown(&error))
    }

    /// Refuses a call by a draw or show function for the compositor that is calling it.
    pub(crate) fn check_caller(&self) -> Result<(), Fault> {
        let caller = *lock(&self.caller);
        match caller == Some(thread::current().id()) {
            true => Err(Fault::new(
                Code::State,
                "a function that draws or shows a tile must not use its compositor",
            )),
            false => Ok(()),
        }
    }

    /// The group. Waits until no other thread uses it.
    pub(crate) fn group(&self) -> Result<MutexGuard<'_, Group<'static>>, Fault> {
        self.check_caller()?;
        Ok(lock(&self.group))
    }
}

/// Marks the time in which the program's draw and show functions may run.
pub(crate) struct Calling<'c>(&'c Compositor);

impl Calling<'_> {
    pub(crate) fn new(compositor: &Compositor) -> Calling<'_> {
        let calling = Calling(compositor);
        calling.set(Some(thread::current().id()));
        calling
    }

    fn set(&self, caller: Option<ThreadId>) {
        *lock(&self.0.caller) = caller;
    }
}

impl Drop for Calling<'_> {
    fn drop(&mut self) {
        self.set(None);
    }
}
