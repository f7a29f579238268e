//! Private memory that reports its written pages. The kernel records writes by any code, without a
//! signal or a fault handler (userfaultfd(2)'s asynchronous write protection, read by PAGEMAP_SCAN;
//! Linux 6.7).

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use rustix::mm::{MapFlags, ProtFlags};

/// The largest number of regions that one system call reports.
const REGIONS: usize = 256;

/// Zeroed memory on separate pages.
#[derive(Debug)]
pub struct Watched {
    base: NonNull<u8>,
    len: usize,
    watch: Option<&'static Watch>,
}

// SAFETY: the memory belongs to this value alone and is only given out as a raw pointer.
unsafe impl Send for Watched {}

impl Watched {
    /// # Errors
    /// An error if there is not enough memory.
    pub fn new(len: usize) -> io::Result<Watched> {
        let len = len.max(1).next_multiple_of(rustix::param::page_size());
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses the address, so no existing mapping is replaced.
        let base = unsafe {
            rustix::mm::mmap_anonymous(ptr::null_mut(), len, protection, MapFlags::PRIVATE)?
        };
        let base = NonNull::new(base.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let mut watched = Watched {
            base,
            len,
            watch: None,
        };
        // If the kernel is too old or forbids this, all pages count as written.
        watched.watch = Watch::of_this_process().filter(|w| w.begin(base.as_ptr(), len).is_ok());
        Ok(watched)
    }

    pub fn as_ptr(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    /// Ranges of whole pages. Outside these ranges, nothing was written since the last call.
    pub fn take_written(&self) -> Vec<Range<usize>> {
        let start = self.base.as_ptr() as u64;
        let all = || std::iter::once(0..self.len).collect();
        let Some(watch) = self.watch else {
            return all();
        };
        let inside =
            |region: &PageRegion| (region.start - start) as usize..(region.end - start) as usize;
        match watch.take(start, start + self.len as u64) {
            Ok(regions) => regions.iter().map(inside).collect(),
            Err(_) => all(),
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length. The kernel stops watching the memory when it is
        // unmapped.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.len) };
    }
}

/// The descriptors by which the kernel watches memory, and reports writes.
#[derive(Debug)]
struct Watch {
    faults: OwnedFd,
    pages: File,
}

/// `struct uffdio_api`.
#[repr(C)]
struct Api {
    api: u64,
    features: u64,
    ioctls: u64,
}

/// `struct uffdio_register`.
#[repr(C)]
struct Register {
    start: u64,
    len: u64,
    mode: u64,
    ioctls: u64,
}

/// `struct uffdio_writeprotect`.
#[repr(C)]
struct Protect {
    start: u64,
    len: u64,
    mode: u64,
}

/// `struct page_region`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct PageRegion {
    start: u64,
    end: u64,
    categories: u64,
}

/// `struct pm_scan_arg`.
#[repr(C)]
#[derive(Default)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    regions: u64,
    region_count: u64,
    pages_max: u64,
    inverted: u64,
    wanted: u64,
    any_of: u64,
    reported: u64,
}

const UFFD_API: u64 = 0xaa;
const USER_MODE_ONLY: libc::c_int = 1;
/// Write protection that the kernel removes at a write. It includes pages that were never accessed.
const FEATURES: u64 = 1 | 1 << 13 | 1 << 15;
const REGISTER_WRITES: u64 = 2;
const PROTECT_WRITES: u64 = 1;
const PAGE_IS_WRITTEN: u64 = 2;
/// Protect reported pages again in the same step, and refuse memory that is not watched.
const SCAN_FLAGS: u64 = 1 | 2;

/// The number of an ioctl that reads and writes a `T`.
const fn request<T>(kind: u64, number: u64) -> u64 {
    3 << 30 | (size_of::<T>() as u64) << 16 | kind << 8 | number
}

impl Watch {
    fn of_this_process() -> Option<&'static Watch> {
        static WATCH: OnceLock<Option<Watch>> = OnceLock::new();
        WATCH.get_or_init(|| Watch::open().ok()).as_ref()
    }

    fn open() -> io::Result<Watch> {
        let flags = libc::O_CLOEXEC | libc::O_NONBLOCK | USER_MODE_ONLY;
        // SAFETY: the system call accesses no memory of this process, and returns a new descriptor.
        let faults = unsafe {
            match libc::syscall(libc::SYS_userfaultfd, flags) {
                ..=-1 => return Err(io::Error::last_os_error()),
                fd => OwnedFd::from_raw_fd(fd as i32),
            }
        };
        let mut api = Api {
            api: UFFD_API,
            features: FEATURES,
            ioctls: 0,
        };
        control(&faults, request::<Api>(UFFD_API, 0x3f), &mut api)?;
        let pages = File::open("/proc/self/pagemap")?;
        Ok(Watch { faults, pages })
    }

    fn begin(&self, start: *mut u8, len: usize) -> io::Result<()> {
        let (start, len) = (start as u64, len as u64);
        let mut register = Register {
            start,
            len,
            mode: REGISTER_WRITES,
            ioctls: 0,
        };
        control(
            &self.faults,
            request::<Register>(UFFD_API, 0),
            &mut register,
        )?;
        let mut protect = Protect {
            start,
            len,
            mode: PROTECT_WRITES,
        };
        control(&self.faults, request::<Protect>(UFFD_API, 6), &mut protect)?;
        // If the kernel cannot report writes, this fails now.
        self.take(start, start + len).map(drop)
    }

    fn take(&self, start: u64, end: u64) -> io::Result<Vec<PageRegion>> {
        let mut found = Vec::new();
        let mut regions = [PageRegion::default(); REGIONS];
        let mut at = start;
        while at < end {
            let mut scan = Scan {
                size: size_of::<Scan>() as u64,
                flags: SCAN_FLAGS,
                start: at,
                end,
                regions: regions.as_mut_ptr() as u64,
                region_count: REGIONS as u64,
                wanted: PAGE_IS_WRITTEN,
                reported: PAGE_IS_WRITTEN,
                ..Scan::default()
            };
            let count = control(&self.pages, request::<Scan>(u64::from(b'f'), 16), &mut scan)?;
            found.extend_from_slice(&regions[..count.min(REGIONS)]);
            if scan.walk_end <= at {
                break;
            }
            at = scan.walk_end;
        }
        Ok(found)
    }
}

/// An ioctl with a structure that the kernel reads and fills. Returns the result of the call.
fn control<T>(fd: &impl AsRawFd, request: u64, argument: &mut T) -> io::Result<usize> {
    // SAFETY: the request's number contains the size of the structure, which is the size that the
    // kernel expects. Pointers in the structure lead to memory that outlives the call.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), request as _, ptr::from_mut(argument)) };
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    /// Whether an offset is in one of the parts.
    fn covered(parts: &[Range<usize>], offset: usize) -> bool {
        parts.iter().any(|part| part.contains(&offset))
    }

    #[test]
    fn pages_that_were_written_are_told_once() {
        let page = rustix::param::page_size();
        let memory = Watched::new(1000 * page).unwrap();
        let tells = memory.watch.is_some();
        memory.take_written();
        // SAFETY: within the memory.
        unsafe {
            memory.as_ptr().add(5 * page).write(1);
            memory.as_ptr().add(7 * page + 3).write(1);
            assert_eq!(memory.as_ptr().add(500 * page).read(), 0);
        }
        let written = memory.take_written();
        assert!(covered(&written, 5 * page) && covered(&written, 7 * page + 3));
        assert_eq!(tells, !covered(&written, 500 * page));
        assert_eq!(tells, memory.take_written().is_empty());
        // SAFETY: as above.
        unsafe { memory.as_ptr().add(5 * page).write(2) };
        assert!(covered(&memory.take_written(), 5 * page));
    }

    #[test]
    fn the_kernel_s_own_writes_are_told() {
        let page = rustix::param::page_size();
        let memory = Watched::new(4 * page).unwrap();
        memory.take_written();
        let (mut from, mut to) = UnixStream::pair().unwrap();
        to.write_all(b"bytes").unwrap();
        // SAFETY: within the memory, to which nothing else refers.
        let bytes = unsafe { std::slice::from_raw_parts_mut(memory.as_ptr().add(2 * page), 5) };
        from.read_exact(bytes).unwrap();
        assert_eq!(bytes, b"bytes");
        assert!(covered(&memory.take_written(), 2 * page));
    }

    #[test]
    fn many_parts_are_all_told() {
        let page = rustix::param::page_size();
        let memory = Watched::new(4 * REGIONS * page).unwrap();
        memory.take_written();
        for i in 0..2 * REGIONS {
            // SAFETY: within the memory.
            unsafe { memory.as_ptr().add(2 * i * page).write(1) };
        }
        let written = memory.take_written();
        assert!((0..2 * REGIONS).all(|i| covered(&written, 2 * i * page)));
    }
}
