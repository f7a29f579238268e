//! Dispatch functions of EGL extensions, found by their display or device.

use super::abi::{Attrib, EglBoolean, Exports, Handle, Vendor};
use super::error::EglError;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

static EXPORTS: AtomicPtr<Exports> = AtomicPtr::new(null_mut());

pub fn set_exports(exports: *const Exports) {
    EXPORTS.store(exports.cast_mut(), Ordering::Release);
}

fn exports() -> &'static Exports {
    // SAFETY: nothing here is called before the handshake, whose table outlives us.
    unsafe { &*EXPORTS.load(Ordering::Acquire) }
}

/// The API that `eglBindAPI` has set for this thread.
pub fn current_api() -> c_uint {
    // SAFETY: libEGL's own function.
    unsafe { (exports().current_api)() }
}

macro_rules! stubs {
    ($($index:ident $name:literal $stub:ident($($arg:ident: $kind:ty),*) -> $ret:ty, $failed:expr, by $vendor:ident;)*) => {
        $(static $index: AtomicI32 = AtomicI32::new(-1);)*

        /// The stub that libEGL gives to programs for the extension function `name`.
        pub fn stub(name: &[u8]) -> Option<*const c_void> {
            match name {
                $($name => Some($stub as *const c_void),)*
                _ => None,
            }
        }

        /// libEGL says at which index it looks up each vendor's implementation of `name`.
        pub fn set_index(name: &[u8], index: c_int) {
            match name {
                $($name => $index.store(index, Ordering::Release),)*
                _ => {}
            }
        }

        $(unsafe extern "C" fn $stub(of: Handle $(, $arg: $kind)*) -> $ret {
            type Function = unsafe extern "C" fn(Handle $(, $kind)*) -> $ret;
            let address = implementation(|e| e.$vendor, of, &$index);
            if address.is_null() {
                return $failed;
            }
            // SAFETY: the vendor of what the function is about has it, of the type that the
            // extension fixes, at this index.
            unsafe {
                let function = std::mem::transmute::<*const c_void, Function>(address);
                function(of $(, $arg)*)
            }
        })*
    };
}

stubs! {
    DEVICE_ATTRIB b"eglQueryDeviceAttribEXT" query_device_attrib(name: c_int, value: *mut Attrib) -> EglBoolean, 0, by vendor_of_device;
    DEVICE_STRING b"eglQueryDeviceStringEXT" query_device_string(name: c_int) -> *const c_char, std::ptr::null(), by vendor_of_device;
    CREATE_IMAGE b"eglCreateImageKHR" create_image_khr(context: Handle, target: c_uint, buffer: Handle, list: *const c_int) -> Handle, null_mut(),
        by vendor_of_display;
    DESTROY_IMAGE b"eglDestroyImageKHR" destroy_image_khr(image: Handle) -> EglBoolean, 0, by vendor_of_display;
    CREATE b"eglCreateSyncKHR" create_sync_khr(kind: c_uint, list: *const c_int) -> Handle, null_mut(), by vendor_of_display;
    DESTROY b"eglDestroySyncKHR" destroy_sync_khr(sync: Handle) -> EglBoolean, 0, by vendor_of_display;
    CLIENT_WAIT b"eglClientWaitSyncKHR" client_wait_sync_khr(sync: Handle, flags: c_int, timeout: u64) -> c_int, 0, by vendor_of_display;
    ATTRIB b"eglGetSyncAttribKHR" get_sync_attrib_khr(sync: Handle, attribute: c_int, value: *mut c_int) -> EglBoolean, 0, by vendor_of_display;
    SIGNAL b"eglSignalSyncKHR" signal_sync_khr(sync: Handle, mode: c_uint) -> EglBoolean, 0, by vendor_of_display;
    WAIT b"eglWaitSyncKHR" wait_sync_khr(sync: Handle, flags: c_int) -> c_int, 0, by vendor_of_display;
}

type VendorOf = unsafe extern "C" fn(Handle) -> *mut Vendor;

/// The implementation at `index` by the vendor that owns `of`, a display or a device. Null, with
/// the error set, if there is none.
fn implementation(
    vendor_of: impl FnOnce(&Exports) -> VendorOf,
    of: Handle,
    index: &AtomicI32,
) -> *const c_void {
    let exports = exports();
    let index = index.load(Ordering::Acquire);
    // SAFETY: libEGL's own functions, called in the order its ABI prescribes for stubs.
    unsafe {
        (exports.thread_init)();
        let vendor = vendor_of(exports)(of);
        if vendor.is_null() || index < 0 {
            (exports.set_error)(EglError::BadDisplay as c_int);
            return std::ptr::null();
        }
        let address = (exports.fetch_dispatch_entry)(vendor, index);
        if address.is_null() || (exports.set_last_vendor)(vendor) == 0 {
            (exports.set_error)(EglError::BadDisplay as c_int);
            return std::ptr::null();
        }
        address
    }
}

/// Attribute lists of `EGLint` and of `EGLAttrib` as pairs, up to `EGL_NONE`; a null list is an
/// empty one.
///
/// # Safety
/// `list` is null or such a list.
pub unsafe fn pairs<T: Copy + Into<i64>>(list: *const T) -> Vec<(c_int, i64)> {
    const NONE: i64 = 0x3038;
    let mut pairs = Vec::new();
    if list.is_null() {
        return pairs;
    }
    let mut at = list;
    loop {
        // SAFETY: inside the list, which EGL_NONE ends.
        let name: i64 = unsafe { at.read() }.into();
        if name == NONE {
            return pairs;
        }
        // SAFETY: a name that is no terminator has a value behind it.
        unsafe {
            pairs.push((name as c_int, at.add(1).read().into()));
            at = at.add(2);
        }
    }
}

/// As [`pairs`], of pointer-sized attributes.
///
/// # Safety
/// As there.
pub unsafe fn wide_pairs(list: *const Attrib) -> Vec<(c_int, i64)> {
    // SAFETY: Attrib is as wide as i64 where this library runs.
    unsafe { pairs(list.cast::<i64>()) }
}

const _: () = assert!(size_of::<Attrib>() == size_of::<i64>());
