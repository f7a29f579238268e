//! Chains by name: the SPUs, their parameters, and a chain of them before the renderer.

use mgn_wire::Commands;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Every SPU that a chain can name.
pub const SPUS: &[Spu] = &[
    crate::ends::BROADCAST,
    crate::discard::SPU,
    crate::histogram::SPU,
    crate::nop::SPU,
    crate::ends::PACK,
    #[cfg(test)]
    crate::pace::SPU,
    crate::perf::SPU,
    crate::print::SPU,
    crate::ends::RENDER,
    crate::save::SPU,
    crate::ends::TILESORT,
    crate::wireframe::SPU,
];

/// Their names.
pub const NAMES: &[&str] = &{
    let mut names = [""; SPUS.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = SPUS[i].name;
        i += 1;
    }
    names
};

/// Whether that parameter of an SPU is a file or a folder.
pub fn is_path(spu: &str, parameter: &str) -> bool {
    let spu = SPUS.iter().find(|known| known.name == spu);
    let mut parameters = spu.iter().flat_map(|spu| spu.parameters);
    parameters.any(|p| p.name == parameter && matches!(p.kind, Kind::File | Kind::Folder))
}

/// What a chain needs to know about an SPU.
pub struct Spu {
    pub name: &'static str,
    /// What it does, as half a sentence.
    pub about: &'static str,
    pub does: Does,
    pub parameters: &'static [Parameter],
    /// Makes the stage before `next`. The parameters have been checked.
    pub build: fn(&Given<'_>, &StageContext, Box<dyn Commands>) -> Built,
}

/// What an SPU does with the commands that pass through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// It passes everything on unchanged.
    Look,
    /// It changes what it passes on, and needs no answers.
    Change,
    /// It needs the renderer's answers, which only a stage in the server gets.
    Ask,
    /// It is the end of the chain, and answers nothing.
    End,
    /// It is the end of a chain in front of a renderer.
    Render,
    /// It is the end of a chain in a program's process.
    Send(Sending),
}

/// Where commands go from a program's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sending {
    /// To the only renderer.
    ToOne,
    /// Draws go to the tiles that they touch.
    Sorted,
    /// Everything goes to all.
    ToAll,
}

/// A stage that passes commands on, or why there is none.
pub type Built = Result<Box<dyn Commands>, SpuError>;

/// A parameter of an SPU.
pub struct Parameter {
    pub name: &'static str,
    pub kind: Kind,
    /// None if the parameter must be given; empty if it has no value by default.
    pub default: Option<&'static str>,
    pub about: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number from 1 on.
    Count,
    /// A file that is written, one for each session.
    File,
    /// A folder that is written to, one for each session.
    Folder,
    OneOf(&'static [&'static str]),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Count => write!(f, "a whole number of at least 1"),
            Kind::File => write!(f, "a file"),
            Kind::Folder => write!(f, "a folder"),
            Kind::OneOf(words) => write!(f, "{}", words.join(" or ")),
        }
    }
}

/// The session for which a stage is made.
#[derive(Debug, Clone, Copy)]
pub struct StageContext {
    /// The session's number, from 1 on.
    pub session: u64,
}

/// One sentence each, for the person who named the chain.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpuError {
    #[error("there is no SPU {0:?}; the SPUs are {names}", names = NAMES.join(", "))]
    NoSuchSpu(String),
    #[error("there is no stage replicate; to show one program on several walls or viewers, repeat --wall or --viewer, or give a wall replicas")]
    Replicate,
    #[error("there is no stage {0}; `mgn run --composite` reads back and merges the pictures of several programs")]
    Composite(String),
    #[error("{spu} has no parameter {name:?}; {possible}")]
    NoSuchParameter {
        spu: &'static str,
        name: String,
        possible: String,
    },
    #[error("{spu} is given {name} twice")]
    Repeated { spu: &'static str, name: String },
    #[error("{spu} needs {name}: {spu}:{name}=…, {kind}")]
    Missing {
        spu: &'static str,
        name: &'static str,
        kind: Kind,
    },
    #[error("{name}={value} of {spu} is not {kind}")]
    BadValue {
        spu: &'static str,
        name: &'static str,
        value: String,
        kind: Kind,
    },
    #[error("{spu} cannot write {path}: {source}")]
    Unwritable {
        spu: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{end} must be the last stage of a chain; {name} cannot follow it")]
    NotTheEnd { end: String, name: String },
    #[error(
        "{0} ends a chain in the server: use it with --spu or chain, not in the program's process"
    )]
    BesideRenderer(String),
    #[error(
        "{0} determines where a program's commands are sent: use it with --client-spu or client_chain"
    )]
    InProgram(String),
    #[error("{0} needs the renderer's answers, so it works only in the server: use it with --spu or chain")]
    NeedsAnswers(String),
    #[error("stages of a client_chain must not write files; leave out {name} of {spu}, or use the stage with `mgn run --client-spu`")]
    WritesFiles { spu: String, name: String },
    #[error("pack sends to one renderer, and this wall has {0}; use tilesort (each draw goes to the tiles that it touches) or broadcast (everything goes to all tiles)")]
    OneRenderer(usize),
    #[error("nop does not answer, so no program can run with it; use it with `mgn replay`, or use discard, which answers and draws nothing")]
    NothingAnswers,
}

impl SpuError {
    /// The parameter that was given and is at fault, if there is one.
    pub fn parameter(&self) -> Option<&str> {
        match self {
            SpuError::NoSuchParameter { name, .. }
            | SpuError::Repeated { name, .. }
            | SpuError::WritesFiles { name, .. } => Some(name),
            SpuError::BadValue { name, .. } => Some(name),
            _ => None,
        }
    }
}

fn list(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// A stage of a chain: `NAME[:key=value[,key=value]…]`. Parsing checks everything except whether
/// files can be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    name: String,
    parameters: Vec<(String, String)>,
}

impl FromStr for Stage {
    type Err = SpuError;

    fn from_str(text: &str) -> Result<Stage, SpuError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let pairs = rest.split(',').filter(|pair| !pair.is_empty());
        let pair = |pair: &str| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (key.to_owned(), value.to_owned())
        };
        let stage = Stage {
            name: name.to_owned(),
            parameters: pairs.map(pair).collect(),
        };
        stage.given()?;
        Ok(stage)
    }
}

/// In the form that is parsed.
impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        for (i, (key, value)) in self.parameters.iter().enumerate() {
            write!(f, "{}{key}={value}", if i == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

impl Stage {
    fn does(&self) -> Option<Does> {
        let spu = SPUS.iter().find(|spu| spu.name == self.name);
        spu.map(|spu| spu.does)
    }

    /// Whether no stage can follow it.
    fn is_end(&self) -> bool {
        matches!(self.does(), Some(Does::End | Does::Render | Does::Send(_)))
    }

    /// Whether the stage can be used for the replay of a recording.
    ///
    /// # Errors
    /// [`SpuError::InProgram`].
    pub fn for_replay(&self) -> Result<(), SpuError> {
        match self.does() {
            Some(Does::Send(_)) => Err(SpuError::InProgram(self.name.clone())),
            _ => Ok(()),
        }
    }

    /// Whether the stage can be used in a server.
    ///
    /// # Errors
    /// Those of [`Stage::for_replay`], and [`SpuError::NothingAnswers`].
    pub fn for_server(&self) -> Result<(), SpuError> {
        match self.does() {
            Some(Does::End) => Err(SpuError::NothingAnswers),
            _ => self.for_replay(),
        }
    }

    /// Whether the stage can be used in a program's own process.
    ///
    /// # Errors
    /// [`SpuError::NeedsAnswers`], [`SpuError::BesideRenderer`], [`SpuError::NothingAnswers`].
    pub fn for_client(&self) -> Result<(), SpuError> {
        match self.does() {
            Some(Does::Ask) => Err(SpuError::NeedsAnswers(self.name.clone())),
            Some(Does::Render) => Err(SpuError::BesideRenderer(self.name.clone())),
            Some(Does::End) => Err(SpuError::NothingAnswers),
            _ => Ok(()),
        }
    }

    /// Whether the stage can run in a program's own process at the request of another party.
    ///
    /// # Errors
    /// Those of [`Stage::for_client`], and [`SpuError::WritesFiles`].
    pub fn for_client_of_others(&self) -> Result<(), SpuError> {
        self.for_client()?;
        let mut names = self.parameters.iter().map(|(name, _)| name);
        match names.find(|name| is_path(&self.name, name)) {
            None => Ok(()),
            Some(name) => Err(SpuError::WritesFiles {
                spu: self.name.clone(),
                name: name.clone(),
            }),
        }
    }

    /// The stage with absolute paths, which mean the same wherever it is built.
    ///
    /// # Errors
    /// If the current folder is not known.
    pub fn absolute(mut self) -> io::Result<Stage> {
        for (name, value) in &mut self.parameters {
            if is_path(&self.name, name) {
                *value = std::path::absolute(&value)?.display().to_string();
            }
        }
        Ok(self)
    }

    /// Its parameters, checked.
    fn given(&self) -> Result<Given<'_>, SpuError> {
        let spu = SPUS.iter().find(|spu| spu.name == self.name);
        let spu = spu.ok_or_else(|| match self.name.as_str() {
            "replicate" => SpuError::Replicate,
            "readback" | "composite" | "binaryswap" => SpuError::Composite(self.name.clone()),
            _ => SpuError::NoSuchSpu(self.name.clone()),
        })?;
        for (i, (name, _)) in self.parameters.iter().enumerate() {
            if !spu.parameters.iter().any(|p| p.name == name) {
                return Err(SpuError::NoSuchParameter {
                    spu: spu.name,
                    name: name.clone(),
                    possible: match spu.parameters {
                        [] => "it has none".into(),
                        all => format!("it has {}", list(all.iter().map(|p| p.name))),
                    },
                });
            }
            if self.parameters[..i].iter().any(|(other, _)| other == name) {
                return Err(SpuError::Repeated {
                    spu: spu.name,
                    name: name.clone(),
                });
            }
        }
        let given = Given { spu, stage: self };
        for parameter in spu.parameters {
            given.check(parameter)?;
        }
        Ok(given)
    }
}

/// The parameters of a stage's SPU: the given ones, and defaults for the rest.
pub struct Given<'a> {
    spu: &'static Spu,
    stage: &'a Stage,
}

impl Given<'_> {
    fn check(&self, parameter: &Parameter) -> Result<(), SpuError> {
        let (spu, name, kind) = (self.spu.name, parameter.name, parameter.kind);
        let Some(value) = self.explicit(name) else {
            return match parameter.default {
                Some(_) => Ok(()),
                None => Err(SpuError::Missing { spu, name, kind }),
            };
        };
        let is_good = match kind {
            Kind::Count => value.parse::<u64>().is_ok_and(|n| n > 0),
            Kind::File | Kind::Folder => !value.is_empty(),
            Kind::OneOf(words) => words.contains(&value),
        };
        if is_good {
            return Ok(());
        }
        Err(SpuError::BadValue {
            spu,
            name,
            value: value.to_owned(),
            kind,
        })
    }

    /// Checks whether files can be written, by creating them.
    fn try_files(&self) -> Result<(), SpuError> {
        for parameter in self.spu.parameters {
            let Some(path) = self.explicit(parameter.name).map(Path::new) else {
                continue;
            };
            let tried = match parameter.kind {
                Kind::File => File::options()
                    .create(true)
                    .append(true)
                    .open(path)
                    .map(drop),
                Kind::Folder => fs::create_dir_all(path),
                _ => Ok(()),
            };
            tried.map_err(|source| self.unwritable(path, source))?;
        }
        Ok(())
    }

    pub(crate) fn unwritable(&self, path: &Path, source: io::Error) -> SpuError {
        SpuError::Unwritable {
            spu: self.spu.name,
            path: path.to_owned(),
            source,
        }
    }

    fn explicit(&self, name: &str) -> Option<&str> {
        let mut all = self.stage.parameters.iter();
        all.find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    /// A parameter as it was written; empty if it has no value.
    ///
    /// # Panics
    /// If the SPU has not declared it.
    pub fn text(&self, name: &str) -> &str {
        let mut declared = self.spu.parameters.iter();
        let declared = declared.find(|p| p.name == name);
        let default = declared
            .expect("a stage asks for what it has declared")
            .default;
        self.explicit(name).or(default).unwrap_or_default()
    }

    /// A `Kind::Count`; 0 if it has no value.
    pub fn count(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap_or(0)
    }

    /// The path of a `Kind::File` or `Kind::Folder`. The first session gets it as given. For other
    /// sessions, the session's number is appended to its stem.
    pub fn path(&self, name: &str, context: &StageContext) -> PathBuf {
        let path = PathBuf::from(self.text(name));
        let Some(stem) = path.file_stem().filter(|_| context.session > 1) else {
            return path;
        };
        let mut file = stem.to_owned();
        file.push(format!("-{}", context.session));
        if let Some(extension) = path.extension() {
            file.push(".");
            file.push(extension);
        }
        path.with_file_name(file)
    }

    /// Creates the `Kind::File` of that name, empty. Returns standard error if it has no value.
    ///
    /// # Errors
    /// [`SpuError::Unwritable`].
    pub fn output(&self, name: &str, context: &StageContext) -> Result<Box<dyn Write>, SpuError> {
        if self.text(name).is_empty() {
            return Ok(Box::new(io::stderr()));
        }
        let path = self.path(name, context);
        let file = File::create(&path).map_err(|source| self.unwritable(&path, source))?;
        Ok(Box::new(file))
    }

    /// Returns the `Kind::Folder` of that name, and creates it if it is missing.
    ///
    /// # Errors
    /// [`SpuError::Unwritable`].
    pub fn folder(&self, name: &str, context: &StageContext) -> Result<PathBuf, SpuError> {
        let path = self.path(name, context);
        fs::create_dir_all(&path).map_err(|source| self.unwritable(&path, source))?;
        Ok(path)
    }
}

/// Stages in the order in which commands pass them. After the last one comes the renderer, or the
/// connection to one, unless the last one is `nop`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain(Vec<Stage>);

impl Chain {
    /// # Errors
    /// If something follows an end, or a file cannot be written. All files are created here, so
    /// that an error shows now rather than after an hour.
    pub fn new(stages: Vec<Stage>) -> Result<Chain, SpuError> {
        for pair in stages.windows(2) {
            if pair[0].is_end() {
                return Err(SpuError::NotTheEnd {
                    end: pair[0].name.clone(),
                    name: pair[1].name.clone(),
                });
            }
        }
        for stage in &stages {
            stage.given()?.try_files()?;
        }
        Ok(Chain(stages))
    }

    /// Like `new`, for the replay of a recording.
    ///
    /// # Errors
    /// Also those of [`Stage::for_replay`].
    pub fn on_replay(stages: Vec<Stage>) -> Result<Chain, SpuError> {
        stages.iter().try_for_each(Stage::for_replay)?;
        Chain::new(stages)
    }

    /// Like `new`, in a server, whose programs need answers.
    ///
    /// # Errors
    /// Also those of [`Stage::for_server`].
    pub fn on_server(stages: Vec<Stage>) -> Result<Chain, SpuError> {
        let chain = Chain::new(stages)?;
        chain.0.iter().try_for_each(Stage::for_server)?;
        Ok(chain)
    }

    /// Like `new`, in a program's own process.
    ///
    /// # Errors
    /// Also those of [`Stage::for_client`].
    pub fn on_client(stages: Vec<Stage>) -> Result<Chain, SpuError> {
        stages.iter().try_for_each(Stage::for_client)?;
        Chain::new(stages)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The folders in which its stages create files and folders, for any session.
    pub fn folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        for stage in &self.0 {
            for (name, value) in &stage.parameters {
                let parent = Path::new(value).parent();
                let parent = parent.filter(|_| is_path(&stage.name, name));
                folders.extend(parent.map(|parent| Path::new(".").join(parent)));
            }
        }
        folders
    }

    /// Whether commands leave it as they came.
    fn changes_nothing(&self) -> bool {
        let changes = |stage: &Stage| matches!(stage.does(), Some(Does::Change | Does::Ask));
        !self.0.iter().any(changes)
    }

    /// Whether it ends in `nop`, so that it needs no renderer.
    pub fn is_cut(&self) -> bool {
        self.end() == Some(Does::End)
    }

    /// Whether any stage comes before its end.
    pub fn has_stages(&self) -> bool {
        self.0.iter().any(|stage| !stage.is_end())
    }

    /// Whether draws that leave it can be sent only to the tiles that they touch. This requires
    /// that no stage changes commands, and that the end sorts.
    pub fn sorts(&self) -> bool {
        self.changes_nothing() && self.sending().is_none_or(|way| way == Sending::Sorted)
    }

    fn sending(&self) -> Option<Sending> {
        match self.end() {
            Some(Does::Send(sending)) => Some(sending),
            _ => None,
        }
    }

    /// Whether it can send to this number of renderers.
    ///
    /// # Errors
    /// [`SpuError::OneRenderer`].
    pub fn fits(&self, renderers: usize) -> Result<(), SpuError> {
        match self.sending() {
            Some(Sending::ToOne) if renderers > 1 => Err(SpuError::OneRenderer(renderers)),
            _ => Ok(()),
        }
    }

    fn end(&self) -> Option<Does> {
        self.0.last().and_then(Stage::does)
    }

    /// The chain's first stage, followed by all others and `last`.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn build(&self, context: &StageContext, last: Box<dyn Commands>) -> Built {
        self.0.iter().rev().try_fold(last, |next, stage| {
            let given = stage.given()?;
            (given.spu.build)(&given, context, next)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// The stage that the guide describes does what the guide says.
    #[test]
    fn the_guides_example_waits_before_each_frame() {
        let stage = |text: &str| text.parse::<Stage>();
        let chain = Chain::on_server(vec![stage("pace:ms=40").unwrap()]).unwrap();
        let context = StageContext { session: 1 };
        let mut pace = chain.build(&context, Box::<crate::Nop>::default()).unwrap();
        let start = Instant::now();
        pace.mgn_flush().unwrap();
        assert!(pace.mgn_swap_buffers(1, 1, 0).is_ok());
        assert!(pace.mgn_swap_buffers(1, 2, 0).is_ok());
        assert!(start.elapsed() >= Duration::from_millis(80));
        let refused = stage("pace:ms=soon").unwrap_err().to_string();
        assert_eq!(
            refused,
            "ms=soon of pace is not a whole number of at least 1"
        );
        assert!(Chain::on_client(vec![stage("pace").unwrap()]).is_ok());
    }
}
