//! What is wrong in a file, where, and what to do about it.

use std::fmt;
use std::ops::Range;

/// All that is wrong in a configuration, in the file's order. Shown as one block each: place and sentence, the line, and a caret below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistakes {
    /// The file as it was named.
    pub file: String,
    pub list: Vec<Mistake>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Counted from 1.
    pub line: usize,
    /// Characters, counted from 1.
    pub column: usize,
    /// One sentence: what is wrong, and what to do.
    pub what: String,
    /// The whole line.
    pub text: String,
    /// How many characters of it are meant, at least 1.
    pub length: usize,
}

impl Mistakes {
    /// From what is said about bytes of `text`.
    pub(super) fn new(file: &str, text: &str, mut found: Vec<(Range<usize>, String)>) -> Mistakes {
        found.sort_by_key(|(span, _)| span.start);
        found.dedup();
        let place = |(span, what)| Mistake::new(text, span, what);
        Mistakes {
            file: file.into(),
            list: found.into_iter().map(place).collect(),
        }
    }
}

impl Mistake {
    fn new(text: &str, span: Range<usize>, what: String) -> Mistake {
        let mut start = span.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = text[line_start..].lines().next().unwrap_or_default();
        let column = text[line_start..start].chars().count();
        let upto = (span.end.max(start) - line_start).min(line.len());
        let meant = line.char_indices().filter(|(at, _)| *at < upto).count();
        Mistake {
            line: before.matches('\n').count() + 1,
            column: column + 1,
            what,
            text: line.into(),
            length: meant.saturating_sub(column).max(1),
        }
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, mistake) in self.list.iter().enumerate() {
            if n > 0 {
                writeln!(out)?;
            }
            let (line, column) = (mistake.line, mistake.column);
            writeln!(out, "{}:{line}:{column}: {}", self.file, mistake.what)?;
            writeln!(out, "{line:5} | {}", mistake.text)?;
            // Tabs stay tabs, so that the caret stands below what it means.
            let blank = mistake.text.chars().take(column - 1);
            let blank: String = blank.map(|c| if c == '\t' { c } else { ' ' }).collect();
            write!(out, "      | {blank}{}", "^".repeat(mistake.length))?;
        }
        Ok(())
    }
}
