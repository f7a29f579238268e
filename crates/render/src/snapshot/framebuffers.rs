//! Renderbuffers and framebuffer objects, with their attachments.

use super::driver::{call, query, Driver};
use super::formats::transfer;
use super::script::{bytes, list, say, Script};
use super::{refusal, Objects, Own};
use crate::context::Api;
use crate::names::Class;
use mgn_wire::{gl::*, Fault};

/// A name that programs do not use, for objects that exist only while contents are copied.
const CARRIER: u32 = 0xffff_fff0;

/// Renderbuffers, and the contents of those with one sample per pixel.
pub(super) fn renderbuffers(
    driver: &Driver<'_>,
    objects: &Objects<'_>,
    script: &mut Script<'_>,
) -> Result<(), Fault> {
    let all = objects.shared.table(Class::Renderbuffer).all();
    if all.is_empty() {
        return Ok(());
    }
    let names: Vec<u32> = all.iter().map(|(name, _)| *name).collect();
    say!(script, gl_gen_renderbuffers(list(&names)));
    let target = GL_RENDERBUFFER;
    for (name, object) in all {
        if call!(driver, glIsRenderbuffer(object)) == 0 {
            continue;
        }
        call!(driver, glBindRenderbuffer(target, object));
        say!(script, gl_bind_renderbuffer(target, name));
        let of =
            |pname| query!(driver, glGetRenderbufferParameteriv(target, pname)).map_or(0, |v| v[0]);
        let (w, h) = (of(GL_RENDERBUFFER_WIDTH), of(GL_RENDERBUFFER_HEIGHT));
        let format = of(GL_RENDERBUFFER_INTERNAL_FORMAT) as u32;
        let samples = of(GL_RENDERBUFFER_SAMPLES);
        if w == 0 || h == 0 {
            continue;
        }
        if samples > 0 {
            say!(
                script,
                gl_renderbuffer_storage_multisample(target, samples, format, w, h)
            );
            continue;
        }
        say!(script, gl_renderbuffer_storage(target, format, w, h));
        if objects.api == Api::Compat || objects.api == Api::Core {
            let depth = of(GL_RENDERBUFFER_DEPTH_SIZE) > 0;
            let stencil = of(GL_RENDERBUFFER_STENCIL_SIZE) > 0;
            contents(
                driver,
                script,
                (name, object),
                [w, h],
                format,
                (depth, stencil),
            );
        }
    }
    say!(script, gl_bind_renderbuffer(target, 0));
    call!(driver, glBindRenderbuffer(target, 0));
    Ok(())
}

/// The contents go through a texture of the same format, on both sides.
fn contents(
    driver: &Driver<'_>,
    script: &mut Script<'_>,
    (name, object): (u32, u32),
    [w, h]: [i32; 2],
    format: u32,
    (depth, stencil): (bool, bool),
) {
    let (attachment, mask) = match (depth, stencil) {
        (true, true) => (
            GL_DEPTH_STENCIL_ATTACHMENT,
            GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT,
        ),
        (true, false) => (GL_DEPTH_ATTACHMENT, GL_DEPTH_BUFFER_BIT),
        (false, true) => (GL_STENCIL_ATTACHMENT, GL_STENCIL_BUFFER_BIT),
        (false, false) => (GL_COLOR_ATTACHMENT0, GL_COLOR_BUFFER_BIT),
    };
    let (target, renderbuffer) = (GL_TEXTURE_2D, GL_RENDERBUFFER);
    let (mut texture, mut framebuffers) = (0, [0; 2]);
    call!(driver, glGenTextures(1, &mut texture));
    call!(driver, glGenFramebuffers(2, framebuffers.as_mut_ptr()));
    call!(driver, glBindTexture(target, texture));
    // Parameters that make the texture complete without further levels.
    let nearest = GL_NEAREST as i32;
    call!(
        driver,
        glTexParameteri(target, GL_TEXTURE_MIN_FILTER, nearest)
    );
    call!(driver, glTexStorage2D(target, 1, format, w, h));
    if let Some(by) = transfer(driver, target, 0) {
        let [from, to] = framebuffers;
        call!(driver, glBindFramebuffer(GL_READ_FRAMEBUFFER, from));
        call!(
            driver,
            glFramebufferRenderbuffer(GL_READ_FRAMEBUFFER, attachment, renderbuffer, object)
        );
        call!(driver, glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to));
        call!(
            driver,
            glFramebufferTexture2D(GL_DRAW_FRAMEBUFFER, attachment, target, texture, 0)
        );
        call!(
            driver,
            glBlitFramebuffer(0, 0, w, h, 0, 0, w, h, mask, GL_NEAREST)
        );
        let mut data = vec![0u8; w as usize * h as usize * by.bytes];
        call!(
            driver,
            glGetTexImage(target, 0, by.format, by.type_, data.as_mut_ptr().cast())
        );
        let names = [CARRIER, CARRIER + 1];
        let carrier = list(&names[..1]);
        say!(script, gl_gen_textures(carrier));
        say!(script, gl_bind_texture(target, CARRIER));
        say!(
            script,
            gl_tex_parameteri(target, GL_TEXTURE_MIN_FILTER, nearest)
        );
        let data = bytes(&data);
        let inner = format as i32;
        say!(
            script,
            gl_tex_image2d(target, 0, inner, w, h, 0, by.format, by.type_, data)
        );
        say!(script, gl_gen_framebuffers(list(&names)));
        say!(script, gl_bind_framebuffer(GL_READ_FRAMEBUFFER, names[0]));
        say!(
            script,
            gl_framebuffer_texture2d(GL_READ_FRAMEBUFFER, attachment, target, CARRIER, 0)
        );
        say!(script, gl_bind_framebuffer(GL_DRAW_FRAMEBUFFER, names[1]));
        say!(
            script,
            gl_framebuffer_renderbuffer(GL_DRAW_FRAMEBUFFER, attachment, renderbuffer, name)
        );
        say!(
            script,
            gl_blit_framebuffer(0, 0, w, h, 0, 0, w, h, mask, GL_NEAREST)
        );
        say!(script, gl_delete_framebuffers(list(&names)));
        say!(script, gl_delete_textures(carrier));
    }
    call!(driver, glBindFramebuffer(GL_FRAMEBUFFER, 0));
    call!(driver, glDeleteFramebuffers(2, framebuffers.as_ptr()));
    call!(driver, glDeleteTextures(1, &texture));
}

/// The parameters of framebuffer objects without attachments.
const DEFAULTS: [u32; 5] = [
    GL_FRAMEBUFFER_DEFAULT_WIDTH,
    GL_FRAMEBUFFER_DEFAULT_HEIGHT,
    GL_FRAMEBUFFER_DEFAULT_LAYERS,
    GL_FRAMEBUFFER_DEFAULT_SAMPLES,
    GL_FRAMEBUFFER_DEFAULT_FIXED_SAMPLE_LOCATIONS,
];

/// The framebuffer objects of the current context, and the bindings.
pub(super) fn write(
    driver: &Driver<'_>,
    objects: &Objects<'_>,
    own: &Own<'_>,
    script: &mut Script<'_>,
) -> Result<(), Fault> {
    let cx = own.cx;
    let table = own.names.table(Class::Framebuffer);
    let all = table.all();
    let target = GL_FRAMEBUFFER;
    if !all.is_empty() {
        let names: Vec<u32> = all.iter().map(|(name, _)| *name).collect();
        say!(script, gl_gen_framebuffers(list(&names)));
    }
    for &(name, object) in &all {
        if call!(driver, glIsFramebuffer(object)) != 0 {
            call!(driver, glBindFramebuffer(target, object));
            say!(script, gl_bind_framebuffer(target, name));
            one(driver, objects, own, script)?;
        }
    }
    if all.is_empty() {
        return default_buffers(driver, own, script);
    }
    call!(driver, glBindFramebuffer(target, 0));
    say!(script, gl_bind_framebuffer(target, 0));
    default_buffers(driver, own, script)?;
    let (draw, read) = (cx.draw_framebuffer, cx.read_framebuffer);
    let object = |name| table.get(name).unwrap_or(0);
    if draw == read {
        call!(driver, glBindFramebuffer(target, object(draw)));
        say!(script, gl_bind_framebuffer(target, draw));
    } else {
        call!(driver, glBindFramebuffer(GL_DRAW_FRAMEBUFFER, object(draw)));
        call!(driver, glBindFramebuffer(GL_READ_FRAMEBUFFER, object(read)));
        say!(script, gl_bind_framebuffer(GL_DRAW_FRAMEBUFFER, draw));
        say!(script, gl_bind_framebuffer(GL_READ_FRAMEBUFFER, read));
    }
    Ok(())
}

/// The draw and read buffers of the default framebuffer.
fn default_buffers(
    driver: &Driver<'_>,
    own: &Own<'_>,
    script: &mut Script<'_>,
) -> Result<(), Fault> {
    let cx = own.cx;
    if !cx.was_current {
        return Ok(());
    }
    if cx.api.is_desktop() {
        let has_front = |s: &Option<crate::surface::SharedSurface>| {
            s.as_ref().is_some_and(|s| s.borrow().front.is_some())
        };
        if has_front(&cx.draw) || has_front(&cx.read) {
            // This makes the new renderer create a front.
            say!(script, gl_read_buffer(GL_FRONT));
        }
        say!(script, gl_draw_buffer(cx.draw_buffer));
        say!(script, gl_read_buffer(cx.read_buffer));
    } else if let Some(buffer) = driver
        .integers(GL_DRAW_BUFFER0)
        .filter(|_| cx.has_pixel_buffers)
    {
        say!(script, gl_draw_buffers(1, list(&[buffer[0] as u32])));
        say!(script, gl_read_buffer(driver.number(GL_READ_BUFFER)));
    }
    Ok(())
}

/// The framebuffer object that is bound.
fn one(
    driver: &Driver<'_>,
    objects: &Objects<'_>,
    own: &Own<'_>,
    script: &mut Script<'_>,
) -> Result<(), Fault> {
    let target = GL_FRAMEBUFFER;
    let colors = driver.integer(GL_MAX_COLOR_ATTACHMENTS).clamp(1, 32) as u32;
    let colors = GL_COLOR_ATTACHMENT0..GL_COLOR_ATTACHMENT0 + colors;
    for attachment in colors.chain([GL_DEPTH_ATTACHMENT, GL_STENCIL_ATTACHMENT]) {
        attached(driver, objects, own, script, attachment)?;
    }
    for pname in DEFAULTS {
        let value = query!(driver, glGetFramebufferParameteriv(target, pname));
        if let Some(value) = value.map(|v| v[0]).filter(|value| *value != 0) {
            say!(script, gl_framebuffer_parameteri(target, pname, value));
        }
    }
    let count = driver.integer(GL_MAX_DRAW_BUFFERS).clamp(0, 32) as u32;
    let buffers = (0..count).map_while(|i| driver.integers(GL_DRAW_BUFFER0 + i));
    let mut buffers: Vec<u32> = buffers.map(|v| v[0] as u32).collect();
    while buffers.len() > 1 && buffers.last() == Some(&GL_NONE) {
        buffers.pop();
    }
    // OpenGL ES 2 and 1 have no choice of the read buffer, and OpenGL ES 1 has none of the draw
    // buffer.
    if !buffers.is_empty() && own.cx.api != Api::Es1 {
        say!(
            script,
            gl_draw_buffers(buffers.len() as i32, list(&buffers))
        );
    }
    if let Some(read) = driver
        .integers(GL_READ_BUFFER)
        .filter(|_| own.cx.has_pixel_buffers)
    {
        say!(script, gl_read_buffer(read[0] as u32));
    }
    Ok(())
}

fn attached(
    driver: &Driver<'_>,
    objects: &Objects<'_>,
    own: &Own<'_>,
    script: &mut Script<'_>,
    attachment: u32,
) -> Result<(), Fault> {
    let target = GL_FRAMEBUFFER;
    let of = |pname| {
        query!(
            driver,
            glGetFramebufferAttachmentParameteriv(target, attachment, pname)
        )
        .map_or(0, |v: [i32; 64]| v[0])
    };
    let kind = of(GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE) as u32;
    if kind == GL_NONE {
        return Ok(());
    }
    let object = of(GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME) as u32;
    let named = |class| {
        let name = own.names.table(class).client(object);
        name.ok_or_else(|| refusal("a framebuffer has an image whose name has been deleted"))
    };
    if kind == GL_RENDERBUFFER {
        let name = named(Class::Renderbuffer)?;
        say!(
            script,
            gl_framebuffer_renderbuffer(target, attachment, GL_RENDERBUFFER, name)
        );
        return Ok(());
    }
    let name = named(Class::Texture)?;
    let level = of(GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL);
    let face = of(GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_CUBE_MAP_FACE) as u32;
    let layer = of(GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER);
    let layered = of(GL_FRAMEBUFFER_ATTACHMENT_LAYERED) != 0;
    let views = of(GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_NUM_VIEWS_OVR);
    if views > 0 {
        let first = of(GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_BASE_VIEW_INDEX_OVR);
        say!(
            script,
            gl_framebuffer_texture_multiview_ovr(target, attachment, name, level, first, views)
        );
        return Ok(());
    }
    let kind = objects.targets.get(&object).copied();
    match kind.unwrap_or(GL_TEXTURE_2D) {
        _ if layered => say!(
            script,
            gl_framebuffer_texture(target, attachment, name, level)
        ),
        GL_TEXTURE_1D => say!(
            script,
            gl_framebuffer_texture1d(target, attachment, GL_TEXTURE_1D, name, level)
        ),
        GL_TEXTURE_CUBE_MAP => say!(
            script,
            gl_framebuffer_texture2d(target, attachment, face, name, level)
        ),
        flat @ (GL_TEXTURE_2D | GL_TEXTURE_RECTANGLE | GL_TEXTURE_2D_MULTISAMPLE) => say!(
            script,
            gl_framebuffer_texture2d(target, attachment, flat, name, level)
        ),
        _ => say!(
            script,
            gl_framebuffer_texture_layer(target, attachment, name, level, layer)
        ),
    }
    Ok(())
}
