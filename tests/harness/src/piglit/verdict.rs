//! The verdict on a test: its outcome compared with the local driver's.

use super::store::{Outcome, Status};

/// The number of runs with the local driver that show whether a test passes always or only
/// sometimes.
const RUNS: usize = 3;

/// The verdict on a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It passes, with all parts that pass locally.
    Passes,
    /// It does not pass, either here or with the local driver.
    NeitherLocally,
    /// It did not pass, and with the local driver it passes only sometimes.
    Unsteady,
    /// It is worse than with the local driver. The text says in what way.
    Fails(String),
    /// It must run with the local driver (again) before it can be judged.
    AskLocally,
}

/// Whether a test with this outcome must also run with the local driver.
fn is_suspect(ours: &Outcome) -> bool {
    let all_pass = ours.parts.values().all(|part| *part == Status::Pass);
    ours.status != Status::Pass || ours.lost.is_some() || !all_pass
}

/// Judges a test by its run and by the runs with the local driver.
pub fn judge(ours: &Outcome, local: &[Outcome]) -> Verdict {
    if !is_suspect(ours) {
        return Verdict::Passes;
    }
    if local.is_empty() {
        return Verdict::AskLocally;
    }
    match is_worse(ours, local) {
        Some(_) if local.len() < RUNS => Verdict::AskLocally,
        Some(how) => Verdict::Fails(how),
        None if ours.status.rank() > 0 => Verdict::Passes,
        None if local.iter().any(|run| run.status.rank() > 0) => Verdict::Unsteady,
        None => Verdict::NeitherLocally,
    }
}

/// In what way a run is worse than all runs with the local driver, or `None`. A crash of the
/// program or of its renderer is worse than any other failure.
fn is_worse(ours: &Outcome, local: &[Outcome]) -> Option<String> {
    if !local.iter().any(|run| run.status == Status::Crash) {
        if let Some(lost) = &ours.lost {
            return Some(format!("its server is lost: {lost}"));
        }
        if ours.status == Status::Crash {
            return Some("it crashes".to_owned());
        }
    }
    let worst = |statuses: &mut dyn Iterator<Item = Status>| statuses.min_by_key(|s| s.rank());
    let local_status = worst(&mut local.iter().map(|run| run.status))?;
    if ours.status.rank() < local_status.rank() {
        return Some(format!(
            "{}, where the local driver gives {}",
            ours.status.name(),
            local_status.name()
        ));
    }
    let of_part = |run: &Outcome, part: &str| run.parts.get(part).copied();
    for part in local.first()?.parts.keys() {
        let mut runs = local
            .iter()
            .map(|run| of_part(run, part).unwrap_or(Status::Other));
        let local_part = worst(&mut runs)?;
        let our_part = of_part(ours, part).unwrap_or(Status::Other);
        if our_part.rank() < local_part.rank() {
            return Some(format!(
                "{} in its part {part:?}, where the local driver gives {}",
                our_part.name(),
                local_part.name()
            ));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(status: Status) -> Outcome {
        Outcome {
            status,
            parts: Default::default(),
            late: false,
            lost: None,
            said: String::new(),
            seconds: 0.0,
        }
    }

    fn with_part(status: Status, part: Status) -> Outcome {
        let mut run = run(status);
        run.parts.insert("part".to_owned(), part);
        run
    }

    #[test]
    fn what_passes_three_times_locally_has_to_pass() {
        use Status::{Fail, Pass, Skip, Timeout, Warn};
        let three = |a, b, c| [run(a), run(b), run(c)];
        assert_eq!(judge(&run(Pass), &[]), Verdict::Passes);
        for bad in [Fail, Skip, Timeout, Warn, Status::Other] {
            assert_eq!(judge(&run(bad), &[]), Verdict::AskLocally);
            assert_eq!(judge(&run(bad), &[run(Pass)]), Verdict::AskLocally);
            let verdict = judge(&run(bad), &three(Pass, Pass, Pass));
            assert!(matches!(verdict, Verdict::Fails(_)), "{bad:?}");
        }
        let verdict = judge(&run(Fail), &three(Pass, Pass, Fail));
        assert_eq!(verdict, Verdict::Unsteady);
        assert_eq!(judge(&run(Fail), &[run(Fail)]), Verdict::NeitherLocally);
        assert_eq!(judge(&run(Warn), &[run(Warn)]), Verdict::Passes);
        let verdict = judge(&run(Fail), &three(Warn, Warn, Warn));
        assert!(matches!(verdict, Verdict::Fails(_)));
    }

    #[test]
    fn a_crash_fails_where_the_local_driver_only_fails() {
        let fails = [Status::Fail, Status::Fail, Status::Skip].map(run);
        let crashed = judge(&run(Status::Crash), &fails);
        assert_eq!(crashed, Verdict::Fails("it crashes".to_owned()));
        let mut lost = run(Status::Fail);
        lost.lost = Some("signal 11".to_owned());
        assert!(matches!(judge(&lost, &fails), Verdict::Fails(_)));
        // The same applies if the test itself passes.
        lost.status = Status::Pass;
        assert!(matches!(judge(&lost, &fails), Verdict::Fails(_)));

        let crashes = [run(Status::Crash)];
        let verdict = judge(&run(Status::Crash), &crashes);
        assert_eq!(verdict, Verdict::NeitherLocally);
    }

    #[test]
    fn parts_that_pass_locally_have_to_pass() {
        use Status::{Fail, Pass};
        let ours = with_part(Fail, Fail);
        let local = with_part(Fail, Pass);
        let verdict = judge(&ours, &[local.clone(), local.clone(), local.clone()]);
        assert!(matches!(verdict, Verdict::Fails(_)));
        let verdict = judge(&ours, &[local.clone(), ours.clone(), local.clone()]);
        assert_eq!(verdict, Verdict::NeitherLocally);
        let missing = run(Fail);
        let verdict = judge(&missing, &[local.clone(), local.clone(), local]);
        assert!(matches!(verdict, Verdict::Fails(_)));
    }
}
