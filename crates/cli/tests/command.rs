//! Tests of the command with programs that draw nothing. A mistake gives one line that says what to
//! do. The exit status, output and signals are those of the program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A separate folder for a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("mgn-cli-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str, bytes: &[u8], mode: u32) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// `mgn` with a client library that no program here will load.
fn mgn() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mgn"));
    command
        .env("MGN_CLIENT_LIBRARY", env!("CARGO_BIN_EXE_mgn"))
        .env_remove("DISPLAY")
        .env_remove("MGN_TOKEN_FILE")
        .env_remove("MGN_TOKEN_STORE")
        .env_remove("MGN_SERVER_KEY")
        .env_remove("MGN_SERVER")
        .env_remove("MGN_MOTHERSHIP")
        .env_remove("MGN_RUN_DIR")
        .env_remove("MGN_SSH")
        .env_remove("MGN_LOG")
        // The user's own settings must not apply.
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .stdin(Stdio::null());
    command
}

/// The lines that a shell prints when `mgn run` runs it, and the output of `mgn`.
fn printed(command: &mut Command, arguments: &[&str], script: &str) -> (Vec<String>, String) {
    let output = command
        .args(["run", "--display", ":9998"])
        .args(arguments)
        .args(["--", "sh", "-c", script])
        .output()
        .unwrap();
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    let lines = String::from_utf8(output.stdout).unwrap();
    (lines.lines().map(String::from).collect(), said)
}

fn output(arguments: &[&str]) -> Output {
    mgn().args(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Checks that the command ends with `status` and one line that contains all of `words`.
#[track_caller]
fn refuses(arguments: &[&str], status: i32, words: &[&str]) {
    let output = output(arguments);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    assert!(said.starts_with("mgn: "), "{said}");
    for word in words {
        assert!(said.contains(word), "{word} is not in {said}");
    }
}

#[test]
fn a_mistyped_flag_is_not_run() {
    for (arguments, meant) in [
        (&["run", "--headles", "--", "true"][..], "--headless"),
        (&["run", "--headles", "true"], "--headless"),
        (&["verify", "--frame", "3", "--", "true"], "--frames"),
        (&["ssh", "nowhere", "--headles", "--", "true"], "--headless"),
        (&["run", "--viewer", "8090", "--", "true"], "--viewer=8090"),
    ] {
        let output = output(arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(meant), "{said}");
        assert!(!said.contains("PATH"), "{said}");
    }
}

#[test]
fn flags_come_before_the_environment_and_that_before_the_file() {
    let folder = Folder::new("settings");
    let home = folder.0.join("manganese");
    fs::create_dir(&home).unwrap();
    fs::write(
        home.join("config.toml"),
        "# of mine\nserver = \"tls:in-file\"\n",
    )
    .unwrap();
    let token = folder.file("manganese/token", &[b'a'; 64], 0o600);
    let script = "echo $MGN_SERVER; echo $MGN_TOKEN_FILE";
    let of = |variables: &[(&str, &str)], arguments: &[&str]| {
        let mut mgn = mgn();
        mgn.env("XDG_CONFIG_HOME", &folder.0);
        mgn.envs(variables.iter().copied());
        printed(&mut mgn, arguments, script).0
    };
    let token = token.to_str().unwrap();
    let own = [
        ("MGN_SERVER", "tls:in-environment unix:@x"),
        ("MGN_TOKEN_FILE", "/t"),
    ];
    assert_eq!(of(&[], &[]), ["tls:in-file:7500", token]);
    let both = of(&own, &["--wall", "2x1"]);
    assert_eq!(both, ["tls:in-environment:7500 unix:@x", "/t"]);
    let named = ["--server", "tls:in-flag:7000", "--token-file", "/u"];
    assert_eq!(of(&own, &named), ["tls:in-flag:7000", "/u"]);
    // No server is needed here, so none is named.
    assert_eq!(of(&own, &["--transport", "null"])[0], "");
    // The variables for the client library of a run are not settings of the user.
    let within = [own[0], ("MGN_RUN_DIR", "/r")];
    assert_eq!(of(&within, &[])[0], "tls:in-file:7500");

    let mut mgn = mgn();
    let output = mgn
        .env("XDG_CONFIG_HOME", &folder.0)
        .env("MGN_MOTHERSHIP", "tls:head")
        .args(["info", "--json"])
        .output()
        .unwrap();
    let info: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let shown = |name: &str| {
        let shown = &info["settings"][name];
        [&shown["value"], &shown["source"]].map(|text| text.as_str().unwrap_or("null").to_owned())
    };
    let place = format!("{}:2", home.join("config.toml").display());
    assert_eq!(shown("server"), ["tls:in-file:7500", &place]);
    assert_eq!(shown("mothership"), ["tls:head:7400", "MGN_MOTHERSHIP"]);
    assert_eq!(shown("token_file"), [token, "by default"]);
    assert_eq!(info["settings"]["is_there"], true);
    // Each part of the sandbox is in force here, or there is a reason.
    let sandbox = info["sandbox"]["detail"].as_str().unwrap();
    let parts = ["namespaces", "Landlock", "system calls by seccomp"];
    assert!(parts.iter().all(|part| sandbox.contains(part)), "{sandbox}");
    assert!(info["settings"]["mistake"].is_null());
}

#[test]
fn info_says_when_the_sandbox_is_switched_off() {
    let sandbox = |required: &str| {
        let mut mgn = mgn();
        mgn.env("MGN_NO_SANDBOX", "1")
            .env("MGN_REQUIRE_SANDBOX", required);
        let output = mgn.args(["info", "--json"]).output().unwrap();
        let info: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        info["sandbox"].clone()
    };
    let off = sandbox("0");
    assert_eq!(off["works"], false);
    let why = off["detail"].as_str().unwrap();
    assert!(why.contains("MGN_NO_SANDBOX"), "{why}");
    // MGN_REQUIRE_SANDBOX has priority.
    assert!(!sandbox("1")["detail"].as_str().unwrap().contains("MGN_NO"));
}

#[test]
fn a_mistake_in_the_file_has_a_place_and_advice() {
    let folder = Folder::new("mistake");
    fs::create_dir(folder.0.join("manganese")).unwrap();
    let file = folder.0.join("manganese/config.toml");
    for (text, words) in [
        (
            "\nsevrer = \"unix:@a\"",
            &[":2: ", "\"sevrer\"", "mean server?"][..],
        ),
        ("server = \"gpu1\"", &[":1: ", "\"gpu1\"", "tls:HOST"]),
        ("server = ", &[":1: "]),
    ] {
        fs::write(&file, text).unwrap();
        let mut mgn = mgn();
        let output = mgn
            .env("XDG_CONFIG_HOME", &folder.0)
            .args(["run", "--", "true"])
            .output()
            .unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(125), "{said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
        for word in words.iter().chain(&[file.to_str().unwrap()]) {
            assert!(said.contains(word), "{word} is not in {said}");
        }
    }
}

#[test]
fn a_token_has_a_place_where_it_is_found() {
    use std::io::{BufRead, BufReader};
    let folder = Folder::new("found");
    let mgn = || {
        let mut mgn = mgn();
        mgn.env("XDG_CONFIG_HOME", folder.0.join("deep"));
        mgn.env("XDG_STATE_HOME", folder.0.join("state"));
        mgn
    };
    let relay = [
        "relay",
        "--listen",
        "tls:127.0.0.1:0",
        "--to",
        "a=tls:127.0.0.1:1",
    ];
    let server = ["server", "--listen", "tls:127.0.0.1:0"];
    let viewer = ["viewer", "--wall", "1x1", "--feeds", "tls:127.0.0.1:0"];
    for command in [&relay[..], &server, &viewer] {
        let output = mgn().args(command).output().unwrap();
        let said = stderr(&output);
        assert!(
            !output.status.success() && said.contains("mgn token new"),
            "{said}"
        );
    }
    let output = mgn().args(["token", "new"]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let token = folder.0.join("deep/manganese/token");
    assert!(said.contains(token.to_str().unwrap()), "{said}");
    assert_eq!(
        fs::metadata(&token).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let mut relay = mgn().args(relay).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut said = BufReader::new(relay.stdout.take().unwrap());
    said.read_line(&mut line).unwrap();
    let limits = fs::read_to_string(format!("/proc/{}/limits", relay.id())).unwrap();
    relay.kill().unwrap();
    relay.wait().unwrap();
    assert!(line.starts_with("listening on tls:127.0.0.1:"), "{line}");
    assert!(limits.contains("Max core file size        0"), "{limits}");
}

#[test]
fn a_wrong_host_name_is_reported() {
    let folder = Folder::new("host");
    let token = folder.0.join("token");
    mgn_fabric::Token::generate().write(&token).unwrap();
    let arguments = ["status", "--mothership", "tls:no-such-host.invalid"];
    let token = ["--token-file", token.to_str().unwrap()];
    let words = ["no-such-host.invalid", "spelling"];
    refuses(&[&arguments[..], &token].concat(), 1, &words);
}

#[test]
fn toolkits_keep_the_users_settings_that_work() {
    let script = "echo $QT_QPA_PLATFORM; echo $SDL_VIDEODRIVER; echo $GDK_BACKEND";
    let (lines, said) = printed(
        mgn()
            .env("QT_QPA_PLATFORM", "offscreen")
            .env("SDL_VIDEODRIVER", "wayland")
            .env_remove("GDK_BACKEND"),
        &["--transport", "null"],
        script,
    );
    assert_eq!(lines, ["offscreen", "x11", "x11"]);
    let about: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("wayland"))
        .collect();
    assert_eq!(about.len(), 1, "{said}");
    assert!(
        about[0].contains("SDL_VIDEODRIVER") && !said.contains("QT_QPA"),
        "{said}"
    );
}

#[test]
fn programs_that_cannot_run_are_refused_with_the_reason() {
    let folder = Folder::new("refused");
    let mut elf = [0u8; 64];
    elf[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 1, 1]);
    let narrow = folder.file("narrow", &elf, 0o755);
    elf[4] = 2;
    elf[18] = if cfg!(target_arch = "aarch64") {
        183
    } else {
        62
    };
    let fixed = folder.file("fixed", &elf, 0o755);
    let text = folder.file("text", b"hello", 0o644);
    let path = |p: &Path| p.to_str().unwrap().to_owned();
    refuses(
        &["run", "--", "no-such-program"],
        127,
        &["not found in PATH"],
    );
    refuses(
        &["run", "--", "./no-such-program"],
        127,
        &["no such program"],
    );
    refuses(&["run", "--", &path(&text)], 126, &["chmod +x"]);
    refuses(
        &["run", "--", &path(&narrow)],
        126,
        &["32-bit", "64-bit build"],
    );
    refuses(&["run", "--", &path(&fixed)], 126, &["statically linked"]);
    refuses(&["run", "--", "/"], 126, &["not executable"]);
}

#[test]
fn flags_that_contradict_each_other_are_named() {
    refuses(
        &[
            "run",
            "--transport",
            "null",
            "--server",
            "unix:/x",
            "--",
            "true",
        ],
        125,
        &["--server"],
    );
    refuses(
        &["run", "--transport", "null", "--discard", "--", "true"],
        125,
        &["--discard"],
    );
    refuses(
        &[
            "run",
            "--transport",
            "shm",
            "--server",
            "tcp:h:1",
            "--",
            "true",
        ],
        125,
        &["unix:"],
    );
    refuses(
        &[
            "run",
            "--transport",
            "tcp",
            "--server",
            "unix:/x",
            "--",
            "true",
        ],
        125,
        &["tcp:"],
    );
    refuses(
        &["run", "--server", "tcp:h:1", "--", "true"],
        125,
        &["--token-file", "mgn token new"],
    );
    refuses(
        &["run", "--stats-json", "/no/such/dir/f", "--", "true"],
        125,
        &["/no/such/dir/f", "No such file"],
    );
    refuses(
        &["run", "--save", "/dev/null/x", "--", "true"],
        125,
        &["/dev/null/x"],
    );
}

#[test]
fn an_impossible_chain_is_refused_before_anything_starts() {
    // Mistakes in values of flags are reported with advice on flags.
    let parsed = |stage: &str, words: &[&str]| {
        for command in [
            &["run", "--spu", stage, "--", "true"][..],
            &["server", "--spu", stage],
            &["replay", "--spu", stage, "/no/such/recording"],
        ] {
            let output = output(command);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{command:?}: {said}");
            for word in words.iter().chain(&[stage]) {
                assert!(said.contains(word), "{word} is not in {said}");
            }
        }
    };
    parsed("prnt", &["no SPU", "histogram, nop, pack, perf, print"]);
    parsed("replicate", &["--wall or --viewer", "replicas"]);
    parsed("composite", &["no stage", "mgn run --composite"]);
    parsed("print:path=x", &["no parameter \"path\"", "it has file"]);
    parsed("discard:x=1", &["it has none"]);
    parsed("save", &["save:dir=", "a folder"]);
    parsed("save:dir=x,every=0", &["a whole number of at least 1"]);
    parsed("save:dir=x,format=gif", &["png or jpeg"]);
    parsed("print:file=", &["not a file"]);
    parsed("perf:seconds=1,seconds=2", &["twice"]);
    for (command, status) in [("run", 125), ("server", 1), ("replay", 1)] {
        let refused = |stages: &[&str], words: &[&str]| {
            let stages = stages.iter().flat_map(|stage| ["--spu", *stage]);
            let rest: &[&str] = match command {
                "run" => &["--", "true"],
                "replay" => &["/no/such/recording"],
                _ => &[],
            };
            let mut all = vec![command];
            all.extend(stages);
            all.extend(rest);
            refuses(&all, status, words);
        };
        refused(&["nop", "print"], &["nop must be the last stage", "print"]);
        refused(
            &["render", "print"],
            &["render must be the last stage", "print"],
        );
        refused(
            &["tilesort"],
            &["tilesort determines where", "--client-spu"],
        );
        let missing = "print:file=/no/such/dir/trace";
        refused(&[missing], &["print cannot write /no/such/dir/trace"]);
        refused(
            &["save:dir=/dev/null/x"],
            &["save cannot write /dev/null/x"],
        );
        if command != "replay" {
            refused(&["print", "nop"], &["nop does not answer", "discard"]);
        }
    }
    refuses(
        &["run", "--transport", "null", "--spu", "print", "--", "true"],
        125,
        &["leave out --spu"],
    );
    let walled = ["run", "--wall", "2x2", "--client-spu", "pack", "--", "true"];
    refuses(&walled, 125, &["one renderer", "has 4", "tilesort"]);
}

#[test]
fn impossible_comparisons_are_refused_before_anything_runs() {
    let clock = env!("CARGO_BIN_EXE_mgn");
    let refuses = |arguments: &[&str], status: i32, words: &[&str]| {
        let output = mgn()
            .env("MGN_FIXED_CLOCK_LIBRARY", clock)
            .arg("verify")
            .args(arguments)
            .output()
            .unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
        assert!(said.starts_with("mgn: "), "{said}");
        for word in words {
            assert!(said.contains(word), "{word} is not in {said}");
        }
    };
    let few = ["--frames", "3", "--every", "4", "true"];
    refuses(&few, 2, &["--every 4", "--frames 3"]);
    refuses(&["--transport", "null", "true"], 2, &["--transport null"]);
    refuses(&["--transport", "file:/x", "true"], 2, &["file:/x"]);
    refuses(&["--server", "tcp:h:1", "true"], 2, &["--token-file"]);
    refuses(&["--out", "/dev/null/x", "true"], 2, &["/dev/null/x"]);
    refuses(&["no-such-program"], 127, &["not found in PATH"]);
    refuses(&["/"], 126, &["not executable"]);
}

#[test]
fn a_missing_client_library_is_reported() {
    let output = mgn()
        .env("MGN_CLIENT_LIBRARY", "/no/such.so")
        .args(["run", "true"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert!(
        stderr(&output).contains("/no/such.so"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn status_and_output_are_the_programs() {
    let script = "echo out; echo err >&2; exit 9";
    let output = output(&["run", "--transport", "null", "--", "sh", "-c", script]);
    assert_eq!(output.status.code(), Some(9));
    assert_eq!(output.stdout, b"out\n");
    let said = stderr(&output);
    assert!(
        said.contains("err\n") && said.contains("--headless"),
        "{said}"
    );
    assert!(
        !said.contains("used no OpenGL"),
        "it failed for reasons of its own: {said}"
    );
}

#[test]
fn a_program_without_opengl_is_noted() {
    let output = output(&["run", "--transport", "null", "--headless", "--", "true"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "mgn: true used no OpenGL\n");
}

/// Programs that only send messages can also run as copies. One message about the display appears,
/// but only if they fail.
#[test]
fn copies_without_opengl_need_no_display() {
    let copies = |program: &str| {
        let arguments = ["run", "--transport", "null", "-np", "2", "--"];
        output(&[&arguments[..], &["sh", "-c", program]].concat())
    };
    let fine = copies("true");
    assert_eq!((fine.status.code(), &stderr(&fine)[..]), (Some(0), ""));
    let failed = copies("test %r = 1 || exit 3");
    assert_eq!(failed.status.code(), Some(3));
    assert_eq!(stderr(&failed).matches("--headless").count(), 1);
}

#[test]
fn figures_are_written_even_for_a_program_that_fails() {
    let folder = Folder::new("figures");
    let file = folder.0.join("stats.json");
    let name = file.to_str().unwrap();
    let script = "kill -SEGV $$";
    let arguments = [
        "run",
        "--transport",
        "null",
        "--stats-json",
        name,
        "sh",
        "-c",
        script,
    ];
    assert_eq!(output(&arguments).status.code(), Some(128 + 11));
    let text = fs::read_to_string(&file).unwrap();
    for key in [
        "frames_per_second",
        "bytes_per_frame",
        "commands_per_frame",
        "send_wait_share",
        "round_trips",
        "\"exit_status\": 139",
        "\"reached_server\": false",
    ] {
        assert!(text.contains(key), "{key} is not in {text}");
    }
}

#[test]
fn a_signal_to_mgn_ends_the_program() {
    let folder = Folder::new("signal");
    let pid_file = folder.0.join("pid");
    let script = format!("echo $$ > {}; exec sleep 1000", pid_file.display());
    let mut child = mgn()
        .args(["run", "--transport", "null", "--", "sh", "-c", &script])
        .spawn()
        .unwrap();
    let start = Instant::now();
    let pid = loop {
        let text = fs::read_to_string(&pid_file).unwrap_or_default();
        if text.ends_with('\n') {
            break text.trim().to_owned();
        }
        assert!(start.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(5));
    };
    Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status()
        .unwrap();
    // SIGTERM, because SIGINT may be ignored in the process that runs the tests.
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    assert!(!Path::new("/proc").join(pid).exists());
}

#[test]
fn a_missing_x_server_is_reported() {
    let output = output(&[
        "run",
        "--transport",
        "null",
        "--display",
        ":9998",
        "--",
        "true",
    ]);
    let said = stderr(&output);
    assert!(
        said.contains(":9998") && said.contains("--headless"),
        "{said}"
    );
}

#[test]
fn another_opengl_is_detected() {
    // Any library of this name suffices, because the detection uses only names.
    let (python, source) = (
        Path::new("/usr/bin/python3"),
        Path::new("/lib/x86_64-linux-gnu/libm.so.6"),
    );
    let folder = Folder::new("elsewhere");
    let file = folder.0.join("libGL.so.1");
    if !python.exists() || fs::copy(source, &file).is_err() {
        eprintln!("SKIPPED: needs python3 and a library to copy");
        return;
    }
    let load = format!("ctypes.CDLL('{}')", file.display());
    let script = format!("import ctypes, time; {load}; time.sleep(4)");
    let output = output(&[
        "run",
        "--transport",
        "null",
        "--",
        "/usr/bin/python3",
        "-c",
        &script,
    ]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("libGL.so.1") && said.contains("not through Manganese"),
        "{said}"
    );
}

#[test]
fn a_token_is_private_and_never_overwritten() {
    let folder = Folder::new("token");
    let file = folder.0.join("token");
    let name = file.to_str().unwrap();
    let output = |arguments: &[&str]| {
        let mut mgn = mgn();
        mgn.env("XDG_CONFIG_HOME", &folder.0);
        mgn.env("XDG_STATE_HOME", &folder.0);
        mgn.args(arguments).output().unwrap()
    };
    assert!(output(&["token", "new", name]).status.success());
    let token = fs::read(&file).unwrap();
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let again = output(&["token", "new", name]);
    assert_eq!(again.status.code(), Some(1));
    let advice = "exists already; give another file";
    assert!(stderr(&again).contains(advice), "{}", stderr(&again));
    assert_eq!(fs::read(&file).unwrap(), token);
    let shown = [again.stdout, again.stderr].concat();
    let secret = mgn_fabric::Token::read(&file).unwrap().to_hex();
    assert!(!String::from_utf8_lossy(&shown).contains(secret.as_str()));
}

/// Two commands are enough for one user and one server. A guest has a token that is revoked later.
#[test]
fn tokens_are_made_listed_and_revoked() {
    let folder = Folder::new("tokens");
    let said = |arguments: &[&str]| {
        let mut mgn = mgn();
        mgn.env("XDG_CONFIG_HOME", &folder.0);
        mgn.env("XDG_STATE_HOME", &folder.0);
        let output = mgn.args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(said(&["token", "new"]).contains("added to the new store"));
    let guest = folder.0.join("guest.token");
    let guest = guest.to_str().unwrap();
    assert!(!said(&["token", "new", guest]).contains("the new store"));
    // If two files have the same name, the second token gets a different name.
    let second = folder.0.join("other");
    fs::create_dir(&second).unwrap();
    let second = second.join("guest.token");
    said(&["token", "new", second.to_str().unwrap(), "--role", "admin"]);
    let list = said(&["token", "list"]);
    assert_eq!(list, "token    client\nguest    client\nguest-2  admin\n");
    let key = said(&["token", "key"]);
    let shown = said(&["info"]);
    for words in ["token (client), for servers with the key", key.trim()] {
        assert!(shown.contains(words), "{shown}");
    }
    let written = mgn_fabric::Token::read(Path::new(guest)).unwrap();
    assert_eq!(written.servers()[0].to_string(), key.trim());
    assert!(said(&["token", "revoke", "guest"]).contains("end its sessions"));
    assert!(!said(&["token", "list"]).contains("guest "));
    said(&["token", "add", guest]);
    assert!(said(&["token", "list"]).contains("guest    client"));

    let mut mgn = mgn();
    mgn.env("XDG_CONFIG_HOME", &folder.0);
    mgn.env("XDG_STATE_HOME", &folder.0);
    let output = mgn.args(["token", "revoke", "gest"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let names = "it has token, guest-2, guest";
    assert!(stderr(&output).contains(names), "{}", stderr(&output));
}

#[test]
fn a_new_server_key_is_announced() {
    let folder = Folder::new("key");
    let key = || {
        let mut mgn = mgn();
        mgn.env("XDG_STATE_HOME", &folder.0);
        mgn.args(["token", "key"]).output().unwrap()
    };
    let (first, second) = (key(), key());
    assert_eq!(first.stdout, second.stdout);
    let said = stderr(&first);
    assert!(said.contains("so a new one was made"), "{said}");
    assert_eq!(stderr(&second), "");
}

#[test]
fn limits_of_memory_are_in_mebibytes() {
    for [flag, value] in [["--memory-limit", "2G"], ["--memory-total", "63"]] {
        let said = stderr(&output(&["server", flag, value]));
        let wanted = format!("{value}' for '{flag} <MIB>': it is a number of MiB, 64 or more");
        assert!(said.contains(&wanted), "{said}");
    }
}

/// The best settings are unknown, so this tests that two processes measure them, and that the
/// command shows them and writes them to the file.
#[test]
fn settings_are_measured_and_written() {
    let folder = Folder::new("tune");
    let file = folder.0.join("deep/tune.toml");
    let tune = |more: &[&str]| {
        let mut command = mgn();
        command.args(["tune", "--seconds", "1"]).args(more);
        let output = command.env("HOME", &folder.0).output().unwrap();
        let said = stderr(&output);
        assert!(output.status.success(), "{said}");
        for word in ["at once", "one copy", "shm", "unix", "tcp", "16 MiB"] {
            assert!(said.contains(word), "{word} is not in {said}");
        }
        String::from_utf8(output.stdout).unwrap()
    };
    let said = tune(&["--output", file.to_str().unwrap()]);
    assert!(said.contains(file.to_str().unwrap()), "{said}");
    let written = fs::read_to_string(&file).unwrap();
    let shown = tune(&["--dry-run"]);
    for text in [written, shown] {
        assert!(
            text.contains("\nspin_us = ") && text.contains(" took "),
            "{text}"
        );
    }
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1, "nothing else");
    refuses(&["tune-partner"], 1, &["mgn tune has started"]);
}

#[test]
fn pages_cover_every_command() {
    let folder = Folder::new("pages");
    let (man, completions) = (folder.0.join("man"), folder.0.join("completions"));
    let mut command = mgn();
    command
        .arg("pages")
        .arg("--man")
        .arg(&man)
        .arg("--completions")
        .arg(&completions);
    assert!(command.status().unwrap().success());
    for page in [
        "manganese-walls.5",
        "manganese-config.5",
        "mgn.1",
        "mgn-run.1",
        "mgn-verify.1",
        "mgn-server.1",
        "mgn-replay.1",
        "mgn-info.1",
    ] {
        assert!(man.join(page).exists(), "{page}");
    }
    assert!(
        !man.join("mgn-worker.1").exists(),
        "hidden commands have no page"
    );
    for file in ["mgn.bash", "_mgn", "mgn.fish"] {
        let text = fs::read_to_string(completions.join(file)).unwrap();
        for hidden in ["gl-list", "bench-part", "tune-partner", "--embedded"] {
            assert!(!text.contains(hidden), "{file} offers {hidden}");
        }
    }
    let run = fs::read_to_string(man.join("mgn-run.1")).unwrap();
    assert!(
        run.contains(".SH EXAMPLES") && run.contains("manganese\\-walls"),
        "{run}"
    );
    let walls = fs::read_to_string(man.join("manganese-walls.5")).unwrap();
    for word in [
        "tile_present",
        "[[wall.tile]]",
        "token_file",
        "[mothership]",
        ".SH EXAMPLES",
    ] {
        assert!(
            walls.replace('\\', "").contains(word),
            "{word} is not in manganese-walls(5)"
        );
    }
    let config = fs::read_to_string(man.join("manganese-config.5")).unwrap();
    for word in ["token_file", "MGN_SERVER", ".SH EXAMPLES"] {
        assert!(
            config.replace('\\', "").contains(word),
            "{word} is not in manganese-config(5)"
        );
    }
    if let Ok(output) = Command::new("mandoc")
        .arg("-Tlint")
        .args([
            man.join("manganese-walls.5"),
            man.join("manganese-config.5"),
        ])
        .output()
    {
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            !said.contains("ERROR") && !said.contains("UNSUPP"),
            "{said}"
        );
    }
}

/// Shells offer the possible values of flags, and nothing else.
#[test]
fn shells_complete_choices_and_no_others() {
    let folder = Folder::new("completions");
    let pages = mgn()
        .current_dir(&folder.0)
        .args(["pages", "--man", "man", "--completions", "shells"])
        .status();
    assert!(pages.unwrap().success());
    folder.file("afile", b"", 0o644);
    let offered = |words: &[&str]| -> Vec<String> {
        let script = "source shells/mgn.bash 2>/dev/null; compopt() { case $2 in plusdirs) COMPREPLY+=($(compgen -d)) ;; esac; }; COMP_WORDS=(mgn \"$@\" ''); COMP_CWORD=$(($# + 1)); \
                      _mgn mgn '' \"${!#}\" 2>/dev/null; printf '%s\\n' \"${COMPREPLY[@]}\"";
        let output = Command::new("bash")
            .current_dir(&folder.0)
            .args(["-c", script, "bash"])
            .args(words)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.split_whitespace().map(str::to_owned).collect()
    };
    for (words, choices) in [
        (&["run", "--transport"][..], "shm unix tcp null file:"),
        (&["run", "--weld"], "auto always never"),
        (&["run", "--composite"], "depth over max min add"),
        (&["token", "new", "--role"], "client server admin"),
    ] {
        assert_eq!(offered(words).join(" "), choices, "{words:?}");
    }
    assert!(offered(&["run", "--spu"]).contains(&"print".into()));
    for words in [
        &["run", "--frames"][..],
        &["run", "--server"],
        &["run", "--needs"],
        &["server", "--watchdog"],
    ] {
        assert_eq!(offered(words), [""; 0], "{words:?}");
    }
    assert!(offered(&["run", "--token-file"]).contains(&"afile".into()));
    let folders = offered(&["run", "--save"]);
    assert!(
        folders.contains(&"man".into()) && !folders.contains(&"afile".into()),
        "{folders:?}"
    );
    let commands = offered(&["config"]);
    let named = |name: &str| commands.contains(&name.into());
    assert!(named("check") && named("schema"), "{commands:?}");
    for (shell, frames, transports) in [
        ("_mgn", "after N frames]:N:' \\", ":(shm unix tcp "),
        ("mgn.fish", "after N frames' -r -f", " -r -f -a \"shm\\t"),
    ] {
        let script = fs::read_to_string(folder.0.join("shells").join(shell)).unwrap();
        let offers =
            |flag, part: &str| script.lines().any(|l| l.contains(flag) && l.contains(part));
        assert!(
            offers("frames", frames) && offers("transport", transports),
            "{shell}"
        );
    }
}

/// The installed documentation contains the files that help texts name.
#[test]
fn the_documentation_is_installed() {
    let folder = Folder::new("docs");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let made = Command::new("make")
        .current_dir(source)
        .args(["-s", "install-docs", "PREFIX=/usr"])
        .arg(format!("DESTDIR={}", folder.0.display()))
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", stderr(&made));
    for file in [
        "spu.md",
        "walls.md",
        "walls.schema.json",
        "examples/2x2.toml",
        "README.md",
        "ARCHITECTURE.md",
    ] {
        let file = folder.0.join("usr/share/doc/manganese").join(file);
        assert!(file.is_file(), "{}", file.display());
    }
    // The links of the README lead to the installed files.
    let readme = fs::read_to_string(folder.0.join("usr/share/doc/manganese/README.md")).unwrap();
    assert!(readme.contains("](walls.md)") && !readme.contains("](docs/"));
}

#[test]
fn a_viewer_prints_the_address_of_its_page() {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpStream;
    let folder = Folder::new("viewer");
    let wall = "[[wall]]\nname = \"lab\"\nsize = [30, 10]\nfit = \"1:1\"\n\
                [[wall.tile]]\nname = \"left\"\nrect = [0, 0, 10, 10]\n";
    let wall = folder.file("wall.toml", wall.as_bytes(), 0o644);
    let feeds = format!("unix:{}", folder.0.join("feeds").display());
    let mut viewer = mgn()
        .args(["viewer", "--feeds", &feeds, "--wall"])
        .arg(wall)
        .env("MGN_LOG", "trace")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut said = BufReader::new(viewer.stdout.take().unwrap());
    said.read_line(&mut line).unwrap();
    let (place, token) = line.trim_end().split_once("/#token=").unwrap();
    assert!(place.starts_with("http://127.0.0.1:"), "{line}");
    assert_eq!(token.len(), 32);
    let place = place.trim_start_matches("http://");
    let mut page = TcpStream::connect(place).unwrap();
    write!(
        page,
        "GET /watch HTTP/1.1\r\nHost: {place}\r\nOrigin: http://{place}\r\n\
         Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\
         Sec-WebSocket-Protocol: manganese-viewer, {token}\r\n\r\n"
    )
    .unwrap();
    // Reads the answer and the description of the wall.
    let mut answer = Vec::new();
    while !answer.ends_with(br#""left""#) {
        let mut byte = [0];
        page.read_exact(&mut byte).unwrap();
        answer.extend(byte);
    }
    assert!(answer.starts_with(b"HTTP/1.1 101"));
    viewer.kill().unwrap();
    let ended = viewer.wait_with_output().unwrap();
    assert!(!stderr(&ended).contains(token));

    for (arguments, words) in [
        (["--wall", "9x9"], "COLUMNSxROWS"),
        (
            ["--wall", "/dev/null"],
            "has no wall; it has none; add a [[wall]]",
        ),
        (["--wall", "/nowhere.toml"], "/nowhere.toml: No such file"),
        (["--wall", "lab"], "a file whose name ends with .toml"),
        (["--wall=2x2", "--listen=unix:@page"], "tcp:HOST:PORT"),
        (["--wall=2x2", "--listen=tls:localhost:0"], "proxy"),
        (["--wall=2x2", "--feeds=tcp:localhost:0"], "token"),
    ] {
        let output = output(&[&["viewer"], &arguments[..]].concat());
        assert!(!output.status.success());
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}
