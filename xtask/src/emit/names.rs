//! Names of enums by value, for output to users.

use super::{travelling, HEADER};
use mgn_spec::{Model, RawParam};
use std::collections::{BTreeMap, BTreeSet};

/// A value below this has a different meaning in each group: GL_POINTS, GL_NONE, GL_ZERO, GL_FALSE.
const LEAST_OF_ITS_OWN: u64 = 0x100;

/// The suffixes that vendors add to a name whose value may also have a name without it.
const VENDORS: &[&str] = &[
    "3DFX", "AMD", "ANGLE", "APPLE", "ARB", "ATI", "EXT", "HP", "IBM", "IMG", "INTEL", "KHR",
    "MESA", "NV", "NVX", "OES", "OVR", "PGI", "QCOM", "SGI", "SGIS", "SGIX", "SUN",
];

/// The names of the values in each group to which commands' arguments belong, and the names of
/// values with the same meaning in all groups.
pub struct Tables<'a> {
    groups: BTreeMap<&'a str, BTreeMap<u64, &'a str>>,
    own: BTreeMap<u64, &'a str>,
}

impl<'a> Tables<'a> {
    pub fn new(model: &'a Model) -> Tables<'a> {
        let own = names(model, model.enums.keys().filter(|n| stands_alone(model, n)));
        let mut groups = BTreeMap::new();
        for group in groups_of_arguments(model) {
            let mut named = names(model, model.groups[group].iter());
            if !is_mask(group) {
                named.retain(|value, name| own.get(value) != Some(name));
            }
            if !named.is_empty() {
                groups.insert(group, named);
            }
        }
        Tables { groups, own }
    }

    pub fn emit(&self) -> String {
        let mut text = format!(
            "{HEADER}//! Names of enums by value.\n\n\
             /// Names in the order of their values.\npub type Names = &'static [(u32, &'static str)];\n\n\
             pub const UNGROUPED: Names = &[];\n"
        );
        for (group, named) in &self.groups {
            text += &table(&constant(group), named);
        }
        text + "\n/// Values that mean the same in all groups.\n" + &table("OWN", &self.own)
    }

    /// The constant that holds the names of a parameter's group.
    pub fn of(&self, declared: Option<&RawParam>, name: &str) -> String {
        let group = match declared {
            None if name == "mode" => Some("PrimitiveType"),
            None => None,
            Some(declared) => declared.group.as_deref(),
        };
        let group = group.filter(|group| self.groups.contains_key(group));
        format!("names::{}", group.map_or("UNGROUPED".into(), constant))
    }
}

fn groups_of_arguments(model: &Model) -> BTreeSet<&str> {
    travelling(model)
        .filter_map(|c| c.raw.as_ref())
        .flat_map(|raw| &raw.params)
        .filter(|p| ["GLenum", "GLbitfield", "GLint"].contains(&p.ctype.as_str()))
        .filter(|p| p.stars == 0 || p.constant)
        .filter_map(|p| p.group.as_deref())
        .filter(|group| model.groups.contains_key(*group))
        .collect()
}

fn stands_alone(model: &Model, name: &str) -> bool {
    let in_mask =
        |(group, names): (&String, &Vec<String>)| is_mask(group) && names.iter().any(|n| n == name);
    model.enums[name] >= LEAST_OF_ITS_OWN && !model.groups.iter().any(in_mask)
}

fn is_mask(group: &str) -> bool {
    group.contains("Mask")
}

fn constant(group: &str) -> String {
    let mut text = String::new();
    for (i, c) in group.char_indices() {
        let before = group[..i].chars().last();
        if c.is_uppercase() && before.is_some_and(|b| !b.is_uppercase()) {
            text.push('_');
        }
        text.push(c.to_ascii_uppercase());
    }
    text
}

/// One name for each value. Names without a vendor's suffix are preferred, and among these the
/// shortest.
fn names<'a>(model: &Model, all: impl Iterator<Item = &'a String>) -> BTreeMap<u64, &'a str> {
    let mut best: BTreeMap<u64, &str> = BTreeMap::new();
    let rank = |name: &str| {
        let vendor = name
            .rsplit('_')
            .next()
            .is_some_and(|v| VENDORS.contains(&v));
        (vendor, name.len(), name.to_string())
    };
    for name in all {
        let value = model.enums[name];
        if value > u64::from(u32::MAX) {
            continue;
        }
        let entry = best.entry(value).or_insert(name);
        if rank(name) < rank(entry) {
            *entry = name;
        }
    }
    best
}

fn table(name: &str, names: &BTreeMap<u64, &str>) -> String {
    let rows: Vec<String> = names
        .iter()
        .map(|(value, name)| format!("({value:#x}, \"{name}\")"))
        .collect();
    format!("pub const {name}: Names = &[{}];\n", rows.join(", "))
}
