//! The libraries, called directly with the tool server's own choices where they have one.

mod trees;

use std::ffi::OsString;

use fs_core::{
    Encoding, Entry, EntryKind, Error, Fallback, Field, LineRange, ListOptions, Position,
    ReadOptions, Result, Version, Window,
};
use fs_edit::{EditOptions, Edited, Request};
use fs_sandbox::{
    Backup, Breaks, Change, CreateDirOptions, HardLinks, HistoryLimits, Metadata, Rights,
    TransferOptions, Transferred, UndoOptions, UpdateOptions, Workspace, WriteMode, WriteOptions,
    Written,
};
use serde_json::{Map, Value, json};

use crate::front_end::{
    Answer, Done, Edit, FrontEnd, List, Mode, NewDir, Op, Order, Range, Read, Refusal, Settings,
    Transfer, Write,
};

/// The engines over one workspace.
#[derive(Debug)]
pub struct Engines {
    /// The workspace.
    pub workspace: Workspace,
    fallback: Fallback,
    max_read_bytes: Option<u64>,
}

impl FrontEnd for Engines {
    const NAME: &'static str = "engines";

    fn start(settings: &Settings) -> Self {
        let fallback = fallback(settings.fallback.as_deref());
        Self {
            workspace: workspace(settings),
            fallback,
            max_read_bytes: settings.max_read_bytes,
        }
    }

    fn lacks(_op: &Op) -> Option<&'static str> {
        None
    }

    fn call(&self, op: &Op) -> Answer {
        answer(match op {
            Op::Read(read) => self.read_window(read),
            Op::Write(write) => self.write_text(write),
            Op::Edit(edit) => self.edit_text(edit),
            Op::List(list) => self.list_names(list),
            Op::Tree(walk) => self.tree(walk),
            Op::Search(search) => self.hits(search),
            Op::Copy(transfer) => self.transfer(transfer, Workspace::copy),
            Op::Move(transfer) => self.transfer(transfer, Workspace::rename),
            Op::Stat(path) => self.workspace.symlink_metadata(path).map(stat_done),
            Op::CreateDir(dir) => self.create_dir(dir),
            Op::Remove(path) => self.workspace.remove_file(path).map(|()| Done::default()),
            Op::Undo(path) => {
                let undone = self.workspace.undo(path, &UndoOptions::default());
                undone.map(|_| Done::default())
            }
        })
    }
}

impl Engines {
    fn read_window(&self, read: &Read) -> Result<Done> {
        let options = ReadOptions {
            range: match read.range {
                Range::All => LineRange::All,
                Range::From {
                    line,
                    column,
                    limit,
                } => LineRange::From {
                    line,
                    column,
                    limit,
                },
                Range::Tail(count) => LineRange::Tail { count },
            },
            encoding: encoding(read.encoding.as_deref())?,
            fallback: self.fallback,
            lossy: true,
            max_bytes: read.max_bytes,
            max_line_chars: read.max_line_chars,
            max_file_bytes: self.max_read_bytes,
            number_lines: true,
            ..ReadOptions::default()
        };
        self.workspace.read(&read.path, &options).map(shown)
    }

    fn write_text(&self, write: &Write) -> Result<Done> {
        let options = WriteOptions {
            mode: match write.mode {
                Mode::Overwrite => WriteMode::Overwrite,
                Mode::Append => WriteMode::Append,
                Mode::Insert(line) => WriteMode::InsertBefore { line },
                Mode::Create => WriteMode::CreateNew,
            },
            encoding: encoding(write.encoding.as_deref())?,
            fallback: self.fallback,
            breaks: Breaks::Keep,
            create_dirs: !matches!(write.mode, Mode::Insert(_)),
            update: update(write.if_version.as_deref(), Backup::Off)?,
        };
        self.workspace
            .write(&write.path, &write.text, &options)
            .map(|written| written_done(&written))
    }

    fn edit_text(&self, edit: &Edit) -> Result<Done> {
        let request = Request {
            target: edit.target.clone(),
            eol: edit.eol,
            encoding: encoding(edit.encoding.as_deref())?,
            fallback: self.fallback,
        };
        let backup = if edit.backup {
            Backup::Single
        } else {
            Backup::Off
        };
        let update = update(edit.if_version.as_deref(), backup)?;
        let options = EditOptions {
            update,
            dry_run: edit.dry_run,
        };
        fs_edit::edit_file(&self.workspace, &edit.path, &request, &options)
            .map(|edited| edited_done(&edited))
    }

    fn list_names(&self, list: &List) -> Result<Done> {
        let after = list.after.as_ref().map(|name| Position {
            name: OsString::from(name.trim_end_matches('/')),
            is_dir: name.ends_with('/'),
        });
        let options = ListOptions {
            order: match list.order {
                Order::FoldersFirst => fs_core::Order::FoldersFirst,
                Order::Own | Order::Name => fs_core::Order::Name,
            },
            limit: list.limit.map(|limit| usize::try_from(limit).unwrap()),
            after,
            sizes: true,
            ..ListOptions::default()
        };
        let listing = self.workspace.list(&list.path, &options)?;
        let next = listing.next.map(|next| {
            format!(
                "{}{}",
                next.name.to_string_lossy(),
                if next.is_dir { "/" } else { "" }
            )
        });
        let facts = json!({"total": listing.total, "truncated": next.is_some(), "next": next});
        let names = listing.entries.iter().map(entry_name).collect();
        Ok(Done {
            names,
            facts,
            ..Done::default()
        })
    }

    fn transfer(&self, transfer: &Transfer, go: Go) -> Result<Done> {
        let options = TransferOptions {
            overwrite: transfer.overwrite,
            ..TransferOptions::default()
        };
        let done = go(&self.workspace, &transfer.from, &transfer.to, &options)?;
        let facts = json!({
            "type": kind_name(done.kind),
            "size": done.size,
            "replaced": done.replaced,
            "parted_links": done.parted_links,
            "warnings": done.warnings,
        });
        Ok(Done {
            facts,
            ..Done::default()
        })
    }

    fn create_dir(&self, dir: &NewDir) -> Result<Done> {
        let options = CreateDirOptions {
            parents: dir.parents,
            exist_ok: dir.exist_ok,
        };
        let change = self.workspace.create_dir_with(&dir.path, options)?;
        Ok(Done {
            facts: json!({"created": change == Change::Created}),
            ..Done::default()
        })
    }
}

/// A copy or a move.
type Go = fn(&Workspace, &str, &str, &TransferOptions) -> Result<Transferred>;

fn workspace(settings: &Settings) -> Workspace {
    let mut builder = Workspace::builder()
        .outside(rights(&settings.outside))
        .history(
            &crate::binary::state().join("postern"),
            HistoryLimits::default(),
        );
    for root in &settings.roots {
        builder = builder.root(&root.name, &root.path, rights(&root.rights));
    }
    for glob in &settings.deny {
        builder = builder.deny(glob);
    }
    builder = match settings.hard_links.as_deref() {
        None => builder,
        Some("refuse") => builder.hard_links(HardLinks::Refuse),
        Some("in-place") => builder.hard_links(HardLinks::InPlace),
        Some(_) => builder.hard_links(HardLinks::Break),
    };
    builder
        .one_filesystem(settings.one_filesystem)
        .build()
        .expect("a workspace")
}

fn rights(names: &[String]) -> Rights {
    names
        .iter()
        .fold(Rights::NONE, |rights, name| match name.as_str() {
            "read" => rights | Rights::READ,
            "edit" => rights | Rights::EDIT,
            "delete" => rights | Rights::DELETE,
            other => panic!("no right {other}"),
        })
}

fn fallback(name: Option<&str>) -> Fallback {
    match name {
        None | Some("auto") => Fallback::Auto,
        Some("none") => Fallback::None,
        Some("gbk") => Fallback::Encoding(Encoding::GBK),
        Some(label) => Fallback::Encoding(Encoding::for_label(label).expect("a label")),
    }
}

fn encoding(label: Option<&str>) -> Result<Option<Encoding>> {
    label.map(Encoding::for_label).transpose()
}

fn update(if_version: Option<&str>, backup: Backup) -> Result<UpdateOptions> {
    let if_version = if_version.map(Version::parse).transpose()?;
    Ok(UpdateOptions {
        if_version,
        backup,
        ..UpdateOptions::default()
    })
}

fn entry_name(entry: &Entry) -> String {
    let name = fs_core::one_line(&entry.name.to_string_lossy());
    match entry.kind {
        EntryKind::Dir => format!("{name}/"),
        EntryKind::Link => format!("{name}@"),
        EntryKind::File | EntryKind::Other => name,
    }
}

fn kind_name(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Dir => "directory",
        EntryKind::File => "file",
        EntryKind::Link => "link",
        EntryKind::Other => "special",
    }
}

fn stat_done(found: Metadata) -> Done {
    Done {
        facts: json!({"type": kind_name(found.kind), "size": found.size}),
        ..Done::default()
    }
}

fn shown(window: Window) -> Done {
    let cut = |line: &fs_core::CutLine| json!({"line": line.line, "shown_chars": line.shown_chars, "line_bytes": line.line_bytes, "next_column": line.next_column});
    let next = window
        .next
        .map(|next| json!({"line": next.line, "column": next.column}));
    let facts = json!({
        "first_line": window.first_line,
        "returned_lines": window.returned_lines,
        "total_lines": window.total_lines,
        "eof": window.eof,
        "encoding": window.format.encoding.name(),
        "encoding_by": window.encoding_by.name(),
        "bom": window.format.bom,
        "eol": window.format.eol.name(),
        "lossy": window.is_lossy(),
        "invalid_bytes": window.invalid_bytes,
        "truncated": window.truncated,
        "cut_lines": window.cut_lines.iter().map(cut).collect::<Vec<_>>(),
        "next": next,
        "version": window.version.as_str(),
    });
    Done {
        text: window.text,
        facts,
        ..Done::default()
    }
}

fn written_done(written: &Written) -> Done {
    let facts = json!({
        "version": written.version.as_str(),
        "size": written.size,
        "encoding": written.format.map(|format| format.encoding.name()),
        "parted_links": written.parted_links,
        "change": format!("{:?}", written.change).to_lowercase(),
    });
    Done {
        facts,
        ..Done::default()
    }
}

fn edited_done(edited: &Edited) -> Done {
    let facts = json!({
        "replacements": edited.replacements,
        "lines_changed": edited.lines_changed,
        "version": edited.version.as_str(),
        "backup": edited.backup,
        "diff": edited.diff,
        "parted_links": edited.parted_links,
    });
    Done {
        facts,
        ..Done::default()
    }
}

fn answer(result: Result<Done>) -> Answer {
    match result {
        Ok(done) => {
            let raw = format!(
                "{}{}{:?}{:?}",
                done.text, done.facts, done.names, done.blocks
            );
            Answer {
                result: Ok(done),
                raw,
            }
        }
        Err(error) => {
            let fields = fields(&error);
            let raw = format!("{error} {error:?} {fields}");
            Answer {
                result: Err(Refusal {
                    code: error.code().to_owned(),
                    fields,
                }),
                raw,
            }
        }
    }
}

fn fields(error: &Error) -> Value {
    let mut all = Map::new();
    for (name, field) in error.fields() {
        let value = match field {
            Field::Number(number) => json!(number),
            Field::Numbers(numbers) => json!(numbers),
            Field::Text(text) => json!(text),
            Field::Flag(flag) => json!(flag),
            _ => Value::Null,
        };
        all.insert(name.to_owned(), value);
    }
    all.insert("code".to_owned(), json!(error.code()));
    all.insert("path".to_owned(), json!(error.path()));
    all.insert("hint".to_owned(), json!(error.hint()));
    all.insert("message".to_owned(), json!(error.to_string()));
    all.into()
}
