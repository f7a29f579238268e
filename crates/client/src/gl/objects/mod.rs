//! Objects: commands that name, create, bind, delete and query them.

mod assembly;
mod bind;
mod generate;
mod named_strings;
pub mod names;
mod program_queries;
mod queries;
mod query_results;
mod shaders;
mod syncs;
mod uniforms;
mod use_program;

pub use assembly::*;
pub use bind::*;
pub use generate::*;
pub use named_strings::*;
pub use names::use_name;
pub use program_queries::*;
pub use queries::*;
pub use query_results::*;
pub use shaders::*;
pub use syncs::*;
pub use uniforms::*;
pub use use_program::*;
