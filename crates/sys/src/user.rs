//! The names of users.

use std::ffi::CStr;

/// The longest entry of the user database that is read.
const ENTRY_MAX: usize = 1 << 20;

/// The name of a user, if the user database of this system has one. Asking may take a network
/// round trip.
pub fn name(uid: u32) -> Option<String> {
    let mut buffer = vec![0 as libc::c_char; 1024];
    loop {
        // SAFETY: all-zero bytes are a valid `passwd`, whose pointers may be null.
        let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
        let mut found = std::ptr::null_mut();
        // SAFETY: all pointers are to memory that lives through the call, and the length is that
        // of the buffer.
        let failed = unsafe {
            libc::getpwuid_r(
                uid,
                &mut entry,
                buffer.as_mut_ptr(),
                buffer.len(),
                &mut found,
            )
        };
        match failed {
            0 if found.is_null() || entry.pw_name.is_null() => return None,
            0 => {
                // SAFETY: the name is a string in the buffer, which has not changed since.
                let name = unsafe { CStr::from_ptr(entry.pw_name) };
                return name.to_str().ok().map(str::to_owned);
            }
            libc::ERANGE if buffer.len() < ENTRY_MAX => buffer.resize(buffer.len() * 2, 0),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn users_have_names_or_none() {
        assert_eq!(super::name(0).as_deref(), Some("root"));
        assert_eq!(super::name(3_999_999_999), None);
    }
}
