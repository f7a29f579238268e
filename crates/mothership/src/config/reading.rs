//! Converts TOML to a configuration: hosts, servers, and the relations between them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use mgn_fabric::{Address, Transport};
use toml::de::{DeTable, DeValue};

use super::file::{self, StartWord};
use super::table::{closest, read as read_table, Notes, Section};
use super::values::{At, Name, OneOrMany, Parsed, StageShape};
use super::{Config, Host, Mothership, Server, Stage, StageFault, Start, Units};

/// Reads the text of a file. The error lists all mistakes: for each, a range of bytes of the text,
/// and a sentence that says what is wrong and what to do.
pub(super) fn read(
    text: &str,
    folder: &Path,
    units: Units<'_>,
) -> Result<Config, Vec<(Range<usize>, String)>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let notes = Notes::default();
    for error in &errors {
        let span = error.span().unwrap_or(0..1);
        notes.add(span, format!("this is not valid TOML: {}", error.message()));
    }
    if !errors.is_empty() {
        // After a syntax error, the parser rarely reads the following text as its author meant it.
        return Err(notes.into_list());
    }
    let reader = Reader {
        folder,
        units,
        notes: &notes,
    };
    let config = reader.config(table.get_ref());
    let found = notes.into_list();
    match found.is_empty() {
        true => Ok(config),
        false => Err(found),
    }
}

pub(super) struct Reader<'f> {
    pub folder: &'f Path,
    units: Units<'f>,
    pub notes: &'f Notes,
}

/// Checks whether a server, or a program, can have a stage.
type Fits = fn(&Stage) -> Result<(), StageFault>;

/// An address at which a server or the mothership listens: the host (empty for the mothership's),
/// the address, and its place in the file.
type Taken = (String, Address, Range<usize>);

/// A wall's references to other walls, and its settings for its servers.
pub(super) struct OfWall {
    pub name: String,
    pub replicas: Vec<At<String>>,
    pub servers: BTreeSet<String>,
    pub chain: Vec<Stage>,
    /// The place of the chain in the file, or of the wall if it has no chain.
    pub span: Range<usize>,
}

/// The tables of one kind, each with its name and the place of the name in the file.
pub(super) struct Named<T> {
    kind: &'static str,
    pub list: Vec<(At<String>, T)>,
    /// Whether the name of a table could not be read. A reference to an unknown name may then mean
    /// this table.
    has_nameless: bool,
    /// The names of tables that could be read only in part.
    doubtful: BTreeSet<String>,
}

impl<T> Named<T> {
    pub fn new(kind: &'static str) -> Named<T> {
        Named {
            kind,
            list: Vec::new(),
            has_nameless: false,
            doubtful: BTreeSet::new(),
        }
    }

    /// The name of a section. A missing name is reported. Later messages call the section by its
    /// name.
    pub fn name<S>(
        &mut self,
        notes: &Notes,
        section: &mut Section<S>,
        name: &Option<At<Name>>,
    ) -> Option<At<String>> {
        let Some(At { value, span }) = name else {
            if !section.is_damaged(&["name"]) {
                let what = format!("{} has no name; add name = \"...\"", section.title);
                section.wrong(notes, what);
            }
            self.has_nameless = true;
            return None;
        };
        section.title = format!("{} {}", section.title, value.0);
        Some(At {
            value: value.0.clone(),
            span: span.clone(),
        })
    }

    pub fn add(&mut self, notes: &Notes, name: At<String>, what: T) {
        if self.find(&name.value).is_some() {
            let what = format!(
                "there is another {} called {}; give one of them another name",
                self.kind, name.value
            );
            return notes.add(name.span, what);
        }
        self.list.push((name, what));
    }

    pub fn find(&self, name: &str) -> Option<&T> {
        let found = self.list.iter().find(|(at, _)| at.value == name);
        found.map(|(_, what)| what)
    }

    /// Whether a table has this name. If none has, this notes a mistake, unless the name of some
    /// table could not be read.
    pub fn check(&self, notes: &Notes, name: &At<String>) -> bool {
        if self.find(&name.value).is_some() {
            return true;
        }
        if self.has_nameless {
            return false;
        }
        let all = || self.list.iter().map(|(at, _)| at.value.as_str());
        let advice = match (closest(&name.value, all()), self.list.is_empty()) {
            (_, true) => format!("add a [[{}]] with this name", self.kind),
            (Some(near), _) => format!("did you mean {near}?"),
            (None, _) => format!("use one of {}", all().collect::<Vec<_>>().join(", ")),
        };
        let what = format!(
            "there is no {} called {:?}; {advice}",
            self.kind, name.value
        );
        notes.add(name.span.clone(), what);
        false
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && !self.has_nameless
    }

    fn into_list(self) -> Vec<T> {
        self.list.into_iter().map(|(_, what)| what).collect()
    }
}

impl Reader<'_> {
    fn config(&self, table: &DeTable<'_>) -> Config {
        let apart = ["mothership", "host", "server", "wall"];
        read_table::<file::File>(self.notes, "the configuration", table, 0..1, &apart);
        let mut hosts = Named::new("host");
        for section in self.each("host", "the host", table) {
            self.host(section, &mut hosts);
        }
        let mut servers = Named::new("server");
        let mut taken = Vec::new();
        for section in self.each("server", "the server", table) {
            self.server(section, &hosts, &mut servers, &mut taken);
        }
        let mothership = self.mothership(table, &hosts, &servers, &mut taken);
        let mut walls = Named::new("wall");
        let mut shared = Vec::new();
        for (section, table) in self.tables("wall", table) {
            shared.extend(self.wall(section, table, &hosts, &servers, &mut walls));
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

    /// The tables of `[[key]]`, and their places in the file.
    pub fn tables<'t>(
        &self,
        key: &str,
        table: &'t DeTable<'t>,
    ) -> Vec<(Range<usize>, &'t DeTable<'t>)> {
        let Some(value) = table.get(key) else {
            return Vec::new();
        };
        let entries = match value.get_ref() {
            DeValue::Array(list) => list.iter().collect(),
            _ => vec![value],
        };
        let mut tables = Vec::new();
        for entry in entries {
            match (entry.get_ref(), value.get_ref()) {
                (DeValue::Table(table), DeValue::Array(_)) => tables.push((entry.span(), table)),
                _ => {
                    let what =
                        format!("{key}: this must be a list of tables; begin each with [[{key}]]");
                    self.notes.add(entry.span(), what);
                }
            }
        }
        tables
    }

    fn each<T: serde::de::DeserializeOwned + Default>(
        &self,
        key: &str,
        title: &str,
        table: &DeTable<'_>,
    ) -> Vec<Section<T>> {
        let tables = self.tables(key, table).into_iter();
        let read = |(span, table)| read_table(self.notes, title, table, span, &[]);
        tables.map(read).collect()
    }

    /// The table `[key]`, if there is one.
    pub fn one<T: serde::de::DeserializeOwned + Default>(
        &self,
        key: &str,
        title: &str,
        table: &DeTable<'_>,
    ) -> Option<Section<T>> {
        let value = table.get(key)?;
        match value.get_ref() {
            DeValue::Table(table) => Some(read_table(self.notes, title, table, value.span(), &[])),
            _ => {
                self.notes
                    .add(value.span(), format!("{key}: this must be a table"));
                None
            }
        }
    }

    fn mothership(
        &self,
        file: &DeTable<'_>,
        hosts: &Named<Host>,
        servers: &Named<Server>,
        taken: &mut Vec<Taken>,
    ) -> Mothership {
        let section = self.one::<file::Mothership>("mothership", "the mothership", file);
        let with_token = servers
            .list
            .iter()
            .find(|(_, server)| server.token_file.is_some());
        let far = servers
            .list
            .iter()
            .find(|(_, server)| self.is_far(server, hosts));
        let Some(section) = section else {
            if file.contains_key("mothership") {
                return Mothership::default();
            }
            if let Some((name, _)) = far {
                let what = "this server is started by ssh and must find the mothership; add a [mothership] that listens at a tls: address";
                self.notes.add(name.span.clone(), what);
            }
            self.token_is_there(taken);
            if let Some((name, _)) = with_token {
                let what = "this server's token must be in the folder of the mothership's token; add a [mothership] with a token_file";
                self.notes.add(name.span.clone(), what);
            }
            return Mothership::default();
        };
        let listen = match &section.it.listen {
            Some(value) => self.addresses(value, "", taken),
            None => vec![crate::default_address()],
        };
        if section.it.token_file.is_none() && !section.is_damaged(&["token_file"]) {
            if let Some((name, _)) = with_token {
                let what = "this server's token must be in the folder of the mothership's token; add token_file to [mothership]";
                self.notes.add(name.span.clone(), what);
            }
            if section.it.token_store.is_none() && !section.is_damaged(&["token_store"]) {
                self.token_is_there(taken);
            }
        }
        let tcp = || listen.iter().find(|address| address.is_tcp());
        let said = section.it.address.as_ref().map(|address| {
            if !address.value.0.is_tcp() {
                let what =
                    "address: this must be a tcp: or tls: address, which other hosts can reach";
                self.notes.add(address.span.clone(), what);
            }
            address.value.0.clone()
        });
        let address = said.or_else(|| tcp().filter(|a| !is_vague(a)).cloned());
        if let (None, Some((name, _)), false) =
            (&address, far, section.is_damaged(&["address", "listen"]))
        {
            section.wrong(self.notes, match tcp() {
                None => format!("the server {} is started by ssh and must find the mothership; add a tls: address to listen", name.value),
                Some(_) => format!("the server {} is started by ssh and must find the mothership; add address = \"tls:HOST:PORT\" the address at which other hosts reach it", name.value),
            });
        }
        let token_file = section.it.token_file.as_ref();
        let token_store = section.it.token_store.as_ref();
        Mothership {
            listen,
            address,
            token_file: token_file.map(|file| self.folder.join(&file.value)),
            token_store: token_store.map(|file| self.folder.join(&file.value)),
        }
    }

    fn is_far(&self, server: &Server, hosts: &Named<Host>) -> bool {
        let host = server.host.as_deref().and_then(|name| hosts.find(name));
        host.is_some_and(|host| matches!(host.start, Start::Ssh { .. }))
    }

    /// Notes a mistake if the mothership or a server listens at a TCP address, which requires a
    /// token.
    fn token_is_there(&self, taken: &[Taken]) {
        if let Some((_, address, span)) = taken.iter().find(|(_, address, _)| address.is_tcp()) {
            let what = format!("{address} requires a token; make one with `mgn token new FILE --store STORE` and add token_store = \"STORE\", or token_file = \"FILE\", to [mothership]");
            self.notes.add(span.clone(), what);
        }
    }

    fn host(&self, mut section: Section<file::Host>, hosts: &mut Named<Host>) {
        let name = section.it.name.take();
        let name = hosts.name(self.notes, &mut section, &name);
        let it = &section.it;
        let address = it.address.as_ref().and_then(|text| self.host_address(text));
        let relay = it.relay.as_ref().and_then(|relay| match &relay.value.0 {
            Address::Tcp { server: None, .. } => Some(relay.value.0.clone()),
            _ => {
                let what = "relay: this must be the relay's address, tls:HOST:PORT";
                self.notes.add(relay.span.clone(), what);
                None
            }
        });
        let word = match &it.start {
            Some(word) => word.value,
            None if it.ssh.is_some() => StartWord::Ssh,
            None => StartWord::No,
        };
        let is_doubtful = section.is_damaged(&["start", "ssh", "address"]);
        let start = match word {
            StartWord::Here => Start::Here,
            StartWord::Ssh => {
                let destination = it.ssh.as_ref().map(|ssh| ssh.value.clone());
                let destination = destination.or_else(|| address.clone());
                let is_none = destination
                    .as_ref()
                    .is_none_or(|to| to.is_empty() || to.starts_with('-'));
                if is_none && !is_doubtful && (address.is_some() || it.address.is_none()) {
                    section.wrong(self.notes, format!("{} is started by ssh but has no address; add address = \"NAME\" or ssh = \"USER@NAME\"", section.title));
                }
                Start::Ssh {
                    destination: destination.unwrap_or_default(),
                    command: match &it.mgn {
                        Some(command) => command.value.clone(),
                        None => "mgn".into(),
                    },
                }
            }
            StartWord::No => Start::No,
        };
        if !matches!(start, Start::Ssh { .. }) && !is_doubtful {
            let keys = [
                ("ssh", &it.ssh),
                ("mgn", &it.mgn),
                ("token_file", &it.token_file),
                ("token_store", &it.token_store),
            ];
            for (key, value) in keys {
                if let Some(value) = value {
                    let what = format!(
                        "{} has {key}, which is for start = \"ssh\"; leave it out or change start",
                        section.title
                    );
                    self.notes.add(value.span.clone(), what);
                }
            }
        }
        let Some(name) = name else { return };
        if is_doubtful {
            hosts.doubtful.insert(name.value.clone());
        }
        let host = Host {
            name: name.value.clone(),
            address,
            relay,
            start,
            token_file: it.token_file.as_ref().map(|file| file.value.clone().into()),
            token_store: it
                .token_store
                .as_ref()
                .map(|file| file.value.clone().into()),
        };
        hosts.add(self.notes, name, host);
    }

    /// A host's name or IP address. In the file, an IPv6 address is in brackets.
    fn host_address(&self, text: &At<String>) -> Option<String> {
        let bare = text.value.strip_prefix('[');
        let bare = bare.and_then(|text| text.strip_suffix(']'));
        match bare {
            Some(bare) => Some(bare.into()),
            None if text.value.contains([':', '/', ' ']) => {
                let what = "address: this must be a host name or an IP address, IPv6 in brackets as in \"[fd00::1]\"";
                self.notes.add(text.span.clone(), what);
                None
            }
            None => Some(text.value.clone()),
        }
    }

    fn server(
        &self,
        mut section: Section<file::Server>,
        hosts: &Named<Host>,
        servers: &mut Named<Server>,
        taken: &mut Vec<Taken>,
    ) {
        let name = section.it.name.take();
        let name = servers.name(self.notes, &mut section, &name);
        let it = &section.it;
        let host = it.host.as_ref();
        let host = host.filter(|host| hosts.check(self.notes, host));
        let host = host.map(|host| host.value.clone());
        let at = host.as_deref().and_then(|name| hosts.find(name));
        // If a host could only be read in part, errors that may result from that are not reported.
        let is_sure = match &host {
            Some(host) => !hosts.doubtful.contains(host),
            None => it.host.is_none() && !section.is_damaged(&["host"]),
        };
        let start = at.map_or(&Start::Here, |host| &host.start);
        let relay = at.and_then(|host| host.relay.as_ref());
        let place = host.clone().unwrap_or_default();
        let listen = match &it.listen {
            Some(value) => self.addresses(value, &place, taken),
            None => match (&name, start) {
                (Some(name), Start::Here) => {
                    vec![Address::Abstract(format!("manganese-{}", name.value))]
                }
                (Some(_), Start::Ssh { .. }) if is_sure && !section.is_damaged(&["listen"]) => {
                    section.wrong(self.notes, format!("{} has no listen; add listen = [\"tls:HOST:PORT\"], an address that programs can reach", section.title));
                    Vec::new()
                }
                _ => Vec::new(),
            },
        };
        let mut transports = Vec::new();
        for transport in it.transports.iter().flatten() {
            match &transport.value.0 {
                Transport::Null | Transport::File(_) => {
                    let what = "transports: each must be \"shm\", \"unix\" or \"tcp\"";
                    self.notes.add(transport.span.clone(), what);
                }
                transport => transports.push(transport.clone()),
            }
        }
        let discard = it.discard.as_ref().is_some_and(|flag| flag.value);
        let chain = self.chain(&it.chain, self.units.for_server);
        let token_file = it.token_file.as_ref().and_then(|file| {
            let wrong = match (mgn_fabric::is_name(&file.value), relay) {
                (false, _) => "token_file: this must be the name of a file in the folder of the mothership's token; leave out the folder",
                (true, Some(_)) => "token_file: a server behind a relay cannot have a token of its own, because the relay admits the mothership's tokens; leave it out",
                (true, None) => return Some(file.value.clone()),
            };
            self.notes.add(file.span.clone(), wrong);
            None
        });
        let is_told = it.listen.is_some() || discard || !chain.is_empty();
        if *start == Start::No && is_told && is_sure {
            let title = &section.title;
            section.wrong(self.notes, format!("{title} is not started by the mothership, so these keys have no effect; leave out listen, discard and chain, or change the start of its host"));
        }
        if let Some(name) = name {
            let server = Server {
                name: name.value.clone(),
                host,
                listen,
                transports,
                discard,
                token_file,
                chain,
            };
            servers.add(self.notes, name, server);
        }
    }

    /// Reads addresses to listen on. Two servers of a host must not listen at the same address.
    fn addresses(
        &self,
        value: &At<OneOrMany<Parsed<Address>>>,
        place: &str,
        taken: &mut Vec<Taken>,
    ) -> Vec<Address> {
        let mut addresses = Vec::new();
        let entries = value.each();
        if entries.is_empty() {
            self.notes.add(
                value.span.clone(),
                "listen: there must be one address at least",
            );
        }
        for At { value, span } in entries {
            let address = value.0;
            let is_taken = |(other, at, _): &Taken| other == place && *at == address;
            let wrong = match &address {
                Address::Tcp {
                    server: Some(_), ..
                } => "a listen address must not contain a server name; only the addresses of relays do"
                    .into(),
                Address::Tcp { port: 0, .. } => {
                    "a listen address needs a fixed port".into()
                }
                _ if taken.iter().any(is_taken) => {
                    format!("{address} is already used in this file; choose another")
                }
                _ => {
                    taken.push((place.to_owned(), address.clone(), span));
                    addresses.push(address);
                    continue;
                }
            };
            self.notes.add(span, wrong);
        }
        addresses
    }

    /// `["print", { spu = "save", dir = "/tmp" }]`
    fn chain(&self, stages: &Option<At<Vec<At<StageShape>>>>, fits: Fits) -> Vec<Stage> {
        let stages = stages.iter().flat_map(|stages| &stages.value);
        stages.filter_map(|stage| self.stage(stage, fits)).collect()
    }

    /// The chains of a wall: that of its servers, and that of its programs.
    pub fn chains_of(&self, wall: &file::Wall) -> (Vec<Stage>, Vec<Stage>) {
        (
            self.chain(&wall.chain, self.units.for_server),
            self.chain(&wall.client_chain, self.units.for_client),
        )
    }

    fn stage(&self, At { value, span }: &At<StageShape>, fits: Fits) -> Option<Stage> {
        let name = &value.name;
        let names = || self.units.names.iter().copied();
        if !names().any(|known| known == name) {
            let advice = match closest(name, names()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("use one of {}", self.units.names.join(", ")),
            };
            let what = format!("there is no stream processing unit called {name:?}; {advice}");
            self.notes.add(span.clone(), what);
            return None;
        }
        let mut parameters = BTreeMap::new();
        for At {
            value: (key, text), ..
        } in &value.parameters
        {
            let text = match (self.units.is_path)(name, key) && !text.is_empty() {
                true => self.folder.join(text).display().to_string(),
                false => text.clone(),
            };
            parameters.insert(key.clone(), text);
        }
        let stage = Stage {
            name: name.clone(),
            parameters,
        };
        if let Err(fault) = fits(&stage) {
            let blamed = value
                .parameters
                .iter()
                .find(|parameter| fault.parameter.as_ref() == Some(&parameter.value.0));
            let span = blamed.map_or(span, |parameter| &parameter.span);
            self.notes.add(span.clone(), fault.what);
        }
        Some(stage)
    }

    /// Puts the chain of each wall before the chains of its servers.
    fn share_chains(&self, walls: &[OfWall], hosts: &Named<Host>, servers: &mut Named<Server>) {
        for (name, server) in &mut servers.list {
            let name = &name.value;
            let mut own = walls.iter().filter(|wall| wall.servers.contains(name));
            let Some(first) = own.next() else { continue };
            for other in own.filter(|other| other.chain != first.chain) {
                let what = format!("the server {name} also draws for the wall {}, which has another chain; give both walls the same chain, or separate servers", first.name);
                self.notes.add(other.span.clone(), what);
            }
            if first.chain.is_empty() {
                continue;
            }
            let host = server.host.as_deref().and_then(|name| hosts.find(name));
            let is_sure = host.is_some_and(|host| !hosts.doubtful.contains(&host.name));
            if is_sure && host.is_some_and(|host| host.start == Start::No) {
                let what = format!("the server {name} is not started by the mothership, so its chain is set where it is started; leave this one out, or change the start of its host");
                self.notes.add(first.span.clone(), what);
            }
            let stages = first.chain.iter().map(|stage| self.stage_of(stage, name));
            server.chain.splice(0..0, stages);
        }
    }

    /// A stage of a wall, for one of its servers. The server's name is added to file names, so that
    /// each server has its own files.
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
}

/// Whether a listening address does not tell other hosts where to connect: its IP address is
/// 0.0.0.0 or ::.
pub(crate) fn is_vague(address: &Address) -> bool {
    match address {
        Address::Tcp { host, .. } => host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_unspecified()),
        _ => false,
    }
}
