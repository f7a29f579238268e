//! Compares two folders that should be equal: the output of direct rendering, and that of ours.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use crate::picture::{Picture, PixelDifference};

/// One thing that is not the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The file, and for a log the scene in it.
    pub what: String,
    pub kind: DifferenceKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DifferenceKind {
    Pixels(PixelDifference),
    /// Width and height.
    Size {
        direct: (usize, usize),
        ours: (usize, usize),
    },
    /// The first line that is another one.
    Text {
        line: usize,
        direct: String,
        ours: String,
    },
    /// Neither picture nor text.
    Bytes,
    OnlyDirect,
    OnlyOurs,
}

impl Difference {
    /// Whether only direct rendering left it.
    pub fn is_missing(&self) -> bool {
        self.kind == DifferenceKind::OnlyDirect
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.what)?;
        match &self.kind {
            DifferenceKind::Pixels(p) => write!(
                f,
                "{} pixels differ by up to {}; the first is at {},{}: {:?}, directly {:?}",
                p.count, p.largest, p.first.0, p.first.1, p.ours, p.direct
            ),
            DifferenceKind::Size { direct, ours } => write!(
                f,
                "its size is {}x{}, and {}x{} directly",
                ours.0, ours.1, direct.0, direct.1
            ),
            DifferenceKind::Text { line, direct, ours } => {
                write!(f, "line {line} is {ours:?}, and {direct:?} directly")
            }
            DifferenceKind::Bytes => write!(f, "its bytes differ"),
            DifferenceKind::OnlyDirect => write!(f, "is missing"),
            DifferenceKind::OnlyOurs => write!(f, "exists only in the run through the server"),
        }
    }
}

/// Compares all files of two folders byte for byte. Pictures that differ are kept in `failures`,
/// if that is given, with a mask of where: `NAME.direct.png`, `NAME.ours.png` and
/// `NAME.difference.png`. Logs are compared scene by scene: a line `== NAME` begins one.
///
/// # Errors
/// If a folder cannot be read, or one for failures not be written.
pub fn compare_folders(
    direct: &Path,
    ours: &Path,
    failures: Option<&Path>,
) -> io::Result<Vec<Difference>> {
    let (a, b) = (files(direct)?, files(ours)?);
    let mut found = Vec::new();
    for name in a
        .keys()
        .chain(b.keys().filter(|name| !a.contains_key(*name)))
    {
        let kind = match (a.get(name), b.get(name)) {
            (Some(a), Some(b)) if a == b => continue,
            (Some(a), Some(b)) if name.ends_with(".txt") => {
                found.extend(logs(name, a, b));
                continue;
            }
            (Some(_), Some(_)) => binary(name, direct, ours, failures)?,
            (Some(_), None) => DifferenceKind::OnlyDirect,
            (None, _) => DifferenceKind::OnlyOurs,
        };
        found.push(Difference {
            what: name.clone(),
            kind,
        });
    }
    Ok(found)
}

/// How two files of the name in both folders differ, which they do.
fn binary(
    name: &str,
    direct: &Path,
    ours: &Path,
    failures: Option<&Path>,
) -> io::Result<DifferenceKind> {
    let (Ok(a), Ok(b)) = (
        Picture::read(&direct.join(name)),
        Picture::read(&ours.join(name)),
    ) else {
        return Ok(DifferenceKind::Bytes);
    };
    let (direct, ours) = ((a.width, a.height), (b.width, b.height));
    let kind = match a.difference(&b) {
        Some(pixels) => DifferenceKind::Pixels(pixels),
        None if direct != ours => DifferenceKind::Size { direct, ours },
        None => return Ok(DifferenceKind::Bytes),
    };
    if let Some(failures) = failures {
        keep(failures, name, &a, &b)?;
    }
    Ok(kind)
}

fn files(folder: &Path) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.path().is_file() {
            let name = entry.file_name().to_string_lossy().into_owned();
            files.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(files)
}

fn logs(name: &str, direct: &[u8], ours: &[u8]) -> Vec<Difference> {
    let (a, b) = (scenes(direct), scenes(ours));
    let mut found = Vec::new();
    for (scene, _) in a
        .iter()
        .chain(b.iter().filter(|(s, _)| !a.contains_key(*s)))
    {
        let what = if scene.is_empty() {
            name.to_owned()
        } else {
            format!("{name}#{scene}")
        };
        let kind = match (a.get(scene), b.get(scene)) {
            (Some(a), Some(b)) if a == b => continue,
            (Some(a), Some(b)) => first_line(a, b),
            (Some(_), None) => DifferenceKind::OnlyDirect,
            _ => DifferenceKind::OnlyOurs,
        };
        found.push(Difference { what, kind });
    }
    found
}

fn scenes(log: &[u8]) -> BTreeMap<String, Vec<String>> {
    let mut scenes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut current = String::new();
    for line in String::from_utf8_lossy(log).lines() {
        if let Some(name) = line.strip_prefix("== ") {
            current = name.to_owned();
        }
        scenes
            .entry(current.clone())
            .or_default()
            .push(line.to_owned());
    }
    scenes
}

fn first_line(direct: &[String], ours: &[String]) -> DifferenceKind {
    let at = direct.iter().zip(ours).take_while(|(a, b)| a == b).count();
    let line = |lines: &[String]| lines.get(at).cloned().unwrap_or_else(|| "(the end)".into());
    DifferenceKind::Text {
        line: at + 1,
        direct: line(direct),
        ours: line(ours),
    }
}

fn keep(failures: &Path, name: &str, direct: &Picture, ours: &Picture) -> io::Result<()> {
    fs::create_dir_all(failures)?;
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let mask = direct.mask(ours);
    for (kind, picture) in [("direct", direct), ("ours", ours), ("difference", &mask)] {
        picture.write_png(&failures.join(format!("{stem}.{kind}.png")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_launch::RunDir;

    #[test]
    fn finds_every_kind() {
        let run = RunDir::create().unwrap();
        let (a, b) = (run.join("a"), run.join("b"));
        let write = |folder: &Path, name: &str, bytes: &[u8]| {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join(name), bytes).unwrap();
        };
        write(&a, "same.ppm", b"P6\n1 1\n255\nabc");
        write(&b, "same.ppm", b"P6\n1 1\n255\nabc");
        write(&a, "other.ppm", b"P6\n1 1\n255\nabc");
        write(&b, "other.ppm", b"P6\n1 1\n255\nabe");
        write(&a, "log.txt", b"== one\n1\n== two\n2\n");
        write(&b, "log.txt", b"== one\n1\n== two\n3\n4\n== three\n");
        write(&a, "wide.ppm", b"P6\n2 1\n255\nabcdef");
        write(&b, "wide.ppm", b"P6\n1 2\n255\nabcdef");
        write(&a, "gone.ppm", b"");
        write(&b, "new.ppm", b"");
        let found = compare_folders(&a, &b, Some(&run.join("failures"))).unwrap();
        let lines: Vec<String> = found.iter().map(Difference::to_string).collect();
        assert_eq!(
            lines,
            [
                "gone.ppm: is missing",
                "log.txt#two: line 2 is \"3\", and \"2\" directly",
                "log.txt#three: exists only in the run through the server",
                "other.ppm: 1 pixels differ by up to 2; the first is at 0,0: [97, 98, 101], directly [97, 98, 99]",
                "wide.ppm: its size is 1x2, and 2x1 directly",
                "new.ppm: exists only in the run through the server",
            ]
        );
        assert!(run.join("failures/other.difference.png").exists());
        assert!(compare_folders(&a, &a, None).unwrap().is_empty());
    }
}
