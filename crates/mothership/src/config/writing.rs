//! Writes a wall as a configuration file.

use std::fmt::Write as _;
use std::path::Path;

use mgn_wall::{DisplayPosition, Fit, Target, Tiling, Wall, Windows, VIEWER};
use toml::Value;

/// The text of a file that contains only this wall. The wall must have no replicas.
pub(super) fn toml_of(wall: &Wall) -> String {
    let mut text = String::from("[[wall]]\n");
    // Earlier versions permitted any characters in names.
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let name: String = wall.name.chars().filter(|c| plain(*c)).collect();
    let name = match name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => name,
        false => format!("wall-{name}"),
    };
    let _ = writeln!(text, "name = {}", quoted(&name));
    let _ = writeln!(text, "size = [{}, {}]", wall.size.0, wall.size.1);
    let fit = match wall.fit {
        Fit::Scale => "scale",
        Fit::OneToOne => "1:1",
        Fit::Window => "window",
    };
    let _ = writeln!(text, "fit = {}", quoted(fit));
    match wall.tiling {
        Tiling::Auto => {}
        Tiling::Scissor => text += "tiling = \"scissor\"\n",
        Tiling::Offset => text += "tiling = \"offset\"\n",
    }
    if wall.genlock {
        text += "genlock = true\n";
    }
    if wall.windows != Windows::default() {
        let _ = writeln!(text, "windows = {{ {} }}", windows(&wall.windows));
    }
    for tile in &wall.tiles {
        let rect = &tile.rect;
        let _ = writeln!(text, "\n[[wall.tile]]\nname = {}", quoted(&tile.name));
        let _ = writeln!(
            text,
            "rect = [{}, {}, {}, {}]",
            rect.x, rect.y, rect.width, rect.height
        );
        match &tile.present[..] {
            [Target::Program] => {}
            [] => text += "present = \"none\"\n",
            [one] => {
                let _ = writeln!(text, "present = {}", target(one));
            }
            several => {
                let several: Vec<String> = several.iter().map(target).collect();
                let _ = writeln!(text, "present = [{}]", several.join(", "));
            }
        }
    }
    text
}

fn windows(windows: &Windows) -> String {
    let mut said = Vec::new();
    said.extend(
        windows
            .title
            .as_ref()
            .map(|title| format!("title = {}", quoted(title))),
    );
    said.extend(
        windows
            .class
            .as_ref()
            .map(|class| format!("class = {}", quoted(class))),
    );
    if windows.min_size != (0, 0) {
        let (width, height) = windows.min_size;
        said.push(format!("min_size = [{width}, {height}]"));
    }
    said.extend(windows.nth.map(|nth| format!("nth = {nth}")));
    said.join(", ")
}

fn target(target: &Target) -> String {
    match target {
        Target::Program => quoted("program"),
        Target::Viewer(address) if address == VIEWER => quoted("viewer"),
        Target::Viewer(address) => format!("{{ viewer = {} }}", quoted(address)),
        Target::Files(folder) => format!("{{ files = {} }}", path(folder)),
        Target::Window { display, place } => match place {
            DisplayPosition::Fullscreen => {
                format!("{{ window = {}, fullscreen = true }}", quoted(display))
            }
            DisplayPosition::At(x, y) => {
                format!("{{ window = {}, position = [{x}, {y}] }}", quoted(display))
            }
        },
    }
}

fn path(path: &Path) -> String {
    quoted(&path.display().to_string())
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
