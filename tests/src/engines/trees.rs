//! Trees and searches.

use std::ops::ControlFlow;

use fs_core::{
    EntryKind, Order, Query, RelPath, Result, SKIP_LIST, Skip, Skips, Syntax, Target, Visited,
    WalkOptions, Walked, one_line,
};
use fs_sandbox::Searched;
use serde_json::{Value, json};

use super::{Engines, encoding};
use crate::front_end::{Block, Done, Search, Walk, Within};

/// The bytes of an answer that is asked for by number, and of one that is not.
const BYTES: [usize; 2] = [1 << 20, 64 << 10];

impl Engines {
    pub(super) fn tree(&self, walk: &Walk) -> Result<Done> {
        let limit = usize::try_from(walk.max_entries).unwrap();
        let (mut names, mut passed, mut rows) = (Vec::new(), Vec::new(), 0);
        let mut visit = |entry: &Visited<'_>| {
            if let Some(skip) = entry.skip {
                passed.push(json!({"name": entry.name.to_string_lossy(), "reason": skip.name()}));
            }
            if is_shown(entry, walk.include_hidden) {
                rows += 1;
                if rows > limit {
                    return ControlFlow::Break(());
                }
                if entry.skip.is_none() {
                    names.push(row(entry));
                }
            }
            ControlFlow::Continue(())
        };
        let walked = match walk.max_depth {
            0 => self
                .workspace
                .open_dir(&walk.path)
                .map(|_| Walked::default()),
            _ => self.workspace.walk(&walk.path, &options(walk), &mut visit),
        }?;
        let facts = json!({
            "entries": rows.min(limit),
            "truncated": rows > limit,
            "skipped": counts(&walked.skipped),
            "passed_over": passed,
            "unreadable": walked.unreadable.iter().map(RelPath::to_string).collect::<Vec<_>>(),
        });
        Ok(Done {
            names,
            facts,
            ..Done::default()
        })
    }

    pub(super) fn hits(&self, search: &Search) -> Result<Done> {
        let searched = self.workspace.search(&search.path, &self.query(search)?)?;
        let found = &searched.found;
        let names = found.names.iter().map(|name| {
            let mark = if name.kind == EntryKind::Dir { "/" } else { "" };
            format!("{}{mark}", self.told(&searched, &name.path))
        });
        let facts = json!({
            "results": found.hits,
            "files": found.files,
            "truncated": found.cut.map(|cut| format!("{cut:?}").to_lowercase()),
            "skipped": counts(&found.skipped),
            "unreadable": found.unreadable.iter().map(|path| self.told(&searched, path)).collect::<Vec<_>>(),
            "columns": found.blocks.iter().flat_map(fs_core::Block::hits).map(|(_, line)| line.column).collect::<Vec<_>>(),
            "encodings": found.blocks.iter().map(|block| block.encoding.map(fs_core::Encoding::name)).collect::<Vec<_>>(),
            "cut_lines": found.blocks.iter().flat_map(|block| &block.lines).filter(|line| line.is_cut).count(),
        });
        Ok(Done {
            names: names.collect(),
            blocks: found
                .blocks
                .iter()
                .map(|block| self.block(&searched, block))
                .collect(),
            facts,
            ..Done::default()
        })
    }

    fn query(&self, search: &Search) -> Result<Query> {
        let fallback = match encoding(search.encoding.as_deref())? {
            Some(encoding) => fs_core::Fallback::Encoding(encoding),
            None => self.fallback,
        };
        Ok(Query {
            pattern: search.query.clone(),
            syntax: if search.regex {
                Syntax::Regex
            } else {
                Syntax::Literal
            },
            target: match search.within {
                Within::Text => Target::Text,
                Within::Names => Target::Names,
                Within::Definitions => Target::Definitions,
            },
            file_glob: search.file_glob.clone(),
            context_lines: usize::try_from(search.context_lines).unwrap(),
            max_results: usize::try_from(search.max_results.unwrap_or(50)).unwrap(),
            max_bytes: BYTES[usize::from(search.max_results.is_none())],
            fallback,
            walk: WalkOptions {
                include_hidden: search.include_hidden,
                ..WalkOptions::default()
            },
            ..Query::default()
        })
    }

    /// Returns a found path as a caller can send it back.
    fn told(&self, searched: &Searched, path: &RelPath) -> String {
        let roots = self.workspace.roots();
        match &searched.root {
            None => format!("/{path}"),
            Some(root) if roots.first().is_some_and(|first| first.name == *root) => {
                path.to_string()
            }
            Some(root) => format!("{root}:{path}"),
        }
    }

    fn block(&self, searched: &Searched, block: &fs_core::Block) -> Block {
        let lines = block.lines.iter();
        Block {
            path: self.told(searched, &block.path),
            first_line: block.first_line,
            lines: lines
                .map(|line| (line.text.clone(), line.column.is_some()))
                .collect(),
        }
    }
}

fn options(walk: &Walk) -> WalkOptions {
    WalkOptions {
        order: Order::FoldersFirst,
        max_depth: Some(usize::try_from(walk.max_depth).unwrap()),
        include_hidden: walk.include_hidden,
        respect_ignore: false,
        include_backups: walk.include_hidden,
        skip_list: if walk.include_hidden { &[] } else { SKIP_LIST },
        ..WalkOptions::default()
    }
}

/// What a reader of the tree sees: not what is hidden, but folders that are not entered.
fn is_shown(entry: &Visited<'_>, include_hidden: bool) -> bool {
    let is_dotted = entry.name.as_encoded_bytes().starts_with(b".");
    let is_left_out = matches!(
        entry.skip,
        Some(Skip::Hidden | Skip::Ignored | Skip::Backup)
    );
    !is_left_out && (include_hidden || !is_dotted)
}

fn row(entry: &Visited<'_>) -> String {
    let mark = match entry.kind {
        EntryKind::Dir => "/",
        EntryKind::Link => "@",
        EntryKind::File | EntryKind::Other => "",
    };
    let indent = "  ".repeat(entry.depth - 1);
    format!("{indent}{}{mark}", one_line(&entry.name.to_string_lossy()))
}

fn counts(skips: &Skips) -> Value {
    let each = skips.iter();
    each.map(|(skip, count)| (skip.name().to_owned(), json!(count)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}
