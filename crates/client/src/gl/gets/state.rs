//! glGetIntegerv and similar commands.

use super::answer::take;
use crate::context::Context;
use crate::current::context;
use crate::gl::buffers::bound;
use crate::gl::tracked::values;
use mgn_state::{current, fixed_of, Answer, Values};
use mgn_wire::gl::*;
use mgn_wire::sizes::gets;
use mgn_wire::{ops, Plain};

/// A value that the client knows.
enum Known<'a> {
    /// An integer that is stored outside the shadow.
    Kept(i64),
    Shadowed(Values<'a>),
}

/// Values in one of the types that gets return.
macro_rules! read_as {
    ($($name:ident: $type:ty;)*) => {$(
        fn $name(&self, i: usize) -> $type {
            match self {
                Known::Kept(value) => *value as $type,
                Known::Shadowed(values) => values.$name(i),
            }
        }
    )*};
}

impl Known<'_> {
    fn len(&self) -> usize {
        match self {
            Known::Kept(_) => 1,
            Known::Shadowed(values) => values.len(),
        }
    }

    read_as! { int: i32; int64: i64; float: f32; double: f64; }

    fn fixed(&self, i: usize) -> i32 {
        match self {
            Known::Kept(value) => fixed_of(*value),
            Known::Shadowed(values) => values.fixed(i),
        }
    }

    fn boolean(&self, i: usize) -> u8 {
        match self {
            Known::Kept(value) => u8::from(*value != 0),
            Known::Shadowed(values) => values.boolean(i),
        }
    }
}

/// Defines the command for each return type, and `$get`, which does the work on a given context.
/// `quick` is tried first. `most` limits how many values are answered here.
macro_rules! get_commands {
    ($($name:ident $get:ident: $type:ty, $value:ident, ask $ask:ident $op:ident, learn $learn:ident, quick $quick:ident, most $most:expr;)*) => {$(
        pub unsafe extern "C" fn $name(pname: u32, data: *mut $type) {
            // SAFETY: the only reference in use, to the thread's own context; the program has room
            // for the values of `pname`.
            unsafe { $get(context(), pname, data) }
        }

        /// # Safety
        /// There is room for the values of `pname` at `data`.
        #[inline(always)]
        unsafe fn $get(cx: &mut Context, pname: u32, data: *mut $type) {
            if cx.is_illegal_now() {
                return cx.illegal_in_begin();
            }
            // SAFETY: the caller's promise, and the context's own encoder.
            unsafe {
                if let Some(value) = $quick(cx, pname) {
                    return data.write(value);
                }
                if let Some(known) = cx.known(pname).filter(|known| known.len() <= $most) {
                    for i in 0..known.len() {
                        data.add(i).write(known.$value(i));
                    }
                    return;
                }
                let most = cx.value_count(pname);
                cx.enc.$ask(pname, most as u32);
                let count = take(cx.answer(ops::$op), data, most);
                $learn(cx, pname, values(data, count));
            }
        }
    )*};
}

get_commands! {
    glGetIntegerv get_integers: i32, int, ask gl_get_integerv GL_GET_INTEGERV, learn learn_integers, quick one_integer, most usize::MAX;
    // Drivers differ in how they convert matrices to 64-bit integers.
    glGetInteger64v get_integers64: i64, int64, ask gl_get_integer64v GL_GET_INTEGER64V, learn learn_nothing, quick nothing, most 8;
    glGetFloatv get_floats: f32, float, ask gl_get_floatv GL_GET_FLOATV, learn learn_floats, quick nothing, most usize::MAX;
    glGetDoublev get_doubles: f64, double, ask gl_get_doublev GL_GET_DOUBLEV, learn learn_doubles, quick nothing, most usize::MAX;
    glGetFixedv get_fixed: i32, fixed, ask gl_get_fixedv GL_GET_FIXEDV, learn learn_nothing, quick nothing, most usize::MAX;
    glGetBooleanv get_booleans: u8, boolean, ask gl_get_booleanv GL_GET_BOOLEANV, learn learn_nothing, quick nothing, most usize::MAX;
}

/// The most frequent queries: integers that the shadow finds at once. Other values may be stored
/// outside the shadow.
#[inline(always)]
fn one_integer(cx: &Context, pname: u32) -> Option<i32> {
    if pname >= FIRST_KEPT {
        return None;
    }
    cx.gl.state.integer(pname)
}

#[inline(always)]
fn nothing<T>(_: &Context, _: u32) -> Option<T> {
    None
}

fn learn_integers(cx: &mut Context, pname: u32, values: &[i32]) {
    cx.gl.state.learn_integers(pname, values);
}

fn learn_floats(cx: &mut Context, pname: u32, values: &[f32]) {
    cx.gl.state.learn_floats(pname, values);
}

fn learn_doubles(cx: &mut Context, pname: u32, values: &[f64]) {
    cx.gl.state.learn_doubles(pname, values);
}

/// Answers of these types lack a part of the value, or contain more than the shadow can store.
fn learn_nothing<T: Plain>(_: &mut Context, _: u32, _: &[T]) {}

impl Context {
    /// The value of a name, if it is known here.
    fn known(&mut self, pname: u32) -> Option<Known<'_>> {
        if pname >= FIRST_KEPT || pname == GL_CLIENT_ATTRIB_STACK_DEPTH {
            if let Some(value) = self.kept(pname) {
                return Some(Known::Kept(value));
            }
        }
        if is_current(pname) && matches!(self.gl.state.get(pname), Answer::Unknown) {
            self.ask_current(pname);
        }
        match self.gl.state.get(pname) {
            Answer::Values(values) => Some(Known::Shadowed(values)),
            Answer::Unknown => None,
        }
    }

    /// Values that are stored outside the shadow: buffer bindings and arrays.
    fn kept(&self, pname: u32) -> Option<i64> {
        match buffer_target(pname) {
            Some(target) => bound(self, target).ok().map(i64::from),
            None if self.gl.has_fixed_function() || pname == GL_VERTEX_ARRAY_BINDING => {
                self.gl.arrays.get(pname, self.gl.is_es1())
            }
            None => None,
        }
    }

    /// Asks the server for a current attribute after a change that the client does not compute.
    #[cold]
    fn ask_current(&mut self, pname: u32) {
        let Some(attribute) = self.current_attribute(pname) else {
            return;
        };
        let count = gets::values(pname).unwrap_or(1);
        self.enc.gl_get_floatv(pname, count as u32);
        let mut answer = self.answer(ops::GL_GET_FLOATV);
        let bytes = answer.next_array(4);
        if bytes.len() != count * 4 {
            return;
        }
        let mut value = [0.0, 0.0, 0.0, 1.0];
        for (to, from) in value.iter_mut().zip(bytes.chunks_exact(4)) {
            *to = f32::from_le_bytes([from[0], from[1], from[2], from[3]]);
        }
        self.gl.state.current.values[attribute] = value;
    }

    /// The index of a current attribute in the shadow.
    fn current_attribute(&self, pname: u32) -> Option<usize> {
        Some(match pname {
            GL_CURRENT_COLOR => current::COLOR,
            GL_CURRENT_SECONDARY_COLOR => current::SECONDARY_COLOR,
            GL_CURRENT_NORMAL => current::NORMAL,
            GL_CURRENT_FOG_COORD => current::FOG_COORD,
            GL_CURRENT_INDEX => current::INDEX,
            GL_EDGE_FLAG => current::EDGE_FLAG,
            _ => {
                let unit = self.gl.state.get(GL_ACTIVE_TEXTURE).values()?.int(0) as usize
                    - GL_TEXTURE0 as usize;
                (unit < current::GENERIC - current::TEXTURE).then_some(current::TEXTURE + unit)?
            }
        })
    }

    /// The number of values that the program must have room for.
    fn value_count(&mut self, pname: u32) -> usize {
        let Some(counted_by) = gets::counted_by(pname) else {
            return gets::values(pname).unwrap_or(1);
        };
        let mut count = 0;
        // SAFETY: there is room for the one value.
        unsafe { get_integers(self, counted_by, &mut count) };
        count.max(0) as usize
    }
}

/// Whether a name is that of a current attribute.
fn is_current(pname: u32) -> bool {
    matches!(
        pname,
        GL_CURRENT_COLOR
            | GL_CURRENT_SECONDARY_COLOR
            | GL_CURRENT_NORMAL
            | GL_CURRENT_FOG_COORD
            | GL_CURRENT_INDEX
            | GL_EDGE_FLAG
            | GL_CURRENT_TEXTURE_COORDS
    )
}

/// The lowest name, with one exception, whose value is stored outside the shadow. The old names,
/// which programs query most often, are lower.
const FIRST_KEPT: u32 = GL_VERTEX_ARRAY;

/// The target whose binding `pname` queries.
fn buffer_target(pname: u32) -> Option<u32> {
    Some(match pname {
        GL_ARRAY_BUFFER_BINDING => GL_ARRAY_BUFFER,
        GL_ELEMENT_ARRAY_BUFFER_BINDING => GL_ELEMENT_ARRAY_BUFFER,
        GL_PIXEL_PACK_BUFFER_BINDING => GL_PIXEL_PACK_BUFFER,
        GL_PIXEL_UNPACK_BUFFER_BINDING => GL_PIXEL_UNPACK_BUFFER,
        GL_COPY_READ_BUFFER_BINDING => GL_COPY_READ_BUFFER,
        GL_COPY_WRITE_BUFFER_BINDING => GL_COPY_WRITE_BUFFER,
        GL_UNIFORM_BUFFER_BINDING => GL_UNIFORM_BUFFER,
        GL_TEXTURE_BUFFER_BINDING => GL_TEXTURE_BUFFER,
        GL_TRANSFORM_FEEDBACK_BUFFER_BINDING => GL_TRANSFORM_FEEDBACK_BUFFER,
        GL_DRAW_INDIRECT_BUFFER_BINDING => GL_DRAW_INDIRECT_BUFFER,
        _ => return None,
    })
}
