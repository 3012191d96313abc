//! Definitions by parsing: grammars, and queries that name definitions alone.

use std::cell::Cell;
use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tree_sitter::{
    Language, Node, ParseOptions, ParseState, Parser, Query, QueryCursor, QueryCursorOptions,
    QueryCursorState, StreamingIterator, Tree,
};

use super::DefinitionKind;
use super::language::Language as Rules;
use super::mask::masked;
use super::rules::Found;
use super::sources::{SOURCES, Source};
use crate::cancel::Cancel;

/// The most that is parsed, in bytes; the rules serve longer files.
const MAX_PARSE_BYTES: usize = 256 * 1024;
/// For how many bytes the parser may report once, which it does in a hundred steps. It needs some 50
/// to 100 for source text. A text that it cannot make sense of ends so, on every machine alike.
const BYTES_PER_REPORT: usize = 32;
const MIN_REPORTS: usize = 20;
/// The time after which a parse is given up, and a query of its tree. Source text takes a tenth of it
/// at most.
const MAX_TIME: Duration = Duration::from_secs(1);
/// The most brackets that may be open at once in what is parsed.
const MAX_OPEN: usize = 200;
/// The most operators in one statement of what is parsed. Where `<` may open a bracket or compare, a
/// parser keeps both ways open, and takes a thousand bytes of memory for each byte of such a text.
const MAX_OPERATORS: usize = 8 * 1024;
/// How much the parser gets at once. It asks again for what it goes back to, as from a comment that
/// never ends.
const CHUNK_BYTES: usize = 1024;
/// How often it may ask for each chunk.
const READS_PER_CHUNK: usize = 64;
const MIN_READS: usize = 1000;
/// How deep a tree may be: each step of a query goes back up to the root.
const MAX_DEPTH: usize = 1000;
/// How many matches a query may have begun at a time.
const MAX_BEGUN: u32 = 8 * 1024;
/// The most steps that are taken to look at what is above nodes.
const MAX_STEPS: u32 = 4_000_000;
/// The most nodes that a declarator is followed through.
const MAX_DECLARATORS: usize = 64;

/// What a parse says of the places of a name.
pub(super) struct Parsed {
    /// The places that are definitions.
    pub(super) found: Vec<Found>,
    /// The places that the parser could make no sense of.
    pub(super) unclear: Vec<Range<usize>>,
}

/// Returns what the grammar of `language` says of the places, which are in order; `None` when the
/// language has no grammar or the parse would take too long.
pub(super) fn parsed(
    text: &str,
    language: &Rules,
    places: &[Range<usize>],
    cancel: &Cancel,
) -> Option<Parsed> {
    let source = SOURCES
        .iter()
        .position(|source| source.name == language.name)?;
    if text.len() > MAX_PARSE_BYTES || is_tangled(text, language) {
        return None;
    }
    let (source, grammar) = (SOURCES.get(source)?, GRAMMARS.get(source)?);
    let grammar = grammar.get_or_init(|| Grammar::new(source)).as_ref()?;
    let tree = grammar.parse(text, cancel)?;
    if is_deeper(&tree, MAX_DEPTH) {
        return None;
    }
    let judge = Judge {
        grammar,
        text,
        tree: &tree,
        places,
        steps: Cell::new(MAX_STEPS),
    };
    judge.judge(cancel)
}

/// Returns whether brackets stand in each other deeper, or statements go on longer, than in any
/// source text.
fn is_tangled(text: &str, language: &Rules) -> bool {
    let (mut open, mut operators) = (0_usize, 0_usize);
    masked(text.as_bytes(), language.syntax).iter().any(|byte| {
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        match byte {
            b';' | b'{' | b'}' => operators = 0,
            b'<' | b'>' | b'?' | b'!' | b'&' | b'*' | b'+' | b'-' | b'/' | b'%' | b'~' => {
                operators += 1;
            }
            _ => {}
        }
        open > MAX_OPEN || operators > MAX_OPERATORS
    })
}

/// Returns whether a leaf of the tree lies more than `most` levels below the root.
fn is_deeper(tree: &Tree, most: usize) -> bool {
    let mut cursor = tree.walk();
    let mut depth = 0_usize;
    while depth <= most {
        if cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
            depth -= 1;
        }
    }
    true
}

/// Compiled on a language's first hit, for some take as long as many files.
static GRAMMARS: [OnceLock<Option<Grammar>>; SOURCES.len()] =
    [const { OnceLock::new() }; SOURCES.len()];

/// A grammar with its query.
struct Grammar {
    language: Language,
    query: Query,
    /// What each capture of the query means.
    captures: Vec<Capture>,
    bodies: &'static [&'static str],
}

/// What a capture says of the name that it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Capture {
    /// It is defined.
    Kind(DefinitionKind),
    /// It is defined unless it stands in the body of a function (`@variable.outer`).
    OuterKind(DefinitionKind),
    /// No name in this node is defined by what follows in the query (`@none`).
    Nothing,
    /// It serves a predicate (`@_word`).
    Word,
}

impl Grammar {
    fn new(source: &Source) -> Option<Self> {
        let language = (source.language)();
        let query = Query::new(&language, source.query).ok()?;
        let captures = query.capture_names().iter().map(|name| Capture::new(name));
        Some(Self {
            captures: captures.collect::<Option<_>>()?,
            language,
            query,
            bodies: source.bodies,
        })
    }

    fn parse(&self, text: &str, cancel: &Cancel) -> Option<Tree> {
        let mut parser = Parser::new();
        parser.set_language(&self.language).ok()?;
        let bytes = text.as_bytes();
        let reads = Cell::new(0_usize);
        let most_reads = MIN_READS + bytes.len() / CHUNK_BYTES * READS_PER_CHUNK;
        let mut read = |at: usize, _| {
            reads.set(reads.get() + 1);
            let end = if reads.get() > most_reads {
                at
            } else {
                at + CHUNK_BYTES
            };
            bytes.get(at..end.min(bytes.len())).unwrap_or_default()
        };
        let start = Instant::now();
        let mut reports = MIN_REPORTS + bytes.len() / BYTES_PER_REPORT;
        let mut progress = |_: &ParseState| {
            reports = reports.saturating_sub(1);
            let is_slow = reports == 0 || reads.get() > most_reads || start.elapsed() > MAX_TIME;
            if is_slow || cancel.is_cancelled() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let tree = parser.parse_with_options(&mut read, None, Some(options))?;
        (reads.get() <= most_reads).then_some(tree)
    }
}

/// A parsed text in front of a grammar's query.
struct Judge<'a> {
    grammar: &'a Grammar,
    text: &'a str,
    tree: &'a Tree,
    places: &'a [Range<usize>],
    /// How many more steps down the tree may be taken to look at what is above a node.
    steps: Cell<u32>,
}

impl<'a> Judge<'a> {
    fn judge(&self, cancel: &Cancel) -> Option<Parsed> {
        let (mut found, mut unclear) = (Vec::new(), Vec::new());
        for (place, kind) in self.places.iter().zip(self.kinds(cancel)?) {
            match kind {
                Some((_, Capture::Kind(kind) | Capture::OuterKind(kind))) => {
                    found.push((place.clone(), kind));
                }
                None if self.is_unclear(place) => unclear.push(place.clone()),
                _ => {}
            }
        }
        Some(Parsed { found, unclear })
    }

    /// Returns for each place the first pattern of the query that holds it, and its capture; `None`
    /// when that takes too long.
    fn kinds(&self, cancel: &Cancel) -> Option<Vec<Option<(usize, Capture)>>> {
        let mut kinds = vec![None; self.places.len()];
        let (Some(first), Some(last)) = (self.places.first(), self.places.last()) else {
            return Some(kinds);
        };
        let mut cursor = QueryCursor::new();
        cursor.set_byte_range(first.start..last.end);
        cursor.set_match_limit(MAX_BEGUN);
        let (query, root) = (&self.grammar.query, self.tree.root_node());
        let start = Instant::now();
        let is_over = Cell::new(false);
        let mut progress = |_: &QueryCursorState| {
            if start.elapsed() > MAX_TIME || cancel.is_cancelled() {
                is_over.set(true);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        let options = QueryCursorOptions::new().progress_callback(&mut progress);
        let text = self.text.as_bytes();
        let mut matches = cursor.matches_with_options(query, root, text, options);
        while let Some(found) = matches.next() {
            let pattern = found.pattern_index;
            for captured in found.captures() {
                let capture = self.grammar.captures.get(captured.index as usize);
                let capture = capture.copied().unwrap_or(Capture::Word);
                let held = self.held(capture, captured.node);
                for kind in kinds.get_mut(held).unwrap_or_default() {
                    if kind.is_none_or(|(other, _)| pattern < other) {
                        *kind = Some((pattern, capture));
                    }
                }
            }
        }
        drop(matches);
        let is_whole = !is_over.get() && !cursor.did_exceed_match_limit();
        is_whole.then_some(kinds)
    }

    /// Returns the indices of the places that the captured node names.
    fn held(&self, capture: Capture, node: Node<'a>) -> Range<usize> {
        match capture {
            Capture::Word => 0..0,
            Capture::Nothing => {
                let before = |place: &Range<usize>| place.start < node.start_byte();
                let within = |place: &Range<usize>| place.end <= node.end_byte();
                let start = self.places.partition_point(before);
                start..self.places.partition_point(within).max(start)
            }
            Capture::Kind(kind) | Capture::OuterKind(kind) => self.named(capture, node, kind),
        }
    }

    fn named(&self, capture: Capture, node: Node<'a>, kind: DefinitionKind) -> Range<usize> {
        let is_outer = capture == Capture::OuterKind(kind);
        let name = name_in(node, kind, self.text).unwrap_or_default();
        let start = |place: &Range<usize>| place.start;
        match self.places.binary_search_by_key(&name.start, start) {
            Ok(at)
                if self.places.get(at) == Some(&name)
                    && !(is_outer && self.is_in_body(node))
                    && !self.is_doubtful(node, kind) =>
            {
                at..at + 1
            }
            _ => 0..0,
        }
    }

    fn is_in_body(&self, node: Node<'a>) -> bool {
        let bodies = self.grammar.bodies;
        self.any_above(node.start_byte(), |above| {
            let is_body = bodies.contains(&above.kind());
            (is_body || above == node).then_some(is_body && above != node)
        })
    }

    /// Returns whether the parser made a variable of something else that it could not make sense of.
    fn is_doubtful(&self, node: Node<'a>, kind: DefinitionKind) -> bool {
        use DefinitionKind::{Field, Variable};
        matches!(kind, Field | Variable)
            && matches!(node.kind(), "identifier" | "field_identifier")
            && self.any_above(node.start_byte(), |above| is_broken(&above).then_some(true))
    }

    /// Returns whether the place stands in what the parser skipped, or in the tokens of a macro.
    fn is_unclear(&self, place: &Range<usize>) -> bool {
        self.any_above(place.start, |node| {
            let name = node.child_by_field_name("name");
            let is_nameless = name.is_some_and(|name| name.is_missing());
            let is_skipped = node.is_error() || node.kind() == "token_tree";
            (is_skipped || is_nameless || is_broken(&node)).then_some(true)
        })
    }

    /// Goes down to the byte at `at` and returns the first answer that `judge` has for a node on
    /// the way, or `false`. From the root, because every step up would cost a way down.
    fn any_above(&self, at: usize, judge: impl Fn(Node<'a>) -> Option<bool>) -> bool {
        let mut cursor = self.tree.walk();
        while let Some(left) = self.steps.get().checked_sub(1) {
            self.steps.set(left);
            if let Some(answer) = judge(cursor.node()) {
                return answer;
            }
            if cursor.goto_first_child_for_byte(at).is_none() {
                break;
            }
        }
        false
    }
}

impl Capture {
    fn new(name: &str) -> Option<Self> {
        if name.starts_with('_') {
            return Some(Self::Word);
        }
        if name == "none" {
            return Some(Self::Nothing);
        }
        let (kind, is_outer) = match name.strip_suffix(".outer") {
            Some(kind) => (kind, true),
            None => (name, false),
        };
        let kind = DefinitionKind::parse(kind)?;
        Some(if is_outer {
            Self::OuterKind(kind)
        } else {
            Self::Kind(kind)
        })
    }
}

/// Returns the name that a captured node holds: it is followed through declarators and qualified
/// names to the innermost one.
fn name_in(node: Node<'_>, kind: DefinitionKind, text: &str) -> Option<Range<usize>> {
    use DefinitionKind::{Field, Variable};
    let mut node = node;
    for _ in 0..MAX_DECLARATORS {
        let inner = node.child_by_field_name("declarator");
        let is_prototype = node.kind() == "function_declarator"
            && inner.is_none_or(|inner| inner.kind() != "parenthesized_declarator");
        if is_prototype && matches!(kind, Variable | Field) {
            return None;
        }
        let Some(inner) = inner
            .or_else(|| node.child_by_field_name("name"))
            .or_else(|| node.child_by_field_name("property"))
            .or_else(|| last_declarator(node))
        else {
            break;
        };
        node = inner;
    }
    let range = node.byte_range();
    // The mark of a private name, or of a symbol, is not part of it.
    let is_marked = text.get(range.clone())?.starts_with(['#', ':']);
    Some(range.start + usize::from(is_marked)..range.end)
}

/// Some declarators hold the next one in no field.
fn last_declarator(node: Node<'_>) -> Option<Node<'_>> {
    let is_plain = matches!(
        node.kind(),
        "reference_declarator"
            | "parenthesized_declarator"
            | "attributed_declarator"
            | "variadic_declarator"
    );
    let count = u32::try_from(node.named_child_count()).ok()?;
    is_plain.then(|| node.named_child(count.checked_sub(1)?))?
}

fn is_broken(node: &Node<'_>) -> bool {
    matches!(node.kind(), "declaration" | "field_declaration") && node.has_error()
}

#[cfg(test)]
pub(super) fn grammars_that_fail() -> Vec<String> {
    let failed = SOURCES
        .iter()
        .filter(|source| Grammar::new(source).is_none());
    failed
        .map(
            |source| match Query::new(&(source.language)(), source.query) {
                Ok(_) => format!("{}: a capture", source.name),
                Err(error) => format!("{}: {error}", source.name),
            },
        )
        .collect()
}
