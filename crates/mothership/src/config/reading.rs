//! From TOML to a configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use mgn_fabric::{Address, Transport};
use mgn_wall::{
    Fit, Place, Rect, Target, Tile, Tiling, Wall, WallError, Windows, TILES_MAX, VIEWER,
};
use toml::de::{DeTable, DeValue};

use super::section::{closest, At, Notes, Section, Value};
use super::{Config, Host, Mothership, Server, Stage, StageFault, Start, Units, WallPlan};

/// More pixels than any mural has.
const PIXELS: u32 = 1 << 20;

/// Reads a file's text, or gives all that is wrong in it, as bytes of the text and what to do.
pub(super) fn read(
    text: &str,
    folder: &Path,
    units: Units<'_>,
) -> Result<Config, Vec<(Range<usize>, String)>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let notes = Notes::default();
    for error in &errors {
        let span = error.span().unwrap_or(0..1);
        notes.add(span, format!("this is no TOML: {}", error.message()));
    }
    if !errors.is_empty() {
        // What stands behind such a mistake is rarely what was meant.
        return Err(notes.into_list());
    }
    let reader = Reader {
        folder,
        units,
        notes: &notes,
    };
    let config = reader.config(&Section::new(&notes, "the configuration", &table));
    let found = notes.into_list();
    match found.is_empty() {
        true => Ok(config),
        false => Err(found),
    }
}

struct Reader<'f> {
    folder: &'f Path,
    units: Units<'f>,
    notes: &'f Notes,
}

/// Whether a stage can be where it is named.
type Fits = fn(&Stage) -> Result<(), StageFault>;

/// On which host (none is the mothership's) somebody listens at an address, and where that stands.
type Taken = (String, Address, Range<usize>);

/// What a wall says about others, and about its servers.
struct OfWall {
    name: String,
    replicas: Vec<At<String>>,
    servers: BTreeSet<String>,
    chain: Vec<Stage>,
    /// Where it stands, or else the wall.
    span: Range<usize>,
}

/// What was read of one kind, and where each was named.
struct Named<T> {
    kind: &'static str,
    list: Vec<(At<String>, T)>,
}

impl<T> Named<T> {
    fn new(kind: &'static str) -> Named<T> {
        let list = Vec::new();
        Named { kind, list }
    }

    fn add(&mut self, notes: &Notes, name: At<String>, what: T) {
        if self.find(&name.value).is_some() {
            let what = format!(
                "there is another {} called {}; give one of them another name",
                self.kind, name.value
            );
            return notes.add(name.span, what);
        }
        self.list.push((name, what));
    }

    fn find(&self, name: &str) -> Option<&T> {
        let found = self.list.iter().find(|(at, _)| at.value == name);
        found.map(|(_, what)| what)
    }

    /// Notes that a name is none of these, if so.
    fn check(&self, notes: &Notes, name: &At<String>) -> bool {
        if self.find(&name.value).is_some() {
            return true;
        }
        let all = || self.list.iter().map(|(at, _)| at.value.as_str());
        let advice = match (closest(&name.value, all()), self.list.is_empty()) {
            (_, true) => format!("add a [[{}]] with this name", self.kind),
            (Some(near), _) => format!("did you mean {near}?"),
            (None, _) => format!("there are {}", all().collect::<Vec<_>>().join(", ")),
        };
        let what = format!(
            "there is no {} called {:?}; {advice}",
            self.kind, name.value
        );
        notes.add(name.span.clone(), what);
        false
    }

    fn into_list(self) -> Vec<T> {
        self.list.into_iter().map(|(_, what)| what).collect()
    }
}

impl Reader<'_> {
    fn config(&self, file: &Section<'_>) -> Config {
        let mut hosts = Named::new("host");
        for section in file.each("host", "the host") {
            self.host(section, &mut hosts);
        }
        let mut servers = Named::new("server");
        let mut taken = Vec::new();
        for section in file.each("server", "the server") {
            self.server(section, &hosts, &mut servers, &mut taken);
        }
        let mothership = self.mothership(file, &hosts, &servers, &mut taken);
        let mut walls = Named::new("wall");
        let mut shared = Vec::new();
        for section in file.each("wall", "the wall") {
            shared.extend(self.wall(section, &servers, &mut walls));
        }
        for of_wall in &shared {
            self.check_replicas(of_wall, &walls);
        }
        self.share_chains(&shared, &hosts, &mut servers);
        Config {
            mothership,
            hosts: hosts.into_list(),
            servers: servers.into_list(),
            walls: walls.into_list(),
        }
    }

    fn mothership(
        &self,
        file: &Section<'_>,
        hosts: &Named<Host>,
        servers: &Named<Server>,
        taken: &mut Vec<Taken>,
    ) -> Mothership {
        let section = file
            .get("mothership")
            .and_then(|value| value.section("the mothership"));
        let with_token = servers
            .list
            .iter()
            .find(|(_, server)| server.token_file.is_some());
        let Some(section) = section else {
            let far = servers
                .list
                .iter()
                .find(|(_, server)| self.is_far(server, hosts));
            if let Some((name, _)) = far {
                let what = "this server is started by ssh and must find the mothership; add a [mothership] that listens at a tls: address";
                self.notes.add(name.span.clone(), what);
            }
            self.token_is_there(None, taken);
            if let Some((name, _)) = with_token {
                let what = "this server's token lies beside the mothership's; add a [mothership] with a token_file";
                self.notes.add(name.span.clone(), what);
            }
            return Mothership::default();
        };
        let listen = match section.get("listen") {
            Some(value) => self.addresses(&value, "", taken),
            None => vec![crate::default_address()],
        };
        let token_file = section.get("token_file");
        if let (None, Some((name, _))) = (&token_file, with_token) {
            let what =
                "this server's token lies beside the mothership's; add token_file to [mothership]";
            self.notes.add(name.span.clone(), what);
        }
        self.token_is_there(token_file.as_ref().map(|value| &value.span), taken);
        let token_file = token_file.and_then(|value| value.text());
        let tcp = || listen.iter().find(|address| is_tcp(address));
        let said = section.get("address").and_then(|value| {
            let address = value.parsed(str::parse::<Address>)?;
            if !is_tcp(&address.value) {
                value.wrong::<()>("a tcp: or tls: address, which other hosts can reach");
            }
            Some(address.value)
        });
        let address = said.or_else(|| tcp().filter(|a| !is_vague(a)).cloned());
        let far = servers
            .list
            .iter()
            .find(|(_, server)| self.is_far(server, hosts));
        if let (None, Some((name, _))) = (&address, far) {
            section.wrong(match tcp() {
                None => format!("the server {} is started by ssh and must find the mothership; add a tls: address to listen", name.value),
                Some(_) => format!("the server {} is started by ssh and must find the mothership; add address = \"tls:HOST:PORT\" as other hosts call it", name.value),
            });
        }
        Mothership {
            listen,
            address,
            token_file: token_file.map(|file| self.folder.join(file.value)),
        }
    }

    fn is_far(&self, server: &Server, hosts: &Named<Host>) -> bool {
        let host = server.host.as_deref().and_then(|name| hosts.find(name));
        host.is_some_and(|host| matches!(host.start, Start::Ssh { .. }))
    }

    /// TCP is not served without a token.
    fn token_is_there(&self, token: Option<&Range<usize>>, taken: &[Taken]) {
        let tcp = taken.iter().find(|(_, address, _)| is_tcp(address));
        if let (None, Some((_, address, span))) = (token, tcp) {
            let what = format!("{address} is served to those with a token only; make one with `mgn token new FILE` and add token_file = \"FILE\" to [mothership]");
            self.notes.add(span.clone(), what);
        }
    }

    fn host(&self, mut section: Section<'_>, hosts: &mut Named<Host>) {
        let name = section.name();
        let address = section
            .get("address")
            .and_then(|value| host_address(&value));
        let relay = section.get("relay").and_then(|value| {
            let address = value.parsed(str::parse::<Address>)?.value;
            match address {
                Address::Tcp { server: None, .. } => Some(address),
                _ => value.wrong("the relay's address, tls:HOST:PORT"),
            }
        });
        let ssh = section.text("ssh").map(|ssh| ssh.value);
        let command = section.text("mgn").map(|mgn| mgn.value);
        let token_file = section.text("token_file");
        let start = section.get("start").and_then(|value| {
            let word = value.text()?.value;
            if !["here", "ssh", "no"].contains(&word.as_str()) {
                return value
                    .wrong(r#""here", "ssh" or "no""#)
                    .or(Some((word, value)));
            }
            Some((word, value))
        });
        let word = match &start {
            Some((word, _)) => word.as_str(),
            None if ssh.is_some() => "ssh",
            None => "no",
        };
        let start = match word {
            "here" => Start::Here,
            "ssh" => {
                let destination = ssh.clone().or_else(|| address.clone());
                if destination
                    .as_ref()
                    .is_none_or(|to| to.is_empty() || to.starts_with('-'))
                {
                    section.wrong(format!("{} is reached by ssh, but where is it? Add address = \"NAME\" or ssh = \"USER@NAME\"", section.title));
                }
                Start::Ssh {
                    destination: destination.unwrap_or_default(),
                    command: command.clone().unwrap_or_else(|| "mgn".into()),
                }
            }
            _ => Start::No,
        };
        if !matches!(start, Start::Ssh { .. }) {
            for (key, is_there) in [
                ("ssh", ssh.is_some()),
                ("mgn", command.is_some()),
                ("token_file", token_file.is_some()),
            ] {
                if is_there {
                    section.wrong(format!(
                        "{} has {key}, which is for start = \"ssh\"; leave it out or change start",
                        section.title
                    ));
                }
            }
        }
        if let Some(name) = name {
            let host = Host {
                name: name.value.clone(),
                address,
                relay,
                start,
                token_file: token_file.map(|file| file.value.into()),
            };
            hosts.add(self.notes, name, host);
        }
    }

    fn server(
        &self,
        mut section: Section<'_>,
        hosts: &Named<Host>,
        servers: &mut Named<Server>,
        taken: &mut Vec<Taken>,
    ) {
        let name = section.name();
        let host = section.text("host");
        let host = host.filter(|host| hosts.check(self.notes, host));
        let host = host.map(|host| host.value);
        let at = host.as_deref().and_then(|name| hosts.find(name));
        let start = at.map_or(&Start::Here, |host| &host.start);
        let relay = at.and_then(|host| host.relay.as_ref());
        let place = host.clone().unwrap_or_default();
        let listen = match section.get("listen") {
            Some(value) => self.addresses(&value, &place, taken),
            None => match (&name, start) {
                (Some(name), Start::Here) => {
                    vec![Address::Abstract(format!("manganese-{}", name.value))]
                }
                (Some(_), Start::Ssh { .. }) => {
                    section.wrong(format!("{} has no listen; add listen = [\"tls:HOST:PORT\"], an address that programs can reach", section.title));
                    Vec::new()
                }
                _ => Vec::new(),
            },
        };
        let transports = section.get("transports").map(|value| {
            let each = value.list("transports");
            let read = |value: &Value<'_>| {
                let transport = value.parsed(str::parse::<Transport>)?.value;
                match transport {
                    Transport::Null | Transport::File(_) => value.wrong("shm, unix or tcp"),
                    transport => Some(transport),
                }
            };
            each.iter().filter_map(read).collect()
        });
        let discard = section.flag("discard").is_some_and(|flag| flag.value);
        let chain = self.chain(&section, "chain", self.units.for_server);
        let token_file = section.get("token_file").and_then(|value| {
            let name = value.text()?.value;
            if !mgn_fabric::is_name(&name) {
                return value.wrong("the name of a file beside the mothership's token, without a folder");
            }
            if relay.is_some() {
                return value.wrong("no token of its own for a server behind a relay, which passes on the mothership's");
            }
            Some(name)
        });
        if *start == Start::No && (!listen.is_empty() || discard || !chain.is_empty()) {
            let title = &section.title;
            section.wrong(format!("{title} is started by somebody else, who says all this; leave out listen, discard and chain, or change the start of its host"));
        }
        if let Some(name) = name {
            let server = Server {
                name: name.value.clone(),
                host,
                listen,
                transports: transports.unwrap_or_default(),
                discard,
                token_file,
                chain,
            };
            servers.add(self.notes, name, server);
        }
    }

    /// Addresses to listen on, at one place each.
    fn addresses(&self, value: &Value<'_>, place: &str, taken: &mut Vec<Taken>) -> Vec<Address> {
        let mut addresses = Vec::new();
        let entries = match value.value {
            DeValue::String(_) => vec![value.itself()],
            _ => value.list("addresses"),
        };
        if entries.is_empty() && matches!(value.value, DeValue::Array(_)) {
            value.wrong::<()>("one address at least");
        }
        for entry in entries {
            let Some(address) = entry.parsed(str::parse::<Address>) else {
                continue;
            };
            let At {
                value: address,
                span,
            } = address;
            let is_taken = |(other, at, _): &Taken| other == place && *at == address;
            if let Address::Tcp {
                server: Some(_), ..
            } = address
            {
                entry.wrong::<()>("an address without a server's name, for that is behind a relay");
            } else if let Address::Tcp { port: 0, .. } = address {
                entry.wrong::<()>("an address with a port, which others can know");
            } else if taken.iter().any(is_taken) {
                let what = format!("{address} is listened on by somebody else; choose another");
                self.notes.add(span, what);
            } else {
                taken.push((place.to_owned(), address.clone(), span));
                addresses.push(address);
            }
        }
        addresses
    }

    /// `["print", { spu = "save", dir = "/tmp" }]`
    fn chain(&self, section: &Section<'_>, key: &'static str, fits: Fits) -> Vec<Stage> {
        let Some(value) = section.get(key) else {
            return Vec::new();
        };
        let stages = value.list("stages").into_iter();
        stages
            .filter_map(|value| self.stage(&value, fits))
            .collect()
    }

    fn stage(&self, value: &Value<'_>, fits: Fits) -> Option<Stage> {
        let mut parameters = BTreeMap::new();
        let mut places = BTreeMap::new();
        let (name, at) = match value.value {
            DeValue::String(name) => (name.to_string(), value.span.clone()),
            DeValue::Table(table) => {
                for (key, entry) in table {
                    let text = match entry.get_ref() {
                        DeValue::String(text) => text.to_string(),
                        DeValue::Integer(number) => number.to_string(),
                        DeValue::Float(number) => number.to_string(),
                        DeValue::Boolean(flag) => flag.to_string(),
                        _ => {
                            let part = value.part(entry);
                            part.wrong::<()>("a text, a number, or true or false");
                            continue;
                        }
                    };
                    if text.contains(',') {
                        let what = "what stages are told has no commas; leave them out";
                        self.notes.add(entry.span(), what);
                    }
                    let key_text = key.get_ref().to_string();
                    places.insert(key_text.clone(), key.span());
                    parameters.insert(key_text, text);
                }
                let Some(name) = parameters.remove("spu") else {
                    return value.wrong("a table that names a stage, { spu = \"...\" }");
                };
                let at = table.get("spu").map_or(value.span.clone(), |at| at.span());
                (name, at)
            }
            _ => return value.wrong("a list of names and tables { spu = \"...\" }"),
        };
        let names = || self.units.names.iter().copied();
        if !names().any(|known| known == name) {
            let advice = match closest(&name, names()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("there are {}", self.units.names.join(", ")),
            };
            let what = format!("there is no stream processing unit called {name:?}; {advice}");
            self.notes.add(at, what);
            return None;
        }
        for (key, text) in &mut parameters {
            if (self.units.is_path)(&name, key) && !text.is_empty() {
                *text = self.folder.join(&*text).display().to_string();
            }
        }
        let stage = Stage { name, parameters };
        if let Err(fault) = fits(&stage) {
            let place = fault.parameter.and_then(|key| places.remove(&key));
            self.notes.add(place.unwrap_or(at), fault.what);
        }
        Some(stage)
    }

    fn wall(
        &self,
        mut section: Section<'_>,
        servers: &Named<Server>,
        walls: &mut Named<WallPlan>,
    ) -> Option<OfWall> {
        let name = section.name();
        if let Some(name) = &name {
            // Else it could be a number of columns and rows.
            if !name.value.starts_with(|c: char| c.is_ascii_alphabetic()) {
                let what = "a wall's name begins with a letter";
                self.notes.add(name.span.clone(), what);
            }
        }
        let size = section.get("size");
        let size = size.and_then(|value| value.wholes::<2>("[width, height]", 1, PIXELS));
        let fit = section.get("fit").and_then(|value| {
            let fit = match value.text()?.value.as_str() {
                "scale" => Fit::Scale,
                "1:1" => Fit::OneToOne,
                "window" => Fit::Window,
                _ => return value.wrong(r#""1:1", "scale" or "window""#),
            };
            Some(fit)
        });
        let tiling = section.get("tiling").and_then(|value| {
            let tiling = match value.text()?.value.as_str() {
                "auto" => Tiling::Auto,
                "scissor" => Tiling::Scissor,
                "offset" => Tiling::Offset,
                _ => return value.wrong(r#""auto", "scissor" or "offset""#),
            };
            Some(tiling)
        });
        let windows = section.get("windows").and_then(|value| windows(&value));
        let chain = self.chain(&section, "chain", self.units.for_server);
        let client_chain = self.chain(&section, "client_chain", self.units.for_client);
        let span = section.get("chain").map(|value| value.span);
        let replicas = section.get("replicas").map(|value| {
            let names = value.list("names of walls");
            names.iter().filter_map(Value::text).collect::<Vec<_>>()
        });
        let replicas = replicas.unwrap_or_default();
        let present = section.get("present");
        let present = present.and_then(|value| self.targets(&value));
        let present = present.unwrap_or_else(|| vec![Target::Program]);
        let tiles = self.tiles(&section, servers, &present);
        let name = name?;
        let hull = tiles.iter().fold((1, 1), |hull, (tile, _)| {
            let rect = &tile.value.rect;
            (rect.right().max(hull.0), rect.bottom().max(hull.1))
        });
        let wall = Wall {
            name: name.value.clone(),
            size: size.map_or(hull, |size| size.value.into()),
            fit: fit.unwrap_or_default(),
            tiling: tiling.unwrap_or_default(),
            windows: windows.unwrap_or_default(),
            tiles: tiles.iter().map(|(tile, _)| tile.value.clone()).collect(),
        };
        for (n, (tile, _)) in tiles.iter().enumerate() {
            self.check_tile(&wall, n, &tile.span);
        }
        match wall.check() {
            Err(WallError::NoTiles(_)) => section.wrong(format!(
                "{} has no tiles; add a [[wall.tile]] for each, or grid = [columns, rows]",
                section.title
            )),
            Err(error @ (WallError::TooMany(..) | WallError::Size(..))) => {
                section.wrong(error.to_string())
            }
            _ => {}
        }
        let plan = WallPlan {
            wall,
            servers: tiles.into_iter().map(|(_, server)| server).collect(),
            replicas: replicas.iter().map(|name| name.value.clone()).collect(),
            client_chain,
        };
        let of_wall = OfWall {
            name: name.value.clone(),
            replicas,
            servers: plan.servers.iter().cloned().collect(),
            chain,
            span: span.unwrap_or(section.span.clone()),
        };
        walls.add(self.notes, name, plan);
        Some(of_wall)
    }

    /// Walls that show the same are there, and not too large together.
    fn check_replicas(&self, of_wall: &OfWall, walls: &Named<WallPlan>) {
        let Some(mut wall) = walls.find(&of_wall.name).map(|plan| plan.wall.clone()) else {
            return;
        };
        for name in &of_wall.replicas {
            if name.value == of_wall.name {
                let what = "a wall is no replica of itself; leave it out";
                self.notes.add(name.span.clone(), what);
            } else if walls.check(self.notes, name) {
                let other = walls.find(&name.value).map(|plan| plan.wall.clone());
                match wall.clone().with_replicas(other) {
                    Ok(both) => wall = both,
                    Err(error @ WallError::TooMany(..)) => {
                        self.notes.add(name.span.clone(), error.to_string())
                    }
                    // Said where that wall stands.
                    Err(_) => {}
                }
            }
        }
    }

    /// Gives the servers of each wall its chain.
    fn share_chains(&self, walls: &[OfWall], hosts: &Named<Host>, servers: &mut Named<Server>) {
        for (name, server) in &mut servers.list {
            let name = &name.value;
            let mut own = walls.iter().filter(|wall| wall.servers.contains(name));
            let Some(first) = own.next() else { continue };
            for other in own.filter(|other| other.chain != first.chain) {
                let what = format!("the server {name} draws for the wall {} too, which has another chain; give both the same, or servers of their own", first.name);
                self.notes.add(other.span.clone(), what);
            }
            if first.chain.is_empty() {
                continue;
            }
            let host = server.host.as_deref().and_then(|name| hosts.find(name));
            if host.is_some_and(|host| host.start == Start::No) {
                let what = format!("the server {name} is started by somebody else, who says its chain; leave this one out, or change the start of its host");
                self.notes.add(first.span.clone(), what);
            }
            let stages = first.chain.iter().map(|stage| self.stage_of(stage, name));
            server.chain.splice(0..0, stages);
        }
    }

    /// A stage of a wall, whose servers have files of their own.
    fn stage_of(&self, stage: &Stage, server: &str) -> Stage {
        let mut stage = stage.clone();
        for (key, text) in &mut stage.parameters {
            if (self.units.is_path)(&stage.name, key) && !text.is_empty() {
                let path = Path::new(&*text);
                let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                let end = path.extension().map(|end| end.to_string_lossy());
                let end = end.map_or(String::new(), |end| format!(".{end}"));
                let own = path.with_file_name(format!("{stem}-{server}{end}"));
                *text = own.display().to_string();
            }
        }
        stage
    }

    /// What `Wall::check` says about one tile, where it stands.
    fn check_tile(&self, wall: &Wall, n: usize, span: &Range<usize>) {
        let alone = Wall {
            tiles: vec![wall.tiles[n].clone()],
            ..wall.clone()
        };
        let twice = wall.tiles[..n]
            .iter()
            .any(|tile| tile.name == wall.tiles[n].name);
        let error = match alone.check() {
            Err(error @ (WallError::Empty(_) | WallError::Outside(..))) => error,
            _ if twice => WallError::Twice(wall.tiles[n].name.clone()),
            _ => return,
        };
        self.notes.add(span.clone(), error.to_string());
    }

    /// The tiles one by one, or those of a grid.
    fn tiles(
        &self,
        section: &Section<'_>,
        servers: &Named<Server>,
        present: &[Target],
    ) -> Vec<(At<Tile>, String)> {
        let each = section.each("tile", &format!("a tile of {}", section.title));
        let grid = section.get("grid");
        let keys = ["tile_size", "bezel", "servers"];
        let [size, bezel, names] = keys.map(|key| section.get(key));
        let Some(grid) = grid else {
            for value in [size, bezel, names].into_iter().flatten() {
                let what = format!("{} is for a wall with grid = [columns, rows]", value.key);
                self.notes.add(value.span, what);
            }
            let read = |tile| self.tile(tile, servers, present);
            return each.into_iter().filter_map(read).collect();
        };
        if !each.is_empty() {
            self.notes.add(
                grid.span.clone(),
                "a wall has either a grid or tiles one by one; leave out one of them",
            );
        }
        let most = TILES_MAX as u32;
        let shape = grid.wholes::<2>("[columns, rows]", 1, most);
        if size.is_none() {
            section.wrong(format!(
                "{} is a grid without tile_size; add tile_size = [width, height] in pixels",
                section.title
            ));
        }
        let size = size.and_then(|value| value.wholes::<2>("[width, height]", 1, PIXELS));
        let bezel = match bezel {
            Some(value) => value
                .wholes::<2>("[x, y]", 0, PIXELS)
                .map(|bezel| bezel.value),
            None => Some([0, 0]),
        };
        if names.is_none() {
            section.wrong(format!("{} is a grid without servers; add servers = [\"...\"], one for all tiles or one for each, row by row", section.title));
        }
        let (Some(shape), Some(size), Some(bezel), Some(names)) = (shape, size, bezel, names)
        else {
            return Vec::new();
        };
        let ([columns, rows], [width, height]) = (shape.value, size.value);
        let count = columns * rows;
        let far = |n: u32, size: u32, gap: u32| u64::from(n) * (u64::from(size) + u64::from(gap));
        if count > most
            || far(columns, width, bezel[0]).max(far(rows, height, bezel[1])) > PIXELS.into()
        {
            let what = format!("a wall has {most} tiles and {PIXELS} pixels each way at most");
            self.notes.add(shape.span, what);
            return Vec::new();
        }
        let list = names.list("names of servers");
        let servers: Vec<_> = list
            .iter()
            .map(|value| self.server_of(value, servers))
            .collect();
        if servers.len() != 1 && servers.len() != count as usize {
            names.wrong::<()>(&format!(
                "1 name, or {count} names row by row; the number of tiles is {columns} x {rows}"
            ));
            return Vec::new();
        }
        let tile = |n: u32| {
            let (x, y) = (n % columns, n / columns);
            let server = servers.get(n as usize).unwrap_or(&servers[0]);
            let tile = Tile {
                name: format!("{x},{y}"),
                rect: Rect::new(
                    x * (width + bezel[0]),
                    y * (height + bezel[1]),
                    width,
                    height,
                ),
                present: present.to_vec(),
                replica: None,
            };
            (
                At {
                    value: tile,
                    span: shape.span.clone(),
                },
                server.clone().unwrap_or_default(),
            )
        };
        (0..count).map(tile).collect()
    }

    fn tile(
        &self,
        mut section: Section<'_>,
        servers: &Named<Server>,
        present: &[Target],
    ) -> Option<(At<Tile>, String)> {
        let name = section.name();
        let rect = section
            .require(
                "rect",
                "rect = [x, y, width, height] in pixels of the mural",
            )
            .and_then(|value| value.wholes::<4>("[x, y, width, height]", 0, PIXELS));
        let server = section
            .require("server", "server = \"...\", who renders it")
            .and_then(|value| self.server_of(&value, servers));
        let own = section
            .get("present")
            .and_then(|value| self.targets(&value));
        let (name, rect) = (name?, rect?);
        let [x, y, width, height] = rect.value;
        let tile = At {
            value: rect.value,
            span: rect.span,
        }
        .map(|_| Tile {
            name: name.value,
            rect: Rect::new(x, y, width, height),
            present: own.unwrap_or_else(|| present.to_vec()),
            replica: None,
        });
        Some((tile, server.unwrap_or_default()))
    }

    fn server_of(&self, value: &Value<'_>, servers: &Named<Server>) -> Option<String> {
        let name = value.text()?;
        let is_known = servers.check(self.notes, &name);
        is_known.then_some(name.value)
    }

    /// One target, several, or none.
    fn targets(&self, value: &Value<'_>) -> Option<Vec<Target>> {
        match value.value {
            DeValue::String(word) if &**word == "none" => Some(Vec::new()),
            DeValue::Array(_) => {
                let each = value.list("places for pictures");
                each.iter().map(|value| self.target(value)).collect()
            }
            _ => Some(vec![self.target(value)?]),
        }
    }

    fn target(&self, value: &Value<'_>) -> Option<Target> {
        let shape =
            "\"program\", \"viewer\", \"none\", { window = \":0\" }, { files = \"DIR\" }, or a list";
        if let DeValue::String(word) = value.value {
            return match &**word {
                "program" => Some(Target::Program),
                "viewer" => Some(Target::Viewer(VIEWER.into())),
                _ => value.wrong(shape),
            };
        }
        let DeValue::Table(_) = value.value else {
            return value.wrong(shape);
        };
        let section = value.section("this target")?;
        let (display, files) = (section.text("window"), section.text("files"));
        let position = section.get("position");
        let fullscreen = section.flag("fullscreen");
        match (display, files) {
            (None, Some(dir)) => {
                if position.is_some() || fullscreen.is_some() {
                    section.wrong("files have no position and no fullscreen; leave them out");
                }
                Some(Target::Files(self.folder.join(dir.value)))
            }
            (Some(display), None) => {
                let full = fullscreen.is_some_and(|flag| flag.value);
                let place = match position {
                    Some(position) if full => {
                        let what =
                            "a window is either at a position or fullscreen; leave out one of them";
                        self.notes.add(position.span, what);
                        return None;
                    }
                    Some(position) => {
                        let [x, y] = position.wholes::<2>("[x, y]", 0, PIXELS)?.value;
                        Place::At(x as i32, y as i32)
                    }
                    None if full => Place::Fullscreen,
                    None => Place::At(0, 0),
                };
                Some(Target::Window {
                    display: display.value,
                    place,
                })
            }
            _ => value.wrong(shape),
        }
    }
}

fn windows(value: &Value<'_>) -> Option<Windows> {
    let section = value.section("windows")?;
    let size = section.get("min_size");
    let size = size.and_then(|value| value.wholes::<2>("[width, height]", 0, PIXELS));
    let nth = section.get("nth").and_then(|value| value.whole(1, 10_000));
    Some(Windows {
        title: section.text("title").map(|title| title.value),
        class: section.text("class").map(|class| class.value),
        min_size: size.map_or((0, 0), |size| size.value.into()),
        nth: nth.map(|nth| nth.value),
    })
}

fn is_tcp(address: &Address) -> bool {
    matches!(address, Address::Tcp { .. })
}

/// A host's name or number. Numbers of IPv6 are in brackets, as everywhere.
fn host_address(value: &Value<'_>) -> Option<String> {
    let text = value.text()?.value;
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    match bare {
        Some(bare) => Some(bare.into()),
        None if text.contains([':', '/', ' ']) => {
            value.wrong("a host's name or number, of IPv6 in brackets as in \"[fd00::1]\"")
        }
        None => Some(text),
    }
}

/// Whether an address to listen on does not say where others find it.
pub(crate) fn is_vague(address: &Address) -> bool {
    match address {
        Address::Tcp { host, .. } => host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_unspecified()),
        _ => false,
    }
}
