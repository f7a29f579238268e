//! Commands that are not supported.

use crate::current::context;
use mgn_wire::gl;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// A command that is not supported raises GL_INVALID_OPERATION. The first time, this is logged.
#[cold]
pub fn refused(name: &'static str) {
    static SAID: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    if SAID.lock().unwrap_or_else(|e| e.into_inner()).insert(name) {
        eprintln!("mgn: the program calls {name}, which Manganese does not support: it gets GL_INVALID_OPERATION");
    }
    // SAFETY: the only reference in use.
    unsafe { context() }.set_error(gl::GL_INVALID_OPERATION);
}
