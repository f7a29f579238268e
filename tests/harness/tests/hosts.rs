//! Walls of a program on one machine, with renderers on other machines, over TCP.

mod support;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use mgn_tests::frames::{drawing, picture, some_more, wait_for};
use mgn_tests::{still, still_gears, wall_file, Head, Live, Running, Tile, Watcher};
use mgn_verify::Picture;
use rustix::process::Signal;
use rustix::thread::{move_into_link_name_space, LinkNameSpaceType};
use support::networks::{self, Network};
use support::{all_are_there, config, Site, RUN_TIMEOUT};

/// A desk with a cable to each of several hosts. Hosts with even numbers have IPv4 addresses, and
/// hosts with odd numbers have IPv6 addresses.
struct Hosts {
    site: Site,
    desk: Network,
    all: Vec<Network>,
}

impl Hosts {
    /// `None`, with a message, if networks cannot be made here.
    fn new(count: usize) -> Option<Hosts> {
        let site = Site::new()?;
        let desk = Network::new();
        let plugged = |n: usize| {
            let host = Network::new();
            let end = |side| format!("10.77.{n}.{side}/24 fd77:{n}::{side}/64");
            let ends = [(desk.pid(), &*end(1)), (host.pid(), &*end(2))];
            networks::plug(&format!("host{n}"), ends);
            host
        };
        let all = (0..count).map(plugged).collect();
        Some(Hosts { site, desk, all })
    }

    /// The address of the desk for a host.
    fn desk(n: usize) -> String {
        Hosts::number(n, 1)
    }

    /// The address at which a host's server listens.
    fn address(n: usize) -> String {
        format!("tcp:{}:7500", Hosts::number(n, 2))
    }

    fn number(n: usize, side: u32) -> String {
        match n % 2 {
            0 => format!("10.77.{n}.{side}"),
            _ => format!("[fd77:{n}::{side}]"),
        }
    }

    /// Starts a host's server, and waits until it listens.
    fn serve(&mut self, n: usize, flags: &[&str]) {
        let address = Hosts::address(n);
        let arguments = [&["server", "--listen", &address], flags].concat();
        self.site.start(&self.all[n], &arguments);
        until("it listens", || {
            let sockets = ["tcp", "tcp6"].map(|kind| {
                fs::read_to_string(format!("/proc/{}/net/{kind}", self.all[n].pid())).unwrap()
            });
            let listens = |line: &str| line.contains(":1D4C ") && line.contains(":0000 0A ");
            sockets.iter().any(|all| all.lines().any(listens))
        });
    }

    /// A command that runs `mgn` at the desk, without arguments.
    fn mgn(&self) -> Command {
        self.site.mgn(&self.desk, &[])
    }

    fn folder(&self) -> PathBuf {
        self.site.stage.folder()
    }
}

/// Does some work in a network.
fn inside(network: &Network, work: impl FnOnce() + Send) {
    let there = File::open(format!("/proc/{}/ns/net", network.pid())).unwrap();
    thread::scope(|scope| {
        let done = scope.spawn(|| {
            move_into_link_name_space(there.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            work();
        });
        done.join().unwrap();
    });
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < RUN_TIMEOUT, "it does not come: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn finished(running: Running) {
    let outcome = running.finish(RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
}

/// A tile of a wall: its left edge, width and height, and the TOML value for where it is shown.
fn tile(name: &str, [left, width, height]: [u32; 3], present: &str) -> Tile {
    (name.into(), [left, 0, width, height], present.into())
}

/// After a host is lost, the other hosts continue. A server that comes on line on another host gets
/// its state from one of them.
#[test]
fn a_host_that_goes_away_is_replaced_by_another() {
    let Some(mut hosts) = Hosts::new(3) else {
        return;
    };
    let homes = [0, 1, 2].map(|n| format!("tcp:{}:7400", Hosts::desk(n)));
    let mut listen = vec![&*hosts.site.home];
    listen.extend(homes.iter().map(String::as_str));
    let mut rest = String::from("[[host]]\nname = \"any\"\n");
    for name in ["left", "right"] {
        rest += &format!("[[server]]\nname = {name:?}\nhost = \"any\"\n");
    }
    rest += "[[wall]]\nname = \"desk\"\ngrid = [2, 1]\ntile_size = [100, 100]\n";
    rest += "servers = [\"left\", \"right\"]\n";
    let text = config(&hosts.site.token(), &listen, &rest);
    hosts.site.mothership(&hosts.desk, &text);
    hosts.site.until(&hosts.desk, |_| true);
    for (n, name) in ["left", "right"].into_iter().enumerate() {
        hosts.serve(n, &["--name", name, "--mothership", &homes[n]]);
    }
    hosts.site.until(&hosts.desk, all_are_there);
    let (disturbed, undisturbed) = (hosts.folder(), hosts.folder());
    let running = drawing(hosts.mgn(), &disturbed, &["--wall", "desk"], 1_000_000);
    wait_for(&disturbed, true);
    // This is the mothership, which was started first.
    hosts.site.running[2].signal(Signal::KILL);
    wait_for(&disturbed, false);
    hosts.serve(2, &["--name", "spare", "--mothership", &homes[2]]);
    wait_for(&disturbed, true);
    let last = some_more(&disturbed);
    running.signal(Signal::TERM);
    let outcome = running.finish(RUN_TIMEOUT);
    let wanted = "tile 1,0 has a render server again";
    assert!(outcome.stderr.contains(wanted), "{}", outcome.describe());
    let one = drawing(hosts.site.stage.mgn(), &undisturbed, &[], last as u32);
    finished(one);
    assert_eq!(picture(&disturbed, last), picture(&undisturbed, last));
}

/// Pages and pictures can be seen from other hosts of the network. Pictures need the token.
#[test]
fn a_viewer_is_reached_from_other_hosts() {
    /// The code that closes the connection of a page with a wrong token.
    const WRONG_TOKEN: u16 = 4001;
    let Some(mut hosts) = Hosts::new(2) else {
        return;
    };
    (0..2).for_each(|n| hosts.serve(n, &[]));
    for n in 0..2 {
        let mut command = hosts.mgn();
        let at = format!("--viewer=tcp:{}:0", Hosts::desk(n));
        command.args(["run", &at, "--wall", "2x1"]);
        command.args(["--server", &Hosts::address(n), "--", "glxgears"]);
        let live = Live::start(command, 1);
        let (page, _) = live.urls[0].split_once("/#").unwrap();
        let place = page.strip_prefix("http://").unwrap();
        inside(&hosts.all[n], || {
            let mut stream = TcpStream::connect(place).unwrap();
            let request = format!("GET / HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
            Watcher::open(&live.urls[0], 2, RUN_TIMEOUT).sees(2);
            let stranger = Watcher::open(&format!("{page}/#token=0123"), 2, RUN_TIMEOUT);
            assert_eq!(stranger.is_left(), Some(WRONG_TOKEN));
        });
    }
}

/// Each server shows its tile in its own places, which its owner has allowed.
#[test]
fn tiles_are_shown_where_their_servers_are() {
    let Some(mut hosts) = Hosts::new(2) else {
        return;
    };
    let shown = hosts.folder();
    let mut xvfb = Command::new("nsenter");
    let there = hosts.all[1].pid().to_string();
    xvfb.args(["-n", "-t", &there, "Xvfb"]);
    let head = Head::by(xvfb);
    let display = head.display();
    let files = format!("files={}", shown.display());
    hosts.serve(0, &["--present", &files]);
    hosts.serve(1, &["--present", &format!("window={display}")]);
    let in_file = format!(r#"{{ files = "{}" }}"#, shown.display());
    let on_head = format!(r#"{{ window = "{display}" }}"#);
    let tiles = [
        tile("left", [0, 150, 300], &in_file),
        tile("right", [150, 150, 300], &on_head),
    ];
    let mut command = hosts.mgn();
    command.args(["run", "--wall", &wall_file("far", [300, 300], "", &tiles)]);
    for server in [0, 1].map(Hosts::address) {
        command.args(["--server", &server]);
    }
    command.args(["--", "/usr/bin/env"]);
    command.args(still().assignments(None));
    let running = Running::start(command.arg("glxgears"));
    let want = still_gears(&hosts.site.stage, &[]);
    let half = |left: usize| {
        let row = |y: usize| &want.pixels[(y * 300 + left) * 3..][..150 * 3];
        Picture {
            width: 150,
            height: 300,
            pixels: (0..300).flat_map(row).copied().collect(),
        }
    };
    until("the left one in a file", || {
        let files = fs::read_dir(shown.join("left"));
        let last = files.into_iter().flatten().flatten().map(|f| f.path());
        let last = last.max().map(|path| Picture::read(&path));
        last.is_some_and(|picture| picture.is_ok_and(|picture| picture == half(0)))
    });
    let right = half(150);
    until("the right one on a screen", || {
        head.see([0, 0, 150, 300]) == right
    });
    running.signal(Signal::TERM);
    running.finish(RUN_TIMEOUT);
    until("the window goes", || head.windows() == 0);
}

/// Stages of servers on other hosts change and count the commands, like stages on this host.
#[test]
fn stages_work_where_servers_are() {
    let Some(mut hosts) = Hosts::new(2) else {
        return;
    };
    let folder = hosts.folder();
    let table = |n: usize| folder.join(format!("calls-{n}"));
    for n in 0..2 {
        let counts = format!("histogram:file={}", table(n).display());
        hosts.serve(n, &["--spu", "wireframe", "--spu", &counts]);
    }
    let [one, other] = [0, 1].map(Hosts::address);
    let far = ["--wall", "2x1", "--server", &one, "--server", &other];
    let picture = |wall: &[&str]| {
        let folder = hosts.folder();
        finished(drawing(hosts.mgn(), &folder, wall, 10));
        // The last frames may be under way when a program ends.
        picture(&folder, 5)
    };
    let lines = picture(&far);
    assert!(lines == picture(&["--spu", "wireframe"]));
    assert!(lines != picture(&[]));
    for n in 0..2 {
        let said = || fs::read_to_string(table(n)).unwrap_or_default();
        until("a table", || said().starts_with("all "));
        assert!(said().contains(" glPolygonMode"), "{}", said());
    }
}

/// One program is shown on the walls of several hosts.
#[test]
fn walls_of_several_hosts_show_one_program() {
    let Some(mut hosts) = Hosts::new(2) else {
        return;
    };
    let shown = hosts.folder();
    hosts.serve(0, &[]);
    let files = format!("files={}", shown.display());
    hosts.serve(1, &["--present", &files]);
    let in_file = format!(r#"{{ files = "{}" }}"#, shown.display());
    let beamer = wall_file(
        "far",
        [200, 100],
        "",
        &[tile("all", [0, 200, 100], &in_file)],
    );
    let [one, other] = [0, 1].map(Hosts::address);
    let (saved, direct) = (hosts.folder(), hosts.folder());
    let walls = ["--wall", "2x1", "--wall", &beamer];
    let servers = ["--server", &one, "--server", &other, "--server", &other];
    let flags = [&walls[..], &servers].concat();
    finished(drawing(hosts.mgn(), &saved, &flags, 10));
    finished(drawing(hosts.mgn(), &direct, &[], 10));
    for frame in 1..=5 {
        let want = picture(&direct, frame);
        assert!(picture(&saved, frame) == want, "frame {frame}");
        let there: &Path = &shown.join("all");
        assert!(picture(there, frame) == want, "frame {frame} of the other");
    }
}
