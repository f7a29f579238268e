//! Matrices and their stacks.
//!
//! A matrix is known only where every driver must arrive at the same bits: after loading one,
//! after scaling, after multiplying with an identity, and after translations whose sums need
//! no more than one rounding. Anything else makes it unknown, until the driver is asked or it is
//! loaded again.

use mgn_wire::gl::*;

use crate::slots::at;
use crate::{Answer, Class, GlError, State};

/// The knowledge about a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Unknown,
    Identity,
    /// A scaling and a translation.
    Diagonal,
    General,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix {
    /// By columns; meaningless while the shape is unknown.
    pub m: [f32; 16],
    pub shape: Shape,
    /// Its values except for rounding, by columns, if they are followed.
    about: Option<[f32; 16]>,
}

/// A change of a matrix, for users that need not know it exactly.
enum About {
    Loaded([f32; 16]),
    Multiplied([f32; 16]),
}

const IDENTITY: [f32; 16] = [
    1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.,
];

impl Matrix {
    pub const IDENTITY: Matrix = Matrix {
        m: IDENTITY,
        shape: Shape::Identity,
        about: Some(IDENTITY),
    };

    fn load(&mut self, m: [f32; 16]) {
        let zeros = [1, 2, 3, 4, 6, 7, 8, 9, 11];
        self.m = m;
        self.shape = if m == IDENTITY {
            Shape::Identity
        } else if zeros.iter().all(|&i| m[i] == 0.) && m[15] == 1. {
            Shape::Diagonal
        } else {
            Shape::General
        };
    }

    fn multiply(&mut self, m: [f32; 16]) {
        match self.shape {
            Shape::Identity if m.iter().all(|v| v.is_finite()) => self.load(m),
            _ if m == IDENTITY && self.m.iter().all(|v| v.is_finite()) => {}
            _ => self.shape = Shape::Unknown,
        }
    }

    fn scale(&mut self, x: f32, y: f32, z: f32) {
        if self.shape == Shape::Unknown {
            return;
        }
        for (column, factor) in self.m.chunks_exact_mut(4).zip([x, y, z]) {
            column.iter_mut().for_each(|v| *v *= factor);
        }
        if !self.m.iter().all(|v| v.is_finite()) {
            self.shape = Shape::Unknown;
        } else if self.shape == Shape::Identity {
            self.shape = Shape::Diagonal;
        }
    }

    fn translate(&mut self, by: [f32; 3]) {
        if !matches!(self.shape, Shape::Identity | Shape::Diagonal) {
            self.shape = Shape::Unknown;
            return;
        }
        for (i, by) in by.into_iter().enumerate() {
            let product = f64::from(self.m[5 * i]) * f64::from(by);
            let old = self.m[12 + i];
            let sum = product + f64::from(old);
            let rounded_once = old == 0. || product == 0. || f64::from(product as f32) == product;
            // An f64 holds the product exactly; the sum must need no second rounding.
            if !rounded_once || sum - product != f64::from(old) || !sum.is_finite() {
                self.shape = Shape::Unknown;
                return;
            }
            self.m[12 + i] = sum as f32;
        }
        self.shape = Shape::Diagonal;
    }

    pub fn is_identity(&self) -> bool {
        self.shape == Shape::Identity
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Stack {
    entries: Vec<Matrix>,
    limit: usize,
}

impl Stack {
    fn new(limit: usize) -> Stack {
        Stack {
            entries: vec![Matrix::IDENTITY],
            limit: limit.max(1),
        }
    }

    pub fn top(&self) -> &Matrix {
        &self.entries[self.entries.len() - 1]
    }

    fn top_mut(&mut self) -> &mut Matrix {
        let last = self.entries.len() - 1;
        &mut self.entries[last]
    }

    fn forget(&mut self) {
        for m in &mut self.entries {
            (m.shape, m.about) = (Shape::Unknown, None);
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Matrices {
    /// Matrices were pushed or popped while the matrix mode was not known: the depths are not
    /// known either, and what is popped is not.
    pub lost: bool,
    /// Whether matrices are followed beyond what is known to the bit.
    follows: bool,
    /// Counts changes of what is followed.
    changes: u32,
    pub modelview: Stack,
    pub projection: Stack,
    pub texture: Vec<Stack>,
}

impl Matrices {
    pub fn new(limits: &crate::limits::Limits) -> Matrices {
        Matrices {
            lost: false,
            follows: false,
            changes: 0,
            modelview: Stack::new(limits.modelview_stack),
            projection: Stack::new(limits.projection_stack),
            texture: vec![Stack::new(limits.texture_stack); limits.coord_units.max(1)],
        }
    }

    pub fn forget(&mut self) {
        self.changes = self.changes.wrapping_add(1);
        self.modelview.forget();
        self.projection.forget();
        self.texture.iter_mut().for_each(Stack::forget);
    }
}

/// The 16 values of a matrix argument; an array too short, which no driver reads, is zeros.
fn matrix<T: Copy + Default>(m: &[T]) -> [T; 16] {
    m.get(..16)
        .and_then(|m| m.try_into().ok())
        .unwrap_or_default()
}

/// The product of two matrices by columns.
pub(crate) fn product(a: &[f32; 16], b: &[f32; 16]) -> [f32; 16] {
    let mut m = [0.; 16];
    for (column, by) in m.chunks_exact_mut(4).zip(b.chunks_exact(4)) {
        for (row, value) in column.iter_mut().enumerate() {
            *value = (0..4).map(|k| a[4 * k + row] * by[k]).sum();
        }
    }
    m
}

fn diagonal([x, y, z]: [f32; 3]) -> [f32; 16] {
    let mut m = IDENTITY;
    (m[0], m[5], m[10]) = (x, y, z);
    m
}

fn rotation(angle: f32, axis: [f32; 3]) -> [f32; 16] {
    let length = axis.iter().map(|v| v * v).sum::<f32>().sqrt();
    if length == 0. {
        return IDENTITY;
    }
    let [x, y, z] = axis.map(|v| v / length);
    let (s, c) = angle.to_radians().sin_cos();
    let t = 1. - c;
    let (xs, ys, zs) = (x * s, y * s, z * s);
    let columns = [
        [t * x * x + c, t * x * y + zs, t * x * z - ys, 0.],
        [t * x * y - zs, t * y * y + c, t * y * z + xs, 0.],
        [t * x * z + ys, t * y * z - xs, t * z * z + c, 0.],
        [0., 0., 0., 1.],
    ];
    std::array::from_fn(|i| columns[i / 4][i % 4])
}

fn transposed(m: [f32; 16]) -> [f32; 16] {
    std::array::from_fn(|i| m[i % 4 * 4 + i / 4])
}

impl State {
    pub fn gl_matrix_mode(&mut self, mode: u32) -> Result<(), GlError> {
        listed!(self, gl_matrix_mode(mode));
        match mode {
            GL_MODELVIEW | GL_PROJECTION | GL_TEXTURE => {}
            // A name of an assembly program's matrix, or of nothing.
            _ => return self.unsure_of(at!(GL_MATRIX_MODE)),
        }
        if mode == GL_TEXTURE && self.active_unit() >= self.limits.coord_units {
            return self.unsure_of(at!(GL_MATRIX_MODE));
        }
        self.set(at!(GL_MATRIX_MODE), mode);
        Ok(())
    }

    pub fn gl_load_identity(&mut self) -> Result<(), GlError> {
        listed!(self, gl_load_identity());
        self.change(|m| *m = Matrix::IDENTITY, || About::Loaded(IDENTITY))
    }

    pub fn gl_load_matrixf(&mut self, m: &[f32]) -> Result<(), GlError> {
        let m = matrix(m);
        listed!(self, gl_load_matrixf(&m));
        self.change(|top| top.load(m), || About::Loaded(m))
    }

    pub fn gl_load_matrixd(&mut self, m: &[f64]) -> Result<(), GlError> {
        self.gl_load_matrixf(&matrix(m).map(|v| v as f32))
    }

    pub fn gl_load_transpose_matrixf(&mut self, m: &[f32]) -> Result<(), GlError> {
        self.gl_load_matrixf(&transposed(matrix(m)))
    }

    pub fn gl_load_transpose_matrixd(&mut self, m: &[f64]) -> Result<(), GlError> {
        self.gl_load_matrixf(&transposed(matrix(m).map(|v| v as f32)))
    }

    pub fn gl_mult_matrixf(&mut self, m: &[f32]) -> Result<(), GlError> {
        let m = matrix(m);
        listed!(self, gl_mult_matrixf(&m));
        self.change(|top| top.multiply(m), || About::Multiplied(m))
    }

    pub fn gl_mult_matrixd(&mut self, m: &[f64]) -> Result<(), GlError> {
        self.gl_mult_matrixf(&matrix(m).map(|v| v as f32))
    }

    pub fn gl_mult_transpose_matrixf(&mut self, m: &[f32]) -> Result<(), GlError> {
        self.gl_mult_matrixf(&transposed(matrix(m)))
    }

    pub fn gl_mult_transpose_matrixd(&mut self, m: &[f64]) -> Result<(), GlError> {
        self.gl_mult_matrixf(&transposed(matrix(m).map(|v| v as f32)))
    }

    pub fn gl_rotatef(&mut self, angle: f32, x: f32, y: f32, z: f32) -> Result<(), GlError> {
        listed!(self, gl_rotatef(angle, x, y, z));
        self.change(
            |top| {
                if angle != 0. {
                    top.shape = Shape::Unknown;
                }
            },
            || About::Multiplied(rotation(angle, [x, y, z])),
        )
    }

    pub fn gl_rotated(&mut self, angle: f64, x: f64, y: f64, z: f64) -> Result<(), GlError> {
        self.gl_rotatef(angle as f32, x as f32, y as f32, z as f32)
    }

    pub fn gl_scalef(&mut self, x: f32, y: f32, z: f32) -> Result<(), GlError> {
        listed!(self, gl_scalef(x, y, z));
        self.change(
            |top| top.scale(x, y, z),
            || About::Multiplied(diagonal([x, y, z])),
        )
    }

    pub fn gl_scaled(&mut self, x: f64, y: f64, z: f64) -> Result<(), GlError> {
        self.gl_scalef(x as f32, y as f32, z as f32)
    }

    pub fn gl_translatef(&mut self, x: f32, y: f32, z: f32) -> Result<(), GlError> {
        listed!(self, gl_translatef(x, y, z));
        self.change(
            |top| top.translate([x, y, z]),
            || {
                let mut m = IDENTITY;
                m[12..15].copy_from_slice(&[x, y, z]);
                About::Multiplied(m)
            },
        )
    }

    pub fn gl_translated(&mut self, x: f64, y: f64, z: f64) -> Result<(), GlError> {
        self.gl_translatef(x as f32, y as f32, z as f32)
    }

    pub fn gl_frustum(
        &mut self,
        left: f64,
        right: f64,
        bottom: f64,
        top: f64,
        near: f64,
        far: f64,
    ) -> Result<(), GlError> {
        listed!(self, gl_frustum(left, right, bottom, top, near, far));
        let [l, r, b, t, n, f] = [left, right, bottom, top, near, far].map(|v| v as f32);
        if n <= 0. || f <= 0. || n == f || l == r || t == b {
            return Err(GlError::InvalidValue);
        }
        self.change(
            |top| top.shape = Shape::Unknown,
            || {
                let mut m = [0.; 16];
                (m[0], m[5]) = (2. * n / (r - l), 2. * n / (t - b));
                (m[8], m[9]) = ((r + l) / (r - l), (t + b) / (t - b));
                (m[10], m[11]) = (-(f + n) / (f - n), -1.);
                m[14] = -2. * f * n / (f - n);
                About::Multiplied(m)
            },
        )
    }

    pub fn gl_frustumf(
        &mut self,
        left: f32,
        right: f32,
        bottom: f32,
        top: f32,
        near: f32,
        far: f32,
    ) -> Result<(), GlError> {
        let [l, r, b, t, n, f] = [left, right, bottom, top, near, far].map(f64::from);
        self.gl_frustum(l, r, b, t, n, f)
    }

    pub fn gl_ortho(
        &mut self,
        left: f64,
        right: f64,
        bottom: f64,
        top: f64,
        near: f64,
        far: f64,
    ) -> Result<(), GlError> {
        listed!(self, gl_ortho(left, right, bottom, top, near, far));
        let [l, r, b, t, n, f] = [left, right, bottom, top, near, far].map(|v| v as f32);
        if l == r || b == t || n == f {
            return Err(GlError::InvalidValue);
        }
        self.change(
            |top| top.shape = Shape::Unknown,
            || {
                let mut m = diagonal([2. / (r - l), 2. / (t - b), -2. / (f - n)]);
                m[12] = -(r + l) / (r - l);
                m[13] = -(t + b) / (t - b);
                m[14] = -(f + n) / (f - n);
                About::Multiplied(m)
            },
        )
    }

    pub fn gl_orthof(
        &mut self,
        left: f32,
        right: f32,
        bottom: f32,
        top: f32,
        near: f32,
        far: f32,
    ) -> Result<(), GlError> {
        let [l, r, b, t, n, f] = [left, right, bottom, top, near, far].map(f64::from);
        self.gl_ortho(l, r, b, t, n, f)
    }

    pub fn gl_push_matrix(&mut self) -> Result<(), GlError> {
        listed!(self, gl_push_matrix());
        let lost = self.matrices.lost;
        let Some(stack) = self.current_stack() else {
            return self.lose_matrices();
        };
        if stack.entries.len() >= stack.limit {
            return match lost {
                false => Err(GlError::StackOverflow),
                true => self.lose_matrices(),
            };
        }
        let top = *stack.top();
        if lost {
            // If it is full, nothing is pushed, and what will be popped is something else.
            (stack.top_mut().shape, stack.top_mut().about) = (Shape::Unknown, None);
        }
        stack.entries.push(top);
        self.doubt |= lost;
        Ok(())
    }

    pub fn gl_pop_matrix(&mut self) -> Result<(), GlError> {
        listed!(self, gl_pop_matrix());
        let lost = self.matrices.lost;
        let Some(stack) = self.current_stack() else {
            return self.lose_matrices();
        };
        if stack.entries.len() == 1 {
            return match lost {
                false => Err(GlError::StackUnderflow),
                true => self.lose_matrices(),
            };
        }
        stack.entries.pop();
        self.matrices.changes = self.matrices.changes.wrapping_add(1);
        self.doubt |= lost;
        Ok(())
    }

    /// Some stack was pushed or popped, and which only the driver knows.
    fn lose_matrices(&mut self) -> Result<(), GlError> {
        self.matrices.lost = true;
        self.matrices.forget();
        self.unsure()
    }

    fn change(
        &mut self,
        how: impl FnOnce(&mut Matrix),
        about: impl FnOnce() -> About,
    ) -> Result<(), GlError> {
        let follows = self.matrices.follows;
        match self.current_stack() {
            Some(stack) => {
                let top = stack.top_mut();
                let before = top.about;
                how(top);
                if follows {
                    top.about = match about() {
                        About::Loaded(m) => Some(m),
                        About::Multiplied(m) => before.map(|before| product(&before, &m)),
                    };
                    self.matrices.changes = self.matrices.changes.wrapping_add(1);
                }
                Ok(())
            }
            None => {
                self.matrices.forget();
                self.unsure()
            }
        }
    }

    /// The stack of the matrix mode; `None` where only the driver knows it.
    fn current_stack(&mut self) -> Option<&mut Stack> {
        match self.int(at!(GL_MATRIX_MODE)) {
            GL_MODELVIEW => Some(&mut self.matrices.modelview),
            GL_PROJECTION => Some(&mut self.matrices.projection),
            GL_TEXTURE => {
                let unit = self.active_unit();
                self.matrices.texture.get_mut(unit)
            }
            _ => None,
        }
    }

    fn stack_of(&self, pname: u32) -> Option<&Stack> {
        match pname {
            GL_MODELVIEW_MATRIX | GL_TRANSPOSE_MODELVIEW_MATRIX | GL_MODELVIEW_STACK_DEPTH => {
                Some(&self.matrices.modelview)
            }
            GL_PROJECTION_MATRIX | GL_TRANSPOSE_PROJECTION_MATRIX | GL_PROJECTION_STACK_DEPTH => {
                Some(&self.matrices.projection)
            }
            GL_TEXTURE_MATRIX | GL_TRANSPOSE_TEXTURE_MATRIX | GL_TEXTURE_STACK_DEPTH => {
                self.matrices.texture.get(self.active_unit())
            }
            _ => match self.int(at!(GL_MATRIX_MODE)) {
                GL_MODELVIEW => Some(&self.matrices.modelview),
                GL_PROJECTION => Some(&self.matrices.projection),
                GL_TEXTURE => self.matrices.texture.get(self.active_unit()),
                _ => None,
            },
        }
    }

    pub(crate) fn matrix_answer(&self, pname: u32) -> Answer<'_> {
        let Some(stack) = self.stack_of(pname) else {
            return Answer::Unknown;
        };
        if pname == GL_TRANSPOSE_TEXTURE_MATRIX && self.active_unit() != 0 {
            // Which unit's, drivers disagree with the specification.
            return Answer::Unknown;
        }
        match pname {
            GL_MODELVIEW_STACK_DEPTH
            | GL_PROJECTION_STACK_DEPTH
            | GL_TEXTURE_STACK_DEPTH
            | GL_CURRENT_MATRIX_STACK_DEPTH_ARB => {
                return match self.matrices.lost {
                    true => Answer::Unknown,
                    false => Answer::one(Class::Int, stack.entries.len() as f64),
                }
            }
            _ if stack.top().shape == Shape::Unknown => return Answer::Unknown,
            _ => {}
        }
        match pname {
            GL_TRANSPOSE_MODELVIEW_MATRIX
            | GL_TRANSPOSE_PROJECTION_MATRIX
            | GL_TRANSPOSE_TEXTURE_MATRIX
            | GL_TRANSPOSE_CURRENT_MATRIX_ARB => Answer::transposed(&stack.top().m),
            _ => Answer::floats(Class::Unit, &stack.top().m),
        }
    }

    /// Takes the driver's word for a matrix.
    pub(crate) fn learn_matrix(&mut self, pname: u32, values: [f32; 16]) {
        let unit = self.active_unit();
        let (stack, values) = match pname {
            GL_MODELVIEW_MATRIX => (&mut self.matrices.modelview, values),
            GL_PROJECTION_MATRIX => (&mut self.matrices.projection, values),
            GL_TRANSPOSE_MODELVIEW_MATRIX => (&mut self.matrices.modelview, transposed(values)),
            GL_TRANSPOSE_PROJECTION_MATRIX => (&mut self.matrices.projection, transposed(values)),
            GL_TEXTURE_MATRIX if unit < self.matrices.texture.len() => {
                (&mut self.matrices.texture[unit], values)
            }
            _ => return,
        };
        stack.top_mut().load(values);
        stack.top_mut().about = Some(values);
        self.matrices.changes = self.matrices.changes.wrapping_add(1);
    }

    /// From now on [`State::transform`] is answered. Costs a product for each command about
    /// matrices.
    pub fn follow_transform(&mut self) {
        self.matrices.follows = true;
    }

    /// From object coordinates to clip coordinates, by columns, except for rounding; none where
    /// only the driver knows.
    pub fn transform(&self) -> Option<[f32; 16]> {
        if !self.matrices.follows {
            return None;
        }
        let projection = self.matrices.projection.top().about?;
        let modelview = self.matrices.modelview.top().about?;
        Some(product(&projection, &modelview))
    }

    /// Another number after whatever may have changed the transform.
    pub fn transform_changes(&self) -> u32 {
        self.matrices.changes
    }

    /// Whether points pass the modelview matrix as they are.
    pub(crate) fn modelview_is_identity(&self) -> bool {
        self.matrices.modelview.top().is_identity()
    }
}

/// Names of matrices and of their stacks' depths.
pub(crate) const NAMES: &[u32] = &[
    GL_MODELVIEW_MATRIX,
    GL_PROJECTION_MATRIX,
    GL_TEXTURE_MATRIX,
    GL_TRANSPOSE_MODELVIEW_MATRIX,
    GL_TRANSPOSE_PROJECTION_MATRIX,
    GL_TRANSPOSE_TEXTURE_MATRIX,
    GL_CURRENT_MATRIX_ARB,
    GL_TRANSPOSE_CURRENT_MATRIX_ARB,
    GL_MODELVIEW_STACK_DEPTH,
    GL_PROJECTION_STACK_DEPTH,
    GL_TEXTURE_STACK_DEPTH,
    GL_CURRENT_MATRIX_STACK_DEPTH_ARB,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix_after(ops: &[&dyn Fn(&mut Matrix)]) -> Matrix {
        let mut m = Matrix::IDENTITY;
        ops.iter().for_each(|op| op(&mut m));
        m
    }

    #[test]
    fn what_needs_one_rounding_is_known() {
        let m = matrix_after(&[&|m| m.translate([1.5, -2., 0.1]), &|m| m.scale(2., 3., 0.3)]);
        assert_eq!(m.shape, Shape::Diagonal);
        assert_eq!(m.m[12..15], [1.5, -2., 0.1]);
        assert_eq!((m.m[0], m.m[5], m.m[10]), (2., 3., 0.3));
        let m = matrix_after(&[&|m| m.scale(2., 2., 2.), &|m| m.translate([1., 1., 1.])]);
        assert_eq!(m.m[12..15], [2., 2., 2.]);
    }

    #[test]
    fn rotations_are_about_what_they_are() {
        let near = |a: [f32; 16], b: [f32; 16]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        let mut quarter = IDENTITY;
        (quarter[0], quarter[1], quarter[4], quarter[5]) = (0., 1., -1., 0.);
        assert!(near(rotation(90., [0., 0., 3.]), quarter));
        assert!(near(
            product(&quarter, &rotation(-90., [0., 0., 1.])),
            IDENTITY
        ));
        assert!(near(rotation(10., [0.; 3]), IDENTITY));
        let mut moved = IDENTITY;
        moved[12] = 5.;
        // The right one is applied first.
        assert_eq!(product(&quarter, &moved)[13], 5.);
    }

    #[test]
    fn what_needs_two_is_not() {
        let m = matrix_after(&[
            &|m| m.scale(0.1, 1., 1.),
            &|m| m.translate([0.1, 0., 0.]),
            &|m| m.translate([0.7, 0., 0.]),
        ]);
        assert_eq!(m.shape, Shape::Unknown);
    }

    #[test]
    fn products_with_an_identity() {
        let some: [f32; 16] = std::array::from_fn(|i| i as f32);
        let mut m = Matrix::IDENTITY;
        m.multiply(some);
        assert_eq!((m.shape, m.m), (Shape::General, some));
        m.multiply(IDENTITY);
        assert_eq!((m.shape, m.m), (Shape::General, some));
        m.multiply(some);
        assert_eq!(m.shape, Shape::Unknown);
        let mut m = Matrix::IDENTITY;
        m.multiply([f32::NAN; 16]);
        assert_eq!(m.shape, Shape::Unknown);
    }
}
