//! Chooses the numbers of a command that are bounded before use, and the functions that bound them
//! (`render/src/bounds.rs`).

use super::trait_name;
use mgn_spec::{Command, Param, Scalar, WireType};

/// Lines that bound the parameters of a command.
pub fn bounds(c: &Command) -> String {
    let bounded = c.params.iter().filter_map(|p| {
        let (name, kind) = (trait_name(p), kind(c, p)?);
        Some(format!("let {name} = crate::bounds::{kind}({name});\n"))
    });
    bounded.collect()
}

fn kind(c: &Command, p: &Param) -> Option<&'static str> {
    let WireType::Scalar(ty) = p.ty else {
        return None;
    };
    let name = p.name.as_str();
    match ty {
        Scalar::I64 if is_place(name) => Some("bytes"),
        Scalar::I32 if is_of_pixels(name) && has_pixels(c) => Some("pixels"),
        Scalar::I32 if name == "count" || name == "n" && has_array(c) => Some("count"),
        Scalar::U32 if name == "first" => Some("first"),
        _ => None,
    }
}

/// Whether a command has an array. In commands without arrays, `n` is a near plane.
fn has_array(c: &Command) -> bool {
    let is_array = |p: &Param| matches!(p.ty, WireType::Array { .. });
    c.params.iter().any(is_array)
}

/// Whether a parameter of this name is an offset or a length in a buffer, in bytes.
fn is_place(name: &str) -> bool {
    name.ends_with("offset") || matches!(name, "size" | "length")
}

fn is_of_pixels(name: &str) -> bool {
    let bare = name
        .strip_prefix("src_")
        .or(name.strip_prefix("dst_"))
        .unwrap_or(name);
    let sides = ["width", "height", "depth"];
    let places = ["x", "y", "z", "xoffset", "yoffset", "zoffset"];
    let corners = ["x0", "y0", "x1", "y1"];
    [&sides[..], &places, &corners].concat().contains(&bare)
}

/// Whether a command copies, reads, clears or stores a rectangle of pixels. Scissor boxes and
/// viewports do not count, because drivers store them unchanged, and programs query them.
fn has_pixels(c: &Command) -> bool {
    let kinds = [
        "Image",
        "Pixels",
        "Copy",
        "Blit",
        "Invalidate",
        "Lend",
        "Bitmap",
        "Storage",
    ];
    kinds.iter().any(|kind| c.name.contains(kind))
}
