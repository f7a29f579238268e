//! `mgn config`.

use std::process::ExitCode;

use mgn_mothership::config::schema;

use crate::args::Config;
use crate::output::{print, print_error};
use crate::wall_file::read;

/// The width of drawings if that of the terminal is unknown.
const COLUMNS: usize = 80;

fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

pub fn config(command: Config) -> ExitCode {
    let text = match command {
        Config::Check { file } => read(&file).map(|config| {
            let (servers, walls) = (config.servers.len(), config.walls.len());
            format!(
                "{}: {}, {}, no mistakes\n",
                file.display(),
                count(servers, "server"),
                count(walls, "wall")
            )
        }),
        Config::Show { file } => read(&file).map(|config| config.describe(columns())),
        Config::Schema => serde_json::to_string_pretty(&schema())
            .map(|text| text + "\n")
            .map_err(Into::into),
    };
    match text.and_then(|text| print(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error(&error);
            ExitCode::FAILURE
        }
    }
}

fn columns() -> usize {
    terminal_size::terminal_size().map_or(COLUMNS, |(width, _)| width.0.into())
}
