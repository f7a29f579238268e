//! `mgn config`.

use std::path::Path;
use std::process::ExitCode;

use mgn_mothership::config::{ConfigError, Stage, StageFault, Units};
use mgn_spu::SpuError;

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
    let units = Units {
        names: mgn_spu::NAMES,
        is_path: mgn_spu::is_path,
        for_server: |stage| check(stage, mgn_spu::Stage::for_server),
        for_client: |stage| check(stage, mgn_spu::Stage::for_client_of_others),
    };
    Ok(mgn_mothership::Config::read(file, units)?)
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
