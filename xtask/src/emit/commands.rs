//! The `Commands` trait: one method for each command, which forwards to the next stage by default.

use super::{trait_name, trait_params, travelling, HEADER};
use mgn_spec::{Carry, Model};

pub fn emit(model: &Model) -> String {
    let mut text = format!(
        "{HEADER}use crate::decode::Fault;\nuse crate::{{Data, Reply, Slice}};\n\n\
         /// A stage of the stream: one method a command. A stage overrides what it cares about; the rest goes on to `next`.\n\
         #[allow(unused_variables, clippy::too_many_arguments)]\npub trait Commands {{\n\
         /// The stage that gets what this one does not keep.\nfn next(&mut self) -> &mut dyn Commands;\n\n\
         /// A message of this context begins; 0 is none.\n\
         fn message(&mut self, context: u32) -> Result<(), Fault> {{ self.next().message(context) }}\n\n\
         /// The record that is executed next, while a display list may be open: its opcode and its body.\n\
         fn compiled(&mut self, op: u16, body: Slice<'_, u8>) {{ self.next().compiled(op, body) }}\n\n\
         /// Nothing more comes: the session is over.\n\
         fn end(&mut self) {{ self.next().end() }}\n\n"
    );
    for c in travelling(model) {
        let mut args: Vec<String> = c.params.iter().map(trait_name).collect();
        if c.carry == Carry::Sync {
            args.push("reply".into());
        }
        if !c.about.is_empty() {
            text += &format!("/// {}\n", c.about);
        }
        text += &format!(
            "fn {}(&mut self{}) -> Result<(), Fault> {{ self.next().{}({}) }}\n",
            c.ident,
            trait_params(c),
            c.ident,
            args.join(", ")
        );
    }
    text + "}\n"
}
