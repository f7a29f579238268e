//! GL_CR_synchronization: barriers and semaphores in the streams, which define the order in which
//! several programs draw into one window.
//!
//! While a program waits in a renderer, this renderer executes nothing more of its stream, so the
//! waiting command is the last one of its message. The program itself continues, until it asks for
//! something or has handed over as many frames as it may. Other programs may wait for each of these
//! commands, so each is sent at once.
//!
//! On a wall, every renderer executes the same streams, but not at the same speed. Barriers still
//! have the same effect at all of them. For a semaphore, the renderer of tile 0 decides which
//! program is next: the client waits for its decision, and then tells the other renderers.

use crate::context::Context;
use crate::current::context;
use mgn_wire::{ops, Encoder};
use std::sync::PoisonError;

macro_rules! order {
    ($($name:ident: $send:ident($($param:ident),+);)+) => {$(
        pub unsafe extern "C" fn $name($($param: u32),+) {
            let _ = order(|e| e.$send($($param),+));
        }
    )+};
}

order! {
    glBarrierCreateCR: gl_barrier_create_cr(name, count);
    glBarrierDestroyCR: gl_barrier_destroy_cr(name);
    glSemaphoreCreateCR: gl_semaphore_create_cr(name, initial);
    glSemaphoreDestroyCR: gl_semaphore_destroy_cr(name);
    glSemaphoreVCR: gl_semaphore_vcr(name);
}

pub unsafe extern "C" fn glBarrierExecCR(name: u32) {
    wait(|e| e.gl_barrier_exec_cr(name), |_| ());
}

pub unsafe extern "C" fn glSemaphorePCR(name: u32) {
    let pass = |cx: &mut Context| {
        cx.enc.mgn_ticket(1);
        let (mut answer, mut ticket) = (cx.answer(ops::MGN_TICKET), 0u64);
        // SAFETY: there is room for one.
        unsafe { answer.array(&mut ticket, 1) };
        // After an error there is no ticket.
        if ticket != 0 {
            cx.enc.mgn_pass(name, ticket);
            cx.flush();
        }
    };
    wait(|e| e.gl_semaphore_pcr(name), pass);
}

/// Sends a waiting command. On a wall also sends what must follow before any other waiting command.
fn wait(write: impl FnOnce(&mut Encoder), follow: impl FnOnce(&mut Context)) {
    // SAFETY: the only reference in use, to the thread's own context.
    let session = unsafe { context() }.session;
    let wall = session.filter(|session| session.wall().is_some());
    let turn = wall.map(|wall| wall.waiting.lock().unwrap_or_else(PoisonError::into_inner));
    let Some(cx) = order(write) else { return };
    if wall.is_some() {
        follow(cx);
        drop(turn);
        cx.others_have_drawn();
    }
}

/// Sends a command at once. None if it is not allowed now.
fn order(write: impl FnOnce(&mut Encoder)) -> Option<&'static mut Context> {
    // SAFETY: the only reference in use, to the thread's own context.
    let cx = unsafe { context() };
    if cx.is_illegal_now() {
        cx.illegal_in_begin::<()>();
        return None;
    }
    write(&mut cx.enc);
    cx.flush();
    Some(cx)
}
