//! Shell completions of visible commands and flags, with the possible values. File names are
//! offered only for values that are files.

use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, ValueHint};
use clap_complete::Shell;
use mgn_barrier::Kind;
use mgn_composite::Recipe;
use mgn_fabric::Role;

/// The values that a shell offers for --transport.
const TRANSPORTS: [&str; 5] = ["shm", "unix", "tcp", "null", "file:"];

pub fn write(command: &Command, folder: &Path) -> std::io::Result<()> {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut visible(command), "mgn", folder)?;
    }
    Ok(())
}

/// The command with hints for its values, and without hidden items, because shells would offer
/// them.
fn visible(command: &Command) -> Command {
    // Names live as long as the process, which ends when the files are written.
    let name: &'static str = Box::leak(command.get_name().to_owned().into_boxed_str());
    let mut shown = Command::new(name);
    if let Some(about) = command.get_about() {
        shown = shown.about(about.clone());
    }
    if let Some(version) = command.get_version() {
        let version: &'static str = Box::leak(version.to_owned().into_boxed_str());
        shown = shown.version(version);
    }
    let arguments = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set());
    let below = command
        .get_subcommands()
        .filter(|below| !below.is_hide_set());
    shown
        .args(arguments.map(|argument| with_hints(argument.clone())))
        .subcommands(below.map(visible))
}

/// The argument with the possible values, or the kind of file, that the name of its value implies.
fn with_hints(argument: Arg) -> Arg {
    let takes_value = argument.get_action().takes_values();
    if !takes_value || !argument.get_possible_values().is_empty() {
        return argument;
    }
    let name = argument.get_value_names().and_then(|names| names.first());
    let name = name.map_or(argument.get_id().as_str().to_uppercase(), |name| {
        name.to_string()
    });
    let is_trailing = argument.is_trailing_var_arg_set();
    let hint = match &name[..] {
        "STAGE" => return argument.value_parser(choices(mgn_spu::NAMES)),
        "ROLE" => return argument.value_parser(choices(Role::ALL)),
        // An order of ranks and a schedule may follow the word.
        "SPEC" => return argument.value_parser(choices(Recipe::words())),
        // A fan-out, an interface or lines may follow the name.
        "KIND" => return argument.value_parser(choices(Kind::names())),
        "TRANSPORT" => return argument.value_parser(choices(TRANSPORTS)),
        // A wall may be described in a file.
        "FILE" | "CONFIG" | "WALL" => ValueHint::FilePath,
        "DIR" => ValueHint::DirPath,
        // A run is a folder or a file.
        "A" | "B" => ValueHint::AnyPath,
        "HOST" => ValueHint::Hostname,
        "PROGRAM" if is_trailing => ValueHint::CommandWithArguments,
        "PROGRAM" => ValueHint::CommandName,
        _ => ValueHint::Other,
    };
    argument.value_hint(hint)
}

/// The names live as long as the process, as in `visible`.
fn choices(names: impl IntoIterator<Item = impl ToString>) -> PossibleValuesParser {
    let names = names
        .into_iter()
        .map(|name| name.to_string().leak() as &'static str);
    PossibleValuesParser::new(names)
}
