//! The flags of `mgn run` for several copies of a program.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use mgn_composite::Recipe;

use super::Cli;

#[derive(Debug, Args)]
pub struct Ranks {
    /// Start N copies of the program, each with a renderer of its own; -np N is the same
    ///
    /// In the program's arguments, %r stands for the copy's rank (from 0 on), %n for N, and %% for
    /// a percent sign. $MGN_RANK and $MGN_SIZE say the same. The exit status is that of the copy
    /// that failed first.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub np: Option<u32>,

    /// Make one picture of those of all copies, and show it for rank 0
    ///
    /// SPEC is depth (the nearest pixel), over (blended with alpha; rank 0 is in front), max, min
    /// or add. The order of ranks from front to back may follow, as in over:2,0,1, and a
    /// schedule, as in depth/radix-8.
    ///
    /// Without -np, this run is one rank of those that mpirun or srun has started. The exit status
    /// is 75 or 76 if the pictures could not be composited.
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["wall", "discard", "shared_window"])]
    pub composite: Option<Recipe>,

    /// How long the copies wait for each other's pictures
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60,
        requires = "composite"
    )]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub composite_timeout: u64,

    /// This run is a rank, and ends when no process holds this run directory any more
    #[arg(long, value_name = "DIR", hide = true, conflicts_with = "np")]
    pub ranked: Option<PathBuf>,
}

/// `-np N` as `mpirun` has it, among the flags of `mgn run`.
pub fn as_mpirun_has_it(mut words: Vec<OsString>) -> Vec<OsString> {
    for at in flags_of_run(&words) {
        if words[at] == "-np" {
            words[at] = "--np".into();
        }
    }
    words
}

/// This command line's words for one of the ranks: without those that say how many there are, or
/// where they are shown.
pub fn words_of_a_rank() -> Vec<OsString> {
    let mut words = as_mpirun_has_it(std::env::args_os().collect());
    for at in flags_of_run(&words).into_iter().rev() {
        let word = words[at].to_string_lossy().into_owned();
        match word.as_str() {
            "--np" => drop(words.drain(at..at + 2)),
            "--headless" => drop(words.remove(at)),
            _ if word.starts_with("--np=") => drop(words.remove(at)),
            _ => {}
        }
    }
    words.drain(2..).collect()
}

/// Which words are flags of `mgn run`, and neither their values nor the program's.
fn flags_of_run(words: &[OsString]) -> Vec<usize> {
    let command = Cli::command();
    let run = command.find_subcommand("run");
    let Some(run) = run.filter(|_| words.get(1).is_some_and(|word| word == "run")) else {
        return Vec::new();
    };
    let takes_a_word = |flag: &str| {
        let mut arguments = run.get_arguments();
        let argument = arguments.find(|argument| argument.get_long() == Some(flag));
        argument.is_some_and(|argument| {
            argument.get_action().takes_values() && !argument.is_require_equals_set()
        })
    };
    let mut flags = Vec::new();
    let mut at = 2;
    while let Some(word) = words.get(at) {
        let word = word.to_string_lossy();
        let length = match word.strip_prefix("--") {
            Some("") => break,
            Some(flag) => 1 + usize::from(takes_a_word(flag)),
            None if word == "-np" => 2,
            None if word.starts_with('-') => 1,
            None => break,
        };
        flags.push(at);
        at += length;
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn np_may_have_one_dash_before_the_program() {
        let read = |words: &str| {
            let words = words.split(' ').map(OsString::from).collect();
            let words = as_mpirun_has_it(words);
            words.join(" ".as_ref()).into_string().unwrap()
        };
        for (words, read_as) in [
            ("mgn run -np 2 p", "mgn run --np 2 p"),
            ("mgn run --save -np -np 2 p", "mgn run --save -np --np 2 p"),
            (
                "mgn run --viewer -np 2 -- p",
                "mgn run --viewer --np 2 -- p",
            ),
            ("mgn run --np 2 p -np 3", "mgn run --np 2 p -np 3"),
            ("mgn run p -np 3", "mgn run p -np 3"),
            ("mgn run -- -np 3", "mgn run -- -np 3"),
            ("mgn verify -np 3", "mgn verify -np 3"),
        ] {
            assert_eq!(read(words), read_as);
        }
    }
}
