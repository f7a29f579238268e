//! The stage that drops all commands that draw.

use super::{trait_name, trait_params, travelling, HEADER};
use mgn_spec::{Carry, Command, Model};

pub fn emit(model: &Model) -> String {
    let mut text = format!(
        "{HEADER}use crate::discard::Discard;\nuse mgn_wire::{{Commands, Data, Fault, Slice}};\n\n\
         #[allow(clippy::too_many_arguments, unused_variables)]\nimpl Commands for Discard {{\n\
         fn next(&mut self) -> &mut dyn Commands {{ &mut *self.next }}\n\n"
    );
    for c in travelling(model) {
        if let Some(body) = body(c) {
            text += &format!(
                "fn {}(&mut self{}) -> Result<(), Fault> {{ {body} }}\n",
                c.ident,
                trait_params(c)
            );
        }
    }
    text + "}\n"
}

/// The body of a method. `None` for a command that passes unchanged.
fn body(c: &Command) -> Option<String> {
    let args = |want: &str| {
        let args = c.params.iter().map(trait_name);
        let args = args.map(|name| if name == "want" { want.into() } else { name });
        args.collect::<Vec<String>>().join(", ")
    };
    // A caller that waits for an answer must get one.
    assert!(c.draws.is_none() || c.carry == Carry::Async, "{}", c.name);
    if c.draws.is_some() && c.raw.is_none() {
        // Session commands refer to memory of the client, which is checked.
        return Some(format!("self.check_{}({})", c.ident, args("want")));
    }
    if c.draws.is_some() {
        return Some("Ok(())".into());
    }
    // The frame ends, but no picture is requested.
    let shows = c.params.iter().any(|p| p.name == "want");
    shows.then(|| format!("self.next.{}({})", c.ident, args("0")))
}
