//! The names and numbers of IceT's interface, version 2.2.

use std::ffi::{c_int, c_void};

pub(crate) type Enum = u32;
pub(crate) type Size = i32;

/// Types of values.
pub(crate) const BOOLEAN: Enum = 0x8000;
pub(crate) const BYTE: Enum = 0x8001;
pub(crate) const SHORT: Enum = 0x8002;
pub(crate) const INT: Enum = 0x8003;
pub(crate) const FLOAT: Enum = 0x8004;
pub(crate) const DOUBLE: Enum = 0x8005;
pub(crate) const POINTER: Enum = 0x8008;
pub(crate) const VOID: Enum = 0x800F;
pub(crate) const NULL: Enum = 0;

pub(crate) const COLOR_NONE: Enum = 0xC000;
pub(crate) const COLOR_RGBA_UBYTE: Enum = 0xC001;
pub(crate) const COLOR_RGBA_FLOAT: Enum = 0xC002;
pub(crate) const COLOR_RGB_FLOAT: Enum = 0xC003;
pub(crate) const DEPTH_NONE: Enum = 0xD000;
pub(crate) const DEPTH_FLOAT: Enum = 0xD001;

pub(crate) const STRATEGY_UNDEFINED: Enum = 0xFFFF_FFFF;
pub(crate) const STRATEGY_DIRECT: Enum = 0x6001;
pub(crate) const STRATEGY_SEQUENTIAL: Enum = 0x6002;
pub(crate) const STRATEGY_SPLIT: Enum = 0x6003;
pub(crate) const STRATEGY_REDUCE: Enum = 0x6004;
pub(crate) const STRATEGY_VTREE: Enum = 0x6005;

pub(crate) const SINGLE_AUTOMATIC: Enum = 0x7001;
pub(crate) const SINGLE_BSWAP: Enum = 0x7002;
pub(crate) const SINGLE_TREE: Enum = 0x7003;
pub(crate) const SINGLE_RADIXK: Enum = 0x7004;
pub(crate) const SINGLE_RADIXKR: Enum = 0x7005;
pub(crate) const SINGLE_BSWAP_FOLDING: Enum = 0x7006;

pub(crate) const MODE_Z_BUFFER: Enum = 0x0301;
pub(crate) const MODE_BLEND: Enum = 0x0302;

pub(crate) const DIAG_ERRORS: u32 = 0x0001;
pub(crate) const DIAG_WARNINGS: u32 = 0x0003;
pub(crate) const DIAG_DEBUG: u32 = 0x0007;
pub(crate) const DIAG_ALL_NODES: u32 = 0x0100;

pub(crate) const NO_ERROR: Enum = 0;
pub(crate) const SANITY_CHECK_FAIL: Enum = 0xFFFF_FFFF;
pub(crate) const INVALID_ENUM: Enum = 0xFFFF_FFFE;
pub(crate) const BAD_CAST: Enum = 0xFFFF_FFFD;
pub(crate) const INVALID_OPERATION: Enum = 0xFFFF_FFFB;
pub(crate) const INVALID_VALUE: Enum = 0xFFFF_FFFA;

/// Parameters of a context.
pub(crate) mod param {
    use super::Enum;

    pub(crate) const DIAGNOSTIC_LEVEL: Enum = 0x001;
    pub(crate) const RANK: Enum = 0x002;
    pub(crate) const NUM_PROCESSES: Enum = 0x003;
    pub(crate) const BACKGROUND_COLOR: Enum = 0x005;
    pub(crate) const BACKGROUND_COLOR_WORD: Enum = 0x006;
    pub(crate) const PHYSICAL_RENDER_WIDTH: Enum = 0x007;
    pub(crate) const PHYSICAL_RENDER_HEIGHT: Enum = 0x008;
    pub(crate) const COLOR_FORMAT: Enum = 0x009;
    pub(crate) const DEPTH_FORMAT: Enum = 0x00A;

    pub(crate) const NUM_TILES: Enum = 0x010;
    pub(crate) const TILE_VIEWPORTS: Enum = 0x011;
    pub(crate) const GLOBAL_VIEWPORT: Enum = 0x012;
    pub(crate) const TILE_MAX_WIDTH: Enum = 0x013;
    pub(crate) const TILE_MAX_HEIGHT: Enum = 0x014;
    pub(crate) const DISPLAY_NODES: Enum = 0x01A;
    pub(crate) const TILE_DISPLAYED: Enum = 0x01B;

    pub(crate) const GEOMETRY_BOUNDS: Enum = 0x022;
    pub(crate) const NUM_BOUNDING_VERTS: Enum = 0x023;
    pub(crate) const STRATEGY: Enum = 0x024;
    pub(crate) const SINGLE_IMAGE_STRATEGY: Enum = 0x025;
    pub(crate) const COMPOSITE_MODE: Enum = 0x028;
    pub(crate) const COMPOSITE_ORDER: Enum = 0x029;
    pub(crate) const PROCESS_ORDERS: Enum = 0x02A;
    pub(crate) const STRATEGY_SUPPORTS_ORDERING: Enum = 0x02B;
    pub(crate) const DATA_REPLICATION_GROUP: Enum = 0x02C;
    pub(crate) const DATA_REPLICATION_GROUP_SIZE: Enum = 0x02D;
    pub(crate) const FRAME_COUNT: Enum = 0x02E;
    pub(crate) const MAGIC_K: Enum = 0x040;
    pub(crate) const MAX_IMAGE_SPLIT: Enum = 0x041;
    pub(crate) const DRAW_FUNCTION: Enum = 0x060;
    pub(crate) const RENDER_LAYER_DESTRUCTOR: Enum = 0x061;

    pub(crate) const IS_DRAWING_FRAME: Enum = 0x080;
    pub(crate) const PROJECTION_MATRIX: Enum = 0x081;
    pub(crate) const MODELVIEW_MATRIX: Enum = 0x082;
    pub(crate) const CONTAINED_VIEWPORT: Enum = 0x083;
    pub(crate) const NEAR_DEPTH: Enum = 0x084;
    pub(crate) const FAR_DEPTH: Enum = 0x085;
    pub(crate) const NUM_CONTAINED_TILES: Enum = 0x086;
    pub(crate) const CONTAINED_TILES_LIST: Enum = 0x087;
    pub(crate) const CONTAINED_TILES_MASK: Enum = 0x088;
    pub(crate) const NEED_BACKGROUND_CORRECTION: Enum = 0x08C;
    pub(crate) const TRUE_BACKGROUND_COLOR: Enum = 0x08D;
    pub(crate) const TRUE_BACKGROUND_COLOR_WORD: Enum = 0x08E;
    pub(crate) const VALID_PIXELS_TILE: Enum = 0x098;
    pub(crate) const VALID_PIXELS_OFFSET: Enum = 0x099;
    pub(crate) const VALID_PIXELS_NUM: Enum = 0x09A;

    /// The range of parameters that are reset when a frame begins.
    pub(crate) const FRAME: std::ops::Range<Enum> = 0x080..0x0C0;

    pub(crate) const RENDER_TIME: Enum = 0x0C1;
    pub(crate) const BUFFER_READ_TIME: Enum = 0x0C2;
    pub(crate) const BUFFER_WRITE_TIME: Enum = 0x0C3;
    pub(crate) const COMPRESS_TIME: Enum = 0x0C4;
    pub(crate) const INTERLACE_TIME: Enum = 0x0C5;
    pub(crate) const BLEND_TIME: Enum = 0x0C6;
    pub(crate) const COMPOSITE_TIME: Enum = 0x0C7;
    pub(crate) const COLLECT_TIME: Enum = 0x0C8;
    pub(crate) const TOTAL_DRAW_TIME: Enum = 0x0C9;
    pub(crate) const BYTES_SENT: Enum = 0x0CA;

    /// The values that `icetEnable` takes.
    pub(crate) const ENABLES: std::ops::Range<Enum> = 0x140..0x180;
    pub(crate) const FLOATING_VIEWPORT: Enum = 0x141;
    pub(crate) const ORDERED_COMPOSITE: Enum = 0x142;
    pub(crate) const CORRECT_COLORED_BACKGROUND: Enum = 0x143;
    pub(crate) const COMPOSITE_ONE_BUFFER: Enum = 0x144;
    pub(crate) const INTERLACE_IMAGES: Enum = 0x145;
    pub(crate) const COLLECT_IMAGES: Enum = 0x146;
    pub(crate) const RENDER_EMPTY_IMAGES: Enum = 0x147;

    /// The numbers of all parameters are smaller.
    pub(crate) const COUNT: Enum = 0x200;
}

/// The program's functions for messages between its processes. Most of them are not called here.
#[repr(C)]
pub(crate) struct Communicator {
    pub(crate) duplicate: Option<unsafe extern "C" fn(*mut Communicator) -> *mut Communicator>,
    pub(crate) destroy: Option<unsafe extern "C" fn(*mut Communicator)>,
    _subset: *const c_void,
    _barrier: *const c_void,
    _send: *const c_void,
    _recv: *const c_void,
    _sendrecv: *const c_void,
    _gather: *const c_void,
    _gatherv: *const c_void,
    pub(crate) allgather:
        Option<unsafe extern "C" fn(*mut Communicator, *const c_void, c_int, Enum, *mut c_void)>,
    _alltoall: *const c_void,
    _isend: *const c_void,
    _irecv: *const c_void,
    _wait: *const c_void,
    _waitany: *const c_void,
    pub(crate) comm_size: Option<unsafe extern "C" fn(*mut Communicator) -> c_int>,
    pub(crate) comm_rank: Option<unsafe extern "C" fn(*mut Communicator) -> c_int>,
    _data: *mut c_void,
}

/// A context, as programs hold it. It points to nothing.
pub(crate) type ContextHandle = *mut c_void;

/// An image, as programs hold it, by value. It points to nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct ImageHandle {
    pub(crate) number: *mut c_void,
}

/// Draws the program's share of the data. An exception may leave it, and passes through this
/// library.
pub(crate) type DrawCallback = unsafe extern "C-unwind" fn(
    projection: *const f64,
    modelview: *const f64,
    background: *const f32,
    viewport: *const i32,
    result: ImageHandle,
);

/// Frees what the program's rendering layer has put into a context.
pub(crate) type Destructor = unsafe extern "C" fn();
