//! Barriers

use std::ffi::{c_char, c_int};

use ::mgn_barrier::{Combine, JobBarrier, Kind, OpenError, Options};
use mgn_fabric::job::Member;

use crate::arguments::{duration, optional_text, out, write_optional, FOREVER};
use crate::fault::{call, Fault};
use crate::library::Library;
use crate::open_barrier::OpenBarrier;

/// A barrier of processes of the job.
#[allow(non_camel_case_types)]
pub type mgn_barrier = u64;

/// The bits that any member has set in its number.
pub const MGN_COMBINE_ANY: c_int = 0;

/// The bits that all members have set.
pub const MGN_COMBINE_ALL: c_int = 1;

/// The smallest number.
pub const MGN_COMBINE_MIN: c_int = 2;

/// The largest number.
pub const MGN_COMBINE_MAX: c_int = 3;

/// Describes a barrier. All its members must pass the same values, except interface. If all fields
/// are zero, the members are all processes of the job.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct mgn_barrier_options {
    /// How members tell each other that they have arrived: shm, star, tree, tree-N with N children
    /// for each member, dissemination, hierarchical, udp, wired, or auto. Null means auto: shm if
    /// all members are on one host, dissemination if each is on a host of its own, and otherwise
    /// hierarchical.
    pub kind: *const c_char,
    /// How the members' numbers are combined: MGN_COMBINE_ANY, _ALL, _MIN or _MAX. A wired barrier
    /// carries no numbers: it ignores this, and the combined number is 0.
    pub combine: c_int,
    /// At most 65535. No two barriers of a job may have the same number, even one after the other.
    pub number: u32,
    /// The ranks of the members, in any order. Null means all ranks of the job.
    pub ranks: *const u32,
    pub rank_count: u32,
    /// For udp: the network interface for the datagrams. Null means the first one of the job.
    /// For wired: the lines, such as gpiochip0:17,27,22 or parport0.
    pub interface: *const c_char,
}

/// Opens a barrier. All its members must call this. It waits for the others for up to timeout
/// milliseconds. options may be null, which means that all fields are zero. While a barrier is
/// open, do not receive messages with any tag (ignore UINT64_MAX): such a receive could take a
/// message of the barrier.
///
/// MGN_ERR_TIMEOUT: a member has not called this in time. MGN_ERR_CLOSED: a member has ended, or
/// has given up. Later attempts can fail, too, until those of all members overlap.
/// MGN_ERR_ARGUMENT: an option is invalid, or this process has used the number before.
/// MGN_ERR_COMPOSITE: another member passes other options, or runs another release.
/// MGN_ERR_SYSTEM: a system call failed, or the lines of a wired barrier cannot be opened.
#[no_mangle]
pub unsafe extern "C" fn mgn_barrier_open(
    options: *const mgn_barrier_options,
    timeout: c_int,
    barrier: *mut mgn_barrier,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        add(options, timeout, barrier, |job, wanted| {
            JobBarrier::open(job, wanted)
        })
    }
}

/// Joins a barrier that other processes have open. The ranks in options are members to ask; at
/// least one of them must stay until this process is admitted. Waits for this for up to timeout
/// milliseconds. From then on, the others wait for this process, too. kind is that of the barrier,
/// or null; it must be star, tree, tree-N or dissemination. A process that was a member before
/// cannot join again.
///
/// MGN_ERR_TIMEOUT: no member has answered, or the members have not agreed in time. MGN_ERR_CLOSED:
/// the members that this process asks have ended. MGN_ERR_ARGUMENT: an option is invalid; no
/// process can join a barrier of this kind; this process has used the number before; or ranks is
/// empty, or contains this process. MGN_ERR_COMPOSITE: the members have passed other options, or
/// run another release.
#[no_mangle]
pub unsafe extern "C" fn mgn_barrier_join(
    options: *const mgn_barrier_options,
    timeout: c_int,
    barrier: *mut mgn_barrier,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        add(options, timeout, barrier, |job, wanted| {
            JobBarrier::join(job, wanted)
        })
    }
}

/// # Safety
/// `options` is null, or points to options. Their pointers are null, or point to the objects that
/// their fields describe. `barrier` is null, or points to a barrier.
unsafe fn add(
    options: *const mgn_barrier_options,
    timeout: c_int,
    barrier: *mut mgn_barrier,
    begin: impl FnOnce(&'static Member, &Options) -> Result<JobBarrier, OpenError>,
) -> c_int {
    call(|| {
        let library = Library::current()?;
        // SAFETY: as the caller promises.
        let barrier = unsafe { out(barrier, "barrier") }?;
        let mut wanted = Options {
            patience: duration(timeout).unwrap_or(FOREVER),
            ..Options::default()
        };
        if !options.is_null() {
            // SAFETY: it is not null, and points to options as the caller promises.
            unsafe { fill(&mut wanted, &options.read_unaligned()) }?;
        }
        let begun = begin(&library.member, &wanted)?;
        *barrier = library.add_barrier(OpenBarrier::new(begun))?;
        Ok(0)
    })
}

/// # Safety
/// Pointers are null, or point to the objects that their fields describe.
unsafe fn fill(wanted: &mut Options, options: &mgn_barrier_options) -> Result<(), Fault> {
    // SAFETY: as the caller promises.
    if let Some(kind) = unsafe { optional_text(options.kind, "kind") }? {
        let kind = kind.parse::<Kind>();
        wanted.kind = kind.map_err(|error| Fault::argument(error.to_string()))?;
    }
    wanted.combine = match options.combine {
        MGN_COMBINE_ANY => Combine::Any,
        MGN_COMBINE_ALL => Combine::All,
        MGN_COMBINE_MIN => Combine::Min,
        MGN_COMBINE_MAX => Combine::Max,
        other => {
            return Err(Fault::argument(format!(
                "combine is {other}, and must be one of MGN_COMBINE_ANY, _ALL, _MIN and _MAX"
            )))
        }
    };
    let number = u16::try_from(options.number);
    wanted.number = number.map_err(|_| {
        let number = options.number;
        Fault::argument(format!("number is {number}, and 65535 is the largest"))
    })?;
    if !options.ranks.is_null() {
        let ranks = (0..options.rank_count as usize).map(|at| {
            // SAFETY: the caller promises `rank_count` ranks.
            unsafe { options.ranks.add(at).read_unaligned() }
        });
        wanted.ranks = Some(ranks.collect());
    }
    // SAFETY: as the caller promises.
    let interface = unsafe { optional_text(options.interface, "interface") }?;
    wanted.interface = interface.map(str::to_owned);
    Ok(())
}

/// Announces arrival and passes a number, without waiting. The process may work before it calls
/// mgn_barrier_wait; the other members learn of the arrival in the meantime.
///
/// MGN_ERR_STATE: this process has arrived already, or has left. MGN_ERR_CLOSED: the others believe
/// that this process is lost, and go on without it. If the lines of a wired barrier cannot be used,
/// mgn_barrier_wait says so.
#[no_mangle]
pub extern "C" fn mgn_barrier_arrive(barrier: mgn_barrier, number: u64) -> c_int {
    call(|| {
        let barrier = Library::current()?.barrier(barrier)?;
        barrier.with(|barrier| Ok(barrier.arrive(number)?))?;
        Ok(0)
    })
}

/// Waits until all members have arrived, for up to timeout milliseconds. If combined is not null,
/// it is set to their combined numbers.
///
/// MGN_ERR_CLOSED: members were lost. This pass fails for all others, and the next pass is without
/// the lost members; mgn_barrier_lost returns their ranks. If the others go on without this
/// process, mgn_barrier_arrive then returns MGN_ERR_CLOSED, too. MGN_ERR_TIMEOUT: call this again
/// to wait for longer; mgn_last_error names members for which this process waits, which may have
/// arrived and wait for others themselves. MGN_ERR_STATE: this process has not arrived.
/// MGN_ERR_SYSTEM: the lines of a wired barrier cannot be used.
#[no_mangle]
pub unsafe extern "C" fn mgn_barrier_wait(
    barrier: mgn_barrier,
    timeout: c_int,
    combined: *mut u64,
) -> c_int {
    call(|| {
        let barrier = Library::current()?.barrier(barrier)?;
        let passed = barrier.wait(None, duration(timeout))?;
        // SAFETY: as the caller promises.
        unsafe { write_optional(combined, Some(passed)) };
        Ok(0)
    })
}

/// Arrives and waits. A process that has arrived already only waits. Its errors are those of
/// mgn_barrier_wait.
#[no_mangle]
pub unsafe extern "C" fn mgn_barrier_pass(
    barrier: mgn_barrier,
    number: u64,
    timeout: c_int,
    combined: *mut u64,
) -> c_int {
    call(|| {
        let barrier = Library::current()?.barrier(barrier)?;
        let passed = barrier.wait(Some(number), duration(timeout))?;
        // SAFETY: as the caller promises.
        unsafe { write_optional(combined, Some(passed)) };
        Ok(0)
    })
}

/// Stores the ranks of the members that this process knows, but at most room ranks. Returns the
/// number of members.
#[no_mangle]
pub unsafe extern "C" fn mgn_barrier_members(
    barrier: mgn_barrier,
    ranks: *mut u32,
    room: u32,
) -> c_int {
    call(|| {
        let barrier = Library::current()?.barrier(barrier)?;
        let members = barrier.with(|barrier| Ok(barrier.members()))?;
        // SAFETY: as the caller promises.
        unsafe { store(&members, ranks, room) }
    })
}

/// Stores the ranks of the members that were lost in the latest failed pass, but at most room
/// ranks. Returns the number of these members.
#[no_mangle]
pub unsafe extern "C" fn mgn_barrier_lost(
    barrier: mgn_barrier,
    ranks: *mut u32,
    room: u32,
) -> c_int {
    call(|| {
        let barrier = Library::current()?.barrier(barrier)?;
        let lost = barrier.lost()?;
        // SAFETY: as the caller promises.
        unsafe { store(&lost, ranks, room) }
    })
}

/// # Safety
/// `place` has room for `room` ranks.
unsafe fn store(ranks: &[u32], place: *mut u32, room: u32) -> Result<c_int, Fault> {
    if room > 0 && place.is_null() {
        return Err(Fault::argument(format!(
            "ranks is null, but room is {room}"
        )));
    }
    for (at, rank) in ranks.iter().take(room as usize).enumerate() {
        // SAFETY: as the caller promises.
        unsafe { place.add(at).write_unaligned(*rank) };
    }
    Ok(ranks.len() as c_int)
}

/// Leaves the barrier: the others go on without this process, and no pass fails. Waits up to
/// timeout milliseconds for them to agree, and without limit if timeout is negative. They agree
/// within some milliseconds unless one of them hangs. After this, close the barrier.
///
/// MGN_ERR_STATE: this process has arrived, and must first call mgn_barrier_wait. MGN_ERR_TIMEOUT:
/// the others have not agreed in time; call this again to wait for longer. MGN_ERR_CLOSED: the
/// others go on without this process, or another thread has closed the barrier.
#[no_mangle]
pub extern "C" fn mgn_barrier_leave(barrier: mgn_barrier, timeout: c_int) -> c_int {
    call(|| {
        let barrier = Library::current()?.barrier(barrier)?;
        barrier.leave(duration(timeout))?;
        Ok(0)
    })
}

/// Closes a barrier. If this process has not left it, it is lost to the others. A thread that waits
/// at the barrier gets MGN_ERR_CLOSED.
#[no_mangle]
pub extern "C" fn mgn_barrier_close(barrier: mgn_barrier) -> c_int {
    call(|| Library::current()?.remove_barrier(barrier).map(|()| 0))
}
