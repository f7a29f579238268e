//! Messages between processes, ours and others'.

pub mod congestion;
pub mod crowd;
pub mod emulated;
pub mod end;
pub mod launch;
pub mod measure;
pub mod member;
#[allow(unsafe_code)]
mod memory;
pub mod netpipe;
#[allow(unsafe_code)]
pub mod ours;
pub mod pair;
pub mod peers;
mod sockets;
pub mod source;
pub mod ucx;
