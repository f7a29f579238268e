//! `mgn info --gl`: compares the OpenGL that programs get with that of the local driver.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::{Command, Stdio};

use anyhow::Context;
use mgn_wire::hello::{api, ContextInfo};
use serde::{Deserialize, Serialize};

use crate::generated::withheld::WITHHELD;
use crate::output::print;

/// The versions and extensions of a context of one API.
#[derive(Debug, Serialize, Deserialize)]
struct ContextDescription {
    api: u32,
    version: String,
    glsl: String,
    extensions: BTreeSet<String>,
}

impl From<(u32, ContextInfo)> for ContextDescription {
    fn from((api, info): (u32, ContextInfo)) -> ContextDescription {
        ContextDescription {
            api,
            version: info.version,
            glsl: info.glsl,
            extensions: info.extensions.into_iter().collect(),
        }
    }
}

/// One API of the comparison.
#[derive(Debug, Serialize)]
struct ApiComparison {
    api: &'static str,
    /// Null if the local driver, or Manganese, has no context of this API.
    local_version: Option<String>,
    version: Option<String>,
    local_glsl: Option<String>,
    glsl: Option<String>,
    /// The number of extensions that both have.
    extensions: usize,
    /// Extensions that only the local driver has, each with the reason.
    missing: Vec<(String, String)>,
    /// Extensions that only Manganese has.
    added: Vec<String>,
}

/// Prints the contexts that programs in this environment get, for `compare`.
pub fn list() -> anyhow::Result<()> {
    let said: Vec<ContextDescription> = mgn_server::probe_environment()?
        .into_iter()
        .map(ContextDescription::from)
        .collect();
    print(&serde_json::to_string(&said)?)
}

pub fn compare(json: bool) -> anyhow::Result<()> {
    let local: Vec<ContextDescription> = mgn_server::probe()?
        .contexts
        .into_iter()
        .map(ContextDescription::from)
        .collect();
    let ours = contexts_of_run()?;
    let compared: Vec<ApiComparison> = [
        (api::COMPAT, "OpenGL, compatibility"),
        (api::CORE, "OpenGL, core"),
        (api::ES1, "OpenGL ES 1"),
        (api::ES, "OpenGL ES 2 and 3"),
    ]
    .into_iter()
    .map(|(number, name)| {
        let of = |all: &[ContextDescription]| all.iter().position(|said| said.api == number);
        comparison(
            name,
            of(&local).map(|i| &local[i]),
            of(&ours).map(|i| &ours[i]),
        )
    })
    .collect();
    print(&match json {
        true => serde_json::to_string_pretty(&compared)? + "\n",
        false => text(&compared),
    })
}

/// The contexts that a program gets in `mgn run`.
fn contexts_of_run() -> anyhow::Result<Vec<ContextDescription>> {
    let executable = std::env::current_exe().context("finding the mgn executable")?;
    let output = Command::new(&executable)
        .args(["run", "--present", "none", "--"])
        .arg(&executable)
        .arg("gl-list")
        .stdin(Stdio::null())
        .output()
        .context("running mgn")?;
    if !output.status.success() {
        anyhow::bail!(
            "a program that was run to see its OpenGL failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    serde_json::from_slice(&output.stdout).context("reading what the program was given")
}

fn comparison(
    api: &'static str,
    local: Option<&ContextDescription>,
    ours: Option<&ContextDescription>,
) -> ApiComparison {
    let none = BTreeSet::new();
    let of = |said: Option<&ContextDescription>, text: fn(&ContextDescription) -> &String| {
        said.map(text).cloned()
    };
    let has = local.map_or(&none, |said| &said.extensions);
    let have = ours.map_or(&none, |said| &said.extensions);
    ApiComparison {
        api,
        local_version: of(local, |said| &said.version),
        version: of(ours, |said| &said.version),
        local_glsl: of(local, |said| &said.glsl),
        glsl: of(ours, |said| &said.glsl),
        extensions: has.intersection(have).count(),
        missing: has
            .difference(have)
            .map(|name| (name.clone(), why(name).to_owned()))
            .collect(),
        added: have.difference(has).cloned().collect(),
    }
}

/// The reason why an extension of the local driver is not offered.
fn why(name: &str) -> &'static str {
    WITHHELD
        .iter()
        .find(|(withheld, _)| *withheld == name)
        .map_or("Manganese does not know it", |(_, why)| why)
}

fn text(compared: &[ApiComparison]) -> String {
    let mut text = String::new();
    for one in compared {
        let said = |text: &Option<String>| text.clone().unwrap_or("none".into());
        let _ = writeln!(text, "{}", one.api);
        for (name, local, ours) in [
            ("version", &one.local_version, &one.version),
            ("GLSL", &one.local_glsl, &one.glsl),
        ] {
            let _ = match local == ours {
                true => writeln!(text, "  {name:<11} {}, as the local driver", said(ours)),
                false => writeln!(
                    text,
                    "  {name:<11} {}; the local driver: {}",
                    said(ours),
                    said(local)
                ),
            };
        }
        let _ = writeln!(text, "  extensions  {} as the local driver", one.extensions);
        for (name, why) in &one.missing {
            let _ = writeln!(text, "  without     {name}: {why}");
        }
        for name in &one.added {
            let _ = writeln!(text, "  beyond it   {name}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(version: &str, extensions: &[&str]) -> ContextDescription {
        ContextDescription {
            api: api::CORE,
            version: version.into(),
            glsl: "4.50".into(),
            extensions: extensions.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn differences_have_reasons() {
        let (withheld, why) = WITHHELD[0];
        let local = said("4.5 Mesa", &["GL_A", "GL_B", withheld]);
        let ours = said("4.3 Mesa", &["GL_A", "GL_C"]);
        let one = comparison("core", Some(&local), Some(&ours));
        let unknown = "Manganese does not know it".to_owned();
        assert_eq!(one.extensions, 1);
        assert!(one.missing.contains(&(withheld.into(), why.into())));
        assert!(one.missing.contains(&("GL_B".into(), unknown)));
        assert_eq!(one.added, ["GL_C"]);
        let text = text(&[one, comparison("ES", None, None)]);
        assert!(text.contains("  version     4.3 Mesa; the local driver: 4.5 Mesa\n"));
        assert!(text.contains("  GLSL        4.50, as the local driver\n"));
        assert!(text.contains("  version     none, as the local driver\n"));
        assert!(text.contains("  beyond it   GL_C\n"));
    }

    #[test]
    fn reasons_are_in_order() {
        assert!(WITHHELD.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
