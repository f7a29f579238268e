//! The transfer encoding of pictures: unchanged, or compressed as one LZ4 block.
//!
//! Both directions are in this file, so that they can be tested against each other.

use mgn_wire::frames::Encoding;

use crate::Error;

/// Appends the compressed `pixels` to `into`, unless compression makes them no shorter.
pub fn pack(pixels: &[u8], into: &mut Vec<u8>) -> Encoding {
    let start = into.len();
    into.resize(
        start + lz4_flex::block::get_maximum_output_size(pixels.len()),
        0,
    );
    match lz4_flex::block::compress_into(pixels, &mut into[start..]) {
        Ok(length) if length < pixels.len() => {
            into.truncate(start + length);
            Encoding::Lz4
        }
        _ => {
            into.truncate(start);
            into.extend_from_slice(pixels);
            Encoding::Raw
        }
    }
}

/// Decodes `bytes` to `into`.
///
/// # Errors
/// [`Error::BadEncoding`] if the result does not have exactly `length` bytes. No more than `length`
/// bytes are ever allocated.
pub fn unpack(
    encoding: Encoding,
    bytes: &[u8],
    length: usize,
    into: &mut Vec<u8>,
) -> Result<(), Error> {
    into.clear();
    match encoding {
        Encoding::Raw if bytes.len() == length => into.extend_from_slice(bytes),
        Encoding::Raw => return Err(Error::BadEncoding("its length is wrong")),
        Encoding::Lz4 => {
            into.resize(length, 0);
            match lz4_flex::block::decompress_into(bytes, into) {
                Ok(n) if n == length => {}
                Ok(_) => return Err(Error::BadEncoding("it is too short")),
                Err(_) => return Err(Error::BadEncoding("its compression is broken or too long")),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_fuzzing::Random;

    fn noise(n: usize) -> Vec<u8> {
        Random::new(1).bytes(n)
    }

    #[test]
    fn what_is_packed_comes_back() {
        let mut mixed = noise(1000);
        mixed.resize(5000, 7);
        let cases = [
            (vec![], Encoding::Raw),
            (noise(4096), Encoding::Raw),
            (mixed, Encoding::Lz4),
        ];
        for (pixels, expected) in cases {
            let mut packed = b"head".to_vec();
            assert_eq!(pack(&pixels, &mut packed), expected);
            assert!(packed.len() <= pixels.len() + 4);
            let mut back = vec![1, 2, 3];
            unpack(expected, &packed[4..], pixels.len(), &mut back).unwrap();
            assert_eq!(back, pixels);
        }
    }

    #[test]
    fn damage_is_an_error() {
        let pixels = vec![9; 4096];
        let mut packed = Vec::new();
        let encoding = pack(&pixels, &mut packed);
        let mut back = Vec::new();
        for length in [0, 1, 4095, 4097, 1 << 20] {
            assert!(unpack(encoding, &packed, length, &mut back).is_err());
            assert!(unpack(Encoding::Raw, &pixels, length, &mut back).is_err());
        }
        for cut in 0..packed.len() {
            assert!(unpack(encoding, &packed[..cut], pixels.len(), &mut back).is_err());
        }
        for seed in 0..2000usize {
            let mut bad = packed.clone();
            let at = seed % bad.len();
            bad[at] ^= 1 << (seed / bad.len() % 8);
            let _ = unpack(encoding, &bad, pixels.len(), &mut back);
            assert!(back.len() <= pixels.len());
        }
    }
}
