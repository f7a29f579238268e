//! Vertex arrays, programs, pipelines and transform feedback, as far as they are bound.

use std::collections::HashMap;

use mgn_wire::gl::*;

use crate::slots::at;
use crate::{GlError, State};

/// Names that belong to one context, each with what is to be remembered of the object.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnObjects {
    /// Vertex arrays with their element buffer.
    pub vertex_arrays: HashMap<u32, f64>,
    pub transform_feedbacks: HashMap<u32, f64>,
    pub pipelines: HashMap<u32, ()>,
}

impl State {
    pub fn gl_gen_vertex_arrays(&mut self, names: &[u32]) {
        let arrays = &mut self.own.vertex_arrays;
        arrays.extend(names.iter().map(|&name| (name, 0.)));
    }

    pub fn gl_delete_vertex_arrays(&mut self, names: &[u32]) {
        for &name in names {
            if name == 0 || self.own.vertex_arrays.remove(&name).is_none() {
                continue;
            }
            if self.int(at!(GL_VERTEX_ARRAY_BINDING)) == name {
                self.enter_vertex_array(0);
            }
        }
    }

    pub fn gl_bind_vertex_array(&mut self, array: u32) -> Result<(), GlError> {
        needs!(self, GL_VERTEX_ARRAY_BINDING);
        if array != 0 && !self.own.vertex_arrays.contains_key(&array) {
            return Err(GlError::InvalidOperation);
        }
        let old = self.int(at!(GL_VERTEX_ARRAY_BINDING));
        let elements = self.values[at!(GL_ELEMENT_ARRAY_BUFFER_BINDING)];
        self.own.vertex_arrays.insert(old, elements);
        self.enter_vertex_array(array);
        Ok(())
    }

    fn enter_vertex_array(&mut self, array: u32) {
        let elements = self.own.vertex_arrays.get(&array).copied().unwrap_or(0.);
        self.set(at!(GL_VERTEX_ARRAY_BINDING), array);
        self.set(at!(GL_ELEMENT_ARRAY_BUFFER_BINDING), elements);
    }

    /// A vertex array's element buffer was bound by the array's name.
    pub fn gl_vertex_array_element_buffer(&mut self, array: u32, _buffer: u32) {
        match self.int(at!(GL_VERTEX_ARRAY_BINDING)) == array {
            true => self.forget_at(at!(GL_ELEMENT_ARRAY_BUFFER_BINDING), 1),
            false => {
                self.own.vertex_arrays.insert(array, crate::slots::UNKNOWN);
            }
        }
    }

    /// The caller has made sure that the program was linked; if it cannot, it calls
    /// [`State::forget`] with `GL_CURRENT_PROGRAM` afterwards.
    pub fn gl_use_program(&mut self, program: u32) -> Result<(), GlError> {
        listed!(self, gl_use_program(program));
        self.set(at!(GL_CURRENT_PROGRAM), program);
        // Refused for a program that isn't linked, and while transform feedback is active.
        self.unsure()
    }

    pub fn gl_gen_program_pipelines(&mut self, names: &[u32]) {
        self.own.pipelines.extend(names.iter().map(|&n| (n, ())));
    }

    pub fn gl_delete_program_pipelines(&mut self, names: &[u32]) {
        for name in names {
            self.own.pipelines.remove(name);
            let bound = self.int(at!(GL_PROGRAM_PIPELINE_BINDING));
            if bound != 0 && bound == *name {
                self.set(at!(GL_PROGRAM_PIPELINE_BINDING), 0u8);
            }
        }
    }

    pub fn gl_bind_program_pipeline(&mut self, pipeline: u32) -> Result<(), GlError> {
        if pipeline != 0 && !self.own.pipelines.contains_key(&pipeline) {
            return Err(GlError::InvalidOperation);
        }
        self.set(at!(GL_PROGRAM_PIPELINE_BINDING), pipeline);
        // Refused while transform feedback is active.
        self.unsure()
    }

    pub fn gl_gen_transform_feedbacks(&mut self, names: &[u32]) {
        let feedbacks = &mut self.own.transform_feedbacks;
        feedbacks.extend(names.iter().map(|&name| (name, 0.)));
    }

    pub fn gl_delete_transform_feedbacks(&mut self, names: &[u32]) {
        // Refused for active ones.
        let bound = self.int(at!(GL_TRANSFORM_FEEDBACK_BINDING));
        if names.contains(&bound) {
            self.forget_at(at!(GL_TRANSFORM_FEEDBACK_BINDING), 1);
        }
        self.doubt = true;
        self.own
            .transform_feedbacks
            .retain(|name, _| !names.contains(name));
    }

    pub fn gl_bind_transform_feedback(&mut self, target: u32, id: u32) -> Result<(), GlError> {
        needs!(self, GL_TRANSFORM_FEEDBACK_BINDING);
        if target != GL_TRANSFORM_FEEDBACK {
            return Err(GlError::InvalidEnum);
        }
        if id != 0 && !self.own.transform_feedbacks.contains_key(&id) {
            return Err(GlError::InvalidOperation);
        }
        if self.feedback_active {
            return self.unsure_of(at!(GL_TRANSFORM_FEEDBACK_BINDING));
        }
        self.set(at!(GL_TRANSFORM_FEEDBACK_BINDING), id);
        Ok(())
    }

    pub fn gl_begin_transform_feedback(&mut self, _mode: u32) -> Result<(), GlError> {
        self.feedback_active = true;
        self.unsure()
    }

    pub fn gl_end_transform_feedback(&mut self) -> Result<(), GlError> {
        self.feedback_active = false;
        self.unsure()
    }
}
