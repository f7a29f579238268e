//! The shadow's answers, and how values are converted to the type that a get asks for.

use crate::slots::{is_unknown, Class};

/// The answer to a get.
#[derive(Clone, Copy, Debug)]
pub enum Answer<'a> {
    /// Only the driver knows: ask it, and tell [`crate::State::learn_integers`] or another `learn`
    /// what it said.
    Unknown,
    Values(Values<'a>),
}

impl<'a> Answer<'a> {
    /// The values, if they are known.
    #[inline]
    pub fn values(self) -> Option<Values<'a>> {
        match self {
            Answer::Unknown => None,
            Answer::Values(values) => Some(values),
        }
    }

    #[inline]
    pub(crate) fn of(class: Class, values: &'a [f64]) -> Answer<'a> {
        if values.iter().any(|&v| is_unknown(v)) {
            return Answer::Unknown;
        }
        Answer::Values(Values {
            class,
            data: Data::Numbers(values),
        })
    }

    #[inline]
    pub(crate) fn one(class: Class, value: f64) -> Answer<'a> {
        match is_unknown(value) {
            true => Answer::Unknown,
            false => Answer::few(class, [value, 0., 0., 0.], 1),
        }
    }

    #[inline]
    pub(crate) fn few(class: Class, values: [f64; 4], n: usize) -> Answer<'a> {
        Answer::Values(Values {
            class,
            data: Data::Few(values, n),
        })
    }

    #[inline]
    pub(crate) fn floats(class: Class, values: &'a [f32]) -> Answer<'a> {
        Answer::Values(Values {
            class,
            data: Data::Floats(values),
        })
    }

    #[inline]
    pub(crate) fn transposed(matrix: &'a [f32; 16]) -> Answer<'a> {
        Answer::Values(Values {
            class: Class::Unit,
            data: Data::Transposed(matrix),
        })
    }

    #[inline]
    pub(crate) fn constant(integers: &'a [i64], floats: Option<&'a [f32]>) -> Answer<'a> {
        Answer::Values(Values {
            class: Class::Int,
            data: Data::Constant(integers, floats),
        })
    }
}

/// Known values, to be read in the type that the program asked for. They are converted as
/// OpenGL says: floats are rounded to integers, colours and the like are stretched over the
/// range of integers, and booleans are 0 and 1.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    class: Class,
    data: Data<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Data<'a> {
    Numbers(&'a [f64]),
    Few([f64; 4], usize),
    Floats(&'a [f32]),
    Transposed(&'a [f32; 16]),
    Constant(&'a [i64], Option<&'a [f32]>),
}

#[allow(clippy::len_without_is_empty)]
impl Values<'_> {
    /// How many there are; never none, except for an empty list of formats.
    #[inline]
    pub fn len(&self) -> usize {
        match self.data {
            Data::Numbers(values) => values.len(),
            Data::Few(_, n) => n,
            Data::Floats(values) => values.len(),
            Data::Transposed(values) => values.len(),
            Data::Constant(integers, _) => integers.len(),
        }
    }

    /// Value `i` as `glGetDoublev` returns it.
    #[inline]
    pub fn double(&self, i: usize) -> f64 {
        self.raw(i)
    }

    /// The value itself. A boolean may be any byte that the program called true; drivers return it
    /// so, except as floats.
    #[inline]
    fn raw(&self, i: usize) -> f64 {
        match self.data {
            Data::Numbers(values) => values[i],
            Data::Few(values, n) => values[..n][i],
            Data::Floats(values) => f64::from(values[i]),
            Data::Transposed(values) => f64::from(values[i % 4 * 4 + i / 4]),
            Data::Constant(_, Some(floats)) => f64::from(floats[i]),
            Data::Constant(integers, None) => integers[i] as f64,
        }
    }

    /// Value `i` as `glGetFloatv` returns it.
    #[inline]
    pub fn float(&self, i: usize) -> f32 {
        match self.class {
            Class::Bool => f32::from(u8::from(self.raw(i) != 0.)),
            _ => self.raw(i) as f32,
        }
    }

    /// Value `i` as `glGetIntegerv` returns it.
    #[inline]
    pub fn int(&self, i: usize) -> i32 {
        if let Data::Constant(integers, _) = self.data {
            return integers[i].clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        }
        let value = self.raw(i);
        match self.class {
            Class::Bool | Class::Int => value as i32,
            Class::Uint => value.min(f64::from(i32::MAX)) as i32,
            Class::Float => round(value),
            Class::Part => truncate(value),
            Class::Unit | Class::Clamped => stretch(value),
            Class::EnvColor => stretch(value.clamp(0., 1.)),
        }
    }

    /// Value `i` as `glGetInteger64v` returns it.
    #[inline]
    pub fn int64(&self, i: usize) -> i64 {
        if let Data::Constant(integers, _) = self.data {
            return integers[i];
        }
        let value = self.raw(i);
        match self.class {
            Class::Bool | Class::Int | Class::Uint => value as i64,
            _ => self.int(i).into(),
        }
    }

    /// Value `i` as `glGetFixedv` returns it: 16 bits behind the point, and the nearest end for
    /// what is beyond.
    pub fn fixed(&self, i: usize) -> i32 {
        let whole = match (self.class, self.data) {
            (_, Data::Constant(_, Some(_))) => None,
            (_, Data::Constant(integers, None)) => Some(integers[i]),
            (Class::Bool, _) => Some(i64::from(self.raw(i) != 0.)),
            (Class::Int, _) => Some(self.raw(i) as i64),
            // Bits are shown as a signed integer.
            (Class::Uint, _) => Some((self.raw(i) as u32 as i32).into()),
            _ => None,
        };
        match whole {
            Some(whole) => fixed_of(whole),
            None if self.float(i) * 65536. > -(i32::MIN as f32) => i32::MAX,
            None => truncate(f64::from(self.float(i) * 65536.)),
        }
    }

    /// Value `i` as `glGetBooleanv` returns it.
    #[inline]
    pub fn boolean(&self, i: usize) -> u8 {
        if let Data::Constant(integers, None) = self.data {
            return u8::from(integers[i] != 0);
        }
        match self.class {
            Class::Bool => self.raw(i) as u8,
            _ => u8::from(self.raw(i) != 0.),
        }
    }
}

/// An integer as a fixed-point number.
pub fn fixed_of(whole: i64) -> i32 {
    match i16::try_from(whole) {
        Ok(whole) => i32::from(whole) << 16,
        Err(_) if whole > 0 => i32::MAX,
        Err(_) => i32::MIN,
    }
}

/// To the nearest integer, halves away from zero.
fn round(value: f64) -> i32 {
    truncate(if value >= 0. {
        value + 0.5
    } else {
        value - 0.5
    })
}

/// From -1..1 to all integers.
fn stretch(value: f64) -> i32 {
    truncate(value * f64::from(i32::MAX))
}

/// The integer part; what fits no integer becomes the least one, as processors have it.
fn truncate(value: f64) -> i32 {
    if (-2147483648. ..2147483648.).contains(&value) {
        value as i32
    } else {
        i32::MIN
    }
}
