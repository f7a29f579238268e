//! `mgn config`.

use std::path::Path;
use std::process::ExitCode;

use mgn_mothership::config::ConfigError;

use crate::args::Config;

/// As wide as this where nothing is known of the terminal.
const COLUMNS: usize = 80;

pub fn config(command: Config) -> ExitCode {
    let said = match command {
        Config::Check { file } => read(&file).map(|config| {
            let (servers, walls) = (config.servers.len(), config.walls.len());
            format!(
                "{}: {servers} servers, {walls} walls, no mistakes\n",
                file.display()
            )
        }),
        Config::Show { file } => read(&file).map(|config| config.describe(columns())),
    };
    match said.and_then(|text| crate::say(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

pub fn read(file: &Path) -> anyhow::Result<mgn_mothership::Config> {
    Ok(mgn_mothership::Config::read(file, mgn_spu::NAMES)?)
}

/// Mistakes have places and lines of their own.
pub fn complain(error: &anyhow::Error) {
    match error.downcast_ref() {
        Some(ConfigError::Mistakes(mistakes)) => eprintln!("{mistakes}"),
        _ => crate::complain(error),
    }
}

fn columns() -> usize {
    terminal_size::terminal_size().map_or(COLUMNS, |(width, _)| width.0.into())
}
