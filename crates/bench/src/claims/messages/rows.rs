//! The comparisons and the goals.

use std::rc::Rc;

use mgn_bench::net::measure::{Test, Unit, COMPUTE_FACTORS};
use mgn_bench::net::message_layer::MessageLayer;
use mgn_bench::net::peers::{
    MpiLibrary, MpiSettings, PeerPrograms, OPEN_MPI_MEMORY, OPEN_MPI_NO_CMA, OPEN_MPI_TCP,
};
use mgn_bench::net::ucx::{Ucx, UCX_MEMORY, UCX_TCP};

/// A method of sending messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Endpoints over a transport. With `-placed`, messages are written and read in place.
    Ours(&'static str),
    OpenMpi(MpiSettings),
    /// The value of `UCX_TLS`, and the interface of UCX.
    Ucx(&'static str, &'static str),
    /// System calls or memory alone, between two processes of this program. It is a limit, and no
    /// library.
    Raw(&'static str),
}

impl Method {
    pub fn layer(&self, peers: &Rc<PeerPrograms>) -> MessageLayer {
        match *self {
            Method::Ours(method) => MessageLayer::Ours(method),
            Method::Raw(method) => MessageLayer::Raw(method),
            Method::Ucx(tls, kind) => MessageLayer::Ucx(peers.clone(), Ucx { tls, kind }),
            Method::OpenMpi(settings) => {
                MessageLayer::Mpi(peers.clone(), MpiLibrary::OpenMpi, settings)
            }
        }
    }
}

/// A method and its name in the table.
pub type NamedMethod = (&'static str, Method);

pub struct Row {
    pub name: &'static str,
    pub test: Test,
    pub size: usize,
    pub methods: &'static [NamedMethod],
    pub figures: Vec<Figure>,
}

/// One of the values of a row's runs.
pub struct Figure {
    pub name: String,
    pub unit: Unit,
    /// Its index among the values of a run.
    pub at: usize,
    pub claims: Vec<Claim>,
}

/// A goal for one method.
pub struct Claim {
    pub method: &'static str,
    pub what: Goal,
}

#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// At least this share of the best other library.
    OfBest(f64),
    /// At least this share of another method.
    Of(&'static str, f64),
    /// At most this multiple of the time in which a cache line passes.
    Lines(f64),
    AtLeast(f64),
    AtMost(f64),
    /// At least the best other library plus this.
    BestPlus(f64),
}

const SHM: NamedMethod = ("shm", Method::Ours("shm"));
const PLACED: NamedMethod = ("shm, in place", Method::Ours("shm-placed"));
const TCP: NamedMethod = ("tcp", Method::Ours("tcp"));
const UNIX: NamedMethod = ("unix", Method::Ours("unix"));
const MPI: NamedMethod = ("Open MPI", Method::OpenMpi(OPEN_MPI_MEMORY));
const OPEN_MPI_WITHOUT_CMA: NamedMethod = ("Open MPI, no CMA", Method::OpenMpi(OPEN_MPI_NO_CMA));
const MPI_BY_TCP: NamedMethod = ("Open MPI, tcp", Method::OpenMpi(OPEN_MPI_TCP));
const TAG: NamedMethod = ("UCX tag", Method::Ucx(UCX_MEMORY, "tag"));
const AM: NamedMethod = ("UCX am", Method::Ucx(UCX_MEMORY, "am"));
const TAG_TCP: NamedMethod = ("UCX tag, tcp", Method::Ucx(UCX_TCP, "tag"));
const RAW_TCP: NamedMethod = ("raw tcp", Method::Raw("tcp"));
const RAW_UNIX: NamedMethod = ("raw unix", Method::Raw("unix"));
const RAW_MEMORY: NamedMethod = ("raw read", Method::Raw("memory"));

const BY_SHM: &[NamedMethod] = &[SHM, MPI, OPEN_MPI_WITHOUT_CMA];
const BY_SHM_UCX: &[NamedMethod] = &[SHM, MPI, OPEN_MPI_WITHOUT_CMA, TAG, AM];
/// For messages that are sent at once, UCX's program for `am` makes no copy: it leaves them where
/// they arrive, not in a buffer of the receiver.
const BY_SHM_TAG: &[NamedMethod] = &[SHM, MPI, OPEN_MPI_WITHOUT_CMA, TAG];
const IN_PLACE: &[NamedMethod] = &[PLACED, RAW_MEMORY];
const BY_TCP: &[NamedMethod] = &[TCP, RAW_TCP, MPI_BY_TCP, TAG_TCP];
const BY_UNIX: &[NamedMethod] = &[UNIX, RAW_UNIX, MPI_BY_TCP, TAG_TCP];
const SHM_OVERLAP: &[NamedMethod] = &[SHM, PLACED, MPI, OPEN_MPI_WITHOUT_CMA];
const TCP_OVERLAP: &[NamedMethod] = &[TCP, MPI_BY_TCP];
const UNIX_OVERLAP: &[NamedMethod] = &[UNIX];

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

pub fn all() -> Vec<Row> {
    use Goal::{AtLeast, BestPlus, Lines, Of, OfBest};
    use Test::{Both, Fresh, InPlace, Latency, Overlap, Stream};
    let of_best = |part: f64| vec![("shm", OfBest(part))];
    let mut rows = vec![
        row(
            "one way, 8 B",
            Latency,
            8,
            BY_SHM_UCX,
            vec![("shm", OfBest(1.0)), ("shm", Lines(1.6))],
        ),
        row("messages, 8 B", Stream, 8, BY_SHM_UCX, of_best(1.0)),
        row("stream, 4 KiB", Stream, 4 * KIB, BY_SHM_TAG, of_best(0.95)),
        row(
            "stream, 64 KiB",
            Stream,
            64 * KIB,
            BY_SHM_UCX,
            of_best(0.95),
        ),
        row("stream, 1 MiB", Stream, MIB, BY_SHM_UCX, of_best(0.95)),
        row(
            "stream, 16 MiB",
            Stream,
            16 * MIB,
            BY_SHM_UCX,
            of_best(0.95),
        ),
    ];
    for (name, test, size) in [
        ("both ways, 4 KiB", Both, 4 * KIB),
        ("both ways, 64 KiB", Both, 64 * KIB),
        ("both ways, 1 MiB", Both, MIB),
        ("both ways, 16 MiB", Both, 16 * MIB),
        ("written, read, 4 KiB", Fresh, 4 * KIB),
        ("written, read, 64 KiB", Fresh, 64 * KIB),
        ("written, read, 1 MiB", Fresh, MIB),
        ("written, read, 16 MiB", Fresh, 16 * MIB),
    ] {
        rows.push(row(name, test, size, BY_SHM, of_best(0.95)));
    }
    for (name, size) in [
        ("in place, 4 KiB", 4 * KIB),
        ("in place, 64 KiB", 64 * KIB),
        ("in place, 1 MiB", MIB),
        ("in place, 16 MiB", 16 * MIB),
    ] {
        let claims = vec![("shm, in place", Of("raw read", 0.9))];
        rows.push(row(name, InPlace, size, IN_PLACE, claims));
    }
    let of_raw = |method, raw| vec![(method, Of(raw, 0.95))];
    let (tcp, unix) = (|| of_raw("tcp", "raw tcp"), || of_raw("unix", "raw unix"));
    let best_tcp = vec![("tcp", OfBest(1.0))];
    let best_unix = vec![("unix", OfBest(1.0))];
    rows.extend([
        row("tcp, one way, 8 B", Latency, 8, BY_TCP, best_tcp),
        row("tcp, stream, 64 KiB", Stream, 64 * KIB, BY_TCP, tcp()),
        row("tcp, stream, 1 MiB", Stream, MIB, BY_TCP, tcp()),
        row("tcp, stream, 16 MiB", Stream, 16 * MIB, BY_TCP, tcp()),
        row("unix, one way, 8 B", Latency, 8, BY_UNIX, best_unix),
        row("unix, stream, 64 KiB", Stream, 64 * KIB, BY_UNIX, unix()),
        row("unix, stream, 1 MiB", Stream, MIB, BY_UNIX, unix()),
        row("unix, stream, 16 MiB", Stream, 16 * MIB, BY_UNIX, unix()),
    ]);
    for (name, size, methods, claims) in [
        (
            "overlap, 32 KiB",
            32 * KIB,
            SHM_OVERLAP,
            vec![("shm", AtLeast(0.99)), ("shm, in place", AtLeast(0.99))],
        ),
        (
            "overlap, 1 MiB",
            MIB,
            SHM_OVERLAP,
            vec![("shm", AtLeast(0.95)), ("shm, in place", AtLeast(0.99))],
        ),
        (
            "tcp, overlap, 32 KiB",
            32 * KIB,
            TCP_OVERLAP,
            vec![("tcp", AtLeast(0.97))],
        ),
        (
            "tcp, overlap, 1 MiB",
            MIB,
            TCP_OVERLAP,
            vec![("tcp", BestPlus(0.05))],
        ),
        ("unix, overlap, 32 KiB", 32 * KIB, UNIX_OVERLAP, vec![]),
        ("unix, overlap, 1 MiB", MIB, UNIX_OVERLAP, vec![]),
    ] {
        let mut row = row(name, Overlap, size, methods, claims);
        row.figures[0].name += ", T = 1 ms";
        row.figures.extend(waits(name, methods));
        rows.push(row);
    }
    rows
}

fn row(
    name: &'static str,
    test: Test,
    size: usize,
    methods: &'static [NamedMethod],
    claims: Vec<(&'static str, Goal)>,
) -> Row {
    let claims = claims
        .into_iter()
        .map(|(method, what)| Claim { method, what });
    Row {
        name,
        test,
        size,
        methods,
        figures: vec![Figure {
            name: name.to_string(),
            unit: test.unit(size),
            at: 0,
            claims: claims.collect(),
        }],
    }
}

/// The figures of an overlap run after the first one.
fn waits(name: &str, methods: &[NamedMethod]) -> Vec<Figure> {
    let waited = COMPUTE_FACTORS.iter().enumerate().map(|(at, times)| {
        // Receives in place are not posted.
        let posted = methods
            .iter()
            .filter(|(_, method)| matches!(method, Method::Ours("shm" | "tcp" | "unix")));
        let is_wanted = *times >= 2.0;
        let claims = posted.filter(|_| is_wanted).map(|(method, _)| Claim {
            method,
            what: Goal::AtMost(0.1),
        });
        Figure {
            name: format!("{name}, T = {times} xfer"),
            unit: Unit::Waited,
            at: 1 + at,
            claims: claims.collect(),
        }
    });
    let transfer = Figure {
        name: format!("{name}, xfer"),
        unit: Unit::Microseconds,
        at: 1 + COMPUTE_FACTORS.len(),
        claims: Vec::new(),
    };
    waited.chain([transfer]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn claims_are_measured() {
        let mut names = HashSet::new();
        for row in all() {
            assert!(names.insert(row.name), "{} is there twice", row.name);
            for figure in &row.figures {
                for claim in &figure.claims {
                    let has = |name: &str| row.methods.iter().any(|method| method.0 == name);
                    assert!(has(claim.method), "{}: {}", row.name, claim.method);
                    if let Goal::Of(other, _) = claim.what {
                        assert!(has(other), "{}: {other}", row.name);
                    }
                }
            }
        }
    }
}
