//! Manual pages and completions, from the definition of the command line.

use std::fs;

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::{Cli, Pages};

pub fn write(pages: &Pages) -> anyhow::Result<()> {
    for dir in [&pages.man, &pages.completions] {
        fs::create_dir_all(dir).with_context(|| format!("making {}", dir.display()))?;
    }
    let command = Cli::command();
    clap_mangen::generate_to(command.clone(), &pages.man)
        .with_context(|| format!("writing manual pages into {}", pages.man.display()))?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut command.clone(), "mgn", &pages.completions)
            .with_context(|| format!("writing completions into {}", pages.completions.display()))?;
    }
    Ok(())
}
