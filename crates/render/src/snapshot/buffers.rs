//! Buffer objects: their storage and its contents.

use super::driver::{call, query, Driver};
use super::script::{bytes, list, say, Script};
use super::{refusal, why_not_now, Objects};
use crate::names::Class;
use mgn_wire::{gl::*, Fault, LONG_MAX};

const TARGET: u32 = GL_ARRAY_BUFFER;

pub(super) fn write(
    driver: &Driver<'_>,
    objects: &Objects<'_>,
    script: &mut Script<'_>,
) -> Result<(), Fault> {
    let all = objects.shared.table(Class::Buffer).all();
    let names: Vec<u32> = all.iter().map(|(name, _)| *name).collect();
    say!(script, gl_gen_buffers(list(&names)));
    for (name, object) in all {
        if call!(driver, glIsBuffer(object)) == 0 {
            continue;
        }
        call!(driver, glBindBuffer(TARGET, object));
        let of = |pname| query!(driver, glGetBufferParameteriv(TARGET, pname)).map_or(0, |v| v[0]);
        if of(GL_BUFFER_MAPPED) != 0 {
            return Err(why_not_now("a buffer is mapped"));
        }
        let size = query!(driver, glGetBufferParameteri64v(TARGET, GL_BUFFER_SIZE))
            .map_or(0, |v: [i64; 64]| v[0]);
        let length = usize::try_from(size)
            .ok()
            .filter(|size| *size < LONG_MAX - 64)
            .ok_or_else(|| refusal("a buffer is too large to be sent"))?;
        let mut data = vec![0u8; length];
        call!(
            driver,
            glGetBufferSubData(TARGET, 0, size, data.as_mut_ptr().cast())
        );
        say!(script, gl_bind_buffer(TARGET, name));
        if of(GL_BUFFER_IMMUTABLE_STORAGE) != 0 {
            let flags = of(GL_BUFFER_STORAGE_FLAGS) as u32;
            say!(script, gl_buffer_storage(TARGET, size, bytes(&data), flags));
        } else if size > 0 {
            let usage = of(GL_BUFFER_USAGE) as u32;
            say!(script, gl_buffer_data(TARGET, size, bytes(&data), usage));
        }
    }
    call!(driver, glBindBuffer(TARGET, 0));
    say!(script, gl_bind_buffer(TARGET, 0));
    Ok(())
}
