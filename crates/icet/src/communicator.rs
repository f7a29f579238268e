//! The program's communicator, through which its processes find each other.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mgn_composite::{release_name, Group, RELEASE};
use mgn_fabric::job::{Job, Member};
use mgn_fabric::Token;
use zeroize::Zeroizing;

use crate::abi::{Communicator, Enum, BYTE, INT};
use crate::diagnostics::Problem;

/// How long a process may make the others wait, unless `MGN_ICET_TIMEOUT` gives another number of
/// seconds. Some programs draw for minutes.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// The processes of a context, with its own duplicate of the program's communicator.
pub(crate) struct Processes {
    communicator: *mut Communicator,
    rank: usize,
    size: usize,
    /// How to join the others, or why that is not possible.
    met: Result<Met, String>,
}

/// The processes' knowledge of each other after they have met.
struct Met {
    /// The nonces of the processes in the order of the ranks, which tell jobs apart.
    key: Vec<[u8; 16]>,
    /// The number of the context's group in the job.
    group: u16,
}

// SAFETY: one thread at a time uses it: the one that holds the registry's lock, or the one that
// drops it. IceT asks for no more of programs with threads.
unsafe impl Send for Processes {}

/// The processes, joined.
pub(crate) struct Members {
    pub(crate) group: Group<'static>,
}

/// The message of each process to the others, after its release.
#[derive(Clone)]
struct Greeting {
    /// Tells processes apart.
    nonce: [u8; 16],
    /// That of rank 0 becomes the job's.
    secret: Zeroizing<String>,
    host: String,
    /// How many jobs this process has been in.
    jobs: u32,
}

/// Bytes of a greeting, in which text is padded with zeros. The number is the same in all releases,
/// because processes gather greetings before they know each other's release.
const GREETING: usize = RELEASE_ROOM + 16 + SECRET + HOST + 4;
const RELEASE_ROOM: usize = 32;
const SECRET: usize = 512;
const HOST: usize = 224;

// The rest of a greeting may differ between releases, so the release must fit, with a zero at its
// end.
const _: () = assert!(RELEASE.len() < RELEASE_ROOM);

impl Processes {
    /// # Safety
    /// `communicator` is null or one of IceT's.
    pub(crate) unsafe fn new(communicator: *mut Communicator) -> Result<Processes, Problem> {
        let missing = |what: &str| Problem::Value(format!("The communicator has no {what}."));
        // SAFETY: as the caller promises.
        let functions = unsafe { communicator.as_ref() };
        let functions =
            functions.ok_or_else(|| Problem::Value("The communicator is null.".into()))?;
        let duplicate = functions.duplicate.ok_or_else(|| missing("Duplicate"))?;
        // SAFETY: that is what a communicator's functions are for.
        let communicator = unsafe { duplicate(communicator) };
        // SAFETY: as above.
        let functions = unsafe { communicator.as_ref() };
        let functions = functions
            .ok_or_else(|| Problem::Operation("The communicator cannot be duplicated.".into()))?;
        let rank = functions.comm_rank.ok_or_else(|| missing("Comm_rank"))?;
        let size = functions.comm_size.ok_or_else(|| missing("Comm_size"))?;
        // SAFETY: as above.
        let (rank, size) = unsafe { (rank(communicator), size(communicator)) };
        let (rank, size) = match (usize::try_from(rank), usize::try_from(size)) {
            (Ok(rank), Ok(size)) if rank < size => (rank, size),
            _ => {
                return Err(Problem::Value(format!(
                    "The communicator says that this is process {rank} of {size}."
                )))
            }
        };
        let mut processes = Processes {
            communicator,
            rank,
            size,
            met: Err("there is only one process".into()),
        };
        if size > 1 {
            // The processes meet here, and not at the first frame: `Allgather` waits without a
            // limit, and all processes are here, because IceT duplicates communicators here, which
            // waits for all, too.
            processes.met = processes.meet().map_err(|error| error.to_string());
        }
        Ok(processes)
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Gathers a number from each process. All processes call this.
    pub(crate) fn gather(&self, mine: i32) -> Result<Vec<i32>, Problem> {
        let mut all = vec![0; self.size];
        // SAFETY: `mine` is an int, and `all` has room for one of each process.
        unsafe { self.allgather((&raw const mine).cast(), 1, INT, all.as_mut_ptr().cast()) }?;
        Ok(all)
    }

    /// # Safety
    /// `mine` has that number of values, and `all` has room for those of all processes.
    unsafe fn allgather(
        &self,
        mine: *const c_void,
        count: i32,
        kind: Enum,
        all: *mut c_void,
    ) -> Result<(), Problem> {
        // SAFETY: the communicator is valid until `self` is dropped.
        let functions = unsafe { &*self.communicator };
        let allgather = functions
            .allgather
            .ok_or_else(|| Problem::Value("The communicator has no Allgather.".into()))?;
        // SAFETY: as the caller promises.
        unsafe { allgather(self.communicator, mine, count, kind, all) };
        Ok(())
    }

    /// Joins the processes, which is done at the first frame: contexts that never draw need no
    /// links. Waits for the others up to the time limit.
    pub(crate) fn join(&self) -> Result<Members, Problem> {
        let patience = patience()?;
        let Met { key, group } = self
            .met
            .as_ref()
            .map_err(|why| Problem::Operation(why.clone()))?;
        let mut jobs = JOBS.lock().unwrap_or_else(PoisonError::into_inner);
        let member = jobs.join(key, self.rank)?;
        drop(jobs);
        Ok(Members {
            group: Group::new(member, *group, patience)?,
        })
    }

    /// Exchanges greetings. All processes call this.
    fn meet(&self) -> Result<Met, Problem> {
        let mut jobs = JOBS.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = Greeting {
            nonce: jobs.nonce()?,
            secret: Token::generate().to_text(),
            host: rustix::system::uname()
                .nodename()
                .to_string_lossy()
                .into_owned(),
            jobs: jobs.open.as_ref().map_or(0, HashMap::len) as u32,
        };
        let bytes = mine.to_bytes()?;
        let mut all = Zeroizing::new(vec![0_u8; GREETING * self.size]);
        // SAFETY: `bytes` is a greeting, and `all` has room for one of each process.
        unsafe {
            self.allgather(
                bytes.as_ptr().cast(),
                GREETING as i32,
                BYTE,
                all.as_mut_ptr().cast(),
            )
        }?;
        let all = all.chunks_exact(GREETING).enumerate();
        let all = all.map(|(rank, bytes)| Greeting::from_bytes(rank, bytes));
        let all: Vec<Greeting> = all.collect::<Result<_, _>>()?;
        Ok(jobs.meet(all))
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        // SAFETY: the communicator is valid until `destroy` ends it here.
        unsafe {
            if let Some(destroy) = (*self.communicator).destroy {
                destroy(self.communicator);
            }
        }
    }
}

/// The jobs that this process is in. Contexts of the same processes share one.
struct Jobs {
    nonce: Option<[u8; 16]>,
    /// The jobs, by the nonces of their processes in the order of the ranks. None is ever removed.
    open: Option<HashMap<Vec<[u8; 16]>, Known>>,
}

/// A job, and the number of its last group.
struct Known {
    job: Joining,
    groups: u16,
}

enum Joining {
    /// The data for joining.
    Met {
        name: String,
        hosts: Vec<String>,
        secret: Zeroizing<String>,
    },
    /// Never freed, because groups borrow it, and a process has few jobs.
    Joined(&'static Member),
}

static JOBS: Mutex<Jobs> = Mutex::new(Jobs {
    nonce: None,
    open: None,
});

impl Jobs {
    fn nonce(&mut self) -> Result<[u8; 16], Problem> {
        if self.nonce.is_none() {
            let mut bytes = [0; 16];
            getrandom::fill(&mut bytes).map_err(|error| {
                Problem::Operation(format!("the system has no random numbers: {error}"))
            })?;
            self.nonce = Some(bytes);
        }
        Ok(self.nonce.unwrap_or_default())
    }

    /// Notes the job of these processes, and one more group in it.
    fn meet(&mut self, all: Vec<Greeting>) -> Met {
        let key: Vec<[u8; 16]> = all.iter().map(|greeting| greeting.nonce).collect();
        let open = self.open.get_or_insert_with(HashMap::new);
        if let Some(known) = open.get_mut(&key) {
            known.groups = known.groups.wrapping_add(1);
            return Met {
                key,
                group: known.groups,
            };
        }
        let first = &all[0];
        let nonce = first.nonce.iter();
        let hex: String = nonce.map(|byte| format!("{byte:02x}")).collect();
        let job = Joining::Met {
            name: format!("icet-{hex}-{}", first.jobs),
            secret: first.secret.clone(),
            hosts: all.into_iter().map(|greeting| greeting.host).collect(),
        };
        open.insert(key.clone(), Known { job, groups: 0 });
        Met { key, group: 0 }
    }

    /// Joins the job of these processes, unless that has been done.
    fn join(&mut self, key: &[[u8; 16]], rank: usize) -> Result<&'static Member, Problem> {
        let known = self.open.as_mut().and_then(|open| open.get_mut(key));
        let known =
            known.ok_or_else(|| Problem::Internal("the processes have not met".to_owned()))?;
        match &known.job {
            Joining::Joined(member) => Ok(member),
            Joining::Met {
                name,
                hosts,
                secret,
            } => {
                let job = Job::new(name, rank as u32, hosts.clone())?.configured()?;
                let member = job.token(Token::from_text(secret)?).join()?;
                let member: &'static Member = Box::leak(Box::new(member));
                known.job = Joining::Joined(member);
                Ok(member)
            }
        }
    }
}

impl Greeting {
    fn to_bytes(&self) -> Result<Zeroizing<Vec<u8>>, Problem> {
        // Allocated at its full length, so that growing leaves no copy of the secret in freed
        // memory.
        let mut bytes = Zeroizing::new(Vec::with_capacity(GREETING));
        bytes.extend(RELEASE.as_bytes());
        bytes.resize(RELEASE_ROOM, 0);
        bytes.extend(self.nonce);
        for (text, room) in [(self.secret.as_str(), SECRET), (&self.host, HOST)] {
            if text.len() >= room {
                return Err(Problem::Operation(format!(
                    "the name of this host is too long: {text}"
                )));
            }
            let end = bytes.len() + room;
            bytes.extend(text.bytes());
            bytes.resize(end, 0);
        }
        bytes.extend(self.jobs.to_le_bytes());
        Ok(bytes)
    }

    /// Decodes the greeting of the process with this rank.
    fn from_bytes(rank: usize, bytes: &[u8]) -> Result<Greeting, Problem> {
        let text = |bytes: &[u8]| {
            let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
            String::from_utf8(bytes.to_vec()).map_err(|_| other_release(rank, None))
        };
        let (release, bytes) = bytes.split_at(RELEASE_ROOM);
        let release = text(release)?;
        if release != RELEASE {
            return Err(other_release(rank, Some(&release)));
        }
        let mut nonce = [0; 16];
        nonce.copy_from_slice(&bytes[..16]);
        let (secret, rest) = bytes[16..].split_at(SECRET);
        let (host, jobs) = rest.split_at(HOST);
        let mut count = [0; 4];
        count.copy_from_slice(&jobs[..4]);
        Ok(Greeting {
            nonce,
            secret: text(secret)?.into(),
            host: text(host)?,
            jobs: u32::from_le_bytes(count),
        })
    }
}

/// The error for a process of another release, or whose greeting this one does not understand.
fn other_release(rank: usize, release: Option<&str>) -> Problem {
    let release = release.and_then(release_name);
    Problem::Operation(format!(
        "process {rank} runs {}, and this one {RELEASE}: all processes must run the same release",
        release.unwrap_or("another release")
    ))
}

fn patience() -> Result<Duration, Problem> {
    let Some(text) = std::env::var_os("MGN_ICET_TIMEOUT").filter(|text| !text.is_empty()) else {
        return Ok(DEFAULT_TIMEOUT);
    };
    let seconds = text.to_str().and_then(|text| text.parse::<f64>().ok());
    seconds
        .filter(|seconds| *seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| {
            Problem::Value(format!(
                "MGN_ICET_TIMEOUT is {}, and should be a number of seconds",
                text.to_string_lossy()
            ))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greetings_are_read_as_they_were_written() {
        let greeting = Greeting {
            nonce: [7; 16],
            secret: Token::generate().to_text(),
            host: "node-7.cluster".into(),
            jobs: 3,
        };
        let bytes = greeting.to_bytes().unwrap();
        assert_eq!(bytes.len(), GREETING);
        let read = Greeting::from_bytes(1, &bytes).unwrap();
        assert_eq!(read.to_bytes().unwrap(), bytes);
        let mut wrong = bytes;
        wrong[RELEASE_ROOM + 16] = 0xFF;
        assert!(Greeting::from_bytes(1, &wrong).is_err());
        // Greetings of other releases: one that names itself, and one whose greetings began with
        // the nonce.
        for (release, named) in [
            (&b"Manganese 0.0.7"[..], "Manganese 0.0.7"),
            (&[7; 16], "another"),
        ] {
            let mut other = read.to_bytes().unwrap();
            other[..RELEASE_ROOM].fill(0);
            other[..release.len()].copy_from_slice(release);
            let error = Greeting::from_bytes(3, &other).map(drop).unwrap_err();
            let text = error.to_string();
            assert!(text.contains(&format!("process 3 runs {named}")), "{text}");
        }
        let long = Greeting {
            host: "x".repeat(HOST),
            ..greeting
        };
        assert!(long.to_bytes().is_err());
    }
}
