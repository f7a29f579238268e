//! The mothership: who renders, who wants to be rendered, and who is matched with whom. It never touches the data path.
//!
//! A [`Config`] says what a wall is made of.
#![forbid(unsafe_code)]

pub mod config;
pub mod core;
#[cfg(test)]
mod fuzz;
pub mod protocol;
pub mod status;

pub use config::Config;

use mgn_fabric::Address;

/// Where the mothership is if nobody says otherwise.
pub fn default_address() -> Address {
    Address::Abstract("manganese-mothership".into())
}
