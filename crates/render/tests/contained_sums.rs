//! Attacks with numbers that the driver adds up or multiplies before it checks them: the result is
//! too large for its type, and looks valid.

// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

mod support;

use mgn_wire::encoder::Data;
use mgn_wire::gl::*;
use mgn_wire::hello::api;
use mgn_wire::Encoder;
use support::Session;

const SIDE: i32 = 4;
const FAR: i32 = i32::MAX - SIDE + 1;

fn bytes(values: &[u8]) -> Data {
    Data::Bytes(values.as_ptr(), values.len())
}

/// A session with buffer 1 of 64 bytes, and textures 1 and 2 of 4x4.
fn furnished() -> Session {
    let mut s = Session::new(api::COMPAT, 0);
    s.renderer.limit_storage(256 << 20);
    s.encode(|e| unsafe {
        e.gl_gen_buffers(([1].as_ptr(), 1));
        for target in [GL_ARRAY_BUFFER, GL_COPY_READ_BUFFER] {
            e.gl_bind_buffer(target, 1);
        }
        e.gl_buffer_data(GL_ARRAY_BUFFER, 64, bytes(&[7; 64]), GL_STATIC_DRAW);
        e.gl_gen_textures(([1, 2].as_ptr(), 2));
        for name in [2, 1] {
            e.gl_bind_texture(GL_TEXTURE_2D, name);
            e.gl_tex_parameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST as i32);
            let image = [9; 4 * (SIDE * SIDE) as usize];
            e.gl_tex_image2d(
                GL_TEXTURE_2D,
                0,
                GL_RGBA8 as i32,
                SIDE,
                SIDE,
                0,
                GL_RGBA,
                GL_UNSIGNED_BYTE,
                bytes(&image),
            );
        }
        e.mgn_get_error(1);
    });
    assert_eq!(s.answer_array::<u32>(), [GL_NO_ERROR]);
    s
}

/// The error that it raises, and an attack.
type Attack = (u32, fn(&mut Encoder));

/// Each attack is an error, also when a list is called that it was compiled into.
fn are_refused(attacks: &[Attack]) {
    for (i, (error, attack)) in attacks.iter().enumerate() {
        for in_list in [false, true] {
            let mut s = furnished();
            s.encode(|e| {
                if in_list {
                    e.gl_new_list(1, GL_COMPILE);
                }
                attack(e);
                if in_list {
                    e.gl_end_list();
                    e.gl_call_list(1);
                }
                e.mgn_get_error(1);
            });
            assert_eq!(
                s.answer_array::<u32>(),
                [*error],
                "attack {i}, in a list: {in_list}"
            );
        }
    }
}

#[test]
fn places_in_buffers_do_not_wrap() {
    // The sum of both is 64 bits too long; what is left of it lies in the buffer.
    const START: i64 = 0x7fff_ffff_0000_0000;
    const SIZE: i64 = 0x1_0000_0010;
    are_refused(&[
        (GL_INVALID_VALUE, |e| unsafe {
            e.gl_clear_buffer_sub_data(
                GL_ARRAY_BUFFER,
                GL_R8UI,
                START + 4096,
                SIZE,
                GL_RED_INTEGER,
                GL_UNSIGNED_BYTE,
                bytes(&[0xab]),
            )
        }),
        (GL_INVALID_VALUE, |e| unsafe {
            e.gl_buffer_sub_data(GL_ARRAY_BUFFER, i64::MAX - 15, 16, ([1; 16].as_ptr(), 16))
        }),
        (GL_INVALID_VALUE, |e| {
            e.gl_copy_buffer_sub_data(GL_COPY_READ_BUFFER, GL_ARRAY_BUFFER, i64::MAX - 15, 0, 16)
        }),
        (GL_INVALID_VALUE, |e| {
            e.gl_copy_buffer_sub_data(GL_COPY_READ_BUFFER, GL_ARRAY_BUFFER, 0, START, SIZE)
        }),
        (GL_INVALID_VALUE, |e| {
            e.gl_invalidate_buffer_sub_data(1, START, SIZE)
        }),
    ]);
    let mut s = furnished();
    s.encode(|e| {
        e.gl_get_buffer_sub_data(GL_ARRAY_BUFFER, i64::MAX - 15, 16, 16);
        e.mgn_get_error(1);
    });
    let _refused = s.answer();
    assert_eq!(s.answer_array::<u32>(), [GL_INVALID_VALUE]);
}

#[test]
fn levels_beyond_the_last_one_are_refused() {
    let mut s = furnished();
    s.encode(|e| {
        e.gl_tex_parameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
        e.gl_invalidate_tex_sub_image(1, 1, 0, 0, 0, 1, 1, 1);
        e.mgn_get_error(1);
    });
    assert_eq!(s.answer_array::<u32>(), [GL_INVALID_VALUE]);
}

#[test]
fn places_in_images_do_not_wrap() {
    are_refused(&[
        // Levels beyond those that the driver has room for, but not beyond GL_TEXTURE_MAX_LEVEL.
        (GL_INVALID_VALUE, |e| {
            e.gl_tex_parameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, i32::MAX);
            e.gl_invalidate_tex_sub_image(1, 0x1405, 0, 0, 0, 1, 1, 1)
        }),
        (GL_INVALID_VALUE, |e| {
            e.gl_invalidate_tex_sub_image(1, 900, 0, 0, 0, 1, 1, 1)
        }),
        (GL_INVALID_VALUE, |e| {
            e.gl_invalidate_tex_sub_image(1, -1, 0, 0, 0, 1, 1, 1)
        }),
        (GL_INVALID_VALUE, |e| unsafe {
            let data = bytes(&[1; 64]);
            e.gl_tex_sub_image2d(
                GL_TEXTURE_2D,
                0,
                FAR,
                0,
                SIDE,
                SIDE,
                GL_RGBA,
                GL_UNSIGNED_BYTE,
                data,
            )
        }),
        (GL_INVALID_VALUE, |e| unsafe {
            let data = bytes(&[1; 64]);
            e.gl_tex_sub_image2d(
                GL_TEXTURE_2D,
                0,
                0,
                FAR,
                SIDE,
                SIDE,
                GL_RGBA,
                GL_UNSIGNED_BYTE,
                data,
            )
        }),
        (GL_INVALID_VALUE, |e| {
            e.gl_copy_tex_sub_image2d(GL_TEXTURE_2D, 0, FAR, FAR, 0, 0, SIDE, SIDE)
        }),
        (GL_INVALID_VALUE, |e| {
            let (size, to) = ([SIDE, SIDE], [FAR, FAR]);
            e.gl_copy_image_sub_data(
                1,
                GL_TEXTURE_2D,
                0,
                0,
                0,
                0,
                2,
                GL_TEXTURE_2D,
                0,
                to[0],
                to[1],
                0,
                size[0],
                size[1],
                1,
            )
        }),
        (GL_INVALID_VALUE, |e| {
            e.gl_copy_image_sub_data(
                1,
                GL_TEXTURE_2D,
                0,
                FAR,
                FAR,
                0,
                2,
                GL_TEXTURE_2D,
                0,
                0,
                0,
                0,
                SIDE,
                SIDE,
                1,
            )
        }),
        (GL_INVALID_OPERATION, |e| unsafe {
            e.gl_clear_tex_sub_image(
                1,
                0,
                FAR,
                FAR,
                0,
                SIDE,
                SIDE,
                1,
                GL_RGBA,
                GL_UNSIGNED_BYTE,
                bytes(&[1; 4]),
            )
        }),
    ]);
    let mut s = furnished();
    for (x, y) in [
        (0, i32::MAX - 255),
        (i32::MAX - 63, 0),
        (i32::MIN, i32::MIN),
    ] {
        s.encode(|e| e.gl_read_pixels(x, y, 64, 256, GL_RGBA, GL_UNSIGNED_BYTE));
        let read = s.answer_array::<u8>();
        assert!(read.iter().all(|byte| *byte == 0), "read at {x}, {y}");
    }
}

#[test]
fn binding_points_do_not_wrap() {
    are_refused(&[
        (GL_INVALID_OPERATION, |e| unsafe {
            e.gl_bind_textures(u32::MAX, 1, ([1].as_ptr(), 1))
        }),
        (GL_INVALID_OPERATION, |e| unsafe {
            e.gl_bind_samplers(u32::MAX, 1, ([0].as_ptr(), 1))
        }),
        (GL_INVALID_OPERATION, |e| unsafe {
            e.gl_bind_image_textures(u32::MAX, 1, ([1].as_ptr(), 1))
        }),
        (GL_INVALID_OPERATION, |e| unsafe {
            e.gl_bind_buffers_base(GL_UNIFORM_BUFFER, u32::MAX, 1, ([1].as_ptr(), 1))
        }),
        (GL_INVALID_OPERATION, |e| unsafe {
            let (offsets, sizes) = ([0i64], [16i64]);
            e.gl_bind_buffers_range(
                GL_UNIFORM_BUFFER,
                u32::MAX,
                1,
                ([1].as_ptr(), 1),
                (offsets.as_ptr(), 1),
                (sizes.as_ptr(), 1),
            )
        }),
        (GL_INVALID_OPERATION, |e| unsafe {
            e.gl_bind_vertex_buffers(
                u32::MAX,
                1,
                ([1].as_ptr(), 1),
                ([0].as_ptr(), 1),
                ([16].as_ptr(), 1),
            )
        }),
        (GL_INVALID_VALUE, |e| unsafe {
            e.gl_scissor_arrayv(u32::MAX, 1, ([0; 4].as_ptr(), 4))
        }),
        (GL_INVALID_VALUE, |e| unsafe {
            e.gl_viewport_arrayv(u32::MAX, 1, ([0.0; 4].as_ptr(), 4))
        }),
        (GL_INVALID_VALUE, |e| unsafe {
            e.gl_depth_range_arrayv(u32::MAX, 1, ([0.0; 2].as_ptr(), 2))
        }),
    ]);
}
