//! `mgn server`, its registration with the mothership, and its worker processes.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mgn_fabric::{Address, Inherited, Token};
use mgn_mothership::protocol::{Api, Drawn, Hello, Offer, Profile, Session, Whereabouts, LIMITS};
use mgn_mothership::Registration;
use mgn_server::{Abilities, Follower, Options, SessionReport, WorkerCommand};
use mgn_spu::{Chain, Stage};
use mgn_wire::hello::{api, ContextInfo};

use crate::args::Server;
use crate::credentials::{self, ListenerAccess};

pub fn serve(args: Server) -> anyhow::Result<()> {
    let inherited = Inherited::take_all()?;
    let listen = match (args.listen.is_empty(), inherited.is_empty()) {
        (true, true) => vec![Address::Abstract("manganese".into())],
        _ => args.listen.clone(),
    };
    let passed = inherited.iter().map(Inherited::address);
    let listener =
        credentials::for_listener(&args.keys, listen.iter().chain(passed), &args.mothership)?;
    let mothership = mothership_follower(&args, &listener)?.map(Arc::new);
    let ListenerAccess { access, token } = listener;
    let token = token.map(|(_, token)| token);
    let follower = mothership.clone().map(|member| member as Arc<dyn Follower>);
    let sandbox = args.sandbox();
    mgn_server::run(Options {
        listen,
        inherited,
        access,
        token,
        chain: Chain::on_server(server_stages(args.spu, args.discard))?,
        present: args.present,
        max_sessions: args.max_sessions as usize,
        max_sessions_per_client: args.max_sessions_per_client.map(|count| count as usize),
        max_sessions_per_token: args.max_sessions_per_token.map(|count| count as usize),
        memory_limit: args.memory_limit << 20,
        memory_total: args
            .memory_total
            .map_or_else(mgn_server::memory_total, |mib| mib << 20),
        idle_timeout: args.idle_timeout.map(Duration::from_secs),
        watchdog: Duration::from_secs(args.watchdog),
        sandbox,
        spirv: args.spirv,
        end_with_stdin: args.embedded,
        once: false,
        announce: true,
        follower,
        worker: WorkerCommand::default(),
    })?;
    match mothership.and_then(|member| member.registration.get()?.failure()) {
        Some(why) => anyhow::bail!("{why}"),
        None => Ok(()),
    }
}

/// The stages of the flags. `--discard` adds the stage of that name after all others.
pub fn server_stages(mut spu: Vec<Stage>, discard: bool) -> Vec<Stage> {
    if discard {
        spu.push("discard".parse().expect("there is such a stage"));
    }
    spu
}

pub fn worker() -> anyhow::Result<()> {
    Ok(mgn_server::worker()?)
}

/// Registers the server with the mothership as soon as it listens.
#[derive(Debug)]
struct MothershipFollower {
    mothership: Address,
    token: Option<Token>,
    /// The registration without the addresses and the offer. They are known when the server
    /// listens.
    hello: Hello,
    registration: OnceLock<Registration>,
}

fn mothership_follower(
    args: &Server,
    listener: &ListenerAccess,
) -> anyhow::Result<Option<MothershipFollower>> {
    let token = listener.token.as_ref();
    let Some(mothership) = args.mothership.clone() else {
        return Ok(None);
    };
    let (token, own) = match (&args.mothership_token_file, token) {
        (Some(file), Some((own, _))) => {
            let name = own.file_name().unwrap_or_default().to_string_lossy();
            (Some(Token::read(file)?), Some(name.into_owned()))
        }
        (Some(_), None) => anyhow::bail!(
            "--mothership-token-file is for a server with a token of its own; give that by --token-file"
        ),
        (None, token) => (token.map(|(_, token)| token.clone()), None),
    };
    let whereabouts = Whereabouts::here();
    let hello = Hello {
        name: args
            .name
            .clone()
            .unwrap_or_else(|| whereabouts.host_name.clone()),
        instance: instance(),
        whereabouts,
        addresses: Vec::new(),
        offer: Offer::default(),
        sessions: args.max_sessions,
        is_ours: args.started,
        token: own,
        key: listener.access.key().map(|key| key.public().to_string()),
    };
    Ok(Some(MothershipFollower {
        mothership,
        token,
        hello,
        registration: OnceLock::new(),
    }))
}

/// A random number that identifies this process.
fn instance() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}

impl Follower for MothershipFollower {
    fn listening(&self, abilities: &Abilities, addresses: &[Address]) {
        let hello = Hello {
            offer: offer_of(abilities),
            addresses: addresses.iter().map(Address::to_string).collect(),
            ..self.hello.clone()
        };
        match Registration::begin(self.mothership.clone(), self.token.clone(), hello) {
            Ok(registration) => _ = self.registration.set(registration),
            Err(error) => tracing::error!("{error}"),
        }
    }

    fn sessions(&self, sessions: Vec<SessionReport>) {
        let session = |report: SessionReport| Session {
            id: report.id,
            program: report.program,
            drawn: Some(Drawn {
                frames: report.frames,
                bytes: report.bytes,
            }),
        };
        if let Some(registration) = self.registration.get() {
            registration.sessions(sessions.into_iter().map(session).collect());
        }
    }

    fn end(&self) -> Option<BorrowedFd<'_>> {
        Some(self.registration.get()?.as_fd())
    }
}

fn offer_of(abilities: &Abilities) -> Offer {
    let profile = |(number, context): &(u32, ContextInfo)| {
        let info = &abilities.info;
        let (api, version) = match *number {
            api::COMPAT => (Api::Compat, info.compat),
            api::CORE => (Api::Core, info.core),
            api::ES1 => (Api::Es1, info.es1),
            _ => (Api::Es, info.es),
        };
        Profile {
            api,
            version,
            extensions: context.extensions.clone(),
        }
    };
    let first = abilities.contexts.first().map(|(_, context)| context);
    let limit = |(pname, name): (u32, &str)| {
        let (_, values) = first?.integers.iter().find(|(found, _)| *found == pname)?;
        Some((name.to_owned(), u64::try_from(*values.first()?).ok()?))
    };
    // GL_MAX_TEXTURE_SIZE, GL_MAX_VIEWPORT_DIMS, GL_MAX_RENDERBUFFER_SIZE
    let limits = [0x0d33, 0x0d3a, 0x84e8].into_iter().zip(LIMITS);
    Offer {
        renderer: abilities.info.renderer.clone(),
        version: first
            .map(|context| context.version.clone())
            .unwrap_or_default(),
        profiles: abilities.contexts.iter().map(profile).collect(),
        limits: limits.filter_map(limit).collect(),
        memory: match abilities.info.is_software {
            true => mgn_mothership::free_memory(),
            false => abilities.info.memory.into(),
        },
    }
}
