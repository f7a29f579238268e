//! Stages that look at every command and change none.

use crate::generated::names::{Names, OWN};
use mgn_wire::{ops, Commands, Data, Fault, Plain, Slice};
use std::fmt;

/// Sees every command before and after the rest of the chain performs it.
pub trait Observer {
    /// A message of this context begins.
    fn message(&mut self, _context: u32) {}

    fn before(&mut self, _call: &Call<'_>) {}

    fn after(&mut self, _call: &Call<'_>) {}

    /// The session is over.
    fn end(&mut self) {}
}

/// The stage that shows commands to an observer and passes them on.
pub struct Observe {
    pub(crate) observer: Box<dyn Observer>,
    pub(crate) next: Box<dyn Commands>,
}

impl Observe {
    pub fn new(observer: impl Observer + 'static, next: Box<dyn Commands>) -> Observe {
        Observe {
            observer: Box::new(observer),
            next,
        }
    }

    pub(crate) fn around(
        &mut self,
        call: &Call<'_>,
        perform: impl FnOnce(&mut dyn Commands) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.observer.before(call);
        let done = perform(&mut *self.next);
        self.observer.after(call);
        done
    }
}

/// A command with its arguments.
pub struct Call<'a> {
    /// One of `mgn_wire::ops`.
    pub op: u16,
    /// Whether it has an answer.
    pub asks: bool,
    /// The names of the arguments, as the methods of `Commands` have them.
    pub names: &'static [&'static str],
    pub values: &'a [Value<'a>],
}

impl Call<'_> {
    /// The name as in C: `glDrawArrays`.
    pub fn name(&self) -> &'static str {
        mgn_wire::name(self.op)
    }

    /// Whether it ends a frame.
    pub fn shows(&self) -> bool {
        matches!(
            self.op,
            ops::MGN_SWAP_BUFFERS | ops::MGN_COPY_SUB_BUFFER | ops::MGN_PRESENT_FRONT
        )
    }

    /// The argument of this name, if the command has one.
    pub fn value(&self, name: &str) -> Option<&Value<'_>> {
        let at = self.names.iter().position(|n| *n == name)?;
        self.values.get(at)
    }

    /// The value of the argument of this name, if it is a whole number.
    pub fn integer(&self, name: &str) -> Option<i64> {
        match *self.value(name)? {
            Value::Integer(value) | Value::Long(value) => Some(value),
            Value::Enum(value, _) | Value::Bits(value, _) => Some(value.into()),
            Value::Parameter(value) => Some(value.into()),
            _ => None,
        }
    }

    /// Bytes of the command's record in the stream.
    pub fn bytes(&self) -> usize {
        let record = |value: &Value<'_>| match value {
            Value::Long(_) | Value::Unsigned(_) | Value::Double(_) => 8,
            Value::Text(text) => 4 + text.len(),
            Value::Array(values) => 4 + values.bytes(),
            Value::Data(Data::Inline(bytes)) => 4 + bytes.len(),
            Value::Data(Data::Offset(_)) => 12,
            _ => 4,
        };
        let arguments = self.values.iter().map(record);
        4 + arguments.map(|n| n.next_multiple_of(4)).sum::<usize>()
    }
}

/// `glDrawArrays(mode=GL_TRIANGLES, first=0, count=3)`.
impl fmt::Display for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name())?;
        for (i, (name, value)) in self.names.iter().zip(self.values).enumerate() {
            let separator = if i > 0 { ", " } else { "" };
            write!(f, "{separator}{name}={value}")?;
        }
        write!(f, ")")
    }
}

/// An argument. Integers of up to 32 bits are widened.
pub enum Value<'a> {
    Integer(i64),
    Long(i64),
    Unsigned(u64),
    /// A whole number that may be an enum, depending on another argument.
    Parameter(i32),
    Boolean(u8),
    Float(f32),
    Double(f64),
    Enum(u32, Names),
    Bits(u32, Names),
    Text(Slice<'a, u8>),
    Array(Values<'a>),
    Data(Data<'a>),
    /// How many elements the client has room for.
    Out(u32),
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Value::Integer(value) | Value::Long(value) => write!(f, "{value}"),
            Value::Unsigned(value) => write!(f, "{value}"),
            Value::Parameter(value) => match u32::try_from(value) {
                Ok(value) if value >= LEAST_PARAMETER => write_enum(f, value, &[]),
                _ => write!(f, "{value}"),
            },
            Value::Boolean(0) => write!(f, "false"),
            Value::Boolean(_) => write!(f, "true"),
            Value::Float(value) => write!(f, "{value:?}"),
            Value::Double(value) => write!(f, "{value:?}"),
            Value::Enum(value, names) => write_enum(f, value, names),
            Value::Bits(value, names) => write_bits(f, value, names),
            Value::Text(text) => write!(f, "{:?}", String::from_utf8_lossy(&text.to_vec())),
            Value::Array(ref values) => write!(f, "{values}"),
            Value::Data(Data::Null) => write!(f, "null"),
            Value::Data(Data::Inline(bytes)) => write!(f, "{} bytes", bytes.len()),
            Value::Data(Data::Offset(offset)) => write!(f, "buffer+{offset}"),
            Value::Out(count) => write!(f, "out[{count}]"),
        }
    }
}

/// Where both numbers and enums are possible, numbers are smaller than this, and enums are not.
const LEAST_PARAMETER: u32 = 0x1d00;

fn find(names: Names, value: u32) -> Option<&'static str> {
    let at = names.binary_search_by_key(&value, |(value, _)| *value);
    at.ok().map(|at| names[at].1)
}

fn write_enum(f: &mut fmt::Formatter<'_>, value: u32, names: Names) -> fmt::Result {
    match find(names, value).or_else(|| find(OWN, value)) {
        Some(name) => write!(f, "{name}"),
        None => write!(f, "{value:#06x}"),
    }
}

fn write_bits(f: &mut fmt::Formatter<'_>, value: u32, names: Names) -> fmt::Result {
    if let Some(name) = find(names, value) {
        return write!(f, "{name}");
    }
    let mut left = value;
    let mut separator = "";
    for (bit, name) in names.iter().filter(|(bit, _)| bit.is_power_of_two()) {
        if value & bit != 0 {
            write!(f, "{separator}{name}")?;
            left &= !bit;
            separator = "|";
        }
    }
    if left != 0 || value == 0 {
        write!(f, "{separator}{left:#x}")?;
    }
    Ok(())
}

macro_rules! values {
    ($($variant:ident: $type:ty,)*) => {
        /// An array that lies in the message.
        pub enum Values<'a> {
            $($variant(Slice<'a, $type>),)*
            Enums(Slice<'a, u32>, Names),
        }

        impl Values<'_> {
            fn bytes(&self) -> usize {
                match self {
                    $(Values::$variant(values) => values.len() * size_of::<$type>(),)*
                    Values::Enums(values, _) => values.len() * size_of::<u32>(),
                }
            }
        }

        impl fmt::Display for Values<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match *self {
                    $(Values::$variant(values) => write_list(f, values, |f, value| write!(f, "{value:?}")),)*
                    Values::Enums(values, names) => write_list(f, values, |f, value| write_enum(f, value, names)),
                }
            }
        }
    };
}

values! {
    U8: u8, I8: i8, U16: u16, I16: i16, U32: u32, I32: i32, U64: u64, I64: i64, F32: f32, F64: f64,
}

/// The maximum number of elements that are shown, which is enough for a matrix.
const MOST_SHOWN: usize = 16;

fn write_list<T: Plain>(
    f: &mut fmt::Formatter<'_>,
    values: Slice<'_, T>,
    show: impl Fn(&mut fmt::Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    if values.is_null() {
        return write!(f, "null");
    }
    let shown = values.part(0, values.len().min(MOST_SHOWN));
    write!(f, "[")?;
    for (i, value) in shown
        .map(|s| s.to_vec())
        .unwrap_or_default()
        .into_iter()
        .enumerate()
    {
        write!(f, "{}", if i > 0 { ", " } else { "" })?;
        show(f, value)?;
    }
    if values.len() > MOST_SHOWN {
        write!(f, ", … {} in all", values.len())?;
    }
    write!(f, "]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::names;
    use mgn_wire::gl;

    fn shown(value: &Value<'_>) -> String {
        value.to_string()
    }

    #[test]
    fn enums_have_the_names_of_their_group() {
        let mode = |value| shown(&Value::Enum(value, names::PRIMITIVE_TYPE));
        assert_eq!(mode(0), "GL_POINTS");
        assert_eq!(mode(gl::GL_TRIANGLES), "GL_TRIANGLES");
        assert_eq!(mode(0xdead), "0xdead");
        let factor = |value| shown(&Value::Enum(value, names::BLENDING_FACTOR));
        assert_eq!((factor(0), factor(1)), ("GL_ZERO".into(), "GL_ONE".into()));
        assert_eq!(factor(gl::GL_SRC_ALPHA), "GL_SRC_ALPHA");
        assert_eq!(
            shown(&Value::Enum(gl::GL_ARRAY_BUFFER, names::UNGROUPED)),
            "GL_ARRAY_BUFFER"
        );
        assert_eq!(shown(&Value::Enum(1, names::UNGROUPED)), "0x0001");
    }

    #[test]
    fn bits_are_taken_apart() {
        let mask = |value| shown(&Value::Bits(value, names::CLEAR_BUFFER_MASK));
        assert_eq!(mask(0x4000), "GL_COLOR_BUFFER_BIT");
        assert_eq!(mask(0x4100), "GL_DEPTH_BUFFER_BIT|GL_COLOR_BUFFER_BIT");
        assert_eq!(mask(0x4001), "GL_COLOR_BUFFER_BIT|0x1");
        assert_eq!(mask(0), "0x0");
    }

    #[test]
    fn numbers_are_as_the_program_wrote_them() {
        assert_eq!(shown(&Value::Float(0.1)), "0.1");
        assert_eq!(shown(&Value::Double(1.0)), "1.0");
        assert_eq!(shown(&Value::Float(1.5e-9)), "1.5e-9");
        assert_eq!(shown(&Value::Parameter(gl::GL_LINEAR as i32)), "GL_LINEAR");
        assert_eq!(shown(&Value::Parameter(1000)), "1000");
        assert_eq!(shown(&Value::Parameter(-1)), "-1");
        let numbers: Vec<f32> = (0..20).map(|n| n as f32 / 10.0).collect();
        let list = |n: usize| shown(&Value::Array(Values::F32(Slice::from(&numbers[..n]))));
        assert_eq!(list(3), "[0.0, 0.1, 0.2]");
        assert!(list(20).ends_with("1.5, … 20 in all]"), "{}", list(20));
        assert_eq!(list(0), "[]");
    }

    #[test]
    fn a_call_knows_its_arguments_by_name() {
        let values = [
            Value::Enum(gl::GL_LINES, names::PRIMITIVE_TYPE),
            Value::Integer(0),
            Value::Integer(8),
        ];
        let call = Call {
            op: ops::GL_DRAW_ARRAYS,
            asks: false,
            names: &["mode", "first", "count"],
            values: &values,
        };
        assert_eq!(
            call.to_string(),
            "glDrawArrays(mode=GL_LINES, first=0, count=8)"
        );
        assert_eq!(
            (call.integer("count"), call.integer("instancecount")),
            (Some(8), None)
        );
        assert_eq!(call.bytes(), 16);
    }
}
