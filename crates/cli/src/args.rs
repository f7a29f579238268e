//! The command line. Help, man pages and completions all come from here.

mod bench;
mod mothership;

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use mgn_fabric::{Address, Transport};
use mgn_mothership::protocol::Needs;
use mgn_spu::Stage;
use mgn_verify::Input;

use crate::relay::Target;

pub use bench::{Bench, BenchCommand, BenchCompare, BenchReport};
pub use mothership::{Config, Contact, Mothership, Status, Stop, WallName};

/// Run OpenGL programs whose rendering is done by another process, here or on another machine.
#[derive(Debug, Parser)]
#[command(name = "mgn", version, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// The command line of this process. Ends it where that makes no sense.
    pub fn read() -> Cli {
        let words: Vec<OsString> = std::env::args_os().collect();
        Cli::from_words(&words).unwrap_or_else(|error| error.exit())
    }

    fn from_words(words: &[OsString]) -> Result<Cli, clap::Error> {
        let cli = Cli::try_parse_from(words)?;
        let program = match &cli.command {
            Command::Run(run) => &run.program[..],
            Command::Verify(verify) => &verify.program,
            Command::Ssh(ssh) => &ssh.program,
            _ => &[],
        };
        if let Some((flag, value)) = value_without_equals(words, program) {
            let what = format!("{flag} takes its value with an equals sign: write {flag}={value}, or `--` before a program called {value}");
            return Err(Cli::command().error(ErrorKind::UnknownArgument, what));
        }
        Ok(cli)
    }
}

/// A flag whose value may be missing is followed by something that looks like a value, which would be run as the program.
fn value_without_equals(words: &[OsString], program: &[OsString]) -> Option<(String, String)> {
    let first = program.first()?.to_str()?;
    let is_port = first.parse::<u16>().is_ok();
    let is_address = ["tcp:", "tls:", "unix:"]
        .iter()
        .any(|scheme| first.starts_with(scheme));
    let has_port = first
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if !(is_port || is_address || has_port) {
        return None;
    }
    // What follows `--` is the program, whatever it looks like.
    let own = words.split(|word| word == "--").next()?;
    let before = own.windows(2).find(|pair| pair[1] == *first)?;
    let before = before[0].to_str()?.strip_prefix("--")?;
    let command = Cli::command();
    let command = command.find_subcommand(words.get(1)?)?;
    let may_lack_it = |arg: &clap::Arg| {
        arg.get_long() == Some(before)
            && arg
                .get_num_args()
                .is_some_and(|range| range.min_values() == 0 && range.takes_values())
    };
    let flag = command.get_arguments().find(|arg| may_lack_it(arg))?;
    let flag = format!("--{}", flag.get_long()?);
    Some((flag, first.to_owned()))
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Run(Run),
    Verify(Verify),
    Ssh(Ssh),
    Server(Server),
    Viewer(Viewer),
    Replay(Replay),
    Info(Info),
    Tune(Tune),
    Bench(Bench),
    Mothership(Mothership),
    Relay(Relay),
    Status(Status),
    Stop(Stop),
    /// Check and show what a wall is made of
    #[command(subcommand)]
    Config(Config),
    /// Make the secrets that servers and programs prove to each other over TCP
    #[command(subcommand)]
    Token(Token),
    /// Write the manual pages and shell completions
    #[command(hide = true)]
    Pages(Pages),
    /// What OpenGL a program is given in this environment; started by `mgn info --gl` and `mgn bench`
    #[command(hide = true)]
    GlList,
    /// The process that `mgn tune` talks to
    #[command(hide = true)]
    TunePartner,
    /// A process that takes part in a measurement; started by `mgn bench`
    #[command(subcommand, hide = true)]
    BenchPart(mgn_bench::Part),
    /// What `mgn run --ssh` and `mgn ssh` of another host have here for a while
    #[command(hide = true)]
    SshHold(SshHold),
    /// One session of a server; started by `mgn server`
    #[command(hide = true)]
    Worker,
}

/// Run a program with its OpenGL executed by a render server.
///
/// The program needs no changes and is not told. Without --server one is started for this run. The
/// exit status is the program's, 128 and the signal's number if a signal ended it, 1 if its OpenGL
/// did not reach the server, and 125 to 127 if it could not be started.
#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    pub through: Through,

    /// Where pictures go
    #[arg(long, value_enum, default_value_t = Present::Window)]
    pub present: Present,

    /// Show the program live in browsers too, on a page at this address, tcp:HOST:PORT or the port alone; may be repeated, for each --wall a page
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "tcp:127.0.0.1:0", value_parser = crate::viewer::page)]
    #[arg(conflicts_with = "ssh")]
    pub viewer: Vec<Address>,

    /// Save frames as images in this directory
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,

    /// Save every N-th frame only
    #[arg(long, value_name = "N", default_value_t = 1, requires = "save")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,

    /// Format of saved frames
    #[arg(long, value_enum, default_value_t = ImageFormat::Png, requires = "save")]
    pub image_format: ImageFormat,

    /// End the program after N frames
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub frames: Option<u64>,

    /// Have the server receive and check everything but render nothing
    #[arg(long, conflicts_with_all = ["server", "ssh"])]
    pub discard: bool,

    /// Have commands pass a stage before the server's renderer: NAME[:key=value[,key=value]], see share/doc/manganese/spu.md; may be repeated, in their order
    #[arg(long, value_name = "STAGE", conflicts_with_all = ["server", "ssh"])]
    pub spu: Vec<Stage>,

    /// Have commands pass a stage in the program's own process, before they are sent to whomever: as --spu takes it, where it needs no answers; may be repeated
    #[arg(long, value_name = "STAGE")]
    pub client_spu: Vec<Stage>,

    /// What the program does when its server is lost
    #[arg(long, value_enum, default_value_t = OnLoss::Exit)]
    pub on_loss: OnLoss,

    /// Show frame rate, bytes, commands and waits, live and at the end
    #[arg(long)]
    pub stats: bool,

    /// Write the same at the end into a file, as JSON
    #[arg(long, value_name = "FILE")]
    pub stats_json: Option<PathBuf>,

    /// End the program when nobody holds this run directory any more
    #[arg(long, value_name = "DIR", hide = true)]
    pub lease: Option<PathBuf>,

    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// How a program's OpenGL reaches a server, and its windows an X server.
#[derive(Debug, Args)]
pub struct Through {
    /// The server: unix:/path, unix:@name, tcp:HOST[:PORT] or tls:HOST[:PORT], with /NAME for one behind the relay there, or `own` for one that is started for this run; without it $MGN_SERVER, what config.toml says, or one of this run's own. With --wall it may be repeated, once for each tile of all walls
    #[arg(id = "server", long = "server", value_name = "ADDR")]
    pub named: Vec<ServerName>,

    /// The servers' addresses, from whatever names them; see `settings::settle`.
    #[arg(skip)]
    pub server: Vec<Address>,

    /// Be drawn on this host by a server that is started there for this run, by ssh: HOST or USER@HOST, as ssh knows it. Nothing else has to be set up
    #[arg(long, value_name = "HOST", conflicts_with_all = ["server", "mothership", "transport", "needs"])]
    pub ssh: Option<String>,

    /// Where mgn is on the host of --ssh, if not in the PATH there
    #[arg(long, value_name = "PATH", requires = "ssh")]
    pub ssh_mgn: Option<String>,

    /// Divide the picture among several renderers: COLUMNSxROWS tiles, the wall of a FILE.toml (FILE.toml:NAME, where it has several; see manganese-walls(5)), or one that the mothership knows by this name; may be repeated, for several walls that show the same
    #[arg(long, value_name = "WALL")]
    pub wall: Vec<WallName>,

    /// What renderers of a wall have of a window: all of it (scissor), their tile alone (offset, see manganese-walls(5)), or what the wall says (auto)
    #[arg(long, value_enum, default_value_t = Tiling::Auto)]
    pub tiling: Tiling,

    /// Be drawn by servers that the mothership at this address knows
    #[arg(long, value_name = "ADDR", conflicts_with = "server")]
    #[arg(value_parser = Address::of_mothership)]
    pub mothership: Option<Address>,

    /// What servers that the mothership finds must have: gl=4.5 (or core=, es=, es1=), GL_EXTENSION, max_texture_size=N, with commas between them
    #[arg(long, value_name = "NEEDS")]
    pub needs: Option<Needs>,

    /// How the commands travel: shm (on one host), unix, tcp, null (nowhere) or file:PATH (recorded)
    #[arg(long, value_name = "TRANSPORT")]
    pub transport: Option<Transport>,

    /// File with the token for a server over TCP; see `mgn token` [default: manganese/token in the folder for settings]
    #[arg(long, value_name = "FILE", env = "MGN_TOKEN_FILE")]
    pub token_file: Option<PathBuf>,

    /// When to send vertices that immediate mode repeats only once
    #[arg(long, value_enum, default_value_t = Weld::Auto)]
    pub weld: Weld,

    /// Show the program on a private X server without a screen (Xvfb)
    #[arg(long, conflicts_with = "display")]
    pub headless: bool,

    /// The X server to show the program on, instead of $DISPLAY
    #[arg(long, value_name = "DISPLAY")]
    pub display: Option<String>,
}

/// Run a program on another host and show it here: its OpenGL is rendered on this machine.
///
/// The program runs on HOST, where Manganese must be installed; its windows are shown on this display by ssh's X forwarding, and its OpenGL
/// comes through ssh to a server that is started here for this run. Nothing has to be set up but ssh. The exit status is the program's, as with `mgn run`.
#[derive(Debug, Args)]
pub struct Ssh {
    /// HOST or USER@HOST, as ssh knows it
    pub host: String,

    /// Where mgn is on HOST, if not in the PATH there
    #[arg(long, value_name = "PATH")]
    pub ssh_mgn: Option<String>,

    /// Show the program on a private X server without a screen there (Xvfb), that is nowhere
    #[arg(long)]
    pub headless: bool,

    /// Save frames as images in this directory on HOST
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,

    /// End the program after N frames
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub frames: Option<u64>,

    /// What the program does when its server is lost
    #[arg(long, value_enum, default_value_t = OnLoss::Exit)]
    pub on_loss: OnLoss,

    /// Show frame rate, bytes, commands and waits at the end
    #[arg(long)]
    pub stats: bool,

    /// The program there and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

#[derive(Debug, Args)]
pub struct SshHold {
    /// With a render server
    #[arg(long)]
    pub serve: bool,

    /// Seconds without a word from the other end after which all ends
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub silence: u64,
}

/// Run a program directly and through a server, and compare its frames.
///
/// Clock and random numbers are fixed in both runs, so that what a frame shows depends on its number
/// alone. The exit status is 0 if all frames are equal to the bit, 1 if some differ, 2 if they could
/// not be compared, and 125 to 127 if the program could not be started.
#[derive(Debug, Args)]
pub struct Verify {
    #[command(flatten)]
    pub through: Through,

    /// End the program after N frames
    #[arg(long, value_name = "N", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub frames: u64,

    /// Compare every N-th frame only
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,

    /// Keep frames that differ in this directory, both pictures and one of where
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Run a command, `xdotool key Return` for one, when a frame has been shown; may be repeated
    #[arg(long, value_name = "FRAME:COMMAND")]
    pub input: Vec<Input>,

    /// What the program's random numbers start from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u32,

    /// Milliseconds from frame to frame, as the program sees them; a sixtieth of a second by default
    #[arg(long, value_name = "MS")]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub step: Option<u32>,

    /// How long each run may take
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,

    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// Serve programs: execute their OpenGL on this machine.
///
/// Every program gets a process of its own, so that one that crashes the driver or never ends
/// disturbs no other. No X server is needed.
#[derive(Debug, Args)]
pub struct Server {
    /// Address to listen on: unix:/path, unix:@name, tcp:HOST[:PORT] or tls:HOST[:PORT] (encrypted), by default at port 7500; may be repeated
    #[arg(long, value_name = "ADDR", default_value = "unix:@manganese")]
    #[arg(value_parser = Address::of_server)]
    pub listen: Vec<Address>,

    /// File with the token that clients over TCP must prove to know; see `mgn token` [default: manganese/token in the folder for settings]
    #[arg(long, value_name = "FILE", env = "MGN_TOKEN_FILE")]
    pub token_file: Option<PathBuf>,

    /// File with the mothership's token, where that is not the server's own
    #[arg(long, value_name = "FILE", requires = "mothership")]
    pub mothership_token_file: Option<PathBuf>,

    /// Receive and check everything but render nothing
    #[arg(long)]
    pub discard: bool,

    /// Have commands pass a stage before the renderer: NAME[:key=value[,key=value]], see share/doc/manganese/spu.md; may be repeated, in their order
    #[arg(long, value_name = "STAGE")]
    pub spu: Vec<Stage>,

    /// Where programs that come by network may have tiles of a wall shown on this host: window=DISPLAY, files=DIR or viewer=ADDR; may be repeated
    #[arg(long, value_name = "PLACE")]
    pub present: Vec<mgn_wall::Target>,

    /// Serve at most N programs at once
    #[arg(long, value_name = "N", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_sessions: u32,

    /// Memory that one program's session may use, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 8192)]
    #[arg(value_parser = clap::value_parser!(u64).range(64..))]
    pub memory_limit: u64,

    /// End a session whose commands make no progress for so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub watchdog: u64,

    /// Come on line with the mothership at this address, so that programs find the server
    #[arg(long, value_name = "ADDR", value_parser = Address::of_mothership)]
    pub mothership: Option<Address>,

    /// What the mothership calls the server; the host's name by default
    #[arg(long, requires = "mothership")]
    pub name: Option<String>,

    /// The mothership has started it, and may end it
    #[arg(long, hide = true, requires = "mothership")]
    pub started: bool,

    /// End when standard input does
    #[arg(long, hide = true)]
    pub embedded: bool,
}

/// Show a wall in browsers: what render servers draw, as it is arranged, live.
///
/// Prints the page's address, which contains a token: whoever has it may watch.
#[derive(Debug, Args)]
pub struct Viewer {
    /// The wall: COLUMNSxROWS tiles, or the wall of a FILE.toml, FILE.toml:NAME where it has several; see manganese-walls(5)
    #[arg(long, value_name = "WALL")]
    pub wall: WallName,

    /// Address of the page, tcp:HOST:PORT; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "tcp:127.0.0.1:0")]
    pub listen: Address,

    /// Address where pictures come in: unix:/path, unix:@name, tcp:HOST:PORT or tls:HOST:PORT
    #[arg(long, value_name = "ADDR", default_value = mgn_wall::VIEWER)]
    pub feeds: Address,

    /// File with the token that must be known to send pictures over TCP; see `mgn token`
    #[arg(long, value_name = "FILE", env = "MGN_TOKEN_FILE")]
    pub token_file: Option<PathBuf>,

    /// Another name by which browsers call this machine; may be repeated
    #[arg(long, value_name = "HOST")]
    pub name: Vec<String>,
}

/// Carry programs to servers that only this machine reaches.
///
/// Whoever knows the token finds the server NAME at tls:HOST:PORT/NAME, wherever an address is asked for, HOST:PORT being the relay's.
/// It is encrypted from end to end: the relay cannot read what it carries.
#[derive(Debug, Args)]
pub struct Relay {
    /// Address to listen on: tls:HOST[:PORT], or tcp:HOST[:PORT] for servers at tcp:, by default at port 7600; may be repeated
    #[arg(long, value_name = "ADDR", required = true, value_parser = Address::of_relay)]
    pub listen: Vec<Address>,

    /// A server, or a mothership, and what it is called; may be repeated
    #[arg(long, value_name = "NAME=ADDR", required_unless_present = "mothership")]
    pub to: Vec<Target>,

    /// Carry to all servers that the mothership at this address knows, by their names there
    #[arg(long, value_name = "ADDR", value_parser = Address::of_mothership)]
    pub mothership: Option<Address>,

    /// File with the token that clients must prove to know; see `mgn token`
    #[arg(long, value_name = "FILE", env = "MGN_TOKEN_FILE")]
    pub token_file: Option<PathBuf>,
}

/// Play a stream that was recorded with `mgn run --transport file:PATH`.
#[derive(Debug, Args)]
pub struct Replay {
    /// The recorded stream
    pub file: PathBuf,

    /// Have commands pass a stage before the renderer: NAME[:key=value[,key=value]], see share/doc/manganese/spu.md; may be repeated, in their order
    #[arg(long, value_name = "STAGE")]
    pub spu: Vec<Stage>,

    /// Save frames as images in this directory
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,

    /// Save every N-th frame only
    #[arg(long, value_name = "N", default_value_t = 1, requires = "save")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,

    /// Format of saved frames
    #[arg(long, value_enum, default_value_t = ImageFormat::Png, requires = "save")]
    pub image_format: ImageFormat,

    /// Before which message a snapshot is taken
    #[arg(
        long,
        value_name = "N",
        hide = true,
        requires = "middle",
        conflicts_with = "spu"
    )]
    pub from: Option<u64>,

    /// What becomes of the session there
    #[arg(long, value_enum, hide = true, requires = "from")]
    pub middle: Option<Middle>,
}

/// See `mgn_server::Middle`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Middle {
    Skip,
    Take,
    Succeed,
}

/// Show what this machine can do, and why not where it cannot.
#[derive(Debug, Args)]
pub struct Info {
    /// Compare the versions and extensions that programs are given with those of the local driver
    #[arg(long)]
    pub gl: bool,
    /// For programs to read
    #[arg(long)]
    pub json: bool,
}

/// Measure how messages travel best on this machine, and write the settings down.
///
/// Endpoints of the message layer read them when they are made. Two processes send each other messages for a
/// quarter of a minute, during which nothing else should run; what was measured is shown, and the file says why each setting is what it is.
/// `MGN_TUNE` names another file to read, and a variable such as `MGN_EAGER_SHM=16K` changes one setting.
#[derive(Debug, Args)]
pub struct Tune {
    /// Show the settings and write nothing
    #[arg(long)]
    pub dry_run: bool,

    /// The file, instead of manganese/tune.toml in $XDG_CONFIG_HOME or ~/.config
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    pub output: Option<PathBuf>,

    /// How long to measure, from 1 to 300; more on a busy machine
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=300))]
    pub seconds: u64,
}

#[derive(Debug, Subcommand)]
pub enum Token {
    /// Write a new random token into a file that only you can read
    New {
        /// The file, which must not exist yet [default: manganese/token in $XDG_CONFIG_HOME or ~/.config, where all commands look for it]
        file: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub struct Pages {
    /// Directory for mgn.1 and the pages of its commands
    #[arg(long, value_name = "DIR")]
    pub man: PathBuf,
    /// Directory for the completions of bash, zsh and fish
    #[arg(long, value_name = "DIR")]
    pub completions: PathBuf,
}

/// What --server names.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerName {
    /// A server that is started for this run, whatever the settings say.
    Own,
    At(Address),
}

impl FromStr for ServerName {
    type Err = mgn_fabric::Error;

    fn from_str(text: &str) -> Result<ServerName, mgn_fabric::Error> {
        match text {
            "own" => Ok(ServerName::Own),
            address => Address::of_server(address).map(ServerName::At),
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Present {
    /// Into the program's own window
    Window,
    /// Nowhere
    None,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ImageFormat {
    /// Exact
    Png,
    /// Small
    Jpeg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum OnLoss {
    /// It ends
    Exit,
    /// It goes on without drawing
    Continue,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Tiling {
    /// As the wall is configured; otherwise offset only where the mural is larger than a framebuffer can be
    Auto,
    Scissor,
    Offset,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Weld {
    /// When the server is behind
    Auto,
    /// For a slow network
    Always,
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    fn run(arguments: &[&str]) -> Result<Run, clap::Error> {
        let all = ["mgn", "run"].iter().chain(arguments);
        Cli::try_parse_from(all).map(|cli| match cli.command {
            Command::Run(run) => run,
            other => panic!("{other:?} is not run"),
        })
    }

    #[test]
    fn what_follows_the_program_is_the_programs() {
        let parsed = run(&["--frames", "3", "--", "gears", "--frames", "9", "-x"]).unwrap();
        assert_eq!(parsed.frames, Some(3));
        assert_eq!(parsed.program, ["gears", "--frames", "9", "-x"]);
        let parsed = run(&["gears", "--server", "x"]).unwrap();
        assert_eq!(parsed.program.len(), 3);
        assert!(parsed.through.named.is_empty());
    }

    #[test]
    fn verify_takes_what_run_takes_to_reach_a_server() {
        let text = "mgn verify --headless --transport tcp --input 3:ls --input 4:ps -- p --frames";
        let parsed = Cli::try_parse_from(text.split(' ')).unwrap();
        let Command::Verify(verify) = parsed.command else {
            panic!("{parsed:?} is not verify");
        };
        assert!(verify.through.headless);
        assert_eq!(verify.through.transport, Some(Transport::Tcp));
        assert_eq!(verify.input.len(), 2);
        assert_eq!(verify.program, ["p", "--frames"]);
        for wrong in [
            "--frames 0 p",
            "--every 0 p",
            "--input ls p",
            "--seed x p",
            "",
        ] {
            let text = format!("mgn verify {wrong}");
            let arguments = text.split_whitespace();
            assert!(Cli::try_parse_from(arguments).is_err(), "{wrong}");
        }
    }

    #[test]
    fn walls_have_sizes_or_names() {
        for (text, is_name) in [("2x2", false), ("cave", true), ("x2", true)] {
            let wall = run(&["--wall", text, "p"]).unwrap().through.wall;
            assert_eq!(WallName::first_name(&wall) == Some(text), is_name, "{text}");
        }
        for wrong in ["", "2x", "0x1", "9x9", "-2x2"] {
            assert!(run(&["--wall", wrong, "p"]).is_err(), "{wrong}");
        }
        assert!(run(&["--mothership", "unix:@m", "--server", "unix:@s", "p"]).is_err());
        assert!(run(&["--ssh", "h", "--server", "unix:@s", "p"]).is_err());
    }

    #[test]
    fn a_mistyped_flag_is_not_the_program() {
        for (words, hint) in [
            ("run --headles -- glxgears", "'--headless'"),
            ("run --headles glxgears", "'--headless'"),
            ("run --frames 3 --stat -- glxgears", "'--stats'"),
            ("verify --frame 3 glxgears", "'--frames'"),
            ("verify --frame 3 -- glxgears", "'--frames'"),
            ("ssh gpu1 --headles -- glxgears", "'--headless'"),
            ("bench gl --quik -- glxgears", "'--quick'"),
        ] {
            let words = format!("mgn {words}");
            let error = Cli::try_parse_from(words.split(' ')).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnknownArgument, "{words}");
            assert!(error.to_string().contains(hint), "{words}: {error}");
        }
        let hyphen = run(&["--", "-odd", "--frames"]).unwrap();
        assert_eq!(hyphen.program, ["-odd", "--frames"]);
    }

    #[test]
    fn an_address_is_not_the_program() {
        let parse = |words: &str| {
            let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
            Cli::from_words(&words)
        };
        for (words, hint) in [
            ("mgn run --viewer 8090 -- glxgears", "--viewer=8090"),
            ("mgn run --viewer 8090 glxgears", "--viewer=8090"),
            ("mgn run --stats --viewer 8090", "--viewer=8090"),
            (
                "mgn run --viewer tcp:0.0.0.0:80 p",
                "--viewer=tcp:0.0.0.0:80",
            ),
            ("mgn run --viewer localhost:80 p", "--viewer=localhost:80"),
        ] {
            let error = parse(words).unwrap_err().to_string();
            assert!(error.contains(hint), "{words}: {error}");
        }
        for words in [
            "mgn run --viewer -- 8090",
            "mgn run --viewer=8090 -- glxgears",
            "mgn run --viewer glxgears 8090",
            "mgn run --stats 8090",
        ] {
            parse(words).unwrap();
        }
        let viewer = run(&["--viewer=8090", "--viewer", "p"]).unwrap().viewer;
        let viewer: Vec<String> = viewer.iter().map(Address::to_string).collect();
        assert_eq!(viewer, ["tcp:127.0.0.1:8090", "tcp:127.0.0.1:0"]);
    }

    #[test]
    fn contradictions_are_refused() {
        let conflict = [
            &["--discard", "--server", "unix:/x", "p"][..],
            &["--headless", "--display", ":1", "p"],
        ];
        for arguments in conflict {
            let error = run(arguments).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ArgumentConflict, "{arguments:?}");
        }
        for arguments in [
            &["--server", "nonsense", "p"][..],
            &["--transport", "pigeon", "p"],
            &["--frames", "0", "p"],
            &["--save", "d", "--every", "0", "p"],
            &["--every", "2", "p"],
            &[],
        ] {
            assert!(run(arguments).is_err(), "{arguments:?}");
        }
    }
}
