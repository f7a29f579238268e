//! Images of textures and renderbuffers, which exist at the render server. Other kinds, such as
//! images of other processes or devices, are not supported.

use super::abi::{Attrib, EglBoolean, Handle};
use super::dispatch::{pairs, wide_pairs};
use super::display::with_display;
use super::error::{call, EglError};
use crate::contexts::contexts;
use crate::current::with_current;
use std::ffi::{c_int, c_uint};
use std::ptr::null_mut;

pub unsafe extern "C" fn create_image(
    display: Handle,
    context: Handle,
    target: c_uint,
    buffer: Handle,
    attributes: *const Attrib,
) -> Handle {
    // SAFETY: the program's list, passed on by libEGL.
    let attributes = unsafe { wide_pairs(attributes) };
    create(display, context, target, buffer as usize, &attributes)
}

pub unsafe extern "C" fn create_image_khr(
    display: Handle,
    context: Handle,
    target: c_uint,
    buffer: Handle,
    attributes: *const c_int,
) -> Handle {
    // SAFETY: the program's list, passed on by libEGL.
    let attributes = unsafe { pairs(attributes) };
    create(display, context, target, buffer as usize, &attributes)
}

fn create(
    display: Handle,
    context: Handle,
    target: c_uint,
    buffer: usize,
    attributes: &[(c_int, i64)],
) -> Handle {
    const TEXTURE_2D: c_uint = 0x30B1;
    const CUBE_FACES: std::ops::RangeInclusive<c_uint> = 0x30B3..=0x30B8;
    const RENDERBUFFER: c_uint = 0x30B9;
    const TEXTURE_LEVEL: c_int = 0x30BC;
    const TEXTURE_ZOFFSET: c_int = 0x30BD;
    const IMAGE_PRESERVED: c_int = 0x30D2;
    call(null_mut(), || {
        let (session, handle) = with_display(display, |open| match context.is_null() {
            true => Ok((open.session, null_mut())),
            false => Ok((open.session, open.context(context)?)),
        })?;
        let mut level = 0;
        for (name, value) in attributes {
            match *name {
                TEXTURE_LEVEL => level = *value as i32,
                TEXTURE_ZOFFSET | IMAGE_PRESERVED => {}
                _ => return Err(EglError::BadParameter),
            }
        }
        let is_one = target == TEXTURE_2D || target == RENDERBUFFER || CUBE_FACES.contains(&target);
        let name = u32::try_from(buffer).unwrap_or(0);
        if !session.info.has_images || !is_one || name == 0 {
            return Err(EglError::BadParameter);
        }
        let contexts = contexts();
        let context = contexts.id(handle).ok_or(EglError::BadContext)?;
        // The commands that define the image's source may not have been sent yet.
        with_current(|mine| mine.flush());
        let image = session.new_id();
        match contexts.create_image(session, image, context, target, name, level) {
            0x3000 => {}
            0x3003 => return Err(EglError::BadAlloc),
            0x3009 => return Err(EglError::BadMatch),
            0x3002 => return Err(EglError::BadAccess),
            _ => return Err(EglError::BadParameter),
        }
        with_display(display, |open| {
            open.images.insert(image as usize);
            Ok(image as usize as Handle)
        })
    })
}

pub unsafe extern "C" fn destroy_image(display: Handle, image: Handle) -> EglBoolean {
    call(0, || {
        with_display(display, |open| {
            if !open.images.remove(&(image as usize)) {
                return Err(EglError::BadParameter);
            }
            with_current(|mine| mine.flush());
            let image = image as usize as u32;
            open.session.control(|e| e.mgn_destroy_image(image));
            Ok(1)
        })
    })
}
