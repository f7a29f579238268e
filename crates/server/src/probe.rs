//! Finds what this machine can render, without a server.

use crate::error::ServerError;
use mgn_render::{Pictures, Renderer, Room};
use mgn_wire::frames::Header;
use mgn_wire::hello::{ContextInfo, ServerInfo};
use mgn_wire::Fault;
use serde::{Deserialize, Serialize};

/// The abilities of a server on this machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Abilities {
    pub info: ServerInfo,
    /// The constants of a context of each API that the driver has, with the API's number in
    /// `mgn_wire::hello::api`.
    pub contexts: Vec<(u32, ContextInfo)>,
    /// EGL's vendor and version, and the platform that is used.
    pub egl: String,
}

/// Opens the driver in this process and asks it.
///
/// # Errors
/// One sentence on why nothing can be rendered here.
pub fn probe() -> Result<Abilities, ServerError> {
    Ok(Abilities::of(&Renderer::new(Box::new(DiscardPictures))?))
}

impl Abilities {
    pub(crate) fn of(renderer: &Renderer) -> Abilities {
        Abilities {
            info: renderer.info().clone(),
            contexts: renderer.context_infos().to_vec(),
            egl: renderer.describe_egl(),
        }
    }
}

/// The constants of a context of each API that programs in this environment get, with the API's
/// number in `mgn_wire::hello::api`.
///
/// # Errors
/// One sentence on why they get none.
pub fn probe_environment() -> Result<Vec<(u32, ContextInfo)>, ServerError> {
    let renderer = Renderer::of_environment(Box::new(DiscardPictures))?;
    Ok(renderer.context_infos().to_vec())
}

struct DiscardPictures;

impl Pictures for DiscardPictures {
    fn room(&mut self, _: u32, bytes: usize) -> Result<Option<Room>, Fault> {
        Ok(Some(Room::new(vec![0; bytes], 0)))
    }

    fn send(&mut self, _: u32, _: &Header, _: (u32, u32), _: Room) -> Result<(), Fault> {
        Ok(())
    }

    fn send_header(&mut self, _: &Header) -> Result<(), Fault> {
        Ok(())
    }
}
