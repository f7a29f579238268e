//! The parameters of a context, which programs read by their numbers.

use crate::abi::{
    param, Enum, BOOLEAN, COLOR_RGBA_UBYTE, DEPTH_FLOAT, DIAG_ALL_NODES, DIAG_WARNINGS, DOUBLE,
    FLOAT, INT, MODE_Z_BUFFER, NULL, POINTER, SINGLE_AUTOMATIC, STRATEGY_UNDEFINED, VOID,
};
use crate::diagnostics::Problem;

/// The value of a parameter. Pointers are the program's, and are used only as it says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Value {
    #[default]
    Unset,
    Bools(Vec<u8>),
    Ints(Vec<i32>),
    Floats(Vec<f32>),
    Doubles(Vec<f64>),
    Pointer(usize),
    /// Memory for the program's rendering layer.
    Memory(Vec<u64>),
}

/// Where the program finds a parameter's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParameterLocation {
    pub(crate) kind: Enum,
    pub(crate) start: *const u8,
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    values: Vec<Value>,
}

impl State {
    pub(crate) fn new(rank: usize, size: usize) -> State {
        let mut state = State {
            values: vec![Value::Unset; param::COUNT as usize],
        };
        let ranks: Vec<i32> = (0..size as i32).collect();
        let ints = [
            (
                param::DIAGNOSTIC_LEVEL,
                (DIAG_ALL_NODES | DIAG_WARNINGS) as i32,
            ),
            (param::RANK, rank as i32),
            (param::NUM_PROCESSES, size as i32),
            (param::BACKGROUND_COLOR_WORD, 0),
            (param::PHYSICAL_RENDER_WIDTH, 0),
            (param::PHYSICAL_RENDER_HEIGHT, 0),
            (param::COLOR_FORMAT, COLOR_RGBA_UBYTE as i32),
            (param::DEPTH_FORMAT, DEPTH_FLOAT as i32),
            (param::NUM_BOUNDING_VERTS, 0),
            (param::STRATEGY, STRATEGY_UNDEFINED as i32),
            (param::SINGLE_IMAGE_STRATEGY, SINGLE_AUTOMATIC as i32),
            (param::COMPOSITE_MODE, MODE_Z_BUFFER as i32),
            (param::DATA_REPLICATION_GROUP, rank as i32),
            (param::DATA_REPLICATION_GROUP_SIZE, 1),
            (param::FRAME_COUNT, 0),
            (param::MAGIC_K, 8),
            (param::MAX_IMAGE_SPLIT, 500_000),
            (param::VALID_PIXELS_TILE, -1),
            (param::VALID_PIXELS_OFFSET, 0),
            (param::VALID_PIXELS_NUM, 0),
            (param::BYTES_SENT, 0),
        ];
        for (name, value) in ints {
            state.set_int(name, value);
        }
        for name in [
            param::FLOATING_VIEWPORT,
            param::COMPOSITE_ONE_BUFFER,
            param::INTERLACE_IMAGES,
            param::COLLECT_IMAGES,
        ] {
            state.set_bool(name, true);
        }
        for name in [
            param::ORDERED_COMPOSITE,
            param::CORRECT_COLORED_BACKGROUND,
            param::RENDER_EMPTY_IMAGES,
            param::IS_DRAWING_FRAME,
        ] {
            state.set_bool(name, false);
        }
        state.set(param::BACKGROUND_COLOR, Value::Floats(vec![0.0; 4]));
        state.set(param::GEOMETRY_BOUNDS, Value::Doubles(Vec::new()));
        state.set(param::COMPOSITE_ORDER, Value::Ints(ranks.clone()));
        state.set(param::PROCESS_ORDERS, Value::Ints(ranks));
        state.set(param::DRAW_FUNCTION, Value::Pointer(0));
        state.set(param::RENDER_LAYER_DESTRUCTOR, Value::Pointer(0));
        state.reset_times();
        state
    }

    pub(crate) fn reset_times(&mut self) {
        for name in [
            param::RENDER_TIME,
            param::BUFFER_READ_TIME,
            param::BUFFER_WRITE_TIME,
            param::COMPRESS_TIME,
            param::INTERLACE_TIME,
            param::BLEND_TIME,
            param::COMPOSITE_TIME,
            param::COLLECT_TIME,
            param::TOTAL_DRAW_TIME,
        ] {
            self.set_double(name, 0.0);
        }
        self.set_int(param::BYTES_SENT, 0);
    }

    /// Copies the program's settings from another context, but not the state of its processes.
    pub(crate) fn copy(&mut self, from: &State) {
        for (number, (to, from)) in self.values.iter_mut().zip(&from.values).enumerate() {
            let is_own = matches!(
                number as Enum,
                param::RANK
                    | param::NUM_PROCESSES
                    | param::DATA_REPLICATION_GROUP
                    | param::DATA_REPLICATION_GROUP_SIZE
                    | param::COMPOSITE_ORDER
                    | param::PROCESS_ORDERS
                    | param::IS_DRAWING_FRAME
            );
            if !is_own && !matches!(from, Value::Memory(_)) {
                to.clone_from(from);
            }
        }
    }

    /// # Errors
    /// [`Problem::Enum`] where there is no such parameter.
    pub(crate) fn get(&self, name: Enum) -> Result<&Value, Problem> {
        match self.values.get(name as usize) {
            Some(Value::Unset) | None => {
                Err(Problem::Enum(format!("No such parameter, 0x{name:x}.")))
            }
            Some(value) => Ok(value),
        }
    }

    /// Panics if there can be no such parameter. Numbers from programs are checked by
    /// [`State::set_checked`].
    pub(crate) fn set(&mut self, name: Enum, value: Value) {
        self.values[name as usize] = value;
    }

    pub(crate) fn set_checked(&mut self, name: Enum, value: Value) -> Result<(), Problem> {
        let place = self.values.get_mut(name as usize);
        *place.ok_or_else(|| Problem::Enum(format!("No such parameter, 0x{name:x}.")))? = value;
        Ok(())
    }

    pub(crate) fn set_int(&mut self, name: Enum, value: i32) {
        self.set(name, Value::Ints(vec![value]));
    }

    pub(crate) fn set_ints(&mut self, name: Enum, values: &[i32]) {
        self.set(name, Value::Ints(values.to_vec()));
    }

    pub(crate) fn set_bool(&mut self, name: Enum, value: bool) {
        self.set(name, Value::Bools(vec![u8::from(value)]));
    }

    pub(crate) fn set_double(&mut self, name: Enum, value: f64) {
        // In place: the program may have been given its address.
        match &mut self.values[name as usize] {
            Value::Doubles(old) if old.len() == 1 => old[0] = value,
            other => *other = Value::Doubles(vec![value]),
        }
    }

    pub(crate) fn int(&self, name: Enum) -> i32 {
        match &self.values[name as usize] {
            Value::Ints(values) => values.first().copied().unwrap_or(0),
            _ => 0,
        }
    }

    pub(crate) fn ints(&self, name: Enum) -> &[i32] {
        match &self.values[name as usize] {
            Value::Ints(values) => values,
            _ => &[],
        }
    }

    pub(crate) fn doubles(&self, name: Enum) -> &[f64] {
        match &self.values[name as usize] {
            Value::Doubles(values) => values,
            _ => &[],
        }
    }

    pub(crate) fn double(&self, name: Enum) -> f64 {
        self.doubles(name).first().copied().unwrap_or(0.0)
    }

    pub(crate) fn is_on(&self, name: Enum) -> bool {
        matches!(&self.values[name as usize], Value::Bools(values) if values.first() == Some(&1))
    }

    pub(crate) fn pointer(&self, name: Enum) -> usize {
        match self.values[name as usize] {
            Value::Pointer(pointer) => pointer,
            _ => 0,
        }
    }

    /// Memory of at least `bytes` bytes, with undefined contents. It stays where it is until more
    /// bytes are requested.
    pub(crate) fn memory(&mut self, name: Enum, bytes: usize) -> Result<*mut u8, Problem> {
        let words = bytes.div_ceil(8);
        match self.values.get(name as usize) {
            Some(Value::Memory(memory)) if memory.len() >= words => {}
            _ => self.set_checked(name, Value::Memory(vec![0; words]))?,
        }
        match &mut self.values[name as usize] {
            Value::Memory(memory) => Ok(memory.as_mut_ptr().cast()),
            _ => unreachable!("it was set above"),
        }
    }

    pub(crate) fn place(&self, name: Enum) -> ParameterLocation {
        let (kind, start) = match self.values.get(name as usize) {
            None | Some(Value::Unset) => (NULL, std::ptr::null()),
            Some(Value::Bools(values)) => (BOOLEAN, values.as_ptr()),
            Some(Value::Ints(values)) => (INT, values.as_ptr().cast()),
            Some(Value::Floats(values)) => (FLOAT, values.as_ptr().cast()),
            Some(Value::Doubles(values)) => (DOUBLE, values.as_ptr().cast()),
            Some(Value::Pointer(pointer)) => (POINTER, std::ptr::from_ref(pointer).cast()),
            Some(Value::Memory(memory)) => (VOID, memory.as_ptr().cast()),
        };
        ParameterLocation { kind, start }
    }
}

impl Value {
    /// As floating-point numbers.
    pub(crate) fn doubles(&self, name: Enum) -> Result<Vec<f64>, Problem> {
        match self {
            Value::Bools(values) => Ok(values.iter().copied().map(f64::from).collect()),
            Value::Ints(values) => Ok(values.iter().copied().map(f64::from).collect()),
            Value::Floats(values) => Ok(values.iter().copied().map(f64::from).collect()),
            Value::Doubles(values) => Ok(values.clone()),
            _ => Err(no_cast(name)),
        }
    }

    /// As whole numbers.
    pub(crate) fn ints(&self, name: Enum) -> Result<Vec<i32>, Problem> {
        match self {
            Value::Bools(values) => Ok(values.iter().copied().map(i32::from).collect()),
            Value::Ints(values) => Ok(values.clone()),
            Value::Floats(values) => Ok(values.iter().map(|value| *value as i32).collect()),
            Value::Doubles(values) => Ok(values.iter().map(|value| *value as i32).collect()),
            _ => Err(no_cast(name)),
        }
    }

    /// As enumerations or bits.
    pub(crate) fn enums(&self, name: Enum) -> Result<Vec<u32>, Problem> {
        match self {
            Value::Floats(_) | Value::Doubles(_) => Err(Problem::Cast(
                "Floating point values cannot be enumerations.".into(),
            )),
            _ => Ok(self
                .ints(name)?
                .into_iter()
                .map(|value| value as u32)
                .collect()),
        }
    }

    pub(crate) fn pointer(&self, name: Enum) -> Result<usize, Problem> {
        match self {
            Value::Pointer(pointer) => Ok(*pointer),
            Value::Memory(memory) => Ok(memory.as_ptr() as usize),
            _ => Err(no_cast(name)),
        }
    }
}

fn no_cast(name: Enum) -> Problem {
    Problem::Cast(format!("Could not cast value for 0x{name:x}."))
}
