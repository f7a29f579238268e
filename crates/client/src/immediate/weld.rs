//! Welding: vertices that a run repeats are sent once, with indices in their order.
//!
//! A program that draws a smooth mesh triangle by triangle passes most vertices six times. Sending
//! and shading each vertex once saves the transport two thirds of the bytes, and the server most of
//! its work. But the search costs the program's thread about as much again as collecting the run.
//! So a run is only welded if the connection made us wait since the last run: then the server is
//! behind, and this thread has the time.

/// The hash table has 2^BITS entries.
const BITS: u32 = 13;
/// The number of vertices that are tried before the whole run is welded.
const SAMPLE: usize = 256;
/// The number of runs that are not welded after one whose vertices do not repeat.
const REST: u32 = 15;
/// The longest run that is welded, because indices have 16 bits.
const RUN_MAX: usize = 1 << 16;

/// Memory for welding, which is kept from run to run.
pub struct Welder {
    /// By hash, the place of the last vertex with this hash. Only a hint: entries of earlier runs
    /// are still there.
    places: Box<[u16; 1 << BITS]>,
    indices: Vec<u16>,
    sample: Vec<u32>,
    /// The number of next runs that are not welded.
    rest: u32,
}

impl Welder {
    pub fn new() -> Welder {
        Welder {
            places: Box::new([0; 1 << BITS]),
            indices: Vec::new(),
            sample: Vec::new(),
            rest: 0,
        }
    }

    /// The indices of the vertices, after `weld`.
    pub fn indices(&self) -> &[u16] {
        &self.indices
    }

    /// Removes repeated vertices, of `words` words each. The others stay in the order of their
    /// first appearance. Returns how many are left. Returns `None`, and changes nothing, if the
    /// result with its indices would not be shorter.
    ///
    /// # Safety
    /// `count` vertices lie at `vertices`, are aligned for words, and belong to the caller.
    pub unsafe fn weld(&mut self, vertices: *mut u32, words: usize, count: usize) -> Option<usize> {
        if count > RUN_MAX {
            return None;
        }
        if self.rest > 0 {
            self.rest -= 1;
            return None;
        }
        let sample = count.min(SAMPLE);
        self.sample.clear();
        // SAFETY: the caller's promise.
        let first = unsafe { std::slice::from_raw_parts(vertices, sample * words) };
        self.sample.extend_from_slice(first);
        let copy = self.sample.as_mut_ptr();
        // SAFETY: the sample is that long.
        let left = unsafe { self.compact(copy, words, sample) }?;
        if left * 4 > sample * 3 {
            self.rest = REST;
            return None;
        }
        // SAFETY: the caller's promise.
        let left = unsafe { self.compact(vertices, words, count) }?;
        // The indices need their length and padding, too.
        if left * words + 2 + count.div_ceil(2) <= count * words {
            return Some(left);
        }
        for i in (0..count).rev() {
            let from = usize::from(self.indices[i]);
            // SAFETY: the only copy of a vertex never lies after the places that it is copied to.
            // Going backwards, the vertices before these places are still unchanged.
            unsafe {
                vertices
                    .add(from * words)
                    .copy_to(vertices.add(i * words), words)
            };
        }
        None
    }

    /// Removes repeated vertices in any case. Returns `None` for sizes that no layout has.
    ///
    /// # Safety
    /// As `weld`.
    unsafe fn compact(&mut self, vertices: *mut u32, words: usize, count: usize) -> Option<usize> {
        self.indices.resize(count, 0);
        let (places, indices) = (&mut *self.places, &mut self.indices[..]);
        macro_rules! by_size {
            ($($n:literal)*) => {
                match words {
                    // SAFETY: the caller's promise.
                    $($n => Some(unsafe { compact::<$n>(vertices, places, indices) }),)*
                    _ => None,
                }
            };
        }
        by_size!(2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
    }
}

/// Welds as many vertices of `N` words as there are indices, and sets the indices. There are no
/// branches, because nobody can predict whether the next vertex is a repeated one. The place of the
/// candidate does not depend on `left`, so that the comparison waits for no other vertex.
///
/// # Safety
/// That number of vertices lies at `vertices`.
unsafe fn compact<const N: usize>(
    vertices: *mut u32,
    places: &mut [u16; 1 << BITS],
    indices: &mut [u16],
) -> usize {
    let mut left = 0;
    let mut vertex = vertices.cast_const();
    for (i, index) in indices.iter_mut().enumerate() {
        // SAFETY: `vertex` is number `i`, and neither `new` nor `old` is behind it.
        unsafe {
            let place = &mut places[hash::<N>(vertex)];
            let place_was = usize::from(*place);
            let candidate = place_was.min(i);
            let (new, old) = (vertices.add(left * N), vertices.add(candidate * N));
            // All ones if the place is not below `left`: no vertex of this run is there, so this
            // one is new.
            let unknown = ((left as i64 - 1 - place_was as i64) >> 63) as usize;
            let other = all_ones_unless_zero(difference::<N>(vertex, old));
            let is_new = opaque(unknown | other);
            let at = left & is_new | candidate & !is_new;
            // If this vertex is a repeated one, the next new one overwrites it.
            new.cast::<[u32; N]>()
                .write(vertex.cast::<[u32; N]>().read());
            *place = at as u16;
            *index = at as u16;
            left += is_new & 1;
            vertex = vertex.add(N);
        }
    }
    left
}

/// # Safety
/// A vertex of `N` words lies there.
#[inline(always)]
unsafe fn hash<const N: usize>(vertex: *const u32) -> usize {
    let mut sum = 0u64;
    let mut factor = 0x9e37_79b9_7f4a_7c15_u64;
    for pair in 0..N / 2 {
        // SAFETY: the vertex has that number of pairs.
        let pair = unsafe { vertex.cast::<u64>().add(pair).read_unaligned() };
        sum ^= pair.wrapping_mul(factor);
        factor = factor.rotate_left(23) | 1;
    }
    if N % 2 == 1 {
        // SAFETY: the last word.
        sum ^= u64::from(unsafe { vertex.add(N - 1).read() }).wrapping_mul(factor);
    }
    (sum >> (64 - BITS)) as usize
}

/// The value itself, but the compiler does not know it, so it cannot branch on it.
#[inline(always)]
fn opaque(value: usize) -> usize {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    {
        let mut value = value;
        // SAFETY: an assembly comment does nothing.
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg) value, options(pure, nomem, nostack, preserves_flags));
        }
        value
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    value
}

/// A mask that is computed without a comparison, which could become a branch.
#[inline(always)]
fn all_ones_unless_zero(difference: u64) -> usize {
    (((difference | difference.wrapping_neg()) as i64) >> 63) as usize
}

/// 0 if the vertices are identical, bit for bit.
///
/// # Safety
/// A vertex of `N` words lies at each place.
#[inline(always)]
unsafe fn difference<const N: usize>(a: *const u32, b: *const u32) -> u64 {
    let mut difference = 0;
    for pair in 0..N / 2 {
        // SAFETY: the vertices have that number of pairs.
        difference |= unsafe {
            a.cast::<u64>().add(pair).read_unaligned() ^ b.cast::<u64>().add(pair).read_unaligned()
        };
    }
    if N % 2 == 1 {
        // SAFETY: the last word.
        difference |= u64::from(unsafe { a.add(N - 1).read() ^ b.add(N - 1).read() });
    }
    difference
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_fuzzing::Random;

    /// Vertices of `words` words each. They are of `kinds` kinds, in a fixed pseudo-random order.
    fn vertices(words: usize, count: usize, kinds: u32) -> Vec<u32> {
        let mut random = Random::new(1);
        let mut all = Vec::new();
        for _ in 0..count {
            let kind = random.below(kinds);
            all.extend((0..words as u32).map(|w| (kind * 31 + w) as f32 as u32 | kind << 20));
        }
        all
    }

    #[test]
    fn what_is_welded_spells_what_was() {
        for words in 2..=16 {
            let cases = [(3, 1), (300, 7), (5000, 900), (5000, 3)];
            // Under Miri this takes a thousand times as long.
            for &(count, kinds) in &cases[..if cfg!(miri) { 2 } else { 4 }] {
                let before = vertices(words, count, kinds);
                let mut after = before.clone();
                let mut welder = Welder::new();
                // SAFETY: that number of vertices is there.
                let left = unsafe { welder.weld(after.as_mut_ptr(), words, count) };
                let Some(left) = left else {
                    assert_eq!(before, after, "{words} words, {kinds} of {count}");
                    continue;
                };
                assert!(left <= count && left >= kinds.min(count as u32) as usize / 2);
                let spelled: Vec<u32> = welder
                    .indices()
                    .iter()
                    .flat_map(|&i| after[usize::from(i) * words..][..words].to_vec())
                    .collect();
                assert_eq!(before, spelled, "{words} words, {kinds} of {count}");
            }
        }
    }

    #[test]
    fn what_does_not_repeat_is_left_and_the_next_runs_are_not_tried() {
        let before: Vec<u32> = (0..6000).collect();
        let mut after = before.clone();
        let mut welder = Welder::new();
        // SAFETY: that number of vertices is there.
        assert_eq!(unsafe { welder.weld(after.as_mut_ptr(), 6, 1000) }, None);
        assert_eq!(before, after);
        let mut same = vec![5; 6000];
        for _ in 0..REST {
            // SAFETY: as above.
            assert_eq!(unsafe { welder.weld(same.as_mut_ptr(), 6, 1000) }, None);
        }
        // SAFETY: as above.
        assert_eq!(unsafe { welder.weld(same.as_mut_ptr(), 6, 1000) }, Some(1));
    }

    /// The first vertices repeat, the others do not: indices would only make the run longer.
    #[test]
    #[cfg_attr(miri, ignore = "takes too long")]
    fn a_bad_sample_is_undone() {
        let mut before = vec![7; 2 * SAMPLE];
        before.extend(0..40_000u32);
        let mut after = before.clone();
        let count = before.len() / 2;
        let mut welder = Welder::new();
        // SAFETY: that number of vertices is there.
        assert_eq!(unsafe { welder.weld(after.as_mut_ptr(), 2, count) }, None);
        assert_eq!(before, after);
    }
}
