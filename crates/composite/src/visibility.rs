//! The order of the members from front to back, for data that is divided into boxes.
//!
//! If a plane separates two boxes, only the box on the eye's side of the plane can hide parts of
//! the other (Schumacker et al. 1969). All boxes have faces perpendicular to the axes. So if two
//! boxes do not overlap, such a plane separates them: a coordinate of one axis.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A box with faces perpendicular to the axes, which holds data of one rank. A rank may have
/// several bricks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brick {
    pub rank: usize,
    /// The corner with the smallest coordinates, and the one with the largest.
    pub min: [f64; 3],
    pub max: [f64; 3],
}

/// From where a scene is seen, in the coordinates of the bricks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Eye {
    /// Perspective: the position of the eye.
    At([f64; 3]),
    /// Parallel projection: the direction from the eye into the scene, of any length.
    Along([f64; 3]),
}

/// Why bricks have no order from front to back.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum VisibilityError {
    #[error("brick {brick} has a corner that is not a number, or its smallest coordinate is larger than its largest")]
    Corners { brick: usize },
    #[error("the eye's coordinates are not finite, or its direction has no length")]
    Eye,
    #[error("bricks {0} and {1} overlap and belong to different ranks, so neither is in front of the other; divide the data into boxes that only touch")]
    Overlap(usize, usize),
    #[error("ranks {0:?} hide each other in turn, so no order is right; divide their bricks further, or composite them as several pictures")]
    Cycle(Vec<usize>),
}

/// Which of two bricks can hide parts of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hides {
    Neither,
    First,
    Second,
}

/// The ranks of these bricks from front to back, for [`Terms::order`](crate::Terms::order). If
/// several ranks may come next, the lowest does. Ranks without bricks are left out: they have
/// nothing to show. Takes time that grows with the square of the number of bricks.
///
/// # Errors
/// [`VisibilityError`].
pub fn front_to_back(eye: Eye, bricks: &[Brick]) -> Result<Vec<usize>, VisibilityError> {
    let is_seen = match eye {
        Eye::At(place) => place.iter().all(|at| at.is_finite()),
        Eye::Along(direction) => {
            direction.iter().all(|at| at.is_finite()) && direction.iter().any(|at| *at != 0.0)
        }
    };
    if !is_seen {
        return Err(VisibilityError::Eye);
    }
    // Infinite corners are allowed: they mean data without end.
    let is_box = |brick: &Brick| (0..3).all(|axis| brick.min[axis] <= brick.max[axis]);
    if let Some(brick) = bricks.iter().position(|brick| !is_box(brick)) {
        return Err(VisibilityError::Corners { brick });
    }
    let mut ranks: Vec<usize> = bricks.iter().map(|brick| brick.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let place = |rank: usize| ranks.binary_search(&rank).expect("it was collected");

    let mut behind = vec![vec![false; ranks.len()]; ranks.len()];
    for (at, first) in bricks.iter().enumerate() {
        for (other, second) in bricks.iter().enumerate().skip(at + 1) {
            if first.rank == second.rank {
                continue;
            }
            let hides = hides(eye, first, second);
            match hides.ok_or(VisibilityError::Overlap(at, other))? {
                Hides::Neither => {}
                Hides::First => behind[place(first.rank)][place(second.rank)] = true,
                Hides::Second => behind[place(second.rank)][place(first.rank)] = true,
            }
        }
    }
    sort(&behind)
        .map(|order| order.into_iter().map(|at| ranks[at]).collect())
        .map_err(|left| VisibilityError::Cycle(left.into_iter().map(|at| ranks[at]).collect()))
}

/// None if the bricks overlap.
fn hides(eye: Eye, first: &Brick, second: &Brick) -> Option<Hides> {
    let mut found = None;
    for axis in 0..3 {
        let is_before = first.max[axis] <= second.min[axis];
        let hides = if is_before && second.max[axis] <= first.min[axis] {
            // Both bricks have no thickness, and lie in the same plane.
            Hides::Neither
        } else if is_before {
            lower_hides(
                eye,
                axis,
                first.max[axis],
                second.min[axis],
                Hides::First,
                Hides::Second,
            )
        } else if second.max[axis] <= first.min[axis] {
            lower_hides(
                eye,
                axis,
                second.max[axis],
                first.min[axis],
                Hides::Second,
                Hides::First,
            )
        } else {
            continue;
        };
        // Each plane between the bricks rules out one direction of hiding. If two planes rule out
        // both directions, neither brick hides the other.
        found = match found {
            None => Some(hides),
            Some(before) if before == hides => found,
            Some(_) => Some(Hides::Neither),
        };
    }
    found
}

/// Which of two bricks can hide the other, if planes across an axis separate them: all those from
/// the end of the lower brick to the start of the upper one.
fn lower_hides(eye: Eye, axis: usize, end: f64, start: f64, lower: Hides, upper: Hides) -> Hides {
    match eye {
        Eye::At(place) if place[axis] < end => lower,
        Eye::At(place) if place[axis] > start => upper,
        // The eye is between the bricks, or on a plane that both touch. It sees them in different
        // directions.
        Eye::At(_) => Hides::Neither,
        Eye::Along(direction) if direction[axis] > 0.0 => lower,
        Eye::Along(direction) if direction[axis] < 0.0 => upper,
        Eye::Along(_) => Hides::Neither,
    }
}

/// Sorts numbers so that each comes before those behind it. The next number is always the smallest
/// one that has none of the remaining numbers in front of it. The error holds the numbers on
/// cycles, and between cycles.
fn sort(behind: &[Vec<bool>]) -> Result<Vec<usize>, Vec<usize>> {
    let count = behind.len();
    let mut in_front: Vec<usize> = (0..count)
        .map(|at| behind.iter().filter(|row| row[at]).count())
        .collect();
    let mut free: BinaryHeap<Reverse<usize>> = (0..count)
        .filter(|at| in_front[*at] == 0)
        .map(Reverse)
        .collect();
    let mut order = Vec::with_capacity(count);
    while let Some(Reverse(next)) = free.pop() {
        order.push(next);
        for (at, _) in behind[next].iter().enumerate().filter(|(_, is)| **is) {
            in_front[at] -= 1;
            if in_front[at] == 0 {
                free.push(Reverse(at));
            }
        }
    }
    match order.len() == count {
        true => Ok(order),
        false => Err(cyclic(behind, |at| in_front[at] > 0)),
    }
}

/// The remaining numbers. Those with no remaining number behind them are removed, again and again.
fn cyclic(behind: &[Vec<bool>], is_left: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut left: Vec<usize> = (0..behind.len()).filter(|at| is_left(*at)).collect();
    loop {
        let (kept, last): (Vec<usize>, Vec<usize>) =
            (left.iter()).partition(|at| left.iter().any(|other| behind[**at][*other]));
        if last.is_empty() {
            return kept;
        }
        left = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brick(rank: usize, min: [f64; 3], max: [f64; 3]) -> Brick {
        Brick { rank, min, max }
    }

    /// A row of three bricks along x.
    fn row() -> Vec<Brick> {
        [2, 0, 1]
            .map(|rank| {
                let x = rank as f64;
                brick(rank, [x, 0.0, 0.0], [x + 1.0, 1.0, 1.0])
            })
            .to_vec()
    }

    #[test]
    fn the_nearer_side_of_a_row_is_in_front() {
        let seen = |eye| front_to_back(eye, &row()).unwrap();
        assert_eq!(seen(Eye::At([-5.0, 0.5, 0.5])), [0, 1, 2]);
        assert_eq!(seen(Eye::At([9.0, 0.5, 0.5])), [2, 1, 0]);
        // From within, both neighbours are behind.
        assert_eq!(seen(Eye::At([1.5, 0.5, 0.5])), [1, 0, 2]);
        assert_eq!(seen(Eye::Along([1.0, 0.0, 0.0])), [0, 1, 2]);
        assert_eq!(seen(Eye::Along([-1.0, 0.3, 0.0])), [2, 1, 0]);
        // No brick hides another, so the order is by number.
        assert_eq!(seen(Eye::Along([0.0, 0.0, 1.0])), [0, 1, 2]);
    }

    #[test]
    fn no_centre_decides() {
        // The cube is in front of the long brick, but the centre of the long brick is nearer.
        let bricks = [
            brick(0, [-10.0, 0.0, 1.0], [10.0, 1.0, 2.0]),
            brick(1, [8.0, 0.0, 0.0], [9.0, 1.0, 1.0]),
        ];
        let eye = Eye::At([0.0, 0.5, -1.0]);
        assert_eq!(front_to_back(eye, &bricks).unwrap(), [1, 0]);
    }

    /// Follows rays through a cube that is divided into bricks at random. A ray must meet the
    /// bricks in their order.
    #[test]
    fn rays_meet_bricks_in_their_order() {
        let mut state = 1_u64;
        let mut random = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as f64 / f64::from(1_u32 << 31)
        };
        for _ in 0..200 {
            // Splits the unit cube again and again, as a k-d tree does.
            let mut bricks = vec![brick(0, [0.0; 3], [1.0; 3])];
            while bricks.len() < 12 {
                let at = (random() * bricks.len() as f64) as usize;
                let axis = (random() * 3.0) as usize;
                let cut =
                    bricks[at].min[axis] + (bricks[at].max[axis] - bricks[at].min[axis]) * random();
                let mut upper = bricks[at];
                upper.rank = bricks.len();
                upper.min[axis] = cut;
                bricks[at].max[axis] = cut;
                bricks.push(upper);
            }
            // In some cases the eye is on planes between bricks.
            let place = [0, 1, 2].map(|axis| match random() {
                on if on < 0.3 => bricks[(on * 40.0) as usize].min[axis],
                _ => random() * 3.0 - 1.0,
            });
            let order = front_to_back(Eye::At(place), &bricks).unwrap();
            assert_eq!(order.len(), bricks.len());
            for _ in 0..20 {
                let target = [0; 3].map(|_: i32| random());
                let mut met: Vec<(f64, f64, usize)> = bricks
                    .iter()
                    .filter_map(|brick| {
                        let (mut from, mut to) = (0.0_f64, f64::INFINITY);
                        for axis in 0..3 {
                            let step = target[axis] - place[axis];
                            let ends = [brick.min[axis], brick.max[axis]]
                                .map(|end| (end - place[axis]) / step);
                            from = from.max(ends[0].min(ends[1]));
                            to = to.min(ends[0].max(ends[1]));
                        }
                        (from < to).then_some((from, to, brick.rank))
                    })
                    .collect();
                met.sort_by(|a, b| a.partial_cmp(b).unwrap());
                let at = |rank: usize| order.iter().position(|other| *other == rank).unwrap();
                for two in met.windows(2) {
                    assert!(at(two[0].2) < at(two[1].2), "{bricks:?} {order:?} {met:?}");
                }
            }
        }
    }

    #[test]
    fn an_eye_on_a_plane_sees_no_cycle() {
        let bricks = [
            brick(0, [-2.0, 0.0, 0.0], [-1.0, 1.0, 1.0]),
            brick(1, [-1.0, 0.0, 0.0], [0.0, 1.0, 1.0]),
            brick(2, [-2.0, 1.0, 0.0], [0.0, 2.0, 1.0]),
            brick(3, [0.0, 0.0, 0.0], [1.0, 2.0, 1.0]),
        ];
        let order = front_to_back(Eye::At([0.0, -10.0, 0.5]), &bricks).unwrap();
        let at = |rank| order.iter().position(|other| *other == rank);
        assert!(at(0) < at(2) && at(1) < at(2), "{order:?}");
        // A sheet between two sheets of another rank in the same plane.
        let sheet = |rank, x: f64| brick(rank, [x, 0.0, 0.0], [x + 1.0, 1.0, 0.0]);
        let sheets = [sheet(0, 0.0), sheet(1, 1.0), sheet(0, 2.0)];
        let seen = front_to_back(Eye::At([5.0, 5.0, 5.0]), &sheets).unwrap();
        assert_eq!(seen, [0, 1]);
    }

    #[test]
    fn ranks_may_have_several_bricks_or_none() {
        let mut bricks = row();
        bricks[0].rank = 5;
        bricks[1].rank = 5;
        // Rank 5 has the outer bricks, rank 1 the one between them.
        let along = Eye::Along([1.0, 0.0, 0.0]);
        let error = front_to_back(along, &bricks).unwrap_err();
        assert_eq!(error, VisibilityError::Cycle(vec![1, 5]));
        let across = Eye::Along([0.0, 1.0, 0.0]);
        assert_eq!(front_to_back(across, &bricks).unwrap(), [1, 5]);
        assert!(front_to_back(across, &[]).unwrap().is_empty());
    }

    #[test]
    fn bricks_without_an_order_are_refused() {
        let along = Eye::Along([0.0, 0.0, 1.0]);
        let overlapping = [brick(0, [0.0; 3], [2.0; 3]), brick(1, [1.0; 3], [3.0; 3])];
        let error = front_to_back(along, &overlapping).unwrap_err();
        assert_eq!(error, VisibilityError::Overlap(0, 1));
        // Beams that lie on each other.
        let beams = [
            brick(0, [0.0, 0.0, 1.0], [3.0, 1.0, 2.0]),
            brick(1, [2.0, 0.0, 2.0], [3.0, 3.0, 3.0]),
            brick(2, [0.0, 2.0, 0.0], [3.0, 3.0, 1.0]),
            brick(3, [0.0, 0.0, 2.0], [1.0, 3.0, 3.0]),
        ];
        assert_eq!(front_to_back(along, &beams).unwrap(), [0, 2, 1, 3]);
        let turned = [
            brick(0, [0.0, 0.0, 0.0], [3.0, 1.0, 1.0]),
            brick(1, [2.0, 0.5, 1.0], [3.0, 3.0, 2.0]),
            brick(2, [0.0, 2.0, 0.5], [2.0, 3.0, 1.5]),
            brick(0, [0.0, 2.0, 1.5], [1.0, 3.0, 2.0]),
        ];
        let error = front_to_back(Eye::Along([0.3, 0.2, 1.0]), &turned).unwrap_err();
        assert!(matches!(error, VisibilityError::Cycle(_)), "{error}");
        for bad in [f64::NAN, f64::INFINITY] {
            let eye = Eye::At([0.0, bad, 0.0]);
            assert_eq!(front_to_back(eye, &[]), Err(VisibilityError::Eye));
        }
        let still = Eye::Along([0.0; 3]);
        assert_eq!(front_to_back(still, &[]), Err(VisibilityError::Eye));
        for bad in [[f64::NAN; 3], [3.0; 3]] {
            let error = front_to_back(along, &[brick(0, bad, [2.0; 3])]).unwrap_err();
            assert_eq!(error, VisibilityError::Corners { brick: 0 });
        }
    }
}
