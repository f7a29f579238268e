//! manganese-walls(5), from the schema of walls.

use mgn_mothership::config::schema;
use roff::{bold, italic, roman, Roff};
use serde_json::Value;

use super::literal::literal_block;

/// The tables of a file in reading order, and how each is written.
const TABLES: [(&str, &str); 8] = [
    ("Wall", "[[wall]]"),
    ("Tile", "[[wall.tile]]"),
    ("Target", "present"),
    ("Windows", "windows"),
    ("Server", "[[server]]"),
    ("Host", "[[host]]"),
    ("Mothership", "[mothership]"),
    ("Stage", "chain, client_chain"),
];

const EXAMPLES: [(&str, &str); 3] = [
    (
        "Four tiles, rendered by four servers on this machine",
        include_str!("../../../../docs/examples/2x2.toml"),
    ),
    (
        "Screens with bezels, and a projector",
        include_str!("../../../../docs/examples/bezels.toml"),
    ),
    (
        "Nine screens on three machines",
        include_str!("../../../../docs/examples/3x3-ssh.toml"),
    ),
];

pub fn page() -> String {
    let schema = schema();
    let mut page = Roff::new();
    let heading = ["manganese-walls", "5", "", "Manganese", "Manganese"];
    page.control("TH", heading);
    page.control("SH", ["NAME"]);
    page.text([roman(
        "manganese-walls - walls, and the servers that render them",
    )]);
    page.control("SH", ["DESCRIPTION"]);
    for text in [
        "This file, in TOML, defines how pictures are divided among the tiles of walls, where tiles are shown, and which servers on which machines render them. mgn mothership and mgn config read it, and so do mgn run, mgn verify and mgn viewer with --wall FILE.toml.",
        "Keys that are not described here are reported as mistakes; mgn config check shows each mistake with its place. Relative paths are relative to the file's folder. Names consist of 1 to 64 letters, digits and . _ - , and begin with neither - nor a dot.",
        "An editor that supports TOML schemas checks and completes a file whose first line names the schema, share/doc/manganese/walls.schema.json: #:schema /usr/local/share/doc/manganese/walls.schema.json",
    ] {
        page.control("PP", []);
        page.text([roman(text)]);
    }
    for (name, written) in TABLES {
        let table = &schema["$defs"][name];
        page.control("SH", [written]);
        page.text([roman(text_of(table))]);
        // The value is a table, or a shorter form.
        let choices = table["anyOf"].as_array().into_iter().flatten();
        for part in std::iter::once(table).chain(choices) {
            keys(&mut page, part);
        }
    }
    page.control("SH", ["EXAMPLES"]);
    for (what, file) in EXAMPLES {
        page.control("PP", []);
        page.text([roman(format!("{what}:"))]);
        literal_block(&mut page, file);
    }
    page.control("SH", ["SEE ALSO"]);
    for name in ["mgn-mothership", "mgn-config", "mgn-run", "mgn-viewer"] {
        page.text([bold(name), roman("(1),")]);
    }
    page.text([roman(
        "and share/doc/manganese/walls.md, in the installation prefix of mgn.",
    )]);
    page.render()
}

/// The keys of a table: their names, types and meanings.
fn keys(page: &mut Roff, table: &Value) {
    let Some(properties) = table["properties"].as_object() else {
        return;
    };
    // The key `name` comes first.
    let named = properties.iter().filter(|(key, _)| *key == "name");
    let others = properties.iter().filter(|(key, _)| *key != "name");
    for (key, value) in named.chain(others) {
        page.control("TP", []);
        page.text([bold(key.as_str()), roman(" "), italic(kind(value))]);
        page.text([roman(text_of(value))]);
        for choice in value["oneOf"].as_array().into_iter().flatten() {
            if let Some(word) = choice["const"].as_str() {
                page.control("br", []);
                page.text([
                    bold(format!("\"{word}\"")),
                    roman(format!(": {}", text_of(choice))),
                ]);
            }
        }
    }
}

/// The type of a value, in a few words.
fn kind(value: &Value) -> String {
    if value["items"].is_object() {
        let of = kind(&value["items"]);
        return match value["minItems"].as_u64() {
            Some(count) => format!("{count} numbers in brackets"),
            None => format!("list of {of}"),
        };
    }
    if value["oneOf"].is_array() || value["enum"].is_array() {
        return "choice".into();
    }
    if let Some(reference) = value["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        let known = TABLES.iter().find(|(table, _)| *table == name);
        return match (name, known) {
            ("Target", _) => "place".into(),
            ("Stage", _) => "stage".into(),
            (_, Some((_, written))) => written.to_string(),
            (name, None) => name.into(),
        };
    }
    if let Some([one, _]) = value["anyOf"].as_array().map(Vec::as_slice) {
        return format!("{}, or a list of such", kind(one));
    }
    match value["type"].as_str() {
        Some("integer") => match (value["minimum"].as_u64(), value["maximum"].as_u64()) {
            (Some(least), Some(most)) => format!("whole number from {least} to {most}"),
            _ => "whole number".into(),
        },
        Some("boolean") => "true or false".into(),
        Some(other) => other.into(),
        None => String::new(),
    }
}

fn text_of(value: &Value) -> String {
    value["description"]
        .as_str()
        .unwrap_or_default()
        .replace('`', "")
}
