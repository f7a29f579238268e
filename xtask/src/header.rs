//! The header of the C library, from the functions' own comments.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use cbindgen::{
    Builder, Config, DocumentationStyle, EnumConfig, FunctionConfig, Language, Layout, RenameRule,
    Style,
};

pub const PATH: &str = "crates/capi/include/manganese.h";

/// The beginning of the header.
const PROLOGUE: &str = "crates/capi/include/prologue.h";

/// Modules of the library, in the header's order.
const MODULES: [&str; 13] = [
    "errors",
    "job",
    "connections",
    "blocking",
    "requests",
    "in_place",
    "active",
    "memory",
    "broadcast",
    "composite",
    "outlets",
    "visibility",
    "barriers",
];

pub fn header(root: &Path) -> Result<String> {
    let read = |path: &str| {
        fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))
    };
    let mut text = read(PROLOGUE)?;
    for module in MODULES {
        let path = format!("crates/capi/src/{module}.rs");
        let source = read(&path)?;
        let heading = source
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("//! "));
        let heading = heading.with_context(|| format!("{path} does not begin with a heading"))?;
        let line = "-".repeat(94usize.saturating_sub(heading.len()));
        text += &format!(
            "\n/* {heading} {line} */\n\n{}",
            declarations(&root.join(path))?
        );
    }
    text += "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
    Ok(text)
}

fn declarations(module: &Path) -> Result<String> {
    let config = Config {
        language: Language::C,
        style: Style::Type,
        no_includes: true,
        usize_is_size_t: true,
        documentation_style: DocumentationStyle::C99,
        tab_width: 4,
        function: FunctionConfig {
            args: Layout::Horizontal,
            ..FunctionConfig::default()
        },
        enumeration: EnumConfig {
            rename_variants: RenameRule::QualifiedScreamingSnakeCase,
            ..EnumConfig::default()
        },
        ..Config::default()
    };
    let bindings = Builder::new()
        .with_config(config)
        .with_src(module)
        .rename_item("iovec", "struct iovec")
        // No function's declaration contains this type, so it is included explicitly.
        .include_item("mgn_err")
        .generate()
        .with_context(|| format!("cannot read the declarations of {}", module.display()))?;
    let mut text = Vec::new();
    bindings.write(&mut text);
    Ok(String::from_utf8(text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_that_of_the_sources() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let committed = fs::read_to_string(root.join(PATH)).unwrap();
        assert!(
            header(root).unwrap() == committed,
            "{PATH} is stale: run cargo xtask generate"
        );
    }
}
