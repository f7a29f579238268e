//! The configurations in `docs/examples` agree with their descriptions in the manual.

use std::path::PathBuf;

use mgn_mothership::config::{Config, Start, Units, WallPlan};
use mgn_wall::{DisplayPosition, Target};

fn example(name: &str) -> Config {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples");
    let config = Config::read(&folder.join(name), Units::default());
    config.unwrap_or_else(|error| panic!("{error}"))
}

fn shown(plan: &WallPlan) -> u64 {
    let (width, height) = plan.wall.size;
    let areas = plan.wall.areas(width, height);
    areas.iter().map(|area| area.shown.area()).sum()
}

#[test]
fn four_tiles_here() {
    let config = example("2x2.toml");
    let plan = config.wall("desk").unwrap();
    assert_eq!(shown(plan), 1920 * 1080);
    let servers: Vec<&str> = plan.servers.iter().map(String::as_str).collect();
    assert_eq!(servers, ["a", "b", "c", "d"]);
    assert!(config
        .servers
        .iter()
        .all(|server| config.start(server) == Start::Here));
}

#[test]
fn nine_tiles_by_ssh() {
    let config = example("3x3-ssh.toml");
    let plan = config.wall("cave").unwrap();
    assert_eq!(plan.wall.tiles.len(), 9);
    for (tile, server) in plan.wall.tiles.iter().zip(&plan.servers) {
        let column = ["left", "middle", "right"][tile.rect.x as usize / 1920];
        assert_eq!(server, column);
        // Each machine shows its three tiles on its own display, one below another.
        let screen = Target::Window {
            display: ":0".into(),
            place: DisplayPosition::At(0, tile.rect.y as i32),
        };
        assert_eq!(tile.present, [screen]);
    }
    for server in &config.servers {
        let Start::Ssh { destination, .. } = config.start(server) else {
            panic!("{server:?} is not started by ssh");
        };
        assert_eq!(destination, format!("wall@{}.example.org", server.name));
    }
}

#[test]
fn bezels_and_overlaps() {
    let config = example("bezels.toml");
    let plan = config.wall("gallery").unwrap();
    let (width, height) = plan.wall.size;
    // The overlap is shown twice. Pixels behind the frames are not shown.
    assert_eq!(shown(plan), u64::from(width + 320 - 80) * u64::from(height));
    let drawing = plan.draw(100);
    assert!(drawing.contains('░') && drawing.contains('▒'));
}
