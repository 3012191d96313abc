//! What a written text makes of a file: pure, over bytes or a file that is read in blocks.
//!
//! Everything is judged and encoded here before anything is touched.

use std::borrow::Cow;

use std::ops::{ControlFlow, Range};

use fs_core::{
    Content, DecodeStream, Detected, Encoding, EncodingBy, Eol, ErrorKind, Patch, Problem, Result,
    Shape, TextFormat,
};

use super::{Breaks, WriteOptions};

const BOM: char = '\u{FEFF}';

/// The file before the write: its size, and its content or the two ends of it.
#[derive(Debug, Clone)]
pub(super) struct Existing<'a> {
    /// All of it, or as many whole lines of both ends as were read.
    pub(super) content: Content<'a>,
    /// The size of the file.
    pub(super) size: u64,
}

/// What is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Composed {
    /// The change.
    pub(super) patch: Patch,
    /// How many bytes of it spell the new text.
    pub(super) text_bytes: u64,
    /// What the file is afterwards.
    pub(super) format: Option<TextFormat>,
}

/// Returns what a new file holds: the text as given, in UTF-8 or the encoding that is named.
///
/// UTF-16 gets a byte order mark, without which it could hardly be told.
///
/// # Errors
/// `unencodable`.
pub(super) fn new_file(text: &str, options: &WriteOptions) -> Result<Composed> {
    let encoding = options.encoding.unwrap_or(Encoding::UTF_8);
    whole(text, encoding, Mark::of_new(encoding))
}

/// Returns what a file holds whose content is replaced.
///
/// # Errors
/// `encoding_unknown`, `binary_file`, `not_text`, `unencodable`.
pub(super) fn overwrite(
    existing: &Existing<'_>,
    text: &str,
    options: &WriteOptions,
) -> Result<Composed> {
    let found = existing.content.detect(None, options.fallback);
    let Some(named) = options.encoding else {
        let found = found?;
        let (encoding, by) = certain(found, existing.size)?;
        let text = in_style_of(&existing.content, encoding, text, options)?;
        return doubtful(whole(&text, encoding, Mark::of(found)), encoding, by);
    };
    // The caller decides, whatever is there; what is there only tells the style and the mark.
    let read_as = |found: Result<Detected>| {
        let found = found.ok()?;
        Some((found, found.encoding()?))
    };
    let found =
        read_as(found).or_else(|| read_as(existing.content.detect(Some(named), options.fallback)));
    match found {
        Some((found, encoding)) => {
            let text = in_style_of(&existing.content, encoding, text, options)?;
            let mark = if encoding == named {
                Mark::of(found)
            } else {
                Mark::of_new(named)
            };
            whole(&text, named, mark)
        }
        None => whole(text, named, Mark::of_new(named)),
    }
}

/// Returns what a file holds that gets the text at its end.
///
/// # Errors
/// `encoding_mismatch`, `encoding_unknown`, `binary_file`, `not_text`, `unencodable`.
pub(super) fn append(
    existing: &Existing<'_>,
    text: &str,
    options: &WriteOptions,
) -> Result<Composed> {
    if existing.size == 0 {
        return new_file(text, options);
    }
    let found = existing
        .content
        .detect(options.encoding, options.fallback)?;
    let end = existing.content.len();
    let spot = Spot::of(found, existing, end)?;
    let text = spot.mark.taken_off(text);
    // A break after a lone CR is left alone: in another style the two might become one.
    let after_return = ends_with_return(&existing.content, end, spot.encoding)?;
    let keeps = options.breaks == Breaks::Keep && !after_return;
    let text = if keeps {
        restyled(text, spot.eol)
    } else {
        Cow::Borrowed(text)
    };
    spot.insert(existing, existing.size, &text)
}

/// Returns what a file holds that gets the text as lines of their own before line `line`.
///
/// The text takes the style of the breaks there; one final break of it is its last line's own. After
/// a last line without a break the text gets none either.
///
/// # Errors
/// `out_of_range` for a line beyond the last + 1, and those of [`append`].
pub(super) fn insert(
    existing: &Existing<'_>,
    text: &str,
    line: u64,
    options: &WriteOptions,
) -> Result<Composed> {
    if existing.size == 0 && line == 1 {
        let own_break = break_of(own_style(text));
        return new_file(
            &format!("{}{own_break}", without_final_break(text)),
            options,
        );
    }
    let found = existing
        .content
        .detect(options.encoding, options.fallback)?;
    let encoding = found.encoding().unwrap_or(Encoding::UTF_8);
    let place = LinePlace::of(&existing.content, found, line, encoding)?;
    let spot = Spot::of(found, existing, place.offset)?;
    let text = spot.mark.taken_off(text);
    let style = spot.style_of(&place.near).unwrap_or(own_style(text));
    let text = restyled(without_final_break(text), style);
    let end = existing.content.len();
    let after_return = ends_with_return(&existing.content, end, spot.encoding)?;
    let text = match (place.after_open_line, after_return) {
        (false, _) => format!("{text}{}", break_of(style)),
        (true, false) => format!("{}{text}", break_of(style)),
        // An LF alone would make a break of the CR that is the last line's own.
        (true, true) => format!("\r\n{text}"),
    };
    spot.insert(existing, place.offset, &text)
}

/// Where a line begins, and what the lines around it end in.
struct LinePlace {
    offset: u64,
    /// Whether the line before has no break.
    after_open_line: bool,
    /// The breaks of the line, of the one before and of the one before that; empty where there is
    /// none.
    near: [Range<u64>; 3],
}

impl LinePlace {
    /// Looks for the place before line `line`, which may be the one after the last.
    ///
    /// # Errors
    /// `out_of_range`, and those of reading.
    fn of(content: &Content<'_>, found: Detected, line: u64, encoding: Encoding) -> Result<Self> {
        let count = content.count_lines(found.bom_bytes as u64, encoding)?;
        if line == 0 || line > count + 1 {
            return Err(no_such_line(line, count));
        }
        let first = line.saturating_sub(2).max(1);
        let start = content.line_start(found.bom_bytes as u64, first, encoding)?;
        let mut at = start.unwrap_or(content.len());
        let mut near = [0..0, 0..0, 0..0];
        for number in first..line {
            let end = content.line_end(at, encoding)?;
            at = end.end;
            if let Some(place) = usize::try_from(line - number)
                .ok()
                .and_then(|it| near.get_mut(it))
            {
                *place = end;
            }
        }
        let after_open_line = line > 1 && near.get(1).is_some_and(Range::is_empty);
        if at < content.len()
            && let Some(own) = near.first_mut()
        {
            *own = content.line_end(at, encoding)?;
        }
        Ok(Self {
            offset: at,
            after_open_line,
            near,
        })
    }
}

/// Whether the file begins with a byte order mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Absent,
    Present,
}

impl Mark {
    fn of(found: Detected) -> Self {
        if found.bom_bytes > 0 {
            Self::Present
        } else {
            Self::Absent
        }
    }

    fn of_new(encoding: Encoding) -> Self {
        if encoding.unit_bytes() > 1 {
            Self::Present
        } else {
            Self::Absent
        }
    }

    /// Returns the text without the mark that the file has already.
    fn taken_off(self, text: &str) -> &str {
        match self {
            Self::Present => text.strip_prefix(BOM).unwrap_or(text),
            Self::Absent => text,
        }
    }
}

/// Where text goes into a file, and what it has to be there.
#[derive(Debug, Clone, Copy)]
struct Spot {
    encoding: Encoding,
    /// `None` in a file of unknown encoding, which takes ASCII only.
    by: Option<EncodingBy>,
    mark: Mark,
    eol: Eol,
}

impl Spot {
    /// Looks at the place at `offset` of the bytes.
    fn of(found: Detected, existing: &Existing<'_>, offset: u64) -> Result<Self> {
        let content = &existing.content;
        let before = content.read(offset.saturating_sub(1)..offset)?;
        let (encoding, by) = match found.shape {
            Shape::Text { encoding, by } => (encoding, Some(by)),
            // After a byte of its own no encoding takes ASCII for a part of a character.
            Shape::Lossy { .. } | Shape::Opaque { .. }
                if before.last().is_none_or(u8::is_ascii) && found.bom_bytes == 0 =>
            {
                (Encoding::UTF_8, None)
            }
            Shape::Lossy { .. } | Shape::Opaque { .. } => return unknown(),
            Shape::Binary => return Err(binary(existing.size)),
        };
        Ok(Self {
            encoding,
            by,
            mark: Mark::of(found),
            eol: content.eol(0..content.len(), encoding)?,
        })
    }

    /// Returns the style of the first of `near` that ends in a break.
    fn style_of(self, near: &[Range<u64>]) -> Option<Eol> {
        let unit = self.encoding.unit_bytes() as u64;
        near.iter().find_map(|own| match own.end - own.start {
            0 => None,
            bytes if bytes == unit => Some(Eol::Lf),
            _ => Some(Eol::CrLf),
        })
    }

    fn insert(self, existing: &Existing<'_>, at: u64, text: &str) -> Result<Composed> {
        if self.by.is_none() && !text.is_ascii() {
            return unknown();
        }
        let new = doubtful(
            self.encoding.encode(text),
            self.encoding,
            self.by.unwrap_or(EncodingBy::Utf8),
        )?;
        self.check_shift_state(existing, at, text, &new)?;
        let eol = self.eol_with(existing, at, &new)?;
        Ok(Composed {
            text_bytes: new.len() as u64,
            format: self.by.map(|_| TextFormat {
                encoding: self.encoding,
                bom: self.mark == Mark::Present,
                eol,
            }),
            patch: Patch::splice(existing.size, [(at..at, new)]),
        })
    }

    /// In ISO-2022-JP what bytes mean depends on those before them.
    fn check_shift_state(
        self,
        existing: &Existing<'_>,
        at: u64,
        text: &str,
        new: &[u8],
    ) -> Result<()> {
        if self.encoding.name() != "iso-2022-jp" {
            return Ok(());
        }
        let content = &existing.content;
        let at = at.min(content.len());
        let [mut together, mut before, mut after] =
            [(); 3].map(|()| DecodeStream::new(self.encoding));
        let mut fits = both_read_alike(content, 0..at, [&mut together, &mut before])?;
        fits &= before.finish(&mut String::new()).is_ok();
        let mut read = String::new();
        fits &= together.push(new, &mut read).is_ok() && read == text;
        fits &= both_read_alike(content, at..content.len(), [&mut together, &mut after])?;
        fits &= together.finish(&mut String::new()).is_ok();
        if fits { Ok(()) } else { unknown() }
    }

    /// Returns the breaks of the file with `new` in it.
    fn eol_with(self, existing: &Existing<'_>, at: u64, new: &[u8]) -> Result<Eol> {
        let content = &existing.content;
        // An LF makes one break with a CR before it.
        let joint = if ends_with_return(content, at.min(content.len()), self.encoding)? {
            self.encoding.encode("\r").unwrap_or_default()
        } else {
            Vec::new()
        };
        let added = Eol::of(&[&joint, new].concat(), self.encoding);
        Ok(self.eol.and(added))
    }
}

/// Returns the encoding and how it was found.
///
/// # Errors
/// `encoding_unknown` for lossy and opaque bytes, `binary_file`.
fn certain(found: Detected, size: u64) -> Result<(Encoding, EncodingBy)> {
    match found.shape {
        Shape::Text { encoding, by } => Ok((encoding, by)),
        Shape::Lossy { .. } | Shape::Opaque { .. } => unknown(),
        Shape::Binary => Err(binary(size)),
    }
}

/// Turns what a guessed encoding lacks into `encoding_unknown`: the guess may be wrong.
fn doubtful<T>(encoded: Result<T>, encoding: Encoding, by: EncodingBy) -> Result<T> {
    match encoded {
        Err(error) if by == EncodingBy::Guess && error.kind() == ErrorKind::Unencodable => {
            Err(Problem::encoding_unknown(Some(encoding)).into())
        }
        encoded => encoded,
    }
}

fn whole(text: &str, encoding: Encoding, mark: Mark) -> Result<Composed> {
    let text = mark.taken_off(text);
    // A U+FEFF that the caller puts first is a mark for whoever reads the file.
    let unicode = encoding == Encoding::UTF_8 || encoding.unit_bytes() > 1;
    let marked = mark == Mark::Present || (unicode && text.starts_with(BOM));
    let text = encoding.encode(text)?;
    let mut bytes = match mark {
        Mark::Present => encoding.encode("\u{FEFF}")?,
        Mark::Absent => Vec::new(),
    };
    bytes.extend_from_slice(&text);
    Ok(Composed {
        text_bytes: text.len() as u64,
        format: Some(TextFormat {
            encoding,
            bom: marked,
            eol: Eol::of(&bytes, encoding),
        }),
        patch: Patch::whole(bytes),
    })
}

/// Returns the text of an overwrite: LF becomes CR LF where the file has nothing else and the text
/// no CR LF at all, so that who was shown lines without their breaks gives them back unharmed.
fn in_style_of<'t>(
    content: &Content<'_>,
    encoding: Encoding,
    text: &'t str,
    options: &WriteOptions,
) -> Result<Cow<'t, str>> {
    let keeps = options.breaks == Breaks::Keep && !text.contains("\r\n");
    if keeps && content.eol(0..content.len(), encoding)? == Eol::CrLf {
        return Ok(restyled(text, Eol::CrLf));
    }
    Ok(Cow::Borrowed(text))
}

/// Returns whether two streams make the same of the bytes in `range`.
fn both_read_alike(
    content: &Content<'_>,
    range: Range<u64>,
    streams: [&mut DecodeStream; 2],
) -> Result<bool> {
    let [one, two] = streams;
    let (mut left, mut right) = (String::new(), String::new());
    let mut alike = true;
    content.each(range, &mut |block| {
        left.clear();
        right.clear();
        alike = one.push(block, &mut left).is_ok()
            && two.push(block, &mut right).is_ok()
            && left == right;
        if alike {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?;
    Ok(alike)
}

/// Returns the text with all its breaks in one style; as given where there is no one style.
fn restyled(text: &str, eol: Eol) -> Cow<'_, str> {
    match eol {
        Eol::CrLf if text.contains('\n') => {
            Cow::Owned(text.replace("\r\n", "\n").replace('\n', "\r\n"))
        }
        Eol::Lf if text.contains("\r\n") => Cow::Owned(with_lf(text)),
        _ => Cow::Borrowed(text),
    }
}

/// A CR LF after a CR stays: an LF alone would make one break with that.
fn with_lf(text: &str) -> String {
    let mut lf = String::with_capacity(text.len());
    for line in text.split_inclusive("\r\n") {
        match line.strip_suffix("\r\n") {
            Some(line) if !line.ends_with('\r') => lf.extend([line, "\n"]),
            _ => lf.push_str(line),
        }
    }
    lf
}

fn break_of(eol: Eol) -> &'static str {
    match eol {
        Eol::CrLf => "\r\n",
        _ => "\n",
    }
}

/// The style of a text where the file has none: that of its first break.
fn own_style(text: &str) -> Eol {
    match text.split_once('\n') {
        Some((line, _)) if line.ends_with('\r') => Eol::CrLf,
        _ => Eol::Lf,
    }
}

fn without_final_break(text: &str) -> &str {
    let short = text.strip_suffix("\r\n").or(text.strip_suffix('\n'));
    short.unwrap_or(text)
}

/// Returns whether a CR stands before `at`.
fn ends_with_return(content: &Content<'_>, at: u64, encoding: Encoding) -> Result<bool> {
    let mark = encoding.encode("\r").unwrap_or_default();
    let before = content.read(at.saturating_sub(mark.len() as u64)..at)?;
    Ok(!mark.is_empty() && *before == mark)
}

fn no_such_line(line: u64, count: u64) -> fs_core::Error {
    Problem::OutOfRange {
        what: "line",
        value: line,
        last: count + 1,
        bound: match count {
            1 => "the file has 1 line".to_owned(),
            count => format!("the file has {count} lines"),
        },
    }
    .into()
}

fn binary(size: u64) -> fs_core::Error {
    Problem::BinaryFile { size }.into()
}

fn unknown<T>() -> Result<T> {
    Err(Problem::encoding_unknown(None).into())
}
