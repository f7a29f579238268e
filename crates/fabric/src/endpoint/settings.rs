//! Everything about endpoints that can be set, and where it is set.
//!
//! What is best differs from machine to machine: `mgn tune` measures it and writes it down. Ends
//! with different settings work together, because each end says in the handshake what the other has
//! to know.

use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::de::{DeTable, DeValue};

use crate::peer::SILENCE_TIME;
use crate::wait::SPIN;
use crate::Error;

/// Sizes and limits of an endpoint. Lengths are bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// A chunk of shared memory, rounded up to whole pages, of links that this endpoint accepts.
    /// Parts of long messages are this long.
    pub chunk: usize,
    /// Chunks in each direction of such a link.
    pub chunks: usize,
    /// Bytes of shared memory in each direction of such a link for messages that are written where
    /// they are sent from. They are taken from the system when they are used, and given back
    /// later.
    pub reserved: usize,
    /// The longest message that is sent before its receiver asks for it, as far as the receiver
    /// permits.
    pub eager_shm: usize,
    pub eager_unix: usize,
    pub eager_tcp: usize,
    /// Parts of long messages over sockets.
    pub part_unix: usize,
    pub part_tcp: usize,
    /// Messages from one peer that may wait here to be received.
    pub envelopes: usize,
    /// Bytes of such messages over sockets. A peer is permitted to send eager ones of up to a
    /// quarter of that.
    pub held: usize,
    /// Messages at least this long are read straight from the memory of a peer on this host.
    /// [`NEVER`]: none are. [`AUTO`], for shared memory only: each link measures while it runs
    /// whether that is quicker.
    pub single_copy_shm: usize,
    pub single_copy_unix: usize,
    /// How long a thread that waits looks before it sleeps, in microseconds.
    pub spin_us: usize,
    /// How long the machine of a peer by TCP may answer nothing before it is taken for dead, in
    /// milliseconds. A peer that is only stopped or busy has a machine that answers. Who
    /// accepts a link says it for both ends.
    pub silence_ms: usize,
}

/// For [`Settings::single_copy_shm`] and its like; written `"off"`.
pub const NEVER: usize = usize::MAX;
const OFF: &str = "off";

/// For [`Settings::single_copy_shm`]; written `"auto"`. As a length, it is more than any message
/// has.
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

/// The longest part over a socket, whoever sends it.
pub(crate) const PART_MAX: usize = 4 << 20;

/// One setting: its name in the file, what it is for, and which values make sense.
struct Key {
    name: &'static str,
    what: &'static str,
    field: fn(&mut Settings) -> &mut usize,
    min: usize,
    max: usize,
    /// Whether it may be off.
    may_be_off: bool,
    /// Whether it may be left to the links.
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

/// As many links have all the room for shared memory, and for messages over sockets that wait, that
/// is set; the others share it as if they were so many.
const FEW_LANES: usize = 4;
const FEW_HOLDERS: usize = 2;

/// Chunks get smaller before there are fewer than so many, but no smaller than this.
const CHUNKS_LIKED: usize = 8;
const SMALL_CHUNK: usize = 16 << 10;

const KEYS: [Key; 14] = [
    key(
        "chunk",
        "a chunk of shared memory",
        |s| &mut s.chunk,
        4096,
        4 << 20,
    ),
    key(
        "chunks",
        "chunks in each direction",
        |s| &mut s.chunks,
        CHUNKS_MIN,
        4096,
    ),
    key(
        "reserved",
        "for messages that are written where they are sent from, in each direction",
        |s| &mut s.reserved,
        0,
        1 << 30,
    ),
    key(
        "eager_shm",
        "sent at once through shared memory",
        |s| &mut s.eager_shm,
        EAGER_MIN,
        4 << 20,
    ),
    key(
        "eager_unix",
        "sent at once through unix sockets",
        |s| &mut s.eager_unix,
        EAGER_MIN,
        4 << 20,
    ),
    key(
        "eager_tcp",
        "sent at once by TCP",
        |s| &mut s.eager_tcp,
        EAGER_MIN,
        4 << 20,
    ),
    key(
        "part_unix",
        "parts of long messages through unix sockets",
        |s| &mut s.part_unix,
        4096,
        PART_MAX,
    ),
    key(
        "part_tcp",
        "parts of long messages by TCP",
        |s| &mut s.part_tcp,
        4096,
        PART_MAX,
    ),
    key(
        "envelopes",
        "messages from a peer that may wait",
        |s| &mut s.envelopes,
        8,
        1 << 16,
    ),
    key(
        "held",
        "bytes of messages from a peer that may wait",
        |s| &mut s.held,
        HELD_MIN,
        1 << 30,
    ),
    or_auto(or_off(key(
        "single_copy_shm",
        "read from the peer's memory, instead of through shared memory, from this length on; \"auto\": as each link finds faster",
        |s| &mut s.single_copy_shm,
        4096,
        1 << 40,
    ))),
    or_off(key(
        "single_copy_unix",
        "read from the peer's memory, instead of through unix sockets, from this length on",
        |s| &mut s.single_copy_unix,
        4096,
        1 << 40,
    )),
    key(
        "spin_us",
        "microseconds that a thread looks before it sleeps",
        |s| &mut s.spin_us,
        0,
        20,
    ),
    // Machines are asked no more often than every second.
    key(
        "silence_ms",
        "milliseconds that a machine may be silent before its processes are taken for dead",
        |s| &mut s.silence_ms,
        2000,
        3_600_000,
    ),
];

/// Or that there is none of that name.
fn find(name: &str) -> Result<&'static Key, String> {
    let known: Vec<_> = KEYS.iter().map(|key| key.name).collect();
    let none = || {
        format!(
            "there is no setting {name:?}; there are {}",
            known.join(", ")
        )
    };
    KEYS.iter().find(|key| key.name == name).ok_or_else(none)
}

impl Settings {
    /// The settings of this process: those of the file that `MGN_TUNE` names, else of
    /// [`Settings::file`] where there is one, changed by what the environment says of each, as
    /// in `MGN_EAGER_SHM=16K`.
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
                // A home that isn't this user's has nothing for it.
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

    /// The variable of the environment, and its value, that say what `setting` does:
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

    /// Where a user's settings are: `manganese/tune.toml` in `$XDG_CONFIG_HOME` or `~/.config`.
    /// None without a home.
    pub fn file() -> Option<PathBuf> {
        file_in(&|name| std::env::var(name).ok())
    }

    /// Reads a settings file; `path` is for its errors.
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

    /// Names and values, as [`Settings::variable`] takes them.
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

    /// Likewise with a comment at those settings that `reason` knows something about.
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

    /// Whether all values make sense.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let mut settings = self.clone();
        for key in &KEYS {
            let checked = key.check(*(key.field)(&mut settings));
            checked.map_err(Error::Settings)?;
        }
        Ok(())
    }

    /// These for one more link of an endpoint that has so many. The first few have all the room
    /// that is set; the more there are, the less each has of its own, so that thousands take
    /// little more than dozens.
    pub(crate) fn for_link(&self, links: usize) -> Settings {
        let part = |whole: usize, few: usize| whole / few.max(links + 1) * few;
        let mut settings = self.clone();
        let room = part(self.chunk * self.chunks, FEW_LANES).min(self.chunk * self.chunks);
        while settings.chunk > SMALL_CHUNK && room / settings.chunk < CHUNKS_LIKED {
            settings.chunk = (settings.chunk / 2).max(SMALL_CHUNK);
        }
        if links >= FEW_LANES {
            settings.chunks = (room / settings.chunk).clamp(CHUNKS_MIN, self.chunks);
        }
        if links >= FEW_HOLDERS {
            settings.held = part(self.held, FEW_HOLDERS).max(HELD_MIN);
        }
        settings
    }

    /// The bytes that may wait of each of so many links over sockets. It is told to all of them as
    /// often as their number has doubled: those that had more would be served better.
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
    /// Its name in the environment.
    fn variable(&self) -> String {
        format!("MGN_{}", self.name.to_uppercase())
    }

    /// A number, which may end in K or M (KiB, MiB); or "off" or "auto" where the setting has that.
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

    /// What the setting can be besides a number, as the end of an error.
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
        // Every field has a key of its own.
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
        // What is set small stays as it is.
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
