//! How busy the machine is, which decides whether spinning is worthwhile.

use std::fs::File;
use std::io::Read;
use std::sync::OnceLock;

use crate::control_group::ControlGroup;

/// The number of processors that this process and its peers have, at least 1: the machine's online
/// processors, or fewer if the process's control group, for example a container, has fewer. The
/// affinity of the calling thread does not matter, because its peers may run on other processors.
pub fn cores() -> usize {
    static LIMIT: OnceLock<usize> = OnceLock::new();
    let limit = *LIMIT.get_or_init(|| limit(&ControlGroup::own()));
    // SAFETY: the call returns a number and accesses no memory of this process.
    let found = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    usize::try_from(found).map_or(1, |found| found.clamp(1, limit))
}

/// The number of processors of a control group, at least 1: its set of processors, or the
/// processor time that it may use at most. `usize::MAX` if nothing limits it.
fn limit(group: &ControlGroup) -> usize {
    let sets = group.texts("cpuset.cpus.effective");
    let sets = sets.filter_map(|text| parse_set(&text));
    let times = group.texts("cpu.max");
    let times = times.filter_map(|text| parse_time(&text));
    sets.chain(times)
        .min()
        .map_or(usize::MAX, |cores| cores.max(1))
}

/// The number of processors in a list such as `0-3,8`. `None` for an empty list.
fn parse_set(text: &str) -> Option<usize> {
    let count = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    text.trim().split(',').map(count).sum()
}

/// The whole processors in a limit such as `200000 100000`: the time in each period, and the
/// period. `None` for `max`.
fn parse_time(text: &str) -> Option<usize> {
    let (time, period) = text.trim().split_once(' ')?;
    time.parse::<usize>()
        .ok()?
        .checked_div(period.parse().ok()?)
}

/// The number of threads that run or are ready to run on the machine now, including the caller.
/// `None` if the system does not report this. The call takes a few microseconds.
pub fn runnable() -> Option<usize> {
    let mut text = [0; 64];
    let len = File::open("/proc/loadavg").ok()?.read(&mut text).ok()?;
    parse_loadavg(std::str::from_utf8(&text[..len]).ok()?)
}

/// The fourth field of `/proc/loadavg` is `runnable/all`.
fn parse_loadavg(text: &str) -> Option<usize> {
    text.split_whitespace()
        .nth(3)?
        .split_once('/')?
        .0
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_something_sensible() {
        assert!(cores() >= 1);
        assert!(runnable().unwrap() >= 1);
        assert_eq!(parse_loadavg("0.61 0.29 0.10 3/92 9583\n"), Some(3));
        assert_eq!(parse_loadavg("0.61 0.29"), None);
    }

    #[test]
    fn a_control_group_limits_the_processors() {
        let root = std::env::temp_dir().join(format!("mgn-cpu-{}", std::process::id()));
        let write = |file: &str, text: &str| {
            std::fs::create_dir_all(root.join("inner")).unwrap();
            std::fs::write(root.join(file), text).unwrap();
        };
        let cores = || limit(&ControlGroup::within(&root, "0::/inner\n"));
        assert_eq!(cores(), usize::MAX);
        write("inner/cpu.max", "max 100000\n");
        write("inner/cpuset.cpus.effective", "\n");
        assert_eq!(cores(), usize::MAX);
        write("inner/cpuset.cpus.effective", "0-3,8\n");
        assert_eq!(cores(), 5);
        write("cpu.max", "250000 100000\n");
        assert_eq!(cores(), 2);
        write("inner/cpu.max", "50000 100000\n");
        assert_eq!(cores(), 1);
        for wrong in ["3-1", "a", "0-18446744073709551615", "1-2-3", "1 0", ""] {
            assert_eq!(
                (parse_set(wrong), parse_time(wrong)),
                (None, None),
                "{wrong}"
            );
        }
        std::fs::remove_dir_all(&root).unwrap();
    }
}
