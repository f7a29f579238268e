//! An error ends one session and no other.
// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

#[macro_use]
mod support;

use mgn_fabric::Transport;
use mgn_fuzzing::Random;
use mgn_wire::encoder::Data;
use mgn_wire::gl::*;
use mgn_wire::{Blame, End};
use std::time::Duration;
use support::{message, wait_until, works, Server, CONFIG};

processes!();

#[test]
fn garbage_ends_its_session() {
    let server = Server::start(false, &[]);
    let mut bystander = server.client(Transport::Shm);
    bystander.set_up();
    let mut random = Random::new(1);
    for round in 0..6 {
        let mut client = server.client(if round % 2 == 0 {
            Transport::Shm
        } else {
            Transport::Unix
        });
        let length = 8 + random.next() as usize % 4096 / 4 * 4;
        let garbage = random.bytes(length);
        client.sender.send(&garbage).unwrap();
        let end = client.end().expect("a reason");
        assert_eq!(end.blame, Blame::Client, "{end}");
    }
    server.expect_log("misbehaved");
    assert!(
        !server.log().contains('\x1b'),
        "control characters of a client's in the log"
    );
    works(&mut bystander);
}

#[test]
fn commands_without_a_context_and_bad_names_end_their_session() {
    let server = Server::start(false, &[]);
    let cases: [&dyn Fn(&mut mgn_wire::Encoder); 6] = [
        &|e| e.gl_clear(GL_COLOR_BUFFER_BIT),
        &|e| e.mgn_swap_buffers(77, 0, 1),
        &|e| e.mgn_create_surface(1, 0, 999, 1, 1),
        &|e| e.mgn_create_surface(1, 0, CONFIG, u32::MAX, u32::MAX),
        &|e| e.mgn_destroy_context(5),
        &|e| e.mgn_create_context(1, 17, 0, 0, 0, CONFIG, 0, 0),
    ];
    for case in cases {
        let mut client = server.client(Transport::Shm);
        client.encode(0, case);
        assert_eq!(client.end().map(|end| end.blame), Some(Blame::Client));
    }
}

#[test]
fn addresses_of_the_server_are_never_read() {
    let server = Server::start(false, &[]);
    let cases: [&dyn Fn(&mut mgn_wire::Encoder); 5] = [
        &|e| e.gl_vertex_attrib_pointer(0, 4, GL_FLOAT, 0, 0, 0x4000_0000),
        &|e| e.gl_draw_elements(GL_TRIANGLES, 3, GL_UNSIGNED_INT, 0x4000_0000),
        &|e| e.gl_draw_arrays_indirect(GL_TRIANGLES, 0x4000_0000),
        &|e| unsafe {
            e.gl_draw_pixels(9, 9, GL_RGBA, GL_UNSIGNED_BYTE, Data::Offset(0x4000_0000))
        },
        &|e| e.mgn_read_pixels_to(0, 0, 9, 9, GL_RGBA, GL_UNSIGNED_BYTE, 0x4000_0000),
    ];
    for case in cases {
        let mut client = server.client(Transport::Shm);
        client.set_up();
        client.encode(1, case);
        assert_eq!(client.end().map(|end| end.blame), Some(Blame::Client));
    }
    let log = server.log();
    assert!(!log.contains("signal"), "{log}");
}

/// Commands of each class with wrong sizes, names or places, which a client sends only if it does
/// not check them.
#[test]
fn what_does_not_fit_ends_its_session_or_is_an_error() {
    const FAR_OFFSET: u64 = 0x4000_0000;
    let few = [0u8; 8];
    let few = || Data::Bytes(few.as_ptr(), few.len());
    let floats = ([0f32; 3].as_ptr(), 3);
    type Case<'a> = (&'a str, &'a dyn Fn(&mut mgn_wire::Encoder));
    let cases: &[Case] = &[
        ("a query's result into memory", &|e| {
            e.gl_begin_query(GL_SAMPLES_PASSED, 1);
            e.gl_end_query(GL_SAMPLES_PASSED);
            e.mgn_query_result_to(1, GL_QUERY_RESULT, GL_UNSIGNED_INT, FAR_OFFSET);
        }),
        ("a query's result beyond a buffer", &|e| unsafe {
            e.gl_begin_query(GL_SAMPLES_PASSED, 1);
            e.gl_end_query(GL_SAMPLES_PASSED);
            e.gl_bind_buffer(GL_QUERY_BUFFER, 2);
            e.gl_buffer_data(GL_QUERY_BUFFER, 8, few(), GL_STATIC_DRAW);
            e.mgn_query_result_to(1, GL_QUERY_RESULT, GL_UNSIGNED_INT, FAR_OFFSET);
        }),
        ("a texture into memory", &|e| {
            e.mgn_get_tex_image_to(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, FAR_OFFSET)
        }),
        ("a compressed texture into memory", &|e| {
            e.mgn_get_compressed_tex_image_to(GL_TEXTURE_2D, 0, FAR_OFFSET)
        }),
        ("a pixel map into memory", &|e| {
            e.mgn_get_pixel_map_to(GL_PIXEL_MAP_R_TO_R, GL_FLOAT, FAR_OFFSET)
        }),
        ("a stipple pattern into memory", &|e| {
            e.mgn_get_polygon_stipple_to(FAR_OFFSET)
        }),
        ("too little of a compressed image", &|e| unsafe {
            let dxt5 = GL_COMPRESSED_RGBA_S3TC_DXT5_EXT;
            e.gl_compressed_tex_image2d(GL_TEXTURE_2D, 0, dxt5, 64, 64, 0, 4096, few());
        }),
        ("a compressed image out of memory", &|e| unsafe {
            let dxt5 = GL_COMPRESSED_RGBA_S3TC_DXT5_EXT;
            let away = Data::Offset(FAR_OFFSET);
            e.gl_compressed_tex_image2d(GL_TEXTURE_2D, 0, dxt5, 64, 64, 0, 4096, away);
        }),
        ("too little of an image", &|e| unsafe {
            let size = i32::MAX;
            e.gl_tex_image2d(
                GL_TEXTURE_2D,
                0,
                GL_RGBA as i32,
                size,
                size,
                0,
                GL_RGBA,
                GL_FLOAT,
                few(),
            );
        }),
        ("indirect draws out of memory", &|e| {
            e.gl_multi_draw_arrays_indirect(GL_TRIANGLES, FAR_OFFSET, 5, 0)
        }),
        ("indirect draws beyond a buffer", &|e| unsafe {
            e.gl_bind_buffer(GL_DRAW_INDIRECT_BUFFER, 2);
            e.gl_buffer_data(GL_DRAW_INDIRECT_BUFFER, 8, few(), GL_STATIC_DRAW);
            e.gl_multi_draw_elements_indirect(
                GL_TRIANGLES,
                GL_UNSIGNED_INT,
                FAR_OFFSET,
                i32::MAX,
                4,
            );
        }),
        ("an indirect dispatch out of memory", &|e| {
            e.gl_dispatch_compute_indirect(FAR_OFFSET as i64)
        }),
        ("fewer offsets than draws", &|e| unsafe {
            e.gl_multi_draw_elements(
                GL_TRIANGLES,
                ([3i32; 4].as_ptr(), 4),
                GL_UNSIGNED_INT,
                ([0u64; 1].as_ptr(), 1),
            )
        }),
        ("more than a buffer holds", &|e| unsafe {
            e.gl_bind_buffer(GL_ARRAY_BUFFER, 2);
            e.gl_buffer_data(GL_ARRAY_BUFFER, 8, few(), GL_STATIC_DRAW);
            e.mgn_buffer_write(2, i64::MAX, ([1u8; 4].as_ptr(), 4));
            e.gl_buffer_sub_data(GL_ARRAY_BUFFER, i64::MAX, 4, ([1u8; 4].as_ptr(), 4));
        }),
        ("a part of a buffer that is not there", &|e| {
            e.mgn_buffer_read(2, FAR_OFFSET as i64, u32::MAX)
        }),
        ("feedback without a program", &|e| {
            e.gl_bind_buffer_range(GL_TRANSFORM_FEEDBACK_BUFFER, u32::MAX, 3, 1, -1);
            e.gl_begin_transform_feedback(GL_TRIANGLES);
        }),
        ("a draw of what no feedback wrote", &|e| {
            e.gl_draw_transform_feedback(GL_TRIANGLES, 99)
        }),
        ("a program of no shaders", &|e| unsafe {
            e.gl_program_binary(88, 0x8740, ([7u8; 5].as_ptr(), 5), i32::MAX)
        }),
        ("an assembly program that is none", &|e| unsafe {
            let text = b"!!ARBvp1.0 \xff\0 END";
            let format = GL_PROGRAM_FORMAT_ASCII_ARB;
            e.gl_program_string_arb(GL_VERTEX_PROGRAM_ARB, format, (text.as_ptr(), text.len()));
        }),
        ("fewer control points than the order", &|e| unsafe {
            e.gl_map1f(GL_MAP1_VERTEX_4, 0.0, 1.0, 4, 8, floats)
        }),
        ("control points of any order", &|e| unsafe {
            e.gl_map2f(
                GL_MAP2_VERTEX_4,
                0.0,
                1.0,
                i32::MAX,
                i32::MAX,
                0.0,
                1.0,
                i32::MIN,
                30,
                floats,
            )
        }),
        ("fewer values than a pixel map", &|e| unsafe {
            e.gl_pixel_mapfv(GL_PIXEL_MAP_R_TO_R, 256, few())
        }),
        ("fewer values than uniforms", &|e| unsafe {
            e.gl_uniform4fv(0, 100, floats)
        }),
    ];
    let server = Server::start(false, &[]);
    let mut bystander = server.client(Transport::Shm);
    bystander.set_up();
    for (what, case) in cases {
        let mut client = server.client(Transport::Shm);
        client.set_up();
        client.encode(1, case);
        let asked = client.try_encode(1, |e| e.mgn_finish());
        let answer = client.answers.recv(Some(Duration::from_secs(20)));
        match (asked, answer) {
            (Ok(()), Ok(Some(answer))) => {
                let error = u32::from_le_bytes(answer.to_vec()[8..12].try_into().unwrap());
                assert_ne!(error, GL_NO_ERROR, "{what}");
            }
            _ => {
                let end = client.end();
                let end = end.unwrap_or_else(|| panic!("{what}: no reason"));
                assert_eq!(end.blame, Blame::Client, "{what}: {end}");
            }
        }
    }
    let log = server.log();
    assert!(!log.contains("signal"), "{log}");
    works(&mut bystander);
}

#[test]
fn mutated_streams_end_sessions_and_never_the_server() {
    let server = Server::start(false, &[]);
    let vertices = [0.5f32; 30];
    let good = message(1, |e| unsafe {
        e.gl_load_identity();
        e.gl_enable(GL_BLEND);
        e.mgn_run(
            GL_TRIANGLES,
            0,
            ([2u8, 3, 0, 2].as_ptr(), 4),
            Data::Bytes(vertices.as_ptr().cast(), 120),
            (std::ptr::null(), 0),
            (std::ptr::null(), 0),
        );
        e.gl_color4f(1.0, 1.0, 1.0, 1.0);
        e.gl_tex_image2d(
            GL_TEXTURE_2D,
            0,
            GL_RGBA as i32,
            2,
            2,
            0,
            GL_RGBA,
            GL_UNSIGNED_BYTE,
            Data::Bytes(vertices.as_ptr().cast(), 16),
        );
        e.gl_get_floatv(GL_CURRENT_COLOR, 4);
    });
    let mut random = Random::new(2);
    let mut misbehaved = 0;
    for _ in 0..12 {
        let mut client = server.client(Transport::Shm);
        client.set_up();
        // A server can notice the first bad message while the client still sends, or after that.
        let sent = (0..20).all(|_| {
            let mut bad = good.clone();
            let at = random.next() as usize % bad.len();
            bad[at] = random.next() as u8;
            client.sender.send(&bad).is_ok()
        }) && client.try_encode(1, |e| e.mgn_finish()).is_ok();
        if !sent || client.answers.recv(Some(Duration::from_secs(5))).is_err() {
            misbehaved += 1;
            if let Some(end) = client.end() {
                assert_eq!(end.blame, Blame::Client, "{end}");
            }
        }
    }
    assert!(misbehaved > 0);
    works(&mut {
        let mut c = server.client(Transport::Shm);
        c.set_up();
        c
    });
}

#[test]
fn memory_that_changes_while_it_is_read_does_no_harm() {
    let server = Server::start(false, &[]);
    let vertices = [0.25f32; 3000];
    let good = message(1, |e| unsafe {
        for _ in 0..16 {
            e.mgn_run(
                GL_TRIANGLES,
                0,
                ([2u8, 3, 0, 2].as_ptr(), 4),
                Data::Bytes(vertices.as_ptr().cast(), 6000),
                (std::ptr::null(), 0),
                (std::ptr::null(), 0),
            );
            e.gl_load_matrixf((vertices.as_ptr(), 16));
        }
    });
    let mut random = Random::new(3);
    for _ in 0..4 {
        let mut client = server.client(Transport::Shm);
        client.set_up();
        for _ in 0..50 {
            let Ok(mut reservation) = client.sender.reserve(good.len()) else {
                break;
            };
            reservation.write(0, &good);
            let start = reservation.ptr();
            if client.sender.commit(&mut reservation, good.len()).is_err() {
                break;
            }
            for _ in 0..200 {
                let at = random.next() as usize % (good.len() / 4) * 4;
                // SAFETY: the client's mapping of the chunk stays while its connection does. That
                // the server reads it meanwhile is the test.
                unsafe {
                    start
                        .add(at)
                        .cast::<u32>()
                        .write_volatile(random.next() as u32 & 0x000f_ffff)
                };
            }
        }
    }
    wait_until("sessions end", || server.workers().len() <= 1);
    let log = server.log();
    assert!(!log.contains("signal"), "{log}");
}

#[test]
fn a_worker_that_is_killed_takes_its_session_only() {
    let server = Server::start(false, &[]);
    let before = server.workers();
    assert_eq!(before.len(), 1);
    let mut victim = server.client(Transport::Shm);
    victim.set_up();
    let mut bystander = server.client(Transport::Shm);
    bystander.set_up();
    // SAFETY: a worker of the server's, which is known to run.
    unsafe { libc::kill(before[0], libc::SIGABRT) };
    assert_eq!(victim.ending(), None);
    server.expect_log("signal 6 (SIGABRT)");
    works(&mut bystander);
    let mut next = server.client(Transport::Unix);
    next.set_up();
    works(&mut next);
}

/// An EGL library, in place of the system's, that makes no framebuffer of this width.
const FAILING_EGL: &str = r#"
#include <stddef.h>
typedef void *(*make)(void *, void *, const int *);
void *dlopen(const char *, int);
void *dlsym(void *, const char *);
static _Thread_local int has_failed;

static void *real(const char *name) { return dlsym(dlopen(REAL, 2), name); }

void *eglCreatePbufferSurface(void *display, void *config, const int *attributes)
{
    for (const int *a = attributes; a && *a != 0x3038; a += 2)
        if (a[0] == 0x3057 && a[1] == 77) {
            has_failed = 1;
            return NULL;
        }
    return ((make)real("eglCreatePbufferSurface"))(display, config, attributes);
}

int eglGetError(void)
{
    if (!has_failed)
        return ((int (*)(void))real("eglGetError"))();
    has_failed = 0;
    return 0x3003;
}
"#;

#[test]
fn a_driver_that_fails_is_blamed_and_not_the_client() {
    let server = Server::with_egl(FAILING_EGL, &[]).unwrap();
    let mut bystander = server.client(Transport::Shm);
    bystander.set_up();
    let mut client = server.client(Transport::Shm);
    client.set_up();
    works(&mut client);
    client.encode(1, |e| {
        e.mgn_resize_surface(1, 77, 48);
        e.gl_clear(GL_COLOR_BUFFER_BIT);
        e.mgn_swap_buffers(1, 2, 1);
    });
    let end = client.end().expect("a reason");
    assert_eq!(end.blame, Blame::Driver, "{end}");
    assert!(end.why.contains("77 x 48"), "{end}");
    assert!(end.why.contains("EGL_BAD_ALLOC"), "{end}");
    let said = end.to_string();
    assert!(said.starts_with("the driver failed: "), "{said}");
    server.expect_log(&said);
    server.expect_log("driver-failed");
    assert!(!server.log().contains("misbehaved"), "{}", server.log());
    works(&mut bystander);
    let mut next = server.client(Transport::Unix);
    next.set_up();
    works(&mut next);
}

#[test]
fn an_endless_shader_is_ended_by_the_watchdog() {
    let server = Server::start(false, &[("TEST_WATCHDOG", "5")]);
    let mut client = server.client(Transport::Shm);
    client.set_up();
    // llvmpipe ends loops after 65536 rounds; with this number of pixels that is practically never.
    let source = b"void main() { vec4 c = gl_FragCoord; while (c.x > -9.0) c = sin(c + vec4(1.0)) * cos(c); gl_FragColor = c; }";
    client.encode(1, |e| unsafe {
        e.mgn_resize_surface(1, 2048, 2048);
        e.gl_viewport(0, 0, 2048, 2048);
        e.gl_create_shader(GL_FRAGMENT_SHADER, 1);
        e.gl_shader_source(1, (source.as_ptr(), source.len()));
        e.gl_compile_shader(1);
        e.gl_create_program(2);
        e.gl_attach_shader(2, 1);
        e.gl_link_program(2);
        e.gl_use_program(2);
        e.gl_rectf(-1.0, -1.0, 1.0, 1.0);
        e.mgn_swap_buffers(1, 1, 1);
    });
    let end = client.end().expect("a reason");
    assert_eq!(
        end,
        End::new(Blame::Limits, "a command has run for more than 5 s")
    );
    server.expect_log("a command has run for more than 5 s");
    server.client(Transport::Shm).set_up();
}

#[test]
fn a_client_that_pauses_is_left_alone() {
    let server = Server::start(false, &[("TEST_WATCHDOG", "5")]);
    let mut client = server.client(Transport::Shm);
    client.set_up();
    // More pictures than there is room for.
    for frame in 0..12 {
        client.encode(1, |e| {
            e.mgn_resize_surface(1, 1500, 1000 + frame);
            e.mgn_swap_buffers(1, frame, 1);
        });
    }
    std::thread::sleep(Duration::from_millis(6500));
    for frame in 0..12 {
        assert_eq!(client.frame().0.frame, frame);
    }
    works(&mut {
        client.encode(1, |e| e.mgn_resize_surface(1, 64, 48));
        client
    });
}

#[test]
fn storage_for_which_there_is_no_memory_is_an_error() {
    let server = Server::start(false, &[("TEST_MEMORY", "400000000")]);
    let mut client = server.client(Transport::Shm);
    client.set_up();
    let pixels = vec![1u8; 200_000];
    let mut errors = Vec::new();
    for name in 0..2500u32 {
        client.encode(1, |e| unsafe {
            e.gl_bind_buffer(GL_ARRAY_BUFFER, 1 + name);
            e.gl_buffer_data(
                GL_ARRAY_BUFFER,
                200_000,
                Data::Bytes(pixels.as_ptr(), pixels.len()),
                GL_STATIC_DRAW,
            );
            e.mgn_get_error(1);
        });
        errors.push(client.answer_array::<u32>()[0]);
    }
    assert_eq!(errors[0], GL_NO_ERROR);
    assert_eq!(errors[2499], GL_OUT_OF_MEMORY);
    works(&mut client);
}

#[test]
fn too_much_memory_ends_the_session() {
    let server = Server::start(false, &[("TEST_MEMORY", "400000000")]);
    let mut client = server.client(Transport::Shm);
    client.set_up();
    // So small that no check for room is made.
    let pixels = vec![1u8; 60_000];
    for name in 0..9000u32 {
        let sent = client.try_encode(1, |e| unsafe {
            e.gl_bind_buffer(GL_ARRAY_BUFFER, 1 + name);
            e.gl_buffer_data(
                GL_ARRAY_BUFFER,
                60_000,
                Data::Bytes(pixels.as_ptr(), pixels.len()),
                GL_STATIC_DRAW,
            );
        });
        if sent.is_err() {
            break;
        }
    }
    let end = client.end().expect("a reason");
    assert_eq!(end.blame, Blame::Limits, "{end}");
    assert!(end.why.contains("MiB of memory"), "{end}");
}

#[test]
fn a_signal_ends_the_server_and_leaves_nothing() {
    let mut server = Server::start(false, &[]);
    let mut client = server.client(Transport::Shm);
    client.set_up();
    let workers = server.workers();
    assert!(!workers.is_empty());
    server.signal(libc::SIGTERM);
    wait_until("the server ends", || {
        server.child.try_wait().unwrap().is_some()
    });
    assert!(server.child.wait().unwrap().success());
    client.ending();
    let lives = |pid: &i32| std::path::Path::new(&format!("/proc/{pid}")).exists();
    assert!(!workers.iter().any(lives));
    let mgn_fabric::Address::Unix(path) = &server.address else {
        panic!("a unix address")
    };
    assert!(!path.exists());
}

#[test]
fn workers_die_with_a_server_that_is_killed() {
    let mut server = Server::start(false, &[]);
    let mut client = server.client(Transport::Shm);
    client.set_up();
    let workers = server.workers();
    server.signal(libc::SIGKILL);
    server.child.wait().unwrap();
    client.ending();
    let lives = |pid: &i32| {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|s| !s.contains(") Z"))
    };
    wait_until("workers end", || !workers.iter().any(lives));
}

#[test]
fn a_machine_without_egl_is_said_so() {
    let folder = std::env::temp_dir().join(format!("mgn-no-egl-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("libEGL.so.1"), b"no library").unwrap();
    let server = Server::try_start(false, &[("LD_LIBRARY_PATH", folder.to_str().unwrap())]);
    std::fs::remove_dir_all(&folder).unwrap();
    let Err(log) = server else {
        panic!("a server without a driver")
    };
    assert!(
        log.contains("server: libEGL.so.1 cannot be loaded"),
        "{log}"
    );
    assert!(log.contains("install"), "{log}");
}

#[test]
fn an_address_in_use_is_said_so() {
    let server = Server::start(false, &[]);
    let second = Server::try_start(false, &[("TEST_LISTEN", &server.address.to_string())]);
    let Err(log) = second else {
        panic!("two servers at one address")
    };
    assert!(log.contains("is in use"), "{log}");
    server.client(Transport::Shm).set_up();
}
