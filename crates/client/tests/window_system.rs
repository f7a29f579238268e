//! The window system as programs see it, without a server: commands are thrown away, but contexts,
//! drawables, errors and forks are real.
//!
//! The program under test is plain C (`window_system.c`) and knows nothing of us. Needs Xvfb, a C
//! compiler, and the headers of GL and X11.

mod common;

use std::process::{Command, Stdio};

#[test]
fn programs_get_what_glx_and_egl_promise() {
    let library = common::library();
    let Some(x) = common::Xvfb::start() else {
        eprintln!("SKIPPED: there is no Xvfb");
        return;
    };
    let Some(program) = common::program() else {
        eprintln!("SKIPPED: the C program does not compile here");
        return;
    };
    let vendor = common::VendorDir::new(&library);
    for case in [
        "contexts",
        "errors",
        "configs",
        "drawables",
        "threads",
        "forks",
        "egl",
    ] {
        let output = vendor
            .run(&program)
            .arg(case)
            .env("DISPLAY", &x.display)
            .env("MGN_TRANSPORT", "null")
            .output()
            .expect("the program runs");
        let said = String::from_utf8_lossy(&output.stdout);
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{case}: {said}{complained}");
    }
}

#[test]
fn a_missing_server_is_one_line_and_no_crash() {
    let library = common::library();
    let Some(program) = common::program() else {
        eprintln!("SKIPPED: the C program does not compile here");
        return;
    };
    let vendor = common::VendorDir::new(&library);
    for (name, value, told) in [
        (
            "MGN_SERVER",
            "unix:/nonexistent/server",
            "/nonexistent/server",
        ),
        ("MGN_SERVER", "carrier pigeon", "MGN_SERVER"),
        ("MGN_TRANSPORT", "pigeon", "MGN_TRANSPORT"),
        ("MGN_UNRELATED", "1", "no render server is named"),
    ] {
        // The program ends before it says anything itself, or goes on where that was asked for.
        for (on_loss, status) in [("exit", 125), ("continue", 0)] {
            let output = vendor
                .run(&program)
                .arg("no-server")
                .env_remove("DISPLAY")
                .env("MGN_ON_LOSS", on_loss)
                .env(name, value)
                .stdin(Stdio::null())
                .output()
                .expect("the program runs");
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(status), "{name}={value}: {said}");
            assert_eq!(said.lines().count(), 1, "{name}={value}: {said}");
            assert!(said.contains(told), "{name}={value}: {said}");
        }
    }
}

#[test]
fn frames_end_a_program_that_would_go_on() {
    let library = common::library();
    let Some(program) = common::program() else {
        eprintln!("SKIPPED: the C program does not compile here");
        return;
    };
    let vendor = common::VendorDir::new(&library);
    let mut command: Command = vendor.run(&program);
    let output = command
        .arg("endless")
        .env_remove("DISPLAY")
        .env("MGN_TRANSPORT", "null")
        .env("MGN_FRAMES", "25")
        .output()
        .expect("the program runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        said.matches("frame").count(),
        25,
        "what was printed is written out: {said}"
    );
    assert!(!said.contains("exit handler"), "{said}");
}
