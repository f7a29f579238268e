//! Textures and samplers: images of all levels, parameters, views.

use super::driver::{call, query, Driver};
use super::formats::transfer;
use super::script::{bytes, list, say, Script};
use super::{refusal, Objects};
use crate::context::Api;
use crate::names::Class;
use mgn_wire::{gl::*, Fault, LONG_MAX};

/// Targets of textures, with the number of dimensions of their images.
const TARGETS: [(u32, u32); 11] = [
    (GL_TEXTURE_2D, 2),
    (GL_TEXTURE_1D, 1),
    (GL_TEXTURE_3D, 3),
    (GL_TEXTURE_CUBE_MAP, 2),
    (GL_TEXTURE_RECTANGLE, 2),
    (GL_TEXTURE_1D_ARRAY, 2),
    (GL_TEXTURE_2D_ARRAY, 3),
    (GL_TEXTURE_CUBE_MAP_ARRAY, 3),
    (GL_TEXTURE_BUFFER, 0),
    (GL_TEXTURE_2D_MULTISAMPLE, 2),
    (GL_TEXTURE_2D_MULTISAMPLE_ARRAY, 3),
];

/// More levels than any texture has.
const LEVELS: i32 = 20;

/// Parameters that samplers have, too: integers first, and then floating-point numbers.
const SAMPLING: [u32; 10] = [
    GL_TEXTURE_MIN_FILTER,
    GL_TEXTURE_MAG_FILTER,
    GL_TEXTURE_WRAP_S,
    GL_TEXTURE_WRAP_T,
    GL_TEXTURE_WRAP_R,
    GL_TEXTURE_COMPARE_MODE,
    GL_TEXTURE_COMPARE_FUNC,
    GL_TEXTURE_SRGB_DECODE_EXT,
    GL_TEXTURE_CUBE_MAP_SEAMLESS,
    GL_TEXTURE_REDUCTION_MODE_ARB,
];
const RANGES: [u32; 4] = [
    GL_TEXTURE_MIN_LOD,
    GL_TEXTURE_MAX_LOD,
    GL_TEXTURE_LOD_BIAS,
    GL_TEXTURE_MAX_ANISOTROPY,
];
/// Parameters that only textures have.
const OWN: [u32; 9] = [
    GL_TEXTURE_BASE_LEVEL,
    GL_TEXTURE_MAX_LEVEL,
    GL_TEXTURE_SWIZZLE_R,
    GL_TEXTURE_SWIZZLE_G,
    GL_TEXTURE_SWIZZLE_B,
    GL_TEXTURE_SWIZZLE_A,
    GL_DEPTH_STENCIL_TEXTURE_MODE,
    GL_DEPTH_TEXTURE_MODE,
    GL_GENERATE_MIPMAP,
];

/// The target that a texture was first bound to; none if it was never bound.
fn target_of(driver: &Driver<'_>, texture: u32) -> Option<(u32, u32)> {
    if call!(driver, glIsTexture(texture)) == 0 {
        return None;
    }
    let fits = |target: u32| driver.accepts(|| call!(driver, glBindTexture(target, texture)));
    TARGETS.into_iter().find(|(target, _)| fits(*target))
}

pub(super) fn write(
    driver: &Driver<'_>,
    objects: &mut Objects<'_>,
    script: &mut Script<'_>,
) -> Result<(), Fault> {
    call!(driver, glPixelStorei(GL_PACK_ALIGNMENT, 1));
    let all = objects.shared.table(Class::Texture).all();
    let names: Vec<u32> = all.iter().map(|(name, _)| *name).collect();
    say!(script, gl_gen_textures(list(&names)));
    // The default textures (name 0), which the contexts of the group share.
    for (target, dimensions) in TARGETS.into_iter().take(7) {
        call!(driver, glBindTexture(target, 0));
        images(driver, script, target, dimensions)?;
        parameters(driver, objects.api, script, target);
    }
    let (views, own): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|(name, _)| objects.shared.views.contains_key(name));
    for (name, object) in own {
        let Some((target, dimensions)) = target_of(driver, object) else {
            continue;
        };
        objects.targets.insert(object, target);
        call!(driver, glBindTexture(target, object));
        say!(script, gl_bind_texture(target, name));
        match target {
            GL_TEXTURE_BUFFER => buffer(driver, objects, script),
            _ => {
                images(driver, script, target, dimensions)?;
                parameters(driver, objects.api, script, target);
            }
        }
        call!(driver, glBindTexture(target, 0));
        say!(script, gl_bind_texture(target, 0));
    }
    for (name, object) in views {
        view(driver, objects, script, name, object)?;
    }
    Ok(())
}

fn level_of(driver: &Driver<'_>, target: u32, level: i32, pname: u32) -> i32 {
    query!(driver, glGetTexLevelParameteriv(target, level, pname)).map_or(0, |v| v[0])
}

fn of(driver: &Driver<'_>, target: u32, pname: u32) -> i32 {
    query!(driver, glGetTexParameteriv(target, pname)).map_or(0, |v| v[0])
}

/// All images of the bound texture.
fn images(
    driver: &Driver<'_>,
    script: &mut Script<'_>,
    target: u32,
    dimensions: u32,
) -> Result<(), Fault> {
    let stored = of(driver, target, GL_TEXTURE_IMMUTABLE_FORMAT) != 0;
    let first = match target {
        GL_TEXTURE_CUBE_MAP => GL_TEXTURE_CUBE_MAP_POSITIVE_X,
        _ => target,
    };
    let size = |face, level| {
        [GL_TEXTURE_WIDTH, GL_TEXTURE_HEIGHT, GL_TEXTURE_DEPTH]
            .map(|pname| level_of(driver, face, level, pname))
    };
    let samples = level_of(driver, first, 0, GL_TEXTURE_SAMPLES);
    let levels = match stored {
        true => of(driver, target, GL_TEXTURE_IMMUTABLE_LEVELS).clamp(1, LEVELS),
        false => LEVELS,
    };
    if matches!(
        target,
        GL_TEXTURE_2D_MULTISAMPLE | GL_TEXTURE_2D_MULTISAMPLE_ARRAY
    ) {
        let [w, h, d] = size(first, 0);
        if w > 0 {
            let format = level_of(driver, first, 0, GL_TEXTURE_INTERNAL_FORMAT) as u32;
            let fixed = level_of(driver, first, 0, GL_TEXTURE_FIXED_SAMPLE_LOCATIONS) as u8;
            match (target, stored) {
                (GL_TEXTURE_2D_MULTISAMPLE, false) => say!(
                    script,
                    gl_tex_image2d_multisample(target, samples, format, w, h, fixed)
                ),
                (GL_TEXTURE_2D_MULTISAMPLE, true) => say!(
                    script,
                    gl_tex_storage2d_multisample(target, samples, format, w, h, fixed)
                ),
                (_, false) => say!(
                    script,
                    gl_tex_image3d_multisample(target, samples, format, w, h, d, fixed)
                ),
                (_, true) => say!(
                    script,
                    gl_tex_storage3d_multisample(target, samples, format, w, h, d, fixed)
                ),
            }
        }
        return Ok(());
    }
    if stored {
        let [w, h, d] = size(first, 0);
        let format = level_of(driver, first, 0, GL_TEXTURE_INTERNAL_FORMAT) as u32;
        match dimensions {
            1 => say!(script, gl_tex_storage1d(target, levels, format, w)),
            2 => say!(script, gl_tex_storage2d(target, levels, format, w, h)),
            _ => say!(script, gl_tex_storage3d(target, levels, format, w, h, d)),
        }
    }
    let faces = if target == GL_TEXTURE_CUBE_MAP { 6 } else { 1 };
    for level in 0..levels {
        for face in (first..).take(faces) {
            image(driver, script, face, level, dimensions, stored)?;
        }
    }
    Ok(())
}

fn image(
    driver: &Driver<'_>,
    script: &mut Script<'_>,
    target: u32,
    level: i32,
    dimensions: u32,
    stored: bool,
) -> Result<(), Fault> {
    let of = |pname| level_of(driver, target, level, pname);
    let [w, h, d] = [GL_TEXTURE_WIDTH, GL_TEXTURE_HEIGHT, GL_TEXTURE_DEPTH].map(of);
    if w == 0 || h == 0 || d == 0 {
        return Ok(());
    }
    let format = of(GL_TEXTURE_INTERNAL_FORMAT);
    let border = of(GL_TEXTURE_BORDER);
    let fits = |bytes: usize| match bytes < LONG_MAX - 256 {
        true => Ok(vec![0u8; bytes]),
        false => Err(refusal("an image of a texture is too large to be sent")),
    };
    if of(GL_TEXTURE_COMPRESSED) != 0 {
        let size = of(GL_TEXTURE_COMPRESSED_IMAGE_SIZE);
        let mut data = fits(size.max(0) as usize)?;
        call!(
            driver,
            glGetCompressedTexImage(target, level, data.as_mut_ptr().cast())
        );
        let (format, data) = (format as u32, bytes(&data));
        match (dimensions, stored) {
            (1, false) => say!(
                script,
                gl_compressed_tex_image1d(target, level, format, w, border, size, data)
            ),
            (1, true) => say!(
                script,
                gl_compressed_tex_sub_image1d(target, level, 0, w, format, size, data)
            ),
            (2, false) => say!(
                script,
                gl_compressed_tex_image2d(target, level, format, w, h, border, size, data)
            ),
            (2, true) => say!(
                script,
                gl_compressed_tex_sub_image2d(target, level, 0, 0, w, h, format, size, data)
            ),
            (_, false) => say!(
                script,
                gl_compressed_tex_image3d(target, level, format, w, h, d, border, size, data)
            ),
            (_, true) => say!(
                script,
                gl_compressed_tex_sub_image3d(target, level, 0, 0, 0, w, h, d, format, size, data)
            ),
        }
        return Ok(());
    }
    let Some(by) = transfer(driver, target, level) else {
        return Err(refusal("a texture has a format that cannot be read"));
    };
    let pixels = w as usize * h as usize * d as usize;
    let mut data = fits(pixels.saturating_mul(by.bytes))?;
    call!(
        driver,
        glGetTexImage(target, level, by.format, by.type_, data.as_mut_ptr().cast())
    );
    let (kind, type_, data) = (by.format, by.type_, bytes(&data));
    match (dimensions, stored) {
        (1, false) => say!(
            script,
            gl_tex_image1d(target, level, format, w, border, kind, type_, data)
        ),
        (1, true) => say!(
            script,
            gl_tex_sub_image1d(target, level, 0, w, kind, type_, data)
        ),
        (2, false) => say!(
            script,
            gl_tex_image2d(target, level, format, w, h, border, kind, type_, data)
        ),
        (2, true) => say!(
            script,
            gl_tex_sub_image2d(target, level, 0, 0, w, h, kind, type_, data)
        ),
        (_, false) => say!(
            script,
            gl_tex_image3d(target, level, format, w, h, d, border, kind, type_, data)
        ),
        (_, true) => say!(
            script,
            gl_tex_sub_image3d(target, level, 0, 0, 0, w, h, d, kind, type_, data)
        ),
    }
    Ok(())
}

/// Parameters of the bound texture that differ from a new one's.
fn parameters(driver: &Driver<'_>, api: Api, script: &mut Script<'_>, target: u32) {
    let integers = || -> Vec<Option<i32>> {
        let all = SAMPLING.into_iter().chain(OWN);
        all.map(|pname| query!(driver, glGetTexParameteriv(target, pname)).map(|v| v[0]))
            .collect()
    };
    let ranges = || RANGES.map(|p| query!(driver, glGetTexParameterfv(target, p)).map(|v| v[0]));
    let kind = match target {
        GL_TEXTURE_CUBE_MAP => GL_TEXTURE_CUBE_MAP_POSITIVE_X,
        _ => target,
    };
    let red = level_of(driver, kind, 0, GL_TEXTURE_RED_TYPE) as u32;
    let is_integer = matches!(red, GL_INT | GL_UNSIGNED_INT);
    let border = || {
        let color = GL_TEXTURE_BORDER_COLOR;
        let bits: Option<[i32; 4]> = match is_integer {
            true => query!(driver, glGetTexParameterIiv(target, color)).map(four),
            false => query!(driver, glGetTexParameterfv(target, color))
                .map(|v| four(v).map(|f: f32| f.to_bits() as i32)),
        };
        bits
    };
    let own = (integers(), ranges(), border());
    let bound = driver.number(binding(target));
    let mut fresh = 0;
    call!(driver, glGenTextures(1, &mut fresh));
    call!(driver, glBindTexture(target, fresh));
    let new = (integers(), ranges(), border());
    call!(driver, glBindTexture(target, bound));
    call!(driver, glDeleteTextures(1, &fresh));
    let names = SAMPLING.into_iter().chain(OWN);
    for ((pname, value), new) in names.zip(own.0).zip(new.0) {
        let told = api == Api::Compat || pname != GL_DEPTH_TEXTURE_MODE;
        if let Some(value) = value.filter(|_| told && value != new) {
            say!(script, gl_tex_parameteri(target, pname, value));
        }
    }
    for ((pname, value), new) in RANGES.into_iter().zip(own.1).zip(new.1) {
        if let Some(value) = value.filter(|_| value != new) {
            say!(script, gl_tex_parameterf(target, pname, value));
        }
    }
    if let Some(color) = own.2.filter(|_| own.2 != new.2) {
        let pname = GL_TEXTURE_BORDER_COLOR;
        if is_integer {
            say!(script, gl_tex_parameter_iiv(target, pname, list(&color)));
        } else {
            let color = color.map(|bits| f32::from_bits(bits as u32));
            say!(script, gl_tex_parameterfv(target, pname, list(&color)));
        }
    }
}

/// The parts of textures that glDrawTex draws. Only a context of OpenGL ES 1 returns these, so such
/// a context is asked instead of the one through which all other parameters are read.
pub(super) fn crops(driver: &Driver<'_>, objects: &Objects<'_>, script: &mut Script<'_>) {
    let target = GL_TEXTURE_2D;
    let pname = GL_TEXTURE_CROP_RECT_OES;
    let is_flat = |object: &u32| objects.targets.get(object) == Some(&target);
    let named = objects.shared.table(Class::Texture).all().into_iter();
    let named = named.filter(|(_, object)| is_flat(object));
    let bound = driver.number(binding(target));
    for (name, object) in std::iter::once((0, 0)).chain(named) {
        call!(driver, glBindTexture(target, object));
        let crop = query!(driver, glGetTexParameteriv(target, pname)).map(four);
        if let Some(crop) = crop.filter(|crop| *crop != [0; 4]) {
            say!(script, gl_bind_texture(target, name));
            say!(script, gl_tex_parameteriv(target, pname, list(&crop)));
        }
    }
    call!(driver, glBindTexture(target, bound));
    say!(script, gl_bind_texture(target, 0));
}

fn four<T: Copy>(values: [T; 64]) -> [T; 4] {
    [values[0], values[1], values[2], values[3]]
}

/// The name that queries the texture bound to a target.
pub(super) fn binding(target: u32) -> u32 {
    match target {
        GL_TEXTURE_1D => GL_TEXTURE_BINDING_1D,
        GL_TEXTURE_2D => GL_TEXTURE_BINDING_2D,
        GL_TEXTURE_3D => GL_TEXTURE_BINDING_3D,
        GL_TEXTURE_CUBE_MAP => GL_TEXTURE_BINDING_CUBE_MAP,
        GL_TEXTURE_RECTANGLE => GL_TEXTURE_BINDING_RECTANGLE,
        GL_TEXTURE_1D_ARRAY => GL_TEXTURE_BINDING_1D_ARRAY,
        GL_TEXTURE_2D_ARRAY => GL_TEXTURE_BINDING_2D_ARRAY,
        GL_TEXTURE_CUBE_MAP_ARRAY => GL_TEXTURE_BINDING_CUBE_MAP_ARRAY,
        GL_TEXTURE_BUFFER => GL_TEXTURE_BINDING_BUFFER,
        GL_TEXTURE_2D_MULTISAMPLE => GL_TEXTURE_BINDING_2D_MULTISAMPLE,
        _ => GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY,
    }
}

/// All texture targets, for bindings.
pub(super) fn targets() -> impl Iterator<Item = u32> {
    TARGETS.into_iter().map(|(target, _)| target)
}

fn buffer(driver: &Driver<'_>, objects: &Objects<'_>, script: &mut Script<'_>) {
    let target = GL_TEXTURE_BUFFER;
    let of = |pname| level_of(driver, target, 0, pname);
    let store = of(GL_TEXTURE_BUFFER_DATA_STORE_BINDING) as u32;
    let table = objects.shared.table(Class::Buffer);
    let Some(name) = table.client(store).filter(|_| store != 0) else {
        return;
    };
    let format = of(GL_TEXTURE_INTERNAL_FORMAT) as u32;
    let (offset, size) = (of(GL_TEXTURE_BUFFER_OFFSET), of(GL_TEXTURE_BUFFER_SIZE));
    call!(driver, glBindBuffer(GL_ARRAY_BUFFER, store));
    let all: i64 = query!(
        driver,
        glGetBufferParameteri64v(GL_ARRAY_BUFFER, GL_BUFFER_SIZE)
    )
    .map_or(0, |v| v[0]);
    call!(driver, glBindBuffer(GL_ARRAY_BUFFER, 0));
    if offset == 0 && i64::from(size) == all {
        say!(script, gl_tex_buffer(target, format, name));
    } else {
        let (offset, size) = (i64::from(offset), i64::from(size));
        say!(
            script,
            gl_tex_buffer_range(target, format, name, offset, size)
        );
    }
}

/// A view, which shows the images of another texture.
fn view(
    driver: &Driver<'_>,
    objects: &mut Objects<'_>,
    script: &mut Script<'_>,
    name: u32,
    object: u32,
) -> Result<(), Fault> {
    let Some((target, _)) = target_of(driver, object) else {
        return Ok(());
    };
    objects.targets.insert(object, target);
    let origin = objects.shared.views.get(&name).copied();
    let table = objects.shared.table(Class::Texture);
    let origin = origin
        .and_then(|origin| table.client(origin))
        .ok_or_else(|| refusal("a texture is a view of one that has been deleted"))?;
    call!(driver, glBindTexture(target, object));
    let first = match target {
        GL_TEXTURE_CUBE_MAP => GL_TEXTURE_CUBE_MAP_POSITIVE_X,
        _ => target,
    };
    let of = |pname| of(driver, target, pname) as u32;
    let format = level_of(driver, first, 0, GL_TEXTURE_INTERNAL_FORMAT) as u32;
    let (level, levels) = (
        of(GL_TEXTURE_VIEW_MIN_LEVEL),
        of(GL_TEXTURE_VIEW_NUM_LEVELS),
    );
    let (layer, layers) = (
        of(GL_TEXTURE_VIEW_MIN_LAYER),
        of(GL_TEXTURE_VIEW_NUM_LAYERS),
    );
    say!(
        script,
        gl_texture_view(name, target, origin, format, level, levels, layer, layers)
    );
    say!(script, gl_bind_texture(target, name));
    parameters(driver, objects.api, script, target);
    say!(script, gl_bind_texture(target, 0));
    call!(driver, glBindTexture(target, 0));
    Ok(())
}

/// Samplers.
pub(super) fn samplers(driver: &Driver<'_>, objects: &Objects<'_>, script: &mut Script<'_>) {
    let all = objects.shared.table(Class::Sampler).all();
    if all.is_empty() {
        return;
    }
    let names: Vec<u32> = all.iter().map(|(name, _)| *name).collect();
    say!(script, gl_gen_samplers(list(&names)));
    let mut fresh = 0;
    call!(driver, glGenSamplers(1, &mut fresh));
    for (name, object) in all {
        for pname in SAMPLING {
            let of = |s| query!(driver, glGetSamplerParameteriv(s, pname)).map(|v| v[0]);
            if let Some(value) = of(object).filter(|_| of(object) != of(fresh)) {
                say!(script, gl_sampler_parameteri(name, pname, value));
            }
        }
        for pname in RANGES {
            let of = |s| query!(driver, glGetSamplerParameterfv(s, pname)).map(|v| v[0]);
            if let Some(value) = of(object).filter(|_| of(object) != of(fresh)) {
                say!(script, gl_sampler_parameterf(name, pname, value));
            }
        }
        let pname = GL_TEXTURE_BORDER_COLOR;
        let of = |s| query!(driver, glGetSamplerParameterfv(s, pname)).map(four::<f32>);
        if let Some(color) = of(object).filter(|_| of(object) != of(fresh)) {
            say!(script, gl_sampler_parameterfv(name, pname, list(&color)));
        }
    }
    call!(driver, glDeleteSamplers(1, &fresh));
}
