//! The token that a page must show.

use std::fmt::Write;

use subtle::ConstantTimeEq;

/// 128 random bits as 32 hexadecimal digits. Neither shown by `Debug` nor logged.
pub struct Secret(String);

impl Secret {
    /// # Errors
    /// If the system has no random bytes.
    pub fn generate() -> std::io::Result<Secret> {
        let mut bytes = [0u8; 16];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        let mut text = String::new();
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Secret(text))
    }

    /// Compares in the same time, wherever the texts differ.
    pub fn is(&self, shown: &str) -> bool {
        self.0.as_bytes().ct_eq(shown.as_bytes()).into()
    }

    pub fn text(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_text_is_right() {
        let secret = Secret::generate().unwrap();
        let text = secret.text().to_owned();
        assert_eq!(text.len(), 32);
        assert!(secret.is(&text));
        assert!(
            !secret.is(&text[..31])
                && !secret.is("")
                && !secret.is(&text.to_uppercase().replace('0', "1"))
        );
        assert!(!secret.is(Secret::generate().unwrap().text()));
    }
}
