//! GL_CR_synchronization: the order in which several programs draw into one window, by barriers and
//! semaphores in their streams.
//!
//! The renderer that a program waits in does not read its stream on, so what waits is the last
//! command of its message. The program itself goes on, until it asks for something or has handed
//! over as many frames as it may. Others may wait for each of these commands, so each is sent at
//! once.

use crate::current::context;
use mgn_wire::Encoder;

macro_rules! order {
    ($($name:ident: $send:ident($($param:ident),+);)+) => {$(
        pub unsafe extern "C" fn $name($($param: u32),+) {
            // SAFETY: written to an encoder that has room.
            order(|e| unsafe { e.$send($($param),+) });
        }
    )+};
}

order! {
    glBarrierCreateCR: gl_barrier_create_cr(name, count);
    glBarrierDestroyCR: gl_barrier_destroy_cr(name);
    glBarrierExecCR: gl_barrier_exec_cr(name);
    glSemaphoreCreateCR: gl_semaphore_create_cr(name, initial);
    glSemaphoreDestroyCR: gl_semaphore_destroy_cr(name);
    glSemaphorePCR: gl_semaphore_pcr(name);
    glSemaphoreVCR: gl_semaphore_vcr(name);
}

fn order(write: impl FnOnce(&mut Encoder)) {
    // SAFETY: the only reference in use, to the thread's own context.
    let cx = unsafe { context() };
    if cx.is_illegal_now() {
        return cx.illegal_in_begin();
    }
    write(&mut cx.enc);
    cx.flush();
}
