//! Vertex array objects of programs, and the buffers that their arrays lie in.
//!
//! Programs may legally enable arrays without memory while nothing uses them, and a client may do
//! this to make the driver read the server's memory. So arrays without a buffer are hidden from the
//! driver during draws. The driver is asked about its arrays once after each change. The renderer
//! does not derive their state from the commands: the driver may refuse a command, and a wrong
//! conclusion would make it use an offset as an address.

use super::arrays::{bits, enable, in_unit, Source};
use crate::context::Api;
use crate::names::Class;
use crate::renderer::Renderer;
use mgn_wire::draws::attr;
use mgn_wire::{gl::*, Fault, Slice};
use std::collections::HashMap;
use std::ffi::c_void;

/// The bits of the generic attributes.
const GENERICS: u32 = u32::MAX << attr::GENERIC;

/// The noted state of a vertex array object. Attributes are numbered as the stream numbers them.
#[derive(Clone)]
struct Shadow {
    /// As reported by the driver, except for `unconfirmed` attributes.
    enabled: u32,
    /// Enabled attributes without a buffer, except the `unconfirmed` ones.
    unbacked: u32,
    /// Attributes that have changed since the driver was last asked.
    unconfirmed: u32,
    /// The driver's name of the element buffer, once the driver was asked.
    element_buffer: Option<u32>,
}

impl Default for Shadow {
    fn default() -> Shadow {
        Shadow {
            enabled: 0,
            unbacked: 0,
            unconfirmed: u32::MAX,
            element_buffer: None,
        }
    }
}

impl Shadow {
    fn changed(&mut self, attribute: u8) {
        self.unconfirmed |= 1u32.checked_shl(attribute.into()).unwrap_or(0);
    }

    /// Buffers of enabled arrays may have been replaced or deleted. Disabled arrays are asked about
    /// when they are enabled.
    fn buffers_changed(&mut self) {
        self.unconfirmed |= self.enabled;
    }

    /// Notes a pointer command. For a generic attribute, the command also binds its buffer at the
    /// attribute's binding point, which other attributes may use after glVertexAttribBinding.
    fn point(&mut self, attribute: u8) {
        self.changed(attribute);
        if attribute >= attr::GENERIC {
            self.buffers_changed();
        }
    }

    fn confirm(&mut self, attribute: u8, enabled: bool, backed: bool) {
        let bit = 1 << attribute;
        self.unconfirmed &= !bit;
        self.enabled = self.enabled & !bit | u32::from(enabled) << attribute;
        self.unbacked = self.unbacked & !bit | u32::from(enabled && !backed) << attribute;
    }
}

/// The vertex array objects of a context, by the client's names.
#[derive(Default)]
pub(crate) struct VertexArrays {
    current: Box<Shadow>,
    others: HashMap<u32, Box<Shadow>>,
    /// The texture unit whose coordinates glTexCoordPointer and glEnableClientState affect, as
    /// reported by the driver.
    pub unit: u32,
}

impl VertexArrays {
    fn bind(&mut self, old: u32, new: u32) {
        let next = self.others.remove(&new).unwrap_or_default();
        let last = std::mem::replace(&mut self.current, next);
        self.others.insert(old, last);
    }

    /// Whether the program has ever had more than one vertex array object.
    pub fn are_several(&self) -> bool {
        !self.others.is_empty()
    }

    /// The arrays of the bound object may now lie in other buffers or in none.
    pub fn buffers_changed(&mut self) {
        self.current.buffers_changed();
    }

    /// Deleting a buffer detaches it from the bound object, and from no other.
    pub fn buffers_deleted(&mut self) {
        self.buffers_changed();
        self.current.element_buffer = None;
    }

    pub fn element_buffer_changed(&mut self) {
        self.current.element_buffer = None;
    }

    /// Whether arrays have changed since the driver was asked about them.
    pub fn are_unconfirmed(&self) -> bool {
        self.current.unconfirmed != 0
    }

    /// The driver's name of the element buffer, if it is known.
    pub fn noted_element_buffer(&self) -> Option<u32> {
        self.current.element_buffer
    }

    /// The enabled arrays and the texture unit, if all these arrays are known to lie in buffers.
    pub fn backed(&self) -> Option<(u32, u32)> {
        let current = &self.current;
        let all_lie_in_buffers = current.unbacked | current.unconfirmed == 0;
        all_lie_in_buffers.then_some((current.enabled, self.unit))
    }

    /// The enabled arrays that lie in buffers, and the texture unit.
    pub fn in_buffers(&self) -> (u32, u32) {
        (self.current.enabled & !self.current.unbacked, self.unit)
    }

    /// The confirmed attributes: for each, whether it is enabled, and whether it is enabled without
    /// a buffer.
    pub fn noted(&self, api: Api) -> impl Iterator<Item = (u8, (bool, bool))> + '_ {
        let current = &self.current;
        bits(arrays_of(api) & !current.unconfirmed).map(|attribute| {
            let has = |mask: u32| mask & 1 << attribute != 0;
            (attribute, (has(current.enabled), has(current.unbacked)))
        })
    }
}

impl Renderer {
    /// The driver's name of the vertex array object that the program has bound.
    pub(crate) fn program_vertex_array(&self) -> u32 {
        match self.cx.as_deref() {
            Some(cx) if cx.vertex_array == 0 => cx.default_vertex_array,
            Some(cx) => self
                .names
                .find(Class::VertexArray, cx.vertex_array)
                .unwrap_or(cx.default_vertex_array),
            None => 0,
        }
    }

    /// The driver's name of the bound object's element buffer; 0 if there is none.
    pub(crate) fn element_buffer(&mut self) -> u32 {
        let known = self
            .cx
            .as_deref()
            .map(|cx| cx.vertex_arrays.current.element_buffer);
        if let Some(Some(buffer)) = known {
            return buffer;
        }
        let told = self.asked(GL_ELEMENT_ARRAY_BUFFER_BINDING);
        let told = told.map(|buffer| buffer as u32);
        if let Some(cx) = self.cx.as_deref_mut() {
            cx.vertex_arrays.current.element_buffer = told;
        }
        told.unwrap_or(0)
    }

    /// The driver's name of the buffer that pointer commands refer to; 0 if there is none.
    pub(crate) fn array_buffer(&mut self) -> u32 {
        if let Some(Some(buffer)) = self.cx.as_deref().map(|cx| cx.array_buffer) {
            return buffer;
        }
        let told = self.asked(GL_ARRAY_BUFFER_BINDING);
        let told = told.map(|buffer| buffer as u32);
        if let Some(cx) = self.cx.as_deref_mut() {
            cx.array_buffer = told;
        }
        told.unwrap_or(0)
    }

    /// The enabled arrays of the bound object.
    pub(crate) fn enabled_arrays(&mut self) -> u32 {
        self.confirm_arrays();
        let arrays = self.cx.as_deref().map(|cx| &cx.vertex_arrays);
        arrays.map_or(0, |arrays| arrays.current.enabled)
    }

    /// Whether a draw would read buffers.
    pub(crate) fn draws_read_buffers(&mut self) -> bool {
        self.confirm_arrays();
        let current = self.cx.as_deref().map(|cx| &cx.vertex_arrays.current);
        current.is_some_and(|current| current.enabled & !current.unbacked != 0)
            || self.element_buffer() != 0
    }

    /// Asks the driver about the arrays that have changed since it was last asked. Between glBegin
    /// and glEnd the driver does not answer, and they stay unconfirmed.
    pub(crate) fn confirm_arrays(&mut self) {
        let Some(cx) = self.cx.as_deref() else { return };
        let unconfirmed = cx.vertex_arrays.current.unconfirmed & arrays_of(cx.api);
        let unit = cx.vertex_arrays.unit;
        if cx.vertex_arrays.current.unconfirmed == 0 || !self.has_no_primitive() {
            return;
        }
        // A query that the driver lacks raises an error, which the program must not see. The array
        // then counts as not enabled.
        let answers = self.unheard(|r| {
            r.error();
            let ask = |attribute| (attribute, r.array(attribute, unit));
            let answers: Vec<_> = bits(unconfirmed).map(ask).collect();
            // SAFETY: takes no arguments.
            unsafe { (r.gl.glGetError)() };
            answers
        });
        let Some(cx) = self.cx.as_deref_mut() else {
            return;
        };
        let current = &mut cx.vertex_arrays.current;
        current.unconfirmed = 0;
        for (attribute, (enabled, backed)) in answers {
            current.confirm(attribute, enabled, backed);
        }
    }

    /// Whether the driver has an array enabled, and whether it lies in a buffer.
    pub(crate) fn array(&self, attribute: u8, unit: u32) -> (bool, bool) {
        let gl = &self.gl;
        if attribute >= attr::GENERIC {
            let index = u32::from(attribute - attr::GENERIC);
            let mut values = [0i32; 4];
            let mut ask = |pname| {
                // SAFETY: the context is current; at most four numbers are written.
                unsafe { (gl.glGetVertexAttribiv)(index, pname, values.as_mut_ptr()) };
                std::mem::take(&mut values[0]) != 0
            };
            let enabled = ask(GL_VERTEX_ATTRIB_ARRAY_ENABLED);
            return (
                enabled,
                enabled && ask(GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING),
            );
        }
        let (array, binding) = match attribute {
            attr::POSITION => (GL_VERTEX_ARRAY, GL_VERTEX_ARRAY_BUFFER_BINDING),
            attr::NORMAL => (GL_NORMAL_ARRAY, GL_NORMAL_ARRAY_BUFFER_BINDING),
            attr::COLOR => (GL_COLOR_ARRAY, GL_COLOR_ARRAY_BUFFER_BINDING),
            attr::SECONDARY => (
                GL_SECONDARY_COLOR_ARRAY,
                GL_SECONDARY_COLOR_ARRAY_BUFFER_BINDING,
            ),
            attr::FOG => (GL_FOG_COORD_ARRAY, GL_FOG_COORD_ARRAY_BUFFER_BINDING),
            attr::INDEX => (GL_INDEX_ARRAY, GL_INDEX_ARRAY_BUFFER_BINDING),
            attr::EDGE_FLAG => (GL_EDGE_FLAG_ARRAY, GL_EDGE_FLAG_ARRAY_BUFFER_BINDING),
            attr::POINT_SIZE => (
                GL_POINT_SIZE_ARRAY_OES,
                GL_POINT_SIZE_ARRAY_BUFFER_BINDING_OES,
            ),
            _ => (
                GL_TEXTURE_COORD_ARRAY,
                GL_TEXTURE_COORD_ARRAY_BUFFER_BINDING,
            ),
        };
        let ask = || {
            // Not glIsEnabled: while a list is compiled that has begun a primitive, Mesa refuses
            // it, but answers all other queries.
            let enabled = self.driver_integer(array) != 0;
            (enabled, enabled && self.driver_integer(binding) != 0)
        };
        match attribute.checked_sub(attr::TEXCOORD) {
            // SAFETY: as above.
            Some(of) => unsafe { in_unit(gl, u32::from(of), unit, ask) },
            None => ask(),
        }
    }

    /// Disables the arrays that have no buffer, and returns them. Fails if the driver does not
    /// answer.
    pub(crate) fn hide_unbacked(&mut self) -> Result<u32, Fault> {
        self.confirm_arrays();
        let Some(cx) = self.cx.as_deref() else {
            return Err(Fault::NoContext);
        };
        let current = &cx.vertex_arrays.current;
        if current.unconfirmed != 0 {
            return Err(Fault::refused(
                "a draw between glBegin and glEnd from arrays that have changed",
            ));
        }
        let unbacked = current.unbacked;
        self.toggle(unbacked, false);
        Ok(unbacked)
    }

    /// Enables again what `hide_unbacked` disabled.
    pub(crate) fn show_unbacked(&mut self, hidden: u32) {
        self.toggle(hidden, true);
    }

    fn toggle(&self, mask: u32, on: bool) {
        let Some(cx) = self.cx.as_deref() else { return };
        for attribute in bits(mask) {
            // SAFETY: the context is current.
            unsafe { enable(&self.gl, attribute, on, cx.vertex_arrays.unit) };
        }
    }

    pub(crate) fn handwritten_gl_bind_vertex_array(&mut self, array: u32) -> Result<(), Fault> {
        self.needs_context()?;
        if self.is_in_primitive() {
            return Ok(());
        }
        if self.names.find(Class::VertexArray, array).is_none() {
            self.set_error(GL_INVALID_OPERATION);
            return Ok(());
        }
        let cx = self.cx()?;
        if cx.vertex_array != array {
            cx.vertex_arrays.bind(cx.vertex_array, array);
            cx.vertex_array = array;
        }
        self.bind_programs()
    }

    /// Binds the object that the program has bound. Fails if the driver does not bind it, because
    /// the notes would then describe another object.
    fn bind_programs(&mut self) -> Result<(), Fault> {
        let driver = self.program_vertex_array();
        // SAFETY: the context is current.
        unsafe { (self.gl.glBindVertexArray)(driver) };
        match self.asked(GL_VERTEX_ARRAY_BINDING) {
            Some(bound) if bound as u32 == driver => Ok(()),
            _ => Err(Fault::driver(
                "the driver does not bind a vertex array object",
            )),
        }
    }

    /// Forgets deleted vertex array objects. If one was bound, the program's object 0 is bound
    /// instead.
    pub(crate) fn vertex_arrays_deleted(&mut self, names: &[u32]) -> Result<(), Fault> {
        let cx = self.cx()?;
        let bound = cx.vertex_array;
        let was_bound = bound != 0 && names.contains(&bound);
        if was_bound {
            cx.vertex_arrays.bind(bound, 0);
            cx.vertex_array = 0;
        }
        for name in names {
            cx.vertex_arrays.others.remove(name);
        }
        match was_bound {
            true => self.bind_programs(),
            false => Ok(()),
        }
    }

    pub(crate) fn handwritten_gl_enable_vertex_attrib_array(
        &mut self,
        index: u32,
    ) -> Result<(), Fault> {
        self.shadow()?.changed(generic(index));
        // SAFETY: the context is current.
        unsafe { (self.gl.glEnableVertexAttribArray)(index) };
        Ok(())
    }

    pub(crate) fn handwritten_gl_disable_vertex_attrib_array(
        &mut self,
        index: u32,
    ) -> Result<(), Fault> {
        self.shadow()?.changed(generic(index));
        // SAFETY: the context is current.
        unsafe { (self.gl.glDisableVertexAttribArray)(index) };
        Ok(())
    }

    pub(crate) fn handwritten_gl_enable_client_state(&mut self, array: u32) -> Result<(), Fault> {
        if self.client_state(array)? {
            // SAFETY: the context is current.
            unsafe { (self.gl.glEnableClientState)(array) };
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_disable_client_state(&mut self, array: u32) -> Result<(), Fault> {
        if self.client_state(array)? {
            // SAFETY: the context is current.
            unsafe { (self.gl.glDisableClientState)(array) };
        }
        Ok(())
    }

    /// To be called before an array of the fixed function is enabled or disabled. False if
    /// glEnableClientState must not reach the driver: Mesa enables arrays that the context's API
    /// lacks, and does not report them.
    pub(super) fn client_state(&mut self, array: u32) -> Result<bool, Fault> {
        let attribute = match array {
            GL_VERTEX_ARRAY => attr::POSITION,
            GL_NORMAL_ARRAY => attr::NORMAL,
            GL_COLOR_ARRAY => attr::COLOR,
            GL_SECONDARY_COLOR_ARRAY => attr::SECONDARY,
            GL_FOG_COORD_ARRAY => attr::FOG,
            GL_INDEX_ARRAY => attr::INDEX,
            GL_EDGE_FLAG_ARRAY => attr::EDGE_FLAG,
            GL_POINT_SIZE_ARRAY_OES => attr::POINT_SIZE,
            GL_TEXTURE_COORD_ARRAY => self.texture_coordinates()?,
            _ => return self.needs_context().map(|()| true),
        };
        let cx = self.cx()?;
        cx.vertex_arrays.current.changed(attribute);
        Ok(has_array(cx.api, attribute) || !matches!(cx.api, Api::Compat | Api::Es1))
    }

    pub(crate) fn handwritten_gl_client_active_texture(
        &mut self,
        texture: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        // SAFETY: the context is current.
        unsafe { (self.gl.glClientActiveTexture)(texture) };
        if let Some(active) = self.asked(GL_CLIENT_ACTIVE_TEXTURE) {
            let unit = (active as u32).wrapping_sub(GL_TEXTURE0);
            if unit < u32::from(attr::GENERIC - attr::TEXCOORD) {
                self.cx()?.vertex_arrays.unit = unit;
            }
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_vertex_attrib_binding(
        &mut self,
        attribindex: u32,
        bindingindex: u32,
    ) -> Result<(), Fault> {
        self.shadow()?.changed(generic(attribindex));
        // SAFETY: the context is current.
        unsafe { (self.gl.glVertexAttribBinding)(attribindex, bindingindex) };
        Ok(())
    }

    pub(crate) fn handwritten_gl_vertex_attrib_divisor(
        &mut self,
        index: u32,
        divisor: u32,
    ) -> Result<(), Fault> {
        self.shadow()?.changed(generic(index));
        // Unlike other commands about arrays, this one is compiled into lists.
        self.names.shared.lists_divide |= self.compiles();
        // SAFETY: the context is current.
        unsafe { (self.gl.glVertexAttribDivisor)(index, divisor) };
        Ok(())
    }

    pub(crate) fn handwritten_gl_bind_vertex_buffer(
        &mut self,
        bindingindex: u32,
        buffer: u32,
        offset: i64,
        stride: i32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let buffer = self.name(Class::Buffer, buffer);
        self.shadow()?.buffers_changed();
        // SAFETY: the context is current. Without a buffer, the array is hidden from draws.
        unsafe { (self.gl.glBindVertexBuffer)(bindingindex, buffer, offset, stride) };
        Ok(())
    }

    pub(crate) fn handwritten_gl_bind_vertex_buffers(
        &mut self,
        first: u32,
        count: i32,
        buffers: Slice<'_, u32>,
        offsets: Slice<'_, i64>,
        strides: Slice<'_, i32>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let buffers = self.name_array(Class::Buffer, buffers);
        let (offsets, strides) = (offsets.copied(), strides.copied());
        if buffers.is_some() && (offsets.is_none() || strides.is_none()) {
            return Err(Fault::ShortArray);
        }
        self.shadow()?.buffers_changed();
        // SAFETY: the decoder has checked that each array that is present holds `count` elements;
        // without `buffers` the others are not read.
        unsafe {
            (self.gl.glBindVertexBuffers)(
                first,
                count,
                pointer(&buffers),
                pointer(&offsets),
                pointer(&strides),
            );
        }
        Ok(())
    }

    fn shadow(&mut self) -> Result<&mut Shadow, Fault> {
        Ok(&mut self.cx()?.vertex_arrays.current)
    }

    fn texture_coordinates(&mut self) -> Result<u8, Fault> {
        Ok(attr::TEXCOORD + self.cx()?.vertex_arrays.unit as u8)
    }

    /// Notes a pointer command; false if the driver refuses it. Fails if the array would lie at an
    /// address instead of in a buffer.
    fn pointed(&mut self, attribute: u8, offset: u64) -> Result<bool, Fault> {
        self.needs_context()?;
        if self.is_in_primitive() {
            return Ok(false);
        }
        if self.array_buffer() == 0 && offset != 0 {
            return Err(Fault::refused("an array at an address of the server's"));
        }
        self.shadow()?.point(attribute);
        Ok(true)
    }
}

pub(crate) fn has_array(api: Api, attribute: u8) -> bool {
    arrays_of(api) & 1 << attribute != 0
}

/// The attributes that vertex arrays of an API may have.
fn arrays_of(api: Api) -> u32 {
    const COMMON: u32 = 1 << attr::POSITION | 1 << attr::NORMAL | 1 << attr::COLOR;
    const COORDINATES: u32 = (GENERICS - 1) & (u32::MAX << attr::TEXCOORD);
    match api {
        Api::Compat => !(1 << attr::POINT_SIZE),
        Api::Es1 => COMMON | 1 << attr::POINT_SIZE | COORDINATES,
        Api::Core | Api::Es => GENERICS,
    }
}

/// The stream's number of a generic attribute. If the driver has no such attribute, a number beyond
/// all that are tracked.
fn generic(index: u32) -> u8 {
    match u8::try_from(index) {
        Ok(index) if index < attr::COUNT - attr::GENERIC => attr::GENERIC + index,
        _ => attr::COUNT,
    }
}

/// The address of an optional array for the driver.
pub(crate) fn pointer<T>(array: &Option<Vec<T>>) -> *const T {
    array.as_ref().map_or(std::ptr::null(), |v| v.as_ptr())
}

/// Pointer commands whose pointer is an offset into the bound buffer object. The attribute is in
/// brackets.
macro_rules! pointers {
    ($($hand:ident = $gl:ident($($arg:ident: $ty:ty),*) [$attribute:expr];)*) => {
        impl Renderer {
            $(pub(crate) fn $hand(&mut self, $($arg: $ty,)* pointer: u64) -> Result<(), Fault> {
                let attribute: u8 = ($attribute)(&mut *self)?;
                if self.pointed(attribute, pointer)? {
                    // SAFETY: the pointer is an offset into a buffer object, or null, which hides
                    // the array from draws.
                    unsafe { (self.gl.$gl)($($arg,)* (pointer as usize as *const c_void).cast()) };
                }
                Ok(())
            })*
        }
    };
}

/// For pointer commands that always set the same attribute.
fn always(attribute: u8) -> impl Fn(&mut Renderer) -> Result<u8, Fault> {
    move |_| Ok(attribute)
}

pointers! {
    handwritten_gl_vertex_pointer = glVertexPointer(size: i32, type_: u32, stride: i32) [always(attr::POSITION)];
    handwritten_gl_normal_pointer = glNormalPointer(type_: u32, stride: i32) [always(attr::NORMAL)];
    handwritten_gl_color_pointer = glColorPointer(size: i32, type_: u32, stride: i32) [always(attr::COLOR)];
    handwritten_gl_secondary_color_pointer = glSecondaryColorPointer(size: i32, type_: u32, stride: i32) [always(attr::SECONDARY)];
    handwritten_gl_fog_coord_pointer = glFogCoordPointer(type_: u32, stride: i32) [always(attr::FOG)];
    handwritten_gl_index_pointer = glIndexPointer(type_: u32, stride: i32) [always(attr::INDEX)];
    handwritten_gl_edge_flag_pointer = glEdgeFlagPointer(stride: i32) [always(attr::EDGE_FLAG)];
    handwritten_gl_point_size_pointer_oes = glPointSizePointerOES(type_: u32, stride: i32) [always(attr::POINT_SIZE)];
    handwritten_gl_tex_coord_pointer = glTexCoordPointer(size: i32, type_: u32, stride: i32) [Renderer::texture_coordinates];
    handwritten_gl_vertex_pointer_ext = glVertexPointerEXT(size: i32, type_: u32, stride: i32, count: i32) [always(attr::POSITION)];
    handwritten_gl_normal_pointer_ext = glNormalPointerEXT(type_: u32, stride: i32, count: i32) [always(attr::NORMAL)];
    handwritten_gl_color_pointer_ext = glColorPointerEXT(size: i32, type_: u32, stride: i32, count: i32) [always(attr::COLOR)];
    handwritten_gl_index_pointer_ext = glIndexPointerEXT(type_: u32, stride: i32, count: i32) [always(attr::INDEX)];
    handwritten_gl_edge_flag_pointer_ext = glEdgeFlagPointerEXT(stride: i32, count: i32) [always(attr::EDGE_FLAG)];
    handwritten_gl_tex_coord_pointer_ext = glTexCoordPointerEXT(size: i32, type_: u32, stride: i32, count: i32)
        [Renderer::texture_coordinates];
    handwritten_gl_vertex_attrib_pointer = glVertexAttribPointer(index: u32, size: i32, type_: u32, normalized: u8, stride: i32)
        [always(generic(index))];
    handwritten_gl_vertex_attrib_i_pointer = glVertexAttribIPointer(index: u32, size: i32, type_: u32, stride: i32) [always(generic(index))];
    handwritten_gl_vertex_attrib_l_pointer = glVertexAttribLPointer(index: u32, size: i32, type_: u32, stride: i32) [always(generic(index))];
}

impl Renderer {
    /// In a context with only one vertex array object, sets the program's arrays again after a draw
    /// that has used others. `replaced` are the program's arrays that lie in buffers.
    pub(crate) fn restore_only_arrays(&mut self, used: u32, replaced: &[Source]) {
        let array_buffer = self.array_buffer();
        let Some(cx) = self.cx.as_deref_mut().filter(|cx| cx.api == Api::Es1) else {
            return;
        };
        let gl = &self.gl;
        let unit = cx.vertex_arrays.unit;
        let wanted = cx.vertex_arrays.current.enabled;
        cx.vertex_arrays.current.unconfirmed |= used | wanted;
        // SAFETY: the context is current; each pointer is an offset into the buffer that is bound
        // when it is set.
        unsafe {
            for source in replaced {
                (gl.glBindBuffer)(GL_ARRAY_BUFFER, source.buffer);
                super::arrays::point(gl, source, true, unit);
            }
            (gl.glBindBuffer)(GL_ARRAY_BUFFER, array_buffer);
            for attribute in bits(used ^ wanted) {
                enable(gl, attribute, wanted & 1 << attribute != 0, unit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_as_the_driver_says() {
        let mut arrays = VertexArrays::default();
        // The state of a new object is unknown.
        assert_eq!(arrays.current.unconfirmed, u32::MAX);
        arrays.current.unconfirmed = 0;
        arrays.current.changed(attr::NORMAL);
        assert_eq!(arrays.current.unconfirmed, 1 << attr::NORMAL);
        arrays.current.confirm(attr::NORMAL, true, true);
        arrays.current.confirm(attr::COLOR, true, false);
        arrays.current.confirm(attr::FOG, false, false);
        let on = 1 << attr::NORMAL | 1 << attr::COLOR;
        assert_eq!(
            (arrays.current.enabled, arrays.current.unbacked),
            (on, 1 << attr::COLOR)
        );
        arrays.current.element_buffer = Some(7);
        arrays.buffers_deleted();
        assert_eq!(arrays.current.unconfirmed, on);
        assert_eq!(arrays.current.element_buffer, None);
        arrays.bind(0, 3);
        assert_eq!(arrays.current.unconfirmed, u32::MAX);
        arrays.bind(3, 0);
        assert_eq!(arrays.current.unconfirmed, on);
        arrays.current.point(attr::POSITION);
        assert_eq!(arrays.current.unconfirmed, on | 1 << attr::POSITION);
        // Such an attribute is not tracked, because no driver has it.
        assert_eq!(generic(99), attr::COUNT);
        arrays.current.changed(generic(99));
    }
}
