//! A shortcut for the most frequent queries: names of one integer at a fixed place.

use mgn_wire::gl::*;
use mgn_wire::hello::ContextInfo;

use crate::index::ValueLocation;
use crate::slots::{is_unknown, TABLE};
use crate::{Class, State};

const ENTRIES: usize = 1024;

/// Places of single integers. A name that another has taken the entry of is looked up the long way.
#[derive(Clone, Debug)]
pub(crate) struct Quick {
    entries: Box<[Entry; ENTRIES]>,
}

/// A name, and where its value is.
#[derive(Clone, Copy, Debug)]
struct Entry {
    pname: u32,
    at: u32,
}

/// Its value is nowhere.
const FREE: Entry = Entry {
    pname: 0,
    at: u32::MAX,
};

impl Default for Quick {
    fn default() -> Quick {
        Quick {
            entries: Box::new([FREE; ENTRIES]),
        }
    }
}

#[inline]
fn index(pname: u32) -> usize {
    (pname.wrapping_mul(0x9e37_79b1) >> 22) as usize % ENTRIES
}

impl Quick {
    fn add(&mut self, pname: u32, at: usize) {
        let entry = &mut self.entries[index(pname)];
        if entry.at == FREE.at {
            *entry = Entry {
                pname,
                at: at as u32,
            };
        }
    }
}

impl State {
    /// Finds the names that qualify. Constants get a place among the values.
    pub(crate) fn initialize_quick(&mut self, info: &ContextInfo) {
        let mut quick = Quick::default();
        for row in TABLE {
            // Which of a stencil buffer's two faces is returned depends on a third name, and masks
            // are cut off.
            let fixed = matches!(row.class, Class::Bool | Class::Int)
                && row.values == 1
                && !(GL_STENCIL_FUNC..=GL_STENCIL_WRITEMASK).contains(&row.pname)
                && row.pname != GL_STENCIL_BACK_REF;
            for element in 0..u32::from(row.elements) {
                let pname = row.pname + if row.named { element } else { 0 };
                if let (true, Some(ValueLocation::Row { at, .. })) = (fixed, self.index.find(pname))
                {
                    quick.add(pname, at.into());
                }
            }
        }
        for (pname, values) in &info.integers {
            let constant = matches!(self.index.find(*pname), Some(ValueLocation::Constant(_)));
            if let ([value], true) = (&values[..], constant) {
                if let Ok(value) = i32::try_from(*value) {
                    quick.add(*pname, self.values.len());
                    self.values.push(value.into());
                }
            }
        }
        self.quick = quick;
    }

    /// The value of `glGetIntegerv` for names of one integer, if there is a shortcut; `None` if
    /// there is none.
    #[inline]
    pub fn integer(&self, pname: u32) -> Option<i32> {
        let entry = &self.quick.entries[index(pname)];
        if entry.pname != pname {
            return None;
        }
        let value = *self.values.get(entry.at as usize)?;
        (!is_unknown(value)).then_some(value as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_wire::hello::api;

    #[test]
    fn the_shortcut_and_the_long_way_agree() {
        let names = mgn_wire::sizes::fresh::INTEGERS.iter();
        let integers = names.map(|&(pname, count)| (pname, vec![1; count]));
        let constants = [
            (GL_MAX_LIGHTS, vec![8]),
            (GL_MAX_SERVER_WAIT_TIMEOUT, vec![1 << 40]),
            (GL_MAX_VIEWPORT_DIMS, vec![7, 8]),
        ];
        let info = ContextInfo {
            integers: integers.chain(constants).collect(),
            ..ContextInfo::default()
        };
        let mut state = State::new(&info, api::COMPAT);
        let agree = |state: &State| {
            let mut found = 0;
            for pname in 0..0xa000 {
                if let Some(value) = state.integer(pname) {
                    let long = state.get(pname).values().map(|v| (v.len(), v.int(0)));
                    assert_eq!(long, Some((1, value)), "{pname:#x}");
                    found += 1;
                }
            }
            found
        };
        assert!(agree(&state) > 100);
        assert_eq!(state.integer(GL_MAX_LIGHTS), Some(8));
        assert_eq!(state.integer(GL_MAX_SERVER_WAIT_TIMEOUT), None);
        assert_eq!(state.integer(GL_MAX_VIEWPORT_DIMS), None);
        state.gl_depth_func(GL_GEQUAL).unwrap();
        state.gl_enable(GL_BLEND).unwrap();
        assert_eq!(state.integer(GL_DEPTH_FUNC), Some(GL_GEQUAL as i32));
        assert!(agree(&state) > 100);
        state.forget(GL_DEPTH_FUNC);
        assert_eq!(state.integer(GL_DEPTH_FUNC), None);
        state.forget_listed();
        agree(&state);
    }
}
