//! Reads tables of the file so that one pass finds all mistakes. A key that serde refuses is noted
//! and left out, and the other keys are read.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;

use serde::de::{DeserializeOwned, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use toml::de::{DeTable, DeValue};
use toml::Spanned;

/// A list of mistakes: for each, a range of bytes of the file and a sentence.
#[derive(Default)]
pub(super) struct Notes(RefCell<Vec<(Range<usize>, String)>>);

impl Notes {
    pub fn add(&self, span: Range<usize>, what: impl Into<String>) {
        self.0.borrow_mut().push((span, what.into()));
    }

    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    pub fn into_list(self) -> Vec<(Range<usize>, String)> {
        self.0.into_inner()
    }
}

/// A table of the file that has been read.
pub(super) struct Section<T> {
    pub it: T,
    /// The name of the table in messages, for example `the server left`.
    pub title: String,
    pub span: Range<usize>,
    /// Keys that exist but could not be read. They are not also reported as missing.
    damaged: BTreeSet<&'static str>,
}

impl<T> Section<T> {
    /// Whether one of these keys exists but could not be read. If so, its missing value is not
    /// another mistake.
    pub fn is_damaged(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.damaged.contains(key))
    }

    /// Notes a mistake of the table as a whole.
    pub fn wrong(&self, notes: &Notes, what: impl Into<String>) {
        notes.add(self.span.clone(), what);
    }
}

/// Reads a table. Keys of `apart` are ignored here, because they are read as separate tables.
pub(super) fn read<T: DeserializeOwned + Default>(
    notes: &Notes,
    title: &str,
    table: &DeTable<'_>,
    span: Range<usize>,
    apart: &[&str],
) -> Section<T> {
    let fields = fields_of::<T>();
    let mut damaged = BTreeSet::new();
    let mut left = table.clone();
    for key in table.keys() {
        let name: &str = key.get_ref();
        if apart.contains(&name) {
            left.remove(name);
        }
        if fields.contains(&name) {
            continue;
        }
        let near = closest(name, fields.iter().copied());
        let advice = match near {
            Some(near) => format!("did you mean {near}?"),
            None => format!("its keys are {}", fields.join(", ")),
        };
        notes.add(key.span(), format!("{title} has no key {name:?}; {advice}"));
        // The similar key was probably meant, so it must not be reported as missing.
        damaged.extend(near.and_then(|near| fields.iter().copied().find(|field| *field == near)));
        left.remove(name);
    }
    let it = loop {
        let whole = Spanned::new(span.clone(), left.clone());
        let error = match T::deserialize(whole.into_deserializer()) {
            Ok(it) => break it,
            Err(error) => error,
        };
        let at = error.span().unwrap_or(span.clone());
        let blamed = left.iter().find(|(key, value)| {
            let (key, at) = (key.span(), &at);
            key == *at || holds(value, at)
        });
        let Some((key, _)) = blamed else {
            notes.add(at, format!("{title}: {}", error.message()));
            break T::default();
        };
        let name = key.get_ref().to_string();
        notes.add(at, format!("{name}: {}", error.message()));
        left.remove(name.as_str());
        damaged.extend(fields.iter().copied().find(|field| *field == name));
    };
    Section {
        it,
        title: title.into(),
        span,
        damaged,
    }
}

/// Whether a value, or a part of it, contains these bytes of the file.
fn holds(value: &Spanned<DeValue<'_>>, at: &Range<usize>) -> bool {
    let span = value.span();
    if span.start <= at.start && at.end <= span.end {
        return true;
    }
    match value.get_ref() {
        DeValue::Array(list) => list.iter().any(|entry| holds(entry, at)),
        DeValue::Table(table) => table
            .iter()
            .any(|(key, entry)| key.span() == *at || holds(entry, at)),
        _ => false,
    }
}

/// The keys of a struct, according to serde.
fn fields_of<T: DeserializeOwned>() -> &'static [&'static str] {
    struct Ask<'a>(&'a mut &'static [&'static str]);
    impl<'de> serde::Deserializer<'de> for Ask<'_> {
        type Error = serde::de::value::Error;

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
            Err(serde::de::Error::custom("this is no struct"))
        }

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            fields: &'static [&'static str],
            visitor: V,
        ) -> Result<V::Value, Self::Error> {
            *self.0 = fields;
            self.deserialize_any(visitor)
        }

        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
            unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }
    let mut fields: &'static [&'static str] = &[];
    // `Ask` stores the keys and always returns an error.
    let _ = T::deserialize(Ask(&mut fields));
    fields
}

/// The candidate that differs from `word` by the fewest letters, if the difference is small enough
/// for a typing error.
pub(super) fn closest<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let near = candidates
        .map(|other| (strsim::damerau_levenshtein(word, other), other))
        .min()?;
    (near.0 <= 1 + word.len() / 3).then_some(near.1)
}
