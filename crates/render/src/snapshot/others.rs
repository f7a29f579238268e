//! Queries, transform feedback objects and program pipelines of a context.

use super::driver::{call, query, Driver};
use super::script::{list, say, Script};
use super::{state, Own};
use crate::names::Class;
use mgn_wire::{gl::*, Fault};

const STAGES: [(u32, u32); 6] = [
    (GL_VERTEX_SHADER, GL_VERTEX_SHADER_BIT),
    (GL_FRAGMENT_SHADER, GL_FRAGMENT_SHADER_BIT),
    (GL_GEOMETRY_SHADER, GL_GEOMETRY_SHADER_BIT),
    (GL_TESS_CONTROL_SHADER, GL_TESS_CONTROL_SHADER_BIT),
    (GL_TESS_EVALUATION_SHADER, GL_TESS_EVALUATION_SHADER_BIT),
    (GL_COMPUTE_SHADER, GL_COMPUTE_SHADER_BIT),
];

pub(super) fn write(
    driver: &Driver<'_>,
    own: &Own<'_>,
    script: &mut Script<'_>,
) -> Result<(), Fault> {
    queries(driver, own, script);
    pipelines(driver, own, script);
    feedback(driver, own, script)
}

/// The new queries have counted nothing, because no command sets a query's result. The totals over
/// all renderers are sent again.
fn queries(driver: &Driver<'_>, own: &Own<'_>, script: &mut Script<'_>) {
    let all = own.names.table(Class::Query).all();
    let names: Vec<u32> = all.iter().map(|(name, _)| *name).collect();
    if names.is_empty() {
        return;
    }
    say!(script, gl_gen_queries(list(&names)));
    for (name, object) in all {
        let target = query!(driver, glGetQueryObjectiv(object, GL_QUERY_TARGET));
        let target = target.map_or(0, |v| v[0] as u32);
        if target == GL_TIMESTAMP {
            say!(script, gl_query_counter(name, target));
        } else if target != 0 {
            say!(script, gl_begin_query(target, name));
            say!(script, gl_end_query(target));
        }
    }
    for (name, sum) in own.cx.counts.sums() {
        say!(script, mgn_sum(name, sum));
    }
}

fn pipelines(driver: &Driver<'_>, own: &Own<'_>, script: &mut Script<'_>) {
    let all = own.names.table(Class::Pipeline).all();
    let names: Vec<u32> = all.iter().map(|(name, _)| *name).collect();
    if names.is_empty() {
        return;
    }
    say!(script, gl_gen_program_pipelines(list(&names)));
    let table = own.names.table(Class::Program);
    for (name, object) in all {
        if call!(driver, glIsProgramPipeline(object)) == 0 {
            continue;
        }
        let of = |pname| {
            let value = query!(driver, glGetProgramPipelineiv(object, pname));
            let program = value.map_or(0, |v: [i32; 64]| v[0] as u32);
            table.client(program).filter(|_| program != 0)
        };
        say!(script, gl_bind_program_pipeline(name));
        for (stage, bit) in STAGES {
            if let Some(program) = of(stage) {
                say!(script, gl_use_program_stages(name, bit, program));
            }
        }
        if let Some(program) = of(GL_ACTIVE_PROGRAM) {
            say!(script, gl_active_shader_program(name, program));
        }
    }
    say!(script, gl_bind_program_pipeline(0));
}

fn feedback(driver: &Driver<'_>, own: &Own<'_>, script: &mut Script<'_>) -> Result<(), Fault> {
    let target = GL_TRANSFORM_FEEDBACK;
    let all = own.names.table(Class::TransformFeedback).all();
    let names: Vec<u32> = all.iter().map(|(name, _)| *name).collect();
    if names.is_empty() {
        return state::indexed(driver, own, script, state::FEEDBACK);
    }
    let bound = driver.number(GL_TRANSFORM_FEEDBACK_BINDING);
    say!(script, gl_gen_transform_feedbacks(list(&names)));
    let mut current = 0;
    for (name, object) in all.into_iter().chain([(0, 0)]) {
        if object != 0 && call!(driver, glIsTransformFeedback(object)) == 0 {
            continue;
        }
        if object == bound {
            current = name;
        }
        call!(driver, glBindTransformFeedback(target, object));
        say!(script, gl_bind_transform_feedback(target, name));
        state::indexed(driver, own, script, state::FEEDBACK)?;
    }
    call!(driver, glBindTransformFeedback(target, bound));
    say!(script, gl_bind_transform_feedback(target, current));
    Ok(())
}
