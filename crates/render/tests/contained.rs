//! Attacks: a client that wants the renderer's memory read or overwritten. The tests run in the
//! renderer's process, so they can offer it addresses that exist.

// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

mod support;

use mgn_wire::draws::{attr, Array, Kind};
use mgn_wire::encoder::Data;
use mgn_wire::gl::*;
use mgn_wire::hello::api;
use mgn_wire::{Encoder, Fault};
use support::{Session, CONFIG};

/// The data that an attacker looks for in the renderer's memory.
static SECRET: [f32; 64] = [1234.5; 64];

fn address() -> u64 {
    SECRET.as_ptr() as u64
}

fn bytes(values: &[f32]) -> Data {
    Data::Bytes(values.as_ptr().cast(), values.len() * 4)
}

fn is_refused(s: &mut Session, commands: impl FnOnce(&mut Encoder)) -> bool {
    matches!(s.try_encode(commands), Err(Fault::Refused(_)))
}

/// A program that writes attribute 0 to a buffer, which is bound for it.
unsafe fn capture(e: &mut Encoder) {
    let source = "#version 130\nin float at; out float seen; void main() { gl_Position = vec4(0.0); seen = at; }";
    let (nothing, seen) = ([0f32; 64], c"seen");
    unsafe {
        e.gl_create_shader(GL_VERTEX_SHADER, 1);
        e.gl_shader_source(1, (source.as_ptr(), source.len()));
        e.gl_compile_shader(1);
        e.gl_create_program(2);
        e.gl_attach_shader(2, 1);
        e.gl_bind_attrib_location(2, 0, (b"at".as_ptr(), 2));
        e.gl_transform_feedback_varyings(2, 1, (seen.as_ptr().cast(), 5), GL_INTERLEAVED_ATTRIBS);
        e.gl_link_program(2);
        e.gl_use_program(2);
        e.gl_gen_buffers(([7, 8].as_ptr(), 2));
        e.gl_bind_buffer(GL_ARRAY_BUFFER, 7);
        e.gl_buffer_data(GL_ARRAY_BUFFER, 256, bytes(&nothing), GL_STATIC_DRAW);
        e.gl_bind_buffer_base(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 8);
        e.gl_buffer_data(
            GL_TRANSFORM_FEEDBACK_BUFFER,
            256,
            bytes(&nothing),
            GL_STATIC_READ,
        );
        e.gl_enable(GL_RASTERIZER_DISCARD);
    }
}

/// Draws points, and what the shader has seen of attribute 0; none if the session ends before.
fn captured(s: &mut Session) -> Option<Vec<f32>> {
    let drawn = s.try_encode(|e| {
        e.gl_begin_transform_feedback(GL_POINTS);
        e.gl_draw_arrays(GL_POINTS, 0, 4);
        e.gl_end_transform_feedback();
        e.mgn_buffer_read(8, 0, 16);
    });
    drawn.ok().map(|()| s.answer_array())
}

#[test]
fn an_array_whose_binding_point_loses_its_buffer_is_not_drawn() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
        capture(e);
        e.gl_enable_vertex_attrib_array(0);
        e.gl_vertex_attrib_binding(0, 1);
        e.gl_bind_vertex_buffer(1, 7, 0, 4);
    });
    assert_eq!(captured(&mut s), Some(vec![0.0; 4]));
    // The pointer of attribute 1 is also that of attribute 0, which would be read from no buffer.
    s.encode(|e| {
        e.gl_bind_buffer(GL_ARRAY_BUFFER, 0);
        e.gl_vertex_attrib_pointer(1, 4, GL_FLOAT, 0, 4, 0);
    });
    assert_eq!(s.renderer.compare_notes(), Ok(()));
    assert!(captured(&mut s).is_some());
}

#[test]
fn what_comes_between_begin_and_end_is_refused_and_not_noted() {
    let attacks: [fn(&mut Encoder); 11] = [
        |e| e.gl_pixel_storei(GL_PACK_SKIP_ROWS, 0),
        |e| e.gl_pixel_storei(GL_UNPACK_SKIP_ROWS, 0),
        |e| e.gl_bind_buffer(GL_ELEMENT_ARRAY_BUFFER, 9),
        |e| e.gl_bind_buffer(GL_ARRAY_BUFFER, 9),
        |e| e.gl_vertex_pointer(2, GL_FLOAT, 0, 0),
        |e| e.gl_client_active_texture(GL_TEXTURE3),
        |e| e.gl_enable_client_state(GL_VERTEX_ARRAY),
        |e| e.gl_bind_vertex_array(1),
        |e| unsafe { e.gl_delete_vertex_arrays(([2].as_ptr(), 1)) },
        |e| e.gl_read_pixels(0, 0, 8, 8, GL_RGBA, GL_UNSIGNED_BYTE),
        |e| e.gl_draw_elements(GL_POINTS, 1, GL_UNSIGNED_INT, 0),
    ];
    let beginnings: [fn(&mut Encoder); 2] = [|e| e.gl_begin(GL_POINTS), |e| e.gl_call_list(1)];
    for attack in attacks {
        for begin in beginnings {
            let mut s = Session::new(api::COMPAT, 0);
            s.encode(|e| unsafe {
                e.gl_new_list(1, GL_COMPILE);
                e.gl_begin(GL_POINTS);
                e.gl_end_list();
                e.gl_gen_vertex_arrays(([1, 2].as_ptr(), 2));
                e.gl_bind_vertex_array(2);
                e.gl_bind_buffer(GL_ARRAY_BUFFER, 7);
                // The driver has this layout when the next image is asked for.
                e.gl_pixel_storei(GL_PACK_SKIP_ROWS, 1 << 20);
                e.gl_pixel_storei(GL_UNPACK_SKIP_ROWS, 1 << 20);
                begin(e);
                attack(e);
                // All that belongs there is executed.
                e.gl_vertex2f(0.0, 0.0);
                e.gl_end();
                e.mgn_get_error(1);
            });
            s.forget_answers();
            assert_eq!(s.renderer.compare_notes(), Ok(()));
            s.encode(|e| e.gl_read_pixels(0, 0, 8, 8, GL_RGBA, GL_UNSIGNED_BYTE));
            assert_eq!(s.answer_array::<u8>().len(), 8 * 8 * 4);
            // Neither the buffer of indices nor any array is at an address.
            assert!(is_refused(&mut s, |e| {
                e.gl_draw_elements(GL_POINTS, 4, GL_UNSIGNED_INT, address());
            }));
        }
    }
}

#[test]
fn a_layout_that_the_driver_has_refused_is_not_believed() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| {
        e.gl_new_list(1, GL_COMPILE);
        e.gl_begin(GL_POINTS);
        e.gl_end_list();
        // The driver refuses what follows in the list, or it does not; no answer may overflow.
        e.gl_new_list(2, GL_COMPILE_AND_EXECUTE);
        e.gl_call_list(1);
        e.gl_pixel_storei(GL_PACK_SKIP_ROWS, 1 << 20);
        e.gl_end_list();
        e.gl_end();
        e.gl_read_pixels(0, 0, 8, 8, GL_RGBA, GL_UNSIGNED_BYTE);
    });
    assert_eq!(s.answer_array::<u8>().len(), 8 * 8 * 4);
}

#[test]
fn a_pattern_is_answered_without_the_programs_layout() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| {
        e.gl_pixel_storei(GL_PACK_SKIP_ROWS, 1 << 20);
        e.gl_pixel_storei(GL_PACK_ROW_LENGTH, 1 << 20);
        e.gl_get_polygon_stipple(128);
    });
    assert_eq!(s.answer_array::<u8>(), [0xff; 128]);
}

#[test]
fn an_array_whose_buffer_was_taken_away_is_not_read() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
        capture(e);
        e.gl_vertex_attrib_pointer(0, 1, GL_FLOAT, 0, 4, 0);
        e.gl_enable_vertex_attrib_array(0);
        // The pointer stays when its buffer goes, and the new one is refused for its offset.
        e.gl_bind_vertex_buffer(0, 7, address() as i64, 4);
        e.gl_bind_vertex_buffer(0, 0, address() as i64, 4);
        e.gl_bind_vertex_buffer(0, 7, -1, 4);
    });
    let seen = captured(&mut s).expect("the draw is harmless");
    assert!(!seen.contains(&SECRET[0]), "{seen:?}");
}

/// Draws one point by glArrayElement, and what the shader has seen of attribute 0.
fn seen_of_element(s: &mut Session, element: i32) -> Vec<f32> {
    let nothing = [0f32; 4];
    s.encode(|e| unsafe {
        e.gl_bind_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, 8);
        e.gl_buffer_sub_data(
            GL_TRANSFORM_FEEDBACK_BUFFER,
            0,
            16,
            (nothing.as_ptr().cast(), 16),
        );
        e.gl_begin_transform_feedback(GL_POINTS);
        e.gl_begin(GL_POINTS);
        e.gl_array_element(element);
        e.gl_end();
        e.gl_end_transform_feedback();
        e.mgn_buffer_read(8, 0, 16);
    });
    s.answer_array()
}

#[test]
fn an_element_that_is_in_no_buffer_is_not_read() {
    let mut s = Session::new(api::COMPAT, 0);
    let values: Vec<f32> = (0..64).map(|n| n as f32).collect();
    s.encode(|e| unsafe {
        capture(e);
        e.gl_buffer_data(GL_ARRAY_BUFFER, 256, bytes(&values), GL_STATIC_DRAW);
        e.gl_vertex_attrib_pointer(0, 1, GL_FLOAT, 0, 0, 4);
        e.gl_enable_vertex_attrib_array(0);
    });
    assert_eq!(seen_of_element(&mut s, 62), [63.0, 0.0, 0.0, 0.0]);
    for beyond in [63, 1 << 20, i32::MAX, -1, i32::MIN] {
        assert_eq!(seen_of_element(&mut s, beyond), [0.0; 4]);
    }
    // An array that lies nowhere.
    s.encode(|e| e.gl_bind_vertex_buffer(0, 0, address() as i64, 4));
    assert_eq!(seen_of_element(&mut s, 0), [0.0; 4]);
}

#[test]
fn an_element_is_not_looked_for_in_the_buffer_that_took_a_deleted_ones_name() {
    let mut s = Session::new(api::COMPAT, 0);
    let values = [1f32; 64];
    s.encode(|e| unsafe {
        capture(e);
        e.gl_gen_vertex_arrays(([1].as_ptr(), 1));
        e.gl_bind_vertex_array(1);
        e.gl_gen_buffers(([11].as_ptr(), 1));
        e.gl_bind_buffer(GL_ARRAY_BUFFER, 11);
        e.gl_buffer_data(GL_ARRAY_BUFFER, 256, bytes(&values), GL_STATIC_DRAW);
        e.gl_vertex_attrib_pointer(0, 1, GL_FLOAT, 0, 4, 0);
        e.gl_enable_vertex_attrib_array(0);
        // It stays attached to object 1.
        e.gl_bind_vertex_array(0);
        e.gl_delete_buffers(([11].as_ptr(), 1));
        e.gl_gen_buffers(([12].as_ptr(), 1));
        e.gl_bind_buffer(GL_ARRAY_BUFFER, 12);
        e.gl_buffer_data(GL_ARRAY_BUFFER, 4 << 20, Data::Null, GL_STATIC_DRAW);
        e.gl_bind_vertex_array(1);
    });
    assert_eq!(seen_of_element(&mut s, 1 << 19), [0.0; 4]);
}

/// Begins a primitive in context 1 from a buffer of 64 KiB, lets `shrink` run as context 2, which
/// shares its buffers, and gives what an element in the old storage is.
fn seen_after(shrink: impl FnOnce(&mut Encoder)) -> Vec<f32> {
    let mut s = Session::new(api::COMPAT, 0);
    let values = vec![1f32; 1 << 14];
    s.encode(|e| unsafe {
        capture(e);
        e.gl_gen_buffers(([11].as_ptr(), 1));
        e.gl_bind_buffer(GL_ARRAY_BUFFER, 11);
        e.gl_buffer_data(GL_ARRAY_BUFFER, 1 << 16, bytes(&values), GL_STATIC_DRAW);
        e.gl_vertex_attrib_pointer(0, 1, GL_FLOAT, 0, 4, 0);
        e.gl_enable_vertex_attrib_array(0);
        e.mgn_create_context(2, api::COMPAT, 0, 0, 0, CONFIG, 1, 1 << 20);
        e.mgn_create_surface(2, 1, CONFIG, 8, 8);
    });
    s.forget_answers();
    s.context = 2;
    s.encode(|e| e.mgn_make_current(2, 2));
    s.context = 1;
    s.encode(|e| {
        e.gl_begin_transform_feedback(GL_POINTS);
        e.gl_begin(GL_POINTS);
    });
    s.context = 2;
    s.encode(shrink);
    s.context = 1;
    s.encode(|e| {
        e.gl_array_element(1 << 13);
        e.gl_end();
        e.gl_end_transform_feedback();
        e.mgn_buffer_read(8, 0, 16);
    });
    s.answer_array()
}

#[test]
fn an_element_of_storage_that_another_context_has_replaced_is_not_read() {
    // Commands of another context in between do no harm.
    assert_eq!(
        seen_after(|e| unsafe {
            e.gl_gen_buffers(([12].as_ptr(), 1));
            e.gl_bind_buffer(GL_ARRAY_BUFFER, 12);
            e.gl_buffer_data(GL_ARRAY_BUFFER, 16, Data::Null, GL_STATIC_DRAW);
        }),
        [1.0, 0.0, 0.0, 0.0]
    );
    // Storage of the same size is as good.
    let twos = vec![2f32; 1 << 14];
    assert_eq!(
        seen_after(|e| unsafe {
            e.gl_bind_buffer(GL_ARRAY_BUFFER, 11);
            e.gl_buffer_data(GL_ARRAY_BUFFER, 1 << 16, bytes(&twos), GL_STATIC_DRAW);
        }),
        [2.0, 0.0, 0.0, 0.0]
    );
    let shrinks: [fn(&mut Encoder); 4] = [
        |e| unsafe { e.gl_buffer_data(GL_ARRAY_BUFFER, 16, Data::Null, GL_STATIC_DRAW) },
        |e| unsafe { e.gl_buffer_storage(GL_ARRAY_BUFFER, 16, Data::Null, 0) },
        |e| unsafe {
            e.gl_delete_buffers(([11].as_ptr(), 1));
            e.gl_buffer_data(GL_ARRAY_BUFFER, 16, Data::Null, GL_STATIC_DRAW);
        },
        |e| unsafe {
            e.gl_buffer_data(GL_ARRAY_BUFFER, 16, Data::Null, GL_STATIC_DRAW);
            e.gl_buffer_data(GL_ARRAY_BUFFER, 64, Data::Null, GL_STATIC_DRAW);
        },
    ];
    for (number, shrink) in shrinks.into_iter().enumerate() {
        let seen = seen_after(|e| {
            e.gl_bind_buffer(GL_ARRAY_BUFFER, 11);
            shrink(e);
        });
        // After the deletion, the second context has no buffer bound, and changes none.
        let expected = if number == 2 { 1.0 } else { 0.0 };
        assert_eq!(seen[0], expected, "shrink {number}");
    }
}

#[test]
fn a_primitive_that_was_refused_does_not_keep_what_was_noted_for_it() {
    let changes: [fn(&mut Encoder); 4] = [
        |e| unsafe { e.gl_buffer_data(GL_ARRAY_BUFFER, 16, Data::Null, GL_STATIC_DRAW) },
        |e| {
            e.gl_vertex_attrib_pointer(2, 1, GL_FLOAT, 0, 4, 1 << 14);
            e.gl_enable_vertex_attrib_array(2);
        },
        |e| e.gl_disable(GL_PRIMITIVE_RESTART),
        |e| e.gl_primitive_restart_index(7),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut s = Session::new(api::COMPAT, 0);
        let values = vec![1f32; 1 << 12];
        s.encode(|e| unsafe {
            e.gl_gen_buffers(([11].as_ptr(), 1));
            e.gl_bind_buffer(GL_ARRAY_BUFFER, 11);
            e.gl_buffer_data(GL_ARRAY_BUFFER, 1 << 14, bytes(&values), GL_STATIC_DRAW);
            e.gl_vertex_attrib_pointer(1, 1, GL_FLOAT, 0, 4, 0);
            e.gl_enable_vertex_attrib_array(1);
            e.gl_enable(GL_PRIMITIVE_RESTART);
            e.gl_primitive_restart_index(1 << 13);
            e.gl_vertex_attrib4f(1, 7.0, 7.0, 7.0, 7.0);
            e.gl_begin(0xffff);
            change(e);
            let element = if number < 2 { 1 << 11 } else { 1 << 13 };
            e.gl_array_element(element);
            e.gl_get_vertex_attribfv(1, GL_CURRENT_VERTEX_ATTRIB, 4);
        });
        assert_eq!(s.answer_array::<f32>(), [7.0; 4], "change {number}");
    }
}

#[test]
fn a_list_does_not_keep_what_was_noted_before_it() {
    let mut s = Session::new(api::COMPAT, 0);
    let values = vec![1f32; 1 << 12];
    s.encode(|e| unsafe {
        e.gl_gen_vertex_arrays(([3].as_ptr(), 1));
        e.gl_gen_buffers(([11, 12].as_ptr(), 2));
        for (object, buffer, size) in [(3, 12, 16), (0, 11, 1 << 14)] {
            e.gl_bind_vertex_array(object);
            e.gl_bind_buffer(GL_ARRAY_BUFFER, buffer);
            e.gl_buffer_data(GL_ARRAY_BUFFER, size, bytes(&values), GL_STATIC_DRAW);
            e.gl_vertex_attrib_pointer(1, 1, GL_FLOAT, 0, 4, 0);
            e.gl_enable_vertex_attrib_array(1);
        }
        e.gl_array_element(0);
        e.gl_vertex_attrib4f(1, 7.0, 7.0, 7.0, 7.0);
        e.gl_new_list(1, GL_COMPILE);
        e.gl_bind_vertex_array(3);
        e.gl_draw_arrays(GL_POINTS, 0, 1);
        e.gl_end_list();
        e.gl_array_element(1 << 11);
        e.gl_get_vertex_attribfv(1, GL_CURRENT_VERTEX_ATTRIB, 4);
    });
    assert_eq!(s.answer_array::<f32>(), [7.0; 4]);
}

#[test]
fn a_draw_whose_array_the_driver_refuses_does_not_use_an_old_pointer() {
    let mut s = Session::new(api::ES, 0);
    let array = |type_| Array {
        attribute: attr::GENERIC,
        kind: Kind::Float,
        size: 1,
        type_,
        normalized: false,
        divisor: 0,
        stride: 8,
        buffer: 0,
        offset: 0,
    };
    let vertices = [0f32; 2];
    let draw = |s: &mut Session, type_, count: i32, vertices: &[f32]| {
        let words = array(type_).encode();
        s.encode(|e| unsafe {
            let words = (words.as_ptr(), words.len());
            e.mgn_draw_arrays(GL_POINTS, 0, count, 1, 0, words, bytes(vertices));
            e.mgn_get_error(1);
        });
        s.answer_array::<u32>()[0]
    };
    assert_eq!(draw(&mut s, GL_FLOAT, 1, &vertices), GL_NO_ERROR);
    // OpenGL ES has no doubles. The pointer that stays has one element.
    let many = vec![0f32; 1 << 15];
    assert_eq!(draw(&mut s, GL_DOUBLE, 1 << 14, &many), GL_INVALID_ENUM);
}

#[test]
fn indices_are_never_at_an_address() {
    for delete in [false, true] {
        let mut s = Session::new(api::COMPAT, 0);
        s.encode(|e| unsafe {
            capture(e);
            e.gl_vertex_attrib_pointer(0, 1, GL_FLOAT, 0, 4, 0);
            e.gl_enable_vertex_attrib_array(0);
            e.gl_bind_buffer(GL_ELEMENT_ARRAY_BUFFER, 9);
            match delete {
                true => e.gl_delete_buffers(([9].as_ptr(), 1)),
                false => e.gl_bind_buffer(GL_ELEMENT_ARRAY_BUFFER, 0),
            }
        });
        assert!(is_refused(&mut s, |e| {
            e.gl_draw_elements(GL_POINTS, 4, GL_UNSIGNED_INT, address());
        }));
    }
}

#[test]
fn parts_of_textures_beside_the_texture_are_refused() {
    let noise = [0xabu8; 256];
    let noise = || Data::Bytes(noise.as_ptr(), 64);
    type Attack<'a> = (u32, &'a dyn Fn(&mut Encoder));
    let attacks: [Attack<'_>; 11] = [
        (GL_INVALID_VALUE, &|e| {
            e.gl_copy_multi_tex_sub_image2dext(
                GL_TEXTURE1,
                GL_TEXTURE_2D,
                0,
                1 << 12,
                1 << 12,
                0,
                0,
                4,
                4,
            )
        }),
        (GL_INVALID_VALUE, &|e| {
            e.gl_copy_multi_tex_sub_image2dext(GL_TEXTURE1, GL_TEXTURE_2D, 7000, 0, 0, 0, 0, 4, 4)
        }),
        (GL_INVALID_VALUE, &|e| {
            e.gl_copy_multi_tex_sub_image3dext(
                GL_TEXTURE1,
                GL_TEXTURE_3D,
                0,
                0,
                0,
                1 << 12,
                0,
                0,
                4,
                4,
            )
        }),
        (GL_INVALID_VALUE, &|e| unsafe {
            e.gl_multi_tex_sub_image1dext(
                GL_TEXTURE1,
                GL_TEXTURE_1D,
                0,
                1 << 12,
                16,
                GL_RGBA,
                GL_UNSIGNED_BYTE,
                noise(),
            )
        }),
        (GL_INVALID_VALUE, &|e| unsafe {
            e.gl_multi_tex_sub_image2dext(
                GL_TEXTURE1,
                GL_TEXTURE_2D,
                0,
                1 << 12,
                1 << 12,
                4,
                4,
                GL_RGBA,
                GL_UNSIGNED_BYTE,
                noise(),
            )
        }),
        (GL_INVALID_VALUE, &|e| unsafe {
            e.gl_multi_tex_sub_image2dext(
                GL_TEXTURE1,
                GL_TEXTURE_2D,
                0,
                -(1 << 12),
                -(1 << 12),
                4,
                4,
                GL_RGBA,
                GL_UNSIGNED_BYTE,
                noise(),
            )
        }),
        (GL_INVALID_VALUE, &|e| unsafe {
            e.gl_multi_tex_sub_image2dext(
                GL_TEXTURE1,
                GL_TEXTURE_2D,
                7000,
                0,
                0,
                4,
                4,
                GL_RGBA,
                GL_UNSIGNED_BYTE,
                noise(),
            )
        }),
        (GL_INVALID_VALUE, &|e| unsafe {
            e.gl_multi_tex_sub_image2dext(
                GL_TEXTURE1,
                GL_TEXTURE_2D,
                -7000,
                0,
                0,
                4,
                4,
                GL_RGBA,
                GL_UNSIGNED_BYTE,
                noise(),
            )
        }),
        (GL_INVALID_OPERATION, &|e| unsafe {
            e.gl_multi_tex_sub_image2dext(
                GL_TEXTURE1,
                GL_TEXTURE_2D,
                1,
                0,
                0,
                4,
                4,
                GL_RGBA,
                GL_UNSIGNED_BYTE,
                noise(),
            )
        }),
        (GL_INVALID_VALUE, &|e| unsafe {
            e.gl_multi_tex_sub_image3dext(
                GL_TEXTURE1,
                GL_TEXTURE_3D,
                0,
                0,
                0,
                1 << 12,
                4,
                4,
                1,
                GL_RGBA,
                GL_UNSIGNED_BYTE,
                noise(),
            )
        }),
        (GL_INVALID_ENUM, &|e| unsafe {
            e.gl_multi_tex_sub_image2dext(
                GL_TEXTURE1,
                GL_TEXTURE_3D,
                0,
                0,
                0,
                4,
                4,
                GL_RGBA,
                GL_UNSIGNED_BYTE,
                noise(),
            )
        }),
    ];
    for ((error, attack), in_list) in attacks.iter().flat_map(|a| [(a, false), (a, true)]) {
        let mut s = Session::new(api::COMPAT, 0);
        s.encode(|e| unsafe {
            e.gl_active_texture(GL_TEXTURE1);
            for (name, target) in [(1, GL_TEXTURE_1D), (2, GL_TEXTURE_2D), (3, GL_TEXTURE_3D)] {
                e.gl_bind_texture(target, name);
            }
            let none = || Data::Bytes(std::ptr::null(), 0);
            e.gl_tex_image1d(
                GL_TEXTURE_1D,
                0,
                GL_RGBA8 as i32,
                16,
                0,
                GL_RGBA,
                GL_UNSIGNED_BYTE,
                none(),
            );
            e.gl_tex_image2d(
                GL_TEXTURE_2D,
                0,
                GL_RGBA8 as i32,
                4,
                4,
                0,
                GL_RGBA,
                GL_UNSIGNED_BYTE,
                none(),
            );
            e.gl_tex_image3d(
                GL_TEXTURE_3D,
                0,
                GL_RGBA8 as i32,
                4,
                4,
                4,
                0,
                GL_RGBA,
                GL_UNSIGNED_BYTE,
                none(),
            );
            e.gl_active_texture(GL_TEXTURE0);
            e.mgn_get_error(1);
        });
        s.forget_answers();
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
        assert_eq!(s.answer_array::<u32>(), [*error]);
        // Neither is the active unit another one now.
        s.encode(|e| e.gl_get_integerv(GL_ACTIVE_TEXTURE, 1));
        assert_eq!(s.answer_array::<u32>(), [GL_TEXTURE0]);
    }
}
