//! Settings of what is composited, and how.

use std::ffi::{c_char, CStr};

use crate::abi::{
    param, DrawCallback, Enum, MODE_BLEND, MODE_Z_BUFFER, SINGLE_AUTOMATIC, SINGLE_BSWAP,
    SINGLE_BSWAP_FOLDING, SINGLE_RADIXK, SINGLE_RADIXKR, SINGLE_TREE, STRATEGY_DIRECT,
    STRATEGY_REDUCE, STRATEGY_SEQUENTIAL, STRATEGY_SPLIT, STRATEGY_UNDEFINED, STRATEGY_VTREE,
};
use crate::context::Context;
use crate::diagnostics::{call, Problem};
use crate::pixels::{depth_from_abi, Color};
use crate::state::Value;

const STRATEGIES: [(Enum, &CStr); 5] = [
    (STRATEGY_DIRECT, c"Direct"),
    (STRATEGY_SEQUENTIAL, c"Sequential"),
    (STRATEGY_SPLIT, c"Split"),
    (STRATEGY_REDUCE, c"Reduce"),
    (STRATEGY_VTREE, c"Virtual Tree"),
];

const SINGLE_STRATEGIES: [(Enum, &CStr); 6] = [
    (SINGLE_AUTOMATIC, c"Automatic"),
    (SINGLE_BSWAP, c"Binary Swap"),
    (SINGLE_TREE, c"Binary Tree"),
    (SINGLE_RADIXK, c"Radix-k"),
    (SINGLE_RADIXKR, c"Radix-kr"),
    (SINGLE_BSWAP_FOLDING, c"Folded Binary Swap"),
];

fn name_of(all: &'static [(Enum, &'static CStr)], wanted: Enum) -> Option<&'static CStr> {
    let mut all = all.iter();
    all.find_map(|(strategy, name)| (*strategy == wanted).then_some(*name))
}

/// Manganese chooses for each machine how pictures are exchanged. A strategy is kept for queries,
/// and decides only whether the background is always blended.
#[no_mangle]
pub extern "C" fn icetStrategy(strategy: Enum) {
    call((), |registry| {
        let state = &mut registry.current()?.state;
        if name_of(&STRATEGIES, strategy).is_none() {
            return Err(Problem::Enum("Invalid strategy.".into()));
        }
        state.set_int(param::STRATEGY, strategy as i32);
        // Pictures are blended in order with every strategy.
        state.set_bool(param::STRATEGY_SUPPORTS_ORDERING, true);
        Ok(())
    });
}

#[no_mangle]
pub extern "C" fn icetGetStrategyName() -> *const c_char {
    let name = call(None, |registry| {
        let strategy = registry.current()?.state.int(param::STRATEGY) as Enum;
        if strategy == STRATEGY_UNDEFINED {
            let text = "No strategy set. Use icetStrategy to set the strategy.";
            return Err(Problem::Enum(text.into()));
        }
        Ok(name_of(&STRATEGIES, strategy))
    });
    name.map_or(std::ptr::null(), CStr::as_ptr)
}

#[no_mangle]
pub extern "C" fn icetSingleImageStrategy(strategy: Enum) {
    call((), |registry| {
        let state = &mut registry.current()?.state;
        if name_of(&SINGLE_STRATEGIES, strategy).is_none() {
            return Err(Problem::Enum("Invalid single image strategy.".into()));
        }
        state.set_int(param::SINGLE_IMAGE_STRATEGY, strategy as i32);
        Ok(())
    });
}

#[no_mangle]
pub extern "C" fn icetGetSingleImageStrategyName() -> *const c_char {
    let name = call(None, |registry| {
        let strategy = registry.current()?.state.int(param::SINGLE_IMAGE_STRATEGY);
        Ok(name_of(&SINGLE_STRATEGIES, strategy as Enum))
    });
    name.map_or(std::ptr::null(), CStr::as_ptr)
}

#[no_mangle]
pub extern "C" fn icetCompositeMode(mode: Enum) {
    call((), |registry| {
        let state = &mut registry.current()?.state;
        if ![MODE_Z_BUFFER, MODE_BLEND].contains(&mode) {
            return Err(Problem::Enum(format!("Invalid composite mode 0x{mode:x}.")));
        }
        state.set_int(param::COMPOSITE_MODE, mode as i32);
        Ok(())
    });
}

#[no_mangle]
pub extern "C" fn icetSetColorFormat(format: Enum) {
    set_format(param::COLOR_FORMAT, format, |format| {
        Color::from_abi(format).map(drop)
    });
}

#[no_mangle]
pub extern "C" fn icetSetDepthFormat(format: Enum) {
    set_format(param::DEPTH_FORMAT, format, |format| {
        depth_from_abi(format).map(drop)
    });
}

fn set_format(name: Enum, format: Enum, check: impl FnOnce(Enum) -> Result<(), Problem>) {
    call((), |registry| {
        let context = registry.current()?;
        if context.state.is_on(param::IS_DRAWING_FRAME) {
            let text = "Formats cannot change while a frame is drawn.";
            return Err(Problem::Operation(text.into()));
        }
        check(format)?;
        context.state.set_int(name, format as i32);
        Ok(())
    });
}

/// The ranks of all processes, front to back.
///
/// # Safety
/// `ranks` is null or has one value for each process.
#[no_mangle]
pub unsafe extern "C" fn icetCompositeOrder(ranks: *const i32) {
    call((), |registry| {
        let context = registry.current()?;
        let size = context.processes.size();
        if ranks.is_null() {
            return Err(Problem::Value("The composite order is null.".into()));
        }
        // SAFETY: as the caller promises.
        let order = (0..size).map(|at| unsafe { ranks.add(at).read_unaligned() });
        let order: Vec<i32> = order.collect();
        let mut places = vec![-1; size];
        for (place, rank) in order.iter().enumerate() {
            let at = usize::try_from(*rank)
                .ok()
                .and_then(|rank| places.get_mut(rank));
            match at {
                Some(at) if *at < 0 => *at = place as i32,
                _ => return Err(Problem::Value("Invalid composite order.".into())),
            }
        }
        context.state.set_ints(param::COMPOSITE_ORDER, &order);
        context.state.set_ints(param::PROCESS_ORDERS, &places);
        Ok(())
    });
}

/// The ranks of the processes that have the same data as this one, including its own.
///
/// # Safety
/// `processes` has `size` values.
#[no_mangle]
pub unsafe extern "C" fn icetDataReplicationGroup(size: i32, processes: *const i32) {
    call((), |registry| {
        let context = registry.current()?;
        let all = context.processes.size();
        let count = usize::try_from(size).ok().filter(|count| *count <= all);
        let Some(count) = count.filter(|_| !processes.is_null()) else {
            return Err(Problem::Value(
                "The data replication group is null, or its size is invalid.".into(),
            ));
        };
        // SAFETY: as the caller promises.
        let group = (0..count).map(|at| unsafe { processes.add(at).read_unaligned() });
        set_group(context, &group.collect::<Vec<i32>>())
    });
}

fn set_group(context: &mut Context, group: &[i32]) -> Result<(), Problem> {
    let wrong = |text: &str| Err(Problem::Value(text.into()));
    if !group.contains(&(context.processes.rank() as i32)) {
        return wrong("Local process not part of data replication group.");
    }
    let is_once = |rank: &i32| group.iter().filter(|other| *other == rank).count() == 1;
    let all = 0..context.processes.size() as i32;
    if !group.iter().all(|rank| all.contains(rank) && is_once(rank)) {
        return wrong(
            "The data replication group names a process twice, or one that does not exist.",
        );
    }
    context.state.set_ints(param::DATA_REPLICATION_GROUP, group);
    context
        .state
        .set_int(param::DATA_REPLICATION_GROUP_SIZE, group.len() as i32);
    Ok(())
}

/// Processes with the same number have the same data. All processes call this.
#[no_mangle]
pub extern "C" fn icetDataReplicationGroupColor(color: i32) {
    call((), |registry| {
        let context = registry.current()?;
        let colors = context.processes.gather(color)?;
        let same = (0..).zip(&colors).filter(|(_, other)| **other == color);
        let group: Vec<i32> = same.map(|(rank, _)| rank).collect();
        set_group(context, &group)
    });
}

#[no_mangle]
pub extern "C" fn icetDrawCallback(callback: Option<DrawCallback>) {
    call((), |registry| {
        let pointer = callback.map_or(0, |callback| callback as usize);
        let state = &mut registry.current()?.state;
        state.set(param::DRAW_FUNCTION, Value::Pointer(pointer));
        Ok(())
    });
}
