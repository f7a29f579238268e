//! Random sequences of commands. After each command, the renderer's notes are compared with the
//! driver's state. Most commands are valid; some are such as no client sends, or come where the
//! driver refuses them.
//!
//! `support/fuzz.rs` lists the environment variables that it knows.

// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

mod support;

use mgn_wire::draws::{attr, Array, Kind};
use mgn_wire::encoder::Data;
use mgn_wire::frames::want;
use mgn_wire::gl::*;
use mgn_wire::hello::api;
use mgn_wire::Encoder;
use support::fuzz::{Random, Settings};
use support::{Session, CONFIG};

/// Sequences of `make test`; each is in order as long as the session lasts.
const SEQUENCES: u64 = 1500;
const LENGTH: usize = 60;

/// Arguments of commands.
trait Arguments {
    fn name(&mut self) -> u32;
    fn offset(&mut self) -> u64;
    fn index(&mut self) -> u32;
    fn small(&mut self) -> i32;
}

impl Arguments for Random {
    fn name(&mut self) -> u32 {
        self.below(5) as u32
    }

    /// Offsets that are in order, at the end of what there is, and addresses. Without a buffer, all
    /// but 0 end the session.
    fn offset(&mut self) -> u64 {
        if self.below(3) != 0 {
            return 0;
        }
        self.of(&[4, 64, 252, 256, 1 << 20, 0x7f00_0000_0000, u64::MAX - 7])
    }

    /// An attribute or a binding point: mostly one of a few, which then change often.
    fn index(&mut self) -> u32 {
        self.of(&[0, 0, 0, 0, 1, 1, 1, 15, 16, 99])
    }

    fn small(&mut self) -> i32 {
        self.of(&[-1, 0, 1, 2, 3, 4, 8, 16, 64])
    }
}

/// The API of a context, and the version that is asked for; 0 for any.
type Version = (u32, u32, u32);

const COMPAT: Version = (api::COMPAT, 0, 0);
const CORE: Version = (api::CORE, 3, 3);
const ES1: Version = (api::ES1, 1, 1);
const ES3: Version = (api::ES, 3, 0);
/// The two contexts of a sequence. Compatibility contexts have the most state to note.
const CONTEXTS: [[Version; 2]; 12] = [
    [COMPAT, COMPAT],
    [COMPAT, COMPAT],
    [COMPAT, COMPAT],
    [COMPAT, COMPAT],
    [COMPAT, CORE],
    [CORE, COMPAT],
    [CORE, CORE],
    [(api::CORE, 4, 5), CORE],
    [ES3, ES3],
    [(api::ES, 3, 2), (api::ES, 2, 0)],
    [ES1, ES1],
    [ES1, ES3],
];

/// The beginning of a shader, if the API has shaders.
fn glsl(version: Version) -> Option<&'static str> {
    match version {
        (api::CORE, ..) => Some("#version 330\nin"),
        (api::ES, 2, _) => Some("#version 100\nattribute"),
        (api::ES, ..) => Some("#version 300 es\nin"),
        _ => None,
    }
}

const BUFFERS: [u32; 7] = [
    GL_ARRAY_BUFFER,
    GL_ARRAY_BUFFER,
    GL_ELEMENT_ARRAY_BUFFER,
    GL_PIXEL_PACK_BUFFER,
    GL_PIXEL_UNPACK_BUFFER,
    GL_TRANSFORM_FEEDBACK_BUFFER,
    GL_UNIFORM_BUFFER,
];
/// Buffers that shaders see, and offsets of their parts.
const SEEN: [u32; 4] = [
    GL_UNIFORM_BUFFER,
    GL_UNIFORM_BUFFER,
    GL_SHADER_STORAGE_BUFFER,
    GL_ATOMIC_COUNTER_BUFFER,
];
const PLACES: [i64; 9] = [0, 64, 128, 256, 512, 3, -16, 1 << 40, (1 << 32) + 512];
const CLIENT_STATES: [u32; 9] = [
    GL_VERTEX_ARRAY,
    GL_NORMAL_ARRAY,
    GL_COLOR_ARRAY,
    GL_SECONDARY_COLOR_ARRAY,
    GL_FOG_COORD_ARRAY,
    GL_INDEX_ARRAY,
    GL_EDGE_FLAG_ARRAY,
    GL_TEXTURE_COORD_ARRAY,
    GL_POINT_SIZE_ARRAY_OES,
];
const STORED: [u32; 13] = [
    GL_PACK_ALIGNMENT,
    GL_PACK_ROW_LENGTH,
    GL_PACK_SKIP_ROWS,
    GL_PACK_SKIP_PIXELS,
    GL_PACK_SWAP_BYTES,
    GL_PACK_INVERT_MESA,
    GL_PACK_REVERSE_ROW_ORDER_ANGLE,
    GL_UNPACK_ALIGNMENT,
    GL_UNPACK_ROW_LENGTH,
    GL_UNPACK_SKIP_ROWS,
    GL_UNPACK_IMAGE_HEIGHT,
    GL_UNPACK_LSB_FIRST,
    GL_UNPACK_COMPRESSED_BLOCK_SIZE,
];
const MODES: [u32; 4] = [GL_POINTS, GL_LINES, GL_TRIANGLES, GL_QUADS];
const PIXELS: [u8; 1024] = [0x40; 1024];

/// The program of every context that has shaders.
const PROGRAM: u32 = 9;

unsafe fn program(e: &mut Encoder, glsl: &str) {
    let vertex = format!("{glsl} vec4 a, b; void main() {{ gl_Position = a + b; }}");
    let version = glsl.lines().next().unwrap_or_default();
    let fragment = format!("{version}\nvoid main() {{}}");
    let shaders = [
        (7, GL_VERTEX_SHADER, vertex),
        (8, GL_FRAGMENT_SHADER, fragment),
    ];
    unsafe {
        e.gl_create_program(PROGRAM);
        for (name, kind, source) in shaders {
            e.gl_create_shader(kind, name);
            e.gl_shader_source(name, (source.as_ptr(), source.len()));
            e.gl_compile_shader(name);
            e.gl_attach_shader(PROGRAM, name);
        }
        e.gl_bind_attrib_location(PROGRAM, 0, (b"a".as_ptr(), 1));
        e.gl_bind_attrib_location(PROGRAM, 1, (b"b".as_ptr(), 1));
        let varying = b"gl_Position\0";
        let list = (varying.as_ptr(), varying.len());
        e.gl_transform_feedback_varyings(PROGRAM, 1, list, GL_INTERLEAVED_ATTRIBS);
        e.gl_link_program(PROGRAM);
        e.gl_use_program(PROGRAM);
    }
}

/// A number of a command below. Those of the fixed function are rarer where the API has none.
fn number(r: &mut Random, api: u32) -> u64 {
    let fixed = api == api::COMPAT || api == api::ES1;
    let number = r.below(100);
    let is_fixed = matches!(
        number,
        0..=10 | 20..=22 | 25 | 26 | 31 | 40 | 41 | 49 | 52..=54 | 67..=69 | 90 | 91
    );
    if !is_fixed || fixed || r.below(4) == 0 {
        number
    } else {
        11 + r.below(9)
    }
}

/// Writes a random command for a context of an API, into a list if one `compiles`, and says which.
unsafe fn command(r: &mut Random, e: &mut Encoder, api: u32, compiles: bool) -> &'static str {
    let data = Data::Bytes(PIXELS.as_ptr(), 256);
    unsafe {
        match number(r, api) {
            0 if compiles => {
                // Some unbalanced primitives in lists crash Mesa, for any program.
                e.gl_begin(r.of(&MODES));
                e.gl_vertex2f(0.5, 0.5);
                e.gl_end();
                "a primitive"
            }
            0 => {
                e.gl_begin(r.of(&MODES));
                e.gl_vertex2f(0.5, 0.5);
                "glBegin and glVertex"
            }
            1..=4 => {
                e.gl_end();
                "glEnd"
            }
            5 => {
                // With a vertex out of place, Mesa 22.3 waits for itself forever once it looks at
                // a framebuffer object, for any program.
                e.gl_color4f(1.0, 0.5, 0.0, 1.0);
                "glColor"
            }
            6 => {
                e.gl_new_list(
                    r.name(),
                    r.of(&[GL_COMPILE, GL_COMPILE_AND_EXECUTE, GL_POINTS]),
                );
                "glNewList"
            }
            7..=9 => {
                e.gl_end_list();
                "glEndList"
            }
            10 => {
                e.gl_call_list(r.name());
                "glCallList"
            }
            11..=13 => {
                e.gl_pixel_storei(r.of(&STORED), r.of(&[-1, 0, 1, 2, 3, 4, 8, 1000, 1 << 20]));
                "glPixelStorei"
            }
            14..=17 => {
                e.gl_bind_buffer(r.of(&BUFFERS), r.name());
                "glBindBuffer"
            }
            18 => {
                e.gl_buffer_data(r.of(&BUFFERS), 256, data, GL_STATIC_DRAW);
                "glBufferData"
            }
            19 => {
                e.gl_delete_buffers(([r.name()].as_ptr(), 1));
                "glDeleteBuffers"
            }
            20 => {
                e.gl_vertex_pointer(r.small(), r.of(&[GL_FLOAT, GL_BYTE]), r.small(), r.offset());
                "glVertexPointer"
            }
            21 => {
                e.gl_tex_coord_pointer(r.small(), GL_FLOAT, r.small(), r.offset());
                "glTexCoordPointer"
            }
            22 => {
                e.gl_color_pointer(r.small(), GL_FLOAT, r.small(), r.offset());
                "glColorPointer"
            }
            23 | 24 => {
                e.gl_vertex_attrib_pointer(
                    r.index(),
                    r.small(),
                    GL_FLOAT,
                    0,
                    r.small(),
                    r.offset(),
                );
                "glVertexAttribPointer"
            }
            25 => {
                e.gl_enable_client_state(r.of(&CLIENT_STATES));
                "glEnableClientState"
            }
            26 => {
                e.gl_disable_client_state(r.of(&CLIENT_STATES));
                "glDisableClientState"
            }
            27 => {
                e.gl_enable_vertex_attrib_array(r.index());
                "glEnableVertexAttribArray"
            }
            28 => {
                e.gl_disable_vertex_attrib_array(r.index());
                "glDisableVertexAttribArray"
            }
            29 => {
                let offset = r.offset() as i64;
                e.gl_bind_vertex_buffer(r.index(), r.name(), offset, r.small());
                "glBindVertexBuffer"
            }
            30 => {
                e.gl_vertex_attrib_binding(r.index(), r.index());
                "glVertexAttribBinding"
            }
            31 => {
                e.gl_client_active_texture(GL_TEXTURE0 + r.of(&[0, 1, 7, 8, 40]));
                "glClientActiveTexture"
            }
            32 => {
                e.gl_gen_vertex_arrays(([1 + r.name()].as_ptr(), 1));
                "glGenVertexArrays"
            }
            33 => {
                e.gl_bind_vertex_array(r.name());
                "glBindVertexArray"
            }
            34 => {
                e.gl_delete_vertex_arrays(([r.name()].as_ptr(), 1));
                "glDeleteVertexArrays"
            }
            35 => {
                e.gl_draw_arrays(r.of(&MODES), r.small(), r.small());
                "glDrawArrays"
            }
            36 => {
                e.gl_draw_elements(r.of(&MODES), r.small(), GL_UNSIGNED_SHORT, r.offset());
                "glDrawElements"
            }
            37 => {
                let array = Array {
                    attribute: r.of(&[attr::POSITION, attr::COLOR, attr::TEXCOORD, attr::GENERIC]),
                    kind: Kind::Float,
                    size: 3,
                    type_: r.of(&[GL_FLOAT, GL_FLOAT, GL_DOUBLE, GL_UNSIGNED_BYTE]),
                    normalized: false,
                    divisor: 0,
                    stride: 24,
                    buffer: r.of(&[0, 0, 0, 1]),
                    offset: 0,
                };
                let words = array.encode();
                e.mgn_draw_arrays(GL_POINTS, 0, 3, 1, 0, (words.as_ptr(), words.len()), data);
                "mgnDrawArrays"
            }
            38 => {
                e.gl_read_pixels(0, 0, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE);
                "glReadPixels"
            }
            39 => {
                let size = r.of(&[4, 8, 16]);
                let pixels = Data::Bytes(PIXELS.as_ptr(), (size * size * 4) as usize);
                e.gl_tex_image2d(
                    GL_TEXTURE_2D,
                    0,
                    GL_RGBA as i32,
                    size,
                    size,
                    0,
                    GL_RGBA,
                    GL_UNSIGNED_BYTE,
                    pixels,
                );
                "glTexImage2D"
            }
            40 => {
                e.gl_get_polygon_stipple(128);
                "glGetPolygonStipple"
            }
            41 => {
                e.gl_array_element(r.small());
                "glArrayElement"
            }
            42 => {
                e.mgn_get_error(1);
                "glGetError"
            }
            43 => {
                e.gl_use_program(r.of(&[0, PROGRAM]));
                "glUseProgram"
            }
            44 => {
                e.gl_vertex_attrib_i_pointer(r.index(), r.small(), GL_INT, r.small(), r.offset());
                "glVertexAttribIPointer"
            }
            45 => {
                e.gl_vertex_attrib_divisor(r.index(), r.of(&[0, 1, 2]));
                "glVertexAttribDivisor"
            }
            46 => {
                e.gl_bind_buffer_base(r.of(&BUFFERS), r.of(&[0, 1, 99]), r.name());
                "glBindBufferBase"
            }
            47 => {
                e.gl_draw_arrays_instanced(r.of(&MODES), r.small(), r.small(), r.small());
                "glDrawArraysInstanced"
            }
            48 => {
                let (buffers, offsets) = ([r.name(), r.name()], [r.offset() as i64, 0]);
                let strides = [r.small(), 16];
                e.gl_bind_vertex_buffers(
                    r.index(),
                    2,
                    (buffers.as_ptr(), 2),
                    (offsets.as_ptr(), 2),
                    (strides.as_ptr(), 2),
                );
                "glBindVertexBuffers"
            }
            49 => {
                e.gl_point_size_pointer_oes(GL_FLOAT, r.small(), r.offset());
                "glPointSizePointerOES"
            }
            50 | 51 => {
                // The renderer asks about arrays when they are drawn: only then are there notes.
                let index = r.of(&[0, 1]);
                let is_fixed = r.below(2) == 0 && (api == api::COMPAT || api == api::ES1);
                e.gl_bind_buffer(GL_ARRAY_BUFFER, r.of(&[0, 1, 2, 3]));
                if is_fixed {
                    e.gl_color_pointer(4, GL_FLOAT, 16, 0);
                    e.gl_enable_client_state(GL_COLOR_ARRAY);
                } else {
                    e.gl_vertex_attrib_pointer(index, 4, GL_FLOAT, 0, 16, 0);
                    e.gl_enable_vertex_attrib_array(index);
                    if r.below(4) == 0 {
                        e.gl_vertex_attrib_binding(index, 1 - index);
                    }
                }
                e.gl_draw_arrays(GL_POINTS, 0, 3);
                // Now there are notes, which these commands make wrong.
                match r.below(4) {
                    0 => e.gl_bind_vertex_buffer(index, r.of(&[0, 1]), 0, 16),
                    1 => e.gl_vertex_attrib_binding(index, 1 - index),
                    2 => {
                        e.gl_bind_buffer(GL_ARRAY_BUFFER, r.of(&[0, 1]));
                        e.gl_vertex_attrib_pointer(1 - index, 4, GL_FLOAT, 0, 16, 0);
                    }
                    _ => {}
                }
                "an array, and a draw"
            }
            54 if !compiles => {
                // The driver refuses the primitive, and accepts what follows.
                elements(r, e, GL_TEXTURE_2D);
                match r.below(3) {
                    0 => e.gl_buffer_data(GL_ARRAY_BUFFER, 16, Data::Null, GL_STATIC_DRAW),
                    1 => e.gl_vertex_pointer(4, GL_FLOAT, 16, 512),
                    _ => e.gl_primitive_restart_index(r.index()),
                }
                "a primitive that is refused"
            }
            56..=58 => {
                let (offset, size) = (r.of(&PLACES), r.of(&[-1, 16, 256, 1 << 30]));
                e.gl_bind_buffer_range(r.of(&SEEN), r.of(&[0, 1, 3, 99]), r.name(), offset, size);
                "glBindBufferRange"
            }
            59 | 60 => {
                let size = r.of(&[0, 16, 64, 256, 257, 1024, 4096]);
                e.gl_buffer_data(r.of(&BUFFERS), size, Data::Null, GL_STATIC_DRAW);
                "glBufferData of another size"
            }
            61 => {
                let (names, offsets) = ([r.name(), r.name()], [r.of(&PLACES), r.of(&PLACES)]);
                let sizes = [r.of(&[-1, 16, 256]), 64];
                e.gl_bind_buffers_range(
                    r.of(&SEEN),
                    r.of(&[0, 1, 99]),
                    2,
                    (names.as_ptr(), 2),
                    (offsets.as_ptr(), 2),
                    (sizes.as_ptr(), 2),
                );
                "glBindBuffersRange"
            }
            62 => {
                e.gl_bind_texture(GL_TEXTURE_BUFFER, r.name());
                "glBindTexture"
            }
            63 | 64 => {
                let (place, size) = (r.of(&PLACES), r.of(&[-1, 16, 64, 256]));
                e.gl_tex_buffer_range(GL_TEXTURE_BUFFER, GL_RGBA8, r.name(), place, size);
                "glTexBufferRange"
            }
            65 => {
                e.gl_tex_buffer(GL_TEXTURE_BUFFER, GL_RGBA8, r.name());
                "glTexBuffer"
            }
            66 => {
                e.gl_delete_textures(([r.name()].as_ptr(), 1));
                "glDeleteTextures"
            }
            67 => {
                e.gl_select_buffer(r.of(&[-1, 0, 4, 64]));
                "glSelectBuffer"
            }
            68 => {
                e.gl_feedback_buffer(r.of(&[-1, 0, 4, 64]), r.of(&[GL_2D, GL_4D_COLOR_TEXTURE]));
                "glFeedbackBuffer"
            }
            69 => {
                e.gl_render_mode(r.of(&[GL_RENDER, GL_SELECT, GL_FEEDBACK, GL_POINTS]), 2, 64);
                "glRenderMode"
            }
            70 => {
                // From the bound arrays.
                let (arrays, indices) = ((std::ptr::null(), 0), [0, 1, 2]);
                let indices = Data::Bytes(indices.as_ptr(), 3);
                let mode = r.of(&MODES);
                e.mgn_draw_elements(
                    mode,
                    3,
                    GL_UNSIGNED_BYTE,
                    0,
                    2,
                    1,
                    0,
                    0,
                    arrays,
                    indices,
                    Data::Null,
                );
                "mgnDrawElements"
            }
            71..=75 => framebuffer(r, e),
            76..=79 => attachment(r, e),
            80 | 81 => {
                e.gl_clear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
                "glClear"
            }
            82 => {
                let (y, to_x) = (r.small(), r.small());
                let mask = GL_COLOR_BUFFER_BIT;
                e.gl_blit_framebuffer(-1, y, 16, 300, 0, 0, to_x, 8, mask, GL_NEAREST);
                "glBlitFramebuffer"
            }
            83 => {
                let (x, width) = (r.of(&[0, -3, 60, 1 << 20]), r.small());
                e.gl_copy_tex_image2d(GL_TEXTURE_2D, 0, GL_RGBA, x, 0, width, 8, 0);
                "glCopyTexImage2D"
            }
            84..=89 => transform_feedback(r, e),
            90 => {
                e.gl_push_attrib(GL_ALL_ATTRIB_BITS);
                "glPushAttrib"
            }
            91 => {
                e.gl_pop_attrib();
                "glPopAttrib"
            }
            52 | 53 if !compiles => {
                e.gl_begin(r.of(&MODES));
                command(r, e, api, compiles);
                e.gl_end();
                "a command between glBegin and glEnd"
            }
            _ => {
                e.gl_enable(r.of(&[GL_VERTEX_ARRAY, GL_COLOR_ARRAY, GL_PRIMITIVE_RESTART]));
                "glEnable"
            }
        }
    }
}

/// Writes a command that binds or deletes a framebuffer, or chooses the buffers of one that are
/// drawn to or read.
unsafe fn framebuffer(r: &mut Random, e: &mut Encoder) -> &'static str {
    const TARGETS: [u32; 4] = [
        GL_FRAMEBUFFER,
        GL_DRAW_FRAMEBUFFER,
        GL_READ_FRAMEBUFFER,
        GL_RENDERBUFFER,
    ];
    const DRAWN: [u32; 7] = [
        GL_NONE,
        GL_BACK,
        GL_FRONT,
        GL_FRONT_AND_BACK,
        GL_COLOR_ATTACHMENT0,
        GL_COLOR_ATTACHMENT0 + 1,
        GL_TEXTURE_2D,
    ];
    unsafe {
        match r.below(9) {
            0..=2 => {
                e.gl_bind_framebuffer(r.of(&TARGETS), r.of(&[0, 0, 1, 2, 3, 4]));
                "glBindFramebuffer"
            }
            3 => {
                e.gl_bind_framebuffer_ext(r.of(&TARGETS), r.name());
                "glBindFramebufferEXT"
            }
            4 => {
                e.gl_bind_framebuffer_oes(r.of(&TARGETS), r.name());
                "glBindFramebufferOES"
            }
            5 => {
                e.gl_draw_buffer(r.of(&DRAWN));
                "glDrawBuffer"
            }
            6 => {
                let buffers = [r.of(&DRAWN), r.of(&DRAWN)];
                e.gl_draw_buffers(r.of(&[-1, 0, 1, 2]), (buffers.as_ptr(), 2));
                "glDrawBuffers"
            }
            7 => {
                e.gl_read_buffer(r.of(&DRAWN));
                "glReadBuffer"
            }
            _ => {
                let (names, is_old) = ([r.name(), r.name()], r.below(2) == 0);
                match is_old {
                    true => e.gl_delete_framebuffers_oes(2, (names.as_ptr(), 2)),
                    false => e.gl_delete_framebuffers((names.as_ptr(), 2)),
                }
                "glDeleteFramebuffers"
            }
        }
    }
}

/// Writes a command about what framebuffers consist of.
unsafe fn attachment(r: &mut Random, e: &mut Encoder) -> &'static str {
    let target = r.of(&[GL_FRAMEBUFFER, GL_READ_FRAMEBUFFER]);
    let point = GL_COLOR_ATTACHMENT0 + r.of(&[0, 0, 1, 40]);
    unsafe {
        match r.below(6) {
            0 | 1 => {
                let level = r.of(&[0, 0, 1, -1]);
                e.gl_framebuffer_texture2d(target, point, GL_TEXTURE_2D, r.name(), level);
                "glFramebufferTexture2D"
            }
            2 => {
                e.gl_framebuffer_renderbuffer(target, point, GL_RENDERBUFFER, r.name());
                "glFramebufferRenderbuffer"
            }
            3 => {
                e.gl_bind_renderbuffer(GL_RENDERBUFFER, r.name());
                "glBindRenderbuffer"
            }
            4 => {
                let format = r.of(&[GL_RGBA8, GL_RGBA4, GL_DEPTH_COMPONENT16]);
                e.gl_renderbuffer_storage(GL_RENDERBUFFER, format, r.small(), 16);
                "glRenderbufferStorage"
            }
            _ => {
                e.gl_delete_renderbuffers(([r.name()].as_ptr(), 1));
                "glDeleteRenderbuffers"
            }
        }
    }
}

/// Writes a command of transform feedback, which lets shaders write into buffers.
unsafe fn transform_feedback(r: &mut Random, e: &mut Encoder) -> &'static str {
    unsafe {
        match r.below(10) {
            0..=2 => {
                e.gl_begin_transform_feedback(r.of(&[GL_POINTS, GL_POINTS, GL_TRIANGLES]));
                "glBeginTransformFeedback"
            }
            3 => {
                e.gl_end_transform_feedback();
                "glEndTransformFeedback"
            }
            4 => {
                e.gl_pause_transform_feedback();
                "glPauseTransformFeedback"
            }
            5 => {
                e.gl_resume_transform_feedback();
                "glResumeTransformFeedback"
            }
            6 => {
                e.gl_bind_transform_feedback(GL_TRANSFORM_FEEDBACK, r.name());
                "glBindTransformFeedback"
            }
            7 => {
                e.gl_delete_transform_feedbacks(([r.name()].as_ptr(), 1));
                "glDeleteTransformFeedbacks"
            }
            8 => {
                e.gl_draw_transform_feedback(GL_POINTS, r.name());
                "glDrawTransformFeedback"
            }
            _ => {
                let (offset, size) = (r.of(&PLACES), r.of(&[16, 64, 256]));
                let target = GL_TRANSFORM_FEEDBACK_BUFFER;
                e.gl_bind_buffer_range(target, r.of(&[0, 0, 1]), r.name(), offset, size);
                "glBindBufferRange of transform feedback"
            }
        }
    }
}

/// Writes the beginning of a primitive whose elements lie in a buffer.
unsafe fn elements(r: &mut Random, e: &mut Encoder, mode: u32) {
    let data = Data::Bytes(PIXELS.as_ptr(), PIXELS.len());
    unsafe {
        e.gl_bind_buffer(GL_ARRAY_BUFFER, r.of(&[1, 2, 3]));
        if r.below(2) == 0 {
            e.gl_buffer_data(GL_ARRAY_BUFFER, 1024, data, GL_STATIC_DRAW);
        }
        e.gl_vertex_pointer(4, GL_FLOAT, 16, 0);
        e.gl_enable_client_state(GL_VERTEX_ARRAY);
        e.gl_begin(mode);
    }
}

/// Writes a random command about the surfaces, and says which.
fn surface(r: &mut Random, e: &mut Encoder) -> &'static str {
    match r.below(3) {
        0 => {
            e.mgn_resize_surface(1, 40 + r.below(30) as u32, 40);
            "mgnResizeSurface"
        }
        1 => {
            let surface = r.of(&[1, 2]);
            e.mgn_make_current(surface, surface);
            "mgnMakeCurrent"
        }
        _ => {
            let wanted = [0, want::WINDOW, want::COMPOSITE | want::DEPTH];
            e.mgn_swap_buffers(1, 0, r.of(&wanted));
            "mgnSwapBuffers"
        }
    }
}

/// Two contexts that share objects, in place of any there were.
fn fresh(s: &mut Session, versions: [Version; 2]) {
    s.context = 0;
    for id in [1, 2] {
        // There may be none yet, or none any more.
        let _ = s.try_encode(|e| e.mgn_destroy_context(id));
    }
    s.encode(|e| {
        for (id, (api, major, minor)) in (1..).zip(versions) {
            e.mgn_create_context(id, api, major, minor, 0, CONFIG, id - 1, 1 << 20);
        }
    });
    for context in [2, 1] {
        s.context = context;
        s.encode(|e| unsafe {
            e.mgn_make_current(1, 1);
            e.gl_gen_buffers(([1, 2, 3].as_ptr(), 3));
            e.gl_gen_textures(([1, 2, 3].as_ptr(), 3));
            e.gl_gen_framebuffers(([1, 2, 3].as_ptr(), 3));
            e.gl_gen_renderbuffers(([1, 2, 3].as_ptr(), 3));
            e.gl_gen_transform_feedbacks(([1, 2, 3].as_ptr(), 3));
        });
        if let Some(glsl) = glsl(versions[context as usize - 1]) {
            s.encode(|e| unsafe { program(e, glsl) });
        }
    }
    s.forget_answers();
}

/// Runs one sequence. The first note that was wrong, and what came before.
fn run(s: &mut Session, seed: u64, has_es1: bool, settings: &Settings) -> Result<(), String> {
    let mut r = Random::new(seed);
    let versions = match r.of(&CONTEXTS) {
        versions if has_es1 || !versions.contains(&ES1) => versions,
        _ => [COMPAT, COMPAT],
    };
    fresh(s, versions);
    let mut done = Vec::new();
    // For each context.
    let mut compiles = [false; 2];
    let mut has_left_primitive = false;
    let mut length = LENGTH as u64;
    for number in 0.. {
        if number >= length {
            break;
        }
        let at = s.context as usize - 1;
        let mut begins = false;
        if !has_left_primitive && r.below(16) == 0 {
            // A context that is left in a primitive has vertices out of place later, too. So it is
            // either ended, or the sequence ends soon in the other context.
            if versions[at] == COMPAT && !compiles[at] {
                let _ = s.try_encode(|e| e.gl_end());
                begins = r.below(4) == 0;
            }
            match begins {
                true => length = number + 2 + r.below(8),
                false => s.context = 3 - s.context,
            }
        }
        let mut name = "";
        let at = s.context as usize - 1;
        let (api, ..) = versions[at];
        let context = s.context;
        let message = support::message(context, |e| unsafe {
            if begins {
                let mode = r.of(&MODES);
                elements(&mut r, e, mode);
                name = "a primitive that stays open";
            } else if has_left_primitive && r.below(3) == 0 {
                e.gl_bind_buffer(GL_ARRAY_BUFFER, r.name());
                let size = r.of(&[0, 16, 512, 1024, 2048]);
                e.gl_buffer_data(GL_ARRAY_BUFFER, size, Data::Null, GL_STATIC_DRAW);
                name = "glBufferData";
            } else if !has_left_primitive && r.below(16) == 0 {
                if !compiles[at] {
                    e.gl_end();
                }
                name = surface(&mut r, e);
            } else {
                name = command(&mut r, e, api, compiles[at]);
            }
        });
        if begins {
            has_left_primitive = true;
            s.context = 3 - context;
        }
        if settings.leaves_out(number) {
            continue;
        }
        if settings.traces {
            eprintln!("{seed}, {number}: {name} in context {context}");
        }
        match name {
            "glNewList" => compiles[at] = api == api::COMPAT,
            "glEndList" => compiles[at] = false,
            _ => {}
        }
        let performed = s.perform(&message);
        done.push(format!("{name} in context {context}"));
        s.renderer.compare_notes().map_err(|wrong| {
            let last = done.len().saturating_sub(12);
            format!(
                "sequence {seed} of {versions:?}: {wrong}, after {}",
                done[last..].join(", ")
            )
        })?;
        if performed.is_err() {
            return Ok(());
        }
    }
    Ok(())
}

#[test]
fn what_is_noted_is_what_the_driver_says() {
    let settings = Settings::from_environment();
    let mut s = Session::new(api::COMPAT, 0);
    s.renderer.limit_storage(256 << 20);
    s.encode(|e| e.mgn_create_surface(2, 0, CONFIG, 20, 20));
    let has_es1 = s.renderer.info().es1 != (0, 0);
    let mut sequences = 0;
    while !settings.is_enough(sequences, SEQUENCES) {
        let seed = settings.seed + sequences;
        let wrong = run(&mut s, seed, has_es1, &settings);
        assert_eq!(wrong, Ok(()));
        sequences += 1;
    }
    println!("{sequences} sequences");
}
