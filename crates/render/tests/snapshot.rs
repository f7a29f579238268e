//! Snapshots: a new renderer that executes one has the state of the first, and the first one's
//! state does not change.
// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

mod support;

use mgn_fuzzing::Random;
use mgn_wire::encoder::Data;
use mgn_wire::gl::*;
use mgn_wire::hello::api;
use mgn_wire::{ops, Encoder, Fault, NoSnapshot, SNAPSHOT_PART};
use support::{message, Session};

fn snapshot(s: &mut Session) -> Result<Vec<Vec<u8>>, Fault> {
    let mut messages = Vec::new();
    s.renderer.snapshot(true, &mut |message| {
        messages.push(message.to_vec());
        Ok(())
    })?;
    Ok(messages)
}

/// A texture, a list, a buffer, lights, a raised matrix stack and an error.
fn furnish(e: &mut Encoder) {
    let texels = [0xff00_80ffu32, 0xffff_ffff, 0xff80_ff00, 0xff20_4060];
    unsafe {
        e.gl_bind_texture(GL_TEXTURE_2D, 7);
        e.gl_tex_parameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST as i32);
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
        e.gl_bind_buffer(GL_ARRAY_BUFFER, 3);
        let data = Data::Bytes(texels.as_ptr().cast(), 16);
        e.gl_buffer_data(GL_ARRAY_BUFFER, 16, data, GL_STATIC_DRAW);
        e.gl_new_list(5, GL_COMPILE);
        e.gl_rectf(-0.5, -0.5, 0.75, 0.5);
        e.gl_end_list();
        e.gl_clear_color(0.25, 0.5, 0.75, 1.0);
        e.gl_push_matrix();
        e.gl_translatef(0.25, 0.125, 0.0);
        e.gl_color4f(0.5, 1.0, 0.25, 1.0);
        e.gl_multi_tex_coord4f(GL_TEXTURE0, 0.75, 0.25, 0.0, 1.0);
        e.gl_enable(GL_DEPTH_TEST);
        e.gl_enable(0x1234);
    }
}

/// A program's draws and queries afterwards.
fn proceed(s: &mut Session) -> (Vec<u8>, Vec<u32>, Vec<u8>) {
    s.encode(|e| {
        e.mgn_get_error(1);
        e.gl_clear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        e.gl_call_list(5);
        e.gl_pop_matrix();
        e.gl_call_list(5);
        e.gl_get_buffer_sub_data(GL_ARRAY_BUFFER, 0, 16, 16);
        e.mgn_get_error(1);
        e.mgn_swap_buffers(1, 1, 1);
    });
    let first = s.answer_array::<u32>()[0];
    let data = s.answer_array::<u8>();
    let errors = vec![first, s.answer_array::<u32>()[0]];
    (s.picture().pixels, errors, data)
}

#[test]
fn a_new_renderer_goes_on_where_the_first_stood() {
    let mut s = Session::new(api::COMPAT, 0);
    s.renderer.be_tile(0);
    s.encode(furnish);
    let messages = snapshot(&mut s).expect("a snapshot");
    let first = proceed(&mut s);
    assert_eq!(first.1, [GL_INVALID_ENUM, GL_NO_ERROR]);
    drop(s);
    let mut successor = Session::empty();
    successor.renderer.be_tile(0);
    successor.renderer.restore(&messages).expect("no error");
    assert!(proceed(&mut successor) == first);
    drop(successor);
    // And as it goes on where there was no snapshot.
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(furnish);
    assert!(proceed(&mut s) == first);
}

/// What of OpenGL ES 1 no other context tells.
#[test]
fn textures_keep_the_part_that_is_drawn() {
    for api in support::offered(&[api::ES1]) {
        let parts = [(0, [1i32, 2, 3, 4]), (7, [8, 16, 8, -16])];
        let mut s = Session::new(api, 0);
        s.renderer.be_tile(0);
        s.encode(|e| unsafe {
            for (texture, part) in parts {
                e.gl_bind_texture(GL_TEXTURE_2D, texture);
                let part = (part.as_ptr(), 4);
                e.gl_tex_parameteriv(GL_TEXTURE_2D, GL_TEXTURE_CROP_RECT_OES, part);
            }
        });
        let told = |s: &mut Session| {
            s.encode(|e| {
                e.gl_get_integerv(GL_TEXTURE_BINDING_2D, 1);
                for (texture, _) in parts {
                    e.gl_bind_texture(GL_TEXTURE_2D, texture);
                    e.gl_get_tex_parameteriv(GL_TEXTURE_2D, GL_TEXTURE_CROP_RECT_OES, 4);
                }
            });
            [(); 3].map(|()| s.answer_array::<i32>())
        };
        let messages = snapshot(&mut s).expect("a snapshot");
        let expected = [vec![7], parts[0].1.to_vec(), parts[1].1.to_vec()];
        assert_eq!(told(&mut s), expected);
        drop(s);
        let mut successor = Session::empty();
        successor.renderer.be_tile(0);
        successor.renderer.restore(&messages).expect("no error");
        assert_eq!(told(&mut successor), expected);
    }
}

#[test]
fn the_question_is_answered_in_parts_until_there_are_no_more() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| {
        e.mgn_snapshot(0, 1, 1 << 10, SNAPSHOT_PART as u32);
        e.mgn_snapshot(1, 1, 1 << 10, SNAPSHOT_PART as u32);
    });
    let mut answer = s.answer();
    assert!(answer.next_array(1).is_empty());
    let messages = answer.next_array(1).to_vec();
    let mut rest = &messages[..];
    let mut count = 0;
    while let [a, b, c, d, after @ ..] = rest {
        let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
        rest = &after[length..];
        count += 1;
    }
    assert!(count > 1 && rest.is_empty());
    let mut last = s.answer();
    assert!(last.next_array(1).is_empty());
    assert!(last.next_array(1).is_empty());
}

#[test]
fn what_is_under_way_is_said() {
    let mut s = Session::new(api::COMPAT, 0);
    s.encode(|e| e.gl_push_attrib(GL_ALL_ATTRIB_BITS));
    let why = snapshot(&mut s).expect_err("a stack that cannot be read");
    assert!(
        matches!(why, Fault::NoSnapshot(NoSnapshot::NotNow(_))),
        "{why:?}"
    );
    // And so is the client told.
    s.encode(|e| e.mgn_snapshot(0, 1, 1 << 10, 1 << 20));
    let mut answer = s.answer();
    let told = NoSnapshot::decode(answer.next_array(1));
    assert!(matches!(told, Some(NoSnapshot::NotNow(_))), "{told:?}");
    assert!(answer.next_array(1).is_empty());
    s.encode(|e| {
        e.gl_pop_attrib();
        e.mgn_snapshot(0, 1, 1 << 10, 1 << 20);
    });
    assert!(s.answer().next_array(1).is_empty());
    assert!(snapshot(&mut s).is_ok());
}

/// Whatever nonsense has come before, a snapshot is taken or refused, and the renderer goes on.
#[test]
fn a_snapshot_of_nonsense_brings_nothing_down() {
    const WORDS: [u32; 12] = [
        0,
        1,
        2,
        4,
        u32::MAX,
        0x3f80_0000,
        GL_TEXTURE_2D,
        GL_RGBA,
        GL_RGBA8,
        GL_UNSIGNED_BYTE,
        GL_ARRAY_BUFFER,
        GL_FRAMEBUFFER,
    ];
    let mut random = Random::new(1);
    for api in support::offered(&[api::COMPAT, api::CORE, api::ES]) {
        let mut s = Session::new(api, 0);
        s.renderer.be_tile(0);
        s.renderer.limit_storage(256 << 20);
        for op in (ops::FIRST..).take(ops::NAMES.len()) {
            let mut words = vec![1, 0, 0];
            words.extend((0..random.below(10)).map(|_| random.of(&WORDS)));
            words[2] = u32::from(op) | (words.len() as u32 - 2) << 16;
            let _ = s.perform(&words);
            if op % 64 == 0 {
                let _ = s.perform(&message(1, |e| {
                    e.gl_end();
                    e.gl_end_list();
                }));
                let _ = snapshot(&mut s);
            }
        }
    }
}
