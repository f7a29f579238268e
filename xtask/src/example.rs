//! The stage that readers of the guide to stream processing units write. A test compiles it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

pub const PATH: &str = "crates/spu/src/generated/pace.rs";

const GUIDE: &str = "docs/spu.md";
/// The text around the stage in the guide, and the indentation of its lines.
const START: &str = "1. `crates/spu/src/pace.rs`:\n\n   ```rust\n";
const END: &str = "   ```\n";
const INDENT: &str = "   ";

pub fn example(root: &Path) -> Result<String> {
    let guide =
        fs::read_to_string(root.join(GUIDE)).with_context(|| format!("cannot read {GUIDE}"))?;
    let behind = guide.split_once(START).map(|(_, behind)| behind);
    let code = behind.and_then(|behind| behind.split_once(END));
    let (code, _) = code.with_context(|| format!("{GUIDE} has no example"))?;
    let mut text = format!("//! Written by `cargo xtask generate` from {GUIDE}.\n//!\n");
    for line in code.lines() {
        text += line.strip_prefix(INDENT).unwrap_or(line);
        text.push('\n');
    }
    Ok(text)
}
