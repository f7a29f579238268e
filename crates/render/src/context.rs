//! A context of the renderer: the driver's context, and the state that must be kept beside it.

use crate::counts::{Counts, Results};
use crate::debug::Debug;
use crate::egl;
use crate::handwritten::arrays::OwnArrays;
use crate::handwritten::buffer_parts::Parts;
use crate::handwritten::elements::Elements;
use crate::handwritten::pixel_store::PixelStore;
use crate::handwritten::render_modes::Words;
use crate::handwritten::split_lists::Compiling;
use crate::handwritten::vertex_arrays::VertexArrays;
use crate::info::Request;
use crate::names::{Own, Shared};
use crate::seats::Stamp;
use crate::surface::SharedSurface;
use crate::tile::Kept;
use mgn_wire::hello::api;
use std::ffi::c_void;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    Compat,
    Core,
    Es1,
    Es,
}

impl Api {
    pub fn from_wire(api: u32) -> Option<Api> {
        Some(match api {
            api::COMPAT => Api::Compat,
            api::CORE => Api::Core,
            api::ES1 => Api::Es1,
            api::ES => Api::Es,
            _ => return None,
        })
    }

    pub fn to_wire(self) -> u32 {
        match self {
            Api::Compat => api::COMPAT,
            Api::Core => api::CORE,
            Api::Es1 => api::ES1,
            Api::Es => api::ES,
        }
    }

    pub fn is_desktop(self) -> bool {
        matches!(self, Api::Compat | Api::Core)
    }

    /// Whether vertex arrays may lie in client memory, and vertex array object 0 can be drawn from.
    pub fn has_client_arrays(self) -> bool {
        self != Api::Core
    }
}

pub(crate) struct Context {
    pub id: u32,
    pub egl: egl::Context,
    pub api: Api,
    /// The requested properties and configuration.
    pub request: Request,
    pub config: u32,
    /// The share group, named after its first context.
    pub group: u32,
    /// The context's own names while it is not current.
    pub own: Box<Own>,
    pub draw: Option<SharedSurface>,
    pub read: Option<SharedSurface>,
    /// The program's read surface, while a command reads a lent surface in its place.
    pub lender: Option<SharedSurface>,
    /// The ticket of the last glSemaphorePCR; 0 if the command raised an error.
    pub ticket: u64,
    /// The first error, of the client or the driver, that was not yet reported; 0 for none.
    pub error: u32,
    /// Whether the context has ever had a default framebuffer to draw to.
    pub was_current: bool,
    /// Whether the context was made for single-buffered surfaces; `None` if it was made for any.
    pub is_single: Option<bool>,
    /// `GL_DRAW_BUFFER` and `GL_READ_BUFFER` of the default framebuffer, as the program set them.
    pub draw_buffer: u32,
    pub read_buffer: u32,
    /// Whether a display list is being compiled without being executed.
    pub only_compiles: bool,
    pub compiling: Option<Compiling>,
    /// The list under compilation, if it must be executed after its end (GL_COMPILE_AND_EXECUTE).
    pub called_when_ended: Option<u32>,
    /// Set when a primitive is begun, and when a display list is called, because the list may begin
    /// one. Reset when a primitive is ended, or the driver says that there is none.
    pub may_be_inside: bool,
    /// Whether GL_RENDER_MODE is GL_RENDER.
    pub renders: bool,
    /// Framebuffer objects that the program has bound, by the client's names.
    pub draw_framebuffer: u32,
    pub read_framebuffer: u32,
    /// The driver's framebuffer object that takes the place of the default framebuffer while
    /// another context is current; see `Renderer::with_default_framebuffer_aside`.
    pub empty_framebuffer: Option<u32>,
    /// Whether that framebuffer object is bound now.
    pub is_aside: bool,
    /// The last surface that the context has drawn to.
    pub draws: Option<Stamp>,
    /// The surface for which the driver knows which buffer the context reads.
    pub reads: Option<Stamp>,
    /// Whether glBitmap was called, with the default framebuffer bound, since commands were last
    /// flushed. The driver keeps small bitmaps and draws them later.
    pub may_keep_bitmaps: bool,
    /// The vertex array object that the program has bound, by the client's name.
    pub vertex_array: u32,
    /// The driver's object that stands for the program's object 0. The driver's own 0 is for draws
    /// whose vertices come from the stream.
    pub default_vertex_array: u32,
    /// The driver's name of the buffer bound to `GL_ARRAY_BUFFER`, once the driver was asked.
    pub array_buffer: Option<u32>,
    /// The array elements that glArrayElement may read until the primitive ends.
    pub elements: Elements,
    /// State of the driver's vertex array object 0.
    pub arrays: OwnArrays,
    pub has_fences: bool,
    /// Whether draw and read framebuffers are bound separately.
    pub has_draw_framebuffers: bool,
    pub has_pixel_buffers: bool,
    /// Whether vertex arrays have binding points.
    pub has_vertex_bindings: bool,
    /// Whether the context has glReadnPixels.
    pub has_bounded_reads: bool,
    /// Whether the context has `GL_RASTERIZER_DISCARD`.
    pub has_discard: bool,
    /// Whether the context has glDrawRangeElements.
    pub has_draw_range: bool,
    /// Whether the program chooses the read buffer.
    pub has_read_buffer: bool,
    /// Whether the context has primitive restart, at an index that the program chooses or at the
    /// greatest.
    pub has_restart: bool,
    pub has_fixed_restart: bool,
    /// Whether there are several viewports and scissor boxes.
    pub has_viewports: bool,
    /// Whether there are program pipelines.
    pub has_pipelines: bool,
    pub vertex_arrays: VertexArrays,
    /// Parts of buffers that are bound for shaders.
    pub parts: Parts,
    pub pixel_store: PixelStore,
    /// The driver keeps this object's address until the context ends.
    pub debug: Arc<Debug>,
    pub has_debug: bool,
    pub selection: Words,
    pub feedback: Words,
    /// The program's scissor boxes, while the driver has other boxes.
    pub boxes: Option<Kept>,
    pub counts: Counts,
    pub results: Results,
    /// Signals when the last frame that was not read back has been rendered.
    pub frame_fence: Option<*mut c_void>,
}

impl Context {
    /// Whether the context draws to a surface with a back buffer.
    pub fn is_double(&self) -> bool {
        self.draw.as_ref().is_some_and(|s| !s.borrow().single)
    }

    pub fn new(id: u32, egl: egl::Context, request: Request, config: u32, group: u32) -> Context {
        Context {
            id,
            egl,
            api: request.api,
            request,
            config,
            group,
            own: Box::default(),
            draw: None,
            read: None,
            lender: None,
            ticket: 0,
            error: 0,
            was_current: false,
            is_single: None,
            draw_buffer: mgn_wire::gl::GL_BACK,
            read_buffer: mgn_wire::gl::GL_BACK,
            only_compiles: false,
            compiling: None,
            called_when_ended: None,
            may_be_inside: false,
            renders: true,
            draw_framebuffer: 0,
            read_framebuffer: 0,
            empty_framebuffer: None,
            is_aside: false,
            draws: None,
            reads: None,
            may_keep_bitmaps: false,
            vertex_array: 0,
            default_vertex_array: 0,
            array_buffer: None,
            elements: Elements::default(),
            arrays: OwnArrays::default(),
            has_fences: false,
            has_draw_framebuffers: false,
            has_pixel_buffers: false,
            has_vertex_bindings: false,
            has_bounded_reads: false,
            has_discard: false,
            has_draw_range: false,
            has_read_buffer: false,
            has_restart: false,
            has_fixed_restart: false,
            has_viewports: false,
            has_pipelines: false,
            vertex_arrays: VertexArrays::default(),
            parts: Parts::default(),
            pixel_store: PixelStore::default(),
            debug: Arc::default(),
            has_debug: false,
            selection: Words::default(),
            feedback: Words::default(),
            boxes: None,
            counts: Counts::default(),
            results: Results::default(),
            frame_fence: None,
        }
    }
}

impl Context {
    /// Notes what the driver's context supports.
    pub fn note(&mut self, version: (u8, u8), extensions: &[String]) {
        let has = |name: &str| extensions.iter().any(|e| e == name);
        let desktop = self.api.is_desktop();
        let es3 = self.api == Api::Es && version >= (3, 0);
        self.has_fences = es3 || desktop && (version >= (3, 2) || has("GL_ARB_sync"));
        self.has_draw_framebuffers =
            es3 || desktop && (version >= (3, 0) || has("GL_ARB_framebuffer_object"));
        self.has_pixel_buffers = es3 || desktop;
        self.has_vertex_bindings =
            desktop && (version >= (4, 3) || has("GL_ARB_vertex_attrib_binding"));
        self.has_bounded_reads = desktop && version >= (4, 5);
        let debug_since = if desktop { (4, 3) } else { (3, 2) };
        self.has_debug = version >= debug_since || has("GL_KHR_debug");
        self.has_discard =
            es3 || desktop && (version >= (3, 0) || has("GL_EXT_transform_feedback"));
        self.has_draw_range = es3 || desktop;
        self.has_read_buffer = es3 || desktop;
        self.has_viewports = desktop && (version >= (4, 1) || has("GL_ARB_viewport_array"))
            || has("GL_OES_viewport_array");
        self.has_pipelines = desktop
            && (version >= (4, 1) || has("GL_ARB_separate_shader_objects"))
            || self.api == Api::Es && version >= (3, 1);
        self.results = Results {
            are_wide: desktop && (version >= (3, 3) || has("GL_ARB_timer_query")),
            go_to_buffers: desktop && (version >= (4, 4) || has("GL_ARB_query_buffer_object")),
        };
        self.has_restart = desktop && version >= (3, 1);
        self.has_fixed_restart =
            es3 || desktop && (version >= (4, 3) || has("GL_ARB_ES3_compatibility"));
    }
}

/// Contexts that share objects.
#[derive(Default)]
pub(crate) struct Group {
    /// The names in common while no context of the group is current.
    pub shared: Box<Shared>,
    pub contexts: usize,
}
