//! Answers for the program without a server: commands are discarded or recorded, or the server is
//! lost.

use crate::config::egl::{ES2_BIT, ES3_BIT, ES_BIT, GL_BIT};
use mgn_wire::gl;
use mgn_wire::hello::{Color, Config, ContextInfo, ServerInfo};

pub fn server_info() -> ServerInfo {
    let mut configs = Vec::new();
    for samples in [0, 4] {
        for alpha in [8, 0] {
            for (depth, stencil) in [(24, 8), (24, 0), (0, 0)] {
                let config = Config::new(Color::Rgb8, alpha, depth, stencil, samples);
                configs.push(Config {
                    has_srgb: true,
                    ..config
                });
            }
        }
    }
    ServerInfo {
        vendor: "Manganese".into(),
        renderer: "nobody".into(),
        compat: (4, 5),
        core: (4, 5),
        es1: (1, 1),
        es: (3, 2),
        is_software: true,
        renderable: (ES_BIT | ES2_BIT | ES3_BIT | GL_BIT) as u32,
        configs,
        ..ServerInfo::default()
    }
}

/// The constants of a context without a renderer: values that OpenGL 4.5 and OpenGL ES 3.2
/// guarantee, or usual values.
pub fn context_info(api: u32, major: u32, minor: u32) -> ContextInfo {
    use mgn_wire::hello::api::{CORE, ES, ES1};
    let (version, glsl) = match api {
        ES1 => ("OpenGL ES-CM 1.1 Manganese".to_owned(), String::new()),
        ES => (
            "OpenGL ES 3.2 Manganese".to_owned(),
            "OpenGL ES GLSL ES 3.20".to_owned(),
        ),
        CORE => ("4.5 (Core Profile) Manganese".to_owned(), "4.50".to_owned()),
        _ => (
            "4.5 (Compatibility Profile) Manganese".to_owned(),
            "4.50".to_owned(),
        ),
    };
    tracing::debug!(api, major, minor, version, "a context without a server");
    let (major, minor) = match api {
        ES1 => (1, 1),
        ES => (3, 2),
        _ => (4, 5),
    };
    let mut integers: Vec<(u32, Vec<i64>)> = INTEGERS.iter().map(|(p, v)| (*p, vec![*v])).collect();
    integers.push((gl::GL_MAX_VIEWPORT_DIMS, vec![16384, 16384]));
    integers.push((gl::GL_MAJOR_VERSION, vec![major]));
    integers.push((gl::GL_MINOR_VERSION, vec![minor]));
    integers.push((gl::GL_NUM_EXTENSIONS, vec![EXTENSIONS.len() as i64]));
    let mut info = ContextInfo {
        version,
        glsl,
        vendor: "Manganese".into(),
        renderer: "nobody".into(),
        extensions: EXTENSIONS.iter().map(|e| (*e).to_owned()).collect(),
        integers,
        floats: vec![
            (gl::GL_ALIASED_LINE_WIDTH_RANGE, vec![1.0, 255.0]),
            (gl::GL_ALIASED_POINT_SIZE_RANGE, vec![1.0, 255.0]),
            (gl::GL_LINE_WIDTH_RANGE, vec![1.0, 255.0]),
            (gl::GL_LINE_WIDTH_GRANULARITY, vec![0.125]),
            (gl::GL_POINT_SIZE_RANGE, vec![1.0, 255.0]),
            (gl::GL_POINT_SIZE_GRANULARITY, vec![0.125]),
        ],
    };
    crate::initial::add_state(&mut info);
    info
}

/// Extensions that programs check before they use the fixed function, arrays, buffers and shaders.
const EXTENSIONS: &[&str] = &[
    "GL_ARB_copy_buffer",
    "GL_ARB_draw_elements_base_vertex",
    "GL_ARB_fragment_shader",
    "GL_ARB_framebuffer_object",
    "GL_ARB_multisample",
    "GL_ARB_multitexture",
    "GL_ARB_shader_objects",
    "GL_ARB_shading_language_100",
    "GL_ARB_texture_non_power_of_two",
    "GL_ARB_uniform_buffer_object",
    "GL_ARB_vertex_array_object",
    "GL_ARB_vertex_buffer_object",
    "GL_ARB_vertex_shader",
    "GL_EXT_bgra",
    "GL_EXT_framebuffer_object",
    "GL_EXT_texture_object",
];

const INTEGERS: &[(u32, i64)] = &[
    (gl::GL_MAX_3D_TEXTURE_SIZE, 2048),
    (gl::GL_MAX_ARRAY_TEXTURE_LAYERS, 2048),
    (gl::GL_MAX_ATTRIB_STACK_DEPTH, 16),
    (gl::GL_MAX_CLIENT_ATTRIB_STACK_DEPTH, 16),
    (gl::GL_MAX_CLIP_DISTANCES, 8),
    (gl::GL_MAX_COLOR_ATTACHMENTS, 8),
    (gl::GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, 96),
    (gl::GL_MAX_COMBINED_UNIFORM_BLOCKS, 72),
    (gl::GL_MAX_CUBE_MAP_TEXTURE_SIZE, 16384),
    (gl::GL_MAX_DRAW_BUFFERS, 8),
    (gl::GL_MAX_ELEMENTS_INDICES, 3000),
    (gl::GL_MAX_ELEMENTS_VERTICES, 3000),
    (gl::GL_MAX_EVAL_ORDER, 30),
    (gl::GL_MAX_FRAGMENT_UNIFORM_COMPONENTS, 4096),
    (gl::GL_MAX_FRAGMENT_UNIFORM_VECTORS, 1024),
    (gl::GL_MAX_LIGHTS, 8),
    (gl::GL_MAX_LIST_NESTING, 64),
    (gl::GL_MAX_MODELVIEW_STACK_DEPTH, 32),
    (gl::GL_MAX_NAME_STACK_DEPTH, 64),
    (gl::GL_MAX_PIXEL_MAP_TABLE, 256),
    (gl::GL_MAX_PROJECTION_STACK_DEPTH, 32),
    (gl::GL_MAX_RECTANGLE_TEXTURE_SIZE, 16384),
    (gl::GL_MAX_RENDERBUFFER_SIZE, 16384),
    (gl::GL_MAX_SAMPLES, 4),
    (gl::GL_MAX_TEXTURE_COORDS, 8),
    (gl::GL_MAX_TEXTURE_IMAGE_UNITS, 16),
    (gl::GL_MAX_TEXTURE_SIZE, 16384),
    (gl::GL_MAX_TEXTURE_STACK_DEPTH, 10),
    (gl::GL_MAX_TEXTURE_UNITS, 8),
    (gl::GL_MAX_UNIFORM_BLOCK_SIZE, 65536),
    (gl::GL_MAX_UNIFORM_BUFFER_BINDINGS, 72),
    (gl::GL_MAX_VARYING_COMPONENTS, 64),
    (gl::GL_MAX_VARYING_VECTORS, 16),
    (gl::GL_MAX_VERTEX_ATTRIBS, 16),
    (gl::GL_MAX_VERTEX_TEXTURE_IMAGE_UNITS, 16),
    (gl::GL_MAX_VERTEX_UNIFORM_COMPONENTS, 4096),
    (gl::GL_MAX_VERTEX_UNIFORM_VECTORS, 1024),
    (gl::GL_NUM_COMPRESSED_TEXTURE_FORMATS, 0),
    (gl::GL_NUM_PROGRAM_BINARY_FORMATS, 0),
    (gl::GL_NUM_SHADER_BINARY_FORMATS, 0),
    (gl::GL_SUBPIXEL_BITS, 8),
    (gl::GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT, 16),
];
