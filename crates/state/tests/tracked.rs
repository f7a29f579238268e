//! The commands that `crates/spec/commands.toml` calls tracked, for the generator of entry points,
//! are those that have a hook.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Hooks that the client calls from entry points written by hand, of commands that do not
/// travel or not as they are.
const CALLED_BY_HAND: &[&str] = &[
    "glgenlists",
    "glpushclientattrib",
    "glpopclientattrib",
    "glvertexarrayelementbuffer",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn listed() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("../spec/commands.toml")).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    let rows = rows.filter_map(|line| line.split_once(" = "));
    let tracked = rows.filter(|(_, facts)| facts.contains("\"tracked\""));
    tracked.map(|(name, _)| name.to_lowercase()).collect()
}

fn hooks() -> BTreeSet<String> {
    let mut hooks = BTreeSet::new();
    for file in fs::read_dir(root().join("src")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        for line in text.lines() {
            // A hook is declared as a method, or in a macro's list of them.
            let line = line.trim_start();
            let method = line.strip_prefix("pub fn gl_");
            let name = method.or(line.strip_prefix("gl_").filter(|_| in_list(line)));
            let Some(name) = name else {
                continue;
            };
            if let Some(end) = name.find(['(', ':']) {
                hooks.insert(format!("gl{}", name[..end].replace('_', "")));
            }
        }
    }
    hooks
}

fn in_list(line: &str) -> bool {
    let typed = line.ends_with(';') && line.contains(": ") && !line.contains('(');
    typed || line.ends_with(");") || line.ends_with('(')
}

#[test]
fn every_hook_is_listed_and_every_name_has_a_hook() {
    let mut listed = listed();
    listed.extend(CALLED_BY_HAND.iter().map(|name| name.to_string()));
    let hooks = hooks();
    let missing: Vec<_> = hooks.difference(&listed).collect();
    let unknown: Vec<_> = listed.difference(&hooks).collect();
    assert!(missing.is_empty(), "not called tracked: {missing:?}");
    assert!(unknown.is_empty(), "without a hook: {unknown:?}");
}
