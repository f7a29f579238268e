//! Kinds of contexts. The properties that a program requests in addition to the version affect some
//! constants, the context's errors, and its behaviour when the server is lost.

use crate::context::{flag, Context, Request};
use crate::current::context;
use crate::gl::objects::sync_name;
use crate::link::renderers::Accepted;
use core::ffi::c_void;
use mgn_wire::gl::*;
use mgn_wire::hello::ContextInfo;
use mgn_wire::{lens, ops};

/// A context's constants. The server's context always has errors and is always flushed. With offset
/// tiling, viewports may be larger than the driver's, up to `offset_max`. Only the formats of
/// binaries that are `accepted` are listed.
pub fn constants(
    mut info: ContextInfo,
    request: &Request,
    accepted: &Accepted,
    offset_max: Option<u32>,
) -> ContextInfo {
    let mut change = |pname: u32, change: &dyn Fn(i64) -> i64| {
        for (_, values) in info.integers.iter_mut().filter(|(p, _)| *p == pname) {
            values.iter_mut().for_each(|value| *value = change(*value));
        }
    };
    if request.has(flag::NO_ERROR) {
        change(GL_CONTEXT_FLAGS, &|flags| {
            flags | i64::from(GL_CONTEXT_FLAG_NO_ERROR_BIT)
        });
    }
    if request.has(flag::NO_FLUSH) {
        change(GL_CONTEXT_RELEASE_BEHAVIOR, &|_| GL_NONE.into());
    }
    if request.has(flag::LOSES) {
        change(GL_RESET_NOTIFICATION_STRATEGY, &|_| {
            GL_LOSE_CONTEXT_ON_RESET.into()
        });
    }
    if let Some(side) = offset_max.map(i64::from) {
        change(GL_MAX_VIEWPORT_DIMS, &|_| side);
        info.floats
            .retain(|(pname, _)| *pname != GL_VIEWPORT_BOUNDS_RANGE);
        let bounds = info.integers.iter_mut();
        for (_, bounds) in bounds.filter(|(pname, _)| *pname == GL_VIEWPORT_BOUNDS_RANGE) {
            *bounds = vec![-2 * side, 2 * side];
        }
    }
    if accepted.binary_key.is_none() {
        let programs = (GL_PROGRAM_BINARY_FORMATS, GL_NUM_PROGRAM_BINARY_FORMATS);
        retain_formats(&mut info, programs, |_| false);
    }
    if !accepted.spirv {
        info.extensions
            .retain(|name| !["GL_ARB_gl_spirv", "GL_ARB_spirv_extensions"].contains(&&name[..]));
        let shaders = (GL_SHADER_BINARY_FORMATS, GL_NUM_SHADER_BINARY_FORMATS);
        let spirv = i64::from(GL_SHADER_BINARY_FORMAT_SPIR_V);
        retain_formats(&mut info, shaders, |format| format != spirv);
    }
    info
}

/// Removes formats from a list, and updates their number.
fn retain_formats(info: &mut ContextInfo, (list, number): (u32, u32), keep: impl Fn(i64) -> bool) {
    let mut left = None;
    for (_, formats) in info.integers.iter_mut().filter(|(p, _)| *p == list) {
        formats.retain(|format| keep(*format));
        left = Some(formats.len() as i64);
    }
    for (_, count) in info.integers.iter_mut().filter(|(p, _)| *p == number) {
        *count = vec![left.unwrap_or(0)];
    }
}

impl Context {
    /// The format of program binaries that is sent to servers. If the servers do not accept each
    /// other's binaries, this is a format that no driver has.
    pub fn program_format(&self, format: u32) -> u32 {
        match self.session.map(|session| session.accepted) {
            Some(Accepted {
                binary_key: None, ..
            }) => GL_NONE,
            _ => format,
        }
    }

    /// The same for shader binaries, if not all servers accept SPIR-V.
    pub fn shader_format(&self, format: u32) -> u32 {
        let is_refused = self.session.is_some_and(|s| !s.accepted.spirv);
        match format {
            GL_SHADER_BINARY_FORMAT_SPIR_V if is_refused => GL_NONE,
            format => format,
        }
    }

    /// Whether no server answers: the server is lost, or the commands are discarded or recorded.
    /// Queries and fences count as complete then, because a program that waits for them would wait
    /// forever.
    pub fn is_deserted(&self) -> bool {
        self.session
            .is_some_and(|session| session.is_lost() || !session.is_answered())
    }

    /// Whether the server is lost and the program wants to be told.
    pub fn is_lost(&self) -> bool {
        self.request.has(flag::LOSES) && self.session.is_some_and(|session| session.is_lost())
    }

    /// The error code that the program sees.
    pub fn shown_error(&self, code: u32) -> u32 {
        if self.is_lost() {
            return GL_CONTEXT_LOST;
        }
        if self.request.has(flag::NO_ERROR) && code != GL_OUT_OF_MEMORY {
            return GL_NO_ERROR;
        }
        code
    }

    fn reset_status(&mut self, op: u16) -> u32 {
        let status = self.answer(op).value();
        if self.is_lost() {
            // It is not known which context caused the reset.
            return GL_UNKNOWN_CONTEXT_RESET;
        }
        status
    }
}

pub unsafe extern "C" fn glGetGraphicsResetStatus() -> u32 {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        cx.enc.gl_get_graphics_reset_status();
        cx.reset_status(ops::GL_GET_GRAPHICS_RESET_STATUS)
    }
}

pub unsafe extern "C" fn glGetGraphicsResetStatusARB() -> u32 {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        cx.enc.gl_get_graphics_reset_status_arb();
        cx.reset_status(ops::GL_GET_GRAPHICS_RESET_STATUS_ARB)
    }
}

pub unsafe extern "C" fn glGetSynciv(
    sync: *mut c_void,
    pname: u32,
    count: i32,
    length: *mut i32,
    values: *mut i32,
) {
    // SAFETY: as above; the program has room for the length and `count` values where the pointers
    // are not null.
    unsafe {
        let cx = context();
        let most = lens::times(count.into(), 1);
        let room = if values.is_null() { 0 } else { most };
        cx.enc
            .gl_get_synciv(sync_name(sync), pname, count, 1, room as u32);
        let mut answer = cx.answer(ops::GL_GET_SYNCIV);
        answer.array(length, 1);
        answer.array(values, most);
        if cx.is_deserted() && pname == GL_SYNC_STATUS && room > 0 {
            values.write(GL_SIGNALED as i32);
        }
    }
}

pub unsafe extern "C" fn glClientWaitSync(sync: *mut c_void, flags: u32, timeout: u64) -> u32 {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        cx.enc.gl_client_wait_sync(sync_name(sync), flags, timeout);
        let waited = cx.answer(ops::GL_CLIENT_WAIT_SYNC).value();
        if cx.is_deserted() {
            return GL_ALREADY_SIGNALED;
        }
        waited
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_wire::hello::api;

    fn request(flags: u32) -> Request {
        Request {
            api: api::CORE,
            major: 4,
            minor: 5,
            flags,
            format: None,
            config_id: 0,
            screen: 0,
            visual: 0,
            shared_with: 0,
        }
    }

    #[test]
    fn what_was_asked_for_shows() {
        let info = ContextInfo {
            integers: vec![
                (GL_CONTEXT_FLAGS, vec![2]),
                (GL_CONTEXT_RELEASE_BEHAVIOR, vec![0x82FC]),
            ],
            ..ContextInfo::default()
        };
        let all = Accepted {
            binary_key: Some([0; 16]),
            spirv: true,
        };
        let shown = |flags| constants(info.clone(), &request(flags), &all, None).integers;
        assert_eq!(shown(1), info.integers);
        assert_eq!(shown(flag::NO_ERROR)[0].1, [2 | 8]);
        assert_eq!(shown(flag::NO_FLUSH)[1].1, [0]);
    }

    #[test]
    fn formats_that_are_not_accepted_are_not_listed() {
        const OTHER: i64 = 0x9250;
        let spirv = i64::from(GL_SHADER_BINARY_FORMAT_SPIR_V);
        let info = ContextInfo {
            extensions: ["GL_ARB_gl_spirv", "GL_ARB_sync"].map(String::from).into(),
            integers: vec![
                (GL_NUM_PROGRAM_BINARY_FORMATS, vec![1]),
                (GL_PROGRAM_BINARY_FORMATS, vec![0x875f]),
                (GL_NUM_SHADER_BINARY_FORMATS, vec![2]),
                (GL_SHADER_BINARY_FORMATS, vec![OTHER, spirv]),
            ],
            ..ContextInfo::default()
        };
        let none = Accepted {
            binary_key: None,
            spirv: false,
        };
        let shown = constants(info, &request(1), &none, None);
        assert_eq!(shown.extensions, ["GL_ARB_sync"]);
        let integers: Vec<_> = shown.integers.into_iter().map(|(_, v)| v).collect();
        assert_eq!(integers, [vec![0], vec![], vec![1], vec![OTHER]]);
    }
}
