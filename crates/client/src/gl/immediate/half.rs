//! NV_half_float: vertices and attributes of half floats, which are converted to floats here.

use super::entries::{attribute, attributes, generic, load, numbered, unit, vertex, vertices};
use super::entries::{Normally, Plainly};
use crate::context::Context;
use crate::current::context;
use mgn_wire::draws::attr;

/// A half float's bits: a sign, 5 bits of exponent, 10 of mantissa.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Half(u16);

impl Half {
    fn float(self) -> f32 {
        let sign = u32::from(self.0 & 0x8000) << 16;
        let bits = u32::from(self.0 & 0x7fff);
        let magnitude = match bits >> 10 {
            // Below the least exponent, the step is 2^-24.
            0 => (bits as f32 * (1.0 / 16_777_216.0)).to_bits(),
            // Infinity and NaN. Processors make a NaN quiet.
            31 => 0x7f80_0000 | (bits & 0x3ff) << 13 | u32::from(bits & 0x3ff != 0) << 22,
            _ => (bits << 13) + ((127 - 15) << 23),
        };
        f32::from_bits(sign | magnitude)
    }
}

impl Plainly for Half {
    #[inline(always)]
    fn plainly(self) -> f32 {
        self.float()
    }
}

impl Normally for Half {
    #[inline(always)]
    fn normally(self) -> f32 {
        self.float()
    }
}

vertices! {
    2 Half: glVertex2hNV, glVertex2hvNV; 3 Half: glVertex3hNV, glVertex3hvNV; 4 Half: glVertex4hNV, glVertex4hvNV;
}

attributes! {
    NORMAL normally 3 Half: glNormal3hNV, glNormal3hvNV;
    COLOR normally 3 Half: glColor3hNV, glColor3hvNV; COLOR normally 4 Half: glColor4hNV, glColor4hvNV;
    SECONDARY normally 3 Half: glSecondaryColor3hNV, glSecondaryColor3hvNV;
    TEXCOORD plainly 1 Half: glTexCoord1hNV, glTexCoord1hvNV; TEXCOORD plainly 2 Half: glTexCoord2hNV, glTexCoord2hvNV;
    TEXCOORD plainly 3 Half: glTexCoord3hNV, glTexCoord3hvNV; TEXCOORD plainly 4 Half: glTexCoord4hNV, glTexCoord4hvNV;
}

pub unsafe extern "C" fn glFogCoordhNV(fog: u16) {
    // SAFETY: the only reference in use.
    attribute(unsafe { context() }, attr::FOG, [Half(fog).float()]);
}

pub unsafe extern "C" fn glFogCoordhvNV(fog: *const u16) {
    // SAFETY: the program gives a value.
    unsafe { glFogCoordhNV(*fog) }
}

numbered! { unit:
    plainly 1 Half: glMultiTexCoord1hNV, glMultiTexCoord1hvNV; plainly 2 Half: glMultiTexCoord2hNV, glMultiTexCoord2hvNV;
    plainly 3 Half: glMultiTexCoord3hNV, glMultiTexCoord3hvNV; plainly 4 Half: glMultiTexCoord4hNV, glMultiTexCoord4hvNV;
}

numbered! { generic:
    plainly 1 Half: glVertexAttrib1hNV, glVertexAttrib1hvNV; plainly 2 Half: glVertexAttrib2hNV, glVertexAttrib2hvNV;
    plainly 3 Half: glVertexAttrib3hNV, glVertexAttrib3hvNV; plainly 4 Half: glVertexAttrib4hNV, glVertexAttrib4hvNV;
}

/// Attributes by the numbers that drivers use: the attributes of the fixed function come first,
/// then the generic ones. No program uses higher numbers.
fn aliased<const N: usize>(cx: &mut Context, index: u32, v: [Half; N]) {
    let mut wide = [0.0, 0.0, 0.0, 1.0];
    wide[..N].copy_from_slice(&v.map(Half::float));
    let [x, y, z, _] = wide;
    let number = index as u8;
    match index {
        0 if N < 3 => vertex(cx, [x, y]),
        0 => vertex(cx, v.map(Half::float)),
        1 => attribute(cx, attr::NORMAL, [x, y, z]),
        2 if N == 3 => attribute(cx, attr::COLOR, [x, y, z]),
        2 => attribute(cx, attr::COLOR, wide),
        3 => attribute(cx, attr::SECONDARY, [x, y, z]),
        4 => attribute(cx, attr::FOG, [x]),
        5 => attribute(cx, attr::INDEX, [x]),
        6..=13 => attribute(cx, attr::TEXCOORD + number - 6, v.map(Half::float)),
        15..=30 => attribute(cx, attr::GENERIC + number - 15, v.map(Half::float)),
        _ => {}
    }
}

macro_rules! several {
    ($($n:literal: $several:ident;)*) => {$(
        /// Set in reverse order: the position, if it is among them, makes a vertex and must come
        /// last.
        pub unsafe extern "C" fn $several(index: u32, n: i32, v: *const Half) {
            for i in (0..n).rev() {
                // SAFETY: the program gives $n values for each.
                unsafe { aliased(context(), index.saturating_add(i as u32), load::<Half, $n>(v.add(i as usize * $n))) };
            }
        }
    )*};
}

several! {
    1: glVertexAttribs1hvNV;
    2: glVertexAttribs2hvNV;
    3: glVertexAttribs3hvNV;
    4: glVertexAttribs4hvNV;
}

#[cfg(test)]
mod tests {
    use super::Half;

    #[test]
    fn halves_are_floats() {
        let known = [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
            (0x03ff, 6.097_555e-5),
            (0x3555, 0.333_251_95),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ];
        for (bits, float) in known {
            assert_eq!(Half(bits).float(), float, "{bits:#x}");
        }
        assert!(Half(0x8000).float().is_sign_negative());
        assert_eq!(Half(0x7e01).float().to_bits(), 0x7fc0_2000);
        assert_eq!(Half(0x7c01).float().to_bits(), 0x7fc0_2000);
    }
}
