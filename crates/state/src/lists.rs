//! Display lists: what calling one does to the shadow.
//!
//! While a list is compiled, hooks of commands that lists hold are recorded instead of (or as
//! well as) being carried out. Calling the list runs them again, so that the shadow knows the
//! state after a list exactly as well as before it.

use std::sync::Arc;

use mgn_wire::gl::*;

use crate::raster::check;
use crate::slots::at;
use crate::{Answer, Class, GlError, State};

/// One hook with its arguments.
pub(crate) type Op = Box<dyn Fn(&mut State) + Send + Sync>;

#[derive(Default)]
pub(crate) struct List {
    ops: Vec<Op>,
}

/// The list that is being compiled.
pub(crate) struct Compiling {
    name: u32,
    execute: bool,
    list: List,
}

/// Names that show the list being compiled.
pub(crate) const NAMES: &[u32] = &[GL_LIST_MODE, GL_LIST_INDEX];

impl State {
    /// Records a hook in the list being compiled; says whether it is to be carried out too.
    pub(crate) fn record(&mut self, op: impl Fn(&mut State) + Send + Sync + 'static) -> bool {
        match &mut self.compiling {
            Some(compiling) => {
                compiling.list.ops.push(Box::new(op));
                compiling.execute
            }
            None => true,
        }
    }

    /// Whether commands that lists hold are compiled and not carried out.
    pub fn is_only_compiling(&self) -> bool {
        self.compiling.as_ref().is_some_and(|c| !c.execute)
    }

    pub fn gl_new_list(&mut self, list: u32, mode: u32) -> Result<(), GlError> {
        if list == 0 {
            return Err(GlError::InvalidValue);
        }
        check(matches!(mode, GL_COMPILE | GL_COMPILE_AND_EXECUTE))?;
        if self.compiling.is_some() {
            return Err(GlError::InvalidOperation);
        }
        self.compiling = Some(Box::new(Compiling {
            name: list,
            execute: mode == GL_COMPILE_AND_EXECUTE,
            list: List::default(),
        }));
        Ok(())
    }

    pub fn gl_end_list(&mut self) -> Result<(), GlError> {
        let Some(compiling) = self.compiling.take() else {
            return Err(GlError::InvalidOperation);
        };
        let mut objects = self.shared.lock();
        objects
            .lists
            .insert(compiling.name, Arc::new(compiling.list));
        Ok(())
    }

    pub fn gl_call_list(&mut self, list: u32) -> Result<(), GlError> {
        if list == 0 {
            // Refused, or compiled and ignored.
            return self.unsure();
        }
        listed!(self, gl_call_list(list));
        self.run_list(list);
        Ok(())
    }

    /// As the command: `n` names of `type`, packed.
    pub fn gl_call_lists(&mut self, n: i32, type_: u32, lists: &[u8]) -> Result<(), GlError> {
        if self.compiling.is_some() {
            let owned = lists.to_vec();
            listed!(self, gl_call_lists(n, type_, &owned));
        }
        let count = usize::try_from(n).map_err(|_| GlError::InvalidValue)?;
        let size = mgn_wire::sizes::image::call_lists_bytes(1, type_);
        let size = size.ok_or(GlError::InvalidEnum)?;
        let Some(base) = self.known(at!(GL_LIST_BASE)) else {
            self.forget_listed();
            return Ok(());
        };
        for name in lists.chunks_exact(size).take(count) {
            self.run_list((base as i64 + list_offset(type_, name)) as u32);
        }
        Ok(())
    }

    fn run_list(&mut self, name: u32) {
        if self.depth >= self.limits.list_nesting {
            return;
        }
        let list = self.shared.lock().lists.get(&name).cloned();
        let Some(list) = list else {
            return;
        };
        let compiling = self.compiling.take();
        self.depth += 1;
        list.ops.iter().for_each(|op| op(self));
        self.depth -= 1;
        self.compiling = compiling;
    }

    pub fn gl_list_base(&mut self, base: u32) -> Result<(), GlError> {
        listed!(self, gl_list_base(base));
        self.set(at!(GL_LIST_BASE), base as i32);
        Ok(())
    }

    pub fn gl_gen_lists(&mut self, first: u32, range: i32) -> Result<(), GlError> {
        if range < 0 {
            return Err(GlError::InvalidValue);
        }
        let mut objects = self.shared.lock();
        for name in first..first.saturating_add(range as u32) {
            objects.lists.insert(name, Arc::default());
        }
        Ok(())
    }

    pub fn gl_delete_lists(&mut self, list: u32, range: i32) -> Result<(), GlError> {
        if range < 0 {
            return Err(GlError::InvalidValue);
        }
        let names = list..list.saturating_add(range as u32);
        let mut objects = self.shared.lock();
        objects.lists.retain(|name, _| !names.contains(name));
        Ok(())
    }

    pub(crate) fn list_answer(&self, pname: u32) -> Answer<'_> {
        let value = match (&self.compiling, pname) {
            (None, _) => 0,
            (Some(c), GL_LIST_INDEX) => c.name,
            (Some(c), _) if c.execute => GL_COMPILE_AND_EXECUTE,
            _ => GL_COMPILE,
        };
        Answer::one(Class::Int, value.into())
    }
}

/// The offset that one element of `glCallLists` adds to the base.
fn list_offset(type_: u32, bytes: &[u8]) -> i64 {
    let big_endian = |bytes: &[u8]| bytes.iter().fold(0, |n, &b| n << 8 | i64::from(b));
    let four = || bytes.try_into().unwrap_or([0; 4]);
    let two = || bytes.try_into().unwrap_or([0; 2]);
    match type_ {
        GL_BYTE => i64::from(bytes[0] as i8),
        GL_UNSIGNED_BYTE => bytes[0].into(),
        GL_SHORT => i16::from_ne_bytes(two()).into(),
        GL_UNSIGNED_SHORT => u16::from_ne_bytes(two()).into(),
        GL_INT => i32::from_ne_bytes(four()).into(),
        GL_UNSIGNED_INT => u32::from_ne_bytes(four()).into(),
        GL_FLOAT => f32::from_ne_bytes(four()).floor() as i64,
        _ => big_endian(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_of_every_type() {
        assert_eq!(list_offset(GL_BYTE, &[0xff]), -1);
        assert_eq!(list_offset(GL_UNSIGNED_BYTE, &[0xff]), 255);
        assert_eq!(list_offset(GL_SHORT, &(-2i16).to_ne_bytes()), -2);
        assert_eq!(list_offset(GL_FLOAT, &2.75f32.to_ne_bytes()), 2);
        assert_eq!(list_offset(GL_2_BYTES, &[1, 2]), 258);
        assert_eq!(list_offset(GL_3_BYTES, &[1, 0, 0]), 65536);
        assert_eq!(list_offset(GL_4_BYTES, &[0, 0, 1, 0]), 256);
    }
}
