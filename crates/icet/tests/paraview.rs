//! ParaView, not changed, with this library in place of IceT.

#[path = "../../client/tests/common/built.rs"]
mod built;
mod paraview_release;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use paraview_release::Release;

/// Processes of ParaView.
const SIZE: &str = "4";

/// As the script has it.
const WIDTH: usize = 320;
const HEIGHT: usize = 240;

/// IceT's blending in bytes is off by so much with four processes, and so ParaView's is from ours.
const BLEND_DIFFERENCE: u8 = 4;

fn run(command: &mut Command) {
    let ended = command.stdin(Stdio::null()).output();
    let ended = ended.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        ended.status.success(),
        "{command:?}: {}\n{}\n{}",
        ended.status,
        String::from_utf8_lossy(&ended.stdout),
        String::from_utf8_lossy(&ended.stderr)
    );
}

/// A folder with the library under the name by which ParaView asks for it.
fn library(release: &Release) -> PathBuf {
    let built = built::built("mgn-icet").join("libmgn_icet.so");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("icet-paraview");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    symlink(built, folder.join(release.file("Core"))).unwrap();
    folder
}

/// ParaView, or the program that is missing.
fn paraview() -> Result<Release, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has = |program: &str| std::env::split_paths(&path).any(|f| f.join(program).is_file());
    let programs = ["pvbatch", "mpirun.openmpi", "xvfb-run"];
    if let Some(program) = programs.into_iter().find(|program| !has(program)) {
        return Err(program.to_owned());
    }
    let mut python = Command::new("/usr/bin/python3");
    let found = python.args(["-c", "import paraview"]).output();
    if !found.is_ok_and(|found| found.status.success()) {
        return Err("python3-paraview".to_owned());
    }
    Release::find().ok_or_else(|| "the libraries of ParaView 5.11 or 5.13".to_owned())
}

/// The library that composites ParaView's pictures.
#[derive(Clone, Copy)]
enum By<'l> {
    Theirs,
    /// This library, from a folder that `LD_LIBRARY_PATH` names.
    Library(&'l Path),
    /// This library, by `mgn run --icet`, and Manganese's renderer.
    Run(&'l Path),
}

/// A picture that all processes have drawn: rows of blue, green and red.
fn picture(what: &str, by: By<'_>, folder: &Path) -> Vec<u8> {
    let name = match by {
        By::Theirs => "theirs",
        By::Library(_) => "ours",
        By::Run(_) => "run",
    };
    let file = folder.join(format!("{what}-{name}.bmp"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/view.py");
    let mut command = Command::new("timeout");
    // Else the server resets when its last client leaves, and one that comes then is refused.
    command.args([
        "120",
        "xvfb-run",
        "-a",
        "-s",
        "-screen 0 800x600x24 -noreset",
    ]);
    if let By::Run(mgn) = by {
        command.arg(mgn).args(["run", "--headless", "--icet", "--"]);
    }
    command
        .args(["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"])
        .args(["--mca", "mpi_yield_when_idle", "1", "-np", SIZE])
        .args(["pvbatch", "--sym"])
        .arg(script)
        .arg(what)
        .arg(&file);
    if let By::Library(library) = by {
        command.env("LD_LIBRARY_PATH", library);
        // It leaves a mark there.
        command.env("MGN_RUN_DIR", folder);
    }
    // `mgn run --icet` fails itself if the library was not asked for.
    run(&mut command);
    let bytes = fs::read(&file).unwrap();
    let mark = folder.join("icet");
    let is_marked = matches!(by, By::Library(_));
    assert_eq!(mark.exists(), is_marked, "who composites {what}");
    let _ = fs::remove_file(mark);
    // The pixels are last.
    let pixels = bytes[bytes.len() - WIDTH * HEIGHT * 3..].to_vec();
    let first = &pixels[..3];
    assert!(
        pixels.chunks(3).any(|pixel| pixel != first),
        "{what}: empty"
    );
    pixels
}

#[test]
fn paraview_shows_the_same_picture() {
    let release = match paraview() {
        Ok(release) => release,
        Err(missing) => {
            eprintln!("SKIPPED: ParaView over this library, for want of {missing}");
            assert!(
                std::env::var_os("MGN_NEED_ICET").is_none(),
                "MGN_NEED_ICET is set, and {missing} is missing"
            );
            return;
        }
    };
    let library = library(&release);
    let folder = library.join("pictures");
    fs::create_dir_all(&folder).unwrap();
    let mgn = built::built("mgn-cli").join("mgn");
    built::built("mgn-client");
    for (what, limit) in [("surface", 0), ("volume", BLEND_DIFFERENCE)] {
        let theirs = picture(what, By::Theirs, &folder);
        for by in [By::Library(&library), By::Run(&mgn)] {
            let ours = picture(what, by, &folder);
            assert_eq!(ours.len(), theirs.len());
            let pairs = ours.iter().zip(&theirs);
            let most = pairs.map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
            assert!(most <= limit, "{what}: pixels differ by up to {most}");
        }
    }
}
