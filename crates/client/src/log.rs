//! What the library says: single lines on the terminal for the person, `MGN_LOG` for the developer.

use std::fmt::Display;
use std::io::Write;
use std::sync::Once;

/// One line for the person at the terminal. A closed stderr is nobody's error.
pub fn line(message: impl Display) {
    let text = format!("mgn: {message}\n");
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Done once when GLVND loads the library: logging where `MGN_LOG` asks for it, and panics as one line.
pub fn init() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            line(format_args!("internal error, ending the program: {panic}").to_string().replace('\n', " "));
            std::process::abort();
        }));
        if std::env::var_os("MGN_LOG").is_none() {
            return;
        }
        // A second copy of the library in one process (two link namespaces) finds its own subscriber not set yet; an error here changes nothing.
        let _ = tracing_subscriber::fmt()
            .with_env_filter(tracing_subscriber::EnvFilter::from_env("MGN_LOG"))
            .with_writer(std::io::stderr)
            .with_ansi(false)
            .try_init();
    });
}
