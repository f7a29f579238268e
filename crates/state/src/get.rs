//! Answering gets, and learning from the answers of the driver.

use mgn_wire::gl::*;
use mgn_wire::hello::ContextInfo;

use crate::index::ValueLocation;
use crate::slots::{at, is_unknown, slot, ALIASES, TABLE};
use crate::units::{self, CAPABILITIES};
use crate::{attribs, current, framebuffers, lists, matrices, Answer, Class, State};

/// A name whose values never change, as each of the gets returns it.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    integers: Vec<i64>,
    floats: Option<Vec<f32>>,
}

impl State {
    /// Takes what the driver's gets say in a new context: which names it knows, and with what
    /// values.
    pub(crate) fn initialize_names(&mut self, info: &ContextInfo) {
        let floats = |pname: u32| {
            info.floats
                .iter()
                .find(|(p, _)| *p == pname)
                .map(|(_, v)| v)
        };
        let integers = |pname: u32| {
            let found = info.integers.iter().find(|(p, _)| *p == pname);
            found.map(|(_, v)| v)
        };
        let known = |pname: u32| integers(pname).is_some() || floats(pname).is_some();
        let mut place = 0;
        for (row_number, row) in TABLE.iter().enumerate() {
            let values = usize::from(row.values);
            for element in 0..usize::from(row.elements) {
                let pname = row.pname + if row.named { element as u32 } else { 0 };
                let at = place + element * values;
                for i in 0..values {
                    let float = floats(pname).and_then(|v| v.get(i)).map(|&v| f64::from(v));
                    let integer = integers(pname).and_then(|v| v.get(i));
                    let integer = integer.map(|&v| match row.class {
                        // Gets cut off a mask with all bits set.
                        Class::Uint if v == i64::from(i32::MAX) => f64::from(u32::MAX),
                        Class::Uint => f64::from(v as u32),
                        Class::Int => f64::from(v as i32),
                        _ => v as f64,
                    });
                    let value = match row.class {
                        Class::Float | Class::Unit | Class::Clamped => float.or(integer),
                        _ => integer.or(float),
                    };
                    if let Some(value) = value {
                        self.values[at + i] = value;
                    }
                }
                if known(pname) && (element == 0 || row.named) {
                    let row = row_number as u16;
                    self.index
                        .add(pname, ValueLocation::Row { row, at: at as u16 });
                }
            }
            place += values * usize::from(row.elements);
        }
        self.set(at!(GL_SAMPLE_MASK_VALUE), -1);
        for &(alias, pname) in ALIASES {
            if let Some(place) = self.index.find(pname).filter(|_| known(alias)) {
                self.index.add(alias, place);
            }
        }
        for (i, pname) in CAPABILITIES.into_iter().enumerate() {
            if known(pname) {
                self.index.add(pname, ValueLocation::Coord(i as u16));
            }
        }
        for (pname, offset) in units::unit_names().filter(|(pname, _)| known(*pname)) {
            self.index.add(pname, ValueLocation::Unit(offset as u16));
        }
        let mut add = |names: &mut dyn Iterator<Item = u32>, place: ValueLocation| {
            names
                .filter(|&name| known(name))
                .for_each(|name| self.index.add(name, place));
        };
        add(&mut matrices::NAMES.iter().copied(), ValueLocation::Matrix);
        add(&mut current::NAMES.iter().copied(), ValueLocation::Current);
        add(&mut lists::NAMES.iter().copied(), ValueLocation::List);
        add(&mut attribs::NAMES.iter().copied(), ValueLocation::Attrib);
        add(&mut framebuffers::names(), ValueLocation::Framebuffer);
        for &pname in framebuffers::DERIVED {
            self.index.add(pname, ValueLocation::Derived);
        }
        for (pname, values) in &info.integers {
            let floats = floats(*pname).cloned();
            let constant = Constant {
                integers: values.clone(),
                floats,
            };
            if self.index.find(*pname).is_none() && self.constants.len() < u16::MAX.into() {
                self.index
                    .add(*pname, ValueLocation::Constant(self.constants.len() as u16));
                self.constants.push(constant);
            }
        }
    }

    /// The answer to `glGet*v`.
    #[inline]
    pub fn get(&self, pname: u32) -> Answer<'_> {
        match self.index.find(pname) {
            Some(ValueLocation::Row { row, at }) => {
                let row = &TABLE[usize::from(row)];
                self.row_answer(row.pname, at.into(), row.values.into(), row.class)
            }
            Some(ValueLocation::Constant(i)) => {
                let constant = &self.constants[usize::from(i)];
                Answer::constant(&constant.integers, constant.floats.as_deref())
            }
            Some(ValueLocation::Coord(offset)) => match self.coord_at(offset.into()) {
                Some(at) => self.answer_at(at, 1, Class::Bool),
                None => Answer::Unknown,
            },
            Some(ValueLocation::Unit(offset)) => match self.unit_at(offset.into()) {
                Some(at) => self.answer_at(at, 1, Class::Int),
                None => Answer::Unknown,
            },
            Some(ValueLocation::Matrix) => self.matrix_answer(pname),
            Some(ValueLocation::Current) => self.current_answer(pname),
            Some(ValueLocation::List) => self.list_answer(pname),
            Some(ValueLocation::Attrib) => self.attrib_answer(pname),
            Some(ValueLocation::Framebuffer) => self.framebuffer_answer(pname),
            Some(ValueLocation::Derived) => match self.derived.get(&pname) {
                Some(values) if self.default_framebuffers() => {
                    Answer::one(Class::Int, values[0].into())
                }
                _ => Answer::Unknown,
            },
            None => Answer::Unknown,
        }
    }

    /// The answer to `glGet*i_v`.
    pub fn get_indexed(&self, pname: u32, index: u32) -> Answer<'_> {
        if let Some(value) = self.indexed_binding(pname, index) {
            return match self.has(GL_UNIFORM_BUFFER_BINDING) {
                true => Answer::one(Class::Int, value),
                false => Answer::Unknown,
            };
        }
        if pname == GL_SAMPLE_MASK_VALUE && index == 0 && self.has(GL_SAMPLE_MASK) {
            return self.answer_at(slot(GL_SAMPLE_MASK_VALUE), 1, Class::Int);
        }
        if self.limits.api == crate::limits::Api::Es1 {
            return Answer::Unknown;
        }
        let limit = match pname {
            GL_VIEWPORT | GL_SCISSOR_BOX | GL_DEPTH_RANGE => self.limits.viewports,
            GL_BLEND_SRC_RGB
            | GL_BLEND_DST_RGB
            | GL_BLEND_SRC_ALPHA
            | GL_BLEND_DST_ALPHA
            | GL_BLEND_EQUATION_RGB
            | GL_BLEND_EQUATION_ALPHA
            | GL_BLEND
            | GL_COLOR_WRITEMASK => self.limits.draw_buffers,
            _ => return Answer::Unknown,
        };
        match self.index.find(pname) {
            Some(ValueLocation::Row { row, at }) if (index as usize) < limit => {
                let row = &TABLE[usize::from(row)];
                let values = usize::from(row.values);
                let at = usize::from(at) + index as usize * values;
                // As integers, indexed depths are rounded, not stretched.
                let class = match row.class {
                    Class::Unit => Class::Float,
                    class => class,
                };
                self.answer_at(at, values, class)
            }
            _ => Answer::Unknown,
        }
    }

    #[inline]
    fn row_answer(&self, pname: u32, at: usize, values: usize, class: Class) -> Answer<'_> {
        match pname {
            GL_STENCIL_FUNC..=GL_STENCIL_WRITEMASK if self.third_stencil_face() => Answer::Unknown,
            GL_STENCIL_REF | GL_STENCIL_BACK_REF => self.stencil_ref(at),
            _ => self.answer_at(at, values, class),
        }
    }

    /// Values at a place, known as they are.
    #[inline]
    pub(crate) fn answer_at(&self, at: usize, values: usize, class: Class) -> Answer<'_> {
        let answer = Answer::of(class, &self.values[at..at + values]);
        if !matches!(class, Class::Clamped | Class::EnvColor) {
            return answer;
        }
        let within = |v: &f64| (0. ..=1.).contains(v);
        if self.values[at..at + values].iter().all(within) {
            return answer;
        }
        // Beyond 0 to 1, it depends on whether fragment colours are clamped.
        let clamp = match self.known(at!(GL_CLAMP_FRAGMENT_COLOR)) {
            Some(clamp) => clamp as u32,
            None => return Answer::Unknown,
        };
        let values = &self.values[at..at + values];
        match clamp {
            GL_FALSE => answer,
            GL_FIXED_ONLY if !self.default_framebuffers() => Answer::Unknown,
            _ if values.iter().any(|&v| is_unknown(v)) => Answer::Unknown,
            _ => {
                let mut clamped = [0.; 4];
                for (to, from) in clamped.iter_mut().zip(values) {
                    *to = from.clamp(0., 1.);
                }
                Answer::few(Class::Unit, clamped, values.len())
            }
        }
    }

    /// The reference value is shown within the range of the stencil buffer, if there is one.
    fn stencil_ref(&self, at: usize) -> Answer<'_> {
        let Some(value) = self.known(at) else {
            return Answer::Unknown;
        };
        if value <= 0. {
            return Answer::one(Class::Int, 0.);
        }
        match self.stencil_bits {
            Some(bits) if self.default_framebuffers() => {
                let most = (1i64 << bits.min(31)) - 1;
                Answer::one(Class::Int, value.min(most as f64))
            }
            _ => Answer::Unknown,
        }
    }

    /// Takes the driver's answer to `glGetIntegerv` where that tells all there is.
    pub fn learn_integers(&mut self, pname: u32, values: &[i32]) {
        if framebuffers::DERIVED.contains(&pname) && !values.is_empty() {
            if self.default_framebuffers() {
                self.derived.insert(pname, values.to_vec());
            }
            return;
        }
        if let (true, Some(&value)) = (framebuffers::names().any(|n| n == pname), values.first()) {
            return self.learn_buffer(pname, value.into());
        }
        let Some((at, n, class)) = self.learnable(pname) else {
            return;
        };
        // The get cuts off what is not negative and not shown in full.
        let whole = |&&value: &&i32| class != Class::Uint || value < i32::MAX;
        if matches!(class, Class::Int | Class::Uint | Class::Bool) {
            let values = values.iter().take_while(whole);
            for (to, &value) in self.values[at..at + n].iter_mut().zip(values) {
                *to = value.into();
            }
        }
    }

    /// Takes the driver's answer to `glGetFloatv`.
    pub fn learn_floats(&mut self, pname: u32, values: &[f32]) {
        if let (Some(ValueLocation::Matrix), Ok(matrix)) =
            (self.index.find(pname), values.try_into())
        {
            return self.learn_matrix(pname, matrix);
        }
        if pname == GL_DEPTH_CLEAR_VALUE {
            // This one is a double.
            return;
        }
        if let Some((at, n, Class::Float | Class::Unit)) = self.learnable(pname) {
            for (to, &value) in self.values[at..at + n].iter_mut().zip(values) {
                *to = value.into();
            }
        }
    }

    /// Takes the driver's answer to `glGetDoublev`, which holds no more than floats.
    pub fn learn_doubles(&mut self, pname: u32, values: &[f64]) {
        let mut floats = [0.; 16];
        let n = values.len().min(floats.len());
        floats
            .iter_mut()
            .zip(values)
            .for_each(|(to, &from)| *to = from as f32);
        self.learn_floats(pname, &floats[..n]);
    }

    /// Where values are that are unknown now and that the driver's answer is the whole truth
    /// of.
    fn learnable(&self, pname: u32) -> Option<(usize, usize, Class)> {
        let (at, values, class) = match self.index.find(pname)? {
            ValueLocation::Row { row, at } => {
                let row = &TABLE[usize::from(row)];
                match pname {
                    // Gets return only the first of elements with an index.
                    _ if row.elements > 1 && !row.named => return None,
                    GL_STENCIL_REF | GL_STENCIL_BACK_REF => return None,
                    // The mode does not tell which matrix is current: see glPopAttrib.
                    GL_MATRIX_MODE => return None,
                    // A name may be that of a buffer deleted since.
                    GL_ELEMENT_ARRAY_BUFFER_BINDING => return None,
                    GL_STENCIL_FUNC..=GL_STENCIL_WRITEMASK if self.third_stencil_face() => {
                        return None
                    }
                    _ => (usize::from(at), usize::from(row.values), row.class),
                }
            }
            ValueLocation::Coord(offset) => (self.coord_at(offset.into())?, 1, Class::Bool),
            ValueLocation::Unit(offset) => (self.unit_at(offset.into())?, 1, Class::Int),
            _ => return None,
        };
        let unknown = self.values[at..at + values].iter().any(|&v| is_unknown(v));
        unknown.then_some((at, values, class))
    }

    /// Only the driver knows a name's value now.
    pub fn forget(&mut self, pname: u32) {
        if let Some(ValueLocation::Row { row, at }) = self.index.find(pname) {
            let row = &TABLE[usize::from(row)];
            let elements = if row.named { 1 } else { row.elements };
            self.forget_at(at.into(), usize::from(row.values) * usize::from(elements));
        }
    }
}
