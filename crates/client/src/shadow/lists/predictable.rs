//! Display lists that certainly raise no error when they are called, so that a later glGetError
//! need not ask the server.
//!
//! For most commands in lists, the shadow knows at each call whether they succeed, because it
//! executes them again. Other commands cannot fail at all, or draw. A list of only such commands
//! changes no state that affects the success of other commands.

use super::current::sets_current;
use mgn_wire::{gl, ops, sift};
use std::collections::BTreeSet;

/// The facts about a list that must be known before it is called.
#[derive(Debug, Default, PartialEq)]
pub struct PredictableList {
    /// A number that is unique to each definition of a list.
    pub number: u32,
    /// Whether it draws.
    pub draws: bool,
    /// Whether it draws pixels, which happens only where the raster position is valid.
    pub draws_pixels: bool,
    /// The lists that it calls.
    pub calls: BTreeSet<u32>,
}

/// The list under compilation, as long as it holds only such commands.
#[derive(Default)]
pub struct PredictableBuilder {
    list: PredictableList,
    is_inside: bool,
    /// The number of attribute groups that the list has pushed and not popped. Groups that were
    /// pushed before the list may restore any state.
    pushed: u32,
}

/// The kinds of commands that a predictable list may contain.
enum Kind {
    Begins,
    Ends,
    /// Allowed anywhere.
    Anywhere,
    /// Allowed between glBegin and glEnd only.
    Vertex,
    /// Not allowed between glBegin and glEnd.
    Outside,
    Unknown,
}

fn kind(op: u16) -> Kind {
    match op {
        ops::GL_BEGIN => Kind::Begins,
        ops::GL_END => Kind::Ends,
        ops::GL_VERTEX2F | ops::GL_VERTEX3F | ops::GL_VERTEX4F => Kind::Vertex,
        _ if sets_current(op) => Kind::Anywhere,
        ops::GL_MATERIALF | ops::GL_MATERIALFV | ops::GL_MATERIALIV => Kind::Anywhere,
        // Commands that change whether draws succeed are not among these.
        ops::GL_ACTIVE_TEXTURE
        | ops::GL_ALPHA_FUNC
        | ops::GL_BIND_TEXTURE
        | ops::GL_BITMAP
        | ops::GL_BLEND_COLOR
        | ops::GL_BLEND_FUNC
        | ops::GL_CALL_LIST
        | ops::GL_CLEAR_COLOR
        | ops::GL_CLEAR_DEPTH
        | ops::GL_CLEAR_STENCIL
        | ops::GL_CLIP_PLANE
        | ops::GL_COLOR_MASK
        | ops::GL_COLOR_MATERIAL
        | ops::GL_CULL_FACE
        | ops::GL_DEPTH_FUNC
        | ops::GL_DEPTH_MASK
        | ops::GL_DEPTH_RANGE
        | ops::GL_DISABLE
        | ops::GL_ENABLE
        | ops::GL_FOGF
        | ops::GL_FOGFV
        | ops::GL_FOGI
        | ops::GL_FOGIV
        | ops::GL_FRONT_FACE
        | ops::GL_FRUSTUM
        | ops::GL_HINT
        | ops::GL_LIGHTF
        | ops::GL_LIGHTFV
        | ops::GL_LIGHTI
        | ops::GL_LIGHTIV
        | ops::GL_LIGHT_MODELF
        | ops::GL_LIGHT_MODELFV
        | ops::GL_LIGHT_MODELI
        | ops::GL_LIGHT_MODELIV
        | ops::GL_LINE_STIPPLE
        | ops::GL_LINE_WIDTH
        | ops::GL_LOAD_IDENTITY
        | ops::GL_LOAD_MATRIXD
        | ops::GL_LOAD_MATRIXF
        | ops::GL_LOGIC_OP
        | ops::GL_MATRIX_MODE
        | ops::GL_MULT_MATRIXD
        | ops::GL_MULT_MATRIXF
        | ops::GL_ORTHO
        | ops::GL_POINT_SIZE
        | ops::GL_POLYGON_MODE
        | ops::GL_POLYGON_OFFSET
        | ops::GL_POP_ATTRIB
        | ops::GL_POP_MATRIX
        | ops::GL_PUSH_ATTRIB
        | ops::GL_PUSH_MATRIX
        | ops::GL_RECTF
        | ops::GL_ROTATED
        | ops::GL_ROTATEF
        | ops::GL_SCALED
        | ops::GL_SCALEF
        | ops::GL_SCISSOR
        | ops::GL_SHADE_MODEL
        | ops::GL_STENCIL_FUNC
        | ops::GL_STENCIL_MASK
        | ops::GL_STENCIL_OP
        | ops::GL_TEX_ENVF
        | ops::GL_TEX_ENVFV
        | ops::GL_TEX_ENVI
        | ops::GL_TEX_ENVIV
        | ops::GL_TEX_GEND
        | ops::GL_TEX_GENDV
        | ops::GL_TEX_GENF
        | ops::GL_TEX_GENFV
        | ops::GL_TEX_GENI
        | ops::GL_TEX_GENIV
        | ops::GL_TRANSLATED
        | ops::GL_TRANSLATEF
        | ops::GL_VIEWPORT => Kind::Outside,
        _ => Kind::Unknown,
    }
}

/// Whether a blend factor uses a second source, or is invalid.
fn is_special_factor(factor: u32) -> bool {
    !matches!(
        factor,
        gl::GL_ZERO
            | gl::GL_ONE
            | gl::GL_SRC_COLOR..=gl::GL_SRC_ALPHA_SATURATE
            | gl::GL_CONSTANT_COLOR..=gl::GL_ONE_MINUS_CONSTANT_ALPHA
    )
}

impl PredictableBuilder {
    /// Follows further records of the list. None if one of them cannot be judged.
    pub fn follow(&mut self, records: &[u8]) -> Option<()> {
        let mut at = 0;
        while at < records.len() {
            let (op, record) = sift::record(records, at)?;
            at += record.len();
            self.take(op, record)?;
        }
        Some(())
    }

    fn take(&mut self, op: u16, record: &[u8]) -> Option<()> {
        let word = |n: usize| Some(u32::from_le_bytes(*record.get(4 * n..)?.first_chunk()?));
        match kind(op) {
            Kind::Begins if !self.is_inside && word(1)? <= gl::GL_POLYGON => {
                self.is_inside = true;
                self.list.draws = true;
                return Some(());
            }
            Kind::Ends if self.is_inside => {
                self.is_inside = false;
                return Some(());
            }
            Kind::Vertex if self.is_inside => return Some(()),
            Kind::Anywhere => return Some(()),
            Kind::Outside if !self.is_inside => {}
            _ => return None,
        }
        let is_right = match op {
            ops::GL_CALL_LIST => {
                self.list.calls.insert(word(1)?);
                word(1)? != 0
            }
            ops::GL_PUSH_ATTRIB => {
                self.pushed += 1;
                true
            }
            ops::GL_POP_ATTRIB => {
                self.pushed = self.pushed.checked_sub(1)?;
                true
            }
            ops::GL_ENABLE | ops::GL_DISABLE => !matches!(
                word(1)?,
                gl::GL_VERTEX_PROGRAM_ARB
                    | gl::GL_FRAGMENT_PROGRAM_ARB
                    | gl::GL_FRAGMENT_SHADER_ATI
            ),
            ops::GL_BLEND_FUNC => !is_special_factor(word(1)?) && !is_special_factor(word(2)?),
            ops::GL_RECTF => {
                self.list.draws = true;
                true
            }
            ops::GL_BITMAP => {
                self.list.draws_pixels = true;
                word(1)? as i32 >= 0 && word(2)? as i32 >= 0
            }
            _ => true,
        };
        is_right.then_some(())
    }

    /// The facts about the finished list.
    pub fn end(mut self, number: u32) -> Option<PredictableList> {
        self.list.number = number;
        (!self.is_inside && self.pushed == 0).then_some(self.list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The facts about a list of these commands, given with their first arguments.
    fn judged(commands: &[(u16, &[u32])]) -> Option<PredictableList> {
        let mut judged = PredictableBuilder::default();
        for (op, arguments) in commands {
            let header = u32::from(*op) | (1 + arguments.len() as u32) << 16;
            let words = [header].into_iter().chain(arguments.iter().copied());
            judged.follow(&words.flat_map(u32::to_le_bytes).collect::<Vec<_>>())?;
        }
        judged.end(7)
    }

    #[test]
    fn lists_of_what_the_shadow_follows_can_be_judged() {
        const BEGIN: (u16, &[u32]) = (ops::GL_BEGIN, &[gl::GL_QUADS]);
        const END: (u16, &[u32]) = (ops::GL_END, &[]);
        const PUSH: (u16, &[u32]) = (ops::GL_PUSH_ATTRIB, &[1]);
        const POP: (u16, &[u32]) = (ops::GL_POP_ATTRIB, &[]);
        let call = (ops::GL_CALL_LIST, &[5][..]);
        let list = judged(&[PUSH, BEGIN, (ops::GL_VERTEX2F, &[0, 0]), END, POP, call]);
        let expected = PredictableList {
            number: 7,
            draws: true,
            draws_pixels: false,
            calls: BTreeSet::from([5]),
        };
        assert_eq!(list, Some(expected));
        let others: [&[(u16, &[u32])]; 11] = [
            &[BEGIN],
            &[END],
            &[(ops::GL_VERTEX2F, &[0, 0])],
            &[BEGIN, call, END],
            &[(ops::GL_BEGIN, &[gl::GL_POLYGON + 1]), END],
            &[POP],
            &[PUSH],
            &[(ops::GL_ENABLE, &[gl::GL_VERTEX_PROGRAM_ARB])],
            &[(ops::GL_BLEND_FUNC, &[gl::GL_ONE, gl::GL_SRC1_COLOR])],
            &[(ops::GL_USE_PROGRAM, &[1])],
            &[(ops::GL_BITMAP, &[1, -1i32 as u32])],
        ];
        for list in others {
            assert_eq!(judged(list), None, "{list:?}");
        }
    }
}
