//! Times of a frame's parts.

use std::sync::OnceLock;
use std::time::Instant;

use crate::abi::{param, Enum};
use crate::diagnostics::call;

/// Seconds since an arbitrary moment.
#[no_mangle]
pub extern "C" fn icetWallTime() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

fn begin(name: Enum) {
    call((), |registry| {
        let now = icetWallTime();
        registry.current()?.timers.insert(name, now);
        Ok(())
    });
}

/// An end without a beginning is ignored: a frame that began in between has cleared the timers.
fn end(name: Enum) {
    call((), |registry| {
        let context = registry.current()?;
        if let Some(start) = context.timers.remove(&name) {
            let time = context.state.double(name) + icetWallTime() - start;
            context.state.set_double(name, time);
        }
        Ok(())
    });
}

#[no_mangle]
pub extern "C" fn icetTimingRenderBegin() {
    begin(param::RENDER_TIME);
}

#[no_mangle]
pub extern "C" fn icetTimingRenderEnd() {
    end(param::RENDER_TIME);
}

#[no_mangle]
pub extern "C" fn icetTimingBufferReadBegin() {
    begin(param::BUFFER_READ_TIME);
}

#[no_mangle]
pub extern "C" fn icetTimingBufferReadEnd() {
    end(param::BUFFER_READ_TIME);
}

#[no_mangle]
pub extern "C" fn icetTimingBufferWriteBegin() {
    begin(param::BUFFER_WRITE_TIME);
}

#[no_mangle]
pub extern "C" fn icetTimingBufferWriteEnd() {
    end(param::BUFFER_WRITE_TIME);
}
