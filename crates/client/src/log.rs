//! The library's messages: single lines on the terminal for the user, `MGN_LOG` for the developer.
//!
//! The subscriber is a small one of our own. The usual one needs a lot of thread-local storage, of
//! which this library must use little (see `tls`).

use std::fmt::{self, Display, Write as _};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Once;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span;
use tracing::{Event, Metadata, Subscriber};

/// Prints one line for the user on the terminal. A closed stderr is no error.
pub fn line(message: impl Display) {
    let text = format!("mgn: {message}\n");
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Called once when GLVND loads the library: sets up logging if `MGN_LOG` names a level, and prints
/// panics as one line.
pub fn init() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            let what = panic.to_string().replace('\n', " ");
            line(format_args!("internal error, ending the program: {what}"));
            std::process::abort();
        }));
        let Some(wish) = std::env::var_os("MGN_LOG") else {
            return;
        };
        match wish.to_string_lossy().parse::<LevelFilter>() {
            // If there already is another subscriber, that one is used.
            Ok(level) => drop(tracing::subscriber::set_global_default(Lines { level })),
            Err(_) => line("MGN_LOG must be off, error, warn, info, debug or trace"),
        }
    });
}

/// Writes each event as one line to stderr. Spans are not printed.
struct Lines {
    level: LevelFilter,
}

impl Subscriber for Lines {
    fn enabled(&self, about: &Metadata<'_>) -> bool {
        *about.level() <= self.level
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        span::Id::from_u64(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let about = event.metadata();
        let mut text = Text(format!(
            "mgn[{}] {} {}:",
            std::process::id(),
            about.level(),
            about.target()
        ));
        event.record(&mut text);
        text.0.push('\n');
        let _ = std::io::stderr().write_all(text.0.as_bytes());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}
