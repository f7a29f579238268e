//! Objects and their names, images, and queries of them.
// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

mod support;

use mgn_wire::encoder::Data;
use mgn_wire::gl::*;
use mgn_wire::hello::api;
use mgn_wire::Fault;
use support::{array, Session};

#[test]
fn every_configuration_is_what_it_says() {
    let mut s = Session::new(api::COMPAT, 0);
    let configs = s.renderer.info().configs.clone();
    assert!(configs.len() >= 10, "{configs:?}");
    for (i, config) in configs.into_iter().enumerate() {
        let id = 10 + i as u32;
        s.encode(|e| {
            e.mgn_create_surface(id, 0, config.id, 32, 32);
            e.mgn_make_current(id, id);
            for pname in [
                GL_RED_BITS,
                GL_ALPHA_BITS,
                GL_DEPTH_BITS,
                GL_STENCIL_BITS,
                GL_SAMPLES,
            ] {
                e.gl_get_integerv(pname, 1);
            }
            e.gl_clear_color(0.0, 1.0, 1.0, 0.0);
            e.gl_clear(GL_COLOR_BUFFER_BIT);
            e.mgn_swap_buffers(id, 1, 1);
            // The edge of this triangle covers pixels in part.
            e.gl_begin(GL_TRIANGLES);
            e.gl_color3f(1.0, 1.0, 1.0);
            e.gl_vertex2f(-1.0, -1.0);
            e.gl_vertex2f(1.0, -1.0);
            e.gl_vertex2f(-1.0, 0.7);
            e.gl_end();
            e.mgn_swap_buffers(id, 2, 1);
        });
        let bits: Vec<u32> = (0..5).map(|_| s.answer_array::<u32>()[0]).collect();
        let expected = [
            config.color.bits()[0],
            config.alpha,
            config.depth,
            config.stencil,
            config.samples,
        ]
        .map(u32::from);
        assert_eq!(bits, expected, "{config:?}");
        let cleared = s.picture().pixels;
        let is_yellow = |p: &[u8]| p[..3] == [255, 255, 0];
        assert!(
            cleared.chunks_exact(4).all(is_yellow),
            "{config:?}: {:?}",
            &cleared[..8]
        );
        let blended = s
            .picture()
            .pixels
            .chunks_exact(4)
            .any(|p| p[2] != 0 && p[2] != 255);
        assert_eq!(blended, config.samples > 0, "{config:?}");
    }
}

#[test]
fn names_are_the_clients() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
        // Other objects first, so that the driver's names differ.
        e.gl_gen_textures(([500, 501, 502].as_ptr(), 3));
        e.gl_gen_buffers(([900, 901].as_ptr(), 2));
        e.gl_gen_framebuffers(([70].as_ptr(), 1));
        e.gl_gen_renderbuffers(([80].as_ptr(), 1));
        e.gl_bind_texture(GL_TEXTURE_2D, 502);
        e.gl_bind_buffer_base(GL_UNIFORM_BUFFER, 3, 901);
        e.gl_bind_framebuffer(GL_FRAMEBUFFER, 70);
        e.gl_bind_renderbuffer(GL_RENDERBUFFER, 80);
        e.gl_renderbuffer_storage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, 4, 4);
        e.gl_tex_image2d(
            GL_TEXTURE_2D,
            0,
            GL_RGBA as i32,
            4,
            4,
            0,
            GL_RGBA,
            GL_UNSIGNED_BYTE,
            Data::Null,
        );
        e.gl_framebuffer_texture2d(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, 502, 0);
        e.gl_framebuffer_renderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, 80);
        e.gl_get_integerv(GL_TEXTURE_BINDING_2D, 1);
        e.gl_get_integeri_v(GL_UNIFORM_BUFFER_BINDING, 3, 1);
        e.gl_get_integerv(GL_DRAW_FRAMEBUFFER_BINDING, 1);
        let name = GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME;
        e.gl_get_framebuffer_attachment_parameteriv(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, name, 1);
        e.gl_get_framebuffer_attachment_parameteriv(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, name, 1);
        e.gl_check_framebuffer_status(GL_FRAMEBUFFER);
        e.gl_delete_textures(([502].as_ptr(), 1));
        e.gl_get_integerv(GL_TEXTURE_BINDING_2D, 1);
        e.gl_delete_framebuffers(([70].as_ptr(), 1));
        e.gl_get_integerv(GL_DRAW_FRAMEBUFFER_BINDING, 1);
        e.gl_get_integerv(GL_DRAW_BUFFER, 1);
        e.mgn_get_error(1);
    });
    let first: Vec<u32> = (0..5).map(|_| s.answer_array::<u32>()[0]).collect();
    assert_eq!(first, [502, 901, 70, 502, 80]);
    assert_eq!(s.answer().value::<u32>(), GL_FRAMEBUFFER_COMPLETE);
    let last: Vec<u32> = (0..4).map(|_| s.answer_array::<u32>()[0]).collect();
    assert_eq!(last, [0, 0, GL_BACK, GL_NO_ERROR]);
}

#[test]
fn deleted_shaders_keep_their_name_while_they_are_attached() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| {
        e.gl_create_shader(GL_VERTEX_SHADER, 5);
        e.gl_create_program(6);
        e.gl_attach_shader(6, 5);
        e.gl_delete_shader(5);
        e.gl_get_attached_shaders(6, 8, 8);
        e.gl_is_shader(5);
        e.gl_detach_shader(6, 5);
        e.gl_is_shader(5);
        e.mgn_get_error(1);
    });
    assert_eq!(s.answer_array::<u32>(), [5]);
    assert_eq!(s.answer().value::<u8>(), 1);
    assert_eq!(s.answer().value::<u8>(), 0);
    assert_eq!(s.answer_array::<u32>(), [GL_NO_ERROR]);
}

#[test]
fn uniforms_answer_with_exactly_their_components() {
    let mut s = Session::new(api::COMPAT, 0);
    let source = b"uniform vec3 v; uniform mat2 m; void main() { gl_Position = vec4(v, m[1][0]); }";
    s.encode(|e| unsafe {
        e.gl_create_shader(GL_VERTEX_SHADER, 1);
        e.gl_shader_source(1, (source.as_ptr(), source.len()));
        e.gl_compile_shader(1);
        e.gl_create_program(2);
        e.gl_attach_shader(2, 1);
        e.gl_link_program(2);
        e.gl_use_program(2);
        for name in [&b"v"[..], b"m", b"nothing"] {
            e.gl_get_uniform_location(2, (name.as_ptr(), name.len()), 1);
        }
    });
    let locations: Vec<i32> = (0..3).map(|_| s.answer_array::<i32>()[0]).collect();
    assert_eq!(locations[2], -1);
    s.encode(|e| unsafe {
        e.gl_uniform3f(locations[0], 1.0, 0.0, -2.0);
        e.gl_uniform_matrix2fv(locations[1], 1, 0, ([1.0f32, 2.0, 3.0, 4.0].as_ptr(), 4));
        e.gl_get_uniformfv(2, locations[0], 16);
        e.gl_get_uniformfv(2, locations[1], 16);
        e.gl_get_uniformfv(2, 1234, 16);
        e.mgn_get_error(1);
    });
    assert_eq!(s.answer_array::<f32>(), [1.0, 0.0, -2.0]);
    assert_eq!(s.answer_array::<f32>(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(s.answer_array::<f32>(), [0f32; 0]);
    assert_eq!(s.answer_array::<u32>(), [GL_INVALID_OPERATION]);
}

#[test]
fn images_are_tight_in_the_stream_and_the_programs_in_buffers() {
    let mut s = Session::new(api::COMPAT, 0);
    let texels: Vec<u8> = (0..27).collect();
    s.encode(|e| unsafe {
        // The program's state, which the stream's images don't follow.
        e.gl_pixel_storei(GL_UNPACK_ROW_LENGTH, 50);
        e.gl_pixel_storei(GL_PACK_ALIGNMENT, 8);
        e.gl_tex_image2d(
            GL_TEXTURE_2D,
            0,
            GL_RGB as i32,
            3,
            3,
            0,
            GL_RGB,
            GL_UNSIGNED_BYTE,
            Data::Bytes(texels.as_ptr(), 27),
        );
        e.gl_get_tex_image(GL_TEXTURE_2D, 0, GL_RGB, GL_UNSIGNED_BYTE, 3);
        e.gl_get_integerv(GL_UNPACK_ROW_LENGTH, 1);
        e.gl_bind_buffer(GL_PIXEL_PACK_BUFFER, 4);
        e.gl_buffer_data(GL_PIXEL_PACK_BUFFER, 100, Data::Null, GL_STREAM_READ);
        e.mgn_get_tex_image_to(GL_TEXTURE_2D, 0, GL_RGB, GL_UNSIGNED_BYTE, 0);
        e.gl_get_buffer_sub_data(GL_PIXEL_PACK_BUFFER, 0, 40, 40);
        e.mgn_get_error(1);
    });
    let mut answer = s.answer();
    assert_eq!(array::<i32>(&mut answer), [3, 3, 1, GL_TEXTURE_2D as i32]);
    assert_eq!(array::<u8>(&mut answer), texels);
    assert_eq!(s.answer_array::<i32>(), [50]);
    let packed = s.answer_array::<u8>();
    assert_eq!(
        (&packed[..9], &packed[16..25], &packed[32..40]),
        (&texels[..9], &texels[9..18], &texels[18..26])
    );
    assert_eq!(s.answer_array::<u32>(), [GL_NO_ERROR]);
    let short = s.try_encode(|e| unsafe {
        e.gl_tex_image2d(
            GL_TEXTURE_2D,
            0,
            GL_RGB as i32,
            3,
            3,
            0,
            GL_RGB,
            GL_UNSIGNED_BYTE,
            Data::Bytes(texels.as_ptr(), 26),
        );
    });
    assert_eq!(short, Err(Fault::ShortArray));
}

#[test]
fn fences_are_waited_for() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| {
        e.gl_fence_sync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0, 3);
        e.gl_client_wait_sync(3, GL_SYNC_FLUSH_COMMANDS_BIT, u64::MAX);
        e.gl_delete_sync(3);
        e.gl_client_wait_sync(3, 0, u64::MAX);
        e.mgn_get_error(1);
    });
    assert!([GL_ALREADY_SIGNALED, GL_CONDITION_SATISFIED].contains(&s.answer().value::<u32>()));
    assert_eq!(s.answer().value::<u32>(), GL_WAIT_FAILED);
    assert_eq!(s.answer_array::<u32>(), [GL_INVALID_VALUE]);
}

#[test]
fn display_lists_keep_the_clients_names() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
        e.gl_new_list(101, GL_COMPILE);
        e.gl_color3f(0.0, 0.0, 1.0);
        e.gl_rectf(-1.0, -1.0, 1.0, 1.0);
        e.gl_end_list();
        e.gl_list_base(100);
        e.gl_call_lists(1, GL_UNSIGNED_BYTE, ([1u8].as_ptr(), 1));
        e.mgn_swap_buffers(1, 1, 1);
    });
    assert!(s
        .picture()
        .pixels
        .chunks_exact(4)
        .all(|p| p[..3] == [255, 0, 0]));
}

/// Drivers add to such an index before they compare it.
#[test]
fn parameters_far_beyond_a_program_are_refused() {
    let mut s = Session::new(api::COMPAT, 0);
    let target = GL_VERTEX_PROGRAM_ARB;
    let (floats, doubles) = ([1f32; 8], [1f64; 4]);
    type Command<'a> = &'a dyn Fn(&mut mgn_wire::Encoder);
    let far = u32::MAX;
    let commands: [Command<'_>; 8] = [
        &|e| e.gl_program_local_parameter4f_arb(target, far, 1.0, 1.0, 1.0, 1.0),
        &|e| unsafe { e.gl_program_local_parameter4dv_arb(target, far, (doubles.as_ptr(), 4)) },
        &|e| unsafe { e.gl_program_local_parameters4fv_ext(target, far, 2, (floats.as_ptr(), 8)) },
        &|e| e.gl_named_program_local_parameter4d_ext(5, target, far, 1.0, 1.0, 1.0, 1.0),
        &|e| e.gl_named_program_local_parameter4f_ext(5, target, far, 1.0, 1.0, 1.0, 1.0),
        &|e| unsafe {
            e.gl_named_program_local_parameter4dv_ext(5, target, far, (doubles.as_ptr(), 4))
        },
        &|e| unsafe {
            e.gl_named_program_local_parameter4fv_ext(5, target, far, (floats.as_ptr(), 4))
        },
        &|e| unsafe {
            e.gl_named_program_local_parameters4fv_ext(5, target, far, 2, (floats.as_ptr(), 8))
        },
    ];
    for command in commands {
        s.encode(|e| {
            command(e);
            e.mgn_get_error(1);
        });
        assert_eq!(s.answer_array::<u32>(), [GL_INVALID_VALUE]);
    }
    s.encode(|e| e.gl_get_named_program_local_parameterfv_ext(5, target, far, 4));
    assert!(s.answer_array::<f32>().is_empty());
}
