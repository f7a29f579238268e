//! Barriers of a job's processes: the state machines, run over the job's links, datagrams, shared
//! memory or wires.
//!
//! A [`JobBarrier`] runs its state machine in the program's calls. While the program does other
//! work, a separate thread runs the state machine every few milliseconds. So an arrival makes
//! progress while the program works, and other members get answers.

mod choice;
mod datagrams;
mod joining;
mod kind;
mod links;
mod meeting;
mod memory;
mod numbers;
mod running;
mod turn;
mod wires;

use std::net::IpAddr;
use std::ops::Deref;
use std::time::Duration;

use mgn_fabric::job::Member;
use mgn_fabric::Error;
use mgn_sys::fork;

use crate::{Combine, Ended, Id, Misuse, SharedError, View, ViewError, WaitError};
pub use choice::{Choice, UnknownChoice};
pub use kind::{Kind, UnknownKind};
use memory::InMemory;
use numbers::Number;
use running::Running;
use wires::OverWires;

/// The interval at which a waiting member checks whether another member has ended.
const LOSS_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The options of a barrier. All its members must pass the same options.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of the barrier. No other barrier of the job may have, or have had, this number.
    pub number: u16,
    /// The members, in any order. `None` means all ranks of the job.
    pub ranks: Option<Vec<u32>>,
    pub kind: Kind,
    pub combine: Combine,
    /// The time for which members wait for each other when the barrier is opened.
    pub patience: Duration,
    /// For datagrams: the name of the network interface to use in place of the job's first
    /// interface. For wires: the device that has the lines, in the text form of [`crate::Device`].
    /// Members may pass different values.
    pub interface: Option<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            number: 0,
            ranks: None,
            kind: Kind::Auto,
            combine: Combine::Any,
            patience: Duration::from_secs(60),
            interface: None,
        }
    }
}

/// The reason why a barrier could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    View(#[from] ViewError),
    #[error("a barrier cannot have rank {rank}: the size of the job is {size}, and ranks are counted from 0")]
    Rank { rank: u32, size: u32 },
    #[error("rank {rank} cannot be reached: {source}")]
    Unreachable { rank: u32, source: Error },
    #[error("rank {rank} was lost while the barrier was opened: {source}")]
    Lost { rank: u32, source: Error },
    #[error("rank {rank} was lost, or could not open the barrier")]
    Gone { rank: u32 },
    #[error("barrier {number} is open in this process: give each barrier a number of its own")]
    InUse { number: u16 },
    #[error(
        "barrier {number} was open in this process before: messages of that one could still \
         arrive; give each barrier a number of its own"
    )]
    Used { number: u16 },
    #[error(
        "rank {rank} has not opened barrier {number} after {waited:?}; if it has, it lists \
         other ranks"
    )]
    Late {
        rank: u32,
        number: u16,
        waited: Duration,
    },
    #[error(
        "rank {rank} has not answered for {waited:?}: it has not opened barrier {number}, or the \
         barrier is of a kind that no process can join"
    )]
    Silent {
        rank: u32,
        number: u16,
        waited: Duration,
    },
    #[error(
        "no process can join an open barrier of kind {kind}: use star, tree, tree-N or \
         dissemination"
    )]
    Closed { kind: Kind },
    #[error("a process joins an open barrier through its members: name at least one in ranks")]
    Nobody,
    #[error("rank {rank} is this process: name members that have the barrier open")]
    Own { rank: u32 },
    #[error("the group has not admitted this process to barrier {number} after {waited:?}")]
    NotAdmitted { number: u16, waited: Duration },
    #[error("the others had stopped waiting when this process opened barrier {number}")]
    TooLate { number: u16 },
    #[error(
        "rank {rank} opens barrier {number} with other members, of another kind, with another way \
         to combine numbers, or with another release of Manganese"
    )]
    Different { rank: u32, number: u16 },
    #[error(
        "a barrier in shared memory has members on one host, and ranks {one} and {other} are on \
         two: use another kind, or auto"
    )]
    Hosts { one: u32, other: u32 },
    #[error(transparent)]
    Shared(#[from] SharedError),
    #[error("{what}: {source}")]
    System {
        what: String,
        source: std::io::Error,
    },
    #[error(transparent)]
    Lines(#[from] crate::UnknownLines),
    #[error(
        "a barrier over wires needs to know its lines: set interface to gpiochip0:17,27,22 (a \
         chip and three of its lines) or parport0"
    )]
    NoLines,
    #[error("a barrier of kind {kind} takes no interface: leave it out, or use udp or wired")]
    NoInterface { kind: Kind },
    #[error(
        "rank {one} has the address {at} for datagrams, and rank {other} has {to}, but IPv4 and \
         IPv6 cannot reach each other: set interface (or MGN_INTERFACES) to networks where all \
         members have IPv4 addresses, or all have IPv6 addresses"
    )]
    Families {
        one: u32,
        at: IpAddr,
        other: u32,
        to: IpAddr,
    },
    #[error("no network interface {name} is up: the interfaces that are up are {there}")]
    Interface { name: String, there: String },
    #[error(transparent)]
    Job(Error),
}

/// Access to the job, which the barrier keeps as long as it needs the job.
trait Joined: Deref<Target = Member> + Send + Sync {}

impl<J: Deref<Target = Member> + Send + Sync> Joined for J {}

/// One member's barriers. A forked child is not a member: all its calls fail with
/// [`Ended::Excluded`].
#[derive(Debug)]
pub struct JobBarrier {
    core: Core,
    /// The [`fork::generation`] of the process that has opened the barrier.
    owner: u32,
    /// The barrier's number, which must be dropped after the other fields.
    _number: Number,
}

#[derive(Debug)]
enum Core {
    Memory(Box<InMemory>),
    Running(Box<Running>),
    Wires(Box<OverWires>),
}

impl JobBarrier {
    /// Opens a barrier together with all its other members.
    ///
    /// # Errors
    /// [`OpenError`]
    pub fn open<J>(job: J, options: &Options) -> Result<JobBarrier, OpenError>
    where
        J: Deref<Target = Member> + Send + Sync + 'static,
    {
        let kind = options.kind;
        if options.interface.is_some() && !kind.takes_interface() {
            return Err(OpenError::NoInterface { kind });
        }
        let group = meeting::Group::of(&job, options)?;
        let mut number = Number::take(&job, group.number)?;
        let core = match group.kind {
            Kind::Shared => Core::Memory(Box::new(InMemory::open(Box::new(job), group)?)),
            Kind::Wired => {
                let device = options.interface.as_deref();
                Core::Wires(Box::new(OverWires::open(Box::new(job), group, device)?))
            }
            _ => Core::Running(Box::new(Running::open(Box::new(job), group, options)?)),
        };
        let owner = fork::generation();
        number.use_up();
        Ok(JobBarrier {
            core,
            owner,
            _number: number,
        })
    }

    /// Joins a barrier that other ranks have open. [`Options::ranks`] names members to ask. At
    /// least one of them must stay until the group has admitted this process. From then on, the
    /// others wait for this process in each epoch. [`JobBarrier::arrive`] returns its first epoch.
    /// A rank that was a member before cannot join again.
    ///
    /// # Errors
    /// [`OpenError`]
    pub fn join<J>(job: J, options: &Options) -> Result<JobBarrier, OpenError>
    where
        J: Deref<Target = Member> + Send + Sync + 'static,
    {
        let kind = options.kind;
        if options.interface.is_some() {
            return Err(OpenError::NoInterface { kind });
        }
        if !kind.admits() && kind != Kind::Auto {
            return Err(OpenError::Closed { kind });
        }
        let ranks = options.ranks.clone().unwrap_or_default();
        if let Some(rank) = ranks.iter().find(|rank| **rank >= job.size()) {
            let (rank, size) = (*rank, job.size());
            return Err(OpenError::Rank { rank, size });
        }
        if ranks.is_empty() {
            return Err(OpenError::Nobody);
        }
        let contacts = View::new(ranks.into_iter().map(Id))?;
        let me = Id(job.rank());
        if contacts.contains(me) {
            return Err(OpenError::Own { rank: me.0 });
        }
        let number = Number::take(&job, options.number)?;
        let contacts = contacts.members();
        let (running, number) = Running::join(Box::new(job), number, me, contacts, options)?;
        let owner = fork::generation();
        Ok(JobBarrier {
            core: Core::Running(Box::new(running)),
            owner,
            _number: number,
        })
    }

    #[inline]
    fn check_owner(&self) -> Result<(), Ended> {
        match fork::generation() == self.owner {
            true => Ok(()),
            false => Err(Ended::Excluded),
        }
    }

    /// The kind of the barrier that was opened. This is never [`Kind::Auto`].
    pub fn kind(&self) -> Kind {
        match &self.core {
            Core::Memory(_) => Kind::Shared,
            Core::Running(running) => running.kind(),
            Core::Wires(_) => Kind::Wired,
        }
    }

    /// The ranks that are members, as far as this member knows.
    pub fn members(&self) -> Vec<u32> {
        if self.check_owner().is_err() {
            return Vec::new();
        }
        match &self.core {
            Core::Memory(memory) => memory.members(),
            Core::Running(running) => running.members(),
            Core::Wires(wires) => wires.members(),
        }
    }

    /// Arrives at the next epoch, and contributes `value`. Returns the epoch; the first epoch is 0.
    /// The program may do other work before it waits.
    ///
    /// # Errors
    /// [`Misuse`]
    pub fn arrive(&mut self, value: u64) -> Result<u64, Misuse> {
        self.check_owner()?;
        match &mut self.core {
            Core::Memory(memory) => memory.arrive(value),
            Core::Running(running) => running.arrive(value),
            Core::Wires(wires) => wires.arrive(),
        }
    }

    /// Waits until all members have arrived. Returns the combination of their numbers, or 0 for
    /// wires, which carry no numbers.
    ///
    /// # Errors
    /// [`WaitError`]. After [`WaitError::Lost`], the lost members take no part in the next epoch.
    /// After [`WaitError::TimedOut`], the program can wait again.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<u64, WaitError> {
        self.check_owner()?;
        match &mut self.core {
            Core::Memory(memory) => memory.wait(timeout),
            Core::Running(running) => running.wait(timeout),
            Core::Wires(wires) => wires.wait(timeout),
        }
    }

    /// Arrives and waits. A member that has arrived already only waits.
    ///
    /// # Errors
    /// As for [`JobBarrier::wait`].
    #[inline]
    pub fn pass(&mut self, value: u64, timeout: Option<Duration>) -> Result<u64, WaitError> {
        self.check_owner()?;
        match &mut self.core {
            Core::Memory(memory) => memory.pass(value, timeout),
            Core::Running(running) => running.pass(value, timeout),
            Core::Wires(wires) => {
                // A member that has arrived already waits, and a member that has left gets an
                // error.
                let _ = wires.arrive();
                wires.wait(timeout)
            }
        }
    }

    /// Leaves the group. The other members go on without this member, and no epoch fails. If the
    /// program drops the barrier without this call, the others count this member as lost.
    ///
    /// # Errors
    /// [`WaitError`]; [`WaitError::NotLeft`] if the others do not answer within `timeout`, or
    /// within ten seconds if there is no timeout.
    pub fn leave(&mut self, timeout: Option<Duration>) -> Result<(), WaitError> {
        self.check_owner()?;
        match &mut self.core {
            Core::Memory(memory) => memory.leave(),
            Core::Running(running) => running.leave(timeout),
            Core::Wires(wires) => wires.leave(),
        }
    }
}
