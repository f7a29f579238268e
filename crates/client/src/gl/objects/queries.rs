//! Queries that begin and end, and conditional rendering. On a wall each renderer counts the
//! samples of its own tile, and the client adds up the counts.

use crate::context::Context;
use crate::current::context;
use crate::link::tiles::WholePurpose;
use crate::shadow::objects::counts::{counts_samples, need, Active, Need};
use mgn_wire::{gl::*, ops};

/// Called before a query begins. Returns whether the call may continue.
fn begin_query(cx: &mut Context, id: u32) -> bool {
    if cx.gl.in_begin() {
        cx.illegal_in_begin::<()>();
        return false;
    }
    if cx.gl.objects.limits.is_compat() {
        cx.gl.own.queries.use_name(id);
    }
    true
}

impl Context {
    /// Called before a query begins. Returns whether each renderer of a wall is to count a share.
    fn counts_shares(&mut self, target: u32, index: u32, id: u32) -> bool {
        let Some(session) = self.session.filter(|s| s.wall().is_some()) else {
            return false;
        };
        let Some(mut need) = need(target) else {
            return false;
        };
        // The client does not see which queries a list begins and ends when it is called.
        if self.gl.lists.is_open() {
            self.gl.objects.counts.is_not_shared(id);
            self.make_whole(WholePurpose::Drawing);
            return false;
        }
        if need == Need::Exact && session.needs.lists() {
            need = Need::Whole;
        }
        self.gl.objects.counts.begin(Active {
            target,
            index,
            id,
            need,
        });
        self.follow_counts();
        need == Need::Exact
    }

    fn query_ends(&mut self, target: u32, index: u32) {
        if self.gl.lists.is_open() {
            self.make_whole(WholePurpose::Drawing);
        }
        if !(self.gl.lists.is_open() && self.gl.lists.only_compiles()) {
            self.gl.objects.counts.end(target, index);
            self.follow_counts();
        }
    }

    /// Sends the renderers the sum of their counts, so that conditional rendering has the same
    /// result at all of them.
    fn tell_sum(&mut self, id: u32) {
        if self.gl.objects.counts.is_summed(id) != Some(false) {
            return;
        }
        let Some(sum) = self.counted(id, GL_QUERY_RESULT, false) else {
            return;
        };
        self.enc.mgn_sum(id, sum);
        self.gl.objects.counts.summed(id);
    }

    /// Called before lists that may render conditionally: sends the renderers all sums.
    pub fn tell_sums(&mut self) {
        for id in self.gl.objects.counts.unsummed() {
            self.tell_sum(id);
        }
    }

    /// The sum over all renderers, or whether all have finished counting. None if glGetQueryObject
    /// fails; the error is raised if `raises`.
    pub(super) fn counted(&mut self, id: u32, pname: u32, raises: bool) -> Option<u64> {
        let (mut shares, mut whole) = (0u64, 0);
        let (mut is_done, mut is_any) = (true, false);
        self.enc.mgn_counted(id, pname, raises.into(), 3);
        let answers = self.answers(ops::MGN_COUNTED);
        if answers.is_empty() {
            return None;
        }
        for mut answer in answers.into_iter().flatten() {
            let mut counts = [0u64; 3];
            // SAFETY: there is room for three numbers.
            if unsafe { answer.array(counts.as_mut_ptr(), 3) } < 3 {
                return None;
            }
            is_done &= counts[0] != 0;
            shares = shares.saturating_add(counts[0]);
            // The same at all renderers, except at one that joined later.
            whole = counts[1].max(whole);
            is_any |= counts[2] != 0;
        }
        let all = shares.saturating_add(whole);
        Some(match pname {
            GL_QUERY_RESULT_AVAILABLE => is_done.into(),
            _ if is_any => (all != 0).into(),
            _ => all,
        })
    }
}

pub unsafe extern "C" fn glBeginQuery(target: u32, id: u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if begin_query(cx, id) {
            match cx.counts_shares(target, 0, id) {
                true => cx.enc.mgn_begin_count(target, id),
                false => cx.enc.gl_begin_query(target, id),
            }
        }
    }
}

pub unsafe extern "C" fn glBeginQueryEXT(target: u32, id: u32) {
    // SAFETY: the same command.
    unsafe { glBeginQuery(target, id) }
}

pub unsafe extern "C" fn glBeginQueryIndexed(target: u32, index: u32, id: u32) {
    // SAFETY: the same command; otherwise the only reference in use, to the thread's own context.
    unsafe {
        // Queries that count samples have index 0 only.
        if index == 0 && counts_samples(target) {
            return glBeginQuery(target, id);
        }
        let cx = context();
        if begin_query(cx, id) {
            if !counts_samples(target) {
                cx.counts_shares(target, index, id);
            }
            cx.enc.gl_begin_query_indexed(target, index, id);
        }
    }
}

pub unsafe extern "C" fn glEndQuery(target: u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        cx.query_ends(target, 0);
        cx.enc.gl_end_query(target);
    }
}

pub unsafe extern "C" fn glEndQueryEXT(target: u32) {
    // SAFETY: the same command.
    unsafe { glEndQuery(target) }
}

pub unsafe extern "C" fn glEndQueryIndexed(target: u32, index: u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        cx.query_ends(target, index);
        cx.enc.gl_end_query_indexed(target, index);
    }
}

pub unsafe extern "C" fn glQueryCounter(id: u32, target: u32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if begin_query(cx, id) {
            cx.enc.gl_query_counter(id, target);
        }
    }
}

/// The mode of conditional rendering that has the same effect, but waits for the result.
fn waiting(mode: u32) -> u32 {
    match mode {
        GL_QUERY_NO_WAIT => GL_QUERY_WAIT,
        GL_QUERY_BY_REGION_NO_WAIT => GL_QUERY_BY_REGION_WAIT,
        GL_QUERY_NO_WAIT_INVERTED => GL_QUERY_WAIT_INVERTED,
        GL_QUERY_BY_REGION_NO_WAIT_INVERTED => GL_QUERY_BY_REGION_WAIT_INVERTED,
        other => other,
    }
}

/// On a wall all renderers wait for the result in any mode, so that either all draw or none does.
pub unsafe extern "C" fn glBeginConditionalRender(id: u32, mode: u32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let Some(session) = cx.session.filter(|s| s.wall().is_some()) else {
            return cx.enc.gl_begin_conditional_render(id, mode);
        };
        if cx.gl.lists.is_open() {
            session.needs.conditions();
            cx.make_whole(WholePurpose::Drawing);
        }
        if !(cx.gl.lists.is_open() && cx.gl.lists.only_compiles()) {
            cx.tell_sum(id);
        }
        cx.enc.gl_begin_conditional_render(id, waiting(mode));
    }
}
