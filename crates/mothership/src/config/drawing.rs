//! A wall as a drawing of letters.

use std::fmt::Write as _;

use mgn_wall::{DisplayPosition, Rect, Target, Wall};

use super::{Config, Stage, Start, WallPlan};

/// A letter's height, as a multiple of its width.
const TALL: f64 = 2.0;
/// The largest height of a drawing, in lines.
const LINES: usize = 48;
const BEZEL: char = '░';
const OVERLAP: char = '▒';

impl Config {
    /// Describes the configuration for users: each wall drawn to scale, at most `columns` wide, and
    /// lists of the other settings.
    pub fn describe(&self, columns: usize) -> String {
        let mut text = String::new();
        for plan in &self.walls {
            let _ = writeln!(text, "{}", plan.describe(columns));
        }
        text += &self.lists();
        text
    }

    fn lists(&self) -> String {
        let mut text = String::new();
        for host in &self.hosts {
            let address = host.address.as_deref().unwrap_or("without an address");
            let start = match &host.start {
                Start::Here => "servers are started here".into(),
                Start::Ssh { destination, .. } => {
                    format!("servers are started by ssh {destination}")
                }
                Start::No => "servers are not started by the mothership".into(),
            };
            let relay = host
                .relay
                .iter()
                .map(|relay| format!(", behind the relay {relay}"));
            let relay: String = relay.collect();
            let _ = writeln!(text, "host {}: {address}{relay}, {start}", host.name);
        }
        for server in &self.servers {
            let mut facts = Vec::new();
            facts.extend(server.host.iter().map(|host| format!("on {host}")));
            facts.extend(server.listen.iter().map(ToString::to_string));
            if !server.transports.is_empty() {
                let ways: Vec<String> = server.transports.iter().map(|t| t.to_string()).collect();
                facts.push(format!("by {} only", ways.join(" or ")));
            }
            if server.discard {
                facts.push("renders nothing".into());
            }
            if !server.chain.is_empty() {
                facts.push(format!("through {}", chain(&server.chain)));
            }
            let _ = writeln!(text, "server {}: {}", server.name, facts.join(", "));
        }
        text
    }
}

impl WallPlan {
    fn describe(&self, columns: usize) -> String {
        let wall = &self.wall;
        let (width, height) = wall.size;
        let fit = match wall.fit {
            mgn_wall::Fit::Scale => "windows are stretched over it",
            mgn_wall::Fit::OneToOne => "windows are shown pixel by pixel",
            mgn_wall::Fit::Window => "windows are made as large as the mural",
        };
        let mut text = format!("wall {}: {width} x {height} pixels, {fit}", wall.name);
        if !self.replicas.is_empty() {
            let _ = write!(text, ", shown by {} too", self.replicas.join(", "));
        }
        if !self.client_chain.is_empty() {
            let _ = write!(text, ", through {}", chain(&self.client_chain));
        }
        text.push('\n');
        text += &self.draw(columns);
        for (tile, server) in wall.tiles.iter().zip(&self.servers) {
            let Rect {
                x,
                y,
                width,
                height,
            } = tile.rect;
            let shown: Vec<String> = tile.present.iter().map(target).collect();
            let shown = match shown.is_empty() {
                true => "not shown".into(),
                false => shown.join(", "),
            };
            let by = match &server[..] {
                "" => String::new(),
                server => format!(", rendered by {server}"),
            };
            let _ = writeln!(
                text,
                "  {}: {width} x {height} at {x}, {y}{by}, {shown}",
                tile.name
            );
        }
        text
    }

    /// Draws the wall. `░` marks pixels behind bezels. `▒` marks pixels that several tiles show.
    pub fn draw(&self, columns: usize) -> String {
        let wall = &self.wall;
        let rects = || wall.tiles.iter().map(|tile| clipped(wall, &tile.rect));
        let across = rects().flat_map(|r| [r.x, r.right()]).collect();
        let down = rects().flat_map(|r| [r.y, r.bottom()]).collect();
        let (width, height) = (f64::from(wall.size.0), f64::from(wall.size.1));
        let most = columns.max(1);
        // Width and height have the same scale, as far as the size of letters allows.
        let scale = (most as f64 / width).min(LINES as f64 * TALL / height);
        let across = Axis::new(across, wall.size.0, scale, most);
        let down = Axis::new(down, wall.size.1, scale / TALL, usize::MAX);
        let mut canvas = vec![vec![BEZEL; across.letters()]; down.letters()];
        let cells: Vec<Rect> = rects()
            .map(|r| {
                let (x, y) = (across.at(r.x), down.at(r.y));
                Rect::between(x, y, across.at(r.right()), down.at(r.bottom()))
            })
            .collect();
        for (y, row) in canvas.iter_mut().enumerate() {
            for (x, letter) in row.iter_mut().enumerate() {
                let cell = Rect::new(x as u32, y as u32, 1, 1);
                let tiles = cells.iter().filter(|tile| !tile.and(&cell).is_empty());
                match tiles.count() {
                    0 => {}
                    1 => *letter = ' ',
                    _ => *letter = OVERLAP,
                }
            }
        }
        for cell in &cells {
            frame(&mut canvas, cell);
        }
        for ((cell, tile), server) in cells.iter().zip(&wall.tiles).zip(&self.servers) {
            label(&mut canvas, cell, &[&tile.name, server]);
        }
        let lines = canvas
            .into_iter()
            .map(|row| row.into_iter().collect::<String>() + "\n");
        lines.collect()
    }
}

/// Maps pixels of the mural to letters of the drawing, in one direction.
struct Axis {
    /// The edges of tiles in pixels, and the letter of each edge. Both ascend.
    marks: Vec<(u32, u32)>,
}

impl Axis {
    /// If there is room, the space between two marks gets at least one letter, so that narrow
    /// bezels are visible.
    fn new(mut edges: Vec<u32>, size: u32, scale: f64, most: usize) -> Axis {
        edges.extend([0, size]);
        edges.sort_unstable();
        edges.dedup();
        let least = u32::from(edges.len() <= most);
        let place = |scale: f64| -> Vec<(u32, u32)> {
            let mut last = 0;
            let mark = |(n, edge): (usize, &u32)| {
                let at = (f64::from(*edge) * scale).round() as u32;
                last = if n == 0 { 0 } else { at.max(last + least) };
                (*edge, last)
            };
            edges.iter().enumerate().map(mark).collect()
        };
        let mut scale = scale;
        let mut marks = place(scale);
        while marks.last().is_some_and(|(_, end)| *end as usize > most) {
            scale *= 0.98;
            marks = place(scale);
        }
        Axis { marks }
    }

    fn letters(&self) -> usize {
        self.marks.last().map_or(0, |(_, end)| *end as usize)
    }

    /// The letter of an edge.
    fn at(&self, edge: u32) -> u32 {
        let found = self.marks.binary_search_by_key(&edge, |(edge, _)| *edge);
        found.map_or(0, |n| self.marks[n].1)
    }
}

fn clipped(wall: &Wall, rect: &Rect) -> Rect {
    rect.and(&Rect::new(0, 0, wall.size.0, wall.size.1))
}

fn frame(canvas: &mut [Vec<char>], cell: &Rect) {
    if cell.is_empty() {
        return;
    }
    let (left, top) = (cell.x, cell.y);
    let (right, bottom) = (cell.right() - 1, cell.bottom() - 1);
    for y in top..=bottom {
        for x in left..=right {
            let line = match (x == left, x == right, y == top, y == bottom) {
                (true, _, true, _) => '┌',
                (_, true, true, _) => '┐',
                (true, _, _, true) => '└',
                (_, true, _, true) => '┘',
                (true, ..) | (_, true, ..) => '│',
                (_, _, true, _) | (.., true) => '─',
                _ => continue,
            };
            let letter = &mut canvas[y as usize][x as usize];
            if *letter != OVERLAP {
                *letter = line;
            }
        }
    }
}

/// Writes lines of text in the middle of a frame, as far as they fit.
fn label(canvas: &mut [Vec<char>], cell: &Rect, lines: &[&str]) {
    let (Some(width), Some(height)) = (cell.width.checked_sub(2), cell.height.checked_sub(2))
    else {
        return;
    };
    let count = lines.len().min(height as usize);
    let top = cell.y as usize + 1 + (height as usize - count) / 2;
    for (n, line) in lines.iter().take(count).enumerate() {
        let letters: Vec<char> = line.chars().take(width as usize).collect();
        let left = cell.x as usize + 1 + (width as usize - letters.len()) / 2;
        canvas[top + n][left..left + letters.len()].copy_from_slice(&letters);
    }
}

fn target(target: &Target) -> String {
    match target {
        Target::Program => "shown in the program's window".into(),
        Target::Window { display, place } => match place {
            DisplayPosition::Fullscreen => format!("shown on all of {display}"),
            DisplayPosition::At(x, y) => format!("shown on {display} at {x}, {y}"),
        },
        Target::Files(dir) => format!("written to {}", dir.display()),
        Target::Viewer(_) => "shown in browsers".into(),
    }
}

fn chain(stages: &[Stage]) -> String {
    let names: Vec<&str> = stages.iter().map(|stage| stage.name.as_str()).collect();
    names.join(", ")
}
