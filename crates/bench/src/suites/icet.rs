//! IceT from the packages of ParaView. It composites the same pictures.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use mgn_composite::Operation;
use mgn_launch::inspect::in_path;

use crate::argv::Argv;
use crate::child;
use crate::composite::{Case, Work};
use crate::net::peers::PeerPrograms;
use crate::plan::{Figure, Method};
use crate::record::Kind;

const SOURCE: &str = include_str!("../../programs/icet.c");

pub(super) const COMPILER: &str = "mpicc.openmpi";
const STARTER: &str = "mpirun.openmpi";

pub(super) const COMPILE_TIMEOUT: Duration = Duration::from_secs(60);

/// The time limit of a run, which measures all sizes.
const RUN_TIMEOUT: Duration = Duration::from_secs(120);

/// The number of strategies.
pub const STRATEGY_COUNT: usize = 5;

/// The strategies of IceT: the one for all tiles, and the one for a single image.
const STRATEGIES: [(&str, &str); STRATEGY_COUNT] = [
    ("sequential", "radixk"),
    ("sequential", "bswap"),
    ("sequential", "tree"),
    ("reduce", "automatic"),
    ("direct", "automatic"),
];

/// IceT with one of its strategies.
pub struct Icet {
    peers: Rc<PeerPrograms>,
    strategy: (&'static str, &'static str),
    /// All of the same operation, and with the same share of the pixels covered.
    cases: Vec<Case>,
    /// The number of bytes to merge in a measurement of one case. It determines the number of
    /// frames.
    bytes: f64,
}

/// The paths of IceT's headers and libraries.
pub(super) struct Installed {
    pub include: PathBuf,
    libraries: [PathBuf; 2],
}

impl Installed {
    /// The file name of IceT's core.
    pub fn name(&self) -> String {
        let name = self.libraries[1].file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

/// IceT with its first `strategies` strategies. The best strategies come first.
pub fn methods(
    strategies: usize,
    peers: &Rc<PeerPrograms>,
    cases: &[Case],
    bytes: f64,
) -> Vec<Box<dyn Method>> {
    let method = |strategy| -> Box<dyn Method> {
        Box::new(Icet {
            peers: peers.clone(),
            strategy,
            cases: cases.to_vec(),
            bytes,
        })
    };
    let strategies = STRATEGIES.into_iter().take(strategies);
    strategies.map(method).collect()
}

impl Icet {
    fn program(&self) -> PathBuf {
        self.peers.file("icet")
    }

    fn compiling(&self, installed: &Installed) -> Argv {
        let files = [self.program(), self.peers.file("icet.c")];
        let compiler = Argv::new([COMPILER, "-O2", "-o"]);
        compiler
            .args(files.iter().map(|file| file.display()))
            .args([format!("-I{}", installed.include.display())])
            .args(installed.libraries.iter().map(|file| file.display()))
    }

    /// The path of the program. The program is compiled on first use.
    fn compile(&self) -> Result<PathBuf> {
        let program = self.program();
        if !program.exists() {
            let installed = installed().map_err(anyhow::Error::msg)?;
            self.peers.write("icet.c", SOURCE)?;
            child::output(&mut self.compiling(&installed).command(), COMPILE_TIMEOUT)?
                .success(COMPILER)?;
        }
        Ok(program)
    }

    fn frames(&self, work: &Work) -> f64 {
        let pixel = match work.operation {
            Operation::Nearest => 8,
            _ => 4,
        };
        let frame = (work.renderers * work.width * work.height * pixel) as f64;
        (self.bytes / frame).ceil().max(3.0)
    }

    /// The cases by runs. A run measures all neighbours with the same number of renderers, because
    /// starting the processes takes longer than compositing.
    fn runs(&self) -> impl Iterator<Item = &[Case]> {
        self.cases
            .chunk_by(|one, other| one.work.renderers == other.work.renderers)
    }

    /// The command of a run.
    fn argv(&self, cases: &[Case]) -> Argv {
        let (strategy, single) = self.strategy;
        let first = &cases[0].work;
        // The last process is the display.
        starting(first.renderers + 1)
            .args([self.program().display()])
            .args([&first.operation.to_string(), strategy, single])
            .args([if first.is_sparse { "sparse" } else { "dense" }])
            .args(cases.iter().flat_map(|Case { work, .. }| {
                let [width, height] = [work.width, work.height].map(|side| side as f64);
                [width, height, self.frames(work)]
            }))
    }
}

impl Method for Icet {
    fn name(&self) -> String {
        match self.strategy {
            ("sequential", single) => format!("IceT, {single}"),
            (strategy, _) => format!("IceT, {strategy}"),
        }
    }

    fn kind(&self) -> Kind {
        Kind::Peer
    }

    fn command(&self) -> String {
        let compiling = installed().map(|installed| self.compiling(&installed).to_string());
        let runs = self.runs().map(|cases| self.argv(cases).to_string());
        let all: Vec<String> = compiling.into_iter().chain(runs).collect();
        all.join(" && ")
    }

    fn missing(&self) -> Option<String> {
        installed().err()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        self.compile()?;
        let mut figures = Vec::new();
        for cases in self.runs() {
            let mut command = self.argv(cases).command();
            let finished = child::output(&mut command, RUN_TIMEOUT)?.success(STARTER)?;
            let output: Vec<&str> = finished.stdout.lines().collect();
            if output.len() != cases.len() {
                bail!("IceT's program printed {:?}", finished.stdout);
            }
            for (case, line) in cases.iter().zip(output) {
                let seconds: f64 = line
                    .trim()
                    .parse()
                    .with_context(|| format!("IceT's program printed {line:?}"))?;
                if seconds <= 0.0 {
                    bail!("IceT's program printed a time of 0");
                }
                let rate = self.frames(&case.work) / seconds;
                figures.push(Figure::new(&case.plot, case.x, rate));
            }
        }
        Ok(figures)
    }
}

/// The command that starts this number of processes of a program. There may be more processes than
/// processors.
pub(super) fn starting(processes: usize) -> Argv {
    Argv::new([STARTER, "--allow-run-as-root", "--oversubscribe"])
        .args(["--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"])
        .args(["-np", &processes.to_string()])
        // hwloc would query an X server when it searches for processors, and each process might
        // then print a line.
        .env("HWLOC_COMPONENTS", "-gl")
}

/// The installed files of IceT, or the reason why it cannot be used.
pub(super) fn installed() -> Result<Installed, String> {
    let missing = [COMPILER, STARTER]
        .into_iter()
        .find(|program| in_path(program.as_ref()).is_none());
    if let Some(program) = missing {
        return Err(format!("Open MPI is not installed: there is no {program}"));
    }
    let none = || "IceT is not installed: paraview-dev has its headers".to_string();
    let (include, version) = entries(Path::new("/usr/include"))
        .filter_map(|folder| {
            let name = folder.file_name()?.to_str()?;
            let version = name.strip_prefix("paraview-")?.to_string();
            let include = folder.join("vtkicet/src/include");
            include
                .join("IceTMPI.h")
                .is_file()
                .then_some((include, version))
        })
        .max()
        .ok_or_else(none)?;
    let names = ["MPI", "Core"].map(|part| format!("libvtkIceT{part}-pv{version}.so.1"));
    let libraries = entries(Path::new("/usr/lib"))
        .map(|folder| names.each_ref().map(|name| folder.join(name)))
        .find(|files| files.iter().all(|file| file.is_file()))
        .ok_or_else(none)?;
    Ok(Installed { include, libraries })
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.flatten().map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::composite::Route;

    fn case(operation: Operation, renderers: usize, (width, height): (usize, usize)) -> Case {
        Case {
            plot: "plot".to_string(),
            x: (width * height) as f64,
            work: Work {
                renderers,
                width,
                height,
                operation,
                route: Route::Chosen,
                is_sparse: false,
                barrier: None,
            },
        }
    }

    #[test]
    fn the_number_of_frames_fits_the_work() {
        let peers = Rc::new(PeerPrograms::new("nowhere".into()));
        let cases = [256, 4096].map(|side| case(Operation::Nearest, 8, (side, side)));
        let icet = Icet {
            peers,
            strategy: STRATEGIES[0],
            cases: cases.to_vec(),
            bytes: 8.0 * 65536.0 * 8.0 * 10.0,
        };
        let shell_command = icet.argv(&icet.cases).to_string();
        assert!(shell_command.contains("-np 9 "), "{shell_command}");
        let end = "nowhere/icet nearest sequential radixk dense 256 256 10 4096 4096 3";
        assert!(shell_command.ends_with(end), "{shell_command}");
        assert_eq!(icet.name(), "IceT, radixk");
    }

    #[test]
    fn icet_composites_where_it_is_installed() {
        let folder = tempfile::tempdir().unwrap();
        let peers = Rc::new(PeerPrograms::new(folder.path().to_path_buf()));
        for operation in [Operation::Over, Operation::Nearest] {
            let mut cases = vec![
                case(operation, 2, (64, 32)),
                case(operation, 2, (32, 32)),
                case(operation, 3, (32, 32)),
            ];
            for case in &mut cases {
                case.work.is_sparse = operation == Operation::Over;
            }
            for mut method in methods(STRATEGY_COUNT, &peers, &cases, 1e5) {
                if let Some(missing) = method.missing() {
                    eprintln!("SKIPPED: {missing}");
                    return;
                }
                let figures = method.run().unwrap();
                assert_eq!(figures.len(), 3);
                assert!(figures.iter().all(|figure| figure.value > 0.0));
            }
        }
    }
}
