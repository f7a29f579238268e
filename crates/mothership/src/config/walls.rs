//! The walls of a configuration.

use std::ops::Range;

use mgn_wall::{DisplayPosition, Rect, Target, Tile, Wall, WallError, Windows, TILES_MAX, VIEWER};
use toml::de::{DeArray, DeTable};

use super::file::{self, PIXELS};
use super::reading::{Named, OfWall, Reader};
use super::table::{read as read_table, Section};
use super::values::{At, OneOrMany, TargetShape};
use super::{Host, Server, WallPlan};

/// A tile that was read.
struct Read {
    tile: Tile,
    /// The name of the server; empty if it is not known.
    server: String,
    /// Its place in the file.
    span: Range<usize>,
    /// The place in the file of the setting that says where its picture goes.
    shown: Option<Range<usize>>,
}

/// The tiles of a wall, and whether some of them could not be read.
#[derive(Default)]
struct Tiles {
    list: Vec<Read>,
    is_incomplete: bool,
}

impl Reader<'_> {
    pub(super) fn wall(
        &self,
        span: Range<usize>,
        table: &DeTable<'_>,
        hosts: &Named<Host>,
        servers: &Named<Server>,
        walls: &mut Named<WallPlan>,
    ) -> Option<OfWall> {
        let apart = ["tile", "windows"];
        let mut section: Section<file::Wall> =
            read_table(self.notes, "the wall", table, span, &apart);
        let name = section.it.name.take();
        let name = walls.name(self.notes, &mut section, &name);
        if let Some(name) = &name {
            self.check_name(name);
        }
        let windows = self.one::<file::Windows>("windows", "windows", table);
        let (chain, client_chain) = self.chains_of(&section.it);
        let replicas = section.it.replicas.take().unwrap_or_default();
        let tiles = self.tiles(&section, table, servers);
        let name = name?;
        let reach = tiles.list.iter().fold((1, 1), |reach, read| {
            let rect = &read.tile.rect;
            (rect.right().max(reach.0), rect.bottom().max(reach.1))
        });
        let size = section.it.size.as_ref();
        let mut wall = Wall {
            name: name.value.clone(),
            size: size.map_or(reach, |size| (size.value[0].0, size.value[1].0)),
            fit: section.it.fit.map(Into::into).unwrap_or_default(),
            tiling: section.it.tiling.map(Into::into).unwrap_or_default(),
            genlock: section.it.genlock.as_ref().is_some_and(|it| it.value),
            windows: windows
                .map(|windows| windows_of(windows.it))
                .unwrap_or_default(),
            tiles: tiles.list.iter().map(|read| read.tile.clone()).collect(),
        };
        if section.is_damaged(&["size"]) {
            // If the size could not be read, tiles are not compared with it.
            wall.size = reach;
        }
        for (n, read) in tiles.list.iter().enumerate() {
            self.check_tile(&wall, n, &read.span);
        }
        // If other settings have mistakes, the wall may lack windows for this reason, so genlock is
        // not checked.
        let is_whole = self.notes.is_empty();
        let genlock = section.it.genlock.as_ref();
        if let Some(genlock) = genlock.filter(|it| it.value && is_whole) {
            self.check_genlock(&wall, &genlock.span);
        }
        match wall.check() {
            Err(WallError::NoTiles(_)) if !tiles.is_incomplete => {
                let what = format!(
                    "{} has no tiles; add a [[wall.tile]] for each, or grid = [columns, rows]",
                    section.title
                );
                section.wrong(self.notes, what);
            }
            Err(error @ (WallError::TooMany(..) | WallError::Size(..))) => {
                section.wrong(self.notes, error.to_string())
            }
            _ => {}
        }
        self.check_displays(&wall, &tiles, servers, hosts);
        let span = section.it.chain.as_ref().map(|chain| chain.span.clone());
        let plan = WallPlan {
            wall,
            servers: tiles.list.into_iter().map(|read| read.server).collect(),
            replicas: replicas.iter().map(|name| name.value.clone()).collect(),
            chain: chain.clone(),
            client_chain,
        };
        let of_wall = OfWall {
            name: name.value.clone(),
            replicas,
            servers: plan
                .servers
                .iter()
                .filter(|name| !name.is_empty())
                .cloned()
                .collect(),
            chain,
            span: span.unwrap_or(section.span),
        };
        walls.add(self.notes, name, plan);
        Some(of_wall)
    }

    /// A wall's name must differ from a number of columns and rows, and from a file's name.
    fn check_name(&self, name: &At<String>) {
        if !name.value.starts_with(|c: char| c.is_ascii_alphabetic()) {
            self.notes
                .add(name.span.clone(), "a wall's name begins with a letter");
        } else if name.value.ends_with(".toml") || name.value.ends_with(".json") {
            let what = "a wall's name must not end with .toml or .json";
            self.notes.add(name.span.clone(), what);
        }
    }

    /// Checks that a genlocked wall shows tiles in windows. Without them, genlock has no effect.
    fn check_genlock(&self, wall: &Wall, span: &Range<usize>) {
        if wall.tiles.iter().all(|tile| tile.windows() == 0) {
            let what = "the wall has no tile with a window on an X display, so genlock has no effect; leave it out, or give tiles present = { window = \":0\" }, or the wall tile_present";
            self.notes.add(span.clone(), what);
        } else if let Err(error @ WallError::Windows(_)) = wall.check() {
            self.notes.add(span.clone(), error.to_string());
        }
    }

    /// Checks that the wall's replicas exist, and that all together do not have too many tiles.
    pub(super) fn check_replicas(&self, of_wall: &OfWall, walls: &Named<WallPlan>) {
        let Some(mut wall) = walls.find(&of_wall.name).map(|plan| plan.wall.clone()) else {
            return;
        };
        for name in &of_wall.replicas {
            if name.value == of_wall.name {
                let what = "a wall cannot be its own replica; leave it out";
                self.notes.add(name.span.clone(), what);
            } else if walls.check(self.notes, name) {
                let other = walls.find(&name.value).map(|plan| plan.wall.clone());
                match wall.clone().with_replicas(other) {
                    Ok(both) => wall = both,
                    Err(error @ WallError::TooMany(..)) => {
                        self.notes.add(name.span.clone(), error.to_string())
                    }
                    // The error is reported at that wall.
                    Err(_) => {}
                }
            }
        }
    }

    /// Notes the error of `Wall::check` about one tile, at its place in the file.
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

    /// Checks that no two tiles are shown at the same place of a display. Tiles with unknown
    /// servers are not checked, because they may be on different hosts.
    fn check_displays(
        &self,
        wall: &Wall,
        tiles: &Tiles,
        servers: &Named<Server>,
        hosts: &Named<Host>,
    ) {
        let host = |n: usize| host_of(&tiles.list[n].server, servers);
        let Some(covered) = wall.covered(host) else {
            return;
        };
        let host = host(covered.tile).flatten();
        let host = match host.as_deref().and_then(|name| hosts.find(name)) {
            Some(host) => format!("the host {}", host.name),
            None => "this host".into(),
        };
        let read = &tiles.list[covered.tile];
        let what = format!("{covered} of {host}; give each a place of its own");
        self.notes
            .add(read.shown.clone().unwrap_or(read.span.clone()), what);
    }

    /// Reads the tiles, which are listed one by one or form a grid.
    fn tiles(
        &self,
        section: &Section<file::Wall>,
        table: &DeTable<'_>,
        servers: &Named<Server>,
    ) -> Tiles {
        let it = &section.it;
        let present = it
            .present
            .as_ref()
            .map(|value| (self.targets(value), value.span.clone()));
        let singles = self.tables("tile", table);
        let has_tiles = table.contains_key("tile");
        let Some(grid) = &it.grid else {
            let is_damaged = section.is_damaged(&["grid", "tile"]);
            let of_grid = [
                ("tile_size", it.tile_size.as_ref().map(|value| &value.span)),
                ("bezel", it.bezel.as_ref().map(|value| &value.span)),
                ("servers", it.servers.as_ref().map(|value| &value.span)),
                (
                    "tile_present",
                    it.tile_present.as_ref().map(|value| &value.span),
                ),
            ];
            for (key, span) in of_grid {
                if let (Some(span), false) = (span, is_damaged) {
                    let what =
                        format!("{key} is allowed only in a wall with grid = [columns, rows]");
                    self.notes.add(span.clone(), what);
                }
            }
            // An entry that could not be read has been reported.
            let is_nothing = |list: &DeArray<'_>| list.is_empty();
            let list = table.get("tile").map(|value| value.get_ref().as_array());
            let is_empty = list.is_none_or(|list| list.is_some_and(is_nothing));
            let mut tiles = Tiles {
                is_incomplete: is_damaged || !is_empty,
                ..Tiles::default()
            };
            let title = format!("a tile of {}", section.title);
            for (span, table) in singles {
                let read = read_table(self.notes, &title, table, span, &[]);
                tiles.list.extend(self.tile(read, servers, &present));
            }
            return tiles;
        };
        if has_tiles {
            let what = "a wall has either a grid or tiles one by one; leave out one of them";
            self.notes.add(grid.span.clone(), what);
        }
        let tiles = self.grid(section, grid, servers, &present);
        Tiles {
            is_incomplete: tiles.is_none(),
            list: tiles.unwrap_or_default(),
        }
    }

    fn grid(
        &self,
        section: &Section<file::Wall>,
        grid: &At<[file::Count; 2]>,
        servers: &Named<Server>,
        present: &Option<(Vec<Target>, Range<usize>)>,
    ) -> Option<Vec<Read>> {
        let it = &section.it;
        if it.tile_size.is_none() && !section.is_damaged(&["tile_size"]) {
            let what = format!(
                "{} is a grid without tile_size; add tile_size = [width, height] in pixels",
                section.title
            );
            section.wrong(self.notes, what);
        }
        if it.servers.is_none() && !servers.is_empty() && !section.is_damaged(&["servers"]) {
            let what = format!("{} is a grid without servers; add servers = [\"...\"], one for all tiles or one for each, row by row", section.title);
            section.wrong(self.notes, what);
        }
        let size = it.tile_size.as_ref()?;
        if section.is_damaged(&["bezel"]) {
            return None;
        }
        let bezel = it
            .bezel
            .as_ref()
            .map_or([0, 0], |bezel| bezel.value.map(|n| n.0));
        let ([columns, rows], [width, height]) = (grid.value.map(|n| n.0), size.value.map(|n| n.0));
        let count = columns * rows;
        let most = TILES_MAX as u32;
        let far = |n: u32, size: u32, gap: u32| u64::from(n) * (u64::from(size) + u64::from(gap));
        if count > most
            || far(columns, width, bezel[0]).max(far(rows, height, bezel[1])) > PIXELS.into()
        {
            let what = format!(
                "a wall can have at most {most} tiles, and at most {PIXELS} pixels each way"
            );
            self.notes.add(grid.span.clone(), what);
            return None;
        }
        let each = |key: &str, span: &Range<usize>, found: usize, least: usize| {
            let is_right = found == count as usize || (found == least && least > 0);
            if !is_right {
                let one = if least > 0 { "one for all, or " } else { "" };
                let what = format!("{key}: this has {found} entries, but the grid of {columns} x {rows} needs {one}{count}, row by row");
                self.notes.add(span.clone(), what);
            }
            is_right
        };
        let names: Vec<String> = match &it.servers {
            Some(list) => {
                let known = |name: &At<String>| self.server_of(name, servers);
                let names = list.value.iter().map(known).collect();
                if !each("servers", &list.span, list.value.len(), 1) {
                    return None;
                }
                names
            }
            None => vec![String::new()],
        };
        let own = match &it.tile_present {
            Some(list) => {
                if !each("tile_present", &list.span, list.value.len(), 0) {
                    return None;
                }
                Some(&list.value)
            }
            None => None,
        };
        let read = |n: u32| {
            let (x, y) = (n % columns, n / columns);
            let own = own.map(|list| &list[n as usize]);
            let shown = match own {
                Some(own) => Some((self.targets(own), own.span.clone())),
                None => present.clone(),
            };
            let (present, shown) = shown
                .map_or((vec![Target::Program], None), |(present, span)| {
                    (present, Some(span))
                });
            Read {
                tile: Tile {
                    name: format!("{x},{y}"),
                    rect: Rect::new(
                        x * (width + bezel[0]),
                        y * (height + bezel[1]),
                        width,
                        height,
                    ),
                    present,
                    replica: None,
                },
                server: names.get(n as usize).unwrap_or(&names[0]).clone(),
                span: grid.span.clone(),
                shown,
            }
        };
        let mut tiles: Vec<Read> = (0..count).map(read).collect();
        if it.tile_present.is_none() {
            let cells = |n: usize| (n as u32 % columns, n as u32 / columns);
            arrange(&mut tiles, cells, (width, height), servers);
        }
        Some(tiles)
    }

    fn tile(
        &self,
        mut section: Section<file::Tile>,
        servers: &Named<Server>,
        present: &Option<(Vec<Target>, Range<usize>)>,
    ) -> Option<Read> {
        let mut names = Named::<()>::new("tile");
        let name = section.it.name.take();
        let name = names.name(self.notes, &mut section, &name);
        let it = &section.it;
        if it.rect.is_none() && !section.is_damaged(&["rect"]) {
            let what = format!(
                "{} has no rect; add rect = [x, y, width, height] in pixels of the mural",
                section.title
            );
            section.wrong(self.notes, what);
        }
        let server = match &it.server {
            Some(server) => self.server_of(server, servers),
            None => {
                if !servers.is_empty() && !section.is_damaged(&["server"]) {
                    let what = format!(
                        "{} has no server; add server = \"...\", which renders it",
                        section.title
                    );
                    section.wrong(self.notes, what);
                }
                String::new()
            }
        };
        let own = it
            .present
            .as_ref()
            .map(|value| (self.targets(value), value.span.clone()));
        let shown = own.or_else(|| present.clone());
        let (present, shown) = shown.map_or((vec![Target::Program], None), |(present, span)| {
            (present, Some(span))
        });
        let (name, rect) = (name?, it.rect.as_ref()?);
        let [x, y, width, height] = rect.value.map(|n| n.0);
        Some(Read {
            tile: Tile {
                name: name.value,
                rect: Rect::new(x, y, width, height),
                present,
                replica: None,
            },
            server,
            span: rect.span.clone(),
            shown,
        })
    }

    /// The name of a server; empty if the server does not exist.
    fn server_of(&self, name: &At<String>, servers: &Named<Server>) -> String {
        match servers.check(self.notes, name) {
            true => name.value.clone(),
            false => String::new(),
        }
    }

    /// Reads one target, several, or none.
    fn targets(&self, value: &At<OneOrMany<TargetShape>>) -> Vec<Target> {
        let each = value.each().into_iter();
        let target = |at: At<TargetShape>| {
            Some(match at.value {
                TargetShape::None => return None,
                TargetShape::Program => Target::Program,
                TargetShape::Viewer(address) => Target::Viewer(address.unwrap_or(VIEWER.into())),
                TargetShape::Files(folder) => Target::Files(self.folder.join(folder)),
                TargetShape::Window {
                    display,
                    position,
                    is_fullscreen,
                } => Target::Window {
                    display,
                    place: match (is_fullscreen, position) {
                        (true, _) => DisplayPosition::Fullscreen,
                        (false, position) => {
                            let [x, y] = position.unwrap_or([0, 0]);
                            DisplayPosition::At(x as i32, y as i32)
                        }
                    },
                },
            })
        };
        each.filter_map(target).collect()
    }
}

/// The name of a server's host. `Some(None)` stands for the mothership's host. `None` means that
/// the server is unknown.
fn host_of(server: &str, servers: &Named<Server>) -> Option<Option<String>> {
    match server {
        // In a file without servers, all tiles belong to one run, and count as tiles on one host.
        "" if servers.is_empty() => Some(None),
        name => servers.find(name).map(|server| server.host.clone()),
    }
}

/// Places the tiles of a grid that share a display side by side on it, in the same arrangement as
/// in the mural. The file gives one position, at which the first of these tiles is.
fn arrange(
    tiles: &mut [Read],
    cell: impl Fn(usize) -> (u32, u32),
    (width, height): (u32, u32),
    servers: &Named<Server>,
) {
    let host: Vec<_> = tiles
        .iter()
        .map(|read| host_of(&read.server, servers))
        .collect();
    let on = |read: &Read, display: &String| {
        read.tile.present.iter().any(
            |target| matches!(target, Target::Window { display: other, .. } if other == display),
        )
    };
    let mut moves = Vec::new();
    for (n, read) in tiles.iter().enumerate() {
        for (at, target) in read.tile.present.iter().enumerate() {
            let Target::Window {
                display,
                place: DisplayPosition::At(..),
            } = target
            else {
                continue;
            };
            let others = (0..tiles.len()).filter(|other| host[*other] == host[n]);
            let others = others.filter(|other| on(&tiles[*other], display));
            let first = others
                .map(&cell)
                .fold((u32::MAX, u32::MAX), |first, (x, y)| {
                    (first.0.min(x), first.1.min(y))
                });
            let (x, y) = cell(n);
            moves.push((n, at, (x - first.0) * width, (y - first.1) * height));
        }
    }
    for (n, at, right, down) in moves {
        if let Target::Window {
            place: DisplayPosition::At(x, y),
            ..
        } = &mut tiles[n].tile.present[at]
        {
            (*x, *y) = (*x + right as i32, *y + down as i32);
        }
    }
}

fn windows_of(windows: file::Windows) -> Windows {
    Windows {
        title: windows.title,
        class: windows.class,
        min_size: windows
            .min_size
            .map_or((0, 0), |[width, height]| (width.0, height.0)),
        nth: windows.nth.map(|nth| nth.0),
    }
}
