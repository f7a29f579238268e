//! The entry points of immediate mode, and of other commands that are legal between glBegin and
//! glEnd.
//!
//! Integers become floats by OpenGL 2.1, table 2.9 (as in Mesa), for colours and normals: unsigned
//! `c / (2^b - 1)`, signed `(2c + 1) / (2^b - 1)`.

use crate::context::Context;
use crate::current::context;
use crate::immediate::block::Block;
use mgn_wire::draws::attr;
use mgn_wire::{gl, ops};

pub unsafe extern "C" fn glBegin(mode: u32) {
    // SAFETY: the only reference in use.
    unsafe { context() }.begin(mode);
}

pub unsafe extern "C" fn glEnd() {
    // SAFETY: as above.
    unsafe { context() }.end();
}

pub unsafe extern "C" fn glPrimitiveRestartNV() {
    // SAFETY: as above.
    unsafe { context() }.restart();
}

#[inline(always)]
pub(super) fn vertex<const N: usize>(cx: &mut Context, v: [f32; N]) {
    let im = &mut cx.gl.immediate;
    let at = im.at;
    if at <= im.limit[N] {
        return im.append(at, &v);
    }
    let [x, y, z, w] = widen(v);
    cx.slow_vertex(N as u8, x, y, z, w);
}

#[inline(always)]
pub(super) fn attribute<const N: usize>(cx: &mut Context, attribute: u8, v: [f32; N]) {
    let im = &mut cx.gl.immediate;
    if usize::from(im.components[usize::from(attribute)]) == N {
        let slot = usize::from(im.slot[usize::from(attribute)]);
        // SAFETY: slots lie within the template.
        unsafe { *im.template.get_unchecked_mut(slot) = Block::new(v) };
        return;
    }
    if im.is_plainly_outside() {
        cx.gl.state.current.values[usize::from(attribute)] = widen(v);
        return cx.send_attribute(attribute, N as u8, widen(v));
    }
    let [x, y, z, w] = widen(v);
    cx.attribute(attribute, N as u8, x, y, z, w);
}

/// Missing components come from (0, 0, 0, 1).
#[inline(always)]
fn widen<const N: usize>(v: [f32; N]) -> [f32; 4] {
    let mut wide = [0.0, 0.0, 0.0, 1.0];
    wide[..N].copy_from_slice(&v);
    wide
}

/// A value that is converted without scaling.
pub trait Plainly: Copy {
    fn plainly(self) -> f32;
}

/// A value that is mapped from the range of its type to 0..1 or -1..1.
pub trait Normally: Copy {
    fn normally(self) -> f32;
}

macro_rules! conversions {
    ($($type:ty, $v:ident => $normal:expr;)*) => {
        $(impl Plainly for $type {
            #[inline(always)]
            fn plainly(self) -> f32 {
                self as f32
            }
        }
        impl Normally for $type {
            #[inline(always)]
            fn normally(self) -> f32 {
                let $v = self;
                $normal
            }
        })*
    };
}

conversions! {
    f32, v => v;
    f64, v => v as f32;
    u8, v => f32::from(v) / 255.0;
    i8, v => (2.0 * f32::from(v) + 1.0) * (1.0 / 255.0);
    u16, v => f32::from(v) * (1.0 / 65535.0);
    i16, v => (2.0 * f32::from(v) + 1.0) * (1.0 / 65535.0);
    u32, v => (f64::from(v) * (1.0 / 4_294_967_295.0)) as f32;
    i32, v => ((2.0 * f64::from(v) + 1.0) * (1.0 / 4_294_967_294.0)) as f32;
}

/// Reads `N` values.
///
/// # Safety
/// They lie at `v`.
#[inline(always)]
pub(super) unsafe fn load<T: Copy, const N: usize>(v: *const T) -> [T; N] {
    // SAFETY: the caller's promise.
    unsafe { v.cast::<[T; N]>().read_unaligned() }
}

macro_rules! vertices {
    ($($n:tt $type:ty: $name:ident, $vector:ident;)*) => {
        $(vertices!(@scalar $n $type, $name);
        pub unsafe extern "C" fn $vector(v: *const $type) {
            // SAFETY: the program gives $n values; the only reference in use.
            unsafe { vertex(context(), load::<$type, $n>(v).map(Plainly::plainly)) }
        })*
    };
    (@scalar 2 $type:ty, $name:ident) => {
        pub unsafe extern "C" fn $name(x: $type, y: $type) {
            // SAFETY: the only reference in use.
            vertex(unsafe { context() }, [x.plainly(), y.plainly()]);
        }
    };
    (@scalar 3 $type:ty, $name:ident) => {
        pub unsafe extern "C" fn $name(x: $type, y: $type, z: $type) {
            // SAFETY: the only reference in use.
            vertex(unsafe { context() }, [x.plainly(), y.plainly(), z.plainly()]);
        }
    };
    (@scalar 4 $type:ty, $name:ident) => {
        pub unsafe extern "C" fn $name(x: $type, y: $type, z: $type, w: $type) {
            // SAFETY: the only reference in use.
            vertex(unsafe { context() }, [x.plainly(), y.plainly(), z.plainly(), w.plainly()]);
        }
    };
}

vertices! {
    2 f32: glVertex2f, glVertex2fv; 2 f64: glVertex2d, glVertex2dv; 2 i32: glVertex2i, glVertex2iv; 2 i16: glVertex2s, glVertex2sv;
    3 f32: glVertex3f, glVertex3fv; 3 f64: glVertex3d, glVertex3dv; 3 i32: glVertex3i, glVertex3iv; 3 i16: glVertex3s, glVertex3sv;
    4 f32: glVertex4f, glVertex4fv; 4 f64: glVertex4d, glVertex4dv; 4 i32: glVertex4i, glVertex4iv; 4 i16: glVertex4s, glVertex4sv;
}

pub(super) use vertices;

/// Entry points of attributes with a fixed slot.
macro_rules! attributes {
    ($($attr:ident $how:ident $n:tt $type:ty: $name:ident, $vector:ident;)*) => {
        $(attributes!(@scalar $attr $how $n $type, $name);
        pub unsafe extern "C" fn $vector(v: *const $type) {
            // SAFETY: the program gives $n values; the only reference in use.
            unsafe { attribute(context(), attr::$attr, load::<$type, $n>(v).map(|v| v.$how())) }
        })*
    };
    (@scalar $attr:ident $how:ident 1 $type:ty, $name:ident) => {
        pub unsafe extern "C" fn $name(x: $type) {
            // SAFETY: the only reference in use.
            attribute(unsafe { context() }, attr::$attr, [x.$how()]);
        }
    };
    (@scalar $attr:ident $how:ident 2 $type:ty, $name:ident) => {
        pub unsafe extern "C" fn $name(x: $type, y: $type) {
            // SAFETY: the only reference in use.
            attribute(unsafe { context() }, attr::$attr, [x.$how(), y.$how()]);
        }
    };
    (@scalar $attr:ident $how:ident 3 $type:ty, $name:ident) => {
        pub unsafe extern "C" fn $name(x: $type, y: $type, z: $type) {
            // SAFETY: the only reference in use.
            attribute(unsafe { context() }, attr::$attr, [x.$how(), y.$how(), z.$how()]);
        }
    };
    (@scalar $attr:ident $how:ident 4 $type:ty, $name:ident) => {
        pub unsafe extern "C" fn $name(x: $type, y: $type, z: $type, w: $type) {
            // SAFETY: the only reference in use.
            attribute(unsafe { context() }, attr::$attr, [x.$how(), y.$how(), z.$how(), w.$how()]);
        }
    };
}

attributes! {
    NORMAL normally 3 f32: glNormal3f, glNormal3fv; NORMAL normally 3 f64: glNormal3d, glNormal3dv;
    NORMAL normally 3 i32: glNormal3i, glNormal3iv; NORMAL normally 3 i16: glNormal3s, glNormal3sv; NORMAL normally 3 i8: glNormal3b, glNormal3bv;
    COLOR normally 3 f32: glColor3f, glColor3fv; COLOR normally 3 f64: glColor3d, glColor3dv;
    COLOR normally 3 i32: glColor3i, glColor3iv; COLOR normally 3 i16: glColor3s, glColor3sv; COLOR normally 3 i8: glColor3b, glColor3bv;
    COLOR normally 3 u32: glColor3ui, glColor3uiv; COLOR normally 3 u16: glColor3us, glColor3usv; COLOR normally 3 u8: glColor3ub, glColor3ubv;
    COLOR normally 4 f32: glColor4f, glColor4fv; COLOR normally 4 f64: glColor4d, glColor4dv;
    COLOR normally 4 i32: glColor4i, glColor4iv; COLOR normally 4 i16: glColor4s, glColor4sv; COLOR normally 4 i8: glColor4b, glColor4bv;
    COLOR normally 4 u32: glColor4ui, glColor4uiv; COLOR normally 4 u16: glColor4us, glColor4usv; COLOR normally 4 u8: glColor4ub, glColor4ubv;
    SECONDARY normally 3 f32: glSecondaryColor3f, glSecondaryColor3fv; SECONDARY normally 3 f64: glSecondaryColor3d, glSecondaryColor3dv;
    SECONDARY normally 3 i32: glSecondaryColor3i, glSecondaryColor3iv; SECONDARY normally 3 i16: glSecondaryColor3s, glSecondaryColor3sv;
    SECONDARY normally 3 i8: glSecondaryColor3b, glSecondaryColor3bv; SECONDARY normally 3 u32: glSecondaryColor3ui, glSecondaryColor3uiv;
    SECONDARY normally 3 u16: glSecondaryColor3us, glSecondaryColor3usv; SECONDARY normally 3 u8: glSecondaryColor3ub, glSecondaryColor3ubv;
    FOG plainly 1 f32: glFogCoordf, glFogCoordfv; FOG plainly 1 f64: glFogCoordd, glFogCoorddv;
    INDEX plainly 1 f32: glIndexf, glIndexfv; INDEX plainly 1 f64: glIndexd, glIndexdv; INDEX plainly 1 i32: glIndexi, glIndexiv;
    INDEX plainly 1 i16: glIndexs, glIndexsv; INDEX plainly 1 u8: glIndexub, glIndexubv;
    TEXCOORD plainly 1 f32: glTexCoord1f, glTexCoord1fv; TEXCOORD plainly 1 f64: glTexCoord1d, glTexCoord1dv;
    TEXCOORD plainly 1 i32: glTexCoord1i, glTexCoord1iv; TEXCOORD plainly 1 i16: glTexCoord1s, glTexCoord1sv;
    TEXCOORD plainly 2 f32: glTexCoord2f, glTexCoord2fv; TEXCOORD plainly 2 f64: glTexCoord2d, glTexCoord2dv;
    TEXCOORD plainly 2 i32: glTexCoord2i, glTexCoord2iv; TEXCOORD plainly 2 i16: glTexCoord2s, glTexCoord2sv;
    TEXCOORD plainly 3 f32: glTexCoord3f, glTexCoord3fv; TEXCOORD plainly 3 f64: glTexCoord3d, glTexCoord3dv;
    TEXCOORD plainly 3 i32: glTexCoord3i, glTexCoord3iv; TEXCOORD plainly 3 i16: glTexCoord3s, glTexCoord3sv;
    TEXCOORD plainly 4 f32: glTexCoord4f, glTexCoord4fv; TEXCOORD plainly 4 f64: glTexCoord4d, glTexCoord4dv;
    TEXCOORD plainly 4 i32: glTexCoord4i, glTexCoord4iv; TEXCOORD plainly 4 i16: glTexCoord4s, glTexCoord4sv;
}

pub(super) use attributes;

/// Commands whose first argument selects the attribute: a texture unit, or the number of a generic
/// attribute.
macro_rules! numbered {
    ($which:ident: $($how:ident $n:tt $type:ty: $name:ident, $vector:ident;)*) => {
        $(numbered!(@scalar $which $how $n $type, $name);
        numbered!{@vector $which $how $n $type, $vector})*
    };
    (@vector $which:ident $how:ident $n:tt $type:ty, $vector:ident) => {
        pub unsafe extern "C" fn $vector(which: u32, v: *const $type) {
            // SAFETY: the program gives $n values; the only reference in use.
            unsafe { $which(context(), which, load::<$type, $n>(v).map(|v| v.$how())) }
        }
    };
    (@scalar $which:ident $how:ident 1 $type:ty, $name:ident) => {
        pub unsafe extern "C" fn $name(which: u32, x: $type) {
            // SAFETY: the only reference in use.
            $which(unsafe { context() }, which, [x.$how()]);
        }
    };
    (@scalar $which:ident $how:ident 2 $type:ty, $name:ident) => {
        pub unsafe extern "C" fn $name(which: u32, x: $type, y: $type) {
            // SAFETY: the only reference in use.
            $which(unsafe { context() }, which, [x.$how(), y.$how()]);
        }
    };
    (@scalar $which:ident $how:ident 3 $type:ty, $name:ident) => {
        pub unsafe extern "C" fn $name(which: u32, x: $type, y: $type, z: $type) {
            // SAFETY: the only reference in use.
            $which(unsafe { context() }, which, [x.$how(), y.$how(), z.$how()]);
        }
    };
    (@scalar $which:ident $how:ident 4 $type:ty, $name:ident) => {
        pub unsafe extern "C" fn $name(which: u32, x: $type, y: $type, z: $type, w: $type) {
            // SAFETY: the only reference in use.
            $which(unsafe { context() }, which, [x.$how(), y.$how(), z.$how(), w.$how()]);
        }
    };
}

pub(super) use numbered;

/// Texture coordinates of a unit. Mesa takes the unit's low bits and reports no error.
#[inline(always)]
pub(super) fn unit<const N: usize>(cx: &mut Context, target: u32, v: [f32; N]) {
    attribute(cx, attr::TEXCOORD + (target & 7) as u8, v);
}

/// A generic attribute. Number 0 is the position between glBegin and glEnd, and makes a vertex.
#[inline(always)]
pub(super) fn generic<const N: usize>(cx: &mut Context, index: u32, v: [f32; N]) {
    if index == 0 && cx.gl.in_begin() {
        return if N == 1 {
            vertex(cx, [v[0], 0.0])
        } else {
            vertex(cx, v)
        };
    }
    if index >= u32::from(attr::COUNT - attr::GENERIC) {
        return cx.set_error(gl::GL_INVALID_VALUE);
    }
    attribute(cx, attr::GENERIC + index as u8, v);
}

numbered! { unit:
    plainly 1 f32: glMultiTexCoord1f, glMultiTexCoord1fv; plainly 1 f64: glMultiTexCoord1d, glMultiTexCoord1dv;
    plainly 1 i32: glMultiTexCoord1i, glMultiTexCoord1iv; plainly 1 i16: glMultiTexCoord1s, glMultiTexCoord1sv;
    plainly 2 f32: glMultiTexCoord2f, glMultiTexCoord2fv; plainly 2 f64: glMultiTexCoord2d, glMultiTexCoord2dv;
    plainly 2 i32: glMultiTexCoord2i, glMultiTexCoord2iv; plainly 2 i16: glMultiTexCoord2s, glMultiTexCoord2sv;
    plainly 3 f32: glMultiTexCoord3f, glMultiTexCoord3fv; plainly 3 f64: glMultiTexCoord3d, glMultiTexCoord3dv;
    plainly 3 i32: glMultiTexCoord3i, glMultiTexCoord3iv; plainly 3 i16: glMultiTexCoord3s, glMultiTexCoord3sv;
    plainly 4 f32: glMultiTexCoord4f, glMultiTexCoord4fv; plainly 4 f64: glMultiTexCoord4d, glMultiTexCoord4dv;
    plainly 4 i32: glMultiTexCoord4i, glMultiTexCoord4iv; plainly 4 i16: glMultiTexCoord4s, glMultiTexCoord4sv;
}

numbered! { generic:
    plainly 1 f32: glVertexAttrib1f, glVertexAttrib1fv; plainly 1 f64: glVertexAttrib1d, glVertexAttrib1dv; plainly 1 i16: glVertexAttrib1s, glVertexAttrib1sv;
    plainly 2 f32: glVertexAttrib2f, glVertexAttrib2fv; plainly 2 f64: glVertexAttrib2d, glVertexAttrib2dv; plainly 2 i16: glVertexAttrib2s, glVertexAttrib2sv;
    plainly 3 f32: glVertexAttrib3f, glVertexAttrib3fv; plainly 3 f64: glVertexAttrib3d, glVertexAttrib3dv; plainly 3 i16: glVertexAttrib3s, glVertexAttrib3sv;
    plainly 4 f32: glVertexAttrib4f, glVertexAttrib4fv; plainly 4 f64: glVertexAttrib4d, glVertexAttrib4dv; plainly 4 i16: glVertexAttrib4s, glVertexAttrib4sv;
    normally 4 u8: glVertexAttrib4Nub, glVertexAttrib4Nubv;
}

/// Vector forms that have no scalar counterpart.
macro_rules! vectors_only {
    ($($how:ident $type:ty: $vector:ident;)*) => { $(numbered!{@vector generic $how 4 $type, $vector})* };
}

vectors_only! {
    plainly i8: glVertexAttrib4bv; plainly u8: glVertexAttrib4ubv; plainly u16: glVertexAttrib4usv; plainly u32: glVertexAttrib4uiv; plainly i32: glVertexAttrib4iv;
    normally i8: glVertexAttrib4Nbv; normally i16: glVertexAttrib4Nsv; normally i32: glVertexAttrib4Niv; normally u16: glVertexAttrib4Nusv; normally u32: glVertexAttrib4Nuiv;
}

/// The current values that a command changes in a way that is not computed here.
enum Changes {
    Nothing,
    All,
    Generic(u32),
    /// A generic attribute. The command fails only for an invalid number if there is OpenGL 3.0.
    Integers(u32),
    One(u8),
}

impl Context {
    /// Called before a command that immediate mode cannot turn into vertices. If the command is
    /// certain to succeed, returns the doubt that remains after it.
    fn by_itself(&mut self, changes: Changes) -> Option<u16> {
        self.go_verbatim();
        let is_infallible =
            matches!(changes, Changes::Integers(0..16)) && self.gl.objects.limits.version >= (3, 0);
        match changes {
            Changes::Generic(index) | Changes::Integers(index) if index < 16 => self
                .gl
                .state
                .forget_current(usize::from(attr::GENERIC) + index as usize),
            Changes::One(attribute) => self.gl.state.forget_current(attribute.into()),
            Changes::All => (0..attr::COUNT).for_each(|a| self.gl.state.forget_current(a.into())),
            Changes::Nothing | Changes::Generic(_) | Changes::Integers(_) => {}
        }
        is_infallible.then_some(self.enc.doubt)
    }
}

/// Commands that are sent unchanged, inside and outside glBegin/glEnd.
macro_rules! by_itself {
    ($($changes:expr => $name:ident($($argument:ident: $type:ty),*) $encode:ident;)*) => {
        $(pub unsafe extern "C" fn $name($($argument: $type),*) {
            // SAFETY: the only reference in use.
            unsafe {
                let cx = context();
                let before = cx.by_itself($changes);
                cx.enc.$encode($($argument),*);
                if let Some(before) = before {
                    cx.enc.doubt = before;
                }
            }
        })*
    };
}

by_itself! {
    Changes::One(attr::EDGE_FLAG) => glEdgeFlag(flag: u8) gl_edge_flag;
    Changes::All => glEvalCoord1d(u: f64) gl_eval_coord1d;
    Changes::All => glEvalCoord1f(u: f32) gl_eval_coord1f;
    Changes::All => glEvalCoord2d(u: f64, v: f64) gl_eval_coord2d;
    Changes::All => glEvalCoord2f(u: f32, v: f32) gl_eval_coord2f;
    Changes::All => glEvalPoint1(i: i32) gl_eval_point1;
    Changes::All => glEvalPoint2(i: i32, j: i32) gl_eval_point2;
    Changes::Integers(index) => glVertexAttribI1i(index: u32, x: i32) gl_vertex_attrib_i1i;
    Changes::Integers(index) => glVertexAttribI2i(index: u32, x: i32, y: i32) gl_vertex_attrib_i2i;
    Changes::Integers(index) => glVertexAttribI3i(index: u32, x: i32, y: i32, z: i32) gl_vertex_attrib_i3i;
    Changes::Integers(index) => glVertexAttribI4i(index: u32, x: i32, y: i32, z: i32, w: i32) gl_vertex_attrib_i4i;
    Changes::Integers(index) => glVertexAttribI1ui(index: u32, x: u32) gl_vertex_attrib_i1ui;
    Changes::Integers(index) => glVertexAttribI2ui(index: u32, x: u32, y: u32) gl_vertex_attrib_i2ui;
    Changes::Integers(index) => glVertexAttribI3ui(index: u32, x: u32, y: u32, z: u32) gl_vertex_attrib_i3ui;
    Changes::Integers(index) => glVertexAttribI4ui(index: u32, x: u32, y: u32, z: u32, w: u32) gl_vertex_attrib_i4ui;
    Changes::Generic(index) => glVertexAttribL1d(index: u32, x: f64) gl_vertex_attrib_l1d;
    Changes::Generic(index) => glVertexAttribL2d(index: u32, x: f64, y: f64) gl_vertex_attrib_l2d;
    Changes::Generic(index) => glVertexAttribL3d(index: u32, x: f64, y: f64, z: f64) gl_vertex_attrib_l3d;
    Changes::Generic(index) => glVertexAttribL4d(index: u32, x: f64, y: f64, z: f64, w: f64) gl_vertex_attrib_l4d;
    Changes::Generic(index) => glVertexAttribP1ui(index: u32, kind: u32, normalized: u8, value: u32) gl_vertex_attrib_p1ui;
    Changes::Generic(index) => glVertexAttribP2ui(index: u32, kind: u32, normalized: u8, value: u32) gl_vertex_attrib_p2ui;
    Changes::Generic(index) => glVertexAttribP3ui(index: u32, kind: u32, normalized: u8, value: u32) gl_vertex_attrib_p3ui;
    Changes::Generic(index) => glVertexAttribP4ui(index: u32, kind: u32, normalized: u8, value: u32) gl_vertex_attrib_p4ui;
    Changes::Nothing => glVertexP2ui(kind: u32, value: u32) gl_vertex_p2ui;
    Changes::Nothing => glVertexP3ui(kind: u32, value: u32) gl_vertex_p3ui;
    Changes::Nothing => glVertexP4ui(kind: u32, value: u32) gl_vertex_p4ui;
    Changes::One(attr::COLOR) => glColorP3ui(kind: u32, value: u32) gl_color_p3ui;
    Changes::One(attr::COLOR) => glColorP4ui(kind: u32, value: u32) gl_color_p4ui;
    Changes::One(attr::NORMAL) => glNormalP3ui(kind: u32, value: u32) gl_normal_p3ui;
    Changes::One(attr::SECONDARY) => glSecondaryColorP3ui(kind: u32, value: u32) gl_secondary_color_p3ui;
    Changes::One(attr::TEXCOORD) => glTexCoordP1ui(kind: u32, value: u32) gl_tex_coord_p1ui;
    Changes::One(attr::TEXCOORD) => glTexCoordP2ui(kind: u32, value: u32) gl_tex_coord_p2ui;
    Changes::One(attr::TEXCOORD) => glTexCoordP3ui(kind: u32, value: u32) gl_tex_coord_p3ui;
    Changes::One(attr::TEXCOORD) => glTexCoordP4ui(kind: u32, value: u32) gl_tex_coord_p4ui;
    Changes::One(attr::TEXCOORD + (unit & 7) as u8) => glMultiTexCoordP1ui(unit: u32, kind: u32, value: u32) gl_multi_tex_coord_p1ui;
    Changes::One(attr::TEXCOORD + (unit & 7) as u8) => glMultiTexCoordP2ui(unit: u32, kind: u32, value: u32) gl_multi_tex_coord_p2ui;
    Changes::One(attr::TEXCOORD + (unit & 7) as u8) => glMultiTexCoordP3ui(unit: u32, kind: u32, value: u32) gl_multi_tex_coord_p3ui;
    Changes::One(attr::TEXCOORD + (unit & 7) as u8) => glMultiTexCoordP4ui(unit: u32, kind: u32, value: u32) gl_multi_tex_coord_p4ui;
}

/// Vector forms that call the scalar forms.
macro_rules! vector_forms {
    ($($name:ident($($which:ident: $which_type:ty),*; $type:ty) = $scalar:ident($($i:literal),*);)*) => {
        $(pub unsafe extern "C" fn $name($($which: $which_type,)* v: *const $type) {
            // SAFETY: the program gives as many values as are read.
            unsafe { $scalar($($which,)* $((*v.add($i)).into()),*) }
        })*
    };
}

vector_forms! {
    glEdgeFlagv(; u8) = glEdgeFlag(0);
    glEvalCoord1dv(; f64) = glEvalCoord1d(0);
    glEvalCoord1fv(; f32) = glEvalCoord1f(0);
    glEvalCoord2dv(; f64) = glEvalCoord2d(0, 1);
    glEvalCoord2fv(; f32) = glEvalCoord2f(0, 1);
    glVertexAttribI1iv(index: u32; i32) = glVertexAttribI1i(0);
    glVertexAttribI2iv(index: u32; i32) = glVertexAttribI2i(0, 1);
    glVertexAttribI3iv(index: u32; i32) = glVertexAttribI3i(0, 1, 2);
    glVertexAttribI4iv(index: u32; i32) = glVertexAttribI4i(0, 1, 2, 3);
    glVertexAttribI4bv(index: u32; i8) = glVertexAttribI4i(0, 1, 2, 3);
    glVertexAttribI4sv(index: u32; i16) = glVertexAttribI4i(0, 1, 2, 3);
    glVertexAttribI1uiv(index: u32; u32) = glVertexAttribI1ui(0);
    glVertexAttribI2uiv(index: u32; u32) = glVertexAttribI2ui(0, 1);
    glVertexAttribI3uiv(index: u32; u32) = glVertexAttribI3ui(0, 1, 2);
    glVertexAttribI4uiv(index: u32; u32) = glVertexAttribI4ui(0, 1, 2, 3);
    glVertexAttribI4ubv(index: u32; u8) = glVertexAttribI4ui(0, 1, 2, 3);
    glVertexAttribI4usv(index: u32; u16) = glVertexAttribI4ui(0, 1, 2, 3);
    glVertexAttribL1dv(index: u32; f64) = glVertexAttribL1d(0);
    glVertexAttribL2dv(index: u32; f64) = glVertexAttribL2d(0, 1);
    glVertexAttribL3dv(index: u32; f64) = glVertexAttribL3d(0, 1, 2);
    glVertexAttribL4dv(index: u32; f64) = glVertexAttribL4d(0, 1, 2, 3);
    glVertexAttribP1uiv(index: u32, kind: u32, normalized: u8; u32) = glVertexAttribP1ui(0);
    glVertexAttribP2uiv(index: u32, kind: u32, normalized: u8; u32) = glVertexAttribP2ui(0);
    glVertexAttribP3uiv(index: u32, kind: u32, normalized: u8; u32) = glVertexAttribP3ui(0);
    glVertexAttribP4uiv(index: u32, kind: u32, normalized: u8; u32) = glVertexAttribP4ui(0);
    glVertexP2uiv(kind: u32; u32) = glVertexP2ui(0);
    glVertexP3uiv(kind: u32; u32) = glVertexP3ui(0);
    glVertexP4uiv(kind: u32; u32) = glVertexP4ui(0);
    glColorP3uiv(kind: u32; u32) = glColorP3ui(0);
    glColorP4uiv(kind: u32; u32) = glColorP4ui(0);
    glNormalP3uiv(kind: u32; u32) = glNormalP3ui(0);
    glSecondaryColorP3uiv(kind: u32; u32) = glSecondaryColorP3ui(0);
    glTexCoordP1uiv(kind: u32; u32) = glTexCoordP1ui(0);
    glTexCoordP2uiv(kind: u32; u32) = glTexCoordP2ui(0);
    glTexCoordP3uiv(kind: u32; u32) = glTexCoordP3ui(0);
    glTexCoordP4uiv(kind: u32; u32) = glTexCoordP4ui(0);
    glMultiTexCoordP1uiv(unit: u32, kind: u32; u32) = glMultiTexCoordP1ui(0);
    glMultiTexCoordP2uiv(unit: u32, kind: u32; u32) = glMultiTexCoordP2ui(0);
    glMultiTexCoordP3uiv(unit: u32, kind: u32; u32) = glMultiTexCoordP3ui(0);
    glMultiTexCoordP4uiv(unit: u32, kind: u32; u32) = glMultiTexCoordP4ui(0);
}

/// glRect and glEvalMesh draw, and only outside glBegin/glEnd. A rectangle may leave the current
/// normal and other values unchanged.
macro_rules! rectangles {
    ($($type:ty: $name:ident, $vector:ident;)*) => {
        $(pub unsafe extern "C" fn $name(x1: $type, y1: $type, x2: $type, y2: $type) {
            // SAFETY: the only reference in use.
            let cx = unsafe { context() };
            if cx.gl.in_begin() && !cx.gl.lists.is_open() {
                return cx.illegal_in_begin();
            }
            cx.rectangle_begins();
            cx.send_draw([ops::GL_RECTF.into(), 0], gl::GL_QUADS, true, |cx| {
                cx.enc.gl_rectf(x1 as f32, y1 as f32, x2 as f32, y2 as f32)
            });
        }
        pub unsafe extern "C" fn $vector(a: *const $type, b: *const $type) {
            // SAFETY: the program gives two values each.
            unsafe { $name(*a, *a.add(1), *b, *b.add(1)) }
        })*
    };
}

rectangles! {
    f32: glRectf, glRectfv;
    f64: glRectd, glRectdv;
    i32: glRecti, glRectiv;
    i16: glRects, glRectsv;
}

pub unsafe extern "C" fn glEvalMesh1(mode: u32, i1: i32, i2: i32) {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        cx.by_itself(Changes::All);
        cx.enc.gl_eval_mesh1(mode, i1, i2);
    }
}

pub unsafe extern "C" fn glEvalMesh2(mode: u32, i1: i32, i2: i32, j1: i32, j2: i32) {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        cx.by_itself(Changes::All);
        cx.enc.gl_eval_mesh2(mode, i1, i2, j1, j2);
    }
}

pub unsafe extern "C" fn glMaterialf(face: u32, pname: u32, param: f32) {
    // SAFETY: one value lies there.
    unsafe { glMaterialfv(face, pname, &raw const param) }
}

pub unsafe extern "C" fn glMateriali(face: u32, pname: u32, param: i32) {
    // SAFETY: one value lies there.
    unsafe { glMaterialiv(face, pname, &raw const param) }
}

/// Materials may change between vertices, so each call is sent as a command.
pub unsafe extern "C" fn glMaterialfv(face: u32, pname: u32, params: *const f32) {
    // SAFETY: the program gives as many values as the parameter has; the only reference in use.
    unsafe {
        let cx = context();
        cx.by_itself(Changes::Nothing);
        let before = cx.before_judged();
        let n = mgn_wire::sizes::pname::params(pname);
        if let Err(error) = cx
            .gl
            .state
            .gl_materialfv(face, pname, crate::gl::values(params, n))
        {
            if !cx.leaves_errors() {
                return cx.set_error(error.code());
            }
            cx.gl.state.doubt();
        }
        cx.enc.gl_materialfv(face, pname, (params, n));
        cx.judged(before);
    }
}

pub unsafe extern "C" fn glMaterialiv(face: u32, pname: u32, params: *const i32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        cx.by_itself(Changes::Nothing);
        let before = cx.before_judged();
        let n = mgn_wire::sizes::pname::params(pname);
        if let Err(error) = cx
            .gl
            .state
            .gl_materialiv(face, pname, crate::gl::values(params, n))
        {
            if !cx.leaves_errors() {
                return cx.set_error(error.code());
            }
            cx.gl.state.doubt();
        }
        cx.enc.gl_materialiv(face, pname, (params, n));
        cx.judged(before);
    }
}
