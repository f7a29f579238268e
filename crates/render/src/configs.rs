//! The framebuffer configurations that programs may choose from: few, distinct, and each exactly what it says.

use crate::egl::{attr, Config, Egl, EglError};
use mgn_wire::hello;

/// A configuration and the EGL config behind it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    pub egl: Config,
    pub described: hello::Config,
}

/// Depth and stencil bits, most useful first.
const DEPTH_STENCIL: [(u8, u8); 5] = [(24, 8), (24, 0), (32, 0), (16, 0), (0, 0)];

/// Every combination of alpha, depth, stencil and samples that EGL has for pbuffers with 8-bit fixed-point colours.
pub(crate) fn choose(egl: &Egl) -> Result<Vec<Choice>, EglError> {
    let available: Vec<Choice> = egl
        .configs()
        .into_iter()
        .filter_map(|c| read(egl, c))
        .collect();
    let mut chosen = Vec::new();
    for samples in [0, 4] {
        for alpha in [8, 0] {
            for (depth, stencil) in DEPTH_STENCIL {
                let wanted = hello::Config::new(alpha, depth, stencil, samples);
                chosen.extend(available.iter().find(|c| c.described == wanted));
            }
        }
    }
    if chosen.is_empty() {
        return Err(EglError::NoConfig {
            library: egl.description.clone(),
        });
    }
    Ok(chosen)
}

/// Reads a config, if it can back a default framebuffer of ours.
fn read(egl: &Egl, config: Config) -> Option<Choice> {
    let get = |name| egl.config_attribute(config, name);
    let bits = |name| get(name).and_then(|v| u8::try_from(v).ok());
    let eight = |name| bits(name) == Some(8);
    let fixed =
        get(attr::COLOR_COMPONENT_TYPE).is_none_or(|t| t == attr::COLOR_COMPONENT_TYPE_FIXED);
    let pbuffer = get(attr::SURFACE_TYPE)? & attr::PBUFFER_BIT != 0;
    let opengl = get(attr::RENDERABLE_TYPE)? & attr::OPENGL_BIT != 0;
    let unqualified = get(attr::CONFIG_CAVEAT)? == attr::NONE;
    if !(eight(attr::RED_SIZE)
        && eight(attr::GREEN_SIZE)
        && eight(attr::BLUE_SIZE)
        && fixed
        && pbuffer
        && opengl
        && unqualified)
    {
        return None;
    }
    Some(Choice {
        egl: config,
        described: hello::Config::new(
            bits(attr::ALPHA_SIZE)?,
            bits(attr::DEPTH_SIZE)?,
            bits(attr::STENCIL_SIZE)?,
            bits(attr::SAMPLES)?,
        ),
    })
}
