//! Two runs of a program, directly and through us, one after the other, and what differs.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mgn_launch::watch::Verdict;
use mgn_launch::{Counters, Driver, Plan, Report, RunDir, Session};

use crate::camera::Camera;
use crate::difference::{compare_folders, Difference};

/// Which of the two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunKind {
    Direct,
    Ours,
}

/// A run that is ready to start.
#[derive(Debug)]
pub struct Run {
    pub run: RunDir,
    pub plan: Plan,
}

/// The result of two runs that could be compared.
#[derive(Debug)]
pub struct Compared {
    /// Pictures that direct rendering left.
    pub frames: usize,
    pub differences: Vec<Difference>,
    /// The exit statuses, directly and through us.
    pub statuses: (i32, i32),
}

/// Why two runs cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Launch(#[from] mgn_launch::Error),
    #[error("the program used no OpenGL{}; its exit status was {status}", who.when())]
    NoGl { who: RunKind, status: i32 },
    #[error(
        "the program made no frames that could be compared{}: it never swapped its buffers, or ended before the first frame to compare; its exit status was {status}",
        who.when()
    )]
    NoFrames { who: RunKind, status: i32 },
    #[error("the program had not ended{} after {} s; give fewer --frames or a longer --timeout", who.when(), limit.as_secs())]
    TimedOut { who: RunKind, limit: Duration },
    #[error("{process} drew with {} and not through Manganese", driver.display())]
    Elsewhere { process: String, driver: PathBuf },
    #[error("the program drew through Manganese in the direct run; remove the variables that set this up from its environment")]
    NotDirect,
    #[error("the program's OpenGL commands did not reach the server")]
    NotOurs,
    #[error("stopped by signal {0}")]
    Interrupted(i32),
    #[error("{path}: {source}")]
    File { path: PathBuf, source: io::Error },
}

impl RunKind {
    fn when(self) -> &'static str {
        match self {
            RunKind::Direct => " when run directly",
            RunKind::Ours => " when run through Manganese",
        }
    }
}

impl Compared {
    pub fn are_equal(&self) -> bool {
        self.differences.is_empty() && self.statuses.0 == self.statuses.1
    }
}

impl fmt::Display for Compared {
    /// One line for each difference up to ten, and one that sums up.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 10;
        for difference in self.differences.iter().take(SHOWN) {
            writeln!(f, "{difference}")?;
        }
        if self.differences.len() > SHOWN {
            writeln!(f, "and {} more", self.differences.len() - SHOWN)?;
        }
        let (direct, ours) = self.statuses;
        if direct != ours {
            writeln!(
                f,
                "its exit status is {ours} through the server, and {direct} directly"
            )?;
        }
        match (self.frames, self.differences.len()) {
            (1, 0) => write!(f, "1 frame, bit-identical"),
            (frames, 0) => write!(f, "{frames} frames, bit-identical"),
            (frames, different) => write!(f, "{different} of {frames} frames differ"),
        }
    }
}

/// Runs the program twice, each for at most `limit`, under `camera`. Pictures that differ are kept
/// in `out`; see [`compare_folders`].
///
/// # Errors
/// Why there is nothing to compare, or it could not be kept.
pub fn verify(
    camera: &Camera,
    direct: Run,
    ours: Run,
    limit: Duration,
    out: Option<&Path>,
) -> Result<Compared, Error> {
    let pictures = RunDir::create()?;
    let folders = (pictures.join("direct"), pictures.join("ours"));
    let one = photograph(camera, RunKind::Direct, direct, limit, &folders.0)?;
    let two = photograph(camera, RunKind::Ours, ours, limit, &folders.1)?;
    let file = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::File { path, source }
    };
    let differences = compare_folders(&folders.0, &folders.1, out)
        .map_err(file(out.unwrap_or(pictures.path())))?;
    Ok(Compared {
        frames: fs::read_dir(&folders.0).map_err(file(&folders.0))?.count(),
        differences,
        statuses: (one.status, two.status),
    })
}

/// Does one run. There are pictures in `folder` if it succeeds; how the program ended is for the
/// caller to judge.
fn photograph(
    camera: &Camera,
    who: RunKind,
    run: Run,
    limit: Duration,
    folder: &Path,
) -> Result<Report, Error> {
    fs::create_dir(folder).map_err(|source| Error::File {
        path: folder.to_owned(),
        source,
    })?;
    let mut plan = run.plan;
    debug_assert_eq!(matches!(plan.driver, Driver::Local), who == RunKind::Direct);
    plan.environment.extend(camera.environment(Some(folder)));
    let mut session = Session::start(run.run, plan)?;
    let report = session.wait(limit)?.ok_or(Error::TimedOut { who, limit })?;
    let counters = Counters::read(session.run_dir());
    drop(session);
    if let Some(signal) = report.signal {
        return Err(Error::Interrupted(signal));
    }
    let drew = fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some());
    let status = report.status;
    match (&report.verdict, who) {
        (Verdict::Ours, RunKind::Direct) => return Err(Error::NotDirect),
        (Verdict::Elsewhere { process, driver }, RunKind::Ours) => {
            return Err(Error::Elsewhere {
                process: process.clone(),
                driver: driver.clone(),
            })
        }
        _ if drew && who == RunKind::Ours && counters.processes == 0 => return Err(Error::NotOurs),
        _ if drew => {}
        (Verdict::NoGl, _) if counters.processes == 0 => return Err(Error::NoGl { who, status }),
        // For example, a lost server is a difference and no error.
        (_, RunKind::Ours) => {}
        _ => return Err(Error::NoFrames { who, status }),
    }
    Ok(report)
}
