//! `mgn tune`.

use std::process::Command;
use std::time::Duration;

use anyhow::Context;
use mgn_fabric::endpoint::Settings;

use crate::args::Tune;
use crate::output::{print, tell};

pub fn tune(tune: Tune) -> anyhow::Result<()> {
    let mut partner =
        Command::new(std::env::current_exe().context("cannot find the mgn executable")?);
    partner.arg("tune-partner");
    let time = Duration::from_secs(tune.seconds);
    let found = mgn_fabric::tune(time, &mut partner, |line| tell(line))?;
    let text = found.to_toml();
    if tune.dry_run {
        return print(&text);
    }
    let file = tune.output.or_else(Settings::file);
    let file = file.context(
        "HOME is not set, so there is no default place for settings; give a file with --output",
    )?;
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
    }
    std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    print(&format!(
        "{}: the settings for this machine\n",
        file.display()
    ))
}
