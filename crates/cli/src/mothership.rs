//! `mgn mothership`, `mgn status` and `mgn stop`.

use std::process::ExitCode;

use anyhow::Context;
use mgn_fabric::Token;
use mgn_mothership::{Config, Options};

use crate::args::{Contact, Mothership, Status, Stop};

pub fn mothership(args: Mothership) -> ExitCode {
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            crate::config::complain(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(args: Mothership) -> anyhow::Result<()> {
    let mut config = match &args.config {
        Some(file) => crate::config::read(file)?,
        None => Config::default(),
    };
    if !args.listen.is_empty() {
        config.mothership.listen = args.listen;
    }
    if let Some(file) = args.token_file {
        config.mothership.token_file = Some(std::path::absolute(file)?);
    }
    let command = std::env::current_exe().context("finding the mgn executable")?;
    Ok(mgn_mothership::run(Options { config, command })?)
}

pub fn status(args: Status) -> anyhow::Result<()> {
    let token = token(&args.contact)?;
    let status = mgn_mothership::status(&args.contact.mothership, token.as_ref())?;
    let text = match args.json {
        true => serde_json::to_string_pretty(&status)? + "\n",
        false => status.describe(),
    };
    crate::say(&text)
}

pub fn stop(args: Stop) -> anyhow::Result<()> {
    let token = token(&args.contact)?;
    Ok(mgn_mothership::stop(
        &args.contact.mothership,
        token.as_ref(),
    )?)
}

fn token(contact: &Contact) -> anyhow::Result<Option<Token>> {
    Ok(contact.token_file.as_deref().map(Token::read).transpose()?)
}
