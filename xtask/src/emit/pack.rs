//! The last stage of a chain, which writes commands into messages again.

use super::{is_out, takes_arrays, trait_name, trait_params, travelling, HEADER};
use mgn_spec::{Carry, Command, Model, Param, WireType};

pub fn emit(model: &Model) -> String {
    let mut text = format!(
        "{HEADER}use crate::pack::Pack;\nuse crate::{{Commands, Data, Fault, Reply, Slice}};\n\n\
         #[allow(clippy::too_many_arguments)]\nimpl Commands for Pack {{\n\
         fn next(&mut self) -> &mut dyn Commands {{ self }}\n\n\
         fn message(&mut self, context: u32) -> Result<(), Fault> {{ self.begin(context); Ok(()) }}\n\n\
         fn compiled(&mut self, _: u16, _: Slice<'_, u8>) {{}}\n\n\
         fn end(&mut self) {{ self.flush() }}\n\n"
    );
    for c in travelling(model) {
        text += &method(c);
    }
    text + "}\n"
}

fn method(c: &Command) -> String {
    let arguments: Vec<String> = c.params.iter().map(argument).collect();
    let call = format!("e.{}({})", c.ident, arguments.join(", "));
    let (written, safety) = match takes_arrays(c) {
        true => (
            format!("|e| unsafe {{ {call} }}"),
            "// SAFETY: arrays hold what they say.\n",
        ),
        false => (format!("|e| {call}"), ""),
    };
    let body = match (c.name.as_str(), c.carry == Carry::Sync) {
        ("mgnOnly", _) => format!("self.write_sorted(true, {written})"),
        ("mgnRun", _) => format!("self.write_sorted(!tiles.is_empty(), {written})"),
        (_, true) => format!("self.ask(reply, {written})"),
        _ => format!("self.write({written})"),
    };
    format!(
        "fn {}(&mut self{}) -> Result<(), Fault> {{\n{safety}{body}\n}}\n",
        c.ident,
        trait_params(c),
    )
}

/// The encoder's argument for a parameter of the trait.
fn argument(p: &Param) -> String {
    let name = trait_name(p);
    match p.ty {
        WireType::Data => format!("{name}.into()"),
        WireType::Str => format!("({name}.as_ptr(), {name}.len())"),
        WireType::Array { .. } if !is_out(p) => format!("({name}.as_ptr(), {name}.len())"),
        _ => name,
    }
}
