//! Native displays: the X server that they belong to, and a way to make sure that it has received
//! the program's requests.

use crate::x11::xlib::{xlib, Display};
use std::ffi::{c_int, c_uint, c_void};
use std::os::fd::RawFd;
use std::ptr::null_mut;
use std::sync::OnceLock;

/// The source of an EGL display's windows. The program's pointers are stored as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Platform {
    /// An Xlib display of the program's.
    Xlib(usize),
    /// An xcb connection of the program's.
    Xcb(usize),
    /// The display that `DISPLAY` names. Windows come from a connection that the program does not
    /// pass to us.
    DefaultX,
    /// No windows.
    Surfaceless,
    /// No windows: the only device.
    Device,
}

impl Platform {
    /// The X server's name, as for `DISPLAY`. `None` without one.
    ///
    /// # Safety
    /// The program's display or connection is open.
    pub unsafe fn x_server(&self) -> Option<String> {
        match *self {
            // SAFETY: the caller's promise.
            Platform::Xlib(display) => xlib().map(|x| unsafe { x.name(display as *mut Display) }),
            Platform::Xcb(connection) => {
                // SAFETY: the caller's promise.
                let fd = unsafe { (xcb()?.get_file_descriptor)(connection as *mut c_void) };
                peer_display(fd).or_else(|| std::env::var("DISPLAY").ok())
            }
            Platform::DefaultX => std::env::var("DISPLAY").ok(),
            Platform::Surfaceless | Platform::Device => None,
        }
    }

    /// The program's Xlib display; null if it has none.
    pub fn xlib(&self) -> *mut Display {
        match self {
            Platform::Xlib(display) => *display as *mut Display,
            _ => null_mut(),
        }
    }

    /// Waits until the X server has processed all of the program's requests so far, so that its
    /// windows exist for other connections.
    ///
    /// # Safety
    /// The program's display or connection is open.
    pub unsafe fn sync(&self) {
        match *self {
            Platform::Xlib(display) => {
                if let Some(xlib) = xlib() {
                    // SAFETY: the caller's promise.
                    unsafe { (xlib.sync)(display as *mut Display, 0) };
                }
            }
            Platform::Xcb(connection) => {
                if let Some(xcb) = xcb() {
                    // SAFETY: the caller's promise; the reply is xcb's own allocation.
                    unsafe {
                        let connection = connection as *mut c_void;
                        let cookie = (xcb.get_input_focus)(connection);
                        let reply =
                            (xcb.get_input_focus_reply)(connection, cookie, std::ptr::null_mut());
                        libc::free(reply);
                    }
                }
            }
            Platform::DefaultX | Platform::Surfaceless | Platform::Device => {}
        }
    }
}

struct Xcb {
    get_file_descriptor: unsafe extern "C" fn(*mut c_void) -> c_int,
    get_input_focus: unsafe extern "C" fn(*mut c_void) -> c_uint,
    get_input_focus_reply:
        unsafe extern "C" fn(*mut c_void, c_uint, *mut *mut c_void) -> *mut c_void,
}

/// libxcb. A program with an xcb connection has loaded it.
fn xcb() -> Option<&'static Xcb> {
    static XCB: OnceLock<Option<Xcb>> = OnceLock::new();
    XCB.get_or_init(|| {
        // SAFETY: constant, NUL-terminated names; the signatures are libxcb's, whose cookies are
        // structs of one unsigned integer.
        unsafe {
            let lib = libc::dlopen(c"libxcb.so.1".as_ptr(), libc::RTLD_NOW);
            if lib.is_null() {
                return None;
            }
            let find = |name: &std::ffi::CStr| {
                let address = libc::dlsym(lib, name.as_ptr());
                (!address.is_null()).then_some(address)
            };
            type Descriptor = unsafe extern "C" fn(*mut c_void) -> c_int;
            type Ask = unsafe extern "C" fn(*mut c_void) -> c_uint;
            type Answer =
                unsafe extern "C" fn(*mut c_void, c_uint, *mut *mut c_void) -> *mut c_void;
            Some(Xcb {
                get_file_descriptor: std::mem::transmute::<*mut c_void, Descriptor>(find(
                    c"xcb_get_file_descriptor",
                )?),
                get_input_focus: std::mem::transmute::<*mut c_void, Ask>(find(
                    c"xcb_get_input_focus",
                )?),
                get_input_focus_reply: std::mem::transmute::<*mut c_void, Answer>(find(
                    c"xcb_get_input_focus_reply",
                )?),
            })
        }
    })
    .as_ref()
}

/// The display of the X server at the other end of `socket`, if its address tells.
fn peer_display(socket: RawFd) -> Option<String> {
    // SAFETY: an all-zero address is valid, and its length is passed along.
    unsafe {
        let mut address: libc::sockaddr_un = std::mem::zeroed();
        let mut length = size_of::<libc::sockaddr_un>() as libc::socklen_t;
        let asked = libc::getpeername(socket, (&raw mut address).cast(), &mut length);
        if asked != 0 || i32::from(address.sun_family) != libc::AF_UNIX {
            return None;
        }
        let used = (length as usize).saturating_sub(size_of::<libc::sa_family_t>());
        let path: Vec<u8> = address
            .sun_path
            .iter()
            .take(used)
            .map(|c| *c as u8)
            .collect();
        display_of_path(&path)
    }
}

/// `/tmp/.X11-unix/X92`, also as an abstract name, stands for display `:92`.
fn display_of_path(path: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(path);
    let text = text.trim_matches('\0');
    let number = text.strip_prefix("/tmp/.X11-unix/X")?;
    number.parse::<u32>().ok().map(|n| format!(":{n}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn socket_paths_name_displays() {
        assert_eq!(
            display_of_path(b"/tmp/.X11-unix/X92\0\0"),
            Some(":92".into())
        );
        assert_eq!(display_of_path(b"\0/tmp/.X11-unix/X0"), Some(":0".into()));
        assert_eq!(display_of_path(b"/run/other"), None);
        assert_eq!(display_of_path(b""), None);
    }
}
