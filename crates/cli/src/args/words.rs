//! The words of a command line of `mgn run`, before they are parsed.

use std::ffi::OsString;

use clap::{Args, Command};

use super::run::Run;

/// Replaces `-np N`, a form that `mpirun` also accepts, among the flags of `mgn run` by `--np N`.
pub fn with_long_np(mut words: Vec<OsString>) -> Vec<OsString> {
    for at in flags_of_run(&words) {
        if words[at] == "-np" {
            words[at] = "--np".into();
        }
    }
    words
}

/// The words of this command line for one rank: without the flags for the number of ranks and for
/// their X server.
pub fn words_of_a_rank() -> Vec<OsString> {
    let mut words = with_long_np(std::env::args_os().collect());
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

/// The indices of the words that are flags of `mgn run`: not values of flags, and not words of the
/// program.
fn flags_of_run(words: &[OsString]) -> Vec<usize> {
    if words.get(1).is_none_or(|word| word != "run") {
        return Vec::new();
    }
    let run = Run::augment_args(Command::new("run"));
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
            let words = with_long_np(words);
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
