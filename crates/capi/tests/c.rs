//! Tests of the installed library. C programs, such as the examples, find it through pkg-config.

mod support;

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use support::{
    compile, example, example_with, here, install, installed, job, job_on, png, run, MPICH,
    OPEN_MPI,
};

#[test]
fn every_call_and_wrong_arguments() {
    for (flags, name) in [(&[][..], "calls"), (&["--static"], "calls-static")] {
        let program = compile("tests/calls.c", flags, name);
        let mut command = Command::new(program);
        if flags.is_empty() {
            command.env("LD_LIBRARY_PATH", installed().join("lib"));
        }
        assert_eq!(run(&mut command), "all calls do as they say\n");
    }
}

/// Rank 0 of `size` processes writes frames. Returns two of them.
fn rendered(program: &Path, scene: &str, size: usize) -> [Vec<u8>; 2] {
    let folder = installed().join(format!("opengl-{scene}-{size}"));
    job(program, &[scene, folder.to_str().unwrap(), "8"], size);
    [1, 8].map(|frame| {
        let (width, pixels) = png(&folder.join(format!("frame-{frame:06}.png")));
        assert_eq!((width, pixels.len()), (640, 3 * 640 * 480));
        pixels
    })
}

#[test]
fn pictures_of_opengl_are_the_same_from_any_number_of_processes() {
    let program = example_with("opengl", &["egl", "gl"]);
    let alone = rendered(&program, "isosurface", 1);
    assert!(alone[0] != alone[1], "the camera does not move");
    assert!(rendered(&program, "isosurface", 3) == alone);

    // OpenGL rounds to bytes after each slice. Slabs are blended in the order of the view: in the
    // first frame, the camera is on the left of the middle slab, and in the last frame, on the
    // right.
    let alone = rendered(&program, "volume", 1);
    let parts = rendered(&program, "volume", 3);
    for (alone, parts) in alone.iter().zip(&parts) {
        assert!(alone.iter().any(|byte| *byte > 100), "a black picture");
        let pairs = alone.iter().zip(parts);
        let worst = pairs.map(|(one, other)| one.abs_diff(*other)).max();
        assert!(worst <= Some(8), "{worst:?}");
    }
}

#[test]
fn examples() {
    let program = example("pingpong");
    let said = job(&program, &["20"], 2);
    assert_eq!(
        (said[0].lines().count(), said[1].as_str()),
        (5, ""),
        "{said:?}"
    );

    let program = example("manytoone");
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

    let program = example("alltoall");
    for (rank, said) in job(&program, &[], 4).into_iter().enumerate() {
        assert_eq!(said, format!("rank {rank} of 4: all is right\n"));
    }

    let program = example("composite");
    let picture = |size: usize| {
        let path = installed().join(format!("composite-{size}.ppm"));
        job(&program, &[path.to_str().unwrap(), "3"], size);
        fs::read(path).unwrap()
    };
    let alone = picture(1);
    assert_eq!(alone.len(), b"P6 640 480 255\n".len() + 3 * 640 * 480);
    for size in [2, 5] {
        assert!(picture(size) == alone, "{size} processes draw another one");
    }

    let folder = installed().join("composite-frames");
    // The processes write the frames in turn.
    let names = ["frame-000001.png", "frame-000002.png", "frame-000003.png"];
    for size in [3, 2] {
        let _ = fs::remove_dir_all(&folder);
        job(&program, &["--save", folder.to_str().unwrap(), "3"], size);
        let mut written: Vec<_> = fs::read_dir(&folder).unwrap().flatten().collect();
        written.sort_by_key(|entry| entry.file_name());
        let written: Vec<_> = written.iter().map(|entry| entry.file_name()).collect();
        assert_eq!(written, names, "{size} processes");
        let (width, pixels) = png(&folder.join(names[2]));
        assert!(width == 640 && alone.ends_with(&pixels), "another picture");
    }

    // Tiles are parts of the same picture.
    let first = installed().join("composite-first.ppm");
    job(&program, &[first.to_str().unwrap()], 1);
    let whole = fs::read(first).unwrap();
    let prefix = installed().join("tile");
    job(&example("tiles"), &[prefix.to_str().unwrap()], 3);
    let mut rows = vec![Vec::new(); 480];
    for (rank, width) in [213, 213, 214].into_iter().enumerate() {
        let tile = fs::read(format!("{}-{rank}.ppm", prefix.display())).unwrap();
        let head = format!("P6 {width} 480 255\n");
        let pixels = tile.strip_prefix(head.as_bytes()).unwrap();
        for (row, part) in rows.iter_mut().zip(pixels.chunks(3 * width)) {
            row.extend(part);
        }
    }
    assert!(whole.ends_with(&rows.concat()), "tiles are another picture");
}

/// If a process dies or stops while it composites, all others get an error that names it.
#[test]
fn a_process_that_dies_while_compositing() {
    let program = compile("tests/dying.c", &[], "dying");
    for (how, code) in [("die", "-5: rank 2 was lost"), ("stop", "-4: rank 2 has")] {
        // With these schedules, one process reads the pictures in shared memory, all processes read
        // them, or the pictures are sent.
        for schedule in ["-", "direct", "binary-swap"] {
            let said = job(&program, &[how, schedule], 4);
            for rank in [0, 1, 3] {
                let is_right = match schedule {
                    // The rank for which this one waits may itself wait for another.
                    "binary-swap" => ["-5: rank", "-4: rank"].contains(&&said[rank][..8]),
                    _ => said[rank].starts_with(code),
                };
                assert!(is_right, "{how} by {schedule}, rank {rank}: {said:?}");
            }
        }
    }
}

/// If a process is killed at a barrier, the others name it, and continue without it.
#[test]
fn barriers() {
    let program = compile("tests/barriers.c", &[], "barriers");
    for kind in ["auto", "shm", "star", "tree-2", "dissemination", "udp"] {
        for arguments in [&[kind][..], &[kind, "early"]] {
            let said = job(&program, arguments, 4);
            for rank in [0, 1, 3] {
                assert_eq!(said[rank], "all is right\n", "{arguments:?}, rank {rank}");
            }
        }
        let said = job(&example("barrier"), &[kind, "200"], 3);
        assert!(said[0].starts_with("3 processes: "), "{kind}: {said:?}");
    }
}

/// Several processes, with several threads each.
#[test]
fn threads_memory_and_broadcasts_of_several_processes() {
    let program = compile("tests/together.c", &[], "together");
    for (rank, said) in job(&program, &[], 3).into_iter().enumerate() {
        assert_eq!(said, format!("rank {rank}: all is right\n"));
    }
}

/// Runs a program as a job on two hosts that share a secret and communicate by TCP. The hosts are
/// two names of this machine.
fn apart(program: &Path, arguments: &[&str], slots: [usize; 2], tls: &str) -> Vec<String> {
    static JOBS: AtomicU32 = AtomicU32::new(0);
    let token = installed().join("token");
    let mut private = fs::OpenOptions::new();
    private.write(true).create(true).mode(0o600);
    let mut file = private.open(&token).unwrap();
    file.write_all("0123456789abcdef".repeat(4).as_bytes())
        .unwrap();
    // The ports must differ from those of another job.
    let port = 14_000 + std::process::id() % 6000 + 10 * JOBS.fetch_add(1, Ordering::Relaxed);
    let settings = [
        ("MGN_TOKEN_FILE", token.to_str().unwrap()),
        ("MGN_PORT", &port.to_string()),
        ("MGN_INTERFACES", "lo"),
        ("MGN_TLS", tls),
    ];
    let hosts = format!(
        "127.0.0.1 slots={}\nlocalhost slots={}\n",
        slots[0], slots[1]
    );
    job_on(&hosts, program, arguments, slots[0] + slots[1], &settings)
}

#[test]
fn processes_of_two_hosts() {
    let program = compile("tests/together.c", &[], "apart");
    for tls in ["0", "1"] {
        for (rank, said) in apart(&program, &[], [2, 1], tls).into_iter().enumerate() {
            assert_eq!(said, format!("rank {rank}: all is right\n"));
        }
    }
}

#[test]
fn barriers_of_two_hosts() {
    let program = compile("tests/barriers.c", &[], "barriers-apart");
    for (kind, tls) in [
        ("auto", "1"),
        ("star", "0"),
        ("dissemination", "0"),
        ("udp", "1"),
    ] {
        let said = apart(&program, &[kind], [3, 1], tls);
        for rank in [0, 1, 3] {
            assert_eq!(said[rank], "all is right\n", "{kind}, rank {rank}");
        }
    }
}

/// Launchers with PMI let a process join once. A second attempt must not end the process.
#[test]
fn processes_that_a_launcher_starts() {
    let (program, again) = (example("alltoall"), compile("tests/again.c", &[], "again"));
    for (launcher, second) in [(MPICH, " the launcher: "), (OPEN_MPI, "joined again")] {
        if !launcher.is_installed() {
            continue;
        }
        let [said, tried] = [&program, &again].map(|program| launcher.launch(program, 3));
        let launcher = launcher.program;
        for rank in 0..3 {
            let line = format!("rank {rank} of 3: all is right");
            assert!(said.lines().any(|said| said == line), "{launcher}: {said}");
            let start = format!("{rank}: ");
            let mut own = tried.lines().filter(|said| said.starts_with(&start));
            let is_told = own.any(|said| said.contains(second));
            assert!(is_told, "{launcher}: {tried}");
        }
    }
}

/// A variable of the environment sets the number of messages that can wait.
#[test]
fn a_receive_that_waits_in_vain() {
    let program = compile("tests/starved.c", &[], "starved");
    let settings = [("MGN_ENVELOPES", "8")];
    let said = job_on("here slots=2\n", &program, &[], 2, &settings);
    assert!(said[1].contains("8 unreceived messages"), "{said:?}");
}

/// The first program on the page for C programmers works as written.
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

/// The header is strict C and C++. A program in C++ does the same as the one in C.
#[test]
fn the_header_is_c_and_cpp() {
    let header = here().join("include/manganese.h");
    let strict = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"];
    run(Command::new("cc")
        .args(["-std=c99", "-x", "c"])
        .args(strict)
        .arg(&header));
    run(Command::new("c++")
        .args(["-std=c++11", "-x", "c++"])
        .args(strict)
        .arg(&header));
    let program = compile("tests/alone.cc", &[], "alone");
    let lib = installed().join("lib");
    let said = run(Command::new(program).env("LD_LIBRARY_PATH", lib));
    assert_eq!(said, "hello to oneself\n");
}

#[test]
fn an_exception_of_a_program_ends_the_process() {
    let program = compile("tests/throws.cc", &[], "throws");
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", installed().join("lib"));
    let output = command.output().unwrap();
    assert_eq!(output.status.signal(), Some(6), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
}

/// Packages: all files are below DESTDIR, but refer to their final paths.
#[test]
fn it_can_be_packaged() {
    let staged = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("staged");
    let _ = fs::remove_dir_all(&staged);
    install(&[
        &format!("DESTDIR={}", staged.display()),
        "PREFIX=/opt/some",
        "LIBDIR=/opt/some/lib64",
    ]);
    let lib = staged.join("opt/some/lib64");
    let read = fs::read_to_string(lib.join("pkgconfig/manganese.pc")).unwrap();
    assert!(
        read.contains("prefix=/opt/some\nlibdir=/opt/some/lib64\n"),
        "{read}"
    );
    for file in [
        "include/manganese.h",
        "share/man/man3/mgn_init.3",
        "share/doc/manganese/examples/pingpong.c",
        "lib64/libmanganese.a",
    ] {
        assert!(staged.join("opt/some").join(file).is_file(), "{file}");
    }
    // Programs refer to the name that changes with the binary interface.
    let version = format!("libmanganese.so.{}", env!("CARGO_PKG_VERSION"));
    for (link, target) in [
        ("libmanganese.so", "libmanganese.so.0"),
        ("libmanganese.so.0", &version),
    ] {
        assert_eq!(fs::read_link(lib.join(link)).unwrap(), Path::new(target));
    }
    let dynamic = run(Command::new("readelf").arg("-d").arg(lib.join(version)));
    assert!(dynamic.contains("soname: [libmanganese.so.0]"), "{dynamic}");
    // Windows require no other libraries of the system.
    let needed = dynamic.lines().filter(|line| line.contains("(NEEDED)"));
    let is_usual = |line: &&str| {
        ["libc.", "libgcc_s.", "ld-linux", "libm."]
            .iter()
            .any(|name| line.contains(name))
    };
    let others: Vec<&str> = needed.filter(|line| !is_usual(line)).collect();
    assert!(others.is_empty(), "{others:?}");
}

/// Manual pages have the declarations of the header.
#[test]
fn every_function_has_a_page() {
    let header = fs::read_to_string(here().join("include/manganese.h")).unwrap();
    let declarations: Vec<&str> = header
        .lines()
        .filter(|line| !line.starts_with("//") && line.ends_with(");"))
        .collect();
    assert!(declarations.len() > 35);
    let pages = installed().join("share/man/man3");
    for declaration in declarations {
        let name = declaration
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .find(|word| word.starts_with("mgn_"))
            .unwrap();
        // A type is described on the page of the function that takes it.
        let name = match name {
            "mgn_handler" => "mgn_set_handler",
            "mgn_draw" | "mgn_show" => "mgn_composite_tiles",
            name => name,
        };
        let page = fs::read_to_string(pages.join(format!("{name}.3")))
            .unwrap_or_else(|error| panic!("{name}.3: {error}"));
        let file = match page.strip_prefix(".so man3/") {
            Some(other) => pages.join(other.trim()),
            None => pages.join(format!("{name}.3")),
        };
        let page = fs::read_to_string(file).unwrap();
        let is_there = page.lines().any(|line| plain(line) == declaration);
        assert!(is_there, "the page of {name} does not say {declaration}");
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

/// A line of a synopsis without its fonts.
fn plain(line: &str) -> String {
    let words = line.strip_prefix(".BI ").unwrap_or(line);
    // Words outside of quotation marks are in the other font; blanks between words are not printed.
    let parts = words.split('"').enumerate();
    parts
        .map(|(at, part)| if at % 2 == 0 { part.trim() } else { part })
        .collect()
}
