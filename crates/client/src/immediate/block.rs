//! An attribute's value, stored in one register.
//!
//! A vertex is assembled from values that were stored an instant ago. The processor forwards a
//! stored value to a load only if one store wrote all bytes of the load (store-to-load forwarding).
//! A load that spans two stores waits until both have reached the cache, a dozen cycles or more. So
//! values are stored and loaded as whole blocks, whatever their number of components.

pub use arch::Block;

#[cfg(target_arch = "x86_64")]
mod arch {
    use std::arch::x86_64::{__m128, _mm_movelh_ps, _mm_setr_ps};

    #[derive(Clone, Copy)]
    #[repr(transparent)]
    pub struct Block(__m128);

    impl Block {
        /// A block of the values, filled up with zeros.
        #[inline(always)]
        pub fn new<const N: usize>(values: [f32; N]) -> Block {
            let [x, y, z, w] = super::padded(values);
            // SAFETY: every x86-64 processor has these. In halves, because the first two values
            // often lie side by side.
            Block(unsafe {
                _mm_movelh_ps(_mm_setr_ps(x, y, 0.0, 0.0), _mm_setr_ps(z, w, 0.0, 0.0))
            })
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod arch {
    #[derive(Clone, Copy)]
    #[repr(C, align(16))]
    pub struct Block([f32; 4]);

    impl Block {
        /// A block of the values, filled up with zeros.
        #[inline(always)]
        pub fn new<const N: usize>(values: [f32; N]) -> Block {
            Block(super::padded(values))
        }
    }
}

#[inline(always)]
fn padded<const N: usize>(values: [f32; N]) -> [f32; 4] {
    let mut four = [0.0; 4];
    four[..N].copy_from_slice(&values);
    four
}

impl Block {
    pub const BYTES: usize = size_of::<Block>();

    #[inline(always)]
    pub fn values(&self) -> &[f32; 4] {
        // SAFETY: a block is four floats, and aligned for more.
        unsafe { &*std::ptr::from_ref(self).cast() }
    }
}
