//! `mgn token`: creates tokens, and changes the store of the tokens that servers here admit.

use std::fmt::Write as _;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use mgn_fabric::{is_name, Role, ServerKey, Store, Token};

use crate::args::{self, NewToken, StoreFile};
use crate::credentials;
use crate::output::{print, tell};
use crate::settings::Settings;

pub fn token(command: args::Token) -> anyhow::Result<()> {
    match command {
        args::Token::New(new) => create(new),
        args::Token::Add { file, store } => add(&file, store),
        args::Token::List { store } => list(store),
        args::Token::Revoke { name, store } => revoke(&name, store),
        args::Token::Key { server_key } => {
            let file = credentials::server_key(server_key)?;
            let is_new = !file.exists();
            let key = ServerKey::read_or_create(&file)?;
            if is_new {
                let file = file.display();
                tell(format!(
                    "mgn: there was no key in {file}, so a new one was made"
                ));
            }
            print(&format!("{}\n", key.public()))
        }
    }
}

fn create(new: NewToken) -> anyhow::Result<()> {
    let is_default = new.file.is_none();
    let file = new.file.or_else(Settings::default_token);
    let file =
        file.context("HOME is not set, so there is no default place for a token; give a file")?;
    if file.exists() {
        let file = file.display();
        anyhow::bail!("{file} exists already; give another file, with --name NAME if the token is to have the same name as this one had");
    }
    let keys = match new.key.is_empty() {
        false => new.key,
        true => {
            let key = ServerKey::read_or_create(&credentials::server_key(new.server_key)?)?;
            vec![key.public()]
        }
    };
    let store = store(new.store)?;
    let name = match new.name {
        Some(name) => name,
        None => free_name(&name_of(&file)?, &store)?,
    };
    let token = Token::new(&name, new.role)?.with_servers(keys);
    if let (true, Some(folder)) = (is_default, file.parent()) {
        let made = std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder);
        made.with_context(|| format!("making {}", folder.display()))?;
    }
    token.write(&file)?;
    let is_new_store = !store.exists();
    if let Err(error) = Store::add(&store, &token) {
        // A token is useless if no server admits it.
        let _ = std::fs::remove_file(&file);
        return Err(error.into());
    }
    let advice = match new.role {
        Role::Client if is_default => {
            "Copy it to the same path on the machines where programs run."
        }
        Role::Client => "Copy it to the machine where programs run, and name it by --token-file.",
        Role::Server => "Copy it and the store to the machines with servers.",
        Role::Admin => "Name it by --token-file in mgn status and mgn stop.",
    };
    print(&format!(
        "{}: new token {name} with the role {}, also added to {}{}. {advice}\n",
        file.display(),
        new.role,
        if is_new_store { "the new store " } else { "" },
        store.display()
    ))
}

/// The name of the token in this file.
fn name_of(file: &Path) -> anyhow::Result<String> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    match is_name(&stem) {
        true => Ok(stem.into_owned()),
        false => anyhow::bail!(
            "the name of {} is not a valid name for a token; choose one with --name",
            file.display()
        ),
    }
}

/// The name, with a number behind it if the store has a token of that name.
fn free_name(name: &str, store: &Path) -> anyhow::Result<String> {
    if !store.exists() {
        return Ok(name.into());
    }
    let tokens = Store::open(store)?.tokens();
    let is_free = |name: &String| tokens.iter().all(|token| token.identity().name != *name);
    let numbered = (2u64..).map(|n| format!("{name}-{n}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(is_free).context("all names are taken")
}

fn add(file: &Path, store_file: StoreFile) -> anyhow::Result<()> {
    let token = Token::read(file)?;
    if token.is_old() {
        anyhow::bail!(
            "{} has the format of earlier releases, without a name and a role; move it away and run `mgn token new`",
            file.display()
        );
    }
    let store = store(store_file)?;
    Store::add(&store, &token)?;
    let (store, identity) = (store.display(), token.identity());
    print(&format!("{store}: servers here admit {identity}\n"))
}

fn list(store_file: StoreFile) -> anyhow::Result<()> {
    let tokens = Store::open(&store(store_file)?)?.tokens();
    let name = |token: &Token| token.identity().name.clone();
    let width = tokens.iter().map(|token| name(token).len()).max();
    let width = width.unwrap_or(0);
    let mut text = String::new();
    for token in tokens.iter() {
        let _ = writeln!(text, "{:<width$}  {}", name(token), token.identity().role);
    }
    print(&text)
}

fn revoke(name: &str, store_file: StoreFile) -> anyhow::Result<()> {
    let store = store(store_file)?;
    Store::revoke(&store, name)?;
    let store = store.display();
    print(&format!(
        "{store}: {name} is no longer admitted; servers that use this store end its sessions\n"
    ))
}

fn store(file: StoreFile) -> anyhow::Result<PathBuf> {
    match file.store {
        Some(file) => Ok(file),
        None => credentials::store_to_change(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_name_their_tokens() {
        assert_eq!(name_of(Path::new("/a/alice.token")).unwrap(), "alice");
        assert_eq!(name_of(Path::new("token")).unwrap(), "token");
        for odd in ["a b", "/", "-x"] {
            let error = name_of(Path::new(odd)).unwrap_err().to_string();
            assert!(error.contains("--name"), "{error}");
        }
    }
}
