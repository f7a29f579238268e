//! Inspects a program before it is started. A program that cannot use our OpenGL is refused, with
//! the reason.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::Error;

/// How many interpreter scripts may come between a program's name and the ELF file that runs.
const INTERPRETER_DEPTH: usize = 5;

/// Finds `program` as a shell would, and checks that it will be able to use our OpenGL. It must be
/// an executable, dynamically linked ELF program for this machine, or a script whose interpreter is
/// one.
///
/// Returns the path to start. For a script, this is the script itself.
///
/// # Errors
/// The first of [`Error::NotInPath`] … [`Error::InterpreterLoop`] that applies.
pub fn inspect(program: &OsStr) -> Result<PathBuf, Error> {
    let path = find(program)?;
    let mut file = path.clone();
    for _ in 0..=INTERPRETER_DEPTH {
        match look(&file)? {
            Kind::Elf => return Ok(path),
            Kind::Script(interpreter) => file = interpreter,
        }
    }
    Err(Error::InterpreterLoop {
        script: path,
        depth: INTERPRETER_DEPTH,
    })
}

/// Finds an executable by name in PATH, or takes a path as it is.
fn find(program: &OsStr) -> Result<PathBuf, Error> {
    if program.as_bytes().contains(&b'/') {
        let path = PathBuf::from(program);
        return match fs::metadata(&path) {
            Ok(_) => Ok(path),
            Err(_) => Err(Error::NoSuchProgram { path }),
        };
    }
    in_path(program).ok_or_else(|| Error::NotInPath {
        program: program.to_string_lossy().into(),
    })
}

/// The first executable file called `name` in PATH.
pub fn in_path(name: &OsStr) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    std::env::split_paths(&path)
        .map(|dir| {
            if dir.as_os_str().is_empty() {
                PathBuf::from(".")
            } else {
                dir
            }
        })
        .map(|dir| dir.join(name))
        .find(|file| is_executable(file))
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

enum Kind {
    Elf,
    /// The interpreter that the `#!` line leads to.
    Script(PathBuf),
}

fn look(path: &Path) -> Result<Kind, Error> {
    let unreadable = |source| Error::Unreadable {
        path: path.into(),
        source,
    };
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !is_executable(path) {
        return Err(Error::NotExecutable { path: path.into() });
    }
    let mut file = File::open(path).map_err(unreadable)?;
    let mut head = Vec::new();
    file.by_ref()
        .take(512)
        .read_to_end(&mut head)
        .map_err(unreadable)?;
    if head.starts_with(b"\x7fELF") {
        if metadata.permissions().mode() & 0o6000 != 0 && !rustix::process::geteuid().is_root() {
            return Err(Error::SetId { path: path.into() });
        }
        return check_elf(path, &file, &head).map(|()| Kind::Elf);
    }
    match head.strip_prefix(b"#!") {
        Some(line) => interpreter(path, line).map(Kind::Script),
        None => Err(Error::UnknownFormat { path: path.into() }),
    }
}

/// Follows a `#!` line; `/usr/bin/env NAME` stands for NAME in PATH.
fn interpreter(script: &Path, line: &[u8]) -> Result<PathBuf, Error> {
    let line = line.split(|&b| b == b'\n').next().unwrap_or_default();
    let mut words = line
        .split(|b| b.is_ascii_whitespace())
        .filter(|w| !w.is_empty());
    let Some(first) = words.next() else {
        return Err(Error::UnknownFormat {
            path: script.into(),
        });
    };
    let interpreter = PathBuf::from(OsStr::from_bytes(first));
    if !interpreter.exists() {
        return Err(Error::NoInterpreter {
            script: script.into(),
            interpreter,
        });
    }
    if interpreter.file_name() != Some(OsStr::new("env")) {
        return Ok(interpreter);
    }
    let Some(name) = words.find(|w| !w.starts_with(b"-") && !w.contains(&b'=')) else {
        return Ok(interpreter);
    };
    let name = OsStr::from_bytes(name);
    in_path(name).ok_or_else(|| Error::NoInterpreter {
        script: script.into(),
        interpreter: name.into(),
    })
}

/// The `e_machine` of programs that this machine runs, or `None` if we do not know it.
const MACHINE: Option<u16> = if cfg!(target_arch = "x86_64") {
    Some(62)
} else if cfg!(target_arch = "aarch64") {
    Some(183)
} else if cfg!(target_arch = "riscv64") {
    Some(243)
} else {
    None
};

const CLASS_32: u8 = 1;
const CLASS_64: u8 = 2;
const LITTLE_ENDIAN: u8 = 1;
const PT_INTERP: u32 = 3;

/// Checks an ELF file whose first bytes are `head`. A program gets our library from the dynamic
/// loader, and `PT_INTERP` requests the loader. A static program lacks this
/// header, even a static-pie one.
fn check_elf(path: &Path, file: &File, head: &[u8]) -> Result<(), Error> {
    let damaged = || Error::DamagedElf { path: path.into() };
    match head.get(4) {
        Some(&CLASS_32) => return Err(Error::Is32Bit { path: path.into() }),
        Some(&CLASS_64) => {}
        _ => return Err(damaged()),
    }
    if head.len() < 64 {
        return Err(damaged());
    }
    let machine = u16::from_le_bytes([head[18], head[19]]);
    if head[5] != LITTLE_ENDIAN || MACHINE.is_some_and(|ours| ours != machine) {
        return Err(Error::OtherMachine { path: path.into() });
    }
    let offset = u64::from_le_bytes(head[32..40].try_into().expect("eight bytes"));
    let entry = u64::from(u16::from_le_bytes([head[54], head[55]]));
    let count = u64::from(u16::from_le_bytes([head[56], head[57]]));
    for i in 0..count {
        let mut kind = [0; 4];
        let at = offset.checked_add(i * entry).ok_or_else(damaged)?;
        file.read_exact_at(&mut kind, at).map_err(|_| damaged())?;
        if u32::from_le_bytes(kind) == PT_INTERP {
            return Ok(());
        }
    }
    Err(Error::Static { path: path.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let dir =
                std::env::temp_dir().join(format!("mgn-inspect-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&dir);
            fs::create_dir_all(&dir).unwrap();
            Scratch(dir)
        }

        fn file(&self, name: &str, bytes: &[u8], mode: u32) -> PathBuf {
            let path = self.0.join(name);
            fs::write(&path, bytes).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn elf(class: u8, machine: u16, segments: &[u32]) -> Vec<u8> {
        let mut bytes = vec![0u8; 64];
        bytes[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', class, LITTLE_ENDIAN]);
        bytes[18..20].copy_from_slice(&machine.to_le_bytes());
        bytes[32..40].copy_from_slice(&64u64.to_le_bytes());
        bytes[54..56].copy_from_slice(&56u16.to_le_bytes());
        bytes[56..58].copy_from_slice(&(segments.len() as u16).to_le_bytes());
        for kind in segments {
            let mut segment = [0u8; 56];
            segment[..4].copy_from_slice(&kind.to_le_bytes());
            bytes.extend_from_slice(&segment);
        }
        bytes
    }

    #[test]
    fn finds_programs_in_path_and_follows_scripts() {
        assert!(inspect(OsStr::new("sh")).unwrap().ends_with("sh"));
        let scratch = Scratch::new("scripts");
        let script = scratch.file("script", b"#!/usr/bin/env -S LANG=C sh\nexit 3\n", 0o755);
        assert_eq!(inspect(script.as_os_str()).unwrap(), script);
        let outer = scratch.file(
            "outer",
            format!("#!{}\n", script.display()).as_bytes(),
            0o755,
        );
        assert_eq!(inspect(outer.as_os_str()).unwrap(), outer);
    }

    #[test]
    fn refuses_what_is_no_program() {
        let scratch = Scratch::new("no-program");
        let refused = |path: &Path| inspect(path.as_os_str()).unwrap_err();
        assert!(matches!(
            inspect(OsStr::new("no-such-mgn")),
            Err(Error::NotInPath { .. })
        ));
        assert!(matches!(
            refused(&scratch.0.join("gone")),
            Error::NoSuchProgram { .. }
        ));
        assert!(matches!(refused(&scratch.0), Error::NotExecutable { .. }));
        let text = scratch.file("text", b"hello", 0o644);
        assert!(matches!(refused(&text), Error::NotExecutable { .. }));
        let text = scratch.file("text", b"hello", 0o755);
        assert!(matches!(refused(&text), Error::UnknownFormat { .. }));
        let orphan = scratch.file("orphan", b"#!/no/such/shell\n", 0o755);
        assert!(matches!(refused(&orphan), Error::NoInterpreter { .. }));
        let path = scratch.0.join("loop");
        let looped = scratch.file("loop", format!("#!{}\n", path.display()).as_bytes(), 0o755);
        assert!(matches!(refused(&looped), Error::InterpreterLoop { .. }));
    }

    #[test]
    fn refuses_programs_that_cannot_be_given_a_library() {
        let scratch = Scratch::new("elf");
        let refused = |bytes: &[u8]| {
            inspect(scratch.file("program", bytes, 0o755).as_os_str())
                .map(|_| ())
                .unwrap_err()
        };
        let ours = MACHINE.unwrap_or(62);
        assert!(matches!(
            refused(&elf(CLASS_32, 3, &[])),
            Error::Is32Bit { .. }
        ));
        assert!(matches!(
            refused(&elf(CLASS_64, 21, &[PT_INTERP])),
            Error::OtherMachine { .. }
        ));
        assert!(matches!(
            refused(&elf(CLASS_64, ours, &[1, 2])),
            Error::Static { .. }
        ));
        assert!(matches!(refused(b"\x7fELF\x02"), Error::DamagedElf { .. }));
        let mut truncated = elf(CLASS_64, ours, &[1, PT_INTERP]);
        truncated.truncate(70);
        assert!(matches!(refused(&truncated), Error::DamagedElf { .. }));
        let mut far = elf(CLASS_64, ours, &[1, 1]);
        far[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(matches!(refused(&far), Error::DamagedElf { .. }));
    }
}
