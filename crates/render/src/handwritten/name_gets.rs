//! Queries by index, and queries of pipelines, queries, assembly programs and textures. Some of
//! them answer with the name of an object.

use crate::names::Class;
use crate::renderer::{out, Renderer};
use mgn_wire::{gl::*, Fault, Reply};

/// The class of names that the value of a pname belongs to, if it is a name.
fn class(pname: u32) -> Option<Class> {
    Some(match pname {
        GL_ATOMIC_COUNTER_BUFFER_BINDING
        | GL_SHADER_STORAGE_BUFFER_BINDING
        | GL_TRANSFORM_FEEDBACK_BUFFER_BINDING
        | GL_UNIFORM_BUFFER_BINDING
        | GL_VERTEX_BINDING_BUFFER
        | GL_TEXTURE_BUFFER_DATA_STORE_BINDING => Class::Buffer,
        GL_IMAGE_BINDING_NAME
        | GL_TEXTURE_BINDING_1D
        | GL_TEXTURE_BINDING_1D_ARRAY
        | GL_TEXTURE_BINDING_2D
        | GL_TEXTURE_BINDING_2D_ARRAY
        | GL_TEXTURE_BINDING_2D_MULTISAMPLE
        | GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY
        | GL_TEXTURE_BINDING_3D
        | GL_TEXTURE_BINDING_BUFFER
        | GL_TEXTURE_BINDING_CUBE_MAP
        | GL_TEXTURE_BINDING_CUBE_MAP_ARRAY
        | GL_TEXTURE_BINDING_RECTANGLE => Class::Texture,
        GL_SAMPLER_BINDING => Class::Sampler,
        GL_CURRENT_QUERY => Class::Query,
        GL_PROGRAM_BINDING_ARB => Class::Assembly,
        GL_ACTIVE_PROGRAM
        | GL_VERTEX_SHADER
        | GL_FRAGMENT_SHADER
        | GL_GEOMETRY_SHADER
        | GL_TESS_CONTROL_SHADER
        | GL_TESS_EVALUATION_SHADER
        | GL_COMPUTE_SHADER => Class::Program,
        _ => return None,
    })
}

impl Renderer {
    /// The answer for the client, with the client's names.
    fn translated<T: Copy>(
        &self,
        pname: u32,
        mut values: Vec<T>,
        driver: impl Fn(T) -> u32,
        client: impl Fn(u32) -> T,
    ) -> Vec<T> {
        if let (Some(class), Some(first)) = (class(pname), values.first_mut()) {
            let name = match driver(*first) {
                0 => 0,
                name => {
                    let cx = self.cx.as_deref().filter(|_| class == Class::Query);
                    let counting = cx.and_then(|cx| cx.counts.client(name));
                    let found = counting.or_else(|| self.names.table(class).shown(name));
                    found.unwrap_or(0)
                }
            };
            *first = client(name);
        }
        values
    }
}

/// Queries; in brackets the pname among the arguments, and the object that they name if there is
/// one, and the number of what is bound.
macro_rules! queries {
    ($($hand:ident = $gl:ident<$ty:ty>($($arg:ident: $argty:ty),*) [$pname:ident $(, $object:ident: $find:ident $class:ident)? $(; $index:ident)?];)*) => {
        impl Renderer {
            $(pub(crate) fn $hand(&mut self, $($arg: $argty,)* count: u32, reply: &mut Reply) -> Result<(), Fault> {
                self.needs_context()?;
                $(let $object = self.$find(Class::$class, $object);)?
                let mut values = out::<$ty>(count, 0)?;
                self.error();
                // SAFETY: there is room for more values than any query writes.
                unsafe { (self.gl.$gl)($($arg,)* values.as_mut_ptr()) };
                let failed = self.failed();
                $(if let (Some(stray), Some(first)) = (self.stray($pname, $index), values.first_mut()) {
                    *first = stray as $ty;
                })?
                let values = self.translated($pname, values, |v| v as u32, |v| v as $ty);
                reply.array(&values, if failed { 0 } else { count });
                Ok(())
            })*
        }
    };
}

queries! {
    handwritten_gl_get_integeri_v = glGetIntegeri_v<i32>(target: u32, index: u32) [target; index];
    handwritten_gl_get_integer64i_v = glGetInteger64i_v<i64>(target: u32, index: u32) [target; index];
    handwritten_gl_get_floati_v = glGetFloati_v<f32>(target: u32, index: u32) [target; index];
    handwritten_gl_get_doublei_v = glGetDoublei_v<f64>(target: u32, index: u32) [target; index];
    handwritten_gl_get_queryiv = glGetQueryiv<i32>(target: u32, pname: u32) [pname];
    handwritten_gl_get_query_indexediv = glGetQueryIndexediv<i32>(target: u32, index: u32, pname: u32) [pname];
    handwritten_gl_get_tex_level_parameteriv = glGetTexLevelParameteriv<i32>(target: u32, level: i32, pname: u32) [pname];
    handwritten_gl_get_programiv_arb = glGetProgramivARB<i32>(target: u32, pname: u32) [pname];
    handwritten_gl_get_named_programiv_ext = glGetNamedProgramivEXT<i32>(program: u32, target: u32, pname: u32) [pname, program: name Assembly];
    handwritten_gl_get_program_pipelineiv = glGetProgramPipelineiv<i32>(pipeline: u32, pname: u32) [pname, pipeline: object Pipeline];
    handwritten_gl_get_tex_level_parameterfv = glGetTexLevelParameterfv<f32>(target: u32, level: i32, pname: u32) [pname];
    handwritten_gl_get_texture_level_parameteriv = glGetTextureLevelParameteriv<i32>(texture: u32, level: i32, pname: u32) [pname, texture: object Texture];
    handwritten_gl_get_texture_level_parameterfv = glGetTextureLevelParameterfv<f32>(texture: u32, level: i32, pname: u32) [pname, texture: object Texture];
    handwritten_gl_get_texture_level_parameteriv_ext = glGetTextureLevelParameterivEXT<i32>
        (texture: u32, target: u32, level: i32, pname: u32) [pname, texture: name Texture];
    handwritten_gl_get_texture_level_parameterfv_ext = glGetTextureLevelParameterfvEXT<f32>
        (texture: u32, target: u32, level: i32, pname: u32) [pname, texture: name Texture];
    handwritten_gl_get_multi_tex_level_parameteriv_ext = glGetMultiTexLevelParameterivEXT<i32>(texunit: u32, target: u32, level: i32, pname: u32) [pname];
    handwritten_gl_get_multi_tex_level_parameterfv_ext = glGetMultiTexLevelParameterfvEXT<f32>(texunit: u32, target: u32, level: i32, pname: u32) [pname];
    handwritten_gl_get_transform_feedbacki_v = glGetTransformFeedbacki_v<i32>(xfb: u32, pname: u32, index: u32) [pname, xfb: object TransformFeedback];
}
