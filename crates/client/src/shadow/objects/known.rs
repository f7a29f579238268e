//! Names about which a fact is known, until something happens that may change it.

/// Names beyond this are not remembered, so that a few high ones cost no memory.
const NAME_MAX: u32 = 1 << 16;

/// A set of names that is valid during one epoch. The epoch is a number that other code changes
/// when a name may have left the set.
#[derive(Debug, Default)]
pub struct Known {
    epoch: u32,
    bits: Vec<u64>,
}

impl Known {
    #[inline]
    pub fn has(&self, epoch: u32, name: u32) -> bool {
        let word = self.bits.get(name as usize / 64).copied().unwrap_or(0);
        epoch == self.epoch && word >> (name % 64) & 1 != 0
    }

    pub fn add(&mut self, epoch: u32, name: u32) {
        if epoch != self.epoch {
            self.bits.clear();
            self.epoch = epoch;
        }
        if name >= NAME_MAX {
            return;
        }
        let word = name as usize / 64;
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] |= 1 << (name % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::Known;

    #[test]
    fn an_epoch_ends_all() {
        let mut known = Known::default();
        for name in [0, 1, 63, 64, 1000, u32::MAX] {
            assert!(!known.has(0, name));
            known.add(0, name);
            assert_eq!(known.has(0, name), name != u32::MAX);
            assert!(!known.has(1, name));
        }
        known.add(7, 5);
        assert!(known.has(7, 5) && !known.has(7, 1) && !known.has(0, 1));
    }
}
