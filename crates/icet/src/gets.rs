//! The functions by which programs, and IceT's own libraries, read and set parameters.

use std::ffi::c_void;

use crate::abi::{param, Enum, Size};
use crate::context::Context;
use crate::diagnostics::{call, Problem};
use crate::state::Value;

/// Gives the values of a parameter to the program.
///
/// # Safety
/// `out` is null or has room for as many values as the parameter has.
unsafe fn give<T: Copy>(out: *mut T, values: impl FnOnce(&Context) -> Result<Vec<T>, Problem>) {
    call((), |registry| {
        let values = values(registry.current()?)?;
        if out.is_null() {
            return Err(Problem::Value("The pointer to the value is null.".into()));
        }
        for (at, value) in values.into_iter().enumerate() {
            // SAFETY: as the caller promises.
            unsafe { out.add(at).write_unaligned(value) };
        }
        Ok(())
    });
}

/// # Safety
/// As for all of these, `out` has room for as many values as the parameter has.
#[no_mangle]
pub unsafe extern "C" fn icetGetDoublev(name: Enum, out: *mut f64) {
    // SAFETY: as the caller promises.
    unsafe { give(out, |context| context.state.get(name)?.doubles(name)) }
}

/// # Safety
/// As [`icetGetDoublev`].
#[no_mangle]
pub unsafe extern "C" fn icetGetFloatv(name: Enum, out: *mut f32) {
    let floats = |context: &Context| {
        let values = context.state.get(name)?.doubles(name)?;
        Ok(values.into_iter().map(|value| value as f32).collect())
    };
    // SAFETY: as the caller promises.
    unsafe { give(out, floats) }
}

/// # Safety
/// As [`icetGetDoublev`].
#[no_mangle]
pub unsafe extern "C" fn icetGetIntegerv(name: Enum, out: *mut i32) {
    // SAFETY: as the caller promises.
    unsafe { give(out, |context| context.state.get(name)?.ints(name)) }
}

/// # Safety
/// As [`icetGetDoublev`].
#[no_mangle]
pub unsafe extern "C" fn icetGetBooleanv(name: Enum, out: *mut u8) {
    let bools = |context: &Context| {
        let values = context.state.get(name)?.ints(name)?;
        Ok(values.into_iter().map(|value| value as u8).collect())
    };
    // SAFETY: as the caller promises.
    unsafe { give(out, bools) }
}

/// # Safety
/// As [`icetGetDoublev`].
#[no_mangle]
pub unsafe extern "C" fn icetGetEnumv(name: Enum, out: *mut Enum) {
    // SAFETY: as the caller promises.
    unsafe { give(out, |context| context.state.get(name)?.enums(name)) }
}

/// # Safety
/// As [`icetGetDoublev`].
#[no_mangle]
pub unsafe extern "C" fn icetGetBitFieldv(name: Enum, out: *mut u32) {
    // SAFETY: as the caller promises.
    unsafe { icetGetEnumv(name, out) }
}

/// # Safety
/// As [`icetGetDoublev`].
#[no_mangle]
pub unsafe extern "C" fn icetGetPointerv(name: Enum, out: *mut usize) {
    let pointer = |context: &Context| Ok(vec![context.state.get(name)?.pointer(name)?]);
    // SAFETY: as the caller promises.
    unsafe { give(out, pointer) }
}

fn enable(function: &str, name: Enum, is_on: bool) {
    call((), |registry| {
        let state = &mut registry.current()?.state;
        check_enable(function, name)?;
        state.set_bool(name, is_on);
        Ok(())
    });
}

fn check_enable(function: &str, name: Enum) -> Result<(), Problem> {
    match param::ENABLES.contains(&name) {
        true => Ok(()),
        false => Err(Problem::Value(format!(
            "Bad value to {function} 0x{name:x}"
        ))),
    }
}

#[no_mangle]
pub extern "C" fn icetEnable(name: Enum) {
    enable("icetEnable", name, true);
}

#[no_mangle]
pub extern "C" fn icetDisable(name: Enum) {
    enable("icetDisable", name, false);
}

#[no_mangle]
pub extern "C" fn icetIsEnabled(name: Enum) -> u8 {
    call(0, |registry| {
        check_enable("icetIsEnabled", name)?;
        Ok(u8::from(registry.current()?.state.is_on(name)))
    })
}

// The following functions are for IceT's own libraries.

#[no_mangle]
pub extern "C" fn icetStateGetType(name: Enum) -> Enum {
    call(0, |registry| Ok(registry.current()?.state.place(name).kind))
}

#[no_mangle]
pub extern "C" fn icetStateGetNumEntries(name: Enum) -> Size {
    call(0, |registry| {
        Ok(match registry.current()?.state.get(name) {
            Ok(Value::Bools(values)) => values.len() as Size,
            Ok(Value::Ints(values)) => values.len() as Size,
            Ok(Value::Floats(values)) => values.len() as Size,
            Ok(Value::Doubles(values)) => values.len() as Size,
            Ok(Value::Pointer(_)) => 1,
            Ok(Value::Memory(memory)) => (memory.len() * 8) as Size,
            Ok(Value::Unset) | Err(_) => 0,
        })
    })
}

fn set(name: Enum, value: Value) {
    call((), |registry| {
        registry.current()?.state.set_checked(name, value)
    });
}

#[no_mangle]
pub extern "C" fn icetStateSetDouble(name: Enum, value: f64) {
    set(name, Value::Doubles(vec![value]));
}

#[no_mangle]
pub extern "C" fn icetStateSetInteger(name: Enum, value: i32) {
    set(name, Value::Ints(vec![value]));
}

#[no_mangle]
pub extern "C" fn icetStateSetBoolean(name: Enum, value: u8) {
    set(name, Value::Bools(vec![value]));
}

#[no_mangle]
pub extern "C" fn icetStateSetPointer(name: Enum, value: *const c_void) {
    set(name, Value::Pointer(value as usize));
}

/// The address of a parameter's integers, valid until the parameter is set again.
#[no_mangle]
pub extern "C" fn icetUnsafeStateGetInteger(name: Enum) -> *const i32 {
    let place = |registry: &mut crate::context::Registry| {
        let place = registry.current()?.state.place(name);
        match place.kind {
            crate::abi::INT => Ok(place.start as usize),
            _ => Err(Problem::Cast(format!(
                "Could not cast value for 0x{name:x}."
            ))),
        }
    };
    call(0, place) as *const i32
}

/// Memory that the context keeps for a rendering layer.
#[no_mangle]
pub extern "C" fn icetGetStateBuffer(name: Enum, bytes: Size) -> *mut c_void {
    let start = call(0, |registry| {
        let bytes = usize::try_from(bytes)
            .map_err(|_| Problem::Value(format!("A buffer cannot have {bytes} bytes.")))?;
        Ok(registry.current()?.state.memory(name, bytes)? as usize)
    });
    start as *mut c_void
}
