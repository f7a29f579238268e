//! Attacks by parts of buffers: a client that lets shaders, or the driver itself, read and write
//! beside its buffers. The tests run in the renderer's process and look for memory of their own.

// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

mod support;

use mgn_wire::encoder::Data;
use mgn_wire::gl::*;
use mgn_wire::hello::api;
use mgn_wire::Encoder;
use support::{Session, CONFIG};

/// The mark that the tests leave in their own memory, beside the driver's buffers.
const MARK: u32 = 0x5ec4_e75a;

/// The driver's names do not matter here: the client's of the attacked buffer, and of the one that
/// tells what was found.
const VICTIM: u32 = 1;
const TOLD: u32 = 2;
const PROGRAM: u32 = 9;
const TEXTURE: u32 = 3;

/// Blocks of memory that a driver's buffers come to lie among.
struct Neighbours(Vec<Vec<u32>>);

impl Neighbours {
    fn new() -> Neighbours {
        let blocks = 0..4000;
        Neighbours(blocks.map(|n| vec![MARK; 40 + n % 500]).collect())
    }

    /// Makes room for buffers among them.
    fn make_room(&mut self) {
        let mut n = 0;
        self.0.retain(|_| {
            n += 1;
            n % 8 != 0
        });
    }

    fn are_intact(&self) -> bool {
        self.0.iter().flatten().all(|word| *word == MARK)
    }
}

/// Ways for a shader to see a buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sight {
    Storage,
    Uniform,
    Counter,
}

const SIGHTS: [Sight; 3] = [Sight::Storage, Sight::Uniform, Sight::Counter];

impl Sight {
    fn target(self) -> u32 {
        match self {
            Sight::Storage => GL_SHADER_STORAGE_BUFFER,
            Sight::Uniform => GL_UNIFORM_BUFFER,
            Sight::Counter => GL_ATOMIC_COUNTER_BUFFER,
        }
    }

    fn start(self) -> u32 {
        match self {
            Sight::Storage => GL_SHADER_STORAGE_BUFFER_START,
            Sight::Uniform => GL_UNIFORM_BUFFER_START,
            Sight::Counter => GL_ATOMIC_COUNTER_BUFFER_START,
        }
    }

    /// A shader that counts the marks that it sees, and overwrites them if it can.
    fn source(self) -> String {
        let (block, words, at, write) = match self {
            Sight::Storage => (
                "layout(std430, binding = 1) buffer A { uint a[]; };",
                150_000,
                "a[i]",
                "a[i] = 1u;",
            ),
            Sight::Uniform => (
                "layout(std140, binding = 1) uniform A { uvec4 a[1024]; };",
                4096,
                "a[i / 4][i % 4]",
                "",
            ),
            Sight::Counter => (
                "layout(binding = 1, offset = 0) uniform atomic_uint a[8];",
                8,
                "atomicCounter(a[i])",
                "",
            ),
        };
        format!(
            "#version 430\n{block}
            layout(std430, binding = 0) buffer B {{ uint found; uint first; }};
            layout(local_size_x = 1) in;
            void main() {{
                first = {first};
                for (int i = 0; i < {words}; i++) if ({at} == {MARK}u) {{ found++; {write} }}
            }}",
            first = at.replace("[i", "[0"),
        )
    }
}

unsafe fn compute(e: &mut Encoder, source: &str) {
    unsafe {
        e.gl_create_shader(GL_COMPUTE_SHADER, 8);
        e.gl_shader_source(8, (source.as_ptr(), source.len()));
        e.gl_compile_shader(8);
        e.gl_create_program(PROGRAM);
        e.gl_attach_shader(PROGRAM, 8);
        e.gl_link_program(PROGRAM);
        e.gl_use_program(PROGRAM);
    }
}

unsafe fn fill(e: &mut Encoder, target: u32, size: i64) {
    let data = vec![7u32; size as usize / 4];
    let data = Data::Bytes(data.as_ptr().cast(), size as usize);
    unsafe { e.gl_buffer_data(target, size, data, GL_STATIC_DRAW) };
}

/// A session with a program that looks for marks, and an empty victim.
fn session(source: &str) -> Session {
    let mut s = Session::new(api::CORE, 0);
    s.encode(|e| unsafe {
        compute(e, source);
        e.gl_gen_buffers(([VICTIM, TOLD].as_ptr(), 2));
        e.gl_bind_buffer_base(GL_SHADER_STORAGE_BUFFER, 0, TOLD);
        fill(e, GL_SHADER_STORAGE_BUFFER, 64);
        e.gl_bind_buffer(GL_ARRAY_BUFFER, VICTIM);
        e.mgn_get_error(1);
    });
    assert_eq!(s.answer_array::<u32>(), [GL_NO_ERROR]);
    s
}

fn second_context(s: &mut Session) {
    s.context = 0;
    s.encode(|e| e.mgn_create_context(2, api::CORE, 0, 0, 0, CONFIG, 1, 1 << 20));
    s.context = 2;
    s.encode(|e| e.mgn_make_current(1, 1));
    s.forget_answers();
}

/// How many marks the program has found, and the first word that it has seen.
fn found(s: &mut Session) -> [u32; 2] {
    let nothing = [0u32; 2];
    s.encode(|e| unsafe {
        e.mgn_buffer_write(TOLD, 0, (nothing.as_ptr().cast(), 8));
        e.gl_dispatch_compute(1, 1, 1);
        e.gl_memory_barrier(GL_ALL_BARRIER_BITS);
        e.mgn_buffer_read(TOLD, 0, 8);
        e.mgn_get_error(1);
    });
    let words: Vec<u8> = s.answer_array();
    assert_eq!(s.answer_array::<u32>(), [GL_NO_ERROR]);
    let word = |n: usize| u32::from_le_bytes(words[n..n + 4].try_into().expect("four bytes"));
    [word(0), word(4)]
}

/// Attacks that leave the victim bound at an offset that is beyond its end.
type Attack = fn(&mut Session, u32, i64);
const ATTACKS: [(&str, Attack); 13] = [
    ("beyond the end", |s, target, offset| {
        s.encode(|e| unsafe {
            fill(e, GL_ARRAY_BUFFER, 256);
            e.gl_bind_buffer_range(target, 1, VICTIM, offset, 1 << 30);
        });
    }),
    ("several beyond the end", |s, target, offset| {
        let (names, offsets, sizes) = ([VICTIM, VICTIM], [offset; 2], [1 << 30; 2]);
        s.encode(|e| unsafe {
            fill(e, GL_ARRAY_BUFFER, 256);
            e.gl_bind_buffers_range(
                target,
                1,
                2,
                (names.as_ptr(), 2),
                (offsets.as_ptr(), 2),
                (sizes.as_ptr(), 2),
            );
        });
    }),
    (
        "several, with more bits than the driver keeps",
        |s, target, offset| {
            let (names, offsets) = ([VICTIM, VICTIM], [offset + (1 << 32); 2]);
            let sizes = [1 << 30; 2];
            s.encode(|e| unsafe {
                fill(e, GL_ARRAY_BUFFER, 256);
                e.gl_bind_buffers_range(
                    target,
                    1,
                    2,
                    (names.as_ptr(), 2),
                    (offsets.as_ptr(), 2),
                    (sizes.as_ptr(), 2),
                );
            });
        },
    ),
    (
        "one, with more bits than the driver keeps",
        |s, target, offset| {
            s.encode(|e| unsafe {
                fill(e, GL_ARRAY_BUFFER, 256);
                e.gl_bind_buffer_range(target, 1, VICTIM, offset + (1 << 32), 1 << 30);
            });
        },
    ),
    ("some of several are refused", |s, target, offset| {
        let (names, offsets, sizes) = ([VICTIM, VICTIM], [offset, 1], [1 << 30, -1]);
        s.encode(|e| unsafe {
            fill(e, GL_ARRAY_BUFFER, 256);
            e.gl_bind_buffers_range(
                target,
                1,
                2,
                (names.as_ptr(), 2),
                (offsets.as_ptr(), 2),
                (sizes.as_ptr(), 2),
            );
            e.mgn_get_error(1);
        });
        s.forget_answers();
    }),
    ("before there is storage", |s, target, offset| {
        s.encode(|e| unsafe {
            e.gl_bind_buffer_range(target, 1, VICTIM, offset, 1 << 30);
            fill(e, GL_ARRAY_BUFFER, 256);
        });
    }),
    ("storage for ever", |s, target, offset| {
        s.encode(|e| unsafe {
            e.gl_bind_buffer_range(target, 1, VICTIM, offset, 1 << 30);
            e.gl_buffer_storage(GL_ARRAY_BUFFER, 256, Data::Null, 0);
        });
    }),
    ("shrunk", |s, target, offset| {
        s.encode(|e| unsafe {
            fill(e, GL_ARRAY_BUFFER, 1 << 16);
            e.gl_bind_buffer_range(target, 1, VICTIM, offset, 1 << 30);
            fill(e, GL_ARRAY_BUFFER, 256);
        });
    }),
    ("shrunk where it was bound", |s, target, offset| {
        s.encode(|e| unsafe {
            fill(e, GL_ARRAY_BUFFER, 1 << 16);
            e.gl_bind_buffer_range(target, 1, VICTIM, offset, 1 << 30);
            fill(e, target, 256);
        });
    }),
    ("shrunk by another context", |s, target, offset| {
        s.encode(|e| unsafe {
            fill(e, GL_ARRAY_BUFFER, 1 << 16);
            e.gl_bind_buffer_range(target, 1, VICTIM, offset, 1 << 30);
        });
        second_context(s);
        s.encode(|e| unsafe {
            e.gl_bind_buffer(GL_PIXEL_PACK_BUFFER, VICTIM);
            fill(e, GL_PIXEL_PACK_BUFFER, 256);
        });
        s.context = 1;
    }),
    ("deleted by another context", |s, target, offset| {
        s.encode(|e| unsafe {
            fill(e, GL_ARRAY_BUFFER, 1 << 16);
            e.gl_bind_buffer_range(target, 1, VICTIM, offset, 1 << 30);
        });
        second_context(s);
        s.encode(|e| unsafe { e.gl_delete_buffers(([VICTIM].as_ptr(), 1)) });
        s.context = 1;
        s.encode(|e| unsafe { fill(e, GL_ARRAY_BUFFER, 256) });
    }),
    ("deleted, and the name given again", |s, target, offset| {
        s.encode(|e| unsafe {
            fill(e, GL_ARRAY_BUFFER, 1 << 16);
            e.gl_bind_buffer_range(target, 1, VICTIM, offset, 1 << 30);
        });
        second_context(s);
        s.encode(|e| unsafe {
            e.gl_delete_buffers(([VICTIM].as_ptr(), 1));
            e.gl_gen_buffers(([VICTIM, 5, 6, 7].as_ptr(), 4));
            for name in [VICTIM, 5, 6, 7] {
                e.gl_bind_buffer(GL_ARRAY_BUFFER, name);
                fill(e, GL_ARRAY_BUFFER, 1 << 15);
            }
        });
        s.context = 1;
        s.encode(|e| unsafe { fill(e, GL_ARRAY_BUFFER, 256) });
    }),
    ("a refused command", |s, target, offset| {
        s.encode(|e| unsafe {
            fill(e, GL_ARRAY_BUFFER, 1 << 16);
            e.gl_bind_buffer_range(target, 1, VICTIM, offset, 1 << 30);
            e.gl_bind_buffer_range(target, 1, VICTIM, offset, -1);
            e.gl_bind_buffer_range(target, 1, VICTIM, 3, 16);
            e.gl_bind_buffer_range(target, 1, 77, 0, 16);
            e.gl_bind_buffer_range(target, 4000, VICTIM, offset, 16);
            e.mgn_get_error(1);
            fill(e, GL_ARRAY_BUFFER, 256);
        });
        s.forget_answers();
    }),
];

#[test]
fn shaders_see_nothing_beside_a_buffer() {
    for sight in SIGHTS {
        for (what, attack) in ATTACKS {
            let mut neighbours = Neighbours::new();
            let mut s = session(&sight.source());
            neighbours.make_room();
            let offsets: &[i64] = match sight {
                Sight::Counter => &[256, 512, 1024, 2048, 4096, 8192, 16384, 32768],
                _ => &[256, 1024, 32768],
            };
            for offset in offsets {
                attack(&mut s, sight.target(), *offset);
                assert_eq!(s.renderer.compare_notes(), Ok(()), "{sight:?}: {what}");
                assert_eq!(found(&mut s)[0], 0, "{sight:?}: {what}, {offset}");
                assert_eq!(s.renderer.compare_notes(), Ok(()), "{sight:?}: {what}");
                if what != "shrunk" && what != "beyond the end" {
                    break;
                }
            }
            assert!(neighbours.are_intact(), "{sight:?}: {what}");
        }
    }
}

#[test]
fn a_part_that_ends_beyond_the_buffer_ends_with_it() {
    for sight in SIGHTS {
        let mut neighbours = Neighbours::new();
        let mut s = session(&sight.source());
        neighbours.make_room();
        s.encode(|e| unsafe {
            fill(e, GL_ARRAY_BUFFER, 512);
            e.gl_bind_buffer_range(sight.target(), 1, VICTIM, 256, 1 << 30);
        });
        assert_eq!(found(&mut s), [0, 7], "{sight:?}");
        assert!(neighbours.are_intact(), "{sight:?}");
    }
}

#[test]
fn a_part_is_bound_again_when_the_buffer_has_it() {
    for sight in SIGHTS {
        for shared in [false, true] {
            let mut s = session(&sight.source());
            let target = sight.target();
            s.encode(|e| e.gl_bind_buffer_range(target, 1, VICTIM, 1024, 64));
            let is_bound = |s: &mut Session, first| {
                s.encode(|e| {
                    e.gl_get_integer64i_v(sight.start(), 1, 1);
                    e.gl_get_integerv(GL_ARRAY_BUFFER_BINDING, 1);
                });
                assert_eq!(s.answer_array::<i64>(), [1024], "{sight:?}");
                assert_eq!(s.answer_array::<u32>(), [VICTIM], "{sight:?}");
                assert_eq!(found(s), [0, first], "{sight:?}");
            };
            if shared {
                second_context(&mut s);
                s.encode(|e| e.gl_bind_buffer(GL_ARRAY_BUFFER, VICTIM));
            }
            let sized = |s: &mut Session, size| {
                s.context = 1 + u32::from(shared);
                s.encode(|e| unsafe { fill(e, GL_ARRAY_BUFFER, size) });
                s.context = 1;
            };
            s.context = 1;
            is_bound(&mut s, 0);
            sized(&mut s, 2048);
            is_bound(&mut s, 7);
            sized(&mut s, 1024);
            is_bound(&mut s, 0);
            sized(&mut s, 1028);
            is_bound(&mut s, 7);
            s.encode(|e| e.gl_bind_buffer_base(target, 1, 0));
            assert_eq!(found(&mut s), [0, 0], "{sight:?}");
            sized(&mut s, 4096);
            assert_eq!(found(&mut s), [0, 0], "{sight:?}");
        }
    }
}

#[test]
fn a_deleted_buffer_stays_bound_in_another_context() {
    for sight in SIGHTS {
        let mut s = session(&sight.source());
        s.encode(|e| unsafe {
            fill(e, GL_ARRAY_BUFFER, 2048);
            e.gl_bind_buffer_range(sight.target(), 1, VICTIM, 1024, 64);
        });
        second_context(&mut s);
        s.encode(|e| unsafe {
            e.gl_delete_buffers(([VICTIM].as_ptr(), 1));
            e.gl_gen_buffers(([5].as_ptr(), 1));
            e.gl_bind_buffer(GL_ARRAY_BUFFER, 5);
            fill(e, GL_ARRAY_BUFFER, 4096);
        });
        s.context = 1;
        assert_eq!(found(&mut s), [0, 7], "{sight:?}");
    }
}

/// Commands that have the texture show a part of the victim.
const SHOWINGS: [fn(&mut Encoder, i64); 3] = [
    |e, offset| e.gl_tex_buffer_range(GL_TEXTURE_BUFFER, GL_R32UI, VICTIM, offset, 64),
    |e, offset| e.gl_texture_buffer_range(TEXTURE, GL_R32UI, VICTIM, offset, 64),
    |e, offset| {
        let target = GL_TEXTURE_BUFFER;
        e.gl_texture_buffer_range_ext(TEXTURE, target, GL_R32UI, VICTIM, offset, 64);
    },
];

#[test]
fn images_of_buffer_textures_show_nothing_beside_the_buffer() {
    let source = format!(
        "#version 430
        layout(r32ui, binding = 0) uniform uimageBuffer A;
        layout(std430, binding = 0) buffer B {{ uint found; uint first; }};
        layout(local_size_x = 1) in;
        void main() {{
            first = imageLoad(A, 0).x;
            for (int i = 0; i < 16; i++) if (imageLoad(A, i).x == {MARK}u) {{
                found++;
                imageStore(A, i, uvec4(1u));
            }}
        }}"
    );
    for showing in SHOWINGS {
        for (shared, deleted) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut neighbours = Neighbours::new();
            let mut s = session(&source);
            neighbours.make_room();
            s.encode(|e| unsafe {
                fill(e, GL_ARRAY_BUFFER, 1 << 16);
                e.gl_gen_textures(([TEXTURE].as_ptr(), 1));
                e.gl_bind_texture(GL_TEXTURE_BUFFER, TEXTURE);
                e.gl_tex_buffer(GL_TEXTURE_BUFFER, GL_R32UI, VICTIM);
                e.gl_bind_image_texture(0, TEXTURE, 0, 0, 0, GL_READ_WRITE, GL_R32UI);
            });
            if shared {
                second_context(&mut s);
                s.encode(|e| e.gl_bind_buffer(GL_ARRAY_BUFFER, VICTIM));
            }
            for offset in [256, 512, 1024, 4096, 16384] {
                s.context = 1;
                s.encode(|e| unsafe {
                    fill(e, GL_ARRAY_BUFFER, 1 << 16);
                    showing(e, offset);
                });
                assert_eq!(found(&mut s), [0, 7]);
                s.context = 1 + u32::from(shared);
                s.encode(|e| unsafe {
                    if deleted && offset == 16384 {
                        // It stays bound in the other context, if there is one.
                        e.gl_delete_buffers(([VICTIM].as_ptr(), 1));
                        e.gl_bind_buffer(GL_ARRAY_BUFFER, 0);
                        e.gl_delete_textures(([TEXTURE].as_ptr(), 1));
                    } else {
                        fill(e, GL_ARRAY_BUFFER, 64);
                    }
                });
                s.context = 1;
                if deleted && shared && offset == 16384 {
                    s.encode(|e| unsafe { fill(e, GL_ARRAY_BUFFER, 64) });
                }
                assert_eq!(found(&mut s), [0, 0]);
            }
            assert!(neighbours.are_intact());
        }
    }
}

#[test]
fn a_texture_shows_its_part_again_when_the_buffer_has_it() {
    let source = "#version 430
        layout(r32ui, binding = 0) uniform uimageBuffer A;
        layout(std430, binding = 0) buffer B { uint found; uint first; };
        layout(local_size_x = 1) in;
        void main() { first = imageLoad(A, 0).x; found = uint(imageSize(A)); }";
    for showing in SHOWINGS {
        let mut s = session(source);
        s.encode(|e| unsafe {
            fill(e, GL_ARRAY_BUFFER, 4096);
            e.gl_gen_textures(([TEXTURE].as_ptr(), 1));
            e.gl_bind_texture(GL_TEXTURE_BUFFER, TEXTURE);
            showing(e, 0);
            showing(e, 1024);
            e.gl_bind_image_texture(0, TEXTURE, 0, 0, 0, GL_READ_WRITE, GL_R32UI);
        });
        assert_eq!(found(&mut s), [16, 7]);
        for (size, seen) in [
            (256, [0, 0]),
            (1056, [8, 7]),
            (1024, [0, 0]),
            (2048, [16, 7]),
        ] {
            s.encode(|e| unsafe { fill(e, GL_ARRAY_BUFFER, size) });
            assert_eq!(found(&mut s), seen, "{size}");
        }
        s.encode(|e| unsafe {
            fill(e, GL_ARRAY_BUFFER, 512);
            e.gl_tex_buffer(GL_TEXTURE_BUFFER, GL_R32UI, 0);
            fill(e, GL_ARRAY_BUFFER, 4096);
        });
        assert_eq!(found(&mut s), [0, 0]);
    }
}

#[test]
fn transform_feedback_writes_nothing_beside_its_buffer() {
    let source =
        "#version 150\nout float seen; void main() { gl_Position = vec4(0.0); seen = 1.5; }";
    let mut neighbours = Neighbours::new();
    let mut s = Session::new(api::COMPAT, 0);
    neighbours.make_room();
    s.encode(|e| unsafe {
        e.gl_create_shader(GL_VERTEX_SHADER, 8);
        e.gl_shader_source(8, (source.as_ptr(), source.len()));
        e.gl_compile_shader(8);
        e.gl_create_program(PROGRAM);
        e.gl_attach_shader(PROGRAM, 8);
        e.gl_transform_feedback_varyings(
            PROGRAM,
            1,
            (c"seen".as_ptr().cast(), 5),
            GL_INTERLEAVED_ATTRIBS,
        );
        e.gl_link_program(PROGRAM);
        e.gl_use_program(PROGRAM);
        e.gl_enable(GL_RASTERIZER_DISCARD);
    });
    let target = GL_TRANSFORM_FEEDBACK_BUFFER;
    let attacks: [fn(&mut Encoder); 4] = [
        |e| unsafe {
            fill(e, GL_ARRAY_BUFFER, 256);
            e.gl_bind_buffer_range(GL_TRANSFORM_FEEDBACK_BUFFER, 0, VICTIM, 1024, 1 << 20);
        },
        |e| unsafe {
            fill(e, GL_ARRAY_BUFFER, 1 << 16);
            e.gl_bind_buffer_range(GL_TRANSFORM_FEEDBACK_BUFFER, 0, VICTIM, 1024, 1 << 20);
            fill(e, GL_ARRAY_BUFFER, 256);
        },
        |e| unsafe {
            fill(e, GL_ARRAY_BUFFER, 256);
            e.gl_bind_buffer_offset_ext(GL_TRANSFORM_FEEDBACK_BUFFER, 0, VICTIM, 1024);
        },
        |e| unsafe {
            fill(e, GL_ARRAY_BUFFER, 256);
            e.gl_bind_buffer_offset_ext(GL_TRANSFORM_FEEDBACK_BUFFER, 0, VICTIM, 128);
        },
    ];
    for attack in attacks {
        for late in [false, true] {
            s.encode(|e| unsafe {
                e.gl_bind_buffer(GL_ARRAY_BUFFER, VICTIM);
                attack(e);
                e.gl_begin_transform_feedback(GL_POINTS);
                if late {
                    fill(e, GL_ARRAY_BUFFER, 64);
                }
                e.gl_draw_arrays(GL_POINTS, 0, 100_000);
                e.gl_end_transform_feedback();
                e.gl_bind_buffer_base(target, 0, 0);
                e.mgn_finish();
            });
            s.forget_answers();
            assert!(neighbours.are_intact());
        }
    }
}

#[test]
fn arguments_of_draws_lie_in_their_buffers() {
    let arguments = [1u32; 5 * 4];
    let one = Data::Bytes(arguments.as_ptr().cast(), 4);
    const LAST: u64 = 80;
    let beside: [fn(&mut Encoder) -> u32; 21] = [
        |e| {
            e.gl_multi_draw_arrays_indirect(GL_POINTS, 0, 0x4000_0001, 16);
            GL_INVALID_OPERATION
        },
        |e| {
            e.gl_multi_draw_arrays_indirect(GL_POINTS, 0, 6, 0);
            GL_INVALID_OPERATION
        },
        |e| {
            e.gl_multi_draw_arrays_indirect(GL_POINTS, 0, 0x1000_0001, 64);
            GL_INVALID_OPERATION
        },
        |e| {
            e.gl_multi_draw_elements_indirect(GL_POINTS, GL_UNSIGNED_INT, 0, 0x4000_0001, 20);
            GL_INVALID_OPERATION
        },
        |e| {
            e.gl_multi_draw_arrays_indirect_count(GL_POINTS, 0, 0, 0x4000_0001, 16);
            GL_INVALID_OPERATION
        },
        |e| {
            let most = 0x4000_0001;
            e.gl_multi_draw_elements_indirect_count(GL_POINTS, GL_UNSIGNED_INT, 0, 0, most, 32);
            GL_INVALID_OPERATION
        },
        |e| {
            e.gl_multi_draw_arrays_indirect_count(GL_POINTS, 0, -4, 1, 0);
            GL_INVALID_OPERATION
        },
        |e| {
            e.gl_multi_draw_elements_indirect_count(GL_POINTS, GL_UNSIGNED_INT, 0, -4, 1, 0);
            GL_INVALID_OPERATION
        },
        |e| {
            e.gl_multi_draw_arrays_indirect_count(GL_POINTS, 0, 4, 1, 0);
            GL_INVALID_OPERATION
        },
        |e| {
            e.gl_multi_draw_arrays_indirect_count(GL_POINTS, 0, i64::MAX - 3, 1, 0);
            GL_INVALID_OPERATION
        },
        |e| {
            e.gl_multi_draw_arrays_indirect(GL_POINTS, 64, 2, -16);
            GL_INVALID_VALUE
        },
        |e| {
            e.gl_multi_draw_arrays_indirect(GL_POINTS, 0, -1, 16);
            GL_INVALID_VALUE
        },
        |e| {
            e.gl_multi_draw_arrays_indirect_count(GL_POINTS, 0, 0, -1, 16);
            GL_INVALID_VALUE
        },
        |e| {
            e.gl_draw_arrays_indirect(GL_POINTS, -16i64 as u64);
            GL_INVALID_OPERATION
        },
        |e| {
            e.gl_draw_arrays_indirect(GL_POINTS, LAST - 12);
            GL_INVALID_OPERATION
        },
        |e| {
            e.gl_draw_elements_indirect(GL_POINTS, GL_UNSIGNED_INT, -20i64 as u64);
            GL_INVALID_OPERATION
        },
        |e| {
            e.gl_draw_elements_indirect(GL_POINTS, GL_UNSIGNED_INT, LAST - 16);
            GL_INVALID_OPERATION
        },
        |e| {
            e.gl_multi_draw_arrays_indirect(GL_POINTS, -32i64 as u64, 2, 16);
            GL_INVALID_OPERATION
        },
        |e| {
            e.gl_dispatch_compute_indirect(-12);
            GL_INVALID_VALUE
        },
        |e| {
            e.gl_dispatch_compute_indirect(LAST as i64 - 8);
            GL_INVALID_OPERATION
        },
        |e| {
            e.gl_dispatch_compute_indirect(i64::MAX - 3);
            GL_INVALID_OPERATION
        },
    ];
    let within: [fn(&mut Encoder); 7] = [
        |e| e.gl_draw_arrays_indirect(GL_POINTS, LAST - 16),
        |e| e.gl_draw_elements_indirect(GL_POINTS, GL_UNSIGNED_INT, LAST - 20),
        |e| e.gl_multi_draw_arrays_indirect(GL_POINTS, 0, 5, 0),
        |e| e.gl_multi_draw_arrays_indirect(GL_POINTS, 0, 2, 64),
        |e| e.gl_multi_draw_elements_indirect(GL_POINTS, GL_UNSIGNED_INT, 0, 4, 20),
        |e| e.gl_multi_draw_arrays_indirect_count(GL_POINTS, 0, 0, 5, 16),
        |e| e.gl_multi_draw_arrays_indirect(GL_POINTS, 0, 0, 16),
    ];
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| unsafe {
        for (name, target) in [
            (1, GL_DRAW_INDIRECT_BUFFER),
            (2, GL_ELEMENT_ARRAY_BUFFER),
            (4, GL_DISPATCH_INDIRECT_BUFFER),
        ] {
            e.gl_bind_buffer(target, name);
            let all = Data::Bytes(arguments.as_ptr().cast(), LAST as usize);
            e.gl_buffer_data(target, LAST as i64, all, GL_STATIC_DRAW);
        }
        e.gl_bind_buffer(GL_PARAMETER_BUFFER, 3);
        e.gl_buffer_data(GL_PARAMETER_BUFFER, 4, one, GL_STATIC_DRAW);
        e.mgn_get_error(1);
    });
    assert_eq!(s.answer_array::<u32>(), [GL_NO_ERROR]);
    for (n, draw) in within.into_iter().enumerate() {
        s.encode(|e| {
            draw(e);
            e.mgn_get_error(1);
        });
        assert_eq!(s.answer_array::<u32>(), [GL_NO_ERROR], "{n}");
    }
    for (n, draw) in beside.into_iter().enumerate() {
        let mut error = 0;
        // One that draws elsewhere may crash the driver, and must be known then.
        println!("draw {n}");
        s.encode(|e| {
            error = draw(e);
            e.mgn_get_error(1);
        });
        assert_eq!(s.answer_array::<u32>(), [error], "{n}");
    }
}

/// OpenGL ES has no command that binds to several points: the driver refuses it, and what was bound
/// stays. It must stay noted, or nothing would take it away when the buffer shrinks.
#[test]
fn what_is_refused_as_a_whole_unbinds_nothing() {
    let mut s = Session::new(api::ES, 0);
    s.encode(|e| unsafe {
        e.gl_gen_buffers(([VICTIM].as_ptr(), 1));
        e.gl_bind_buffer(GL_UNIFORM_BUFFER, VICTIM);
        e.gl_buffer_data(GL_UNIFORM_BUFFER, 4096, Data::Null, GL_STATIC_DRAW);
        e.gl_bind_buffer_range(GL_UNIFORM_BUFFER, 1, VICTIM, 1024, 256);
        e.mgn_get_error(1);
    });
    assert_eq!(s.answer_array::<u32>(), [GL_NO_ERROR]);
    s.encode(|e| unsafe {
        let (none, start, size) = ([0u32], [0i64], [0i64]);
        e.gl_bind_buffers_range(
            GL_UNIFORM_BUFFER,
            1,
            1,
            (none.as_ptr(), 1),
            (start.as_ptr(), 1),
            (size.as_ptr(), 1),
        );
        e.mgn_get_error(1);
    });
    assert_eq!(s.answer_array::<u32>(), [GL_INVALID_OPERATION]);
    assert_eq!(s.renderer.compare_notes(), Ok(()));
    s.encode(|e| unsafe { e.gl_buffer_data(GL_UNIFORM_BUFFER, 16, Data::Null, GL_STATIC_DRAW) });
    assert_eq!(s.renderer.compare_notes(), Ok(()));
}

/// In selection and feedback mode Mesa maps all buffers of a draw, and crashes at one that has no
/// storage. An unbound vertex array object keeps its buffers when they are deleted.
#[test]
fn feedback_draws_nothing_from_deleted_buffers_without_storage() {
    for bytes in [0, 64] {
        let mut s = Session::new(api::COMPAT, 0);
        s.encode(|e| unsafe {
            e.gl_gen_buffers(([VICTIM].as_ptr(), 1));
            e.gl_gen_vertex_arrays(([1].as_ptr(), 1));
            e.gl_bind_vertex_array(1);
            e.gl_bind_buffer(GL_ARRAY_BUFFER, VICTIM);
            if bytes > 0 {
                e.gl_buffer_data(GL_ARRAY_BUFFER, bytes, Data::Null, GL_STATIC_DRAW);
            }
            e.gl_vertex_pointer(2, GL_FLOAT, 0, 0);
            e.gl_enable_client_state(GL_VERTEX_ARRAY);
            e.gl_bind_vertex_array(0);
            e.gl_delete_buffers(([VICTIM].as_ptr(), 1));
            e.gl_bind_vertex_array(1);
            e.gl_feedback_buffer(64, GL_2D);
            e.gl_render_mode(GL_FEEDBACK, 1, 64);
            e.gl_draw_arrays(GL_POINTS, 0, 1);
            e.gl_render_mode(GL_RENDER, 2, 64);
        });
        // The first answer is about what was before.
        s.answer_array::<i32>();
        let [values, mode] = s.answer_array::<i32>()[..] else {
            panic!("no answer");
        };
        // A point token, and two coordinates.
        let wanted = if bytes > 0 { 3 } else { 0 };
        assert_eq!((values, mode as u32), (wanted, GL_RENDER), "{bytes} bytes");
    }
}
