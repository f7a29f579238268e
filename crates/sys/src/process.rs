//! Processes: their start and end, their memory, their limits, and checks of their sandbox.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{
    getrlimit, set_dumpable_behavior, setrlimit, DumpableBehavior, Resource, Rlimit,
};
use rustix::thread::{unshare_unsafe, UnshareFlags};

/// Makes the kernel kill a command's process when the thread that starts it ends, for any reason.
pub fn end_with_us(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: before the program, the child runs only two system calls.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) < 0 {
                return Err(io::Error::last_os_error());
            }
            // The parent may have ended before the first call.
            match libc::getppid() as u32 == parent {
                true => Ok(()),
                false => Err(io::ErrorKind::NotConnected.into()),
            }
        });
    }
}

/// Makes a command's process start with its standard input, output and error, and no other
/// descriptor, even if other code of this process has left one open.
pub fn pass_only_standard(command: &mut Command) {
    // SAFETY: before the program, the child runs only one system call. It only marks descriptors,
    // so the descriptors that the standard library needs stay open until the program starts.
    unsafe {
        command.pre_exec(|| {
            let flags = libc::CLOSE_RANGE_CLOEXEC as libc::c_int;
            // Kernels before 5.11 do not know this flag. There, the descriptors that this code
            // opens itself are closed nevertheless.
            libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, flags);
            Ok(())
        });
    }
}

/// Limits the length of files that this process writes to `most` bytes, permanently, including
/// files in memory. A call that would exceed the limit fails, and does not raise the signal that
/// ends a process.
///
/// # Errors
/// The kernel's error.
pub fn limit_file_lengths(most: u64) -> io::Result<()> {
    // SAFETY: no code runs at an ignored signal.
    if unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) } == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    let limit = getrlimit(Resource::Fsize);
    let lower = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
    let lowered = Rlimit {
        current: lower(limit.current),
        maximum: lower(limit.maximum),
    };
    Ok(setrlimit(Resource::Fsize, lowered)?)
}

/// Moves the calling thread into new namespaces of these kinds; other flags are ignored. A user
/// namespace requires that the process has one thread.
///
/// # Errors
/// The kernel's error.
pub fn enter_namespaces(kinds: UnshareFlags) -> io::Result<()> {
    let namespaces =
        UnshareFlags::NEWIPC | UnshareFlags::NEWNET | UnshareFlags::NEWUSER | UnshareFlags::NEWUTS;
    // SAFETY: without `FILES`, which is not among these, threads share one table of descriptors.
    unsafe { unshare_unsafe(kinds & namespaces)? };
    Ok(())
}

/// Prevents crashes from writing this process's memory to a file, and other processes of its user
/// from reading it. Programs that this process starts write no such file either, but other
/// processes can read their memory.
pub fn hide_memory() -> io::Result<()> {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    setrlimit(Resource::Core, none)?;
    // If the system passes core dumps to a program, the kernel checks this attribute, and ignores
    // the limit.
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// The version of Landlock that this kernel has, if any.
pub fn landlock_version() -> Option<i32> {
    const VERSION: libc::c_int = 1;
    let null = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the call reads no memory.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, null, 0, VERSION) };
    i32::try_from(version).ok().filter(|version| *version > 0)
}

/// Whether seccomp could filter the system calls of this process.
pub fn can_filter_calls() -> bool {
    // SAFETY: a null pointer to a filter is refused before anything is read through it.
    let refused = unsafe {
        let flags = libc::SECCOMP_FILTER_FLAG_TSYNC;
        let null = std::ptr::null::<libc::sock_fprog>();
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            null,
        )
    };
    // A kernel with seccomp tries to read the filter, and fails with EFAULT.
    refused < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT)
}

/// The bytes of a process's private memory and of its shared memory without a file, resident or
/// swapped out. Mapped files do not count. If `pid` is `None`, this process is measured.
pub fn memory(pid: Option<u32>) -> Option<u64> {
    let process = pid.map_or("self".into(), |pid| pid.to_string());
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let kib = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse().ok()
    };
    Some((kib("RssAnon:")? + kib("RssShmem:")? + kib("VmSwap:").unwrap_or(0)) << 10)
}

/// A copy of `len` bytes from `address` in another process.
///
/// # Errors
/// Those of [`read_memory`].
pub fn peek(pid: u32, address: usize, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    // SAFETY: a vector is valid for its length.
    let got = unsafe { read_memory(pid, address, bytes.as_mut_ptr(), len)? };
    bytes.truncate(got);
    Ok(bytes)
}

/// Begins to trace another process, without stopping it.
///
/// # Errors
/// The kernel's error, for example that tracing is forbidden.
pub fn trace(pid: u32) -> io::Result<()> {
    // SAFETY: this request accesses no memory of this process.
    match unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid as libc::pid_t, 0, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Makes system calls with which a process could harm other processes, each with meaningless
/// arguments. Returns the error of each call. This is for tests of sandboxes, which refuse these
/// calls for all arguments.
pub fn try_harm() -> Vec<(&'static str, Option<i32>)> {
    macro_rules! tried {
        ($($name:ident)*) => {
            vec![$((stringify!($name), {
                // SAFETY: no descriptor, address, flag or operation of all ones exists, so each
                // call fails before it does anything.
                let done = unsafe { libc::syscall(libc::$name, -1, -1, -1, -1, -1, -1) };
                (done == -1).then(|| io::Error::last_os_error().raw_os_error()).flatten()
            })),*]
        };
    }
    tried! {
        SYS_accept4 SYS_add_key SYS_bind SYS_bpf SYS_chroot SYS_connect SYS_execve SYS_execveat
        SYS_finit_module SYS_fsopen SYS_init_module SYS_io_uring_enter SYS_io_uring_register
        SYS_io_uring_setup SYS_kexec_load SYS_keyctl SYS_listen SYS_mount SYS_move_mount
        SYS_open_by_handle_at SYS_perf_event_open SYS_personality SYS_pidfd_getfd
        SYS_pidfd_send_signal SYS_pivot_root SYS_process_madvise SYS_process_vm_readv
        SYS_process_vm_writev SYS_ptrace SYS_quotactl SYS_reboot SYS_request_key SYS_seccomp
        SYS_setns SYS_setuid SYS_swapon SYS_umount2 SYS_unshare SYS_userfaultfd SYS_vmsplice
    }
}

/// A command of `fcntl`, and a request, that the `libc` crate lacks.
const F_SETSIG: i32 = 10;
const FIOSETOWN: libc::Ioctl = 0x8901;

/// Makes system calls that drivers make for their own process, with arguments that apply to the
/// process `other` instead. Returns the error of each call. This is for tests of sandboxes. Calls
/// that are not refused leave `other` unchanged.
pub fn try_to_disturb(other: u32) -> Vec<(&'static str, Option<i32>)> {
    let other = other as libc::pid_t;
    let (input, mut sockets) = (0, [0; 2]);
    let (stream, datagram) = (libc::SOCK_STREAM, libc::SOCK_DGRAM);
    let failed = |result: i32| {
        let error = io::Error::last_os_error().raw_os_error();
        error.filter(|_| result < 0)
    };
    // SAFETY: every address is that of a value that outlives the call. Set and parameters are plain
    // numbers.
    unsafe {
        let mut processors: libc::cpu_set_t = std::mem::zeroed();
        let of_set = size_of_val(&processors);
        libc::sched_getaffinity(other, of_set, &mut processors);
        let policy = libc::sched_getscheduler(other);
        let no_priority: libc::sched_param = std::mem::zeroed();
        let mut pair = |type_| libc::socketpair(libc::AF_UNIX, type_, 0, sockets.as_mut_ptr());
        vec![
            ("datagrams", failed(pair(datagram))),
            ("raw sockets", failed(pair(libc::SOCK_RAW))),
            (
                "datagrams with a flag",
                failed(pair(datagram | libc::SOCK_CLOEXEC)),
            ),
            (
                "another's priority",
                failed(libc::setpriority(
                    libc::PRIO_PROCESS,
                    other as libc::id_t,
                    0,
                )),
            ),
            (
                "a user's priority",
                failed(libc::setpriority(libc::PRIO_USER, 0, 0)),
            ),
            (
                "another's processors",
                failed(libc::sched_setaffinity(other, of_set, &processors)),
            ),
            (
                "another's scheduler",
                failed(libc::sched_setscheduler(other, policy, &no_priority)),
            ),
            (
                "signals to another",
                failed(libc::fcntl(input, libc::F_SETOWN, other)),
            ),
            (
                "signals of one's choice",
                failed(libc::fcntl(input, F_SETSIG, libc::SIGIO)),
            ),
            (
                "signals by request",
                failed(libc::ioctl(input, FIOSETOWN, &other)),
            ),
            // Calls that drivers need.
            ("", failed(pair(stream | libc::SOCK_CLOEXEC))),
            ("", failed(libc::setpriority(libc::PRIO_PROCESS, 0, 0))),
            ("", failed(libc::sched_setaffinity(0, of_set, &processors))),
            (
                "",
                failed(libc::sched_setscheduler(0, policy, &no_priority)),
            ),
        ]
    }
}

/// Copies `len` bytes from `address` in the process `pid` to `into`. Returns the number of bytes
/// before the first one that cannot be read.
///
/// # Errors
/// The kernel's error: no permission, no such process, no memory at the address, or a call that is
/// forbidden or unknown here.
///
/// # Safety
/// `into` is valid for writing `len` bytes, and no other code uses them meanwhile.
pub unsafe fn read_memory(
    pid: u32,
    address: usize,
    into: *mut u8,
    len: usize,
) -> io::Result<usize> {
    let local = libc::iovec {
        iov_base: into.cast(),
        iov_len: len,
    };
    let remote = libc::iovec {
        iov_base: address as *mut libc::c_void,
        iov_len: len,
    };
    // SAFETY: the local memory is valid by the caller's promise; the kernel checks the remote one.
    let got = unsafe { libc::process_vm_readv(pid as libc::pid_t, &local, 1, &remote, 1, 0) };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_ends_with_the_thread_that_started_it() {
        let thread = std::thread::spawn(|| {
            let mut command = Command::new("sleep");
            end_with_us(command.arg("1000"));
            command.spawn().unwrap()
        });
        let mut child = thread.join().unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.to_string(), "signal: 9 (SIGKILL)");
    }

    #[test]
    fn a_child_gets_no_descriptor_that_was_left_open() {
        let (ours, _) = std::os::unix::net::UnixStream::pair().unwrap();
        // SAFETY: the copy is new, and no other code knows its number.
        let left = unsafe { libc::dup(std::os::fd::AsRawFd::as_raw_fd(&ours)) };
        assert!(left > 2);
        let list = |pass: fn(&mut Command)| {
            let mut command = Command::new("test");
            command.args(["-e", &format!("/proc/self/fd/{left}")]);
            pass(&mut command);
            command.status().unwrap().success()
        };
        assert!(list(|_| ()));
        assert!(!list(pass_only_standard));
        // SAFETY: made above, and no longer in use.
        unsafe { libc::close(left) };
    }

    #[test]
    fn memory_is_read_as_far_as_it_is_there() {
        let from = [1u8, 2, 3, 4];
        let mut into = [0u8; 4];
        let read = |pid: u32, address: usize, into: &mut [u8]| {
            // SAFETY: a slice is valid for its length.
            unsafe { read_memory(pid, address, into.as_mut_ptr(), into.len()) }
        };
        let own = std::process::id();
        assert_eq!(read(own, from.as_ptr() as usize, &mut into).unwrap(), 4);
        assert_eq!(into, from);
        let nothing = read(own, 8, &mut into).unwrap_err();
        assert_eq!(nothing.raw_os_error(), Some(libc::EFAULT));
        let nobody = read(i32::MAX as u32, 4096, &mut into).unwrap_err();
        assert_eq!(nobody.raw_os_error(), Some(libc::ESRCH));
    }

    #[test]
    fn hidden_memory_is_not_dumped() {
        // SAFETY: the child only makes system calls, and exits without running the parent's exit
        // handlers.
        let child = unsafe {
            let child = libc::fork();
            if child == 0 {
                let hidden = hide_memory().is_ok();
                let dumpable = libc::prctl(libc::PR_GET_DUMPABLE);
                libc::_exit(if hidden { dumpable } else { 2 });
            }
            child
        };
        assert!(child > 0);
        let mut status = 0;
        // SAFETY: `status` outlives the call.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
    }
}
