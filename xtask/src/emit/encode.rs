//! `impl Encoder`: one method for each command, which writes its record.

use super::{op_name, travelling, HEADER};
use mgn_spec::{Command, Direction, Model, Scalar, WireType};

pub fn emit(model: &Model) -> String {
    let mut text = format!(
        "{HEADER}//! One method a command: it writes the command's record. Safe are those without arrays.\n\
         #![allow(clippy::missing_safety_doc, clippy::too_many_arguments)]\n\n\
         use super::ops;\nuse crate::encoder::{{put, Data, Encoder}};\n\nimpl Encoder {{\n"
    );
    for c in travelling(model) {
        text += &method(c);
    }
    text + "}\n"
}

fn method(c: &Command) -> String {
    let mut params = String::new();
    let mut fixed = 4usize;
    let mut variable = String::new();
    for p in &c.params {
        let n = &p.name;
        match &p.ty {
            WireType::Scalar(s) => {
                params += &format!(", {n}: {}", s.rust());
                fixed += s.record_bytes();
            }
            WireType::Name(_) => {
                params += &format!(", {n}: u32");
                fixed += 4;
            }
            WireType::Offset => {
                params += &format!(", {n}: u64");
                fixed += 8;
            }
            WireType::Array {
                direction: Direction::Out,
                ..
            } => {
                params += &format!(", {n}: u32");
                fixed += 4;
            }
            WireType::Array { elem, .. } => {
                params += &format!(", {n}: (*const {}, usize)", elem.rust());
                fixed += 4;
                variable += &format!(" + padded({n}.0 as usize, {n}.1 * {})", elem.bytes());
            }
            WireType::Str => {
                params += &format!(", {n}: (*const u8, usize)");
                fixed += 4;
                variable += &format!(" + padded({n}.0 as usize, {n}.1)");
            }
            WireType::Data => {
                params += &format!(", {n}: Data");
                fixed += 4;
                variable += &format!(" + {n}.extra_bytes()");
            }
        }
    }
    let op = format!("ops::{}", op_name(c));
    let mut mark = match c.infallible {
        true => String::new(),
        false => format!("self.doubt = {op};\n"),
    };
    if !c.neutral {
        mark += "self.changes = self.changes.wrapping_add(1);\n";
    }
    mark += match c.name.as_str() {
        "glEnable" | "glDisable" => "self.scissors |= cap == crate::gl::GL_SCISSOR_TEST;\n",
        _ if c.scissoring => "self.scissors = true;\n",
        _ => "",
    };
    if variable.is_empty() {
        let head = format!(
            "    #[inline(always)]\n    pub fn {}(&mut self{params}) {{\n",
            c.ident
        );
        let mut body = format!(
            "let p = self.room({fixed});\nunsafe {{ put(p, 0, u32::from({op}) | {} << 16);\n",
            fixed / 4
        );
        let mut at = 4;
        for p in &c.params {
            let (expression, bytes) = scalar(&p.name, &p.ty);
            body += &format!("put(p, {at}, {expression});\n");
            at += bytes;
        }
        return format!("{head}{mark}{body}}} }}\n");
    }
    let head = format!(
        "    #[inline]\n    pub unsafe fn {}(&mut self{params}) {{\n",
        c.ident
    );
    let mut body = format!("let mut r = self.record({op}, {fixed}{variable});\nunsafe {{\n");
    for p in &c.params {
        let n = &p.name;
        body += &match &p.ty {
            WireType::Array {
                elem,
                direction: Direction::In,
                ..
            } => {
                format!("r.array({n}.0.cast(), {n}.1 * {});\n", elem.bytes())
            }
            WireType::Str => format!("r.array({n}.0, {n}.1);\n"),
            WireType::Data => format!("r.data({n});\n"),
            ty => format!("r.put({});\n", scalar(n, ty).0),
        };
    }
    format!("{head}{mark}{body}r.finish(self); }} }}\n")
        .replace(" + padded(", " + crate::encoder::padded(")
}

/// The expression that is written for a scalar, and its number of bytes.
fn scalar(name: &str, ty: &WireType) -> (String, usize) {
    match ty {
        WireType::Scalar(s) => match s {
            Scalar::Bool | Scalar::U8 | Scalar::U16 => (format!("u32::from({name})"), 4),
            Scalar::I8 | Scalar::I16 => (format!("i32::from({name})"), 4),
            s => (name.to_string(), s.record_bytes()),
        },
        WireType::Offset => (name.to_string(), 8),
        _ => (name.to_string(), 4),
    }
}
