//! The library as C programs get it: installed, found through pkg-config, used by the examples.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn run(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&stdout).into_owned();
    assert!(
        status.success(),
        "{command:?}: {status}\n{text}\n{}",
        String::from_utf8_lossy(&stderr)
    );
    text
}

/// What `make install` makes, in a folder of the target folder.
fn installed() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        // Cargo does not build it for tests by itself.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(["build", "--quiet", "--package", "mgn-capi"])
            .current_dir(here());
        run(cargo.env("CARGO_TARGET_DIR", target));
        let built = target.join("debug");
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("installed");
        let _ = fs::remove_dir_all(&folder);
        let mut make = Command::new("make");
        make.arg("-s").arg("-C").arg(here()).arg("install");
        run(make
            .arg(format!("BUILT={}", built.display()))
            .arg(format!("PREFIX={}", folder.display()))
            .env_remove("DESTDIR"));
        folder
    })
}

fn pkg_config(arguments: &[&str]) -> Option<Vec<String>> {
    let path = installed().join("lib/pkgconfig");
    let output = Command::new("pkg-config")
        .args(arguments)
        .arg("manganese")
        .env("PKG_CONFIG_PATH", path)
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: there is no pkg-config");
        return None;
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(
        String::from_utf8(output.stdout)
            .unwrap()
            .split_whitespace()
            .map(String::from)
            .collect(),
    )
}

/// Compiles a program as its users would. None where there is no pkg-config.
fn compile(source: &str, flags: &[&str], name: &str) -> Option<PathBuf> {
    let program = installed().join(name);
    let mut compiler = Command::new("cc");
    compiler
        .args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(here().join(source));
    let mut words = pkg_config(&[&["--cflags", "--libs"], flags].concat())?;
    if flags.contains(&"--static") {
        // The C library itself stays shared.
        for word in words.iter_mut().filter(|word| *word == "-lmanganese") {
            *word = "-l:libmanganese.a".into();
        }
    }
    run(compiler.args(words).arg("-lpthread"));
    Some(program)
}

/// As many processes of a program as the hostfile has slots, each with what it printed.
fn job(program: &Path, arguments: &[&str], size: usize) -> Vec<String> {
    let name = format!(
        "{}-{}",
        program.file_name().and_then(OsStr::to_str).unwrap(),
        std::process::id()
    );
    let hosts = installed().join(format!("{name}.hosts"));
    fs::write(&hosts, format!("here slots={size}  # all on one host\n")).unwrap();
    let start = |rank: usize| {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("LD_LIBRARY_PATH", installed().join("lib"));
        command
            .env("MGN_HOSTFILE", &hosts)
            .env("MGN_RANK", rank.to_string())
            .env("MGN_JOB", &name);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..size).map(start).collect();
    let finish = |child: std::process::Child| {
        let Output {
            status,
            stdout,
            stderr,
        } = child.wait_with_output().unwrap();
        assert!(
            status.success(),
            "{name}: {status}\n{}",
            String::from_utf8_lossy(&stderr)
        );
        String::from_utf8(stdout).unwrap()
    };
    children.into_iter().map(finish).collect()
}

#[test]
fn every_call_and_wrong_arguments() {
    for (flags, name) in [(&[][..], "calls"), (&["--static"], "calls-static")] {
        let Some(program) = compile("tests/calls.c", flags, name) else {
            return;
        };
        let mut command = Command::new(program);
        if flags.is_empty() {
            command.env("LD_LIBRARY_PATH", installed().join("lib"));
        }
        assert_eq!(run(&mut command), "all calls do as they say\n");
    }
}

#[test]
fn examples() {
    let Some(program) = compile("examples/pingpong.c", &[], "pingpong") else {
        return;
    };
    let said = job(&program, &["20"], 2);
    assert_eq!(
        (said[0].lines().count(), said[1].as_str()),
        (5, ""),
        "{said:?}"
    );

    let program = compile("examples/manytoone.c", &[], "manytoone").unwrap();
    let said = job(&program, &[], 4);
    for rank in 1..4 {
        let mine: Vec<&str> = said[0]
            .lines()
            .filter(|line| line.starts_with(&format!("from {rank}: ")))
            .collect();
        let wanted: Vec<String> = (0..5)
            .map(|line| format!("from {rank}: line {line}"))
            .collect();
        assert_eq!(mine, wanted);
    }

    let program = compile("examples/alltoall.c", &[], "alltoall").unwrap();
    for (rank, said) in job(&program, &[], 4).into_iter().enumerate() {
        assert_eq!(said, format!("rank {rank} of 4: all is right\n"));
    }
}

/// The page for C programmers, tried as written.
#[test]
fn the_page_begins_with_a_program_that_works() {
    let page = fs::read_to_string(here().join("../../docs/messages.md")).unwrap();
    let block = |language: &str| {
        let start = format!("```{language}\n");
        page.split_once(&start)
            .unwrap()
            .1
            .split("```")
            .next()
            .unwrap()
            .to_string()
    };
    if pkg_config(&["--exists"]).is_none() {
        return;
    }
    let folder = installed().join("page");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("hello.c"), block("c")).unwrap();
    let lib = installed().join("lib");
    let mut shell = Command::new("bash");
    shell.args(["-euc", &block("sh")]).current_dir(&folder);
    shell
        .env("PKG_CONFIG_PATH", lib.join("pkgconfig"))
        .env("LD_LIBRARY_PATH", lib);
    shell.env("MGN_JOB", format!("page-{}", std::process::id()));
    assert_eq!(run(&mut shell), "hello from 0\n");
}

#[test]
fn the_header_is_c_and_cpp() {
    let header = here().join("include/manganese.h");
    run(Command::new("cc")
        .args([
            "-std=c99",
            "-pedantic",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fsyntax-only",
            "-x",
            "c",
        ])
        .arg(&header));
    if Command::new("c++").arg("--version").output().is_err() {
        eprintln!("skipped: there is no C++ compiler");
        return;
    }
    run(Command::new("c++")
        .args([
            "-std=c++11",
            "-pedantic",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fsyntax-only",
            "-x",
            "c++",
        ])
        .arg(&header));
}

/// The header's functions are those that the library has, with the same types.
#[test]
fn the_header_says_what_the_library_has() {
    let header = fs::read_to_string(here().join("include/manganese.h")).unwrap();
    let library = fs::read_to_string(here().join("src/lib.rs")).unwrap();
    let declared: BTreeSet<String> = header
        .split(';')
        .filter_map(|piece| {
            let line = piece
                .rfind("*/")
                .map_or(piece, |end| &piece[end + 2..])
                .trim();
            let is_one = ["int mgn_", "const char *mgn_"]
                .iter()
                .any(|start| line.starts_with(start));
            is_one.then(|| types_of_c(line))
        })
        .collect();
    let defined: BTreeSet<String> = library
        .split("#[no_mangle]")
        .skip(1)
        .map(types_of_rust)
        .collect();
    assert!(defined.len() > 25);
    assert_eq!(declared, defined);

    // Numbers that both sides say.
    let codes = fs::read_to_string(here().join("src/fault.rs")).unwrap();
    for code in [
        "Argument",
        "Handle",
        "State",
        "Timeout",
        "Closed",
        "Truncated",
        "Cancelled",
        "Starved",
        "Job",
        "Refused",
        "System",
        "Internal",
    ] {
        let line = codes
            .lines()
            .find(|line| line.trim().starts_with(&format!("{code} = ")))
            .unwrap();
        let number = line
            .trim()
            .trim_end_matches(',')
            .rsplit(' ')
            .next()
            .unwrap();
        let wanted = format!("MGN_ERR_{} = {number}", code.to_uppercase());
        assert!(header.contains(&wanted), "{wanted}");
    }
    for flag in ["SYNC", "UNORDERED"] {
        let line = library
            .lines()
            .find(|line| line.starts_with(&format!("const {flag}: ")))
            .unwrap();
        let number = line.trim_end_matches(';').rsplit(' ').next().unwrap();
        assert!(header.contains(&format!("#define MGN_{flag} {number}\n")));
    }
}

/// `name(type, type) -> type` of a C declaration, in words that both languages map to.
fn types_of_c(declaration: &str) -> String {
    let (head, rest) = declaration.split_once('(').unwrap();
    let (result, name) = head.split_at(head.find("mgn_").unwrap());
    let parameters = rest
        .strip_suffix(')')
        .unwrap()
        .split(',')
        .map(str::trim)
        .filter(|one| *one != "void");
    let kind = |parameter: &str| {
        let end = parameter
            .trim_end_matches(|c: char| c.is_alphanumeric() || c == '_')
            .len();
        c_type(&parameter[..end])
    };
    let parameters: Vec<String> = parameters.map(kind).collect();
    format!("{name}({}) -> {}", parameters.join(", "), c_type(result))
}

fn c_type(text: &str) -> String {
    match text.split_whitespace().collect::<String>().as_str() {
        "constchar*const*" => return "*const *const c_char".into(),
        "constvoid**" => return "*mut *const c_void".into(),
        _ => {}
    }
    let text = text.replace("struct ", "");
    let (pointer, base) = match text.trim().strip_prefix("const ") {
        Some(base) => ("*const ", base),
        None => ("*mut ", text.trim()),
    };
    let bare = base.trim_end_matches([' ', '*']);
    let name = match bare {
        "int" => "c_int",
        "char" => "c_char",
        "void" => "c_void",
        "size_t" => "usize",
        "uint16_t" => "u16",
        "uint32_t" => "u32",
        "uint64_t" | "mgn_conn" | "mgn_request" | "mgn_message" | "mgn_reservation" => "u64",
        other => other,
    };
    format!("{}{name}", pointer.repeat(base.matches('*').count()))
}

fn types_of_rust(function: &str) -> String {
    let start = function.find("fn mgn_").unwrap() + 3;
    let head = function[start..].split('{').next().unwrap();
    let (name, rest) = head.split_once('(').unwrap();
    let (parameters, result) = rest.rsplit_once(')').unwrap();
    let parameters: Vec<&str> = parameters
        .split(',')
        .filter_map(|one| Some(one.split_once(':')?.1.trim()))
        .collect();
    format!(
        "{name}({}) -> {}",
        parameters.join(", "),
        result.trim().strip_prefix("->").unwrap().trim()
    )
}

#[test]
fn every_function_has_a_page() {
    let library = fs::read_to_string(here().join("src/lib.rs")).unwrap();
    let pages = installed().join("share/man/man3");
    for function in library.split("fn mgn_").skip(1) {
        let name = format!("mgn_{}", function.split('(').next().unwrap());
        let page = fs::read_to_string(pages.join(format!("{name}.3")))
            .unwrap_or_else(|error| panic!("{name}.3: {error}"));
        let file = match page.strip_prefix(".so man3/") {
            Some(other) => pages.join(other.trim()),
            None => pages.join(format!("{name}.3")),
        };
        let page = fs::read_to_string(file).unwrap();
        assert!(page.contains(&format!("{name}(")), "{name} has no synopsis");
    }
    if Command::new("man").arg("--version").output().is_err() {
        eprintln!("skipped: there is no man");
        return;
    }
    for page in fs::read_dir(here().join("man")).unwrap().flatten() {
        let mut man = Command::new("man");
        let output = man
            .args(["--warnings", "-E", "UTF-8", "-l"])
            .arg(page.path())
            .env("MANWIDTH", "100")
            .output()
            .unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
