//! Occlusion queries on a wall, and conditional rendering.
//!
//! A renderer counts what it draws of its tile, its *share*. The shares of all renderers add up to
//! what one renderer would count, because the client begins such queries only where tiles do not
//! overlap. Things that each renderer draws as a whole, for example into framebuffer objects, are
//! counted alike on all renderers. So a query is made of *pieces*: queries of the driver's, each of
//! which has counted either the share or the whole. The client adds them up.

use crate::handwritten::split_lists::Step;
use crate::names::Class;
use crate::renderer::Renderer;
use mgn_wire::{gl::*, Fault, Reply};
use std::collections::{BTreeMap, HashMap};

/// Pieces that a query may be made of before their results are waited for and added up.
const MOST_PIECES: usize = 64;

/// The queries of one context.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// The tallies of queries, by the client's names.
    tallies: HashMap<u32, Tally>,
    /// The totals over all renderers that the client has sent so far, by the client's names of
    /// queries.
    sums: BTreeMap<u32, u64>,
    /// Targets and client names of the queries that are counting now.
    active: Vec<(u32, u32)>,
    /// Set between glBeginConditionalRender and glEndConditionalRender.
    condition: Option<Condition>,
    /// The driver's name of a query with the result 0; 0 until it has been made.
    nothing: u32,
}

/// The condition that decides whether the following commands draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Condition {
    /// The driver decides, by a query and a mode.
    Driver(u32, u32),
    /// The total over all renderers has decided: whether commands draw.
    Imposed(bool),
}

#[derive(Debug)]
struct Tally {
    target: u32,
    /// The driver's query that has the client's name; the first piece.
    own: u32,
    pieces: Vec<Piece>,
    added: Sums,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    query: u32,
    /// None while nothing has been drawn.
    is_share: Option<bool>,
}

/// How a context returns query results.
#[derive(Clone, Copy, Default)]
pub(crate) struct Results {
    /// Results have 64 bits.
    pub are_wide: bool,
    /// Results go to a buffer, if one is bound.
    pub go_to_buffers: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    share: u64,
    whole: u64,
}

impl Tally {
    /// The driver's queries except the one that has the client's name.
    fn others(&self) -> Vec<u32> {
        let queries = self.pieces.iter().map(|piece| piece.query);
        queries.filter(|query| *query != self.own).collect()
    }
}

impl Counts {
    fn is_active(&self, id: u32) -> bool {
        self.active.iter().any(|(_, query)| *query == id)
    }

    /// Whether drawing depends on a query's result now.
    pub fn is_conditional(&self) -> bool {
        self.condition.is_some()
    }

    /// The totals of all renderers, by the client's names of queries.
    pub fn sums(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.sums.iter().map(|(id, sum)| (*id, *sum))
    }

    /// The client's name of the query that a piece belongs to.
    pub fn client(&self, query: u32) -> Option<u32> {
        let has = |tally: &Tally| tally.pieces.iter().any(|piece| piece.query == query);
        let found = self.tallies.iter().find(|(_, tally)| has(tally));
        found.map(|(id, _)| *id)
    }

    /// Forgets deleted queries. Returns the driver's queries that must be deleted with them.
    pub fn delete(&mut self, ids: &[u32]) -> Vec<u32> {
        self.active.retain(|(_, query)| !ids.contains(query));
        self.sums.retain(|query, _| !ids.contains(query));
        let gone = ids.iter().filter_map(|id| self.tallies.remove(id));
        gone.flat_map(|tally| tally.others()).collect()
    }

    /// The active query of `target` has ended.
    fn end(&mut self, target: u32) {
        self.active.retain(|(active, _)| *active != target);
    }
}

impl Renderer {
    pub(crate) fn handwritten_mgn_begin_count(
        &mut self,
        target: u32,
        id: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if self.cx()?.counts.nothing == 0 && !self.make_nothing(target) {
            return Ok(());
        }
        let own = self.name(Class::Query, id);
        self.error();
        // SAFETY: the context is current.
        unsafe { (self.gl.glBeginQuery)(target, own) };
        if self.failed() {
            return Ok(());
        }
        let counts = &mut self.cx()?.counts;
        let old = counts.delete(&[id]);
        let tally = Tally {
            target,
            own,
            pieces: vec![Piece {
                query: own,
                is_share: None,
            }],
            added: Sums::default(),
        };
        counts.tallies.insert(id, tally);
        counts.active.push((target, id));
        self.delete_queries(&old);
        Ok(())
    }

    /// Makes a query that has counted nothing. If the driver refuses to begin it, it would refuse
    /// any other query as well, and the program gets the error.
    fn make_nothing(&mut self, target: u32) -> bool {
        let mut query = 0;
        self.error();
        // SAFETY: the context is current; one name is written.
        unsafe {
            (self.gl.glGenQueries)(1, &mut query);
            (self.gl.glBeginQuery)(target, query);
        }
        if self.failed() {
            self.delete_queries(&[query]);
            return false;
        }
        // SAFETY: the context is current.
        unsafe { (self.gl.glEndQuery)(target) };
        if let Some(cx) = self.cx.as_deref_mut() {
            cx.counts.nothing = query;
        }
        true
    }

    /// A query that counts the same on all renderers.
    pub(crate) fn handwritten_gl_begin_query(&mut self, target: u32, id: u32) -> Result<(), Fault> {
        self.needs_context()?;
        if self.steps_into_list() {
            return self.split(Step::BeginQuery(target, id));
        }
        self.forget_counts(id)?;
        let own = self.name(Class::Query, id);
        // SAFETY: the context is current.
        unsafe { (self.gl.glBeginQuery)(target, own) };
        Ok(())
    }

    pub(crate) fn handwritten_gl_begin_query_indexed(
        &mut self,
        target: u32,
        index: u32,
        id: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if self.steps_into_list() {
            return self.split(Step::BeginQueryIndexed(target, index, id));
        }
        self.forget_counts(id)?;
        let own = self.name(Class::Query, id);
        // SAFETY: the context is current.
        unsafe { (self.gl.glBeginQueryIndexed)(target, index, own) };
        Ok(())
    }

    /// Forgets the pieces and the total of a query, unless it is counting now.
    fn forget_counts(&mut self, id: u32) -> Result<(), Fault> {
        let counts = &mut self.cx()?.counts;
        if !counts.is_active(id) {
            let old = counts.delete(&[id]);
            self.delete_queries(&old);
        }
        Ok(())
    }

    /// Whether a list is being compiled on a wall. There, query and conditional rendering commands
    /// in lists are executed by the renderer when the list is called, so that it can follow them.
    fn steps_into_list(&self) -> bool {
        self.tile.is_some() && self.cx.as_ref().is_some_and(|cx| cx.compiling.is_some())
    }

    pub(crate) fn handwritten_gl_end_query(&mut self, target: u32) -> Result<(), Fault> {
        self.needs_context()?;
        if self.steps_into_list() {
            return self.split(Step::EndQuery(target));
        }
        // SAFETY: the context is current.
        unsafe { (self.gl.glEndQuery)(target) };
        self.query_ended(target)
    }

    pub(crate) fn handwritten_gl_end_query_indexed(
        &mut self,
        target: u32,
        index: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if self.steps_into_list() {
            return self.split(Step::EndQueryIndexed(target, index));
        }
        // SAFETY: the context is current.
        unsafe { (self.gl.glEndQueryIndexed)(target, index) };
        match index {
            0 => self.query_ended(target),
            _ => Ok(()),
        }
    }

    /// To be called after the driver has ended the query of `target`, or compiled the command that
    /// ends it.
    fn query_ended(&mut self, target: u32) -> Result<(), Fault> {
        let cx = self.cx()?;
        if !cx.only_compiles {
            cx.counts.end(target);
        }
        Ok(())
    }

    /// To be called before something is drawn. Starts new pieces if the active queries must count
    /// it as the other kind, share or whole.
    #[inline]
    pub(crate) fn count_what_is_drawn(&mut self) {
        let Some(cx) = self.cx.as_deref() else { return };
        if !cx.counts.active.is_empty() {
            self.count_as(cx.boxes.is_some());
        }
    }

    /// To be called before a list is compiled and executed at the same time: what is drawn
    /// meanwhile is not cut to the tile.
    pub(crate) fn count_list(&mut self) {
        if self.tile.is_some() {
            self.count_as(false);
        }
    }

    fn count_as(&mut self, is_share: bool) {
        let Some(cx) = self.cx.as_deref_mut() else {
            return;
        };
        // Commands that are being compiled are not counted: the query commands would go into the
        // list.
        if cx.compiling.is_some() {
            return;
        }
        let mut differs = false;
        for (_, id) in &cx.counts.active {
            let tally = cx.counts.tallies.get_mut(id);
            if let Some(piece) = tally.and_then(|tally| tally.pieces.last_mut()) {
                differs |= *piece.is_share.get_or_insert(is_share) != is_share;
            }
        }
        if differs {
            self.pause_counts();
            self.resume_counts(Some(is_share));
        }
    }

    fn pause_counts(&self) {
        let active = self.cx.iter().flat_map(|cx| &cx.counts.active);
        for (target, _) in active {
            // SAFETY: the context is current.
            unsafe { (self.gl.glEndQuery)(*target) };
        }
    }

    /// Continues counting in new pieces.
    fn resume_counts(&mut self, is_share: Option<bool>) {
        let Some(mut cx) = self.cx.take() else { return };
        let mut done = Vec::new();
        for (target, id) in &cx.counts.active {
            let Some(tally) = cx.counts.tallies.get_mut(id) else {
                continue;
            };
            if tally.pieces.len() >= MOST_PIECES {
                tally.added = self.sums(tally, cx.results);
                done.extend(tally.others());
                tally.pieces.clear();
            }
            let mut query = 0;
            // SAFETY: the context is current; one name is written.
            unsafe {
                (self.gl.glGenQueries)(1, &mut query);
                (self.gl.glBeginQuery)(*target, query);
            }
            tally.pieces.push(Piece { query, is_share });
        }
        self.cx = Some(cx);
        self.delete_queries(&done);
    }

    /// Adds up the results of a query's pieces, after waiting for them.
    fn sums(&self, tally: &Tally, kind: Results) -> Sums {
        let mut sums = tally.added;
        for piece in &tally.pieces {
            let count = self.result(piece.query, GL_QUERY_RESULT, kind);
            match piece.is_share {
                Some(true) => sums.share = sums.share.saturating_add(count),
                _ => sums.whole = sums.whole.saturating_add(count),
            }
        }
        sums
    }

    fn result(&self, query: u32, pname: u32, kind: Results) -> u64 {
        let (mut long, mut short) = (0u64, 0u32);
        let bound = match kind.go_to_buffers {
            true => self.driver_integer(GL_QUERY_BUFFER_BINDING) as u32,
            false => 0,
        };
        // SAFETY: the context is current. One number is written to memory, because no query buffer
        // is bound.
        unsafe {
            if bound != 0 {
                (self.gl.glBindBuffer)(GL_QUERY_BUFFER, 0);
            }
            match kind.are_wide {
                true => (self.gl.glGetQueryObjectui64v)(query, pname, &mut long),
                false => (self.gl.glGetQueryObjectuiv)(query, pname, &mut short),
            }
            if bound != 0 {
                (self.gl.glBindBuffer)(GL_QUERY_BUFFER, bound);
            }
        }
        long.max(short.into())
    }

    fn delete_queries(&self, queries: &[u32]) {
        // SAFETY: the context is current; the slice holds the names.
        unsafe { (self.gl.glDeleteQueries)(queries.len() as i32, queries.as_ptr()) };
    }

    pub(crate) fn handwritten_mgn_counted(
        &mut self,
        id: u32,
        pname: u32,
        raises: u32,
        counts_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let is_active = self.cx()?.counts.is_active(id);
        let mut read = 0;
        let mut failed = is_active;
        if is_active && raises != 0 {
            self.set_error(GL_INVALID_OPERATION);
        } else if raises != 0 {
            let own = self.object(Class::Query, id);
            if self.cx()?.results.go_to_buffers && self.driver_integer(GL_QUERY_BUFFER_BINDING) != 0
            {
                return Err(Fault::refused("a result that would go to a buffer"));
            }
            self.error();
            // SAFETY: the context is current; one number is written.
            unsafe { (self.gl.glGetQueryObjectuiv)(own, pname, &mut read) };
            failed = self.failed();
        }
        let Some(cx) = self.cx.as_deref().filter(|_| !failed) else {
            reply.array::<u64>(&[], 0);
            return Ok(());
        };
        let counts = match cx.counts.tallies.get(&id) {
            // This renderer has replaced the one that counted, so there is no result to wait for.
            None if pname == GL_QUERY_RESULT_AVAILABLE => [1, 0, 0],
            None => [0, read.into(), 0],
            Some(tally) if pname == GL_QUERY_RESULT_AVAILABLE => {
                let is_done = |piece: &Piece| self.result(piece.query, pname, cx.results) != 0;
                [tally.pieces.iter().all(is_done).into(), 0, 0]
            }
            Some(tally) => {
                let Sums { share, whole } = self.sums(tally, cx.results);
                [share, whole, (tally.target != GL_SAMPLES_PASSED).into()]
            }
        };
        reply.array(&counts, counts_count);
        Ok(())
    }

    pub(crate) fn handwritten_mgn_count_to(
        &mut self,
        id: u32,
        pname: u32,
        type_: u32,
        buffer: u32,
        offset: u64,
        value: u64,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if self.cx()?.counts.is_active(id) {
            self.set_error(GL_INVALID_OPERATION);
            return Ok(());
        }
        // The driver raises the error if there is one, and otherwise writes its own count.
        self.error();
        if buffer == 0 {
            self.handwritten_mgn_query_result_to(id, pname, type_, offset)?;
        } else {
            let (id, to) = (self.object(Class::Query, id), offset as i64);
            let name = self.object(Class::Buffer, buffer);
            let gl = &self.gl;
            // SAFETY: the context is current; the driver checks the range.
            unsafe {
                match type_ {
                    GL_INT => (gl.glGetQueryBufferObjectiv)(id, name, pname, to),
                    GL_UNSIGNED_INT => (gl.glGetQueryBufferObjectuiv)(id, name, pname, to),
                    GL_INT64_ARB => (gl.glGetQueryBufferObjecti64v)(id, name, pname, to),
                    _ => (gl.glGetQueryBufferObjectui64v)(id, name, pname, to),
                }
            }
        }
        if self.failed() {
            return Ok(());
        }
        let bytes = value.to_ne_bytes();
        let size = match type_ {
            GL_INT | GL_UNSIGNED_INT => 4,
            _ => 8,
        };
        let write = |r: &mut Renderer, target| {
            let (offset, from) = (offset as i64, bytes.as_ptr().cast());
            // SAFETY: that number of bytes lies there; the driver has found that they fit into the
            // buffer.
            unsafe { (r.gl.glBufferSubData)(target, offset, size, from) };
            Ok(())
        };
        match buffer {
            0 => write(self, GL_QUERY_BUFFER),
            buffer => self.at_copy_target(buffer, |r| write(r, GL_COPY_WRITE_BUFFER)),
        }
    }

    /// Sets a query's total over all renderers. From now on it decides about conditional rendering
    /// that depends on this query.
    pub(crate) fn handwritten_mgn_sum(&mut self, id: u32, value: u64) -> Result<(), Fault> {
        self.needs_context()?;
        self.cx()?.counts.sums.insert(id, value);
        Ok(())
    }

    pub(crate) fn handwritten_gl_begin_conditional_render(
        &mut self,
        id: u32,
        mode: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if self.steps_into_list() {
            return self.split(Step::BeginCondition(id, mode));
        }
        let cx = self.cx()?;
        let only_compiles = cx.only_compiles;
        if !only_compiles && (cx.counts.is_conditional() || cx.counts.is_active(id)) {
            self.set_error(GL_INVALID_OPERATION);
            return Ok(());
        }
        let sum = cx.counts.sums.get(&id).copied();
        if sum.is_some() && cx.counts.nothing == 0 {
            let target = match cx.api.is_desktop() {
                true => GL_SAMPLES_PASSED,
                false => GL_ANY_SAMPLES_PASSED,
            };
            if !self.make_nothing(target) {
                return Ok(());
            }
        }
        let query = self.object(Class::Query, id);
        self.error();
        // SAFETY: the context is current.
        unsafe { (self.gl.glBeginConditionalRender)(query, mode) };
        if only_compiles || self.failed() {
            return Ok(());
        }
        let condition = sum.map_or(Condition::Driver(query, mode), |sum| {
            let inverted =
                (GL_QUERY_WAIT_INVERTED..=GL_QUERY_BY_REGION_NO_WAIT_INVERTED).contains(&mode);
            Condition::Imposed((sum != 0) != inverted)
        });
        self.cx()?.counts.condition = Some(condition);
        if sum.is_some() {
            // SAFETY: the context is current; the driver has just begun conditional rendering,
            // without an error.
            unsafe { (self.gl.glEndConditionalRender)() };
            self.impose_condition();
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_end_conditional_render(&mut self) -> Result<(), Fault> {
        self.needs_context()?;
        if self.steps_into_list() {
            return self.split(Step::EndCondition);
        }
        let cx = self.cx()?;
        let condition = match cx.only_compiles {
            false => cx.counts.condition.take(),
            true => None,
        };
        if condition != Some(Condition::Imposed(true)) {
            // SAFETY: the context is current.
            unsafe { (self.gl.glEndConditionalRender)() };
        }
        Ok(())
    }

    /// Makes the driver draw only if the condition is met.
    pub(crate) fn impose_condition(&self) {
        if let Some((query, mode)) = self.drivers_condition() {
            // SAFETY: the context is current.
            unsafe { (self.gl.glBeginConditionalRender)(query, mode) };
        }
    }

    /// Lets the driver draw unconditionally until the condition is imposed again.
    pub(crate) fn lift_condition(&self) {
        if self.drivers_condition().is_some() {
            // SAFETY: the context is current.
            unsafe { (self.gl.glEndConditionalRender)() };
        }
    }

    /// The query and the mode of the driver's conditional rendering; none if the driver draws
    /// unconditionally.
    fn drivers_condition(&self) -> Option<(u32, u32)> {
        let counts = &self.cx.as_deref()?.counts;
        match counts.condition? {
            Condition::Driver(query, mode) => Some((query, mode)),
            Condition::Imposed(true) => None,
            Condition::Imposed(false) => Some((counts.nothing, GL_QUERY_WAIT)),
        }
    }
}
