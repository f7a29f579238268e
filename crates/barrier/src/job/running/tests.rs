//! Tests of what strangers can send to the sockets of a barrier.

use std::net::UdpSocket;
use std::sync::atomic::AtomicU32;

use mgn_fabric::job::{Job, Member as Process};

use super::*;
use crate::Combine;

/// The time limit of waits. It is so long that only an event that never comes takes longer.
const WAIT_TIMEOUT: Option<Duration> = Some(Duration::from_secs(60));

/// The two processes of a new job.
fn processes() -> [Arc<Process>; 2] {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("running-{}-{number}", std::process::id());
    [0, 1].map(|rank| {
        let hosts = vec!["localhost".to_owned(); 2];
        Arc::new(Job::new(&name, rank, hosts).unwrap().join().unwrap())
    })
}

fn options() -> Options {
    Options {
        kind: Kind::Udp,
        ..Options::default()
    }
}

fn open(process: &Arc<Process>) -> Result<Running, OpenError> {
    let group = Group::of(process, &options())?;
    Running::open(Box::new(process.clone()), group, &options())
}

/// Opens a barrier over datagrams in both processes.
fn pair(processes: &[Arc<Process>; 2]) -> [Running; 2] {
    let [one, other] = processes;
    thread::scope(|scope| {
        let one = scope.spawn(|| open(one).unwrap());
        let other = open(other).unwrap();
        [one.join().unwrap(), other]
    })
}

fn address(state: &State) -> SocketAddr {
    state.datagrams.as_ref().unwrap().address().unwrap()
}

/// An arrival of the second member, as a stranger makes it who does not know the secret.
fn forged(state: &State) -> Vec<u8> {
    let view = View::new([0, 1].map(Id)).unwrap();
    let (name, resending) = (state.open.name, Resending::default());
    let mut stranger = Udp::new(name, Id(1), &view, Combine::Any, b"", resending).unwrap();
    stranger.arrive(Duration::ZERO, 0).unwrap();
    stranger.poll_transmit().unwrap().packet
}

/// A stranger's datagrams lie in the queue before an arrival. The arrival is handled in the same
/// call, and in the same turn of the thread.
#[test]
fn datagrams_of_strangers_keep_nothing_waiting() {
    let processes = processes();
    let [root, other] = pair(&processes);
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    for epoch in 0..4 {
        // The thread does nothing while the state is locked.
        let mut state = root.state();
        let forged = forged(&state);
        for n in 0..120 {
            let packet = if n % 2 == 0 { &b"x"[..] } else { &forged };
            stranger.send_to(packet, address(&state)).unwrap();
        }
        state.arrive(1).unwrap();
        other.arrive(2).unwrap();
        // The system may deliver datagrams a little later.
        thread::sleep(Duration::from_millis(20));
        let timeout = match epoch % 2 {
            0 => Some(Duration::ZERO),
            _ => {
                assert!(state.turn(|| false));
                assert_eq!(state.outcome, Some(Ok(3)));
                WAIT_TIMEOUT
            }
        };
        assert_eq!(state.wait(timeout), Ok(3));
        drop(state);
        assert_eq!(other.wait(WAIT_TIMEOUT), Ok(3));
    }
}
