//! `gl.xml` as it is written: commands, enums, features and extensions, before any decision of
//! ours.

use crate::Error;
use std::collections::BTreeMap;

/// A parameter as declared. `ctype` is the base type without `const` and stars, e.g. `GLfloat`,
/// `void`.
#[derive(Debug, Clone)]
pub struct RawParam {
    pub name: String,
    pub ctype: String,
    pub constant: bool,
    pub stars: usize,
    pub len: Option<String>,
    pub class: Option<String>,
    pub group: Option<String>,
}

#[derive(Debug, Clone)]
pub struct RawCommand {
    pub name: String,
    /// The return type with its stars, e.g. `void`, `GLuint`, `const GLubyte *`.
    pub returns: RawParam,
    pub params: Vec<RawParam>,
    pub alias: Option<String>,
}

/// A version of an API, e.g. `gl` 3.0, with what it adds and removes.
#[derive(Debug, Clone)]
pub struct Feature {
    pub api: String,
    pub number: String,
    pub requires: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct Extension {
    pub name: String,
    pub apis: Vec<String>,
    pub commands: Vec<String>,
}

/// The registry: `enums` maps names to values (the low 32 bits; later definitions do not replace
/// earlier ones), `groups` the names of groups to those of their enums, in the order of the
/// registry.
#[derive(Debug, Default)]
pub struct Registry {
    pub commands: BTreeMap<String, RawCommand>,
    pub enums: BTreeMap<String, u64>,
    pub groups: BTreeMap<String, Vec<String>>,
    pub features: Vec<Feature>,
    pub extensions: BTreeMap<String, Extension>,
}

impl Registry {
    pub fn parse(xml: &str) -> Result<Registry, Error> {
        let options = roxmltree::ParsingOptions {
            allow_dtd: true,
            ..Default::default()
        };
        let document = roxmltree::Document::parse_with_options(xml, options)?;
        let mut registry = Registry::default();
        for node in document
            .root_element()
            .children()
            .filter(|n| n.is_element())
        {
            match node.tag_name().name() {
                "enums" => registry.add_enums(node),
                "commands" => registry.add_commands(node),
                "feature" => registry.add_feature(node),
                "extensions" => registry.add_extensions(node),
                _ => {}
            }
        }
        Ok(registry)
    }

    /// Adds the commands and extensions of another file, which the registry lacks.
    ///
    /// # Errors
    /// As `parse`.
    pub fn extend(&mut self, xml: &str) -> Result<(), Error> {
        let other = Registry::parse(xml)?;
        self.commands.extend(other.commands);
        self.extensions.extend(other.extensions);
        Ok(())
    }

    fn add_enums(&mut self, node: roxmltree::Node) {
        for e in node.children().filter(|n| n.has_tag_name("enum")) {
            let (Some(name), Some(value)) = (e.attribute("name"), e.attribute("value")) else {
                continue;
            };
            // An API-specific second value (GL_ACTIVE_PROGRAM_EXT in gles2) never wins over the
            // desktop's.
            if e.attribute("api").is_some_and(|api| api != "gl") && self.enums.contains_key(name) {
                continue;
            }
            if let Some(value) = parse_number(value) {
                self.enums.insert(name.to_string(), value);
            }
            for group in e.attribute("group").into_iter().flat_map(|g| g.split(',')) {
                let group = self.groups.entry(group.to_string()).or_default();
                group.push(name.to_string());
            }
        }
    }

    fn add_commands(&mut self, node: roxmltree::Node) {
        for c in node.children().filter(|n| n.has_tag_name("command")) {
            let Some(proto) = c.children().find(|n| n.has_tag_name("proto")) else {
                continue;
            };
            let returns = declaration(proto);
            let command = RawCommand {
                name: returns.name.clone(),
                params: c
                    .children()
                    .filter(|n| n.has_tag_name("param"))
                    .map(declaration)
                    .collect(),
                alias: c
                    .children()
                    .find(|n| n.has_tag_name("alias"))
                    .and_then(|n| n.attribute("name"))
                    .map(str::to_string),
                returns,
            };
            self.commands.insert(command.name.clone(), command);
        }
    }

    fn add_feature(&mut self, node: roxmltree::Node) {
        self.features.push(Feature {
            api: node.attribute("api").unwrap_or_default().to_string(),
            number: node.attribute("number").unwrap_or_default().to_string(),
            requires: required_commands(node),
        });
    }

    fn add_extensions(&mut self, node: roxmltree::Node) {
        for e in node.children().filter(|n| n.has_tag_name("extension")) {
            let name = e.attribute("name").unwrap_or_default().to_string();
            let apis = e.attribute("supported").unwrap_or_default();
            let apis = apis.split('|').map(str::to_string).collect();
            let commands = required_commands(e);
            self.extensions.insert(
                name.clone(),
                Extension {
                    name,
                    apis,
                    commands,
                },
            );
        }
    }
}

fn required_commands(node: roxmltree::Node) -> Vec<String> {
    node.children()
        .filter(|n| n.has_tag_name("require"))
        .flat_map(|r| r.children().filter(|n| n.has_tag_name("command")))
        .filter_map(|c| c.attribute("name").map(str::to_string))
        .collect()
}

/// Reads `const <ptype>GLfloat</ptype> *<name>v</name>`.
fn declaration(node: roxmltree::Node) -> RawParam {
    let text: String = node
        .descendants()
        .filter(|n| n.is_text())
        .filter_map(|n| n.text())
        .collect();
    let child = |tag| {
        node.children()
            .find(|n| n.has_tag_name(tag))
            .and_then(|n| n.text())
            .map(|t| t.trim().to_string())
    };
    let name = child("name").unwrap_or_default();
    let ctype = child("ptype").unwrap_or_else(|| {
        let words = text.replace('*', " ");
        let base = words
            .split_whitespace()
            .filter(|w| *w != "const" && *w != name)
            .collect::<Vec<_>>();
        base.join(" ")
    });
    RawParam {
        name,
        ctype,
        constant: text.contains("const"),
        stars: text.matches('*').count(),
        len: node.attribute("len").map(str::to_string),
        class: node.attribute("class").map(str::to_string),
        group: node.attribute("group").map(str::to_string),
    }
}

fn parse_number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse::<i64>().ok().map(|n| n as u64),
    }
}
