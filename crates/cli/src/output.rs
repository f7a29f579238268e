//! Output to the terminal.

use std::fmt::Display;
use std::io::Write;
use std::sync::Arc;

use mgn_mothership::config::{ConfigError, Mistakes};

/// Prints an error and its causes in one line. Many errors contain the text of their cause. Such a
/// cause is not printed again.
pub fn print_error(error: &anyhow::Error) {
    if let Some(mistakes) = mistakes(error) {
        return tell(mistakes);
    }
    let mut line = String::from("mgn");
    for cause in error.chain().map(ToString::to_string) {
        if !line.ends_with(&cause) {
            line = format!("{line}: {cause}");
        }
    }
    tell(line);
}

/// Prints a line to standard error. If the reader has closed it, the line is lost, and the command
/// continues.
pub fn tell(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Writes to standard output. The reader of a pipe may stop early; that is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// The mistakes in a file, if they are the error. Their text has several lines.
fn mistakes(error: &anyhow::Error) -> Option<&Mistakes> {
    let shared = || {
        error
            .downcast_ref::<Arc<ConfigError>>()
            .map(|error| &**error)
    };
    match error.downcast_ref().or_else(shared) {
        Some(ConfigError::Mistakes(mistakes)) => Some(mistakes),
        _ => None,
    }
}
