//! Uniform locations in a stream without answers, such as a recording: the client counts its
//! questions, and the player of the recording counts them again.

/// The number of elements of an array for which locations are reserved: elements after the first
/// have the locations after its own.
pub const SPAN: i32 = 1 << 10;

/// The location that answers question `number` of `context` for a uniform location. Locations
/// repeat after 4096 questions of a context, and after 512 contexts.
pub fn recorded(context: u32, number: u32) -> i32 {
    (context as i32 % 512 * 4096 + number as i32 % 4096) * SPAN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_locations() {
        assert_eq!(recorded(0, 0), 0);
        assert_eq!(recorded(511, 4095), i32::MAX - (SPAN - 1));
        assert_ne!(recorded(1, 0), recorded(0, 4095));
    }
}
