//! Runs of other people's libraries.

use std::cell::{OnceCell, RefCell};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use mgn_launch::inspect::in_path;
use tempfile::TempDir;

use crate::child;
use crate::net::measure::{Sample, Test};

/// What exchanges messages by MPI, in C: compiled by each library's own compiler when it is needed. Names and texts.
const SOURCES: [(&str, &str); 2] = [
    (MESSAGES, include_str!("../../programs/messages.c")),
    (PATTERNS, include_str!("../../programs/patterns.c")),
];

/// Two processes that exchange messages.
pub const MESSAGES: &str = "messages";

/// Many of them.
pub const PATTERNS: &str = "patterns";

/// No run takes longer besides the time it measures for.
const PATIENCE: Duration = Duration::from_secs(20);

const COMPILING: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    OpenMpi,
    Mpich,
}

/// A program for a library, or why there is none.
type Made = (Library, &'static str, Result<PathBuf, String>);

/// MPI libraries, and the programs for them.
#[derive(Default)]
pub struct Mpi {
    folder: OnceCell<TempDir>,
    programs: RefCell<Vec<Made>>,
}

impl Library {
    pub fn name(self) -> &'static str {
        match self {
            Library::OpenMpi => "Open MPI",
            Library::Mpich => "MPICH",
        }
    }

    /// NetPIPE for it, as Debian calls it.
    fn netpipe(self) -> &'static str {
        match self {
            Library::OpenMpi => "NPopenmpi",
            Library::Mpich => "NPmpich2",
        }
    }

    fn compiler(self) -> &'static str {
        match self {
            Library::OpenMpi => "mpicc.openmpi",
            Library::Mpich => "mpicc.mpich",
        }
    }

    /// What starts so many processes, each on a processor of its own if there are enough.
    pub fn start(self, processes: usize) -> Vec<String> {
        let count = processes.to_string();
        let words = match self {
            Library::OpenMpi => vec!["mpirun.openmpi", "--allow-run-as-root", "-np", &count],
            Library::Mpich => vec!["mpirun.mpich", "-np", &count],
        };
        let bind = match (self, processes) {
            (Library::OpenMpi, 2) => vec!["--bind-to", "core"],
            (Library::OpenMpi, _) => vec!["--oversubscribe", "--bind-to", "none"],
            (Library::Mpich, 2) => vec!["-bind-to", "core"],
            (Library::Mpich, _) => vec![],
        };
        let words = words.into_iter().chain(bind);
        words.map(str::to_string).collect()
    }
}

impl Mpi {
    /// A program for a library, or why there is none.
    pub fn program(&self, library: Library, which: &'static str) -> Result<PathBuf, String> {
        let mut programs = self.programs.borrow_mut();
        let found = programs
            .iter()
            .find(|made| (made.0, made.1) == (library, which));
        if let Some((_, _, program)) = found {
            return program.clone();
        }
        let program = self
            .compile(library, which)
            .map_err(|error| format!("{error:#}"));
        programs.push((library, which, program.clone()));
        program
    }

    fn compile(&self, library: Library, which: &str) -> Result<PathBuf> {
        let (name, compiler) = (library.name(), library.compiler());
        if in_path(compiler.as_ref()).is_none() {
            bail!("{name} is not installed: there is no {compiler}");
        }
        let folder = match self.folder.get() {
            Some(folder) => folder,
            None => {
                let folder = tempfile::Builder::new().prefix("mgn-bench-").tempdir()?;
                self.folder.get_or_init(|| folder)
            }
        };
        let source = folder.path().join(format!("{which}.c"));
        let (_, text) = SOURCES
            .iter()
            .find(|(name, _)| *name == which)
            .context("a program's source")?;
        fs::write(&source, text)?;
        let program = folder
            .path()
            .join(format!("{which}-{}", library.compiler()));
        let mut command = Command::new(compiler);
        command.args(["-O2", "-o"]).arg(&program).arg(&source);
        child::output(command.arg("-lm"), COMPILING)?
            .success(compiler)
            .with_context(|| format!("{name} is installed without what programs are made with"))?;
        Ok(program)
    }

    /// Runs two processes: a sample for each size.
    pub fn pair(
        &self,
        library: Library,
        settings: &Settings,
        test: Test,
        sizes: &[usize],
        seconds: f64,
    ) -> Result<Vec<Sample>> {
        let program = self
            .program(library, MESSAGES)
            .map_err(anyhow::Error::msg)?;
        let names: Vec<String> = sizes.iter().map(usize::to_string).collect();
        let words = [test.name(), &names.join(","), &seconds.to_string()].map(str::to_string);
        let limit = PATIENCE + Duration::from_secs_f64(2.0 * seconds * sizes.len() as f64);
        let mut command = settings.command(&library.start(2));
        let done = child::output(command.arg(program).args(words), limit)?;
        samples(&done.success(library.name())?.stdout, sizes.len())
    }
}

/// What a library is told to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    pub arguments: &'static [&'static str],
    pub environment: &'static [(&'static str, &'static str)],
}

/// Without reading the other process's memory.
pub const NO_CMA: Settings = Settings {
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
pub const BY_MEMORY: Settings = Settings {
    arguments: &["--mca", "btl", "self,vader"],
    environment: &[],
};
pub const OPEN_MPI_TCP: Settings = Settings {
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
pub const AS_IT_IS: Settings = Settings {
    arguments: &[],
    environment: &[],
};
/// Debian's MPICH is made with UCX.
pub const MPICH_TCP: Settings = Settings {
    arguments: &[],
    environment: &[
        ("MPIR_CVAR_NOLOCAL", "1"),
        ("UCX_TLS", "tcp,self"),
        ("FI_PROVIDER", "tcp"),
    ],
};
pub const UCX_MEMORY: &str = "posix,cma,self";
pub const UCX_TCP: &str = "tcp,self";

impl Settings {
    /// What starts processes, with these settings.
    pub fn command(&self, start: &[String]) -> Command {
        let mut command = Command::new(&start[0]);
        command.args(&start[1..]).args(self.arguments);
        // Its search for processors asks an X server, which may say a line for each process.
        command.env("HWLOC_COMPONENTS", "-gl");
        command.envs(self.environment.iter().copied());
        command
    }

    /// The same, as one would type it.
    pub fn typed(&self, start: &[String]) -> String {
        let set = self
            .environment
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        let words = start.iter().cloned();
        let arguments = self.arguments.iter().map(|word| word.to_string());
        set.chain(words)
            .chain(arguments)
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// What NetPIPE is told: to measure up to a size, without sizes in between that nobody asks for.
fn netpipe_arguments(largest: usize) -> [String; 8] {
    let largest = largest.to_string();
    ["-l", "8", "-u", &largest, "-p", "0", "-n", "300"].map(str::to_string)
}

/// NetPIPE's own measurement of a library, by which ours can be checked: half of the time there and back, in seconds.
pub fn netpipe(library: Library, settings: &Settings, sizes: &[usize]) -> Result<Vec<f64>> {
    let folder = tempfile::Builder::new().prefix("mgn-bench-").tempdir()?;
    let found = folder.path().join("np.out");
    let largest = sizes.iter().copied().max().context("there are sizes")?;
    let name = library.netpipe();
    let mut command = settings.command(&library.start(2));
    command
        .arg(name)
        .args(netpipe_arguments(largest))
        .arg("-o")
        .arg(&found);
    child::output(&mut command, PATIENCE)?.success(name)?;
    let text = fs::read_to_string(&found).with_context(|| format!("{name} writes nothing"))?;
    // Lines of the size, Mbit/s and the time.
    let of_size = |size: &usize| {
        let line = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        let line = line
            .into_iter()
            .find(|words| words.first() == Some(&size.to_string().as_str()));
        let time = line.and_then(|words| words.get(2)?.parse().ok());
        time.with_context(|| format!("{name} leaves out messages of {size} B"))
    };
    sizes.iter().map(of_size).collect()
}

/// Why a library cannot be measured by NetPIPE here.
pub fn netpipe_missing(library: Library) -> Option<String> {
    let (start, name) = (library.start(2).remove(0), library.netpipe());
    let missing = [start.as_str(), name]
        .into_iter()
        .find(|name| in_path(name.as_ref()).is_none())?;
    Some(format!(
        "NetPIPE for {} is not installed: there is no {missing}",
        library.name()
    ))
}

/// What one would type for [`netpipe`].
pub fn netpipe_command(library: Library, settings: &Settings, sizes: &[usize]) -> String {
    let start = settings.typed(&library.start(2));
    let arguments = netpipe_arguments(sizes.iter().copied().max().unwrap_or(8)).join(" ");
    format!("{start} {} {arguments}", library.netpipe())
}

/// Reads what a run of ours or of the program for MPI says, for each size a line: `window W cpu C1 C2 seconds S... percentiles P...`.
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
        bail!("a run says {line:?}");
    };
    let ["window", window, "cpu", first, second] = head.split_whitespace().collect::<Vec<_>>()[..]
    else {
        bail!("a run says {line:?}");
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

/// UCX's own program, pinned as ours. `kind`: `tag` or `am`, its two ways of sending messages.
pub fn ucx(
    with: &str,
    kind: &str,
    test: Test,
    sizes: &[usize],
    seconds: f64,
) -> Result<Vec<Sample>> {
    let folder = tempfile::Builder::new().prefix("mgn-bench-").tempdir()?;
    let batch = folder.path().join("tests");
    let lines = sizes.iter().map(|size| {
        let (name, count) = ucx_test(with, kind, test, *size, seconds);
        format!("size{size} -t {name} -s {size} -n {count}\n")
    });
    fs::write(&batch, lines.collect::<String>())?;
    let port = 20_000 + std::process::id() % 10_000;
    let command = |processor: &str, host: Option<&str>| {
        let mut command = Command::new("ucx_perftest");
        command.args(["-f", "-w", "1000", "-p", &port.to_string(), "-c", processor]);
        command
            .args(host)
            .arg("-b")
            .arg(&batch)
            .env("UCX_TLS", with);
        command
    };
    let mut server = command("1", None);
    let mut server = child::start(server.stdout(Stdio::null()).stderr(Stdio::null()))?;
    let limit = PATIENCE + Duration::from_secs_f64(4.0 * seconds * sizes.len() as f64);
    let begun = Instant::now();
    let done = loop {
        std::thread::sleep(Duration::from_millis(100));
        let done = child::output(&mut command("0", Some("127.0.0.1")), limit);
        let is_there = done.as_ref().is_ok_and(|done| done.status.success());
        if is_there || child::is_over() || begun.elapsed() > Duration::from_secs(5) {
            break done;
        }
    };
    let done = done.and_then(|done| done.success("ucx_perftest"));
    if done.is_err() {
        server.kill()?;
        server.wait()?;
    }
    let done = done?;
    let theirs = child::wait(server, "ucx_perftest", PATIENCE)?.cpu;
    let share = |cpu: f64| cpu / sizes.len() as f64;
    let found: Vec<Sample> = done
        .stdout
        .lines()
        .filter_map(|line| {
            // A name, then the count, typical, average and overall time (us), and rates in MB/s and messages/s, average and overall.
            let (_, numbers) = line.trim().strip_prefix("size")?.split_once(' ')?;
            let numbers: Vec<f64> = numbers
                .split_whitespace()
                .map_while(|word| word.parse().ok())
                .collect();
            let [_, _, _, overall, ..] = numbers[..] else {
                return None;
            };
            let there_and_back = if test == Test::Latency { 2.0 } else { 1.0 };
            Some(Sample {
                seconds: vec![there_and_back * overall * 1e-6],
                window: 1.0,
                cpu: [share(done.cpu), share(theirs)],
                percentiles: None,
            })
        })
        .collect();
    match found.len() == sizes.len() {
        true => Ok(found),
        false => bail!("ucx_perftest says {:?}", done.stdout),
    }
}

/// What its program calls a test, and how often it is to send: it counts repetitions, not time. So many as at 8 GB/s, or 3 us a message by sockets.
fn ucx_test(with: &str, kind: &str, test: Test, size: usize, seconds: f64) -> (String, u64) {
    let is_remote = with.contains("tcp");
    let bytes = if is_remote { 1.5e9 } else { 8e9 } * seconds;
    let each = if is_remote { 16e3 } else { 300.0 };
    let (name, count) = match test {
        Test::Latency => {
            let each = if is_remote { 8e-6 } else { 0.3e-6 };
            let by_size = size as f64 / if is_remote { 0.8e9 } else { 4e9 };
            ("lat", seconds / (each + by_size))
        }
        _ => ("bw", bytes / (size as f64 + each)),
    };
    let kind = if kind == "tag" { "tag" } else { "ucp_am" };
    (format!("{kind}_{name}"), count.max(50.0).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_say_is_read() {
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
}
