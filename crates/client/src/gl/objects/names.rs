//! Names of objects, which the client chooses.

use crate::context::Context;
use crate::shadow::names::Names;
use crate::shadow::objects::class::Class;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// Applies a command to the shadow of the state. If the shadow finds an error, the entry point
/// returns with it.
macro_rules! follow {
    ($cx:ident, $hook:ident($($arg:expr),*)) => {
        if let Some(error) = $crate::gl::tracked::Tracked::refusal($cx.gl.state.$hook($($arg),*)) {
            return $cx.set_error(error);
        }
    };
}
pub(crate) use follow;

/// Works on the names of a class.
pub fn with_names<R>(cx: &mut Context, class: Class, work: impl FnOnce(&mut Names) -> R) -> R {
    let own = &mut cx.gl.own;
    match class {
        Class::Buffer => work(&mut cx.gl.shared.names().buffers),
        Class::Texture => work(&mut cx.gl.shared.names().textures),
        Class::Renderbuffer => work(&mut cx.gl.shared.names().renderbuffers),
        Class::Sampler => work(&mut cx.gl.shared.names().samplers),
        Class::Assembly => work(&mut cx.gl.shared.names().assembly),
        Class::FragmentShader => work(&mut cx.gl.shared.names().fragment_shaders),
        Class::Framebuffer => work(&mut own.framebuffers),
        Class::VertexArray => work(&mut own.vertex_arrays),
        Class::Query => work(&mut own.queries),
        Class::Pipeline => work(&mut own.pipelines),
        Class::TransformFeedback => work(&mut own.transform_feedbacks),
    }
}

/// Called when a nonzero name is bound. Outside the core profile, binding a name that was never
/// generated makes it a valid one. Returns whether the name is valid now.
pub fn adopt(cx: &mut Context, class: Class, name: u32) -> bool {
    let made_by_use = !cx.gl.objects.limits.is_core();
    let epoch = cx.gl.shared.notes.released.load(Ordering::Acquire);
    let taken = with_names(cx, class, |names| {
        if made_by_use {
            names.use_name(name);
        }
        names.is_taken(name)
    });
    let objects = &mut cx.gl.objects;
    match class {
        _ if !taken => {}
        Class::Buffer => objects.buffers.add(epoch, name),
        Class::Texture => objects.textures.add(epoch, name),
        Class::Renderbuffer => objects.renderbuffers.add(epoch, name),
        _ => {}
    }
    taken
}

/// Called when a command creates the object of a name unless it exists; a texture becomes one of
/// `target`.
pub fn use_name(cx: &mut Context, class: Class, name: u32, target: u32) {
    if name == 0 || cx.gl.objects.known(class, &cx.gl.shared.notes, name) && class != Class::Texture
    {
        return;
    }
    if adopt(cx, class, name) {
        match class {
            Class::Texture => cx.gl.state.use_texture(name, target),
            Class::Renderbuffer => cx.gl.state.use_renderbuffer(name),
            Class::Framebuffer => cx.gl.state.use_framebuffer(name),
            _ => {}
        }
    }
}

/// Sends the commands about names if other contexts share these names. Those contexts may use or
/// choose the names at once, in streams of their own.
pub fn tell_group(cx: &mut Context) {
    if Arc::strong_count(&cx.gl.shared) > 1 {
        cx.flush();
    }
}
