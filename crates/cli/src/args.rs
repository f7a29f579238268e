//! The command line. Help, man pages and completions all come from here.

mod bench;
mod mothership;
mod ranks;
mod ssh;
mod window;

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use mgn_fabric::{Address, PublicKey, Role, Transport};
use mgn_mothership::protocol::Needs;
use mgn_spu::Stage;
use mgn_verify::Input;

use crate::relay::Target;

pub use bench::{Bench, BenchCommand, BenchCompare, BenchReport};
pub use mothership::{Config, Contact, Mothership, Status, Stop, WallName};
pub use ranks::{as_mpirun_has_it, words_of_a_rank, Ranks};
pub use ssh::{Ssh, SshHold};
pub use window::Window;

/// Run OpenGL programs and render them in another process, here or on another machine.
#[derive(Debug, Parser)]
#[command(name = "mgn", version, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// The command line of this process. Ends the process if the command line is invalid.
    pub fn read() -> Cli {
        let words: Vec<OsString> = std::env::args_os().collect();
        Cli::from_words(&as_mpirun_has_it(words)).unwrap_or_else(|error| error.exit())
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

/// A flag whose value is optional, followed by a word that looks like its value but would be run as
/// the program.
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
    // The word after `--` is the program, whatever it looks like.
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
#[allow(clippy::large_enum_variant)] // There is one.
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
    /// Check and show the configuration of walls
    #[command(subcommand)]
    Config(Config),
    /// Create, list and revoke the tokens that servers require over the network
    #[command(subcommand)]
    Token(Token),
    /// Write the manual pages and shell completions
    #[command(hide = true)]
    Pages(Pages),
    /// List the OpenGL that a program gets in this environment; started by `mgn info --gl` and
    /// `mgn bench`
    #[command(hide = true)]
    GlList,
    /// The second process of `mgn tune`
    #[command(hide = true)]
    TunePartner,
    /// A process that takes part in a measurement; started by `mgn bench`
    #[command(subcommand, hide = true)]
    BenchPart(mgn_bench::Part),
    /// The end on this host of `mgn run --ssh` or `mgn ssh` on another host
    #[command(hide = true)]
    SshHold(SshHold),
    /// One session of a server; started by `mgn server`
    #[command(hide = true)]
    Worker,
}

/// Run a program and execute its OpenGL on a render server.
///
/// The program needs no changes. Without --server, a server is started for this run, unless the
/// settings name one.
///
/// The exit status is the program's. It is 128 plus the signal's number if a signal ended the
/// program, 1 if its OpenGL did not reach the server, and 125 to 127 if the program could not be
/// started.
#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    pub through: Through,

    #[command(flatten)]
    pub ranks: Ranks,

    /// Where to show pictures
    #[arg(long, value_enum, default_value_t = Present::Window)]
    pub present: Present,

    /// Show the program live in browsers too, on a page at ADDR
    ///
    /// ADDR is tcp:HOST:PORT, or a port of this machine. May be repeated, for example to give each
    /// --wall a page.
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "tcp:127.0.0.1:0", value_parser = crate::viewer::page)]
    #[arg(conflicts_with = "ssh")]
    pub viewer: Vec<Address>,

    /// Save each frame as a picture in DIR
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,

    /// Save only every N-th frame
    #[arg(long, value_name = "N", default_value_t = 1, requires = "save")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,

    /// Format of saved frames
    #[arg(long, value_enum, default_value_t = ImageFormat::Png, requires = "save")]
    pub image_format: ImageFormat,

    /// End the program after N frames
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub frames: Option<u64>,

    /// Let the server receive and check every command, but render nothing
    #[arg(long, conflicts_with_all = ["server", "ssh"])]
    pub discard: bool,

    /// Add a stage that commands pass before the server's renderer
    ///
    /// STAGE is NAME[:key=value[,key=value]]. May be repeated; commands pass the stages in the
    /// order of the flags. See share/doc/manganese/spu.md for a list of stages.
    #[arg(long, value_name = "STAGE", conflicts_with_all = ["server", "ssh"])]
    pub spu: Vec<Stage>,

    /// Add a stage that commands pass in the program's own process, before they are sent
    ///
    /// STAGE is written as for --spu. Stages that need answers from the server are refused. May be
    /// repeated.
    #[arg(long, value_name = "STAGE")]
    pub client_spu: Vec<Stage>,

    #[command(flatten)]
    pub window: Window,

    /// What to do with the program when its server is lost
    #[arg(long, value_enum, default_value_t = OnLoss::Exit)]
    pub on_loss: OnLoss,

    /// Let the program composite pictures through Manganese instead of IceT
    ///
    /// For programs of several processes that use IceT, for example `mpirun -np 8 pvbatch`. NAME is
    /// the file name of the program's IceT library; leave it out for IceT's own name and for
    /// ParaView 5.9 to 5.11. See share/doc/manganese/icet.md.
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "")]
    pub icet: Option<String>,

    /// Show the frame rate, bytes, commands and waits, live and at the end
    #[arg(long)]
    pub stats: bool,

    /// Write the statistics to FILE as JSON at the end
    #[arg(long, value_name = "FILE")]
    pub stats_json: Option<PathBuf>,

    /// End the program when no process holds this run directory any more
    #[arg(long, value_name = "DIR", hide = true, conflicts_with = "np")]
    pub lease: Option<PathBuf>,

    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// How a program's OpenGL reaches a server, and its windows an X server.
#[derive(Debug, Args)]
pub struct Through {
    /// Render on the server at ADDR
    ///
    /// ADDR is unix:/path, unix:@name, tcp:HOST[:PORT] or tls:HOST[:PORT] (encrypted). Append
    /// /NAME for the server NAME behind the relay at HOST. `own` starts a server for this run.
    /// Default: $MGN_SERVER, then `server` in config.toml, then `own`.
    ///
    /// With --wall, give it once for all tiles, or once for each tile of all walls.
    #[arg(id = "server", long = "server", value_name = "ADDR")]
    pub named: Vec<ServerName>,

    /// The servers' addresses, from the flag or the settings; see `settings::settle`.
    #[arg(skip)]
    pub server: Vec<Address>,

    /// Start a server on HOST by ssh for this run, and render there
    ///
    /// HOST is what you would give to ssh, HOST or USER@HOST. Nothing else has to be set up.
    #[arg(long, value_name = "HOST", conflicts_with_all = ["server", "mothership", "transport", "needs"])]
    pub ssh: Option<String>,

    /// Path of mgn on the host of --ssh, if it is not in the PATH there
    #[arg(long, value_name = "PATH", requires = "ssh")]
    pub ssh_mgn: Option<String>,

    /// Divide the picture among several renderers, one for each tile of WALL
    ///
    /// WALL is COLUMNSxROWS, the wall in FILE.toml (FILE.toml:NAME if the file has several; see
    /// manganese-walls(5)), or the name of a wall that the mothership knows. May be repeated:
    /// all walls then show the same picture.
    #[arg(long, value_name = "WALL")]
    pub wall: Vec<WallName>,

    /// How much of a window each renderer of a wall holds; see manganese-walls(5)
    #[arg(long, value_enum, default_value_t = Tiling::Auto)]
    pub tiling: Tiling,

    /// Render on servers that the mothership at ADDR chooses
    #[arg(long, value_name = "ADDR", conflicts_with = "server")]
    #[arg(value_parser = Address::of_mothership)]
    pub mothership: Option<Address>,

    /// Versions, extensions and limits that servers chosen by the mothership must have
    ///
    /// NEEDS is a list of gl=4.5 (or core=, es=, es1=), GL_EXTENSION and max_texture_size=N,
    /// separated by commas.
    #[arg(long, value_name = "NEEDS")]
    pub needs: Option<Needs>,

    /// How commands travel: shm (on one host), unix, tcp, null (discarded) or file:PATH (recorded)
    #[arg(long, value_name = "TRANSPORT")]
    pub transport: Option<Transport>,

    /// File with the token for a server over TCP; see `mgn token`
    ///
    /// [default: manganese/token in the settings folder]
    #[arg(long, value_name = "FILE", env = "MGN_TOKEN_FILE")]
    pub token_file: Option<PathBuf>,

    /// When to send vertices that immediate mode repeats only once; no pixel changes
    #[arg(long, value_enum, default_value_t = Weld::Auto)]
    pub weld: Weld,

    /// Show the program on a private X server without a screen (Xvfb)
    #[arg(long, conflicts_with = "display")]
    pub headless: bool,

    /// Show the program on this X server instead of $DISPLAY
    #[arg(long, value_name = "DISPLAY")]
    pub display: Option<String>,
}

/// Run a program directly and through a server, and compare its frames.
///
/// The clock and random numbers are fixed in both runs, so the content of a frame depends only on
/// its number.
///
/// The exit status is 0 if all frames are bit-identical, 1 if some differ, 2 if they could not be
/// compared, and 125 to 127 if the program could not be started.
#[derive(Debug, Args)]
pub struct Verify {
    #[command(flatten)]
    pub through: Through,

    /// End the program after N frames
    #[arg(long, value_name = "N", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub frames: u64,

    /// Compare only every N-th frame
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,

    /// Save frames that differ in DIR
    ///
    /// Each such frame is saved as three pictures: drawn directly, drawn through the server, and
    /// the difference.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Run COMMAND when frame number FRAME has been shown
    ///
    /// Example: --input '5:xdotool key Return'. May be repeated.
    #[arg(long, value_name = "FRAME:COMMAND")]
    pub input: Vec<Input>,

    /// Seed of the program's random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u32,

    /// Milliseconds between frames, as the program sees them
    ///
    /// [default: a sixtieth of a second]
    #[arg(long, value_name = "MS")]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub step: Option<u32>,

    /// Time limit for each run
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,

    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// Start a render server, which executes programs' OpenGL on this machine.
///
/// Each program is rendered by a process of its own, so a program that crashes the driver or never
/// ends does not disturb the others. A server needs no X server.
#[derive(Debug, Args)]
pub struct Server {
    /// Listen on ADDR; may be repeated
    ///
    /// ADDR is unix:/path, unix:@name, tcp:HOST[:PORT] or tls:HOST[:PORT] (encrypted). The default
    /// port is 7500. Sockets that systemd passes are served as well.
    ///
    /// [default: unix:@manganese, if systemd passes no socket]
    #[arg(long, value_name = "ADDR", value_parser = Address::of_server)]
    pub listen: Vec<Address>,

    #[command(flatten)]
    pub keys: Keys,

    /// File with the mothership's token, if it differs from the server's token
    #[arg(long, value_name = "FILE", requires = "mothership")]
    pub mothership_token_file: Option<PathBuf>,

    /// Receive and check every command, but render nothing
    #[arg(long)]
    pub discard: bool,

    /// Add a stage that commands pass before the renderer
    ///
    /// STAGE is NAME[:key=value[,key=value]]. May be repeated; commands pass the stages in the
    /// order of the flags. See share/doc/manganese/spu.md for a list of stages.
    #[arg(long, value_name = "STAGE")]
    pub spu: Vec<Stage>,

    /// Allow programs that connect over the network to show tiles of a wall at PLACE
    ///
    /// PLACE is window=DISPLAY, files=DIR or viewer=ADDR, on this host. May be repeated.
    #[arg(long, value_name = "PLACE")]
    pub present: Vec<mgn_wall::Target>,

    /// Serve at most N sessions at the same time; a program on a wall has one session for each
    /// tile
    #[arg(long, value_name = "N", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_sessions: u32,

    /// Serve at most N sessions of one client at the same time
    ///
    /// Over the network, a client is an IPv4 address or a /64 network of IPv6 addresses. On unix
    /// sockets, it is a user. On a wall, a program has one session for each tile that this
    /// server draws. All clients of a relay have the relay's address.
    ///
    /// [default: for addresses a quarter of --max-sessions, but at least 32; for users no limit of
    /// their own; or `max_sessions_per_client` in config.toml]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_sessions_per_client: Option<u32>,

    /// Serve at most N sessions of clients with the same token at the same time
    ///
    /// It counts them at all addresses together. Give each person a token of their own then.
    ///
    /// [default: no limit; or `max_sessions_per_token` in config.toml]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_sessions_per_token: Option<u32>,

    /// Memory limit for each program's session, in MiB
    ///
    /// Memory that a session shares with its program counts, memory of a GPU does not.
    #[arg(long, value_name = "MIB", default_value_t = 8192)]
    #[arg(value_parser = clap::value_parser!(u64).range(64..))]
    pub memory_limit: u64,

    /// Memory limit for all sessions together, in MiB
    ///
    /// If the sessions leave no room for another one, programs of the client that uses the most
    /// are refused. A session counts for what it uses, but for at least 64 MiB. If sessions
    /// grow beyond the limit, the largest session of the client that uses the most is ended. All
    /// holders of one token count as one client, and so does each user on a unix socket.
    ///
    /// [default: three quarters of the memory of the machine, or of the server's control group; or
    /// `memory_total` in config.toml]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(64..1 << 40))]
    pub memory_total: Option<u64>,

    /// End a session when its program has sent nothing for SECONDS
    ///
    /// Use it for servers that people share. A program that waits for input sends nothing either.
    ///
    /// [default: never, or `idle_timeout` in config.toml]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub idle_timeout: Option<u64>,

    /// Append a line of JSON to FILE when a session begins or ends, and when clients are refused
    ///
    /// The log has the same lines. Fields whose names begin with `claimed_` are what the client
    /// says of itself. The file is opened for each line, so it may be renamed at any time.
    ///
    /// [default: none, or `audit` in config.toml]
    #[arg(long, value_name = "FILE")]
    pub audit: Option<PathBuf>,

    /// Do not confine sessions' processes to what rendering needs
    ///
    /// Use it if a driver does not work in the sandbox. A client that finds a flaw in the driver
    /// can then do what the server's user can.
    #[arg(long, env = "MGN_NO_SANDBOX", value_parser = clap::builder::FalseyValueParser::new())]
    pub no_sandbox: bool,

    /// Do not start unless sessions' files and system calls can be confined
    ///
    /// Otherwise the server confines what it can, and logs a warning if that is too little. This
    /// flag has priority over --no-sandbox.
    #[arg(long, env = "MGN_REQUIRE_SANDBOX", value_parser = clap::builder::FalseyValueParser::new())]
    pub require_sandbox: bool,

    /// Let programs that connect over the network create shaders from SPIR-V
    ///
    /// Drivers do not check whether SPIR-V is valid, and an invalid module can make a driver do
    /// anything. Programs of the server's user on the same host may always use it.
    #[arg(long, env = "MGN_SPIRV", value_parser = clap::builder::FalseyValueParser::new())]
    pub spirv: bool,

    /// End a session when its commands make no progress for SECONDS
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub watchdog: u64,

    /// Register with the mothership at ADDR, so that programs find this server
    #[arg(long, value_name = "ADDR", value_parser = Address::of_mothership)]
    pub mothership: Option<Address>,

    /// Name of this server at the mothership
    ///
    /// [default: the host's name]
    #[arg(long, requires = "mothership")]
    pub name: Option<String>,

    /// The mothership has started this server, and may end it
    #[arg(long, hide = true, requires = "mothership")]
    pub started: bool,

    /// End when standard input ends
    #[arg(long, hide = true)]
    pub embedded: bool,
}

/// Show a wall live in browsers, in its real arrangement.
///
/// The command prints the address of the page. The address contains a token: anyone who has it can
/// watch.
#[derive(Debug, Args)]
pub struct Viewer {
    /// The wall to show: COLUMNSxROWS tiles, or the wall in FILE.toml
    ///
    /// FILE.toml:NAME selects a wall if the file has several; see manganese-walls(5).
    #[arg(long, value_name = "WALL")]
    pub wall: WallName,

    /// Address of the page, tcp:HOST:PORT; port 0 takes a free port
    #[arg(long, value_name = "ADDR", default_value = "tcp:127.0.0.1:0")]
    pub listen: Address,

    /// Receive pictures at ADDR: unix:/path, unix:@name, tcp:HOST:PORT or tls:HOST:PORT
    #[arg(long, value_name = "ADDR", default_value = mgn_wall::VIEWER)]
    pub feeds: Address,

    #[command(flatten)]
    pub keys: Keys,

    /// Another name by which browsers address this machine; may be repeated
    #[arg(long, value_name = "HOST")]
    pub name: Vec<String>,
}

/// Connect programs to servers that only this machine can reach.
///
/// Clients that know the token reach the server NAME at tls:HOST:PORT/NAME, where HOST:PORT is the
/// relay's address. Such an address works wherever a server's address does. The connection is
/// encrypted end to end: the relay cannot read it.
#[derive(Debug, Args)]
pub struct Relay {
    /// Listen on ADDR; may be repeated
    ///
    /// ADDR is tls:HOST[:PORT], or tcp:HOST[:PORT] for servers at tcp: addresses. The default port
    /// is 7600.
    #[arg(long, value_name = "ADDR", required = true, value_parser = Address::of_relay)]
    pub listen: Vec<Address>,

    /// Offer the server or mothership at ADDR under NAME; may be repeated
    #[arg(long, value_name = "NAME=ADDR", required_unless_present = "mothership")]
    pub to: Vec<Target>,

    /// Offer all servers that the mothership at ADDR knows, under their names there
    #[arg(long, value_name = "ADDR", value_parser = Address::of_mothership)]
    pub mothership: Option<Address>,

    #[command(flatten)]
    pub keys: Keys,
}

/// Replay a stream that was recorded with `mgn run --transport file:PATH`.
#[derive(Debug, Args)]
pub struct Replay {
    /// The recorded stream
    pub file: PathBuf,

    /// Add a stage that commands pass before the renderer
    ///
    /// STAGE is NAME[:key=value[,key=value]]. May be repeated; commands pass the stages in the
    /// order of the flags. See share/doc/manganese/spu.md for a list of stages.
    #[arg(long, value_name = "STAGE")]
    pub spu: Vec<Stage>,

    /// Save each frame as a picture in DIR
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,

    /// Save only every N-th frame
    #[arg(long, value_name = "N", default_value_t = 1, requires = "save")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,

    /// Format of saved frames
    #[arg(long, value_enum, default_value_t = ImageFormat::Png, requires = "save")]
    pub image_format: ImageFormat,

    /// Take a snapshot before this message
    #[arg(
        long,
        value_name = "N",
        hide = true,
        requires = "middle",
        conflicts_with = "spu"
    )]
    pub from: Option<u64>,

    /// What to do with the session there
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

/// Show what this machine can and cannot do, and why.
#[derive(Debug, Args)]
pub struct Info {
    /// Compare the OpenGL versions and extensions that programs get with those of the local driver
    #[arg(long)]
    pub gl: bool,
    /// Print JSON, for programs to read
    #[arg(long)]
    pub json: bool,
}

/// Measure which message settings suit this machine, and write them to a file.
///
/// Two processes send messages to each other for 15 seconds. Nothing else should run during that
/// time. The command shows the results, and the file gives the reason for each setting.
///
/// Endpoints of the message layer read the file when they are created. `MGN_TUNE` names another
/// file to read, and a variable such as `MGN_EAGER_SHM=16K` changes one setting.
#[derive(Debug, Args)]
pub struct Tune {
    /// Show the settings, but do not write them
    #[arg(long)]
    pub dry_run: bool,

    /// Write the settings to FILE
    ///
    /// [default: manganese/tune.toml in $XDG_CONFIG_HOME or ~/.config]
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    pub output: Option<PathBuf>,

    /// Seconds to measure, from 1 to 300; use more on a busy machine
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=300))]
    pub seconds: u64,
}

/// The tokens that a listener admits over TCP, and the key by which clients recognise it.
#[derive(Debug, Args)]
pub struct Keys {
    /// File with the tokens that are admitted over TCP; see `mgn token`
    ///
    /// [default: the token in --token-file, if that is given; otherwise $MGN_TOKEN_STORE, then
    /// token_store in config.toml, then ~/.config/manganese/tokens]
    #[arg(long, value_name = "FILE")]
    pub token_store: Option<PathBuf>,

    /// File with the token that this process uses to connect to a mothership, a viewer or another
    /// relay
    ///
    /// If you give this flag without --token-store, this is also the only token that is admitted.
    /// [default: token_file in config.toml, then ~/.config/manganese/token]
    #[arg(long, value_name = "FILE", env = "MGN_TOKEN_FILE")]
    pub token_file: Option<PathBuf>,

    /// File with the private key for tls: addresses; it is created if it does not exist
    ///
    /// [default: $MGN_SERVER_KEY, then server_key in config.toml, then
    /// ~/.local/state/manganese/server.key]
    #[arg(long, value_name = "FILE")]
    pub server_key: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum Token {
    /// Create a token file for a machine where programs run, and add the token to this machine's
    /// store
    ///
    /// Run this on the server's machine. The token contains the public key of this machine's
    /// servers. At tls: addresses, programs with this token connect to no other server.
    New(NewToken),

    /// Add the token in FILE to this machine's store
    Add {
        /// The token, as `mgn token new` has written it elsewhere
        file: PathBuf,

        #[command(flatten)]
        store: StoreFile,
    },

    /// Show the names and roles of the tokens that servers on this machine admit
    List {
        #[command(flatten)]
        store: StoreFile,
    },

    /// Remove a token from the store; running servers that read this file refuse it from then on
    ///
    /// They end the sessions that have begun with it within a few seconds.
    Revoke {
        /// The token's name, as `mgn token list` shows it
        name: String,

        #[command(flatten)]
        store: StoreFile,
    },

    /// Show the public key of servers on this machine
    Key {
        /// File with the private key; it is created if it does not exist
        ///
        /// [default: $MGN_SERVER_KEY, then server_key in config.toml, then
        /// ~/.local/state/manganese/server.key]
        #[arg(long, value_name = "FILE")]
        server_key: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub struct NewToken {
    /// File to create, which must not exist yet
    ///
    /// [default: manganese/token in $XDG_CONFIG_HOME or ~/.config, where all commands look for it]
    pub file: Option<PathBuf>,

    /// Name of the token, for lists and logs [default: the file's name without its ending]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// What the token allows: client (have programs rendered), server (register with a mothership,
    /// send pictures to a viewer) or admin (everything, including mgn status and mgn stop over
    /// the network)
    #[arg(long, value_name = "ROLE", default_value = "client")]
    pub role: Role,

    #[command(flatten)]
    pub store: StoreFile,

    /// Public key of a server that the token is valid for, instead of this machine's; may be
    /// repeated
    ///
    /// `mgn token key` on a server's machine shows its key.
    #[arg(long, value_name = "KEY")]
    pub key: Vec<PublicKey>,

    /// File with the private key of servers on this machine; it is created if it does not exist
    ///
    /// [default: $MGN_SERVER_KEY, then server_key in config.toml, then
    /// ~/.local/state/manganese/server.key]
    #[arg(long, value_name = "FILE", conflicts_with = "key")]
    pub server_key: Option<PathBuf>,
}

/// The tokens that servers admit.
#[derive(Debug, Args)]
pub struct StoreFile {
    /// File with the tokens that servers admit
    ///
    /// [default: $MGN_TOKEN_STORE, then token_store in config.toml, then
    /// ~/.config/manganese/tokens]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
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

/// The value of --server.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerName {
    /// A server that is started for this run, even if the settings name another.
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
    /// In the program's own window
    Window,
    /// Nowhere
    None,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ImageFormat {
    /// Lossless
    Png,
    /// Smaller files, lossy
    Jpeg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum OnLoss {
    /// End the program
    Exit,
    /// Let the program continue without drawing
    Continue,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Tiling {
    /// As the wall is configured; otherwise `offset` only if the mural is larger than a
    /// framebuffer can be
    Auto,
    /// Each renderer holds the whole window
    Scissor,
    /// Each renderer holds only its tile
    Offset,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Weld {
    /// When the server is behind the program
    Auto,
    /// Always, for a slow network
    Always,
    /// Never
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
