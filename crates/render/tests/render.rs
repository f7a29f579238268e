//! The renderer on the local driver, fed by the encoder as a client would.

mod support;

use mgn_wire::draws::attr;
use mgn_wire::encoder::Data;
use mgn_wire::gl::*;
use mgn_wire::hello::api;
use support::{floats, Session};

#[test]
fn a_cleared_surface_becomes_a_picture() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
        e.gl_clear_color(1.0, 0.5, 0.0, 1.0);
        e.gl_clear(GL_COLOR_BUFFER_BIT);
        e.mgn_swap_buffers(1, 7, 1);
    });
    let picture = s.picture();
    assert_eq!((picture.header.frame, picture.header.width, picture.header.height), (7, 64, 48));
    assert!(picture.pixels.chunks_exact(4).all(|p| p[..3] == [0, 128, 255]));
}

#[test]
fn rows_come_from_the_top() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
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
        e.mgn_run(GL_TRIANGLES, 0, (layout.as_ptr(), 4), Data::Bytes(vertices.as_ptr(), vertices.len()));
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
    s.encode(|e| unsafe {
        e.gl_clear_color(0.0, 0.0, 1.0, 1.0);
        e.gl_clear(GL_COLOR_BUFFER_BIT);
        e.gl_read_pixels(0, 0, 3, 2, GL_RGB, GL_UNSIGNED_BYTE);
        e.gl_read_pixels(0, 0, 3, 2, GL_RGB, GL_TEXTURE_2D);
        e.mgn_get_error(1);
    });
    assert_eq!(s.answer_array::<u8>(), [0, 0, 255].repeat(6));
    assert_eq!(s.answer_array::<u8>(), []);
    assert_eq!(s.answer_array::<u32>(), [GL_INVALID_ENUM]);
}

#[test]
fn errors_of_both_sides_keep_their_order() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
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
    assert_eq!(s.picture().header.error, GL_OUT_OF_MEMORY);
    let errors: Vec<u32> = (0..4).map(|_| s.answer_array::<u32>()[0]).collect();
    assert_eq!(errors, [GL_INVALID_ENUM, GL_NO_ERROR, GL_OUT_OF_MEMORY, GL_NO_ERROR]);
}
