//! A summary of the settings, for `mgn info`.

use std::path::PathBuf;

use mgn_fabric::{Address, ServerKey, Token};
use serde::Serialize;

use crate::settings::{Set, Settings, Source};

/// The settings in the output of `mgn info`.
#[derive(Debug, Serialize)]
pub struct SettingsSummary {
    /// The path of the user's file, which may not exist.
    pub file: Option<PathBuf>,
    pub is_there: bool,
    /// The first mistake in a setting, or null.
    pub mistake: Option<String>,
    /// Null if each run starts a server of its own.
    pub server: SettingText,
    pub mothership: SettingText,
    /// Null if there is no token.
    pub token_file: SettingText,
    /// A description of the token, or the reason why it cannot be used; null if there is none.
    pub token: Option<String>,
    /// Null if servers admit only the token above.
    pub token_store: SettingText,
    /// Null if servers have no key yet.
    pub server_key: SettingText,
    /// Its public key, or the reason why it cannot be read.
    pub public_key: Option<String>,
    pub ssh: SettingText,
    pub ssh_mgn: SettingText,
    /// The limits and the audit file of servers; null if the default applies.
    pub max_sessions_per_client: SettingText,
    pub max_sessions_per_token: SettingText,
    pub memory_total: SettingText,
    pub idle_timeout: SettingText,
    pub audit: SettingText,
}

/// A value and its source, as text.
#[derive(Debug, Default, Serialize)]
pub struct SettingText {
    pub value: Option<String>,
    pub source: Option<String>,
}

impl SettingText {
    fn of<T>(set: Set<T>, text: impl FnOnce(T) -> String) -> SettingText {
        SettingText {
            value: Some(text(set.value)),
            source: Some(set.source.to_string()),
        }
    }
}

/// The settings that apply in this environment, and mistakes in them.
pub fn summarize() -> SettingsSummary {
    let mut mistake = None;
    let settings = Settings::read().unwrap_or_else(|error| {
        mistake = Some(one_line(&error));
        Settings::default()
    });
    let mut shown = |found: anyhow::Result<Option<SettingText>>| {
        found.unwrap_or_else(|error| {
            mistake.get_or_insert(one_line(&error));
            None
        })
    };
    let servers = settings.servers().map(|set| {
        set.map(|set| {
            SettingText::of(set, |all| {
                let all: Vec<String> = all.iter().map(Address::to_string).collect();
                all.join(" ")
            })
        })
    });
    let mothership = settings
        .mothership()
        .map(|set| Some(SettingText::of(set, |address| address.to_string())));
    let there = |set: Option<Set<PathBuf>>| {
        set.filter(|set| set.source != Source::Default || set.value.exists())
    };
    let file = |set: Option<Set<PathBuf>>| {
        set.map(|set| SettingText::of(set, |file| file.display().to_string()))
    };
    let (token, store, key) = (
        settings.token_file().map(there),
        settings.token_store().map(there),
        settings.server_key().map(there),
    );
    let path = |set: &anyhow::Result<Option<Set<PathBuf>>>| {
        let set = set.as_ref().ok()?.as_ref()?;
        Some(set.value.clone())
    };
    let described = path(&token).map(|file| describe(Token::read(&file)));
    let public_key = path(&key).map(|file| match ServerKey::read(&file) {
        Ok(key) => key.public().to_string(),
        Err(error) => error.to_string(),
    });
    let [token, store, key] = [token, store, key].map(|set| set.map(file));
    let ssh = settings
        .ssh()
        .map(|set| Some(SettingText::of(set, |words| words.join(" "))));
    let ssh_mgn = settings
        .ssh_mgn()
        .map(|set| Some(SettingText::of(set, |path| path)));
    let [server, mothership, token_file, token_store, server_key, ssh, ssh_mgn] =
        [servers, mothership, token, store, key, ssh, ssh_mgn]
            .map(|found| shown(found).unwrap_or_default());
    let [per_client, per_token] = [
        settings.max_sessions_per_client(),
        settings.max_sessions_per_token(),
    ]
    .map(|found| found.map(|set| set.map(|set| SettingText::of(set, |n| n.to_string()))));
    let total = settings.memory_total();
    let total = total.map(|set| set.map(|set| SettingText::of(set, |mib| format!("{mib} MiB"))));
    let idle = settings.idle_timeout();
    let idle = idle.map(|set| set.map(|set| SettingText::of(set, |s| format!("{s} s"))));
    let audit = settings.audit();
    let audit =
        audit.map(|set| set.map(|set| SettingText::of(set, |file| file.display().to_string())));
    let [max_sessions_per_client, max_sessions_per_token, memory_total, idle_timeout, audit] =
        [per_client, per_token, total, idle, audit].map(|found| shown(found).unwrap_or_default());
    SettingsSummary {
        file: Settings::path(),
        is_there: settings.has_file(),
        mistake,
        server,
        mothership,
        token_file,
        token: described,
        token_store,
        server_key,
        public_key,
        ssh,
        ssh_mgn,
        max_sessions_per_client,
        max_sessions_per_token,
        memory_total,
        idle_timeout,
        audit,
    }
}

/// The role of a token, and the servers that it is valid for.
fn describe(token: Result<Token, mgn_fabric::Error>) -> String {
    let token = match token {
        Ok(token) if token.is_old() => {
            return "in the format of earlier releases, for this host only".into()
        }
        Ok(token) => token,
        Err(error) => return error.to_string(),
    };
    let keys: Vec<String> = token.servers().iter().map(ToString::to_string).collect();
    let servers = match &keys[..] {
        [] => "servers with any key".into(),
        keys => format!("servers with the key {}", keys.join(" or ")),
    };
    format!("{}, for {servers}", token.identity())
}

fn one_line(error: &anyhow::Error) -> String {
    format!("{error:#}")
}
