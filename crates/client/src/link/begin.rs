//! Begins the process's session.

use crate::exit;
use crate::link::assignments::Assignments;
use crate::link::compositing::Composite;
use crate::link::presenter;
use crate::link::renderers::{Reached, Renderers};
use crate::link::session::{self, Session};
use crate::log::line;
use crate::options::{self, Options};

/// The exit status of a program whose session could not begin. `mgn run` uses the same for a
/// program that it could not start.
const NOT_BEGUN: i32 = 125;

/// The process's session. The first call begins it. If that fails, the reason is printed and the
/// program ends, because its own messages about visuals or displays would mislead. `None` for a
/// program that is to continue without its server.
pub fn session() -> Option<&'static Session> {
    *session::slot().get_or_init(|| match begin() {
        Ok(session) => Some(session),
        Err(why) => {
            line(why);
            if !options::continues_on_loss() {
                exit::end_process(NOT_BEGUN);
            }
            None
        }
    })
}

fn begin() -> Result<&'static Session, String> {
    let options = Options::read(|name| std::env::var(name).ok())?;
    let assignments = Assignments::connect(options.run_dir.as_deref());
    let Reached {
        renderers,
        welcome,
        accepted,
        frames,
    } = Renderers::reach(&options, &assignments)?;
    let composite = options
        .composite
        .as_ref()
        .map(Composite::join)
        .transpose()?;
    let session: &'static Session = Box::leak(Box::new(Session::new(
        options,
        assignments,
        renderers,
        welcome.info,
        accepted,
        composite,
    )));
    session.begin_stages(welcome.session)?;
    session.assignments.follow()?;
    presenter::start(session, frames)?;
    if session.is_offset {
        session.control(|e| e.mgn_offset());
    }
    tracing::info!(
        renderer = session.info.renderer,
        servers = ?session.options.servers,
        "session begun"
    );
    Ok(session)
}
