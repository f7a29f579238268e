//! Attacks by way of draws and of images for buffers: a client that wants arrays read beyond what
//! it has sent, or pixels written beside the buffer.

// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

mod support;

use mgn_wire::draws::{attr, Array, Kind};
use mgn_wire::encoder::Data;
use mgn_wire::gl::*;
use mgn_wire::hello::api;
use mgn_wire::Encoder;
use support::Session;

const BUFFER: u32 = 11;
const ZEROS: [u8; 1 << 12] = [0; 1 << 12];

fn bytes(length: usize) -> Data {
    Data::Bytes(ZEROS.as_ptr(), length)
}

/// An array in the draw's own memory.
fn array(attribute: u8) -> Array {
    Array {
        attribute,
        kind: Kind::Float,
        size: 4,
        type_: GL_FLOAT,
        normalized: false,
        divisor: 0,
        stride: 16,
        buffer: 0,
        offset: 0,
    }
}

fn draw(e: &mut Encoder, arrays: &[Array], count: i32, data: usize) {
    let words: Vec<u32> = arrays.iter().flat_map(Array::encode).collect();
    let words = (words.as_ptr(), words.len());
    unsafe { e.mgn_draw_arrays(GL_POINTS, 0, count, 1, 0, words, bytes(data)) };
}

fn error(s: &mut Session) -> u32 {
    s.encode(|e| e.mgn_get_error(1));
    s.answer_array::<u32>()[0]
}

/// How many values the fixed function feeds back about what a list draws.
fn fed_back(s: &mut Session, list: u32) -> i32 {
    s.encode(|e| {
        e.gl_feedback_buffer(1 << 10, GL_2D);
        e.gl_render_mode(GL_FEEDBACK, 1, 64);
        e.gl_call_list(list);
        e.gl_render_mode(GL_RENDER, 2, 64);
    });
    // The first answer is about what was before.
    s.answer_array::<i32>();
    s.answer_array::<i32>()[0]
}

/// Compiles a list of the commands, and tells how much is fed back when it is called.
fn listed(s: &mut Session, commands: impl FnOnce(&mut Encoder)) -> i32 {
    s.encode(|e| {
        e.gl_new_list(1, GL_COMPILE);
        commands(e);
        e.gl_end_list();
    });
    fed_back(s, 1)
}

/// The driver takes no such number for these arrays, and reads an element for each vertex, or three
/// components of each normal.
#[test]
fn arrays_of_the_fixed_function_have_neither_divisors_nor_other_sizes() {
    let divided = Array {
        divisor: 1,
        ..array(attr::COLOR)
    };
    let short = Array {
        size: 1,
        type_: GL_DOUBLE,
        ..array(attr::NORMAL)
    };
    let long = Array {
        size: 2,
        ..array(attr::FOG)
    };
    for bad in [divided, short, long] {
        let mut s = Session::new(api::COMPAT, 0);
        let arrays = [array(attr::POSITION), bad];
        let drawn = s.try_encode(|e| draw(e, &arrays, 64, 16 * 64));
        assert!(drawn.is_err(), "{bad:?}");
    }
}

/// A list takes an element of each array for each vertex, whatever its divisor, and takes packed
/// elements for larger ones.
#[test]
fn lists_take_no_elements_beyond_the_draws_memory() {
    let divided = Array {
        divisor: 1,
        offset: 16 * 64,
        ..array(attr::GENERIC + 1)
    };
    let packed = Array {
        type_: GL_INT_2_10_10_10_REV,
        normalized: true,
        stride: 4,
        offset: 16 * 64,
        ..array(attr::GENERIC + 1)
    };
    let whole = Array {
        offset: 16 * 64,
        ..array(attr::GENERIC + 1)
    };
    for (other, data, is_drawn) in [
        (divided, 16 * 64 + 16, false),
        (packed, 16 * 64 + 4 * 64, false),
        (whole, 2 * 16 * 64, true),
    ] {
        let mut s = Session::new(api::COMPAT, 0);
        let arrays = [array(attr::POSITION), other];
        let values = listed(&mut s, |e| draw(e, &arrays, 64, data));
        assert_eq!(values > 0, is_drawn, "{other:?}");
    }
}

/// With both kinds of restart, the fixed index counts. The other one is an element like all others.
#[test]
fn the_restart_index_that_does_not_count_is_checked() {
    for (element, is_drawn) in [(3u16, true), (1 << 10, false), (u16::MAX, true)] {
        let mut s = Session::new(api::COMPAT, 0);
        s.encode(|e| unsafe {
            e.gl_gen_buffers(([BUFFER].as_ptr(), 1));
            e.gl_bind_buffer(GL_ARRAY_BUFFER, BUFFER);
            e.gl_buffer_data(GL_ARRAY_BUFFER, 64, bytes(64), GL_STATIC_DRAW);
            e.gl_vertex_pointer(4, GL_FLOAT, 16, 0);
            e.gl_enable_client_state(GL_VERTEX_ARRAY);
            e.gl_enable(GL_PRIMITIVE_RESTART);
            e.gl_enable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
            e.gl_primitive_restart_index(1 << 10);
        });
        let indices = [0, element];
        let values = listed(&mut s, |e| unsafe {
            let indices = Data::Bytes(indices.as_ptr().cast(), 4);
            let none = (std::ptr::null(), 0);
            let (type_, most) = (GL_UNSIGNED_SHORT, u16::MAX.into());
            e.mgn_draw_elements(
                GL_POINTS,
                2,
                type_,
                0,
                most,
                1,
                0,
                0,
                none,
                indices,
                Data::Null,
            );
        });
        assert_eq!(values > 0, is_drawn, "{element}");
    }
}

/// Nobody knows what they will draw when the list is called.
#[test]
fn draws_of_what_was_captured_do_not_get_into_lists() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
        e.gl_gen_transform_feedbacks(([1].as_ptr(), 1));
        e.gl_bind_transform_feedback(GL_TRANSFORM_FEEDBACK, 1);
        e.gl_new_list(1, GL_COMPILE);
        e.gl_draw_transform_feedback(GL_POINTS, 1);
        e.gl_draw_transform_feedback_instanced(GL_POINTS, 1, 2);
        e.gl_end_list();
    });
    assert_eq!(error(&mut s), GL_INVALID_OPERATION);
}

/// The divisor of an attribute in a list moves the attribute to its own binding point when the list
/// is called.
#[test]
fn a_list_that_moves_an_array_makes_it_doubted() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
        e.gl_gen_buffers(([BUFFER].as_ptr(), 1));
        e.gl_bind_buffer(GL_ARRAY_BUFFER, BUFFER);
        e.gl_buffer_data(GL_ARRAY_BUFFER, 1024, bytes(1024), GL_STATIC_DRAW);
        e.gl_vertex_attrib_pointer(1, 4, GL_FLOAT, 0, 16, 1 << 20);
        e.gl_enable_vertex_attrib_array(1);
        e.gl_bind_vertex_buffer(1, 0, 1 << 20, 16);
        e.gl_bind_vertex_buffer(2, BUFFER, 0, 16);
        e.gl_vertex_attrib_binding(1, 2);
        e.gl_new_list(1, GL_COMPILE);
        e.gl_vertex_attrib_divisor(1, 0);
        e.gl_end_list();
        e.gl_draw_arrays(GL_POINTS, 0, 1);
        e.gl_call_list(1);
    });
    assert_eq!(s.renderer.compare_notes(), Ok(()));
    // The array is hidden: it lies at an address.
    s.encode(|e| e.gl_draw_arrays(GL_POINTS, 0, 1));
    assert_eq!(s.renderer.compare_notes(), Ok(()));
}

/// Mesa checks where the first row begins and where the last one ends. If rows go from bottom to
/// top, neither is the highest byte.
#[test]
fn images_from_bottom_to_top_stay_in_their_buffers() {
    const PIXELS: i32 = 4;
    const ROW: i64 = 4 * PIXELS as i64;
    for (size, skipped, offset, expected) in [
        (2 * ROW, 0, 0, GL_NO_ERROR),
        (2 * ROW - 1, 0, 0, GL_INVALID_OPERATION),
        (ROW + 4, 0, 0, GL_INVALID_OPERATION),
        (2 * ROW, 1, 0, GL_INVALID_OPERATION),
        (3 * ROW, 1, ROW as u64, GL_NO_ERROR),
        (2 * ROW, 0, 4, GL_INVALID_OPERATION),
        (2 * ROW, 0, u64::MAX - 15, GL_INVALID_OPERATION),
    ] {
        let what = format!("{size} bytes, {skipped} rows skipped, offset {offset}");
        let mut s = Session::new(api::COMPAT, 0);
        s.encode(|e| unsafe {
            e.gl_bind_texture(GL_TEXTURE_2D, 1);
            let (format, type_) = (GL_RGBA, GL_UNSIGNED_BYTE);
            let image = bytes(4 * 2 * PIXELS as usize);
            e.gl_tex_image2d(
                GL_TEXTURE_2D,
                0,
                format as i32,
                PIXELS,
                2,
                0,
                format,
                type_,
                image,
            );
            e.gl_gen_buffers(([BUFFER].as_ptr(), 1));
            e.gl_bind_buffer(GL_PIXEL_PACK_BUFFER, BUFFER);
            e.gl_buffer_data(GL_PIXEL_PACK_BUFFER, size, Data::Null, GL_STATIC_DRAW);
            e.gl_pixel_storei(GL_PACK_INVERT_MESA, 1);
            e.gl_pixel_storei(GL_PACK_SKIP_ROWS, skipped);
            e.mgn_read_pixels_to(0, 0, PIXELS, 2, format, type_, offset);
        });
        assert_eq!(error(&mut s), expected, "glReadPixels: {what}");
        s.encode(|e| {
            e.mgn_get_tex_image_to(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, offset);
        });
        assert_eq!(error(&mut s), expected, "glGetTexImage: {what}");
    }
}
