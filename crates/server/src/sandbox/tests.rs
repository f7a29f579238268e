//! A child process confines itself as a worker does, and tries what a client that has taken over
//! the worker could try.

use super::*;
use mgn_wall::{DisplayPosition, Fit, Rect, Tile, Wall};
use std::env;
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Output};
use std::thread;

/// Names the folder in which a child finds what it is to try. Without it, the tests that are
/// children do nothing.
const FOLDER: &str = "MGN_TEST_CONFINED";
/// Names the part of the sandbox that a child does without.
const WITHOUT: &str = "MGN_TEST_WITHOUT";

/// The memory that a child may use.
const MEMORY: u64 = 1 << 20;

/// Runs the test of that name as a child.
fn child(name: &str, folder: &Path, without: &str) -> Output {
    let name = format!("sandbox::tests::{name}");
    Command::new(env::current_exe().unwrap())
        .args([&name, "--exact", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(WITHOUT, without)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        // Cargo sets this variable. While it is set, a worker of root stays root.
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .unwrap()
}

/// A folder of the user's, with a secret, and a process that listens at a socket.
struct User {
    folder: PathBuf,
    _listeners: (UnixListener, TcpListener),
    parent: Vec<u8>,
}

impl User {
    fn new(name: &str) -> User {
        let folder = env::temp_dir().join(format!("mgn-sandbox-{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join("allowed")).unwrap();
        fs::write(folder.join("secret"), "secret").unwrap();
        let unix = UnixListener::bind(folder.join("socket")).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let parent = b"of the parent's".to_vec();
        let about = format!(
            "{} {} {}",
            tcp.local_addr().unwrap().port(),
            parent.as_ptr() as usize,
            parent.len()
        );
        fs::write(folder.join("about"), about).unwrap();
        User {
            folder,
            _listeners: (unix, tcp),
            parent,
        }
    }

    fn run(&self, name: &str, without: &str) -> Result<(), String> {
        let output = child(name, &self.folder, without);
        assert!(!self.parent.is_empty());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match output.status.success() {
            true => Ok(()),
            false => Err(text(&output.stdout) + &text(&output.stderr)),
        }
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// These tests need what the newest kernels have.
fn is_skipped() -> bool {
    let has_all = files::landlock_version().is_some_and(|version| version >= 6);
    let is_skipped = !has_all || !calls::is_available();
    if is_skipped {
        println!(
            "SKIPPED: needs Landlock 6 and seccomp, and there is: {:?}",
            sandbox_parts()
        );
    }
    is_skipped
}

#[test]
fn a_confined_process_reaches_nothing_of_the_users() {
    if is_skipped() {
        return;
    }
    let user = User::new("strict");
    if let Err(said) = user.run("tries_everything", "") {
        panic!("{said}");
    }
}

/// Each part stops what it is there for: where seccomp is missing, Landlock stops what it can, and
/// the other way round.
#[test]
fn parts_of_the_sandbox_do_not_rely_on_each_other() {
    if is_skipped() {
        return;
    }
    let user = User::new("parts");
    for without in ["landlock", "seccomp"] {
        if let Err(said) = user.run("tries_what_either_stops", without) {
            panic!("without {without}: {said}");
        }
    }
    assert!(user
        .run("tries_what_either_stops", "landlock seccomp")
        .is_err());
    assert!(user.run("tries_everything", "landlock seccomp").is_err());
}

#[test]
fn a_confined_process_can_do_what_rendering_takes() {
    let user = User::new("able");
    if let Err(said) = user.run("does_what_rendering_takes", "") {
        panic!("{said}");
    }
}

/// Until its windows are open, a worker connects to displays. Then it connects to nothing.
#[test]
fn nothing_is_connected_to_once_windows_are_open() {
    if is_skipped() {
        return;
    }
    let user = User::new("windows");
    if let Err(said) = user.run("connects_until_windows_are_open", "") {
        panic!("{said}");
    }
}

#[test]
fn connects_until_windows_are_open() {
    let Some(about) = about() else { return };
    let profile = Profile {
        has_windows: true,
        ports: vec![about.port],
        ..Profile::default()
    };
    let Some(folder) = confined(&profile) else {
        return;
    };
    UnixStream::connect(folder.join("socket")).unwrap();
    TcpStream::connect(("127.0.0.1", about.port)).unwrap();
    tighten_once_shown(&profile, true);
    refused(UnixStream::connect(folder.join("socket")));
    refused(TcpStream::connect(("127.0.0.1", about.port)));
    refused(UdpSocket::bind("127.0.0.1:0"));
    refused(UnixDatagram::unbound());
    for (call, error) in mgn_sys::process::try_harm() {
        assert_eq!(error, Some(libc::EPERM), "{call}");
    }
}

/// The driver of a device may do more, but only to its own process.
#[test]
fn a_driver_of_a_device_disturbs_no_other_process() {
    if is_skipped() {
        return;
    }
    let user = User::new("device");
    if let Err(said) = user.run("tries_what_a_driver_of_a_device_may", "") {
        panic!("{said}");
    }
    let without = user.run("tries_what_a_driver_of_a_device_may", "seccomp");
    assert!(without.is_err());
}

#[test]
fn tries_what_a_driver_of_a_device_may() {
    if env::var_os(FOLDER).is_none() {
        return;
    }
    identity::forbid_privileges().unwrap();
    if !env::var(WITHOUT).unwrap().contains("seccomp") {
        calls::before_driver(&Profile::default()).unwrap();
        calls::after_driver(&Profile::default(), false, true).unwrap();
    }
    let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get();
    for (call, error) in mgn_sys::process::try_to_disturb(parent.unsigned_abs()) {
        let expected = (!call.is_empty()).then_some(libc::EPERM);
        assert_eq!(error, expected, "{call}");
    }
}

/// Confines this process if it is such a child.
fn confined(profile: &Profile) -> Option<PathBuf> {
    let folder = PathBuf::from(env::var_os(FOLDER)?);
    let without = env::var(WITHOUT).unwrap();
    let has = |part: &str| !without.contains(part);
    if has("landlock") && has("seccomp") {
        let confined = confine(profile).unwrap();
        println!("{confined}");
        tighten(profile, true, MEMORY, !profile.has_windows).unwrap();
        return Some(folder);
    }
    identity::forbid_privileges().unwrap();
    if has("landlock") {
        files::enforce(files::rules(profile, None).unwrap()).unwrap();
    }
    if has("seccomp") {
        calls::before_driver(profile).unwrap();
        calls::after_driver(profile, true, true).unwrap();
    }
    Some(folder)
}

/// Checks that something was refused, and did not fail for another reason.
#[track_caller]
fn refused<T>(result: std::io::Result<T>) {
    let kind = result.map(drop).expect_err("is possible").kind();
    assert_eq!(kind, ErrorKind::PermissionDenied);
}

struct About {
    port: u16,
    address: usize,
    len: usize,
}

/// The targets that the parent has prepared for the child, read before the child is confined.
fn about() -> Option<About> {
    let folder = PathBuf::from(env::var_os(FOLDER)?);
    let text = fs::read_to_string(folder.join("about")).unwrap();
    let numbers: Vec<usize> = text.split(' ').map(|n| n.parse().unwrap()).collect();
    Some(About {
        port: numbers[0] as u16,
        address: numbers[1],
        len: numbers[2],
    })
}

#[test]
fn tries_what_either_stops() {
    let Some(about) = about() else { return };
    if confined(&Profile::default()).is_none() {
        return;
    }
    refused(TcpStream::connect(("127.0.0.1", about.port)));
    refused(Command::new("/bin/true").status());
    let parent = rustix::process::getppid().unwrap();
    let signal = rustix::process::kill_process(parent, rustix::process::Signal::CONT);
    refused(signal.map_err(Into::into));
}

#[test]
fn tries_everything() {
    let Some(about) = about() else { return };
    let Some(folder) = confined(&Profile::default()) else {
        return;
    };
    let threads = [(); 2].map(|()| {
        let (folder, about) = (folder.clone(), (about.port, about.address, about.len));
        // Not only the thread that has confined itself.
        thread::spawn(move || try_everything(&folder, about))
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

fn try_everything(folder: &Path, (port, address, len): (u16, usize, usize)) {
    // Files of the user's.
    refused(File::open(folder.join("secret")));
    refused(File::options().append(true).open(folder.join("secret")));
    refused(File::create(folder.join("new")));
    refused(fs::create_dir(folder.join("more")));
    refused(fs::remove_file(folder.join("secret")));
    refused(fs::read_dir(folder));
    refused(fs::hard_link(folder.join("secret"), folder.join("link")));
    refused(File::open("/etc/shadow"));
    // Other processes.
    refused(TcpStream::connect(("127.0.0.1", port)));
    refused(TcpListener::bind("127.0.0.1:0"));
    refused(UdpSocket::bind("127.0.0.1:0"));
    refused(UnixStream::connect(folder.join("socket")));
    refused(UnixDatagram::unbound());
    refused(UnixListener::bind(folder.join("own")));
    // Programs.
    refused(Command::new("/bin/true").status());
    // The parent.
    let parent = rustix::process::getppid().unwrap();
    let pid = parent.as_raw_nonzero().get();
    refused(mgn_sys::process::peek(pid.unsigned_abs(), address, len));
    refused(mgn_sys::process::trace(pid.unsigned_abs()));
    refused(File::open(format!("/proc/{pid}/mem")));
    refused(fs::read(format!("/proc/{pid}/environ")));
    let signal = rustix::process::kill_process(parent, rustix::process::Signal::CONT);
    refused(signal.map_err(Into::into));
    let pidfd = rustix::process::pidfd_open(parent, rustix::process::PidfdFlags::empty());
    refused(pidfd.map_err(Into::into));
    // Rarely used system calls.
    for (call, error) in mgn_sys::process::try_harm() {
        assert_eq!(error, Some(libc::EPERM), "{call}");
    }
}

#[test]
fn does_what_rendering_takes() {
    let (mut near, mut far) = UnixStream::pair().unwrap();
    if env::var_os(FOLDER).is_none() {
        return;
    }
    let folder = PathBuf::from(env::var_os(FOLDER).unwrap());
    let profile = Profile {
        stages: vec![folder.join("allowed")],
        ..Profile::default()
    };
    confined(&profile);
    let statm = || fs::read_to_string("/proc/self/statm").unwrap();
    assert!(!statm().is_empty());
    assert!(rustix::param::page_size() > 0);
    assert!(mgn_sys::cpu::runnable().is_some());
    let cache = PathBuf::from(env::var_os("XDG_CACHE_HOME").unwrap());
    fs::create_dir_all(cache.join("a/b")).unwrap();
    fs::write(cache.join("a/draft"), "shader").unwrap();
    fs::rename(cache.join("a/draft"), cache.join("a/b/shader")).unwrap();
    fs::remove_file(cache.join("a/b/shader")).unwrap();
    fs::write(folder.join("allowed/log"), "log").unwrap();
    refused(fs::write(folder.join("log"), "log"));
    let shared = mgn_sys::memory::create("mgn-test", 4096).unwrap();
    mgn_sys::Mapping::new(&shared, 4096, mgn_sys::Protection::ReadWrite).unwrap();
    near.write_all(b"x").unwrap();
    far.read_exact(&mut [0]).unwrap();
    let thread = thread::Builder::new().name("other".into());
    let read = thread.spawn(move || statm().len()).unwrap().join();
    assert!(read.unwrap() > 0);
    assert!(File::open("/usr/share").is_ok());
    assert!(File::options().write(true).open("/dev/null").is_ok());
}

#[test]
fn no_file_in_memory_is_longer_than_a_session_may_use() {
    let user = User::new("lengths");
    if let Err(said) = user.run("makes_long_files", "") {
        panic!("{said}");
    }
}

#[test]
fn makes_long_files() {
    if confined(&Profile::default()).is_none() {
        return;
    }
    let shared = mgn_sys::memory::create("mgn-test", MEMORY as usize).unwrap();
    assert!(mgn_sys::memory::create("mgn-test", MEMORY as usize + 1).is_err());
    for fd in [
        &shared,
        &rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::empty()).unwrap(),
    ] {
        let longer = rustix::fs::ftruncate(fd, MEMORY + 1);
        assert!(longer.is_err());
        let more = rustix::io::pwrite(fd, &[1; 4096], MEMORY);
        assert!(more.is_err());
    }
    let raised = rustix::process::setrlimit(
        rustix::process::Resource::Fsize,
        rustix::process::Rlimit {
            current: None,
            maximum: None,
        },
    );
    assert!(raised.is_err());
}

#[test]
fn profiles_have_what_a_tile_is_shown_on() {
    let display = |display: &str| Target::Window {
        display: display.into(),
        place: DisplayPosition::Fullscreen,
    };
    let shown = Shown {
        wall: Wall {
            name: "wall".into(),
            size: (4, 4),
            fit: Fit::OneToOne,
            windows: Default::default(),
            tiling: Default::default(),
            genlock: false,
            tiles: vec![Tile::new("left", Rect::new(0, 0, 4, 4))],
        },
        tile: 0,
    };
    let general = Profile::default();
    let of = |targets: &[Target]| general.showing(&shown, targets.iter());
    assert_eq!(of(&[Target::Program]), general);
    let files = of(&[Target::Files("/pictures".into())]);
    assert_eq!(files.pictures, [Path::new("/pictures/left")]);
    assert!(files.writes() && !files.has_windows);
    let windows = of(&[display(":1.0"), display("far:2")]);
    assert_eq!(windows.ports, [6001, 6002]);
    assert!(windows.has_windows && !windows.writes());
    assert_eq!(of(&[Target::Viewer("tls:head:7700".into())]), general);
}
