//! Selection and feedback. The driver writes to memory of the server's, and the answer of
//! glRenderMode returns the words.

use crate::renderer::Renderer;
use mgn_wire::{gl::*, Fault, Reply};
use std::cell::Cell;

/// The most words that selection or feedback may write. A larger buffer of a program is treated as
/// one of this size.
const WORDS_MAX: usize = 1 << 24;

/// Memory in pieces that the driver writes words to. The driver may keep the address of a piece
/// until the context ends, even after it was given another one. So no piece is freed before, and a
/// buffer that grows at least doubles.
#[derive(Default)]
pub(crate) struct Words {
    pieces: Vec<Box<[Cell<u32>]>>,
    /// The number of words of the last piece that the driver was last told.
    told: usize,
}

impl Words {
    /// Memory for `size` words, and its number of words.
    fn room(&mut self, size: i32) -> (*mut u32, i32) {
        let size = usize::try_from(size).unwrap_or(0).min(WORDS_MAX);
        let have = self.pieces.last().map_or(0, |piece| piece.len());
        if size > have {
            self.pieces.push(zeros(size.next_power_of_two()));
        }
        self.told = size;
        let start = self.pieces.last().map_or(std::ptr::null(), |p| p.as_ptr());
        (start.cast_mut().cast(), size as i32)
    }

    /// The words that were written, `count` at most.
    fn written(&self, count: usize) -> Vec<u32> {
        let words = self.pieces.last().map_or(&[][..], |piece| piece);
        let count = count.min(self.told);
        words[..count].iter().map(Cell::get).collect()
    }

    /// How many words `hits` hit records take. A record is the number of its names, two depths, and
    /// the names.
    fn hit_words(&self, hits: usize) -> usize {
        let words = self.pieces.last().map_or(&[][..], |piece| piece);
        let mut at = 0;
        for _ in 0..hits {
            let Some(names) = words.get(at) else { break };
            at = at.saturating_add(3 + names.get() as usize);
        }
        at
    }
}

/// Zeros, which take no memory until they are written to.
fn zeros(words: usize) -> Box<[Cell<u32>]> {
    let words = Box::into_raw(vec![0u32; words].into_boxed_slice());
    // SAFETY: a cell has the layout of what it holds.
    unsafe { Box::from_raw(words as *mut [Cell<u32>]) }
}

impl Renderer {
    pub(crate) fn handwritten_gl_select_buffer(&mut self, size: i32) -> Result<(), Fault> {
        let (start, size) = self.cx()?.selection.room(size);
        // SAFETY: the context is current, and has memory for as many words until it ends.
        unsafe { (self.gl.glSelectBuffer)(size, start) };
        Ok(())
    }

    pub(crate) fn handwritten_gl_feedback_buffer(
        &mut self,
        size: i32,
        type_: u32,
    ) -> Result<(), Fault> {
        let (start, size) = self.cx()?.feedback.room(size);
        // SAFETY: as for selection.
        unsafe { (self.gl.glFeedbackBuffer)(size, type_, start.cast()) };
        Ok(())
    }

    pub(crate) fn handwritten_gl_render_mode(
        &mut self,
        mode: u32,
        result_count: u32,
        words_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if self.is_in_primitive() {
            // This is an error, and the mode does not change.
            reply.array(&[0, 0], result_count);
            reply.array::<u32>(&[], words_count);
            return Ok(());
        }
        let before = self.driver_integer(GL_RENDER_MODE) as u32;
        // SAFETY: the context is current.
        let result = unsafe { (self.gl.glRenderMode)(mode) };
        let after = self.driver_integer(GL_RENDER_MODE);
        let cx = self.cx()?;
        cx.renders = after as u32 == GL_RENDER;
        // If the buffer was too small, it is full.
        let words = match (before, usize::try_from(result)) {
            (GL_SELECT, Ok(hits)) => cx.selection.written(cx.selection.hit_words(hits)),
            (GL_SELECT, Err(_)) => cx.selection.written(usize::MAX),
            (GL_FEEDBACK, Ok(count)) => cx.feedback.written(count),
            (GL_FEEDBACK, Err(_)) => cx.feedback.written(usize::MAX),
            _ => Vec::new(),
        };
        reply.array(&[result, after], result_count);
        reply.array(&words, words_count);
        Ok(())
    }
}
