//! The client's entry points, their look-up by name, and the extensions that may be advertised.

use super::{image_extent, is_compressed, op_name, HEADER};
use mgn_spec::{
    snake, Carry, Command, Direction, Len, Model, Param, RawCommand, RawParam, Scalar, WireType,
};

pub fn entries(model: &Model) -> String {
    let mut text = format!(
        "{HEADER}//! Entry points that follow from their declaration. Arguments are the program's own: as in C, pointers must hold\n\
         //! what the command reads or writes.\n\
         #![allow(non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments, unused_variables)]\n\n\
         use crate::current::context;\nuse crate::gl::refused::refused;\nuse crate::gl::Tracked;\nuse core::ffi::c_void;\nuse mgn_wire::{{lens, ops}};\n\n"
    );
    for c in model
        .commands
        .iter()
        .filter(|c| c.raw.is_some() && !by_hand(c))
    {
        text += &entry(c);
    }
    text
}

/// Wrappers of hand-written entry points, which check for messages after the call.
pub fn watched(model: &Model) -> String {
    let mut text = format!(
        "{HEADER}//! Entry points written by hand after which the program may want to be told of errors.\n\
         #![allow(non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]\n\n\
         use crate::current::context;\nuse crate::gl::handwritten;\nuse core::ffi::c_void;\n\n"
    );
    for c in model.commands.iter().filter(|c| looks_by_hand(c)) {
        let Some(raw) = &c.raw else { continue };
        let args: Vec<String> = raw.params.iter().map(rust_name).collect();
        text += &format!(
            "{}unsafe {{ let value = handwritten::{}({}); context().after_command(); value }} }}\n",
            head(c, raw),
            c.name,
            args.join(", ")
        );
    }
    text
}

/// The beginning of an entry point, up to its body.
fn head(c: &Command, raw: &RawCommand) -> String {
    let params: Vec<String> = raw
        .params
        .iter()
        .map(|p| format!("{}: {}", rust_name(p), c_type(p)))
        .collect();
    let returns = match c_type(&raw.returns).as_str() {
        "()" => String::new(),
        ty => format!(" -> {ty}"),
    };
    format!(
        "pub unsafe extern \"C\" fn {}({}){returns} {{\n",
        c.name,
        params.join(", ")
    )
}

fn looks_by_hand(c: &Command) -> bool {
    by_hand(c) && c.watched
}

/// Whether the entry point is hand-written. The entry point of a refused command is generated.
fn by_hand(c: &Command) -> bool {
    c.client_handwritten && !matches!(c.carry, Carry::Refused(_))
}

fn entry(c: &Command) -> String {
    let Some(raw) = &c.raw else {
        return String::new();
    };
    let head = head(c, raw);
    if let Carry::Refused(_) = &c.carry {
        let value = match c_type(&raw.returns).as_str() {
            "()" => "",
            t if t.starts_with('*') => "core::ptr::null_mut()",
            "f32" | "f64" => "0.0",
            _ => "0",
        };
        return format!("{head}refused(\"{}\"); {value}\n}}\n", c.name);
    }
    let mut body = String::from("unsafe { let cx = context();\n");
    body += &match &c.whole {
        Some((what, when)) => {
            let region = match what.as_str() {
                "Reading" => format!("({})", region(c)),
                _ => String::new(),
            };
            let whole =
                format!("cx.make_whole(crate::link::tiles::WholePurpose::{what}{region});\n");
            match when {
                None => whole,
                Some(when) => format!("if {when} {{ {whole} }}\n"),
            }
        }
        None => String::new(),
    };
    body += &uniform_count(c);
    let extent = image_extent(c);
    if c.tracked || extent.is_some() || c.named_by_use {
        body += match c.unlisted {
            true => "if cx.is_illegal_now() { return cx.illegal_in_begin(); }\n",
            false => "if cx.gl.in_begin() { return cx.illegal_in_begin(); }\n",
        };
    }
    if let Some((class, name)) = first_name(c).filter(|_| c.named_by_use) {
        let target = match has(c, "target") {
            true => "target",
            false => "0",
        };
        body +=
            &format!("crate::gl::use_name(cx, crate::gl::Class::{class:?}, {name}, {target});\n");
    }
    // For most commands, the shadow knows whether they succeed, so that glGetError need not ask the
    // server. The shadow is less certain about objects that are not bound.
    let by_name = matches!(c.params.first(), Some(p) if matches!(p.ty, WireType::Name(_)));
    let judged = c.tracked
        && !c.infallible
        && c.carry != Carry::Sync
        && !c.named_by_use
        && !by_name
        && extent.is_none();
    if c.tracked {
        let args: Vec<String> = c.params.iter().map(tracked_arg).collect();
        let args = args.join(", ");
        let lens: String = c
            .params
            .iter()
            .filter_map(|p| in_length(c, p).map(|n| format!("let n_{} = {n};\n", p.name)))
            .collect();
        body += &lens;
        if judged {
            body += "let before = cx.before_judged();\n";
        }
        body += &format!(
            "if let Some(error) = cx.gl.state.{}({args}).refusal() {{\nif !cx.leaves_errors() {{ return cx.fail(error); }}\ncx.gl.state.doubt();\n}}\n",
            c.ident
        );
    }
    body += &success_key(c);
    if c.attaching {
        body += &attach_success_key(c);
    }
    if let Some(extent) = &extent {
        body += &image(c, extent);
    }
    let mut args = Vec::new();
    for p in &c.params {
        let n = &p.name;
        args.push(match &p.ty {
            WireType::Array {
                direction: Direction::Out,
                ..
            } => {
                format!(
                    "if {n}.is_null() {{ 0 }} else {{ ({}) as u32 }}",
                    out_length(c, p)
                )
            }
            WireType::Array { elem, .. } => {
                format!(
                    "({n}.cast::<{}>(), {})",
                    elem.rust(),
                    in_length(c, p).unwrap_or_default()
                )
            }
            WireType::Str => format!("mgn_wire::encoder::c_string({n}.cast())"),
            WireType::Name(mgn_spec::Class::Sync) => format!("crate::gl::sync_name({n})"),
            _ => n.clone(),
        });
    }
    body += &format!("cx.enc.{}({});\n", c.ident, args.join(", "));
    if judged {
        body += "cx.judged(before);\n";
    }
    if c.depends.is_some() && c.carry != Carry::Sync {
        body += "cx.record_sent(before, success_key);\n";
    }
    if c.defining {
        body += &format!("crate::gl::defined(cx, {});\n", c.params[0].name);
    }
    if c.attaching {
        body += &attach(c);
    }
    if c.carry == Carry::Sync {
        body += &format!("let mut answer = cx.answer(ops::{});\n", op_name(c));
        if let Some(scalar) = c.returns {
            body += &format!("let value = answer.value::<{}>();\n", scalar.rust());
        }
        for p in &c.params {
            if let WireType::Array {
                elem,
                direction: Direction::Out,
                ..
            } = &p.ty
            {
                body += &format!(
                    "answer.array({}.cast::<{}>(), {});\n",
                    p.name,
                    elem.rust(),
                    out_length(c, p)
                );
            }
        }
        if c.depends.is_some() {
            body += match c.returns {
                Some(_) => "cx.learn_answer(question, value);\n",
                None => {
                    "if !params.is_null() { cx.learn_answer(question, params.read() as u32); }\n"
                }
            };
        }
        if c.returns.is_some() {
            body += "value\n";
        }
    } else if c.watched {
        body += "cx.after_command();\n";
    }
    format!("{head}{body}}} }}\n")
}

/// Limits the number of elements to the size of the uniform. A program may give any number, and
/// only the existing elements are read.
fn uniform_count(c: &Command) -> String {
    let has_param = |name| c.params.iter().any(|p| p.name == name);
    let value = c.params.iter().find(|p| p.name == "value");
    let Some(length) = value.and_then(|value| in_length(c, value)) else {
        return String::new();
    };
    if !has_param("location") || !has_param("count") {
        return String::new();
    }
    let each = length.replace("count as i64", "1");
    format!("let count = crate::gl::elements_there(value, count, {each});\n")
}

/// Code that makes a key from everything on which a command's success depends. A query whose answer
/// is already known under this key is answered at once.
fn success_key(c: &Command) -> String {
    let Some(depends) = &c.depends else {
        return String::new();
    };
    // The key contains the values of samplers' parameters, but not the values of uniforms.
    let is_uniform = has(c, "location");
    let counts = |p: &&Param| match p.ty {
        WireType::Scalar(Scalar::I32 | Scalar::U32 | Scalar::U8 | Scalar::Bool) => {
            !is_uniform || matches!(&*p.name, "location" | "count" | "transpose")
        }
        WireType::Scalar(Scalar::F32) => depends == "Sampler",
        _ => false,
    };
    let arguments: Vec<String> = (c.params.iter().filter(counts))
        .map(|p| match p.ty {
            WireType::Scalar(Scalar::U32) => p.name.clone(),
            WireType::Scalar(Scalar::F32) => format!("{}.to_bits()", p.name),
            _ => format!("{} as u32", p.name),
        })
        .collect();
    let on: Vec<String> = depends
        .split_whitespace()
        .map(|on| match on {
            "Target" | "Texture" => format!("crate::gl::Dependency::{on}(target)"),
            "Named" => "crate::gl::Dependency::Named(program)".into(),
            "Sampler" => "crate::gl::Dependency::Sampler(sampler)".into(),
            _ => format!("crate::gl::Dependency::{on}"),
        })
        .collect();
    // The key contains the elements of an array too.
    let list = c.params.iter().find(|p| p.name == "attachments");
    let arguments = match list.and_then(|list| Some((list, in_length(c, list)?))) {
        Some((list, length)) => format!(
            "&[&[{}], crate::gl::values({}, {length})].concat()",
            arguments.join(", "),
            list.name
        ),
        None => format!("&[{}]", arguments.join(", ")),
    };
    let what = format!("ops::{}, {arguments}, &[{}]", op_name(c), on.join(", "));
    if c.carry != Carry::Sync {
        return format!("let success_key = cx.success_key({what});\nlet before = cx.enc.doubt;\n");
    }
    let found = match c.returns {
        Some(_) => "return known;",
        None => "if !params.is_null() { params.write(known as i32); }\nreturn;",
    };
    format!(
        "let question = cx.circumstances({what});\nif let Some(known) = cx.known_answer(&question) {{ {found} }}\n"
    )
}

/// Code that records an attached image.
fn attach(c: &Command) -> String {
    let Some((class, name)) = first_name(c) else {
        return String::new();
    };
    format!("cx.record_sent(before, success_key);\ncrate::gl::attached(cx, target, attachment, &command, (crate::gl::Class::{class:?}, {name}));\n")
}

/// Code that makes a key from everything on which the success of attaching an image depends.
fn attach_success_key(c: &Command) -> String {
    let Some((class, name)) = first_name(c) else {
        return String::new();
    };
    let arguments: Vec<String> = (c.params.iter())
        .map(|p| match p.ty {
            WireType::Scalar(Scalar::I32) => format!("{} as u32", p.name),
            _ => p.name.clone(),
        })
        .collect();
    let op = op_name(c);
    format!(
        "let command = [u32::from(ops::{op}), {}];\n\
         let success_key = cx.success_key(ops::{op}, &command, &[crate::gl::Dependency::Target(target), crate::gl::Dependency::Image(crate::gl::Class::{class:?}, {name})]);\n\
         let before = cx.enc.doubt;\n",
        arguments.join(", ")
    )
}

/// Code that takes the image to which a command's pointer refers.
fn image(c: &Command, extent: &[&str]) -> String {
    let target = match has(c, "target") {
        true => "target",
        false => "0",
    };
    let extent = match extent {
        [width] => format!("flat({width}, 1)"),
        [width, height] => format!("flat({width}, {height})"),
        _ => format!("volume({})", extent.join(", ")),
    };
    let data = c.params.iter().find(|p| p.ty == WireType::Data);
    let data = data.map(|p| p.name.as_str()).unwrap_or_default();
    let (take, layout) = match is_compressed(c) {
        true => ("blocks", "image_size"),
        false => ("image", "format, type_"),
    };
    format!(
        "let Some({data}) = crate::gl::{take}(cx, {target}, crate::gl::pixels::Extent::{extent}, {layout}, {data}) else {{ return }};\n"
    )
}

fn has(c: &Command, param: &str) -> bool {
    c.params.iter().any(|p| p.name == param)
}

/// The first object that a command names.
fn first_name(c: &Command) -> Option<(mgn_spec::Class, &str)> {
    c.params.iter().find_map(|p| match &p.ty {
        WireType::Name(class) => Some((*class, p.name.as_str())),
        _ => None,
    })
}

fn tracked_arg(p: &Param) -> String {
    match &p.ty {
        WireType::Array {
            elem,
            direction: Direction::In,
            ..
        } => {
            format!(
                "crate::gl::values({}.cast::<{}>(), n_{})",
                p.name,
                elem.rust(),
                p.name
            )
        }
        _ => p.name.clone(),
    }
}

/// The number of elements of an array that the program passes.
fn in_length(c: &Command, p: &Param) -> Option<String> {
    let WireType::Array {
        len,
        direction: Direction::In,
        ..
    } = &p.ty
    else {
        return None;
    };
    Some(length(c, len, "mgn_wire::sizes::pname::params"))
}

/// The largest number of elements that the program accepts.
fn out_length(c: &Command, p: &Param) -> String {
    let WireType::Array { len, .. } = &p.ty else {
        return String::new();
    };
    length(c, len, "lens::values")
}

fn length(c: &Command, len: &Len, pname: &str) -> String {
    let arg = |name: &str| {
        let raw = c
            .raw
            .as_ref()
            .and_then(|r| r.params.iter().find(|p| p.name == name));
        raw.map(rust_name).unwrap_or_else(|| snake(name))
    };
    match len {
        Len::Const(n) => n.to_string(),
        Len::Times(name, k) => format!("lens::times({} as i64, {k})", arg(name)),
        Len::Pname(name) => format!("{pname}({})", arg(name)),
        Len::Call(f, args) => format!(
            "lens::{f}({})",
            args.iter().map(|a| arg(a)).collect::<Vec<_>>().join(", ")
        ),
        Len::Free => "0".into(),
    }
}

fn rust_name(p: &RawParam) -> String {
    match p.name.as_str() {
        "type" | "ref" | "in" | "box" | "where" | "loop" | "fn" | "self" => format!("{}_", p.name),
        name => snake(name),
    }
}

/// The Rust type of a C declaration.
pub fn c_type(p: &RawParam) -> String {
    let base = match p.ctype.as_str() {
        "void" if p.stars == 0 => return "()".into(),
        "void" => "c_void",
        "GLboolean" | "GLubyte" | "GLchar" | "GLcharARB" => "u8",
        "GLbyte" => "i8",
        "GLshort" => "i16",
        "GLushort" | "GLhalfNV" | "GLhalfARB" | "GLhalf" => "u16",
        "GLint" | "GLsizei" | "GLfixed" | "GLclampx" => "i32",
        "GLuint" | "GLenum" | "GLbitfield" | "GLhandleARB" => "u32",
        "GLfloat" | "GLclampf" => "f32",
        "GLdouble" | "GLclampd" => "f64",
        "GLint64" | "GLint64EXT" | "GLintptr" | "GLsizeiptr" | "GLintptrARB" | "GLsizeiptrARB" => {
            "i64"
        }
        "GLuint64" | "GLuint64EXT" => "u64",
        // GLsync, callbacks and images are opaque pointers.
        _ => "*mut c_void",
    };
    let mut ty = base.to_string();
    for i in 0..p.stars {
        let kind = if p.constant && (i == 0 || p.stars > 1) {
            "*const"
        } else {
            "*mut"
        };
        ty = format!("{kind} {ty}");
    }
    ty
}

pub fn lookup(model: &Model) -> String {
    let mut names: Vec<(String, String)> = Vec::new();
    for c in model.commands.iter().filter(|c| c.raw.is_some()) {
        let module = match by_hand(c) {
            true if c.watched => "watched",
            true => "handwritten",
            false => "entries",
        };
        for name in std::iter::once(&c.name).chain(&c.aliases) {
            names.push((name.clone(), format!("{module}::{}", c.name)));
        }
    }
    names.sort();
    let mut text = format!(
        "{HEADER}//! Entry points by name, sorted.\n\nuse super::{{entries, watched, Entry}};\nuse crate::gl::handwritten;\n\n\
         pub static TABLE: [(&str, Entry); {}] = [\n",
        names.len()
    );
    for (name, path) in &names {
        text += &format!("(\"{name}\", Entry({path} as *const ())),\n");
    }
    text + "];\n"
}

pub fn withheld(model: &Model) -> String {
    let mut text = format!(
        "{HEADER}//! Extensions that are never advertised, and why.\n\n/// Sorted.\npub static WITHHELD: [(&str, &str); {}] = [\n",
        model.withheld.len()
    );
    for (name, why) in &model.withheld {
        text += &format!("({name:?}, {why:?}),\n");
    }
    text + "];\n"
}

pub fn advertised(model: &Model) -> String {
    let mut text = format!(
        "{HEADER}//! What may be advertised, if the server has it too.\n\n/// Sorted.\npub static EXTENSIONS: [&str; {}] = [\n",
        model.advertised.len()
    );
    let mut names = model.advertised.clone();
    names.sort();
    for name in &names {
        text += &format!("\"{name}\",\n");
    }
    text + "];\n"
}

/// The region of a framebuffer that a command reads: x, y, width and height.
fn region(c: &Command) -> &'static str {
    match (has(c, "x"), has(c, "height")) {
        (true, true) => "[x, y, width, height]",
        (true, false) => "[x, y, width, 1]",
        _ => "crate::link::tiles::between([src_x0, src_y0], [src_x1, src_y1])",
    }
}
