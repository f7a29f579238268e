//! Scaling of pictures.

use crate::picture::PIXEL;

/// Scales the picture `from` of `size` (width and height, without gaps) to the size `to`, and
/// writes it to `into`. Each pixel is the source pixel that its centre falls on, so that scaled
/// tiles of a wall fit together as the unscaled ones did.
///
/// # Panics
/// If `from` is shorter than `size` says.
pub fn scale(from: &[u8], size: (u32, u32), to: (u32, u32), into: &mut Vec<u8>) {
    let along = |size: u32, to: u32| {
        let at =
            move |n: u32| (u64::from(2 * n + 1) * u64::from(size) / u64::from(2 * to)) as usize;
        (0..to).map(at)
    };
    let row = size.0 as usize * PIXEL;
    let columns: Vec<usize> = along(size.0, to.0).map(|x| x * PIXEL).collect();
    into.clear();
    into.reserve(to.0 as usize * to.1 as usize * PIXEL);
    let mut last = None;
    for y in along(size.1, to.1) {
        if last == Some(y) {
            let start = into.len() - columns.len() * PIXEL;
            into.extend_from_within(start..);
            continue;
        }
        let row = &from[y * row..][..row];
        for x in &columns {
            into.extend_from_slice(&row[*x..x + PIXEL]);
        }
        last = Some(y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(size: (u32, u32), to: (u32, u32)) -> Vec<u8> {
        let pixels = (0..size.0 * size.1).flat_map(|n| [n as u8; PIXEL]);
        let mut into = Vec::new();
        scale(&pixels.collect::<Vec<_>>(), size, to, &mut into);
        into.chunks_exact(PIXEL).map(|pixel| pixel[0]).collect()
    }

    #[test]
    fn pixels_are_repeated_or_left_out() {
        assert_eq!(scaled((2, 1), (4, 2)), [0, 0, 1, 1, 0, 0, 1, 1]);
        assert_eq!(scaled((4, 2), (2, 1)), [5, 7]);
        assert_eq!(scaled((3, 2), (3, 2)), [0, 1, 2, 3, 4, 5]);
        assert_eq!(scaled((2, 1), (3, 1)), [0, 1, 1]);
    }
}
