//! The renderer on the local driver, fed by the encoder as a client would.
// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

mod support;

use mgn_fuzzing::Random;
use mgn_wire::draws::attr;
use mgn_wire::encoder::Data;
use mgn_wire::gl::*;
use mgn_wire::hello::api;
use support::{floats, Session};

#[test]
fn a_cleared_surface_becomes_a_picture() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| {
        e.gl_clear_color(1.0, 0.5, 0.0, 1.0);
        e.gl_clear(GL_COLOR_BUFFER_BIT);
        e.mgn_swap_buffers(1, 7, 1);
    });
    let picture = s.picture();
    assert_eq!(
        (
            picture.header.frame,
            picture.header.width,
            picture.header.height
        ),
        (7, 64, 48)
    );
    assert!(picture
        .pixels
        .chunks_exact(4)
        .all(|p| p[..3] == [0, 128, 255]));
}

#[test]
fn rows_come_from_the_top() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| {
        e.gl_enable(GL_SCISSOR_TEST);
        e.gl_scissor(0, 47, 64, 1);
        e.gl_clear_color(1.0, 1.0, 1.0, 1.0);
        e.gl_clear(GL_COLOR_BUFFER_BIT);
        e.mgn_swap_buffers(1, 0, 1);
    });
    let picture = s.picture();
    assert_eq!(picture.pixels[0], 255);
    assert_eq!(picture.pixels[64 * 4], 0);
}

#[test]
fn a_run_draws_and_leaves_its_last_attributes() {
    let mut s = Session::new(api::COMPAT, 0);
    let vertices = floats(&[
        [1.0, 0.0, 0.0, -1.0, -1.0],
        [1.0, 0.0, 0.0, 3.0, -1.0],
        [0.25, 0.0, 0.0, -1.0, 3.0],
    ]);
    let layout = [attr::COLOR, 3, attr::POSITION, 2];
    s.encode(|e| unsafe {
        e.gl_shade_model(GL_FLAT);
        e.mgn_run(
            GL_TRIANGLES,
            0,
            (layout.as_ptr(), 4),
            Data::Bytes(vertices.as_ptr(), vertices.len()),
            (std::ptr::null(), 0),
            (std::ptr::null(), 0),
        );
        e.gl_get_floatv(GL_CURRENT_COLOR, 4);
        e.mgn_get_error(1);
        e.mgn_swap_buffers(1, 0, 1);
    });
    let picture = s.picture();
    assert!(picture.pixels.chunks_exact(4).all(|p| p[..3] == [0, 0, 64]));
    assert_eq!(s.answer_array::<f32>(), [0.25, 0.0, 0.0, 1.0]);
    assert_eq!(s.answer_array::<u32>(), [GL_NO_ERROR]);
}

#[test]
fn reading_pixels_answers_tightly() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| {
        e.gl_clear_color(0.0, 0.0, 1.0, 1.0);
        e.gl_clear(GL_COLOR_BUFFER_BIT);
        e.gl_read_pixels(0, 0, 3, 2, GL_RGB, GL_UNSIGNED_BYTE);
        e.gl_read_pixels(0, 0, 3, 2, GL_RGB, GL_TEXTURE_2D);
        e.mgn_get_error(1);
    });
    assert_eq!(s.answer_array::<u8>(), [0, 0, 255].repeat(6));
    assert_eq!(s.answer_array::<u8>(), [0u8; 0]);
    assert_eq!(s.answer_array::<u32>(), [GL_INVALID_ENUM]);
}

#[test]
fn errors_of_both_sides_keep_their_order() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| {
        e.gl_enable(0x1234);
        e.mgn_set_error(GL_INVALID_OPERATION);
        e.mgn_get_error(1);
        e.mgn_get_error(1);
        e.mgn_set_error(GL_OUT_OF_MEMORY);
        e.gl_enable(0x1234);
        e.mgn_swap_buffers(1, 0, 1);
        e.mgn_get_error(1);
        e.mgn_get_error(1);
    });
    s.picture();
    let errors: Vec<u32> = (0..4).map(|_| s.answer_array::<u32>()[0]).collect();
    assert_eq!(
        errors,
        [GL_INVALID_ENUM, GL_NO_ERROR, GL_OUT_OF_MEMORY, GL_NO_ERROR]
    );
}

/// The same vertices as a run and call by call: the pictures must not differ.
#[test]
fn a_run_equals_the_calls_it_stands_for() {
    let mut random = Random::new(1);
    let values: [u32; 600] = std::array::from_fn(|_| random.below(1 << 24));
    let unit = |v: u32| v as f32 / 0x00ff_ffff as f32;
    let vertices: Vec<[f32; 9]> = values
        .chunks_exact(6)
        .map(|c| {
            let [r, g, b, x, y, z] = [0, 1, 2, 3, 4, 5].map(|i| unit(c[i]));
            [
                r,
                g,
                b,
                0.5 + b / 2.0,
                x,
                y - z,
                x * 2.0 - 1.0,
                y * 2.0 - 1.0,
                z,
            ]
        })
        .collect();
    let layout = [attr::COLOR, 4, attr::TEXCOORD, 2, attr::POSITION, 3];
    let modes = [
        GL_POINTS,
        GL_LINES,
        GL_LINE_STRIP,
        GL_LINE_LOOP,
        GL_TRIANGLES,
        GL_TRIANGLE_STRIP,
        GL_TRIANGLE_FAN,
        GL_QUADS,
        GL_QUAD_STRIP,
        GL_POLYGON,
    ];
    for mode in modes {
        let prepare = |e: &mut mgn_wire::Encoder| unsafe {
            e.gl_enable(GL_BLEND);
            e.gl_blend_func(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
            e.gl_enable(GL_DEPTH_TEST);
            e.gl_clear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
            let texels = [0xff00_80ffu32, 0xffff_ffff, 0xff80_ff00, 0xff20_4060];
            e.gl_tex_parameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR as i32);
            e.gl_tex_image2d(
                GL_TEXTURE_2D,
                0,
                GL_RGBA as i32,
                2,
                2,
                0,
                GL_RGBA,
                GL_UNSIGNED_BYTE,
                Data::Bytes(texels.as_ptr().cast(), 16),
            );
            e.gl_enable(GL_TEXTURE_2D);
        };
        let mut pictures = Vec::new();
        for as_run in [true, false] {
            let mut s = Session::new(api::COMPAT, 0);
            s.encode(|e| unsafe {
                prepare(e);
                if as_run {
                    let bytes = floats(&vertices);
                    e.mgn_run(
                        mode,
                        0,
                        (layout.as_ptr(), 6),
                        Data::Bytes(bytes.as_ptr(), bytes.len()),
                        (std::ptr::null(), 0),
                        (std::ptr::null(), 0),
                    );
                } else {
                    e.gl_begin(mode);
                    for [r, g, b, a, s, t, x, y, z] in &vertices {
                        e.gl_color4f(*r, *g, *b, *a);
                        e.gl_tex_coord2f(*s, *t);
                        e.gl_vertex3f(*x, *y, *z);
                    }
                    e.gl_end();
                }
                e.gl_get_floatv(GL_CURRENT_COLOR, 4);
                e.mgn_get_error(1);
                e.mgn_swap_buffers(1, 0, 1);
            });
            pictures.push((s.picture().pixels, s.answer_array::<f32>()));
            assert_eq!(s.answer_array::<u32>(), [GL_NO_ERROR]);
        }
        assert!(
            pictures[0].0.iter().any(|b| *b != 0),
            "mode {mode:#x} drew nothing"
        );
        assert!(pictures[0] == pictures[1], "mode {mode:#x} differs");
    }
}
