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
            format!("{}:1:3: ", file.display()),
            format!("{}:5:10: ", file.display()),
        );
        assert!(
            said.contains(&one) && said.contains("did you mean server?"),
            "{said}"
        );
        assert!(
            said.contains(&two) && said.contains("\n      |          ^\n"),
            "{said}"
        );
    }
    std::fs::remove_file(&file).unwrap();
    let output = mgn(&["config", "check", "/nonexistent/wall.toml"]);
    assert!(text(&output.stderr).starts_with("mgn: /nonexistent/wall.toml: "));
}
