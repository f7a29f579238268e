//! Walls across machines. Network namespaces with cables between them stand for the machines.

mod support;

use mgn_tests::{Outcome, Running};
use support::networks::{self, Network};
use support::{all_are_there, config, Site, RUN_TIMEOUT};

/// The error message of a program that has lost a server. It is one line.
fn loss(outcome: &Outcome) -> String {
    let lines: Vec<&str> = outcome
        .stderr
        .lines()
        .filter(|line| line.starts_with("mgn"))
        .collect();
    assert_eq!(lines.len(), 1, "{}", outcome.describe());
    assert!(
        !matches!(outcome.status, None | Some(0)),
        "{}",
        outcome.describe()
    );
    lines[0].into()
}

/// X servers in different networks share the folder of their sockets, but do not see each other's
/// abstract sockets. They must not disturb each other.
#[test]
fn headless_runs_have_displays_of_their_own() {
    let Some(site) = Site::new() else { return };
    let networks = [Network::new(), Network::new(), Network::new()];
    let run = ["run", "--headless", "--frames", "50", "--", "glxgears"];
    let runs = networks
        .iter()
        .map(|network| Running::start(&mut site.mgn(network, &run)));
    for run in runs.collect::<Vec<_>>() {
        let outcome = run.finish(RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    }
}

#[test]
fn a_wall_has_near_and_far_servers() {
    let Some(mut site) = Site::new() else {
        return;
    };
    let [desk, one, two] = [(); 3].map(|()| Network::new());
    let cable = |name, far: &Network, n: u32| {
        let end = |host| format!("10.77.{n}.{host}/24 fd77:{n}::{host}/64");
        networks::plug(name, [(desk.pid(), &end(1)), (far.pid(), &end(2))]);
    };
    cable("one", &one, 21);
    cable("two", &two, 22);
    let home = site.home.clone();
    let homes = [
        &home,
        "tls:10.77.21.1:7400",
        "tls:[fd77:21::1]:7400",
        "tcp:10.77.22.1:7401",
        "tcp:[fd77:22::1]:7401",
    ];
    let near = format!("{home}-near");
    let mut rest = String::from("[[host]]\nname = \"any\"\n");
    for name in ["near", "tls4", "tls6", "tcp4", "tcp6"] {
        rest += &format!("[[server]]\nname = {name:?}\nhost = \"any\"\n");
    }
    for (name, servers) in [
        ("four", ["near", "tls4", "tcp4"]),
        ("six", ["tcp6", "near", "tls6"]),
    ] {
        rest += &format!("[[wall]]\nname = {name:?}\ngrid = [3, 1]\ntile_size = [100, 300]\n");
        rest += &format!("servers = {servers:?}\n");
    }
    let text = config(&site.token(), &homes, &rest);
    site.mothership(&desk, &text);
    for (network, name, listen, home) in [
        (&desk, "near", &near[..], homes[0]),
        (&one, "tls4", "tls:10.77.21.2:7500", homes[1]),
        (&one, "tls6", "tls:[fd77:21::2]:7500", homes[2]),
        (&two, "tcp4", "tcp:10.77.22.2:7500", homes[3]),
        (&two, "tcp6", "tcp:[fd77:22::2]:7500", homes[4]),
    ] {
        site.start(
            network,
            &[
                "server",
                "--name",
                name,
                "--listen",
                listen,
                "--mothership",
                home,
            ],
        );
    }
    site.until(&desk, all_are_there);
    site.verify(&desk, &["--wall", "four"]);
    site.verify(&desk, &["--wall", "six"]);
    // Without the mothership, the address of each server determines the transport.
    let by_hand = ["--server", &near, "--server", "tls:[fd77:21::2]:7500"];
    site.verify(&desk, &[&["--wall", "2x1"], &by_hand[..]].concat());

    let (running, ways) = site.draw(&desk, ["--wall", "six"]);
    let expected = [
        ("tcp", "tcp:[fd77:22::2]:7500"),
        ("shm", &near),
        ("tcp", "tls:[fd77:21::2]:7500"),
    ];
    assert_eq!(ways, expected.map(|(way, at)| (way.into(), at.into())));
    drop(running);
    let (running, _) = site.draw(&desk, ["--server", "tcp:[fd77:22::2]:7500"]);
    networks::ip(two.pid(), "link set two down");
    let said = loss(&running.finish(RUN_TIMEOUT));
    assert!(said.contains("[fd77:22::2]:7500"), "{said}");
}

#[test]
fn a_relay_carries_to_who_cannot_be_reached() {
    let Some(mut site) = Site::new() else {
        return;
    };
    let [desk, head, node] = [(); 3].map(|()| Network::new());
    let end = |n: u32, host| format!("10.77.{n}.{host}/24 fd77:{n}::{host}/64");
    networks::plug(
        "out",
        [(desk.pid(), &end(31, 1)), (head.pid(), &end(31, 2))],
    );
    networks::plug("in", [(head.pid(), &end(32, 1)), (node.pid(), &end(32, 2))]);
    let home = site.home.clone();
    let near = format!("{home}-near");
    let mut rest = String::from("[[host]]\nname = \"desk\"\n");
    rest += "[[server]]\nname = \"near\"\nhost = \"desk\"\n";
    rest += "[[host]]\nname = \"cluster\"\nrelay = \"tls:[fd77:31::2]:7600\"\n";
    rest += "[[server]]\nname = \"node\"\nhost = \"cluster\"\n";
    rest += "[[wall]]\nname = \"both\"\ngrid = [2, 1]\ntile_size = [150, 300]\n";
    rest += "servers = [\"near\", \"node\"]\n";
    let text = config(&site.token(), &[&home, "tls:10.77.31.1:7400"], &rest);
    site.mothership(&desk, &text);
    let (outside, inside) = ("tls:[fd77:31::2]:7600", "tls:10.77.32.1:7600");
    let mothership = "tls:10.77.31.1:7400";
    let carried = format!("home={mothership}");
    let listen = ["relay", "--listen", outside, "--listen", inside];
    // The relay asks the mothership for servers, and reaches the mothership by its address.
    let targets = ["--to", &carried, "--mothership", mothership];
    let relay = [&listen[..], &targets].concat();
    site.start(&head, &relay);
    let server = [
        "server",
        "--name",
        "node",
        "--listen",
        "tls:10.77.32.2:7500",
    ];
    let beside = ["server", "--name", "near", "--listen", &near];
    site.start(&desk, &[&beside[..], &["--mothership", &home]].concat());
    let through = format!("{inside}/home");
    site.start(&node, &[&server[..], &["--mothership", &through]].concat());
    site.until(&desk, all_are_there);

    let node_itself = ["--server", "tls:10.77.32.2:7500"];
    let arguments = [&["run"], &node_itself[..], &["--", "glxgears"]].concat();
    let outcome = Outcome::of(&mut site.mgn(&desk, &arguments), RUN_TIMEOUT);
    assert!(
        loss(&outcome).contains("unreachable"),
        "{}",
        outcome.describe()
    );
    site.verify(&desk, &["--wall", "both"]);
    site.verify(&desk, &["--server", &format!("{outside}/node")]);

    let at = format!("{outside}/node");
    let expected = [("shm", &near), ("tcp", &at)].map(|(way, at)| (way.into(), at.clone()));
    let (running, ways) = site.draw(&desk, ["--wall", "both"]);
    assert_eq!(ways, expected);
    drop(running);
    let (running, _) = site.draw(&desk, ["--server", &at]);
    // The relay ends.
    site.running.remove(1);
    let said = loss(&running.finish(RUN_TIMEOUT));
    assert!(said.contains(&at), "{said}");

    site.start(&head, &relay);
    site.until(&desk, all_are_there);
    let (running, _) = site.draw(&desk, ["--server", &at]);
    // The server's machine is lost.
    networks::ip(node.pid(), "link set in down");
    let said = loss(&running.finish(RUN_TIMEOUT));
    assert!(said.contains(&at), "{said}");
}
