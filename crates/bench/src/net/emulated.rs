//! Emulated slow links: two network namespaces with a virtual cable between them, which has a
//! limited rate and loses packets.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use mgn_launch::inspect::in_path;

use crate::child;
use crate::net::congestion;

/// The properties of a link. They are the same in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// Megabits per second, including all headers.
    pub mbit: u32,
    /// The percentage of packets that are lost, at random.
    pub loss: u32,
}

/// The two network namespaces, with their link. A process holds each namespace, which exists as
/// long as a process is in it. The holder ends when its input ends. So nothing is left of a link
/// when this is dropped, or when this process ends in any way.
pub struct Link {
    holders: [Child; 2],
}

/// The addresses of the two ends.
const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 77, 0, 1), Ipv4Addr::new(10, 77, 0, 2)];

/// The name of the interface at both ends.
pub const INTERFACE: &str = "wire";

/// The name of the interface of the second cable, if there is one, and its addresses.
pub const SECOND_INTERFACE: &str = "second";
const SECOND_ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 77, 1, 1), Ipv4Addr::new(10, 77, 1, 2)];

/// The capacity of the queue before the link, in milliseconds.
const QUEUE_MS: u32 = 50;

/// The minimum size in bytes of the burst for one timer interrupt, and of the queue: a few packets.
const BURST_MIN: u32 = 6_000;
const QUEUE_MIN: u32 = 30_000;

/// The length of a full packet on the link.
const PACKET: u32 = 1514;

const COMMAND_TIMEOUT: Duration = Duration::from_secs(20);

/// The required tools, and the Debian packages that contain them.
const TOOLS: [(&str, &str); 6] = [
    ("unshare", "util-linux"),
    ("nsenter", "util-linux"),
    ("ip", "iproute2"),
    ("tc", "iproute2"),
    ("nft", "nftables"),
    ("ethtool", "ethtool"),
];

/// The reason why links cannot be emulated on this machine, or `None` if they can.
pub fn missing_requirement() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("emulated links need root".to_string());
    }
    if let Some(why) = missing(|tool| in_path(tool.as_ref()).is_some()) {
        return Some(why);
    }
    congestion_control()
        .err()
        .map(|error| format!("emulated links need network namespaces: {error:#}"))
}

/// An error that names all missing tools and the packages that contain them. `None` if no tool is
/// missing.
fn missing(is_there: impl Fn(&str) -> bool) -> Option<String> {
    let missing = TOOLS.iter().filter(|(tool, _)| !is_there(tool));
    let (tools, mut packages): (Vec<&str>, Vec<&str>) = missing.copied().unzip();
    packages.dedup();
    let are = if tools.len() > 1 { "are" } else { "is" };
    (!tools.is_empty()).then(|| {
        format!(
            "emulated links need {}, which {are} not installed; on Debian: apt-get install {}",
            tools.join(", "),
            packages.join(" ")
        )
    })
}

/// The congestion control of TCP in a new network namespace.
pub fn congestion_control() -> Result<String> {
    let mut command = Command::new("unshare");
    let finished = child::output(
        command.args(["-n", "cat", congestion::FILE]),
        COMMAND_TIMEOUT,
    )?;
    Ok(finished.success("unshare")?.stdout.trim().to_string())
}

impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mbit {
            1000 => write!(f, "1 Gbit/s")?,
            mbit => write!(f, "{mbit} Mbit/s")?,
        }
        match self.loss {
            0 => Ok(()),
            loss => write!(f, " with {loss} % loss"),
        }
    }
}

impl Link {
    pub fn new(conditions: Conditions) -> Result<Link> {
        let link = Link {
            holders: [hold()?, hold()?],
        };
        link.add_cable(INTERFACE, ADDRESSES, conditions)?;
        for end in [0, 1] {
            link.run_at(end, &["ip link set lo up".to_string()])?;
            if conditions.loss > 0 {
                link.lose(end, conditions.loss)?;
            }
        }
        Ok(link)
    }

    /// Adds a second cable between the two ends, with the same rate, that loses nothing.
    pub fn add_second(&self, conditions: Conditions) -> Result<()> {
        self.add_cable(SECOND_INTERFACE, SECOND_ADDRESSES, conditions)
    }

    fn add_cable(
        &self,
        interface: &str,
        addresses: [Ipv4Addr; 2],
        conditions: Conditions,
    ) -> Result<()> {
        let [one, other] = self.holders.each_ref().map(Child::id);
        run(
            "ip",
            &format!(
                "link add {interface} netns {one} type veth peer name {interface} netns {other}"
            ),
        )?;
        let bytes = conditions.mbit * 125_000;
        let burst = (bytes / 250).max(BURST_MIN);
        let (mbit, queue) = (conditions.mbit, queue_bytes(conditions));
        for (end, address) in addresses.iter().enumerate() {
            let lines = [
                format!("ip addr add {address}/24 dev {interface}"),
                format!("ip link set {interface} up"),
                // Segmentation offload is off. With it, the link would delay and drop groups of
                // packets.
                format!("ethtool -K {interface} tso off gso off gro off"),
                format!(
                    "tc qdisc add dev {interface} root handle 1: tbf rate {mbit}mbit burst {burst} limit {queue}"
                ),
            ];
            self.run_at(end, &lines)
                .with_context(|| format!("a link of {conditions}"))?;
        }
        Ok(())
    }

    /// Loses this percentage of the packets that arrive at this end.
    fn lose(&self, end: usize, percent: u32) -> Result<()> {
        let per_mille = percent * 10;
        let lines = [
            "nft add table netdev lossy".to_string(),
            format!("nft add chain netdev lossy in {{ type filter hook ingress device {INTERFACE} priority 0 ; }}"),
            format!("nft add rule netdev lossy in meta l4proto {{ tcp, udp, icmp }} numgen random mod 1000 < {per_mille} drop"),
        ];
        self.run_at(end, &lines)
            .with_context(|| format!("a link with {percent} % loss"))
    }

    /// As [`Link::new`]. In addition, each end sends packets of a high priority before all others,
    /// like a router that knows service classes.
    pub fn with_priorities(conditions: Conditions) -> Result<Link> {
        let link = Link::new(conditions)?;
        // The length of this queue is in packets. The packets that fill it have the full length.
        let packets = queue_bytes(conditions).div_ceil(PACKET);
        for end in [0, 1] {
            let lines = [
                format!("ip link set {INTERFACE} txqueuelen {packets}"),
                format!("tc qdisc add dev {INTERFACE} parent 1:1 handle 10: pfifo_fast"),
            ];
            link.run_at(end, &lines)
                .with_context(|| format!("a link of {conditions} with priorities"))?;
        }
        Ok(link)
    }

    /// Runs commands at one of the ends.
    fn run_at(&self, end: usize, lines: &[String]) -> Result<()> {
        let before = self.enter_command(end).join(" ");
        lines.iter().try_for_each(|line| {
            run(
                "nsenter",
                &format!("{} {line}", &before["nsenter ".len()..]),
            )
        })
    }

    /// The command that starts another command at one of the ends.
    pub fn enter_command(&self, end: usize) -> Vec<String> {
        let pid = self.holders[end].id().to_string();
        ["nsenter", "-t", &pid, "-n"].map(String::from).to_vec()
    }

    pub fn address(end: usize) -> IpAddr {
        ADDRESSES[end].into()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        for holder in &mut self.holders {
            let _ = holder.kill();
            let _ = holder.wait();
        }
    }
}

/// The capacity of the queue before the link, in bytes.
fn queue_bytes(conditions: Conditions) -> u32 {
    (conditions.mbit * 125 * QUEUE_MS).max(QUEUE_MIN)
}

/// Starts a process in a new network namespace.
fn hold() -> Result<Child> {
    let mut holder = Command::new("unshare")
        .args(["-n", "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // The holder has its own process group, so that an interrupt from the terminal ends the
        // measurement before the link.
        .process_group(0)
        .spawn()
        .context("cannot run unshare")?;
    let network =
        |process: &str| std::fs::read_link(Path::new("/proc").join(process).join("ns/net"));
    let deadline = Instant::now() + COMMAND_TIMEOUT;
    // The holder is in the namespace of this process until `unshare` has made a new one.
    while network(&holder.id().to_string()).ok() == network("self").ok() {
        if holder.try_wait()?.is_some() || Instant::now() >= deadline {
            let _ = holder.kill();
            let _ = holder.wait();
            bail!("unshare made no network");
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(holder)
}

fn run(program: &str, arguments: &str) -> Result<()> {
    let mut command = Command::new(program);
    let finished = child::output(command.args(arguments.split(' ')), COMMAND_TIMEOUT)?;
    let name = format!("{program} {arguments}");
    finished.success(&name).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_missing_tools_are_named() {
        assert_eq!(missing(|_| true), None);
        assert_eq!(
            missing(|tool| !["nft", "ethtool"].contains(&tool)).unwrap(),
            "emulated links need nft, ethtool, which are not installed; on Debian: apt-get install nftables ethtool"
        );
        // A package that contains several tools is named once.
        let why = missing(|tool| tool != "ip" && tool != "tc").unwrap();
        assert!(why.ends_with("apt-get install iproute2"), "{why}");
    }

    #[test]
    fn a_link_can_prefer_packets() {
        if let Some(why) = missing_requirement() {
            eprintln!("SKIPPED: {why}");
            return;
        }
        let link = Link::with_priorities(Conditions { mbit: 10, loss: 0 }).unwrap();
        for end in [0, 1] {
            let enter = link.enter_command(end);
            let mut command = Command::new(&enter[0]);
            command.args(&enter[1..]);
            command.args(["ip", "-d", "addr", "show", INTERFACE]);
            let finished = child::output(&mut command, COMMAND_TIMEOUT).unwrap();
            // The queue's 62500 bytes, in packets.
            assert!(finished.stdout.contains("qlen 42"), "{finished:?}");
            let mut command = Command::new(&enter[0]);
            command.args(&enter[1..]);
            command.args(["tc", "qdisc", "show", "dev", INTERFACE]);
            let finished = child::output(&mut command, COMMAND_TIMEOUT).unwrap();
            assert!(
                finished.stdout.contains("pfifo_fast 10: parent 1:1"),
                "{finished:?}"
            );
        }
    }

    #[test]
    fn a_link_goes_with_its_owner() {
        if let Some(why) = missing_requirement() {
            eprintln!("SKIPPED: {why}");
            return;
        }
        assert!(!congestion_control().unwrap().is_empty());
        let conditions = Conditions { mbit: 10, loss: 10 };
        assert_eq!(conditions.to_string(), "10 Mbit/s with 10 % loss");
        let link = Link::new(conditions).unwrap();
        let said = |words: &str| {
            let mut command = Command::new("nsenter");
            let words = format!(
                "{} {words}",
                &link.enter_command(1).join(" ")["nsenter ".len()..]
            );
            let finished = child::output(command.args(words.split(' ')), COMMAND_TIMEOUT).unwrap();
            finished.success("nsenter").unwrap().stdout
        };
        let shaped = said("tc qdisc show dev wire");
        assert!(
            shaped.contains("tbf") && shaped.contains("rate 10Mbit"),
            "{shaped}"
        );
        let lossy = said("nft list ruleset");
        assert!(lossy.contains("numgen random mod 1000 < 100"), "{lossy}");
        let pids: Vec<u32> = link.holders.iter().map(Child::id).collect();
        drop(link);
        for pid in pids {
            assert!(!Path::new(&format!("/proc/{pid}/ns/net")).exists());
        }
    }
}
