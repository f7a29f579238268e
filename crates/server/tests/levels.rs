//! A driver that needs more than a sandbox permits gets a weaker one. If the sandbox is required,
//! there is no server.
// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

#[macro_use]
mod support;

use mgn_fabric::Transport;
use std::fs;
use std::path::PathBuf;
use support::{lacks_sandbox, works, Client, Server};

processes!();

/// An EGL library that opens no display unless the call `NEEDS` succeeds.
const DEMANDING_EGL: &str = r#"
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/socket.h>

unsigned eglInitialize(void *display, int *major, int *minor)
{
    unsigned (*real)(void *, int *, int *) = (unsigned (*)(void *, int *, int *))dlsym(dlopen(REAL, RTLD_NOW), "eglInitialize");

    return (NEEDS) < 0 ? 0 : real(display, major, minor);
}
"#;

const SOCKET: &str = "socket(AF_INET, SOCK_STREAM, 0)";

/// A file that no driver has a reason to open.
fn file(name: &str) -> (PathBuf, String) {
    let path = std::env::temp_dir().join(format!("mgn-levels-{name}-{}", std::process::id()));
    fs::write(&path, "").unwrap();
    let needs = format!("open({:?}, O_RDWR)", path.to_str().unwrap());
    (path, needs)
}

/// A server whose driver needs this, a session of it, and the session's process.
fn start(needs: &str, settings: &[(&str, &str)]) -> Result<(Server, Client, i32), String> {
    let server = Server::with_egl(&DEMANDING_EGL.replace("NEEDS", needs), settings)?;
    // The first session gets the worker that is open already.
    let worker = server.workers()[0];
    let mut client = server.client(Transport::Unix);
    client.set_up();
    works(&mut client);
    Ok((server, client, worker))
}

const REQUIRED: (&str, &str) = ("TEST_SANDBOX", "required");

#[test]
fn a_driver_that_opens_any_file_is_confined_by_system_calls() {
    if lacks_sandbox() {
        return;
    }
    let (path, needs) = file("opens");
    let (server, _client, worker) = start(&needs, &[]).unwrap();
    server.expect_log("the driver opens only if its files are not confined");
    let log = server.log();
    assert!(log.contains("system calls by seccomp"), "{log}");
    let status = fs::read_to_string(format!("/proc/{worker}/status")).unwrap();
    assert!(status.contains("Seccomp:\t2"), "{status}");
    fs::remove_file(path).unwrap();
}

#[test]
fn a_driver_that_needs_forbidden_calls_is_not_confined() {
    if lacks_sandbox() {
        return;
    }
    let (server, _client, _) = start(SOCKET, &[]).unwrap();
    server.expect_log("the driver opens only outside the sandbox");
}

#[test]
fn a_server_that_requires_a_sandbox_starts_with_one_or_not_at_all() {
    if lacks_sandbox() {
        return;
    }
    let (server, _client, _) = start("0", &[REQUIRED]).unwrap();
    server.expect_log("sessions are confined by");
    let log = server.log();
    assert!(
        log.contains("by Landlock") && log.contains("by seccomp"),
        "{log}"
    );
    let (path, needs) = file("required");
    for needs in [&needs, SOCKET] {
        let said = start(needs, &[REQUIRED]).err().unwrap();
        assert!(said.contains("--require-sandbox demands"), "{said}");
    }
    fs::remove_file(path).unwrap();
}
