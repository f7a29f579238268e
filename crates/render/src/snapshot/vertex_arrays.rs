//! Vertex array objects: their arrays that lie in buffers, and which arrays are enabled. Arrays in
//! the program's memory are sent with each draw.

use super::driver::{call, query, Driver};
use super::script::{list, say, Script};
use super::{refusal, Own};
use crate::names::Class;
use mgn_wire::{gl::*, Fault};
use std::ffi::c_void;

/// An array of the fixed function: its capability; the pnames of its size (0: it has none), type,
/// stride, pointer and buffer; and the function that sets it.
struct Fixed {
    cap: u32,
    asked: [u32; 5],
    set: fn(&mut Script<'_>, i32, u32, i32, u64),
}

const FIXED: [Fixed; 8] = [
    Fixed {
        cap: GL_VERTEX_ARRAY,
        asked: [
            GL_VERTEX_ARRAY_SIZE,
            GL_VERTEX_ARRAY_TYPE,
            GL_VERTEX_ARRAY_STRIDE,
            GL_VERTEX_ARRAY_POINTER,
            GL_VERTEX_ARRAY_BUFFER_BINDING,
        ],
        set: |s, size, kind, stride, at| say!(s, gl_vertex_pointer(size, kind, stride, at)),
    },
    Fixed {
        cap: GL_NORMAL_ARRAY,
        asked: [
            0,
            GL_NORMAL_ARRAY_TYPE,
            GL_NORMAL_ARRAY_STRIDE,
            GL_NORMAL_ARRAY_POINTER,
            GL_NORMAL_ARRAY_BUFFER_BINDING,
        ],
        set: |s, _, kind, stride, at| say!(s, gl_normal_pointer(kind, stride, at)),
    },
    Fixed {
        cap: GL_COLOR_ARRAY,
        asked: [
            GL_COLOR_ARRAY_SIZE,
            GL_COLOR_ARRAY_TYPE,
            GL_COLOR_ARRAY_STRIDE,
            GL_COLOR_ARRAY_POINTER,
            GL_COLOR_ARRAY_BUFFER_BINDING,
        ],
        set: |s, size, kind, stride, at| say!(s, gl_color_pointer(size, kind, stride, at)),
    },
    Fixed {
        cap: GL_SECONDARY_COLOR_ARRAY,
        asked: [
            GL_SECONDARY_COLOR_ARRAY_SIZE,
            GL_SECONDARY_COLOR_ARRAY_TYPE,
            GL_SECONDARY_COLOR_ARRAY_STRIDE,
            GL_SECONDARY_COLOR_ARRAY_POINTER,
            GL_SECONDARY_COLOR_ARRAY_BUFFER_BINDING,
        ],
        set: |s, size, kind, stride, at| {
            say!(s, gl_secondary_color_pointer(size, kind, stride, at));
        },
    },
    Fixed {
        cap: GL_FOG_COORD_ARRAY,
        asked: [
            0,
            GL_FOG_COORD_ARRAY_TYPE,
            GL_FOG_COORD_ARRAY_STRIDE,
            GL_FOG_COORD_ARRAY_POINTER,
            GL_FOG_COORD_ARRAY_BUFFER_BINDING,
        ],
        set: |s, _, kind, stride, at| say!(s, gl_fog_coord_pointer(kind, stride, at)),
    },
    Fixed {
        cap: GL_INDEX_ARRAY,
        asked: [
            0,
            GL_INDEX_ARRAY_TYPE,
            GL_INDEX_ARRAY_STRIDE,
            GL_INDEX_ARRAY_POINTER,
            GL_INDEX_ARRAY_BUFFER_BINDING,
        ],
        set: |s, _, kind, stride, at| say!(s, gl_index_pointer(kind, stride, at)),
    },
    Fixed {
        cap: GL_EDGE_FLAG_ARRAY,
        asked: [
            0,
            0,
            GL_EDGE_FLAG_ARRAY_STRIDE,
            GL_EDGE_FLAG_ARRAY_POINTER,
            GL_EDGE_FLAG_ARRAY_BUFFER_BINDING,
        ],
        set: |s, _, _, stride, at| say!(s, gl_edge_flag_pointer(stride, at)),
    },
    TEXTURE_COORDINATES,
];

const TEXTURE_COORDINATES: Fixed = Fixed {
    cap: GL_TEXTURE_COORD_ARRAY,
    asked: [
        GL_TEXTURE_COORD_ARRAY_SIZE,
        GL_TEXTURE_COORD_ARRAY_TYPE,
        GL_TEXTURE_COORD_ARRAY_STRIDE,
        GL_TEXTURE_COORD_ARRAY_POINTER,
        GL_TEXTURE_COORD_ARRAY_BUFFER_BINDING,
    ],
    set: |s, size, kind, stride, at| say!(s, gl_tex_coord_pointer(size, kind, stride, at)),
};

pub(super) fn write(
    driver: &Driver<'_>,
    own: &Own<'_>,
    script: &mut Script<'_>,
) -> Result<(), Fault> {
    let cx = own.cx;
    let all = own.names.table(Class::VertexArray).all();
    let names: Vec<u32> = all.iter().map(|(name, _)| *name).collect();
    if !names.is_empty() {
        say!(script, gl_gen_vertex_arrays(list(&names)));
    }
    for &(name, object) in &all {
        if call!(driver, glIsVertexArray(object)) != 0 {
            call!(driver, glBindVertexArray(object));
            say!(script, gl_bind_vertex_array(name));
            arrays(driver, own, script)?;
        }
    }
    if cx.api.has_client_arrays() {
        if cx.default_vertex_array != 0 {
            call!(driver, glBindVertexArray(cx.default_vertex_array));
        }
        if !names.is_empty() {
            say!(script, gl_bind_vertex_array(0));
        }
        arrays(driver, own, script)?;
    }
    let bound = own.names.find(Class::VertexArray, cx.vertex_array);
    let bound = bound
        .filter(|driver| *driver != 0)
        .unwrap_or(cx.default_vertex_array);
    if bound != 0 || !cx.api.has_client_arrays() {
        call!(driver, glBindVertexArray(bound));
    }
    if !names.is_empty() {
        say!(script, gl_bind_vertex_array(cx.vertex_array));
    }
    Ok(())
}

/// The arrays of the bound object.
fn arrays(driver: &Driver<'_>, own: &Own<'_>, script: &mut Script<'_>) -> Result<(), Fault> {
    let elements = driver.number(GL_ELEMENT_ARRAY_BUFFER_BINDING);
    if elements != 0 {
        let name = buffer(own, elements)?;
        say!(script, gl_bind_buffer(GL_ELEMENT_ARRAY_BUFFER, name));
    }
    if own.cx.api.has_client_arrays() {
        fixed_function(driver, own, script)?;
    }
    let count = driver.integer(GL_MAX_VERTEX_ATTRIBS).clamp(0, 32) as u32;
    for index in 0..count {
        generic(driver, own, script, index)?;
    }
    Ok(())
}

fn buffer(own: &Own<'_>, driver: u32) -> Result<u32, Fault> {
    let name = own.names.table(Class::Buffer).client(driver);
    name.ok_or_else(|| refusal("a vertex array object has a buffer that has been deleted"))
}

fn fixed_function(
    driver: &Driver<'_>,
    own: &Own<'_>,
    script: &mut Script<'_>,
) -> Result<(), Fault> {
    for fixed in &FIXED {
        if fixed.cap != GL_TEXTURE_COORD_ARRAY {
            one_fixed(driver, own, script, fixed)?;
        }
    }
    let units = driver.integer(GL_MAX_TEXTURE_UNITS).clamp(0, 8) as u32;
    for unit in GL_TEXTURE0..GL_TEXTURE0 + units {
        call!(driver, glClientActiveTexture(unit));
        say!(script, gl_client_active_texture(unit));
        one_fixed(driver, own, script, &TEXTURE_COORDINATES)?;
    }
    if units > 0 {
        let unit = GL_TEXTURE0 + own.cx.vertex_arrays.unit;
        call!(driver, glClientActiveTexture(unit));
        say!(script, gl_client_active_texture(unit));
    }
    Ok(())
}

fn one_fixed(
    driver: &Driver<'_>,
    own: &Own<'_>,
    script: &mut Script<'_>,
    fixed: &Fixed,
) -> Result<(), Fault> {
    let Some(on) = driver.is_on(fixed.cap) else {
        return Ok(());
    };
    let [size, kind, stride, place, bound] = fixed.asked;
    let of = |pname| match pname {
        0 => 0,
        pname => driver.integer(pname),
    };
    let object = of(bound) as u32;
    if object != 0 {
        let name = buffer(own, object)?;
        let mut at: *mut c_void = std::ptr::null_mut();
        call!(driver, glGetPointerv(place, &mut at));
        say!(script, gl_bind_buffer(GL_ARRAY_BUFFER, name));
        (fixed.set)(script, of(size), of(kind) as u32, of(stride), at as u64);
    }
    if on {
        say!(script, gl_enable_client_state(fixed.cap));
    }
    Ok(())
}

fn generic(
    driver: &Driver<'_>,
    own: &Own<'_>,
    script: &mut Script<'_>,
    index: u32,
) -> Result<(), Fault> {
    let asked = |pname| query!(driver, glGetVertexAttribiv(index, pname)).map(|v| v[0]);
    let of = |pname| asked(pname).unwrap_or(0);
    let object = of(GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING) as u32;
    let is_own = asked(GL_VERTEX_ATTRIB_BINDING).is_none_or(|binding| binding == index as i32)
        && of(GL_VERTEX_ATTRIB_RELATIVE_OFFSET) == 0;
    let (size, kind) = (
        of(GL_VERTEX_ATTRIB_ARRAY_SIZE),
        of(GL_VERTEX_ATTRIB_ARRAY_TYPE) as u32,
    );
    let normalized = of(GL_VERTEX_ATTRIB_ARRAY_NORMALIZED) as u8;
    let (integer, long) = (
        of(GL_VERTEX_ATTRIB_ARRAY_INTEGER) != 0,
        of(GL_VERTEX_ATTRIB_ARRAY_LONG) != 0,
    );
    if is_own && object != 0 {
        let name = buffer(own, object)?;
        let mut at: *mut c_void = std::ptr::null_mut();
        let place = GL_VERTEX_ATTRIB_ARRAY_POINTER;
        call!(driver, glGetVertexAttribPointerv(index, place, &mut at));
        let (stride, at) = (of(GL_VERTEX_ATTRIB_ARRAY_STRIDE), at as u64);
        say!(script, gl_bind_buffer(GL_ARRAY_BUFFER, name));
        if long {
            say!(
                script,
                gl_vertex_attrib_l_pointer(index, size, kind, stride, at)
            );
        } else if integer {
            say!(
                script,
                gl_vertex_attrib_i_pointer(index, size, kind, stride, at)
            );
        } else {
            say!(
                script,
                gl_vertex_attrib_pointer(index, size, kind, normalized, stride, at)
            );
        }
    } else if !is_own {
        let at = of(GL_VERTEX_ATTRIB_RELATIVE_OFFSET) as u32;
        if long {
            say!(script, gl_vertex_attrib_l_format(index, size, kind, at));
        } else if integer {
            say!(script, gl_vertex_attrib_i_format(index, size, kind, at));
        } else {
            say!(
                script,
                gl_vertex_attrib_format(index, size, kind, normalized, at)
            );
        }
    }
    if of(GL_VERTEX_ATTRIB_ARRAY_ENABLED) != 0 {
        say!(script, gl_enable_vertex_attrib_array(index));
    }
    let divisor = of(GL_VERTEX_ATTRIB_ARRAY_DIVISOR) as u32;
    if asked(GL_VERTEX_ATTRIB_BINDING).is_none() {
        if divisor != 0 {
            say!(script, gl_vertex_attrib_divisor(index, divisor));
        }
        return Ok(());
    }
    // The binding point of the attribute's own number, which another attribute may use.
    let at = |pname| driver.number_at(pname, index);
    let object = at(GL_VERTEX_BINDING_BUFFER);
    let differs = driver.integers_at(GL_VERTEX_BINDING_STRIDE, index);
    if let (Some(stride), true) = (differs, object != 0) {
        let name = buffer(own, object)?;
        let offset = i64::from(at(GL_VERTEX_BINDING_OFFSET));
        say!(
            script,
            gl_bind_vertex_buffer(index, name, offset, stride[0])
        );
    }
    let divisor = at(GL_VERTEX_BINDING_DIVISOR);
    if divisor != 0 {
        say!(script, gl_vertex_binding_divisor(index, divisor));
    }
    if !is_own {
        let binding = of(GL_VERTEX_ATTRIB_BINDING) as u32;
        say!(script, gl_vertex_attrib_binding(index, binding));
    }
    Ok(())
}
