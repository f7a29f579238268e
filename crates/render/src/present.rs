//! Makes a picture for the client from a finished frame.

use crate::configs::{usual, Choice};
use crate::egl::{self, attr, ApiKind, Egl};
use crate::generated::driver::Gl;
use crate::renderer::{RenderError, Renderer};
use crate::surface::{is_both, SharedSurface};
use crate::tile::{common, Rect};
use mgn_sys::Writable;
use mgn_wire::frames::{self, Header, Kind};
use mgn_wire::{gl::*, Fault};
use std::any::Any;
use std::ffi::CStr;

/// Receives pictures.
pub trait Pictures {
    /// Room for a picture of `bytes` bytes that is wanted for the purposes in `want`, bits of
    /// `frames::want`. Waits until enough of the earlier pictures have been taken. None if the
    /// picture is not wanted here.
    fn room(&mut self, want: u32, bytes: usize) -> Result<Option<Room>, Fault>;

    /// Sends the picture that was written to `room`, with `header` before it, or keeps it to be
    /// shown. `window` is the size of the window that the picture is a part of.
    fn send(
        &mut self,
        want: u32,
        header: &Header,
        window: (u32, u32),
        room: Room,
    ) -> Result<(), Fault>;

    /// Sends a header without a picture.
    fn send_header(&mut self, header: &Header) -> Result<(), Fault>;
}

/// Memory for a picture.
pub struct Room {
    memory: Box<dyn Memory>,
    /// The offset of the picture's first byte.
    offset: usize,
}

trait Memory: Writable {
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<T: Writable + 'static> Memory for T {
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl Room {
    /// Room for a picture in `memory`, from `offset` on.
    pub fn new(memory: impl Writable + 'static, offset: usize) -> Room {
        Room {
            memory: Box::new(memory),
            offset,
        }
    }

    /// The memory, for a caller that knows its type.
    pub fn into_memory(self) -> Box<dyn Any> {
        self.memory.into_any()
    }

    /// The address for a picture of `bytes` bytes. None if it does not fit.
    fn place(&mut self, bytes: usize) -> Option<*mut u8> {
        let room = self.memory.capacity().checked_sub(self.offset)?;
        (bytes <= room).then(|| self.memory.ptr().wrapping_add(self.offset))
    }
}

/// A context of the renderer's own. It reads pictures, and clears and copies buffers, without
/// touching any program's state.
#[derive(Clone)]
pub(crate) struct UtilityContext {
    pub context: egl::Context,
    /// A surface that is made current where a context has none.
    pub stand_in: egl::Surface,
    /// Whether the driver can read rows from the top down.
    pub inverts: bool,
    /// Whether the driver copies pbuffers when another context becomes current.
    pub copies_pbuffers: bool,
    /// The driver's name and release.
    pub driver: String,
}

/// The names of Mesa's software renderers.
const SOFTWARE: [&str; 2] = ["llvmpipe", "softpipe"];

const PACK_INVERT: u32 = GL_PACK_INVERT_MESA;

impl UtilityContext {
    pub fn new(egl: &Egl, gl: &Gl, configs: &[Choice]) -> Result<UtilityContext, RenderError> {
        let configless =
            egl.has("EGL_KHR_no_config_context") || egl.has("EGL_MESA_configless_context");
        let config = if configless {
            egl::NO_CONFIG
        } else {
            usual(configs).egl
        };
        let core = [
            attr::CONTEXT_MAJOR_VERSION,
            3,
            attr::CONTEXT_MINOR_VERSION,
            2,
            attr::CONTEXT_PROFILE_MASK,
            1,
        ];
        let context = egl
            .create_context(ApiKind::OpenGl, config, egl::NO_CONTEXT, &[])
            .or_else(|_| egl.create_context(ApiKind::OpenGl, config, egl::NO_CONTEXT, &core))
            .map_err(|_| RenderError::NoContext(egl.description.clone()))?;
        let stand_in = if egl.has("EGL_KHR_surfaceless_context") {
            egl::NO_SURFACE
        } else {
            egl.create_pbuffer(usual(configs).egl, false, 1, 1)?
        };
        egl.make_current(stand_in, stand_in, context)?;
        let inverts = extensions(gl).iter().any(|e| e == "GL_MESA_pack_invert");
        // SAFETY: the context is current; the commands take no pointers.
        unsafe {
            if inverts {
                (gl.glPixelStorei)(PACK_INVERT, 1);
            }
            (gl.glGetError)();
        }
        // SAFETY: the context is current; strings are null or C strings of the driver's.
        let text = |name| unsafe { string((gl.glGetString)(name)) };
        let driver = format!("{} {}", text(GL_RENDERER), text(GL_VERSION));
        egl.make_current(egl::NO_SURFACE, egl::NO_SURFACE, egl::NO_CONTEXT)?;
        Ok(UtilityContext {
            context,
            stand_in,
            inverts,
            copies_pbuffers: SOFTWARE.iter().any(|name| driver.contains(name)),
            driver,
        })
    }
}

impl UtilityContext {
    /// Runs `read` so that it reads pixels from the bottom up. The utility context is current.
    pub fn upright(&self, gl: &Gl, read: impl FnOnce()) {
        self.invert(gl, 0);
        read();
        self.invert(gl, 1);
    }

    /// Runs `read` so that it reads pixels from the top down, if the driver can. The current
    /// context is another one, which reads from the bottom up.
    pub fn inverted(&self, gl: &Gl, read: impl FnOnce()) {
        self.invert(gl, 1);
        read();
        self.invert(gl, 0);
    }

    /// Runs `read`, which reads pixels, while no buffer can be drawn to. The utility context is
    /// current. Otherwise Mesa's software renderers assume that the pbuffer was drawn to: when the
    /// context changes, they copy the whole pbuffer to memory that stands for a screen, which takes
    /// as long as reading it.
    pub fn without_drawing(&self, gl: &Gl, read: impl FnOnce()) {
        if !self.copies_pbuffers {
            return read();
        }
        let mut buffer = 0;
        // SAFETY: the utility context is current; one number is written.
        unsafe {
            (gl.glGetIntegerv)(GL_DRAW_BUFFER, &mut buffer);
            (gl.glDrawBuffer)(GL_NONE);
        }
        read();
        // SAFETY: the context is still current, and has reported this draw buffer itself.
        unsafe { (gl.glDrawBuffer)(buffer as u32) };
    }

    fn invert(&self, gl: &Gl, on: i32) {
        if self.inverts {
            // SAFETY: a context of this driver is current, and knows the parameter.
            unsafe { (gl.glPixelStorei)(PACK_INVERT, on) };
        }
    }
}

/// The current context's extensions. Asks by index where the context can, and otherwise splits the
/// one string.
pub(crate) fn extensions(gl: &Gl) -> Vec<String> {
    let mut count = 0;
    // SAFETY: one integer is written; strings are null or C strings of the driver's.
    unsafe {
        (gl.glGetIntegerv)(GL_NUM_EXTENSIONS, &mut count);
        if (gl.glGetError)() == GL_NO_ERROR && count > 0 {
            let at = |i| string((gl.glGetStringi)(GL_EXTENSIONS, i));
            return (0..count as u32).map(at).collect();
        }
        let all = string((gl.glGetString)(GL_EXTENSIONS));
        (gl.glGetError)();
        all.split_whitespace().map(str::to_owned).collect()
    }
}

/// # Safety
/// `text` is null or a C string.
pub(crate) unsafe fn string(text: *const u8) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, so a C string.
    unsafe { CStr::from_ptr(text.cast()) }
        .to_string_lossy()
        .into_owned()
}

impl Renderer {
    pub(crate) fn handwritten_mgn_swap_buffers(
        &mut self,
        surface: u32,
        frame: u32,
        want: u32,
    ) -> Result<(), Fault> {
        let (id, surface) = (surface, self.surface(surface)?);
        self.show(id, &surface, frame, want, false, None)?;
        self.front_follows(&surface)?;
        self.bind()
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn handwritten_mgn_copy_sub_buffer(
        &mut self,
        surface: u32,
        frame: u32,
        want: u32,
        x: i32,
        y: i32,
        width: i32,
        height: i32,
    ) -> Result<(), Fault> {
        let (id, surface) = (surface, self.surface(surface)?);
        let all = surface.borrow().all();
        let part = common([x, y, width, height], all);
        self.front_follows_in(&surface, part)?;
        self.show(id, &surface, frame, want, false, Some(part))?;
        self.bind()
    }

    pub(crate) fn handwritten_mgn_present_front(
        &mut self,
        surface: u32,
        frame: u32,
        want: u32,
    ) -> Result<(), Fault> {
        let (id, surface) = (surface, self.surface(surface)?);
        if self.cx.as_ref().is_some_and(|cx| is_both(cx.draw_buffer)) {
            self.front_follows(&surface)?;
        }
        let has_front = {
            let s = surface.borrow();
            s.single || s.front.is_some()
        };
        // If there is no front, nothing was drawn to it, and there is nothing new to show.
        self.show(
            id,
            &surface,
            frame,
            if has_front { want } else { 0 },
            true,
            None,
        )?;
        self.bind()
    }

    fn surface(&mut self, id: u32) -> Result<SharedSurface, Fault> {
        self.beat();
        let missing = || Fault::refused("a picture was requested of a surface that does not exist");
        self.surfaces.get(&id).cloned().ok_or_else(missing)
    }

    /// Sends the picture of a frame or of a part of it, or only the message that the frame is done.
    /// `id` is this client's name of the surface.
    fn show(
        &mut self,
        id: u32,
        surface: &SharedSurface,
        frame: u32,
        want: u32,
        front: bool,
        part: Option<Rect>,
    ) -> Result<(), Fault> {
        let context = self.cx.as_ref().map_or(0, |cx| cx.id);
        let (all, pixels, tile) = {
            let s = surface.borrow();
            let pixels = s.target(if front { GL_FRONT } else { GL_BACK });
            (s.all(), pixels, s.tile)
        };
        let part = part.unwrap_or(all);
        let part = tile.map_or(part, |tile| common(part, tile));
        let [x, y, width, height] = part;
        let inside = surface.borrow().inside(part);
        let want = if width > 0 { want } else { 0 };
        let (width, height) = (width as u32, height as u32);
        let done = Header {
            x: x as u32,
            y: (all[3] - y) as u32 - height,
            width,
            height,
            context,
            ..Header::plain(Kind::Done, id, frame)
        };
        let stride = width * 4;
        let has_depth = want & frames::want::DEPTH != 0 && surface.borrow().has_plain_depth();
        let rows = stride as usize * height as usize;
        let bytes = rows * (1 + usize::from(has_depth));
        let room = match want {
            0 => None,
            _ => self.pictures.room(want, bytes)?,
        };
        let Some(mut room) = room else {
            self.pace()?;
            return self.pictures.send_header(&done);
        };
        let to = room
            .place(bytes)
            .ok_or(Fault::server("the room for a picture is too small"))?;
        self.readable(surface, pixels)?;
        // SAFETY: `to` has room for the rows of 4-byte pixels, which the utility context's pack
        // state (alignment 4, no skips) makes contiguous, and no pack buffer is ever bound in the
        // utility context.
        unsafe { self.read(inside, to) };
        if has_depth {
            // SAFETY: `to` has room for as many rows of depths behind those of the colours.
            unsafe { self.read_depth(pixels, inside, to.add(rows)) }?;
        }
        let header = Header {
            kind: Kind::Picture,
            has_depth,
            stride,
            payload: bytes as u32,
            ..done
        };
        let window = (all[2] as u32, all[3] as u32);
        self.pictures.send(want, &header, window, room)
    }

    /// Reads a part of the current surface from the top down.
    ///
    /// # Safety
    /// There is room for `width * height * 4` bytes at `to`.
    unsafe fn read(&self, [x, y, width, height]: Rect, to: *mut u8) {
        // SAFETY: the caller gives the room.
        unsafe {
            let read = || {
                (self.gl.glReadPixels)(x, y, width, height, GL_BGRA, GL_UNSIGNED_BYTE, to.cast());
            };
            self.utility.without_drawing(&self.gl, read);
            if !self.utility.inverts {
                turn_over(to, width as usize * 4, height as usize);
            }
        }
    }

    /// Lets the driver work on one frame while the next is decoded, but on no more than one.
    fn pace(&mut self) -> Result<(), Fault> {
        // The utility context may be current, and the fence must be made in the program's context.
        self.bind()?;
        self.with_default_framebuffer_aside(|r| {
            let Some(cx) = r.cx.as_deref_mut() else {
                return;
            };
            // SAFETY: the context is current; the fence is its own, and is waited for and deleted
            // once.
            unsafe {
                if !cx.has_fences {
                    return (r.gl.glFinish)();
                }
                let next = (r.gl.glFenceSync)(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
                (r.gl.glFlush)();
                if let Some(previous) = cx.frame_fence.replace(next) {
                    wait(&r.gl, previous);
                }
            }
        });
        Ok(())
    }
}

/// Reverses the order of `count` rows of `row` bytes.
///
/// # Safety
/// `count` rows of `row` bytes lie at `rows`.
pub(crate) unsafe fn turn_over(rows: *mut u8, row: usize, count: usize) {
    for y in 0..count / 2 {
        // SAFETY: these are two different rows among the `count`.
        unsafe {
            let (above, below) = (rows.add(y * row), rows.add((count - 1 - y) * row));
            std::ptr::swap_nonoverlapping(above, below, row);
        }
    }
}

/// # Safety
/// The fence is one of the current context's group, and is not used again.
unsafe fn wait(gl: &Gl, fence: *mut std::ffi::c_void) {
    const SECOND: u64 = 1_000_000_000;
    // SAFETY: the caller's promise. The watchdog handles drivers that never signal.
    unsafe {
        while (gl.glClientWaitSync)(fence, GL_SYNC_FLUSH_COMMANDS_BIT, SECOND) == GL_TIMEOUT_EXPIRED
        {
        }
        (gl.glDeleteSync)(fence);
    }
}
