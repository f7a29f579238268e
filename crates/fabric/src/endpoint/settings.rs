//! The settings of endpoints, and their sources.
//!
//! The best values differ from machine to machine. `mgn tune` measures them and writes a settings
//! file. Ends with different settings work together, because each end states its limits in the
//! handshake.

use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::de::{DeTable, DeValue};

use crate::peer::SILENCE_TIME;
use crate::wait::SPIN;
use crate::Error;

/// Sizes and limits of an endpoint. Lengths are bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The size of a chunk of shared memory, for links that this endpoint accepts. The size is
    /// rounded up to whole pages. A part of a long message has the length of a chunk.
    pub chunk: usize,
    /// The number of chunks in each direction of such a link.
    pub chunks: usize,
    /// Bytes of shared memory for reserved messages, in each direction of such a link. The system
    /// allocates this memory when it is first used. The endpoint returns idle memory to the system.
    pub reserved: usize,
    /// The longest message that is sent eagerly, as far as the receiver permits.
    pub eager_shm: usize,
    pub eager_unix: usize,
    pub eager_tcp: usize,
    /// The length of a part of a long message over sockets.
    pub part_unix: usize,
    pub part_tcp: usize,
    /// The number of messages from one peer that may wait here to be received.
    pub envelopes: usize,
    /// The bytes of such messages over sockets. A peer may send eager messages of up to a quarter
    /// of this length.
    pub held: usize,
    /// Messages of at least this length are read directly from the memory of a peer on this host.
    /// [`NEVER`] disables this. With [`AUTO`], which is only for shared memory, each link measures
    /// while it is in use whether this is faster.
    pub single_copy_shm: usize,
    pub single_copy_unix: usize,
    /// The time for which a waiting thread polls before it sleeps, in microseconds.
    pub spin_us: usize,
    /// The machine of a TCP peer counts as dead if it has not answered for this long, in
    /// milliseconds. If the peer is only stopped or busy, its machine still answers. The end that
    /// accepts a link sets this time for both ends.
    pub silence_ms: usize,
}

/// A value of [`Settings::single_copy_shm`] and [`Settings::single_copy_unix`]; written `"off"`.
pub const NEVER: usize = usize::MAX;
const OFF: &str = "off";

/// A value of [`Settings::single_copy_shm`]; written `"auto"`. As a length, it is longer than any
/// message.
pub const AUTO: usize = usize::MAX - 1;
const AUTO_NAME: &str = "auto";

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            chunk: 32 << 10,
            chunks: 72,
            reserved: 64 << 20,
            eager_shm: 16 << 10,
            eager_unix: 64 << 10,
            eager_tcp: 64 << 10,
            part_unix: 256 << 10,
            part_tcp: 256 << 10,
            envelopes: 256,
            held: 4 << 20,
            single_copy_shm: AUTO,
            single_copy_unix: NEVER,
            spin_us: SPIN.as_micros() as usize,
            silence_ms: SILENCE_TIME.as_millis() as usize,
        }
    }
}

/// The longest part that any end may send over a socket.
pub(crate) const PART_MAX: usize = 4 << 20;

/// A setting: its name in the file, its description, and its permitted values.
struct Key {
    name: &'static str,
    what: &'static str,
    field: fn(&mut Settings) -> &mut usize,
    min: usize,
    max: usize,
    /// Whether [`NEVER`] is permitted.
    may_be_off: bool,
    /// Whether [`AUTO`] is permitted.
    may_be_auto: bool,
}

const fn key(
    name: &'static str,
    what: &'static str,
    field: fn(&mut Settings) -> &mut usize,
    min: usize,
    max: usize,
) -> Key {
    Key {
        name,
        what,
        field,
        min,
        max,
        may_be_off: false,
        may_be_auto: false,
    }
}

const fn or_off(key: Key) -> Key {
    Key {
        may_be_off: true,
        ..key
    }
}

const fn or_auto(key: Key) -> Key {
    Key {
        may_be_auto: true,
        ..key
    }
}

const EAGER_MIN: usize = 64;
const CHUNKS_MIN: usize = 4;
const HELD_MIN: usize = 64 << 10;

/// The numbers of links that get all the configured shared memory (`LANES_WITH_FULL_ROOM`), and all
/// the configured space for waiting messages over sockets (`SOCKET_LINKS_WITH_FULL_ROOM`). If there
/// are more links, all links together get as much as this number of links.
const LANES_WITH_FULL_ROOM: usize = 4;
const SOCKET_LINKS_WITH_FULL_ROOM: usize = 2;

/// If fewer than `CHUNKS_PREFERRED` chunks would fit, chunks get smaller, down to
/// `CHUNK_PREFERRED_MIN`.
const CHUNKS_PREFERRED: usize = 8;
const CHUNK_PREFERRED_MIN: usize = 16 << 10;

const KEYS: [Key; 14] = [
    key(
        "chunk",
        "size of a chunk of shared memory",
        |s| &mut s.chunk,
        4096,
        4 << 20,
    ),
    key(
        "chunks",
        "number of chunks in each direction",
        |s| &mut s.chunks,
        CHUNKS_MIN,
        4096,
    ),
    key(
        "reserved",
        "bytes of shared memory for reserved messages, in each direction",
        |s| &mut s.reserved,
        0,
        1 << 30,
    ),
    key(
        "eager_shm",
        "longest message that is sent at once through shared memory",
        |s| &mut s.eager_shm,
        EAGER_MIN,
        4 << 20,
    ),
    key(
        "eager_unix",
        "longest message that is sent at once through unix sockets",
        |s| &mut s.eager_unix,
        EAGER_MIN,
        4 << 20,
    ),
    key(
        "eager_tcp",
        "longest message that is sent at once by TCP",
        |s| &mut s.eager_tcp,
        EAGER_MIN,
        4 << 20,
    ),
    key(
        "part_unix",
        "size of a part of a long message through unix sockets",
        |s| &mut s.part_unix,
        4096,
        PART_MAX,
    ),
    key(
        "part_tcp",
        "size of a part of a long message by TCP",
        |s| &mut s.part_tcp,
        4096,
        PART_MAX,
    ),
    key(
        "envelopes",
        "number of messages from a peer that may wait",
        |s| &mut s.envelopes,
        8,
        1 << 16,
    ),
    key(
        "held",
        "bytes of messages from a peer that may wait, over sockets",
        |s| &mut s.held,
        HELD_MIN,
        1 << 30,
    ),
    or_auto(or_off(key(
        "single_copy_shm",
        "shortest message that is read from the peer's memory instead of through shared memory; \
         \"auto\": whichever each link finds faster",
        |s| &mut s.single_copy_shm,
        4096,
        1 << 40,
    ))),
    or_off(key(
        "single_copy_unix",
        "shortest message that is read from the peer's memory instead of through unix sockets",
        |s| &mut s.single_copy_unix,
        4096,
        1 << 40,
    )),
    key(
        "spin_us",
        "microseconds that a waiting thread polls before it sleeps",
        |s| &mut s.spin_us,
        0,
        20,
    ),
    // The minimum is 2 seconds, because machines are asked at most once per second.
    key(
        "silence_ms",
        "milliseconds without an answer until a machine's processes count as dead",
        |s| &mut s.silence_ms,
        2000,
        3_600_000,
    ),
];

/// Finds a setting by its name. Otherwise, returns an error text with all names.
fn find(name: &str) -> Result<&'static Key, String> {
    let known: Vec<_> = KEYS.iter().map(|key| key.name).collect();
    let none = || {
        format!(
            "there is no setting {name:?}; the settings are {}",
            known.join(", ")
        )
    };
    KEYS.iter().find(|key| key.name == name).ok_or_else(none)
}

impl Settings {
    /// The settings of this process. They come from the file that `MGN_TUNE` names, or else from
    /// [`Settings::file`] if it exists. Environment variables override single settings, as in
    /// `MGN_EAGER_SHM=16K`.
    ///
    /// # Errors
    /// [`Error::Settings`] with the place of the mistake.
    pub fn load() -> Result<Settings, Error> {
        Settings::load_with(&|name| std::env::var(name).ok())
    }

    fn load_with(env: &dyn Fn(&str) -> Option<String>) -> Result<Settings, Error> {
        let named = env("MGN_TUNE")
            .filter(|path| !path.is_empty())
            .map(PathBuf::from);
        let must_be = named.is_some();
        let mut settings = Settings::default();
        if let Some(path) = named.or_else(|| file_in(env)) {
            match std::fs::read_to_string(&path) {
                Ok(text) => settings = Settings::parse(&text, &path)?,
                // A missing file, or a file in the home of another user, counts as empty.
                Err(error) if !must_be && is_out_of_sight(error.kind()) => {}
                Err(error) => {
                    let why = format!("cannot read the settings {}: {error}", path.display());
                    return Err(Error::Settings(why));
                }
            }
        }
        for key in &KEYS {
            let name = key.variable();
            if let Some(text) = env(&name) {
                let value = key.read(&text);
                let value = value.map_err(|why| Error::Settings(format!("{name}: {why}")))?;
                *(key.field)(&mut settings) = value;
            }
        }
        Ok(settings)
    }

    /// The environment variable for a setting, and its value. `setting` has the form
    /// `eager_shm=16K`.
    ///
    /// # Errors
    /// [`Error::Settings`].
    pub fn variable(setting: &str) -> Result<(String, String), Error> {
        let wrong = |why| Error::Settings(format!("{setting:?}: {why}"));
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        let key = find(name).map_err(wrong)?;
        key.read(value).map_err(wrong)?;
        Ok((key.variable(), value.into()))
    }

    /// The path of the user's settings: `manganese/tune.toml` in `$XDG_CONFIG_HOME` or `~/.config`.
    /// `None` if neither variable is set.
    pub fn file() -> Option<PathBuf> {
        file_in(&|name| std::env::var(name).ok())
    }

    /// Reads a settings file. `path` is for error messages.
    ///
    /// # Errors
    /// [`Error::Settings`] with file and line.
    pub fn parse(text: &str, path: &Path) -> Result<Settings, Error> {
        let wrong = |at: usize, why: &str| {
            let line = 1 + text[..at.min(text.len())].matches('\n').count();
            Error::Settings(format!("{}:{line}: {why}", path.display()))
        };
        let table = DeTable::parse(text)
            .map_err(|error| wrong(error.span().map_or(0, |span| span.start), error.message()))?;
        let mut settings = Settings::default();
        for (name, value) in table.get_ref() {
            let key = find(name.get_ref()).map_err(|why| wrong(name.span().start, &why))?;
            let read = match value.get_ref() {
                DeValue::Integer(number) if number.radix() == 10 => key.read(number.as_str()),
                DeValue::String(text) => key.read(text),
                other => Err(format!(
                    "{} is {}, not a number",
                    key.name,
                    other.type_str()
                )),
            };
            *(key.field)(&mut settings) = read.map_err(|why| wrong(value.span().start, &why))?;
        }
        Ok(settings)
    }

    /// The names and values of all settings, in the form that [`Settings::variable`] takes.
    pub fn named(&self) -> Vec<(&'static str, String)> {
        let mut settings = self.clone();
        let named = KEYS.iter().map(|key| match *(key.field)(&mut settings) {
            NEVER => (key.name, OFF.to_string()),
            AUTO => (key.name, AUTO_NAME.to_string()),
            number => (key.name, number.to_string()),
        });
        named.collect()
    }

    /// The settings as a file, which [`Settings::parse`] reads.
    pub fn to_toml(&self) -> String {
        self.to_toml_with(&|_| None)
    }

    /// Does the same, and adds a comment to each setting for which `reason` returns one.
    pub(crate) fn to_toml_with(&self, reason: &dyn Fn(&str) -> Option<String>) -> String {
        let mut text = String::new();
        for (key, (_, value)) in KEYS.iter().zip(self.named()) {
            let value = match value.as_str() {
                OFF | AUTO_NAME => format!("{value:?}"),
                _ => value,
            };
            text += &format!("# {}\n", key.what);
            if let Some(reason) = reason(key.name) {
                text += &format!("# {reason}\n");
            }
            text += &format!("{} = {value}\n\n", key.name);
        }
        text.truncate(text.trim_end().len() + 1);
        text
    }

    /// Checks that all values are permitted.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let mut settings = self.clone();
        for key in &KEYS {
            let checked = key.check(*(key.field)(&mut settings));
            checked.map_err(Error::Settings)?;
        }
        Ok(())
    }

    /// The settings for one more link of an endpoint that has `links` links. The first few links
    /// get all the configured memory. Each further link gets less, so that thousands of links take
    /// little more memory than dozens.
    pub(crate) fn for_link(&self, links: usize) -> Settings {
        let part = |whole: usize, few: usize| whole / few.max(links + 1) * few;
        let mut settings = self.clone();
        let room =
            part(self.chunk * self.chunks, LANES_WITH_FULL_ROOM).min(self.chunk * self.chunks);
        while settings.chunk > CHUNK_PREFERRED_MIN && room / settings.chunk < CHUNKS_PREFERRED {
            settings.chunk = (settings.chunk / 2).max(CHUNK_PREFERRED_MIN);
        }
        if links >= LANES_WITH_FULL_ROOM {
            settings.chunks = (room / settings.chunk).clamp(CHUNKS_MIN, self.chunks);
        }
        if links >= SOCKET_LINKS_WITH_FULL_ROOM {
            settings.held = part(self.held, SOCKET_LINKS_WITH_FULL_ROOM).max(HELD_MIN);
        }
        settings
    }

    /// The bytes of messages that may wait per link, with `links` links over sockets. The number
    /// changes only when the number of links doubles. It is then sent on all links, because links
    /// with more space would be served better.
    pub(crate) fn window(&self, links: usize) -> u64 {
        self.for_link(links.max(1).next_power_of_two() - 1).held as u64
    }

    pub(crate) fn spin(&self) -> Duration {
        Duration::from_micros(self.spin_us as u64)
    }

    pub(crate) fn silence(&self) -> Duration {
        Duration::from_millis(self.silence_ms as u64)
    }
}

impl Key {
    /// The name of the setting's environment variable.
    fn variable(&self) -> String {
        format!("MGN_{}", self.name.to_uppercase())
    }

    /// Reads a number, which may end in K or M (KiB, MiB), or "off" or "auto" if the setting
    /// permits it.
    fn read(&self, text: &str) -> Result<usize, String> {
        let text = text.trim();
        if self.may_be_off && text == OFF {
            return Ok(NEVER);
        }
        if self.may_be_auto && text == AUTO_NAME {
            return Ok(AUTO);
        }
        let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let shift = match text[digits.len()..].trim() {
            "" => Some(0),
            "K" | "k" | "KiB" => Some(10),
            "M" | "MiB" => Some(20),
            _ => None,
        };
        let number = digits.parse::<usize>().ok().zip(shift);
        let number = number.and_then(|(number, shift)| number.checked_mul(1 << shift));
        let number = number.ok_or_else(|| {
            let words = self.words();
            format!("{} = {text:?} is not a number{words}", self.name)
        })?;
        self.check(number)
    }

    fn check(&self, number: usize) -> Result<usize, String> {
        let (name, min, max) = (self.name, self.min, self.max);
        let is_word = match number {
            NEVER => self.may_be_off,
            AUTO => self.may_be_auto,
            _ => false,
        };
        match is_word || (min..=max).contains(&number) {
            true => Ok(number),
            false => {
                let words = self.words();
                Err(format!(
                    "{name} = {number} is not between {min} and {max}{words}"
                ))
            }
        }
    }

    /// The words that the setting permits besides a number, as the end of an error text.
    fn words(&self) -> &'static str {
        match (self.may_be_off, self.may_be_auto) {
            (_, true) => ", \"off\" or \"auto\"",
            (true, false) => " or \"off\"",
            (false, false) => "",
        }
    }
}

fn file_in(env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty());
    let folder = set("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(Path::new(&set("HOME")?).join(".config")))?;
    Some(folder.join("manganese/tune.toml"))
}

fn is_out_of_sight(kind: std::io::ErrorKind) -> bool {
    use std::io::ErrorKind;
    matches!(kind, ErrorKind::NotFound | ErrorKind::PermissionDenied)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Settings, String> {
        Settings::parse(text, Path::new("tune.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_written_is_read() {
        let mut settings = Settings {
            eager_shm: 4096,
            single_copy_unix: 1 << 20,
            spin_us: 0,
            ..Settings::default()
        };
        settings.check().unwrap();
        assert_eq!(parse(&settings.to_toml()).unwrap(), settings);
        assert_eq!(parse("").unwrap(), Settings::default());
        // Each field has its own key.
        for (at, key) in KEYS.iter().enumerate() {
            *(key.field)(&mut settings) = key.min + at;
        }
        assert_eq!(parse(&settings.to_toml()).unwrap(), settings);
    }

    #[test]
    fn many_links_take_little_room() {
        let settings = Settings::default();
        for links in 0..2 {
            assert_eq!(settings.for_link(links), settings);
        }
        let room = |links: usize| {
            let settings = settings.for_link(links);
            settings.check().unwrap();
            (2 * settings.chunk * settings.chunks, settings.held)
        };
        for links in 2..3000 {
            let (before, after) = (room(links - 1), room(links));
            assert!(after.0 <= before.0 && after.1 <= before.1, "{links}");
        }
        let lanes: usize = (0..1000).map(|links| room(links).0).sum();
        let held: usize = (0..1000).map(|links| room(links).1).sum();
        assert!(lanes < 224 << 20, "{lanes}");
        assert!(held < 112 << 20, "{held}");
        // Small values are not reduced.
        let small = Settings {
            chunk: 4096,
            chunks: 4,
            held: 64 << 10,
            ..Settings::default()
        };
        assert_eq!(small.for_link(5000), small);
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (text, line, word) in [
            (
                "chunk = 8192\n\neagre = 3",
                3,
                "there is no setting \"eagre\"",
            ),
            ("chunk = 5", 1, "chunk = 5 is not between 4096 and"),
            ("\nspin_us = 21", 2, "not between 0 and 20"),
            ("spin_us = -1", 1, "is not a number"),
            ("spin_us = 1.5", 1, "is float, not a number"),
            ("eager_tcp = \"lots\"", 1, "is not a number"),
            ("eager_tcp = \"off\"", 1, "is not a number"),
            ("held = \"99999999999999999999M\"", 1, "is not a number"),
            ("eager_tcp = \"auto\"", 1, "is not a number"),
            (
                "single_copy_unix = \"auto\"",
                1,
                "is not a number or \"off\"",
            ),
            ("single_copy_shm = 1", 1, ", \"off\" or \"auto\""),
            ("chunk = 4096\nchunk", 2, ""),
            ("chunk = 4096\nchunk = 8192", 2, "duplicate"),
        ] {
            let why = parse(text).unwrap_err();
            assert!(
                why.starts_with(&format!("tune.toml:{line}: ")),
                "{text:?}: {why}"
            );
            assert!(why.contains(word) && !why.contains('\n'), "{text:?}: {why}");
        }
    }

    #[test]
    fn the_environment_wins() {
        let folder = std::env::temp_dir().join(format!("mgn-settings-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("manganese")).unwrap();
        let path = folder.join("manganese/tune.toml");
        let named = folder.join("other.toml");
        std::fs::write(&path, "eager_shm = 1024\neager_tcp = 2048").unwrap();
        std::fs::write(&named, "eager_tcp = \"8K\"").unwrap();
        let load = |set: &[(&str, &str)]| {
            let env = |name: &str| {
                let found = set.iter().find(|(set, _)| *set == name)?;
                Some(found.1.to_string())
            };
            Settings::load_with(&env).map_err(|error| error.to_string())
        };
        assert_eq!(load(&[]).unwrap(), Settings::default());
        let home = ("XDG_CONFIG_HOME", folder.to_str().unwrap());
        let changes = [home, ("MGN_EAGER_SHM", "4K"), ("MGN_SILENCE_MS", "3000")];
        let found = load(&changes).unwrap();
        assert_eq!((found.eager_shm, found.eager_tcp), (4096, 2048));
        assert_eq!(found.silence(), Duration::from_secs(3));
        let found = load(&[home, ("MGN_TUNE", named.to_str().unwrap())]).unwrap();
        assert_eq!((found.eager_shm, found.eager_tcp), (16 << 10, 8192));
        let why = load(&[home, ("MGN_SPIN_US", "99")]).unwrap_err();
        assert!(why.contains("MGN_SPIN_US: spin_us = 99"), "{why}");
        let why = load(&[("MGN_TUNE", "/nowhere/tune.toml")]).unwrap_err();
        assert!(why.contains("/nowhere/tune.toml: "), "{why}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
