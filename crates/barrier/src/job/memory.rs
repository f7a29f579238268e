//! A barrier in memory that the processes of one host share. Members watch each other's processes.

use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use mgn_sys::{fork, memory, peer, Protection};

use super::links::Links;
use super::meeting::Group;
use super::{Joined, OpenError, LOSS_CHECK_INTERVAL};
use crate::{Id, Misuse, Reporter, Shared, SharedError, WaitError};

#[derive(Debug)]
pub(super) struct InMemory {
    shared: Shared,
    reporter: Reporter,
    group: Group,
    /// The processes of the other members, by place. `None` for this process, and for processes
    /// that have ended.
    processes: Vec<Option<OwnedFd>>,
    /// The process that has opened the barrier. A forked child is not a member.
    owner: u32,
}

impl InMemory {
    pub fn open(job: Box<dyn Joined>, mut group: Group) -> Result<InMemory, OpenError> {
        let mut links = Links::new(job, group.number);
        let count = group.view.len();
        let me = Id(group.view.place(group.me).expect("a member of its group") as u32);
        let own = match group.is_first() {
            true => Some(Shared::create(count)?),
            false => None,
        };
        let nonce = own.as_ref().map(Shared::nonce).transpose()?;
        let pid = std::process::id().to_le_bytes();
        let answer = group.meet(&mut links, &pid, |pids| {
            let (fd, nonce) = own.as_ref().zip(nonce).expect("the first one answers");
            let mut answer = (fd.as_raw_fd() as u32).to_le_bytes().to_vec();
            answer.extend(nonce.to_le_bytes());
            // The words are in the order of the members.
            pids.iter().for_each(|(_, pid)| answer.extend(pid));
            Ok(answer)
        })?;
        let taken = take(&answer, own.as_ref(), me, &group);
        // The first member keeps the descriptor until all members have opened it, or until one
        // member has failed to open it.
        let met = group.agree(&mut links, taken.is_ok());
        let (shared, processes) = taken?;
        let reporter = shared.reporter();
        if let Err(error) = met {
            // Other members may have been told that all are ready, and may wait for this member.
            reporter.lost(me);
            return Err(error);
        }
        for (place, process) in processes.iter().enumerate() {
            if process.is_none() && place != me.0 as usize {
                reporter.lost(Id(place as u32));
            }
        }
        Ok(InMemory {
            shared,
            reporter,
            group,
            processes,
            owner: fork::generation(),
        })
    }

    pub fn members(&self) -> Vec<u32> {
        let members = self.group.view.members().iter().enumerate();
        let there = members.filter(|(place, _)| self.shared.is_member(Id(*place as u32)));
        there.map(|(_, id)| id.0).collect()
    }

    pub fn arrive(&mut self, value: u64) -> Result<u64, Misuse> {
        self.shared.arrive(value)
    }

    #[inline]
    pub fn pass(&mut self, value: u64, timeout: Option<Duration>) -> Result<u64, WaitError> {
        match self.shared.pass_at_once(value) {
            Some(value) => Ok(value),
            None => self.wait(timeout),
        }
    }

    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<u64, WaitError> {
        match self.shared.wait(Some(until_check(timeout))) {
            Err(WaitError::TimedOut { .. }) => self.wait_longer(timeout),
            passed => passed.map_err(|error| self.name(error)),
        }
    }

    /// Continues a wait after its first [`LOSS_CHECK_INTERVAL`].
    fn wait_longer(&mut self, timeout: Option<Duration>) -> Result<u64, WaitError> {
        let since = Instant::now();
        let timeout = timeout.map(|timeout| timeout.saturating_sub(LOSS_CHECK_INTERVAL));
        loop {
            self.watch();
            let left = timeout.map(|timeout| timeout.saturating_sub(since.elapsed()));
            match self.shared.wait(Some(until_check(left))) {
                Err(WaitError::TimedOut { .. }) if left != Some(Duration::ZERO) => {}
                passed => return passed.map_err(|error| self.name(error)),
            }
        }
    }

    /// Reports members whose processes have ended.
    fn watch(&mut self) {
        for (place, process) in self.processes.iter_mut().enumerate() {
            if process.as_ref().is_some_and(peer::ended) {
                *process = None;
                self.reporter.lost(Id(place as u32));
            }
        }
    }

    pub fn leave(&mut self) -> Result<(), WaitError> {
        self.shared.leave().map_err(|misuse| match misuse {
            Misuse::Ended(ended) => ended.into(),
            // The program has to wait for its epoch first.
            _ => WaitError::Arrived,
        })
    }

    /// Converts the members in an error from places to ranks. The shared memory identifies members
    /// by place, and the program by rank.
    fn name(&self, error: WaitError) -> WaitError {
        let rank = |place: &Id| self.group.view.members()[place.0 as usize];
        match error {
            WaitError::Lost(mut lost) => {
                lost.members = lost.members.iter().map(rank).collect();
                WaitError::Lost(lost)
            }
            WaitError::TimedOut { missing } => WaitError::TimedOut {
                missing: missing.iter().map(rank).collect(),
            },
            other => other,
        }
    }
}

impl Drop for InMemory {
    fn drop(&mut self) {
        if self.owner != fork::generation() {
            return;
        }
        let place = self.group.view.place(self.group.me);
        let place = place.expect("a member of its group");
        self.reporter.lost(Id(place as u32));
    }
}

/// The time to wait before the next check of the members' processes.
fn until_check(timeout: Option<Duration>) -> Duration {
    timeout.map_or(LOSS_CHECK_INTERVAL, |timeout| {
        timeout.min(LOSS_CHECK_INTERVAL)
    })
}

/// Opens the memory that the first member has named, and the processes of all members.
fn take(
    answer: &[u8],
    own: Option<&OwnedFd>,
    me: Id,
    group: &Group,
) -> Result<(Shared, Vec<Option<OwnedFd>>), OpenError> {
    let mut words = answer.chunks_exact(4).map(|word| {
        let word: [u8; 4] = word.try_into().expect("four bytes");
        u32::from_le_bytes(word)
    });
    let mut word = || words.next().ok_or(SharedError::Other);
    let (fd, low, high) = (word()?, word()?, word()?);
    let nonce = u64::from(high) << 32 | u64::from(low);
    let pids: Vec<u32> = words.collect();
    if pids.len() != group.view.len() {
        return Err(SharedError::Other.into());
    }
    let opened = match own {
        Some(fd) => fd.try_clone(),
        None => memory::of_process(pids[0], fd, Protection::ReadWrite),
    };
    let fd = opened.map_err(SharedError::System)?;
    if Shared::nonce(&fd)? != nonce {
        return Err(SharedError::Other.into());
    }
    let mut processes = Vec::new();
    for (place, pid) in pids.into_iter().enumerate() {
        processes.push(match place == me.0 as usize {
            true => None,
            false => peer::pidfd_of(pid).map_err(SharedError::System)?,
        });
    }
    let shared = Shared::new(fd, me, group.view.len(), group.combine)?;
    Ok((shared, processes))
}
