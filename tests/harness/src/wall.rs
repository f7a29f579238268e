//! Files that describe walls, as users write them.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;

use tempfile::NamedTempFile;

use crate::stage::target;

/// A tile: its name, then x, y, width and height, then the TOML value for where it is shown. The
/// value is empty if the tile is shown in the program's window.
pub type Tile = (String, [u32; 4], String);

/// Writes a wall to a file, and returns the file's name for `--wall`. `more` contains further
/// settings, such as `fit = "1:1"`. The same wall always has the same file.
pub fn wall_file(name: &str, [width, height]: [u32; 2], more: &str, tiles: &[Tile]) -> String {
    let mut text = format!("[[wall]]\nname = \"{name}\"\nsize = [{width}, {height}]\n{more}\n");
    for (name, rect, present) in tiles {
        let _ = writeln!(text, "[[wall.tile]]\nname = \"{name}\"\nrect = {rect:?}");
        if !present.is_empty() {
            let _ = writeln!(text, "present = {present}");
        }
    }
    let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    let folder = target().join("walls");
    fs::create_dir_all(&folder).expect("a folder for walls");
    let file = folder.join(format!("{name}-{sum:016x}.toml"));
    // Other processes and threads may write or read the same file at this moment.
    let mut draft = NamedTempFile::new_in(&folder).expect("a file for a wall");
    draft.write_all(text.as_bytes()).expect("a file for a wall");
    draft.persist(&file).expect("a file for a wall");
    file.display().to_string()
}
