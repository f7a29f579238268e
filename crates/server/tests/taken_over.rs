//! What a client can do that has taken over the worker that serves it: a driver obeys it.
// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

#[macro_use]
mod support;

use mgn_fabric::Transport;
use mgn_server::Abilities;
use mgn_wire::Blame;
use std::fs;
use std::os::unix::fs::MetadataExt;
use support::{lacks_sandbox, works, Client, Server};

processes!();

/// An EGL library whose glDepthRange obeys: for 1 and 0 it sends the server the message `READY`,
/// and for the number of a process and an address there it tries to get at that process, and says
/// how each attempt went.
const OBEDIENT_EGL: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static void say(const char *what, long result)
{
    fprintf(stderr, "tried %s: %s\n", what, result < 0 ? strerror(errno) : "done");
}

static void read_memory(int pid, void *address)
{
    char bytes[16], path[64];
    struct iovec near = { bytes, sizeof bytes }, far = { address, sizeof bytes };
    int fd;

    say("process_vm_readv", process_vm_readv(pid, &near, 1, &far, 1, 0));
    sprintf(path, "/proc/%d/mem", pid);
    fd = open(path, O_RDWR);
    say("mem", fd < 0 ? fd : pread(fd, bytes, sizeof bytes, (long)address));
    sprintf(path, "/proc/%d/maps", pid);
    say("maps", open(path, O_RDONLY));
    sprintf(path, "/proc/%d/fd/0", pid);
    say("descriptor", readlink(path, bytes, sizeof bytes));
    say("pidfd", syscall(SYS_pidfd_open, pid, 0));
    say("ptrace", ptrace(PTRACE_SEIZE, pid, 0, 0));
}

static void obey(double number, double address)
{
    static const char ready[] = { READY };

    if (number == 1)
        say("to be ready again", write(0, ready, sizeof ready));
    else if (number > 1)
        read_memory((int)number, (void *)(long)address);
}

void *eglGetProcAddress(const char *name)
{
    void *(*real)(const char *) = (void *(*)(const char *))dlsym(dlopen(REAL, RTLD_NOW), "eglGetProcAddress");

    return strcmp(name, "glDepthRange") == 0 ? (void *)obey : real(name);
}
"#;

/// What a worker says once its driver is open.
fn ready() -> Vec<u8> {
    let abilities = Abilities {
        info: Default::default(),
        contexts: Vec::new(),
        egl: String::new(),
    };
    let nothing: Vec<String> = Vec::new();
    let confined = (&nothing, &nothing);
    let body = postcard::to_allocvec(&(0u32, abilities, confined)).unwrap();
    let length = (body.len() as u32).to_le_bytes();
    length.into_iter().chain(body).collect()
}

fn obedient(settings: &[(&str, &str)]) -> Server {
    let ready: Vec<String> = ready().iter().map(|byte| format!("(char){byte}")).collect();
    let source = OBEDIENT_EGL.replace("READY }", &format!("{} }}", ready.join(", ")));
    Server::with_egl(&source, settings).unwrap()
}

fn client(server: &Server) -> Client {
    let mut client = server.client(Transport::Shm);
    client.set_up();
    works(&mut client);
    client
}

/// Has the driver try what gets at the memory of another session's worker.
fn attack(server: &Server) -> String {
    let before = server.workers();
    let _victim = client(server);
    // The worker of the first session was open before it came.
    let pid = before[0];
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let address = maps.split('-').next().unwrap();
    let address = i64::from_str_radix(address, 16).unwrap();
    let attacker = client(server);
    attacker.encode(1, |e| unsafe {
        e.gl_depth_range(f64::from(pid), address as f64);
    });
    server.expect_log("tried ptrace");
    let log = server.log();
    let tried = log.lines().filter(|line| line.starts_with("tried"));
    tried.map(|line| format!("{line}\n")).collect()
}

const ATTEMPTS: [&str; 6] = [
    "process_vm_readv",
    "mem",
    "maps",
    "descriptor",
    "pidfd",
    "ptrace",
];

/// Whether the system keeps processes of one user from each other anyhow (Yama).
fn is_kept_apart() -> bool {
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    let is_root = fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0);
    let is_apart = scope.is_ok_and(|scope| scope.trim() != "0") && !is_root;
    if is_apart {
        println!("SKIPPED: the system's own setting keeps processes from each other (Yama)");
    }
    is_apart
}

#[test]
fn the_memory_of_another_session_is_out_of_reach() {
    if lacks_sandbox() {
        return;
    }
    let server = obedient(&[]);
    let tried = attack(&server);
    for attempt in ATTEMPTS {
        let refused = ["Operation not permitted", "Permission denied"];
        let lines = refused.map(|why| format!("tried {attempt}: {why}\n"));
        assert!(lines.iter().any(|line| tried.contains(line)), "{tried}");
    }
}

/// The attack is one: without a sandbox, it succeeds.
#[test]
fn without_a_sandbox_the_memory_of_another_session_is_within_reach() {
    if is_kept_apart() {
        return;
    }
    let server = obedient(&[("TEST_SANDBOX", "off")]);
    let tried = attack(&server);
    for attempt in ATTEMPTS {
        assert!(
            tried.contains(&format!("tried {attempt}: done\n")),
            "{tried}"
        );
    }
}

#[test]
fn a_worker_that_is_ready_twice_is_killed_and_takes_its_session_only() {
    let server = obedient(&[]);
    let mut bystander = client(&server);
    let mut attacker = client(&server);
    attacker.encode(1, |e| unsafe { e.gl_depth_range(1.0, 0.0) });
    server.expect_log("tried to be ready again: done");
    server.expect_log("said what no worker says (that it is ready, out of turn), and is killed");
    assert!(attacker.end().is_none_or(|end| end.blame != Blame::Driver));
    works(&mut bystander);
    works(&mut client(&server));
}
