//! The ends that a chain can name: the one that follows its stages by default, or another target
//! for commands.

use crate::chain::{Does, Sending, Spu};

pub const RENDER: Spu = end(
    "render",
    "performs the commands; every chain in the server ends with it",
    Does::Render,
);

pub const PACK: Spu = end(
    "pack",
    "the end in a program's process: sends commands to one renderer, and refuses several",
    Does::Send(Sending::ToOne),
);

pub const TILESORT: Spu = end(
    "tilesort",
    "the end in a program's process: sends draws to the tiles of a wall that they touch; this is the default",
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
