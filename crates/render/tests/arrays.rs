//! Vertex arrays in buffers and in the stream.
// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

mod support;

use mgn_wire::draws::{attr, Array, Kind};
use mgn_wire::encoder::Data;
use mgn_wire::gl::*;
use mgn_wire::hello::api;
use mgn_wire::{Encoder, Fault};
use support::{offered, Session};

/// Two triangles that fill the window, and their colours.
const CORNERS: [f32; 12] = [
    -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0, 1.0,
];

fn bytes(values: &[f32]) -> Data {
    Data::Bytes(values.as_ptr().cast(), values.len() * 4)
}

fn array(attribute: u8, size: u32, buffer: u32, stride: u32, offset: u64) -> Array {
    Array {
        attribute,
        kind: Kind::Float,
        size,
        type_: GL_FLOAT,
        normalized: false,
        divisor: 0,
        stride,
        buffer,
        offset,
    }
}

fn words(arrays: &[Array]) -> Vec<u32> {
    arrays.iter().flat_map(|a| a.encode()).collect()
}

/// Whether the window is all of this colour (as RGB).
fn is_filled(s: &mut Session, rgb: [u8; 3]) -> bool {
    s.encode(|e| e.mgn_swap_buffers(1, 0, 1));
    s.picture()
        .pixels
        .chunks_exact(4)
        .all(|p| [p[2], p[1], p[0]] == rgb)
}

unsafe fn program(e: &mut Encoder, version: &str) {
    let vertex = format!("{version}\nin vec2 at; in vec4 tint; out vec4 c; void main() {{ gl_Position = vec4(at, 0.0, 1.0); c = tint; }}");
    let fragment = format!(
        "{version}\nprecision highp float; in vec4 c; out vec4 o; void main() {{ o = c; }}"
    );
    unsafe {
        for (name, kind, source) in [
            (1, GL_VERTEX_SHADER, vertex),
            (2, GL_FRAGMENT_SHADER, fragment),
        ] {
            e.gl_create_shader(kind, name);
            e.gl_shader_source(name, (source.as_ptr(), source.len()));
            e.gl_compile_shader(name);
        }
        e.gl_create_program(3);
        e.gl_attach_shader(3, 1);
        e.gl_attach_shader(3, 2);
        e.gl_bind_attrib_location(3, 0, (b"at".as_ptr(), 2));
        e.gl_bind_attrib_location(3, 1, (b"tint".as_ptr(), 4));
        e.gl_link_program(3);
        e.gl_use_program(3);
    }
}

#[test]
fn inline_arrays_are_drawn_and_leave_the_programs_arrays_alone() {
    for api in offered(&[api::COMPAT, api::ES1]) {
        let mut s = Session::new(api, 0);
        let inline = words(&[array(attr::POSITION, 2, 0, 8, 0)]);
        let away = [9.0f32; 12];
        s.encode(|e| unsafe {
            e.gl_gen_buffers(([7, 8].as_ptr(), 2));
            for (name, values) in [(7, &CORNERS), (8, &away)] {
                e.gl_bind_buffer(GL_ARRAY_BUFFER, name);
                e.gl_buffer_data(GL_ARRAY_BUFFER, 48, bytes(values), GL_STATIC_DRAW);
            }
            e.gl_bind_buffer(GL_ARRAY_BUFFER, 7);
            e.gl_vertex_pointer(2, GL_FLOAT, 0, 0);
            e.gl_enable_client_state(GL_VERTEX_ARRAY);
            e.gl_bind_buffer(GL_ARRAY_BUFFER, 8);
            // The driver refuses this one.
            e.gl_vertex_pointer(7, GL_FLOAT, 0, 0);
            e.gl_color4f(1.0, 0.0, 0.0, 1.0);
            e.mgn_draw_arrays(
                GL_TRIANGLES,
                0,
                6,
                1,
                0,
                (inline.as_ptr(), inline.len()),
                bytes(&CORNERS),
            );
        });
        assert!(is_filled(&mut s, [255, 0, 0]));
        s.encode(|e| {
            e.gl_color4f(0.0, 1.0, 0.0, 1.0);
            e.gl_draw_arrays(GL_TRIANGLES, 0, 6);
        });
        assert!(
            is_filled(&mut s, [0, 255, 0]),
            "the program's own array was lost"
        );
        // The buffer that the program has bound is the one that its next pointer means.
        s.encode(|e| {
            e.gl_vertex_pointer(2, GL_FLOAT, 0, 0);
            e.gl_color4f(0.0, 0.0, 1.0, 1.0);
            e.gl_draw_arrays(GL_TRIANGLES, 0, 6);
        });
        assert!(is_filled(&mut s, [0, 255, 0]));
    }
}

/// Mesa 25.0 crashes when it draws this from memory.
#[test]
fn the_fixed_function_takes_generic_array_0_for_positions() {
    let mut s = Session::new(api::COMPAT, 0);
    let colours: Vec<f32> = [0.0, 0.0, 1.0, 1.0].repeat(6);
    let values = [&[9.0; 4][..], &CORNERS, &colours].concat();
    let both = words(&[
        array(attr::GENERIC, 2, 0, 8, 16),
        array(attr::COLOR, 4, 0, 16, 64),
    ]);
    let indices: Vec<u8> = (5..11u16).flat_map(u16::to_le_bytes).collect();
    s.encode(|e| unsafe {
        let arrays = (both.as_ptr(), both.len());
        e.mgn_draw_arrays(GL_TRIANGLES, 3, 6, 1, 0, arrays, bytes(&values));
    });
    assert!(is_filled(&mut s, [0, 0, 255]));
    s.encode(|e| unsafe {
        e.gl_clear(GL_COLOR_BUFFER_BIT);
        let indices = Data::Bytes(indices.as_ptr(), indices.len());
        let (arrays, kind) = ((both.as_ptr(), both.len()), GL_UNSIGNED_SHORT);
        let values = bytes(&values);
        e.mgn_draw_elements(
            GL_TRIANGLES,
            6,
            kind,
            5,
            10,
            1,
            2,
            0,
            arrays,
            indices,
            values,
        );
    });
    assert!(is_filled(&mut s, [0, 0, 255]));
    // One of a run would hide its positions.
    let run = [(attr::GENERIC, 2), (attr::POSITION, 2)];
    let layout = run.map(|(a, n)| [a, n]).concat();
    let none = (std::ptr::null(), 0);
    let mut vertices: Vec<f32> = Vec::new();
    for corner in CORNERS.chunks_exact(2) {
        vertices.extend([9.0, 9.0, corner[0], corner[1]]);
    }
    s.encode(|e| unsafe {
        e.gl_color4f(0.0, 1.0, 0.0, 1.0);
        e.mgn_run(
            GL_TRIANGLES,
            0,
            (layout.as_ptr(), 4),
            bytes(&vertices),
            none,
            (std::ptr::null(), 0),
        );
    });
    assert!(is_filled(&mut s, [0, 255, 0]));
    s.encode(|e| e.mgn_get_error(1));
    assert_eq!(s.answer_array::<u32>(), [GL_NO_ERROR]);
}

#[test]
fn buffers_and_memory_mix_in_one_draw() {
    let mut s = Session::new(api::COMPAT, 0);
    let colours: Vec<f32> = [0.0, 0.0, 1.0, 1.0].repeat(6);
    let both = words(&[
        array(attr::POSITION, 2, 5, 8, 0),
        array(attr::COLOR, 4, 0, 16, 0),
    ]);
    s.encode(|e| unsafe {
        // In the compatibility profile a name need not be generated.
        e.gl_bind_buffer(GL_ARRAY_BUFFER, 5);
        e.gl_buffer_data(GL_ARRAY_BUFFER, 48, bytes(&CORNERS), GL_STATIC_DRAW);
        e.mgn_draw_arrays(
            GL_TRIANGLES,
            0,
            6,
            1,
            0,
            (both.as_ptr(), both.len()),
            bytes(&colours),
        );
    });
    assert!(is_filled(&mut s, [0, 0, 255]));
}

#[test]
fn inline_elements_start_at_the_least_index() {
    for (api, version) in [(api::COMPAT, "#version 130"), (api::ES, "#version 300 es")] {
        let mut s = Session::new(api, 0);
        let arrays = words(&[array(attr::GENERIC, 2, 0, 8, 0)]);
        let indices: [u16; 6] = [1005, 1004, 1003, 1002, 1001, 1000];
        s.encode(|e| unsafe {
            program(e, version);
            e.gl_vertex_attrib4f(1, 1.0, 1.0, 0.0, 1.0);
            e.gl_disable(GL_CULL_FACE);
            e.mgn_draw_elements(
                GL_TRIANGLES,
                6,
                GL_UNSIGNED_SHORT,
                1000,
                1005,
                1,
                0,
                0,
                (arrays.as_ptr(), arrays.len()),
                Data::Bytes(indices.as_ptr().cast(), 12),
                bytes(&CORNERS),
            );
        });
        assert!(is_filled(&mut s, [255, 255, 0]));
    }
}

#[test]
fn indices_beyond_the_vertices_are_refused() {
    let mut s = Session::new(api::COMPAT, 0);
    let arrays = words(&[array(attr::POSITION, 2, 0, 8, 0)]);
    let draw = |e: &mut Encoder, count: i32, indices: &[u16], min: u32, max: u32| unsafe {
        e.mgn_draw_elements(
            GL_TRIANGLES,
            count,
            GL_UNSIGNED_SHORT,
            min,
            max,
            1,
            0,
            0,
            (arrays.as_ptr(), arrays.len()),
            Data::Bytes(indices.as_ptr().cast(), indices.len() * 2),
            bytes(&CORNERS),
        );
    };
    let refused = |r: Result<(), Fault>| assert!(matches!(r, Err(Fault::Refused(_))), "{r:?}");
    refused(s.try_encode(|e| draw(e, 3, &[0, 1, 6], 0, 5)));
    refused(s.try_encode(|e| draw(e, 3, &[0, 1, 2], 0, 6)));
    refused(s.try_encode(|e| draw(e, 4, &[0, 1, 2], 0, 5)));
    refused(s.try_encode(|e| unsafe {
        e.mgn_draw_arrays(
            GL_TRIANGLES,
            0,
            7,
            1,
            0,
            (arrays.as_ptr(), arrays.len()),
            bytes(&CORNERS),
        );
    }));
    refused(s.try_encode(|e| unsafe {
        e.mgn_draw_arrays(
            GL_TRIANGLES,
            i32::MAX,
            i32::MAX,
            1,
            0,
            (arrays.as_ptr(), arrays.len()),
            bytes(&CORNERS),
        );
    }));
    // The restart index may lie anywhere, if it is one.
    refused(s.try_encode(|e| draw(e, 3, &[0, 1, 0xffff], 0, 5)));
    s.encode(|e| {
        e.gl_enable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
        draw(e, 3, &[0, 1, 0xffff], 0, 5);
        e.mgn_get_error(1);
    });
    assert_eq!(s.answer_array::<u32>(), [GL_NO_ERROR]);
}

#[test]
fn arrays_that_lie_nowhere_are_not_read() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
        e.gl_color4f(1.0, 0.0, 1.0, 1.0);
        e.gl_enable_client_state(GL_COLOR_ARRAY);
        e.gl_enable_client_state(GL_TEXTURE_COORD_ARRAY);
        e.gl_client_active_texture(GL_TEXTURE3);
        e.gl_enable_client_state(GL_TEXTURE_COORD_ARRAY);
        e.gl_enable_vertex_attrib_array(7);
        e.gl_bind_buffer(GL_ARRAY_BUFFER, 5);
        e.gl_buffer_data(GL_ARRAY_BUFFER, 48, bytes(&CORNERS), GL_STATIC_DRAW);
        e.gl_vertex_pointer(2, GL_FLOAT, 0, 0);
        e.gl_enable_client_state(GL_VERTEX_ARRAY);
        e.gl_draw_arrays(GL_TRIANGLES, 0, 6);
        e.gl_get_integerv(GL_CLIENT_ACTIVE_TEXTURE, 1);
        e.gl_is_enabled(GL_COLOR_ARRAY);
    });
    assert!(is_filled(&mut s, [255, 0, 255]));
    assert_eq!(s.answer_array::<u32>(), [GL_TEXTURE3]);
    assert_eq!(s.answer().value::<u8>(), 1);
    // An array whose buffer is deleted lies nowhere, wherever in the buffer it was.
    s.encode(|e| unsafe {
        e.gl_vertex_pointer(2, GL_FLOAT, 0, 0x7000_0000);
        e.gl_delete_buffers(([5].as_ptr(), 1));
        e.gl_draw_arrays(GL_TRIANGLES, 0, 6);
        e.mgn_finish();
    });
}

/// Mesa lets glEnable switch arrays too, which is no way around what is followed.
#[test]
fn arrays_that_gl_enable_switches_are_not_read_either() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
        e.gl_color4f(1.0, 0.0, 1.0, 1.0);
        e.gl_enable(GL_COLOR_ARRAY);
        e.gl_bind_buffer(GL_ARRAY_BUFFER, 5);
        e.gl_buffer_data(GL_ARRAY_BUFFER, 48, bytes(&CORNERS), GL_STATIC_DRAW);
        e.gl_vertex_pointer(2, GL_FLOAT, 0, 0);
        e.gl_enable(GL_VERTEX_ARRAY);
        e.gl_draw_arrays(GL_TRIANGLES, 0, 6);
        e.gl_is_enabled(GL_COLOR_ARRAY);
    });
    assert!(is_filled(&mut s, [255, 0, 255]));
    assert_eq!(s.answer().value::<u8>(), 1);
    // A list that switched one would do so unseen.
    let listed = s.try_encode(|e| {
        e.gl_new_list(1, GL_COMPILE);
        e.gl_enable(GL_COLOR_ARRAY);
    });
    assert!(matches!(listed, Err(Fault::Refused(_))), "{listed:?}");
}

#[test]
fn vertex_array_objects_keep_their_arrays() {
    for (api, version) in [
        (api::COMPAT, "#version 130"),
        (api::CORE, "#version 150"),
        (api::ES, "#version 300 es"),
    ] {
        let mut s = Session::new(api, 0);
        let red: Vec<f32> = [1.0, 0.0, 0.0, 1.0].repeat(6);
        s.encode(|e| unsafe {
            program(e, version);
            e.gl_gen_buffers(([11, 12, 13].as_ptr(), 3));
            e.gl_gen_vertex_arrays(([21, 22].as_ptr(), 2));
            e.gl_bind_vertex_array(21);
            e.gl_bind_buffer(GL_ARRAY_BUFFER, 11);
            e.gl_buffer_data(GL_ARRAY_BUFFER, 48, bytes(&CORNERS), GL_STATIC_DRAW);
            e.gl_vertex_attrib_pointer(0, 2, GL_FLOAT, 0, 0, 0);
            e.gl_enable_vertex_attrib_array(0);
            e.gl_bind_buffer(GL_ARRAY_BUFFER, 12);
            e.gl_buffer_data(GL_ARRAY_BUFFER, 96, bytes(&red), GL_STATIC_DRAW);
            e.gl_vertex_attrib_pointer(1, 4, GL_FLOAT, 0, 0, 0);
            e.gl_enable_vertex_attrib_array(1);
            e.gl_bind_buffer(GL_ELEMENT_ARRAY_BUFFER, 13);
            e.gl_buffer_data(
                GL_ELEMENT_ARRAY_BUFFER,
                6,
                Data::Bytes([0u8, 1, 2, 3, 4, 5].as_ptr(), 6),
                GL_STATIC_DRAW,
            );
            e.gl_bind_vertex_array(22);
            e.gl_get_integerv(GL_ELEMENT_ARRAY_BUFFER_BINDING, 1);
            e.gl_get_integerv(GL_VERTEX_ARRAY_BINDING, 1);
            e.gl_bind_vertex_array(21);
            e.gl_draw_elements(GL_TRIANGLES, 6, GL_UNSIGNED_BYTE, 0);
            e.gl_get_integerv(GL_ELEMENT_ARRAY_BUFFER_BINDING, 1);
            e.gl_get_integerv(GL_CURRENT_PROGRAM, 1);
            e.gl_delete_vertex_arrays(([21].as_ptr(), 1));
            e.gl_get_integerv(GL_VERTEX_ARRAY_BINDING, 1);
        });
        assert!(is_filled(&mut s, [255, 0, 0]));
        let answers: Vec<u32> = (0..5).map(|_| s.answer_array::<u32>()[0]).collect();
        assert_eq!(answers, [0, 22, 13, 3, 0]);
        assert!(matches!(
            s.try_encode(|e| e.gl_draw_elements(GL_TRIANGLES, 6, GL_UNSIGNED_BYTE, 0)),
            Err(Fault::Refused(_))
        ));
    }
}

#[test]
fn the_core_profile_refuses_names_that_were_not_generated() {
    let mut s = Session::new(api::CORE, 0);
    s.encode(|e| {
        e.gl_bind_buffer(GL_ARRAY_BUFFER, 99);
        e.mgn_get_error(1);
        e.gl_bind_texture(GL_TEXTURE_2D, 99);
        e.mgn_get_error(1);
        e.gl_bind_vertex_array(99);
        e.mgn_get_error(1);
        e.gl_use_program(99);
        e.mgn_get_error(1);
    });
    let errors: Vec<u32> = (0..4).map(|_| s.answer_array::<u32>()[0]).collect();
    assert_eq!(
        errors,
        [
            GL_INVALID_OPERATION,
            GL_INVALID_OPERATION,
            GL_INVALID_OPERATION,
            GL_INVALID_VALUE
        ]
    );
}
