//! The properties of a config in GLX, and the choice by them: GLX 1.4, sections 3.3.3 and 3.4.
//! Where these leave room, the choice is that of Mesa.

pub mod attrib {
    pub const USE_GL: i32 = 1;
    pub const BUFFER_SIZE: i32 = 2;
    pub const LEVEL: i32 = 3;
    pub const RGBA: i32 = 4;
    pub const DOUBLEBUFFER: i32 = 5;
    pub const STEREO: i32 = 6;
    pub const AUX_BUFFERS: i32 = 7;
    pub const RED_SIZE: i32 = 8;
    pub const GREEN_SIZE: i32 = 9;
    pub const BLUE_SIZE: i32 = 10;
    pub const ALPHA_SIZE: i32 = 11;
    pub const DEPTH_SIZE: i32 = 12;
    pub const STENCIL_SIZE: i32 = 13;
    pub const ACCUM_RED_SIZE: i32 = 14;
    pub const ACCUM_GREEN_SIZE: i32 = 15;
    pub const ACCUM_BLUE_SIZE: i32 = 16;
    pub const ACCUM_ALPHA_SIZE: i32 = 17;
    pub const CONFIG_CAVEAT: i32 = 0x20;
    pub const X_VISUAL_TYPE: i32 = 0x22;
    pub const TRANSPARENT_TYPE: i32 = 0x23;
    pub const TRANSPARENT_INDEX_VALUE: i32 = 0x24;
    pub const TRANSPARENT_RED_VALUE: i32 = 0x25;
    pub const TRANSPARENT_GREEN_VALUE: i32 = 0x26;
    pub const TRANSPARENT_BLUE_VALUE: i32 = 0x27;
    pub const TRANSPARENT_ALPHA_VALUE: i32 = 0x28;
    pub const FLOAT_COMPONENTS_NV: i32 = 0x20B0;
    pub const FRAMEBUFFER_SRGB_CAPABLE: i32 = 0x20B2;
    pub const BIND_TO_TEXTURE_RGB: i32 = 0x20D0;
    pub const BIND_TO_TEXTURE_RGBA: i32 = 0x20D1;
    pub const BIND_TO_MIPMAP_TEXTURE: i32 = 0x20D2;
    pub const BIND_TO_TEXTURE_TARGETS: i32 = 0x20D3;
    pub const Y_INVERTED: i32 = 0x20D4;
    pub const VISUAL_ID: i32 = 0x800B;
    pub const DRAWABLE_TYPE: i32 = 0x8010;
    pub const RENDER_TYPE: i32 = 0x8011;
    pub const X_RENDERABLE: i32 = 0x8012;
    pub const FBCONFIG_ID: i32 = 0x8013;
    pub const MAX_PBUFFER_WIDTH: i32 = 0x8016;
    pub const MAX_PBUFFER_HEIGHT: i32 = 0x8017;
    pub const MAX_PBUFFER_PIXELS: i32 = 0x8018;
    pub const OPTIMAL_PBUFFER_WIDTH: i32 = 0x8019;
    pub const OPTIMAL_PBUFFER_HEIGHT: i32 = 0x801A;
    pub const VISUAL_SELECT_GROUP: i32 = 0x8028;
    pub const SWAP_METHOD: i32 = 0x8060;
    pub const SAMPLE_BUFFERS: i32 = 100_000;
    pub const SAMPLES: i32 = 100_001;
}
use attrib::*;

pub const DONT_CARE: i32 = -1;
/// The value of an attribute that a config does not have. It matches every request, except under
/// rule `Exact`.
const UNSAID: i32 = i32::MIN;
pub const NONE: i32 = 0x8000;
pub const SLOW: i32 = 0x8001;
pub const TRUE_COLOR: i32 = 0x8002;
pub const RGBA_BIT: i32 = 1;
pub const COLOR_INDEX_BIT: i32 = 2;
pub const FLOAT_BIT: i32 = 4;
pub const WINDOW_BIT: i32 = 1;
pub const PIXMAP_BIT: i32 = 2;
pub const PBUFFER_BIT: i32 = 4;
const SWAP_EXCHANGE: i32 = 0x8061;
const SWAP_UNDEFINED: i32 = 0x8063;

/// Width and height of the largest pbuffer.
pub const MAX_PBUFFER: i32 = 4096;

/// Differences between releases of Mesa that the GLX specification allows or does not cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    is_newer: bool,
}

impl Dialect {
    /// The dialect of the render server's release of Mesa, as major, minor and patch; zeros stand
    /// for another driver. Release 22.3 has the older dialect, and 25.0 the newer one.
    pub fn of(release: [u32; 3]) -> Dialect {
        Dialect {
            is_newer: release >= [24, 0, 0],
        }
    }

    /// Whether configs have a swap method: GLX_OML_swap_method.
    pub fn has_swap_method(self) -> bool {
        !self.is_newer
    }

    /// Whether visuals are reported as usable for pbuffers, too.
    pub fn visuals_make_pbuffers(self) -> bool {
        !self.is_newer
    }

    /// Whether requests for impossible contexts get the errors that GLX_ARB_create_context
    /// specifies.
    pub fn refuses_as_specified(self) -> bool {
        self.is_newer
    }
}

/// How a request is compared with a config.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    AtLeast,
    Equal,
    /// As `Equal`, but [`DONT_CARE`] has no special meaning.
    Exact,
    Mask,
    /// 0 also matches anything.
    Transparency,
    Ignored,
}
use Rule::{AtLeast, Equal, Exact, Ignored, Mask, Transparency};

/// An attribute: its name, its value if the X server reports none, the default of a request, and
/// the rule.
type Attribute = (i32, i32, i32, Rule);

const TABLE: &[Attribute] = &[
    (BUFFER_SIZE, 0, 0, AtLeast),
    (LEVEL, 0, 0, Exact),
    (DOUBLEBUFFER, 0, DONT_CARE, Equal),
    (STEREO, 0, 0, Equal),
    (AUX_BUFFERS, 0, 0, AtLeast),
    (RED_SIZE, 0, 0, AtLeast),
    (GREEN_SIZE, 0, 0, AtLeast),
    (BLUE_SIZE, 0, 0, AtLeast),
    (ALPHA_SIZE, 0, 0, AtLeast),
    (DEPTH_SIZE, 0, 0, AtLeast),
    (STENCIL_SIZE, 0, 0, AtLeast),
    (ACCUM_RED_SIZE, 0, 0, AtLeast),
    (ACCUM_GREEN_SIZE, 0, 0, AtLeast),
    (ACCUM_BLUE_SIZE, 0, 0, AtLeast),
    (ACCUM_ALPHA_SIZE, 0, 0, AtLeast),
    (CONFIG_CAVEAT, NONE, DONT_CARE, Equal),
    (X_VISUAL_TYPE, DONT_CARE, DONT_CARE, Equal),
    (TRANSPARENT_TYPE, NONE, NONE, Transparency),
    (TRANSPARENT_INDEX_VALUE, DONT_CARE, DONT_CARE, Ignored),
    (TRANSPARENT_RED_VALUE, DONT_CARE, DONT_CARE, Ignored),
    (TRANSPARENT_GREEN_VALUE, DONT_CARE, DONT_CARE, Ignored),
    (TRANSPARENT_BLUE_VALUE, DONT_CARE, DONT_CARE, Ignored),
    (TRANSPARENT_ALPHA_VALUE, DONT_CARE, DONT_CARE, Ignored),
    (FLOAT_COMPONENTS_NV, 0, 0, Equal),
    (FRAMEBUFFER_SRGB_CAPABLE, 0, DONT_CARE, Equal),
    (BIND_TO_TEXTURE_RGB, DONT_CARE, DONT_CARE, Ignored),
    (BIND_TO_TEXTURE_RGBA, DONT_CARE, DONT_CARE, Ignored),
    (BIND_TO_MIPMAP_TEXTURE, DONT_CARE, DONT_CARE, Ignored),
    (BIND_TO_TEXTURE_TARGETS, DONT_CARE, DONT_CARE, Ignored),
    (Y_INVERTED, DONT_CARE, DONT_CARE, Ignored),
    (VISUAL_ID, DONT_CARE, DONT_CARE, Ignored),
    (
        DRAWABLE_TYPE,
        WINDOW_BIT | PIXMAP_BIT | PBUFFER_BIT,
        WINDOW_BIT,
        Mask,
    ),
    (RENDER_TYPE, 0, RGBA_BIT, Mask),
    (X_RENDERABLE, DONT_CARE, DONT_CARE, Equal),
    (FBCONFIG_ID, DONT_CARE, DONT_CARE, Equal),
    (MAX_PBUFFER_WIDTH, 0, 0, AtLeast),
    (MAX_PBUFFER_HEIGHT, 0, 0, AtLeast),
    (MAX_PBUFFER_PIXELS, 0, 0, AtLeast),
    (OPTIMAL_PBUFFER_WIDTH, 0, 0, Ignored),
    (OPTIMAL_PBUFFER_HEIGHT, 0, 0, Ignored),
    (VISUAL_SELECT_GROUP, 0, 0, Ignored),
    (SWAP_METHOD, SWAP_UNDEFINED, DONT_CARE, Equal),
    (SAMPLE_BUFFERS, 0, 0, AtLeast),
    (SAMPLES, 0, 0, AtLeast),
];

/// A value for each attribute: of a config, or of a program's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties([i32; TABLE.len()]);

impl Properties {
    /// A config without any reported values.
    pub fn untold() -> Properties {
        Properties(std::array::from_fn(|i| TABLE[i].1))
    }

    /// The defaults of `glXChooseFBConfig`, for attributes that a program does not name.
    fn unasked() -> Properties {
        Properties(std::array::from_fn(|i| TABLE[i].2))
    }

    pub fn get(&self, name: i32) -> i32 {
        let index = TABLE.iter().position(|a| a.0 == name);
        index.map_or(0, |i| self.0[i])
    }

    /// Sets a value from the X server or a program. Unknown names are ignored.
    pub fn set(&mut self, name: i32, value: i32) {
        let (name, value) = match name {
            RGBA if value != 0 => (RENDER_TYPE, RGBA_BIT),
            RGBA => (RENDER_TYPE, COLOR_INDEX_BIT),
            SWAP_METHOD if !(SWAP_EXCHANGE..=SWAP_UNDEFINED).contains(&value) => {
                (name, SWAP_UNDEFINED)
            }
            _ => (name, value),
        };
        if let Some(index) = TABLE.iter().position(|a| a.0 == name) {
            self.0[index] = value;
        }
    }

    /// Changes the properties of a config or, if `is_visual`, of a visual as Mesa's library does in
    /// this dialect.
    pub fn adapt(&mut self, dialect: Dialect, is_visual: bool) {
        if !dialect.has_swap_method() {
            if let Some(index) = TABLE.iter().position(|a| a.0 == SWAP_METHOD) {
                self.0[index] = UNSAID;
            }
        }
        if is_visual && !dialect.visuals_make_pbuffers() {
            self.set(DRAWABLE_TYPE, WINDOW_BIT | PIXMAP_BIT);
        }
    }

    /// The answer to `glXGetFBConfigAttrib`, if there is one.
    pub fn value(&self, name: i32) -> Option<i32> {
        Some(match name {
            USE_GL => 1,
            RGBA => (self.get(RENDER_TYPE) & COLOR_INDEX_BIT == 0).into(),
            MAX_PBUFFER_WIDTH | MAX_PBUFFER_HEIGHT => MAX_PBUFFER,
            BIND_TO_MIPMAP_TEXTURE => (self.get(name) == 1).into(),
            // Used between the X server and the library only.
            VISUAL_SELECT_GROUP => return None,
            _ => {
                TABLE.iter().find(|a| a.0 == name)?;
                return Some(self.get(name)).filter(|value| *value != UNSAID);
            }
        })
    }

    /// Whether a config with these properties matches `wanted`.
    fn satisfies(&self, wanted: &Properties) -> bool {
        TABLE.iter().enumerate().all(|(i, (_, _, _, rule))| {
            let (have, want) = (self.0[i], wanted.0[i]);
            let any = want == DONT_CARE || have == UNSAID;
            match rule {
                AtLeast => any || have >= want,
                Equal => any || have == want,
                Exact => have == want,
                Mask => any || have & want == want,
                Transparency => any || want == 0 || have == want || (want, have) == (NONE, 0),
                Ignored => true,
            }
        })
    }

    /// The sort key: the best config comes first.
    fn rank(&self) -> impl Ord {
        // Zero comes first, then larger values before smaller ones.
        let larger_or_zero = |name| match self.get(name) {
            0 => i32::MIN,
            bits => -bits,
        };
        let colors = [RED_SIZE, GREEN_SIZE, BLUE_SIZE, ALPHA_SIZE];
        let sums = [
            ACCUM_RED_SIZE,
            ACCUM_GREEN_SIZE,
            ACCUM_BLUE_SIZE,
            ACCUM_ALPHA_SIZE,
        ];
        (
            [VISUAL_SELECT_GROUP, CONFIG_CAVEAT].map(|n| self.get(n)),
            colors.map(larger_or_zero),
            [
                BUFFER_SIZE,
                DOUBLEBUFFER,
                AUX_BUFFERS,
                SAMPLE_BUFFERS,
                SAMPLES,
            ]
            .map(|n| self.get(n)),
            larger_or_zero(DEPTH_SIZE),
            self.get(STENCIL_SIZE),
            sums.map(larger_or_zero),
            self.get(X_VISUAL_TYPE),
            [MAX_PBUFFER_WIDTH, MAX_PBUFFER_HEIGHT, MAX_PBUFFER_PIXELS].map(|n| -self.get(n)),
        )
    }
}

/// The indices of the configs of `all` that match the name and value pairs of `request`, best
/// first.
pub fn choose(all: &[Properties], request: &[(i32, i32)]) -> Vec<usize> {
    let mut wanted = Properties::unasked();
    for (name, value) in request {
        wanted.set(*name, *value);
    }
    let mut found: Vec<usize> = (0..all.len())
        .filter(|i| all[*i].satisfies(&wanted))
        .collect();
    found.sort_by_key(|i| all[*i].rank());
    found
}

/// The best of `all` for `glXChooseVisual`'s list, whose words `next` yields. Booleans in the list
/// have no value.
pub fn choose_visual(all: &[Properties], mut next: impl FnMut() -> i32) -> Option<usize> {
    let mut wanted = Properties::unasked();
    wanted.set(DOUBLEBUFFER, 0);
    wanted.set(RENDER_TYPE, 0);
    loop {
        match next() {
            0 => break,
            USE_GL => {}
            name @ (RGBA | DOUBLEBUFFER | STEREO) => wanted.set(name, 1),
            name => wanted.set(name, next()),
        }
    }
    let fits = (0..all.len()).filter(|i| all[*i].satisfies(&wanted));
    fits.min_by_key(|i| all[*i].rank())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(double: i32, color: [i32; 4], depth: i32, stencil: i32) -> Properties {
        let mut p = Properties::untold();
        p.set(RENDER_TYPE, RGBA_BIT);
        p.set(DOUBLEBUFFER, double);
        p.set(BUFFER_SIZE, color.iter().sum());
        for (n, bits) in color.into_iter().enumerate() {
            p.set(RED_SIZE + n as i32, bits);
        }
        p.set(DEPTH_SIZE, depth);
        p.set(STENCIL_SIZE, stencil);
        p
    }

    fn all() -> Vec<Properties> {
        let mut all = Vec::new();
        for double in [0, 1] {
            for color in [[8, 8, 8, 8], [8, 8, 8, 0], [10, 10, 10, 0]] {
                for (depth, stencil) in [(0, 0), (16, 0), (24, 0), (24, 8)] {
                    all.push(config(double, color, depth, stencil));
                }
            }
        }
        all
    }

    #[test]
    fn newer_releases_say_nothing_of_swapping() {
        let mut config = config(1, [8, 8, 8, 8], 24, 8);
        assert_eq!(config.value(SWAP_METHOD), Some(SWAP_UNDEFINED));
        let exchange = [(SWAP_METHOD, SWAP_EXCHANGE)];
        assert!(choose(&[config], &exchange).is_empty());
        config.adapt(Dialect::of([22, 3, 6]), true);
        assert_eq!(config.value(SWAP_METHOD), Some(SWAP_UNDEFINED));
        assert_eq!(config.value(DRAWABLE_TYPE), Some(7));
        config.adapt(Dialect::of([25, 0, 7]), false);
        assert_eq!(config.value(SWAP_METHOD), None);
        assert_eq!(config.value(DRAWABLE_TYPE), Some(7));
        assert_eq!(choose(&[config], &exchange), [0]);
        config.adapt(Dialect::of([25, 0, 7]), true);
        assert_eq!(config.value(DRAWABLE_TYPE), Some(WINDOW_BIT | PIXMAP_BIT));
    }

    fn best(request: &[(i32, i32)]) -> Option<Properties> {
        let all = all();
        choose(&all, request).first().map(|i| all[*i])
    }

    #[test]
    fn larger_colors_fewer_buffers_and_no_more_than_asked_for() {
        assert_eq!(best(&[]), Some(config(0, [10, 10, 10, 0], 0, 0)));
        let asked = [(DOUBLEBUFFER, 1), (ALPHA_SIZE, 1), (DEPTH_SIZE, 1)];
        assert_eq!(best(&asked), Some(config(1, [8; 4], 24, 0)));
        assert_eq!(
            best(&[(STENCIL_SIZE, 1)]),
            Some(config(0, [10, 10, 10, 0], 24, 8))
        );
        assert_eq!(best(&[(RED_SIZE, 11)]), None);
        assert_eq!(best(&[(0x7777, 1), (STEREO, 1)]), None);
        assert_eq!(choose(&all(), &[(STEREO, DONT_CARE)]).len(), all().len());
        assert_eq!(best(&[(RENDER_TYPE, COLOR_INDEX_BIT)]), None);
    }

    #[test]
    fn visuals_are_single_buffered_unless_asked_otherwise() {
        let all = all();
        let visual = |list: &[i32]| {
            let mut words = list.iter().copied().chain([0]);
            choose_visual(&all, || words.next().unwrap()).map(|i| all[i])
        };
        assert_eq!(visual(&[RGBA]), Some(config(0, [10, 10, 10, 0], 0, 0)));
        let gears = [RGBA, RED_SIZE, 1, DOUBLEBUFFER, DEPTH_SIZE, 1];
        assert_eq!(visual(&gears), Some(config(1, [10, 10, 10, 0], 24, 0)));
        assert_eq!(visual(&[RGBA, STEREO]), None);
        assert_eq!(visual(&[RGBA, AUX_BUFFERS, 1]), None);
    }

    #[test]
    fn what_can_be_asked() {
        let one = config(1, [8; 4], 24, 8);
        assert_eq!(one.value(USE_GL), Some(1));
        assert_eq!(one.value(RGBA), Some(1));
        assert_eq!(one.value(BUFFER_SIZE), Some(32));
        assert_eq!(one.value(VISUAL_SELECT_GROUP), None);
        assert_eq!(one.value(0x7777), None);
    }
}
