//! Rows of bitmaps.

/// Copies `width` bits that start `offset` bits into `src` to the start of `dst`, most
/// significant bit first; bits of the last byte beyond the width become 0.
///
/// `src` holds exactly the bytes the bits touch, `dst` exactly the bytes of a tight row.
pub(super) fn gather(src: &[u8], offset: usize, lsb_first: bool, width: usize, dst: &mut [u8]) {
    let byte = |i: usize| {
        let byte = src.get(i).copied().unwrap_or(0);
        match lsb_first {
            true => byte.reverse_bits(),
            false => byte,
        }
    };
    for (i, out) in dst.iter_mut().enumerate() {
        let pair = u16::from(byte(i)) << 8 | u16::from(byte(i + 1));
        *out = (pair >> (8 - offset)) as u8;
    }
    if let (Some(last), used @ 1..) = (dst.last_mut(), width % 8) {
        *last &= 0xff << (8 - used);
    }
}

/// The inverse of [`gather`]: writes `width` bits of `src` into `dst` from `offset` on and
/// leaves the neighbouring bits alone.
pub(super) fn scatter(src: &[u8], offset: usize, lsb_first: bool, width: usize, dst: &mut [u8]) {
    let order = |byte: u8| match lsb_first {
        true => byte.reverse_bits(),
        false => byte,
    };
    for (i, out) in dst.iter_mut().enumerate() {
        let before = match i {
            0 => 0,
            _ => u16::from(src[i - 1]) << 8,
        };
        let pair = before | u16::from(src.get(i).copied().unwrap_or(0));
        let bits = (pair >> offset) as u8;
        let first = if i == 0 { offset } else { 0 };
        let behind = (offset + width - 8 * i).min(8);
        let mask = (0xffu8 >> first) & (0xff00u16 >> behind) as u8;
        *out = order(order(*out) & !mask | bits & mask);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bit(bytes: &[u8], i: usize, lsb_first: bool) -> bool {
        let shift = if lsb_first { i % 8 } else { 7 - i % 8 };
        bytes[i / 8] >> shift & 1 == 1
    }

    #[test]
    fn every_offset_width_and_order() {
        let src: Vec<u8> = (0..8u32).map(|i| (i * 73 + 41) as u8).collect();
        for lsb_first in [false, true] {
            for offset in 0..8usize {
                for width in 1..40usize {
                    let touched = (offset + width).div_ceil(8);
                    let mut tight = vec![0xaa; width.div_ceil(8)];
                    gather(&src[..touched], offset, lsb_first, width, &mut tight);
                    for i in 0..tight.len() * 8 {
                        let want = i < width && bit(&src, offset + i, lsb_first);
                        assert_eq!(bit(&tight, i, false), want);
                    }
                    let old = vec![0x35; touched];
                    let mut out = old.clone();
                    scatter(&tight, offset, lsb_first, width, &mut out);
                    for i in 0..touched * 8 {
                        let inside = (offset..offset + width).contains(&i);
                        let from = if inside { &src } else { &old };
                        assert_eq!(bit(&out, i, lsb_first), bit(from, i, lsb_first));
                    }
                }
            }
        }
    }
}
