//! The configs and visuals of a screen as GLX programs see them.
//!
//! They are those that the X server lists, if the render server has their formats. So ids, visuals
//! and choices are the same as with a local driver. If the X server's list is unusable, the
//! server's formats are listed, each with a visual.

use super::glx::attrib::*;
use super::glx::{self, Properties};
use super::{Format, VisualOf};
use mgn_wire::hello::Color;

/// A config, or the properties of a visual. Its address is the program's `GLXFBConfig`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FbConfig {
    /// `GLX_FBCONFIG_ID`.
    pub id: u32,
    /// The X visual of its windows; 0 for none.
    pub visual: u32,
    pub screen: i32,
    pub format: Format,
    pub properties: Properties,
}

/// A screen. Visuals have their own properties, because the X server may report other values for
/// them than for configs.
#[derive(Debug, Default)]
pub struct Screen {
    pub number: i32,
    pub configs: Vec<FbConfig>,
    pub visuals: Vec<FbConfig>,
}

impl Screen {
    /// The config of a window with `visual`.
    pub fn of_visual(&self, visual: u32) -> Option<&FbConfig> {
        self.visuals.iter().find(|c| c.visual == visual)
    }

    /// The `GLX_FBCONFIG_ID` that the X server gives to windows and pixmaps of `visual`, which is
    /// not in the list of visuals; 0 if no config has that visual.
    pub fn id_of_visual(&self, visual: u32) -> u32 {
        let config = self.configs.iter().find(|c| c.visual == visual);
        config.map_or(0, |c| c.id)
    }

    /// The screen from the X server's lists; `None` if none of its formats can be rendered.
    pub fn told(
        number: i32,
        formats: &[Format],
        configs: &[Properties],
        visuals: &[Properties],
    ) -> Option<Screen> {
        let known = |list: &[Properties]| -> Vec<FbConfig> {
            let fit = list.iter().filter_map(|p| {
                let mut properties = *p;
                let mut format = format_of(p, formats)?;
                if p.get(FRAMEBUFFER_SRGB_CAPABLE) == 1 {
                    match format.with_srgb() {
                        Some(srgb) => format = srgb,
                        // A visual must not be left out, so it is listed without sRGB.
                        None => properties.set(FRAMEBUFFER_SRGB_CAPABLE, 0),
                    }
                }
                Some(FbConfig {
                    id: p.get(FBCONFIG_ID) as u32,
                    visual: p.get(VISUAL_ID).max(0) as u32,
                    screen: number,
                    format,
                    properties,
                })
            });
            fit.collect()
        };
        let screen = Screen {
            number,
            configs: known(configs),
            visuals: known(visuals),
        };
        (!screen.configs.is_empty() && !screen.visuals.is_empty()).then_some(screen)
    }

    /// The screen from the server's formats: formats with 8 bits per channel on windows of depth
    /// 24, and formats with alpha again on depth 32.
    ///
    /// `visuals` begins with the screen's default visual, so that the config that most programs
    /// want gets it. Each config has its own visual. If there are too few, the last ones are
    /// shared.
    pub fn made(number: i32, formats: &[Format], visuals: &[VisualOf]) -> Screen {
        /// The first `GLX_FBCONFIG_ID`, which is larger than any id of an X visual.
        const FIRST_ID: u32 = 0x4d00;
        let mut formats: Vec<Format> = formats
            .iter()
            .filter(|f| f.color == Color::Rgb8)
            .copied()
            .collect();
        formats.sort_by_key(by_preference);
        let mut screen = Screen {
            number,
            ..Screen::default()
        };
        let mut id = FIRST_ID;
        for depth in [24, 32] {
            let fit = |v: &&VisualOf| v.depth == depth && v.class == 4 && v.bits == [8; 3];
            let mut own = visuals.iter().filter(fit).map(|v| v.id).peekable();
            let mut last = 0;
            for format in formats.iter().filter(|f| depth == 24 || f.alpha > 0) {
                let is_own = own.peek().is_some();
                last = own.next().unwrap_or(last);
                let config = FbConfig {
                    id,
                    visual: last,
                    screen: number,
                    format: *format,
                    properties: describe(format, id, last),
                };
                screen.configs.push(config);
                if is_own {
                    screen.visuals.push(config);
                }
                id += 1;
            }
        }
        screen
    }
}

/// The format for properties that the X server lists. None for overlays, and for buffers that the
/// render server lacks.
fn format_of(p: &Properties, formats: &[Format]) -> Option<Format> {
    let channels = [RED_SIZE, GREEN_SIZE, BLUE_SIZE, ALPHA_SIZE].map(|n| p.get(n));
    let render_type = p.get(RENDER_TYPE);
    let lacking = [LEVEL, STEREO, AUX_BUFFERS];
    if lacking.iter().any(|n| p.get(*n) != 0) {
        return None;
    }
    let accum = p.get(ACCUM_RED_SIZE);
    let is = |f: &&Format| {
        let color = f.channels() == channels
            && match f.color.is_float() {
                true => render_type == glx::FLOAT_BIT,
                false => render_type == glx::RGBA_BIT,
            };
        let rest = [f.depth, f.stencil, f.samples, f.double.into()].map(i32::from);
        color
            && f.accum_bits() == accum
            && rest == [DEPTH_SIZE, STENCIL_SIZE, SAMPLES, DOUBLEBUFFER].map(|n| p.get(n))
    };
    formats.iter().find(is).copied()
}

fn describe(format: &Format, id: u32, visual: u32) -> Properties {
    let [red, green, blue, alpha] = format.channels();
    let drawables = match visual {
        0 => glx::PBUFFER_BIT,
        _ => glx::WINDOW_BIT | glx::PIXMAP_BIT | glx::PBUFFER_BIT,
    };
    let mut properties = Properties::untold();
    for (name, value) in [
        (FBCONFIG_ID, id as i32),
        (VISUAL_ID, visual as i32),
        (X_RENDERABLE, (visual != 0).into()),
        (X_VISUAL_TYPE, glx::TRUE_COLOR),
        (DRAWABLE_TYPE, drawables),
        (RENDER_TYPE, glx::RGBA_BIT),
        (BUFFER_SIZE, format.color_bits()),
        (RED_SIZE, red),
        (GREEN_SIZE, green),
        (BLUE_SIZE, blue),
        (ALPHA_SIZE, alpha),
        (DEPTH_SIZE, format.depth.into()),
        (STENCIL_SIZE, format.stencil.into()),
        (SAMPLES, format.samples.into()),
        (SAMPLE_BUFFERS, (format.samples > 0).into()),
        (DOUBLEBUFFER, format.double.into()),
        (
            CONFIG_CAVEAT,
            if format.accum { glx::SLOW } else { glx::NONE },
        ),
    ] {
        properties.set(name, value);
    }
    for name in ACCUM_RED_SIZE..=ACCUM_ALPHA_SIZE {
        properties.set(name, format.accum_bits());
    }
    properties
}

/// The order in which visuals are listed. First come those that suit a program that accepts any:
/// double buffered, with depth, stencil and alpha, not multisampled, without an accumulation
/// buffer.
fn by_preference(f: &Format) -> impl Ord {
    let lacks = [!f.double, f.depth == 0, f.stencil == 0, f.alpha == 0];
    (f.accum, f.samples, lacks)
}

#[cfg(test)]
mod tests {
    use super::super::tests::formats;
    use super::*;

    fn visual(id: u32, depth: u8) -> VisualOf {
        VisualOf {
            id,
            depth,
            class: 4,
            bits: [8; 3],
        }
    }

    #[test]
    fn each_config_has_its_own_visual_where_there_are_enough() {
        let shallow = (0x21..0x80).map(|id| visual(id, 24));
        let deep = (0x80..0xe0).map(|id| visual(id, 32));
        let screen = Screen::made(0, &formats(), &shallow.chain(deep).collect::<Vec<_>>());
        assert_eq!(screen.configs.len(), formats().len() * 3 / 2);
        assert_eq!(screen.configs, screen.visuals);
        for config in &screen.configs {
            assert_eq!(screen.of_visual(config.visual), Some(config));
            assert_eq!(screen.id_of_visual(config.visual), config.id);
        }
    }

    #[test]
    fn the_default_visual_is_double_buffered_with_depth_and_stencil() {
        let screen = Screen::made(0, &formats(), &[visual(0x21, 24)]);
        let f = screen.of_visual(0x21).unwrap().format;
        assert!(f.double);
        assert_eq!((f.alpha, f.depth, f.stencil, f.samples), (8, 24, 8, 0));
        assert_eq!(screen.visuals.len(), 1);
        let deep = screen.configs.last().unwrap();
        assert_eq!(deep.visual, 0, "no visual of depth 32");
        assert_eq!(deep.properties.value(DRAWABLE_TYPE), Some(glx::PBUFFER_BIT));
    }

    #[test]
    fn of_the_x_servers_list_only_what_can_be_rendered_is_left() {
        let formats = formats();
        let there = describe(&formats[0], 0x100, 0x21);
        let mut capable = there;
        capable.set(FRAMEBUFFER_SRGB_CAPABLE, 1);
        let mut stereo = there;
        stereo.set(STEREO, 1);
        let mut deeper = there;
        deeper.set(DEPTH_SIZE, 32);
        let mut sampled = capable;
        sampled.set(SAMPLES, 4);
        let with_samples = *formats.iter().find(|f| f.samples == 4).unwrap();
        let list = [stereo, there, deeper, capable, sampled];
        let screen = Screen::told(0, &formats, &list, &list).unwrap();
        let found: Vec<Format> = screen.configs.iter().map(|c| c.format).collect();
        let srgb = formats[0].with_srgb().unwrap();
        assert_eq!(found, [formats[0], srgb, with_samples]);
        let says = |n: usize| {
            let properties = &screen.configs[n].properties;
            properties.value(FRAMEBUFFER_SRGB_CAPABLE)
        };
        assert_eq!((says(1), says(2)), (Some(1), Some(0)), "with samples none");
        assert!(Screen::told(0, &formats, &[stereo], &[stereo]).is_none());
    }
}
