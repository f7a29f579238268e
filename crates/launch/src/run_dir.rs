//! The private directory of one run, and the removal of directories that killed runs have left.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{flock, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::Error;

/// A socket's path must fit into 108 bytes. This much is left for the directory of all runs.
const BASE_MAX: usize = 60;

/// A directory that only this user can enter, removed when dropped.
///
/// It is locked for as long as the owner lives. The kernel drops the lock with the process, so a
/// directory that is not locked belongs to a dead run, and the next run removes it.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    base: PathBuf,
    /// Holds the lock.
    _lock: File,
}

impl RunDir {
    /// Makes a run directory under `XDG_RUNTIME_DIR`, or under `/tmp` if that is not usable, and
    /// removes the directories of dead runs.
    ///
    /// # Errors
    /// [`Error::UnsafeRunDir`] if the parent directory belongs to another user, [`Error::File`] if
    /// nothing can be created there.
    pub fn create() -> Result<RunDir, Error> {
        Self::create_in(&base())
    }

    fn create_in(base: &Path) -> Result<RunDir, Error> {
        loop {
            // Another run may remove the empty base after we have created it and before we lock it.
            private_if_missing(base)?;
            if let Some(_guard) = lock_base(base)? {
                sweep(base);
                return make(base);
            }
        }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file in it.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            tracing::debug!(path = %self.path.display(), %error, "run directory stays");
        }
        // The base is removed under its lock, so that it does not vanish while another run is
        // created there. The removal fails, as it should, while other runs exist.
        if let Ok(Some(_guard)) = lock_base(&self.base) {
            let _ = fs::remove_dir(&self.base);
        }
    }
}

fn base() -> PathBuf {
    let own = rustix::process::geteuid().as_raw();
    let runtime = std::env::var_os("XDG_RUNTIME_DIR")
        .map(PathBuf::from)
        .filter(|dir| {
            dir.is_absolute()
                && dir.as_os_str().len() <= BASE_MAX
                && fs::metadata(dir).is_ok_and(|m| m.is_dir() && m.uid() == own)
        });
    match runtime {
        Some(dir) => dir.join("manganese"),
        None => PathBuf::from(format!("/tmp/manganese-{own}")),
    }
}

fn private_if_missing(base: &Path) -> Result<(), Error> {
    match private(base) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(Error::file(base, "making it")(error))
        }
        _ => Ok(()),
    }
}

/// Locks the directory of all runs against other runs that start or end. Returns `None` if the
/// directory was removed meanwhile.
fn lock_base(base: &Path) -> Result<Option<File>, Error> {
    let own = rustix::process::geteuid().as_raw();
    // If another user has put a pipe there, opening it would wait forever.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = match rustix::fs::open(base, flags, Mode::empty()).map(File::from) {
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::NOTDIR | Errno::LOOP) => return Err(Error::UnsafeRunDir { path: base.into() }),
        opened => opened
            .map_err(io::Error::from)
            .map_err(Error::file(base, "opening it"))?,
    };
    lock(&file, FlockOperation::LockExclusive).map_err(Error::file(base, "locking it"))?;
    let held = file
        .metadata()
        .map_err(Error::file(base, "looking at it"))?;
    match fs::symlink_metadata(base) {
        Ok(now) if !now.is_dir() || now.uid() != own || now.mode() & 0o077 != 0 => {
            Err(Error::UnsafeRunDir { path: base.into() })
        }
        Ok(now) if (now.dev(), now.ino()) == (held.dev(), held.ino()) => Ok(Some(file)),
        _ => Ok(None),
    }
}

fn make(base: &Path) -> Result<RunDir, Error> {
    let pid = std::process::id();
    for n in 0.. {
        let path = base.join(format!("run-{pid}-{n}"));
        match private(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            made => made.map_err(Error::file(&path, "making it"))?,
        }
        let held = File::open(&path).map_err(Error::file(&path, "opening it"))?;
        lock(&held, FlockOperation::LockExclusive).map_err(Error::file(&path, "locking it"))?;
        return Ok(RunDir {
            path,
            base: base.into(),
            _lock: held,
        });
    }
    unreachable!("an unbounded range ends in a return")
}

/// Removes the directories of runs that have ended. Directories that cannot be removed are left for
/// the next run.
fn sweep(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if !entry.file_name().to_string_lossy().starts_with("run-") {
            continue;
        }
        let dead = File::open(&path)
            .is_ok_and(|file| lock(&file, FlockOperation::NonBlockingLockExclusive).is_ok());
        if dead {
            tracing::debug!(path = %path.display(), "removing what a killed run left");
            let _ = fs::remove_dir_all(&path);
        }
    }
}

fn private(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

fn lock(file: &File, how: FlockOperation) -> io::Result<()> {
    loop {
        match flock(file, how) {
            Err(rustix::io::Errno::INTR) => continue,
            done => return Ok(done?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn place(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("mgn-rundir-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        path
    }

    #[test]
    fn is_private_and_goes_away() {
        let base = place("private");
        let run = RunDir::create_in(&base).unwrap();
        assert_eq!(
            fs::metadata(run.path()).unwrap().permissions().mode() & 0o777,
            0o700
        );
        let other = RunDir::create_in(&base).unwrap();
        assert_ne!(run.path(), other.path());
        assert!(run.path().exists(), "a live run is not swept");
        fs::write(run.join("stats-1"), b"x").unwrap();
        drop(run);
        drop(other);
        assert!(!base.exists());
    }

    #[test]
    fn sweeps_the_dead() {
        let base = place("sweep");
        private(&base).unwrap();
        fs::create_dir_all(base.join("run-1-0/vendor")).unwrap();
        fs::create_dir(base.join("other")).unwrap();
        let run = RunDir::create_in(&base).unwrap();
        assert!(!base.join("run-1-0").exists());
        assert!(base.join("other").exists());
        drop(run);
        fs::remove_dir_all(base).unwrap();
    }

    #[test]
    fn refuses_a_place_open_to_others() {
        let base = place("open");
        fs::create_dir(&base).unwrap();
        fs::set_permissions(&base, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(
            RunDir::create_in(&base),
            Err(Error::UnsafeRunDir { .. })
        ));
        fs::remove_dir(&base).unwrap();
        // Opening a pipe would wait for its writer.
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &base,
            rustix::fs::FileType::Fifo,
            Mode::from_raw_mode(0o644),
            0,
        )
        .unwrap();
        assert!(matches!(
            RunDir::create_in(&base),
            Err(Error::UnsafeRunDir { .. })
        ));
        fs::remove_file(base).unwrap();
    }

    #[test]
    fn runs_that_start_and_end_at_once_do_not_trip_over_each_other() {
        let base = place("race");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let run = RunDir::create_in(&base).unwrap();
                        fs::write(run.join("f"), b"x").unwrap();
                    }
                });
            }
        });
        assert!(!base.exists());
    }
}
