//! The renderer's table of the driver's functions, and the commands whose code follows from their
//! declaration.

use super::bounds::bounds;
use super::client::c_type;
use super::{image_extent, is_compressed, is_out, trait_name, trait_params, travelling, HEADER};
use mgn_spec::{Carry, Class, Command, Direction, Len, Model, Param, Scalar, WireType};

/// The code that a renderer of a wall runs before a command.
fn before(c: &Command) -> String {
    let offset = c.offset.as_deref().unwrap_or_default();
    let tile = match (offset, c.draws_in_boxes(), c.scissoring) {
        ("Clears", ..) => "self.clear_in_tile();\n",
        (_, true, _) => "self.keep_to_tile();\n",
        (_, _, true) => "self.leave_tile();\n",
        ("Sets" | "Positions", ..) => "self.leave_offset();\n",
        ("Begins", ..) => "self.begins();\n",
        ("Ends", ..) => "self.ends();\n",
        _ if c.name.starts_with("glPrimitiveRestartIndex") => "self.elements_change();\n",
        _ => "",
    };
    let shift =
        |side: &str, [x, y]: [&str; 2]| format!("let ({x}, {y}) = self.where_{side}({x}, {y});\n");
    tile.to_string()
        + &match offset {
            "Transforms" => "self.leave_projection();\n".into(),
            "Raster" => "self.offset_raster();\n".into(),
            "Reads" => {
                let raster = match c.name.as_str() {
                    "glCopyPixels" => "self.offset_raster();\n",
                    _ => "",
                };
                let refused = match c.storing {
                    true => "if self.refuses_to_copy(internalformat as u32) {\nself.read_lent()?;\nreturn self.return_lent();\n}\n",
                    false => "",
                };
                format!("{refused}{raster}self.read_lent()?;\n") + &shift("read", ["x", "y"])
            }
            "Blits" => {
                "self.read_lent()?;\n".to_string()
                    + &shift("read", ["src_x0", "src_y0"])
                    + &shift("read", ["src_x1", "src_y1"])
                    + &shift("drawn", ["dst_x0", "dst_y0"])
                    + &shift("drawn", ["dst_x1", "dst_y1"])
            }
            _ => String::new(),
        }
}

/// Whether the renderer loads the driver's function. Some of these functions have no opcode, but
/// the renderer's hand-written code needs them.
fn in_driver(c: &Command) -> bool {
    c.raw.is_some() && !matches!(c.carry, Carry::Refused(_))
}

pub fn driver(model: &Model) -> String {
    let mut fields = String::new();
    let mut loads = String::new();
    for c in model.commands.iter().filter(|c| in_driver(c)) {
        let Some(raw) = &c.raw else { continue };
        let params: Vec<String> = raw.params.iter().map(c_type).collect();
        let returns = match c_type(&raw.returns).as_str() {
            "()" => String::new(),
            ty => format!(" -> {ty}"),
        };
        fields += &format!(
            "pub {}: unsafe extern \"C\" fn({}){returns},\n",
            c.name,
            params.join(", ")
        );
        loads += &format!("{}: unsafe {{ core::mem::transmute::<*const (), unsafe extern \"C\" fn({}){returns}>(load(\"{}\")) }},\n", c.name, params.join(", "), c.name);
    }
    format!(
        "{HEADER}//! The local driver's functions.\n#![allow(non_snake_case, clippy::type_complexity, clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc)]\n\n\
         use core::ffi::c_void;\n\npub struct Gl {{\n{fields}}}\n\n\
         impl Gl {{\n/// # Safety\n/// `load` gives for each name a function of that name's C type, never null.\n\
         pub unsafe fn load(load: impl Fn(&str) -> *const ()) -> Box<Gl> {{\nBox::new(Gl {{\n{loads}}})\n}}\n}}\n"
    )
}

pub fn execute(model: &Model) -> String {
    let mut text = format!(
        "{HEADER}//! Commands that are executed as they come; those that are not call `handwritten_…`.\n\
         #![allow(clippy::too_many_arguments, clippy::undocumented_unsafe_blocks, clippy::unnecessary_cast)]\n\n\
         use crate::names::Class;\nuse crate::renderer::Renderer;\nuse mgn_wire::{{lens, Commands, Data, Fault, Reply, Slice}};\n\n\
         impl Commands for Renderer {{\nfn next(&mut self) -> &mut dyn Commands {{ unreachable!(\"the renderer is the last stage\") }}\n\n\
         fn message(&mut self, context: u32) -> Result<(), Fault> {{ self.enter(context) }}\n\n\
         fn compiled(&mut self, op: u16, body: Slice<'_, u8>) {{ self.note(op, body) }}\n\n\
         fn end(&mut self) {{}}\n\n"
    );
    for c in travelling(model) {
        text += &format!(
            "fn {}(&mut self{}) -> Result<(), Fault> {{\n{}{}}}\n",
            c.ident,
            trait_params(c),
            bounds(c),
            body(c)
        );
    }
    text + "}\n"
}

fn body(c: &Command) -> String {
    let extent = image_extent(c);
    let tile = before(c);
    if c.render_handwritten || has_data(c) && extent.is_none() {
        let mut args: Vec<String> = c.params.iter().map(trait_name).collect();
        if c.carry == Carry::Sync {
            args.push("reply".into());
        }
        return format!("{tile}self.handwritten_{}({})\n", c.ident, args.join(", "));
    }
    let mut prepare = format!("self.needs_context()?;\n{tile}");
    let mut args = Vec::new();
    let mut after = String::new();
    for p in c.params.iter().filter(|p| !may_be_null(c, p)) {
        // The driver would read from the null pointer.
        let is_missing = match &p.ty {
            WireType::Array {
                len: Len::Times(count, _),
                ..
            } => format!("{}.is_null() && {} > 0", p.name, argument(c, count)),
            _ => format!("{}.is_null()", p.name),
        };
        let end = match c.carry {
            Carry::Sync => "Err(Fault::ShortArray)",
            _ => "Ok(())",
        };
        prepare += &format!("if {is_missing} {{ return {end}; }}\n");
    }
    for p in &c.params {
        let n = &p.name;
        args.push(match &p.ty {
            WireType::Scalar(_) => n.clone(),
            WireType::Name(Class::Sync) => {
                prepare += &format!("let {n} = self.sync({n});\n");
                n.clone()
            }
            WireType::Name(class) => {
                let find = match makes_by_use(c, p) {
                    true => "name",
                    false => "object",
                };
                prepare += &format!("let {n} = self.{find}(Class::{class:?}, {n});\n");
                n.clone()
            }
            WireType::Offset => format!("{n} as usize as *const core::ffi::c_void"),
            WireType::Str => {
                prepare += &format!("let {n} = {n}.to_c_string()?;\n");
                format!("{n}.as_ptr().cast()")
            }
            WireType::Array {
                elem,
                direction: Direction::Out,
                len,
                ..
            } => {
                prepare += &format!(
                    "let mut {n} = crate::renderer::out::<{}>({}, {})?;\n",
                    elem.rust(),
                    trait_name(p),
                    least(c, len)
                );
                after += &match told_length(c) {
                    Some(length) if length == n => {
                        prepare += &format!("{n}[0] = -1;\n");
                        format!("reply.array(&{n}, if {n}[0] < 0 {{ 0 }} else {{ {} }});\n", trait_name(p))
                    }
                    Some(length) if matches!(len, Len::Times(..)) => format!(
                        "reply.array(&{n}, if failed {{ 0 }} else {{ crate::renderer::written({length}[0], {}, {}) }});\n",
                        u8::from(is_text(c, n)),
                        trait_name(p)
                    ),
                    _ => format!("reply.array(&{n}, if failed {{ 0 }} else {{ {} }});\n", trait_name(p)),
                };
                format!("{n}.as_mut_ptr().cast()")
            }
            WireType::Array {
                elem,
                class: Some(class),
                ..
            } => {
                debug_assert_eq!(*elem, Scalar::U32);
                prepare += &format!("let {n} = self.name_array(Class::{class:?}, {n});\n");
                format!("{n}.as_ref().map_or(core::ptr::null(), |v| v.as_ptr())")
            }
            WireType::Array {
                elem: Scalar::U8 | Scalar::F32,
                ..
            } => format!("{n}.as_ptr().cast()"),
            WireType::Array { .. } => {
                prepare += &format!("let {n} = {n}.copied();\n");
                format!("{n}.as_ref().map_or(core::ptr::null(), |v| v.as_ptr()).cast()")
            }
            WireType::Data => {
                let mut sides = extent.clone().unwrap_or_default();
                prepare += &match is_compressed(c) {
                    true => format!(
                        "let bytes = usize::try_from(image_size).unwrap_or(0);\n\
                         let Some({n}) = self.block_image({n}, bytes, &[{}])? else {{ return Ok(()) }};\n",
                        sides.join(", ")
                    ),
                    false => {
                        sides.resize(3, "1");
                        format!(
                            "let {n} = self.image({n}, mgn_wire::sizes::image::tight_image_bytes({}, format, type_))?;\n",
                            sides.join(", ")
                        )
                    }
                };
                format!("{n}.cast()")
            }
        });
    }
    // In these commands, Mesa does not check the texture's size, or whether the unit and the target
    // exist. In the commands for the active unit, Mesa checks both.
    let call = match c.name.strip_prefix("glMultiTexSubImage") {
        Some(kind) => format!(
            "self.on_unit(texunit, |gl| unsafe {{ (gl.glTexSubImage{})({}) }})",
            kind.trim_end_matches("EXT"),
            args[1..].join(", ")
        ),
        None => format!("unsafe {{ (self.gl.{})({}) }}", c.name, args.join(", ")),
    };
    if c.storing {
        for p in c.params.iter().filter(|p| SIDES.contains(&p.name.as_str())) {
            prepare += &format!("let {0} = {0}.min(crate::bounds::TOO_LONG);\n", p.name);
        }
        prepare += "let _refusing = self.storage.make();\n";
    }
    // After an error, the program's memory must not change.
    if !after.is_empty() {
        prepare += "self.error();\n";
        after = format!("let failed = self.failed();\n{after}");
    }
    after += match c.offset.as_deref() {
        Some("Positions") => "self.positioned();\n",
        Some("Reads" | "Blits") => "self.return_lent()?;\n",
        _ => "",
    };
    if c.returns.is_some() {
        return format!("{prepare}let value = {call};\nreply.value(value);\n{after}Ok(())\n");
    }
    format!("{prepare}{call};\n{after}Ok(())\n")
}

const SIDES: [&str; 3] = ["width", "height", "depth"];

/// Whether the driver certainly does not read from this argument if it is a null pointer. The
/// argument is then not an array, or a null pointer means that nothing is bound.
fn may_be_null(c: &Command, p: &Param) -> bool {
    let array = matches!(
        &p.ty,
        WireType::Array {
            direction: Direction::In,
            ..
        }
    );
    !array || c.name.starts_with("glBind")
}

/// The name, in the trait, of the parameter that the registry calls `name`.
fn argument(c: &Command, name: &str) -> String {
    let name = mgn_spec::snake(name);
    c.params
        .iter()
        .find(|p| p.name.trim_end_matches('_') == name)
        .map_or(name, |p| p.name.clone())
}

/// The parameter in which the driver returns the number of elements that it has written to an
/// array.
fn told_length(c: &Command) -> Option<&str> {
    c.params
        .iter()
        .find(|p| p.name == "length" && is_out(p))
        .map(|p| p.name.as_str())
}

/// Whether a parameter is a string, whose length does not count its NUL.
fn is_text(c: &Command, name: &str) -> bool {
    let params = c.raw.iter().flat_map(|raw| &raw.params);
    params
        .filter(|p| mgn_spec::snake(&p.name) == name.trim_end_matches('_'))
        .any(|p| matches!(p.ctype.as_str(), "GLchar" | "GLcharARB"))
}

/// Whether a command creates the object that a parameter names, if there is none. This applies only
/// to the first name of a command. Objects that are attached to the first object must already
/// exist. Image units, and texture units by number, accept only existing textures.
fn makes_by_use(c: &Command, p: &Param) -> bool {
    let starts = |start| c.name.starts_with(start);
    let binds = starts("glBind") && !starts("glBindImageTexture") && !starts("glBindTextureUnit");
    let is_first = (c.params.iter().find(|p| matches!(p.ty, WireType::Name(_))))
        .is_some_and(|first| first.name == p.name);
    is_first && (c.named_by_use || binds || starts("glBeginQuery") || starts("glQueryCounter"))
}

fn has_data(c: &Command) -> bool {
    c.params
        .iter()
        .any(|p| p.ty == WireType::Data && !is_out(p))
}

/// The number of elements that the driver may write, even if the client requests fewer.
fn least(c: &Command, len: &Len) -> String {
    match len {
        Len::Const(n) => n.to_string(),
        Len::Times(name, k) => format!("lens::times({} as i64, {k})", argument(c, name)),
        _ => "0".into(),
    }
}
