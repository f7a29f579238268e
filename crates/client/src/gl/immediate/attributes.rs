//! Attributes and vertices outside of a run, or that change the run's layout.

use crate::context::Context;
use crate::immediate::block::Block;
use crate::immediate::Phase;
use mgn_wire::draws::attr;
use mgn_wire::gl;

impl Context {
    /// Sets an attribute, as its entry point does.
    pub fn set_attribute(&mut self, attribute: u8, value: [f32; 4]) {
        let components = match attribute {
            attr::NORMAL | attr::SECONDARY => 3,
            attr::FOG | attr::INDEX => 1,
            attr::EDGE_FLAG => {
                self.go_verbatim();
                1
            }
            _ => 4,
        };
        let [x, y, z, w] = value;
        self.attribute(attribute, components, x, y, z, w);
    }

    /// Adds a vertex, as its entry point does.
    pub fn make_vertex(&mut self, components: u8, value: [f32; 4]) {
        let [x, y, z, w] = value;
        self.slow_vertex(components, x, y, z, w);
    }

    /// Sets an attribute outside of any run, or one that the run's layout does not hold in this
    /// form.
    #[cold]
    #[inline(never)]
    pub(super) extern "C" fn attribute(
        &mut self,
        attribute: u8,
        components: u8,
        x: f32,
        y: f32,
        z: f32,
        w: f32,
    ) {
        let value = [x, y, z, w];
        let im = &mut self.gl.immediate;
        if im.phase != Phase::Run {
            if !self.has_attribute(attribute, components) {
                return self.set_error(gl::GL_INVALID_OPERATION);
            }
            self.gl.state.set_current(usize::from(attribute), value);
            return self.send_attribute(attribute, components, value);
        }
        let have = im.components[usize::from(attribute)];
        if have < components && !self.restart_run(Some((attribute, components))) {
            self.go_verbatim();
        }
        let im = &mut self.gl.immediate;
        if im.phase != Phase::Run {
            return self.attribute(attribute, components, x, y, z, w);
        }
        im.template[usize::from(im.slot[usize::from(attribute)])] = Block::new(value);
    }

    /// Whether the context's API has a command for this attribute with this number of components.
    fn has_attribute(&self, attribute: u8, components: u8) -> bool {
        match attribute {
            _ if self.gl.is_compat() => true,
            attr::GENERIC.. => !self.gl.is_es1(),
            attr::COLOR | attr::TEXCOORD.. => self.gl.is_es1() && components == 4,
            attr::NORMAL => self.gl.is_es1(),
            _ => false,
        }
    }

    /// A vertex that the fast path could not handle. The values are separate arguments and this is
    /// a C function, so that the fast path needs no stack: the values stay in registers, and the
    /// call becomes a jump, because it cannot unwind.
    #[cold]
    #[inline(never)]
    pub(super) extern "C" fn slow_vertex(
        &mut self,
        components: u8,
        x: f32,
        y: f32,
        z: f32,
        w: f32,
    ) {
        let value = [x, y, z, w];
        let im = &mut self.gl.immediate;
        match im.phase {
            Phase::Outside if im.compiling => return self.send_vertex(components, value),
            Phase::Outside if !im.is_there => return self.set_error(gl::GL_INVALID_OPERATION),
            // Undefined by the specification, ignored by Mesa.
            Phase::Outside => return,
            Phase::Verbatim => return self.send_vertex(components, value),
            Phase::Run => {}
        }
        let change = (im.layout.position() < components).then_some((attr::POSITION, components));
        let full = change.is_none() && im.at > im.limit[usize::from(im.layout.position())];
        if (change.is_some() || full) && !self.restart_run(change) {
            self.go_verbatim();
        }
        let im = &mut self.gl.immediate;
        if im.phase != Phase::Run {
            return self.slow_vertex(components, x, y, z, w);
        }
        im.append(im.at, &value[..usize::from(im.layout.position())]);
    }

    pub(super) fn send_vertex(&mut self, components: u8, v: [f32; 4]) {
        match components {
            2 => self.enc.gl_vertex2f(v[0], v[1]),
            3 => self.enc.gl_vertex3f(v[0], v[1], v[2]),
            _ => self.enc.gl_vertex4f(v[0], v[1], v[2], v[3]),
        }
    }

    /// Sends an attribute by itself. Inlined, so that only the code for the attribute of the entry
    /// point remains.
    #[inline(always)]
    pub(super) fn send_attribute(&mut self, attribute: u8, components: u8, v: [f32; 4]) {
        // The context has the command and the attribute, so no doubt is added. For OpenGL ES 1,
        // only the server knows.
        let before = (!self.gl.is_es1()).then_some(self.enc.doubt);
        let enc = &mut self.enc;
        match (attribute, components) {
            (attr::NORMAL, _) => enc.gl_normal3f(v[0], v[1], v[2]),
            (attr::COLOR, 3) => enc.gl_color3f(v[0], v[1], v[2]),
            (attr::COLOR, _) => enc.gl_color4f(v[0], v[1], v[2], v[3]),
            (attr::SECONDARY, _) => enc.gl_secondary_color3f(v[0], v[1], v[2]),
            (attr::FOG, _) => enc.gl_fog_coordf(v[0]),
            (attr::INDEX, _) => enc.gl_indexf(v[0]),
            (attr::EDGE_FLAG, _) => enc.gl_edge_flag(u8::from(v[0] != 0.0)),
            (attr::TEXCOORD, 1) => enc.gl_tex_coord1f(v[0]),
            (attr::TEXCOORD, 2) => enc.gl_tex_coord2f(v[0], v[1]),
            (attr::TEXCOORD, 3) => enc.gl_tex_coord3f(v[0], v[1], v[2]),
            // OpenGL ES 1 has only this form.
            (attr::TEXCOORD, _) if self.gl.api == mgn_wire::hello::api::ES1 => {
                enc.gl_multi_tex_coord4f(gl::GL_TEXTURE0, v[0], v[1], v[2], v[3])
            }
            (attr::TEXCOORD, _) => enc.gl_tex_coord4f(v[0], v[1], v[2], v[3]),
            (a, n) if a < attr::GENERIC => {
                let unit = gl::GL_TEXTURE0 + u32::from(a - attr::TEXCOORD);
                match n {
                    1 => enc.gl_multi_tex_coord1f(unit, v[0]),
                    2 => enc.gl_multi_tex_coord2f(unit, v[0], v[1]),
                    3 => enc.gl_multi_tex_coord3f(unit, v[0], v[1], v[2]),
                    _ => enc.gl_multi_tex_coord4f(unit, v[0], v[1], v[2], v[3]),
                }
            }
            (a, n) => {
                let index = u32::from(a - attr::GENERIC);
                match n {
                    1 => enc.gl_vertex_attrib1f(index, v[0]),
                    2 => enc.gl_vertex_attrib2f(index, v[0], v[1]),
                    3 => enc.gl_vertex_attrib3f(index, v[0], v[1], v[2]),
                    _ => enc.gl_vertex_attrib4f(index, v[0], v[1], v[2], v[3]),
                }
            }
        }
        if let Some(before) = before {
            self.enc.doubt = before;
        }
    }
}
