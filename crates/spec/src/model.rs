//! The model: each command with its way of travelling decided.

use crate::overlay::{InClient, Property, Row};
use crate::registry::{RawCommand, RawParam};
use crate::{Error, Overlay, Registry};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
    I64,
    U64,
}

impl Scalar {
    pub fn rust(self) -> &'static str {
        match self {
            Scalar::Bool | Scalar::U8 => "u8",
            Scalar::I8 => "i8",
            Scalar::I16 => "i16",
            Scalar::U16 => "u16",
            Scalar::I32 => "i32",
            Scalar::U32 => "u32",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
            Scalar::I64 => "i64",
            Scalar::U64 => "u64",
        }
    }

    /// Bytes of one element in an array.
    pub fn bytes(self) -> usize {
        match self {
            Scalar::Bool | Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::F64 | Scalar::I64 | Scalar::U64 => 8,
        }
    }

    /// Bytes as a parameter in a record: small integers take a word.
    pub fn record_bytes(self) -> usize {
        self.bytes().max(4)
    }

    fn from_c(ctype: &str) -> Option<Scalar> {
        Some(match ctype {
            "GLboolean" => Scalar::Bool,
            "GLbyte" => Scalar::I8,
            "GLubyte" | "GLchar" | "GLcharARB" => Scalar::U8,
            "GLshort" => Scalar::I16,
            "GLushort" | "GLhalfNV" | "GLhalfARB" | "GLhalf" => Scalar::U16,
            "GLint" | "GLsizei" | "GLfixed" | "GLclampx" => Scalar::I32,
            "GLuint" | "GLenum" | "GLbitfield" | "GLhandleARB" => Scalar::U32,
            "GLfloat" | "GLclampf" => Scalar::F32,
            "GLdouble" | "GLclampd" => Scalar::F64,
            "GLint64" | "GLint64EXT" | "GLintptr" | "GLsizeiptr" | "GLintptrARB"
            | "GLsizeiptrARB" => Scalar::I64,
            "GLuint64" | "GLuint64EXT" => Scalar::U64,
            _ => return None,
        })
    }

    fn parse(text: &str) -> Option<Scalar> {
        Some(match text {
            "bool" => Scalar::Bool,
            "i8" => Scalar::I8,
            "u8" => Scalar::U8,
            "i16" => Scalar::I16,
            "u16" => Scalar::U16,
            "i32" => Scalar::I32,
            "u32" => Scalar::U32,
            "f32" => Scalar::F32,
            "f64" => Scalar::F64,
            "i64" => Scalar::I64,
            "u64" => Scalar::U64,
            _ => return None,
        })
    }
}

/// A name space of objects that the client names and the server maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Buffer,
    Texture,
    Framebuffer,
    Renderbuffer,
    VertexArray,
    Sampler,
    Query,
    /// Programs and shaders share one.
    Program,
    Pipeline,
    TransformFeedback,
    /// Programs in assembly language, of vertices and of fragments, have names of their own.
    Assembly,
    /// ATI_fragment_shader
    FragmentShader,
    Sync,
}

impl Class {
    pub const ALL: [Class; 13] = [
        Class::Buffer,
        Class::Texture,
        Class::Framebuffer,
        Class::Renderbuffer,
        Class::VertexArray,
        Class::Sampler,
        Class::Query,
        Class::Program,
        Class::Pipeline,
        Class::TransformFeedback,
        Class::Assembly,
        Class::FragmentShader,
        Class::Sync,
    ];

    fn parse(text: &str) -> Option<Class> {
        Some(match text {
            "buffer" => Class::Buffer,
            "texture" => Class::Texture,
            "framebuffer" => Class::Framebuffer,
            "renderbuffer" => Class::Renderbuffer,
            "vertex array" => Class::VertexArray,
            "sampler" => Class::Sampler,
            "query" => Class::Query,
            "program" | "shader" => Class::Program,
            "program pipeline" => Class::Pipeline,
            "transform feedback" => Class::TransformFeedback,
            "assembly program" => Class::Assembly,
            "fragment shader" => Class::FragmentShader,
            "sync" => Class::Sync,
            _ => return None,
        })
    }
}

/// How many elements an array has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Len {
    Const(usize),
    /// A parameter times a constant.
    Times(String, usize),
    /// The size that the tables give for a parameter that is a pname.
    Pname(String),
    /// The size that a function of `crates/wire/src/lens.rs` computes from some parameters.
    Call(String, Vec<String>),
    /// Whatever the client sends; hand-written code checks it.
    Free,
}

impl Len {
    fn parse(text: &str, params: &[RawParam]) -> Option<Len> {
        let is_param = |name: &str| params.iter().any(|p| p.name == name && p.stars == 0);
        if let Ok(n) = text.parse() {
            return Some(Len::Const(n));
        }
        if is_param(text) {
            return Some(Len::Times(text.to_string(), 1));
        }
        if let Some((name, k)) = text.split_once('*') {
            if let (true, Ok(k)) = (is_param(name.trim()), k.trim().parse()) {
                return Some(Len::Times(name.trim().to_string(), k));
            }
        }
        let (function, inner) = text.strip_suffix(')')?.split_once('(')?;
        let args: Vec<String> = inner.split(',').map(|a| a.trim().to_string()).collect();
        if !args.iter().all(|a| is_param(a)) {
            return None;
        }
        match function {
            "pname" => Some(Len::Pname(inner.to_string())),
            "COMPSIZE" if inner == "pname" => Some(Len::Pname(inner.to_string())),
            "COMPSIZE" => None,
            _ => Some(Len::Call(function.to_string(), args)),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    In,
    Out,
}

/// How a parameter travels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WireType {
    Scalar(Scalar),
    Name(Class),
    Array {
        elem: Scalar,
        class: Option<Class>,
        len: Len,
        direction: Direction,
    },
    /// A string that ends with NUL in C; its bytes without the NUL here.
    Str,
    /// Bytes, a null pointer, or an offset into the bound buffer object.
    Data,
    /// An offset into the bound buffer object that C declares as a pointer.
    Offset,
}

impl WireType {
    /// Reads `u32`, `@texture`, `[f32]`, `[f32;count*4]`, `out[i32;n]`, `str`, `data` or `offset`.
    pub fn parse(text: &str, params: &[RawParam]) -> Option<WireType> {
        if let Some(class) = text.strip_prefix('@') {
            return Class::parse(class).map(WireType::Name);
        }
        if let Some(scalar) = Scalar::parse(text) {
            return Some(WireType::Scalar(scalar));
        }
        match text {
            "str" => return Some(WireType::Str),
            "data" => return Some(WireType::Data),
            "offset" => return Some(WireType::Offset),
            _ => {}
        }
        let (direction, rest) = match text.strip_prefix("out") {
            Some(rest) => (Direction::Out, rest),
            None => (Direction::In, text),
        };
        let inner = rest.strip_prefix('[')?.strip_suffix(']')?;
        let (elem, len) = inner.split_once(';').unwrap_or((inner, ""));
        let len = if len.is_empty() {
            Len::Free
        } else {
            Len::parse(len, params)?
        };
        let (elem, class) = match elem.strip_prefix('@') {
            Some(class) => (Scalar::U32, Some(Class::parse(class)?)),
            None => (Scalar::parse(elem)?, None),
        };
        Some(WireType::Array {
            elem,
            class,
            len,
            direction,
        })
    }
}

/// A parameter on the wire.
#[derive(Debug, Clone)]
pub struct Param {
    /// A Rust identifier.
    pub name: String,
    pub ty: WireType,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carry {
    /// Sent, and not waited for.
    Async,
    /// Sent, and answered.
    Sync,
    /// Answered or remembered by the client; nothing of its own name is sent.
    Local,
    Refused(String),
}

#[derive(Debug, Clone)]
pub struct Command {
    /// As in C: `glTexImage2D`.
    pub name: String,
    /// As in Rust: `gl_tex_image2d`.
    pub ident: String,
    /// The C declaration; none for a session command.
    pub raw: Option<RawCommand>,
    pub aliases: Vec<String>,
    pub params: Vec<Param>,
    pub returns: Option<Scalar>,
    pub carry: Carry,
    pub client_handwritten: bool,
    pub render_handwritten: bool,
    pub infallible: bool,
    /// Whether it is carried out at once while a display list is compiled.
    pub unlisted: bool,
    /// Whether other commands succeed and fail after it as before, except for state that the client
    /// follows.
    pub neutral: bool,
    /// Whether it defines the image that is bound to its target.
    pub defining: bool,
    /// Whether it attaches an image to a framebuffer.
    pub attaching: bool,
    /// The state on which its success depends beside its arguments, where the client follows that:
    /// words of `gl::known_success`.
    pub depends: Option<String>,
    /// Whether the client's shadow has a hook for it.
    pub tracked: bool,
    /// Whether the entry point looks for messages of debug output before it returns, where the
    /// program wants that.
    pub watched: bool,
    /// Whether it makes an object of a name that has none yet.
    pub named_by_use: bool,
    /// Whether it takes memory for as much as the program likes.
    pub storing: bool,
    /// How it draws, if it does.
    pub draws: Option<Draws>,
    /// Whether it sets or reads scissor boxes, or changes what they are about.
    pub scissoring: bool,
    /// How it depends on where a surface's pixels begin, a word of `emit::render`.
    pub offset: Option<String>,
    /// The purpose for which surfaces in tiles are made whole before it, a word of `tiles`, and a
    /// condition on its arguments if there is one.
    pub whole: Option<(String, Option<String>)>,
    pub about: String,
}

impl Command {
    pub fn on_wire(&self) -> bool {
        matches!(self.carry, Carry::Async | Carry::Sync)
    }

    /// Whether it draws to what is bound for drawing, within its scissor boxes.
    pub fn draws_in_boxes(&self) -> bool {
        let how = self.draws.is_some_and(Draws::keeps_to_boxes);
        how && !self.scissoring
    }
}

/// How a command draws, in the overlay's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Draws {
    Run,
    Arrays,
    Shapes,
    Pixels,
    Clears,
    Lists,
    Computes,
}

impl Draws {
    fn keeps_to_boxes(self) -> bool {
        matches!(
            self,
            Draws::Run | Draws::Arrays | Draws::Shapes | Draws::Pixels
        )
    }

    /// Whether all that it changes are the contents of framebuffers, and buffers that feedback goes
    /// to.
    fn only_draws(self) -> bool {
        self.keeps_to_boxes() || self == Draws::Clears
    }
}

/// Every command, in the order of their opcodes (those not on the wire have none).
#[derive(Debug)]
pub struct Model {
    pub commands: Vec<Command>,
    pub enums: BTreeMap<String, u64>,
    /// The names of each group's enums.
    pub groups: BTreeMap<String, Vec<String>>,
    /// Versions as (api, number, every command carried).
    pub versions: Vec<(String, String, Vec<String>)>,
    /// Extensions all of whose commands are carried and that aren't withheld.
    pub advertised: Vec<String>,
    /// Extensions that are not, and why.
    pub withheld: BTreeMap<String, String>,
}

impl Model {
    pub fn build(registry: &Registry, overlay: &Overlay) -> Result<Model, Error> {
        let mut names = BTreeSet::new();
        for feature in registry
            .features
            .iter()
            .filter(|f| matches!(f.api.as_str(), "gl" | "gles1" | "gles2"))
        {
            names.extend(feature.requires.iter().cloned());
        }
        for name in &overlay.extensions {
            if let Some(extension) = registry.extensions.get(name) {
                names.extend(extension.commands.iter().cloned());
            }
        }
        let mut aliases: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut canonical = BTreeSet::new();
        for name in &names {
            let root = match overlay.same.get(name) {
                Some(other) => other.clone(),
                None if overlay.apart.contains(name) => name.clone(),
                None => root(registry, overlay, name)?,
            };
            if root != *name {
                aliases.entry(root.clone()).or_default().push(name.clone());
            }
            canonical.insert(root);
        }
        for (name, row) in &overlay.commands {
            if !canonical.contains(name) {
                let problem = match names.contains(name) {
                    true => {
                        "this is another name of a command; the row of that command is for both"
                    }
                    false => "no version and none of the extensions has it",
                };
                return Err(bad(name, problem.into()));
            }
            let params = row.classes.keys().chain(row.lengths.keys());
            let raw = &registry.commands[name];
            if let Some(param) = params
                .into_iter()
                .find(|p| raw.params.iter().all(|q| q.name != **p))
            {
                return Err(bad(name, format!("it has no parameter {param}")));
            }
        }
        let no_row = Row::default();
        let mut commands = Vec::new();
        for (name, session) in &overlay.session {
            commands.push(session_command(name, session)?);
        }
        for name in &canonical {
            let raw = registry
                .commands
                .get(name)
                .ok_or_else(|| Error::NoSuchCommand(name.clone()))?;
            commands.push(command(
                raw,
                aliases.remove(name).unwrap_or_default(),
                overlay.commands.get(name).unwrap_or(&no_row),
            )?);
        }
        let mut model = Model {
            commands,
            enums: registry.enums.clone(),
            groups: registry.groups.clone(),
            versions: Vec::new(),
            advertised: Vec::new(),
            withheld: BTreeMap::new(),
        };
        model.decide_what_to_advertise(registry, overlay);
        Ok(model)
    }

    fn decide_what_to_advertise(&mut self, registry: &Registry, overlay: &Overlay) {
        let mut refused = BTreeSet::new();
        for c in self
            .commands
            .iter()
            .filter(|c| matches!(c.carry, Carry::Refused(_)))
            .filter(|c| {
                let row = overlay.commands.get(&c.name);
                row.is_none_or(|row| row.absent.is_none())
            })
        {
            refused.insert(c.name.clone());
            refused.extend(c.aliases.iter().cloned());
        }
        for f in registry
            .features
            .iter()
            .filter(|f| matches!(f.api.as_str(), "gl" | "gles1" | "gles2"))
        {
            let missing = f
                .requires
                .iter()
                .filter(|c| refused.contains(*c))
                .cloned()
                .collect();
            self.versions
                .push((f.api.clone(), f.number.clone(), missing));
        }
        for name in &overlay.extensions {
            let commands = registry
                .extensions
                .get(name)
                .map(|e| e.commands.as_slice())
                .unwrap_or_default();
            let missing: Vec<_> = commands
                .iter()
                .filter(|c| refused.contains(*c))
                .cloned()
                .collect();
            if let Some(reason) = overlay.withheld.get(name) {
                self.withheld.insert(name.clone(), reason.clone());
            } else if missing.is_empty() {
                self.advertised.push(name.clone());
            } else {
                self.withheld
                    .insert(name.clone(), format!("not carried: {}", missing.join(", ")));
            }
        }
    }
}

/// Follows aliases to the command that stands for all of them.
fn root(registry: &Registry, overlay: &Overlay, name: &str) -> Result<String, Error> {
    let mut name = name.to_string();
    let ends_so = overlay.oes.iter().any(|end| name.ends_with(end));
    if let (true, Some(base)) = (ends_so, name.strip_suffix("OES")) {
        let both = (registry.commands.get(&name), registry.commands.get(base));
        if matches!(both, (Some(a), Some(b)) if same_signature(a, b)) {
            name = base.to_string();
        }
    }
    for _ in 0..8 {
        let raw = registry
            .commands
            .get(&name)
            .ok_or_else(|| Error::NoSuchCommand(name.clone()))?;
        match &raw.alias {
            // glCreateShaderProgramEXT and the like are aliases by name only if the signatures
            // agree.
            Some(next)
                if registry
                    .commands
                    .get(next)
                    .is_some_and(|n| same_signature(raw, n)) =>
            {
                name = next.clone()
            }
            _ => return Ok(name),
        }
    }
    Ok(name)
}

fn same_signature(a: &RawCommand, b: &RawCommand) -> bool {
    let shape = |p: &RawParam| {
        (
            p.stars,
            if p.stars == 0 {
                Scalar::from_c(&p.ctype)
            } else {
                None
            },
        )
    };
    a.params.len() == b.params.len()
        && a.params
            .iter()
            .zip(&b.params)
            .all(|(a, b)| shape(a) == shape(b))
}

fn bad(command: &str, problem: String) -> Error {
    let command = command.to_string();
    Error::Overlay { command, problem }
}

fn session_command(name: &str, session: &crate::SessionCommand) -> Result<Command, Error> {
    Ok(Command {
        name: name.to_string(),
        ident: snake(name),
        raw: None,
        aliases: Vec::new(),
        params: wire_params(&session.params, &[]).map_err(|problem| bad(name, problem))?,
        returns: None,
        carry: if session.sync {
            Carry::Sync
        } else {
            Carry::Async
        },
        client_handwritten: true,
        render_handwritten: true,
        infallible: !session.fallible,
        unlisted: true,
        neutral: true,
        defining: false,
        attaching: false,
        depends: None,
        tracked: false,
        watched: false,
        named_by_use: false,
        storing: false,
        draws: session.draws,
        scissoring: session.scissoring,
        offset: None,
        whole: None,
        about: session.about.clone(),
    })
}

fn wire_params(text: &str, raw: &[RawParam]) -> Result<Vec<Param>, String> {
    text.split_whitespace()
        .map(|item| {
            let (name, ty) = item
                .split_once(':')
                .ok_or_else(|| format!("{item} is not name:type"))?;
            let ty = if ty.contains('@') {
                ty.replace('_', " ")
            } else {
                ty.to_string()
            };
            let ty = WireType::parse(&ty, raw).ok_or_else(|| format!("{item}: no such type"))?;
            Ok(Param {
                name: ident(name),
                ty,
            })
        })
        .collect()
}

fn command(raw: &RawCommand, aliases: Vec<String>, row: &Row) -> Result<Command, Error> {
    let name = &raw.name;
    let mut returns = None;
    let mut params = Vec::new();
    let not_carried = row.refused.as_ref().or(row.absent.as_ref());
    let carry = if let Some(reason) = not_carried {
        Carry::Refused(reason.clone())
    } else if row.client == Some(InClient::Local) {
        Carry::Local
    } else if let Some(wire) = &row.wire {
        let (text, sync) = match wire.strip_suffix(" sync") {
            Some(text) => (text, true),
            None => (wire.as_str(), false),
        };
        let text = if text.trim() == "-" { "" } else { text };
        params = wire_params(text, &raw.params).map_err(|problem| bad(name, problem))?;
        if sync {
            Carry::Sync
        } else {
            Carry::Async
        }
    } else {
        match automatic(raw, row) {
            Ok((automatic, value)) => {
                let out = |p: &Param| {
                    matches!(
                        p.ty,
                        WireType::Array {
                            direction: Direction::Out,
                            ..
                        }
                    )
                };
                let sync = value.is_some() || automatic.iter().any(out);
                params = automatic;
                returns = value;
                if sync {
                    Carry::Sync
                } else {
                    Carry::Async
                }
            }
            Err(reason) => Carry::Refused(reason),
        }
    };
    Ok(Command {
        name: name.clone(),
        ident: snake(name),
        raw: Some(raw.clone()),
        aliases,
        params,
        returns,
        carry,
        client_handwritten: row.client.is_some(),
        render_handwritten: row.renderer.is_some(),
        infallible: row.is(Property::Infallible),
        unlisted: row.is(Property::Unlisted),
        neutral: row.draws.is_some_and(Draws::only_draws)
            || [Property::Neutral, Property::Defining, Property::Attaching]
                .iter()
                .any(|property| row.is(*property)),
        defining: row.is(Property::Defining),
        attaching: row.is(Property::Attaching),
        depends: row.depends.clone(),
        tracked: row.is(Property::Tracked),
        watched: !row.is(Property::Infallible) && !row.is(Property::Unwatched),
        named_by_use: row.is(Property::NamedByUse),
        storing: row.is(Property::Storing),
        draws: row.draws,
        scissoring: row.is(Property::Scissoring),
        offset: row.offset.clone(),
        whole: row
            .whole
            .as_ref()
            .map(|text| match text.split_once(" if ") {
                Some((what, when)) => (what.into(), Some(when.into())),
                None => (text.clone(), None),
            }),
        about: String::new(),
    })
}

/// Derives the wire form from the C declaration, or says why it can't be.
fn automatic(raw: &RawCommand, row: &Row) -> Result<(Vec<Param>, Option<Scalar>), String> {
    let returns = match (raw.returns.ctype.as_str(), raw.returns.stars) {
        ("void", 0) => None,
        (ctype, 0) => Some(Scalar::from_c(ctype).ok_or_else(|| format!("returns {ctype}"))?),
        (ctype, _) => return Err(format!("returns a pointer to {ctype}")),
    };
    let mut params = Vec::new();
    for p in &raw.params {
        let stated = row.classes.get(&p.name);
        let class = stated.or(p.class.as_ref()).and_then(|c| Class::parse(c));
        let class = class.or_else(|| class_by_name(p).filter(|_| stated.is_none()));
        let len_text = row.lengths.get(&p.name).or(p.len.as_ref());
        match len_text.map(String::as_str) {
            Some("data") => {
                params.push(Param {
                    name: ident(&p.name),
                    ty: WireType::Data,
                });
                continue;
            }
            Some("offset") => {
                params.push(Param {
                    name: ident(&p.name),
                    ty: WireType::Offset,
                });
                continue;
            }
            Some("str") => {
                params.push(Param {
                    name: ident(&p.name),
                    ty: WireType::Str,
                });
                continue;
            }
            _ => {}
        }
        let ty = match (p.stars, p.ctype.as_str()) {
            (0, "GLsync") => WireType::Name(Class::Sync),
            (0, ctype) => {
                let scalar =
                    Scalar::from_c(ctype).ok_or_else(|| format!("{} is a {ctype}", p.name))?;
                match class {
                    Some(class) if scalar == Scalar::U32 => WireType::Name(class),
                    _ => WireType::Scalar(scalar),
                }
            }
            (1, "GLchar" | "GLcharARB") if p.constant && len_text.is_none() => WireType::Str,
            (1, "void") if p.constant => {
                let len = len_text.and_then(|l| Len::parse(l, &raw.params));
                match len {
                    Some(len) => array(Scalar::U8, None, len, Direction::In),
                    None => return Err(format!("the size of {} is not known", p.name)),
                }
            }
            (1, ctype) => {
                let elem = if ctype == "void" {
                    Scalar::U8
                } else {
                    Scalar::from_c(ctype).ok_or_else(|| format!("{} points to {ctype}", p.name))?
                };
                let len = len_text.and_then(|l| Len::parse(l, &raw.params));
                let len = len.ok_or_else(|| format!("the length of {} is not known", p.name))?;
                let direction = if p.constant {
                    Direction::In
                } else {
                    Direction::Out
                };
                array(elem, class, len, direction)
            }
            (_, ctype) => return Err(format!("{} points to pointers to {ctype}", p.name)),
        };
        params.push(Param {
            name: ident(&p.name),
            ty,
        });
    }
    Ok((params, returns))
}

fn array(elem: Scalar, class: Option<Class>, len: Len, direction: Direction) -> WireType {
    WireType::Array {
        elem,
        class,
        len,
        direction,
    }
}

/// The registry lacks many classes; parameters are named after what they name.
fn class_by_name(p: &RawParam) -> Option<Class> {
    if !matches!(p.ctype.as_str(), "GLuint" | "GLhandleARB") {
        return None;
    }
    if p.ctype == "GLhandleARB" {
        return Some(Class::Program);
    }
    Some(match p.name.as_str() {
        "texture" | "textures" => Class::Texture,
        "buffer" | "buffers" => Class::Buffer,
        "framebuffer" | "framebuffers" => Class::Framebuffer,
        "renderbuffer" | "renderbuffers" => Class::Renderbuffer,
        "program" | "shader" | "shaders" | "programs" => Class::Program,
        "sampler" | "samplers" => Class::Sampler,
        "pipeline" | "pipelines" => Class::Pipeline,
        "vaobj" => Class::VertexArray,
        _ => return None,
    })
}

fn ident(name: &str) -> String {
    match name {
        "type" | "ref" | "in" | "box" | "where" | "loop" | "fn" | "self" => format!("{name}_"),
        _ => snake(name),
    }
}

/// `glTexImage2D` becomes `gl_tex_image2d`, `glGetIntegeri_v` `gl_get_integeri_v`,
/// `glBindBufferARB` `gl_bind_buffer_arb`.
pub fn snake(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (i, &c) in chars.iter().enumerate() {
        let previous = i.checked_sub(1).map(|i| chars[i]);
        let next_lower = chars.get(i + 1).is_some_and(|c| c.is_lowercase());
        let boundary = c.is_uppercase()
            && previous.is_some_and(|p| {
                p.is_lowercase()
                    || (p.is_ascii_digit() && (c != 'D' || next_lower))
                    || (p.is_uppercase() && next_lower)
            });
        if boundary && !out.ends_with('_') {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers() {
        assert_eq!(snake("glTexImage2D"), "gl_tex_image2d");
        assert_eq!(snake("glColor4f"), "gl_color4f");
        assert_eq!(snake("glGetIntegeri_v"), "gl_get_integeri_v");
        assert_eq!(snake("glBindBufferARB"), "gl_bind_buffer_arb");
        assert_eq!(snake("glUniformMatrix4x3fv"), "gl_uniform_matrix4x3fv");
        assert_eq!(snake("mgnRun"), "mgn_run");
    }

    #[test]
    fn wire_types() {
        assert_eq!(
            WireType::parse("u32", &[]),
            Some(WireType::Scalar(Scalar::U32))
        );
        assert_eq!(
            WireType::parse("@texture", &[]),
            Some(WireType::Name(Class::Texture))
        );
        assert_eq!(
            WireType::parse("[f32;4]", &[]),
            Some(array(Scalar::F32, None, Len::Const(4), Direction::In))
        );
        assert_eq!(
            WireType::parse("out[i32]", &[]),
            Some(array(Scalar::I32, None, Len::Free, Direction::Out))
        );
        assert_eq!(WireType::parse("nonsense", &[]), None);
    }

    #[test]
    fn rows_of_unknown_commands_and_parameters_are_refused() {
        let registry = "<registry><commands>\
            <command><proto>void <name>glEnd</name></proto></command>\
            <command><proto>void <name>glEndEXT</name></proto><alias name='glEnd'/></command>\
            </commands><feature api='gl' name='GL_VERSION_1_0' number='1.0'><require>\
            <command name='glEnd'/><command name='glEndEXT'/></require></feature></registry>";
        let registry = Registry::parse(registry).unwrap();
        let build = |row: &str| {
            let lists = "extensions = []\noes = []\napart = []\n[withheld]\n[same]\n[session]\n";
            let built = Model::build(&registry, &Overlay::parse(lists, row).unwrap());
            built.map_err(|error| error.to_string())
        };
        for (row, named) in [
            ("glEnds = {}", "glEnds: no version"),
            ("glEndEXT = {}", "glEndEXT: this is another name"),
            (
                "glEnd = { lengths = { data = \"4\" } }",
                "no parameter data",
            ),
        ] {
            let error = build(row).unwrap_err();
            assert!(error.contains(named), "{error}");
        }
        let model = build("glEnd = { is = [\"neutral\"] }").unwrap();
        assert!(model.commands[0].neutral && !model.commands[0].infallible);
    }
}
