//! The file of `mgn server --audit`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tracing::Subscriber;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::Layer;

/// Appends each event of the target `audit` to `file`, as one JSON object on a line of its own.
///
/// # Errors
/// If the file cannot be opened. Later failures are reported on standard error.
pub fn layer<S>(file: &Path) -> anyhow::Result<impl Layer<S>>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    // The working directory may change before the next line.
    let file = AuditFile(std::path::absolute(file)?);
    let opened = file.open();
    opened.with_context(|| format!("opening the audit file {}", file.0.display()))?;
    Ok(tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_target(false)
        .with_writer(file)
        .with_filter(Targets::new().with_target("audit", LevelFilter::TRACE)))
}

/// The file is opened for each line, so that it can be renamed and a new one is created.
struct AuditFile(PathBuf);

impl AuditFile {
    fn open(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o600);
        // Opening a pipe without a reader must not block.
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
        options.open(&self.0)
    }
}

impl<'a> MakeWriter<'a> for AuditFile {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line(self.open())
    }
}

struct Line(io::Result<File>);

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Ok(file) => file.write(bytes),
            Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
