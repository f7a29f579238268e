//! The definitions of evaluators. Only the driver knows how many values they have.

use crate::context::Context;
use crate::current::context;
use mgn_wire::sizes::image::map_values;
use mgn_wire::{gl::*, ops};

/// The number of values of `query` of an evaluator. Costs a round trip for control points. If the
/// query is invalid, the error is raised when it is sent.
fn values_of(cx: &mut Context, target: u32, query: u32) -> u32 {
    let dimensions = if (GL_MAP2_COLOR_4..=GL_MAP2_VERTEX_4).contains(&target) {
        2
    } else {
        1
    };
    match query {
        GL_ORDER => dimensions,
        GL_DOMAIN => 2 * dimensions,
        GL_COEFF => {
            let mut order = [0; 2];
            // SAFETY: the context's own encoder; there is room for the values.
            unsafe {
                cx.enc.gl_get_mapiv(target, GL_ORDER, dimensions);
                cx.answer(ops::GL_GET_MAPIV)
                    .array(order.as_mut_ptr(), dimensions as usize);
            }
            let [u, v] = order;
            let v = if dimensions == 2 { v } else { 1 };
            map_values(target, u, v)
                .and_then(|n| u32::try_from(n).ok())
                .unwrap_or(0)
        }
        _ => 1,
    }
}

macro_rules! map_queries {
    ($($name:ident $sized:ident $sized_arb:ident: $ty:ty, $send:ident, $op:ident;)*) => {
        $(pub unsafe extern "C" fn $name(target: u32, query: u32, v: *mut $ty) {
            // SAFETY: the program gives room for the values; the only reference in use, to the
            // thread's own context.
            unsafe {
                let cx = context();
                if cx.gl.in_begin() {
                    return cx.illegal_in_begin();
                }
                let count = if v.is_null() { 0 } else { values_of(cx, target, query) };
                cx.enc.$send(target, query, count);
                cx.answer(ops::$op).array(v, count as usize);
            }
        }

        pub unsafe extern "C" fn $sized(target: u32, query: u32, size: i32, v: *mut $ty) {
            // SAFETY: the program gives room for `size` bytes; the only reference in use.
            unsafe {
                let cx = context();
                if cx.gl.in_begin() {
                    return cx.illegal_in_begin();
                }
                let count = values_of(cx, target, query);
                cx.enc.$send(target, query, count);
                let mut answer = cx.answer(ops::$op);
                let values = answer.next_array(size_of::<$ty>());
                // An invalid query has an empty answer, whatever its size.
                if !values.is_empty() {
                    cx.give_sized(values, size.max(0), v.cast());
                }
            }
        }

        pub unsafe extern "C" fn $sized_arb(target: u32, query: u32, size: i32, v: *mut $ty) {
            // SAFETY: the same command.
            unsafe { $sized(target, query, size, v) }
        })*
    };
}

map_queries! {
    glGetMapdv glGetnMapdv glGetnMapdvARB: f64, gl_get_mapdv, GL_GET_MAPDV;
    glGetMapfv glGetnMapfv glGetnMapfvARB: f32, gl_get_mapfv, GL_GET_MAPFV;
    glGetMapiv glGetnMapiv glGetnMapivARB: i32, gl_get_mapiv, GL_GET_MAPIV;
}
