//! Current values in fixed-point numbers. Unlike the commands with floats, these commands are not
//! allowed between glBegin and glEnd, and display lists do not hold them.

use crate::current::context;
use crate::gl::tracked::Tracked;
use mgn_wire::ops;

macro_rules! outside_only {
    ($($name:ident($($argument:ident: $type:ty),*) $send:ident $op:ident;)*) => {$(
        pub unsafe extern "C" fn $name($($argument: $type),*) {
            // SAFETY: the only reference in use, to the thread's own context.
            unsafe {
                let cx = context();
                if cx.gl.in_begin() {
                    return cx.illegal_in_begin();
                }
                if let Some(error) = cx.gl.state.$send($($argument),*).refusal() {
                    return cx.set_error(error);
                }
                cx.enc.$send($($argument),*);
                // They are errors in contexts without these commands.
                cx.enc.doubt = ops::$op;
            }
        }
    )*};
}

outside_only! {
    glColor4x(red: i32, green: i32, blue: i32, alpha: i32) gl_color4x GL_COLOR4X;
    glNormal3x(x: i32, y: i32, z: i32) gl_normal3x GL_NORMAL3X;
    glMultiTexCoord4x(texture: u32, s: i32, t: i32, r: i32, q: i32) gl_multi_tex_coord4x GL_MULTI_TEX_COORD4X;
}
