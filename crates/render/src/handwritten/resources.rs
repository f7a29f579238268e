//! Queries of programs whose answer may have any length. Mesa writes the whole list, even if the
//! query states less room.

use crate::generated::driver::Gl;
use crate::names::Class;
use crate::renderer::{out, written, Renderer};
use mgn_wire::{gl::*, lens, Fault, Reply, Slice};

/// Properties that are lists, with the properties that hold their lengths.
const LISTS: [(u32, u32); 2] = [
    (GL_ACTIVE_VARIABLES, GL_NUM_ACTIVE_VARIABLES),
    (GL_COMPATIBLE_SUBROUTINES, GL_NUM_COMPATIBLE_SUBROUTINES),
];

impl Renderer {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn handwritten_gl_get_program_resourceiv(
        &mut self,
        program: u32,
        interface: u32,
        index: u32,
        prop_count: i32,
        props: Slice<'_, u32>,
        count: i32,
        length_count: u32,
        params_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if props.is_null() && prop_count > 0 {
            return Err(Fault::ShortArray);
        }
        let program = self.object(Class::Program, program);
        let props = props.copied().unwrap_or_default();
        let mut room = lens::times(count.into(), 1).saturating_add(props.len());
        for (_, number) in LISTS.iter().filter(|(list, _)| props.contains(list)) {
            // SAFETY: the context is current; one number is written.
            room = room.saturating_add(self.number(|gl, to| unsafe {
                let nowhere = std::ptr::null_mut();
                (gl.glGetProgramResourceiv)(program, interface, index, 1, number, 1, nowhere, to)
            }));
        }
        let mut length = -1;
        let mut params = out::<i32>(params_count, room)?;
        self.error();
        // SAFETY: there is room for what the query asks for and for all of each list.
        unsafe {
            (self.gl.glGetProgramResourceiv)(
                program,
                interface,
                index,
                prop_count,
                props.as_ptr(),
                count,
                &mut length,
                params.as_mut_ptr(),
            )
        };
        let failed = self.failed();
        let count = match failed {
            true => 0,
            false => written(length, 0, params_count),
        };
        reply.array(&[length], if length < 0 { 0 } else { length_count });
        reply.array(&params, count);
        Ok(())
    }

    /// The length of a list, or 0 if the driver refuses the query. The query of the list itself
    /// then raises the same error for the program.
    fn number(&mut self, ask: impl FnOnce(&Gl, *mut i32)) -> usize {
        self.unheard(|r| {
            r.error();
            let mut number = 0;
            ask(&r.gl, &mut number);
            // SAFETY: takes no arguments.
            unsafe { (r.gl.glGetError)() };
            usize::try_from(number).unwrap_or(0)
        })
    }
}

/// Queries by a pname. The pname that is a list and the one that holds its length are in brackets.
macro_rules! lists {
    ($($hand:ident = $gl:ident($($arg:ident),*) [$list:ident $number:ident];)*) => {
        impl Renderer {
            $(pub(crate) fn $hand(
                &mut self,
                program: u32,
                $($arg: u32,)*
                pname: u32,
                count: u32,
                reply: &mut Reply,
            ) -> Result<(), Fault> {
                self.needs_context()?;
                let program = self.object(Class::Program, program);
                let room = match pname {
                    // SAFETY: the context is current; one number is written.
                    $list => self.number(|gl, to| unsafe { (gl.$gl)(program, $($arg,)* $number, to) }),
                    _ => 0,
                };
                let mut values = out::<i32>(count, room)?;
                self.error();
                // SAFETY: there is room for the list, and for any other answer.
                unsafe { (self.gl.$gl)(program, $($arg,)* pname, values.as_mut_ptr()) };
                reply.array(&values, if self.failed() { 0 } else { count });
                Ok(())
            })*
        }
    };
}

lists! {
    handwritten_gl_get_active_uniform_blockiv = glGetActiveUniformBlockiv(index)
        [GL_UNIFORM_BLOCK_ACTIVE_UNIFORM_INDICES GL_UNIFORM_BLOCK_ACTIVE_UNIFORMS];
    handwritten_gl_get_active_atomic_counter_bufferiv = glGetActiveAtomicCounterBufferiv(index)
        [GL_ATOMIC_COUNTER_BUFFER_ACTIVE_ATOMIC_COUNTER_INDICES GL_ATOMIC_COUNTER_BUFFER_ACTIVE_ATOMIC_COUNTERS];
    handwritten_gl_get_active_subroutine_uniformiv = glGetActiveSubroutineUniformiv(stage, index)
        [GL_COMPATIBLE_SUBROUTINES GL_NUM_COMPATIBLE_SUBROUTINES];
}
