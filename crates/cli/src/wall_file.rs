//! Files that describe walls.

use std::path::Path;

use mgn_mothership::config::{Stage, StageFault, Units};
use mgn_spu::SpuError;

/// The checks of the stages in a file. They are the same as for stages on the command line.
pub const STAGE_CHECKS: Units<'_> = Units {
    names: mgn_spu::NAMES,
    is_path: mgn_spu::is_path,
    for_server: |stage| check(stage, mgn_spu::Stage::for_server),
    for_client: |stage| check(stage, mgn_spu::Stage::for_client_of_others),
};

pub fn read(file: &Path) -> anyhow::Result<mgn_mothership::Config> {
    Ok(mgn_mothership::Config::read(file, STAGE_CHECKS)?)
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
