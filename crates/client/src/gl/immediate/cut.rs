//! Decides where a primitive may be cut so that its two parts draw the same as the whole.

use mgn_wire::gl::*;

/// A cut: the first `emit` vertices are drawn now. The vertices with the indices `carry` begin the
/// next run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Cut {
    pub emit: usize,
    pub carry: Vec<usize>,
}

/// How `count` vertices of a primitive are cut; none if the mode does not allow it. Vertices that
/// do not complete a primitive are carried over.
pub fn cut(mode: u32, count: usize) -> Option<Cut> {
    let rest = |size: usize| Cut {
        emit: count - count % size,
        carry: (count - count % size..count).collect(),
    };
    let all = |carry: Vec<usize>| Cut { emit: count, carry };
    let none = || Cut {
        emit: 0,
        carry: (0..count).collect(),
    };
    Some(match mode {
        GL_POINTS => all(vec![]),
        GL_LINES => rest(2),
        GL_TRIANGLES => rest(3),
        GL_QUADS | GL_LINES_ADJACENCY => rest(4),
        GL_TRIANGLES_ADJACENCY => rest(6),
        GL_LINE_STRIP | GL_LINE_LOOP if count < 2 => none(),
        GL_LINE_STRIP | GL_LINE_LOOP => all(vec![count - 1]),
        GL_TRIANGLE_FAN | GL_POLYGON if count < 3 => none(),
        GL_TRIANGLE_FAN | GL_POLYGON => all(vec![0, count - 1]),
        // The next run must start at an even vertex. Otherwise, the facing of its triangles would
        // change.
        GL_TRIANGLE_STRIP | GL_QUAD_STRIP if count < 4 => none(),
        GL_TRIANGLE_STRIP | GL_QUAD_STRIP => {
            let emit = count - count % 2;
            Cut {
                emit,
                carry: (emit - 2..count).collect(),
            }
        }
        _ => return None,
    })
}

/// Whether `count` vertices are complete primitives of a mode with independent primitives, so that
/// another run may be appended.
pub fn joins(mode: u32, count: usize) -> bool {
    match mode {
        GL_POINTS => true,
        GL_LINES => count % 2 == 0,
        GL_TRIANGLES => count % 3 == 0,
        GL_QUADS => count % 4 == 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The primitives that `vertices` draw, each as its vertices, in an order that keeps its facing
    /// and its provoking vertex (the last one, or the first one of a polygon).
    fn primitives(mode: u32, v: &[usize]) -> Vec<Vec<usize>> {
        let n = v.len();
        match mode {
            GL_POINTS => v.iter().map(|&a| vec![a]).collect(),
            GL_LINES => v.chunks_exact(2).map(<[_]>::to_vec).collect(),
            GL_TRIANGLES => v.chunks_exact(3).map(<[_]>::to_vec).collect(),
            GL_QUADS | GL_LINES_ADJACENCY => v.chunks_exact(4).map(<[_]>::to_vec).collect(),
            GL_LINE_STRIP => v.windows(2).map(<[_]>::to_vec).collect(),
            GL_TRIANGLE_FAN | GL_POLYGON => (2..n).map(|i| vec![v[0], v[i - 1], v[i]]).collect(),
            GL_TRIANGLE_STRIP => (2..n)
                .map(|i| {
                    if i % 2 == 0 {
                        vec![v[i - 2], v[i - 1], v[i]]
                    } else {
                        vec![v[i - 1], v[i - 2], v[i]]
                    }
                })
                .collect(),
            GL_QUAD_STRIP => (3..n)
                .step_by(2)
                .map(|i| vec![v[i - 3], v[i - 2], v[i], v[i - 1]])
                .collect(),
            _ => unreachable!(),
        }
    }

    #[test]
    fn pieces_draw_what_the_whole_draws() {
        for mode in [
            GL_POINTS,
            GL_LINES,
            GL_TRIANGLES,
            GL_QUADS,
            GL_LINE_STRIP,
            GL_TRIANGLE_FAN,
            GL_POLYGON,
            GL_TRIANGLE_STRIP,
            GL_QUAD_STRIP,
        ] {
            // Under Miri this takes a thousand times as long.
            for total in 0..if cfg!(miri) { 14 } else { 40 } {
                let whole: Vec<usize> = (0..total).collect();
                for room in 4..12 {
                    let mut pieces = Vec::new();
                    let mut run = Vec::new();
                    for &v in &whole {
                        if run.len() == room {
                            let cut = cut(mode, run.len()).unwrap();
                            pieces.extend(primitives(mode, &run[..cut.emit]));
                            run = cut.carry.iter().map(|&i| run[i]).collect();
                            assert!(run.len() < room);
                        }
                        run.push(v);
                    }
                    pieces.extend(primitives(mode, &run));
                    assert_eq!(
                        pieces,
                        primitives(mode, &whole),
                        "mode {mode:#x}, {total} vertices, runs of {room}"
                    );
                }
            }
        }
    }

    #[test]
    fn some_modes_have_no_place_to_cut() {
        assert_eq!(cut(GL_TRIANGLE_STRIP_ADJACENCY, 30), None);
        assert_eq!(cut(GL_PATCHES, 30), None);
        assert!(joins(GL_QUADS, 8) && !joins(GL_QUADS, 7) && !joins(GL_LINE_STRIP, 8));
    }
}
