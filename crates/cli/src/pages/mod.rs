//! Manual pages and completions, from the definition of the command line, the schema of walls, and
//! the keys of settings.

mod completions;
mod examples;
mod literal;
mod settings;
mod walls;

use std::fs;
use std::path::Path;

use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use roff::{bold, roman, Roff};

use crate::args::{Cli, Pages};
use literal::literal_block;

/// Commands that read a file of walls.
const OF_WALLS: [&str; 7] = [
    "mgn-run",
    "mgn-verify",
    "mgn-viewer",
    "mgn-mothership",
    "mgn-config",
    "mgn-config-check",
    "mgn-config-show",
];

pub fn write(pages: &Pages) -> anyhow::Result<()> {
    for dir in [&pages.man, &pages.completions] {
        fs::create_dir_all(dir).with_context(|| format!("making {}", dir.display()))?;
    }
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    manual(&command, &pages.man)
        .and_then(|()| fs::write(pages.man.join("manganese-walls.5"), walls::page()))
        .and_then(|()| fs::write(pages.man.join("manganese-config.5"), settings::page()))
        .with_context(|| format!("writing manual pages into {}", pages.man.display()))?;
    completions::write(&Cli::command(), &pages.completions)
        .with_context(|| format!("writing completions into {}", pages.completions.display()))
}

/// The pages of a command and of its subcommands.
fn manual(command: &Command, folder: &Path) -> std::io::Result<()> {
    for below in command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
    {
        manual(below, folder)?;
    }
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render(&mut page)?;
    let page = String::from_utf8_lossy(&page).into_owned();
    let name = man.get_filename();
    let more = more(name.trim_end_matches(".1"));
    let page = match page.find(".SH VERSION") {
        Some(at) => format!("{}{more}{}", &page[..at], &page[at..]),
        None => page + &more,
    };
    fs::write(folder.join(name), page)
}

/// The sections that the definition of the command line does not contain: examples, and references.
fn more(name: &str) -> String {
    let mut page = Roff::new();
    let examples = examples::of(name);
    if !examples.is_empty() {
        page.control("SH", ["EXAMPLES"]);
        for (what, line) in examples {
            page.control("PP", []);
            page.text([roman(format!("{what}:"))]);
            literal_block(&mut page, line);
        }
    }
    page.control("SH", ["SEE ALSO"]);
    let mut also = Vec::new();
    also.extend((name != "mgn").then_some(("mgn", "1")));
    also.extend(
        ["mgn", "mgn-run", "mgn-info"]
            .contains(&name)
            .then_some(("manganese-config", "5")),
    );
    also.extend(OF_WALLS.contains(&name).then_some(("manganese-walls", "5")));
    for (page_name, section) in also {
        page.text([bold(page_name), roman(format!("({section}),"))]);
    }
    page.text([roman(
        "and the documentation in share/doc/manganese, in the installation prefix of mgn.",
    )]);
    page.to_roff()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    use crate::args::with_long_np;

    /// Adds all visible commands, with the file names of their pages.
    fn visible(command: &Command, name: &str, found: &mut Vec<(String, Command)>) {
        found.push((name.into(), command.clone()));
        for below in command
            .get_subcommands()
            .filter(|below| !below.is_hide_set())
        {
            visible(below, &format!("{name}-{}", below.get_name()), found);
        }
    }

    fn all() -> Vec<(String, Command)> {
        let mut found = Vec::new();
        visible(&Cli::command(), "mgn", &mut found);
        found
    }

    /// Each command has examples that use this command and that it accepts as they are.
    #[test]
    fn examples_are_taken() {
        use clap::Parser;
        for (name, _) in all() {
            let examples = examples::of(&name);
            assert!(!examples.is_empty(), "{name} has no examples");
            for (_, line) in examples {
                // The command that starts the processes of a job precedes the example.
                let line = line.strip_prefix("mpirun -np 4 ").unwrap_or(line);
                let line = line.trim_end_matches(" &");
                // Text in quotes is one word.
                let mut words = Vec::new();
                for (n, part) in line.split('\'').enumerate() {
                    match n % 2 {
                        0 => words.extend(part.split_whitespace()),
                        _ => words.push(part),
                    }
                }
                let starts = words.join("-").starts_with(&name);
                assert!(starts, "{line} is no example of {name}");
                let words = words.into_iter().map(OsString::from).collect();
                if let Err(error) = Cli::try_parse_from(with_long_np(words)) {
                    panic!("{line}\n{error}");
                }
            }
        }
    }

    /// The commands in the text of the documentation contain only known subcommands, flags and
    /// values, even if the text names a command only in part.
    #[test]
    fn commands_of_the_documentation_are_known() {
        use clap::{error::ErrorKind, Parser};
        // A setting, the text of a debug group, and a stage that readers of a guide write.
        const OTHERS: [&str; 3] = ["mgn = ", "mgn bounds", "mgn run --spu pace"];
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let docs = std::fs::read_dir(root.join("docs")).unwrap().flatten();
        let mut files: Vec<_> = docs.map(|entry| entry.path()).collect();
        files.extend(["README.md", "SECURITY.md"].map(|name| root.join(name)));
        files.retain(|file| file.extension().is_some_and(|end| end == "md"));
        let (mut known, mut unknown) = (0, Vec::new());
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            // Every other part is between backquotes.
            let code = text
                .lines()
                .flat_map(|line| line.split('`').skip(1).step_by(2));
            let is_command = |code: &&str| {
                code.starts_with("mgn ") && !OTHERS.iter().any(|other| code.starts_with(other))
            };
            for line in code.filter(is_command) {
                let whole = line.split(['…', '[', '"']).next().unwrap_or_default();
                let words = whole.split_whitespace().map(OsString::from).collect();
                let Err(error) = Cli::try_parse_from(with_long_np(words)) else {
                    known += 1;
                    continue;
                };
                let said = error.to_string();
                // A flag may be named without its value or with a placeholder, and a command
                // without its program.
                let is_part = match error.kind() {
                    ErrorKind::UnknownArgument
                    | ErrorKind::InvalidSubcommand
                    | ErrorKind::ArgumentConflict => false,
                    ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
                        let value = said.split('\'').nth(1).unwrap_or_default();
                        said.contains("a value is required")
                            || !value.contains(|c: char| c.is_lowercase())
                    }
                    _ => true,
                };
                if !is_part {
                    unknown.push(format!("{}: {line}\n{said}", file.display()));
                }
            }
        }
        assert!(unknown.is_empty(), "{}", unknown.join("\n"));
        assert!(known > 50, "{known}");
    }

    /// Help texts name only files that `make install` installs.
    #[test]
    fn help_names_what_is_installed() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let mut named = 0;
        for (name, mut command) in all() {
            let help = command.render_long_help().to_string();
            let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(
                !help.contains("docs/"),
                "mgn {name} --help names a file in docs/"
            );
            for (at, place) in help.match_indices("share/doc/manganese/") {
                let file = help[at + place.len()..].split([' ', ';', ',', ')']).next();
                let file = docs.join(file.unwrap_or_default().trim_end_matches('.'));
                assert!(
                    file.is_file(),
                    "{name}: {} is not installed",
                    file.display()
                );
                named += 1;
            }
        }
        assert!(named > 0);
    }
}
