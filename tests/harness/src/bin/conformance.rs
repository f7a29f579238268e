//! `make conformance`: runs piglit through a server, and compares it with the local driver. The
//! exit status is 0 if all tests pass that pass with the local driver, except those in
//! `tests/piglit/expected-failures.toml`; 1 if other tests fail; and 2 if the tests could not be
//! run.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::UNIX_EPOCH;

use clap::Parser;
use mgn_tests::piglit::{
    judge, once_failed, tests, Judged, Known, Profile, Report, Route, Runner, Store, Verdict,
};
use mgn_tests::{root, target};

/// Run piglit through a server and compare with the local driver.
///
/// An interrupted run continues where it stopped, until the build changes.
#[derive(Debug, Parser)]
struct Options {
    /// Parts of piglit to run; without it all
    #[arg(long, value_delimiter = ',')]
    profile: Vec<Profile>,

    /// Ways to run them; without it shm and tcp, and a sample on a wall
    #[arg(long, value_delimiter = ',')]
    way: Vec<Route>,

    /// Run a fixed sample that takes some minutes, with every test that has ever failed
    #[arg(long)]
    sample: bool,

    /// Run only the first N tests of each profile; any beginning is a sample of all groups
    #[arg(long, value_name = "N")]
    first: Option<usize>,

    /// Leave out the first N tests of each profile, which have run elsewhere
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: usize,

    /// Run only tests whose names contain this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Tests that run at once; by default one per processor
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,

    /// Forget what earlier runs of this build gave
    #[arg(long)]
    fresh: bool,
}

/// The number of tests of a profile in the sample, by the way in which they run.
fn sample_size(profile: Profile, way: Route) -> usize {
    match (profile, way) {
        (Profile::Glx, Route::Shm) => 40,
        (Profile::Glx, _) => 20,
        (Profile::QuickGl, Route::Shm) => 300,
        (Profile::QuickGl, _) => 100,
        (Profile::QuickShader, Route::Shm) => 100,
        (Profile::QuickShader, _) => 40,
    }
}

/// The number of tests of a profile that run on a wall in a full run. Each test has four renderers
/// there.
const ON_WALL: usize = 500;

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("conformance: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<bool, String> {
    let folder = root().join("target/piglit");
    let failures = folder.join("failures");
    let _ = fs::remove_dir_all(&failures);
    fs::create_dir_all(&failures).map_err(|error| format!("{}: {error}", failures.display()))?;
    let jobs = options.jobs.unwrap_or_else(processors);
    let runner = Runner::new(&folder, jobs)?;
    let mesa = runner.mesa();
    if mesa.is_empty() {
        return Err("glxinfo does not tell the version of Mesa; is mesa-utils installed?".into());
    }
    let known = Known::read(&mesa)?;
    let once_failed = once_failed()?;
    let mut local = Store::open(&folder.join(format!("local-{mesa}.json")), &mesa);
    let mut report = Report::default();

    for profile in chosen(&options.profile, &Profile::ALL) {
        let all = tests(profile)?;
        for way in chosen(&options.way, &[Route::Shm, Route::Tcp, Route::Wall]) {
            let wanted = wanted(options, profile, way, &all, &known, &once_failed);
            let path = folder.join(format!("{}.json", way.name()));
            let mut ours = Store::open(&path, &build()?);
            if options.fresh {
                wanted.iter().for_each(|test| ours.forget(test));
            }
            let missing = filtered(&wanted, |test| ours.of(test).is_empty());
            runner.run(profile, way, &missing, &mut ours)?;
            ask_locally(&runner, profile, &wanted, &ours, &mut local)?;
            // On a busy machine, even a short test may run out of time. Such tests run again alone.
            let late = filtered(&wanted, |test| {
                let runs = ours.of(test);
                runs.len() == 1
                    && runs[0].late
                    && matches!(judge(&runs[0], local.of(test)), Verdict::Fails(_))
            });
            runner.run_alone(profile, way, &late, &mut ours)?;
            ask_locally(&runner, profile, &wanted, &ours, &mut local)?;
            for test in wanted {
                let Some(outcome) = ours.of(&test).last() else {
                    continue;
                };
                let judged = Judged {
                    profile,
                    way,
                    verdict: judge(outcome, local.of(&test)),
                    said: outcome.said.clone(),
                    test,
                };
                report.add(&judged, &known, &failures)?;
            }
        }
    }
    println!("{report}");
    Ok(report.is_good())
}

/// The tests to run in this way, in order.
fn wanted(
    options: &Options,
    profile: Profile,
    way: Route,
    all: &[String],
    known: &Known,
    once_failed: &BTreeSet<String>,
) -> Vec<String> {
    let whole = if way == Route::Wall {
        ON_WALL
    } else {
        all.len()
    };
    let mut many = options.first.unwrap_or(whole);
    if options.sample {
        many = many.min(sample_size(profile, way));
    }
    let mut kept: Vec<String> = all.iter().take(many).skip(options.skip).cloned().collect();
    if options.sample {
        let listed = known.tests();
        let failed = |test: &String| once_failed.contains(test) || listed.contains(test.as_str());
        kept.extend(all.iter().skip(many).filter(|test| failed(test)).cloned());
    }
    if let Some(text) = &options.only {
        kept.retain(|test| test.contains(text));
    }
    kept
}

/// Runs tests with the local driver until every test can be judged.
fn ask_locally(
    runner: &Runner,
    profile: Profile,
    tests: &[String],
    ours: &Store,
    local: &mut Store,
) -> Result<(), String> {
    loop {
        let open = filtered(tests, |test| {
            let outcome = ours.of(test).last();
            outcome.is_some_and(|run| judge(run, local.of(test)) == Verdict::AskLocally)
        });
        if open.is_empty() {
            return Ok(());
        }
        runner.run(profile, Route::Local, &open, local)?;
    }
}

fn filtered(tests: &[String], keep: impl Fn(&str) -> bool) -> Vec<String> {
    tests.iter().filter(|test| keep(test)).cloned().collect()
}

fn chosen<T: Copy>(asked: &[T], all: &[T]) -> Vec<T> {
    if asked.is_empty() { all } else { asked }.to_vec()
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

/// A value that identifies the `mgn` and the client library of this build.
fn build() -> Result<String, String> {
    let files: Result<Vec<String>, String> = ["mgn", mgn_launch::LIBRARY_FILE]
        .iter()
        .map(|file| stamp(&target().join(file)))
        .collect();
    Ok(files?.join(" "))
}

fn stamp(path: &Path) -> Result<String, String> {
    let missing = |error| format!("{}: {error}; `make build` makes it", path.display());
    let metadata = fs::metadata(path).map_err(missing)?;
    let time = metadata.modified().map_err(missing)?;
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(format!("{}:{}", metadata.len(), since.as_nanos()))
}
