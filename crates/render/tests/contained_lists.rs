//! Attacks by way of display lists, and by queries whose answer is longer than they say: a client
//! that wants the renderer's memory read or overwritten. The tests run in the renderer's process,
//! so they can offer it addresses that exist.
//!
//! Other images in lists are safe: Mesa copies uncompressed images, pixels to draw and stipple
//! patterns only after it has compared the range with the bound buffer. Programs' strings, uniforms
//! and names of lists are no images, and are in the message.

// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

mod support;

use mgn_wire::encoder::Data;
use mgn_wire::gl::*;
use mgn_wire::hello::api;
use mgn_wire::Encoder;
use support::Session;

/// The data that an attacker looks for in the renderer's memory.
static SECRET: [f32; 256] = [0.75; 256];

/// A command with an image.
type Attack<'a> = &'a dyn Fn(&mut Encoder, Data);

const DXT5: u32 = GL_COMPRESSED_RGBA_S3TC_DXT5_EXT;

fn address() -> u64 {
    SECRET.as_ptr() as u64
}

fn bytes<T>(values: &[T]) -> Data {
    Data::Bytes(values.as_ptr().cast(), size_of_val(values))
}

/// A session in which a texture of each of some targets is bound, and a buffer of these bytes for
/// unpacking.
fn with_buffer(contents: &[u8]) -> Session {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
        e.gl_bind_texture(GL_TEXTURE_2D, 1);
        e.gl_bind_texture(GL_TEXTURE_2D_ARRAY, 2);
        e.gl_bind_buffer(GL_PIXEL_UNPACK_BUFFER, 7);
        let size = contents.len() as i64;
        e.gl_buffer_data(
            GL_PIXEL_UNPACK_BUFFER,
            size,
            bytes(contents),
            GL_STATIC_DRAW,
        );
    });
    s
}

fn error(s: &mut Session) -> u32 {
    s.forget_answers();
    s.encode(|e| e.mgn_get_error(1));
    s.answer_array::<u32>()[0]
}

/// Compiles commands into list 1, and gives the errors that has and that calling it has. No buffer
/// is bound when it is called.
fn compiled_and_called(s: &mut Session, commands: impl FnOnce(&mut Encoder)) -> [u32; 2] {
    s.encode(|e| {
        e.gl_new_list(1, GL_COMPILE);
        commands(e);
        e.gl_end_list();
    });
    let compiled = error(s);
    s.encode(|e| {
        e.gl_bind_buffer(GL_PIXEL_UNPACK_BUFFER, 0);
        e.gl_call_list(1);
    });
    [compiled, error(s)]
}

/// A compressed image of 4 x 4.
fn compressed(e: &mut Encoder, data: Data) {
    unsafe { e.gl_compressed_tex_image2d(GL_TEXTURE_2D, 0, DXT5, 4, 4, 0, 16, data) };
}

/// The compressed image, which is some other one if there was an error.
fn image(s: &mut Session) -> Vec<u8> {
    s.encode(|e| e.gl_get_compressed_tex_image(GL_TEXTURE_2D, 0, 16));
    let mut answer = s.answer();
    support::array::<i32>(&mut answer);
    support::array(&mut answer)
}

#[test]
fn lists_read_compressed_images_from_the_bound_buffer_only() {
    let contents: Vec<u8> = (0..32).collect();
    let places = [
        (address(), None),
        (u64::MAX - 15, None),
        (u64::MAX, None),
        (17, None),
        (0, Some(0..16)),
        (16, Some(16..32)),
    ];
    for mode in [GL_COMPILE, GL_COMPILE_AND_EXECUTE] {
        for (offset, expected) in places.clone() {
            let mut s = with_buffer(&contents);
            s.encode(|e| {
                e.gl_new_list(1, mode);
                compressed(e, Data::Offset(offset));
                e.gl_end_list();
            });
            let errors = [GL_INVALID_OPERATION, GL_NO_ERROR];
            assert_eq!(error(&mut s), errors[usize::from(expected.is_some())]);
            // The buffer is bound as it was.
            s.encode(|e| {
                e.gl_get_integerv(GL_PIXEL_UNPACK_BUFFER_BINDING, 1);
            });
            assert_eq!(s.answer_array::<u32>(), [7]);
            s.encode(|e| {
                e.gl_bind_buffer(GL_PIXEL_UNPACK_BUFFER, 0);
                e.gl_call_list(1);
            });
            assert_eq!(error(&mut s), GL_NO_ERROR);
            if let Some(range) = expected {
                let expected: Vec<u8> = (range.start..range.end).collect();
                assert_eq!(image(&mut s), expected);
            }
            assert_eq!(s.renderer.compare_notes(), Ok(()));
        }
    }
}

#[test]
fn no_compressed_image_of_a_list_comes_from_an_address() {
    let attacks: [fn(&mut Encoder, Data); 10] = [
        |e, d| unsafe { e.gl_compressed_tex_image1d(GL_TEXTURE_1D, 0, DXT5, 4, 0, 16, d) },
        |e, d| compressed(e, d),
        |e, d| unsafe {
            e.gl_compressed_tex_image3d(GL_TEXTURE_2D_ARRAY, 0, DXT5, 4, 4, 1, 0, 16, d)
        },
        |e, d| unsafe { e.gl_compressed_tex_sub_image1d(GL_TEXTURE_1D, 0, 0, 4, DXT5, 16, d) },
        |e, d| unsafe {
            e.gl_compressed_tex_sub_image2d(GL_TEXTURE_2D, 0, 0, 0, 4, 4, DXT5, 16, d)
        },
        |e, d| unsafe {
            let target = GL_TEXTURE_2D_ARRAY;
            e.gl_compressed_tex_sub_image3d(target, 0, 0, 0, 0, 4, 4, 1, DXT5, 16, d)
        },
        |e, d| unsafe {
            e.gl_compressed_texture_image2dext(1, GL_TEXTURE_2D, 0, DXT5, 4, 4, 0, 16, d)
        },
        |e, d| unsafe {
            let target = GL_TEXTURE_2D;
            e.gl_compressed_texture_sub_image2dext(1, target, 0, 0, 0, 4, 4, DXT5, 16, d)
        },
        |e, d| unsafe {
            let unit = GL_TEXTURE0;
            e.gl_compressed_multi_tex_image2dext(unit, GL_TEXTURE_2D, 0, DXT5, 4, 4, 0, 16, d)
        },
        |e, d| unsafe {
            let (unit, target) = (GL_TEXTURE0, GL_TEXTURE_2D);
            e.gl_compressed_multi_tex_sub_image2dext(unit, target, 0, 0, 0, 4, 4, DXT5, 16, d)
        },
    ];
    for attack in attacks {
        let mut s = with_buffer(&[0; 16]);
        let errors = compiled_and_called(&mut s, |e| attack(e, Data::Offset(0x1234_0000)));
        assert_eq!(errors, [GL_INVALID_OPERATION, GL_NO_ERROR]);
    }
}

#[test]
fn uncompressed_images_of_lists_are_bounded_by_the_driver() {
    let (rgba, of_bytes) = (GL_RGBA, GL_UNSIGNED_BYTE);
    let attacks: [Attack; 7] = [
        &|e, d| unsafe { e.gl_draw_pixels(8, 8, rgba, of_bytes, d) },
        &|e, d| unsafe { e.gl_polygon_stipple(d) },
        &|e, d| unsafe {
            e.gl_tex_image2d(GL_TEXTURE_2D, 0, rgba as i32, 8, 8, 0, rgba, of_bytes, d)
        },
        &|e, d| unsafe { e.gl_tex_sub_image2d(GL_TEXTURE_2D, 0, 0, 0, 8, 8, rgba, of_bytes, d) },
        &|e, d| unsafe {
            let target = GL_TEXTURE_2D;
            e.gl_texture_image2dext(1, target, 0, rgba as i32, 8, 8, 0, rgba, of_bytes, d)
        },
        &|e, d| unsafe {
            let (unit, target) = (GL_TEXTURE0, GL_TEXTURE_2D);
            e.gl_multi_tex_image2dext(unit, target, 0, rgba as i32, 8, 8, 0, rgba, of_bytes, d)
        },
        &|e, d| unsafe {
            e.gl_texture_sub_image2dext(1, GL_TEXTURE_2D, 0, 0, 0, 8, 8, rgba, of_bytes, d)
        },
    ];
    for attack in attacks {
        for offset in [0x1234_0000, u64::MAX - 255, (1 << 12) - 4] {
            let mut s = with_buffer(&vec![0; 1 << 12]);
            let [compiled, _] = compiled_and_called(&mut s, |e| attack(e, Data::Offset(offset)));
            assert_eq!(compiled, GL_INVALID_OPERATION);
        }
    }
}

#[test]
fn lists_read_bitmaps_from_the_bound_buffer_only() {
    let places = [
        (0, 0, GL_NO_ERROR),
        (8, 0, GL_NO_ERROR),
        (0, 2, GL_NO_ERROR),
        (9, 0, GL_INVALID_OPERATION),
        (0, 3, GL_INVALID_OPERATION),
        (0, i32::MAX, GL_INVALID_OPERATION),
        (address(), 0, GL_INVALID_OPERATION),
        (u64::MAX - 7, 0, GL_INVALID_OPERATION),
    ];
    for (offset, skipped, expected) in places {
        let mut s = with_buffer(&[0xff; 16]);
        let errors = compiled_and_called(&mut s, |e| unsafe {
            e.gl_pixel_storei(GL_UNPACK_SKIP_ROWS, skipped);
            e.gl_pixel_storei(GL_UNPACK_ALIGNMENT, 4);
            e.gl_pixel_storei(GL_UNPACK_ROW_LENGTH, 17);
            // The last row is short.
            e.gl_bitmap(8 * 4, 2, 0., 0., 0., 0., Data::Offset(offset));
        });
        assert_eq!(errors, [expected, GL_NO_ERROR], "{offset:x} {skipped}");
        s.encode(|e| e.gl_read_pixels(0, 0, 64, 48, GL_RGB, GL_UNSIGNED_BYTE));
    }
}

#[test]
fn bitmaps_are_not_higher_than_their_textures() {
    let high = vec![0u8; 65536 + 16];
    let sizes = [
        (8, 65536 + 16, GL_OUT_OF_MEMORY),
        (-1, 8, GL_INVALID_VALUE),
        (8, -1, GL_INVALID_VALUE),
    ];
    for ((width, height, expected), in_list) in sizes.iter().flat_map(|s| [(s, false), (s, true)]) {
        let mut s = Session::new(api::COMPAT, 0);
        s.encode(|e| unsafe {
            if in_list {
                e.gl_new_list(1, GL_COMPILE);
            }
            e.gl_bitmap(*width, *height, 0., 0., 0., 0., bytes(&high));
            if in_list {
                e.gl_end_list();
                e.gl_call_list(1);
            }
        });
        assert_eq!(error(&mut s), *expected);
    }
}

fn layout(e: &mut Encoder, rows: i32) {
    e.gl_pixel_storei(GL_UNPACK_COMPRESSED_BLOCK_WIDTH, 4);
    e.gl_pixel_storei(GL_UNPACK_COMPRESSED_BLOCK_HEIGHT, 4);
    e.gl_pixel_storei(GL_UNPACK_COMPRESSED_BLOCK_DEPTH, 1);
    e.gl_pixel_storei(GL_UNPACK_COMPRESSED_BLOCK_SIZE, 16);
    e.gl_pixel_storei(GL_UNPACK_ROW_LENGTH, 4);
    e.gl_pixel_storei(GL_UNPACK_SKIP_ROWS, rows);
}

#[test]
fn compressed_images_come_from_within_the_bound_buffer() {
    let contents: Vec<u8> = (0..64).collect();
    let places = [
        (0, None, Some(0)),
        (48, None, Some(48)),
        (49, None, None),
        (u64::MAX - 15, None, None),
        (u64::MAX - 7, None, None),
        (address(), None, None),
        (0, Some(8), Some(32)),
        (16, Some(8), Some(48)),
        (16, Some(12), None),
        (0, Some(1 << 20), None),
        (0, Some(i32::MAX - 3), None),
        (0, Some(2), None),
        (u64::MAX - 31, Some(8), None),
    ];
    for (offset, rows, expected) in places {
        let mut s = with_buffer(&contents);
        s.encode(|e| {
            if let Some(rows) = rows {
                layout(e, rows);
            }
            compressed(e, Data::Offset(offset));
            e.gl_get_integerv(GL_PIXEL_UNPACK_BUFFER_BINDING, 1);
        });
        assert_eq!(s.answer_array::<u32>(), [7]);
        let errors = [GL_INVALID_OPERATION, GL_NO_ERROR];
        assert_eq!(error(&mut s), errors[usize::from(expected.is_some())]);
        if let Some(first) = expected {
            let first: usize = first;
            assert_eq!(image(&mut s), contents[first..first + 16]);
        }
        assert_eq!(s.renderer.compare_notes(), Ok(()));
    }
}

#[test]
fn compressed_images_go_to_within_the_bound_buffer() {
    let block: Vec<u8> = (0..16).collect();
    let places = [
        (0, 0, true),
        (48, 0, true),
        (16, 8, true),
        (49, 0, false),
        (u64::MAX - 15, 0, false),
        (u64::MAX - 31, 8, false),
        (32, 8, false),
        // 2^27 + 1 rows of 32 bytes are 32 bytes, in 32 bits.
        (0, (1 << 29) + 4, false),
        (0, i32::MAX - 3, false),
    ];
    for (offset, rows, expected) in places {
        let mut s = with_buffer(&[0xff; 64]);
        s.encode(|e| {
            e.gl_bind_buffer(GL_PIXEL_UNPACK_BUFFER, 0);
            compressed(e, bytes(&block));
            e.gl_bind_buffer(GL_PIXEL_PACK_BUFFER, 7);
            if rows > 0 {
                e.gl_pixel_storei(GL_PACK_COMPRESSED_BLOCK_WIDTH, 4);
                e.gl_pixel_storei(GL_PACK_COMPRESSED_BLOCK_HEIGHT, 4);
                e.gl_pixel_storei(GL_PACK_COMPRESSED_BLOCK_DEPTH, 1);
                e.gl_pixel_storei(GL_PACK_COMPRESSED_BLOCK_SIZE, 16);
                e.gl_pixel_storei(GL_PACK_ROW_LENGTH, 4);
                e.gl_pixel_storei(GL_PACK_SKIP_ROWS, rows);
            }
            e.mgn_get_compressed_tex_image_to(GL_TEXTURE_2D, 0, offset);
        });
        let errors = [GL_INVALID_OPERATION, GL_NO_ERROR];
        assert_eq!(
            error(&mut s),
            errors[usize::from(expected)],
            "{offset:x} {rows}"
        );
        s.encode(|e| e.mgn_buffer_read(7, 0, 64));
        let mut contents = [0xff; 64];
        if expected {
            let at = offset as usize + rows as usize / 4 * 16;
            contents[at..at + 16].copy_from_slice(&block);
        }
        assert_eq!(s.answer_array::<u8>(), contents);
    }
}

fn first_of_map(s: &mut Session) -> f32 {
    s.encode(|e| e.gl_get_pixel_mapfv(GL_PIXEL_MAP_R_TO_R, 256));
    s.answer_array::<f32>()[0]
}

#[test]
fn lists_read_pixel_maps_from_the_bound_buffer_only() {
    let maps: [fn(&mut Encoder, i32, Data); 3] = [
        |e, n, d| unsafe { e.gl_pixel_mapfv(GL_PIXEL_MAP_R_TO_R, n, d) },
        |e, n, d| unsafe { e.gl_pixel_mapuiv(GL_PIXEL_MAP_R_TO_R, n, d) },
        |e, n, d| unsafe { e.gl_pixel_mapusv(GL_PIXEL_MAP_R_TO_R, n, d) },
    ];
    let contents = [0x3f; 8];
    for map in maps {
        let mut s = with_buffer(&contents);
        let errors = compiled_and_called(&mut s, |e| map(e, 256, Data::Offset(address())));
        assert_eq!(errors, [GL_INVALID_OPERATION, GL_NO_ERROR]);
        assert_eq!(first_of_map(&mut s), 0.0);
        drop(s);
        let mut s = with_buffer(&contents);
        let errors = compiled_and_called(&mut s, |e| map(e, 2, Data::Offset(0)));
        assert_eq!(errors, [GL_NO_ERROR; 2]);
        assert_ne!(first_of_map(&mut s), 0.0);
        drop(s);
        // Longer than the driver's table, and of negative lengths.
        let many = vec![0u32; 1 << 12];
        for size in [257, 1 << 12, 0, -1, i32::MIN, 0xc000_0004u32 as i32] {
            let mut s = with_buffer(&contents);
            s.encode(|e| e.gl_bind_buffer(GL_PIXEL_UNPACK_BUFFER, 0));
            let errors = compiled_and_called(&mut s, |e| map(e, size, bytes(&many)));
            assert_eq!(errors, [GL_NO_ERROR, GL_INVALID_VALUE]);
        }
        let mut s = with_buffer(&contents);
        s.encode(|e| e.gl_bind_buffer(GL_PIXEL_UNPACK_BUFFER, 0));
        compiled_and_called(&mut s, |e| map(e, 2, Data::Null));
    }
}

/// The coefficients of a map, after an error that was not.
fn coefficients(s: &mut Session, target: u32, count: u32) -> Vec<f32> {
    assert_eq!(error(s), GL_NO_ERROR);
    s.encode(|e| e.gl_get_mapfv(target, GL_COEFF, count));
    s.answer_array()
}

#[test]
fn control_points_beside_the_command_are_refused() {
    let line = GL_MAP1_VERTEX_4;
    let patch = GL_MAP2_VERTEX_4;
    let points = [1f32; 64];
    let few = || (points.as_ptr(), 8);
    let doubles = [1f64; 64];
    let few_doubles = || (doubles.as_ptr(), 8);
    let attacks: [&dyn Fn(&mut Encoder); 9] = [
        &|e| unsafe { e.gl_map1f(line, 0., 1., -4096, 2, few()) },
        &|e| unsafe { e.gl_map1d(line, 0., 1., -4096, 2, few_doubles()) },
        &|e| unsafe { e.gl_map1f(line, 0., 1., 0, 0x4000_0001, few()) },
        &|e| unsafe { e.gl_map1f(line, 0., 1., 4, 0, few()) },
        &|e| unsafe { e.gl_map1d(line, 0., 1., 4, i32::MIN, few_doubles()) },
        &|e| unsafe { e.gl_map2f(patch, 0., 1., 0, 65536, 0., 1., 0, 65536, few()) },
        &|e| unsafe { e.gl_map2f(patch, 0., 1., -4096, 2, 0., 1., 4, 1, few()) },
        &|e| unsafe { e.gl_map2d(patch, 0., 1., 4, 2, 0., 1., -4096, 2, few_doubles()) },
        &|e| unsafe { e.gl_map2f(patch, 0., 1., 4, 1, 0., 1., 4, -1, few()) },
    ];
    for attack in attacks {
        for in_list in [false, true] {
            let mut s = Session::new(api::COMPAT, 0);
            let errors = match in_list {
                true => compiled_and_called(&mut s, attack),
                false => {
                    s.encode(attack);
                    [GL_NO_ERROR, error(&mut s)]
                }
            };
            assert_eq!(errors, [GL_NO_ERROR, GL_INVALID_VALUE]);
        }
    }
}

#[test]
fn control_points_are_read_in_any_order() {
    let patch = GL_MAP2_VERTEX_3;
    let points: Vec<f32> = (0..12).map(|n| n as f32).collect();
    let turned = [0., 1., 2., 6., 7., 8., 3., 4., 5., 9., 10., 11.];
    for in_list in [false, true] {
        let mut s = Session::new(api::COMPAT, 0);
        let map = |e: &mut Encoder| unsafe {
            e.gl_map2f(patch, 0., 1., 3, 2, 0., 1., 6, 2, (points.as_ptr(), 12));
        };
        match in_list {
            true => assert_eq!(compiled_and_called(&mut s, map), [GL_NO_ERROR; 2]),
            false => s.encode(map),
        }
        assert_eq!(coefficients(&mut s, patch, 12), turned);
    }
    // A list takes a stride that is too short, as in Mesa.
    let mut s = Session::new(api::COMPAT, 0);
    let errors = compiled_and_called(&mut s, |e| unsafe {
        e.gl_map1f(GL_MAP1_VERTEX_3, 0., 1., 1, 2, (points.as_ptr(), 4));
    });
    assert_eq!(errors, [GL_NO_ERROR; 2]);
    let seen = coefficients(&mut s, GL_MAP1_VERTEX_3, 6);
    assert_eq!(seen, [0., 1., 2., 1., 2., 3.]);
}

#[test]
fn lists_read_compressed_images_without_the_programs_layout() {
    let block: Vec<u8> = (0..16).collect();
    let callers: [fn(&mut Encoder); 4] = [
        |e| e.gl_call_list(1),
        |e| unsafe { e.gl_call_lists(1, GL_UNSIGNED_BYTE, ([1].as_ptr(), 1)) },
        |e| e.gl_call_list(2),
        |e| {
            e.gl_new_list(3, GL_COMPILE_AND_EXECUTE);
            e.gl_call_list(1);
            e.gl_end_list();
        },
    ];
    for call in callers {
        let mut s = Session::new(api::COMPAT, 0);
        s.encode(|e| {
            e.gl_bind_texture(GL_TEXTURE_2D, 1);
            e.gl_new_list(1, GL_COMPILE);
            compressed(e, bytes(&block));
            e.gl_end_list();
            e.gl_new_list(2, GL_COMPILE);
            e.gl_call_list(1);
            e.gl_end_list();
            layout(e, 4);
            call(e);
        });
        assert_eq!(error(&mut s), GL_NO_ERROR);
        assert_eq!(image(&mut s), block);
        s.encode(|e| e.gl_get_integerv(GL_UNPACK_SKIP_ROWS, 1));
        assert_eq!(s.answer_array::<i32>(), [4]);
        assert_eq!(s.renderer.compare_notes(), Ok(()));
    }
    // A list that ends the primitive in which it is called.
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| {
        e.gl_bind_texture(GL_TEXTURE_2D, 1);
        e.gl_new_list(1, GL_COMPILE);
        e.gl_end();
        compressed(e, bytes(&block));
        e.gl_end_list();
        layout(e, 4);
    });
    let called = s.try_encode(|e| {
        e.gl_begin(GL_POINTS);
        e.gl_call_list(1);
    });
    assert!(called.is_err() || image(&mut s) == block);
    drop(s);
    // Without such a layout it may be called there.
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| {
        e.gl_new_list(1, GL_COMPILE);
        e.gl_vertex2f(0., 0.);
        e.gl_end_list();
        e.gl_begin(GL_POINTS);
        e.gl_call_list(1);
        e.gl_end();
        e.gl_new_list(2, GL_COMPILE_AND_EXECUTE);
        e.gl_begin(GL_POINTS);
        e.gl_call_list(1);
        e.gl_end();
        e.gl_end_list();
    });
    assert_eq!(error(&mut s), GL_NO_ERROR);
}

#[test]
fn negative_counts_are_not_copied_to_lists() {
    let four = 0x9000_0004u32 as i32;
    let one = 0xa000_0004u32 as i32;
    let array = 0x9400_0004u32 as i32;
    let f32s = || (std::ptr::null::<f32>(), 0);
    let i32s = || (std::ptr::null::<i32>(), 0);
    let attacks: [&dyn Fn(&mut Encoder); 10] = [
        &|e| unsafe { e.gl_uniform4fv(0, four, f32s()) },
        &|e| unsafe { e.gl_uniform1iv(0, one, i32s()) },
        &|e| unsafe { e.gl_uniform1fv(0, one, f32s()) },
        &|e| unsafe { e.gl_uniform_matrix4fv(0, 0x9200_0001u32 as i32, 0, f32s()) },
        &|e| unsafe { e.gl_program_uniform4fv(1, 0, four, f32s()) },
        &|e| unsafe { e.gl_program_uniform1iv(1, 0, one, i32s()) },
        &|e| unsafe { e.gl_scissor_arrayv(0, array, i32s()) },
        &|e| unsafe { e.gl_viewport_arrayv(0, array, f32s()) },
        &|e| unsafe { e.gl_depth_range_arrayv(0, array, (std::ptr::null(), 0)) },
        &|e| unsafe { e.gl_call_lists(one, GL_UNSIGNED_INT, (std::ptr::null(), 0)) },
    ];
    for attack in attacks {
        let mut s = Session::new(api::COMPAT, 0);
        let [compiled, called] = compiled_and_called(&mut s, attack);
        assert_eq!(compiled, GL_NO_ERROR);
        assert_ne!(called, GL_NO_ERROR);
    }
}

/// A program of this compute shader, by name 2.
fn computes(source: &str) -> Session {
    let mut s = Session::new(api::CORE, 0);
    s.encode(|e| unsafe {
        e.gl_create_shader(GL_COMPUTE_SHADER, 1);
        e.gl_shader_source(1, (source.as_ptr(), source.len()));
        e.gl_compile_shader(1);
        e.gl_create_program(2);
        e.gl_attach_shader(2, 1);
        e.gl_link_program(2);
        e.gl_get_programiv(2, GL_LINK_STATUS, 1);
    });
    assert_eq!(s.answer_array::<i32>(), [1]);
    s
}

#[test]
fn lists_of_a_programs_resources_fit_their_answers() {
    let mut s = computes(
        "#version 430\nstruct T { float x; }; struct S { T t[30000]; };\n\
         layout(std430, binding = 0) buffer B { S s; } b;\n\
         layout(local_size_x = 1) in; void main() { b.s.t[0].x = 1.0; }",
    );
    let mut ask = |props: &[u32], count: i32, room: u32| {
        s.encode(|e| unsafe {
            let props = (props.as_ptr(), props.len());
            let block = GL_SHADER_STORAGE_BLOCK;
            e.gl_get_program_resourceiv(2, block, 0, props.1 as i32, props, count, 1, room);
        });
        let mut answer = s.answer();
        let length = support::array::<i32>(&mut answer);
        (length, support::array::<i32>(&mut answer))
    };
    let number = ask(&[GL_NUM_ACTIVE_VARIABLES], 1, 1).1[0];
    assert_eq!(number, 30000);
    let (length, indices) = ask(&[GL_ACTIVE_VARIABLES], 1, 1);
    assert_eq!((length, indices.len()), (vec![number], 1));
    let (_, indices) = ask(&[GL_ACTIVE_VARIABLES], 30000, 30000);
    assert_eq!(indices.len(), 30000);
    let twice = [GL_NUM_ACTIVE_VARIABLES, GL_ACTIVE_VARIABLES];
    assert_eq!(ask(&twice, 2, 2).1[0], number);
    assert_eq!(ask(&[GL_COMPATIBLE_SUBROUTINES], 1, 1).1.len(), 0);
    assert_eq!(error(&mut s), GL_INVALID_OPERATION);
}

#[test]
fn the_members_of_a_uniform_block_are_all_told() {
    let mut s = computes(
        "#version 430\nlayout(std140, binding = 0) uniform B { vec4 a; vec4 b; vec4 c; };\n\
         layout(std430, binding = 0) buffer C { vec4 d; };\n\
         layout(local_size_x = 1) in; void main() { d = a + b + c; }",
    );
    let (list, number) = (
        GL_UNIFORM_BLOCK_ACTIVE_UNIFORM_INDICES,
        GL_UNIFORM_BLOCK_ACTIVE_UNIFORMS,
    );
    s.encode(|e| {
        e.gl_get_active_uniform_blockiv(2, 0, number, 1);
        e.gl_get_active_uniform_blockiv(2, 0, list, 3);
        e.gl_get_active_uniform_blockiv(2, 1, list, 3);
        e.mgn_get_error(1);
    });
    assert_eq!(s.answer_array::<i32>(), [3]);
    let mut indices = s.answer_array::<i32>();
    indices.sort_unstable();
    assert_eq!(indices, [0, 1, 2]);
    assert_eq!(s.answer_array::<i32>().len(), 0);
    assert_eq!(s.answer_array::<u32>(), [GL_INVALID_VALUE]);
}
