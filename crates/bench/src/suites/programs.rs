//! Whole programs, drawn directly and through Manganese: demos, single calls, third-party programs,
//! the time until the first frame, and walls. The rows also contain our performance goals. The
//! suite runs only if it is named.

use std::cell::{OnceCell, RefCell};
use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;
use mgn_launch::find_xvfb;

use super::demo::id;
use super::program_rows::{all, Row, Value, Wanted};
use crate::argv::Argv;
use crate::gl::run::{RunMode, Sample, Servers};
use crate::goals::Goal;
use crate::machine::by_distance_if_unpinned;
use crate::net::peers::PeerPrograms;
use crate::plan::{no_conclusions, BenchOptions, Experiment, Figure, Method};
use crate::record::{Axis, Better, Kind, Plot};
use crate::statistics::MIN_ROUNDS;
use crate::suite::Suite;

/// The programs run for seconds and give steady values, so more rounds would add little.
const MAX_ROUNDS: u32 = 9;

/// The plots have no parameter.
const X: f64 = 0.0;

pub fn plan(options: &BenchOptions) -> Result<Vec<Experiment>> {
    let shared = Rc::new(SharedServers {
        mgn: options.mgn.clone(),
        files: options.peers.clone(),
        servers: RefCell::default(),
    });
    let rows = all().into_iter();
    let rows = rows.filter(|row| !options.is_quick || row.quick.is_some());
    Ok(rows.map(|row| experiment(row, &shared, options)).collect())
}

/// The servers and files that all rows share. The servers are started on first use, and end with
/// the last row.
struct SharedServers {
    mgn: PathBuf,
    files: Rc<PeerPrograms>,
    servers: RefCell<Option<Rc<Servers>>>,
}

impl SharedServers {
    fn servers(&self) -> Result<Rc<Servers>> {
        let mut servers = self.servers.borrow_mut();
        if let Some(servers) = &*servers {
            return Ok(servers.clone());
        }
        let new = Rc::new(Servers::start(&self.mgn)?);
        *servers = Some(new.clone());
        Ok(new)
    }
}

fn experiment(row: Row, shared: &Rc<SharedServers>, options: &BenchOptions) -> Experiment {
    let ids: Vec<String> = row
        .values
        .iter()
        .map(|value| plot_id(&row, value))
        .collect();
    let wait = format!("{}-wait", id("programs", row.name));
    let values = row.values.iter().zip(&ids);
    let goals = values.flat_map(|(value, plot)| goals(&row, value, plot));
    let goals: Vec<Goal> = goals.collect();
    let mut plots: Vec<Plot> = row
        .values
        .iter()
        .zip(&ids)
        .map(|(v, id)| plot(&row, v, id))
        .collect();
    if row.modes.iter().any(|mode| mode.sends()) {
        let y = Axis::linear("share of the time", "%");
        let title = format!("Waiting to send, {}", row.name);
        plots.push(Plot::new(&wait, title, Axis::none(), y, Better::Less));
    }
    let mut notes = vec![
        "CPU seconds are those of a whole run: of the program, and of servers that were already running".to_string(),
    ];
    if row.is_cold {
        notes.push("Each run begins with empty caches".to_string());
    }
    let key = format!("programs {}", row.name);
    let more = row.quick.filter(|_| options.is_quick).unwrap_or_default();
    let row = Rc::new(Planned {
        ids,
        wait,
        more,
        row,
        words: OnceCell::new(),
        shared: shared.clone(),
    });
    let methods = row.row.modes.iter().map(|mode| {
        Box::new(Run {
            mode: *mode,
            row: row.clone(),
        }) as Box<dyn Method>
    });
    Experiment {
        suite: Suite::Programs,
        key,
        plots,
        methods: methods.collect(),
        by_distance: by_distance_if_unpinned(),
        budget: Duration::from_secs(options.full_or_quick(90, 6)),
        rounds: MIN_ROUNDS as u32..=MAX_ROUNDS,
        notes,
        goals,
        conclude: no_conclusions,
    }
}

fn plot_id(row: &Row, value: &Value) -> String {
    id("programs", &format!("{} {}", row.name, value.title))
}

fn plot(row: &Row, value: &Value, id: &str) -> Plot {
    let title = match value.title {
        "" => row.name,
        title => title,
    };
    let y = Axis::linear(value.name, value.unit);
    Plot::new(id, title, Axis::none(), y, value.better)
}

/// Each mode is compared with the first one, and has the goals of the row.
fn goals(row: &Row, value: &Value, plot: &str) -> Vec<Goal> {
    let first = row.modes[0];
    let mut goals = Vec::new();
    for mode in row.modes {
        let of = || Goal::of(plot, mode.name(), X);
        let wanted = value.wanted.iter().filter(|(of, _)| of == mode);
        let wanted: Vec<Wanted> = wanted.map(|(_, wanted)| *wanted).collect();
        let has_ratio = wanted
            .iter()
            .any(|wanted| matches!(wanted, Wanted::Ratio(_)));
        if *mode != first && !has_ratio {
            goals.push(of().ratio_to([first.name()]));
        }
        goals.extend(wanted.iter().map(|wanted| match *wanted {
            Wanted::Ratio(least) => of().ratio_to([first.name()]).at_least(least),
            Wanted::Beside(other, least) => of().ratio_to([other.name()]).at_least(least),
            Wanted::More(most) => of().above([first.name()]).at_most(most),
            Wanted::AtMost(most) => of().at_most(most),
        }));
    }
    goals
}

/// A row, with the data that its modes share.
struct Planned {
    row: Row,
    /// The ids of the plots of the program's values, and the id of the plot of the time that it
    /// waits to send.
    ids: Vec<String>,
    wait: String,
    /// Further arguments of the program.
    more: &'static [&'static str],
    /// The program and its arguments, or the reason why it cannot run.
    words: OnceCell<Result<Vec<OsString>, String>>,
    shared: Rc<SharedServers>,
}

impl Planned {
    fn words(&self) -> &Result<Vec<OsString>, String> {
        self.words.get_or_init(|| {
            let shared = &self.shared;
            let mut words = self
                .row
                .program
                .words(&shared.mgn, &shared.files)
                .map_err(|error| format!("{error:#}"))?;
            words.extend(self.more.iter().map(OsString::from));
            Ok(words)
        })
    }

    fn figures(&self, sample: &Sample) -> Vec<Figure> {
        let values = self.row.values.iter().zip(&self.ids).zip(&sample.values);
        let cpu = [sample.program_cpu, sample.server_cpu];
        let figure = |((value, id), found): ((&Value, &String), &f64)| {
            Figure::new(id, X, found * value.scale).cpu(cpu)
        };
        let mut figures: Vec<Figure> = values.map(figure).collect();
        let waited = sample.send_wait.iter();
        figures.extend(waited.map(|share| Figure::new(&self.wait, X, share * 100.0)));
        figures
    }
}

/// A row in one mode.
struct Run {
    mode: RunMode,
    row: Rc<Planned>,
}

impl Method for Run {
    fn name(&self) -> String {
        self.mode.name()
    }

    fn kind(&self) -> Kind {
        match self.mode {
            // In the row with a single mode, the program is `mgn` itself, which is ours.
            RunMode::Direct if self.row.row.modes.len() > 1 => Kind::Limit,
            _ => Kind::Ours,
        }
    }

    fn command(&self) -> String {
        Argv::new(["mgn", "bench", "programs", "--only", self.row.row.name]).to_string()
    }

    fn missing(&self) -> Option<String> {
        let xvfb = find_xvfb().is_none();
        let xvfb = xvfb.then(|| "Xvfb is not installed".to_string());
        xvfb.or_else(|| self.row.words().as_ref().err().cloned())
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let words = self
            .row
            .words()
            .as_ref()
            .map_err(|why| anyhow::anyhow!("{why}"))?;
        let Row {
            program, is_cold, ..
        } = &self.row.row;
        let servers = self.row.shared.servers()?;
        let sample = servers.run(self.mode, &program.result_kind, words, *is_cold)?;
        Ok(self.row.figures(&sample))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::goals::{Quantity, Target};

    fn planned(is_quick: bool) -> Vec<Experiment> {
        let options = BenchOptions::of_nowhere(is_quick);
        plan(&options).unwrap()
    }

    fn of<'e>(experiments: &'e [Experiment], name: &str) -> &'e Experiment {
        let key = format!("programs {name}");
        experiments
            .iter()
            .find(|experiment| experiment.key == key)
            .unwrap()
    }

    #[test]
    fn rows_have_plots_of_their_own() {
        for row in all() {
            assert_eq!(
                row.values.len(),
                row.program.result_kind.count(),
                "{}",
                row.name
            );
            let wanted = row.values.iter().flat_map(|value| value.wanted);
            for (mode, _) in wanted {
                assert!(row.modes.contains(mode), "{}: {}", row.name, mode.name());
            }
        }
        let (mut keys, mut ids) = (HashSet::new(), HashSet::new());
        for experiment in planned(false) {
            assert!(
                keys.insert(experiment.key.clone()),
                "{} is there twice",
                experiment.key
            );
            for plot in &experiment.plots {
                assert!(ids.insert(plot.id.clone()), "{} is there twice", plot.id);
            }
        }
        let quick: Vec<String> = planned(true).into_iter().map(|one| one.key).collect();
        assert!(quick.len() < keys.len() && quick.iter().all(|key| keys.contains(key)));
    }

    #[test]
    fn modes_are_compared_with_the_first_one() {
        let experiments = planned(false);
        let immediate = &of(&experiments, "iso_demo --cull, immediate").goals;
        let targets: Vec<(&str, Option<Target>)> = immediate
            .iter()
            .map(|goal| (&goal.method[..], goal.target))
            .collect();
        let least = |ratio| Some(Target::AtLeast(ratio));
        let expected = [
            ("null", least(4.0)),
            ("discard, shm", None),
            ("discard, shm", least(0.9)),
            ("shm", least(3.0)),
            ("shm", least(1.0)),
            ("tcp", least(1.5)),
        ];
        assert_eq!(targets, expected);
        let others: Vec<&str> = immediate.iter().map(|goal| &goal.others[0][..]).collect();
        assert_eq!(
            others,
            ["direct", "direct", "null", "direct", "tcp", "direct"]
        );
        // The goals for a start are a ratio without a target, and a difference with a target.
        for name in ["start, one frame", "start, empty caches"] {
            let goals = of(&experiments, name).goals.iter();
            let own: Vec<_> = goals.filter(|goal| goal.method == "own server").collect();
            assert_eq!((own.len(), own[0].target), (2, None));
            assert_eq!(own[1].quantity, Quantity::Difference);
            assert_eq!(own[1].target, Some(Target::AtMost(200.0)));
        }
        let version = &of(&experiments, "mgn --version").goals;
        assert_eq!(
            (version.len(), version[0].target),
            (1, Some(Target::AtMost(10.0)))
        );
    }

    #[test]
    fn figures_have_the_units_of_their_plots() {
        let experiments = planned(true);
        let static_one = of(&experiments, "iso_demo --cull, static");
        let row = all()
            .into_iter()
            .find(|row| static_one.key.ends_with(row.name))
            .unwrap();
        let shared = Rc::new(SharedServers {
            mgn: PathBuf::new(),
            files: Rc::new(PeerPrograms::new(PathBuf::new())),
            servers: RefCell::default(),
        });
        let planned = Planned {
            ids: vec![static_one.plots[0].id.clone()],
            wait: static_one.plots[1].id.clone(),
            more: &[],
            row,
            words: OnceCell::new(),
            shared,
        };
        let mut sample = Sample {
            values: vec![48.5e6],
            program_cpu: 2.5,
            server_cpu: 0.5,
            send_wait: Some(0.25),
        };
        let figures = planned.figures(&sample);
        assert_eq!((figures[0].value, figures[0].cpu), (48.5, Some([2.5, 0.5])));
        assert_eq!((&figures[1].plot, figures[1].value), (&planned.wait, 25.0));
        // Direct rendering sends no commands.
        sample.send_wait = None;
        assert_eq!(planned.figures(&sample).len(), 1);
    }

    #[test]
    fn what_is_missing_is_said() {
        let experiments = planned(false);
        let start = of(&experiments, "start, one frame");
        let why = start.methods[0].missing().unwrap();
        assert!(
            why.contains("rings is not in the same folder as mgn") || why.contains("Xvfb"),
            "{why}"
        );
        let command = start.methods[0].command();
        assert_eq!(command, "mgn bench programs --only 'start, one frame'");
    }
}
