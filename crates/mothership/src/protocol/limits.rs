//! Limits for the messages to the mothership. The mothership stores the contents of messages, and
//! compares all requests with all servers in one thread. A single message must therefore cost
//! little memory and time.

use std::path::Path;

use mgn_wall::{Target, Tile, TILES_MAX};

use super::{decode, End, Hello, Matched, Request, ToMothership, Wanted, Whereabouts};

/// The longest message from a client. The longest useful one is the request of a client that has a
/// wall already. The limit leaves 2 KiB for each of its 64 tiles. A tile with the longest names and
/// several targets needs 1.3 KiB.
pub const CLIENT_MESSAGE_MAX: usize = 128 << 10;

/// The largest number of extensions of a profile, and of a request. Drivers have about 400.
const EXTENSIONS_MAX: usize = 1024;
const EXTENSION_NAME_MAX: usize = 256;
const PROFILES_MAX: usize = 16;
const LIMITS_MAX: usize = 64;
const ADDRESSES_MAX: usize = 64;
/// The largest number of places where one tile is shown.
const TARGETS_MAX: usize = 64;
const STAGES_MAX: usize = 64;
const SESSIONS_MAX: usize = 1 << 14;
/// The largest number of bytes of any other text. The longest are paths, and the joined names of
/// walls that show the same.
const TEXT_MAX: usize = 8 << 10;

/// The reason why the mothership rejects a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error("a message is invalid; use the same release on both ends")]
    Invalid,
    #[error("a message has {count} {what}; the limit is {max}")]
    TooMuch {
        what: &'static str,
        count: usize,
        max: usize,
    },
}

impl ToMothership {
    /// Reads a message.
    ///
    /// # Errors
    /// [`Unusable`] for an invalid message, and for a message that exceeds a limit.
    pub fn decode(bytes: &[u8]) -> Result<ToMothership, Unusable> {
        let message: ToMothership = decode(bytes).ok_or(Unusable::Invalid)?;
        message.check()?;
        Ok(message)
    }

    fn check(&self) -> Result<(), Unusable> {
        match self {
            ToMothership::Server(hello) => hello.check(),
            ToMothership::Client(request) => request.check(),
            ToMothership::Sessions(sessions) => {
                most("sessions", sessions.len(), SESSIONS_MAX)?;
                texts(sessions.iter().map(|session| &session.program))
            }
            ToMothership::Where(asked) => {
                texts([&asked.server])?;
                asked.whereabouts.check()
            }
            ToMothership::Unfit { address, .. } => texts([address]),
            ToMothership::Phases(phases) => most("tiles", phases.len(), TILES_MAX),
            ToMothership::Status
            | ToMothership::Stop
            | ToMothership::Alive
            | ToMothership::Drawn(_)
            | ToMothership::Holes(_) => Ok(()),
        }
    }
}

impl Hello {
    fn check(&self) -> Result<(), Unusable> {
        let offer = &self.offer;
        most("addresses", self.addresses.len(), ADDRESSES_MAX)?;
        most("profiles", offer.profiles.len(), PROFILES_MAX)?;
        most("limits", offer.limits.len(), LIMITS_MAX)?;
        for profile in &offer.profiles {
            extensions(&profile.extensions)?;
        }
        texts([&self.name, &offer.renderer, &offer.version])?;
        texts(self.addresses.iter().chain(&self.token).chain(&self.key))?;
        texts(offer.limits.keys())?;
        self.whereabouts.check()
    }
}

impl Request {
    fn check(&self) -> Result<(), Unusable> {
        match &self.wanted {
            Wanted::Walls(names) => {
                most("walls", names.len(), TILES_MAX)?;
                texts(names)?;
            }
            Wanted::Grids(sizes) => most("grids", sizes.len(), TILES_MAX)?,
            Wanted::Single(server) => texts(server)?,
        }
        extensions(&self.needs.extensions)?;
        most("limits", self.needs.limits.len(), LIMITS_MAX)?;
        texts(self.needs.limits.keys().chain([&self.program]))?;
        self.whereabouts.check()?;
        self.held.as_deref().map_or(Ok(()), Matched::check)
    }
}

impl Matched {
    fn check(&self) -> Result<(), Unusable> {
        let wall = &self.wall;
        most("tiles", wall.tiles.len(), TILES_MAX)?;
        most("servers", self.ends.len(), TILES_MAX)?;
        most("stages", self.client_chain.len(), STAGES_MAX)?;
        wall.tiles.iter().try_for_each(check_tile)?;
        self.ends.iter().try_for_each(End::check)?;
        texts([&wall.name, &self.renderer, &self.version])?;
        texts(self.client_chain.iter())?;
        texts(wall.windows.title.iter().chain(&wall.windows.class))
    }
}

fn check_tile(tile: &Tile) -> Result<(), Unusable> {
    most("targets", tile.present.len(), TARGETS_MAX)?;
    for target in &tile.present {
        match target {
            Target::Program => {}
            Target::Window { display, .. } => texts([display])?,
            Target::Files(folder) => path(folder)?,
            Target::Viewer(address) => texts([address])?,
        }
    }
    let replica = tile.replica.as_ref().map(|replica| &replica.wall);
    texts([&tile.name].into_iter().chain(replica))
}

impl End {
    fn check(&self) -> Result<(), Unusable> {
        let texts_of_it = [&self.server, &self.address].into_iter();
        texts(texts_of_it.chain(&self.token).chain(&self.key))
    }
}

impl Whereabouts {
    fn check(&self) -> Result<(), Unusable> {
        texts([&self.host, &self.host_name])
    }
}

fn extensions<'a, I>(names: I) -> Result<(), Unusable>
where
    I: IntoIterator<Item = &'a String, IntoIter: ExactSizeIterator>,
{
    let mut names = names.into_iter();
    most("extensions", names.len(), EXTENSIONS_MAX)?;
    let what = "bytes in the name of an extension";
    names.try_for_each(|name| most(what, name.len(), EXTENSION_NAME_MAX))
}

fn texts<'a>(texts: impl IntoIterator<Item = &'a String>) -> Result<(), Unusable> {
    let mut texts = texts.into_iter();
    texts.try_for_each(|text| most("bytes in a text", text.len(), TEXT_MAX))
}

fn path(path: &Path) -> Result<(), Unusable> {
    most("bytes in a path", path.as_os_str().len(), TEXT_MAX)
}

fn most(what: &'static str, count: usize, max: usize) -> Result<(), Unusable> {
    match count <= max {
        true => Ok(()),
        false => Err(Unusable::TooMuch { what, count, max }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{encode, Api, Needs, Offer, Profile, TransportKind};
    use mgn_wall::{DisplayPosition, Wall};

    fn whereabouts() -> Whereabouts {
        Whereabouts {
            host: "h".repeat(100),
            uid: u32::MAX,
            host_name: "h".repeat(253),
        }
    }

    /// A request of a client that has the largest number of tiles, all with long names.
    fn longest() -> Request {
        let name = |n| format!("{n:064}");
        let mut other = Wall::grid(8, 4).unwrap();
        other.size = (1 << 20, 1 << 20);
        for (n, tile) in other.tiles.iter_mut().enumerate() {
            tile.name = name(n);
            tile.present = vec![
                Target::Window {
                    display: "d".repeat(64),
                    place: DisplayPosition::At(i32::MIN, i32::MIN),
                },
                Target::Files("f".repeat(256).into()),
                Target::Viewer(format!("tls:{}:65535", "h".repeat(253))),
            ];
        }
        let wall = Wall {
            name: name(0),
            ..other.clone()
        };
        let wall = wall
            .with_replicas([Wall {
                name: name(1),
                ..other
            }])
            .unwrap();
        let end = End {
            server: name(0),
            address: format!("tls:{}:65535/{}", "h".repeat(253), name(0)),
            transport: TransportKind::Tcp,
            token: Some(name(0)),
            key: Some(format!("ed25519:{}", name(0))),
        };
        Request {
            wanted: Wanted::Walls(vec![name(0), name(1)]),
            needs: Needs::default(),
            whereabouts: whereabouts(),
            transport: None,
            program: "p".repeat(255),
            pid: u32::MAX,
            held: Some(Box::new(Matched {
                ends: vec![end; wall.tiles.len()],
                wall,
                client_chain: vec!["s".repeat(256); 4],
                renderer: "r".repeat(200),
                version: "v".repeat(200),
            })),
        }
    }

    /// A server with four profiles that have twice as many extensions as drivers have.
    fn hello() -> Hello {
        let extensions = (0..800).map(|n| format!("GL_NV_a_rather_long_name_{n:020}"));
        let profile = Profile {
            api: Api::Compat,
            version: (4, 6),
            extensions: extensions.collect(),
        };
        Hello {
            name: "n".repeat(64),
            instance: u64::MAX,
            whereabouts: whereabouts(),
            addresses: vec!["tls:0.0.0.0:65535".into(); 8],
            offer: Offer {
                profiles: vec![profile; 4],
                ..Offer::default()
            },
            sessions: u32::MAX,
            is_ours: true,
            token: Some("t".repeat(64)),
            key: Some("k".repeat(72)),
        }
    }

    fn refused(message: ToMothership) -> String {
        let read = ToMothership::decode(&encode(&message));
        read.map(|_| "it is taken".to_owned())
            .unwrap_or_else(|why| why.to_string())
    }

    #[test]
    fn what_ends_of_this_release_send_is_taken() {
        let message = ToMothership::Client(Box::new(longest()));
        let bytes = encode(&message);
        assert!(bytes.len() < CLIENT_MESSAGE_MAX, "{}", bytes.len());
        assert_eq!(ToMothership::decode(&bytes), Ok(message));
        let message = ToMothership::Server(Box::new(hello()));
        assert_eq!(ToMothership::decode(&encode(&message)), Ok(message));
    }

    #[test]
    fn requests_with_more_are_not_taken() {
        let refused = |change: &dyn Fn(&mut Request)| {
            let mut request = longest();
            change(&mut request);
            refused(ToMothership::Client(Box::new(request)))
        };
        let why = refused(&|request| {
            request.needs.extensions = (0..5000).map(|n| format!("{n:x}")).collect();
        });
        assert_eq!(why, "a message has 5000 extensions; the limit is 1024");
        type Change<'a> = (&'a str, &'a dyn Fn(&mut Request));
        let changes: [Change<'_>; 12] = [
            ("name of an extension", &|request| {
                request.needs.extensions = [("x".repeat(300))].into();
            }),
            ("65 walls", &|request| {
                request.wanted = Wanted::Walls(vec!["w".into(); 65]);
            }),
            ("65 grids", &|request| {
                request.wanted = Wanted::Grids(vec![(1, 1); 65]);
            }),
            ("65 limits", &|request| {
                let limits = (0..65).map(|n| (n.to_string(), 1));
                request.needs.limits = limits.collect();
            }),
            ("text", &|request| request.program = "x".repeat(10_000)),
            ("text", &|request| {
                request.whereabouts.host_name = "x".repeat(10_000);
            }),
            ("65 tiles", &|request| {
                let held = request.held.as_mut().unwrap();
                held.wall.tiles.push(held.wall.tiles[0].clone());
            }),
            ("65 servers", &|request| {
                let held = request.held.as_mut().unwrap();
                held.ends.push(held.ends[0].clone());
            }),
            ("65 stages", &|request| {
                request.held.as_mut().unwrap().client_chain = vec![String::new(); 65];
            }),
            ("65 targets", &|request| {
                let held = request.held.as_mut().unwrap();
                held.wall.tiles[0].present = vec![Target::Program; 65];
            }),
            ("path", &|request| {
                let held = request.held.as_mut().unwrap();
                held.wall.tiles[0].present = vec![Target::Files("x".repeat(10_000).into())];
            }),
            ("text", &|request| {
                request.held.as_mut().unwrap().ends[63].address = "x".repeat(10_000);
            }),
        ];
        for (word, change) in changes {
            let why = refused(change);
            assert!(why.contains(word), "{word}: {why}");
        }
    }

    #[test]
    fn servers_with_more_are_not_taken() {
        let refused = |change: &dyn Fn(&mut Hello)| {
            let mut hello = hello();
            change(&mut hello);
            refused(ToMothership::Server(Box::new(hello)))
        };
        let addresses = refused(&|hello| hello.addresses = vec![String::new(); 65]);
        assert!(addresses.contains("65 addresses"), "{addresses}");
        let profiles = refused(&|hello| {
            hello.offer.profiles = vec![hello.offer.profiles[0].clone(); 17];
        });
        assert!(profiles.contains("17 profiles"), "{profiles}");
        let extensions = refused(&|hello| {
            hello.offer.profiles[3].extensions = vec![String::new(); 1025];
        });
        assert!(extensions.contains("1025 extensions"), "{extensions}");
    }
}
