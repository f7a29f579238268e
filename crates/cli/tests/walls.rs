//! Commands about walls, as their users meet them.

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
        // Where a mural is to be seen on screens, it is.
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

/// What servers could not be started with is found before.
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
        (r#""nop""#, 10, "nop answers nothing"),
        (r#"{ spu = "save" }"#, 10, "save needs dir"),
        (r#"{ spu = "print", fil = "x" }"#, 33, "it has file"),
        (
            r#"{ spu = "histogram", every = 0 }"#,
            39,
            "a whole number from 1 on",
        ),
    ] {
        wrong(&format!("{server}chain = [{stage}]\n"), column, words);
    }
    // What cannot be in programs' own processes.
    for (stage, column, words) in [
        (
            r#"{ spu = "save", dir = "x" }"#,
            17,
            "needs the renderer's answers",
        ),
        (r#"{ spu = "print", file = "x" }"#, 41, "--client-spu"),
        (r#""nop""#, 17, "nop answers nothing"),
    ] {
        wrong(&format!("{wall}client_chain = [{stage}]\n"), column, words);
    }
    std::fs::remove_file(&file).unwrap();
}
