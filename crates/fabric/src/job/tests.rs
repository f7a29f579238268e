use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use super::*;
use crate::endpoint::{SendOptions, Wanted};
use crate::testing::{Folder, Random};

const LONG: Duration = Duration::from_secs(20);

fn find(variables: &[(&str, &str)]) -> Result<Job, Error> {
    let variables: HashMap<&str, &str> = variables.iter().copied().collect();
    Job::find_in(&|name| variables.get(name).map(|value| value.to_string()))
}

fn hosts_of(job: &Job) -> &[String] {
    match &job.places {
        Places::Hosts(hosts) => hosts,
        Places::Launcher(_) => panic!("its hosts are not known"),
    }
}

#[test]
fn nobody_said_anything() {
    let job = find(&[]).unwrap();
    assert_eq!((job.rank(), job.size()), (0, 1));
    let member = job.join().unwrap();
    let own = member.open(0, LONG).unwrap();
    member
        .endpoint()
        .send(own, 1, b"self", SendOptions::default())
        .unwrap();
    let mut into = [0; 4];
    member
        .endpoint()
        .recv(Wanted::new(own, 1), &mut into)
        .unwrap();
    assert_eq!(&into, b"self");
    assert!(matches!(member.open(1, LONG), Err(Error::Job(_))));
    assert_eq!(member.rank_of(own), Some(0));
}

#[test]
fn settings_and_hostfiles() {
    let job = find(&[("MGN_RANK", "2"), ("MGN_SIZE", "3"), ("MGN_JOB", "x.1")]).unwrap();
    assert_eq!((job.rank(), job.size(), job.name()), (2, 3, "x.1"));

    let folder = Folder::new();
    let path = folder.path().join("hosts");
    std::fs::write(&path, "a slots=2\nb\n").unwrap();
    let file = ("MGN_HOSTFILE", path.to_str().unwrap());
    let job = find(&[file, ("MGN_RANK", "2")]).unwrap();
    assert_eq!(hosts_of(&job), ["a", "a", "b"]);
    let job = find(&[file, ("MGN_RANK", "0"), ("MGN_SIZE", "2")]).unwrap();
    assert_eq!(hosts_of(&job), ["a", "a"]);
    // The rank may come from the launcher.
    let launched = [
        file,
        ("OMPI_COMM_WORLD_RANK", "1"),
        ("OMPI_COMM_WORLD_SIZE", "3"),
        ("MGN_PORT", "7000"),
    ];
    assert_eq!(find(&launched).unwrap().rank(), 1);
    for (wrong, hint) in [
        (&[("MGN_RANK", "1")][..], "set both"),
        (
            &[("MGN_RANK", "3"), ("MGN_SIZE", "3")],
            "rank 3 in a job of 3",
        ),
        (&[("MGN_RANK", "x"), ("MGN_SIZE", "3")], "MGN_RANK=\"x\""),
        (
            &[("MGN_RANK", "0"), ("MGN_SIZE", "4294967295")],
            "too large",
        ),
        (
            &[("MGN_RANK", "0"), ("MGN_SIZE", "1"), ("MGN_JOB", "a b")],
            "\"a b\"",
        ),
        (&[file], "this process's rank"),
        (&[file, ("MGN_RANK", "0"), ("MGN_SIZE", "4")], "slots for 3"),
        (
            &[("MGN_HOSTFILE", "/nowhere"), ("MGN_RANK", "0")],
            "/nowhere",
        ),
        (&[("MGN_PORT", "70000")], "MGN_PORT"),
        (&[("MGN_TLS", "yes")], "neither 0 nor 1"),
        (&[("MGN_INTERFACES", "^")], "names no interfaces"),
    ] {
        let message = find(wrong).unwrap_err().to_string();
        assert!(message.contains(hint), "{wrong:?}: {message}");
    }
    std::fs::write(&path, "a\nb slots=none\n").unwrap();
    let message = find(&[file, ("MGN_RANK", "0")]).unwrap_err().to_string();
    assert!(message.contains("hosts:2: "), "{message}");
}

/// The job of a process that starts a program, where the program talks to the launcher.
#[test]
fn launchers_that_speak_pmi_are_not_asked_for_programs() {
    let find = |variables: &[(&str, &str)]| {
        let variables: HashMap<&str, &str> = variables.iter().copied().collect();
        Job::of_program_in(&|name| variables.get(name).map(|value| value.to_string()))
    };
    assert!(find(&[]).unwrap().is_none());
    // No such descriptor is open.
    let hydra = [("PMI_FD", "999"), ("PMI_RANK", "1"), ("PMI_SIZE", "2")];
    let with = |more: &[(&'static str, &'static str)]| [&hydra, more].concat();
    let local = ("MPI_LOCALNRANKS", "2");
    let job = find(&with(&[local, ("MGN_JOB", "x")])).unwrap().unwrap();
    assert_eq!((job.rank(), job.size(), job.name()), (1, 2, "x"));
    assert_eq!(job.hosts(), [own_host(), own_host()]);
    let error = find(&with(&[local])).unwrap_err().to_string();
    assert!(error.contains("set MGN_JOB"), "{error}");
    let error = find(&with(&[("MPI_LOCALNRANKS", "1")])).unwrap_err();
    assert!(error.to_string().contains("MGN_HOSTFILE"), "{error}");
    let job = find(&[("MGN_RANK", "0"), ("MGN_SIZE", "2")]).unwrap();
    assert_eq!(job.unwrap().source(), "MGN_RANK and MGN_SIZE");
}

#[test]
fn environments_of_launchers() {
    let mpi = [
        ("OMPI_COMM_WORLD_RANK", "1"),
        ("OMPI_COMM_WORLD_SIZE", "2"),
        ("OMPI_COMM_WORLD_LOCAL_SIZE", "2"),
        ("OMPI_COMM_WORLD_LOCAL_RANK", "1"),
        ("OMPI_MCA_ess_base_jobid", "123456"),
    ];
    let job = find(&mpi).unwrap();
    assert_eq!((job.rank(), job.size(), job.source()), (1, 2, "Open MPI"));
    let mut spread = mpi;
    spread[2].1 = "1";
    assert!(find(&spread)
        .unwrap_err()
        .to_string()
        .contains("MGN_HOSTFILE"));

    let slurm = [
        ("SLURM_PROCID", "3"),
        ("SLURM_NTASKS", "5"),
        ("SLURM_JOB_ID", "77"),
        ("SLURM_JOB_NODELIST", "n[1-2,9]"),
        ("SLURM_TASKS_PER_NODE", "2(x2),1"),
        ("SLURMD_NODENAME", "n2"),
    ];
    let job = find(&slurm).unwrap();
    assert_eq!((job.rank(), job.size(), job.source()), (3, 5, "Slurm"));
    assert_eq!(hosts_of(&job), ["n1", "n1", "n2", "n2", "n9"]);
    let mut cyclic = slurm.to_vec();
    cyclic[0].1 = "4";
    cyclic.push(("SLURM_DISTRIBUTION", "cyclic"));
    assert_eq!(
        hosts_of(&find(&cyclic).unwrap()),
        ["n1", "n2", "n9", "n1", "n2"]
    );
    let mut moved = slurm;
    moved[5].1 = "n1";
    assert!(find(&moved)
        .unwrap_err()
        .to_string()
        .contains("n1, not on n2"));
    let mut few = slurm;
    few[4].1 = "1(x3)";
    assert!(find(&few).is_err());
}

/// A launcher that speaks PMI-1 with `size` processes, each over a socket pair. With `apart`, rank
/// 2 seems to be on another machine.
fn launcher(size: u32, apart: bool, space: &Arc<Mutex<HashMap<String, String>>>) -> Vec<OwnedFd> {
    let barrier = Arc::new(Barrier::new(size as usize));
    let serve = |rank: u32| {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (space, barrier) = (space.clone(), barrier.clone());
        thread::spawn(move || {
            let mut out = ours.try_clone().unwrap();
            for line in BufReader::new(ours).lines().map_while(Result::ok) {
                let word = |key: &str| {
                    line.split(' ').find_map(|word| {
                        word.strip_prefix(key)?.strip_prefix('=').map(String::from)
                    })
                };
                let answer = match word("cmd").unwrap().as_str() {
                    "init" => "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0".into(),
                    "get_maxes" => {
                        "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024 rc=0".into()
                    }
                    "get_my_kvsname" => "cmd=my_kvsname kvsname=kvs_1_0 rc=0".into(),
                    "put" => {
                        space
                            .lock()
                            .unwrap()
                            .insert(word("key").unwrap(), word("value").unwrap());
                        "cmd=put_result rc=0 msg=success".into()
                    }
                    "get" => match space.lock().unwrap().get(&word("key").unwrap()) {
                        Some(value) => {
                            let of = word("key").unwrap();
                            let is_far = (of == "mgn-machine-2") != (rank == 2);
                            let mark = match apart && is_far && of.starts_with("mgn-machine-") {
                                true => "x",
                                false => "",
                            };
                            format!("cmd=get_result rc=0 msg=success value={value}{mark}")
                        }
                        None => "cmd=get_result rc=-1 msg=key_not_found value=unknown".into(),
                    },
                    "barrier_in" => {
                        barrier.wait();
                        "cmd=barrier_out rc=0".into()
                    }
                    "finalize" => "cmd=finalize_ack rc=0".into(),
                    other => panic!("{other} is not a command"),
                };
                writeln!(out, "{answer}").unwrap();
            }
        });
        theirs.into()
    };
    (0..size).map(serve).collect()
}

#[test]
fn a_launcher_that_speaks_pmi() {
    meet(false);
}

/// The processes get their addresses and a secret from the launcher.
#[test]
fn a_launcher_with_several_machines() {
    meet(true);
}

fn meet(apart: bool) {
    let size = 3;
    let mut random = [0; 8];
    super::random(&mut random);
    let name = format!("pmi-test-{:x}", u64::from_ne_bytes(random));
    let secret = Token::generate();
    let run = |rank: u32, socket: OwnedFd| {
        let pmi = Pmi::begin(socket, rank, size, None).unwrap();
        assert_eq!(pmi.space(), "kvs_1_0");
        let mut job = Job::with(name.clone(), rank, Places::Launcher(pmi), "a test").unwrap();
        if rank == 0 {
            job = job.token(secret.clone());
        }
        let member = job.interfaces("lo").unwrap().join().unwrap();
        assert_eq!(member.interfaces().is_empty(), !apart);
        for other in 0..size {
            let link = member.open(other, LONG).unwrap();
            assert_eq!(member.rank_of(link), Some(other));
            member
                .endpoint()
                .send(link, 5, &[rank as u8], SendOptions::default())
                .unwrap();
        }
        for other in 0..size {
            let mut into = [0];
            member
                .endpoint()
                .recv(Wanted::new(member.open(other, LONG).unwrap(), 5), &mut into)
                .unwrap();
            assert_eq!(into, [other as u8]);
        }
        part(&member);
    };
    let run = &run;
    let space = Arc::default();
    thread::scope(|scope| {
        for (rank, socket) in launcher(size, apart, &space).into_iter().enumerate() {
            scope.spawn(move || run(rank as u32, socket));
        }
    });
    // The launcher's store does not reveal the secret.
    let space = space.lock().unwrap();
    assert_eq!(space.contains_key("mgn-sealed-1"), apart);
    for (key, value) in space.iter() {
        assert!(!value.contains(secret.to_hex().as_str()), "{key}: {value}");
    }
}

/// Exchanges a last message with every process over the existing links, so that no process leaves
/// before all have finished.
fn part(member: &Member) {
    let links: Vec<_> = (0..member.size())
        .map(|other| member.open(other, LONG).unwrap())
        .collect();
    for link in &links {
        member
            .endpoint()
            .send(*link, 6, b"", SendOptions::default())
            .unwrap();
    }
    for link in links {
        member
            .endpoint()
            .recv(Wanted::new(link, 6), &mut [])
            .unwrap();
    }
}

#[test]
fn launchers_that_make_no_sense() {
    let mut random = Random::new(3);
    for answer in [
        "", "\n", "cmd=\n", "cmd=response_to_init rc=-1\n", "hello\n", "cmd=response_to_init rc=0\ncmd=maxes keylen_max=x\n",
        "cmd=response_to_init rc=0\ncmd=maxes keylen_max=64 vallen_max=9 rc=0\ncmd=my_kvsname rc=0\n", "\u{e9}",
    ] {
        let mut bytes = answer.as_bytes().to_vec();
        bytes.extend((0..random.below(9)).map(|_| random.next() as u8));
        let (ours, theirs) = UnixStream::pair().unwrap();
        (&ours).write_all(&bytes).unwrap();
        ours.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(Pmi::begin(theirs.into(), 0, 2, None).is_err(), "{answer:?}");
    }
}

/// The launcher sends the rank and size over the network.
#[test]
fn a_launcher_that_listens() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().to_string();
    let serving = thread::spawn(move || {
        let mut socket = BufReader::new(listener.accept().unwrap().0);
        let answers = [
            "cmd=initack rc=0\ncmd=set size=4\ncmd=set rank=3\ncmd=set debug=0\n",
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
            "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024 rc=0\n",
            "cmd=my_kvsname kvsname=there rc=0\n",
        ];
        let mut questions = String::new();
        for answer in answers {
            socket.read_line(&mut questions).unwrap();
            socket.get_mut().write_all(answer.as_bytes()).unwrap();
        }
        questions
    });
    let job = find(&[("PMI_PORT", &port), ("PMI_ID", "9")]).unwrap();
    assert_eq!(
        (job.rank(), job.size(), job.source()),
        (3, 4, "the launcher, by PMI")
    );
    let questions = serving.join().unwrap();
    assert!(
        questions.starts_with("cmd=initack pmiid=9\ncmd=init pmi_version=1 pmi_subversion=1\n"),
        "{questions}"
    );
}
