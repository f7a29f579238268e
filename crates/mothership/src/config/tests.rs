use mgn_wall::{DisplayPosition, VIEWER};

use super::*;

/// The value of `level` must be a number.
const UNITS: Units<'_> = Units {
    names: &["print", "nop"],
    is_path: |unit, parameter| (unit, parameter) == ("print", "file"),
    for_server: |stage| {
        let wrong = stage
            .parameters
            .iter()
            .find(|(name, value)| match &***name {
                "level" => value.parse::<u32>().is_err(),
                name => !["file", "on"].contains(&name),
            });
        match wrong {
            None => Ok(()),
            Some((name, _)) => Err(StageFault {
                parameter: Some(name.clone()),
                what: format!("{} has no such {name}", stage.name),
            }),
        }
    },
    for_client: |stage| match stage.name.as_str() {
        "print" => Ok(()),
        name => Err(StageFault {
            parameter: None,
            what: format!("{name} is for servers"),
        }),
    },
};

fn read(text: &str) -> Result<Config, Mistakes> {
    reading::read(text, Path::new("/walls"), UNITS)
        .map_err(|found| Mistakes::new("wall.toml", text, found))
}

const FULL: &str = r#"
[mothership]
listen = ["unix:@m", "tls:0.0.0.0:7400"]
address = "tls:control:7400"
token_file = "token"

[[host]]
name = "left"
address = "left.example.org"
ssh = "wall@left.example.org"
start = "ssh"
mgn = "/opt/mgn"
token_file = "/etc/token"

[[host]]
name = "far"
address = "[fd00::1]"
relay = "tls:[fd00::2]:7600"

[[server]]
name = "a"
listen = ["unix:@a", "tls:0.0.0.0:7500"]
transports = ["shm", "tcp"]

[[server]]
name = "b"
host = "left"
listen = "tls:0.0.0.0:7500"
discard = true
chain = [{ spu = "print", file = "log" }, { spu = "nop", level = 3, on = true }]

[[server]]
name = "c"
host = "far"

[[wall]]
name = "cave"
fit = "1:1"
size = [3000, 1000]
genlock = true
windows = { title = "Molecule*", min_size = [640, 480], nth = 1 }
present = "viewer"

[[wall.tile]]
name = "left"
rect = [0, 0, 1500, 1000]
server = "a"

[[wall.tile]]
name = "right"
rect = [1400, 0, 1600, 1000]
server = "b"
present = [{ window = ":0", fullscreen = true }, { files = "shots" }]

[[wall]]
name = "grid"
grid = [3, 2]
tile_size = [100, 60]
bezel = [10, 20]
servers = ["a", "b", "c", "a", "b", "c"]
"#;

#[test]
fn everything_is_read() {
    let config = read(FULL).unwrap();
    assert_eq!(config.mothership.listen.len(), 2);
    assert_eq!(
        config.mothership.token_file.as_deref(),
        Some(Path::new("/walls/token"))
    );
    let far = config.host("far").unwrap();
    assert_eq!(far.address.as_deref(), Some("fd00::1"));
    assert_eq!(far.relay, "tls:[fd00::2]:7600".parse().ok());
    let b = config.server("b").unwrap();
    let Start::Ssh {
        destination,
        command,
    } = config.start(b)
    else {
        panic!("{b:?} is not started by ssh");
    };
    assert_eq!(
        (destination.as_str(), command.as_str()),
        ("wall@left.example.org", "/opt/mgn")
    );
    assert!(b.discard);
    let chain: Vec<String> = b.chain.iter().map(Stage::to_string).collect();
    assert_eq!(chain, ["print:file=/walls/log", "nop:level=3,on=true"]);
    assert_eq!(config.start(config.server("c").unwrap()), Start::No);
    assert_eq!(config.start(config.server("a").unwrap()), Start::Here);
    let cave = config.wall("cave").unwrap();
    assert_eq!(cave.wall.tiles[0].present, [Target::Viewer(VIEWER.into())]);
    let fullscreen = Target::Window {
        display: ":0".into(),
        place: DisplayPosition::Fullscreen,
    };
    let files = Target::Files("/walls/shots".into());
    assert_eq!(cave.wall.tiles[1].present, [fullscreen, files]);
    assert_eq!(cave.wall.windows.nth, Some(1));
    assert!(cave.wall.genlock);
    let grid = config.wall("grid").unwrap();
    assert_eq!(grid.wall.size, (320, 140));
    assert_eq!(
        grid.wall.tiles[5].rect,
        mgn_wall::Rect::new(220, 80, 100, 60)
    );
    assert_eq!(grid.servers[4], "b");
    for plan in &config.walls {
        plan.wall.check().unwrap();
        assert_eq!(plan.wall.tiles.len(), plan.servers.len());
    }
}

#[test]
fn nothing_is_needed_but_what_is_meant() {
    let config = read("").unwrap();
    assert_eq!(config.mothership.listen, [crate::default_address()]);
    let config = read("[[server]]\nname = \"a\"\n").unwrap();
    assert_eq!(config.servers[0].listen[0].to_string(), "unix:@manganese-a");
}

/// Each server gets the settings that a wall has for its servers, with its own file names.
#[test]
fn walls_have_chains_and_replicas() {
    let config = read(
        r#"
[[server]]
name = "a"
chain = ["nop"]
[[server]]
name = "b"
[[wall]]
name = "w"
grid = [2, 1]
tile_size = [9, 9]
servers = ["a", "b"]
chain = [{ spu = "print", file = "log/calls.txt" }]
client_chain = ["print"]
replicas = ["v"]
[[wall]]
name = "v"
grid = [1, 1]
tile_size = [9, 9]
servers = ["c"]
[[server]]
name = "c"
"#,
    )
    .unwrap();
    let chain = |n: usize| -> Vec<String> {
        let stages = config.servers[n].chain.iter();
        stages.map(Stage::to_string).collect()
    };
    assert_eq!(chain(0), ["print:file=/walls/log/calls-a.txt", "nop"]);
    assert_eq!(chain(1), ["print:file=/walls/log/calls-b.txt"]);
    assert!(chain(2).is_empty());
    let wall = config.wall("w").unwrap();
    assert_eq!(wall.replicas, ["v"]);
    let stages = wall.client_chain.iter().map(Stage::to_string);
    assert_eq!(stages.collect::<Vec<_>>(), ["print"]);
}

/// Each of these mistakes is reported at its place, and the message contains a word of the advice.
#[test]
fn mistakes_are_explained_where_they_are() {
    let server = "[[server]]\nname = \"a\"\n";
    let wall = format!("{server}[[wall]]\nname = \"w\"\n");
    let grid = "grid = [2, 2]\ntile_size = [9, 9]\nservers = [\"a\"]\n";
    let tiled = format!("{wall}{grid}");
    let cases = [
        ("[[server]\n", "1:10", "TOML"),
        ("a = 1\na = 2\n", "2:1", "duplicate"),
        ("walls = 3\n", "1:1", "did you mean wall?"),
        ("[[server]]\n", "1:1", "add name"),
        ("[[server]]\nname = \"a b\"\n", "2:8", "letters"),
        ("[[server]]\nname = \"-a\"\n", "2:8", "letters"),
        ("[[server]]\nname = 3\n", "2:8", "expected a string"),
        (&format!("{server}{server}"), "4:8", "another server"),
        (&format!("{server}host = \"x\"\n"), "3:8", "[[host]]"),
        (&format!("{server}color = 1\n"), "3:1", "its keys are"),
        (&format!("{server}discard = 1\n"), "3:11", "expected a boolean"),
        (&format!("{server}listen = [\"tcp:x\"]\n"), "3:11", "port"),
        (&format!("{server}listen = [\"unix:@a\", \"unix:@a\"]\n"), "3:22", "choose another"),
        (&format!("{server}listen = [\"tcp:h:0\"]\n"), "3:11", "port"),
        (&format!("{server}listen = []\n"), "3:10", "one address"),
        (&format!("{server}listen = [\"tls:h:1\"]\n"), "3:11", "mgn token new"),
        (&format!("{server}transports = [\"null\"]\n"), "3:15", "shm"),
        (&format!("{server}chain = [\"prin\"]\n"), "3:10", "did you mean print?"),
        (&format!("{server}chain = [{{ spu = \"x\" }}]\n"), "3:10", "use one of print, nop"),
        (&format!("{server}chain = [{{ name = \"x\" }}]\n"), "3:10", "spu"),
        (&format!("{server}chain = [{{ spu = \"nop\", a = [1] }}]\n"), "3:29", "a number"),
        (&format!("{server}chain = [{{ spu = \"nop\", a = 1 }}]\n"), "3:29", "no such a"),
        (&format!("{server}chain = [{{ spu = \"nop\", level = \"x\" }}]\n"), "3:33", "no such level"),
        (&format!("{server}chain = [{{ spu = \"print\", file = \"a,b\" }}]\n"), "3:34", "commas"),
        (&format!("{wall}chain = [\"prin\"]\n"), "5:10", "did you mean print?"),
        (&format!("{wall}client_chain = [\"print\", \"nop\"]\n"), "5:26", "for servers"),
        (&format!("{wall}replicas = [\"v\"]\n"), "5:13", "did you mean w?"),
        (&format!("{wall}replicas = [\"w\"]\n"), "5:13", "its own replica"),
        (&format!("{tiled}chain = [\"nop\"]\n[[wall]]\nname = \"v\"\n{grid}"), "9:1", "another chain"),
        (&format!("{tiled}replicas = [\"v\"]\n[[wall]]\nname = \"v\"\n{grid}").replace("[2, 2]", "[6, 6]"), "8:13", "72 tiles"),
        (&format!("[[host]]\nname = \"h\"\n{tiled}chain = [\"nop\"]\n").replace("[[wall]]", "host = \"h\"\n[[wall]]"), "11:9", "not started by the mothership"),
        ("[[host]]\nname = \"h\"\nstart = \"now\"\n", "3:9", "`ssh`"),
        ("[[host]]\nname = \"h\"\nstart = \"ssh\"\n", "1:1", "address"),
        ("[[host]]\nname = \"h\"\nssh = \"-o x\"\n", "1:1", "address"),
        ("[[host]]\nname = \"h\"\nmgn = \"mgn\"\n", "3:7", "leave it out"),
        ("[[host]]\nname = \"h\"\n[[server]]\nname = \"a\"\nhost = \"h\"\ndiscard = true\n", "3:1", "not started by the mothership"),
        ("[[host]]\nname = \"h\"\naddress = \"fd00::1\"\n", "3:11", "brackets"),
        ("[[host]]\nname = \"h\"\nrelay = \"tls:r:1/h\"\n", "3:9", "relay's address"),
        (&format!("{server}listen = [\"tls:h:1/x\"]\n"), "3:11", "addresses of relays"),
        ("[mothership]\nlisten = [\"tls:h:1\"]\n", "2:11", "token_file"),
        (&format!("[mothership]\n{server}token_file = \"t\"\n"), "3:8", "[mothership]"),
        (&format!("{server}token_file = \"t\"\n"), "2:8", "[mothership]"),
        (&format!("{server}token_file = \"a/t\"\n"), "3:14", "leave out the folder"),
        (&format!("[mothership]\ntoken_file = \"m\"\n[[host]]\nname = \"h\"\nrelay = \"tls:r:1\"\n{server}host = \"h\"\ntoken_file = \"t\"\n"), "9:14", "behind a relay"),
        ("[mothership]\naddress = \"unix:@x\"\n", "2:11", "other hosts"),
        ("[[host]]\nname = \"h\"\nssh = \"h\"\n[[server]]\nname = \"a\"\nhost = \"h\"\nlisten = \"unix:@a\"\n", "5:8", "[mothership]"),
        ("[mothership]\n[[host]]\nname = \"h\"\nssh = \"h\"\n[[server]]\nname = \"a\"\nhost = \"h\"\n", "5:1", "has no listen"),
        (&wall, "3:1", "no tiles"),
        (&wall.replace("\"w\"", "\"2x2\""), "4:8", "a letter"),
        (&format!("{wall}fit = \"big\"\n"), "5:7", "`1:1`"),
        (&format!("{wall}size = [1]\n"), "5:8", "an array of length 2"),
        (&format!("{wall}size = [1, 0]\n"), "5:12", "from 1"),
        (&format!("{wall}size = [1, 2000000000000]\n"), "5:12", "from 1"),
        (&format!("{wall}bezel = [1, 1]\n"), "5:9", "grid"),
        (&format!("{wall}grid = [2, 2]\n"), "3:1", "tile_size"),
        (&format!("{wall}grid = [2, 2]\ntile_size = [9, 9]\n"), "3:1", "servers"),
        (&format!("{wall}grid = [2, 2]\ntile_size = [9, 9]\nservers = [\"b\"]\n"), "7:12", "did you mean a?"),
        (&format!("{wall}grid = [2, 2]\ntile_size = [9, 9]\nservers = [\"a\", \"a\"]\n"), "7:11", "2 x 2"),
        (&format!("{wall}grid = [9, 9]\ntile_size = [9, 9]\nservers = [\"a\"]\n"), "5:8", "64 tiles"),
        (&format!("{wall}grid = [2, 2]\ntile_size = [900000, 9]\nservers = [\"a\"]\n"), "5:8", "pixels"),
        (&format!("{wall}windows = {{ nth = 0 }}\n"), "5:19", "from 1"),
        (&format!("{wall}windows = {{ name = \"x\" }}\n"), "5:13", "windows has no key"),
        (&format!("{tiled}genlock = true\n"), "8:11", "no tile with a window"),
        (&format!("{tiled}genlock = true\npresent = [{{ window = \":0\" }}, {{ window = \":1\" }}]\n"), "8:11", "only one"),
        (&format!("{wall}genlock = 1\n"), "5:11", "expected a boolean"),
        (&format!("{wall}present = \"here\"\n"), "5:11", "\"viewer\""),
        (&format!("{wall}present = {{ window = \":0\", position = [1, 1], fullscreen = true }}\n"), "5:11", "either"),
        (&format!("{wall}present = {{ files = \"d\", fullscreen = true }}\n"), "5:11", "only windows"),
        (&format!("{wall}present = {{ window = \"71\" }}\n"), "5:11", "not an X display"),
        (&format!("{wall}[[wall.tile]]\nname = \"t\"\nserver = \"a\"\n"), "5:1", "add rect"),
        (&format!("{wall}[[wall.tile]]\nname = \"t\"\nrect = [0, 0, 9, 9]\n"), "5:1", "add server"),
        (&format!("{wall}[[wall.tile]]\nname = \"t\"\nrect = [0, 0, 0, 9]\nserver = \"a\"\n"), "7:8", "no pixels"),
        (&format!("{wall}size = [9, 9]\n[[wall.tile]]\nname = \"t\"\nrect = [9, 0, 9, 9]\nserver = \"a\"\n"), "8:8", "move it inside"),
    ];
    for (text, place, word) in cases {
        let mistakes = match read(text) {
            Err(mistakes) => mistakes,
            Ok(config) => panic!("{text}\nis taken as {config:?}"),
        };
        let found = mistakes.list.iter().any(|mistake| {
            let (line, column) = (mistake.line, mistake.column);
            format!("{line}:{column}") == place && mistake.what.contains(word)
        });
        assert!(
            found,
            "{place}: {word} is not said of\n{text}\nbut\n{mistakes}"
        );
    }
}

/// If the windows of a wall have a mistake, no message advises the user to leave out genlock.
#[test]
fn genlock_is_not_blamed_for_other_mistakes() {
    let wall =
        "[[server]]\nname = \"a\"\n[[wall]]\nname = \"w\"\ngrid = [1, 1]\ntile_size = [9, 9]\n\
                servers = [\"a\"]\ngenlock = true\n";
    let mistakes = read(&format!("{wall}present = {{ windw = \":0\" }}\n")).unwrap_err();
    assert_eq!(mistakes.list.len(), 1, "{mistakes}");
}

#[test]
fn all_mistakes_are_shown_with_their_lines() {
    let text = "[[server]]\nname = \"ä\"\n\n[[wall]]\nname = \"w\"\n\tfti = \"1:1\"\n";
    let shown = read(text).unwrap_err().to_string();
    let expected =
        "error: name: a name has 1 to 64 letters, digits and . _ - , and begins with neither - nor .
  ┌─ wall.toml:2:8
  │
2 │ name = \"ä\"
  │        ^^^

error: the wall w has no tiles; add a [[wall.tile]] for each, or grid = [columns, rows]
  ┌─ wall.toml:4:1
  │
4 │ [[wall]]
  │ ^^^^^^^^

error: the wall has no key \"fti\"; did you mean fit?
  ┌─ wall.toml:6:2
  │
6 │     fti = \"1:1\"
  │     ^^^";
    assert_eq!(shown, expected);
}

/// The consequences of a mistake are not reported as further mistakes.
#[test]
fn a_mistake_is_said_once() {
    let server = "[[server]]\nname = \"a\"\n";
    let wall = format!("{server}[[wall]]\nname = \"w\"\n");
    let grid = "grid = [2, 2]\ntile_size = [9, 9]\nservers = [\"a\"]\n";
    let tile = "[[wall.tile]]\nname = \"t\"\nrect = [0, 0, 9, 9]\nserver = \"a\"\n";
    let replaced = |from: &str, to: &str| format!("{wall}{grid}").replace(from, to);
    let tiled = |from: &str, to: &str| format!("{wall}{}", tile.replace(from, to));
    let far = "[mothership]\nlisten = \"tls:m:1\"\ntoken_file = \"t\"\n[[host]]\nname = \"h\"\nssh = \"h\"\n[[server]]\nname = \"a\"\nhost = \"h\"\nlisten = \"tls:h:1\"\n";
    let cases = [
        replaced("grid = [2, 2]", "grid = [2]"),
        replaced("grid = [2, 2]", "grid = \"2x2\""),
        replaced("grid = ", "gird = "),
        replaced("tile_size = ", "tile_sise = "),
        replaced("tile_size = [9, 9]", "tile_size = 9"),
        replaced("tile_size = [9, 9]", "tile_size = [9, 9]\nbezel = [-1, 0]"),
        replaced("servers = [\"a\"]", "servers = \"a\""),
        replaced("servers = [\"a\"]", "servers = [\"a\", \"a\"]"),
        replaced("servers = [\"a\"]", "sevrers = [\"a\"]"),
        // The server's name is wrong, so it is unknown whether the wall's servers exist.
        replaced("name = \"a\"", "name = \"a b\""),
        replaced("name = \"a\"", "nmae = \"a\""),
        replaced("name = \"w\"", "name = 3"),
        tiled("rect = [0, 0, 9, 9]", "rect = [0, 0, 9]"),
        tiled("rect = ", "rcet = "),
        tiled("name = \"t\"", "name = \"\""),
        tiled("server = \"a\"", "server = 1"),
        tiled("[[wall.tile]]", "size = [9]\n[[wall.tile]]")
            .replace("[0, 0, 9, 9]", "[50, 50, 9, 9]"),
        tiled("[[wall.tile]]", "[wall.tile]"),
        tiled("[[wall.tile]]", "[[wall.tiles]]"),
        far.replace("name = \"h\"", "name = \"h/\""),
        far.replace("ssh = \"h\"", "ssh = 1"),
        far.replace("listen = \"tls:h:1\"", "listen = \"tls\""),
        far.replace("listen = \"tls:m:1\"", "listen = \"tls\""),
        far.replace(
            "listen = \"tls:m:1\"",
            "listen = \"tls:0.0.0.0:1\"\naddress = 1",
        ),
        far.replace("token_file = \"t\"", "token_file = 1"),
        far.replace("token_file", "token-file"),
        "mothership = 1\n".to_owned() + server + "token_file = \"t\"\n",
    ];
    for text in cases {
        let mistakes = match read(&text) {
            Err(mistakes) => mistakes,
            Ok(config) => panic!("{text}\nis taken as {config:?}"),
        };
        assert_eq!(mistakes.list.len(), 1, "{text}\n{mistakes}");
    }
    assert_eq!(read(far).map(|_| ()), Ok(()));
}

/// Tiles of a grid that share a display are arranged as in the mural. `tile_present` gives each
/// tile its own place.
#[test]
fn grids_are_shown_side_by_side() {
    let servers = "[[server]]\nname = \"a\"\n[mothership]\n[[host]]\nname = \"h\"\n[[server]]\nname = \"b\"\nhost = \"h\"\n";
    let wall = "[[wall]]\nname = \"w\"\ngrid = [2, 2]\ntile_size = [100, 50]\nbezel = [7, 9]\n";
    let places = |rest: &str| -> Vec<DisplayPosition> {
        let config = read(&format!("{servers}{wall}{rest}")).unwrap();
        let tiles = config.walls[0].wall.tiles.iter();
        let place = |target: &Target| match target {
            Target::Window { place, .. } => *place,
            other => panic!("{other:?} is no window"),
        };
        tiles.map(|tile| place(&tile.present[0])).collect()
    };
    let at = |places: [(i32, i32); 4]| places.map(|(x, y)| DisplayPosition::At(x, y)).to_vec();
    let one = "servers = [\"a\"]\npresent = { window = \":0\", position = [1000, 20] }\n";
    assert_eq!(
        places(one),
        at([(1000, 20), (1100, 20), (1000, 70), (1100, 70)])
    );
    // A column on each of two hosts.
    let two = "servers = [\"a\", \"b\", \"a\", \"b\"]\npresent = { window = \":0\" }\n";
    assert_eq!(places(two), at([(0, 0), (0, 0), (0, 50), (0, 50)]));
    let each = "servers = [\"a\"]\ntile_present = [{ window = \":0\" }, { window = \":1\" }, { window = \":2\" }, { window = \":0\", position = [0, 50] }]\n";
    assert_eq!(places(each), at([(0, 0), (0, 0), (0, 0), (0, 50)]));

    let wrong = |rest: &str| {
        let mistakes = read(&format!("{servers}{wall}{rest}")).unwrap_err();
        assert_eq!(mistakes.list.len(), 1, "{rest}\n{mistakes}");
        mistakes.list[0].clone()
    };
    let full = wrong("servers = [\"a\"]\npresent = { window = \":0\", fullscreen = true }\n");
    assert!(
        full.what
            .contains("0,0 and 1,0 are shown on top of each other"),
        "{}",
        full.what
    );
    assert_eq!((full.line, full.column), (15, 11));
    let few = wrong("servers = [\"a\"]\ntile_present = [\"none\"]\n");
    assert!(few.what.contains("needs 4"), "{}", few.what);
    let same = "servers = [\"b\"]\ntile_present = [\"none\", { window = \":0\" }, \"program\", { window = \":0\" }]\n";
    let same = wrong(same);
    assert!(
        same.what.contains("1,0 and 1,1") && same.what.contains("the host h"),
        "{}",
        same.what
    );
    assert_eq!((same.line, same.column), (15, 55));
}

/// A file without servers describes a wall for any servers.
#[test]
fn a_wall_needs_no_servers() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    };
    let wall =
        |name: &str| format!("[[wall]]\nname = \"{name}\"\ngrid = [2, 1]\ntile_size = [9, 9]\n");
    let one = file("one.toml", &wall("v"));
    let plan = Config::read_wall(&one, None, UNITS).unwrap();
    assert_eq!((plan.wall.tiles.len(), plan.servers.len()), (2, 2));
    let shown = Config::read(&one, UNITS).unwrap().describe(40);
    assert!(
        shown.contains("0,0: 9 x 9 at 0, 0, shown in the program's window"),
        "{shown}"
    );
    let error = Config::read(&one, UNITS)
        .unwrap()
        .check_drawn()
        .unwrap_err();
    assert!(error.to_string().contains("add a [[server]]"), "{error}");

    let two = file(
        "two.toml",
        &format!(
            "{}replicas = [\"w\"]\nclient_chain = [\"print\"]\n{}",
            wall("v"),
            wall("w")
        ),
    );
    let plan = Config::read_wall(&two, Some("v"), UNITS).unwrap();
    assert_eq!((plan.wall.walls(), plan.client_chain.len()), (2, 1));
    let error = Config::read_wall(&two, None, UNITS)
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("two.toml:v"), "{error}");
    let error = Config::read_wall(&two, Some("x"), UNITS)
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("it has v, w"), "{error}");
    let full = read(FULL).unwrap();
    assert!(full.check_drawn().is_ok());
}

/// A wall in the former format is refused, and the message shows the same wall in TOML.
#[test]
fn a_wall_in_json_is_shown_in_toml() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old.json");
    let mut wall = read(FULL).unwrap().walls[0].wall.clone();
    wall.tiles[0].present.push(Target::Viewer("unix:@v".into()));
    wall.tiles[0].present.push(Target::Window {
        display: ":1".into(),
        place: DisplayPosition::At(3, 4),
    });
    wall.tiles[1].name = "the \"right\" one".into();
    std::fs::write(&old, wall.to_json()).unwrap();
    let Err(ConfigError::Json {
        instead: Some(text),
        ..
    }) = Config::read(&old, UNITS)
    else {
        panic!("JSON is not refused, or not in other words");
    };
    // The name with quotes is the only mistake. Without it, the wall is the same.
    let mistakes = read(&text).unwrap_err();
    assert_eq!(mistakes.list.len(), 1, "{mistakes}");
    wall.tiles[1].name = "right".into();
    let text = text.replace(r#"'the "right" one'"#, "\"right\"");
    assert_eq!(read(&text).unwrap().walls[0].wall, wall);
    std::fs::write(&old, "{\"name\": 1}").unwrap();
    let error = Config::read(&old, UNITS).unwrap_err().to_string();
    assert!(error.contains("manganese-walls(5)"), "{error}");
}

/// The published schema is the schema of the code, and the reference contains every key.
#[test]
fn the_schema_is_published() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let published = std::fs::read_to_string(docs.join("walls.schema.json")).unwrap();
    let published: serde_json::Value = serde_json::from_str(&published).unwrap();
    let remedy = "make it anew: mgn config schema >docs/walls.schema.json";
    assert!(published == schema(), "{remedy}");
    let reference = std::fs::read_to_string(docs.join("walls.md")).unwrap();
    let schema = schema();
    for (table, described) in schema["$defs"].as_object().unwrap() {
        let Some(keys) = described["properties"].as_object() else {
            continue;
        };
        for (key, described) in keys {
            assert!(
                described["description"].is_string(),
                "{table}.{key} is not described"
            );
            let is_known = reference.contains(&format!("`{key}"))
                || reference.contains(&format!("[[wall.{key}]]"));
            assert!(is_known, "docs/walls.md says nothing of {table}.{key}");
        }
    }
}

#[test]
fn walls_are_drawn() {
    let config = read(FULL).unwrap();
    let drawing = config.wall("grid").unwrap().draw(32);
    let expected = "\
┌────────┐░┌────────┐░┌────────┐
│  0,0   │░│  1,0   │░│  2,0   │
└────────┘░└────────┘░└────────┘
░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
┌────────┐░┌────────┐░┌────────┐
│  0,1   │░│  1,1   │░│  2,1   │
└────────┘░└────────┘░└────────┘
";
    assert_eq!(drawing, expected);
    let cave = config.wall("cave").unwrap();
    assert!(cave.draw(60).contains(OVERLAPS));
    for columns in 1..200 {
        for plan in &config.walls {
            let drawing = plan.draw(columns);
            assert!(drawing.lines().all(|line| line.chars().count() <= columns));
            assert!(drawing.lines().count() <= 60);
        }
    }
}

const OVERLAPS: &str = "▒▒";

#[test]
fn a_file_that_is_not_there_may_be_another() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["cave.toml", "wall.toml", "wall.txt"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    let error = |name: &str| {
        let path = folder.path().join(name);
        Config::read(&path, UNITS).unwrap_err().to_string()
    };
    let meant = folder.path().join("cave.toml").display().to_string();
    for name in ["caev.toml", "cave"] {
        let said = error(name);
        assert!(said.contains(&format!("{name}: No such file")), "{said}");
        assert!(
            said.ends_with(&format!("; did you mean {meant}?")),
            "{said}"
        );
    }
    for name in ["dome.toml", "none/cave.toml"] {
        assert!(!error(name).contains("did you mean"), "{name}");
    }
}
