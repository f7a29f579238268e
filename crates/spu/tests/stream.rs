//! Valid messages from the encoder, and invalid ones. Each one ends at a page that can't be read,
//! so that reading outside of it is a crash.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "the test owns the memory that it encodes into and decodes from"
)]

use mgn_fuzzing::Random;
use mgn_spu::{Nop, Observe, Print};
use mgn_wire::encoder::{put, Data};
use mgn_wire::{gl, ops, stream, Commands, Decoder, Encoder, Fault, Pack, Reply};
use mgn_wire::{MESSAGE_HEADER, MESSAGE_MAX};
use rustix::mm::{mmap_anonymous, mprotect, munmap, MapFlags, MprotectFlags, ProtFlags};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const PAGE: usize = 4096;

/// Memory that ends at a page which can't be read.
struct Fenced {
    base: *mut u8,
    pages: usize,
}

impl Fenced {
    fn new(bytes: usize) -> Fenced {
        let pages = bytes.div_ceil(PAGE) + 1;
        let base = unsafe {
            let base = mmap_anonymous(
                std::ptr::null_mut(),
                pages * PAGE,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
            .unwrap();
            mprotect(
                base.byte_add((pages - 1) * PAGE),
                PAGE,
                MprotectFlags::empty(),
            )
            .unwrap();
            base.cast()
        };
        Fenced { base, pages }
    }

    /// `bytes`, with their end at the fence.
    fn hold(&self, bytes: &[u8]) -> *mut u8 {
        let at = self
            .base
            .wrapping_add((self.pages - 1) * PAGE - bytes.len());
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len()) };
        at
    }
}

impl Drop for Fenced {
    fn drop(&mut self) {
        unsafe { munmap(self.base.cast(), self.pages * PAGE).unwrap() };
    }
}

thread_local! {
    static MESSAGES: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

unsafe fn refill(encoder: *mut Encoder, n: usize) -> *mut u8 {
    let stream = unsafe { &mut *encoder.cast::<Stream>() };
    stream.commit();
    let left = stream.encoder.room_end() as usize - stream.encoder.cursor() as usize;
    assert!(n <= left);
    stream.encoder.room(n)
}

/// Encodes into messages as long as `chunk`. The encoder comes first: `refill` finds the rest by
/// it.
#[repr(C)]
struct Stream {
    encoder: Encoder,
    chunk: Vec<u8>,
}

impl Stream {
    fn commit(&mut self) {
        let start = self.chunk.as_mut_ptr();
        if !self.encoder.cursor().is_null() {
            let used = self.encoder.cursor() as usize - start as usize;
            MESSAGES.with(|m| m.borrow_mut().push(self.chunk[..used].to_vec()));
        }
        unsafe {
            put(start, 0, 7u32);
            put(start, 4, 0u32);
            let end = start.add(self.chunk.len());
            self.encoder.set_room(start.add(MESSAGE_HEADER), end);
        }
    }
}

fn encode(chunk: usize, write: impl FnOnce(&mut Encoder)) -> Vec<Vec<u8>> {
    let mut stream = Stream {
        encoder: unsafe { Encoder::new(refill) },
        chunk: vec![0; chunk],
    };
    MESSAGES.with(|m| m.borrow_mut().clear());
    write(&mut stream.encoder);
    stream.commit();
    MESSAGES.with(|m| m.take())
}

fn decode(messages: &[Vec<u8>], to: &mut dyn Commands) -> Result<(), Fault> {
    let mut decoder = Decoder::default();
    let mut reply = Reply::default();
    for message in messages {
        let fenced = Fenced::new(message.len());
        let at = fenced.hold(message);
        unsafe { decoder.message(at, message.len(), to, &mut reply, |_, _, _, _| Ok(()))? };
    }
    Ok(())
}

/// A writer that several owners see.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The output of a chain without stages for messages.
fn packed(messages: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Fault> {
    let out = Rc::<RefCell<Vec<Vec<u8>>>>::default();
    let mut pack = Pack::new({
        let out = out.clone();
        move |message| {
            assert_eq!(message.context, 7);
            out.borrow_mut().push(message.bytes.to_vec());
        }
    });
    let decoded = decode(messages, &mut pack);
    pack.flush();
    decoded.map(|()| out.take())
}

fn trace(messages: &[Vec<u8>]) -> String {
    let out = Shared::default();
    let mut print = Observe::new(Print::new(out.clone()), Box::new(Nop::default()));
    decode(messages, &mut print).unwrap();
    let text = out.0.borrow().clone();
    String::from_utf8(text).unwrap()
}

/// Some commands of every shape.
fn sample(e: &mut Encoder) {
    let values = [1.0f32, 2.0, 3.0, 4.0];
    let layout = [1u8, 3, 0, 3];
    let vertices = [0u8; 72];
    let name = b"color";
    unsafe {
        e.gl_enable(gl::GL_BLEND);
        e.gl_color4f(0.5, 0.25, 1.0, 1.0);
        e.gl_clear_depth(0.5);
        e.gl_color_mask(1, 0, 1, 0);
        e.gl_vertex3s(-1, 2, -3);
        e.gl_lightfv(gl::GL_LIGHT0, gl::GL_POSITION, (values.as_ptr(), 4));
        e.gl_gen_textures(([1u32, 2].as_ptr(), 2));
        e.gl_bind_texture(gl::GL_TEXTURE_2D, 2);
        e.gl_tex_image2d(
            gl::GL_TEXTURE_2D,
            0,
            6408,
            2,
            2,
            0,
            gl::GL_RGBA,
            gl::GL_UNSIGNED_BYTE,
            Data::Bytes(vertices.as_ptr(), 16),
        );
        e.gl_tex_image2d(
            gl::GL_TEXTURE_2D,
            0,
            6408,
            2,
            2,
            0,
            gl::GL_RGBA,
            gl::GL_UNSIGNED_BYTE,
            Data::Null,
        );
        e.gl_tex_image2d(
            gl::GL_TEXTURE_2D,
            0,
            6408,
            2,
            2,
            0,
            gl::GL_RGBA,
            gl::GL_UNSIGNED_BYTE,
            Data::Offset(640),
        );
        e.gl_get_uniform_location(3, (name.as_ptr(), name.len()), 1);
        e.gl_uniform1iv(1, 3, ([1i32, 2, 3].as_ptr(), 3));
        e.mgn_run(
            gl::GL_TRIANGLES,
            0,
            (layout.as_ptr(), 4),
            Data::Bytes(vertices.as_ptr(), 72),
            (std::ptr::null(), 0),
            (std::ptr::null(), 0),
        );
        e.mgn_swap_buffers(1, 2, 1);
    }
}

#[test]
fn what_is_encoded_is_decoded() {
    let text = trace(&encode(4096, sample));
    let expected = "\
7 glEnable(cap=GL_BLEND)
7 glColor4f(red=0.5, green=0.25, blue=1.0, alpha=1.0)
7 glClearDepth(depth=0.5)
7 glColorMask(red=true, green=false, blue=true, alpha=false)
7 glVertex3s(x=-1, y=2, z=-3)
7 glLightfv(light=GL_LIGHT0, pname=GL_POSITION, params=[1.0, 2.0, 3.0, 4.0])
7 glGenTextures(names=[1, 2])
7 glBindTexture(target=GL_TEXTURE_2D, texture=2)
7 glTexImage2D(target=GL_TEXTURE_2D, level=0, internalformat=GL_RGBA, width=2, height=2, border=0, format=GL_RGBA, type=GL_UNSIGNED_BYTE, pixels=16 bytes)
7 glTexImage2D(target=GL_TEXTURE_2D, level=0, internalformat=GL_RGBA, width=2, height=2, border=0, format=GL_RGBA, type=GL_UNSIGNED_BYTE, pixels=null)
7 glTexImage2D(target=GL_TEXTURE_2D, level=0, internalformat=GL_RGBA, width=2, height=2, border=0, format=GL_RGBA, type=GL_UNSIGNED_BYTE, pixels=buffer+640)
7 glGetUniformLocation(program=3, name=\"color\", answer=out[1])
7 glUniform1iv(location=1, count=3, value=[1, 2, 3])
7 mgnRun(mode=GL_TRIANGLES, flags=0, layout=[1, 3, 0, 3], vertices=72 bytes, indices=null, tiles=null)
7 mgnSwapBuffers(surface=1, frame=2, want=1)
";
    assert_eq!(text, expected);
}

#[test]
fn a_full_chunk_goes_on_in_the_next() {
    let messages = encode(256, |e| {
        (0..100).for_each(|i| e.gl_vertex3f(i as f32, 0.0, 0.0))
    });
    assert!(messages.len() > 5);
    let lines = trace(&messages);
    assert_eq!(lines.lines().count(), 100);
    assert!(lines.ends_with("7 glVertex3f(x=99.0, y=0.0, z=0.0)\n"));
}

#[test]
fn a_long_command_is_joined() {
    let bytes: Vec<u8> = (0..1_000_000u32).map(|i| i as u8).collect();
    let messages = encode(mgn_wire::MESSAGE_MAX, |e| unsafe {
        e.gl_buffer_sub_data(
            gl::GL_ARRAY_BUFFER,
            16,
            bytes.len() as i64,
            (bytes.as_ptr(), bytes.len()),
        );
        e.gl_enable(gl::GL_BLEND);
    });
    assert!(messages.len() > 3);
    assert_eq!(
        trace(&messages),
        "7 glBufferSubData(target=GL_ARRAY_BUFFER, offset=16, size=1000000, \
         data=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, … 1000000 in all])\n7 glEnable(cap=GL_BLEND)\n"
    );
}

#[test]
fn what_is_decoded_is_packed_the_same() {
    for chunk in [400, 4096, MESSAGE_MAX] {
        let messages = encode(chunk, |e| (0..500).for_each(|_| sample(e)));
        assert!(packed(&messages).unwrap() == messages, "chunks of {chunk}");
    }
    // Where there are draws that know their tiles, the message says so.
    let tiles = [1u32, 0];
    let (none, layout, vertices) = (std::ptr::null(), [1u8, 3], [0u8; 36]);
    let mark = |e: &mut Encoder| {
        e.mgn_only(1, 0);
        e.gl_draw_arrays(gl::GL_POINTS, 0, 1);
    };
    let run = |e: &mut Encoder| unsafe {
        let vertices = Data::Bytes(vertices.as_ptr(), vertices.len());
        let tiles = (tiles.as_ptr(), tiles.len());
        let layout = (layout.as_ptr(), layout.len());
        e.mgn_run(gl::GL_TRIANGLES, 0, layout, vertices, (none, 0), tiles);
    };
    for mut messages in [encode(4096, mark), encode(4096, run)] {
        messages[0][4] = mgn_wire::sift::SORTED as u8;
        assert_eq!(packed(&messages).unwrap(), messages);
    }
}

/// A command that had to be joined is cut again where there is room.
#[test]
fn long_commands_are_packed_whole() {
    let bytes: Vec<u8> = (0..1_000_001u32).map(|i| i as u8).collect();
    let messages = encode(MESSAGE_MAX, |e| unsafe {
        sample(e);
        let target = gl::GL_ARRAY_BUFFER;
        let size = bytes.len();
        e.gl_buffer_data(
            target,
            size as i64,
            Data::Bytes(bytes.as_ptr(), size),
            gl::GL_STATIC_DRAW,
        );
        sample(e);
    });
    let whole = packed(&messages).unwrap();
    assert!(whole.iter().all(|message| message.len() <= MESSAGE_MAX));
    assert!(packed(&whole).unwrap() == whole);
    assert_eq!(trace(&whole), trace(&messages));
    let long: usize = whole.iter().map(Vec::len).sum();
    assert!(long > bytes.len());
}

/// Records of every command, with arguments that make sense to the decoder.
#[test]
fn every_command_is_packed_as_it_came() {
    let mut random = Random::new(1);
    for op in (ops::FIRST..).take(ops::NAMES.len()) {
        let mut tried = 0..200_000;
        let mut decoded = 0;
        while decoded < 20 && tried.next().is_some() {
            let body = random.below(40) as u32;
            let mut words = vec![7, 0, (body + 1) << 16 | u32::from(op)];
            let values = [0, 0, 1, 4, 8, 16, 64, 0x3f80_0000, u32::MAX];
            words.extend((0..body).map(|_| values[random.below(values.len())]));
            let makes_sense = unsafe {
                let (mut nop, mut reply) = (Nop::default(), Reply::default());
                let at = words.as_ptr().cast();
                let length = words.len() * 4;
                Decoder::default().message(at, length, &mut nop, &mut reply, |_, _, _, _| Ok(()))
            };
            if makes_sense.is_err() {
                continue;
            }
            decoded += 1;
            let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            let once = packed(std::slice::from_ref(&bytes)).unwrap();
            assert_eq!(once.len(), 1);
            assert_eq!(once[0].len(), bytes.len());
            assert_eq!(packed(&once).unwrap(), once);
            assert_eq!(trace(&once), trace(&[bytes]));
        }
        assert!(decoded > 0, "{} was not decoded", mgn_wire::name(op));
    }
}

#[test]
fn faults_are_named() {
    let fault = |words: &[u32]| {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        decode(&[bytes], &mut Nop::default()).unwrap_err()
    };
    assert_eq!(fault(&[7]), Fault::BadMessage(4));
    assert_eq!(
        fault(&[7, 0, 1 << 16 | 0xfff0]),
        Fault::UnknownOpcode(0xfff0)
    );
    assert_eq!(fault(&[7, 0, 0]), Fault::BadLength);
    assert_eq!(fault(&[7, 0, 0xffff_0010]), Fault::BadLength);
    assert_eq!(
        fault(&[7, 0, 2 << 16 | u32::from(stream::LONG_DATA), 0xffff_ffff]),
        Fault::BadLong
    );
    let huge = [7, 0, 4 << 16 | u32::from(stream::LONG), 16, 0, 0xff];
    assert_eq!(fault(&huge), Fault::HugeCount(0xff << 32));
    let short = [
        7,
        0,
        5 << 16 | u32::from(mgn_wire::ops::GL_LIGHTFV),
        0x4000,
        0x1203,
        4,
        0,
    ];
    assert_eq!(fault(&short), Fault::ShortArray);
}

#[test]
fn cut_and_changed_messages_do_no_harm() {
    let good = encode(4096, sample);
    let mut random = Random::new(2);
    for _ in 0..20_000 {
        let mut bytes = good[0].clone();
        for _ in 0..random.below(6) {
            let at = random.below(bytes.len());
            bytes[at] = random.next() as u8;
        }
        if random.below(3) == 0 {
            let most = bytes.len() / 4 + 1;
            bytes.truncate(random.below(most) * 4);
        }
        let _ = decode(&[bytes], &mut Nop::default());
    }
}

#[test]
fn random_records_do_no_harm() {
    let mut random = Random::new(3);
    let ops = mgn_wire::ops::NAMES.len();
    for _ in 0..50_000 {
        let mut words = vec![1, 0];
        for _ in 0..random.below(8) {
            let body = random.below(24);
            words.push(((body as u32 + 1) << 16) | (random.below(ops + 20) as u32));
            words.extend((0..body).map(|_| match random.below(4) {
                0 => random.next() as u32,
                1 => random.below(64) as u32,
                2 => u32::MAX - random.below(4) as u32,
                _ => 0,
            }));
        }
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let mut print = Observe::new(Print::new(std::io::sink()), Box::new(Nop::default()));
        let _ = decode(&[bytes], &mut print);
    }
}

/// The client writes to the message while it is read: whatever comes of it, nothing outside is read
/// and nothing panics.
#[test]
fn memory_may_change_while_it_is_decoded() {
    let good = encode(4096, sample).remove(0);
    let fenced = Fenced::new(good.len());
    let at = fenced.hold(&good) as usize;
    let (words, stop) = (good.len() / 4, AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Random::new(4);
            while !stop.load(Ordering::Relaxed) {
                let i = random.below(words);
                let value = match random.below(3) {
                    0 => u32::from_le_bytes([
                        good[i * 4],
                        good[i * 4 + 1],
                        good[i * 4 + 2],
                        good[i * 4 + 3],
                    ]),
                    1 => random.next() as u32,
                    _ => u32::MAX,
                };
                let word = unsafe { AtomicU32::from_ptr((at + i * 4) as *mut u32) };
                word.store(value, Ordering::Relaxed);
            }
        });
        let mut reply = Reply::default();
        for _ in 0..100_000 {
            let mut decoder = Decoder::default();
            let _ = unsafe {
                decoder.message(
                    at as *const u8,
                    good.len(),
                    &mut Nop::default(),
                    &mut reply,
                    |_, _, _, _| Ok(()),
                )
            };
        }
        stop.store(true, Ordering::Relaxed);
    });
}
