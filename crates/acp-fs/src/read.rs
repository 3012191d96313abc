//! Reading: which text it is, and the window of it.

use std::ops::Range;
use std::sync::Arc;

use fs_core::{Error, LineRange, Problem, ReadOptions, Result, Window, window_of};
use fs_edit::catch_up;

use crate::buffers::{Buffers, OnDisk};
use crate::found::{Call, Found};
use crate::methods::{BeyondEof, FileMethods};
use crate::served::{Belief, Shown};
use crate::session::MissingFile;
use crate::wire::{ReadTextFile, RpcError, Source, TextFile};

/// What a window was cut from.
#[derive(Debug)]
enum Whole {
    /// A text of this document.
    Text(Arc<str>),
    /// A large file, of which nobody has all of the text.
    Large,
    /// Nothing is there, or nothing that is text.
    Nothing,
}

impl<B: Buffers> FileMethods<B> {
    /// Returns the lines that are asked for.
    ///
    /// # Errors
    /// Those of the path; `not_found`, `not_text`, `binary_file`, `out_of_range`, `too_large`,
    /// `cancelled`, `io`; those of the editor.
    pub(crate) fn read(
        &self,
        call: Call<'_>,
        request: &ReadTextFile,
        found: Found,
    ) -> Result<TextFile, RpcError> {
        let line = u64::from(request.line.unwrap_or(1).max(1));
        let range = LineRange::From {
            line,
            column: 1,
            limit: request.limit.map(u64::from),
        };
        let options = ReadOptions {
            range,
            fallback: self.options.fallback,
            max_bytes: Some(self.options.max_reply_bytes),
            cancel: call.cancel.clone(),
            ..ReadOptions::default()
        };
        let (window, source, whole) = self
            .window(call, &found, &options)
            .map_err(|error| call.told(error))?;
        self.check_size(&window)
            .and_then(|()| self.check_start(&window, line))
            .map_err(|error| {
                let rpc = call.told(error);
                match window.total_lines {
                    Some(total) => rpc.with("total_lines", total),
                    None => rpc,
                }
            })?;
        call.acknowledge(&found, &whole, source, &window);
        Ok(TextFile {
            content: window.text,
            first_line: window.first_line,
            returned_lines: window.returned_lines,
            total_lines: window.total_lines,
            format: found.format(),
            version: found.disk.map(|disk| disk.version),
            source,
            place: found.place,
        })
    }

    /// Returns what is wanted of the text, and where it was.
    fn window(
        &self,
        call: Call<'_>,
        found: &Found,
        options: &ReadOptions,
    ) -> Result<(Window, Source, Whole)> {
        if let Some(snapshot) = self.snapshot(call, found)? {
            let window = window_of(&snapshot.text, options)?;
            return Ok((window, Source::Buffer, Whole::Text(snapshot.text)));
        }
        let (window, whole) = match (&found.disk, &found.trouble, &found.opened) {
            (_, Some(_), Some(opened)) => {
                let window = call.session.workspace.read_opened(opened, options)?;
                (window, Whole::Nothing)
            }
            (
                Some(OnDisk {
                    text: Some(text), ..
                }),
                ..,
            ) => (window_of(text, options)?, Whole::Text(Arc::clone(text))),
            (Some(disk), _, Some(opened)) => {
                self.check_whole(disk, options)?;
                let window = call.session.workspace.read_opened(opened, options)?;
                (window, Whole::Large)
            }
            _ => {
                // Whoever makes the file later writes what the session does not know.
                call.serve(found, Some(&Arc::from("")));
                if call.session.missing == MissingFile::Error {
                    return Err(Problem::NotFound.into());
                }
                (window_of("", options)?, Whole::Nothing)
            }
        };
        Ok((window, Source::Disk, whole))
    }

    /// Checks that a file that is wanted as a whole can be answered, before its content is looked
    /// at. UTF-16 has at most twice as many bytes as its text.
    fn check_whole(&self, disk: &OnDisk, options: &ReadOptions) -> Result<()> {
        let is_whole = matches!(
            options.range,
            LineRange::From {
                line: 1,
                limit: None,
                ..
            }
        );
        if is_whole && disk.size / 2 > self.options.max_reply_bytes {
            return Err(self.too_large(disk.size));
        }
        Ok(())
    }

    fn check_size(&self, window: &Window) -> Result<()> {
        if window.truncated {
            return Err(self.too_large(window.size));
        }
        let encoded = encoded_bytes(&window.text);
        if encoded > self.options.max_reply_bytes {
            return Err(self.too_large(encoded));
        }
        Ok(())
    }

    fn too_large(&self, size: u64) -> Error {
        Problem::TooLarge {
            size,
            limit: self.options.max_reply_bytes,
            hint: "read fewer lines at once, by `line` and `limit`",
        }
        .into()
    }

    fn check_start(&self, window: &Window, line: u64) -> Result<()> {
        let total = window.total_lines.unwrap_or(u64::MAX - 1);
        if line <= total + 1 || self.options.beyond_eof == BeyondEof::Empty {
            return Ok(());
        }
        let bound = match total {
            1 => "the last line is 1".to_owned(),
            0 => "the file is empty".to_owned(),
            total => format!("the last line is {total}"),
        };
        Err(Problem::OutOfRange {
            what: "line",
            value: line,
            last: total,
            bound,
        }
        .into())
    }
}

impl Call<'_> {
    /// Remembers what the session has seen by a window, and nothing else of the text.
    fn acknowledge(&self, found: &Found, whole: &Whole, source: Source, window: &Window) {
        match (whole, window.first_line) {
            (Whole::Text(text), Some(1)) if window.total_lines == Some(window.returned_lines) => {
                self.serve(found, Some(text));
            }
            (Whole::Text(text), _) if text.is_empty() => self.serve(found, Some(text)),
            (Whole::Text(text), Some(first)) => {
                let first = first.saturating_sub(1);
                let lines = first..first + window.returned_lines;
                self.acknowledge_lines(found, text, source, lines);
            }
            (Whole::Large, Some(_)) => self.serve(found, None),
            _ => {}
        }
    }

    /// Remembers lines of a text, counted from 0, beside what the session knew before: what it was
    /// served, else what is on the disk, since only what is unsaved is news to everybody.
    fn acknowledge_lines(&self, found: &Found, text: &Arc<str>, source: Source, lines: Range<u64>) {
        let Some(place) = &found.place else { return };
        let belief = self.session.served.recall(place);
        let (known, shown) = belief.map_or((None, None), |belief| (belief.text, belief.shown));
        let shown = match shown {
            Some(shown) if shown.text == *text => shown.and(lines),
            _ => Shown {
                base: known.unwrap_or_else(|| match source {
                    Source::Disk => Arc::clone(text),
                    Source::Buffer => found.text().map_or_else(|| "".into(), Arc::clone),
                }),
                text: Arc::clone(text),
                lines: vec![lines],
            },
        };
        let known = catch_up(&shown.base, text, &shown.lines);
        if *known == **text {
            return self.serve(found, Some(text));
        }
        let belief = Belief {
            text: Some(known.into()),
            version: None,
            shown: Some(shown),
        };
        self.session.served.remember(place.clone(), belief);
    }
}

/// Returns how many bytes a text has as JSON, without its quotes.
fn encoded_bytes(text: &str) -> u64 {
    let more = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 1,
        0..32 => 5,
        _ => 0,
    };
    let escapes: u64 = text.bytes().map(more).sum();
    escapes + text.len() as u64
}
