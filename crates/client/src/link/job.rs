//! Jobs that the client library joins beside the program's own job.

use crate::signals::Signals;
use mgn_fabric::job::{Job, Member};
use mgn_fabric::Error;

/// The first port of the program's own job, unless the environment names another one.
const FIRST_PORT: u16 = 21400;

/// Joins the job whose name is that of the program's own job followed by `suffix`. Its ports are
/// `ports` higher than those of the program's own job.
///
/// # Errors
/// Those of [`Job::find`] and [`Job::join`].
pub fn join(suffix: &str, ports: u16) -> Result<Member, Error> {
    let env = |name: &str| {
        let set = std::env::var(name).ok().filter(|value| !value.is_empty());
        match name {
            "MGN_JOB" => Some(set.unwrap_or_else(|| "job".into()) + suffix),
            "MGN_PORT" => {
                let port = set.map_or(Ok(FIRST_PORT), |port| port.parse());
                port.ok()
                    .map(|port: u16| port.saturating_add(ports).to_string())
            }
            // `MGN_TOKEN_FILE` itself is for the token of the server.
            "MGN_TOKEN_FILE" => std::env::var("MGN_COMPOSITE_TOKEN_FILE").ok(),
            _ => set,
        }
    };
    // The job's threads are ours, so they must not run the program's signal handlers.
    let _signals = Signals::block_all();
    Job::find_in(&env).and_then(Job::join)
}
