//! Opcodes, and the hash of the table that both ends must share.

use super::{op_name, travelling, HEADER};
use mgn_spec::Model;

/// Opcodes below this are the stream's own (`LONG`, …).
const FIRST: u16 = 16;

pub fn emit(model: &Model) -> String {
    let mut text =
        format!("{HEADER}//! Opcodes of all commands that travel.\n\nuse crate::draws::Draws;\n\n");
    let mut names = String::new();
    let mut table = String::new();
    let mut count = 0;
    for (i, c) in travelling(model).enumerate() {
        text += &format!("pub const {}: u16 = {};\n", op_name(c), FIRST as usize + i);
        names += &format!("    \"{}\",\n", c.name);
        table += &format!("{} {:?} {:?} {:?}\n", c.name, c.params, c.returns, c.carry);
        count += 1;
    }
    text += &format!("\npub const FIRST: u16 = {FIRST};\n\n");
    text += &format!("/// Names by opcode, from `FIRST` on.\npub static NAMES: [&str; {count}] = [\n{names}];\n\n");
    text += &draws(model);
    text += &format!("/// Two ends whose tables differ refuse each other.\npub const TABLE_HASH: u64 = {:#018x};\n", fnv(&table));
    text
}

fn draws(model: &Model) -> String {
    let mut arms = String::new();
    for c in travelling(model) {
        if let Some(how) = c.draws {
            arms += &format!("{} => Draws::{how:?},\n", op_name(c));
        }
    }
    format!(
        "/// How a command draws; none if it does not.\n\
         pub fn draws(op: u16) -> Option<Draws> {{ Some(match op {{ {arms} _ => return None }}) }}\n\n"
    )
}

fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)
    })
}
