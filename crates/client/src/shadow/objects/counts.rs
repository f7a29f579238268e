//! The queries that count samples on a wall, where each renderer counts the samples of its own
//! tile.

use mgn_wire::gl::*;
use std::collections::HashMap;

/// The active and finished counting queries of one context.
#[derive(Default)]
pub struct Counts {
    active: Vec<Active>,
    /// The queries whose results are divided among the renderers. The value says whether the
    /// renderers know the sum.
    shared: HashMap<u32, bool>,
}

pub struct Active {
    pub target: u32,
    pub index: u32,
    pub id: u32,
    pub need: Need,
}

/// A condition that must hold while a query counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Each pixel of a default framebuffer is drawn by one renderer only, or by all.
    Exact,
    /// Every renderer is sent all that is drawn.
    Everything,
    /// Default framebuffers are drawn whole.
    Whole,
}

impl Counts {
    /// Whether any active query has this need.
    pub fn need(&self, need: Need) -> bool {
        self.active.iter().any(|active| active.need == need)
    }

    pub fn begin(&mut self, active: Active) {
        match active.need {
            Need::Exact => self.shared.insert(active.id, false),
            _ => self.shared.remove(&active.id),
        };
        self.active.push(active);
    }

    pub fn end(&mut self, target: u32, index: u32) {
        self.active
            .retain(|active| (active.target, active.index) != (target, index));
    }

    pub fn deleted(&mut self, ids: &[u32]) {
        self.active.retain(|active| !ids.contains(&active.id));
        self.shared.retain(|id, _| !ids.contains(id));
    }

    /// Whether each renderer has counted a share of a query.
    pub fn is_shared(&self, id: u32) -> bool {
        self.shared.contains_key(&id)
    }

    /// Whether the renderers know the sum of a query; none if they have no shares of it.
    pub fn is_summed(&self, id: u32) -> Option<bool> {
        self.shared.get(&id).copied()
    }

    /// The renderers have been told the sum of a query.
    pub fn summed(&mut self, id: u32) {
        self.shared.insert(id, true);
    }

    /// No renderer counts a share of a query.
    pub fn is_not_shared(&mut self, id: u32) {
        self.shared.remove(&id);
    }

    /// The queries whose sums the renderers do not know.
    pub fn unsummed(&self) -> Vec<u32> {
        let unsummed = self.shared.iter().filter(|(_, is_told)| !**is_told);
        unsummed.map(|(id, _)| *id).collect()
    }
}

/// Whether a query counts samples.
pub fn counts_samples(target: u32) -> bool {
    matches!(
        target,
        GL_SAMPLES_PASSED | GL_ANY_SAMPLES_PASSED | GL_ANY_SAMPLES_PASSED_CONSERVATIVE
    )
}

/// The need of a query on a wall that the client tracks; none for other queries.
pub fn need(target: u32) -> Option<Need> {
    Some(match target {
        GL_TIME_ELAPSED | GL_TIMESTAMP => return None,
        // A scissor box may save a driver some of these invocations.
        GL_FRAGMENT_SHADER_INVOCATIONS
        | GL_CLIPPING_INPUT_PRIMITIVES
        | GL_CLIPPING_OUTPUT_PRIMITIVES => Need::Whole,
        _ if counts_samples(target) => Need::Exact,
        _ => Need::Everything,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_does_what_the_queries_that_count_need() {
        let mut counts = Counts::default();
        let begin = |counts: &mut Counts, target, index, id| {
            let need = need(target).unwrap();
            let active = Active {
                target,
                index,
                id,
                need,
            };
            counts.begin(active);
        };
        begin(&mut counts, GL_ANY_SAMPLES_PASSED, 0, 1);
        assert!(counts.need(Need::Exact) && counts.is_shared(1));
        begin(&mut counts, GL_PRIMITIVES_GENERATED, 0, 2);
        begin(&mut counts, GL_PRIMITIVES_GENERATED, 1, 3);
        counts.end(GL_PRIMITIVES_GENERATED, 0);
        assert!(counts.need(Need::Everything) && !counts.is_shared(3));
        counts.end(GL_PRIMITIVES_GENERATED, 1);
        counts.end(GL_ANY_SAMPLES_PASSED, 0);
        assert!(!counts.need(Need::Everything) && !counts.need(Need::Exact));
        assert!(counts.is_shared(1));
        begin(&mut counts, GL_FRAGMENT_SHADER_INVOCATIONS, 0, 4);
        assert!(counts.need(Need::Whole));
        counts.deleted(&[1, 4]);
        assert!(!counts.need(Need::Whole) && !counts.is_shared(1));
        assert!(need(GL_TIME_ELAPSED).is_none());
    }
}
