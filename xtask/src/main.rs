//! Tasks of this workspace that cargo alone does not do:
//!
//! - `cargo xtask generate [--check]` writes the code that follows from the OpenGL registry and the
//!   overlay, the C library's header, and the guide's example.
//! - `cargo xtask test [NAME...]` runs all tests, several binaries at the same time.
#![forbid(unsafe_code)]

mod emit;
mod example;
mod header;
mod testing;

use anyhow::{bail, Context, Result};
use mgn_spec::{Model, Overlay, Registry};
use std::fs;
use std::path::{Path, PathBuf};

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["generate"] => generate(false),
        ["generate", "--check"] => generate(true),
        ["test", ref names @ ..] => testing::test(root()?, names),
        _ => bail!("usage: cargo xtask generate [--check] | test [NAME...]"),
    }
}

/// The root folder of the checkout.
fn root() -> Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("xtask has no parent folder")
}

fn generate(check: bool) -> Result<()> {
    let root = root()?;
    let xml = root.join("target/registry/gl.xml");
    let xml = fs::read_to_string(&xml).with_context(|| {
        format!(
            "cannot read {}: run scripts/registry.sh first",
            xml.display()
        )
    })?;
    let mut registry = Registry::parse(&xml)?;
    let unregistered = root.join("crates/spec/unregistered.xml");
    registry.extend(&fs::read_to_string(&unregistered)?)?;
    let read = |name: &str| fs::read_to_string(root.join("crates/spec").join(name));
    let overlay = Overlay::parse(&read("overlay.toml")?, &read("commands.toml")?)?;
    let model = Model::build(&registry, &overlay)?;
    let mut stale = Vec::new();
    let header = (header::PATH, header::header(root)?);
    let example = (example::PATH, example::example(root)?);
    let all = emit::all(&model).into_iter();
    for (path, text) in all.chain([header, example]) {
        let path: PathBuf = root.join(path);
        let text = rustfmt(&path, text)?;
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        if check {
            stale.push(path.display().to_string());
        } else {
            fs::create_dir_all(path.parent().context("no folder")?)?;
            fs::write(&path, text)?;
        }
    }
    if !stale.is_empty() {
        bail!("stale: {}: run cargo xtask generate", stale.join(", "));
    }
    Ok(())
}

/// Formats Rust with rustfmt, so that generated code looks like the other code.
fn rustfmt(path: &Path, text: String) -> Result<String> {
    use std::io::Write;
    use std::process::{Command, Stdio};
    if path.extension().is_none_or(|e| e != "rs") {
        return Ok(text);
    }
    let mut child = Command::new("rustfmt")
        .args([
            "--edition",
            "2021",
            "--config",
            "max_width=140,use_small_heuristics=Max",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run rustfmt")?;
    child
        .stdin
        .take()
        .context("no standard input")?
        .write_all(text.as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("rustfmt refused what was generated for {}", path.display());
    }
    Ok(String::from_utf8(output.stdout)?)
}
