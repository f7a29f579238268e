//! Values of a configuration file, with their own schemas.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::str::FromStr;

use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

/// A value, and its range of bytes in the file.
#[derive(Debug, Clone)]
pub(super) struct At<T> {
    pub value: T,
    pub span: Range<usize>,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<At<T>, D::Error> {
        let spanned = Spanned::<T>::deserialize(from)?;
        Ok(At {
            span: spanned.span(),
            value: spanned.into_inner(),
        })
    }
}

/// Gives a type the schema of another one.
macro_rules! schema_as {
    ($type:ty as $other:ty, $($generics:tt)*) => {
        impl<$($generics)*> JsonSchema for $type {
            fn inline_schema() -> bool {
                <$other>::inline_schema()
            }
            fn schema_name() -> Cow<'static, str> {
                <$other>::schema_name()
            }
            fn schema_id() -> Cow<'static, str> {
                <$other>::schema_id()
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                <$other>::json_schema(generator)
            }
        }
    };
}
schema_as!(At<T> as T, T: JsonSchema);

/// A name that can be used on a command line and in a file name.
#[derive(Debug, Clone)]
pub(super) struct Name(pub String);

impl FromStr for Name {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Name, &'static str> {
        match mgn_fabric::is_name(name) {
            true => Ok(Name(name.into())),
            false => Err(
                "a name has 1 to 64 letters, digits and . _ - , and begins with neither - nor .",
            ),
        }
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Name, D::Error> {
        Parsed::deserialize(from).map(|name| name.0)
    }
}

impl JsonSchema for Name {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[A-Za-z0-9_,][A-Za-z0-9._,-]{0,63}$",
        })
    }
}

/// A whole number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number<const MIN: u32, const MAX: u32>(pub u32);

impl<'de, const MIN: u32, const MAX: u32> Deserialize<'de> for Number<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Whole<const MIN: u32, const MAX: u32>;
        impl<const MIN: u32, const MAX: u32> Visitor<'_> for Whole<MIN, MAX> {
            type Value = Number<MIN, MAX>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(out, "a whole number from {MIN} to {MAX}")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                let known = u32::try_from(number).ok();
                let known = known.filter(|number| (MIN..=MAX).contains(number));
                known.map(Number).ok_or_else(|| {
                    let what = format!("{number} is not {}", &self as &dyn serde::de::Expected);
                    E::custom(what)
                })
            }
        }
        from.deserialize_i64(Whole)
    }
}

impl<const MIN: u32, const MAX: u32> JsonSchema for Number<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("Number_{MIN}_{MAX}").into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

/// A value that is parsed from a text.
#[derive(Debug, Clone)]
pub(super) struct Parsed<T>(pub T);

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for Parsed<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Parsed<T>, D::Error> {
        struct Text<T>(PhantomData<T>);
        // The errors of a visitor get the place of the value that it visits.
        impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Text<T> {
            type Value = Parsed<T>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a string")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Parsed<T>, E> {
                text.parse().map(Parsed).map_err(E::custom)
            }
        }
        from.deserialize_str(Text(PhantomData))
    }
}

impl JsonSchema for Parsed<mgn_fabric::Address> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Address".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^(unix|tcp|tls):.+$" })
    }
}

impl JsonSchema for Parsed<mgn_fabric::Transport> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Transport".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": ["shm", "unix", "tcp"] })
    }
}

/// One value, or a list of values in brackets.
#[derive(Debug, Clone)]
pub(super) enum OneOrMany<T> {
    One(T),
    Many(Vec<At<T>>),
}

impl<T: Clone> At<OneOrMany<T>> {
    /// Each value, with its place in the file.
    pub fn each(&self) -> Vec<At<T>> {
        match &self.value {
            OneOrMany::One(value) => vec![At {
                value: value.clone(),
                span: self.span.clone(),
            }],
            OneOrMany::Many(values) => values.clone(),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<OneOrMany<T>, D::Error> {
        struct Any<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Any<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("one thing, or a list of them in brackets")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                T::deserialize(StrDeserializer::new(text)).map(OneOrMany::One)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(OneOrMany::One)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                Ok(OneOrMany::Many(values))
            }
        }
        from.deserialize_any(Any(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMany_{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one.clone(), { "type": "array", "items": one }] })
    }
}

/// A stream processing unit: its name, or a table { spu = "NAME", PARAMETER = VALUE }.
#[derive(Debug, Clone)]
pub(super) struct StageShape {
    pub name: String,
    /// Names and values of its parameters.
    pub parameters: Vec<At<(String, String)>>,
}

impl<'de> Deserialize<'de> for StageShape {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<StageShape, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = StageShape;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("the name of a stream processing unit, or { spu = \"NAME\" }")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<StageShape, E> {
                Ok(StageShape {
                    name: name.into(),
                    parameters: Vec::new(),
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<StageShape, A::Error> {
                let (mut name, mut parameters) = (None, Vec::new());
                while let Some(key) = map.next_key::<String>()? {
                    if key == "spu" {
                        name = Some(map.next_value()?);
                    } else {
                        let At { value, span } = map.next_value::<At<Scalar>>()?;
                        let value = (key, value.0);
                        parameters.push(At { value, span });
                    }
                }
                let name = name.ok_or_else(|| {
                    A::Error::custom("a stage is named by spu, { spu = \"NAME\" }")
                })?;
                Ok(StageShape { name, parameters })
            }
        }
        from.deserialize_any(Any)
    }
}

impl JsonSchema for StageShape {
    fn schema_name() -> Cow<'static, str> {
        "Stage".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A stream processing unit: its name, or a table { spu = \"NAME\", PARAMETER = VALUE }. Values have no commas.",
            "anyOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "required": ["spu"],
                    "properties": { "spu": { "type": "string", "description": "The name of the unit." } },
                    "additionalProperties": { "type": ["string", "number", "boolean"] },
                },
            ],
        })
    }
}

/// The value of a stage's parameter, as a text.
struct Scalar(String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Scalar, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Scalar;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a string, a number, or true or false")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Scalar, E> {
                match text.contains(',') {
                    true => Err(E::custom(
                        "values of SPU parameters must not contain commas; leave them out",
                    )),
                    false => Ok(Scalar(text.into())),
                }
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Scalar, E> {
                Ok(Scalar(number.to_string()))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Scalar, E> {
                Ok(Scalar(number.to_string()))
            }

            fn visit_bool<E: Error>(self, flag: bool) -> Result<Scalar, E> {
                Ok(Scalar(flag.to_string()))
            }
        }
        from.deserialize_any(Any)
    }
}

/// A place that a tile's picture goes to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TargetShape {
    Program,
    None,
    /// At this address, or at the default address of viewers.
    Viewer(Option<String>),
    Files(String),
    Window {
        display: String,
        position: Option<[u32; 2]>,
        is_fullscreen: bool,
    },
}

/// Where a picture goes: one of window, files and viewer.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
struct TargetTable {
    /// A window of its own on this X display of the server's host.
    window: Option<String>,
    /// For a window: its upper left corner on the display, [x, y]. Without it, [0, 0].
    position: Option<[super::file::Pixels; 2]>,
    /// For a window: whether it covers the display.
    fullscreen: Option<bool>,
    /// A folder of the server's host, for pictures in one of the tile's name.
    files: Option<String>,
    /// A viewer at this address of `mgn viewer --feeds`.
    viewer: Option<Parsed<mgn_fabric::Address>>,
}

const TARGETS: &str = "\"program\", \"viewer\", \"none\", { window = \":0\" }, { files = \"DIR\" }, { viewer = \"ADDRESS\" }, or a list of these";

impl<'de> Deserialize<'de> for TargetShape {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<TargetShape, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = TargetShape;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(TARGETS)
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<TargetShape, E> {
                match word {
                    "program" => Ok(TargetShape::Program),
                    "viewer" => Ok(TargetShape::Viewer(None)),
                    "none" => Ok(TargetShape::None),
                    _ => Err(E::custom(format!(
                        "{word:?} is not a place for pictures; use {TARGETS}"
                    ))),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TargetShape, A::Error> {
                let table = TargetTable::deserialize(MapAccessDeserializer::new(map))?;
                table.target().map_err(A::Error::custom)
            }
        }
        from.deserialize_any(Any)
    }
}

impl TargetTable {
    fn target(self) -> Result<TargetShape, String> {
        let has_place = self.position.is_some() || self.fullscreen.is_some();
        let target = match (self.window, self.files, self.viewer) {
            (Some(display), None, None) => {
                if !display.contains(':') {
                    return Err(format!(
                        "{display:?} is not an X display, which is written as :0 or host:0"
                    ));
                }
                let is_fullscreen = self.fullscreen.unwrap_or(false);
                if is_fullscreen && self.position.is_some() {
                    return Err(
                        "a window is either at a position or fullscreen; leave out one of them"
                            .into(),
                    );
                }
                return Ok(TargetShape::Window {
                    display,
                    position: self.position.map(|[x, y]| [x.0, y.0]),
                    is_fullscreen,
                });
            }
            (None, Some(folder), None) => TargetShape::Files(folder),
            (None, None, Some(address)) => TargetShape::Viewer(Some(address.0.to_string())),
            _ => return Err(format!("a place for pictures is one of {TARGETS}")),
        };
        match has_place {
            true => Err("only windows have a position or are fullscreen; leave it out".into()),
            false => Ok(target),
        }
    }
}

impl JsonSchema for TargetShape {
    fn schema_name() -> Cow<'static, str> {
        "Target".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Where a picture goes: into the program's window, to a viewer, nowhere, or to what the table names.",
            "anyOf": [
                { "type": "string", "enum": ["program", "viewer", "none"] },
                generator.subschema_for::<TargetTable>(),
            ],
        })
    }
}
