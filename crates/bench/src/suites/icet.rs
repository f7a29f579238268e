//! IceT from the packages of ParaView. It composites the same pictures.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use mgn_composite::Operation;
use mgn_launch::inspect::in_path;

use crate::argv::Argv;
use crate::child;
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
    operation: Operation,
    /// Whether each renderer draws only a quarter of its picture.
    is_sparse: bool,
    plot: String,
    renderers: usize,
    sizes: Vec<(usize, usize)>,
    /// The number of bytes to merge in a measurement of one size. It determines the number of
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
    (operation, is_sparse): (Operation, bool),
    plot: &str,
    renderers: usize,
    sizes: &[(usize, usize)],
    bytes: f64,
) -> Vec<Box<dyn Method>> {
    let method = |strategy| -> Box<dyn Method> {
        Box::new(Icet {
            peers: peers.clone(),
            strategy,
            operation,
            is_sparse,
            plot: plot.to_string(),
            renderers,
            sizes: sizes.to_vec(),
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

    fn frames(&self, (width, height): (usize, usize)) -> f64 {
        let pixel = match self.operation {
            Operation::Nearest => 8,
            _ => 4,
        };
        let frame = (self.renderers * width * height * pixel) as f64;
        (self.bytes / frame).ceil().max(3.0)
    }

    /// The command of a run, which measures all sizes, because starting nine processes takes longer
    /// than compositing.
    fn argv(&self) -> Argv {
        let (strategy, single) = self.strategy;
        // The last process is the display.
        starting(self.renderers + 1)
            .args([self.program().display()])
            .args([&self.operation.to_string(), strategy, single])
            .args([if self.is_sparse { "sparse" } else { "dense" }])
            .args(self.sizes.iter().flat_map(|size| {
                let (width, height) = *size;
                [width as f64, height as f64, self.frames(*size)]
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
        let run = self.argv().to_string();
        match installed() {
            Ok(installed) => format!("{} && {run}", self.compiling(&installed)),
            Err(_) => run,
        }
    }

    fn missing(&self) -> Option<String> {
        installed().err()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        self.compile()?;
        let finished = child::output(&mut self.argv().command(), RUN_TIMEOUT)?.success(STARTER)?;
        let output: Vec<&str> = finished.stdout.lines().collect();
        if output.len() != self.sizes.len() {
            bail!("IceT's program printed {:?}", finished.stdout);
        }
        let figure = |(size, line): (&(usize, usize), &str)| {
            let seconds: f64 = line
                .trim()
                .parse()
                .with_context(|| format!("IceT's program printed {line:?}"))?;
            if seconds <= 0.0 {
                bail!("IceT's program printed a time of 0");
            }
            let pixels = (size.0 * size.1) as f64;
            Ok(Figure::new(
                &self.plot,
                pixels,
                self.frames(*size) / seconds,
            ))
        };
        self.sizes.iter().zip(output).map(figure).collect()
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

    #[test]
    fn the_number_of_frames_fits_the_work() {
        let peers = Rc::new(PeerPrograms::new("nowhere".into()));
        let icet = Icet {
            peers,
            strategy: STRATEGIES[0],
            operation: Operation::Nearest,
            is_sparse: false,
            plot: "composite-nearest".into(),
            renderers: 8,
            sizes: vec![(256, 256), (4096, 4096)],
            bytes: 8.0 * 65536.0 * 8.0 * 10.0,
        };
        let shell_command = icet.argv().to_string();
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
            let sizes = [(64, 32), (32, 32)];
            let kind = (operation, operation == Operation::Over);
            for mut method in methods(STRATEGY_COUNT, &peers, kind, "plot", 2, &sizes, 1e5) {
                if let Some(missing) = method.missing() {
                    eprintln!("SKIPPED: {missing}");
                    return;
                }
                let figures = method.run().unwrap();
                assert_eq!(figures.len(), 2);
                assert!(figures.iter().all(|figure| figure.value > 0.0));
            }
        }
    }
}
