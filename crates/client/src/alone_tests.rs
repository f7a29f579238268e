//! Runs entry points on a context without a server, with all their accesses to their own memory and
//! the program's. The tests run under Miri too, which finds a second reference to the context while
//! one is in use: `make miri`.

use crate::context::{Context, Request};
use crate::current::{has_current, with_current};
use crate::entry_points::lookup;
use crate::generated::entries::*;
use crate::gl::handwritten::*;
use crate::native_image::define;
use crate::shadow::GlState;
use crate::{blank, tls};
use mgn_wire::gl::*;
use mgn_wire::hello::api;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// Runs `work` in a thread with this context, and returns the last error.
fn alone(api: u32, work: impl FnOnce()) -> u32 {
    let request = Request {
        api,
        major: 4,
        minor: 5,
        flags: 0,
        format: None,
        config_id: 0,
        screen: 0,
        visual: 0,
        shared_with: 0,
    };
    let info = blank::context_info(api, 4, 5);
    let gl = GlState::new(&info, api, Arc::default(), false);
    let context = Box::into_raw(Context::new(None, 1, request, gl));
    tls::set_current(context);
    work();
    let error = unsafe { glGetError() };
    tls::set_current(null_mut());
    unsafe { Box::from_raw(context) }.destroy();
    error
}

fn in_begin() -> bool {
    with_current(|cx| cx.gl.in_begin()).unwrap()
}

fn data<T>(values: &[T]) -> *const c_void {
    values.as_ptr().cast()
}

#[test]
fn what_the_window_system_works_on_ends_open_primitives() {
    let error = alone(api::COMPAT, || unsafe {
        glBegin(GL_TRIANGLES);
        glVertex2f(0.0, 0.0);
        assert!(in_begin());
        with_current(|cx| cx.finish());
        assert!(!in_begin());
        glBegin(GL_LINES);
        with_current(|cx| cx.leave());
        assert!(!in_begin());
    });
    assert_eq!(error, GL_NO_ERROR);
}

/// Checks the assertion that the test above relies on outside of Miri.
#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "a second reference")]
fn a_second_reference_is_found() {
    alone(api::COMPAT, || {
        with_current(|_| with_current(|_| ()));
    });
}

#[test]
fn a_thread_without_a_context_has_none() {
    assert!(!has_current());
    assert_eq!(with_current(|_| ()), None);
}

#[test]
fn values_whose_number_is_asked_for_first() {
    let error = alone(api::COMPAT, || unsafe {
        for name in [
            GL_COMPRESSED_TEXTURE_FORMATS,
            GL_SHADER_BINARY_FORMATS,
            GL_PROGRAM_BINARY_FORMATS,
        ] {
            let mut none = [7; 4];
            glGetIntegerv(name, none.as_mut_ptr());
            assert_eq!(none, [7; 4]);
            let mut none = [7.0; 4];
            glGetDoublev(name, none.as_mut_ptr());
            assert_eq!(none, [7.0; 4]);
        }
    });
    assert_eq!(error, GL_NO_ERROR);
}

#[test]
fn images_of_the_window_system_leave_the_unpack_state_alone() {
    for api in [api::COMPAT, api::ES] {
        let error = alone(api, || unsafe {
            glPixelStorei(GL_UNPACK_ROW_LENGTH, 17);
            define(GL_TEXTURE_2D, true, (2, 2), &[9; 16]);
            let mut length = 0;
            glGetIntegerv(GL_UNPACK_ROW_LENGTH, &mut length);
            assert_eq!(length, 17);
        });
        assert_eq!(error, GL_NO_ERROR);
    }
}

#[test]
fn runs_longer_than_a_message() {
    let error = alone(api::COMPAT, || unsafe {
        for mode in [GL_TRIANGLES, GL_LINE_LOOP, GL_TRIANGLE_STRIP, GL_POLYGON] {
            glBegin(mode);
            for i in 0..if cfg!(miri) { 6000 } else { 100_000 } {
                if i % 1000 == 0 {
                    glColor4ub(i as u8, 0, 0, 255);
                }
                glVertex3f(i as f32, 0.0, 1.0);
            }
            glEnd();
            // In the middle of a primitive, a new attribute is set, and then something that no run
            // can hold.
            glBegin(mode);
            glVertex2f(0.0, 1.0);
            glTexCoord2f(0.0, 1.0);
            glVertex2f(0.0, 1.0);
            glMaterialfv(GL_FRONT, GL_DIFFUSE, [1.0f32; 4].as_ptr());
            glVertex2f(0.0, 1.0);
            glEnd();
        }
        glBegin(GL_POINTS);
        glClear(GL_COLOR_BUFFER_BIT);
        assert!(in_begin());
        glEnd();
    });
    // Commands that the client refuses are sent to the server, which would raise the error.
    assert_eq!(error, GL_NO_ERROR);
}

#[test]
fn draws_of_arrays_in_the_programs_memory() {
    let error = alone(api::COMPAT, || unsafe {
        let places = [0.0f32; 64];
        let indices: [u16; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
        glEnableClientState(GL_VERTEX_ARRAY);
        glVertexPointer(2, GL_FLOAT, 0, data(&places));
        glDrawArrays(GL_TRIANGLES, 0, 9);
        glDrawElements(GL_QUADS, 8, GL_UNSIGNED_SHORT, data(&indices));
        glDrawRangeElements(GL_QUADS, 0, 7, 8, GL_UNSIGNED_SHORT, data(&indices));
        glMultiDrawArrays(GL_LINES, [0, 2].as_ptr(), [2, 4].as_ptr(), 2);
        let both = [data(&indices), data(&indices)];
        glMultiDrawElements(
            GL_LINES,
            [2, 4].as_ptr(),
            GL_UNSIGNED_SHORT,
            both.as_ptr(),
            2,
        );
        let modes = [GL_LINES, GL_POINTS];
        glMultiModeDrawArraysIBM(modes.as_ptr(), [0, 2].as_ptr(), [2, 4].as_ptr(), 2, 4);
        glDrawArraysIndirect(GL_POINTS, data(&[3u32, 1, 0, 0]));
        glInterleavedArrays(GL_C4UB_V2F, 0, data(&places));
        glDrawArrays(GL_TRIANGLES, 0, 3);
        glBegin(GL_POINTS);
        glArrayElement(2);
        glEnd();
        glPushClientAttribDefaultEXT(!0);
        glPopClientAttrib();
        // Half of the arrays lie in a buffer.
        let mut buffer = 0;
        glGenBuffers(1, &mut buffer);
        glBindBuffer(GL_ARRAY_BUFFER, buffer);
        glBufferData(GL_ARRAY_BUFFER, 256, data(&places), GL_STATIC_DRAW);
        glColorPointer(4, GL_FLOAT, 0, null());
        glDrawArrays(GL_TRIANGLES, 0, 3);
        let mapped = glMapBuffer(GL_ARRAY_BUFFER, GL_READ_WRITE);
        mapped.cast::<u32>().write(7);
        assert_eq!(glUnmapBuffer(GL_ARRAY_BUFFER), GL_TRUE as u8);
        glDeleteBuffers(1, &buffer);
    });
    assert_eq!(error, GL_NO_ERROR);
}

#[test]
fn objects_by_name() {
    let error = alone(api::COMPAT, || unsafe {
        let (mut array, mut buffers, mut texture) = (0, [0; 2], 0);
        glCreateVertexArrays(1, &mut array);
        glCreateBuffers(2, buffers.as_mut_ptr());
        glGenTextures(1, &mut texture);
        let [from, to] = buffers;
        glNamedBufferData(from, 64, null(), GL_STATIC_DRAW);
        glNamedBufferData(to, 64, null(), GL_STATIC_DRAW);
        glNamedBufferSubData(from, 0, 8, data(&[1u32, 2]));
        glCopyNamedBufferSubData(from, to, 0, 0, 64);
        glClearNamedBufferData(from, GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, null());
        glVertexArrayVertexBuffer(array, 0, from, 0, 16);
        glVertexArrayElementBuffer(array, to);
        glEnableVertexArrayAttrib(array, 0);
        glVertexArrayAttribFormat(array, 0, 4, GL_FLOAT, 0, 0);
        glVertexArrayAttribBinding(array, 0, 0);
        let mut bound = 0;
        glGetVertexArrayiv(array, GL_ELEMENT_ARRAY_BUFFER_BINDING, &mut bound);
        assert_eq!(bound as u32, to);
        glVertexArrayVertexOffsetEXT(array, from, 3, GL_FLOAT, 0, 0);
        let mut pixels = [0u8; 64];
        glBindTexture(GL_TEXTURE_2D, texture);
        let (rgba, bytes) = (GL_RGBA, GL_UNSIGNED_BYTE);
        glTexImage2D(
            GL_TEXTURE_2D,
            0,
            rgba as i32,
            4,
            4,
            0,
            rgba,
            bytes,
            data(&pixels),
        );
        glGetTexImage(GL_TEXTURE_2D, 0, rgba, bytes, pixels.as_mut_ptr().cast());
        glReadPixels(0, 0, 2, 2, rgba, bytes, pixels.as_mut_ptr().cast());
        glBitmap(8, 4, 0.0, 0.0, 0.0, 0.0, pixels.as_ptr());
        glDeleteTextures(1, &texture);
        glDeleteBuffers(2, buffers.as_ptr());
        glDeleteVertexArrays(1, &array);
    });
    assert_eq!(error, GL_NO_ERROR);
}

#[test]
fn lists_attributes_and_shaders() {
    let error = alone(api::COMPAT, || unsafe {
        let list = glGenLists(2);
        glNewList(list, GL_COMPILE_AND_EXECUTE);
        glBegin(GL_QUADS);
        glNormal3f(0.0, 0.0, 1.0);
        (0..4).for_each(|_| glVertex2i(0, 1));
        glEnd();
        glRotatef(30.0, 0.0, 0.0, 1.0);
        glEndList();
        glCallList(list);
        glCallLists(2, GL_UNSIGNED_BYTE, data(&[list as u8, list as u8]));
        glPushAttrib(GL_ALL_ATTRIB_BITS);
        glEnable(GL_BLEND);
        glLightfv(GL_LIGHT0, GL_POSITION, [1.0f32; 4].as_ptr());
        glPopAttrib();
        let shader = glCreateShader(GL_VERTEX_SHADER);
        let text = c"void main() { gl_Position = vec4(0); }"
            .as_ptr()
            .cast::<u8>();
        glShaderSource(shader, 1, &text, null());
        glCompileShader(shader);
        let program = glCreateProgram();
        glAttachShader(program, shader);
        glLinkProgram(program);
        glUseProgram(program);
        glUseProgram(0);
        glDeleteObjectARB(shader);
        glDeleteObjectARB(program);
        let mut query = 0;
        glGenQueries(1, &mut query);
        glBeginQuery(GL_SAMPLES_PASSED, query);
        glEndQuery(GL_SAMPLES_PASSED);
        let mut samples = 0;
        glGetQueryObjectuiv(query, GL_QUERY_RESULT, &mut samples);
        glFlush();
        glFinish();
    });
    assert_eq!(error, GL_NO_ERROR);
}

/// Calls commands that take only numbers, found in the table in which programs look them up.
#[test]
fn commands_that_are_looked_up() {
    type Plain = unsafe extern "C" fn(u32);
    alone(api::COMPAT, || unsafe {
        for name in ["glMatrixMode", "glDepthFunc", "glShadeModel", "glCullFace"] {
            let command = lookup(name.as_bytes()).unwrap();
            let command: Plain = std::mem::transmute(command);
            command(0xffff);
        }
    });
}
