//! Command lines. The same value is run and shown to a reader, so the two agree.

use std::fmt;
use std::process::Command;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Argv {
    environment: Vec<(String, String)>,
    words: Vec<String>,
}

impl Argv {
    pub fn new<W: ToString>(words: impl IntoIterator<Item = W>) -> Argv {
        Argv::default().args(words)
    }

    pub fn env(mut self, name: &str, value: &str) -> Argv {
        self.environment.push((name.to_string(), value.to_string()));
        self
    }

    pub fn args<W: ToString>(mut self, words: impl IntoIterator<Item = W>) -> Argv {
        self.words
            .extend(words.into_iter().map(|word| word.to_string()));
        self
    }

    pub fn program(&self) -> &str {
        &self.words[0]
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(self.program());
        command.args(&self.words[1..]);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// The command line in the syntax of a shell.
impl fmt::Display for Argv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = self.environment.iter();
        let set = set.map(|(name, value)| format!("{name}={}", quoted(value)));
        let words = set.chain(self.words.iter().map(|word| quoted(word)));
        f.write_str(&words.collect::<Vec<_>>().join(" "))
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+=./:,@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_starts_the_same() {
        let script = "echo \"$WHAT\"; for word; do echo \"<$word>\"; done";
        let words = [
            "sh", "-c", script, "sh", "it's", "", "a b", "$HOME", "-n=1,2",
        ];
        let argv = Argv::new(words).env("WHAT", "two words");
        let output_of = |command: &mut Command| {
            let output = command.output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let direct = output_of(&mut argv.command());
        assert_eq!(direct, "two words\n<it's>\n<>\n<a b>\n<$HOME>\n<-n=1,2>\n");
        let shell_command = argv.to_string();
        assert_eq!(
            output_of(Command::new("sh").args(["-c", &shell_command])),
            direct
        );
    }
}
