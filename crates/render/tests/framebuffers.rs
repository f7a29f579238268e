//! Default framebuffers: what a program sees of a window that is a pbuffer.
// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

mod support;

use mgn_wire::encoder::Data;
use mgn_wire::frames::want;
use mgn_wire::gl::*;
use mgn_wire::hello::{api, plane};
use mgn_wire::Encoder;
use support::{offered, Session, CONFIG, OTHER_CONFIG};

const SINGLE: u32 = 2;

fn integer(s: &mut Session, pname: u32) -> u32 {
    s.encode(|e| e.gl_get_integerv(pname, 1));
    s.answer_array::<u32>()[0]
}

/// The pixel that a program reads, as RGB.
fn pixel(s: &mut Session) -> [u8; 3] {
    s.encode(|e| e.gl_read_pixels(5, 5, 1, 1, GL_RGB, GL_UNSIGNED_BYTE));
    s.answer_array::<u8>().try_into().expect("a pixel")
}

unsafe fn clear(e: &mut Encoder, r: f32, g: f32, b: f32) {
    e.gl_clear_color(r, g, b, 1.0);
    e.gl_clear(GL_COLOR_BUFFER_BIT);
}

const RED: [u8; 3] = [255, 0, 0];
const GREEN: [u8; 3] = [0, 255, 0];
const BLUE: [u8; 3] = [0, 0, 255];
const BLACK: [u8; 3] = [0, 0, 0];

#[test]
fn queries_answer_as_a_windows_do() {
    for (api, kind) in [(api::COMPAT, 0), (api::COMPAT, SINGLE), (api::CORE, 0)] {
        let mut s = Session::new(api, kind);
        // The contexts are for two buffers, whatever the surface has.
        let buffer = GL_BACK;
        assert_eq!(integer(&mut s, GL_DOUBLEBUFFER), u32::from(kind != SINGLE));
        assert_eq!(integer(&mut s, GL_DRAW_BUFFER), buffer);
        assert_eq!(integer(&mut s, GL_READ_BUFFER), buffer);
        s.encode(|e| {
            e.gl_read_buffer(GL_FRONT_RIGHT);
            e.mgn_get_error(1);
        });
        assert_eq!(s.answer_array::<u32>(), [GL_INVALID_OPERATION]);
        assert_eq!(integer(&mut s, GL_READ_BUFFER), buffer);
    }
}

#[test]
fn the_viewport_starts_as_the_window() {
    for api in offered(&[api::COMPAT, api::CORE, api::ES1, api::ES]) {
        let mut s = Session::new(api, 0);
        s.encode(|e| e.gl_get_integerv(GL_VIEWPORT, 4));
        assert_eq!(s.answer_array::<i32>(), [0, 0, 64, 48]);
    }
}

#[test]
fn the_front_shows_what_was_swapped() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
        clear(e, 1.0, 0.0, 0.0);
        e.mgn_swap_buffers(1, 1, 0);
        e.gl_read_buffer(GL_FRONT);
    });
    assert_eq!(pixel(&mut s), RED);
    s.encode(|e| unsafe { clear(e, 0.0, 1.0, 0.0) });
    assert_eq!(pixel(&mut s), RED);
    s.encode(|e| e.gl_read_buffer(GL_BACK));
    assert_eq!(pixel(&mut s), GREEN);
    s.encode(|e| {
        e.mgn_swap_buffers(1, 2, 0);
        e.gl_read_buffer(GL_FRONT);
    });
    assert_eq!(pixel(&mut s), GREEN);
}

#[test]
fn drawing_to_the_front_leaves_the_back_alone_and_shares_its_depth() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
        e.gl_enable(GL_DEPTH_TEST);
        e.gl_clear_depth(0.25);
        e.gl_clear(GL_DEPTH_BUFFER_BIT);
        clear(e, 1.0, 0.0, 0.0);
        e.gl_draw_buffer(GL_FRONT);
        clear(e, 0.0, 0.0, 1.0);
        // Behind the depth that the back was cleared to, so not to be seen.
        e.gl_color3f(0.0, 1.0, 0.0);
        e.gl_rectf(-1.0, -1.0, 1.0, 1.0);
        e.mgn_present_front(1, 1, 1);
    });
    assert_eq!(s.picture().pixels[..3], [255, 0, 0]);
    assert_eq!(pixel(&mut s), RED);
    assert_eq!(integer(&mut s, GL_DRAW_BUFFER), GL_FRONT);
    s.encode(|e| e.gl_read_buffer(GL_FRONT));
    assert_eq!(pixel(&mut s), BLUE);
    s.encode(|e| {
        e.gl_clear_depth(0.5);
        e.gl_clear(GL_DEPTH_BUFFER_BIT);
        e.gl_draw_buffer(GL_BACK);
        e.gl_read_pixels(5, 5, 1, 1, GL_DEPTH_COMPONENT, GL_FLOAT);
        e.gl_read_buffer(GL_BACK);
        e.gl_read_pixels(5, 5, 1, 1, GL_DEPTH_COMPONENT, GL_FLOAT);
    });
    assert!((s.answer_array::<f32>()[0] - 0.5).abs() < 1e-5);
    assert!((s.answer_array::<f32>()[0] - 0.5).abs() < 1e-5);
}

#[test]
fn drawing_to_both_is_seen_in_both() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
        e.gl_draw_buffer(GL_FRONT_AND_BACK);
        clear(e, 0.0, 1.0, 0.0);
        e.gl_draw_buffer(GL_BACK);
        e.gl_read_buffer(GL_FRONT);
    });
    assert_eq!(pixel(&mut s), GREEN);
    s.encode(|e| e.gl_read_buffer(GL_BACK));
    assert_eq!(pixel(&mut s), GREEN);
}

#[test]
fn popped_attributes_restore_the_draw_buffer() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
        e.gl_push_attrib(GL_COLOR_BUFFER_BIT);
        e.gl_draw_buffer(GL_FRONT);
        e.gl_pop_attrib();
        clear(e, 1.0, 0.0, 0.0);
        e.gl_read_buffer(GL_FRONT);
    });
    assert_eq!(pixel(&mut s), BLACK);
    s.encode(|e| e.gl_read_buffer(GL_BACK));
    assert_eq!(pixel(&mut s), RED);
}

#[test]
fn lists_choose_buffers_when_they_are_called() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
        clear(e, 0.0, 1.0, 0.0);
        e.gl_new_list(7, GL_COMPILE);
        e.gl_draw_buffer(GL_FRONT);
        e.gl_end_list();
    });
    assert_eq!(integer(&mut s, GL_DRAW_BUFFER), GL_BACK);
    s.encode(|e| unsafe {
        e.gl_call_list(7);
        clear(e, 1.0, 0.0, 0.0);
    });
    assert_eq!(integer(&mut s, GL_DRAW_BUFFER), GL_FRONT);
    assert_eq!(pixel(&mut s), GREEN);
    s.encode(|e| e.gl_read_buffer(GL_FRONT));
    assert_eq!(pixel(&mut s), RED);
}

#[test]
fn a_single_buffered_window_shows_at_once() {
    let mut s = Session::new(api::COMPAT, SINGLE);
    s.encode(|e| unsafe {
        clear(e, 0.0, 0.0, 1.0);
        e.mgn_present_front(1, 4, 1);
    });
    let picture = s.picture();
    assert_eq!(
        (picture.header.frame, &picture.pixels[..3]),
        (4, &[255, 0, 0][..])
    );
}

#[test]
fn a_resized_surface_starts_black_and_keeps_the_context() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
        clear(e, 1.0, 0.0, 0.0);
        e.mgn_resize_surface(1, 100, 30);
        e.mgn_swap_buffers(1, 1, 1);
        clear(e, 1.0, 1.0, 1.0);
        e.mgn_swap_buffers(1, 2, 1);
    });
    let picture = s.picture();
    assert_eq!((picture.header.width, picture.header.height), (100, 30));
    assert!(picture.pixels.chunks_exact(4).all(|p| p[..3] == [0, 0, 0]));
    assert!(s
        .picture()
        .pixels
        .chunks_exact(4)
        .all(|p| p[..3] == [255, 255, 255]));
}

/// The picture is read, so another context becomes current. The program's is current again with a
/// new surface.
#[test]
fn a_resized_surface_is_drawn_to_in_the_same_buffer() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
        clear(e, 1.0, 0.0, 0.0);
        e.mgn_swap_buffers(1, 1, 1);
        e.mgn_resize_surface(1, 100, 30);
        e.gl_push_attrib(GL_ALL_ATTRIB_BITS);
        clear(e, 1.0, 0.0, 0.0);
        e.gl_pop_attrib();
        clear(e, 1.0, 1.0, 1.0);
        e.mgn_swap_buffers(1, 2, 1);
    });
    s.picture();
    let picture = s.picture().pixels;
    assert!(picture.chunks_exact(4).all(|p| p[..3] == [255, 255, 255]));
    s.renderer.compare_notes().unwrap();
}

/// Depths are read in the program's context.
#[test]
fn depths_are_read_whatever_the_program_has_set() {
    let mut s = Session::new(api::COMPAT, 0);
    let pixels = 64 * 48;
    let wanted = want::COMPOSITE | want::DEPTH;
    s.encode(|e| {
        e.gl_clear_depth(0.5);
        e.gl_clear(GL_DEPTH_BUFFER_BIT);
        // With these, rows would be written behind the memory for the picture.
        e.gl_pixel_storei(GL_PACK_SKIP_ROWS, 8);
        e.gl_pixel_storei(GL_PACK_ROW_LENGTH, 80);
        e.gl_enable(0xdead);
        e.mgn_swap_buffers(1, 1, wanted);
        e.mgn_get_error(1);
    });
    assert_eq!(s.answer_array::<u32>(), [GL_INVALID_ENUM]);
    let first = s.picture();
    let depths = &first.pixels[4 * pixels..];
    assert_eq!((first.header.has_depth, depths.len()), (true, 4 * pixels));
    let depth = u32::from_ne_bytes(depths[..4].try_into().unwrap());
    assert_eq!(depth >> 8, 0x80_0000, "{depth:#x}");
    assert!(depths.chunks_exact(4).all(|other| *other == depths[..4]));
    s.renderer.compare_notes().unwrap();
    // While a list is compiled, and within a primitive.
    for begins in [false, true] {
        s.encode(|e| {
            match begins {
                true => e.gl_begin(GL_POINTS),
                false => e.gl_new_list(1, GL_COMPILE),
            }
            e.mgn_swap_buffers(1, 2, wanted);
            match begins {
                true => e.gl_end(),
                false => e.gl_end_list(),
            }
        });
        let next = s.picture();
        assert!(next.header.has_depth && next.pixels[4 * pixels..] == *depths);
        s.renderer.compare_notes().unwrap();
    }
}

#[test]
fn surfaces_outlive_their_names_while_they_are_drawn_to() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
        e.mgn_destroy_surface(1);
        clear(e, 1.0, 0.0, 0.0);
    });
    assert_eq!(pixel(&mut s), RED);
    s.encode(|e| {
        e.mgn_create_surface(1, 0, CONFIG, 10, 10);
        e.mgn_make_current(1, 1);
    });
    assert_eq!(pixel(&mut s), BLACK);
}

#[test]
fn contexts_take_turns_and_keep_their_state() {
    let mut s = Session::new(api::COMPAT, 0);
    s.context = 0;
    s.encode(|e| {
        e.mgn_create_context(2, api::CORE, 3, 3, 0, CONFIG, 0, 1 << 20);
        e.mgn_create_context(3, api::COMPAT, 0, 0, 0, CONFIG, 1, 1 << 20);
        e.mgn_create_surface(2, 0, OTHER_CONFIG, 20, 20);
    });
    let colours = [(1, 1.0, RED), (2, 0.0, BLACK), (3, 1.0, RED)];
    for (context, _, _) in colours {
        s.context = context;
        s.encode(|e| e.mgn_make_current(if context == 2 { 2 } else { 1 }, 1));
    }
    for round in 0..3 {
        for (context, red, _) in colours {
            s.context = context;
            s.encode(|e| {
                if round == 0 {
                    e.gl_clear_color(red, 0.0, 0.0, 1.0);
                    e.gl_enable(0xdead + context);
                }
                e.gl_clear(GL_COLOR_BUFFER_BIT);
            });
        }
    }
    for (context, _, _) in colours {
        s.context = context;
        s.encode(|e| {
            e.mgn_get_error(1);
            e.mgn_get_error(1);
        });
    }
    for answer in 0..8 {
        let expected = if answer < 2 {
            None
        } else {
            Some(if answer % 2 == 0 {
                GL_INVALID_ENUM
            } else {
                GL_NO_ERROR
            })
        };
        let got = s.answer_array::<u32>();
        if let Some(expected) = expected {
            assert_eq!(got, [expected]);
        }
    }
    s.context = 1;
    assert_eq!(pixel(&mut s), RED);
}

#[test]
fn what_a_plane_is_filled_with_is_what_it_has() {
    const SIZE: usize = 64 * 48;
    for api in offered(&[api::COMPAT, api::CORE]) {
        let mut s = Session::new(api, 0);
        s.renderer.be_tile(0);
        for of in [plane::BACK, plane::DEPTH_STENCIL] {
            // Depths from one end to the other, and stencils.
            let pixels: Vec<u32> = (0..SIZE as u32)
                .map(|n| n.wrapping_mul(0x0015_5555))
                .collect();
            let (whole, mine) = ([0, 0, 64, 48], [0, 0, 0, 64, 48]);
            s.encode(|e| unsafe {
                let data = Data::Bytes(pixels.as_ptr().cast(), 4 * SIZE);
                e.mgn_fill(1, of, (whole.as_ptr(), 4), data);
                e.mgn_take_tiles(1, of, (mine.as_ptr(), 5), SIZE as u32);
            });
            assert!(s.answer_array::<u32>() == pixels, "plane {of} of API {api}");
        }
    }
}
