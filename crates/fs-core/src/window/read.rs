//! A window read: what the file is, where its lines are, what of them is shown.

use std::os::fd::AsFd;
use std::time::SystemTime;

use cap_std::fs::File;
use rustix::fs::{FileType, Stat};

use super::cut::{Cutter, Finished};
use super::emit::{Decoding, Flaw, emit};
use super::sample::Sample;
use super::scan::Scan;
use super::source::{Origin, Sizes, Source};
use super::survey::Survey;
use super::{CutLine, LineRange, Next, ReadOptions, Window};
use crate::encoding::Encoding;
use crate::error::Result;
use crate::format::{Detected, EncodingBy, Eol, Shape, TextFormat};
use crate::index::{IndexCache, LineCounts, Stamp};
use crate::newline::{Before, Breaks, Unit};
use crate::problem::Problem;
use crate::version::Version;

/// How often a file is read again that became shorter meanwhile.
const ATTEMPTS: usize = 3;

/// What is known of a file before its window is cut.
struct Found {
    decoding: Decoding,
    by: EncodingBy,
    bom_bytes: usize,
    breaks: Breaks,
    version: Version,
    size: u64,
}

/// Where a window begins and what it takes.
#[derive(Clone, Copy)]
struct Place {
    offset: u64,
    column: u64,
    limit: Option<u64>,
    /// The number of the first line; `None` when it is not known.
    line: Option<u64>,
}

/// What is known of the text's end.
struct End {
    total_lines: Option<u64>,
    eof: bool,
}

/// Reads a window of a file.
pub(crate) fn read_file(
    file: &File,
    options: &ReadOptions,
    index: Option<&IndexCache>,
    sizes: Sizes,
) -> Result<Window> {
    check(&options.range)?;
    for _ in 0..ATTEMPTS {
        let stat = rustix::fs::fstat(file.as_fd())?;
        check_file(&stat, options)?;
        let size = Stamp::of(&stat).size;
        let origin = Origin::File(file);
        let mut source = Source::new(origin, size, sizes, &options.cancel);
        let window = if size <= sizes.whole {
            read_small(&mut source, options)
        } else {
            read_large(&mut source, file, &stat, options, index)
        };
        match window {
            _ if source.has_shrunk() => {}
            Ok(window) => return Ok(window),
            Err(Flaw::Failed(error)) => return Err(error),
            Err(Flaw::Misfit(_)) => {}
        }
    }
    Err(changing())
}

/// Cuts a window from a text in memory.
pub(crate) fn read_text(text: &str, options: &ReadOptions, sizes: Sizes) -> Result<Window> {
    check(&options.range)?;
    let size = text.len() as u64;
    check_size(size, options)?;
    let bytes = text.as_bytes();
    let mut counts = LineCounts::default();
    for block in bytes.chunks(sizes.block) {
        counts.push(Unit::Byte.count(block));
    }
    let found = Found {
        decoding: Decoding::Strict(Encoding::UTF_8),
        by: EncodingBy::Utf8,
        bom_bytes: 0,
        breaks: Unit::Byte.breaks(bytes, Before::Other),
        version: Version::of_bytes(bytes),
        size,
    };
    let mut source = Source::new(Origin::Memory(bytes), size, sizes, &options.cancel);
    let mut scan = Scan::new(&mut source, counts, Unit::Byte, 0);
    let place = locate(&mut scan, options)?;
    match cut(&mut scan, found, options, place) {
        Ok(window) => Ok(window),
        Err(Flaw::Failed(error)) => Err(error),
        Err(Flaw::Misfit(offset)) => Err(Problem::NotText { offset }.into()),
    }
}

/// Reads a file of which every byte is looked at; a misfit means that it changed meanwhile.
fn read_small(source: &mut Source<'_>, options: &ReadOptions) -> Result<Window, Flaw> {
    let size = source.len();
    let mut survey = Survey::new(source);
    let detected = survey.judge(options.encoding, options.fallback)?;
    let (decoding, by) = decoding(detected, options, size)?;
    let seen = survey.finish(decoding.encoding())?;
    let found = Found {
        decoding,
        by,
        bom_bytes: detected.bom_bytes,
        breaks: seen.breaks,
        version: seen.version(),
        size,
    };
    let unit = Unit::of(decoding.encoding());
    let mut scan = Scan::new(source, seen.counts, unit, detected.bom_bytes);
    let place = locate(&mut scan, options)?;
    cut(&mut scan, found, options, place)
}

/// Reads a window of a file that is judged by samples.
fn read_large(
    source: &mut Source<'_>,
    file: &File,
    stat: &Stat,
    options: &ReadOptions,
    index: Option<&IndexCache>,
) -> Result<Window, Flaw> {
    let started = SystemTime::now();
    let stamp = Stamp::of(stat);
    let mut sample = Sample::of(source, options.encoding)?;
    let detected = sample.judge(options.encoding, options.fallback)?;
    let (decoding, _) = decoding(detected, options, stamp.size)?;
    let unit = Unit::of(decoding.encoding());
    let kept = index.and_then(|index| index.get(&stamp, unit));
    let mut scan = Scan::new(source, kept.unwrap_or_default(), unit, detected.bom_bytes);
    let window = large_window(&mut scan, &mut sample, detected, options, &stamp);
    if let Some(index) = index.filter(|_| stamp.is_settled(started))
        && Stamp::of(&rustix::fs::fstat(file.as_fd()).map_err(crate::Error::from)?) == stamp
    {
        index.keep(stamp, unit, scan.counts);
    }
    Ok(window?)
}

/// Cuts the window; where it does not fit what the ends of the file say, it is judged with them.
fn large_window(
    scan: &mut Scan<'_, '_>,
    sample: &mut Sample,
    mut detected: Detected,
    options: &ReadOptions,
    stamp: &Stamp,
) -> Result<Window> {
    let place = locate(scan, options)?;
    let mut is_judged_again = false;
    loop {
        let (decoding, by) = decoding(detected, options, stamp.size)?;
        let found = Found {
            decoding,
            by: match by {
                EncodingBy::Utf8 => EncodingBy::Sample,
                by => by,
            },
            bom_bytes: detected.bom_bytes,
            breaks: sample.breaks(),
            version: Version::of_stamp(stamp),
            size: stamp.size,
        };
        let offset = match cut(scan, found, options, place) {
            Ok(window) => return Ok(window),
            Err(Flaw::Failed(error)) => return Err(error),
            Err(Flaw::Misfit(offset)) => offset,
        };
        if options.encoding.is_some() {
            return Err(decoding.encoding().mismatch(offset));
        }
        if is_judged_again || !matches!(by, EncodingBy::Utf8 | EncodingBy::Guess) {
            return Err(Problem::NotText { offset }.into());
        }
        is_judged_again = true;
        sample.add_around(scan.source, place.offset, offset)?;
        detected = sample.judge(options.encoding, options.fallback)?;
    }
}

/// Returns how the file is to be read, or why not.
fn decoding(
    detected: Detected,
    options: &ReadOptions,
    size: u64,
) -> Result<(Decoding, EncodingBy)> {
    match detected.shape {
        Shape::Text { encoding, by } => Ok((Decoding::Strict(encoding), by)),
        Shape::Lossy { .. } if options.lossy => Ok((Decoding::Lossy, EncodingBy::Utf8)),
        Shape::Lossy { offset, .. } | Shape::Opaque { offset } => {
            Err(Problem::NotText { offset }.into())
        }
        Shape::Binary => Err(Problem::BinaryFile { size }.into()),
    }
}

/// Finds the first line wanted.
fn locate(scan: &mut Scan<'_, '_>, options: &ReadOptions) -> Result<Place> {
    let (line, column, limit) = match options.range {
        LineRange::All => (1, 1, None),
        LineRange::From {
            line,
            column,
            limit,
        } => (line, column, limit),
        LineRange::Tail { count } => match scan.known_total()? {
            Some(total) => (total.saturating_sub(count) + 1, 1, None),
            None => return locate_tail(scan, count, options),
        },
    };
    let offset = scan.line_start(line)?;
    Ok(Place {
        offset: offset.unwrap_or(scan.source.len()),
        column,
        limit,
        line: Some(line),
    })
}

fn locate_tail(scan: &mut Scan<'_, '_>, count: u64, options: &ReadOptions) -> Result<Place> {
    let mut place = Place {
        offset: scan.tail_start(count)?,
        column: 1,
        limit: None,
        line: None,
    };
    if options.number_lines {
        place.number(scan)?;
    }
    Ok(place)
}

/// Cuts the window that begins at `place`.
fn cut(
    scan: &mut Scan<'_, '_>,
    found: Found,
    options: &ReadOptions,
    mut place: Place,
) -> Result<Window, Flaw> {
    let len = scan.source.len();
    let is_stateful = found.decoding.encoding().is_stateful();
    if is_stateful {
        place.number(scan)?;
    }
    let mut cutter = Cutter::new(options, place.column, place.limit);
    let reached = match place.line {
        _ if place.offset >= len => len,
        Some(line) if is_stateful => {
            let start = scan.text_start();
            emit(scan.source, start, line - 1, found.decoding, &mut cutter)?
        }
        _ => emit(scan.source, place.offset, 0, found.decoding, &mut cutter)?,
    };
    let cut = cutter.finish();
    let eof = cut.next.is_none() && reached >= len;
    if !eof || !cut.cut_lines.is_empty() {
        place.number(scan)?;
    }
    let last = place.line.filter(|_| eof && cut.lines > 0);
    let total_lines = match scan.known_total()? {
        Some(total) => Some(total),
        None => last.map(|line| line + cut.lines - 1),
    };
    let end = End { total_lines, eof };
    Ok(assemble(found, place, cut, &end))
}

fn assemble(found: Found, place: Place, cut: Finished, end: &End) -> Window {
    let first = place.line.unwrap_or(1);
    let stopped = cut.next.map(|next| Next {
        line: first + next.line,
        column: next.column,
    });
    let after = Next {
        line: first + cut.lines,
        column: if cut.lines == 0 { place.column } else { 1 },
    };
    let cut_line = |cut: CutLine| CutLine {
        line: first + cut.line,
        ..cut
    };
    Window {
        first_line: place.line.filter(|_| cut.lines > 0),
        returned_lines: cut.lines,
        total_lines: end.total_lines,
        eof: end.eof,
        format: TextFormat {
            encoding: found.decoding.encoding(),
            bom: found.bom_bytes > 0,
            eol: Eol::from(found.breaks + cut.breaks),
        },
        encoding_by: found.by,
        invalid_bytes: cut.replaced,
        truncated: stopped.is_some() || !cut.cut_lines.is_empty(),
        cut_lines: cut.cut_lines.into_iter().map(cut_line).collect(),
        next: (!end.eof).then(|| stopped.unwrap_or(after)),
        version: found.version,
        size: found.size,
        text: cut.text,
    }
}

impl Place {
    /// Counts the lines before the first, where that has not been done.
    fn number(&mut self, scan: &mut Scan<'_, '_>) -> Result<()> {
        if self.line.is_none() {
            self.line = Some(scan.line_at(self.offset)?);
        }
        Ok(())
    }
}

fn changing() -> crate::Error {
    let source = std::io::Error::from(std::io::ErrorKind::ResourceBusy);
    Problem::Io {
        source,
        retry: true,
    }
    .into()
}

fn check(range: &LineRange) -> Result<()> {
    let field = match range {
        LineRange::From { line: 0, .. } => "line",
        LineRange::From { column: 0, .. } => "column",
        _ => return Ok(()),
    };
    Err(Problem::invalid(field, "it counts from 1").into())
}

fn check_file(stat: &Stat, options: &ReadOptions) -> Result<()> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => check_size(u64::try_from(stat.st_size).unwrap_or(0), options),
        FileType::Directory => Err(Problem::IsADirectory.into()),
        _ => Err(Problem::NotAFile.into()),
    }
}

fn check_size(size: u64, options: &ReadOptions) -> Result<()> {
    match options.max_file_bytes {
        Some(limit) if size > limit => Err(Problem::TooLarge {
            size,
            limit,
            hint: "read a part of it, by first line and number of lines",
        }
        .into()),
        _ => Ok(()),
    }
}
