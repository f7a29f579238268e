//! The stacks of server and client attributes.

use mgn_wire::gl::*;

use crate::current::ATTRIBUTES;
use crate::slots::{at, slot, CLIP_AT, CLIP_PLANES, COORD_UNITS, LIGHT_AT, TABLE};
use crate::textures::Parameters;
use crate::units::{self, binding, SAVED_TARGETS, TARGETS};
use crate::{Answer, Class, GlError, State};

/// Values that belong to the same groups and lie side by side.
#[derive(Clone, Copy, Debug)]
struct Range {
    groups: u32,
    at: usize,
    values: usize,
}

/// All values that any group saves, but for those of texture units without fixed functions.
#[derive(Clone, Debug)]
pub(crate) struct Groups(Vec<Range>);

impl Groups {
    pub fn new() -> Groups {
        let mut ranges: Vec<Range> = Vec::new();
        let mut add = |groups: u32, at: usize, values: usize| match ranges.last_mut() {
            Some(last) if last.groups == groups && last.at + last.values == at => {
                last.values += values;
            }
            _ if groups != 0 => ranges.push(Range { groups, at, values }),
            _ => {}
        };
        let mut place = 0;
        for row in TABLE {
            let values = usize::from(row.values) * usize::from(row.elements);
            add(row.groups, place, values);
            place += values;
        }
        add(GL_LIGHTING_BIT, LIGHT_AT, CLIP_AT - LIGHT_AT);
        add(GL_TRANSFORM_BIT, CLIP_AT, 4 * CLIP_PLANES);
        for unit in 0..COORD_UNITS {
            let at = units::coord(unit);
            let env = units::COORD_REPLACE + 1;
            add(GL_TEXTURE_BIT | GL_ENABLE_BIT, at, units::COORD_CAPABILITIES);
            add(GL_POINT_BIT, at + units::COORD_REPLACE, 1);
            add(GL_TEXTURE_BIT, at + env, units::COORD_VALUES - env);
        }
        Groups(ranges)
    }

    /// The ranges that a mask saves.
    fn of(&self, mask: u32) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let chosen = self.0.iter().filter(move |r| r.groups & mask != 0);
        chosen.map(|r| r.at..r.at + r.values)
    }
}

/// What `glPushAttrib` saved.
#[derive(Clone)]
pub(crate) struct Saved {
    mask: u32,
    values: Vec<f64>,
    current: Option<Box<[[f32; 4]; ATTRIBUTES]>>,
    /// The draw or read buffers of the framebuffers that were bound.
    draw_buffers: Option<crate::framebuffers::DrawBuffers>,
    read_buffer: Option<f64>,
    /// Bindings of the units used so far, and the parameters of what was bound.
    units: Vec<f64>,
    textures: Vec<(usize, u32, Parameters)>,
}

/// What `glPushClientAttrib` saved of this crate's state.
#[derive(Clone)]
pub(crate) struct SavedClient {
    mask: u32,
    pixel_store: Vec<f64>,
    client_active_texture: f64,
    array_buffer: f64,
    vertex_array: f64,
    element_buffer: f64,
    restart: [f64; 2],
}

/// Names of the stacks' depths.
pub(crate) const NAMES: &[u32] = &[GL_ATTRIB_STACK_DEPTH, GL_CLIENT_ATTRIB_STACK_DEPTH];

const PIXEL_STORE: std::ops::Range<usize> =
    slot(GL_UNPACK_SWAP_BYTES)..slot(GL_PACK_REVERSE_ROW_ORDER_ANGLE) + 1;

impl State {
    pub fn gl_push_attrib(&mut self, mask: u32) -> Result<(), GlError> {
        listed!(self, gl_push_attrib(mask));
        if self.saved.len() >= self.limits.attrib_stack {
            return Err(GlError::StackOverflow);
        }
        let mut saved = Saved {
            mask,
            values: Vec::new(),
            current: None,
            draw_buffers: None,
            read_buffer: None,
            units: Vec::new(),
            textures: Vec::new(),
        };
        if mask & GL_LIGHTING_BIT != 0 {
            self.color_material_follows();
        }
        for range in self.groups.of(mask) {
            saved.values.extend_from_slice(&self.values[range]);
        }
        if mask & GL_CURRENT_BIT != 0 {
            saved.current = Some(Box::new(self.current.values));
        }
        if mask & GL_COLOR_BUFFER_BIT != 0 {
            saved.draw_buffers = Some(self.draw_buffers());
        }
        if mask & GL_PIXEL_MODE_BIT != 0 {
            saved.read_buffer = Some(self.read_buffer());
        }
        if mask & GL_TEXTURE_BIT != 0 {
            self.save_textures(&mut saved);
        }
        self.saved.push(saved);
        Ok(())
    }

    pub fn gl_pop_attrib(&mut self) -> Result<(), GlError> {
        listed!(self, gl_pop_attrib());
        let Some(saved) = self.saved.pop() else {
            return Err(GlError::StackUnderflow);
        };
        let mask = saved.mask;
        if mask & (GL_LIGHTING_BIT | GL_ENABLE_BIT | GL_CURRENT_BIT) != 0 {
            self.color_material_follows();
        }
        let mut values = &saved.values[..];
        for range in self.groups.of(mask) {
            let (these, rest) = values.split_at(range.len());
            self.values[range].copy_from_slice(these);
            values = rest;
        }
        if let Some(current) = saved.current {
            self.current.values = *current;
        }
        if let Some(buffers) = saved.draw_buffers {
            self.restore_draw_buffers(buffers);
        }
        if let Some(buffer) = saved.read_buffer {
            self.restore_read_buffer(buffer);
        }
        if mask & GL_TEXTURE_BIT != 0 {
            self.restore_textures(saved.units, saved.textures);
        }
        Ok(())
    }

    fn save_textures(&self, saved: &mut Saved) {
        for unit in 0..self.units_used {
            let at = units::unit(unit);
            saved.units.extend_from_slice(&self.values[at..at + units::UNSAVED]);
        }
        let defaults = (0..TARGETS.len()).map(|target| (target, 0));
        let places = (0..self.units_used).flat_map(|unit| {
            (0..TARGETS.len()).map(move |target| (target, units::unit(unit) + binding(target)))
        });
        let bound = places.filter_map(|(target, at)| {
            let name = self.known(at)?;
            (name != 0.).then_some((target, name as u32))
        });
        saved.textures = self.shared.saved_parameters(defaults.chain(bound));
    }

    fn restore_textures(&mut self, units: Vec<f64>, textures: Vec<(usize, u32, Parameters)>) {
        let saved_units = units.len() / units::UNSAVED;
        for unit in 0..self.units_used {
            let at = units::unit(unit);
            let values = &mut self.values[at..at + units::UNSAVED];
            match units.get(unit * units::UNSAVED..(unit + 1) * units::UNSAVED) {
                Some(saved) if unit < saved_units => values.copy_from_slice(saved),
                // Units first used since then had nothing bound.
                _ => values[..SAVED_TARGETS].fill(0.),
            }
        }
        for (target, name, parameters) in textures {
            self.shared.with_texture(target, name, |texture| {
                texture.parameters = parameters;
            });
        }
        // Textures deleted since then are bound anew, as other ones.
        for unit in 0..saved_units {
            for target in 0..SAVED_TARGETS {
                let at = units::unit(unit) + binding(target);
                if let Some(name) = self.known(at).filter(|&name| name != 0.) {
                    let known = self.shared.texture_target(name as u32);
                    if known != Some(TARGETS[target].0) {
                        self.forget_at(at, 1);
                    }
                }
            }
        }
    }

    /// `glPushClientAttrib`. The client saves its vertex arrays at the same time; this saves
    /// pixel store parameters and bindings.
    pub fn gl_push_client_attrib(&mut self, mask: u32) -> Result<(), GlError> {
        if self.saved_client.len() >= self.limits.client_attrib_stack {
            return Err(GlError::StackOverflow);
        }
        self.saved_client.push(SavedClient {
            mask,
            pixel_store: match mask & GL_CLIENT_PIXEL_STORE_BIT {
                0 => Vec::new(),
                _ => self.values[PIXEL_STORE].to_vec(),
            },
            client_active_texture: self.values[at!(GL_CLIENT_ACTIVE_TEXTURE)],
            array_buffer: self.values[at!(GL_ARRAY_BUFFER_BINDING)],
            vertex_array: self.values[at!(GL_VERTEX_ARRAY_BINDING)],
            element_buffer: self.values[at!(GL_ELEMENT_ARRAY_BUFFER_BINDING)],
            restart: [
                self.values[at!(GL_PRIMITIVE_RESTART)],
                self.values[at!(GL_PRIMITIVE_RESTART_INDEX)],
            ],
        });
        Ok(())
    }

    pub fn gl_pop_client_attrib(&mut self) -> Result<(), GlError> {
        let Some(saved) = self.saved_client.pop() else {
            return Err(GlError::StackUnderflow);
        };
        if saved.mask & GL_CLIENT_PIXEL_STORE_BIT != 0 {
            self.values[PIXEL_STORE].copy_from_slice(&saved.pixel_store);
        }
        if saved.mask & GL_CLIENT_VERTEX_ARRAY_BIT != 0 {
            self.values[at!(GL_CLIENT_ACTIVE_TEXTURE)] = saved.client_active_texture;
            self.values[at!(GL_ARRAY_BUFFER_BINDING)] = saved.array_buffer;
            self.values[at!(GL_PRIMITIVE_RESTART)] = saved.restart[0];
            self.values[at!(GL_PRIMITIVE_RESTART_INDEX)] = saved.restart[1];
            self.restore_vertex_array(saved.vertex_array, saved.element_buffer);
        }
        Ok(())
    }

    pub(crate) fn attrib_answer(&self, pname: u32) -> Answer<'_> {
        let depth = match pname {
            GL_ATTRIB_STACK_DEPTH => self.saved.len(),
            _ => self.saved_client.len(),
        };
        Answer::one(Class::Int, depth as f64)
    }
}
