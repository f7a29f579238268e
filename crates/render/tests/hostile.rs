//! Commands with arguments that no client sends: all of them end the session or leave an error, and
//! the renderer stays in order. `support/fuzz.rs` lists the environment variables that it knows.

// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

mod support;

use mgn_wire::encoder::Data;
use mgn_wire::{gl::*, hello::api, ops};
use support::fuzz::{Random, Settings};
use support::{message, Session};

/// Arguments that mean something somewhere: counts, sizes too large by one or by far, names, enums
/// of each kind.
const WORDS: [u32; 40] = [
    0,
    1,
    2,
    3,
    4,
    8,
    16,
    64,
    0x3f80_0000,
    0x4000_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    u32::MAX,
    GL_TRIANGLES,
    GL_TEXTURE_2D,
    GL_TEXTURE_3D,
    GL_TEXTURE_CUBE_MAP_POSITIVE_X,
    GL_TEXTURE_2D_ARRAY,
    GL_RGBA,
    GL_RGBA8,
    GL_DEPTH_COMPONENT,
    GL_COMPRESSED_RGBA_S3TC_DXT5_EXT,
    GL_UNSIGNED_BYTE,
    GL_UNSIGNED_INT,
    GL_FLOAT,
    GL_BITMAP,
    GL_ARRAY_BUFFER,
    GL_ELEMENT_ARRAY_BUFFER,
    GL_PIXEL_UNPACK_BUFFER,
    GL_FRAMEBUFFER,
    GL_COLOR_ATTACHMENT0,
    GL_BACK,
    GL_MAP1_VERTEX_4,
    GL_MAP2_VERTEX_3,
    GL_PIXEL_MAP_R_TO_R,
    GL_FRAGMENT_SHADER,
    GL_VERTEX_PROGRAM_ARB,
    GL_PROGRAM_FORMAT_ASCII_ARB,
    GL_SAMPLES_PASSED,
];

/// A session with one object of each kind by name 1, bound where that is possible; with buffers for
/// images in every other one.
fn furnished(api: u32, with_buffers: bool) -> Session {
    let mut s = Session::new(api, 0);
    s.renderer.limit_storage(256 << 20);
    s.encode(|e| unsafe {
        e.gl_bind_texture(GL_TEXTURE_2D, 1);
        e.gl_bind_buffer(GL_ARRAY_BUFFER, 1);
        if with_buffers {
            for (target, name) in [(GL_PIXEL_UNPACK_BUFFER, 2), (GL_PIXEL_PACK_BUFFER, 3)] {
                e.gl_gen_buffers(([name].as_ptr(), 1));
                e.gl_bind_buffer(target, name);
                e.gl_buffer_data(target, 256, Data::Null, GL_STATIC_DRAW);
            }
        }
        e.gl_create_shader(GL_FRAGMENT_SHADER, 1);
        e.gl_create_program(2);
        e.gl_new_list(1, GL_COMPILE);
        e.gl_end_list();
        e.mgn_finish();
    });
    s
}

/// Out of whatever a command has begun. False if there is no context left.
fn recover(s: &mut Session) -> bool {
    let out = message(1, |e| {
        e.gl_end();
        e.gl_end_list();
        e.mgn_get_error(1);
    });
    s.perform(&out).is_ok()
}

fn record(op: u16, body: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut words = vec![1, 0, 0];
    words.extend(body);
    words[2] = u32::from(op) | (words.len() as u32 - 2) << 16;
    words
}

#[test]
fn no_command_brings_the_renderer_down() {
    let settings = Settings::from_environment();
    let mut rounds = 0;
    while !settings.is_enough(rounds, 1) {
        for api in [api::COMPAT, api::CORE] {
            attack(api, settings.seed + rounds, settings.traces);
        }
        rounds += 1;
    }
}

/// Every command, with many arguments.
fn attack(api: u32, seed: u64, traces: bool) {
    let mut random = Random::new(seed);
    let mut with_buffers = false;
    let mut s = furnished(api, with_buffers);
    let mut refused = 0;
    for op in (ops::FIRST..).take(ops::NAMES.len()) {
        // The state that one command leaves must not hide the effect of another.
        if op % 16 == 0 {
            with_buffers = !with_buffers;
            drop(s);
            s = furnished(api, with_buffers);
        }
        let constant = [0, 1, u32::MAX].into_iter();
        let mut bodies: Vec<Vec<u32>> = constant
            .flat_map(|word| (0..14).map(move |n| vec![word; n]))
            .collect();
        bodies.extend((0..30).map(|_| {
            let words = 0..random.below(16);
            words.map(|_| random.of(&WORDS)).collect()
        }));
        for body in bodies {
            if traces {
                let name = ops::NAMES[usize::from(op - ops::FIRST)];
                eprintln!("seed {seed}: {name} {body:x?}");
            }
            // Some go into a list, which is called.
            let in_list = api == api::COMPAT && random.below(4) == 0;
            if in_list {
                s.encode(|e| e.gl_new_list(2, GL_COMPILE));
            }
            refused += usize::from(s.perform(&record(op, body.into_iter())).is_err());
            if in_list {
                let call = message(1, |e| {
                    e.gl_end_list();
                    e.gl_call_list(2);
                });
                // There may be no context left.
                let _ = s.perform(&call);
            }
            if !recover(&mut s) {
                drop(s);
                s = furnished(api, with_buffers);
            }
        }
    }
    assert!(refused > ops::NAMES.len());
}
