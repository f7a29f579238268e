//! The kinds of objects whose names programs generate.

/// Objects whose names programs have generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Buffer,
    Texture,
    Renderbuffer,
    Sampler,
    Framebuffer,
    VertexArray,
    Query,
    Pipeline,
    TransformFeedback,
    /// Programs in assembly language.
    Assembly,
    /// ATI_fragment_shader
    FragmentShader,
}

impl Class {
    /// Whether the contexts of a share group share these objects.
    pub fn is_shared(self) -> bool {
        matches!(
            self,
            Class::Buffer
                | Class::Texture
                | Class::Renderbuffer
                | Class::Sampler
                | Class::Assembly
                | Class::FragmentShader
        )
    }
}

impl Class {
    /// Whether OpenGL ES 1 has these objects. (Mesa lists vertex array objects there, and has
    /// none.)
    pub fn is_in_es1(self) -> bool {
        matches!(
            self,
            Class::Buffer | Class::Texture | Class::Renderbuffer | Class::Framebuffer
        )
    }
}
