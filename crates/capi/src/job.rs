//! The job

use std::ffi::{c_char, c_int};

use mgn_fabric::job::Job;

use crate::arguments::{copy_text, text};
use crate::fault::call;
use crate::library::Library;

/// Joins the job that the environment describes: by MGN_RANK with MGN_HOSTFILE or MGN_SIZE, the
/// mpiexec of MPICH or Open MPI, or Slurm. Without any of these, the process is a job of one.
#[no_mangle]
pub extern "C" fn mgn_init() -> c_int {
    call(|| Library::begin(Job::find).map(|()| 0))
}

/// Joins a job that the program describes: this process is number rank, counted from 0, of size
/// processes. Rank r is on hosts[r]; if hosts is null, all ranks are on this host.
#[no_mangle]
pub unsafe extern "C" fn mgn_init_as(
    job: *const c_char,
    rank: u32,
    size: u32,
    hosts: *const *const c_char,
) -> c_int {
    call(|| {
        // SAFETY: as the caller promises.
        let job = unsafe { text(job, "job") }?;
        let host = |at: usize| {
            // SAFETY: the caller promises `size` pointers, each to a string.
            unsafe { text(hosts.add(at).read_unaligned(), "a host") }.map(String::from)
        };
        let names = match hosts.is_null() {
            true => vec!["localhost".to_string(); size.min(1 << 21) as usize],
            false => (0..size as usize).map(host).collect::<Result<_, _>>()?,
        };
        Library::begin(|| Job::new(job, rank, names)?.configured()).map(|()| 0)
    })
}

/// Leaves the job. Release all messages first. Messages that have been sent are still delivered.
/// Calls that wait in other threads return MGN_ERR_CLOSED. After this, mgn_init may be called
/// again.
#[no_mangle]
pub extern "C" fn mgn_finalize() -> c_int {
    call(|| Library::end().map(|()| 0))
}

/// Returns the rank of this process: its number in the job, from 0.
#[no_mangle]
pub extern "C" fn mgn_rank() -> c_int {
    call(|| Ok(Library::current()?.member.rank() as c_int))
}

/// Returns the number of processes in the job.
#[no_mangle]
pub extern "C" fn mgn_size() -> c_int {
    call(|| Ok(Library::current()?.member.size() as c_int))
}

/// Writes the name of a rank's host to name, shortened to room bytes including the final zero byte.
/// Returns the length of the whole name.
#[no_mangle]
pub unsafe extern "C" fn mgn_host(rank: u32, name: *mut c_char, room: usize) -> c_int {
    call(|| {
        let host = Library::current()?.member.host(rank)?;
        // SAFETY: as the caller promises.
        unsafe { copy_text(&host, name, room) }
    })
}

/// Writes the network interfaces at which this process accepts connections from other hosts, such
/// as "eth0 10.0.0.1, ib0 10.1.0.1". The text is shortened like that of mgn_host. Returns the
/// length of the whole text.
#[no_mangle]
pub unsafe extern "C" fn mgn_interfaces(names: *mut c_char, room: usize) -> c_int {
    call(|| {
        let all = Library::current()?.member.interfaces();
        let all: Vec<String> = all
            .iter()
            .map(|one| format!("{} {}", one.name, one.address))
            .collect();
        // SAFETY: as the caller promises.
        unsafe { copy_text(&all.join(", "), names, room) }
    })
}
