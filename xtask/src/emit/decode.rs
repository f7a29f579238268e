//! `decode::record`: decodes a record's body and calls the `Commands` trait.

use super::{op_name, travelling, HEADER};
use mgn_spec::{Carry, Command, Direction, Len, Model, Scalar, WireType};

pub fn emit(model: &Model) -> String {
    let mut text = format!(
        "{HEADER}//! From a record's body to a call.\n\nuse super::ops;\nuse crate::decode::{{Body, Fault}};\n\
         use crate::{{Commands, Reply}};\n\n\
         /// Decodes one record and performs it. `reply` collects the answer of a command that has one.\n\
         #[allow(clippy::too_many_lines)]\n\
         pub fn record<C: Commands + ?Sized>(op: u16, body: &mut Body<'_>, to: &mut C, reply: &mut Reply) -> Result<(), Fault> {{\n\
         match op {{\n"
    );
    let mut functions = String::new();
    for c in travelling(model) {
        let reply = if c.carry == Carry::Sync {
            ", reply"
        } else {
            ""
        };
        text += &format!("ops::{} => {}(body, to{reply}),\n", op_name(c), c.ident);
        functions += &function(c);
    }
    text + "_ => Err(Fault::UnknownOpcode(op)),\n}\n}\n" + &functions
}

/// One function for each command. If a single function decoded all commands, the compiler without
/// optimisation would give each parameter its own place on the stack: 1 MiB for each level of
/// nested display lists.
fn function(c: &Command) -> String {
    let mut reads = String::new();
    let mut checks = String::new();
    let mut args = Vec::new();
    for (i, p) in c.params.iter().enumerate() {
        let v = format!("p{i}");
        let read = match &p.ty {
            WireType::Scalar(Scalar::Bool | Scalar::U8) => "body.u32()? as u8".into(),
            WireType::Scalar(Scalar::U16) => "body.u32()? as u16".into(),
            WireType::Scalar(Scalar::I8) => "body.u32()? as i8".into(),
            WireType::Scalar(Scalar::I16) => "body.u32()? as i16".into(),
            WireType::Scalar(s) => format!("body.{}()?", s.rust()),
            WireType::Name(_) => "body.u32()?".into(),
            WireType::Offset => "body.u64()?".into(),
            WireType::Array {
                direction: Direction::Out,
                ..
            } => "body.count()?".into(),
            WireType::Array { elem, .. } => format!("body.array::<{}>()?", elem.rust()),
            WireType::Str => "body.array::<u8>()?".into(),
            WireType::Data => "body.data()?".into(),
        };
        reads += &format!("let {v} = {read};\n");
        if let WireType::Array {
            direction: Direction::In,
            len,
            ..
        } = &p.ty
        {
            if let Some(expected) = length(c, len) {
                checks += &format!("{v}.holds({expected})?;\n");
            }
        }
        args.push(v);
    }
    let mut reply = "";
    if c.carry == Carry::Sync {
        args.push("reply".into());
        reply = ", reply: &mut Reply";
    }
    format!(
        "\n#[cfg_attr(not(debug_assertions), inline(always))]\n\
         fn {name}<C: Commands + ?Sized>(body: &mut Body<'_>, to: &mut C{reply}) -> Result<(), Fault> {{\n\
         {reads}body.end()?;\n{checks}to.{name}({})\n}}\n",
        args.join(", "),
        name = c.ident,
    )
}

/// The number of elements an array must have, in terms of the parameters `p0`, `p1`, …; `None` if
/// hand-written code checks it.
fn length(c: &Command, len: &Len) -> Option<String> {
    let index = |name: &str| {
        c.params
            .iter()
            .position(|p| p.name == name || p.name == format!("{name}_") || p.name == snake(name))
    };
    Some(match len {
        Len::Const(n) => n.to_string(),
        Len::Times(name, k) => format!("crate::lens::times(i64::from(p{}), {k})", index(name)?),
        Len::Pname(name) => format!("crate::sizes::pname::params(p{})", index(name)?),
        Len::Call(function, args) => {
            let args: Option<Vec<String>> = args
                .iter()
                .map(|a| Some(format!("p{}", index(a)?)))
                .collect();
            format!("crate::lens::{function}({})", args?.join(", "))
        }
        Len::Free => return None,
    })
}

fn snake(name: &str) -> String {
    mgn_spec::snake(name)
}
