//! Offset tiling: the pixels of a tile are the same as those of the whole window there.

// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

mod support;

use mgn_wire::encoder::Data;
use mgn_wire::gl::*;
use mgn_wire::hello::{api, plane};
use mgn_wire::Encoder;
use support::{Session, CONFIG};

const WIDTH: i32 = 700;
const HEIGHT: i32 = 100;

/// The part of the window that is drawn, and how.
#[derive(Clone, Copy)]
struct TileSetup {
    tile: [i32; 4],
    is_offset: bool,
    /// The largest viewport.
    most: i32,
}

/// The pixels of a tile, four bytes each.
fn drawn(api: u32, setup: TileSetup, draw: impl Fn(&mut Encoder)) -> Vec<u8> {
    let mut s = Session::empty();
    s.renderer.be_tile(0);
    s.renderer.limit_viewports(setup.most);
    let [x, y, w, h] = setup.tile;
    s.context = 0;
    s.encode(|e| unsafe {
        if setup.is_offset {
            e.mgn_offset();
        }
        e.mgn_create_context(1, api, 0, 0, 0, CONFIG, 0, 1 << 20);
        e.mgn_create_surface(1, 0, CONFIG, WIDTH as u32, HEIGHT as u32);
        e.mgn_tiles(1, (setup.tile.as_ptr(), 4));
    });
    s.answer_array::<u8>();
    s.context = 1;
    let asked = [0, x, y, w, h];
    s.encode(|e| unsafe {
        e.mgn_make_current(1, 1);
        e.gl_clear(GL_COLOR_BUFFER_BIT);
        draw(e);
        e.mgn_get_error(1);
        e.mgn_take_tiles(1, plane::BACK, (asked.as_ptr(), 5), 0);
    });
    assert_eq!(s.answer_array::<u32>(), [GL_NO_ERROR]);
    s.answer_array::<u8>()
}

/// How many pixels of the tiles differ, and by how much at most, from what a renderer draws that
/// has the whole window.
fn difference(api: u32, most: i32, draw: impl Fn(&mut Encoder)) -> (usize, u8) {
    let mut different = (0, 0);
    for tile in [
        [0, 0, 150, 100],
        [150, 0, 300, 37],
        [150, 37, 300, 63],
        [450, 0, 250, 100],
    ] {
        let setup = |is_offset, most| TileSetup {
            tile,
            is_offset,
            most,
        };
        let whole = drawn(api, setup(false, i32::MAX), &draw);
        let offset = drawn(api, setup(true, most), &draw);
        assert_eq!(whole.len(), offset.len());
        assert!(whole.iter().any(|byte| *byte != 0), "nothing in {tile:?}");
        let pixels = whole.chunks_exact(4).zip(offset.chunks_exact(4));
        for (a, b) in pixels.filter(|(a, b)| a != b) {
            let by = a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max();
            different.0 += 1;
            different.1 = different.1.max(by.unwrap_or_default());
        }
    }
    different
}

/// A triangle of three colours, larger than the window.
fn triangle(e: &mut Encoder) {
    let colors = [[1.0, 0.2, 0.2], [0.2, 1.0, 0.2], [0.2, 0.2, 1.0]];
    let corners = [[-1.5f32, -1.0], [1.5, -1.0], [0.1, 2.0]];
    e.gl_begin(GL_TRIANGLES);
    for ([r, g, b], [x, y]) in colors.into_iter().zip(corners) {
        e.gl_color3f(r, g, b);
        e.gl_vertex2f(x, y);
    }
    e.gl_end();
}

/// A viewport that is larger than the driver's has a part in its place; colours differ by rounding
/// only.
fn is_close((pixels, by): (usize, u8)) {
    assert!(pixels < WIDTH as usize * HEIGHT as usize / 50, "{pixels}");
    assert!(by <= 1, "{by}");
}

#[test]
fn the_fixed_function_draws_to_a_part() {
    for most in [i32::MAX, 400] {
        is_close(difference(api::COMPAT, most, |e| {
            e.gl_viewport(0, 0, WIDTH, HEIGHT);
            e.gl_matrix_mode(GL_PROJECTION);
            e.gl_load_identity();
            e.gl_frustum(-1.0, 1.0, -1.0, 1.0, 1.0, 9.0);
            e.gl_translatef(0.0, 0.0, -1.1);
            triangle(e);
        }));
    }
}

#[test]
fn rectangles_and_images_are_drawn_to_the_bit() {
    let image: Vec<u8> = (0..30 * 20 * 4).map(|n| n as u8).collect();
    let draw = |e: &mut Encoder| unsafe {
        e.gl_viewport(0, 0, WIDTH, HEIGHT);
        e.gl_matrix_mode(GL_PROJECTION);
        e.gl_ortho(0.0, WIDTH.into(), 0.0, HEIGHT.into(), -1.0, 1.0);
        e.gl_color3f(0.3, 0.6, 0.9);
        e.gl_rectf(20.0, 10.0, 690.0, 90.0);
        e.gl_enable(GL_SCISSOR_TEST);
        e.gl_scissor(100, 20, 400, 60);
        e.gl_clear_color(0.5, 0.25, 0.125, 1.0);
        e.gl_clear(GL_COLOR_BUFFER_BIT);
        e.gl_disable(GL_SCISSOR_TEST);
        for x in [140, 435, 600] {
            e.gl_raster_pos2i(x, 30);
            let data = || Data::Bytes(image.as_ptr(), image.len());
            e.gl_draw_pixels(30, 20, GL_RGBA, GL_UNSIGNED_BYTE, data());
            e.gl_window_pos2i(x, 60);
            e.gl_draw_pixels(30, 20, GL_RGBA, GL_UNSIGNED_BYTE, data());
        }
    };
    for most in [i32::MAX, 400] {
        assert_eq!(difference(api::COMPAT, most, draw), (0, 0));
    }
}

#[test]
fn lists_that_set_what_is_moved_are_executed_by_command() {
    let draw = |e: &mut Encoder| {
        e.gl_new_list(1, GL_COMPILE);
        for x in [0, WIDTH / 2] {
            e.gl_viewport(x, 0, WIDTH / 2, HEIGHT);
            e.gl_matrix_mode(GL_PROJECTION);
            e.gl_load_identity();
            e.gl_scalef(0.9, 0.9, 1.0);
            triangle(e);
        }
        e.gl_end_list();
        e.gl_call_list(1);
    };
    is_close(difference(api::COMPAT, 340, draw));
}

#[test]
fn lists_are_called_within_a_primitive() {
    let draw = |e: &mut Encoder| {
        e.gl_new_list(1, GL_COMPILE);
        e.gl_color3f(0.5, 1.0, 0.0);
        e.gl_vertex2f(-1.5, -1.0);
        e.gl_vertex2f(1.5, -1.0);
        e.gl_end_list();
        e.gl_begin(GL_TRIANGLES);
        e.gl_call_list(1);
        e.gl_vertex2f(0.1, 2.0);
        e.gl_end();
        // This one ends the primitive, and sets a box, which the program's next draw has.
        e.gl_new_list(2, GL_COMPILE);
        e.gl_vertex2f(0.1, 2.0);
        e.gl_end();
        e.gl_scissor(100, 20, 500, 40);
        e.gl_enable(GL_SCISSOR_TEST);
        e.gl_end_list();
        e.gl_color3f(0.0, 0.0, 1.0);
        e.gl_rectf(-0.9, -0.9, 0.9, 0.0);
        e.gl_begin(GL_TRIANGLES);
        e.gl_call_list(1);
        e.gl_call_list(2);
        e.gl_color3f(1.0, 0.0, 0.0);
        e.gl_rectf(-0.9, -0.9, 0.9, 0.9);
    };
    assert_eq!(difference(api::COMPAT, i32::MAX, draw), (0, 0));
}

/// The corners are window coordinates, which no viewport and no matrix moves.
#[test]
fn drawn_textures_are_where_they_belong() {
    let texels: Vec<u8> = (0..16 * 16 * 4).map(|n| (n * 7) as u8).collect();
    let fixed = |n: i32| n << 16;
    let draw = |e: &mut Encoder| unsafe {
        e.gl_enable(GL_TEXTURE_2D);
        for filter in [GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER] {
            e.gl_tex_parameteri(GL_TEXTURE_2D, filter, GL_NEAREST as i32);
        }
        e.gl_tex_image2d(
            GL_TEXTURE_2D,
            0,
            GL_RGBA as i32,
            16,
            16,
            0,
            GL_RGBA,
            GL_UNSIGNED_BYTE,
            Data::Bytes(texels.as_ptr(), texels.len()),
        );
        let crop = [0i32, 0, 16, 16];
        e.gl_tex_parameteriv(GL_TEXTURE_2D, GL_TEXTURE_CROP_RECT_OES, (crop.as_ptr(), 4));
        e.gl_viewport(30, 10, 20, 20);
        e.gl_draw_texi_oes(0, 0, 0, 160, 32);
        e.gl_draw_texiv_oes(([128i32, 4, 0, 48, 48].as_ptr(), 5));
        e.gl_draw_texf_oes(180.0, 20.0, 0.5, 160.0, 64.0);
        e.gl_draw_texfv_oes(([360.0f32, 8.0, 0.0, 32.0, 32.0].as_ptr(), 5));
        e.gl_draw_texs_oes(400, 16, 0, 80, 64);
        e.gl_draw_texsv_oes(([-16i16, 48, 0, 64, 32].as_ptr(), 5));
        e.gl_draw_texx_oes(fixed(500), fixed(12), 0, fixed(64), fixed(16));
        let last = [600, 50, 0, 160, 80].map(fixed);
        e.gl_draw_texxv_oes((last.as_ptr(), 5));
    };
    for api in support::offered(&[api::ES1]) {
        assert_eq!(difference(api, i32::MAX, draw), (0, 0));
    }
}

#[test]
fn shaders_place_what_they_draw() {
    const VERTEX: &str =
        "#version 110\nvarying vec3 c;\nvoid main() { c = gl_Color.rgb; gl_Position = gl_Vertex; }";
    const FRAGMENT: &str =
        "varying vec3 c;\nvoid main() { gl_FragColor = vec4(c.rg, mod(gl_FragCoord.x, 64.0) / 64.0 + gl_FragCoord.y / 400.0, 1.0); }";
    let draw = |e: &mut Encoder| {
        unsafe {
            e.gl_viewport(0, 0, WIDTH, HEIGHT);
            e.gl_create_program(3);
            for (name, kind, source) in [
                (1, GL_VERTEX_SHADER, VERTEX),
                (2, GL_FRAGMENT_SHADER, FRAGMENT),
            ] {
                e.gl_create_shader(kind, name);
                e.gl_shader_source(name, (source.as_ptr(), source.len()));
                e.gl_compile_shader(name);
                e.gl_attach_shader(3, name);
            }
            e.gl_link_program(3);
            e.gl_use_program(3);
        }
        triangle(e);
    };
    for most in [i32::MAX, 400] {
        is_close(difference(api::COMPAT, most, draw));
    }
}
