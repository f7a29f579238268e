//! Operations on pixels before and after they are composited.

use crate::abi::{
    Enum, COLOR_NONE, COLOR_RGBA_FLOAT, COLOR_RGBA_UBYTE, COLOR_RGB_FLOAT, DEPTH_FLOAT, DEPTH_NONE,
};
use crate::diagnostics::Problem;

/// The format of a picture's colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Color {
    #[default]
    None,
    RgbaBytes,
    RgbaFloats,
    RgbFloats,
}

/// A part of a picture, in pixels from the lower left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) width: i32,
    pub(crate) height: i32,
}

/// Memory for pixels, aligned for floats.
#[derive(Debug, Default)]
pub(crate) struct Words {
    own: Vec<u32>,
    /// Memory that is used instead: its address, and its number of words.
    lent: Option<(usize, usize)>,
}

impl Color {
    pub(crate) fn from_abi(color: Enum) -> Result<Color, Problem> {
        match color {
            COLOR_NONE => Ok(Color::None),
            COLOR_RGBA_UBYTE => Ok(Color::RgbaBytes),
            COLOR_RGBA_FLOAT => Ok(Color::RgbaFloats),
            COLOR_RGB_FLOAT => Ok(Color::RgbFloats),
            _ => Err(Problem::Enum("Invalid IceT color format.".into())),
        }
    }

    pub(crate) fn to_abi(self) -> Enum {
        match self {
            Color::None => COLOR_NONE,
            Color::RgbaBytes => COLOR_RGBA_UBYTE,
            Color::RgbaFloats => COLOR_RGBA_FLOAT,
            Color::RgbFloats => COLOR_RGB_FLOAT,
        }
    }

    /// The number of words of four bytes in a pixel's colour.
    pub(crate) const fn words(self) -> usize {
        match self {
            Color::None => 0,
            Color::RgbaBytes => 1,
            Color::RgbFloats => 3,
            Color::RgbaFloats => 4,
        }
    }

    pub(crate) const fn has_alpha(self) -> bool {
        matches!(self, Color::RgbaBytes | Color::RgbaFloats)
    }

    /// A pixel in this format, as words in memory.
    pub(crate) fn pixel(self, rgba: [f32; 4]) -> Vec<u32> {
        match self {
            Color::None => Vec::new(),
            Color::RgbaBytes => vec![u32::from_ne_bytes(bytes(rgba))],
            Color::RgbFloats => rgba[..3].iter().map(|value| value.to_bits()).collect(),
            Color::RgbaFloats => rgba.iter().map(|value| value.to_bits()).collect(),
        }
    }
}

/// Cuts fractions, as IceT does.
pub(crate) fn bytes(rgba: [f32; 4]) -> [u8; 4] {
    rgba.map(|value| (value * 255.0) as u8)
}

pub(crate) fn depth_from_abi(depth: Enum) -> Result<bool, Problem> {
    match depth {
        DEPTH_NONE => Ok(false),
        DEPTH_FLOAT => Ok(true),
        _ => Err(Problem::Enum("Invalid IceT depth format.".into())),
    }
}

impl Area {
    pub(crate) fn new(x: i32, y: i32, width: i32, height: i32) -> Area {
        Area {
            x,
            y,
            width,
            height,
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.width <= 0 || self.height <= 0
    }

    pub(crate) fn pixels(self) -> usize {
        match self.is_empty() {
            true => 0,
            false => self.width as usize * self.height as usize,
        }
    }

    /// The intersection of both. Ends are calculated in 64 bits, because programs choose the
    /// values, and the sums may overflow.
    pub(crate) fn common(self, other: Area) -> Area {
        let along = |start: i32, length: i32, other_start: i32, other_length: i32| {
            let from = i64::from(start.max(other_start));
            let end = |start, length| i64::from(start) + i64::from(length);
            let to = end(start, length).min(end(other_start, other_length));
            (from as i32, (to - from).max(0) as i32)
        };
        let (x, width) = along(self.x, self.width, other.x, other.width);
        let (y, height) = along(self.y, self.height, other.y, other.height);
        match width == 0 || height == 0 {
            true => Area::default(),
            false => Area::new(x, y, width, height),
        }
    }

    /// The same as seen from another origin.
    pub(crate) fn seen_from(self, x: i32, y: i32) -> Area {
        Area {
            x: self.x.wrapping_sub(x),
            y: self.y.wrapping_sub(y),
            ..self
        }
    }
}

impl Words {
    /// Changes to memory of its own, with room for this number of words. Their values are
    /// undefined.
    pub(crate) fn resize(&mut self, words: usize) {
        self.lent = None;
        self.own.resize(words, 0);
    }

    /// Uses other memory until the next call of [`Words::resize`] or of this.
    ///
    /// # Safety
    /// Until then the memory stays valid, aligned for words, and unused by other code.
    pub(crate) unsafe fn lend(&mut self, start: *mut u32, words: usize) {
        self.own.clear();
        self.lent = (words > 0).then_some((start as usize, words));
    }

    pub(crate) fn is_lent(&self) -> bool {
        self.lent.is_some()
    }

    /// Whether this address is in memory that is used instead.
    pub(crate) fn is_lent_from(&self, address: usize) -> bool {
        let is_in = |(start, words)| (start..start + 4 * words).contains(&address);
        self.lent.is_some_and(is_in)
    }

    pub(crate) fn words(&self) -> &[u32] {
        match self.lent {
            None => &self.own,
            // SAFETY: the caller of `lend` promises it.
            Some((start, words)) => unsafe {
                std::slice::from_raw_parts(start as *const u32, words)
            },
        }
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u32] {
        match self.lent {
            None => &mut self.own,
            // SAFETY: the caller of `lend` promises it.
            Some((start, words)) => unsafe {
                std::slice::from_raw_parts_mut(start as *mut u32, words)
            },
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        bytes_of(self.words())
    }

    pub(crate) fn start(&mut self) -> usize {
        self.words_mut().as_mut_ptr() as usize
    }
}

pub(crate) fn bytes_of(words: &[u32]) -> &[u8] {
    // SAFETY: each word has four bytes, and bytes need no alignment.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len() * 4) }
}

/// Writes the picture `to`: `area` with pixels of the picture `from`, and the rest with `filling`.
/// `from` has rows of `stride` pixels, and the origin of `to` is at `(x, y)` in it. A pixel has as
/// many words as `filling`.
pub(crate) fn place(
    from: &[u32],
    stride: usize,
    (x, y): (usize, usize),
    to: &mut [u32],
    size: (usize, usize),
    area: Area,
    filling: &[u32],
) {
    let words = filling.len();
    let (width, height) = size;
    for row in 0..height {
        let line = &mut to[row * width * words..(row + 1) * width * words];
        let inside = area.y as usize..(area.y + area.height) as usize;
        if area.is_empty() || !inside.contains(&row) {
            fill(line, filling);
            continue;
        }
        let (start, end) = (area.x as usize, (area.x + area.width) as usize);
        fill(&mut line[..start * words], filling);
        fill(&mut line[end * words..], filling);
        let source = ((y + row) * stride + x + start) * words;
        line[start * words..end * words]
            .copy_from_slice(&from[source..source + (end - start) * words]);
    }
}

/// Fills what is around an area of a picture.
pub(crate) fn surround(to: &mut [u32], size: (usize, usize), area: Area, filling: &[u32]) {
    let words = filling.len();
    let (width, height) = size;
    if area == Area::new(0, 0, width as i32, height as i32) {
        return;
    }
    for row in 0..height {
        let line = &mut to[row * width * words..(row + 1) * width * words];
        let inside = area.y as usize..(area.y + area.height) as usize;
        match !area.is_empty() && inside.contains(&row) {
            false => fill(line, filling),
            true => {
                fill(&mut line[..area.x as usize * words], filling);
                fill(&mut line[(area.x + area.width) as usize * words..], filling);
            }
        }
    }
}

fn fill(line: &mut [u32], filling: &[u32]) {
    match filling {
        [one] => line.fill(*one),
        many => line
            .chunks_exact_mut(many.len().max(1))
            .for_each(|pixel| pixel.copy_from_slice(many)),
    }
}

/// Whether some pixel has a colour, but an alpha of 0. Such a pixel counts as empty.
pub(crate) fn has_color_without_alpha(color: Color, words: &[u32]) -> bool {
    match color {
        Color::RgbaBytes => {
            let alpha = u32::from_ne_bytes([0, 0, 0, 0xFF]);
            // Without a branch for each pixel, so that only memory limits the speed.
            let is_some = |part: &[u32]| {
                part.iter().fold(false, |is, pixel| {
                    is | ((*pixel & alpha == 0) & (*pixel != 0))
                })
            };
            words.chunks(1024).any(is_some)
        }
        Color::RgbaFloats => words.chunks_exact(4).any(|pixel| {
            f32::from_bits(pixel[3]) == 0.0 && pixel.iter().any(|word| *word << 1 != 0)
        }),
        Color::None | Color::RgbFloats => false,
    }
}

/// Clears the colours of pixels whose alpha is 0.
pub(crate) fn clear_color_without_alpha(color: Color, words: &mut [u32]) {
    match color {
        Color::RgbaBytes => {
            let alpha = u32::from_ne_bytes([0, 0, 0, 0xFF]);
            for pixel in words {
                *pixel = if *pixel & alpha == 0 { 0 } else { *pixel };
            }
        }
        Color::RgbaFloats => {
            for pixel in words.chunks_exact_mut(4) {
                if f32::from_bits(pixel[3]) == 0.0 {
                    pixel.fill(0);
                }
            }
        }
        Color::None | Color::RgbFloats => {}
    }
}

/// Blends the background behind a picture. Colours in bytes are blended with the background in
/// bytes, the colour that empty pixels get.
pub(crate) fn blend_under(color: Color, words: &mut [u32], background: [f32; 4]) {
    match color {
        Color::RgbaBytes => {
            let background = bytes(background).map(u32::from);
            for pixel in words {
                let mut rgba = pixel.to_ne_bytes();
                let through = 255 - u32::from(rgba[3]);
                for (channel, background) in rgba.iter_mut().zip(background) {
                    let sum = u32::from(*channel) * 255 + through * background;
                    *channel = ((sum + 127) / 255).min(255) as u8;
                }
                *pixel = u32::from_ne_bytes(rgba);
            }
        }
        Color::RgbaFloats => {
            for pixel in words.chunks_exact_mut(4) {
                let through = 1.0 - f32::from_bits(pixel[3]);
                for (channel, background) in pixel.iter_mut().zip(background) {
                    *channel = (f32::from_bits(*channel) + through * background).to_bits();
                }
            }
        }
        Color::None | Color::RgbFloats => {}
    }
}

/// Puts the background where a picture shows nothing.
pub(crate) fn fill_unseen(color: Color, words: &mut [u32], background: &[u32]) {
    match (color, background) {
        (Color::RgbaBytes, [background]) => {
            let alpha = u32::from_ne_bytes([0, 0, 0, 0xFF]);
            for pixel in words {
                *pixel = if *pixel & alpha == 0 {
                    *background
                } else {
                    *pixel
                };
            }
        }
        (Color::RgbaFloats, background) => {
            for pixel in words.chunks_exact_mut(4) {
                if f32::from_bits(pixel[3]) == 0.0 {
                    pixel.copy_from_slice(background);
                }
            }
        }
        _ => {}
    }
}

/// Copies merged pixels. Where the depth is not less than 1, or is NaN, writes the background, with
/// a depth of 1. If `depth_to` is empty, no depths are copied.
pub(crate) fn copy_near(
    color: &[u32],
    depth: &[u32],
    background: &[u32],
    color_to: &mut [u32],
    depth_to: &mut [u32],
) {
    const FAR: u32 = 1.0_f32.to_bits();
    let is_near = |depth: u32| f32::from_bits(depth) < 1.0;
    match *background {
        [] => {}
        [background] => {
            let pixels = color_to.iter_mut().zip(color);
            for ((to, from), depth) in pixels.zip(depth) {
                *to = if is_near(*depth) { *from } else { background };
            }
        }
        _ => {
            let words = background.len();
            let pixels = color_to.chunks_exact_mut(words);
            for ((to, from), depth) in pixels.zip(color.chunks_exact(words)).zip(depth) {
                to.copy_from_slice(if is_near(*depth) { from } else { background });
            }
        }
    }
    for (to, from) in depth_to.iter_mut().zip(depth) {
        *to = if is_near(*from) { *from } else { FAR };
    }
}

/// Adds an alpha of 1 to red, green and blue.
pub(crate) fn with_alpha(rgb: &[u32], rgba: &mut [u32]) {
    for (from, to) in rgb.chunks_exact(3).zip(rgba.chunks_exact_mut(4)) {
        to[..3].copy_from_slice(from);
        to[3] = 1.0_f32.to_bits();
    }
}

pub(crate) fn without_alpha(rgba: &[u32], rgb: &mut [u32]) {
    for (from, to) in rgba.chunks_exact(4).zip(rgb.chunks_exact_mut(3)) {
        to.copy_from_slice(&from[..3]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_that_overlap_and_those_that_do_not() {
        let area = Area::new(2, 3, 4, 5);
        assert_eq!(area.common(Area::new(0, 0, 3, 100)), Area::new(2, 3, 1, 5));
        assert_eq!(area.common(Area::new(6, 0, 3, 100)), Area::default());
        let all = Area::new(i32::MIN, i32::MIN, i32::MAX, i32::MAX);
        assert!(area.common(all).is_empty());
        let most = Area::new(0, 0, i32::MAX, i32::MAX);
        assert_eq!(area.common(most), area);
        assert_eq!(area.seen_from(2, 1), Area::new(0, 2, 4, 5));
    }

    #[test]
    fn a_part_of_a_picture_is_placed_and_the_rest_is_filled() {
        let from: Vec<u32> = (0..20).collect();
        let mut to = vec![99; 6];
        // The area of 2 by 1 at (1, 1) of a tile of 3 by 2, whose corner is at (1, 2).
        place(
            &from,
            5,
            (1, 2),
            &mut to,
            (3, 2),
            Area::new(1, 1, 2, 1),
            &[7],
        );
        assert_eq!(to, [7, 7, 7, 7, 17, 18]);
        let mut same = vec![1; 6];
        surround(&mut same, (3, 2), Area::new(1, 1, 2, 1), &[7]);
        assert_eq!(same, [7, 7, 7, 7, 1, 1]);
        surround(&mut same, (3, 2), Area::default(), &[8]);
        assert_eq!(same, [8; 6]);
    }

    #[test]
    fn far_pixels_become_background() {
        let bits = |values: &[f32]| {
            let values = values.iter().map(|value| value.to_bits());
            values.collect::<Vec<_>>()
        };
        let depth = bits(&[0.5, 1.0, f32::NAN, -1.0, 2.0, f32::NEG_INFINITY]);
        let color: Vec<u32> = (0..6).collect();
        let (mut color_to, mut depth_to) = (vec![77; 6], vec![77; 6]);
        copy_near(&color, &depth, &[9], &mut color_to, &mut depth_to);
        assert_eq!(color_to, [0, 9, 9, 3, 9, 5]);
        let near = bits(&[0.5, 1.0, 1.0, -1.0, 1.0, f32::NEG_INFINITY]);
        assert_eq!(depth_to, near);
        copy_near(&color, &depth[..3], &[8, 7], &mut color_to, &mut []);
        assert_eq!(color_to, [0, 1, 8, 7, 8, 7]);
    }

    #[test]
    fn colours_without_alpha_do_not_glow() {
        let pixel = |rgba: [u8; 4]| u32::from_ne_bytes(rgba);
        let mut words = vec![pixel([1, 2, 3, 4]), 0, pixel([1, 0, 0, 0])];
        assert!(has_color_without_alpha(Color::RgbaBytes, &words));
        assert!(!has_color_without_alpha(Color::RgbaBytes, &words[..2]));
        clear_color_without_alpha(Color::RgbaBytes, &mut words);
        assert_eq!(words, [pixel([1, 2, 3, 4]), 0, 0]);
        let mut floats: Vec<u32> = [0.5, 0.0, 0.0, 0.0].map(f32::to_bits).to_vec();
        assert!(has_color_without_alpha(Color::RgbaFloats, &floats));
        clear_color_without_alpha(Color::RgbaFloats, &mut floats);
        assert_eq!(floats, [0; 4]);
        assert!(!has_color_without_alpha(
            Color::RgbaFloats,
            &[0.5_f32.to_bits(); 4]
        ));
    }
}
