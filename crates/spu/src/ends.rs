//! The ends that a chain can name: the one that follows its stages in any case, or another target
//! for commands.

use crate::chain::{Does, Sending, Spu};

pub const RENDER: Spu = end(
    "render",
    "the end beside the renderer, which performs what comes: what a chain there ends with in any case",
    Does::Render,
);

pub const PACK: Spu = end(
    "pack",
    "the end in a program's process: commands are sent to the one renderer there is, and several are refused",
    Does::Send(Sending::ToOne),
);

pub const TILESORT: Spu = end(
    "tilesort",
    "the end in a program's process: draws are sent to the tiles of a wall that they touch, as they are in any case",
    Does::Send(Sending::Sorted),
);

pub const BROADCAST: Spu = end(
    "broadcast",
    "the end in a program's process: everything is sent to all renderers of a wall, and nothing is sorted",
    Does::Send(Sending::ToAll),
);

const fn end(name: &'static str, about: &'static str, does: Does) -> Spu {
    Spu {
        name,
        about,
        does,
        parameters: &[],
        build: |_, _, next| Ok(next),
    }
}
