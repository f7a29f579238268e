//! Programs get the features that the local driver offers, except those that `overlay.toml`
//! withholds with a reason. This test checks the output of `mgn info --gl`.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use mgn_tests::{root, Outcome, Stage};
use serde::Deserialize;

const RUN_TIMEOUT: Duration = Duration::from_secs(60);

/// An API, and a number of extensions that every llvmpipe exceeds.
const APIS: [(&str, usize); 4] = [
    ("OpenGL, compatibility", 150),
    ("OpenGL, core", 120),
    ("OpenGL ES 1", 30),
    ("OpenGL ES 2 and 3", 80),
];

#[derive(Clone, Debug, Deserialize)]
struct Compared {
    api: String,
    local_version: Option<String>,
    version: Option<String>,
    local_glsl: Option<String>,
    glsl: Option<String>,
    extensions: usize,
    missing: Vec<(String, String)>,
    added: Vec<String>,
}

/// Extensions that are not offered, each with the reason.
#[derive(Debug, Deserialize)]
struct Overlay {
    withheld: BTreeMap<String, String>,
}

impl Overlay {
    fn read() -> Overlay {
        let path = root().join("crates/spec/overlay.toml");
        let text = fs::read_to_string(path).expect("the overlay is there");
        toml::from_str(&text).expect("it has a table of what is withheld")
    }
}

/// All faults in a comparison.
fn faults(compared: &[Compared], withheld: &BTreeMap<String, String>) -> Vec<String> {
    let mut faults = Vec::new();
    if !APIS
        .iter()
        .map(|a| a.0)
        .eq(compared.iter().map(|c| &*c.api))
    {
        faults.push("other APIs were compared than there are".into());
    }
    for (one, (api, fewest)) in compared.iter().zip(APIS) {
        // Some drivers are built without OpenGL ES 1, as in Debian 13. Programs then do not have it
        // through us either.
        if api == "OpenGL ES 1" && one.version.is_none() && one.local_version.is_none() {
            continue;
        }
        let said = |text: &Option<String>| text.as_deref().is_some_and(|t| t.contains("Mesa"));
        if !said(&one.local_version) || one.version != one.local_version {
            faults.push(format!(
                "{api}: version {:?}, locally {:?}",
                one.version, one.local_version
            ));
        }
        if one.local_glsl.is_none() || one.glsl != one.local_glsl {
            faults.push(format!(
                "{api}: GLSL {:?}, locally {:?}",
                one.glsl, one.local_glsl
            ));
        }
        if one.extensions < fewest {
            faults.push(format!("{api}: only {} extensions", one.extensions));
        }
        for (name, why) in &one.missing {
            match withheld.get(name) {
                Some(reason) if !reason.is_empty() && reason == why => {}
                _ => faults.push(format!("{api}: {name} is missing without a reason: {why}")),
            }
        }
        for name in &one.added {
            faults.push(format!("{api}: {name} is nothing that the driver has"));
        }
    }
    faults
}

#[test]
fn programs_are_given_what_the_driver_has() {
    let stage = Stage::new();
    let outcome = Outcome::of(stage.mgn().args(["info", "--gl", "--json"]), RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let compared: Vec<Compared> =
        serde_json::from_str(&outcome.stdout).unwrap_or_else(|e| panic!("{e}: {}", outcome.stdout));
    let faults = faults(&compared, &Overlay::read().withheld);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn each_fault_is_found() {
    let withheld = Overlay::read().withheld;
    let (name, why) = withheld.iter().next().expect("something is withheld");
    let some = |text: &str| Some(text.to_owned());
    let sound: Vec<Compared> = APIS
        .iter()
        .map(|(api, fewest)| Compared {
            api: api.to_string(),
            local_version: some("4.5 Mesa 1"),
            version: some("4.5 Mesa 1"),
            local_glsl: some("4.50"),
            glsl: some("4.50"),
            extensions: *fewest,
            missing: vec![(name.clone(), why.clone())],
            added: Vec::new(),
        })
        .collect();
    assert!(faults(&sound, &withheld).is_empty());
    assert!(!faults(&sound[..3], &withheld).is_empty());
    let breaks: [fn(&mut Compared); 8] = [
        |c| c.version = Some("4.3 Mesa 1".into()),
        |c| c.version = None,
        |c| (c.version, c.local_version) = (None, None),
        |c| c.glsl = Some("4.30".into()),
        |c| c.extensions -= 1,
        |c| {
            c.missing
                .push(("GL_EXT_unheard_of".into(), "nobody asked".into()))
        },
        |c| c.missing[0].1 = "another reason".into(),
        |c| c.added.push("GL_EXT_texture".into()),
    ];
    for (i, harm) in breaks.into_iter().enumerate() {
        for (api, (name, _)) in APIS.iter().enumerate() {
            let mut broken = sound.clone();
            harm(&mut broken[api]);
            let is_not_built = *name == "OpenGL ES 1"
                && broken[api].version.is_none()
                && broken[api].local_version.is_none();
            let expected = usize::from(!is_not_built);
            let found = faults(&broken, &withheld).len();
            assert_eq!(found, expected, "{i} of {name}");
        }
    }
}
