//! How commands draw. Also the checks of draws that carry their vertices: the arguments of
//! `mgnRun`, `mgnDrawArrays` and `mgnDrawElements`.

use crate::{gl, sizes, Data, Fault, Slice};

/// How a command draws: see `ops::draws`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draws {
    /// A run of immediate mode.
    Run,
    /// Vertices of arrays or buffers.
    Arrays,
    /// Vertices that the server computes from the command's arguments: rectangles, meshes of
    /// evaluators.
    Shapes,
    /// Pixels from the program or from a framebuffer.
    Pixels,
    Clears,
    /// It calls display lists, which may draw.
    Lists,
    /// It runs compute shaders, which may write to images and buffers.
    Computes,
}

/// Vertex attributes as the stream numbers them. Texture coordinates of unit u are `TEXCOORD + u`,
/// generic attribute n is `GENERIC + n`.
pub mod attr {
    pub const POSITION: u8 = 0;
    pub const NORMAL: u8 = 1;
    pub const COLOR: u8 = 2;
    pub const SECONDARY: u8 = 3;
    pub const FOG: u8 = 4;
    pub const INDEX: u8 = 5;
    pub const EDGE_FLAG: u8 = 6;
    /// OpenGL ES 1 only.
    pub const POINT_SIZE: u8 = 7;
    pub const TEXCOORD: u8 = 8;
    pub const GENERIC: u8 = 16;
    /// One more than the highest number.
    pub const COUNT: u8 = 32;
}

/// `mgnRun`: the primitive continues with single commands. The server begins it and sends the
/// vertices of the run, and does not end it.
pub const RUN_OPEN: u32 = 1;
/// `mgnRun`: the last vertex isn't drawn; it holds the attributes that are current after the run.
pub const RUN_TRAILING: u32 = 2;

/// `mgnRun`: the number of vertices in a block. Each block has one set of tiles.
pub const RUN_BLOCK: usize = 96;

/// How many vertices two consecutive blocks of a run share; none for a primitive that has no
/// blocks. Blocks hold whole primitives. Blocks of strips begin at even vertices, so that no
/// primitive changes its facing.
pub fn run_overlap(mode: u32) -> Option<usize> {
    match mode {
        gl::GL_POINTS | gl::GL_LINES | gl::GL_TRIANGLES | gl::GL_QUADS => Some(0),
        gl::GL_LINE_STRIP => Some(1),
        gl::GL_TRIANGLE_STRIP | gl::GL_QUAD_STRIP => Some(2),
        _ => None,
    }
}

/// A run of immediate mode: `count` vertices of floats, `stride` bytes apart.
#[derive(Debug, Clone)]
pub struct Run {
    /// (attribute, components, offset in bytes), the position last.
    pub layout: Vec<(u8, u8, u32)>,
    pub stride: u32,
    /// The number of vertices to draw, or of those that indices may select.
    pub count: u32,
    pub vertices: *const u8,
    /// The indices of the vertices to draw if the run is welded. Otherwise empty: all vertices are
    /// drawn in order.
    pub indices: Vec<u16>,
    /// The attributes that are current after the run, laid out as a vertex; none if there are no
    /// vertices.
    pub last: Option<*const u8>,
    pub open: bool,
    /// A bit mask of tiles for each block, or a single one for the whole run. Empty if every
    /// renderer draws the run.
    pub tiles: Vec<u64>,
}

impl Run {
    pub fn parse(
        mode: u32,
        flags: u32,
        layout: Slice<'_, u8>,
        vertices: Data<'_>,
        indices: Slice<'_, u16>,
        tiles: Slice<'_, u32>,
    ) -> Result<Run, Fault> {
        let Data::Inline(vertices) = vertices else {
            return Err(Fault::refused("a run without vertices"));
        };
        if mode > gl::GL_PATCHES {
            return Err(Fault::refused(format!("a run of mode {mode:#x}")));
        }
        let bytes = layout.to_vec();
        let stride = stride(&bytes).ok_or_else(|| Fault::refused("a run with a bad layout"))?;
        let mut layout = Vec::with_capacity(bytes.len() / 2);
        let mut offset = 0u32;
        for pair in bytes.chunks_exact(2) {
            layout.push((pair[0], pair[1], offset));
            offset += u32::from(pair[1]) * 4;
        }
        if vertices.len() % stride as usize != 0 {
            return Err(Fault::refused("a run that is no whole number of vertices"));
        }
        let all = (vertices.len() / stride as usize) as u32;
        let trailing = u32::from(flags & RUN_TRAILING != 0);
        if trailing > all {
            return Err(Fault::refused("a run without its trailing vertex"));
        }
        // A private copy, which the client cannot change after the check.
        let indices = indices.to_vec();
        if !indices.is_empty() {
            if flags != 0 {
                return Err(Fault::refused("a welded run that is open or trails"));
            }
            if u32::from(indices.iter().fold(0, |max, &i| i.max(max))) >= all {
                return Err(Fault::refused(
                    "a welded run with indices beyond its vertices",
                ));
            }
        }
        let last = match indices.last() {
            Some(&index) => Some(u32::from(index)),
            None => all.checked_sub(1),
        };
        let last = last.map(|i| vertices.as_ptr().wrapping_add((i * stride) as usize));
        let count = all - trailing;
        let tiles = tiles.to_vec();
        let mask = |pair: &[u32]| u64::from(pair[0]) | u64::from(pair[1]) << 32;
        let tiles: Vec<u64> = tiles.chunks_exact(2).map(mask).collect();
        if !are_of_blocks(&tiles, mode, count as usize) || (tiles.len() > 1 && !indices.is_empty())
        {
            return Err(Fault::refused("a run with tiles of other blocks"));
        }
        Ok(Run {
            layout,
            stride,
            count,
            vertices: vertices.as_ptr(),
            indices,
            last,
            open: flags & RUN_OPEN != 0,
            tiles,
        })
    }

    /// The vertices that the renderer of `tile` draws: the first vertex and the count of each
    /// range.
    pub fn stretches(&self, mode: u32, tile: u32) -> Vec<(i32, i32)> {
        stretches(mode, &self.tiles, self.count, tile)
    }
}

/// Bytes of a vertex of a run; none if the layout is invalid. The position comes last, and each
/// attribute at most once.
pub(crate) fn stride(layout: &[u8]) -> Option<u32> {
    let (mut stride, mut seen) = (0, 0u32);
    for pair in layout.chunks(2) {
        let &[attribute, components @ 1..=4] = pair else {
            return None;
        };
        if attribute >= attr::COUNT || seen & 1 << attribute != 0 {
            return None;
        }
        seen |= 1 << attribute;
        stride += u32::from(components) * 4;
    }
    let last = layout.len().checked_sub(2)?;
    (layout[last] == attr::POSITION).then_some(stride)
}

/// Whether `tiles` has an entry for each block of a run of `count` vertices, one for the whole run,
/// or none.
pub(crate) fn are_of_blocks(tiles: &[u64], mode: u32, count: usize) -> bool {
    let blocks = run_overlap(mode).map(|overlap| {
        let beyond = count.saturating_sub(RUN_BLOCK + overlap);
        1 + beyond.div_ceil(RUN_BLOCK)
    });
    tiles.len() <= 1 || blocks == Some(tiles.len())
}

/// The vertices that the renderer of `tile` draws, of a run of `count` vertices whose blocks touch
/// `tiles`: the first vertex and the count of each range.
pub fn stretches(mode: u32, tiles: &[u64], count: u32, tile: u32) -> Vec<(i32, i32)> {
    let bit = 1u64.checked_shl(tile).unwrap_or(0);
    let overlap = run_overlap(mode).unwrap_or(0);
    let mut stretches: Vec<(i32, i32)> = Vec::new();
    for (n, touched) in tiles.iter().enumerate() {
        if touched & bit == 0 {
            continue;
        }
        let first = (n * RUN_BLOCK) as i32;
        let end = match n + 1 == tiles.len() {
            true => count as i32,
            false => first + (RUN_BLOCK + overlap) as i32,
        };
        match stretches.last_mut() {
            Some((from, length)) if *from + *length >= first => *length = end - *from,
            _ => stretches.push((first, end - first)),
        }
    }
    stretches
}

/// Words that describe one array.
pub const ARRAY_WORDS: usize = 10;

/// How an array's values reach the shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Float,
    /// glVertexAttribIPointer
    Integer,
    /// glVertexAttribLPointer
    Long,
}

/// An enabled array of an inline draw, described by `ARRAY_WORDS` words: attribute, kind, size,
/// type, normalized, divisor, stride, buffer, and the offset in two words. With buffer 0, its
/// elements lie in the draw's `vertices` from `offset` on. The first element there is the one that
/// the least index (or `first`) selects if the divisor is 0, else element 0. The base vertex is
/// added: if the least index is 5 and the base is 10, the first element there is the array's
/// element 15.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Array {
    pub attribute: u8,
    pub kind: Kind,
    /// 1 to 4, or GL_BGRA.
    pub size: u32,
    pub type_: u32,
    pub normalized: bool,
    pub divisor: u32,
    /// Bytes, never 0 for an array in `vertices`.
    pub stride: u32,
    /// The client's name of the buffer object; 0 for `vertices`.
    pub buffer: u32,
    pub offset: u64,
}

/// The number of components of an array whose attribute allows only one.
fn fixed_size(attribute: u8) -> Option<u32> {
    match attribute {
        attr::NORMAL => Some(3),
        attr::FOG | attr::INDEX | attr::EDGE_FLAG | attr::POINT_SIZE => Some(1),
        _ => None,
    }
}

impl Array {
    pub fn encode(&self) -> [u32; ARRAY_WORDS] {
        [
            self.attribute.into(),
            self.kind as u32,
            self.size,
            self.type_,
            self.normalized.into(),
            self.divisor,
            self.stride,
            self.buffer,
            self.offset as u32,
            (self.offset >> 32) as u32,
        ]
    }

    fn decode(words: &[u32]) -> Result<Array, Fault> {
        let bad = || Fault::refused("a draw with a bad array");
        let array = Array {
            attribute: u8::try_from(words[0])
                .ok()
                .filter(|a| *a < attr::COUNT)
                .ok_or_else(bad)?,
            kind: match words[1] {
                0 => Kind::Float,
                1 => Kind::Integer,
                2 => Kind::Long,
                _ => return Err(bad()),
            },
            size: words[2],
            type_: words[3],
            normalized: words[4] != 0,
            divisor: words[5],
            stride: words[6],
            buffer: words[7],
            offset: u64::from(words[8]) | u64::from(words[9]) << 32,
        };
        // The driver has no divisor for these attributes. It would read more elements than are
        // counted here.
        let is_divided = array.divisor != 0 && array.attribute < attr::GENERIC;
        let is_sized = fixed_size(array.attribute).is_none_or(|size| size == array.size);
        let is_known = array.stride <= i32::MAX as u32 && array.element_bytes().is_some();
        if is_divided || !is_sized || !is_known {
            return Err(bad());
        }
        Ok(array)
    }

    /// Bytes of one element.
    pub fn element_bytes(&self) -> Option<u64> {
        sizes::image::attrib_bytes(self.size, self.type_).map(|n| n as u64)
    }
}

/// The elements that an inline draw reads.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// The least and greatest element of arrays with divisor 0; none if no vertex is drawn.
    pub elements: Option<(u32, u32)>,
    pub instances: u32,
    pub base_instance: u32,
}

/// Decodes the descriptions of an inline draw's arrays, and checks that the arrays without a buffer
/// have all elements that the draw reads.
pub fn arrays(
    words: Slice<'_, u32>,
    vertices: Data<'_>,
    extent: Extent,
) -> Result<Vec<Array>, Fault> {
    let words = words.to_vec();
    if words.len() % ARRAY_WORDS != 0 || words.len() > ARRAY_WORDS * usize::from(attr::COUNT) {
        return Err(Fault::refused("a draw with a bad array"));
    }
    let room = match vertices {
        Data::Inline(bytes) => bytes.len() as u64,
        Data::Null => 0,
        Data::Offset(_) => return Err(Fault::refused("a draw whose vertices are an offset")),
    };
    let mut arrays = Vec::with_capacity(words.len() / ARRAY_WORDS);
    for words in words.chunks_exact(ARRAY_WORDS) {
        let array = Array::decode(words)?;
        let elements = match (array.divisor, extent.elements) {
            (_, None) => 0,
            (0, Some((min, max))) => u64::from(max.saturating_sub(min)) + 1,
            (divisor, _) if extent.instances > 0 => {
                u64::from((extent.instances - 1) / divisor) + 1 + u64::from(extent.base_instance)
            }
            _ => 0,
        };
        if array.buffer == 0 && elements > 0 {
            let end = array
                .offset
                .checked_add((elements - 1) * u64::from(array.stride))
                .and_then(|end| end.checked_add(array.element_bytes().unwrap_or(0)));
            if array.stride == 0 && elements > 1 || end.is_none_or(|end| end > room) {
                return Err(Fault::refused("a draw whose vertices are not all there"));
            }
        }
        arrays.push(array);
    }
    Ok(arrays)
}

/// Checks that every index of an inline draw lies within `min..=max` or is `restart`. Returns a
/// private copy of the indices.
pub fn indices(
    data: Slice<'_, u8>,
    type_: u32,
    count: u32,
    min: u32,
    max: u32,
    restart: Option<u32>,
) -> Result<Vec<u8>, Fault> {
    let size = sizes::image::draw_index_bytes(type_)
        .ok_or_else(|| Fault::refused("a draw with a bad index type"))?;
    if data.len() as u64 != u64::from(count) * size as u64 {
        return Err(Fault::refused("a draw whose indices are not all there"));
    }
    let copy = data.to_vec();
    let inside = |i: u32| (min..=max).contains(&i) || Some(i) == restart;
    let good = match size {
        1 => copy.iter().all(|i| inside((*i).into())),
        2 => copy
            .chunks_exact(2)
            .all(|i| inside(u16::from_le_bytes([i[0], i[1]]).into())),
        _ => copy
            .chunks_exact(4)
            .all(|i| inside(u32::from_le_bytes([i[0], i[1], i[2], i[3]]))),
    };
    if good {
        Ok(copy)
    } else {
        Err(Fault::refused("a draw with an index outside its vertices"))
    }
}

/// The type that glArrayElement uses to read an array's values. Mesa distinguishes types by their
/// last bits only. So it reads halves and fixed-point numbers as integers, and packed values as
/// bytes or doubles.
pub fn taken_for(type_: u32) -> u32 {
    use gl::{GL_BYTE, GL_DOUBLE};
    match type_ & 7 {
        _ if type_ == GL_DOUBLE => GL_DOUBLE,
        7 => GL_DOUBLE,
        n => GL_BYTE + n,
    }
}

/// The bytes that glArrayElement reads of an element; none if no array has this number of
/// components.
pub fn bytes_taken(type_: u32, size: i32) -> Option<usize> {
    use gl::{GL_BGRA, GL_BYTE, GL_DOUBLE, GL_SHORT, GL_UNSIGNED_BYTE, GL_UNSIGNED_SHORT};
    let components = match size {
        1..=4 => size as usize,
        _ if size as u32 == GL_BGRA => 4,
        _ => return None,
    };
    let size = match taken_for(type_) {
        GL_BYTE | GL_UNSIGNED_BYTE => 1,
        GL_SHORT | GL_UNSIGNED_SHORT => 2,
        GL_DOUBLE => 8,
        _ => 4,
    };
    Some(size * components)
}

#[cfg(test)]
mod tests {
    use crate::ops;

    /// A command draws if its OpenGL name says so, except for commands that only select where to
    /// draw.
    #[test]
    fn all_commands_that_draw_are_known_as_such() {
        let begins = [
            "glDraw",
            "glMultiDraw",
            "glBlit",
            "glRect",
            "glEvalMesh",
            "glBitmap",
            "glCopyPixels",
            "glAccum",
            "glClearBuffer",
            "glClearNamed",
            "glCallList",
            "glDispatch",
            "mgnRun",
            "mgnDraw",
        ];
        for (op, name) in (ops::FIRST..).zip(ops::NAMES) {
            let of_buffer_objects = name.starts_with("glDrawBuffer")
                || name.ends_with("BufferData")
                || name.ends_with("BufferSubData");
            let is_draw = *name == *"glClear" || begins.iter().any(|b| name.starts_with(b));
            let expected = is_draw && !of_buffer_objects;
            assert_eq!(ops::draws(op).is_some(), expected, "{name}");
        }
    }
}
