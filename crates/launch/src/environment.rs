//! The environment that directs a program's GL to our library: which GLVND vendor to load, where
//! the vendor is, and our own settings.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::{Error, RunDir};

/// Where the program's pictures go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Present {
    /// Into the program's own window.
    #[default]
    Window,
    /// Nowhere.
    None,
}

/// What happens to the program when its server is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoss {
    /// It ends.
    #[default]
    Exit,
    /// It continues, but draws nothing.
    Continue,
}

/// When vertices that immediate mode repeats are sent only once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weld {
    /// When the server is behind.
    #[default]
    Auto,
    Always,
    Never,
}

/// The client library's settings, in environment variables.
#[derive(Clone, Debug, Default)]
pub struct ClientSettings {
    /// The servers' addresses: one for all tiles of the wall, or one for each. Empty for transports
    /// without a server.
    pub servers: Vec<String>,
    /// How the picture is divided among several renderers, as the client library reads it.
    pub wall: Option<String>,
    /// `shm`, `unix`, `tcp`, `null` or `file:PATH`: one for all servers, or one for each. If empty,
    /// the addresses determine the transports.
    pub transports: Vec<String>,
    pub token_file: Option<PathBuf>,
    /// With several servers, the file of each one's token, if it is not in the usual place.
    pub token_files: Vec<String>,
    /// With several servers, the public key of each, if the mothership provides it.
    pub server_keys: Vec<String>,
    pub present: Present,
    pub save: Option<Save>,
    /// End the program after this many swaps.
    pub frames: Option<u64>,
    pub on_loss: OnLoss,
    pub weld: Weld,
    /// The window that the programs draw into together with others.
    pub window: Option<SharedWindow>,
    /// The stages (stream processing units) in the programs' own processes.
    pub chain: Vec<String>,
    /// Whether commands are counted, which costs a little for each.
    pub count_commands: bool,
    /// The library that programs get when they load IceT.
    pub icet: Option<Icet>,
    /// How the pictures of several programs are composited into one.
    pub composite: Option<Composite>,
    /// The barrier at which the programs' swaps wait for each other.
    pub swap_barrier: Option<SwapBarrier>,
}

/// A library with IceT's interface, and the file names under which programs load IceT.
#[derive(Clone, Debug)]
pub struct Icet {
    pub library: PathBuf,
    pub names: Vec<String>,
}

/// A window that several programs draw into.
#[derive(Clone, Debug)]
pub struct SharedWindow {
    pub name: String,
    /// The number of programs that will take part, if known.
    pub clients: Option<u32>,
    /// For how many seconds programs wait for those that have not joined.
    pub patience: u32,
}

/// How pictures are composited, and by which processes.
#[derive(Clone, Debug)]
pub struct Composite {
    /// In the form that `mgn-composite` reads.
    pub recipe: String,
    /// For how many seconds the programs wait for each other.
    pub patience: u64,
}

/// The barrier before each swap.
#[derive(Clone, Debug)]
pub struct SwapBarrier {
    /// In the form that `mgn-barrier` reads.
    pub choice: String,
    /// For how many seconds the programs wait for each other.
    pub patience: u64,
}

/// Frames that are kept as image files.
#[derive(Clone, Debug)]
pub struct Save {
    pub dir: PathBuf,
    /// Every Nth frame is kept, where N is this number.
    pub every: u64,
    /// `png` or `jpeg`.
    pub format: String,
}

/// A change to the environment: a value, or `None` to remove the variable.
pub(crate) type Change = (OsString, Option<OsString>);

/// Writes the vendor files into `run`. Returns the changes to the environment that make programs
/// use them.
pub(crate) fn environment(
    run: &RunDir,
    library: &Path,
    settings: &ClientSettings,
) -> Result<Vec<Change>, Error> {
    let vendor = vendor_files(run, library)?;
    for name in settings.icet.iter().flat_map(|icet| &icet.names) {
        let link = vendor.join(name);
        let library = settings.icet.as_ref().map_or(library, |icet| &icet.library);
        symlink(library, &link).map_err(Error::file(&link, "linking the library for IceT"))?;
    }
    let window = settings.window.as_ref();
    let mut changes = vec![
        set("__GLX_VENDOR_LIBRARY_NAME", "mgn"),
        set("__EGL_VENDOR_LIBRARY_FILENAMES", vendor.join("mgn.json")),
        set("LD_LIBRARY_PATH", before_library_path(&vendor)),
        set("MGN_RUN_DIR", run.path()),
        set(
            "MGN_PRESENT",
            match settings.present {
                Present::Window => "window",
                Present::None => "none",
            },
        ),
        set(
            "MGN_ON_LOSS",
            match settings.on_loss {
                OnLoss::Exit => "exit",
                OnLoss::Continue => "continue",
            },
        ),
        set(
            "MGN_WELD",
            match settings.weld {
                Weld::Auto => "auto",
                Weld::Always => "always",
                Weld::Never => "never",
            },
        ),
        set_or_remove("MGN_SERVER", lines(&settings.servers)),
        set_or_remove("MGN_WALL", settings.wall.as_ref()),
        set_or_remove("MGN_TRANSPORT", lines(&settings.transports)),
        set_or_remove("MGN_TOKEN_FILE", settings.token_file.as_ref()),
        set_or_remove("MGN_CLIENT_CHAIN", lines(&settings.chain)),
        set_or_remove("MGN_TOKEN_FILES", lines(&settings.token_files)),
        set_or_remove("MGN_SERVER_KEYS", lines(&settings.server_keys)),
        set_or_remove("MGN_SHARED_WINDOW", window.map(|window| &window.name)),
        set_or_remove(
            "MGN_WINDOW_CLIENTS",
            window.and_then(|window| Some(window.clients?.to_string())),
        ),
        set_or_remove(
            "MGN_WINDOW_WAIT",
            window.map(|window| window.patience.to_string()),
        ),
        set_or_remove("MGN_FRAMES", settings.frames.map(|n| n.to_string())),
        set_or_remove("MGN_SAVE_DIR", settings.save.as_ref().map(|s| &s.dir)),
        set_or_remove(
            "MGN_SAVE_EVERY",
            settings.save.as_ref().map(|s| s.every.to_string()),
        ),
        set_or_remove("MGN_SAVE_FORMAT", settings.save.as_ref().map(|s| &s.format)),
    ];
    changes.push(set_or_remove(
        "MGN_COUNT_COMMANDS",
        settings.count_commands.then_some("1"),
    ));
    let composite = settings.composite.as_ref();
    changes.extend([
        set_or_remove("MGN_COMPOSITE", composite.map(|c| &c.recipe)),
        set_or_remove(
            "MGN_COMPOSITE_TIMEOUT",
            composite.map(|c| c.patience.to_string()),
        ),
    ]);
    let barrier = settings.swap_barrier.as_ref();
    changes.extend([
        set_or_remove("MGN_SWAP_BARRIER", barrier.map(|b| &b.choice)),
        set_or_remove("MGN_SWAP_TIMEOUT", barrier.map(|b| b.patience.to_string())),
    ]);
    changes.extend(x11_toolkits());
    Ok(changes)
}

fn lines(texts: &[String]) -> Option<String> {
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The environment variable by which a toolkit chooses what it draws on.
struct Toolkit {
    variable: &'static str,
    /// The value for X.
    value: &'static str,
    /// The beginnings of values with which there is no X window: Wayland, or the screen itself. The
    /// user may choose any other value, such as `offscreen`.
    cannot: &'static [&'static str],
}

const TOOLKITS: [Toolkit; 7] = [
    Toolkit {
        variable: "QT_QPA_PLATFORM",
        value: "xcb",
        cannot: &["wayland", "eglfs", "directfb", "vkkhrdisplay"],
    },
    Toolkit {
        variable: "GDK_BACKEND",
        value: "x11",
        cannot: &["wayland", "mir"],
    },
    Toolkit {
        variable: "CLUTTER_BACKEND",
        value: "x11",
        cannot: &["wayland", "eglnative", "mir"],
    },
    Toolkit {
        variable: "SDL_VIDEODRIVER",
        value: "x11",
        cannot: SDL,
    },
    Toolkit {
        variable: "SDL_VIDEO_DRIVER",
        value: "x11",
        cannot: SDL,
    },
    Toolkit {
        variable: "MOZ_ENABLE_WAYLAND",
        value: "0",
        cannot: &["1"],
    },
    Toolkit {
        variable: "ELECTRON_OZONE_PLATFORM_HINT",
        value: "x11",
        cannot: &["wayland"],
    },
];

const SDL: &[&str] = &["wayland", "kmsdrm", "directfb", "vivante", "rpi", "mir"];

/// What to do with a toolkit's variable.
#[derive(Debug, PartialEq, Eq)]
enum Choice {
    /// The user has set nothing.
    Ours,
    /// The user's value works.
    Theirs,
    /// The user's value cannot work.
    Overruled,
}

impl Toolkit {
    /// The user's value may be a list, from which the toolkit takes the first name that works. In
    /// Qt's lists, options follow a name behind a colon.
    fn choose(&self, users: Option<&str>) -> Choice {
        let names = users.unwrap_or_default().split([';', ',']);
        let names = names.map(|name| name.split(':').next().unwrap_or(name).trim());
        let mut names = names.filter(|name| !name.is_empty()).peekable();
        let cannot = |name: &str| self.cannot.iter().any(|bad| name.starts_with(bad));
        match (names.peek().is_some(), names.all(cannot)) {
            (false, _) => Choice::Ours,
            (true, false) => Choice::Theirs,
            (true, true) => Choice::Overruled,
        }
    }

    fn choice(&self) -> (Choice, String) {
        let users = std::env::var_os(self.variable);
        let users = users.map(|value| value.to_string_lossy().into_owned());
        let choice = self.choose(users.as_deref());
        (choice, users.unwrap_or_default())
    }
}

/// Toolkits prefer Wayland where it is available, but we cannot draw into a Wayland surface. A
/// setting of the user stays if it works.
pub(crate) fn x11_toolkits() -> Vec<Change> {
    let mut changes = vec![
        remove("WAYLAND_DISPLAY"),
        remove("WAYLAND_SOCKET"),
        set("XDG_SESSION_TYPE", "x11"),
    ];
    let ours = TOOLKITS
        .iter()
        .filter(|toolkit| toolkit.choice().0 != Choice::Theirs);
    changes.extend(ours.map(|toolkit| set(toolkit.variable, toolkit.value)));
    changes
}

/// One sentence on the user's settings for toolkits that cannot work, if there are any.
pub fn overruled_toolkits() -> Option<String> {
    let overruled = TOOLKITS.iter().filter_map(|toolkit| {
        let (choice, users) = toolkit.choice();
        let name = toolkit.variable;
        (choice == Choice::Overruled).then(|| format!("{name}={users} ({} instead)", toolkit.value))
    });
    let overruled: Vec<String> = overruled.collect();
    (!overruled.is_empty()).then(|| {
        format!(
            "the program must use X11, so these settings are replaced: {}",
            overruled.join(", ")
        )
    })
}

/// Links the library under the two names that GLVND looks for, and writes the file that directs EGL
/// to it. Returns their directory.
fn vendor_files(run: &RunDir, library: &Path) -> Result<PathBuf, Error> {
    let dir = run.join("vendor");
    fs::create_dir(&dir).map_err(Error::file(&dir, "making it"))?;
    for name in ["libGLX_mgn.so.0", "libEGL_mgn.so.0"] {
        let link = dir.join(name);
        symlink(library, &link).map_err(Error::file(&link, "linking the client library"))?;
    }
    let json = dir.join("mgn.json");
    // A path instead of a name, so that the library is found even if a script resets
    // LD_LIBRARY_PATH. The loader sees that both links are one file, so a program with both APIs
    // has one copy of the library.
    let text = serde_json::json!({
        "file_format_version": "1.0.0",
        "ICD": { "library_path": dir.join("libEGL_mgn.so.0") },
    })
    .to_string();
    fs::write(&json, text).map_err(Error::file(&json, "writing it"))?;
    Ok(dir)
}

fn before_library_path(dir: &Path) -> OsString {
    let mut path = dir.as_os_str().to_owned();
    if let Some(old) = std::env::var_os("LD_LIBRARY_PATH").filter(|old| !old.is_empty()) {
        path.push(":");
        path.push(old);
    }
    path
}

fn set(name: &str, value: impl Into<OsString>) -> Change {
    (name.into(), Some(value.into()))
}

fn remove(name: &str) -> Change {
    (name.into(), None)
}

fn set_or_remove(name: &str, value: Option<impl Into<OsString>>) -> Change {
    (name.into(), value.map(Into::into))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_has_set_stays_where_it_works() {
        for (variable, users, choice) in [
            ("QT_QPA_PLATFORM", None, Choice::Ours),
            ("QT_QPA_PLATFORM", Some(""), Choice::Ours),
            ("QT_QPA_PLATFORM", Some("offscreen"), Choice::Theirs),
            (
                "QT_QPA_PLATFORM",
                Some("xcb:xcb_gl_integration=xcb_egl"),
                Choice::Theirs,
            ),
            ("QT_QPA_PLATFORM", Some("wayland;xcb"), Choice::Theirs),
            ("QT_QPA_PLATFORM", Some("wayland-egl"), Choice::Overruled),
            ("QT_QPA_PLATFORM", Some("wayland;eglfs"), Choice::Overruled),
            ("SDL_VIDEODRIVER", Some("offscreen"), Choice::Theirs),
            ("SDL_VIDEODRIVER", Some("dummy"), Choice::Theirs),
            ("SDL_VIDEODRIVER", Some("wayland,x11"), Choice::Theirs),
            ("SDL_VIDEO_DRIVER", Some("kmsdrm"), Choice::Overruled),
            ("GDK_BACKEND", Some("wayland,*"), Choice::Theirs),
            ("GDK_BACKEND", Some("wayland"), Choice::Overruled),
            ("MOZ_ENABLE_WAYLAND", Some("1"), Choice::Overruled),
            ("ELECTRON_OZONE_PLATFORM_HINT", Some("auto"), Choice::Theirs),
        ] {
            let mut all = TOOLKITS.iter();
            let toolkit = all.find(|toolkit| toolkit.variable == variable).unwrap();
            assert_eq!(toolkit.choose(users), choice, "{variable}={users:?}");
        }
    }
}
