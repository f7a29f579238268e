//! Which buffer is bound where.

use mgn_wire::gl::*;
use mgn_wire::hello::api;

/// The slot of GL_ARRAY_BUFFER.
const ARRAY: usize = 0;

/// Targets other than `GL_ELEMENT_ARRAY_BUFFER`, which belongs to the vertex array object.
const TARGETS: [u32; 14] = [
    GL_ARRAY_BUFFER,
    GL_PIXEL_PACK_BUFFER,
    GL_PIXEL_UNPACK_BUFFER,
    GL_COPY_READ_BUFFER,
    GL_COPY_WRITE_BUFFER,
    GL_UNIFORM_BUFFER,
    GL_TEXTURE_BUFFER,
    GL_TRANSFORM_FEEDBACK_BUFFER,
    GL_DRAW_INDIRECT_BUFFER,
    GL_DISPATCH_INDIRECT_BUFFER,
    GL_SHADER_STORAGE_BUFFER,
    GL_ATOMIC_COUNTER_BUFFER,
    GL_QUERY_BUFFER,
    GL_PARAMETER_BUFFER,
];

/// The targets of OpenGL ES before 3.0.
const FIRST: usize = 3;

/// A context's buffer bindings.
#[derive(Debug)]
pub struct Bindings {
    names: [u32; TARGETS.len()],
    /// The number of targets that the context has, from the first one on.
    count: usize,
}

/// Where a target's binding is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingLocation {
    Slot(usize),
    /// In the vertex array object.
    Elements,
}

/// The slot of a target; none for an invalid one.
#[inline]
fn place(target: u32) -> Option<BindingLocation> {
    let slot = match target {
        GL_ARRAY_BUFFER => ARRAY,
        GL_ELEMENT_ARRAY_BUFFER => return Some(BindingLocation::Elements),
        GL_UNIFORM_BUFFER => 5,
        _ => TARGETS.iter().position(|t| *t == target)?,
    };
    Some(BindingLocation::Slot(slot))
}

/// Whether the server writes to a buffer that is bound to `target` without the client's knowledge.
pub fn is_written_through(target: u32) -> bool {
    matches!(
        target,
        GL_PIXEL_PACK_BUFFER
            | GL_TRANSFORM_FEEDBACK_BUFFER
            | GL_SHADER_STORAGE_BUFFER
            | GL_ATOMIC_COUNTER_BUFFER
            | GL_QUERY_BUFFER
    )
}

impl Bindings {
    /// The bindings of a new context of version `major.minor`.
    pub fn new(api: u32, version: (u32, u32)) -> Bindings {
        let few = api == api::ES1 || api == api::ES && version < (3, 0);
        Bindings {
            names: [0; TARGETS.len()],
            count: if few { FIRST } else { TARGETS.len() },
        }
    }

    #[inline]
    pub fn place(&self, target: u32) -> Option<BindingLocation> {
        place(target).filter(|place| match place {
            BindingLocation::Slot(slot) => *slot < self.count,
            BindingLocation::Elements => true,
        })
    }

    /// The buffer that `glVertexPointer` and similar commands read from.
    #[inline(always)]
    pub fn array_buffer(&self) -> u32 {
        self.name(ARRAY)
    }

    pub fn set_array_buffer(&mut self, name: u32) {
        self.set(ARRAY, name);
    }

    #[inline]
    pub fn set(&mut self, slot: usize, name: u32) {
        self.names[slot] = name;
    }

    #[inline]
    pub fn name(&self, slot: usize) -> u32 {
        self.names[slot]
    }

    /// Unbinds `name` everywhere.
    pub fn forget(&mut self, name: u32) {
        for bound in &mut self.names {
            if *bound == name {
                *bound = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_has_its_place() {
        let mut bindings = Bindings::new(api::COMPAT, (2, 1));
        for (i, target) in TARGETS.iter().enumerate() {
            assert_eq!(
                bindings.place(*target),
                Some(BindingLocation::Slot(i)),
                "{target:#x}"
            );
            bindings.set(i, 1 + i as u32 % 3);
        }
        assert_eq!(
            bindings.place(GL_ELEMENT_ARRAY_BUFFER),
            Some(BindingLocation::Elements)
        );
        assert_eq!(bindings.place(GL_TEXTURE_2D), None);
        bindings.forget(2);
        assert_eq!(
            (
                bindings.name(0),
                bindings.name(1),
                bindings.name(2),
                bindings.name(4)
            ),
            (1, 0, 3, 0)
        );
        let es2 = Bindings::new(api::ES, (2, 0));
        assert_eq!(es2.place(GL_UNIFORM_BUFFER), None);
        assert_eq!(
            es2.place(GL_PIXEL_PACK_BUFFER),
            Some(BindingLocation::Slot(1))
        );
    }
}
