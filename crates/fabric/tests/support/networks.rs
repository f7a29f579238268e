//! Network namespaces for processes, and links between them.

use std::process::{Child, Command, Stdio};

/// Whether network namespaces can be used. If they cannot, prints that the test is skipped.
pub fn are_there() -> bool {
    let try_one = ["-n", "sh", "-c", "nsenter -t $$ -n ip link"];
    let tried = Command::new("unshare").args(try_one).output();
    let are_there = tried.is_ok_and(|tried| tried.status.success());
    if !are_there {
        eprintln!("SKIPPED: network namespaces require root, unshare, nsenter and ip");
    }
    are_there
}

fn run(program: &str, arguments: &str) {
    let done = Command::new(program).args(arguments.split(' ')).output();
    let done = done.unwrap_or_else(|error| panic!("{program}: {error}"));
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{program} {arguments}: {said}");
}

/// Runs the `ip` command in the network of a process.
pub fn ip(pid: u32, what: &str) {
    run("nsenter", &format!("-t {pid} -n ip {what}"));
}

/// Connects the networks of two processes. Both interfaces get this name, and these addresses with
/// their prefix lengths.
pub fn plug(name: &str, ends: [(u32, &str); 2]) {
    let [one, other] = ends.map(|(pid, _)| pid);
    run(
        "ip",
        &format!("link add {name} netns {one} type veth peer name {name} netns {other}"),
    );
    for (pid, addresses) in ends {
        for address in addresses.split(' ') {
            // The address is unique, so do not wait for duplicate address detection.
            let at_once = if address.contains(':') { " nodad" } else { "" };
            ip(pid, &format!("addr add {address} dev {name}{at_once}"));
        }
        ip(pid, &format!("link set {name} up"));
    }
}

/// A network for several processes. Dropping this value ends the network.
pub struct Network(Child);

impl Network {
    pub fn new() -> Network {
        let mut command = Command::new("unshare");
        command.args(["-n", "cat"]).stdin(Stdio::piped());
        let network = Network(command.stdout(Stdio::null()).spawn().unwrap());
        let of = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/net")).unwrap();
        while of(&network.pid().to_string()) == of("self") {
            std::thread::yield_now();
        }
        ip(network.pid(), "link set lo up");
        network
    }

    /// The ID of a process in the network.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
