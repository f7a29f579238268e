//! The framebuffer configurations that programs may choose from. No two are the same, and each has
//! exactly the properties that it lists.

use crate::egl::{attr, Config, Egl, EglError, SRGB_EXTENSION};
use mgn_wire::hello::{self, Color};

/// A configuration and the EGL config behind it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    pub egl: Config,
    pub described: hello::Config,
    /// Whether GL_FRAMEBUFFER_SRGB has an effect. Never set in the list of configurations.
    pub srgb: bool,
}

/// Every combination of colours, depth, stencil and samples that EGL has for pbuffers, in EGL's
/// order.
pub(crate) fn choose(egl: &Egl) -> Result<Vec<Choice>, EglError> {
    let mut chosen: Vec<Choice> = Vec::new();
    for config in egl.configs() {
        let Some(mut choice) = read(egl, config) else {
            continue;
        };
        // EGL lists some configurations twice, with different orders of the colours in memory.
        let is_same = |c: &Choice| c.described.id == choice.described.id;
        if !chosen.iter().any(is_same) {
            choice.described.has_srgb = makes_srgb(egl, config);
            chosen.push(choice);
        }
    }
    if chosen.is_empty() {
        return Err(EglError::NoConfig {
            library: egl.description.clone(),
        });
    }
    Ok(chosen)
}

/// The configuration for contexts and surfaces that could use any.
pub(crate) fn usual(choices: &[Choice]) -> Choice {
    let wanted = hello::Config::new(Color::Rgb8, 8, 24, 8, 0).id;
    let found = choices.iter().find(|c| c.described.id == wanted);
    *found.unwrap_or(&choices[0])
}

/// Whether EGL makes pbuffers of this config in the colour space sRGB. No attribute of the config
/// says so.
fn makes_srgb(egl: &Egl, config: Config) -> bool {
    let made = egl
        .has(SRGB_EXTENSION)
        .then(|| egl.create_pbuffer(config, true, 1, 1));
    let Some(Ok(surface)) = made else {
        return false;
    };
    egl.destroy_surface(surface);
    true
}

/// Reads a config, if it can back a default framebuffer of ours.
fn read(egl: &Egl, config: Config) -> Option<Choice> {
    let get = |name| egl.config_attribute(config, name);
    let bits = |name| get(name).and_then(|v| u8::try_from(v).ok());
    let float =
        get(attr::COLOR_COMPONENT_TYPE).is_some_and(|t| t != attr::COLOR_COMPONENT_TYPE_FIXED);
    let pbuffer = get(attr::SURFACE_TYPE)? & attr::PBUFFER_BIT != 0;
    let opengl = get(attr::RENDERABLE_TYPE)? & attr::OPENGL_BIT != 0;
    let unqualified = get(attr::CONFIG_CAVEAT)? == attr::NONE;
    if !(pbuffer && opengl && unqualified) {
        return None;
    }
    let color_bits = [
        bits(attr::RED_SIZE)?,
        bits(attr::GREEN_SIZE)?,
        bits(attr::BLUE_SIZE)?,
    ];
    let mut colors = Color::ALL.into_iter();
    let color = colors.find(|c| c.bits() == color_bits && c.is_float() == float)?;
    Some(Choice {
        egl: config,
        srgb: false,
        described: hello::Config::new(
            color,
            bits(attr::ALPHA_SIZE)?,
            bits(attr::DEPTH_SIZE)?,
            bits(attr::STENCIL_SIZE).filter(|s| *s < 16)?,
            bits(attr::SAMPLES).filter(|s| *s < 128)?,
        ),
    })
}
