//! Plans against the quadratic model.

use fs_core::{Fallback, Result};
use fs_edit::{Edit, EolMode, Plan, Positional, Request, Target};

use crate::input::Input;
use crate::model::edits::{Charset, apply};
use crate::model::positions::apply_position;

/// The model is quadratic.
const MAX_SOURCE: usize = 2048;

/// A plan makes what the model makes, or fails with its code; and whatever the bytes are, the same
/// request gives the same.
pub fn plan(data: &[u8]) {
    let mut input = Input::new(data);
    let (kind, eol) = (input.byte(), eol(input.byte()));
    let recipes = Recipe::several(kind, &mut input);
    let source = input.rest();
    let source = source.get(..MAX_SOURCE).unwrap_or(source);
    let target = match recipes {
        Recipes::Edits(recipes) => {
            Target::Text(recipes.into_iter().map(|it| it.edit(source)).collect())
        }
        Recipes::Position(position) => Target::Position(position),
    };
    let fallback = if kind & 0x40 == 0 {
        Fallback::None
    } else {
        Fallback::Auto
    };
    let request = Request {
        target,
        eol,
        encoding: None,
        fallback,
    };
    let planned = fs_edit::plan(source, &request);
    check_lengths(source, &planned);
    let charset = charset(source).filter(|_| fallback == Fallback::None);
    let Some(charset) = charset.filter(|_| request.check().is_ok()) else {
        return;
    };
    let wanted = match &request.target {
        Target::Text(edits) => apply(source, charset, edits, eol),
        Target::Position(position) if charset != Charset::Opaque => {
            apply_position(source, charset, position, eol)
        }
        Target::Position(_) => return,
    };
    let planned = planned.map(|plan| plan.patch().apply(source));
    let planned = planned.map_err(|error| error.code());
    assert_eq!(
        planned,
        wanted.map_err(|no| no.code),
        "{request:?} in {source:?}"
    );
}

/// A plan's result is as long as it says, and is another one.
fn check_lengths(source: &[u8], planned: &Result<Plan>) {
    let Ok(plan) = planned else { return };
    let after = plan.patch().apply(source);
    assert_eq!(after.len() as u64, plan.patch().result_len());
    assert_ne!(after, source);
    assert!(plan.replacements() > 0);
}

/// Returns what the model takes the bytes for, where it has a word for them.
fn charset(source: &[u8]) -> Option<Charset> {
    let found = fs_core::detect(source, None, Fallback::None).ok()?;
    if source.starts_with(&[0xff, 0xfe]) || source.starts_with(&[0xfe, 0xff]) {
        let encoding = found.encoding()?;
        let little = encoding == fs_core::Encoding::UTF_16LE;
        return Some(if little {
            Charset::Utf16Le
        } else {
            Charset::Utf16Be
        });
    }
    if source.contains(&0) {
        return None;
    }
    if std::str::from_utf8(source).is_ok() {
        return Some(Charset::Utf8);
    }
    (found.bom_bytes == 0).then_some(Charset::Opaque)
}

fn eol(byte: u8) -> EolMode {
    match byte % 8 {
        0 => EolMode::Exact,
        1 => EolMode::Lf,
        2 => EolMode::CrLf,
        _ => EolMode::Auto,
    }
}

enum Recipes {
    Edits(Vec<Recipe>),
    Position(Positional),
}

/// An edit, before its text is cut from the source.
enum Recipe {
    Literal(Edit),
    Cut {
        start: u64,
        len: u8,
        new: String,
        count: i64,
    },
}

impl Recipe {
    fn several(kind: u8, input: &mut Input<'_>) -> Recipes {
        if kind & 0x80 != 0 {
            return Recipes::Position(position(kind, input));
        }
        let edits = (0..=kind % 4).map(|_| Self::one(input));
        Recipes::Edits(edits.collect())
    }

    fn one(input: &mut Input<'_>) -> Self {
        let kind = input.byte();
        let count = match kind >> 1 & 7 {
            0 => -1,
            1 => 2,
            2 => 3,
            3 => 0,
            _ => 1,
        };
        if kind & 1 == 0 {
            let (start, len, new) = (input.number(), input.byte(), input.text());
            return Self::Cut {
                start,
                len,
                new,
                count,
            };
        }
        let (old, new) = (input.text(), input.text());
        Self::Literal(Edit {
            old,
            new,
            expected_count: count,
        })
    }

    /// A cut falls on characters where the source is UTF-8.
    fn edit(self, source: &[u8]) -> Edit {
        match self {
            Self::Literal(edit) => edit,
            Self::Cut {
                start,
                len,
                new,
                count,
            } => {
                let start = usize::try_from(start).unwrap_or(0) % source.len().max(1);
                let rest = source.get(start..).unwrap_or_default();
                let text = String::from_utf8_lossy(rest.get(..256).unwrap_or(rest));
                let old = text.chars().skip_while(|c| *c == '\u{fffd}');
                Edit {
                    old: old.take(usize::from(len % 16) + 1).collect(),
                    new,
                    expected_count: count,
                }
            }
        }
    }
}

fn position(kind: u8, input: &mut Input<'_>) -> Positional {
    let mut place = || u64::from(input.byte() % 16);
    let (line, column, end_line, end_column) = (place(), place(), place(), place());
    let text = input.text();
    match kind % 3 {
        0 => Positional::Insert { line, column, text },
        1 => Positional::ReplaceLine { line, text },
        _ => Positional::ReplaceRange {
            line,
            column,
            end_line,
            end_column,
            text,
        },
    }
}
