//! Code that is added to shaders so that they draw to the pixels of a tile: it gives them the
//! position of the tile's pixels, and places vertices in a part of the viewport.
//!
//! The function `main` is renamed, and a new `main` calls it and then moves the vertices. Names
//! that begin with `mgn_` are the renderer's. If nothing must be moved, the uniforms are zero,
//! which is their initial value.

use mgn_wire::gl::*;
use std::ffi::CStr;
use std::ops::Range;

/// The uniforms for placing vertices. If a program has several of these, only the first has an
/// effect: it belongs to the last stage.
pub(crate) const PLACES: [&CStr; 3] = [c"mgn_place_geom", c"mgn_place_tese", c"mgn_place_vert"];
/// The uniform with the position of the pixels: from the left, from below, and from above.
pub(crate) const ORIGIN: &CStr = c"mgn_origin";

/// The shader source for the driver. None if nothing must be added.
pub(crate) fn offset(kind: u32, source: &[u8], is_es: bool) -> Option<Vec<u8>> {
    let source = without_comments(source);
    let words = words(&source);
    let has = |word: &str| {
        words
            .iter()
            .any(|at| &source[at.clone()] == word.as_bytes())
    };
    // This source has been changed before.
    if words
        .iter()
        .any(|at| source[at.clone()].starts_with(b"mgn_"))
    {
        return None;
    }
    let is_es = match has("version") {
        true => has("es") || source.windows(12).any(|text| text == b"#version 100"),
        false => is_es,
    };
    let uniform = match is_es {
        true => "uniform highp vec4",
        false => "uniform vec4",
    };
    if kind == GL_FRAGMENT_SHADER {
        if !has("gl_FragCoord") {
            return None;
        }
        let y = match has("origin_upper_left") {
            true => "mgn_origin.xz",
            false => "mgn_origin.xy",
        };
        let renamed = renamed(&source, &words, |at, word, before| {
            // A redeclaration does not count as a use.
            (word == b"gl_FragCoord" && !before.ends_with(b"vec4")).then_some((at, "mgn_FragCoord"))
        });
        let define = format!("#define mgn_FragCoord (gl_FragCoord + vec4({y}, 0.0, 0.0))\n");
        let declared = format!("{uniform} mgn_origin; ");
        return Some(with(renamed, &define, &declared, ""));
    }
    let place = match kind {
        GL_VERTEX_SHADER => "mgn_place_vert",
        GL_TESS_EVALUATION_SHADER => "mgn_place_tese",
        GL_GEOMETRY_SHADER => "mgn_place_geom",
        _ => return None,
    };
    // A shader without gl_Position places no vertices; another shader of the same program does, or
    // none.
    if !has("gl_Position") {
        return None;
    }
    let moves =
        format!("gl_Position.xy += gl_Position.xy * {place}.xy + gl_Position.w * {place}.zw;");
    let declared = format!("{uniform} {place}; ");
    if kind == GL_GEOMETRY_SHADER {
        let renamed = renamed(&source, &words, |at, word, _| match word {
            b"EmitVertex" => Some((at, "mgn_EmitVertex")),
            b"EmitStreamVertex" => Some((at, "mgn_EmitStreamVertex")),
            _ => None,
        });
        let define = format!(
            "#define mgn_EmitVertex() do {{ {moves} EmitVertex(); }} while (false)\n\
             #define mgn_EmitStreamVertex(stream) do {{ {moves} EmitStreamVertex(stream); }} while (false)\n"
        );
        return Some(with(renamed, &define, &declared, ""));
    }
    if !has("main") {
        return None;
    }
    let renamed = renamed(&source, &words, |at, word, _| {
        (word == b"main").then_some((at, "mgn_main"))
    });
    let added = format!("\nvoid main() {{ mgn_main(); {moves} }}\n");
    Some(with(renamed, "", &declared, &added))
}

/// The source with comments replaced by spaces.
fn without_comments(source: &[u8]) -> Vec<u8> {
    let mut text = source.to_vec();
    let mut at = 0;
    while at < text.len() {
        let end = match &text[at..] {
            [b'/', b'/', ..] => text[at..].iter().position(|c| *c == b'\n'),
            [b'/', b'*', ..] => {
                let end = text[at + 2..].windows(2).position(|two| two == b"*/");
                end.map(|end| end + 4)
            }
            _ => {
                at += 1;
                continue;
            }
        };
        let end = end.map_or(text.len(), |end| at + end);
        for c in &mut text[at..end] {
            if *c != b'\n' {
                *c = b' ';
            }
        }
        at = end;
    }
    text
}

/// The ranges of names and numbers.
fn words(text: &[u8]) -> Vec<Range<usize>> {
    let is_part = |c: &u8| c.is_ascii_alphanumeric() || *c == b'_';
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].iter().position(is_part) {
        let start = at + start;
        let length = text[start..].iter().position(|c| !is_part(c));
        at = length.map_or(text.len(), |length| start + length);
        words.push(start..at);
    }
    words
}

/// The source with some words replaced: `name` gets a word and the text before it, and returns the
/// new word.
fn renamed<'n>(
    text: &[u8],
    words: &[Range<usize>],
    name: impl Fn(Range<usize>, &[u8], &[u8]) -> Option<(Range<usize>, &'n str)>,
) -> Vec<u8> {
    let mut new = Vec::with_capacity(text.len() + 64);
    let mut done = 0;
    for word in words {
        let before = text[..word.start].trim_ascii_end();
        if let Some((at, name)) = name(word.clone(), &text[word.clone()], before) {
            new.extend_from_slice(&text[done..at.start]);
            new.extend_from_slice(name.as_bytes());
            done = at.end;
        }
    }
    new.extend_from_slice(&text[done..]);
    new
}

/// The source with a definition and a declaration at places where they are allowed, and more code
/// at the end.
fn with(text: Vec<u8>, define: &str, declare: &str, add: &str) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split_inclusive(|c| *c == b'\n').collect();
    let directive = |line: &[u8]| {
        let line = line.trim_ascii_start().strip_prefix(b"#")?;
        let line = line.trim_ascii_start();
        let end = line.iter().position(|c| !c.is_ascii_alphabetic());
        Some(line[..end.unwrap_or(line.len())].to_vec())
    };
    let is = |line: &[u8], names: &[&[u8]]| {
        directive(line).is_some_and(|found| names.contains(&&found[..]))
    };
    let version = lines.iter().position(|line| is(line, &[b"version"]));
    let first = version.map_or(0, |n| n + 1);
    let head = lines
        .iter()
        .rposition(|line| is(line, &[b"version", b"extension"]));
    let head = head.map_or(0, |n| n + 1);
    let (mut depth, mut continues, mut place) = (0, false, lines.len());
    for (n, line) in lines.iter().enumerate() {
        let is_directive = continues || directive(line).is_some();
        continues = is_directive && line.trim_ascii_end().ends_with(b"\\");
        if is(line, &[b"if", b"ifdef", b"ifndef"]) {
            depth += 1;
        } else if is(line, &[b"endif"]) {
            depth -= 1;
        } else if n >= head && depth == 0 && !is_directive && !line.trim_ascii().is_empty() {
            place = n;
            break;
        }
    }
    let mut new = Vec::with_capacity(text.len() + 512);
    for (n, line) in lines.iter().enumerate() {
        if n == first {
            new.extend_from_slice(define.as_bytes());
        }
        if n == place {
            new.extend_from_slice(declare.as_bytes());
        }
        new.extend_from_slice(line);
    }
    new.extend_from_slice(add.as_bytes());
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kind: u32, source: &str) -> Option<String> {
        offset(kind, source.as_bytes(), false).map(|new| String::from_utf8(new).unwrap())
    }

    #[test]
    fn vertices_are_moved_behind_main() {
        let source = "#version 330 // main\n#ifdef X\n#extension foo : enable\n#endif\n#define A \\\n b\nin vec4 p;\nvoid main(void)\n{ gl_Position = p; }";
        let new = text(GL_VERTEX_SHADER, source).unwrap();
        let declared = "\n b\nuniform vec4 mgn_place_vert; in vec4 p;\nvoid mgn_main(void)\n";
        assert!(new.contains(declared), "{new}");
        assert!(
            new.contains("\nvoid main() { mgn_main(); gl_Position.xy += "),
            "{new}"
        );
        assert_eq!(text(GL_VERTEX_SHADER, &new), None);
        assert_eq!(text(GL_VERTEX_SHADER, "vec4 f() { return vec4(0); }"), None);
        assert_eq!(text(GL_COMPUTE_SHADER, source), None);
    }

    #[test]
    fn fragments_know_where_they_are() {
        let source = "/* gl_FragCoord\n */ void main() { gl_FragColor = gl_FragCoord; }\n";
        let new = text(GL_FRAGMENT_SHADER, source).unwrap();
        assert!(new.starts_with("#define mgn_FragCoord (gl_FragCoord + vec4(mgn_origin.xy,"));
        assert!(new.contains("\nuniform vec4 mgn_origin; "), "{new}");
        assert!(new.contains("= mgn_FragCoord; }"), "{new}");
        let source = "#version 330\nlayout(origin_upper_left) in vec4 gl_FragCoord;\nvoid main() { x = gl_FragCoord.y; }\n";
        let new = text(GL_FRAGMENT_SHADER, source).unwrap();
        assert!(new.contains("mgn_origin.xz") && new.contains("in vec4 gl_FragCoord;"));
        assert_eq!(text(GL_FRAGMENT_SHADER, "void main() {}"), None);
    }

    #[test]
    fn primitives_are_moved_as_they_are_emitted() {
        let source = "#version 150\nlayout(points) in;\nvoid main() { gl_Position = vec4(0); EmitVertex(); }\n";
        let new = text(GL_GEOMETRY_SHADER, source).unwrap();
        assert!(
            new.contains("gl_Position = vec4(0); mgn_EmitVertex(); }"),
            "{new}"
        );
        assert!(
            new.contains("\nuniform vec4 mgn_place_geom; layout(points) in;"),
            "{new}"
        );
    }
}
