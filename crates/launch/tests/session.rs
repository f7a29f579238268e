//! Sessions with shells for programs and servers. A session watches all children of its process, so
//! there is one at a time.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mgn_launch::watch::Verdict;
use mgn_launch::{
    find_xvfb, ClientSettings, Display, Driver, Error, Output, Plan, Report, RunDir, Server,
    Session,
};

static ONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn plan(script: &str) -> Plan {
    Plan {
        program: PathBuf::from("/bin/sh"),
        name: "sh".into(),
        arguments: vec!["-c".into(), script.into()],
        display: Display::Inherited,
        driver: through(Server::Elsewhere, ClientSettings::default()),
        environment: Vec::new(),
        output: Output::Inherited,
        beside: Vec::new(),
    }
}

fn through(server: Server, settings: ClientSettings) -> Driver {
    Driver::Ours {
        library: PathBuf::from("/nowhere/libmgn_client.so"),
        server,
        settings: settings.into(),
    }
}

fn fake_server(script: &str) -> Server {
    let arguments: Vec<OsString> = vec!["-c".into(), script.into()];
    Server::Embedded {
        executable: "/bin/sh".into(),
        arguments,
    }
}

fn finish(session: &mut Session) -> Report {
    let report = session.wait(Duration::from_secs(60)).unwrap();
    report.expect("the program does not end")
}

fn wait_for(path: &Path) {
    let start = Instant::now();
    while fs::read_to_string(path).unwrap_or_default().is_empty() {
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "{} does not come",
            path.display()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The X server is one that waits for the server's process, which would not come before the X
/// server is there if one was started after the other.
#[test]
fn x_server_and_server_start_at_once() {
    let _alone = alone();
    let Some(xvfb) = find_xvfb() else {
        return eprintln!("SKIPPED: Xvfb is not installed");
    };
    let folder = std::env::temp_dir().join(format!("mgn-at-once-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (sign, fake) = (folder.join("server"), folder.join("Xvfb"));
    let script = format!(
        "#!/bin/sh\ni=0; while [ ! -e {} ]; do i=$((i+1)); [ $i -gt 100 ] && exit 1; sleep 0.1; done\nexec {} \"$@\"\n",
        sign.display(),
        xvfb.display()
    );
    fs::write(&fake, script).unwrap();
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let mut with_fake = OsString::from(&folder);
    with_fake.push(":");
    with_fake.push(&path);
    std::env::set_var("PATH", with_fake);
    let mut plan = plan("exit 5");
    plan.display = Display::Headless;
    let server = format!(
        "> {}; echo listening on unix:/nowhere; cat > /dev/null",
        sign.display()
    );
    plan.driver = through(fake_server(&server), ClientSettings::default());
    let session = Session::start(RunDir::create().unwrap(), plan);
    std::env::set_var("PATH", path);
    assert_eq!(finish(&mut session.unwrap()).status, 5);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn gives_the_program_its_environment_and_returns_its_status() {
    let _alone = alone();
    let run = RunDir::create().unwrap();
    let dir = run.path().to_owned();
    let busy = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done;";
    let mut plan = plan(&format!(
        "{busy} env > $MGN_RUN_DIR/env; readlink $MGN_RUN_DIR/vendor/*.so.0; exit 7"
    ));
    plan.driver = through(
        fake_server("echo listening on unix:/some/where; cat"),
        ClientSettings {
            frames: Some(12),
            ..ClientSettings::default()
        },
    );
    let mut session = Session::start(run, plan).unwrap();
    let report = finish(&mut session);
    assert_eq!(report.status, 7);
    assert!(report.program_time > Duration::ZERO);
    assert_eq!(report.verdict, Verdict::NoGl);
    let env = fs::read_to_string(dir.join("env")).unwrap();
    for line in [
        "__GLX_VENDOR_LIBRARY_NAME=mgn",
        "MGN_SERVER=unix:/some/where",
        "MGN_FRAMES=12",
        "MGN_PRESENT=window",
        "QT_QPA_PLATFORM=xcb",
    ] {
        assert!(env.lines().any(|l| l == line), "{line} is not in\n{env}");
    }
    let json = fs::read_to_string(dir.join("vendor/mgn.json")).unwrap();
    assert!(
        json.contains(&format!("{}/vendor/libEGL_mgn.so.0", dir.display())),
        "{json}"
    );
    drop(session);
    assert!(!dir.exists());
}

#[test]
fn a_signal_goes_on_to_the_program() {
    let _alone = alone();
    let run = RunDir::create().unwrap();
    let ready = run.join("ready");
    let script = "trap 'exit 42' TERM; echo y > $MGN_RUN_DIR/ready; while :; do sleep 0.02; done";
    let mut session = Session::start(run, plan(script)).unwrap();
    wait_for(&ready);
    let own = std::process::id().to_string();
    Command::new("kill").args(["-TERM", &own]).status().unwrap();
    assert_eq!(finish(&mut session).status, 42);
}

#[test]
fn without_us_the_program_has_its_own_driver() {
    let _alone = alone();
    let run = RunDir::create().unwrap();
    let file = run.join("env");
    let mut plan = plan(&format!("env > {}", file.display()));
    plan.driver = Driver::Local;
    plan.environment = vec![("EXTRA".into(), "42".into())];
    let mut session = Session::start(run, plan).unwrap();
    assert_eq!(finish(&mut session).status, 0);
    let env = fs::read_to_string(file).unwrap();
    assert!(env.lines().any(|l| l == "EXTRA=42"), "{env}");
    assert!(env.lines().any(|l| l == "GDK_BACKEND=x11"), "{env}");
    for ours in ["MGN_RUN_DIR=", "__GLX_VENDOR_LIBRARY_NAME=mgn"] {
        assert!(!env.contains(ours), "{env}");
    }
}

#[test]
fn a_death_by_signal_is_128_and_its_number() {
    let _alone = alone();
    let mut session = Session::start(RunDir::create().unwrap(), plan("kill -9 $$")).unwrap();
    assert_eq!(finish(&mut session).status, 137);
}

#[test]
fn a_dropped_session_takes_everything_along() {
    let _alone = alone();
    let run = RunDir::create().unwrap();
    let pids = run.join("server");
    let mut plan = plan("exec sleep 1000");
    let server = fake_server(&format!(
        "echo $$ > {}; echo listening on x; exec cat >/dev/null",
        pids.display()
    ));
    plan.driver = through(server, ClientSettings::default());
    let session = Session::start(run, plan).unwrap();
    let server = fs::read_to_string(&pids).unwrap();
    drop(session);
    assert!(!Path::new("/proc").join(server.trim()).exists());
    assert!(!pids.exists());
}

#[test]
fn a_server_that_does_not_start_is_an_error() {
    let _alone = alone();
    for (script, word) in [("exit 3", "3"), ("echo hello; cat", "hello")] {
        let run = RunDir::create().unwrap();
        let dir = run.path().to_owned();
        let mut plan = plan("touch $MGN_RUN_DIR/started");
        plan.driver = through(fake_server(script), ClientSettings::default());
        let error = Session::start(run, plan).unwrap_err();
        assert!(matches!(&error, Error::ServerFailed { .. }), "{error}");
        assert!(error.to_string().contains(word), "{error}");
        assert!(!dir.exists());
    }
}

#[test]
fn what_the_program_leaves_behind_is_let_be() {
    let _alone = alone();
    let run = RunDir::create().unwrap();
    let pid = std::env::temp_dir().join(format!("mgn-left-{}", std::process::id()));
    let script = format!("sleep 300 & echo $! > {}", pid.display());
    let mut session = Session::start(run, plan(&script)).unwrap();
    assert_eq!(finish(&mut session).status, 0);
    drop(session);
    let left = fs::read_to_string(&pid).unwrap();
    assert!(Path::new("/proc").join(left.trim()).exists());
    Command::new("kill").arg(left.trim()).status().unwrap();
    fs::remove_file(pid).unwrap();
}

#[test]
fn a_headless_run_has_a_display_of_its_own() {
    let _alone = alone();
    if find_xvfb().is_none() {
        eprintln!("SKIPPED: Xvfb is not installed");
        return;
    }
    let run = RunDir::create().unwrap();
    let mut plan = plan("echo $DISPLAY $XAUTHORITY > $MGN_RUN_DIR/out");
    plan.display = Display::Headless;
    let mut session = Session::start(run, plan).unwrap();
    assert_eq!(finish(&mut session).status, 0);
    let (display, authority) = session.headless_display().unwrap();
    let expected = format!("{display} {}\n", authority.display());
    assert_eq!(
        fs::read_to_string(session.run_dir().join("out")).unwrap(),
        expected
    );
}
