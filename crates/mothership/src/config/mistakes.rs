//! Mistakes in a file: what is wrong, where, and what to do about it.

use std::fmt;
use std::ops::Range;

use codespan_reporting::diagnostic::{Diagnostic, Label};
use codespan_reporting::files::{Files, SimpleFile};
use codespan_reporting::term;

/// All mistakes in a configuration, in the order of the file. Each is shown as one block: the
/// sentence, the place, and the line with the wrong part underlined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistakes {
    /// The name of the file, as the user gave it.
    pub file: String,
    pub list: Vec<Mistake>,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Counted from 1.
    pub line: usize,
    /// Characters, counted from 1.
    pub column: usize,
    /// One sentence: what is wrong, and what to do.
    pub what: String,
    /// The wrong bytes of the file. The range begins and ends at character boundaries.
    pub span: Range<usize>,
}

impl Mistakes {
    /// Makes a list of mistakes from sentences about ranges of bytes of `text`.
    pub(super) fn new(file: &str, text: &str, mut found: Vec<(Range<usize>, String)>) -> Mistakes {
        found.sort_by_key(|(span, _)| span.start);
        found.dedup();
        let source = SimpleFile::new(file, text);
        let place = |(span, what)| Mistake::new(&source, span, what);
        Mistakes {
            file: file.into(),
            list: found.into_iter().map(place).collect(),
            text: text.into(),
        }
    }
}

impl Mistake {
    fn new(source: &SimpleFile<&str, &str>, span: Range<usize>, what: String) -> Mistake {
        let text = *source.source();
        let inside = |mut at: usize| {
            at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = inside(span.start);
        // If the range covers several lines, only the first is shown.
        let line_end = text[start..].find('\n').map_or(text.len(), |n| start + n);
        let end = inside(span.end).clamp(start, line_end.max(start));
        let at = source.location((), start);
        Mistake {
            line: at.as_ref().map_or(1, |at| at.line_number),
            column: at.as_ref().map_or(1, |at| at.column_number),
            what,
            span: start..end,
        }
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = SimpleFile::new(self.file.as_str(), self.text.as_str());
        let config = term::Config::default();
        for (n, mistake) in self.list.iter().enumerate() {
            if n > 0 {
                out.write_str("\n\n")?;
            }
            let label = Label::primary((), mistake.span.clone());
            let shown = Diagnostic::error()
                .with_message(&mistake.what)
                .with_labels(vec![label]);
            match term::emit_into_string(&config, &source, &shown) {
                Ok(block) => out.write_str(block.trim_end())?,
                Err(_) => write!(
                    out,
                    "{}:{}:{}: {}",
                    self.file, mistake.line, mistake.column, mistake.what
                )?,
            }
        }
        Ok(())
    }
}
