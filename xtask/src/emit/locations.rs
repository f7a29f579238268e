//! The stage that translates uniform locations.

use super::{trait_name, trait_params, travelling, HEADER};
use mgn_spec::{Carry, Command, Model, Scalar, WireType};

/// Commands with another kind of locations: those of subroutines.
const OTHER_KINDS: &[&str] = &["glGetUniformSubroutineuiv"];

pub fn emit(model: &Model) -> String {
    let mut text = format!(
        "{HEADER}use crate::locations::Locations;\nuse mgn_wire::{{Commands, Fault, Reply, Slice}};\n\n\
         #[allow(clippy::too_many_arguments)]\nimpl Commands for Locations<'_> {{\n\
         fn next(&mut self) -> &mut dyn Commands {{ &mut *self.next }}\n\n\
         fn message(&mut self, context: u32) -> Result<(), Fault> {{ self.context = context; self.next.message(context) }}\n\n"
    );
    for c in travelling(model) {
        let before = match c.name.as_str() {
            "glGetUniformLocation" => "",
            _ if has_location(c) => "let location = self.real(location); ",
            _ => continue,
        };
        let after = match c.name.as_str() {
            "glGetUniformLocation" => "?; self.learn(reply); Ok(())",
            _ => "",
        };
        let mut args: Vec<String> = c.params.iter().map(trait_name).collect();
        if c.carry == Carry::Sync {
            args.push("reply".into());
        }
        text += &format!(
            "fn {}(&mut self{}) -> Result<(), Fault> {{ {before}self.next.{}({}){after} }}\n",
            c.ident,
            trait_params(c),
            c.ident,
            args.join(", ")
        );
    }
    text + "}\n"
}

fn has_location(c: &Command) -> bool {
    let is_location =
        |p: &mgn_spec::Param| p.name == "location" && matches!(p.ty, WireType::Scalar(Scalar::I32));
    c.name.contains("Uniform")
        && !OTHER_KINDS.contains(&c.name.as_str())
        && c.params.iter().any(is_location)
}
