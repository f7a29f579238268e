//! The library as programs get it: C programs that composite pictures of their own, with processes
//! that they fork themselves; and the same ones under MPI, compared with IceT where it is there.

#[path = "../../client/tests/common/built.rs"]
mod built;
mod paraview_release;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use paraview_release::Release;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn output(command: &mut Command) -> Output {
    command
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

fn run(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = output(command);
    let text = String::from_utf8_lossy(&stdout).into_owned();
    let said = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{command:?}: {status}\n{text}\n{said}");
    text
}

/// A folder with the library under the names by which programs ask for it.
fn library() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let built = built::built("mgn-icet").join("libmgn_icet.so");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("icet");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink(&built, folder.join("libmgn_icet.so")).unwrap();
        if let Some(release) = Release::find() {
            std::os::unix::fs::symlink(&built, folder.join(release.file("Core"))).unwrap();
        }
        folder
    })
}

/// A folder of a test's own.
fn folder(name: &str) -> PathBuf {
    let folder = library().join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Compiles a program that forks its processes, for one test.
fn compiled(name: &str, test: &str) -> PathBuf {
    let program = folder(test).join(name);
    let source = here().join(format!("tests/programs/{name}.c"));
    let mut compiler = Command::new("cc");
    compiler
        .args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(source)
        .arg(library().join("libmgn_icet.so"));
    run(compiler.args(["-lm", "-lpthread"]));
    program
}

/// Runs `size` processes of a program, and returns their output and errors.
fn forked(program: &Path, size: usize, words: &[&str]) -> Output {
    output(
        Command::new(program)
            .args(words)
            .env("NP", size.to_string())
            .env("LD_LIBRARY_PATH", library()),
    )
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn calls_that_make_no_sense_are_errors() {
    let program = compiled("calls", "calls");
    let ended = forked(&program, 1, &[]);
    assert!(ended.status.success(), "{}", text(&ended.stdout));
}

#[test]
fn blended_pictures_are_those_of_blending_in_doubles() {
    let program = compiled("composite", "blended");
    let background = "background=0.1,0.2,0.3,0.4";
    for words in [
        "order=reverse",
        "order=mixed correct=1",
        "order=mixed strategy=direct",
        "order=none strategy=vtree correct=1",
        "order=mixed content=glow via=draw",
        "order=mixed columns=2 rows=2 via=draw correct=1",
        "order=reverse color=f correct=1",
        "order=reverse via=draw replicate=2",
        "order=none strategy=direct via=draw replicate=3 correct=1",
    ] {
        for size in [1, 2, 5, 8] {
            let mut all = vec!["mode=blend", "depth=none", background, "frames=2"];
            all.extend(words.split(' '));
            let ended = forked(&program, size, &all);
            let said = text(&ended.stdout);
            assert!(ended.status.success(), "{size} {words}: {said}");
            let off = |line: &str| -> f64 {
                let (_, rest) = line
                    .split_once("off by ")
                    .unwrap_or_else(|| panic!("{said}"));
                rest.split(' ').next().unwrap().parse().unwrap()
            };
            let tiles = if words.contains("columns") {
                size.min(4)
            } else {
                1
            };
            assert_eq!(said.lines().count(), 2 * tiles, "{size} {words}: {said}");
            let limit = if words.contains("color=f") {
                0.001
            } else {
                1.0
            };
            for line in said.lines() {
                assert!(off(line) < limit, "{size} {words}: {line}");
            }
        }
    }
}

/// What the processes write, by file.
fn written(program: &Path, test: &str, words: &[&str]) -> Vec<Vec<u8>> {
    let folder = folder(&format!("{test}-out"));
    let out = format!("out={}", folder.join("it").display());
    let ended = forked(program, 4, &[words, &[&out]].concat());
    assert!(ended.status.success(), "{words:?}: {}", text(&ended.stdout));
    let files = fs::read_dir(&folder).unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// The result lies where the next one will be.
#[test]
fn a_result_may_be_composited_again() {
    let program = compiled("composite", "again");
    for mode in [
        "mode=blend depth=none order=mixed",
        "mode=z",
        "mode=blend depth=none change=2",
    ] {
        for size in ["width=64", "width=700 height=800"] {
            let words = |again| [mode, size, "frames=3", again].join(" ");
            let [direct, copied] = ["again=1", "again=2"].map(|again| {
                let words = words(again);
                written(&program, "again", &words.split(' ').collect::<Vec<_>>())
            });
            assert_eq!(direct.len(), 12);
            assert!(direct == copied, "{mode} {size}");
        }
    }
}

/// A process whose data is out of sight has no memory for pictures: the library makes none for it,
/// neither to share it nor for itself.
#[test]
fn processes_without_data_in_sight_need_no_memory_for_pictures() {
    let program = compiled("composite", "memory");
    for mode in [
        "mode=z",
        "mode=z color=f",
        "mode=z color=rgb",
        "mode=blend depth=none order=mixed",
        "mode=blend depth=none order=mixed strategy=direct background=0,0,0.5,1",
    ] {
        // The first and the last process lie at the sides of the display, and the first one gets
        // the picture.
        let words = format!("{mode} via=draw bounds=3 frames=3 memory=1 width=300 height=200");
        let ended = forked(&program, 4, &words.split(' ').collect::<Vec<_>>());
        let said = text(&ended.stdout);
        assert!(ended.status.success(), "{words}: {said}");
        for (rank, draws, pieces) in [(1, 3, 2), (2, 3, 2), (3, 0, 1)] {
            let line = format!("rank {rank}: {draws} draws, {pieces} pieces of memory");
            assert!(said.contains(&line), "{words}: {line}: {said}");
        }
        // Each picture has at least 200 pages.
        let (_, rest) = said.split_once("rank 3: ").unwrap();
        let (_, rest) = rest.split_once("memory, ").unwrap();
        let pages: usize = rest.split(' ').next().unwrap().parse().unwrap();
        assert!(pages < 200, "{words}: {said}");
    }
}

#[test]
fn a_background_ends_with_its_frame() {
    let program = compiled("composite", "change");
    let words = "mode=blend depth=none order=mixed strategy=direct content=odd frames=2 change=1";
    let words: Vec<&str> = words.split(' ').collect();
    let [white, black] = ["background=1,1,1,1", "background=0,0,0,0"]
        .map(|background| written(&program, "change", &[&words[..], &[background]].concat()));
    assert_eq!(white.len(), 8);
    // The files of each process are one after the other.
    assert!(white[0] != black[0], "the first frame has a background");
    for at in [1, 3, 5, 7] {
        assert!(white[at] == black[at], "{at}");
    }
}

#[test]
fn processes_that_end_or_stop_are_errors_for_the_others() {
    let program = compiled("composite", "ends");
    let composite = |words: &[&str]| {
        let mut command = Command::new(&program);
        command.args(["frames=3", "width=640", "height=480"]);
        let command = command
            .args(words)
            .env("NP", "4")
            .env("MGN_ICET_TIMEOUT", "4");
        output(command.env("LD_LIBRARY_PATH", library()))
    };
    for (words, status, reason) in [
        (&["die=2"][..], 9, "rank 2 was lost"),
        (&["stop=2", "stop_for=14"], 0, "rank 2 has not arrived"),
        (&["other=2"], 0, "pictures of another size"),
        // These do not even join the others.
        (&["die=2", "when=0"], 9, "rank 2 "),
        (&["stop=2", "stop_for=14", "when=0"], 0, "rank 2 "),
        (&["refuse=2", "when=0"], 0, "rank 2 "),
    ] {
        let ended = composite(words);
        let (said, errors) = (text(&ended.stdout), text(&ended.stderr));
        assert_eq!(
            ended.status.code(),
            Some(status),
            "{words:?}: {said}\n{errors}"
        );
        // A process that dies may take an earlier picture with it.
        let first = said.find("rank 0 frame 0: error fffffff");
        let first = first.or_else(|| said.find("rank 0 frame 1: error ffffffff"));
        let last = said.find("rank 0 frame 2: error fffffffb");
        assert!(first.is_some() && first < last, "{words:?}: {said}");
        assert!(errors.contains(reason), "{words:?}: {errors}");
        assert!(errors.contains("has failed before"), "{words:?}: {errors}");
    }
    let wrong = Command::new(&program)
        .env("NP", "2")
        .env("MGN_ICET_TIMEOUT", "soon")
        .env("LD_LIBRARY_PATH", library())
        .output()
        .unwrap();
    assert!(text(&wrong.stderr).contains("MGN_ICET_TIMEOUT is soon"));
}

/// A program that asks for IceT under this file name. There is no such file.
fn asking_for(name: &str) -> PathBuf {
    let folder = folder("names");
    let icet = folder.join(name);
    fs::copy(library().join("libmgn_icet.so"), &icet).unwrap();
    let program = folder.join("composite");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu11", "-o"]).arg(&program);
    compiler.arg(here().join("tests/programs/composite.c"));
    compiler.arg("-L").arg(&folder).arg(format!("-l:{name}"));
    run(compiler.args(["-lm", "-lpthread"]));
    fs::remove_file(icet).unwrap();
    program
}

#[test]
fn mgn_run_replaces_icet_under_each_of_its_names() {
    let mgn = built::built("mgn-cli").join("mgn");
    let by = |option: &str, program: &Path| {
        let mut command = Command::new(&mgn);
        command
            .args(["run", "--headless", option, "--"])
            .arg(program);
        output(
            command
                .args(["frames=1", "width=64", "height=48"])
                .env("NP", "2"),
        )
    };
    let is_replaced = |option: &str, name: &str| {
        let ended = by(option, &asking_for(name));
        // It fails if no process has composited through Manganese.
        let errors = text(&ended.stderr);
        assert!(
            ended.status.success(),
            "{option} {name}: {}: {errors}",
            ended.status
        );
    };
    for name in ["libIceTCore.so", "libvtkIceTCore-pv5.9.so.1"] {
        is_replaced("--icet", name);
    }
    for minor in 10..=13 {
        is_replaced("--icet", &format!("libvtkIceTCore-pv5.{minor}.so.1"));
    }
    is_replaced("--icet=libOther.so.3", "libOther.so.3");

    // These load no IceT.
    for (option, names) in [
        ("--icet", "libvtkIceTCore-pv5.13.so.1"),
        ("--icet=libOther.so.3", "(libOther.so.3)"),
    ] {
        let ended = by(option, Path::new("true"));
        let errors = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{errors}");
        let is_explained = errors.contains("no process loaded IceT") && errors.contains(names);
        assert!(is_explained, "{errors}");
    }
    let ended = by("--icet=/usr/lib/libOther.so.3", Path::new("true"));
    let errors = text(&ended.stderr);
    assert!(errors.contains("without a folder"), "{errors}");
}

/// ParaView's IceT, and Open MPI, with which it is built.
struct Original {
    include: PathBuf,
    /// MPI and core.
    libraries: [PathBuf; 2],
}

/// None, with a message, where they are not there.
fn original() -> Option<Original> {
    let skip = |what: &str| {
        eprintln!("SKIPPED: comparison with IceT, for want of {what}");
        assert!(
            std::env::var_os("MGN_NEED_ICET").is_none(),
            "MGN_NEED_ICET is set, and {what} is missing"
        );
    };
    let has = |program: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    let Some(release) = Release::find() else {
        skip("the libraries of ParaView 5.11 or 5.13");
        return None;
    };
    let include = format!("/usr/include/paraview-{}/vtkicet/src/include", release.name);
    let include = PathBuf::from(include);
    if !include.join("IceT.h").is_file() {
        skip("the headers of ParaView (package paraview-dev)");
        return None;
    }
    let all = ["mpicc.openmpi", "mpirun.openmpi"];
    if let Some(missing) = all.iter().find(|program| !has(program)) {
        skip(missing);
        return None;
    }
    Some(Original {
        include,
        libraries: ["MPI", "Core"].map(|kind| release.library(kind)),
    })
}

/// The pictures that all ranks of a run have left, with those in pieces put together, and what it
/// printed of errors.
fn pictures(program: &Path, size: usize, words: &[&str], ours: bool) -> Vec<(String, Vec<u8>)> {
    let folder = folder(if ours {
        "pictures.ours"
    } else {
        "pictures.original"
    });
    let mut mpirun = Command::new("mpirun.openmpi");
    mpirun
        .args([
            "--allow-run-as-root",
            "--oversubscribe",
            "--mca",
            "mpi_yield_when_idle",
            "1",
        ])
        .args(["-np", &size.to_string()])
        .arg(program)
        .arg(format!("out={}", folder.join("picture").display()))
        .args(words);
    if ours {
        mpirun.env("LD_LIBRARY_PATH", library());
    }
    run(&mut mpirun);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    files.sort();
    let mut pieces = Vec::new();
    let mut whole = Vec::new();
    for file in files {
        let bytes = fs::read(&file).unwrap();
        let end = bytes.iter().position(|byte| *byte == b'\n').unwrap();
        let (head, pixels) = (text(&bytes[..end]), bytes[end + 1..].to_vec());
        match words.contains(&"collect=0") {
            true => pieces.extend((!pixels.is_empty()).then_some((head, pixels))),
            false => whole.push((head, pixels)),
        }
    }
    if !pieces.is_empty() {
        whole.push(join(pieces));
    }
    assert!(!whole.is_empty());
    whole
}

/// Pieces of a picture of bytes with depths, as one.
fn join(mut pieces: Vec<(String, Vec<u8>)>) -> (String, Vec<u8>) {
    let numbers = |head: &str| -> (usize, usize) {
        let words: Vec<&str> = head.split(' ').collect();
        (words[4].parse().unwrap(), words[5].parse().unwrap())
    };
    pieces.sort_by_key(|(head, _)| numbers(head));
    let (mut color, mut depth): (Vec<u8>, Vec<u8>) = (Vec::new(), Vec::new());
    for (head, pixels) in &pieces {
        let (offset, count) = numbers(head);
        assert_eq!(offset * 4, color.len(), "{head}");
        color.extend(&pixels[..count * 4]);
        depth.extend(&pixels[count * 4..]);
    }
    let head = pieces[0].0.split(' ').skip(6).collect::<Vec<_>>().join(" ");
    color.extend(depth);
    (head, color)
}

#[test]
fn pictures_with_depth_are_those_of_icet() {
    let Some(original) = original() else {
        return;
    };
    let program = folder("composite.mpi").join("composite");
    let mut compiler = Command::new("mpicc.openmpi");
    compiler
        .args(["-DWITH_MPI", "-O1", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(here().join("tests/programs/composite.c"))
        .arg("-isystem")
        .arg(&original.include)
        .args(&original.libraries);
    run(compiler.arg("-lm"));
    let background = "background=0.1,0.2,0.3,0.4";
    for (size, words) in [
        (4, "one=0 frames=3"),
        (4, "one=1"),
        (1, "one=0"),
        (7, "one=0 content=ties"),
        (4, "one=0 content=ties order=reverse"),
        (4, "one=0 content=ties order=mixed strategy=reduce"),
        (4, "one=0 content=ties single=bswap"),
        (4, "one=0 content=strange"),
        (4, "one=0 content=nothing"),
        (5, "one=0 content=part"),
        (4, "one=0 content=odd"),
        (4, "one=0 color=f"),
        (4, "one=0 color=rgb content=ties"),
        (4, "color=none content=ties"),
        (4, "one=0 valid=10,10,20,20"),
        (4, "one=0 valid=10,10,200,20"),
        (4, "one=0 valid=-10,10,20,20"),
        (4, "one=0 columns=2 rows=2"),
        (3, "one=0 columns=2 strategy=reduce"),
        (4, "one=0 columns=2 via=matrices bounds=0.5"),
        (4, "one=0 via=draw frames=2"),
        (4, "one=0 via=draw columns=2 rows=2 frames=2"),
        (4, "one=0 via=draw columns=2 bounds=0.5"),
        (3, "one=0 via=draw columns=2 bounds=0.5 floating=0"),
        (4, "one=0 via=draw bounds=3"),
        (4, "one=0 via=draw bounds=0.01 content=nothing"),
        (4, "via=draw empty=1 bounds=3"),
        (4, "one=0 via=draw color=f columns=2 bounds=0.3"),
        (4, "one=0 via=draw replicate=2"),
        (5, "one=0 via=draw replicate=3 columns=2 rows=2"),
        (6, "one=0 via=draw replicate=2 content=ties"),
        (4, "one=0 collect=0"),
        (3, "one=0 collect=0 via=draw bounds=0.5"),
        (2, "mode=blend depth=none content=nothing correct=1"),
    ] {
        let words: Vec<&str> = words.split(' ').chain([background]).collect();
        let [theirs, ours] = [false, true].map(|ours| pictures(&program, size, &words, ours));
        let heads = |all: &[(String, Vec<u8>)]| {
            all.iter().map(|(head, _)| head.clone()).collect::<Vec<_>>()
        };
        assert_eq!(heads(&ours), heads(&theirs), "{size} {words:?}");
        assert!(ours == theirs, "{size} {words:?}: pixels differ");
    }
}
