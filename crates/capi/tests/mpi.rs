//! Programs that use MPI and the installed library together.

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use support::{compile_with, here, installed, Launcher, MPICH, OPEN_MPI};

/// The compilers and launchers of the MPI libraries that are installed. Says which ones are not.
fn libraries() -> Vec<(&'static str, Launcher)> {
    let all = [("mpicc.mpich", MPICH), ("mpicc.openmpi", OPEN_MPI)];
    let found = all.into_iter().filter(|(compiler, launcher)| {
        let compiles = Command::new(compiler).arg("--version").output().is_ok();
        if !compiles {
            eprintln!("SKIPPED: there is no {compiler}");
        }
        compiles && launcher.is_installed()
    });
    found.collect()
}

fn lines(said: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = said.lines().collect();
    lines.sort();
    lines
}

#[test]
fn barriers_of_a_program_of_mpi() {
    for (compiler, launcher) in libraries() {
        let program = compile_with(compiler, &here().join("tests/mpi.c"), compiler);
        // With more processes than processors, MPICH takes turns of milliseconds for each message.
        let expected = [0, 1].map(|rank| format!("rank {rank}: all is right"));
        let said = launcher.launch(&program, 2);
        assert_eq!(lines(&said), expected, "{}", launcher.program);
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
    for (compiler, launcher) in libraries() {
        let program = compile_with(compiler, &file, &format!("both-{compiler}"));
        let said = launcher.launch(&program, 2);
        assert_eq!(lines(&said), ["rank 0 of 2 got 1", "rank 1 of 2 got 0"]);
    }
}
