//! The tokens and keys of this process, from the flags and the settings.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use mgn_fabric::{Access, Address, ServerKey, Store, Token};

use crate::args::Keys;
use crate::settings::{Settings, Source};

/// The file with the token: that of the flag, or that of the settings. `None` if neither names a
/// file and the default file does not exist.
pub fn token_file(flag: Option<PathBuf>, settings: &Settings) -> anyhow::Result<Option<PathBuf>> {
    if flag.is_some() {
        return Ok(flag);
    }
    Ok(settings.token_file()?.and_then(|set| match set.source {
        Source::Default if !set.value.exists() => None,
        _ => Some(set.value),
    }))
}

/// The tokens that a listener admits, and the token with which the process authenticates to others.
#[derive(Debug)]
pub struct ListenerAccess {
    pub access: Access,
    /// The process's own token, and its file.
    pub token: Option<(PathBuf, Token)>,
}

/// Reads the tokens and the key for listening at `addresses` and connecting to `others`. A file is
/// read only if it is needed, or named by a flag.
///
/// # Errors
/// If no client could be admitted, or a file cannot be read.
pub fn for_listener<'a>(
    keys: &Keys,
    addresses: impl IntoIterator<Item = &'a Address>,
    others: impl IntoIterator<Item = &'a Address>,
) -> anyhow::Result<ListenerAccess> {
    let settings = Settings::read()?;
    let far = addresses.into_iter().filter(|one| one.needs_token());
    let far: Vec<&Address> = far.collect();
    let meets_others = others.into_iter().any(Address::needs_token);
    let read = |file: PathBuf| -> anyhow::Result<(PathBuf, Token)> {
        let token = Token::read(&file)?;
        Ok((file, token))
    };
    let of_flag = keys.token_file.clone().map(read).transpose()?;
    let of_settings = || token_file(None, &settings)?.map(read).transpose();
    let store = match &keys.token_store {
        Some(store) => Some(store.clone()),
        // If a flag names a token, no other token is admitted.
        None if of_flag.is_some() || far.is_empty() => None,
        None => settings
            .token_store()?
            .filter(|set| set.source != Source::Default || set.value.exists())
            .map(|set| set.value),
    };
    let token = match of_flag {
        Some(token) => Some(token),
        None if meets_others || (store.is_none() && !far.is_empty()) => of_settings()?,
        None => None,
    };
    let access = match (store, &token, far.first()) {
        (Some(store), ..) => Access::from(Arc::new(Store::open(&store)?)),
        (None, None, Some(address)) => anyhow::bail!(
            "serving {address} needs a token; make one with `mgn token new`, or name its file by --token-file"
        ),
        (None, token, _) => Access::from(token.as_ref().map(|(_, token)| token.clone())),
    };
    let is_encrypted = |address: &&Address| matches!(address, Address::Tcp { tls: true, .. });
    let key = match far.iter().any(is_encrypted) {
        true => {
            let file = keys.server_key.clone();
            Some(ServerKey::read_or_create(&server_key(file)?)?)
        }
        false => None,
    };
    let access = access.with_key(key);
    Ok(ListenerAccess { access, token })
}

/// The file with the key of servers: that of the flag, or that of the settings.
pub fn server_key(flag: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    let file = match flag {
        Some(file) => Some(file),
        None => Settings::read()?.server_key()?.map(|set| set.value),
    };
    file.context("HOME is not set, so there is no default place for the server's key; give a file with --server-key")
}

/// The store that `mgn token` changes.
pub fn store_to_change() -> anyhow::Result<PathBuf> {
    let store = Settings::read()?.token_store()?;
    let store = store.map(|set| set.value);
    store.context("HOME is not set, so there is no default place for the token store; give a file with --store")
}

/// The token for connections to `address`.
///
/// # Errors
/// If a token is needed and there is none, or it cannot be read.
pub fn token_for(flag: Option<PathBuf>, address: &Address) -> anyhow::Result<Option<Token>> {
    if flag.is_none() && !address.needs_token() {
        return Ok(None);
    }
    match token_file(flag, &Settings::read()?)? {
        Some(file) => Ok(Some(Token::read(&file)?)),
        None => anyhow::bail!("{}", missing_token(&address.to_string())),
    }
}

/// The text of the error that `peer` requires a token and there is none.
pub fn missing_token(peer: &str) -> String {
    let place = Settings::default_token();
    let place = place.map_or_else(String::new, |path| format!("to {}, ", path.display()));
    format!("{peer} requires a token: run `mgn token new` on its host and copy the new file {place}or name it with --token-file")
}
