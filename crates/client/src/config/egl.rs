//! Chooses configs by the rules of EGL 1.5, section 3.4.1 (`eglChooseConfig`).

use super::{Format, VisualOf};
use std::cmp::Reverse;

pub mod attrib {
    pub const BUFFER_SIZE: i32 = 0x3020;
    pub const ALPHA_SIZE: i32 = 0x3021;
    pub const BLUE_SIZE: i32 = 0x3022;
    pub const GREEN_SIZE: i32 = 0x3023;
    pub const RED_SIZE: i32 = 0x3024;
    pub const DEPTH_SIZE: i32 = 0x3025;
    pub const STENCIL_SIZE: i32 = 0x3026;
    pub const CONFIG_CAVEAT: i32 = 0x3027;
    pub const CONFIG_ID: i32 = 0x3028;
    pub const LEVEL: i32 = 0x3029;
    pub const MAX_PBUFFER_HEIGHT: i32 = 0x302A;
    pub const MAX_PBUFFER_PIXELS: i32 = 0x302B;
    pub const MAX_PBUFFER_WIDTH: i32 = 0x302C;
    pub const NATIVE_RENDERABLE: i32 = 0x302D;
    pub const NATIVE_VISUAL_ID: i32 = 0x302E;
    pub const NATIVE_VISUAL_TYPE: i32 = 0x302F;
    pub const SAMPLES: i32 = 0x3031;
    pub const SAMPLE_BUFFERS: i32 = 0x3032;
    pub const SURFACE_TYPE: i32 = 0x3033;
    pub const TRANSPARENT_TYPE: i32 = 0x3034;
    pub const TRANSPARENT_BLUE_VALUE: i32 = 0x3035;
    pub const TRANSPARENT_GREEN_VALUE: i32 = 0x3036;
    pub const TRANSPARENT_RED_VALUE: i32 = 0x3037;
    pub const BIND_TO_TEXTURE_RGB: i32 = 0x3039;
    pub const BIND_TO_TEXTURE_RGBA: i32 = 0x303A;
    pub const MIN_SWAP_INTERVAL: i32 = 0x303B;
    pub const MAX_SWAP_INTERVAL: i32 = 0x303C;
    pub const LUMINANCE_SIZE: i32 = 0x303D;
    pub const ALPHA_MASK_SIZE: i32 = 0x303E;
    pub const COLOR_BUFFER_TYPE: i32 = 0x303F;
    pub const RENDERABLE_TYPE: i32 = 0x3040;
    pub const MATCH_NATIVE_PIXMAP: i32 = 0x3041;
    pub const CONFORMANT: i32 = 0x3042;
    pub const COLOR_COMPONENT_TYPE: i32 = 0x3339;
    pub const CONFIG_SELECT_GROUP: i32 = 0x34C0;
}
use attrib::*;

pub const DONT_CARE: i32 = -1;
pub const NONE: i32 = 0x3038;
pub const RGB_BUFFER: i32 = 0x308E;
pub const PBUFFER_BIT: i32 = 1;
pub const WINDOW_BIT: i32 = 4;
pub const PIXMAP_BIT: i32 = 2;
const FIXED: i32 = 0x333A;
const FLOAT: i32 = 0x333B;
pub const ES_BIT: i32 = 1;
pub const ES2_BIT: i32 = 4;
pub const GL_BIT: i32 = 8;
pub const ES3_BIT: i32 = 0x40;
const SWAP_BEHAVIOR_PRESERVED_BIT: i32 = 0x400;
/// The bits that exist, whether or not any config has them.
const APIS: i32 = ES_BIT | 2 | ES2_BIT | GL_BIT | ES3_BIT;
const SURFACES: i32 = 0x7E7;
pub const MAX_PBUFFER: i32 = 4096;
/// The only swap interval: frames are shown as fast as they come, whatever a program asks for.
pub const SWAP_INTERVAL: i32 = 1;

/// A format as an EGL config. Its address is the program's `EGLConfig`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    pub id: i32,
    pub format: Format,
    /// The X visual of matching windows; none on the surfaceless platform.
    pub visual: Option<VisualOf>,
    /// `EGL_RENDERABLE_TYPE`: the client APIs, as the server's driver names them.
    pub renderable: i32,
    /// `EGL_CONFIG_SELECT_GROUP_EXT`, for displays that have the extension.
    pub group: Option<i32>,
}

impl Config {
    /// The group of configs for windows of a visual. Visuals of depth 32 come last, because a
    /// compositor would show what is behind their windows.
    pub fn group_of(visual: Option<&VisualOf>) -> i32 {
        visual.is_some_and(|v| v.depth == 32).into()
    }
}

/// Extensions of a display that depend on the server's driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extensions {
    /// EGL_EXT_config_select_group.
    pub select_group: bool,
}

impl Extensions {
    pub const SELECT_GROUP: &str = "EGL_EXT_config_select_group";

    /// The supported extensions among those that a driver lists.
    pub fn of(listed: &[String]) -> Extensions {
        let has = |name: &str| listed.iter().any(|there| there == name);
        Extensions {
            select_group: has(Extensions::SELECT_GROUP),
        }
    }
}

/// An attribute name or value that EGL 1.5 does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadAttribute;

/// The value of an attribute that `eglGetConfigAttrib` knows.
pub fn value(config: &Config, attribute: i32) -> Option<i32> {
    let f = &config.format;
    Some(match attribute {
        BUFFER_SIZE => f.color_bits(),
        RED_SIZE => f.channels()[0],
        GREEN_SIZE => f.channels()[1],
        BLUE_SIZE => f.channels()[2],
        ALPHA_SIZE => f.alpha.into(),
        DEPTH_SIZE => f.depth.into(),
        STENCIL_SIZE => f.stencil.into(),
        SAMPLES => f.samples.into(),
        SAMPLE_BUFFERS => (f.samples > 0).into(),
        CONFIG_CAVEAT | TRANSPARENT_TYPE => NONE,
        CONFIG_ID => config.id,
        COLOR_COMPONENT_TYPE if f.color.is_float() => FLOAT,
        COLOR_COMPONENT_TYPE => FIXED,
        LEVEL | LUMINANCE_SIZE | ALPHA_MASK_SIZE | MAX_PBUFFER_PIXELS => 0,
        MAX_PBUFFER_WIDTH | MAX_PBUFFER_HEIGHT => MAX_PBUFFER,
        NATIVE_RENDERABLE => 1,
        NATIVE_VISUAL_ID => config.visual.map_or(0, |v| v.id as i32),
        NATIVE_VISUAL_TYPE => config.visual.map_or(NONE, |v| v.class.into()),
        SURFACE_TYPE if config.visual.is_some() => {
            WINDOW_BIT | PIXMAP_BIT | PBUFFER_BIT | SWAP_BEHAVIOR_PRESERVED_BIT
        }
        SURFACE_TYPE => PBUFFER_BIT,
        TRANSPARENT_RED_VALUE | TRANSPARENT_GREEN_VALUE | TRANSPARENT_BLUE_VALUE => 0,
        BIND_TO_TEXTURE_RGB => 1,
        BIND_TO_TEXTURE_RGBA => (f.alpha > 0).into(),
        MIN_SWAP_INTERVAL | MAX_SWAP_INTERVAL => SWAP_INTERVAL,
        COLOR_BUFFER_TYPE => RGB_BUFFER,
        RENDERABLE_TYPE | CONFORMANT => config.renderable,
        CONFIG_SELECT_GROUP => return config.group,
        _ => return None,
    })
}

enum Rule {
    AtLeast,
    Exact,
    Mask,
    Ignored,
}

fn rule(attribute: i32, extensions: Extensions) -> Option<Rule> {
    Some(match attribute {
        // It affects the order of configs, for any request.
        CONFIG_SELECT_GROUP if extensions.select_group => Rule::Ignored,
        BUFFER_SIZE | RED_SIZE | GREEN_SIZE | BLUE_SIZE | ALPHA_SIZE | LUMINANCE_SIZE => {
            Rule::AtLeast
        }
        ALPHA_MASK_SIZE | DEPTH_SIZE | STENCIL_SIZE | SAMPLES | SAMPLE_BUFFERS => Rule::AtLeast,
        CONFIG_CAVEAT | CONFIG_ID | LEVEL | NATIVE_RENDERABLE | NATIVE_VISUAL_TYPE => Rule::Exact,
        TRANSPARENT_TYPE | TRANSPARENT_RED_VALUE | TRANSPARENT_GREEN_VALUE => Rule::Exact,
        TRANSPARENT_BLUE_VALUE | BIND_TO_TEXTURE_RGB | BIND_TO_TEXTURE_RGBA => Rule::Exact,
        MIN_SWAP_INTERVAL | MAX_SWAP_INTERVAL | COLOR_BUFFER_TYPE => Rule::Exact,
        COLOR_COMPONENT_TYPE => Rule::Exact,
        SURFACE_TYPE | RENDERABLE_TYPE | CONFORMANT => Rule::Mask,
        MAX_PBUFFER_WIDTH | MAX_PBUFFER_HEIGHT | MAX_PBUFFER_PIXELS | NATIVE_VISUAL_ID => {
            Rule::Ignored
        }
        MATCH_NATIVE_PIXMAP => Rule::Ignored,
        _ => return None,
    })
}

/// Indices of the configs that satisfy `request` (name, value pairs), best first.
pub fn choose(
    configs: &[Config],
    extensions: Extensions,
    request: &[(i32, i32)],
) -> Result<Vec<usize>, BadAttribute> {
    let mut wanted: Vec<(i32, i32)> = vec![
        (COLOR_BUFFER_TYPE, RGB_BUFFER),
        (COLOR_COMPONENT_TYPE, FIXED),
        (LEVEL, 0),
        (RENDERABLE_TYPE, ES_BIT),
        (SURFACE_TYPE, WINDOW_BIT),
        (TRANSPARENT_TYPE, NONE),
    ];
    for (name, value) in request {
        rule(*name, extensions).ok_or(BadAttribute)?;
        if !valid(*name, *value) {
            return Err(BadAttribute);
        }
        wanted.retain(|(n, _)| n != name);
        wanted.push((*name, *value));
    }
    // The visual type of windows does not matter to a program that wants no windows.
    let windows = wanted
        .iter()
        .any(|(n, v)| *n == SURFACE_TYPE && v & WINDOW_BIT != 0);
    wanted.retain(|(n, _)| windows || *n != NATIVE_VISUAL_TYPE);
    let transparent = wanted.contains(&(TRANSPARENT_TYPE, 0x3052));
    wanted.retain(|(n, v)| {
        let color = (TRANSPARENT_BLUE_VALUE..=TRANSPARENT_RED_VALUE).contains(n);
        (transparent || !color) && (*v != DONT_CARE || *n == LEVEL)
    });
    if let Some(id) = wanted.iter().find(|(n, _)| *n == CONFIG_ID) {
        // With an id, every other attribute is ignored.
        return Ok((0..configs.len())
            .filter(|i| configs[*i].id == id.1)
            .collect());
    }
    let mut found: Vec<usize> = (0..configs.len())
        .filter(|i| {
            let config = &configs[*i];
            let mut all = wanted.iter();
            all.all(|(n, v)| satisfies(config, extensions, *n, *v))
        })
        .collect();
    let asked = |name: i32| wanted.iter().any(|(n, v)| *n == name && *v > 0);
    found.sort_by_key(|i| {
        let f = &configs[*i].format;
        let names = [RED_SIZE, GREEN_SIZE, BLUE_SIZE, ALPHA_SIZE];
        let bits = names.into_iter().zip(f.channels());
        let color: i32 = bits.map(|(n, b)| b * i32::from(asked(n))).sum();
        (
            configs[*i].group,
            Reverse(color),
            f.color_bits(),
            f.samples,
            f.depth,
            f.stencil,
            configs[*i].id,
        )
    });
    Ok(found)
}

/// A value outside an attribute's domain is an error, not a request without matches.
fn valid(name: i32, value: i32) -> bool {
    if value == DONT_CARE {
        return name != LEVEL;
    }
    match name {
        CONFIG_CAVEAT => [NONE, 0x3050, 0x3051].contains(&value),
        COLOR_BUFFER_TYPE => [RGB_BUFFER, 0x308F].contains(&value),
        COLOR_COMPONENT_TYPE => [FIXED, FLOAT].contains(&value),
        TRANSPARENT_TYPE => [NONE, 0x3052].contains(&value),
        NATIVE_RENDERABLE | BIND_TO_TEXTURE_RGB | BIND_TO_TEXTURE_RGBA => [0, 1].contains(&value),
        SAMPLE_BUFFERS => [0, 1].contains(&value),
        CONFIG_ID => value > 0,
        RENDERABLE_TYPE | CONFORMANT => value & !APIS == 0,
        SURFACE_TYPE => value & !SURFACES == 0,
        LEVEL | NATIVE_VISUAL_TYPE | NATIVE_VISUAL_ID => true,
        _ => value >= 0,
    }
}

fn satisfies(config: &Config, extensions: Extensions, name: i32, want: i32) -> bool {
    let Some(have) = value(config, name) else {
        return true;
    };
    match rule(name, extensions) {
        Some(Rule::AtLeast) => have >= want,
        Some(Rule::Exact) => have == want,
        Some(Rule::Mask) => have & want == want,
        Some(Rule::Ignored) | None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::formats;
    use super::*;

    fn configs(visual: u32) -> Vec<Config> {
        let visual = (visual != 0).then_some(VisualOf {
            id: visual,
            depth: 24,
            class: 4,
            bits: [8; 3],
        });
        (1..)
            .zip(formats().into_iter().filter(|f| f.double))
            .map(|(id, format)| Config {
                id,
                format,
                visual,
                renderable: ES_BIT | ES2_BIT | ES3_BIT | GL_BIT,
                group: None,
            })
            .collect()
    }

    const NONE_OF_THEM: Extensions = Extensions {
        select_group: false,
    };

    fn chosen(request: &[(i32, i32)]) -> Vec<Config> {
        let all = configs(0x21);
        let found = choose(&all, NONE_OF_THEM, request).unwrap();
        found.into_iter().map(|i| all[i]).collect()
    }

    #[test]
    fn less_depth_and_stencil_come_first() {
        let f = chosen(&[])[0].format;
        assert_eq!((f.alpha, f.depth, f.stencil, f.samples), (0, 0, 0, 0));
        let gears = [
            (RED_SIZE, 1),
            (GREEN_SIZE, 1),
            (BLUE_SIZE, 1),
            (DEPTH_SIZE, 1),
        ];
        let f = chosen(&gears)[0].format;
        assert_eq!((f.alpha, f.depth, f.stencil, f.samples), (0, 24, 0, 0));
        let f = chosen(&[(ALPHA_SIZE, 1), (STENCIL_SIZE, 1)])[0].format;
        assert_eq!((f.alpha, f.depth, f.stencil), (8, 24, 8));
    }

    #[test]
    fn visuals_of_32_bits_come_last() {
        let mut all = configs(0x21);
        let deep = VisualOf {
            id: 0x40,
            depth: 32,
            class: 4,
            bits: [8; 3],
        };
        let plain = all.len();
        for n in 0..plain {
            all.push(Config {
                id: all.len() as i32 + 1,
                visual: Some(deep),
                ..all[n]
            });
        }
        for config in &mut all {
            config.group = Some(Config::group_of(config.visual.as_ref()));
        }
        let extensions = Extensions { select_group: true };
        let ids = |request: &[(i32, i32)]| -> Vec<i32> {
            let found = choose(&all, extensions, request).unwrap();
            found.into_iter().map(|i| all[i].id).collect()
        };
        let is_deep = |id: &i32| *id > plain as i32;
        let alpha = ids(&[(ALPHA_SIZE, 8), (RED_SIZE, 8)]);
        assert!(!is_deep(&alpha[0]) && is_deep(alpha.last().unwrap()));
        assert!(alpha.is_sorted_by_key(is_deep), "{alpha:?}");
        assert_eq!(ids(&[(CONFIG_SELECT_GROUP, 1)]).len(), all.len());
        let unknown = choose(&all, NONE_OF_THEM, &[(CONFIG_SELECT_GROUP, 1)]);
        assert_eq!(unknown, Err(BadAttribute));
    }

    #[test]
    fn dont_care_does_not_prefer() {
        let f = chosen(&[(ALPHA_SIZE, DONT_CARE), (RED_SIZE, 8)])[0].format;
        assert_eq!(f.alpha, 0);
        assert_eq!(chosen(&[(SURFACE_TYPE, DONT_CARE)]).len(), configs(1).len());
    }

    #[test]
    fn ids_masks_and_mistakes() {
        let one = chosen(&[(CONFIG_ID, 3), (DEPTH_SIZE, 99)]);
        assert_eq!((one.len(), one[0].id), (1, 3));
        assert!(chosen(&[(CONFIG_ID, 999)]).is_empty());
        assert!(chosen(&[(RENDERABLE_TYPE, 2)]).is_empty(), "OpenVG");
        assert!(!chosen(&[(RENDERABLE_TYPE, GL_BIT | ES2_BIT)]).is_empty());
        assert!(chosen(&[(TRANSPARENT_TYPE, 0x3052)]).is_empty());
        let all = configs(0);
        assert_eq!(
            choose(&all, NONE_OF_THEM, &[(0x1234, 0)]),
            Err(BadAttribute)
        );
        assert_eq!(
            choose(&all, NONE_OF_THEM, &[(DEPTH_SIZE, -3)]),
            Err(BadAttribute)
        );
        assert_eq!(
            choose(&all, NONE_OF_THEM, &[(LEVEL, DONT_CARE)]),
            Err(BadAttribute)
        );
        assert_eq!(
            choose(&all, NONE_OF_THEM, &[(CONFIG_CAVEAT, 7)]),
            Err(BadAttribute)
        );
        assert_eq!(
            choose(&all, NONE_OF_THEM, &[]),
            Ok(vec![]),
            "no windows without a visual"
        );
        let surfaceless = choose(&all, NONE_OF_THEM, &[(SURFACE_TYPE, PBUFFER_BIT)]).unwrap();
        assert_eq!(surfaceless.len(), all.len());
    }
}
