//! Fills in flags that were not given, from the settings.

use mgn_fabric::{Address, Transport};

use crate::args::{RenderFlags, Server, ServerName, WallName};
use crate::credentials;
use crate::settings::{Set, Settings};

/// Fills in the flags that were not given. `own` is a flag that was given and requires a server of
/// the run's own.
///
/// # Errors
/// If a setting is invalid, or contradicts a flag. The text is one line.
pub fn apply_to_program(flags: &mut RenderFlags, own: Option<&str>) -> anyhow::Result<()> {
    let settings = Settings::read()?;
    let named = &flags.named;
    if named.contains(&ServerName::Own) && named.len() > 1 {
        anyhow::bail!(
            "--server own starts one server for this run; leave out the other --server flags"
        );
    }
    let addresses = named.iter().filter_map(|name| match name {
        ServerName::Own => None,
        ServerName::At(address) => Some(address.clone()),
    });
    flags.server = addresses.collect();
    let names_server = !named.is_empty()
        || own.is_some()
        || flags.ssh.is_some()
        || flags.mothership.is_some()
        || flags.needs.is_some()
        || WallName::first_name(&flags.wall).is_some()
        || matches!(flags.transport, Some(Transport::Null | Transport::File(_)));
    if !names_server {
        if let Some(Set { value, source }) = settings.servers()? {
            let fits = match flags.transport {
                Some(Transport::Shm | Transport::Unix) => !value.iter().any(Address::is_tcp),
                Some(Transport::Tcp) => value.iter().all(Address::is_tcp),
                _ => true,
            };
            if let (false, Some(transport)) = (fits, &flags.transport) {
                let all: Vec<String> = value.iter().map(Address::to_string).collect();
                anyhow::bail!("--transport {transport} cannot reach {} ({source}); leave it out, or give --server own", all.join(" "));
            }
            flags.server = value;
        }
    }
    flags.token_file = credentials::token_file(flags.token_file.take(), &settings)?;
    Ok(())
}

/// Fills in the flags of a server that were not given. Settings do not apply to a server within a
/// run.
///
/// # Errors
/// If a setting is invalid. The text is one line.
pub fn apply_to_server(server: &mut Server) -> anyhow::Result<()> {
    if server.embedded {
        return Ok(());
    }
    let settings = Settings::read()?;
    fill(
        &mut server.max_sessions_per_client,
        settings.max_sessions_per_client()?,
    );
    fill(
        &mut server.max_sessions_per_token,
        settings.max_sessions_per_token()?,
    );
    fill(&mut server.memory_total, settings.memory_total()?);
    fill(&mut server.idle_timeout, settings.idle_timeout()?);
    fill(&mut server.audit, settings.audit()?);
    Ok(())
}

fn fill<T>(flag: &mut Option<T>, set: Option<Set<T>>) {
    if flag.is_none() {
        *flag = set.map(|set| set.value);
    }
}

/// The address of the mothership: that of the flag, or that of the settings.
pub fn mothership(flag: Option<Address>) -> anyhow::Result<Address> {
    match flag {
        Some(address) => Ok(address),
        None => Ok(Settings::read()?.mothership()?.value),
    }
}
