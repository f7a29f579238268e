//! `scripts/release.sh` in a repository without sources, which has only the files that the script
//! changes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const FILES: [&str; 9] = [
    "Cargo.toml",
    "Cargo.lock",
    "python/Cargo.toml",
    "python/Cargo.lock",
    "fuzz/Cargo.toml",
    "fuzz/Cargo.lock",
    "CHANGELOG.md",
    "debian/changelog",
    "scripts/release.sh",
];

struct Repository(PathBuf);

impl Repository {
    fn new() -> Repository {
        let folder = std::env::temp_dir().join(format!("mgn-release-{}", std::process::id()));
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for file in FILES {
            let to = folder.join(file);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(root.join(file), to).unwrap();
        }
        let make = folder.join("bin/make");
        fs::create_dir_all(make.parent().unwrap()).unwrap();
        fs::write(&make, "#!/bin/sh\necho goals: $*\nexit ${MAKE_STATUS:-0}\n").unwrap();
        fs::set_permissions(&make, fs::Permissions::from_mode(0o755)).unwrap();
        let repository = Repository(folder);
        repository.git(&["init", "--quiet"]);
        repository.commit();
        repository
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(&self.0)
            .args(["-c", "user.name=Test", "-c", "user.email=test@localhost"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "A change"]);
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap()
    }

    fn release(&self, version: &str, make_status: &str) -> Output {
        let path = std::env::var("PATH").unwrap();
        let mut script = Command::new("bash");
        script
            .current_dir(&self.0)
            .args(["scripts/release.sh", "--no-checks", version])
            .env("MAKE_STATUS", make_status)
            .env("PATH", format!("{}:{path}", self.0.join("bin").display()));
        for who in ["AUTHOR", "COMMITTER"] {
            script.env(format!("GIT_{who}_NAME"), "Test");
            script.env(format!("GIT_{who}_EMAIL"), "test@localhost");
        }
        script.output().unwrap()
    }

    #[track_caller]
    fn refuses(&self, version: &str, why: &str) {
        let output = self.release(version, "0");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(why), "{said}");
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The versions of our own packages in a lock file.
fn locked(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let own = lines
        .windows(2)
        .filter(|two| two[0].starts_with("name = \"mgn-"));
    own.map(|two| two[1]).collect()
}

#[test]
fn a_release_has_one_version_everywhere_and_a_tag() {
    if Command::new("git").arg("--version").output().is_err() {
        println!("SKIPPED: there is no git");
        return;
    }
    let repository = Repository::new();
    repository.refuses("1.2", "write MAJOR.MINOR.PATCH");
    repository.refuses("0.0.9", "earlier than the current version");
    // A release that fails leaves no changes behind.
    let output = repository.release("0.2.0", "1");
    assert!(!output.status.success());
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    fs::write(repository.0.join("left"), "").unwrap();
    repository.refuses("0.2.0", "the working tree has changes");
    fs::remove_file(repository.0.join("left")).unwrap();

    let output = repository.release("0.2.0", "0");
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("goals: deb sbom"));
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    let subject = repository.git(&["log", "-1", "--format=%s %d"]);
    assert!(subject.contains("Release 0.2.0") && subject.contains("tag: v0.2.0"));
    for file in ["Cargo.lock", "python/Cargo.lock", "fuzz/Cargo.lock"] {
        let text = repository.read(file);
        let versions = locked(&text);
        assert!(!versions.is_empty(), "{file}");
        assert!(
            versions.iter().all(|v| *v == "version = \"0.2.0\""),
            "{file}"
        );
    }
    let manifests = ["Cargo.toml", "python/Cargo.toml", "fuzz/Cargo.toml"];
    for manifest in manifests.map(|file| repository.read(file)) {
        assert!(manifest.contains("version = \"0.2.0\""));
        assert!(!manifest.contains("\"0.1.0\""));
    }
    assert!(repository
        .read("debian/changelog")
        .starts_with("manganese (0.2.0) "));
    let changes = repository.read("CHANGELOG.md");
    let heading = changes.find("## [0.2.0] - ").expect("a dated heading");
    assert!(changes
        .find("## [Unreleased]\n")
        .is_some_and(|at| at < heading));
    let notes = repository.git(&["tag", "--list", "--format=%(contents)", "v0.2.0"]);
    assert!(notes.starts_with("Manganese 0.2.0\n") && notes.contains("\n### Fixed\n"));

    // There are no changes to release again.
    repository.refuses("0.2.0", "the tag v0.2.0 exists");
    repository.refuses("0.3.0", "no entries under [Unreleased]");
}
