//! Commands that set current values.

use mgn_wire::ops;

/// Whether a command sets a current value of vertices.
pub fn sets_current(op: u16) -> bool {
    matches!(
        op,
        ops::GL_NORMAL3F
            | ops::GL_COLOR3F
            | ops::GL_COLOR4F
            | ops::GL_SECONDARY_COLOR3F
            | ops::GL_FOG_COORDF
            | ops::GL_EDGE_FLAG
            | ops::GL_TEX_COORD1F
            | ops::GL_TEX_COORD2F
            | ops::GL_TEX_COORD3F
            | ops::GL_TEX_COORD4F
    )
}
