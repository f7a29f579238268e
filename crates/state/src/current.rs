//! Current vertex attributes.

use mgn_wire::draws::attr;
use mgn_wire::gl::*;

use crate::{Answer, Class, State};

/// Attributes are kept where the stream numbers them (`mgn_wire::draws::attr`). The position, and
/// generic attribute 0, are never looked at.
pub const COLOR: usize = attr::COLOR as usize;
pub const SECONDARY_COLOR: usize = attr::SECONDARY as usize;
pub const NORMAL: usize = attr::NORMAL as usize;
pub const FOG_COORD: usize = attr::FOG as usize;
pub const INDEX: usize = attr::INDEX as usize;
pub const EDGE_FLAG: usize = attr::EDGE_FLAG as usize;
pub const TEXTURE: usize = attr::TEXCOORD as usize;
pub const GENERIC: usize = attr::GENERIC as usize;
pub const ATTRIBUTES: usize = attr::COUNT as usize;

/// The first word of an attribute with an unknown value: a NaN that no computation gives.
const UNKNOWN: u32 = 0x7fed_6d67;

/// Current vertex attributes, four floats each. Writing one is all it takes to set it.
#[derive(Clone, Debug)]
pub struct Current {
    pub values: [[f32; 4]; ATTRIBUTES],
}

impl Current {
    pub(crate) fn new() -> Current {
        let mut values = [[0., 0., 0., 1.]; ATTRIBUTES];
        values[COLOR] = [1.; 4];
        values[NORMAL] = [0., 0., 1., 1.];
        values[INDEX] = [1., 0., 0., 1.];
        values[EDGE_FLAG] = [1., 0., 0., 1.];
        Current { values }
    }

    /// An attribute's value, if it is known.
    #[inline]
    pub fn get(&self, attribute: usize) -> Option<[f32; 4]> {
        let value = self.values[attribute];
        (value[0].to_bits() != UNKNOWN).then_some(value)
    }

    /// Leaves an attribute's value to the driver until it is set again.
    pub fn forget(&mut self, attribute: usize) {
        self.values[attribute][0] = f32::from_bits(UNKNOWN);
    }

    /// Leaves all of them to the driver.
    pub fn forget_all(&mut self) {
        (0..ATTRIBUTES).for_each(|i| self.forget(i));
    }

    pub(crate) fn answer(&self, attribute: usize, class: Class, values: usize) -> Answer<'_> {
        match self.get(attribute) {
            Some(_) => Answer::floats(class, &self.values[attribute][..values]),
            None => Answer::Unknown,
        }
    }
}

/// Names that show a current attribute.
pub(crate) const NAMES: &[u32] = &[
    GL_CURRENT_COLOR,
    GL_CURRENT_SECONDARY_COLOR,
    GL_CURRENT_NORMAL,
    GL_CURRENT_FOG_COORD,
    GL_CURRENT_INDEX,
    GL_EDGE_FLAG,
    GL_CURRENT_TEXTURE_COORDS,
];

impl State {
    /// Sets a current attribute as a command outside glBegin and glEnd does, also while a
    /// display list is compiled. Between glBegin and glEnd, and where nothing is compiled,
    /// [`Current::values`] may be written directly instead.
    pub fn set_current(&mut self, attribute: usize, value: [f32; 4]) {
        if self.compiling.is_some() && !self.record(move |s| s.set_current(attribute, value)) {
            return;
        }
        self.current.values[attribute] = value;
    }

    /// An attribute is changed, as by [`State::set_current`], in a way that only the driver knows.
    pub fn forget_current(&mut self, attribute: usize) {
        let mut value = self.current.values[attribute];
        value[0] = f32::from_bits(UNKNOWN);
        self.set_current(attribute, value);
    }

    pub(crate) fn current_answer(&self, pname: u32) -> Answer<'_> {
        let current = &self.current;
        match pname {
            GL_CURRENT_COLOR => current.answer(COLOR, Class::Unit, 4),
            GL_CURRENT_SECONDARY_COLOR => current.answer(SECONDARY_COLOR, Class::Unit, 4),
            GL_CURRENT_NORMAL => current.answer(NORMAL, Class::Unit, 3),
            GL_CURRENT_FOG_COORD => current.answer(FOG_COORD, Class::Float, 1),
            GL_CURRENT_INDEX => current.answer(INDEX, Class::Float, 1),
            GL_EDGE_FLAG => match current.get(EDGE_FLAG) {
                Some(flag) => Answer::one(Class::Bool, f64::from(u8::from(flag[0] != 0.))),
                None => Answer::Unknown,
            },
            _ => match self.active_unit() {
                unit if unit < self.limits.coord_units => {
                    current.answer(TEXTURE + unit, Class::Float, 4)
                }
                _ => Answer::Unknown,
            },
        }
    }
}
