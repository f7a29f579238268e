//! `locations`: replaces the uniform locations that a client chose itself, because it got no
//! answers, by the driver's.

use mgn_wire::locations::{recorded, SPAN};
use mgn_wire::{Commands, Reply};
use std::collections::HashMap;

/// Passes everything on. Replaces the uniform locations of a recording by those that the next stage
/// gives to the same names.
pub struct Locations<'a> {
    pub(crate) next: &'a mut dyn Commands,
    pub(crate) context: u32,
    /// How many locations have been requested so far, by context.
    asked: HashMap<u32, u32>,
    /// The driver's locations, by the recorded ones.
    known: HashMap<i32, i32>,
}

impl<'a> Locations<'a> {
    pub fn new(next: &'a mut dyn Commands) -> Locations<'a> {
        Locations {
            next,
            context: 0,
            asked: HashMap::new(),
            known: HashMap::new(),
        }
    }

    /// Stores the driver's location from `reply`, which answers the program's request for one.
    pub(crate) fn learn(&mut self, reply: &Reply) {
        let asked = self.asked.entry(self.context).or_default();
        let mut real = [0xff; 4];
        // An array of one value, after its length. Without a value, the location is -1.
        if let Some(bytes) = reply.bytes().get(4..8) {
            real.copy_from_slice(bytes);
        }
        let real = i32::from_le_bytes(real);
        self.known.insert(recorded(self.context, *asked), real);
        *asked = asked.wrapping_add(1);
    }

    /// The driver's location for a recorded one. Elements of an array follow its first element.
    pub(crate) fn real(&self, location: i32) -> i32 {
        let element = location.rem_euclid(SPAN);
        match self.known.get(&(location - element)) {
            Some(first) if location >= 0 && *first >= 0 => first + element,
            _ => -1,
        }
    }
}
