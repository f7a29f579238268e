//! How busy the machine is, which decides whether spinning is worthwhile.

use std::fs::File;
use std::io::Read;

/// The number of the machine's online processors, at least 1. The affinity of the calling thread
/// does not matter, because its peers may run on other processors.
pub fn cores() -> usize {
    // SAFETY: the call returns a number and accesses no memory of this process.
    let found = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    usize::try_from(found).map_or(1, |found| found.max(1))
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
}
