//! Other message libraries, and the programs that are compiled for them.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use mgn_launch::inspect::in_path;

use crate::argv::Argv;
use crate::child::{self, FinishedProgram, TimedOut};
use crate::net::measure::{Sample, Test};

/// Names and texts of the C programs that exchange messages by MPI. The compiler of each library
/// compiles them on demand.
const SOURCES: [(&str, &str); 3] = [
    (MESSAGES, include_str!("../../programs/messages.c")),
    (PATTERNS, include_str!("../../programs/patterns.c")),
    (BARRIERS, include_str!("../../programs/barriers.c")),
];

/// The program for two processes that exchange messages.
pub const MESSAGES: &str = "messages";

/// The program for patterns of messages among many processes.
pub const PATTERNS: &str = "patterns";

/// The program for barriers of many processes.
pub const BARRIERS: &str = "barriers";

/// The time limit of a run of two processes, in addition to its measuring time.
pub const PAIR_TIMEOUT: Duration = Duration::from_secs(20);

const COMPILE_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MpiLibrary {
    OpenMpi,
    Mpich,
}

/// A program for a library, or the reason why there is none.
type Compiled = (MpiLibrary, &'static str, Result<PathBuf, String>);

/// The programs that were compiled for libraries, and the runs that hung. A run that hung is not
/// repeated.
#[derive(Debug)]
pub struct PeerPrograms {
    /// The folder for programs, sources and input files.
    folder: PathBuf,
    programs: RefCell<Vec<Compiled>>,
    /// Programs that have succeeded in at least one run.
    working: RefCell<BTreeSet<String>>,
    hung: RefCell<Vec<Hung>>,
}

#[derive(Debug)]
struct Hung {
    program: String,
    /// The task of the run.
    task: String,
    why: String,
}

impl MpiLibrary {
    pub fn name(self) -> &'static str {
        match self {
            MpiLibrary::OpenMpi => "Open MPI",
            MpiLibrary::Mpich => "MPICH",
        }
    }

    fn compiler(self) -> &'static str {
        match self {
            MpiLibrary::OpenMpi => "mpicc.openmpi",
            MpiLibrary::Mpich => "mpicc.mpich",
        }
    }

    /// The program that starts processes of this library.
    pub fn starter(self) -> &'static str {
        match self {
            MpiLibrary::OpenMpi => "mpirun.openmpi",
            MpiLibrary::Mpich => "mpirun.mpich",
        }
    }

    /// The command that starts this number of processes. Each process gets its own processor if
    /// there are enough.
    fn start(self, processes: usize) -> Argv {
        let root: &[&str] = match self {
            MpiLibrary::OpenMpi => &["--allow-run-as-root"],
            MpiLibrary::Mpich => &[],
        };
        let bind: &[&str] = match (self, processes) {
            (MpiLibrary::OpenMpi, 2) => &["--bind-to", "core"],
            (MpiLibrary::OpenMpi, _) => &["--oversubscribe", "--bind-to", "none"],
            (MpiLibrary::Mpich, 2) => &["-bind-to", "core"],
            (MpiLibrary::Mpich, _) => &[],
        };
        let start = Argv::new([self.starter()]).args(root);
        // hwloc would query an X server when it searches for processors, and each process might
        // then print a line.
        let start = start.env("HWLOC_COMPONENTS", "-gl");
        start.args(["-np", &processes.to_string()]).args(bind)
    }
}

impl PeerPrograms {
    pub fn new(folder: PathBuf) -> PeerPrograms {
        PeerPrograms {
            folder,
            programs: RefCell::default(),
            working: RefCell::default(),
            hung: RefCell::default(),
        }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.file(name);
        fs::create_dir_all(&self.folder)
            .and_then(|()| fs::write(&path, text))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Compiles a program for a library, on its first use only.
    fn program(&self, library: MpiLibrary, which: &'static str) -> Result<PathBuf, String> {
        let mut programs = self.programs.borrow_mut();
        let is_it = |path_of: &&Compiled| (path_of.0, path_of.1) == (library, which);
        if let Some((_, _, program)) = programs.iter().find(is_it) {
            return program.clone();
        }
        let program = self.compile(library, which);
        let program = program.map_err(|error| format!("{error:#}"));
        programs.push((library, which, program.clone()));
        program
    }

    fn compile(&self, library: MpiLibrary, which: &str) -> Result<PathBuf> {
        let (name, compiler) = (library.name(), library.compiler());
        if in_path(compiler.as_ref()).is_none() {
            bail!("{name} is not installed: there is no {compiler}");
        }
        let source = SOURCES.iter().find(|(name, _)| *name == which);
        let (_, text) = source.context("a program's source")?;
        self.write(&format!("{which}.c"), text)?;
        child::output(
            &mut self.compiling(library, which).command(),
            COMPILE_TIMEOUT,
        )?
        .success(compiler)
        .with_context(|| {
            format!("{name} is installed, but its compiler, headers or libraries are incomplete")
        })?;
        Ok(self.path_of(library, which))
    }

    /// The path of a program for a library.
    pub fn path_of(&self, library: MpiLibrary, which: &str) -> PathBuf {
        self.file(&format!("{which}-{}", library.compiler()))
    }

    fn compiling(&self, library: MpiLibrary, which: &str) -> Argv {
        let (program, source) = (
            self.path_of(library, which),
            self.file(&format!("{which}.c")),
        );
        let files = [program, source].map(|path| path.display().to_string());
        let compiler = Argv::new([library.compiler(), "-O2", "-o"]);
        compiler.args(files).args(["-lm"])
    }

    /// A shell command that compiles the program and then runs these commands.
    pub fn shell_command(&self, library: MpiLibrary, which: &str, runs: &[Argv]) -> String {
        let path_of = self.compiling(library, which);
        let all = [&path_of].into_iter().chain(runs).map(Argv::to_string);
        all.collect::<Vec<_>>().join(" && ")
    }

    /// The command of a run of a program for a library.
    pub fn argv(
        &self,
        library: MpiLibrary,
        settings: &MpiSettings,
        which: &str,
        processes: usize,
        words: &[String],
    ) -> Argv {
        let start = settings.start(library, processes);
        let program = self.path_of(library, which);
        start.args([program.display()]).args(words)
    }

    /// The reason why a program for a library cannot be run, or `None` if it can.
    pub fn missing(
        &self,
        library: MpiLibrary,
        settings: &MpiSettings,
        which: &'static str,
    ) -> Option<String> {
        let path_of = self.program(library, which).err();
        path_of.or_else(|| self.hung(library.starter(), &task(which, settings)))
    }

    /// The command of a run of two processes that exchange messages.
    pub fn pair(
        &self,
        library: MpiLibrary,
        settings: &MpiSettings,
        test: Test,
        sizes: &[usize],
        seconds: f64,
    ) -> Argv {
        let names: Vec<String> = sizes.iter().map(usize::to_string).collect();
        let words = [test.name(), &names.join(","), &seconds.to_string()].map(str::to_string);
        self.argv(library, settings, MESSAGES, 2, &words)
    }

    /// Runs a program that must succeed. Records it if it hangs.
    pub fn run(&self, argv: &Argv, task: &str, limit: Duration) -> Result<FinishedProgram> {
        let program = argv.program();
        if let Some(why) = self.hung(program, task) {
            bail!("{why}");
        }
        let finished = child::output(&mut argv.command(), limit).inspect_err(|error| {
            if error.is::<TimedOut>() {
                self.hung.borrow_mut().push(Hung {
                    program: program.to_string(),
                    task: task.to_string(),
                    why: format!("{error}, so it is not tried again"),
                });
            }
        })?;
        let finished = finished.success(program)?;
        self.working.borrow_mut().insert(program.to_string());
        Ok(finished)
    }

    /// The reason why a program is not started, or `None` if it may be started. A program is not
    /// started if it has hung with the same task, or if it has hung with another task and has never
    /// succeeded.
    pub fn hung(&self, program: &str, task: &str) -> Option<String> {
        let is_working = self.working.borrow().contains(program);
        let hung = self.hung.borrow();
        let is_it = |hung: &&Hung| hung.program == program && (hung.task == task || !is_working);
        hung.iter().find(is_it).map(|hung| hung.why.clone())
    }
}

/// The name of a task of a program. It does not contain the sizes.
pub fn task(which: &str, settings: &MpiSettings) -> String {
    format!("{which}, {settings:?}")
}

/// Options and variables of a library.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MpiSettings {
    pub arguments: &'static [&'static str],
    pub environment: &'static [(&'static str, &'static str)],
}

/// Without CMA, that is, without reading the memory of other processes.
pub const OPEN_MPI_NO_CMA: MpiSettings = MpiSettings {
    arguments: &[
        "--mca",
        "btl",
        "self,vader",
        "--mca",
        "btl_vader_single_copy_mechanism",
        "none",
    ],
    environment: &[],
};
pub const OPEN_MPI_MEMORY: MpiSettings = MpiSettings {
    arguments: &["--mca", "btl", "self,vader"],
    environment: &[],
};
/// Waiting processes yield, even if each has its own processor.
pub const OPEN_MPI_YIELDING: MpiSettings = MpiSettings {
    arguments: &[
        "--oversubscribe",
        "--mca",
        "btl",
        "self,vader",
        "--mca",
        "mpi_yield_when_idle",
        "1",
    ],
    environment: &[],
};
pub const OPEN_MPI_TCP: MpiSettings = MpiSettings {
    arguments: &[
        "--mca",
        "btl",
        "self,tcp",
        "--mca",
        "btl_tcp_if_include",
        "lo",
    ],
    environment: &[],
};
pub const DEFAULT_SETTINGS: MpiSettings = MpiSettings {
    arguments: &[],
    environment: &[],
};
/// For MPICH with UCX, as Debian builds it.
pub const MPICH_TCP: MpiSettings = MpiSettings {
    arguments: &[],
    environment: &[
        ("MPIR_CVAR_NOLOCAL", "1"),
        ("UCX_TLS", "tcp,self"),
        ("FI_PROVIDER", "tcp"),
    ],
};
impl MpiSettings {
    /// The command that starts processes of a library with these settings.
    pub fn start(&self, library: MpiLibrary, processes: usize) -> Argv {
        let start = library.start(processes).args(self.arguments);
        let set = self.environment.iter();
        set.fold(start, |start, (name, value)| start.env(name, value))
    }
}

/// Parses the output of a run, one line for each size: `window W cpu C1 C2 seconds S... percentiles
/// P...`.
pub fn samples(text: &str, count: usize) -> Result<Vec<Sample>> {
    let found: Vec<Sample> = text.lines().map(sample).collect::<Result<_>>()?;
    if found.len() != count {
        bail!("a run has measured {} of {count} sizes", found.len());
    }
    Ok(found)
}

fn sample(line: &str) -> Result<Sample> {
    let parts = line
        .split_once(" seconds ")
        .and_then(|(head, rest)| Some((head, rest.split_once(" percentiles")?)));
    let Some((head, (seconds, percentiles))) = parts else {
        bail!("a run printed {line:?}");
    };
    let ["window", window, "cpu", first, second] = head.split_whitespace().collect::<Vec<_>>()[..]
    else {
        bail!("a run printed {line:?}");
    };
    let numbers = |text: &str| -> Result<Vec<f64>> {
        let numbers = text.split_whitespace().map(|word| Ok(word.parse()?));
        numbers.collect()
    };
    let seconds = numbers(seconds)?;
    let percentiles: Option<[f64; 5]> = numbers(percentiles)?.try_into().ok();
    if seconds.is_empty() {
        bail!("a run has measured nothing");
    }
    Ok(Sample {
        seconds,
        window: window.parse()?,
        cpu: [first.parse()?, second.parse()?],
        percentiles: percentiles.map(|all| all.map(|one| Some(one).filter(|one| !one.is_nan()))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_parsed() {
        let text = "window 1 cpu 0.1 nan seconds 0.000002 percentiles 1e-6 2e-6 3e-6 nan 5e-6\n\
                    window 64 cpu 0.1 0.2 seconds 0.5 0.25 percentiles\n";
        let found = samples(text, 2).unwrap();
        assert_eq!(
            found[0].percentiles,
            Some([Some(1e-6), Some(2e-6), Some(3e-6), None, Some(5e-6)])
        );
        assert_eq!((found[1].window, found[1].cpu), (64.0, [0.1, 0.2]));
        assert_eq!(found[1].seconds, [0.5, 0.25]);
        assert!(found[1].percentiles.is_none());
        for bad in [
            "",
            "window 1",
            "window 1 cpu 0 0 seconds percentiles",
            "window x cpu 0 0 seconds 1 percentiles",
        ] {
            assert!(samples(bad, 1).is_err(), "{bad}");
        }
    }

    #[test]
    fn command_lines_are_as_shown() {
        let peers = PeerPrograms::new("run/programs".into());
        let of = |settings, test| peers.pair(MpiLibrary::OpenMpi, settings, test, &[8, 64], 0.03);
        assert_eq!(
            of(&OPEN_MPI_TCP, Test::Latency).to_string(),
            "HWLOC_COMPONENTS=-gl mpirun.openmpi --allow-run-as-root -np 2 --bind-to core --mca btl self,tcp \
             --mca btl_tcp_if_include lo run/programs/messages-mpicc.openmpi latency 8,64 0.03"
        );
        let many = peers.argv(
            MpiLibrary::OpenMpi,
            &DEFAULT_SETTINGS,
            PATTERNS,
            8,
            &["8".to_string()],
        );
        assert_eq!(
            peers.shell_command(MpiLibrary::OpenMpi, PATTERNS, &[many]),
            "mpicc.openmpi -O2 -o run/programs/patterns-mpicc.openmpi run/programs/patterns.c -lm && \
             HWLOC_COMPONENTS=-gl mpirun.openmpi --allow-run-as-root -np 8 --oversubscribe --bind-to none \
             run/programs/patterns-mpicc.openmpi 8"
        );
    }

    #[test]
    fn hanging_programs_are_not_tried_again() {
        let peers = PeerPrograms::new("nowhere".into());
        let (hangs, works) = (Argv::new(["sleep", "1000"]), Argv::new(["sleep", "0"]));
        let limit = |argv: &Argv| match std::ptr::eq(argv, &hangs) {
            true => Duration::from_millis(200),
            false => Duration::from_secs(60),
        };
        let error_of = |argv: &Argv, task: &str| {
            let finished = peers.run(argv, task, limit(argv));
            finished.map_err(|error| format!("{error:#}")).err()
        };
        let fails = Argv::new(["sh", "-c", "exit 3"]);
        assert!(error_of(&hangs, "one").unwrap().contains("did not end"));
        // No run has ever succeeded, so no other task is tried either.
        let refused = error_of(&works, "another").unwrap();
        assert!(refused.contains("not tried again"), "{refused}");
        // Other programs may run, and a failure does not prevent further runs.
        for _ in 0..2 {
            assert!(error_of(&fails, "one").unwrap().contains("ended with"));
        }
        // A program that has succeeded may run other tasks after it hung.
        let peers = PeerPrograms::new("nowhere".into());
        let error_of = |argv: &Argv, task: &str| peers.run(argv, task, limit(argv)).err();
        assert!(error_of(&works, "one").is_none());
        assert!(error_of(&hangs, "two").is_some());
        assert!(error_of(&works, "one").is_none() && error_of(&works, "two").is_some());
    }

    /// The program for MPI works with each library that is installed.
    #[test]
    fn a_library_is_measured() {
        let folder = tempfile::tempdir().unwrap();
        let peers = PeerPrograms::new(folder.path().to_path_buf());
        for (library, settings) in [
            (MpiLibrary::OpenMpi, OPEN_MPI_MEMORY),
            (MpiLibrary::Mpich, DEFAULT_SETTINGS),
        ] {
            if let Some(why) = peers.missing(library, &settings, MESSAGES) {
                eprintln!("SKIPPED: {why}");
                continue;
            }
            for (test, count) in [(Test::Latency, 1), (Test::Both, 1), (Test::Sweep, 17)] {
                let argv = peers.pair(library, &settings, test, &[8, 4096], 0.01);
                let finished = peers.run(&argv, "test", PAIR_TIMEOUT).unwrap();
                let found = super::samples(&finished.stdout, 2).unwrap();
                for sample in found {
                    assert_eq!(sample.seconds.len(), count);
                    assert!(sample.seconds[0] > 0.0 && sample.seconds[0] < 10.0);
                    assert_eq!(sample.percentiles.is_some(), test == Test::Latency);
                }
            }
        }
    }
}
