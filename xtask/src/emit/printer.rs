//! The printing stage: every command as a line of text.

use super::{is_out, trait_name, trait_params, travelling, HEADER};
use mgn_spec::{Carry, Model, WireType};

pub fn emit(model: &Model) -> String {
    let mut text = format!(
        "{HEADER}use crate::print::{{Print, Show}};\nuse mgn_wire::{{Commands, Data, Fault, Reply, Slice}};\nuse std::io::Write;\n\n\
         #[allow(clippy::too_many_arguments)]\nimpl<W: Write> Commands for Print<W> {{\n\
         fn next(&mut self) -> &mut dyn Commands {{ &mut *self.next }}\n\n\
         fn message(&mut self, context: u32) -> Result<(), Fault> {{ self.context = context; self.next.message(context) }}\n\n"
    );
    for c in travelling(model) {
        let shown: Vec<String> = c
            .params
            .iter()
            .map(|p| match &p.ty {
                _ if is_out(p) => format!("Show::Out({})", trait_name(p)),
                WireType::Str => format!("Show::Str({})", p.name),
                WireType::Scalar(mgn_spec::Scalar::U32) if enum_like(c, &p.name) => {
                    format!("Show::Enum({})", p.name)
                }
                WireType::Scalar(s) => format!("Show::from({} as {})", p.name, wide(s.rust())),
                WireType::Name(_) => format!("Show::from(i64::from({}))", p.name),
                WireType::Offset => format!("Show::from({} as i64)", p.name),
                WireType::Array { .. } => format!("Show::Array({}.len())", p.name),
                WireType::Data => format!("Show::Data({})", p.name),
            })
            .collect();
        let mut args: Vec<String> = c.params.iter().map(trait_name).collect();
        if c.carry == Carry::Sync {
            args.push("reply".into());
        }
        text += &format!(
            "fn {}(&mut self{}) -> Result<(), Fault> {{ self.line(\"{}\", &[{}]); self.next.{}({}) }}\n",
            c.ident,
            trait_params(c),
            c.name,
            shown.join(", "),
            c.ident,
            args.join(", ")
        );
    }
    text + "}\n"
}

fn wide(rust: &str) -> &str {
    match rust {
        "f32" | "f64" => "f64",
        _ => "i64",
    }
}

fn enum_like(c: &mgn_spec::Command, name: &str) -> bool {
    let Some(raw) = &c.raw else {
        return matches!(name, "mode" | "type_" | "code");
    };
    raw.params
        .iter()
        .any(|p| mgn_spec::snake(&p.name) == name.trim_end_matches('_') && p.ctype == "GLenum")
}
