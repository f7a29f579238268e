//! `wireframe`: polygons as lines, to see what they are made of.
//!
//! The driver draws lines, whatever mode the program sets. Programs still read their own mode back:
//! clients remember it, and if one asks the server, this stage answers. Feedback gets the lines
//! that are drawn. OpenGL ES has no such mode, and its contexts do not change.

use crate::chain::{Does, Spu};
use mgn_wire::hello::api;
use mgn_wire::{gl, Commands, Fault, Reply};
use std::collections::HashMap;

pub const SPU: Spu = Spu {
    name: "wireframe",
    about: "polygons are drawn as lines",
    does: Does::Change,
    parameters: &[],
    build: |_, _, next| Ok(Box::new(Wireframe::new(next))),
};

/// Passes everything on, but with lines in place of each polygon mode.
pub struct Wireframe {
    next: Box<dyn Commands>,
    context: u32,
    contexts: HashMap<u32, Modes>,
}

/// A context's modes as the program has set them.
struct Modes {
    /// Whether the driver has been told to draw lines.
    is_told: bool,
    /// The modes of front and back.
    now: [u32; 2],
    /// The modes that glPushAttrib has saved; none where it has saved other state.
    pushed: Vec<Option<[u32; 2]>>,
}

impl Wireframe {
    pub fn new(next: Box<dyn Commands>) -> Wireframe {
        Wireframe {
            next,
            context: 0,
            contexts: HashMap::new(),
        }
    }

    fn modes(&mut self) -> Option<&mut Modes> {
        self.contexts.get_mut(&self.context)
    }
}

#[allow(clippy::too_many_arguments)]
impl Commands for Wireframe {
    fn next(&mut self) -> &mut dyn Commands {
        &mut *self.next
    }

    fn message(&mut self, context: u32) -> Result<(), Fault> {
        self.context = context;
        self.next.message(context)?;
        match self.modes() {
            Some(modes) if !modes.is_told => modes.is_told = true,
            _ => return Ok(()),
        }
        self.next
            .gl_polygon_mode(gl::GL_FRONT_AND_BACK, gl::GL_LINE)
    }

    fn mgn_create_context(
        &mut self,
        id: u32,
        api: u32,
        major: u32,
        minor: u32,
        flags: u32,
        config: u32,
        share: u32,
        info_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.next.mgn_create_context(
            id, api, major, minor, flags, config, share, info_count, reply,
        )?;
        if matches!(api, api::COMPAT | api::CORE) {
            let modes = Modes {
                is_told: false,
                now: [gl::GL_FILL; 2],
                pushed: Vec::new(),
            };
            self.contexts.insert(id, modes);
        }
        Ok(())
    }

    fn mgn_destroy_context(&mut self, id: u32) -> Result<(), Fault> {
        self.contexts.remove(&id);
        self.next.mgn_destroy_context(id)
    }

    fn gl_polygon_mode(&mut self, face: u32, mode: u32) -> Result<(), Fault> {
        let is_mode = matches!(mode, gl::GL_POINT | gl::GL_LINE | gl::GL_FILL);
        if !is_mode {
            // An error, which the driver must find.
            return self.next.gl_polygon_mode(face, mode);
        }
        if let Some(modes) = self.modes() {
            if face != gl::GL_BACK {
                modes.now[0] = mode;
            }
            if face != gl::GL_FRONT {
                modes.now[1] = mode;
            }
        }
        self.next.gl_polygon_mode(face, gl::GL_LINE)
    }

    fn gl_push_attrib(&mut self, mask: u32) -> Result<(), Fault> {
        if let Some(modes) = self.modes() {
            let kept = (mask & gl::GL_POLYGON_BIT != 0).then_some(modes.now);
            modes.pushed.push(kept);
        }
        self.next.gl_push_attrib(mask)
    }

    fn gl_pop_attrib(&mut self) -> Result<(), Fault> {
        if let Some(modes) = self.modes() {
            modes.now = modes.pushed.pop().flatten().unwrap_or(modes.now);
        }
        self.next.gl_pop_attrib()
    }

    fn gl_get_integerv(&mut self, pname: u32, count: u32, reply: &mut Reply) -> Result<(), Fault> {
        match self.modes() {
            Some(modes) if pname == gl::GL_POLYGON_MODE => {
                reply.array(&modes.now.map(|mode| mode as i32), count);
                Ok(())
            }
            _ => self.next.gl_get_integerv(pname, count, reply),
        }
    }
}
