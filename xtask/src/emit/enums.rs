//! The registry's enums as constants.

use super::HEADER;
use mgn_spec::Model;

pub fn emit(model: &Model) -> String {
    let mut text = format!(
        "{HEADER}//! OpenGL's enums under their own names.\n#![allow(non_upper_case_globals)]\n\n"
    );
    for (name, value) in &model.enums {
        let (ty, value) = if *value > u64::from(u32::MAX) && !name.starts_with("GL_INVALID") {
            ("u64", *value)
        } else {
            ("u32", *value & 0xffff_ffff)
        };
        text += &format!("pub const {name}: {ty} = {value:#x};\n");
    }
    text
}
