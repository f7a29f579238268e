//! Looks up entry points by name.

use crate::generated::lookup::TABLE;
use std::ffi::c_void;

/// The entry point called `name`.
pub fn lookup(name: &[u8]) -> Option<*const c_void> {
    let index = TABLE
        .binary_search_by(|(n, _)| n.as_bytes().cmp(name))
        .ok()?;
    Some(TABLE[index].1 .0.cast())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found() {
        assert!(TABLE.is_sorted_by(|a, b| a.0 < b.0));
        assert!(lookup(b"glVertex3f").is_some());
        assert_eq!(lookup(b"glBindTextureEXT"), lookup(b"glBindTextureEXT"));
        assert!(lookup(b"glNoSuchThing").is_none());
    }
}
