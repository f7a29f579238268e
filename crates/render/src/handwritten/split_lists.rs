//! Display lists with commands that the driver cannot execute. These are commands about
//! accumulation buffers, which the renderer implements, and on a wall also those about queries and
//! conditional rendering, which the renderer tracks.
//!
//! Such a list is compiled in parts. Each part is a list in the driver. The renderer calls the
//! parts one after the other, and executes the commands between them itself. The first part has the
//! list's own name. The other parts have high names, which programs do not use.

use crate::renderer::Renderer;
use crate::snapshot::lists::{Kept, Records};
use mgn_wire::sizes::image::list_offsets;
use mgn_wire::{again, gl::*, Fault};
use std::collections::HashMap;
use std::rc::Rc;

/// Lists that call others deeper than this stop there, as in Mesa.
const DEEPEST: usize = 64;

/// The most steps of one call. Few programs need any, but lists that each call another one twice
/// could take steps for years.
const MOST_STEPS: usize = 1 << 20;

/// The first name of a part.
const FIRST_PART: u32 = 0xf000_0000;

/// A step between the parts of a list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// A part, by the driver's name.
    Part(u32),
    Accum(u32, f32),
    Clear(u32),
    /// A target and the client's name of a query.
    BeginQuery(u32, u32),
    BeginQueryIndexed(u32, u32, u32),
    EndQuery(u32),
    EndQueryIndexed(u32, u32),
    /// The client's name of a query, and a mode.
    BeginCondition(u32, u32),
    EndCondition,
    Call(u32),
    /// The whole list, command by command.
    Commands(Rc<Records>),
    /// glCallLists: a type, and the bytes of its names.
    Calls(u32, Vec<u8>),
}

/// The lists of a share group that have parts.
#[derive(Debug, Default)]
pub(crate) struct SplitLists {
    lists: HashMap<u32, Rc<Vec<Step>>>,
    parts: u32,
}

/// The list under compilation.
#[derive(Debug)]
pub(crate) struct Compiling {
    list: u32,
    mode: u32,
    /// The driver's name of the part under compilation.
    part: u32,
    steps: Vec<Step>,
    /// Whether the list contains a command that sets or reads scissor boxes.
    pub scissors: bool,
    /// Whether the list contains a command that the renderer must execute, because it sets state of
    /// which the driver has another value (see `offset`).
    pub by_command: bool,
    /// The list's commands, on a wall.
    pub kept: Kept,
}

impl Compiling {
    pub fn new(list: u32, mode: u32) -> Compiling {
        Compiling {
            list,
            mode,
            part: list,
            steps: Vec::new(),
            scissors: false,
            by_command: false,
            kept: Kept::default(),
        }
    }

    pub fn name(&self) -> u32 {
        self.list
    }

    /// The list that the driver is compiling, which may be a part of the program's list, and its
    /// mode.
    pub fn in_driver(&self) -> (u32, u32) {
        (self.part, self.mode)
    }
}

/// The lists that are being executed command by command, each called by the one before.
#[derive(Debug, Default)]
pub(crate) struct Taking {
    depth: usize,
    left: usize,
    /// Whether a list's commands are being executed.
    pub takes: bool,
}

fn endless() -> Fault {
    Fault::refused("display lists that call each other without end")
}

impl Renderer {
    /// Whether the nesting is so deep that a list called now must not be executed.
    pub(crate) fn is_too_deep(&mut self) -> bool {
        if self.taking.depth == 0 {
            self.taking.left = MOST_STEPS;
        }
        self.taking.depth >= DEEPEST
    }

    /// Whether a list is being compiled into which a command about accumulation buffers must go as
    /// a step of the renderer's.
    pub(crate) fn splits_for_accumulation(&self) -> bool {
        self.has_accumulation && self.cx.as_ref().is_some_and(|cx| cx.compiling.is_some())
    }

    /// Adds a step to the list that is being compiled. In GL_COMPILE_AND_EXECUTE, also executes it
    /// now.
    pub(crate) fn split(&mut self, step: Step) -> Result<(), Fault> {
        let Some(mut compiling) = self.cx()?.compiling.take() else {
            return Ok(());
        };
        let lists = &mut self.names.shared.split_lists;
        let next = FIRST_PART | lists.parts;
        lists.parts = (lists.parts + 1) & !FIRST_PART;
        // SAFETY: the context is current, and the driver is compiling a list.
        unsafe { (self.gl.glEndList)() };
        let part = std::mem::replace(&mut compiling.part, next);
        let mode = compiling.mode;
        compiling.steps.extend([Step::Part(part), step.clone()]);
        let taken = if mode == GL_COMPILE_AND_EXECUTE {
            self.take(&step)
        } else {
            Ok(())
        };
        // SAFETY: as above; the driver is not compiling a list now.
        unsafe { (self.gl.glNewList)(next, mode) };
        self.cx()?.compiling = Some(compiling);
        taken
    }

    /// The list that was being compiled is complete.
    pub(crate) fn list_ended(&mut self, mut compiling: Compiling) {
        self.forget_parts(|list| list == compiling.list);
        self.names.shared.lists_scissor |= compiling.scissors;
        if self.is_offset && (compiling.by_command || compiling.scissors) {
            if let Kept::Records(records) = &compiling.kept {
                let step = Step::Commands(Rc::new(records.clone()));
                let lists = &mut self.names.shared.split_lists.lists;
                lists.insert(compiling.list, Rc::new(vec![step]));
                return self.keep_list(&mut compiling);
            }
        }
        self.keep_list(&mut compiling);
        if !compiling.steps.is_empty() {
            compiling.steps.push(Step::Part(compiling.part));
            let lists = &mut self.names.shared.split_lists.lists;
            lists.insert(compiling.list, Rc::new(compiling.steps));
        }
    }

    /// Forgets the parts of lists that are deleted or compiled again.
    pub(crate) fn forget_parts(&mut self, which: impl Fn(u32) -> bool) {
        let lists = &mut self.names.shared.split_lists.lists;
        if lists.is_empty() {
            return;
        }
        let gone: Vec<u32> = lists.keys().copied().filter(|list| which(*list)).collect();
        for list in gone {
            let steps = self.names.shared.split_lists.lists.remove(&list);
            for step in steps.iter().flat_map(|steps| steps.iter()) {
                match step {
                    // SAFETY: the context is current.
                    Step::Part(part) if *part != list => unsafe {
                        (self.gl.glDeleteLists)(*part, 1)
                    },
                    _ => {}
                }
            }
        }
    }

    /// Whether calls of lists must not be left to the driver.
    pub(crate) fn has_split_lists(&self) -> bool {
        !self.names.shared.split_lists.lists.is_empty()
    }

    /// Executes a step, and all steps that follow from it.
    pub(crate) fn take(&mut self, step: &Step) -> Result<(), Fault> {
        let mut left = MOST_STEPS;
        let outer = std::mem::replace(&mut self.taking.takes, true);
        let taken = self.take_step(step, 0, &mut left);
        self.taking.takes = outer;
        taken
    }

    fn take_step(&mut self, step: &Step, depth: usize, left: &mut usize) -> Result<(), Fault> {
        *left = left.checked_sub(1).ok_or_else(endless)?;
        match step {
            Step::Part(part) => {
                self.unpack_lists()?;
                // SAFETY: the context is current.
                unsafe { (self.gl.glCallList)(*part) };
                Ok(())
            }
            Step::Accum(op, value) => self.handwritten_gl_accum(*op, *value),
            Step::Clear(mask) => self.handwritten_gl_clear(*mask),
            Step::BeginQuery(target, id) => self.handwritten_gl_begin_query(*target, *id),
            Step::BeginQueryIndexed(target, index, id) => {
                self.handwritten_gl_begin_query_indexed(*target, *index, *id)
            }
            Step::EndQuery(target) => self.handwritten_gl_end_query(*target),
            Step::EndQueryIndexed(target, index) => {
                self.handwritten_gl_end_query_indexed(*target, *index)
            }
            Step::BeginCondition(id, mode) => {
                self.handwritten_gl_begin_conditional_render(*id, *mode)
            }
            Step::EndCondition => self.handwritten_gl_end_conditional_render(),
            Step::Commands(records) => {
                self.taking.depth += 1;
                let done = records.iter().try_for_each(|(op, body)| {
                    self.taking.left = self.taking.left.checked_sub(1).ok_or_else(endless)?;
                    again(*op, body, self)
                });
                self.taking.depth -= 1;
                done
            }
            Step::Call(list) => self.call_split(*list, depth, left),
            Step::Calls(kind, names) => {
                let base = self.driver_integer(GL_LIST_BASE) as u32;
                list_offsets(*kind, names)
                    .try_for_each(|offset| self.call_split(base.wrapping_add(offset), depth, left))
            }
        }
    }

    /// Calls a list, which may have parts.
    fn call_split(&mut self, list: u32, depth: usize, left: &mut usize) -> Result<(), Fault> {
        if depth >= DEEPEST {
            return Ok(());
        }
        let parts = self.names.shared.split_lists.lists.get(&list).cloned();
        let Some(steps) = parts else {
            return self.take_step(&Step::Part(list), depth, left);
        };
        steps
            .iter()
            .try_for_each(|step| self.take_step(step, depth + 1, left))
    }
}
