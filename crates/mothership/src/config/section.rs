//! Reading tables whose every mistake is noted, so that one look at a file finds them all.

use std::cell::RefCell;
use std::ops::Range;

use toml::de::{DeTable, DeValue};
use toml::Spanned;

/// Where mistakes are noted, as bytes of the file and a sentence.
#[derive(Default)]
pub(super) struct Notes(RefCell<Vec<(Range<usize>, String)>>);

impl Notes {
    pub fn add(&self, span: Range<usize>, what: impl Into<String>) {
        self.0.borrow_mut().push((span, what.into()));
    }

    pub fn into_list(self) -> Vec<(Range<usize>, String)> {
        self.0.into_inner()
    }
}

/// Something that was read, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct At<T> {
    pub value: T,
    pub span: Range<usize>,
}

impl<T> At<T> {
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> At<U> {
        At {
            value: f(self.value),
            span: self.span,
        }
    }
}

/// One table of the file, which is asked for its keys. Those that nobody has asked for are mistakes when it is dropped.
pub(super) struct Section<'f> {
    pub notes: &'f Notes,
    /// For people: `the server left`.
    pub title: String,
    pub span: Range<usize>,
    table: &'f DeTable<'f>,
    asked: RefCell<Vec<&'static str>>,
}

/// A value, and what it must not be mistaken for when it is wrong.
pub(super) struct Value<'f> {
    pub notes: &'f Notes,
    pub key: String,
    pub span: Range<usize>,
    pub value: &'f DeValue<'f>,
}

impl<'f> Section<'f> {
    pub fn new(notes: &'f Notes, title: &str, table: &'f Spanned<DeTable<'f>>) -> Section<'f> {
        Section {
            notes,
            title: title.into(),
            span: table.span(),
            table: table.get_ref(),
            asked: RefCell::default(),
        }
    }

    pub fn get(&self, key: &'static str) -> Option<Value<'f>> {
        self.asked.borrow_mut().push(key);
        let value = self.table.get(key)?;
        Some(Value {
            notes: self.notes,
            key: key.into(),
            span: value.span(),
            value: value.get_ref(),
        })
    }

    /// Likewise, but it must be there.
    pub fn require(&self, key: &'static str, example: &str) -> Option<Value<'f>> {
        let value = self.get(key);
        if value.is_none() {
            self.wrong(format!("{} has no {key}; add {example}", self.title));
        }
        value
    }

    pub fn text(&self, key: &'static str) -> Option<At<String>> {
        self.get(key)?.text()
    }

    pub fn flag(&self, key: &'static str) -> Option<At<bool>> {
        self.get(key)?.flag()
    }

    /// The tables of `[[key]]`, each with a title of its own.
    pub fn each(&self, key: &'static str, title: &str) -> Vec<Section<'f>> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        let DeValue::Array(list) = value.value else {
            value.wrong::<()>(&format!("tables, each beginning with [[{key}]]"));
            return Vec::new();
        };
        let mut sections = Vec::new();
        for entry in list.iter() {
            let value = value.part(entry);
            sections.extend(value.section(title));
        }
        sections
    }

    /// A name that may stand on a command line and in a file name.
    pub fn name(&mut self) -> Option<At<String>> {
        let name = self
            .require("name", "name = \"...\"")
            .and_then(|value| value.name())?;
        self.title = format!("{} {}", self.title, name.value);
        Some(name)
    }

    pub fn wrong(&self, what: impl Into<String>) {
        self.notes.add(self.span.clone(), what);
    }
}

impl Drop for Section<'_> {
    fn drop(&mut self) {
        let known = self.asked.borrow();
        for key in self.table.keys() {
            let name: &str = key.get_ref();
            if known.contains(&name) {
                continue;
            }
            let advice = match closest(name, known.iter().copied()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("it may have {}", known.join(", ")),
            };
            let what = format!("{} has no key {name:?}; {advice}", self.title);
            self.notes.add(key.span(), what);
        }
    }
}

impl<'f> Value<'f> {
    /// A part of this value, which is called the same.
    pub fn part(&self, entry: &'f Spanned<DeValue<'f>>) -> Value<'f> {
        Value {
            notes: self.notes,
            key: self.key.clone(),
            span: entry.span(),
            value: entry.get_ref(),
        }
    }

    pub fn itself(&self) -> Value<'f> {
        Value {
            notes: self.notes,
            key: self.key.clone(),
            span: self.span.clone(),
            value: self.value,
        }
    }

    pub fn text(&self) -> Option<At<String>> {
        match self.value {
            DeValue::String(text) => Some(self.at(text.to_string())),
            _ => self.wrong("a text in quotes"),
        }
    }

    pub fn name(&self) -> Option<At<String>> {
        let name = self.text()?;
        if !mgn_fabric::is_name(&name.value) {
            let what =
                "a name has 1 to 64 letters, digits and . _ - , and begins with neither - nor .";
            self.notes.add(self.span.clone(), what);
            return None;
        }
        Some(name)
    }

    pub fn flag(&self) -> Option<At<bool>> {
        match self.value {
            DeValue::Boolean(flag) => Some(self.at(*flag)),
            _ => self.wrong("true or false"),
        }
    }

    pub fn whole(&self, least: u32, most: u32) -> Option<At<u32>> {
        let number = match self.value {
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        let number = number.and_then(|number| u32::try_from(number).ok());
        match number.filter(|number| (least..=most).contains(number)) {
            Some(number) => Some(self.at(number)),
            None => self.wrong(&format!("a whole number from {least} to {most}")),
        }
    }

    /// So many whole numbers in brackets; `shape` shows them.
    pub fn wholes<const N: usize>(
        &self,
        shape: &str,
        least: u32,
        most: u32,
    ) -> Option<At<[u32; N]>> {
        let entries = match self.value {
            DeValue::Array(list) if list.len() == N => list,
            _ => return self.wrong(&format!("{shape}, {N} whole numbers")),
        };
        let mut numbers = [0; N];
        for (number, entry) in numbers.iter_mut().zip(entries.iter()) {
            *number = self.part(entry).whole(least, most)?.value;
        }
        Some(self.at(numbers))
    }

    /// The entries of a list.
    pub fn list(&self, of: &str) -> Vec<Value<'f>> {
        match self.value {
            DeValue::Array(list) => list.iter().map(|entry| self.part(entry)).collect(),
            _ => {
                self.wrong::<()>(&format!("a list of {of} in brackets"));
                Vec::new()
            }
        }
    }

    /// What a text means, by whatever reads it.
    pub fn parsed<T, E: std::fmt::Display>(
        &self,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<At<T>> {
        let text = self.text()?;
        match read(&text.value) {
            Ok(value) => Some(self.at(value)),
            Err(error) => {
                self.notes.add(self.span.clone(), error.to_string());
                None
            }
        }
    }

    pub fn section(&self, title: &str) -> Option<Section<'f>> {
        match self.value {
            DeValue::Table(table) => Some(Section {
                notes: self.notes,
                title: title.into(),
                span: self.span.clone(),
                table,
                asked: RefCell::default(),
            }),
            _ => self.wrong("a table"),
        }
    }

    fn at<T>(&self, value: T) -> At<T> {
        At {
            value,
            span: self.span.clone(),
        }
    }

    /// Notes that this should have been something else.
    pub fn wrong<T>(&self, wanted: &str) -> Option<T> {
        let found = match self.value {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) => "a number",
            DeValue::Float(_) => "a number with a point",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        let found = match (self.value, wanted.contains("number")) {
            (DeValue::Integer(number), _) => number.to_string(),
            (DeValue::Array(list), true) => format!("a list of {}", list.len()),
            _ => found.into(),
        };
        let what = format!("{} must be {wanted}, and here is {found}", self.key);
        self.notes.add(self.span.clone(), what);
        None
    }
}

/// The candidate that differs from `word` by the fewest letters, if by few enough to be a slip.
pub(super) fn closest<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let distance = |other: &str| {
        let other: Vec<char> = other.chars().collect();
        let mut row: Vec<usize> = (0..=other.len()).collect();
        for (n, letter) in word.chars().enumerate() {
            let mut corner = std::mem::replace(&mut row[0], n + 1);
            for (at, target) in other.iter().enumerate() {
                let replaced = corner + usize::from(letter != *target);
                corner = row[at + 1];
                row[at + 1] = replaced.min(row[at] + 1).min(corner + 1);
            }
        }
        row[other.len()]
    };
    let near = candidates.map(|other| (distance(other), other)).min()?;
    (near.0 <= 1 + word.len() / 3).then_some(near.1)
}
