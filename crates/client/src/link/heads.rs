//! Sends composited pictures to the servers that show tiles.

use mgn_fabric::{Error, Sender};
use mgn_wall::Rect;
use mgn_wire::frames::{Instruction, Release, MERGE_HEADER};

/// A tile that its server shows, and the part of the window that the server keeps of a frame.
pub struct ShownTile {
    pub tile: usize,
    pub part: Rect,
}

impl ShownTile {
    /// Sends the server its part of the composited picture. `color` holds the pixels of the
    /// rectangle `all` of the window. Sends nothing if the part is empty or not within `all`.
    ///
    /// # Errors
    /// The error of the connection.
    pub fn give(
        &self,
        sender: &Sender,
        frame: Release,
        all: Rect,
        color: &[u8],
    ) -> Result<(), Error> {
        let part = self.part;
        if part.is_empty() || all.and(&part) != part {
            return Ok(());
        }
        let room = sender.message_max();
        let pixels = &[];
        let mut message = Instruction::Merge { frame, pixels }.encode();
        for y in part.y..part.bottom() {
            let row = (y - all.y) as usize * all.width as usize;
            let at = (row + (part.x - all.x) as usize) * 4;
            let row = &color[at..][..part.width as usize * 4];
            for piece in row.chunks(room.saturating_sub(MERGE_HEADER).max(1)) {
                if message.len() + piece.len() > room {
                    sender.send(&message)?;
                    message.truncate(MERGE_HEADER);
                }
                message.extend_from_slice(piece);
            }
        }
        match message.len() {
            MERGE_HEADER => Ok(()),
            _ => sender.send(&message),
        }
    }
}
