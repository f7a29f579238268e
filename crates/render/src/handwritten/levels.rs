//! Texture images that are sent to the client in answers, or written to pixel buffer objects.

use super::readback::nothing;
use crate::bounds::TOO_FAR;
use crate::generated::driver::Gl;
use crate::names::Class;
use crate::renderer::Renderer;
use mgn_wire::sizes::image::tight_image_bytes;
use mgn_wire::{gl::*, Fault, Reply, LONG_MAX};
use std::ffi::c_void;

/// How a command identifies its texture. Names are the driver's.
#[derive(Clone, Copy)]
enum Of {
    Target(u32),
    /// The texture's own target, as the client knows it.
    Name(u32, u32),
    NameAndTarget(u32, u32),
    UnitAndTarget(u32, u32),
}

impl Of {
    fn parameter(self, gl: &Gl, level: i32, pname: u32) -> i32 {
        let mut values = [0; 4];
        let to = values.as_mut_ptr();
        // All faces have the same size.
        let face = |target| match target {
            GL_TEXTURE_CUBE_MAP => GL_TEXTURE_CUBE_MAP_POSITIVE_X,
            target => target,
        };
        // SAFETY: one integer is written; there is room for more.
        unsafe {
            match self {
                Of::Target(target) => (gl.glGetTexLevelParameteriv)(target, level, pname, to),
                Of::Name(name, _) => (gl.glGetTextureLevelParameteriv)(name, level, pname, to),
                Of::NameAndTarget(name, target) => {
                    (gl.glGetTextureLevelParameterivEXT)(name, face(target), level, pname, to)
                }
                Of::UnitAndTarget(unit, target) => {
                    (gl.glGetMultiTexLevelParameterivEXT)(unit, face(target), level, pname, to)
                }
            }
        }
        values[0]
    }

    /// The sides of a level's image in memory: a cube map has six faces as its depth, and each
    /// layer of a 1D array is an image of its own.
    fn packed(self, [width, height, depth]: [i128; 3]) -> [i128; 3] {
        match self.target() {
            GL_TEXTURE_CUBE_MAP => [width, height, 6],
            GL_TEXTURE_1D_ARRAY => [width, 1, height],
            _ => [width, height, depth],
        }
    }

    /// The target of the image: the cube map itself if the image has all its faces.
    fn target(self) -> u32 {
        match self {
            // Mesa takes a single face for all faces here.
            Of::UnitAndTarget(
                _,
                GL_TEXTURE_CUBE_MAP_POSITIVE_X..=GL_TEXTURE_CUBE_MAP_NEGATIVE_Z,
            ) => GL_TEXTURE_CUBE_MAP,
            Of::Target(target)
            | Of::Name(_, target)
            | Of::NameAndTarget(_, target)
            | Of::UnitAndTarget(_, target) => target,
        }
    }
}

/// The part of a texture that a command wants.
struct Wanted {
    of: Of,
    level: i32,
    /// The extent of a part of the level, if the command wants only a part.
    part: Option<[i32; 3]>,
    /// Format and type; none for compressed blocks.
    pixels: Option<(u32, u32)>,
    /// The offset in the pixel pack buffer, if one is bound; none for commands that the client does
    /// not send in that case.
    offset: Option<u64>,
    /// Whether the command tells the driver how much room there is.
    bounded: bool,
}

impl Wanted {
    fn all(of: Of, level: i32, pixels: Option<(u32, u32)>) -> Wanted {
        Wanted {
            of,
            level,
            part: None,
            pixels,
            offset: None,
            bounded: false,
        }
    }

    fn to(self, offset: u64) -> Wanted {
        Wanted {
            offset: Some(offset),
            ..self
        }
    }

    fn bounded(self) -> Wanted {
        Wanted {
            bounded: true,
            ..self
        }
    }

    /// The extent and target of the level, and the bytes of the image if its size is known. A bad
    /// target, level or kind of image is an error here, as it is when the image is fetched.
    fn size(&self, gl: &Gl) -> ([i32; 4], Result<Option<usize>, u32>) {
        let target = self.of.target();
        let [width, height, depth] = [GL_TEXTURE_WIDTH, GL_TEXTURE_HEIGHT, GL_TEXTURE_DEPTH]
            .map(|p| self.of.parameter(gl, self.level, p));
        let depth = match target {
            GL_TEXTURE_CUBE_MAP if depth > 0 => 6,
            _ => depth,
        };
        let level = [width, height, depth, target as i32];
        // SAFETY: no arguments.
        let error = || match unsafe { (gl.glGetError)() } {
            GL_NO_ERROR => Ok(()),
            error => Err(error),
        };
        let size = match error() {
            // Nothing is written. The driver decides whether this is an error.
            Ok(()) if [width, height, depth].contains(&0) => Ok(Some(0)),
            Ok(()) => {
                let bytes = self.bytes(gl, level);
                error().map(|()| bytes)
            }
            Err(error) => Err(error),
        };
        (level, size)
    }

    /// Bytes of the image without padding, for a level of this extent and target.
    fn bytes(&self, gl: &Gl, [width, height, depth, target]: [i32; 4]) -> Option<usize> {
        let [w, h, d] = self.part.unwrap_or([width, height, depth]);
        if let Some((format, type_)) = self.pixels {
            return tight_image_bytes(w, h, d, format, type_);
        }
        let faces = if target as u32 == GL_TEXTURE_CUBE_MAP {
            6
        } else {
            1
        };
        let image = self
            .of
            .parameter(gl, self.level, GL_TEXTURE_COMPRESSED_IMAGE_SIZE);
        let image = usize::try_from(image).ok()?.checked_mul(faces)?;
        if self.part.is_none() {
            return Some(image);
        }
        let format = self
            .of
            .parameter(gl, self.level, GL_TEXTURE_INTERNAL_FORMAT);
        let side = |pname| {
            let mut side = 0;
            // SAFETY: one integer is written.
            unsafe {
                (gl.glGetInternalformativ)(target as u32, format as u32, pname, 1, &mut side)
            };
            usize::try_from(side).ok().filter(|side| *side > 0)
        };
        let (across, up) = (
            side(GL_TEXTURE_COMPRESSED_BLOCK_WIDTH)?,
            side(GL_TEXTURE_COMPRESSED_BLOCK_HEIGHT)?,
        );
        let blocks = |w: i32, h: i32, d: i32| {
            let (w, h) = (usize::try_from(w).ok()?, usize::try_from(h).ok()?);
            let layer = w.div_ceil(across).checked_mul(h.div_ceil(up))?;
            layer.checked_mul(usize::try_from(d).ok()?)
        };
        let block = image.checked_div(blocks(width, height, depth)?)?;
        blocks(w, h, d)?.checked_mul(block)
    }
}

impl Renderer {
    /// Answers with the extent and target of the level and with the image, without padding. Answers
    /// with nothing after an error, and if the image goes to the pack buffer. `fetch` gets the
    /// number of bytes that there is room for.
    fn answer_level(
        &mut self,
        wanted: Wanted,
        reply: &mut Reply,
        fetch: impl FnOnce(&Gl, i32, *mut c_void),
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if self.is_in_primitive() {
            nothing(reply, true);
            return Ok(());
        }
        if self.pixel_buffer(GL_PIXEL_PACK_BUFFER_BINDING) {
            let Some(offset) = wanted.offset else {
                return Err(Fault::refused(
                    "an answer was requested for an image that goes to a buffer",
                ));
            };
            let to = self.pack_target(offset)?;
            let may_pack = match wanted.pixels {
                Some(pixels) => {
                    let level = self.level_to_pack(wanted.of, wanted.level);
                    level.is_some_and(|level| {
                        let all = wanted.of.packed(level);
                        let sides = wanted.part.map_or(all, |part| part.map(i128::from));
                        self.may_pack_upwards(offset, sides, pixels)
                    })
                }
                None => self.may_pack_blocks(wanted.of, wanted.level, offset),
            };
            if may_pack {
                fetch(&self.gl, i32::MAX, to);
            }
            nothing(reply, true);
            return Ok(());
        }
        self.error();
        let (level, size) = self.unheard(|r| wanted.size(&r.gl));
        let bytes = match size {
            Ok(Some(bytes)) if bytes > LONG_MAX => Err(GL_OUT_OF_MEMORY),
            Ok(Some(bytes)) => Ok(bytes),
            // With no room, the driver writes nothing and raises the right error.
            _ if wanted.bounded => Ok(0),
            Ok(None) => Err(GL_INVALID_ENUM),
            Err(error) => Err(error),
        };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => {
                self.set_error(error);
                nothing(reply, true);
                return Ok(());
            }
        };
        self.pack(true)?;
        let [width, height, depth, target] = level;
        let [w, h, d] = wanted.part.unwrap_or([width, height, depth]);
        reply.array(&[w, h, d, target], 4);
        let to = reply.room(bytes).as_mut_ptr();
        fetch(&self.gl, bytes as i32, to.cast());
        // SAFETY: no arguments.
        let error = unsafe { (self.gl.glGetError)() };
        if error != GL_NO_ERROR {
            self.keep_error(error);
            nothing(reply, true);
        }
        Ok(())
    }

    /// Whether the driver is sure to write compressed blocks only inside the pack buffer; raises an
    /// error if not. Mesa's own check can overflow: it adds the blocks' size to the offset before
    /// it compares, and multiplies parts of that size in 32 bits.
    fn may_pack_blocks(&mut self, of: Of, level: i32, offset: u64) -> bool {
        let Some([width, height, depth]) = self.level_to_pack(of, level) else {
            return false;
        };
        let Some(cx) = self.cx.as_deref() else {
            return false;
        };
        let number = |pname| cx.pixel_store.number(pname);
        let block = number(GL_PACK_COMPRESSED_BLOCK_SIZE);
        let blocks = |side: i128, per_block: i128| side / per_block.max(1) + 1;
        // No format has blocks of less than three pixels, or of more than 16 bytes.
        let row = (blocks(width, 3) * 16).max(
            block
                * blocks(
                    number(GL_PACK_ROW_LENGTH),
                    number(GL_PACK_COMPRESSED_BLOCK_WIDTH),
                ),
        );
        let up = number(GL_PACK_COMPRESSED_BLOCK_HEIGHT);
        let rows = [
            blocks(height, 3),
            blocks(height, up),
            blocks(number(GL_PACK_IMAGE_HEIGHT), up),
        ];
        let rows = rows.into_iter().max().unwrap_or(0);
        let skipped = number(GL_PACK_SKIP_IMAGES) * rows + number(GL_PACK_SKIP_ROWS);
        let most = (depth.max(6) * rows + skipped) * row + number(GL_PACK_SKIP_PIXELS) * block;
        let fits = block == 0 || most < i128::from(i32::MAX);
        let may = fits && offset <= TOO_FAR as u64;
        if !may {
            self.set_error(GL_INVALID_OPERATION);
        }
        may
    }

    /// The extent of a level. If there is no such texture or level, none and an error, because Mesa
    /// does not check this in all commands.
    fn level_to_pack(&mut self, of: Of, level: i32) -> Option<[i128; 3]> {
        let (sides, error) = self.unheard(|r| {
            r.error();
            let sides = [GL_TEXTURE_WIDTH, GL_TEXTURE_HEIGHT, GL_TEXTURE_DEPTH];
            let sides = sides.map(|pname| i128::from(of.parameter(&r.gl, level, pname)));
            // SAFETY: no arguments.
            (sides, unsafe { (r.gl.glGetError)() })
        });
        if error != GL_NO_ERROR {
            self.set_error(error);
            return None;
        }
        Some(sides)
    }

    /// Runs a command for the active texture unit with another unit active.
    pub(crate) fn on_unit(&self, unit: u32, command: impl FnOnce(&Gl)) {
        let units = self.driver_integer(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS);
        if unit.wrapping_sub(GL_TEXTURE0) >= units as u32 {
            return self.set_error(GL_INVALID_OPERATION);
        }
        let compiles = self.cx.as_ref().is_some_and(|cx| cx.compiling.is_some());
        // SAFETY: the context is current.
        unsafe {
            if compiles {
                // In a list, the unit that will be active when the list is called is unknown.
                (self.gl.glPushAttrib)(GL_TEXTURE_BIT);
                (self.gl.glActiveTexture)(unit);
                command(&self.gl);
                (self.gl.glPopAttrib)();
            } else {
                let active = self.driver_integer(GL_ACTIVE_TEXTURE) as u32;
                (self.gl.glActiveTexture)(unit);
                command(&self.gl);
                (self.gl.glActiveTexture)(active);
            }
        }
    }

    /// If the texture is missing, or the level is beyond GL_TEXTURE_MAX_LEVEL, Mesa raises the
    /// error and still accesses the texture. GL_TEXTURE_MAX_LEVEL may be larger than the number of
    /// levels that Mesa has room for.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn handwritten_gl_invalidate_tex_sub_image(
        &mut self,
        texture: u32,
        level: i32,
        x: i32,
        y: i32,
        z: i32,
        width: i32,
        height: i32,
        depth: i32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let texture = self.object(Class::Texture, texture);
        // SAFETY: the context is current.
        unsafe {
            let largest = self.driver_integer(GL_MAX_TEXTURE_SIZE).max(1);
            let has_level = (0..=largest.ilog2() as i32).contains(&level);
            let is_texture = (self.gl.glIsTexture)(texture) != 0;
            // A driver without this command leaves the value unchanged.
            let mut last = i32::MAX;
            if is_texture {
                (self.gl.glGetTextureParameteriv)(texture, GL_TEXTURE_MAX_LEVEL, &mut last);
            }
            if !has_level || !is_texture || level > last {
                self.set_error(GL_INVALID_VALUE);
                return Ok(());
            }
            (self.gl.glInvalidateTexSubImage)(texture, level, x, y, z, width, height, depth);
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_tex_image(
        &mut self,
        target: u32,
        level: i32,
        format: u32,
        type_: u32,
        _extent_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        let wanted = Wanted::all(Of::Target(target), level, Some((format, type_)));
        // Not glGetnTexImage, because the driver's messages would mention that name.
        self.answer_level(wanted, reply, |gl, _, to| {
            // SAFETY: there is room for the tight image, and the driver packs tightly.
            unsafe { (gl.glGetTexImage)(target, level, format, type_, to) };
        })
    }

    pub(crate) fn handwritten_mgn_get_tex_image_to(
        &mut self,
        target: u32,
        level: i32,
        format: u32,
        type_: u32,
        offset: u64,
    ) -> Result<(), Fault> {
        let to = self.pack_target(offset)?;
        let of = Of::Target(target);
        let may_pack = !self.packs_upwards()
            || self.level_to_pack(of, level).is_some_and(|level| {
                self.may_pack_upwards(offset, of.packed(level), (format, type_))
            });
        if may_pack {
            // SAFETY: the address is an offset into the bound pack buffer, within which the driver
            // keeps.
            unsafe { (self.gl.glGetTexImage)(target, level, format, type_, to) };
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_compressed_tex_image(
        &mut self,
        target: u32,
        level: i32,
        _extent_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        let wanted = Wanted::all(Of::Target(target), level, None);
        self.answer_level(wanted, reply, |gl, _, to| {
            // SAFETY: there is room for the image, whose size the driver has told.
            unsafe { (gl.glGetCompressedTexImage)(target, level, to) };
        })
    }

    pub(crate) fn handwritten_mgn_get_compressed_tex_image_to(
        &mut self,
        target: u32,
        level: i32,
        offset: u64,
    ) -> Result<(), Fault> {
        let to = self.pack_target(offset)?;
        if self.may_pack_blocks(Of::Target(target), level, offset) {
            // SAFETY: the address is an offset into the bound pack buffer, within which the driver
            // keeps.
            unsafe { (self.gl.glGetCompressedTexImage)(target, level, to) };
        }
        Ok(())
    }
}

/// Commands that write an image to memory or, which `offset` is for, to the pack buffer: all
/// arguments before the image's format, after a semicolon what the client adds to them; how the
/// texture is called, the level, and the extent of a part. `room` commands are told how much room
/// there is; `free` ones are not, and have what the image takes.
macro_rules! levels {
    ($($kind:ident $bound:ident $hand:ident = $gl:ident($first:ident$(; $own:ident)?$(, $arg:ident: $ty:ty)*) $of:ident($($by:ident$(: $class:ident)?),*) $level:ident $([$w:ident $h:ident $d:ident])?;)*) => {
        $(levels! { @$kind $bound $hand $gl ($first ($($own)?) $($arg: $ty),*) $of ($($by),*) $level ($($($class $by)?)*) ($([$w, $h, $d])?) })*
    };
    (@image $bound:ident $hand:ident $gl:ident ($first:ident ($($own:ident)?) $($arg:ident: $ty:ty),*) $of:ident ($($by:ident),*) $level:ident ($($class:ident $name:ident)?) ($($part:expr)?)) => {
        impl Renderer {
            #[allow(clippy::too_many_arguments)]
            pub(crate) fn $hand(
                &mut self, $first: u32, $($own: u32,)? $($arg: $ty,)* format: u32, type_: u32, offset: u64, _extent_count: u32, reply: &mut Reply,
            ) -> Result<(), Fault> {
                self.needs_context()?;
                $(let $name = levels!(@name $bound)(self, Class::$class, $name);)?
                let wanted = Wanted::all(Of::$of($($by),*), $level, Some((format, type_))).to(offset);
                $(let wanted = Wanted { part: Some($part), ..wanted };)?
                levels!(@call $bound self reply wanted $gl ($first, $($arg,)* format, type_))
            }
        }
    };
    (@blocks $bound:ident $hand:ident $gl:ident ($first:ident ($($own:ident)?) $($arg:ident: $ty:ty),*) $of:ident ($($by:ident),*) $level:ident ($($class:ident $name:ident)?) ($($part:expr)?)) => {
        impl Renderer {
            #[allow(clippy::too_many_arguments)]
            pub(crate) fn $hand(
                &mut self, $first: u32, $($own: u32,)? $($arg: $ty,)* offset: u64, _extent_count: u32, reply: &mut Reply,
            ) -> Result<(), Fault> {
                self.needs_context()?;
                $(let $name = levels!(@name $bound)(self, Class::$class, $name);)?
                let wanted = Wanted::all(Of::$of($($by),*), $level, None).to(offset);
                $(let wanted = Wanted { part: Some($part), ..wanted };)?
                levels!(@call $bound self reply wanted $gl ($first, $($arg),*))
            }
        }
    };
    (@name room) => { Renderer::object };
    (@name free) => { Renderer::name };
    (@call room $self:ident $reply:ident $wanted:ident $gl:ident ($($arg:expr),*)) => {
        // SAFETY: the driver keeps within the room, or within the bound pack buffer.
        $self.answer_level($wanted.bounded(), $reply, |gl, room, to| unsafe { (gl.$gl)($($arg,)* room, to) })
    };
    (@call free $self:ident $reply:ident $wanted:ident $gl:ident ($($arg:expr),*)) => {
        // SAFETY: there is room for the tight image, and the driver packs tightly; or it keeps
        // within the bound pack buffer.
        $self.answer_level($wanted, $reply, |gl, _, to| unsafe { (gl.$gl)($($arg,)* to) })
    };
}

levels! {
    image room handwritten_gl_get_texture_image = glGetTextureImage(texture; target, level: i32) Name(texture: Texture, target) level;
    image room handwritten_gl_get_texture_sub_image = glGetTextureSubImage
        (texture; target, level: i32, x: i32, y: i32, z: i32, width: i32, height: i32, depth: i32) Name(texture: Texture, target) level [width height depth];
    image free handwritten_gl_get_texture_image_ext = glGetTextureImageEXT
        (texture, target: u32, level: i32) NameAndTarget(texture: Texture, target) level;
    image free handwritten_gl_get_multi_tex_image_ext = glGetMultiTexImageEXT
        (texunit, target: u32, level: i32) UnitAndTarget(texunit, target) level;
    blocks room handwritten_gl_get_compressed_texture_image = glGetCompressedTextureImage(texture; target, level: i32) Name(texture: Texture, target) level;
    blocks room handwritten_gl_get_compressed_texture_sub_image = glGetCompressedTextureSubImage
        (texture; target, level: i32, x: i32, y: i32, z: i32, width: i32, height: i32, depth: i32) Name(texture: Texture, target) level [width height depth];
    blocks free handwritten_gl_get_compressed_texture_image_ext = glGetCompressedTextureImageEXT
        (texture, target: u32, level: i32) NameAndTarget(texture: Texture, target) level;
    blocks free handwritten_gl_get_compressed_multi_tex_image_ext = glGetCompressedMultiTexImageEXT
        (texunit, target: u32, level: i32) UnitAndTarget(texunit, target) level;
}
