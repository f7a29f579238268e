//! Commands about walls.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn mgn(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mgn"));
    command.args(arguments).env_remove("MGN_LOG");
    command.stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn example(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples");
    folder.join(name).display().to_string()
}

#[test]
fn configurations_are_checked_and_drawn() {
    for name in ["2x2.toml", "3x3-ssh.toml", "bezels.toml"] {
        let output = mgn(&["config", "check", &example(name)]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let output = mgn(&["config", "show", &example(name)]);
        let shown = text(&output.stdout);
        assert!(output.status.success() && shown.contains("┌──"), "{shown}");
        // Only walls with windows on displays are shown on :0.
        let is_lit = shown.contains("shown on :0");
        assert_eq!(is_lit, name != "2x2.toml", "{shown}");
        let drawn = shown.lines().filter(|line| line.contains('│'));
        assert!(drawn.map(|line| line.chars().count()).max() <= Some(80));
    }
}

#[test]
fn mistakes_are_shown_with_their_places() {
    let file = std::env::temp_dir().join(format!("mgn-walls-{}.toml", std::process::id()));
    std::fs::write(
        &file,
        "[[sever]]\nname = \"a\"\n\n[mothership]\nlisten = 3\n",
    )
    .unwrap();
    for what in ["check", "show"] {
        let output = mgn(&["config", what, &file.display().to_string()]);
        assert_eq!(output.status.code(), Some(1));
        let said = text(&output.stderr);
        let (one, two) = (
            format!("{}:1:3\n", file.display()),
            format!("{}:5:10\n", file.display()),
        );
        assert!(
            said.contains(&one) && said.contains("did you mean server?"),
            "{said}"
        );
        assert!(
            said.contains(&two) && said.contains("5 │ listen = 3\n  │          ^\n"),
            "{said}"
        );
    }
    std::fs::remove_file(&file).unwrap();
    let output = mgn(&["config", "check", "/nonexistent/wall.toml"]);
    assert!(text(&output.stderr).starts_with("mgn: /nonexistent/wall.toml: "));
}

/// Mistakes that would prevent the start of servers are found beforehand.
#[test]
fn mistakes_in_chains_are_shown_with_their_places() {
    let file = std::env::temp_dir().join(format!("mgn-chains-{}.toml", std::process::id()));
    let wrong = |config: &str, column: u32, words: &str| {
        std::fs::write(&file, config).unwrap();
        let output = mgn(&["config", "check", &file.display().to_string()]);
        assert_eq!(output.status.code(), Some(1), "{config}");
        let said = text(&output.stderr);
        let place = format!("{}:3:{column}\n", file.display());
        assert!(said.contains(&place) && said.contains(words), "{said}");
    };
    let server = "[[server]]\nname = \"a\"\n";
    let wall = "[[wall]]\nname = \"w\"\n";
    for (stage, column, words) in [
        (r#""histogam""#, 10, "did you mean histogram?"),
        (r#""nop""#, 10, "nop does not answer"),
        (r#"{ spu = "save" }"#, 10, "save needs dir"),
        (r#"{ spu = "print", fil = "x" }"#, 33, "it has file"),
        (
            r#"{ spu = "histogram", every = 0 }"#,
            39,
            "a whole number of at least 1",
        ),
    ] {
        wrong(&format!("{server}chain = [{stage}]\n"), column, words);
    }
    // Stages that cannot run in the processes of programs.
    for (stage, column, words) in [
        (
            r#"{ spu = "save", dir = "x" }"#,
            17,
            "needs the renderer's answers",
        ),
        (r#"{ spu = "print", file = "x" }"#, 41, "--client-spu"),
        (r#""nop""#, 17, "nop does not answer"),
    ] {
        wrong(&format!("{wall}client_chain = [{stage}]\n"), column, words);
    }
    std::fs::remove_file(&file).unwrap();
}

/// A wall in a file is read. A wall in the former format is refused with an explanation.
#[test]
fn walls_of_files_are_read_or_explained() {
    let folder = std::env::temp_dir().join(format!("mgn-wall-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let refuses = |arguments: &[&str], status: i32, words: &[&str]| {
        let output = mgn(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{said}");
        for word in words {
            assert!(said.contains(word), "{word} is not in {said}");
        }
    };
    let run = |options: &[&str], words: &[&str]| {
        let arguments = [&["run"], options, &["--", "true"]].concat();
        refuses(&arguments, 125, words);
    };
    let refused = |wall: &str, words: &[&str]| run(&["--wall", wall], words);
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let old = r#"{"name":"lab","size":[30,10],"fit":"1:1","tiles":[{"name":"left","rect":{"x":0,"y":0,"width":10,"height":10}}]}"#;
    let told = [
        "no longer written in JSON",
        "[[wall]]",
        "name = \"left\"",
        "rect = [0, 0, 10, 10]",
    ];
    refused(&file("old.json", old), &told);
    refused(old, &told);
    let wrong = file(
        "wrong.toml",
        "[[wall]]\nname = \"w\"\ngird = [2, 2]\ntile_size = [9, 9]\n",
    );
    refused(
        &wrong,
        &[
            "error: the wall has no key \"gird\"; did you mean grid?",
            "wrong.toml:3:1",
            "gird = [2, 2]\n  │ ^^^^",
        ],
    );
    let wall = |name: &str, more: &str| {
        format!("[[wall]]\nname = \"{name}\"\ngrid = [2, 1]\ntile_size = [9, 9]\n{more}")
    };
    let two = file("two.toml", &(wall("v", "") + &wall("w", "")));
    refused(&two, &["several walls", "two.toml:v"]);
    refused(&format!("{two}:x"), &["no wall called x", "it has v, w"]);
    let stacked = "tile_present = [{ window = \":0\" }, { window = \":0\", position = [1, 1] }]\n";
    refused(
        &file("stacked.toml", &wall("v", stacked)),
        &["on top of each other", "of this host"],
    );
    let chained = file("chained.toml", &wall("v", "chain = [\"wireframe\"]\n"));
    let on = |kind: &str, wall: &str, words: &[&str]| {
        run(&[kind, "unix:@nobody", "--wall", wall], words);
    };
    on("--server", &chained, &["has a chain", "--spu"]);
    on("--mothership", &two, &["several walls"]);
    refuses(&["mothership", &two], 1, &["add a [[server]]"]);
    std::fs::remove_dir_all(&folder).unwrap();
}
