//! The stage that shows every command to an observer.

use super::names::Tables;
use super::{is_out, op_name, trait_name, trait_params, travelling, HEADER};
use mgn_spec::{Carry, Command, Model, Param, Scalar, WireType};

pub fn emit(model: &Model, tables: &Tables<'_>) -> String {
    let mut text = format!(
        "{HEADER}use crate::generated::names;\nuse crate::observe::{{Call, Observe, Value, Values}};\n\
         use mgn_wire::{{ops, Commands, Data, Fault, Reply, Slice}};\n\n\
         #[allow(clippy::too_many_arguments)]\nimpl Commands for Observe {{\n\
         fn next(&mut self) -> &mut dyn Commands {{ &mut *self.next }}\n\n\
         fn message(&mut self, context: u32) -> Result<(), Fault> {{ self.observer.message(context); self.next.message(context) }}\n\n\
         fn end(&mut self) {{ self.observer.end(); self.next.end() }}\n\n"
    );
    for c in travelling(model) {
        let values: Vec<String> = c
            .params
            .iter()
            .map(|p| value(model, tables, c, p))
            .collect();
        let written: Vec<String> = c
            .params
            .iter()
            .map(|p| format!("{:?}", p.name.trim_end_matches('_')))
            .collect();
        let mut args: Vec<String> = c.params.iter().map(trait_name).collect();
        let asks = c.carry == Carry::Sync;
        if asks {
            args.push("reply".into());
        }
        text += &format!(
            "fn {}(&mut self{}) -> Result<(), Fault> {{\n\
             let call = Call {{ op: ops::{}, asks: {asks}, names: &[{}], values: &[{}] }};\n\
             self.around(&call, |next| next.{}({})) }}\n",
            c.ident,
            trait_params(c),
            op_name(c),
            written.join(", "),
            values.join(", "),
            c.ident,
            args.join(", ")
        );
    }
    text + "}\n"
}

fn value(model: &Model, tables: &Tables<'_>, c: &Command, p: &Param) -> String {
    let name = &p.name;
    let declared = c.raw.as_ref().and_then(|raw| {
        let mut params = raw.params.iter();
        params.find(|r| mgn_spec::snake(&r.name) == name.trim_end_matches('_'))
    });
    let ctype = declared.map_or("", |r| r.ctype.as_str());
    let is_enum = ctype == "GLenum"
        || c.raw.is_none() && ["mode", "type_", "format", "code"].contains(&name.as_str());
    let group = || tables.of(declared, name);
    let grouped = declared.is_some_and(|r| {
        r.group
            .as_ref()
            .is_some_and(|g| model.groups.contains_key(g))
    });
    match &p.ty {
        _ if is_out(p) => format!("Value::Out({})", trait_name(p)),
        WireType::Str => format!("Value::Text({name})"),
        WireType::Data => format!("Value::Data({name})"),
        WireType::Name(_) => format!("Value::Integer({name}.into())"),
        WireType::Offset => format!("Value::Unsigned({name})"),
        WireType::Array {
            elem: Scalar::U32, ..
        } if ctype == "GLenum" => {
            format!("Value::Array(Values::Enums({name}, {}))", group())
        }
        WireType::Array { elem, .. } => {
            format!(
                "Value::Array(Values::{}({name}))",
                elem.rust().to_uppercase()
            )
        }
        WireType::Scalar(scalar) => match scalar {
            Scalar::U32 if ctype == "GLbitfield" => format!("Value::Bits({name}, {})", group()),
            Scalar::U32 if is_enum => format!("Value::Enum({name}, {})", group()),
            Scalar::I32 if ctype == "GLint" && grouped => {
                format!("Value::Enum({name} as u32, {})", group())
            }
            Scalar::I32 if name == "param" => format!("Value::Parameter({name})"),
            Scalar::Bool => format!("Value::Boolean({name})"),
            Scalar::F32 => format!("Value::Float({name})"),
            Scalar::F64 => format!("Value::Double({name})"),
            Scalar::I64 => format!("Value::Long({name})"),
            Scalar::U64 => format!("Value::Unsigned({name})"),
            _ => format!("Value::Integer({name}.into())"),
        },
    }
}
