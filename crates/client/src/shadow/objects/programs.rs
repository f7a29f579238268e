//! The client's knowledge of shaders and programs.

use std::collections::{BTreeMap, HashMap};

/// The shaders and programs of a share group. Their names are never reused, because a deleted
/// object keeps its name while it is in use.
#[derive(Default, Debug)]
pub struct Programs {
    shaders: HashMap<u32, Shader>,
    programs: HashMap<u32, Program>,
}

#[derive(Default, Debug)]
struct Shader {
    /// Its source mentions the number of the vertex or primitive, or there is no source that the
    /// client could examine.
    uses_ids: bool,
}

#[derive(Default, Debug)]
struct Program {
    shaders: Vec<u32>,
    uses_ids: bool,
    /// How often the program was linked.
    links: u32,
    /// Parameters and locations since the last link.
    parameters: HashMap<u32, i32>,
    uniforms: HashMap<Box<[u8]>, i32>,
    attributes: HashMap<Box<[u8]>, i32>,
    integers: Integers,
}

/// The values of uniforms of single integers, including samplers, that were set since the program
/// was linked: by location, with all values of one command together.
#[derive(Default, Debug)]
struct Integers {
    values: BTreeMap<i32, Box<[i32]>>,
    /// The context that last set a value, and its `Encoder::changes` then. Other changes of the
    /// values came before.
    since: (u32, u32),
    /// Some values were set through more than one location.
    overlap: bool,
    /// Counts how often contexts announced new values: before the values are sent, and when they
    /// are.
    told: u32,
}

/// The kind of object that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Shader,
    Program,
}

/// The kinds of variables that have a location in a linked program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    Uniform,
    Attribute,
}

impl Programs {
    pub fn shader_created(&mut self, name: u32) {
        self.shaders.insert(name, Shader::default());
    }

    pub fn program_created(&mut self, name: u32) {
        self.programs.insert(name, Program::default());
    }

    /// A program that was created from the source of one shader.
    pub fn program_of_source(&mut self, name: u32, uses_ids: bool) {
        let program = Program {
            uses_ids,
            ..Program::default()
        };
        self.programs.insert(name, program);
    }

    /// Whether `name` is a program that has not been deleted.
    pub fn has_program(&self, name: u32) -> bool {
        self.programs.contains_key(&name)
    }

    /// The kind of `name`, unless it was deleted.
    pub fn kind(&self, name: u32) -> Option<Kind> {
        if self.shaders.contains_key(&name) {
            return Some(Kind::Shader);
        }
        self.programs.contains_key(&name).then_some(Kind::Program)
    }

    pub fn delete(&mut self, name: u32) {
        self.shaders.remove(&name);
        self.programs.remove(&name);
    }

    /// The shader has a new source. `uses_ids` says whether the source uses numbers of vertices or
    /// primitives; `None` if that is unknown.
    pub fn source_given(&mut self, shader: u32, uses_ids: bool) {
        if let Some(s) = self.shaders.get_mut(&shader) {
            s.uses_ids |= uses_ids;
        }
        if uses_ids {
            for program in self
                .programs
                .values_mut()
                .filter(|p| p.shaders.contains(&shader))
            {
                program.uses_ids = true;
            }
        }
    }

    pub fn attached(&mut self, program: u32, shader: u32) {
        let uses_ids = self.shaders.get(&shader).is_none_or(|s| s.uses_ids);
        if let Some(program) = self.programs.get_mut(&program) {
            program.uses_ids |= uses_ids;
            if !program.shaders.contains(&shader) {
                program.shaders.push(shader);
            }
        }
    }

    pub fn detached(&mut self, program: u32, shader: u32) {
        if let Some(program) = self.programs.get_mut(&program) {
            program.shaders.retain(|s| *s != shader);
        }
    }

    /// The program was linked: its whole interface may have changed.
    pub fn linked(&mut self, program: u32) {
        if let Some(program) = self.programs.get_mut(&program) {
            program.links = program.links.wrapping_add(1);
            program.parameters.clear();
            program.uniforms.clear();
            program.attributes.clear();
            program.integers = Integers {
                told: program.integers.told,
                ..Integers::default()
            };
        }
    }

    /// Counts an announcement to other contexts that uniforms of single integers have changed.
    pub fn integers_told(&mut self, program: u32) {
        if let Some(program) = self.programs.get_mut(&program) {
            program.integers.told = program.integers.told.wrapping_add(1);
        }
    }

    /// Uniforms of single integers were set from `location` on. Returns whether their values have
    /// changed.
    pub fn integers_set(
        &mut self,
        program: u32,
        location: i32,
        list: &[i32],
        since: (u32, u32),
    ) -> bool {
        let Some(program) = self.programs.get_mut(&program).filter(|_| location >= 0) else {
            return false;
        };
        let integers = &mut program.integers;
        integers.since = since;
        if integers
            .values
            .get(&location)
            .is_some_and(|now| **now == *list)
        {
            return false;
        }
        let end = i64::from(location) + list.len() as i64;
        let before = integers.values.range(..location).next_back();
        let after = integers.values.range(location + 1..).next();
        integers.overlap |= before.is_some_and(|(at, v)| at + v.len() as i32 > location)
            || after.is_some_and(|(at, _)| i64::from(*at) < end)
            || integers
                .values
                .get(&location)
                .is_some_and(|now| now.len() != list.len());
        integers.values.insert(location, list.into());
        true
    }

    /// Adds the values of uniforms of single integers to a key; none if the values are not known,
    /// or are too many.
    pub fn put_integers(&self, program: u32, key: &mut Vec<u32>) -> Option<()> {
        const INTEGERS_MAX: usize = 64;
        let integers = &self.programs.get(&program)?.integers;
        if integers.overlap || integers.values.len() > INTEGERS_MAX {
            return None;
        }
        key.extend([integers.since.0, integers.since.1, integers.told]);
        for (location, list) in &integers.values {
            key.extend([*location as u32, list.len() as u32]);
            key.extend(list.iter().map(|v| *v as u32));
        }
        Some(())
    }

    /// The program was created from data that the client cannot read.
    pub fn made_of_binary(&mut self, program: u32) {
        self.linked(program);
        if let Some(program) = self.programs.get_mut(&program) {
            program.uses_ids = true;
        }
    }

    /// Whether any source that the program has had mentions the number of the vertex or primitive.
    pub fn uses_ids(&self, program: u32) -> bool {
        program != 0 && self.programs.get(&program).is_none_or(|p| p.uses_ids)
    }

    /// How often the program was linked. Knowledge of the program is valid for this link only.
    pub fn links(&self, program: u32) -> u32 {
        self.programs.get(&program).map_or(0, |p| p.links)
    }

    pub fn parameter(&self, program: u32, pname: u32) -> Option<i32> {
        self.programs.get(&program)?.parameters.get(&pname).copied()
    }

    pub fn learn_parameter(&mut self, program: u32, links: u32, pname: u32, value: i32) {
        if let Some(p) = self.programs.get_mut(&program).filter(|p| p.links == links) {
            p.parameters.insert(pname, value);
        }
    }

    pub fn location(&self, program: u32, variable: Variable, name: &[u8]) -> Option<i32> {
        let program = self.programs.get(&program)?;
        match variable {
            Variable::Uniform => program.uniforms.get(name).copied(),
            Variable::Attribute => program.attributes.get(name).copied(),
        }
    }

    pub fn learn_location(
        &mut self,
        program: u32,
        links: u32,
        variable: Variable,
        name: &[u8],
        location: i32,
    ) {
        /// No program has more variables; further names are not cached.
        const NAMES_MAX: usize = 1 << 14;
        if let Some(p) = self.programs.get_mut(&program).filter(|p| p.links == links) {
            let known = match variable {
                Variable::Uniform => &mut p.uniforms,
                Variable::Attribute => &mut p.attributes,
            };
            if known.len() < NAMES_MAX {
                known.insert(name.into(), location);
            }
        }
    }
}

/// Whether a shader of this source may read `gl_VertexID`, `gl_PrimitiveID` or `gl_DrawID`. Other
/// names that contain these count as well, because the preprocessor may paste names. So does a
/// source that may include another one.
pub fn mentions_ids(source: &[u8]) -> bool {
    const NAMES: [&[u8]; 4] = [b"VertexID", b"PrimitiveID", b"DrawID", b"include"];
    NAMES
        .iter()
        .any(|name| source.windows(name.len()).any(|w| w == *name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_noticed_whenever_the_source_comes() {
        assert!(mentions_ids(
            b"void main() { gl_Position = vec4(gl_VertexID); }"
        ));
        assert!(mentions_ids(b"gl_PrimitiveIDIn"));
        assert!(!mentions_ids(b"gl_InstanceID"));
        let mut p = Programs::default();
        p.shader_created(1);
        p.shader_created(2);
        p.program_created(3);
        p.attached(3, 1);
        p.attached(3, 2);
        assert!(!p.uses_ids(3) && !p.uses_ids(0));
        p.source_given(1, false);
        p.source_given(2, true);
        assert!(p.uses_ids(3));
        p.program_created(4);
        p.source_given(1, true);
        p.attached(4, 1);
        p.detached(4, 1);
        assert!(p.uses_ids(4));
        p.program_created(5);
        p.made_of_binary(5);
        assert!(p.uses_ids(5));
    }

    #[test]
    fn linking_forgets() {
        let mut p = Programs::default();
        p.program_created(1);
        let links = p.links(1);
        p.learn_location(1, links, Variable::Uniform, b"a", 3);
        p.learn_location(1, links, Variable::Attribute, b"a", 4);
        p.learn_parameter(1, links, 7, 8);
        assert_eq!(p.location(1, Variable::Uniform, b"a"), Some(3));
        assert_eq!(p.location(1, Variable::Attribute, b"a"), Some(4));
        assert_eq!(p.parameter(1, 7), Some(8));
        p.linked(1);
        assert_eq!(p.location(1, Variable::Uniform, b"a"), None);
        assert_eq!(p.parameter(1, 7), None);
        p.learn_location(1, links, Variable::Uniform, b"a", 3);
        assert_eq!(p.location(1, Variable::Uniform, b"a"), None);
        assert_eq!(p.kind(1), Some(Kind::Program));
        p.delete(1);
        assert_eq!(p.kind(1), None);
    }
}
