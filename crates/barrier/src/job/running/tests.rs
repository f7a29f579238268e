//! Tests of what strangers can send to the sockets of a barrier.

use std::net::UdpSocket;
use std::sync::atomic::AtomicU32;

use mgn_fabric::job::{Job, Member as Process};
use mgn_fabric::Token;
use mgn_sys::interfaces::interfaces;

use super::*;
use crate::Combine;

/// The time limit of waits. It is so long that only an event that never comes takes longer.
const WAIT_TIMEOUT: Option<Duration> = Some(Duration::from_secs(60));

/// The two processes of a new job.
fn processes() -> [Arc<Process>; 2] {
    with_token(None)
}

fn with_token(token: Option<&Token>) -> [Arc<Process>; 2] {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("running-{}-{number}", std::process::id());
    [0, 1].map(|rank| {
        let hosts = vec!["localhost".to_owned(); 2];
        let job = Job::new(&name, rank, hosts).unwrap();
        let job = match token {
            Some(token) => job.token(token.clone()),
            None => job,
        };
        Arc::new(job.join().unwrap())
    })
}

fn options() -> Options {
    Options {
        kind: Kind::Udp,
        ..Options::default()
    }
}

fn open(process: &Arc<Process>, options: &Options) -> Result<Running, OpenError> {
    let group = Group::of(process, options)?;
    Running::open(Box::new(process.clone()), group, options)
}

/// Opens a barrier over datagrams in both processes.
fn pair(processes: &[Arc<Process>; 2], options: &Options) -> [Running; 2] {
    let [one, other] = processes;
    thread::scope(|scope| {
        let one = scope.spawn(|| open(one, options).unwrap());
        let other = open(other, options).unwrap();
        [one.join().unwrap(), other]
    })
}

fn address(state: &State) -> SocketAddr {
    state.datagrams.as_ref().unwrap().address().unwrap()
}

/// An arrival that a stranger without the secret has made for the second member.
fn forged(state: &State) -> Vec<u8> {
    arrival(&mut member(state.open.name, 1, b""), 0)
}

fn member(name: crate::Group, me: u32, key: &[u8]) -> Udp {
    let view = View::new([0, 1].map(Id)).unwrap();
    Udp::new(name, Id(me), &view, Combine::Any, key, Resending::default()).unwrap()
}

fn arrival(member: &mut Udp, value: u64) -> Vec<u8> {
    member.arrive(Duration::ZERO, value).unwrap();
    member.poll_transmit().unwrap().packet
}

/// A stranger's datagrams lie in the queue before an arrival. The arrival is handled in the same
/// call, and in the same turn of the thread.
#[test]
fn datagrams_of_strangers_keep_nothing_waiting() {
    let processes = processes();
    let [root, other] = pair(&processes, &options());
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

/// Meets the first member in place of the second process's barrier, and passes this address for
/// datagrams. Returns the group's name and the first member's answer.
fn meet(process: &Arc<Process>, address: &str) -> (crate::Group, Vec<u8>) {
    let mut group = Group::of(process, &options()).unwrap();
    let mut links = Links::new(Box::new(process.clone()), group.number);
    let met = group.meet(&mut links, address.as_bytes(), |_| Ok(Vec::new()));
    (group.name, met.unwrap())
}

/// An attacker has read the first member's answer, and knows the secret in it, but not the job's
/// token. Its datagrams are refused, and those of a member are not.
#[test]
fn datagrams_need_the_token_of_the_job() {
    let token = Token::generate();
    let [process, other] = with_token(Some(&token));
    let [stranger, _] = with_token(Some(&Token::generate()));
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(WAIT_TIMEOUT).unwrap();
    thread::scope(|scope| {
        let root = scope.spawn(|| open(&process, &options()).unwrap());
        let (name, answer) = meet(&other, &socket.local_addr().unwrap().to_string());
        let (secret, table) = answer.split_at(32);
        let table = std::str::from_utf8(table).unwrap();
        let to: SocketAddr = table.split(' ').nth(1).unwrap().parse().unwrap();
        let key = |process: &Arc<Process>| {
            let key = process.key("barrier datagrams").unwrap();
            [secret, &key[..]].concat()
        };
        let mut honest = member(name, 1, &key(&other));
        socket.send_to(&arrival(&mut honest, 0), to).unwrap();
        let mut release = [0; 2048];
        let (len, _) = socket.recv_from(&mut release).unwrap();
        honest
            .receive(Duration::ZERO, Id(0), &release[..len])
            .unwrap();
        let root = root.join().unwrap();
        let mut state = root.state();
        state.arrive(1).unwrap();
        for guess in [secret.to_vec(), key(&stranger), vec![0; 64]] {
            let mut forger = member(name, 1, &guess);
            let mut its_root = member(name, 0, &guess);
            its_root.arrive(Duration::ZERO, 0).unwrap();
            let first = arrival(&mut forger, 0);
            its_root.receive(Duration::ZERO, Id(1), &first).unwrap();
            let release = its_root.poll_transmit().unwrap().packet;
            forger.receive(Duration::ZERO, Id(0), &release).unwrap();
            socket.send_to(&arrival(&mut forger, 6), to).unwrap();
            assert_eq!(state.step(Duration::from_secs(1)), Step::Refused);
            assert_eq!(state.outcome, None);
        }
        socket.send_to(&arrival(&mut honest, 2), to).unwrap();
        assert_eq!(state.wait(WAIT_TIMEOUT), Ok(3));
    });
}

#[test]
fn ipv4_and_ipv6_are_not_mixed() {
    let [process, other] = processes();
    thread::scope(|scope| {
        let root = scope.spawn(|| open(&process, &options()).unwrap_err());
        let (_, answer) = meet(&other, "[::1]:9");
        assert!(answer.len() > 32);
        let error = root.join().unwrap().to_string();
        let words = "rank 0 has the address 127.0.0.1 for datagrams, and rank 1 has ::1,";
        assert!(error.contains(words), "{error}");
    });
    let view = View::new([2, 5, 7].map(Id)).unwrap();
    let of = |all: [&str; 3]| of_one_family(&view, &all.map(|one| one.parse().unwrap()));
    assert!(of(["10.0.0.1:1", "10.0.0.2:2", "127.0.0.1:3"]).is_ok());
    assert!(of(["[fd00::1]:1", "[fd00::2]:1", "[::1]:3"]).is_ok());
    let error = of(["[fd00::1]:1", "[fd00::2]:1", "10.0.0.7:3"]);
    let (one, other) = (2, 7);
    assert!(
        matches!(error, Err(OpenError::Families { one: a, other: b, .. }) if (a, b) == (one, other))
    );
}

/// A job on one host uses the loopback interface unless a member names another one.
#[test]
fn datagrams_use_the_interface_that_is_named() {
    let all = interfaces().unwrap();
    let first = |name: &str| all.iter().find(|one| one.name == name).unwrap().address;
    let other = all.iter().find(|one| !first(&one.name).is_loopback());
    // An address that is valid only on its link does not say which link that is.
    let other = other.filter(|one| first(&one.name).is_ipv4());
    if other.is_none() {
        eprintln!("SKIPPED: this needs a network interface other than lo with an IPv4 address");
    }
    for name in ["lo"].into_iter().chain(other.map(|one| &one.name[..])) {
        let processes = processes();
        let named = Options {
            interface: Some(name.to_owned()),
            ..options()
        };
        let [root, other] = pair(&processes, &named);
        for member in [&root, &other] {
            let address = address(&member.state()).ip();
            assert_eq!(address, first(name), "{name}");
        }
        other.arrive(2).unwrap();
        assert_eq!(root.pass(1, WAIT_TIMEOUT), Ok(3), "{name}");
        assert_eq!(other.wait(WAIT_TIMEOUT), Ok(3), "{name}");
    }
}

/// A member learns of a process that wants to join only after this process has given up. It asks
/// the process, and does not wait for it.
#[test]
fn a_process_that_could_not_join_still_answers() {
    const NUMBER: u16 = 3;
    let [one, other] = processes();
    let open = Open {
        name: crate::Group(7),
        kind: Kind::Star,
        combine: Combine::Any,
    };
    let options = Options {
        kind: Kind::Star,
        number: NUMBER,
        patience: Duration::from_millis(300),
        ..Options::default()
    };
    let mut links = Links::new(Box::new(one), NUMBER);
    thread::scope(|scope| {
        let joined = scope.spawn(|| {
            let number = Number::take(&other, NUMBER).unwrap();
            let job = Box::new(other.clone());
            Running::join(job, number, Id(1), &[Id(0)], &options).map(drop)
        });
        // The member describes the group, but does not admit the process.
        while !joined.is_finished() {
            open.answer(&mut links);
            thread::sleep(Duration::from_millis(1));
        }
        let failed = joined.join().unwrap();
        assert!(matches!(failed, Err(OpenError::NotAdmitted { .. })));
    });
    // The process has asked to join, and told this member that it has given up.
    for _ in 0..2 {
        let packet = links.take(Use::Packet, WAIT_TIMEOUT.unwrap());
        assert!(matches!(packet, Ok(Some((Id(1), _)))));
    }
    // In this member's view, the process takes part in changes.
    let view = View::new([0, 1].map(Id)).unwrap();
    let member = Member::new(open.name, Id(0), &view, Star::default(), open.combine);
    let mut state = State::new(Box::new(member.unwrap()), links, None, open);
    state.barrier.leave(Duration::ZERO).unwrap();
    let since = Instant::now();
    while state.ended.is_none() {
        assert!(since.elapsed() < Duration::from_secs(20), "no answer");
        state.transmit();
        state.step(LOSS_CHECK_INTERVAL);
    }
    assert_eq!(state.ended, Some(Ended::Left));
    let again = Number::take(&other, NUMBER);
    assert!(matches!(again, Err(OpenError::InUse { .. })));
}
