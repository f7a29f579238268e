//! Tests of jobs of real processes. Each process is this test program again, which runs [`child`].

mod support;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mgn_fabric::endpoint::{LinkId, SendOptions, Wanted};
use mgn_fabric::job::{Job, Member};
use mgn_fabric::{Address, Error, Token};
use mgn_fuzzing::Random;
use socket2::{Domain, SockAddr, Socket, Type};
use support::networks::{self, Network};
use support::other::{ready, Apart, Other, Part};
use support::SHM;

const TASK: &str = "MGN_TEST_TASK";
const VICTIMS: &str = "MGN_TEST_VICTIMS";
const TIMEOUT: Duration = Duration::from_secs(30);

/// Lets `wait` time out until its error contains `cause`. On a busy machine, a short wait may end
/// before the other side has answered. So each attempt waits twice as long as the previous attempt.
fn retry_until_told(cause: &str, wait: impl Fn(Duration) -> Error) {
    let mut time = Duration::from_millis(50);
    loop {
        let error = wait(time).to_string();
        if error.contains(cause) {
            return;
        }
        time *= 2;
        assert!(time < TIMEOUT, "{error}");
    }
}

/// Not a test, but the code of each process of a job.
#[test]
fn child() {
    if let Some(part) = Part::mine() {
        return squat(&part.address);
    }
    let Ok(task) = std::env::var(TASK) else {
        return;
    };
    if task == "late" {
        // Rank 2 starts three seconds after rank 0.
        let rank: u64 = std::env::var("MGN_RANK").unwrap().parse().unwrap();
        thread::sleep(Duration::from_millis(1500 * rank));
    }
    let member = Job::find().unwrap().join().unwrap();
    if task == "absent" {
        let start = Instant::now();
        let error = member.open(1, Duration::from_millis(700)).unwrap_err();
        assert!(matches!(error, Error::TimedOut(_)), "{error}");
        // The call waits until its timeout, and not for ever.
        assert!(start.elapsed() >= Duration::from_millis(650));
        assert!(start.elapsed() < TIMEOUT);
        println!("{error}");
        return;
    }
    match task.as_str() {
        "unplugged" => return unplugged(&member),
        "mortal" => return mortal(&member),
        _ => {}
    }
    let interfaces: Vec<String> = member
        .interfaces()
        .iter()
        .map(|one| format!("{} {}", one.name, one.address))
        .collect();
    // All processes open links to all others at the same time, most pairs from both ends.
    let links: Vec<LinkId> = (0..member.size())
        .map(|rank| member.open(rank, TIMEOUT).unwrap())
        .collect();
    let again: Vec<LinkId> = (0..member.size())
        .map(|rank| member.open(rank, TIMEOUT).unwrap())
        .collect();
    assert_eq!(links, again, "one link to each");
    all_to_all(&member, &links);
    broadcasts(&member, &links);
    println!(
        "rank {} of {} done [{}]",
        member.rank(),
        member.size(),
        interfaces.join(", ")
    );
}

/// Prints when there is a link, and when it has ended.
fn unplugged(member: &Member) {
    // Take the time before the link, because the other side may be unplugged as soon as it has the
    // link.
    let start = Instant::now();
    let link = member.open(1 - member.rank(), TIMEOUT).unwrap();
    println!("linked");
    let end = member.endpoint().recv(Wanted::new(link, 1), &mut []);
    assert!(matches!(end, Err(Error::Closed(_))), "{end:?}");
    println!("took {}", start.elapsed().as_millis());
}

/// Sends to all other processes and receives from them, until the victims have died. Each link to a
/// victim ends with an error that reports the end, in both directions.
fn mortal(member: &Member) {
    let victims = std::env::var(VICTIMS).unwrap();
    let is_to_die = |rank: u32| victims.contains(&rank.to_string());
    let others = (0..member.size()).filter(|rank| *rank != member.rank());
    let links: Vec<(u32, LinkId)> = others
        .map(|rank| (rank, member.open(rank, TIMEOUT).unwrap()))
        .collect();
    let (flowing, is_over) = (AtomicU32::new(0), AtomicBool::new(false));
    let send = |link| {
        let bytes = vec![member.rank() as u8; 300_000];
        for round in 0.. {
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            let how = SendOptions {
                sync: round % 3 == 0,
                unordered: round % 5 == 0,
            };
            let len = [10, 5000, 300_000][round % 3];
            member.endpoint().send(link, 1, &bytes[..len], how)?;
        }
        Ok::<(), Error>(())
    };
    let receive = |rank, link| {
        let mut into = vec![0; 300_000];
        for round in 0.. {
            let len = member.endpoint().recv(Wanted::new(link, 1), &mut into)?.len;
            assert!(into[..len].iter().all(|byte| u32::from(*byte) == rank));
            if round == 0 && flowing.fetch_add(1, Ordering::Relaxed) + 2 == member.size() {
                println!("flowing");
            }
        }
        Ok::<(), Error>(())
    };
    thread::scope(|scope| {
        let ends: Vec<_> = links
            .iter()
            .flat_map(|&(rank, link)| {
                let (send, receive) = (&send, &receive);
                let sending = scope.spawn(move || send(link));
                let receiving = scope.spawn(move || receive(rank, link));
                [(rank, sending), (rank, receiving)]
            })
            .collect();
        for (rank, end) in ends {
            if is_to_die(rank) {
                let end = end.join().unwrap();
                assert!(matches!(end, Err(Error::Closed(_))), "{rank}: {end:?}");
            }
        }
        while is_to_die(member.rank()) {
            thread::sleep(TIMEOUT);
        }
        is_over.store(true, Ordering::Relaxed);
        member.leave();
    });
    println!("survived");
}

fn all_to_all(member: &Member, links: &[LinkId]) {
    let endpoint = member.endpoint();
    for len in [1, 1000, 100_000] {
        let requests: Vec<_> = links
            .iter()
            .map(|link| {
                let message = Box::leak(vec![member.rank() as u8; len].into_boxed_slice());
                // SAFETY: the memory is never freed.
                unsafe {
                    endpoint.isend(
                        *link,
                        len as u64,
                        &[(message.as_mut_ptr(), len)],
                        SendOptions::default(),
                    )
                }
                .unwrap()
            })
            .collect();
        for (rank, link) in links.iter().enumerate() {
            let mut into = vec![255; len];
            let status = endpoint
                .recv(Wanted::new(*link, len as u64), &mut into)
                .unwrap();
            assert_eq!(
                (status.len, member.rank_of(status.link)),
                (len, Some(rank as u32))
            );
            assert!(into.iter().all(|byte| *byte == rank as u8));
        }
        for request in requests.into_iter().flatten() {
            endpoint.wait(request, None).unwrap();
        }
    }
}

/// Each rank in turn writes to all other ranks. They join before or after the broadcast is open.
fn broadcasts(member: &Member, links: &[LinkId]) {
    let others = member.size() - 1;
    for root in 0..member.size() {
        if root == member.rank() {
            let writer = member.broadcast(root + 7, 10_000).unwrap();
            let error = member.broadcast(root + 7, 1).unwrap_err();
            assert!(error.to_string().contains("open already"), "{error}");
            writer.wait_for_readers(others, Some(TIMEOUT)).unwrap();
            for i in 0..500 {
                writer.send(&vec![i as u8; i * 20]).unwrap();
            }
            assert!(matches!(
                writer.send(&[0; 10_001]),
                Err(Error::TooLong { max: 10_000, .. })
            ));
            assert_eq!(writer.readers(), others as usize);
        } else {
            let mut reader = member.read_broadcast(root, root + 7, TIMEOUT).unwrap();
            for i in 0..500 {
                let message = reader.recv(Some(TIMEOUT)).unwrap().unwrap();
                assert!(message.to_vec() == vec![i as u8; i * 20], "{root} {i}");
            }
            let end = reader.recv(Some(TIMEOUT));
            assert!(matches!(end, Err(Error::Closed(_))), "{end:?}");
        }
    }
    // No process leaves while others still join.
    let endpoint = member.endpoint();
    for link in links {
        endpoint
            .send(*link, 1 << 40, b"", SendOptions::default())
            .unwrap();
    }
    for link in links {
        endpoint.recv(Wanted::new(*link, 1 << 40), &mut []).unwrap();
    }
}

/// A name that no other job has, and a private folder with the same name.
struct Names(String);

impl Names {
    fn new() -> Names {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "mgn-job-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        std::fs::create_dir(std::env::temp_dir().join(&name)).unwrap();
        Names(name)
    }

    fn folder(&self) -> PathBuf {
        std::env::temp_dir().join(&self.0)
    }

    fn hostfile(&self, text: &str) -> PathBuf {
        let path = self.folder().join("hosts");
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.folder());
    }
}

/// This program as a process of a job, behind `launcher`.
fn command(launcher: &[&str], task: &str) -> Command {
    let program = std::env::current_exe().unwrap();
    let mut words = launcher.iter().map(Path::new).chain([program.as_path()]);
    let mut command = Command::new(words.next().unwrap());
    command
        .args(words)
        .args(["--exact", "child", "--nocapture", "--test-threads=1"]);
    command
        .env(TASK, task)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn start(names: &Names, hosts: &Path, rank: u32, task: &str, settings: &[(&str, &str)]) -> Child {
    start_by(&[], names, hosts, rank, task, settings)
}

fn start_by(
    launcher: &[&str],
    names: &Names,
    hosts: &Path,
    rank: u32,
    task: &str,
    settings: &[(&str, &str)],
) -> Child {
    let mut command = command(launcher, task);
    command
        .env("MGN_HOSTFILE", hosts)
        .env("MGN_RANK", rank.to_string())
        .env("MGN_JOB", &names.0);
    command.envs(settings.iter().copied()).spawn().unwrap()
}

/// Waits until a process prints `what`.
fn said_so(child: &mut Child, what: &str) {
    let mut said = String::new();
    while !said.contains(what) {
        let mut byte = [0];
        if child.stdout.as_mut().unwrap().read(&mut byte).unwrap() == 0 {
            let _ = child.stderr.as_mut().unwrap().read_to_string(&mut said);
            panic!("it ended: {said}");
        }
        said.push(byte[0].into());
    }
}

fn finish(child: Child) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&stdout).into_owned();
    assert!(
        status.success(),
        "{status}\n{text}\n{}",
        String::from_utf8_lossy(&stderr)
    );
    text
}

fn finish_all(children: Vec<Child>) {
    let size = children.len();
    for (rank, child) in children.into_iter().enumerate() {
        let text = finish(child);
        assert!(
            text.contains(&format!("rank {rank} of {size} done []")),
            "{text}"
        );
    }
}

#[test]
fn four_processes_all_to_all() {
    let names = Names::new();
    let hosts = names.hostfile("here slots=4\n");
    finish_all(
        (0..4)
            .map(|rank| start(&names, &hosts, rank, "all", &[]))
            .collect(),
    );
}

#[test]
fn processes_that_start_seconds_apart() {
    let names = Names::new();
    let hosts = names.hostfile("here slots=3\n");
    finish_all(
        (0..3)
            .map(|rank| start(&names, &hosts, rank, "late", &[]))
            .collect(),
    );
}

#[test]
fn one_that_never_comes() {
    let names = Names::new();
    let hosts = names.hostfile("here slots=2\n");
    let text = finish(start(&names, &hosts, 0, "absent", &[]));
    let wanted = format!("waiting for rank 1 of job {} on here", names.0);
    assert!(text.contains(&wanted), "{text}");
}

/// Two names of one machine count as two hosts: their processes use TCP.
#[test]
fn several_hosts() {
    let names = Names::new();
    let hosts = names.hostfile("127.0.0.1 slots=2\nlocalhost slots=2\n");
    let token = names.folder().join("token");
    Token::generate().write(&token).unwrap();
    // Avoid the ports of other jobs.
    let port = 22_000 + std::process::id() % 8000;
    for (tls, after) in [("0", 0), ("1", 10)] {
        let settings = [
            ("MGN_TOKEN_FILE", token.to_str().unwrap()),
            ("MGN_PORT", &(port + after).to_string()),
            ("MGN_INTERFACES", "lo"),
            ("MGN_TLS", tls),
        ];
        let children: Vec<Child> = (0..4)
            .map(|rank| start(&names, &hosts, rank, "all", &settings))
            .collect();
        for child in children {
            let text = finish(child);
            assert!(text.contains(" done [lo 127.0.0.1"), "{text}");
        }
    }
    // Without a secret, the processes do not start.
    let output = start(&names, &hosts, 0, "all", &[])
        .wait_with_output()
        .unwrap();
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("needs a secret"), "{text}");
}

/// Hosts in separate networks, with two connections between them. One connection is excluded, or is
/// the second choice.
#[test]
fn hosts_with_several_interfaces() {
    if !networks::are_there() {
        return;
    }
    let networks = [Network::new(), Network::new()];
    let [one, other] = networks.each_ref().map(Network::pid);
    networks::plug("wire", [(one, "10.77.8.1/24"), (other, "10.77.8.2/24")]);
    networks::plug("spare", [(one, "10.77.7.1/24"), (other, "10.77.7.2/24")]);
    let names = Names::new();
    let hosts = names.hostfile("10.77.8.1 slots=2\n10.77.8.2 slots=2\n");
    let token = names.folder().join("token");
    Token::generate().write(&token).unwrap();
    for tls in ["0", "1"] {
        for (choice, used) in [
            ("wire,spare", "wire 10.77.8.{}, spare 10.77.7.{}"),
            ("^lo,spare", "wire 10.77.8.{}"),
        ] {
            let settings = [
                ("MGN_TOKEN_FILE", token.to_str().unwrap()),
                ("MGN_INTERFACES", choice),
                ("MGN_TLS", tls),
            ];
            let start = |rank: u32| {
                let pid = networks[rank as usize / 2].pid().to_string();
                let inside = ["nsenter", "-t", &pid, "-n"];
                start_by(&inside, &names, &hosts, rank, "all", &settings)
            };
            let children: Vec<Child> = (0..4).map(start).collect();
            for (rank, child) in children.into_iter().enumerate() {
                let text = finish(child);
                let host = (1 + rank / 2).to_string();
                let wanted = format!("of 4 done [{}]", used.replace("{}", &host));
                assert!(text.contains(&wanted), "{choice}: {text}");
            }
        }
    }
}

/// The user of a job chooses the time after which a silent host counts as lost.
#[test]
fn hosts_that_fall_silent() {
    if !networks::are_there() {
        return;
    }
    let networks = [Network::new(), Network::new()];
    let [one, other] = networks.each_ref().map(Network::pid);
    networks::plug("wire", [(one, "10.77.6.1/24"), (other, "10.77.6.2/24")]);
    let names = Names::new();
    let hosts = names.hostfile("10.77.6.1\n10.77.6.2\n");
    let token = names.folder().join("token");
    Token::generate().write(&token).unwrap();
    let settings = [
        ("MGN_TOKEN_FILE", token.to_str().unwrap()),
        ("MGN_SILENCE_MS", "2000"),
    ];
    let mut children = [(0, one), (1, other)].map(|(rank, network)| {
        let network = network.to_string();
        let inside = ["nsenter", "-t", &network, "-n"];
        start_by(&inside, &names, &hosts, rank, "unplugged", &settings)
    });
    for child in &mut children {
        said_so(child, "linked");
    }
    networks::ip(one, "link set wire down");
    for child in children {
        let text = finish(child);
        let took = text.split_once("took ").unwrap().1.lines().next().unwrap();
        // The link ends after the configured time of silence, and not after TCP's own limit of a
        // quarter of an hour.
        let took = Duration::from_millis(took.parse().unwrap());
        assert!(took >= Duration::from_secs(2) && took < TIMEOUT, "{took:?}");
    }
}

/// If any processes of a job are killed while messages are in flight, the other processes notice
/// soon. The next job with the same name can begin at once.
#[test]
fn any_of_a_job_may_be_killed() {
    let names = Names::new();
    let hosts = names.hostfile("here slots=4\n");
    let mut random = Random::new(7);
    for round in 0..12 {
        let set = 1 + random.below(15);
        let victims: Vec<u32> = (0..4).filter(|rank| set >> rank & 1 == 1).collect();
        let told = format!("{victims:?}");
        let start = |rank| start(&names, &hosts, rank, "mortal", &[(VICTIMS, &told)]);
        let mut children: Vec<Child> = (0..4).map(start).collect();
        for child in &mut children {
            said_so(child, "flowing");
        }
        thread::sleep(Duration::from_millis(random.below(20)));
        for victim in &victims {
            children[*victim as usize].kill().unwrap();
            thread::sleep(Duration::from_millis(random.below(2)));
        }
        let killed = Instant::now();
        for (rank, mut child) in children.into_iter().enumerate() {
            match victims.contains(&(rank as u32)) {
                true => drop(child.wait().unwrap()),
                false => assert!(finish(child).contains("survived"), "{round} {told}"),
            }
        }
        let took = killed.elapsed();
        assert!(took < TIMEOUT, "{round} {told}: {took:?}");
        let sockets = std::fs::read("/proc/net/unix").unwrap();
        let sockets = String::from_utf8_lossy(&sockets);
        assert!(!sockets.contains(&names.0), "{round} {told}: {sockets}");
    }
    let children = (0..4).map(|rank| start(&names, &hosts, rank, "all", &[]));
    finish_all(children.collect());
}

#[test]
fn two_jobs_of_one_name() {
    let name = format!("twice-{}", std::process::id());
    let hosts = || vec!["here".to_string(); 2];
    let _first = Job::new(&name, 0, hosts()).unwrap().join().unwrap();
    let error = Job::new(&name, 0, hosts()).unwrap().join().unwrap_err();
    assert!(matches!(error, Error::InUse(_)), "{error}");
}

/// Takes the names of two ranks, and some names with similar endings. Accepts no connections at one
/// of these names.
fn squat(job: &Address) {
    let Address::Abstract(job) = job else {
        panic!("not the first name of a rank")
    };
    let taken: Vec<Socket> = ["-0", "-1", "-0.0", "-1.1"]
        .iter()
        .map(|end| {
            let socket = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
            socket
                .bind(&SockAddr::unix(format!("\0{job}{end}")).unwrap())
                .unwrap();
            if *end != "-1" {
                socket.listen(10).unwrap();
            }
            socket
        })
        .collect();
    ready("");
    thread::sleep(2 * TIMEOUT);
    drop(taken);
}

/// Another user takes the first names of ranks. That user gets no data and cannot stop a process,
/// even if it takes and releases names repeatedly.
#[test]
fn names_that_another_user_has_taken() {
    let uid = mgn_sys::peer::own_uid();
    if uid != 0 {
        eprintln!("SKIPPED: only root can use several users");
        return;
    }
    let name = format!("taken-{}", std::process::id());
    let nobody = Apart {
        user: Some(65534),
        ..Apart::default()
    };
    let names = Address::Abstract(format!("mgn-{uid}-{name}"));
    let squat = || Other::start("squatter", &SHM, &names, nobody).0;
    let join = |rank| {
        let job = Job::new(&name, rank, vec!["here".to_string(); 3]);
        job.unwrap().join()
    };
    let exchange = |one: &Member, other: &Member| {
        let (there, here) = thread::scope(|scope| {
            let there = scope.spawn(|| one.open(other.rank(), TIMEOUT).unwrap());
            let here = other.open(one.rank(), TIMEOUT).unwrap();
            (there.join().unwrap(), here)
        });
        one.endpoint()
            .send(there, 1, b"x", SendOptions::default())
            .unwrap();
        let wanted = Wanted::new(here, 1);
        other.endpoint().recv(wanted, &mut [0]).unwrap();
    };
    let squatter = squat();
    let two = join(2).unwrap();
    let told = "waiting for rank 0";
    retry_until_told("uid 65534", |time| {
        let error = two.open(0, time).unwrap_err();
        assert!(
            matches!(&error, Error::TimedOut(why) if why.starts_with(told)),
            "{error}"
        );
        error
    });
    let (one, other) = (join(0).unwrap(), join(1).unwrap());
    let error = join(1).unwrap_err();
    assert!(matches!(error, Error::InUse(_)), "{error}");
    exchange(&two, &one);
    exchange(&other, &two);
    // The first name is free again, but a second process of the same rank still does not get it.
    drop(squatter);
    exchange(&one, &other);
    let error = join(0).unwrap_err();
    assert!(matches!(error, Error::InUse(_)), "{error}");
    let writer = one.broadcast(1, 10).unwrap();
    let mut reader = other.read_broadcast(0, 1, TIMEOUT).unwrap();
    writer.wait_for_readers(1, Some(TIMEOUT)).unwrap();
    writer.send(b"to all").unwrap();
    reader.recv(Some(TIMEOUT)).unwrap().unwrap();
    // A process that comes back gets its own name.
    drop((two, one, other));
    exchange(&join(0).unwrap(), &join(1).unwrap());
}

/// After a process has ended, `open` waits for it again, and connects to it when it has come back.
#[test]
fn links_that_were_closed_are_opened_again() {
    let name = format!("again-{}", std::process::id());
    let join = |rank| {
        Job::new(&name, rank, vec!["here".to_string(); 2])
            .unwrap()
            .join()
            .unwrap()
    };
    let (one, other) = (join(0), join(1));
    for round in 0..20 {
        let (opener, opened) = if round % 2 == 0 {
            (&one, &other)
        } else {
            (&other, &one)
        };
        let link = opener.open(opened.rank(), TIMEOUT).unwrap();
        opener
            .endpoint()
            .send(
                link,
                round,
                b"x",
                SendOptions {
                    sync: false,
                    unordered: false,
                },
            )
            .unwrap();
        let back = opened.open(opener.rank(), TIMEOUT).unwrap();
        opened
            .endpoint()
            .recv(Wanted::new(back, round), &mut [0])
            .unwrap();
        opener.endpoint().close(link);
        // The other end notices this with some delay. Until then, its messages would be lost.
        let start = Instant::now();
        while opened.endpoint().is_open(back) {
            assert!(start.elapsed() < TIMEOUT, "round {round}");
            thread::sleep(Duration::from_millis(1));
        }
    }
    drop(other);
    assert!(one.open(1, Duration::from_millis(50)).is_err());
    let other = join(1);
    let both = thread::scope(|scope| {
        let there = scope.spawn(|| other.open(0, TIMEOUT).unwrap());
        (one.open(1, TIMEOUT).unwrap(), there.join().unwrap())
    });
    one.endpoint()
        .send(both.0, 1, b"y", SendOptions::default())
        .unwrap();
    other
        .endpoint()
        .recv(Wanted::new(both.1, 1), &mut [0])
        .unwrap();
}

/// Readers can join at any time, also while the writer waits for a reader that lags. Readers of
/// other jobs are refused.
#[test]
fn readers_of_a_broadcast_come_at_any_time() {
    let name = format!("broadcast-{}", std::process::id());
    let hosts = || vec!["here".to_string(); 4];
    let join = |rank| Job::new(&name, rank, hosts()).unwrap().join().unwrap();
    let members: Vec<Member> = (0..4).map(join).collect();
    let [root, readers @ ..] = &members[..] else {
        unreachable!("there are four")
    };
    let error = root.read_broadcast(0, 1, TIMEOUT).unwrap_err();
    assert!(matches!(error, Error::Job(_)), "{error}");
    retry_until_told("broadcast 1 is not open", |time| {
        readers[0].read_broadcast(0, 1, time).unwrap_err()
    });

    let writer = root.broadcast(1, 1 << 20).unwrap();
    let error = writer.wait_for_readers(1, Some(Duration::from_millis(20)));
    assert!(matches!(error, Err(Error::TimedOut(_))), "{error:?}");
    let mut lagging = readers[0].read_broadcast(0, 1, TIMEOUT).unwrap();
    writer.wait_for_readers(1, Some(TIMEOUT)).unwrap();
    let long = vec![1; 1 << 20];
    thread::scope(|scope| {
        // This exceeds all the memory, so the writer waits in the middle.
        let writing = scope.spawn(|| (0..20).for_each(|_| writer.send(&long).unwrap()));
        let first = lagging.recv(Some(TIMEOUT)).unwrap().unwrap();
        assert_eq!(first.len(), 1 << 20);
        let coming = scope.spawn(|| readers[1].read_broadcast(0, 1, TIMEOUT).unwrap());
        thread::sleep(Duration::from_millis(50));
        assert!(!writing.is_finished());
        drop(first);
        for _ in 1..20 {
            lagging.recv(Some(TIMEOUT)).unwrap().unwrap();
            if coming.is_finished() {
                break;
            }
        }
        drop(lagging);
        // A reader that connects while a message is sent joins after it and before the next one.
        drop(coming.join().unwrap());
        writing.join().unwrap();
    });
    drop(writer);
    // The number is free again, and the writer waits until the readers have joined.
    let writer = root.broadcast(1, 100).unwrap();
    thread::scope(|scope| {
        for reader in readers {
            scope.spawn(move || {
                let mut reader = reader.read_broadcast(0, 1, TIMEOUT).unwrap();
                let message = reader.recv(Some(TIMEOUT)).unwrap().unwrap();
                assert_eq!(message.to_vec(), b"to all");
            });
        }
        writer.wait_for_readers(3, Some(TIMEOUT)).unwrap();
        writer.send(b"to all").unwrap();
    });
}

/// A send that waits for a reader ends when the writer closes, and so does waiting for readers.
#[test]
fn a_broadcast_is_closed_while_it_waits() {
    let name = format!("closing-{}", std::process::id());
    let port = 22_000 + (std::process::id() % 700) as u16 * 2;
    let secret = Token::generate();
    for hosts in [["here", "here"], ["127.0.0.1", "localhost"]] {
        let join = |rank| {
            let job = Job::new(&name, rank, hosts.map(String::from).to_vec()).unwrap();
            let job = job.port(port).token(secret.clone());
            job.interfaces("lo").unwrap().join().unwrap()
        };
        let (root, other) = (join(0), join(1));
        let writer = root.broadcast(1, 1 << 20).unwrap();
        let lagging = other.read_broadcast(0, 1, TIMEOUT).unwrap();
        writer.wait_for_readers(1, Some(TIMEOUT)).unwrap();
        let long = vec![1; 1 << 20];
        thread::scope(|scope| {
            let sending = scope.spawn(|| loop {
                if let Err(error) = writer.send(&long) {
                    return error;
                }
            });
            thread::sleep(Duration::from_millis(100));
            let waiting = scope.spawn(|| writer.wait_for_readers(2, None).unwrap_err());
            assert!(!sending.is_finished() && !waiting.is_finished());
            writer.close();
            for error in [sending.join().unwrap(), waiting.join().unwrap()] {
                assert!(matches!(error, Error::Closed(_)), "{error}");
            }
        });
        assert!(matches!(writer.send(b"late"), Err(Error::Closed(_))));
        drop(lagging);
    }
}

/// Both ends connect at the same time, many times. Each time there is one link, and messages on it
/// arrive.
#[test]
fn both_ends_at_once() {
    for round in 0..100 {
        let name = format!("once-{}-{round}", std::process::id());
        let join = |rank| {
            Job::new(&name, rank, vec!["here".to_string(); 2])
                .unwrap()
                .join()
                .unwrap()
        };
        let members = [join(0), join(1)];
        thread::scope(|scope| {
            for member in &members {
                scope.spawn(move || {
                    let link = member.open(1 - member.rank(), TIMEOUT).unwrap();
                    member
                        .endpoint()
                        .send(link, 3, b"z", SendOptions::default())
                        .unwrap();
                    let mut into = [0];
                    member
                        .endpoint()
                        .recv(Wanted::new(link, 3), &mut into)
                        .unwrap();
                    assert_eq!(member.open(1 - member.rank(), TIMEOUT).unwrap(), link);
                });
            }
        });
    }
}

fn launched(launchers: &[&str], size: u32) -> bool {
    let there = |launcher: &&&str| {
        Command::new(launcher)
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success())
    };
    let Some(launcher) = launchers.iter().find(there) else {
        return false;
    };
    let count = size.to_string();
    let mut words = vec![*launcher, "-n", &count];
    if launcher.contains("openmpi") {
        words.extend(["--allow-run-as-root", "--oversubscribe"]);
    }
    let text = finish(command(&words, "all").spawn().unwrap());
    for rank in 0..size {
        assert!(
            text.contains(&format!("rank {rank} of {size} done []")),
            "{text}"
        );
    }
    true
}

#[test]
fn under_mpich() {
    if !launched(&["mpiexec.hydra", "mpiexec.mpich"], 3) {
        eprintln!("SKIPPED: MPICH's mpiexec is not installed (package mpich)");
    }
}

#[test]
fn under_open_mpi() {
    if !launched(&["mpiexec.openmpi"], 3) {
        eprintln!("SKIPPED: Open MPI's mpiexec is not installed (package openmpi-bin)");
    }
}

/// Messages over TCP arrive although their sender leaves, even if the sender has not read all data
/// that was sent to it.
#[test]
fn what_was_sent_before_leaving_arrives() {
    let name = format!("leaving-{}", std::process::id());
    let port = 20_000 + (std::process::id() % 700) as u16 * 2;
    let secret = Token::generate();
    let join = |rank| {
        let hosts = vec!["127.0.0.1".to_string(), "localhost".to_string()];
        let job = Job::new(&name, rank, hosts).unwrap().port(port);
        job.token(secret.clone())
            .interfaces("lo")
            .unwrap()
            .join()
            .unwrap()
    };
    for _ in 0..10 {
        let (one, other) = (join(0), join(1));
        let link = other.open(0, TIMEOUT).unwrap();
        let back = one.open(1, TIMEOUT).unwrap();
        for tag in 0..100 {
            other
                .endpoint()
                .send(link, tag, &[1; 1000], SendOptions::default())
                .unwrap();
            one.endpoint()
                .send(back, tag, &[2; 1000], SendOptions::default())
                .unwrap();
        }
        drop(one);
        for tag in 0..100 {
            let mut into = [0; 1000];
            other
                .endpoint()
                .recv(Wanted::new(link, tag), &mut into)
                .unwrap();
            assert_eq!(into, [2; 1000]);
        }
    }
}

/// A receive from any link waits for processes that have not connected yet, even if many other
/// processes have come and gone. It ends when no more processes can connect.
#[test]
fn those_still_to_come_are_waited_for() {
    let name = format!("late-{}", std::process::id());
    let join = |rank| {
        let job = Job::new(&name, rank, vec!["here".to_string(); 4]);
        job.unwrap().join().unwrap()
    };
    let one = join(0);
    let call = |rank: u8| {
        let other = join(rank.into());
        let link = other.open(0, TIMEOUT).unwrap();
        let synchronous = SendOptions {
            sync: true,
            ..SendOptions::default()
        };
        let sent = other.endpoint().send(link, 1, &[rank], synchronous);
        sent.unwrap();
    };
    let looked_for = || {
        let mut into = [0];
        one.endpoint().peek(&Wanted::any(), None)?;
        one.endpoint().recv(Wanted::any(), &mut into)?;
        Ok::<u8, Error>(into[0])
    };
    let mut into = [0];
    let mut post = || {
        // SAFETY: `into` lives until the receive has ended.
        unsafe {
            one.endpoint()
                .irecv(Wanted::any(), &[(into.as_mut_ptr(), 1)])
        }
    };
    let end = |receive| one.endpoint().wait(receive, None);
    thread::scope(|scope| {
        let callers = scope.spawn(|| {
            for rank in 1..4 {
                // This process connects only after the end of the previous process is known.
                call(rank);
                thread::sleep(Duration::from_millis(100));
            }
        });
        assert_eq!(looked_for().unwrap(), 1);
        end(post()).unwrap();
        assert_eq!(looked_for().unwrap(), 3);
        // Both receives are pending when the last process goes.
        let posted = post();
        for error in [looked_for().unwrap_err(), end(posted).unwrap_err()] {
            assert!(matches!(error, Error::Closed(_)), "{error}");
        }
        callers.join().unwrap();
    });
}

/// A failed send may be the first sign that a process has ended. Messages that the process sent
/// before are still received.
#[test]
fn what_was_sent_outlives_a_failed_send() {
    for round in 0..50 {
        let name = format!("failing-{}-{round}", std::process::id());
        let join = |rank| {
            let job = Job::new(&name, rank, vec!["here".to_string(); 2]);
            job.unwrap().join().unwrap()
        };
        let (one, other) = (join(0), join(1));
        let link = other.open(0, TIMEOUT).unwrap();
        let back = one.open(1, TIMEOUT).unwrap();
        let send = |tag| {
            one.endpoint()
                .send(back, tag, &[2; 1000], SendOptions::default())
        };
        (0..20).for_each(|tag| send(tag).unwrap());
        drop(one);
        while other
            .endpoint()
            .send(link, 1, b"x", SendOptions::default())
            .is_ok()
        {}
        for tag in 0..20 {
            let mut into = [0; 1000];
            let received = other.endpoint().recv(Wanted::new(link, tag), &mut into);
            received.unwrap();
        }
    }
}
