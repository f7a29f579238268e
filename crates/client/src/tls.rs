//! The current context of a thread: one initial-exec TLS word.
//!
//! `thread_local!` in a shared library calls `__tls_get_addr`, which doubles the cost of a scalar
//! command. An initial-exec word costs one load from the library's global offset table and one from
//! the thread's block. In return, the library's whole TLS segment must fit the loader's surplus of
//! static TLS, so it is kept small (`tests/exports.rs` checks that).
//!
//! The word is never null: without a context it points at
//! [`idle_context`], a context without room whose commands go nowhere.

use crate::context::Context;
use crate::nowhere;
use mgn_wire::Encoder;
use std::cell::UnsafeCell;

/// What the thread's word points at without a context: an encoder without room, and memory for a
/// state that is not used.
///
/// While no context is current, GLVND calls functions that do nothing, so entry points do not run
/// on this. If one runs nevertheless, it finds mapped memory and not a null pointer.
#[repr(C)]
pub struct Idle {
    context: UnsafeCell<IdleContext>,
}

#[repr(C, align(16))]
struct IdleContext {
    enc: Encoder,
    rest: [u8; size_of::<Context>() - size_of::<Encoder>()],
}

// SAFETY: the encoder is never changed (its room stays empty), and the rest is not used.
unsafe impl Sync for Idle {}

pub static IDLE: Idle = Idle {
    context: UnsafeCell::new(IdleContext {
        // SAFETY: the hook always returns memory that nobody reads.
        enc: unsafe { Encoder::new(nowhere::refill) },
        rest: [0; size_of::<Context>() - size_of::<Encoder>()],
    }),
};

pub fn idle_context() -> *mut Context {
    IDLE.context.get().cast()
}

/// Never null. Points at the idle context when the calling thread has none.
#[inline(always)]
pub fn current() -> *mut Context {
    word::load()
}

/// Makes `context` the calling thread's; null means none.
pub fn set_current(context: *mut Context) {
    word::store(if context.is_null() {
        idle_context()
    } else {
        context
    });
}

// Miri does not support assembly, so it checks the other implementation.
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod word {
    use super::Context;
    use std::arch::{asm, global_asm};

    global_asm!(
        ".pushsection .tdata,\"awT\",@progbits",
        ".balign 8",
        ".globl mgn_current_context",
        ".hidden mgn_current_context",
        ".type mgn_current_context,@object",
        ".size mgn_current_context,8",
        "mgn_current_context:",
        ".quad {idle}",
        ".popsection",
        idle = sym super::IDLE,
    );

    #[inline(always)]
    pub fn load() -> *mut Context {
        let context: *mut Context;
        // SAFETY: reads the calling thread's own word; the symbol is defined above in this library
        // and the linker fills the offset in.
        unsafe {
            asm!(
                "mov {0}, qword ptr [rip + mgn_current_context@GOTTPOFF]",
                "mov {0}, qword ptr fs:[{0}]",
                out(reg) context,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        context
    }

    #[inline]
    pub fn store(context: *mut Context) {
        // SAFETY: writes the calling thread's own word, which nothing else refers to.
        unsafe {
            asm!(
                "mov {0}, qword ptr [rip + mgn_current_context@GOTTPOFF]",
                "mov qword ptr fs:[{0}], {1}",
                out(reg) _,
                in(reg) context,
                options(nostack, preserves_flags)
            );
        }
    }
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
mod word {
    use super::{idle_context, Context};
    use std::cell::Cell;

    thread_local! {
        static CURRENT: Cell<*mut Context> = const { Cell::new(std::ptr::null_mut()) };
    }

    #[inline(always)]
    pub fn load() -> *mut Context {
        let context = CURRENT.with(Cell::get);
        if context.is_null() {
            idle_context()
        } else {
            context
        }
    }

    pub fn store(context: *mut Context) {
        CURRENT.with(|word| word.set(context));
    }
}
