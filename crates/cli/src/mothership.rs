//! `mgn mothership`, `mgn status` and `mgn stop`.

use std::process::ExitCode;

use anyhow::Context;
use mgn_fabric::{Address, Inherited, Token};
use mgn_mothership::{Config, Options};

use crate::args::{Contact, Mothership, Status, Stop};
use crate::output::{print, print_error};
use crate::{credentials, defaults, wall_file};

pub fn mothership(args: Mothership) -> ExitCode {
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(args: Mothership) -> anyhow::Result<()> {
    let mut config = match &args.config {
        Some(file) => wall_file::read(file)?,
        None => Config::default(),
    };
    let inherited = Inherited::take_all()?;
    if !args.listen.is_empty() {
        config.mothership.listen = args.listen;
    }
    // Files that the configuration names come before those in the default places.
    let mut keys = args.keys;
    let named = &mut config.mothership;
    keys.token_file = keys.token_file.or(named.token_file.take());
    keys.token_store = keys.token_store.or(named.token_store.take());
    let addresses = inherited.iter().map(Inherited::address);
    let listener = credentials::for_listener(&keys, addresses.chain(&named.listen), [])?;
    let absolute = |file| std::path::absolute(file);
    // The mothership passes these files to the servers that it starts.
    named.token_store = keys.token_store.map(absolute).transpose()?;
    let token = listener.token.map(|(file, _)| file);
    named.token_file = token.map(absolute).transpose()?;
    config.check_drawn()?;
    let command = std::env::current_exe().context("finding the mgn executable")?;
    Ok(mgn_mothership::run(Options {
        config,
        inherited,
        command,
        access: listener.access,
    })?)
}

pub fn status(args: Status) -> anyhow::Result<()> {
    let (mothership, token) = contact(args.contact)?;
    let status = mgn_mothership::status(&mothership, token.as_ref())?;
    let text = match args.json {
        true => serde_json::to_string_pretty(&status)? + "\n",
        false => status.describe(),
    };
    print(&text)
}

pub fn stop(args: Stop) -> anyhow::Result<()> {
    let (mothership, token) = contact(args.contact)?;
    Ok(mgn_mothership::stop(&mothership, token.as_ref())?)
}

fn contact(contact: Contact) -> anyhow::Result<(Address, Option<Token>)> {
    let mothership = defaults::mothership(contact.mothership)?;
    let token = credentials::token_for(contact.token_file, &mothership)?;
    Ok((mothership, token))
}
