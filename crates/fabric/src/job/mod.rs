//! Parallel jobs: this process's rank, the places of the other processes, and links to them by
//! `<host, rank>`.
//!
//! [`Job::find`] uses the first source that describes a job: our own environment variables
//! (`MGN_HOSTFILE`, `MGN_RANK`, `MGN_SIZE`, `MGN_JOB`), a launcher that speaks PMI-1 (MPICH's
//! `mpiexec`), the environment of Open MPI, the environment of Slurm. Without any of these, the
//! process is a job of one. [`Job::join`] makes the process a [`Member`], which opens links.
//!
//! | variable | |
//! |---|---|
//! | `MGN_HOSTFILE` | lines of `host slots=N`: the host of each rank. `MGN_RANK` and `MGN_SIZE` may then be left to the launcher's variables |
//! | `MGN_RANK`, `MGN_SIZE` | this process's rank, and the number of processes. Without a hostfile, all processes are on this host |
//! | `MGN_JOB` | a name that tells jobs of one user apart; `job` unless set |
//! | `MGN_TOKEN_FILE` | the secret of a job on several hosts, unless the launcher distributes one |
//! | `MGN_PORT` | with a hostfile, rank r listens at this port plus r; 21400 unless set |
//! | `MGN_TLS` | `1` encrypts the traffic between hosts. Set the same value for all processes |
//! | `MGN_INTERFACES` | `eth0,ib0`, or `^docker0,lo` for all but these: where to listen |

mod broadcast;
mod hosts;
mod interfaces;
mod local;
mod member;
mod pmi;
mod sealed;

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use interfaces::Choice;
use pmi::Pmi;

use crate::token::random;
use crate::{Error, Token};

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use broadcast::{feed as feed_broadcast, seeds as broadcast_seeds};
pub use broadcast::{Reader, Writer};
pub use hosts::{hostfile, nodelist};
pub use member::Member;
pub use mgn_sys::interfaces::Interface;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use pmi::feed as feed_pmi;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use sealed::{feed as feed_secret, seeds as secret_seeds};

/// The default port of rank 0 of a job with a hostfile. It is below the ports that systems give to
/// clients.
const PORT: u16 = 21400;

/// The source of variables: the environment, or a test.
type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A job, as seen by one of its processes.
#[derive(Debug)]
pub struct Job {
    name: String,
    rank: u32,
    places: Places,
    source: &'static str,
    choice: Option<Choice>,
    port: u16,
    token: Option<Token>,
    tls: bool,
}

/// The source of the processes' hosts.
#[derive(Debug)]
enum Places {
    /// The host of each rank. Equal names stand for the same host.
    Hosts(Vec<String>),
    Launcher(Pmi),
}

impl Job {
    /// Finds this process's job from the environment.
    ///
    /// # Errors
    /// [`Error::Job`], [`Error::Hostfile`], [`Error::Token`], and errors in reading files or
    /// talking to the launcher.
    pub fn find() -> Result<Job, Error> {
        Job::find_in(&environment)
    }

    /// Finds the job of a program that this process starts. Does not talk to a launcher that speaks
    /// PMI-1, because the program may do that itself. Returns `None` if the environment describes
    /// no job.
    ///
    /// # Errors
    /// As for [`Job::find`]; [`Error::Job`] for a job of MPICH's launcher on several hosts.
    pub fn of_program() -> Result<Option<Job>, Error> {
        Job::of_program_in(&environment)
    }

    fn of_program_in(env: Env<'_>) -> Result<Option<Job>, Error> {
        match settings(env)? {
            Some(job) => Ok(Some(job)),
            None => match hydra(env)? {
                Some(job) => Ok(Some(job)),
                None => open_mpi(env)?.map_or_else(|| slurm(env), |job| Ok(Some(job))),
            },
        }
    }

    /// A job with one process per entry of `hosts`: rank `rank` runs on `hosts[rank]`.
    ///
    /// # Errors
    /// [`Error::Job`] for a rank that the job does not have, or a name with bytes that are not
    /// letters, digits, or `.-_`.
    pub fn new(name: &str, rank: u32, hosts: Vec<String>) -> Result<Job, Error> {
        Job::with(name.into(), rank, Places::Hosts(hosts), "the program")
    }

    /// Finds the job from these variables.
    ///
    /// # Errors
    /// As for [`Job::find`].
    pub fn find_in(env: Env<'_>) -> Result<Job, Error> {
        let mut job = match settings(env)? {
            Some(job) => job,
            None => match Pmi::find(env)? {
                Some(pmi) => {
                    let name = format!("pmi-{}", digest(pmi.space()));
                    Job::with(
                        name,
                        pmi.rank,
                        Places::Launcher(pmi),
                        "the launcher, by PMI",
                    )?
                }
                None => match open_mpi(env)? {
                    Some(job) => job,
                    None => slurm(env)?.map_or_else(alone, Ok)?,
                },
            },
        };
        job.configure(env)?;
        Ok(job)
    }

    /// Applies `MGN_INTERFACES`, `MGN_PORT`, `MGN_TLS` and `MGN_TOKEN_FILE` from the environment to
    /// a job that was not made by [`Job::find`].
    ///
    /// # Errors
    /// As for [`Job::find`].
    pub fn configured(mut self) -> Result<Job, Error> {
        self.configure(&environment)?;
        Ok(self)
    }

    fn configure(&mut self, env: Env<'_>) -> Result<(), Error> {
        self.choice = env("MGN_INTERFACES")
            .as_deref()
            .map(Choice::new)
            .transpose()?;
        self.port = number(env, "MGN_PORT")?.unwrap_or(PORT);
        self.tls = match env("MGN_TLS").as_deref() {
            None | Some("0") => false,
            Some("1") => true,
            Some(other) => return Err(Error::Job(format!("MGN_TLS={other} is neither 0 nor 1"))),
        };
        let token = env("MGN_TOKEN_FILE").map(PathBuf::from);
        let token = token.as_deref().map(Token::read).transpose()?;
        self.token = token.map(Token::for_any_server);
        Ok(())
    }

    fn with(name: String, rank: u32, places: Places, source: &'static str) -> Result<Job, Error> {
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
        if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
            return Err(Error::Job(format!(
                "{name:?} is not a valid job name: use 1 to 64 letters, digits, dots, dashes or underscores"
            )));
        }
        let job = Job {
            name,
            rank,
            places,
            source,
            choice: None,
            port: PORT,
            token: None,
            tls: false,
        };
        let size = job.size();
        if rank >= size || size as usize > hosts::RANKS_MAX {
            return Err(Error::Job(format!(
                "rank {rank} in a job of {size} (from {source}): ranks count from 0"
            )));
        }
        Ok(job)
    }

    /// Sets the interfaces to listen at: `eth0,ib0`, or `^docker0,lo` for all but these.
    ///
    /// # Errors
    /// [`Error::Job`] for a list without names.
    pub fn interfaces(mut self, choice: &str) -> Result<Job, Error> {
        self.choice = Some(Choice::new(choice)?);
        Ok(self)
    }

    /// Sets the secret that the processes of a job on several hosts share.
    pub fn token(mut self, token: Token) -> Job {
        self.token = Some(token);
        self
    }

    /// Encrypts the traffic between hosts. All processes of the job must do the same.
    pub fn encrypted(mut self) -> Job {
        self.tls = true;
        self
    }

    /// Sets the port of rank 0. The other ranks listen at the ports that follow. With a launcher
    /// that speaks PMI, the port is not used.
    pub fn port(mut self, port: u16) -> Job {
        self.port = port;
        self
    }

    /// The name, which tells jobs of one user apart.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// This process's rank, below [`Job::size`].
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// The number of processes.
    pub fn size(&self) -> u32 {
        match &self.places {
            Places::Hosts(hosts) => hosts.len() as u32,
            Places::Launcher(pmi) => pmi.size,
        }
    }

    /// The host of each rank. Empty if only the launcher knows the hosts.
    pub fn hosts(&self) -> &[String] {
        match &self.places {
            Places::Hosts(hosts) => hosts,
            Places::Launcher(_) => &[],
        }
    }

    /// The source of the job's description, for messages to the user.
    pub fn source(&self) -> &'static str {
        self.source
    }
}

/// The value of a variable. An empty variable counts as not set.
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The job from our own variables. With a hostfile, this process's rank may also come from the
/// launcher's variables.
fn settings(env: Env<'_>) -> Result<Option<Job>, Error> {
    let path = env("MGN_HOSTFILE").map(PathBuf::from);
    let launched = ["PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"];
    let sized = ["PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"];
    let first = |names: [&str; 3]| {
        names
            .iter()
            .find_map(|name| number::<u32>(env, name).transpose())
            .transpose()
    };
    let mut rank: Option<u32> = number(env, "MGN_RANK")?;
    let mut size: Option<u32> = number(env, "MGN_SIZE")?;
    let Some(path) = path else {
        return match (rank, size) {
            (None, None) => Ok(None),
            (Some(rank), Some(size)) if size as usize <= hosts::RANKS_MAX => {
                let hosts = vec![own_host(); size as usize];
                Job::with(
                    name(env),
                    rank,
                    Places::Hosts(hosts),
                    "MGN_RANK and MGN_SIZE",
                )
                .map(Some)
            }
            (Some(_), Some(size)) => Err(Error::Job(format!("MGN_SIZE={size} is too large"))),
            _ => Err(Error::Job(
                "set both MGN_RANK and MGN_SIZE, or MGN_HOSTFILE".into(),
            )),
        };
    };
    if rank.is_none() {
        rank = first(launched)?;
        size = size.or(first(sized)?);
    }
    let rank = rank.ok_or_else(|| {
        Error::Job(
            "MGN_HOSTFILE is set, but neither MGN_RANK nor a launcher gives this process's rank"
                .into(),
        )
    })?;
    let text = std::fs::read_to_string(&path).map_err(Error::io(format!(
        "cannot read the hostfile {}",
        path.display()
    )))?;
    let mut hosts = hostfile(&path, &text)?;
    if let Some(size) = size {
        if size as usize > hosts.len() {
            return Err(Error::Job(format!(
                "the job has {size} processes, but {} has slots for {}",
                path.display(),
                hosts.len()
            )));
        }
        hosts.truncate(size as usize);
    }
    Job::with(name(env), rank, Places::Hosts(hosts), "MGN_HOSTFILE").map(Some)
}

fn name(env: Env<'_>) -> String {
    env("MGN_JOB").unwrap_or_else(|| "job".into())
}

/// The job from the environment variables of MPICH's launcher.
fn hydra(env: Env<'_>) -> Result<Option<Job>, Error> {
    let (Some(rank), Some(size)) = (
        number::<u32>(env, "PMI_RANK")?,
        number::<u32>(env, "PMI_SIZE")?,
    ) else {
        return Ok(None);
    };
    let Some(local) = number::<u32>(env, "MPI_LOCALNRANKS")? else {
        return Ok(None);
    };
    if local != size {
        return Err(Error::Job(format!(
            "MPICH runs {size} processes on several hosts and does not name them; set MGN_HOSTFILE to a hostfile in the order of ranks"
        )));
    }
    let name = match (env("MGN_JOB"), proxy()) {
        (Some(name), _) => name,
        (None, Some(proxy)) => format!("hydra-{proxy}"),
        (None, None) => {
            return Err(Error::Job(
                "PMI_RANK is set, but none of this process's ancestors is MPICH's launcher: set MGN_JOB"
                    .into(),
            ))
        }
    };
    let hosts = vec![own_host(); (size as usize).min(hosts::RANKS_MAX + 1)];
    Job::with(name, rank, Places::Hosts(hosts), "MPICH").map(Some)
}

/// The process ID of MPICH's proxy, which has started all ranks on this host.
fn proxy() -> Option<u32> {
    let mut pid = std::process::id();
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name is in parentheses, and may itself contain parentheses.
        let (before, after) = stat.rsplit_once(')')?;
        if before.ends_with("(hydra_pmi_proxy") {
            return Some(pid);
        }
        pid = after.split_ascii_whitespace().nth(1)?.parse().ok()?;
    }
}

/// The job from the environment of Open MPI. The variables give the rank and size, but the other
/// processes' hosts are available only through Open MPI's own protocol.
fn open_mpi(env: Env<'_>) -> Result<Option<Job>, Error> {
    let Some(rank) = number(env, "OMPI_COMM_WORLD_RANK")? else {
        return Ok(None);
    };
    let wanted = |name| {
        Ok(number::<u32>(env, name)?
            .ok_or_else(|| Error::Job(format!("OMPI_COMM_WORLD_RANK is set and {name} is not"))))
    };
    let size = wanted("OMPI_COMM_WORLD_SIZE")??;
    let local = wanted("OMPI_COMM_WORLD_LOCAL_SIZE")??;
    if local != size {
        return Err(Error::Job(format!(
            "Open MPI runs {size} processes on several hosts and does not name them; set MGN_HOSTFILE to a hostfile in the order of ranks (mpirun -x MGN_HOSTFILE=…)"
        )));
    }
    let id = env("PMIX_NAMESPACE").or_else(|| env("OMPI_MCA_ess_base_jobid"));
    let id = id.ok_or_else(|| {
        Error::Job(
            "Open MPI does not give the job's number: set MGN_JOB, MGN_RANK and MGN_SIZE".into(),
        )
    })?;
    let hosts = Places::Hosts(vec![own_host(); (size as usize).min(hosts::RANKS_MAX + 1)]);
    Job::with(format!("ompi-{}", digest(&id)), rank, hosts, "Open MPI").map(Some)
}

fn slurm(env: Env<'_>) -> Result<Option<Job>, Error> {
    let (Some(rank), Some(id)) = (number::<u32>(env, "SLURM_PROCID")?, env("SLURM_JOB_ID")) else {
        return Ok(None);
    };
    let either = |step: &str, job: &str| env(step).or_else(|| env(job));
    let missing = |what: &str| Error::Job(format!("SLURM_PROCID is set and {what} is not"));
    let step = env("SLURM_STEP_ID").unwrap_or_else(|| "0".into());
    let nodes = either("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST")
        .ok_or_else(|| missing("SLURM_JOB_NODELIST"))?;
    let nodes = nodelist(&nodes)?;
    let size = match number(env, "SLURM_STEP_NUM_TASKS")? {
        Some(size) => size,
        None => number::<usize>(env, "SLURM_NTASKS")?.ok_or_else(|| missing("SLURM_NTASKS"))?,
    };
    let tasks = match either("SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE") {
        Some(text) => hosts::tasks_per_node(&text)?,
        None if size % nodes.len() == 0 => vec![size / nodes.len(); nodes.len()],
        None => return Err(missing("SLURM_TASKS_PER_NODE")),
    };
    let is_cyclic = env("SLURM_DISTRIBUTION").is_some_and(|how| how.starts_with("cyclic"));
    let hosts = distribute(&nodes, &tasks, is_cyclic);
    if hosts.len() != size {
        return Err(Error::Job(format!(
            "Slurm's nodes have slots for {} tasks, but the job has {size}",
            hosts.len()
        )));
    }
    if let (Some(here), Some(listed)) = (env("SLURMD_NODENAME"), hosts.get(rank as usize)) {
        if here != *listed {
            return Err(Error::Job(format!(
                "rank {rank} is on {here}, not on {listed} as in Slurm's lists; set MGN_HOSTFILE to a hostfile in the order of ranks"
            )));
        }
    }
    Job::with(
        format!("slurm-{}", digest(&format!("{id}.{step}"))),
        rank,
        Places::Hosts(hosts),
        "Slurm",
    )
    .map(Some)
}

/// The node of each task. Fills one node after the other. If `is_cyclic` is set, gives each node
/// one task in turn.
fn distribute(nodes: &[String], tasks: &[usize], is_cyclic: bool) -> Vec<String> {
    let pairs = nodes.iter().zip(tasks);
    if !is_cyclic {
        return pairs
            .flat_map(|(node, tasks)| std::iter::repeat_n(node.clone(), *tasks))
            .take(hosts::RANKS_MAX + 1)
            .collect();
    }
    let most = tasks.iter().copied().max().unwrap_or(0);
    let turn = |turn: usize| {
        pairs
            .clone()
            .filter(move |(_, tasks)| **tasks > turn)
            .map(|(node, _)| node.clone())
    };
    (0..most)
        .flat_map(turn)
        .take(hosts::RANKS_MAX + 1)
        .collect()
}

fn alone() -> Result<Job, Error> {
    let mut bytes = [0; 8];
    random(&mut bytes);
    let name = format!("alone-{:016x}", u64::from_ne_bytes(bytes));
    Job::with(
        name,
        0,
        Places::Hosts(vec![own_host()]),
        "no hostfile or launcher: a job of one",
    )
}

/// A short name for a launcher's name of a job.
fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..24].into()
}

fn own_host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "localhost".into(),
        name => name.into(),
    }
}

fn number<T: FromStr>(env: Env<'_>, name: &str) -> Result<Option<T>, Error> {
    env(name)
        .map(|text| {
            text.trim().parse().map_err(|_| {
                Error::Job(format!(
                    "{name}={text:?} is not a number in the permitted range"
                ))
            })
        })
        .transpose()
}

/// Locks a mutex, also after a panic. Every change is one assignment, so a panic leaves no
/// inconsistent state.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
