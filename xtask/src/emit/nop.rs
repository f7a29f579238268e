//! A last stage, which does nothing.

use super::{trait_params, travelling, HEADER};
use mgn_spec::{Carry, Model};

pub fn emit(model: &Model) -> String {
    let mut text = format!(
        "{HEADER}use crate::nop::Nop;\nuse mgn_wire::{{Commands, Data, Fault, Reply, Slice}};\n\n\
         #[allow(clippy::too_many_arguments, unused_variables)]\nimpl Commands for Nop {{\n\
         fn next(&mut self) -> &mut dyn Commands {{ self }}\n\n\
         fn message(&mut self, context: u32) -> Result<(), Fault> {{ self.messages += 1; Ok(()) }}\n\n\
         fn compiled(&mut self, op: u16, body: Slice<'_, u8>) {{}}\n\n\
         fn end(&mut self) {{}}\n\n"
    );
    for c in travelling(model) {
        let answer = if c.carry == Carry::Sync {
            "reply.empty(); "
        } else {
            ""
        };
        text += &format!(
            "fn {}(&mut self{}) -> Result<(), Fault> {{ self.commands += 1; {answer}Ok(()) }}\n",
            c.ident,
            trait_params(c)
        );
    }
    text + "}\n"
}
