//! Which system calls a worker may make: seccomp's part of the sandbox.
//!
//! Calls that are on no list fail with EPERM. A driver that makes an unexpected call gets an error,
//! as from a kernel that lacks the call, and most drivers can do without it. Ending the session
//! instead would not help.

use super::Profile;
use libc::c_long;
use rustix::process::getpid;
use seccompiler::{
    apply_filter_all_threads, BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen,
    SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use std::collections::BTreeMap;

/// The calls of rendering in software: those measured with our test programs, and those that the C
/// library may make in place of them.
const SOFTWARE: &[c_long] = &[
    // Memory.
    libc::SYS_brk,
    libc::SYS_madvise,
    libc::SYS_memfd_create,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_msync,
    libc::SYS_munmap,
    // Threads, and what wakes them.
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_get_robust_list,
    libc::SYS_getcpu,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_membarrier,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    // Time.
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_nanosleep,
    libc::SYS_times,
    // Identity and location of the process.
    libc::SYS_getcwd,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getpriority,
    libc::SYS_getrandom,
    libc::SYS_getresgid,
    libc::SYS_getresuid,
    libc::SYS_getrlimit,
    libc::SYS_getrusage,
    libc::SYS_getuid,
    libc::SYS_sysinfo,
    libc::SYS_uname,
    // Files, among those that Landlock leaves.
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_fadvise64,
    libc::SYS_fallocate,
    libc::SYS_fchmod,
    libc::SYS_fdatasync,
    libc::SYS_flock,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_fsync,
    libc::SYS_ftruncate,
    libc::SYS_getdents64,
    libc::SYS_lseek,
    libc::SYS_mkdirat,
    libc::SYS_newfstatat,
    libc::SYS_openat,
    libc::SYS_readlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_statfs,
    libc::SYS_statx,
    libc::SYS_umask,
    libc::SYS_unlinkat,
    libc::SYS_utimensat,
    // Descriptors, which include the session's connections.
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_copy_file_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
    libc::SYS_getpeername,
    libc::SYS_getsockname,
    libc::SYS_getsockopt,
    libc::SYS_pipe2,
    libc::SYS_ppoll,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_pselect6,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_recvfrom,
    libc::SYS_recvmmsg,
    libc::SYS_recvmsg,
    libc::SYS_sendfile,
    libc::SYS_sendmmsg,
    libc::SYS_sendmsg,
    libc::SYS_sendto,
    libc::SYS_setsockopt,
    libc::SYS_shutdown,
    libc::SYS_write,
    libc::SYS_writev,
];

/// The same calls by older names, which newer architectures lack.
#[cfg(target_arch = "x86_64")]
const SOFTWARE_OLD: &[c_long] = &[
    libc::SYS_access,
    libc::SYS_arch_prctl,
    libc::SYS_dup2,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
    libc::SYS_getdents,
    libc::SYS_lstat,
    libc::SYS_mkdir,
    libc::SYS_open,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_rename,
    libc::SYS_rmdir,
    libc::SYS_select,
    libc::SYS_stat,
    libc::SYS_time,
    libc::SYS_unlink,
];
#[cfg(not(target_arch = "x86_64"))]
const SOFTWARE_OLD: &[c_long] = &[];

/// Further calls for drivers of devices, and for any driver while it opens. We can measure few of
/// them, so these are the calls for threads, memory and files that do not harm other processes.
const DEVICES: &[c_long] = &[
    libc::SYS_capget,
    libc::SYS_fchdir,
    libc::SYS_fgetxattr,
    libc::SYS_get_mempolicy,
    libc::SYS_getgroups,
    libc::SYS_getitimer,
    libc::SYS_getpgid,
    libc::SYS_getsid,
    libc::SYS_getxattr,
    libc::SYS_inotify_add_watch,
    libc::SYS_inotify_init1,
    libc::SYS_inotify_rm_watch,
    libc::SYS_linkat,
    libc::SYS_mbind,
    libc::SYS_mincore,
    libc::SYS_mlock,
    libc::SYS_mlock2,
    libc::SYS_munlock,
    libc::SYS_pkey_alloc,
    libc::SYS_pkey_free,
    libc::SYS_pkey_mprotect,
    libc::SYS_readahead,
    libc::SYS_set_mempolicy,
    libc::SYS_set_tid_address,
    libc::SYS_signalfd4,
    libc::SYS_symlinkat,
    libc::SYS_timer_create,
    libc::SYS_timer_delete,
    libc::SYS_timer_getoverrun,
    libc::SYS_timer_gettime,
    libc::SYS_timer_settime,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_gettime,
    libc::SYS_timerfd_settime,
    libc::SYS_truncate,
];

/// The call with which the C library starts threads. No filter can see its flags. If the kernel
/// reports that there is no such call, the library uses the older one. Other filters let this call
/// pass, because if several filters refuse a call, the last one determines the error.
const HIDDEN: &[c_long] = &[libc::SYS_clone3];

/// The call that installs the filter of the next step.
const TIGHTENING: &[c_long] = &[libc::SYS_seccomp];

/// Requests to a terminal that insert input as if the user had typed it. The second one is for a
/// console.
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;
/// Requests that name the process that gets a signal when a descriptor becomes ready. The kernel
/// sends this signal, so a filter of `kill` does not see it.
const FIOSETOWN: u64 = 0x8901;
const SIOCSPGRP: u64 = 0x8902;
/// The same requests of `fcntl`; `F_SETSIG` chooses the signal.
const OWNER_COMMANDS: [i32; 3] = [libc::F_SETOWN, F_SETOWN_EX, F_SETSIG];
const F_SETSIG: i32 = 10;
const F_SETOWN_EX: i32 = 15;
/// The bits of a socket's type that are not flags.
const SOCKET_TYPES: u64 = 0xf;
/// Requests about any descriptor. Programs use them to ask whether it is a terminal, or how many
/// bytes they can read.
const PLAIN_REQUESTS: &[u64] = &[
    0x5401, // TCGETS
    0x5413, // TIOCGWINSZ
    0x541b, // FIONREAD
    0x5421, // FIONBIO
    0x5450, // FIONCLEX
    0x5451, // FIOCLEX
];

/// `prctl`'s operations on names of threads and of memory, on timers, and on what the process knows
/// of itself.
const PLAIN_CONTROLS: &[u64] = &[
    3,           // PR_GET_DUMPABLE
    15,          // PR_SET_NAME
    16,          // PR_GET_NAME
    21,          // PR_GET_SECCOMP
    29,          // PR_SET_TIMERSLACK
    30,          // PR_GET_TIMERSLACK
    39,          // PR_GET_NO_NEW_PRIVS
    0x4155_5856, // PR_GET_AUXV
    0x5356_4d41, // PR_SET_VMA
];
/// `seccompiler` sets this again before each filter.
const TIGHTENING_CONTROLS: &[u64] = &[38]; // PR_SET_NO_NEW_PRIVS
/// Between the steps, the worker asks the kernel to end it with its server.
const BETWEEN_CONTROLS: &[u64] = &[1]; // PR_SET_PDEATHSIG

/// Allows the calls with which drivers open, and the calls of any session.
pub(super) fn before_driver(profile: &Profile) -> Result<&'static str, String> {
    let mut hidden = Calls::default();
    hidden.always(HIDDEN);
    hidden.install(SeccompAction::Allow, refuse(libc::ENOSYS))?;
    let mut calls = Calls::of(profile);
    calls.devices();
    calls.always(TIGHTENING);
    calls.one_of(libc::SYS_prctl, 0, TIGHTENING_CONTROLS);
    calls.one_of(libc::SYS_prctl, 0, BETWEEN_CONTROLS);
    calls.enforce()?;
    Ok("")
}

/// Allows the calls of a session whose driver is open. Unless this `is_last`, also allows the calls
/// that tighten the sandbox further.
pub(super) fn after_driver(
    profile: &Profile,
    is_software: bool,
    is_last: bool,
) -> Result<(), String> {
    let mut calls = Calls::of(profile);
    if !is_last {
        calls.always(TIGHTENING);
        calls.one_of(libc::SYS_prctl, 0, TIGHTENING_CONTROLS);
    }
    if !is_software {
        calls.devices();
    }
    calls.enforce()
}

/// Whether this process could filter its calls.
pub(super) fn is_available() -> bool {
    mgn_sys::process::can_filter_calls()
}

/// Calls, each with the conditions under which it matches. A call without conditions always
/// matches.
#[derive(Default)]
struct Calls(BTreeMap<c_long, Vec<SeccompRule>>);

impl Calls {
    /// The calls of rendering in software, and others that the profile needs.
    fn of(profile: &Profile) -> Calls {
        let mut calls = Calls::default();
        calls.always(SOFTWARE);
        calls.always(SOFTWARE_OLD);
        calls.always(HIDDEN);
        calls.one_of(libc::SYS_ioctl, 1, PLAIN_REQUESTS);
        calls.one_of(libc::SYS_prctl, 0, PLAIN_CONTROLS);
        // Signals to this process: the watchdog's, and those of a program that aborts itself.
        let own = own_pid();
        for call in [
            libc::SYS_kill,
            libc::SYS_tgkill,
            libc::SYS_rt_sigqueueinfo,
            libc::SYS_rt_tgsigqueueinfo,
        ] {
            calls.one_of(call, 0, &[own]);
        }
        let owner = OWNER_COMMANDS.map(|command| (1, SeccompCmpOp::Ne, command as u64));
        calls.when(libc::SYS_fcntl, owner);
        // Only the limits of this process. The renderer lowers its own limit of memory before it
        // gives buffers and images storage.
        calls.one_of(libc::SYS_prlimit64, 0, &[0, own]);
        // Threads, but no processes and no namespaces.
        let spaces = libc::CLONE_NEWUSER
            | libc::CLONE_NEWNS
            | libc::CLONE_NEWPID
            | libc::CLONE_NEWNET
            | libc::CLONE_NEWIPC
            | libc::CLONE_NEWUTS
            | libc::CLONE_NEWCGROUP;
        let mask = (libc::CLONE_THREAD | spaces) as u32;
        let thread = SeccompCmpOp::MaskedEq(mask.into());
        calls.when(
            libc::SYS_clone,
            [(0, thread, libc::CLONE_THREAD as u32 as u64)],
        );
        if profile.has_windows {
            let families = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6];
            calls.one_of(libc::SYS_socket, 0, &families.map(|family| family as u64));
            calls.always(&[libc::SYS_connect]);
        }
        calls
    }

    fn devices(&mut self) {
        self.always(DEVICES);
        self.0.remove(&libc::SYS_ioctl);
        let other = [TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP];
        let other = other.map(|request| (1, SeccompCmpOp::Ne, request));
        self.when(libc::SYS_ioctl, other);
        // Datagrams can be sent from a pair of sockets to any socket that has a path.
        let type_ = SeccompCmpOp::MaskedEq(SOCKET_TYPES);
        for connected in [libc::SOCK_STREAM, libc::SOCK_SEQPACKET] {
            self.when(libc::SYS_socketpair, [(1, type_.clone(), connected as u64)]);
        }
        // Priority and processors of this process and of the calling thread, not of others.
        let own = [0, own_pid()];
        self.one_of(libc::SYS_sched_setaffinity, 0, &own);
        self.one_of(libc::SYS_sched_setscheduler, 0, &own);
        for pid in own {
            self.when(
                libc::SYS_setpriority,
                [
                    (0, SeccompCmpOp::Eq, libc::PRIO_PROCESS.into()),
                    (1, SeccompCmpOp::Eq, pid),
                ],
            );
        }
    }

    fn always(&mut self, calls: &[c_long]) {
        self.0.extend(calls.iter().map(|call| (*call, Vec::new())));
    }

    /// Adds a call with one of these values as that argument.
    fn one_of(&mut self, call: c_long, argument: u8, values: &[u64]) {
        for value in values {
            self.when(call, [(argument, SeccompCmpOp::Eq, *value)]);
        }
    }

    /// Adds a call with arguments that all compare like this. The kernel uses only the lower half
    /// of the arguments that we compare.
    fn when<const N: usize>(&mut self, call: c_long, arguments: [(u8, SeccompCmpOp, u64); N]) {
        let condition = |(argument, operator, value)| {
            SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
                .expect("no call has more than six arguments")
        };
        let conditions = arguments.map(condition).to_vec();
        let rule = SeccompRule::new(conditions).expect("a condition was given");
        self.0.entry(call).or_default().push(rule);
    }

    fn enforce(self) -> Result<(), String> {
        self.install(refuse(libc::EPERM), SeccompAction::Allow)
    }

    fn install(self, others: SeccompAction, these: SeccompAction) -> Result<(), String> {
        let words = |error: BackendError| error.to_string();
        let arch = std::env::consts::ARCH.try_into().map_err(words)?;
        let filter = SeccompFilter::new(self.0, others, these, arch).map_err(words)?;
        let program: BpfProgram = filter.try_into().map_err(words)?;
        apply_filter_all_threads(&program).map_err(|error| error.to_string())
    }
}

fn own_pid() -> u64 {
    getpid().as_raw_nonzero().get().unsigned_abs().into()
}

fn refuse(errno: i32) -> SeccompAction {
    SeccompAction::Errno(errno.unsigned_abs())
}
