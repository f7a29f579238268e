//! Parsers for lists of hosts: hostfiles and Slurm's node lists.

use std::path::Path;

use crate::Error;

/// The maximum number of processes in a job. A list with more processes is treated as a mistake.
pub(super) const RANKS_MAX: usize = 1 << 20;

/// The longest name of a host.
const HOST_MAX: usize = 255;

/// The maximum number of names in a Slurm node list. A short text can stand for very many names.
const NODES_MAX: usize = 1 << 17;

/// The maximum number of digits of a number in a node list, with leading zeros.
const DIGITS_MAX: usize = 20;

/// Parses a hostfile, and returns the host of each rank. The lines are `host` or `host slots=N`, in
/// the order of ranks. A `#` begins a comment.
///
/// # Errors
/// [`Error::Hostfile`] with the line.
pub fn hostfile(path: &Path, text: &str) -> Result<Vec<String>, Error> {
    let mut hosts: Vec<String> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let wrong = |why: String| Error::Hostfile {
            path: path.into(),
            line: at + 1,
            why,
        };
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let Some(host) = words.next() else {
            continue;
        };
        if !is_host(host) {
            return Err(wrong(format!("{host:?} is not a valid host name")));
        }
        let mut slots = 1;
        for word in words {
            let Some(count) = word.strip_prefix("slots=") else {
                return Err(wrong(format!(
                    "{word:?} is not understood; write host slots=N"
                )));
            };
            slots = count
                .parse()
                .ok()
                .filter(|slots| *slots > 0)
                .ok_or_else(|| wrong(format!("{count:?} is not a number of slots")))?;
        }
        if slots > RANKS_MAX - hosts.len() {
            return Err(wrong(format!("a job has at most {RANKS_MAX} processes")));
        }
        hosts.extend(std::iter::repeat_n(host.to_string(), slots));
    }
    if hosts.is_empty() {
        return Err(Error::Hostfile {
            path: path.into(),
            line: text.lines().count().max(1),
            why: "the file names no host".into(),
        });
    }
    Ok(hosts)
}

/// Whether the word is a name or address. Words that look like options or patterns are not.
fn is_host(word: &str) -> bool {
    word.len() <= HOST_MAX && !word.starts_with('-') && word.chars().all(is_of_host)
}

fn is_of_host(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.:%".contains(c)
}

/// The hosts of a Slurm node list such as `node[1-3,07],login`.
///
/// # Errors
/// [`Error::Job`].
pub fn nodelist(text: &str) -> Result<Vec<String>, Error> {
    let wrong = |why: &str| Error::Job(format!("the list of nodes {text:?}: {why}"));
    let mut hosts = Vec::new();
    for item in outside_brackets(text).ok_or_else(|| wrong("its brackets do not match"))? {
        if item.is_empty() {
            return Err(wrong("a name is empty"));
        }
        // Each part in brackets multiplies the names before it.
        let (mut names, mut longest) = (vec![String::new()], 0);
        let mut rest = item;
        while let Some((before, after)) = rest.split_once('[') {
            let (inner, after) = after
                .split_once(']')
                .ok_or_else(|| wrong("its brackets do not match"))?;
            let numbers = ranges(inner).map_err(|why| wrong(&why))?;
            // Check this before the names multiply, because the result might not fit in memory.
            let digits = numbers.iter().map(String::len).max().unwrap_or(0);
            longest += before.len() + digits;
            if longest > HOST_MAX || !before.chars().all(is_of_host) {
                return Err(wrong("it has a part that is not a valid host name"));
            }
            if names.len() * numbers.len() > NODES_MAX {
                return Err(wrong(&too_long()));
            }
            names = names
                .iter()
                .flat_map(|name| numbers.iter().map(move |n| format!("{name}{before}{n}")))
                .collect();
            rest = after;
        }
        for name in &mut names {
            name.push_str(rest);
            if !is_host(name) {
                return Err(wrong("it has a part that is not a valid host name"));
            }
        }
        if names.len() > NODES_MAX - hosts.len() {
            return Err(wrong(&too_long()));
        }
        hosts.append(&mut names);
    }
    Ok(hosts)
}

fn too_long() -> String {
    format!("it has more than {NODES_MAX} names")
}

/// The parts between the commas outside brackets. Returns `None` if brackets do not match.
fn outside_brackets(text: &str) -> Option<Vec<&str>> {
    let (mut parts, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '[' if !inside => inside = true,
            ']' if inside => inside = false,
            '[' | ']' => return None,
            ',' if !inside => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    (!inside).then_some(parts)
}

/// The numbers of a list such as `1-3,07`, with their leading zeros.
fn ranges(text: &str) -> Result<Vec<String>, String> {
    let no_list = || "the text in brackets is not a list of numbers".to_string();
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let from = number(first).ok_or_else(no_list)?;
        let to = number(last).ok_or_else(no_list)?;
        let count = to.checked_sub(from).ok_or_else(no_list)?;
        if count >= NODES_MAX - numbers.len() {
            return Err(too_long());
        }
        let width = first.len();
        if width > DIGITS_MAX {
            return Err(no_list());
        }
        numbers.extend((from..=to).map(|n| format!("{n:0width$}")));
    }
    Ok(numbers)
}

fn number(digits: &str) -> Option<usize> {
    let plain = (1..=18).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

/// The number of tasks of each node, from a list such as `2(x3),1`.
///
/// # Errors
/// [`Error::Job`].
pub(super) fn tasks_per_node(text: &str) -> Result<Vec<usize>, Error> {
    let mut tasks = Vec::new();
    for part in text.split(',') {
        let (count, times) = match part.split_once("(x") {
            Some((count, times)) => (number(count), times.strip_suffix(')').and_then(number)),
            None => (number(part), Some(1)),
        };
        let (Some(count), Some(times)) = (count, times) else {
            return Err(Error::Job(format!(
                "{text:?} is not a list of tasks per node"
            )));
        };
        if times > RANKS_MAX - tasks.len() || count > RANKS_MAX {
            return Err(Error::Job(format!("{text:?} has too many tasks")));
        }
        tasks.extend(std::iter::repeat_n(count, times));
    }
    Ok(tasks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    fn read(text: &str) -> Result<Vec<String>, Error> {
        hostfile(Path::new("hosts"), text)
    }

    #[test]
    fn hostfiles() {
        let text = "# the cluster\n\na slots=2   # two\n  b\n[::1]\n";
        let message = read(text).unwrap_err().to_string();
        assert!(message.starts_with("hosts:5: \"[::1]\""), "{message}");
        let text = "# the cluster\n\na slots=2   # two\n  b\r\n::1 slots=1\n";
        assert_eq!(read(text).unwrap(), ["a", "a", "b", "::1"]);
        for (text, place) in [
            ("", "hosts:1: "),
            ("#\n#\n", "hosts:2: "),
            ("a\nb slots=0", "hosts:2: "),
            ("a\nb slots=x", "hosts:2: "),
            ("a\nb slots=-1", "hosts:2: "),
            ("a\nb\nc slots=99999999999999999999", "hosts:3: "),
            ("a slots=1048576\nb", "hosts:2: "),
            ("a max_slots=3", "hosts:1: "),
            ("a:é", "hosts:1: "),
            ("-x", "hosts:1: "),
        ] {
            let message = read(text).unwrap_err().to_string();
            assert!(message.starts_with(place), "{text:?}: {message}");
        }
    }

    #[test]
    fn nodelists() {
        for (text, hosts) in [
            ("one", &["one"][..]),
            ("node[1-3,7]", &["node1", "node2", "node3", "node7"]),
            ("n[08-10],m", &["n08", "n09", "n10", "m"]),
            ("r[1-2]n[0,2]x", &["r1n0x", "r1n2x", "r2n0x", "r2n2x"]),
        ] {
            assert_eq!(nodelist(text).unwrap(), hosts, "{text}");
        }
        for text in [
            "",
            ",",
            "a,",
            "a[",
            "a]",
            "a[]",
            "a[1",
            "a[1-]",
            "a[3-1]",
            "a[x]",
            "a[[1]]",
            "a[1]]",
            "a b",
            "a[0-9999999]",
            "a[0-999][0-999][0-999]",
            "a[1--2]",
            "a[99999999999999999999]",
            "a[000000000000000000000-1]",
            // Half a million names, which would be invalid in the end.
            "a[0-3107],b,c[0-2]d[0-3107][0-50] e",
            &format!("{}[0-99999]", "a".repeat(251)),
            &format!("{}[0-131072]", "a".repeat(70)),
            // Names that multiply in many small steps.
            "no31de[1,3,07]node[1,3,07]nodeZ0-31de[0,3,0-3107,0]de[1,3,017,0]3[7,8]x",
        ] {
            assert!(nodelist(text).is_err(), "{text}");
        }
    }

    #[test]
    fn tasks() {
        assert_eq!(tasks_per_node("2(x3),1").unwrap(), [2, 2, 2, 1]);
        assert_eq!(tasks_per_node("4").unwrap(), [4]);
        for text in ["", "x", "2(x", "2(x3", "2(3)", "1,", "1(x9999999999)"] {
            assert!(tasks_per_node(text).is_err(), "{text}");
        }
    }

    /// The parsers end for any bytes, and their results are bounded and consist of valid names.
    #[test]
    fn random_text() {
        let mut random = Random::new(7);
        let pieces = [
            "node", "[", "]", ",", "-", "1", "09", "3", "(x", ")", " slots=", "\n", "#", " ",
            "\u{e9}", "\0", "999999",
        ];
        for _ in 0..20_000 {
            let text: String = (0..random.below(12))
                .map(|_| pieces[random.below(pieces.len())])
                .collect();
            let bytes: Vec<u8> = (0..random.below(24)).map(|_| random.next() as u8).collect();
            for text in [text.as_str(), &String::from_utf8_lossy(&bytes)] {
                for hosts in [read(text), nodelist(text)].into_iter().flatten() {
                    assert!(!hosts.is_empty() && hosts.len() <= RANKS_MAX);
                    assert!(
                        hosts.iter().all(|host| is_host(host) && !host.is_empty()),
                        "{text:?}"
                    );
                }
                let _ = tasks_per_node(text);
            }
        }
    }
}
