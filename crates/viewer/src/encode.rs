//! Pictures reduced to fewer pixels.

use mgn_present::PIXEL;

/// Replaces each `by` x `by` pixels by one, their mean. At the right and lower edges, there may be
/// fewer pixels.
pub fn shrink(bgrx: &[u8], width: usize, by: usize, into: &mut Vec<u8>) {
    let columns = width.div_ceil(by);
    let mut sums = vec![[0u32; 3]; columns];
    into.clear();
    for rows in bgrx.chunks(width * PIXEL * by) {
        sums.fill([0; 3]);
        for row in rows.chunks_exact(width * PIXEL) {
            for (sum, pixels) in sums.iter_mut().zip(row.chunks(by * PIXEL)) {
                for pixel in pixels.chunks_exact(PIXEL) {
                    sum[0] += u32::from(pixel[0]);
                    sum[1] += u32::from(pixel[1]);
                    sum[2] += u32::from(pixel[2]);
                }
            }
        }
        let high = rows.len() / (width * PIXEL);
        for (n, sum) in sums.iter().enumerate() {
            let pixels = (by.min(width - n * by) * high) as u32;
            let mean = sum.map(|sum| ((sum + pixels / 2) / pixels) as u8);
            into.extend([mean[0], mean[1], mean[2], 0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_become_their_mean() {
        // 3 x 3: the last column and row have squares of their own.
        let values = [0, 10, 50, 20, 30, 70, 100, 200, 250];
        let bgrx: Vec<u8> = values.iter().flat_map(|v| [*v, 1, 255, 9]).collect();
        let mut small = Vec::new();
        shrink(&bgrx, 3, 2, &mut small);
        let blue: Vec<u8> = small.chunks(PIXEL).map(|pixel| pixel[0]).collect();
        assert_eq!(blue, [15, 60, 150, 250]);
        assert!(small.chunks(PIXEL).all(|pixel| pixel[1..3] == [1, 255]));
        shrink(&bgrx, 3, 64, &mut small);
        assert_eq!(small.len(), PIXEL);
    }
}
