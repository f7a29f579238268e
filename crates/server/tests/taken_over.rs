//! The abilities of a client that has taken over the worker that serves it: a driver obeys it.
// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

#[macro_use]
mod support;

use mgn_fabric::Transport;
use mgn_server::Abilities;
use mgn_wire::Blame;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use support::{lacks_sandbox, works, Client, Server};

processes!();

/// An EGL library whose glDepthRange attacks as its arguments say, and logs how each attempt went.
/// With 1 and 0, it sends the server the message `READY`. With -1 and a port, it tries to open the
/// file `FILE`, to connect to the port, and to start a program. With a process id and an address,
/// it tries to read and trace that process. With -2, it writes `FORGED` lines to standard error.
const OBEDIENT_EGL: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
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

static void reach_out(int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd;

    say("a file", open(FILE, O_RDONLY));
    fd = socket(AF_INET, SOCK_STREAM, 0);
    say("an address", fd < 0 ? fd : connect(fd, (struct sockaddr *)&address, sizeof address));
    /* If this succeeds, the program says so. */
    say("a program", execl("/bin/sh", "sh", "-c", "echo tried a program: done >&2", (char *)0));
}

static void forge(void)
{
    int i;

    for (i = 0; i < FORGED; i++)
        fprintf(stderr, "INFO session ended event=\"end\" session=%d\n", i);
}

static void obey(double number, double address)
{
    static const char ready[] = { READY };

    if (number == 1)
        say("to be ready again", write(0, ready, sizeof ready));
    else if (number == -1)
        reach_out((int)address);
    else if (number == -2)
        forge();
    else if (number > 1)
        read_memory((int)number, (void *)(long)address);
}

void *eglGetProcAddress(const char *name)
{
    void *(*real)(const char *) = (void *(*)(const char *))dlsym(dlopen(REAL, RTLD_NOW), "eglGetProcAddress");

    return strcmp(name, "glDepthRange") == 0 ? (void *)obey : real(name);
}
"#;

/// More lines than a worker may write.
const FORGED: usize = 10_000;

/// A worker's message once its driver is open.
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
    let source = OBEDIENT_EGL
        .replace("READY }", &format!("{} }}", ready.join(", ")))
        .replace("FORGED", &FORGED.to_string())
        .replace("FILE,", &format!("{:?},", secret_file()));
    Server::with_egl(&source, settings).unwrap()
}

/// A file of this test that every user may read.
fn secret_file() -> PathBuf {
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    std::env::temp_dir().join(format!("mgn-taken-over-{}-{test}", std::process::id()))
}

/// The attempts and how they went, a line for each.
fn tried(server: &Server) -> String {
    let log = server.log();
    let said = log.lines().filter_map(|line| {
        let (worker, said) = line.split_once(": ")?;
        worker.starts_with("worker ").then_some(said)
    });
    let tried = said.filter(|line| line.starts_with("tried"));
    tried.map(|line| format!("{line}\n")).collect()
}

/// Lets the driver try to open a file, to connect to this process, and to start a program.
fn reach_out(server: &Server) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    fs::write(secret_file(), b"of the user's").unwrap();
    let attacker = client(server);
    attacker.encode(1, |e| {
        e.gl_depth_range(-1.0, f64::from(port));
    });
    server.expect_log("tried a program");
    fs::remove_file(secret_file()).unwrap();
    tried(server)
}

fn client(server: &Server) -> Client {
    let mut client = server.client(Transport::Shm);
    client.set_up();
    works(&mut client);
    client
}

/// Lets the driver try to read the memory of another session's worker.
fn attack(server: &Server) -> String {
    let before = server.workers();
    let _victim = client(server);
    // The worker of the first session was open before it came.
    let pid = before[0];
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let address = maps.split('-').next().unwrap();
    let address = i64::from_str_radix(address, 16).unwrap();
    let attacker = client(server);
    attacker.encode(1, |e| {
        e.gl_depth_range(f64::from(pid), address as f64);
    });
    server.expect_log("tried ptrace");
    tried(server)
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

fn all_are_refused(tried: &str, attempts: &[&str]) {
    for attempt in attempts {
        let refused = ["Operation not permitted", "Permission denied"];
        let lines = refused.map(|why| format!("tried {attempt}: {why}\n"));
        assert!(lines.iter().any(|line| tried.contains(line)), "{tried}");
    }
}

fn all_succeed(tried: &str, attempts: &[&str]) {
    for attempt in attempts {
        assert!(
            tried.contains(&format!("tried {attempt}: done\n")),
            "{tried}"
        );
    }
}

const WAYS_OUT: [&str; 3] = ["a file", "an address", "a program"];

#[test]
fn files_addresses_and_programs_are_out_of_reach() {
    if lacks_sandbox() {
        return;
    }
    let server = obedient(&[]);
    all_are_refused(&reach_out(&server), &WAYS_OUT);
}

#[test]
fn without_a_sandbox_files_addresses_and_programs_are_within_reach() {
    let server = obedient(&[("TEST_SANDBOX", "off")]);
    all_succeed(&reach_out(&server), &WAYS_OUT);
}

#[test]
fn the_memory_of_another_session_is_out_of_reach() {
    if lacks_sandbox() {
        return;
    }
    let server = obedient(&[]);
    all_are_refused(&attack(&server), &ATTEMPTS);
}

/// The attack is one: without a sandbox, it succeeds.
#[test]
fn without_a_sandbox_the_memory_of_another_session_is_within_reach() {
    if is_kept_apart() {
        return;
    }
    let server = obedient(&[("TEST_SANDBOX", "off")]);
    all_succeed(&attack(&server), &ATTEMPTS);
}

#[test]
fn a_worker_that_is_ready_twice_is_killed_and_takes_its_session_only() {
    let server = obedient(&[]);
    let mut bystander = client(&server);
    let mut attacker = client(&server);
    attacker.encode(1, |e| e.gl_depth_range(1.0, 0.0));
    // The worker may be killed before it can say that it has tried.
    server.expect_log(
        "sent an invalid message (it reported that it is ready, out of turn), and is killed",
    );
    assert!(attacker.end().is_none_or(|end| end.blame != Blame::Driver));
    works(&mut bystander);
    works(&mut client(&server));
}

#[test]
fn a_worker_cannot_write_as_the_server_nor_fill_the_log() {
    let server = obedient(&[]);
    let mut attacker = client(&server);
    attacker.encode(1, |e| e.gl_depth_range(-2.0, 0.0));
    works(&mut attacker);
    drop(attacker);
    server.expect_log(" more lines");
    let log = server.log();
    let forged = |line: &&str| line.contains("session ended event=");
    let forged: Vec<&str> = log.lines().filter(forged).collect();
    assert!((1..=200).contains(&forged.len()), "{}", forged.len());
    for line in forged {
        assert!(line.starts_with("worker "), "{line}");
    }
    works(&mut client(&server));
}
