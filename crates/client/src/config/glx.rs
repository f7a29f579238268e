//! Choosing by the rules of GLX 1.4, sections 3.3.3 and 3.4 (`glXChooseFBConfig`, `glXChooseVisual`).

use super::{FbConfig, Format};
use std::cmp::Reverse;

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
    pub const ACCUM_ALPHA_SIZE: i32 = 17;
    pub const CONFIG_CAVEAT: i32 = 0x20;
    pub const X_VISUAL_TYPE: i32 = 0x22;
    pub const TRANSPARENT_TYPE: i32 = 0x23;
    pub const TRANSPARENT_INDEX_VALUE: i32 = 0x24;
    pub const TRANSPARENT_ALPHA_VALUE: i32 = 0x28;
    pub const VISUAL_ID: i32 = 0x800B;
    pub const SCREEN: i32 = 0x800C;
    pub const DRAWABLE_TYPE: i32 = 0x8010;
    pub const RENDER_TYPE: i32 = 0x8011;
    pub const X_RENDERABLE: i32 = 0x8012;
    pub const FBCONFIG_ID: i32 = 0x8013;
    pub const MAX_PBUFFER_WIDTH: i32 = 0x8016;
    pub const MAX_PBUFFER_HEIGHT: i32 = 0x8017;
    pub const MAX_PBUFFER_PIXELS: i32 = 0x8018;
    pub const SAMPLE_BUFFERS: i32 = 100_000;
    pub const SAMPLES: i32 = 100_001;
}
use attrib::*;

pub const DONT_CARE: i32 = -1;
pub const NONE: i32 = 0x8000;
pub const SLOW: i32 = 0x8001;
pub const TRUE_COLOR: i32 = 0x8002;
pub const RGBA_BIT: i32 = 1;
pub const WINDOW_BIT: i32 = 1;
pub const PIXMAP_BIT: i32 = 2;
pub const PBUFFER_BIT: i32 = 4;

/// Width and height of the largest pbuffer.
pub const MAX_PBUFFER: i32 = 16384;

/// An attribute name or value that GLX 1.4 does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadAttribute;

/// The value of an attribute that `glXGetFBConfigAttrib` knows. `visual` is the X visual of the config, 0 if it has none.
pub fn value(config: &FbConfig, visual: u32, attribute: i32) -> Option<i32> {
    let f = &config.format;
    Some(match attribute {
        BUFFER_SIZE => f.color_bits(),
        LEVEL | STEREO | AUX_BUFFERS => 0,
        DOUBLEBUFFER => f.double.into(),
        RED_SIZE | GREEN_SIZE | BLUE_SIZE => Format::CHANNEL,
        ALPHA_SIZE => f.alpha.into(),
        DEPTH_SIZE => f.depth.into(),
        STENCIL_SIZE => f.stencil.into(),
        ACCUM_RED_SIZE..=ACCUM_ALPHA_SIZE => f.accum_bits(),
        SAMPLE_BUFFERS => (f.samples > 0).into(),
        SAMPLES => f.samples.into(),
        // Colours are accumulated by the processor.
        CONFIG_CAVEAT if f.accum => SLOW,
        CONFIG_CAVEAT | TRANSPARENT_TYPE => NONE,
        TRANSPARENT_INDEX_VALUE..=TRANSPARENT_ALPHA_VALUE => 0,
        X_VISUAL_TYPE if visual != 0 => TRUE_COLOR,
        X_VISUAL_TYPE => NONE,
        VISUAL_ID => visual as i32,
        SCREEN => config.screen,
        DRAWABLE_TYPE if visual != 0 => WINDOW_BIT | PBUFFER_BIT | PIXMAP_BIT,
        DRAWABLE_TYPE => PBUFFER_BIT,
        RENDER_TYPE => RGBA_BIT,
        X_RENDERABLE => (visual != 0).into(),
        FBCONFIG_ID => config.id as i32,
        MAX_PBUFFER_WIDTH | MAX_PBUFFER_HEIGHT => MAX_PBUFFER,
        MAX_PBUFFER_PIXELS => MAX_PBUFFER * MAX_PBUFFER,
        _ => return None,
    })
}

/// How a request is held against a config.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    AtLeast,
    Exact,
    Mask,
    Ignored,
}

fn rule(attribute: i32) -> Option<Rule> {
    Some(match attribute {
        BUFFER_SIZE | AUX_BUFFERS | RED_SIZE..=ACCUM_ALPHA_SIZE | SAMPLE_BUFFERS | SAMPLES => {
            Rule::AtLeast
        }
        MAX_PBUFFER_WIDTH | MAX_PBUFFER_HEIGHT | MAX_PBUFFER_PIXELS => Rule::AtLeast,
        FBCONFIG_ID | LEVEL | DOUBLEBUFFER | STEREO | X_VISUAL_TYPE | CONFIG_CAVEAT => Rule::Exact,
        X_RENDERABLE | TRANSPARENT_TYPE => Rule::Exact,
        RENDER_TYPE | DRAWABLE_TYPE => Rule::Mask,
        USE_GL | VISUAL_ID | SCREEN | RGBA | TRANSPARENT_INDEX_VALUE..=TRANSPARENT_ALPHA_VALUE => {
            Rule::Ignored
        }
        _ => return None,
    })
}

/// Indices of the configs that satisfy `request` (name, value pairs), best first. `visuals` holds each config's visual.
pub fn choose(
    configs: &[FbConfig],
    visuals: &[Option<u32>],
    request: &[(i32, i32)],
) -> Result<Vec<usize>, BadAttribute> {
    let mut wanted: Vec<(i32, i32)> = vec![
        (LEVEL, 0),
        (STEREO, 0),
        (RENDER_TYPE, RGBA_BIT),
        (DRAWABLE_TYPE, WINDOW_BIT),
        (TRANSPARENT_TYPE, NONE),
    ];
    for (name, value) in request {
        rule(*name).ok_or(BadAttribute)?;
        if *value < 0 && *value != DONT_CARE {
            return Err(BadAttribute);
        }
        wanted.retain(|(n, _)| n != name);
        wanted.push((*name, *value));
    }
    if let Some((_, id)) = wanted.iter().find(|(n, _)| *n == FBCONFIG_ID) {
        // An id says it all; every other attribute is then ignored.
        if *id != DONT_CARE {
            return Ok((0..configs.len())
                .filter(|i| configs[*i].id as i32 == *id)
                .collect());
        }
    }
    let visual = |i: usize| visuals[i].unwrap_or(0);
    let mut found: Vec<usize> = (0..configs.len())
        .filter(|i| {
            wanted
                .iter()
                .all(|(name, want)| satisfies(&configs[*i], visual(*i), *name, *want))
        })
        .collect();
    let asked_color = |name: i32| wanted.iter().any(|(n, v)| *n == name && *v > 0);
    found.sort_by_key(|i| {
        let f = &configs[*i].format;
        let mut color = 0;
        for channel in [RED_SIZE, GREEN_SIZE, BLUE_SIZE] {
            color += Format::CHANNEL * i32::from(asked_color(channel));
        }
        color += i32::from(f.alpha) * i32::from(asked_color(ALPHA_SIZE));
        (
            // The caveat.
            f.accum,
            Reverse(color),
            f.color_bits(),
            f.double,
            f.samples,
            // The table says "larger"; like other drivers, who does not ask for depth gets none.
            (f.depth > 0, Reverse(f.depth)),
            f.stencil,
            configs[*i].id,
        )
    });
    Ok(found)
}

fn satisfies(config: &FbConfig, visual: u32, name: i32, want: i32) -> bool {
    if want == DONT_CARE && name != LEVEL {
        return true;
    }
    let Some(have) = value(config, visual, name) else {
        return true;
    };
    match rule(name) {
        Some(Rule::AtLeast) => have >= want,
        Some(Rule::Exact) => have == want,
        Some(Rule::Mask) => have & want == want,
        Some(Rule::Ignored) | None => true,
    }
}

/// The best config for `glXChooseVisual`'s list, in which booleans stand alone. `None` where nothing fits or the list is wrong.
///
/// Only configs that own their visual take part: those that share one with a better config cannot be named by it.
pub fn choose_visual(
    configs: &[FbConfig],
    visuals: &[Option<u32>],
    request: &VisualRequest,
) -> Option<usize> {
    if !request.rgba {
        // Color index visuals do not exist here.
        return None;
    }
    let size = |want: i32, have: i32| -> i32 {
        // A size of zero prefers the smallest, any other the largest.
        if want == 0 {
            have
        } else {
            -have
        }
    };
    (0..configs.len())
        .filter(|i| {
            let f = &configs[*i].format;
            visuals[*i].is_some_and(|v| super::config_of_visual(configs, visuals, v) == Some(*i))
                && f.double == request.double
                && !request.stereo
                && request.level == 0
                && request.aux <= 0
                && request.accum <= f.accum_bits()
                && request.color.iter().all(|c| *c <= Format::CHANNEL)
                && i32::from(f.alpha) >= request.alpha
                && i32::from(f.depth) >= request.depth
                && i32::from(f.stencil) >= request.stencil
                && i32::from(f.samples) >= request.samples
                && i32::from(f.samples > 0) >= request.sample_buffers
        })
        .min_by_key(|i| {
            let f = &configs[*i].format;
            (
                f.accum,
                f.samples,
                size(request.alpha, f.alpha.into()),
                size(request.depth, f.depth.into()),
                size(request.stencil, f.stencil.into()),
                configs[*i].visual_depth,
                configs[*i].id,
            )
        })
}

/// What a program asks of `glXChooseVisual`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VisualRequest {
    pub rgba: bool,
    pub double: bool,
    pub stereo: bool,
    pub level: i32,
    pub aux: i32,
    pub color: [i32; 3],
    pub alpha: i32,
    pub depth: i32,
    pub stencil: i32,
    pub accum: i32,
    pub samples: i32,
    pub sample_buffers: i32,
}

impl VisualRequest {
    /// Reads a list that ends with 0; `next` yields its words one by one.
    pub fn parse(mut next: impl FnMut() -> i32) -> Result<VisualRequest, BadAttribute> {
        let mut request = VisualRequest::default();
        loop {
            match next() {
                0 => return Ok(request),
                USE_GL => {}
                RGBA => request.rgba = true,
                DOUBLEBUFFER => request.double = true,
                STEREO => request.stereo = true,
                LEVEL => request.level = next(),
                AUX_BUFFERS => request.aux = next(),
                RED_SIZE => request.color[0] = next(),
                GREEN_SIZE => request.color[1] = next(),
                BLUE_SIZE => request.color[2] = next(),
                ALPHA_SIZE => request.alpha = next(),
                DEPTH_SIZE => request.depth = next(),
                STENCIL_SIZE => request.stencil = next(),
                ACCUM_RED_SIZE..=ACCUM_ALPHA_SIZE => request.accum = request.accum.max(next()),
                SAMPLES => request.samples = next(),
                SAMPLE_BUFFERS => request.sample_buffers = next(),
                name if rule(name).is_some() => {
                    next();
                }
                _ => return Err(BadAttribute),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{formats, many_visuals};
    use super::super::{assign_visuals, fb_configs};
    use super::*;
    use crate::x11::xlib::VisualOf;

    fn chosen(request: &[(i32, i32)]) -> Vec<FbConfig> {
        let configs = fb_configs(&formats(), 0);
        let visuals = assign_visuals(&configs, &many_visuals());
        let found = choose(&configs, &visuals, request).unwrap();
        found.into_iter().map(|i| configs[i]).collect()
    }

    fn visual_for(list: &[i32], visuals: &[VisualOf]) -> Option<Format> {
        let configs = fb_configs(&formats(), 0);
        let assigned = assign_visuals(&configs, visuals);
        let mut words = list.iter().copied().chain([0]);
        let request = VisualRequest::parse(|| words.next().unwrap()).ok()?;
        choose_visual(&configs, &assigned, &request).map(|i| configs[i].format)
    }

    #[test]
    fn nothing_asked_lists_every_config_single_buffered_first() {
        let all = chosen(&[]);
        assert_eq!(all.len(), fb_configs(&formats(), 0).len());
        let f = all[0].format;
        assert_eq!((f.alpha, f.double, f.samples, f.depth), (0, false, 0, 0));
        assert_eq!(f.stencil, 0);
    }

    #[test]
    fn larger_colors_win_only_where_asked_for() {
        let with = chosen(&[(DOUBLEBUFFER, 1), (RED_SIZE, 1), (ALPHA_SIZE, 1)])[0];
        assert_eq!(with.format.alpha, 8);
        let without = chosen(&[(DOUBLEBUFFER, 1), (RED_SIZE, 1)])[0];
        assert_eq!(without.format.alpha, 0);
        assert!(chosen(&[(RED_SIZE, 9)]).is_empty());
    }

    #[test]
    fn deeper_wins_and_fewer_stencil_bits_win() {
        let c = chosen(&[(DOUBLEBUFFER, 1), (DEPTH_SIZE, 1)])[0];
        assert_eq!((c.format.depth, c.format.stencil), (24, 0));
        let c = chosen(&[(DOUBLEBUFFER, 1), (STENCIL_SIZE, 1)])[0];
        assert_eq!((c.format.depth, c.format.stencil), (24, 8));
    }

    #[test]
    fn multisampling_is_given_only_when_asked_for() {
        assert_eq!(chosen(&[(DOUBLEBUFFER, 1)])[0].format.samples, 0);
        let c = chosen(&[(SAMPLE_BUFFERS, 1), (SAMPLES, 2)]);
        assert!(c.iter().all(|c| c.format.samples == 4) && !c.is_empty());
        assert!(chosen(&[(SAMPLES, 8)]).is_empty());
    }

    #[test]
    fn masks_ids_and_mistakes() {
        assert!(chosen(&[(RENDER_TYPE, 2)]).is_empty());
        assert!(!chosen(&[(DRAWABLE_TYPE, PBUFFER_BIT | WINDOW_BIT)]).is_empty());
        assert!(chosen(&[(STEREO, 1)]).is_empty());
        assert!(chosen(&[(X_VISUAL_TYPE, 0x8003)]).is_empty());
        let id = chosen(&[])[5].id as i32;
        let one = chosen(&[(FBCONFIG_ID, id), (STEREO, 1)]);
        assert_eq!((one.len(), one[0].id as i32), (1, id));
        let configs = fb_configs(&formats(), 0);
        let visuals = vec![None; configs.len()];
        assert_eq!(
            choose(&configs, &visuals, &[(0x7777, 1)]),
            Err(BadAttribute)
        );
        assert_eq!(
            choose(&configs, &visuals, &[(DEPTH_SIZE, -2)]),
            Err(BadAttribute)
        );
        assert_eq!(
            choose(&configs, &visuals, &[]),
            Ok(vec![]),
            "no visual, no window"
        );
        let pbuffers = choose(&configs, &visuals, &[(DRAWABLE_TYPE, PBUFFER_BIT)]).unwrap();
        assert_eq!(pbuffers.len(), configs.len());
    }

    #[test]
    fn visuals_as_common_programs_ask() {
        let many = many_visuals();
        let gears = [
            RGBA,
            RED_SIZE,
            1,
            GREEN_SIZE,
            1,
            BLUE_SIZE,
            1,
            DOUBLEBUFFER,
            DEPTH_SIZE,
            1,
        ];
        let f = visual_for(&gears, &many).unwrap();
        assert_eq!(
            (f.alpha, f.depth, f.stencil, f.samples, f.double),
            (0, 24, 0, 0, true)
        );
        let f = visual_for(&[RGBA, ALPHA_SIZE, 8, STENCIL_SIZE, 1], &many).unwrap();
        assert_eq!((f.alpha, f.stencil, f.double), (8, 8, false));
        let f = visual_for(&[RGBA], &many).unwrap();
        assert_eq!((f.depth, f.stencil, f.double), (0, 0, false));
        let f = visual_for(&[RGBA, SAMPLE_BUFFERS, 1, SAMPLES, 4, DOUBLEBUFFER], &many).unwrap();
        assert_eq!(f.samples, 4);
        assert_eq!(visual_for(&[DOUBLEBUFFER], &many), None, "color index");
        assert_eq!(visual_for(&[RGBA, ACCUM_RED_SIZE, 8], &many), None);
        assert_eq!(visual_for(&[RGBA, 0x7777], &many), None);
    }

    #[test]
    fn an_x_server_with_one_visual_serves_the_common_case() {
        let one = [VisualOf {
            id: 0x21,
            depth: 24,
        }];
        let f = visual_for(&[RGBA, DOUBLEBUFFER, DEPTH_SIZE, 16], &one).unwrap();
        assert_eq!((f.depth, f.stencil), (24, 8));
        assert_eq!(visual_for(&[RGBA], &one), None, "single buffered");
    }
}
