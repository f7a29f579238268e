//! The command line. Help, man pages and completions all come from here.
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "comments on arguments are help texts: [:PORT] is no link"
)]

mod bench;
mod choices;
#[cfg(test)]
mod documented;
mod few;
mod keys;
mod mothership;
mod ranks;
mod relay;
mod render;
mod replay;
mod run;
mod server;
mod ssh;
mod token;
mod verify;
mod viewer;
mod wall_name;
mod window;
mod words;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use mgn_server::Sandbox;

pub use bench::{Bench, BenchCommand, BenchCompare, BenchReport};
pub use choices::{ImageFormat, OnLoss, Present, Tiling, Weld};
pub use few::{Info, Pages, Tune};
pub use keys::{Keys, StoreFile};
pub use mothership::{Config, Contact, Mothership, Status, Stop};
pub use relay::{Relay, RelayTarget};
pub use render::{RenderFlags, ServerName};
pub use replay::{Middle, Replay};
pub use run::Run;
pub use server::Server;
pub use ssh::{Ssh, SshHold};
pub use token::{NewToken, Token};
pub use verify::Verify;
pub use viewer::Viewer;
pub use wall_name::WallName;
pub use words::{with_long_np, words_of_a_rank};

/// Run OpenGL programs and render them in another process, here or on another machine.
#[derive(Debug, Parser)]
#[command(name = "mgn", version, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// Whether the environment turns off the confinement of sessions for servers that are started
    /// without flags.
    pub fn sandbox_is_off() -> bool {
        let server = Cli::try_parse_from(["mgn", "server"]).map(|cli| cli.command);
        matches!(server, Ok(Command::Server(server)) if server.sandbox() == Sandbox::Off)
    }

    /// The command line of this process. Ends the process if the command line is invalid.
    pub fn read() -> Cli {
        let words: Vec<OsString> = std::env::args_os().collect();
        Cli::from_words(&with_long_np(words)).unwrap_or_else(|error| error.exit())
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

/// Finds a flag with an optional value, followed by a word that looks like this value. Without an
/// equals sign, the word would be run as the program.
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
    // The word after `--` is always the program.
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

#[cfg(test)]
mod tests {
    use mgn_fabric::{Address, Transport};

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
    fn words_after_the_program_are_its_arguments() {
        let parsed = run(&["--frames", "3", "--", "gears", "--frames", "9", "-x"]).unwrap();
        assert_eq!(parsed.frames, Some(3));
        assert_eq!(parsed.program, ["gears", "--frames", "9", "-x"]);
        let parsed = run(&["gears", "--server", "x"]).unwrap();
        assert_eq!(parsed.program.len(), 3);
        assert!(parsed.render.named.is_empty());
    }

    #[test]
    fn verify_takes_the_render_flags_of_run() {
        let text = "mgn verify --headless --transport tcp --input 3:ls --input 4:ps -- p --frames";
        let parsed = Cli::try_parse_from(text.split(' ')).unwrap();
        let Command::Verify(verify) = parsed.command else {
            panic!("{parsed:?} is not verify");
        };
        assert!(verify.render.headless);
        assert_eq!(verify.render.transport, Some(Transport::Tcp));
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
            let wall = run(&["--wall", text, "p"]).unwrap().render.wall;
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
