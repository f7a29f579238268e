//! manganese-config(5), from the keys of the user's file.

use roff::{bold, italic, roman, Roff};

use super::literal::literal_block;
use crate::settings::KEYS;

pub fn page() -> String {
    let mut page = Roff::new();
    let heading = ["manganese-config", "5", "", "Manganese", "Manganese"];
    page.control("TH", heading);
    page.control("SH", ["NAME"]);
    page.text([roman("manganese-config - a user's settings for mgn")]);
    page.control("SH", ["SYNOPSIS"]);
    page.text([italic("~/.config/manganese/config.toml")]);
    page.control("SH", ["DESCRIPTION"]);
    for text in [
        "This file, in TOML, sets values that mgn uses if neither a flag nor an environment variable sets them. Flags override variables, variables override this file, and this file overrides the defaults. If $XDG_CONFIG_HOME is set, the file is $XDG_CONFIG_HOME/manganese/config.toml.",
        "Keys that are not described here are reported as mistakes. mgn info shows each value in force and where it comes from.",
    ] {
        page.control("PP", []);
        page.text([roman(text)]);
    }
    page.control("SH", ["KEYS"]);
    for key in KEYS {
        page.control("TP", []);
        page.text([bold(key.name), roman(" "), italic(key.kind)]);
        page.text([roman(key.meaning)]);
        if let Some(variable) = key.variable {
            page.text([
                roman("The environment variable "),
                bold(variable),
                roman(" overrides it."),
            ]);
        }
        page.text([roman(format!("Default: {}.", key.default))]);
    }
    page.control("SH", ["EXAMPLES"]);
    page.control("PP", []);
    page.text([roman("Render all programs on one host:")]);
    literal_block(
        &mut page,
        "server = \"tls:gpu1\"\ntoken_file = \"gpu1-token\"",
    );
    page.control("SH", ["SEE ALSO"]);
    for name in ["mgn", "mgn-run", "mgn-info", "mgn-token"] {
        page.text([bold(name), roman("(1),")]);
    }
    page.text([bold("manganese-walls"), roman("(5)")]);
    page.render()
}
