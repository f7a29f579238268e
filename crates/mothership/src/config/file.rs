//! The shape of a configuration file, for serde and for the published schema. Editors and
//! manganese-walls(5) show the comments of this file.
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "comments on settings are shown as they are: [fd00::1] is an address"
)]

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::values::{At, Name, Number, OneOrMany, Parsed, StageShape, TargetShape};
use mgn_fabric::{Address, Transport};

/// More pixels than any mural has.
pub(super) const PIXELS: u32 = 1 << 20;
/// More tiles than any wall has.
const TILES: u32 = mgn_wall::TILES_MAX as u32;

pub(super) type Count = Number<1, TILES>;
pub(super) type Pixels = Number<0, PIXELS>;
pub(super) type Size = [Number<1, PIXELS>; 2];

/// Walls of Manganese, and the servers that render them.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "Walls of Manganese", inline)]
pub(super) struct File {
    /// The process that brings programs and servers together.
    pub mothership: Option<Mothership>,
    /// Machines that servers run on. The mothership's own needs no entry.
    pub host: Option<Vec<Host>>,
    /// Render servers. A file without any only arranges walls, for `mgn run --wall FILE` and `mgn
    /// viewer --wall FILE`.
    pub server: Option<Vec<Server>>,
    /// Walls: murals of pixels, and the tiles that show parts of them.
    pub wall: Option<Vec<Wall>>,
}

/// The process that brings programs and servers together.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Mothership {
    /// Where the mothership listens: one address or a list of them. Without it,
    /// unix:@manganese-mothership.
    pub listen: Option<At<OneOrMany<Parsed<Address>>>>,
    /// Its address for servers on other hosts: tls:HOST:PORT, or tls:HEAD:PORT/NAME if they connect
    /// through a relay. Without it, the first network address of listen, if that names a host.
    pub address: Option<At<Parsed<Address>>>,
    /// The file with the token that servers are started with. Without a token_store, it is the
    /// only token that the mothership admits.
    pub token_file: Option<At<String>>,
    /// The file with the tokens that the mothership and its servers admit; `mgn token new` makes
    /// it. If the mothership or a server listens at a network address, this or token_file is
    /// needed.
    pub token_store: Option<At<String>>,
}

/// A machine that servers run on.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["name"]))]
pub(super) struct Host {
    /// Its name, by which servers of this file refer to it.
    pub name: Option<At<Name>>,
    /// Its name or IP address in the network; an IPv6 address is in brackets, "[fd00::1]".
    pub address: Option<At<String>>,
    /// The address of the relay, tls:HOST:PORT, through which programs on other hosts reach its
    /// servers.
    pub relay: Option<At<Parsed<Address>>>,
    /// How its servers are started. Without it, "ssh" if there is ssh, otherwise "no".
    pub start: Option<At<StartWord>>,
    /// Where ssh connects to start servers, as USER@NAME. Without it, the address.
    pub ssh: Option<At<String>>,
    /// The mgn command there. Without it, mgn.
    pub mgn: Option<At<String>>,
    /// The path of the token on that host. Without it, the same as on the mothership's host.
    pub token_file: Option<At<String>>,
    /// The path of the token store on that host. Without it, the same as on the mothership's host.
    pub token_store: Option<At<String>>,
}

/// How servers of a host are started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum StartWord {
    /// As processes beside the mothership.
    Here,
    /// By ssh.
    Ssh,
    /// Not by the mothership, but by hand or by systemd.
    No,
}

/// A render server.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["name"]))]
pub(super) struct Server {
    /// Its name, as `mgn server --name` has it.
    pub name: Option<At<Name>>,
    /// The host that it runs on. Without it, the mothership's, where it is started.
    pub host: Option<At<String>>,
    /// Where it listens: one address or a list of them. Without it, a server on the mothership's
    /// host listens at unix:@manganese-NAME. A server that is started by ssh needs it. A server
    /// that the mothership does not start must not have it.
    pub listen: Option<At<OneOrMany<Parsed<Address>>>>,
    /// The transports that programs may use: "shm", "unix", "tcp". Without it, all.
    pub transports: Option<Vec<At<Parsed<Transport>>>>,
    /// Whether it receives and checks everything, and renders nothing.
    pub discard: Option<At<bool>>,
    /// The name of the file with its own token, in the folder of the mothership's token.
    pub token_file: Option<At<String>>,
    /// Stream processing units that the commands of its programs pass, in this order, after those
    /// of its walls.
    pub chain: Option<At<Vec<At<StageShape>>>>,
}

/// A mural of pixels, and the tiles that show parts of it: either a grid, or tiles one by one.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["name"]))]
pub(super) struct Wall {
    /// The name that `mgn run --wall` takes. It begins with a letter and does not end with .toml
    /// or .json.
    pub name: Option<At<Name>>,
    /// Width and height of the mural in pixels. Without it, as far as its tiles reach.
    pub size: Option<At<Size>>,
    /// How a window maps to the mural. Without it, "scale".
    pub fit: Option<Fit>,
    /// The part of a window that each renderer has. Without it, "auto".
    pub tiling: Option<Tiling>,
    /// Whether windows on X displays show each frame at the vertical blanks nearest to a common
    /// moment. Without it, they do not wait for vertical blanks.
    pub genlock: Option<At<bool>>,
    /// A grid of equal tiles: columns and rows, 64 tiles at most. Tiles are called COLUMN,ROW,
    /// from 0,0 in the upper left.
    pub grid: Option<At<[Count; 2]>>,
    /// In a grid: width and height of a tile in pixels.
    pub tile_size: Option<At<Size>>,
    /// In a grid: width and height of the gap between tiles, in pixels of the mural that no tile
    /// shows. Without it, none.
    pub bezel: Option<At<[Pixels; 2]>>,
    /// In a grid: the server of all tiles, or one for each, row by row from the upper left. A name
    /// may be there several times.
    pub servers: Option<At<Vec<At<String>>>>,
    /// Where the pictures of tiles without a key `present` of their own go. Without it, into the
    /// program's window. In a grid, tiles that share a display lie there side by side, as in the
    /// mural but without the gaps, from `position` on.
    pub present: Option<At<OneOrMany<TargetShape>>>,
    /// In a grid: where the picture of each tile goes, row by row from the upper left.
    pub tile_present: Option<At<Vec<At<OneOrMany<TargetShape>>>>>,
    /// The tiles, if they are not a grid.
    pub tile: Option<Vec<Tile>>,
    /// Which windows of a program go to the wall. Without it, all.
    pub windows: Option<Windows>,
    /// Names of walls that show the same whenever this one is asked for.
    pub replicas: Option<Vec<At<String>>>,
    /// Stream processing units of all its servers.
    pub chain: Option<At<Vec<At<StageShape>>>>,
    /// Stream processing units in the processes of its programs. They name no files.
    pub client_chain: Option<At<Vec<At<StageShape>>>>,
}

/// A part of the mural that one renderer draws. Tiles may overlap.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["name", "rect"]))]
pub(super) struct Tile {
    /// The name of the tile. Each tile of a wall has a different one.
    pub name: Option<At<Name>>,
    /// The pixels of the mural that it shows: x, y, width, height, from the upper left.
    pub rect: Option<At<[Pixels; 4]>>,
    /// The server that renders it. Leave it out in a file without servers.
    pub server: Option<At<String>>,
    /// Where its picture goes. Without it, the wall's own `present` applies.
    pub present: Option<At<OneOrMany<TargetShape>>>,
}

/// Which windows of a program go to the wall: those that meet all of these conditions.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Windows {
    /// The window's title, with * for any letters.
    pub title: Option<String>,
    /// The window's class or instance, with * for any letters.
    pub class: Option<String>,
    /// The least width and height of the window in pixels.
    pub min_size: Option<[Pixels; 2]>,
    /// The number of the window among those that meet the other conditions, from 1.
    pub nth: Option<Number<1, 10_000>>,
}

/// How a window maps to the mural.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum Fit {
    /// The window is stretched over the mural.
    Scale,
    /// The window is shown pixel by pixel from the upper left corner.
    #[serde(rename = "1:1")]
    OneToOne,
    /// The window is made as large as the mural.
    Window,
}

/// The part of a window that each renderer has.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum Tiling {
    /// If the mural is larger than the largest viewport, only their tiles; otherwise all of it.
    Auto,
    /// All of the window, in which they draw their tiles.
    Scissor,
    /// Only their tiles.
    Offset,
}

impl From<Fit> for mgn_wall::Fit {
    fn from(fit: Fit) -> mgn_wall::Fit {
        match fit {
            Fit::Scale => mgn_wall::Fit::Scale,
            Fit::OneToOne => mgn_wall::Fit::OneToOne,
            Fit::Window => mgn_wall::Fit::Window,
        }
    }
}

impl From<Tiling> for mgn_wall::Tiling {
    fn from(tiling: Tiling) -> mgn_wall::Tiling {
        match tiling {
            Tiling::Auto => mgn_wall::Tiling::Auto,
            Tiling::Scissor => mgn_wall::Tiling::Scissor,
            Tiling::Offset => mgn_wall::Tiling::Offset,
        }
    }
}

/// The JSON Schema of a configuration file, for editors.
pub fn schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(File).to_value();
    tidy(&mut schema);
    schema
}

/// Removes the null that serde permits for an optional value, because TOML has no null. Also
/// removes the line breaks of the comments.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Array(list) => list.iter_mut().for_each(tidy),
        Value::Object(table) => {
            if table.get("default") == Some(&Value::Null) {
                table.remove("default");
            }
            if let Some(Value::Array(types)) = table.get_mut("type") {
                types.retain(|name| name != "null");
                if let [one] = &types[..] {
                    let one = one.clone();
                    table.insert("type".into(), one);
                }
            }
            if let Some(Value::String(text)) = table.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            if let Some(Value::Array(choices)) = table.get_mut("anyOf") {
                choices.retain(|choice| choice["type"] != "null");
                if let [Value::Object(one)] = &choices[..] {
                    let one = one.clone();
                    table.remove("anyOf");
                    for (key, value) in one {
                        table.entry(key).or_insert(value);
                    }
                }
            }
            table.values_mut().for_each(tidy);
        }
        _ => {}
    }
}
