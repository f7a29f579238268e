//! Several clients that draw into one window: their order, clients that are not admitted, and the
//! end of waiting clients.
// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

#[allow(dead_code)]
#[macro_use]
mod support;

use mgn_fabric::{connect, Error, Store, Token, Transport};
use mgn_wire::encoder::Data;
use mgn_wire::gl::*;
use mgn_wire::hello::{api, plane, surface, Created, Role, SharedWindow, Welcome};
use mgn_wire::{Blame, Encoder, End};
use std::time::Duration;
use support::{opening, wait_until, Client, Server, CONFIG};

const WAIT_TIMEOUT: Duration = Duration::from_secs(20);

processes!();

fn window(name: &str, clients: Option<u32>) -> SharedWindow {
    SharedWindow {
        name: name.into(),
        clients,
        patience: 1,
    }
}

fn patient(name: &str, clients: u32) -> SharedWindow {
    SharedWindow {
        patience: 60,
        ..window(name, Some(clients))
    }
}

/// A client of a window, 64 x 48, which is current.
fn client(server: &Server, window: &SharedWindow) -> Client {
    let mut client = server.client_of_window(window.clone()).expect("a session");
    set_up(&mut client, 64);
    client
}

fn set_up(client: &mut Client, width: u32) {
    client.encode(0, |e| {
        e.mgn_create_context(1, api::COMPAT, 0, 0, 0, CONFIG, 0, 1 << 20);
        e.mgn_create_surface(1, surface::SHARED, CONFIG, width, 48);
    });
    let created: Created = postcard::from_bytes(&client.answer_array::<u8>()).expect("an answer");
    assert!(matches!(created, Created::Context(_)), "{created:?}");
    client.encode(1, |e| e.mgn_make_current(1, 1));
}

/// Waits until all that was sent has been executed.
fn finish(client: &mut Client) {
    client.encode(1, |e| e.mgn_finish());
    client.answer();
}

fn send(client: &Client, command: impl FnOnce(&mut Encoder)) {
    client.encode(1, command);
}

/// The colour of a pixel in the middle.
fn pixel(client: &mut Client) -> Vec<u8> {
    client.encode(1, |e| {
        e.gl_read_pixels(32, 24, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE)
    });
    client.answer_array::<u8>()
}

fn clear(client: &Client, red: f32) {
    send(client, |e| {
        e.gl_clear_color(red, 0.0, 0.0, 1.0);
        e.gl_clear(GL_COLOR_BUFFER_BIT);
    });
}

#[track_caller]
fn fails(client: &mut Client, words: &str) {
    let end = client.end().expect("a reason");
    assert_eq!(end.blame, Blame::Peers, "{end}");
    assert!(end.why.contains(words), "{end}");
}

#[test]
fn what_one_draws_the_others_read_in_the_order_of_a_semaphore() {
    let server = Server::start(false, &[]);
    let terms = patient("w", 2);
    let [mut first, mut second] = [client(&server, &terms), client(&server, &terms)];
    for one in [&first, &second] {
        send(one, |e| e.gl_semaphore_create_cr(1, 0));
        send(one, |e| e.gl_semaphore_create_cr(2, 0));
    }
    for n in 1..=50u8 {
        send(&second, |e| e.gl_semaphore_pcr(1));
        send(&second, |e| {
            e.gl_read_pixels(32, 24, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE);
        });
        send(&second, |e| e.gl_semaphore_vcr(2));
        clear(&first, f32::from(n) / 255.0);
        send(&first, |e| e.gl_semaphore_vcr(1));
        send(&first, |e| e.gl_semaphore_pcr(2));
        assert_eq!(second.answer_array::<u8>(), [n, 0, 0, 255]);
    }
    finish(&mut first);
}

#[test]
fn who_waits_holds_up_nobody_and_is_found_dead() {
    let server = Server::start(false, &[]);
    let terms = patient("w", 3);
    let [mut waits, mut dies, mut works] = [(); 3].map(|()| client(&server, &terms));
    for one in [&waits, &dies, &works] {
        send(one, |e| e.gl_barrier_create_cr(1, 3));
    }
    finish(&mut dies);
    send(&waits, |e| e.gl_barrier_exec_cr(1));
    clear(&waits, 1.0);
    send(&dies, |e| e.gl_barrier_exec_cr(1));
    // More than one message, behind a wait that does not end.
    (0..100).for_each(|_| clear(&dies, 0.5));
    clear(&works, 0.0);
    assert_eq!(pixel(&mut works), [0, 0, 0, 255]);
    drop(dies);
    fails(&mut waits, "has died at barrier 1");
    assert_eq!(
        pixel(&mut works),
        [0, 0, 0, 255],
        "those that wait have drawn"
    );
    send(&works, |e| e.gl_barrier_exec_cr(1));
    fails(&mut works, "has died at barrier 1");
    wait_until("the end", || server.log().matches("has ended").count() == 3);
    // The name is free again.
    let mut next = client(&server, &window("w", Some(1)));
    finish(&mut next);
}

#[test]
fn all_that_wait_are_told_at_once_if_all_are_there() {
    let server = Server::start(false, &[]);
    let terms = patient("w", 2);
    let mut both = [(); 2].map(|()| client(&server, &terms));
    for one in &mut both {
        send(one, |e| e.gl_semaphore_create_cr(1, 0));
        send(one, |e| e.gl_semaphore_pcr(1));
    }
    for one in &mut both {
        fails(one, "all wait for each other");
    }
}

#[test]
fn those_that_never_come_are_waited_for_as_long_as_was_said() {
    let server = Server::start(false, &[]);
    for (terms, words) in [
        (
            window("a", Some(2)),
            "only 1 of 2 programs have joined within 1 s",
        ),
        (
            window("b", None),
            "for a program that has not joined within 1 s",
        ),
    ] {
        let mut alone = client(&server, &terms);
        send(&alone, |e| e.gl_barrier_create_cr(1, 2));
        send(&alone, |e| e.gl_barrier_exec_cr(1));
        fails(&mut alone, words);
    }
}

#[test]
fn a_program_that_shares_nothing_does_not_wait_for_ever() {
    let server = Server::start(false, &[]);
    let mut alone = server.client(Transport::Shm);
    alone.set_up();
    send(&alone, |e| e.gl_barrier_create_cr(1, 1));
    send(&alone, |e| e.gl_barrier_exec_cr(1));
    finish(&mut alone);
    send(&alone, |e| e.gl_semaphore_create_cr(1, 0));
    send(&alone, |e| e.gl_semaphore_pcr(1));
    fails(&mut alone, "shares no window");
}

#[test]
fn windows_that_do_not_agree_are_refused() {
    let server = Server::start(false, &[]);
    let mut first = client(&server, &patient("w", 2));
    let mut second = server.client_of_window(patient("w", 2)).expect("a session");
    second.encode(0, |e| {
        e.mgn_create_surface(1, surface::SHARED, CONFIG, 65, 48);
    });
    fails(
        &mut second,
        "its window is 65 x 48, and those of the other programs are 64 x 48",
    );
    finish(&mut first);
}

fn refusal(found: Result<Client, Error>) -> String {
    match found {
        Ok(_) => panic!("it has been let in"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn who_is_one_too_many_or_counts_differently_is_refused() {
    let server = Server::start(false, &[]);
    let mut both = [(); 2].map(|()| client(&server, &patient("w", 2)));
    let why = refusal(server.client_of_window(patient("w", 2)));
    assert!(
        why.contains("the window already has its 2 programs"),
        "{why}"
    );
    let why = refusal(server.client_of_window(patient("w", 3)));
    assert!(
        why.contains("gives --window-clients 3, and the others 2"),
        "{why}"
    );
    both.iter_mut().for_each(finish);
}

#[test]
fn claims_beyond_the_limits_are_refused() {
    let server = Server::start(false, &[]);
    for terms in [
        window("", Some(2)),
        window(&"x".repeat(SharedWindow::NAME_MAX + 1), Some(2)),
        window("w", Some(0)),
        window("w", Some(SharedWindow::CLIENTS_MAX + 1)),
        SharedWindow {
            patience: u32::MAX,
            ..window("w", None)
        },
    ] {
        let why = refusal(server.client_of_window(terms));
        assert!(why.contains("does not understand this client"), "{why}");
    }
}

#[test]
fn who_goes_on_where_it_waits_is_ended_alone() {
    let server = Server::start(false, &[]);
    let terms = patient("w", 2);
    let [mut good, mut bad] = [client(&server, &terms), client(&server, &terms)];
    send(&bad, |e| {
        e.gl_barrier_create_cr(1, 2);
        e.gl_barrier_exec_cr(1);
        e.gl_barrier_exec_cr(1);
    });
    let end = bad.end().expect("a reason");
    assert_eq!(
        end,
        End::new(Blame::Client, "a program that waits has gone on")
    );
    finish(&mut good);
}

#[test]
fn who_takes_nothing_holds_up_the_others_for_as_long_as_the_watchdog_waits() {
    let attacks: [fn(&mut Client); 3] = [
        |bad| {
            // More than its connection holds.
            for _ in 0..100 {
                let reads = bad.try_encode(1, |e| {
                    (0..100).for_each(|_| {
                        e.gl_read_pixels(0, 0, 64, 48, GL_RGBA, GL_UNSIGNED_BYTE);
                    });
                });
                if reads.is_err() {
                    return;
                }
            }
        },
        |bad| {
            for frame in 0..10_000 {
                let swap = bad.try_encode(1, |e| e.mgn_swap_buffers(1, frame, 1));
                if swap.is_err() {
                    return;
                }
            }
        },
        // One message, whose answers are taken one by one.
        |bad| {
            send(bad, |e| {
                (0..4000).for_each(|_| {
                    e.gl_read_pixels(0, 0, 64, 48, GL_RGBA, GL_UNSIGNED_BYTE);
                });
            });
            for _ in 0..100 {
                let more = bad.try_encode(1, |e| e.mgn_flush());
                if more.is_err() || bad.answers.recv(Some(WAIT_TIMEOUT)).is_err() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(500));
            }
        },
    ];
    for attack in attacks {
        is_ended_by_the_watchdog(attack, "reads neither answers nor pictures");
    }
}

/// One that holds up the others loses its session, and they go on.
fn is_ended_by_the_watchdog(attack: fn(&mut Client), words: &str) {
    let server = Server::start(false, &[("TEST_WATCHDOG", "5")]);
    let terms = patient("w", 2);
    let [mut good, mut bad] = [client(&server, &terms), client(&server, &terms)];
    finish(&mut good);
    let attacker = std::thread::spawn(move || {
        attack(&mut bad);
        bad
    });
    server.expect_log(words);
    finish(&mut good);
    attacker.join().unwrap();
}

/// Begins a list and a primitive in it.
fn begin_list(client: &Client) {
    send(client, |e| {
        e.gl_new_list(1, GL_COMPILE);
        e.gl_begin(GL_TRIANGLES);
        e.gl_vertex3f(-1.0, -1.0, 0.0);
    });
}

#[test]
fn lists_that_programs_compile_at_the_same_time_are_whole() {
    let server = Server::start(false, &[]);
    let terms = patient("w", 2);
    let mut both = [client(&server, &terms), client(&server, &terms)];
    for _ in 0..50 {
        both.iter().for_each(begin_list);
        for (one, red) in both.iter().zip([1.0, 0.5]) {
            send(one, |e| {
                e.gl_vertex3f(3.0, -1.0, 0.0);
                e.gl_vertex3f(-1.0, 3.0, 0.0);
                e.gl_end();
                e.gl_end_list();
                e.gl_color4f(red, 0.0, 0.0, 1.0);
                e.gl_call_list(1);
            });
        }
    }
    for (one, red) in both.iter_mut().zip([255, 128]) {
        finish(one);
        send(one, |e| e.gl_call_list(1));
        assert_eq!(pixel(one)[..2], [red, 0]);
    }
}

#[test]
fn who_dies_in_a_list_ends_no_other() {
    for server in [(); 5].map(|()| Server::start(false, &[])) {
        let terms = window("w", None);
        let [mut good, bad] = [client(&server, &terms), client(&server, &terms)];
        begin_list(&bad);
        clear(&good, 1.0);
        drop(bad);
        finish(&mut good);
        assert_eq!(pixel(&mut good)[0], 255);
    }
}

#[test]
fn who_compiles_a_list_without_end_holds_up_the_others_for_as_long_as_the_watchdog_waits() {
    let attacks: [fn(&mut Client); 3] = [
        |bad| begin_list(bad),
        |bad| {
            begin_list(bad);
            for _ in 0..100 {
                let more = bad.try_encode(1, |e| e.gl_vertex3f(1.0, 0.0, 0.0));
                if more.is_err() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(100));
            }
        },
        // Without a pause, and with what no list holds.
        |bad| {
            send(bad, |e| e.gl_new_list(1, GL_COMPILE));
            let more = || bad.try_encode(1, |e| (0..5000).for_each(|_| e.mgn_flush()));
            let start = std::time::Instant::now();
            while more().is_ok() && start.elapsed() < WAIT_TIMEOUT {}
        },
    ];
    for attack in attacks {
        is_ended_by_the_watchdog(attack, "has compiled a display list for 5 s");
    }
}

#[test]
fn who_waits_for_others_in_a_list_is_told_why_that_cannot_be() {
    let server = Server::start(false, &[]);
    let terms = patient("w", 2);
    let [mut good, mut bad] = [client(&server, &terms), client(&server, &terms)];
    send(&bad, |e| {
        e.gl_barrier_create_cr(1, 2);
        e.gl_new_list(1, GL_COMPILE);
        e.gl_barrier_exec_cr(1);
    });
    fails(&mut bad, "barrier 1");
    finish(&mut good);
}

#[test]
fn strangers_have_windows_of_their_own() {
    let folder = std::env::temp_dir().join(format!("mgn-window-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let store = folder.join("tokens");
    let [ours, theirs] = ["ours", "theirs"].map(|name| {
        let token = Token::new(name, mgn_fabric::Role::Client).expect("a token");
        Store::add(&store, &token).expect("a store");
        token
    });
    let server = Server::start(true, &[("TEST_STORE", store.to_str().expect("a path"))]);
    let begin = |token: &Token| {
        let connect = |role| {
            let opening = opening(role);
            connect(
                &server.address,
                Transport::Tcp,
                Some(token),
                &opening,
                WAIT_TIMEOUT,
            )
        };
        let role = Role::Session {
            program: "test".into(),
            pid: 1,
            tile: None,
            shown: None,
            window: Some(patient("w", 2)),
        };
        let (commands, welcome) = connect(role).expect("a session");
        let welcome: Welcome = postcard::from_bytes(&welcome).expect("a welcome");
        let (session, key) = (welcome.session, welcome.key);
        let (frames, _) = connect(Role::Frames { session, key }).expect("a connection");
        let (sender, answers) = commands.split();
        let (frames_sender, frames) = frames.split();
        let mut client = Client {
            sender,
            answers,
            frames,
            frames_sender,
            welcome,
        };
        set_up(&mut client, 64);
        client
    };
    // Three would be too many for one window.
    let mut all = [begin(&ours), begin(&theirs), begin(&ours)];
    clear(&all[0], 1.0);
    finish(&mut all[0]);
    clear(&all[1], 0.0);
    finish(&mut all[1]);
    assert_eq!(pixel(&mut all[2]), [255, 0, 0, 255]);
    drop(all);
    drop(server);
    let _ = std::fs::remove_dir_all(&folder);
}

/// Two clients of a window on a wall, at the renderer of tile 1.
fn at_tile_1(server: &Server, name: &str) -> [Client; 2] {
    let terms = patient(name, 2);
    let client = |_| server.client_of_tile(terms.clone(), 1).expect("a session");
    let mut both = [0, 1].map(client);
    for client in &mut both {
        client.encode(0, |e| e.mgn_speaker(1));
        set_up(client, 64);
        send(client, |e| e.gl_semaphore_create_cr(1, 0));
    }
    both
}

#[test]
fn other_tiles_keep_to_the_order_of_tickets() {
    let server = Server::start(false, &[]);
    let [mut first, mut second] = at_tile_1(&server, "order");
    // It decides nothing.
    send(&first, |e| e.gl_semaphore_pcr(1));
    clear(&second, 1.0);
    finish(&mut second);
    send(&second, |e| e.mgn_pass(1, 2));
    send(&second, |e| {
        e.gl_read_pixels(32, 24, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE)
    });
    // Two may pass, and the second waits for the first all the same.
    send(&first, |e| e.gl_semaphore_vcr(1));
    send(&first, |e| e.gl_semaphore_vcr(1));
    clear(&first, 2.0 / 255.0);
    finish(&mut first);
    send(&first, |e| e.mgn_pass(1, 1));
    assert_eq!(second.answer_array::<u8>(), [2, 0, 0, 255]);
    send(&first, |e| e.mgn_pass(1, 2));
    fails(&mut first, "ticket 2 of semaphore 1 has been used before");
}

#[test]
fn a_ticket_for_no_semaphore_is_an_error() {
    let server = Server::start(false, &[]);
    let [mut first, mut second] = at_tile_1(&server, "none");
    send(&first, |e| e.mgn_pass(7, 1));
    fails(&mut first, "semaphore 7 is used before");
    finish(&mut second);
}

/// A program may learn late that another has made the window smaller.
#[test]
fn parts_that_are_gone_are_left_out() {
    let server = Server::start(false, &[]);
    let [mut first, mut second] = at_tile_1(&server, "smaller");
    let tiles = |client: &Client, [width, height]: [i32; 2]| {
        let tiles = [0, 0, width, height].repeat(2);
        client.encode(0, |e| unsafe { e.mgn_tiles(1, (tiles.as_ptr(), 8)) });
    };
    for client in [&first, &second] {
        tiles(client, [64, 48]);
    }
    finish(&mut second);
    finish(&mut first);
    first.encode(0, |e| e.mgn_resize_surface(1, 32, 24));
    tiles(&first, [32, 24]);
    finish(&mut first);
    let taken = [1, 0, 0, 64, 48];
    send(&second, |e| unsafe {
        e.mgn_take_tiles(1, plane::BACK, (taken.as_ptr(), 5), 0);
    });
    assert!(second.answer_array::<u8>().is_empty());
    let pixels = vec![1u8; 64 * 48 * 4];
    send(&second, |e| unsafe {
        let data = Data::Bytes(pixels.as_ptr(), pixels.len());
        e.mgn_fill(1, plane::BACK, (taken[1..].as_ptr(), 4), data);
    });
    finish(&mut second);
}

#[test]
fn what_a_surface_does_not_have_is_refused() {
    let server = Server::start(false, &[]);
    for what in 0..2 {
        let mut client = client(&server, &patient("refused", 1));
        let twice = [0, 0, 0, 64, 48].repeat(2);
        match what {
            0 => send(&client, |e| unsafe {
                e.mgn_take_tiles(1, plane::BACK, (twice.as_ptr(), 10), 0);
            }),
            // Others would see a window of another kind.
            _ => client.encode(0, |e| e.mgn_offset()),
        }
        let end = client.end().expect("a reason");
        assert_eq!(end.blame, Blame::Client, "{end}");
    }
}
