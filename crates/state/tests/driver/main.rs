//! The shadow against the local driver: random sequences of commands go to both, and after
//! each the shadow must have predicted the error and must answer every get that it answers at
//! all as the driver does. Skipped, loudly, where there is no driver.

mod commands;
mod compare;
mod egl;
mod fixed_function;
mod fixed_point;
mod gl;
mod objects;

use egl::Api;
use gl::Pair;

fn initial(api: Api) {
    let Some(mut pair) = Pair::new(api, 1) else {
        return;
    };
    // All that the driver answers is answered without it.
    for (pname, _) in gl::names() {
        let theirs = pair.floats(pname);
        let ours = pair.state.get(pname).values();
        assert_eq!(ours.is_some(), theirs.is_some(), "{pname:#x}");
    }
    pair.compare(true);
}

#[test]
fn a_new_compatibility_context() {
    initial(Api::Compat);
}

#[test]
fn a_new_core_context() {
    initial(Api::Core);
}

#[test]
fn a_new_es1_context() {
    initial(Api::Es1);
}

#[test]
fn a_new_es3_context() {
    initial(Api::Es3);
}

type Step = fn(&mut Pair);

fn random(api: Api, seed: u64, rounds: usize, steps: &[Step]) {
    let Some(pair) = Pair::new(api, seed) else {
        return;
    };
    run(pair, rounds, steps);
}

fn run(mut pair: Pair, rounds: usize, steps: &[Step]) {
    for round in 0..rounds {
        let step = steps[pair.random.below(steps.len() as u32) as usize];
        step(&mut pair);
        if round % 3 == 0 {
            pair.compare(round % 48 == 0);
        }
    }
    pair.compare(true);
}

/// Rounds of each test; more find rarer things.
fn rounds() -> usize {
    let wanted = std::env::var("MGN_TEST_ROUNDS").ok();
    wanted.and_then(|n| n.parse().ok()).unwrap_or(1500)
}

fn seed() -> u64 {
    let wanted = std::env::var("MGN_TEST_SEED").ok();
    wanted
        .and_then(|n| n.parse().ok())
        .unwrap_or(0x2545_f491_4f6c_dd1d)
}

#[test]
fn common_state_of_compatibility_contexts() {
    random(Api::Compat, seed(), rounds(), &[commands::step]);
}

#[test]
fn common_state_of_core_contexts() {
    random(
        Api::Core,
        seed(),
        rounds(),
        &[commands::step, objects::step],
    );
}

#[test]
fn common_state_of_es3_contexts() {
    random(Api::Es3, seed(), rounds(), &[commands::step, objects::step]);
}

#[test]
fn state_of_es1_contexts() {
    let steps = [
        commands::step as Step,
        fixed_function::step,
        fixed_point::step,
        objects::step,
    ];
    random(Api::Es1, seed(), rounds(), &steps);
}

#[test]
fn fixed_functions() {
    random(Api::Compat, seed(), rounds(), &[fixed_function::step]);
}

#[test]
fn fixed_point_numbers() {
    let steps = [fixed_function::step as Step, fixed_point::step];
    random(Api::Compat, seed(), rounds(), &steps);
}

#[test]
fn objects_of_compatibility_contexts() {
    random(Api::Compat, seed(), rounds(), &[objects::step]);
}

#[test]
fn attribute_stacks() {
    let steps = [
        commands::step as Step,
        fixed_function::step,
        fixed_function::step,
        objects::step,
        fixed_function::stacks,
    ];
    random(Api::Compat, seed(), 2 * rounds(), &steps);
}

#[test]
fn display_lists() {
    let steps = [
        commands::step as Step,
        fixed_function::step,
        objects::step,
        fixed_point::step,
        fixed_function::lists,
    ];
    let Some(mut pair) = Pair::new(Api::Compat, seed()) else {
        return;
    };
    // A list might set the matrix mode while a unit is active that has no matrix, which the
    // driver does not survive.
    pair.units = 8;
    run(pair, 2 * rounds(), &steps);
}
