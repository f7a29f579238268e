//! Watches which OpenGL libraries the processes of a run have mapped. This shows when GLVND, or a
//! library of the program's own, directed its GL elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{waitpid, Pid, WaitOptions};

use crate::LIBRARY_FILE;

/// A new process is checked this often, so that the libraries of a short-lived process are seen …
const NEW_PROCESS_INTERVAL: Duration = Duration::from_millis(20);
/// … for this long …
const NEW_PROCESS_FOR: Duration = Duration::from_millis(600);
/// … and later this often.
const SPARSE: Duration = Duration::from_millis(500);

/// The libraries that one process had mapped at any time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapped {
    /// Our client library.
    pub ours: bool,
    /// A library that programs link for OpenGL or EGL.
    pub front: bool,
    /// Other OpenGL drivers, by their files.
    drivers: BTreeSet<PathBuf>,
    /// Libraries with OpenGL's entry points that did not belong to GLVND at the last check, and at
    /// how many checks in a row there were such libraries. While a program is being loaded, only a
    /// part of GLVND may be mapped, so one check is not enough.
    loose: BTreeSet<PathBuf>,
    looks: u32,
}

impl Mapped {
    /// Reads the text of `/proc/PID/maps`.
    pub fn from_maps(maps: &str) -> Mapped {
        let files: BTreeSet<&str> = maps
            .lines()
            .filter_map(|line| line.find('/').map(|at| &line[at..]))
            .map(|path| path.strip_suffix(" (deleted)").unwrap_or(path))
            .collect();
        let all = || files.iter().map(|path| file_name(path));
        let glvnd = all().any(|n| n.starts_with("libGLdispatch.so"));
        let those = |is: fn(&str) -> bool| {
            files
                .iter()
                .filter(|path| is(file_name(path)))
                .map(PathBuf::from)
                .collect()
        };
        let loose: BTreeSet<PathBuf> = if glvnd {
            BTreeSet::new()
        } else {
            those(is_entry)
        };
        Mapped {
            ours: all().any(|n| n == LIBRARY_FILE),
            front: all().any(is_front),
            drivers: those(is_driver),
            looks: u32::from(!loose.is_empty()),
            loose,
        }
    }

    fn merge(&mut self, later: Mapped) {
        self.ours |= later.ours;
        self.front |= later.front;
        self.drivers.extend(later.drivers);
        self.looks = if later.looks > 0 { self.looks + 1 } else { 0 };
        self.loose = later.loose;
    }

    /// Other OpenGL drivers, by their files.
    pub fn drivers(&self) -> impl Iterator<Item = &PathBuf> {
        let sure = self.looks >= 2;
        self.drivers
            .iter()
            .chain(self.loose.iter().filter(move |_| sure))
    }

    /// Whether its GL went to another driver. Without a front library, a driver serves something
    /// else, such as Vulkan or buffer allocation.
    fn elsewhere(&self) -> bool {
        self.front && !self.ours && self.drivers().next().is_some()
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_driver(name: &str) -> bool {
    let vendor = |prefix| name.starts_with(prefix) && !name.starts_with(&format!("{prefix}mgn."));
    vendor("libGLX_")
        || vendor("libEGL_")
        || name.ends_with("_dri.so")
        || name.starts_with("libgallium-")
        || name.starts_with("libnvidia-gl")
        || name.starts_with("libnvidia-egl")
        || name.starts_with("libOSMesa.so")
}

/// Whether a library has OpenGL's entry points. Under GLVND, such a library only leads to a vendor.
/// Without GLVND, it is a driver itself, as bundled libraries are.
fn is_entry(name: &str) -> bool {
    ["libGL.so", "libEGL.so", "libGLESv2.so", "libGLESv1_CM.so"]
        .iter()
        .any(|n| name.starts_with(n))
}

fn is_front(name: &str) -> bool {
    is_entry(name)
        || ["libGLX.so", "libOpenGL.so", "libOSMesa.so"]
            .iter()
            .any(|n| name.starts_with(n))
}

/// A process that was seen.
#[derive(Clone, Debug)]
pub struct Seen {
    pub pid: u32,
    /// Its name, as the system shows it.
    pub name: String,
    pub mapped: Mapped,
}

/// Watches the descendants of this process, except those of its helpers.
#[derive(Debug)]
pub(crate) struct Watch {
    helpers: Vec<u32>,
    /// The processes that were seen below the helpers. They may become our children when a helper
    /// dies.
    helped: BTreeSet<Identity>,
    seen: BTreeMap<Identity, Seen>,
    next: Instant,
    dense_until: Instant,
}

/// A process id together with its start time, because process ids are reused.
type Identity = (u32, u64);

/// Which descendants of this process are alive.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Alive {
    pub(crate) any: bool,
    /// Whether one of them has our client library.
    pub(crate) ours: bool,
}

impl Watch {
    pub(crate) fn new(helpers: Vec<u32>) -> Watch {
        let now = Instant::now();
        Watch {
            helpers,
            helped: BTreeSet::new(),
            seen: BTreeMap::new(),
            next: now,
            dense_until: now + NEW_PROCESS_FOR,
        }
    }

    /// When the next check is due.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// Makes the next check due now.
    pub(crate) fn look_now(&mut self) {
        self.next = Instant::now();
    }

    /// Checks every process, and reaps dead ones that became our children. `program` is reaped
    /// elsewhere.
    pub(crate) fn look(&mut self, now: Instant, program: u32) -> Alive {
        let mut alive = Alive::default();
        for process in self.family() {
            if process.zombie {
                if process.parent == std::process::id() && process.pid != program {
                    bury(process.pid);
                }
                continue;
            }
            alive.any = true;
            tracing::trace!(?process, "seen");
            let maps = fs::read(format!("/proc/{}/maps", process.pid)).unwrap_or_default();
            if maps.is_empty() {
                // The process is about to end, or we may not inspect it.
                continue;
            }
            let mapped = Mapped::from_maps(&String::from_utf8_lossy(&maps));
            alive.ours |= mapped.ours;
            let seen = self.seen.entry(process.identity()).or_insert_with(|| {
                self.dense_until = now + NEW_PROCESS_FOR;
                Seen {
                    pid: process.pid,
                    name: String::new(),
                    mapped: Mapped::default(),
                }
            });
            seen.name = process.name;
            seen.mapped.merge(mapped);
        }
        self.next = now
            + if now < self.dense_until {
                NEW_PROCESS_INTERVAL
            } else {
                SPARSE
            };
        alive
    }

    pub(crate) fn seen(&self) -> impl Iterator<Item = &Seen> {
        self.seen.values()
    }

    fn family(&mut self) -> Vec<Process> {
        let all: Vec<Process> = processes().collect();
        for helper in &self.helpers {
            let own = below(&all, &[*helper], |_| true);
            self.helped.extend(own.iter().map(|p| p.identity()));
        }
        let ours =
            |p: &Process| !self.helpers.contains(&p.pid) && !self.helped.contains(&p.identity());
        let found = below(&all, &[std::process::id()], ours);
        found.into_iter().cloned().collect()
    }
}

/// The descendants of `roots`. Processes for which `follow` is false are left out with their
/// descendants.
fn below<'a>(
    all: &'a [Process],
    roots: &[u32],
    follow: impl Fn(&Process) -> bool,
) -> Vec<&'a Process> {
    let mut found = Vec::new();
    let mut parents = roots.to_vec();
    while let Some(parent) = parents.pop() {
        for process in all.iter().filter(|p| p.parent == parent && follow(p)) {
            parents.push(process.pid);
            found.push(process);
        }
    }
    found
}

/// Which OpenGL a run used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Our library was used, and no process used only another driver.
    Ours,
    /// No process was seen with an OpenGL library that led to a driver.
    NoGl,
    /// A process used another driver, and never our library.
    Elsewhere { process: String, driver: PathBuf },
}

/// Determines a run's verdict from the processes that were seen.
pub fn judge<'a>(seen: impl IntoIterator<Item = &'a Seen>) -> Verdict {
    let mut verdict = Verdict::NoGl;
    for process in seen {
        if process.mapped.elsewhere() {
            let driver = process.mapped.drivers().next().cloned().unwrap_or_default();
            return Verdict::Elsewhere {
                process: process.name.clone(),
                driver,
            };
        }
        if process.mapped.ours {
            verdict = Verdict::Ours;
        }
    }
    verdict
}

#[derive(Clone, Debug)]
struct Process {
    pid: u32,
    parent: u32,
    name: String,
    start: u64,
    zombie: bool,
    /// Its own processor time, and that of children it has waited for.
    own_time: Duration,
    children_time: Duration,
}

impl Process {
    fn identity(&self) -> Identity {
        (self.pid, self.start)
    }

    fn time(&self) -> Duration {
        self.own_time + self.children_time
    }
}

/// The processor time of a process that has not been waited for, and of its children that were.
pub(crate) fn processor_time(pid: u32) -> Duration {
    read_stat(pid).map_or(Duration::ZERO, |p| p.time())
}

/// The processor time of the helper `pid` and of everything below it, living and dead.
pub(crate) fn helper_time(pid: u32) -> Duration {
    let all: Vec<Process> = processes().collect();
    let below: Duration = below(&all, &[pid], |_| true)
        .into_iter()
        .map(Process::time)
        .sum();
    processor_time(pid) + below
}

/// The unit of processor times. Linux promises this value to user space on every architecture on
/// which we run.
const TICK: Duration = Duration::from_millis(10);

fn processes() -> impl Iterator<Item = Process> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(read_stat)
}

fn read_stat(pid: u32) -> Option<Process> {
    // Longer than any such text. It is read at once, because there are many processes.
    let mut stat = [0; 1024];
    let length = File::open(format!("/proc/{pid}/stat"))
        .ok()?
        .read(&mut stat)
        .ok()?;
    parse_stat(pid, &String::from_utf8_lossy(&stat[..length]))
}

/// Reads `/proc/PID/stat` (proc_pid_stat(5)). The name stands in parentheses and may contain any
/// character, including parentheses.
fn parse_stat(pid: u32, stat: &str) -> Option<Process> {
    let (before, after) = stat.rsplit_once(')')?;
    let name = before.split_once('(')?.1.to_owned();
    let mut fields = after.split_ascii_whitespace();
    let zombie = matches!(fields.next()?, "Z" | "X");
    let parent = fields.next()?.parse().ok()?;
    // The last field read was the fourth. Processor times begin at the fourteenth field, and the
    // start time is the twenty-second.
    let mut times = fields
        .by_ref()
        .skip(9)
        .take(4)
        .map(|t| t.parse::<u32>().unwrap_or(0));
    let mut time = || TICK * (times.next().unwrap_or(0) + times.next().unwrap_or(0));
    let (own_time, children_time) = (time(), time());
    let start = fields.nth(4)?.parse().ok()?;
    Some(Process {
        pid,
        parent,
        name,
        start,
        zombie,
        own_time,
        children_time,
    })
}

fn bury(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let _ = waitpid(pid, WaitOptions::NOHANG);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maps(files: &[&str]) -> Mapped {
        let lines: Vec<String> = files
            .iter()
            .map(|f| format!("7f0000000000-7f0000001000 r-xp 00000000 fe:00 1234    {f}"))
            .collect();
        Mapped::from_maps(&lines.join("\n"))
    }

    fn verdict(of: &[Mapped]) -> Verdict {
        let seen: Vec<Seen> = of
            .iter()
            .map(|m| Seen {
                pid: 1,
                name: "gears".into(),
                mapped: m.clone(),
            })
            .collect();
        judge(&seen)
    }

    #[test]
    fn knows_ours_from_others() {
        let ours = maps(&[
            "/usr/lib/libGL.so.1.7.0",
            "/usr/lib/libGLdispatch.so.0.0.0",
            "/opt/mgn/libmgn_client.so (deleted)",
        ]);
        assert!(ours.ours && ours.front && ours.drivers().next().is_none());
        let mesa = maps(&[
            "/usr/lib/libGLX.so.0.0.0",
            "/usr/lib/libGLdispatch.so.0.0.0",
            "/usr/lib/libGLX_mesa.so.0.0.0",
            "/usr/lib/dri/swrast_dri.so",
        ]);
        assert_eq!(mesa.drivers.len(), 2);
        assert_eq!(verdict(std::slice::from_ref(&ours)), Verdict::Ours);
        assert!(matches!(verdict(&[ours, mesa]), Verdict::Elsewhere { .. }));
    }

    #[test]
    fn a_bundled_library_is_a_driver_unless_more_is_still_coming() {
        let alone = maps(&["/opt/game/lib/libGL.so.1"]);
        assert_eq!(verdict(std::slice::from_ref(&alone)), Verdict::NoGl);
        let mut bundled = alone.clone();
        bundled.merge(alone.clone());
        assert!(
            matches!(verdict(&[bundled]), Verdict::Elsewhere { driver, .. }
            if driver == std::path::Path::new("/opt/game/lib/libGL.so.1"))
        );
        let mut loading = alone.clone();
        loading.merge(alone);
        loading.merge(maps(&[
            "/opt/game/lib/libGL.so.1",
            "/usr/lib/libGLdispatch.so.0",
        ]));
        assert_eq!(verdict(&[loading]), Verdict::NoGl);
    }

    #[test]
    fn programs_without_gl_are_left_in_peace() {
        let vulkan = maps(&["/usr/lib/libvulkan.so.1", "/usr/lib/libGLX_nvidia.so.0"]);
        let linked = maps(&["/usr/lib/libGL.so.1", "/usr/lib/libGLdispatch.so.0"]);
        assert_eq!(
            verdict(&[vulkan, linked, Mapped::from_maps("")]),
            Verdict::NoGl
        );
    }

    #[test]
    fn reads_names_with_parentheses() {
        let stat = "42 (a) b (c)) S 7 42 42 0 -1 4194560 1 2 3 4 50 6 7 8 20 0 1 0 98765 1 2";
        let process = parse_stat(42, stat).unwrap();
        assert_eq!(process.parent, 7);
        assert_eq!((process.start, process.zombie), (98765, false));
        assert_eq!(
            (process.own_time, process.children_time),
            (TICK * 56, TICK * 15)
        );
        assert_eq!(process.name, "a) b (c)");
        assert!(parse_stat(1, "1 (x").is_none());
    }

    #[test]
    fn sees_a_child_and_what_it_maps() {
        let mut child = std::process::Command::new("sleep")
            .arg("1000")
            .spawn()
            .unwrap();
        let mut watch = Watch::new(vec![]);
        let alive = watch.look(Instant::now(), child.id());
        assert!(alive.any && !alive.ours);
        assert!(watch.seen().any(|s| s.pid == child.id()));
        let mut blind = Watch::new(vec![child.id()]);
        blind.look(Instant::now(), 0);
        assert!(blind.seen().all(|s| s.pid != child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
