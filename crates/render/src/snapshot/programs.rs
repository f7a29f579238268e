//! Shaders, programs, and programs in assembly language.
//!
//! The shaders of a program may have been changed or deleted since it was linked, so the program is
//! sent in the driver's binary form: all renderers of a wall have the same driver. This preserves
//! locations, too. It resets uniforms to their initial values, so the current values follow.

use super::driver::{call, query, Driver, VALUES};
use super::script::{list, say, Script};
use super::{refusal, Objects};
use crate::binaries::BinaryKey;
use crate::context::Api;
use crate::names::{Class, Shared};
use mgn_wire::{gl::*, Fault};

/// The last of the image types.
const IMAGE_END: u32 = GL_UNSIGNED_INT_IMAGE_2D_MULTISAMPLE_ARRAY;

/// Longer names of variables are cut.
const LONGEST_NAME: usize = 4096;

pub(super) fn write(
    driver: &Driver<'_>,
    objects: &Objects<'_>,
    script: &mut Script<'_>,
) -> Result<(), Fault> {
    let all = objects.shared.table(Class::Program).all();
    let is_shader = |object| call!(driver, glIsShader(object)) != 0;
    let is_program = |object| call!(driver, glIsProgram(object)) != 0;
    let mut deleted = Vec::new();
    for &(name, object) in all.iter().filter(|(_, object)| is_shader(*object)) {
        shader(driver, script, name, object)?;
        if shader_value(driver, object, GL_DELETE_STATUS) != 0 {
            deleted.push(name);
        }
    }
    for &(name, object) in all.iter().filter(|(_, object)| is_program(*object)) {
        program(driver, objects, script, name, object)?;
    }
    // A deleted shader lives as long as a program that it is attached to.
    for name in deleted {
        say!(script, gl_delete_shader(name));
    }
    Ok(())
}

/// Deletes programs again that were deleted but are still in use by contexts.
pub(super) fn delete_deleted(driver: &Driver<'_>, shared: &Shared, script: &mut Script<'_>) {
    for (name, object) in shared.table(Class::Program).all() {
        if call!(driver, glIsProgram(object)) != 0
            && program_value(driver, object, GL_DELETE_STATUS) != 0
        {
            say!(script, gl_delete_program(name));
        }
    }
}

fn shader_value(driver: &Driver<'_>, shader: u32, pname: u32) -> i32 {
    query!(driver, glGetShaderiv(shader, pname)).map_or(0, |v| v[0])
}

fn program_value(driver: &Driver<'_>, program: u32, pname: u32) -> i32 {
    query!(driver, glGetProgramiv(program, pname)).map_or(0, |v| v[0])
}

fn shader(
    driver: &Driver<'_>,
    script: &mut Script<'_>,
    name: u32,
    object: u32,
) -> Result<(), Fault> {
    let of = |pname| shader_value(driver, object, pname);
    say!(script, gl_create_shader(of(GL_SHADER_TYPE) as u32, name));
    if of(GL_SPIR_V_BINARY) != 0 {
        return Err(refusal(
            "a shader is made of SPIR-V, which cannot be read back",
        ));
    }
    let source = text(of(GL_SHADER_SOURCE_LENGTH) as usize, |room, length, to| {
        call!(driver, glGetShaderSource(object, room, length, to));
    });
    if !source.is_empty() {
        say!(script, gl_shader_source(name, list(&source)));
    }
    if of(GL_COMPILE_STATUS) != 0 || of(GL_INFO_LOG_LENGTH) > 1 {
        say!(script, gl_compile_shader(name));
    }
    Ok(())
}

/// The text that a query returns, without its NUL.
fn text(room: usize, ask: impl FnOnce(i32, *mut i32, *mut u8)) -> Vec<u8> {
    let mut bytes = vec![0u8; room + 1];
    let mut length = 0;
    ask(room as i32 + 1, &mut length, bytes.as_mut_ptr());
    bytes.truncate(length.max(0) as usize);
    bytes
}

fn program(
    driver: &Driver<'_>,
    objects: &Objects<'_>,
    script: &mut Script<'_>,
    name: u32,
    object: u32,
) -> Result<(), Fault> {
    let of = |pname| program_value(driver, object, pname);
    say!(script, gl_create_program(name));
    for pname in [GL_PROGRAM_SEPARABLE, GL_PROGRAM_BINARY_RETRIEVABLE_HINT] {
        if of(pname) != 0 {
            say!(script, gl_program_parameteri(name, pname, 1));
        }
    }
    let table = objects.shared.table(Class::Program);
    let mut shaders = [0u32; 64];
    let mut count = 0;
    call!(
        driver,
        glGetAttachedShaders(object, 64, &mut count, shaders.as_mut_ptr())
    );
    let attached = shaders.iter().take(count.max(0) as usize);
    for shader in attached.filter_map(|shader| table.client(*shader)) {
        say!(script, gl_attach_shader(name, shader));
    }
    attributes(driver, script, name, object);
    varyings(driver, script, name, object);
    if of(GL_LINK_STATUS) == 0 {
        if of(GL_INFO_LOG_LENGTH) > 1 {
            say!(script, gl_link_program(name));
        }
        return Ok(());
    }
    if let Some((format, binary)) = objects
        .binary_key
        .and_then(|key| sealed_binary(driver, key, object))
    {
        let length = binary.len() as i32;
        say!(
            script,
            gl_program_binary(name, format, list(&binary), length)
        );
    } else if count > 0 {
        say!(script, gl_link_program(name));
    } else if objects.binary_key.is_none() {
        return Err(refusal(
            "a program's shaders have gone, and the new server has another key for program binaries; give all servers of the wall the same binaries.key",
        ));
    } else {
        return Err(refusal(
            "a program's shaders have gone, and this driver has no program binaries",
        ));
    }
    uniforms(driver, objects.api, script, name, object);
    blocks(driver, objects.api, script, name, object);
    Ok(())
}

/// A linked program's sealed binary, and its format; none if the driver has none.
fn sealed_binary(driver: &Driver<'_>, key: &BinaryKey, object: u32) -> Option<(u32, Vec<u8>)> {
    let room = program_value(driver, object, GL_PROGRAM_BINARY_LENGTH).max(0);
    let mut binary = vec![0u8; room as usize];
    let (mut length, mut format) = (0, 0);
    if room > 0 {
        let to = binary.as_mut_ptr().cast();
        call!(
            driver,
            glGetProgramBinary(object, room, &mut length, &mut format, to)
        );
    }
    binary.truncate(length.max(0) as usize);
    (!binary.is_empty()).then(|| (format, key.sealed(format, binary)))
}

/// Attribute locations, for when the program is linked again.
fn attributes(driver: &Driver<'_>, script: &mut Script<'_>, name: u32, object: u32) {
    let count = program_value(driver, object, GL_ACTIVE_ATTRIBUTES).max(0);
    for index in 0..count as u32 {
        let (mut size, mut kind) = (0, 0);
        let mut variable = text(LONGEST_NAME, |room, length, to| {
            call!(
                driver,
                glGetActiveAttrib(object, index, room, length, &mut size, &mut kind, to)
            );
        });
        if variable.starts_with(b"gl_") {
            continue;
        }
        variable.push(0);
        let location = call!(driver, glGetAttribLocation(object, variable.as_ptr()));
        variable.pop();
        if location >= 0 {
            let location = location as u32;
            say!(
                script,
                gl_bind_attrib_location(name, location, list(&variable))
            );
        }
    }
}

fn varyings(driver: &Driver<'_>, script: &mut Script<'_>, name: u32, object: u32) {
    let of = |pname| program_value(driver, object, pname);
    let count = of(GL_TRANSFORM_FEEDBACK_VARYINGS).max(0);
    let mut all = Vec::new();
    for index in 0..count as u32 {
        let (mut size, mut kind) = (0, 0);
        all.extend(text(LONGEST_NAME, |room, length, to| {
            call!(
                driver,
                glGetTransformFeedbackVarying(
                    object, index, room, length, &mut size, &mut kind, to
                )
            );
        }));
        all.push(0);
    }
    if count > 0 {
        let mode = of(GL_TRANSFORM_FEEDBACK_BUFFER_MODE) as u32;
        say!(
            script,
            gl_transform_feedback_varyings(name, count, list(&all), mode)
        );
    }
}

fn uniforms(driver: &Driver<'_>, api: Api, script: &mut Script<'_>, name: u32, object: u32) {
    // In OpenGL ES, image units are set only in the source.
    let is_fixed = |kind| api == Api::Es && (GL_IMAGE_1D..=IMAGE_END).contains(&kind);
    let count = program_value(driver, object, GL_ACTIVE_UNIFORMS).max(0);
    if count == 0 {
        return;
    }
    say!(script, gl_use_program(name));
    for index in 0..count as u32 {
        let (mut size, mut kind) = (0, 0);
        let mut variable = text(LONGEST_NAME, |room, length, to| {
            call!(
                driver,
                glGetActiveUniform(object, index, room, length, &mut size, &mut kind, to)
            );
        });
        let is_array = variable.ends_with(b"[0]");
        if is_array {
            variable.truncate(variable.len() - 3);
        }
        for element in 0..size {
            let mut one = variable.clone();
            if is_array {
                one.extend(format!("[{element}]").bytes());
            }
            one.push(0);
            let location = call!(driver, glGetUniformLocation(object, one.as_ptr()));
            if location >= 0 && !is_fixed(kind) {
                uniform(driver, script, object, location, kind);
            }
        }
    }
    say!(script, gl_use_program(0));
}

macro_rules! by_type {
    ($driver:ident, $script:ident, $object:ident, $location:ident, $kind:ident;
     $($types:pat => $get:ident, $n:expr, $set:ident $(($transpose:expr))?;)*) => {
        match $kind {
            $($types => if let Some(values) = query!($driver, $get($object, $location)) {
                say!($script, $set($location, 1, $($transpose,)? list(&values[..$n])));
            })*
            // Booleans, samplers, images and atomic counters are integers.
            _ => if let Some(values) = query!($driver, glGetUniformiv($object, $location)) {
                let n = match $kind {
                    GL_INT_VEC2 | GL_BOOL_VEC2 => 2,
                    GL_INT_VEC3 | GL_BOOL_VEC3 => 3,
                    GL_INT_VEC4 | GL_BOOL_VEC4 => 4,
                    _ => 1,
                };
                match n {
                    2 => say!($script, gl_uniform2iv($location, 1, list(&values[..2]))),
                    3 => say!($script, gl_uniform3iv($location, 1, list(&values[..3]))),
                    4 => say!($script, gl_uniform4iv($location, 1, list(&values[..4]))),
                    _ => say!($script, gl_uniform1iv($location, 1, list(&values[..1]))),
                }
            }
        }
    };
}

/// One uniform of the program in use.
#[allow(non_upper_case_globals, reason = "types are called so")]
fn uniform(driver: &Driver<'_>, script: &mut Script<'_>, object: u32, location: i32, kind: u32) {
    by_type! { driver, script, object, location, kind;
        GL_FLOAT => glGetUniformfv, 1, gl_uniform1fv;
        GL_FLOAT_VEC2 => glGetUniformfv, 2, gl_uniform2fv;
        GL_FLOAT_VEC3 => glGetUniformfv, 3, gl_uniform3fv;
        GL_FLOAT_VEC4 => glGetUniformfv, 4, gl_uniform4fv;
        GL_FLOAT_MAT2 => glGetUniformfv, 4, gl_uniform_matrix2fv(0);
        GL_FLOAT_MAT3 => glGetUniformfv, 9, gl_uniform_matrix3fv(0);
        GL_FLOAT_MAT4 => glGetUniformfv, 16, gl_uniform_matrix4fv(0);
        GL_FLOAT_MAT2x3 => glGetUniformfv, 6, gl_uniform_matrix2x3fv(0);
        GL_FLOAT_MAT3x2 => glGetUniformfv, 6, gl_uniform_matrix3x2fv(0);
        GL_FLOAT_MAT2x4 => glGetUniformfv, 8, gl_uniform_matrix2x4fv(0);
        GL_FLOAT_MAT4x2 => glGetUniformfv, 8, gl_uniform_matrix4x2fv(0);
        GL_FLOAT_MAT3x4 => glGetUniformfv, 12, gl_uniform_matrix3x4fv(0);
        GL_FLOAT_MAT4x3 => glGetUniformfv, 12, gl_uniform_matrix4x3fv(0);
        GL_UNSIGNED_INT => glGetUniformuiv, 1, gl_uniform1uiv;
        GL_UNSIGNED_INT_VEC2 => glGetUniformuiv, 2, gl_uniform2uiv;
        GL_UNSIGNED_INT_VEC3 => glGetUniformuiv, 3, gl_uniform3uiv;
        GL_UNSIGNED_INT_VEC4 => glGetUniformuiv, 4, gl_uniform4uiv;
        GL_DOUBLE => glGetUniformdv, 1, gl_uniform1dv;
        GL_DOUBLE_VEC2 => glGetUniformdv, 2, gl_uniform2dv;
        GL_DOUBLE_VEC3 => glGetUniformdv, 3, gl_uniform3dv;
        GL_DOUBLE_VEC4 => glGetUniformdv, 4, gl_uniform4dv;
        GL_DOUBLE_MAT2 => glGetUniformdv, 4, gl_uniform_matrix2dv(0);
        GL_DOUBLE_MAT3 => glGetUniformdv, 9, gl_uniform_matrix3dv(0);
        GL_DOUBLE_MAT4 => glGetUniformdv, 16, gl_uniform_matrix4dv(0);
        GL_DOUBLE_MAT2x3 => glGetUniformdv, 6, gl_uniform_matrix2x3dv(0);
        GL_DOUBLE_MAT3x2 => glGetUniformdv, 6, gl_uniform_matrix3x2dv(0);
        GL_DOUBLE_MAT2x4 => glGetUniformdv, 8, gl_uniform_matrix2x4dv(0);
        GL_DOUBLE_MAT4x2 => glGetUniformdv, 8, gl_uniform_matrix4x2dv(0);
        GL_DOUBLE_MAT3x4 => glGetUniformdv, 12, gl_uniform_matrix3x4dv(0);
        GL_DOUBLE_MAT4x3 => glGetUniformdv, 12, gl_uniform_matrix4x3dv(0);
        GL_INT64_ARB => glGetUniformi64vARB, 1, gl_uniform1i64v_arb;
        GL_INT64_VEC2_ARB => glGetUniformi64vARB, 2, gl_uniform2i64v_arb;
        GL_INT64_VEC3_ARB => glGetUniformi64vARB, 3, gl_uniform3i64v_arb;
        GL_INT64_VEC4_ARB => glGetUniformi64vARB, 4, gl_uniform4i64v_arb;
        GL_UNSIGNED_INT64_ARB => glGetUniformui64vARB, 1, gl_uniform1ui64v_arb;
        GL_UNSIGNED_INT64_VEC2_ARB => glGetUniformui64vARB, 2, gl_uniform2ui64v_arb;
        GL_UNSIGNED_INT64_VEC3_ARB => glGetUniformui64vARB, 3, gl_uniform3ui64v_arb;
        GL_UNSIGNED_INT64_VEC4_ARB => glGetUniformui64vARB, 4, gl_uniform4ui64v_arb;
    }
}

/// The binding points of the blocks.
fn blocks(driver: &Driver<'_>, api: Api, script: &mut Script<'_>, name: u32, object: u32) {
    let count = program_value(driver, object, GL_ACTIVE_UNIFORM_BLOCKS).max(0);
    for index in 0..count as u32 {
        let binding = GL_UNIFORM_BLOCK_BINDING;
        if let Some(at) = query!(driver, glGetActiveUniformBlockiv(object, index, binding)) {
            say!(script, gl_uniform_block_binding(name, index, at[0] as u32));
        }
    }
    if api == Api::Es {
        // This API sets these binding points only in the source.
        return;
    }
    let (kind, active) = (GL_SHADER_STORAGE_BLOCK, GL_ACTIVE_RESOURCES);
    let count = query!(driver, glGetProgramInterfaceiv(object, kind, active));
    for index in 0..count.map_or(0, |v| v[0].max(0)) as u32 {
        let (mut at, mut length) = (0, 0);
        let binding = GL_BUFFER_BINDING;
        call!(
            driver,
            glGetProgramResourceiv(object, kind, index, 1, &binding, 1, &mut length, &mut at)
        );
        if length == 1 {
            say!(
                script,
                gl_shader_storage_block_binding(name, index, at as u32)
            );
        }
    }
}

/// Programs in assembly language, with their local parameters.
pub(super) fn assembly(driver: &Driver<'_>, objects: &Objects<'_>, script: &mut Script<'_>) {
    let all = objects.shared.table(Class::Assembly).all();
    if all.is_empty() {
        return;
    }
    let names: Vec<u32> = all.iter().map(|(name, _)| *name).collect();
    say!(script, gl_gen_programs_arb(list(&names)));
    for (name, object) in all {
        let targets = [GL_VERTEX_PROGRAM_ARB, GL_FRAGMENT_PROGRAM_ARB];
        let takes =
            |target: u32| driver.accepts(|| call!(driver, glBindProgramARB(target, object)));
        if call!(driver, glIsProgramARB(object)) == 0 {
            continue;
        }
        let Some(target) = targets.into_iter().find(|target| takes(*target)) else {
            continue;
        };
        let of = |pname| query!(driver, glGetProgramivARB(target, pname)).map_or(0, |v| v[0]);
        let length = of(GL_PROGRAM_LENGTH_ARB).max(0) as usize;
        let mut string = vec![0u8; length + 1];
        call!(
            driver,
            glGetProgramStringARB(target, GL_PROGRAM_STRING_ARB, string.as_mut_ptr().cast())
        );
        string.truncate(length);
        say!(script, gl_bind_program_arb(target, name));
        if length > 0 {
            let format = GL_PROGRAM_FORMAT_ASCII_ARB;
            say!(script, gl_program_string_arb(target, format, list(&string)));
        }
        let local = |index| query!(driver, glGetProgramLocalParameterfvARB(target, index));
        for (index, [x, y, z, w]) in parameters(of(GL_MAX_PROGRAM_LOCAL_PARAMETERS_ARB), local) {
            say!(
                script,
                gl_program_local_parameter4f_arb(target, index, x, y, z, w)
            );
        }
        call!(driver, glBindProgramARB(target, 0));
        say!(script, gl_bind_program_arb(target, 0));
    }
}

/// Those of `count` parameters of assembly programs that are not zero, with their indices.
pub(super) fn parameters(
    count: i32,
    ask: impl Fn(u32) -> Option<[f32; VALUES]>,
) -> impl Iterator<Item = (u32, [f32; 4])> {
    let told = move |index| {
        let [x, y, z, w, ..] = ask(index)?;
        Some((index, [x, y, z, w]))
    };
    let all = (0..count.max(0) as u32).map_while(told);
    all.filter(|(_, value)| *value != [0.0; 4])
}
