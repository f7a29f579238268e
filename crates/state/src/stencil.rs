//! The stencil test, with its state for each face.

use mgn_wire::gl::*;

use crate::fragments::is_comparison;
use crate::raster::{check, is_face};
use crate::slots::at;
use crate::{GlError, State};

/// Where the seven values of a face's stencil state begin; they follow each other in the
/// order of the table.
const FRONT: usize = crate::slots::slot(GL_STENCIL_FUNC);
const BACK: usize = crate::slots::slot(GL_STENCIL_BACK_FUNC);
const FUNC: usize = 0;
const OPS: usize = 3;
const WRITEMASK: usize = 6;

impl State {
    pub fn gl_active_stencil_face_ext(&mut self, face: u32) -> Result<(), GlError> {
        listed!(self, gl_active_stencil_face_ext(face));
        if !self.limits.compat() || !self.has(GL_ACTIVE_STENCIL_FACE_EXT) {
            return self.unsure();
        }
        check(matches!(face, GL_FRONT | GL_BACK))?;
        self.set(at!(GL_ACTIVE_STENCIL_FACE_EXT), face);
        Ok(())
    }

    /// The faces that the commands without a face set. The back face of `GL_EXT_stencil_two_side`
    /// is a third set of values, which is left to the driver.
    fn active_stencil_faces(&mut self) -> [Option<usize>; 2] {
        if !self.third_stencil_face() {
            return [Some(FRONT), Some(BACK)];
        }
        if self.known(at!(GL_ACTIVE_STENCIL_FACE_EXT)).is_none() {
            self.forget_at(FRONT, BACK + WRITEMASK + 1 - FRONT);
        }
        [None, None]
    }

    /// Whether gets of the front face show the third set of values, or may do so.
    pub(crate) fn third_stencil_face(&self) -> bool {
        self.has(GL_ACTIVE_STENCIL_FACE_EXT)
            && self.int(at!(GL_ACTIVE_STENCIL_FACE_EXT)) != GL_FRONT
    }

    fn set_stencil(&mut self, faces: [Option<usize>; 2], offset: usize, values: &[f64]) {
        for face in faces.into_iter().flatten() {
            self.set_all(face + offset, values);
        }
    }

    pub fn gl_stencil_func(&mut self, func: u32, value: i32, mask: u32) -> Result<(), GlError> {
        listed!(self, gl_stencil_func(func, value, mask));
        check(is_comparison(func))?;
        let faces = self.active_stencil_faces();
        self.set_stencil(faces, FUNC, &[func.into(), value.into(), mask.into()]);
        Ok(())
    }

    pub fn gl_stencil_func_separate(
        &mut self,
        face: u32,
        func: u32,
        value: i32,
        mask: u32,
    ) -> Result<(), GlError> {
        listed!(self, gl_stencil_func_separate(face, func, value, mask));
        needs!(self, GL_STENCIL_BACK_FUNC);
        check(is_comparison(func))?;
        let values = [func.into(), value.into(), mask.into()];
        self.set_stencil(faces(face)?, FUNC, &values);
        Ok(())
    }

    pub fn gl_stencil_func_separate_ati(
        &mut self,
        front: u32,
        back: u32,
        value: i32,
        mask: u32,
    ) -> Result<(), GlError> {
        listed!(self, gl_stencil_func_separate_ati(front, back, value, mask));
        if !self.limits.compat() {
            return self.unsure();
        }
        let in_list = self.depth > 0 || self.compiling.is_some();
        if in_list && !(is_comparison(front) && is_comparison(back)) {
            // In a display list it is two commands, of which one may succeed.
            self.forget_at(FRONT + FUNC, OPS);
            return self.unsure_of_range(BACK + FUNC, OPS);
        }
        check(is_comparison(front) && is_comparison(back))?;
        let values = |func: u32| [func.into(), value.into(), mask.into()];
        self.set_stencil([Some(FRONT), None], FUNC, &values(front));
        self.set_stencil([Some(BACK), None], FUNC, &values(back));
        Ok(())
    }

    pub fn gl_stencil_op(&mut self, fail: u32, zfail: u32, zpass: u32) -> Result<(), GlError> {
        listed!(self, gl_stencil_op(fail, zfail, zpass));
        check([fail, zfail, zpass].into_iter().all(is_stencil_op))?;
        let faces = self.active_stencil_faces();
        self.set_stencil(faces, OPS, &[fail.into(), zfail.into(), zpass.into()]);
        Ok(())
    }

    pub fn gl_stencil_op_separate(
        &mut self,
        face: u32,
        fail: u32,
        zfail: u32,
        zpass: u32,
    ) -> Result<(), GlError> {
        listed!(self, gl_stencil_op_separate(face, fail, zfail, zpass));
        needs!(self, GL_STENCIL_BACK_FUNC);
        check([fail, zfail, zpass].into_iter().all(is_stencil_op))?;
        let values = [fail.into(), zfail.into(), zpass.into()];
        self.set_stencil(faces(face)?, OPS, &values);
        Ok(())
    }

    pub fn gl_stencil_mask(&mut self, mask: u32) -> Result<(), GlError> {
        listed!(self, gl_stencil_mask(mask));
        let faces = self.active_stencil_faces();
        self.set_stencil(faces, WRITEMASK, &[mask.into()]);
        Ok(())
    }

    pub fn gl_stencil_mask_separate(&mut self, face: u32, mask: u32) -> Result<(), GlError> {
        listed!(self, gl_stencil_mask_separate(face, mask));
        needs!(self, GL_STENCIL_BACK_FUNC);
        self.set_stencil(faces(face)?, WRITEMASK, &[mask.into()]);
        Ok(())
    }
}

fn faces(face: u32) -> Result<[Option<usize>; 2], GlError> {
    check(is_face(face))?;
    Ok([
        (face != GL_BACK).then_some(FRONT),
        (face != GL_FRONT).then_some(BACK),
    ])
}

fn is_stencil_op(op: u32) -> bool {
    matches!(
        op,
        GL_KEEP
            | GL_ZERO
            | GL_REPLACE
            | GL_INCR
            | GL_DECR
            | GL_INVERT
            | GL_INCR_WRAP
            | GL_DECR_WRAP
    )
}
