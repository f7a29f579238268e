//! `mgn config`.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use mgn_mothership::config::{schema, ConfigError, Mistakes, Stage, StageFault, Units};
use mgn_spu::SpuError;

use crate::args::Config;

/// What files say of stages is checked as the command line's is.
pub const UNITS: Units<'_> = Units {
    names: mgn_spu::NAMES,
    is_path: mgn_spu::is_path,
    for_server: |stage| check(stage, mgn_spu::Stage::for_server),
    for_client: |stage| check(stage, mgn_spu::Stage::for_client_of_others),
};

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
        Config::Schema => serde_json::to_string_pretty(&schema())
            .map(|text| text + "\n")
            .map_err(Into::into),
    };
    match said.and_then(|text| crate::say(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            crate::complain(&error);
            ExitCode::FAILURE
        }
    }
}

pub fn read(file: &Path) -> anyhow::Result<mgn_mothership::Config> {
    Ok(mgn_mothership::Config::read(file, UNITS)?)
}

fn check(
    stage: &Stage,
    fits: fn(&mgn_spu::Stage) -> Result<(), SpuError>,
) -> Result<(), StageFault> {
    let checked = stage.to_string().parse().and_then(|stage| fits(&stage));
    checked.map_err(|error: SpuError| StageFault {
        parameter: error.parameter().map(str::to_owned),
        what: error.to_string(),
    })
}

/// The mistakes of a file, if that is the error: they have places and lines of their own.
pub fn mistakes(error: &anyhow::Error) -> Option<&Mistakes> {
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

fn columns() -> usize {
    terminal_size::terminal_size().map_or(COLUMNS, |(width, _)| width.0.into())
}
