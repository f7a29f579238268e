//! The driver's gets, and commands called on the driver and on the shadow alike.

use std::ffi::c_void;
use std::mem::transmute;

use mgn_state::{GlError, State};
use mgn_wire::gl::*;
use mgn_wire::hello::{api, ContextInfo};
use mgn_wire::sizes::fresh;

use crate::egl::{Api, Context};

/// More values than any get writes.
pub const ROOM: usize = 64;

/// Random parameters of commands.
pub struct Random(mgn_fuzzing::Random);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(mgn_fuzzing::Random::new(seed))
    }

    pub fn next(&mut self) -> u32 {
        self.0.next() as u32
    }

    pub fn below(&mut self, n: u32) -> u32 {
        self.0.below(n)
    }

    pub fn int(&mut self, low: i32, high: i32) -> i32 {
        low + self.below((high - low + 1) as u32) as i32
    }

    pub fn one_in(&mut self, n: u32) -> bool {
        self.0.one_in(n)
    }

    /// One of the choices, now and then something else.
    pub fn of(&mut self, choices: &[u32]) -> u32 {
        match self.below(40) {
            0 => self.below(0x1_0000),
            _ => self.0.of(choices),
        }
    }

    pub fn float(&mut self) -> f32 {
        match self.below(8) {
            0 => 0.,
            1 => 1.,
            2 => self.int(-3, 300) as f32,
            3 => self.int(-8, 8) as f32 / 4.,
            4 => -(self.below(1000) as f32 / 1000.),
            _ => self.below(10_000) as f32 / 10_000.,
        }
    }

    pub fn floats<const N: usize>(&mut self) -> [f32; N] {
        std::array::from_fn(|_| self.float())
    }
}

/// A context of the driver with its shadow.
pub struct Pair {
    pub context: Context,
    pub state: State,
    pub random: Random,
    pub api: Api,
    /// Texture units that commands make active.
    pub units: u32,
    /// The last commands, for a failure's message.
    pub log: Vec<String>,
    get_error: unsafe extern "C" fn() -> u32,
    get_integers: unsafe extern "C" fn(u32, *mut i32),
    get_floats: unsafe extern "C" fn(u32, *mut f32),
}

pub const WIDTH: i32 = 64;
pub const HEIGHT: i32 = 48;

impl Pair {
    pub fn new(api: Api, seed: u64) -> Option<Pair> {
        let context = Context::new(api, WIDTH, HEIGHT)?;
        // SAFETY: these are the commands' types.
        let (get_error, get_integers, get_floats) = unsafe {
            (
                transmute::<*const c_void, unsafe extern "C" fn() -> u32>(
                    context.proc("glGetError"),
                ),
                transmute::<*const c_void, unsafe extern "C" fn(u32, *mut i32)>(
                    context.proc("glGetIntegerv"),
                ),
                transmute::<*const c_void, unsafe extern "C" fn(u32, *mut f32)>(
                    context.proc("glGetFloatv"),
                ),
            )
        };
        let mut pair = Pair {
            context,
            state: State::new(&ContextInfo::default(), 0),
            random: Random::new(seed),
            api,
            units: 200,
            log: Vec::new(),
            get_error,
            get_integers,
            get_floats,
        };
        let number = match api {
            Api::Compat => api::COMPAT,
            Api::Core => api::CORE,
            Api::Es1 => api::ES1,
            Api::Es3 => api::ES,
        };
        pair.state = State::new(&pair.info(), number);
        pair.state.first_current(WIDTH, HEIGHT);
        pair.state.default_framebuffer(true, 8, Some(true));
        Some(pair)
    }

    pub fn error(&self) -> u32 {
        // SAFETY: no arguments.
        unsafe { (self.get_error)() }
    }

    /// A server's information about a new context.
    fn info(&self) -> ContextInfo {
        let mut info = ContextInfo {
            version: self.string(GL_VERSION),
            extensions: self.extensions(),
            ..ContextInfo::default()
        };
        let constants = CONSTANTS.iter().chain(fresh::INTEGERS);
        for &(pname, n) in constants {
            if let Some(values) = self.integers(pname) {
                let values = values[..n].iter().map(|&v| v.into()).collect();
                info.integers.push((pname, values));
            }
        }
        for &(pname, n) in FLOAT_CONSTANTS.iter().chain(fresh::FLOATS) {
            if let Some(values) = self.floats(pname) {
                info.floats.push((pname, values[..n].to_vec()));
            }
            if let Some(values) = self.integers(pname) {
                let values = values[..n].iter().map(|&v| v.into()).collect();
                info.integers.push((pname, values));
            }
        }
        info
    }

    fn extensions(&self) -> Vec<String> {
        if self.api == Api::Es1 {
            return self
                .string(GL_EXTENSIONS)
                .split(' ')
                .map(str::to_string)
                .collect();
        }
        let count = self.integers(GL_NUM_EXTENSIONS).map_or(0, |v| v[0] as u32);
        // SAFETY: the driver's strings end in zero and live as long as the context.
        unsafe {
            let get: unsafe extern "C" fn(u32, u32) -> *const i8 =
                transmute(self.context.proc("glGetStringi"));
            let text = |i| std::ffi::CStr::from_ptr(get(GL_EXTENSIONS, i).cast());
            (0..count)
                .map(|i| text(i).to_string_lossy().into_owned())
                .collect()
        }
    }

    fn string(&self, name: u32) -> String {
        // SAFETY: the driver's strings end in zero and live as long as the context.
        unsafe {
            let get: unsafe extern "C" fn(u32) -> *const i8 =
                transmute(self.context.proc("glGetString"));
            let text = std::ffi::CStr::from_ptr(get(name).cast());
            text.to_string_lossy().into_owned()
        }
    }

    /// `glGetIntegerv`, or `None` if the driver refuses.
    pub fn integers(&self, pname: u32) -> Option<[i32; ROOM]> {
        let mut values = [0; ROOM];
        // SAFETY: there is room for more values than any name has.
        unsafe { (self.get_integers)(pname, values.as_mut_ptr()) };
        (self.error() == 0).then_some(values)
    }

    pub fn floats(&self, pname: u32) -> Option<[f32; ROOM]> {
        let mut values = [0.; ROOM];
        // SAFETY: as above.
        unsafe { (self.get_floats)(pname, values.as_mut_ptr()) };
        (self.error() == 0).then_some(values)
    }

    /// A get of any type.
    pub fn read<T: Copy + Default>(&self, command: &str, pname: u32) -> Option<[T; ROOM]> {
        let mut values = [T::default(); ROOM];
        // SAFETY: the command takes a name and a pointer to values of this type, and there is
        // room for more than any name has.
        unsafe {
            let get: unsafe extern "C" fn(u32, *mut T) = transmute(self.context.proc(command));
            get(pname, values.as_mut_ptr());
        }
        (self.error() == 0).then_some(values)
    }

    /// A get with one more enum in front, or with an index behind.
    pub fn read2<T: Copy + Default>(&self, command: &str, a: u32, b: u32) -> Option<[T; ROOM]> {
        let mut values = [T::default(); ROOM];
        // SAFETY: as above.
        unsafe {
            let get: unsafe extern "C" fn(u32, u32, *mut T) = transmute(self.context.proc(command));
            get(a, b, values.as_mut_ptr());
        }
        (self.error() == 0).then_some(values)
    }

    /// Whether the driver and the hook agree on a command's success.
    pub fn agree(&mut self, what: String, hook: Result<(), GlError>) {
        let doubt = self.state.take_doubt();
        let error = self.error();
        self.log.push(format!(
            "{what} -> {error:#x}, hook {hook:?}, doubt {doubt}"
        ));
        let agreed = match hook {
            Err(e) => e.code() == error,
            Ok(()) => error == 0 || doubt,
        };
        assert!(agreed, "{:?}: {}", self.api, self.tail());
    }

    pub fn tail(&self) -> String {
        let lines = std::env::var("MGN_TEST_LINES")
            .ok()
            .and_then(|n| n.parse().ok());
        let from = self.log.len().saturating_sub(lines.unwrap_or(12));
        format!("\n  {}", self.log[from..].join("\n  "))
    }
}

/// Calls a command with the same arguments on the driver and on the shadow. An array, if
/// any, comes last: a pointer for the driver, a slice for the shadow.
macro_rules! both {
    ($pair:expr, $name:literal, $hook:ident, ($($arg:ident: $type:ty),*)
        $(, [$array:ident: $elem:ty])?) => {{
        let pair: &mut $crate::gl::Pair = $pair;
        #[allow(unused_mut)]
        let mut what = String::from($name);
        $(what += &format!(" {:x?}", $arg);)*
        $(what += &format!(" {:x?}", $array);)?
        // SAFETY: the types are those of the command, and arrays are as long as it reads.
        unsafe {
            let f: unsafe extern "C" fn($($type,)* $(*const $elem)?) =
                std::mem::transmute(pair.context.proc($name));
            f($($arg,)* $($array.as_ptr())?);
        }
        let hook = $crate::gl::Outcome::outcome(pair.state.$hook($($arg,)* $(&$array)?));
        pair.agree(what, hook);
    }};
}
pub(crate) use both;

/// The result of hooks.
pub trait Outcome {
    fn outcome(self) -> Result<(), GlError>;
}

impl Outcome for () {
    fn outcome(self) -> Result<(), GlError> {
        Ok(())
    }
}

impl Outcome for Result<(), GlError> {
    fn outcome(self) -> Result<(), GlError> {
        self
    }
}

/// Limits that the shadow goes by.
const CONSTANTS: &[(u32, usize)] = &[
    (GL_CONTEXT_FLAGS, 1),
    (GL_MAX_LIGHTS, 1),
    (GL_MAX_CLIP_DISTANCES, 1),
    (GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, 1),
    (GL_MAX_TEXTURE_COORDS, 1),
    (GL_MAX_TEXTURE_UNITS, 1),
    (GL_MAX_DRAW_BUFFERS, 1),
    (GL_MAX_COLOR_ATTACHMENTS, 1),
    (GL_MAX_VIEWPORTS, 1),
    (GL_MAX_VIEWPORT_DIMS, 2),
    (GL_MAX_ATTRIB_STACK_DEPTH, 1),
    (GL_MAX_CLIENT_ATTRIB_STACK_DEPTH, 1),
    (GL_MAX_MODELVIEW_STACK_DEPTH, 1),
    (GL_MAX_PROJECTION_STACK_DEPTH, 1),
    (GL_MAX_TEXTURE_STACK_DEPTH, 1),
    (GL_MAX_LIST_NESTING, 1),
    (GL_MAX_PATCH_VERTICES, 1),
    (GL_MAX_SAMPLE_MASK_WORDS, 1),
    (GL_MAX_UNIFORM_BUFFER_BINDINGS, 1),
    (GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS, 1),
    (GL_MAX_ATOMIC_COUNTER_BUFFER_BINDINGS, 1),
    (GL_MAX_TEXTURE_SIZE, 1),
];

const FLOAT_CONSTANTS: &[(u32, usize)] = &[
    (GL_VIEWPORT_BOUNDS_RANGE, 2),
    (GL_ALIASED_LINE_WIDTH_RANGE, 2),
    (GL_MAX_TEXTURE_LOD_BIAS, 1),
];

/// All names whose answers are compared.
pub fn names() -> impl Iterator<Item = (u32, usize)> {
    let tables = [CONSTANTS, FLOAT_CONSTANTS, fresh::INTEGERS, fresh::FLOATS];
    tables.into_iter().flatten().copied()
}
