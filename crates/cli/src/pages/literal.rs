//! Blocks of text in manual pages that keep their lines.

use roff::{roman, Roff};

/// Adds lines as they are, indented and without filling.
pub fn literal_block(page: &mut Roff, lines: &str) {
    page.control("PP", []);
    page.control("RS", ["4"]);
    page.control("nf", []);
    for line in lines.lines() {
        page.text([roman(line)]);
    }
    page.control("fi", []);
    page.control("RE", []);
}
