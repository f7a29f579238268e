//! `mgn mothership`, `mgn status` and `mgn stop`.

use std::process::ExitCode;

use anyhow::Context;
use mgn_fabric::{Address, Inherited, Token};
use mgn_mothership::{Config, Options};

use crate::args::{Contact, Mothership, Status, Stop};
use crate::settings;

pub fn mothership(args: Mothership) -> ExitCode {
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            crate::complain(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(args: Mothership) -> anyhow::Result<()> {
    let mut config = match &args.config {
        Some(file) => crate::config::read(file)?,
        None => Config::default(),
    };
    let inherited = Inherited::take_all()?;
    if !args.listen.is_empty() {
        config.mothership.listen = args.listen;
    }
    let places = inherited.iter().map(Inherited::address);
    let places = places.chain(&config.mothership.listen);
    // A file that the configuration names comes before one that lies in the default place.
    if args.token_file.is_some() || config.mothership.token_file.is_none() {
        let token = settings::token_to_serve(args.token_file, places)?;
        if let Some((file, _)) = token {
            config.mothership.token_file = Some(std::path::absolute(file)?);
        }
    }
    config.check_drawn()?;
    let command = std::env::current_exe().context("finding the mgn executable")?;
    Ok(mgn_mothership::run(Options {
        config,
        inherited,
        command,
    })?)
}

pub fn status(args: Status) -> anyhow::Result<()> {
    let (mothership, token) = contact(args.contact)?;
    let status = mgn_mothership::status(&mothership, token.as_ref())?;
    let text = match args.json {
        true => serde_json::to_string_pretty(&status)? + "\n",
        false => status.describe(),
    };
    crate::say(&text)
}

pub fn stop(args: Stop) -> anyhow::Result<()> {
    let (mothership, token) = contact(args.contact)?;
    Ok(mgn_mothership::stop(&mothership, token.as_ref())?)
}

fn contact(contact: Contact) -> anyhow::Result<(Address, Option<Token>)> {
    let mothership = settings::mothership(contact.mothership)?;
    let token = settings::token_to_reach(contact.token_file, &mothership)?;
    Ok((mothership, token))
}
