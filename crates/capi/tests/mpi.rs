//! Programs that use MPI and the installed library together.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{compile_with, here, installed, run};

/// The compilers and launchers of the MPI libraries that are installed, with the flags of the
/// launcher. Says which ones are not.
fn libraries() -> Vec<(&'static str, &'static str, &'static [&'static str])> {
    let all: [(_, _, &[_]); 2] = [
        ("mpicc.mpich", "mpiexec.hydra", &[]),
        (
            "mpicc.openmpi",
            "mpiexec.openmpi",
            &["--allow-run-as-root", "--oversubscribe"],
        ),
    ];
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let found = all.into_iter().filter(|(compiler, launcher, _)| {
        let is_found = is_there(compiler) && is_there(launcher);
        if !is_found {
            eprintln!("SKIPPED: there is no {compiler}, or no {launcher}");
        }
        is_found
    });
    found.collect()
}

fn launch(launcher: &str, flags: &[&str], size: usize, program: &Path) -> Vec<String> {
    let mut command = Command::new(launcher);
    command.args(flags).args(["-n", &size.to_string()]);
    command.arg(program);
    let said = run(command.env("LD_LIBRARY_PATH", installed().join("lib")));
    let mut lines: Vec<String> = said.lines().map(String::from).collect();
    lines.sort();
    lines
}

#[test]
fn barriers_of_a_program_of_mpi() {
    for (compiler, launcher, flags) in libraries() {
        let program = compile_with(compiler, &here().join("tests/mpi.c"), compiler);
        // With more processes than processors, MPICH takes turns of milliseconds for each message.
        let expected = [0, 1].map(|rank| format!("rank {rank}: all is right"));
        assert_eq!(launch(launcher, flags, 2, &program), expected, "{launcher}");
    }
}

/// The program on the page works as written.
#[test]
fn the_page_has_a_program_of_mpi_that_works() {
    let page = fs::read_to_string(here().join("../../docs/messages.md")).unwrap();
    let blocks = page.split("```c\n").skip(1);
    let mut blocks = blocks.filter_map(|block| block.split("```").next());
    let source = blocks.find(|block| block.contains("MPI_Init_thread"));
    let file: PathBuf = installed().join("both.c");
    fs::write(&file, source.unwrap()).unwrap();
    for (compiler, launcher, flags) in libraries() {
        let program = compile_with(compiler, &file, &format!("both-{compiler}"));
        let said = launch(launcher, flags, 2, &program);
        assert_eq!(said, ["rank 0 of 2 got 1", "rank 1 of 2 got 0"]);
    }
}
