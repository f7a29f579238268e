//! Anonymous shared memory that cannot change its size, and mappings of it.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Bytes that are read through a pointer, because another process may write to them at the same
/// time.
///
/// # Safety
/// While the value exists, [`Readable::len`] bytes at [`Readable::as_ptr`] can be read, and this
/// pointer is aligned to 8 bytes.
#[allow(
    clippy::len_without_is_empty,
    reason = "nobody asks whether it is empty"
)]
pub unsafe trait Readable {
    fn as_ptr(&self) -> *const u8;
    fn len(&self) -> usize;
}

/// Memory that is written through a pointer, because another process may see it.
///
/// # Safety
/// While the value exists and is not changed by other means, [`Writable::capacity`] bytes at
/// [`Writable::ptr`] can be written, and nothing else in this process uses them.
pub unsafe trait Writable {
    fn ptr(&mut self) -> *mut u8;
    fn capacity(&self) -> usize;
}

// SAFETY: a vector owns its bytes.
unsafe impl Writable for Vec<u8> {
    fn ptr(&mut self) -> *mut u8 {
        self.as_mut_ptr()
    }

    fn capacity(&self) -> usize {
        self.len()
    }
}

use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};

/// Creates `size` bytes of anonymous memory and seals its size. The name appears only in
/// `/proc/PID/maps`. The system allocates each page at its first access. It frees the memory when
/// the last descriptor and the last mapping are closed.
pub fn create(name: &str, size: usize) -> io::Result<OwnedFd> {
    let fd = create_unsealed(name, size)?;
    rustix::fs::fcntl_add_seals(&fd, size_seals())?;
    Ok(fd)
}

/// Whether an error says that this process or the system has no memory or no descriptors left.
pub fn is_exhausted(error: &io::Error) -> bool {
    let exhausted = [Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    let is_one = |errno: Errno| error.raw_os_error() == Some(errno.raw_os_error());
    error.kind() == io::ErrorKind::OutOfMemory || exhausted.into_iter().any(is_one)
}

fn create_unsealed(name: &str, size: usize) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Newer kernels may require this flag. Older kernels refuse it.
    let fd = match rustix::fs::memfd_create(name, flags | MemfdFlags::NOEXEC_SEAL) {
        Err(Errno::INVAL) => rustix::fs::memfd_create(name, flags)?,
        other => other?,
    };
    rustix::fs::ftruncate(&fd, size as u64)?;
    Ok(fd)
}

/// Creates memory like [`create`], and maps it. Only this mapping and its copies in forked children
/// can write to the memory.
pub fn create_read_only(name: &str, size: usize) -> io::Result<(OwnedFd, Mapping)> {
    let fd = create_unsealed(name, size)?;
    let mapping = Mapping::map(&fd, size, Protection::ReadWrite)?;
    rustix::fs::fcntl_add_seals(&fd, size_seals() | SealFlags::FUTURE_WRITE)?;
    Ok((fd, mapping))
}

/// The size of memory that another process has made. The memory must be sealed as by [`create`],
/// and must not consist of huge pages, which may run out. Under these conditions, access through a
/// mapping never raises a bus error.
pub fn sealed_size(fd: BorrowedFd<'_>) -> io::Result<usize> {
    let seals = rustix::fs::fcntl_get_seals(fd)?;
    if !seals.contains(size_seals()) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the shared memory is not sealed",
        ));
    }
    if rustix::fs::fstatfs(fd)?.f_type as u64 == HUGE_PAGES {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the shared memory is of huge pages",
        ));
    }
    let size = File::from(fd.try_clone_to_owned()?).metadata()?.len();
    usize::try_from(size).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Opens the memory behind a descriptor of another process of the same user. If the other process
/// is in another pid namespace, its number may mean a different process here, and the descriptor
/// may be something else. The caller must therefore map it with [`Mapping::new`], and check the
/// contents.
///
/// # Errors
/// The kernel's error: the process has ended, or this process may not access its descriptors.
pub fn of_process(pid: u32, fd: u32, protection: Protection) -> io::Result<OwnedFd> {
    let flags = match protection {
        Protection::Read => OFlags::RDONLY,
        Protection::ReadWrite => OFlags::RDWR,
    };
    // A device must not do anything when it is opened by mistake.
    let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let path = format!("/proc/{pid}/fd/{fd}");
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// The kernel's number for the file system of huge pages (HUGETLBFS_MAGIC).
const HUGE_PAGES: u64 = 0x9584_58f6;

/// Whether every page of `address..address + len` is mapped in this process. Returns true if the
/// system does not report this.
pub fn is_mapped(address: usize, len: usize) -> bool {
    /// The largest number of pages that one system call checks.
    const PAGES: usize = 4096;
    if len == 0 {
        return true;
    }
    let page = rustix::param::page_size();
    let Some(last) = address.checked_add(len - 1) else {
        return false;
    };
    let end = last / page + 1;
    let mut at = address / page;
    let mut resident = [0u8; PAGES];
    while at < end {
        let pages = PAGES.min(end - at);
        // SAFETY: the kernel only looks the pages up, whatever the address is, and writes a byte
        // for each of them.
        let result = unsafe {
            libc::mincore(
                (at * page) as *mut libc::c_void,
                pages * page,
                resident.as_mut_ptr(),
            )
        };
        if result != 0 {
            // If the call itself is forbidden, the answer is unknown.
            let error = io::Error::last_os_error().raw_os_error();
            return !matches!(error, Some(libc::ENOMEM | libc::EINVAL | libc::EFAULT));
        }
        at += pages;
    }
    true
}

fn size_seals() -> SealFlags {
    SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    Read,
    ReadWrite,
}

/// A shared mapping of a descriptor's memory. It is unmapped when dropped.
///
/// Other processes may write to the memory at any time. Therefore, the mapping provides raw
/// pointers and atomics, but no slices of plain values.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    len: usize,
    protection: Protection,
}

// SAFETY: the mapping is plain memory that belongs to no thread; all access through a shared
// reference is atomic, and code that dereferences raw pointers needs its own argument.
unsafe impl Send for Mapping {}
// SAFETY: as for Send.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `len` bytes of `fd`, which must be sealed memory of at least that size: other
    /// descriptors are refused, because their memory could shrink while it is mapped.
    pub fn new(fd: impl AsFd, len: usize, protection: Protection) -> io::Result<Mapping> {
        if len == 0 || sealed_size(fd.as_fd())? < len {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the shared memory is smaller than what is to be mapped",
            ));
        }
        Mapping::map(&fd, len, protection)
    }

    /// Maps memory that will not shrink.
    fn map(fd: &impl AsFd, len: usize, protection: Protection) -> io::Result<Mapping> {
        let flags = match protection {
            Protection::Read => ProtFlags::READ,
            Protection::ReadWrite => ProtFlags::READ | ProtFlags::WRITE,
        };
        // SAFETY: the kernel chooses the address, so no existing mapping is replaced.
        let base = unsafe {
            rustix::mm::mmap(ptr::null_mut(), len, flags, MapFlags::SHARED, fd.as_fd(), 0)?
        };
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Mapping {
            base,
            len,
            protection,
        })
    }

    #[inline]
    pub fn as_ptr(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        false
    }

    /// A pointer to `len` bytes at `offset`. Panics if they are not all inside the mapping.
    #[inline]
    pub fn range(&self, offset: usize, len: usize) -> *mut u8 {
        assert!(
            offset <= self.len && len <= self.len - offset,
            "range outside the mapping"
        );
        // SAFETY: the offset is inside the mapping or one past its end.
        unsafe { self.base.as_ptr().add(offset) }
    }

    /// The shared 32-bit word at `offset`. Panics if the word is outside the mapping or unaligned,
    /// or if the mapping is read only.
    #[inline]
    pub fn word(&self, offset: usize) -> &AtomicU32 {
        let pointer = self
            .atomic(offset, size_of::<AtomicU32>())
            .cast::<AtomicU32>();
        // SAFETY: `atomic` checked that an aligned word lies inside the writable mapping, which
        // lives as long as `self`; other processes are expected to access it atomically, and any
        // value is a valid u32.
        unsafe { &*pointer }
    }

    /// The shared 64-bit word at `offset`; panics as [`Mapping::word`] does.
    #[inline]
    pub fn long(&self, offset: usize) -> &AtomicU64 {
        let pointer = self
            .atomic(offset, size_of::<AtomicU64>())
            .cast::<AtomicU64>();
        // SAFETY: as for `word`.
        unsafe { &*pointer }
    }

    /// All 64-bit words. Panics if the mapping is read only.
    #[inline]
    pub fn longs(&self) -> &[AtomicU64] {
        let start = self.atomic(0, size_of::<AtomicU64>()).cast::<AtomicU64>();
        // SAFETY: as for `word`, for all words that lie inside the mapping; its start is the start
        // of a page.
        unsafe { std::slice::from_raw_parts(start, self.len / size_of::<AtomicU64>()) }
    }

    /// Makes the kernel prepare all pages now, so that the first access to each costs nothing.
    /// Kernels before 5.14 cannot do this. Then nothing changes.
    ///
    /// # Errors
    /// An error if there is not enough memory. An access would then end the process with SIGBUS.
    pub fn populate(&self) -> io::Result<()> {
        let advice = match self.protection {
            Protection::Read => Advice::LinuxPopulateRead,
            Protection::ReadWrite => Advice::LinuxPopulateWrite,
        };
        // SAFETY: the whole mapping; its contents do not change.
        match unsafe { rustix::mm::madvise(self.as_ptr().cast(), self.len, advice) } {
            Err(Errno::NOMEM | Errno::FAULT) => Err(io::ErrorKind::OutOfMemory.into()),
            _ => Ok(()),
        }
    }

    /// Returns the memory of these bytes to the system. The bytes are then zero in all mappings.
    /// Panics if they are not all inside the mapping. If the system cannot do this for the kind of
    /// memory, nothing changes.
    pub fn give_up(&self, offset: usize, len: usize) {
        let start = self.range(offset, len);
        // SAFETY: inside the mapping, and shared: readers find zeros, as if any process had written
        // them.
        let _ = unsafe { rustix::mm::madvise(start.cast(), len, Advice::LinuxRemove) };
    }

    #[inline]
    fn atomic(&self, offset: usize, size: usize) -> *mut u8 {
        assert!(offset % size == 0, "unaligned atomic");
        assert!(
            self.protection == Protection::ReadWrite,
            "atomic in a read-only mapping"
        );
        self.range(offset, size)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: base and len are what mmap gave; every reference borrowed from `self` has ended.
        // Failure would leave the memory mapped, which is harmless.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn what_is_mapped_is_told() {
        let page = rustix::param::page_size();
        let fd = create("test", 3 * page).unwrap();
        let mapping = Mapping::map(&fd, 3 * page, Protection::Read).unwrap();
        let base = mapping.as_ptr() as usize;
        assert!(is_mapped(base, 3 * page));
        assert!(is_mapped(base + page - 1, 2));
        assert!(is_mapped(base, 0));
        drop(mapping);
        // Another thread could map memory at this address, but hardly so soon.
        assert!(!is_mapped(base, 3 * page));
        assert!(!is_mapped(8, 1));
        assert!(!is_mapped(usize::MAX - 10, 100));
    }

    #[test]
    fn nobody_else_writes_to_what_is_read_only() {
        let (fd, mapping) = create_read_only("test", 4096).unwrap();
        mapping.word(0).store(7, Ordering::Relaxed);
        let reader = Mapping::new(&fd, 4096, Protection::Read).unwrap();
        // SAFETY: mapped, and nothing writes now.
        assert_eq!(unsafe { reader.as_ptr().read() }, 7);
        assert!(Mapping::new(&fd, 4096, Protection::ReadWrite).is_err());
        assert!(rustix::io::pwrite(&fd, &[1], 0).is_err());
    }

    #[test]
    fn two_mappings_see_the_same_memory() {
        let fd = create("test", 8192).unwrap();
        assert_eq!(sealed_size(fd.as_fd()).unwrap(), 8192);
        let writer = Mapping::new(&fd, 8192, Protection::ReadWrite).unwrap();
        let reader = Mapping::new(&fd, 8192, Protection::Read).unwrap();
        writer.word(4096).store(7, Ordering::SeqCst);
        // SAFETY: the word lies inside the mapping and nothing writes meanwhile.
        assert_eq!(unsafe { reader.range(4096, 4).cast::<u32>().read() }, 7);
    }

    #[test]
    fn memory_of_a_process_is_opened_by_its_descriptor() {
        use std::os::fd::AsRawFd;
        let fd = create("test", 4096).unwrap();
        let mine = Mapping::new(&fd, 4096, Protection::ReadWrite).unwrap();
        let open = |protection| {
            let fd = of_process(std::process::id(), fd.as_raw_fd() as u32, protection).unwrap();
            Mapping::new(&fd, 4096, protection).unwrap()
        };
        let (writer, reader) = (open(Protection::ReadWrite), open(Protection::Read));
        writer.populate().unwrap();
        reader.populate().unwrap();
        writer.word(0).store(7, Ordering::SeqCst);
        assert_eq!(mine.word(0).load(Ordering::SeqCst), 7);
        // SAFETY: mapped, and nothing writes now.
        assert_eq!(unsafe { reader.as_ptr().cast::<u32>().read() }, 7);
        assert!(of_process(std::process::id(), 1 << 20, Protection::Read).is_err());
        // A file that is not sealed memory can be opened, but not mapped.
        let null = std::fs::File::open("/dev/null").unwrap();
        let null = of_process(
            std::process::id(),
            null.as_raw_fd() as u32,
            Protection::Read,
        );
        assert!(Mapping::new(null.unwrap(), 1, Protection::Read).is_err());
    }

    #[test]
    fn the_size_is_sealed_and_unsealed_memory_is_refused() {
        let fd = create("test", 4096).unwrap();
        assert!(rustix::fs::ftruncate(&fd, 0).is_err());
        assert!(Mapping::new(&fd, 4097, Protection::Read).is_err());
        let open = rustix::fs::memfd_create("open", MemfdFlags::ALLOW_SEALING).unwrap();
        rustix::fs::ftruncate(&open, 4096).unwrap();
        assert!(Mapping::new(&open, 4096, Protection::Read).is_err());
        assert!(Mapping::new(File::open("/proc/self/exe").unwrap(), 1, Protection::Read).is_err());
    }

    #[test]
    fn what_is_given_up_is_zero_for_everybody() {
        let fd = create("test", 3 * 4096).unwrap();
        let writer = Mapping::new(&fd, 3 * 4096, Protection::ReadWrite).unwrap();
        let reader = Mapping::new(&fd, 3 * 4096, Protection::Read).unwrap();
        for page in 0..3 {
            writer.word(page * 4096).store(7, Ordering::SeqCst);
        }
        writer.give_up(4096, 4096);
        // SAFETY: the words lie inside the mapping and nothing writes meanwhile.
        let found =
            [0, 1, 2].map(|page| unsafe { reader.range(page * 4096, 4).cast::<u32>().read() });
        assert_eq!(found, [7, 0, 7]);
    }

    #[test]
    #[should_panic(expected = "outside the mapping")]
    fn words_outside_are_caught() {
        let fd = create("test", 4096).unwrap();
        Mapping::new(&fd, 4096, Protection::ReadWrite)
            .unwrap()
            .word(4096);
    }
}
