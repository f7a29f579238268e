//! glPixelMap and glGetPixelMap.

use super::source::Pixels;
use crate::context::Context;
use crate::current::context;
use crate::gl::pixels::Extent;
use mgn_wire::encoder::Data;
use mgn_wire::gl::{GL_FLOAT, GL_RED, GL_UNSIGNED_BYTE, GL_UNSIGNED_INT, GL_UNSIGNED_SHORT};
use mgn_wire::ops;

/// The largest pixel map of any driver. Longer maps are refused without being read.
const MAP_MAX: i32 = 65_536;

/// The values of a map; none if the command has been refused.
///
/// # Safety
/// Without a pixel unpack buffer, `values` is null or holds the map if OpenGL accepts it.
unsafe fn values<T>(cx: &mut Context, size: i32, values: *const T) -> Option<Data> {
    if cx.unpack_buffer() != 0 {
        // SAFETY: an offset into the buffer.
        return unsafe {
            Pixels::of(
                cx,
                Extent::flat(size, 1),
                GL_RED,
                GL_UNSIGNED_BYTE,
                values.cast(),
            )?
            .data(cx)
        };
    }
    if values.is_null() || !(1..=MAP_MAX).contains(&size) {
        return Some(Data::Null);
    }
    Some(Data::Bytes(values.cast(), size as usize * size_of::<T>()))
}

macro_rules! pixel_maps {
    ($($set:ident $send:ident $get:ident $sized:ident $sized_arb:ident $ask:ident $op:ident: $type:ty, $gl_type:ident;)*) => {$(
        pub unsafe extern "C" fn $set(map: u32, size: i32, data: *const $type) {
            // SAFETY: the only reference in use, to the thread's own context, and the program's
            // values.
            unsafe {
                let cx = context();
                if cx.gl.in_begin() {
                    return cx.illegal_in_begin();
                }
                if let Some(data) = values(cx, size, data) {
                    cx.enc.$send(map, size, data);
                }
            }
        }

        pub unsafe extern "C" fn $get(map: u32, data: *mut $type) {
            // SAFETY: the same command, and the program's memory holds as many values as the map
            // has.
            unsafe { $sized(map, i32::MAX, data) }
        }

        pub unsafe extern "C" fn $sized(map: u32, size: i32, data: *mut $type) {
            // SAFETY: as above; the program's memory holds `size` bytes.
            unsafe {
                let cx = context();
                if cx.gl.in_begin() {
                    return cx.illegal_in_begin();
                }
                if cx.packs_into_buffer() {
                    cx.pack(|enc| enc.mgn_get_pixel_map_to(map, $gl_type, data as u64));
                    return;
                }
                cx.enc.$ask(map, MAP_MAX as u32);
                let mut answer = cx.answer(ops::$op);
                cx.give_sized(answer.next_array(size_of::<$type>()), size, data.cast());
            }
        }

        pub unsafe extern "C" fn $sized_arb(map: u32, size: i32, data: *mut $type) {
            // SAFETY: the same command.
            unsafe { $sized(map, size, data) }
        }
    )*};
}

pixel_maps! {
    glPixelMapfv gl_pixel_mapfv glGetPixelMapfv glGetnPixelMapfv glGetnPixelMapfvARB gl_get_pixel_mapfv GL_GET_PIXEL_MAPFV: f32, GL_FLOAT;
    glPixelMapuiv gl_pixel_mapuiv glGetPixelMapuiv glGetnPixelMapuiv glGetnPixelMapuivARB gl_get_pixel_mapuiv GL_GET_PIXEL_MAPUIV: u32, GL_UNSIGNED_INT;
    glPixelMapusv gl_pixel_mapusv glGetPixelMapusv glGetnPixelMapusv glGetnPixelMapusvARB gl_get_pixel_mapusv GL_GET_PIXEL_MAPUSV: u16, GL_UNSIGNED_SHORT;
}
