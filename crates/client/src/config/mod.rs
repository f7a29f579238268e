//! What a program can choose from: the server's formats, each tied to an X visual.

pub mod egl;
pub mod glx;

use crate::x11::xlib::VisualOf;

/// A default framebuffer that the server provides. Sizes are in bits; `samples` is 0 without multisampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The server's name for it.
    pub id: u32,
    pub alpha: u8,
    pub depth: u8,
    pub stencil: u8,
    pub samples: u8,
    pub double: bool,
    /// Whether there is an accumulation buffer, of 16 bits a channel.
    pub accum: bool,
}

impl Format {
    /// Red, green and blue take 8 bits each in every format.
    pub const CHANNEL: i32 = 8;
    /// So do four of an accumulation buffer.
    pub const ACCUM_CHANNEL: i32 = 16;

    /// Bits of a channel of the accumulation buffer.
    pub fn accum_bits(&self) -> i32 {
        i32::from(self.accum) * Self::ACCUM_CHANNEL
    }

    pub fn color_bits(&self) -> i32 {
        3 * Self::CHANNEL + i32::from(self.alpha)
    }
}

/// A format as the program sees it, on windows of one depth. Its address is the program's `GLXFBConfig`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FbConfig {
    /// `GLX_FBCONFIG_ID`, the same on every screen.
    pub id: u32,
    pub screen: i32,
    pub format: Format,
    /// Depth of the X visuals that fit: 24, or 32 for windows whose alpha a compositor shows.
    pub visual_depth: u8,
}

/// The first `GLX_FBCONFIG_ID`, clear of anything an X visual is called.
const FIRST_ID: u32 = 0x4d00;

/// Every config of a screen: formats on depth 24 first, then those with alpha once more on depth 32.
pub fn fb_configs(formats: &[Format], screen: i32) -> Vec<FbConfig> {
    let shallow = formats.iter().map(|f| (*f, 24));
    let deep = formats.iter().filter(|f| f.alpha > 0).map(|f| (*f, 32));
    (FIRST_ID..)
        .zip(shallow.chain(deep))
        .map(|(id, (format, visual_depth))| FbConfig {
            id,
            screen,
            format,
            visual_depth,
        })
        .collect()
}

/// Gives each config a visual of its own, or where the X server has too few, shares the last ones.
///
/// `visuals` has the screen's default visual first, so that it goes to the config most programs want. The result has one entry a config; `None` is a
/// config that no window can have. A visual belongs to the first config it is given to in [`by_preference`] order.
pub fn assign_visuals(configs: &[FbConfig], visuals: &[VisualOf]) -> Vec<Option<u32>> {
    let mut assigned = vec![None; configs.len()];
    for depth in [24, 32] {
        let of_depth: Vec<u32> = visuals
            .iter()
            .filter(|v| v.depth == depth)
            .map(|v| v.id)
            .collect();
        let Some(last) = of_depth.len().checked_sub(1) else {
            continue;
        };
        let order = by_preference(configs);
        let mine = order.iter().filter(|i| configs[**i].visual_depth == depth);
        for (n, index) in mine.enumerate() {
            assigned[*index] = Some(of_depth[n.min(last)]);
        }
    }
    assigned
}

/// Index of the config that a window of `visual` has.
pub fn config_of_visual(
    configs: &[FbConfig],
    assigned: &[Option<u32>],
    visual: u32,
) -> Option<usize> {
    by_preference(configs)
        .into_iter()
        .find(|i| assigned[*i] == Some(visual))
}

/// What a program that takes whatever visual it finds most probably wants comes first: double buffered, with depth,
/// stencil and alpha, not multisampled.
fn by_preference(configs: &[FbConfig]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..configs.len()).collect();
    order.sort_by_key(|i| {
        let f = &configs[*i].format;
        (
            f.accum,
            f.samples,
            !f.double,
            f.depth == 0,
            f.stencil == 0,
            f.alpha == 0,
        )
    });
    order
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What a server lists: with and without alpha, depth, stencil and multisampling, double and single buffered.
    pub fn formats() -> Vec<Format> {
        let mut all = Vec::new();
        for samples in [0, 4] {
            for double in [true, false] {
                for alpha in [8, 0] {
                    for (depth, stencil) in [(24, 8), (24, 0), (0, 0)] {
                        all.push(Format {
                            id: all.len() as u32 + 1,
                            alpha,
                            depth,
                            stencil,
                            samples,
                            double,
                            accum: false,
                        });
                    }
                }
            }
        }
        all
    }

    pub fn many_visuals() -> Vec<VisualOf> {
        let shallow = (0x21..0x80).map(|id| VisualOf { id, depth: 24 });
        let deep = (0x80..0xe0).map(|id| VisualOf { id, depth: 32 });
        shallow.chain(deep).collect()
    }

    #[test]
    fn each_config_has_its_own_visual_where_there_are_enough() {
        let configs = fb_configs(&formats(), 0);
        let assigned = assign_visuals(&configs, &many_visuals());
        let mut seen: Vec<u32> = assigned.iter().map(|v| v.unwrap()).collect();
        for (index, visual) in seen.iter().enumerate() {
            assert_eq!(config_of_visual(&configs, &assigned, *visual), Some(index));
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), configs.len());
    }

    #[test]
    fn the_default_visual_is_double_buffered_with_depth_and_stencil() {
        let configs = fb_configs(&formats(), 0);
        for visuals in [
            many_visuals(),
            vec![VisualOf {
                id: 0x21,
                depth: 24,
            }],
        ] {
            let assigned = assign_visuals(&configs, &visuals);
            let config = configs[config_of_visual(&configs, &assigned, 0x21).unwrap()];
            assert!(config.format.double);
            assert_eq!(
                (
                    config.format.alpha,
                    config.format.depth,
                    config.format.stencil,
                    config.format.samples
                ),
                (8, 24, 8, 0)
            );
        }
    }

    #[test]
    fn without_a_visual_of_its_depth_a_config_has_none() {
        let configs = fb_configs(&formats(), 0);
        let only = [VisualOf {
            id: 0x21,
            depth: 24,
        }];
        for (config, visual) in configs.iter().zip(assign_visuals(&configs, &only)) {
            assert_eq!(visual.is_some(), config.visual_depth == 24);
        }
        assert_eq!(
            config_of_visual(&configs, &assign_visuals(&configs, &only), 0x99),
            None
        );
    }
}
