//! Other processes: their memory, and their end.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Has the kernel end a command's process when the thread that starts it ends, however that ends.
pub fn end_with_us(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: what runs in the child before the program are two system calls.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) < 0 {
                return Err(io::Error::last_os_error());
            }
            // It may have ended before.
            match libc::getppid() as u32 == parent {
                true => Ok(()),
                false => Err(io::ErrorKind::NotConnected.into()),
            }
        });
    }
}

/// Copies `len` bytes from `address` in the process `pid` to `into`. Gives how many there were before the first that cannot be read.
///
/// # Errors
/// What the kernel says: no permission, no such process, nothing at the address, or that the call is forbidden or unknown here.
///
/// # Safety
/// `into` is valid for writing `len` bytes, and nobody else uses them meanwhile.
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
}
