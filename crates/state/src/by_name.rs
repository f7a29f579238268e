//! Commands that change an object by its name or a stack by its mode, without binding or
//! selecting it: their changes are left to the driver. Also other commands' second names.

use mgn_wire::gl::*;

use crate::slots::at;
use crate::textures::Texture;
use crate::{GlError, State};

/// Hooks that do no more than forget. Lists hold these commands.
macro_rules! forgetting {
    ($forget:ident: $($hook:ident($first:ident $(, $arg:ident: $type:ty)*);)*) => {
        impl State {
            $(
                #[allow(clippy::too_many_arguments)]
                pub fn $hook(&mut self, $first: u32 $(, $arg: $type)*) -> Result<(), GlError> {
                    $(let _ = $arg;)*
                    if self.compiling.is_some() {
                        self.record(move |state| state.$forget($first));
                    }
                    self.$forget($first);
                    self.unsure()
                }
            )*
        }
    };
}

forgetting! {
    forget_matrix_of:
    gl_matrix_load_identity_ext(mode);
    gl_matrix_loadf_ext(mode, _m: &[f32]);
    gl_matrix_loadd_ext(mode, _m: &[f64]);
    gl_matrix_load_transposef_ext(mode, _m: &[f32]);
    gl_matrix_load_transposed_ext(mode, _m: &[f64]);
    gl_matrix_multf_ext(mode, _m: &[f32]);
    gl_matrix_multd_ext(mode, _m: &[f64]);
    gl_matrix_mult_transposef_ext(mode, _m: &[f32]);
    gl_matrix_mult_transposed_ext(mode, _m: &[f64]);
    gl_matrix_rotatef_ext(mode, _angle: f32, _x: f32, _y: f32, _z: f32);
    gl_matrix_rotated_ext(mode, _angle: f64, _x: f64, _y: f64, _z: f64);
    gl_matrix_scalef_ext(mode, _x: f32, _y: f32, _z: f32);
    gl_matrix_scaled_ext(mode, _x: f64, _y: f64, _z: f64);
    gl_matrix_translatef_ext(mode, _x: f32, _y: f32, _z: f32);
    gl_matrix_translated_ext(mode, _x: f64, _y: f64, _z: f64);
    gl_matrix_frustum_ext(mode, _l: f64, _r: f64, _b: f64, _t: f64, _n: f64, _f: f64);
    gl_matrix_ortho_ext(mode, _l: f64, _r: f64, _b: f64, _t: f64, _n: f64, _f: f64);
    gl_matrix_push_ext(mode);
    gl_matrix_pop_ext(mode);
}

forgetting! {
    texture_changed:
    gl_texture_parameterf(texture, _pname: u32, _param: f32);
    gl_texture_parameteri(texture, _pname: u32, _param: i32);
    gl_texture_parameterfv(texture, _pname: u32, _params: &[f32]);
    gl_texture_parameteriv(texture, _pname: u32, _params: &[i32]);
    gl_texture_parameter_iiv(texture, _pname: u32, _params: &[i32]);
    gl_texture_parameter_iuiv(texture, _pname: u32, _params: &[u32]);
    gl_texture_parameterf_ext(texture, _target: u32, _pname: u32, _param: f32);
    gl_texture_parameteri_ext(texture, _target: u32, _pname: u32, _param: i32);
    gl_texture_parameterfv_ext(texture, _target: u32, _pname: u32, _params: &[f32]);
    gl_texture_parameteriv_ext(texture, _target: u32, _pname: u32, _params: &[i32]);
    gl_texture_parameter_iiv_ext(texture, _target: u32, _pname: u32, _params: &[i32]);
    gl_texture_parameter_iuiv_ext(texture, _target: u32, _pname: u32, _params: &[u32]);
    gl_egl_image_target_texture_storage_ext(texture);
    gl_texture_storage1d(texture, _levels: i32, _format: u32, _width: i32);
    gl_texture_storage2d(texture, _levels: i32, _format: u32, _width: i32, _height: i32);
    gl_texture_storage3d(
        texture, _levels: i32, _format: u32, _width: i32, _height: i32, _depth: i32);
    gl_texture_storage1dext(
        texture, _target: u32, _levels: i32, _format: u32, _width: i32);
    gl_texture_storage2dext(
        texture, _target: u32, _levels: i32, _format: u32, _width: i32, _height: i32);
    gl_texture_storage3dext(
        texture, _target: u32, _levels: i32, _format: u32, _width: i32, _height: i32,
        _depth: i32);
}

forgetting! {
    forget_unit:
    gl_multi_tex_envf_ext(texunit, _target: u32, _pname: u32, _param: f32);
    gl_multi_tex_envi_ext(texunit, _target: u32, _pname: u32, _param: i32);
    gl_multi_tex_envfv_ext(texunit, _target: u32, _pname: u32, _params: &[f32]);
    gl_multi_tex_enviv_ext(texunit, _target: u32, _pname: u32, _params: &[i32]);
    gl_multi_tex_genf_ext(texunit, _coord: u32, _pname: u32, _param: f32);
    gl_multi_tex_geni_ext(texunit, _coord: u32, _pname: u32, _param: i32);
    gl_multi_tex_gend_ext(texunit, _coord: u32, _pname: u32, _param: f64);
    gl_multi_tex_genfv_ext(texunit, _coord: u32, _pname: u32, _params: &[f32]);
    gl_multi_tex_geniv_ext(texunit, _coord: u32, _pname: u32, _params: &[i32]);
    gl_multi_tex_gendv_ext(texunit, _coord: u32, _pname: u32, _params: &[f64]);
}

/// Parameters of whichever texture is bound to a unit: any of the target.
macro_rules! of_units {
    ($($hook:ident: $type:ty;)*) => {
        impl State {
            $(
                pub fn $hook(&mut self, _unit: u32, target: u32, pname: u32, _v: $type) -> Result<(), GlError> {
                    if pname == GL_GENERATE_MIPMAP {
                        self.shared.texture_is_special();
                    }
                    if self.compiling.is_some() {
                        self.record(move |state| state.shared.forget_target(target));
                    }
                    self.shared.forget_target(target);
                    self.unsure()
                }
            )*
        }
    };
}

of_units! {
    gl_multi_tex_parameterf_ext: f32;
    gl_multi_tex_parameteri_ext: i32;
    gl_multi_tex_parameterfv_ext: &[f32];
    gl_multi_tex_parameteriv_ext: &[i32];
    gl_multi_tex_parameter_iiv_ext: &[i32];
    gl_multi_tex_parameter_iuiv_ext: &[u32];
}

impl State {
    /// It may have got storage, or automatic mipmaps.
    fn texture_changed(&mut self, texture: u32) {
        self.shared.texture_is_special();
        self.forget_texture(texture);
    }

    fn forget_matrix_of(&mut self, _mode: u32) {
        self.matrices.forget();
        self.matrices.lost = true;
    }

    pub fn gl_prioritize_textures(&mut self, _n: i32, textures: &[u32], _priorities: &[f32]) {
        if self.compiling.is_some() {
            let owned = textures.to_vec();
            self.record(move |s| owned.iter().for_each(|&name| s.forget_texture(name)));
        }
        textures.iter().for_each(|&name| self.forget_texture(name));
        self.doubt = true;
    }

    #[allow(clippy::too_many_arguments)]
    pub fn gl_texture_view(
        &mut self,
        texture: u32,
        target: u32,
        _original: u32,
        _format: u32,
        _min_level: u32,
        _levels: u32,
        _min_layer: u32,
        _layers: u32,
    ) -> Result<(), GlError> {
        let mut view = Texture::new(target);
        view.revived = true;
        view.forget();
        self.shared.lock().textures.insert(texture, view);
        self.unsure()
    }

    pub fn gl_framebuffer_draw_buffer_ext(&mut self, framebuffer: u32, _buffer: u32) {
        self.forget_framebuffer(framebuffer);
    }

    pub fn gl_framebuffer_draw_buffers_ext(&mut self, framebuffer: u32, _n: i32, _b: &[u32]) {
        self.forget_framebuffer(framebuffer);
    }

    pub fn gl_named_framebuffer_draw_buffer(&mut self, framebuffer: u32, _buffer: u32) {
        self.forget_framebuffer(framebuffer);
    }

    pub fn gl_named_framebuffer_draw_buffers(&mut self, framebuffer: u32, _n: i32, _b: &[u32]) {
        self.forget_framebuffer(framebuffer);
    }

    pub fn gl_named_framebuffer_read_buffer(&mut self, framebuffer: u32, _buffer: u32) {
        self.forget_framebuffer(framebuffer);
    }

    pub fn gl_framebuffer_read_buffer_ext(&mut self, framebuffer: u32, _buffer: u32) {
        self.forget_framebuffer(framebuffer);
    }

    fn forget_framebuffer(&mut self, name: u32) {
        if let Some(framebuffer) = self.framebuffers.get_mut(&name) {
            framebuffer.forget();
        }
        self.doubt = true;
    }

    pub fn gl_use_shader_program_ext(&mut self, _stage: u32, _program: u32) -> Result<(), GlError> {
        self.unsure_of(at!(GL_CURRENT_PROGRAM))
    }

    pub fn gl_bind_program_pipeline_ext(&mut self, _pipeline: u32) -> Result<(), GlError> {
        self.unsure_of(at!(GL_PROGRAM_PIPELINE_BINDING))
    }

    pub fn gl_delete_textures_ext(&mut self, _n: i32, names: &[u32]) {
        self.gl_delete_textures(names);
    }

    pub fn gl_delete_framebuffers_oes(&mut self, _n: i32, names: &[u32]) {
        self.gl_delete_framebuffers(names);
    }

    pub fn gl_delete_renderbuffers_oes(&mut self, _n: i32, names: &[u32]) {
        self.gl_delete_renderbuffers(names);
    }

    pub fn gl_depth_range_arraydv_nv(
        &mut self,
        first: u32,
        count: i32,
        v: &[f64],
    ) -> Result<(), GlError> {
        self.gl_depth_range_arrayv(first, count, v)
    }

    pub fn gl_depth_range_indexedd_nv(
        &mut self,
        index: u32,
        near: f64,
        far: f64,
    ) -> Result<(), GlError> {
        self.gl_depth_range_indexed(index, near, far)
    }

    pub fn gl_frustumf_oes(
        &mut self,
        left: f32,
        right: f32,
        bottom: f32,
        top: f32,
        near: f32,
        far: f32,
    ) -> Result<(), GlError> {
        self.gl_frustumf(left, right, bottom, top, near, far)
    }

    pub fn gl_orthof_oes(
        &mut self,
        left: f32,
        right: f32,
        bottom: f32,
        top: f32,
        near: f32,
        far: f32,
    ) -> Result<(), GlError> {
        self.gl_orthof(left, right, bottom, top, near, far)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Answer;
    use mgn_wire::hello::{api, ContextInfo};

    #[test]
    fn what_is_changed_by_name_is_asked_for() {
        let info = ContextInfo {
            integers: vec![
                (GL_TEXTURE_BINDING_2D, vec![0]),
                (GL_MAX_TEXTURE_UNITS, vec![8]),
                (GL_MATRIX_MODE, vec![GL_MODELVIEW.into()]),
                (GL_MODELVIEW_MATRIX, vec![0; 16]),
                (GL_ACTIVE_TEXTURE, vec![GL_TEXTURE0.into()]),
            ],
            ..ContextInfo::default()
        };
        let mut state = State::new(&info, api::COMPAT);
        state.gl_bind_texture(GL_TEXTURE_2D, 5).unwrap();
        let filter = (GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER);
        assert!(state.tex_parameter(filter.0, filter.1).is_some());
        state
            .gl_texture_parameteri(5, GL_TEXTURE_MAG_FILTER, 0)
            .unwrap();
        assert!(state.tex_parameter(filter.0, filter.1).is_none());
        // It may have got storage too, to which the driver limits its levels.
        let level = (GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL);
        state.gl_tex_parameteri(level.0, level.1, 4).unwrap();
        assert!(state.tex_parameter(level.0, level.1).is_none());
        assert!(matches!(state.get(GL_MODELVIEW_MATRIX), Answer::Values(_)));
        state.gl_matrix_load_identity_ext(GL_PROJECTION).unwrap();
        assert!(matches!(state.get(GL_MODELVIEW_MATRIX), Answer::Unknown));
        assert!(state.take_doubt() && !state.take_doubt());
    }
}
