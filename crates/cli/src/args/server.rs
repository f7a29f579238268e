//! The command line of `mgn server`.

use std::path::PathBuf;

use clap::Args;
use mgn_fabric::Address;
use mgn_server::Sandbox;
use mgn_spu::Stage;

use super::keys::Keys;

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
    /// Sessions at all addresses count together. If you use this, give each person their own token.
    ///
    /// [default: no limit; or `max_sessions_per_token` in config.toml]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_sessions_per_token: Option<u32>,

    /// Memory limit for each program's session, in MiB
    ///
    /// Memory that a session shares with its program counts, memory of a GPU does not.
    #[arg(long, value_name = "MIB", default_value_t = 8192)]
    #[arg(value_parser = mebibytes)]
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
    #[arg(long, value_name = "MIB", value_parser = mebibytes)]
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
    /// The log contains the same events. Fields whose names begin with `claimed_` contain
    /// unverified statements of the client. The file is opened for each line, so it may be renamed
    /// at any time.
    ///
    /// [default: none, or `audit` in config.toml]
    #[arg(long, value_name = "FILE")]
    pub audit: Option<PathBuf>,

    /// Do not confine sessions' processes to what rendering needs
    ///
    /// Use it if a driver does not work in the sandbox. A client that finds a flaw in the driver
    /// can then do everything that the server's user can do.
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

/// Reads a number of MiB. It must be 64 or more, and its number of bytes must fit into 64 bits.
fn mebibytes(text: &str) -> Result<u64, String> {
    let number = text.parse().ok();
    let number = number.filter(|mib| (64..1 << 40).contains(mib));
    number.ok_or_else(|| "it is a number of MiB, 64 or more, such as 2048".into())
}

impl Server {
    pub fn sandbox(&self) -> Sandbox {
        match (self.no_sandbox, self.require_sandbox) {
            (_, true) => Sandbox::Required,
            (true, false) => Sandbox::Off,
            (false, false) => Sandbox::Possible,
        }
    }
}
