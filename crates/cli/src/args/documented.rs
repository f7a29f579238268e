//! A test: `mgn` accepts every command line of the documentation. Commands in running text are only
//! checked for the names of their flags and subcommands.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;

use super::{with_long_np, Cli};

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let others = [
        "README.md",
        "SECURITY.md",
        "CONTRIBUTING.md",
        "ARCHITECTURE.md",
        "python/README.md",
    ];
    let mut pages: Vec<PathBuf> = others.iter().map(|page| root.join(page)).collect();
    let folders = ["docs", "docs/design"].map(|folder| std::fs::read_dir(root.join(folder)));
    let docs = folders.into_iter().flat_map(|folder| folder.unwrap());
    let docs = docs.map(|entry| entry.unwrap().path());
    pages.extend(docs.filter(|path| path.extension().is_some_and(|kind| kind == "md")));
    pages.sort();
    pages
}

/// The lines of a page's blocks of code. Lines that end with a backslash are joined.
fn code(page: &str) -> Vec<String> {
    let mut is_code = false;
    let mut lines: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if is_code || line.starts_with("    ") {
            let (line, next) = match line.strip_suffix('\\') {
                Some(line) => (line, true),
                None => (line, false),
            };
            match lines.last_mut().filter(|_| goes_on) {
                Some(last) => last.push_str(line),
                None => lines.push(line.to_owned()),
            }
            goes_on = next;
        }
    }
    lines
}

/// Commands that are named in a page's text.
fn named(page: &str) -> Vec<String> {
    let text: Vec<&str> = page.split("```").step_by(2).collect();
    let text = text.concat();
    let spans = text.split('`').skip(1).step_by(2);
    spans
        // A setting of a wall file, and the beginning of a debug group's name.
        .filter(|span| !span.starts_with("mgn =") && !span.starts_with("mgn bounds"))
        .filter(|span| span.starts_with("mgn "))
        .map(|span| span.replace('\n', " "))
        .collect()
}

/// Splits a line into commands of words, as a shell does: quotes, comments, and the signs between
/// commands.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let end = |word: &mut Option<String>, commands: &mut Vec<Vec<String>>, is_last: bool| {
        if let (Some(word), Some(command)) = (word.take(), commands.last_mut()) {
            command.push(word);
        }
        if is_last {
            commands.push(Vec::new());
        }
    };
    for sign in line.chars() {
        match (quote, sign) {
            (Some(open), sign) if sign == open => quote = None,
            (Some(_), sign) => word.get_or_insert_default().push(sign),
            (None, '\'' | '"') => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, '&' | ';' | '|' | '(' | ')' | '>' | '<') => end(&mut word, &mut commands, true),
            (None, sign) if sign.is_whitespace() => end(&mut word, &mut commands, false),
            (None, sign) => word.get_or_insert_default().push(sign),
        }
    }
    end(&mut word, &mut commands, false);
    commands
}

/// The words from `mgn` on, if a command runs it: at its beginning, behind variables, or behind
/// another program that starts it.
fn of_mgn(command: &[String]) -> Option<&[String]> {
    let is_mgn = |word: &String| word == "mgn" || word.ends_with("/mgn");
    let at = command.iter().position(is_mgn)?;
    let starters = ["sudo", "ssh", "mpirun", "mpiexec", "srun", "env", "time"];
    let is_started = command[..at]
        .iter()
        .find(|word| !word.contains('='))
        .is_none_or(|first| starters.contains(&first.as_str()));
    // Usage lines contain words in brackets.
    let is_usage = command.iter().any(|word| word.starts_with('['));
    (is_started && !is_usage).then_some(&command[at..])
}

#[test]
fn command_lines_of_the_documentation_are_accepted() {
    let mut found = 0;
    let mut wrong = Vec::new();
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        let named = named(&page).into_iter().map(|line| (line, true));
        let code = code(&page).into_iter().map(|line| (line, false));
        for (line, is_named) in code.chain(named) {
            for command in commands(&line) {
                let Some(command) = of_mgn(&command) else {
                    continue;
                };
                found += 1;
                let words: Vec<OsString> = command.iter().map(OsString::from).collect();
                if let Err(error) = Cli::from_words(&with_long_np(words)) {
                    // Running text may name a flag without the other required arguments. The stage
                    // `pace` is the example that readers of docs/spu.md write.
                    let is_readers = command.iter().any(|word| word.starts_with("pace:"));
                    let is_part = !matches!(
                        error.kind(),
                        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand
                    );
                    if is_named && is_part || is_readers || error.exit_code() == 0 {
                        continue;
                    }
                    let name = path.file_name().unwrap().to_string_lossy();
                    wrong.push(format!("{name}: {}\n{error}", command.join(" ")));
                }
            }
        }
    }
    assert!(found > 100, "only {found} command lines were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lines_are_split_as_shells_do() {
    let line = "MGN_LOG=debug mgn run --spu 'print --only gl' -- prog \"a b\" # says";
    let words = commands(line).remove(0);
    let command = of_mgn(&words).unwrap();
    assert_eq!(
        command,
        [
            "mgn",
            "run",
            "--spu",
            "print --only gl",
            "--",
            "prog",
            "a b"
        ]
    );
    let line = "cat mgn && mpirun -n 2 mgn run prog | head; echo mgn";
    let all = commands(line);
    let found: Vec<_> = all.iter().filter_map(|command| of_mgn(command)).collect();
    assert_eq!(found, [["mgn", "run", "prog"]]);
    assert_eq!(code("x\n```\na \\\n  b\n```\nc"), ["a   b"]);
}
