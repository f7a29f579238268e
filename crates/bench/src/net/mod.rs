//! Messages between processes, by Manganese and by other libraries.

pub mod congestion;
pub mod crowd;
pub mod emulated;
pub mod end;
#[allow(unsafe_code)]
pub mod endpoint;
pub mod launch;
pub mod measure;
pub mod member;
pub mod message_layer;
pub mod netpipe;
pub mod pair;
pub mod peers;
pub mod plain_member;
#[allow(unsafe_code)]
mod ring;
#[allow(unsafe_code)]
mod shared_buffer;
mod sockets;
pub mod ucx;
