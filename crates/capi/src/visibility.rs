//! The order from front to back

use std::ffi::c_int;

use mgn_composite::{front_to_back, Brick, Eye};

use crate::arguments::out;
use crate::fault::{call, Fault};

/// An axis-aligned box that contains data of a rank. A rank may have several.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct mgn_brick {
    pub rank: u32,
    /// The corner with the smallest coordinates, and the corner with the largest. Infinity is
    /// allowed.
    pub min: [f64; 3],
    pub max: [f64; 3],
}

/// Computes the ranks of bricks from front to back, for the order of an mgn_composition that
/// blends. eye is the position of the eye in the coordinates of the bricks or, with is_direction,
/// the direction of a parallel projection into the scene. order has space for one number for each
/// brick, and order_length is set to the number of ranks. Ranks without bricks are left out,
/// because they have nothing to show. If there are no bricks at all, do not composite: an order
/// that is null means all ranks. If several ranks can come next, the lowest is chosen. Returns
/// MGN_ERR_ARGUMENT if the coordinates are not those of boxes and an eye. Also returns it if the
/// bricks have no such order, because bricks of different ranks overlap or hide each other in a
/// cycle; mgn_last_error names them. Needs no job: call it before or after mgn_init.
#[no_mangle]
pub unsafe extern "C" fn mgn_front_to_back(
    eye: *const f64,
    is_direction: c_int,
    bricks: *const mgn_brick,
    count: usize,
    order: *mut u32,
    order_length: *mut u32,
) -> c_int {
    call(|| {
        // SAFETY: as the caller promises.
        let order_length = unsafe { out(order_length, "order_length") }?;
        *order_length = 0;
        if eye.is_null() {
            return Err(Fault::argument("eye is null"));
        }
        if count > 0 && (bricks.is_null() || order.is_null()) {
            return Err(Fault::argument(format!(
                "bricks or order is null, but count is {count}"
            )));
        }
        // SAFETY: there are three numbers, as the caller promises.
        let eye = [0, 1, 2].map(|axis| unsafe { eye.add(axis).read_unaligned() });
        let eye = match is_direction {
            0 => Eye::At(eye),
            _ => Eye::Along(eye),
        };
        let brick = |at: usize| {
            // SAFETY: the caller promises `count` bricks.
            let mgn_brick { rank, min, max } = unsafe { bricks.add(at).read_unaligned() };
            Brick {
                rank: rank as usize,
                min,
                max,
            }
        };
        let bricks: Vec<Brick> = (0..count).map(brick).collect();
        let found = front_to_back(eye, &bricks);
        let found = found.map_err(|error| Fault::argument(error.to_string()))?;
        for (at, rank) in found.iter().enumerate() {
            // SAFETY: the caller promises space for `count` numbers, and there are no more ranks
            // than bricks. Ranks came as u32.
            unsafe { order.add(at).write_unaligned(*rank as u32) };
        }
        *order_length = found.len() as u32;
        Ok(0)
    })
}
