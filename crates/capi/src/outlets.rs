//! Outlets: windows, image files and viewers for pictures

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use std::sync::Arc;

use ::mgn_outlet::{Attached, Direction, Outlet, Shot};
use mgn_composite::Color;

use crate::arguments::{optional_text, out, text};
use crate::composite::{color, mgn_compositor};
use crate::fault::{call, Fault};
use crate::library::Library;
use crate::sync::lock;

/// An outlet: a destination for pictures, such as a window, image files or a viewer. mgn_finalize
/// closes all outlets.
#[allow(non_camel_case_types)]
pub type mgn_outlet = u64;

/// The first row in memory is the uppermost of the picture.
pub const MGN_TOP_DOWN: c_int = 0;

/// The first row in memory is the lowest of the picture, as glReadPixels gives it.
pub const MGN_BOTTOM_UP: c_int = 1;

/// A picture to be shown: rows of pixels without gaps. Alpha is ignored, so premultiplied colours
/// appear on black.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct mgn_picture {
    /// In pixels; from 1 to 65500 each.
    pub width: u32,
    pub height: u32,
    /// MGN_RGBA8. Other colours cannot be shown.
    pub color: c_int,
    /// MGN_TOP_DOWN or MGN_BOTTOM_UP.
    pub direction: c_int,
    pub pixels: *const c_void,
}

/// Opens an outlet that writes pictures to image files in a folder, which is created if it is
/// missing: frame-000001.png and so on. format is png, or jpeg for frame-000001.jpg; null means
/// png. If every is 1, all pictures are written; if it is N, only those whose number is a multiple
/// of N. The numbers count all pictures, unless mgn_outlet_number changes them.
///
/// MGN_ERR_ARGUMENT: there is no such format, or every is 0. MGN_ERR_OUTLET: the folder does not
/// exist and cannot be created. If files cannot be written in it, the first picture fails.
#[no_mangle]
pub unsafe extern "C" fn mgn_outlet_files(
    folder: *const c_char,
    format: *const c_char,
    every: u64,
    outlet: *mut mgn_outlet,
) -> c_int {
    call(|| {
        let library = Library::current()?;
        // SAFETY: as the caller promises.
        let (folder, format, outlet) = unsafe {
            (
                text(folder, "folder")?,
                optional_text(format, "format")?,
                out(outlet, "outlet")?,
            )
        };
        let files = Outlet::files(Path::new(folder), format.unwrap_or("png"), every)?;
        *outlet = library.add_outlet(files);
        Ok(0)
    })
}

/// Opens an outlet that shows pictures in a window with a title. display is the X server, such as
/// :0; null means the one that DISPLAY names. The window opens with the first picture, and has the
/// size of the latest one. The user may close it: see mgn_outlet_is_closed.
///
/// MGN_ERR_OUTLET: there is no such X server.
#[no_mangle]
pub unsafe extern "C" fn mgn_outlet_window(
    display: *const c_char,
    title: *const c_char,
    outlet: *mut mgn_outlet,
) -> c_int {
    call(|| {
        let library = Library::current()?;
        // SAFETY: as the caller promises.
        let (display, title, outlet) = unsafe {
            (
                optional_text(display, "display")?,
                text(title, "title")?,
                out(outlet, "outlet")?,
            )
        };
        *outlet = library.add_outlet(Outlet::window(display, title)?);
        Ok(0)
    })
}

/// Opens an outlet that sends pictures to a viewer (mgn viewer), which shows them in browsers as a
/// tile of its wall. The first tile is 0. viewer is the address of mgn viewer --feeds; null means
/// the default, unix:@manganese-viewer. A tcp: or tls: address needs token_file, the file of a
/// token with the role server; null means the one that MGN_TOKEN_FILE names.
///
/// The viewer need not run yet, and may be restarted. It gets the newest picture while a page shows
/// the tile, so some pictures may never be seen. Processes that show tiles of one wall must show
/// the same number of pictures. Width and height are at most 16384 pixels.
///
/// MGN_ERR_ARGUMENT: the address is invalid, or a wall cannot have this number of tiles.
/// MGN_ERR_OUTLET: no token is named, or it cannot be read. If the viewer refuses the outlet,
/// later pictures fail.
#[no_mangle]
pub unsafe extern "C" fn mgn_outlet_viewer(
    viewer: *const c_char,
    token_file: *const c_char,
    tile: u32,
    outlet: *mut mgn_outlet,
) -> c_int {
    call(|| {
        let library = Library::current()?;
        // SAFETY: as the caller promises.
        let (viewer, token_file, outlet) = unsafe {
            (
                optional_text(viewer, "viewer")?,
                optional_text(token_file, "token_file")?,
                out(outlet, "outlet")?,
            )
        };
        let tile = tile_number(tile)?;
        let opened = Outlet::viewer(viewer, token_file.map(Path::new), tile)?;
        *outlet = library.add_outlet(opened);
        Ok(0)
    })
}

/// Numbers the next pictures of an outlet first, first + step, first + 2 * step and so on. So the
/// processes of a job can write its pictures in turn, each encoding one while the others draw: with
/// N processes, process r calls mgn_outlet_number(outlet, r + 1, N), and composition number f,
/// counted from 0, goes to process f % N.
///
/// MGN_ERR_ARGUMENT: first or step is 0, or first is not larger than the numbers so far.
#[no_mangle]
pub extern "C" fn mgn_outlet_number(outlet: mgn_outlet, first: u64, step: u64) -> c_int {
    call(|| {
        let outlet = Library::current()?.outlet(outlet)?;
        lock(&outlet).number(first, step)?;
        Ok(0)
    })
}

/// Shows a picture. Its memory may be used again when this returns.
///
/// MGN_ERR_ARGUMENT: this picture cannot be shown, but others can. MGN_ERR_OUTLET: the outlet has
/// failed, for example because the disk is full or the X server has ended. It cannot be used any
/// more: close it.
#[no_mangle]
pub unsafe extern "C" fn mgn_outlet_show(outlet: mgn_outlet, picture: *const mgn_picture) -> c_int {
    call(|| {
        let outlet = Library::current()?.outlet(outlet)?;
        // SAFETY: as the caller promises.
        let picture = unsafe { *out(picture.cast_mut(), "picture")? };
        let color = color(picture.color)?;
        let direction = direction(picture.direction)?;
        let (width, height) = (picture.width as usize, picture.height as usize);
        if picture.pixels.is_null() {
            return Err(Fault::argument("pixels is null"));
        }
        let bytes = match Shot::can_have(width, height) && color == Color::Rgba8 {
            true => width * height * 4,
            // `show` refuses the size or the format before it reads a pixel.
            false => 0,
        };
        // SAFETY: the caller promises these pixels, which stay unchanged until this returns.
        let pixels = unsafe { std::slice::from_raw_parts(picture.pixels.cast(), bytes) };
        let mut outlet = lock(&outlet);
        outlet.show(&Shot {
            width,
            height,
            color,
            direction,
            pixels,
        })?;
        Ok(0)
    })
}

/// Returns 1 if the user has closed the outlet's window, and 0 otherwise. Pictures for a closed
/// window are dropped without an error. Also returns 1 if the X server has ended; further pictures
/// then cause MGN_ERR_OUTLET. A closed window disappears at this call or at the next picture, so a
/// program that shows pictures rarely should call this from time to time.
#[no_mangle]
pub extern "C" fn mgn_outlet_is_closed(outlet: mgn_outlet) -> c_int {
    call(|| {
        let outlet = Library::current()?.outlet(outlet)?;
        let is_closed = lock(&outlet).is_closed();
        Ok(is_closed.into())
    })
}

/// From now on, the library shows in outlet each whole picture that this process gets by
/// mgn_composite and mgn_composite_drawn. After mgn_composite_tiles, it shows all tiles that this
/// process gets as one picture: the smallest rectangle around them, black where there is no tile.
/// direction is MGN_TOP_DOWN or MGN_BOTTOM_UP. A compositor has one outlet, and an outlet may have
/// several compositors. With outlet 0, or after mgn_outlet_close, nothing is shown. If a picture
/// was composited but cannot be shown, the functions above return MGN_ERR_OUTLET; their results are
/// valid, and the compositor stays usable.
#[no_mangle]
pub extern "C" fn mgn_compositor_attach(
    compositor: mgn_compositor,
    outlet: mgn_outlet,
    direction: c_int,
) -> c_int {
    call(|| {
        let library = Library::current()?;
        let compositor = library.compositor(compositor)?;
        let direction = self::direction(direction)?;
        let attached = match outlet {
            0 => None,
            number => Some(Attached {
                outlet: Arc::downgrade(&library.outlet(number)?),
                direction,
            }),
        };
        compositor.attach(attached)?;
        Ok(0)
    })
}

/// Closes an outlet, and its window if it has one. Files remain.
#[no_mangle]
pub extern "C" fn mgn_outlet_close(outlet: mgn_outlet) -> c_int {
    call(|| Library::current()?.remove_outlet(outlet).map(|()| 0))
}

fn tile_number(tile: u32) -> Result<u16, Fault> {
    let number = u16::try_from(tile);
    number.map_err(|_| Fault::argument(format!("tile is {tile}, and no wall has that many tiles")))
}

fn direction(direction: c_int) -> Result<Direction, Fault> {
    match direction {
        MGN_TOP_DOWN => Ok(Direction::TopDown),
        MGN_BOTTOM_UP => Ok(Direction::BottomUp),
        other => Err(Fault::argument(format!("direction is {other}"))),
    }
}
